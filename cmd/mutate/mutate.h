/*
 * mutate.h - make variants of a trace, to test programs that read traces.
 *
 * A trace is split into pieces, one for each record; bytes that are not a record are a piece too. A
 * variant consists of these pieces, some rewritten with other values, some moved, duplicated or
 * dropped. Unchanged pieces are copied, and the sizes of v2 batches are corrected.
 *
 *   mutate.c        pieces, modes, and joining the variant
 *   parts.c         decode, rewrite and move pieces
 *   any.c           changes that need not leave the trace sound
 *   keep.c          changes that leave a sound trace sound
 *   break.c         one rule violated in one place
 *   raw.c           damaged bytes
 *   describe.c      the changes as JSON
 *
 * A change is a function that picks a place and makes the change there, or returns false. One that
 * must leave a trace sound is undone if the reader rejects the result. A rule is violated as by
 * `gen --defect`, on a goroutine that runs and has no further events.
 *
 * The same trace, mode and seed give the same variant on every machine.
 */
#ifndef MUTATE_H
#define MUTATE_H

#include "cmd/parts/parts.h"
#include "formats/common/splitmix.h"
#include "cmd/repair/verdict.h"

/* ---- interface for the program --------------------------------------------------------------- */

typedef enum mutate_mode {
    MUTATE_ANY = 0, /* change records, batches and tables */
    MUTATE_KEEP,    /* leave a sound trace sound */
    MUTATE_BREAK,   /* violate one rule */
    MUTATE_RAW,     /* damage bytes */
} mutate_mode;

const char *mutate_mode_name(mutate_mode mode);

enum { MUTATE_MAX_CHANGES = 8 };

/* A change of a variant. Strings are constants. */
typedef struct mutate_change {
    const char *what;
    const char *record;   /* name of the record's type, or NULL */
    const char *argument; /* or NULL */
    uint64_t offset;      /* in the original trace (BREAK: in the variant), or GOTRACE_NO_OFFSET */
    uint64_t size;        /* bytes concerned; 0: unspecified */
    bool from_to;         /* from and to are set */
    uint64_t from, to;
} mutate_change;

typedef struct mutate_variant {
    const uint8_t *bytes; /* valid until the next variant is made */
    size_t size;
    mutate_change changes[MUTATE_MAX_CHANGES];
    size_t change_count;
    uint64_t undone; /* KEEP: changes undone because the reader rejected the trace */
} mutate_variant;

typedef struct mutate_job {
    mutate_mode mode;
    gotrace_rule rule; /* for BREAK */
    uint64_t seed;
    size_t most; /* limit of the variant's size in bytes; 0: none */
} mutate_job;

typedef struct mutate mutate;

/* Split a trace into pieces; bytes are borrowed. Also accepts data that is not a trace. */
gotrace_status mutate_new(const void *bytes, size_t size, const gotrace_config *config,
                          mutate **mutation, gotrace_error *error);

/* Make a variant. Returns GOTRACE_END if that is impossible; error says why. ANY and KEEP: there is
 * nothing to change; BREAK: there is no place to violate only that rule; all except RAW: it is not
 * a trace. GOTRACE_ERROR on a system error or an exceeded limit. */
gotrace_status mutate_make(mutate *m, const mutate_job *job, mutate_variant *variant,
                           gotrace_error *error);
void mutate_free(mutate *m);

/* The expected verdict on a variant: "valid", the rule's id, or "unknown". */
const char *mutate_verdict(const mutate_job *job);

/* Write the changes and the verdict as a JSON object on one line. source and trace are file names;
 * found: verdict of gotrace's own reader. */
void mutate_describe(out *o, const char *source, const char *trace, const mutate_job *job,
                     const mutate_variant *variant, const verdict *found);

/* ---- shared by the parts of mutate ----------------------------------------------------------- */

/* A record, original or rewritten; or (spec NULL) bytes that are not a record. */
typedef struct mutate_piece {
    const gotrace_event_spec *spec;
    const uint8_t *bytes;
    size_t size;
    uint64_t offset; /* in the original trace; of a new record, that of the piece before */
    bool exact;      /* v2: a batch header whose size is not corrected */
} mutate_piece;

typedef struct mutate_pieces {
    mutate_piece *list;
    size_t count, capacity;
} mutate_pieces;

