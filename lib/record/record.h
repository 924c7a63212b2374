/*
 * record.h - shared by the parts of the recorder:
 *
 *   recorder.c   handles; start, stop and generations
 *   describe.c   states from before the trace or the generation
 *   event.h      the frame of every event, and its record
 *   event.c      events of the scheduler: procs, goroutines, system calls
 *   activity.c   events of the memory manager
 *   annotate.c   tasks, regions, messages, labels
 *   samples.c    CPU samples
 *   misuse.c     the checking mode (calls.def: what each call requires)
 *   table.c      tables that are read without a lock
 *   stacks.c     strings.c: what they contain
 *   buffer.c     buffers: from threads to the output
 *   output.c     the output: pull, or a thread that writes
 *   flight.c     the flight recorder
 *   drop.c       generations that are dropped because the output is too slow
 *   fork.c       the recorders of a process that is forked
 *   crash.c      the crash file: buffers and tables in a file that outlives the process (crash.h)
 *   recover.c    makes a trace of it
 *   clock.c      ticks
 *
 * A thread writes events into a buffer of its proc (v1) or of its own (v2), in the bytes of the
 * format. Everything else is done under gotrace_recorder.lock, by an encoder: tables, batches of
 * the recorder's own, the footer. Two generations may be open at a time: that which ends, until no
 * thread is in an event that began in it, and the next one.
 *
 * Each thread announces that it is in an event (gotrace_rec_thread.busy). Whoever changes
 * gotrace_recorder.era waits until every thread has been seen outside an event, so that none uses
 * the old era. That a thread's announcement is seen before it reads the era needs a barrier between
 * the two; the rare side has it for both, by membarrier(2). Source: Go 1.22, runtime/trace.go,
 * traceAdvance, with seqlocks there.
 */
#ifndef GT_RECORD_H
#define GT_RECORD_H

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "core/map.h"
#include "core/thread.h"
#include "gotrace_record.h"
#include "write/encoder.h"

enum {
    GT_REC_STACK_MAX = 128,        /* frames */
    GT_REC_STRING_MAX = 1024,      /* bytes, as in Go 1.22 */
    GT_REC_MESSAGE_MAX = 32 << 10, /* of v1's messages */
    GT_REC_SAMPLES = 1024,         /* that wait to be written */
    GT_REC_SAMPLE_FRAMES = 64,     /* as in Go */
    GT_REC_TIMERS = GT_TIMERS_MAX,
    GT_REC_OPEN = 2,  /* eras that may be open at a time */
    GT_REC_SLAB = 64, /* goroutines that are allocated at a time */
};

/* First versions with numbers by goroutine, labels, sizes of sweeps, a kind of stop, more kinds. */
enum {
    GT_REC_FIRST_NUMBERED = 7,
    GT_REC_FIRST_LABEL = 8,
    GT_REC_FIRST_SWEPT = 9,
    GT_REC_FIRST_STW_KIND = 10,
    GT_REC_FIRST_STW_KINDS = 21,
    GT_REC_FIRST_SWITCH = 23,
};

/* gotrace_recorder.attention: what events do besides. */
enum {
    GT_REC_CLOSING = 1, /* the era before ends; in this one nothing is recorded */
    GT_REC_GC_DUE = 2,  /* a GC cycle is active, which the era lacks */
};

/* gt_rec_state.described while the state is being described. */
#define GT_REC_BUSY UINT64_MAX

/* ---- buffers ------------------------------------------------------------------------------- */

/* What a buffer has. */
enum { GT_REC_EVENTS = 1, GT_REC_OWN, GT_REC_TABLE }; /* OWN: written by the encoder */

/* In a crash file the members are written in an order in which a kill between two of them leaves
 * what is valid: gt_rec_commit. */
typedef struct gt_rec_buffer {
    struct gt_rec_buffer *next; /* in a list */
    uint64_t last_ticks, last_seq;
    uint8_t *p, *end; /* where the next record is written; end of the buffer */
    uint8_t *length;  /* v2: position of the size of the batch */
    uint64_t era;     /* 0: it is free, or not complete yet */
    uint64_t order;   /* of buffers in the trace */
    uint32_t kind;
    bool mapped; /* it is in the crash file */
    uint8_t bytes[] __attribute__((aligned(8)));
} gt_rec_buffer;

