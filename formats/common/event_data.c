#include "formats/common/event_data.h"

#include <stdlib.h>
#include <string.h>

bool event_data_reserve(event_data *d, size_t size, size_t least)
{
    if (event_data_fits(d, size))
        return true;
    size_t capacity = size > least ? size : least;
    unsigned char *bytes = realloc(d->bytes, capacity);
    if (!bytes)
        return false;
    d->bytes = bytes;
    d->capacity = capacity;
    return true;
}

void *event_data_put(event_data *d, const void *bytes, size_t size)
{
    void *copy = d->bytes + d->used;
    if (size > 0)
        memcpy(copy, bytes, size);
    d->used += event_data_rounded(size);
    return copy;
}

/* Arguments are few: a loop takes less time than memcpy. */
static const uint64_t *put_args(event_data *d, const gotrace_event *e)
{
    uint64_t *copy = (void *)(d->bytes + d->used);
    for (unsigned i = 0; i < e->arg_count; i++)
        copy[i] = e->args[i];
    d->used += e->arg_count * sizeof *copy;
    return copy;
}

void event_data_copy(event_data *d, gotrace_event *copy)
{
    if (copy->arg_count > 0)
        copy->args = put_args(d, copy);
    if (copy->text)
        copy->text = event_data_put(d, copy->text, copy->text_size);
    if (copy->message)
        copy->message = event_data_put(d, copy->message, copy->message_size);
}
