/*
 * writer.h - shared by the parts of the writer:
 *
 *   writer.c           public interface: checks input against the event table
 *   writer_state.c     goroutines, procs, threads and tasks that are alive
 *   v1/writer.c        events of v1: requirements, effects, records
 *   v2/writer.c        the same for v2
 *   v2/status.c        v2: statuses; beginning and end of generations
 *
 * The writer uses the encoder, which handles records, buffers and batches, but not their meaning.
 * It tracks only the state that it needs to assign sequence numbers and to reject impossible
 * events. It rejects what the reader would report, with the same rule.
 *
 * A function of the writer has three steps: check, without writing anything, so that a rejected
 * event leaves the writer unchanged; write the missing context (the state before the trace began,
 * statuses); write the event and change the state. Events are written in the order of the calls:
 * if a timestamp must be raised by a tick, because two events in a buffer must differ, later events
 * on other buffers are not written with an earlier time.
 */
#ifndef GT_WRITER_H
#define GT_WRITER_H

#include "write/encoder.h"
#include "core/map.h"

/* States of goroutines, with v2's status codes; v1 needs no others. */
enum { GT_W_NONE = 0, GT_W_RUNNABLE, GT_W_RUNNING, GT_W_SYSCALL, GT_W_WAITING, GT_W_STOPPED };

/* States of procs, in the same way. UNKNOWN: a proc from before the trace. */
enum { GT_W_UNKNOWN = 0, GT_W_BUSY, GT_W_IDLE, GT_W_IN_SYSCALL, GT_W_ABANDONED };

/* The state for a gotrace_state of a goroutine. */
static inline uint8_t gt_w_state_of(uint8_t state)
{
    static const uint8_t states[] = {
        [GOTRACE_STATE_NOT_EXIST] = GT_W_NONE,  [GOTRACE_STATE_RUNNABLE] = GT_W_RUNNABLE,
        [GOTRACE_STATE_RUNNING] = GT_W_RUNNING, [GOTRACE_STATE_SYSCALL] = GT_W_SYSCALL,
        [GOTRACE_STATE_WAITING] = GT_W_WAITING,
    };
    return states[state];
}

typedef struct gt_w_region {
    uint64_t task, name; /* v1: id of the name; v2: its hash (ids change) */
} gt_w_region;

typedef struct gt_w_goroutine gt_w_goroutine;
typedef struct gt_w_proc gt_w_proc;
typedef struct gt_w_thread gt_w_thread;

/* The fields that every event needs are in the first cache line. */
struct gt_w_goroutine {
    uint64_t id;
    uint64_t seq;        /* last sequence number */
    uint64_t generation; /* v2: last generation in which its status was written */
    gt_w_thread *thread; /* v2: where it runs, or is in a system call */
    gt_w_proc *proc;     /* v1: where it runs */
    int64_t last_proc;   /* v1: proc of its last event, for local forms */
    uint8_t state;       /* GT_W_NONE ... */
    bool assisting;
    bool assisted;      /* v2: `assisting` is known */
    bool stopping;      /* v2: it stopped the world */
    bool exit_deferred; /* v1: it left a system call, and its GoSysExit is deferred */
    uint32_t region_count;
    gt_w_goroutine *previous, *next; /* in order of the last status */
    uint64_t blocked, blocked_given; /* v1: ticks when a call blocked: as written, as passed */
    uint64_t created;                /* v1: ticks */
    uint64_t deferred_ticks, deferred_seq; /* v1: of the deferred GoSysExit */
    uint64_t assist_generation; /* v2: last generation in which an active assist was written */
    gt_w_region *regions;       /* open regions, innermost last */
    size_t region_capacity;
};

struct gt_w_proc {
    int64_t id;
    uint64_t seq, generation;
    gt_w_thread *thread;       /* v2: the thread that has it */
    gt_w_goroutine *goroutine; /* v1: runs on it */
    uint8_t state;             /* GT_W_UNKNOWN ...; v1: busy, idle or unknown */
    bool sweeping;
    bool swept;                 /* v2: `sweeping` is known */
    bool stopping;              /* v1 until 1.9: it stopped the world */
    uint64_t sweep_generation;  /* v2: last generation in which an active sweep was written */
    gt_w_proc *previous, *next; /* in order of the last status */
};