_Static_assert(offsetof(gt_rec_buffer, bytes) == sizeof(gt_rec_buffer), "bytes follow the struct");

enum {
    GT_REC_ROOM = 64 << 10, /* as in Go, whose buffers include a header */
    GT_REC_BUFFER_SIZE = sizeof(gt_rec_buffer) + GT_REC_ROOM,
    GT_REC_MUCH = 8 * GT_REC_BUFFER_SIZE, /* that waits: the thread that writes does not rest */
};

/* What was written before is in memory if what is written afterwards is. The processor takes care
 * of the order, also when the thread is killed; the compiler must too. */
static inline void gt_rec_commit(void)
{
    atomic_signal_fence(memory_order_release);
}

typedef struct gt_rec_list {
    gt_rec_buffer *first, *last;
} gt_rec_list;

/* A complete generation of a flight recorder. */
typedef struct gt_rec_generation {
    struct gt_rec_generation *next;
    gt_rec_list buffers;
    uint64_t begin_ns;
} gt_rec_generation;

/* Whose events a buffer has: a proc's (v1), a thread's (v2), or events without either. */
typedef struct gt_rec_stream {
    gt_rec_buffer *buffers[GT_REC_OPEN]; /* by era */
    uint64_t id;                         /* in batch headers */
    uint64_t last_ticks;                 /* of the last event of the buffer before */
} gt_rec_stream;

typedef struct gt_rec_entry gt_rec_entry;

/* ---- states ---------------------------------------------------------------------------------- */

/* What both goroutines and procs have. */
typedef struct gt_rec_state {
    _Atomic uint64_t described; /* the last era in which its state was written, or GT_REC_BUSY */
    uint64_t id;
    uint64_t seq;       /* the last sequence number in that era */
    uint64_t noted_era; /* the last era in which it was noted (drop.c), and where */
    size_t noted_at;
    _Atomic uint8_t status; /* v2's code; 0: the handle is free, and there is no state */
} gt_rec_state;

/* v2's status codes, which v1's states use too. */
enum { GT_REC_RUNNABLE = 1, GT_REC_RUNNING, GT_REC_SYSCALL, GT_REC_WAITING };
enum {
    GT_REC_PROC_RUNNING = 1,
    GT_REC_PROC_IDLE,
    GT_REC_PROC_SYSCALL,
    GT_REC_PROC_ABANDONED, /* to be taken, and described before the thread that has it */
};

/* Of a proc: a GC scan (1.5). era: of the record of its beginning; 0: none. */
typedef struct gt_rec_scan {
    bool active;
    uint64_t era;
} gt_rec_scan;

/* Of a proc. era: of the record of its beginning; 0: none. */
typedef struct gt_rec_sweep {
    bool allowed, active; /* between start and done; something was swept */
    uint64_t era, swept;
} gt_rec_sweep;

struct gotrace_rec_go {
    gt_rec_state state;
    uint64_t start_pc;
    uint64_t exit_ticks; /* v1: it left a system call that blocked; not written yet. Else 0 */
    uint64_t exit_seq;   /* 1.5: of that moment */
    gotrace_rec_proc *last_proc; /* v1: of its last event, for local forms */
    gotrace_rec_thread *thread;  /* that it runs on, or on which it is in a system call */
    uint64_t ticks;              /* of the last change of its state, as written */
    bool blocked;                /* v1: its system call blocked, or it is described as blocked */
    bool assists;                /* GC mark assist */
    bool created_blocked;        /* and not started since; up to 1.22 its status is runnable */
    bool ran;
    uint64_t uncreated; /* v2: the era in which it was created without a proc, which the trace
                           cannot have: it is created by its first event. 0: none */
    const gt_rec_entry *stack; /* where it stopped last; NULL: unknown, or it never ran. In: */
    uint64_t stack_era;        /* after whose end it is not valid */
    gotrace_rec_go *next_free;
    uint64_t live_id; /* checking mode: its id; 0: the handle is free */
};

