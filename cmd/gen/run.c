/* run.c - run the simulator: the initial state, and the choice of the proc that runs next. */
#include "cmd/gen/gen.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Go's tracers count in units of 16 ns until 1.21, and of 64 ns from 1.22 on (amd64). */
static const struct {
    unsigned shift;
    uint64_t frequency;
} clocks[] = {{4, 62500000}, {6, 15625000}};

/* Tracing starts when the machine has been up for an hour. */
#define START_NS 3600000000000u

enum { SAMPLE_NS = 10000000, FIRST_SAMPLE_NS = 100000 };
enum { FIRST_TIMED_BY_PROCS = 19, FIRST_WITH_SAMPLES = 19 };

/* ---- initial state --------------------------------------------------------------------------- */

/* Add a goroutine that exists when tracing starts, waiting or blocked in a system call. */
static gen_goroutine *add_existing(gen_sim *s, unsigned role, gen_queue *queue)
{
    gen_proc *p = &s->procs[0];
    gen_goroutine *g = gen_goroutine_new(s, &s->roles[role]);
    if (!g)
        return NULL;
    bool calls = queue == &s->blocked;
    g->state = calls ? GEN_G_BLOCKED : GEN_G_WAITING;
    g->thread = calls ? gen_new_thread(s) : 0;
    gen_push(queue, g);
    if (s->v2) {
        enum { IN_SYSCALL = 3, WAITING = 4 };
        uint64_t thread = calls ? g->thread : UINT64_MAX;
        gen_emit(s, GEN_STATUS,
                 &(gen_fields){.p = p,
                               .g = p->running,
                               .args = {g->id, thread, calls ? IN_SYSCALL : WAITING}});
    } else {
        gen_fields fields = {.p = p, .start = g->role, .args = {g->id}};
        gen_emit(s, GEN_CREATE, &fields);
        gen_emit(s, calls ? GEN_IN_SYSCALL : GEN_WAITING, &fields);
    }
    return g;
}

/* Goroutines of the runtime continue after the instruction at which they wait. */
static gen_goroutine *add_existing_blocked(gen_sim *s, unsigned role, gen_queue *queue)
{
    gen_goroutine *g = add_existing(s, role, queue);
    if (g)
        g->pc = 1;
    return g;
}

static void begin(gen_sim *s)
{
    gen_proc *p = &s->procs[0];
    gen_goroutine *first = gen_goroutine_new(s, &s->roles[GEN_RUNTIME_ROLES]);
    if (s->v2) /* the writer adds the statuses */
        gen_begin_on(s, p, first);
    else
        gen_emit(s, GEN_CREATE, &(gen_fields){.p = p, .start = first->role, .args = {first->id}});
    for (uint32_t i = 0; i < 1 + s->proc_count / 4 && i < GEN_MIN_GOROUTINES / 4; i++)
        add_existing_blocked(s, GEN_ROLE_WORKER, &s->workers);
    add_existing_blocked(s, GEN_ROLE_SWEEPER, &s->sweepers);
    add_existing(s, GEN_RUNTIME_ROLES + 1, &s->blocked);
    s->timer_id = first->id;
    if (!s->v2 && s->version < FIRST_TIMED_BY_PROCS) {
        s->timer_id = add_existing(s, GEN_ROLE_TIMER, &s->timers)->id;
        gen_emit(s, GEN_TIMER_GOROUTINE, &(gen_fields){.p = p, .args = {s->timer_id}});
    }
    if (!s->v2) {
        gen_start_proc(s, p);
        gen_start(s, p, first);
    }
    gen_emit(
        s, GEN_PROCS,
        &(gen_fields){
            .p = p, .g = first, .role = first->role, .op = OP_POPULATE, .args = {s->proc_count}});
    /* v1 orders samples by time alone. The first one must come after the initial events, whose
     * timestamps are raised. */
    if (!s->v2)
        s->next_sample = s->now + FIRST_SAMPLE_NS;
}

/* ---- main loop ------------------------------------------------------------------------------- */

/* Whether every event that --cover requires was emitted. */
static bool is_covered(const gen_sim *s)
{
    for (int event = 0; s->cover_done && event < GEN_EVENT_COUNT; event++)
        if (gen_misses(s, (gen_event)event))
            return false;
    return s->cover_done;
}

