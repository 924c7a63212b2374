/*
 * version.h - between the parts of `convert --to go1.N`:
 *
 *   version.c         reading, telling the writer, what both formats have alike
 *   tables.c          names, arguments, reasons; strings and stacks
 *   v1.c              what becomes of transitions where go 1.5 to 1.21 is written
 *   v2.c              the same where go 1.22 or later is written
 *   experiments.c          the data of experiments
 *   start.c           what was there when a v2 trace began, for a v1 trace to begin with
 *
 * An ordered event of the source becomes one or more happenings of the target, or none, which is
 * then counted.
 */
#ifndef VERSION_H
#define VERSION_H

#include "formats/common/event_names.h"
#include "formats/common/experiments.h"
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
    X(STOPS, "stops of the world for other reasons than the GC") \
    X(STOPS_WITHIN, "stops of the world within another") \
    X(STOP_REASONS, "reasons for stopping the world") \
    X(STOP_STACKS, "stacks of where the world was stopped") \
    X(WAIT_REASONS, "reasons for waiting") \
    X(YIELD_REASONS, "reasons for yielding") \
    X(FUNCTIONS, "stacks' functions") \
    X(START_FUNCTIONS, "functions where goroutines start that were there already") \
    X(STATUS_STACKS, "stacks of goroutines that did nothing in a generation") \
    X(CREATED_WAITING, "goroutines created waiting (they are told as runnable)") \
    X(CALL_ENDS, "ends of system calls that kept their proc") \
    X(C_CALL_ENDS, "returns to C (the goroutines are told as in a system call)") \
    X(FUTILE, "futile wake-ups' events") \
    X(EXPERIMENTS, "events of experiments") \
    X(EXPERIMENT_DATA, "batches of experiments' data") \
    X(STRING_ENDS, "ends of strings, beyond 1024 bytes") \
    X(CLOCKS, "readings of the system's clocks") \
    X(BEGUN_BEFORE, "ends of mark assists that began before the trace")
/* clang-format on */

enum {
#define VERSION_NUMBER(id, v1, v2) DO_##id,
    VERSION_EVENTS(VERSION_NUMBER)
#undef VERSION_NUMBER
        DO_COUNT,
    DO_NONE = DO_COUNT,
};

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

/* v2's statuses, as they stand in the file. */
enum { STATUS_RUNNABLE = 1, STATUS_RUNNING, STATUS_IN_SYSCALL, STATUS_WAITING };
enum { PROC_RUNNING = 1, PROC_IDLE, PROC_IN_SYSCALL, PROC_LEFT };

/* Something to be told to the writer, in ids and strings of the source. */
typedef struct telling {
    unsigned what;      /* DO_* */
    uint64_t ticks;     /* of a sample; else now */
    int64_t proc;       /* or GOTRACE_NO_PROC */
    int64_t thread;     /* or GOTRACE_NO_THREAD */
    uint64_t goroutine; /* or 0 */
    uint64_t numbers[ROLE_NUMBERS];
    uint64_t stack, start; /* ids, or a PC; 0 for none */
    bool start_outermost;  /* start is a stack of which only the outermost frame counts */
    bool start_is_stack;   /* there is no better stack than that where the goroutine starts */
    const char *text, *message;
    size_t text_size, message_size;
} telling;

/* One that waits for what follows it, in the writer's ids. */
typedef struct queued {
    telling t;
    uint64_t at, stack, start, text;
} queued;

enum { QUEUE_LENGTH = 64 };

/* As the target stands: v1 has a goroutine in a system call run until the call blocks. */
typedef struct proc_now {
    int64_t thread;     /* that it was last bound to */
    uint64_t goroutine; /* that runs on it */
    bool known;         /* something was told of it */
    bool running;
    bool listed; /* to v2: it is in busy_procs */
    bool lost; /* to v2: the system call of its last goroutine blocks, and it is not stopped yet */
} proc_now;

typedef struct goroutine_now {
    int64_t thread;  /* to v2: of its system call */
    bool in_syscall; /* to v1: told as blocked in one */
    bool from_c;     /* to v1: a C thread's, which calls no Go function now */
    bool runnable;   /* to v2: told as runnable, because the target has none created waiting */
    bool assisting;
} goroutine_now;

typedef struct thread_now {
    int64_t proc;
    bool has_proc, has_goroutine;
} thread_now;

