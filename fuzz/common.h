/*
 * common.h - what fuzz targets share.
 *
 * A target is a file fuzz_NAME.c with the function that libFuzzer calls. It is linked with
 * libFuzzer for fuzzing, and with driver.c as a plain program that replays files.
 */
#ifndef FUZZ_COMMON_H
#define FUZZ_COMMON_H

#include "formats/formats.h"
#include "gotrace.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What must hold whatever the input. */
#define REQUIRE(condition) ((condition) ? (void)0 : fuzz_broken(#condition, __FILE__, __LINE__))
_Noreturn void fuzz_broken(const char *condition, const char *file, int line);

/* Bytes that grow, and a gotrace_write_fn whose ctx they are. Zeroed memory is an empty one. */
typedef struct bytes {
    uint8_t *data;
    size_t size, capacity;
} bytes;

bool bytes_write(void *ctx, const void *data, size_t size);
void bytes_free(bytes *b);

/* A gotrace_write_fn that keeps no more than a digest, in the uint64_t that is ctx. */
bool digest_write(void *ctx, const void *data, size_t size);

/* Numbers that follow from the input alone. */
uint64_t fuzz_seed(const uint8_t *data, size_t size);
uint64_t fuzz_random(uint64_t *state);

/* Whether the which-th of so many ways to look at the input is its turn. A fuzzer takes one way for
 * each input, which follows from it, and so comes to several times as many inputs; replayed, an
 * input is looked at in all of them (fuzz_all_ways). */
bool fuzz_turn(const uint8_t *data, size_t size, unsigned which, unsigned of);
extern bool fuzz_all_ways;

/* Whether this begins as zstd or gzip does, which is for fuzz_source. */
bool fuzz_is_packed(const uint8_t *data, size_t size);

/* How many dresses a script has. */
unsigned fuzz_dresses(void);

/* Limits under which no input takes long, and problems counted in *problems. */
gotrace_config fuzz_config(uint64_t *problems);

/* A trace's records as a script; false if the decoder does not take all of it. */
bool fuzz_dump(const uint8_t *data, size_t size, const script_format *dress, bytes *script);

/* A trace's events as a script by meaning, as far as it can be read. */
void fuzz_dump_meaning(const uint8_t *data, size_t size, const script_format *dress, bytes *script);

/* A script by meaning as a trace, whatever it tells of. */
gotrace_status fuzz_believe(const uint8_t *script, size_t size, bytes *trace, script_error *error);

/* A script as a trace. */
gotrace_status fuzz_synthesize(const uint8_t *script, size_t size, bytes *trace,
                               script_error *error);

#endif
