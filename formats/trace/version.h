/*
 * version.h - internal interface of `convert --to go1.N`.
 *
 *   version.c         reads and emits events; events that both formats have
 *   tables.c          the target's rows and reasons; strings and stacks
 *   v1.c              transitions for a target of go 1.5 to 1.21
 *   v2.c              transitions for a target of go 1.22 or later
 *   experiments.c     data of experiments
 *   start.c           the state at the initial_state of a v2 trace, for a v1 target
 *
 * An event of the source becomes zero or more events of the target; if zero, it is counted. The
 * target's rows are selected by meaning, not by name: an event that both versions have is copied;
 * of any other event, each transition is written by the target's row for that change.
 */
#ifndef VERSION_H
#define VERSION_H

#include "formats/common/experiments.h"
#include "formats/common/rows_by_meaning.h"
#include "formats/trace/convert.h"
#include "formats/common/idmap.h"

/* clang-format off */
/* What a target may be unable to represent, as named in the note: "...: N left out, go 1.V has
 * none". */
#define VERSION_LOSSES(X) \
    X(SAMPLES, "CPU samples") \
    X(SAMPLE_THREADS, "threads of CPU samples") \
    X(TASKS, "beginnings and ends of tasks") \
    X(REGIONS, "beginnings and ends of regions") \
    X(LOGS, "log messages") \
    X(LABELS, "labels of goroutines") \
    X(ASSISTS, "beginnings and ends of mark assists") \
    X(SWEPT, "counts of swept bytes") \
    X(STOPS, "stop-the-world pauses for other reasons than the GC") \
    X(STOPS_WITHIN, "stop-the-world pauses within another") \
    X(STOP_REASONS, "reasons for stopping the world") \
    X(STOP_STACKS, "stacks of where the world was stopped") \
    X(WAIT_REASONS, "reasons for waiting") \
    X(YIELD_REASONS, "reasons for yielding") \
    X(FUNCTIONS, "stacks' functions") \
    X(START_FUNCTIONS, "functions where goroutines start that were there already") \
    X(STATUS_STACKS, "stacks of goroutines that did nothing in a generation") \
    X(CREATED_WAITING, "goroutines created waiting (written as runnable)") \
    X(CALL_ENDS, "ends of system calls that kept their proc") \
    X(C_CALL_ENDS, "returns to C (written as system calls)") \
    X(FUTILE, "futile wake-ups' events") \
    X(EXPERIMENTS, "events of experiments") \
    X(EXPERIMENT_DATA, "batches of experiment data") \
    X(STRING_ENDS, "ends of strings, beyond 1024 bytes") \
    X(CLOCKS, "readings of the system's clocks") \
    X(BEGUN_BEFORE, "ends of mark assists that began before the trace")
/* clang-format on */

enum {
#define VERSION_NUMBER(id, text) LOST_##id,
    VERSION_LOSSES(VERSION_NUMBER)
#undef VERSION_NUMBER
        LOST_COUNT
};

/* The role of an event's argument, independent of its name in a version: numbers. */
enum {
    ROLE_GOROUTINE,
    ROLE_PROC,
    ROLE_THREAD,
    ROLE_TICKS,
    ROLE_VALUE,
    ROLE_MORE, /* a second value */
    ROLE_ID,
    ROLE_TASK,
    ROLE_PARENT,
    ROLE_STATUS,
    ROLE_NUMBERS,
    ROLE_TEXT = ROLE_NUMBERS, /* a string */
    ROLE_MESSAGE,             /* a second string */
    ROLE_START,               /* the stack or PC where a goroutine starts */
};

/* An event for the writer, with ids and strings of the source. */
typedef struct emission {
    const gotrace_event_spec *row; /* in the target */
    uint64_t ticks;                /* of a sample; otherwise the current time is used */
    int64_t proc;                  /* or GOTRACE_NO_PROC */
    int64_t thread;                /* or GOTRACE_NO_THREAD */
    uint64_t goroutine;            /* or 0 */
    uint64_t numbers[ROLE_NUMBERS];
    uint64_t stack, start; /* ids, or a PC; 0: none */
    bool start_outermost;  /* start is a stack of which only the outermost frame is used */
    bool start_is_stack;   /* use start as the event's stack if it has none */
    const char *text, *message;
    size_t text_size, message_size;
} emission;

