/*
 * steady.h - a list whose elements keep their address when it grows, so that another thread may
 * read those that it knows.
 */
#ifndef STEADY_H
#define STEADY_H

#include <stdint.h>
#include <stdlib.h>

enum { STEADY_PIECES = 24, STEADY_FIRST = 256 };

/* Each piece has twice as many elements as the one before. */
typedef struct steady {
    unsigned char *pieces[STEADY_PIECES];
    size_t count, stride;
} steady;

static inline unsigned steady_piece(size_t i)
{
    return 63U - (unsigned)__builtin_clzll(i / STEADY_FIRST + 1);
}

/* The i-th element, from 0 on. */
static inline void *steady_at(const steady *list, size_t i)
{
    unsigned piece = steady_piece(i);
    return list->pieces[piece] + (i - STEADY_FIRST * (((size_t)1 << piece) - 1)) * list->stride;
}

/* Room for one element more, which is all zero; it counts only when count is raised. NULL when
 * memory is refused, or there are too many. */
static inline void *steady_next(steady *list)
{
    unsigned piece = steady_piece(list->count);

    if (piece >= STEADY_PIECES)
        return NULL;
    if (!list->pieces[piece])
        list->pieces[piece] = calloc((size_t)STEADY_FIRST << piece, list->stride);
    return list->pieces[piece] ? steady_at(list, list->count) : NULL;
}

static inline void steady_free(steady *list)
{
    for (unsigned i = 0; i < STEADY_PIECES; i++)
        free(list->pieces[i]);
    *list = (steady){.stride = list->stride};
}

#endif
