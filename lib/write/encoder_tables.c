/* encoder_tables.c - byte strings by content: the encoder's strings, stacks and procs. */
#include <string.h>

#include "write/encoder.h"
#include "core/hash.h"

static bool same(const gt_intern *table, const gt_entry *entry, uint64_t hash, const void *bytes,
                 size_t size)
{
    return entry->hash == hash && entry->size == size &&
           (size == 0 || memcmp(gt_intern_bytes(table, entry), bytes, size) == 0);
}

/* The slot that those bytes have, or would have. The table has slots, and one of them is free. */
static size_t find_slot(const gt_intern *table, uint64_t hash, const void *bytes, size_t size)
{
    size_t mask = table->slot_count - 1, slot = (size_t)hash & mask;
    while (table->slots[slot] != 0 &&
           !same(table, &table->entries[table->slots[slot] - 1], hash, bytes, size))
        slot = (slot + 1) & mask;
    return slot;
}

/* Twice the slots, so that at most half of them are taken. */
static bool grow_slots(gt_heap *heap, gt_intern *table)
{
    size_t count = table->slot_count ? 2 * table->slot_count : 64;
    uint32_t *slots = gt_calloc(heap, count, sizeof *slots);
    if (!slots)
        return false;
    if (table->seed == 0)
        table->seed = gt_hash_seed();
    for (size_t i = 0; i < table->count; i++) {
        size_t slot = (size_t)table->entries[i].hash & (count - 1);
        while (slots[slot] != 0)
            slot = (slot + 1) & (count - 1);
        slots[slot] = (uint32_t)i + 1;
    }
    gt_free(heap, table->slots, table->slot_count * sizeof *table->slots);
    table->slots = slots;
    table->slot_count = count;
    return true;
}

bool gt_intern_find(const gt_intern *table, const void *bytes, size_t size, size_t *number)
{
    if (table->slot_count == 0)
        return false;
    size_t slot = find_slot(table, gt_hash_bytes(table->seed, bytes, size), bytes, size);
    if (table->slots[slot] == 0)
        return false;
    *number = table->slots[slot] - 1;
    return true;
}

bool gt_intern_put(gt_heap *heap, gt_intern *table, const void *bytes, size_t size, size_t *number)
{
    if (gt_intern_find(table, bytes, size, number))
        return true;
    if (table->count >= UINT32_MAX - 1 || size > SIZE_MAX - table->pool_size)
        return false;
    if (2 * (table->count + 1) > table->slot_count && !grow_slots(heap, table))
        return false;
    void *entries = table->entries, *pool = table->pool;
    bool ok = gt_grow(heap, &entries, &table->capacity, table->count + 1, sizeof(gt_entry));
    table->entries = entries;
    ok = ok && gt_grow(heap, &pool, &table->pool_capacity, table->pool_size + size, 1);
    table->pool = pool;
    if (!ok)
        return false;
    uint64_t hash = gt_hash_bytes(table->seed, bytes, size);
    size_t slot = find_slot(table, hash, bytes, size);
    if (size > 0)
        memcpy(table->pool + table->pool_size, bytes, size);
    table->entries[table->count] = (gt_entry){hash, table->pool_size, size, 0};
    table->pool_size += size;
    table->slots[slot] = (uint32_t)table->count + 1;
    *number = table->count++;
    return true;
}

void gt_intern_free(gt_heap *heap, gt_intern *table)
{
    gt_free(heap, table->entries, table->capacity * sizeof *table->entries);
    gt_free(heap, table->slots, table->slot_count * sizeof *table->slots);
    gt_free(heap, table->pool, table->pool_capacity);
    *table = (gt_intern){0};
}

void gt_intern_clear(gt_heap *heap, gt_intern *table)
{
    /* A large table must not make clearing it costly for each of many small generations. */
    if (table->slot_count / 32 > table->count) {
        uint64_t seed = table->seed;
        gt_intern_free(heap, table);
        table->seed = seed;
    } else if (table->count > 0)
        memset(table->slots, 0, table->slot_count * sizeof *table->slots);
    table->count = table->pool_size = 0;
}
