/*
 * profile.h - time or CPU samples by stack.
 *
 * net, sync, syscall and sched have the samples of `go tool trace -pprof` (cmd/trace/pprof.go) of
 * the Go version that reads the trace: 1.21 until then, later 1.27. So profiles of v1 differ from
 * statistics, which are those of Go 1.27, by nanoseconds and in the first states of goroutines. The
 * HTML report, in which both appear, makes profiles of the intervals of the statistics
 * (profiles_share).
 */
#ifndef ANALYSE_PROFILE_H
#define ANALYSE_PROFILE_H

#include "formats/analyse/selector.h"
#include "formats/analyse/states.h"
#include "formats/formats.h"

/* What a profile is of, with its name in options. */
#define PROFILE_KINDS(X)                                                                           \
    X(NET, net)         /* waiting for the network */                                              \
    X(SYNC, sync)       /* waiting for channels, mutexes and the like */                           \
    X(SYSCALL, syscall) /* in system calls */                                                      \
    X(SCHED, sched)     /* runnable, by what made it so */                                         \
    X(OFFCPU, offcpu)   /* every state but running, by where it stopped running */                 \
    X(CPU, cpu)         /* CPU samples */                                                          \
    X(WALL, wall)       /* all time: offcpu, and execution by CPU samples */

typedef enum profile_kind {
#define PROFILE_NUMBER(name, text) PROFILE_##name,
    PROFILE_KINDS(PROFILE_NUMBER) PROFILE_COUNT
#undef PROFILE_NUMBER
} profile_kind;

/* NULL after the last. */
const char *profile_name(size_t n);
/* The kind of that name; NULL: wall. */
profile_kind profile_kind_of(const char *name);

/* What one stack has of a state. */
typedef struct profile_sample {
    uint32_t stack;
    uint32_t function; /* a name: where the goroutines start */
    uint32_t reason;   /* a name: why they wait; 0 in other states */
    uint8_t state;     /* gotrace_state */
    uint64_t count;
    int64_t ns;
} profile_sample;

enum { PROFILE_RECENT = 1024 };

/* Of several traces: the samples of each, up to the first one of the next trace. */
typedef struct profile_trace {
    uint32_t name;
    size_t end; /* index of a sample */
} profile_trace;

typedef struct profile {
    profile_kind kind;
    stacks *stacks;
    profile_sample *samples;
    size_t count, room;
    gt_lookup lookup;                /* of samples */
    uint32_t recent[PROFILE_RECENT]; /* indexes of samples that were found, by a mix of their key */
    int64_t duration;                /* of all traces, or of their time ranges */
    profile_trace *traces;           /* profile_divide */
    size_t trace_count, trace_room;
    bool owns_stacks;
    bool nested;     /* stacks are those of critical paths, with frames of states: path_total.h */
    bool difference; /* of two sides: samples of the old one are negative */
    bool failed;     /* memory was refused */
} profile;

/* What else than the stack makes samples different: where goroutines start; state and reason. */
enum { PROFILE_FUNCTION = 1, PROFILE_STATE = 2 };

typedef struct profile_options {
    profile_kind kind;
    bool open;            /* also intervals that end with the trace */
    bool no_system;       /* without the goroutines of the runtime */
    unsigned without;     /* PROFILE_FUNCTION, PROFILE_STATE: samples do not differ by it */
    stacks_detail detail; /* for profile_make */
    select_job *select;   /* what is included; NULL: all */
    size_t threads;       /* more than 1: read in a thread */
} profile_options;

/* Nanoseconds of a CPU sample: Go takes 100 in a second. */
enum { PROFILE_SAMPLE_NS = 10000000 };

/* ---- of the intervals of another analysis -----------------------------------------------------
 *
 * Several profiles at once, made of the intervals of a caller. It provides room for a profile_part
 * with each of its goroutines, zeroed. The intervals of a v1 trace are as Go 1.27 finds them, see
 * states.h; those of profile_make are as Go 1.21 finds them: times differ by nanoseconds, and a
 * goroutine has no state before its first event.
 */

/* list: different kinds are set, all else is 0; options: for all of them, kind aside; names:
 * borrowed until the profiles are freed, and begun for the trace. NULL if memory is refused. */
typedef struct profiles profiles;
profiles *profiles_begin(profile *list, size_t count, const profile_options *options, int version,
                         stacks *names);
/* False if memory was refused. */
bool profiles_end(profiles *r);

typedef struct profile_pending profile_pending;

/* What profiles store of a goroutine. */
typedef struct profile_part {
    int64_t ran;              /* of the current run: the time until its last short system call */
    uint32_t stopped;         /* the stack where it stopped running, or where it starts */
    profile_pending *pending; /* intervals that count only if it never runs */
    size_t pending_count, pending_room;
    uint32_t *samples; /* stacks of the CPU samples of the current run */
    size_t sample_count, sample_room;
} profile_part;

/* The caller's, which are borrowed. */
void profiles_share(profiles *r, const states *followed, selector *applied);
void profiles_goroutine(profiles *r, profile_part *own, const goroutine *g, const gotrace_event *e);
/* An interval ends, as for a states_user. there: it is of a selected proc, thread and generation.
 */
void profiles_interval(profiles *r, profile_part *own, const goroutine *g, const interval *i,
                       bool there, const gotrace_event *e);
void profiles_goroutine_end(profiles *r, profile_part *own, const goroutine *g);
/* A CPU sample; own: of its goroutine g; NULL: not known. */
void profiles_sample(profiles *r, profile_part *own, const goroutine *g, const gotrace_event *e);
bool profiles_failed(const profiles *r);
void profile_part_free(profile_part *own);

/* Reads the trace to its end: GOTRACE_END or GOTRACE_ERROR. The profile is zeroed, or one to which
 * the trace is added. Free it in any case. */
gotrace_status profile_make(profile *p, gotrace_reader *reader, const profile_options *options);
/* The samples that were added since the last call are those of a trace with that name; what is
 * added from now on is not added to them. */
void profile_divide(profile *p, const char *name);
void profile_free(profile *p);

/* "running", "syscall", ..., or the reason for which it waits. */
const char *profile_state(const profile *p, const profile_sample *s, size_t *size);

#endif
