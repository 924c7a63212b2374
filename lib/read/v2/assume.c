#include "read/v2/assume.h"

bool gt_assume(gt_assumptions *a, gt_assumption assumption)
{
    void *list = a->list;
    if (!gt_grow(a->heap, &list, &a->capacity, a->count + 1, sizeof *a->list))
        return false;
    a->list = list;
    a->list[a->count++] = assumption;
    return true;
}

bool gt_assume_created(gt_assumptions *a, uint64_t goroutine)
{
    uint64_t bits = gt_map_get(&a->created, goroutine / 64);
    return gt_map_put(&a->created, goroutine / 64, bits | (uint64_t)1 << goroutine % 64);
}

void gt_assumptions_free(gt_assumptions *a)
{
    gt_free(a->heap, a->list, a->capacity * sizeof *a->list);
    gt_map_free(&a->created);
    a->list = NULL;
    a->count = a->capacity = 0;
}
