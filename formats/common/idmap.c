/* idmap.c - a hash table with linear probing. */
#include "formats/common/idmap.h"

#include <stdlib.h>
#include <string.h>

#include "core/hash.h"

typedef idmap_slot slot;

enum { FIRST_CAPACITY = 64 };

void idmap_init(idmap *map, size_t value_size)
{
    *map = (idmap){.value_size = value_size};
    map->stride = sizeof(slot) + (value_size + 7) / 8 * 8;
    map->seed = gt_hash_seed();
}

static slot *slot_at(const idmap *map, size_t i)
{
    return (slot *)(void *)(map->slots + i * map->stride);
}

static void *value_of(slot *s)
{
    return s + 1;
}

/* The slot of a key if there are no collisions. */
static size_t home_of(const idmap *map, uint64_t key)
{
    return (size_t)gt_hash(map->seed, key) & (map->capacity - 1);
}

/* The slot of a key, or the free one for it. */
static slot *slot_of(const idmap *map, uint64_t key)
{
    size_t i = home_of(map, key);

    for (;;) {
        slot *s = slot_at(map, i);
        if (!s->used || s->key == key)
            return s;
        i = (i + 1) & (map->capacity - 1);
    }
}

void *idmap_search(const idmap *map, uint64_t key)
{
    slot *s = slot_of(map, key);

    if (!s->used)
        return NULL;
    map->recent[key % IDMAP_RECENT] = s;
    return value_of(s);
}

static bool grow(idmap *map)
{
    idmap larger = *map;
    size_t behind = (IDMAP_RECENT * sizeof *map->recent + map->stride - 1) / map->stride;

    larger.capacity = map->capacity ? 2 * map->capacity : FIRST_CAPACITY;
    larger.slots = calloc(larger.capacity + behind, map->stride);
    if (!larger.slots)
        return false;
    larger.recent = (slot **)(void *)slot_at(&larger, larger.capacity);
    for (size_t i = 0; i < IDMAP_RECENT; i++)
        larger.recent[i] = slot_at(&larger, 0);
    for (size_t i = 0; i < map->capacity; i++) {
        slot *from = slot_at(map, i);
        if (from->used)
            memcpy(slot_of(&larger, from->key), from, map->stride);
    }
    free(map->slots);
    *map = larger;
    return true;
}

void *idmap_insert(idmap *map, uint64_t key)
{
    void *known = idmap_find(map, key);

    if (known)
        return known;
    /* At most three quarters full: beyond that, probe sequences get long. */
    if (map->count >= map->capacity - map->capacity / 4 && !grow(map))
        return NULL;
    slot *s = slot_of(map, key);
    memset(value_of(s), 0, map->value_size);
    s->key = key;
    s->used = 1;
    map->count++;
    map->recent[key % IDMAP_RECENT] = s;
    return value_of(s);
}

void idmap_remove(idmap *map, uint64_t key)
{
    if (!idmap_find(map, key))
        return;
    size_t mask = map->capacity - 1;
    slot *gap = slot_of(map, key);
    size_t hole = (size_t)((unsigned char *)gap - map->slots) / map->stride;

    /* Moves entries that could no longer be found because of the gap. */
    for (size_t i = (hole + 1) & mask; slot_at(map, i)->used; i = (i + 1) & mask) {
        size_t home = home_of(map, slot_at(map, i)->key);
        if (((i - home) & mask) < ((i - hole) & mask))
            continue;
        memcpy(slot_at(map, hole), slot_at(map, i), map->stride);
        hole = i;
    }
    slot_at(map, hole)->used = 0;
    map->count--;
}

bool idmap_next(const idmap *map, size_t *cursor, uint64_t *key, void **value)
{
    while (*cursor < map->capacity) {
        slot *s = slot_at(map, (*cursor)++);
        if (s->used) {
            *key = s->key;
            *value = value_of(s);
            return true;
        }
    }
    return false;
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
    if (map->count == 0)
        return NULL;
    uint64_t *keys = malloc(map->count * sizeof *keys);
    if (!keys)
        return NULL;
    size_t cursor = 0, n = 0;
    void *value;
    while (idmap_next(map, &cursor, &keys[n], &value))
        if (++n == map->count)
            break;
    idmap_sort(keys, n);
    return keys;
}

void idmap_free(idmap *map)
{
    free(map->slots);
    map->slots = NULL;
    map->recent = NULL;
    map->capacity = map->count = 0;
}
