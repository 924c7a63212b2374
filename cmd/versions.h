/* versions.h - the versions of the format, as options name them. */
#ifndef VERSIONS_H
#define VERSIONS_H

#include <stddef.h>

/* "go1.5", ..., and "1.5", ...: the n-th version, NULL past the last; and how many there are. */
const char *version_name(size_t n);
const char *version_number(size_t n);
size_t version_count(void);

/* The version whose traces a release of Go writes, by either name: 23 of "go1.24" and of "1.24"; 0
 * if there is no such release, as far as is known. */
int version_of_release(const char *name);

/* N where the text begins like a release, "go1.N" or "1.N"; else 0. */
unsigned long version_release_number(const char *text);

/* Report that the value of an option is none of the names that at gives; where it looks like a
 * release of Go, with the name of the release that was meant, prefix before the number, or with the
 * newest version. */
void version_unknown(const char *option, const char *value, const char *prefix,
                     const char *(*at)(size_t n));

#endif
