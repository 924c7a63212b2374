/* statistics_run.h - state of the pass over one trace; used by the statistics alone. */
#ifndef ANALYSE_STATISTICS_RUN_H
#define ANALYSE_STATISTICS_RUN_H

#include "formats/analyse/figures.h"
#include "formats/analyse/selector.h"

typedef struct open_task {
    uint32_t name;
    uint64_t parent, logs, regions, goroutine;
    int64_t begin; /* STATES_NEVER: before the trace */
    uint32_t stack;
    bool counted; /* its beginning is selected */
} open_task;

typedef struct proc_load {
    uint8_t state;
    int64_t since;
    /* What is not yet in ns and in the load: times in the span that ends at span_end, INT64_MIN: no
     * span. */
    int64_t span_end, recent[PROC_STATES];
    int64_t ns[PROC_STATES];
    uint64_t sweeper; /* the goroutine that began to sweep there; 0: none */
    uint64_t running; /* the goroutine that runs there; 0: none */
} proc_load;

typedef struct run {
    statistics *all;
    trace_figure *figure;
    uint32_t index; /* of the trace */
    feed feed;
    states states;
    selector selector;
    bool selected;                 /* the current event is */
    bool attended;                 /* there is a selection, a watch, profiles, or no_system */
    bool parts_only;               /* goroutines may be selected for a part of their time */
    bool rows_only;                /* see statistics_watch */
    const statistics_watch *watch; /* NULL: none */
    profiles *profiles;            /* NULL: none; then goroutines have a profile_part */
    int64_t origin;                /* where the time range begins; at least 0 */
    idmap tasks;                   /* open_task */
    idmap procs;                   /* proc_load */
    procs_time procs_time;
    utilization utilizations[UTILIZATION_KINDS];
    int64_t last;     /* the time of the last event that is not a sync */
    bool settles;     /* the event may have changed them */
    int64_t gc_since; /* STATES_NEVER: no cycle is active */
    bool gc_whole;    /* it began in the trace and in the time range */
    bool gc_seen;     /* an event of a cycle was processed */
    uint32_t assist_name, sweep_name;
    uint32_t worker_function;
    uint32_t stop_reason, stop_depth;
    stop stop;       /* the active one, if stop_depth is not 0 */
    bool stop_whole; /* it began in the trace and in the time range */
    bool stop_seen;  /* an event of a stop was processed */
} run;

/* A goroutine, if profiles are made. */
typedef struct profiled_goroutine {
    stat_goroutine g;
    profile_part part;
} profiled_goroutine;

/* ---- goroutines.c ---- */
void times_free(times *t);
/* times_part of a new name. */
part *times_make_part(run *r, times *t, uint32_t name, bool is_range);

static inline part *times_part(run *r, times *t, uint32_t name, bool is_range)
{
    for (size_t i = 0; i < t->count; i++)
        if (t->parts[i].name == name && t->parts[i].is_range == is_range)
            return &t->parts[i];
    return times_make_part(r, t, name, is_range);
}

/* Adds a closed interval. */
static inline void times_add(run *r, times *t, const interval *i)
{
    int64_t ns = i->end - i->begin;
    part *wait = NULL;
    switch (i->state) {
    case GOTRACE_STATE_RUNNING: t->ns[TIME_EXEC] += ns; break;
    case GOTRACE_STATE_RUNNABLE: t->ns[TIME_SCHED_WAIT] += ns; break;
    case GOTRACE_STATE_SYSCALL:
        t->ns[TIME_SYSCALL] += i->lost - i->begin;
        t->ns[TIME_SYSCALL_BLOCK] += i->end - i->lost;
        break;
    case GOTRACE_STATE_WAITING:
        wait = times_part(r, t, i->reason, false);
        if (wait)
            wait->ns += ns;
        break;
    default: break; /* not a state of a goroutine that exists */
    }
}

/* The times of a goroutine at the current time; ranges and state that are active included. */
void times_snapshot(run *r, const stat_goroutine *g, times *copy);
void times_subtract(times *t, const times *before);
/* Adds a goroutine that is no longer followed; ended: it has ended in the time range. */
void stat_goroutine_ended(run *r, stat_goroutine *g, bool ended);
/* Adds to the figures of states by reason and by stack. */
void stat_wait(run *r, const interval *i);
/* A goroutine becomes runnable after that interval; NULL: it is created. */
void stat_runnable(run *r, stat_goroutine *g, const interval *i);
void stat_latency(run *r, stat_goroutine *g, const interval *i);
/* The goroutine ends: its latencies of the time when its function was not known count. */
void stat_latency_early(run *r, stat_goroutine *g);

/* ---- spans.c: tasks and regions ---- */
void stat_region_inherit(run *r, stat_goroutine *g, const gotrace_event *e);
void stat_regions_end(run *r, stat_goroutine *g, bool at_event);
void stat_regions_free(stat_goroutine *g);
void stat_span(run *r, const gotrace_event *e);
void stat_tasks_end(run *r);

/* ---- collector.c: GC, stop-the-world, what procs do ---- */
/* Whether the goroutine works for the GC. Only then, or while the world is being stopped, its
 * intervals matter to the collector. */
static inline bool stat_is_collector(const stat_goroutine *g)
{
    return g->worker || g->assists || g->counts || g->marks;
}
void stat_range(run *r, const gotrace_event *e);
void stat_label(run *r, const gotrace_event *e);
void stat_metric(run *r, const gotrace_event *e);
void stat_collector_interval(run *r, stat_goroutine *g, const interval *i, const gotrace_event *e);
void stat_collector_end(run *r);
/* To be called if the goroutine begins or ends to run; proc: of the event. */
void stat_load_interval(run *r, const stat_goroutine *g, const interval *i, int64_t proc);
void stat_load_proc(run *r, const gotrace_event *e);
void stat_load_end(run *r);

/* Inserts into a list of the longest, which has room for that many; a later one of the same length
 * is after an earlier one. */
void stat_slow(slow *list, size_t *count, size_t room, const slow *made);

/* Whether the current event is in the time range. */
static inline bool run_inside(const run *r)
{
    return states_place_of(&r->states) == STATES_INSIDE;
}

static inline void run_fail(run *r)
{
    r->all->failed = true;
}

#endif
