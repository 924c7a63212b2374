/*
 * events.h - codes of the events of both formats, and fast look-ups into their tables.
 */
#ifndef GT_EVENTS_H
#define GT_EVENTS_H

#include "gotrace.h"

/* One more than the largest code of each format. */
enum { GT_V1_EVENT_COUNT = GOTRACE_V1_CPUSample + 1 };
enum { GT_V2_EVENT_COUNT = GOTRACE_V2_GoroutineStackFree + 1 };

/* No code of either format is larger. */
#define GT_CODES 256

/* Whether that version is one of the v2 format, of those that exist. */
static inline bool gt_is_v2(int version)
{
    return version >= GOTRACE_FIRST_V2;
}

/* For what is called from more than one hot loop, which the compiler would then not inline. */
#define GT_INLINE __attribute__((always_inline)) static inline

/* What a v1 event does, as far as reader and writer have a function for each: its kind, with
 * transitions told apart by the states that their row names. */
typedef enum gt_action {
    GT_ACTION_UNKNOWN = 0, /* no row, or one that combines what no component follows */
    GT_ACTION_NONE,        /* changes nothing: structure, marks */
    GT_ACTION_CREATE,      /* OTHER comes to be */
    GT_ACTION_START,       /* OTHER starts to run on the proc */
    GT_ACTION_STOP,        /* SELF stops running on the proc */
    GT_ACTION_WAKE,        /* SELF makes OTHER runnable */
    GT_ACTION_EXIT,        /* OTHER has left a system call that blocked */
    GT_ACTION_FOUND,       /* OTHER was in that state when tracing started */
    GT_ACTION_SYSCALL,     /* SELF enters a system call, which may block or not */
    GT_ACTION_PROC_START,
    GT_ACTION_PROC_STOP,
    GT_ACTION_RANGE_BEGIN,
    GT_ACTION_RANGE_END,
    GT_ACTION_METRIC,
    GT_ACTION_TASK_BEGIN,
    GT_ACTION_TASK_END,
    GT_ACTION_REGION, /* its mode says whether it begins or ends */
    GT_ACTION_LOG,
    GT_ACTION_SAMPLE,
} gt_action;

/* What a reader of v1 knows of a goroutine. To Go's reader a system call that blocks is a wait, and
 * a goroutine that cannot become runnable again is not there. */
enum { GT_DEAD = 0, GT_RUNNABLE, GT_RUNNING, GT_WAITING };

/* gt_v1_shape.rule, besides the code. */
enum {
    GT_RULE_CODE = 0x3f,
    GT_RULE_GC = 0x40,      /* waits for a GC cycle, not for a goroutine */
    GT_RULE_SYSCALL = 0x80, /* a system call blocks, or one that blocked ends */
};

/* Per version and code: what the hot loops need of a row, worked out once. Arguments are counted
 * from 1, after the time stamp; 0: the event has none of that kind. */
typedef struct gt_v1_shape {
    uint8_t values;  /* values a record has (without frames); 0: no such event in this version */
    uint8_t inlined; /* the first byte's high bits where these values fit inline, else 3 */
    uint8_t flags;   /* GOTRACE_SPEC_* */
    uint8_t slots;   /* arguments between time stamp and stack; those that this version lacks are
                        always the last ones */
    uint8_t plain;   /* a timed event without bytes of its own that is not sorted apart: 1 + what
                        to decode, twice the slots plus one for a stack; else 0 */
    uint8_t rule;    /* the code if the order depends on the goroutine that changes (or GT_RULE_GC),
                        with GT_RULE_SYSCALL; else 0 */
    uint8_t full;    /* the code of the full event where this is a local form, else its own */
    uint8_t local;   /* the code of the event's local form, in whatever version; 0: it has none */
    /* In whose context the event is, and who runs on the proc after it: each the goroutine that
     * runs there, or the event's first argument, or none. Masks, to choose without a branch. */
    uint64_t context_running, context_arg;
    uint64_t after_running, after_arg;
    const gotrace_semantics *does;       /* of the full event */
    uint8_t kind, resource, range;       /* as in gotrace_event, as far as the type alone says */
    uint8_t action;                      /* gt_action */
    uint8_t from, to;                    /* gotrace_state, of the goroutine or proc that changes */
    uint8_t status, next;                /* the same of a goroutine: GT_DEAD ... */
    uint8_t task, parent, string, start; /* arguments: the task, its parent, a string, where a new
                                            goroutine starts */
    bool refers;                         /* string or start is an id of a table */
    bool apart;        /* the order takes it from a list of the index, not from its proc */
    uint8_t unused[2]; /* 64 bytes in all: found by a shift */
} gt_v1_shape;

_Static_assert(sizeof(gt_v1_shape) == 64, "a shape is found by a shift");

/* The shapes of all 64 codes in that version; none of them exists in one of v2. */
void gt_v1_shapes_init(gt_v1_shape shapes[64], int version);

/* The same for v2: a record is its code and so many numbers, then what the flags say. */
typedef struct gt_v2_shape {
    bool exists;    /* this version has such a record */
    uint8_t values; /* numbers of a record, those of its frames and its data's length aside */
    uint8_t flags;  /* GOTRACE_SPEC_* */
    uint8_t refers; /* which arguments behind the time refer to strings or stacks: a bit each */
    uint8_t stacks; /* which of them to stacks */
    uint8_t kind, resource, range; /* as in gotrace_event */
    uint8_t start, reason; /* of a transition: 1 + which argument behind the time is the stack where
                              the goroutine starts, the reason why it stops; 0: none */
    const char *text;      /* a metric's name, or NULL */
} gt_v2_shape;

void gt_v2_shapes_init(gt_v2_shape shapes[GT_CODES], int version);

/* The rule that is broken where a range begins while the last one goes on, or ends and none does.
 */
gotrace_rule gt_range_rule(gotrace_range range, bool begins);

/* gotrace_event_spec_of for a version of v2. */
const gotrace_event_spec *gt_v2_spec(int version, unsigned code);

#endif
