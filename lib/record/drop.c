/*
 * drop.c - generations that are dropped because the output is too slow (GOTRACE_REC_DROP).
 *
 * Readers require that each generation continues the one before. So a dropped generation gets other
 * events instead of its own, which lead from the states at its beginning to those at the beginning
 * of the next one: goroutines and procs that had events end and stop, and are created and start
 * again in the new state (they end because the recorder does not know their open regions). The
 * generation keeps its number. A goroutine that exists only for this writes a message about the
 * loss.
 *
 * For this, whoever describes a state at the beginning of an era notes it. What the next era has
 * not described yet has not changed, and the thread that ends the dropped era notes it. The era in
 * which the output is too slow continues until someone reads, so that all that was lost is one
 * generation.
 */
#include "record/event.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/alloc.h"

#define MESSENGER GT_REC_MESSENGER

/* What a thread has: a proc, a goroutine, or both. kept: they had no event and did not change. */
typedef struct place {
    uint64_t thread;
    gt_rec_noted *proc, *go;
    bool kept;
} place;

typedef struct places {
    place *list;
    size_t count, capacity;
} places;

/* A proc in the dropped generation. */
typedef struct used_proc {
    uint64_t id, seq;
    bool described;
} used_proc;

typedef struct bridge {
    gotrace_recorder *r;
    uint64_t era, ticks;
    gt_rec_notes from, to; /* sorted */
    places before, after;
    used_proc *procs; /* in the order of `to`, then those of `from` that were freed */
    size_t proc_count, later_procs, proc_capacity;
    gt_rec_stream *streams; /* of threads */
    size_t stream_count, stream_capacity;
    uint64_t host;        /* a thread that has nothing */
    used_proc *host_proc; /* on which it runs; NULL: none is idle */
} bridge;

/* ---- noting ---------------------------------------------------------------------------------- */

static void note(gotrace_recorder *r, uint64_t era, gt_rec_state *s, gt_rec_noted n, bool locked)
{
    gt_rec_notes *notes = &r->notes[era % GT_REC_OPEN];
    if (!locked)
        pthread_mutex_lock(&r->lock);
    if (s->noted_era == era) {
        notes->list[s->noted_at].touched |= n.touched;
    } else if (gt_grow(&r->heap, (void **)&notes->list, &notes->capacity, notes->count + 1,
                       sizeof *notes->list)) {
        s->noted_era = era;
        s->noted_at = notes->count;
        notes->list[notes->count++] = n;
    } else {
        gt_rec_fail_memory(r);
    }
    if (!locked)
        pthread_mutex_unlock(&r->lock);
}

static uint64_t thread_id(const gotrace_rec_thread *t)
{
    return t ? t->id : UINT64_MAX;
}

void gt_rec_note_go(gotrace_recorder *r, uint64_t era, gotrace_rec_go *g, bool touched, bool locked)
{
    if (gt_rec_drops(r))
        note(r, era, &g->state,
             (gt_rec_noted){.id = g->state.id,
                            .thread = thread_id(g->thread),
                            .start_pc = g->start_pc,
                            .status = g->state.status,
                            .range = g->assists,
                            .touched = touched},
             locked);
}

void gt_rec_note_proc(gotrace_recorder *r, uint64_t era, gotrace_rec_proc *p, uint8_t status,
                      bool touched, bool locked)
{
    if (status == GT_REC_PROC_ABANDONED)
        status = GT_REC_PROC_SYSCALL;
    if (gt_rec_drops(r))
        note(r, era, &p->state,
             (gt_rec_noted){.is_proc = true,
                            .id = p->state.id,
                            .thread = thread_id(p->thread),
                            .status = status,
                            .range = p->sweep.active,
                            .touched = touched},
             locked);
}

void gt_rec_note_gc(gotrace_recorder *r, uint64_t era)
{
    gt_rec_notes *notes = &r->notes[era % GT_REC_OPEN];
    if (!notes->gc_noted) {
        notes->gc_seq = r->gc.seq;
        notes->gc_shown = r->gc.shown;
    }
    notes->gc_noted = true;
}

void gt_rec_notes_begin(gotrace_recorder *r, uint64_t era)
{
    gt_rec_notes *notes = &r->notes[era % GT_REC_OPEN];
    notes->count = 0;
    notes->gc_noted = false;
    notes->before = gt_rec_now(r);
}

