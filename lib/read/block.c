#include "read/block.h"

#include <string.h>

/* Bytes of a chunk, and in addition for the arguments of each event that are kept. */
enum { CHUNK = 4096, ARGS = 4 * sizeof(uint64_t) };

struct gt_chunk {
    gt_chunk *next;
    size_t size, used;
    _Alignas(8) uint8_t bytes[];
};

static size_t size_of(size_t capacity, bool raw)
{
    return sizeof(gt_block) + capacity * (sizeof(gotrace_event) + (raw ? sizeof(gotrace_raw) : 0));
}

gt_block *gt_block_new(gt_heap *heap, size_t capacity, bool raw)
{
    gt_block *b = gt_calloc(heap, 1, size_of(capacity, raw));
    if (!b)
        return NULL;
    b->heap = heap;
    b->capacity = capacity;
    b->events = (gotrace_event *)(void *)(b + 1);
    b->raw = raw ? (gotrace_raw *)(void *)(b->events + capacity) : NULL;
    return b;
}

static size_t chunk_size(const gt_block *b)
{
    return CHUNK + (b->raw ? b->capacity * ARGS : 0);
}

static void free_chunks(gt_block *b)
{
    while (b->chunks) {
        gt_chunk *next = b->chunks->next;
        gt_free(b->heap, b->chunks, sizeof *b->chunks + b->chunks->size);
        b->chunks = next;
    }
}

void gt_block_free(gt_block *b)
{
    if (!b)
        return;
    free_chunks(b);
    gt_tables_release(b->tables);
    gt_free(b->heap, b, size_of(b->capacity, b->raw));
}

void gt_block_clear(gt_block *b)
{
    b->count = 0;
    b->failed = false;
    if (!b->chunks)
        return;
    if (b->chunks->next || b->chunks->size > chunk_size(b))
        free_chunks(b);
    else
        b->chunks->used = 0;
}

void *gt_block_alloc(gt_block *b, size_t size)
{
    gt_chunk *c = b->chunks;
    size = (size + 7) & ~(size_t)7;
    if (!c || c->size - c->used < size) {
        size_t room = size > chunk_size(b) ? size : chunk_size(b);
        c = gt_resize(b->heap, NULL, 0, sizeof *c + room);
        if (!c) {
            b->failed = true;
            return NULL;
        }
        *c = (gt_chunk){.next = b->chunks, .size = room};
        b->chunks = c;
    }
    void *made = c->bytes + c->used;
    c->used += size;
    return made;
}

void gt_block_refer(gt_block *b, gt_tables *tables)
{
    if (b->tables == tables)
        return;
    gt_tables_release(b->tables);
    gt_tables_hold(tables);
    b->tables = tables;
}

void gt_blocks_forget_tables(gt_block *first)
{
    for (gt_block *b = first; b; b = b->next)
        if (!atomic_load_explicit(&b->used, memory_order_acquire)) {
            gt_tables_release(b->tables);
            b->tables = NULL;
        }
}

const uint64_t *gt_block_args(gt_block *b, const uint64_t *args, size_t count)
{
    if (b->lends_args || count == 0)
        return args;
    void *copy = gt_block_alloc(b, count * sizeof *args);
    return copy ? memcpy(copy, args, count * sizeof *args) : NULL;
}

gotrace_details *gt_block_details(gt_block *b, gotrace_event *event, const uint64_t *args,
                                  size_t arg_count)
{
    gotrace_details *d = gt_block_alloc(b, sizeof *d);
    if (!d)
        d = &b->nowhere;
    args = gt_block_args(b, args, arg_count);
    *d = (gotrace_details){.args = args, .arg_count = args ? arg_count : 0};
    event->given = GOTRACE_GIVEN_DETAILS;
    event->extra.details = d;
    return d;
}
