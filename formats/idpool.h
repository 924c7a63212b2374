/*
 * idpool.h - objects by id that stay where they are until they are removed, found without a search
 * if they were asked for not long ago. For what an idmap would have to carry about as it grows.
 */
#ifndef IDPOOL_H
#define IDPOOL_H

#include "idmap.h"

enum { IDPOOL_RECENT = 256 };

typedef struct idpool {
    idmap by_id; /* pointers */
    size_t size; /* of an object */
    unsigned char **blocks;
    size_t block_count, used; /* used: of the last block */
    void *free;               /* those removed, each pointing to the next */
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

void idpool_free(idpool *pool);

#endif
