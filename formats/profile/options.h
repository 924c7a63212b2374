/* options.h - the options that the formats of profiles have and others do not. */
#ifndef PROFILE_OPTIONS_H
#define PROFILE_OPTIONS_H

#include "formats/analyse/profile.h"

typedef struct profile_convert_options {
    const char *kind; /* a profile_name; NULL: wall */
    bool open;        /* include what ends with the trace */
    /* NULL, or makes the profile, in place of profile_make. False if it failed, and the caller will
     * report it; the profile is freed in any case. */
    bool (*make)(void *ctx, profile *made, stacks_detail detail);
    void *ctx;
} profile_convert_options;

#endif
