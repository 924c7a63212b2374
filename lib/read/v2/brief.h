/*
 * brief.h - stores transitions as a gotrace_brief. Inline: in most rows the type and the states are
 * constant, and so is what follows from them.
 */
#ifndef GT_V2_BRIEF_H
#define GT_V2_BRIEF_H

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

/* 1 + the position of the argument of that kind; 0: there is none. */
GT_INLINE unsigned gt_v2_place_of(uint8_t type, gotrace_arg_kind kind)
{
    const uint8_t *kinds = gt_v2_arg_kinds[type];
    return kinds[1] == kind   ? 1
           : kinds[2] == kind ? 2
           : kinds[3] == kind ? 3
                              : 4 * (kinds[4] == kind);
}

/* Stores what a brief has besides the members of all: where a goroutine starts, or a reason. False
 * if it cannot represent that. */
GT_INLINE bool gt_v2_store_extra(gt_follow *f, uint8_t type, const uint64_t *args, uint64_t cause,
                                 uint8_t *given)
{
    const unsigned reason = gt_v2_place_of(type, GOTRACE_ARG_STRING);
    const unsigned start = gt_v2_place_of(type, GOTRACE_ARG_START);
    gotrace_brief *b = f->v2->brief;
    *given = GOTRACE_BRIEF_CAUSE;
    if (reason) {
        *given = GOTRACE_BRIEF_REASON;
        b->extra.reason = gt_v2_reason(f->reader, f->v2, args[reason - 1]);
    } else if (start) {
        *given = GOTRACE_BRIEF_START_STACK;
        b->extra.start_stack = args[start - 1];
    } else {
        b->extra.cause = cause;
        return true;
    }
    return cause == 0;
}

/* Stores a transition in brief, and takes its time; false if a brief cannot represent it. */
GT_INLINE bool gt_v2_store_brief(gt_follow *f, uint8_t type, const uint64_t *args, gt_v2_change c,
                                 uint64_t cause)
{
    struct gt_v2 *v2 = f->v2;
    const unsigned place = gt_v2_place_of(type, GOTRACE_ARG_STACK);
    const uint64_t stack = place ? args[place - 1] : 0;
    gotrace_brief *b = v2->brief;
    uint8_t given;
    if (stack > UINT32_MAX || !gt_v2_store_extra(f, type, args, cause, &given))
        return false;
    b->offset = f->e->offset;
    gt_brief_set_head(b,
                      v2->shapes[type].head | GT_HEAD_OF(from, c.from) | GT_HEAD_OF(to, c.to) |
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
