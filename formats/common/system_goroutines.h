/* system_goroutines.h - identifies the goroutines of the runtime and omits their events, and those
 * that are not selected, for formats that show goroutines. */
#ifndef SYSTEM_GOROUTINES_H
#define SYSTEM_GOROUTINES_H

#include "formats/formats.h"
#include "formats/analyse/selection.h"
#include "formats/common/feed.h"
#include "formats/common/idmap.h"
#include "formats/common/processes.h"

/* Start stacks whose classification is cached; a power of two. */
enum { SYSTEM_STACKS = 64 };

typedef struct system_goroutines {
    const feed *source; /* of the events */
    int version;
    bool needed;            /* goroutines matter for this job */
    bool left_out;          /* some are omitted: */
    bool no_system;         /* convert_job.no_system */
    const select_ids *only; /* all except these; NULL: none */
    uint64_t *count;        /* of events of these, or about them */
    bool complete;          /* the whole v2 trace was read ahead */
    bool current_is_out;    /* the goroutine of the last event is omitted */
    bool reading_ahead;     /* read_ahead is running */
    bool failed;            /* allocation failed */
    idmap goroutines;       /* facts (NOT_KNOWN, ...) by goroutine id */
    struct {
        uint64_t stack, generation_index;
        uint8_t facts;       /* 0: empty */
    } stacks[SYSTEM_STACKS]; /* by the last bits of the stack's id */
    process_table processes; /* as far as the trace was read ahead, or learned since */
    idmap starts;            /* v2: start functions of goroutines that existed before the trace */
} system_goroutines;

/* v2: the start function of a goroutine that existed before the trace, or NULL. Known only if an
 * early part of the trace contains it; the number of names is limited. */
const char *system_goroutines_start(const system_goroutines *s, uint64_t id);

/* source: of the events to come (borrowed). needed: the caller treats system goroutines differently
 * even if the job includes them. For v2 the trace is then read ahead. */
void system_goroutines_init(system_goroutines *s, const convert_job *job, const feed *source,
                            bool needed);
void system_goroutines_free(system_goroutines *s);

/* Whether the goroutine is a system goroutine, as far as is known so far. */
bool system_goroutines_is(const system_goroutines *s, uint64_t id);

/* Whether to omit the event because it concerns omitted goroutines only. Call it for each event. If
 * s->current_is_out is set afterwards, no flow may start at the event. */
bool system_goroutines_skip(system_goroutines *s, const gotrace_event *e);

/* The same, but without a call for events that can be neither omitted nor informative: if nothing
 * is omitted, only the first and the last event of a goroutine matter. */
static inline bool system_goroutines_pass(system_goroutines *s, const gotrace_event *e)
{
    if (!s->left_out && e->from != GOTRACE_STATE_NOT_EXIST && e->to != GOTRACE_STATE_NOT_EXIST &&
        !(e->flags & GOTRACE_EVENT_INITIAL))
        return false;
    return system_goroutines_skip(s, e);
}

#endif
