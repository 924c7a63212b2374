/*
 * anonymize.h - write a trace with other names and PCs, and otherwise the same.
 *
 * Two passes: names of Go and its library stay where they are used as such, which only the events
 * and the stacks show, and these come after the strings, or before (roles.h). The second pass
 * writes every record again, so that nothing that is not understood gets into the output.
 */
#ifndef ANONYMIZE_H
#define ANONYMIZE_H

#include "cmd/anonymize/names.h"
#include "formats/common/out.h"
#include "gotrace.h"

typedef struct anonymize_job {
    gotrace_source *source;
    int version;
    const gotrace_config *config;
    names *names;
    bool drop_logs;
    out *to;
    out *map; /* receives the pseudonyms and their names as a JSON object; NULL: not wanted */
} anonymize_job;

/* Damage is passed to the config's on_problem; what can be read is written. Returns GOTRACE_ERROR
 * on a system error or an exceeded limit. Stops early if the output fails. */
gotrace_status anonymize_write(const anonymize_job *job, gotrace_error *error);

#endif
