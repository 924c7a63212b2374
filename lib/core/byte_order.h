/*
 * byte_order.h - numbers in memory whose first byte is the lowest, on machines of either byte
 * order.
 *
 * Every number of several bytes that is read from a trace, or put together in a register to be
 * stored at once, goes through these functions.
 */
#ifndef GT_BYTE_ORDER_H
#define GT_BYTE_ORDER_H

#include <endian.h>
#include <stdint.h>
#include <string.h>

static inline uint32_t gt_load_le32(const void *p)
{
    uint32_t word;
    memcpy(&word, p, sizeof word);
    return le32toh(word);
}

static inline uint64_t gt_load_le64(const void *p)
{
    uint64_t word;
    memcpy(&word, p, sizeof word);
    return le64toh(word);
}

static inline void gt_store_le64(void *p, uint64_t word)
{
    word = htole64(word);
    memcpy(p, &word, sizeof word);
}

#endif
