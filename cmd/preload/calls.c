/*
 * calls.c - interposed calls that block: files, pipes, sockets, polling, sleeping, signals, child
 * processes; and those that change what a file descriptor is.
 */
#include "cmd/preload/real.h"
#include "cmd/preload/trace.h"

#include <errno.h>
#include <linux/futex.h>
#include <stdarg.h>
#include <sys/syscall.h>

/* The prototypes of those that headers declare for fortified programs only. */
#define DECLARE(result, name, kind, object, parameters, arguments) result name parameters;
BLOCKING_CALLS(DECLARE)

#define DEFINE(result, name, kind, object, parameters, arguments)                                  \
    EXPORT result name parameters                                                                  \
    {                                                                                              \
        bool recorded = trace_call(kind, object);                                                  \
        result returned = REAL(name) arguments;                                                    \
        trace_resume(recorded, RING_DONE);                                                         \
        return returned;                                                                           \
    }
BLOCKING_CALLS(DEFINE)

EXPORT int close(int fd)
{
    trace_fd_changed(fd);
    return REAL(close)(fd);
}

EXPORT int dup2(int from, int to)
{
    trace_fd_changed(to);
    return REAL(dup2)(from, to);
}

EXPORT int dup3(int from, int to, int flags)
{
    trace_fd_changed(to);
    return REAL(dup3)(from, to, flags);
}

EXPORT pid_t _Fork(void)
{
    pid_t child = REAL(_Fork)();
    if (child == 0)
        trace_notice_fork(); /* fork calls after_fork of process.c */
    return child;
}

/* ---- futexes, which Rust and C++20 use ------------------------------------------------------- */

static bool is_wait(long number, const long *a)
{
    long command = a[1] & FUTEX_CMD_MASK;
    return number == SYS_futex && (command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET);
}

static bool is_wake(long number, const long *a)
{
    long command = a[1] & FUTEX_CMD_MASK;
    return number == SYS_futex && (command == FUTEX_WAKE || command == FUTEX_WAKE_BITSET);
}

EXPORT long syscall(long number, ...)
{
    long a[6];
    bool recorded = false;
    va_list list;
    va_start(list, number);
    for (unsigned i = 0; i < 6; i++)
        a[i] = va_arg(list, long);
    va_end(list);
    if (is_wait(number, a))
        recorded = trace_wait(RING_FUTEX, (uint64_t)a[0]);
    else if (is_wake(number, a))
        trace_wake(a[0], a[2] < RING_ALL ? (uint16_t)a[2] : RING_ALL);
    long returned = REAL(syscall)(number, a[0], a[1], a[2], a[3], a[4], a[5]);
    trace_resume(recorded, returned < 0 && errno == ETIMEDOUT ? RING_TIMEOUT : RING_DONE);
    if (returned == 0)
        trace_notice_fork();
    return returned;
}
