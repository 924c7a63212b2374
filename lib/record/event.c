/*
 * event.c - the events of the scheduler. Each function describes the context, writes the event, and
 * changes the state; while nothing is recorded, it only changes the state.
 *
 * Source: Go 1.19, runtime/trace.go, from traceGomaxprocs on; Go 1.22, runtime/traceruntime.go.
 */
#include "record/event.h"

gt_rec_buffer *gt_rec_room_slow(gt_rec_place *w, size_t size)
{
    gotrace_recorder *r = w->r;
    if (!w->locked)
        pthread_mutex_lock(&r->lock);
    gt_rec_buffer *b = w->stream->buffers[w->era % GT_REC_OPEN];
    if (!b || (size_t)(b->end - b->p) < size) {
        gt_rec_flush(r, w->stream, w->era);
        gt_rec_limit(r, w->era, w->waits);
        b = gt_rec_refill(r, w->stream, w->era, w->ticks, w->seq);
    }
    if (!w->locked)
        pthread_mutex_unlock(&r->lock);
    return b;
}

void gt_rec_reserve_slow(gotrace_rec_thread *t, size_t size)
{
    gt_rec_place w = gt_rec_place_of(t, t->proc);
    w.waits = true;
    gt_rec_room_slow(&w, size);
}

uint64_t gt_rec_put_record(gt_rec_place *w, unsigned code, const uint64_t *args, unsigned count,
                           const char *data, size_t size)
{
    gt_rec_place locked = *w;
    if (w->stream != &w->r->no_stream || w->locked)
        return gt_rec_record(w, code, args, count, data, size);
    locked.locked = true;
    pthread_mutex_lock(&w->r->lock);
    uint64_t ticks = gt_rec_record(&locked, code, args, count, data, size);
    pthread_mutex_unlock(&w->r->lock);
    return ticks;
}

/* v1: an event of goroutine g with its next number, after which there are more arguments. */
static void put_numbered_v1(gotrace_rec_thread *t, gotrace_rec_go *g, unsigned code,
                            const uint64_t *more, unsigned count)
{
    const unsigned numbered = !t->recorder->numbers;
    uint64_t args[4] = {g->state.id, ++g->state.seq};
    for (unsigned i = 0; i < count; i++)
        args[1 + numbered + i] = more[i];
    g->ticks = gt_rec_put(t, code, args, 1 + numbered + count);
    g->last_proc = t->proc;
}

/* The same, in the local form if the goroutine's last event was on the same proc: without a number.
 */
static inline void put_local_v1(gotrace_rec_thread *t, gotrace_rec_go *g, unsigned code,
                                unsigned local, const uint64_t *more, unsigned count)
{
    if (g->last_proc != t->proc || t->recorder->numbers) {
        put_numbered_v1(t, g, code, more, count);
    } else {
        g->state.seq++;
        g->ticks = gt_rec_put(t, local, (const uint64_t[]){g->state.id, count ? *more : 0},
                              1 + count);
    }
}

/* ---- procs ----------------------------------------------------------------------------------- */

void gotrace_rec_proc_start(gotrace_rec_thread *t, gotrace_rec_proc *p)
{
    if (!t || !p || gt_rec_is_misuse_of(t, GT_REC_CALL_proc_start, p, 0) || t->proc)
        return;
    bool recorded = gt_rec_event_begin(t);
    if (t->era && (t->recorder->v2 || t->closing)) {
        gt_rec_touch_proc(t, p, GT_REC_PROC_IDLE);
        gt_rec_stamp(t);
    }
    if (recorded && t->recorder->v2) {
        gt_rec_stamp_after(t, p->ticks);
        gt_rec_put(t, GOTRACE_V2_ProcStart, (const uint64_t[]){p->state.id, ++p->state.seq}, 2);
    } else if (recorded) {
        gt_rec_place w = gt_rec_place_of(t, p);
        gt_rec_record(&w, GOTRACE_V1_ProcStart, &t->id, 1, NULL, 0);
        atomic_store_explicit(&p->state.described, t->era, memory_order_relaxed);
    }
    p->state.status = GT_REC_PROC_RUNNING;
    p->thread = t;
    t->proc = p;
    atomic_store_explicit(&t->proc_id, p->state.id, memory_order_relaxed);
    if (__builtin_expect(p->sweep.active && !p->sweep.allowed, 0))
        gt_rec_sweep_end(t, recorded, 0);
    gt_rec_event_end(t);
}