/* A queued event, in ids of the writer. */
typedef struct pending {
    emission e;
    uint64_t at, stack, start, text;
} pending;

enum { QUEUE_LENGTH = 64 };

/* State of the target, not of the source, which analyse/states.h follows. In v1 a goroutine in a
 * system call runs until the call blocks. */
typedef struct proc_state {
    int64_t thread;     /* it was last bound to */
    uint64_t goroutine; /* that runs on it */
    bool known;         /* an event of it was written */
    bool running;
    bool listed; /* to v2: it is in busy_procs */
    bool lost;   /* to v2: its goroutine's system call blocks, but it is not stopped yet */
} proc_state;

typedef struct goroutine_state {
    int64_t thread;  /* to v2: in a system call, its thread */
    bool in_syscall; /* to v1: written as blocked in a system call */
    bool from_c;     /* to v1: belongs to a C thread that is not in Go now */
    bool runnable;   /* to v2: created runnable instead of waiting */
    bool assisting;
} goroutine_state;

typedef struct thread_state {
    int64_t proc;
    bool has_proc, has_goroutine;
} thread_state;

enum { VERSION_STOPS = 16 };
enum { VERSION_CODES = 256 }; /* event codes are bytes */

/* Rows of source and target by meaning; NULL if there is none. */
typedef struct version_rows {
    const gotrace_event_spec *source[VERSION_CODES]; /* by code in the source */
    const gotrace_event_spec *like[VERSION_CODES];   /* the target's equivalent */
    /* The target's rows for a change of a goroutine or proc from one state to another. */
    const gotrace_event_spec *changes[ROW_STATES][ROW_STATES];
    const gotrace_event_spec *procs[ROW_STATES][ROW_STATES];
    const gotrace_event_spec
        *stops[VERSION_STOPS]; /* v1: rows for blocking or yielding with a reason */
    size_t stop_count;
    const gotrace_event_spec *region_begin, *region_end;
    const gotrace_event_spec *syscall; /* a goroutine enters a system call, and may keep its proc */
    const gotrace_event_spec *start_label; /* v1: a goroutine with a label starts to run */
    const gotrace_event_spec *max_procs;   /* GOMAXPROCS */
    const gotrace_event_spec *status, *status_stack, *proc_status; /* v2 */
} version_rows;

typedef struct version_converter {
    const version_job *job;
    gotrace_reader *reader;
    gotrace_writer *writer;
    gotrace_error *error;
    gotrace_status status; /* GOTRACE_ERROR after a fatal error */
    int from, to;
    const gotrace_event *e; /* the current event */
    const gotrace_raw *raw; /* the same, except for one that was kept, which has no arguments */

    uint64_t now;        /* ticks of the last event written */
    uint64_t base;       /* time 0 in ticks of the target, if in_ns */
    uint64_t lead_ticks; /* ticks by which the initial state is dated before the current event */
    bool timed;          /* base and now are set */
    bool in_ns;          /* a tick of the target is a nanosecond */
    bool strict;         /* all events must have different ticks */
    version_rows rows;
    uint8_t roles[VERSION_CODES][GOTRACE_MAX_ARGS]; /* by code in the target */
    uint8_t role_counts[VERSION_CODES];

    idmap stacks, starts;                     /* id in the source to id in the target */
    uint64_t source_index, target_generation; /* of the generations in which they are valid */
    gotrace_frame *frames;
    size_t frame_capacity;

    idmap procs, goroutines, threads, timers;
    uint64_t *busy_procs; /* to v2: heap with all procs that run a goroutine, and some others */
    size_t busy_count, busy_capacity;
    gotrace_event created; /* to v2 from v1: a delayed creation */
    gotrace_raw created_raw;
    bool has_created;
    idmap undetermined; /* to v2: initial goroutines whose state is not known yet */
    bool started;       /* the initial state is written */
    uint64_t record;    /* to v2 from v2: offset of the last record with a change */
    bool has_record;
    bool copied;                 /* that record was copied */
    int64_t last_made_up_thread; /* id of the last made-up thread */
    int64_t stop_proc; /* the proc that stopped the world; to v2: where its goroutine runs now */
    uint64_t stop_goroutine;
    uint64_t stop_owner; /* as in the source */
    bool stopping;
    pending *queue; /* to v1 from v2: QUEUE_LENGTH elements */
    size_t queue_first, queue_count;
    experiments experiments;
    bool searched; /* experiments is filled */
    version_losses *losses;
    bool wrote; /* an event was written */
} version_converter;

