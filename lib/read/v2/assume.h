/*
 * assume.h - what the check of a generation takes for granted about the ones before it.
 *
 * A generation begins with the status of the goroutines and procs that its events refer to, so its
 * events can be checked without knowing the state at the end of the generation before. Where that
 * state matters nevertheless, the most likely one is assumed, and the assumption is recorded. Later
 * it is compared with the actual state: see ahead.h.
 */
#ifndef GT_ASSUME_H
#define GT_ASSUME_H

#include "core/map.h"

typedef enum gt_assumption_kind {
    GT_ASSUME_GOROUTINE,     /* the goroutine exists, with status `value` */
    GT_ASSUME_PROC,          /* the proc, if it exists, has status `value` */
    GT_ASSUME_SELF_SYSCALL,  /* the thread has goroutine `value` */
    GT_ASSUME_OTHER_SYSCALL, /* the thread, if it had events, has goroutine `value` */
    GT_ASSUME_SWEEP,         /* whether the proc sweeps */
    GT_ASSUME_ASSIST,        /* whether the goroutine assists the GC */
    GT_ASSUME_WORLD_RUNS,    /* the goroutine has not stopped the world */
    GT_ASSUME_REGION,        /* the goroutine's innermost open region, apart from `depth` others, is
                                of task `value` and has that name; or there is none */
    GT_ASSUME_GC_ACTIVE,     /* a GC cycle goes on; its next sequence number is `value` */
    GT_ASSUME_GC_OFF,        /* the same with no cycle going on, or nothing is known */
    GT_ASSUME_TASK_ENDS,     /* not an assumption: the task, if there is one, ends */
} gt_assumption_kind;

typedef struct gt_assumption {
    uint64_t id, value;
    const char *name; /* from gt_names_add */
    uint32_t depth;
    uint8_t kind; /* gt_assumption_kind */
} gt_assumption;

typedef struct gt_assumptions {
    gt_heap *heap;
    gt_assumption *list;
    size_t count, capacity;
    gt_map created;           /* goroutines that are assumed not to exist: id / 64 to a bit set */
    uint64_t first_task;      /* no task with this id or a greater one is open */
    uint64_t most_goroutines; /* maximum number at the same time */
    uint64_t outputs;         /* number of events that a reader would return */
    size_t loaded;            /* number of problems found while loading the tables */
    bool void_;               /* the check needs the actual state */
} gt_assumptions;

/* What is known of a thread's context: flags in gt_v2_thread.known and .assumed. */
enum { GT_KNOWN_PROC = 1, GT_KNOWN_GOROUTINE = 2 };

/* First contacts with a goroutine: flags in gt_goroutine.contact. */
enum { GT_CONTACT_CREATED = 1, GT_CONTACT_ASSIST = 2, GT_CONTACT_STOP = 4 };

/* Records an assumption. False if memory is refused. */
bool gt_assume(gt_assumptions *a, gt_assumption assumption);

/* Records that the goroutine did not exist. False if memory is refused. */
bool gt_assume_created(gt_assumptions *a, uint64_t goroutine);

void gt_assumptions_free(gt_assumptions *a);

#endif
