/*
 * flips.h - finds the bits that may be flipped if a record cannot be read.
 */
#ifndef GT_V1_FLIPS_H
#define GT_V1_FLIPS_H

#include "read/reader.h"

/* from: the offset of a record at or before the unreadable one, which is at `at`. batch_ticks: the
 * time of the last batch. False on failure. */
bool gt_v1_find_flips(gotrace_reader *reader, uint64_t from, uint64_t at, int64_t batch_ticks,
                      gt_candidates *candidates);

/* Whether a record that is complete has the values of its type. */
bool gt_v1_has_values(const gotrace_reader *reader, const gt_frame *frame);
/* Sets *error to what is wrong with the record's values; false, without effect, if nothing is. */
bool gt_v1_wrong_values(const gotrace_reader *reader, const gt_frame *frame, gt_place place,
                        gotrace_error *error);

#endif
