/*
 * story.h - stories told to a writer, for tests: what happens, an event a line.
 */
#ifndef STORY_H
#define STORY_H

#include "core/events.h"
#include "support.h"

#define NOWHERE GOTRACE_NO_PROC
#define NONE    UINT64_MAX

/* An event of a story. Strings and stacks among the arguments are numbers, 0 for none. */
typedef struct scene {
    const char *name;
    int64_t p, m;
    uint64_t g;
    uint64_t args[5];
} scene;

/* A writer, or the test fails. */
gotrace_writer *writer_of(int version, const gotrace_writer_options *options, blob *written,
                          const gotrace_config *config);

/* The id of a string of that number. */
uint64_t story_string(gotrace_writer *w, int64_t proc, uint64_t number);

/* Tell a scene, if the version has such events. */
gotrace_status report(gotrace_writer *w, int version, const scene *s);

/* A whole story, which ends with an empty scene: ten ticks an event. */
gotrace_status report_all(gotrace_writer *w, int version, const scene *story);

/* A story in which every event of the version happens. */
const scene *story_of(int version);

/* That readers find nothing wrong. */
void check_sound(const blob *written);

/* How many records of each type there are. */
void count_records(const blob *written, uint64_t counts[GT_CODES]);

#endif
