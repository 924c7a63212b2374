/* narrow.h - the options that restrict a timeline to a part of the trace. */
#ifndef CMD_NARROW_H
#define CMD_NARROW_H

#include "cmd/verb.h"

/* Set the parts and times in the job. Returns false after a diagnostic, also if the target (NULL:
 * an event script) does not support the options. */
bool narrow_job(const session *s, const format *target, convert_job *job);

/* Warn if --from is after the end of the trace. */
void narrow_check(const settings *set, const convert_job *job, const char *file,
                  const gotrace_summary *trace);

/* Note that a timeline of that many bytes is too large for its viewer, and what to do. */
void narrow_check_size(const format *target, int version, uint64_t bytes);

#endif
