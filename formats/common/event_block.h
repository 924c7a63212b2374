/*
 * event_block.h - copies of some events, with their arguments, texts and messages, which remain
 * valid while the reader continues.
 */
#ifndef EVENT_BLOCK_H
#define EVENT_BLOCK_H

#include "gotrace.h"

/* A few blocks fit into the second-level cache of a processor. */
enum { EVENT_BLOCK_EVENTS = 128, EVENT_BLOCK_DATA = 8 * 1024 };

/* Zero is an empty block. */
typedef struct event_block {
    size_t count;
    unsigned char *bytes;  /* what the events refer to */
    size_t used, capacity; /* multiples of 8 */
    gotrace_event events[EVENT_BLOCK_EVENTS];
    gotrace_raw raw[EVENT_BLOCK_EVENTS];
} event_block;

static inline bool event_block_full(const event_block *b)
{
    return b->count == EVENT_BLOCK_EVENTS;
}

/* Whether there is space for the event's data. An empty block has space for any event. */
bool event_block_fits(const event_block *b, const gotrace_event *event, const gotrace_raw *raw);

/* Adds an event that fits to a block that is not full. False if memory is refused. */
bool event_block_add(event_block *b, const gotrace_event *event, const gotrace_raw *raw);

static inline void event_block_clear(event_block *b)
{
    b->count = b->used = 0;
}

void event_block_free(event_block *b);

#endif
