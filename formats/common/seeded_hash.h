/*
 * seeded_hash.h - hashes of what a file contains, for every table in formats.
 *
 * Whoever made the file may have chosen ids and strings to share one slot of a table. These hashes
 * depend on a seed that differs from process to process. No output may depend on it. (lib has its
 * own: formats use nothing of lib but its public headers.)
 */
#ifndef SEEDED_HASH_H
#define SEEDED_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>

/* This process's seed: odd. */
static inline uint64_t hash_seed(void)
{
    /* Sixteen random bytes from the kernel; the first eight are the stack guard's. */
    const char *given = (const char *)(uintptr_t)getauxval(AT_RANDOM);
    uint64_t seed = (uint64_t)(uintptr_t)&seed;
    if (given)
        memcpy(&seed, given + 8, sizeof seed);
    return (seed ^ 0x9e3779b97f4a7c15u) | 1;
}

/* The hash of an id: different ids have different hashes. The factor is secret, so that nobody can
 * compute which ids share their low bits; the shifts let high bits change low ones. */
static inline uint64_t hash_id(uint64_t seed, uint64_t id)
{
    uint64_t h = (id ^ id >> 32) * seed;
    h = (h ^ h >> 29) * (seed ^ 0xbf58476d1ce4e5b8u);
    return h ^ h >> 32;
}

/* The hash of several ids: begin with any hash, add one after another. */
static inline uint64_t hash_add(uint64_t seed, uint64_t hash, uint64_t id)
{
    return hash_id(seed, hash ^ id) + hash;
}

/* The hash of a string. */
static inline uint64_t hash_bytes(uint64_t seed, const void *bytes, size_t size)
{
    const unsigned char *p = bytes;
    uint64_t hash = hash_id(seed, size);
    for (uint64_t word = 0; size > 0; p += sizeof word) {
        size_t part = size < sizeof word ? size : sizeof word;
        word = 0;
        memcpy(&word, p, part);
        hash = hash_add(seed, hash, word);
        size -= part;
    }
    return hash;
}

#endif
