/*
 * attach.c - a process that runs already: loads the library into it.
 *
 * One thread of the process is stopped for some milliseconds, and calls dlopen. That must be where
 * it has no lock of the memory allocator and of the dynamic linker: it waits in a function of the C
 * library that does not wait for a lock. If `record` is killed in these milliseconds, the thread
 * cannot go on, and the process may end.
 */
#include "cmd/record/record.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cmd/diag.h"
#include "cmd/verb.h"

/* ---- threads --------------------------------------------------------------------------------- */

static DIR *open_threads(pid_t pid)
{
    char path[32];
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    return opendir(path);
}

/* The next thread; 0: there is none. */
static pid_t next_thread(DIR *threads)
{
    const struct dirent *entry;
    while (threads && (entry = readdir(threads)))
        if (entry->d_name[0] != '.')
            return atoi(entry->d_name);
    return 0;
}

void attach_count_threads(pid_t pid, bool (*is_seen)(void *ctx, uint64_t tid), void *ctx,
                          size_t *count, size_t *seen)
{
    DIR *threads = open_threads(pid);
    pid_t tid;
    *count = *seen = 0;
    while ((tid = next_thread(threads))) {
        ++*count;
        *seen += is_seen(ctx, (uint64_t)tid);
    }
    if (threads)
        closedir(threads);
}

#if defined __x86_64__

static int refuse(pid_t pid, const char *why)
{
    diag_error("process %d cannot be recorded: %s [system.open]", (int)pid, why);
    return PROGRAM_NOT_EXECUTED;
}

/* ---- checks ---------------------------------------------------------------------------------- */

/* Of /proc/PID/status. */
typedef struct status {
    int group, tracer, seccomp;
    unsigned uid, gid; /* of file accesses */
    char state;
    bool kernel, inner, shadow_stack;
} status;

static bool read_status(pid_t pid, status *s)
{
    char path[32], line[512];
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    FILE *file = fopen(path, "re");
    if (!file)
        return false;
    *s = (status){.kernel = true};
    while (fgets(line, sizeof line, file)) {
        int pids[2];
        sscanf(line, "Tgid: %d", &s->group);
        sscanf(line, "TracerPid: %d", &s->tracer);
        sscanf(line, "Seccomp: %d", &s->seccomp);
        sscanf(line, "Uid: %*u %*u %*u %u", &s->uid);
        sscanf(line, "Gid: %*u %*u %*u %u", &s->gid);
        sscanf(line, "State: %c", &s->state);
        s->inner = s->inner || sscanf(line, "NSpid: %d %d", &pids[0], &pids[1]) == 2;
        s->kernel = s->kernel && strncmp(line, "VmSize:", 7) != 0;
        s->shadow_stack = s->shadow_stack ||
                          (strncmp(line, "x86_Thread_features:", 20) == 0 && strstr(line, "shstk"));
    }
    fclose(file);
    return true;
}

static bool has_other_files(pid_t pid)
{
    struct stat own, other;
    char path[32];
    snprintf(path, sizeof path, "/proc/%d/ns/mnt", (int)pid);
    return stat("/proc/self/ns/mnt", &own) == 0 && stat(path, &other) == 0 &&
           own.st_ino != other.st_ino;
}

static int not_permitted(pid_t pid, const status *s)
{
    char text[4] = "";
    FILE *file = fopen("/proc/sys/kernel/yama/ptrace_scope", "re");
    if (file && !fgets(text, sizeof text, file))
        text[0] = '\0';
    if (file)
        fclose(file);
    if (s->uid != geteuid())
        return refuse(pid, "it is another user's: be root, or have CAP_SYS_PTRACE");
    if (text[0] > '0')
        return refuse(pid, "kernel.yama.ptrace_scope allows it only for children: be root, have "
                           "CAP_SYS_PTRACE, or set it to 0 with sysctl(8)");
    return refuse(pid, "ptrace(2) is not permitted: it has other rights than gotrace; be root, or "
                       "have CAP_SYS_PTRACE");
}

