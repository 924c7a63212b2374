/*
 * common.h - shared by the fuzz targets.
 *
 * A target is a file fuzz_NAME.c with the function that libFuzzer calls. It is linked with
 * libFuzzer for fuzzing, and with driver.c as a program that replays files.
 */
#ifndef FUZZ_COMMON_H
#define FUZZ_COMMON_H

#include "formats/formats.h"
#include "gotrace.h"
#include "formats/script/scripts.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* An assertion. */
#define REQUIRE(condition) ((condition) ? (void)0 : fuzz_failed(#condition, __FILE__, __LINE__))
_Noreturn void fuzz_failed(const char *condition, const char *file, int line);

/* A growing buffer, and a gotrace_write_fn whose ctx is one. Zeroed memory is an empty one. */
typedef struct bytes {
    uint8_t *data;
    size_t size, capacity;
} bytes;

bool bytes_write(void *ctx, const void *data, size_t size);
void bytes_free(bytes *b);

/* A gotrace_write_fn that computes a digest in the uint64_t ctx. */
bool digest_write(void *ctx, const void *data, size_t size);

/* Numbers that depend only on the input. */
uint64_t fuzz_seed(const uint8_t *data, size_t size);
uint64_t fuzz_random(uint64_t *state);

/* Whether to run check number `which` of `of` on this input. When fuzzing, the input selects one of
 * the checks, so that several times as many inputs are run; when replaying, all checks are run
 * (fuzz_all_ways). */
bool fuzz_turn(const uint8_t *data, size_t size, unsigned which, unsigned of);
extern bool fuzz_all_ways;

/* Whether the data begins like zstd or gzip data, which only fuzz_source handles. */
bool fuzz_is_packed(const uint8_t *data, size_t size);

/* The number of encodings of scripts. */
unsigned fuzz_encoding_count(void);

/* A config with limits under which no input takes long; problems are counted in *problems. */
gotrace_config fuzz_config(uint64_t *problems);

/* Dump a trace's records as a script; false if the decoder rejects the trace. */
bool fuzz_dump(const uint8_t *data, size_t size, const script_format *encoding, bytes *script);

/* Dump a trace's events as a script of level meaning, as far as the trace can be read. */
void fuzz_dump_meaning(const uint8_t *data, size_t size, const script_format *encoding,
                       bytes *script);

/* Build a trace from a script of level meaning, including impossible events. */
gotrace_status fuzz_synthesize_forced(const uint8_t *script, size_t size, bytes *trace,
                                      script_error *error);

/* Build a trace from a script. */
gotrace_status fuzz_synthesize(const uint8_t *script, size_t size, bytes *trace,
                               script_error *error);

#endif
