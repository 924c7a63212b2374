/*
 * state.h - tracks goroutines, procs, the GC, tasks and regions, and checks the rules.
 *
 * The rules are those of Go's reader. An event that breaks one is accepted as recorded, so that one
 * fault is reported once. Source: Go 1.21, internal/trace/parser.go, postProcessTrace.
 */
#ifndef GT_STATE_H
#define GT_STATE_H

#include "core/times.h"
#include "read/v1/order.h"

/* The effect of an event, for model.c. */
typedef struct gt_effect {
    gt_goroutine *goroutine; /* the one that changed; NULL: none */
    uint8_t from, to;        /* gotrace_state, for transitions only */
    uint8_t flags;           /* GOTRACE_EVENT_INITIAL, _SUSPECT, _NO_BEGIN, _TIMER and _NETWORK */
    uint64_t cause;          /* of a run: offset of the event that made it possible; else 0 */
    uint64_t ended_name;     /* UserTaskEnd: the task's name, a string id */
} gt_effect;

typedef struct gt_proc_state {
    uint64_t goroutine;    /* runs there, 0: none, gt_states.unknown: not known */
    gt_goroutine *running; /* the same; check that it still has that id */
    int64_t id, thread;
    int32_t shown_id;                       /* the id as events have it */
    uint8_t shown;                          /* gotrace_state */
    uint8_t is_running, sweeping, stopping; /* or GT_UNKNOWN */
    uint64_t unused[3]; /* pads to a power of two, so that the index is a shift */
} gt_proc_state;

/* The event being handled. Only one exists, as a part of the states: a new one on the stack for
 * each event would cost more than the rest of the work. */
typedef struct gt_step {
    gotrace_reader *reader;
    gt_states *states;
    const gt_event *e;
    gt_effect *effect;
    gt_goroutine *g;
    gt_proc_state *p;
} gt_step;

struct gt_states {
    gt_step current;
    gt_goroutines *goroutines;
    gt_proc_state *procs; /* by index; the last one is for events without a proc */
    size_t count;
    gt_map tasks;            /* open tasks; value: id of the name + 1 */
    gt_map missing;          /* missing ids of tables: 1 string, 2 stack, 3 both */
    uint8_t gc, stw;         /* or GT_UNKNOWN */
    bool started;            /* the initial state is complete */
    uint64_t unknown;        /* a goroutine that does not exist */
    gt_assumptions *assumed; /* the state before this piece is not known; NULL: it is known */
};

/* Converts ticks to nanoseconds since the first event, as Go's reader does. */
static inline int64_t gt_time_of(const gotrace_reader *reader, int64_t ticks)
{
    return gt_time((double)gt_time_between(reader->first_ticks, ticks) * reader->ns_per_tick);
}

gt_states *gt_states_new(gotrace_reader *reader, gt_goroutines *goroutines);

/* Forgets the initial state, and records what is assumed about it. */
void gt_states_assume(gt_states *states, gt_assumptions *assumed);

/* Whether a region has that task and name, as at the end of a region. */
bool gt_region_fits(const gotrace_reader *reader, const gt_region *region, uint64_t task,
                    uint64_t name);

/* Handles an event. False if reading cannot continue. */
bool gt_states_step(gotrace_reader *reader, gt_states *states, const gt_event *event,
                    gt_effect *effect);

/* The proc of an event. */
static inline gt_proc_state *gt_states_proc(const gt_states *states, const gt_event *e)
{
    return &states->procs[e->proc < states->count ? e->proc : states->count - 1];
}

void gt_states_free(gotrace_reader *reader, gt_states *states);

#endif
