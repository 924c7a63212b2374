/*
 * threads.c - threads HOW: the C library creates a thread without the function that the recorder
 * interposes; it has the name own_name, and sleeps. For tests/calls.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

typedef int create_fn(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

enum { SLEEP_US = 1000, DEPTH = 200 };

static sem_t ended;

static void set_name(void)
{
    pthread_setname_np(pthread_self(), "own_name");
}

static void *plain_thread(void *arg)
{
    set_name();
    usleep(SLEEP_US);
    return arg;
}

/* The first recorded call has more callers than are recorded. */
__attribute__((noinline)) static int descend(int depth)
{
    if (depth == 0)
        return usleep(SLEEP_US);
    const int below = descend(depth - 1);
    __asm__ volatile("" ::: "memory"); /* no tail call */
    return below + 1;
}

static void *deep_thread(void *arg)
{
    set_name();
    descend(DEPTH);
    __asm__ volatile("" ::: "memory");
    return arg;
}

static void expire(union sigval value)
{
    (void)value;
    set_name();
    usleep(SLEEP_US);
    sem_post(&ended);
}

static int run_timer(void)
{
    struct sigevent event = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = expire};
    const struct itimerspec soon = {.it_value.tv_nsec = 1};
    timer_t timer;
    sem_init(&ended, 0, 0);
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) < 0)
        return 1;
    timer_settime(timer, 0, &soon, NULL);
    while (sem_wait(&ended) < 0)
        continue;
    return 0;
}

static int run_thread(void *(*routine)(void *))
{
    void *library = dlopen("libc.so.6", RTLD_NOW);
    create_fn *create = library ? __extension__(create_fn *) dlsym(library, "pthread_create")
                                : NULL;
    pthread_t thread;
    if (!create || create(&thread, NULL, routine, NULL) != 0)
        return 1;
    return pthread_join(thread, NULL);
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    if (strcmp(how, "timer") == 0)
        return run_timer();
    return run_thread(strcmp(how, "deep") == 0 ? deep_thread : plain_thread);
}
