/*
 * replay.h - what replay.c and goroutines.c share.
 */
#ifndef RECORD_REPLAY_H
#define RECORD_REPLAY_H

#include "cmd/record/record.h"

typedef struct proc {
    gotrace_rec_proc *rec;
    bool taken;
} proc;

/* The thread that reads from, or writes to, one end of a channel. */
typedef struct user {
    uint64_t key;     /* of the other end and the way, see user_key; 0: none */
    const source *of; /* NULL: none did, when the other end was used */
    uint64_t tid;
    uint32_t slot;
    bool several; /* others did, too */
} user;

enum { USERS = 4096 };

struct replay {
    names *names;
    source **sources; /* of the processes that have not ended */
    size_t source_count, source_capacity;
    size_t ending;    /* so many of them have, but not all their records are replayed */
    uint64_t process; /* number of the next one */
    gotrace_recorder *recorder;
    _Atomic uint64_t now;    /* the recorder's clock */
    uint64_t until;          /* records up to that time are replayed */
    uint64_t generation;     /* its beginning */
    uint64_t asked;          /* when it was last asked whether it is to end */
    uint64_t late;           /* records, see replay_losses */
    uint64_t goroutine;      /* the id of the last one without a process */
    uint64_t samples;        /* of the generation */
    gotrace_rec_thread *own; /* of `record`, for mark_time; NULL: not needed yet */
    switches *switches;      /* NULL: they are not known */
    uint64_t waking;         /* number of the next waking of them */
    uint64_t shown;          /* events were written up to that time, which may be after `now` */
    int version;
    proc *procs;
    unsigned proc_count, proc_capacity;
    out *to;
    user users[USERS]; /* by key; others at the same place replace it */
    bool begun;        /* a thread has */
    bool flies;        /* a flight recorder */
    bool failed;       /* memory is refused */
};

/* All threads of all processes: for (walk w = {0}; (t = walk_on(r, &w));) */
typedef struct walk {
    size_t source, thread;
} walk;

static inline thread *walk_on(const replay *r, walk *w)
{
    for (; w->source < r->source_count; w->source++, w->thread = 0)
        if (w->thread < r->sources[w->source]->count)
            return r->sources[w->source]->threads[w->thread++];
    return NULL;
}

static inline const uint64_t *pcs_of(const stack *s)
{
    return s ? s->pcs : NULL;
}

static inline size_t depth_of(const stack *s)
{
    return s ? s->depth : 0;
}

enum { SHORT_NS = 20000 }; /* a call that takes less has not waited; others may not either */

/* The recorder's calls are at that time, until it is set again. */
static inline void replay_set_time(replay *r, uint64_t time)
{
    atomic_store_explicit(&r->now, time, memory_order_relaxed);
}
/* The thread, which runs or is in a call, wakes the other one. */
void replay_unpark(const thread *by, const thread *woken);

/* ---- off.c ----------------------------------------------------------------------------------- */

/* Shows when the thread was off until then, as far as the kernel reports it. If it runs as far as
 * is recorded, it is on a processor at that time. */
void off_show(replay *r, thread *t, uint64_t time);
/* As off_show, of all threads, which may be off at that time. */
void off_show_all(replay *r, uint64_t until);
/* The kernel reports that the thread `by` woke one that runs, as far as was recorded. False: it is
 * not known yet when it went on. */
bool off_wake(replay *r, const thread *by, thread *t, uint64_t time);
/* Of RING_OFF: the thread did not run for a part of the time since its last record, of which
 * off_show has shown what the kernel reports. */
void off_record(replay *r, thread *t, const item *i);

/* ---- goroutines.c ---------------------------------------------------------------------------- */

/* The thread takes the first proc that is idle, or the one that it has kept; it gives it up. */
void goroutine_take_proc(replay *r, thread *t);
void goroutine_release_proc(replay *r, thread *t);
/* The thread begins. */
void goroutine_begin(replay *r, thread *t, const item *i);
/* The thread creates another one. */
void goroutine_create(replay *r, thread *t, const item *i);
/* It was runnable since it was created or woken, until that time. */
void goroutine_was_delayed(thread *t, uint64_t until);
/* The thread goes on after a wait or a call; since: when it became runnable, if no thread woke it.
 */
void goroutine_resume(replay *r, thread *t, uint64_t since);
/* If the thread runs: its goroutine gets its label, and the trace says which processes there are,
 * unless this generation has that. */
void goroutine_describe(replay *r, thread *t);
/* The thread ends, also while it waits. */
void goroutine_end(replay *r, thread *t);
/* All threads of the process end. */
void goroutine_end_process(replay *r, source *s);

/* ---- wakes.c --------------------------------------------------------------------------------- */

enum {
    WAKES_NS = 50000,  /* a thread is runnable that long after its RING_WAKE at most, */
    AGAIN_NS = 200000, /* and on a processor that was idle; else it waits again */
};

/* The next record of the thread; NULL: it is not known yet. */
const item *wakes_next(const thread *t);
/* When the kernel made a thread runnable that goes on with that record; if it is not known, the
 * time of the record. */
uint64_t wakes_since(const thread *t, const item *i);
/* Whether the thread waits for the object with that key, if a thread of that process does
 * something with it. */
bool wakes_can_wake(const thread *t, const source *of, uint64_t key);
/* The thread that a RING_WAKE of the thread `by` wakes: of those that wait for the object, that
 * which goes on first; if that is not known, that which has waited longest. */
thread *wakes_find(const replay *r, const thread *by, const item *wake);
/* Whether it is not known yet that the RING_WAKE let in a thread that waits for the lock. */
bool wakes_undecided(const replay *r, const thread *by, const item *wake);
/* The thread that the call of the thread `by` wakes at the other end of what it reads or writes; as
 * above. One that polls is woken if it reads from there then. */
thread *wakes_other_end(const replay *r, const thread *by, const item *call);
/* Whether it is not known yet what the thread that reads from there does, which polls; if none has
 * read from there, any thread that polls. */
bool wakes_end_undecided(const replay *r, const thread *by, const item *call);
/* The thread that ran, or waited for anything but a lock, when the kernel reported that; NULL: none
 * did, or the thread that woke it, *by, is not in the trace or waits itself. */
thread *wakes_by_kernel(const replay *r, const waking *w, thread **by);
/* As far as the kernel reports it: whether the thread sleeps at that time, in *off; and whether it
 * begins to after that time, at *begin, and before its next record. */
bool wakes_sleeps_at(const replay *r, const thread *t, uint64_t time, switch_off *off);
bool wakes_sleeps_after(const replay *r, const thread *t, uint64_t time, uint64_t *begin);
/* Notes who uses that end of the channel, for the two functions above. */
void wakes_note_user(replay *r, const thread *t, const item *call);
void wakes_forget_users(replay *r, const source *s);

#endif