void gt_rec_notes_free(gotrace_recorder *r)
{
    for (unsigned i = 0; i < GT_REC_OPEN; i++)
        gt_free(&r->heap, r->notes[i].list, r->notes[i].capacity * sizeof *r->notes[i].list);
}

/* ---- dropping -------------------------------------------------------------------------------- */

/* Drops the events; the list keeps what the encoder wrote. */
static void drop_events(gotrace_recorder *r, gt_rec_list *list)
{
    gt_rec_list all = *list, events = {0};
    *list = (gt_rec_list){0};
    for (gt_rec_buffer *b = all.first, *next; b; b = next) {
        next = b->next;
        gt_rec_append(b->kind == GT_REC_EVENTS ? &events : list, b);
    }
    gt_rec_spare(r, &events);
}

void gt_rec_drop(gotrace_recorder *r, uint64_t era)
{
    if (r->dropping || r->bridging || r->open_era != r->last_era || era != r->last_era)
        return;
    r->dropping = era;
    r->losses.generations++;
    r->era_due = 0; /* as soon as someone has read what waits */
    drop_events(r, &r->full[era % GT_REC_OPEN]);
}

/* ---- writing records ------------------------------------------------------------------------- */

static gt_rec_stream *stream_of(bridge *b, uint64_t thread)
{
    for (size_t i = 0; i < b->stream_count; i++)
        if (b->streams[i].id == thread)
            return &b->streams[i];
    if (!gt_grow(&b->r->heap, (void **)&b->streams, &b->stream_capacity, b->stream_count + 1,
                 sizeof *b->streams)) {
        gt_rec_fail_memory(b->r);
        return NULL;
    }
    b->streams[b->stream_count] = (gt_rec_stream){.id = thread};
    return &b->streams[b->stream_count++];
}

static void emit(bridge *b, uint64_t thread, unsigned code, const uint64_t *args, unsigned count)
{
    gt_rec_place w = {.r = b->r,
                      .stream = stream_of(b, thread),
                      .era = b->era,
                      .ticks = b->ticks++,
                      .locked = true};
    if (w.stream && !b->r->failed)
        gt_rec_put_record(&w, code, args, count, NULL, 0);
}

#define EMIT(b, thread, name, ...)                                                                 \
    emit(b, thread, GOTRACE_V2_##name, (const uint64_t[]){__VA_ARGS__},                            \
         sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))
#define EMIT_ALONE(b, thread, name) emit(b, thread, GOTRACE_V2_##name, NULL, 0)

static used_proc *find_proc(bridge *b, uint64_t id)
{
    size_t i = 0;
    while (i < b->proc_count && b->procs[i].id != id)
        i++;
    return i < b->proc_count ? &b->procs[i] : NULL;
}

static void describe(bridge *b, uint64_t thread, used_proc *p, uint64_t status)
{
    if (!p->described)
        EMIT(b, thread, ProcStatus, p->id, status);
    p->described = true;
}

static void start_proc(bridge *b, uint64_t thread, used_proc *p)
{
    describe(b, b->host, p, GT_REC_PROC_IDLE);
    EMIT(b, thread, ProcStart, p->id, ++p->seq);
}

/* ---- the states before end ------------------------------------------------------------------- */

static void end_go(bridge *b, const place *at)
{
    const bool holds_proc = at->proc && at->proc->status == GT_REC_PROC_SYSCALL;
    if (at->go->status == GT_REC_SYSCALL && !holds_proc) {
        EMIT_ALONE(b, at->thread, GoDestroySyscall);
        return;
    }
    if (at->go->status == GT_REC_SYSCALL)
        EMIT_ALONE(b, at->thread, GoSyscallEnd);
    EMIT_ALONE(b, at->thread, GoDestroy);
}

static void stop_proc(bridge *b, const place *at)
{
    if (at->proc->range)
        EMIT(b, at->thread, GCSweepEnd, 0, 0);
    EMIT_ALONE(b, at->thread, ProcStop);
}

/* A proc that a thread has. */
static void describe_used(bridge *b, const place *at)
{
    describe(b, at->thread, find_proc(b, at->proc->id), at->proc->status);
    if (at->proc->range)
        EMIT(b, at->thread, GCSweepActive, at->proc->id);
}

