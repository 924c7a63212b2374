/*
 * gotrace.h - read, check, order and write Go execution traces.
 *
 * The public header of libgotrace. The headers that it includes are installed with it: what all
 * parts share (gotrace_base.h), the codes of the events (gotrace_events.h) and the table of rules
 * (gotrace_rules.h). The layers, each usable alone:
 *
 *   records   gotrace_decoder, gotrace_encoder: the contents of the file, in file order, byte-exact
 *   events    gotrace_reader: one total order, states tracked, one meaning for every version;
 *             gotrace_writer: builds a trace from events
 *   tables    gotrace_event_spec, gotrace_rule: the format and the rules, as data
 *
 * Conventions for all functions:
 *
 * Ownership   Returned pointers belong to the handle that returned them and are valid until the
 *             next call on that handle, unless a function says otherwise. Arguments are copied or
 *             used before the call returns, unless a function says that they are borrowed.
 * Errors      A function that fails returns a gotrace_status below zero and fills the gotrace_error
 *             that was passed (NULL: not wanted). Nothing prints, exits or aborts.
 * Threads     Handles share nothing: different threads may use different handles at the same
 *             time; a handle must not be used by two threads at once. The only global state is
 *             a list of recorders, which the children of fork need (gotrace_record.h).
 * Memory      Every handle allocates through the allocator of its gotrace_config and within its
 *             limits, and frees all memory when it is closed.
 * Units       Times are nanoseconds since the first event of the trace, as computed by Go's own
 *             readers. Ticks are the tracer's clock, gotrace_summary.frequency per second.
 * Versions    A trace version is the N of its header "go 1.N trace": 5, 7, 8, 9, 10, 11, 19, 21
 *             (the v1 format), 22, 23, 25, 26 (the v2 format).
 *
 * A program that was built with one release of the library runs with every later one that has the
 * same SONAME. What such a release may add, and what a program must not depend on:
 *
 * Structs     of the library (gotrace_summary, gotrace_details, ...) are reached through const
 *             pointers and may grow at their end: do not put them in arrays or in files. A copy has
 *             the members that the program knows.
 *             of the caller, which begin with their size (gotrace_config, gotrace_error, ...), may
 *             grow at their end too. Initialise them with GOTRACE_INIT, or set size to the sizeof.
 *             Members that the caller's struct does not have count as zero. Members that the
 *             library does not know must be zero, else the call fails with rule usage. Size 0, as
 *             in {0}, means the struct of the first release.
 *             Six are fixed, because they are passed in arrays or are complete: gotrace_event,
 *             gotrace_frame, gotrace_arg_spec, gotrace_clocks, gotrace_allocator, gotrace_change.
 * Enumerators and rules may be added, with new numbers. No number changes its meaning or is used
 *             again: treat one that is not known like the most general of its kind.
 * Functions   may be added. None changes its arguments or is removed.
 * Texts       Names (of events, states, rules) are stable; messages and summaries are not.
 *
 * gotrace_experimental.h has what may change or disappear in any release, for example what each
 * event requires and changes. This header does not include it.
 */
#ifndef GOTRACE_H
#define GOTRACE_H

#include "gotrace_base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------------------------------------
 * Sources
 *
 * A source provides random access to bytes. Regular files and memory are read in place; data from a
 * pipe or a terminal, and data that is compressed with zstd or gzip (detected by its first bytes),
 * is first copied to an unnamed temporary file that disappears with the source.
 *
 * If compressed data is cut off or damaged, the source contains the data that could be decompressed
 * before that point, unless there is none. This is a problem like those of the trace:
 * config->on_problem is called and may reject the source, and gotrace_source_error returns it.
 */

typedef struct gotrace_source gotrace_source;

/* Open a file by name. */
GOTRACE_API gotrace_status gotrace_source_open(const char *path, const gotrace_config *config,
                                               gotrace_source **source, gotrace_error *error);

/* Read a descriptor, which remains owned by the caller and is borrowed until
 * gotrace_source_close. */
GOTRACE_API gotrace_status gotrace_source_fd(int fd, const gotrace_config *config,
                                             gotrace_source **source, gotrace_error *error);

/* Read memory, which is borrowed until gotrace_source_close. */
GOTRACE_API gotrace_status gotrace_source_memory(const void *data, size_t size,
                                                 const gotrace_config *config,
                                                 gotrace_source **source, gotrace_error *error);

/* Size of the trace in bytes (after decompression). */
GOTRACE_API uint64_t gotrace_source_size(const gotrace_source *source);

/* Size of the compressed input in bytes, or 0 if it is not compressed. */
GOTRACE_API uint64_t gotrace_source_compressed_size(const gotrace_source *source);

/* The problem of the compressed input, at an offset after decompression: the end of the source.
 * NULL if it is sound or not compressed. */
GOTRACE_API const gotrace_error *gotrace_source_error(const gotrace_source *source);

/* Copy up to size bytes from offset; *got is less than size only at the end of the source. */
GOTRACE_API gotrace_status gotrace_source_read(gotrace_source *source, uint64_t offset,
                                               void *buffer, size_t size, size_t *got,
                                               gotrace_error *error);

