/*
 * layout.h - a trace taken apart into the buffers of its tracer, for tests of the encoder.
 */
#ifndef LAYOUT_H
#define LAYOUT_H

#include "core/events.h"
#include "support.h"

/* A record, copied. */
typedef struct item {
    const gotrace_event_spec *spec;
    uint64_t *args;
    size_t arg_count;
    const char *data; /* in the file */
    size_t data_size;
    uint64_t offset, size;
} item;

/* The batches of one buffer; its records are items[first[i]] to before items[last[i]]. */
typedef struct lane {
    int64_t proc;
    size_t *first, *last, count;
    size_t batch, at; /* where the telling stands */
    uint64_t ticks, seq;
} lane;

typedef struct layout {
    const trace_file *file;
    int version;
    item *items;
    size_t count;
    size_t footer; /* the first record of the footer */
    lane lanes[64];
    size_t lane_count;
    const item **strings; /* by id */
    size_t string_count;
} layout;

layout layout_of(const trace_file *file);
void layout_free(layout *l);

/* The lane of a proc; an empty one if there was none. */
lane *layout_lane(layout *l, int64_t proc);

static inline bool item_is(const item *it, unsigned code)
{
    return it->spec->code == code;
}

#endif
