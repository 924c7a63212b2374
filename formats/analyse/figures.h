/*
 * figures.h - the figures of one or more traces, which statistics.h computes.
 *
 * The definitions are those of Go's internal/trace/summary.go and gc.go. Memory depends on live
 * goroutines, open tasks and regions, and the number of different names and stacks.
 */
#ifndef ANALYSE_FIGURES_H
#define ANALYSE_FIGURES_H

#include "formats/analyse/columns.h"
#include "formats/analyse/histogram.h"
#include "formats/analyse/profile.h"
#include "formats/analyse/selection.h"
#include "formats/analyse/states.h"
#include "formats/analyse/utilization.h"

/* ---- times of a goroutine ---------------------------------------------------------------------
 */

/* The time that a goroutine waited for one reason, or spent in one range. */
typedef struct part {
    uint32_t name;
    bool is_range; /* ranges overlap with the other times */
    int64_t ns;
    int64_t since; /* of a range: when it began; STATES_NEVER: it is not active */
} part;

/* They do not overlap, and add up to the total; ranges aside. */
typedef struct times {
    int64_t ns[TIME_RECORDED]; /* by TIME_* */
    part *parts;
    size_t count, room;
} times;

/* The time that is accounted for, of their total. */
int64_t times_known(const times *t);
/* The time TIME_* of them. TIME_UNKNOWN: of the total, what nothing else accounts for. */
int64_t times_of(const times *t, unsigned time);

typedef struct region {
    uint32_t name;
    uint32_t stack; /* of its beginning */
    uint64_t task;
    int64_t begin;  /* STATES_NEVER: before the trace */
    bool inherited; /* not a region: it has the task of that in which the goroutine was created */
    bool counted;   /* its beginning is selected */
    times before;   /* of the goroutine when it began; afterwards its own */
} region;

/* PROC_ASSIST: it runs a goroutine that is in a mark assist. */
enum { PROC_IDLE, PROC_SCHEDULER, PROC_RUNS, PROC_GC, PROC_ASSIST, PROC_SYSCALL, PROC_STATES };
extern const char *const proc_state_names[PROC_STATES];

/* The time that all procs spent in each state until t is since + busy * t, modulo 2^64. */
typedef struct procs_time {
    uint64_t since[PROC_STATES];
    uint32_t busy[PROC_STATES]; /* procs that are in the state */
} procs_time;

/* Why a goroutine becomes runnable: it was created, what it waited for occurred, it stopped running
 * without a wait, its system call returned and found no proc. */
enum { CAUSE_CREATED, CAUSE_WAITED, CAUSE_STOPPED, CAUSE_SYSCALL, CAUSES };
extern const char *const cause_names[CAUSES];  /* "created", ... */
extern const char *const cause_labels[CAUSES]; /* for people; the reason follows, if there is one */

enum { WORKER_NONE, WORKER_DEDICATED, WORKER_FRACTIONAL, WORKER_IDLE, WORKER_KINDS };
extern const char *const worker_labels[WORKER_KINDS]; /* "GC (dedicated)", ... */
/* The kind of worker that an event's label makes its goroutine. */
uint8_t worker_of_label(const gotrace_event *e);

typedef struct stat_goroutine {
    goroutine g;
    times times;
    region *regions; /* that are open */
    size_t region_count, region_room;
    interval before;  /* a wait or system call until the first status of it; empty: none */
    bool counted;     /* one of them is */
    bool made;        /* it was created in the trace and in the time range */
    bool there;       /* its current one began on a selected proc and thread, and generation */
    uint8_t worker;   /* of the GC, by its label */
    bool assists;     /* it is in a mark assist */
    bool counts;      /* it makes its proc work for the GC */
    bool marks;       /* it had a worker's label: its execution counts in Go's utilization */
    bool early_state; /* it had a state before the number of procs was known */
    uint8_t cause;    /* of becoming runnable: CAUSE_* */
    uint32_t waited;  /* CAUSE_WAITED: for that reason */
    value_set early;  /* latencies until its function is known */
    procs_time procs; /* when it became runnable */
} stat_goroutine;

/* ---- figures ----------------------------------------------------------------------------------
 */

enum { WORST = 10, SLOWEST = 3, LOAD_SPANS = 60 };

enum { FIGURE_TIME, FIGURE_BLOCK, FIGURE_RANGE };

