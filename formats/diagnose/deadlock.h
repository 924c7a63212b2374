/* deadlock.h - goroutines that wait for each other at the end of the trace. */
#ifndef DIAGNOSE_DEADLOCK_H
#define DIAGNOSE_DEADLOCK_H

#include "formats/diagnose/diagnosis.h"

/* Fills in the finding, except for its share. False: memory is refused. */
bool deadlock_find(finding *f, const measures *m);

#endif