GOTRACE_API void gotrace_source_close(gotrace_source *source);

/* ---------------------------------------------------------------------------------------------
 * Records: the contents of the file
 */

/* A record of the file. Pointers are valid until the next call on the decoder. A decoder sets size
 * to what the library knows: if you change a copy, and pass that to an encoder, set its size to its
 * own sizeof. */
typedef struct gotrace_record {
    size_t size;
    const gotrace_event_spec *spec; /* its row */
    uint64_t offset;                /* of its first byte in the trace */
    uint64_t length;                /* bytes it occupies */
    uint64_t index;                 /* number of records before it */
    const uint64_t *args;           /* all values in wire order: arguments, then frames */
    size_t arg_count;
    const char *data; /* String: its bytes; v1 UserLog: the message; ExperimentalBatch: its content;
                         else NULL */
    size_t data_size;
    uint8_t form;          /* v1: high two bits of the first byte, as found; v2: 0 */
    const uint8_t *widths; /* bytes of each varint in wire order: the record's length
                              where form is 3 (a String has none), each value, the data's
                              length; when encoding, NULL, or 0 for one of them: as the
                              version's own tracer writes it */
    size_t width_count;
} gotrace_record;

/* How the tracer of a version encodes a record: the two high bits of its first byte, and the size
 * of its n-th varint if that is larger than necessary, else 0. Other encodings in a file are
 * deviations, which are preserved for a byte-exact round trip. Source: traceEventLocked and
 * traceStackTable.dump in runtime/trace.go (in 1.21 the length of a Stack record always takes ten
 * bytes); for v2 traceWriter.refill (the size of a batch takes ten bytes). */
GOTRACE_API uint8_t gotrace_record_form(const gotrace_event_spec *spec, int version);
GOTRACE_API uint8_t gotrace_record_width(const gotrace_event_spec *spec, int version, size_t n);

typedef struct gotrace_decoder gotrace_decoder;

/* A streaming decoder:
 *
 *   gotrace_decoder_feed    passes bytes, of any number; they are borrowed until
 *                           gotrace_decoder_next returns GOTRACE_NEED_INPUT.
 *                           Allowed at the start and after GOTRACE_NEED_INPUT.
 *   gotrace_decoder_finish  marks the end of the input. Allowed where feed is.
 *   gotrace_decoder_next    returns GOTRACE_EVENT and a record, GOTRACE_NEED_INPUT when all bytes
 *                           are consumed (an incomplete record is kept inside),
 *                           GOTRACE_END at the end, after a complete record, or GOTRACE_ERROR.
 *
 * The records and the error do not depend on how the bytes are divided into pieces.
 * The decoder reads the header; gotrace_decoder_version returns 0 until then.
 * The number of arguments is checked against the event table (rule event.arity): such a record is
 * reported through on_problem and skipped, because its end is known; all other errors are final.
 * (v2 records do not contain their length, so all their errors are final.) An ExperimentalBatch has
 * at most 64 KiB. */
GOTRACE_API gotrace_status gotrace_decoder_new(const gotrace_config *config,
                                               gotrace_decoder **decoder, gotrace_error *error);
GOTRACE_API gotrace_status gotrace_decoder_feed(gotrace_decoder *decoder, const void *bytes,
                                                size_t size);
GOTRACE_API void gotrace_decoder_finish(gotrace_decoder *decoder);
GOTRACE_API gotrace_status gotrace_decoder_next(gotrace_decoder *decoder,
                                                const gotrace_record **record);
GOTRACE_API int gotrace_decoder_version(const gotrace_decoder *decoder);
GOTRACE_API const gotrace_error *gotrace_decoder_error(const gotrace_decoder *decoder);
GOTRACE_API void gotrace_decoder_free(gotrace_decoder *decoder);

/* ---------------------------------------------------------------------------------------------
 * Events: one total order, one meaning
 */

/* The meaning of an event, the same for every version. */
typedef enum gotrace_kind {
    GOTRACE_KIND_NONE = 0,    /* no meaning (FutileWakeup) */
    GOTRACE_KIND_TRANSITION,  /* a goroutine or proc changed its state */
    GOTRACE_KIND_SYSCALL,     /* a system call that did not block: an instant (v1 GoSysCall) */
    GOTRACE_KIND_METRIC,      /* a metric changed. subject: which, value: the new one */
    GOTRACE_KIND_LABEL,       /* text labels the goroutine from here on */
    GOTRACE_KIND_RANGE_BEGIN, /* a range began: see range */
    GOTRACE_KIND_RANGE_END,
    GOTRACE_KIND_TASK_BEGIN, /* subject: the task, value: its parent (0 none), text: its name */
    GOTRACE_KIND_TASK_END,
    GOTRACE_KIND_REGION_BEGIN, /* subject: the task (0 none), text: the region's name */
    GOTRACE_KIND_REGION_END,
    GOTRACE_KIND_LOG,          /* subject: the task, text: the category, message: the message */
    GOTRACE_KIND_RANGE_ACTIVE, /* a range is active at the beginning of a generation */
    GOTRACE_KIND_SYNC,         /* v2: a generation begins. subject: its number (in a damaged trace
                                  several may have the same), value: its index in the order of the
                                  file, as for gotrace_reader_generation. The last one is the end
                                  of the trace: subject 0, value: the number of generations. Ids of
                                  strings and stacks are valid up to the next sync */
    GOTRACE_KIND_EXPERIMENT,   /* an event of an experiment: args as they are */
    GOTRACE_KIND_SAMPLE,       /* a CPU profile sample: goroutine, proc and stack it hit */
} gotrace_kind;

