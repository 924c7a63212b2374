/*
 * support.h - what the unit tests of records and scripts share: trace files, memory to write to, an
 * allocator that fails when told.
 */
#ifndef SUPPORT_H
#define SUPPORT_H

#include <check.h>
#include <stdio.h>

#include "gotrace.h"

/* How far apart the places are at which a sweep does its damage: sanitizers are slow, and fuzzing
 * damages what they look at, too. */
#ifndef __has_feature
#define __has_feature(name) 0
#endif
#if defined __SANITIZE_ADDRESS__ || __has_feature(address_sanitizer)
enum { SWEEP_STEP = 3 };
#else
enum { SWEEP_STEP = 1 };
#endif

/* Numbers that hardly a value of a trace may have. */
enum { ABSURD_NUMBERS = 7 };
extern const uint64_t absurd_numbers[ABSURD_NUMBERS];

/* Bytes that grow. Zeroed memory is an empty one. */
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

/* A trace of testdata/traces, to be freed. */
blob trace_sample(const char *name);

/* The traces up to max_size bytes of testdata/traces, of the folder that GOTRACE_TRACES names, and
 * of Go's own sources where GOTRACE_PEERS (or ~/.cache/gotrace-peers) has them; ends with an entry
 * without path. Freed with traces_free. */
trace_file *traces_load(size_t max_size);
void traces_free(trace_file *files);

/* The version that the header says, 0 if it is none that is known. */
int trace_version(const blob *content);

/* A trace of that v2 version in which each record that it has stands twice: as its tracer writes
 * it, then with large values and padded numbers. */
void trace_of_all(int version, blob *trace);
/* The v2 versions; ends with 0. */
extern const int v2_versions[];

/* Allocations that are counted; the one of number fail_at (from 0) is refused, and all after it
 * where `for_good`. */
typedef struct failing_allocator {
    uint64_t calls, fail_at;
    bool for_good;
    int64_t bytes, peak; /* handed out now, and at most so far */
} failing_allocator;

/* A config whose allocator that is. */
gotrace_config failing_config(failing_allocator *a);

/* The same numbers at every run: xorshift. */
uint64_t random_next(uint64_t *state);

/* Run a suite; what main returns. */
int run_suite(Suite *suite);

#endif
