/* idpool.c - see idpool.h. */
#include "idpool.h"

#include <stdlib.h>
#include <string.h>

enum { BLOCK = 256 }; /* objects */

void idpool_init(idpool *pool, size_t size)
{
    memset(pool, 0, sizeof *pool);
    pool->size = (size + 7) / 8 * 8;
    pool->used = BLOCK;
    idmap_init(&pool->by_id, sizeof(void *));
}

void *idpool_search(idpool *pool, uint64_t id)
{
    void **found = idmap_find(&pool->by_id, id);

    if (!found)
        return NULL;
    pool->recent[id % IDPOOL_RECENT].id = id;
    return pool->recent[id % IDPOOL_RECENT].object = *found;
}

/* Room for an object, taken from those removed first. */
static void *take(idpool *pool)
{
    void *object = pool->free;

    if (object) {
        memcpy(&pool->free, object, sizeof pool->free);
        return object;
    }
    if (pool->used == BLOCK) {
        /* The list of blocks doubles whenever their number is a power of two. */
        size_t count = pool->block_count;
        if ((count & (count - 1)) == 0) {
            size_t capacity = count ? 2 * count : 1;
            unsigned char **larger = reallocarray(pool->blocks, capacity, sizeof *larger);
            if (!larger)
                return NULL;
            pool->blocks = larger;
        }
        unsigned char *block = reallocarray(NULL, BLOCK, pool->size);
        if (!block)
            return NULL;
        pool->blocks[pool->block_count++] = block;
        pool->used = 0;
    }
    return pool->blocks[pool->block_count - 1] + pool->used++ * pool->size;
}

static void give(idpool *pool, void *object)
{
    memcpy(object, &pool->free, sizeof pool->free);
    pool->free = object;
}

void *idpool_add(idpool *pool, uint64_t id)
{
    void *object = take(pool);

    if (!object)
        return NULL;
    void **slot = idmap_insert(&pool->by_id, id);
    if (!slot) {
        give(pool, object);
        return NULL;
    }
    memset(object, 0, pool->size);
    return *slot = object;
}

void idpool_remove(idpool *pool, uint64_t id)
{
    void *object = idpool_find(pool, id);

    if (!object)
        return;
    pool->recent[id % IDPOOL_RECENT].object = NULL;
    idmap_remove(&pool->by_id, id);
    give(pool, object);
}

bool idpool_next(const idpool *pool, size_t *cursor, uint64_t *id, void **object)
{
    void *slot;

    if (!idmap_next(&pool->by_id, cursor, id, &slot))
        return false;
    *object = *(void **)slot;
    return true;
}

void idpool_free(idpool *pool)
{
    for (size_t i = 0; i < pool->block_count; i++)
        free(pool->blocks[i]);
    free(pool->blocks);
    idmap_free(&pool->by_id);
    idpool_init(pool, pool->size);
}
