/* Threads that execute `large` three times as long as `small`, block all signals, and have a
 * handler for all signals. Says how much processor time they took, and how many calls were
 * interrupted. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 3, UNIT = 2000000, UNITS = 60 };

static volatile unsigned long sum;
static atomic_ulong used, interrupted;
static sem_t never;

__attribute__((noinline)) static void work(void)
{
    for (unsigned long i = 0; i < UNIT; i++)
        sum += i * i;
}

__attribute__((noinline)) static void large(void)
{
    for (int i = 0; i < 3 * UNITS; i++)
        work();
    sum++; /* no sibling call */
}

__attribute__((noinline)) static void small(void)
{
    for (int i = 0; i < UNITS; i++)
        work();
    sum++;
}

static void wait_a_little(void)
{
    const struct timespec time = {.tv_nsec = 1000000};
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec++;
    interrupted += nanosleep(&time, NULL) != 0;
    interrupted += sem_timedwait(&never, &until) != 0 && errno == EINTR;
}

static void *executes(void *unused)
{
    struct timespec t;
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    large();
    small();
    wait_a_little();
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    used += (unsigned long)t.tv_sec * 1000000000 + (unsigned long)t.tv_nsec;
    return unused;
}

static void handle(int number)
{
    (void)number;
}

int main(void)
{
    pthread_t threads[THREADS];
    struct sigaction action = {.sa_handler = handle};
    sem_init(&never, 0, 0);
    for (int i = 1; i < NSIG; i++)
        sigaction(i, &action, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, executes, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    printf("%lu %lu\n", used, interrupted);
    return 0;
}
