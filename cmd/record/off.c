/*
 * off.c - when threads were off the processors that are in no recorded call: they waited in a way
 * that is not seen, or others were on the processors.
 *
 * With the kernel's switches each such time is shown where it was: when the thread records
 * something, when another one wakes it, and when a generation or the trace ends. Otherwise only the
 * sum is known, and shown before the thread's next record. The thread keeps its proc.
 */
#include "cmd/record/replay.h"

/* The first time at which an event of the thread's time off can be: in this generation. */
static uint64_t least_time(const replay *r, const thread *t)
{
    return r->version >= GOTRACE_FIRST_V2 && r->generation > t->since ? r->generation : t->since;
}

/* ---- the kernel's switches ------------------------------------------------------------------- */

static void begin(replay *r, thread *t, const switch_off *off)
{
    replay_set_time(r, off->begin);
    if (off->preempted)
        gotrace_rec_go_preempt(t->rec, NULL, 0);
    else
        gotrace_rec_go_park(t->rec, GOTRACE_REC_BLOCK, NULL, 0);
    gotrace_rec_proc_stop(t->rec);
    t->off = off->preempted ? OFF_PREEMPTED : OFF_WAITS;
    t->off_since = off->begin;
}

/* by: the thread that woke it, at the time `woken`; NULL: none is known. */
static void end(replay *r, thread *t, uint64_t time, const thread *by, uint64_t woken)
{
    const bool waits = t->off == OFF_WAITS;
    if (waits && by) {
        replay_set_time(r, woken);
        replay_unpark(by, t);
    }
    replay_set_time(r, time);
    gotrace_rec_proc_start(t->rec, r->procs[t->proc].rec);
    if (waits && !by)
        gotrace_rec_go_unpark(t->rec, t->go, NULL, 0);
    gotrace_rec_go_start(t->rec, t->go);
    t->off_ns += time - t->off_since;
    t->off = OFF_NOT;
    t->since = time;
}

/* Shows each time off that ended until then. Short ones are left out. */
static void show(replay *r, thread *t, uint64_t until, const thread *by, uint64_t woken)
{
    const uint64_t now = r->now;
    switch_off off;
    while (switches_next(r->switches, t->tid, least_time(r, t), until, &off)) {
        if (!t->off && off.end - off.begin < SHORT_NS)
            continue;
        if (!t->off)
            begin(r, t, &off);
        end(r, t, off.end, woken >= off.begin && woken <= off.end ? by : NULL, woken);
    }
    replay_set_time(r, now);
}

void off_show(replay *r, thread *t, uint64_t time)
{
    const uint64_t now = r->now;
    if (!r->switches || t->state != THREAD_RUNNING)
        return;
    show(r, t, time, NULL, 0);
    if (t->off)
        end(r, t, time, NULL, 0);
    replay_set_time(r, now);
}

void off_show_all(replay *r, uint64_t until)
{
    const uint64_t now = r->now;
    switch_off off;
    thread *t;
    for (walk w = {0}; r->switches && (t = walk_on(r, &w));) {
        if (t->state != THREAD_RUNNING)
            continue;
        show(r, t, until, NULL, 0);
        if (t->off || !switches_at(r->switches, t->tid, until, &off))
            continue;
        const uint64_t least = least_time(r, t);
        off.begin = off.begin > least ? off.begin : least;
        if (off.begin + SHORT_NS < until)
            begin(r, t, &off);
    }
    replay_set_time(r, now);
}

bool off_wake(replay *r, const thread *by, thread *t, uint64_t time)
{
    switch_off off;
    if (!switches_at(r->switches, t->tid, time, &off) || off.preempted)
        return true;
    if (off.end == UINT64_MAX)
        return false;
    show(r, t, off.end, by, time);
    if (off.end > r->shown)
        r->shown = off.end;
    return true;
}

/* ---- records --------------------------------------------------------------------------------- */

/* When is not known, of all or of the rest: it is shown at the end. Events of 1.5 have numbers
 * instead of times, which cannot go back. */
void off_record(replay *r, thread *t, const item *i)
{
    const uint64_t until = i->record.time, now = r->now;
    const uint64_t ns = i->record.object > t->off_ns ? i->record.object - t->off_ns : 0,
                   least = least_time(r, t);
    const uint64_t since = ns > until || until - ns < least ? least : until - ns;
    t->off_ns = 0;
    if (since >= until || r->version < 7 || (r->switches && ns < SHORT_NS))
        return;
    replay_set_time(r, since);
    if (i->record.flags) {
        gotrace_rec_go_park(t->rec, GOTRACE_REC_BLOCK, NULL, 0);
        t->state = THREAD_WAITS;
    } else {
        gotrace_rec_go_preempt(t->rec, NULL, 0);
        t->state = THREAD_WOKEN;
    }
    goroutine_release_proc(r, t);
    replay_set_time(r, now);
    goroutine_resume(r, t, now);
}
