/*
 * barges.c - barges: a thread takes a mutex again at once whenever it has unlocked it, so that
 * three others that are woken find it taken again and again. Each of them prints how long it waited
 * for a processor, in ns, as the kernel has it. For tests/record.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { VICTIMS = 3, ROUNDS = 100, HELD_NS = 300000 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static atomic_int victims = VICTIMS;

static long long now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

/* How long the thread has waited for a processor. */
static long long waited_ns(void)
{
    long long ran, waited = 0;
    FILE *file = fopen("/proc/thread-self/schedstat", "r");
    if (!file || fscanf(file, "%lld %lld", &ran, &waited) != 2)
        perror("schedstat");
    if (file)
        fclose(file);
    return waited;
}

static void *victim(void *unused)
{
    for (int i = 0; i < ROUNDS; i++) {
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
        usleep(1000);
    }
    printf("%d %lld\n", gettid(), waited_ns());
    victims--;
    return unused;
}

static void *barger(void *unused)
{
    while (victims > 0) {
        pthread_mutex_lock(&mutex);
        for (const long long end = now() + HELD_NS; now() < end;)
            continue;
        pthread_mutex_unlock(&mutex);
    }
    return unused;
}

static void *busy(void *unused)
{
    while (victims > 0)
        continue;
    return unused;
}

int main(void)
{
    pthread_t threads[VICTIMS + 1], other;
    for (long i = sysconf(_SC_NPROCESSORS_ONLN); i > 0; i--)
        pthread_create(&other, NULL, busy, NULL);
    for (int i = 0; i <= VICTIMS; i++)
        pthread_create(&threads[i], NULL, i < VICTIMS ? victim : barger, NULL);
    for (int i = 0; i <= VICTIMS; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