typedef enum gotrace_state {
    GOTRACE_STATE_UNDETERMINED = 0, /* before the first event that determines it */
    GOTRACE_STATE_NOT_EXIST,
    GOTRACE_STATE_RUNNABLE,
    GOTRACE_STATE_RUNNING,
    GOTRACE_STATE_SYSCALL,
    GOTRACE_STATE_WAITING,
    GOTRACE_STATE_IDLE,      /* of a proc */
    GOTRACE_STATE_ABANDONED, /* of a proc whose thread ended in a system call: in gotrace_semantics
                                alone, events have it as IDLE */
} gotrace_state;

typedef enum gotrace_resource {
    GOTRACE_RESOURCE_NONE = 0,
    GOTRACE_RESOURCE_GOROUTINE,
    GOTRACE_RESOURCE_PROC,
} gotrace_resource;

/* The ranges, one row each: enum name, name for people, name in Go's reader of v2, whose it is (a
 * gotrace_resource; NONE: the whole program's), what the subject of its events is in v2, and the
 * rules that its begin breaks while one is active, and its end while none is. The order is that of
 * the enum, so a new row is the last one.
 *
 * STW: see reason; up to 1.9 there is one per proc, and in v2 the subject is who stops the world.
 * SWEEP: at its end args[0] are the swept and args[1] the reclaimed bytes. */
/* clang-format off */
#define GOTRACE_RANGE_ROWS(X) \
    X(NONE, "none", "none", NONE, NONE, NONE, NONE) \
    X(GC, "GC", "GC concurrent mark phase", NONE, NONE, GC_START, GC_DONE) \
    X(STW, "stop-the-world", "stop-the-world", NONE, GOROUTINE, STW_START, STW_DONE) \
    X(SWEEP, "GC sweep", "GC incremental sweep", PROC, PROC, SWEEP_START, SWEEP_DONE) \
    X(MARK_ASSIST, "GC mark assist", "GC mark assist", GOROUTINE, GOROUTINE, ASSIST_START, ASSIST_START)
/* clang-format on */

typedef enum gotrace_range {
#define GOTRACE_RANGE_VALUE(name, text, go, owner, subject, begins, ends) GOTRACE_RANGE_##name,
    GOTRACE_RANGE_ROWS(GOTRACE_RANGE_VALUE)
#undef GOTRACE_RANGE_VALUE
} gotrace_range;

/* The number of ranges in this header, with GOTRACE_RANGE_NONE. */
#define GOTRACE_RANGES (0 GOTRACE_RANGE_ROWS(GOTRACE_RANGE_ONE))

#define GOTRACE_RANGE_ONE(name, text, go, owner, subject, begins, ends) +1

typedef enum gotrace_metric {
    GOTRACE_METRIC_NONE = 0,
    GOTRACE_METRIC_GOMAXPROCS,
    GOTRACE_METRIC_HEAP_ALLOCATED, /* bytes */
    GOTRACE_METRIC_HEAP_GOAL,      /* bytes */
} gotrace_metric;

/* The number of metrics in this header, with GOTRACE_METRIC_NONE. */
#define GOTRACE_METRICS (GOTRACE_METRIC_HEAP_GOAL + 1)

/* gotrace_event.flags */
enum gotrace_event_flags {
    /* Part of a futile wake-up (unblocked, started and blocked again without progress). Go's
     * readers leave these out; here their kind is GOTRACE_KIND_NONE and they do not change
     * states. */
    GOTRACE_EVENT_FUTILE = 1,
    /* Describes the state at the start of tracing; nothing happened at this time. */
    GOTRACE_EVENT_INITIAL = 2,
    /* An event that violates a rule: it was reported as a problem and is accepted as recorded. */
    GOTRACE_EVENT_SUSPECT = 4,
    /* A GoSysExit whose time is that of the return of the call, before the goroutine recorded
     * it. */
    GOTRACE_EVENT_MOVED = 8,
    /* A sync event with a snapshot of the clocks: the arguments in its details are the trace's time
     * (ns, absolute), the monotonic clock (ns), and seconds and nanoseconds of the wall clock. */
    GOTRACE_EVENT_CLOCKS = 16,
    /* The end of a range, task or region that has no begin: there is none in the trace, and none
     * can be before it, because its goroutine was created in the trace, or the state before is
     * known. Nothing ends with it. An end without this flag and without a begin in the trace began
     * before the trace. */
    GOTRACE_EVENT_NO_BEGIN = 32,
    /* v1: a goroutine is unblocked by one that runs timers (until 1.13), or by the network poller.
     */
    GOTRACE_EVENT_TIMER = 64,
    GOTRACE_EVENT_NETWORK = 128,
};

