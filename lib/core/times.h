/*
 * times.h - arithmetic of nanoseconds without overflow.
 *
 * Ticks and frequencies come from the file, so a time may exceed 64 bits (292 years). It is then
 * clamped to the first or last time. (Go's reader converts it to whatever its machine produces, the
 * smallest integer.)
 */
#ifndef GT_TIMES_H
#define GT_TIMES_H

#include <stdint.h>

/* Symmetric, so that the negation of each is valid, unlike INT64_MIN. */
#define GT_TIME_LAST  INT64_MAX
#define GT_TIME_FIRST (-INT64_MAX)

/* Truncates to an integer, as Go's reader does. */
static inline int64_t gt_time(double ns)
{
    if (__builtin_fabs(ns) < 9223372036854775808.0)
        return (int64_t)ns; /* a double below 2^63 is at most 2^63 - 1024 */
    return ns < 0 ? GT_TIME_FIRST : GT_TIME_LAST;
}

static inline int64_t gt_time_add(int64_t a, int64_t b)
{
    int64_t sum;
    if (__builtin_add_overflow(a, b, &sum))
        return a < 0 ? GT_TIME_FIRST : GT_TIME_LAST;
    return sum;
}

/* The difference from one time to a later one; also for ticks. */
static inline int64_t gt_time_between(int64_t from, int64_t to)
{
    int64_t difference;
    if (__builtin_sub_overflow(to, from, &difference))
        return to < 0 ? GT_TIME_FIRST : GT_TIME_LAST;
    return difference;
}

#endif