static void sample_one(gen_sim *s)
{
    const gen_proc *p = s->order[gen_below(s, s->awake_count)];
    s->next_sample = s->now + SAMPLE_NS / s->awake_count;
    if (p->running && p->running->state == GEN_G_RUNNING)
        gen_sample(s, p);
}

/* Every proc is idle: advance to the next timer. */
static void idle(gen_sim *s)
{
    s->now += 4000 + gen_below(s, 20000);
    if (s->now < s->next_timer && !s->net.count && !s->blocked.count)
        s->now = s->next_timer;
    gen_wake_proc(s);
    gen_advance_clock(s);
    gen_poll(s, s->order[0]);
}

static void step(gen_sim *s)
{
    uint64_t r = gen_random(s);
    gen_proc *p = s->order[((r >> 32) * s->awake_count) >> 32];
    if (s->blocked.count && (r & 15) == 0)
        gen_syscall_return(s);
    if (s->now >= s->next_sample && gen_has(s, GEN_SAMPLE))
        sample_one(s);
    if (s->v2 && s->now >= s->next_generation)
        gen_next_generation(s);
    for (unsigned turns = 1 + (r >> 4 & 7); turns > 0 && p->place < s->awake_count; turns--) {
        s->now += 64 + (gen_random(s) & 511);
        if (!p->running)
            gen_schedule(s, p);
        else if (p->running->state == GEN_G_CALLING)
            gen_syscall_step(s, p);
        else
            gen_step(s, p);
    }
}

static void simulate_events(gen_sim *s, uint64_t events)
{
    /* The events of --cover come early; the limit is for a profile that prevents one. */
    enum { EXTRA_EVENTS = 1 << 22 };
    begin(s);
    while (!s->failed && (s->emitted < events ||
                          (s->cover && !is_covered(s) && s->emitted < events + EXTRA_EVENTS))) {
        if (s->awake_count)
            step(s);
        else
            idle(s);
    }
}

/* Preempt the goroutine of a proc, out of a system call if need be. */
static void interrupt(gen_sim *s, gen_proc *p)
{
    if (p->running && p->running->state == GEN_G_CALLING) {
        p->running->state = GEN_G_RUNNING;
        gen_emit(s, GEN_SYSCALL_END, &(gen_fields){.p = p, .g = p->running});
        gen_advance_clock(s);
    }
    if (p->running)
        gen_preempt(s, p, OP_START);
    gen_advance_clock(s);
}

static void reach_end_state(gen_sim *s, gen_tail *tail)
{
    gen_advance_clock(s);
    gen_next_generation(s);
    gen_advance_clock(s);
    if (s->awake_count == 0)
        gen_wake_proc(s);
    gen_proc *p = s->order[0];
    interrupt(s, p);
    s->last = (gen_goroutine){.id = ++s->last_id, .role = &s->roles[GEN_ROLE_COVER_PEER]};
    gen_emit(s, GEN_CREATE, &(gen_fields){.p = p, .start = s->last.role, .args = {s->last.id}});
    gen_advance_clock(s);
    gen_start(s, p, &s->last);
    gen_advance_clock(s);
    if (s->marking)
        gen_gc_end(s, p);
    while (s->awake_count > 1 && !s->failed) {
        gen_proc *q = s->order[s->awake_count - 1];
        if (q == p)
            q = s->order[s->awake_count - 2];
        interrupt(s, q);
        gen_stop_proc(s, q);
    }
    gen_advance_clock(s);
    gen_emit(s, GEN_HEAP, &(gen_fields){.p = p, .g = &s->last, .args = {s->heap}});
    *tail = (gen_tail){.proc = (uint64_t)p->id, .thread = p->thread, .goroutine = s->last.id};
}

/* ---- the job --------------------------------------------------------------------------------- */

static gotrace_status refuse(gotrace_error *error, const char *what, uint64_t number)
{
    const gotrace_rule_info *info = gotrace_rule_describe(GOTRACE_RULE_USAGE);
    *error = (gotrace_error){
        .rule = GOTRACE_RULE_USAGE, .severity = info->severity, .class_ = info->class_};
    snprintf(error->message, sizeof error->message, "%s, not %llu", what,
             (unsigned long long)number);
    return GOTRACE_ERROR;
}

