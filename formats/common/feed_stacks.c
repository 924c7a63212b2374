#include "formats/common/feed_stacks.h"

#include <stdlib.h>
#include <string.h>

#include "core/hash.h"

enum { CHUNK_SIZE = 32 * 1024, NO_STACK = 1 /* the bit of id 0 */ };

typedef struct feed_chunk {
    struct feed_chunk *next;
    size_t used, size;
    max_align_t bytes[];
} feed_chunk;

void feed_copier_init(feed_copier *c, gotrace_reader *reader)
{
    *c = (feed_copier){.reader = reader, .most_frames = SIZE_MAX, .seed = gt_hash_seed()};
    idmap_init(&c->stacks, 0);
    idmap_init(&c->frames, sizeof(gotrace_frame *));
}

void feed_copier_free(feed_copier *c)
{
    idmap_free(&c->stacks);
    idmap_free(&c->frames);
    free(c->buffer);
}

bool feed_copier_restart(feed_copier *c)
{
    idmap_free(&c->stacks);
    idmap_free(&c->frames);
    memset(c->low, 0, sizeof c->low);
    c->low[0] = NO_STACK;
    c->arena = calloc(1, sizeof *c->arena);
    return c->arena;
}

void feed_arena_free(feed_arena *arena)
{
    while (arena && arena->chunks) {
        feed_chunk *next = arena->chunks->next;
        free(arena->chunks);
        arena->chunks = next;
    }
    free(arena);
}

/* NULL if memory is refused. */
static void *arena_take(feed_arena *arena, size_t size)
{
    feed_chunk *chunk = arena->chunks;

    size = (size + sizeof(max_align_t) - 1) / sizeof(max_align_t) * sizeof(max_align_t);
    if (!chunk || chunk->size - chunk->used < size) {
        size_t room = size > CHUNK_SIZE ? size : CHUNK_SIZE;
        chunk = malloc(sizeof *chunk + room);
        if (!chunk)
            return NULL;
        *chunk = (feed_chunk){.next = arena->chunks, .size = room};
        arena->chunks = chunk;
    }
    chunk->used += size;
    return (char *)chunk->bytes + chunk->used - size;
}

/* False if memory is refused. */
static bool copy_text(feed_arena *arena, const char **text, size_t size)
{
    if (!*text || size == 0)
        return true;
    char *copy = arena_take(arena, size);
    if (copy)
        memcpy(copy, *text, size);
    *text = copy;
    return copy;
}

static bool is_same(const gotrace_frame *a, const gotrace_frame *b)
{
    return a->pc == b->pc && a->line == b->line && a->function_id == b->function_id &&
           a->file_id == b->file_id;
}

/* The only copy of this frame; NULL if memory is refused. */
static const gotrace_frame *copy_frame(feed_copier *c, const gotrace_frame *frame)
{
    uint64_t key = gt_hash_add(c->seed, gt_hash(c->seed, frame->pc), frame->line);

    key = gt_hash_add(c->seed, key, frame->function_id);
    key = gt_hash_add(c->seed, key, frame->file_id);
    for (;; key++) {
        gotrace_frame *const *known = idmap_find(&c->frames, key);
        if (!known)
            break;
        if (is_same(*known, frame))
            return *known;
    }
    gotrace_frame *copy = arena_take(c->arena, sizeof *copy);
    gotrace_frame **slot = copy ? idmap_insert(&c->frames, key) : NULL;
    if (!slot)
        return NULL;
    *slot = copy;
    *copy = *frame;
    return copy_text(c->arena, &copy->function, copy->function_size) &&
                   copy_text(c->arena, &copy->file, copy->file_size)
               ? copy
               : NULL;
}

static bool fill_buffer(feed_copier *c, uint64_t id, size_t depth)
{
    if (depth > c->capacity) {
        gotrace_frame *larger = reallocarray(c->buffer, depth, sizeof *larger);
        if (!larger)
            return false;
        c->buffer = larger;
        c->capacity = depth;
    }
    gotrace_reader_stack(c->reader, id, c->buffer, depth);
    return true;
}

/* False if memory is refused. */
static bool set_copied(feed_copier *c, uint64_t id)
{
    if (id >= FEED_LOW_IDS)
        return idmap_insert(&c->stacks, id);
    c->low[id / 8] |= (uint8_t)(1 << id % 8);
    return true;
}

bool feed_copy_stack(feed_copier *c, uint64_t id, feed_stack_copy ***end)
{
    if (feed_has_copied(c, id) || idmap_find(&c->stacks, id))
        return true;
    size_t depth = gotrace_reader_stack_depth(c->reader, id);
    if (depth == 0)
        return true;
    if (depth > c->most_frames)
        depth = c->most_frames;
    feed_stack_copy *copy = arena_take(c->arena, sizeof *copy + depth * sizeof *copy->frames);
    if (!copy || !fill_buffer(c, id, depth) || !set_copied(c, id))
        return false;
    *copy = (feed_stack_copy){.id = id, .depth = depth};
    for (size_t i = 0; i < depth; i++)
        if (!(copy->frames[i] = copy_frame(c, &c->buffer[i])))
            return false;
    **end = copy;
    *end = &copy->next;
    return true;
}

size_t feed_stack_frames(const feed_stack_copy *copy, gotrace_frame *frames, size_t max)
{
    size_t depth = !copy ? 0 : copy->depth < max ? copy->depth : max;

    for (size_t i = 0; i < depth; i++)
        frames[i] = *copy->frames[i];
    return depth;
}
