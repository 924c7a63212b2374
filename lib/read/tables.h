/*
 * tables.h - the string and stack tables of a trace, in memory.
 *
 * Entries have the encoding of the file (bytes of strings, varints of stacks), so a table takes
 * about as much memory as in the file. The bytes of an entry never move.
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

/* A map from ids to entries: an array for the small ids that tracers assign, a lookup for
 * others. Entries whose ids are small only when all are there, because they are not in ascending
 * order, are moved to the array by gt_table_settle. */
typedef struct gt_entry {
    uint64_t id;
    const uint8_t *bytes; /* NULL: no such entry */
    uint32_t size;
    uint32_t count : 29; /* of a stack: number of frames; of a string: see gt_v2.kept */
    uint32_t used : 1;   /* something refers to it */
} gt_entry;

enum { GT_MAX_ENTRY_COUNT = (1 << 29) - 1 };

typedef struct gt_table {
    gt_heap *heap;
    gt_arena arena;
    gt_entry *dense; /* indexed by id */
    size_t dense_count;
    gt_entry *sparse; /* in order of insertion; sparse_ids finds them */
    size_t sparse_count, sparse_capacity;
    gt_lookup sparse_ids;
    uint64_t entries, bytes, frames;
    uint64_t
        expected; /* estimated number of entries, or 0: ids up to that are stored in the array */
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

/* The same, and marks the entry as used. */
static inline const gt_entry *gt_table_use(gt_table *table, uint64_t id)
{
    const gt_entry *entry = gt_table_find(table, id);
    if (entry && !entry->used)
        ((gt_entry *)(uintptr_t)entry)->used = 1;
    return entry;
}

/* Number of entries that are not used. */
uint64_t gt_table_unused(const gt_table *table);

/* Copies an entry; replaces one with the same id. False if memory is refused. */
bool gt_table_put(gt_table *table, uint64_t id, const uint8_t *bytes, size_t size, size_t count);

/* Call after the last gt_table_put: finding is faster afterwards. False if memory is refused. */
bool gt_table_settle(gt_table *table);

void gt_table_free(gt_table *table);

#endif
