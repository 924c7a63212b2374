/*
 * foreign.h - files of other kinds that people take for traces.
 */
#ifndef GT_FOREIGN_H
#define GT_FOREIGN_H

#include <stddef.h>
#include <stdint.h>

/* So many bytes of a file's beginning are enough to know each of them. */
enum { GT_FOREIGN_LOOK = 1024 };

/* What a file that is not a trace is, by its first bytes, and what to do with it: the rest of a
 * sentence that begins with "it is". NULL where it is unknown. */
const char *gt_foreign(const uint8_t *p, size_t n);

#endif
