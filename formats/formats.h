/*
 * formats.h - what a trace can be converted to, and what a trace can be made from.
 *
 * Uses only the public library (gotrace.h). A format is one row of `formats` (formats.c) and one or
 * more files named after it.
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

/* Buffered output. Callers need not check each call: after the first failure all output is dropped,
 * and out_flush returns false. */
typedef struct out_thread out_thread;

typedef struct out {
    gotrace_write_fn write;
    void *ctx;
    char *buffer;
    size_t used, capacity;
    uint64_t written; /* bytes passed to write or to the thread so far */
    bool failed;
    int error; /* errno of a failure other than of write: memory or a temporary file */
    bool threaded;
    out_thread *thread; /* NULL if there is none */
} out;

bool out_init(out *o, gotrace_write_fn write, void *ctx);
/* Writes the buffered bytes. False if this or any earlier write failed. */
bool out_flush(out *o);
void out_free(out *o);

/* From the first full buffer on, calls write in a separate thread while the caller produces the
 * next bytes. Failures show when the buffer is full again, or in out_flush. */
void out_write_in_thread(out *o);
/* Waits until the thread has written everything passed to it. Required before anything else uses
 * the destination. False if this or any earlier write failed. */
bool out_wait(out *o);

/* out_thread.c: starts the thread, which may fail; exchanges the full buffer for an empty one; ends
 * the thread. */
void out_use_thread(out *o);
bool out_thread_take(out *o);
void out_thread_free(out_thread *thread);

/* Marks the output as failed for a reason other than a failed write. */
void out_fail(out *o, int error);

/* The part of out_bytes for bytes that do not fit into the buffer. */
void out_overflow(out *o, const void *bytes, size_t size);

/* Inline because most output is constant and short: the compiler then copies it with one or two
 * moves. */
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

/* A JSON string with its quotes. Bytes that are not UTF-8 become U+FFFD; script/json.c preserves
 * them. */
void out_json_string(out *o, const char *s, size_t size);
/* The same without the quotes, for strings written in several pieces. */
void out_json_text(out *o, const char *s, size_t size);
/* A Go string literal, as fmt's %q writes it. */
void out_go_quoted(out *o, const char *s, size_t size);
/* The same without the quotes, for strings written in several pieces. */
void out_go_text(out *o, const char *s, size_t size);
/* A wall-clock time, counted from 1970, in the local time zone, in Go's layout RFC3339Nano. */
void out_wall_clock(out *o, uint64_t seconds, uint64_t nanoseconds);

/* ---- functions: properties by name ---------------------------------------------------------- */

/* Writes the short name of a function: without the directories of its package path, and without the
 * element for a module version: "bar.(*Server).Serve.func1" for
 * "github.com/foo/bar/v2.(*Server).Serve.func1". Types in brackets are not shortened. Writes at
 * most room bytes, not terminated; returns how many. */
size_t function_short(char *dst, size_t room, const char *name, size_t size);

/* Whether goroutines that start at this function belong to the runtime, by the rule of Go's
 * tools. */
bool function_is_system(const char *name, size_t size);

/* ---- conversion: from an ordered trace to something else ------------------------------------- */

/* What a timeline has one row for, in formats that offer the choice. */
typedef enum view_by { BY_PROC, BY_GOROUTINE, BY_THREAD } view_by;

/* Parts of a timeline that can be selected, with their names in options. */
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

/* NULL after the last. */
const char *convert_part_name(size_t n);

/* How the times of several traces are mapped to one time axis. */
typedef enum convert_alignment {
    ALIGNED_ALONE = 0, /* there is only one trace */
    ALIGNED_NOT,       /* each trace begins at zero */
    ALIGNED_MONOTONIC, /* by the monotonic clock: one machine, no reboot between */
    ALIGNED_REALTIME,  /* by the wall clocks, which may be those of several machines */
} convert_alignment;

/* State of a conversion of several traces into one output. */
typedef struct convert_series {
    convert_alignment alignment;
    unsigned index;  /* of the current trace */
    uint64_t tracks; /* track ids used by the earlier traces */
} convert_series;

/* With 1000 traces, process ids stay below 2^31. */
enum { CONVERT_MOST_TRACES = 1000 };

