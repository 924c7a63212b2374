/*
 * errors.h - filling gotrace_error from the rule table.
 */
#ifndef GT_ERRORS_H
#define GT_ERRORS_H

#include "core/alloc.h"

/* Where a problem is; GOTRACE_NO_OFFSET for what is not known. */
typedef struct gt_place {
    uint64_t offset, batch, event;
} gt_place;

#define GT_NOWHERE   ((gt_place){GOTRACE_NO_OFFSET, GOTRACE_NO_OFFSET, GOTRACE_NO_OFFSET})
#define GT_AT(where) ((gt_place){(where), GOTRACE_NO_OFFSET, GOTRACE_NO_OFFSET})

/* Fill *error (NULL is fine) and return GOTRACE_ERROR. The message says what was found and what
 * was expected; a message that is too long is cut at a character's end. */
gotrace_status gt_error_set(gotrace_error *error, gotrace_rule rule, gt_place place,
                            const char *format, ...) __attribute__((format(printf, 4, 5)));

/* The same for a failed system call: os_error is kept, and its text follows the message. */
gotrace_status gt_error_system(gotrace_error *error, gotrace_rule rule, int os_error,
                               const char *format, ...) __attribute__((format(printf, 4, 5)));

/* The same for a limit that was reached: the message names the limit and its value. */
gotrace_status gt_error_limit(gotrace_error *error, gotrace_limit which, gt_place place,
                              uint64_t limit);

/* The same for memory that was refused: by the limit or by the allocator. */
gotrace_status gt_error_memory(gotrace_error *error, const gt_heap *heap);

/* In messages: the ending of a regular noun after that count. */
static inline const char *gt_plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

#endif
