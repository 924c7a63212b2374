/*
 * descriptors.c - what the file descriptors of a process are.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cmd/preload/real.h"
#include "cmd/preload/trace.h"

enum {
    KNOWN_FDS = 1 << 16,
    NAMED = 0x80, /* what it is was recorded */
};

static _Atomic uint8_t fds[KNOWN_FDS]; /* a ring_kind, 0: unknown; and NAMED */
static _Atomic int most_named;

static ring_kind find_fd_kind(int fd)
{
    struct stat status;
    int error = errno;
    bool good = fstat(fd, &status) == 0;
    errno = error;
    if (!good)
        return RING_FILE;
    switch (status.st_mode & S_IFMT) {
    case S_IFSOCK: return RING_NETWORK;
    case S_IFIFO:
    case 0: /* eventfd, timerfd, ... */ return RING_RECEIVE;
    default: return RING_FILE;
    }
}

ring_kind trace_fd_kind(int fd, ring_kind pipe)
{
    if (!trace_ring() || fd < 0 || fd >= KNOWN_FDS)
        return RING_FILE;
    const uint8_t known = atomic_load_explicit(&fds[fd], memory_order_relaxed);
    ring_kind kind = known & ~NAMED;
    if (UNLIKELY(kind == 0)) {
        kind = find_fd_kind(fd);
        atomic_store_explicit(&fds[fd], (uint8_t)kind | (known & NAMED), memory_order_relaxed);
    }
    if (kind != RING_FILE && trace_is_nonblocking(fd))
        return RING_NO_WAIT;
    return kind == RING_RECEIVE ? pipe : kind;
}

/* The kernel has to be asked each time, which takes about 0.1 microseconds: the flag is that of the
 * open file, which others may share, and set, also other processes. */
bool trace_is_nonblocking(int fd)
{
    const ring *shared = trace_ring();
    if (!shared || atomic_load_explicit(&shared->closed, memory_order_relaxed))
        return false;
    int error = errno;
    const long flags = REAL(syscall)(SYS_fcntl, fd, F_GETFL);
    errno = error;
    return flags >= 0 && (flags & O_NONBLOCK) != 0;
}

void trace_fd_changed(int fd)
{
    if (fd >= 0 && fd < KNOWN_FDS)
        atomic_store_explicit(&fds[fd], 0, memory_order_relaxed);
}

void trace_fds_changed(unsigned first, unsigned last)
{
    for (unsigned fd = first; fd <= last && fd < KNOWN_FDS; fd++)
        trace_fd_changed((int)fd);
}

/* ---- names ----------------------------------------------------------------------------------- */

bool trace_fd_is_named(int fd)
{
    return (atomic_load_explicit(&fds[fd], memory_order_relaxed) & NAMED) != 0;
}

void trace_fd_set_named(int fd)
{
    int most = most_named;
    atomic_fetch_or(&fds[fd], NAMED);
    while (fd > most && !atomic_compare_exchange_weak(&most_named, &most, fd))
        continue;
}

void trace_fds_forget(void)
{
    for (int fd = 0; fd <= most_named; fd++)
        trace_fd_changed(fd);
    most_named = 0;
}

typedef int address_of(int, struct sockaddr *, socklen_t *);

/* Returns the number of bytes of an address of the socket; 0: it has none, or a longer one. */
static size_t put_address(address_of *find, int fd, char *to, size_t room)
{
    struct sockaddr_storage address;
    socklen_t size = sizeof address;
    if (find(fd, (struct sockaddr *)&address, &size) != 0 || size > room)
        return 0;
    memcpy(to, &address, size);
    return size;
}

/* Returns the number of bytes that are used; 0: it is no socket. */
static size_t describe_socket(int fd, ring_descriptor *d)
{
    struct stat status;
    if (fstat(fd, &status) != 0 || !S_ISSOCK(status.st_mode))
        return 0;
    size_t used = put_address(getpeername, fd, d->socket.peer, RING_ADDRESS);
    d->type = used > 0 ? RING_FD_CONNECTED : RING_FD_SOCKET;
    if (used == 0)
        used = put_address(getsockname, fd, d->socket.peer, RING_ADDRESS);
    else
        put_address(getsockname, fd, d->socket.own, RING_INET_ADDRESS);
    d->socket.inode = status.st_ino;
    return offsetof(ring_descriptor, socket.peer) + used;
}

static size_t describe_file(int fd, ring_descriptor *d)
{
    char path[32] = "/proc/self/fd/";
    size_t digits = 1, length = strlen(path);
    for (int n = fd; n >= 10; n /= 10)
        digits++;
    for (size_t i = digits; i > 0; i--, fd /= 10)
        path[length + i - 1] = (char)('0' + fd % 10);
    const ssize_t size = readlink(path, d->link, RING_LINK);
    d->type = size > 0 ? RING_FD_FILE : RING_FD_UNKNOWN;
    return offsetof(ring_descriptor, link) + (size > 0 ? (size_t)size : 0);
}

size_t trace_fd_describe(int fd, ring_descriptor *d)
{
    int error = errno;
    memset(d, 0, sizeof *d);
    size_t used = describe_socket(fd, d);
    if (used == 0)
        used = describe_file(fd, d);
    errno = error;
    return used;
}
