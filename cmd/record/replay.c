/*
 * replay.c - what the records of a program's threads mean: each thread is a goroutine, and has a
 * proc while it does not wait.
 *
 * Records are replayed in order of time, some milliseconds late. That a call has returned is then
 * usually known when its beginning is replayed: a short one is a system call, and a longer one
 * waits (replay_until). Likewise it is known which of several waiting threads was woken. An unlock
 * is replayed up to 100 ms late, until the thread is known that it let in.
 */
#include "cmd/record/record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cmd/diag.h"
#include "cmd/verb.h"

enum {
    SHORT_NS = 20000,       /* a call that takes less has not waited */
    LATE_NS = 100000000,    /* a record that comes later is counted */
    LONG_RUN_NS = 20000000, /* without a record, see is_generation_due */
    MOST_SAMPLES = 768,     /* of a generation: the recorder keeps 1024 */
    FIRST_LOGS = 11,        /* a version */
    FREQUENCY = 1000000000,
    LABEL_SIZE = RING_NAME_SIZE + sizeof "thread ",
};

/* As in Go, a generation lasts a second; while threads run for long, up to ten. */
#define GENERATION_NS      UINT64_C(1000000000)
#define MOST_GENERATION_NS UINT64_C(10000000000)

typedef struct proc {
    gotrace_rec_proc *rec;
    bool taken;
} proc;

struct replay {
    source *source;
    gotrace_recorder *recorder;
    _Atomic uint64_t now;      /* the recorder's clock */
    uint64_t until;            /* records up to that time are replayed */
    uint64_t generation;       /* its beginning */
    uint64_t asked;            /* when it was last asked whether it is to end */
    uint64_t late;             /* records, see replay_losses */
    uint64_t goroutines;       /* number of */
    uint64_t samples;          /* of the generation */
    uint32_t image;            /* that runs */
    gotrace_rec_thread *first; /* the first thread, of all images */
    gotrace_rec_thread *own;   /* of `record`, for mark_time; NULL: not needed yet */
    int version;
    proc *procs;
    unsigned proc_count, proc_capacity;
    out *to;
    bool flies; /* a flight recorder */
};

/* ---- procs ----------------------------------------------------------------------------------- */

static bool add_proc(replay *r)
{
    if (r->proc_count == r->proc_capacity) {
        unsigned capacity = r->proc_capacity ? 2 * r->proc_capacity : 16;
        proc *grown = reallocarray(r->procs, capacity, sizeof *grown);
        if (!grown)
            return false;
        r->procs = grown;
        r->proc_capacity = capacity;
    }
    r->procs[r->proc_count] = (proc){gotrace_rec_proc_new(r->recorder, r->proc_count), false};
    r->proc_count++;
    return true;
}

/* The thread takes the first proc that is idle. */
static void take_proc(replay *r, thread *t)
{
    unsigned i = 0;
    while (i < r->proc_count && r->procs[i].taken)
        i++;
    if (i == r->proc_count && !add_proc(r)) {
        r->source->failed = true;
        return;
    }
    r->procs[i].taken = true;
    t->proc = i;
    t->has_proc = true;
    gotrace_rec_proc_start(t->rec, r->procs[i].rec);
}

static void release_proc(replay *r, thread *t)
{
    if (!t->has_proc)
        return;
    gotrace_rec_proc_stop(t->rec);
    r->procs[t->proc].taken = false;
    t->has_proc = false;
}

/* ---- states ---------------------------------------------------------------------------------- */

static const uint64_t *pcs_of(const item *i)
{
    return i->stack ? i->stack->pcs : NULL;
}

static size_t depth_of(const item *i)
{
    return i->stack ? i->stack->depth : 0;
}

/* The label of the goroutine; it has one. Go's readers take goroutines with labels that begin with
 * "GC " for workers of the garbage collector (internal/trace/gc.go): Java's "GC Thread#0" is none.
 */
static const char *label_of(const thread *t, char text[LABEL_SIZE])
{
    snprintf(text, LABEL_SIZE, "%s%s", strncmp(t->name, "GC ", 3) == 0 ? "thread " : "", t->name);
    return text;
}

