/* vector.h - room in a growing array. Each function returns NULL, without effect, if memory is
 * refused. */
#ifndef VECTOR_H
#define VECTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Returns items, a malloc'd array of *capacity items of that size, with room for more than count of
 * them. */
static inline void *vector_room(void *items, size_t *capacity, size_t count, size_t size)
{
    enum { LEAST = 8 };
    if (count < *capacity)
        return items;
    size_t larger = *capacity ? 2 * *capacity : (size_t)LEAST;
    void *moved = larger <= SIZE_MAX / 2 / size ? realloc(items, larger * size) : NULL;
    if (moved)
        *capacity = larger;
    return moved;
}

/* The same for an array that is indexed by a number: the new items are zero. */
static inline void *vector_zeroed(void *items, size_t *capacity, size_t number, size_t size)
{
    size_t before = *capacity, larger = (number + 1) * 2;
    if (number < before)
        return items;
    char *moved = realloc(items, larger * size);
    if (moved) {
        memset(moved + before * size, 0, (larger - before) * size);
        *capacity = larger;
    }
    return moved;
}

/* The same for a buffer of at least that many items, one or more. */
static inline void *vector_fit(void *items, size_t *capacity, size_t count, size_t size)
{
    void *moved = count > *capacity ? reallocarray(items, count, size) : items;
    if (moved && count > *capacity)
        *capacity = count;
    return moved;
}

#endif
