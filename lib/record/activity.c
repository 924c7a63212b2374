/*
 * activity.c - events of the memory manager: garbage collection, sweeping, the heap, and the world
 * that stops for it.
 *
 * A GC cycle and a stop of the world belong to no thread. Their state is under
 * gotrace_recorder.world, which is taken inside of an event, and under which an era begins.
 */
#include "record/event.h"

static void enter_world(gotrace_rec_thread *t)
{
    pthread_mutex_lock(&t->recorder->world);
    t->in_world = true;
}

static void leave_world(gotrace_rec_thread *t)
{
    t->in_world = false;
    pthread_mutex_unlock(&t->recorder->world);
}

/* Whether the thread's event is in the current era: another one may have begun since the event did.
 * The caller holds `world`. */
static bool is_current(const gotrace_rec_thread *t)
{
    return t->era == atomic_load_explicit(&t->recorder->era, memory_order_relaxed);
}

/* Begins an event in the current era, in which nothing is recorded after `world` is left: the
 * events of an era about a cycle or the world are before those of the next one. */
static bool begin_in_world(gotrace_rec_thread *t)
{
    for (;;) {
        bool recorded = gt_rec_event_begin(t);
        enter_world(t);
        if (is_current(t))
            return recorded;
        leave_world(t);
        gt_rec_event_end(t);
    }
}

void gotrace_rec_gomaxprocs(gotrace_rec_thread *t, uint64_t procs, const uint64_t *pcs,
                            size_t depth)
{
    if (!t || gt_rec_is_misuse(t, GT_REC_CALL_gomaxprocs))
        return;
    if (gt_rec_event_begin(t)) {
        const uint64_t args[2] = {procs, gt_rec_stack(t, pcs, depth)};
        gt_rec_event(t, GOTRACE_V1_Gomaxprocs, GOTRACE_V2_ProcsChange, args, 2);
    }
    gt_rec_event_end(t);
}

void gotrace_rec_heap_alloc(gotrace_rec_thread *t, uint64_t bytes)
{
    if (!t || gt_rec_is_misuse(t, GT_REC_CALL_heap_alloc))
        return;
    if (gt_rec_event_begin(t))
        gt_rec_event(t, GOTRACE_V1_HeapAlloc, GOTRACE_V2_HeapAlloc, &bytes, 1);
    gt_rec_event_end(t);
}

void gotrace_rec_heap_goal(gotrace_rec_thread *t, uint64_t bytes)
{
    if (!t || gt_rec_is_misuse(t, GT_REC_CALL_heap_goal))
        return;
    if (gt_rec_event_begin(t))
        gt_rec_event(t, GOTRACE_V1_HeapGoal, GOTRACE_V2_HeapGoal, &bytes, 1);
    gt_rec_event_end(t);
}

/* ---- garbage collection ---------------------------------------------------------------------- */

/* Writes an event about a cycle or the world, after the one before. */
static void put_in_world(gotrace_rec_thread *t, unsigned code, const uint64_t *args, unsigned count)
{
    gotrace_recorder *r = t->recorder;
    gt_rec_stamp_after(t, r->world_ticks + 1);
    r->world_ticks = gt_rec_put(t, code, args, count);
}

/* The cycle begins, or (active) went on already. */
static void put_gc_begin(gotrace_rec_thread *t, uint64_t stack, bool active)
{
    gotrace_recorder *r = t->recorder;
    gt_rec_note_gc(r, t->era);
    const uint64_t args[2] = {r->v2 ? ++r->gc.seq : r->gc.seq++, stack};
    const bool numbered = r->v2 || r->version >= GT_REC_FIRST_NUMBERED;
    if (r->v2)
        put_in_world(t, active ? GOTRACE_V2_GCActive : GOTRACE_V2_GCBegin, args, active ? 1 : 2);
    else
        put_in_world(t, GOTRACE_V1_GCStart, numbered ? args : args + 1, numbered ? 2 : 1);
    r->gc.era = t->era;
    r->gc.shown = true;
}

static bool can_put_gc(const gotrace_rec_thread *t)
{
    return gt_rec_can_put(t, GOTRACE_V1_GCStart, GOTRACE_V2_GCBegin) &&
           (!t->recorder->v2 || t->go->state.status == GT_REC_RUNNING);
}

/* Readers have to know from the first generation on that a cycle is active: if nothing ran there
 * that could write it, the cycle is missing. */
static bool can_describe_gc(const gotrace_rec_thread *t)
{
    const gotrace_recorder *r = t->recorder;
    return !r->v2 || t->era == r->first_era || r->gc.era >= r->first_era;
}

void gt_rec_describe_gc(gotrace_rec_thread *t)
{
    gotrace_recorder *r = t->recorder;
    if (t->closing || !can_put_gc(t))
        return;
    enter_world(t);
    if (is_current(t)) {
        if (r->gc.active && r->gc.era < t->era && can_describe_gc(t))
            put_gc_begin(t, 0, true);
        atomic_fetch_and_explicit(&r->attention, ~(unsigned)GT_REC_GC_DUE, memory_order_relaxed);
    }
    leave_world(t);
}

