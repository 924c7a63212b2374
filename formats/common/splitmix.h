/* splitmix.h - a pseudo-random number generator with the same output on every machine. */
#ifndef SPLITMIX_H
#define SPLITMIX_H

#include <stdint.h>

/* SplitMix64 (Steele, Lea, Flood): a counter and a mixing function. */
static inline uint64_t splitmix_next(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* A number in [0, n); n is at most 2^32. */
static inline uint32_t splitmix_below(uint64_t *state, uint32_t n)
{
    return (uint32_t)(((splitmix_next(state) >> 32) * n) >> 32);
}

#endif
