/* measure.h - measure what a program does, in one pass over its trace. */
#ifndef DIAGNOSE_MEASURE_H
#define DIAGNOSE_MEASURE_H

#include "formats/diagnose/measures.h"

/* names: borrowed, of stacks by line; NULL: the measures have their own. Returns NULL if memory is
 * refused. */
measures *measures_new(stacks *names);
void measures_free(measures *m);

/* Reads the trace to its end: GOTRACE_END or GOTRACE_ERROR. threads: more than 1 reads in a thread.
 * select: its range, and its function: the time of goroutines that start at a matching one counts
 * as that of tasks. task: only tasks of that type count; NULL: all of them. */
gotrace_status measures_read(measures *m, gotrace_reader *reader, size_t threads,
                             select_job *select, const char *task);

/* The same in the pass of another analysis, which has begun the stacks, and passes on all events of
 * the trace; measures_event returns false to end the pass. measures_begin returns NULL if memory is
 * refused. */
typedef struct measuring measuring;
measuring *measures_begin(measures *m, gotrace_reader *reader, const select_job *select,
                          const char *task);
bool measures_event(measuring *p, const gotrace_event *e);
void measures_end(measuring *p, select_job *select);

#endif
