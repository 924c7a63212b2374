/*
 * alloc.h - memory of one handle: the caller's allocator, counted against the handle's limit.
 *
 * Nothing in the library allocates but through a gt_heap, so that a limit on memory holds for
 * everything a handle does and a test can make any single allocation fail.
 */
#ifndef GT_ALLOC_H
#define GT_ALLOC_H

#include "gotrace.h"

typedef struct gt_heap {
    gotrace_allocator allocator;
    uint64_t used;  /* bytes handed out now */
    uint64_t limit; /* never more than this */
    bool limited;   /* the last failure was the limit's, not the allocator's */
} gt_heap;

/* The limits of config (may be NULL), with defaults filled in. What is counted in 32 bits, some of
 * whose values mean "none", is no more than fits there. */
gotrace_limits gt_limits(const gotrace_config *config);

/* Take allocator and memory limit from config (may be NULL). */
void gt_heap_init(gt_heap *heap, const gotrace_config *config);

/* Like realloc, with the old size as an argument; new_size 0 frees and returns NULL. On failure
 * returns NULL and leaves the block unchanged. */
void *gt_resize(gt_heap *heap, void *block, size_t old_size, size_t new_size);

/* Zeroed memory for count elements, or NULL (also when the product overflows). */
void *gt_calloc(gt_heap *heap, size_t count, size_t size);

void gt_free(gt_heap *heap, void *block, size_t size);

/* Make room for at least `need` elements in a growing array; doubles. False when refused. */
bool gt_grow(gt_heap *heap, void **array, size_t *capacity, size_t need, size_t element);

#endif
