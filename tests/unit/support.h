/*
 * support.h - shared by the unit tests: trace files, growing buffers, and an allocator that can
 * fail.
 */
#ifndef SUPPORT_H
#define SUPPORT_H

#include <check.h>
#include <stdio.h>

#include "gotrace.h"

/* Distance between the places at which a sweep damages its input, and between the files that
 * traces_load takes: 5, with ALL in the environment 1, with sanitizers 15: they are slow, and for
 * them fuzzing covers the same. */
#define SWEEP_STEP sweep_step()
unsigned sweep_step(void);

/* Whether this is a build with AddressSanitizer. */
bool is_sanitized(void);

/* Extreme values. */
enum { ABSURD_NUMBERS = 7 };
extern const uint64_t absurd_numbers[ABSURD_NUMBERS];

/* A growing buffer. Zeroed memory is an empty one. */
typedef struct blob {
    uint8_t *bytes;
    size_t size, capacity;
} blob;

/* A gotrace_write_fn whose ctx is a blob. */
bool blob_write(void *ctx, const void *bytes, size_t size);
void blob_free(blob *b);
void blob_read(blob *b, const char *path);

/* A trace file of the corpora. */
typedef struct trace_file {
    char path[512];
    blob content;
    bool gccgo; /* written by gccgo's tracer */
} trace_file;

/* Load a trace of testdata/traces; the caller frees it. */
blob trace_sample(const char *name);

/* Load the traces of up to max_size bytes of testdata/traces, of the folder GOTRACE_TRACES, and of
 * Go's sources in GOTRACE_PEERS (~/.cache/gotrace-peers). The list ends with an entry without a
 * path; free it with traces_free. */
trace_file *traces_load(size_t max_size);
void traces_free(trace_file *files);

/* Waits until each other thread of the process sleeps: until it waits for something, or is about to
 * end. */
void wait_for_other_threads(void);

/* The version in the header; 0 if it is unknown. */
int trace_version(const blob *content);

/* Build a trace of that v2 version with each of its records twice: as the tracer writes it, and
 * with large values and padded numbers. */
void trace_of_all(int version, blob *trace);
/* Ends with 0. */
extern const int v2_versions[];

/* Counts allocations. Number fail_at (from 0) fails, and with for_good all later ones. */
typedef struct failing_allocator {
    uint64_t calls, fail_at;
    bool for_good;
    int64_t bytes, peak; /* allocated now; largest value so far */
} failing_allocator;

/* A config with that allocator. */
gotrace_config failing_config(failing_allocator *a);

/* xorshift: the same numbers in every run. */
uint64_t random_next(uint64_t *state);

/* A gotrace_misuse_fn: the test fails. */
void fail_on_misuse(void *ctx, const char *function, const char *message);

/* Run a suite; returns main's status. */
int run_suite(Suite *suite);

#endif
