/* rows_by_meaning.h - finds rows of the event tables by meaning, independent of the version. */
#ifndef ROWS_BY_MEANING_H
#define ROWS_BY_MEANING_H

#include "gotrace_experimental.h"

/* Number of states of goroutines and procs. */
enum { ROW_STATES = GOTRACE_STATE_ABANDONED + 1 };

/* v2: the values of statuses (GOTRACE_ARG_PSTATUS, GOTRACE_ARG_GSTATUS). */
enum { STATUS_P_RUNNING = 1, STATUS_P_IDLE, STATUS_P_IN_SYSCALL, STATUS_P_ABANDONED };
enum { STATUS_G_RUNNABLE = 1, STATUS_G_RUNNING, STATUS_G_IN_SYSCALL, STATUS_G_WAITING };

/* The semantics of a row. A local form of v1 has those of the full form. */
static inline const gotrace_semantics *row_semantics(const gotrace_event_spec *row, int version)
{
    uint8_t full = row->semantics->full;
    return full ? gotrace_event_spec_of(version, full)->semantics : row->semantics;
}

/* v2: whether the event reports an existing state: a status, or a range that is active. */
static inline bool row_is_status(const gotrace_event_spec *row)
{
    return row->semantics->status || row->semantics->kind == GOTRACE_KIND_RANGE_ACTIVE;
}

/* v2: whether the event reports the status of a goroutine. */
static inline bool row_is_goroutine_status(const gotrace_event_spec *row)
{
    return row->semantics->status && row->semantics->resource == GOTRACE_RESOURCE_GOROUTINE;
}

/* v2: whether the event is numbered in the GC's sequence. */
static inline bool row_is_gc(const gotrace_event_spec *row)
{
    return row->semantics->range == GOTRACE_RANGE_GC && row->semantics->numbered;
}

static inline bool row_is(gotrace_change c, gotrace_state from, gotrace_state to)
{
    return c.from == from && c.to == to;
}

/* row_stops: the event ends what runs on its proc or thread. row_starts: something runs there
 * afterwards. */
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

/* The row of that version that is the same row or, in the other format, has the same meaning; NULL
 * if there is none. If several match (v1 has one row per reason to block): the one with the same
 * reason, else the one without a reason, else the first. */
const gotrace_event_spec *row_like(const gotrace_event_spec *row, int version);

/* The row of that version that changes one goroutine or proc from one state to the other and
 * changes nothing else; NULL if there is none. reason: prefer the row with that reason, then one
 * without a reason, then the first; NULL: any. */
const gotrace_event_spec *row_of_change(int version, gotrace_resource resource, gotrace_state from,
                                        gotrace_state to, const char *reason);

/* The first row of that version with that kind and range. Not for transitions and metrics. */
const gotrace_event_spec *row_of_kind(int version, gotrace_kind kind, gotrace_range range);

/* The first version with one stop of the whole world; before, each proc reports that it stops. */
enum { ONE_STOP_SINCE = 10 };

/* Whose a range is; NONE: the whole program's. */
static inline gotrace_resource range_owner(unsigned range)
{
    return gotrace_range_spec_of((gotrace_range)range)->owner;
}

/* The row of that version that reports that metric. */
const gotrace_event_spec *row_of_metric(int version, gotrace_metric metric);

#endif
