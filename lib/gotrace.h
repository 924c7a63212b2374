/*
 * gotrace.h - read, check, order and write Go execution traces.
 *
 * This is the header of libgotrace; with it is installed what it includes: the codes of the events
 * (gotrace_events.h) and the table of rules (gotrace_rules.h). Its layers, each usable alone:
 *
 *   records   gotrace_decoder / gotrace_encoder: what stands in the file, in file order, byte-exact
 *   events    gotrace_reader: one total order, states followed, one meaning for every version;
 *             gotrace_writer: the other way round
 *   tables    gotrace_event_spec, gotrace_rule: the format and the rules, as data
 *
 * Conventions that hold for everything below:
 *
 * Ownership   Pointers handed out belong to the handle that handed them out and live until the
 *             next call on that handle unless a function says otherwise. What is passed in is
 *             copied or used before the call returns, unless a function says that it is borrowed.
 * Errors      A function that can fail returns a gotrace_status below zero and fills the
 *             gotrace_error it was given (NULL: not wanted). Nothing prints, exits or aborts.
 * Threads     Handles share nothing: different handles may be used by different threads at the
 *             same time; one handle by one thread at a time. There is no global state.
 * Memory      Every handle allocates through the allocator of its gotrace_config and within its
 *             limits, and frees all of it when it is closed.
 * Units       Times are nanoseconds since the first event of the trace, as Go's own readers
 *             compute them. Ticks are the tracer's clock, at gotrace_summary.frequency a second.
 * Versions    A trace version is the N of its header "go 1.N trace": 5, 7, 8, 9, 10, 11, 19, 21
 * (the v1 format), 22, 23, 25, 26 (the v2 format).
 */
#ifndef GOTRACE_H
#define GOTRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gotrace_events.h"
#include "gotrace_rules.h"