/* Returns an exit status. */
static int check_status(pid_t pid, const status *s)
{
    if (pid == getpid())
        return refuse(pid, "it is gotrace itself");
    if (s->group != pid) {
        diag_error("%d is a thread: name its process, %d [system.open]", (int)pid, s->group);
        return PROGRAM_NOT_EXECUTED;
    }
    if (s->state == 'Z' || s->state == 'X')
        return refuse(pid, "it has ended, and waits for its parent");
    if (s->kernel)
        return refuse(pid, "it is a thread of the kernel");
    if (s->tracer) {
        diag_error("process %d cannot be recorded: it is traced by process %d, a debugger or "
                   "strace(1); end that first [system.open]",
                   (int)pid, s->tracer);
        return PROGRAM_NOT_EXECUTED;
    }
    if (s->state == 'T' || s->state == 't')
        return refuse(pid, "it is stopped: continue it with kill -CONT first");
    if (s->inner || has_other_files(pid))
        return refuse(pid,
                      "it is in a container, or has file systems of its own: run gotrace there");
    if (s->seccomp)
        return refuse(pid, "seccomp(2) limits its system calls, which loading a library needs; "
                           "start it without, or record it from its beginning");
    if (s->shadow_stack)
        return refuse(pid, "it has a shadow stack, which allows no calls from outside; start it "
                           "with GLIBC_TUNABLES=glibc.cpu.x86_shstk=off");
    return EXIT_SOUND;
}

/* ---- the C library --------------------------------------------------------------------------- */

/* A library that is mapped. */
typedef struct image {
    char device[16];
    unsigned long long inode;
    uint64_t base, code, code_end; /* code: what is executed */
} image;

/* A line of /proc/PID/maps. */
typedef struct line {
    unsigned long long begin, end, offset, inode;
    char rights[8], device[16];
    const char *path;
    char text[4352];
} line;

static FILE *open_maps(pid_t pid)
{
    char path[32];
    snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
    return fopen(path, "re");
}

static bool read_line(FILE *maps, line *l)
{
    int at = 0;
    while (fgets(l->text, sizeof l->text, maps))
        if (sscanf(l->text, "%llx-%llx %7s %llx %15s %llu %n", &l->begin, &l->end, l->rights,
                   &l->offset, l->device, &l->inode, &at) == 6) {
            l->path = l->text + at;
            l->text[strcspn(l->text, "\n")] = '\0';
            return true;
        }
    return false;
}

/* The file that this process has mapped at that address. */
static bool find_own(uint64_t address, image *found)
{
    line l;
    bool is_there = false;
    FILE *maps = open_maps(getpid());
    while (maps && !is_there && read_line(maps, &l))
        is_there = address >= l.begin && address < l.end && l.inode;
    if (maps)
        fclose(maps);
    if (is_there) {
        *found = (image){.inode = l.inode};
        memcpy(found->device, l.device, sizeof found->device);
    }
    return is_there;
}

/* Where a process has mapped its code. False: it has not, or more than once. */
static bool find_mapped(pid_t pid, image *file)
{
    line l;
    bool is_there = false, again = false;
    FILE *maps = open_maps(pid);
    while (maps && read_line(maps, &l)) {
        if (l.inode != file->inode || strcmp(l.device, file->device) != 0 || l.rights[2] != 'x')
            continue;
        again = again || (is_there && l.begin - l.offset != file->base);
        file->base = l.begin - l.offset;
        file->code = is_there ? file->code : l.begin;
        file->code_end = l.end;
        is_there = true;
    }
    if (maps)
        fclose(maps);
    return is_there && !again;
}

static bool is_code(const image *file, uint64_t pc)
{
    return pc >= file->code && pc < file->code_end;
}

