/*
 * semantics.h - how the semantics of a row in events_v1.def and events_v2.def become a
 * gotrace_semantics. For files that expand the tables.
 */
#ifndef GT_SEMANTICS_H
#define GT_SEMANTICS_H

#include "core/events.h"

#define RECORD               .kind = GOTRACE_KIND_NONE
#define GOROUTINE            .kind = GOTRACE_KIND_TRANSITION, .resource = GOTRACE_RESOURCE_GOROUTINE
#define PROC                 .kind = GOTRACE_KIND_TRANSITION, .resource = GOTRACE_RESOURCE_PROC
#define KIND(k)              .kind = GOTRACE_KIND_##k
#define RANGE(edge, r)       .kind = GOTRACE_KIND_RANGE_##edge, .range = GOTRACE_RANGE_##r
#define METRIC(name)         .kind = GOTRACE_KIND_METRIC, .text = (name)
#define SELF(from, to)       .self = {GOTRACE_STATE_##from, GOTRACE_STATE_##to}
#define OTHER(from, to)      .other = {GOTRACE_STATE_##from, GOTRACE_STATE_##to}
#define PROC_STATE(from, to) .proc = {GOTRACE_STATE_##from, GOTRACE_STATE_##to}
#define NEEDS(what)          .needs = GOTRACE_NEEDS_##what | GOTRACE_NEEDS_THREAD
#define NEEDS_BOTH(a, b)     .needs = GOTRACE_NEEDS_##a | GOTRACE_NEEDS_##b | GOTRACE_NEEDS_THREAD
#define CONTEXT(which)       .context = GOTRACE_CONTEXT_##which
#define LOCAL_FORM_OF(name)  .full = GOTRACE_V1_##name
#define REASON(why)          .text = (why)
#define NUMBERED             .numbered = true
#define AFTER_STEAL          .after_steal = true
#define STATUS               .status = true
#define INITIAL              .initial = true
#define FOREVER              .forever = true
#define STARTED              .started = true
#define FUTILE(part)         .futile = GOTRACE_FUTILE_##part

#endif
