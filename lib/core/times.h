/*
 * times.h - arithmetic of nanoseconds that does not overflow.
 *
 * Ticks and frequencies come from the file, so that a time may be beyond 64 bits (292 years). It is
 * then the last or the first that there is: Go's reader gives what the conversion of its machine
 * makes of it, the least number of all.
 */
#ifndef GT_TIMES_H
#define GT_TIMES_H

#include <stdint.h>

/* The first one has an opposite, unlike INT64_MIN. */
#define GT_TIME_LAST  INT64_MAX
#define GT_TIME_FIRST (-INT64_MAX)

/* Cut to an integer, as Go's reader does it. */
static inline int64_t gt_time(double ns)
{
    if (ns >= -9223372036854775808.0 && ns < 9223372036854775808.0)
        return (int64_t)ns >= GT_TIME_FIRST ? (int64_t)ns : GT_TIME_FIRST;
    return ns < 0 ? GT_TIME_FIRST : GT_TIME_LAST;
}

static inline int64_t gt_time_add(int64_t a, int64_t b)
{
    int64_t sum;
    if (__builtin_add_overflow(a, b, &sum))
        return a < 0 ? GT_TIME_FIRST : GT_TIME_LAST;
    return sum;
}

/* From a time to a later one; ticks too. */
static inline int64_t gt_time_between(int64_t from, int64_t to)
{
    int64_t difference;
    if (__builtin_sub_overflow(to, from, &difference))
        return to < 0 ? GT_TIME_FIRST : GT_TIME_LAST;
    return difference;
}

#endif
