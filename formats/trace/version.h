/*
 * version.h - between the parts of `convert --to go1.N`:
 *
 *   version.c         reading, emitting events, what both formats have alike
 *   tables.c          the target's rows, reasons; strings and stacks
 *   v1.c              what becomes of transitions where go 1.5 to 1.21 is written
 *   v2.c              the same where go 1.22 or later is written
 *   experiments.c     the data of experiments
 *   start.c           what was there when a v2 trace began, for a v1 trace to begin with
 *
 * An ordered event of the source becomes one or more events of the target, or none, which is then
 * counted. Which rows of the target they are follows from what the rows mean, not from names: an
 * event that both versions have is copied, and of any other its transitions are written, each by
 * the target's row for that change.
 */
#ifndef VERSION_H
#define VERSION_H

#include "formats/common/experiments.h"
#include "formats/common/rows.h"
#include "formats/formats.h"
#include "formats/common/idmap.h"

/* clang-format off */
/* What a target may be without, as the note says: "...: N left out, go 1.V has none". */
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

/* What an argument of an event is about, whatever a version calls it: plain numbers. */
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
    ROLE_MESSAGE,             /* a second one */
    ROLE_START,               /* where a goroutine starts */
};

/* v2's statuses on the wire. */
enum { STATUS_RUNNABLE = 1, STATUS_RUNNING, STATUS_IN_SYSCALL, STATUS_WAITING };
enum { PROC_RUNNING = 1, PROC_IDLE, PROC_IN_SYSCALL, PROC_LEFT };

/* An event for the writer, in ids and strings of the source. */
typedef struct emission {
    const gotrace_event_spec *row; /* of the target */
    uint64_t ticks;                /* of a sample; else now */
    int64_t proc;                  /* or GOTRACE_NO_PROC */
    int64_t thread;                /* or GOTRACE_NO_THREAD */
    uint64_t goroutine;            /* or 0 */
    uint64_t numbers[ROLE_NUMBERS];
    uint64_t stack, start; /* ids, or a PC; 0 for none */
    bool start_outermost;  /* start is a stack of which only the outermost frame counts */
    bool start_is_stack;   /* there is no better stack than that where the goroutine starts */
    const char *text, *message;
    size_t text_size, message_size;
} emission;

/* One that waits for what follows it, in the writer's ids. */
typedef struct pending {
    emission e;
    uint64_t at, stack, start, text;
} pending;

enum { QUEUE_LENGTH = 64 };

/* State of the target: v1 has a goroutine in a system call run until the call blocks. */
typedef struct proc_now {
    int64_t thread;     /* that it was last bound to */
    uint64_t goroutine; /* that runs on it */
    bool known;         /* something was written of it */
    bool running;
    bool listed; /* to v2: it is in busy_procs */
    bool lost; /* to v2: the system call of its last goroutine blocks, and it is not stopped yet */
} proc_now;

typedef struct goroutine_now {
    int64_t thread;  /* to v2: of its system call */
    bool in_syscall; /* to v1: written as blocked in one */
    bool from_c;     /* to v1: a C thread's, which calls no Go function now */
    bool runnable;   /* to v2: written as runnable, because the target has none created waiting */
    bool assisting;
} goroutine_now;

typedef struct thread_now {
    int64_t proc;
    bool has_proc, has_goroutine;
} thread_now;

enum { VERSION_STOPS = 16 };
enum { VERSION_CODES = 256 }; /* no code of either format is larger */

/* Rows of source and target by what they mean; NULL where there is none. */
typedef struct version_rows {
    const gotrace_event_spec *source[VERSION_CODES]; /* by the source's codes */
    const gotrace_event_spec *like[VERSION_CODES];   /* the target's with that meaning */
    /* The target's by which a goroutine, or a proc, goes from one state to another. */
    const gotrace_event_spec *changes[ROW_STATES][ROW_STATES];
    const gotrace_event_spec *procs[ROW_STATES][ROW_STATES];
    const gotrace_event_spec *stops[VERSION_STOPS]; /* v1: those by which one stops for a reason */
    size_t stop_count;
    const gotrace_event_spec *region_begin, *region_end;
    const gotrace_event_spec *syscall; /* a goroutine enters a system call, and may keep its proc */
    const gotrace_event_spec *start_label; /* v1: a goroutine starts to run and has a label */
    const gotrace_event_spec *max_procs;   /* GOMAXPROCS */
    const gotrace_event_spec *status, *status_stack, *proc_status; /* v2 */
} version_rows;

