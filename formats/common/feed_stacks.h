/* feed_stacks.h - copies of the stacks of a generation, made in one thread and read in others. */
#ifndef FEED_STACKS_H
#define FEED_STACKS_H

#include "gotrace.h"
#include "formats/common/id_numbers.h"
#include "formats/common/segment_list.h"

typedef struct feed_stack_copy {
    uint64_t id;
    uint32_t depth;
    uint8_t frames[]; /* of each, as varints: PC, line, numbers of the function's and file's text */
} feed_stack_copy;

/* The copies of one generation, which are freed as a whole. Existing ones do not change, so that
 * other threads may read them while copies are added. */
typedef struct feed_arena {
    struct feed_chunk *chunks;
    segment_list stacks, texts; /* pointers to the copies; numbers are indices + 1 */
} feed_arena;

/* The number of a stack without frames. */
#define FEED_NO_STACK UINT32_MAX

/* What the copying thread knows of a generation. */
typedef struct feed_copier {
    gotrace_reader *reader;
    feed_arena *arena;
    size_t most_frames;       /* of a stack that are copied, the innermost ones; default: all */
    id_numbers stacks, texts; /* numbers of the copies */
    gotrace_frame *buffer;    /* frames of one stack */
    uint8_t *packed;
    size_t capacity; /* of both, in frames */
} feed_copier;

void feed_copier_init(feed_copier *c, gotrace_reader *reader);
void feed_copier_free(feed_copier *c);
/* Forgets everything; later copies are made in a new arena, which the caller frees. False if memory
 * is refused. */
bool feed_copier_restart(feed_copier *c);

/* Whether nothing is to be copied. */
static inline bool feed_has_copied(const feed_copier *c, uint64_t id)
{
    return id_numbers_find(&c->stacks, id) != 0;
}

/* Copies the stack, unless it has no frames or was copied before. False if memory is refused. */
bool feed_copy_stack(feed_copier *c, uint64_t id);

/* The copy with that number; NULL for 0 and FEED_NO_STACK. */
const feed_stack_copy *feed_stack_copy_at(const feed_arena *arena, uint32_t number);

/* Returns the innermost frames of a copy, at most max, and their number. NULL has none. */
size_t feed_stack_frames(const feed_arena *arena, const feed_stack_copy *copy,
                         gotrace_frame *frames, size_t max);

void feed_arena_free(feed_arena *arena);

#endif
