/* rows.h - rows of the event tables by what they mean, whatever the format. */
#ifndef ROWS_H
#define ROWS_H

#include "gotrace.h"

/* The states of goroutines and procs. */
enum { ROW_STATES = GOTRACE_STATE_ABANDONED + 1 };

static inline bool row_is(gotrace_change c, gotrace_state from, gotrace_state to)
{
    return c.from == from && c.to == to;
}

/* Whether an event of that row changes what runs on its proc or thread; who runs there after it. */
static inline bool row_stops(const gotrace_semantics *s)
{
    return s->self.from == GOTRACE_STATE_RUNNING && s->self.to != GOTRACE_STATE_RUNNING;
}

static inline bool row_starts(const gotrace_semantics *s)
{
    return s->other.to == GOTRACE_STATE_RUNNING;
}

/* Whether the event has an argument of that kind, a gotrace_arg_kind. */
bool row_has(const gotrace_event_spec *row, unsigned kind);

/* The row of that version that is the same one or, in another format, means the same; NULL if there
 * is none. Of several (v1 has a row for each reason to block) it is the one with the same reason,
 * else the one without a reason, else the first. */
const gotrace_event_spec *row_like(const gotrace_event_spec *row, int version);

/* The row of that version by which a goroutine, or proc, goes from one state to another while no
 * other one changes; NULL if there is none. reason: the one with that reason, else the one without
 * one, else the first; NULL: any. */
const gotrace_event_spec *row_of_change(int version, gotrace_resource resource, gotrace_state from,
                                        gotrace_state to, const char *reason);

/* The first row of that version of that kind and range that is no transition and no metric. */
const gotrace_event_spec *row_of_kind(int version, gotrace_kind kind, gotrace_range range);

/* The row of that version that reports that metric. */
const gotrace_event_spec *row_of_metric(int version, const char *name);

#endif
