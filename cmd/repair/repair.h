/*
 * repair.h - a valid trace out of a damaged one, and what was lost.
 *
 * The plan, from the bytes upwards; each step is taken only where the one before did not do:
 *
 *   cut     repair.c         A file may hold several traces, or something else before and after.
 *                            Each header that a batch follows begins one.
 *   guess   headless.c
 *                            Where the header is gone: whether it is a trace, and of which version.
 *   scan    scan.c           Which bytes are sound batches. Records are read as long as they are
 *                            what the version has; where they are not, the next batch is searched.
 *                            v2's headers tell generation, thread, time and size, and are believed
 *                            if the records within are whole; v1's if records follow them.
 *   resume  resume.c         v1: the rest of a batch is found by reading from behind.
 *   mend    mend.c           Batches said twice are dropped, those that changed places are put in
 *                            theirs, one with a generation's number that cannot be is given its
 *                            neighbours'. Clocks that run back are moved on: one difference of
 *                            time is changed where that does, else the batch's own time.
 *   image   image.c          The trace of these batches, copied as they stand wherever nothing had
 *                            to be changed, with what tables, clocks and the end lack:
 *                            placeholders name the ids of lost strings and stacks; a frequency is
 *                            estimated, and told to be.
 *   rebuild rebuild.c        If rules are broken still: what the reader makes of it, in its order,
 *                            is passed to a writer, which assigns new numbers.
 *   prepare prepare.c        What the writer refuses is made possible by events that have to have
 *                            happened before (a goroutine that starts was unblocked, one that runs
 *                            elsewhere was stopped), or left out where that cannot be.
 *   window  window.c         v2: of many generations, those in which rules are broken and their
 *                            neighbours are rebuilt as a trace of their own.
 *   keep    generations.c
 *                            v2: of that, the generations are taken in which rules were broken; the
 *                            others stay as they stand.
 *   border  border.c         So that they can, one that is rebuilt is made to end as the next one
 *                            begins.
 *
 * A sound trace comes out as it is. The trace is held in memory, within the config's limit.
 */
#ifndef REPAIR_H
#define REPAIR_H

#include "cmd/parts/parts.h"
#include "cmd/repair/verdict.h"

/* ---- for the program ------------------------------------------------------------------------ */

/* The kinds of findings, with their names in reports. */
#define REPAIR_KINDS(X)                                                                            \
    X(TRACE, "trace", "another trace begins")                                                      \
    X(HEADER, "header.lost", "the header is lost; the version was guessed")                        \
    X(BYTES, "bytes.lost", "bytes that belong to no sound batch were left out")                    \
    X(TRUNCATED, "batch.cut", "a batch is damaged or cut off; what stands before is kept")         \
    X(RESUMED, "batch.resumed", "a batch goes on behind the damage")                               \
    X(DUPLICATE, "batch.duplicate", "a batch that stands there twice was left out once")           \
    X(ORDER, "batch.order", "batches that had changed places were put back")                       \
    X(GENERATION, "batch.generation", "a batch was given the generation of its neighbours")        \
    X(CLOCK, "clock", "times were changed, because the clock ran back")                            \
    X(FREQUENCY, "frequency", "the frequency is lost; it was estimated")                           \
    X(CLOCKS, "clocks", "a generation's clocks are lost; they were estimated")                     \
    X(STRING, "string.placeholder", "a string is lost; its id stands in its place")                \
    X(STACK, "stack.placeholder", "a stack is lost; its id stands in its place")                   \
    X(TABLES, "tables.lost", "many strings and stacks are lost; their ids are in their place")     \
    X(LOST, "generation.lost", "nothing is left of a generation")                                  \
    X(END, "end", "the end of a generation was not told")                                          \
    X(REWRITTEN, "retold", "rules were broken; events were rewritten")                             \
    X(KEPT, "kept", "generations stand as they did")                                               \
    X(ADDED, "event.added", "events were made up, so that others can have happened")               \
    X(DROPPED, "event.dropped", "events that cannot have happened were left out")

typedef enum repair_kind {
#define REPAIR_NUMBER(name, id, text) REPAIR_##name,
    REPAIR_KINDS(REPAIR_NUMBER)
#undef REPAIR_NUMBER
        REPAIR_KIND_COUNT
} repair_kind;

const char *repair_kind_name(repair_kind kind);

