/*
 * gen.h - private header of gen. A simulated program runs under a scheduler that works as Go's
 * does; its events make a synthetic trace.
 *
 *   run.c           the job; the initial state; which proc runs next
 *   sched.c         procs, queues, stealing, system calls, wake-ups
 *   gc.c            the heap and the GC
 *   ops.c           the operations of a goroutine
 *   programs.c      the programs of each profile's goroutines, and the names of their functions
 *   cover.c         operations that only --cover needs
 *   emit.c          append an event to a block
 *   pipe.c          pass blocks from the simulating thread to the writing thread
 *   sink.c          pass the events of a block to the writer, in the layout of the version
 *   defect*.c       a trace in which one rule is violated
 *
 * All random decisions come from one integer generator, and no floating point is used: the same
 * seed gives the same bytes on every machine. Memory depends on the number of procs and goroutines,
 * not on the number of events.
 */
#ifndef GEN_H
#define GEN_H

#include "cmd/gen/job.h"
#include "cmd/gen/pipe.h"
#include "formats/common/splitmix.h"

/* ---- events --------------------------------------------------------------------------------- */

/* Events: name in gen, in v1 and in v2; NULL if that format has no such event. */
#define GEN_EVENTS(X)                                                                              \
    X(PROCS, "Gomaxprocs", "ProcsChange")                                                          \
    X(PROC_START, "ProcStart", "ProcStart")                                                        \
    X(PROC_STOP, "ProcStop", "ProcStop")                                                           \
    X(PROC_STEAL, NULL, "ProcSteal")                                                               \
    X(CREATE, "GoCreate", "GoCreate")                                                              \
    X(CREATE_BLOCKED, NULL, "GoCreateBlocked")                                                     \
    X(CREATE_SYSCALL, NULL, "GoCreateSyscall")                                                     \
    X(WAITING, "GoWaiting", NULL)                                                                  \
    X(IN_SYSCALL, "GoInSyscall", NULL)                                                             \
    X(START, "GoStart", "GoStart")                                                                 \
    X(START_LABEL, "GoStartLabel", NULL)                                                           \
    X(LABEL, NULL, "GoLabel")                                                                      \
    X(END, "GoEnd", "GoDestroy")                                                                   \
    X(END_SYSCALL, NULL, "GoDestroySyscall")                                                       \
    X(FOREVER, "GoStop", "GoBlock")                                                                \
    X(SCHED, "GoSched", "GoStop")                                                                  \
    X(PREEMPT, "GoPreempt", "GoStop")                                                              \
    X(SLEEP, "GoSleep", "GoBlock")                                                                 \
    X(BLOCK, "GoBlock", "GoBlock")                                                                 \
    X(BLOCK_SEND, "GoBlockSend", "GoBlock")                                                        \
    X(BLOCK_RECV, "GoBlockRecv", "GoBlock")                                                        \
    X(BLOCK_SELECT, "GoBlockSelect", "GoBlock")                                                    \
    X(BLOCK_SYNC, "GoBlockSync", "GoBlock")                                                        \
    X(BLOCK_COND, "GoBlockCond", "GoBlock")                                                        \
    X(BLOCK_NET, "GoBlockNet", "GoBlock")                                                          \
    X(BLOCK_GC, "GoBlockGC", "GoBlock")                                                            \
    X(UNBLOCK, "GoUnblock", "GoUnblock")                                                           \
    X(SWITCH, NULL, "GoSwitch")                                                                    \
    X(SWITCH_END, NULL, "GoSwitchDestroy")                                                         \
    X(SYSCALL, "GoSysCall", "GoSyscallBegin")                                                      \
    X(SYSCALL_END, NULL, "GoSyscallEnd")                                                           \
    X(SYSCALL_BLOCK, "GoSysBlock", NULL)                                                           \
    X(SYSCALL_EXIT, "GoSysExit", "GoSyscallEndBlocked")                                            \
    X(STW_START, "STWStart", "STWBegin")                                                           \
    X(STW_DONE, "STWDone", "STWEnd")                                                               \
    X(GC_START, "GCStart", "GCBegin")                                                              \
    X(GC_DONE, "GCDone", "GCEnd")                                                                  \
    X(SWEEP_START, "GCSweepStart", "GCSweepBegin")                                                 \
    X(SWEEP_DONE, "GCSweepDone", "GCSweepEnd")                                                     \
    X(ASSIST_START, "GCMarkAssistStart", "GCMarkAssistBegin")                                      \
    X(ASSIST_DONE, "GCMarkAssistDone", "GCMarkAssistEnd")                                          \
    X(HEAP, "HeapAlloc", "HeapAlloc")                                                              \
    X(HEAP_GOAL, "HeapGoal", "HeapGoal")                                                           \
    X(TIMER_GOROUTINE, "TimerGoroutine", NULL)                                                     \
    X(FUTILE, "FutileWakeup", NULL)                                                                \
    X(TASK_BEGIN, "UserTaskCreate", "UserTaskBegin")                                               \
    X(TASK_END, "UserTaskEnd", "UserTaskEnd")                                                      \
    X(REGION_BEGIN, "UserRegion", "UserRegionBegin")                                               \
    X(REGION_END, "UserRegion", "UserRegionEnd")                                                   \
    X(LOG, "UserLog", "UserLog")                                                                   \
    X(STATUS, NULL, "GoStatus")                                                                    \
    X(STATUS_STACK, NULL, "GoStatusStack")                                                         \
    X(SAMPLE, "CPUSample", "CPUSample")                                                            \
    X(EXPERIMENT_BATCH, NULL, "ExperimentalBatch")                                                 \
    X(SPAN, NULL, "Span")                                                                          \
    X(SPAN_ALLOC, NULL, "SpanAlloc")                                                               \
    X(SPAN_FREE, NULL, "SpanFree")                                                                 \
    X(OBJECT, NULL, "HeapObject")                                                                  \
    X(OBJECT_ALLOC, NULL, "HeapObjectAlloc")                                                       \
    X(OBJECT_FREE, NULL, "HeapObjectFree")                                                         \
    X(STACK, NULL, "GoroutineStack")                                                               \
    X(STACK_ALLOC, NULL, "GoroutineStackAlloc")                                                    \
    X(STACK_FREE, NULL, "GoroutineStackFree")

