/*
 * refuse.c - a library for LD_PRELOAD that makes allocations or system calls fail.
 *
 *   REFUSE_AT=N     call number N of malloc, calloc or realloc fails, counted from 1
 *   REFUSE_ALL=1    all later ones fail too
 *   REFUSE_COUNT=1  at the end, print the number of calls and of blocks that were not freed on
 *                   standard error
 *   REFUSE_PLACES=F write to file F, for each place in the program that allocates, a line: its
 *                   identifier, and the number of its first call. A place is an allocation and
 *                   its callers, CALLERS deep.
 *   REFUSE_SIGNAL=N calls do not fail: the process sends the signal N to itself, and goes on. This
 *                   is also so for REFUSE_CALL
 *
 * With REFUSE_TMPFILE=1 it instead behaves like a file system without O_TMPFILE.
 *
 * With REFUSE_CALL=NAME, call number REFUSE_CALL_AT of that system call fails with "Input/output
 * error", and with REFUSE_ALL=1 all later ones. Names: rename, linkat, unlink, mkdir, rmdir, fsync,
 * fchmod, ftruncate; thread, for pthread_create. REFUSE_LOG names a file to which a line is
 * appended for each call: the call, its path, and "refused" if it failed.
 */
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* the C library's functions under other names */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);
void __libc_free(void *block);
void __libc_freeres(void);

static atomic_ulong calls;
static atomic_long blocks; /* not freed */
static unsigned long refuse_at;
static int refuse_all, refuse_signal;
static int places_fd = -1;

enum { CALLERS = 3, MOST_FRAMES = CALLERS + 6, MOST_PLACES = 1 << 14 };
static atomic_ulong places[MOST_PLACES]; /* identities of places; 0: free */
static _Thread_local int within;         /* backtrace itself allocates */

