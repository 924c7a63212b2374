/*
 * cursor.h - the timed events of one proc, in the order it wrote them, through a small window.
 */
#ifndef GT_CURSOR_H
#define GT_CURSOR_H

#include "goroutines.h"
#include "reader.h"

/* A timed event as a proc wrote it, with what follows from the events before it on that proc. */
typedef struct gt_event {
    int64_t ticks;
    uint64_t offset;    /* of its record */
    uint64_t record;    /* index of its record in file order, GOTRACE_NO_OFFSET if not known */
    uint64_t batch;     /* index of its batch, likewise */
    uint64_t goroutine; /* in whose context it happened */
    uint64_t args[3];   /* as gotrace_event has them */
    uint64_t stack;
    uint32_t proc; /* index in gt_index.procs, GT_NONE for none */
    uint8_t type;
    uint8_t flags;         /* GOTRACE_EVENT_*, GT_EVENT_BLOCKS */
    gt_goroutine *subject; /* the one whose state orders it, where the order has found it */
    uint64_t seq;          /* global sequence number (until 1.6) */
    uint32_t data_at;      /* UserLog: the message, from offset on */
    uint32_t data_size;
} gt_event;

/* Where an event is, for a problem with it. */
static inline gt_place gt_event_place(const gt_event *event)
{
    return (gt_place){event->offset, event->batch, event->record};
}

typedef struct gt_cursor {
    int64_t key;         /* what its head is merged by */
    const uint8_t *p;    /* in the window */
    const uint8_t *safe; /* before this, a record's values can be read without looking */
    const gt_v1_shape *shapes;
    int64_t ticks;      /* of the last event decoded */
    uint64_t goroutine; /* running on the proc as of that event */
    uint64_t base;      /* offset in the file of window[0] */
    uint64_t record;    /* index of the record at p */
    uint64_t batch;     /* index of the batch that p is in; one less at its very start */
    uint8_t *window;
    gt_goroutine *running; /* order.c: the goroutine it found last */
    gt_event heads[2];     /* the head, and the event before it, by turns */
    uint8_t head;          /* which is the head */
    bool has_head;
    bool with_seq; /* until 1.6 */
    bool forced;   /* order.c: take the head though it is not ready */
    uint32_t proc;
    uint64_t seq;         /* of the last event decoded (until 1.6) */
    const uint8_t *limit; /* end of what the window holds of the current run */
    uint64_t run_end;     /* of the current run */
    uint32_t next_run;    /* or GT_NONE */
    size_t window_size;
} gt_cursor;

/* Start at the proc's first event and decode it. window is the most bytes to hold. */
bool gt_cursor_open(gotrace_reader *reader, gt_cursor *cursor, uint32_t proc, size_t window);

/* A plain event at p, before safe: decode it into the other head, or leave all as it is. */
bool gt_cursor_decode(gt_cursor *cursor);
bool gt_cursor_advance_slowly(gotrace_reader *reader, gt_cursor *cursor);

/* Decode the next event into the other head, or clear has_head. The event that was head before
 * stays until the next call. False when reading cannot go on. */
static inline bool gt_cursor_advance(gotrace_reader *reader, gt_cursor *cursor)
{
    return (cursor->p < cursor->safe && gt_cursor_decode(cursor)) ||
           gt_cursor_advance_slowly(reader, cursor);
}

void gt_cursor_close(gotrace_reader *reader, gt_cursor *cursor);

static inline gt_event *gt_cursor_head(gt_cursor *cursor)
{
    return &cursor->heads[cursor->head];
}

#endif
