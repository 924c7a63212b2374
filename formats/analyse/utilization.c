/* utilization.c - windows that slide over the share of procs that run the program. */
#include "formats/analyse/utilization.h"

#include <stdlib.h>

#include "formats/common/vector.h"

/* More procs than any machine has; the numbers come from the file. */
enum { MOST_PROCS = 1 << 16 };

/* From this sync on no range is reported late. */
enum { COMPLETE = 2 };

const int64_t utilization_widths[UTILIZATION_WINDOWS] = {10000, 100000, 1000000, 10000000,
                                                         100000000};

void utilization_init(utilization *u, bool sweep, bool as_go, bool late)
{
    *u = (utilization){.sweep = sweep, .as_go = as_go, .syncs = late ? 0 : COMPLETE};
    for (size_t i = 0; i < UTILIZATION_WINDOWS; i++)
        u->least[i] = 1;
}

void utilization_free(utilization *u)
{
    free(u->changes);
    free(u->working);
}

/* ---- windows ----------------------------------------------------------------------------------
 */

/* The integral up to a time that is not before that change. */
static double area_at(const utilization_change *change, int64_t time)
{
    return change->area + change->share * (double)(time - change->time);
}

static void consider(utilization *u, size_t window, int64_t begin, double area)
{
    double share = area / (double)utilization_widths[window];
    if (share < u->least[window]) {
        u->least[window] = share;
        u->least_at[window] = begin;
    }
}

/* Moves the end of a window to the time of the n-th change. The least share is where one of its
 * edges is at a change. */
static void slide(utilization *u, size_t window, size_t n)
{
    const utilization_change *c = u->changes, *last = &c[n - 1];
    int64_t begin = c[n].time - utilization_widths[window];
    size_t left = u->left[window];
    if (begin < u->begin)
        return;
    while (c[left + 1].time <= begin) {
        left++;
        consider(u, window, c[left].time,
                 area_at(last, c[left].time + utilization_widths[window]) - c[left].area);
    }
    consider(u, window, begin, c[n].area - area_at(&c[left], begin));
    u->left[window] = left;
}

/* The first window that is complete begins with the trace. */
static void slide_first(utilization *u, size_t window, size_t n)
{
    const utilization_change *c = u->changes;
    if (u->begin > INT64_MAX - utilization_widths[window])
        return; /* a time range that begins long after the trace */
    int64_t end = u->begin + utilization_widths[window];
    if (c[n - 1].time < end && end <= c[n].time)
        consider(u, window, u->begin, area_at(&c[n - 1], end) - c[0].area);
}

/* Processes the n-th change. */
static void slide_all(utilization *u, size_t n)
{
    utilization_change *c = u->changes;
    c[n].area = area_at(&c[n - 1], c[n].time);
    for (size_t i = 0; i < UTILIZATION_WINDOWS; i++) {
        /* The change at the beginning is dropped only when all windows are past it. */
        if (c[0].time == u->begin)
            slide_first(u, i, n);
        slide(u, i, n);
    }
}

/* Drops the changes before all windows, when they are most. */
static void drop(utilization *u)
{
    size_t unused = u->left[UTILIZATION_WINDOWS - 1];
    if (unused < 1024 || unused < u->count / 2)
        return;
    for (size_t i = unused; i < u->count; i++)
        u->changes[i - unused] = u->changes[i];
    u->count -= unused;
    for (size_t i = 0; i < UTILIZATION_WINDOWS; i++)
        u->left[i] -= unused;
}

static void begin_sliding(utilization *u)
{
    u->sliding = true;
    for (size_t n = 1; n < u->count; n++)
        slide_all(u, n);
}

static void add(utilization *u, int64_t time, double share)
{
    if (u->count > 0 && u->changes[u->count - 1].time == time) {
        /* Else only in damaged traces: the change is the lower one. */
        if (u->before || share < u->changes[u->count - 1].share)
            u->changes[u->count - 1].share = share;
        return;
    }
    utilization_change *changes = vector_room(u->changes, &u->room, u->count, sizeof *changes);
    if (!changes) {
        u->failed = true;
        return;
    }
    u->changes = changes;
    if (u->count == 0)
        u->begin = time;
    changes[u->count++] = (utilization_change){.time = time, .share = share};
    if (u->sliding) {
        slide_all(u, u->count - 1);
        drop(u);
    } else if (u->syncs >= COMPLETE) {
        begin_sliding(u);
    }
}

/* ---- changes ----------------------------------------------------------------------------------
 */

void utilization_set_procs(utilization *u, int64_t time, uint64_t procs)
{
    size_t count = procs < MOST_PROCS ? (size_t)procs : MOST_PROCS;
    int64_t *working = count > u->procs_room ? realloc(u->working, count * sizeof *working)
                                             : u->working;
    if (count > 0 && !working) {
        u->failed = true;
        return;
    }
    u->working = working;
    if (count > u->procs_room)
        u->procs_room = count;
    if (u->procs == 0 && count > 0)
        add(u, time, 1);
    for (size_t i = u->procs; i < count; i++)
        working[i] = 0;
    for (size_t i = count; i < u->procs; i++)
        u->busy -= working[i] > 0;
    u->procs = count;
}

void utilization_work(utilization *u, int64_t proc, bool begins)
{
    if (proc < 0 || (uint64_t)proc >= u->procs)
        return;
    int64_t *working = &u->working[proc];
    if (begins)
        u->busy += ++*working == 1;
    else if (u->as_go || *working > 0)
        u->busy -= --*working == 0;
}

void utilization_stop(utilization *u, bool begins)
{
    if (begins)
        u->stopped++;
    else if (u->stopped > 0)
        u->stopped--;
}

void utilization_late(utilization *u)
{
    for (size_t i = 0; !u->sliding && i < u->count; i++) {
        double share = u->changes[i].share - 1 / (double)u->procs;
        u->changes[i].share = share < 0 ? 0 : share;
    }
}

void utilization_sync(utilization *u)
{
    if (++u->syncs >= COMPLETE && u->count > 0 && !u->sliding)
        begin_sliding(u);
}

void utilization_settle(utilization *u, int64_t time)
{
    /* Without changes memory was refused for the first. */
    if (u->procs == 0 || u->count == 0)
        return;
    double share = u->stopped ? 0 : 1 - (double)u->busy / (double)u->procs;
    if (share != u->changes[u->count - 1].share)
        add(u, time, share);
}

bool utilization_end(utilization *u, int64_t time)
{
    if (u->count == 0)
        return false;
    if (!u->as_go || u->changes[u->count - 1].share != 0)
        add(u, time, 0);
    if (!u->sliding)
        begin_sliding(u);
    const utilization_change *last = &u->changes[u->count - 1];
    for (size_t i = 0; i < UTILIZATION_WINDOWS; i++) {
        int64_t whole = last->time - u->begin;
        /* A window longer than the trace is the trace. */
        if (whole > 0 && utilization_widths[i] > whole) {
            u->least[i] = last->area / (double)whole;
            u->least_at[i] = u->begin;
        }
    }
    return u->count > 1;
}