/* gotrace_event.given: which member of extra is set. */
enum gotrace_given {
    GOTRACE_GIVEN_CAUSE = 0,   /* cause, which is 0 of events that have nothing */
    GOTRACE_GIVEN_START_STACK, /* start_stack */
    GOTRACE_GIVEN_REASON,      /* reason */
    GOTRACE_GIVEN_VALUE,       /* value */
    GOTRACE_GIVEN_DETAILS,     /* details */
};

/* What few events have: gotrace_event_details. */
typedef struct gotrace_details {
    const char *text; /* a name, see gotrace_kind; NULL if there is none; not NUL-terminated */
    size_t text_size;
    const char *message; /* of a log; not NUL-terminated */
    size_t message_size;
    const uint64_t *args; /* the record's own arguments, without time and stack */
    size_t arg_count;
    uint64_t value, start_stack, cause; /* see the functions gotrace_event_value, ... */
    const char *reason;
} gotrace_details;

/* How the v1 events map to transitions. Goroutines: GoCreate NOT_EXIST (UNDETERMINED with _INITIAL)
 * to RUNNABLE, of subject, by goroutine; GoWaiting RUNNABLE to WAITING and GoInSyscall RUNNABLE to
 * SYSCALL, both _INITIAL; GoStart (text: the label of GoStartLabel) RUNNABLE to RUNNING; GoEnd
 * RUNNING to NOT_EXIST; GoStop, GoSleep, GoBlock* RUNNING to WAITING; GoSched, GoPreempt RUNNING to
 * RUNNABLE; GoUnblock WAITING to RUNNABLE, of subject, by goroutine; GoSysCall RUNNING to SYSCALL
 * if it blocks (else it is a GOTRACE_KIND_SYSCALL); GoSysBlock SYSCALL to SYSCALL: there the
 * goroutine loses its proc (RUNNING to SYSCALL without a GoSysCall); GoSysExit
 * SYSCALL to RUNNABLE. A run on a proc thus lasts from a transition to RUNNING to the next
 * transition of that goroutine, a GoSysCall aside. Procs: ProcStart IDLE (UNDETERMINED the first
 * time) to RUNNING, ProcStop RUNNING to IDLE.
 *
 * An event in its place in the total order: 64 bytes, which may be copied, and put into arrays.
 * What it refers to is valid as long as the block or the call says that returned it; a reason,
 * until the reader is closed. Fixed. */
typedef struct gotrace_event {
    int64_t time;       /* ns since the first event */
    uint64_t offset;    /* offset of its record */
    uint64_t goroutine; /* the goroutine in whose context it happened, 0 for none */
    uint64_t subject;   /* id of the goroutine, proc or task that it is about; a gotrace_metric */
    int64_t thread;   /* v1: the thread that runs the proc; v2: the thread on which it happened; or
                         GOTRACE_NO_THREAD */
    int32_t proc;     /* the proc on which it happened, or GOTRACE_NO_PROC; INT32_MAX stands for
                         larger ids, which no runtime has */
    uint32_t stack;   /* its stack: an id, 0 for none or an id that no tracer assigns (2^32 or
                         more) */
    uint8_t type;     /* the record's code, local variants already replaced by the full ones */
    uint8_t kind;     /* gotrace_kind */
    uint8_t resource; /* gotrace_resource, of a transition */
    uint8_t from, to; /* gotrace_state, of a transition */
    uint8_t range;    /* gotrace_range */
    uint8_t flags;    /* GOTRACE_EVENT_* */
    uint8_t given;    /* GOTRACE_GIVEN_* */
    union {
        uint64_t cause, start_stack, value;
        const char *reason;
        const gotrace_details *details;
    } extra;
} gotrace_event;

/* What only few callers need of an event. */
typedef struct gotrace_raw {
    uint64_t ticks;       /* v1: the time in ticks, absolute. v2: in ns on the trace's own clock, as
                             returned by Go's reader */
    const uint64_t *args; /* the record's own arguments, without time and stack */
    size_t arg_count;     /* those that mean something for this type and version */
    uint64_t generation, generation_index; /* see GOTRACE_KIND_SYNC; 0 in v1 */
} gotrace_raw;

/* Returns the details of an event; if it has none, all members are 0. */
static inline const gotrace_details *gotrace_event_details(const gotrace_event *event)
{
    static gotrace_details none; /* not const: C++ wants an initializer then */
    return event->given == GOTRACE_GIVEN_DETAILS ? event->extra.details : &none;
}

/* Offset of the event that made a run possible, of the transition to running: the unblock, creation
 * or end of system call; else 0. */
static inline uint64_t gotrace_event_cause(const gotrace_event *event)
{
    return event->given == GOTRACE_GIVEN_CAUSE ? event->extra.cause
                                               : gotrace_event_details(event)->cause;
}

/* GoCreate: the stack where the new goroutine starts (1.5: a PC instead); else 0. */
static inline uint64_t gotrace_event_start_stack(const gotrace_event *event)
{
    return event->given == GOTRACE_GIVEN_START_STACK ? event->extra.start_stack
                                                     : gotrace_event_details(event)->start_stack;
}