/* Each generation has the labels again: a flight recorder drops earlier ones. */
static void label(replay *r, thread *t)
{
    char text[LABEL_SIZE];
    if (!t->name[0] || t->labelled || t->state != THREAD_RUNNING || r->version < GOTRACE_FIRST_V2)
        return;
    gotrace_rec_go_label(t->rec, label_of(t, text));
    t->labelled = true;
}

/* The thread has a proc. */
static void start_there(const replay *r, thread *t)
{
    char text[LABEL_SIZE];
    if (t->name[0] && r->version < GOTRACE_FIRST_V2)
        gotrace_rec_go_start_label(t->rec, t->go, label_of(t, text));
    else
        gotrace_rec_go_start(t->rec, t->go);
    t->state = THREAD_RUNNING;
}

static void start(replay *r, thread *t)
{
    take_proc(r, t);
    start_there(r, t);
}

/* The thread goes on after a wait or a call. */
static void resume(replay *r, thread *t)
{
    switch (t->state) {
    case THREAD_CALLS:
        gotrace_rec_go_sys_exit(t->rec);
        if (t->has_proc)
            t->state = THREAD_RUNNING;
        else
            start(r, t);
        break;
    case THREAD_WAITS: /* no thread woke it, but time, a signal, the network, ... */
        take_proc(r, t);
        gotrace_rec_go_unpark(t->rec, t->go, NULL, 0);
        start_there(r, t);
        break;
    case THREAD_WOKEN: start(r, t); break;
    case THREAD_NEW:
    case THREAD_CREATED:
    case THREAD_RUNNING:
    case THREAD_ENDED: break;
    }
}

static void end_goroutine(replay *r, thread *t)
{
    resume(r, t);
    if (t->state == THREAD_RUNNING) {
        gotrace_rec_go_end(t->rec);
        release_proc(r, t);
    }
    t->state = THREAD_ENDED;
}

static void end(replay *r, thread *t)
{
    const bool lives = t->rec && t->state != THREAD_ENDED;
    end_goroutine(r, t);
    if (lives && t->rec != r->first)
        gotrace_rec_thread_end(t->rec);
}

/* The process executes another program: its threads have ended. */
static void end_image(replay *r, uint32_t image)
{
    for (size_t i = 0; i < r->source->count; i++)
        if (r->source->threads[i]->image < image)
            end(r, r->source->threads[i]);
    r->image = image;
}

static uint64_t start_pc(uint64_t address, uint32_t image)
{
    return address ? (address & PC_MASK) | (uint64_t)image << PC_IMAGE_SHIFT : 0;
}

/* The thread of that id that lives; NULL: none. The kernel uses the id again of one that has ended,
 * perhaps without notice. */
static gotrace_rec_thread *take_over(replay *r, uint64_t tid)
{
    thread *t = objects_thread(r->source, tid);
    if (!t)
        return NULL;
    end_goroutine(r, t);
    return t->rec;
}

/* The id of the first thread, that of the process, is also that of the next program's. */
static gotrace_rec_thread *new_thread(replay *r, uint64_t tid)
{
    const bool first = tid == (uint64_t)r->source->names.pid;
    gotrace_rec_thread *created = take_over(r, tid);
    if (first && r->first)
        return r->first;
    if (!created)
        created = gotrace_rec_thread_new(r->recorder, tid);
    if (first)
        r->first = created;
    return created;
}

/* Where a thread begins that was not seen to be created; 0: unknown. */
static uint64_t entry_of(replay *r, const thread *t, const item *i)
{
    if (i->record.type == RING_ATTACH && i->record.flags == 0)
        return start_pc(r->source->shared->mains[t->image], t->image);
    return names_thread(&r->source->names, i->stack ? i->stack->pcs[0] : 0, t->name);
}