typedef struct function_figure {
    uint32_t name;
    uint16_t time_count, time_room;
    uint64_t count;          /* goroutines */
    uint64_t created, ended; /* of these, in the trace and in the time range */
    /* Of each quantity the values of the goroutines that have it, in the order in which they
     * occurred. kind: FIGURE_*; name: of a time TIME_*, of which values that are 0 are not here. */
    value_set *times;
    value_set latency; /* from runnable to running */
} function_figure;

/* The values of TIME_* (not TIME_BLOCK and TIME_RANGE, which are there by reason); an empty
 * histogram if there are none. It is the figure's. */
histogram figure_time(const function_figure *f, uint32_t time);
/* The sum of TIME_* of all goroutines. */
int64_t figure_sum(const function_figure *f, uint32_t time);

/* A time that took long, and whose it was. */
typedef struct slow {
    int64_t ns, begin;
    uint64_t id;       /* of a goroutine or a task */
    uint64_t cause;    /* the goroutine that caused it; 0: none */
    uint32_t function; /* of the goroutine */
    uint32_t label;    /* of the goroutine of a delay */
    uint32_t stack;    /* where it began */
    uint32_t trace;    /* index of the trace */
} slow;

/* From runnable to running, and how long the procs were in each state meanwhile. */
typedef struct delay {
    slow slow;
    int64_t procs_ns[PROC_STATES];
} delay;

/* Latencies after one cause of becoming runnable. */
typedef struct latency_figure {
    uint32_t reason; /* CAUSE_WAITED: of the wait; CAUSE_STOPPED: why it stopped */
    histogram values;
} latency_figure;

/* The time in one state for one reason. */
typedef struct reason_figure {
    uint8_t state;
    uint32_t reason;
    histogram values;
} reason_figure;

/* The time in one state for one reason from one stack. */
typedef struct stack_figure {
    uint32_t reason; /* index of the reason_figure */
    uint32_t stack;
    uint32_t next; /* index + 1 of the next one of the stack */
    uint64_t count;
    int64_t sum, max;
} stack_figure;

/* The stack_figure that was used last of those with a hash. */
typedef struct recent_wait {
    uint32_t stack, reason, figure; /* figure: index + 1; 0: none */
    uint8_t state;
} recent_wait;

enum { STAT_RECENT = 256 };

/* Tasks or regions of one name. */
typedef struct span_figure {
    uint32_t name;
    uint64_t begun, unfinished; /* of those begun */
    histogram values;           /* of those that ended */
    slow slowest[SLOWEST];
    size_t slow_count;
} span_figure;

/* A stop-the-world, and the goroutine that stopped last. */
typedef struct stop {
    int64_t begin, ns;
    uint64_t by;    /* the goroutine that stopped the world; 0: unknown */
    int64_t waited; /* until the last goroutine stopped */
    uint64_t last;  /* 0: none ran */
    uint32_t last_function, last_stack;
    uint32_t trace;
} stop;

/* Ranges that did not both begin and end in the trace and in the time range, and the time of their
 * parts there. */
typedef struct partial_figure {
    uint64_t count;
    int64_t ns;
} partial_figure;

typedef struct stop_figure {
    uint32_t reason;
    histogram values;
    stop longest;
    partial_figure partial; /* not in values */
} stop_figure;

/* The times without an event, longer than SILENCE_NS. */
typedef struct silence_figure {
    uint64_t count;
    int64_t sum, max, max_begin;
} silence_figure;

/* The heap, in bytes. */
typedef struct heap_figure {
    bool known;
    uint64_t max, last, goal; /* goal: the last one; 0: none */
} heap_figure;

/* What procs do, over time: spans of equal length, which double when the trace exceeds them. */
typedef struct load {
    unsigned shift; /* a span has 2^shift ns */
    int64_t spans[2 * LOAD_SPANS][PROC_STATES];
    int64_t sums[PROC_STATES];
} load;

/* What one proc did. */
typedef struct proc_figure {
    uint64_t id;
    int64_t ns[PROC_STATES];
} proc_figure;

/* Kinds of utilization; sweeping counts as work of the GC if bit 0 is set; with the faults of Go's
 * if bit 1 is set. */
enum { UTILIZATION_SWEEP = 1, UTILIZATION_AS_GO = 2, UTILIZATION_KINDS = 4 };