static void release_proc(gotrace_rec_thread *t)
{
    t->proc->state.status = GT_REC_PROC_IDLE;
    t->proc->thread = NULL;
    t->proc = NULL;
    atomic_store_explicit(&t->proc_id, UINT64_MAX, memory_order_relaxed);
}

/* v1: the goroutine's system call blocks, on the proc w. */
static void put_block_v1(gt_rec_place *w, gotrace_rec_go *g)
{
    if (!g->blocked)
        g->ticks = gt_rec_put_record(w, GOTRACE_V1_GoSysBlock, NULL, 0, NULL, 0);
    g->blocked = true;
}

void gotrace_rec_proc_stop(gotrace_rec_thread *t)
{
    if (!t || gt_rec_is_misuse(t, GT_REC_CALL_proc_stop) || !t->proc)
        return;
    gotrace_rec_go *g = t->go;
    if (gt_rec_event_begin(t)) {
        gt_rec_place w = gt_rec_place_of(t, t->proc);
        if (!t->recorder->v2 && g && g->state.status == GT_REC_SYSCALL)
            put_block_v1(&w, g);
        t->proc->ticks = gt_rec_put(t, t->recorder->v2 ? GOTRACE_V2_ProcStop : GOTRACE_V1_ProcStop,
                                    NULL, 0);
    }
    release_proc(t);
    gt_rec_event_end(t);
}

/* ---- goroutines ------------------------------------------------------------------------------ */

static void free_go(gotrace_rec_thread *t, gotrace_rec_go *g)
{
    g->next_free = t->free;
    t->free = g;
}

/* Nobody describes the goroutine before its creation is written, which must not wait for the output
 * then: whoever takes that may wait for the goroutine. */
static void init_go(gotrace_rec_go *g, const gotrace_rec_thread *t, uint64_t id, uint64_t start_pc,
                    uint8_t status)
{
    atomic_store_explicit(&g->state.described, t->era ? GT_REC_BUSY : 0, memory_order_relaxed);
    g->state.id = id;
    g->state.seq = 0;
    g->start_pc = start_pc;
    g->exit_ticks = 0;
    g->last_proc = t->proc;
    g->thread = NULL;
    g->blocked = g->assists = g->created_blocked = g->ran = false;
    g->stack = NULL;
    g->uncreated = 0;
    g->state.noted_era = 0;
    atomic_store_explicit(&g->state.status, status, memory_order_release);
}

/* A handle for a goroutine with that id; NULL: memory is refused, or another one has the id. */
static gotrace_rec_go *new_go(gotrace_rec_thread *t, gt_rec_call call, uint64_t id)
{
    gotrace_rec_go *g = gt_rec_new_go(t);
    if (g && __builtin_expect(t->recorder->checks, 0) && gt_rec_check_id(t, call, g, id)) {
        free_go(t, g);
        return NULL;
    }
    return g;
}

/* Creates a goroutine, by that event (v1's code or v2's) if the trace can have it; otherwise it is
 * described later. */