/* GOTRACE_METRIC_NONE if it is an event of another kind. */
static inline gotrace_metric gotrace_event_metric(const gotrace_event *event)
{
    return event->kind == GOTRACE_KIND_METRIC ? (gotrace_metric)event->subject
                                              : GOTRACE_METRIC_NONE;
}

/* The new value of a metric, the parent of a task, or the index of the generation that a sync
 * begins; else 0. */
static inline uint64_t gotrace_event_value(const gotrace_event *event)
{
    return event->given == GOTRACE_GIVEN_VALUE ? event->extra.value
                                               : gotrace_event_details(event)->value;
}

/* Why a goroutine waits or stopped running, or the world was stopped; NUL-terminated; NULL where
 * the trace does not give it. */
static inline const char *gotrace_event_reason(const gotrace_event *event)
{
    return event->given == GOTRACE_GIVEN_REASON ? event->extra.reason
                                                : gotrace_event_details(event)->reason;
}

/* A frame of a stack. Fixed: frames are passed in arrays. Strings are not NUL-terminated and as
 * long valid as those of gotrace_reader_string. In traces of Go 1.5 and 1.6 there is only the
 * program counter. */
typedef struct gotrace_frame {
    uint64_t pc; /* to write: 0 for a frame without one, see gotrace_frame_pc */
    uint64_t line;
    uint64_t function_id, file_id; /* string ids */
    const char *function;
    size_t function_size;
    const char *file;
    size_t file_size;
} gotrace_frame;

/* Summary of a trace; the members marked (o) are complete only after GOTRACE_END. */
typedef struct gotrace_summary {
    int version;
    const char *writer; /* (o in v2) "Go", "gccgo", "gotrace record", or NULL if unknown */
    uint64_t size;      /* bytes of the trace */
    uint64_t frequency; /* ticks per second, 0 if the footer is missing */
    uint64_t records;   /* all records */
    uint64_t timed_records;
    uint64_t events; /* (o) that gotrace_reader_next returned, or would have returned in place of
                        gotrace_reader_check. v1: one for each timed record. v2: also the ends of
                        generations, CPU samples, and what a status implies */
    uint64_t batches;
    uint64_t procs; /* different procs that have events, the global buffer (-1) aside */
    uint64_t strings, string_bytes;
    uint64_t stacks, stack_frames;
    uint64_t samples;      /* CPU profile samples */
    uint64_t header_bytes; /* of the file header */
    uint64_t unread_bytes; /* after a point from which nothing could be read */
    uint64_t threads;      /* (o) v2: different threads that have events */
    uint64_t generations;  /* v2 */
    uint64_t type_records[256],
        type_bytes[256];                /* by record code (v2: complete after
                                           GOTRACE_END); with the two above they sum to size */
    uint64_t goroutines_created;        /* (o) while tracing */
    uint64_t goroutines_initial;        /* (o) that were there when tracing started */
    uint64_t goroutines_ended;          /* (o) */
    uint64_t tasks, regions, logs;      /* (o) tasks created, regions begun, messages logged */
    int64_t duration;                   /* (o) ns from the first to the last event */
    uint64_t notes, warnings, problems; /* found so far, by severity (problems: fatal too) */
    uint64_t start;        /* ticks of the first event, as in gotrace_raw; 0 before it */
    uint64_t consequences; /* events that do not fit after damage that was reported,
                              not among the problems */
} gotrace_summary;

/* The contents of the batches of one proc. */
typedef struct gotrace_proc_summary {
    int64_t proc; /* -1: the tracer's global buffer */
    uint64_t batches, bytes, events;
} gotrace_proc_summary;

/* A generation of a v2 trace. */
typedef struct gotrace_generation_summary {
    uint64_t generation; /* its number */
    uint64_t offset;     /* of its first batch */
    uint64_t bytes, batches;
    uint64_t frequency; /* ticks per second, 0 if unknown */
    uint64_t begin;     /* the lowest time stamp of a batch, in ticks; 0 counts as none */
    uint64_t timed_records, strings, stacks, samples; /* (o) */
    bool complete;   /* it has an end record, or another generation follows */
    bool has_clocks; /* the following count (from 1.25) */
    uint64_t clock_ticks, monotonic_ns, wall_seconds, wall_nanoseconds;
} gotrace_generation_summary;

/* A goroutine that is alive at this point of reading. */
typedef struct gotrace_goroutine {
    uint64_t id;
    uint64_t start_stack; /* v1: its start function's stack (1.5: a PC), 0 if not known; v2: 0 */
    uint64_t creator;     /* the goroutine that created it, 0 if not known */
    int64_t created;      /* ns */
    int64_t since;        /* ns: when it came into its state */
    uint8_t state;        /* gotrace_state */
} gotrace_goroutine;

typedef struct gotrace_reader gotrace_reader;

/* Start reading a source, which is borrowed until gotrace_reader_close. The header is read here: a
 * file that is not a trace, or has an unknown version, is rejected. */
GOTRACE_API gotrace_status gotrace_reader_open(gotrace_source *source, const gotrace_config *config,
                                               gotrace_reader **reader, gotrace_error *error);

