/* options.h - the options that the formats of profiles have and others do not. */
#ifndef PROFILE_OPTIONS_H
#define PROFILE_OPTIONS_H

#include <stdbool.h>

typedef struct profile_convert_options {
    const char *kind; /* a profile_name; NULL: wall */
    bool open;        /* include what ends with the trace */
} profile_convert_options;

#endif
