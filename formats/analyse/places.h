/*
 * places.h - where moments are: the events that print shows for them.
 *
 * An event is in a moment if its time is, and if it is one of the moment's goroutine: it happens on
 * it, or changes its state. A moment of the whole program (a stop-the-world, a GC cycle, a level),
 * or one without a goroutine, has all events of its time. Memory depends on the number of separate
 * stretches of time.
 */
#ifndef ANALYSE_PLACES_H
#define ANALYSE_PLACES_H

#include "formats/analyse/moments.h"
#include "formats/analyse/timeset.h"

typedef struct places {
    timeset whole;    /* of all events */
    idmap goroutines; /* timeset */
    bool any;         /* a moment was found */
    bool failed;      /* memory was refused */
} places;

void places_init(places *p);
void places_free(places *p);

/* Finds the moments of a trace, whose problems the caller reports with another reader. False: see
 * find_job, of which found and ctx are set here. */
bool places_find(places *p, find_job *job, gotrace_reader *reader);

/* Whether an event is in one of the moments. */
bool places_has(const places *p, const gotrace_event *e);

#endif
