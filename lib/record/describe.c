/*
 * describe.c - states from before the trace (v1) or the generation (v2).
 *
 * The state of a goroutine or proc is written in each era before its first event there, by the
 * thread of that event; what has no event is described by the thread that ends the era (v1: also
 * when it begins). While one thread describes it the others wait, so that no event comes between
 * the state and its description. A state is read by whoever has claimed it, or by the thread whose
 * event changes it, after the claim.
 *
 * A thread that is in an era already when the one before ends may be the first to change a state
 * that the era before lacks: then it describes it there too. Source: Go 1.22,
 * runtime/tracestatus.go; Go 1.19, runtime/trace.go, StartTrace.
 */
#include "record/event.h"

#include <sched.h>

/* Whether the caller is to describe it in that era: nobody has or does. Sets *before to the last
 * era in which it was described. */
static bool claim(gt_rec_state *s, uint64_t era, uint64_t *before)
{
    *before = atomic_load_explicit(&s->described, memory_order_acquire);
    for (;;) {
        if (*before == GT_REC_BUSY) {
            sched_yield();
            *before = atomic_load_explicit(&s->described, memory_order_acquire);
        } else if (*before >= era) {
            return false;
        } else if (atomic_compare_exchange_weak_explicit(&s->described, before, GT_REC_BUSY,
                                                         memory_order_acquire,
                                                         memory_order_acquire)) {
            return true;
        }
    }
}

static void set_described(gt_rec_state *s, uint64_t era)
{
    atomic_store_explicit(&s->described, era, memory_order_release);
}

/* ---- records --------------------------------------------------------------------------------- */

static bool has_stacks(const gotrace_recorder *r)
{
    return r->v2 && r->version >= gt_rec_rows_v2[GOTRACE_V2_GoStatusStack].since;
}

/* The stack of the goroutine in the table of that era, to which it is added. The caller holds the
 * lock. NULL: unknown. */
static const gt_rec_entry *stack_in(gotrace_recorder *r, uint64_t era, gotrace_rec_go *g)
{
    if (!g->stack || g->stack_era < r->open_era || g->stack_era > era)
        return NULL;
    if (g->stack_era < era) {
        g->stack = gt_rec_table_entry(
            r, era, false, &(gt_rec_key){g->stack->bytes, g->stack->size, g->stack->start}, true,
            NULL);
        g->stack_era = era;
    }
    return g->stack;
}

/* Where the goroutine stopped, or will start, in the table of that era; 0: it runs, or that is
 * unknown. */
static uint64_t stack_id(const gt_rec_place *w, gotrace_rec_go *g)
{
    if (!has_stacks(w->r) || g->state.status == GT_REC_RUNNING)
        return 0;
    if (!g->ran)
        return gt_rec_id(gt_rec_start_entry(w->r, w->era, g->start_pc, w->locked));
    if (!g->stack)
        return 0;
    if (!w->locked)
        pthread_mutex_lock(&w->r->lock);
    const uint64_t id = gt_rec_id(stack_in(w->r, w->era, g));
    if (!w->locked)
        pthread_mutex_unlock(&w->r->lock);
    return id;
}

static void put_go_v2(gt_rec_place *w, gotrace_rec_go *g)
{
    const uint64_t thread = g->thread ? g->thread->id : UINT64_MAX, stack = stack_id(w, g);
    const uint64_t args[4] = {g->state.id, thread, g->state.status, stack};
    const unsigned code = stack ? GOTRACE_V2_GoStatusStack : GOTRACE_V2_GoStatus;
    g->ticks = gt_rec_put_record(w, code, args, stack ? 4 : 3, NULL, 0);
    if (g->assists)
        gt_rec_put_record(w, GOTRACE_V2_GCMarkAssistActive, args, 1, NULL, 0);
}

/* v1: the goroutine is in that state since its creation. */
static void put_state_v1(gt_rec_place *w, gotrace_rec_go *g)
{
    const uint64_t args[2] = {g->state.id, 1};
    g->state.seq = 1;
    g->blocked = g->state.status == GT_REC_SYSCALL;
    if (g->state.status == GT_REC_RUNNING)
        gt_rec_put_record(w, w->r->numbers ? GOTRACE_V1_GoStart : GOTRACE_V1_GoStartLocal, args, 1,
                          NULL, 0);
    else
        g->ticks = gt_rec_put_record(w, g->blocked ? GOTRACE_V1_GoInSyscall : GOTRACE_V1_GoWaiting,
                                     args, 1, NULL, 0);
}

/* v1: as if it was created now. */
static void put_go_v1(gt_rec_place *w, gotrace_rec_go *g)
{
    const gt_rec_entry *start = gt_rec_start_entry(w->r, w->era, g->start_pc, w->locked);
    const uint64_t args[3] = {g->state.id, gt_rec_start_id(w->r, start, g->start_pc), 0};
    g->ticks = gt_rec_put_record(w, GOTRACE_V1_GoCreate, args, 3, NULL, 0);
    g->last_proc = w->proc;
    g->exit_ticks = 0;
    g->blocked = false;
    if (g->state.status != GT_REC_RUNNABLE)
        put_state_v1(w, g);
}