static void end_place(bridge *b, const place *at)
{
    const gt_rec_noted *p = at->proc;
    if (p)
        describe_used(b, at);
    if (at->go)
        EMIT(b, at->thread, GoStatus, at->go->id, at->thread, at->go->status);
    /* A thread may have a proc again before its goroutine leaves the call. */
    const bool first = p && at->go && at->go->status == GT_REC_SYSCALL &&
                       at->proc->status == GT_REC_PROC_RUNNING;
    if (first)
        stop_proc(b, at);
    if (at->go)
        end_go(b, at);
    if (p && !first)
        stop_proc(b, at);
}

static bool is_placed(const gt_rec_noted *n)
{
    return n->thread != UINT64_MAX &&
           (n->is_proc ? n->status != GT_REC_PROC_IDLE
                       : n->status == GT_REC_RUNNING || n->status == GT_REC_SYSCALL);
}

/* A goroutine that waits or can run. */
static void end_stopped(bridge *b, const gt_rec_noted *go)
{
    uint64_t seq = 0;
    EMIT(b, b->host, GoStatus, go->id, UINT64_MAX, go->status);
    if (go->status == GT_REC_WAITING)
        EMIT(b, b->host, GoUnblock, go->id, ++seq, 0);
    EMIT(b, b->host, GoStart, go->id, ++seq);
    EMIT_ALONE(b, b->host, GoDestroy);
}

/* ---- the message ----------------------------------------------------------------------------- */

static uint64_t string_id(bridge *b, const char *text)
{
    return gt_rec_id(
        gt_rec_table_entry(b->r, b->era, true, &(gt_rec_key){text, strlen(text), 0}, true, NULL));
}

/* As many events about the collector as were dropped, because they are numbered, in the same order:
 * a cycle that went on is active at the beginning, then it ends, and others begin and end. Readers
 * accept no other GCActive in the first generation. */
static void put_gc(bridge *b)
{
    const uint64_t first = b->from.gc_seq + 1;
    bool active = b->from.gc_shown;
    for (uint64_t seq = first; seq <= b->to.gc_seq; seq++) {
        if (active && seq == first) {
            EMIT(b, b->host, GCActive, seq);
            continue;
        }
        if (active)
            EMIT(b, b->host, GCEnd, seq);
        else
            EMIT(b, b->host, GCBegin, seq, 0);
        active = !active;
    }
}

static void put_message(bridge *b)
{
    EMIT(b, b->host, GoCreate, MESSENGER, 0, 0);
    EMIT(b, b->host, GoStart, MESSENGER, 1);
    EMIT(b, b->host, UserLog, 0, string_id(b, "gotrace"),
         string_id(b, "events were dropped: the output was too slow"), 0);
    put_gc(b);
    EMIT_ALONE(b, b->host, GoDestroy);
}

/* ---- the states after begin ------------------------------------------------------------------ */

static uint64_t start_id(bridge *b, const gt_rec_noted *go)
{
    return gt_rec_id(gt_rec_start_entry(b->r, b->era, go->start_pc, true));
}

static void begin_go(bridge *b, const gt_rec_noted *go)
{
    const bool placed = is_placed(go), waits = go->status == GT_REC_WAITING;
    if (waits && !go->range && b->r->version >= GT_REC_FIRST_SWITCH) {
        EMIT(b, b->host, GoCreateBlocked, go->id, start_id(b, go), 0);
        return;
    }
    EMIT(b, b->host, GoCreate, go->id, start_id(b, go), 0);
    if (placed || (!waits && !go->range))
        return;
    EMIT(b, b->host, GoStart, go->id, 1);
    if (go->range)
        EMIT(b, b->host, GCMarkAssistBegin, 0);
    if (waits)
        EMIT(b, b->host, GoBlock, GT_REC_WORD_BLOCK, 0);
    else
        EMIT(b, b->host, GoStop, GT_REC_WORD_GOSCHED, 0);
}

static void begin_range(bridge *b, const place *at)
{
    if (at->proc && at->proc->range)
        EMIT(b, at->thread, GCSweepBegin, 0);
}

/* It is in a system call, on the proc p. */
static void begin_call(bridge *b, const place *at, used_proc *p)
{
    EMIT(b, at->thread, GoStart, at->go->id, 1);
    if (at->go->range)
        EMIT(b, at->thread, GCMarkAssistBegin, 0);
    EMIT(b, at->thread, GoSyscallBegin, ++p->seq, 0);
}

