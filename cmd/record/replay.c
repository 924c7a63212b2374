/*
 * replay.c - what the records of a program's threads mean: each thread is a goroutine, and has a
 * proc while it does not wait.
 *
 * Records are replayed in order of time, some milliseconds late. That a call has returned is then
 * usually known when its beginning is replayed: a short one is a system call, and a longer one
 * waits (replay_until). Likewise it is known which of several waiting threads was woken. An unlock
 * is replayed up to 100 ms late, until the thread is known that it let in.
 */
#include "cmd/record/replay.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cmd/diag.h"
#include "cmd/verb.h"
#include "formats/common/vector.h"

enum {
    LATE_NS = 100000000,    /* a record that comes later is counted */
    LONG_RUN_NS = 20000000, /* without a record, see is_generation_due */
    MOST_SAMPLES = 768,     /* of a generation: the recorder keeps 1024 */
    FIRST_LOGS = 11,        /* a version */
    FREQUENCY = 1000000000,
};

/* As in Go, a generation lasts a second; while threads run for long, up to ten. */
#define GENERATION_NS      UINT64_C(1000000000)
#define MOST_GENERATION_NS UINT64_C(10000000000)

static gotrace_rec_reason reason_of(ring_kind kind)
{
    switch (kind) {
    case RING_MUTEX:
    case RING_READ_LOCK:
    case RING_WRITE_LOCK:
    case RING_SEM:
    case RING_BARRIER:
    case RING_FUTEX:
    case RING_FILE_LOCK:
    case RING_SYSTEM_SEM: return GOTRACE_REC_SYNC;
    case RING_COND: return GOTRACE_REC_COND;
    case RING_SLEEP: return GOTRACE_REC_SLEEP;
    case RING_POLL: return GOTRACE_REC_SELECT;
    case RING_NETWORK: return GOTRACE_REC_NETWORK;
    case RING_RECEIVE: return GOTRACE_REC_RECEIVE;
    case RING_SEND: return GOTRACE_REC_SEND;
    case RING_JOIN:
    case RING_SIGNAL:
    case RING_FILE:
    case RING_CHILD:
    case RING_NO_WAIT: break;
    }
    return GOTRACE_REC_BLOCK;
}

/* ---- waking ---------------------------------------------------------------------------------- */

static const ring_record *next_record(const thread *t)
{
    const item *next = wakes_next(t);
    return next ? &next->record : NULL;
}

/* Whether the last record of the thread is a RING_WAKE of what the other one waits for. */
static bool is_waking(const thread *by, const thread *woken)
{
    return by->wake_key && by->wake_key == woken->wait_key;
}

void replay_unpark(const thread *by, const thread *woken)
{
    const stack *at = by->state == THREAD_CALLS ? by->call : NULL;
    at = is_waking(by, woken) ? by->wake : at;
    gotrace_rec_go_unpark(by->rec, woken->go, pcs_of(at), depth_of(at));
}

static void set_woken(thread *woken, uint64_t time)
{
    woken->state = THREAD_WOKEN;
    woken->woken = time;
}

/* The thread ran, and waits again from now on: after a condition variable for the mutex, else for
 * the same. Which thread lets it in is not known of locks. */
static void park_again(replay *r, thread *t)
{
    const bool of_lock = t->wait.kind <= RING_COND || t->wait.kind == RING_NO_WAIT;
    gotrace_rec_go_park(t->rec, of_lock ? GOTRACE_REC_SYNC : reason_of(t->wait.kind), NULL, 0);
    if (of_lock) {
        t->wait.kind = RING_NO_WAIT;
        t->wait_key = 0;
    }
    t->wait.time = r->now;
    t->state = THREAD_WAITS;
}

/* The thread, which was woken, begins to wait again before its next record, as far as the kernel
 * reports it. False: it does not. That is later: it keeps its proc until it goes on, so that no
 * other thread has it before. */
