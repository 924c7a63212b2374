/*
 * rewrite.h - pass the events of a trace from a reader to a writer, and list the events of a trace
 * as text, so that two traces can be compared.
 */
#ifndef REWRITE_H
#define REWRITE_H

#include "support.h"

/* Events that are left out. */
enum {
    REWRITE_ALL = 0,
    REWRITE_NO_STATUSES = 1, /* v2: statuses, except (with syncs) those of the first generation */
    REWRITE_NO_SYNCS = 2,    /* v2: starts of generations */
};

/* Write the events of a trace. */
void rewrite(const blob *trace, unsigned left_out, const gotrace_writer_options *options,
             blob *written);

/* An event as text, without what the writer chooses: numbers, ids, offsets. */
typedef struct listed_event {
    uint64_t ticks;
    uint64_t returned; /* the time as the reader returns it: in v2 it may be later than the ticks */
    char *line;
} listed_event;

typedef struct listing {
    listed_event *events;
    size_t count, capacity;
    uint64_t problems;
    gotrace_error problem; /* first problem */
    uint64_t frequency;
} listing;

listing listing_of(const blob *trace);
void listing_free(listing *t);

#endif
