/* sched.c - procs and threads, queues and stealing, system calls, wake-ups. */
#include <stdlib.h>

#include "cmd/gen/gen.h"

/* Plausible ids of an operating system. The first thread is the runtime's monitor, which takes
 * procs from long system calls. */
enum { FIRST_THREAD = 4711, MONITOR = FIRST_THREAD };

/* ---- memory, slots and threads --------------------------------------------------------------- */

bool gen_sched_init(gen_sim *s, uint32_t procs, uint32_t goroutines)
{
    s->thread_capacity = procs + goroutines + 1;
    s->group_count = goroutines / GEN_GROUP + 1;
    s->procs = calloc(procs, sizeof *s->procs);
    s->order = calloc(procs, sizeof *s->order);
    s->goroutines = calloc(goroutines, sizeof *s->goroutines);
    s->idle_threads = calloc(s->thread_capacity, sizeof *s->idle_threads);
    s->channels = calloc(s->group_count, GEN_CHANNELS * sizeof *s->channels);
    if (!s->procs || !s->order || !s->goroutines || !s->idle_threads || !s->channels)
        return false;
    s->proc_count = procs;
    s->goroutine_count = goroutines;
    s->next_thread = FIRST_THREAD + 1;
    for (uint32_t i = 0; i < procs; i++) {
        s->procs[i] = (gen_proc){.id = i, .place = i};
        s->order[i] = &s->procs[i];
    }
    for (uint32_t i = 0; i < goroutines; i++)
        gen_push(&s->free, &s->goroutines[i]);
    return true;
}

void gen_sched_free(gen_sim *s)
{
    free(s->procs);
    free(s->order);
    free(s->goroutines);
    free(s->idle_threads);
    free(s->channels);
}

/* With --cover, slots are reserved until it is done: for a created goroutine, a coroutine and a
 * callback. Otherwise a profile whose goroutines never end, or take every slot, could prevent some
 * event. */
static bool has_room(const gen_sim *s, const gen_role *role)
{
    enum { RESERVED = 3 };
    return !s->cover || s->cover_done || role < s->roles + GEN_RUNTIME_ROLES ||
           s->free.count > RESERVED;
}

gen_goroutine *gen_goroutine_new(gen_sim *s, const gen_role *role)
{
    gen_goroutine *g = has_room(s, role) ? gen_pop(&s->free) : NULL;
    if (g)
        *g = (gen_goroutine){.id = ++s->last_id,
                             .role = role,
                             .state = GEN_G_RUNNABLE,
                             .lock = gen_below(s, GEN_LOCKS),
                             .group = s->made[role - s->roles]++ % s->group_count};
    return g;
}

void gen_goroutine_free(gen_sim *s, gen_goroutine *g)
{
    g->state = GEN_G_FREE;
    gen_push(&s->free, g);
}

uint32_t gen_new_thread(gen_sim *s)
{
    return s->next_thread++;
}

static uint32_t take_thread(gen_sim *s)
{
    return s->idle_thread_count ? s->idle_threads[--s->idle_thread_count] : gen_new_thread(s);
}

static void return_thread(gen_sim *s, uint32_t thread)
{
    if (s->idle_thread_count < s->thread_capacity)
        s->idle_threads[s->idle_thread_count++] = thread;
}

/* ---- procs ----------------------------------------------------------------------------------- */

/* Exchange the proc with the one at index place of the order. */
static void move(gen_sim *s, gen_proc *p, uint32_t place)
{
    gen_proc *other = s->order[place];
    other->place = p->place;
    s->order[p->place] = other;
    p->place = place;
    s->order[place] = p;
}

void gen_start_proc(gen_sim *s, gen_proc *p)
{
    p->thread = take_thread(s);
    move(s, p, s->awake_count++);
    gen_emit(s, GEN_PROC_START,
             &(gen_fields){.p = p, .args = {s->v2 ? (uint64_t)p->id : p->thread}});
}

bool gen_wake_proc(gen_sim *s)
{
    if (s->awake_count == s->proc_count)
        return false;
    gen_start_proc(s, s->order[s->awake_count]);
    return true;
}

/* The caller handles the proc's thread. */
static void detach_thread(gen_sim *s, gen_proc *p)
{
    p->running = NULL;
    p->thread = 0;
    move(s, p, --s->awake_count);
}

void gen_stop_proc(gen_sim *s, gen_proc *p)
{
    gen_emit(s, GEN_PROC_STOP, &(gen_fields){.p = p});
    return_thread(s, p->thread);
    detach_thread(s, p);
}

void gen_begin_on(gen_sim *s, gen_proc *p, gen_goroutine *g)
{
    p->thread = take_thread(s);
    move(s, p, s->awake_count++);
    g->state = GEN_G_RUNNING;
    p->running = g;
}

