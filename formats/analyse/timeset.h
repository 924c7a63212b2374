/*
 * timeset.h - stretches of time and instants, and whether one overlaps with any of them.
 *
 * Stretches that touch are stored as one. Two stretches overlap if they have more than a point in
 * common; an instant overlaps also with a stretch that begins or ends there.
 */
#ifndef ANALYSE_TIMESET_H
#define ANALYSE_TIMESET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct timespan {
    int64_t begin, end;
} timespan;

typedef struct timespans {
    timespan *items;
    size_t count, room;
} timespans;

typedef struct timeset {
    timespans spans, instants;
    bool failed; /* memory was refused */
} timeset;

/* Any order is possible; ascending ends need the least memory. */
void timeset_add(timeset *s, int64_t begin, int64_t end);

/* All were added: from now on timeset_overlaps can be called. */
void timeset_seal(timeset *s);
bool timeset_overlaps(const timeset *s, int64_t begin, int64_t end);
void timeset_free(timeset *s);

#endif
