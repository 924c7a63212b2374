/*
 * seeded_hash.h - seeded hashes for the tables in formats.
 *
 * Ids and strings come from the file, whose author may have chosen them to collide. These hashes
 * depend on a seed that differs from process to process, so no output may depend on them. (lib has
 * its own: formats use only its public headers.)
 */
#ifndef SEEDED_HASH_H
#define SEEDED_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>

/* The seed of this process; odd. */
static inline uint64_t hash_seed(void)
{
    /* The kernel passes 16 random bytes. The first eight are used for the stack protector. */
    const char *given = (const char *)(uintptr_t)getauxval(AT_RANDOM);
    uint64_t seed = (uint64_t)(uintptr_t)&seed;
    if (given)
        memcpy(&seed, given + 8, sizeof seed);
    return (seed ^ 0x9e3779b97f4a7c15u) | 1;
}

/* The hash of an id; different ids have different hashes. The factor is secret, so an attacker
 * cannot compute which ids share low bits; the shifts let high bits affect low ones. */
static inline uint64_t hash_id(uint64_t seed, uint64_t id)
{
    uint64_t h = (id ^ id >> 32) * seed;
    h = (h ^ h >> 29) * (seed ^ 0xbf58476d1ce4e5b8u);
    return h ^ h >> 32;
}

/* The hash of a sequence of ids: start with any hash and add one id after another. */
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
