/*
 * idpool.h - objects by id that stay where they are until they are removed, found without a search
 * if they were asked for not long ago. For what an idmap would have to carry about as it grows, and
 * have free room for. As with an idmap, ids may be anything, and so may the order of idpool_next.
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
    size_t stride; /* of an object and its id in front of it */
    unsigned char **blocks;
    size_t block_count;
    uint32_t given,
        free; /* numbers: the last one, and of those removed, each containing the next */
    struct {
        uint64_t id;
        void *object; /* NULL: nothing here */
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

/* A new one, all zero, of an id that has none. NULL when memory is refused. */
void *idpool_add(idpool *pool, uint64_t id);

void idpool_remove(idpool *pool, uint64_t id);

/* Walk as idmap_next does. */
bool idpool_next(const idpool *pool, size_t *cursor, uint64_t *id, void **object);

/* All ids as idmap_sorted_keys gives them. */
uint64_t *idpool_sorted_ids(const idpool *pool);

void idpool_free(idpool *pool);

#endif
