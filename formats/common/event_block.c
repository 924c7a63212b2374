#include "formats/common/event_block.h"

#include <stdlib.h>
#include <string.h>

/* The number of bytes, rounded up to a multiple of 8. */
static size_t rounded(size_t size)
{
    return (size + 7) / 8 * 8;
}

static size_t data_size(const gotrace_event *e)
{
    return e->arg_count * sizeof *e->args + rounded(e->text_size) + rounded(e->message_size);
}

/* The data may only be moved while the block is empty. */
bool event_block_fits(const event_block *b, const gotrace_event *event)
{
    return b->count == 0 || data_size(event) <= b->capacity - b->used;
}

static bool reserve(event_block *b, size_t size)
{
    if (size <= b->capacity - b->used)
        return true;
    size_t capacity = size > EVENT_BLOCK_DATA ? size : EVENT_BLOCK_DATA;
    unsigned char *data = realloc(b->data, capacity);
    if (!data)
        return false;
    b->data = data;
    b->capacity = capacity;
    return true;
}

/* Arguments are few: a loop takes less time than memcpy. */
static const uint64_t *put_args(event_block *b, const gotrace_event *e)
{
    uint64_t *copy = (void *)(b->data + b->used);

    for (unsigned i = 0; i < e->arg_count; i++)
        copy[i] = e->args[i];
    b->used += e->arg_count * sizeof *copy;
    return copy;
}

static const void *put(event_block *b, const void *bytes, size_t size)
{
    void *copy = b->data + b->used;

    if (size > 0)
        memcpy(copy, bytes, size);
    b->used += rounded(size);
    return copy;
}

bool event_block_add(event_block *b, const gotrace_event *event)
{
    if (!reserve(b, data_size(event)))
        return false;
    gotrace_event *copy = &b->events[b->count++];
    memcpy(copy, event, sizeof *copy);
    if (event->arg_count > 0)
        copy->args = put_args(b, event);
    if (event->text)
        copy->text = put(b, event->text, event->text_size);
    if (event->message)
        copy->message = put(b, event->message, event->message_size);
    return true;
}

void event_block_free(event_block *b)
{
    free(b->data);
    *b = (event_block){0};
}
