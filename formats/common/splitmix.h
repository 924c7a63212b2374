/* splitmix.h - numbers that look random, the same on every machine. */
#ifndef SPLITMIX_H
#define SPLITMIX_H

#include <stdint.h>

/* A counter, well mixed: Steele, Lea and Flood's SplitMix, which every machine computes alike. */
static inline uint64_t splitmix_next(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* Below n, which is at most 2^32. */
static inline uint32_t splitmix_below(uint64_t *state, uint32_t n)
{
    return (uint32_t)(((splitmix_next(state) >> 32) * n) >> 32);
}

#endif
