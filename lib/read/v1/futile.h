/*
 * futile.h - identifies the events of futile wake-ups.
 */
#ifndef GT_FUTILE_H
#define GT_FUTILE_H

#include "read/v1/order.h"

typedef struct gt_futile {
    gt_spill first; /* rows: position in the order of the first event of each futile wake-up */
    uint64_t position, next; /* of the current event; of the next row or UINT64_MAX */
    gt_map awake;            /* goroutines that are in a futile wake-up at this position */
} gt_futile;

/* Reads the trace in order once, to find the futile wake-ups. */
bool gt_futile_find(gotrace_reader *reader, gt_futile *futile);

/* The slow path of gt_futile_next: a futile wake-up begins or is active. */
bool gt_futile_next_slow(gotrace_reader *reader, gt_futile *futile, gt_event *e);

/* Call for each event in order: flags those that are part of a futile wake-up. False if reading
 * cannot continue. */
static inline bool gt_futile_next(gotrace_reader *reader, gt_futile *futile, gt_event *e)
{
    return (futile->position++ != futile->next && futile->awake.count == 0) ||
           gt_futile_next_slow(reader, futile, e);
}

void gt_futile_free(gt_futile *futile);

#endif
