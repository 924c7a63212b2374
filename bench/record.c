/*
 * record.c - the cost of an event of the recorder, compared with that of reading the clock.
 *
 *   record [EVENTS]     default: 5000000 for each case
 *
 * Prints the best of five runs, because other programs can only make it slower, and the targets of
 * RESULTS.md; for two threads the median of seven ratios, of runs in turn with one thread.
 * Exit 1 if a target is missed.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#if defined __x86_64__
#include <x86intrin.h>
#endif

#include "gotrace_record.h"

enum { DEPTH = 8, RUNS = 5, RATIOS = 7, THREADS = 2 };

typedef struct job {
    pthread_t thread;
    pthread_barrier_t *start;
    gotrace_rec_thread *rec;
    void (*event)(gotrace_rec_thread *rec, uint64_t i);
    uint64_t count;
    double begin, end; /* seconds */
} job;

static const uint64_t pcs[DEPTH] = {0x401000, 0x402010, 0x403020, 0x404030,
                                    0x405040, 0x406050, 0x407060, 0x408070};
static volatile uint64_t sink;

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void without_stack(gotrace_rec_thread *rec, uint64_t i)
{
    gotrace_rec_heap_alloc(rec, i & 0xffff);
}

static void with_stack(gotrace_rec_thread *rec, uint64_t i)
{
    gotrace_rec_gomaxprocs(rec, i & 0x7f, pcs, DEPTH);
}

static void read_counter(gotrace_rec_thread *rec, uint64_t i)
{
    (void)rec, (void)i;
#if defined __x86_64__
    sink = __rdtsc();
#endif
}

static void read_clock(gotrace_rec_thread *rec, uint64_t i)
{
    struct timespec t;
    (void)rec, (void)i;
    clock_gettime(CLOCK_MONOTONIC, &t);
    sink = (uint64_t)t.tv_nsec;
}

static void *run(void *arg)
{
    job *j = arg;
    pthread_barrier_wait(j->start);
    j->begin = seconds();
    for (uint64_t i = 0; i < j->count; i++)
        j->event(j->rec, i);
    j->end = seconds();
    return NULL;
}

/* Nanoseconds from the first event to the last one, per event of a thread. */
static double measure(job *jobs, unsigned threads)
{
    pthread_barrier_t start;
    pthread_barrier_init(&start, NULL, threads);
    for (unsigned i = 0; i < threads; i++) {
        jobs[i].start = &start;
        if (pthread_create(&jobs[i].thread, NULL, run, &jobs[i]) != 0)
            abort();
    }
    double begin = 0, end = 0;
    for (unsigned i = 0; i < threads; i++) {
        pthread_join(jobs[i].thread, NULL);
        begin = i == 0 || jobs[i].begin < begin ? jobs[i].begin : begin;
        end = i == 0 || jobs[i].end > end ? jobs[i].end : end;
    }
    pthread_barrier_destroy(&start);
    return (end - begin) * 1e9 / (double)jobs[0].count;
}

static bool discard(void *ctx, const void *bytes, size_t size)
{
    (void)ctx, (void)bytes, (void)size;
    return true;
}

static double record_once(int version, job *jobs, unsigned threads)
{
    gotrace_recorder *r;
    gotrace_error error = GOTRACE_INIT(gotrace_error);
    if (gotrace_recorder_new(NULL, NULL, &r, &error) < 0)
        abort();
    for (unsigned i = 0; i < threads; i++) {
        jobs[i].rec = gotrace_rec_thread_new(r, i + 1);
        gotrace_rec_proc_start(jobs[i].rec, gotrace_rec_proc_new(r, i));
        gotrace_rec_go_start(jobs[i].rec,
                             gotrace_rec_go_create(jobs[i].rec, i + 1, 0x400000, NULL, 0));
    }
    if (version && gotrace_recorder_start(r, version, discard, NULL) < 0)
        abort();
    double ns = measure(jobs, threads);
    if (gotrace_recorder_stop(r) < 0)
        abort();
    gotrace_recorder_free(r);
    return ns;
}

typedef void event_fn(gotrace_rec_thread *, uint64_t);

/* version 0: nothing is recorded. */
static double measure_once(int version, event_fn *event, unsigned threads, uint64_t count)
{
    job jobs[THREADS];
    for (unsigned i = 0; i < threads; i++)
        jobs[i] = (job){.event = event, .count = count};
    return record_once(version, jobs, threads);
}

static double best(int version, event_fn *event, uint64_t count)
{
    double least = 0;
    for (unsigned k = 0; k < RUNS; k++) {
        double ns = measure_once(version, event, 1, count);
        least = k == 0 || ns < least ? ns : least;
    }
    return least;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* How many times as many events two threads record. */
static double gain(int version, event_fn *event, uint64_t count)
{
    double ratios[RATIOS];
    for (unsigned k = 0; k < RATIOS; k++) {
        const double one = measure_once(version, event, 1, count);
        ratios[k] = THREADS * one / measure_once(version, event, THREADS, count);
    }
    qsort(ratios, RATIOS, sizeof *ratios, compare);
    return ratios[RATIOS / 2];
}

/* Prints a value, and compares it with the goal. */
static int report(const char *what, int version, double got, const char *unit, bool good,
                  double goal)
{
    printf("%-32s 1.%-2d %7.2f %-2s  goal %.2f %s\n", what, version, got, unit, goal,
           good ? "" : "MISSED");
    return !good;
}

static int report_version(int version, double counter, uint64_t count)
{
    const double bare = best(version, without_stack, count);
    const double stack = best(version, with_stack, count);
    const double two = gain(version, without_stack, count);
    int missed = report("event", version, bare, "ns", bare <= counter + 5, counter + 5);
    missed += report("event with a known stack of 8", version, stack, "ns", stack <= counter + 30,
                     counter + 30);
    return missed + report("events with two threads", version, two, "x", two >= 1.9, 1.9);
}

int main(int argc, char **argv)
{
    const uint64_t count = argc > 1 ? strtoull(argv[1], NULL, 10) : 5000000;
    const double counter = best(0, read_counter, count);
    printf("%-37s %7.2f ns\n", "rdtsc", counter);
    printf("%-37s %7.2f x\n", "rdtsc with two threads", gain(0, read_counter, count));
    printf("%-37s %7.2f ns\n", "clock_gettime", best(0, read_clock, count));
    printf("%-37s %7.2f ns\n", "event while nothing is recorded", best(0, without_stack, count));
    return report_version(21, counter, count) + report_version(26, counter, count) != 0;
}
