/* cover.c - operations that only --cover needs. */
#include "cmd/gen/gen.h"

/* Waits in a queue that is always served, so that no other goroutine is needed to go on. */
static void wait(gen_sim *s, gen_proc *p, gen_event event, gen_op_code op, gen_string why)
{
    if (gen_has(s, event))
        gen_wait(s, p, &s->selecting, event, op, why);
}

static void experiment(gen_sim *s, gen_proc *p, gen_goroutine *g)
{
    static const gen_event events[] = {GEN_SPAN,   GEN_SPAN_ALLOC,   GEN_SPAN_FREE,
                                       GEN_OBJECT, GEN_OBJECT_ALLOC, GEN_OBJECT_FREE,
                                       GEN_STACK,  GEN_STACK_ALLOC,  GEN_STACK_FREE};
    for (size_t i = 0; i < sizeof events / sizeof events[0]; i++) {
        gen_emit(s, events[i], &(gen_fields){.p = p, .g = g, .args = {16 + i, 1, 2}});
        gen_advance_clock(s);
    }
}

static void experiment_batch(gen_sim *s, gen_proc *p)
{
    gen_emit(s, GEN_EXPERIMENT_BATCH,
             &(gen_fields){.p = p, .args = {1}, .second = GEN_STRING_EXPERIMENT});
}

/* A generation begins during a GC cycle, a sweep and an assist, and with a GoStatusStack of a
 * waiting goroutine. */
static void generation(gen_sim *s, gen_proc *p)
{
    if (!s->marking)
        gen_gc_begin(s, p);
    gen_advance_clock(s);
    gen_sweep(s, p, true);
    gen_advance_clock(s);
    gen_assist(s, p, true);
    gen_advance_clock(s);
    gen_next_generation(s);
    const gen_goroutine *waiting = s->sweepers.head  ? s->sweepers.head
                                   : s->workers.head ? s->workers.head
                                                     : s->sleeping.head;
    if (waiting)
        gen_emit(s, GEN_STATUS_STACK,
                 &(gen_fields){.p = p,
                               .g = p->running,
                               .role = waiting->role,
                               .op = OP_BLOCK,
                               .args = {waiting->id, UINT64_MAX, 4}});
    gen_advance_clock(s);
    gen_assist(s, p, false);
    gen_advance_clock(s);
    gen_sweep(s, p, false);
}

/* GC workers run only from time to time during a cycle. */
static bool misses_worker(const gen_sim *s)
{
    return gen_misses(s, GEN_START_LABEL) || gen_misses(s, GEN_LABEL);
}

static void done(gen_sim *s, gen_proc *p, gen_goroutine *g)
{
    if (misses_worker(s)) {
        if (!s->marking)
            gen_gc_begin(s, p);
        gen_advance_clock(s);
        gen_preempt(s, p, OP_START);
        g->pc--; /* run this operation again */
        return;
    }
    if (s->marking)
        gen_gc_end(s, p);
    s->cover_done = true;
}

bool gen_cover(gen_sim *s, gen_proc *p, gen_goroutine *g, const gen_op *op)
{
    switch ((gen_cover_part)op->a) {
    case GEN_COVER_TIMER:
        gen_emit(s, GEN_TIMER_GOROUTINE, &(gen_fields){.p = p, .g = g, .args = {s->timer_id}});
        break;
    case GEN_COVER_BLOCK: wait(s, p, GEN_BLOCK, OP_BLOCK, GEN_STRING_SYSTEM); break;
    case GEN_COVER_SEND: wait(s, p, GEN_BLOCK_SEND, OP_SEND, GEN_STRING_CHAN_SEND); break;
    case GEN_COVER_RECV: wait(s, p, GEN_BLOCK_RECV, OP_RECV, GEN_STRING_CHAN_RECV); break;
    case GEN_COVER_SYNC: wait(s, p, GEN_BLOCK_SYNC, OP_LOCK, GEN_STRING_SYNC); break;
    case GEN_COVER_COND: wait(s, p, GEN_BLOCK_COND, OP_COND_WAIT, GEN_STRING_COND); break;
    case GEN_COVER_PREEMPT: gen_preempt(s, p, OP_START); break;
    case GEN_COVER_SYSCALL: /* ends before the proc is taken away */
        gen_syscall(s, p, 0);
        gen_advance_clock(s);
        gen_syscall_step(s, p);
        break;
    case GEN_COVER_ASSIST:
        gen_assist(s, p, true);
        gen_advance_clock(s);
        wait(s, p, GEN_BLOCK_GC, OP_ASSIST, GEN_STRING_ASSIST);
        break;
    case GEN_COVER_EXPERIMENT: experiment(s, p, g); break;
    case GEN_COVER_EXPERIMENT_BATCH: experiment_batch(s, p); break;
    case GEN_COVER_GENERATION: generation(s, p); break;
    case GEN_COVER_DONE: done(s, p, g); break;
    }
    return false;
}
