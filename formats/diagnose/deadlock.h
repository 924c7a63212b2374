/* deadlock.h - goroutines that wait for each other at the end of the trace. */
#ifndef DIAGNOSE_DEADLOCK_H
#define DIAGNOSE_DEADLOCK_H

#include "formats/diagnose/measures.h"

enum { MOST_IN_CYCLE = 8 };

/* The first cycle: each waits for the next one, the last one for the first. */
typedef struct deadlock {
    uint64_t count; /* of goroutines that are in a cycle or wait for one that is; 0: none */
    size_t length;
    waiter cycle[MOST_IN_CYCLE]; /* the first ones of it */
    waiter oldest;               /* that has waited longest, of all of it */
    int64_t ns;                  /* until the end of the trace, since the last one waits */
} deadlock;

/* False: memory is refused. */
bool deadlock_find(deadlock *found, const measures *m);

#endif