typedef struct mutate_chunk mutate_chunk;

struct mutate {
    const uint8_t *bytes; /* of the trace */
    size_t size;
    int version; /* 0: unknown */
    bool v2;
    const gotrace_config *config;
    parts_memory memory;
    parts_shape shape;
    mutate_pieces original, now;
    uint8_t header[PARTS_HEADER];
    size_t header_size;
    mutate_chunk *chunks; /* bytes of rewritten pieces */
    uint64_t random;
    size_t most;
    mutate_variant *variant;
    gotrace_error *error; /* of a system error or an exceeded limit */
    bool failed;          /* error is set */
    /* The record opened last. */
    uint64_t *values;
    uint8_t *widths;
    size_t value_capacity, width_capacity;
    parts_bytes scratch, result;
};

/* A decoded record, whose values can be changed before it is closed. */
typedef struct mutate_record {
    gotrace_record record; /* original; args and widths belong to the mutation */
    uint64_t *values;      /* a copy that can be changed, of record.arg_count values */
    const gotrace_arg_spec *args[GOTRACE_MAX_ARGS];
    size_t fixed; /* values that are not frames */
} mutate_record;

static inline uint32_t mutate_below(mutate *m, size_t n)
{
    return n == 0 ? 0 : splitmix_below(&m->random, n > UINT32_MAX ? UINT32_MAX : (uint32_t)n);
}

static inline bool mutate_chance(mutate *m, unsigned one_of)
{
    return mutate_below(m, one_of) == 0;
}

/* Add a change to the variant's description; never NULL. */
mutate_change *mutate_note(mutate *m, const char *what, const mutate_piece *piece);

/* What a change replaced, and with what. */
static inline void mutate_set_values(mutate_change *change, uint64_t from, uint64_t to)
{
    change->from_to = true;
    change->from = from;
    change->to = to;
}

/* Enlarge a list; drop the bytes of rewritten pieces. */
bool mutate_grow(mutate *m, void *list, size_t *capacity, size_t count, size_t size);
void mutate_forget(mutate *m);

/* Decode a piece that is a record. Valid until the next one is opened. */
bool mutate_open(mutate *m, const mutate_piece *piece, mutate_record *record);
/* Encode the changed record into the piece. */
bool mutate_close(mutate *m, mutate_piece *piece, mutate_record *record);
/* Set the piece to a record of that type with these values. */
bool mutate_set_record(mutate *m, mutate_piece *piece, const gotrace_event_spec *spec,
                       const uint64_t *values, size_t count, const char *data, size_t data_size);

bool mutate_insert(mutate *m, size_t at, const mutate_piece *pieces, size_t count);
void mutate_remove(mutate *m, size_t at, size_t count);
/* Exchange [a, b) with [b, c). */
bool mutate_exchange(mutate *m, size_t a, size_t b, size_t c);

/* Whether a batch begins at this index; index of the next batch at or after it (or the end). */
bool mutate_is_head(const mutate *m, size_t at);
size_t mutate_next_head(const mutate *m, size_t at);
/* Pick a random batch; false if there is none. */
bool mutate_pick_batch(mutate *m, size_t *begin, size_t *end);
/* Pick a random record for which wanted returns true; SIZE_MAX if there is none. */
size_t mutate_pick(mutate *m, bool (*wanted)(const mutate *m, const mutate_piece *piece));
bool mutate_is_named(const mutate_piece *piece, const char *name);
bool mutate_is_timed(const mutate_piece *piece);

bool mutate_is_record(const mutate *m, const mutate_piece *piece);

/* Encode one number of a random record in more bytes than necessary. */
bool mutate_pad(mutate *m);
/* Replace the data of the record: a string or a message. */
bool mutate_text(mutate *m, size_t at, const char *text, size_t size);

/* Join the pieces into m->result. */
bool mutate_assemble(mutate *m);

/* Make one change; false if it was impossible. */
bool mutate_any(mutate *m);
bool mutate_keep(mutate *m);
/* Make all changes. */
bool mutate_raw(mutate *m);
/* Make a sound variant, or (at random) leave the trace unchanged; false if the trace is not sound.
 */
bool mutate_keep_sound(mutate *m);
gotrace_status mutate_break(mutate *m, gotrace_rule rule);

#endif
