/*
 * retell.h - between telling a writer all events, and what makes them possible.
 */
#ifndef REPAIR_RETELL_H
#define REPAIR_RETELL_H

#include "formats/common/idmap.h"
#include "cmd/repair/repair.h"

enum { MOST_FRAMES = 1024 };

/* As far as the writer was told. Zero is: not known. */
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
    uint64_t active; /* what was told when it did something last */
} m_life;

typedef struct retelling {
    repair *r;
    gotrace_source *source;
    gotrace_reader *reader;
    gotrace_writer *writer;
    parts_bytes *written;
    const parts_bytes *image;
    uint64_t frequency, now;
    int64_t place; /* v2: the thread, v1: the proc, that was told of last */
    idmap goroutines, procs, threads;
    idmap starts;    /* v1: when a goroutine starts for the last time */
    uint64_t told;   /* on threads, with what was made up */
    uint64_t events; /* that the reader had */
    uint64_t added, dropped;
    gotrace_error why; /* of the first that was dropped */
    bool failed;
    bool first_try;
    int64_t idle;                  /* the proc that became idle last */
    repair layout;                 /* v2: the image's batches, for the times as they were told */
    repair_generation *generation; /* that is told of, if they are known */
    repair_retold counted;         /* what was made up and left out before it */
    bool gc_on, gc_told;           /* v2: a GC cycle goes on; this generation told of one */
    uint64_t gc_last;              /* number of its last event in the image so far */
    size_t begun;                  /* so many of these are of generations that began */
    size_t experiments;            /* so many of these were looked at */
    struct held *held;             /* statuses that wait for the end of their generation */
    size_t held_count, held_capacity;
    bool sorted; /* by the times told, not as the reader has them */
    struct waiting *waiting;
    size_t place_count, waiting_capacity;
    struct turn *turns; /* of those that wait, then of those that do not any more */
    size_t turn_count, turn_capacity;
    uint64_t numbered;
    uint64_t changed[2]; /* arguments of an event that is told otherwise than it was */
    gotrace_frame frames[MOST_FRAMES];
} retelling;

/* It is that late now, or as late as it was. What happens on another thread at the same time is
 * told a tick later: readers put events of the same time into whichever order. */
bool retell_at(retelling *t, uint64_t ticks, int64_t place);

/* Hand an event to the writer; false where it refuses. What it takes is followed. */
bool retell_hand(retelling *t, const gotrace_happening *h);

/* Tell what has to have happened before that event; false where nothing helps. */
bool retell_steer(retelling *t, gotrace_happening *h);

/* v1: where an event says that a goroutine is gone that starts later, take the one that says that
 * it goes on later. */
void retell_outlive(const retelling *t, gotrace_happening *h);

/* v2: bring goroutines, procs and threads to where that generation, which is kept, finds them
 * (border.c). */
bool retell_border(retelling *t, uint64_t generation);
/* What has to have happened before that status. */
bool retell_settle(retelling *t, const gotrace_happening *h);
/* The thread has no goroutine any more, or no proc. */
bool retell_clear_thread(retelling *t, int64_t thread);
bool retell_clear_proc(retelling *t, int64_t thread);
/* A GC cycle goes on, or not. */
bool retell_turn_gc(retelling *t, bool on);
/* One of the first threads that have a proc, on which things can happen to others; else that one,
 * which is given one if that can be. */
int64_t retell_busy_thread(retelling *t, int64_t other);

/* Follow what was told. */
void retell_follow(retelling *t, const gotrace_happening *h);

#endif
