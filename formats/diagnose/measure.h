/* measure.h - measure what a program does, in one pass over its trace. */
#ifndef DIAGNOSE_MEASURE_H
#define DIAGNOSE_MEASURE_H

#include "formats/diagnose/measures.h"

/* Returns NULL if memory is refused. */
measures *measures_new(void);
void measures_free(measures *m);

/* Reads the trace to its end: GOTRACE_END or GOTRACE_ERROR. threads: more than 1 reads in a thread.
 * select: its range, and its function: the time of goroutines that start at a matching one counts
 * as that of tasks. task: only tasks of that type count; NULL: all of them. */
gotrace_status measures_read(measures *m, gotrace_reader *reader, size_t threads,
                             select_job *select, const char *task);

#endif
