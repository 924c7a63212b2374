/*
 * feed.h - the events of a reader: one at a time, a block at a time, or read in a thread while the
 * caller processes earlier ones.
 *
 * With a thread, blocks go through a bounded queue. What the caller sees does not depend on the
 * thread. What it caches by the id of a string or stack is valid for one generation_index. Only the
 * feed may use the reader, from feed_next to feed_free, except after the last event.
 */
#ifndef FEED_H
#define FEED_H

#include <stdbool.h>
#include <stddef.h>

#include "gotrace.h"

typedef struct feed_thread feed_thread;

typedef struct feed {
    gotrace_reader *reader;
    bool in_order;                         /* see feed_init */
    bool threaded;                         /* a thread is to be started */
    feed_thread *thread;                   /* NULL: none */
    const gotrace_event *next, *last;      /* of the block; last is after the last one */
    const gotrace_block *block;            /* NULL: none */
    uint64_t generation, generation_index; /* of the events, see GOTRACE_KIND_SYNC */
    gotrace_status status;                 /* of the reader */
} feed;

/* in_order: events are read one at a time, so that the reader's callbacks are called when those
 * before were processed. Else, with `threads` > 1, a thread reads, in which the callbacks are
 * called, unless it cannot start or generations are too small for it. */
void feed_init(feed *f, gotrace_reader *reader, bool in_order, size_t threads);
void feed_free(feed *f);

/* feed_next, if the block is used up. */
gotrace_status feed_next_block(feed *f, const gotrace_event **event);

/* gotrace_reader_next. Inline, because there is one call for each event. */
static inline gotrace_status feed_next(feed *f, const gotrace_event **event)
{
    if (f->next == f->last)
        return feed_next_block(f, event);
    *event = f->next++;
    return GOTRACE_EVENT;
}

/* Makes the feed refer to a block that the caller has read with the same reader and will release;
 * NULL: no longer. Then feed_next is not called any more. */
void feed_show(feed *f, const gotrace_block *block);

/* gotrace_reader_check. Ends the thread. */
gotrace_status feed_check(feed *f);

/* gotrace_reader_stack_depth and gotrace_reader_stack, for the current event's generation. */
size_t feed_stack_depth(const feed *f, uint64_t id);
size_t feed_stack(const feed *f, uint64_t id, gotrace_frame *frames, size_t max);

/* The outermost frame of that stack; false if there is none, or more than 1000. */
bool feed_outermost(const feed *f, uint64_t id, gotrace_frame *frame);

#endif
