/*
 * order.h - one total order of the events of all procs.
 *
 * Until 1.6 every event has a global sequence number, which determines the order. In later versions
 * an event is ready when its goroutine has the sequence number and status that the event requires;
 * the earliest ready event among the procs' first events is next. So the order is correct even if
 * the clocks of CPUs differ. Ends of system calls, which are recorded when the goroutine runs
 * again, are then moved to their real time. Source: Go 1.21, internal/trace/order.go.
 */
#ifndef GT_ORDER_H
#define GT_ORDER_H

#include "read/v1/cursor.h"

/* Starts at the beginning, without known goroutines. */
gt_order *gt_order_new(gotrace_reader *reader, gt_goroutines *goroutines);

/* Gets the next event, which may be modified and is valid until the next call; NULL at the end.
 * False if reading cannot continue. */
bool gt_order_next(gotrace_reader *reader, gt_order *order, gt_event **event);

/* Calls `each` for all remaining events, in one tight loop, until it returns false. False then, and
 * if reading cannot continue. */
typedef bool gt_each_fn(gotrace_reader *reader, gt_event *event, void *ctx);
bool gt_order_each(gotrace_reader *reader, gt_order *order, gt_each_fn *each, void *ctx);

void gt_order_free(gotrace_reader *reader, gt_order *order);

#endif
