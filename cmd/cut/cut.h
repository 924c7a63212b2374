/*
 * cut.h - write a part of a trace as a valid trace of the same version.
 *
 *   cut.c          reads the events, and decides which are written
 *   state.c        follows states up to the first event that is written, and writes them before it:
 *                  what exists then, and what is active
 *   pass.c         passes an event to a writer; of an event that concerns several goroutines the
 *                  part that concerns the selected ones
 *   generations.c  copies generations, and writes parts of those before and after them
 *
 * The writer numbers the events again, and writes the tables of what they refer to. Without a
 * selection of goroutines every event of the range is written. With one, the events of these
 * goroutines are, and also, because no trace is valid without them:
 *
 *   - what another goroutine does to a selected one (creates or unblocks it) happens on its thread
 *     and proc, but on no goroutine;
 *   - procs start and stop as they did; a proc that is taken from another goroutine, in a system
 *     call, stops instead.
 *
 * Garbage collection and stop-the-world concern the whole program, and are left out then: their
 * beginning and end may be on different goroutines.
 *
 * Of a sound v2 trace, generations that are selected as a whole are copied as they are
 * (generations.c): only the part of one before them, and of one after them, is rewritten.
 *
 * Times do not change. In rewritten generations of v2 a tick of the output is a nanosecond, so that
 * times which the reader had to raise, because an event had to wait for another, are exact.
 *
 * Memory depends on the live state and the tables of a generation (in v1, of the trace).
 */
#ifndef CUT_H
#define CUT_H

#include "cmd/parts/carry.h"
#include "formats/analyse/selection.h"
#include "formats/common/beginning.h"
#include "formats/common/out.h"

/* v2: a part of a generation, before or after generations that are copied. */
typedef struct cut_part {
    uint64_t generation; /* its number */
    uint64_t origin;     /* ticks at which the whole trace starts */
    /* Numbers of GC events: that of the first one in the generation, 0 if it has none; and whether
     * it only reports that a cycle is active. */
    uint64_t first_gc;
    bool gc_active;
    bool continues; /* the generation before it is copied: its states are not written again */
} cut_part;

typedef struct cut_job {
    gotrace_source *source;
    gotrace_reader *reader; /* an open reader of that source */
    const gotrace_config *config;
    const selection *what; /* its generations; times are in the range */
    select_range range;
    const select_ids *goroutines; /* NULL: all */
    bool keep_times;      /* the states at the start have the time at which the trace starts */
    const cut_part *part; /* or NULL */
    bool checked;         /* the problems of the trace were reported */
    out *to;
} cut_job;

typedef struct cut_result {
    uint64_t count;      /* of selected events that were written; 0: there is no trace */
    uint64_t impossible; /* events that the recorded states do not allow, which were left out */
    gotrace_error first; /* the reason for the first of them */
    bool gc_lost;        /* an active cycle of the GC could not be reported */
} cut_result;

/* Reads the trace to its end. Returns GOTRACE_ERROR if reading or writing failed: the output is
 * incomplete. Stops early if the output fails. */
gotrace_status cut_write(const cut_job *job, cut_result *result, gotrace_error *error);

/* ---- shared by the parts of cut -------------------------------------------------------------- */

enum { CUT_KNOWN = 512 };

typedef struct cut_known {
    uint64_t goroutine; /* 0: none */
    bool selected;
} cut_known;

typedef struct cut {
    const cut_job *job;
    cut_result *result;
    gotrace_error *error;
    gotrace_status status; /* GOTRACE_ERROR after a fatal error */
    carry carry;
    bool v2;
    bool begun; /* the states at the start are written; none are followed any more */
    uint64_t
        first_index; /* v2: generation_index of the first event that is written; UINT64_MAX: none */
    bool has_origin; /* origin is set */
    uint64_t origin; /* ticks at which the trace starts */
    uint64_t now;    /* ticks of the last event written */
    gotrace_clocks clocks; /* those of the last generation; all 0: none */
    beginning beginning;   /* before the first event that is written */
    idmap timers;          /* v1: goroutines that run timers */
    uint64_t record;       /* offset of the record of the last event, if has_record */
    bool has_record;
    bool inside;         /* its first event is in the range */
    bool decided, whole; /* v2: whole: it is written as a whole */
    bool drops;          /* the output is not written */
    uint64_t last_gc;    /* v2: number of the last GC event of the generation that is a part */
    uint64_t made;       /* v2: offset of the record before which the reader made an event */
    bool has_made;
    bool anchored; /* v1: a goroutine has been created at the start */
    cut_known known[CUT_KNOWN];
    bool gc_due; /* v2: a cycle of the GC that is active has not been reported yet */
} cut;

/* Whether a goroutine is selected. Those found lately are kept, by the last bits of the id. */
static inline bool cut_has(cut *c, uint64_t goroutine)
{
    if (!c->job->goroutines || goroutine == 0)
        return !c->job->goroutines;
    cut_known *known = &c->known[goroutine % CUT_KNOWN];
    if (known->goroutine != goroutine)
        *known = (cut_known){goroutine, select_has_id(c->job->goroutines, goroutine)};
    return known->selected;
}

bool cut_fail(cut *c, const gotrace_error *error);
bool cut_no_memory(cut *c);

/* Of the event that was read last. */
static inline const gotrace_raw *raw_of(const cut *c)
{
    return gotrace_reader_raw(c->job->reader);
}

/* cut.c: reads the events of the job's reader, and writes those that are selected. */
gotrace_status cut_write_events(const cut_job *job, cut_result *result, gotrace_error *error);

/* generations.c: without a selection of goroutines. Copies the trace, or generations of it, if it
 * is sound. *done is false if nothing was written: the events must be. */
gotrace_status cut_copy(const cut_job *job, bool *done, cut_result *result, gotrace_error *error);

/* cut.c: passes an event to the writer; counts it if the writer refuses it, unless it is optional.
 * These and the following return false after a fatal error. */
bool cut_put(cut *c, const gotrace_event_data *event, bool optional);

/* state.c: follows an event before the first one that is written. */
bool cut_follow(cut *c, const gotrace_event *e);
/* Writes the states before the current event, which is the first one to be written. */
bool cut_begin(cut *c);

/* Reports that a cycle of the GC is active, if a goroutine runs on the thread. */
bool cut_put_gc(cut *c, int64_t thread);

/* pass.c: writes an event, which is in the range, if it is selected. */
bool cut_pass(cut *c, const gotrace_event *e);
/* Writes the first event, whatever it is. */
bool cut_pass_first(cut *c, const gotrace_event *e);

#endif
