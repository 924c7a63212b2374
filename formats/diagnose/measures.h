/*
 * measures.h - what one pass over a trace measures (measure.h), from which findings are made.
 *
 * Times are ns without the silences: while the whole process is stopped, nothing else is measured,
 * so that waits and latencies do not grow by it. Memory depends on live goroutines, and on
 * different start functions and stacks.
 */
#ifndef DIAGNOSE_MEASURES_H
#define DIAGNOSE_MEASURES_H

#include "formats/analyse/doing.h"
#include "formats/analyse/figures.h"

/* The item that has most of a sum, found without storing the others: exact if it has more than
 * half (Boyer and Moore's majority vote). */
typedef struct majority {
    uint32_t item;
    int64_t lead;
} majority;

static inline void majority_add(majority *m, uint32_t item, int64_t weight)
{
    if (m->item == item) {
        m->lead = sum_of_times(m->lead, weight);
    } else if (m->lead >= weight) {
        m->lead -= weight;
    } else {
        m->item = item;
        m->lead = weight - m->lead;
    }
}

/* Waits and system calls for one reason that begin at one stack. */
typedef struct wait_figure {
    uint32_t stack;
    uint8_t kind; /* activity_kind */
    bool sends;   /* to a channel */
    uint64_t count;
    int64_t ns, longest, longest_at;
    int64_t task_ns; /* of goroutines that are in a task */
    uint64_t longest_of;
    /* Of waits for others: what the goroutine that ended the wait did meanwhile, and where. */
    int64_t during[DO_KINDS];
    int64_t same_ns; /* of tasks, ended by goroutines of the same function, as if for a lock */
    majority during_stack;
    uint64_t futile;   /* after so many the goroutine soon waits there again */
    int64_t futile_ns; /* which it ran, or was runnable, in between */
} wait_figure;

/* Parts of the trace, by which goroutines that are alive at its end are counted. */
enum { AGE_PARTS = 8 };

/* The goroutines of one start function. */
typedef struct stage {
    uint32_t function;
    bool seen, system;              /* system: of the runtime */
    bool chosen;                    /* it matches the function that was asked for */
    uint64_t created, ended, alive; /* created: in the trace; alive: at the end */
    uint64_t ages[AGE_PARTS]; /* of these, those that were created in that part of the trace */
    majority creator;         /* a stack, of these */
    majority last_stack;      /* where they waited or stopped running last */
    int64_t ns[DO_KINDS];
    int64_t task_ns[DO_KINDS];
    int64_t alive_ns;
    int64_t caused_ns; /* by which they kept goroutines of other functions from work */
    uint64_t caused;
    majority waiter; /* the function that waited most of caused_ns */
    uint64_t runs;   /* how often they began to run */
} stage;

/* A time without an event. */
typedef struct silence {
    int64_t begin, ns;
    bool due; /* a goroutine ran or could run: the process was stopped */
} silence;

/* Stop-the-worlds, of all reasons but the beginning and end of tracing. */
typedef struct stop_measure {
    uint64_t count, by; /* by: the goroutine that stopped the world for the longest; 0: unknown */
    int64_t ns, longest, longest_at;
    majority reason;
} stop_measure;

/* A goroutine that waits at the end of the trace for another one, see waits_for.h; or that did so
 * when its process ended, in a cycle. */
typedef struct waiter {
    uint64_t goroutine, holder;
    int64_t since, until;
    bool ended;
    uint32_t stack, waits_for; /* waits_for: a name */
} waiter;

typedef struct measures {
    stacks *stacks;
    bool owns_stacks;
    int version;
    uint64_t events;
    int64_t begin, end; /* of the time range, ns since the start of the trace */
    int64_t duration;   /* without silences */
    int64_t procs_ns;   /* of all procs: their number (GOMAXPROCS) times the duration */
    figures stages;     /* stage */
    idmap waits;        /* wait_figure */
    int64_t ns[DO_KINDS], task_ns[DO_KINDS]; /* of all goroutines but the runtime's */
    /* Tasks that began; with a function, goroutines that start at it, whose time is that of tasks
     * (of_function). chosen: only some tasks or functions count. */
    uint64_t tasks;
    bool chosen, of_function;
    majority task;     /* the type, or function, that has most time */
    int64_t silent_ns; /* of those that are due */
    silence *silences;
    size_t silence_count, silence_room;
    /* While goroutines are runnable: */
    int64_t saturated_ns; /* all procs run, times goroutines that are runnable */
    int64_t wasted_ns; /* some do not, for longer than a wake-up takes; times the lesser number */
    /* The garbage collector; sweep_ns: of goroutines that run. */
    int64_t worker_ns, sweep_ns;
    uint64_t cycles;
    uint64_t live_sum, goal_sum, live_count; /* bytes, after each cycle */
    stop_measure stops;
    waiter *waiters; /* in the order of their goroutines */
    size_t waiter_count, waiter_room;
    bool failed; /* memory was refused */
} measures;

#endif
