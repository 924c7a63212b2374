/*
 * malloc.h - memory of the C library as a gotrace_allocator.
 *
 * Everything here is inline, so that formats and cmd can use it: the library exports none of it.
 */
#ifndef GT_MALLOC_H
#define GT_MALLOC_H

#include <stdlib.h>

#include "gotrace.h"

static inline void *gt_malloc_resize(void *ctx, void *block, size_t old_size, size_t new_size)
{
    (void)ctx;
    (void)old_size;
    if (new_size == 0) {
        free(block);
        return NULL;
    }
    return realloc(block, new_size);
}

static inline gotrace_allocator gt_malloc(void)
{
    return (gotrace_allocator){.resize = gt_malloc_resize};
}

#endif
