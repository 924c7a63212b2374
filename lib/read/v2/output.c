/*
 * output.c - what is returned of an event.
 */
#include "read/v2/follow.h"

#include "core/head.h"

/* Whether an event may be returned, if not all are. What is returned of these is decided when all
 * is known; see gt_v2_next_wanted. */
static bool may_want(const gt_follow *f, uint8_t type, gt_v2_change c)
{
    const gt_wanted *w = &f->reader->wanted;
    const gt_v2_shape *shape = &f->v2->shapes[type];
    if (f->suspect || gt_wants_kind(w, shape->kind))
        return true;
    if (w->states == 0 || shape->kind != GOTRACE_KIND_TRANSITION ||
        shape->resource != GOTRACE_RESOURCE_GOROUTINE)
        return false;
    return c.from == GOTRACE_STATE_UNDETERMINED ||
           (c.from != c.to && gt_wants_change(w, c.from, c.to)) ||
           (f->g && f->g->id == c.subject && !f->g->start_stack && !f->g->shown_start);
}

void gt_v2_fill_out(const gt_follow *f, gt_v2_out *out, uint8_t type, const uint64_t *args,
                    gt_v2_change c)
{
    gotrace_event *event = &out->event;
    if (f->reader->wanted.some && !may_want(f, type, c)) {
        event->flags = GT_V2_UNREAD;
        return;
    }
    const gt_v2_shape *shape = &f->v2->shapes[type];
    /* Set member by member: clearing the whole struct first takes longer than the rest. */
    event->offset = f->e->offset;
    gt_head_set(event, shape->head | GT_HEAD_OF(from, c.from) | GT_HEAD_OF(to, c.to) |
                           GT_HEAD_OF(flags, f->suspect ? GOTRACE_EVENT_SUSPECT : 0));
    event->proc = event->lane = f->p ? (int64_t)f->p->id : GOTRACE_NO_PROC;
    event->thread = f->t ? (int64_t)f->t->id : GOTRACE_NO_THREAD;
    event->generation = f->generation;
    event->generation_index = f->v2->current;
    event->goroutine = f->g ? f->g->id : 0;
    event->subject = c.subject;
    event->value = 0;
    event->stack = shape->flags & GOTRACE_SPEC_STACK ? args[shape->values - 2] : 0;
    event->start_stack = shape->start ? args[shape->start - 1] : 0;
    event->cause = 0;
    event->args = args;
    event->reason = event->text = event->message = NULL;
    event->text_size = event->message_size = 0;
    if (shape->reason)
        event->reason = gt_v2_reason(f->reader, f->v2, args[shape->reason - 1]);
    out->self = f->g;
}

bool gt_v2_fill_brief(const gt_follow *f, gt_v2_change c, uint64_t cause)
{
    struct gt_v2 *v2 = f->v2;
    const gt_v2_event *e = f->e;
    const gt_v2_shape *shape = &v2->shapes[e->type];
    gotrace_brief *b = v2->brief;
    uint64_t stack = shape->flags & GOTRACE_SPEC_STACK ? e->args[shape->values - 2] : 0;
    uint8_t given = GOTRACE_BRIEF_CAUSE;
    if (stack > UINT32_MAX || (cause && (shape->reason || shape->start)) ||
        !gt_brief_id(f->p ? (int64_t)f->p->id : GOTRACE_NO_PROC, &b->proc) ||
        !gt_brief_id(f->t ? (int64_t)f->t->id : GOTRACE_NO_THREAD, &b->thread))
        return false;
    b->extra.cause = cause;
    if (shape->reason) {
        b->extra.reason = gt_v2_reason(f->reader, v2, e->args[shape->reason - 1]);
        given = GOTRACE_BRIEF_REASON;
    } else if (shape->start) {
        b->extra.start_stack = e->args[shape->start - 1];
        given = GOTRACE_BRIEF_START_STACK;
    }
    b->time = gt_v2_since_start(f->reader, gt_v2_take_time(f->reader, v2, e->time, e->type));
    b->offset = e->offset;
    gt_brief_set_head(b,
                      shape->head | GT_HEAD_OF(from, c.from) | GT_HEAD_OF(to, c.to) |
                          GT_HEAD_OF(flags, f->suspect ? GOTRACE_EVENT_SUSPECT : 0),
                      given);
    b->lane = b->proc;
    b->stack = (uint32_t)stack;
    b->goroutine = f->g ? f->g->id : 0;
    b->subject = c.subject;
    v2->is_brief = true;
    v2->out_count = 1;
    return true;
}
