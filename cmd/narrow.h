/* narrow.h - the options that say how much of a trace a timeline shows. */
#ifndef CMD_NARROW_H
#define CMD_NARROW_H

#include "cmd/verb.h"

/* Set in the job what the options ask for, if target (NULL: an event script) can do it; false after
 * a diagnostic. */
bool narrow_job(const session *s, const format *target, convert_job *job);

/* Warn where nothing of the trace is shown because it ends before --from. */
void narrow_check(const settings *set, const convert_job *job, const char *file,
                  const gotrace_summary *trace);

/* Say of a timeline of so many bytes that a viewer does not load it, and what to do. */
void narrow_check_size(const format *target, int version, uint64_t bytes);

#endif