struct gt_w_thread {
    int64_t id; /* GOTRACE_NO_THREAD: events without a thread */
    gt_w_goroutine *goroutine;
    gt_w_proc *proc;
    gt_v2_buffer buffer;
    gt_w_thread *previous, *next;
};

/* A list in order of the last status, so that items without events in a generation come first. */
#define GT_W_LIST(type)                                                                            \
    struct {                                                                                       \
        type *first, *last;                                                                        \
    }

/* How an event may be written; spec NULL: not at all. */
typedef struct gt_w_shape {
    const gotrace_event_spec *spec;
    uint8_t arg_count;
    bool stack, data;
    uint32_t string_args, stack_args; /* bit sets of arguments that are such ids */
} gt_w_shape;

enum { GT_W_NEAR = 64, GT_W_NEAR_GOROUTINES = 1024 };

struct gotrace_writer {
    gotrace_encoder *encoder;
    gt_heap *heap; /* the encoder's: one limit for both */
    int version;
    gotrace_writer_options options;
    gotrace_status status; /* GOTRACE_ERROR is permanent: a failed write or refused memory */
    gotrace_error error;
    bool finished;
    gt_w_shape shapes[GT_CODES];
    uint64_t given;  /* current time in ticks, as set by the caller */
    uint64_t now;    /* the same, or later if a timestamp was raised */
    uint64_t events; /* number of events written */

    gt_map by_goroutine, by_proc, by_thread, tasks;
    gt_map ended; /* v1, where ids are not reused: id / 64 to a bit set */
    GT_W_LIST(gt_w_goroutine) goroutines;
    GT_W_LIST(gt_w_proc) procs;
    GT_W_LIST(gt_w_thread) threads;
    gt_w_goroutine *spare; /* free list, linked by next */
    uint64_t goroutine_count, goroutine_limit, proc_count, proc_limit;
    gt_w_proc *last_proc; /* the last one found */
    /* Caches of the last ones found, by the low bits of their ids. */
    gt_w_goroutine *near_goroutines[GT_W_NEAR_GOROUTINES];
    gt_w_proc *near_procs[GT_W_NEAR];
    gt_w_thread *near_threads[GT_W_NEAR];

    uint64_t seq;    /* until 1.6: last sequence number of all events */
    uint64_t gc_seq; /* v1: number of the next GC cycle; v2: last number written */
    enum { GT_W_GC_UNKNOWN, GT_W_GC_OFF, GT_W_GC_ON } gc;
    bool stopping; /* v1 from 1.10 on: the world is stopped */

    /* The last event whose order readers determine by time only: ticks and place (proc or
     * thread). */
    uint64_t marked_ticks;
    int64_t marked_place;
    uint64_t marked_id; /* v2: the goroutine that ended there, 0 if it was not an end */

    /* v2 */
    uint64_t generation, began; /* number of the generation, and ticks of its beginning */
    uint64_t statuses;          /* upper bound of the statuses in automatic generations */
    bool begun;                 /* `began` has been used */
    bool ends;                  /* the generation is being ended */
    bool open;                  /* something of the generation was written */
    uint64_t gc_generation;     /* last generation in which the active GC cycle was written */
    bool gc_due;                /* to be written on the first running goroutine */
    gotrace_clocks clocks;      /* last clock snapshot passed by the caller */
    bool has_clocks;            /* it was for this generation */
    gt_w_thread no_thread;      /* for events without a thread */
    gt_w_thread *latest;        /* thread of the last event */
};

#define GT_W_APPEND(list, item)                                                                    \
    do {                                                                                           \
        (item)->next = NULL;                                                                       \
        (item)->previous = (list).last;                                                            \
        *((list).last ? &(list).last->next : &(list).first) = (item);                              \
        (list).last = (item);                                                                      \
    } while (0)

#define GT_W_REMOVE(list, item)                                                                    \
    do {                                                                                           \
        *((item)->previous ? &(item)->previous->next : &(list).first) = (item)->next;              \
        *((item)->next ? &(item)->next->previous : &(list).last) = (item)->previous;               \
    } while (0)