static bool is_kept_place(const place *at)
{
    return (at->proc ? at->proc : at->go)->kept;
}

static bool is_call_without_proc(const place *at)
{
    return at->go && at->go->status == GT_REC_SYSCALL &&
           !(at->proc && at->proc->status == GT_REC_PROC_SYSCALL);
}

/* Uses the host's proc, as long as that is idle. */
static void begin_call_without_proc(bridge *b, const place *at)
{
    start_proc(b, at->thread, b->host_proc);
    begin_call(b, at, b->host_proc);
    EMIT_ALONE(b, at->thread, ProcStop);
}

static void begin_proc(bridge *b, const place *at)
{
    used_proc *p = find_proc(b, at->proc->id);
    start_proc(b, at->thread, p);
    begin_range(b, at);
    if (!at->go || is_call_without_proc(at))
        return;
    if (at->go->status == GT_REC_SYSCALL) {
        begin_call(b, at, p);
        return;
    }
    EMIT(b, at->thread, GoStart, at->go->id, 1);
    if (at->go->range)
        EMIT(b, at->thread, GCMarkAssistBegin, 0);
}

static void begin_places(bridge *b)
{
    for (size_t i = 0; i < b->after.count; i++)
        if (!is_kept_place(&b->after.list[i]) && is_call_without_proc(&b->after.list[i]))
            begin_call_without_proc(b, &b->after.list[i]);
    for (size_t i = 0; i < b->after.count; i++)
        if (!is_kept_place(&b->after.list[i]) && b->after.list[i].proc)
            begin_proc(b, &b->after.list[i]);
}

/* ---- preparation ----------------------------------------------------------------------------- */