__attribute__((constructor)) static void begin(void)
{
    const char *at = getenv("REFUSE_AT");
    refuse_at = at ? strtoul(at, NULL, 10) : 0;
    const char *all = getenv("REFUSE_ALL");
    refuse_all = all && *all;
    const char *number = getenv("REFUSE_SIGNAL");
    refuse_signal = number ? atoi(number) : 0;
    const char *file = getenv("REFUSE_PLACES");
    if (file) {
        void *frame;
        within = 1;
        backtrace(&frame, 1);
        within = 0;
        places_fd = (int)syscall(SYS_openat, AT_FDCWD, file, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    }
    /* allocations before main are those of the loader */
    atomic_store(&calls, 0);
}

__attribute__((destructor)) static void end(void)
{
    char line[64];
    if (!getenv("REFUSE_COUNT"))
        return;
    /* free memory that the C library keeps: time zones, stacks of threads */
    __libc_freeres();
    int size = snprintf(line, sizeof line, "%lu %ld\n", atomic_load(&calls), atomic_load(&blocks));
    if (write(STDERR_FILENO, line, (size_t)size) != size)
        _exit(1);
}

/* Identify the place; the same in each run, wherever program and libraries are loaded. */
static unsigned long identity(void)
{
    void *frames[MOST_FRAMES];
    unsigned long hash = 14695981039346656037u;
    int count = backtrace(frames, MOST_FRAMES);
    Dl_info own, info;
    dladdr((void *)&places, &own);
    for (int i = 0, callers = 0; i < count && callers < CALLERS; i++) {
        if (!dladdr(frames[i], &info) || info.dli_fbase == own.dli_fbase)
            continue;
        hash = (hash ^ ((uintptr_t)frames[i] - (uintptr_t)info.dli_fbase)) * 1099511628211u;
        callers++;
    }
    return hash | 1;
}

static void note_place(unsigned long n)
{
    if (places_fd < 0 || within)
        return;
    within = 1;
    unsigned long id = identity(), found = 0;
    size_t slot = id % MOST_PLACES;
    while (!atomic_compare_exchange_strong(&places[slot], &found, id) && found != id) {
        slot = (slot + 1) % MOST_PLACES;
        found = 0;
    }
    char line[64];
    int size = found == id ? 0 : snprintf(line, sizeof line, "%lx %lu\n", id, n);
    if (write(places_fd, line, (size_t)size) != size)
        _exit(1);
    within = 0;
}

/* Whether a call fails now that must fail, or send a signal. */
static bool fails_now(void)
{
    return refuse_signal == 0 || kill(getpid(), refuse_signal) != 0;
}

static int refused(void)
{
    unsigned long n = atomic_fetch_add(&calls, 1) + 1;
    note_place(n);
    if (refuse_at == 0 || n < refuse_at || (n > refuse_at && !refuse_all) || !fails_now())
        return 0;
    errno = ENOMEM;
    return 1;
}

static void *counted(void *block)
{
    if (block)
        atomic_fetch_add(&blocks, 1);
    return block;
}

void *malloc(size_t size)
{
    return refused() ? NULL : counted(__libc_malloc(size));
}

void *calloc(size_t count, size_t size)
{
    return refused() ? NULL : counted(__libc_calloc(count, size));
}

void *realloc(void *block, size_t size)
{
    if (refused())
        return NULL;
    void *moved = __libc_realloc(block, size);
    return block ? moved : counted(moved);
}

void free(void *block)
{
    if (block)
        atomic_fetch_sub(&blocks, 1);
    __libc_free(block);
}

int open(const char *path, int flags, ...)
{
    va_list rest;
    va_start(rest, flags);
    unsigned mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(rest, unsigned) : 0;
    va_end(rest);
    if ((flags & O_TMPFILE) == O_TMPFILE && getenv("REFUSE_TMPFILE")) {
        errno = EOPNOTSUPP;
        return -1;
    }
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

/* ---- system calls --------------------------------------------------------------------------- */

static atomic_ulong named_calls;

static void log_call(const char *name, const char *path, bool refused_now)
{
    const char *log = getenv("REFUSE_LOG");
    char line[4200];

    int fd = log ? open(log, O_WRONLY | O_CREAT | O_APPEND, 0666) : -1;
    if (fd < 0)
        return;
    int size = snprintf(line, sizeof line, "%s %.4096s%s\n", name, path,
                        refused_now ? " refused" : "");
    if (write(fd, line, (size_t)size) != size)
        _exit(1);
    close(fd);
}

/* Whether this call must fail; if so, errno is set. */
static bool refuses(const char *name, const char *path)
{
    const char *wanted = getenv("REFUSE_CALL"), *at = getenv("REFUSE_CALL_AT");
    int error = errno;

    bool counts = wanted && strcmp(wanted, name) == 0;
    unsigned long n = counts ? atomic_fetch_add(&named_calls, 1) + 1 : 0;
    unsigned long first = counts && at ? strtoul(at, NULL, 10) : 0;
    bool now = first > 0 && (n == first || (refuse_all && n > first)) && fails_now();
    log_call(name, path, now);
    errno = now ? EIO : error;
    return now;
}

int renameat2(int from_folder, const char *from, int to_folder, const char *to, unsigned flags)
{
    return refuses("rename", to)
               ? -1
               : (int)syscall(SYS_renameat2, from_folder, from, to_folder, to, flags);
}

int rename(const char *from, const char *to)
{
    return renameat2(AT_FDCWD, from, AT_FDCWD, to, 0);
}

int linkat(int from_folder, const char *from, int to_folder, const char *to, int flags)
{
    return refuses("linkat", to)
               ? -1
               : (int)syscall(SYS_linkat, from_folder, from, to_folder, to, flags);
}

int link(const char *from, const char *to)
{
    return linkat(AT_FDCWD, from, AT_FDCWD, to, 0);
}

int unlink(const char *path)
{
    return refuses("unlink", path) ? -1 : (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
}

int mkdir(const char *path, mode_t mode)
{
    return refuses("mkdir", path) ? -1 : (int)syscall(SYS_mkdirat, AT_FDCWD, path, mode);
}

int rmdir(const char *path)
{
    return refuses("rmdir", path) ? -1 : (int)syscall(SYS_unlinkat, AT_FDCWD, path, AT_REMOVEDIR);
}

int fsync(int fd)
{
    return refuses("fsync", "-") ? -1 : (int)syscall(SYS_fsync, fd);
}

int fchmod(int fd, mode_t mode)
{
    return refuses("fchmod", "-") ? -1 : (int)syscall(SYS_fchmod, fd, mode);
}

int ftruncate(int fd, off_t size)
{
    return refuses("ftruncate", "-") ? -1 : (int)syscall(SYS_ftruncate, fd, size);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *), void *arg)
{
    int (*create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

    if (refuses("thread", "-"))
        return EAGAIN;
    *(void **)&create = dlsym(RTLD_NEXT, "pthread_create");
    return create(thread, attr, run, arg);
}
