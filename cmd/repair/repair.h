/*
 * repair.h - make a valid trace of a damaged one, and report what was lost.
 *
 * The steps, from bytes upwards; each is taken only if the one before was not sufficient:
 *
 *   cut     repair.c         A file may hold several traces, or other data before and after. A
 *                            trace begins at each header that is followed by a batch.
 *   guess   headless.c       Without a header: decide whether this is a trace, and of which
 *                            version.
 *   scan    scan.c           Find sound batches. Records are read until one is invalid in the
 *                            version; then the next batch is searched. A v2 header (generation,
 *                            thread, time, size) is accepted if the records in the batch are whole,
 *                            a v1 header if records follow it.
 *   resume  resume.c         Find the rest of a damaged batch of events by parsing backwards.
 *   mend    mend.c           Drop duplicate batches, sort batches that changed places, correct an
 *                            impossible generation to that of its neighbours. If a batch overlaps
 *                            the next one in time, or (v2) is far from its generation, change one
 *                            time delta, else the batch's own time.
 *   image   image.c          Make a trace of these batches, copied unchanged where possible, and
 *                            add missing tables, clocks and ends of generations: placeholders
 *                            contain the ids of lost strings and stacks; a frequency is estimated
 *                            and reported. names.c: names of the runtime come from other
 *                            generations.
 *   rebuild rebuild.c        If rules are still violated: pass the reader's events, in its order,
 *                            to a writer, which assigns new numbers.
 *   prepare prepare.c        Before an event that the writer rejects, add the events that must
 *                            have happened (a goroutine that starts was unblocked, one that runs
 *                            elsewhere was stopped); drop the event if that is impossible.
 *   window  window.c         v2: of many generations, rebuild only those that violate rules, and
 *                            their neighbours, as a trace of their own.
 *   keep    generations.c    v2: of the result, take only the generations that violated rules;
 *                            copy the others unchanged.
 *   match   boundary.c       Make a rebuilt generation end in the states in which the next one
 *                            begins.
 *   store   store.c          The file, and in v1 the traces made of it, are in temporary files
 *                            unless they are small.
 *
 * A sound trace is copied unchanged, unless gotrace_reader_find_damage finds altered times and the
 * trace is sound with corrected ones.
 *
 * v1: how often a trace is read does not depend on the number of faults. The file is read by the
 * reader and scanned. The image is read once: its events are passed to a writer while the reader
 * finds out whether rules are violated. The result is read to check it. The image is read a second
 * time only if its events are not in the order of their times and the first result is not good.
 * The scan collects what later steps need of all records of a batch (its highest goroutine, whether
 * it has tables), so that they read only few batches again. Memory depends on the tables, live
 * goroutines, batches and (in the order of times) MAX_PENDING events, not on the size. */
#ifndef REPAIR_H
#define REPAIR_H

#include "cmd/parts/parts.h"
#include "cmd/repair/verdict.h"
#include "core/text.h"

/* ---- interface for the program --------------------------------------------------------------- */

/* The kinds of findings, with their names in reports. */
#define REPAIR_KINDS(X)                                                                            \
    X(TRACE, "trace", "another trace begins")                                                      \
    X(HEADER, "header.lost", "the header is lost; the version was guessed")                        \
    X(BYTES, "bytes.lost", "bytes that belong to no sound batch were left out")                    \
    X(TRUNCATED, "batch.cut", "a batch is damaged or cut off; what precedes that is kept")         \
    X(SIZE, "batch.size", "the size of a batch was wrong, and was corrected")                      \
    X(RESUMED, "batch.resumed", "a batch continues after the damage")                              \
    X(DUPLICATE, "batch.duplicate", "a duplicate of a batch was left out")                         \
    X(ORDER, "batch.order", "batches in the wrong order were sorted")                              \
    X(GENERATION, "batch.generation", "a batch was given the generation of its neighbours")        \
    X(NUMBER, "generation.number", "generations had the same number; all got different ones")      \
    X(CLOCK, "clock", "impossible times were changed")                                             \
    X(FREQUENCY, "frequency", "the frequency is lost; it was estimated")                           \
    X(CLOCKS, "clocks", "a generation's clocks are lost; they were estimated")                     \
    X(STRING, "string.placeholder", "a string is lost; a placeholder has its id")                  \
    X(STACK, "stack.placeholder", "a stack is lost; a placeholder has its id")                     \
    X(NAMES, "names.copied", "lost names of the runtime were copied from other generations")       \
    X(TABLES, "tables.lost", "many strings and stacks are lost; placeholders have their ids")      \
    X(LOST, "generation.lost", "nothing is left of a generation")                                  \
    X(END, "end", "the end of a generation was missing")                                           \
    X(REWRITTEN, "events.rewritten", "rules were violated; events were rewritten")                 \
    X(KEPT, "generations.kept", "generations are copied unchanged")                                \
    X(ADDED, "event.added", "events were added that others require")                               \
    X(DROPPED, "event.dropped", "impossible events were left out")

