/*
 * attached.c - a program that is recorded while it runs: attached KIND FILE, until FILE exists.
 * Prints what its threads counted, which is always the same, and ends with status 7.
 *
 *   threads  use a mutex and a condition variable, and sleep
 *   busy     one thread computes without a call, the others wait
 *   memory   threads that allocate and free memory, and begin and end
 *   errno    waits with errno set, in calls that a stop would interrupt
 *   mask     waits in sigsuspend and ppoll with signals blocked
 *   seccomp  has a filter of system calls, which allows all
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

static const char *stop_file;
static atomic_bool stops;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static unsigned long made, used;
static int is_complete;

static void pause_ms(long ms)
{
    const struct timespec t = {.tv_nsec = ms * 1000000};
    nanosleep(&t, NULL);
}

static void *producer(void *arg)
{
    (void)arg;
    while (!stops) {
        pause_ms(2);
        pthread_mutex_lock(&mutex);
        made++;
        pthread_cond_signal(&cond);
        pthread_mutex_unlock(&mutex);
    }
    pthread_mutex_lock(&mutex);
    is_complete = 1;
    pthread_cond_signal(&cond);
    pthread_mutex_unlock(&mutex);
    return NULL;
}

static void *consumer(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&mutex);
    while (!is_complete || used < made) {
        if (used < made)
            used++;
        else
            pthread_cond_wait(&cond, &mutex);
    }
    pthread_mutex_unlock(&mutex);
    return NULL;
}

static atomic_ulong spun;

static void *spinner(void *arg)
{
    (void)arg;
    while (!stops)
        spun++;
    return NULL;
}

static void *sleeper(void *arg)
{
    (void)arg;
    while (!stops)
        pause_ms(5);
    return NULL;
}

static void *short_lived(void *arg)
{
    return arg;
}

static void *allocator(void *arg)
{
    char *blocks[64] = {NULL};
    unsigned seed = (unsigned)(size_t)arg;
    while (!stops) {
        for (unsigned i = 0; i < 200; i++) {
            const unsigned n = (unsigned)rand_r(&seed) % 64;
            free(blocks[n]);
            const size_t size = 1 + (size_t)rand_r(&seed) % 100000;
            blocks[n] = malloc(size);
            memset(blocks[n], (int)n, size);
        }
        pthread_t thread;
        if (pthread_create(&thread, NULL, short_lived, NULL) == 0)
            pthread_join(thread, NULL);
    }
    for (unsigned i = 0; i < 64; i++)
        free(blocks[i]);
    return NULL;
}

static unsigned failures;

static void expect(int good, const char *what)
{
    failures += !good;
    if (!good)
        printf("%s failed: %s\n", what, strerror(errno));
}

/* The results of waits, and errno, which a successful call leaves. */
static void *error_keeper(void *arg)
{
    struct epoll_event event;
    const int fd = epoll_create1(0);
    (void)arg;
    while (!stops) {
        errno = 4242;
        expect(epoll_wait(fd, &event, 1, 50) == 0, "epoll_wait");
        expect(errno == 4242, "errno");
        expect(poll(NULL, 0, 50) == 0, "poll");
        expect(errno == 4242, "errno");
        const struct timespec t = {.tv_nsec = 50000000};
        expect(nanosleep(&t, NULL) == 0, "nanosleep");
        expect(errno == 4242, "errno");
    }
    return NULL;
}

static atomic_uint handled;

static void handle(int number)
{
    (void)number;
    handled++;
}

static void *mask_keeper(void *arg)
{
    sigset_t blocked, none, now;
    struct sigaction action = {.sa_handler = handle};
    (void)arg;
    sigaction(SIGUSR1, &action, NULL);
    sigemptyset(&none);
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &blocked, NULL);
    while (!stops) {
        const unsigned before = handled;
        expect(sigsuspend(&none) == -1 && errno == EINTR, "sigsuspend");
        expect(handled > before, "a signal that sigsuspend waits for");
        const struct timespec t = {.tv_nsec = 20000000};
        expect(ppoll(NULL, 0, &t, &blocked) == 0, "ppoll");
        pthread_sigmask(SIG_SETMASK, NULL, &now);
        expect(sigismember(&now, SIGUSR1) == 1 && sigismember(&now, SIGUSR2) == 0, "the mask");
    }
    return NULL;
}

static void limit_calls(void)
{
    struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    const struct sock_fprog filter = {1, &allow};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) < 0)
        expect(0, "seccomp");
}

int main(int argc, char **argv)
{
    enum { MOST = 8 };
    pthread_t threads[MOST];
    unsigned count = 0;
    const char *kind = argc == 3 ? argv[1] : "";
    stop_file = argc == 3 ? argv[2] : "";
    if (strcmp(kind, "threads") == 0) {
        pthread_create(&threads[count++], NULL, producer, NULL);
        pthread_create(&threads[count++], NULL, consumer, NULL);
    } else if (strcmp(kind, "busy") == 0) {
        pthread_create(&threads[count++], NULL, spinner, NULL);
        pthread_create(&threads[count++], NULL, sleeper, NULL);
    } else if (strcmp(kind, "memory") == 0) {
        for (; count < 3; count++)
            pthread_create(&threads[count], NULL, allocator, (void *)(size_t)(count + 1));
        pthread_create(&threads[count++], NULL, sleeper, NULL);
    } else if (strcmp(kind, "errno") == 0) {
        pthread_create(&threads[count++], NULL, error_keeper, NULL);
    } else if (strcmp(kind, "mask") == 0) {
        pthread_create(&threads[count++], NULL, mask_keeper, NULL);
    } else if (strcmp(kind, "seccomp") == 0) {
        limit_calls();
    } else {
        return 2;
    }
    puts("attached");
    fflush(stdout);
    while (access(stop_file, F_OK) != 0) {
        pause_ms(10);
        if (strcmp(kind, "mask") == 0)
            pthread_kill(threads[0], SIGUSR1);
    }
    stops = 1;
    if (strcmp(kind, "mask") == 0)
        pthread_kill(threads[0], SIGUSR1);
    for (unsigned i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    printf("%s: %s\n", kind, made == used && failures == 0 ? "good" : "bad");
    return 7;
}
