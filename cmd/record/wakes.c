/*
 * wakes.c - which thread a RING_WAKE woke, and when a thread became runnable.
 */
#include "cmd/record/replay.h"

#include <string.h>

const item *wakes_next(const thread *t)
{
    return t->first < t->end ? &t->items[t->first] : NULL;
}

uint64_t wakes_since(const thread *t, const item *i)
{
    if (i->delay >= i->record.time || i->delay < t->delayed)
        return i->record.time;
    return i->record.time - (i->delay - t->delayed);
}

bool wakes_can_wake(const thread *t, const source *of, uint64_t key)
{
    return t->state == THREAD_WAITS && t->wait.kind < RING_SLEEP && t->wait_key == key &&
           (t->of == of || key & NAMES_SHARED);
}

static bool waits_for_lock(const thread *t, const source *of, uint64_t key)
{
    return wakes_can_wake(t, of, key) && t->wait.kind <= RING_WRITE_LOCK;
}

/* Whether the thread records another RING_WAKE of the object until that time. */
static bool wakes_again(const thread *by, const ring_record *wake, uint64_t until)
{
    for (size_t n = by->first; n < by->end && by->items[n].record.time <= until; n++) {
        const ring_record *other = &by->items[n].record;
        if (other->type == RING_WAKE && other->object == wake->object && other->time > wake->time)
            return true;
    }
    return false;
}

/* Whether that RING_WAKE made the thread runnable that goes on with the lock: by the kernel it
 * became so soon afterwards, or it is not known, and it was the last one. Others take the lock, and
 * release it, while the thread waits for a processor. If there was no other one, it was that one:
 * the thread waited for a processor before, when it began to wait for the lock. */
static bool lets_in(const thread *t, const thread *by, const ring_record *wake, const item *next)
{
    const uint64_t since = wakes_since(t, next);
    if (next->record.object == wake->time)
        return !t->passed || wake->time <= since + AGAIN_NS;
    return next->delay != UNKNOWN_DELAY && wake->time + WAKES_NS >= since &&
           wake->time <= since + WAKES_NS && !wakes_again(by, wake, since);
}

/* When the thread goes on because of that RING_WAKE; UINT64_MAX: not because of it. A lock may be
 * taken by another thread before one that is woken runs, which then goes on waiting. */
static uint64_t wake_time(const thread *t, const thread *by, const item *wake)
{
    const item *next = wakes_next(t);
    if (waits_for_lock(t, by->of, wake->key) && (!next || !lets_in(t, by, &wake->record, next)))
        return UINT64_MAX;
    if (!next)
        return UINT64_MAX - 1;
    return next->record.flags == RING_DONE ? next->record.time : UINT64_MAX;
}

thread *wakes_find(const replay *r, const thread *by, const item *wake)
{
    thread *best = NULL, *t;
    uint64_t best_time = UINT64_MAX;
    for (walk w = {0}; (t = walk_on(r, &w));) {
        uint64_t time = wakes_can_wake(t, by->of, wake->key) ? wake_time(t, by, wake) : UINT64_MAX;
        if (time < best_time || (best && time == best_time && t->wait.time < best->wait.time)) {
            best = t;
            best_time = time;
        }
    }
    return best;
}

bool wakes_undecided(const replay *r, const thread *by, const item *wake)
{
    const thread *t;
    bool waits = false;
    for (walk w = {0}; (t = walk_on(r, &w));) {
        if (!waits_for_lock(t, by->of, wake->key))
            continue;
        if (wake_time(t, by, wake) != UINT64_MAX)
            return false;
        waits = waits || !wakes_next(t);
    }
    return waits;
}

/* Whether it waits for what a call of that kind does at the other end. */
static bool waits_at_end(const thread *t, uint8_t kind, const char *queue)
{
    if (t->state != THREAD_WAITS || t->wait.kind != (kind == RING_SEND ? RING_RECEIVE : RING_SEND))
        return false;
    const char *other = objects_queue(t->of, &t->wait);
    return other && strncmp(other, queue, RING_FD_SIZE - 1) == 0;
}

thread *wakes_other_end(const replay *r, const thread *by, const ring_record *call)
{
    const char *queue = objects_queue(by->of, call);
    thread *best = NULL, *t;
    uint64_t best_time = UINT64_MAX;
    if (!queue)
        return NULL;
    for (walk w = {0}; (t = walk_on(r, &w));) {
        if (!waits_at_end(t, call->kind, queue))
            continue;
        const item *next = wakes_next(t);
        const uint64_t time = next ? next->record.time : UINT64_MAX;
        if (!best || time < best_time || (time == best_time && t->wait.time < best->wait.time)) {
            best = t;
            best_time = time;
        }
    }
    return best;
}
