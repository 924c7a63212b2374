/*
 * channels.c - channels CHANNEL WAIT: a server and a client, each a process, talk through a
 * channel: inet, inet6 (of which the client uses IPv4), unix or pair. The server waits for each of
 * the client's requests in WAIT: recv, poll, select or epoll, and the client for the answer in
 * recv. Before a request and before an answer the other one has waited for some milliseconds. WAIT
 * may also be full: the client sends much, which the server begins to read later. channels event
 * WAIT: two threads, and eventfds instead of the channel. For tests/processes.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum { REQUESTS = 5, PAUSE_US = 20000, PART = 1 << 16, PARTS = 256 /* of what is much */ };

typedef struct end {
    int from, to;
    const char *wait;
} end;

static void require(bool good, const char *what)
{
    if (good)
        return;
    perror(what);
    exit(2);
}

static void wait_for(const end *e)
{
    if (strcmp(e->wait, "poll") == 0) {
        struct pollfd f = {.fd = e->from, .events = POLLIN};
        require(poll(&f, 1, -1) == 1, "poll");
    } else if (strcmp(e->wait, "select") == 0) {
        fd_set from;
        FD_ZERO(&from);
        FD_SET(e->from, &from);
        require(select(e->from + 1, &from, NULL, NULL, NULL) == 1, "select");
    } else if (strcmp(e->wait, "epoll") == 0) {
        struct epoll_event event = {.events = EPOLLIN};
        const int all = epoll_create1(EPOLL_CLOEXEC);
        require(all >= 0 && epoll_ctl(all, EPOLL_CTL_ADD, e->from, &event) == 0, "epoll_ctl");
        require(epoll_wait(all, &event, 1, -1) == 1, "epoll_wait");
        close(all);
    }
}

static void receive(const end *e)
{
    uint64_t word;
    require(read(e->from, &word, sizeof word) == sizeof word, "read");
}

static void send_word(const end *e)
{
    const uint64_t word = 1;
    require(write(e->to, &word, sizeof word) == sizeof word, "write");
}

/* Reads or writes much. */
static void transfer(const end *e, bool sends)
{
    static char part[PART];
    for (size_t left = (size_t)PART * PARTS; left > 0;) {
        const ssize_t n = sends ? write(e->to, part, sizeof part)
                                : read(e->from, part, sizeof part);
        require(n > 0, sends ? "write" : "read");
        left -= (size_t)n;
    }
}

static void *serve(void *arg)
{
    const end *e = arg;
    if (strcmp(e->wait, "full") == 0) {
        usleep(10 * PAUSE_US);
        transfer(e, false);
        return NULL;
    }
    for (unsigned i = 0; i < REQUESTS; i++) {
        wait_for(e);
        receive(e);
        usleep(PAUSE_US);
        send_word(e);
    }
    return NULL;
}

static void request(const end *e)
{
    if (strcmp(e->wait, "full") == 0) {
        transfer(e, true);
        return;
    }
    for (unsigned i = 0; i < REQUESTS; i++) {
        usleep(PAUSE_US);
        send_word(e);
        receive(e);
    }
}

typedef union address {
    struct sockaddr any;
    struct sockaddr_in in;
    struct sockaddr_in6 in6;
    struct sockaddr_un un;
} address;

/* Returns the address of a server, and that to which a client connects. */
static address address_of(const char *channel, address *to)
{
    address a = {.any.sa_family = AF_UNIX};
    if (strcmp(channel, "inet") == 0)
        a.in = (struct sockaddr_in){.sin_family = AF_INET,
                                    .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    else if (strcmp(channel, "inet6") == 0)
        a.in6 = (struct sockaddr_in6){.sin6_family = AF_INET6, .sin6_addr = in6addr_any};
    else
        snprintf(a.un.sun_path, sizeof a.un.sun_path, "%s", "channel.socket");
    *to = a;
    if (a.any.sa_family == AF_INET6)
        to->in = (struct sockaddr_in){.sin_family = AF_INET,
                                      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    return a;
}

static socklen_t size_of(const address *a)
{
    return a->any.sa_family == AF_UNIX ? sizeof a->un : sizeof a->in6;
}

static in_port_t port_of(int fd)
{
    address a;
    socklen_t size = sizeof a;
    require(getsockname(fd, &a.any, &size) == 0, "getsockname");
    return a.any.sa_family == AF_INET6 ? a.in6.sin6_port : a.in.sin_port;
}

/* Returns a socket that listens, and the address to connect to. */
static int listen_at(const char *channel, address *to)
{
    const address a = address_of(channel, to);
    const int fd = socket(a.any.sa_family, SOCK_STREAM, 0);
    unlink("channel.socket");
    require(fd >= 0 && bind(fd, &a.any, size_of(&a)) == 0 && listen(fd, 1) == 0, "bind");
    if (to->any.sa_family == AF_INET)
        to->in.sin_port = port_of(fd);
    return fd;
}

static int talk(const char *channel, const char *how)
{
    int ends[2] = {-1, -1}, listening = -1;
    address to;
    if (strcmp(channel, "pair") == 0)
        require(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0, "socketpair");
    else
        listening = listen_at(channel, &to);
    const pid_t child = fork();
    require(child >= 0, "fork");
    if (child == 0) {
        if (listening >= 0) {
            wait_for(&(end){listening, -1, how});
            ends[0] = accept(listening, NULL, NULL);
        }
        require(ends[0] >= 0, "accept");
        close(ends[1]);
        serve(&(end){ends[0], ends[0], how});
        _exit(0);
    }
    if (listening >= 0) {
        ends[1] = socket(to.any.sa_family, SOCK_STREAM, 0);
        usleep(PAUSE_US);
        require(connect(ends[1], &to.any, size_of(&to)) == 0, "connect");
    }
    request(&(end){ends[1], ends[1], how});
    int status;
    printf("%d %d\n", (int)getpid(), (int)child);
    return waitpid(child, &status, 0) == child && status == 0 ? 0 : 2;
}

static int talk_by_events(const char *how)
{
    const int requests = eventfd(0, 0), answers = eventfd(0, 0);
    pthread_t server;
    end serves = {requests, answers, how};
    require(requests >= 0 && answers >= 0, "eventfd");
    require(pthread_create(&server, NULL, serve, &serves) == 0, "pthread_create");
    request(&(end){answers, requests, how});
    printf("%d %d\n", (int)getpid(), (int)getpid());
    return pthread_join(server, NULL) == 0 ? 0 : 2;
}

int main(int count, char **arguments)
{
    if (count != 3)
        return 2;
    return strcmp(arguments[1], "event") == 0 ? talk_by_events(arguments[2])
                                              : talk(arguments[1], arguments[2]);
}
