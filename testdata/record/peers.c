/*
 * peers.c - waits for sockets and a pipe, also for one whose descriptor was another one, and prints
 * what it waits for. A child does so for the pipe. In its folder it creates a socket, `peer`. For
 * tests/record.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "blocked.h"

enum { LONG_US = 2000 };

static pid_t waiter;
static const struct sockaddr_un path = {.sun_family = AF_UNIX, .sun_path = "peer"};

static struct sockaddr_in local(void)
{
    return (struct sockaddr_in){.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
}

static struct sockaddr_in address_of(int fd)
{
    struct sockaddr_in address;
    socklen_t size = sizeof address;
    if (getsockname(fd, (struct sockaddr *)&address, &size) != 0)
        perror("getsockname");
    return address;
}

static int bound(int type)
{
    struct sockaddr_in address = local();
    int fd = socket(AF_INET, type, 0);
    if (bind(fd, (struct sockaddr *)&address, sizeof address) != 0)
        perror("bind");
    return fd;
}

static void connect_to(int fd, struct sockaddr_in address)
{
    if (connect(fd, (struct sockaddr *)&address, sizeof address) != 0)
        perror("connect");
}

/* Writes to the descriptor when the main thread has waited for some time. */
static void *wake(void *to)
{
    wait_until_blocked(waiter);
    usleep(LONG_US);
    if (write(*(int *)to, "", 1) != 1)
        perror("write");
    return NULL;
}

static void wait_for(int fd, int to)
{
    pthread_t other;
    char byte;
    pthread_create(&other, NULL, wake, &to);
    if (read(fd, &byte, 1) != 1)
        perror("read");
    pthread_join(other, NULL);
}

static void *connect_later(void *listener)
{
    static int fd;
    fd = socket(AF_INET, SOCK_STREAM, 0);
    wait_until_blocked(waiter);
    usleep(LONG_US);
    connect_to(fd, address_of(*(int *)listener));
    return &fd;
}

/* Returns the connected socket. */
static int wait_for_tcp(void)
{
    pthread_t other;
    void *client;
    int listener = bound(SOCK_STREAM);
    listen(listener, 1);
    pthread_create(&other, NULL, connect_later, &listener);
    int fd = accept(listener, NULL, NULL);
    pthread_join(other, &client);
    printf("descriptor %d: at 127.0.0.1:%u\n", listener, ntohs(address_of(listener).sin_port));
    wait_for(fd, *(int *)client);
    printf("descriptor %d: 127.0.0.1:%u\n", fd, ntohs(address_of(*(int *)client).sin_port));
    return fd;
}

/* It has the number of a socket that was closed. */
static void wait_for_unix(int closed)
{
    int listener = socket(AF_UNIX, SOCK_STREAM, 0);
    unlink(path.sun_path);
    if (bind(listener, (const struct sockaddr *)&path, sizeof path) != 0)
        perror("bind");
    listen(listener, 1);
    close(closed);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    if (connect(fd, (const struct sockaddr *)&path, sizeof path) != 0)
        perror("connect");
    wait_for(fd, accept(listener, NULL, NULL));
    printf("descriptor %d: peer\n", fd);
}

/* It is connected after it was waited for. */
static void wait_for_udp(void)
{
    int fd = bound(SOCK_DGRAM), other = bound(SOCK_DGRAM);
    connect_to(other, address_of(fd));
    wait_for(fd, other);
    printf("descriptor %d: at 127.0.0.1:%u\n", fd, ntohs(address_of(fd).sin_port));
    connect_to(fd, address_of(other));
    wait_for(fd, other);
    printf("descriptor %d: 127.0.0.1:%u\n", fd, ntohs(address_of(other).sin_port));
}

static void wait_for_pipe(const int pipes[2], const char *who)
{
    char link[64], name[64] = "";
    snprintf(link, sizeof link, "/proc/self/fd/%d", pipes[0]);
    if (readlink(link, name, sizeof name - 1) < 0)
        perror(link);
    waiter = gettid();
    wait_for(pipes[0], pipes[1]);
    printf("%sdescriptor %d: %s\n", who, pipes[0], name);
}

int main(void)
{
    int pipes[2];
    waiter = gettid();
    wait_for_unix(wait_for_tcp());
    wait_for_udp();
    if (pipe(pipes) != 0)
        return 1;
    wait_for_pipe(pipes, "");
    fflush(stdout);
    if (fork() == 0) {
        wait_for_pipe(pipes, "child: ");
        fflush(stdout);
        _exit(0);
    }
    wait(NULL);
    return 0;
}
