/*
 * gotrace_base.h - what all parts of libgotrace share: status, rules, errors, configuration, and
 * the format as data. gotrace.h, which includes it, has the conventions.
 */
#ifndef GOTRACE_BASE_H
#define GOTRACE_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gotrace_events.h"
#include "gotrace_rules.h"

#ifdef __cplusplus
template <typename type> inline type gotrace_init()
{
    type made = type();
    made.size = sizeof made;
    return made;
}

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

/* Initialises a struct that begins with its size: gotrace_config config =
 * GOTRACE_INIT(gotrace_config); Its other members are zero, which selects the defaults. */
#ifdef __cplusplus
#define GOTRACE_INIT(type) gotrace_init<type>()
#else
#define GOTRACE_INIT(type)                                                                         \
    {                                                                                              \
        .size = sizeof(type)                                                                       \
    }
#endif

/* The library's version, "MAJOR.MINOR.PATCH". */
GOTRACE_API const char *gotrace_version(void);

/* Returns the trace versions that this library reads, ascending; *count is set to their number. */
GOTRACE_API const int *gotrace_versions(size_t *count);

/* The first version of the v2 format, whose traces have generations and events by thread. */
#define GOTRACE_FIRST_V2 22

/* A release of Go, and the version of the traces that it writes. */
typedef struct gotrace_release {
    const char *name; /* "go1.24" */
    int minor;        /* 24 */
    int version;      /* 23: Go 1.24 writes "go 1.23 trace" */
} gotrace_release;

/* Returns the n-th known release, ascending from 0; NULL past the last one. */
GOTRACE_API const gotrace_release *gotrace_release_at(size_t n);

/* Returns the version of the traces that Go 1.minor writes: 23 for 24; 0 for an unknown release.
 * Every function with a version argument also accepts a release, which means this version. */
GOTRACE_API int gotrace_release_version(int minor);

/* Values that mean "none" or "unknown". */
#define GOTRACE_NO_OFFSET UINT64_MAX
#define GOTRACE_NO_PROC   INT32_MIN /* (proc -1 is a real one: the tracer's global buffer) */
#define GOTRACE_NO_THREAD INT64_MIN
#define GOTRACE_NO_TIME   INT64_MIN

/* ---------------------------------------------------------------------------------------------
 * Status, rules and errors
 */

typedef enum gotrace_status {
    GOTRACE_OK = 0,
    GOTRACE_EVENT = 1,      /* a record or an event was delivered */
    GOTRACE_NEED_INPUT = 2, /* all input was consumed; feed more or call gotrace_decoder_finish */
    GOTRACE_END = 3,        /* the trace is complete; further calls return this again */
    GOTRACE_ERROR = -1,     /* see the gotrace_error; further calls return this again */
} gotrace_status;

/* The class of a problem, from which `gotrace validate` derives its verdict. */
typedef enum gotrace_class {
    GOTRACE_CLASS_NONE = 0,
    GOTRACE_CLASS_MALFORMED,    /* the bytes do not follow the format */
    GOTRACE_CLASS_INCONSISTENT, /* well-formed, but contains events that cannot have happened */
    GOTRACE_CLASS_CLOCKS,       /* timestamps contradict the order of the events */
    GOTRACE_CLASS_UNFINISHED,   /* the trace ends early: no footer, or cut off */
    GOTRACE_CLASS_UNSUPPORTED,  /* a version that this library does not read */
    GOTRACE_CLASS_SYSTEM,       /* input/output, memory, limits */
    GOTRACE_CLASS_USAGE,        /* an error of the caller or of the script */
} gotrace_class;

typedef enum gotrace_severity {
    GOTRACE_NOTE = 0,
    GOTRACE_WARNING, /* the trace is still sound */
    GOTRACE_PROBLEM, /* the trace is not sound; reading continues */
    GOTRACE_FATAL,   /* the rest of the trace cannot be read */
} gotrace_severity;

/* The rules, one for each row of GOTRACE_RULES. */
typedef enum gotrace_rule {
#define GOTRACE_RULE_NUMBER(number, name, id, class, severity, wants, source)                      \
    GOTRACE_RULE_##name = number,
    GOTRACE_RULES(GOTRACE_RULE_NUMBER)
#undef GOTRACE_RULE_NUMBER
} gotrace_rule;

typedef struct gotrace_rule_info {
    gotrace_rule rule;
    const char *id;     /* stable name, "wire.varint" */
    const char *wants;  /* what the rule requires, a sentence */
    const char *source; /* origin of the rule: a tracer, or Go's reader */
    gotrace_class class_;
    gotrace_severity severity;
} gotrace_rule_info;

