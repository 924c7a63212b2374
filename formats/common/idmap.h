/*
 * idmap.h - values by 64-bit id: goroutines, procs, tasks, stacks.
 *
 * A value keeps its address until it is removed. Ids come from the file, so that they may be
 * anything: the hash has a random seed, and no output may depend on the order of idmap_next
 * (idmap_sorted_keys returns one).
 */
#ifndef IDMAP_H
#define IDMAP_H

#include "core/lookup.h"

typedef struct idmap_recent {
    uint64_t key;
    void *value; /* NULL: empty */
} idmap_recent;

typedef struct idmap {
    size_t count;
    gt_lookup lookup;
    unsigned char **blocks; /* of entries: each an id and its value */
    size_t stride, used;    /* bytes of an entry; entries in blocks, removed ones too */
    uint32_t removed;       /* number of an entry to be used again, 0 if there is none */
    idmap_recent *recent;   /* cache of found values, by the last bits of the id */
} idmap;

void idmap_init(idmap *map, size_t value_size);

/* A power of two. */
enum { IDMAP_RECENT = 256 };

/* idmap_find of what is not in the cache. */
void *idmap_search(const idmap *map, uint64_t key);

/* The value of that id if it is in the cache, or NULL. */
static inline void *idmap_cached(const idmap *map, uint64_t key)
{
    if (map->count == 0)
        return NULL;
    const idmap_recent *r = &map->recent[key % IDMAP_RECENT];
    return r->key == key ? r->value : NULL;
}

/* The value of that id, or NULL. */
static inline void *idmap_find(const idmap *map, uint64_t key)
{
    if (map->count == 0)
        return NULL;
    const idmap_recent *r = &map->recent[key % IDMAP_RECENT];
    return r->key == key && r->value ? r->value : idmap_search(map, key);
}

/* The value of that id, zeroed if it is new. NULL if memory is refused. */
void *idmap_insert(idmap *map, uint64_t key);

void idmap_remove(idmap *map, uint64_t key);

/* Iterates in no particular order: *cursor starts at 0; false at the end. */
bool idmap_next(const idmap *map, size_t *cursor, uint64_t *key, void **value);

/* All ids, ascending, to be freed by the caller. NULL if memory is refused or there are none. */
uint64_t *idmap_sorted_keys(const idmap *map);

/* Removes all, and frees the memory. The map can be used again. */
void idmap_free(idmap *map);

/* The same of a map that is filled many times: a small one keeps its memory. */
void idmap_clear(idmap *map);

/* Sorts ids in ascending order. */
void idmap_sort(uint64_t *keys, size_t count);

#endif
