/*
 * selected.h - the goroutines that a selection selects, for formats that show goroutines as a
 * whole.
 *
 * A goroutine is selected if it satisfies the criteria at some moment of the time range: by where
 * it starts, the regions it is in, the task in whose region it was created, or its own events.
 */
#ifndef ANALYSE_SELECTED_H
#define ANALYSE_SELECTED_H

#include "formats/analyse/selection.h"

/* Reads the trace to its end or to that of the range. ids: free its ranges; span: NULL, or where
 * the times from the first to the last event on a listed proc and thread and in a listed generation
 * are written, if there is one. Returns false if memory was refused; job: also whether it failed,
 * and count is the number of goroutines. The caller reads the trace too, and reports its problems.
 */
bool selected_goroutines(gotrace_reader *reader, select_job *job, select_ids *ids,
                         select_range *span);

#endif