/* ---- running --------------------------------------------------------------------------------- */

void gen_start(gen_sim *s, gen_proc *p, gen_goroutine *g)
{
    bool worker = g->role == &s->roles[GEN_ROLE_WORKER];
    gen_fields fields = {
        .p = p, .args = {g->id}, .string = g->id & 1 ? GEN_STRING_WORKER : GEN_STRING_FRACTIONAL};
    gen_emit(s, worker && gen_has(s, GEN_START_LABEL) ? GEN_START_LABEL : GEN_START, &fields);
    g->state = GEN_G_RUNNING;
    p->running = g;
    fields.g = g;
    if (worker)
        gen_emit(s, GEN_LABEL, &fields);
}

void gen_leave(gen_sim *s, gen_proc *p, gen_event event, gen_op_code op, gen_string why)
{
    gen_goroutine *g = p->running;
    gen_emit(s, event, &(gen_fields){.p = p, .g = g, .role = g->role, .op = op, .string = why});
    p->running = NULL;
}

void gen_wait(gen_sim *s, gen_proc *p, gen_queue *queue, gen_event event, gen_op_code op,
              gen_string why)
{
    gen_goroutine *g = p->running;
    gen_leave(s, p, event, op, why);
    g->state = GEN_G_WAITING;
    gen_push(queue, g);
}

void gen_ready(gen_sim *s, gen_proc *p, gen_goroutine *g, gen_op_code op)
{
    gen_goroutine *by = p->running;
    gen_emit(
        s, GEN_UNBLOCK,
        &(gen_fields){.p = p, .g = by, .role = by ? by->role : NULL, .op = op, .args = {g->id}});
    g->state = GEN_G_RUNNABLE;
    gen_push(&p->queue, g);
    if (p->queue.count > 1 && s->awake_count < s->proc_count && gen_chance(s, 128)) {
        gen_advance_clock(s);
        gen_wake_proc(s);
    }
}

/* Take half of another proc's queue. */
static gen_goroutine *steal(gen_sim *s, gen_proc *p)
{
    for (unsigned attempt = 0; attempt < 4; attempt++) {
        gen_proc *victim = &s->procs[gen_below(s, s->proc_count)];
        if (victim == p || victim->queue.count == 0)
            continue;
        for (uint32_t n = victim->queue.count / 2; n > 0; n--)
            gen_push(&p->queue, gen_pop(&victim->queue));
        return gen_pop(p->queue.count ? &p->queue : &victim->queue);
    }
    return NULL;
}

static gen_goroutine *find_worker(gen_sim *s, gen_proc *p)
{
    if (!s->marking || !s->workers.head || !gen_chance(s, 32))
        return NULL;
    gen_goroutine *g = gen_pop(&s->workers);
    gen_emit(s, GEN_UNBLOCK, &(gen_fields){.p = p, .args = {g->id}});
    gen_advance_clock(s);
    return g;
}

void gen_schedule(gen_sim *s, gen_proc *p)
{
    /* Even under load, check from time to time for what is due, and for goroutines in the global
     * queue. */
    uint64_t r = gen_random(s);
    if ((r & 7) == 0)
        gen_poll(s, p);
    gen_goroutine *g = find_worker(s, p);
    if (!g && (r >> 32 & 63) == 0)
        g = gen_pop(&s->runnable);
    if (!g)
        g = gen_pop(&p->queue);
    if (!g)
        g = gen_pop(&s->runnable);
    if (!g)
        g = steal(s, p);
    if (g) {
        gen_start(s, p, g);
    } else if (gen_chance(s, 128)) {
        gen_poll(s, p);
    } else {
        gen_stop_proc(s, p);
    }
}

/* ---- system calls ---------------------------------------------------------------------------- */

void gen_syscall(gen_sim *s, gen_proc *p, unsigned blocks)
{
    gen_goroutine *g = p->running;
    gen_emit(s, GEN_SYSCALL, &(gen_fields){.p = p, .g = g, .role = g->role, .op = OP_SYSCALL});
    g->state = GEN_G_CALLING;
    p->blocks = gen_chance(s, blocks);
}

void gen_hand_off(gen_sim *s, gen_proc *p, const gen_proc *by)
{
    gen_goroutine *g = p->running;
    gen_fields fields = {.p = p, .g = g};
    gen_emit(s, GEN_SYSCALL_BLOCK, &fields);
    if (s->v2) {
        fields = (gen_fields){.p = by,
                              .g = by ? by->running : NULL,
                              .thread = by ? 0 : MONITOR,
                              .args = {(uint64_t)p->id, p->thread}};
        gen_emit(s, GEN_PROC_STEAL, &fields);
    } else {
        gen_emit(s, GEN_PROC_STOP, &(gen_fields){.p = p});
    }
    g->state = GEN_G_BLOCKED;
    g->thread = p->thread;
    gen_push(&s->blocked, g);
    detach_thread(s, p);
}

