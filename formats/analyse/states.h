/*
 * states.h - the states of goroutines as closed intervals, which all analyses are made from.
 *
 * Go's analyses (internal/trace/summary.go) are the reference. A goroutine that existed before the
 * trace is in its first known state from the beginning of its generation on. One that blocks
 * forever has ended. v1 events are taken as Go 1.27 converts them: the states at the beginning are
 * statuses, a system call that did not block takes 1 ns, and no two events have the same time.
 */
#ifndef ANALYSE_STATES_H
#define ANALYSE_STATES_H

#include <string.h>

#include "formats/analyse/stacks.h"

#define STATES_NEVER INT64_MIN

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
    bool inside;     /* a part of it is in the time range; set when it ends */
    uint8_t place;   /* states_place of its beginning */
} interval;

/* A goroutine. Users of this module may append members, see states_init. */
typedef struct goroutine {
    uint64_t id;
    int64_t created, started; /* started: its first run; STATES_NEVER before it */
    uint32_t function;        /* a name: where it starts; 0: not known */
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

typedef struct states {
    states_user user;
    stacks *stacks;
    idmap goroutines;    /* goroutine and the user's members */
    idmap procs;         /* the goroutine whose system call began there, by proc */
    int64_t from, until; /* the time range, see states_restrict */
    int64_t clock;       /* of the last event */
    int64_t time;        /* the same, within the time range */
    int64_t sync;        /* when the generation began, within the time range */
    int64_t base;        /* v2: add it to a time to get that of Go's reader */
    uint64_t sync_ticks; /* v2: of the sync before the first event, which has its time only so */
    bool begun;          /* an event that is not a sync was processed */
    uint32_t forever;    /* the name of that reason */
    gotrace_event end;   /* v1: the end of a system call that did not block */
    bool v1, beginning;  /* v1: the states at the beginning are still being reported */
    bool failed;         /* memory was refused */
} states;

/* size: of the struct that begins with a goroutine; new ones are zeroed. */
void states_init(states *s, int version, stacks *names, size_t size, const states_user *user);

/* Restricts intervals to from <= time < until (INT64_MIN, INT64_MAX: unrestricted): states.time
 * stands still outside of that range, so that the part of an interval that is outside takes no
 * time. Call it before the first event. */
void states_restrict(states *s, int64_t from, int64_t until);

/* Where the last event is. */
typedef enum states_place { STATES_BEFORE, STATES_INSIDE, STATES_AFTER } states_place;

static inline states_place states_place_of(const states *s)
{
    return s->clock < s->from ? STATES_BEFORE : s->clock < s->until ? STATES_INSIDE : STATES_AFTER;
}

/* Ends the current interval of a goroutine at the current time, and begins another one in the same
 * state. */
void states_divide(states *s, goroutine *g, const gotrace_event *e);

/* Processes an event; call it for each. Afterwards states.time is the event's time. The ticks of
 * events are used until states.begun is set. */
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

/* The stack whose outermost function is where the subject of a transition starts; 0: the event has
 * none. The first one of a goroutine counts; what v1 reports before states_beginning_ends is
 * provisional: it has runtime.main, where stacks begin in main.main. */
static inline uint64_t states_start_stack(const gotrace_event *e)
{
    bool own = e->goroutine == e->subject || (e->flags & GOTRACE_EVENT_INITIAL);
    return e->start_stack ? e->start_stack : own ? e->stack : 0;
}

/* Whether a v1 event is the first one after the states at the beginning. */
static inline bool states_beginning_ends(const gotrace_event *e)
{
    return e->kind == GOTRACE_KIND_METRIC && e->text_size == strlen("GOMAXPROCS");
}

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
