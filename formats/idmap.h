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

typedef struct idmap {
    unsigned char *slots; /* capacity of them, each {key, used, value} */
    size_t capacity;      /* a power of two, or 0 */
    size_t count;
    size_t value_size;
    size_t stride; /* bytes of a slot */
    uint64_t seed;
} idmap;

void idmap_init(idmap *map, size_t value_size);

/* The value of that id, or NULL. Valid until the next insert or remove. */
void *idmap_find(const idmap *map, uint64_t key);

/* The value of that id, all zero if it is new. NULL when memory is refused. */
void *idmap_insert(idmap *map, uint64_t key);

void idmap_remove(idmap *map, uint64_t key);

/* Walk in no particular order: *cursor starts at 0; false at the end. */
bool idmap_next(const idmap *map, size_t *cursor, uint64_t *key, void **value);

/* All ids, ascending, to be freed by the caller. NULL when memory is refused, or if there are
 * none. */
uint64_t *idmap_sorted_keys(const idmap *map);

void idmap_free(idmap *map);

#endif