void gen_syscall_step(gen_sim *s, gen_proc *p)
{
    gen_goroutine *g = p->running;
    if (p->blocks) {
        gen_hand_off(s, p, NULL);
        /* Another thread takes the proc to run its queue. */
        if (p->queue.count || s->runnable.count) {
            gen_advance_clock(s);
            gen_start_proc(s, p);
        }
        return;
    }
    g->state = GEN_G_RUNNING;
    if (gen_has(s, GEN_SYSCALL_END))
        gen_emit(s, GEN_SYSCALL_END, &(gen_fields){.p = p, .g = g});
    else
        gen_step(s, p);
}

static void return_from_call(gen_sim *s, gen_goroutine *g)
{
    gen_emit(
        s, GEN_SYSCALL_EXIT,
        &(gen_fields){.g = s->v2 ? g : NULL, .thread = g->thread, .args = {g->id, gen_ticks(s)}});
    return_thread(s, g->thread);
    g->state = GEN_G_RUNNABLE;
    gen_push(&s->runnable, g);
    gen_advance_clock(s);
}

void gen_syscall_return(gen_sim *s)
{
    gen_goroutine *g = gen_pop(&s->blocked);
    if (!g)
        return;
    if (gen_chance(s, 64)) { /* this call takes longer */
        gen_push(&s->blocked, g);
        g = gen_pop(&s->blocked);
    }
    return_from_call(s, g);
}

/* A C thread calls Go. */
void gen_callback(gen_sim *s)
{
    gen_goroutine *g = gen_goroutine_new(s, &s->roles[GEN_ROLE_CALLBACK]);
    if (!g)
        return;
    g->thread = take_thread(s);
    gen_emit(s, GEN_CREATE_SYSCALL, &(gen_fields){.thread = g->thread, .args = {g->id}});
    gen_advance_clock(s);
    return_from_call(s, g);
}

/* Return from Go to C. The thread leaves the runtime, and its proc stays in the call until it is
 * stolen. */
void gen_callback_end(gen_sim *s, gen_proc *p)
{
    gen_goroutine *g = p->running;
    gen_syscall(s, p, 0);
    gen_advance_clock(s);
    gen_emit(s, GEN_END_SYSCALL, &(gen_fields){.p = p, .g = g});
    gen_advance_clock(s);
    gen_emit(s, GEN_PROC_STEAL,
             &(gen_fields){.thread = MONITOR, .args = {(uint64_t)p->id, p->thread}});
    return_thread(s, p->thread);
    detach_thread(s, p);
    gen_goroutine_free(s, g);
}

/* ---- wake-ups -------------------------------------------------------------------------------- */

/* Make up to `most` goroutines of the queue runnable. */
static bool release(gen_sim *s, gen_proc *p, gen_queue *queue, uint32_t most)
{
    gen_goroutine *g;
    uint32_t count = 0;
    for (; count < most && (g = gen_pop(queue)); count++) {
        gen_ready(s, p, g, OP_NET);
        gen_advance_clock(s);
    }
    return count > 0;
}

/* Timers. Until 1.18 a goroutine of the runtime wakes sleeping goroutines. */
static bool release_sleeping(gen_sim *s, gen_proc *p)
{
    if (s->now < s->next_timer)
        return false;
    s->next_timer = s->now + 10000 + gen_below(s, 50000);
    bool found = s->sleeping.count && release(s, p, s->timers.count ? &s->timers : &s->sleeping, 1);
    return release(s, p, &s->selecting, 1) || found;
}

/* Nothing else can run: wake a goroutine that waits for others. */
static bool release_any(gen_sim *s, gen_proc *p)
{
    uint32_t count = s->group_count * GEN_CHANNELS;
    for (uint32_t i = 0; i < count; i++) {
        gen_channel *channel = &s->channels[(i + s->turn) % count];
        if (release(s, p, &channel->receivers, 1) || release(s, p, &channel->senders, 1)) {
            s->turn = (s->turn + i + 1) % count;
            return true;
        }
    }
    return release(s, p, &s->conds, 1) || release(s, p, &s->assists, 1);
}

void gen_poll(gen_sim *s, gen_proc *p)
{
    if (s->blocked.count && gen_chance(s, 128))
        gen_syscall_return(s);
    bool found = release(s, p, &s->net, 1 + gen_below(s, 3));
    found |= release_sleeping(s, p);
    if (!found && !s->blocked.count && !s->sleeping.count && !s->selecting.count)
        release_any(s, p);
}
