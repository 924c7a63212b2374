/*
 * layout.h - split a trace into the buffers of its tracer, for tests of the encoder.
 */
#ifndef LAYOUT_H
#define LAYOUT_H

#include "core/events.h"
#include "support.h"

/* A copy of a record. */
typedef struct item {
    const gotrace_event_spec *spec;
    uint64_t *args;
    size_t arg_count;
    const char *data; /* points into the file */
    size_t data_size;
    uint64_t offset, size;
} item;

/* The batches of one buffer; records of batch i are items[first[i]] to before items[last[i]]. */
typedef struct lane {
    int64_t proc;
    size_t *first, *last, count;
    size_t batch, at; /* position while the records are passed to an encoder */
    uint64_t ticks, seq;
} lane;

typedef struct layout {
    const trace_file *file;
    int version;
    item *items;
    size_t count;
    size_t footer; /* index of the first record of the footer */
    lane lanes[64];
    size_t lane_count;
    const item **strings; /* id -> item */
    size_t string_count;
} layout;

layout layout_of(const trace_file *file);
void layout_free(layout *l);

/* The lane of a proc; empty if the proc has no batches. */
lane *layout_lane(layout *l, int64_t proc);

static inline bool item_is(const item *it, unsigned code)
{
    return it->spec->code == code;
}

#endif
