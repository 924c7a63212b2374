#include "core/hash.h"

#include <string.h>
#include <sys/auxv.h>

uint64_t gt_hash_seed(void)
{
    /* The kernel passes 16 random bytes. The first eight are used for the stack protector. */
    const char *given = (const char *)(uintptr_t)getauxval(AT_RANDOM);
    uint64_t seed = (uint64_t)(uintptr_t)&seed;
    if (given)
        memcpy(&seed, given + 8, sizeof seed);
    return (seed ^ 0x9e3779b97f4a7c15u) | 1;
}

uint64_t gt_hash_bytes(uint64_t seed, const void *bytes, size_t size)
{
    const uint8_t *p = bytes;
    uint64_t hash = seed, word = 0;
    for (; size >= sizeof word; p += sizeof word, size -= sizeof word) {
        memcpy(&word, p, sizeof word);
        hash = gt_hash(seed, hash ^ word);
    }
    word = size;
    for (size_t i = 0; i < size; i++)
        word = word << 8 | p[i];
    return gt_hash(seed, hash ^ word);
}
