/*
 * map.h - a hash map from numbers to numbers, with removal: goroutines, tasks, waiting cursors.
 */
#ifndef GT_MAP_H
#define GT_MAP_H

#include "core/alloc.h"
#include "core/hash.h"

typedef struct gt_slot {
    uint64_t key, value; /* value 0: free */
} gt_slot;

typedef struct gt_map {
    gt_heap *heap;
    gt_slot *slots;
    size_t count, capacity; /* a power of two, at most half full */
    uint64_t seed;          /* of the hash, if capacity is not 0 */
} gt_map;

static inline size_t gt_map_home(const gt_map *map, uint64_t key)
{
    return (size_t)gt_hash(map->seed, key) & (map->capacity - 1);
}

/* The value of a key, 0 if it has none. */
static inline uint64_t gt_map_get(const gt_map *map, uint64_t key)
{
    if (map->count == 0)
        return 0;
    size_t mask = map->capacity - 1;
    for (size_t i = gt_map_home(map, key); map->slots[i].value; i = (i + 1) & mask)
        if (map->slots[i].key == key)
            return map->slots[i].value;
    return 0;
}

/* Sets the value of a key; not 0. False if memory is refused, which cannot happen for an existing
 * key. */
bool gt_map_put(gt_map *map, uint64_t key, uint64_t value);

void gt_map_remove(gt_map *map, uint64_t key);
void gt_map_free(gt_map *map);

#endif
