/* memory.h - the system's limit on the memory of the whole program, and the report of its end. */
#ifndef MEMORY_H
#define MEMORY_H

#include <stdint.h>

/* Limit the memory of the program to that many bytes of data, in addition to its buffers and the
 * stacks of its threads. */
void memory_bound(uint64_t bytes, uint64_t threads);

/* Restore the limit that the program began with, for another program that is executed. */
void memory_unbound(void);

/* If the memory is bounded, report the option that raises the limit. */
void memory_note(void);

/* Report that the program ran out of memory. */
void memory_report_refused(void);

#endif