/* Returns the description of a rule; never NULL (for an unknown number, that of
 * GOTRACE_RULE_NONE). */
GOTRACE_API const gotrace_rule_info *gotrace_rule_describe(gotrace_rule rule);

/* Returns the description of the n-th rule, from 0 (GOTRACE_RULE_NONE), related ones side by side;
 * NULL past the last one. */
GOTRACE_API const gotrace_rule_info *gotrace_rule_at(size_t n);

/* Returns the name of a class: "malformed", "inconsistent", "broken clocks", ... */
GOTRACE_API const char *gotrace_class_name(gotrace_class class_);

/* A problem of a trace, or the reason why a call failed. Plain data that may be copied. A function
 * fills as much of it as size says, so initialise it before you pass it: GOTRACE_INIT. */
typedef struct gotrace_error {
    size_t size;               /* 0 in errors that the library hands out, so that a copy of one can
                                  be passed to a function */
    gotrace_rule rule;         /* the violated rule; GOTRACE_RULE_NONE if there is no error */
    gotrace_severity severity; /* the rule's */
    gotrace_class class_;      /* the rule's */
    int os_error;              /* errno of a failed system call, else 0 */
    int limit;                 /* rule system.limit: the gotrace_limit that was reached, else 0 */
    uint64_t offset;           /* byte in the trace (after decompression), or GOTRACE_NO_OFFSET */
    uint64_t batch;            /* index of the batch in file order, or GOTRACE_NO_OFFSET */
    uint64_t event;            /* index of the record in file order, or GOTRACE_NO_OFFSET */
    char message[232];         /* what was found, and what was expected; UTF-8, no newline */
    /* Of a problem with an event of the user's code (tasks, regions, mark assists); if goroutine is
     * 0 and function is "", the others do not count: */
    int64_t time;       /* of the event, ns since the first event */
    uint64_t goroutine; /* in whose context it happened, 0 for none */
    uint64_t line;      /* the innermost frame of its stack outside of the runtime: line, ... */
    char function[128]; /* ... function and ... */
    char file[128];     /* ... file, "" if not known; of longer ones the first, or of a file the
                           last bytes */
} gotrace_error;

/* ---------------------------------------------------------------------------------------------
 * Configuration: allocator, limits, callbacks
 */

/* Like realloc, with the old size as an argument: resize(ctx, NULL, 0, n) allocates, resize(ctx, p,
 * n, 0) frees and returns NULL. On failure it returns NULL and leaves the old block unchanged.
 * Fixed: what else an allocator needs is in its ctx. */
typedef struct gotrace_allocator {
    void *(*resize)(void *ctx, void *block, size_t old_size, size_t new_size);
    void *ctx;
} gotrace_allocator;

/* Resource limits of one handle. Zero selects the default. */
typedef struct gotrace_limits {
    size_t size;
    uint64_t memory;       /* total bytes allocated; default 1 GiB */
    uint64_t strings;      /* entries of the string table; default 2^24 */
    uint64_t string_bytes; /* length of one string; default 10^6, as in Go's reader */
    uint64_t stacks;       /* entries of the stack table; default 2^24 */
    uint64_t frames;       /* frames of one stack; default 1000, as in Go's reader */
    uint64_t goroutines;   /* goroutines alive at the same time; default 2^24 */
    uint64_t batches;      /* batches in the trace; default 2^28 */
    uint64_t procs;        /* different procs in the trace; default 2^20 */
    uint64_t input; /* bytes from a pipe or after decompression, which are copied to a temporary
                       file; default 64 GiB */
} gotrace_limits;

/* The members of gotrace_limits in order, for gotrace_error.limit. */
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
} gotrace_limit;

/* Called for each problem when it is found. Returns false to stop reading (the current call then
 * returns GOTRACE_ERROR with this problem). The error is valid during the call. */
typedef bool (*gotrace_problem_fn)(void *ctx, const gotrace_error *problem);

/* Called regularly during long work: bytes done out of total, in all passes together. */
typedef void (*gotrace_progress_fn)(void *ctx, uint64_t done, uint64_t total);

/* How a handle works. NULL is accepted everywhere: all members zero. */
typedef struct gotrace_config {
    size_t size;
    gotrace_allocator allocator;     /* resize NULL: malloc and free */
    const gotrace_limits *limits;    /* NULL: the defaults */
    gotrace_problem_fn on_problem;   /* NULL: problems are only counted */
    gotrace_progress_fn on_progress; /* NULL: none */
    void *callback_ctx;              /* passed to both */
    bool every_problem;              /* report each inconsistency that may follow from damage, and
                                        not only their number (rule order.consequence), and
                                        unused strings and stacks (rule table.unused) */
    size_t window;                   /* bytes read at a time and for each proc; 0: default 64 KiB */
    const char *spool_dir;           /* folder for temporary files; NULL: $TMPDIR, else /var/tmp */
    size_t threads;                  /* threads that a reader may use, including the caller's; 0: 1.
                                        Results are the same for every number. Callbacks are called
                                        from the caller's thread; the allocator from any, by one at
                                        a time */
} gotrace_config;

