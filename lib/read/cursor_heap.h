/*
 * cursor_heap.h - the cursors whose first events are not ready to be taken yet, by time.
 *
 * A sentinel follows the last entry, so that the earliest key can be compared without looking
 * whether there is one. Inline, because there is a comparison for each event.
 */
#ifndef GT_CURSOR_HEAP_H
#define GT_CURSOR_HEAP_H

#include "core/alloc.h"

typedef struct gt_heap_entry {
    int64_t key; /* the time of its first event (until 1.6: its sequence number) */
    void *cursor;
} gt_heap_entry;

typedef struct gt_cursor_heap {
    gt_heap_entry *entries; /* [0] is the earliest, [count] the sentinel */
    size_t count, capacity; /* capacity: without the sentinel */
    int64_t until;          /* the sentinel's key */
} gt_cursor_heap;

/* Makes an empty one. False if memory is refused. */
static inline bool gt_cursor_heap_open(gt_heap *heap, gt_cursor_heap *h, size_t cursors,
                                       int64_t until)
{
    *h = (gt_cursor_heap){.capacity = cursors, .until = until};
    h->entries = gt_calloc(heap, cursors + 1, sizeof *h->entries);
    if (h->entries)
        h->entries[0].key = until;
    return h->entries != NULL;
}

static inline void gt_cursor_heap_close(gt_heap *heap, gt_cursor_heap *h)
{
    if (h->entries)
        gt_free(heap, h->entries, (h->capacity + 1) * sizeof *h->entries);
    *h = (gt_cursor_heap){0};
}

static inline void gt_cursor_heap_push(gt_cursor_heap *h, int64_t key, void *cursor)
{
    size_t i = h->count++;
    h->entries[h->count].key = h->until;
    while (i > 0 && key < h->entries[(i - 1) / 2].key) {
        h->entries[i] = h->entries[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    h->entries[i] = (gt_heap_entry){key, cursor};
}

/* Replaces the earliest entry by this one. Returns the earliest cursor. */
static void *gt_cursor_heap_replace(gt_cursor_heap *h, int64_t key, void *cursor)
{
    void *earliest = h->entries[0].cursor;
    size_t i = 0, child;
    while ((child = 2 * i + 1) < h->count) {
        child += child + 1 < h->count && h->entries[child + 1].key < h->entries[child].key;
        if (key <= h->entries[child].key)
            break;
        h->entries[i] = h->entries[child];
        i = child;
    }
    h->entries[i] = (gt_heap_entry){key, cursor};
    return earliest;
}

/* Removes and returns the earliest cursor. There must be one. */
static inline void *gt_cursor_heap_pop(gt_cursor_heap *h)
{
    gt_heap_entry last = h->entries[--h->count];
    void *earliest = h->count ? gt_cursor_heap_replace(h, last.key, last.cursor) : last.cursor;
    h->entries[h->count].key = h->until;
    return earliest;
}

#endif