typedef enum repair_kind {
#define REPAIR_NUMBER(name, id, text) REPAIR_##name,
    REPAIR_KINDS(REPAIR_NUMBER)
#undef REPAIR_NUMBER
        REPAIR_KIND_COUNT
} repair_kind;

const char *repair_kind_name(repair_kind kind);

typedef struct repair_finding {
    repair_kind kind;
    unsigned trace;  /* index of the trace in the file, from 1 */
    uint64_t offset; /* in the file, or GOTRACE_NO_OFFSET */
    uint64_t count;  /* bytes, events, generations or an id, depending on the kind */
    uint64_t first_generation, last_generation; /* range concerned, or 0 */
    char message[384];                          /* with room for a message of the reader */
} repair_finding;

/* Result of repair_write. */
typedef struct repair_totals {
    unsigned traces, written;
    uint64_t events, timed_records; /* in the traces written, as in gotrace_summary */
    uint64_t bytes_lost;            /* bytes of the file in no batch */
    uint64_t added, dropped;
    bool identical; /* every trace was written unchanged */
    bool sound;     /* every trace written is valid */
} repair_totals;

typedef struct repair_job {
    gotrace_source *source;
    const gotrace_config *config;
    bool all;     /* write every trace of the file, not only the first */
    bool reading; /* the output is only read; findings do not mention a written file */
    /* Returns where trace number `trace` (from 1) goes; NULL: stop. */
    out *(*next)(void *ctx, unsigned trace);
    void (*report)(void *ctx, const repair_finding *finding);
    /* Something is lost that was recorded between these ticks; end UINT64_MAX: until the end of
     * the trace. NULL: not wanted. */
    void (*lost)(void *ctx, uint64_t begin, uint64_t end);
    void *ctx;
} repair_job;

/* Returns GOTRACE_END when everything is written; GOTRACE_ERROR on a system error, an exceeded
 * limit, or if there is no trace. */
gotrace_status repair_write(const repair_job *job, repair_totals *totals, gotrace_error *error);

/* ---- shared by the parts of repair ----------------------------------------------------------- */

enum {
    REPAIR_SEARCH_FACTOR = 32, /* limit of bytes or batches looked at in vain, for each of them */
    REPAIR_MAPPINGS = 12,      /* traces in files at a time; further ones stay in memory */
};

/* A record in place. */
typedef struct repair_record {
    const gotrace_event_spec *spec;
    const uint8_t *at;
    size_t size;
    uint64_t args[GOTRACE_MAX_ARGS];
    size_t arg_count;
    const uint8_t *frames; /* varints */
    uint64_t frame_values; /* number of varints in frames */
    const uint8_t *data;
    size_t data_size;
} repair_record;

typedef struct repair_batch {
    size_t offset, body,
        end;        /* offsets of the header, the first record, and the end of the sound records */
    size_t claimed; /* v2: end of a batch of events by the size in its header; 0: impossible */
    uint64_t generation, owner;
    uint64_t time, last; /* ticks at its beginning, and of its last event */
    uint64_t seq;        /* 1.5: its first sequence number */
    uint64_t events;
    uint64_t experiment;
    uint8_t kind; /* parts_kind */
    bool is_experiment;
    bool cut; /* incomplete */
    bool dropped;
    bool padded;        /* v2: the size is encoded in ten bytes */
    bool searched;      /* follows bytes that are not sound */
    bool resumed;       /* continues the batch before it */
    bool tables;        /* v1: only its strings and stacks are used */
    bool changed;       /* the header must be rewritten */
    bool resized;       /* the size in the header is wrong, and its records are not cut off */
    size_t late;        /* offset of a record whose time delta is reduced, 0: none */
    uint64_t less;      /* by this number of ticks */
    uint64_t goroutine; /* v1: highest id */
    uint8_t contents;   /* v1: REPAIR_HAS_* */
} repair_batch;

/* What a v1 batch contains. */
enum { REPAIR_HAS_TABLES = 1, REPAIR_HAS_FREQUENCY = 2, REPAIR_HAS_SAMPLES = 4 };

/* v2: a generation of an image. */
typedef struct repair_generation {
    uint64_t number;
    size_t begin, end; /* offsets in the image */
    uint64_t written;  /* number assigned by the writer; 0: empty */
    bool whole;        /* identical with the generation in the file */
    bool kept;         /* to be copied unchanged; otherwise rebuilt */
    bool rebuilt;      /* was rebuilt */
    bool broken;       /* violates rules */
} repair_generation;

