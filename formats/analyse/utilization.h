/*
 * utilization.h - minimum mutator utilization: the least share of the procs that a window of time
 * leaves to the program while the GC works (internal/trace/gc.go).
 *
 * Windows slide over the changes as they come, so that memory depends on the changes within the
 * longest window. The changes of the first generation are kept, because a range that was active
 * before the trace may be reported late, and then applies to all of them.
 */
#ifndef ANALYSE_UTILIZATION_H
#define ANALYSE_UTILIZATION_H

#include "formats/analyse/states.h"

enum { UTILIZATION_WINDOWS = 5 };
extern const int64_t utilization_widths[UTILIZATION_WINDOWS]; /* ns, ascending */

typedef struct utilization_change {
    int64_t time;
    double share; /* of the procs, from here on, for the program */
    double area;  /* its integral up to here */
} utilization_change;

typedef struct utilization {
    bool sweep; /* whether sweeping counts as work of the GC */
    bool as_go; /* with the faults of Go's, see utilization_work, utilization_end, stat_label and
                   assist_works */
    utilization_change *changes;
    size_t first, count, room; /* those before first are no longer needed */
    size_t procs_room, procs;  /* GOMAXPROCS; 0: not known yet */
    int64_t *working;          /* on each proc: reasons why it works for the GC */
    uint32_t busy;             /* procs that have one */
    uint32_t stopped;          /* stop-the-worlds of the GC that are active */
    uint64_t syncs;
    bool before;                      /* the time range has not begun: only the last share counts */
    bool sliding;                     /* windows slide; else all changes are kept */
    size_t left[UTILIZATION_WINDOWS]; /* the last change not after the window's beginning */
    double least[UTILIZATION_WINDOWS];     /* so far */
    int64_t least_at[UTILIZATION_WINDOWS]; /* where that window begins */
    int64_t begin;                         /* when the number of procs became known */
    bool failed;
} utilization;

/* late: ranges may be reported until the second sync that were active before the trace. */
void utilization_init(utilization *u, bool sweep, bool as_go, bool late);
void utilization_free(utilization *u);

/* What changes: call utilization_settle after each event that changed something. */
void utilization_set_procs(utilization *u, int64_t time, uint64_t procs);
/* A proc gets or loses a reason. In Go it can lose more than it had; then the next do not count. */
void utilization_work(utilization *u, int64_t proc, bool begins);
void utilization_stop(utilization *u, bool begins);
/* A proc works for the GC since the beginning of the trace. */
void utilization_late(utilization *u);
void utilization_sync(utilization *u);
void utilization_settle(utilization *u, int64_t time);

/* The trace has ended: least is complete. False if there is nothing. In Go the trace ends where the
 * share became 0, if it remains so. */
bool utilization_end(utilization *u, int64_t time);

#endif
