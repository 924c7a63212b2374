/*
 * brief.h - stores transitions as a gotrace_brief. Inline: in most rows the states are constant.
 */
#ifndef GT_V2_BRIEF_H
#define GT_V2_BRIEF_H

#include "core/head.h"
#include "read/v2/follow.h"

/* Stores what a brief has besides the members of all: where a goroutine starts, or a reason. False
 * if it cannot represent that. */
GT_INLINE bool gt_v2_store_extra(gt_follow *f, const gt_v2_shape *shape, const uint64_t *args,
                                 uint64_t cause, uint8_t *given)
{
    gotrace_brief *b = f->v2->brief;
    *given = GOTRACE_BRIEF_CAUSE;
    b->extra.cause = cause;
    if (!(shape->reason | shape->start))
        return true;
    if (shape->reason) {
        *given = GOTRACE_BRIEF_REASON;
        b->extra.reason = gt_v2_reason(f->reader, f->v2, args[shape->reason - 1]);
    } else {
        *given = GOTRACE_BRIEF_START_STACK;
        b->extra.start_stack = args[shape->start - 1];
    }
    return cause == 0;
}

/* Stores a transition in brief, and takes its time; false if a brief cannot represent it. */
GT_INLINE bool gt_v2_store_brief(gt_follow *f, uint8_t type, const uint64_t *args, gt_v2_change c,
                                 uint64_t cause)
{
    struct gt_v2 *v2 = f->v2;
    const gt_v2_shape *shape = &v2->shapes[type];
    gotrace_brief *b = v2->brief;
    uint64_t stack = shape->flags & GOTRACE_SPEC_STACK ? args[shape->values - 2] : 0;
    uint8_t given;
    if (stack > UINT32_MAX || !gt_v2_store_extra(f, shape, args, cause, &given))
        return false;
    b->offset = f->e->offset;
    gt_brief_set_head(b,
                      shape->head | GT_HEAD_OF(from, c.from) | GT_HEAD_OF(to, c.to) |
                          GT_HEAD_OF(flags, f->suspect ? GOTRACE_EVENT_SUSPECT : 0),
                      given);
    b->proc = b->lane = f->p ? (int32_t)f->p->id : GOTRACE_BRIEF_NONE;
    b->thread = f->t ? (int32_t)f->t->id : GOTRACE_BRIEF_NONE;
    b->stack = (uint32_t)stack;
    b->goroutine = f->g ? f->g->id : 0;
    b->subject = c.subject;
    int64_t time = gt_v2_take_event_time(f->reader, v2, f->e->time);
    b->time = gt_time_between(f->reader->first_ticks, time);
    v2->brief = b + 1;
    return true;
}

#endif