/* The first pass: scan the file and index its batches, strings, stacks and frequency. It is made by
 * the first gotrace_reader_next or _check; further calls do nothing. Afterwards the tables and the
 * summary (except members marked (o)) are available. If it fails, the summary contains what was
 * read. */
GOTRACE_API gotrace_status gotrace_reader_index(gotrace_reader *reader);

/* Read the next event in order: GOTRACE_EVENT, GOTRACE_END, or GOTRACE_ERROR (a system call failed,
 * a limit was reached, or on_problem returned false). Damage does not end reading: it is reported
 * as a problem, the event is accepted as recorded (GOTRACE_EVENT_SUSPECT) and the next one follows;
 * if the rest cannot be read (GOTRACE_FATAL), the events before it are returned. After the end,
 * gotrace_summary.problems is 0 for a sound trace. The event and what it refers to is valid until
 * the next call on the reader that reads. */
GOTRACE_API gotrace_status gotrace_reader_next(gotrace_reader *reader, const gotrace_event **event);

/* The ticks, arguments and generation of the event that gotrace_reader_next returned last; valid as
 * long as that. */
GOTRACE_API const gotrace_raw *gotrace_reader_raw(const gotrace_reader *reader);

/* Some hundreds of events in order, of one generation. The library owns it; it may grow. */
typedef struct gotrace_block {
    const gotrace_event *events;
    size_t count;                          /* at least 1 */
    uint64_t generation, generation_index; /* see GOTRACE_KIND_SYNC; 0 in v1 */
    const gotrace_raw *raw; /* of each event, after gotrace_reader_keep_raw; else NULL */
} gotrace_block;

/* Read the next events, which takes less time than one by one. The same as gotrace_reader_next,
 * but the events and what they refer to (details, texts, arguments, strings and stacks) are valid
 * until the block is released, also while the reader reads on. Any number of threads may use a
 * block. A block whose last event is followed by a failure is returned; the next call fails. */
GOTRACE_API gotrace_status gotrace_reader_next_block(gotrace_reader *reader,
                                                     const gotrace_block **block);

/* gotrace_reader_string, gotrace_reader_stack_depth and gotrace_reader_stack for the ids of the
 * block's events. Valid until the block is released. */
GOTRACE_API const char *gotrace_block_string(const gotrace_block *block, uint64_t id, size_t *size);
GOTRACE_API size_t gotrace_block_stack_depth(const gotrace_block *block, uint64_t id);
GOTRACE_API size_t gotrace_block_stack(const gotrace_block *block, uint64_t id,
                                       gotrace_frame *frames, size_t max);

/* From the next one on, blocks have the ticks and arguments of each event, which takes more time
 * and memory. */
GOTRACE_API void gotrace_reader_keep_raw(gotrace_reader *reader);

/* Give a block back, in any thread and before the reader is closed. NULL is accepted. Memory that
 * only this block needed is freed by a later call on the reader. */
GOTRACE_API void gotrace_block_release(const gotrace_block *block);

/* Restrict what is returned to some kinds, which is faster; other events are checked, but not
 * returned. kinds: 1 << gotrace_kind of those to return. It has effect from the next event on. */
GOTRACE_API void gotrace_reader_select(gotrace_reader *reader, uint32_t kinds);

/* Read to the end without returning events, which is faster: GOTRACE_END or GOTRACE_ERROR. */
GOTRACE_API gotrace_status gotrace_reader_check(gotrace_reader *reader);

/* The last error of this reader; valid until the reader is closed. */
GOTRACE_API const gotrace_error *gotrace_reader_error(const gotrace_reader *reader);

/* The summary, updated while reading; valid until the reader is closed. */
GOTRACE_API const gotrace_summary *gotrace_reader_summary(const gotrace_reader *reader);

/* The number of problems of a class found so far (severity GOTRACE_PROBLEM and above). */
GOTRACE_API uint64_t gotrace_reader_problems(const gotrace_reader *reader, gotrace_class class_);

/* The n-th proc, in ascending order from 0; NULL past the last one. */
GOTRACE_API const gotrace_proc_summary *gotrace_reader_proc(const gotrace_reader *reader, size_t n);

/* The n-th generation, in the order of the file from 0; NULL past the last one. */
GOTRACE_API const gotrace_generation_summary *
gotrace_reader_generation(const gotrace_reader *reader, size_t n);

/* The string with that id (id 0: the empty string), or NULL if the trace has none. Not
 * NUL-terminated. v1: valid until the reader is closed. v2: valid as long as its id, which is until
 * the reader returns an event of another generation (after a GOTRACE_KIND_SYNC) or fails;
 * after GOTRACE_END, the strings of the last generation are valid until the reader is closed. */
GOTRACE_API const char *gotrace_reader_string(const gotrace_reader *reader, uint64_t id,
                                              size_t *size);

/* Number of frames of a stack, 0 if the trace has no stack of that id. */
GOTRACE_API size_t gotrace_reader_stack_depth(const gotrace_reader *reader, uint64_t id);

/* The frames of a stack, innermost first, at most max of them; returns how many were written. */
GOTRACE_API size_t gotrace_reader_stack(const gotrace_reader *reader, uint64_t id,
                                        gotrace_frame *frames, size_t max);

