/*
 * model.h - the events that are returned.
 */
#ifndef GT_MODEL_H
#define GT_MODEL_H

#include "core/head.h"
#include "read/v1/state.h"

/* The head of an event, without states and flags. */
static inline gt_head gt_v1_head(const gt_v1_shape *shape)
{
    const gt_head states = GT_HEAD_OF(from, UINT8_MAX) | GT_HEAD_OF(to, UINT8_MAX);
    return gt_load_le64(&shape->full) & ~states;
}

/* The same for an event whose kind depends on more than its type. */
gt_head gt_model_head(const gt_event *event, const gt_v1_shape *shape);

/* Sets what the event has more, if its shape is detailed. False if reading cannot continue. */
bool gt_model_set_details(gotrace_reader *reader, const gt_event *event, const gt_v1_shape *shape,
                          const gt_effect *effect, gt_block *block, gotrace_event *to);

/* Sets the subject and what the given member says. */
GT_INLINE void gt_model_set_transition(const gt_event *e, const gt_v1_shape *shape,
                                       const gt_effect *effect, const gt_proc_state *proc,
                                       gotrace_event *to)
{
    to->subject = effect->goroutine ? effect->goroutine->id : e->goroutine;
    if (shape->given == GOTRACE_GIVEN_REASON)
        to->extra.reason = shape->does->text;
    else if (shape->given == GOTRACE_GIVEN_START_STACK)
        to->extra.start_stack = e->args[shape->start - 1];
    else if (shape->resource == GOTRACE_RESOURCE_PROC)
        to->subject = (uint64_t)proc->id;
}

/* Sets the ticks and arguments of the next event of the block. */
static inline void gt_model_put_raw(const gt_event *e, const gt_v1_shape *shape, gt_block *b)
{
    const uint64_t *args = b->lends_args ? e->args : gt_block_args(b, e->args, shape->slots);
    b->raw[b->count] = (gotrace_raw){
        .ticks = (uint64_t)e->ticks, .args = args, .arg_count = args ? shape->slots : 0};
}

/* Puts an event into the block, unless its kind is not to be returned. False if reading cannot
 * continue. Inline, because there is one call for each event. */
GT_INLINE bool gt_model_put(gotrace_reader *reader, const gt_event *e, const gt_effect *effect,
                            gt_block *b)
{
    const gt_v1_shape *shape = &reader->index.shapes[e->type];
    const gt_proc_state *proc = reader->states->current.p;
    gotrace_event *to = &b->events[b->count];
    gt_head head = gt_v1_head(shape);
    if (e->flags & (GOTRACE_EVENT_FUTILE | GT_EVENT_BLOCKS) || shape->action == GT_ACTION_REGION)
        head = gt_model_head(e, shape);
    const gotrace_kind kind = (gotrace_kind)(head / GT_HEAD_OF(kind, 1) & UINT8_MAX);
    if (!(reader->kinds >> kind & 1)) {
        reader->summary.events++; /* the others are counted by block */
        return true;
    }
    head |= GT_HEAD_OF(from, effect->from) | GT_HEAD_OF(to, effect->to) |
            GT_HEAD_OF(flags, (e->flags & (uint8_t)~GT_EVENT_BLOCKS) | effect->flags);
    gt_head_set(to, head);
    to->time = gt_time_of(reader, e->ticks);
    to->offset = e->offset;
    to->goroutine = e->goroutine;
    to->subject = 0;
    to->thread = proc->thread;
    to->proc = proc->shown_id;
    to->stack = gt_shown_stack(e->stack);
    to->extra.cause = effect->cause;
    if (b->raw)
        gt_model_put_raw(e, shape, b);
    b->count++;
    if (kind == GOTRACE_KIND_TRANSITION)
        gt_model_set_transition(e, shape, effect, proc, to);
    return !shape->detailed || kind == GOTRACE_KIND_NONE ||
           gt_model_set_details(reader, e, shape, effect, b, to);
}

#endif