static bool waits_again(replay *r, thread *woken)
{
    const uint64_t now = r->now;
    uint64_t begin;
    switch_off off;
    if (!wakes_sleeps_at(r, woken, now, &off) || !wakes_sleeps_after(r, woken, now, &begin))
        return false;
    goroutine_was_delayed(woken, off.end);
    replay_set_time(r, off.end);
    goroutine_resume(r, woken, off.end);
    replay_set_time(r, begin);
    park_again(r, woken);
    gotrace_rec_proc_stop(woken->rec);
    replay_set_time(r, now);
    r->shown = begin > r->shown ? begin : r->shown;
    return true;
}

/* One that by the kernel is runnable only later waits again. */
static void wake(replay *r, const thread *by, thread *woken, const stack *at)
{
    const item *next = wakes_next(woken);
    gotrace_rec_go_unpark(by->rec, woken->go, pcs_of(at), depth_of(at));
    set_woken(woken, r->now);
    if (!waits_again(r, woken) && !r->switches && r->version >= GOTRACE_FIRST_V2 && next &&
        next->delay != UNKNOWN_DELAY && wakes_since(woken, next) > r->now + AGAIN_NS) {
        goroutine_resume(r, woken, r->now);
        park_again(r, woken);
        goroutine_release_proc(r, woken);
    }
}

static void wake_kind(replay *r, thread *by, ring_kind kind, const item *i)
{
    thread *t;
    for (walk w = {0}; (t = walk_on(r, &w));)
        if (wakes_can_wake(t, by->of, i->key) && t->wait.kind == kind)
            wake(r, by, t, i->stack);
}

static void wake_some(replay *r, thread *by, const item *i)
{
    thread *t;
    for (unsigned n = 0; n < i->record.flags; n++) {
        thread *woken = wakes_find(r, by, i);
        if (!woken)
            break;
        const bool reads = woken->wait.kind == RING_READ_LOCK;
        wake(r, by, woken, i->stack);
        if (reads)
            wake_kind(r, by, RING_READ_LOCK, i);
    }
    for (walk w = {0}; (t = walk_on(r, &w));)
        t->passed = t->passed || wakes_can_wake(t, by->of, i->key);
}

/* ---- waiting --------------------------------------------------------------------------------- */

/* Whether the call is never shown as waiting. */
static bool is_system_call(uint8_t kind)
{
    return kind == RING_FILE || kind == RING_CHILD || kind == RING_NO_WAIT;
}

/* Whether the call returns without having waited. */
static bool is_short(const replay *r, const thread *t, const ring_record *block)
{
    const ring_record *next = next_record(t);
    return block->kind >= RING_SLEEP && next &&
           (next->time - block->time < SHORT_NS ||
            (r->switches && switches_waits_not(r->switches, t->tid, block->time, next->time)));
}

static bool is_last_at_barrier(const thread *t, const ring_record *block)
{
    const ring_record *next = next_record(t);
    return block->kind == RING_BARRIER && next && next->flags == RING_LAST;
}

static void block(replay *r, thread *t, const item *i)
{
    const ring_record *b = &i->record;
    if (is_last_at_barrier(t, b)) {
        wake_kind(r, t, RING_BARRIER, i);
        return;
    }
    thread *other = wakes_other_end(r, t, i);
    if (other)
        wake(r, t, other, i->stack);
    wakes_note_user(r, t, i);
    t->call = i->stack;
    bool quick = is_short(r, t, b);
    if (quick || is_system_call(b->kind)) {
        gotrace_rec_go_sys_call(t->rec, pcs_of(i->stack), depth_of(i->stack));
        t->state = THREAD_CALLS;
    } else {
        if (r->version >= FIRST_LOGS)
            objects_log_wait(t->of, t, b);
        gotrace_rec_go_park(t->rec, reason_of(b->kind), pcs_of(i->stack), depth_of(i->stack));
        t->state = THREAD_WAITS;
        t->wait = *b;
        t->wait_key = i->key;
        t->passed = false;
    }
    if (!quick)
        goroutine_release_proc(r, t);
}

/* ---- records --------------------------------------------------------------------------------- */

