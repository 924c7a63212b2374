/*
 * cursor.h - the timed events of one proc in file order, through a small window.
 */
#ifndef GT_CURSOR_H
#define GT_CURSOR_H

#include "read/goroutines.h"
#include "read/handle.h"
#include "read/window.h"

enum {
    /* Flag in gt_event.flags, besides GOTRACE_EVENT_*: a GoSysCall that blocks, according to the
     * proc's next event. */
    GT_EVENT_BLOCKS = 128,
};

/* A timed event of a proc, with values derived from earlier events on that proc. */
typedef struct gt_event {
    int64_t ticks;
    uint64_t offset;    /* of its record */
    uint64_t record;    /* index of its record in file order, or GOTRACE_NO_OFFSET */
    uint64_t batch;     /* index of its batch, or GOTRACE_NO_OFFSET */
    uint64_t goroutine; /* in whose context it is */
    uint64_t args[3];   /* as in gotrace_event */
    uint64_t stack;
    uint32_t proc;         /* index in gt_index.procs, or GT_NONE */
    uint8_t type;          /* code of the full event, even if the local form was written */
    uint8_t rule;          /* gt_v1_shape.rule */
    uint8_t flags;         /* GOTRACE_EVENT_*, GT_EVENT_BLOCKS */
    gt_goroutine *subject; /* goroutine whose state determines its order, if order.c has found it */
    uint64_t seq;          /* global sequence number (until 1.6) */
    uint32_t data_at;      /* UserLog: the message, relative to offset */
    uint32_t data_size;
} gt_event;

/* The position of an event, for a problem with it. */
static inline gt_place gt_event_place(const gt_event *event)
{
    return (gt_place){event->offset, event->batch, event->record};
}

/*
 * A cursor decodes several events at a time into alternating halves of its buffer. Decoding in a
 * tight loop is a third faster than one event at a time, and the last event returned stays valid
 * while the next half is decoded.
 */
typedef struct gt_cursor {
    gt_event *head;
    gt_event *end;    /* end of the half that contains head */
    gt_event *events; /* two halves */
    uint32_t half;    /* capacity of a half */
    bool has_head;
    bool with_seq; /* until 1.6 */
    bool forced;   /* order.c: accept the head although it is not ready */
    uint32_t proc;
    gt_goroutine *running; /* order.c: cache of the goroutine found last */
    /* State of decoding. */
    const gt_v1_shape *shapes;
    gt_event *last;     /* the last event decoded */
    int64_t ticks;      /* of that event */
    int64_t until;      /* an event after this is the last one that gt_cursor_fill decodes */
    uint64_t goroutine; /* the goroutine that runs on the proc after that event */
    uint64_t seq;       /* of that event (until 1.6) */
    uint64_t record;    /* of the record at p */
    uint64_t batch;     /* of the batch at p */
    uint32_t next_run;  /* or GT_NONE */
    gt_file_window w;   /* the bytes of the current run; its end is 0 after the last one */
} gt_cursor;

/* The buffers of a cursor: a window of at most that size, and room for 2 * half events. */
typedef struct gt_buffers {
    size_t window;
    gt_event *events;
    uint32_t half;
} gt_buffers;

/* Starts at the first event of a run of the proc. */
bool gt_cursor_open(gotrace_reader *reader, gt_cursor *cursor, uint32_t proc, uint32_t run,
                    gt_buffers buffers);

/* The place of a cursor at an event after cursor->until, from which on decoding depends on nothing
 * else. */
typedef struct gt_cursor_place {
    gt_event head;
    bool has_head;
    uint32_t next_run;
    uint64_t at, run_end; /* offset of the next record */
    int64_t ticks;
    uint64_t goroutine, record, batch;
} gt_cursor_place;

/* Moves to the first event after cursor->until. */
bool gt_cursor_skip(gotrace_reader *reader, gt_cursor *cursor);

gt_cursor_place gt_cursor_save(const gt_cursor *cursor);
void gt_cursor_restore(gotrace_reader *reader, gt_cursor *cursor, const gt_cursor_place *place);
bool gt_places_equal(const gt_cursor_place *a, const gt_cursor_place *b);

/* Decodes the next events, or clears has_head. False if reading cannot continue. */
bool gt_cursor_fill(gotrace_reader *reader, gt_cursor *cursor);

void gt_cursor_close(gotrace_reader *reader, gt_cursor *cursor);

/* The merge key of the head. */
static inline int64_t gt_cursor_key(const gt_cursor *cursor)
{
    return cursor->with_seq ? (int64_t)cursor->head->seq : cursor->head->ticks;
}

/* Moves to the next event. The previous head stays valid until the call after the next. */
static inline bool gt_cursor_advance(gotrace_reader *reader, gt_cursor *cursor)
{
    return ++cursor->head < cursor->end || gt_cursor_fill(reader, cursor);
}

#endif
