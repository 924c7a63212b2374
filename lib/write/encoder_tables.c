/* encoder_tables.c - tables of byte strings by content: the encoder's strings, stacks and procs. */
#include <string.h>

#include "write/encoder.h"

static bool same(const gt_intern *table, uint32_t number, const void *bytes, size_t size)
{
    const gt_entry *entry = &table->entries[number - 1];
    return entry->size == size &&
           (size == 0 || memcmp(gt_intern_bytes(table, entry), bytes, size) == 0);
}

/* The number of that byte string in the lookup, or 0. */
static uint32_t search(const gt_intern *table, uint64_t hash, const void *bytes, size_t size,
                       size_t *slot)
{
    uint32_t number = gt_lookup_first(&table->lookup, hash, slot);
    while (number && !same(table, number, bytes, size))
        number = gt_lookup_next(&table->lookup, hash, slot);
    return number;
}

bool gt_intern_find(const gt_intern *table, const void *bytes, size_t size, size_t *number)
{
    size_t slot;
    uint32_t found = search(table, gt_hash_bytes(table->lookup.seed, bytes, size), bytes, size,
                            &slot);
    if (found)
        *number = found - 1;
    return found != 0;
}

static bool reserve(gt_heap *heap, gt_intern *table, size_t size)
{
    void *entries = table->entries, *pool = table->pool;
    bool ok = gt_grow(heap, &entries, &table->capacity, table->count + 1, sizeof(gt_entry));
    table->entries = entries;
    ok = ok && size <= SIZE_MAX - table->pool_size &&
         gt_grow(heap, &pool, &table->pool_capacity, table->pool_size + size, 1);
    table->pool = pool;
    return ok;
}

bool gt_intern_put(gt_heap *heap, gt_intern *table, const void *bytes, size_t size, size_t *number)
{
    if (!gt_lookup_reserve(&table->lookup, gt_allocator(heap)))
        return false;
    size_t slot;
    uint64_t hash = gt_hash_bytes(table->lookup.seed, bytes, size);
    uint32_t found = search(table, hash, bytes, size, &slot);
    if (found) {
        *number = found - 1;
        return true;
    }
    if (!reserve(heap, table, size))
        return false;
    if (size > 0)
        memcpy(table->pool + table->pool_size, bytes, size);
    table->entries[table->count] = (gt_entry){hash, table->pool_size, size, 0};
    table->pool_size += size;
    *number = table->count++;
    gt_lookup_put(&table->lookup, slot, hash, (uint32_t)table->count);
    return true;
}

bool gt_intern_repeat(gt_heap *heap, gt_intern *table, size_t number)
{
    if (!reserve(heap, table, 0))
        return false;
    table->entries[table->count++] = table->entries[number];
    return true;
}

void gt_intern_free(gt_heap *heap, gt_intern *table)
{
    gt_free(heap, table->entries, table->capacity * sizeof *table->entries);
    gt_free(heap, table->pool, table->pool_capacity);
    gt_lookup_free(&table->lookup, gt_allocator(heap));
    *table = (gt_intern){0};
}

void gt_intern_clear(gt_heap *heap, gt_intern *table)
{
    gt_lookup_clear(&table->lookup, gt_allocator(heap));
    table->count = table->pool_size = 0;
}
