/* numbers.h - numbers as few bytes, for what one run of the program writes and reads. */
#ifndef NUMBERS_H
#define NUMBERS_H

#include <stdint.h>

enum { PACKED_MOST = 10 }; /* bytes of a number */

/* A varint: seven bits in each byte, the lowest first. Returns the end. */
static inline unsigned char *pack_number(unsigned char *at, uint64_t v)
{
    for (; v >= 0x80; v >>= 7)
        *at++ = (unsigned char)(v | 0x80);
    *at++ = (unsigned char)v;
    return at;
}

static inline uint64_t unpack_number(const unsigned char **at)
{
    uint64_t v = 0;
    for (unsigned shift = 0;; shift += 7) {
        const unsigned char byte = *(*at)++;
        v |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return v;
    }
}

/* Small differences of both signs as small numbers; differences wrap. */
static inline uint64_t pack_difference(uint64_t difference)
{
    return difference << 1 ^ (difference >> 63 ? UINT64_MAX : 0);
}

static inline uint64_t unpack_difference(uint64_t packed)
{
    return packed >> 1 ^ (packed & 1 ? UINT64_MAX : 0);
}

#endif
