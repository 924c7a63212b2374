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
    bool whole;      /* its beginning is in the trace */
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
} states_user;

typedef struct states {
    states_user user;
    stacks *stacks;
    idmap goroutines;    /* goroutine and the user's members */
    idmap procs;         /* the goroutine whose system call began there, by proc */
    int64_t time;        /* of the last event */
    int64_t sync;        /* when the generation began */
    int64_t base;        /* v2: add it to a time to get that of Go's reader */
    uint64_t sync_ticks; /* v2: of the sync before the first event, which has its time only so */
    bool begun;          /* an event that is not a sync was processed */
    uint32_t forever;    /* the name of that reason */
    bool v1, beginning;  /* v1: the states at the beginning are still being reported */
    bool failed;         /* memory was refused */
} states;

/* size: of the struct that begins with a goroutine; new ones are zeroed. */
void states_init(states *s, int version, stacks *names, size_t size, const states_user *user);

/* Processes an event; call it for each. Afterwards states.time is the event's time. The ticks of
 * events are used until states.begun is set. */
void states_event(states *s, const gotrace_event *e);

/* The trace has ended: ends all goroutines. */
void states_end(states *s);

void states_free(states *s);

static inline goroutine *states_goroutine(const states *s, uint64_t id)
{
    return id ? idmap_find(&s->goroutines, id) : NULL;
}

static inline bool state_executes(uint8_t state)
{
    return state == GOTRACE_STATE_RUNNING || state == GOTRACE_STATE_SYSCALL;
}

#endif
