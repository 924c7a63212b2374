/* ops.c - the operations of a goroutine's program. */
#include "cmd/gen/gen.h"

#include <string.h>

/* Returns whether the goroutine continues at once, because the operation emitted no event. */
typedef bool act(gen_sim *s, gen_proc *p, gen_goroutine *g, const gen_op *op);

/* ---- create, end, yield ---------------------------------------------------------------------- */

static bool end(gen_sim *s, gen_proc *p, gen_goroutine *g, const gen_op *op)
{
    gen_leave(s, p, GEN_END, op->code, GEN_STRING_NOTHING);
    gen_goroutine_free(s, g);
    return false;
}

static bool loop(gen_sim *s, gen_proc *p, gen_goroutine *g, const gen_op *op)
{
    (void)p;
    if (op->b >= 256 || gen_chance(s, op->b))
        g->pc = op->a;
    return true;
}

static gen_goroutine *create_as(gen_sim *s, gen_proc *p, unsigned role, gen_event event)
{
    gen_goroutine *g = p->running, *made = gen_goroutine_new(s, &s->roles[role]);
    if (!made)
        return NULL;
    gen_emit(s, event,
             &(gen_fields){.p = p,
                           .g = g,
                           .role = g->role,
                           .op = OP_CREATE,
                           .start = made->role,
                           .args = {made->id}});
    return made;
}

static bool create(gen_sim *s, gen_proc *p, gen_goroutine *g, const gen_op *op)
{
    gen_goroutine *made = create_as(s, p, op->a, GEN_CREATE);
    if (!made)
        return true;
    (void)g;
    gen_push(&p->queue, made);
    if (s->awake_count < s->proc_count && gen_chance(s, 128)) {
        gen_advance_clock(s);
        gen_wake_proc(s);
    }
    return false;
}

static bool forever(gen_sim *s, gen_proc *p, gen_goroutine *g, const gen_op *op)
{
    gen_leave(s, p, GEN_FOREVER, op->code, GEN_STRING_FOREVER);
    gen_goroutine_free(s, g);
    return false;
}

static bool sched(gen_sim *s, gen_proc *p, gen_goroutine *g, const gen_op *op)
{
    gen_leave(s, p, GEN_SCHED, op->code, GEN_STRING_GOSCHED);
    g->state = GEN_G_RUNNABLE;
    gen_push(&s->runnable, g);
    return false;
}

void gen_preempt(gen_sim *s, gen_proc *p, gen_op_code where)
{
    gen_goroutine *g = p->running;
    gen_leave(s, p, GEN_PREEMPT, where, GEN_STRING_PREEMPTED);
    g->state = GEN_G_RUNNABLE;
    gen_push(&s->runnable, g);
}

/* The initial goroutines leave a quarter of the slots for later ones. */
static bool populate(gen_sim *s, gen_proc *p, gen_goroutine *g, const gen_op *op)
{
    (void)op;
    unsigned role = GEN_RUNTIME_ROLES, weights = 0;
    if (s->cover && !s->cover_begun) {
        s->cover_begun = true;
        role = GEN_ROLE_COVER;
    } else if (s->free.count > s->goroutine_count / 4) {
        for (unsigned i = GEN_RUNTIME_ROLES; i < s->role_count; i++)
            weights += s->roles[i].weight;
        uint32_t chosen = gen_below(s, weights);
        while (chosen >= s->roles[role].weight)
            chosen -= s->roles[role++].weight;
        g->pc--;
    } else {
        return true;
    }
    gen_op creation = {OP_CREATE, (uint8_t)role, 0};
    return create(s, p, g, &creation);
}

/* ---- channels, locks, conditions ------------------------------------------------------------- */

static gen_channel *channel_of(gen_sim *s, const gen_goroutine *g, unsigned which)
{
    return &s->channels[g->group * GEN_CHANNELS + which];
}

static bool do_send(gen_sim *s, gen_proc *p, gen_goroutine *g, const gen_op *op)
{
    gen_channel *channel = channel_of(s, g, op->a);
    gen_goroutine *receiver = gen_pop(&channel->receivers);
    if (receiver) {
        gen_ready(s, p, receiver, op->code);
        return false;
    }
    if (channel->held < GEN_CHANNEL_CAPACITY) {
        channel->held++;
        return true;
    }
    gen_wait(s, p, &channel->senders, GEN_BLOCK_SEND, op->code, GEN_STRING_CHAN_SEND);
    return false;
}

