/*
 * clock.c - ticks.
 */
#include "record/record.h"

#include <time.h>

#if defined __x86_64__
#include <cpuid.h>

/* Whether the counter runs at a constant rate, and in sleep states too. Source: Intel SDM, volume
 * 3, 18.17.1 */
static bool is_invariant(void)
{
    const unsigned leaf = 0x80000007, invariant = 1 << 8;
    unsigned a, b, c, d;
    return __get_cpuid(leaf, &a, &b, &c, &d) && d & invariant;
}
#endif

uint64_t gt_rec_monotonic(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static uint64_t read_monotonic(void *ctx)
{
    (void)ctx;
    return gt_rec_monotonic();
}

/* A clock whose ticks are longer than an event takes. Readers order the events of different threads
 * by their times, so ticks are divided, and readings differ by more than the times of the records
 * of one event, which follow each other by one tick. */
static uint64_t read_divided(void *recorder)
{
    enum { RECORDS = 16 }; /* less than an event takes */
    gotrace_recorder *r = recorder;
    const uint64_t now = r->options.clock(r->options.clock_ctx) << r->divided;
    uint64_t last = atomic_load_explicit(&r->last_reading, memory_order_relaxed), next;
    do
        next = now >= last + RECORDS ? now : last + RECORDS;
    while (!atomic_compare_exchange_weak(&r->last_reading, &last, next));
    return next;
}

static void divide_ticks(gotrace_recorder *r)
{
    enum { LONG = 50000000, NANOSECOND = 1000000000 }; /* Hz; an event takes about 20 ns */
    const uint64_t frequency = r->options.frequency;
    if (frequency == 0 || frequency >= LONG)
        return;
    while (frequency << r->divided < NANOSECOND)
        r->divided++;
    r->clock = read_divided;
    r->clock_ctx = r;
}

void gt_rec_choose_clock(gotrace_recorder *r)
{
    r->clock = r->options.clock ? r->options.clock : read_monotonic;
    r->clock_ctx = r->options.clock_ctx;
    if (r->options.clock)
        divide_ticks(r);
#if defined __x86_64__
    r->counter = !r->options.clock && is_invariant();
#endif
}

gt_rec_moment gt_rec_moment_now(const gotrace_recorder *r)
{
    enum { TRIES = 20 };
    gt_rec_moment best = {0};
    uint64_t least = UINT64_MAX;
    for (int i = 0; i < TRIES; i++) { /* the thread may be preempted between the readings */
        uint64_t begin = gt_rec_now(r), ns = gt_rec_monotonic();
        uint64_t took = gt_rec_now(r) - begin;
        if (took < least) {
            least = took;
            best = (gt_rec_moment){begin + took / 2, ns};
        }
    }
    return best;
}

/* Over less time, reading the clocks is too large a part of it. */
enum { MEASURE_NS = 5000000 };

uint64_t gt_rec_frequency(const gotrace_recorder *r)
{
    if (r->options.clock)
        return r->options.frequency << r->divided;
    uint64_t now;
    while ((now = gt_rec_monotonic()) - r->created.ns < MEASURE_NS)
        nanosleep(&(struct timespec){.tv_nsec = (long)(r->created.ns + MEASURE_NS - now)}, NULL);
    const gt_rec_moment end = gt_rec_moment_now(r);
    return (uint64_t)((double)(end.ticks - r->created.ticks) * 1e9 /
                          (double)(end.ns - r->created.ns) +
                      0.5);
}
