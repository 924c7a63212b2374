/*
 * index.h - the index of a v1 file, which index.c fills.
 */
#ifndef GT_V1_INDEX_H
#define GT_V1_INDEX_H

#include "read/handle.h"

/* First pass. False if reading cannot continue; a damaged file is indexed up to the damage. */
bool gt_index_build(gotrace_reader *reader);
void gt_index_free(gt_index *index);

/* The time of the first event of a batch with header values v. INT64_MAX: the record at p, after
 * the header, is not an event. */
int64_t gt_find_first(const gotrace_reader *reader, const uint64_t *v, const uint8_t *p,
                      const uint8_t *end);

void gt_index_init(gotrace_reader *reader);

/* Before the pass is repeated up to text at that offset: forgets what was read. */
void gt_index_forget(gotrace_reader *reader, uint64_t text);

/* Call when the index is complete. False on failure. */
bool gt_index_finish(gotrace_reader *reader);

#endif
