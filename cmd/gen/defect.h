/*
 * defect.h - a trace in which one rule is violated: write a sound trace, then change one place.
 *
 *   defect.c            find the places in the sound trace; write the changed copy
 *   defect_plant.c      the change for each rule
 */
#ifndef GEN_DEFECT_H
#define GEN_DEFECT_H

#include "cmd/gen/gen.h"

enum { GEN_PATCH_BYTES = 160 };

/* A range of bytes of the trace. */
typedef struct gen_place {
    uint64_t offset, size; /* size 0: none */
    uint64_t batch;        /* v2: index in gen_defect.batches */
    uint64_t value;        /* first argument: an id or a frequency */
    uint64_t frames_at;    /* of a stack: offset of its number of frames */
    uint64_t frames;
} gen_place;

typedef struct gen_batch {
    uint64_t offset, header;   /* size in bytes of the batch header */
    uint64_t owner;            /* proc or thread */
    uint64_t size, generation; /* v2 */
    size_t generation_width, size_width;
    int64_t grown; /* v2: change of size in bytes */
} gen_batch;

/* Replaces drop bytes at offset. */
typedef struct gen_patch {
    uint64_t offset, drop;
    size_t size;
    uint8_t bytes[GEN_PATCH_BYTES];
} gen_patch;

typedef struct gen_defect {
    int version;
    bool v2;
    gen_tail tail; /* at the end of the sound trace */

    /* places in the sound trace */
    uint64_t size;                                           /* of the trace */
    gen_place string, stack, frequency, clocks, last_record; /* the last of each */
    gen_place end;             /* last event of tail's proc; events are added after it */
    uint64_t ticks, end_ticks; /* v1: of the last event; of the event at end */
    gen_batch *batches;
    size_t batch_count, batch_capacity;
    uint64_t gc_next; /* number of the next GC cycle */

    /* the change */
    gen_patch *patches;
    size_t patch_count, patch_capacity;
    gotrace_encoder *encoder; /* encodes records into bytes */
    uint8_t bytes[16 + GEN_PATCH_BYTES];
    size_t byte_count;
    uint64_t at; /* offset of the defect in the changed trace */
    const char *what;
    bool failed; /* out of memory, or the encoder rejected a record */
} gen_defect;

/* Replace drop bytes at offset. batch: in v2 the index of the batch that they are in;
 * GOTRACE_NO_OFFSET if in none. */
void gen_defect_patch(gen_defect *d, uint64_t offset, uint64_t drop, const void *bytes, size_t size,
                      uint64_t batch);
/* Overwrite a number, keeping its width in bytes. */
void gen_defect_number(gen_defect *d, uint64_t offset, size_t width, uint64_t number);
/* Encode a record. Arguments that are deltas of time or sequence number are 1; the others are taken
 * from args, then 0. */
void gen_defect_record(gen_defect *d, const char *name, const uint64_t *args, size_t count,
                       const char *data);
/* Write the encoded records in place of drop bytes at offset. */
void gen_defect_put(gen_defect *d, uint64_t offset, uint64_t drop, uint64_t batch);

/* Write a copy of a sound trace in which one rule is violated. tail says which goroutine runs
 * at the end of the proc or thread where events are added. */
gotrace_status gen_defect_write(gotrace_source *sound, int version, const gen_tail *tail,
                                gotrace_rule rule, gotrace_write_fn write, void *ctx,
                                const gotrace_config *config, gen_planted *planted,
                                gotrace_error *error);

/* The version of a trace in which gen can violate the rule: asked, or if that is 0 the first one. 0
 * if there is none. */
int gen_defect_version(gotrace_rule rule, int asked);
void gen_defect_plant(gen_defect *d, gotrace_rule rule);

#endif
