/*
 * idmap.h - values by id: goroutines, procs, tasks, stacks.
 *
 * Ids come from the file, so that they may be anything: the hash is seeded at random, and nothing
 * that is written may depend on the order of idmap_next (idmap_sorted_keys gives one).
 */
#ifndef IDMAP_H
#define IDMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct idmap_slot {
    uint64_t key;
    uint64_t used;
} idmap_slot; /* the value follows */

typedef struct idmap {
    unsigned char *slots; /* capacity of them, each {key, used, value} */
    idmap_slot **recent;  /* by the last bits of the key, where it was found last */
    size_t capacity;      /* a power of two, or 0 */
    size_t count;
    size_t value_size;
    size_t stride; /* bytes of a slot */
    uint64_t seed;
} idmap;

void idmap_init(idmap *map, size_t value_size);

/* A power of two. */
enum { IDMAP_RECENT = 256 };

/* What idmap_find does if the id was not found recently. */
void *idmap_search(const idmap *map, uint64_t key);

/* The value of that id, or NULL. Valid until the next insert or remove. */
static inline void *idmap_find(const idmap *map, uint64_t key)
{
    if (map->count == 0)
        return NULL;
    idmap_slot *s = map->recent[key % IDMAP_RECENT];
    return s->key == key && s->used ? s + 1 : idmap_search(map, key);
}

/* The value of that id, all zero if it is new. NULL when memory is refused. */
void *idmap_insert(idmap *map, uint64_t key);

void idmap_remove(idmap *map, uint64_t key);

/* Walk in no particular order: *cursor starts at 0; false at the end. */
bool idmap_next(const idmap *map, size_t *cursor, uint64_t *key, void **value);

/* All ids, ascending, to be freed by the caller. NULL when memory is refused, or if there are
 * none. */
uint64_t *idmap_sorted_keys(const idmap *map);

void idmap_free(idmap *map);

/* Sort ids in ascending order. */
void idmap_sort(uint64_t *keys, size_t count);

#endif