/* An event being written, with its context. */
typedef struct gt_w_step {
    gotrace_writer *w;
    const gotrace_event_data *h;
    uint8_t code;             /* code of the full form */
    const gt_v1_shape *shape; /* v1: shape of that code */
    gt_w_thread *t;
    gt_w_proc *p;
    gt_w_goroutine *g; /* the goroutine of the context */
} gt_w_step;

/* ---- writer.c ------------------------------------------------------------------------------- */

/* The encoder failed, and so does the writer. */
gotrace_status gt_w_encoder_failed(gotrace_writer *w) __attribute__((cold));
gotrace_status gt_w_no_memory(gotrace_writer *w) __attribute__((cold));

/* Sets the error: why the event is impossible. True if it is written nevertheless. */
bool gt_w_refuse(gotrace_writer *w, gotrace_rule rule, const char *format, ...)
    __attribute__((format(printf, 3, 4), cold));

/* Call before writing an event. If the last marked event concerns the same id at another place and
 * has the same time, advances the time, because readers order the two by time only. */
static inline void gt_w_after(gotrace_writer *w, int64_t place, uint64_t id)
{
    if (w->now == w->marked_ticks && w->marked_place != place && w->marked_id == id)
        w->now++;
}

/* Marks the event just written. */
static inline void gt_w_mark(gotrace_writer *w, int64_t place, uint64_t id)
{
    w->marked_ticks = w->now;
    w->marked_place = place;
    w->marked_id = id;
}

const char *gt_w_name(const gt_w_step *s);
const char *gt_w_state_name(uint8_t state);
const char *gt_w_proc_state_name(uint8_t state);

/* ---- writer_state.c ------------------------------------------------------------------------- */

void gt_w_state_init(gotrace_writer *w, const gotrace_config *config);
void gt_w_state_free(gotrace_writer *w);

/* Searches all objects. make: creates the object if it does not exist; NULL with the error set on
 * failure. */
gt_w_goroutine *gt_w_seek_goroutine(gotrace_writer *w, uint64_t id, bool make);
gt_w_proc *gt_w_seek_proc(gotrace_writer *w, int64_t id, bool make);
gt_w_thread *gt_w_seek_thread(gotrace_writer *w, int64_t id);

static inline gt_w_goroutine *gt_w_get_goroutine(gotrace_writer *w, uint64_t id, bool make)
{
    gt_w_goroutine *g = w->near_goroutines[id % GT_W_NEAR_GOROUTINES];
    return g && g->id == id ? g : gt_w_seek_goroutine(w, id, make);
}

static inline gt_w_proc *gt_w_get_proc(gotrace_writer *w, int64_t id, bool make)
{
    gt_w_proc *p = w->near_procs[(uint64_t)id % GT_W_NEAR];
    if (!p || p->id != id)
        return gt_w_seek_proc(w, id, make);
    return w->last_proc = p;
}

/* An existing object, or NULL. */
static inline gt_w_goroutine *gt_w_find_goroutine(gotrace_writer *w, uint64_t id)
{
    return gt_w_get_goroutine(w, id, false);
}

static inline gt_w_proc *gt_w_find_proc(gotrace_writer *w, int64_t id)
{
    return gt_w_get_proc(w, id, false);
}

/* An existing or new object; NULL with the error set on failure. */
static inline gt_w_goroutine *gt_w_make_goroutine(gotrace_writer *w, uint64_t id)
{
    return gt_w_get_goroutine(w, id, true);
}

static inline gt_w_proc *gt_w_make_proc(gotrace_writer *w, int64_t id)
{
    return gt_w_get_proc(w, id, true);
}

static inline gt_w_thread *gt_w_make_thread(gotrace_writer *w, int64_t id)
{
    gt_w_thread *t = w->near_threads[(uint64_t)id % GT_W_NEAR];
    return t && t->id == id ? t : gt_w_seek_thread(w, id);
}

/* Removes a goroutine that ended. In v1 its id is remembered. */
gotrace_status gt_w_end_goroutine(gotrace_writer *w, gt_w_goroutine *g);
bool gt_w_has_ended(const gotrace_writer *w, uint64_t id);

/* Begin a region or task. */
gotrace_status gt_w_begin_region(gotrace_writer *w, gt_w_goroutine *g, uint64_t task,
                                 uint64_t name);
