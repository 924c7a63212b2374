/* vector.h - room in a growing array. */
#ifndef ANALYSE_VECTOR_H
#define ANALYSE_VECTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

/* Returns items, a malloc'd array of *capacity items of that size, with room for more than count of
 * them; NULL, without effect, if memory is refused. */
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

#endif