typedef enum gen_event {
#define GEN_NUMBER(name, v1, v2) GEN_##name,
    GEN_EVENTS(GEN_NUMBER)
#undef GEN_NUMBER
        GEN_EVENT_COUNT
} gen_event;

_Static_assert(GEN_EVENT_COUNT < UINT8_MAX, "gen_record.event has room for one more");

/* A set of events. */
typedef struct gen_events {
    uint64_t bits[(GEN_EVENT_COUNT + 63) / 64];
} gen_events;

static inline bool gen_events_have(const gen_events *set, gen_event event)
{
    return set->bits[event / 64] >> event % 64 & 1;
}

static inline void gen_events_add(gen_events *set, gen_event event)
{
    set->bits[event / 64] |= (uint64_t)1 << event % 64;
}

/* Strings: reasons for waiting and for stopping the world, as in Go's runtime, and names used by
 * the simulated program. */
#define GEN_STRINGS(X)                                                                             \
    X(NOTHING, "")                                                                                 \
    X(FOREVER, "forever")                                                                          \
    X(GOSCHED, "runtime.Gosched")                                                                  \
    X(PREEMPTED, "preempted")                                                                      \
    X(SLEEP, "sleep")                                                                              \
    X(SYSTEM, "system goroutine wait")                                                             \
    X(CHAN_SEND, "chan send")                                                                      \
    X(CHAN_RECV, "chan receive")                                                                   \
    X(SELECT, "select")                                                                            \
    X(SYNC, "sync")                                                                                \
    X(COND, "sync.(*Cond).Wait")                                                                   \
    X(NETWORK, "network")                                                                          \
    X(ASSIST, "GC mark assist wait for work")                                                      \
    X(SWEEP_TERM, "GC sweep termination")                                                          \
    X(MARK_TERM, "GC mark termination")                                                            \
    X(WORKER, "GC (dedicated)")                                                                    \
    X(FRACTIONAL, "GC (fractional)")                                                               \
    X(TASK, "request")                                                                             \
    X(SUBTASK, "query")                                                                            \
    X(REGION_READ, "read")                                                                         \
    X(REGION_WORK, "work")                                                                         \
    X(REGION_WRITE, "write")                                                                       \
    X(KEY, "order")                                                                                \
    X(KEY_STATE, "state")                                                                          \
    X(MESSAGE_0, "accepted")                                                                       \
    X(MESSAGE_1, "not in the cache")                                                               \
    X(MESSAGE_2, "three rows")                                                                     \
    X(MESSAGE_3, "sent")                                                                           \
    /* header of a generation of the experiment AllocFree: its number and addresses */             \
    X(EXPERIMENT, "\x01\x80\x80\x80\x01\x80\x40\x08\x80\x10")

