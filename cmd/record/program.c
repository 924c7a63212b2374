/*
 * program.c - the program that is recorded: its file and its process.
 */
#include "cmd/record/record.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#include "cmd/diag.h"
#include "cmd/output.h"
#include "cmd/verb.h"

enum { MAX_INTERPRETERS = 4 }; /* as the kernel */

/* ---- files ----------------------------------------------------------------------------------- */

/* Sets errno if not. */
static bool is_program(const char *path)
{
    struct stat status;
    if (stat(path, &status) < 0)
        return false;
    if (S_ISREG(status.st_mode))
        return access(path, X_OK) == 0;
    errno = S_ISDIR(status.st_mode) ? EISDIR : EACCES;
    return false;
}

/* The path of that name in a folder of PATH, as execvp(3) finds it; NULL with errno set. */
static char *search_folders(const char *name)
{
    const char *folders = getenv("PATH");
    int error = ENOENT;
    for (const char *p = folders ? folders : "/bin:/usr/bin"; *name; p++) {
        char *path;
        const int size = (int)strcspn(p, ":");
        if (asprintf(&path, "%.*s/%s", size ? size : 1, size ? p : ".", name) < 0)
            return NULL;
        if (is_program(path))
            return path;
        if (errno == EACCES)
            error = EACCES;
        free(path);
        p += size;
        if (*p == '\0')
            break;
    }
    errno = error;
    return NULL;
}

/* The program's path; NULL with errno set. */
static char *search(const char *name)
{
    if (!strchr(name, '/'))
        return search_folders(name);
    return is_program(name) ? strdup(name) : NULL;
}

/* The exit status if a program cannot be executed, as of a shell. */
static int status_of(int error)
{
    return error == ENOENT ? PROGRAM_NOT_FOUND : PROGRAM_NOT_EXECUTED;
}

/* The library is next to libgotrace.so in the build folder, and in a folder next to it when it is
 * installed. */
static char *find_preload(void)
{
    Dl_info library;
    char *real, *path = NULL;
    if (!dladdr((__extension__(void *) gotrace_version), &library) ||
        !(real = realpath(library.dli_fname, NULL)))
        return NULL;
    *strrchr(real, '/') = '\0';
    for (unsigned i = 0; i < 2; i++) {
        if (asprintf(&path, "%s%s/libgotrace-preload.so", real, i ? "/gotrace" : "") < 0)
            path = NULL;
        if (!path || access(path, R_OK) == 0)
            break;
        free(path);
        path = NULL;
    }
    free(real);
    return path;
}

/* ---- what cannot be recorded ----------------------------------------------------------------- */

/* Whether the dynamic linker ignores LD_PRELOAD, because the program gets other rights. */
static bool gets_rights(const char *path)
{
    struct stat status;
    if (stat(path, &status) < 0)
        return false;
    if ((status.st_mode & S_ISUID && status.st_uid != getuid()) ||
        (status.st_mode & S_ISGID && status.st_gid != getgid()))
        return true;
    return getuid() != 0 && getxattr(path, "security.capability", NULL, 0) > 0;
}

/* Whether the ELF file names a dynamic linker. */
static bool is_dynamic(int fd, const Elf64_Ehdr *header)
{
    for (unsigned i = 0; i < header->e_phnum; i++) {
        Elf64_Phdr part;
        off_t at = (off_t)(header->e_phoff + i * sizeof part);
        if (pread(fd, &part, sizeof part, at) == (ssize_t)sizeof part && part.p_type == PT_INTERP)
            return true;
    }
    return false;
}

/* Why the file cannot be recorded; NULL: it can. Sets interpreter to that of a script, else to "".
 */
