/*
 * v2_follow.h - between the order of v2 events and what they do.
 */
#ifndef GT_V2_FOLLOW_H
#define GT_V2_FOLLOW_H

#include "v2.h"

/* What cursors wait for, in gt_waits: a goroutine's status (GT_G_*) at a sequence number, or: */
enum {
    GT_WAIT_GC = 0,     /* the GC's sequence number; of id 0 */
    GT_WAIT_IDLE = 5,   /* a proc that is idle, at a sequence number */
    GT_WAIT_STEAL = 6,  /* a proc in a system call, likewise */
    GT_WAIT_THREAD = 7, /* a thread that has lost its proc; no sequence number */
};

typedef enum gt_followed { GT_FOLLOW_DONE, GT_FOLLOW_WAIT, GT_FOLLOW_FAILED } gt_followed;

/* Let the cursor's event happen, or let the cursor wait. */
gt_followed gt_v2_follow(gotrace_reader *reader, struct gt_v2 *v2, gt_v2_cursor *cursor);

/* The earliest that waits for this is ready. */
void gt_v2_wake(struct gt_v2 *v2, uint64_t id, uint64_t seq, uint8_t what);

/* An event being followed, in the context of its thread as it stands before it. */
typedef struct gt_follow {
    gotrace_reader *reader;
    struct gt_v2 *v2;
    gt_v2_cursor *c;
    const gt_v2_event *e;
    gt_v2_thread *t; /* NULL: on no thread */
    gt_goroutine *g; /* NULL: none */
    gt_v2_proc *p;   /* NULL: none */
    uint64_t generation;
    bool initial; /* it is the first generation */
    bool suspect;
} gt_follow;

#define GT_BROKEN(f, rule, ...)                                                                    \
    ((f)->suspect = true,                                                                          \
     gt_report((f)->reader, rule, (gt_place){(f)->e->offset, (f)->e->batch, GOTRACE_NO_OFFSET},    \
               __VA_ARGS__))

const char *gt_v2_name_of(const gt_follow *f);
const char *gt_v2_status_name(uint8_t status);
const char *gt_v2_proc_status_name(uint8_t status);

/* Memory, or a limit, was refused. */
gt_followed gt_v2_refused(const gt_follow *f);

/* What an event needs of its thread. Source: validateCtx. */
enum { GT_WITH_PROC = 1, GT_NO_PROC = 2, GT_WITH_GOROUTINE = 4, GT_NO_GOROUTINE = 8 };
enum { GT_USER = GT_WITH_PROC | GT_WITH_GOROUTINE };

bool gt_v2_context_report(gt_follow *f, unsigned needs);

static inline bool gt_v2_context(gt_follow *f, unsigned needs)
{
    bool good = f->t && !((needs & GT_WITH_PROC) && !f->p) && !((needs & GT_NO_PROC) && f->p) &&
                !((needs & GT_WITH_GOROUTINE) && !f->g) && !((needs & GT_NO_GOROUTINE) && f->g);
    return good || gt_v2_context_report(f, needs);
}

/* Deliver the event, in the context as it stands. */
gt_v2_out *gt_v2_emit(gt_follow *f, uint8_t type);
gt_v2_out *gt_v2_emit_transition(gt_follow *f, uint8_t type, uint64_t subject, uint8_t from,
                                 uint8_t to);

/* States as delivered, by the wire's GT_G_* and GT_P_*. */
extern const uint8_t gt_v2_shown[5], gt_v2_shown_proc[5];

void gt_v2_bind_goroutine(gt_v2_thread *thread, gt_goroutine *g);
gt_goroutine *gt_v2_goroutine_of(const gt_v2_thread *thread);
gt_v2_proc *gt_v2_proc_of(gt_follow *f, uint64_t id, bool make);
void gt_v2_set_proc(gt_follow *f, gt_v2_proc *p, uint8_t status);
gt_goroutine *gt_v2_make_goroutine(gt_follow *f, uint64_t id, uint8_t status);
void gt_v2_set_status(gt_follow *f, gt_goroutine *g, uint8_t status);
gt_followed gt_v2_park(gt_follow *f, uint64_t id, uint64_t seq, uint8_t what);

/* v2_status.c: statuses at the start of a generation, the GC, ranges, tasks and regions. */
gt_followed gt_v2_proc_status(gt_follow *f);
gt_followed gt_v2_goroutine_status(gt_follow *f);
gt_followed gt_v2_gc(gt_follow *f);
gt_followed gt_v2_range(gt_follow *f);
gt_followed gt_v2_user(gt_follow *f);

#endif