typedef enum gen_string {
#define GEN_NUMBER(name, text) GEN_STRING_##name,
    GEN_STRINGS(GEN_NUMBER)
#undef GEN_NUMBER
        GEN_STRING_COUNT
} gen_string;

/* ---- operations of goroutines ---------------------------------------------------------------- */

/* The instructions of programs (programs.c). */
typedef enum gen_op_code {
    OP_END,    /* the goroutine ends */
    OP_LOOP,   /* jump to instruction a, with probability b/256 */
    OP_CREATE, /* a new goroutine of role a */
    OP_SEND,   /* on channel a of the goroutine's group */
    OP_RECV,
    OP_SELECT,
    OP_LOCK,
    OP_UNLOCK,
    OP_COND_WAIT,
    OP_COND_SIGNAL,
    OP_NET,
    OP_SLEEP,
    OP_BLOCK, /* a wait of the runtime's own goroutines */
    OP_FOREVER,
    OP_SCHED,
    OP_SYSCALL, /* blocks with probability b/256 */
    OP_ALLOC,
    OP_TASK, /* begins a task named a within the goroutine's task */
    OP_TASK_END,
    OP_REGION, /* name: string a */
    OP_REGION_END,
    OP_LOG,
    OP_SAMPLE,      /* takes a CPU sample of the goroutine */
    OP_WAKE_TIMERS, /* wakes sleeping goroutines; until 1.18 a goroutine does this */
    OP_CORO,        /* creates a coroutine of role a */
    OP_SWITCH,      /* to its partner */
    OP_SWITCH_END,
    OP_FUTILE,   /* a receive with a futile wake-up */
    OP_CALLBACK, /* a C thread calls Go */
    OP_MARK,     /* marking by a GC worker */
    OP_GC,       /* runtime.GC() */
    OP_ASSIST,
    OP_SWEEP,
    OP_POPULATE, /* creates the initial goroutines of the profile */
    OP_COVER,    /* gen_cover_part a */
    OP_START,    /* not an operation: stands for a goroutine's entry point in stack numbers */
    OP_COUNT
} gen_op_code;

typedef enum gen_cover_part {
    GEN_COVER_TIMER,
    GEN_COVER_BLOCK,
    GEN_COVER_SEND,
    GEN_COVER_RECV,
    GEN_COVER_SYNC,
    GEN_COVER_COND,
    GEN_COVER_PREEMPT,
    GEN_COVER_SYSCALL,
    GEN_COVER_ASSIST,
    GEN_COVER_EXPERIMENT,
    GEN_COVER_EXPERIMENT_BATCH,
    GEN_COVER_GENERATION,
    GEN_COVER_DONE,
} gen_cover_part;

typedef struct gen_op {
    uint8_t code, a;
    uint16_t b;
} gen_op;

/* What a goroutine runs. */
typedef struct gen_role {
    const char *function; /* entry point */
    const char *file;
    const char *through[3]; /* functions between entry point and operation; unused: NULL */
    const gen_op *program;
    uint8_t weight; /* share of the initial goroutines; 0: only created by others */
} gen_role;

/* Role 0 is that of main. */
typedef struct gen_profile {
    const char *name;
    const gen_role *roles;
    uint8_t role_count;
    uint64_t goal; /* least heap size in bytes that starts a GC cycle */
} gen_profile;

/* Roles of the runtime, part of every profile; they come first. */
enum {
    GEN_ROLE_WORKER,
    GEN_ROLE_SWEEPER,
    GEN_ROLE_TIMER,
    GEN_ROLE_COVER,
    GEN_ROLE_COVER_PEER,
    GEN_ROLE_COVER_CORO,
    GEN_ROLE_CALLBACK,
    GEN_RUNTIME_ROLES
};
enum { GEN_ROLES = 24, GEN_VARIANTS = 4, GEN_FRAMES = 8 };