typedef struct repair_generations {
    repair_generation *list;
    size_t count, capacity;
} repair_generations;

/* A temporary file. */
typedef struct repair_mapping {
    uint8_t *bytes; /* NULL: unused */
    size_t size;
    int fd;
} repair_mapping;

/* Traces larger than memory (store.c). */
typedef struct repair_store {
    repair_mapping mapped[REPAIR_MAPPINGS];
    size_t unreleased; /* bytes read or written since pages were released */
} repair_store;

/* A trace being repaired. */
typedef struct repair {
    const repair_job *job;
    const uint8_t *bytes; /* of the trace, from its header on */
    size_t size;
    parts_bytes file;
    bool last;     /* no further trace of the file is wanted */
    uint64_t base; /* offset of bytes in the file */
    unsigned trace;
    int version;
    uint64_t spent; /* bytes parsed while searching for batches */
    bool unpadded;  /* v2: sizes are not padded */
    bool headless;  /* there is no header before the batches */
    bool foreign;   /* the file begins like one of another format */
    parts_memory *memory;
    parts_shape shape;
    const gotrace_event_spec *specs[256]; /* of the version, by code */
    uint8_t arg_counts[256];
    uint16_t goroutine_args[256]; /* bits of the arguments that are goroutines */
    repair_batch *batches;
    size_t count, capacity;
    repair_generations generations; /* v2: of the image; empty: nothing is kept */
    bool rebuilt_before;            /* was rebuilt before, and is not sound yet */
    bool quiet;                     /* report nothing */
    uint64_t sound;                 /* bytes in sound batches */
    repair_store *store;
    repair_totals *totals;
    gotrace_error *error;
} repair;

/* Report that generations were lost, kept or rebuilt, and the reason. */
void repair_report_generations(repair *r, repair_kind kind, uint64_t first, uint64_t last,
                               const char *why);
void repair_report(repair *r, repair_kind kind, uint64_t offset, uint64_t count, const char *text,
                   ...) __attribute__((format(printf, 5, 6)));
/* Report bytes that are lost, and the text of the program that is in them. */
void repair_report_bytes(repair *r, size_t at, size_t size, const char *where);

/* Decode the record at p. False if it is invalid or incomplete; then size is the number of bytes
 * read. */
bool repair_record_at(int version, const uint8_t *p, const uint8_t *end, repair_record *record);
/* The same for the repair's version, faster. */
bool repair_read_record(const repair *r, const uint8_t *p, const uint8_t *end,
                        repair_record *record);
void repair_set_version(repair *r, int version);
/* v1: whether the record defines a string or a stack. */
static inline bool repair_is_table(const repair_record *record)
{
    return record->spec->code == GOTRACE_V1_String || record->spec->code == GOTRACE_V1_Stack;
}

/* Add a record's time delta to *now. Where the clocks of processors differ, v1 tracers write a
 * negative delta, as a number of 64 bits. False, without effect, if the time becomes impossible. */
static inline bool repair_step(uint64_t *now, uint64_t delta)
{
    uint64_t then = *now + delta;
    bool possible = then <= UINT64_C(1) << 62;
    *now = possible ? then : *now;
    return possible;
}

/* Whether the text of the program begins at p, before the offset `end`: its bytes are no records.
 */
static inline bool repair_is_text(const repair *r, const uint8_t *p, size_t end)
{
    return gt_text_begins(p, r->bytes + end, end == r->size);
}

/* Make room for so many more bytes. False if memory or disk space runs out; error is set. */
bool repair_reserve(repair *r, parts_bytes *b, size_t size);
/* No more bytes of the trace are appended: the file ends after them. */
bool repair_complete(repair *r, parts_bytes *b);
/* Free bytes in memory or in a file. */
void repair_drop(repair *r, parts_bytes *bytes);
/* Call after so many bytes of a trace were read: pages of files in memory are released. */
void repair_release(const repair *r, size_t used);
/* Compare bytes of traces. */
bool repair_equal(const repair *r, const uint8_t *a, const uint8_t *b, size_t size);
/* Open bytes of a trace as a source. */
gotrace_status repair_source(repair *r, const uint8_t *bytes, size_t size,
                             const gotrace_config *config, gotrace_source **source);

/* Read a trace; call `each`, if not NULL, with every problem. False only on a system error or an
 * exceeded limit. */
bool repair_examine(repair *r, const uint8_t *bytes, size_t size, verdict_problem_fn each,
                    void *ctx, verdict *v);

