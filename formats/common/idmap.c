/* idmap.c - ids and values in blocks of memory, found by a lookup. */
#include "formats/common/idmap.h"

#include <stdlib.h>
#include <string.h>

#include "core/malloc.h"

enum { BLOCK = 256 /* entries */ };

typedef struct entry {
    uint64_t key; /* of a removed entry: the number of the one removed before, or 0 */
} entry;          /* the value follows */

void idmap_init(idmap *map, size_t value_size)
{
    *map = (idmap){.stride = sizeof(entry) + (value_size + 7) / 8 * 8};
}

static entry *entry_of(const idmap *map, uint32_t number)
{
    return (entry *)(void *)(map->blocks[(number - 1) / BLOCK] +
                             (number - 1) % BLOCK * map->stride);
}

static uint32_t number_of(const idmap *map, uint64_t key, uint64_t hash, size_t *slot)
{
    uint32_t number = gt_lookup_first(&map->lookup, hash, slot);

    while (number && entry_of(map, number)->key != key)
        number = gt_lookup_next(&map->lookup, hash, slot);
    return number;
}

static void *remember(const idmap *map, uint64_t key, void *value)
{
    map->recent[key % IDMAP_RECENT] = (idmap_recent){key, value};
    return value;
}

void *idmap_search(const idmap *map, uint64_t key)
{
    size_t slot;
    uint32_t number = number_of(map, key, gt_hash(map->lookup.seed, key), &slot);

    return number ? remember(map, key, entry_of(map, number) + 1) : NULL;
}

/* Adds a block of zeroed entries; false if memory is refused. The list of blocks grows to twice its
 * size whenever their number is a power of two. */
static bool add_block(idmap *map)
{
    size_t count = map->used / BLOCK;

    if ((count & (count - 1)) == 0) {
        size_t room = count > 0 ? 2 * count : 1;
        unsigned char **blocks = realloc(map->blocks, room * sizeof *blocks);
        if (!blocks)
            return false;
        map->blocks = blocks;
    }
    map->blocks[count] = calloc(BLOCK, map->stride);
    return map->blocks[count] != NULL;
}

/* The number of a zeroed entry, of a removed one if there is any; 0 if memory is refused. */
static uint32_t take_entry(idmap *map)
{
    uint32_t number = map->removed;

    if (number == 0) {
        if (map->used % BLOCK == 0 && !add_block(map))
            return 0;
        return (uint32_t)++map->used;
    }
    map->removed = (uint32_t)entry_of(map, number)->key;
    memset(entry_of(map, number), 0, map->stride);
    return number;
}

void *idmap_insert(idmap *map, uint64_t key)
{
    if (!map->recent)
        map->recent = calloc(IDMAP_RECENT, sizeof *map->recent);
    if (!map->recent || !gt_lookup_reserve(&map->lookup, gt_malloc()))
        return NULL;
    size_t slot;
    uint64_t hash = gt_hash(map->lookup.seed, key);
    uint32_t number = number_of(map, key, hash, &slot);
    if (number == 0) {
        number = take_entry(map);
        if (number == 0)
            return NULL;
        gt_lookup_put(&map->lookup, slot, hash, number);
        map->count++;
        entry_of(map, number)->key = key;
    }
    return remember(map, key, entry_of(map, number) + 1);
}

void idmap_remove(idmap *map, uint64_t key)
{
    size_t slot;
    uint32_t number = number_of(map, key, gt_hash(map->lookup.seed, key), &slot);

    if (number == 0)
        return;
    gt_lookup_remove(&map->lookup, slot);
    map->count--;
    entry_of(map, number)->key = map->removed;
    map->removed = number;
    if (map->recent[key % IDMAP_RECENT].key == key)
        map->recent[key % IDMAP_RECENT].value = NULL;
}

bool idmap_next(const idmap *map, size_t *cursor, uint64_t *key, void **value)
{
    uint32_t number = gt_lookup_each(&map->lookup, cursor);

    if (number == 0)
        return false;
    *key = entry_of(map, number)->key;
    *value = entry_of(map, number) + 1;
    return true;
}

static int compare_keys(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

void idmap_sort(uint64_t *keys, size_t count)
{
    qsort(keys, count, sizeof *keys, compare_keys);
}

uint64_t *idmap_sorted_keys(const idmap *map)
{
    size_t cursor = 0;
    uint64_t *keys = map->count > 0 ? malloc(map->count * sizeof *keys) : NULL;
    void *value;

    if (!keys)
        return NULL;
    for (size_t n = 0; n < map->count; n++)
        idmap_next(map, &cursor, &keys[n], &value);
    idmap_sort(keys, map->count);
    return keys;
}

void idmap_clear(idmap *map)
{
    if (map->used > BLOCK) {
        idmap_free(map);
        return;
    }
    /* Those removed before have another key, and at worst clear one more slot of the cache. */
    for (uint32_t number = 1; number <= map->used; number++) {
        entry *e = entry_of(map, number);
        map->recent[e->key % IDMAP_RECENT].value = NULL;
        e->key = number - 1;
    }
    map->removed = (uint32_t)map->used;
    map->count = 0;
    gt_lookup_clear(&map->lookup, gt_malloc());
}

void idmap_free(idmap *map)
{
    for (size_t i = 0; i < (map->used + BLOCK - 1) / BLOCK; i++)
        free(map->blocks[i]);
    free(map->blocks);
    gt_lookup_free(&map->lookup, gt_malloc());
    free(map->recent);
    map->blocks = NULL;
    map->used = 0;
    map->recent = NULL;
    map->removed = 0;
    map->count = 0;
}