extern const gen_role gen_runtime_roles[GEN_RUNTIME_ROLES];
/* NULL: the default, which is the first. */
const gen_profile *gen_profile_by_name(const char *name);

/* Sets the frames of a stack, innermost first; returns their number. */
size_t gen_frames(const gen_role *role, gen_op_code op, unsigned variant,
                  gotrace_frame frames[GEN_FRAMES]);

/* ---- state of the simulator ------------------------------------------------------------------ */

typedef enum gen_state {
    GEN_G_FREE, /* unused slot */
    GEN_G_RUNNABLE,
    GEN_G_RUNNING,
    GEN_G_CALLING, /* in a system call that holds its proc */
    GEN_G_BLOCKED, /* in a system call without a proc */
    GEN_G_WAITING,
} gen_state;

typedef struct gen_goroutine {
    struct gen_goroutine *next;    /* in its queue */
    struct gen_goroutine *partner; /* of a coroutine */
    const gen_role *role;
    uint64_t id, task;
    uint32_t lock;   /* held or waited for */
    uint32_t group;  /* goroutines of a group share channels */
    uint32_t thread; /* while blocked in a system call */
    uint16_t pc;     /* next operation */
    uint8_t state;
    bool assisting, futile;
    uint64_t outer; /* task around its task */
} gen_goroutine;

typedef struct gen_queue {
    gen_goroutine *head, *tail;
    uint32_t count;
} gen_queue;

typedef struct gen_proc {
    int64_t id;
    gen_goroutine *running;
    gen_queue queue;
    uint32_t thread; /* 0: idle */
    uint32_t place;  /* index in gen_sim.order */
    bool blocks;     /* its system call will block */
} gen_proc;

typedef struct gen_channel {
    gen_queue senders, receivers;
    uint32_t held; /* messages in the buffer */
} gen_channel;

typedef struct gen_lock {
    gen_goroutine *holder;
    gen_queue waiters;
} gen_lock;

enum { GEN_LOCKS = 16, GEN_CHANNELS = 8, GEN_CHANNEL_CAPACITY = 4, GEN_GROUP = 32 };

/* Source of an argument in gen_fields. 0 to 3: args[0] to args[3]. */
enum {
    GEN_FROM_STRING = 4,
    GEN_FROM_SECOND,
    GEN_FROM_START,
    GEN_FROM_STACK,
    GEN_FROM_NOTHING,
    GEN_SOURCES
};

/* Layout of an event in a version. */
typedef struct gen_layout {
    const gotrace_event_spec *spec; /* NULL: the version has no such event */
    uint8_t arg_count;
    uint8_t sources[4];
    bool named; /* some arguments are strings or stacks */
    bool stack; /* has a stack in addition to the arguments */
    bool data;  /* has data, taken from the second string */
} gen_layout;

typedef struct gen_layouts {
    int version;
    gen_events known; /* events of the version */
    gen_layout of[GEN_EVENT_COUNT];
} gen_layouts;

typedef struct gen_sim {
    /* output */
    gen_pipe *pipe;
    gen_record *block; /* being filled */
    size_t in_block;
    const gen_layouts *layouts;
    int version;
    bool v2, cover;
    bool failed;              /* the consumer has stopped */
    unsigned tick_shift;      /* shift that converts ns to ticks */
    uint64_t next_generation; /* ns */
    uint64_t emitted;         /* events */

    uint64_t random;
    uint64_t now; /* ns */

    const gen_profile *profile;
    gen_role roles[GEN_ROLES]; /* the runtime's, then the profile's */
    uint32_t role_count;

    gen_proc *procs;
    uint32_t proc_count;
    gen_proc **order; /* permutation of procs; the first awake_count are not idle */
    uint32_t awake_count;
    uint32_t *idle_threads;
    uint32_t idle_thread_count, next_thread, thread_capacity;

    gen_goroutine *goroutines;
    uint32_t goroutine_count;
    gen_queue free;
    uint64_t last_id, last_task;

    gen_queue runnable; /* in no proc's queue */
    gen_queue net, sleeping, selecting, conds, assists;
    gen_queue workers, sweepers, timers; /* of the runtime */
    gen_queue blocked;                   /* in system calls */
    uint32_t turn;                       /* where release_any continues */
    gen_channel *channels;               /* GEN_CHANNELS per group */
    uint32_t group_count;
    uint32_t made[GEN_ROLES];
    gen_lock locks[GEN_LOCKS];

    /* GC */
    uint64_t heap, goal;
    bool marking;
    int64_t mark_left, sweep_left;

    uint64_t next_timer, next_sample; /* ns */

    /* --cover */
    gen_events seen; /* events emitted */
    uint64_t timer_id;
    bool cover_begun, cover_done;

    gen_goroutine last; /* the goroutine that runs in the end state */
} gen_sim;

