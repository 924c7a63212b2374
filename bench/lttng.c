/*
 * lttng.c - the cost of an event of LTTng-UST, for bench/run.sh, which starts the session that
 * records it. Prints the best of five runs, in nanoseconds.
 */
#include <stdio.h>
#include <time.h>

#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "lttng_event.h"

enum { EVENTS = 5000000, RUNS = 5 };

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double measure(void)
{
    const double begin = seconds();
    for (uint64_t i = 0; i < EVENTS; i++)
        lttng_ust_tracepoint(gotrace_bench, event, i);
    return (seconds() - begin) * 1e9 / EVENTS;
}

int main(void)
{
    double least = measure();
    if (!lttng_ust_tracepoint_enabled(gotrace_bench, event)) {
        fprintf(stderr, "lttng: the session does not record the event\n");
        return 1;
    }
    for (int i = 1; i < RUNS; i++) {
        double ns = measure();
        least = ns < least ? ns : least;
    }
    printf("%.1f\n", least);
    return 0;
}