gotrace_status gt_w_begin_task(gotrace_writer *w, uint64_t task);
/* Checks that the region that ends is the goroutine's innermost open one. */
bool gt_w_check_region_end(gotrace_writer *w, const gt_w_goroutine *g, gt_w_region ended);

/* ---- the two formats ------------------------------------------------------------------------ */

gotrace_status gt_w_v1_event(gt_w_step *s);
gotrace_status gt_w_v1_finish(gotrace_writer *w);
gotrace_status gt_w_v2_event(gt_w_step *s);
gotrace_status gt_w_v2_finish(gotrace_writer *w);
gotrace_status gt_w_v2_advance(gotrace_writer *w, const gotrace_clocks *clocks, uint64_t ticks);
/* Begins a generation automatically, without statuses from the caller. */
gotrace_status gt_w_v2_begin_due(gotrace_writer *w, uint64_t ticks);

/* ---- v2: write/v2/status.c ----------------------------------------------------------------- */

/* For %llu. */
static inline unsigned long long gt_w_num(uint64_t n)
{
    return n;
}

/* Begins a record of v2 on a thread, like gt_v2_event. */
static inline uint8_t *gt_w_begin_record(gotrace_writer *w, gt_w_thread *t, unsigned code,
                                         size_t count)
{
    gotrace_encoder *e = w->encoder;
    uint64_t thread = t == &w->no_thread ? GT_V2_NO_THREAD : (uint64_t)t->id;
    uint8_t *p = gt_v2_event(e, &t->buffer, thread, code, w->now, w->options.equal_ticks, count);
    if (!p)
        gt_w_encoder_failed(w);
    /* Later events on any thread must not precede a timestamp that was raised. */
    else if (e->event_ticks > w->now)
        w->now = e->event_ticks;
    return p;
}

/* v2: writes a status that the caller did not pass: if possible, a little before now. args are all
 * its values except the time. */
bool gt_w_put_status(gotrace_writer *w, gt_w_thread *t, unsigned code, const uint64_t *args,
                     size_t count);

/* Bind a goroutine or proc to a thread; NULL: to none. */
void gt_w_bind_goroutine(gt_w_thread *t, gt_w_goroutine *g);
void gt_w_bind_proc(gt_w_thread *t, gt_w_proc *p);

/* v2: what is there when the trace begins is found in its first generation only. */
static inline bool gt_w_is_first(const gotrace_writer *w)
{
    return w->generation == w->options.first_generation;
}

/* Write the status, on thread t or where it must be, unless that was done in this generation.
 * thread: the one in the goroutine's status. */
bool gt_w_emit_proc_now(gotrace_writer *w, gt_w_proc *p, gt_w_thread *t);
bool gt_w_emit_goroutine_now(gotrace_writer *w, gt_w_goroutine *g, gt_w_thread *t, uint64_t thread);

static inline bool gt_w_emit_proc(gotrace_writer *w, gt_w_proc *p, gt_w_thread *t)
{
    return p->generation == w->generation || gt_w_emit_proc_now(w, p, t);
}

static inline bool gt_w_emit_goroutine(gotrace_writer *w, gt_w_goroutine *g, gt_w_thread *t,
                                       uint64_t thread)
{
    return g->generation == w->generation || gt_w_emit_goroutine_now(w, g, t, thread);
}

/* The status was written or is not needed: moves the goroutine to the end of its list. */
void gt_w_goroutine_status_done(gotrace_writer *w, gt_w_goroutine *g);

/* Writes that a GC cycle is active, if a goroutine runs on the thread. */
bool gt_w_emit_gc(gotrace_writer *w, gt_w_thread *t);

/* Status events passed by the caller. */
bool gt_w_proc_status_event(gt_w_step *s);
bool gt_w_goroutine_status_event(gt_w_step *s);
bool gt_w_sweep_active(gt_w_step *s);
bool gt_w_assist_active(gt_w_step *s);

/* The first batches of tables have the time at which the generation began. */
static inline uint64_t gt_w_began(gotrace_writer *w)
{
    if (!w->begun)
        w->began = w->now;
    w->begun = true;
    return w->began;
}

/* Call before anything of this generation is written. */
bool gt_w_open_generation_now(gotrace_writer *w);

static inline bool gt_w_open_generation(gotrace_writer *w)
{
    return w->open || gt_w_open_generation_now(w);
}

#endif
