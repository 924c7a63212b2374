/* gc.c - the heap, and GC cycles, stop-the-world phases, assists and sweeps. */
#include "cmd/gen/gen.h"

enum { PAGE = 8192 };

void gen_gc_init(gen_sim *s)
{
    s->heap = s->profile->goal / 4;
    s->goal = s->profile->goal;
}

/* Reason for stopping the world: a number until 1.21 (1.10 has two kinds, 1.21 more), a string from
 * 1.22 on. */
static gen_fields stop_reason(const gen_sim *s, const gen_proc *p, bool mark_is_done)
{
    const gen_goroutine *g = p->running;
    uint64_t kind = s->version < 21 ? (mark_is_done ? 0 : 1) : (mark_is_done ? 1 : 2);
    return (gen_fields){.p = p,
                        .g = g,
                        .role = g->role,
                        .op = OP_GC,
                        .args = {kind},
                        .string = mark_is_done ? GEN_STRING_MARK_TERM : GEN_STRING_SWEEP_TERM};
}

/* Stop every proc except p. */
static void stop_the_world(gen_sim *s, gen_proc *p, bool mark_is_done)
{
    gen_fields fields = stop_reason(s, p, mark_is_done);
    gen_emit(s, GEN_STW_START, &fields);
    while (s->awake_count > 1 && !s->failed) {
        gen_proc *q = s->order[s->awake_count - 1];
        if (q == p)
            q = s->order[s->awake_count - 2];
        gen_advance_clock(s);
        gen_goroutine *g = q->running;
        if (g && g->state == GEN_G_CALLING) {
            gen_hand_off(s, q, p);
            continue;
        }
        if (g) {
            gen_leave(s, q, GEN_PREEMPT, OP_START, GEN_STRING_PREEMPTED);
            g->state = GEN_G_RUNNABLE;
            gen_push(&s->runnable, g);
        }
        gen_stop_proc(s, q);
    }
    gen_advance_clock(s);
}

static void start_the_world(gen_sim *s, gen_proc *p, bool mark_is_done)
{
    gen_fields fields = stop_reason(s, p, mark_is_done);
    gen_emit(s, GEN_STW_DONE, &fields);
    for (uint32_t i = 0; i < s->proc_count; i++) {
        gen_proc *q = &s->procs[i];
        if (q->place >= s->awake_count && q->queue.count) {
            gen_advance_clock(s);
            gen_start_proc(s, q);
        }
    }
}

void gen_gc_begin(gen_sim *s, gen_proc *p)
{
    stop_the_world(s, p, false);
    gen_emit(s, GEN_GC_START,
             &(gen_fields){.p = p, .g = p->running, .role = p->running->role, .op = OP_GC});
    s->marking = true;
    s->mark_left = 16 + 8 * (int64_t)s->proc_count;
    gen_advance_clock(s);
    start_the_world(s, p, false);
}

void gen_gc_end(gen_sim *s, gen_proc *p)
{
    gen_goroutine *g;
    stop_the_world(s, p, true);
    gen_emit(s, GEN_GC_DONE, &(gen_fields){.p = p, .g = p->running});
    s->marking = false;
    s->heap = s->heap / 4 + PAGE * (uint64_t)gen_below(s, 256);
    s->goal = 2 * s->heap > s->profile->goal ? 2 * s->heap : s->profile->goal;
    s->sweep_left = 32;
    gen_advance_clock(s);
    start_the_world(s, p, true);
    gen_fields fields = {.p = p, .g = p->running, .args = {s->heap}};
    gen_emit(s, GEN_HEAP, &fields);
    fields.args[0] = s->goal;
    gen_emit(s, GEN_HEAP_GOAL, &fields);
    while ((g = gen_pop(&s->assists))) {
        gen_advance_clock(s);
        gen_ready(s, p, g, OP_GC);
    }
    if ((g = gen_pop(&s->sweepers))) {
        gen_advance_clock(s);
        gen_ready(s, p, g, OP_GC);
    }
}

void gen_sweep(gen_sim *s, gen_proc *p, bool begins)
{
    uint64_t swept = PAGE * (uint64_t)(1 + gen_below(s, 32));
    gen_fields fields = {.p = p,
                         .g = p->running,
                         .role = p->running->role,
                         .op = OP_SWEEP,
                         .args = {swept, swept / 2}};
    gen_emit(s, begins ? GEN_SWEEP_START : GEN_SWEEP_DONE, &fields);
}

void gen_assist(gen_sim *s, gen_proc *p, bool begins)
{
    gen_goroutine *g = p->running;
    if (!gen_has(s, GEN_ASSIST_START))
        return;
    g->assisting = begins;
    gen_emit(s, begins ? GEN_ASSIST_START : GEN_ASSIST_DONE,
             &(gen_fields){.p = p, .g = g, .role = g->role, .op = OP_ASSIST});
}

/* Allocate a span of memory. */
void gen_alloc(gen_sim *s, gen_proc *p)
{
    if (s->sweep_left > 0 && gen_chance(s, 64)) {
        s->sweep_left--;
        gen_sweep(s, p, true);
        gen_advance_clock(s);
        gen_sweep(s, p, false);
        gen_advance_clock(s);
    }
    s->heap += PAGE * (uint64_t)(1 + gen_below(s, 8));
    gen_emit(s, GEN_HEAP, &(gen_fields){.p = p, .g = p->running, .args = {s->heap}});
    if (s->marking && gen_chance(s, 64)) {
        gen_advance_clock(s);
        gen_assist(s, p, true);
        s->mark_left--;
    } else if (!s->marking && s->heap >= s->goal) {
        gen_advance_clock(s);
        gen_gc_begin(s, p);
    }
}
