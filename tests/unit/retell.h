/*
 * retell.h - tell a writer what a reader tells of a trace, and say what a trace tells, so that two
 * can be compared.
 */
#ifndef RETELL_H
#define RETELL_H

#include "support.h"

/* What is left out of what is told. */
enum {
    RETELL_ALL = 0,
    RETELL_NO_STATUSES = 1, /* v2: statuses, but (with syncs) those of the first generation */
    RETELL_NO_SYNCS = 2,    /* v2: where generations begin */
};

/* Write what a trace tells anew. */
void retell(const blob *trace, unsigned left_out, const gotrace_writer_options *options,
            blob *written);

/* What an event tells, but for what the writer chose: numbers, ids, places in the file. */
typedef struct told {
    uint64_t ticks;
    char *line;
} told;

typedef struct telling {
    told *events;
    size_t count, capacity;
    uint64_t problems;
    gotrace_error problem; /* the first one */
    uint64_t frequency;
} telling;

telling telling_of(const blob *trace);
void telling_free(telling *t);

#endif
