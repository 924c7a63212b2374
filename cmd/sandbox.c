#include "cmd/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <termios.h>
#include <unistd.h>

#include "cmd/diag.h"

/* ---- files ---------------------------------------------------------------------------------- */

/* Access rights of the first version of Landlock, Linux 5.13, and truncation, a right of version 3,
 * which the headers of older systems do not define. */
#define ALL_OF_FIRST ((UINT64_C(1) << 13) - 1)
#define TRUNCATING   (UINT64_C(1) << 14)

enum {
    READ = LANDLOCK_ACCESS_FS_READ_FILE,
    WRITE = LANDLOCK_ACCESS_FS_WRITE_FILE,
    MAKE_AND_WRITE = WRITE | LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_REMOVE_FILE,
    MAKE_FOLDER = LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_REMOVE_DIR,
};

/* Grant rights on the file at path, or in the folder at path. A missing path needs none. */
static void grant(int rules, const char *path, uint64_t rights)
{
    struct landlock_path_beneath_attr rule = {.allowed_access = rights};
    struct stat there;
    rule.parent_fd = open(path, O_PATH | O_CLOEXEC);
    if (rule.parent_fd < 0)
        return;
    /* For a file, only file rights are valid. */
    if (fstat(rule.parent_fd, &there) == 0 && !S_ISDIR(there.st_mode))
        rule.allowed_access &= READ | WRITE;
    syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
    close(rule.parent_fd);
}

/* Grant rights on the folder of a path. */
static void grant_folder_of(int rules, const char *path, uint64_t rights)
{
    char folder[PATH_MAX];
    size_t size = strlen(path);
    while (size > 1 && path[size - 1] == '/')
        size--;
    while (size > 0 && path[size - 1] != '/')
        size--;
    if (size >= sizeof folder)
        return;
    memcpy(folder, path, size);
    folder[size] = '\0';
    grant(rules, size > 0 ? folder : ".", rights);
}

static void grant_output(int rules, const char *path)
{
    struct stat there;
    if (!path || strcmp(path, "-") == 0)
        return;
    if (stat(path, &there) != 0) {
        /* split creates the folder and writes to it. */
        bool foreign;
        char *made = output_path(path, &foreign);
        grant_folder_of(rules, made ? made : path, MAKE_AND_WRITE | MAKE_FOLDER);
        free(made);
    } else if (S_ISREG(there.st_mode)) {
        /* Landlock applies to the target of a link. */
        char *real = realpath(path, NULL);
        if (real)
            grant_folder_of(rules, real, MAKE_AND_WRITE);
        free(real);
    } else {
        /* convert creates folders in an existing one. */
        grant(rules, path, MAKE_AND_WRITE | (S_ISDIR(there.st_mode) ? MAKE_FOLDER : 0));
    }
}

/* Deny access to all files except those of the command line. Returns false if the kernel cannot. */
static bool restrict_files(const session *s)
{
    const char *temporary = getenv("TMPDIR");
    struct landlock_ruleset_attr all = {.handled_access_fs = ALL_OF_FIRST};
    long version = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
    if (version < 1)
        return false;
    if (version >= 3)
        all.handled_access_fs |= TRUNCATING;
    int rules = (int)syscall(SYS_landlock_create_ruleset, &all, sizeof all.handled_access_fs, 0);
    if (rules < 0)
        return false;
    for (size_t i = s->verb->words; i < s->file_count; i++)
        if (strcmp(s->files[i], "-") != 0)
            grant(rules, s->files[i], READ);
    if (s->set->also_reads)
        grant(rules, s->set->also_reads, READ);
    for (size_t i = 0; i < s->set->also_reads_all.count; i++)
        grant(rules, s->set->also_reads_all.items[i], READ);
    grant_output(rules, s->set->output);
    grant_output(rules, s->set->also_writes);
    grant(rules, temporary && *temporary ? temporary : "/var/tmp",
          MAKE_AND_WRITE | READ | (all.handled_access_fs & TRUNCATING));
    bool restricted = syscall(SYS_landlock_restrict_self, rules, 0) == 0;
    close(rules);
    return restricted;
}

