/*
 * select.c - which events gotrace_reader_next returns.
 */
#include <string.h>

#include "core/times.h"
#include "read/reader.h"
#include "read/v2/v2.h"

/* gt_want. */
static uint8_t want_of(const gt_wanted *w, uint8_t kind, bool of_goroutine)
{
    if (kind == GOTRACE_KIND_TRANSITION && of_goroutine && gt_wants_changes(w))
        return GT_WANT_CHANGE;
    return gt_wants_kind(w, kind) ? GT_WANT_ALL : GT_WANT_NOT;
}

static uint8_t want_of_v1(const gt_wanted *w, const gt_v1_shape *shape)
{
    uint8_t want = want_of(w, shape->kind, shape->resource != GOTRACE_RESOURCE_PROC);
    bool runs = shape->kind == GOTRACE_KIND_SYSCALL && gt_is_lasting(w, GOTRACE_STATE_RUNNING);
    bool begins = shape->action == GT_ACTION_CREATE || (shape->does && shape->does->initial);
    bool asks = want == GT_WANT_CHANGE && (begins || gt_wants_kind(w, GOTRACE_KIND_TRANSITION));
    return runs || asks || shape->action == GT_ACTION_REGION ? GT_WANT_SOME : want;
}

void gt_select_types(gotrace_reader *reader)
{
    gt_wanted *w = &reader->wanted;
    const size_t v1_count = sizeof reader->index.shapes / sizeof *reader->index.shapes;
    if (!w->some) {
        memset(w->types, GT_WANT_ALL, sizeof w->types);
        return;
    }
    for (unsigned i = 0; reader->v2 && i < GT_CODES; i++)
        w->types[i] = want_of(w, reader->v2->shapes[i].kind,
                              reader->v2->shapes[i].resource == GOTRACE_RESOURCE_GOROUTINE);
    for (unsigned i = 0; !reader->v2 && i < v1_count; i++)
        w->types[i] = want_of_v1(w, &reader->index.shapes[i]);
    /* Rounding moves a time by less than a nanosecond. */
    for (unsigned i = 0; i < GT_STATES && !reader->v2; i++)
        w->least_ticks[i] = gt_time(((double)w->least[i] - 2) / reader->ns_per_tick * 0.999999);
}

void gotrace_reader_select(gotrace_reader *reader, uint32_t kinds, uint32_t states)
{
    gt_wanted *w = &reader->wanted;
    *w = (gt_wanted){.some = true, .kinds = kinds, .into = states, .from = states};
    if (gt_wants_kind(w, GOTRACE_KIND_TRANSITION))
        w->into = UINT32_MAX;
    if (reader->stage != GT_FRESH)
        gt_select_types(reader);
}

void gotrace_reader_select_lasting(gotrace_reader *reader, gotrace_state state, int64_t least)
{
    gt_wanted *w = &reader->wanted;
    if ((unsigned)state >= GT_STATES)
        return;
    w->some = true;
    w->from |= 1U << state;
    w->lasting |= 1U << state;
    w->least[state] = least < 0 ? 0 : least;
    if (reader->stage != GT_FRESH)
        gt_select_types(reader);
}
