#include "read/waits.h"

bool gt_waits_init(gt_waits *waits, gt_heap *heap, size_t cursors)
{
    *waits = (gt_waits){.queues.heap = heap, .count = cursors, .seed = gt_hash_seed()};
    waits->waits = gt_calloc(heap, cursors, sizeof *waits->waits);
    waits->parked = gt_calloc(heap, cursors, sizeof *waits->parked);
    return waits->waits && waits->parked;
}

/* What is waited for, as one number. It depends on the seed, so that no file can make two
 * conditions collide: a cursor that waits for the other one would not be woken in time. */
static uint64_t key_of(const gt_waits *w, uint64_t goroutine, uint64_t seq, uint8_t status)
{
    uint64_t key = gt_hash(w->seed, goroutine ^ 0xbf58476d1ce4e5b9u);
    return gt_hash(w->seed, key + seq * 0x94d049bb133111ebu) * 8 + status;
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

/* The rest of a queue after its root is removed: the root's children, melded in pairs, then all
 * pairs. */
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

/* Moves the free place in the heap of parked cursors up or down to where the cursor belongs, and
 * puts the cursor there. */
static void set_place(gt_waits *w, size_t place, uint32_t cursor)
{
    int64_t ticks = w->waits[cursor].ticks;
    uint32_t *parked = w->parked;
    for (; place > 0 && ticks < w->waits[parked[(place - 1) / 2]].ticks; place = (place - 1) / 2) {
        parked[place] = parked[(place - 1) / 2];
        w->waits[parked[place]].place = (uint32_t)place;
    }
    for (size_t child; (child = 2 * place + 1) < w->parked_count; place = child) {
        child += child + 1 < w->parked_count &&
                 w->waits[parked[child + 1]].ticks < w->waits[parked[child]].ticks;
        if (ticks <= w->waits[parked[child]].ticks)
            break;
        parked[place] = parked[child];
        w->waits[parked[place]].place = (uint32_t)place;
    }
    parked[place] = cursor;
    w->waits[cursor].place = (uint32_t)place;
}

bool gt_waits_park(gt_waits *w, uint32_t cursor, int64_t ticks, uint64_t goroutine, uint64_t seq,
                   uint8_t status)
{
    uint64_t key = key_of(w, goroutine, seq, status);
    uint32_t root = (uint32_t)gt_map_get(&w->queues, key);
    w->waits[cursor] = (gt_wait){.ticks = ticks, .key = key};
    if (!gt_map_put(&w->queues, key, meld(w, root, cursor + 1)))
        return false;
    size_t last = w->parked_count++;
    set_place(w, last, cursor);
    return true;
}

/* Removes the root of a queue. */
static uint32_t take_root(gt_waits *w, uint64_t key, uint32_t root)
{
    uint32_t cursor = root - 1, last = w->parked[--w->parked_count];
    if (last != cursor)
        set_place(w, w->waits[cursor].place, last);
    root = meld_children(w, w->waits[cursor].child);
    if (root)
        gt_map_put(&w->queues, key, root); /* the key exists: this needs no memory */
    else
        gt_map_remove(&w->queues, key);
    return cursor;
}

bool gt_waits_wake(gt_waits *w, uint64_t goroutine, uint64_t seq, uint8_t status, uint32_t *cursor)
{
    uint64_t key = key_of(w, goroutine, seq, status);
    uint32_t root = (uint32_t)gt_map_get(&w->queues, key);
    if (root)
        *cursor = take_root(w, key, root);
    return root != 0;
}

/* The cursor is the root of its queue, or as early as the root. */
uint32_t gt_waits_release(gt_waits *w)
{
    uint64_t key = w->waits[w->parked[0]].key;
    return take_root(w, key, (uint32_t)gt_map_get(&w->queues, key));
}

void gt_waits_free(gt_waits *w)
{
    if (!w->queues.heap)
        return;
    gt_free(w->queues.heap, w->waits, w->count * sizeof *w->waits);
    gt_free(w->queues.heap, w->parked, w->count * sizeof *w->parked);
    gt_map_free(&w->queues);
}
