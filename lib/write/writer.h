/*
 * writer.h - what the parts of the writer share:
 *
 *   writer.c           the public face: what is told is checked against the event table
 *   writer_state.c     goroutines, procs, threads and tasks that are alive
 *   write/v1/writer.c  what an event of v1 asks and does, and how it is written
 *   write/v2/writer.c  the same for v2
 *   write/v2/status.c  v2: what a generation says of how things stand; where generations begin
 *                      and end
 *
 * The writer stands above the encoder, which knows how records lie in buffers and buffers in the
 * file, and nothing of what they mean.
 */
#ifndef GT_WRITER_H
#define GT_WRITER_H

#include "write/encoder.h"
#include "core/map.h"

/* States of goroutines: v2's numbers on the wire, of which v1 needs no others. */
enum { GT_W_NONE = 0, GT_W_RUNNABLE, GT_W_RUNNING, GT_W_SYSCALL, GT_W_WAITING, GT_W_STOPPED };

/* States of procs, likewise. Not known is what was there before the trace began. */
enum { GT_W_UNKNOWN = 0, GT_W_BUSY, GT_W_IDLE, GT_W_IN_SYSCALL, GT_W_ABANDONED };

/* A gotrace_state of a goroutine as one of these. */
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
    uint64_t task, name; /* v1: the name's id; v2: its hash, as ids differ by generation */
} gt_w_region;

typedef struct gt_w_goroutine gt_w_goroutine;
typedef struct gt_w_proc gt_w_proc;
typedef struct gt_w_thread gt_w_thread;

/* What every event needs comes first, in one cache line. */
struct gt_w_goroutine {
    uint64_t id;
    uint64_t seq;        /* the last one given */
    uint64_t generation; /* v2: the last generation in which its status was written */
    gt_w_thread *thread; /* v2: that it runs on, or is in a system call on */
    gt_w_proc *proc;     /* v1: that it runs on */
    int64_t last_proc;   /* v1: of its last event, for the short forms */
    uint8_t state;       /* GT_W_NONE ... */
    bool assisting;
    bool assisted; /* v2: whether it is assisting is known */
    bool stopping; /* v2: it has stopped the world */
    bool left;     /* v1: it has left a system call, and its GoSysExit is kept */
    uint32_t region_count;
    gt_w_goroutine *previous, *next; /* in the order of being told of */
    uint64_t blocked, blocked_given; /* v1: ticks at which its last system call blocked, as written
                                        (the timestamp may have been increased), and as given */
    uint64_t created;                /* v1: ticks */
    uint64_t left_ticks, left_seq;   /* v1: of that end */
    uint64_t assist_generation; /* v2: the last generation in which an active assist was written */
    gt_w_region *regions;       /* going on, innermost last */
    size_t region_capacity;
};

struct gt_w_proc {
    int64_t id;
    uint64_t seq, generation;
    gt_w_thread *thread;       /* v2: that has it */
    gt_w_goroutine *goroutine; /* v1: that runs on it */
    uint8_t state;             /* GT_W_UNKNOWN ...; v1: busy, idle or not known */
    bool sweeping;
    bool swept;                 /* v2: whether it is sweeping is known */
    bool stopping;              /* v1, until 1.9: it has stopped the world */
    uint64_t sweep_generation;  /* v2: the last generation in which an active sweep was written */
    gt_w_proc *previous, *next; /* in the order of being told of */
};

struct gt_w_thread {
    int64_t id; /* GOTRACE_NO_THREAD: what happens on none */
    gt_w_goroutine *goroutine;
    gt_w_proc *proc;
    gt_v2_buffer buffer;
    gt_w_thread *previous, *next;
};

/* Linked in the order of their last status, so that those without events come first. */
#define GT_W_LIST(type)                                                                            \
    struct {                                                                                       \
        type *first, *last;                                                                        \
    }

/* The form in which an event can be written; spec NULL: none. */
typedef struct gt_w_shape {
    const gotrace_event_spec *spec;
    uint8_t arg_count;
    bool stack, data;
    uint32_t string_args, stack_args; /* a bit for each argument that is such an id */
} gt_w_shape;

enum { GT_W_NEAR = 64, GT_W_NEAR_GOROUTINES = 1024 };

