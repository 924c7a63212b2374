/*
 * batches.h - divide the batches of a v1 trace into small ones.
 */
#ifndef BATCHES_H
#define BATCHES_H

#include "support.h"

/* The same events in batches of that number of events, in order of time, as if the tracer's buffers
 * were small. From 1.7 on. */
blob batches_divide(const blob *trace, size_t events);

#endif