static void raise_now(replay *r, uint64_t time)
{
    if (time > r->now)
        atomic_store_explicit(&r->now, time, memory_order_relaxed);
}

/* Whether the rest of the name follows. */
static bool is_part_of_name(const ring_record *record)
{
    return record->type == RING_NAME &&
           (record->kind + 1U) * sizeof record->object < RING_NAME_SIZE;
}

static void set_name(thread *t, const ring_record *record)
{
    memcpy(t->name + record->kind * sizeof record->object, &record->object, sizeof record->object);
    t->labelled = false;
}

static void end_generation(replay *r, uint64_t time)
{
    off_show_all(r, time);
    r->generation = time;
    r->samples = 0;
    thread *t;
    for (walk w = {0}; (t = walk_on(r, &w));)
        t->labelled = t->of->declared = false;
    gotrace_recorder_advance(r->recorder);
}

static void take_sample(replay *r, const thread *t, const item *i)
{
    for (uint16_t n = 0; n < i->record.flags; n++)
        gotrace_rec_cpu_sample(r->recorder, t->rec, pcs_of(i->stack), depth_of(i->stack));
    r->samples += i->record.flags;
    if (r->samples >= MOST_SAMPLES)
        end_generation(r, i->record.time);
}

static void replay_item(replay *r, thread *t, const item *i)
{
    /* Records that are written while recording ends may come late, and those of a slot that was
     * passed over. */
    r->late += r->now > LATE_NS && i->record.time < r->now - LATE_NS;
    raise_now(r, i->record.time);
    if (i->record.type == RING_FD)
        descriptors_set(t->of, i->record.flags, i->descriptor);
    if (i->record.type == RING_ATTACH || i->record.type == RING_START) {
        goroutine_begin(r, t, i);
        t->since = i->record.time;
        return;
    }
    if (i->record.type == RING_NAME)
        set_name(t, &i->record);
    if (t->state == THREAD_ENDED || !t->rec)
        return;
    off_show(r, t, i->record.time);
    t->wake = i->stack;
    t->wake_key = i->record.type == RING_WAKE ? i->key : 0;
    if (i->record.type == RING_SAMPLE) {
        if (r->version >= GOTRACE_FIRST_V2) /* else there are none, unless memory was damaged */
            take_sample(r, t, i);
        t->since = i->record.time;
        return;
    }
    if (i->record.type == RING_OFF && t->state == THREAD_RUNNING)
        off_record(r, t, i);
    /* A thread that records runs, also if that it goes on was not recorded. */
    const uint64_t since = wakes_since(t, i);
    if (i->delay != UNKNOWN_DELAY)
        t->delayed = 0;
    else if (t->state == THREAD_WOKEN)
        goroutine_was_delayed(t, i->record.time);
    goroutine_resume(r, t, since);
    if (!is_part_of_name(&i->record))
        goroutine_describe(r, t);
    switch ((ring_type)i->record.type) {
    case RING_CREATE: goroutine_create(r, t, i); break;
    case RING_END:
        wake_kind(r, t, RING_JOIN, i);
        goroutine_end(r, t);
        break;
    case RING_BLOCK: block(r, t, i); break;
    case RING_WAKE:
        wake_some(r, t, i);
        if (r->version >= FIRST_LOGS)
            objects_log_release(t->of, t, i->record.object);
        break;
    case RING_FD:
    case RING_SELF:
    case RING_HOLDER:
    case RING_DELAY:
    case RING_RESUME:
    case RING_OFF:
    case RING_FRAME:
    case RING_SAMPLE:
    case RING_NAME:
    case RING_ATTACH:
    case RING_START: break;
    }
    t->holder = i->record.type == RING_HOLDER ? i->record.object : 0;
    t->since = i->record.time;
}