/* The library that a process has loaded before, if it is not this one. */
static bool has_other_library(pid_t pid, const char *path)
{
    line l;
    struct stat own;
    bool has = false;
    FILE *maps = open_maps(pid);
    const bool known = stat(path, &own) == 0;
    while (maps && known && !has && read_line(maps, &l))
        has = strstr(l.path, "/libgotrace-preload.so") && l.inode != own.st_ino;
    if (maps)
        fclose(maps);
    return has;
}

/* Functions of the C library, in this process and the other one. */
typedef struct c_library {
    image here, there;
    void *handle;
} c_library;

static bool find_c_library(pid_t pid, c_library *c)
{
    c->handle = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
    const void *some = c->handle ? dlsym(c->handle, "dlopen") : NULL;
    if (!some || !find_own((uintptr_t)some, &c->here))
        return false;
    c->there = c->here;
    return find_mapped(getpid(), &c->here) && find_mapped(pid, &c->there);
}

/* The same. A process that has just begun maps it soon. */
static bool find_c_library_soon(pid_t pid, c_library *c)
{
    enum { TRIES = 100 };
    const struct timespec pause = {.tv_nsec = 10000000};
    unsigned i = 0;
    while (!find_c_library(pid, c) && ++i < TRIES)
        nanosleep(&pause, NULL);
    return i < TRIES;
}

/* 0: there is none. */
static uint64_t function_there(const c_library *c, const char *name)
{
    void *here = dlsym(c->handle, name);
    return here ? (uintptr_t)here - c->here.base + c->there.base : 0;
}

/* The path of the program, which may be deleted, to be freed; NULL: errno. */
static char *read_link(const char *link)
{
    static const char deleted[] = " (deleted)";
    char path[4352];
    const ssize_t n = readlink(link, path, sizeof path - 1);
    if (n < 0)
        return NULL;
    path[n] = '\0';
    char *end = path + n - (sizeof deleted - 1);
    if (end > path && strcmp(end, deleted) == 0)
        *end = '\0';
    return strdup(path);
}

/* ---- beginning ------------------------------------------------------------------------------- */

int attach_find(program *p, pid_t pid)
{
    char exe[32];
    status s;
    c_library c;
    *p = (program){.pid = pid, .go = -1, .report = -1, .fd = -1};
    p->fd = (int)syscall(SYS_pidfd_open, pid, 0);
    if (!read_status(pid, &s)) {
        diag_error("process %d: %s [system.open]", (int)pid, strerror(ESRCH));
        return PROGRAM_NOT_FOUND;
    }
    int result = check_status(pid, &s);
    if (result != EXIT_SOUND)
        return result;
    snprintf(exe, sizeof exe, "/proc/%d/exe", (int)pid);
    FILE *maps = open_maps(pid);
    if (maps)
        fclose(maps);
    if (p->fd < 0 || !maps || !(p->path = read_link(exe)))
        return not_permitted(pid, &s);
    if (!program_find_preload(p))
        return EXIT_SYSTEM;
    if (!find_c_library_soon(pid, &c)) {
        const char *why = program_why_not(exe);
        return refuse(pid, why ? why
                               : "its C library is not the one that gotrace uses (another one, or "
                                 "one that was replaced since it began); start it again, or "
                                 "record it from its beginning");
    }
    if (has_other_library(pid, p->preload))
        return refuse(pid, "it has the libgotrace-preload.so of another gotrace; start it again");
    return EXIT_SOUND;
}

/* ---- a thread that waits --------------------------------------------------------------------- */

/* Whether the thread waits in a function of the C library. Sets *error. */
static bool is_waiting(pid_t pid, pid_t tid, const image *library, int *error)
{
    char path[64], text[256] = "";
    unsigned long long second, pc;
    long long number;
    snprintf(path, sizeof path, "/proc/%d/task/%d/syscall", (int)pid, (int)tid);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    *error = n < 0 ? errno : 0;
    if (fd >= 0)
        close(fd);
    return n > 0 &&
           sscanf(text, "%lld %*s %llx %*s %*s %*s %*s %*s %llx", &number, &second, &pc) == 3 &&
           inject_waits(number, second) && is_code(library, pc);
}

