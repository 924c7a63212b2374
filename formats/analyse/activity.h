/*
 * activity.h - what goroutines do, the garbage collector and the heap, over time.
 *
 * Time is divided into spans of equal length, which doubles when the trace exceeds them, so that
 * memory does not depend on the trace.
 */
#ifndef ANALYSE_ACTIVITY_H
#define ANALYSE_ACTIVITY_H

#include "formats/analyse/histogram.h"
#include "formats/analyse/states.h"

enum { ACTIVITY_SPANS = 120 }; /* at least half of them are used, unless the trace is shorter */

/* The states of goroutines, as in gotrace_state from RUNNABLE on, and others. */
enum {
    ACTIVITY_RUNNABLE,
    ACTIVITY_RUNNING,
    ACTIVITY_SYSCALL,
    ACTIVITY_WAITING,
    ACTIVITY_GC, /* cycles */
    ACTIVITY_KINDS
};

/* A size that changes: the last one and the largest one in a span. */
typedef struct activity_size {
    uint64_t last, largest;
    bool seen;
} activity_size;

typedef struct activity {
    unsigned shift; /* a span has 2^shift ns */
    int64_t origin; /* where the first one begins */
    int64_t ns[ACTIVITY_SPANS][ACTIVITY_KINDS];
    activity_size heap[ACTIVITY_SPANS], goal[ACTIVITY_SPANS];
    int64_t gc_since; /* STATES_NEVER: no cycle is active */
    bool has_heap, has_goal;
} activity;

/* origin: the beginning of the time range, at least 0. */
void activity_init(activity *a, int64_t origin);
void activity_add(activity *a, unsigned kind, int64_t begin, int64_t end);
/* Inline, because there is one for each state of a goroutine, and most are in one span. */
static inline void activity_interval(activity *a, const interval *i)
{
    const unsigned kind = (unsigned)i->state - GOTRACE_STATE_RUNNABLE;
    const int64_t begin = i->begin - a->origin, end = i->end - a->origin;
    if (kind > ACTIVITY_WAITING)
        return; /* not a state of a goroutine that exists */
    const uint64_t span = (uint64_t)begin >> a->shift;
    if (end <= begin || span >= ACTIVITY_SPANS || span != (uint64_t)(end - 1) >> a->shift)
        activity_add(a, kind, i->begin, i->end);
    else
        a->ns[span][kind] = sum_of_times(a->ns[span][kind], end - begin);
}
/* The kinds of events that matter here, as bits. */
#define ACTIVITY_EVENTS                                                                            \
    (1U << GOTRACE_KIND_METRIC | 1U << GOTRACE_KIND_RANGE_BEGIN | 1U << GOTRACE_KIND_RANGE_END |   \
     1U << GOTRACE_KIND_RANGE_ACTIVE)
/* time: within the time range; place: where the event is. */
void activity_event(activity *a, const gotrace_event *e, int64_t time, states_place place);
/* The trace has ended, or the range, which has that length. Spans without a size get that of the
 * one before. */
void activity_end(activity *a, int64_t duration);

/* The number of spans of a time range of that length. */
size_t activity_count(const activity *a, int64_t duration);

#endif
