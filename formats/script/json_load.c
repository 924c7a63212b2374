/*
 * json_load.c - see json_load.h.
 *
 * Why an allocator is set for the whole process, and a thread has a current json_memory: jansson
 * has one pair of functions, without a context. A limit for each document needs no allocator only
 * if the document is so small that what jansson allocates for it is harmless, but a script may be
 * as large as a trace; and jansson may read beyond a token if an allocation fails (json_load.h), so
 * that counting afterwards is too late. json_load_callback, which is used here, limits the text
 * that jansson gets, not what it allocates for it. Another parser of JSON would be more code than
 * this file. Only formats/script uses jansson, not the library: no other program gets the
 * allocator. Documents in several threads do not share anything, and outside of a load and of the
 * life of its values the functions are malloc and free.
 */
#include "formats/script/json_load.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Bytes of text that jansson gets at a time: most events are smaller. */
enum { PIECE = 256 };

/* What it allocates for them at most: many objects are the most expensive. */
enum { PER_PIECE = 64 << 10 };

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

/* Makes sure that jansson can allocate what it needs for the next piece. Each table or token that
 * it has may grow to twice its size. */
static bool reserve(json_memory *memory)
{
    size_t need = 2 * memory->used + PER_PIECE;
    const json_chunk *chunk = memory->chunks;
    return (chunk && chunk->size - chunk->used >= need) || add_chunk(memory, need + need / 2);
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

typedef struct json_source {
    json_memory *memory;
    json_text *text;
    bool refused; /* memory was refused */
} json_source;

static size_t give(void *buffer, size_t size, void *ctx)
{
    json_source *source = ctx;
    json_text *text = source->text;
    source->refused = !reserve(source->memory);
    if (source->refused)
        return 0;
    if (text->before) {
        size = strlen(text->before);
        memcpy(buffer, text->before, size);
        text->before = NULL;
        return size;
    }
    text->ended = text->size == 0;
    if (size > PIECE)
        size = PIECE;
    if (size > text->size)
        size = text->size;
    memcpy(buffer, text->bytes, size);
    text->bytes += size;
    text->size -= size;
    return size;
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

/* Frees the values. Keeps some memory for the next load. */
static void clear(json_memory *memory)
{
    json_chunk *kept = memory->chunks;
    if (kept) {
        free_chunks(kept->next);
        kept->next = NULL;
        kept->used = 0;
    }
    memory->used = 0;
    memory->exceeded = false;
}

json_t *json_load_text(json_memory *memory, json_text *text, size_t flags, json_error_t *error)
{
    json_source source = {memory, text, false};
    json_t *loaded = NULL;
    clear(memory);
    current = memory;
    if (reserve(memory))
        loaded = json_load_callback(give, &source, flags, error);
    else
        source.refused = true;
    if (!source.refused)
        return loaded;
    *error = (json_error_t){.line = -1};
    return NULL;
}

void json_memory_free(json_memory *memory)
{
    free_chunks(memory->chunks);
    *memory = (json_memory){0};
    if (current == memory)
        current = NULL;
}
