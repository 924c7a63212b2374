/*
 * writing.h - pass lists of events to a writer.
 */
#ifndef WRITING_H
#define WRITING_H

#include "core/events.h"
#include "support.h"

#define NOWHERE GOTRACE_NO_PROC
#define NONE    UINT64_MAX

/* An event. Strings and stacks among the arguments are numbers, 0 for none. */
typedef struct test_event {
    const char *name;
    int64_t p, m;
    uint64_t g;
    uint64_t args[5];
} test_event;

/* Create a writer; the test fails if that is impossible. */
gotrace_writer *writer_of(int version, const gotrace_writer_options *options, blob *written,
                          const gotrace_config *config);

/* The id of a string with that number. */
uint64_t numbered_string(gotrace_writer *w, int64_t proc, uint64_t number);

/* Write an event, if the version has it. */
gotrace_status write_event(gotrace_writer *w, int version, const test_event *s);

/* Write a list of events, ended by one without a name, ten ticks apart. */
gotrace_status write_events(gotrace_writer *w, int version, const test_event *events);

/* A list that contains every event of the version. */
const test_event *all_events(int version);

/* Check that a reader finds no problem. */
void check_sound(const blob *written);

/* Count the records of each type. */
void count_records(const blob *written, uint64_t counts[GT_CODES]);

#endif