static bool do_receive(gen_sim *s, gen_proc *p, gen_goroutine *g, const gen_op *op)
{
    gen_channel *channel = channel_of(s, g, op->a);
    gen_goroutine *sender = gen_pop(&channel->senders);
    if (sender) {
        gen_ready(s, p, sender, op->code);
        return false;
    }
    if (channel->held > 0) {
        channel->held--;
        return true;
    }
    gen_wait(s, p, &channel->receivers, GEN_BLOCK_RECV, OP_RECV, GEN_STRING_CHAN_RECV);
    return false;
}

/* A select that is woken in vain: another goroutine was faster. */
static bool wait_futile(gen_sim *s, gen_proc *p, gen_goroutine *g, const gen_op *op)
{
    g->futile = gen_has(s, GEN_FUTILE);
    gen_wait(s, p, &s->selecting, GEN_BLOCK_SELECT, op->code, GEN_STRING_SELECT);
    return false;
}

static void wait_futile_again(gen_sim *s, gen_proc *p, gen_goroutine *g)
{
    g->futile = false;
    gen_emit(s, GEN_FUTILE, &(gen_fields){.p = p, .g = g});
    gen_advance_clock(s);
    gen_wait(s, p, &s->selecting, GEN_BLOCK_SELECT, OP_FUTILE, GEN_STRING_SELECT);
}

static bool do_lock(gen_sim *s, gen_proc *p, gen_goroutine *g, const gen_op *op)
{
    gen_lock *lock = &s->locks[g->lock];
    if (!lock->holder) {
        lock->holder = g;
        return true;
    }
    gen_wait(s, p, &lock->waiters, GEN_BLOCK_SYNC, op->code, GEN_STRING_SYNC);
    return false;
}

/* The lock passes to the goroutine that has waited longest. */
static bool do_unlock(gen_sim *s, gen_proc *p, gen_goroutine *g, const gen_op *op)
{
    gen_lock *lock = &s->locks[g->lock];
    lock->holder = gen_pop(&lock->waiters);
    if (!lock->holder)
        return true;
    gen_ready(s, p, lock->holder, op->code);
    return false;
}

static bool do_wait(gen_sim *s, gen_proc *p, gen_goroutine *g, const gen_op *op)
{
    (void)g;
    switch (op->code) {
    case OP_SELECT:
        gen_wait(s, p, &s->selecting, GEN_BLOCK_SELECT, op->code, GEN_STRING_SELECT);
        break;
    case OP_COND_WAIT: gen_wait(s, p, &s->conds, GEN_BLOCK_COND, op->code, GEN_STRING_COND); break;
    case OP_NET: gen_wait(s, p, &s->net, GEN_BLOCK_NET, op->code, GEN_STRING_NETWORK); break;
    default: gen_wait(s, p, &s->sleeping, GEN_SLEEP, op->code, GEN_STRING_SLEEP); break;
    }
    return false;
}

static bool do_signal(gen_sim *s, gen_proc *p, gen_goroutine *g, const gen_op *op)
{
    (void)g;
    gen_goroutine *waiter = gen_pop(&s->conds);
    if (waiter)
        gen_ready(s, p, waiter, op->code);
    return !waiter;
}

/* ---- the runtime's goroutines ---------------------------------------------------------------- */

static bool block(gen_sim *s, gen_proc *p, gen_goroutine *g, const gen_op *op)
{
    gen_queue *queue = g->role == &s->roles[GEN_ROLE_WORKER]  ? &s->workers
                       : g->role == &s->roles[GEN_ROLE_TIMER] ? &s->timers
                                                              : &s->sweepers;
    gen_wait(s, p, queue, GEN_BLOCK, op->code, GEN_STRING_SYSTEM);
    return false;
}

static bool wake_timers(gen_sim *s, gen_proc *p, gen_goroutine *g, const gen_op *op)
{
    (void)g;
    gen_goroutine *sleeper = gen_pop(&s->sleeping);
    if (sleeper)
        gen_ready(s, p, sleeper, op->code);
    return !sleeper;
}

