/*
 * model.h - what an event means, whatever version wrote it.
 */
#ifndef GT_MODEL_H
#define GT_MODEL_H

#include "read/v1/state.h"

/* Say what an event means; false when reading cannot go on. */
bool gt_model_fill(gotrace_reader *reader, const gt_event *event, const gt_effect *effect,
                   gotrace_event *out);

/* Ticks to nanoseconds since the first event, as Go's reader computes them. */
int64_t gt_time_of(const gotrace_reader *reader, int64_t ticks);

#endif