/* Whether the trace lacks its creation, and cannot have its status: readers know all goroutines
 * after the first generation. */
static bool is_uncreated(const gotrace_recorder *r, const gotrace_rec_go *g)
{
    return r->v2 && g->uncreated >= r->first_era;
}

/* The first event of a goroutine that was created without a proc, by a thread that has one. */
static void put_creation(gotrace_rec_thread *t, gotrace_rec_go *g)
{
    gotrace_recorder *r = t->recorder;
    const gt_rec_entry *start = gt_rec_start_entry(r, t->era, g->start_pc, false);
    const uint64_t args[3] = {g->state.id, gt_rec_id(start), 0};
    gt_rec_place w = gt_rec_place_of(t, t->proc);
    const bool waits = g->state.status == GT_REC_WAITING;
    g->ticks = gt_rec_put_record(&w, waits ? GOTRACE_V2_GoCreateBlocked : GOTRACE_V2_GoCreate, args,
                                 3, NULL, 0);
    g->state.seq = g->uncreated = 0;
}

static void put_go(gt_rec_place *w, gotrace_rec_go *g)
{
    g->state.seq = 0;
    if (w->r->v2)
        put_go_v2(w, g);
    else
        put_go_v1(w, g);
}

static void put_proc(gt_rec_place *w, gotrace_rec_proc *p, uint8_t status)
{
    const uint64_t args[2] = {p->state.id, status};
    p->state.seq = 0;
    if (w->r->v2) {
        gt_rec_put_record(w, GOTRACE_V2_ProcStatus, args, 2, NULL, 0);
        if (p->sweep.active)
            gt_rec_put_record(w, GOTRACE_V2_GCSweepActive, args, 1, NULL, 0);
    } else if (p->thread) {
        gt_rec_put_record(w, GOTRACE_V1_ProcStart, &p->thread->id, 1, NULL, 0);
    }
}

/* ---- in an era that ends, or begins ---------------------------------------------------------- */

/* The records of a thread, or of a proc, or without either. The caller holds the lock. */
static gt_rec_place put_for(gotrace_recorder *r, uint64_t era, gotrace_rec_thread *t,
                            gotrace_rec_proc *p)
{
    gt_rec_place w = {.r = r, .stream = &r->no_stream, .era = era, .locked = true};
    if (r->v2 && t) {
        w.stream = &t->stream;
    } else if (!r->v2 && p) {
        w.stream = &p->stream;
        w.proc = p;
    }
    w.ticks = gt_rec_now(r);
    return w;
}

static bool is_on_thread(const gotrace_rec_go *g)
{
    return g->thread && (g->state.status == GT_REC_RUNNING ||
                         (g->thread->recorder->v2 && g->state.status == GT_REC_SYSCALL));
}

static void put_go_locked(gotrace_recorder *r, uint64_t era, gotrace_rec_go *g)
{
    if (is_uncreated(r, g))
        return;
    gotrace_rec_thread *t = is_on_thread(g) ? g->thread : NULL;
    gt_rec_place w = put_for(r, era, t, t ? t->proc : NULL);
    put_go(&w, g);
    gt_rec_note_go(r, era, g, false, true);
}

/* status: as it was read once, because an idle proc may be freed meanwhile. */
static void put_proc_locked(gotrace_recorder *r, uint64_t era, gotrace_rec_proc *p, uint8_t status)
{
    gt_rec_place w = put_for(r, era, p->thread, p);
    put_proc(&w, p, status);
    gt_rec_note_proc(r, era, p, status, false, true);
}

/* Whether the era before still lacks the state, because it is ending. The caller holds the lock. */
static bool lacks(const gotrace_recorder *r, uint64_t era, uint64_t before)
{
    return before + 1 < era && era > r->first_era && r->open_era + 1 == era;
}

static void describe_earlier_go(gotrace_recorder *r, uint64_t era, gotrace_rec_go *g,
                                uint64_t before)
{
    if (before + 1 >= era)
        return;
    pthread_mutex_lock(&r->lock);
    if (lacks(r, era, before))
        put_go_locked(r, era - 1, g);
    pthread_mutex_unlock(&r->lock);
}

static void describe_earlier_proc(gotrace_recorder *r, uint64_t era, gotrace_rec_proc *p,
                                  uint64_t before)
{
    if (before + 1 >= era)
        return;
    pthread_mutex_lock(&r->lock);
    if (lacks(r, era, before))
        put_proc_locked(r, era - 1, p, p->state.status);
    pthread_mutex_unlock(&r->lock);
}

/* ---- before an event ------------------------------------------------------------------------- */

void gt_rec_describe_proc(gotrace_rec_thread *t, gotrace_rec_proc *p, uint8_t status)
{
    gotrace_recorder *r = t->recorder;
    uint64_t before;
    if (!claim(&p->state, t->era, &before))
        return;
    describe_earlier_proc(r, t->era, p, before);
    gt_rec_note_proc(r, t->era, p, status, true, false);
    gt_rec_stamp(t);
    if (!t->closing) {
        gt_rec_place w = gt_rec_place_of(t, p);
        put_proc(&w, p, status);
    }
    set_described(&p->state, t->era);
}