/* The thread with the first record; *next is the time of the first record of another one. */
static thread *first_thread(const replay *r, uint64_t *next)
{
    thread *first = NULL, *t;
    uint64_t first_time = UINT64_MAX;
    *next = UINT64_MAX;
    for (walk w = {0}; (t = walk_on(r, &w));) {
        const ring_record *record = next_record(t);
        uint64_t time = record ? record->time : UINT64_MAX;
        if (time < first_time) {
            *next = first_time;
            first_time = time;
            first = t;
        } else if (time < *next) {
            *next = time;
        }
    }
    return first;
}

/* Whether a thread has run for long without a record: how much of that it was off the processor
 * will be shown in the generation of its next one. */
static bool runs_for_long(const replay *r, uint64_t time)
{
    const thread *t;
    for (walk w = {0}; (t = walk_on(r, &w));)
        if (t->state == THREAD_RUNNING && t->since + LONG_RUN_NS < time)
            return true;
    return false;
}

/* A flight recorder drops whole generations, so that they are not longer there. */
static bool is_generation_due(replay *r, const ring_record *next)
{
    const uint64_t age = next->time - r->generation;
    if (age < GENERATION_NS || next->type == RING_OFF || next->time < r->asked + LONG_RUN_NS ||
        next->time <= r->shown)
        return false;
    r->asked = next->time;
    return r->flies || r->switches || age >= MOST_GENERATION_NS || !runs_for_long(r, next->time);
}

/* ---- processes ------------------------------------------------------------------------------- */

void replay_use_switches(replay *r, switches *s)
{
    if (r->version >= GOTRACE_FIRST_V2) /* before, events of procs are in one order */
        r->switches = s;
}

bool replay_sees_waits(const replay *r)
{
    return r->switches && switches_are_complete(r->switches);
}

bool replay_add(replay *r, source *s)
{
    source **grown = vector_room(r->sources, &r->source_capacity, r->source_count,
                                 sizeof(source *));
    if (!grown)
        return false;
    r->sources = grown;
    r->sources[r->source_count++] = s;
    return true;
}

void replay_end_process(replay *r, source *s, uint64_t ended)
{
    s->process_ended = ended;
    r->ending++;
}

static bool has_records(const source *s)
{
    size_t i = 0;
    while (i < s->count && !next_record(s->threads[i]))
        i++;
    return i < s->count;
}

/* Ends processes whose records are replayed, and which ended until then. */
static void end_processes(replay *r, uint64_t until)
{
    for (size_t i = 0; i < r->source_count && r->ending > 0;) {
        source *s = r->sources[i];
        if (!s->process_ended || s->process_ended > until || has_records(s)) {
            i++;
            continue;
        }
        raise_now(r, s->process_ended);
        goroutine_end_process(r, s);
        wakes_forget_users(r, s);
        s->replayed = true;
        r->ending--;
        r->failed = r->failed || s->failed;
        memmove(&r->sources[i], &r->sources[i + 1], (--r->source_count - i) * sizeof(source *));
    }
}

/* ---- all ------------------------------------------------------------------------------------- */

static bool is_undecided(const replay *r, const thread *t, const item *i)
{
    return (i->record.type == RING_WAKE && wakes_undecided(r, t, i)) ||
           (i->record.type == RING_BLOCK && wakes_end_undecided(r, t, i));
}

/* The kernel reports that the thread `by` woke the other one. That goes on with its next record, or
 * waits again before; or it was woken before it slept, and sleeps then; or its process was killed.
 * False: it is not known yet. */
static bool wake_at(replay *r, const thread *by, thread *woken, uint64_t time, uint64_t decided)
{
    switch_off off;
    uint64_t begin;
    raise_now(r, time);
    if (woken->state == THREAD_RUNNING)
        return off_wake(r, by, woken, time) || time <= decided;
    if (wakes_sleeps_after(r, woken, time, &begin)) {
        if (!wakes_sleeps_at(r, woken, time, &off))
            return true;
    } else if (!wakes_next(woken)) {
        if (woken->of->process_ended || decided == UINT64_MAX)
            return true;
        if (time > decided)
            return false;
    }
    replay_unpark(by, woken);
    set_woken(woken, time);
    waits_again(r, woken);
    return true;
}

