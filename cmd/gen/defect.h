/*
 * defect.h - one rule broken: a sound trace is written, and then changed in one place.
 *
 *   defect.c            where things stand in the sound trace; the changed copy
 *   defect_plant.c      for each rule what is changed
 */
#ifndef GEN_DEFECT_H
#define GEN_DEFECT_H

#include "cmd/gen/gen.h"

enum { GEN_PATCH_BYTES = 160 };

/* Some bytes of the trace, and the batch in which they are (v2). */
typedef struct gen_place {
    uint64_t offset, size; /* size 0: there is none */
    uint64_t batch;        /* number of the batch */
    uint64_t value;        /* first argument: an id, a frequency */
    uint64_t frames_at;    /* of a stack: where it says how many frames it has */
    uint64_t frames;
} gen_place;

typedef struct gen_batch {
    uint64_t offset, header;   /* bytes of its first record */
    uint64_t owner;            /* proc or thread */
    uint64_t size, generation; /* v2 */
    size_t generation_width, size_width;
    int64_t grown; /* bytes by which it has */
} gen_batch;

/* Bytes that come in the place of others. */
typedef struct gen_patch {
    uint64_t offset, drop;
    size_t size;
    uint8_t bytes[GEN_PATCH_BYTES];
} gen_patch;

typedef struct gen_defect {
    int version;
    bool v2;
    gen_still still; /* who is there at the end */

    /* what stands where */
    uint64_t size;                                           /* of the trace */
    gen_place string, stack, frequency, clocks, last_record; /* the last of each */
    gen_place end; /* behind the last event of still's proc, where events can be added */
    uint64_t ticks, end_ticks; /* v1: of the last event, and of that last one */
    gen_batch *batches;
    size_t batch_count, batch_capacity;
    uint64_t gc_next; /* number of the next cycle */

    /* what is changed */
    gen_patch *patches;
    size_t patch_count, patch_capacity;
    gotrace_encoder *encoder; /* writes records to bytes */
    uint8_t bytes[16 + GEN_PATCH_BYTES];
    size_t byte_count;
    uint64_t at; /* where it is wrong, in the changed trace */
    const char *what;
    bool failed; /* no memory, or a record that the encoder refuses */
} gen_defect;

/* Put bytes in the place of others; where it is in a batch of v2, that is the batch's number, else
 * GOTRACE_NO_OFFSET. */
void gen_defect_patch(gen_defect *d, uint64_t offset, uint64_t drop, const void *bytes, size_t size,
                      uint64_t batch);
/* A number in the place of another, in as many bytes. */
void gen_defect_number(gen_defect *d, uint64_t offset, size_t width, uint64_t number);
/* A record to be inserted: its deltas of time and sequence are 1, the other arguments are given, or
 * 0. */
void gen_defect_record(gen_defect *d, const char *name, const uint64_t *args, size_t count,
                       const char *data);
/* Put these records there, or behind the last event. */
void gen_defect_put(gen_defect *d, uint64_t offset, uint64_t drop, uint64_t batch);
void gen_defect_add(gen_defect *d);

/* Write a sound trace with one rule broken. still tells who runs behind the last event of a proc or
 * thread, which is where events are added. */
gotrace_status gen_defect_write(gotrace_source *sound, int version, const gen_still *still,
                                gotrace_rule rule, gotrace_write_fn write, void *ctx,
                                const gotrace_config *config, gen_planted *planted,
                                gotrace_error *error);

/* The version of which a trace is written in which the rule can be broken: the one asked for, or
 * (0) the first; 0 if there is none. */
int gen_defect_version(gotrace_rule rule, int asked);
void gen_defect_plant(gen_defect *d, gotrace_rule rule);

#endif
