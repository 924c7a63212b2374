/*
 * moments_run.h - the state of a search, which moments.c and moment_states.c share.
 *
 * A search is fast if the reader returns few events, so it is asked only for those that the
 * expression needs, and for states that are long enough (search_least). While reading, what the
 * verdict is already known of is deselected (search_foresee): the transitions of a goroutine whose
 * id or function matches nothing, waits for another reason, and transitions with a stack that
 * matches nothing. The verdict on a goroutine is determined once for each function, and again if an
 * event shows another function. Events that begin and end goroutines are always needed, for the
 * functions in which they start.
 */
#ifndef ANALYSE_MOMENTS_RUN_H
#define ANALYSE_MOMENTS_RUN_H

#include "formats/analyse/search.h"
#include "formats/analyse/states.h"

typedef struct open_region {
    uint32_t name, stack;
    int64_t begin;
} open_region;

typedef struct find_goroutine {
    goroutine g;
    int64_t created;
    int64_t begin;    /* of its state */
    int64_t since;    /* when the last change that was returned took effect, in the time of events;
                         GOTRACE_NO_TIME: before the trace */
    bool known;       /* begin is set */
    bool cut;         /* the state began before the trace */
    bool continues;   /* the next change is none: the state was only reported again */
    uint8_t foreseen; /* how much of it was known for the verdicts: */
    uint8_t verdicts[MOMENT_STATE_COUNT]; /* by kind: the verdict on all its moments, see foresee */
    open_region *regions;
    size_t region_count, region_room;
} find_goroutine;

/* FORESEEN_SO_FAR: with the function that is known after the beginning, or none. The event that
 * shows another one is returned. */
enum { FORESEEN_BY_ID = 1, FORESEEN_SO_FAR, FORESEEN_FINALLY };

typedef struct open_task {
    uint64_t goroutine;
    uint32_t name, function, stack;
    int64_t begin;
} open_task;

/* A stop-the-world, a GC cycle, or a level: active if depth is not 0. */
typedef struct open_moment {
    moment m;
    size_t depth;
} open_moment;

typedef struct find_run {
    find_job *job;
    const expression *what;
    feed feed;
    stacks *stacks;
    search search;
    states states;
    bool all_states;              /* all changes of goroutines are looked at */
    bool no_functions;            /* the trace does not show where goroutines start */
    bool by_goroutine;            /* a goroutine's function or id may decide on its moments */
    matcher_verdicts by_function; /* the verdicts on goroutines that the expression does not name:
                                     see foresee */
    bool needs_stacks;            /* of moments that are states */
    bool needs_reasons;           /* the same */
    int64_t now;                  /* of the event */
    int64_t least[MOMENT_KIND_COUNT]; /* search_least */
    idmap tasks;                      /* open_task */
    idmap alive;                      /* goroutines, if their number is wanted */
    open_moment stop, cycle;
    open_moment *levels; /* by number of a term */
} find_run;

static inline bool wants(const find_run *r, unsigned kinds)
{
    return r->what->kinds & kinds;
}

/* Whether a moment of a state that ends now is too short. */
static inline bool is_short(const find_run *r, uint8_t kind, int64_t begin)
{
    return begin <= r->now && (uint64_t)r->now - (uint64_t)begin < (uint64_t)r->least[kind];
}

static inline find_goroutine *goroutine_of(const find_run *r, uint64_t id)
{
    return (find_goroutine *)states_goroutine(&r->states, id);
}

static inline uint32_t function_of(const find_run *r, uint64_t id)
{
    const find_goroutine *g = goroutine_of(r, id);
    return g ? g->g.function : 0;
}

static inline uint32_t stack_of(find_run *r, const gotrace_event *e)
{
    return stacks_of(r->stacks, e->generation_index, e->stack);
}

/* A time of states.h, which in v1 may be later than that of the event. */
static inline int64_t time_of(const find_run *r, int64_t time)
{
    return time > r->now ? r->now : time;
}

/* Calls goroutines' states: for states_init. */
states_user moment_states_user(find_run *r, void (*ends)(void *ctx, goroutine *g, int64_t time,
                                                         const gotrace_event *e));

/* An event ends a state of a goroutine and begins another one, as most of those that are returned.
 * Returns whether nothing else is to be done for its state: what states_event would do in addition
 * is of no use, and takes longer than to read the event. */
bool moment_states_pass(find_run *r, const gotrace_event *e);

/* Determines which states goroutines are in at the end of the trace. */
void moment_states_end(find_run *r);

#endif
