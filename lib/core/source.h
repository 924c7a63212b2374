/*
 * source.h - internal interface of gotrace_source.
 */
#ifndef GT_SOURCE_H
#define GT_SOURCE_H

#include "core/errors.h"

/* Creates a temporary file without a name. Returns its descriptor, or -1 with *error set. */
int gt_spool_open(const gotrace_config *config, gotrace_error *error);

/* Writes all bytes; false with *error set on failure. */
bool gt_write_all(int fd, const void *bytes, size_t size, gotrace_error *error);

/* gotrace_source_read with an error of the library. */
gotrace_status gt_source_read(gotrace_source *source, uint64_t offset, void *buffer, size_t size,
                              size_t *got, gotrace_error *error);

#endif
