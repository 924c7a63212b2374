/*
 * calls.c - interposed calls that block: files, pipes, sockets, polling, sleeping, signals, child
 * processes, locks and semaphores of the system; and those that change what a file descriptor is.
 */
#include "cmd/preload/real.h"
#include "cmd/preload/trace.h"

#include <errno.h>
#include <limits.h>
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

/* connection: the socket that is connected then, see trace_connected. */
#define CONNECTING(name, way, parameters, arguments, connection)                                   \
    EXPORT int name parameters                                                                     \
    {                                                                                              \
        bool recorded = trace_call(SOCKET(fd), RING_CONNECTS | way(fd));                           \
        int returned = REAL(name) arguments;                                                       \
        trace_resume(recorded, RING_DONE);                                                         \
        trace_connected(connection);                                                               \
        return returned;                                                                           \
    }
CONNECTING(connect, TO, (int fd, __CONST_SOCKADDR_ARG a, socklen_t size), (fd, a, size), fd)
CONNECTING(accept, FROM, (int fd, __SOCKADDR_ARG a, socklen_t *size), (fd, a, size), returned)
CONNECTING(accept4, FROM, (int fd, __SOCKADDR_ARG a, socklen_t *size, int how), (fd, a, size, how),
           returned)

#define CONTROLLING(name)                                                                          \
    EXPORT int name(int fd, int command, ...)                                                      \
    {                                                                                              \
        va_list list;                                                                              \
        va_start(list, command);                                                                   \
        void *arg = va_arg(list, void *);                                                          \
        va_end(list);                                                                              \
        bool waits = command == F_SETLKW || command == F_OFD_SETLKW;                               \
        bool recorded = waits && trace_call(RING_FILE_LOCK, FD(fd));                               \
        int returned = REAL(name)(fd, command, arg);                                               \
        trace_resume(recorded, RING_DONE);                                                         \
        return returned;                                                                           \
    }
CONTROLLING(fcntl)
CONTROLLING(fcntl64)

/* SPLICE_F_NONBLOCK is for pipes only. */
static ring_kind splice_kind(int fd, ring_kind pipe, unsigned how)
{
    ring_kind kind = trace_fd_kind(fd, pipe);
    return kind == pipe && how & SPLICE_F_NONBLOCK ? RING_NO_WAIT : kind;
}

/* They wait for the input, if that is of a kind that may be waited for, else for the output. */
#define SPLICING(name, parameters, arguments)                                                      \
    EXPORT ssize_t name parameters                                                                 \
    {                                                                                              \
        ring_kind kind = splice_kind(from, RING_RECEIVE, how);                                     \
        bool waits = kind == RING_RECEIVE || kind == RING_NETWORK;                                 \
        if (!waits)                                                                                \
            kind = splice_kind(to, RING_SEND, how);                                                \
        bool recorded = trace_call(kind, waits ? FROM(from) : TO(to));                             \
        ssize_t returned = REAL(name) arguments;                                                   \
        trace_resume(recorded, RING_DONE);                                                         \
        return returned;                                                                           \
    }
SPLICING(splice, (int from, off64_t *at, int to, off64_t *to_at, size_t n, unsigned how),
         (from, at, to, to_at, n, how))
SPLICING(tee, (int from, int to, size_t n, unsigned how), (from, to, n, how))

EXPORT int close(int fd)
{
    trace_fd_changed(fd);
    return REAL(close)(fd);
}

EXPORT int close_range(unsigned first, unsigned last, int flags)
{
    trace_fds_changed(first, last);
    return REAL(close_range)(first, last, flags);
}

EXPORT void closefrom(int first)
{
    trace_fds_changed(first < 0 ? 0 : (unsigned)first, UINT_MAX);
    REAL(closefrom)(first);
}

EXPORT int fclose(FILE *file)
{
    int error = errno;
    trace_fd_changed(fileno(file));
    errno = error;
    return REAL(fclose)(file);
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
        recorded = trace_wait(RING_FUTEX, (uint64_t)a[0], a[3] != 0);
    else if (is_wake(number, a))
        trace_wake(a[0], a[2] < RING_ALL ? (uint16_t)a[2] : RING_ALL);
    long returned = REAL(syscall)(number, a[0], a[1], a[2], a[3], a[4], a[5]);
    trace_resume(recorded, returned < 0 && errno == ETIMEDOUT ? RING_TIMEOUT : RING_DONE);
    if (returned == 0)
        trace_notice_fork();
    return returned;
}
