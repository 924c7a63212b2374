#include "formats/common/event_data.h"

#include <stdlib.h>

bool event_data_grow(event_data *d, size_t size, size_t least)
{
    size_t capacity = size > least ? size : least;
    unsigned char *bytes = realloc(d->bytes, capacity);
    if (!bytes)
        return false;
    d->bytes = bytes;
    d->capacity = capacity;
    return true;
}
