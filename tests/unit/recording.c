#include "recording.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

gotrace_recorder *recorder_of(const gotrace_recorder_options *options)
{
    gotrace_recorder *r;
    gotrace_error error = GOTRACE_INIT(gotrace_error);
    ck_assert_msg(gotrace_recorder_new(options, NULL, &r, &error) == GOTRACE_OK, "%s",
                  error.message);
    return r;
}

void keep_trace(const blob *trace, const char *prefix, int version, unsigned number)
{
    char path[PATH_MAX];
    const char *folder = getenv("RECORD_TRACES");
    if (!folder)
        return;
    snprintf(path, sizeof path, "%s/%sgo1.%d-%u.trace", folder, prefix, version, number);
    FILE *file = fopen(path, "wb");
    ck_assert(file && fwrite(trace->bytes, 1, trace->size, file) == trace->size);
    ck_assert_int_eq(fclose(file), 0);
}
