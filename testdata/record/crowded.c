/*
 * crowded.c - crowded: twice as many threads as processors compute for some time, and wait now and
 * then. Each of them prints how long it ran, and waited for a processor, in ns, and how often it
 * was preempted, as the kernel has it.
 *
 * crowded permitted: the status says whether the kernel reports when threads are off the
 * processors. For tests/calls.
 */
#define _GNU_SOURCE
#include <linux/perf_event.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 4, WORK_NS = 20000000 };

static long long now(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void *worker(void *unused)
{
    long long ran, waited;
    for (int i = 0; i < ROUNDS; i++) {
        for (const long long end = now(CLOCK_THREAD_CPUTIME_ID) + WORK_NS;
             now(CLOCK_THREAD_CPUTIME_ID) < end;)
            continue;
        usleep(1000);
    }
    FILE *file = fopen("/proc/thread-self/schedstat", "r");
    if (!file || fscanf(file, "%lld %lld", &ran, &waited) != 2)
        abort();
    fclose(file);
    struct rusage used;
    getrusage(RUSAGE_THREAD, &used);
    printf("%lld %lld %ld\n", ran, waited, used.ru_nivcsw);
    return unused;
}

static int is_permitted(void)
{
    struct perf_event_attr how = {.size = sizeof how,
                                  .type = PERF_TYPE_SOFTWARE,
                                  .config = PERF_COUNT_SW_DUMMY,
                                  .context_switch = 1,
                                  .exclude_kernel = 1};
    return syscall(SYS_perf_event_open, &how, 0, -1, -1, 0) >= 0;
}

int main(int arguments, char **unused)
{
    (void)unused;
    if (arguments > 1)
        return !is_permitted();
    const long count = 2 * sysconf(_SC_NPROCESSORS_ONLN);
    pthread_t threads[count];
    for (long i = 0; i < count; i++)
        pthread_create(&threads[i], NULL, worker, NULL);
    for (long i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
