/*
 * diagnosis.h - what is wrong with a program, by what one pass over its trace measures.
 *
 * A finding names one cause and the share of the time that it costs. Where the trace has tasks,
 * that is their time: what the goroutines that work on them do. Else it is the time that goroutines
 * run, could run, or are kept from it. Findings are in the order of their shares; those below the
 * share that diagnosis.c names for each cause are not reported.
 */
#ifndef DIAGNOSE_DIAGNOSIS_H
#define DIAGNOSE_DIAGNOSIS_H

#include "formats/diagnose/deadlock.h"

/* Each cause with its id and a title. */
#define FINDING_CAUSES(X)                                                                          \
    X(DEADLOCK, "lock.deadlock", "goroutines wait for each other")                                 \
    X(LOCK, "lock.contended", "goroutines wait for a lock")                                        \
    X(CHANNEL, "channel.bottleneck", "a stage is the bottleneck")                                  \
    X(CPU, "cpu.saturated", "there are fewer procs than goroutines that could run")                \
    X(IDLE, "procs.idle", "procs are idle while goroutines could run")                             \
    X(FROZEN, "process.frozen", "the whole process stands still")                                  \
    X(GC_CPU, "gc.cpu", "the garbage collector takes the procs")                                   \
    X(GC_ASSIST, "gc.assist", "goroutines assist the garbage collector")                           \
    X(STOP, "stop.long", "the world is stopped")                                                   \
    X(SYSCALL, "syscall.blocking", "goroutines are in long system calls")                          \
    X(NETWORK, "network.wait", "goroutines wait for the network")                                  \
    X(TIMER, "timer.wait", "goroutines sleep")                                                     \
    X(LEAK, "goroutine.leak", "goroutines never end")                                              \
    X(CHURN, "goroutine.churn", "goroutines have very little to do")                               \
    X(STORM, "wake.storm", "goroutines are woken in vain")                                         \
    X(LIMITS, "trace.limits", "the trace is too short")

typedef enum finding_cause {
#define FINDING_NUMBER(name, id, title) FINDING_##name,
    FINDING_CAUSES(FINDING_NUMBER) FINDING_CAUSE_COUNT
#undef FINDING_NUMBER
} finding_cause;

extern const char *const finding_ids[FINDING_CAUSE_COUNT];
extern const char *const finding_titles[FINDING_CAUSE_COUNT];
/* The share from which on it is reported. */
extern const double finding_least_shares[FINDING_CAUSE_COUNT];

/* What a share is of. */
typedef enum finding_base {
    OF_TASKS,      /* the time of tasks */
    OF_CHOSEN,     /* the time of goroutines of the function that was asked for */
    OF_GOROUTINES, /* the time that goroutines run, could run, or wait for others */
    OF_PROCS,      /* the time of all procs */
    OF_TIME,       /* the time of the trace */
    OF_ALIVE       /* the goroutines of the function, or all, that are alive at the end */
} finding_base;
extern const char *const finding_bases[]; /* "of the time of tasks", ... */

typedef struct finding {
    uint8_t cause, of;
    bool reported;     /* its share is large enough */
    double share;      /* 0 to 1 */
    double rank;       /* the share, or that of what it causes */
    int64_t ns;        /* what it costs; 0: goroutine.leak, trace.limits. DEADLOCK: for how
                          long nothing can end it any more */
    uint64_t count;    /* waits, calls, silences, cycles, stops, goroutines, wake-ups */
    uint32_t function; /* where it happens, or of the goroutines that it is about */
    uint32_t other;    /* a function: of those that wait for it, or of who has the lock */
    uint32_t stack, other_stack; /* where; what is done meanwhile */
    uint8_t during;              /* LOCK: what its holder does most meanwhile, activity_kind */
    double during_share;
    int64_t longest, at; /* the longest one, and when it began */
    uint64_t goroutine;  /* whose that was; 0: not known */
    int64_t period;      /* FROZEN: from one silence to the next; 0: irregular */
    double rate;         /* per second */
    double level;        /* see diagnosis.c */
    double waiting;      /* CHANNEL: goroutines that wait at a time */
    deadlock deadlock;   /* DEADLOCK */
} finding;

typedef struct diagnosis {
    finding list[FINDING_CAUSE_COUNT]; /* those that are reported first, in the order of shares */
    size_t count;                      /* that are reported */
    bool tasks;                        /* shares are of the time of tasks */
    bool of_function;                  /* or of goroutines of the function that was asked for */
    uint32_t task;                     /* the type, or that function, that has most time */
    int64_t base_ns;                   /* that time, or that of goroutines */
    double crowd;           /* share of runnable time of goroutines that run for a short time */
    double busy, gc, ready; /* shares: procs that run goroutines, the collector; runnable */
} diagnosis;

/* Names and stacks are numbers of those of the measures. False: memory was refused. */
bool diagnosis_make(diagnosis *d, const measures *m);

#endif
