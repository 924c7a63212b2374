/*
 * cursor.h - the timed events of one proc, in the order it wrote them, through a small window.
 */
#ifndef GT_CURSOR_H
#define GT_CURSOR_H

#include "read/goroutines.h"
#include "read/reader.h"

enum {
    /* In gt_event.flags, besides GOTRACE_EVENT_*: a GoSysCall that the proc's next event says
     * blocks. */
    GT_EVENT_BLOCKS = 128,
};

/* A timed event as a proc wrote it, with what follows from the events before it on that proc. */
typedef struct gt_event {
    int64_t ticks;
    uint64_t offset;    /* of its record */
    uint64_t record;    /* index of its record in file order, GOTRACE_NO_OFFSET if not known */
    uint64_t batch;     /* index of its batch, likewise */
    uint64_t goroutine; /* in whose context it happened */
    uint64_t args[3];   /* as gotrace_event has them */
    uint64_t stack;
    uint32_t proc;         /* index in gt_index.procs, GT_NONE for none */
    uint8_t type;          /* the full event's, where a local variant was written */
    uint8_t rule;          /* gt_v1_shape.rule */
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

/*
 * A cursor decodes a stretch of events at a time, into one half of its buffer by turns: decoding
 * in a tight loop is a third faster than an event at a time, and an event that was handed out
 * stays whole while the next stretch is decoded.
 */
typedef struct gt_cursor {
    gt_event *head;
    gt_event *end;    /* of the stretch that the head is in */
    gt_event *events; /* two halves */
    uint32_t half;    /* events in a half */
    bool has_head;
    bool with_seq; /* until 1.6 */
    bool forced;   /* order.c: take the head though it is not ready */
    uint32_t proc;
    gt_goroutine *running; /* order.c: the goroutine it found last */
    /* Decoding. */
    const uint8_t *p;    /* in the window */
    const uint8_t *safe; /* before this, a record's values can be read without looking */
    const gt_v1_shape *shapes;
    gt_event *last;       /* the last event decoded */
    int64_t ticks;        /* of that event */
    uint64_t goroutine;   /* running on the proc as of that event */
    uint64_t seq;         /* of that event (until 1.6) */
    uint64_t record;      /* index of the record at p */
    uint64_t batch;       /* index of the batch that p is in */
    uint64_t base;        /* offset in the file of window[0] */
    const uint8_t *limit; /* end of what the window holds of the current run */
    uint64_t run_end;     /* of the current run */
    uint32_t next_run;    /* or GT_NONE */
    uint8_t *window;
    size_t window_size;
} gt_cursor;

/* Start at the proc's first event. The cursor holds at most `window` bytes of the file and
 * 2 * half events, for which `events` has room. */
bool gt_cursor_open(gotrace_reader *reader, gt_cursor *cursor, uint32_t proc, size_t window,
                    gt_event *events, uint32_t half);

/* Decode the next stretch, or clear has_head. False when reading cannot go on. */
bool gt_cursor_fill(gotrace_reader *reader, gt_cursor *cursor);

void gt_cursor_close(gotrace_reader *reader, gt_cursor *cursor);

/* What the head is merged by. */
static inline int64_t gt_cursor_key(const gt_cursor *cursor)
{
    return cursor->with_seq ? (int64_t)cursor->head->seq : cursor->head->ticks;
}

/* Go on to the next event. The one that was the head stays until the call after the next. */
static inline bool gt_cursor_advance(gotrace_reader *reader, gt_cursor *cursor)
{
    return ++cursor->head < cursor->end || gt_cursor_fill(reader, cursor);
}

#endif