/* Determines the alignment from the clocks at the beginning of each trace. */
convert_alignment convert_align(gotrace_source *const *sources, size_t count);

typedef struct convert_job {
    gotrace_reader *reader; /* opened; indexed by the format */
    out *out;
    const char *name;             /* program name to use if the trace does not contain it */
    view_by by;                   /* what has a row, in formats that offer the choice */
    gotrace_source *source;       /* the reader's source, for a second reader; NULL: none */
    const gotrace_config *config; /* limits of that second reader; NULL: defaults */
    bool no_system;               /* omit the goroutines of the runtime */
    bool thread_runs;             /* threads show each run of a goroutine instead of the proc */
    unsigned parts;               /* selected parts, 1 << PART_*; 0: all */
    convert_series *series;       /* NULL if the trace is the only one */
    int64_t from, to;             /* ns: the time range to show; to 0: until the end */
    /* If part_size is not 0, the format writes several documents of about that many bytes, and
     * calls next_part before each but the first. next_part returns false to stop. */
    uint64_t part_size;
    bool (*next_part)(void *ctx);
    void *ctx;
} convert_job;

/* A format of `convert --to`. run returns GOTRACE_END when the whole trace was written, and
 * GOTRACE_ERROR when reading failed (gotrace_reader_error; the output has the events before the
 * error and is well-formed). The caller detects a failed write in out_flush. */
typedef struct format {
    const char *name;              /* "perfetto" */
    const char *const *extensions; /* ".pftrace", ..., ends with NULL */
    const char *summary;
    bool binary;      /* must not go to a terminal */
    bool large;       /* the output is large compared with the trace */
    bool views;       /* supports view_by and part_size */
    bool several;     /* supports several traces in one output */
    bool thread_runs; /* supports thread_runs */
    /* The viewer named here loads at most this many bytes (before compression). */
    uint64_t viewer_bytes;
    const char *viewer;
    /* Of these parts (1 << PART_*), the ones that have an effect in that view. */
    unsigned (*narrows)(unsigned parts, view_by by);
    gotrace_status (*run)(const convert_job *job);
} format;

extern const format *const formats[]; /* ends with NULL */
const format *format_by_name(const char *name);
const format *format_by_path(const char *path);

extern const format format_perfetto, format_chrome;

/* ---- versions: a trace in another version of the format -------------------------------------- */

enum { VERSION_LOSS_KINDS = 32 };

/* What the target version cannot represent. */
typedef struct version_losses {
    uint64_t counts[VERSION_LOSS_KINDS];
    int source;           /* the version of the input */
    uint64_t events[256]; /* by event code of the input: events without an equivalent */
    uint64_t impossible;  /* events omitted because the recorded state does not allow them */
    gotrace_error first;  /* the reason for the first of them */
} version_losses;

typedef struct version_job {
    gotrace_source *source;
    gotrace_reader *reader; /* an open reader of that source */
    int version;            /* the version to write */
    gotrace_write_fn write;
    void *ctx;
    const gotrace_config *config; /* for the writer, and for a second reader of the source */
} version_job;

/* Writes the whole trace. Returns GOTRACE_END on success, GOTRACE_ERROR when reading or writing
 * failed (the output is then incomplete). */
gotrace_status version_convert(const version_job *job, version_losses *losses,
                               gotrace_error *error);

/* Describes the n-th kind of omitted data ("CPU samples: 3 left out, go 1.11 has none") into text;
 * false after the last. */
bool version_loss(const version_losses *losses, int version, size_t n, char *text, size_t size);

/* ---- printing: ordered events for people and programs -------------------------------------- */

typedef struct printer {
    const char *name; /* "text", "go", "jsonl" */
    const char *summary;
    void (*event)(out *o, gotrace_reader *reader, const gotrace_event *event);
} printer;

extern const printer *const printers[]; /* ends with NULL */
const printer *printer_by_name(const char *name);

/* ---- scripts: the records of a file in another encoding, and back ---------------------------- */

/* An event or the head of a script by meaning: see script.h. */
typedef struct script_event script_event;

/* An encoding of event scripts: text, json, jsonl, cbor. All can represent the same raw records and
 * the same events by meaning. */