static bool is_denied(int error)
{
    return error == EPERM || error == EACCES;
}

/* Stops a thread that waits; NULL: there is none. */
static injection *stop_one(pid_t pid, const image *library, bool *denied)
{
    DIR *threads = open_threads(pid);
    injection *stopped = NULL;
    pid_t tid;
    *denied = false;
    while (!stopped && (tid = next_thread(threads))) {
        uint64_t pc;
        int error;
        if (is_waiting(pid, tid, library, &error) && (stopped = inject_begin(pid, tid, &error)) &&
            !(inject_is_waiting(stopped, &pc) && is_code(library, pc))) {
            inject_end(stopped);
            stopped = NULL;
        }
        *denied = *denied || is_denied(error);
    }
    if (threads)
        closedir(threads);
    return stopped;
}

/* The same, as soon as there is one. A thread that is ending cannot be traced either. */
static injection *stop_soon(pid_t pid, const image *library, bool *denied)
{
    enum { TRIES = 200, DENIED_TRIES = 10 };
    const struct timespec pause = {.tv_nsec = 10000000};
    injection *stopped = NULL;
    for (unsigned i = 0; i < TRIES && !(stopped = stop_one(pid, library, denied)); i++) {
        if (*denied && i >= DENIED_TRIES)
            break;
        nanosleep(&pause, NULL);
    }
    return stopped;
}

/* ---- access to the memory -------------------------------------------------------------------- */

/* The library opens the memory in /proc, as the other process is allowed to: of a process that has
 * its rights, and no capabilities. That is this one, which ends with `record`. */
_Noreturn static void lend(const status *s, int ready)
{
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    const struct __user_cap_data_struct none[2] = {{0}};
    bool good = true;
    if (geteuid() == 0)
        good = setgroups(0, NULL) == 0 && setresgid(s->gid, s->gid, s->gid) == 0 &&
               setresuid(s->uid, s->uid, s->uid) == 0;
    good = good && syscall(SYS_capset, &header, none) == 0 && prctl(PR_SET_DUMPABLE, 1) == 0 &&
           prctl(PR_SET_PDEATHSIG, SIGKILL) == 0;
    if (good)
        (void)!write(ready, "", 1);
    close(ready);
    for (;;)
        pause();
}

/* Starts it; -1: it could not. */
static pid_t start_lender(const status *s)
{
    int ends[2];
    char byte;
    if (pipe2(ends, O_CLOEXEC) < 0)
        return -1;
    const pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        lend(s, ends[1]);
    }
    close(ends[1]);
    if (child > 0 && read(ends[0], &byte, 1) != 1)
        errno = EPERM;
    close(ends[0]);
    return child;
}

static void end_child(pid_t child)
{
    if (child <= 0)
        return;
    kill(child, SIGKILL);
    while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
        continue;
}

/* ---- loading --------------------------------------------------------------------------------- */

static int not_loaded(pid_t pid, const injection *i)
{
    char why[256];
    snprintf(why, sizeof why, "loading the library failed: %s", inject_why(i));
    return refuse(pid, why);
}

/* dlopen has failed. */
static int report_dlerror(pid_t pid, injection *i, const c_library *c)
{
    uint64_t text;
    char why[512] = "unknown error";
    if (inject_call(i, function_there(c, "dlerror"), 0, 0, NULL, &text) && text)
        why[inject_read(i, text, why, sizeof why - 1)] = '\0';
    diag_error("process %d cannot be recorded: it cannot load the library: %s [system.open]",
               (int)pid, why);
    return PROGRAM_NOT_EXECUTED;
}