void gotrace_rec_gc_start(gotrace_rec_thread *t, const uint64_t *pcs, size_t depth)
{
    if (!t || gt_rec_is_misuse(t, GT_REC_CALL_gc_start))
        return;
    gotrace_recorder *r = t->recorder;
    bool recorded = begin_in_world(t);
    if (!r->gc.active && (!recorded || can_put_gc(t))) {
        r->gc.era = 0;
        if (recorded)
            put_gc_begin(t, gt_rec_stack(t, pcs, depth), false);
        r->gc.active = true;
    }
    leave_world(t);
    gt_rec_event_end(t);
}

/* Readers need the beginning of the cycle in the trace or, as a generation may be the first that is
 * kept, in the generation. */
static void put_gc_end(gotrace_rec_thread *t)
{
    gotrace_recorder *r = t->recorder;
    if (r->gc.era < (r->v2 ? t->era : r->first_era))
        put_gc_begin(t, 0, true);
    gt_rec_note_gc(r, t->era);
    const uint64_t seq = r->v2 ? ++r->gc.seq : 0;
    r->gc.shown = false;
    put_in_world(t, r->v2 ? GOTRACE_V2_GCEnd : GOTRACE_V1_GCDone, &seq, r->v2);
}

void gotrace_rec_gc_done(gotrace_rec_thread *t)
{
    if (!t || gt_rec_is_misuse(t, GT_REC_CALL_gc_done))
        return;
    gotrace_recorder *r = t->recorder;
    bool recorded = begin_in_world(t);
    if (r->gc.active && (!recorded || can_put_gc(t))) {
        if (recorded && can_describe_gc(t))
            put_gc_end(t);
        r->gc.active = false;
    }
    leave_world(t);
    gt_rec_event_end(t);
}

/* ---- stop the world -------------------------------------------------------------------------- */

/* Until 1.20 there are two kinds, and readers reject others. */
static bool has_kind(const gotrace_rec_thread *t, gotrace_rec_stw kind)
{
    const gotrace_recorder *r = t->recorder;
    if (r->numbers && t->proc && t->proc->scan.active)
        return false;
    return r->version >= GT_REC_FIRST_STW_KINDS || kind == GOTRACE_REC_STW_MARK_TERMINATION ||
           kind == GOTRACE_REC_STW_SWEEP_TERMINATION;
}

static void put_stw(gotrace_rec_thread *t, gotrace_rec_stw kind, const uint64_t *pcs, size_t depth)
{
    gotrace_recorder *r = t->recorder;
    if (r->v2) {
        const char *reason = gotrace_stw_reason(GT_REC_FIRST_STW_KINDS, kind);
        const uint64_t args[2] = {gt_rec_string(t, reason, strlen(reason)),
                                  gt_rec_stack(t, pcs, depth)};
        put_in_world(t, GOTRACE_V2_STWBegin, args, 2);
    } else {
        const uint64_t arg = (uint64_t)kind - (r->version < GT_REC_FIRST_STW_KINDS);
        put_in_world(t, GOTRACE_V1_STWStart, &arg, r->version >= GT_REC_FIRST_STW_KIND);
    }
}

void gotrace_rec_stw_start(gotrace_rec_thread *t, gotrace_rec_stw kind, const uint64_t *pcs,
                           size_t depth)
{
    if (!t || gt_rec_is_misuse_of(t, GT_REC_CALL_stw_start, NULL, kind))
        return;
    gotrace_recorder *r = t->recorder;
    bool recorded = begin_in_world(t) && has_kind(t, kind) &&
                    gt_rec_can_put(t, GOTRACE_V1_STWStart, GOTRACE_V2_STWBegin);
    if (!r->stw.active) {
        r->stw.active = true;
        r->stw.by = t->go;
        r->stw.era = recorded ? t->era : 0;
        if (recorded)
            put_stw(t, kind, pcs, depth);
    }
    leave_world(t);
    gt_rec_event_end(t);
}

void gotrace_rec_stw_done(gotrace_rec_thread *t)
{
    if (!t || gt_rec_is_misuse(t, GT_REC_CALL_stw_done))
        return;
    gotrace_recorder *r = t->recorder;
    bool recorded = gt_rec_event_begin(t);
    enter_world(t);
    if (r->stw.active && recorded && r->stw.era >= r->first_era &&
        gt_rec_can_put(t, GOTRACE_V1_STWDone, GOTRACE_V2_STWEnd))
        put_in_world(t, r->v2 ? GOTRACE_V2_STWEnd : GOTRACE_V1_STWDone, NULL, 0);
    r->stw.active = false;
    leave_world(t);
    gt_rec_event_end(t);
}

/* ---- GC scans: 1.5, with the records of later stops of the world -------------------------------
 */

