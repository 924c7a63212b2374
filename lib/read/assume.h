/*
 * assume.h - what the check of a piece of a trace takes for granted about the pieces before it.
 *
 * A piece (a generation of v2, or a span of time of v1) is checked without knowing the state at its
 * beginning. Where an event depends on that state, the state that makes the event consistent is
 * assumed, and the assumption is recorded. Later it is compared with the actual state: see ahead.h.
 */
#ifndef GT_ASSUME_H
#define GT_ASSUME_H

#include <stdatomic.h>

#include "core/map.h"

typedef enum gt_assumption_kind {
    GT_ASSUME_SWEEP,     /* whether the proc sweeps */
    GT_ASSUME_ASSIST,    /* whether the goroutine assists the GC */
    GT_ASSUME_REGION,    /* the goroutine's innermost open region, apart from `depth` others, is
                            of task `value` and has that name; or there is none */
    GT_ASSUME_TASK_ENDS, /* the task has not ended before; if there is one, it ends */
    GT_ASSUME_NO_BEGIN,  /* ends without a begin in place `id` (see user.c) were reported before */
    /* v1 */
    GT_ASSUME_STATUS,      /* order.c: the goroutine has status `value` */
    GT_ASSUME_SEQ,         /* order.c: the goroutine has sequence number `value` */
    GT_ASSUME_BLOCKED,     /* order.c: the goroutine blocked in a system call, until `value` */
    GT_ASSUME_NEXT_GC,     /* order.c: `value` is the number of the next GC cycle */
    GT_ASSUME_STATE,       /* state.c: the goroutine is in state `value` */
    GT_ASSUME_PROC_RUNS,   /* whether the proc is running */
    GT_ASSUME_ON_PROC,     /* goroutine `value` runs on the proc; 0: none */
    GT_ASSUME_PROC_STOPS,  /* whether the proc stops the world */
    GT_ASSUME_WORLD_STOPS, /* whether the world is stopped */
    GT_ASSUME_GC,          /* whether a GC cycle goes on */
    GT_ASSUME_REPORTED,    /* that the id (with bits `value`) is missing was reported */
    /* v2 */
    GT_ASSUME_GOROUTINE,     /* the goroutine exists, with status `value` */
    GT_ASSUME_PROC,          /* the proc, if it exists, has status `value` */
    GT_ASSUME_PROC_LEFT,     /* the proc is in a system call, and thread `value` has it */
    GT_ASSUME_SELF_SYSCALL,  /* the thread has goroutine `value` */
    GT_ASSUME_OTHER_SYSCALL, /* the thread, if it had events, has goroutine `value` */
    GT_ASSUME_WORLD_RUNS,    /* the goroutine has not stopped the world */
    GT_ASSUME_GC_ACTIVE,     /* a GC cycle goes on; its next sequence number is `value` */
    GT_ASSUME_GC_OFF,        /* the same with no cycle going on, or nothing is known */
} gt_assumption_kind;

typedef struct gt_assumption {
    uint64_t id, value;
    uint64_t name; /* as in gt_region */
    uint32_t depth;
    uint8_t kind; /* gt_assumption_kind */
} gt_assumption;

typedef struct gt_assumptions {
    gt_heap *heap;
    gt_assumption *list;
    size_t count, capacity;
    gt_map created;           /* goroutines that are assumed not to exist: id / 64 to a bit set */
    gt_map tasks;             /* v1: tasks that are assumed not to be open, likewise */
    uint64_t first_task;      /* v2: no task with this id or a greater one is open */
    uint64_t most_goroutines; /* maximum number at the same time */
    size_t loaded;            /* v2: number of problems found while loading the tables */
    bool void_;               /* the check needs the actual state, or was stopped */
    const atomic_bool *stop;  /* the result is no longer needed */
} gt_assumptions;

/* What is known of a thread's context in v2: flags in gt_v2_thread.known and .assumed. */
enum { GT_KNOWN_PROC = 1, GT_KNOWN_GOROUTINE = 2 };

/* First contacts with a goroutine: flags in gt_goroutine.contact. CREATED: nothing about it depends
 * on the state before; SEQ: its sequence number is known. */
enum { GT_CONTACT_CREATED = 1, GT_CONTACT_ASSIST = 2, GT_CONTACT_STOP = 4, GT_CONTACT_SEQ = 8 };

void gt_assumptions_init(gt_assumptions *a, gt_heap *heap);

/* Records an assumption. False if memory is refused. */
bool gt_assume(gt_assumptions *a, gt_assumption assumption);

/* Adds an id to a set: `created` or `tasks`. False if memory is refused. */
bool gt_assume_new(gt_map *set, uint64_t id);

/* Whether the set has that id. */
static inline bool gt_is_assumed_new(const gt_map *set, uint64_t id)
{
    return gt_map_get(set, id / 64) >> id % 64 & 1;
}

void gt_assumptions_free(gt_assumptions *a);

#endif
