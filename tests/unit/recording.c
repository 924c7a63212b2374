#include "recording.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reading.h"

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

void record_start(gotrace_recorder *r, int version, gotrace_write_fn write, void *ctx)
{
    ck_assert_msg(gotrace_recorder_start(r, version, write, ctx) == GOTRACE_OK, "%s",
                  gotrace_recorder_error(r)->message);
}

void record_stop(gotrace_recorder *r)
{
    ck_assert_msg(gotrace_recorder_stop(r) == GOTRACE_OK, "%s", gotrace_recorder_error(r)->message);
}

void record_check(const blob *trace, int version)
{
    reading got = reading_of(trace->bytes, trace->size, NULL, READING_CHECK);
    ck_assert_msg(got.opened == GOTRACE_OK && got.status == GOTRACE_END && got.problem_count == 0,
                  "1.%d: %s", version,
                  got.problem_count ? got.problems[0].message : got.error.message);
    ck_assert_int_eq(got.summary.version, version);
}

size_t record_resolve(void *ctx, uint64_t pc, gotrace_frame *frames, size_t max)
{
    static const char *const names[] = {"main.run", "main.wait", "main.send"};
    (void)ctx;
    size_t inlined = pc % 5 == 0 && max > 1;
    for (size_t i = 0; i <= inlined; i++) {
        frames[i].function = names[(pc + i) % 3];
        frames[i].function_size = strlen(frames[i].function);
        frames[i].file = "main.c";
        frames[i].file_size = 6;
        frames[i].line = 1 + pc % 100;
    }
    return 1 + inlined;
}
