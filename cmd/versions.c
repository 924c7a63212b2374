/* versions.c - the versions of the format, as options name them. */
#include "versions.h"

#include <string.h>

#include "gotrace.h"

/* Every release of Go that writes traces, and whose version they are of. */
static const struct release {
    const char *name;
    int version;
} releases[] = {
    {"go1.5", 5},   {"go1.6", 5},   {"go1.7", 7},   {"go1.8", 8},   {"go1.9", 9},   {"go1.10", 10},
    {"go1.11", 11}, {"go1.12", 11}, {"go1.13", 11}, {"go1.14", 11}, {"go1.15", 11}, {"go1.16", 11},
    {"go1.17", 11}, {"go1.18", 11}, {"go1.19", 19}, {"go1.20", 19}, {"go1.21", 21}, {"go1.22", 22},
    {"go1.23", 23}, {"go1.24", 23}, {"go1.25", 25}, {"go1.26", 26}, {"go1.27", 26},
};

enum { RELEASES = sizeof releases / sizeof releases[0], PREFIX = sizeof "go" - 1 };

/* The first release of a version has its number. */
const char *version_name(size_t n)
{
    size_t count;
    const int *versions = gotrace_versions(&count);

    for (size_t i = 0; n < count && i < RELEASES; i++)
        if (releases[i].version == versions[n])
            return releases[i].name;
    return NULL;
}

const char *version_number(size_t n)
{
    const char *name = version_name(n);
    return name ? name + PREFIX : NULL;
}

size_t version_count(void)
{
    size_t count;
    gotrace_versions(&count);
    return count;
}

int version_of_release(const char *name)
{
    for (size_t i = 0; i < RELEASES; i++)
        if (strcmp(releases[i].name, name) == 0 || strcmp(releases[i].name + PREFIX, name) == 0)
            return releases[i].version;
    return 0;
}