typedef struct repair_finding {
    repair_kind kind;
    unsigned trace;  /* number of the trace in the file, from 1 */
    uint64_t offset; /* in the file, or GOTRACE_NO_OFFSET */
    uint64_t count;  /* of bytes, of events, of generations, or an id, as the kind says */
    uint64_t first_generation, last_generation; /* that it is about, or 0 */
    char message[200];
} repair_finding;

/* What came out. */
typedef struct repair_totals {
    unsigned traces, written;
    uint64_t events;     /* that stand in the traces written */
    uint64_t readable;   /* events that a reader returns before the repair */
    uint64_t given;      /* and as they were written */
    uint64_t bytes_lost; /* of the file */
    uint64_t added, dropped;
    bool identical; /* every trace written is as it was */
    bool sound;     /* every trace written is valid */
} repair_totals;

typedef struct repair_job {
    gotrace_source *source;
    const gotrace_config *config;
    bool all;     /* write each trace of the file, not the first alone */
    bool reading; /* what is written is only read: findings do not speak of a file written */
    /* Begin a trace, by its number from 1 on: where it is to go, or NULL to stop. */
    out *(*next)(void *ctx, unsigned trace);
    void (*report)(void *ctx, const repair_finding *finding);
    void *ctx;
} repair_job;

/* GOTRACE_END when all was written, GOTRACE_ERROR: the system or a limit, or there is no trace. */
gotrace_status repair_write(const repair_job *job, repair_totals *totals, gotrace_error *error);

/* ---- between its parts ---------------------------------------------------------------------- */

enum {
    REPAIR_PATIENCE = 32, /* how often bytes are looked at in vain */
};

/* A record, where it stands. */
typedef struct repair_record {
    const gotrace_event_spec *spec;
    const uint8_t *at;
    size_t size;
    uint64_t args[GOTRACE_MAX_ARGS];
    size_t arg_count;
    const uint8_t *frames; /* varints */
    uint64_t frame_values; /* how many of these */
    const uint8_t *data;
    size_t data_size;
} repair_record;

typedef struct repair_batch {
    size_t offset, body, end; /* header, first record, where the sound ones end */
    uint64_t generation, owner;
    uint64_t time, last; /* ticks at its beginning and of its last event */
    uint64_t seq;        /* 1.5: its first sequence number */
    uint64_t events;
    uint64_t experiment;
    uint8_t kind; /* parts_kind */
    bool is_experiment;
    bool cut; /* not all of it is here */
    bool dropped;
    bool padded;   /* v2: the size takes all of its ten bytes */
    bool searched; /* it stands behind bytes that are not sound */
    bool resumed;  /* v1: it is the rest of the batch before it */
    bool tables;   /* v1: of its records, strings and stacks alone are believed */
    bool changed;  /* the header has to be written anew */
    size_t late;   /* offset of a record whose time is to be less, 0: none */
    uint64_t less; /* by so many ticks */
} repair_batch;

/* v2: a generation of an image. */
typedef struct repair_generation {
    uint64_t number;
    size_t begin, end; /* in the image */
    uint64_t written;  /* the number that the writer gave it; 0: nothing happened in it */
    bool whole;        /* it stands there as in the file */
    bool kept;         /* it is to stay as it stands; else it is rebuilt */
    bool rebuilt;      /* it was */
    bool broken;       /* rules are broken in it */
} repair_generation;

typedef struct repair_generations {
    repair_generation *list;
    size_t count, capacity;
} repair_generations;

/* A trace being repaired. */
typedef struct repair {
    const repair_job *job;
    const uint8_t *bytes; /* of the trace, from its header on */
    size_t size;
    parts_bytes file;
    bool last;     /* no other trace of the file is wanted */
    uint64_t base; /* offset of bytes in the file */
    unsigned trace;
    int version;
    uint64_t spent; /* bytes that were looked at while batches were searched */
    bool narrow;    /* v2: sizes are not padded */
    bool headless;  /* no header stands before the batches */
    bool foreign;   /* the file begins as one of another kind does */
    parts_memory *memory;
    parts_shape shape;
    repair_batch *batches;
    size_t count, capacity;
    repair_generations generations; /* v2: of the image; none: nothing of it is to stay */
    bool again;                     /* it was rebuilt already, and is not sound yet */
    bool silent;                    /* tell nothing */
    uint64_t sound;                 /* bytes in sound batches */
    repair_totals *totals;
    gotrace_error *error;
} repair;

/* That these were lost, kept, or rebuilt, and why. */
void repair_report_generations(repair *r, repair_kind kind, uint64_t first, uint64_t last,
                               const char *why);
