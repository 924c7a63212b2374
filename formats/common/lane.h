/* lane.h - where Go's reader of v1 shows an event. */
#ifndef LANE_H
#define LANE_H

#include "gotrace.h"

/* Instead of its proc. */
enum { LANE_TIMERS = 1000001, LANE_NETWORK, LANE_SYSCALLS, LANE_GC };

/* Its proc, or one of the above. Source: Go 1.21, internal/trace/parser.go, postProcessTrace. */
static inline int64_t lane_of(const gotrace_event *e, int version)
{
    if (version >= GOTRACE_FIRST_V2 || e->flags & GOTRACE_EVENT_FUTILE)
        return e->proc;
    if (e->flags & (GOTRACE_EVENT_TIMER | GOTRACE_EVENT_NETWORK))
        return e->flags & GOTRACE_EVENT_TIMER ? LANE_TIMERS : LANE_NETWORK;
    if (e->type == GOTRACE_V1_GoSysExit)
        return LANE_SYSCALLS;
    if (e->kind == GOTRACE_KIND_RANGE_BEGIN && e->range == GOTRACE_RANGE_GC)
        return LANE_GC;
    return e->kind == GOTRACE_KIND_SAMPLE && e->proc == GOTRACE_NO_PROC ? -1 : e->proc;
}

#endif
