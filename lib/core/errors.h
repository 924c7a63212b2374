/*
 * errors.h - fills gotrace_error from the table of rules.
 */
#ifndef GT_ERRORS_H
#define GT_ERRORS_H

#include "core/alloc.h"

/* Position of a problem; GOTRACE_NO_OFFSET for unknown fields. */
typedef struct gt_place {
    uint64_t offset, batch, event;
} gt_place;

#define GT_NO_PLACE  ((gt_place){GOTRACE_NO_OFFSET, GOTRACE_NO_OFFSET, GOTRACE_NO_OFFSET})
#define GT_AT(where) ((gt_place){(where), GOTRACE_NO_OFFSET, GOTRACE_NO_OFFSET})

/* Fills *error (may be NULL) and returns GOTRACE_ERROR. The message says what was found and what
 * was expected. A message that is too long is cut at a character boundary. */
gotrace_status gt_error_set(gotrace_error *error, gotrace_rule rule, gt_place place,
                            const char *format, ...) __attribute__((format(printf, 4, 5)));

/* The same for a failed system call: stores os_error and appends its text to the message. */
gotrace_status gt_error_system(gotrace_error *error, gotrace_rule rule, int os_error,
                               const char *format, ...) __attribute__((format(printf, 4, 5)));

/* The same for a limit that was exceeded; the message names the limit and its value. */
gotrace_status gt_error_limit(gotrace_error *error, gotrace_limit which, gt_place place,
                              uint64_t limit);

/* The same for a refused allocation: by the limit or by the allocator. */
gotrace_status gt_error_memory(gotrace_error *error, const gt_heap *heap);

/* In messages: the plural ending of a regular noun for that count. */
static inline const char *gt_plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

#endif
