/*
 * head.h - writes the members type to given of a gotrace_event by one store.
 *
 * A copy of the event loads several of these bytes at once. If they were stored one by one, such a
 * load waits until all earlier stores have reached the cache: with two threads, those to memory
 * that the other one has just read.
 */
#ifndef GT_HEAD_H
#define GT_HEAD_H

#include <stddef.h>

#include "core/byte_order.h"
#include "gotrace.h"

/* The members as a number: that of the n-th byte is its value times 256 to the power of n. */
typedef uint64_t gt_head;

#define GT_HEAD_OF(member, value)                                                                  \
    ((gt_head)(value) << 8 * (offsetof(gotrace_event, member) - offsetof(gotrace_event, type)))

_Static_assert(offsetof(gotrace_event, given) - offsetof(gotrace_event, type) + 1 ==
                   sizeof(gt_head),
               "a head has eight members");

static inline void gt_head_set(gotrace_event *event, gt_head head)
{
    gt_store_le64((uint8_t *)event + offsetof(gotrace_event, type), head);
}

#endif
