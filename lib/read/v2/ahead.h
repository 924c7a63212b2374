/*
 * ahead.h - checks the generations of a v2 trace on several threads.
 *
 * While the reading thread checks a generation, other threads check later ones, each with a reader
 * of its own that does not know the state before its generation (assume.h). When the reading thread
 * arrives at such a generation, it compares the assumptions with the actual state. If all hold, the
 * check could not have gone differently: problems are reported, and the state after the generation
 * is taken over. If one does not hold, or if events of the generation are inconsistent, the reading
 * thread checks the generation again. So problems, their order and all counts are those of one
 * thread.
 */
#ifndef GT_V2_AHEAD_H
#define GT_V2_AHEAD_H

#include "read/v2/v2.h"

typedef struct gt_v2_ahead gt_v2_ahead;

/* Starts the threads (gotrace_config.threads) if the trace has several generations. False if memory
 * is refused. */
bool gt_v2_ahead_start(gotrace_reader *reader);

/* Call before a generation: takes over the generations that were checked ahead, from the current
 * one on, and moves v2->current to the first one that the caller has to check. False if reading
 * must stop. */
bool gt_v2_ahead_take(gotrace_reader *reader, gt_v2_ahead *ahead);

/* Stops the threads. NULL is allowed. */
void gt_v2_ahead_free(gt_v2_ahead *ahead);

#endif
