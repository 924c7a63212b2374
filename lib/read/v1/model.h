/*
 * model.h - the events that are returned.
 */
#ifndef GT_MODEL_H
#define GT_MODEL_H

#include "read/v1/state.h"

/* Puts an event into the block, unless its kind is not to be returned. False if reading cannot
 * continue. */
bool gt_model_put(gotrace_reader *reader, const gt_event *event, const gt_effect *effect,
                  gt_block *block);

#endif