/* A goroutine alive now, or after GOTRACE_END at the end; NULL if there is none of that id. */
GOTRACE_API const gotrace_goroutine *gotrace_reader_goroutine(gotrace_reader *reader, uint64_t id);

GOTRACE_API void gotrace_reader_close(gotrace_reader *reader);

/* Names for people: "runnable", "GC mark assist", ... Never NULL. */
GOTRACE_API const char *gotrace_state_name(gotrace_state state);
GOTRACE_API const char *gotrace_range_name(gotrace_range range);
GOTRACE_API const char *gotrace_metric_name(gotrace_metric metric);
GOTRACE_API const char *gotrace_kind_name(gotrace_kind kind);
/* What a stop-the-world of that kind is for, in a trace of that v1 version: the words of its Go's
 * reader, "unknown" for a number that is no kind. */
GOTRACE_API const char *gotrace_stw_reason(int version, uint64_t kind);

/* ---------------------------------------------------------------------------------------------
 * Writing
 */

/* Writes bytes; returns false on failure (all further calls of the encoder then fail with rule
 * system.write and os_error from errno). */
typedef bool (*gotrace_write_fn)(void *ctx, const void *bytes, size_t size);

typedef struct gotrace_encoder gotrace_encoder;

/* Start a trace of that version; the header is written at once. */
GOTRACE_API gotrace_status gotrace_encoder_new(int version, gotrace_write_fn write, void *ctx,
                                               const gotrace_config *config,
                                               gotrace_encoder **encoder, gotrace_error *error);

/* Write one record as specified by spec, args, data and (optional) form and widths; the other
 * members are ignored. form 0xff: the form of the version's tracer. The number of arguments must
 * match the table. */
GOTRACE_API gotrace_status gotrace_encoder_record(gotrace_encoder *encoder,
                                                  const gotrace_record *record);

/* Computed PCs begin here: no program has code at these addresses. */
#define GOTRACE_FRAME_PC_MADE ((uint64_t)1 << 52)

/* Returns the program counter (PC) with which a frame is written: its own or, if that is 0, one
 * computed from function, file and line. The same frame has the same PC in every stack and every
 * trace. A frame without function, file, line and PC has PC 0.
 *
 * Go's readers identify a frame by its PC. In 1.22 and later they show the first frame of a
 * generation with a PC in every stack that contains it. */
GOTRACE_API uint64_t gotrace_frame_pc(const gotrace_frame *frame);

/* Write buffered data. Afterwards the encoder can only be freed. */
GOTRACE_API gotrace_status gotrace_encoder_finish(gotrace_encoder *encoder);

GOTRACE_API const gotrace_error *gotrace_encoder_error(const gotrace_encoder *encoder);
GOTRACE_API void gotrace_encoder_free(gotrace_encoder *encoder);

/* ---------------------------------------------------------------------------------------------
 * Writing by meaning
 *
 * The caller passes events in order; the writer does what a tracer does: it lays out batches,
 * numbers generations, writes the tables, the sequence numbers, the short ("local") forms, the
 * state at the start of the trace and of each generation, the clocks and the footer. For each event
 * call:
 *
 *   gotrace_writer_at       to set the time
 *   gotrace_writer_string   for the ids of the strings and stacks that it refers to; ids are valid
 *   gotrace_writer_stack    while gotrace_writer_generation returns the same value
 *   gotrace_writer_event    to write the event
 */

typedef struct gotrace_writer gotrace_writer;

/* The tracer to imitate, if several wrote the same version. */
typedef enum gotrace_tracer {
    GOTRACE_TRACER_GO = 0,  /* the Go that was released with that version; the default */
    GOTRACE_TRACER_GCCGO,   /* gccgo's, which writes version 11: its buffers hold less, because
                               their headers hold a stack with names */
    GOTRACE_TRACER_GO_2023, /* Go's between 1.20 and 1.21, which still says version 19: its footer
                               and the lengths of its stacks are those of 1.21 */
} gotrace_tracer;

/* The same moment on the clocks of the trace and of the system. Fixed: it is what a trace has. */
typedef struct gotrace_clocks {
    uint64_t ticks, monotonic_ns, wall_seconds, wall_nanoseconds;
} gotrace_clocks;

typedef struct gotrace_writer_options {
    size_t size;
    uint64_t frequency;        /* ticks per second; 0: 10^9 */
    gotrace_tracer tracer;     /* tracer to imitate, if several wrote that version */
    bool force;                /* also write events that cannot have happened */
    bool equal_ticks;          /* v2: keep equal times of a thread; by default the later one is
                                  increased by a tick, as by tracers */
    uint64_t generation_ticks; /* v2: duration of a generation, after which the next one begins; 0:
                                  a second, as in Go; UINT64_MAX: until gotrace_writer_advance. It
                                  is longer while fewer events were written than there would be
                                  statuses of goroutines */
    gotrace_clocks clocks; /* 1.25 and later: at any moment; all 0: as if the clocks of the system
                              had started with the trace's */
    uint64_t first_generation; /* v2: number of the first generation; 0: 1 */
    uint64_t gc_events; /* v2: number of the last event of a GC cycle before the first one. With
                           these two, generations of a trace can be replaced */
} gotrace_writer_options;

