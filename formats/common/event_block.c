#include "formats/common/event_block.h"

#include <stdlib.h>
#include <string.h>

static size_t rounded(size_t size)
{
    return (size + 7) / 8 * 8;
}

/* The number of bytes that an event refers to. */
static size_t data_size(const gotrace_event *event, const gotrace_raw *raw)
{
    size_t size = raw->arg_count * sizeof *raw->args;
    if (event->given == GOTRACE_GIVEN_DETAILS)
        size += sizeof(gotrace_details) + rounded(event->extra.details->text_size) +
                rounded(event->extra.details->message_size);
    return size;
}

/* The data may only be moved while the block is empty. */
bool event_block_fits(const event_block *b, const gotrace_event *event, const gotrace_raw *raw)
{
    return b->count == 0 || data_size(event, raw) <= b->capacity - b->used;
}

/* Makes room in an empty block. False if memory is refused. */
static bool reserve(event_block *b, size_t size)
{
    if (size <= b->capacity - b->used)
        return true;
    size_t capacity = size < EVENT_BLOCK_DATA ? EVENT_BLOCK_DATA : size;
    unsigned char *bytes = malloc(capacity);
    if (!bytes)
        return false;
    free(b->bytes);
    b->bytes = bytes;
    b->capacity = capacity;
    return true;
}

/* Adds bytes, for which there is room. Returns the copy. */
static void *put(event_block *b, const void *bytes, size_t size)
{
    void *copy = b->bytes + b->used;
    if (size > 0)
        memcpy(copy, bytes, size);
    b->used += rounded(size);
    return copy;
}

bool event_block_add(event_block *b, const gotrace_event *event, const gotrace_raw *raw)
{
    if (!reserve(b, data_size(event, raw)))
        return false;
    gotrace_event *copy = &b->events[b->count];
    gotrace_raw *copied = &b->raw[b->count++];
    *copy = *event;
    *copied = *raw;
    copied->args = put(b, raw->args, raw->arg_count * sizeof *raw->args);
    if (event->given != GOTRACE_GIVEN_DETAILS)
        return true;
    gotrace_details *d = put(b, event->extra.details, sizeof *d);
    d->args = copied->args;
    if (d->text)
        d->text = put(b, d->text, d->text_size);
    if (d->message)
        d->message = put(b, d->message, d->message_size);
    copy->extra.details = d;
    return true;
}

void event_block_free(event_block *b)
{
    free(b->bytes);
    *b = (event_block){0};
}
