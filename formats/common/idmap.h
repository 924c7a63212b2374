/*
 * idmap.h - values by id: goroutines, procs, tasks, stacks.
 *
 * Ids come from the file and may have any value: the hash is seeded, and no output may depend on
 * the order of idmap_next (idmap_sorted_keys returns sorted keys).
 */
#ifndef IDMAP_H
#define IDMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct idmap_slot {
    uint64_t key;
    uint64_t used;
} idmap_slot; /* followed by the value */

typedef struct idmap {
    unsigned char *slots; /* capacity slots, each {key, used, value} */
    idmap_slot **recent;  /* cache: the slot found last, by the low bits of the key */
    size_t capacity;      /* a power of two, or 0 */
    size_t count;
    size_t value_size;
    size_t stride; /* size of a slot in bytes */
    uint64_t seed;
} idmap;

void idmap_init(idmap *map, size_t value_size);

/* A power of two. */
enum { IDMAP_RECENT = 256 };

/* The slow path of idmap_find: the id is not in the cache. */
void *idmap_search(const idmap *map, uint64_t key);

/* The value of that id, or NULL. Valid until the next insert or remove. */
static inline void *idmap_find(const idmap *map, uint64_t key)
{
    if (map->count == 0)
        return NULL;
    idmap_slot *s = map->recent[key % IDMAP_RECENT];
    return s->key == key && s->used ? s + 1 : idmap_search(map, key);
}

/* The value of that id, all zero if it is new. NULL if memory is refused. */
void *idmap_insert(idmap *map, uint64_t key);

void idmap_remove(idmap *map, uint64_t key);

/* Iterates in no particular order: *cursor starts at 0; false at the end. */
bool idmap_next(const idmap *map, size_t *cursor, uint64_t *key, void **value);

/* All ids, ascending, to be freed by the caller. NULL if memory is refused or the map is empty. */
uint64_t *idmap_sorted_keys(const idmap *map);

void idmap_free(idmap *map);

/* Sorts ids in ascending order. */
void idmap_sort(uint64_t *keys, size_t count);

#endif