/* ---------------------------------------------------------------------------------------------
 * The format as data: one row an event type (lib/events_v1.def)
 */

typedef enum gotrace_arg_kind {
    GOTRACE_ARG_VALUE = 0,  /* a plain number */
    GOTRACE_ARG_DSEQ,       /* delta to the previous sequence number (1.5) */
    GOTRACE_ARG_DT,         /* delta to the previous timestamp, in ticks */
    GOTRACE_ARG_TICKS,      /* a timestamp, in ticks */
    GOTRACE_ARG_SEQ,        /* a sequence number */
    GOTRACE_ARG_GOROUTINE,  /* a goroutine's id */
    GOTRACE_ARG_PROC,       /* a proc's id */
    GOTRACE_ARG_THREAD,     /* a thread's id */
    GOTRACE_ARG_STRING,     /* a string's id, 0 for the empty string */
    GOTRACE_ARG_STACK,      /* a stack's id, 0 for none */
    GOTRACE_ARG_TASK,       /* a user task's id */
    GOTRACE_ARG_START,      /* where a goroutine starts: a stack's id; up to 1.6 a PC */
    GOTRACE_ARG_BYTES,      /* a number of bytes */
    GOTRACE_ARG_ID,         /* the id being defined (String, Stack) */
    GOTRACE_ARG_GENERATION, /* a generation's number */
    GOTRACE_ARG_PSTATUS, /* a proc's state: 1 running, 2 idle, 3 in a system call, 4 left in one */
    GOTRACE_ARG_GSTATUS, /* a goroutine's: 1 runnable, 2 running, 3 in a system call, 4 waiting */
    GOTRACE_ARG_COUNT,   /* how many elements follow (Stack) */
} gotrace_arg_kind;

/* Fixed: the arguments of an event are an array. */
typedef struct gotrace_arg_spec {
    const char *name;
    uint8_t kind;  /* gotrace_arg_kind */
    uint8_t since; /* first version that has the argument */
    uint8_t until; /* last version that has it, 255 for all */
} gotrace_arg_spec;

/* gotrace_event_spec.flags */
enum gotrace_spec_flags {
    GOTRACE_SPEC_TIMED = 1,     /* happens at a time, on a proc; starts with (dseq,) dt */
    GOTRACE_SPEC_STACK = 2,     /* its last argument is the stack of the event */
    GOTRACE_SPEC_DATA = 4,      /* a length and bytes follow the arguments */
    GOTRACE_SPEC_FRAMES = 8,    /* frames follow the arguments (Stack) */
    GOTRACE_SPEC_ANYWHERE = 16, /* may happen without a proc and, in v2, without a thread */
};

/* No event of any release has more arguments. */
#define GOTRACE_MAX_ARGS 16

/* The row of an event type. It belongs to the library, and is the same pointer in every call. */
typedef struct gotrace_event_spec {
    const char *name;    /* name in the output of Go's readers: "GoCreate" */
    const char *summary; /* description, a phrase */
    uint8_t code;        /* type in the file */
    uint8_t since;       /* first version that has it */
    uint8_t flags;       /* GOTRACE_SPEC_* */
    uint8_t arg_count;
    const gotrace_arg_spec *args;              /* file order, all versions together; arg_count */
    const struct gotrace_semantics *semantics; /* see gotrace_experimental.h */
} gotrace_event_spec;

/* Returns the row of an event type, or NULL if the version does not have it. */
GOTRACE_API const gotrace_event_spec *gotrace_event_spec_of(int version, unsigned code);

/* The same by exact name, for scripts. */
GOTRACE_API const gotrace_event_spec *gotrace_event_spec_named(int version, const char *name);

/* Set *args to the arguments of the event in that version, in file order (args[GOTRACE_MAX_ARGS]);
 * returns their number. Frames and data are not included. */
GOTRACE_API size_t gotrace_event_args(const gotrace_event_spec *spec, int version,
                                      const gotrace_arg_spec **args);

/* Returns the number of values per stack frame in the file: 1 (PC) before 1.7, then 4 (PC,
 * function, file, line). */
GOTRACE_API size_t gotrace_frame_values(int version);

#ifdef __cplusplus
}
#endif

#endif
