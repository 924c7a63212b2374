/*
 * lookup.h - from a key to the number of its item, by hash.
 *
 * The owner stores the items, numbers them from 1 on, hashes their keys with the lookup's seed and
 * compares keys. A slot is half of an item's hash and its number: growing reads no item, and items
 * with other keys are rarely compared. To find an item:
 *
 *     number = gt_lookup_first(lookup, hash, &slot);
 *     while (number && !same(number, key))
 *         number = gt_lookup_next(lookup, hash, &slot);
 *
 * To add one: gt_lookup_reserve, then the search, then gt_lookup_put at the slot where it ended.
 *
 * Everything here is inline, so that formats and cmd can use it: the library exports none of it.
 */
#ifndef GT_LOOKUP_H
#define GT_LOOKUP_H

#include "core/hash.h"
#include "gotrace.h"

enum { GT_LOOKUP_LEAST = 64 };

typedef struct gt_lookup {
    uint64_t *slots;        /* low half of a hash, then a number; 0: free */
    size_t count, capacity; /* capacity a power of two, or 0; at most three quarters are used */
    uint64_t seed;          /* of the hash, if capacity is not 0 */
} gt_lookup;

/* The next number from *slot on whose hash may be equal; 0 if there is none, and *slot is free. */
static inline uint32_t gt_lookup_from(const gt_lookup *lookup, uint64_t hash, size_t *slot)
{
    size_t mask = lookup->capacity - 1, i = *slot;
    while (lookup->slots[i] != 0 && lookup->slots[i] >> 32 != (uint32_t)hash)
        i = (i + 1) & mask;
    *slot = i;
    return (uint32_t)lookup->slots[i];
}

static inline uint32_t gt_lookup_first(const gt_lookup *lookup, uint64_t hash, size_t *slot)
{
    *slot = 0;
    if (lookup->capacity == 0)
        return 0;
    *slot = (uint32_t)hash & (lookup->capacity - 1);
    return gt_lookup_from(lookup, hash, slot);
}

static inline uint32_t gt_lookup_next(const gt_lookup *lookup, uint64_t hash, size_t *slot)
{
    *slot = (*slot + 1) & (lookup->capacity - 1);
    return gt_lookup_from(lookup, hash, slot);
}

static inline void gt_lookup_free(gt_lookup *lookup, gotrace_allocator memory)
{
    if (lookup->slots)
        memory.resize(memory.ctx, lookup->slots, lookup->capacity * sizeof *lookup->slots, 0);
    *lookup = (gt_lookup){0};
}

/* Removes everything. Shrinks a large lookup that has few entries, so that clearing it stays cheap
 * for many small generations. */
static inline void gt_lookup_clear(gt_lookup *lookup, gotrace_allocator memory)
{
    if (lookup->capacity / 32 > lookup->count)
        gt_lookup_free(lookup, memory);
    else if (lookup->count > 0)
        memset(lookup->slots, 0, lookup->capacity * sizeof *lookup->slots);
    lookup->count = 0;
}

/* Doubles the capacity; false if memory is refused. */
static inline bool gt_lookup_grow(gt_lookup *lookup, gotrace_allocator memory)
{
    gt_lookup larger = {.count = lookup->count, .seed = lookup->seed};
    larger.capacity = lookup->capacity ? 2 * lookup->capacity : (size_t)GT_LOOKUP_LEAST;
    if (larger.capacity > SIZE_MAX / sizeof *larger.slots)
        return false;
    size_t size = larger.capacity * sizeof *larger.slots;
    larger.slots = memory.resize(memory.ctx, NULL, 0, size);
    if (!larger.slots)
        return false;
    memset(larger.slots, 0, size);
    for (size_t i = 0; i < lookup->capacity; i++) {
        if (lookup->slots[i] == 0)
            continue;
        size_t slot = lookup->slots[i] >> 32 & (larger.capacity - 1);
        while (larger.slots[slot] != 0)
            slot = (slot + 1) & (larger.capacity - 1);
        larger.slots[slot] = lookup->slots[i];
    }
    if (lookup->capacity == 0)
        larger.seed = gt_hash_seed();
    gt_lookup_free(lookup, memory);
    *lookup = larger;
    return true;
}

/* Makes room for one more. False, without effect, if memory is refused or the numbers are
 * exhausted. */
static inline bool gt_lookup_reserve(gt_lookup *lookup, gotrace_allocator memory)
{
    if (lookup->count < lookup->capacity - lookup->capacity / 4)
        return true;
    return lookup->count < UINT32_MAX && gt_lookup_grow(lookup, memory);
}

/* Puts a number into the free slot where the search for its hash ended. */
static inline void gt_lookup_put(gt_lookup *lookup, size_t slot, uint64_t hash, uint32_t number)
{
    lookup->slots[slot] = hash << 32 | number;
    lookup->count++;
}

/* Removes the number in that slot, and moves entries that could no longer be found because of the
 * gap. */
static inline void gt_lookup_remove(gt_lookup *lookup, size_t slot)
{
    size_t mask = lookup->capacity - 1;
    for (size_t i = (slot + 1) & mask; lookup->slots[i] != 0; i = (i + 1) & mask) {
        size_t home = lookup->slots[i] >> 32 & mask;
        if (((i - home) & mask) < ((i - slot) & mask))
            continue;
        lookup->slots[slot] = lookup->slots[i];
        slot = i;
    }
    lookup->slots[slot] = 0;
    lookup->count--;
}

/* Iterates over all numbers in no particular order: *cursor starts at 0; 0 at the end. */
static inline uint32_t gt_lookup_each(const gt_lookup *lookup, size_t *cursor)
{
    while (*cursor < lookup->capacity) {
        uint64_t slot = lookup->slots[(*cursor)++];
        if (slot != 0)
            return (uint32_t)slot;
    }
    return 0;
}

#endif
