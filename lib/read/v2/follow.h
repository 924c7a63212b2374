/*
 * follow.h - interface between the order of v2 events and their effects.
 */
#ifndef GT_V2_FOLLOW_H
#define GT_V2_FOLLOW_H

#include <string.h>

#include "read/v2/output.h"

/* What cursors wait for, in gt_waits: the status of a goroutine (GT_G_*) at a sequence number, or
 * one of these. */
enum {
    GT_WAIT_GC = 0,     /* the GC's sequence number; id 0 */
    GT_WAIT_IDLE = 5,   /* an idle proc, at a sequence number */
    GT_WAIT_STEAL = 6,  /* a proc in a system call, at a sequence number */
    GT_WAIT_THREAD = 7, /* a thread that lost its proc; no sequence number */
};

typedef enum gt_followed {
    GT_FOLLOW_DONE,
    GT_FOLLOW_WAIT,
    GT_FOLLOW_FAILED,
} gt_followed;

/* Handles the cursor's event, or parks the cursor. */
gt_followed gt_v2_follow(struct gt_v2 *v2, gt_v2_cursor *cursor);

/* Wakes the earliest cursor that waits for this. */
void gt_v2_wake_parked(struct gt_v2 *v2, uint64_t id, uint64_t seq, uint8_t what);

static inline void gt_v2_wake(struct gt_v2 *v2, uint64_t id, uint64_t seq, uint8_t what)
{
    if (v2->order.waits.parked_count)
        gt_v2_wake_parked(v2, id, seq, what);
}

#define GT_BROKEN(f, rule, ...)                                                                    \
    ((f)->suspect = true, (f)->v2->index.generations[(f)->v2->current].damaged = true,             \
     gt_report((f)->reader, rule, (gt_place){(f)->e->offset, (f)->e->batch, GOTRACE_NO_OFFSET},    \
               __VA_ARGS__))

const char *gt_v2_name_of(const gt_follow *f);
const char *gt_v2_status_name(uint8_t status);
const char *gt_v2_proc_status_name(uint8_t status);

/* Memory or a limit was refused. */
gt_followed gt_v2_refused(const gt_follow *f) __attribute__((cold));

/* Checks the event's requirements of its thread: GOTRACE_NEEDS_*. Source: validateCtx. */
bool gt_v2_context_report(gt_follow *f, unsigned needs) __attribute__((cold));

static inline bool gt_v2_context(gt_follow *f, unsigned needs)
{
    bool good = f->t && !((needs & GOTRACE_NEEDS_PROC) && !f->p) &&
                !((needs & GOTRACE_NEEDS_NO_PROC) && f->p) &&
                !((needs & GOTRACE_NEEDS_GOROUTINE) && !f->g) &&
                !((needs & GOTRACE_NEEDS_NO_GOROUTINE) && f->g);
    return good || gt_v2_context_report(f, needs);
}

/* Puts what is reported of a proc or goroutine: see status.c. */
gotrace_event *gt_v2_put_status(const gt_follow *f, const uint64_t *args, gt_v2_change change);

/* States of the common model by status code: GT_G_*, GT_P_*, or 0. */
extern const uint8_t gt_v2_shown[5], gt_v2_shown_proc[5];

void gt_v2_bind_goroutine(gt_v2_thread *thread, gt_goroutine *g);
void gt_v2_bind_proc(gt_v2_thread *thread, gt_v2_proc *p);
gt_goroutine *gt_v2_goroutine_of(const gt_v2_thread *thread);
gt_v2_proc *gt_v2_proc_of(gotrace_reader *reader, uint64_t id, bool make);
void gt_v2_set_proc(gt_follow *f, gt_v2_proc *p, uint8_t status);
gt_goroutine *gt_v2_make_goroutine(gt_follow *f, uint64_t id, uint8_t status);
void gt_v2_set_status(gt_follow *f, gt_goroutine *g, uint8_t status);
gt_followed gt_v2_park(gt_follow *f, uint64_t id, uint64_t seq, uint8_t what);

/* If the state before this generation is not known: records what is assumed about it. False if
 * memory is refused. */
static inline bool gt_v2_assume(gt_follow *f, gt_assumption_kind kind, uint64_t id, uint64_t value)
{
    return !f->v2->assumed ||
           gt_assume(f->v2->assumed,
                     (gt_assumption){.id = id, .value = value, .kind = (uint8_t)kind});
}

/* status.c: statuses at the start of a generation, the GC, ranges, tasks and regions. */
gt_followed gt_v2_proc_status(gt_follow *f);
gt_followed gt_v2_goroutine_status(gt_follow *f);
gt_followed gt_v2_gc(gt_follow *f, const gotrace_semantics *does);
gt_followed gt_v2_range(gt_follow *f, const gotrace_semantics *does);
gt_followed gt_v2_user(gt_follow *f, const gotrace_semantics *does);

#endif
