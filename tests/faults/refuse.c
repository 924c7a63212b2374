/*
 * refuse.c - memory that is refused: loaded before a program (LD_PRELOAD), it has one allocation
 * fail, and, if asked, all that follow.
 *
 *   REFUSE_AT=N     the N-th call of malloc, calloc or realloc fails, counted from 1
 *   REFUSE_ALL=1    and every one after it
 *   REFUSE_COUNT=1  say on standard error, at the end, how many there were
 *
 * With REFUSE_TMPFILE=1 it instead acts as a file system without files that have no name
 * (O_TMPFILE).
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The C library's own, beside the names that are taken here. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);

static atomic_ulong calls;
static unsigned long refuse_at;
static int refuse_all;

__attribute__((constructor)) static void begin(void)
{
    const char *at = getenv("REFUSE_AT");
    refuse_at = at ? strtoul(at, NULL, 10) : 0;
    const char *all = getenv("REFUSE_ALL");
    refuse_all = all && *all;
    /* What was allocated before main is the loader's. */
    atomic_store(&calls, 0);
}

__attribute__((destructor)) static void end(void)
{
    char line[32];
    if (!getenv("REFUSE_COUNT"))
        return;
    int size = snprintf(line, sizeof line, "%lu\n", atomic_load(&calls));
    if (write(STDERR_FILENO, line, (size_t)size) != size)
        _exit(1);
}

static int refused(void)
{
    unsigned long n = atomic_fetch_add(&calls, 1) + 1;
    if (refuse_at == 0 || n < refuse_at || (n > refuse_at && !refuse_all))
        return 0;
    errno = ENOMEM;
    return 1;
}

void *malloc(size_t size)
{
    return refused() ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return refused() ? NULL : __libc_calloc(count, size);
}

void *realloc(void *block, size_t size)
{
    return refused() ? NULL : __libc_realloc(block, size);
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
