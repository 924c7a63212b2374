/*
 * gen.h - between the parts of gen: a program that does not exist, run by a scheduler that works as
 * Go's does, so that a trace can be made of it.
 *
 *   run.c           the job; who is there at the start, which proc does something next
 *   sched.c         procs, queues, stealing, system calls, what wakes goroutines
 *   gc.c            the heap and the GC
 *   ops.c           what a goroutine can do
 *   programs.c      what goroutines of each profile do, and what their functions are called
 *   cover.c         what --cover asks for
 *   tell.c          put an emitted event into a block
 *   pipe.c          the blocks, which go from one thread to another
 *   teller.c        pass the events of a block to the writer, in the terms of the version
 *   defect*.c   one rule broken
 *
 * All that is decided at random comes from one generator of integers, and nothing is computed in
 * floating point: the same seed gives the same bytes on every machine. Memory depends on the number
 * of procs and goroutines, not on that of events.
 */
#ifndef GEN_H
#define GEN_H

#include "formats/formats.h"
#include "cmd/gen/pipe.h"
#include "formats/common/splitmix.h"

/* ---- events --------------------------------------------------------------------------------- */

/* Events by what they mean: our name, v1's and v2's; NULL where that format has none. */
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

/* Strings: why goroutines wait and the world stops, as Go's runtime says it, and what the program
 * calls things. */
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
    /* what the experiment AllocFree says of a generation: its number, and where things lie */     \
    X(EXPERIMENT, "\x01\x80\x80\x80\x01\x80\x40\x08\x80\x10")

typedef enum gen_string {
#define GEN_NUMBER(name, text) GEN_STRING_##name,
    GEN_STRINGS(GEN_NUMBER)
#undef GEN_NUMBER
        GEN_STRING_COUNT
} gen_string;

/* ---- what goroutines do ---------------------------------------------------------------------- */

