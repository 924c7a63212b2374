/*
 * retell.h - shared by the parts that rewrite events.
 */
#ifndef REPAIR_REWRITE_H
#define REPAIR_REWRITE_H

#include "formats/common/idmap.h"
#include "cmd/repair/repair.h"

enum { MOST_FRAMES = 1024 };

/* State known to the writer. Zero: unknown. */
typedef enum life {
    LIFE_UNKNOWN = 0,
    LIFE_RUNNABLE,
    LIFE_RUNNING,
    LIFE_SYSCALL,
    LIFE_WAITING,
    LIFE_ENDED
} life;
typedef enum proc_life {
    PROC_UNKNOWN = 0,
    PROC_IDLE,
    PROC_BUSY,
    PROC_CALLING,
    PROC_ABANDONED
} proc_life;

typedef struct g_life {
    uint8_t state;
    bool placed;
    int64_t place; /* v2: the thread, v1: the proc, that it is on, if placed */
} g_life;

typedef struct p_life {
    uint8_t state;
    bool placed, had;
    int64_t thread; /* v2: that it is on, or was on last, if it had one */
    uint64_t g;     /* v1: what runs on it, 0 for nothing */
} p_life;

typedef struct m_life {
    bool has_p;
    int64_t p;
    uint64_t g;      /* 0 for none */
    uint64_t active; /* number of events when it was last active */
} m_life;

typedef struct rewriting {
    repair *r;
    gotrace_source *source;
    gotrace_reader *reader;
    gotrace_writer *writer;
    parts_bytes *written;
    const parts_bytes *image;
    uint64_t frequency, now;
    int64_t place; /* v2: the thread, v1: the proc, of the last event */
    idmap goroutines, procs, threads;
    idmap starts;    /* v1: when a goroutine starts for the last time */
    uint64_t given;  /* on threads, with what was made up */
    uint64_t events; /* that the reader had */
    uint64_t added, dropped;
    gotrace_error why; /* of the first that was dropped */
    bool failed;
    bool first_try;
    int64_t idle;                  /* the proc that became idle last */
    repair layout;                 /* v2: the image's batches, for the recorded times */
    repair_generation *generation; /* the current one, if known */
    repair_rewritten counted;      /* what was made up and left out before it */
    bool gc_on, gc_given;          /* v2: a GC cycle is active; this generation recorded one */
    uint64_t gc_last;              /* number of its last event in the image so far */
    size_t begun;                  /* so many of these are of generations that began */
    size_t experiments;            /* so many of these were looked at */
    struct held *held;             /* statuses that wait for the end of their generation */
    size_t held_count, held_capacity;
    bool sorted; /* by recorded times, not in the order of the reader */
    struct waiting *waiting;
    size_t place_count, waiting_capacity;
    struct turn *turns; /* of those that wait, then of those that do not any more */
    size_t turn_count, turn_capacity;
    uint64_t numbered;
    uint64_t changed[2]; /* changed arguments of an event */
    gotrace_frame frames[MOST_FRAMES];
} rewriting;

/* It is that late now, or as late as it was. What happens on another thread at the same time is
 * told a tick later: readers put events of the same time into whichever order. */
bool rewrite_at(rewriting *t, uint64_t ticks, int64_t place);

/* Hand an event to the writer; false where it refuses. What it takes is followed. */
bool rewrite_hand(rewriting *t, const gotrace_event_data *h);

/* Write the events that make that event possible; false if there are none. */
bool rewrite_steer(rewriting *t, gotrace_event_data *h);

/* v1: where an event says that a goroutine is gone that starts later, take the one that says that
 * it goes on later. */
void rewrite_outlive(const rewriting *t, gotrace_event_data *h);

/* v2: bring goroutines, procs and threads to where that generation, which is kept, finds them
 * (border.c). */
bool rewrite_border(rewriting *t, uint64_t generation);
/* What has to have happened before that status. */
bool rewrite_settle(rewriting *t, const gotrace_event_data *h);
/* The thread has no goroutine any more, or no proc. */
bool rewrite_clear_thread(rewriting *t, int64_t thread);
bool rewrite_clear_proc(rewriting *t, int64_t thread);
/* A GC cycle goes on, or not. */
bool rewrite_turn_gc(rewriting *t, bool on);
/* One of the first threads that have a proc, on which things can happen to others; else that one,
 * which is given one if that can be. */
int64_t rewrite_busy_thread(rewriting *t, int64_t other);

/* Track the written event. */
void rewrite_follow(rewriting *t, const gotrace_event_data *h);

#endif
