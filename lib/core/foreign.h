/*
 * foreign.h - recognises files of other kinds that users mistake for traces.
 */
#ifndef GT_FOREIGN_H
#define GT_FOREIGN_H

#include <stddef.h>
#include <stdint.h>

/* Number of bytes at the start of a file that suffice to recognise each kind. */
enum { GT_FOREIGN_LOOK = 1024 };

/* Describes a file that is not a trace, by its first bytes, and what to do with it, as the rest of
 * a sentence that begins with "it is". NULL if unknown. */
const char *gt_foreign(const uint8_t *p, size_t n);

#endif
