/* json_load.c - see json_load.h. */
#include "formats/script/json_load.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* What jansson allocates for text of this many bytes. The most expensive byte begins an object or
 * lets a table of LARGE bytes grow to twice its size. */
enum {
    PER_BYTE = 192,
    ALWAYS = 16 << 10,
    LARGE = 256,
};

typedef struct json_chunk {
    struct json_chunk *next;
    size_t size, used; /* of bytes */
    alignas(max_align_t) char bytes[];
} json_chunk;

/* Jansson passes no context to its allocator. NULL: no values of json_load.h are in use. */
static _Thread_local json_memory *current;

static bool add_chunk(json_memory *memory, size_t size)
{
    json_chunk *chunk = size <= SIZE_MAX - sizeof *chunk ? malloc(sizeof *chunk + size) : NULL;
    if (!chunk)
        return false;
    chunk->next = memory->chunks;
    chunk->size = size;
    chunk->used = 0;
    memory->chunks = chunk;
    return true;
}

/* Makes sure that jansson can allocate what it needs for this many bytes of text. Each large block
 * may be a table or a token that has to grow to twice its size. */
static bool reserve(json_memory *memory, size_t text)
{
    size_t need = 2 * memory->large + PER_BYTE * text + ALWAYS;
    const json_chunk *chunk = memory->chunks;
    return (chunk && chunk->size - chunk->used >= need) ||
           add_chunk(memory, need + need / 2 + memory->used / 2);
}

static void *allocate(size_t size)
{
    json_memory *memory = current;
    if (!memory)
        return malloc(size);
    if (size > SIZE_MAX - alignof(max_align_t))
        return NULL;
    size = (size + alignof(max_align_t) - 1) / alignof(max_align_t) * alignof(max_align_t);
    json_chunk *chunk = memory->chunks;
    if (!chunk || size > chunk->size - chunk->used) {
        memory->exceeded = true;
        if (!add_chunk(memory, size))
            return NULL;
        chunk = memory->chunks;
    }
    void *bytes = chunk->bytes + chunk->used;
    chunk->used += size;
    memory->used += size;
    memory->large += size > LARGE ? size : 0;
    return bytes;
}

static void release(void *bytes)
{
    uintptr_t at = (uintptr_t)bytes;
    for (const json_chunk *c = current ? current->chunks : NULL; c; c = c->next)
        if (at >= (uintptr_t)c->bytes && at < (uintptr_t)c->bytes + c->size)
            return;
    free(bytes);
}

/* Jansson has one allocator for all threads; set it before anything is allocated. */
__attribute__((constructor)) static void set_allocator(void)
{
    json_set_alloc_funcs(allocate, release);
}

/* The source of a load. */
typedef struct load_source {
    json_memory *memory;
    json_load_callback_t give;
    void *ctx;
    bool refused; /* memory was refused */
} load_source;

static size_t give_within_memory(void *buffer, size_t size, void *ctx)
{
    load_source *source = ctx;
    source->refused = !reserve(source->memory, size);
    return source->refused ? 0 : source->give(buffer, size, source->ctx);
}

json_t *json_load_from(json_memory *memory, json_load_callback_t give, void *ctx, size_t flags,
                       json_error_t *error)
{
    load_source source = {memory, give, ctx, false};
    json_t *loaded = NULL;
    current = memory;
    if (reserve(memory, 0))
        loaded = json_load_callback(give_within_memory, &source, flags, error);
    else
        source.refused = true;
    if (source.refused) {
        *error = (json_error_t){.line = -1};
        return NULL;
    }
    return loaded;
}

typedef struct text_left {
    const char *bytes;
    size_t size;
} text_left;

static size_t give_text(void *buffer, size_t size, void *ctx)
{
    text_left *left = ctx;
    if (size > left->size)
        size = left->size;
    memcpy(buffer, left->bytes, size);
    left->bytes += size;
    left->size -= size;
    return size;
}

json_t *json_load_bytes(json_memory *memory, const char *bytes, size_t size, size_t flags,
                        json_error_t *error)
{
    text_left left = {bytes, size};
    return json_load_from(memory, give_text, &left, flags, error);
}

/* Frees the chunks from this one on. */
static void free_chunks(json_chunk *chunk)
{
    while (chunk) {
        json_chunk *next = chunk->next;
        free(chunk);
        chunk = next;
    }
}

void json_memory_clear(json_memory *memory)
{
    json_chunk *kept = memory->chunks;
    if (kept) {
        free_chunks(kept->next);
        kept->next = NULL;
        kept->used = 0;
    }
    memory->used = memory->large = 0;
    memory->exceeded = false;
    if (current == memory)
        current = NULL;
}

void json_memory_free(json_memory *memory)
{
    free_chunks(memory->chunks);
    *memory = (json_memory){0};
    if (current == memory)
        current = NULL;
}