struct gotrace_rec_proc {
    gt_rec_state state;
    gt_rec_stream stream; /* v1 */
    uint64_t ticks;       /* v2: of the last change of its state, as written */
    gotrace_rec_thread *thread;
    gt_rec_sweep sweep; /* active, but not allowed: the handle was freed meanwhile */
    gt_rec_scan scan;
    _Atomic bool freed; /* the handle is free */
    gotrace_rec_proc *next;
} __attribute__((aligned(GT_LINE)));

struct gotrace_rec_thread {
    _Atomic uint64_t busy; /* odd: in an event */
    uint64_t busy_count;   /* the same, for the thread itself */
    gotrace_recorder *recorder;
    uint64_t era;   /* of the current event; 0: it is not recorded */
    uint64_t ticks; /* of the current event */
    gotrace_rec_proc *proc;
    gotrace_rec_go *go;
    _Atomic uint64_t proc_id; /* of proc, for samples: another thread may take it */
    gt_rec_stream stream;     /* v2 */
    gotrace_rec_go *free;     /* handles for new goroutines */
    uint64_t id;
    bool in_world; /* it holds gotrace_recorder.world */
    bool closing;  /* the era is one in which nothing is recorded any more */
    bool ended;
    _Atomic bool live;       /* not ended */
    _Atomic pthread_t owner; /* checking mode: who uses it; 0: nobody yet */
    gotrace_rec_thread *next, *next_free;
} __attribute__((aligned(GT_LINE)));

typedef struct gt_rec_slab {
    struct gt_rec_slab *next;
    gotrace_rec_go goroutines[GT_REC_SLAB];
} gt_rec_slab;

/* A GC cycle, or a stop of the world. era: of the record of its beginning; 0: none. by: the
 * goroutine that stopped the world. */
typedef struct gt_rec_span {
    bool active, shown; /* shown: gc, the trace has it as active */
    uint64_t era, seq;
    const gotrace_rec_go *by;
} gt_rec_span;

/* A proc or goroutine at the beginning of an era. */
typedef struct gt_rec_noted {
    bool is_proc;
    uint8_t status;
    bool range;   /* it sweeps, or assists */
    bool touched; /* it has an event in the era */
    bool kept;    /* of drop.c */
    uint64_t id, thread, start_pc;
} gt_rec_noted;

/* All of them. before, after: times just before its beginning, and after the end of the last event
 * of the era before. gc: before its first event about the collector, if it has any. */
typedef struct gt_rec_notes {
    gt_rec_noted *list;
    size_t count, capacity;
    uint64_t before, after, gc_seq;
    bool gc_noted, gc_shown;
} gt_rec_notes;

typedef struct gt_crash gt_crash;

/* ---- tables ---------------------------------------------------------------------------------- */

enum { GT_REC_TABLE_SLOTS = 1 << 13 };

/* The frames of a PC, with their names. */
typedef struct gt_rec_named {
    struct gt_rec_named *next;
    size_t size, count;
    gotrace_frame frames[]; /* then their texts */
} gt_rec_named;

/* Of the stacks of an era, when it ends. */
typedef struct gt_rec_names {
    gt_map by_pc; /* addresses of gt_rec_named */
    gt_rec_named *first;
} gt_rec_names;

struct gt_rec_entry {
    gt_rec_entry *next;    /* in the slot */
    gt_rec_entry *younger; /* in order of ids */
    uint64_t hash;
    uint64_t start; /* gt_rec_key.start */
    uint32_t id, size;
    uint8_t bytes[];
};

typedef struct gt_rec_table {
    _Atomic(gt_rec_entry *) slots[GT_REC_TABLE_SLOTS];
    gt_rec_entry *first, **last;
    uint32_t count;
} gt_rec_table;

/* Of an era. */
typedef struct gt_rec_tables {
    gt_rec_table stacks, strings;
    gt_rec_names names;
} gt_rec_tables;

/* A string, or the PCs of a stack. start: of a stack, a return address in the function that its
 * goroutine starts with, at which the frames that are written end; 0: they do not. */
typedef struct gt_rec_key {
    const void *bytes;
    size_t size;
    uint64_t start;
} gt_rec_key;

/* The entry of the key in the table of that era; NULL: memory is refused. strings, or stacks. by:
 * v1, writes the record of a new string, before another thread can use the id; NULL: nobody. */
