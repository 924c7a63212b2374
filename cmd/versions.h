/* versions.h - versions of the trace format, as options name them. */
#ifndef VERSIONS_H
#define VERSIONS_H

#include <stddef.h>

/* Returns "go1.5", ... or "1.5", ...: the n-th version, NULL past the last; and the number of
 * versions. */
const char *version_name(size_t n);
const char *version_number(size_t n);
size_t version_count(void);

/* Returns the version of the traces that a release writes, by either name: 23 for "go1.24" and
 * "1.24"; 0 if there is no such release. */
int version_of_release(const char *name);

/* Returns N if the text begins like a release, "go1.N" or "1.N"; otherwise 0. */
unsigned long version_release_number(const char *text);

/* Report that the value of an option is none of the names that at returns. If it looks like a
 * release, the message names the release that was probably meant, with prefix before the number, or
 * the newest version. */
void version_unknown(const char *option, const char *value, const char *prefix,
                     const char *(*at)(size_t n));

#endif
