/*
 * waits.h - cursors that wait for a goroutine to reach a sequence number and status.
 *
 * The cursors that wait for the same condition form a pairing heap by timestamp, found by hash.
 * When the condition occurs only the earliest is woken, because only that one can proceed. So every
 * step is logarithmic in the number of waiting cursors. (Go's reader checks the first event of
 * every proc for each event that it merges.) After a collision of hashes a cursor is woken too
 * early, and waits again.
 */
#ifndef GT_WAITS_H
#define GT_WAITS_H

#include "core/map.h"

#define GT_ANY_SEQ UINT64_MAX /* wait for a status with any sequence number */

typedef struct gt_wait {
    int64_t ticks;
    uint64_t key;            /* of the condition */
    uint32_t child, sibling; /* in its queue: index + 1 of another wait, 0: none */
    uint32_t place;          /* in gt_waits.parked */
} gt_wait;

typedef struct gt_waits {
    gt_map queues;    /* value: index + 1 of the root */
    gt_wait *waits;   /* one per cursor */
    uint32_t *parked; /* the waiting cursors: a binary heap by ticks */
    size_t count, parked_count;
    uint64_t seed;
} gt_waits;

bool gt_waits_init(gt_waits *waits, gt_heap *heap, size_t cursors);

/* Parks a cursor that is not parked yet. */
bool gt_waits_park(gt_waits *waits, uint32_t cursor, int64_t ticks, uint64_t goroutine,
                   uint64_t seq, uint8_t status);

/* Removes and returns the earliest cursor that waits for exactly this; false if there is none. */
bool gt_waits_wake(gt_waits *waits, uint64_t goroutine, uint64_t seq, uint8_t status,
                   uint32_t *cursor);

/* The smallest ticks of all waiting cursors, INT64_MAX if there are none. */
static inline int64_t gt_waits_earliest(const gt_waits *waits)
{
    return waits->parked_count ? waits->waits[waits->parked[0]].ticks : INT64_MAX;
}

/* Removes and returns the earliest of all waiting cursors. There must be one. */
uint32_t gt_waits_release(gt_waits *waits);

void gt_waits_free(gt_waits *waits);

#endif
