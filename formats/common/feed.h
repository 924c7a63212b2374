/*
 * feed.h - the events of a reader, many at a time, or read in a thread while the caller processes
 * earlier ones.
 *
 * Until feed_begin the functions are those of the reader. From then on most events are records of
 * 64 bytes, of which the reader makes many at a time. With a thread, these are in blocks that go
 * through a bounded queue. The reader may replace its tables while events that refer to them are in
 * the queue, so the blocks also contain the other events, with their texts, messages and arguments,
 * and each stack that an event refers to, once per generation. What the caller sees does not depend
 * on the thread. What it caches by the id of a string or stack is valid for one generation_index.
 */
#ifndef FEED_H
#define FEED_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "gotrace_experimental.h"

typedef struct feed_thread feed_thread;

enum { FEED_BATCH = 64 };

typedef struct feed {
    gotrace_reader *reader;
    feed_thread *thread;              /* NULL: none */
    const gotrace_event *current;     /* the last event, if it is the reader's */
    const gotrace_event *pending;     /* the event after the batch, if there is one */
    const gotrace_brief *next, *last; /* of the block or batch; last is after the last one */
    gotrace_status status;            /* after the batch and the pending event */
    gotrace_event event;              /* made from the last record */
    bool begun;                       /* feed_begin was called */
    bool failed;                      /* memory was refused for the copy of an event */
    gotrace_brief batch[FEED_BATCH];  /* without a thread */
} feed;

void feed_init(feed *f, gotrace_reader *reader);
void feed_free(feed *f);

/* feed_begin, at the first call. */
void feed_begin_records(feed *f, bool threaded);

/* Call it after an event, as soon as ticks are not needed: of later events ticks must not be used,
 * nor the arguments of transitions and system calls, and only stacks can be queried that events
 * refer to, from the current one on. The current event is no longer valid. From then on only the
 * feed may use the reader. With `threaded`, a thread reads, in which the reader's callbacks are
 * called, unless it cannot begin or generations are too small for it. */
static inline void feed_begin(feed *f, bool threaded)
{
    if (!f->begun)
        feed_begin_records(f, threaded);
}

/* gotrace_brief.given of a record whose extra.other is a copy of the event; its kind is
 * GOTRACE_KIND_NONE. Most are transitions,
 * of which there is only the record: an event of 192 bytes takes longer to move from one processor
 * to another than to decode. */
enum { FEED_WHOLE = GOTRACE_BRIEF_OTHER };

_Static_assert(GOTRACE_NO_PROC == INT64_MIN && GOTRACE_NO_THREAD == INT64_MIN, "none, as widened");

static inline int64_t feed_widened(int32_t id)
{
    return id == GOTRACE_BRIEF_NONE ? INT64_MIN : id;
}

/* Makes an event of a record that has no copy of it. Other members are 0 and remain so. */
static inline void feed_expand(const gotrace_brief *b, gotrace_event *e)
{
    memcpy((char *)e + offsetof(gotrace_event, type), &b->type, sizeof(uint64_t));
    e->arg_count = 0; /* `given` has its place */
    e->time = b->time;
    e->offset = b->offset;
    e->proc = feed_widened(b->proc);
    e->lane = feed_widened(b->lane);
    e->thread = feed_widened(b->thread);
    e->stack = b->stack;
    e->goroutine = b->goroutine;
    e->subject = b->subject;
    e->start_stack = e->cause = 0;
    e->reason = NULL;
    if (b->given == GOTRACE_BRIEF_CAUSE)
        e->cause = b->extra.cause;
    else if (b->given == GOTRACE_BRIEF_REASON)
        e->reason = b->extra.reason;
    else
        e->start_stack = b->extra.start_stack;
}

/* feed_next, if the event is not in the block or batch, or not a record. */
gotrace_status feed_next_whole(feed *f, const gotrace_event **event);

/* gotrace_reader_next. Returns GOTRACE_END if memory is refused, see feed.failed. Inline, because
 * there is one call for each event. */
static inline gotrace_status feed_next(feed *f, const gotrace_event **event)
{
    const gotrace_brief *r = f->next;

    if (r == f->last || r->given == FEED_WHOLE)
        return feed_next_whole(f, event);
    f->next++;
    feed_expand(r, &f->event);
    *event = &f->event;
    return GOTRACE_EVENT;
}

/* gotrace_reader_check. Ends the thread. */
gotrace_status feed_check(feed *f);

/* gotrace_reader_stack_depth and gotrace_reader_stack, for the current event's generation. */
size_t feed_stack_depth(const feed *f, uint64_t id);
size_t feed_stack(const feed *f, uint64_t id, gotrace_frame *frames, size_t max);

#endif
