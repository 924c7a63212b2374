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
        /* The first block is small: most traces that people look at have few strings. */
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
    *table = (gt_table){.heap = heap, .arena = {.heap = heap}, .seed = gt_hash_seed()};
}

const gt_entry *gt_table_find_hashed(const gt_table *table, uint64_t id)
{
    size_t mask = table->hashed_capacity - 1;
    for (size_t i = (size_t)gt_hash(table->seed, id) & mask; table->hashed[i].bytes;
         i = (i + 1) & mask)
        if (table->hashed[i].id == id)
            return &table->hashed[i];
    return NULL;
}

/* Ids below this go into the array: never many more slots than entries there are or may be. */
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

static gt_entry *free_slot(gt_entry *slots, size_t capacity, uint64_t hash)
{
    size_t mask = capacity - 1, i = (size_t)hash & mask;
    while (slots[i].bytes)
        i = (i + 1) & mask;
    return &slots[i];
}

/* A free slot of the hash, which is kept at most half full. */
static gt_entry *hashed_slot(gt_table *table, uint64_t id)
{
    if (2 * (table->hashed_count + 1) > table->hashed_capacity) {
        size_t capacity = table->hashed_capacity ? 2 * table->hashed_capacity : 64;
        gt_entry *slots = gt_calloc(table->heap, capacity, sizeof *slots);
        if (!slots)
            return NULL;
        for (size_t i = 0; i < table->hashed_capacity; i++)
            if (table->hashed[i].bytes)
                *free_slot(slots, capacity,
                           gt_hash(table->seed, table->hashed[i].id)) = table->hashed[i];
        gt_free(table->heap, table->hashed, table->hashed_capacity * sizeof *slots);
        table->hashed = slots;
        table->hashed_capacity = capacity;
    }
    table->hashed_count++;
    return free_slot(table->hashed, table->hashed_capacity, gt_hash(table->seed, id));
}

bool gt_table_put(gt_table *table, uint64_t id, const uint8_t *bytes, size_t size, size_t count)
{
    gt_entry *entry = (gt_entry *)gt_table_find(table, id);
    if (size > UINT32_MAX || count > INT32_MAX)
        return false;
    uint8_t *copy = gt_arena_alloc(&table->arena, size + 1);
    if (!copy)
        return false;
    if (size)
        memcpy(copy, bytes, size);
    copy[size] = '\0'; /* for those who show a name */
    if (entry) {
        table->bytes -= entry->size;
        table->frames -= entry->count;
    } else {
        /* The array may still grow over ids that went into the hash before; look there first. */
        bool dense = id < table->dense_count ||
                     (id < dense_bound(table) && table->hashed_count == 0);
        entry = dense ? dense_slot(table, id) : hashed_slot(table, id);
        if (!entry)
            return false;
        table->entries++;
    }
    *entry = (gt_entry){
        .id = id, .bytes = copy, .size = (uint32_t)size, .count = (uint32_t)count & INT32_MAX};
    table->bytes += size;
    table->frames += count;
    return true;
}

uint64_t gt_table_unused(const gt_table *table)
{
    uint64_t n = 0;
    for (size_t i = 0; i < table->dense_count; i++)
        n += table->dense[i].bytes && !table->dense[i].used;
    for (size_t i = 0; i < table->hashed_capacity; i++)
        n += table->hashed[i].bytes && !table->hashed[i].used;
    return n;
}

void gt_table_free(gt_table *table)
{
    gt_arena_free(&table->arena);
    gt_free(table->heap, table->dense, table->dense_count * sizeof *table->dense);
    gt_free(table->heap, table->hashed, table->hashed_capacity * sizeof *table->hashed);
}