typedef struct script_format {
    const char *name;
    const char *const *extensions;
    const char *summary;
    bool binary; /* must not go to a terminal */
    /* Writes a script: begin, record for each record, end. The only state is in out. */
    void (*begin)(out *o, int version);
    void (*record)(out *o, int version, const gotrace_record *record, bool first);
    void (*end)(out *o);
    /* The same for a script by meaning; finish with end. */
    void (*head)(out *o, int version, const script_event *head);
    void (*event)(out *o, const script_event *event, bool first);
} script_format;

extern const script_format *const script_formats[]; /* ends with NULL */
const script_format *script_by_name(const char *name);

/* A script by meaning: all remaining events of the reader, and the data batches of experiments,
 * which are read from the source. */
typedef struct script_dump_job {
    gotrace_source *source;
    gotrace_reader *reader;
    const gotrace_limits *limits;
    const script_format *how;
    out *out;
} script_dump_job;

/* Writes the script. Returns GOTRACE_END, or GOTRACE_ERROR and *error when reading failed.
 * out_flush reports a failed write. */
gotrace_status script_dump_meaning(const script_dump_job *dumping, gotrace_error *error);

/* An error in a script, with its position there. */
typedef struct script_error {
    uint64_t line;       /* from 1; 0: none */
    uint64_t column;     /* from 1; 0: unknown */
    uint64_t offset;     /* CBOR: byte offset from 0; else GOTRACE_NO_OFFSET */
    uint64_t event;      /* index of the event, from 0 */
    gotrace_error error; /* rule usage, or from encoder or system; message without position */
} script_error;

/* Reads a script (text, JSON, JSON Lines or CBOR, recognised by its first bytes) and writes the
 * trace that it describes. Text and JSON Lines are read line by line and CBOR item by item, in
 * bounded memory. A JSON document is read as a whole and may not be larger than the memory limit of
 * config. */
gotrace_status script_synthesize(FILE *input, gotrace_write_fn write, void *ctx,
                                 const gotrace_config *config, script_error *error);

typedef struct script_options {
    bool force; /* also write events by meaning that the recorded state does not allow */
    /* Called for each error of the script, in order, except errors that follow from an earlier one.
     * NULL: stop at the first error. */
    void (*report)(void *ctx, const script_error *error);
    void *report_ctx;
} script_options;

/* The same with options. After an error nothing more is written; *error is the first error of the
 * script or an error of the system. */
gotrace_status script_synthesize_as(FILE *input, gotrace_write_fn write, void *ctx,
                                    const gotrace_config *config, const script_options *options,
                                    script_error *error);
/* ---- generation: synthetic traces ------------------------------------------------------------ */

/* Parameters of a synthetic trace. The same job produces the same bytes on every machine. */
typedef struct gen_job {
    uint64_t seed;
    int version;
    uint64_t events;            /* of the program; statuses and tables are added to these */
    uint64_t procs, goroutines; /* maximum number at a time */
    const char *profile;        /* workload, a gen_profile_name; NULL: the first */
    bool cover;                 /* include each event of the version at least once */
} gen_job;

enum { GEN_MAX_PROCS = 1024, GEN_MIN_GOROUTINES = 16, GEN_MAX_GOROUTINES = 1000000 };

const char *gen_profile_name(size_t n); /* NULL after the last */

/* Writes the trace. Memory depends on procs and goroutines, not on events. */
gotrace_status gen_write(const gen_job *job, gotrace_write_fn write, void *ctx,
                         const gotrace_config *config, gotrace_error *error);

/* What was broken, and where. */
typedef struct gen_planted {
    int version;
    uint64_t offset;  /* in the trace */
    const char *what; /* static string */
} gen_planted;

/* The same, with one rule broken in one place. If job.version is 0, the first version in which the
 * rule can be broken. The sound trace is buffered in a temporary file. */
gotrace_status gen_write_defect(const gen_job *job, gotrace_rule rule, gotrace_write_fn write,
                                void *ctx, const gotrace_config *config, gen_planted *planted,
                                gotrace_error *error);
/* The ids of the rules that can be broken; NULL after the last. */
const char *gen_defect_name(size_t n);

#endif
