/* statistics.h - where the time of one or more traces goes, from one pass over each. */
#ifndef ANALYSE_STATISTICS_H
#define ANALYSE_STATISTICS_H

#include "formats/analyse/figures.h"

/* Reads a trace to its end: GOTRACE_END or GOTRACE_ERROR. threads: more than 1 reads in a thread.
 *
 * select: what is counted; NULL: everything. Intervals count with their part in the time range;
 * tasks, regions, stops, cycles and latencies if they begin in it, and have ended if they end in
 * it; stops and cycles of which only a part is in it are partial. What procs do, the collector and
 * stops are those of the whole program in the time range. */
gotrace_status statistics_add(statistics *s, gotrace_reader *reader, const char *name,
                              size_t threads, select_job *select);

#endif
