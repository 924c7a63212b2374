/*
 * waits.h - cursors that wait for a goroutine to come to a sequence number and status.
 *
 * All that wait for the same thing form a pairing heap by time stamp, found by hash; when the
 * thing happens just the earliest is woken, for it alone can use it: that keeps every step
 * logarithmic, however many procs wait.
 */
#ifndef GT_WAITS_H
#define GT_WAITS_H

#include "core/map.h"

#define GT_ANY_SEQ UINT64_MAX /* waits for a status, whatever the sequence number */

typedef struct gt_wait {
    int64_t ticks;
    uint64_t key;            /* of what it waits for */
    uint32_t child, sibling; /* in its queue: index + 1 of another wait, 0 for none */
    uint32_t place;          /* in gt_waits.parked */
} gt_wait;

typedef struct gt_waits {
    gt_map queues;    /* value: index + 1 of the root */
    gt_wait *waits;   /* one a cursor */
    uint32_t *parked; /* the cursors that wait: a binary heap by ticks */
    size_t count, parked_count;
    uint64_t seed;
} gt_waits;

bool gt_waits_init(gt_waits *waits, gt_heap *heap, size_t cursors);

/* Let a cursor wait, which does not yet. */
bool gt_waits_park(gt_waits *waits, uint32_t cursor, int64_t ticks, uint64_t goroutine,
                   uint64_t seq, uint8_t status);

/* The earliest cursor that waits for exactly this, which waits no longer; false if none does. */
bool gt_waits_wake(gt_waits *waits, uint64_t goroutine, uint64_t seq, uint8_t status,
                   uint32_t *cursor);

/* The least ticks of those that wait, INT64_MAX if none does. */
static inline int64_t gt_waits_earliest(const gt_waits *waits)
{
    return waits->parked_count ? waits->waits[waits->parked[0]].ticks : INT64_MAX;
}

/* The earliest cursor of all, which waits no longer. There is one. */
uint32_t gt_waits_release(gt_waits *waits);

void gt_waits_free(gt_waits *waits);

#endif
