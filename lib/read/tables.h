/*
 * tables.h - the string and stack tables of a trace, in memory.
 *
 * Entries have the encoding of the file (bytes of strings, varints of stacks), so a table takes
 * about as much memory as in the file. The bytes of an entry never move. Tables do not change after
 * the first event that refers to them was returned, so that other threads can read them.
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
    uint32_t count; /* of a stack: number of frames */
} gt_entry;

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

/* Copies an entry; replaces one with the same id. False if memory is refused. */
bool gt_table_put(gt_table *table, uint64_t id, const uint8_t *bytes, size_t size, size_t count);

/* Call after the last gt_table_put: finding is faster afterwards. False if memory is refused. */
bool gt_table_settle(gt_table *table);

void gt_table_free(gt_table *table);

/* Which entries of a complete table something refers to. */
typedef struct gt_uses {
    const gt_table *table;
    uint8_t *marks; /* GT_USE_*; of the array by id, then of the others */
    size_t dense, count;
} gt_uses;

enum { GT_USE_NO_ENTRY, GT_USE_NONE, GT_USE_ANY };

/* Nothing refers to them. The struct is zero or was initialised before. False if memory is refused.
 */
bool gt_uses_init(gt_uses *uses, const gt_table *table);
void gt_uses_free(gt_uses *uses);

bool gt_use_sparse(gt_uses *uses, uint64_t id);

/* Marks the entry with that id; false: there is none. */
static inline bool gt_use(gt_uses *uses, uint64_t id)
{
    if (id >= uses->dense)
        return uses->count > uses->dense && gt_use_sparse(uses, id);
    if (uses->marks[id] == GT_USE_NO_ENTRY)
        return false;
    uses->marks[id] = GT_USE_ANY;
    return true;
}

/* Number of entries that nothing refers to. */
uint64_t gt_unused(const gt_uses *uses);

/* What events refer to by id: tables of a v1 trace, or of a generation. */
typedef struct gt_tables {
    gt_table strings, stacks;
    bool only_pcs; /* frames have nothing else: until 1.6 */
    /* The reader and its blocks, counted in the reader's thread; 0: it is part of the reader and
     * not freed before. */
    size_t users;
} gt_tables;

void gt_tables_init(gt_tables *tables, gt_heap *heap, int version);
void gt_tables_free(gt_tables *tables);

/* Tables with one user. NULL if memory is refused. */
gt_tables *gt_tables_new(gt_heap *heap, int version);
void gt_tables_hold(gt_tables *tables);

/* Frees tables without users. NULL is accepted. */
void gt_tables_release(gt_tables *tables);

/* gotrace_block_string, gotrace_block_stack_depth and gotrace_block_stack. */
const char *gt_tables_string(const gt_tables *tables, uint64_t id, size_t *size);
size_t gt_tables_stack_depth(const gt_tables *tables, uint64_t id);
size_t gt_tables_stack(const gt_tables *tables, uint64_t id, gotrace_frame *frames, size_t max);

#endif
