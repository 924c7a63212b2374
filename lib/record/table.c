/*
 * table.c - a table of byte strings with ids, for stacks and strings. Looking up one that is known
 * takes no lock: entries are only added, at the head of their slot. Source: Go 1.19,
 * runtime/trace.go, traceStackTable.
 */
#include "record/crash.h"
#include "record/record.h"

#include <string.h>

/* Multiplication and rotation mix each word in about a nanosecond. */
static uint64_t mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

static uint64_t hash_of(const gt_rec_key *key)
{
    const uint8_t *bytes = key->bytes;
    size_t size = key->size;
    uint64_t hash = size ^ key->start, word;
    for (; size >= sizeof word; bytes += sizeof word, size -= sizeof word) {
        memcpy(&word, bytes, sizeof word);
        hash = mix(hash, word);
    }
    word = 0;
    memcpy(&word, bytes, size);
    return size > 0 ? mix(hash, word) : hash;
}

static gt_rec_table *table_of(gotrace_recorder *r, uint64_t era, bool strings)
{
    gt_rec_tables *tables = &r->tables[era % GT_REC_OPEN];
    return strings ? &tables->strings : &tables->stacks;
}

static const gt_rec_entry *find(const gt_rec_entry *entry, uint64_t hash, const gt_rec_key *key)
{
    while (entry &&
           (entry->hash != hash || entry->size != key->size || entry->start != key->start ||
            memcmp(entry->bytes, key->bytes, key->size) != 0))
        entry = entry->next;
    return entry;
}

static gt_rec_entry *new_entry(gotrace_recorder *r, gt_rec_table *table, uint64_t hash,
                               const gt_rec_key *key)
{
    gt_rec_entry *entry = gt_resize(&r->heap, NULL, 0, sizeof *entry + key->size);
    if (!entry) {
        gt_rec_fail_memory(r);
        return NULL;
    }
    *entry = (gt_rec_entry){
        .hash = hash, .start = key->start, .id = ++table->count, .size = (uint32_t)key->size};
    memcpy(entry->bytes, key->bytes, key->size);
    *(table->first ? table->last : &table->first) = entry;
    table->last = &entry->younger;
    return entry;
}

/* Adds an entry, unless another thread has just done that. The caller holds the lock. */
static const gt_rec_entry *add(gotrace_recorder *r, uint64_t era, bool strings, uint64_t hash,
                               const gt_rec_key *key, gotrace_rec_thread *by)
{
    gt_rec_table *table = table_of(r, era, strings);
    _Atomic(gt_rec_entry *) *slot = &table->slots[hash % GT_REC_TABLE_SLOTS];
    const gt_rec_entry *known = find(atomic_load_explicit(slot, memory_order_relaxed), hash, key);
    if (known)
        return known;
    if (era == r->dropping)
        return NULL; /* nothing refers to it */
    gt_rec_entry *entry = new_entry(r, table, hash, key);
    if (!entry)
        return NULL;
    if (r->crash) /* first: no other string may get the id of a record that is in the file */
        gt_crash_put_entry(r, era, strings, entry);
    if (by)
        gt_rec_put_string(by, entry->id, key->bytes, key->size);
    entry->next = atomic_load_explicit(slot, memory_order_relaxed);
    atomic_store_explicit(slot, entry, memory_order_release);
    return entry;
}

const gt_rec_entry *gt_rec_table_entry(gotrace_recorder *r, uint64_t era, bool strings,
                                       const gt_rec_key *key, bool locked, gotrace_rec_thread *by)
{
    const uint64_t hash = hash_of(key);
    gt_rec_table *table = table_of(r, era, strings);
    const gt_rec_entry *known = find(
        atomic_load_explicit(&table->slots[hash % GT_REC_TABLE_SLOTS], memory_order_acquire), hash,
        key);
    if (known)
        return known;
    if (!locked)
        pthread_mutex_lock(&r->lock);
    const gt_rec_entry *entry = add(r, era, strings, hash, key, by);
    if (!locked)
        pthread_mutex_unlock(&r->lock);
    return entry;
}

void gt_rec_table_clear(gotrace_recorder *r, gt_rec_table *table)
{
    for (gt_rec_entry *e = table->first, *next; e; e = next) {
        next = e->younger;
        gt_free(&r->heap, e, sizeof *e + e->size);
    }
    memset(table, 0, sizeof *table);
}