#ifdef __cplusplus
extern "C" {
#endif

#define GOTRACE_VERSION_MAJOR 0
#define GOTRACE_VERSION_MINOR 1
#define GOTRACE_VERSION_PATCH 0

#if defined(__GNUC__)
#define GOTRACE_API __attribute__((visibility("default")))
#else
#define GOTRACE_API
#endif

/* The library's version, "MAJOR.MINOR.PATCH". */
GOTRACE_API const char *gotrace_version(void);

/* The trace versions that this library reads, ascending; *count is set to their number. */
GOTRACE_API const int *gotrace_versions(size_t *count);

/* The first version of the v2 format, whose traces have generations and events by thread. */
#define GOTRACE_FIRST_V2 22

/* A release of Go, and the version of the traces that it writes. */
typedef struct gotrace_release {
    const char *name; /* "go1.24" */
    int minor;        /* 24 */
    int version;      /* 23: Go 1.24 writes "go 1.23 trace" */
} gotrace_release;

/* The releases that are known, ascending; *count is set to their number. */
GOTRACE_API const gotrace_release *gotrace_releases(size_t *count);

/* The version of the traces that Go 1.minor writes: 23 for 24; 0 for a release that is not known.
 * Every function that takes a version takes a release too, and means this version. */
GOTRACE_API int gotrace_release_version(int minor);

/* What "no such thing" is where an id is asked for. */
#define GOTRACE_NO_OFFSET UINT64_MAX
#define GOTRACE_NO_PROC                                                                            \
    INT64_MIN /* not on any proc (proc -1 is a real one: the tracer's global buffer) */
#define GOTRACE_NO_THREAD INT64_MIN /* the thread is not known */

/* ---------------------------------------------------------------------------------------------
 * Status, rules and errors
 */

typedef enum gotrace_status {
    GOTRACE_OK = 0,
    GOTRACE_EVENT = 1,      /* a record or an event was delivered */
    GOTRACE_NEED_INPUT = 2, /* all input was consumed; feed more, or say that there is no more */
    GOTRACE_END = 3,        /* the trace is complete; every further call says so again */
    GOTRACE_ERROR = -1,     /* see the gotrace_error; every further call says so again */
} gotrace_status;

/* What kind of trouble a problem is: the verdict of `gotrace validate` rests on it. */
typedef enum gotrace_class {
    GOTRACE_CLASS_NONE = 0,
    GOTRACE_CLASS_MALFORMED,    /* the bytes do not follow the format */
    GOTRACE_CLASS_INCONSISTENT, /* well-formed, but tells of something that cannot have happened */
    GOTRACE_CLASS_CLOCKS,       /* time stamps contradict the order of the events */
    GOTRACE_CLASS_UNFINISHED,   /* the trace simply stops: no footer, or cut off */
    GOTRACE_CLASS_UNSUPPORTED,  /* a version that this library does not read */
    GOTRACE_CLASS_SYSTEM,       /* input/output, memory, limits: not the trace's fault */
    GOTRACE_CLASS_USAGE,        /* the caller's or the script's mistake */
} gotrace_class;

typedef enum gotrace_severity {
    GOTRACE_NOTE = 0,
    GOTRACE_WARNING, /* worth knowing; the trace is still sound */
    GOTRACE_PROBLEM, /* the trace is not sound; reading goes on after it */
    GOTRACE_FATAL,   /* nothing can be read from there on */
} gotrace_severity;

/* Every rule that a problem can name: a row of GOTRACE_RULES. */
typedef enum gotrace_rule {
#define GOTRACE_RULE_NUMBER(name, id, class, severity, wants, source) GOTRACE_RULE_##name,
    GOTRACE_RULES(GOTRACE_RULE_NUMBER)
#undef GOTRACE_RULE_NUMBER
        GOTRACE_RULE_COUNT
} gotrace_rule;

typedef struct gotrace_rule_info {
    const char *id;     /* stable name, "wire.varint" */
    const char *wants;  /* what the rule demands, a sentence */
    const char *source; /* where the rule comes from: a tracer, or Go's reader */
    gotrace_class class_;
    gotrace_severity severity;
} gotrace_rule_info;

/* The row of a rule; never NULL (an unknown number gives the row of GOTRACE_RULE_NONE). */
GOTRACE_API const gotrace_rule_info *gotrace_rule_describe(gotrace_rule rule);

/* The name of a class: "malformed", "inconsistent", "broken clocks", ... */
GOTRACE_API const char *gotrace_class_name(gotrace_class class_);

/* A problem found, or the reason why a call failed. Plain data: copy it freely. */
typedef struct gotrace_error {
    gotrace_rule rule;         /* what was broken; GOTRACE_RULE_NONE when there is no error */
    gotrace_severity severity; /* the rule's */
    gotrace_class class_;      /* the rule's */
    uint64_t offset;           /* byte in the trace (after decompression), or GOTRACE_NO_OFFSET */
    uint64_t batch;            /* index of the batch in file order, or GOTRACE_NO_OFFSET */
    uint64_t event;            /* index of the record in file order, or GOTRACE_NO_OFFSET */
    int os_error;              /* errno where the system said no, else 0 */
    int limit;                 /* rule system.limit: the gotrace_limit that was met, else 0 */
    char message[232];         /* what was found, and what was expected; UTF-8, no newline */
} gotrace_error;

/* ---------------------------------------------------------------------------------------------
 * Configuration: allocator, limits, callbacks
 */

/* Like realloc, but told the old size: resize(ctx, NULL, 0, n) allocates, resize(ctx, p, n, 0)
 * frees and returns NULL. On failure it returns NULL and leaves the old block as it was. */
typedef struct gotrace_allocator {
    void *(*resize)(void *ctx, void *block, size_t old_size, size_t new_size);
    void *ctx;
} gotrace_allocator;

/* Bounds on what one handle may come to hold. Zero means: the default named here. */
typedef struct gotrace_limits {
    uint64_t memory;       /* bytes allocated in all; default 1 GiB */
    uint64_t strings;      /* entries of the string table; default 2^24 */
    uint64_t string_bytes; /* length of one string; default 10^6, as Go's reader has it */
    uint64_t stacks;       /* entries of the stack table; default 2^24 */
    uint64_t frames;       /* frames of one stack; default 1000, as Go's reader has it */
    uint64_t goroutines;   /* goroutines alive at the same time; default 2^24 */
    uint64_t batches;      /* batches in the trace; default 2^28 */
    uint64_t procs;        /* different procs in the trace; default 2^20 */
    uint64_t input;        /* bytes from a pipe or after decompression, which are copied to a
                              temporary file; default 64 GiB */
} gotrace_limits;

/* The members of gotrace_limits in their order, as gotrace_error.limit names them. */
typedef enum gotrace_limit {
    GOTRACE_LIMIT_NONE = 0,
    GOTRACE_LIMIT_MEMORY,
    GOTRACE_LIMIT_STRINGS,
    GOTRACE_LIMIT_STRING_BYTES,
    GOTRACE_LIMIT_STACKS,
    GOTRACE_LIMIT_FRAMES,
    GOTRACE_LIMIT_GOROUTINES,
    GOTRACE_LIMIT_BATCHES,
    GOTRACE_LIMIT_PROCS,
    GOTRACE_LIMIT_INPUT,
    GOTRACE_LIMIT_COUNT
} gotrace_limit;

/* Called for each problem as it is found. Return false to stop reading (the call in progress then
 * returns GOTRACE_ERROR with this problem). The error is valid during the call. */
typedef bool (*gotrace_problem_fn)(void *ctx, const gotrace_error *problem);

/* Called now and then during long work: bytes done of all bytes, in all passes together. */
typedef void (*gotrace_progress_fn)(void *ctx, uint64_t done, uint64_t total);

typedef struct gotrace_config {
    gotrace_allocator allocator; /* resize NULL: malloc and free */
    gotrace_limits limits;
    gotrace_problem_fn on_problem;   /* NULL: problems are counted, reading goes on */
    gotrace_progress_fn on_progress; /* NULL: none */
    void *callback_ctx;              /* passed to both */
    size_t window;                   /* bytes read at a time and per proc; 0: default 64 KiB */
    const char *spool_dir;           /* where temporary files go; NULL: $TMPDIR, else /var/tmp */
} gotrace_config;

/* Fill with defaults (all zero is the same). A NULL config is accepted everywhere. */
GOTRACE_API void gotrace_config_init(gotrace_config *config);

/* ---------------------------------------------------------------------------------------------
 * The format as data: one row an event type (lib/events_v1.def)
 */

typedef enum gotrace_arg_kind {
    GOTRACE_ARG_VALUE = 0,  /* a plain number */
    GOTRACE_ARG_DSEQ,       /* difference to the previous sequence number (1.5) */
    GOTRACE_ARG_DT,         /* difference to the previous time stamp, in ticks */
    GOTRACE_ARG_TICKS,      /* a time stamp, in ticks */
    GOTRACE_ARG_SEQ,        /* a sequence number */
    GOTRACE_ARG_GOROUTINE,  /* a goroutine's id */
    GOTRACE_ARG_PROC,       /* a proc's id */
    GOTRACE_ARG_THREAD,     /* a thread's id */
    GOTRACE_ARG_STRING,     /* a string's id, 0 for the empty string */
    GOTRACE_ARG_STACK,      /* a stack's id, 0 for none */
    GOTRACE_ARG_TASK,       /* a user task's id */
    GOTRACE_ARG_START,      /* where a goroutine starts: a stack's id; until 1.6 a PC */
    GOTRACE_ARG_BYTES,      /* a number of bytes */
    GOTRACE_ARG_ID,         /* the id being defined (String, Stack) */
    GOTRACE_ARG_GENERATION, /* a generation's number */
    GOTRACE_ARG_PSTATUS, /* a proc's state: 1 running, 2 idle, 3 in a system call, 4 left in one */
    GOTRACE_ARG_GSTATUS, /* a goroutine's: 1 runnable, 2 running, 3 in a system call, 4 waiting */
    GOTRACE_ARG_COUNT,   /* how many elements follow (Stack) */
} gotrace_arg_kind;

typedef struct gotrace_arg_spec {
    const char *name;
    uint8_t kind;  /* gotrace_arg_kind */
    uint8_t since; /* first version that has the argument */
    uint8_t until; /* last version that has it, 255 for all */
} gotrace_arg_spec;

enum {
    GOTRACE_SPEC_TIMED = 1,     /* happens at a time, on a proc; starts with (dseq,) dt */
    GOTRACE_SPEC_STACK = 2,     /* its last argument is the stack of where it happened */
    GOTRACE_SPEC_DATA = 4,      /* a length and bytes follow the arguments */
    GOTRACE_SPEC_FRAMES = 8,    /* frames follow the arguments (Stack) */
    GOTRACE_SPEC_ANYWHERE = 16, /* may happen on no proc and, in v2, on no thread */
};

#define GOTRACE_MAX_ARGS 8

/* A change of state: gotrace_state before and after. to UNDETERMINED: no change. */
typedef struct gotrace_change {
    uint8_t from, to;
} gotrace_change;

/* What an event needs its thread (v2) to have. */
enum {
    GOTRACE_NEEDS_THREAD = 1, /* to be known; each of the others implies it */
    GOTRACE_NEEDS_PROC = 2,
    GOTRACE_NEEDS_NO_PROC = 4,
    GOTRACE_NEEDS_GOROUTINE = 8,
    GOTRACE_NEEDS_NO_GOROUTINE = 16,
};

/* Whose event a v1 event is. */
enum {
    GOTRACE_CONTEXT_RUNNING = 0, /* of the goroutine that runs on its proc, if one does */
    GOTRACE_CONTEXT_SUBJECT,     /* of the goroutine that its first argument names */
    GOTRACE_CONTEXT_NONE,        /* of nobody */
};

/* The part of a v1 event in a futile wake-up: a goroutine was unblocked and ran, found nothing to
 * do and blocked again. */
enum {
    GOTRACE_FUTILE_NO = 0,
    GOTRACE_FUTILE_FIRST, /* one begins, of the goroutine in the first argument */
    GOTRACE_FUTILE_GOES_ON,
    GOTRACE_FUTILE_MARK, /* the wake-up was futile */
    GOTRACE_FUTILE_LAST, /* it ends */
};

/* What an event means, what it requires and what it changes (experimental: may change between
 * releases). Sources: v1 Go 1.21's internal/trace/parser.go and order.go, v2 Go 1.27's
 * internal/trace/order.go. */
typedef struct gotrace_semantics {
    uint8_t kind;         /* gotrace_kind */
    uint8_t resource;     /* gotrace_resource: of a transition */
    uint8_t range;        /* gotrace_range: of a range's begin, end or activity */
    uint8_t needs;        /* v2: GOTRACE_NEEDS_* */
    uint8_t context;      /* v1: GOTRACE_CONTEXT_* */
    uint8_t full;         /* v1: a local form: code of the form with a sequence number; else 0 */
    gotrace_change self;  /* of the goroutine in whose context it happens */
    gotrace_change other; /* of the goroutine that its first argument names */
    gotrace_change proc;  /* of the proc that its first argument names, else of its own */
    bool numbered;        /* v2: has a sequence number, one more than that of its subject */
    bool after_steal;     /* v2: if its thread has a proc in a system call, that is taken before */
    bool status;          /* v2: reports a state that was reached earlier */
    bool initial;         /* v1: reports what was so when tracing started */
    bool forever;         /* v1: the goroutine cannot become runnable again */
    bool started;         /* v1: what was so when tracing started has been reported */
    uint8_t futile;       /* v1: GOTRACE_FUTILE_* */
    const char *text;     /* of a metric: its name; of a transition: its reason; or NULL */
} gotrace_semantics;

typedef struct gotrace_event_spec {
    const char *name;    /* as Go's readers print it: "GoCreate" */
    const char *summary; /* what it says, a phrase */
    uint8_t code;        /* type on the wire */
    uint8_t since;       /* first version that has it */
    uint8_t flags;       /* GOTRACE_SPEC_* */
    uint8_t arg_count;
    gotrace_arg_spec args[GOTRACE_MAX_ARGS]; /* wire order, all versions together */
    gotrace_semantics semantics;
} gotrace_event_spec;

/* The row of an event type, or NULL where that version has none. */
GOTRACE_API const gotrace_event_spec *gotrace_event_spec_of(int version, unsigned code);

/* The same by name (exact), for scripts. */
GOTRACE_API const gotrace_event_spec *gotrace_event_spec_named(int version, const char *name);

/* The arguments that the event has in that version, in wire order, into args[GOTRACE_MAX_ARGS];
 * returns their number. Frames and data are not among them. */
GOTRACE_API size_t gotrace_event_args(const gotrace_event_spec *spec, int version,
                                      const gotrace_arg_spec **args);

/* Values a stack frame has on the wire: 1 (PC) before 1.7, 4 (PC, function, file, line) since. */
GOTRACE_API size_t gotrace_frame_values(int version);

/* ---------------------------------------------------------------------------------------------
 * Sources: where bytes come from
 *
 * A source is read at random. Regular files and memory are read where they are; a pipe, a
 * terminal or data that is compressed with zstd or gzip (known by its first bytes) is first copied
 * to a temporary file that has no name and vanishes with the source.
 *
 * Compressed data that is cut off or damaged gives a source with what could be decompressed before
 * that place, unless it is nothing. It is a problem like those of the trace: config->on_problem is
 * called with it, may refuse the source, and gotrace_source_error returns it.
 */

typedef struct gotrace_source gotrace_source;

/* Open a file by name. */
GOTRACE_API gotrace_status gotrace_source_open(const char *path, const gotrace_config *config,
                                               gotrace_source **source, gotrace_error *error);

/* Read a descriptor, which stays the caller's and is borrowed until gotrace_source_close. */
GOTRACE_API gotrace_status gotrace_source_fd(int fd, const gotrace_config *config,
                                             gotrace_source **source, gotrace_error *error);

/* Read memory, which is borrowed until gotrace_source_close. */
GOTRACE_API gotrace_status gotrace_source_memory(const void *data, size_t size,
                                                 const gotrace_config *config,
                                                 gotrace_source **source, gotrace_error *error);

/* Bytes of the trace (after decompression). */
GOTRACE_API uint64_t gotrace_source_size(const gotrace_source *source);

/* Bytes of the compressed input, or 0 where it was not compressed. */
GOTRACE_API uint64_t gotrace_source_compressed_size(const gotrace_source *source);

/* What is wrong with the compressed input, at an offset after decompression: the end of the source.
 * NULL where it was sound or not compressed. */
GOTRACE_API const gotrace_error *gotrace_source_error(const gotrace_source *source);

/* Copy up to size bytes from offset; *got is less than size only at the end of the source. */
GOTRACE_API gotrace_status gotrace_source_read(gotrace_source *source, uint64_t offset,
                                               void *buffer, size_t size, size_t *got,
                                               gotrace_error *error);

GOTRACE_API void gotrace_source_close(gotrace_source *source);

/* ---------------------------------------------------------------------------------------------
 * Records: the file as it stands
 */

/* One record of the file. Pointers live until the next call on the decoder. */
typedef struct gotrace_record {
    const gotrace_event_spec *spec; /* its row */
    uint64_t offset;                /* of its first byte in the trace */
    uint64_t size;                  /* bytes it occupies */
    uint64_t index;                 /* number of records before it */
    const uint64_t *args;           /* all values in wire order: arguments, then frames */
    size_t arg_count;
    const char *data; /* String: its bytes; v1 UserLog: the message; ExperimentalBatch: what it
                         holds; else NULL */
    size_t data_size;
    uint8_t form;          /* v1: high two bits of the first byte, as found; v2: 0 */
    const uint8_t *widths; /* bytes of each varint in wire order: the record's length
                              where form is 3 (a String has none), each value, the data's
                              length; when encoding, NULL, or 0 for one of them: as the
                              version's own tracer writes it */
    size_t width_count;
} gotrace_record;

/* How a version's tracer writes a record: the two high bits of its first byte, and the bytes its
 * n-th varint takes (value v) where that is more than v needs, else 0. Anything else found in a
 * file is a deviation, to be kept for a byte-exact round trip. Source: the seeds' traceEventLocked
 * and traceStackTable.dump (in 1.21 the length of a Stack record always takes ten bytes); for v2
 * Go's traceWriter.refill (the size of a batch takes ten bytes). */
GOTRACE_API uint8_t gotrace_record_form(const gotrace_event_spec *spec, int version);
GOTRACE_API uint8_t gotrace_record_width(const gotrace_event_spec *spec, int version, size_t n);

typedef struct gotrace_decoder gotrace_decoder;

/* A streaming decoder. The contract:
 *
 *   gotrace_decoder_feed    hands over bytes, of any number; they are borrowed until
 *                           gotrace_decoder_next has returned GOTRACE_NEED_INPUT.
 *                           Legal at the start and after GOTRACE_NEED_INPUT.
 *   gotrace_decoder_finish  says that no more bytes come. Legal where feed is.
 *   gotrace_decoder_next    returns GOTRACE_EVENT with a record, GOTRACE_NEED_INPUT when all that
 *                           was fed is used up (an unfinished record is kept inside),
 *                           GOTRACE_END when finished at a record's end, or GOTRACE_ERROR.
 *
 * However the same bytes are cut into pieces, the same records and the same error come out.
 * The header is read by the decoder; gotrace_decoder_version is 0 until it was seen.
 * Arity is checked against the event table (rule event.arity): such a record is reported through
 * on_problem and skipped, because its end is known; all other errors are final. (v2 records say
 * nowhere how long they are: theirs all are.) An ExperimentalBatch holds at most 64 KiB. */
GOTRACE_API gotrace_status gotrace_decoder_new(const gotrace_config *config,
                                               gotrace_decoder **decoder, gotrace_error *error);
GOTRACE_API gotrace_status gotrace_decoder_feed(gotrace_decoder *decoder, const void *bytes,
                                                size_t size);
GOTRACE_API void gotrace_decoder_finish(gotrace_decoder *decoder);
GOTRACE_API gotrace_status gotrace_decoder_next(gotrace_decoder *decoder, gotrace_record *record);
GOTRACE_API int gotrace_decoder_version(const gotrace_decoder *decoder);
GOTRACE_API const gotrace_error *gotrace_decoder_error(const gotrace_decoder *decoder);
GOTRACE_API void gotrace_decoder_free(gotrace_decoder *decoder);

/* ---------------------------------------------------------------------------------------------
 * Events: one total order, one meaning
 */

/* What an event means, whatever version wrote it. */
typedef enum gotrace_kind {
    GOTRACE_KIND_NONE = 0,    /* nothing above the wire (FutileWakeup) */
    GOTRACE_KIND_TRANSITION,  /* a goroutine or proc went from one state to another */
    GOTRACE_KIND_SYSCALL,     /* a system call that did not block: an instant (v1 GoSysCall) */
    GOTRACE_KIND_METRIC,      /* a number changed: text names it ("GOMAXPROCS", "heap allocated",
                                 "heap goal", the latter in bytes), value is the new one */
    GOTRACE_KIND_LABEL,       /* text labels the goroutine from here on */
    GOTRACE_KIND_RANGE_BEGIN, /* something lasting began: range says what */
    GOTRACE_KIND_RANGE_END,
    GOTRACE_KIND_TASK_BEGIN, /* subject: the task, value: its parent (0 none), text: its name */
    GOTRACE_KIND_TASK_END,
    GOTRACE_KIND_REGION_BEGIN, /* subject: the task (0 none), text: the region's name */
    GOTRACE_KIND_REGION_END,
    GOTRACE_KIND_LOG,          /* subject: the task, text: the category, message: the message */
    GOTRACE_KIND_RANGE_ACTIVE, /* something lasting goes on as a generation begins */
    GOTRACE_KIND_SYNC,         /* a generation begins, or (the last one) the trace ends */
    GOTRACE_KIND_EXPERIMENT,   /* an event of an experiment: args as they are */
    GOTRACE_KIND_SAMPLE,       /* a CPU profile sample: goroutine, proc and stack it hit */
} gotrace_kind;

typedef enum gotrace_state {
    GOTRACE_STATE_UNDETERMINED = 0, /* before the trace first tells */
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

typedef enum gotrace_range {
    GOTRACE_RANGE_NONE = 0,
    GOTRACE_RANGE_GC,          /* whole program */
    GOTRACE_RANGE_STW,         /* whole program (until 1.9: one a proc); reason says why */
    GOTRACE_RANGE_SWEEP,       /* on a proc; at its end args[0] swept and args[1] reclaimed bytes */
    GOTRACE_RANGE_MARK_ASSIST, /* on a goroutine */
} gotrace_range;

enum {
    /* Part of a futile wake-up (unblocked, started and blocked again with nothing gained). Go's
     * readers leave these out; here their kind is GOTRACE_KIND_NONE and the states told pass over
     * them. */
    GOTRACE_EVENT_FUTILE = 1,
    /* Tells of what was there when tracing started, not of something that happened. */
    GOTRACE_EVENT_INITIAL = 2,
    /* An event that the rules reject: it was reported as a problem and its claim was believed. */
    GOTRACE_EVENT_SUSPECT = 4,
    /* A GoSysExit whose time is when the call returned, before the goroutine could say so. */
    GOTRACE_EVENT_MOVED = 8,
    /* A sync event with a snapshot of the clocks: args are the trace's time (ns, absolute), the
     * monotonic clock (ns), and seconds and nanoseconds of the wall clock. */
    GOTRACE_EVENT_CLOCKS = 16,
};

/* How the v1 events map to transitions. Goroutines: GoCreate NOT_EXIST (UNDETERMINED with _INITIAL)
 * to RUNNABLE, of subject, by goroutine; GoWaiting RUNNABLE to WAITING and GoInSyscall RUNNABLE to
 * SYSCALL, both _INITIAL; GoStart (text: the label of GoStartLabel) RUNNABLE to RUNNING; GoEnd
 * RUNNING to NOT_EXIST; GoStop, GoSleep, GoBlock* RUNNING to WAITING; GoSched, GoPreempt RUNNING to
 * RUNNABLE; GoUnblock WAITING to RUNNABLE, of subject, by goroutine; GoSysCall RUNNING to SYSCALL
 * if it blocks (else it is a GOTRACE_KIND_SYSCALL); GoSysBlock SYSCALL to SYSCALL: there the
 * goroutine loses its proc (RUNNING to SYSCALL where no GoSysCall told of the call); GoSysExit
 * SYSCALL to RUNNABLE. A run on a proc thus lasts from a transition to RUNNING to the next
 * transition of that goroutine, a GoSysCall aside. Procs: ProcStart IDLE (UNDETERMINED the first
 * time) to RUNNING, ProcStop RUNNING to IDLE.
 *
 * An event in its place in the total order. text and message are valid until gotrace_reader_next is
 * called again or the reader is closed; reason is valid until the reader is closed. */
typedef struct gotrace_event {
    int64_t time;      /* ns since the first event */
    uint64_t ticks;    /* v1: the same in ticks, absolute. v2: in ns on the trace's own clock, as
                          Go's reader gives it */
    uint64_t offset;   /* of the record that told it */
    uint8_t type;      /* the record's code, local variants already replaced by the full ones */
    uint8_t kind;      /* gotrace_kind */
    uint8_t resource;  /* gotrace_resource, of a transition */
    uint8_t from, to;  /* gotrace_state, of a transition */
    uint8_t range;     /* gotrace_range */
    uint8_t flags;     /* GOTRACE_EVENT_* */
    uint8_t arg_count; /* args that mean something for this type and version */
    int64_t proc;      /* the proc it happened on, or GOTRACE_NO_PROC */
    int64_t lane;      /* v1: the proc as Go's v1 reader shows it: 1000001 timers, 1000002 network,
                          1000003 system calls, 1000004 GC, else proc; scripts want it */
    int64_t thread;    /* v1: the thread that runs the proc; v2: the one it happened on; or
                          GOTRACE_NO_THREAD */
    uint64_t generation;  /* v2: its number; 0 in v1. Ids of strings and stacks are valid within a
                             generation only */
    uint64_t goroutine;   /* the goroutine in whose context it happened, 0 for none */
    uint64_t subject;     /* id of the goroutine, proc or task that it is about */
    uint64_t value;       /* of a metric; parent of a task */
    uint64_t stack;       /* where it happened: a stack's id, 0 for none */
    uint64_t start_stack; /* GoCreate: where the new goroutine starts (1.5: a PC instead) */
    uint64_t cause;       /* offset of the event that made a run possible, on the transition to
                             running: the unblock, creation or end of system call; else 0 */
    uint64_t args[4];     /* the record's own arguments, without time and stack */
    const char *reason;   /* why a goroutine waits or stopped running, or the world was stopped;
                             NUL-terminated; NULL where the trace does not give it */
    const char *text;     /* a name, see kind; NULL if there is none; not NUL-terminated */
    size_t text_size;
    const char *message; /* of a log; not NUL-terminated */
    size_t message_size;
} gotrace_event;

/* A frame of a stack. Strings are not NUL-terminated and as long valid as those of
 * gotrace_reader_string. In traces of Go 1.5 and 1.6 there is only the program counter. */
typedef struct gotrace_frame {
    uint64_t pc; /* to write: 0 for a frame without one, see gotrace_frame_pc */
    uint64_t line;
    uint64_t function_id, file_id; /* string ids */
    const char *function;
    size_t function_size;
    const char *file;
    size_t file_size;
} gotrace_frame;

/* What the whole trace is; the parts marked (o) are complete only after GOTRACE_END. */
typedef struct gotrace_summary {
    int version;
    const char *writer; /* "Go", "gccgo", or NULL where that cannot be told */
    uint64_t size;      /* bytes of the trace */
    uint64_t frequency; /* ticks a second, 0 when the footer is missing */
    uint64_t records;   /* all records */
    uint64_t events;    /* timed ones */
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
    uint64_t problems_by_class[8];      /* by gotrace_class */
} gotrace_summary;

/* What lies in the batches of one proc. */
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
    uint64_t events, strings, stacks, samples; /* (o) */
    bool complete;                             /* its end is told, or another one follows */
    bool has_clocks;                           /* the following count (from 1.25) */
    uint64_t clock_ticks, monotonic_ns, wall_seconds, wall_nanoseconds;
} gotrace_generation_summary;

/* What is known of a goroutine that is alive at this point of the reading. */
typedef struct gotrace_goroutine {
    uint64_t id;
    uint64_t start_stack; /* its start function's stack (1.5: a PC), 0 if not known */
    uint64_t creator;     /* the goroutine that created it, 0 if not known */
    int64_t created;      /* ns */
    int64_t since;        /* ns: when it came into its state */
    uint8_t state;        /* gotrace_state */
} gotrace_goroutine;

typedef struct gotrace_reader gotrace_reader;

/* Start reading a source, which is borrowed until gotrace_reader_close. The header is read here:
 * a file that is no trace, or of an unknown version, is refused now. */
GOTRACE_API gotrace_status gotrace_reader_open(gotrace_source *source, const gotrace_config *config,
                                               gotrace_reader **reader, gotrace_error *error);

/* The first pass: skim the file and index its batches, strings, stacks and frequency. Happens by
 * itself at the first gotrace_reader_next or _check; calling it again does nothing. After it the
 * tables and the summary (except what is marked (o)) can be asked for. Even if it fails the
 * summary tells what was read. */
GOTRACE_API gotrace_status gotrace_reader_index(gotrace_reader *reader);

/* The next event in order: GOTRACE_EVENT, GOTRACE_END, or GOTRACE_ERROR (the system or a limit said
 * no, or on_problem asked to stop). Damage in the trace does not end the reading: it is reported as
 * a problem, the event is believed (GOTRACE_EVENT_SUSPECT) and the next one follows; where nothing
 * more can be read (GOTRACE_FATAL), what stands before is delivered. Whether the trace is sound is
 * told by gotrace_summary.problems after the end. */
GOTRACE_API gotrace_status gotrace_reader_next(gotrace_reader *reader, gotrace_event *event);

/* Read to the end without delivering events, which is faster: GOTRACE_END or GOTRACE_ERROR. */
GOTRACE_API gotrace_status gotrace_reader_check(gotrace_reader *reader);

/* The last error of this reader; valid until the reader is closed. */
GOTRACE_API const gotrace_error *gotrace_reader_error(const gotrace_reader *reader);

/* The summary, which reading on brings up to date; valid until the reader is closed. */
GOTRACE_API const gotrace_summary *gotrace_reader_summary(const gotrace_reader *reader);

/* Procs in ascending order; false past the last one. */
GOTRACE_API bool gotrace_reader_proc(const gotrace_reader *reader, size_t n,
                                     gotrace_proc_summary *proc);

/* Generations in the order of the file; false past the last one. */
GOTRACE_API bool gotrace_reader_generation(const gotrace_reader *reader, size_t n,
                                           gotrace_generation_summary *generation);

/* The string with that id (id 0: the empty string), or NULL if the trace has none. Not
 * NUL-terminated. v1: valid until the reader is closed. v2: valid as long as its id, which is until
 * gotrace_reader_next returns an event of another generation (gotrace_event.generation) or fails;
 * after GOTRACE_END, the strings of the last generation are valid until the reader is closed. */
GOTRACE_API const char *gotrace_reader_string(const gotrace_reader *reader, uint64_t id,
                                              size_t *size);

/* Number of frames of a stack, 0 if the trace has no stack of that id. */
GOTRACE_API size_t gotrace_reader_stack_depth(const gotrace_reader *reader, uint64_t id);

/* The frames of a stack, innermost first, at most max of them; returns how many were written. */
GOTRACE_API size_t gotrace_reader_stack(const gotrace_reader *reader, uint64_t id,
                                        gotrace_frame *frames, size_t max);

/* A goroutine alive now; false if there is none of that id. */
GOTRACE_API bool gotrace_reader_goroutine(const gotrace_reader *reader, uint64_t id,
                                          gotrace_goroutine *goroutine);

GOTRACE_API void gotrace_reader_close(gotrace_reader *reader);

/* Names for people: "runnable", "GC mark assist", ... Never NULL. */
GOTRACE_API const char *gotrace_state_name(gotrace_state state);
GOTRACE_API const char *gotrace_range_name(gotrace_range range);
GOTRACE_API const char *gotrace_kind_name(gotrace_kind kind);
/* What a stop-the-world of that kind is for, in a trace of that v1 version: the words of its Go's
 * reader, "unknown" for a number that is no kind. */
GOTRACE_API const char *gotrace_stw_reason(int version, uint64_t kind);

/* ---------------------------------------------------------------------------------------------
 * Writing
 */

/* Takes bytes; returns false when they could not be written (the encoder then fails for good with
 * rule system.write, and os_error from errno). */
typedef bool (*gotrace_write_fn)(void *ctx, const void *bytes, size_t size);

typedef struct gotrace_encoder gotrace_encoder;

/* Write a trace of that version: the header goes out at once. */
GOTRACE_API gotrace_status gotrace_encoder_new(int version, gotrace_write_fn write, void *ctx,
                                               const gotrace_config *config,
                                               gotrace_encoder **encoder, gotrace_error *error);

/* Raw: write one record exactly as told. spec, args, data and (optional) form and widths count,
 * the rest is ignored; form 0xff means: as the version's tracer has it. Arity must fit the table.
 */
GOTRACE_API gotrace_status gotrace_encoder_record(gotrace_encoder *encoder,
                                                  const gotrace_record *record);

/* By event: the tracer's own way, until 1.21 (later versions are written record by record or by
 * meaning, and these calls fail with rule usage). Events of a proc (in the order of their ticks) go
 * into that proc's buffer, which is written as one batch when it has no room for a further event,
 * exactly where that version's tracer flushes (64 KiB less the buffer's header).
 *
 * args are the record's arguments without sequence and time differences and without the final
 * stack id, which is given apart. seq counts in 1.5 only. ticks must not fall (they are raised
 * where that version's tracer raises them: from 1.19 to one more than the last). */
GOTRACE_API gotrace_status gotrace_encoder_event(gotrace_encoder *encoder, int64_t proc,
                                                 const gotrace_event_spec *spec, uint64_t ticks,
                                                 uint64_t seq, const uint64_t *args,
                                                 size_t arg_count, uint64_t stack, const char *data,
                                                 size_t data_size);

/* Whose tracer the by-event calls imitate, where several wrote the same version. */
typedef enum gotrace_tracer {
    GOTRACE_TRACER_GO = 0,  /* the Go that was released with that version; the default */
    GOTRACE_TRACER_GCCGO,   /* gccgo's, which writes version 11: its buffers hold less, because
                               their headers hold a stack with names */
    GOTRACE_TRACER_GO_2023, /* Go's between 1.20 and 1.21, which still says version 19: its footer
                               and the lengths of its stacks are those of 1.21 */
} gotrace_tracer;

/* Choose among tracers; legal before the first by-event call, for a version that it wrote. */
GOTRACE_API gotrace_status gotrace_encoder_tracer(gotrace_encoder *encoder, gotrace_tracer tracer);

/* In place of a proc: the tracers' buffer of CPU samples, whose batches say proc 0. Events of type
 * CPUSample go there whatever proc is told. */
#define GOTRACE_PROC_SAMPLES (INT64_MIN + 1)

/* From 1.11 a batch begins at a time of its own, shortly before its first event. Say which, for the
 * batch that a coming call opens for that proc. Not told, it is the time of what opens the batch
 * (from 1.19 one tick before it, because stamps must differ). */
GOTRACE_API gotrace_status gotrace_encoder_batch_ticks(gotrace_encoder *encoder, int64_t proc,
                                                       uint64_t ticks);

/* Write a proc's buffer now, as tracers do when a proc goes away or tracing stops. */
GOTRACE_API gotrace_status gotrace_encoder_flush(gotrace_encoder *encoder, int64_t proc);

/* A string's id: its record goes into proc's buffer the first time it is seen (from 1.7). */
GOTRACE_API gotrace_status gotrace_encoder_string(gotrace_encoder *encoder, int64_t proc,
                                                  uint64_t ticks, const char *bytes, size_t size,
                                                  uint64_t *id);

/* PCs that are made up begin here: no program has code at these addresses. */
#define GOTRACE_FRAME_PC_MADE ((uint64_t)1 << 52)

/* The program counter (PC) with which a frame is written: its own or, where that is 0, one made of
 * function, file and line. The same frame has the same PC in every stack and every trace. A frame
 * without function, file, line and PC has PC 0.
 *
 * Go's readers need it: a PC is their key of a frame. From 1.22 on they show the first frame of a
 * generation that has a PC in every stack that has it. */
GOTRACE_API uint64_t gotrace_frame_pc(const gotrace_frame *frame);

/* A stack's id: frames innermost first, of gotrace_frame only pc, line, function and file count; a
 * frame without a PC gets that of gotrace_frame_pc. Stacks are written when the encoder finishes,
 * as the tracers do. */
GOTRACE_API gotrace_status gotrace_encoder_stack(gotrace_encoder *encoder,
                                                 const gotrace_frame *frames, size_t count,
                                                 uint64_t *id);

/* Write what is buffered, then (frequency not 0) the footer in the version's order: frequency,
 * timer goroutines (told by event TimerGoroutine) and the stack table, from 1.11 in batches of proc
 * 0 that begin at ticks. The encoder can only be freed after that. */
GOTRACE_API gotrace_status gotrace_encoder_finish(gotrace_encoder *encoder, uint64_t frequency,
                                                  uint64_t ticks);

GOTRACE_API const gotrace_error *gotrace_encoder_error(const gotrace_encoder *encoder);
GOTRACE_API void gotrace_encoder_free(gotrace_encoder *encoder);

/* ---------------------------------------------------------------------------------------------
 * Writing by meaning
 *
 * The caller tells what happened, in order; the writer does what a tracer does: it lays out
 * batches, numbers generations, writes the tables, the sequence numbers, the short ("local") forms,
 * what stands at the start of the trace and of each generation, the clocks and the footer. For
 * each event:
 *
 *   gotrace_writer_at       what time it is now
 *   gotrace_writer_string   ids of the strings and stacks that it refers to; ids are valid as long
 *   gotrace_writer_stack    as gotrace_writer_generation stays the same
 *   gotrace_writer_event    what happens now
 */

typedef struct gotrace_writer gotrace_writer;

/* The same moment on the trace's clock and on those of the system. */
typedef struct gotrace_clocks {
    uint64_t ticks, monotonic_ns, wall_seconds, wall_nanoseconds;
} gotrace_clocks;

typedef struct gotrace_writer_options {
    uint64_t frequency;        /* ticks a second; 0: 10^9, a tick is a nanosecond */
    gotrace_tracer tracer;     /* whose ways, where several tracers wrote that version */
    bool believe;              /* write what cannot have happened too */
    uint64_t generation_ticks; /* v2: how long a generation lasts before the next one begins by
                                  itself; 0: a second, as with Go's; UINT64_MAX: until
                                  gotrace_writer_advance. It lasts longer while fewer events were
                                  written than statuses of goroutines would be */
    gotrace_clocks clocks;     /* from 1.25: at any one time; all 0: as if the clocks of the system
                                  had begun with the trace's */
    bool equal_ticks;          /* v2: times that are told equal on a thread stay so; else the later
                                  one is raised by a tick, as tracers do */
} gotrace_writer_options;

/* Start a trace of that version. NULL options: all 0. */
GOTRACE_API gotrace_status gotrace_writer_new(int version, const gotrace_writer_options *options,
                                              gotrace_write_fn write, void *ctx,
                                              const gotrace_config *config, gotrace_writer **writer,
                                              gotrace_error *error);

/* The arguments of an event that are told to a writer, into args[GOTRACE_MAX_ARGS]; returns their
 * number. They are those of gotrace_event_args less what the writer finds by itself: differences of
 * time and sequence, sequence numbers, and the stack of where it happened. 0 for a row that is not
 * of that version. */
GOTRACE_API size_t gotrace_writer_args(const gotrace_event_spec *spec, int version,
                                       const gotrace_arg_spec **args);

/* Set options.believe from now on. Where it was false, a call that was refused can be repeated with
 * it: the event is written as it is given, and the writer goes on from there. */
GOTRACE_API void gotrace_writer_force(gotrace_writer *writer, bool believe);

/* It is now that late, in ticks, absolute. Time does not fall. v2: begins the next generation, if
 * it is due. */
GOTRACE_API gotrace_status gotrace_writer_at(gotrace_writer *writer, uint64_t ticks);

/* v2: begin the next generation now, at the time last told, with clocks or (NULL) those that follow
 * from what was told of them. Where nothing happened in the present one yet, that is meant, so that
 * this can be called at the start too. In v1 it does nothing. */
GOTRACE_API gotrace_status gotrace_writer_advance(gotrace_writer *writer,
                                                  const gotrace_clocks *clocks);

/* The number of the present generation, from 1 on; of v1 always 1. */
GOTRACE_API uint64_t gotrace_writer_generation(const gotrace_writer *writer);

/* A string's and a stack's id; 0 is the empty string and no stack. From 1.22 on an id is valid as
 * long as gotrace_writer_generation stays the same. As of gotrace_encoder_string and
 * _stack, too long ones are cut where that version's tracer cuts them. proc: v1, in whose buffer a
 * new string is written. */
GOTRACE_API gotrace_status gotrace_writer_string(gotrace_writer *writer, int64_t proc,
                                                 const char *bytes, size_t size, uint64_t *id);

/* A stack's id: frames innermost first, of gotrace_frame only pc, line, function and file count. A
 * frame without a PC gets that of gotrace_frame_pc; so does, from 1.22 on, a frame whose PC another
 * frame of the generation has, which would be shown in its place. */
GOTRACE_API gotrace_status gotrace_writer_stack(gotrace_writer *writer, const gotrace_frame *frames,
                                                size_t count, uint64_t *id);

/* Something that happened, as a row of the writer's version says it. Which row, of v1's pairs: the
 * full one (GoStart, not GoStartLocal); the writer takes the short one where the tracer would.
 *
 * Where: v1 goes by the proc, v2 by the thread, and each may be told the rest (proc, goroutine) of
 * the context in which it happened: it is compared with what the writer has followed so far, and
 * believed where the writer does not know yet. What was there before the trace began is then told
 * by statuses (v2) or as created and waiting (v1) before the first event that needs it, as what
 * that event takes for granted: who is unblocked was waiting, who starts was runnable.
 *
 * A CPUSample happens nowhere: its own arguments tell when and where. A GoSysExit of v1 without a
 * proc is kept, and written where its goroutine starts to run, as tracers do.
 * v2's statuses and active ranges (GoStatus, ProcStatus, GCActive, ...) need not be told; where
 * they are, they are written in their place, and not again. */
typedef struct gotrace_happening {
    const gotrace_event_spec *spec;
    int64_t proc;         /* or GOTRACE_NO_PROC */
    int64_t thread;       /* or GOTRACE_NO_THREAD */
    uint64_t goroutine;   /* in whose context, 0: not told or none */
    const uint64_t *args; /* those that gotrace_writer_args names, in that order */
    size_t arg_count;
    uint64_t stack;   /* an id, 0 for none */
    const char *data; /* v1 UserLog: the message; ExperimentalBatch: what it holds */
    size_t data_size;
} gotrace_happening;

/* Write an event. What cannot have happened (a goroutine that runs starts; an unknown event) is
 * refused: GOTRACE_ERROR, the error names the rule that it would break, nothing is written, and the
 * writer can go on; with options.believe it is written. A string or stack id that this writer
 * did not give, or (from 1.22 on) gave in an earlier generation, is refused too. A failed write or
 * refused memory is final. */
GOTRACE_API gotrace_status gotrace_writer_event(gotrace_writer *writer,
                                                const gotrace_happening *happening);

/* The state of a goroutine, a proc or a thread after the last event that was written
 * (experimental: these three functions may change between releases). What events took for granted
 * counts too: a goroutine that was unblocked without being known was waiting before.
 *
 * UNDETERMINED: the writer does not know it. NOT_EXIST: it has ended (v1 only; in v2, where an id
 * can be used again, a goroutine that ended is not known). Places that do not apply are set to
 * GOTRACE_NO_PROC, GOTRACE_NO_THREAD or goroutine 0; NULL: not wanted. Threads exist in v2 only. */
GOTRACE_API gotrace_state gotrace_writer_goroutine(const gotrace_writer *writer, uint64_t id,
                                                   int64_t *proc, int64_t *thread);
GOTRACE_API gotrace_state gotrace_writer_proc(const gotrace_writer *writer, int64_t id,
                                              int64_t *thread, uint64_t *goroutine);
/* False: the writer does not know the thread. */
GOTRACE_API bool gotrace_writer_thread(const gotrace_writer *writer, int64_t id, int64_t *proc,
                                       uint64_t *goroutine);

/* Write what is buffered, the statuses of what did nothing in the last generation, the tables and
 * the footer. The writer can only be freed after that. */
GOTRACE_API gotrace_status gotrace_writer_finish(gotrace_writer *writer);

GOTRACE_API const gotrace_error *gotrace_writer_error(const gotrace_writer *writer);
GOTRACE_API void gotrace_writer_free(gotrace_writer *writer);

#ifdef __cplusplus
}
#endif

#endif
