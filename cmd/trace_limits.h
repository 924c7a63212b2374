/*
 * trace_limits.h - how much a trace may take: the options that every verb has which reads one.
 *
 * What the library holds is bounded by gotrace_limits, which tell of what there was too much.
 * Behind that the system bounds the memory of the whole program, exporters and all.
 */
#ifndef TRACE_LIMITS_H
#define TRACE_LIMITS_H

#include "cmd/verb.h"

/* The rows of these options; NULL name at the end. */
extern const option_spec limit_options[];

/* Have the system and the output hold what the options say. */
void limits_apply(const session *s);

/* A configuration with the limits that the options say, and all else as usual. */
void limits_config(const session *s, gotrace_config *config);

/* If it is a limit that was met, say which option raises it. */
void limits_note(const gotrace_error *error);

/* Say that the program ran out of memory. */
void limits_no_memory(void);

#endif
