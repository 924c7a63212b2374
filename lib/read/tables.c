#include "read/tables.h"

#include <string.h>

#include "core/wire.h"

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
    if (size > UINT32_MAX || count > UINT32_MAX)
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
    *entry = (gt_entry){.id = id, .bytes = copy, .size = (uint32_t)size, .count = (uint32_t)count};
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

void gt_table_free(gt_table *table)
{
    gt_arena_free(&table->arena);
    gt_free(table->heap, table->dense, table->dense_count * sizeof *table->dense);
    free_sparse(table);
}

/* ---- uses ---------------------------------------------------------------------------------- */

bool gt_uses_init(gt_uses *uses, const gt_table *table)
{
    const size_t dense = table->dense_count, count = dense + table->sparse_count;
    gt_uses_free(uses);
    *uses = (gt_uses){.table = table};
    if (count == 0)
        return true;
    uses->marks = gt_resize(table->heap, NULL, 0, count);
    if (!uses->marks)
        return false;
    uses->dense = dense;
    uses->count = count;
    for (size_t i = 0; i < dense; i++)
        uses->marks[i] = table->dense[i].bytes ? GT_USE_NONE : GT_USE_NO_ENTRY;
    memset(uses->marks + dense, GT_USE_NONE, count - dense);
    return true;
}

void gt_uses_free(gt_uses *uses)
{
    if (uses->marks)
        gt_free(uses->table->heap, uses->marks, uses->count);
    *uses = (gt_uses){0};
}

bool gt_use_sparse(gt_uses *uses, uint64_t id)
{
    const gt_entry *entry = gt_table_find_sparse(uses->table, id);
    if (entry)
        uses->marks[uses->dense + (size_t)(entry - uses->table->sparse)] = GT_USE_ANY;
    return entry;
}

uint64_t gt_unused(const gt_uses *uses)
{
    uint64_t n = 0;
    for (size_t i = 0; i < uses->count; i++)
        n += uses->marks[i] == GT_USE_NONE;
    return n;
}

/* ---- strings and stacks -------------------------------------------------------------------- */

void gt_tables_init(gt_tables *tables, gt_heap *heap, int version)
{
    *tables = (gt_tables){.only_pcs = version < GT_FIRST_NUMBERED};
    gt_table_init(&tables->strings, heap);
    gt_table_init(&tables->stacks, heap);
}

void gt_tables_free(gt_tables *tables)
{
    gt_table_free(&tables->strings);
    gt_table_free(&tables->stacks);
}

gt_tables *gt_tables_new(gt_heap *heap, int version)
{
    gt_tables *tables = gt_resize(heap, NULL, 0, sizeof *tables);
    if (!tables)
        return NULL;
    gt_tables_init(tables, heap, version);
    tables->users = 1;
    return tables;
}

void gt_tables_hold(gt_tables *tables)
{
    tables->users += tables->users > 0;
}

void gt_tables_release(gt_tables *tables)
{
    if (!tables || tables->users == 0 || --tables->users > 0)
        return;
    gt_tables_free(tables);
    gt_free(tables->strings.heap, tables, sizeof *tables);
}

const char *gt_tables_string(const gt_tables *tables, uint64_t id, size_t *size)
{
    *size = 0;
    if (id == 0)
        return "";
    const gt_entry *entry = gt_table_find(&tables->strings, id);
    if (!entry)
        return NULL;
    *size = entry->size;
    return (const char *)entry->bytes;
}

size_t gt_tables_stack_depth(const gt_tables *tables, uint64_t id)
{
    const gt_entry *entry = gt_table_find(&tables->stacks, id);
    return entry ? entry->count : 0;
}

/* Decodes a frame of a stack. Returns where the next one is. */
static const uint8_t *read_frame(const gt_tables *tables, const uint8_t *p, const uint8_t *end,
                                 gotrace_frame *f)
{
    *f = (gotrace_frame){0};
    gt_varint(&p, end, &f->pc);
    if (tables->only_pcs)
        return p;
    gt_varint(&p, end, &f->function_id);
    gt_varint(&p, end, &f->file_id);
    gt_varint(&p, end, &f->line);
    f->function = gt_tables_string(tables, f->function_id, &f->function_size);
    f->file = gt_tables_string(tables, f->file_id, &f->file_size);
    return p;
}

size_t gt_tables_stack(const gt_tables *tables, uint64_t id, gotrace_frame *frames, size_t max)
{
    const gt_entry *entry = gt_table_find(&tables->stacks, id);
    if (!entry)
        return 0;
    const uint8_t *p = entry->bytes, *end = p + entry->size;
    size_t n = 0;
    for (; n < entry->count && n < max; n++)
        p = read_frame(tables, p, end, &frames[n]);
    return n;
}
