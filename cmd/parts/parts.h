/*
 * parts.h - split a trace into parts, and merge them.
 *
 * Parts are traces; the format has no field that marks them as parts. All that merging needs is in
 * the batches: owner, start time, generation, frequency. Batches are copied unchanged where
 * possible, since each is self-contained: it begins with a time (and until 1.6 a sequence number).
 * The strings and stacks that they refer to are copied too. Parts of different traces are
 * recognised by frequencies, clocks, and procs or threads that occur in two parts (fit.c); a
 * missing part by an event that waits for something that no part contains, or by the absence of
 * something that every generation contains (missing.c).
 */
#ifndef PARTS_H
#define PARTS_H

#include <inttypes.h>

#include "formats/common/fill_error.h"
#include "formats/common/out.h"

/* ---- interface for the program --------------------------------------------------------------- */

typedef enum parts_by { PARTS_BY_PROC, PARTS_BY_THREAD, PARTS_BY_GENERATION } parts_by;

/* Returns NULL if n is too large. */
const char *parts_by_name(size_t n);

typedef struct parts_split_job {
    gotrace_source *source;
    const gotrace_config *config;
    parts_by by;
    /* Returns where the next part goes; NULL: stop. name identifies the part: "p3", "m18871",
     * "gen2". */
    out *(*next)(void *ctx, const char *name);
    void *ctx;
} parts_split_job;

/* Writes the parts one after another. Damage is passed to the config's on_problem; what can be read
 * is written. Returns GOTRACE_ERROR on a system error, an exceeded limit, or with rule usage if the
 * trace cannot be split that way. */
gotrace_status parts_split(const parts_split_job *job, gotrace_error *error);

typedef struct parts_merge_job {
    const gotrace_config *config;
    size_t count; /* number of parts */
    int version;  /* of parts without a header; 0: unspecified */
    uint64_t frequency;
    const char *(*name)(void *ctx, size_t part);
    /* Opens a part. If *reopenable is set to true, it may be closed and opened again. */
    gotrace_source *(*open)(void *ctx, size_t part, bool *reopenable, gotrace_error *error);
    void (*problem)(void *ctx, size_t part, const gotrace_error *problem);
    /* Receives a message for each reason why parts do not fit, or are missing. */
    void (*misfit)(void *ctx, const char *message);
    void *ctx;
} parts_merge_job;

typedef struct parts_merge parts_merge;

/* Open and index all parts; *fit says whether they belong to one trace. If not, misfit receives the
 * reasons. Returns GOTRACE_ERROR on a system error, an exceeded limit, or with rule usage for wrong
 * arguments. */
gotrace_status parts_merge_open(const parts_merge_job *job, parts_merge **merge, bool *fit,
                                gotrace_error *error);
/* Write the merged trace; stops early if the output fails. */
gotrace_status parts_merge_write(parts_merge *merge, out *o, gotrace_error *error);
/* Pass signs of a missing part to misfit. waits: events of the merged trace wait for missing ones;
 * then these are procs or threads that are mentioned but have no events, otherwise what a
 * generation lacks. */
gotrace_status parts_merge_missing(parts_merge *merge, bool waits, gotrace_error *error);
void parts_merge_close(parts_merge *merge);

/* ---- memory, within the config's limit ------------------------------------------------------- */

typedef struct parts_memory {
    uint64_t used, limit;
} parts_memory;

/* The config's memory limit. */
uint64_t parts_limit(const gotrace_config *config);

/* Enlarge a list to at least count elements; false, with *error set, if that is impossible. */
bool parts_grow(parts_memory *memory, void *list, size_t *capacity, size_t count, size_t size,
                gotrace_error *error);
void parts_drop(parts_memory *memory, void *list, size_t capacity, size_t size);

/* Decode a varint of at most ten bytes; false if it does not end before end. */
bool parts_varint(const uint8_t **p, const uint8_t *end, uint64_t *value);

/* ---- records of a byte range ----------------------------------------------------------------- */

enum {
    PARTS_HEADER = 16,           /* size of a trace's header */
    PARTS_MAX_BATCH = 64 * 1024, /* largest size of a v2 batch */
    PARTS_PIECE = 256 * 1024,    /* bytes read at a time */
};

typedef enum parts_ref { PARTS_REF_NONE = 0, PARTS_REF_STRING, PARTS_REF_STACK } parts_ref;

/* The kind of table that each argument refers to, by event code. */
typedef struct parts_shape {
    int version;
    uint8_t refs[256][GOTRACE_MAX_ARGS];
} parts_shape;

void parts_shape_init(parts_shape *shape, int version);
parts_ref parts_ref_of(const parts_shape *shape, const gotrace_record *record, size_t n);

/* Decodes records of byte ranges of a source with one decoder. */
typedef struct parts_walker {
    gotrace_config config;
    const gotrace_config *user;
    int version;
    gotrace_decoder *decoder;
    uint64_t fed;   /* bytes passed to the decoder */
    uint64_t shift; /* added to the decoder's offsets to get those of the source */
    bool unsure;    /* a record was skipped after the last one delivered */
    char *piece;
} parts_walker;

typedef gotrace_status (*parts_record_fn)(void *ctx, const gotrace_record *record,
                                          gotrace_error *error);

bool parts_walker_init(parts_walker *w, int version, const gotrace_config *config,
                       gotrace_error *error);
/* Call fn for each record, with its offset in the source, while it returns GOTRACE_OK. An error of
 * a class other than SYSTEM is in the data; the records before it have been passed to fn. */
