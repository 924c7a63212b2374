#include "cmd/parts/intern.h"

/* For the allocator of a lookup: the memory limit, and where a failure is reported. */
typedef struct budget {
    parts_memory *memory;
    gotrace_error *error;
} budget;

static void *resize(void *ctx, void *block, size_t old_size, size_t new_size)
{
    const budget *b = ctx;
    if (new_size == 0) {
        parts_drop(b->memory, block, old_size, 1);
        return NULL;
    }
    return parts_grow(b->memory, &block, &old_size, new_size, 1, b->error) ? block : NULL;
}

static gotrace_allocator allocator(budget *b)
{
    return (gotrace_allocator){.resize = resize, .ctx = b};
}

static uint32_t search_content(const parts_intern *in, uint64_t hash, const void *content,
                               size_t size, size_t *slot)
{
    uint32_t number = gt_lookup_first(&in->by_content, hash, slot);
    for (; number; number = gt_lookup_next(&in->by_content, hash, slot)) {
        const parts_item *item = &in->items[number - 1];
        if (item->size == size && (size == 0 || memcmp(in->bytes + item->at, content, size) == 0))
            break;
    }
    return number;
}

static uint32_t search_id(const parts_intern *in, uint64_t id, size_t *slot)
{
    uint64_t hash = gt_hash(in->by_id.seed, id);
    uint32_t number = gt_lookup_first(&in->by_id, hash, slot);
    while (number && in->items[number - 1].id != id)
        number = gt_lookup_next(&in->by_id, hash, slot);
    return number;
}

const parts_item *parts_intern_find(const parts_intern *in, uint64_t id)
{
    size_t slot;
    uint32_t number = search_id(in, id, &slot);
    return number ? &in->items[number - 1] : NULL;
}

parts_item *parts_intern_add(parts_intern *in, parts_memory *memory, uint64_t id,
                             const void *content, size_t size, gotrace_error *error)
{
    budget b = {memory, error};
    if (!gt_lookup_reserve(&in->by_content, allocator(&b)) ||
        !gt_lookup_reserve(&in->by_id, allocator(&b)))
        return NULL;
    size_t content_slot, id_slot;
    uint64_t hash = gt_hash_bytes(in->by_content.seed, content, size);
    uint32_t known = search_content(in, hash, content, size, &content_slot);
    if (known)
        return &in->items[known - 1];
    if (!parts_grow(memory, &in->items, &in->capacity, in->count + 1, sizeof *in->items, error) ||
        !parts_grow(memory, &in->bytes, &in->room, in->used + size + 1, 1, error))
        return NULL;
    while (search_id(in, id, &id_slot))
        id = in->fresh++;
    if (size > 0)
        memcpy(in->bytes + in->used, content, size);
    in->items[in->count++] = (parts_item){.id = id, .at = in->used, .size = size};
    in->used += size;
    gt_lookup_put(&in->by_content, content_slot, hash, (uint32_t)in->count);
    gt_lookup_put(&in->by_id, id_slot, gt_hash(in->by_id.seed, id), (uint32_t)in->count);
    return &in->items[in->count - 1];
}

void parts_intern_clear(parts_intern *in, parts_memory *memory, uint64_t fresh)
{
    budget b = {.memory = memory};
    gt_lookup_clear(&in->by_content, allocator(&b));
    gt_lookup_clear(&in->by_id, allocator(&b));
    in->count = in->used = 0;
    in->fresh = fresh;
}

void parts_intern_free(parts_intern *in, parts_memory *memory)
{
    budget b = {.memory = memory};
    gt_lookup_free(&in->by_content, allocator(&b));
    gt_lookup_free(&in->by_id, allocator(&b));
    parts_drop(memory, in->items, in->capacity, sizeof *in->items);
    parts_drop(memory, in->bytes, in->room, 1);
    *in = (parts_intern){.count = 0};
}