/* Threads are woken as the kernel reports it, up to that time. Functions that are
 * recorded have woken theirs before they call the kernel. Returns until, or an earlier time from
 * which on it is not decided whether a thread goes on; *next is lowered to the next waking. */
static uint64_t wake_by_kernel(replay *r, uint64_t until, uint64_t decided, uint64_t *next)
{
    const waking *w;
    while (r->switches && (w = switches_waking(r->switches, &r->waking))) {
        thread *by, *woken;
        if (w->time > until) {
            *next = w->time < *next ? w->time : *next;
            break;
        }
        woken = wakes_by_kernel(r, w, &by);
        if (woken && !wake_at(r, by, woken, w->time, decided))
            return w->time - 1;
        r->waking++;
    }
    return until;
}

/* Replays the records of the first thread up to the first one of another one. Returns until; or an
 * earlier time, from which on it is not decided what happens. */
static uint64_t replay_first(replay *r, thread *t, uint64_t next, uint64_t until, uint64_t decided)
{
    if (is_generation_due(r, next_record(t)))
        end_generation(r, next_record(t)->time);
    do {
        item i = t->items[t->first];
        if (i.record.time > decided && is_undecided(r, t, &i))
            return i.record.time - 1;
        t->first++;
        replay_item(r, t, &i);
        if (i.record.type == RING_CREATE && i.other)
            i.other->named--;
    } while (t->first < t->end && next_record(t)->time <= next && next_record(t)->time <= until &&
             !r->names->wait.stops());
    return until;
}

static bool lacks_memory(const replay *r)
{
    bool lacks = r->failed;
    for (size_t i = 0; i < r->source_count; i++)
        lacks = lacks || r->sources[i]->failed;
    return lacks;
}

void replay_until(replay *r, uint64_t until, uint64_t decided)
{
    uint64_t next;
    while (!r->names->wait.stops()) {
        thread *t = first_thread(r, &next);
        const uint64_t first = t ? next_record(t)->time : UINT64_MAX;
        const uint64_t end = first < until ? first : until;
        end_processes(r, end);
        const uint64_t woken = wake_by_kernel(r, end, decided, &next);
        if (woken < end)
            until = woken;
        if (first > until || !t)
            break;
        until = replay_first(r, t, next, until, decided);
    }
    for (size_t i = 0; i < r->source_count; i++)
        source_forget(r->sources[i]);
    if (until < UINT64_MAX && until > r->until)
        r->until = until;
    if (lacks_memory(r) || gotrace_recorder_error(r->recorder)->rule != GOTRACE_RULE_NONE)
        for (size_t i = 0; i < r->source_count; i++)
            source_end(r->sources[i]);
}

bool replay_is_cut(const replay *r)
{
    size_t i = 0;
    while (i < r->source_count && !has_records(r->sources[i]))
        i++;
    return i < r->source_count;
}

replay_losses replay_lost(const replay *r)
{
    return (replay_losses){r->late, gotrace_recorder_lost(r->recorder)->samples};
}

/* ---- begin and end --------------------------------------------------------------------------- */

static uint64_t replay_clock(void *ctx)
{
    return atomic_load_explicit(&((replay *)ctx)->now, memory_order_relaxed);
}

static void set_now(replay *r)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    r->now = (uint64_t)t.tv_sec * FREQUENCY + (uint64_t)t.tv_nsec;
}

static bool write_out(void *ctx, const void *bytes, size_t size)
{
    out *to = ctx;
    out_bytes(to, bytes, size);
    return !to->failed;
}

static void report(const gotrace_error *error)
{
    diag_error("%s [%s]", error->message, gotrace_rule_describe(error->rule)->id);
}

