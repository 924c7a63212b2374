/* narrow.h - showing less than all of a trace. */
#ifndef NARROW_H
#define NARROW_H

#include "formats/formats.h"
#include "formats/common/idmap.h"

/* ---- system.c: without the goroutines of the runtime ---------------------------------------- */

typedef struct system_goroutines {
    gotrace_reader *reader;
    int version;
    bool asked;       /* somebody wants to know */
    bool left_out;    /* the job's no_system */
    bool complete;    /* all of a v2 trace was seen */
    bool acts;        /* the last event happened in the context of one of them */
    bool ahead;       /* the trace is read before it is shown */
    bool failed;      /* memory was refused */
    idmap goroutines; /* whose they are, by id */
    idmap starts;     /* v2: names of functions where goroutines from before the trace start */
} system_goroutines;

/* The start function of a v2 goroutine from before the trace, if the beginning of the trace
 * contains it and there are not too many of them; else NULL. */
const char *system_goroutines_start(const system_goroutines *s, uint64_t id);

/* told_apart: they are of interest even where the job does not leave them out. v2 is read ahead for
 * it. */
void system_goroutines_init(system_goroutines *s, const convert_job *job, bool given_apart);
void system_goroutines_free(system_goroutines *s);

/* Whether that goroutine is one of them, as far as is known. */
bool system_goroutines_is(const system_goroutines *s, uint64_t id);

/* Whether the event is to be passed over, because it is about one of them and nobody else. An
 * arrow is not to begin at one that is not, if s->acts. To be asked of each event. */
bool system_goroutines_skip(system_goroutines *s, const gotrace_event *e);

/* The same where none is left out: only of goroutines' beginnings and ends there is something to
 * learn. */
static inline bool system_goroutines_pass(system_goroutines *s, const gotrace_event *e)
{
    if (!s->left_out && s->version >= GOTRACE_FIRST_V2 && e->from != GOTRACE_STATE_NOT_EXIST &&
        e->to != GOTRACE_STATE_NOT_EXIST && !(e->flags & GOTRACE_EVENT_INITIAL))
        return false;
    return system_goroutines_skip(s, e);
}

#endif
