/*
 * moments.h - finds the moments of a trace that satisfy an expression.
 *
 * A moment is tested when it ends, which is when its duration is known; those that are found are
 * passed on in that order. If the expression has during (EXPR), what it says about a moment may
 * depend on later ones: then moments that may satisfy it are stored in a temporary file until the
 * trace has ended. Memory depends on live goroutines, open tasks and regions, different names and
 * stacks and, with during, on the number of separate stretches of time that EXPR finds.
 *
 * Times are those of the events, as gotrace_event has them.
 */
#ifndef ANALYSE_MOMENTS_H
#define ANALYSE_MOMENTS_H

#include "formats/analyse/moment.h"

/* Reads the trace to its end, or until no more moments are wanted. Returns the last status of the
 * reader. */
gotrace_status moments_find(find_job *job, gotrace_reader *reader);

#endif
