/*
 * output.h - makes the events that are returned. Inline: in most rows the type and the states are
 * constant, and so is what follows from them.
 */
#ifndef GT_V2_OUTPUT_H
#define GT_V2_OUTPUT_H

#include "core/head.h"
#include "read/v2/v2.h"

/* A change of the state of a goroutine or proc; zero for other events. */
typedef struct gt_v2_change {
    uint64_t subject;
    uint8_t from, to;
} gt_v2_change;

/* Makes the times of events strictly increasing, as in Go's reader. Returns the time of the next
 * one. */
static inline int64_t gt_v2_take_time(struct gt_v2 *v2, int64_t time)
{
    if (time <= v2->output.last_time)
        time = v2->output.last_time < INT64_MAX ? v2->output.last_time + 1 : INT64_MAX;
    v2->output.last_time = time;
    v2->output.count++;
    return time;
}

/* The same for all except syncs, which are not events of the trace. */
static inline int64_t gt_v2_take_event_time(gotrace_reader *reader, struct gt_v2 *v2, int64_t time)
{
    time = gt_v2_take_time(v2, time);
    if (reader->first_ticks == 0)
        reader->first_ticks = time;
    reader->last_ticks = time;
    return time;
}

/* Puts the event of the current record into the block, unless it is a transition. NULL: it is not
 * to be returned. */
gotrace_event *gt_v2_put(const gt_follow *f, const uint64_t *args);

/* Sets what only such events have. */
void gt_v2_set_reason(const gt_follow *f, gotrace_event *event, const char *reason);
void gt_v2_set_task_end(const gt_follow *f, gotrace_event *event, uint64_t parent,
                        const char *name);

/* Puts an event that is not one of a thread. NULL: it is not to be returned. */
gotrace_event *gt_v2_put_outside(gotrace_reader *reader, struct gt_v2 *v2, uint8_t type,
                                 int64_t ticks, const uint64_t *args, size_t arg_count);

/* Sets the ticks and arguments of the next event of the block. */
void gt_v2_put_raw(const gt_follow *f, uint8_t type, const uint64_t *args, int64_t ticks);

/* The kinds of arguments of an event, from [1] on. */
static const uint8_t gt_v2_arg_kinds[GT_V2_EVENT_COUNT][6] = {
#define STRIP(...)    __VA_ARGS__
#define A(kind, name) GOTRACE_ARG_##kind
#define N(code, name, since, summary)
#define E(code, name, since, flags, args, summary, does)
#define T(code, name, since, flags, args, summary, does) [code] = {GOTRACE_ARG_VALUE, STRIP args},
#include "events_v2.def"
#undef STRIP
#undef A
#undef N
#undef E
#undef T
};

/* The argument of that kind; NULL: there is none. Not a loop, so that the position is a constant if
 * the type is. */
GT_INLINE const uint64_t *gt_v2_arg_of(uint8_t type, gotrace_arg_kind kind, const uint64_t *args)
{
    const uint8_t *kinds = gt_v2_arg_kinds[type];
    return kinds[1] == kind   ? &args[0]
           : kinds[2] == kind ? &args[1]
           : kinds[3] == kind ? &args[2]
           : kinds[4] == kind ? &args[3]
                              : NULL;
}

/* Takes the place of the next event of the record, with its ticks. NULL: it is not to be returned.
 */
GT_INLINE gotrace_event *gt_v2_place(const gt_follow *f, uint8_t type, uint8_t kind,
                                     const uint64_t *args)
{
    struct gt_v2 *v2 = f->v2;
    const int64_t ticks = gt_v2_take_event_time(f->reader, v2, f->e->time);
    if (!(v2->output.kinds >> kind & 1)) {
        f->reader->summary.events++;
        return NULL;
    }
    gt_block *b = v2->output.block;
    gotrace_event *event = &b->events[b->count];
    if (b->raw)
        gt_v2_put_raw(f, type, args, ticks);
    b->count++;
    event->time = gt_time_between(f->reader->first_ticks, ticks);
    event->offset = f->e->offset;
    event->proc = f->p ? gt_shown_proc((int64_t)f->p->id) : GOTRACE_NO_PROC;
    event->thread = f->t ? (int64_t)f->t->id : GOTRACE_NO_THREAD;
    event->goroutine = f->g ? f->g->id : 0;
    const uint64_t *stack = gt_v2_arg_of(type, GOTRACE_ARG_STACK, args);
    event->stack = stack ? gt_shown_stack(*stack) : 0;
    return event;
}

/* Returns a transition, which args have a meaning for; cause: of a run. NULL: it is not to be
 * returned. */
GT_INLINE gotrace_event *gt_v2_put_transition(const gt_follow *f, uint8_t type,
                                              const uint64_t *args, gt_v2_change c, uint64_t cause)
{
    gotrace_event *event = gt_v2_place(f, type, GOTRACE_KIND_TRANSITION, args);
    if (!event)
        return NULL;
    const uint64_t *reason = gt_v2_arg_of(type, GOTRACE_ARG_STRING, args);
    const uint64_t *start = gt_v2_arg_of(type, GOTRACE_ARG_START, args);
    uint8_t given = GOTRACE_GIVEN_CAUSE;
    event->subject = c.subject;
    if (reason) {
        given = GOTRACE_GIVEN_REASON;
        event->extra.reason = gt_v2_reason(f->reader, f->v2, *reason);
    } else if (start) {
        given = GOTRACE_GIVEN_START_STACK;
        event->extra.start_stack = *start;
    } else {
        event->extra.cause = cause;
    }
    gt_head_set(event, f->v2->shapes[type].head | GT_HEAD_OF(from, c.from) | GT_HEAD_OF(to, c.to) |
                           GT_HEAD_OF(flags, f->suspect ? GOTRACE_EVENT_SUSPECT : 0) |
                           GT_HEAD_OF(given, given));
    return event;
}

#endif
