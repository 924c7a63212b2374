/*
 * crash_files.h - shared by the tests of crash files: the file of a test, and the trace that it
 * has.
 */
#ifndef CRASH_FILES_H
#define CRASH_FILES_H

#include "gotrace_record.h"
#include "support.h"

enum {
    CRASH_VERSIONS = 10,
    CRASH_GENERATION_NS = 3000000,
    CRASH_FLIGHT_NS = 5 * CRASH_GENERATION_NS,
};

extern const int crash_versions[CRASH_VERSIONS];

/* A folder for one test, and the path of a crash file in it, which does not exist yet. */
extern char crash_folder[];
extern char crash_path[64];

void crash_folder_make(void);
void crash_folder_remove(void);

/* Of a recorder with that file. */
gotrace_recorder_options crash_options(bool flight);

/* The file, which the test fails without. To be closed. */
gotrace_source *crash_open(void);
/* gotrace_recover, of a source that is closed. */
gotrace_status crash_recover(gotrace_source *file, gotrace_resolve_fn resolve, blob *trace,
                             gotrace_error *error);
/* The trace that the file has, without names. To be freed. */
blob crash_recovered(int version);
/* The trace has no problem but warnings: an entry of a table may be left whose event is not
 * complete. */
void crash_check(const blob *trace, int version);
/* A gotrace_resolve_fn that finds no names. */
size_t crash_no_names(void *ctx, uint64_t pc, gotrace_frame *frames, size_t max);

#endif