struct gotrace_writer {
    gotrace_encoder *encoder;
    gt_heap *heap; /* the encoder's: one limit holds for both */
    int version;
    gotrace_writer_options options;
    gotrace_status status; /* GOTRACE_ERROR stays: a failed write, refused memory */
    gotrace_error error;
    bool finished;
    gt_w_shape shapes[GT_CODES];
    uint64_t given;  /* ticks, as the caller has them */
    uint64_t now;    /* the same, or more where stamps had to be raised */
    uint64_t events; /* written */

    gt_map by_goroutine, by_proc, by_thread, tasks;
    gt_map ended; /* v1, whose ids are used once: id / 64 to a bit an id */
    GT_W_LIST(gt_w_goroutine) goroutines;
    GT_W_LIST(gt_w_proc) procs;
    GT_W_LIST(gt_w_thread) threads;
    gt_w_goroutine *spare; /* of goroutines that ended, linked by next */
    uint64_t goroutine_count, goroutine_limit, proc_count, proc_limit;
    gt_w_proc *last_proc; /* found last */
    /* By the low bits of their ids, those that were found last: most are found here. */
    gt_w_goroutine *near_goroutines[GT_W_NEAR_GOROUTINES];
    gt_w_proc *near_procs[GT_W_NEAR];
    gt_w_thread *near_threads[GT_W_NEAR];

    uint64_t seq;    /* until 1.6: of all events */
    uint64_t gc_seq; /* v1: of the next GC cycle; v2: last written */
    enum { GT_W_GC_UNKNOWN, GT_W_GC_OFF, GT_W_GC_ON } gc;
    bool stopping; /* v1, from 1.10: the world */

    /* When and where (proc, thread) something was last written whose order the readers find by time
     * alone. */
    uint64_t plain_ticks;
    int64_t plain_place;
    uint64_t plain_id; /* v2: of the goroutine that ended there, 0 for what is not an end */