static int compare(const void *a, const void *b)
{
    const gt_rec_noted *x = a, *y = b;
    if (x->is_proc != y->is_proc)
        return x->is_proc ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

static bool copy_sorted(gotrace_recorder *r, uint64_t era, gt_rec_notes *to)
{
    *to = r->notes[era % GT_REC_OPEN];
    to->capacity = to->count;
    to->list = to->count ? gt_calloc(&r->heap, to->count, sizeof *to->list) : NULL;
    if (!to->list)
        return to->count == 0;
    memcpy(to->list, r->notes[era % GT_REC_OPEN].list, to->count * sizeof *to->list);
    qsort(to->list, to->count, sizeof *to->list, compare);
    return true;
}

static gt_rec_noted *find(const gt_rec_notes *notes, const gt_rec_noted *like)
{
    return notes->count ? bsearch(like, notes->list, notes->count, sizeof *like, compare) : NULL;
}

static bool add_place(gotrace_recorder *r, places *all, gt_rec_noted *n)
{
    size_t i = 0;
    while (i < all->count && all->list[i].thread != n->thread)
        i++;
    if (i == all->count) {
        if (!gt_grow(&r->heap, (void **)&all->list, &all->capacity, i + 1, sizeof *all->list))
            return false;
        all->list[all->count++] = (place){.thread = n->thread};
    }
    *(n->is_proc ? &all->list[i].proc : &all->list[i].go) = n;
    return true;
}

static bool find_places(gotrace_recorder *r, const gt_rec_notes *notes, places *all)
{
    for (size_t i = 0; i < notes->count; i++)
        if (is_placed(&notes->list[i]) && !add_place(r, all, &notes->list[i]))
            return false;
    return true;
}

/* Whether it had no event and is what it was. */
static bool is_same(const bridge *b, const gt_rec_noted *n)
{
    const gt_rec_noted *later = find(&b->to, n);
    return !n->touched && later && later->status == n->status && later->thread == n->thread &&
           later->range == n->range;
}

static void set_kept(bridge *b, gt_rec_noted *n, bool kept)
{
    gt_rec_noted *later = n ? find(&b->to, n) : NULL;
    if (n)
        n->kept = kept;
    if (later)
        later->kept = kept;
}

static void find_kept(bridge *b)
{
    for (size_t i = 0; i < b->from.count; i++)
        set_kept(b, &b->from.list[i], is_same(b, &b->from.list[i]));
    for (size_t i = 0; i < b->before.count; i++) {
        place *at = &b->before.list[i];
        at->kept = (!at->proc || at->proc->kept) && (!at->go || at->go->kept);
        set_kept(b, at->proc, at->kept);
        set_kept(b, at->go, at->kept);
    }
}

static bool is_kept_thread(const bridge *b, uint64_t thread)
{
    for (size_t i = 0; i < b->before.count; i++)
        if (b->before.list[i].thread == thread)
            return b->before.list[i].kept;
    return false;
}

/* A thread that has nothing once the states before have ended. */
static uint64_t find_host(const bridge *b)
{
    uint64_t above = 1;
    for (const gotrace_rec_thread *t = b->r->threads; t; t = t->next) {
        if (!is_kept_thread(b, t->id))
            return t->id;
        above = t->id >= above ? t->id + 1 : above;
    }
    return above;
}

/* A proc that is idle then: also one that was freed. NULL: there is none. */
static used_proc *find_host_proc(bridge *b)
{
    for (size_t i = 0; i < b->later_procs; i++) {
        const gt_rec_noted *n = &b->to.list[i];
        if (!n->kept || !is_placed(n))
            return &b->procs[i];
    }
    return b->later_procs < b->proc_count ? &b->procs[b->later_procs] : NULL;
}

/* The procs of both moments, first those of the later one. */
static bool find_procs(bridge *b)
{
    const size_t most = b->from.count + b->to.count;
    b->procs = most ? gt_calloc(&b->r->heap, most, sizeof *b->procs) : NULL;
    b->proc_capacity = most;
    for (size_t i = 0; b->procs && i < b->to.count && b->to.list[i].is_proc; i++)
        b->procs[b->proc_count++].id = b->to.list[i].id;
    b->later_procs = b->proc_count;
    for (size_t i = 0; b->procs && i < b->from.count && b->from.list[i].is_proc; i++)
        if (!find(&b->to, &b->from.list[i]))
            b->procs[b->proc_count++].id = b->from.list[i].id;
    return b->procs || most == 0;
}

static bool prepare(bridge *b)
{
    gotrace_recorder *r = b->r;
    gt_rec_note_gc(r, b->era + 1); /* it has had no event about the collector until now */
    if (!copy_sorted(r, b->era, &b->from) || !copy_sorted(r, b->era + 1, &b->to) ||
        !find_places(r, &b->from, &b->before) || !find_places(r, &b->to, &b->after))
        return false;
    if (!find_procs(b))
        return false;
    if (!b->from.gc_noted) {
        b->from.gc_seq = b->to.gc_seq;
        b->from.gc_shown = b->to.gc_shown;
    }
    find_kept(b);
    b->host = find_host(b);
    b->host_proc = find_host_proc(b);
    b->ticks = b->from.after;
    return true;
}

static void release(bridge *b)
{
    gt_heap *heap = &b->r->heap;
    gt_free(heap, b->from.list, b->from.capacity * sizeof *b->from.list);
    gt_free(heap, b->to.list, b->to.capacity * sizeof *b->to.list);
    gt_free(heap, b->before.list, b->before.capacity * sizeof *b->before.list);
    gt_free(heap, b->after.list, b->after.capacity * sizeof *b->after.list);
    gt_free(heap, b->procs, b->proc_capacity * sizeof *b->procs);
    gt_free(heap, b->streams, b->stream_capacity * sizeof *b->streams);
}

/* ---- the generation -------------------------------------------------------------------------- */

static void describe_idle_sweep(bridge *b, used_proc *p)
{
    describe(b, b->host, p, GT_REC_PROC_IDLE);
    EMIT(b, b->host, GCSweepActive, p->id);
}

static void put_kept_go(bridge *b, uint64_t thread, const gt_rec_noted *go)
{
    EMIT(b, thread, GoStatus, go->id, go->thread, go->status);
    if (go->range)
        EMIT(b, thread, GCMarkAssistActive, go->id);
}

/* What is kept has no event, but readers have to know it from the first generation on. */
static void put_kept(bridge *b)
{
    for (size_t i = 0; i < b->before.count; i++) {
        const place *at = &b->before.list[i];
        if (at->kept && at->proc)
            describe_used(b, at);
        if (at->kept && at->go)
            put_kept_go(b, at->thread, at->go);
    }
    for (size_t i = 0; i < b->from.count; i++) {
        const gt_rec_noted *n = &b->from.list[i];
        if (!n->kept || is_placed(n))
            continue;
        if (!n->is_proc)
            put_kept_go(b, b->host, n);
        else if (n->range)
            describe_idle_sweep(b, find_proc(b, n->id));
    }
}

/* Of a proc that is idle, which does not sweep before (ends), or afterwards. */
static void change_idle_sweep(bridge *b, const gt_rec_noted *n, bool ends)
{
    used_proc *p = find_proc(b, n->id);
    if (ends)
        describe_idle_sweep(b, p);
    start_proc(b, b->host, p);
    if (ends)
        EMIT(b, b->host, GCSweepEnd, 0, 0);
    else
        EMIT(b, b->host, GCSweepBegin, 0);
    EMIT_ALONE(b, b->host, ProcStop);
}

static void change_idle_sweeps(bridge *b, const gt_rec_notes *notes, bool ends)
{
    for (size_t i = 0; i < notes->count && notes->list[i].is_proc; i++) {
        const gt_rec_noted *n = &notes->list[i];
        if (n->range && !n->kept && !is_placed(n))
            change_idle_sweep(b, n, ends);
    }
}

static void put_before(bridge *b)
{
    for (size_t i = 0; i < b->before.count; i++)
        if (!b->before.list[i].kept)
            end_place(b, &b->before.list[i]);
    change_idle_sweeps(b, &b->from, true);
    start_proc(b, b->host, b->host_proc);
    for (size_t i = 0; i < b->from.count; i++) {
        const gt_rec_noted *n = &b->from.list[i];
        if (!n->is_proc && !n->kept && !is_placed(n))
            end_stopped(b, n);
    }
    put_message(b);
}

static void put_after(bridge *b)
{
    const uint64_t most = 4 * b->to.count + 8; /* events */
    if (b->ticks + most < b->to.before)
        b->ticks = b->to.before - most;
    for (size_t i = b->later_procs; i < b->to.count; i++)
        if (!b->to.list[i].kept)
            begin_go(b, &b->to.list[i]);
    EMIT_ALONE(b, b->host, ProcStop);
    change_idle_sweeps(b, &b->to, false);
    begin_places(b);
}

/* A goroutine that changed, although all procs run and have no event: it was woken, or its thread,
 * which has no proc, left a system call or ended. */
static void change_without_proc(bridge *b, const gt_rec_noted *go)
{
    const gt_rec_noted *later = find(&b->to, go);
    const bool in_call = go->status == GT_REC_SYSCALL;
    const uint64_t thread = in_call ? go->thread : b->host;
    EMIT(b, thread, GoStatus, go->id, in_call ? thread : UINT64_MAX, go->status);
    if (in_call && !later)
        EMIT_ALONE(b, thread, GoDestroySyscall);
    else if (in_call && later->status != GT_REC_SYSCALL)
        EMIT_ALONE(b, thread, GoSyscallEndBlocked);
    else if (go->status == GT_REC_WAITING && later && later->status == GT_REC_RUNNABLE)
        EMIT(b, thread, GoUnblock, go->id, 1, 0);
}

/* No goroutine can run there, so there is no message. */
static void put_without_proc(bridge *b)
{
    for (size_t i = 0; i < b->from.count; i++)
        if (!b->from.list[i].is_proc && !b->from.list[i].kept)
            change_without_proc(b, &b->from.list[i]);
    for (size_t i = b->later_procs; i < b->to.count; i++) {
        const gt_rec_noted *n = &b->to.list[i];
        if (n->status == GT_REC_SYSCALL && !find(&b->from, n))
            EMIT(b, n->thread, GoCreateSyscall, n->id);
    }
}

void gt_rec_bridge(gotrace_recorder *r, uint64_t era)
{
    bridge b = {.r = r, .era = era};
    r->bridging = true;
    if (!prepare(&b)) {
        gt_rec_fail_memory(r);
    } else {
        if (era == r->first_era)
            put_kept(&b);
        if (b.host_proc) {
            put_before(&b);
            put_after(&b);
        } else {
            put_without_proc(&b);
        }
    }
    for (size_t i = 0; i < b.stream_count; i++)
        gt_rec_flush(r, &b.streams[i], era);
    release(&b);
    r->bridging = false;
}
