/*
 * deadlock.c - goroutines that wait for each other at the end of the trace.
 *
 * Each waits for at most one other, so from each there is one walk, which ends at a goroutine that
 * goes on, or goes round in a cycle.
 */
#include "formats/diagnose/deadlock.h"

#include <stdlib.h>

/* A cycle that is younger may be none: a lock may be released without a record of that, if the wait
 * for it begins at that moment (trace_waiters in cmd/preload/trace.h). */
enum { LEAST_NS = 100 * 1000 * 1000 };

/* The number of the goroutine; the number of all of them: it does not wait. */
static size_t number_of(const measures *m, uint64_t id)
{
    size_t low = 0, high = m->waiter_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (m->waiters[middle].goroutine < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < m->waiter_count && m->waiters[low].goroutine == id ? low : m->waiter_count;
}

static size_t next_of(const measures *m, size_t n)
{
    return number_of(m, m->waiters[n].holder);
}

/* Since when the cycle exists: the last wait of it began. *first: the one with the least number. */
static int64_t cycle_since(const measures *m, size_t at, size_t *first)
{
    int64_t since = m->waiters[at].since;
    *first = at;
    for (size_t n = next_of(m, at); n != at; n = next_of(m, n)) {
        since = m->waiters[n].since > since ? m->waiters[n].since : since;
        *first = n < *first ? n : *first;
    }
    return since;
}

static void add_cycle(deadlock *found, const measures *m, size_t first)
{
    size_t n = first;
    found->oldest = m->waiters[first];
    do {
        const waiter *w = &m->waiters[n];
        if (found->length < MOST_IN_CYCLE)
            found->cycle[found->length] = *w;
        found->length++;
        if (w->since < found->oldest.since)
            found->oldest = *w;
        n = next_of(m, n);
    } while (n != first);
}

/* Whether the cycle at which a walk ended is a deadlock; the first one is described. */
static bool is_deadlock(deadlock *found, const measures *m, size_t at)
{
    size_t first;
    const int64_t ns = m->waiters[at].until - cycle_since(m, at, &first);
    if (ns < LEAST_NS)
        return false;
    if (found->length == 0) {
        found->ns = ns;
        add_cycle(found, m, first);
    }
    return true;
}

bool deadlock_find(deadlock *found, const measures *m)
{
    const size_t count = m->waiter_count;
    /* By goroutine: the walk that came there first, from 1 on; 0: none. By walk: whether it ends in
     * a deadlock. The walk of one that does not wait is 0. */
    size_t *walks = calloc(count + 1, sizeof *walks);
    bool *locked = calloc(count + 1, sizeof *locked);
    for (size_t walk = 1; walks && locked && walk <= count; walk++) {
        size_t n = walk - 1;
        for (; n < count && !walks[n]; n = next_of(m, n))
            walks[n] = walk;
        locked[walk] = n < count && walks[n] == walk ? is_deadlock(found, m, n) : locked[walks[n]];
    }
    for (size_t n = 0; walks && locked && n < count; n++)
        found->count += locked[walks[n]];
    const bool done = walks && locked;
    free(walks);
    free(locked);
    return done;
}