/* The operations that programs (programs.c) are made of. */
typedef enum gen_op_code {
    OP_END,    /* the goroutine ends */
    OP_LOOP,   /* back to operation a, in b of 256 cases */
    OP_CREATE, /* a goroutine of role a */
    OP_SEND,   /* on channel a of those that its group has */
    OP_RECV,
    OP_SELECT,
    OP_LOCK,
    OP_UNLOCK,
    OP_COND_WAIT,
    OP_COND_SIGNAL,
    OP_NET,
    OP_SLEEP,
    OP_BLOCK, /* as the runtime's own goroutines wait */
    OP_FOREVER,
    OP_SCHED,
    OP_SYSCALL, /* a system call that blocks in b of 256 cases */
    OP_ALLOC,
    OP_TASK, /* a task, inside the goroutine's task, named a */
    OP_TASK_END,
    OP_REGION, /* named a */
    OP_REGION_END,
    OP_LOG,
    OP_SAMPLE,      /* a CPU sample hits it */
    OP_WAKE_TIMERS, /* who sleeps, until 1.18 woken by a goroutine */
    OP_CORO,        /* a coroutine of role a */
    OP_SWITCH,      /* to its partner */
    OP_SWITCH_END,
    OP_FUTILE,   /* a receive that is woken for nothing */
    OP_CALLBACK, /* a C thread calls Go */
    OP_MARK,     /* a GC worker marks */
    OP_GC,       /* runtime.GC() */
    OP_ASSIST,
    OP_SWEEP,
    OP_POPULATE, /* the goroutines that a profile has at the start are created */
    OP_COVER,    /* part a of what --cover asks for and no operation does */
    OP_START,    /* no operation: where a goroutine starts, as a stack */
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

/* Something that goroutines are created for. */
typedef struct gen_role {
    const char *function; /* where it starts */
    const char *file;
    const char *through[3]; /* functions between that and what it does; fewer: NULL */
    const gen_op *program;
    uint8_t weight; /* of goroutines of a profile at the start; 0: created by others */
} gen_role;

/* A profile: role 0 is main's. */
typedef struct gen_profile {
    const char *name;
    const gen_role *roles;
    uint8_t role_count;
    uint64_t goal; /* bytes of the heap at which a GC cycle begins, at least */
} gen_profile;

/* Roles of the runtime, which every profile has, come first. */
enum {
    GEN_ROLE_WORKER,
    GEN_ROLE_SWEEPER,
    GEN_ROLE_TIMER,
    GEN_ROLE_TOUR,
    GEN_ROLE_TOUR_PEER,
    GEN_ROLE_TOUR_CORO,
    GEN_ROLE_CALLBACK,
    GEN_RUNTIME_ROLES
};
enum { GEN_ROLES = 24, GEN_VARIANTS = 4, GEN_FRAMES = 8 };

extern const gen_role gen_runtime_roles[GEN_RUNTIME_ROLES];
/* NULL: the first one. */
const gen_profile *gen_profile_by_name(const char *name);

/* The frames of a stack, innermost first; returns how many. */
size_t gen_frames(const gen_role *role, gen_op_code op, unsigned variant,
                  gotrace_frame frames[GEN_FRAMES]);

/* ---- the state of the machine ---------------------------------------------------------------- */

typedef enum gen_state {
    GEN_G_FREE, /* the slot is */
    GEN_G_RUNNABLE,
    GEN_G_RUNNING,
    GEN_G_CALLING, /* in a system call, with its proc */
    GEN_G_BLOCKED, /* in a system call, without */
    GEN_G_WAITING,
} gen_state;

typedef struct gen_goroutine {
    struct gen_goroutine *next;    /* in the queue where it is */
    struct gen_goroutine *partner; /* of a coroutine */
    const gen_role *role;
    uint64_t id, task;
    uint32_t lock;   /* it holds or waits for */
    uint32_t group;  /* of goroutines that have channels together */
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
    uint32_t thread; /* 0: it sleeps */
    uint32_t place;  /* in the order of procs */
    bool blocks;     /* its system call is going to */
} gen_proc;

typedef struct gen_channel {
    gen_queue senders, receivers;
    uint32_t held; /* in its buffer */
} gen_channel;

typedef struct gen_lock {
    gen_goroutine *holder;
    gen_queue waiters;
} gen_lock;

enum { GEN_LOCKS = 16, GEN_CHANNELS = 8, GEN_CHANNEL_ROOM = 4, GEN_GROUP = 32 };

/* Where an argument comes from: what is said of an event, its numbers first. */
enum {
    GEN_FROM_STRING = 4,
    GEN_FROM_SECOND,
    GEN_FROM_START,
    GEN_FROM_STACK,
    GEN_FROM_NOTHING,
    GEN_SOURCES
};

/* The form of an event in a version. */
typedef struct gen_wording {
    const gotrace_event_spec *spec; /* NULL: that version has none */
    uint8_t arg_count;
    uint8_t sources[4];
    bool named; /* there are strings or stacks among the arguments */
    bool stack; /* it has a stack beside them */
    bool data;  /* it has data: the second string */
} gen_wording;

typedef struct gen_words {
    int version;
    gen_events known; /* that the version has */
    gen_wording of[GEN_EVENT_COUNT];
} gen_words;

typedef struct gen_sim {
    /* form of the event */
    gen_pipe *pipe;
    gen_record *block; /* being filled */
    size_t in_block;
    const gen_words *words;
    int version;
    bool v2, cover;
    bool failed;              /* nobody listens any more */
    unsigned tick_shift;      /* ns to ticks */
    uint64_t next_generation; /* ns */
    uint64_t emitted;         /* events */

    uint64_t random;
    uint64_t now; /* ns */

    const gen_profile *profile;
    gen_role roles[GEN_ROLES]; /* the runtime's, then the profile's */
    uint32_t role_count;

    gen_proc *procs;
    uint32_t proc_count;
    gen_proc **order; /* those that are awake come first */
    uint32_t awake_count;
    uint32_t *idle_threads;
    uint32_t idle_thread_count, next_thread, thread_room;

    gen_goroutine *goroutines;
    uint32_t goroutine_count;
    gen_queue free;
    uint64_t last_id, last_task;

    gen_queue runnable; /* of no proc */
    gen_queue net, sleeping, selecting, conds, assists;
    gen_queue workers, sweepers, timers; /* of the runtime */
    gen_queue blocked;                   /* in system calls */
    uint32_t turn;                       /* whose is next, of channels that nobody uses */
    gen_channel *channels;               /* GEN_CHANNELS of each group */
    uint32_t group_count;
    uint32_t made[GEN_ROLES];
    gen_lock locks[GEN_LOCKS];

    /* GC */
    uint64_t heap, goal;
    bool marking;
    int64_t mark_left, sweep_left;
    uint32_t worker_count;

    uint64_t next_timer, next_sample; /* ns */

    /* --cover */
    gen_events seen; /* that were reported */
    uint64_t timer_id;
    bool tour_begun, toured;

    gen_goroutine last; /* who runs when the machine stands still */
} gen_sim;

/* ---- random numbers -------------------------------------------------------------------------- */

static inline uint64_t gen_random(gen_sim *s)
{
    return splitmix_next(&s->random);
}

/* Below n, which is at most 2^32. */
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

/* Who is there when the machine stands still: a goroutine that was just created runs on the only
 * proc that is awake, and no GC cycle goes on. In v2 a generation began before it was created. */
typedef struct gen_still {
    uint64_t proc, thread, goroutine;
    uint64_t proc_seq; /* v2: the proc's last sequence number */
} gen_still;

/* As gen_write; still, if it is not NULL: the machine stands still at the end. */
gotrace_status gen_run(const gen_job *job, gen_still *still, gotrace_write_fn write, void *ctx,
                       const gotrace_config *config, gotrace_error *error);

/* ---- emitting events (tell.c)
 * ----------------------------------------------------------------- */

/* An event: where it happens and what it says. Which of it stands in the trace, and in what order,
 * depends on the version: what that does not know is left out. */
typedef struct gen_form {
    const gen_proc *p;      /* NULL: on no proc */
    const gen_goroutine *g; /* in whose context; NULL: in none */
    const gen_role *role;   /* whose stack it is, NULL: none; and what it did */
    gen_op_code op;
    uint32_t thread;           /* v2, where p is NULL */
    const gen_role *start;     /* of a goroutine that is created */
    uint64_t args[4];          /* those that are no strings and stacks, in the table's order */
    gen_string string, second; /* those that are; the second is its data, if it has such */
} gen_form;

void gen_words_init(gen_words *words, int version);
void gen_emit(gen_sim *s, gen_event event, const gen_form *form);
/* v2: the next generation begins now. */
void gen_next_generation(gen_sim *s);
/* The next one is due in a second. */
void gen_generation_begun(gen_sim *s);
/* What is in the last block goes on its way. */
void gen_emit_end(gen_sim *s);
uint64_t gen_ticks(const gen_sim *s);

/* Whether the version can say it. */
static inline bool gen_has(const gen_sim *s, gen_event event)
{
    return gen_events_have(&s->words->known, event);
}

/* Whether it is still to be covered. */
static inline bool gen_misses(const gen_sim *s, gen_event event)
{
    return gen_has(s, event) && !gen_events_have(&s->seen, event);
}

/* A little later: between what happens at once. */
static inline void gen_pass(gen_sim *s)
{
    s->now += 64 + (gen_random(s) & 127);
}

/* ---- passing events to the writer (teller.c) ------------------------------------------------ */

/* A stack by number: of what goroutines of a role do, in one of several places. */
static inline uint16_t gen_stack_number(unsigned role, gen_op_code op, unsigned variant)
{
    return (uint16_t)(1 + (role * OP_COUNT + (unsigned)op) * GEN_VARIANTS + variant);
}

enum { GEN_STACKS = 1 + GEN_ROLES * OP_COUNT * GEN_VARIANTS };

typedef struct gen_sink gen_sink;

/* Pass the events of a machine with these roles to the writer. NULL if memory runs out. */
gen_sink *gen_sink_new(gotrace_writer *writer, const gen_words *words, const gen_role *roles);
void gen_sink_free(gen_sink *sink);
/* A gen_take_fn; false: the writer has failed. */
bool gen_sink_take(void *sink, const gen_record *records, size_t count);

/* ---- scheduling (sched.c) ---------------------------------------------------------------- */

bool gen_sched_init(gen_sim *s, uint32_t procs, uint32_t goroutines);
void gen_sched_free(gen_sim *s);
/* A slot for a goroutine, with an id; NULL if all are taken. */
gen_goroutine *gen_goroutine_new(gen_sim *s, const gen_role *role);
void gen_goroutine_free(gen_sim *s, gen_goroutine *g);
/* The proc has no goroutine: find it one, or let it sleep. */
void gen_schedule(gen_sim *s, gen_proc *p);
void gen_start(gen_sim *s, gen_proc *p, gen_goroutine *g);
/* The goroutine that p runs stops running, as the event says. */
void gen_leave(gen_sim *s, gen_proc *p, gen_event event, gen_op_code op, gen_string why);
/* It waits in that queue. */
void gen_wait(gen_sim *s, gen_proc *p, gen_queue *queue, gen_event event, gen_op_code op,
              gen_string why);
/* A goroutine that was taken out of a queue can run, because of what p does. */
void gen_ready(gen_sim *s, gen_proc *p, gen_goroutine *g, gen_op_code op);
/* A proc that sleeps gets up, if there is one. */
bool gen_wake_proc(gen_sim *s);
void gen_start_proc(gen_sim *s, gen_proc *p);
/* When tracing starts, p runs g. */
void gen_begin_on(gen_sim *s, gen_proc *p, gen_goroutine *g);
uint32_t gen_new_thread(gen_sim *s);
void gen_stop_proc(gen_sim *s, gen_proc *p);
/* A goroutine of p enters a system call; what goes on with it, if it is in one. */
void gen_syscall(gen_sim *s, gen_proc *p, unsigned blocks);
void gen_syscall_step(gen_sim *s, gen_proc *p);
/* The proc is taken from the goroutine that is in a system call on it; by: who says so, NULL for
 * the runtime's monitor. */
void gen_hand_off(gen_sim *s, gen_proc *p, const gen_proc *by);
/* One of those blocked in a system call comes back. */
void gen_syscall_return(gen_sim *s);
/* What is due happens: the network, timers, calls that return. */
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

/* ---- what goroutines do (ops.c) ---------------------------------------------------------- */

/* The goroutine that p runs goes on to its next operation that is seen in a trace. */
void gen_step(gen_sim *s, gen_proc *p);
void gen_preempt(gen_sim *s, gen_proc *p, gen_op_code where);
void gen_sample(gen_sim *s, const gen_proc *p);
bool gen_cover(gen_sim *s, gen_proc *p, gen_goroutine *g, const gen_op *op);

#endif
