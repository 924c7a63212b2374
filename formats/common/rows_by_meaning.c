#include "formats/common/rows_by_meaning.h"

#include <string.h>

/* Event codes are bytes. */
enum { CODES = 256 };

static bool changes(gotrace_change c)
{
    return c.from != c.to;
}

static bool same_change(gotrace_change a, gotrace_change b)
{
    return a.from == b.from && a.to == b.to;
}

static bool same_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

bool row_has(const gotrace_event_spec *row, unsigned kind)
{
    for (size_t i = 0; i < row->arg_count; i++)
        if (row->args[i].kind == kind)
            return true;
    return false;
}

/* What a row changes: up to two goroutines, or a proc. In v1 the start of a system call is a
 * transition only if the call blocks; in v2 it always is one. */
typedef struct effect {
    uint8_t resource;
    gotrace_change changes[2];
    unsigned count;
} effect;

static effect effect_of(const gotrace_semantics *s)
{
    effect e = {.resource = s->resource};
    if (s->kind == GOTRACE_KIND_SYSCALL)
        return (effect){
            GOTRACE_RESOURCE_GOROUTINE, {{GOTRACE_STATE_RUNNING, GOTRACE_STATE_SYSCALL}}, 1};
    if (s->resource == GOTRACE_RESOURCE_PROC) {
        if (changes(s->proc))
            e.changes[e.count++] = s->proc;
        return e;
    }
    if (changes(s->self))
        e.changes[e.count++] = s->self;
    if (changes(s->other))
        e.changes[e.count++] = s->other;
    return e;
}

static bool same_effect(const gotrace_semantics *a, const gotrace_semantics *b)
{
    effect x = effect_of(a), y = effect_of(b);
    if (x.resource != y.resource || x.count != y.count || a->status != b->status)
        return false;
    for (unsigned i = 0; i < x.count; i++)
        if (!same_change(x.changes[i], y.changes[i]))
            return false;
    return true;
}

static bool is_change(const gotrace_semantics *s)
{
    return s->kind == GOTRACE_KIND_TRANSITION || s->kind == GOTRACE_KIND_SYSCALL;
}

static bool means_same(const gotrace_semantics *a, const gotrace_semantics *b)
{
    if (is_change(a) && is_change(b))
        return same_effect(a, b);
    if (a->kind != b->kind || a->range != b->range || a->kind == GOTRACE_KIND_EXPERIMENT)
        return false;
    /* Rows of kind NONE are records that are not events, or short forms of other events. */
    if (a->kind == GOTRACE_KIND_NONE)
        return false;
    return a->metric == b->metric;
}

/* How well a row's reason matches; the first row with the highest score wins. */
static int fit(const gotrace_event_spec *row, const char *reason)
{
    return same_text(row->semantics->text, reason) ? 3 : row->semantics->text ? 1 : 2;
}

const gotrace_event_spec *row_like(const gotrace_event_spec *row, int version)
{
    const gotrace_event_spec *best = gotrace_event_spec_of(version, row->code);
    if (best == row)
        return row;
    best = NULL;
    for (unsigned code = 0; code < CODES; code++) {
        const gotrace_event_spec *r = gotrace_event_spec_of(version, code);
        if (r && means_same(row->semantics, r->semantics) &&
            (!best || fit(r, row->semantics->text) > fit(best, row->semantics->text)))
            best = r;
    }
    return best;
}

const gotrace_event_spec *row_of_change(int version, gotrace_resource resource, gotrace_state from,
                                        gotrace_state to, const char *reason)
{
    const gotrace_event_spec *best = NULL;
    for (unsigned code = 0; code < CODES; code++) {
        const gotrace_event_spec *r = gotrace_event_spec_of(version, code);
        if (!r || r->semantics->kind != GOTRACE_KIND_TRANSITION || r->semantics->status)
            continue;
        effect e = effect_of(r->semantics);
        if (e.resource == resource && e.count == 1 && row_is(e.changes[0], from, to) &&
            (!best || fit(r, reason) > fit(best, reason)))
            best = r;
    }
    return best;
}

const gotrace_event_spec *row_of_kind(int version, gotrace_kind kind, gotrace_range range)
{
    for (unsigned code = 0; code < CODES; code++) {
        const gotrace_event_spec *r = gotrace_event_spec_of(version, code);
        if (r && r->semantics->kind == kind && r->semantics->range == range &&
            kind != GOTRACE_KIND_NONE)
            return r;
    }
    return NULL;
}

const gotrace_event_spec *row_of_metric(int version, gotrace_metric metric)
{
    for (unsigned code = 0; code < CODES; code++) {
        const gotrace_event_spec *r = gotrace_event_spec_of(version, code);
        if (r && metric != GOTRACE_METRIC_NONE && r->semantics->metric == metric)
            return r;
    }
    return NULL;
}
