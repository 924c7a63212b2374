/* versions.c - the versions of the format, as options name them. */
#include "cmd/versions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/diag.h"
#include "gotrace.h"
#include "cmd/options.h"

enum { PREFIX = sizeof "go" - 1 };

/* The first release of a version has its number. */
const char *version_name(size_t n)
{
    size_t count;
    const int *versions = gotrace_versions(&count);
    const gotrace_release *release;

    for (size_t i = 0; n < count && (release = gotrace_release_at(i)); i++)
        if (release->version == versions[n])
            return release->name;
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
    const gotrace_release *release;

    for (size_t i = 0; (release = gotrace_release_at(i)); i++)
        if (strcmp(release->name, name) == 0 || strcmp(release->name + PREFIX, name) == 0)
            return release->version;
    return 0;
}

unsigned long version_release_number(const char *text)
{
    static const char major[] = "1.";
    if (strncmp(text, "go", PREFIX) == 0)
        text += PREFIX;
    if (strncmp(text, major, strlen(major)) != 0)
        return 0;
    text += strlen(major);
    return *text >= '0' && *text <= '9' ? strtoul(text, NULL, 10) : 0;
}

/* Returns the version of release 1.N; 0 if there is no such release. */
static int version_of_number(unsigned long n)
{
    char name[32];
    snprintf(name, sizeof name, "1.%lu", n);
    return version_of_release(name);
}

void version_unknown(const char *option, const char *value, const char *prefix,
                     const char *(*at)(size_t n))
{
    size_t count, used;
    const int *versions = gotrace_versions(&count);
    int newest = versions[count - 1];
    unsigned long number = version_release_number(value);
    if (version_of_number(number)) {
        diag_error("--%s: unknown '%s'; did you mean '%s1.%lu'?", option, value, prefix, number);
        return;
    }
    if (number <= (unsigned long)newest) {
        options_unknown(option, value, at);
        return;
    }
    char writers[64];
    used = (size_t)snprintf(writers, sizeof writers, "1.%d", newest);
    for (int n = newest + 1; version_of_number((unsigned long)n) && used < sizeof writers; n++)
        used += (size_t)snprintf(writers + used, sizeof writers - used, " and 1.%d", n);
    diag_error("--%s: unknown '%s'; the newest version is 1.%d, which is written by Go %s", option,
               value, newest, writers);
}
