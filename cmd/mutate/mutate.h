/*
 * mutate.h - variants of a trace, for those who test what reads traces.
 *
 * A trace is taken apart into pieces, a record each, as the event tables say; what is no record is
 * a piece too. A variant is made of the same pieces: some written anew with other values, some
 * moved, said twice or left out. Those that were not touched are copied as they stand, and v2's
 * batches tell the size that they come to have.
 *
 *   mutate.c        pieces; what a mode does; the variant put together
 *   parts.c         pieces looked into, written anew, moved
 *   any.c           changes of all kinds, whatever becomes of the trace
 *   keep.c          changes after which a sound trace is sound still
 *   break.c         one rule broken in one place
 *   raw.c           bytes damaged, as files are
 *   tell.c          what was changed, as JSON
 *
 * The same trace, mode and seed give the same variant on every machine.
 */
#ifndef MUTATE_H
#define MUTATE_H

#include "cmd/parts/parts.h"
#include "formats/common/splitmix.h"
#include "cmd/repair/verdict.h"

/* ---- for the program ------------------------------------------------------------------------ */

typedef enum mutate_mode {
    MUTATE_ANY = 0, /* records, batches and tables are changed at will */
    MUTATE_KEEP,    /* only so that a sound trace is sound still */
    MUTATE_BREAK,   /* one rule is broken */
    MUTATE_RAW,     /* bytes are damaged */
} mutate_mode;

const char *mutate_mode_name(mutate_mode mode);

enum { MUTATE_MOST_CHANGES = 8 };

/* Something that was changed. Texts are constants. */
typedef struct mutate_change {
    const char *what;
    const char *record;   /* type of the record, or NULL */
    const char *argument; /* or NULL */
    uint64_t offset; /* in the trace as it was (of a rule broken: as it is), or GOTRACE_NO_OFFSET */
    uint64_t size;   /* bytes concerned; 0: unspecified */
    bool from_to;    /* the numbers count */
    uint64_t from, to;
} mutate_change;

typedef struct mutate_variant {
    const uint8_t *bytes; /* valid until the next one is made */
    size_t size;
    mutate_change changes[MUTATE_MOST_CHANGES];
    size_t change_count;
    uint64_t undone; /* KEEP: changes after which the reader found the trace unsound */
} mutate_variant;

typedef struct mutate_job {
    mutate_mode mode;
    gotrace_rule rule; /* of BREAK */
    uint64_t seed;
    size_t most; /* bytes that the variant may have; 0: any number */
} mutate_job;

typedef struct mutate mutate;

/* Take a trace apart; bytes are borrowed. Of what is not a trace as much as can be. */
gotrace_status mutate_new(const void *bytes, size_t size, const gotrace_config *config,
                          mutate **mutation, gotrace_error *error);

/* Make a variant. GOTRACE_END: this trace has no place for it (BREAK: to break that rule and no
 * other; ANY and KEEP: nothing to change), or it is none (RAW takes any bytes); the error says why.
 * GOTRACE_ERROR: the system or a limit. */
gotrace_status mutate_make(mutate *m, const mutate_job *job, mutate_variant *variant,
                           gotrace_error *error);
void mutate_free(mutate *m);

/* What ought to be thought of a variant: "valid", the rule's id, "unknown". */
const char *mutate_verdict(const mutate_job *job);

/* Write a JSON object, one line: what was changed, and the verdict. source and trace are names;
 * found: what gotrace's own reader says. */
void mutate_describe(out *o, const char *source, const char *trace, const mutate_job *job,
                     const mutate_variant *variant, const verdict *found);

/* ---- between its parts ---------------------------------------------------------------------- */

/* A record where it stands, or as it was written anew; or (spec NULL) bytes that are none. */
typedef struct mutate_piece {
    const gotrace_event_spec *spec;
    const uint8_t *bytes;
    size_t size;
    uint64_t offset; /* in the trace as it was; of what is new, that of the piece before */
    bool exact;      /* v2: a batch's header whose size is not corrected */
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
    mutate_chunk *chunks; /* bytes of pieces that were written anew */
    uint64_t random;
    size_t most;
    mutate_variant *variant;
    gotrace_error *error; /* what the system or a limit said */
    bool failed;          /* it did */
    /* The record that was opened last. */
    uint64_t *values;
    uint8_t *widths;
    size_t value_capacity, width_capacity;
    parts_bytes scratch, result;
};

/* A record opened: its values can be changed, and it can be closed again. */
typedef struct mutate_record {
    gotrace_record record; /* as it was; args and widths are the mutation's own */
    uint64_t *values;      /* the same values, to be changed; all of record.arg_count */
    const gotrace_arg_spec *args[GOTRACE_MAX_ARGS];
    size_t fixed; /* values that are no frames */
} mutate_record;

static inline uint32_t mutate_below(mutate *m, size_t n)
{
    return n == 0 ? 0 : splitmix_below(&m->random, n > UINT32_MAX ? UINT32_MAX : (uint32_t)n);
}

static inline bool mutate_chance(mutate *m, unsigned one_of)
{
    return mutate_below(m, one_of) == 0;
}

/* Note a change; there is always room for the next one. */
mutate_change *mutate_note(mutate *m, const char *what, const mutate_piece *piece);

/* Room in a list; what pieces were written anew is dropped. */
bool mutate_grow(mutate *m, void *list, size_t *capacity, size_t count, size_t size);
void mutate_forget(mutate *m);

/* Look into a piece, which has to be a record. Valid until the next one is opened. */
bool mutate_open(mutate *m, const mutate_piece *piece, mutate_record *record);
/* Write it anew into that place. */
bool mutate_close(mutate *m, mutate_piece *piece, mutate_record *record);
/* A record of that type with these values, in the place of what stood in *piece. */
bool mutate_fresh(mutate *m, mutate_piece *piece, const gotrace_event_spec *spec,
                  const uint64_t *values, size_t count, const char *data, size_t data_size);

bool mutate_insert(mutate *m, size_t at, const mutate_piece *pieces, size_t count);
void mutate_remove(mutate *m, size_t at, size_t count);
/* Have [a, b) and [b, c) change places. */
bool mutate_exchange(mutate *m, size_t a, size_t b, size_t c);

/* Whether a batch begins here; where the next one does, from at on (or the end). */
bool mutate_is_head(const mutate *m, size_t at);
size_t mutate_next_head(const mutate *m, size_t at);
/* Any batch: false if there is none. */
bool mutate_pick_batch(mutate *m, size_t *begin, size_t *end);
/* Any record that wanted says yes to, or SIZE_MAX. */
size_t mutate_pick(mutate *m, bool (*wanted)(const mutate *m, const mutate_piece *piece));
bool mutate_is_named(const mutate_piece *piece, const char *name);
bool mutate_is_timed(const mutate_piece *piece);

bool mutate_is_record(const mutate *m, const mutate_piece *piece);

/* One number of any record takes more bytes than before. */
bool mutate_pad(mutate *m);
/* That record's data (a string, a message) becomes this. */
bool mutate_text(mutate *m, size_t at, const char *text, size_t size);

/* Put the pieces together into m->result. */
bool mutate_assemble(mutate *m);

/* One change; false if it came to nothing. */
bool mutate_any(mutate *m);
bool mutate_keep(mutate *m);
/* All changes. */
bool mutate_raw(mutate *m);
/* The result is a sound variant, or (at random) the trace as it was; false if the trace was not
 * sound. */
bool mutate_keep_sound(mutate *m);
gotrace_status mutate_break(mutate *m, gotrace_rule rule);

#endif
