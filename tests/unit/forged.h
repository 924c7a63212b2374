/*
 * forged.h - a reader of a forged trace.
 */
#ifndef FORGED_H
#define FORGED_H

#include "forge.h"

typedef struct open_trace {
    gotrace_source *source;
    gotrace_reader *reader;
    uint64_t problems;
    gotrace_error problem; /* the first */
} open_trace;

void open_forged(open_trace *t, const forge *f);

/* Closes the reader and frees the trace. */
void close_forged(open_trace *t, forge *f);

/* The next event, which must exist. */
gotrace_event next(open_trace *t);

/* Expect the next event to have that type, proc, tick and goroutine. */
/* The ticks of the last event. */
uint64_t ticks_now(const open_trace *t);

/* gotrace_event_value. */
uint64_t value_of(gotrace_event e);

gotrace_event expect(open_trace *t, unsigned type, int64_t proc, uint64_t ticks, uint64_t g);

/* Expect the end of a sound trace. */
void end(open_trace *t);

#endif