void gt_rec_describe_go(gotrace_rec_thread *t, gotrace_rec_go *g)
{
    gotrace_recorder *r = t->recorder;
    uint64_t before;
    if (!claim(&g->state, t->era, &before))
        return;
    describe_earlier_go(r, t->era, g, before);
    const bool creates = is_uncreated(r, g) && t->proc;
    if (!creates)
        gt_rec_note_go(r, t->era, g, true, false);
    gt_rec_stamp(t);
    if (creates && !t->closing) {
        put_creation(t, g);
    } else if (!t->closing) {
        gt_rec_place w = gt_rec_place_of(t, t->proc);
        put_go(&w, g);
    }
    set_described(&g->state, t->era);
}

/* ---- all that have no event ------------------------------------------------------------------ */

static void describe_procs(gotrace_recorder *r, uint64_t era)
{
    uint64_t before;
    pthread_mutex_lock(&r->lock);
    gotrace_rec_proc *p = r->procs;
    pthread_mutex_unlock(&r->lock);
    for (; p; p = p->next) {
        if (!claim(&p->state, era, &before))
            continue;
        const uint8_t status = atomic_load_explicit(&p->state.status, memory_order_relaxed);
        if (status != 0) {
            pthread_mutex_lock(&r->lock);
            put_proc_locked(r, era, p, status);
            pthread_mutex_unlock(&r->lock);
        }
        set_described(&p->state, status != 0 ? era : before);
    }
}

/* running: also those that run. Their threads may be in the era. */
static void describe_gos(gotrace_recorder *r, uint64_t era, bool running)
{
    uint64_t before;
    pthread_mutex_lock(&r->lock);
    gt_rec_slab *s = r->slabs;
    pthread_mutex_unlock(&r->lock);
    for (; s; s = s->next)
        for (size_t i = 0; i < GT_REC_SLAB; i++) {
            gotrace_rec_go *g = &s->goroutines[i];
            uint8_t status = atomic_load_explicit(&g->state.status, memory_order_acquire);
            if (status == 0 || (status == GT_REC_RUNNING && !running) ||
                !claim(&g->state, era, &before))
                continue;
            status = atomic_load_explicit(&g->state.status, memory_order_relaxed);
            bool put = status != 0 && (running || status != GT_REC_RUNNING);
            if (put) {
                pthread_mutex_lock(&r->lock);
                put_go_locked(r, era, g);
                pthread_mutex_unlock(&r->lock);
            }
            set_described(&g->state, put ? era : before);
        }
}

void gt_rec_describe_before(gotrace_recorder *r, uint64_t era)
{
    if (!r->v2)
        describe_gos(r, era, false);
}

void gt_rec_describe_rest(gotrace_recorder *r, uint64_t era)
{
    describe_procs(r, era);
    describe_gos(r, era, true);
}

/* ---- notes ----------------------------------------------------------------------------------- */

void gt_rec_note_rest(gotrace_recorder *r, uint64_t era)
{
    uint64_t before;
    pthread_mutex_lock(&r->lock);
    gotrace_rec_proc *p = r->procs;
    gt_rec_slab *s = r->slabs;
    pthread_mutex_unlock(&r->lock);
    for (; p; p = p->next)
        if (claim(&p->state, era, &before)) {
            const uint8_t status = p->state.status;
            if (status != 0)
                gt_rec_note_proc(r, era, p, status, false, false);
            set_described(&p->state, before);
        }
    for (; s; s = s->next)
        for (size_t i = 0; i < GT_REC_SLAB; i++) {
            gotrace_rec_go *g = &s->goroutines[i];
            if (atomic_load_explicit(&g->state.status, memory_order_acquire) == 0 ||
                !claim(&g->state, era, &before))
                continue;
            if (g->state.status != 0 && !is_uncreated(r, g))
                gt_rec_note_go(r, era, g, false, false);
            set_described(&g->state, before);
        }
}

/* ---- stacks ---------------------------------------------------------------------------------- */

static void carry_stack(gotrace_recorder *r, uint64_t era, gotrace_rec_go *g)
{
    uint64_t before;
    const uint8_t status = atomic_load_explicit(&g->state.status, memory_order_acquire);
    if (status == 0 || status == GT_REC_RUNNING || !claim(&g->state, era, &before))
        return;
    pthread_mutex_lock(&r->lock);
    stack_in(r, era, g);
    pthread_mutex_unlock(&r->lock);
    set_described(&g->state, before);
}

void gt_rec_carry_stacks(gotrace_recorder *r, uint64_t era)
{
    pthread_mutex_lock(&r->lock);
    gt_rec_slab *s = has_stacks(r) ? r->slabs : NULL;
    pthread_mutex_unlock(&r->lock);
    for (; s; s = s->next)
        for (size_t i = 0; i < GT_REC_SLAB; i++)
            carry_stack(r, era, &s->goroutines[i]);
}
