/*
 * output.c - what is returned of an event.
 */
#include "read/v2/follow.h"

#include "core/head.h"
#include "core/times.h"

/* Whether the event shows where the goroutine starts, of which no start was returned. */
static bool shows_start(const gt_follow *f, uint8_t type, const uint64_t *args, gt_goroutine *g,
                        bool creates)
{
    const gt_v2_shape *shape = &f->v2->shapes[type];
    uint64_t stack = 0;
    if (creates)
        stack = g->start_stack;
    else if (g == f->g && shape->flags & GOTRACE_SPEC_STACK)
        stack = args[shape->values - 2];
    g->shown_start = stack != 0 && gt_shows_start(f->reader, stack);
    return g->shown_start;
}

/* The goroutine leaves a state, at v2->last_time. Whether that lasted as long as wanted, or the
 * event is to be returned anyway: then its since is set. */
GT_INLINE bool lasted(struct gt_v2 *v2, const gt_wanted *w, gt_goroutine *g, uint8_t from,
                      bool anyway)
{
    int64_t began = g->began;
    g->began = v2->last_time;
    if (!gt_is_lasting(w, from))
        return anyway || w->from >> from & 1;
    if (began == GOTRACE_NO_TIME)
        return true;
    /* Times of the output increase, so the difference is exact. */
    if (!anyway && (uint64_t)v2->last_time - (uint64_t)began < (uint64_t)w->least[from])
        return false;
    v2->since = began;
    return true;
}

/* Whether to return a change that is the first of its goroutine, breaks a rule, or shows a start.
 */
__attribute__((noinline)) static bool wants_special(const gt_follow *f, uint8_t type,
                                                    const uint64_t *args, gt_goroutine *g,
                                                    uint8_t from, uint8_t to)
{
    const gt_wanted *w = &f->reader->wanted;
    struct gt_v2 *v2 = f->v2;
    bool changes = from != to, initial = from == GOTRACE_STATE_UNDETERMINED;
    bool creates = from == GOTRACE_STATE_NOT_EXIST;
    bool anyway = f->suspect || initial || creates || gt_wants_kind(w, GOTRACE_KIND_TRANSITION);
    if (g && !g->shown_start && shows_start(f, type, args, g, creates))
        anyway = true;
    anyway = anyway || (changes && w->into >> to & 1);
    if (!changes || !g)
        return anyway || (changes && w->from >> from & 1);
    int64_t began = g->began;
    bool wanted = lasted(v2, w, g, from, anyway);
    if (initial)
        g->began = GOTRACE_NO_TIME;
    /* What the state really was is not known from an event that breaks a rule. */
    if (w->lasting && f->suspect)
        v2->since = began;
    return wanted;
}

GT_INLINE bool wants_change(const gt_follow *f, uint8_t type, const uint64_t *args, gt_goroutine *g,
                            uint8_t from, uint8_t to)
{
    const gt_wanted *w = &f->reader->wanted;
    if (from == to || !g || !g->shown_start || f->suspect || !gt_is_between(from, to))
        return wants_special(f, type, args, g, from, to);
    return lasted(f->v2, w, g, from,
                  gt_wants_kind(w, GOTRACE_KIND_TRANSITION) || w->into >> to & 1);
}

bool gt_v2_wants_change(const gt_follow *f, uint8_t type, const uint64_t *args, gt_goroutine *g,
                        uint8_t from, uint8_t to)
{
    return wants_change(f, type, args, g, from, to);
}

/* gt_v2_selects without its fast paths. Not a part of it, which so has no registers to save. */
__attribute__((noinline)) static bool selects_change(const gt_follow *f, uint8_t type,
                                                     const uint64_t *args, gt_goroutine *g,
                                                     uint8_t from, uint8_t to)
{
    bool wanted = wants_change(f, type, args, g, from, to);
    f->reader->summary.events += !wanted;
    return wanted;
}

bool gt_v2_selects(const gt_follow *f, uint8_t type, const uint64_t *args, gt_goroutine *g,
                   uint8_t from, uint8_t to)
{
    const gt_wanted *w = &f->reader->wanted;
    gt_v2_take_event_time(f->reader, f->v2, f->e->time);
    const uint8_t want = w->types[type];
    bool wanted = want != GT_WANT_NOT || f->suspect;
    if (want == GT_WANT_CHANGE) {
        if (!g || !g->shown_start || f->suspect || from == to || !gt_is_between(from, to))
            return selects_change(f, type, args, g, from, to);
        wanted = lasted(f->v2, w, g, from, w->into >> to & 1);
    }
    f->reader->summary.events += !wanted;
    return wanted;
}

void gt_v2_put_selected(const gt_follow *f, uint8_t type, const uint64_t *args, gt_v2_change c,
                        uint64_t cause)
{
    gt_v2_out *out = &f->v2->out[f->v2->out_count];
    out->event.ticks = (uint64_t)f->v2->last_time;
    out->event.type = type;
    gt_v2_put_out(f, out, type, args, c);
    out->event.cause = cause;
}

void gt_v2_put_out(const gt_follow *f, gt_v2_out *out, uint8_t type, const uint64_t *args,
                   gt_v2_change c)
{
    const gt_v2_shape *shape = &f->v2->shapes[type];
    gotrace_event *event = &out->event;
    f->v2->out_count++;
    f->v2->in_brief = false; /* the rest of the record follows it */
    /* Set member by member: clearing the whole struct first takes longer than the rest. */
    event->offset = f->e->offset;
    gt_head_set(event, shape->head | GT_HEAD_OF(from, c.from) | GT_HEAD_OF(to, c.to) |
                           GT_HEAD_OF(flags, f->suspect ? GOTRACE_EVENT_SUSPECT : 0) |
                           GT_HEAD_OF(flags, f->no_begin ? GOTRACE_EVENT_NO_BEGIN : 0));
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
    event->metric = shape->metric;
    if (shape->reason)
        event->reason = gt_v2_reason(f->reader, f->v2, args[shape->reason - 1]);
    event->since = GOTRACE_NO_TIME;
    if (f->v2->since != GOTRACE_NO_TIME) {
        event->since = gt_v2_since_start(f->reader, f->v2->since);
        f->v2->since = GOTRACE_NO_TIME;
    }
}
