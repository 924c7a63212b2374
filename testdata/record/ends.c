/*
 * ends.c - ends HOW: a program with a thread ends in some way. For tests/record.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include "blocked.h"

static sem_t posted, never;
static _Atomic pid_t begun; /* a thread that begins */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;

static void begin_thread(void)
{
    begun = gettid();
    sem_post(&posted);
}

static void *wait_forever(void *arg)
{
    begin_thread();
    while (sem_wait(&never) < 0 && errno == EINTR)
        continue;
    return arg;
}

/* Returns when it sleeps or has ended. */
static pthread_t start(void *(*routine)(void *))
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, routine, NULL) != 0)
        exit(1);
    sem_wait(&posted);
    wait_until_blocked(begun);
    return thread;
}

/* ---- cancellation: the handler unlocks ------------------------------------------------------- */

static void unlock(void *arg)
{
    (void)arg;
    pthread_mutex_unlock(&mutex);
}

static void *wait_cancelled(void *arg)
{
    pthread_mutex_lock(&mutex);
    pthread_cleanup_push(unlock, NULL);
    begin_thread();
    for (;;)
        pthread_cond_wait(&cond, &mutex);
    pthread_cleanup_pop(1);
    return arg;
}

static int cancelled(void)
{
    void *result;
    pthread_t thread = start(wait_cancelled);
    pthread_cancel(thread);
    pthread_join(thread, &result);
    return result == PTHREAD_CANCELED && pthread_mutex_trylock(&mutex) == 0 ? 4 : 1;
}

/* ---- other threads --------------------------------------------------------------------------- */

static void *end_thread(void *arg)
{
    begin_thread();
    pthread_exit(arg);
}

static int detached(void)
{
    pthread_detach(start(end_thread));
    return 5;
}

static int c11_thread(void *arg)
{
    (void)arg;
    return 6;
}

static int c11(void)
{
    thrd_t thread;
    int result = 0;
    if (thrd_create(&thread, c11_thread, NULL) != thrd_success)
        return 1;
    thrd_join(thread, &result);
    return result;
}

/* Many more threads than slots, but not at a time. */
static int many(void)
{
    for (int i = 0; i < 1500; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, end_thread, NULL) != 0)
            return 1;
        pthread_join(thread, NULL);
    }
    return 7;
}

/* ---- signals: the handler calls interposed functions ----------------------------------------- */

static volatile sig_atomic_t handled;

static void handle(int number)
{
    (void)number;
    errno = EDOM;
    sem_post(&posted);
    (void)!write(STDERR_FILENO, "", 0);
    if (errno != EDOM)
        abort();
    handled++;
}

static int signals(void)
{
    signal(SIGALRM, handle);
    pthread_t thread = start(wait_forever);
    for (int i = 0; i < 50; i++) {
        pthread_kill(thread, SIGALRM);
        sem_wait(&posted);
    }
    sem_post(&never);
    pthread_join(thread, NULL);
    return handled == 50 ? 8 : 1;
}

/* ---- processes ------------------------------------------------------------------------------- */

static int forks(void)
{
    start(wait_forever);
    int status;
    pid_t child = fork();
    if (child == 0) {
        sem_post(&posted);
        usleep(1000);
        _exit(9);
    }
    return waitpid(child, &status, 0) == child ? WEXITSTATUS(status) : 1;
}

static int vforks(void)
{
    start(wait_forever);
    int status;
    pid_t child = vfork();
    if (child == 0) {
        execlp("sh", "sh", "-c", "exit 9", (char *)NULL);
        _exit(1);
    }
    return waitpid(child, &status, 0) == child ? WEXITSTATUS(status) : 1;
}

static int execs(char *self)
{
    start(wait_forever);
    execl(self, self, "exit", (char *)NULL);
    return 1;
}

static void by_signal(int number)
{
    start(wait_forever);
    raise(number);
}

/* ---- long runs ---------------------------------------------------------------------------------
 */

/* For 1.2 seconds, and until the file exists, if one is named. */
static bool has_to_go_on(const struct timespec *begin, const char *file)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (t.tv_sec - begin->tv_sec) * 1000 + (t.tv_nsec - begin->tv_nsec) / 1000000 < 1200 ||
           (file && access(file, F_OK) != 0);
}

/* The folder "started" says that the trace has begun. */
static struct timespec begin_long(void)
{
    struct timespec begin;
    start(wait_forever);
    clock_gettime(CLOCK_MONOTONIC, &begin);
    mkdir("started", 0700);
    return begin;
}

/* Runs without a recorded call, and is killed. */
static void spin(const char *file)
{
    const struct timespec begin = begin_long();
    while (has_to_go_on(&begin, file))
        continue;
    raise(SIGKILL);
}

static int sleeps(const char *file)
{
    const struct timespec begin = begin_long();
    usleep(1200000);
    while (has_to_go_on(&begin, file))
        usleep(20000);
    return 0;
}

/* Exits; waitpid does not report that before the process whose pid is in the file "holder" ends. */
static int held(void)
{
    int ready[2];
    char byte;
    const pid_t parent = getpid();
    start(wait_forever);
    if (pipe(ready) < 0)
        return 1;
    const pid_t child = fork();
    if (child == 0) {
        FILE *file = ptrace(PTRACE_SEIZE, parent, NULL, NULL) == 0 ? fopen("holder", "w") : NULL;
        if (!file)
            _exit(1);
        fprintf(file, "%d\n", (int)getpid());
        fclose(file);
        (void)!write(ready[1], "", 1);
        sleep(600);
        _exit(0);
    }
    close(ready[1]);
    return read(ready[0], &byte, 1) == 1 ? 10 : 77;
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    sem_init(&posted, 0, 0);
    sem_init(&never, 0, 0);
    if (strcmp(how, "cancelled") == 0)
        return cancelled();
    if (strcmp(how, "detached") == 0)
        return detached();
    if (strcmp(how, "c11") == 0)
        return c11();
    if (strcmp(how, "many") == 0)
        return many();
    if (strcmp(how, "signals") == 0)
        return signals();
    if (strcmp(how, "fork") == 0)
        return forks();
    if (strcmp(how, "vfork") == 0)
        return vforks();
    if (strcmp(how, "exec") == 0)
        return execs(argv[0]);
    if (strcmp(how, "kill") == 0)
        by_signal(SIGKILL);
    if (strcmp(how, "term") == 0)
        by_signal(SIGTERM);
    if (strcmp(how, "spin") == 0)
        spin(argc > 2 ? argv[2] : NULL);
    if (strcmp(how, "sleep") == 0)
        return sleeps(argc > 2 ? argv[2] : NULL);
    if (strcmp(how, "held") == 0)
        return held();
    start(wait_forever);
    if (strcmp(how, "exit") == 0)
        exit(10);
    if (strcmp(how, "_exit") == 0)
        _exit(11);
    if (strcmp(how, "quick") == 0)
        quick_exit(12);
    if (strcmp(how, "abort") == 0)
        abort();
    if (strcmp(how, "hang") == 0)
        pause();
    if (strcmp(how, "main") == 0)
        pthread_exit(NULL); /* the process goes on until it is killed */
    return 2;
}
