/*
 * ahead.h - spans of time of a v1 trace as pieces that are checked ahead (read/ahead.h).
 *
 * A piece has the events of all procs between two times. Where it begins, each proc's cursor is at
 * its first event after the piece before, so that the check needs no event of it. Unlike a
 * generation of v2 it does not repeat any state: what the first event of a goroutine, proc or range
 * requires is assumed. A piece in which anything has to be reported, or in which an event waits for
 * one of another piece, is left to the reading thread.
 *
 * The pieces are the same for every number of threads, because the order of events at the same time
 * depends on where they begin. There are none until 1.6, where the order is by number, and in
 * traces with futile wake-ups, whose positions in the order of the whole trace matter.
 */
#ifndef GT_V1_AHEAD_H
#define GT_V1_AHEAD_H

#include "read/ahead.h"
#include "read/v1/state.h"

typedef struct gt_pieces {
    int64_t *ends; /* the last time of each */
    size_t count, capacity;
    size_t current;
    gt_ahead *ahead;     /* NULL: one thread */
    uint32_t *runs;      /* of each proc: from which to decode the next piece to be checked ahead */
    gt_index index;      /* copy of the reader's, without its position in rows */
    int64_t first_ticks; /* of the trace, as in gt_order */
} gt_pieces;

/* Divides the trace. False if memory is refused. */
bool gt_pieces_find(gotrace_reader *reader);

/* The end of the first piece, INT64_MAX if there is only one. */
int64_t gt_pieces_first_end(const gotrace_reader *reader);

/* Starts the threads (gotrace_config.threads) that check pieces ahead. False if memory is refused.
 */
bool gt_pieces_start(gotrace_reader *reader);

/* Call at the end of a piece: takes over those that were checked ahead, and makes the order
 * continue with the next one. *end: there is none. False if reading must stop. */
bool gt_pieces_next(gotrace_reader *reader, bool *end);

void gt_pieces_free(gotrace_reader *reader);

#endif
