/*
 * beginning.h - what exists and is active where a part of a trace begins: goroutines, procs and
 * ranges.
 *
 * It is collected from events: of a trace up to that part (cut), or the statuses of the first
 * generation (conversion of v2 to v1). How it is written depends on the writer: v2 has statuses, v1
 * creates what exists again. It is not used by
 *
 *   - lib/record and lib/write, which describe their own state, in lib and while it changes;
 *   - repair, which adds events to reach the states that the next generation reports: it needs the
 *     statuses in the order of the records, and doubled ones as they are;
 *   - conversion of v1 to v2, which reports each state when the first event shows it.
 */
#ifndef BEGINNING_H
#define BEGINNING_H

#include "formats/common/idmap.h"
#include "gotrace_experimental.h"

typedef struct beginning_goroutine {
    uint8_t state;     /* gotrace_state, as the records say */
    uint8_t effective; /* as readers say; v1: without a futile wake-up that it is in */
    int64_t proc;      /* on which it runs, or GOTRACE_NO_PROC; v1: also in a call that has not
                          blocked */
    int64_t thread;    /* v2: on which it runs or is in a system call, or GOTRACE_NO_THREAD */
    uint64_t stack, generation_index; /* v2: the stack with which it stopped running */
} beginning_goroutine;

typedef struct beginning_proc {
    uint8_t state;   /* gotrace_state; ABANDONED: left in a system call */
    int64_t thread;  /* which has it, or had it last */
    uint64_t caller; /* state SYSCALL: the goroutine in the call; 0: not known yet */
} beginning_proc;

typedef struct beginning_range {
    const gotrace_event_spec *begins; /* the row of its beginning */
    int64_t proc, thread;
    uint64_t goroutine, value; /* value: the argument of its row */
    const char *reason;
} beginning_range;

typedef struct beginning {
    int version;
    bool has_max;                 /* max_procs is known */
    uint64_t max_procs;           /* the last GOMAXPROCS */
    size_t running;               /* procs that run, see beginning_find_procs */
    int64_t first_proc;           /* of these, the one with the lowest number; 0: none */
    idmap goroutines, procs;      /* beginning_goroutine, beginning_proc */
    idmap ranges[GOTRACE_RANGES]; /* beginning_range, by goroutine or proc; 0: the whole program */
} beginning;

void beginning_init(beginning *b, int version);
void beginning_free(beginning *b);

/* Follows an event, whose row is spec. False if memory is refused. */
bool beginning_follow(beginning *b, const gotrace_event_spec *spec, const gotrace_event *e,
                      const gotrace_raw *raw);

/* Sets running and first_proc. calls: procs in system calls run too. */
void beginning_find_procs(beginning *b, bool calls);

#endif
