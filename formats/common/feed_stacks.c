/*
 * feed_stacks.c - see feed_stacks.h. A copy is looked at once by each user, but remains until its
 * generation has ended, so it takes as few bytes as in the trace. Equal texts are copied once.
 */
#include "formats/common/feed_stacks.h"

#include <stdlib.h>
#include <string.h>

enum { CHUNK_SIZE = 32 * 1024, VARINT = 10, FRAME = 4 * VARINT /* bytes at most */ };

typedef struct feed_chunk {
    struct feed_chunk *next;
    size_t used, size;
    uint64_t bytes[];
} feed_chunk;

/* A function or file. */
typedef struct feed_text {
    uint64_t id;
    size_t size;
    bool none; /* the frame has no text */
    char bytes[];
} feed_text;

void feed_copier_init(feed_copier *c, gotrace_reader *reader)
{
    *c = (feed_copier){.reader = reader, .most_frames = SIZE_MAX};
    id_numbers_init(&c->stacks);
    id_numbers_init(&c->texts);
}

void feed_copier_free(feed_copier *c)
{
    id_numbers_free(&c->stacks);
    id_numbers_free(&c->texts);
    free(c->buffer);
    free(c->packed);
}

bool feed_copier_restart(feed_copier *c)
{
    id_numbers_clear(&c->stacks);
    id_numbers_clear(&c->texts);
    c->arena = calloc(1, sizeof *c->arena);
    if (!c->arena)
        return false;
    c->arena->stacks.stride = sizeof(feed_stack_copy *);
    c->arena->texts.stride = sizeof(feed_text *);
    return id_numbers_put(&c->stacks, 0, FEED_NO_STACK);
}

void feed_arena_free(feed_arena *arena)
{
    if (!arena)
        return;
    while (arena->chunks) {
        feed_chunk *next = arena->chunks->next;
        free(arena->chunks);
        arena->chunks = next;
    }
    segment_list_free(&arena->stacks);
    segment_list_free(&arena->texts);
    free(arena);
}

/* Memory of a copy, which becomes the next one of the list; NULL if memory is refused. */
static void *arena_add(feed_arena *arena, segment_list *list, size_t size)
{
    feed_chunk *chunk = arena->chunks;
    void **next = segment_list_next(list);

    if (!next)
        return NULL;
    size = (size + sizeof chunk->bytes[0] - 1) / sizeof chunk->bytes[0] * sizeof chunk->bytes[0];
    if (!chunk || chunk->size - chunk->used < size) {
        size_t room = size > CHUNK_SIZE ? size : CHUNK_SIZE;
        chunk = malloc(sizeof *chunk + room);
        if (!chunk)
            return NULL;
        *chunk = (feed_chunk){.next = arena->chunks, .size = room};
        arena->chunks = chunk;
    }
    chunk->used += size;
    *next = (char *)chunk->bytes + chunk->used - size;
    list->count++;
    return *next;
}

/* The number of the only copy of the text with that id; 0 if memory is refused. */
static uint32_t copy_text(feed_copier *c, uint64_t id, const char *bytes, size_t size)
{
    uint32_t number = id_numbers_find(&c->texts, id);

    if (number != 0)
        return number;
    feed_text *text = arena_add(c->arena, &c->arena->texts, offsetof(feed_text, bytes) + size);
    number = (uint32_t)c->arena->texts.count;
    if (!text || !id_numbers_put(&c->texts, id, number))
        return 0;
    text->id = id;
    text->size = size;
    text->none = !bytes;
    if (size > 0)
        memcpy(text->bytes, bytes, size);
    return number;
}

static uint8_t *put(uint8_t *at, uint64_t v)
{
    for (; v >= 0x80; v >>= 7)
        *at++ = (uint8_t)(v | 0x80);
    *at++ = (uint8_t)v;
    return at;
}

static uint64_t get(const uint8_t **at)
{
    uint64_t v = 0;
    for (unsigned shift = 0;; shift += 7) {
        uint8_t byte = *(*at)++;
        v |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return v;
    }
}

static bool reserve_frames(feed_copier *c, size_t depth)
{
    if (depth <= c->capacity)
        return true;
    gotrace_frame *buffer = reallocarray(c->buffer, depth, sizeof *buffer);
    c->buffer = buffer ? buffer : c->buffer;
    uint8_t *packed = reallocarray(c->packed, depth, FRAME);
    c->packed = packed ? packed : c->packed;
    if (buffer && packed)
        c->capacity = depth;
    return buffer && packed;
}

/* Packs the frames in the buffer. Returns the size; 0 if memory is refused. */
static size_t pack_frames(feed_copier *c, size_t depth)
{
    uint8_t *at = c->packed;

    for (size_t i = 0; i < depth; i++) {
        const gotrace_frame *f = &c->buffer[i];
        uint32_t function = copy_text(c, f->function_id, f->function, f->function_size);
        uint32_t file = copy_text(c, f->file_id, f->file, f->file_size);
        if (function == 0 || file == 0)
            return 0;
        at = put(put(put(put(at, f->pc), f->line), function), file);
    }
    return (size_t)(at - c->packed);
}

bool feed_copy_stack(feed_copier *c, uint64_t id)
{
    if (feed_has_copied(c, id))
        return true;
    size_t depth = gotrace_reader_stack_depth(c->reader, id);
    if (depth == 0)
        return id_numbers_put(&c->stacks, id, FEED_NO_STACK);
    if (depth > c->most_frames)
        depth = c->most_frames;
    if (!reserve_frames(c, depth))
        return false;
    gotrace_reader_stack(c->reader, id, c->buffer, depth);
    size_t size = pack_frames(c, depth);
    if (size == 0)
        return false;
    feed_stack_copy *copy = arena_add(c->arena, &c->arena->stacks,
                                      offsetof(feed_stack_copy, frames) + size);
    if (!copy)
        return false;
    *copy = (feed_stack_copy){.id = id, .depth = (uint32_t)depth};
    memcpy(copy->frames, c->packed, size);
    return id_numbers_put(&c->stacks, id, (uint32_t)c->arena->stacks.count);
}

const feed_stack_copy *feed_stack_copy_at(const feed_arena *arena, uint32_t number)
{
    if (number == 0 || number == FEED_NO_STACK)
        return NULL;
    return *(feed_stack_copy *const *)segment_list_at(&arena->stacks, number - 1);
}

static const feed_text *text_at(const feed_arena *arena, uint64_t number)
{
    return *(feed_text *const *)segment_list_at(&arena->texts, (size_t)number - 1);
}

size_t feed_stack_frames(const feed_arena *arena, const feed_stack_copy *copy,
                         gotrace_frame *frames, size_t max)
{
    size_t depth = !copy ? 0 : copy->depth < max ? copy->depth : max;
    const uint8_t *at = copy ? copy->frames : NULL;

    for (size_t i = 0; i < depth; i++) {
        const uint64_t pc = get(&at), line = get(&at);
        const feed_text *function = text_at(arena, get(&at)), *file = text_at(arena, get(&at));
        frames[i] = (gotrace_frame){.pc = pc,
                                    .line = line,
                                    .function_id = function->id,
                                    .file_id = file->id,
                                    .function = function->none ? NULL : function->bytes,
                                    .function_size = function->size,
                                    .file = file->none ? NULL : file->bytes,
                                    .file_size = file->size};
    }
    return depth;
}