static gotrace_rec_go *create(gotrace_rec_thread *t, gt_rec_call call, uint64_t id,
                              uint64_t start_pc, const uint64_t *pcs, size_t depth, unsigned v2,
                              uint8_t status)
{
    gotrace_rec_go *g = t && !gt_rec_is_misuse(t, call) ? new_go(t, call, id) : NULL;
    if (!g)
        return NULL;
    bool recorded = gt_rec_event_begin(t);
    if (recorded && status == GT_REC_WAITING && t->recorder->version < GT_REC_FIRST_SWITCH) {
        status = GT_REC_RUNNABLE;
        v2 = GOTRACE_V2_GoCreate;
    }
    if (recorded)
        gt_rec_reserve(t, 3);
    init_go(g, t, id, start_pc, status);
    g->created_blocked = call == GT_REC_CALL_go_create_blocked;
    bool put = recorded && gt_rec_can_put(t, GOTRACE_V1_GoCreate, v2);
    if (put) {
        const gt_rec_entry *start = gt_rec_start_entry(t->recorder, t->era, start_pc, false);
        const uint64_t args[3] = {id, gt_rec_start_id(t->recorder, start, start_pc),
                                  gt_rec_stack(t, pcs, depth)};
        g->ticks = gt_rec_put_at(t, t->recorder->v2 ? v2 : GOTRACE_V1_GoCreate, args, 3, false);
    }
    if (recorded && !put)
        g->uncreated = t->era;
    atomic_store_explicit(&g->state.described, put || t->closing ? t->era : 0,
                          memory_order_release);
    gt_rec_event_end(t);
    return g;
}

gotrace_rec_go *gotrace_rec_go_create(gotrace_rec_thread *t, uint64_t id, uint64_t start_pc,
                                      const uint64_t *pcs, size_t depth)
{
    return create(t, GT_REC_CALL_go_create, id, start_pc, pcs, depth, GOTRACE_V2_GoCreate,
                  GT_REC_RUNNABLE);
}

gotrace_rec_go *gotrace_rec_go_create_blocked(gotrace_rec_thread *t, uint64_t id, uint64_t start_pc,
                                              const uint64_t *pcs, size_t depth)
{
    return create(t, GT_REC_CALL_go_create_blocked, id, start_pc, pcs, depth,
                  GOTRACE_V2_GoCreateBlocked, GT_REC_WAITING);
}

/* v1: the end of a system call that blocked is written where the goroutine resumes. */
static void put_exit_v1(gotrace_rec_thread *t, gotrace_rec_go *g)
{
    if (!g->exit_ticks)
        return;
    const uint64_t args[2] = {g->exit_seq, g->exit_ticks};
    if (t->recorder->numbers)
        put_numbered_v1(t, g, GOTRACE_V1_GoSysExit, args, 2);
    else
        put_numbered_v1(t, g, GOTRACE_V1_GoSysExit, args + 1, 1);
    g->exit_ticks = 0;
}

static void put_start(gotrace_rec_thread *t, gotrace_rec_go *g)
{
    if (t->recorder->v2) {
        gt_rec_put(t, GOTRACE_V2_GoStart, (const uint64_t[]){g->state.id, ++g->state.seq}, 2);
    } else {
        put_exit_v1(t, g);
        put_local_v1(t, g, GOTRACE_V1_GoStart, GOTRACE_V1_GoStartLocal, NULL, 0);
    }
}

static inline void run(gotrace_rec_thread *t, gotrace_rec_go *g)
{
    g->state.status = GT_REC_RUNNING;
    g->thread = t;
    g->ran = true;
    t->go = g;
}

void gotrace_rec_go_start(gotrace_rec_thread *t, gotrace_rec_go *g)
{
    if (!t || !g || gt_rec_is_misuse_of(t, GT_REC_CALL_go_start, g, 0))
        return;
    bool recorded = gt_rec_event_begin_on(t, g);
    if (recorded)
        put_start(t, g);
    run(t, g);
    gt_rec_event_end(t);
}

/* v1, from 1.8: the event has the label, and does not count as the goroutine's last one. */
static void put_start_label_v1(gotrace_rec_thread *t, gotrace_rec_go *g, uint64_t label)
{
    put_exit_v1(t, g);
    gotrace_rec_proc *last = g->last_proc;
    put_numbered_v1(t, g, GOTRACE_V1_GoStartLabel, &label, 1);
    g->last_proc = last;
}

