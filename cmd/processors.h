/* processors.h - the number of processors that the program may use. */
#ifndef PROCESSORS_H
#define PROCESSORS_H

#include <stddef.h>

/* Returns the number of processors that the scheduler allows (sched_getaffinity), or that the CPU
 * quota of the control groups amounts to if that is fewer; at least 1. */
size_t processors_allowed(void);

#endif
