/* run.h - state of the pass over a trace; used by the measures alone. */
#ifndef DIAGNOSE_RUN_H
#define DIAGNOSE_RUN_H

#include "formats/analyse/matcher.h"
#include "formats/diagnose/measures.h"

enum { PAST = 8 }; /* states of a goroutine that are remembered */

/* A state that a goroutine had. */
typedef struct past_state {
    int64_t begin, end;
    uint32_t stack;
    uint8_t kind;
} past_state;

typedef struct measured {
    goroutine g;
    int64_t now;         /* the time without silences, when its current state began */
    stage *stage;        /* NULL: not known yet */
    wait_figure *waited; /* the Cond for which it waited last; NULL: none */
    int64_t ran, ready;  /* since then */
    int64_t sweeps;      /* since when; STATES_NEVER: it does not */
    uint64_t tasks;      /* that are open and are its own */
    uint32_t creator;    /* a stack */
    uint32_t log;        /* a name: its last event was a log of what it waits for; else 0 */
    uint32_t waits_for;  /* so it does; 0: not known */
    int64_t since;       /* when its current state began */
    uint8_t counted;     /* the state as which it is in the sums of running and runnable ones */
    uint8_t worker;      /* WORKER_* */
    bool made;           /* it was created in the trace */
    bool assists;
    bool chosen; /* its current state counts as that of a task */
    uint8_t past_at;
    past_state past[PAST]; /* a ring; past_at: the oldest */
} measured;

typedef struct open_task {
    uint64_t goroutine; /* whose it is; 0: not known */
    int64_t begin;
    uint32_t name;
} open_task;

/* A goroutine that blocks forever: it has ended, for states.h. */
typedef struct blocked {
    stage *stage;
    int64_t created;
    uint32_t creator, stack;
} blocked;

typedef struct measuring {
    measures *m;
    states states;
    idmap tasks; /* open_task */
    const char *task;
    matcher function;           /* its pattern: NULL: goroutines of tasks count */
    bool interrupts;            /* Go's runtime interrupts loops, if the program has one: */
    bool of_go;                 /* a goroutine of Go's runtime was seen */
    uint64_t procs;             /* GOMAXPROCS, or how many there are if that is not in the trace */
    bool procs_told;            /* it is GOMAXPROCS */
    uint64_t running, runnable; /* goroutines */
    int64_t settled;            /* the sums are complete until then */
    int64_t waste_begin;        /* STATES_NEVER: no proc is idle that could run a goroutine */
    int64_t waste;              /* since then */
    int64_t last;               /* the event before */
    uint32_t worker_function;
    unsigned stop_depth;
    int64_t stop_begin;
    uint64_t stop_by;
    uint32_t stop_reason;
    uint64_t goal, live;
    bool cycle_ended; /* the next size of the heap is that of what lives */
    blocked *blocked;
    size_t blocked_count, blocked_room;
} pass;

/* The time without silences. */
static inline int64_t now_of(const pass *p)
{
    return p->states.time - p->m->silent_ns;
}

/* What has passed since then: a time that states.h does not have may be a silence. */
static inline int64_t time_since(const pass *p, int64_t begin)
{
    const int64_t ns = now_of(p) - begin;
    return ns > 0 ? ns : 0;
}

static inline measured *find(const pass *p, uint64_t id)
{
    return (measured *)states_goroutine(&p->states, id);
}

/* ---- waits.c ---- */
/* Adds a wait or a system call, which e ended (NULL: the end of the trace); returns what kind it
 * is. */
uint8_t measure_wait(pass *p, measured *g, const interval *i, int64_t ns, const gotrace_event *e);

#endif