static int report_attached(pid_t pid, int result)
{
    switch ((ring_attached)result) {
    case RING_ATTACHED: return EXIT_SOUND;
    case RING_IS_RECORDED: return refuse(pid, "another gotrace record records it; end that first");
    case RING_NO_SESSION:
        return refuse(pid,
                      "it cannot open the recorder's memory in /proc (its rights are limited)");
    case RING_NO_RESOURCES: return refuse(pid, "it has no memory left, or no keys of threads");
    case RING_SIGNAL_IS_USED:
        return refuse(pid, "--sample: it handles signal 63 itself; record it without");
    }
    return refuse(pid, "its libgotrace-preload.so is of another gotrace; start it again");
}

/* Calls the function of the library with the path of the shared memory. */
static int load(const program *p, injection *i, const c_library *c, const char *path)
{
    uint64_t handle, function, result;
    if (!inject_call(i, function_there(c, "dlopen"), INJECT_TEXT, RTLD_NOW | RTLD_NODELETE,
                     p->preload, &handle))
        return not_loaded(p->pid, i);
    if (!handle)
        return report_dlerror(p->pid, i, c);
    if (!inject_call(i, function_there(c, "dlsym"), handle, INJECT_TEXT, RING_ATTACH_FUNCTION,
                     &function))
        return not_loaded(p->pid, i);
    if (!function)
        return refuse(p->pid, "its libgotrace-preload.so is of another gotrace; start it again");
    if (!inject_call(i, function, INJECT_TEXT, 0, path, &result))
        return not_loaded(p->pid, i);
    return report_attached(p->pid, (int)result);
}

/* The same, and the thread has the errno that it had. */
static int load_and_restore(const program *p, injection *i, const c_library *c, const char *path)
{
    uint64_t error;
    int before;
    if (!inject_prepare(i) ||
        !inject_call(i, function_there(c, "__errno_location"), 0, 0, NULL, &error) ||
        inject_read(i, error, &before, sizeof before) != sizeof before)
        return not_loaded(p->pid, i);
    const int result = load(p, i, c, path);
    inject_write_int(i, error, before);
    return result;
}

static int load_in_thread(const program *p, const status *s, const char *path)
{
    bool denied = false;
    c_library c;
    injection *i = NULL;
    if (find_c_library_soon(p->pid, &c))
        i = stop_soon(p->pid, &c.there, &denied);
    if (i) {
        const int result = load_and_restore(p, i, &c, path);
        inject_end(i);
        return result;
    }
    if (denied)
        return not_permitted(p->pid, s);
    return refuse(p->pid,
                  "no thread of it waits in the C library, where loading a library is safe; "
                  "try again while it waits");
}

int attach_begin(program *p, ring_session *shared, int fd)
{
    char path[64];
    sigset_t all, before;
    status s;
    int result = PROGRAM_NOT_EXECUTED;
    if (!read_status(p->pid, &s))
        return refuse(p->pid, "it has ended");
    const pid_t lender = start_lender(&s);
    shared->recorder = lender;
    shared->pids[0] = p->pid;
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)lender, fd);
    /* The thread is not to be left while it loads the library. */
    sigfillset(&all);
    signals_catch(0);
    sigprocmask(SIG_BLOCK, &all, &before);
    result = load_in_thread(p, &s, path);
    sigprocmask(SIG_SETMASK, &before, NULL);
    end_child(lender);
    return result;
}

#else

int attach_find(program *p, pid_t pid)
{
    *p = (program){.go = -1, .report = -1, .fd = -1};
    diag_error("process %d cannot be recorded: --pid is for x86-64; record the program from its "
               "beginning [system.open]",
               (int)pid);
    return PROGRAM_NOT_EXECUTED;
}

int attach_begin(program *p, ring_session *shared, int fd)
{
    (void)p;
    (void)shared;
    (void)fd;
    return PROGRAM_NOT_EXECUTED;
}

#endif