static bool mark(gen_sim *s, gen_proc *p, gen_goroutine *g, const gen_op *op)
{
    if (!s->marking)
        return true;
    s->mark_left -= 1 + gen_below(s, 4);
    if (s->mark_left <= 0) {
        gen_gc_end(s, p);
        return false;
    }
    g->pc--; /* mark again */
    gen_goroutine *waiter = gen_chance(s, 128) ? gen_pop(&s->assists) : NULL;
    if (waiter) {
        gen_ready(s, p, waiter, op->code);
        return false;
    }
    gen_preempt(s, p, op->code);
    return false;
}

static bool do_sweep(gen_sim *s, gen_proc *p, gen_goroutine *g, const gen_op *op)
{
    (void)g;
    (void)op;
    gen_sweep(s, p, true);
    gen_advance_clock(s);
    gen_sweep(s, p, false);
    return false;
}

static bool do_assist(gen_sim *s, gen_proc *p, gen_goroutine *g, const gen_op *op)
{
    (void)op;
    gen_assist(s, p, true);
    return !g->assisting;
}

/* In an assist: wait for other assists, or finish. */
static void assist_step(gen_sim *s, gen_proc *p)
{
    if (s->marking && gen_has(s, GEN_BLOCK_GC) && gen_chance(s, 64))
        gen_wait(s, p, &s->assists, GEN_BLOCK_GC, OP_ASSIST, GEN_STRING_ASSIST);
    else
        gen_assist(s, p, false);
}

static bool collect(gen_sim *s, gen_proc *p, gen_goroutine *g, const gen_op *op)
{
    (void)g;
    (void)op;
    if (s->marking)
        return true;
    gen_gc_begin(s, p);
    return false;
}

static bool alloc(gen_sim *s, gen_proc *p, gen_goroutine *g, const gen_op *op)
{
    (void)g;
    (void)op;
    gen_alloc(s, p);
    return false;
}

static bool do_syscall(gen_sim *s, gen_proc *p, gen_goroutine *g, const gen_op *op)
{
    (void)g;
    gen_syscall(s, p, op->b);
    return false;
}

static bool callback(gen_sim *s, gen_proc *p, gen_goroutine *g, const gen_op *op)
{
    (void)g;
    (void)op;
    if (!gen_has(s, GEN_CREATE_SYSCALL))
        return true;
    if (p->running->role == &s->roles[GEN_ROLE_CALLBACK])
        gen_callback_end(s, p);
    else
        gen_callback(s);
    return false;
}

/* ---- user annotations ------------------------------------------------------------------------ */

static bool task(gen_sim *s, gen_proc *p, gen_goroutine *g, const gen_op *op)
{
    if (!gen_has(s, GEN_TASK_BEGIN))
        return true;
    gen_fields fields = {.p = p,
                         .g = g,
                         .role = g->role,
                         .op = op->code,
                         .string = g->task ? GEN_STRING_SUBTASK : GEN_STRING_TASK};
    if (op->code == OP_TASK) {
        fields.args[0] = ++s->last_task;
        fields.args[1] = g->task;
        g->outer = g->task;
        g->task = s->last_task;
        gen_emit(s, GEN_TASK_BEGIN, &fields);
    } else {
        fields.args[0] = g->task;
        g->task = g->outer;
        g->outer = 0;
        gen_emit(s, GEN_TASK_END, &fields);
    }
    return false;
}

static bool region(gen_sim *s, gen_proc *p, gen_goroutine *g, const gen_op *op)
{
    if (!gen_has(s, GEN_REGION_BEGIN))
        return true;
    bool begins = op->code == OP_REGION;
    gen_emit(s, begins ? GEN_REGION_BEGIN : GEN_REGION_END,
             &(gen_fields){.p = p,
                           .g = g,
                           .role = g->role,
                           .op = op->code,
                           .args = {g->task, !begins},
                           .string = (gen_string)op->a});
    return false;
}

static bool logs(gen_sim *s, gen_proc *p, gen_goroutine *g, const gen_op *op)
{
    if (!gen_has(s, GEN_LOG))
        return true;
    gen_string message = (gen_string)(GEN_STRING_MESSAGE_0 + gen_below(s, 4));
    gen_emit(s, GEN_LOG,
             &(gen_fields){.p = p,
                           .g = g,
                           .role = g->role,
                           .op = op->code,
                           .args = {g->task},
                           .string = (gen_string)op->a,
                           .second = message});
    return false;
}