/* ---- random numbers -------------------------------------------------------------------------- */

static inline uint64_t gen_random(gen_sim *s)
{
    return splitmix_next(&s->random);
}

/* In 0 .. n - 1; n is at most 2^32. */
static inline uint32_t gen_below(gen_sim *s, uint32_t n)
{
    return splitmix_below(&s->random, n);
}

static inline bool gen_chance(gen_sim *s, unsigned of_256)
{
    return (gen_random(s) & 255) < of_256;
}

/* ---- queues ---------------------------------------------------------------------------------- */

static inline void gen_push(gen_queue *queue, gen_goroutine *g)
{
    g->next = NULL;
    if (queue->tail)
        queue->tail->next = g;
    else
        queue->head = g;
    queue->tail = g;
    queue->count++;
}

static inline gen_goroutine *gen_pop(gen_queue *queue)
{
    gen_goroutine *g = queue->head;
    if (g) {
        queue->head = g->next;
        if (!g->next)
            queue->tail = NULL;
        queue->count--;
    }
    return g;
}

/* End state for planting defects: a newly created goroutine runs on the only proc that is not idle,
 * no GC cycle is active, and in v2 a generation began before the goroutine was created. */
typedef struct gen_tail {
    uint64_t proc, thread, goroutine;
    uint64_t proc_seq; /* v2: the proc's last sequence number */
} gen_tail;

/* Like gen_write; if tail is not NULL, the simulator is brought into the end state before it
 * stops. */
gotrace_status gen_run(const gen_job *job, gen_tail *tail, gotrace_write_fn write, void *ctx,
                       const gotrace_config *config, gotrace_error *error);

/* ---- emitting events (emit.c) ---------------------------------------------------------------- */

/* An event of the simulator. The version's layout selects the fields that are written. */
typedef struct gen_fields {
    const gen_proc *p;      /* NULL: without a proc */
    const gen_goroutine *g; /* the event's context; NULL: none */
    const gen_role *role;   /* with op: the stack's number; NULL: no stack */
    gen_op_code op;
    uint32_t thread;           /* v2, if p is NULL */
    const gen_role *start;     /* of a created goroutine */
    uint64_t args[4];          /* numeric arguments, in the order of the event table */
    gen_string string, second; /* string arguments; the second is the data, if the event has data */
} gen_fields;

void gen_layouts_init(gen_layouts *layouts, int version);
void gen_emit(gen_sim *s, gen_event event, const gen_fields *form);
/* v2: starts the next generation. */
void gen_next_generation(gen_sim *s);
/* Schedules the next generation in one second. */
void gen_generation_begun(gen_sim *s);
/* Passes the last, partly filled block on. */
void gen_emit_end(gen_sim *s);
uint64_t gen_ticks(const gen_sim *s);

/* Whether the version has the event. */
static inline bool gen_has(const gen_sim *s, gen_event event)
{
    return gen_events_have(&s->layouts->known, event);
}

/* Whether --cover still needs the event. */
static inline bool gen_misses(const gen_sim *s, gen_event event)
{
    return gen_has(s, event) && !gen_events_have(&s->seen, event);
}

/* Advances the clock by 64 to 191 ns, between events of one operation. */
static inline void gen_advance_clock(gen_sim *s)
{
    s->now += 64 + (gen_random(s) & 127);
}

/* ---- passing events to the writer (sink.c) --------------------------------------------------- */

