/* scripting.h - shared by the tests of event scripts. */
#ifndef SCRIPTING_H
#define SCRIPTING_H

#include "formats/script/scripts.h"
#include "support.h"

/* Build the trace of a script. */
gotrace_status synth(const void *script, size_t size, blob *trace, const gotrace_config *config,
                     script_error *error);

/* Check that synth reports each failing allocation and frees all memory. most: limit of the number
 * of allocations. */
void synth_refused(const void *script, size_t size, uint64_t most);

#endif
