/*
 * misuse.h - the checking mode (gotrace_recorder_options.on_misuse). A call that is reported does
 * nothing.
 */
#ifndef GT_RECORD_MISUSE_H
#define GT_RECORD_MISUSE_H

#include "record/record.h"

typedef enum gt_rec_call {
#define C(name, handle, values, needs) GT_REC_CALL_##name,
#include "record/calls.def"
#undef C
} gt_rec_call;

/* Reports the call if it is misuse. handle, value: what it has besides the thread, else NULL, 0.
 * Returns whether it is. */
bool gt_rec_check(gotrace_rec_thread *t, gt_rec_call call, void *handle, unsigned value);
/* The same, for the id of a goroutine that is being created. */
bool gt_rec_check_id(gotrace_rec_thread *t, gt_rec_call call, gotrace_rec_go *g, uint64_t id);
/* Reports that the id is that of another thread or proc. */
void gt_rec_report_id(const gotrace_recorder *r, const char *function, const char *what,
                      uint64_t id);

static inline bool gt_rec_is_misuse_of(gotrace_rec_thread *t, gt_rec_call call, void *handle,
                                       unsigned value)
{
    return __builtin_expect(t->recorder->checks, 0) && gt_rec_check(t, call, handle, value);
}

static inline bool gt_rec_is_misuse(gotrace_rec_thread *t, gt_rec_call call)
{
    return gt_rec_is_misuse_of(t, call, NULL, 0);
}

#endif
