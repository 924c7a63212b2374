/*
 * source.h - the inside of gotrace_source, for the reader's windows.
 */
#ifndef GT_SOURCE_H
#define GT_SOURCE_H

#include "core/errors.h"

/* A temporary file without a name. Returns its descriptor, or -1 with *error set. */
int gt_spool_open(const gotrace_config *config, gotrace_error *error);

/* Write all of it; false with *error set when the system refuses. */
bool gt_write_all(int fd, const void *bytes, size_t size, gotrace_error *error);

#endif
