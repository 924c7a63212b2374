/*
 * delay.c - how long a thread could run and did not, as the kernel has it: the second number of
 * /proc/thread-self/schedstat (Documentation/scheduler/sched-stats.rst). Not all kernels have it.
 *
 * Reading it takes 0.7 microseconds, and opening it 3 to 4. So a thread that waits long keeps it
 * open. The descriptors are at the end of those that the process may have, and few, so that the
 * program's own ones have the same numbers as without recording; it may close them. Only while a
 * thread opens its file, once, has it the lowest free one: no system call opens at another number.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "cmd/preload/real.h"
#include "cmd/preload/trace.h"

enum { MOST = 64, END = 4096 };

static _Atomic int used;

/* The functions of the C library for these are cancellation points. */
static int open_high(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur < 4 * (rlim_t)MOST)
        return -1;
    const int end = limit.rlim_cur < END ? (int)limit.rlim_cur : END;
    const int low = (int)REAL(syscall)(SYS_openat, AT_FDCWD, "/proc/thread-self/schedstat",
                                       O_RDONLY | O_CLOEXEC);
    const int high = low < 0 ? -1 : (int)REAL(syscall)(SYS_fcntl, low, F_DUPFD_CLOEXEC, end - MOST);
    if (low >= 0)
        REAL(syscall)(SYS_close, low);
    return high;
}

/* The file system and number of what it refers to. */
static bool identify(int fd, trace_delay *d)
{
    struct stat status;
    if (fstat(fd, &status) != 0)
        return false;
    d->device = status.st_dev;
    d->number = status.st_ino;
    return true;
}

void trace_delay_open(trace_delay *d)
{
    const int error = errno;
    d->fd = atomic_fetch_add(&used, 1) < MOST ? open_high() : -1;
    if (d->fd < 0)
        atomic_fetch_sub(&used, 1);
    else
        identify(d->fd, d);
    errno = error;
}

bool trace_delay_read(const trace_delay *d, uint64_t *ns)
{
    char text[80], *end;
    const int error = errno;
    const long size = REAL(syscall)(SYS_pread64, d->fd, text, sizeof text - 1, (off_t)0);
    text[size > 0 ? size : 0] = '\0';
    strtoull(text, &end, 10);
    const char *second = end;
    *ns = strtoull(second, &end, 10);
    errno = error;
    return second > text && end > second && *end == ' ';
}

void trace_delay_close(trace_delay *d)
{
    trace_delay now;
    const int error = errno;
    if (d->fd > 0) {
        /* The program may have closed it, and use the number. */
        if (identify(d->fd, &now) && now.device == d->device && now.number == d->number)
            REAL(syscall)(SYS_close, d->fd);
        atomic_fetch_sub(&used, 1);
    }
    d->fd = -1;
    errno = error;
}