/* Append to b. False if memory or disk space runs out; error is set. */
bool repair_put(repair *r, parts_bytes *b, const void *bytes, size_t size);
bool repair_put_varint(repair *r, parts_bytes *b, uint64_t value);
bool repair_put_v2_header(repair *r, parts_bytes *into, uint64_t generation, uint64_t owner,
                          uint64_t time, size_t size);
/* v2: write a batch of an experiment, whose data is at body, into a generation. */
bool repair_put_experiment(repair *r, parts_bytes *into, const repair_batch *b, const uint8_t *body,
                           uint64_t generation);

/* v1: add a record to what is known about its batch. */
void repair_note_record(const repair *r, repair_batch *b, const repair_record *record);

/* The first record of a batch, after the byte that in v2 names the kind of table. */
const uint8_t *repair_records_of(const repair *r, const repair_batch *b);

/* Find the batches. False only on a system error or an exceeded limit. */
bool repair_scan(repair *r);
/* Find the version of bytes without a header; 0 if they are not a trace. False as for repair_scan.
 */
bool repair_guess_version(repair *r);
bool repair_resume(repair *r);
bool repair_mend(repair *r);
/* Report when what is lost was recorded. */
void repair_report_gaps(const repair *r);
bool repair_image(repair *r, parts_bytes *image);

/* Cost of a rebuild. */
typedef struct repair_changes {
    uint64_t events;         /* returned by the reader */
    uint64_t added, dropped; /* in generations that are not kept */
    gotrace_error why;       /* reason for the first dropped event */
    uint64_t early; /* events with an earlier recorded time than one before them, unless sorted */
    uint64_t most_early; /* by at most so many ticks */
} repair_changes;

typedef struct repair_rebuilt {
    repair_changes changes;
    verdict image; /* v1: of the image that was read */
} repair_rebuilt;

/* Pass the events that the reader returns for an image to a writer. sorted (v2): order a
 * generation's events by their recorded times; better if events that others wait for are lost. */
bool repair_rebuild(repair *r, const parts_bytes *image, bool sorted, parts_bytes *written,
                    repair_rebuilt *result);

/* Find the batches of a trace in memory; the caller drops those of layout. */
bool repair_lay_out(const repair *r, const parts_bytes *trace, repair *layout);
/* v2: the first batch of that generation, or else of a later one. */
repair_batch *repair_first_batch(const repair *layout, uint64_t generation);

/* v2: numbers of GC events in a generation; 0: none. */
typedef struct repair_gc {
    uint64_t first, last, last_on; /* last_on: the last number after which a cycle is active */
    bool on;                       /* a cycle is active before the first event */
} repair_gc;
repair_gc repair_gc_of(const repair *layout, uint64_t generation);

/* v2: generations that are copied unchanged (generations.c). */
bool repair_generation_put(repair *r, repair_generation generation);
/* The caller drops the copy. */
bool repair_generations_copy(const repair *r, repair_generations *copy);
void repair_generations_drop(const repair *r, repair_generations *g);
/* Keep the generations that are sound on their own, unless the cause of a problem after them. */
bool repair_generations_keep(repair *r, const parts_bytes *image);
/* Whether the generation before g is the cause of a mismatch between the two: if g is unchanged, or
 * if both are changed. */
bool repair_blames_before(const repair_generation *g);
/* Keep fewer generations, if rules are still violated. False if that does not help. */
bool repair_generations_blame(repair_generations *g, const repair_generations *broken);
/* Read the image, and mark the generations that violate rules. */
bool repair_generations_examine(repair *r, const parts_bytes *image, repair_generations *g,
                                verdict *v);
/* Combine the kept generations of the image with the others of the rebuilt trace; sets g to the
 * generations of the result. */
bool repair_splice(repair *r, const parts_bytes *image, const parts_bytes *written,
                   parts_bytes *spliced, repair_generations *g);

/* v2: some generations of an image as a trace of their own (window.c). */
typedef struct repair_window {
    bool open;
    size_t first, end; /* indices in the image's generations */
    repair_generations
        whole; /* saved generations of the image; repair.generations are those of the window */
    parts_bytes image;
} repair_window;

/* Open a window on the broken generations, unless that is nearly all. Sets r->generations to those
 * of the window. Close it even on failure. */
bool repair_window_open(repair *r, const parts_bytes *image, repair_window *w);
/* Replace the window in the image by its repaired form; sets r->generations to those of the whole.
 */
bool repair_window_insert(repair *r, const parts_bytes *image, const repair_window *w,
                          parts_bytes *whole);
/* Restores r->generations unless the window was inserted. */
void repair_window_close(repair *r, repair_window *w, bool inserted);

static inline bool repair_is_v2(const repair *r)
{
    return r->version >= GOTRACE_FIRST_V2;
}

#endif