    /* v2 */
    uint64_t generation, began; /* its number, and ticks when it began */
    uint64_t statuses;          /* written in generations that began by themselves, at most */
    bool begun;                 /* it did: nobody looked at began before */
    bool open;                  /* something of it was written */
    uint64_t gc_generation;     /* the last generation in which the active GC cycle was written */
    bool gc_due;                /* written on the first running goroutine */
    gotrace_clocks clocks;      /* as given last */
    bool clocked;               /* that was for this generation */
    gt_w_thread nowhere;        /* what happens on no thread */
    gt_w_thread *latest;        /* the thread of the last event */
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

/* An event being written, in its context. */
typedef struct gt_w_step {
    gotrace_writer *w;
    const gotrace_event_data *h;
    uint8_t code;             /* the full one */
    const gt_v1_shape *shape; /* v1: of that */
    gt_w_thread *t;
    gt_w_proc *p;
    gt_w_goroutine *g; /* in whose context */
} gt_w_step;

/* ---- writer.c ------------------------------------------------------------------------------- */

/* The encoder has failed, and so has the writer. */
gotrace_status gt_w_broken(gotrace_writer *w) __attribute__((cold));
gotrace_status gt_w_no_memory(gotrace_writer *w) __attribute__((cold));

/* Say why an event cannot have happened. True where it is to be written all the same. */
bool gt_w_refuse(gotrace_writer *w, gotrace_rule rule, const char *format, ...)
    __attribute__((format(printf, 3, 4), cold));

/* What is about to be written comes after the last thing that was marked, whose order readers find
 * by time alone: it has to be later, if it is elsewhere and about the same. */
static inline void gt_w_after(gotrace_writer *w, int64_t place, uint64_t id)
{
    if (w->now == w->plain_ticks && w->plain_place != place && w->plain_id == id)
        w->now++;
}

/* This was written just now. */
static inline void gt_w_mark(gotrace_writer *w, int64_t place, uint64_t id)
{
    w->plain_ticks = w->now;
    w->plain_place = place;
    w->plain_id = id;
}

const char *gt_w_name(const gt_w_step *s);
const char *gt_w_state_name(uint8_t state);
const char *gt_w_proc_state_name(uint8_t state);

/* ---- writer_state.c ------------------------------------------------------------------------- */

void gt_w_state_init(gotrace_writer *w, const gotrace_config *config);
void gt_w_state_free(gotrace_writer *w);

/* Look among all that are alive; make: where there is none, one is made, and NULL (and the error is
 * set) is returned only where that is refused. */
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

/* One that there is, or NULL. */
static inline gt_w_goroutine *gt_w_find_goroutine(gotrace_writer *w, uint64_t id)
{
    return gt_w_get_goroutine(w, id, false);
}

static inline gt_w_proc *gt_w_find_proc(gotrace_writer *w, int64_t id)
{
    return gt_w_get_proc(w, id, false);
}

/* The same, made where there is none: NULL (and the error is set) where that is refused. */
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

/* It has ended. In v1 its id is remembered. */
gotrace_status gt_w_end_goroutine(gotrace_writer *w, gt_w_goroutine *g);
bool gt_w_has_ended(const gotrace_writer *w, uint64_t id);

/* Regions, and tasks. */
gotrace_status gt_w_begin_region(gotrace_writer *w, gt_w_goroutine *g, uint64_t task,
                                 uint64_t name);
gotrace_status gt_w_begin_task(gotrace_writer *w, uint64_t task);
/* Whether the region that a goroutine ends is its innermost one, of which there is one. */
bool gt_w_check_region_end(gotrace_writer *w, const gt_w_goroutine *g, gt_w_region ended);

/* ---- the two formats ------------------------------------------------------------------------ */

gotrace_status gt_w_v1_event(gt_w_step *s);
gotrace_status gt_w_v1_finish(gotrace_writer *w);
gotrace_status gt_w_v2_event(gt_w_step *s);
gotrace_status gt_w_v2_finish(gotrace_writer *w);
gotrace_status gt_w_v2_advance(gotrace_writer *w, const gotrace_clocks *clocks, uint64_t ticks);
/* The next generation begins automatically; the caller passes no statuses. */
gotrace_status gt_w_v2_begin_due(gotrace_writer *w, uint64_t ticks);

/* ---- v2: write/v2/status.c ----------------------------------------------------------------- */

/* For %llu. */
static inline unsigned long long gt_w_num(uint64_t n)
{
    return n;
}

/* Begin a record of v2 on a thread, as gt_v2_event. */
static inline uint8_t *gt_w_begin_record(gotrace_writer *w, gt_w_thread *t, unsigned code,
                                         size_t count)
{
    gotrace_encoder *e = w->encoder;
    uint64_t thread = t == &w->nowhere ? GT_V2_NO_THREAD : (uint64_t)t->id;
    uint8_t *p = gt_v2_event(e, &t->buffer, thread, code, w->now, w->options.equal_ticks, count);
    if (!p)
        gt_w_broken(w);
    /* What happens later must not come before a stamp that was raised, on whatever thread. */
    else if (e->event_ticks > w->now)
        w->now = e->event_ticks;
    return p;
}

/* Write a record of v2; args are all of it but the time. */
bool gt_w_put(gotrace_writer *w, gt_w_thread *t, unsigned code, const uint64_t *args, size_t count);

/* What has that goroutine or proc; NULL for none. */
void gt_w_bind_goroutine(gt_w_thread *t, gt_w_goroutine *g);
void gt_w_bind_proc(gt_w_thread *t, gt_w_proc *p);

/* The generation is told of it, on thread t or where it has to be, unless it was. thread: that the
 * goroutine's status names. */
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

/* It was told, or need not be: it stands behind those that were not. */
void gt_w_proc_given(gotrace_writer *w, gt_w_proc *p);
void gt_w_goroutine_given(gotrace_writer *w, gt_w_goroutine *g);

/* That a GC cycle goes on, if a goroutine runs on the thread. */
bool gt_w_emit_gc(gotrace_writer *w, gt_w_thread *t);

/* Statuses passed by the caller. */
bool gt_w_given_proc_status(gt_w_step *s);
bool gt_w_given_goroutine_status(gt_w_step *s);
bool gt_w_given_active(gt_w_step *s);

/* The tables' first batches begin with the generation. */
static inline uint64_t gt_w_began(gotrace_writer *w)
{
    if (!w->begun)
        w->began = w->now;
    w->begun = true;
    return w->began;
}

/* Something of this generation is about to be written. */
bool gt_w_open_generation_now(gotrace_writer *w);

static inline bool gt_w_open_generation(gotrace_writer *w)
{
    return w->open || gt_w_open_generation_now(w);
}

#endif
