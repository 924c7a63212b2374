/*
 * tables.h - the string and stack tables of a trace, in memory.
 *
 * Entries are kept as they stand on the wire (bytes of strings, varints of stacks), so that a
 * table takes about as much memory as it takes of the file. An entry never moves.
 */
#ifndef GT_TABLES_H
#define GT_TABLES_H

#include "core/alloc.h"
#include "core/lookup.h"

typedef struct gt_arena_block gt_arena_block;

/* Memory that only grows and never moves. */
typedef struct gt_arena {
    gt_heap *heap;
    gt_arena_block *blocks;
} gt_arena;

void *gt_arena_alloc(gt_arena *arena, size_t size);
void gt_arena_free(gt_arena *arena);

/* A map from ids to entries: an array for the small ids that tracers give, a lookup for others. */
typedef struct gt_entry {
    uint64_t id;
    const uint8_t *bytes; /* NULL: none with this id */
    uint32_t size;
    uint32_t count : 31; /* of a stack: frames */
    uint32_t used : 1;   /* something refers to it */
} gt_entry;

typedef struct gt_table {
    gt_heap *heap;
    gt_arena arena;
    gt_entry *dense; /* by id */
    size_t dense_count;
    gt_entry *sparse; /* in the order in which they came, found by sparse_ids */
    size_t sparse_count, sparse_capacity;
    gt_lookup sparse_ids;
    uint64_t entries, bytes, frames;
    uint64_t expected; /* entries that there may be, or 0: ids up to that go into the array */
} gt_table;

void gt_table_init(gt_table *table, gt_heap *heap);

const gt_entry *gt_table_find_sparse(const gt_table *table, uint64_t id);

/* The entry with that id, or NULL. */
static inline const gt_entry *gt_table_find(const gt_table *table, uint64_t id)
{
    if (id < table->dense_count)
        return table->dense[id].bytes ? &table->dense[id] : NULL;
    return table->sparse_count ? gt_table_find_sparse(table, id) : NULL;
}

/* The same for what refers to the entry, which is noted. */
static inline const gt_entry *gt_table_use(gt_table *table, uint64_t id)
{
    const gt_entry *entry = gt_table_find(table, id);
    if (entry && !entry->used)
        ((gt_entry *)(uintptr_t)entry)->used = 1;
    return entry;
}

/* How many entries nothing refers to. */
uint64_t gt_table_unused(const gt_table *table);

/* Copy an entry in; one of the same id is replaced. False when memory is refused. */
bool gt_table_put(gt_table *table, uint64_t id, const uint8_t *bytes, size_t size, size_t count);

void gt_table_free(gt_table *table);

#endif
