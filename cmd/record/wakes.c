/*
 * wakes.c - which thread a RING_WAKE or another call woke, and when a thread became runnable.
 */
#include "cmd/record/replay.h"

#include "core/hash.h"

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

bool wakes_sleeps_at(const replay *r, const thread *t, uint64_t time, switch_off *off)
{
    return r->switches && switches_at(r->switches, t->tid, time, off) && !off->preempted;
}

bool wakes_sleeps_after(const replay *r, const thread *t, uint64_t time, uint64_t *begin)
{
    const item *next = wakes_next(t);
    return r->switches && switches_waits(r->switches, t->tid, time,
                                         next ? next->record.time : t->of->complete, begin);
}

/* Whether the kernel will report who wakes the thread, which waits at that time. For locks, that
 * does not say who lets it in. */
static bool is_reported(const replay *r, const thread *t, uint64_t time)
{
    switch_off off;
    uint64_t begin;
    return t->wait.kind > RING_WRITE_LOCK && r->switches && switches_have_wakings(r->switches) &&
           (wakes_sleeps_at(r, t, time, &off) || wakes_sleeps_after(r, t, time, &begin));
}

thread *wakes_find(const replay *r, const thread *by, const item *wake)
{
    thread *best = NULL, *t;
    uint64_t best_time = UINT64_MAX;
    for (walk w = {0}; (t = walk_on(r, &w));) {
        uint64_t time = wakes_can_wake(t, by->of, wake->key) && t->wait.time <= r->now &&
                                !is_reported(r, t, wake->record.time)
                            ? wake_time(t, by, wake)
                            : UINT64_MAX;
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

/* ---- by the kernel --------------------------------------------------------------------------- */

/* Threads that wait for a lock are woken again and again while others take it: see lets_in. */
thread *wakes_by_kernel(const replay *r, const waking *w, thread **by)
{
    thread *woken = NULL, *t;
    *by = NULL;
    for (walk i = {0}; (t = walk_on(r, &i));) {
        const bool runs = t->state == THREAD_RUNNING;
        if (!t->rec)
            continue;
        if (t->tid == w->woken &&
            (runs || (t->state == THREAD_WAITS && t->wait.kind > RING_WRITE_LOCK &&
                      t->wait.time <= w->time)))
            woken = t;
        else if (t->tid == w->tid && ((runs && !t->off) || t->state == THREAD_CALLS))
            *by = t;
    }
    return *by ? woken : NULL;
}

/* ---- channels -------------------------------------------------------------------------------- */

/* What a call of the thread uses, if number n is the record after it. Of a call that connects that
 * is recorded when it has returned. NULL: it is not known, or not yet. */
static const descriptor *end_of(const thread *t, const ring_record *call, size_t n)
{
    if (!(descriptor_use(call) & RING_CONNECTS))
        return descriptors_of(t->of, call);
    for (; n < t->end && t->items[n].record.type != RING_BLOCK; n++)
        if (t->items[n].record.type == RING_FD)
            return t->items[n].descriptor;
    return NULL;
}

/* Whether the thread became runnable before the call returned, or not much later, as far as that is
 * known. It may seem to have become so before the call, if it waited for a processor when it began
 * to wait. With its next record the thread `by` goes on after the call. */
static bool runnable_with(const thread *t, const thread *by)
{
    const item *next = wakes_next(t), *returns = wakes_next(by);
    return next && (next->delay == UNKNOWN_DELAY || !returns ||
                    wakes_since(t, next) <= returns->record.time + AGAIN_NS);
}

/* Records that are looked at, so that the time of replay is not the square of their number.
 * redis-server has at most 202 between two polls, with 50 clients. */
enum { MOST_AHEAD = 4096 };

typedef enum reading { READS, READS_NOT, READS_UNKNOWN } reading;

/* As end_of, of the call that is number n. named: the last RING_FD before it, if that is ahead,
 * too: a thread may record only then what the file descriptor is. */
static const descriptor *end_ahead(const thread *t, size_t n, const item *named)
{
    const ring_record *call = &t->items[n].record;
    return named && named->record.flags == ring_fd(call->object) &&
                   !(descriptor_use(call) & RING_CONNECTS)
               ? named->descriptor
               : end_of(t, call, n + 1);
}

/* Whether the thread, which polls, then reads from the other end of what d is before it polls
 * again. */
static reading reads_next(const thread *t, const descriptor *d)
{
    const item *named = NULL;
    for (size_t n = t->first; n < t->end && n - t->first < MOST_AHEAD; n++) {
        const item *i = &t->items[n];
        const ring_record *r = &i->record;
        if (r->type == RING_END || (r->type == RING_BLOCK && r->kind == RING_POLL))
            return READS_NOT;
        if (r->type == RING_FD)
            named = i;
        if (r->type != RING_BLOCK || !(descriptor_use(r) & RING_FROM))
            continue;
        const descriptor *end = end_ahead(t, n, named);
        if (end && descriptors_are_ends(d, end))
            return READS;
    }
    return t->end - t->first < MOST_AHEAD ? READS_UNKNOWN : READS_NOT;
}

/* Whether it waits for what the call does at the other end of what d is. A thread that waits to
 * send to a socket goes on when there is much room, which the first call that reads need not make.
 */
static bool waits_at_end(const thread *t, const thread *by, const item *call, const descriptor *d)
{
    const bool writes = descriptor_use(&call->record) & RING_TO;
    if (t->state != THREAD_WAITS)
        return false;
    if (t->wait.kind == RING_POLL)
        return writes && reads_next(t, d) == READS;
    const descriptor *end = descriptor_use(&t->wait) & (writes ? RING_FROM : RING_TO)
                                ? end_of(t, &t->wait, t->first)
                                : NULL;
    return end && descriptors_are_ends(d, end) &&
           (t->wait.kind != RING_NETWORK || writes || runnable_with(t, by));
}

/* ---- users ----------------------------------------------------------------------------------- */

static uint64_t user_key(uint64_t other_end, uint64_t way)
{
    return gt_hash_add(gt_hash_seed(), other_end, way);
}

void wakes_note_user(replay *r, const thread *t, const item *call)
{
    const descriptor *d = descriptors_of(t->of, &call->record);
    const uint64_t way = descriptor_use(&call->record);
    if (!d || !d->own || (way != RING_FROM && way != RING_TO))
        return;
    const uint64_t key = user_key(d->peer, way),
                   other = user_key(d->own, RING_FROM ^ RING_TO ^ way);
    user *u = &r->users[key % USERS], *o = &r->users[other % USERS];
    if (d->peer && u->key == key && u->of && (u->of != t->of || u->tid != t->tid))
        u->several = true;
    else if (d->peer)
        *u = (user){key, t->of, t->tid, t->slot, u->key == key && u->several};
    if (o->key != other)
        *o = (user){.key = other};
}

void wakes_forget_users(replay *r, const source *s)
{
    for (size_t i = 0; i < USERS; i++)
        if (r->users[i].of == s)
            r->users[i] = (user){0};
}

/* Whether all threads have to be asked who uses the other end that way; else it is *t, NULL: none.
 */
static bool has_any_user(const replay *r, const descriptor *d, uint64_t way, thread **t)
{
    const uint64_t key = user_key(d->own, way);
    const user *u = &r->users[key % USERS];
    *t = u->key == key && u->of ? u->of->at[u->slot] : NULL;
    if (u->key == key && u->of && (!*t || (*t)->tid != u->tid))
        *t = objects_thread(u->of, u->tid); /* one that is about to end has no slot */
    return u->key != key || u->several;
}

static bool goes_on_before(const thread *t, const thread *other)
{
    const item *next = wakes_next(t), *others = wakes_next(other);
    const uint64_t time = next ? next->record.time : UINT64_MAX,
                   others_time = others ? others->record.time : UINT64_MAX;
    return time < others_time || (time == others_time && t->wait.time < other->wait.time);
}

thread *wakes_other_end(const replay *r, const thread *by, const item *call)
{
    const uint64_t use = descriptor_use(&call->record);
    const descriptor *d = use ? end_of(by, &call->record, by->first) : NULL;
    thread *best = NULL, *t;
    if (!d || !d->own)
        return NULL;
    if (!(use & RING_CONNECTS) && !has_any_user(r, d, RING_FROM ^ RING_TO ^ use, &t))
        return t && waits_at_end(t, by, call, d) ? t : NULL;
    for (walk w = {0}; (t = walk_on(r, &w));)
        if (waits_at_end(t, by, call, d) && (!best || goes_on_before(t, best)))
            best = t;
    return best;
}

/* Whether the thread waits in a call that connects, or polls, and it is not known what then. */
static bool may_read(const thread *t, const descriptor *d)
{
    return t->state == THREAD_WAITS &&
           (t->wait.kind == RING_POLL ? reads_next(t, d) == READS_UNKNOWN
                                      : descriptor_use(&t->wait) & RING_CONNECTS && !wakes_next(t));
}

bool wakes_end_undecided(const replay *r, const thread *by, const item *call)
{
    const uint64_t use = descriptor_use(&call->record);
    const descriptor *d = use & RING_TO ? end_of(by, &call->record, by->first + 1) : NULL;
    thread *t;
    if (!d)
        return use == (RING_TO | RING_CONNECTS) && by->first + 1 == by->end;
    if (!d->own)
        return false;
    if (!(use & RING_CONNECTS) && !has_any_user(r, d, RING_FROM, &t))
        return t && may_read(t, d);
    for (walk w = {0}; (t = walk_on(r, &w));)
        if (may_read(t, d))
            return true;
    return false;
}
