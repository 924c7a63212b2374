/*
 * idpool.c - see idpool.h. Objects are in blocks and have numbers. The hash table contains only the
 * numbers and 32 bits of the hash, so it is small, grows without access to the objects, and rarely
 * leads to an object with another id.
 */
#include "formats/common/idpool.h"

#include <stdlib.h>
#include <string.h>

#include "formats/common/idmap.h"
#include "core/hash.h"

enum { BLOCK = 256 /* objects */, FIRST_CAPACITY = 64 };

typedef struct entry {
    uint64_t id; /* if the entry is free: number of the next free one, or 0 */
} entry;         /* followed by the object */

void idpool_init(idpool *pool, size_t size)
{
    memset(pool, 0, sizeof *pool);
    pool->stride = sizeof(entry) + (size + 7) / 8 * 8;
    pool->seed = gt_hash_seed();
}

static entry *entry_of(const idpool *pool, uint32_t number)
{
    return (entry *)(void *)(pool->blocks[(number - 1) / BLOCK] +
                             (number - 1) % BLOCK * pool->stride);
}

/* The slot of an id, or the free one for it; *tag is its hash as stored in the slot. */
static size_t slot_of(const idpool *pool, uint64_t id, uint64_t *tag)
{
    size_t mask = pool->capacity - 1, i;
    uint64_t hash = gt_hash(pool->seed, id);

    *tag = hash >> 32 << 32;
    for (i = hash >> 32 & mask; pool->slots[i] != 0; i = (i + 1) & mask) {
        if (pool->slots[i] >> 32 << 32 != *tag)
            continue;
        if (entry_of(pool, (uint32_t)pool->slots[i])->id == id)
            break;
    }
    return i;
}

void *idpool_search(idpool *pool, uint64_t id)
{
    uint64_t tag;

    if (pool->count == 0)
        return NULL;
    uint64_t found = pool->slots[slot_of(pool, id, &tag)];
    if (found == 0)
        return NULL;
    pool->recent[id % IDPOOL_RECENT].id = id;
    return pool->recent[id % IDPOOL_RECENT].object = entry_of(pool, (uint32_t)found) + 1;
}

static bool grow(idpool *pool)
{
    size_t capacity = pool->capacity ? 2 * pool->capacity : FIRST_CAPACITY;
    uint64_t *larger = calloc(capacity, sizeof *larger);

    if (!larger)
        return false;
    for (size_t i = 0; i < pool->capacity; i++) {
        if (pool->slots[i] == 0)
            continue;
        size_t at = pool->slots[i] >> 32 & (capacity - 1);
        while (larger[at] != 0)
            at = (at + 1) & (capacity - 1);
        larger[at] = pool->slots[i];
    }
    free(pool->slots);
    pool->slots = larger;
    pool->capacity = capacity;
    return true;
}

static bool add_block(idpool *pool)
{
    size_t count = pool->block_count;

    /* The capacity of the list of blocks doubles whenever their number is a power of two. */
    if ((count & (count - 1)) == 0) {
        size_t capacity = count ? 2 * count : 1;
        unsigned char **larger = reallocarray(pool->blocks, capacity, sizeof *larger);
        if (!larger)
            return false;
        pool->blocks = larger;
    }
    unsigned char *block = reallocarray(NULL, BLOCK, pool->stride);
    if (!block)
        return false;
    pool->blocks[pool->block_count++] = block;
    return true;
}

/* The number of an unused entry, a freed one first; 0 if memory is refused. */
static uint32_t take(idpool *pool)
{
    uint32_t number = pool->first_free;

    if (number != 0) {
        pool->first_free = (uint32_t)entry_of(pool, number)->id;
        return number;
    }
    if (pool->last_number == UINT32_MAX)
        return 0;
    if (pool->last_number == pool->block_count * BLOCK && !add_block(pool))
        return 0;
    return ++pool->last_number;
}

void *idpool_add(idpool *pool, uint64_t id)
{
    uint64_t tag;

    /* At most three quarters full: beyond that, probe sequences get long. */
    if (pool->count >= pool->capacity - pool->capacity / 4 && !grow(pool))
        return NULL;
    uint32_t number = take(pool);
    if (number == 0)
        return NULL;
    size_t slot = slot_of(pool, id, &tag);
    pool->slots[slot] = tag | number;
    pool->count++;
    entry *e = entry_of(pool, number);
    memset(e, 0, pool->stride);
    e->id = id;
    return e + 1;
}

void idpool_remove(idpool *pool, uint64_t id)
{
    uint64_t tag;

    if (!idpool_find(pool, id))
        return;
    size_t mask = pool->capacity - 1, hole = slot_of(pool, id, &tag);
    uint32_t number = (uint32_t)pool->slots[hole];

    /* Moves entries that could no longer be found because of the gap. */
    for (size_t i = (hole + 1) & mask; pool->slots[i] != 0; i = (i + 1) & mask) {
        size_t home = pool->slots[i] >> 32 & mask;
        if (((i - home) & mask) < ((i - hole) & mask))
            continue;
        pool->slots[hole] = pool->slots[i];
        hole = i;
    }
    pool->slots[hole] = 0;
    pool->count--;
    pool->recent[id % IDPOOL_RECENT].object = NULL;
    entry_of(pool, number)->id = pool->first_free;
    pool->first_free = number;
}

bool idpool_next(const idpool *pool, size_t *cursor, uint64_t *id, void **object)
{
    while (*cursor < pool->capacity) {
        uint64_t slot = pool->slots[(*cursor)++];
        if (slot != 0) {
            entry *e = entry_of(pool, (uint32_t)slot);
            *id = e->id;
            *object = e + 1;
            return true;
        }
    }
    return false;
}

uint64_t *idpool_sorted_ids(const idpool *pool)
{
    size_t cursor = 0, n = 0;
    void *object;

    if (pool->count == 0)
        return NULL;
    uint64_t *ids = reallocarray(NULL, pool->count, sizeof *ids);
    if (!ids)
        return NULL;
    while (n < pool->count && idpool_next(pool, &cursor, &ids[n], &object))
        n++;
    idmap_sort(ids, n);
    return ids;
}

void idpool_free(idpool *pool)
{
    for (size_t i = 0; i < pool->block_count; i++)
        free(pool->blocks[i]);
    free(pool->blocks);
    free(pool->slots);
    *pool = (idpool){.stride = pool->stride, .seed = pool->seed};
}