const gt_rec_entry *gt_rec_table_entry(gotrace_recorder *r, uint64_t era, bool strings,
                                       const gt_rec_key *key, bool locked, gotrace_rec_thread *by);
void gt_rec_table_clear(gotrace_recorder *r, gt_rec_table *table);

/* The id of an entry; 0: there is none. */
static inline uint64_t gt_rec_id(const gt_rec_entry *entry)
{
    return entry ? entry->id : 0;
}

/* The entry of a stack of a goroutine with that function (0: none); NULL: no stack, or memory is
 * refused. */
const gt_rec_entry *gt_rec_stack_entry(gotrace_recorder *r, uint64_t era, uint64_t start_pc,
                                       const uint64_t *pcs, size_t depth, bool locked);
/* Takes the stack of the caller whose frame is at that address; returns its depth, at most max. */
size_t gt_rec_take_stack(const gotrace_recorder *r, const void *frame, uint64_t *pcs, size_t max);
/* The same for the code that a signal has interrupted; context: a ucontext_t. */
size_t gt_rec_take_interrupted(const gotrace_recorder *r, const void *context, uint64_t *pcs,
                               size_t max);
/* The function of a goroutine as a stack, with a return address as in Go; NULL: none. */
const gt_rec_entry *gt_rec_start_entry(gotrace_recorder *r, uint64_t era, uint64_t start_pc,
                                       bool locked);
/* What an event has for it: the id of that stack, or in 1.5 the address. */
uint64_t gt_rec_start_id(const gotrace_recorder *r, const gt_rec_entry *start, uint64_t start_pc);
/* Finds the names of the stacks of an era, which no event uses any more, while events of the next
 * one go on. The caller holds `control`, but not the lock. */
void gt_rec_stacks_name(gotrace_recorder *r, uint64_t era);
/* Passes all stacks of the era to the encoder. */
bool gt_rec_stacks_end(gotrace_recorder *r, uint64_t era, uint64_t ticks);
void gt_rec_names_clear(gotrace_recorder *r, gt_rec_names *names);

/* v2: why a goroutine stops, and who recorded that; the id of the string in each generation. */
typedef enum gt_rec_word {
    GT_REC_WORD_GOSCHED = 1,
    GT_REC_WORD_PREEMPTED,
    GT_REC_WORD_BLOCK, /* plus gotrace_rec_reason */
    GT_REC_WORD_RECORDER = GT_REC_WORD_BLOCK + GOTRACE_REC_FOREVER + 1,
    GT_REC_WORDS
} gt_rec_word;

void gt_rec_strings_begin(gotrace_recorder *r, uint64_t era);
/* v1: writes the record of a string. The caller holds the lock. */
void gt_rec_put_string(gotrace_rec_thread *t, uint64_t id, const void *text, size_t size);
/* The id of a string in the event's era. */
uint64_t gt_rec_string(gotrace_rec_thread *t, const char *text, size_t size);
/* Passes all strings of the era to the encoder. */
bool gt_rec_strings_end(gotrace_recorder *r, uint64_t era, uint64_t ticks);

/* ---- samples --------------------------------------------------------------------------------- */

typedef struct gt_rec_sample {
    _Atomic uint64_t complete; /* its number plus one */
    uint64_t era, ticks, thread, proc, go, start_pc;
    uint32_t depth;
    uint64_t pcs[GT_REC_SAMPLE_FRAMES];
} gt_rec_sample;

bool gt_rec_samples_begin(gotrace_recorder *r);
/* Writes the samples taken up to the end of that era, the oldest open one. */
void gt_rec_samples_put(gotrace_recorder *r, uint64_t era);

/* ---- the recorder ---------------------------------------------------------------------------- */

/* A reading of both clocks. */
typedef struct gt_rec_moment {
    uint64_t ticks, ns;
} gt_rec_moment;

struct gotrace_recorder {
    /* Read by every event. */
    _Atomic uint64_t era; /* 0: nothing is recorded. Else larger than any before */
    int version;
    bool v2;
    bool raises;            /* timestamps of a buffer differ */
    bool numbers;           /* 1.5: events have numbers in common, and there are no local forms */
    bool fences;            /* the kernel has no barrier for all threads: see barrier_everywhere */
    atomic_uint attention;  /* GT_REC_CLOSING, set before the era, GT_REC_GC_DUE */
    bool checks;            /* the checking mode, see misuse.h */
    size_t capacity;        /* of a buffer */
    bool counter;           /* the clock is the processor's counter */
    gotrace_clock_fn clock; /* otherwise */
    void *clock_ctx;
    unsigned divided;   /* bits by which the ticks of a coarse clock are divided */
    uint64_t first_era; /* of this trace */
    gt_rec_tables tables[GT_REC_OPEN];