static const char *check_file(const char *path, char *interpreter, size_t size)
{
    Elf64_Ehdr header, own;
    char line[256] = "";
    interpreter[0] = '\0';
    if (gets_rights(path))
        return "the program is set-user-ID, set-group-ID or has capabilities, and the dynamic "
               "linker loads no library of the user into it";
    /* An interpreter may be a pipe, which is not waited for. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK),
        self = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? pread(fd, &header, sizeof header, 0) : -1;
    const char *why = NULL;
    if (fd >= 0 && pread(fd, line, sizeof line - 1, 0) > 2 && memcmp(line, "#!", 2) == 0) {
        const char *begin = line + 2 + strspn(line + 2, " \t");
        snprintf(interpreter, size, "%.*s", (int)strcspn(begin, " \t\n"), begin);
    } else if (n == (ssize_t)sizeof header && memcmp(header.e_ident, ELFMAG, SELFMAG) == 0) {
        if (self >= 0 && pread(self, &own, sizeof own, 0) == (ssize_t)sizeof own &&
            (own.e_machine != header.e_machine ||
             own.e_ident[EI_CLASS] != header.e_ident[EI_CLASS]))
            why = "the program is for another architecture";
        else if (!is_dynamic(fd, &header))
            why = "the program is statically linked, and loads no library";
    }
    if (fd >= 0)
        close(fd);
    if (self >= 0)
        close(self);
    return why;
}

/* The same for the interpreters of scripts too; file is the one. */
static const char *check(const char *path, char *file, size_t size)
{
    char interpreter[256];
    snprintf(file, size, "%s", path);
    for (unsigned i = 0; i < MAX_INTERPRETERS; i++) {
        if (!is_program(file)) /* a pipe or device, which is not to be opened */
            return NULL;
        const char *why = check_file(file, interpreter, sizeof interpreter);
        if (why || !interpreter[0])
            return why;
        snprintf(file, size, "%s", interpreter);
    }
    return NULL;
}

const char *program_why_not(const char *name)
{
    char file[4096], *path = search(name);
    const char *why = path ? check(path, file, sizeof file) : NULL;
    free(path);
    return why;
}

bool program_find_preload(program *p)
{
    p->preload = find_preload();
    if (!p->preload)
        diag_error(
            "libgotrace-preload.so is not installed in the folder of the library [system.open]");
    return p->preload;
}

int program_find(program *p, const char *const *args)
{
    char file[4096];
    *p = (program){.args = args, .go = -1, .report = -1, .fd = -1};
    if (!(p->path = search(args[0]))) {
        const int error = errno;
        diag_error("%s: %s [system.open]", args[0], strerror(error));
        return status_of(error);
    }
    const char *why = check(p->path, file, sizeof file);
    if (why) {
        diag_error("%s: cannot be recorded: %s [system.open]", file, why);
        return PROGRAM_NOT_EXECUTED;
    }
    return program_find_preload(p) ? EXIT_SOUND : EXIT_SYSTEM;
}

void program_free(program *p)
{
    if (p->go >= 0)
        close(p->go);
    if (p->report >= 0)
        close(p->report);
    if (p->fd >= 0)
        close(p->fd);
    free(p->path);
    free(p->preload);
}

/* ---- the process ----------------------------------------------------------------------------- */

/* The runtime of AddressSanitizer refuses to come after a library that is preloaded, because that
 * could replace malloc before it does; ours does not. */
static bool allow_sanitizer(void)
{
    static const char check[] = "verify_asan_link_order";
    const char *before = getenv("ASAN_OPTIONS");
    char *options;
    if (before && strstr(before, check))
        return true;
    if (asprintf(&options, "%s%s%s=0", before ? before : "", before ? ":" : "", check) < 0)
        return false;
    return setenv("ASAN_OPTIONS", options, 1) == 0;
}

static bool set_environment(const program *p, int fd)
{
    char memory[64], *preload;
    const char *before = getenv("LD_PRELOAD");
    snprintf(memory, sizeof memory, "/proc/%d/fd/%d", (int)getppid(), fd);
    if (asprintf(&preload, "%s%s%s", p->preload, before ? ":" : "", before ? before : "") < 0)
        return false;
    return setenv(RING_VARIABLE, memory, 1) == 0 && setenv("LD_PRELOAD", preload, 1) == 0 &&
           allow_sanitizer();
}

/* A script without "#!" is executed by the shell, as by execvp(3). */
static void execute_script(const program *p)
{
    size_t count = 0;
    while (p->args[count])
        count++;
    const char **args = calloc(count + 2, sizeof *args);
    if (!args)
        return;
    args[0] = "/bin/sh";
    args[1] = p->path;
    for (size_t i = 1; i < count; i++)
        args[i + 1] = p->args[i];
    execv(args[0], (char *const *)(uintptr_t)args);
}

/* In the child. */
_Noreturn static void execute(const program *p, ring_session *shared, int fd, int go, int report)
{
    char start;
    shared->pids[0] = getpid();
    if (read(go, &start, 1) != 1)
        _exit(127);
    if (output_ends_with_pipe())
        signal(SIGPIPE, SIG_DFL);
    signal(SIGXFSZ, SIG_DFL);
    if (set_environment(p, fd))
        execv(p->path, (char *const *)(uintptr_t)p->args);
    if (errno == ENOEXEC)
        execute_script(p);
    int error = errno;
    (void)!write(report, &error, sizeof error);
    _exit(127);
}

bool program_prepare(program *p, ring_session *shared, int fd)
{
    int go[2] = {-1, -1}, result[2] = {-1, -1};
    if (pipe2(go, O_CLOEXEC) < 0 || pipe2(result, O_CLOEXEC) < 0 || (p->pid = fork()) < 0) {
        diag_error("cannot start a process: %s [system.limit]", strerror(errno));
        p->pid = 0;
        return false;
    }
    if (p->pid == 0) {
        close(go[1]); /* that it ends if `record` does */
        execute(p, shared, fd, go[0], result[1]);
    }
    close(go[0]);
    close(result[1]);
    p->go = go[1];
    p->report = result[0];
    return true;
}

static bool wait_for(program *p, int how)
{
    if (p->pid == 0)
        return true;
    if (p->fd >= 0)
        return poll(&(struct pollfd){.fd = p->fd, .events = POLLIN}, 1, 0) > 0;
    pid_t ended;
    do
        ended = waitpid(p->pid, &p->status, how);
    while (ended < 0 && errno == EINTR);
    if (ended == 0)
        return false;
    p->pid = 0;
    signals_child_ended(p->status);
    return true;
}

int program_start(program *p)
{
    int error = 0;
    signals_catch(p->pid);
    bool started = write(p->go, "", 1) == 1 && read(p->report, &error, sizeof error) == 0;
    if (started)
        return EXIT_SOUND;
    wait_for(p, 0);
    diag_error("%s: %s [system.open]", p->path, strerror(error));
    return status_of(error);
}

void program_cancel(program *p)
{
    if (p->go >= 0)
        close(p->go);
    p->go = -1;
    wait_for(p, 0);
}

bool program_ended(program *p)
{
    return wait_for(p, WNOHANG);
}

void program_wait(program *p)
{
    const struct timespec pause = {.tv_nsec = 100000000};
    while (!program_ended(p) && !signals_want_end())
        nanosleep(&pause, NULL); /* signals interrupt it, also that of the program's end */
}

int program_exit_status(const program *p)
{
    if (p->pid)
        return 128 + signals_that_ended();
    return WIFSIGNALED(p->status) ? 128 + WTERMSIG(p->status) : WEXITSTATUS(p->status);
}