/* ---- version.c ------------------------------------------------------------------------------ */

/* Emits an event at the time of the current event. False after a fatal error. */
bool version_emit(version_converter *c, emission *t);

/* Writes the queued events. */
bool version_flush(version_converter *c);

/* An event in the context of the current event. */
emission version_emission(const version_converter *c, const gotrace_event_spec *row);

/* An event with the arguments of the current event, for a row with the same arguments. */
emission version_copy(const version_converter *c, const gotrace_event_spec *row);

/* Passes the event to the writer; counts it if the writer refuses it. */
bool version_write_event(version_converter *c, const gotrace_event_data *event);

/* Counts the current event under its name, because it is omitted. */
void version_lose_event(version_converter *c);
void version_lose(version_converter *c, unsigned what);
bool version_fail(version_converter *c, const gotrace_error *error);
bool version_no_memory(version_converter *c);

/* NULL only if memory is refused, which is recorded in c. */
proc_state *version_proc(version_converter *c, int64_t proc);
goroutine_state *version_goroutine(version_converter *c, uint64_t goroutine);

static inline bool version_is_v2(int version)
{
    return version >= GOTRACE_FIRST_V2;
}

/* ---- tables.c ----------------------------------------------------------------------- */

void version_tables(version_converter *c);

/* The target's ids for ids of the source. */
bool version_stack(version_converter *c, uint64_t source, uint64_t *id);
bool version_start(version_converter *c, const emission *t, uint64_t *id);
bool version_text(version_converter *c, int64_t proc, const char *bytes, size_t size, uint64_t *id);

/* The source's row of the current event; NULL for a sync event. */
static inline const gotrace_event_spec *version_source(const version_converter *c)
{
    return c->rows.source[c->e->type];
}

/* The row of v1 for blocking or yielding with that reason. */
const gotrace_event_spec *version_v1_stop(version_converter *c, gotrace_state to,
                                          const char *reason);

/* The kind of a stop-the-world in the target; false if it has none. */
bool version_stop_kind(const version_converter *c, const char *reason, uint64_t *kind);
const char *version_v2_stop(const version_converter *c, const char *reason);

/* ---- transitions ---------------------------------------------------------------------------- */

bool version_to_v1(version_converter *c);
bool version_v1_end(version_converter *c);
bool version_to_v2(version_converter *c);
bool version_v2_end(version_converter *c);

/* Call before an event of v1 is written in v2: writes what it completes. *done: the event is part
 * of that. */
bool version_v2_prepare(version_converter *c, bool *done);

/* Sets the context of a v1 event for a v2 target: a thread that has the proc and, if `goroutine`, a
 * goroutine. */
bool version_v2_place(version_converter *c, emission *t, bool goroutine);

/* ---- experiments.c ------------------------------------------------------------------ */

/* Copies the experiment data of this generation. */
bool version_experiment_data(version_converter *c);

/* ---- start.c ------------------------------------------------------------------------ */

/* Writes the initial state of the source, a v2 trace. */
bool version_begin_v1(version_converter *c);

#endif
