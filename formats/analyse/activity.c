/* activity.c - sums over spans of time. */
#include "formats/analyse/activity.h"

#include <string.h>

_Static_assert((int)ACTIVITY_WAITING == GOTRACE_STATE_WAITING - GOTRACE_STATE_RUNNABLE &&
                   (int)ACTIVITY_RUNNING == GOTRACE_STATE_RUNNING - GOTRACE_STATE_RUNNABLE,
               "the numbers of kinds are those of states");

void activity_init(activity *a, int64_t origin)
{
    *a = (activity){.gc_since = STATES_NEVER, .origin = origin};
}

static void size_fold(activity_size *sizes)
{
    for (size_t i = 0; i < ACTIVITY_SPANS; i++) {
        activity_size size = sizes[i], *to = &sizes[i / 2];
        sizes[i] = (activity_size){0};
        if (!size.seen)
            continue;
        size.largest = to->seen && to->largest > size.largest ? to->largest : size.largest;
        *to = size;
    }
}

/* Makes the spans long enough for a time since the origin. */
static void cover(activity *a, int64_t time)
{
    while (time >> a->shift >= ACTIVITY_SPANS) {
        for (size_t i = 0; i < ACTIVITY_SPANS; i++) {
            for (size_t k = 0; k < ACTIVITY_KINDS; k++) {
                int64_t ns = a->ns[i][k];
                a->ns[i][k] = 0;
                a->ns[i / 2][k] = sum_of_times(a->ns[i / 2][k], ns);
            }
        }
        size_fold(a->heap);
        size_fold(a->goal);
        a->shift++;
    }
}

void activity_add(activity *a, unsigned kind, int64_t begin, int64_t end)
{
    begin = begin < a->origin ? 0 : begin - a->origin;
    end -= a->origin;
    if (begin >= end)
        return;
    cover(a, end - 1);
    while (begin < end) {
        uint64_t span = (uint64_t)begin >> a->shift, next = (span + 1) << a->shift;
        int64_t until = next < (uint64_t)end ? (int64_t)next : end;
        a->ns[span][kind] = sum_of_times(a->ns[span][kind], until - begin);
        begin = until;
    }
}

static void set_size(activity *a, activity_size *sizes, int64_t time, states_place place,
                     uint64_t value)
{
    /* Of the sizes before the range only the last one counts. */
    if (place == STATES_BEFORE)
        sizes[0] = (activity_size){0};
    if (place == STATES_AFTER)
        return;
    time = time < a->origin ? 0 : time - a->origin;
    cover(a, time);
    activity_size *size = &sizes[time >> a->shift];
    size->largest = size->seen && size->largest > value ? size->largest : value;
    size->last = value;
    size->seen = true;
}

void activity_event(activity *a, const gotrace_event *e, int64_t time, states_place place)
{
    if (e->kind == GOTRACE_KIND_METRIC) {
        if (gotrace_event_metric(e) == GOTRACE_METRIC_HEAP_ALLOCATED) {
            set_size(a, a->heap, time, place, gotrace_event_value(e));
            a->has_heap = true;
        } else if (gotrace_event_metric(e) == GOTRACE_METRIC_HEAP_GOAL &&
                   gotrace_event_value(e) < NO_HEAP_GOAL) {
            set_size(a, a->goal, time, place, gotrace_event_value(e));
            a->has_goal = true;
        }
        return;
    }
    if (e->range != GOTRACE_RANGE_GC)
        return;
    if (e->kind == GOTRACE_KIND_RANGE_END && a->gc_since != STATES_NEVER) {
        activity_add(a, ACTIVITY_GC, a->gc_since, time);
        a->gc_since = STATES_NEVER;
    } else if (e->kind == GOTRACE_KIND_RANGE_BEGIN || e->kind == GOTRACE_KIND_RANGE_ACTIVE) {
        a->gc_since = a->gc_since == STATES_NEVER ? time : a->gc_since;
    }
}

size_t activity_count(const activity *a, int64_t duration)
{
    return duration > 0 ? (size_t)((duration - 1) >> a->shift) + 1 : 0;
}

static void size_end(activity_size *sizes)
{
    for (size_t i = 1; i < ACTIVITY_SPANS; i++)
        if (!sizes[i].seen && sizes[i - 1].seen)
            sizes[i] = (activity_size){sizes[i - 1].last, sizes[i - 1].last, true};
}

void activity_end(activity *a, int64_t duration)
{
    if (a->gc_since != STATES_NEVER)
        activity_add(a, ACTIVITY_GC, a->gc_since, a->origin + duration);
    if (duration > 0)
        cover(a, duration - 1);
    size_end(a->heap);
    size_end(a->goal);
}
