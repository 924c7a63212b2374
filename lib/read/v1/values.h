/*
 * values.h - whether a record has the values of its type.
 */
#ifndef GT_V1_VALUES_H
#define GT_V1_VALUES_H

#include "read/handle.h"

/* Sets *error to what is wrong with the record's values; false, without effect, if nothing is. */
bool gt_v1_wrong_values(const gotrace_reader *reader, const gt_frame *frame, gt_place place,
                        gotrace_error *error);

#endif