/* ---- system calls ---------------------------------------------------------------------------- */

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

#ifdef ARCHITECTURE

/* System calls of the program, its C library and zstd's threads. */
static const int allowed[] = {
    SYS_read,
    SYS_readv,
    SYS_pread64,
    SYS_write,
    SYS_writev,
    SYS_pwrite64,
    SYS_lseek,
    SYS_close,
    SYS_fstat,
    SYS_statx,
    SYS_openat,
    SYS_fcntl,
    SYS_dup,
    SYS_ppoll,
    SYS_ftruncate,
    SYS_fallocate,
    SYS_fchmod,
    SYS_umask,
    SYS_unlinkat,
    SYS_linkat,
    SYS_renameat,
    SYS_renameat2,
    SYS_mkdirat,
    SYS_readlinkat,
    SYS_faccessat,
    SYS_getcwd,
    SYS_munmap,
    SYS_mremap,
    SYS_brk,
    SYS_madvise,
    SYS_futex,
    SYS_set_robust_list,
    SYS_rseq,
    SYS_rt_sigaction,
    SYS_rt_sigprocmask,
    SYS_rt_sigreturn,
    SYS_sigaltstack,
    SYS_restart_syscall,
    SYS_exit,
    SYS_exit_group,
    SYS_getrandom,
    SYS_clock_gettime,
    SYS_clock_nanosleep,
    SYS_nanosleep,
    SYS_gettimeofday,
    SYS_getpid,
    SYS_gettid,
    SYS_getuid,
    SYS_geteuid,
    SYS_getgid,
    SYS_getegid,
    SYS_sched_yield,
    SYS_sched_getaffinity,
    SYS_sysinfo,
#ifdef SYS_faccessat2
    SYS_faccessat2,
#endif
#ifdef SYS_newfstatat
    SYS_newfstatat,
#endif
#ifdef SYS_open /* old calls that other architectures do not have */
    SYS_open,
    SYS_stat,
    SYS_lstat,
    SYS_poll,
    SYS_unlink,
    SYS_rename,
    SYS_mkdir,
    SYS_rmdir,
    SYS_readlink,
    SYS_access,
    SYS_arch_prctl,
#endif
};

/* Of a server that listens already (libmicrohttpd), and of waiting for a signal. */
static const int allowed_to_serve[] = {
    SYS_accept4,     SYS_recvfrom,   SYS_sendto,          SYS_sendmsg,       SYS_shutdown,
    SYS_setsockopt,  SYS_getsockopt, SYS_getsockname,     SYS_epoll_create1, SYS_epoll_ctl,
    SYS_epoll_pwait, SYS_eventfd2,   SYS_rt_sigtimedwait,
#ifdef SYS_epoll_wait
    SYS_epoll_wait,
#endif
};

#define COUNT(list) (sizeof(list) / sizeof *(list))

typedef struct program {
    struct sock_filter code[2 * (COUNT(allowed) + COUNT(allowed_to_serve)) + 64];
    unsigned short size;
} program;

static void put_instruction(program *p, unsigned short code, uint8_t if_true, uint8_t if_false,
                            uint32_t k)
{
    p->code[p->size++] = (struct sock_filter){code, if_true, if_false, k};
}

static void put_load(program *p, size_t offset)
{
    put_instruction(p, BPF_LD | BPF_W | BPF_ABS, 0, 0, (uint32_t)offset);
}

static void put_return(program *p, uint32_t what)
{
    put_instruction(p, BPF_RET | BPF_K, 0, 0, what);
}

static const uint32_t denied = SECCOMP_RET_ERRNO | EPERM;

