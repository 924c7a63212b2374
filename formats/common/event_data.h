/*
 * event_data.h - copies of the arguments, texts and messages of events, which remain valid while
 * the reader continues.
 */
#ifndef EVENT_DATA_H
#define EVENT_DATA_H

#include <stdbool.h>

#include "gotrace.h"

/* Zero is empty. */
typedef struct event_data {
    unsigned char *bytes;
    size_t used, capacity; /* multiples of 8 */
} event_data;

static inline size_t event_data_rounded(size_t size)
{
    return (size + 7) / 8 * 8;
}

/* The number of bytes that event_data_copy adds for an event. */
static inline size_t event_data_size(const gotrace_event *e)
{
    return e->arg_count * sizeof *e->args + event_data_rounded(e->text_size) +
           event_data_rounded(e->message_size);
}

static inline bool event_data_fits(const event_data *d, size_t size)
{
    return size <= d->capacity - d->used;
}

/* Makes room for SIZE bytes; the room is LEAST bytes or more. What is there may be moved, so what
 * does not fit is added only while it is empty. False if memory is refused. */
bool event_data_reserve(event_data *d, size_t size, size_t least);

/* Adds bytes, for which there is room. Returns the copy. */
void *event_data_put(event_data *d, const void *bytes, size_t size);

/* Adds the data of an event, for which there is room. *copy, a copy of the event, gets it. */
void event_data_copy(event_data *d, gotrace_event *copy);

#endif
