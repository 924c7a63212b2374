/*
 * index.h - the index of a v1 file: what index.c, which fills it, needs of index_data.c.
 */
#ifndef GT_V1_INDEX_H
#define GT_V1_INDEX_H

#include "read/reader.h"

void gt_index_init(gotrace_reader *reader);

/* After a bit was corrected: forgets what was read. */
void gt_index_forget(gotrace_reader *reader, uint64_t text);

/* Call when the index is complete. False on failure. */
bool gt_index_finish(gotrace_reader *reader);

#endif