/* A signal handler may have left the writing of the record, and so it may come twice. */
static void begin_thread(replay *r, thread *t, const item *i)
{
    const uint64_t tid = i->record.object;
    if (t->rec)
        return;
    if (t->image > r->image)
        end_image(r, t->image);
    t->rec = new_thread(r, tid);
    t->tid = tid;
    if (t->state == THREAD_CREATED) {
        start(r, t);
        return;
    }
    uint64_t entry = entry_of(r, t, i);
    take_proc(r, t);
    t->number = ++r->goroutines;
    t->go = gotrace_rec_go_create(t->rec, t->number, entry, NULL, 0);
    gotrace_rec_go_start(t->rec, t->go);
    t->state = THREAD_RUNNING;
}

static void create_thread(replay *r, thread *t, const item *i)
{
    thread *created = i->other;
    if (!created || created->state != THREAD_NEW)
        return;
    created->number = ++r->goroutines;
    created->go = gotrace_rec_go_create(
        t->rec, created->number, start_pc(i->record.object, t->image), pcs_of(i), depth_of(i));
    created->state = THREAD_CREATED;
    r->source->unseen += names_wait_unseen(&r->source->names, t->image,
                                           (i->record.object & PC_MASK) + 1);
}

/* ---- waking ---------------------------------------------------------------------------------- */

static const ring_record *next_record(const thread *t)
{
    return t->first < t->end ? &t->items[t->first].record : NULL;
}

static bool waits_for(const thread *t, uint64_t object)
{
    return t->state == THREAD_WAITS && t->wait.kind < RING_SLEEP && t->wait.object == object;
}

static bool waits_for_lock(const thread *t, uint64_t object)
{
    return waits_for(t, object) && t->wait.kind <= RING_WRITE_LOCK;
}

/* When the thread goes on because of that RING_WAKE; UINT64_MAX: not because of it. A lock may be
 * taken by another thread before one that is woken runs, which then goes on waiting. */
static uint64_t wake_time(const thread *t, const ring_record *wake)
{
    const ring_record *next = next_record(t);
    if (waits_for_lock(t, wake->object) && (!next || next->object != wake->time))
        return UINT64_MAX;
    if (!next)
        return UINT64_MAX - 1;
    return next->flags == RING_DONE ? next->time : UINT64_MAX;
}

/* The thread that is woken: of those that wait for the object, that which goes on first; if that is
 * not known, that which has waited longest. */
static thread *find_woken(const replay *r, const ring_record *wake)
{
    thread *best = NULL;
    uint64_t best_time = UINT64_MAX;
    for (size_t i = 0; i < r->source->count; i++) {
        thread *t = r->source->threads[i];
        uint64_t time = waits_for(t, wake->object) ? wake_time(t, wake) : UINT64_MAX;
        if (time < best_time || (best && time == best_time && t->wait.time < best->wait.time)) {
            best = t;
            best_time = time;
        }
    }
    return best;
}

static void wake(thread *by, thread *woken, const item *i)
{
    gotrace_rec_go_unpark(by->rec, woken->go, pcs_of(i), depth_of(i));
    woken->state = THREAD_WOKEN;
}

static void wake_kind(replay *r, thread *by, uint64_t object, ring_kind kind, const item *i)
{
    for (size_t n = 0; n < r->source->count; n++) {
        thread *t = r->source->threads[n];
        if (waits_for(t, object) && t->wait.kind == kind)
            wake(by, t, i);
    }
}

static void wake_some(replay *r, thread *by, const item *i)
{
    uint64_t object = i->record.object;
    for (unsigned n = 0; n < i->record.flags; n++) {
        thread *woken = find_woken(r, &i->record);
        if (!woken)
            return;
        wake(by, woken, i);
        if (woken->wait.kind == RING_READ_LOCK)
            wake_kind(r, by, object, RING_READ_LOCK, i);
    }
}

/* Whether it is not known yet that the RING_WAKE let in a thread that waits for the lock. */
static bool is_undecided(const replay *r, const ring_record *wake)
{
    bool waits = false;
    for (size_t i = 0; i < r->source->count; i++) {
        const thread *t = r->source->threads[i];
        if (!waits_for_lock(t, wake->object))
            continue;
        if (wake_time(t, wake) != UINT64_MAX)
            return false;
        waits = waits || !next_record(t);
    }
    return waits;
}

/* ---- waiting --------------------------------------------------------------------------------- */

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

