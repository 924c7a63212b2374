/* narrow.h - the options that restrict a timeline to a part of the trace. */
#ifndef CMD_NARROW_H
#define CMD_NARROW_H

#include "cmd/verb.h"
#include "formats/formats.h"

typedef struct narrowing {
    const char *only, *from, *until; /* NULL: not given */
    bool no_system;
} narrowing;

/* The rows of these options; member is a narrowing in the struct of options of the verb. */
/* clang-format off */
#define NARROW_OPTIONS(options, member)                                                            \
    {0, "only", OPTION_TEXT, "LIST", offsetof(options, member.only), convert_part_name,            \
     "timelines: write only these parts (comma-separated)"},                                       \
    {0, "from", OPTION_TIME, "TIME", offsetof(options, member.from), NULL,                         \
     "timelines, profiles: start at TIME, 1.5s for example"},                                                \
    {0, "until", OPTION_TIME, "TIME", offsetof(options, member.until), NULL,                       \
     "timelines, profiles: end at TIME"},                                                                    \
    {0, "no-system", OPTION_FLAG, NULL, offsetof(options, member.no_system), NULL,                 \
     "timelines, profiles: omit runtime goroutines"}
/* clang-format on */

/* Set the parts and times in the job. Returns false after a diagnostic, also if the target (NULL:
 * an event script) does not support the options. */
bool narrow_job(const narrowing *set, const format *target, convert_job *job);

/* Warn if --from is after the end of the trace. */
void narrow_check(const narrowing *set, const convert_job *job, const char *file,
                  const gotrace_summary *trace);

/* Note that a timeline of that many bytes is too large for its viewer, and what to do. */
void narrow_check_size(const format *target, int version, uint64_t bytes);

#endif