typedef struct version_converter {
    const version_job *job;
    gotrace_reader *reader;
    gotrace_writer *writer;
    gotrace_error *error;
    gotrace_status status; /* GOTRACE_ERROR once it cannot go on */
    int from, to;
    const gotrace_event *e; /* at hand */

    uint64_t now;       /* ticks of the last happening */
    uint64_t base;      /* what its times are counted from, where ticks are not kept */
    uint64_t early;     /* ticks by which what was there is told before the event at hand */
    bool timed;         /* something was told, and base is known */
    bool in_ns;         /* ticks are made of the event's time */
    bool strict;        /* no two happenings have the same ticks */
    uint8_t doing[256]; /* DO_*, by the source's types */
    const gotrace_event_spec *specs[DO_COUNT]; /* the target's, NULL where it has none */
    uint8_t roles[DO_COUNT][GOTRACE_MAX_ARGS]; /* of the arguments that are told */
    uint8_t role_counts[DO_COUNT];

    idmap stacks, starts;                          /* the target's ids of the source's */
    uint64_t source_generation, target_generation; /* in which they are valid */
    gotrace_frame *frames;
    size_t frame_capacity;

    idmap procs, goroutines, threads, timers;
    uint64_t *busy_procs; /* to v2: a heap with all procs that run a goroutine, and some others */
    size_t busy_count, busy_capacity;
    gotrace_event created; /* to v2 from v1: the creation of a goroutine, kept */
    bool has_created;
    idmap found;       /* to v2: goroutines that were there, whose state is not told yet */
    bool started;      /* what was there at the beginning is told */
    uint64_t switched; /* offset of a switch that was told in one */
    bool has_switched;
    int64_t invented;    /* thread made up last */
    int64_t active_proc; /* the last that ran a goroutine */
    int64_t stop_proc;   /* where the world was stopped; to v2: where that goroutine runs now */
    uint64_t stop_goroutine;
    uint64_t stop_owner; /* in the source */
    bool stopping;
    queued *queue; /* to v1 from v2: QUEUE_LENGTH of them */
    size_t queue_first, queue_count;
    experiments experiments;
    bool searched; /* for those */
    version_losses *losses;
    bool told; /* something was */
} version_converter;

/* ---- version.c ------------------------------------------------------------------------------ */

/* Tell it; times are those of the event at hand. False when nothing more can be written. */
bool version_tell(version_converter *c, telling *t);

/* Write what waits for what follows it. */
bool version_flush(version_converter *c);

/* The run that the goroutine began last has a label: told to v1 with the start. */
bool version_label_start(version_converter *c, uint64_t goroutine, const char *text, size_t size);

/* Something in the context of the event at hand. */
telling version_telling(const version_converter *c, unsigned what);

/* Hand a happening to the writer, which refuses what cannot have happened and goes on. */
bool version_hand_over(version_converter *c, const gotrace_happening *happening);

void version_lose(version_converter *c, unsigned what);
bool version_fail(version_converter *c, const gotrace_error *error);
bool version_no_memory(version_converter *c);

/* Never NULL but when memory was refused, which is told. */
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
bool version_start(version_converter *c, const telling *t, uint64_t *id);
bool version_text(version_converter *c, int64_t proc, const char *bytes, size_t size, uint64_t *id);

/* v1's way to say why a goroutine blocks or yields, and v2's. */
unsigned version_v1_block(version_converter *c, const char *reason);
unsigned version_v1_yield(version_converter *c, const char *reason);
const char *version_v2_reason(unsigned doing);

/* The kind of a stop, as the target has it; false where it has none. */
bool version_stop_kind(const version_converter *c, const char *reason, uint64_t *kind);
const char *version_v2_stop(const version_converter *c, const char *reason);

/* ---- transitions ---------------------------------------------------------------------------- */

bool version_to_v1(version_converter *c);
bool version_v1_end(version_converter *c);
bool version_to_v2(version_converter *c);
bool version_v2_end(version_converter *c);

/* Before an event of v1 is told to v2: tell what it completes. *done: it is told with that. */
bool version_v2_within(version_converter *c, bool *done);

/* The context of an event of v1 for a v2 target: a thread that has the proc and, if so wanted, a
 * goroutine. */
bool version_v2_place(version_converter *c, telling *t, bool goroutine);

/* ---- experiments.c ------------------------------------------------------------------ */

/* Copy the batches of data that experiments wrote in this generation. */
bool version_experiment_data(version_converter *c);

/* ---- start.c ------------------------------------------------------------------------ */

/* Write what was there when the source, a v2 trace, began. */
bool version_begin_v1(version_converter *c);

#endif
