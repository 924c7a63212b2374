/* json_load.c - see json_load.h. */
#include "formats/script/json_load.h"

#include <setjmp.h>
#include <stdalign.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* Header of each block that jansson allocated; a list, latest block first. */
typedef struct block {
    alignas(max_align_t) struct block *next;
    struct block *previous;
} block;

/* Thread-local, because jansson passes no context to its allocator. */
static _Thread_local block *blocks;
static _Thread_local jmp_buf *refused; /* target after a refused allocation; NULL: not loading */

static void *allocate(size_t size)
{
    block *b = size <= SIZE_MAX - sizeof *b ? malloc(sizeof *b + size) : NULL;
    if (!b) {
        if (refused)
            longjmp(*refused, 1);
        return NULL;
    }
    *b = (block){.next = blocks};
    if (blocks)
        blocks->previous = b;
    blocks = b;
    return b + 1;
}

static void release(void *bytes)
{
    if (!bytes)
        return;
    block *b = (block *)bytes - 1;
    if (b->previous)
        b->previous->next = b->next;
    else
        blocks = b->next;
    if (b->next)
        b->next->previous = b->previous;
    free(b);
}

/* Jansson has one allocator for all threads; set it before anything is allocated. */
__attribute__((constructor)) static void set_allocator(void)
{
    json_set_alloc_funcs(allocate, release);
}

/* Parameters of a load. */
typedef struct load_job {
    json_load_callback_t give; /* NULL: use bytes */
    void *ctx;
    const char *bytes;
    size_t size, flags;
    block *before; /* the last block from before this load */
    json_error_t *error;
} load_job;

static json_t *load(const load_job *job)
{
    jmp_buf here;
    json_t *loaded = NULL;
    if (setjmp(here) == 0) {
        refused = &here;
        loaded = job->give ? json_load_callback(job->give, job->ctx, job->flags, job->error)
                           : json_loadb(job->bytes, job->size, job->flags, job->error);
        refused = NULL;
        return loaded;
    }
    refused = NULL;
    while (blocks != job->before)
        release(blocks + 1);
    *job->error = (json_error_t){.line = -1};
    return NULL;
}

json_t *json_load_bytes(const char *bytes, size_t size, size_t flags, json_error_t *error)
{
    const load_job job = {
        .bytes = bytes, .size = size, .flags = flags, .before = blocks, .error = error};
    return load(&job);
}

json_t *json_load_from(json_load_callback_t give, void *ctx, size_t flags, json_error_t *error)
{
    const load_job job = {
        .give = give, .ctx = ctx, .flags = flags, .before = blocks, .error = error};
    return load(&job);
}
