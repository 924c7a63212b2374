/*
 * alloc.h - memory of one handle: the caller's allocator with the handle's memory limit.
 *
 * The library allocates only through a gt_heap, so that the limit covers everything a handle does,
 * and so that a test can make any single allocation fail.
 */
#ifndef GT_ALLOC_H
#define GT_ALLOC_H

#include "gotrace.h"

typedef struct gt_heap {
    gotrace_allocator allocator;
    uint64_t used;  /* bytes allocated now */
    uint64_t limit; /* upper bound of used */
    bool limited;   /* the last failure was due to the limit, not the allocator */
} gt_heap;

/* The limits of config (may be NULL), with defaults filled in. Limits of 32-bit counts are clamped
 * so that reserved values ("none") stay free. */
gotrace_limits gt_limits(const gotrace_config *config);

/* Takes allocator and memory limit from config (may be NULL). */
void gt_heap_init(gt_heap *heap, const gotrace_config *config);

/* Like realloc, with the old size as an argument; new_size 0 frees and returns NULL. On failure
 * returns NULL and leaves the block unchanged. */
void *gt_resize(gt_heap *heap, void *block, size_t old_size, size_t new_size);

/* Zeroed memory for count elements, or NULL (also when the product overflows). */
void *gt_calloc(gt_heap *heap, size_t count, size_t size);

void gt_free(gt_heap *heap, void *block, size_t size);

/* The size of a cache line. A type that one thread writes and others do not read has this
 * alignment, so that no other data shares its lines. */
enum { GT_LINE = 64 };

/* The same for such a type, whose alignment no allocator promises. */
void *gt_calloc_lines(gt_heap *heap, size_t size);
void gt_free_lines(gt_heap *heap, void *block, size_t size);

/* The heap as an allocator, for code shared with formats and cmd. */
gotrace_allocator gt_allocator(gt_heap *heap);

/* Makes room for at least `need` elements in a growing array; doubles its capacity. False if memory
 * is refused. */
bool gt_grow(gt_heap *heap, void **array, size_t *capacity, size_t need, size_t element);

#endif
