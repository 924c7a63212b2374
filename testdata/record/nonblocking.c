/*
 * nonblocking.c - nonblocking HOW: one thread sends large messages to itself with each function,
 * none of which can wait, but which take longer than a call that is too short to be a wait. HOW is
 * why they cannot wait. Prints how often the thread gave up its processor, according to the kernel.
 * For tests/record.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROUNDS = 50, SIZE = 1 << 20, POLLED = 1000 };

static char bytes[SIZE];
static int in, out;
static int message_flags;

static void check(bool good, const char *what)
{
    if (!good) {
        perror(what);
        exit(1);
    }
}

static struct iovec part(void)
{
    return (struct iovec){bytes, SIZE};
}

static ssize_t by_write(void)
{
    return write(out, bytes, SIZE);
}
static ssize_t by_writev(void)
{
    struct iovec v = part();
    return writev(out, &v, 1);
}
static ssize_t by_send(void)
{
    return send(out, bytes, SIZE, message_flags);
}
static ssize_t by_sendto(void)
{
    return sendto(out, bytes, SIZE, message_flags, NULL, 0);
}
static ssize_t by_sendmsg(void)
{
    struct iovec v = part();
    struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1};
    return sendmsg(out, &m, message_flags);
}
static ssize_t by_sendmmsg(void)
{
    struct iovec v = part();
    struct mmsghdr m = {.msg_hdr = {.msg_iov = &v, .msg_iovlen = 1}};
    return sendmmsg(out, &m, 1, message_flags) < 0 ? -1 : (ssize_t)m.msg_len;
}
static ssize_t by_read(void)
{
    return read(in, bytes, SIZE);
}
static ssize_t by_readv(void)
{
    struct iovec v = part();
    return readv(in, &v, 1);
}
static ssize_t by_recv(void)
{
    return recv(in, bytes, SIZE, message_flags);
}
static ssize_t by_recvfrom(void)
{
    return recvfrom(in, bytes, SIZE, message_flags, NULL, NULL);
}
static ssize_t by_recvmsg(void)
{
    struct iovec v = part();
    struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1};
    return recvmsg(in, &m, message_flags);
}
static ssize_t by_recvmmsg(void)
{
    struct iovec v = part();
    struct mmsghdr m = {.msg_hdr = {.msg_iov = &v, .msg_iovlen = 1}};
    return recvmmsg(in, &m, 1, message_flags, NULL) < 0 ? -1 : (ssize_t)m.msg_len;
}

static const struct functions {
    ssize_t (*put)(void), (*get)(void);
} plain[] = {{by_write, by_read}, {by_writev, by_readv}}, messages[] = {
                                                              {by_send, by_recv},
                                                              {by_sendto, by_recvfrom},
                                                              {by_sendmsg, by_recvmsg},
                                                              {by_sendmmsg, by_recvmmsg},
};

/* Receives all that was sent, and then finds nothing. errno is not changed by the recorder. */
static void transfer(const struct functions *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        for (int round = 0; round < ROUNDS; round++) {
            const ssize_t sent = list[i].put();
            ssize_t got, total = 0;
            check(sent > 0, "send");
            while ((errno = 0, got = list[i].get()) > 0)
                total += got;
            check(got < 0 && errno == EAGAIN && total == sent, "receive");
        }
    }
}

static void set_by_kernel(int fd)
{
    check(syscall(SYS_fcntl, fd, F_SETFL, O_RDWR | O_NONBLOCK) == 0, "fcntl");
}

/* Another process sets it for both. */
static void set_by_child(int fd)
{
    const pid_t child = fork();
    check(child >= 0, "fork");
    if (child == 0) {
        set_by_kernel(fd);
        _exit(0);
    }
    while (waitpid(child, NULL, 0) < 0)
        continue;
}

static void set_by_ioctl(int fd)
{
    int on = 1;
    check(ioctl(fd, FIONBIO, &on) == 0, "ioctl");
}

