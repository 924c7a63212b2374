/*
 * states.h - the states of goroutines as closed intervals, which all analyses are made from.
 *
 * Go's analyses (internal/trace/summary.go) are the reference. A goroutine that existed before the
 * trace is in its first known state from the beginning of the trace on, which is the first event,
 * at time 0; Go's begins before it, with the sync of the generation. In a damaged trace a goroutine
 * may be mentioned first in a later generation: it is in that state from its beginning on. One that
 * blocks forever has ended. v1 events are taken as Go 1.27 converts them: the states at the
 * beginning are statuses, a system call that did not block takes 1 ns, and no two events have the
 * same time.
 */
#ifndef ANALYSE_STATES_H
#define ANALYSE_STATES_H

#include <string.h>

#include "formats/analyse/stacks.h"
#include "formats/common/functions.h"

#define STATES_NEVER INT64_MIN
/* Times are at most this (146 years), so that differences can be represented. */
#define STATES_LATEST (INT64_MAX / 2)

/* Events are that far apart only if nothing runs, or if the process itself does not: what runs is
 * preempted after 10 ms, and the thread that does this wakes at least as often. */
enum { SILENCE_NS = 20000000 };

/* The time from one change of state to the next. */
typedef struct interval {
    int64_t begin, end;
    int64_t lost;    /* of a system call: when the goroutine lost its proc; end: it did not */
    uint64_t cause;  /* the goroutine that caused it; 0: none. Runnable: who made it so */
    uint32_t reason; /* a name: why the goroutine waits or stopped running; 0: unknown */
    uint32_t stack;  /* of the event that began it */
    uint8_t state;   /* gotrace_state */
    uint8_t next;    /* the state after it; UNDETERMINED: the trace ends */
    bool whole;      /* its beginning is in the trace and in the time range */
    uint8_t place;   /* states_place of its beginning */
} interval;

/* A goroutine. Users of this module may append members, see states_init. */
typedef struct goroutine {
    uint64_t id;
    int64_t created, started; /* started: its first run; STATES_NEVER before it */
    uint32_t function;        /* a name: where it starts; 0: not known */
    uint32_t label;           /* a name: its own one (labels.h); 0: none */
    interval current;         /* end and next are not set */
    bool named;               /* function is final: from a stack of the goroutine itself */
    int64_t syscall_proc;     /* on which its system call began, or GOTRACE_NO_PROC */
} goroutine;

typedef struct states_user {
    void *ctx;
    void (*begins)(void *ctx, goroutine *g, const gotrace_event *e);
    /* Before g changes to its next state. */
    void (*interval)(void *ctx, goroutine *g, const interval *i, const gotrace_event *e);
    /* e: what ended it; NULL: the end of the trace. */
    void (*ends)(void *ctx, goroutine *g, int64_t time, const gotrace_event *e);
    /* A state of g began, which is in g->current; not the end of its existence. NULL: not called.
     */
    void (*changed)(void *ctx, goroutine *g, const gotrace_event *e);
} states_user;

/* Where an event is, relative to the time range. */
typedef enum states_place { STATES_BEFORE, STATES_INSIDE, STATES_AFTER } states_place;

typedef struct states {
    states_user user;
    stacks *stacks;
    idmap goroutines;    /* goroutine and the user's members */
    idmap procs;         /* the goroutine whose system call began there, by proc */
    idmap *labels;       /* uint32_t: labels by goroutine, also of those that ended; NULL: none */
    int64_t from, until; /* the time range, see states_restrict */
    int64_t clock;       /* of the last event */
    int64_t time;        /* the same, within the time range */
    states_place place;  /* of the last event */
    int64_t limit;       /* an event that is later, and before this, is in the time range too */
    int64_t sync;        /* when the generation began, within the time range; of the first one: 0 */
    int64_t base;        /* v2: add it to a time to get that of Go's reader */
    bool begun;          /* an event that is not a sync was processed */
    uint32_t forever;    /* the name of that reason */
    gotrace_event end;   /* v1: the end of a system call that did not block */
    bool v1, beginning;  /* v1: the states at the beginning are still being reported */
    bool usual;          /* begun, and not the beginning */
    bool failed;         /* memory was refused */
} states;

/* size: of the struct that begins with a goroutine; new ones are zeroed. */
void states_init(states *s, int version, stacks *names, size_t size, const states_user *user);

/* Restricts intervals to from <= time < until (INT64_MIN, INT64_MAX: unrestricted): states.time
 * stands still outside of that range, so that the part of an interval that is outside takes no
 * time. Call it before the first event. */
void states_restrict(states *s, int64_t from, int64_t until);

static inline states_place states_place_of(const states *s)
{
    return s->place;
}

/* Ends the current interval of a goroutine at the current time, and begins another one in the same
 * state. */
void states_divide(states *s, goroutine *g, const gotrace_event *e);

/* Processes an event; call it for each. Afterwards states.time is the event's time. */
void states_event(states *s, const gotrace_event *e);

/* The name of the reason of a stop-the-world. Before 1.21 the trace has those of the GC without
 * "GC" in front. */
uint32_t states_stop_reason(states *s, const char *reason);

/* The trace has ended: ends all goroutines. */
void states_end(states *s);

void states_free(states *s);

/* A time as Go's reader gives it, which wraps around. */
static inline int64_t states_go_time(int64_t base, int64_t time)
{
    return (int64_t)((uint64_t)base + (uint64_t)time);
}

