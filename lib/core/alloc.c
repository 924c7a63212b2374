#include "core/alloc.h"

#include <string.h>

#include "core/malloc.h"

static uint64_t or_default(uint64_t set, uint64_t usual)
{
    return set ? set : usual;
}

static uint64_t narrow(uint64_t set, uint64_t usual)
{
    const uint64_t most = UINT32_MAX - 1024;
    return or_default(set, usual) < most ? or_default(set, usual) : most;
}

gotrace_limits gt_limits(const gotrace_config *config)
{
    const gotrace_limits l = config && config->limits ? *config->limits : (gotrace_limits){0};
    return (gotrace_limits){.memory = or_default(l.memory, (uint64_t)1 << 30),
                            .strings = or_default(l.strings, 1 << 24),
                            .string_bytes = narrow(l.string_bytes, 1000000),
                            .stacks = or_default(l.stacks, 1 << 24),
                            .frames = narrow(l.frames, 1000),
                            .goroutines = or_default(l.goroutines, 1 << 24),
                            .batches = narrow(l.batches, 1 << 28),
                            .procs = narrow(l.procs, 1 << 20),
                            .input = or_default(l.input, (uint64_t)1 << 36)};
}

void gt_heap_init(gt_heap *heap, const gotrace_config *config)
{
    memset(heap, 0, sizeof *heap);
    if (config)
        heap->allocator = config->allocator;
    if (!heap->allocator.resize)
        heap->allocator = gt_malloc();
    heap->limit = gt_limits(config).memory;
}

void *gt_resize(gt_heap *heap, void *block, size_t old_size, size_t new_size)
{
    if (new_size == 0) {
        if (block)
            heap->allocator.resize(heap->allocator.ctx, block, old_size, 0);
        heap->used -= old_size;
        return NULL;
    }
    if (new_size > old_size && new_size - old_size > heap->limit - heap->used) {
        heap->limited = true;
        return NULL;
    }
    void *moved = heap->allocator.resize(heap->allocator.ctx, block, old_size, new_size);
    if (!moved) {
        heap->limited = false;
        return NULL;
    }
    heap->used = heap->used - old_size + new_size;
    return moved;
}

void *gt_calloc(gt_heap *heap, size_t count, size_t size)
{
    if (count == 0 || size > SIZE_MAX / count)
        return NULL;
    void *block = gt_resize(heap, NULL, 0, count * size);
    if (block)
        memset(block, 0, count * size);
    return block;
}

static void *resize_in_heap(void *heap, void *block, size_t old_size, size_t new_size)
{
    return gt_resize(heap, block, old_size, new_size);
}

gotrace_allocator gt_allocator(gt_heap *heap)
{
    return (gotrace_allocator){.resize = resize_in_heap, .ctx = heap};
}

void gt_free(gt_heap *heap, void *block, size_t size)
{
    if (block)
        gt_resize(heap, block, size, 0);
}

/* The byte before the result is its distance from the block. */
void *gt_calloc_lines(gt_heap *heap, size_t size)
{
    uint8_t *block = gt_calloc(heap, 1, size + GT_LINE);
    if (!block)
        return NULL;
    const uint8_t distance = (uint8_t)(GT_LINE - (uintptr_t)block % GT_LINE);
    block[distance - 1] = distance;
    return block + distance;
}

void gt_free_lines(gt_heap *heap, void *block, size_t size)
{
    uint8_t *bytes = block;
    if (bytes)
        gt_free(heap, bytes - bytes[-1], size + GT_LINE);
}

bool gt_grow(gt_heap *heap, void **array, size_t *capacity, size_t need, size_t element)
{
    if (need <= *capacity)
        return true;
    size_t wanted = *capacity < 8 ? 8 : *capacity;
    while (wanted < need) {
        if (wanted > SIZE_MAX / 2)
            return false;
        wanted *= 2;
    }
    if (wanted > SIZE_MAX / element)
        return false;
    void *moved = gt_resize(heap, *array, *capacity * element, wanted * element);
    if (!moved)
        return false;
    *array = moved;
    *capacity = wanted;
    return true;
}