void gotrace_rec_gc_scan_start(gotrace_rec_thread *t)
{
    if (!t || gt_rec_is_misuse(t, GT_REC_CALL_gc_scan_start) || !t->proc || t->proc->scan.active)
        return;
    const gotrace_recorder *r = t->recorder;
    bool recorded = gt_rec_event_begin(t) && r->numbers;
    enter_world(t);
    recorded = recorded && !r->stw.active;
    if (recorded)
        put_in_world(t, GOTRACE_V1_STWStart, NULL, 0);
    t->proc->scan = (gt_rec_scan){true, recorded ? t->era : 0};
    leave_world(t);
    gt_rec_event_end(t);
}

void gotrace_rec_gc_scan_done(gotrace_rec_thread *t)
{
    if (!t || gt_rec_is_misuse(t, GT_REC_CALL_gc_scan_done) || !t->proc || !t->proc->scan.active)
        return;
    const gotrace_recorder *r = t->recorder;
    const bool recorded = gt_rec_event_begin(t) && r->numbers;
    enter_world(t);
    if (recorded && t->proc->scan.era >= r->first_era)
        put_in_world(t, GOTRACE_V1_STWDone, NULL, 0);
    t->proc->scan.active = false;
    leave_world(t);
    gt_rec_event_end(t);
}

/* ---- sweeping -------------------------------------------------------------------------------- */

static void put_sweep_start(gotrace_rec_thread *t, const uint64_t *pcs, size_t depth)
{
    const uint64_t stack = gt_rec_stack(t, pcs, depth);
    gt_rec_event(t, GOTRACE_V1_GCSweepStart, GOTRACE_V2_GCSweepBegin, &stack, 1);
    t->proc->sweep.era = t->era;
    t->proc->sweep.active = true;
}

void gotrace_rec_sweep_start(gotrace_rec_thread *t, const uint64_t *pcs, size_t depth)
{
    if (!t || gt_rec_is_misuse(t, GT_REC_CALL_sweep_start) || !t->proc)
        return;
    bool recorded = gt_rec_event_begin(t);
    t->proc->sweep = (gt_rec_sweep){.allowed = true};
    if (recorded && t->recorder->version < GT_REC_FIRST_SWEPT)
        put_sweep_start(t, pcs, depth);
    gt_rec_event_end(t);
}

void gotrace_rec_sweep_span(gotrace_rec_thread *t, uint64_t bytes, const uint64_t *pcs,
                            size_t depth)
{
    if (!t || gt_rec_is_misuse(t, GT_REC_CALL_sweep_span) || !t->proc || !t->proc->sweep.allowed)
        return;
    gt_rec_sweep *sweep = &t->proc->sweep;
    if (!sweep->active) {
        if (gt_rec_event_begin(t))
            put_sweep_start(t, pcs, depth);
        sweep->active = true;
        gt_rec_event_end(t);
    }
    sweep->swept += bytes;
}

/* v1's readers need the beginning in the trace; v2's have the state of the proc. */
static bool can_end_sweep(const gotrace_rec_thread *t)
{
    return t->recorder->v2 || t->proc->sweep.era >= t->recorder->first_era;
}

void gt_rec_sweep_end(gotrace_rec_thread *t, bool recorded, uint64_t reclaimed)
{
    gt_rec_sweep *sweep = &t->proc->sweep;
    if (recorded && can_end_sweep(t)) {
        const uint64_t args[2] = {sweep->swept, reclaimed};
        const bool sized = t->recorder->version >= GT_REC_FIRST_SWEPT;
        gt_rec_event(t, GOTRACE_V1_GCSweepDone, GOTRACE_V2_GCSweepEnd, args, sized ? 2 : 0);
    }
    sweep->active = false;
}

void gotrace_rec_sweep_done(gotrace_rec_thread *t, uint64_t reclaimed)
{
    if (!t || gt_rec_is_misuse(t, GT_REC_CALL_sweep_done) || !t->proc)
        return;
    gt_rec_sweep *sweep = &t->proc->sweep;
    if (sweep->active) {
        gt_rec_sweep_end(t, gt_rec_event_begin(t), reclaimed);
        gt_rec_event_end(t);
    }
    sweep->allowed = false;
}

/* ---- mark assist ----------------------------------------------------------------------------- */

void gotrace_rec_mark_assist_start(gotrace_rec_thread *t, const uint64_t *pcs, size_t depth)
{
    if (!t || gt_rec_is_misuse(t, GT_REC_CALL_mark_assist_start) || !t->go || t->go->assists)
        return;
    bool recorded = gt_rec_event_begin(t);
    if (recorded) {
        const uint64_t stack = gt_rec_stack(t, pcs, depth);
        gt_rec_event(t, GOTRACE_V1_GCMarkAssistStart, GOTRACE_V2_GCMarkAssistBegin, &stack, 1);
    }
    t->go->assists = true;
    gt_rec_event_end(t);
}

void gotrace_rec_mark_assist_done(gotrace_rec_thread *t)
{
    if (!t || gt_rec_is_misuse(t, GT_REC_CALL_mark_assist_done) || !t->go || !t->go->assists)
        return;
    if (gt_rec_event_begin(t))
        gt_rec_event(t, GOTRACE_V1_GCMarkAssistDone, GOTRACE_V2_GCMarkAssistEnd, NULL, 0);
    t->go->assists = false;
    gt_rec_event_end(t);
}
