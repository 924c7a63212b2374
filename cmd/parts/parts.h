/*
 * parts.h - a trace in parts: taken apart by what its batches belong to, and put together again.
 *
 * Parts are traces themselves, and nothing in them says that they are parts: there is no room for
 * it in the format. What merging needs is in the batches: whose they are, when they begin, of which
 * generation they are, at which frequency the clock ticks. Batches are copied as they stand
 * wherever that is possible, because they are whole: each begins with a time (and until 1.6 a
 * sequence number) of its own. What they refer to, strings and stacks, is brought along.
 */
#ifndef PARTS_H
#define PARTS_H

#include "formats/common/fill_error.h"
#include "formats/formats.h"

/* ---- for the program ------------------------------------------------------------------------ */

typedef enum parts_by { PARTS_BY_PROC, PARTS_BY_THREAD, PARTS_BY_GENERATION } parts_by;

/* NULL past the last. */
const char *parts_by_name(size_t n);

typedef struct parts_split_job {
    gotrace_source *source;
    const gotrace_config *config;
    parts_by by;
    /* Begin a part: where it is to go, or NULL to stop. name is what it is a part of: "p3",
     * "m18871", "gen2". */
    out *(*next)(void *ctx, const char *name);
    void *ctx;
} parts_split_job;

/* Write the parts, one after another. Damage is reported to the config's on_problem, and what can
 * be read is written. GOTRACE_ERROR: rule usage where a trace cannot be split that way, the system
 * or a limit. */
gotrace_status parts_split(const parts_split_job *job, gotrace_error *error);

typedef struct parts_merge_job {
    const gotrace_config *config;
    size_t count; /* of the parts */
    int version;  /* of parts without a header; 0: unspecified */
    uint64_t frequency;
    const char *(*name)(void *ctx, size_t part);
    /* Open a part; it is closed and opened again as needed, where again says that this can be. */
    gotrace_source *(*open)(void *ctx, size_t part, bool *again, gotrace_error *error);
    void (*problem)(void *ctx, size_t part, const gotrace_error *problem);
    /* What is missing, or does not fit, a sentence each. */
    void (*misfit)(void *ctx, const char *message);
    void *ctx;
} parts_merge_job;

typedef struct parts_merge parts_merge;

/* Look at all parts. GOTRACE_ERROR: the system, a limit, or (rule usage) the call; *fit tells
 * whether they belong together, else why not was told to misfit. */
gotrace_status parts_merge_open(const parts_merge_job *job, parts_merge **merge, bool *fit,
                                gotrace_error *error);
/* Write the trace that they are parts of; stops early where the output failed. */
gotrace_status parts_merge_write(parts_merge *merge, out *o, gotrace_error *error);
/* Tell to misfit who is named in the parts and has no events in them, where the trace turned out
 * not to have what its events wait for (waits); else what else speaks for a part that is not there.
 */
gotrace_status parts_merge_missing(parts_merge *merge, bool waits, gotrace_error *error);
void parts_merge_close(parts_merge *merge);

/* ---- memory, within the config's limit ------------------------------------------------------- */

typedef struct parts_memory {
    uint64_t used, limit;
} parts_memory;

/* What the config allows. */
uint64_t parts_limit(const gotrace_config *config);

/* Make room for count elements of that size; false, and *error, if there is none. */
bool parts_grow(parts_memory *memory, void *list, size_t *capacity, size_t count, size_t size,
                gotrace_error *error);
void parts_drop(parts_memory *memory, void *list, size_t capacity, size_t size);

/* A varint of at most ten bytes; false where it does not end before end. */
bool parts_varint(const uint8_t **p, const uint8_t *end, uint64_t *value);

/* ---- records of a range --------------------------------------------------------------------- */

enum {
    PARTS_HEADER = 16,        /* bytes of a trace's header */
    PARTS_MOST = 64 * 1024,   /* bytes of a batch */
    PARTS_PIECE = 256 * 1024, /* bytes read at a time */
};

typedef enum parts_ref { PARTS_REF_NONE = 0, PARTS_REF_STRING, PARTS_REF_STACK } parts_ref;

/* Which arguments refer to tables, by code. */
typedef struct parts_shape {
    int version;
    uint8_t refs[256][GOTRACE_MAX_ARGS];
} parts_shape;

void parts_shape_init(parts_shape *shape, int version);
parts_ref parts_ref_of(const parts_shape *shape, const gotrace_record *record, size_t n);

/* Reads records out of ranges of sources: a decoder that is fed batch by batch. */
typedef struct parts_walker {
    gotrace_config config;
    const gotrace_config *user;
    int version;
    gotrace_decoder *decoder;
    uint64_t fed;   /* bytes that the decoder has got */
    uint64_t shift; /* what leads from the decoder's offsets to the source's */
    bool unsure;    /* a record was skipped after the last one delivered */
    char *piece;
} parts_walker;

typedef gotrace_status (*parts_record_fn)(void *ctx, const gotrace_record *record,
                                          gotrace_error *error);

bool parts_walker_init(parts_walker *w, int version, const gotrace_config *config,
                       gotrace_error *error);
