/*
 * hash.h - seeded hashes of ids and byte strings.
 *
 * Ids and strings come from the file, whose author may have chosen them to collide. The hash
 * depends on a seed that differs from process to process, so no result may depend on it.
 */
#ifndef GT_HASH_H
#define GT_HASH_H

#include <stddef.h>
#include <stdint.h>

/* The seed of this process; odd. */
uint64_t gt_hash_seed(void);

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

/* The same for a byte string. */
uint64_t gt_hash_bytes(uint64_t seed, const void *bytes, size_t size);

#endif