/* Start a trace of that version. NULL options: all 0. */
GOTRACE_API gotrace_status gotrace_writer_new(int version, const gotrace_writer_options *options,
                                              gotrace_write_fn write, void *ctx,
                                              const gotrace_config *config, gotrace_writer **writer,
                                              gotrace_error *error);

/* Set *args to the arguments that a writer takes for an event (args[GOTRACE_MAX_ARGS]); returns
 * their number. They are those of gotrace_event_args without those that the writer determines:
 * deltas of time and sequence, sequence numbers, and the stack of the event. 0 if the row is not of
 * that version. */
GOTRACE_API size_t gotrace_writer_args(const gotrace_event_spec *spec, int version,
                                       const gotrace_arg_spec **args);

/* Set options.force. An event that was rejected can be written by repeating the call afterwards:
 * it is written as specified, and the writer continues from there. */
GOTRACE_API void gotrace_writer_force(gotrace_writer *writer, bool force);

/* Set the current time in absolute ticks. Must not decrease. v2: begins the next generation if it
 * is due. */
GOTRACE_API gotrace_status gotrace_writer_at(gotrace_writer *writer, uint64_t ticks);

/* v2: begin the next generation now, at the current time, with clocks or (NULL) with clocks
 * computed from earlier ones. If the current generation is still empty, this applies to it, so it
 * can be called at the start too. In v1 it does nothing. */
GOTRACE_API gotrace_status gotrace_writer_advance(gotrace_writer *writer,
                                                  const gotrace_clocks *clocks);

/* The number of the current generation, starting at options.first_generation; in v1 always 1. */
GOTRACE_API uint64_t gotrace_writer_generation(const gotrace_writer *writer);

/* Return the id of a string or a stack; 0 is the empty string and no stack. In 1.22 and later an id
 * is valid while gotrace_writer_generation returns the same value. Long strings and stacks are
 * truncated as by that version's tracer. proc: v1, the proc in whose buffer a new string is
 * written. */
GOTRACE_API gotrace_status gotrace_writer_string(gotrace_writer *writer, int64_t proc,
                                                 const char *bytes, size_t size, uint64_t *id);

/* Frames are innermost first; pc, line, function and file are used. A frame without a PC gets that
 * of gotrace_frame_pc; so does, in 1.22 and later, a frame whose PC another frame of the generation
 * has, which would be shown instead. */
GOTRACE_API gotrace_status gotrace_writer_stack(gotrace_writer *writer, const gotrace_frame *frames,
                                                size_t count, uint64_t *id);

/* An event to be written. For v1's pairs of rows use the full one (GoStart, not GoStartLocal); the
 * writer writes the short form where the tracer would.
 *
 * Context: v1 uses the proc, v2 the thread; the other members (proc, goroutine) are optional: they
 * are compared with the state that the writer tracks, and accepted where that is unknown. The state
 * before the trace began is then written before the first event that requires it, as statuses (v2)
 * or as created and waiting goroutines (v1): a goroutine that is unblocked was waiting, a goroutine
 * that starts was runnable.
 *
 * A CPUSample has no context: its own arguments contain time and place. A GoSysExit of v1 without a
 * proc is kept, and written where its goroutine starts to run, as by tracers. v2's statuses and
 * active ranges (GoStatus, ProcStatus, GCActive, ...) are optional; if they are passed, they are
 * written there, and not again. */
typedef struct gotrace_event_data {
    size_t size;
    const gotrace_event_spec *spec;
    int64_t proc;         /* or GOTRACE_NO_PROC */
    int64_t thread;       /* or GOTRACE_NO_THREAD */
    uint64_t goroutine;   /* of the context, 0: unspecified or none */
    const uint64_t *args; /* the arguments of gotrace_writer_args, in that order */
    size_t arg_count;
    uint64_t stack;   /* an id, 0 for none */
    const char *data; /* v1 UserLog: the message; ExperimentalBatch: its content */
    size_t data_size;
} gotrace_event_data;

/* Write an event. An event that cannot have happened (a goroutine that runs starts; an unknown
 * event) is rejected: GOTRACE_ERROR, the error names the rule that it would violate, nothing is
 * written, and the writer can continue; with options.force it is written. An id of a string or
 * stack that is not from this writer, or (1.22 and later) from an earlier generation, is rejected
 * too. After a failed write or a failed allocation all further calls fail. */
GOTRACE_API gotrace_status gotrace_writer_event(gotrace_writer *writer,
                                                const gotrace_event_data *event);

/* Write buffered data, the statuses of goroutines and procs without events in the last generation,
 * the tables and the footer. Afterwards the writer can only be freed. */
GOTRACE_API gotrace_status gotrace_writer_finish(gotrace_writer *writer);

GOTRACE_API const gotrace_error *gotrace_writer_error(const gotrace_writer *writer);
GOTRACE_API void gotrace_writer_free(gotrace_writer *writer);

#ifdef __cplusplus
}
#endif

#endif
