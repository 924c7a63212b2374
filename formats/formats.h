/*
 * formats.h - what a trace can be turned into, and what can be turned into a trace.
 *
 * Everything here stands on the public library (gotrace.h) alone. A format is one row of
 * `formats` (formats.c) and one or more files named after it.
 */
#ifndef FORMATS_H
#define FORMATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "gotrace.h"

/* ---- out: buffered output with one sticky error -------------------------------------------- */

/* Buffered output. Callers need not check each call: after the first failure everything is dropped,
 * and out_flush returns false. */
typedef struct out_thread out_thread;

typedef struct out {
    gotrace_write_fn write;
    void *ctx;
    char *buffer;
    size_t used, capacity;
    uint64_t written; /* bytes handed to write, or to the thread, so far */
    bool failed;
    int error; /* errno of a failure that was not write's: of memory, or a temporary file */
    bool threaded;
    out_thread *thread; /* NULL unless one is at work */
} out;

bool out_init(out *o, gotrace_write_fn write, void *ctx);
/* Write out what is buffered; false if this or any earlier write failed. */
bool out_flush(out *o);
void out_free(out *o);

/* Once the buffer has been full, have write called in a thread of its own, while the next bytes are
 * made. Failures show when the buffer is full again, or in out_flush. */
void out_write_beside(out *o);
/* Until what write was called for is done: before anything else is done with what it writes to.
 * False if this or any earlier write failed. */
bool out_wait(out *o);

/* out_thread.c: start the thread, which may fail; give it the full buffer for an empty one; end it.
 */
void out_use_thread(out *o);
bool out_thread_take(out *o);
void out_thread_free(out_thread *thread);

/* Say that the output cannot be completed for another reason than a failed write. */
void out_fail(out *o, int error);

/* What does not fit into the buffer any more. */
void out_overflow(out *o, const void *bytes, size_t size);

/* These are inline because most of what is written is constant and short: then copying it takes a
 * move or two. */
static inline void out_bytes(out *o, const void *bytes, size_t size)
{
    if (size > o->capacity - o->used) {
        out_overflow(o, bytes, size);
    } else if (size > 0) {
        memcpy(o->buffer + o->used, bytes, size);
        o->used += size;
    }
}

static inline void out_str(out *o, const char *s)
{
    out_bytes(o, s, strlen(s));
}

static inline void out_char(out *o, char c)
{
    out_bytes(o, &c, 1);
}

void out_decimal(out *o, uint64_t v);

static inline void out_u64(out *o, uint64_t v)
{
    if (v < 10 && o->used < o->capacity)
        o->buffer[o->used++] = (char)('0' + v);
    else
        out_decimal(o, v);
}

