/* scripting.h - what the tests of event scripts share. */
#ifndef SCRIPTING_H
#define SCRIPTING_H

#include "formats/formats.h"
#include "support.h"

/* The trace that a script describes. */
gotrace_status synth(const void *script, size_t size, blob *trace, const gotrace_config *config,
                     script_error *error);

/* That synth tells of each allocation that is refused, and frees all others; of which there are at
 * most so many. */
void synth_refused(const void *script, size_t size, uint64_t most);

#endif
