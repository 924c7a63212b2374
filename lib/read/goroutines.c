#include "read/goroutines.h"

#include <string.h>

#include "read/assume.h"

void gt_goroutines_init(gt_goroutines *table, gt_heap *heap, uint64_t limit)
{
    *table = (gt_goroutines){.heap = heap, .limit = limit};
    table->by_id.heap = table->ended.heap = table->arena.heap = heap;
}

static gt_goroutine *take(gt_goroutines *table)
{
    if (table->free_count)
        return table->free[--table->free_count];
    return gt_arena_alloc(&table->arena, sizeof(gt_goroutine));
}

/* Sets it to the state before its first event. In place, since many goroutines are created. */
static inline void init(const gt_goroutines *table, uint64_t id, gt_goroutine *g)
{
    memset(g, 0, sizeof *g);
    g->id = id;
    g->shown = GOTRACE_STATE_UNDETERMINED;
    bool ended = id != 0 && gt_map_get(&table->ended, id / 64) >> (id % 64) & 1;
    if (table->unknown && !ended) {
        g->status = g->state = g->assisting = GT_UNKNOWN;
        g->seq = table->unknown_seq;
        return;
    }
    g->contact = table->unknown ? GT_CONTACT_CREATED | GT_CONTACT_SEQ : 0;
    if (id == 0) { /* goroutine 0, the scheduler, always runs */
        g->state = GT_RUNNING;
        g->known = true;
    } else if (ended) {
        g->status = GT_RUNNING;
        g->known = true;
        g->shown = GOTRACE_STATE_NOT_EXIST;
    }
}

gt_goroutine gt_goroutine_initial(const gt_goroutines *table, uint64_t id)
{
    gt_goroutine g;
    init(table, id, &g);
    return g;
}

gt_goroutine *gt_goroutine_get(gt_goroutines *table, uint64_t id)
{
    gt_goroutine *g = gt_goroutine_find(table, id);
    if (g)
        return g;
    table->limited = table->by_id.count >= table->limit;
    if (table->limited || !(g = take(table)))
        return NULL;
    if (!gt_map_put(&table->by_id, id, (uint64_t)(uintptr_t)g))
        return NULL;
    if (table->most < table->by_id.count)
        table->most = table->by_id.count;
    init(table, id, g);
    return g;
}

static void free_goroutine(gt_goroutines *table, gt_goroutine *g)
{
    gt_free(table->heap, g->regions, g->region_capacity * sizeof *g->regions);
    g->regions = NULL;
    g->region_capacity = g->region_count = 0;
}

bool gt_goroutine_end(gt_goroutines *table, gt_goroutine *g)
{
    if (g->parked || (g->id == 0 && !table->forgets))
        return true;
    void *free = table->free;
    uint64_t bits = gt_map_get(&table->ended, g->id / 64) | (uint64_t)1 << (g->id % 64);
    if ((!table->forgets && !gt_map_put(&table->ended, g->id / 64, bits)) ||
        !gt_grow(table->heap, &free, &table->free_capacity, table->free_count + 1,
                 sizeof *table->free))
        return false;
    table->free = free;
    free_goroutine(table, g);
    gt_map_remove(&table->by_id, g->id);
    g->id = UINT64_MAX;
    table->free[table->free_count++] = g;
    return true;
}

void gt_goroutines_free(gt_goroutines *table)
{
    for (size_t i = 0; i < table->by_id.capacity; i++)
        if (table->by_id.slots[i].value)
            free_goroutine(table, (gt_goroutine *)(uintptr_t)table->by_id.slots[i].value);
    gt_map_free(&table->by_id);
    gt_map_free(&table->ended);
    gt_free(table->heap, table->free, table->free_capacity * sizeof(gt_goroutine *));
    gt_arena_free(&table->arena);
    table->free = NULL;
    table->free_count = table->free_capacity = 0;
}
