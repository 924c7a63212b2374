/*
 * reading.h - read a trace to its end, and collect the results.
 */
#ifndef READING_H
#define READING_H

#include "support.h"

enum { READING_PROBLEMS = 64 };

typedef struct reading {
    gotrace_status opened;                    /* status of gotrace_reader_open */
    gotrace_status status;                    /* at the end */
    gotrace_error error;                      /* why opening or reading failed */
    gotrace_error problems[READING_PROBLEMS]; /* first problems */
    size_t problem_count;                     /* includes warnings and notes */
    uint64_t events, digest; /* number of events returned, and a digest of all their fields */
    gotrace_summary summary;
    uint64_t by_class[GOTRACE_CLASS_USAGE + 1]; /* problems */
} reading;

enum reading_way { READING_CHECK, READING_NEXT };

/* Read bytes with that config (NULL: defaults), by gotrace_reader_check or event by event. */
reading reading_of(const void *bytes, size_t size, const gotrace_config *config,
                   enum reading_way way);

/* Read a source, which stays open. */
reading reading_of_source(gotrace_source *source, const gotrace_config *config,
                          enum reading_way way);

/* Whether a problem with that rule was collected. */
bool reading_has(const reading *r, gotrace_rule rule);

/* Check that every byte of the file is accounted for. */
void reading_check_sum(const reading *r);

/* Decode the bytes; returns the number of whole records, and sets the final status. */
uint64_t reading_records(const uint8_t *bytes, size_t size, gotrace_status *status);

/* Check that both ways of reading a possibly damaged trace give the same findings, and that there
 * are findings if the decoder has one. */
void reading_check_damaged(const blob *content);

#endif
