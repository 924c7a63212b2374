/*
 * order.h - one total order of the events of all procs.
 *
 * Until 1.6 every event has a global sequence number, and that is the order. Later versions have
 * none: an event is ready when its goroutine stands at the sequence number and in the status that
 * the event needs, and among the procs' first events that are ready the earliest comes next, so
 * that the order holds even where the clocks of the CPUs are not in step. Then the ends of system
 * calls, which are written when the goroutine gets to run again, go to their real time.
 * Source: Go 1.21, internal/trace/order.go.
 */
#ifndef GT_ORDER_H
#define GT_ORDER_H

#include "read/v1/cursor.h"

/* Start at the beginning, with no goroutine known. */
gt_order *gt_order_new(gotrace_reader *reader, gt_goroutines *goroutines);

/* The next event, which may be written to and stays until the next call; NULL at the end. Returns
 * false when reading cannot go on. */
bool gt_order_next(gotrace_reader *reader, gt_order *order, gt_event **event);

/* The same for all events from here to the end, in one tight loop. Stops when `each` says false;
 * false then, and when reading cannot go on. */
typedef bool gt_each_fn(gotrace_reader *reader, gt_event *event, void *ctx);
bool gt_order_each(gotrace_reader *reader, gt_order *order, gt_each_fn *each, void *ctx);

void gt_order_free(gotrace_reader *reader, gt_order *order);

#endif