/* Permit a call if its argument compares with k, otherwise deny it, or (deny) the reverse. The low
 * half of an argument comes first on these architectures. */
static void put_if(program *p, int call, unsigned argument, unsigned short comparison, uint32_t k,
                   bool deny)
{
    put_instruction(p, BPF_JMP | BPF_JEQ | BPF_K, 0, 4, (uint32_t)call);
    put_load(p, offsetof(struct seccomp_data, args) + 8 * argument);
    put_instruction(p, BPF_JMP | comparison | BPF_K, 0, 1, k);
    put_return(p, deny ? denied : SECCOMP_RET_ALLOW);
    put_return(p, deny ? SECCOMP_RET_ALLOW : denied);
}

/* Permit only the queries whether a descriptor is a terminal. */
static void put_ioctl(program *p)
{
    static const uint32_t asked[] = {TCGETS, TIOCGWINSZ, 0x802c542a /* TCGETS2 */};
    enum { ASKED = sizeof asked / sizeof *asked };
    put_instruction(p, BPF_JMP | BPF_JEQ | BPF_K, 0, ASKED + 3, SYS_ioctl);
    put_load(p, offsetof(struct seccomp_data, args) + 8);
    for (uint8_t i = 0; i < ASKED; i++)
        put_instruction(p, BPF_JMP | BPF_JEQ | BPF_K, (uint8_t)(ASKED - i), 0, asked[i]);
    put_return(p, denied);
    put_return(p, SECCOMP_RET_ALLOW);
}

static void put_allowed(program *p, const int *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        put_instruction(p, BPF_JMP | BPF_JEQ | BPF_K, 0, 1, (uint32_t)list[i]);
        put_return(p, SECCOMP_RET_ALLOW);
    }
}

static void write_program(program *p, const verb *v)
{
    put_load(p, offsetof(struct seccomp_data, arch));
    put_instruction(p, BPF_JMP | BPF_JEQ | BPF_K, 1, 0, ARCHITECTURE);
    put_return(p, SECCOMP_RET_KILL_PROCESS);
    put_load(p, offsetof(struct seccomp_data, nr));
    put_allowed(p, allowed, COUNT(allowed));
    if (v->serving)
        put_allowed(p, allowed_to_serve, COUNT(allowed_to_serve));
    put_if(p, SYS_mmap, 2, BPF_JSET, PROT_EXEC, true);
    put_if(p, SYS_mprotect, 2, BPF_JSET, PROT_EXEC, true);
    put_if(p, SYS_clone, 0, BPF_JSET, CLONE_THREAD, false);
    put_if(p, SYS_tgkill, 0, BPF_JEQ, (uint32_t)getpid(), false);
    put_if(p, SYS_prlimit64, 0, BPF_JEQ, 0, false);
    put_ioctl(p);
    /* The filter cannot read the arguments of clone3; the C library then falls back to clone. */
    put_instruction(p, BPF_JMP | BPF_JEQ | BPF_K, 0, 1, SYS_clone3);
    put_return(p, SECCOMP_RET_ERRNO | ENOSYS);
    put_return(p, denied);
}

static bool restrict_calls(const verb *v)
{
    program p = {.size = 0};
    write_program(&p, v);
    struct sock_fprog filter = {.len = p.size, .filter = p.code};
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

#else

static bool restrict_calls(const verb *v)
{
    (void)v;
    return false;
}

#endif

int sandbox_enter(const session *s)
{
    bool alone = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0;
    bool files = alone && restrict_files(s);
    bool calls = alone && restrict_calls(s->verb);
    if (!files && !calls) {
        diag_error("--sandbox: the kernel supports neither Landlock nor seccomp");
        return EXIT_SYSTEM;
    }
    if (!files)
        diag_note("--sandbox: the kernel does not support Landlock: file access is not restricted");
    if (!calls)
        diag_note(
            "--sandbox: the kernel does not support seccomp: system calls are not restricted");
    return EXIT_SOUND;
}