typedef struct version_converter {
    const version_job *job;
    gotrace_reader *reader;
    gotrace_writer *writer;
    gotrace_error *error;
    gotrace_status status; /* GOTRACE_ERROR once it cannot go on */
    int from, to;
    const gotrace_event *e; /* at hand */

    uint64_t now;   /* ticks of the last happening */
    uint64_t base;  /* what its times are counted from, where ticks are not kept */
    uint64_t early; /* ticks by which what was there is written before the event at hand */
    bool timed;     /* something was written, and base is known */
    bool in_ns;     /* ticks are made of the event's time */
    bool strict;    /* no two happenings have the same ticks */
    version_rows rows;
    uint8_t roles[VERSION_CODES][GOTRACE_MAX_ARGS]; /* of the arguments that the writer takes, by
                                                       the target's codes */
    uint8_t role_counts[VERSION_CODES];

    idmap stacks, starts;                          /* the target's ids of the source's */
    uint64_t source_generation, target_generation; /* in which they are valid */
    gotrace_frame *frames;
    size_t frame_capacity;

    idmap procs, goroutines, threads, timers;
    uint64_t *busy_procs; /* to v2: a heap with all procs that run a goroutine, and some others */
    size_t busy_count, busy_capacity;
    gotrace_event created; /* to v2 from v1: the creation of a goroutine, kept */
    bool has_created;
    idmap found;     /* to v2: goroutines that were there, whose state is not known yet */
    bool started;    /* what was there at the beginning is written */
    uint64_t record; /* to v2 from v2: offset of the last record that changed something */
    bool has_record;
    bool copied;         /* that was copied as it is */
    int64_t invented;    /* thread made up last */
    int64_t active_proc; /* the last that ran a goroutine */
    int64_t stop_proc;   /* where the world was stopped; to v2: where that goroutine runs now */
    uint64_t stop_goroutine;
    uint64_t stop_owner; /* in the source */
    bool stopping;
    pending *queue; /* to v1 from v2: QUEUE_LENGTH of them */
    size_t queue_first, queue_count;
    experiments experiments;
    bool searched; /* for those */
    version_losses *losses;
    bool wrote; /* an event was written */
} version_converter;

/* ---- version.c ------------------------------------------------------------------------------ */

/* Emit it, at the time of the event at hand. False when nothing more can be written. */
bool version_emit(version_converter *c, emission *t);

/* Write what waits for what follows it. */
bool version_flush(version_converter *c);

/* The run that the goroutine began last has a label: v1 has it at the start. */
bool version_label_start(version_converter *c, uint64_t goroutine, const char *text, size_t size);

/* An event in the context of the event at hand. */
emission version_emission(const version_converter *c, const gotrace_event_spec *row);

/* An event of the same arguments as that at hand, by a row that has no others. */
emission version_copy(const version_converter *c, const gotrace_event_spec *row);

/* The writer takes it, or refuses it because it cannot have happened; then it is counted. */
bool version_write_event(version_converter *c, const gotrace_event_data *event);

/* The event at hand is left out, and counted under its name. */
void version_lose_event(version_converter *c);
void version_lose(version_converter *c, unsigned what);
bool version_fail(version_converter *c, const gotrace_error *error);
bool version_no_memory(version_converter *c);

/* NULL only when memory was refused, which is reported. */
proc_now *version_proc(version_converter *c, int64_t proc);
goroutine_now *version_goroutine(version_converter *c, uint64_t goroutine);

static inline bool version_is_v2(int version)
{
    return version >= GOTRACE_FIRST_V2;
}

/* ---- tables.c ----------------------------------------------------------------------- */

void version_tables(version_converter *c);

/* The target's ids of the source's. */
bool version_stack(version_converter *c, uint64_t source, uint64_t *id);
bool version_start(version_converter *c, const emission *t, uint64_t *id);
bool version_text(version_converter *c, int64_t proc, const char *bytes, size_t size, uint64_t *id);

/* The row of the source of the event at hand; NULL of a sync event. */
static inline const gotrace_event_spec *version_source(const version_converter *c)
{
    return c->rows.source[c->e->type];
}

/* The row of v1 by which a goroutine blocks or yields for that reason. */
const gotrace_event_spec *version_v1_stop(version_converter *c, gotrace_state to,
                                          const char *reason);

/* The kind of a stop, as the target has it; false where it has none. */
bool version_stop_kind(const version_converter *c, const char *reason, uint64_t *kind);
const char *version_v2_stop(const version_converter *c, const char *reason);

/* ---- transitions ---------------------------------------------------------------------------- */

bool version_to_v1(version_converter *c);
bool version_v1_end(version_converter *c);
bool version_to_v2(version_converter *c);
bool version_v2_end(version_converter *c);

/* Before an event of v1 is written in v2: write what it completes. *done: it is part of that. */
bool version_v2_within(version_converter *c, bool *done);

/* The context of an event of v1 for a v2 target: a thread that has the proc and, if so wanted, a
 * goroutine. */
bool version_v2_place(version_converter *c, emission *t, bool goroutine);

/* ---- experiments.c ------------------------------------------------------------------ */

/* Copy the batches of data that experiments wrote in this generation. */
bool version_experiment_data(version_converter *c);

/* ---- start.c ------------------------------------------------------------------------ */

/* Write what was there when the source, a v2 trace, began. */
bool version_begin_v1(version_converter *c);

#endif