    /* 1.5: the last number, and its time. The lock is the last that a thread takes. */
    pthread_mutex_t numbering __attribute__((aligned(GT_LINE)));
    uint64_t seq, seq_ticks;
    _Atomic uint64_t last_reading; /* of a coarse clock */

    gt_rec_sample *samples; /* a ring; numbers of entries: */
    _Atomic uint64_t sample_begin, sample_end, samples_lost;

    /* In the order in which they are taken. */
    pthread_mutex_t control __attribute__((aligned(GT_LINE))); /* start, stop, generations */
    pthread_mutex_t world; /* of gc, stw, and the begin of an era */
    pthread_mutex_t lock;  /* of the rest */
    gt_rec_span gc, stw;
    uint64_t world_ticks; /* of the last event about them, as written */
    gt_heap heap;
    gotrace_config config;
    gotrace_limits limits;
    gotrace_recorder_options options;
    gotrace_error error;
    _Atomic bool failed; /* written with the lock */
    uint64_t last_era;   /* the largest one so far */
    uint64_t open_era;   /* the oldest one whose states are not complete */
    gotrace_rec_thread *threads, *free_threads;
    uint64_t ended_ticks; /* the last ones of threads that have ended */
    gotrace_rec_proc *procs;
    gt_rec_slab *slabs;
    gotrace_rec_go *free;
    gt_rec_stream no_stream;     /* of events without a proc or thread */
    gt_rec_stream sample_stream; /* v1: of samples */
    uint64_t timers[GT_REC_TIMERS];
    size_t timer_count;
    gotrace_encoder *encoder;
    gt_rec_moment created; /* the recorder */
    uint64_t frequency;    /* v2: of this trace; 0: not measured yet */
    uint64_t era_due;      /* gt_rec_monotonic: when the generation is to end */
    uint64_t era_began;    /* the same: when it began */

    /* Output. */
    pthread_cond_t changed; /* a buffer is full, or reading has ended */
    pthread_cond_t room;    /* fewer buffers wait, or the era has changed */
    uint64_t waiting;       /* bytes of the buffers in `full`, and in `window` */
    bool naming;            /* names are found for the era before: what is too much waits */
    bool beginning;         /* an era begins, for which events are waited for: none may wait */
    bool cut;               /* the trace ended because of them */
    gotrace_recorder_losses losses;
    gotrace_recorder_losses losses_returned; /* a copy that does not change */
    gt_rec_notes notes[GT_REC_OPEN];         /* by era, if generations can be dropped */
    uint64_t dropping;                       /* the era whose events are dropped; 0: none */
    bool bridging;                           /* other events are written for them */
    gt_rec_list ready;                       /* then: of complete generations */
    uint64_t ready_bytes;
    gt_rec_generation *window, **window_end; /* flight recorder: complete generations */
    size_t header_left;                      /* flight recorder: bytes of the header to come */
    gt_rec_list full[GT_REC_OPEN];           /* by era */
    gt_rec_buffer *spare;
    gt_rec_buffer *reading;
    gt_rec_buffer *own; /* of what the encoder writes */
    uint64_t order;     /* of the last buffer */
    gt_crash *crash;    /* NULL: there is no crash file */
    bool stopped;       /* no more comes */
    bool rests;         /* the thread that writes: until the time is over, or much waits */
    bool read_out;      /* and all was read */
    gotrace_write_fn write;
    void *write_ctx;
    pthread_t writer;
    bool has_writer;
    bool forked;            /* it is of the parent process */
    gotrace_recorder *next; /* in the list of fork.c */
};

/* ---- recorder.c ------------------------------------------------------------------------------ */