static gotrace_status check(const gen_job *job, gotrace_error *error)
{
    if (job->procs < 1 || job->procs > GEN_MAX_PROCS)
        return refuse(error, "the number of procs must be 1 to 1024", job->procs);
    if (job->goroutines < GEN_MIN_GOROUTINES || job->goroutines > GEN_MAX_GOROUTINES)
        return refuse(error, "the number of goroutines must be 16 to 1000000", job->goroutines);
    /* With a single proc nothing is stolen or stopped by another proc. */
    if (job->cover && job->procs < 2)
        return refuse(error, "covering all events needs two procs", job->procs);
    return GOTRACE_OK;
}

static void set_up(gen_sim *s, const gen_job *job)
{
    s->version = job->version;
    s->v2 = job->version >= GOTRACE_FIRST_V2;
    s->cover = job->cover;
    s->tick_shift = clocks[s->v2].shift;
    s->now = START_NS;
    s->random = job->seed;
    const gen_profile *profile = s->profile = gen_profile_by_name(job->profile);
    memcpy(s->roles, gen_runtime_roles, sizeof gen_runtime_roles);
    memcpy(s->roles + GEN_RUNTIME_ROLES, profile->roles,
           profile->role_count * sizeof *profile->roles);
    s->role_count = GEN_RUNTIME_ROLES + profile->role_count;
    gen_gc_init(s);
    gen_generation_begun(s);
}

gotrace_status gen_write(const gen_job *job, gotrace_write_fn write, void *ctx,
                         const gotrace_config *config, gotrace_error *error)
{
    return gen_run(job, NULL, write, ctx, config, error);
}

static gotrace_status no_memory(gotrace_error *error)
{
    *error = (gotrace_error){.rule = GOTRACE_RULE_SYSTEM_MEMORY,
                             .severity = GOTRACE_FATAL,
                             .class_ = GOTRACE_CLASS_SYSTEM,
                             .message = "out of memory"};
    return GOTRACE_ERROR;
}

typedef struct running {
    gen_sim *sim;
    gen_layouts layouts;
    gen_tail *tail;
    uint64_t events;
} running;

static void fill(void *ctx, gen_pipe *pipe)
{
    running *r = ctx;
    r->sim->pipe = pipe;
    r->sim->layouts = &r->layouts;
    simulate_events(r->sim, r->events);
    if (r->tail)
        reach_end_state(r->sim, r->tail);
    gen_emit_end(r->sim);
}

static gotrace_status run_parallel(running *r, gotrace_writer *writer, gotrace_error *error)
{
    gen_sink *sink = gen_sink_new(writer, &r->layouts, r->sim->roles);
    gen_pipe_end end = sink ? gen_pipe_run(fill, r, gen_sink_take, sink) : GEN_PIPE_NO_MEMORY;
    gen_sink_free(sink);
    if (end == GEN_PIPE_NO_MEMORY)
        return no_memory(error);
    gotrace_status status = end == GEN_PIPE_TAKEN ? gotrace_writer_finish(writer) : GOTRACE_ERROR;
    if (status < 0)
        *error = *gotrace_writer_error(writer);
    return status;
}

gotrace_status gen_run(const gen_job *job, gen_tail *tail, gotrace_write_fn write, void *ctx,
                       const gotrace_config *config, gotrace_error *error)
{
    if (check(job, error) < 0)
        return GOTRACE_ERROR;
    gen_sim *s = calloc(1, sizeof *s);
    gotrace_status status = GOTRACE_ERROR;
    if (!s || !gen_sched_init(s, (uint32_t)job->procs, (uint32_t)job->goroutines)) {
        no_memory(error);
    } else {
        set_up(s, job);
        gotrace_writer_options options = {.frequency = clocks[s->v2].frequency,
                                          .generation_ticks = UINT64_MAX};
        gotrace_writer *writer;
        status = gotrace_writer_new(job->version, &options, write, ctx, config, &writer, error);
        if (status >= 0) {
            running r = {.sim = s, .tail = tail, .events = job->events};
            gen_layouts_init(&r.layouts, job->version);
            status = run_parallel(&r, writer, error);
            gotrace_writer_free(writer);
        }
    }
    if (s)
        gen_sched_free(s);
    free(s);
    return status;
}