/* Whether the call is never shown as waiting. */
static bool is_system_call(uint8_t kind)
{
    return kind == RING_FILE || kind == RING_CHILD || kind == RING_NO_WAIT;
}

/* Whether the call returns at once. */
static bool is_short(const thread *t, const ring_record *block)
{
    const ring_record *next = next_record(t);
    return block->kind >= RING_SLEEP && next && next->time - block->time < SHORT_NS;
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
        wake_kind(r, t, b->object, RING_BARRIER, i);
        return;
    }
    bool quick = is_short(t, b);
    if (quick || is_system_call(b->kind)) {
        gotrace_rec_go_sys_call(t->rec, pcs_of(i), depth_of(i));
        t->state = THREAD_CALLS;
    } else {
        if (r->version >= FIRST_LOGS)
            objects_log_wait(r->source, t, b);
        gotrace_rec_go_park(t->rec, reason_of(b->kind), pcs_of(i), depth_of(i));
        t->state = THREAD_WAITS;
        t->wait = *b;
    }
    if (!quick)
        release_proc(r, t);
}

/* ---- records --------------------------------------------------------------------------------- */

static void raise_now(replay *r, uint64_t time)
{
    if (time > r->now)
        atomic_store_explicit(&r->now, time, memory_order_relaxed);
}

/* The thread did not run for a part of the time since its last record, in its generation. When is
 * not known: it is shown at the end. Events of 1.5 have numbers instead of times, which cannot go
 * back. */
static void be_off(replay *r, thread *t, const item *i)
{
    const uint64_t end = i->record.time, ns = i->record.object, now = r->now;
    uint64_t least = t->since;
    if (r->version >= GOTRACE_FIRST_V2 && r->generation > least)
        least = r->generation;
    const uint64_t begin = ns > end || end - ns < least ? least : end - ns;
    if (begin >= end || r->version < 7)
        return;
    atomic_store_explicit(&r->now, begin, memory_order_relaxed);
    if (i->record.flags) {
        gotrace_rec_go_park(t->rec, GOTRACE_REC_BLOCK, NULL, 0);
        t->state = THREAD_WAITS;
    } else {
        gotrace_rec_go_preempt(t->rec, NULL, 0);
        t->state = THREAD_WOKEN;
    }
    release_proc(r, t);
    atomic_store_explicit(&r->now, now, memory_order_relaxed);
    resume(r, t);
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
    r->generation = time;
    r->samples = 0;
    for (size_t i = 0; i < r->source->count; i++)
        r->source->threads[i]->labelled = false;
    gotrace_recorder_advance(r->recorder);
}