typedef struct trace_figure {
    char *name;
    int version;
    int64_t duration;
    uint64_t events, goroutines;
    silence_figure silences;
    heap_figure heap;
    load load;
    proc_figure *procs; /* by id */
    size_t proc_count;
    uint64_t cycles; /* of the GC, that began and ended */
    int64_t cycle_ns, longest_cycle;
    partial_figure partial_cycles;
    int64_t worker_ns[WORKER_KINDS];
    int64_t assist_ns, sweep_ns; /* of all goroutines, waits included */
    /* By UTILIZATION_*: whether utilization is known, the least share, and where its window
     * begins. */
    bool utilized[UTILIZATION_KINDS];
    double least[UTILIZATION_KINDS][UTILIZATION_WINDOWS];
    int64_t least_at[UTILIZATION_KINDS][UTILIZATION_WINDOWS];
} trace_figure;

/* A task that ended, or that is open at the end of the trace. */
typedef struct stat_task {
    uint64_t id, parent, goroutine; /* that began it; 0: unknown */
    uint64_t logs, regions;
    uint32_t name, stack;
    int64_t begin, ended; /* STATES_NEVER: not in the trace */
} stat_task;

/* Called for each goroutine, region and task that ends. base: to be added to times, for those of
 * Go's reader. */
typedef struct statistics_each {
    void *ctx;
    bool in_order; /* rows are written where they are between the problems of the trace */
    void (*goroutine)(void *ctx, const stacks *names, const stat_goroutine *g, int64_t base,
                      int64_t ended);
    void (*region)(void *ctx, const stacks *names, const stat_goroutine *g, const region *r,
                   int64_t base, int64_t ended);
    void (*task)(void *ctx, const stacks *names, const stat_task *task, int64_t base);
} statistics_each;

/* An event, after it was processed. */
typedef struct watched_event {
    const gotrace_event *e;
    int64_t time; /* within the time range */
    states_place place;
    bool selected;
} watched_event;

/* Called during the pass: for each closed interval that is selected, with the event that ended it
 * (NULL: the end of the trace), and for each event of some kinds; the stacks are those of the
 * statistics. event returns false to end the pass. */
typedef struct statistics_watch {
    void *ctx;
    void (*interval)(void *ctx, const goroutine *g, const interval *i, const gotrace_event *e);
    bool (*event)(void *ctx, const watched_event *w);
    uint32_t kinds;     /* of events for which it is called: 1 << gotrace_kind */
    bool rows_only;     /* no latency, and no figures of functions, reasons and stacks */
    profiles *profiles; /* to be made of the intervals; NULL: none */
} statistics_watch;

/* A list of figures, found by a name. */
typedef struct figures {
    void **items;
    size_t count, room;
    uint32_t *by_name; /* index + 1 */
    size_t names;
} figures;

typedef struct statistics {
    stacks *stacks;
    const statistics_each *each;   /* NULL: none */
    const statistics_watch *watch; /* NULL: none; set before statistics_add */
    trace_figure *traces;
    size_t trace_count, trace_room;
    figures functions, tasks, regions, stops; /* function_figure, span_figure, stop_figure */
    histogram latency;                        /* from runnable to running, after all causes */
    figures causes[CAUSES];                   /* latency_figure, by reason */
    delay worst[WORST];
    size_t worst_count;
    reason_figure *reasons;
    size_t reason_count, reason_room;
    stack_figure *by_stack;
    size_t by_stack_count, by_stack_room;
    uint32_t *of_stack; /* index + 1 in by_stack of the first one, by stack */
    size_t of_stack_room;
    recent_wait recent[STAT_RECENT];
    uint64_t *samples; /* CPU samples, by stack */
    size_t sample_room;
    uint64_t sample_count;
    bool several; /* traces, so that lost ids are those of one of them; set before statistics_add */
    bool no_system; /* goroutines of the runtime do not count, once it is known that they are; set
                       before statistics_add */
    bool failed;    /* memory was refused */
} statistics;

/* Returns NULL if memory is refused. */
statistics *statistics_new(const statistics_each *each, stacks_detail detail);
void statistics_free(statistics *s);

/* free_item: frees what an item refers to; NULL: nothing. */
void figures_free(figures *f, void (*free_item)(void *item));

/* stat_figure of a new name. */
void *stat_make_figure(figures *f, uint32_t name, size_t size);

/* The figure of that name, which is made if it is new: zeroed except for its first member, the
 * name; NULL if memory is refused. */
static inline void *stat_figure(figures *f, uint32_t name, size_t size)
{
    if (name < f->names && f->by_name[name])
        return f->items[f->by_name[name] - 1];
    return stat_make_figure(f, name, size);
}

#endif
