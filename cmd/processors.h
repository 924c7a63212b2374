/* processors.h - the number of processors that the program may use. */
#ifndef PROCESSORS_H
#define PROCESSORS_H

#include <stddef.h>

/* Returns the number of processors that the scheduler allows (sched_getaffinity), or that the CPU
 * quota of the control groups amounts to if that is fewer; at least 1. */
size_t processors_allowed(void);

/* The least CPU quota of the control groups of the process (version 1 or 2) and of those that
 * contain them, in processors; 0 if there is none. root: "", or the folder that has proc and sys.
 */
double processors_quota(const char *root);

/* Of count processors those that a quota amounts to, rounded up; at least 1. */
size_t processors_within(size_t count, double quota);

#endif