void gt_rec_fail_memory(gotrace_recorder *r);
void gt_rec_fail_write(gotrace_recorder *r);
bool gt_rec_fail_encoder(gotrace_recorder *r);
/* Waits for `control`; until it is given back the thread is not cancelled. */
static inline int gt_rec_take_control(gotrace_recorder *r)
{
    const int cancel = gt_thread_hold_cancel();
    pthread_mutex_lock(&r->control);
    return cancel;
}
static inline void gt_rec_leave_control(gotrace_recorder *r, int cancel)
{
    pthread_mutex_unlock(&r->control);
    gt_thread_allow_cancel(cancel);
}
/* Ends the generation; false: the world is stopped, or the trace is cut. The caller holds
 * `control`.
 */
bool gt_rec_advance(gotrace_recorder *r);
/* Sets the version, of which there is an encoder. */
void gt_rec_set_version(gotrace_recorder *r, int version);
/* Writes what ends an era in the trace: samples and tables, in v1 the footer. The caller holds the
 * lock. */
bool gt_rec_end_era(gotrace_recorder *r, uint64_t era);
/* Frees the tables of an era. */
void gt_rec_clear_tables(gotrace_recorder *r, uint64_t era);
/* Ends the trace before it is stopped. The caller holds the lock. */
void gt_rec_cut(gotrace_recorder *r);
/* A handle for a new goroutine; NULL: memory is refused. */
gotrace_rec_go *gt_rec_new_go(gotrace_rec_thread *t);

/* ---- buffer.c -------------------------------------------------------------------------------- */

/* Replaces the stream's buffer by one with room for an event of that size at these ticks. NULL:
 * memory is refused, the event is lost. */
gt_rec_buffer *gt_rec_refill(gotrace_recorder *r, gt_rec_stream *s, uint64_t era, uint64_t ticks,
                             uint64_t seq);
void gt_rec_append(gt_rec_list *list, gt_rec_buffer *b);
/* Passes the stream's buffer of that era to the output. The caller holds the lock. */
void gt_rec_flush(gotrace_recorder *r, gt_rec_stream *s, uint64_t era);
/* The caller holds the lock. Makes the event wait for the output, or ends the trace, if too much
 * waits. waits: the event can wait. */
void gt_rec_limit(gotrace_recorder *r, uint64_t era, bool waits);
/* The output of the encoder. */
bool gt_rec_put_bytes(void *recorder, const void *bytes, size_t size);
void gt_rec_flush_own(gotrace_recorder *r);
/* Discards what waits to be read. */
void gt_rec_discard(gotrace_recorder *r);
void gt_rec_free_buffers(gotrace_recorder *r);
/* An era is complete: its buffers are the next ones that may be written. */
void gt_rec_make_ready(gotrace_recorder *r, uint64_t era);
/* The next buffer that may be written, of the oldest era that is open. */
gt_rec_buffer *gt_rec_next_full(gotrace_recorder *r);

/* Makes a buffer, or those of a list, free. */
void gt_rec_give_back(gotrace_recorder *r, gt_rec_buffer *b);
void gt_rec_spare(gotrace_recorder *r, gt_rec_list *list);

/* ---- flight.c -------------------------------------------------------------------------------- */

static inline bool gt_rec_is_flight(const gotrace_recorder *r)
{
    return r->v2 && r->options.flight_ns > 0;
}
/* Moves what is complete to the window, and drops what is too old or too large. The caller holds
 * the lock. */
void gt_rec_keep_generation(gotrace_recorder *r, uint64_t begin_ns);
void gt_rec_drop_window(gotrace_recorder *r);

/* ---- drop.c ---------------------------------------------------------------------------------- */

/* The id of the goroutine that writes a message about what was dropped. */
#define GT_REC_MESSENGER (UINT64_MAX >> 2)

static inline bool gt_rec_drops(const gotrace_recorder *r)
{
    return r->v2 && r->options.when_full == GOTRACE_REC_DROP && r->options.max_bytes > 0 &&
           !gt_rec_is_flight(r);
}
/* Notes a state at the beginning of an era. touched: an event follows. */
void gt_rec_note_go(gotrace_recorder *r, uint64_t era, gotrace_rec_go *g, bool touched,
                    bool locked);
void gt_rec_note_proc(gotrace_recorder *r, uint64_t era, gotrace_rec_proc *p, uint8_t status,
                      bool touched, bool locked);