void repair_report(repair *r, repair_kind kind, uint64_t offset, uint64_t count, const char *text,
                   ...) __attribute__((format(printf, 5, 6)));

/* The record at p, if it is one of that version; false where it is not, or not whole: size tells
 * then how far it was read. */
bool repair_record_at(int version, const uint8_t *p, const uint8_t *end, repair_record *record);
/* v1: whether it defines a string or a stack. */
static inline bool repair_is_table(const repair_record *record)
{
    return record->spec->code == GOTRACE_V1_String || record->spec->code == GOTRACE_V1_Stack;
}

/* Append. False if memory runs out; error is set. */
bool repair_put(repair *r, parts_bytes *b, const void *bytes, size_t size);
bool repair_put_varint(repair *r, parts_bytes *b, uint64_t value);
bool repair_put_v2_header(repair *r, parts_bytes *into, uint64_t generation, uint64_t owner,
                          uint64_t time, size_t size);

/* The first record of a batch: some of v2's batches begin with a byte that says what they hold. */
const uint8_t *repair_records_of(const repair *r, const repair_batch *b);

/* Find the batches. False only where the system or a limit says no. */
bool repair_scan(repair *r);
/* The version of bytes without a header; 0 where they are no trace. False as repair_scan. */
bool repair_guess_version(repair *r);
bool repair_resume(repair *r);
bool repair_mend(repair *r);
bool repair_image(repair *r, parts_bytes *image);

/* What rebuilding it took. */
typedef struct repair_rebuilt {
    uint64_t events;         /* that there were */
    uint64_t added, dropped; /* where it is not kept */
    gotrace_error why;       /* of the first that was dropped */
} repair_rebuilt;

/* Write anew what the reader makes of an image; sorted (v2): a generation's events by their own
 * times, which fits where events that others wait for are lost. */
bool repair_rebuild(repair *r, const parts_bytes *image, bool sorted, parts_bytes *written,
                    repair_rebuilt *result);

/* The batches of a trace made here; those of layout are to be dropped. */
bool repair_lay_out(const repair *r, const parts_bytes *trace, repair *layout);
/* v2: the first of them that is of that generation, or of a later one. */
repair_batch *repair_first_batch(const repair *layout, uint64_t generation);

/* v2: numbers of the GC's events in a generation, 0 if there is none. */
typedef struct repair_gc {
    uint64_t first, last, last_on; /* behind last_on a cycle goes on */
    bool on;                       /* before the first one a cycle goes on */
} repair_gc;
repair_gc repair_gc_of(const repair *layout, uint64_t generation);

/* v2: what stays as it stands (generations.c). */
bool repair_generation_put(repair *r, repair_generation generation);
/* A copy, to be dropped as that of repair is. */
bool repair_generations_copy(const repair *r, repair_generations *copy);
void repair_generations_drop(const repair *r, repair_generations *g);
/* Keep those that are sound for themselves, unless it is that what follows does not fit to them. */
bool repair_generations_keep(repair *r, const parts_bytes *image);
/* Where two generations do not fit to one another, whether the one before this is at fault: it is
 * if this one is as it was, or if both are not. */
bool repair_blames_before(const repair_generation *g);
/* Where rules are broken still: keep less. False where that does not help. */
bool repair_generations_blame(repair_generations *g, const repair_generations *broken);
/* The verdict, and where rules are broken. */
bool repair_generations_examine(const repair *r, const parts_bytes *image, repair_generations *g,
                                verdict *v);
/* What is kept of the image, and of what was written the rest; g is then of that. */
bool repair_splice(repair *r, const parts_bytes *image, const parts_bytes *written,
                   parts_bytes *spliced, repair_generations *g);

/* v2: generations of an image as a trace of their own (window.c). */
typedef struct repair_window {
    bool open;
    size_t first, end;        /* of the image's generations */
    repair_generations whole; /* the image's, while the repair's are those of the window */
    parts_bytes image;
} repair_window;

/* Open one on what is broken in r->generations, unless it is nearly all; r->generations are then
 * its own. To be closed even if it fails. */
bool repair_window_open(repair *r, const parts_bytes *image, repair_window *w);
/* The image with what became of the window in its place; r->generations are then those of all. */
bool repair_window_insert(repair *r, const parts_bytes *image, const repair_window *w,
                          parts_bytes *whole);
/* Unless it was inserted, r->generations are what they were. */
void repair_window_close(repair *r, repair_window *w, bool inserted);

static inline bool repair_is_v2(const repair *r)
{
    return r->version >= GOTRACE_FIRST_V2;
}

#endif
