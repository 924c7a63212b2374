/*
 * events.h - event codes of both formats, and fast look-ups in their tables.
 */
#ifndef GT_EVENTS_H
#define GT_EVENTS_H

#include "gotrace_experimental.h"

/* One more than the largest code of each format. */
enum { GT_V1_EVENT_COUNT = GOTRACE_V1_CPUSample + 1 };
enum { GT_V2_EVENT_COUNT = GOTRACE_V2_GoroutineStackFree + 1 };

/* The versions of v1 that differ in more than events and their arguments. */
enum {
    GT_FIRST_NUMBERED = 7,    /* each goroutine has numbers of its own; before, all events have */
    GT_FIRST_STW_KIND = 10,   /* one stop-the-world at a time, of two kinds */
    GT_GCCGO = 11,            /* what gccgo writes */
    GT_FIRST_STW_REASON = 21, /* the kind is one of many reasons */
};

/* Event codes of both formats are below this. */
#define GT_CODES 256

/* Whether an existing version has the v2 format. */
static inline bool gt_is_v2(int version)
{
    return version >= GOTRACE_FIRST_V2;
}

/* For functions called from several hot loops, which the compiler would not inline by itself. */
#define GT_INLINE __attribute__((always_inline)) static inline

/* The action of a v1 event in reader and writer: the row's kind, with transitions distinguished by
 * their states. */
typedef enum gt_action {
    GT_ACTION_UNKNOWN = 0, /* no row, or an unsupported combination */
    GT_ACTION_NONE,        /* no effect: structure, marks */
    GT_ACTION_CREATE,      /* OTHER is created */
    GT_ACTION_START,       /* OTHER starts to run on the proc */
    GT_ACTION_STOP,        /* SELF stops running on the proc */
    GT_ACTION_WAKE,        /* SELF makes OTHER runnable */
    GT_ACTION_EXIT,        /* OTHER left a system call that blocked */
    GT_ACTION_FOUND,       /* OTHER was in that state when tracing started */
    GT_ACTION_SYSCALL,     /* SELF enters a system call, which may block */
    GT_ACTION_PROC_START,
    GT_ACTION_PROC_STOP,
    GT_ACTION_RANGE_BEGIN,
    GT_ACTION_RANGE_END,
    GT_ACTION_METRIC,
    GT_ACTION_TASK_BEGIN,
    GT_ACTION_TASK_END,
    GT_ACTION_REGION, /* begins or ends, depending on its mode */
    GT_ACTION_LOG,
    GT_ACTION_SAMPLE,
} gt_action;

/* Status of a goroutine in the v1 reader, as in Go's reader: a blocking system call is a wait, and
 * a goroutine that cannot become runnable again is dead. */
enum { GT_DEAD = 0, GT_RUNNABLE, GT_RUNNING, GT_WAITING };

/* gt_v1_shape.rule, in addition to the code. */
enum {
    GT_RULE_CODE = 0x3f,
    GT_RULE_GC = 0x40,      /* waits for a GC cycle, not for a goroutine */
    GT_RULE_SYSCALL = 0x80, /* a system call blocks, or a blocked one ends */
};

/* The properties of a row that hot loops need, precomputed per version and code. Argument positions
 * count from 1, after the timestamp; 0: the event has no such argument. */
typedef struct gt_v1_shape {
    uint8_t values;  /* number of values (without frames); 0: no such event in this version */
    uint8_t inlined; /* high bits of the first byte if these values fit inline, else 3 */
    uint8_t flags;   /* GOTRACE_SPEC_* */
    uint8_t slots;   /* arguments between timestamp and stack; missing ones last */
    uint8_t plain;   /* for a timed event without data that is not sorted separately: 1 + twice the
                        slots + one if it has a stack; else 0 */
    uint8_t rule;   /* if the order depends on the goroutine that changes: the code (or GT_RULE_GC),
                       with GT_RULE_SYSCALL; else 0 */
    uint8_t local;  /* code of the event's local form in any version; 0: none */
    uint8_t action; /* gt_action */
    /* The goroutine in whose context the event is, and the one that runs on the proc after it. Each
     * is the running goroutine, the first argument, or none; masks avoid branches. */
    uint64_t context_running, context_arg;
    uint64_t after_running, after_arg;
    const gotrace_semantics *does; /* of the full event */
    /* The members type to given of a gotrace_event, as far as they follow from the type; a gt_head
     * when loaded at once. */
    uint8_t full; /* code of the full event if this is a local form, else its own */
    uint8_t kind, resource;
    uint8_t from, to; /* gotrace_state of the goroutine or proc that changes */
    uint8_t range;
    uint8_t event_flags; /* GOTRACE_EVENT_INITIAL */
    uint8_t given;
    uint8_t status, next;                /* from and to of a goroutine as GT_DEAD ... */
    uint8_t task, parent, string, start; /* positions; start: of a new goroutine */
    bool refers : 1;                     /* string or start is an id of a table */
    bool sorted_separately : 1;          /* ordered by a list of the index, not by its proc */
    bool detailed : 1; /* its gotrace_event has more of its arguments than a start stack */
    uint8_t unused;    /* pads to 64 bytes, so that the index is a shift */
} gt_v1_shape;

_Static_assert(sizeof(gt_v1_shape) == 64, "a shape is found by a shift");

/* Computes the shapes of all 64 codes for that version; for a v2 version none exists. */
void gt_v1_shapes_init(gt_v1_shape shapes[64], int version);

/* The same for v2: a record is its code and a number of values; flags determine what follows. */
typedef struct gt_v2_shape {
    bool exists;    /* this version has such a record */
    uint8_t values; /* number of values, without frames and data length */
    uint8_t flags;  /* GOTRACE_SPEC_* */
    uint8_t refers; /* bit set of arguments (after the time) that refer to strings or stacks */
    uint8_t stacks; /* bit set of those that refer to stacks */
    uint8_t kind, resource, range; /* as in gotrace_event */
    uint8_t start;  /* of a transition: 1 + position (after the time) of the stack where the
                       goroutine  starts; 0: none */
    uint8_t args;   /* gotrace_event.arg_count: without the time and the stack */
    uint64_t head;  /* type, kind, resource and range of an event: see head.h */
    uint8_t metric; /* as in gotrace_semantics */
} gt_v2_shape;

void gt_v2_shapes_init(gt_v2_shape shapes[GT_CODES], int version);

/* gotrace_event_spec_of for a version of that format. */
const gotrace_event_spec *gt_v1_spec(int version, unsigned code);
const gotrace_event_spec *gt_v2_spec(int version, unsigned code);

#endif
