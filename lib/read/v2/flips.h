/*
 * flips.h - finds the bits that may be flipped if a record or the header of a batch cannot be read.
 */
#ifndef GT_V2_FLIPS_H
#define GT_V2_FLIPS_H

#include "read/v2/v2.h"

/* at: the offset where no header can be read; before: the batch before it, or NULL; open: the
 * number of the generation that is not complete, or 0. */
void gt_v2_find_header_flips(gotrace_reader *reader, const gt_batch *before, uint64_t at,
                             uint64_t open, gt_candidates *candidates);

/* at: the offset of a record of the batch that cannot be read; [first, end): the records before it
 * that are decoded. False on failure. */
bool gt_v2_find_record_flips(gotrace_reader *reader, const gt_batch *batch,
                             const gt_v2_event *first, const gt_v2_event *end, uint64_t at,
                             gt_candidates *candidates);

/* at: the place in v2->buffer of a record of that batch of a table, which is there; end: of the
 * batch. Either the record cannot be read, or its id is 0 or that of another record. */
void gt_v2_find_table_flips(const gotrace_reader *reader, const gt_batch *batch, const uint8_t *at,
                            const uint8_t *end, gt_candidates *candidates);
void gt_v2_find_id_flips(const gotrace_reader *reader, const gt_batch *batch, const uint8_t *at,
                         const uint8_t *end, gt_candidates *candidates);

/* Whether the first records after the first byte of a batch are those of a table of batch->kind;
 * whether, except for a bit of its first byte, it is one of events. False on failure. */
bool gt_v2_is_table(gotrace_reader *reader, const gt_batch *batch, bool *fits);
bool gt_v2_begins_with_event(gotrace_reader *reader, const gt_batch *batch, bool *fits);

#endif