/* Number of the stack of an operation in a goroutine of a role; variant is one of GEN_VARIANTS call
 * sites. */
static inline uint16_t gen_stack_number(unsigned role, gen_op_code op, unsigned variant)
{
    return (uint16_t)(1 + (role * OP_COUNT + (unsigned)op) * GEN_VARIANTS + variant);
}

enum { GEN_STACKS = 1 + GEN_ROLES * OP_COUNT * GEN_VARIANTS };

typedef struct gen_sink gen_sink;

/* Returns NULL if memory runs out. */
gen_sink *gen_sink_new(gotrace_writer *writer, const gen_layouts *layouts, const gen_role *roles);
void gen_sink_free(gen_sink *sink);
/* A gen_take_fn; false if the writer failed. */
bool gen_sink_take(void *sink, const gen_record *records, size_t count);

/* ---- scheduling (sched.c) ---------------------------------------------------------------- */

bool gen_sched_init(gen_sim *s, uint32_t procs, uint32_t goroutines);
void gen_sched_free(gen_sim *s);
/* Takes a free slot and gives it an id; NULL if there is none. */
gen_goroutine *gen_goroutine_new(gen_sim *s, const gen_role *role);
void gen_goroutine_free(gen_sim *s, gen_goroutine *g);
/* Starts a goroutine on the proc, which has none, or makes the proc idle. */
void gen_schedule(gen_sim *s, gen_proc *p);
void gen_start(gen_sim *s, gen_proc *p, gen_goroutine *g);
/* Stops the goroutine that runs on p by the given event. */
void gen_leave(gen_sim *s, gen_proc *p, gen_event event, gen_op_code op, gen_string why);
/* Like gen_leave; the goroutine waits in the queue. */
void gen_wait(gen_sim *s, gen_proc *p, gen_queue *queue, gen_event event, gen_op_code op,
              gen_string why);
/* p makes a waiting goroutine, already removed from its queue, runnable. */
void gen_ready(gen_sim *s, gen_proc *p, gen_goroutine *g, gen_op_code op);
/* Starts an idle proc; false if there is none. */
bool gen_wake_proc(gen_sim *s);
void gen_start_proc(gen_sim *s, gen_proc *p);
/* v2, when tracing starts: p already runs g. */
void gen_begin_on(gen_sim *s, gen_proc *p, gen_goroutine *g);
uint32_t gen_new_thread(gen_sim *s);
void gen_stop_proc(gen_sim *s, gen_proc *p);
/* The goroutine on p enters a system call, which blocks with probability blocks/256.
 * gen_syscall_step continues the call. */
void gen_syscall(gen_sim *s, gen_proc *p, unsigned blocks);
void gen_syscall_step(gen_sim *s, gen_proc *p);
/* Takes the proc from the goroutine that is in a system call on it. by: the proc that takes it;
 * NULL: the runtime's monitor thread. */
void gen_hand_off(gen_sim *s, gen_proc *p, const gen_proc *by);
/* One blocked system call returns. */
void gen_syscall_return(gen_sim *s);
/* Processes what is due: network, timers, system calls that return. */
void gen_poll(gen_sim *s, gen_proc *p);
void gen_callback(gen_sim *s);
void gen_callback_end(gen_sim *s, gen_proc *p);

/* ---- the GC (gc.c) ----------------------------------------------------------------------- */

void gen_gc_init(gen_sim *s);
void gen_alloc(gen_sim *s, gen_proc *p);
void gen_gc_begin(gen_sim *s, gen_proc *p);
void gen_gc_end(gen_sim *s, gen_proc *p);
void gen_sweep(gen_sim *s, gen_proc *p, bool begins);
void gen_assist(gen_sim *s, gen_proc *p, bool begins);

/* ---- operations of goroutines (ops.c) -------------------------------------------------------- */

/* Runs the goroutine on p until an operation emits an event. */
void gen_step(gen_sim *s, gen_proc *p);
void gen_preempt(gen_sim *s, gen_proc *p, gen_op_code where);
void gen_sample(gen_sim *s, const gen_proc *p);
bool gen_cover(gen_sim *s, gen_proc *p, gen_goroutine *g, const gen_op *op);

#endif
