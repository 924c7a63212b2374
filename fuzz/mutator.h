/*
 * mutator.h - variants of an input that is a trace, for fuzzers: changed as `gotrace mutate` does,
 * so that what comes out is mostly a trace still, and not refused at the first byte.
 *
 *   mutator_libfuzzer.c  linked with the targets that read traces
 *   mutator_afl.c        a library that AFL++ loads
 */
#ifndef FUZZ_MUTATOR_H
#define FUZZ_MUTATOR_H

#include <stddef.h>
#include <stdint.h>

/* A variant of data, of at most room bytes, put there; 0: it came to nothing, as where data is no
 * trace. */
size_t fuzz_variant(const uint8_t *data, size_t size, uint64_t seed, uint8_t *to, size_t room);

#endif
