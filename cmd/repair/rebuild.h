/*
 * rebuild.h - shared by the code that passes all events to a writer (rebuild.c), adds required
 * events (prepare.c) and matches the beginning of the next generation (boundary.c).
 */
#ifndef REPAIR_REBUILD_H
#define REPAIR_REBUILD_H

#include "cmd/parts/carry.h"
#include "cmd/repair/repair.h"
#include "formats/common/idmap.h"
#include "formats/common/rows_by_meaning.h"

/* State of a goroutine according to the writer. */
typedef struct g_state {
    gotrace_state state;
    bool placed;
    int64_t place; /* v2: its thread, v1: its proc; if placed */
} g_state;

typedef struct p_state {
    gotrace_state state;
    bool placed;
    int64_t thread; /* v2: its thread; if placed */
    uint64_t g;     /* goroutine that runs on it, 0: none */
} p_state;

/* v2: what a thread has. */
typedef struct m_state {
    bool known, has_p;
    int64_t p;
    uint64_t g; /* 0: none */
} m_state;

/* What is needed of an event's row for each event. */
typedef struct rebuild_row {
    bool subject; /* the first argument for a writer is a goroutine */
    bool starts;  /* v1: a goroutine starts to run */
    bool exits;   /* v1: a system call ends, at a time that is the second argument */
} rebuild_row;

typedef struct rebuild {
    repair *r;
    gotrace_source *source;
    gotrace_reader *reader;
    gotrace_writer *writer;
    parts_bytes *written;
    const parts_bytes *image;
    uint64_t now;
    int64_t place;       /* v2: thread, v1: proc of the last event */
    idmap ended;         /* v2: goroutines that ended; the writer forgets them */
    idmap last;          /* v2: proc -> its last thread */
    idmap active;        /* v2: thread -> number of its last event */
    idmap starts;        /* v1: goroutine -> time of its last start */
    uint64_t passed;     /* v2: events passed on threads, including added ones */
    uint64_t events;     /* passed on, or dropped */
    uint64_t latest;     /* highest recorded time */
    uint64_t early;      /* number of events with an earlier time than one before them */
    uint64_t most_early; /* by at most so many ticks */
    uint64_t added, dropped;
    gotrace_error why; /* reason for the first dropped event */
    bool failed;
    bool first_try;
    int64_t idle;                     /* proc that became idle last */
    repair layout;                    /* v2: batches of the image, for recorded times */
    repair_generation *generation;    /* current; NULL if generations are not known */
    repair_changes counted;           /* added and dropped before the current generation */
    bool gc_on, gc_seen;              /* v2: a GC cycle is active; this generation has GC events */
    uint64_t gc_last;                 /* number of the image's last GC event so far */
    size_t begun;                     /* index in layout: batches of generations that have begun */
    size_t experiments;               /* index in layout: batches searched for experiments */
    struct deferred_status *deferred; /* statuses deferred to the end of their generation */
    size_t deferred_count, deferred_capacity;
    bool sorted;               /* pass events by recorded time, not in the reader's order */
    parts_bytes pending;       /* encoded events */
    struct queue_entry *queue; /* their times and places */
    size_t queue_count, queue_capacity;
    rebuild_row rows[256];
    carry carry;
} rebuild;

/* Current states. */
g_state rebuild_goroutine(const rebuild *t, uint64_t id);
p_state rebuild_proc(const rebuild *t, int64_t id);
m_state rebuild_thread(const rebuild *t, int64_t id);

/* Set the current time; it does not decrease. An event on another thread at the same time is a tick
 * later, since readers may exchange events with equal times. */
bool rebuild_at(rebuild *t, uint64_t ticks, int64_t place);

/* Pass an event to the writer; false if it is rejected. */
bool rebuild_pass(rebuild *t, const gotrace_event_data *h);

/* Add the events that must precede the event; false if there are none that help. */
bool rebuild_prepare(rebuild *t, gotrace_event_data *h);

/* v1: replace an event that ends a goroutine by one that stops it, if the goroutine starts again
 * later. */
void rebuild_keep_alive(const rebuild *t, gotrace_event_data *h);

/* v2: reach the states in which the given generation, which is kept, begins (boundary.c). */
bool rebuild_match_next(rebuild *t, uint64_t generation);
/* Add the events that must precede that status. */
bool rebuild_reach(rebuild *t, const gotrace_event_data *status);
/* Free the thread of its goroutine, or its proc. */
bool rebuild_clear_thread(rebuild *t, int64_t thread);
bool rebuild_clear_proc(rebuild *t, int64_t thread);
/* Begin or end a GC cycle. */
bool rebuild_set_gc(rebuild *t, bool on);
/* A thread with a proc, on which events can be added: one of the first, else `other`, which is
 * given a proc if possible. */
int64_t rebuild_busy_thread(rebuild *t, int64_t other);

#endif