static void put_start_label(gotrace_rec_thread *t, gotrace_rec_go *g, const char *label)
{
    const uint64_t text = gt_rec_string(t, label, strlen(label));
    if (!t->recorder->v2 && t->recorder->version >= GT_REC_FIRST_LABEL) {
        put_start_label_v1(t, g, text);
        return;
    }
    put_start(t, g);
    if (t->recorder->v2)
        gt_rec_put(t, GOTRACE_V2_GoLabel, &text, 1);
}

void gotrace_rec_go_start_label(gotrace_rec_thread *t, gotrace_rec_go *g, const char *label)
{
    if (!t || !g || !label || gt_rec_is_misuse_of(t, GT_REC_CALL_go_start_label, g, 0))
        return;
    bool recorded = gt_rec_event_begin_on(t, g);
    if (recorded)
        put_start_label(t, g, label);
    run(t, g);
    gt_rec_event_end(t);
}

/* The running goroutine stops, with that status. */
static inline void stop(gotrace_rec_thread *t, uint8_t status)
{
    t->go->thread = NULL;
    atomic_store_explicit(&t->go->state.status, status, memory_order_release);
    t->go = NULL;
}

/* The goroutine does not exist any more, and its handle is free. */
static void end_go(gotrace_rec_thread *t)
{
    gotrace_rec_go *g = t->go;
    stop(t, 0);
    free_go(t, g);
}

void gotrace_rec_go_end(gotrace_rec_thread *t)
{
    if (!t || gt_rec_is_misuse(t, GT_REC_CALL_go_end) || !t->go)
        return;
    if (gt_rec_event_begin(t))
        gt_rec_event(t, GOTRACE_V1_GoEnd, GOTRACE_V2_GoDestroy, NULL, 0);
    end_go(t);
    gt_rec_event_end(t);
}

/* The running goroutine stops, for that reason: a code of v1; reason: of v2. futile: v1, it was
 * woken in vain. */
static inline void stop_for(gotrace_rec_thread *t, unsigned v1, unsigned v2, gt_rec_word reason,
                            bool futile, const uint64_t *pcs, size_t depth, uint8_t status)
{
    if (!t->go)
        return;
    if (gt_rec_event_begin(t)) {
        const gt_rec_entry *stack = gt_rec_entry_of(t, pcs, depth);
        const uint64_t args[2] = {(uint64_t)reason, gt_rec_id(stack)};
        gt_rec_keep_stack(t, t->go, stack);
        if (!t->recorder->v2) {
            if (__builtin_expect(futile, 0))
                gt_rec_put(t, GOTRACE_V1_FutileWakeup, NULL, 0);
            t->go->ticks = gt_rec_put(t, gt_rec_can_put(t, v1, 0) ? v1 : GOTRACE_V1_GoBlock,
                                      args + 1, 1);
        } else {
            t->go->ticks = gt_rec_event(t, 0, v2, args, 2);
        }
        if (status == GT_REC_RUNNABLE)
            t->go->last_proc = t->proc;
    }
    stop(t, status);
    gt_rec_event_end(t);
}

void gotrace_rec_go_sched(gotrace_rec_thread *t, const uint64_t *pcs, size_t depth)
{
    if (t && !gt_rec_is_misuse(t, GT_REC_CALL_go_sched))
        stop_for(t, GOTRACE_V1_GoSched, GOTRACE_V2_GoStop, GT_REC_WORD_GOSCHED, false, pcs, depth,
                 GT_REC_RUNNABLE);
}

void gotrace_rec_go_preempt(gotrace_rec_thread *t, const uint64_t *pcs, size_t depth)
{
    if (t && !gt_rec_is_misuse(t, GT_REC_CALL_go_preempt))
        stop_for(t, GOTRACE_V1_GoPreempt, GOTRACE_V2_GoStop, GT_REC_WORD_PREEMPTED, false, pcs,
                 depth, GT_REC_RUNNABLE);
}

