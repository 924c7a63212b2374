/*
 * sized.h - structs of the caller, which begin with their size: the caller's program may know fewer
 * members than this library, or more. A public function takes them here, so that everything inside
 * the library has whole structs.
 */
#ifndef GT_SIZED_H
#define GT_SIZED_H

#include "gotrace.h"

/* A struct that callers pass. */
typedef struct gt_sized {
    const char *name;
    size_t size;  /* in this release */
    size_t first; /* in the first release, which a size of 0 means */
} gt_sized;

extern const gt_sized gt_sized_error, gt_sized_limits, gt_sized_config, gt_sized_record,
    gt_sized_writer_options, gt_sized_event_data, gt_sized_recorder_options;

/* Whether the struct of the caller is the library's own, so that it can be used in place. */
static inline bool gt_sized_is_whole(const gt_sized *type, size_t size)
{
    return (size ? size : type->first) == type->size;
}

/* Copy a struct of the caller (NULL: all zero) into *whole. Fails if it has members that are not
 * known here and not zero. */
gotrace_status gt_sized_take(const gt_sized *type, void *whole, const void *given,
                             gotrace_error *error);

/* A call of a public function that has a config and an error. */
typedef struct gt_call {
    gotrace_config config; /* with limits */
    gotrace_limits limits;
    gotrace_error error;
} gt_call;

gotrace_status gt_call_begin(gt_call *call, const gotrace_config *config);

/* Give the caller (NULL: not wanted) the error of a call that failed. Returns the status. */
gotrace_status gt_call_end(const gt_call *call, gotrace_status status, gotrace_error *error);

#endif
