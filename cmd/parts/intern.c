#include "cmd/parts/intern.h"

#include "formats/common/seeded_hash.h"

static void enter(parts_intern *in, size_t n)
{
    size_t mask = in->slots - 1, slot = (size_t)in->items[n].hash & mask;
    while (in->by_content[slot])
        slot = (slot + 1) & mask;
    in->by_content[slot] = n + 1;
    slot = (size_t)hash_id(in->seed, in->items[n].id) & mask;
    while (in->by_id[slot])
        slot = (slot + 1) & mask;
    in->by_id[slot] = n + 1;
}

/* Keep the tables at most half full. */
static bool widen(parts_intern *in, parts_memory *memory, gotrace_error *error)
{
    enum { LEAST = 64 };
    size_t slots = in->slots ? in->slots : LEAST;
    while (slots < 2 * (in->count + 1))
        slots *= 2;
    if (slots == in->slots)
        return true;
    if (!parts_grow(memory, &in->by_content, &in->content_slots, slots, sizeof(size_t), error) ||
        !parts_grow(memory, &in->by_id, &in->id_slots, slots, sizeof(size_t), error))
        return false;
    in->slots = slots;
    in->seed = hash_seed();
    memset(in->by_content, 0, slots * sizeof(size_t));
    memset(in->by_id, 0, slots * sizeof(size_t));
    for (size_t n = 0; n < in->count; n++)
        enter(in, n);
    return true;
}

static parts_item *find_content(parts_intern *in, uint64_t hash, const void *content, size_t size)
{
    size_t mask = in->slots - 1;
    for (size_t slot = (size_t)hash & mask; in->by_content[slot]; slot = (slot + 1) & mask) {
        parts_item *item = &in->items[in->by_content[slot] - 1];
        if (item->hash == hash && item->size == size &&
            (size == 0 || memcmp(in->bytes + item->at, content, size) == 0))
            return item;
    }
    return NULL;
}

const parts_item *parts_intern_find(const parts_intern *in, uint64_t id)
{
    if (in->slots == 0)
        return NULL;
    size_t mask = in->slots - 1;
    for (size_t slot = (size_t)hash_id(in->seed, id) & mask; in->by_id[slot];
         slot = (slot + 1) & mask)
        if (in->items[in->by_id[slot] - 1].id == id)
            return &in->items[in->by_id[slot] - 1];
    return NULL;
}

parts_item *parts_intern_add(parts_intern *in, parts_memory *memory, uint64_t id,
                             const void *content, size_t size, gotrace_error *error)
{
    if (!widen(in, memory, error))
        return NULL;
    uint64_t hash = hash_bytes(in->seed, content, size);
    parts_item *known = find_content(in, hash, content, size);
    if (known)
        return known;
    if (!parts_grow(memory, &in->items, &in->capacity, in->count + 1, sizeof *in->items, error) ||
        !parts_grow(memory, &in->bytes, &in->room, in->used + size + 1, 1, error))
        return NULL;
    if (parts_intern_find(in, id)) {
        while (parts_intern_find(in, in->fresh))
            in->fresh++;
        id = in->fresh++;
    }
    if (size > 0)
        memcpy(in->bytes + in->used, content, size);
    in->items[in->count] = (parts_item){.id = id, .hash = hash, .at = in->used, .size = size};
    in->used += size;
    enter(in, in->count);
    return &in->items[in->count++];
}

void parts_intern_clear(parts_intern *in, uint64_t fresh)
{
    in->count = in->used = 0;
    in->fresh = fresh;
    in->slots = 0; /* widen clears as many as are needed, not as many as ever were */
}

void parts_intern_free(parts_intern *in, parts_memory *memory)
{
    parts_drop(memory, in->items, in->capacity, sizeof *in->items);
    parts_drop(memory, in->bytes, in->room, 1);
    parts_drop(memory, in->by_content, in->content_slots, sizeof(size_t));
    parts_drop(memory, in->by_id, in->id_slots, sizeof(size_t));
    *in = (parts_intern){.count = 0};
}