void gotrace_rec_go_park(gotrace_rec_thread *t, gotrace_rec_reason reason, const uint64_t *pcs,
                         size_t depth)
{
    static const uint8_t codes[] = {
        [GOTRACE_REC_BLOCK] = GOTRACE_V1_GoBlock,
        [GOTRACE_REC_SLEEP] = GOTRACE_V1_GoSleep,
        [GOTRACE_REC_SEND] = GOTRACE_V1_GoBlockSend,
        [GOTRACE_REC_RECEIVE] = GOTRACE_V1_GoBlockRecv,
        [GOTRACE_REC_SELECT] = GOTRACE_V1_GoBlockSelect,
        [GOTRACE_REC_SYNC] = GOTRACE_V1_GoBlockSync,
        [GOTRACE_REC_COND] = GOTRACE_V1_GoBlockCond,
        [GOTRACE_REC_NETWORK] = GOTRACE_V1_GoBlockNet,
        [GOTRACE_REC_GC] = GOTRACE_V1_GoBlockGC,
        [GOTRACE_REC_FOREVER] = GOTRACE_V1_GoStop,
    };
    const bool futile = reason & GOTRACE_REC_FUTILE;
    reason &= ~(unsigned)GOTRACE_REC_FUTILE;
    if (!t || gt_rec_is_misuse_of(t, GT_REC_CALL_go_park, NULL, reason))
        return;
    if ((size_t)reason >= sizeof codes)
        reason = GOTRACE_REC_BLOCK;
    stop_for(t, codes[reason], GOTRACE_V2_GoBlock, GT_REC_WORD_BLOCK + reason, futile, pcs, depth,
             GT_REC_WAITING);
}

static void put_unpark(gotrace_rec_thread *t, gotrace_rec_go *g, uint64_t stack)
{
    if (t->recorder->v2)
        g->ticks = gt_rec_put(t, GOTRACE_V2_GoUnblock,
                              (const uint64_t[]){g->state.id, ++g->state.seq, stack}, 3);
    else
        put_local_v1(t, g, GOTRACE_V1_GoUnblock, GOTRACE_V1_GoUnblockLocal, &stack, 1);
}

void gotrace_rec_go_unpark(gotrace_rec_thread *t, gotrace_rec_go *g, const uint64_t *pcs,
                           size_t depth)
{
    if (!t || !g || gt_rec_is_misuse_of(t, GT_REC_CALL_go_unpark, g, 0))
        return;
    bool recorded = gt_rec_event_begin_on(t, g);
    if (recorded && g->state.status == GT_REC_WAITING)
        put_unpark(t, g, gt_rec_stack(t, pcs, depth));
    g->state.status = GT_REC_RUNNABLE;
    gt_rec_event_end(t);
}

/* ---- coroutines ------------------------------------------------------------------------------ */

/* Before 1.23 an unblock, a stop and a start. */
static void put_switch(gotrace_rec_thread *t, gotrace_rec_go *g, bool ends)
{
    const uint64_t args[2] = {GT_REC_WORD_BLOCK, 0};
    if (gt_rec_can_put(t, 0, GOTRACE_V2_GoSwitch)) {
        t->go->ticks = gt_rec_put(t, ends ? GOTRACE_V2_GoSwitchDestroy : GOTRACE_V2_GoSwitch,
                                  (const uint64_t[]){g->state.id, ++g->state.seq}, 2);
        return;
    }
    if (g->state.status == GT_REC_WAITING)
        put_unpark(t, g, 0);
    if (ends)
        gt_rec_event(t, GOTRACE_V1_GoEnd, GOTRACE_V2_GoDestroy, NULL, 0);
    else if (t->recorder->v2)
        t->go->ticks = gt_rec_event(t, 0, GOTRACE_V2_GoBlock, args, 2);
    else
        t->go->ticks = gt_rec_put(t, GOTRACE_V1_GoBlock, args + 1, 1);
    put_start(t, g);
}