static void take_sample(replay *r, const thread *t, const item *i)
{
    for (uint16_t n = 0; n < i->record.flags; n++)
        gotrace_rec_cpu_sample(r->recorder, t->rec, pcs_of(i), depth_of(i));
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
    if (i->record.type == RING_ATTACH || i->record.type == RING_START) {
        begin_thread(r, t, i);
        t->since = i->record.time;
        return;
    }
    if (i->record.type == RING_NAME)
        set_name(t, &i->record);
    if (t->state == THREAD_ENDED || !t->rec)
        return;
    if (i->record.type == RING_SAMPLE) {
        take_sample(r, t, i);
        t->since = i->record.time;
        return;
    }
    if (i->record.type == RING_OFF && t->state == THREAD_RUNNING)
        be_off(r, t, i);
    resume(r, t); /* a thread that records runs, also if that it goes on was not recorded */
    if (!is_part_of_name(&i->record))
        label(r, t);
    switch ((ring_type)i->record.type) {
    case RING_CREATE: create_thread(r, t, i); break;
    case RING_END:
        wake_kind(r, t, i->record.object, RING_JOIN, i);
        end(r, t);
        break;
    case RING_BLOCK: block(r, t, i); break;
    case RING_WAKE:
        wake_some(r, t, i);
        if (r->version >= FIRST_LOGS)
            objects_log_release(r->source, t, i->record.object);
        break;
    case RING_SELF:
    case RING_HOLDER:
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
    thread *first = NULL;
    uint64_t first_time = UINT64_MAX;
    *next = UINT64_MAX;
    for (size_t i = 0; i < r->source->count; i++) {
        thread *t = r->source->threads[i];
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
    for (size_t i = 0; i < r->source->count; i++) {
        const thread *t = r->source->threads[i];
        if (t->state == THREAD_RUNNING && t->since + LONG_RUN_NS < time)
            return true;
    }
    return false;
}

/* A flight recorder drops whole generations, so that they are not longer there. */
static bool is_generation_due(replay *r, const ring_record *next)
{
    const uint64_t age = next->time - r->generation;
    if (age < GENERATION_NS || next->type == RING_OFF || next->time < r->asked + LONG_RUN_NS)
        return false;
    r->asked = next->time;
    return r->flies || age >= MOST_GENERATION_NS || !runs_for_long(r, next->time);
}

void replay_until(replay *r, uint64_t until, uint64_t decided)
{
    uint64_t next;
    thread *t;
    const names *n = &r->source->names;
    while (!n->wait.stops() && (t = first_thread(r, &next)) && next_record(t)->time <= until) {
        if (is_generation_due(r, next_record(t)))
            end_generation(r, next_record(t)->time);
        do {
            item i = t->items[t->first];
            if (i.record.type == RING_WAKE && i.record.time > decided &&
                is_undecided(r, &i.record)) {
                until = i.record.time - 1;
                break;
            }
            t->first++;
            replay_item(r, t, &i);
            if (i.other)
                i.other->named--;
        } while (t->first < t->end && next_record(t)->time <= next &&
                 next_record(t)->time <= until && !n->wait.stops());
    }
    source_forget(r->source);
    if (until < UINT64_MAX && until > r->until)
        r->until = until;
    if (r->source->failed || gotrace_recorder_error(r->recorder)->rule != GOTRACE_RULE_NONE)
        source_end(r->source);
}

replay_losses replay_lost(const replay *r)
{
    return (replay_losses){r->late, r->source->shared->samples_lost +
                                        gotrace_recorder_lost(r->recorder)->samples};
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

replay *replay_new(source *s, int version, uint64_t begin, uint64_t flight_ns, out *to)
{
    replay *r = calloc(1, sizeof *r);
    gotrace_error error = {.rule = GOTRACE_RULE_NONE};
    if (!r) {
        diag_error("out of memory [system.memory]");
        return NULL;
    }
    r->source = s;
    r->to = to;
    r->version = version;
    r->flies = flight_ns > 0;
    const gotrace_recorder_options options = {.size = sizeof options,
                                              .resolve = names_resolve,
                                              .resolve_ctx = &s->names,
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
    for (size_t i = 0; i < r->source->count; i++) {
        thread *t = r->source->threads[i];
        if (t->state == THREAD_RUNNING) {
            gotrace_rec_go_sched(t->rec, NULL, 0);
            gotrace_rec_go_start(t->rec, t->go);
            return;
        }
        if (t->state == THREAD_WAITS || t->state == THREAD_WOKEN)
            idle = t->rec;
    }
    if (r->goroutines == 0)
        return;
    if (!idle && !r->own)
        r->own = gotrace_rec_thread_new(r->recorder, (uint64_t)getpid());
    thread marker = {.rec = idle ? idle : r->own};
    take_proc(r, &marker);
    release_proc(r, &marker);
}

/* The process has ended, and all its threads. Those that wait are not shown as woken: they were
 * not, and no event ends a waiting goroutine. Until 1.21 none ends one in a system call either.
 * Returns whether an event was written. */
static bool end_threads(replay *r)
{
    bool ended = false;
    for (size_t i = 0; i < r->source->count; i++) {
        thread *t = r->source->threads[i];
        if (t->state == THREAD_RUNNING) {
            end(r, t);
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
    free(r);
}

int replay_end(replay *r, uint64_t ended)
{
    int status = EXIT_SOUND;
    if (ended)
        raise_now(r, ended);
    else
        set_now(r);
    if (!ended || !end_threads(r))
        mark_time(r);
    if (r->flies && !replay_snapshot(r, r->to))
        status = EXIT_SYSTEM;
    if (r->source->failed) {
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