void gen_sample(gen_sim *s, const gen_proc *p)
{
    const gen_goroutine *g = p->running;
    gen_fields fields = {.role = g->role, .op = OP_SAMPLE};
    if (s->v2) {
        const uint64_t args[] = {gen_ticks(s), p->thread, (uint64_t)p->id, g->id};
        memcpy(fields.args, args, sizeof args);
    } else {
        const uint64_t args[] = {gen_ticks(s), (uint64_t)p->id, g->id};
        memcpy(fields.args, args, sizeof args);
    }
    gen_emit(s, GEN_SAMPLE, &fields);
}

static bool sample(gen_sim *s, gen_proc *p, gen_goroutine *g, const gen_op *op)
{
    (void)g;
    (void)op;
    if (!gen_has(s, GEN_SAMPLE))
        return true;
    gen_sample(s, p);
    return false;
}

/* ---- coroutines ------------------------------------------------------------------------------ */

static bool coroutine(gen_sim *s, gen_proc *p, gen_goroutine *g, const gen_op *op)
{
    if (!gen_has(s, GEN_SWITCH) || g->partner)
        return true;
    gen_goroutine *made = create_as(s, p, op->a, GEN_CREATE_BLOCKED);
    if (!made)
        return true;
    made->state = GEN_G_WAITING;
    made->partner = g;
    g->partner = made;
    return false;
}

/* The partner continues on the same proc. */
static bool switch_to(gen_sim *s, gen_proc *p, gen_goroutine *g, const gen_op *op)
{
    gen_goroutine *partner = g->partner;
    if (!partner)
        return op->code == OP_SWITCH || end(s, p, g, op);
    bool ends = op->code == OP_SWITCH_END;
    gen_emit(s, ends ? GEN_SWITCH_END : GEN_SWITCH,
             &(gen_fields){.p = p, .g = g, .role = g->role, .op = op->code, .args = {partner->id}});
    g->state = GEN_G_WAITING;
    partner->state = GEN_G_RUNNING;
    p->running = partner;
    if (ends) {
        partner->partner = NULL;
        gen_goroutine_free(s, g);
    }
    return false;
}

/* ---- the next operation ---------------------------------------------------------------------- */

static act *const acts[OP_COUNT] = {
    [OP_END] = end,
    [OP_LOOP] = loop,
    [OP_CREATE] = create,
    [OP_SEND] = do_send,
    [OP_RECV] = do_receive,
    [OP_SELECT] = do_wait,
    [OP_LOCK] = do_lock,
    [OP_UNLOCK] = do_unlock,
    [OP_COND_WAIT] = do_wait,
    [OP_COND_SIGNAL] = do_signal,
    [OP_NET] = do_wait,
    [OP_SLEEP] = do_wait,
    [OP_BLOCK] = block,
    [OP_FOREVER] = forever,
    [OP_SCHED] = sched,
    [OP_SYSCALL] = do_syscall,
    [OP_ALLOC] = alloc,
    [OP_TASK] = task,
    [OP_TASK_END] = task,
    [OP_REGION] = region,
    [OP_REGION_END] = region,
    [OP_LOG] = logs,
    [OP_SAMPLE] = sample,
    [OP_WAKE_TIMERS] = wake_timers,
    [OP_CORO] = coroutine,
    [OP_SWITCH] = switch_to,
    [OP_SWITCH_END] = switch_to,
    [OP_FUTILE] = wait_futile,
    [OP_CALLBACK] = callback,
    [OP_MARK] = mark,
    [OP_GC] = collect,
    [OP_ASSIST] = do_assist,
    [OP_SWEEP] = do_sweep,
    [OP_POPULATE] = populate,
    [OP_COVER] = gen_cover,
    [OP_START] = NULL,
};

void gen_step(gen_sim *s, gen_proc *p)
{
    gen_goroutine *g = p->running;
    /* Limit of operations without an event, for programs that loop without emitting any. */
    enum { MAX_SILENT_OPS = 64 };
    if (g->assisting) {
        assist_step(s, p);
    } else if (g->futile) {
        wait_futile_again(s, p, g);
    } else if ((s->emitted & 127) == 0) { /* its time slice is over */
        gen_preempt(s, p, OP_START);
    } else {
        for (unsigned i = 0; i < MAX_SILENT_OPS; i++) {
            const gen_op *op = &g->role->program[g->pc++];
            if (!acts[op->code](s, p, g, op))
                return;
        }
        gen_preempt(s, p, OP_START);
    }
}