/* An event of that era about the collector follows. The caller holds `world`. */
void gt_rec_note_gc(gotrace_recorder *r, uint64_t era);

/* ---- activity.c ------------------------------------------------------------------------------ */

/* Ends the sweep of the thread's proc, in an event of the thread. */
void gt_rec_sweep_end(gotrace_rec_thread *t, bool recorded, uint64_t reclaimed);
/* An era begins. The caller holds the lock, also for the following functions. */
void gt_rec_notes_begin(gotrace_recorder *r, uint64_t era);
void gt_rec_notes_free(gotrace_recorder *r);
/* Drops the events of the era, unless another one is still open. */
void gt_rec_drop(gotrace_recorder *r, uint64_t era);
/* Writes other events in their place: the next era has begun, and all of it is noted. The caller
 * holds `world` too. */
void gt_rec_bridge(gotrace_recorder *r, uint64_t era);

/* ---- fork.c ---------------------------------------------------------------------------------- */

/* From now on the children of fork record nothing. */
void gt_rec_enlist(gotrace_recorder *r);
void gt_rec_delist(const gotrace_recorder *r);

/* ---- output.c -------------------------------------------------------------------------------- */

/* Starts a thread that passes the output to gotrace_recorder.write. */
bool gt_rec_begin_writer(gotrace_recorder *r);

/* ---- describe.c ------------------------------------------------------------------------------ */

/* Writes the state of a goroutine or proc, if that was not done in the event's era. */
void gt_rec_describe_go(gotrace_rec_thread *t, gotrace_rec_go *g);
/* status: what v2 writes. */
void gt_rec_describe_proc(gotrace_rec_thread *t, gotrace_rec_proc *p, uint8_t status);
/* v1: describes what exists when an era has begun, except what runs. */
void gt_rec_describe_before(gotrace_recorder *r, uint64_t era);
/* Writes that a GC cycle is active, if the era lacks that and the thread can. */
void gt_rec_describe_gc(gotrace_rec_thread *t);
/* Describes all that has no event in an era, after all threads have left it. */
void gt_rec_describe_rest(gotrace_recorder *r, uint64_t era);
/* Notes all that is not described in an era, which has begun. */
void gt_rec_note_rest(gotrace_recorder *r, uint64_t era);
/* Takes stacks where goroutines stopped over into the next era, which has begun. */
void gt_rec_carry_stacks(gotrace_recorder *r, uint64_t era);

/* ---- clock.c --------------------------------------------------------------------------------- */

/* Uses the processor's counter if it can be used as a clock, else CLOCK_MONOTONIC. */
void gt_rec_choose_clock(gotrace_recorder *r);
uint64_t gt_rec_monotonic(void);
/* Both clocks at the same time. */
gt_rec_moment gt_rec_moment_now(const gotrace_recorder *r);
/* Ticks per second. */
uint64_t gt_rec_frequency(const gotrace_recorder *r);

/* Reading the counter in place saves an indirect call, 2 ns. Go divides it by 64, so that
 * differences take fewer bytes. A tick is then longer than an event takes here, and because the
 * times of a buffer differ, they would run ahead of those of other threads. Divided by 16, a tick
 * is shorter than reading the counter takes. */
enum { GT_REC_TICK_SHIFT = 4 };

static inline uint64_t gt_rec_now(const gotrace_recorder *r)
{
#if defined __x86_64__
    /* <x86intrin.h>, which has __rdtsc, takes half a second to compile in each file. */
    if (__builtin_expect(r->counter, 1))
        return __builtin_ia32_rdtsc() >> GT_REC_TICK_SHIFT;
#endif
    return r->clock(r->clock_ctx);
}

/* 1.5: takes the next number, and the time of it. Not a spin lock: with more threads than
 * processors they would all spin while the one that takes a number is not scheduled. */
static inline void gt_rec_number(gotrace_recorder *r, uint64_t *ticks, uint64_t *number)
{
    pthread_mutex_lock(&r->numbering);
    const uint64_t now = gt_rec_now(r); /* the processor may read it early */
    if (r->seq_ticks < now)
        r->seq_ticks = now;
    *ticks = r->seq_ticks;
    *number = ++r->seq;
    pthread_mutex_unlock(&r->numbering);
}

#endif
