/*
 * brief.h - what both formats need to make a gotrace_brief.
 */
#ifndef GT_BRIEF_H
#define GT_BRIEF_H

#include "core/head.h"
#include "gotrace_experimental.h"

_Static_assert(offsetof(gotrace_brief, given) - offsetof(gotrace_brief, type) ==
                   offsetof(gotrace_event, arg_count) - offsetof(gotrace_event, type),
               "a brief has the members of a head, and `given` in the place of arg_count");

_Static_assert(sizeof(gotrace_brief) == 64, "a brief has no padding");

/* Stores the id of a proc or thread; false if it is too large. */
static inline bool gt_brief_id(int64_t id, int32_t *brief)
{
    *brief = id == INT64_MIN ? GOTRACE_BRIEF_NONE : (int32_t)id;
    return id == INT64_MIN || (id == *brief && id != GOTRACE_BRIEF_NONE);
}

/* Sets type to given. */
static inline void gt_brief_set_head(gotrace_brief *brief, gt_head head, uint8_t given)
{
    head &= ~GT_HEAD_OF(arg_count, UINT8_MAX);
    gt_head_store(&brief->type, head | GT_HEAD_OF(arg_count, given));
}

#endif