void out_i64(out *o, int64_t v);
void out_hex(out *o, uint64_t v);
void out_printf(out *o, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A JSON string with its quotes. Bytes that are not UTF-8 become U+FFFD: see script/json.c for what
 * needs to be exact. */
void out_json_string(out *o, const char *s, size_t size);
/* The same without the quotes, for strings that are put together. */
void out_json_text(out *o, const char *s, size_t size);
/* A Go string literal, as fmt's %q writes it. */
void out_go_quoted(out *o, const char *s, size_t size);
/* The same without the quotes, for strings that are put together. */
void out_go_text(out *o, const char *s, size_t size);
/* A time of the wall clock, counted from 1970, in the time zone of whoever reads it: what Go's
 * layout RFC3339Nano makes of time.Unix. */
void out_wall_clock(out *o, uint64_t seconds, uint64_t nanoseconds);

/* ---- functions: properties by name ---------------------------------------------------------- */

/* Write a function's name as people say it: the last element of its package's path, not that of a
 * module's version, and what follows: "bar.(*Server).Serve.func1" for
 * "github.com/foo/bar/v2.(*Server).Serve.func1". Types in brackets stay as they are. At most room
 * bytes, not terminated; returns how many. */
size_t function_short(char *dst, size_t room, const char *name, size_t size);

/* Whether goroutines that start at this function belong to the runtime, as in Go's tools. */
bool function_is_system(const char *name, size_t size);

/* ---- converting: an ordered trace into something else -------------------------------------- */

/* What a timeline's rows stand for, where a format leaves the choice. */
typedef enum view_by { BY_PROC, BY_GOROUTINE, BY_THREAD } view_by;

/* Parts of a timeline that can be asked for, as options name them. */
#define CONVERT_PARTS(X)                                                                           \
    X(PROCS, "procs")                                                                              \
    X(GOROUTINES, "goroutines")                                                                    \
    X(THREADS, "threads")                                                                          \
    X(GC, "gc")                                                                                    \
    X(TASKS, "tasks")                                                                              \
    X(REGIONS, "regions")                                                                          \
    X(LOGS, "logs")                                                                                \
    X(COUNTERS, "counters")                                                                        \
    X(FLOWS, "flows")                                                                              \
    X(SAMPLES, "samples")

enum {
#define CONVERT_NUMBER(name, text) PART_##name,
    CONVERT_PARTS(CONVERT_NUMBER) PART_COUNT
#undef CONVERT_NUMBER
};

/* NULL past the last. */
const char *convert_part_name(size_t n);

/* How the times of several traces are brought onto one line. */
typedef enum convert_alignment {
    ALIGNED_ALONE = 0, /* there is only one */
    ALIGNED_NOT,       /* each begins at zero */
    ALIGNED_MONOTONIC, /* they were recorded since the same start of one machine */
    ALIGNED_REALTIME,  /* by the wall clocks of several machines */
} convert_alignment;

/* Traces that go into one output, one after another. */
typedef struct convert_series {
    convert_alignment alignment;
    unsigned index;  /* of the trace at hand */
    uint64_t tracks; /* numbers taken by those before */
} convert_series;

/* A thousand leave their processes' ids below 2^31. */
enum { CONVERT_MOST_TRACES = 1000 };

/* Determine the alignment from the clocks at the beginning of the traces. */
convert_alignment convert_align(gotrace_source *const *sources, size_t count);

typedef struct convert_job {
    gotrace_reader *reader; /* opened; indexed by the format */
    out *out;
    const char *name;             /* name of the program if the trace does not contain it */
    view_by by;                   /* what has a row, where the format leaves the choice */
    gotrace_source *source;       /* what the reader reads, for another look at it; NULL: none */
    const gotrace_config *config; /* whose limits hold for that look; NULL: defaults */
    bool no_system;               /* leave out the goroutines of the runtime */
    bool thread_runs;       /* show on threads each run of a goroutine, not what proc they have */
    unsigned parts;         /* a bit for each wanted part, 1 << PART_*; 0: all */
    convert_series *series; /* NULL if the trace is the only one */
    int64_t from, to;       /* ns: show what happens between; to 0: until the end */
    /* Where part_size is not 0, the format writes documents of about so many bytes, and calls
     * next_part before each but the first: false if there is no going on. */
    uint64_t part_size;
    bool (*next_part)(void *ctx);
    void *ctx;
} convert_job;

/* A format that `convert --to` knows. run returns GOTRACE_END when the whole trace was written,
 * GOTRACE_ERROR when reading failed (gotrace_reader_error; what was read is written and the
 * output is well-formed all the same). A failed write is found by the caller in out_flush. */
typedef struct format {
    const char *name;              /* "perfetto" */
    const char *const *extensions; /* ".pftrace", ..., NULL at the end */
    const char *summary;
    bool binary;      /* not for terminals */
    bool large;       /* large output for its content */
    bool views;       /* leaves a choice of rows, and can be split */
    bool several;     /* understands a job's series */
    bool thread_runs; /* and the choice of what threads show */
    /* A viewer that does not load more bytes than that, before compression. */
    uint64_t viewer_bytes;
    const char *viewer;
    /* Those of some parts, 1 << PART_*, that come to something in that view. */
    unsigned (*narrows)(unsigned parts, view_by by);
    gotrace_status (*run)(const convert_job *job);
} format;

extern const format *const formats[]; /* NULL at the end */
const format *format_by_name(const char *name);
const format *format_by_path(const char *path);

extern const format format_perfetto, format_chrome;

/* ---- versions: a trace as another version would have it -------------------------------------- */

enum { VERSION_LOSS_KINDS = 32 };

/* What the other version has no way to say. */
typedef struct version_losses {
    uint64_t counts[VERSION_LOSS_KINDS];
    int source;           /* the version that was converted */
    uint64_t events[256]; /* by its codes: events that the other has nothing like */
    uint64_t impossible;  /* events that were left out because they cannot have happened */
    gotrace_error first;  /* why, of the first */
} version_losses;

typedef struct version_job {
    gotrace_source *source;
    gotrace_reader *reader; /* of that source, opened */
    int version;            /* to be written */
    gotrace_write_fn write;
    void *ctx;
    const gotrace_config *config; /* of the writer, and of another look at the source */
} version_job;

/* Write the whole trace. GOTRACE_END when it was, GOTRACE_ERROR when reading or writing failed
 * (then what was written is not whole). */
gotrace_status version_convert(const version_job *job, version_losses *losses,
                               gotrace_error *error);

/* The n-th thing that was left out, for people ("CPU samples: 3 left out, go 1.11 has none"), into
 * text; false past the last one. */
bool version_loss(const version_losses *losses, int version, size_t n, char *text, size_t size);

/* ---- printing: ordered events for people and programs -------------------------------------- */

typedef struct printer {
    const char *name; /* "text", "go", "jsonl" */
    const char *summary;
    void (*event)(out *o, gotrace_reader *reader, const gotrace_event *event);
} printer;

extern const printer *const printers[]; /* NULL at the end */
const printer *printer_by_name(const char *name);

/* ---- scripts: the records of a file in another dress, and back ------------------------------ */

/* What a script by meaning says of a trace or an event: see script.h. */
typedef struct script_event script_event;

/* A dress that event scripts come in: text, json, jsonl, cbor. All carry the same raw records
 * and events by meaning. */
typedef struct script_format {
    const char *name;
    const char *const *extensions;
    const char *summary;
    bool binary; /* not for terminals */
    /* Write a script. begin, then record for each, then end. Nothing but out is kept. */
    void (*begin)(out *o, int version);
    void (*record)(out *o, int version, const gotrace_record *record, bool first);
    void (*end)(out *o);
    /* The same for a script by meaning, which ends likewise. */
    void (*head)(out *o, int version, const script_event *head);
    void (*event)(out *o, const script_event *event, bool first);
} script_format;

extern const script_format *const script_formats[]; /* NULL at the end */
const script_format *script_by_name(const char *name);

/* A script by meaning: the events of a reader, which is read to its end, and what experiments wrote
 * beside theirs, which is searched for in its source. */
typedef struct script_dumping {
    gotrace_source *source;
    gotrace_reader *reader;
    const gotrace_limits *limits;
    const script_format *how;
    out *out;
} script_dumping;

/* Write it. GOTRACE_END, or GOTRACE_ERROR, and *error, when reading failed; a failed write is found
 * in out_flush. */
gotrace_status script_dump_meaning(const script_dumping *dumping, gotrace_error *error);

/* A script's error: where in the script. */
typedef struct script_error {
    uint64_t line;       /* from 1; 0 where there is none */
    uint64_t column;     /* from 1; 0 where it is not known */
    uint64_t offset;     /* of CBOR, the byte, from 0; else GOTRACE_NO_OFFSET */
    uint64_t event;      /* index of the event, from 0 */
    gotrace_error error; /* rule usage, or the encoder's, or the system's; message without place */
} script_error;

/* Read a script from input (text, JSON, JSON Lines or CBOR: recognised by its first bytes) and
 * write the trace it describes. Text and JSON Lines are read line by line, CBOR item by item, in
 * bounded memory; a JSON document is read whole, if it has no more bytes than the config's limit of
 * memory. */
gotrace_status script_synthesize(FILE *input, gotrace_write_fn write, void *ctx,
                                 const gotrace_config *config, script_error *error);

typedef struct script_options {
    bool force; /* write events by meaning that cannot have happened too */
    /* Called with each error of the script, in order; an error that follows from an earlier one is
     * left out. NULL: the first error ends the work. */
    void (*report)(void *ctx, const script_error *error);
    void *report_ctx;
} script_options;

/* The same with options. Nothing more is written after an error; *error is the first one, or the
 * system's. */
gotrace_status script_synthesize_as(FILE *input, gotrace_write_fn write, void *ctx,
                                    const gotrace_config *config, const script_options *options,
                                    script_error *error);
/* ---- generating: traces of programs that do not exist ---------------------------------------- */

/* What a trace is to be made of. The same job gives the same bytes on every machine. */
typedef struct gen_job {
    uint64_t seed;
    int version;
    uint64_t events;            /* of the program; statuses and tables come on top */
    uint64_t procs, goroutines; /* at most so many at a time */
    const char *profile;        /* what the program does: gen_profile_name; NULL: the first */
    bool cover;                 /* each event of the version, once at least */
} gen_job;

enum { GEN_MOST_PROCS = 1024, GEN_FEWEST_GOROUTINES = 16, GEN_MOST_GOROUTINES = 1000000 };

const char *gen_profile_name(size_t n); /* NULL past the last */

/* Write such a trace. Memory depends on procs and goroutines, not on events. */
gotrace_status gen_write(const gen_job *job, gotrace_write_fn write, void *ctx,
                         const gotrace_config *config, gotrace_error *error);

/* What was broken, and where. */
typedef struct gen_planted {
    int version;
    uint64_t offset;  /* in the trace */
    const char *what; /* a constant */
} gen_planted;

/* The same, with one rule broken in one place. Job.version 0: the first one in which that can be.
 * The sound trace waits in a temporary file. */
gotrace_status gen_write_defect(const gen_job *job, gotrace_rule rule, gotrace_write_fn write,
                                void *ctx, const gotrace_config *config, gen_planted *planted,
                                gotrace_error *error);
/* The rules that can be broken, by id; NULL past the last. */
const char *gen_defect_name(size_t n);

#endif
