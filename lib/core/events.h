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

/* What an event needs of a goroutine to be ready, see order.c. */
enum {
    GT_FREE = 0,
    GT_CREATE,
    GT_FOUND,
    GT_START,
    GT_START_LOCAL,
    GT_BLOCK,
    GT_YIELD,
    GT_WAKE,
    GT_WAKE_LOCAL,
    GT_GC,
    GT_SYSCALL = 0x80, /* besides: it tells when a blocking system call began or ended */
};

/* Per version and code: what the hot loops need of a row, worked out once. */
typedef struct gt_v1_shape {
    uint8_t values;  /* values a record has (without frames); 0: no such event in this version */
    uint8_t inlined; /* the first byte's high bits where these values fit inline, else 3 */
    uint8_t flags;   /* GOTRACE_SPEC_* */
    uint8_t slots;   /* arguments between time stamp and stack; those that this version lacks are
                        always the last ones */
    uint8_t plain;   /* a timed event without bytes of its own that is not sorted apart: 1 + what
                        to decode, twice the slots plus one for a stack; else 0 */
    uint8_t rule;    /* GT_FREE ... */
    uint8_t full;    /* the code of the full event where this is a local variant, else its own */
    /* In whose context the event is, and who runs on the proc after it: each the goroutine that
     * runs there, or the event's first argument, or none. Masks, to choose without a branch. */
    uint64_t context_running, context_arg;
    uint64_t after_running, after_arg;
    const char *text;              /* the metric's name, or the reason of a transition, or NULL */
    uint8_t kind, resource, range; /* as in gotrace_event, as far as the type alone says */
    uint64_t unused[1];            /* 64 bytes in all: found by a shift */
} gt_v1_shape;

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

/* gotrace_event_spec_of for a version of v2. */
const gotrace_event_spec *gt_v2_spec(int version, unsigned code);

#endif
