/*
 * cursor.h - the timed events of one proc, in the order it wrote them, through a small window.
 */
#ifndef GT_CURSOR_H
#define GT_CURSOR_H

#include "reader.h"

/* A timed event as a proc wrote it, with what follows from the events before it on that proc. */
typedef struct gt_event {
    int64_t ticks;
    uint64_t seq;       /* global sequence number (until 1.6) */
    uint64_t offset;    /* of its record */
    uint64_t goroutine; /* in whose context it happened */
    uint64_t args[3];   /* as gotrace_event has them */
    uint64_t stack;
    uint32_t proc;      /* index in gt_index.procs */
    uint32_t data_at;   /* UserLog: the message, from offset on */
    uint32_t data_size;
    uint8_t type;
    uint8_t flags; /* GOTRACE_EVENT_* */
} gt_event;

typedef struct gt_cursor {
    gt_event head;        /* the next event, valid while has_head */
    bool has_head;
    bool reading;         /* there may be more */
    const uint8_t *p;     /* in the window */
    const uint8_t *limit; /* end of what the window holds of the current run */
    uint64_t base;        /* offset in the file of window[0] */
    uint64_t run_end;     /* of the current run */
    uint32_t next_run;    /* or GT_NONE */
    uint32_t proc;
    int64_t ticks; /* of the last event */
    uint64_t seq;
    uint64_t goroutine; /* running on the proc as of the last event decoded */
    uint8_t *window;
    size_t window_size;
} gt_cursor;

/* Start at the proc's first event and decode it. window is the most bytes to hold. */
bool gt_cursor_open(gotrace_reader *reader, gt_cursor *cursor, uint32_t proc, size_t window);

/* Decode the next event into head, or clear has_head. False when reading cannot go on. */
bool gt_cursor_advance(gotrace_reader *reader, gt_cursor *cursor);

void gt_cursor_close(gotrace_reader *reader, gt_cursor *cursor);

#endif