/* Call fn for each record, with its offset in the source, until it does not return GOTRACE_OK. An
 * error of class other than SYSTEM is the range's: the records before it were handed on. */
gotrace_status parts_walk(parts_walker *w, gotrace_source *source, uint64_t offset, uint64_t size,
                          parts_record_fn fn, void *ctx, gotrace_error *error);
void parts_walker_free(parts_walker *w);

/* ---- what a file has ------------------------------------------------------------------------ */

/* In the order in which a generation's batches are written. */
typedef enum parts_kind {
    PARTS_SYNC = 0, /* v2: frequency and clocks */
    PARTS_EVENTS,   /* v2: those of experiments as well */
    PARTS_SAMPLES,
    PARTS_STACKS,
    PARTS_STRINGS,
    PARTS_END,    /* v2: EndOfGeneration */
    PARTS_TABLES, /* v1: a batch without an event: the footer */
} parts_kind;

typedef struct parts_batch {
    uint64_t offset, size; /* in its source */
    uint64_t generation;   /* v1: 0 */
    uint64_t owner;        /* v1: the proc; v2: the thread */
    uint64_t time;         /* ticks at which it begins */
    uint64_t last;         /* ticks of its last event; v2: not known, time */
    uint64_t rank;         /* time, but not less than that of the owner's batch before */
    uint32_t input;        /* the number of its source */
    uint8_t kind;          /* parts_kind */
    bool mend;             /* it holds more than is to be copied */
} parts_batch;

typedef struct parts_batches {
    parts_batch *list;
    size_t count, capacity;
} parts_batches;

/* A string or a stack, where it stands. */
typedef struct parts_entry {
    uint64_t id, offset;
    uint64_t mapped; /* merging: its id in the trace */
    uint32_t size;
    uint32_t mark; /* splitting: the part that used it last; merging v1: stands among events */
} parts_entry;

typedef struct parts_table {
    parts_entry *list;
    size_t count, capacity;
} parts_table;

bool parts_table_add(parts_table *table, parts_memory *memory, const gotrace_record *record,
                     gotrace_error *error);
/* By id, of several of the same the last one stands; of those from first on. */
void parts_table_sort(parts_table *table, size_t first);
parts_entry *parts_table_find(const parts_table *table, size_t first, size_t end, uint64_t id);

typedef struct parts_input {
    gotrace_source *source;
    int version;
    bool bare;          /* batches of v1 without a header */
    uint64_t frequency; /* v1; 0: unspecified */
    uint64_t footer;    /* v1: ticks of the footer's batch */
    uint64_t *timers;   /* v1: goroutines that run timers */
    size_t timer_count, timer_capacity;
    parts_table strings, stacks; /* v1 */
} parts_input;

/* What an index is made with. */
typedef struct parts_scan {
    parts_input *input;
    uint32_t number; /* of the input */
    parts_walker *walker;
    parts_batches *batches; /* where its batches are added, in their order */
    parts_memory *memory;
    const gotrace_config *config;
    void (*problem)(void *ctx, uint32_t number, const gotrace_error *problem);
    void *ctx;
} parts_scan;

/* Read the header: version and bare (version 0 if it does not say). */
gotrace_status parts_input_probe(parts_input *input, const gotrace_config *config,
                                 gotrace_error *error);
/* Find batches, and in v1 the tables. Damage is reported to problem; GOTRACE_ERROR: a system call
 * failed. */
gotrace_status parts_input_index(const parts_scan *scan, gotrace_error *error);
gotrace_status parts_index_v2(const parts_scan *scan, gotrace_error *error);
void parts_input_free(parts_input *input, parts_memory *memory);

/* Add the strings or stacks that a batch defines. */
gotrace_status parts_load(const parts_scan *scan, const parts_batch *batch, parts_table *table,
                          gotrace_error *error);

/* ---- writing -------------------------------------------------------------------------------- */

/* Bytes that are gathered. */
typedef struct parts_bytes {
    uint8_t *bytes;
    size_t count, capacity;
} parts_bytes;

/* Append the record as the version's tracer has it, with args in place of its own (NULL: its own)
 * and the number of bytes of what has not changed kept. */
bool parts_put_record(parts_bytes *b, parts_memory *memory, int version,
                      const gotrace_record *record, const uint64_t *args, gotrace_error *error);

/* The version of which a trace's header stands here, 0 if there is none. */
int parts_header_at(const uint8_t *bytes, size_t size);

/* Write the header of a trace. */
void parts_put_header(out *o, int version);

/* Copy bytes of a source as they stand. */
gotrace_status parts_copy(out *o, gotrace_source *source, uint64_t offset, uint64_t size,
                          gotrace_error *error);

/* Records of tables, gathered into batches. */
typedef struct parts_pack {
    out *o;
    int version;
    uint64_t generation, thread, time;
    uint8_t marker; /* v2: what the batch starts with; 0: nothing */
    size_t used;
    uint8_t bytes[PARTS_MOST];
} parts_pack;

void parts_pack_begin(parts_pack *p, uint8_t marker);
void parts_pack_add(parts_pack *p, const void *bytes, size_t size);
/* Write the batch; of nothing, none. */
void parts_pack_end(parts_pack *p);

#endif