static void switch_to(gotrace_rec_thread *t, gotrace_rec_go *g, bool ends)
{
    const gt_rec_call call = ends ? GT_REC_CALL_go_switch_destroy : GT_REC_CALL_go_switch;
    if (!t || !g || gt_rec_is_misuse_of(t, call, g, 0) || !t->go)
        return;
    bool recorded = gt_rec_event_begin_on(t, g);
    if (recorded)
        put_switch(t, g, ends);
    t->go->stack = NULL;
    if (ends)
        end_go(t);
    else
        stop(t, GT_REC_WAITING);
    run(t, g);
    gt_rec_event_end(t);
}

void gotrace_rec_go_switch(gotrace_rec_thread *t, gotrace_rec_go *g)
{
    switch_to(t, g, false);
}

void gotrace_rec_go_switch_destroy(gotrace_rec_thread *t, gotrace_rec_go *g)
{
    switch_to(t, g, true);
}

/* ---- system calls ---------------------------------------------------------------------------- */

void gotrace_rec_go_sys_call(gotrace_rec_thread *t, const uint64_t *pcs, size_t depth)
{
    if (!t || gt_rec_is_misuse(t, GT_REC_CALL_go_sys_call) || !t->go || !t->proc)
        return;
    if (gt_rec_event_begin(t)) {
        const gt_rec_entry *stack = gt_rec_entry_of(t, pcs, depth);
        uint64_t args[2] = {0, gt_rec_id(stack)};
        gt_rec_keep_stack(t, t->go, stack);
        if (t->recorder->v2) {
            args[0] = ++t->proc->state.seq;
            gt_rec_put(t, GOTRACE_V2_GoSyscallBegin, args, 2);
        } else {
            gt_rec_put(t, GOTRACE_V1_GoSysCall, args + 1, 1);
        }
    }
    t->go->state.status = GT_REC_SYSCALL;
    t->go->blocked = false;
    t->proc->state.status = GT_REC_PROC_SYSCALL;
    gt_rec_event_end(t);
}

/* Describes what the event changes. */
static void touch_blocked(gotrace_rec_thread *t, gotrace_rec_thread *from)
{
    const bool v2 = t->recorder->v2;
    gt_rec_touch_proc(t, from->proc, v2 ? GT_REC_PROC_ABANDONED : GT_REC_PROC_RUNNING);
    if (!v2)
        gt_rec_touch_go(t, from->go);
    gt_rec_stamp(t);
}

static void put_sys_block(gotrace_rec_thread *t, gotrace_rec_thread *from)
{
    gotrace_rec_proc *p = from->proc;
    if (t->recorder->v2) {
        const uint64_t args[3] = {p->state.id, ++p->state.seq, from->id};
        p->ticks = gt_rec_put(t, GOTRACE_V2_ProcSteal, args, 3);
    } else {
        gt_rec_place w = gt_rec_place_of(t, p);
        put_block_v1(&w, from->go);
        gt_rec_record(&w, GOTRACE_V1_ProcStop, NULL, 0, NULL, 0);
    }
}

void gotrace_rec_go_sys_block(gotrace_rec_thread *t, gotrace_rec_thread *from)
{
    if (!t || !from || gt_rec_is_misuse_of(t, GT_REC_CALL_go_sys_block, from, 0) || !from->proc ||
        !from->go)
        return;
    bool recorded = gt_rec_event_begin(t);
    if (t->era)
        touch_blocked(t, from);
    if (recorded)
        put_sys_block(t, from);
    from->go->blocked = true;
    release_proc(from);
    gt_rec_event_end(t);
}

/* v1: remembers when the goroutine left the call; not before the time of the record that it blocks.
 */
