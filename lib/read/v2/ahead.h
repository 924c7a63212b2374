/*
 * ahead.h - the generations of a v2 trace as pieces that are checked ahead (read/ahead.h).
 *
 * A generation begins with the status of the goroutines and procs that its events refer to, so its
 * events can be checked without knowing the state at the end of the generation before.
 */
#ifndef GT_V2_AHEAD_H
#define GT_V2_AHEAD_H

#include "read/ahead.h"
#include "read/v2/v2.h"

/* Starts the threads (gotrace_config.threads) if the trace has several generations. False if memory
 * is refused. */
bool gt_v2_ahead_start(gotrace_reader *reader);

/* Call before a generation: takes over the generations that were checked ahead, from the current
 * one on, and moves v2->current to the first one that the caller has to check. False if reading
 * must stop. */
bool gt_v2_ahead_take(gotrace_reader *reader, gt_ahead *ahead);

#endif
