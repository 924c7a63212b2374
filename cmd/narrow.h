/* narrow.h - the options that leave out parts of a timeline. */
#ifndef CMD_NARROW_H
#define CMD_NARROW_H

#include "cmd/verb.h"
#include "formats/formats.h"

typedef struct narrowing {
    const char *only; /* NULL: not given */
    bool no_system;
} narrowing;

/* The rows of these options; member is a narrowing in the struct of options of the verb. */
/* clang-format off */
#define NARROW_OPTIONS(options, member)                                                            \
    {0, "only", OPTION_TEXT, "LIST", offsetof(options, member.only), convert_part_name,            \
     "timelines: write only these parts (comma-separated)"},                                       \
    {0, "no-system", OPTION_FLAG, NULL, offsetof(options, member.no_system), NULL,                 \
     "timelines, profiles: omit runtime goroutines"}
/* clang-format on */

/* Set the parts in the job. Returns false after a diagnostic, also if the target (NULL: an event
 * script) does not support the options. */
bool narrow_job(const narrowing *set, const format *target, convert_job *job);

/* Note, before a timeline is written, if it may be too large for its viewer, and what to do. bytes:
 * of the traces. Returns whether it was noted. */
bool narrow_expect_size(const format *target, int version, uint64_t bytes);

/* The same of a timeline that has that many bytes; expected: it was noted before. */
void narrow_check_size(const format *target, int version, uint64_t bytes, bool expected);

#endif
