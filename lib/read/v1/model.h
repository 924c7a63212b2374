/*
 * model.h - converts events to the common model.
 */
#ifndef GT_MODEL_H
#define GT_MODEL_H

#include "core/times.h"
#include "read/brief.h"
#include "read/v1/state.h"

/* Fills a gotrace_event; false if reading cannot continue. */
bool gt_model_fill(gotrace_reader *reader, const gt_event *event, const gt_effect *effect,
                   gotrace_event *out);

/* Call it when the file is indexed. */
void gt_model_begin(gotrace_reader *reader);

/* Whether the event is to be returned, if not all are. */
bool gt_model_wants(gotrace_reader *reader, const gt_event *event, const gt_effect *effect);

/* The same for an event without flags, if the type has GT_WANT_CHANGE. */
bool gt_model_wants_change(gotrace_reader *reader, const gt_event *event, const gt_effect *effect);

/* Sets what gt_model_wants has determined. */
void gt_model_set_since(const gotrace_reader *reader, gotrace_event *out);

/* Whether the event can be in brief: it is of such a type, usual, and has no large ids. */
GT_INLINE bool gt_model_fits_brief(const gt_brief_type *type, const gt_event *e,
                                   const gt_proc_state *place)
{
    return type->fits && !(e->flags & (GOTRACE_EVENT_FUTILE | GT_EVENT_BLOCKS)) &&
           e->stack <= UINT32_MAX && place->is_brief;
}

/* Sets what only transitions of goroutines have. Returns members of the head; *given: see
 * gotrace_brief. */
GT_INLINE gt_head gt_model_brief_change(const gt_brief_type *type, const gt_event *e,
                                        const gt_effect *effect, gotrace_brief *b, uint8_t *given)
{
    const gt_goroutine *g = effect->goroutine;
    b->subject = g ? g->id : e->goroutine;
    if (type->reason)
        b->extra.reason = type->reason;
    else if (effect->to == GOTRACE_STATE_RUNNING && effect->from != GOTRACE_STATE_RUNNING)
        b->extra.cause = effect->cause;
    if (!type->creates)
        return 0;
    if (type->start && e->args[type->start - 1]) {
        b->extra.start_stack = e->args[type->start - 1];
        *given = GOTRACE_BRIEF_START_STACK;
    }
    return effect->from == GOTRACE_STATE_UNDETERMINED ? GT_HEAD_OF(flags, GOTRACE_EVENT_INITIAL)
                                                      : 0;
}

/* gt_model_fill for a gotrace_brief; false if that cannot represent the event. Inline: there is one
 * call for each event. */
GT_INLINE bool gt_model_brief(const gotrace_reader *reader, const gt_event *e,
                              const gt_effect *effect, gotrace_brief *b)
{
    const gt_brief_type *type = &reader->index.brief_types[e->type];
    const gt_proc_state *place = gt_states_last_proc(reader->states);
    if (!gt_model_fits_brief(type, e, place))
        return false;
    uint8_t given = type->given;
    gt_head head = type->head | GT_HEAD_OF(flags, e->flags) |
                   GT_HEAD_OF(flags, effect->suspect ? GOTRACE_EVENT_SUSPECT : 0);
    b->subject = b->extra.cause = 0;
    if (type->transition)
        head |= GT_HEAD_OF(from, effect->from) | GT_HEAD_OF(to, effect->to);
    if (type->goroutine)
        head |= gt_model_brief_change(type, e, effect, b, &given);
    else if (type->transition)
        b->subject = (uint64_t)place->id;
    b->time = gt_time_of(reader, e->ticks);
    b->offset = e->offset;
    gt_brief_set_head(b, head, given);
    b->proc = place->brief_id;
    b->lane = effect->lane ? (int32_t)effect->lane : place->brief_id;
    b->thread = place->brief_thread;
    b->stack = (uint32_t)e->stack;
    b->goroutine = e->goroutine;
    return true;
}

#endif
