/*
 * crash_files.c - see crash_files.h.
 */
#include "crash_files.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "reading.h"

const int crash_versions[CRASH_VERSIONS] = {26, 19, 22, 21, 25, 5, 23, 11, 24, 7};

char crash_folder[] = "/tmp/gotrace-crash-XXXXXX";
char crash_path[64];

void crash_folder_make(void)
{
    strcpy(crash_folder + strlen(crash_folder) - 6, "XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(crash_folder));
    snprintf(crash_path, sizeof crash_path, "%s/file", crash_folder);
}

void crash_folder_remove(void)
{
    unlink(crash_path);
    rmdir(crash_folder);
}

gotrace_recorder_options crash_options(bool flight)
{
    return (gotrace_recorder_options){
        .size = sizeof(gotrace_recorder_options),
        .generation_ns = CRASH_GENERATION_NS,
        .flight_ns = flight ? CRASH_FLIGHT_NS : 0,
        .crash_file = crash_path,
    };
}

gotrace_source *crash_open(void)
{
    gotrace_source *file;
    ck_assert_int_eq(gotrace_source_open(crash_path, NULL, &file, NULL), GOTRACE_OK);
    ck_assert(gotrace_is_crash_file(file));
    return file;
}

gotrace_status crash_recover(gotrace_source *file, gotrace_resolve_fn resolve, blob *trace,
                             gotrace_error *error)
{
    gotrace_status status = gotrace_recover(file, resolve, NULL, blob_write, trace, NULL, error);
    gotrace_source_close(file);
    return status;
}

blob crash_recovered(int version)
{
    blob trace = {0};
    gotrace_error error = GOTRACE_INIT(gotrace_error);
    ck_assert_msg(crash_recover(crash_open(), crash_no_names, &trace, &error) == GOTRACE_OK,
                  "1.%d: %s", version, error.message);
    return trace;
}

void crash_check(const blob *trace, int version)
{
    reading got = reading_of(trace->bytes, trace->size, NULL, READING_CHECK);
    ck_assert_msg(
        got.opened == GOTRACE_OK && got.status == GOTRACE_END && got.summary.problems == 0,
        "1.%d: %s", version, got.problem_count ? got.problems[0].message : got.error.message);
    ck_assert_int_eq(got.summary.version, gotrace_release_version(version));
}

size_t crash_no_names(void *ctx, uint64_t pc, gotrace_frame *frames, size_t max)
{
    (void)ctx, (void)max;
    frames[0] = (gotrace_frame){.pc = pc};
    return 1;
}
