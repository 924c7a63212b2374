/* semantics.h - what an event does, according to its row of the event tables. */
#ifndef SEMANTICS_H
#define SEMANTICS_H

#include "gotrace_experimental.h"

/* The semantics of a row. A local form of v1 has those of the full form. */
static inline const gotrace_semantics *semantics_of(int version, const gotrace_event_spec *spec)
{
    uint8_t full = spec->semantics->full;
    return full ? gotrace_event_spec_of(version, full)->semantics : spec->semantics;
}

/* v2: whether the event reports an existing state: a status, or a range that is active. */
static inline bool is_status(const gotrace_event_spec *spec)
{
    return spec->semantics->status || spec->semantics->kind == GOTRACE_KIND_RANGE_ACTIVE;
}

/* v2: whether the event reports the status of a goroutine. */
static inline bool is_goroutine_status(const gotrace_event_spec *spec)
{
    return spec->semantics->status && spec->semantics->resource == GOTRACE_RESOURCE_GOROUTINE;
}

/* v2: whether the event is numbered in the GC's sequence. */
static inline bool is_gc(const gotrace_event_spec *spec)
{
    return spec->semantics->range == GOTRACE_RANGE_GC && spec->semantics->numbered;
}

#endif
