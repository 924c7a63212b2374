/*
 * futile.h - which events of a trace are parts of futile wake-ups.
 */
#ifndef GT_FUTILE_H
#define GT_FUTILE_H

#include "read/v1/order.h"

typedef struct gt_futile {
    gt_spill first;          /* rows: position in the order of a futile wake-up's first event */
    uint64_t position, next; /* of the event at hand; of the next row, UINT64_MAX for none */
    gt_map awake;            /* goroutines in a futile wake-up at this position */
} gt_futile;

/* Read the trace in order once, to find the futile wake-ups. */
bool gt_futile_find(gotrace_reader *reader, gt_futile *futile);

/* What gt_futile_next does for an event at which futile wake-ups begin or go on. */
bool gt_futile_look(gotrace_reader *reader, gt_futile *futile, const gt_event *e, bool *part);

/* The next event in order: *part is true if it is part of a futile wake-up. False when reading
 * cannot go on. */
static inline bool gt_futile_next(gotrace_reader *reader, gt_futile *futile, const gt_event *e,
                                  bool *part)
{
    *part = false;
    if (futile->position++ != futile->next && futile->awake.count == 0)
        return true;
    return gt_futile_look(reader, futile, e, part);
}

void gt_futile_free(gt_futile *futile);

#endif
