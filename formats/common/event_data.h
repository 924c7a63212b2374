/*
 * event_data.h - copies of the arguments, texts and messages of events, which remain valid while
 * the reader continues. Inline, because there is one for each event.
 */
#ifndef EVENT_DATA_H
#define EVENT_DATA_H

#include <stdbool.h>
#include <string.h>

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
bool event_data_grow(event_data *d, size_t size, size_t least);

static inline bool event_data_reserve(event_data *d, size_t size, size_t least)
{
    return event_data_fits(d, size) || event_data_grow(d, size, least);
}

/* Adds bytes, for which there is room. Returns the copy. */
static inline void *event_data_put(event_data *d, const void *bytes, size_t size)
{
    void *copy = d->bytes + d->used;
    if (size > 0)
        memcpy(copy, bytes, size);
    d->used += event_data_rounded(size);
    return copy;
}

/* Arguments are few: a loop takes less time than memcpy. */
static inline const uint64_t *event_data_put_args(event_data *d, const gotrace_event *e)
{
    uint64_t *copy = (void *)(d->bytes + d->used);
    for (unsigned i = 0; i < e->arg_count; i++)
        copy[i] = e->args[i];
    d->used += e->arg_count * sizeof *copy;
    return copy;
}

/* Adds the data of an event, for which there is room. *copy, a copy of the event, gets it. */
static inline void event_data_copy(event_data *d, gotrace_event *copy)
{
    if (copy->arg_count > 0)
        copy->args = event_data_put_args(d, copy);
    if (copy->text)
        copy->text = event_data_put(d, copy->text, copy->text_size);
    if (copy->message)
        copy->message = event_data_put(d, copy->message, copy->message_size);
}

#endif