replay *replay_new(names *n, int version, uint64_t begin, uint64_t flight_ns, out *to)
{
    replay *r = calloc(1, sizeof *r);
    gotrace_error error = {.rule = GOTRACE_RULE_NONE};
    if (!r) {
        diag_error("out of memory [system.memory]");
        return NULL;
    }
    r->names = n;
    r->to = to;
    r->version = version;
    r->flies = flight_ns > 0;
    const gotrace_recorder_options options = {.size = sizeof options,
                                              .resolve = names_resolve,
                                              .resolve_ctx = n,
                                              .clock = replay_clock,
                                              .clock_ctx = r,
                                              .frequency = FREQUENCY,
                                              .generation_ns = UINT64_MAX,
                                              .flight_ns = flight_ns};
    set_now(r);
    if (begin > 0)
        r->now = begin;
    r->generation = r->now;
    if (gotrace_recorder_new(&options, NULL, &r->recorder, &error) == GOTRACE_OK &&
        gotrace_recorder_start(r->recorder, version, flight_ns ? NULL : write_out, to) ==
            GOTRACE_OK)
        return r;
    report(r->recorder ? gotrace_recorder_error(r->recorder) : &error);
    gotrace_recorder_free(r->recorder);
    free(r);
    return NULL;
}

/* A trace lasts until its last event. So one is written where it ends: a running thread yields, as
 * that which stops tracing does in Go (runtime/trace.go, StopTrace). If none runs, a proc does for
 * a moment. */
static void mark_time(replay *r)
{
    gotrace_rec_thread *idle = NULL;
    thread *t;
    for (walk w = {0}; (t = walk_on(r, &w));) {
        if (t->state == THREAD_RUNNING && !t->off) {
            gotrace_rec_go_sched(t->rec, NULL, 0);
            gotrace_rec_go_start(t->rec, t->go);
            return;
        }
        if (t->state == THREAD_WAITS || t->state == THREAD_WOKEN)
            idle = t->rec;
    }
    if (r->source_count == 0 || !r->begun)
        return;
    if (!idle && !r->own)
        r->own = gotrace_rec_thread_new(r->recorder, (uint64_t)getpid());
    thread marker = {.rec = idle ? idle : r->own};
    goroutine_take_proc(r, &marker);
    goroutine_release_proc(r, &marker);
}

/* The process has ended, and all its threads. Those that wait are not shown as woken: they were
 * not, and no event ends a waiting goroutine. Until 1.21 none ends one in a system call either.
 * Returns whether an event was written. */
static bool end_threads(replay *r)
{
    thread *t;
    bool ended = false;
    for (walk w = {0}; (t = walk_on(r, &w));) {
        if (t->state == THREAD_RUNNING && !t->off) {
            goroutine_end(r, t);
            ended = true;
        } else if (t->state == THREAD_CALLS && r->version >= GOTRACE_FIRST_V2) {
            gotrace_rec_go_destroy_sys_call(t->rec);
            t->state = THREAD_ENDED;
            ended = true;
        }
    }
    return ended;
}

bool replay_snapshot(replay *r, out *to)
{
    off_show_all(r, r->until);
    if (r->until > r->now) {
        raise_now(r, r->until);
        mark_time(r);
    }
    return gotrace_recorder_snapshot(r->recorder, write_out, to) == GOTRACE_OK;
}

void replay_free(replay *r)
{
    if (!r)
        return;
    gotrace_recorder_free(r->recorder);
    free(r->procs);
    free(r->sources);
    free(r);
}

int replay_end(replay *r, uint64_t ended)
{
    int status = EXIT_SOUND;
    if (ended)
        raise_now(r, ended);
    else
        set_now(r);
    off_show_all(r, r->now);
    if (!ended || !end_threads(r))
        mark_time(r);
    if (r->flies && !replay_snapshot(r, r->to))
        status = EXIT_SYSTEM;
    if (lacks_memory(r)) {
        diag_error("out of memory: the trace is incomplete [system.memory]");
        status = EXIT_SYSTEM;
    }
    if (gotrace_recorder_stop(r->recorder) < 0 && status == EXIT_SOUND) {
        /* Of failed output, output_close reports the reason. */
        if (!r->to->failed)
            report(gotrace_recorder_error(r->recorder));
        status = EXIT_SYSTEM;
    }
    replay_free(r);
    return status;
}
