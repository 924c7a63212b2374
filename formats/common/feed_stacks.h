/* feed_stacks.h - copies of the stacks of a generation, made in one thread and read in another. */
#ifndef FEED_STACKS_H
#define FEED_STACKS_H

#include "gotrace.h"
#include "formats/common/idmap.h"

/* A stack; its frames are shared with other stacks. */
typedef struct feed_stack_copy {
    struct feed_stack_copy *next; /* in the same block */
    uint64_t id;
    size_t depth;
    const gotrace_frame *frames[];
} feed_stack_copy;

/* Memory of the copies of one generation, which is freed as a whole. */
typedef struct feed_arena {
    struct feed_chunk *chunks;
} feed_arena;

/* Tracers number the stacks of a generation from 1. */
enum { FEED_LOW_IDS = 1 << 16 };

/* What the copying thread knows of a generation. */
typedef struct feed_copier {
    gotrace_reader *reader;
    feed_arena *arena;
    size_t most_frames;   /* of a stack that are copied, the innermost ones; default: all */
    uint64_t seed;        /* of the hashes of frames */
    idmap stacks, frames; /* ids of copied stacks that are not low; hash of a frame to its copy */
    uint8_t low[FEED_LOW_IDS / 8]; /* a bit for each low id: copied, or no stack */
    gotrace_frame *buffer;         /* frames of one stack */
    size_t capacity;
} feed_copier;

void feed_copier_init(feed_copier *c, gotrace_reader *reader);
void feed_copier_free(feed_copier *c);
/* Forgets everything; later copies are made in a new arena, which the caller frees. False if memory
 * is refused. */
bool feed_copier_restart(feed_copier *c);

/* Whether nothing is to be copied: a quick test for the ids of most events. */
static inline bool feed_has_copied(const feed_copier *c, uint64_t id)
{
    return id < FEED_LOW_IDS && c->low[id / 8] >> id % 8 & 1;
}

/* Adds a copy of the stack to the list, unless it has no frames or was copied before. False if
 * memory is refused. */
bool feed_copy_stack(feed_copier *c, uint64_t id, feed_stack_copy ***end);

/* Returns the innermost frames of a copy, at most max, and their number. NULL has none. */
size_t feed_stack_frames(const feed_stack_copy *copy, gotrace_frame *frames, size_t max);

void feed_arena_free(feed_arena *arena);

#endif
