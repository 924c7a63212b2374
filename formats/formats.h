/*
 * formats.h - the registry of the formats that `convert` writes.
 *
 * Uses only the public library (gotrace.h). A format has a folder and one row of `formats`
 * (formats.c). Printers, scripts and other versions of traces have headers in their folders:
 * print/printer.h, script/scripts.h, trace/convert.h.
 */
#ifndef FORMATS_H
#define FORMATS_H

#include "formats/common/out.h"

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
    void *state;     /* of a format that has end_series */
    uint64_t tracks; /* track ids used by the earlier traces */
} convert_series;

/* With 1000 traces, process ids stay below 2^31. */
enum { CONVERT_MOST_TRACES = 1000 };

/* Determines the alignment from the clocks at the beginning of each trace. */
convert_alignment convert_align(gotrace_source *const *sources, size_t count);

/* The files of a format that writes several to a folder. */
typedef struct convert_folder {
    void *ctx;
    /* Opens the file for a table of that name; NULL: it failed, and was reported. */
    out *(*open)(void *ctx, const char *table);
    void *state; /* of the format, between traces; NULL before the first */
    bool failed; /* memory was refused */
} convert_folder;

/* What is known of a file after it was read. */
typedef struct convert_verdict {
    const char *name;          /* one to three words */
    uint64_t errors, warnings; /* found in it */
    int64_t lost_bytes;        /* of its data; below 0: not known */
    bool recovered;            /* it is damaged: its events are what could be recovered */
} convert_verdict;

typedef struct convert_job {
    gotrace_reader *reader; /* opened; indexed by the format */
    out *out;
    const char *name;             /* program name to use if the trace does not contain it */
    const char *path;             /* of the file */
    convert_folder *folder;       /* what a format writes to that has end_folder, instead of out */
    gotrace_source *source;       /* the reader's source, for a second reader; NULL: none */
    const gotrace_config *config; /* limits of that second reader; NULL: defaults */
    bool no_system;               /* omit the goroutines of the runtime */
    unsigned parts;               /* selected parts, 1 << PART_*; 0: all */
    convert_series *series;       /* NULL if the trace is the only one */
    int64_t from, to;             /* timelines: the time range in ns; to 0: until the end */
    struct select_job
        *select;      /* what is included; timelines: --goroutine alone; NULL: everything */
    bool *empty;      /* profiles: set to whether there are no samples; or NULL */
    unsigned threads; /* that compute, in formats that support it; 0: one */
    bool recovered;   /* the trace is damaged: this is what could be recovered */
    const struct ticks_gap *gaps; /* then: when what is lost was recorded */
    size_t gap_count;
    const void *options; /* of the format alone, the struct of its options.h; NULL: defaults */
} convert_job;

/* A format of `convert --to`. run returns GOTRACE_END when the whole trace was written, and
 * GOTRACE_ERROR when reading failed (gotrace_reader_error; the output has the events before the
 * error and is well-formed). The caller detects a failed write in out_flush. */
typedef struct format {
    const char *name;              /* "perfetto" */
    const char *const *extensions; /* ".pftrace", ..., ends with NULL */
    const char *summary;
    bool binary;   /* must not go to a terminal */
    bool large;    /* the output is large compared with the trace */
    bool several;  /* supports several traces in one output */
    bool profiles; /* it is a profile: supports all of select, and no parts */
    bool report;   /* it is a report: supports all of select, and no parts */
    /* The viewer named here loads at most this many bytes (before compression). */
    uint64_t viewer_bytes;
    const char *viewer;
    /* Bytes of output for a byte of a large trace, measured: of quiet and of busy programs. */
    double growth[2];
    const char *instead; /* what to do with several traces, if it does not support them */
    /* Of the parts of the job, the ones that have an effect with its options; NULL: all. */
    unsigned (*narrows)(const convert_job *job);
    gotrace_status (*run)(const convert_job *job);
    /* Of a format whose output is a sum of several traces: run of each one only reads it, and this
     * writes the output after the last one. NULL: run writes what is of its trace. */
    void (*end_series)(const convert_job *job);
    /* Of a format that writes to a folder: end_trace is called for each file, after run; of a file
     * that could not be read it is the only one. end_folder ends the files after the last trace, or
     * (not keep) discards them. */
    void (*end_trace)(const convert_job *job, const convert_verdict *verdict);
    void (*end_folder)(convert_folder *folder, bool keep);
} format;

extern const format *const formats[]; /* ends with NULL */
const format *format_by_name(const char *name);
const format *format_by_path(const char *path);

extern const format format_perfetto, format_pprof, format_folded, format_speedscope, format_chrome,
    format_html, format_parquet;

#endif
