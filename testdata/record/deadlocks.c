/*
 * deadlocks.c - deadlocks HOW: threads that wait for each other, or seem to. Once all of them wait,
 * the process kills itself. For tests/record.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "blocked.h"

enum { MOST = 5, AFTER_US = 150000 };

static pthread_mutex_t mutexes[MOST];
static pthread_rwlock_t locks[MOST];
static pthread_barrier_t all_have_one;
static pthread_t threads[MOST];
static sem_t semaphore;
static _Atomic pid_t waiting[MOST]; /* those that are about to wait */
static atomic_int waiting_count;    /* perhaps the last ones are not there yet */
static int count;

static struct timespec later(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    t.tv_sec += 600;
    return t;
}

static void about_to_wait(void)
{
    waiting[waiting_count++] = gettid();
}

/* Ends the process when so many threads wait. */
static void *watch(void *expected)
{
    for (size_t i = 0; i < (size_t)expected; i++) {
        while (waiting[i] == 0)
            sched_yield();
        wait_until_blocked(waiting[i]);
    }
    usleep(AFTER_US);
    kill(getpid(), SIGKILL);
    return NULL;
}

static void watch_for(size_t expected)
{
    pthread_t watcher;
    pthread_create(&watcher, NULL, watch, (void *)expected);
}

/* Each thread has a lock, and waits for that of the next one. */
static void *take_mutexes(void *number)
{
    const size_t own = (size_t)number;
    pthread_mutex_lock(&mutexes[own]);
    pthread_barrier_wait(&all_have_one);
    about_to_wait();
    pthread_mutex_lock(&mutexes[(own + 1) % (size_t)count]);
    return NULL;
}

static void *take_mutexes_timed(void *number)
{
    const size_t own = (size_t)number;
    const struct timespec end = later();
    pthread_mutex_lock(&mutexes[own]);
    pthread_barrier_wait(&all_have_one);
    about_to_wait();
    pthread_mutex_timedlock(&mutexes[(own + 1) % (size_t)count], &end);
    return NULL;
}

static void *take_locks(void *number)
{
    const size_t own = (size_t)number;
    pthread_rwlock_wrlock(&locks[own]);
    pthread_barrier_wait(&all_have_one);
    about_to_wait();
    if (own == 0)
        pthread_rwlock_wrlock(&locks[1]);
    else
        pthread_rwlock_rdlock(&locks[(own + 1) % (size_t)count]);
    return NULL;
}

static void run(int threads_count, void *(*routine)(void *))
{
    count = threads_count;
    pthread_barrier_init(&all_have_one, NULL, (unsigned)count);
    for (size_t i = 0; i < (size_t)count; i++)
        pthread_create(&threads[i], NULL, routine, (void *)i);
}

static void *take_first(void *unused)
{
    about_to_wait();
    pthread_mutex_lock(&mutexes[0]);
    return unused;
}

static void *take_semaphore(void *unused)
{
    about_to_wait();
    sem_wait(&semaphore);
    return unused;
}

static void *end_with_first(void *unused)
{
    pthread_mutex_lock(&mutexes[0]);
    return unused;
}

/* A thread waits for the main thread, which waits for a semaphore. */
static void wait_in_line(void)
{
    pthread_mutex_lock(&mutexes[0]);
    pthread_create(&threads[0], NULL, take_first, NULL);
    take_semaphore(NULL);
}

static void lock_twice(void)
{
    pthread_mutex_lock(&mutexes[0]);
    take_first(NULL);
}

/* And two others wait for the same mutex. */
static void join_with_lock(void)
{
    pthread_mutex_lock(&mutexes[0]);
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, take_first, NULL);
    while (waiting_count < 3)
        sched_yield();
    about_to_wait();
    pthread_join(threads[0], NULL);
}

/* Waits for a mutex that the main thread still has once. */
static void *take_recursive(void *unused)
{
    pthread_mutex_lock(&mutexes[1]);
    about_to_wait();
    pthread_mutex_lock(&mutexes[0]);
    return unused;
}

static void unlock_once(void)
{
    pthread_mutexattr_t recursive;
    pthread_mutexattr_init(&recursive);
    pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&mutexes[0], &recursive);
    pthread_mutex_lock(&mutexes[0]);
    pthread_mutex_lock(&mutexes[0]);
    pthread_create(&threads[0], NULL, take_recursive, NULL);
    while (waiting[0] == 0)
        sched_yield();
    wait_until_blocked(waiting[0]);
    pthread_mutex_unlock(&mutexes[0]);
    about_to_wait();
    pthread_mutex_lock(&mutexes[1]);
}

static void lock_of_ended(void)
{
    pthread_create(&threads[0], NULL, end_with_first, NULL);
    pthread_join(threads[0], NULL);
    take_first(NULL);
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    for (int i = 0; i < MOST; i++) {
        pthread_mutex_init(&mutexes[i], NULL);
        pthread_rwlock_init(&locks[i], NULL);
    }
    sem_init(&semaphore, 0, 0);
    if (strcmp(how, "pair") == 0)
        watch_for(2), run(2, take_mutexes);
    else if (strcmp(how, "ring") == 0)
        watch_for(5), run(5, take_mutexes);
    else if (strcmp(how, "timed") == 0)
        watch_for(2), run(2, take_mutexes_timed);
    else if (strcmp(how, "rwlocks") == 0)
        watch_for(3), run(3, take_locks);
    else if (strcmp(how, "self") == 0)
        watch_for(1), lock_twice();
    else if (strcmp(how, "join") == 0)
        watch_for(4), join_with_lock();
    else if (strcmp(how, "recursive") == 0)
        watch_for(2), unlock_once();
    else if (strcmp(how, "line") == 0)
        watch_for(2), wait_in_line();
    else if (strcmp(how, "ended") == 0)
        watch_for(1), lock_of_ended();
    else
        return 2;
    for (int i = 0; i < MOST; i++)
        pause();
    return 0;
}
