#include "read/tables.h"

#include <string.h>

enum { BLOCK_SIZE = 64 * 1024 };

struct gt_arena_block {
    gt_arena_block *next;
    size_t size, used;
    uint8_t bytes[];
};

void *gt_arena_alloc(gt_arena *arena, size_t size)
{
    gt_arena_block *block = arena->blocks;
    if (!block || block->size - block->used < size) {
        /* The first block is small, because most traces have few strings. */
        size_t least = block ? (size_t)BLOCK_SIZE : 4096;
        size_t room = size > least ? size : least;
        if (room > SIZE_MAX - sizeof *block)
            return NULL;
        gt_arena_block *made = gt_resize(arena->heap, NULL, 0, sizeof *made + room);
        if (!made)
            return NULL;
        *made = (gt_arena_block){.next = block, .size = room};
        arena->blocks = block = made;
    }
    void *at = block->bytes + block->used;
    block->used += size;
    return at;
}

void gt_arena_free(gt_arena *arena)
{
    while (arena->blocks) {
        gt_arena_block *next = arena->blocks->next;
        gt_free(arena->heap, arena->blocks, sizeof *arena->blocks + arena->blocks->size);
        arena->blocks = next;
    }
}

void gt_table_init(gt_table *table, gt_heap *heap)
{
    *table = (gt_table){.heap = heap, .arena = {.heap = heap}};
}

static uint32_t search_sparse(const gt_table *table, uint64_t hash, uint64_t id, size_t *slot)
{
    uint32_t number = gt_lookup_first(&table->sparse_ids, hash, slot);
    while (number && table->sparse[number - 1].id != id)
        number = gt_lookup_next(&table->sparse_ids, hash, slot);
    return number;
}

const gt_entry *gt_table_find_sparse(const gt_table *table, uint64_t id)
{
    size_t slot;
    uint32_t number = search_sparse(table, gt_hash(table->sparse_ids.seed, id), id, &slot);
    return number ? &table->sparse[number - 1] : NULL;
}

/* Ids below this are stored in the array, which has at most a few more slots than there are or will
 * be entries. */
static uint64_t dense_bound(const gt_table *table)
{
    uint64_t bound = 256 + 2 * table->entries;
    return bound < table->expected ? table->expected : bound;
}

static gt_entry *dense_slot(gt_table *table, uint64_t id)
{
    if (id >= table->dense_count) {
        void *dense = table->dense;
        size_t before = table->dense_count;
        if (!gt_grow(table->heap, &dense, &table->dense_count, (size_t)id + 1,
                     sizeof *table->dense))
            return NULL;
        table->dense = dense;
        memset(table->dense + before, 0, (table->dense_count - before) * sizeof *table->dense);
    }
    return &table->dense[id];
}

/* Adds an entry for a new id. */
static gt_entry *add_sparse(gt_table *table, uint64_t id)
{
    void *sparse = table->sparse;
    if (!gt_lookup_reserve(&table->sparse_ids, gt_allocator(table->heap)) ||
        !gt_grow(table->heap, &sparse, &table->sparse_capacity, table->sparse_count + 1,
                 sizeof *table->sparse))
        return NULL;
    table->sparse = sparse;
    size_t slot;
    uint64_t hash = gt_hash(table->sparse_ids.seed, id);
    search_sparse(table, hash, id, &slot);
    gt_lookup_put(&table->sparse_ids, slot, hash, (uint32_t)++table->sparse_count);
    return &table->sparse[table->sparse_count - 1];
}

static void free_sparse(gt_table *table)
{
    gt_free(table->heap, table->sparse, table->sparse_capacity * sizeof *table->sparse);
    gt_lookup_free(&table->sparse_ids, gt_allocator(table->heap));
    table->sparse = NULL;
    table->sparse_count = table->sparse_capacity = 0;
}

bool gt_table_put(gt_table *table, uint64_t id, const uint8_t *bytes, size_t size, size_t count)
{
    gt_entry *entry = (gt_entry *)gt_table_find(table, id);
    if (size > UINT32_MAX || count > GT_MAX_ENTRY_COUNT)
        return false;
    uint8_t *copy = gt_arena_alloc(&table->arena, size + 1);
    if (!copy)
        return false;
    if (size)
        memcpy(copy, bytes, size);
    copy[size] = '\0'; /* so that names can be used as C strings */
    if (entry) {
        table->bytes -= entry->size;
        table->frames -= entry->count;
    } else {
        /* The array may later cover ids that are sparse now; look there first. */
        bool dense = id < table->dense_count ||
                     (id < dense_bound(table) && table->sparse_count == 0);
        entry = dense ? dense_slot(table, id) : add_sparse(table, id);
        if (!entry)
            return false;
        table->entries++;
    }
    *entry = (gt_entry){.id = id,
                        .bytes = copy,
                        .size = (uint32_t)size,
                        .count = (uint32_t)count & GT_MAX_ENTRY_COUNT};
    table->bytes += size;
    table->frames += count;
    return true;
}

bool gt_table_settle(gt_table *table)
{
    uint64_t last = 0;
    for (size_t i = 0; i < table->sparse_count; i++)
        if (table->sparse[i].id > last)
            last = table->sparse[i].id;
    if (table->sparse_count == 0 || last >= dense_bound(table))
        return true;
    if (!dense_slot(table, last))
        return false;
    for (size_t i = 0; i < table->sparse_count; i++)
        table->dense[table->sparse[i].id] = table->sparse[i];
    free_sparse(table);
    return true;
}

uint64_t gt_table_unused(const gt_table *table)
{
    uint64_t n = 0;
    for (size_t i = 0; i < table->dense_count; i++)
        n += table->dense[i].bytes && !table->dense[i].used;
    for (size_t i = 0; i < table->sparse_count; i++)
        n += !table->sparse[i].used;
    return n;
}

void gt_table_free(gt_table *table)
{
    gt_arena_free(&table->arena);
    gt_free(table->heap, table->dense, table->dense_count * sizeof *table->dense);
    free_sparse(table);
}
