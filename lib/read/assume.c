#include "read/assume.h"

void gt_assumptions_init(gt_assumptions *a, gt_heap *heap)
{
    *a = (gt_assumptions){
        .heap = heap, .created.heap = heap, .tasks.heap = heap, .first_task = UINT64_MAX};
}

bool gt_assume(gt_assumptions *a, gt_assumption assumption)
{
    void *list = a->list;
    if (!gt_grow(a->heap, &list, &a->capacity, a->count + 1, sizeof *a->list))
        return false;
    a->list = list;
    a->list[a->count++] = assumption;
    return true;
}

bool gt_assume_new(gt_map *set, uint64_t id)
{
    uint64_t bits = gt_map_get(set, id / 64);
    return gt_map_put(set, id / 64, bits | (uint64_t)1 << id % 64);
}

void gt_assumptions_free(gt_assumptions *a)
{
    gt_free(a->heap, a->list, a->capacity * sizeof *a->list);
    gt_map_free(&a->created);
    gt_map_free(&a->tasks);
    a->list = NULL;
    a->count = a->capacity = 0;
}