gotrace_status parts_walk(parts_walker *w, gotrace_source *source, uint64_t offset, uint64_t size,
                          parts_record_fn fn, void *ctx, gotrace_error *error);
void parts_walker_free(parts_walker *w);

/* ---- index of a file ------------------------------------------------------------------------- */

/* In the order in which a generation's batches are written. */
typedef enum parts_kind {
    PARTS_SYNC = 0, /* v2: frequency and clocks */
    PARTS_EVENTS,   /* v2: including those of experiments */
    PARTS_SAMPLES,
    PARTS_STACKS,
    PARTS_STRINGS,
    PARTS_END,    /* v2: EndOfGeneration */
    PARTS_TABLES, /* v1: a batch without events, that is, the footer */
} parts_kind;

typedef struct parts_batch {
    uint64_t offset, size; /* in the source */
    uint64_t generation;   /* v1: 0 */
    uint64_t owner;        /* v1: proc; v2: thread */
    uint64_t time;         /* ticks at the start */
    uint64_t last;         /* ticks of the last event; v2: unknown, equal to time */
    uint64_t rank;         /* time, raised to at least that of the owner's previous batch */
    uint32_t input;        /* number of the source */
    uint8_t kind;          /* parts_kind */
    bool partial;          /* contains records that must not be copied */
} parts_batch;

typedef struct parts_batches {
    parts_batch *list;
    size_t count, capacity;
} parts_batches;

/* Parts are merged by the numbers of generations, so these must differ. From 1.26 on, readers
 * accept generations with the same number. sync: the first clocks of a generation in a file. */
bool parts_begins_again(int version, const parts_batch *sync, const parts_batch *b);
#define PARTS_REPEATED                                                                             \
    "several generations have the number %" PRIu64 ", and parts are merged by these numbers; "     \
    "'gotrace convert --to go1.%d' writes the trace with different ones"

/* The place of a string or stack in the source. */
typedef struct parts_entry {
    uint64_t id, offset;
    uint64_t mapped; /* merging: its id in the output */
    uint32_t size;
    uint32_t mark; /* splitting: number of the last part that used it; merging v1: defined in a
                      batch of events */
} parts_entry;

typedef struct parts_table {
    parts_entry *list;
    size_t count, capacity;
} parts_table;

bool parts_table_add(parts_table *table, parts_memory *memory, const gotrace_record *record,
                     gotrace_error *error);
/* Sort the entries from first on by id; of equal ids the last one is kept. */
void parts_table_sort(parts_table *table, size_t first);
parts_entry *parts_table_find(const parts_table *table, size_t first, size_t end, uint64_t id);

typedef struct parts_input {
    gotrace_source *source;
    int version;
    bool bare;          /* v1 batches without a header */
    uint64_t frequency; /* v1; 0: unspecified */
    uint64_t footer;    /* v1: ticks of the footer's batch; 0: it has none */
    uint64_t last;      /* v1: ticks of the last event */
    uint64_t *timers;   /* v1: goroutines that run timers */
    size_t timer_count, timer_capacity;
    parts_table strings, stacks; /* v1 */
} parts_input;

/* Arguments for indexing a file. */
typedef struct parts_scan {
    parts_input *input;
    uint32_t number; /* of the input */
    parts_walker *walker;
    parts_batches *batches; /* batches are appended, in the order of the file */
    parts_memory *memory;
    const gotrace_config *config;
    void (*problem)(void *ctx, uint32_t number, const gotrace_error *problem);
    void *ctx;
} parts_scan;

/* Read the header: sets version (0 if unknown) and bare. */
gotrace_status parts_input_probe(parts_input *input, const gotrace_config *config,
                                 gotrace_error *error);
/* Index the batches, and in v1 the tables. Damage is passed to problem; GOTRACE_ERROR if a system
 * call failed. */
gotrace_status parts_input_index(const parts_scan *scan, gotrace_error *error);
gotrace_status parts_index_v2(const parts_scan *scan, gotrace_error *error);
void parts_input_free(parts_input *input, parts_memory *memory);

/* Add the strings or stacks that a batch defines. */
gotrace_status parts_load(const parts_scan *scan, const parts_batch *batch, parts_table *table,
                          gotrace_error *error);

/* ---- writing -------------------------------------------------------------------------------- */

/* A growing buffer. */
typedef struct parts_bytes {
    uint8_t *bytes;
    size_t count, capacity;
} parts_bytes;

/* Append a record, encoded as by the version's tracer, with args instead of its own (NULL: its
 * own). Unchanged varints keep their width. */
bool parts_put_record(parts_bytes *b, parts_memory *memory, int version,
                      const gotrace_record *record, const uint64_t *args, gotrace_error *error);

/* The version in a trace's header at bytes; 0 if there is no header. */
int parts_header_at(const uint8_t *bytes, size_t size);

/* Write the header of a trace. */
void parts_put_header(out *o, int version);

/* Copy bytes of a source. */
gotrace_status parts_copy(out *o, gotrace_source *source, uint64_t offset, uint64_t size,
                          gotrace_error *error);

/* Collects records of tables in batches. */
typedef struct parts_pack {
    out *o;
    int version;
    uint64_t generation, thread, time;
    uint8_t marker; /* v2: first byte of the batch; 0: none */
    size_t used;
    uint8_t bytes[PARTS_MAX_BATCH];
} parts_pack;

void parts_pack_begin(parts_pack *p, uint8_t marker);
void parts_pack_add(parts_pack *p, const void *bytes, size_t size);
/* Write the batch, unless it is empty. */
void parts_pack_end(parts_pack *p);

#endif
