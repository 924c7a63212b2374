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

#include "read/assume.h"
#include "read/cursor_heap.h"
#include "read/v1/cursor.h"
#include "read/waits.h"

/* What an event requires of a goroutine, and how it changes it. The required sequence number is the
 * current one (any), an argument, or a constant; masks select without branches. */
typedef struct gt_order_rule {
    uint64_t any, arg; /* all ones: this one applies */
    uint8_t constant;
    uint8_t status, next;
    uint8_t step;    /* increment of the sequence number */
    bool of_subject; /* the goroutine is the first argument, not the context */
} gt_order_rule;

struct gt_order {
    gt_goroutines *goroutines;
    gt_order_rule rules[64]; /* by code, for shapes with a rule */
    gt_event *events;        /* of all cursors */
    size_t event_count;
    gt_cursor *cursors; /* one per proc, then one for samples or (until 1.6) ends of system calls */
    gt_cursor_heap heap; /* events later than `until` are held back: their cursors are not in it */
    gt_cursor *current;  /* the cursor being read, which is not in the heap; NULL if none */
    gt_event *ahead;     /* merged event that earlier ends of system calls precede */
    int64_t next_exit;   /* time of the earliest of those, INT64_MAX also if there is none */
    int64_t first_ticks; /* time of the earliest event */
    int64_t last_ticks;
    int64_t max_wait; /* ticks an event may wait; INT64_MAX until one was forced */
    uint64_t last_offset, last_seq;
    uint64_t gc_seq;
    bool gc_known;           /* or not needed yet, in a piece; see assumed */
    gt_assumptions *assumed; /* the state before this piece is not known; NULL: it is known */
    uint32_t gc_parked;
    uint32_t count, sorted; /* sorted: the cursor that reads from the spill */
    gt_spill *rows;
    gt_waits waits;
    gt_event exit;     /* an end of a system call returned out of its place */
    gt_table in_place; /* offsets of ends returned in place; skip their rows */
};

/* Makes an order without cursors in it. */
gt_order *gt_order_alloc(gotrace_reader *reader, gt_goroutines *goroutines);

/* Starts at the beginning, without known goroutines. Events after `until` are held back. */
gt_order *gt_order_new(gotrace_reader *reader, gt_goroutines *goroutines, int64_t until);

/* The buffers of a cursor. */
gt_buffers gt_order_buffers(const gotrace_reader *reader, const gt_order *order, uint32_t cursor);

/* Moves the cursors of samples and ends of system calls to the first ones at that time or later. */
bool gt_order_seek(gotrace_reader *reader, gt_order *order, int64_t ticks);

/* Call when there are no more events: those up to `until` are no longer held back. The order of
 * events at the same time then depends only on the places of the cursors. */
void gt_order_continue(gt_order *order, int64_t until);

/* Whether all events up to `until` were taken, and none later: none waits for another one. */
static inline bool gt_order_is_clean(const gt_order *order)
{
    return order->waits.parked_count == 0;
}

/* Gets the next event, which may be modified and is valid until the next call; NULL if there are no
 * more, or if those that are left come after `until` or wait for such an event.
 * False if reading cannot continue. */
bool gt_order_next(gotrace_reader *reader, gt_order *order, gt_event **event);

/* Calls `each` for all remaining events, in one tight loop, until it returns false. False then, and
 * if reading cannot continue. */
typedef bool gt_each_fn(gotrace_reader *reader, gt_event *event, void *ctx);
bool gt_order_each(gotrace_reader *reader, gt_order *order, gt_each_fn *each, void *ctx);

/* Frees the windows of cursors that are not needed any more. */
void gt_order_close(gotrace_reader *reader, gt_order *order);

void gt_order_free(gotrace_reader *reader, gt_order *order);

#endif
