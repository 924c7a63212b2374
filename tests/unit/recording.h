/*
 * recording.h - shared by the tests of the recorder.
 */
#ifndef RECORDING_H
#define RECORDING_H

#include "gotrace_record.h"
#include "support.h"

/* Create a recorder; the test fails if that is impossible. */
gotrace_recorder *recorder_of(const gotrace_recorder_options *options);

/* Write the trace to PREFIXgo1.VERSION-NUMBER.trace in the folder that RECORD_TRACES names, for
 * tests/conformance; nothing if the variable is not set. */
void keep_trace(const blob *trace, const char *prefix, int version, unsigned number);

/* Start, stop; the test fails if that is impossible. */
void record_start(gotrace_recorder *r, int version, gotrace_write_fn write, void *ctx);
void record_stop(gotrace_recorder *r);

/* The trace is sound, and of that version. */
void record_check(const blob *trace, int version);

/* A gotrace_resolve_fn: some PCs have two functions. */
size_t record_resolve(void *ctx, uint64_t pc, gotrace_frame *frames, size_t max);

#endif
