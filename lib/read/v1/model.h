/*
 * model.h - converts events to the common model.
 */
#ifndef GT_MODEL_H
#define GT_MODEL_H

#include "read/brief.h"
#include "read/v1/state.h"

/* Fills a gotrace_event; false if reading cannot continue. */
bool gt_model_fill(gotrace_reader *reader, const gt_event *event, const gt_effect *effect,
                   gotrace_event *out);

/* Call it when the file is indexed. */
void gt_model_begin(gotrace_reader *reader);

/* The same as gt_model_fill for a gotrace_brief; false if that cannot represent the event. */
bool gt_model_brief(const gotrace_reader *reader, const gt_event *event, const gt_effect *effect,
                    gotrace_brief *brief);

/* Whether the event is to be returned, if not all are. */
bool gt_model_wants(gotrace_reader *reader, const gt_event *event, const gt_effect *effect);

/* The same for an event without flags, if the type has GT_WANT_CHANGE. */
bool gt_model_wants_change(gotrace_reader *reader, const gt_event *event, const gt_effect *effect);

/* Sets what gt_model_wants has determined. */
void gt_model_set_since(const gotrace_reader *reader, gotrace_event *out);

/* Converts ticks to nanoseconds since the first event, as Go's reader does. */
int64_t gt_time_of(const gotrace_reader *reader, int64_t ticks);

#endif