static void note_exit_v1(gotrace_rec_thread *t, gotrace_rec_go *g)
{
    if (t->recorder->numbers)
        gt_rec_number(t->recorder, &t->ticks, &g->exit_seq);
    g->exit_ticks = t->ticks > g->ticks ? t->ticks : g->ticks;
}

/* v2: the thread has lost its proc. If it has another one, or the same again, the goroutine runs.
 */
static __attribute__((noinline)) void put_blocked_exit(gotrace_rec_thread *t, gotrace_rec_go *g)
{
    g->ticks = gt_rec_put(t, GOTRACE_V2_GoSyscallEndBlocked, NULL, 0);
    if (t->proc)
        put_start(t, g);
}

static void put_sys_exit(gotrace_rec_thread *t, gotrace_rec_go *g)
{
    if (t->recorder->v2 && t->proc && t->proc->state.status == GT_REC_PROC_SYSCALL) {
        g->ticks = gt_rec_put(t, GOTRACE_V2_GoSyscallEnd, NULL, 0);
    } else if (t->recorder->v2) {
        put_blocked_exit(t, g);
    } else if (g->blocked) {
        note_exit_v1(t, g);
        if (t->proc)
            put_start(t, g);
    }
}

void gotrace_rec_go_sys_exit(gotrace_rec_thread *t)
{
    if (!t || gt_rec_is_misuse(t, GT_REC_CALL_go_sys_exit) || !t->go)
        return;
    gotrace_rec_go *g = t->go;
    if (gt_rec_event_begin(t))
        put_sys_exit(t, g);
    g->blocked = false;
    if (t->proc) {
        g->state.status = GT_REC_RUNNING;
        t->proc->state.status = GT_REC_PROC_RUNNING;
    } else {
        stop(t, GT_REC_RUNNABLE);
    }
    gt_rec_event_end(t);
}

/* ---- threads that the runtime did not create ------------------------------------------------- */

/* Source: Go 1.19, runtime/trace.go, traceOneNewExtraM; Go 1.22, runtime/traceruntime.go. */
gotrace_rec_go *gotrace_rec_go_create_sys_call(gotrace_rec_thread *t, uint64_t id)
{
    if (!t || gt_rec_is_misuse(t, GT_REC_CALL_go_create_sys_call) || t->go)
        return NULL;
    gotrace_rec_go *g = new_go(t, GT_REC_CALL_go_create_sys_call, id);
    if (!g)
        return NULL;
    bool recorded = gt_rec_event_begin(t);
    if (recorded)
        gt_rec_reserve(t, 3);
    init_go(g, t, id, 0, GT_REC_SYSCALL);
    g->thread = t;
    if (recorded && t->recorder->v2) {
        gt_rec_put_at(t, GOTRACE_V2_GoCreateSyscall, &id, 1, false);
    } else if (recorded) {
        gt_rec_put_at(t, GOTRACE_V1_GoCreate, (const uint64_t[]){id, 0, 0}, 3, false);
        g->state.seq = 1;
        g->ticks = gt_rec_put_at(t, GOTRACE_V1_GoInSyscall, &id, 1, false);
        g->blocked = true;
    }
    t->go = g;
    atomic_store_explicit(&g->state.described, t->era, memory_order_release);
    gt_rec_event_end(t);
    return g;
}

void gotrace_rec_go_destroy_sys_call(gotrace_rec_thread *t)
{
    if (!t || gt_rec_is_misuse(t, GT_REC_CALL_go_destroy_sys_call) || !t->go)
        return;
    if (t->proc) /* readers would wait until another thread takes it */
        gotrace_rec_proc_stop(t);
    if (gt_rec_event_begin(t) && gt_rec_can_put(t, 0, GOTRACE_V2_GoDestroySyscall))
        gt_rec_put(t, GOTRACE_V2_GoDestroySyscall, NULL, 0);
    end_go(t);
    gt_rec_event_end(t);
}
