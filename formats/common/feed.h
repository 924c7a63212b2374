/*
 * feed.h - the events of a reader, read in a thread while the caller processes earlier ones.
 *
 * Without the thread the functions are those of the reader. With it, events are copied into blocks
 * that go through a bounded queue. The reader may replace its tables while events that refer to
 * them are in the queue, so the blocks also contain the texts, messages and arguments of their
 * events and each stack that an event refers to, once per generation. What the caller sees does not
 * depend on the thread, except for what feed_begin_thread says.
 */
#ifndef FEED_H
#define FEED_H

#include <stdbool.h>

#include "gotrace.h"

typedef struct feed_thread feed_thread;
typedef struct feed_record feed_record;

typedef struct feed {
    gotrace_reader *reader;
    feed_thread *thread;            /* NULL: none */
    const gotrace_event *current;   /* the last event, if it is the reader's */
    const feed_record *next, *last; /* of the current block; last is after the last one */
    gotrace_event event;            /* made from the last record */
    bool begun;                     /* feed_begin_thread was called */
    bool failed;                    /* memory was refused for the copy of an event */
} feed;

void feed_init(feed *f, gotrace_reader *reader);
void feed_free(feed *f);

/* Starts the thread, at the first call; if that fails, or if generations are too small for a
 * thread, the feed works without. From then on only the feed may use the reader, whose callbacks
 * are called in the thread, and only stacks can be queried that events refer to, from the current
 * one on. The current event is no longer valid. Of later events ticks must not be used, nor the
 * arguments of transitions and system calls. */
void feed_begin_thread(feed *f);

/* feed_next with the thread. */
gotrace_status feed_next_record(feed *f, const gotrace_event **event);

/* gotrace_reader_next. Returns GOTRACE_END if memory is refused, see feed.failed. */
static inline gotrace_status feed_next(feed *f, const gotrace_event **event)
{
    if (!f->thread) {
        gotrace_status status = gotrace_reader_next(f->reader, event);
        f->current = *event;
        return status;
    }
    return feed_next_record(f, event);
}

/* gotrace_reader_check. Ends the thread. */
gotrace_status feed_check(feed *f);

/* gotrace_reader_stack_depth and gotrace_reader_stack, for the current event's generation. */
size_t feed_stack_depth(const feed *f, uint64_t id);
size_t feed_stack(const feed *f, uint64_t id, gotrace_frame *frames, size_t max);

#endif
