/*
 * semantics.h - macros that expand the semantics of rows in events_v1.def and events_v2.def to a
 * gotrace_semantics. For files that expand the tables.
 */
#ifndef GT_SEMANTICS_H
#define GT_SEMANTICS_H

#include "core/events.h"

#define RECORD               .kind = GOTRACE_KIND_NONE
#define GOROUTINE            .kind = GOTRACE_KIND_TRANSITION, .resource = GOTRACE_RESOURCE_GOROUTINE
#define PROC                 .kind = GOTRACE_KIND_TRANSITION, .resource = GOTRACE_RESOURCE_PROC
#define KIND(k)              .kind = GOTRACE_KIND_##k
#define RANGE(edge, r)       .kind = GOTRACE_KIND_RANGE_##edge, .range = GOTRACE_RANGE_##r
#define METRIC(m)            .kind = GOTRACE_KIND_METRIC, .metric = GOTRACE_METRIC_##m
#define SELF(from, to)       .self = {GOTRACE_STATE_##from, GOTRACE_STATE_##to}
#define OTHER(from, to)      .other = {GOTRACE_STATE_##from, GOTRACE_STATE_##to}
#define PROC_STATE(from, to) .proc = {GOTRACE_STATE_##from, GOTRACE_STATE_##to}
#define NEEDS(what)          .needs = GOTRACE_NEEDS_##what | GOTRACE_NEEDS_THREAD
#define NEEDS_BOTH(a, b)     .needs = GOTRACE_NEEDS_##a | GOTRACE_NEEDS_##b | GOTRACE_NEEDS_THREAD
#define CONTEXT(which)       .context = GOTRACE_CONTEXT_##which
#define LOCAL_FORM_OF(name)  .full = GOTRACE_V1_##name
#define REASON(why)          .text = (why)
#define NUMBERED             .numbered = true
#define AFTER_STEAL          .after_steal = true
#define STATUS               .status = true
#define INITIAL              .initial = true
#define FOREVER              .forever = true
#define STARTED              .started = true
#define FUTILE(part)         .futile = GOTRACE_FUTILE_##part

/* ---- what follows from a row of v1: inline, so that a table that is expanded has it at once -----
 */

GT_INLINE bool gt_is_change(gotrace_change change, gotrace_state from, gotrace_state to)
{
    return change.from == from && change.to == to;
}

GT_INLINE gt_action gt_transition_of(const gotrace_semantics *does)
{
    if (does->resource == GOTRACE_RESOURCE_PROC)
        return gt_is_change(does->proc, GOTRACE_STATE_IDLE, GOTRACE_STATE_RUNNING)
                   ? GT_ACTION_PROC_START
               : gt_is_change(does->proc, GOTRACE_STATE_RUNNING, GOTRACE_STATE_IDLE)
                   ? GT_ACTION_PROC_STOP
                   : GT_ACTION_UNKNOWN;
    if (does->initial)
        return does->other.from == GOTRACE_STATE_RUNNABLE ? GT_ACTION_FOUND : GT_ACTION_UNKNOWN;
    if (gt_is_change(does->other, GOTRACE_STATE_NOT_EXIST, GOTRACE_STATE_RUNNABLE))
        return GT_ACTION_CREATE;
    if (gt_is_change(does->other, GOTRACE_STATE_RUNNABLE, GOTRACE_STATE_RUNNING))
        return GT_ACTION_START;
    if (gt_is_change(does->other, GOTRACE_STATE_WAITING, GOTRACE_STATE_RUNNABLE))
        return GT_ACTION_WAKE;
    if (gt_is_change(does->other, GOTRACE_STATE_SYSCALL, GOTRACE_STATE_RUNNABLE))
        return GT_ACTION_EXIT;
    bool stops = does->self.from == GOTRACE_STATE_RUNNING && does->self.to != GOTRACE_STATE_RUNNING;
    return stops && !does->other.to ? GT_ACTION_STOP : GT_ACTION_UNKNOWN;
}

GT_INLINE gt_action gt_action_of(const gotrace_semantics *does)
{
    switch ((gotrace_kind)does->kind) {
    case GOTRACE_KIND_NONE: return GT_ACTION_NONE;
    case GOTRACE_KIND_TRANSITION: return gt_transition_of(does);
    case GOTRACE_KIND_SYSCALL: return GT_ACTION_SYSCALL;
    case GOTRACE_KIND_METRIC: return GT_ACTION_METRIC;
    case GOTRACE_KIND_RANGE_BEGIN: return GT_ACTION_RANGE_BEGIN;
    case GOTRACE_KIND_RANGE_END: return GT_ACTION_RANGE_END;
    case GOTRACE_KIND_TASK_BEGIN: return GT_ACTION_TASK_BEGIN;
    case GOTRACE_KIND_TASK_END: return GT_ACTION_TASK_END;
    case GOTRACE_KIND_REGION_BEGIN: return GT_ACTION_REGION;
    case GOTRACE_KIND_LOG: return GT_ACTION_LOG;
    case GOTRACE_KIND_SAMPLE: return GT_ACTION_SAMPLE;
    case GOTRACE_KIND_REGION_END: /* these are in v2 only */
    case GOTRACE_KIND_LABEL:
    case GOTRACE_KIND_RANGE_ACTIVE:
    case GOTRACE_KIND_SYNC:
    case GOTRACE_KIND_EXPERIMENT: break;
    }
    return GT_ACTION_UNKNOWN;
}

GT_INLINE uint8_t gt_status_of(uint8_t state)
{
    static const uint8_t statuses[] = {
        [GOTRACE_STATE_NOT_EXIST] = GT_DEAD,  [GOTRACE_STATE_RUNNABLE] = GT_RUNNABLE,
        [GOTRACE_STATE_RUNNING] = GT_RUNNING, [GOTRACE_STATE_SYSCALL] = GT_WAITING,
        [GOTRACE_STATE_WAITING] = GT_WAITING, [GOTRACE_STATE_ABANDONED] = GT_DEAD,
    };
    return statuses[state];
}

/* The event's main change: of the proc, else of the goroutine in its argument, else of the running
 * one. */
GT_INLINE gotrace_change gt_change_of(const gotrace_semantics *does)
{
    return does->proc.to ? does->proc : does->other.to ? does->other : does->self;
}

/* The status of the goroutine afterwards. */
GT_INLINE uint8_t gt_next_of(const gotrace_semantics *does)
{
    return does->forever ? GT_DEAD : gt_status_of(gt_change_of(does).to);
}

#endif