static inline goroutine *states_goroutine(const states *s, uint64_t id)
{
    return id ? idmap_find(&s->goroutines, id) : NULL;
}

/* The label of a goroutine in states.labels; 0: none. */
static inline uint32_t states_label_in(const idmap *labels, uint64_t id)
{
    const uint32_t *label = id ? idmap_find(labels, id) : NULL;
    return label ? *label : 0;
}

/* ---- what states_event does with most events, to be inlined -----------------------------------
 */

/* states_advance for any event. */
void states_advance_any(states *s, int64_t time);

/* Sets the time of an event. */
static inline void states_advance(states *s, int64_t time)
{
    if (time > s->clock && time < s->limit)
        s->clock = s->time = time;
    else
        states_advance_any(s, time);
}

/* Whether a part of an interval that has ended is in the time range. */
static inline bool interval_is_inside(const interval *i)
{
    return i->place == STATES_INSIDE || (i->place == STATES_BEFORE && i->end > i->begin);
}

void states_enter_syscall(states *s, goroutine *g, int64_t proc);
void states_leave_syscall(states *s, goroutine *g);
void states_end_goroutine(states *s, goroutine *g, const gotrace_event *e);
void states_find_function(states *s, goroutine *g, const gotrace_event *e);

typedef void states_interval_fn(void *ctx, goroutine *g, const interval *i, const gotrace_event *e);
typedef void states_changed_fn(void *ctx, goroutine *g, const gotrace_event *e);

/* Ends the current interval, and reports it. */
static inline void states_close(states *s, goroutine *g, uint8_t next, const gotrace_event *e,
                                states_interval_fn *report)
{
    interval *i = &g->current;
    i->end = s->time;
    i->next = next;
    report(s->user.ctx, g, i, e);
}

/* Begins an interval. known: its beginning is in the trace. */
static inline void states_open(states *s, goroutine *g, uint8_t state, bool known,
                               const gotrace_event *e)
{
    interval *i = &g->current;
    i->begin = s->time;
    i->lost = 0;
    i->cause = e->goroutine;
    i->reason = stacks_reason(s->stacks, gotrace_event_reason(e));
    i->stack = stacks_of(s->stacks, e->stack);
    i->state = state;
    i->place = (uint8_t)s->place;
    i->whole = known && s->place == STATES_INSIDE;
    if (state == GOTRACE_STATE_RUNNING && g->started == STATES_NEVER)
        g->started = s->time;
}

/* A goroutine whose states are known as usual, or NULL. */
static inline goroutine *states_usual(const states *s, uint64_t id)
{
    goroutine *g = s->usual ? idmap_find(&s->goroutines, id) : NULL;
    return g && g->current.state != GOTRACE_STATE_UNDETERMINED ? g : NULL;
}

/* The goroutine does not begin or end to exist. */
static inline void states_change(states *s, goroutine *g, const gotrace_event *e,
                                 states_interval_fn *report, states_changed_fn *changed)
{
    states_advance(s, e->time);
    if (g->current.state == GOTRACE_STATE_SYSCALL)
        states_leave_syscall(s, g);
    states_close(s, g, e->to, e, report);
    if (!g->named && start_stack_of(e, e->subject) != 0)
        states_find_function(s, g, e);
    states_open(s, g, e->to, true, e);
    if (e->to == GOTRACE_STATE_SYSCALL)
        states_enter_syscall(s, g, e->proc);
    if (changed)
        changed(s->user.ctx, g, e);
    if (e->to == GOTRACE_STATE_WAITING && g->current.reason == s->forever)
        states_end_goroutine(s, g, e);
}

/* states_event for a user with these functions; changed: NULL if it usually has none. Returns
 * whether the event only changes a goroutine's state. To be expanded once, so that the functions
 * are inlined: most events are such changes. */
static inline __attribute__((always_inline)) bool states_step(states *s, const gotrace_event *e,
                                                              states_interval_fn *report,
                                                              states_changed_fn *changed)
{
    const bool transition = e->kind == GOTRACE_KIND_TRANSITION &&
                            e->resource == GOTRACE_RESOURCE_GOROUTINE &&
                            e->given != GOTRACE_GIVEN_DETAILS && e->from != e->to &&
                            e->from > GOTRACE_STATE_NOT_EXIST && e->to > GOTRACE_STATE_NOT_EXIST;
    goroutine *g = transition ? states_usual(s, e->subject) : NULL;
    if (!g || s->user.changed != changed)
        states_event(s, e);
    else
        states_change(s, g, e, report, changed);
    return transition;
}

/* ---- what events are --------------------------------------------------------------------------
 */

/* Whether a v1 event is the first one after the states at the beginning. */
static inline bool states_beginning_ends(const gotrace_event *e)
{
    return gotrace_event_metric(e) == GOTRACE_METRIC_GOMAXPROCS;
}

/* A larger heap goal means that there is none (GOGC=off). */
#define NO_HEAP_GOAL ((uint64_t)1 << 50)

/* Whether a goroutine that waits for this reason waits for another one (cmd/trace/pprof.go). */
static inline bool reason_is_sync(const stacks *names, uint32_t reason)
{
    return stacks_name_has(names, reason, "chan") || stacks_name_has(names, reason, "sync") ||
           stacks_name_has(names, reason, "select");
}

static inline bool state_executes(uint8_t state)
{
    return state == GOTRACE_STATE_RUNNING || state == GOTRACE_STATE_SYSCALL;
}

#endif
