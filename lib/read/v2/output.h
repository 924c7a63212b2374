/*
 * output.h - makes the events that are returned. Inline: in most rows the type and the states are
 * constant, and so is what follows from them.
 */
#ifndef GT_V2_OUTPUT_H
#define GT_V2_OUTPUT_H

#include "core/head.h"
#include "read/v2/follow.h"

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

/* The argument of that kind; NULL: there is none. */
GT_INLINE const uint64_t *gt_v2_arg_of(uint8_t type, gotrace_arg_kind kind, const uint64_t *args)
{
    const uint8_t *kinds = gt_v2_arg_kinds[type];
    for (unsigned i = 1; i <= 4; i++)
        if (kinds[i] == kind)
            return &args[i - 1];
    return NULL;
}

/* Takes the place of the next event of the record, with its ticks. NULL: it is not to be returned.
 */
GT_INLINE gotrace_event *gt_v2_place(const gt_follow *f, uint8_t type, uint8_t kind,
                                     const uint64_t *args)
{
    struct gt_v2 *v2 = f->v2;
    const int64_t ticks = gt_v2_take_event_time(f->reader, v2, f->e->time);
    if (!(v2->kinds >> kind & 1)) {
        f->reader->summary.events++;
        return NULL;
    }
    gt_block *b = v2->block;
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
