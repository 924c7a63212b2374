/* narrow.h - the options that say how much of a trace a timeline shows. */
#ifndef CMD_NARROW_H
#define CMD_NARROW_H

#include "verb.h"

/* Set in the job what the options ask for, if target (NULL: an event script) can do it; false after
 * a diagnostic. */
bool narrow_job(const session *s, const format *target, convert_job *job);

#endif
