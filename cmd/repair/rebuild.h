/*
 * rebuild.h - shared by what passes all events to a writer (rebuild.c), what makes them possible
 * (prepare.c) and what makes a generation end as the next one begins (border.c).
 */
#ifndef REPAIR_REBUILD_H
#define REPAIR_REBUILD_H

#include "cmd/repair/repair.h"
#include "formats/common/idmap.h"

enum { MOST_FRAMES = 1024 };

/* A goroutine as the writer has followed it. */
typedef struct g_life {
    gotrace_state state;
    bool placed;
    int64_t place; /* v2: the thread, v1: the proc, that it is on, if placed */
} g_life;

typedef struct p_life {
    gotrace_state state;
    bool placed;
    int64_t thread; /* v2: that it is on, if placed */
    uint64_t g;     /* that runs on it, 0 for none */
} p_life;

/* v2. */
typedef struct m_life {
    bool known, has_p;
    int64_t p;
    uint64_t g; /* 0 for none */
} m_life;

/* Statuses are numbers on the wire (GOTRACE_ARG_PSTATUS, GOTRACE_ARG_GSTATUS). */
enum { P_RUNNING = 1, P_IDLE, P_IN_SYSCALL, P_ABANDONED };
enum { G_RUNNABLE = 1, G_RUNNING, G_IN_SYSCALL, G_WAITING };

typedef struct rebuild {
    repair *r;
    gotrace_source *source;
    gotrace_reader *reader;
    gotrace_writer *writer;
    parts_bytes *written;
    const parts_bytes *image;
    uint64_t frequency, now;
    int64_t place;   /* v2: the thread, v1: the proc, of the last event */
    idmap ended;     /* v2: goroutines that ended, which the writer forgets */
    idmap last;      /* v2: by proc, the thread that it was on last */
    idmap active;    /* v2: by thread, number of its last event */
    idmap starts;    /* v1: when a goroutine starts for the last time */
    uint64_t passed; /* v2: events on threads, with those that were added */
    uint64_t events; /* that the reader had */
    uint64_t added, dropped;
    gotrace_error why; /* of the first that was dropped */
    bool failed;
    bool first_try;
    int64_t idle;                  /* the proc that became idle last */
    repair layout;                 /* v2: the image's batches, for the times as recorded */
    repair_generation *generation; /* the present one, if they are known */
    repair_rebuilt counted;        /* what was added and left out before it */
    bool gc_on, gc_seen;           /* v2: a GC cycle goes on; this generation has events of one */
    uint64_t gc_last;              /* number of its last event in the image so far */
    size_t begun;                  /* so many of these are of generations that began */
    size_t experiments;            /* so many of these were looked at */
    struct held *held;             /* statuses that wait for the end of their generation */
    size_t held_count, held_capacity;
    bool sorted; /* by the times recorded, not as the reader has them */
    struct waiting *waiting;
    size_t place_count, waiting_capacity;
    struct turn *turns; /* of those that wait, then of those that do not any more */
    size_t turn_count, turn_capacity;
    uint64_t numbered;
    uint64_t changed[2]; /* arguments of an event that is written otherwise than it was */
    gotrace_frame frames[MOST_FRAMES];
} rebuild;

/* Where they are now. */
g_life rebuild_goroutine(const rebuild *t, uint64_t id);
p_life rebuild_proc(const rebuild *t, int64_t id);
m_life rebuild_thread(const rebuild *t, int64_t id);

/* It is that late now, or as late as it was. What happens on another thread at the same time is
 * written a tick later: readers put events of the same time into whichever order. */
bool rebuild_at(rebuild *t, uint64_t ticks, int64_t place);

/* Pass an event to the writer; false where it refuses. */
bool rebuild_pass(rebuild *t, const gotrace_event_data *h);

/* Add what has to have happened before that event; false where nothing helps. */
bool rebuild_prepare(rebuild *t, gotrace_event_data *h);

/* v1: where an event ends a goroutine that starts later, take the one by which it can go on. */
void rebuild_outlive(const rebuild *t, gotrace_event_data *h);

/* v2: bring goroutines, procs and threads to where that generation, which is kept, finds them
 * (border.c). */
bool rebuild_border(rebuild *t, uint64_t generation);
/* Add what has to have happened before that status. */
bool rebuild_reach(rebuild *t, const gotrace_event_data *status);
/* The thread has no goroutine any more, or no proc. */
bool rebuild_clear_thread(rebuild *t, int64_t thread);
bool rebuild_clear_proc(rebuild *t, int64_t thread);
/* A GC cycle goes on, or not. */
bool rebuild_turn_gc(rebuild *t, bool on);
/* One of the first threads that have a proc, on which things can happen to others; else that one,
 * which is given one if that can be. */
int64_t rebuild_busy_thread(rebuild *t, int64_t other);

#endif
