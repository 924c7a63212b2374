/*
 * reading.h - a trace read to its end, and what came of it.
 */
#ifndef READING_H
#define READING_H

#include "support.h"

enum { READING_PROBLEMS = 64 };

typedef struct reading {
    gotrace_status opened; /* of the reader */
    gotrace_status status; /* at the end */
    gotrace_error error;   /* why it was not opened, or did not come to its end */
    gotrace_error problems[READING_PROBLEMS]; /* the first ones */
    size_t problem_count;                     /* warnings and notes included */
    uint64_t events, digest;                  /* events delivered, and all that they hold */
    gotrace_summary summary;
    uint64_t by_class[GOTRACE_CLASS_USAGE + 1]; /* problems */
} reading;

enum reading_way { READING_CHECK, READING_NEXT };

/* Read bytes with that config (NULL: defaults), by gotrace_reader_check or event by event. */
reading reading_of(const void *bytes, size_t size, const gotrace_config *config,
                   enum reading_way way);

/* The same for a source, which stays open. */
reading reading_of_source(gotrace_source *source, const gotrace_config *config,
                          enum reading_way way);

/* Whether a rule is among the problems kept. */
bool reading_has(const reading *r, gotrace_rule rule);

/* That every byte of the file is accounted for. */
void reading_check_sum(const reading *r);

/* What a decoder says of the same bytes: how many records are whole, and with what it ends. */
uint64_t reading_records(const uint8_t *bytes, size_t size, gotrace_status *status);

/* That what may be damaged is read to its end in both ways with the same findings, and that there
 * are some where a decoder finds one. */
void reading_check_damaged(const blob *content);

#endif