static void set_both(void (*set)(int))
{
    set(in);
    set(out);
}

/* Many descriptors, so that asking for all of them takes time; none has anything. */
static void poll_all(void)
{
    static struct pollfd all[POLLED];
    static struct epoll_event event = {.events = EPOLLIN};
    struct timespec none = {0};
    struct timeval zero = {0};
    fd_set set;
    const int epoll = epoll_create1(0);
    check(epoll >= 0 && epoll_ctl(epoll, EPOLL_CTL_ADD, in, &event) == 0, "epoll");
    for (size_t i = 0; i < POLLED; i++)
        all[i] = (struct pollfd){.fd = in, .events = POLLIN};
    for (int round = 0; round < ROUNDS; round++) {
        check(poll(all, POLLED, 0) == 0, "poll");
        check(ppoll(all, POLLED, &none, NULL) == 0, "ppoll");
        FD_ZERO(&set);
        for (int fd = 0; fd <= in; fd++)
            FD_SET(in, &set);
        check(select(in + 1, &set, NULL, NULL, &zero) == 0, "select");
        FD_SET(in, &set);
        check(pselect(in + 1, &set, NULL, NULL, &none, NULL) == 0, "pselect");
        check(epoll_wait(epoll, &event, 1, 0) == 0, "epoll_wait");
    }
}

static void open_sockets(int type)
{
    int pair[2], size = 2 * SIZE;
    check(socketpair(AF_UNIX, type, 0, pair) == 0, "socketpair");
    in = pair[0];
    out = pair[1];
    setsockopt(out, SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
}

static void open_pipe(void)
{
    int pair[2];
    check(pipe2(pair, O_NONBLOCK) == 0, "pipe");
    in = pair[0];
    out = pair[1];
    fcntl(out, F_SETPIPE_SZ, SIZE);
}

/* Reads a file whose descriptor was that of a socket. */
static void read_file(void)
{
    char path[] = "nonblocking-XXXXXX";
    const int file = mkstemp(path);
    check(file == in && unlink(path) == 0, "mkstemp");
    check(write(file, bytes, SIZE) == SIZE, "write");
    for (int round = 0; round < ROUNDS; round++)
        check(lseek(file, 0, SEEK_SET) == 0 && read(file, bytes, SIZE) == SIZE, "read");
}

static void read_byte(void)
{
    check(write(out, bytes, 1) == 1 && read(in, bytes, 1) == 1, "socket");
}

/* Sockets are closed by other functions than close(2). */
static int reuse(void)
{
    open_sockets(SOCK_STREAM);
    read_byte();
    fclose(fdopen(in, "r+"));
    read_file();
    close(in);
    close(out);
    open_sockets(SOCK_STREAM);
    read_byte();
    close_range((unsigned)in, (unsigned)in, 0);
    read_file();
    close(in);
    close(out);
    open_sockets(SOCK_STREAM);
    read_byte();
    closefrom(in);
    read_file();
    return 0;
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    const bool flags = strcmp(how, "dontwait") == 0, pipes = strcmp(how, "pipe") == 0;
    if (strcmp(how, "reuse") == 0)
        return reuse();
    if (pipes)
        open_pipe();
    else
        open_sockets(strcmp(how, "socket") == 0 ? SOCK_STREAM | SOCK_NONBLOCK : SOCK_STREAM);
    if (flags)
        message_flags = MSG_DONTWAIT;
    else if (strcmp(how, "ioctl") == 0)
        set_both(set_by_ioctl);
    else if (strcmp(how, "kernel") == 0)
        set_both(set_by_kernel);
    else if (strcmp(how, "child") == 0)
        set_both(set_by_child);
    if (!flags)
        transfer(plain, sizeof plain / sizeof *plain);
    if (!pipes)
        transfer(messages, sizeof messages / sizeof *messages);
    poll_all();
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    printf("%ld\n", usage.ru_nvcsw);
    return 0;
}
