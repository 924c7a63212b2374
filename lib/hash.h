/*
 * hash.h - where an id goes in a table.
 *
 * Ids come from the file, so that whoever made it may have chosen them to share one place. The hash
 * depends on a seed that differs from process to process. No result depends on it.
 */
#ifndef GT_HASH_H
#define GT_HASH_H

#include <stdint.h>

/* This process's seed: odd. */
uint64_t gt_hash_seed(void);

/* Multiply by the seed, and fold the product's upper half into the lower: ids that follow each
 * other go to different places, for an odd factor permutes the low bits, and ids that differ in
 * their high bits alone meet those in the upper half. */
static inline uint64_t gt_hash(uint64_t seed, uint64_t id)
{
#ifdef __SIZEOF_INT128__
    __extension__ typedef unsigned __int128 wide;
    wide product = (wide)id * seed;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
#else
    uint64_t low = (uint32_t)id * (seed & UINT32_MAX), high = (id >> 32) * (seed >> 32);
    uint64_t middle = (uint32_t)id * (seed >> 32) ^ (id >> 32) * (seed & UINT32_MAX);
    return low ^ high ^ middle << 32 ^ middle >> 32;
#endif
}

#endif
