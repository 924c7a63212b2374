/*
 * trace_limits.h - resource limits: the options of every verb that reads a trace or a script.
 *
 * The library enforces gotrace_limits and reports which one was reached. In addition, the system
 * limits the memory of the whole program, including exporters (memory.h).
 */
#ifndef TRACE_LIMITS_H
#define TRACE_LIMITS_H

#include "cmd/verb.h"

/* The rows of these options, ended by one without a name. */
extern const option_spec limit_options[];

/* Apply the limits to the process and to the output. */
void limits_apply(const session *s);

/* Set a configuration with the limits of the options and defaults for everything else. */
void limits_config(const session *s, gotrace_config *config);

/* If a limit was reached, report which option raises it. */
void limits_note(const gotrace_error *error);

#endif
