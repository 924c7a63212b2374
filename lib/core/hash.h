/*
 * hash.h - seeded hashes of ids and byte strings.
 *
 * Ids and strings come from the file, whose author may have chosen them to collide. The hash
 * depends on a seed that differs from process to process, so no result may depend on it.
 *
 * Everything here is inline, so that formats and cmd can use it: the library exports none of it.
 */
#ifndef GT_HASH_H
#define GT_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>

/* The seed of this process; odd. */
static inline uint64_t gt_hash_seed(void)
{
    /* The kernel passes 16 random bytes. The first eight are used for the stack protector. */
    const char *given = (const char *)(uintptr_t)getauxval(AT_RANDOM);
    uint64_t seed = (uint64_t)(uintptr_t)&seed;
    if (given)
        memcpy(&seed, given + 8, sizeof seed);
    return (seed ^ 0x9e3779b97f4a7c15u) | 1;
}

/* Multiplies by the seed and folds the upper half of the product into the lower, which cannot be
 * inverted without the seed. A second mixing step avoids seeds that are bad for consecutive ids. */
static inline uint64_t gt_hash(uint64_t seed, uint64_t id)
{
#ifdef __SIZEOF_INT128__
    __extension__ typedef unsigned __int128 wide;
    wide product = (wide)id * seed;
    uint64_t folded = (uint64_t)product ^ (uint64_t)(product >> 64);
#else
    uint64_t low = (uint32_t)id * (seed & UINT32_MAX), high = (id >> 32) * (seed >> 32);
    uint64_t middle = (uint32_t)id * (seed >> 32) ^ (id >> 32) * (seed & UINT32_MAX);
    uint64_t folded = low ^ high ^ middle << 32 ^ middle >> 32;
#endif
    folded = (folded ^ folded >> 32) * 0x9e3779b97f4a7c15u;
    return folded ^ folded >> 32;
}

/* The hash of several ids: starts with the hash of the first one; add the others in turn. */
static inline uint64_t gt_hash_add(uint64_t seed, uint64_t hash, uint64_t id)
{
    return gt_hash(seed, hash ^ id) + hash;
}

static inline uint64_t gt_hash_bytes(uint64_t seed, const void *data, size_t size)
{
    const uint8_t *p = data;
    uint64_t hash = gt_hash_add(seed, seed, size);
    for (uint64_t word = 0; size > 0; p += sizeof word) {
        size_t part = size < sizeof word ? size : sizeof word;
        word = 0;
        memcpy(&word, p, part);
        hash = gt_hash_add(seed, hash, word);
        size -= part;
    }
    return hash;
}

#endif
