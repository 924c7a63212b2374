/*
 * mutator.h - variants of an input that is a trace, for fuzzers: changed as by `gotrace mutate`, so
 * that most results are traces, and not rejected at the first byte.
 *
 *   mutator_libfuzzer.c  linked with the targets that read traces
 *   mutator_afl.c        a library that AFL++ loads
 */
#ifndef FUZZ_MUTATOR_H
#define FUZZ_MUTATOR_H

#include <stddef.h>
#include <stdint.h>

/* Write a variant of data to `to`, at most room bytes; returns its size, or 0 if there is none, for
 * example because data is not a trace. */
size_t fuzz_variant(const uint8_t *data, size_t size, uint64_t seed, uint8_t *to, size_t room);

#endif
