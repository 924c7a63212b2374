/*
 * feed.h - the events of a reader, a block at a time, or read in a thread while the caller
 * processes earlier ones.
 *
 * Until feed_begin the events are read one by one, so that gotrace_reader_raw has their ticks and
 * arguments. With a thread, blocks go through a bounded queue. The reader may replace its tables
 * while events that refer to them are in the queue, so each stack that an event refers to is
 * copied, once per generation. What the caller sees does not depend on the thread. What it caches
 * by the id of a string or stack is valid for one generation_index.
 */
#ifndef FEED_H
#define FEED_H

#include <stdbool.h>
#include <stddef.h>

#include "gotrace.h"

typedef struct feed_thread feed_thread;

typedef struct feed {
    gotrace_reader *reader;
    feed_thread *thread;                   /* NULL: none */
    const gotrace_event *next, *last;      /* of the block; last is after the last one */
    const gotrace_block *block;            /* NULL: none */
    const gotrace_event *current;          /* the last event, before feed_begin */
    uint64_t generation, generation_index; /* of the events, see GOTRACE_KIND_SYNC */
    gotrace_status status;                 /* of the reader */
    bool begun;                            /* feed_begin was called */
    bool failed;                           /* memory was refused for a copy */
} feed;

void feed_init(feed *f, gotrace_reader *reader);
void feed_free(feed *f);

/* feed_begin, at the first call. */
void feed_begin_records(feed *f, bool threaded);

/* Call it after an event, as soon as ticks are not needed: of later events there are no ticks, nor
 * arguments of transitions and system calls, and only stacks can be queried that events refer to,
 * from the current one on. The current event is no longer valid. From then on only the feed may use
 * the reader. With `threaded`, a thread reads, in which the reader's callbacks are called, unless
 * it cannot begin or generations are too small for it. */
static inline void feed_begin(feed *f, bool threaded)
{
    if (!f->begun)
        feed_begin_records(f, threaded);
}

/* feed_next, if the block is used up. */
gotrace_status feed_next_block(feed *f, const gotrace_event **event);

/* gotrace_reader_next. Returns GOTRACE_END if memory is refused, see feed.failed. Inline, because
 * there is one call for each event. */
static inline gotrace_status feed_next(feed *f, const gotrace_event **event)
{
    if (f->next == f->last)
        return feed_next_block(f, event);
    *event = f->next++;
    return GOTRACE_EVENT;
}

/* gotrace_reader_check. Ends the thread. */
gotrace_status feed_check(feed *f);

/* gotrace_reader_stack_depth and gotrace_reader_stack, for the current event's generation. */
size_t feed_stack_depth(const feed *f, uint64_t id);
size_t feed_stack(const feed *f, uint64_t id, gotrace_frame *frames, size_t max);

#endif
