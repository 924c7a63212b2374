/*
 * window.c - time ranges: the slices that are open at the beginning of one begin there, and those
 * that are open at its end end there. Between two of them the state is tracked as before the first.
 */
#include <stdlib.h>

#include "formats/perfetto/perfetto.h"

static void goroutines_reopen(perfetto *p)
{
    size_t count = p->goroutines.count;
    uint64_t *ids = sorted_ids(p, &p->goroutines);

    for (size_t i = 0; ids && i < count; i++) {
        perfetto_goroutine *g = idmap_find(&p->goroutines, ids[i]);
        goroutine_reopen(p, ids[i], g);
        regions_reopen(p, ids[i], g);
    }
    free(ids);
}

static void procs_reopen(perfetto *p)
{
    size_t count = p->procs.count;
    uint64_t *ids = sorted_ids(p, &p->procs);

    for (size_t i = 0; ids && i < count; i++)
        proc_reopen(p, (int64_t)ids[i]);
    free(ids);
}

static void counters_reopen(perfetto *p)
{
    if (!wants(p, PART_COUNTERS))
        return;
    for (size_t i = 0; i < sizeof p->metrics / sizeof p->metrics[0]; i++)
        if (p->metrics[i].known)
            metric_write(p, i);
    /* Write all counters of goroutines at once. */
    p->changed = p->version >= GOTRACE_FIRST_V2 ? TRACK_THREADS - TRACK_RUNNABLE + 1
                                                : TRACK_SYSCALL - TRACK_RUNNABLE + 1;
    state_advance(p, INT64_MAX);
}

void window_next(perfetto *p)
{
    p->from = p->windows->from;
    p->to = p->windows->to;
    p->windows++;
    p->window_count--;
}

void window_begin(perfetto *p)
{
    packet_settle(p);
    p->before_window = false;
    packet_set_limit(p);
    p->time = p->from;
    perfetto_restart(p);
    goroutines_reopen(p);
    procs_reopen(p);
    threads_reopen(p);
    ranges_reopen(p);
    tasks_reopen(p);
    counters_reopen(p);
}

void window_end(perfetto *p)
{
    state_advance(p, p->to);
    p->time = p->to;
    state_end(p);
    tasks_end(p);
    detail_settle(p);
    packet_settle(p);
    p->before_window = true;
    packet_set_limit(p);
    window_next(p);
}
