/*
 * idpool.h - objects by id that keep their address until they are removed, with a cache of recent
 * look-ups. For objects that are too large for an idmap, which copies its values when it grows and
 * has unused slots. As with an idmap, ids may have any value, and the order of idpool_next is
 * undefined.
 */
#ifndef IDPOOL_H
#define IDPOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { IDPOOL_RECENT = 256 };

typedef struct idpool {
    uint64_t *slots; /* hash and number of an object, or 0 */
    size_t capacity; /* a power of two, or 0 */
    size_t count;
    uint64_t seed;
    size_t stride; /* size of an object and its id, which precedes it */
    unsigned char **blocks;
    size_t block_count;
    uint32_t last_number, first_free; /* numbers: the last one used; the first free one, each of
                                         which contains the next */
    struct {
        uint64_t id;
        void *object; /* NULL: empty */
    } recent[IDPOOL_RECENT];
} idpool;

void idpool_init(idpool *pool, size_t size);

void *idpool_search(idpool *pool, uint64_t id);

/* The object of that id, or NULL. */
static inline void *idpool_find(idpool *pool, uint64_t id)
{
    size_t at = id % IDPOOL_RECENT;

    if (pool->recent[at].object && pool->recent[at].id == id)
        return pool->recent[at].object;
    return idpool_search(pool, id);
}

/* Adds an object, all zero, for an id that has none. NULL if memory is refused. */
void *idpool_add(idpool *pool, uint64_t id);

void idpool_remove(idpool *pool, uint64_t id);

/* Iterates like idmap_next. */
bool idpool_next(const idpool *pool, size_t *cursor, uint64_t *id, void **object);

/* All ids, like idmap_sorted_keys. */
uint64_t *idpool_sorted_ids(const idpool *pool);

void idpool_free(idpool *pool);

#endif
