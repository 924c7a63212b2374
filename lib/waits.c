#include "waits.h"

bool gt_waits_init(gt_waits *waits, gt_heap *heap, size_t cursors)
{
    *waits = (gt_waits){.queues.heap = heap, .count = cursors};
    waits->waits = gt_calloc(heap, cursors, sizeof *waits->waits);
    return waits->waits != NULL;
}

/* What is waited for, as one number. Should two things get the same number, a cursor may be woken
 * too early, finds that it has to wait on, and parks again. */
static uint64_t key_of(uint64_t goroutine, uint64_t seq, uint8_t status)
{
    uint64_t key = (goroutine + 1) * 0xbf58476d1ce4e5b9u;
    key ^= key >> 29;
    key = (key + seq) * 0x94d049bb133111ebu;
    key ^= key >> 31;
    return (key << 2) + status;
}

static uint32_t meld(gt_waits *w, uint32_t a, uint32_t b)
{
    if (!a || !b)
        return a ? a : b;
    if (w->waits[b - 1].ticks < w->waits[a - 1].ticks) {
        uint32_t swap = a;
        a = b;
        b = swap;
    }
    w->waits[b - 1].sibling = w->waits[a - 1].child;
    w->waits[a - 1].child = b;
    return a;
}

/* What remains when a root is taken: its children melded in pairs, then all pairs. */
static uint32_t meld_children(gt_waits *w, uint32_t child)
{
    uint32_t pairs = 0, root = 0;
    while (child) {
        uint32_t second = w->waits[child - 1].sibling;
        uint32_t next = second ? w->waits[second - 1].sibling : 0;
        w->waits[child - 1].sibling = 0;
        if (second)
            w->waits[second - 1].sibling = 0;
        uint32_t pair = meld(w, child, second);
        w->waits[pair - 1].sibling = pairs;
        pairs = pair;
        child = next;
    }
    while (pairs) {
        uint32_t next = w->waits[pairs - 1].sibling;
        w->waits[pairs - 1].sibling = 0;
        root = meld(w, root, pairs);
        pairs = next;
    }
    return root;
}

bool gt_waits_park(gt_waits *w, uint32_t cursor, int64_t ticks, uint64_t goroutine, uint64_t seq,
                   uint8_t status)
{
    uint64_t key = key_of(goroutine, seq, status);
    uint32_t root = (uint32_t)gt_map_get(&w->queues, key);
    w->waits[cursor] = (gt_wait){.ticks = ticks, .parked = true};
    if (!gt_map_put(&w->queues, key, meld(w, root, cursor + 1)))
        return false;
    w->parked++;
    return true;
}

bool gt_waits_wake(gt_waits *w, uint64_t goroutine, uint64_t seq, uint8_t status, uint32_t *cursor)
{
    uint64_t key = key_of(goroutine, seq, status);
    uint32_t root = (uint32_t)gt_map_get(&w->queues, key);
    if (!root)
        return false;
    *cursor = root - 1;
    w->waits[*cursor].parked = false;
    w->parked--;
    root = meld_children(w, w->waits[*cursor].child);
    if (root)
        gt_map_put(&w->queues, key, root); /* the key is there: this takes no memory */
    else
        gt_map_remove(&w->queues, key);
    return true;
}

void gt_waits_clear(gt_waits *w)
{
    for (size_t i = 0; i < w->count; i++)
        w->waits[i].parked = false;
    w->parked = 0;
    gt_map_free(&w->queues);
}

void gt_waits_free(gt_waits *w)
{
    if (!w->queues.heap)
        return;
    gt_free(w->queues.heap, w->waits, w->waits ? w->count * sizeof *w->waits : 0);
    gt_map_free(&w->queues);
}
