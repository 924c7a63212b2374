/* narrow.h - showing less than all of a trace. */
#ifndef NARROW_H
#define NARROW_H

#include "formats.h"
#include "idmap.h"

/* ---- system.c: without the goroutines of the runtime ------------------------------------------ */

typedef struct system_goroutines {
    gotrace_reader *reader;
    int version;
    bool asked;    /* somebody wants to know */
    bool left_out; /* the job's no_system */
    bool complete; /* all of a v2 trace was seen */
    bool acts;         /* the last event happened in the context of one of them */
    bool failed;       /* memory was refused */
    idmap goroutines;  /* whose they are, by id */
} system_goroutines;

/* told_apart: they are of interest even where the job does not leave them out. v2 is read ahead for
 * it. */
void system_goroutines_init(system_goroutines *s, const convert_job *job, bool told_apart);
void system_goroutines_free(system_goroutines *s);

/* Whether that goroutine is one of them, as far as is known. */
bool system_goroutines_is(const system_goroutines *s, uint64_t id);

/* Whether the event is to be passed over, because it is about one of them and nobody else. An
 * arrow is not to begin at one that is not, if s->acts. To be asked of each event. */
bool system_goroutines_skip(system_goroutines *s, const gotrace_event *e);

#endif
