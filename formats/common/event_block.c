#include "formats/common/event_block.h"

#include <stdlib.h>
#include <string.h>

/* The data may only be moved while the block is empty. */
bool event_block_fits(const event_block *b, const gotrace_event *event)
{
    return b->count == 0 || event_data_fits(&b->data, event_data_size(event));
}

bool event_block_add(event_block *b, const gotrace_event *event)
{
    if (!event_data_reserve(&b->data, event_data_size(event), EVENT_BLOCK_DATA))
        return false;
    gotrace_event *copy = &b->events[b->count++];
    memcpy(copy, event, sizeof *copy);
    event_data_copy(&b->data, copy);
    return true;
}

void event_block_free(event_block *b)
{
    free(b->data.bytes);
    *b = (event_block){0};
}
