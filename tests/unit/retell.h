/*
 * retell.h - tell a writer what a reader tells of a trace, and say what a trace tells, so that two
 * can be compared.
 */
#ifndef REWRITE_H
#define REWRITE_H

#include "support.h"

/* What is left out of what is told. */
enum {
    REWRITE_ALL = 0,
    REWRITE_NO_STATUSES = 1, /* v2: statuses, but (with syncs) those of the first generation */
    REWRITE_NO_SYNCS = 2,    /* v2: where generations begin */
};

/* Write what a trace tells anew. */
void rewrite(const blob *trace, unsigned left_out, const gotrace_writer_options *options,
             blob *written);

/* What an event tells, but for what the writer chose: numbers, ids, places in the file. */
typedef struct given {
    uint64_t ticks;
    char *line;
} given;

typedef struct reporting {
    given *events;
    size_t count, capacity;
    uint64_t problems;
    gotrace_error problem; /* the first one */
    uint64_t frequency;
} reporting;

reporting reporting_of(const blob *trace);
void reporting_free(reporting *t);

#endif
