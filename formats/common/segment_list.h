/*
 * segment_list.h - a list whose elements keep their addresses when it grows, so that another thread
 * may read existing elements meanwhile.
 */
#ifndef SEGMENT_LIST_H
#define SEGMENT_LIST_H

#include <stdint.h>
#include <stdlib.h>

enum { SEGMENT_LIST_MAX = 24, SEGMENT_LIST_FIRST = 256 };

/* Each segment has twice as many elements as the one before. */
typedef struct segment_list {
    unsigned char *segments[SEGMENT_LIST_MAX];
    size_t count, stride;
} segment_list;

static inline unsigned segment_of(size_t i)
{
    return 63U - (unsigned)__builtin_clzll(i / SEGMENT_LIST_FIRST + 1);
}

/* Element i, from 0 on. */
static inline void *segment_list_at(const segment_list *list, size_t i)
{
    unsigned segment = segment_of(i);
    return list->segments[segment] +
           (i - SEGMENT_LIST_FIRST * (((size_t)1 << segment) - 1)) * list->stride;
}

/* A zeroed element after the last. It becomes part of the list when the caller increments count.
 * NULL if memory is refused or the list is full. */
static inline void *segment_list_next(segment_list *list)
{
    unsigned segment = segment_of(list->count);

    if (segment >= SEGMENT_LIST_MAX)
        return NULL;
    if (!list->segments[segment])
        list->segments[segment] = calloc((size_t)SEGMENT_LIST_FIRST << segment, list->stride);
    return list->segments[segment] ? segment_list_at(list, list->count) : NULL;
}

static inline void segment_list_free(segment_list *list)
{
    for (unsigned i = 0; i < SEGMENT_LIST_MAX; i++)
        free(list->segments[i]);
    *list = (segment_list){.stride = list->stride};
}

#endif
