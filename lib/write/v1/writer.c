/*
 * writer.c - v1: what an event asks of goroutines and procs, what it does to them, and which
 * record says so.
 *
 * What is asked is what our reader asks (order.c, state.c), after Go's postProcessTrace. Sequence
 * numbers and short forms are given as the seeds' traceGoStart, traceGoUnpark and traceGoSysExit
 * give them: traceseq is gt_w_goroutine.seq, tracelastp is last_proc.
 */
#include "write/writer.h"

/* For %llu. */
static unsigned long long num(uint64_t n)
{
    return n;
}

/* ---- records -------------------------------------------------------------------------------- */

/* Write a record; given is the event whose stack and message it repeats, or NULL if the writer adds
 * it. */
static bool write(gotrace_writer *w, int64_t proc, unsigned code, const uint64_t *args,
                  size_t count, const gotrace_event_data *given)
{
    static const gotrace_event_data nothing;
    const gotrace_event_data *h = given ? given : &nothing;
    gotrace_encoder *e = w->encoder;
    if (w->version < 7)
        w->seq++;
    if (gt_encoder_event(e, proc, e->specs[code], w->now, w->seq, args, count, h->stack, h->data,
                         h->data_size) != GOTRACE_OK)
        return gt_w_broken(w), false;
    /* What happens later must not come before a stamp that was raised, on whatever proc. */
    if (e->event_ticks > w->now && e->shapes[code].action != GT_ACTION_SAMPLE)
        w->now = e->event_ticks;
    return true;
}

/* One that the writer adds. */
static bool put(gt_w_step *s, int64_t proc, unsigned code, const uint64_t *args, size_t count)
{
    return write(s->w, proc, code, args, count, NULL);
}

/* The given event with these arguments. */
static bool put_as(gt_w_step *s, unsigned code, const uint64_t *args, size_t count)
{
    return write(s->w, s->h->proc, code, args, count, s->h);
}

static bool put_given(gt_w_step *s)
{
    return put_as(s, s->code, s->h->args, s->h->arg_count);
}

/* Whether this version has that event. */
static bool has_event(const gotrace_writer *w, unsigned code)
{
    return code != 0 && w->encoder->shapes[code].values != 0;
}

/* The given event with the next sequence number of the goroutine that it names. The tracer uses the
 * local form, if there is one, where the goroutine's last event happened on the same proc. */
static bool put_numbered(gt_w_step *s, gt_w_goroutine *g)
{
    const gotrace_event_data *h = s->h;
    uint64_t args[GOTRACE_MAX_ARGS] = {g->id, ++g->seq};
    unsigned local = s->shape->local;
    bool same = has_event(s->w, local) && g->last_proc == h->proc;
    if (local)
        g->last_proc = h->proc;
    for (size_t i = 1; i < h->arg_count; i++)
        args[i + 1] = h->args[i];
    return same ? put_as(s, local, args, 1) : put_as(s, s->code, args, s->shape->slots);
}

/* The same for what concerns the whole program, and is ordered by time alone. */
static bool put_global(gt_w_step *s, const uint64_t *args, size_t count)
{
    gt_w_after(s->w, s->h->proc, 0);
    bool good = put_as(s, s->code, args, count);
    gt_w_mark(s->w, s->h->proc, 0);
    return good;
}

/* ---- what was there before the trace began -------------------------------------------------- */

/* It just blocked in a system call, or is found in one. */
static void block(const gt_w_step *s, gt_w_goroutine *g)
{
    g->blocked = s->w->now;
    g->blocked_given = s->w->given;
}

/* The event that reports a goroutine as found in that state; 0: none has to, it is just created. */
static unsigned report_of(const gotrace_writer *w, uint8_t state)
{
    const gt_v1_shape *shapes = w->encoder->shapes;
    for (unsigned code = 0; code < GT_V1_EVENT_COUNT; code++)
        if (shapes[code].action == GT_ACTION_FOUND && shapes[code].to == state)
            return code;
    return 0;
}

/* Add an unknown goroutine, in that gotrace_state at the start of the trace. */
static gt_w_goroutine *introduce(gt_w_step *s, uint64_t id, int64_t proc, uint8_t state)
{
    gt_w_goroutine *g = gt_w_make_goroutine(s->w, id);
    const uint64_t args[2] = {id, 0};
    if (!g || !put(s, proc, GOTRACE_V1_GoCreate, args, 2))
        return NULL;
    g->created = s->w->now;
    g->last_proc = proc;
    g->state = GT_W_RUNNABLE;
    unsigned found = report_of(s->w, state);
    if (!found)
        return g;
    if (!put(s, proc, found, args, 1))
        return NULL;
    g->seq = 1;
    g->state = gt_w_state_of(state);
    block(s, g);
    return g;
}

/* The proc of the event runs, and says so if nobody did. */
static bool start_proc(gt_w_step *s)
{
    gt_w_proc *p = s->p;
    if (p->state != GT_W_UNKNOWN || p->id < 0)
        return true;
    uint64_t thread = s->h->thread == GOTRACE_NO_THREAD ? (uint64_t)p->id : (uint64_t)s->h->thread;
    p->state = GT_W_BUSY;
    return put(s, p->id, GOTRACE_V1_ProcStart, &thread, 1);
}

static void run_on(gt_w_proc *p, gt_w_goroutine *g)
{
    if (p->goroutine)
        p->goroutine->proc = NULL;
    if (g->proc)
        g->proc->goroutine = NULL;
    p->goroutine = g;
    g->proc = p;
    g->state = GT_W_RUNNING;
}

static void leave_proc(gt_w_goroutine *g)
{
    if (g->proc)
        g->proc->goroutine = NULL;
    g->proc = NULL;
}

/* Whether the event happens in the context of what runs on its proc. */
static bool is_in_context(const gt_w_step *s)
{
    return s->shape->context_running != 0;
}

/* The given goroutine runs on the proc, or may run there. */
static bool check_context(gt_w_step *s)
{
    uint64_t id = s->h->goroutine;
    s->g = s->p->goroutine;
    if (id == 0 || !is_in_context(s) || (s->g && s->g->id == id))
        return true;
    if (s->g)
        return gt_w_refuse(s->w, GOTRACE_RULE_GO_RUNNING,
                           "%s: proc %lld runs goroutine %llu, it has to run %llu", gt_w_name(s),
                           (long long)s->p->id, num(s->g->id), num(id));
    gt_w_goroutine *g = gt_w_find_goroutine(s->w, id);
    if (!g && !gt_w_has_ended(s->w, id))
        return true;
    return gt_w_refuse(s->w, GOTRACE_RULE_GO_RUNNING,
                       "%s: goroutine %llu is %s, it has to be running on proc %lld", gt_w_name(s),
                       num(id),
                       !g                         ? "ended"
                       : g->state == GT_W_RUNNING ? "running elsewhere"
                                                  : gt_w_state_name(g->state),
                       (long long)s->p->id);
}

/* Make it so: unknown context is written before the event. */
static bool enter_context(gt_w_step *s)
{
    uint64_t id = s->h->goroutine;
    if (s->g || id == 0 || !is_in_context(s) || gt_w_find_goroutine(s->w, id) ||
        gt_w_has_ended(s->w, id))
        return true;
    if (!start_proc(s))
        return false;
    gt_w_goroutine *g = introduce(s, id, s->p->id, GOTRACE_STATE_RUNNABLE);
    if (!g)
        return false;
    const uint64_t args[2] = {id, ++g->seq};
    run_on(s->p, g);
    s->g = g;
    unsigned local = s->w->encoder->shapes[GOTRACE_V1_GoStart].local;
    return put(s, s->p->id, has_event(s->w, local) ? local : GOTRACE_V1_GoStart, args, 1);
}

static bool check_running(gt_w_step *s)
{
    if (s->g || (s->h->goroutine != 0 && !gt_w_find_goroutine(s->w, s->h->goroutine)))
        return true;
    return gt_w_refuse(s->w, GOTRACE_RULE_GO_RUNNING, "%s: nothing runs on proc %lld", gt_w_name(s),
                       (long long)s->p->id);
}

/* ---- goroutines ----------------------------------------------------------------------------- */

/* To readers goroutine 0 is there from the beginning, and runs: it stands for none. */
static bool check_id(gt_w_step *s, uint64_t id)
{
    return id != 0 ||
           gt_w_refuse(s->w, GOTRACE_RULE_GO_CREATE,
                       "%s: goroutine 0 stands for none; ids begin with 1", gt_w_name(s));
}

/* The rule that says in which state the goroutine has to be that the event names, and what is wrong
 * with it. */
static bool refuse_state(gt_w_step *s, uint64_t id, const char *is)
{
    gotrace_writer *w = s->w;
    const char *wanted = gt_w_state_name(gt_w_state_of(s->shape->from));
    switch ((gt_action)s->shape->action) {
    case GT_ACTION_START:
        return gt_w_refuse(w, GOTRACE_RULE_GO_START,
                           "goroutine %llu starts, but it is %s; it has to be %s", num(id), is,
                           wanted);
    case GT_ACTION_WAKE:
        return gt_w_refuse(w, GOTRACE_RULE_GO_UNBLOCK,
                           "goroutine %llu is unblocked, but it is %s; it has to be %s", num(id),
                           is, wanted);
    case GT_ACTION_EXIT:
        return gt_w_refuse(w, GOTRACE_RULE_GO_SYSEXIT,
                           "goroutine %llu leaves a system call, but it is %s; it has to be in one "
                           "that blocked",
                           num(id), is);
    default:
        return gt_w_refuse(w, GOTRACE_RULE_GO_INITIAL,
                           "%s: goroutine %llu is %s, it has to be just created", gt_w_name(s),
                           num(id), is);
    }
}

/* The goroutine that the event names is in the state that its row asks for, or may be: nobody told
 * of it (g NULL). One that is found in a state has done nothing yet. */
static bool check_state(gt_w_step *s, const gt_w_goroutine *g, uint64_t id)
{
    if (!check_id(s, id))
        return false;
    if (!g)
        return !gt_w_has_ended(s->w, id) || refuse_state(s, id, "ended");
    bool acted = s->shape->does->initial && g->seq != 0;
    return (g->state == gt_w_state_of(s->shape->from) && !acted) ||
           refuse_state(s, id, gt_w_state_name(g->state));
}

static bool create(gt_w_step *s)
{
    uint64_t id = s->h->args[0];
    if (!check_id(s, id))
        return false;
    bool known = gt_w_find_goroutine(s->w, id) != NULL;
    if ((known || gt_w_has_ended(s->w, id)) &&
        !gt_w_refuse(s->w, GOTRACE_RULE_GO_CREATE, "goroutine %llu is created, but there %s one",
                     num(id), known ? "is" : "was"))
        return false;
    if (!enter_context(s))
        return false;
    gt_w_goroutine *g = gt_w_make_goroutine(s->w, id);
    if (!g)
        return false;
    leave_proc(g);
    g->seq = 0;
    g->last_proc = s->p->id;
    g->state = gt_w_state_of(s->shape->to);
    g->left = false;
    bool good = put_given(s);
    g->created = s->w->now;
    return good;
}

/* What it left long ago is written where it goes on: where stamps have to differ, the tick before,
 * so that the next event keeps its own. */
static bool write_exit(gt_w_step *s, gt_w_goroutine *g, int64_t proc)
{
    uint64_t number = ++g->seq, now = s->w->now;
    const uint64_t args[3] = {g->id, s->w->version < 7 ? g->left_seq : number, g->left_ticks};
    g->left = false;
    g->last_proc = proc;
    if ((s->w->encoder->tracer->flags & GT_TRACER_RAISES) && now > g->blocked)
        s->w->now--;
    bool good = put(s, proc, GOTRACE_V1_GoSysExit, args, 3);
    if (s->w->now < now)
        s->w->now = now;
    return good;
}

static bool start(gt_w_step *s)
{
    gt_w_proc *p = s->p;
    uint64_t id = s->h->args[0];
    gt_w_goroutine *g = gt_w_find_goroutine(s->w, id);
    if (!check_state(s, g, id))
        return false;
    if (p->goroutine &&
        !gt_w_refuse(s->w, GOTRACE_RULE_GO_START,
                     "goroutine %llu cannot start on proc %lld: goroutine %llu runs there", num(id),
                     (long long)p->id, num(p->goroutine->id)))
        return false;
    if (!start_proc(s) || (!g && !(g = introduce(s, id, p->id, s->shape->from))) ||
        (g->left && !write_exit(s, g, p->id)))
        return false;
    run_on(p, g);
    return put_numbered(s, g);
}

static bool stop(gt_w_step *s)
{
    if (!check_running(s) || !enter_context(s) || !put_given(s))
        return false;
    gt_w_goroutine *g = s->g;
    if (!g)
        return true;
    leave_proc(g);
    g->state = s->shape->does->forever ? GT_W_STOPPED : gt_w_state_of(s->shape->to);
    if (g->state == GT_W_NONE)
        return gt_w_end_goroutine(s->w, g) == GOTRACE_OK;
    if (g->state == GT_W_SYSCALL)
        block(s, g);
    if (g->state == GT_W_RUNNABLE)
        g->last_proc = s->p->id;
    return true;
}

static bool unblock(gt_w_step *s)
{
    uint64_t id = s->h->args[0];
    gt_w_goroutine *g = gt_w_find_goroutine(s->w, id);
    if (!check_state(s, g, id) || !enter_context(s) ||
        (!g && !(g = introduce(s, id, s->p->id, s->shape->from))))
        return false;
    leave_proc(g);
    g->state = gt_w_state_of(s->shape->to);
    return put_numbered(s, g);
}

static bool found(gt_w_step *s)
{
    uint64_t id = s->h->args[0];
    gt_w_goroutine *g = gt_w_find_goroutine(s->w, id);
    if (!check_state(s, g, id) || (!g && !(g = introduce(s, id, s->p->id, s->shape->from))))
        return false;
    leave_proc(g);
    g->seq = 1;
    g->state = gt_w_state_of(s->shape->to);
    bool good = put_given(s);
    block(s, g);
    return good;
}

/* ---- ends of system calls ------------------------------------------------------------------- */

static bool check_exit(gt_w_step *s, gt_w_goroutine *g, uint64_t ticks)
{
    uint64_t id = s->h->args[0];
    if (!check_state(s, g, id))
        return false;
    return !g || ticks == 0 || ticks >= g->blocked_given ||
           gt_w_refuse(s->w, GOTRACE_RULE_TIME_SYSCALL,
                       "goroutine %llu left its system call %llu tick%s before it blocked in it",
                       num(id), num(g->blocked_given - ticks), gt_plural(g->blocked_given - ticks));
}

/* Its stamp: where that of its beginning had to be raised, it is not before. */
static uint64_t exit_ticks(const gt_w_step *s, const gt_w_goroutine *g, uint64_t ticks)
{
    bool believed = s->w->options.believe && ticks < g->blocked_given;
    return ticks < g->blocked && !believed ? g->blocked : ticks;
}

/* The goroutine has left a system call, and has no proc: the tracer notes when, and writes the
 * event where the goroutine goes on. */
static bool keep_exit(gt_w_step *s)
{
    gotrace_writer *w = s->w;
    uint64_t id = s->h->args[0], ticks = s->h->args[1] ? s->h->args[1] : w->now;
    gt_w_goroutine *g = gt_w_find_goroutine(w, id);
    if (!check_exit(s, g, ticks))
        return false;
    if (!g && !(g = introduce(s, id, w->last_proc ? w->last_proc->id : 0, s->shape->from)))
        return false;
    leave_proc(g);
    g->state = gt_w_state_of(s->shape->to);
    g->left = true;
    g->left_ticks = exit_ticks(s, g, ticks);
    if (w->version < 7)
        g->left_seq = ++w->seq;
    return true;
}

static bool exit_here(gt_w_step *s)
{
    gotrace_writer *w = s->w;
    uint64_t id = s->h->args[0], ticks = s->h->args[1];
    gt_w_goroutine *g = gt_w_find_goroutine(w, id);
    if (!check_exit(s, g, ticks))
        return false;
    if (!g && !(g = introduce(s, id, s->p->id, s->shape->from)))
        return false;
    leave_proc(g);
    g->state = gt_w_state_of(s->shape->to);
    g->last_proc = s->p->id;
    uint64_t number = ++g->seq;
    /* Until 1.6 there is no such event without its time. */
    if (w->version < 7 && ticks == 0)
        ticks = w->now;
    if (ticks != 0)
        ticks = exit_ticks(s, g, ticks);
    const uint64_t args[3] = {id, w->version < 7 ? w->seq + 1 : number, ticks};
    return put_as(s, s->code, args, 3);
}

/* ---- procs, the GC, what the program says --------------------------------------------------- */

static bool proc_start(gt_w_step *s)
{
    if (s->p->state == GT_W_BUSY &&
        !gt_w_refuse(s->w, GOTRACE_RULE_PROC_START, "proc %lld starts, but it is running",
                     (long long)s->p->id))
        return false;
    s->p->state = GT_W_BUSY;
    return put_given(s);
}

static bool proc_stop(gt_w_step *s)
{
    gt_w_proc *p = s->p;
    if (p->state == GT_W_IDLE &&
        !gt_w_refuse(s->w, GOTRACE_RULE_PROC_STOP, "proc %lld stops, but it is not running",
                     (long long)p->id))
        return false;
    if (p->goroutine &&
        !gt_w_refuse(s->w, GOTRACE_RULE_PROC_STOP, "proc %lld stops while it runs goroutine %llu",
                     (long long)p->id, num(p->goroutine->id)))
        return false;
    if (!start_proc(s))
        return false;
    if (p->goroutine)
        leave_proc(p->goroutine);
    p->state = GT_W_IDLE;
    return put_given(s);
}

/* Something that lasts begins or ends. */
static bool last(gt_w_step *s, bool *going, bool begins)
{
    if (*going == begins &&
        !gt_w_refuse(s->w, gt_range_rule(s->shape->range, begins), "%s, but %s", gt_w_name(s),
                     begins ? "the last one has not ended" : "none was started"))
        return false;
    if (!enter_context(s))
        return false;
    bool good = going == &s->w->stopping ? put_global(s, s->h->args, s->h->arg_count)
                                         : put_given(s);
    *going = begins;
    return good;
}

static bool stop_world(gt_w_step *s, bool begins)
{
    gotrace_writer *w = s->w;
    if (begins && w->version >= 10 && w->version < 21 && s->h->args[0] > 1 &&
        !gt_w_refuse(w, GOTRACE_RULE_STW_KIND, "STWStart is of kind %llu; it is 0 or 1",
                     num(s->h->args[0])))
        return false;
    /* Until 1.9 every proc has a stop-the-world of its own. */
    return last(s, w->version < 10 ? &s->p->stopping : &w->stopping, begins);
}

static bool gc(gt_w_step *s, bool begins)
{
    gotrace_writer *w = s->w;
    if ((w->gc == GT_W_GC_ON) == begins &&
        !gt_w_refuse(w, gt_range_rule(GOTRACE_RANGE_GC, begins), "%s, but %s", gt_w_name(s),
                     begins ? "the last cycle has not ended" : "none was started"))
        return false;
    w->gc = begins ? GT_W_GC_ON : GT_W_GC_OFF;
    if (!begins || w->version < 7)
        return put_global(s, s->h->args, s->h->arg_count);
    uint64_t seq = w->gc_seq++;
    return put_global(s, &seq, 1);
}

/* An assist may have been going on when tracing started: its end needs no start. */
static bool assist(gt_w_step *s, bool begins)
{
    if (begins && s->g && s->g->assisting &&
        !gt_w_refuse(s->w, GOTRACE_RULE_ASSIST_START,
                     "goroutine %llu assists the GC, but its last assist has not ended",
                     num(s->g->id)))
        return false;
    if (!check_running(s) || !enter_context(s) || !put_given(s))
        return false;
    if (s->g)
        s->g->assisting = begins;
    return true;
}

static bool range(gt_w_step *s, bool begins)
{
    switch ((gotrace_range)s->shape->range) {
    case GOTRACE_RANGE_NONE: break;
    case GOTRACE_RANGE_GC: return gc(s, begins);
    case GOTRACE_RANGE_STW: return stop_world(s, begins);
    case GOTRACE_RANGE_SWEEP: return last(s, &s->p->sweeping, begins);
    case GOTRACE_RANGE_MARK_ASSIST: return assist(s, begins);
    }
    return false; /* see test_semantics */
}

static bool task_create(gt_w_step *s)
{
    uint64_t task = s->h->args[0];
    if (gt_map_get(&s->w->tasks, task) &&
        !gt_w_refuse(s->w, GOTRACE_RULE_TASK_CREATE,
                     "task %llu is created while one of that id goes on", num(task)))
        return false;
    return enter_context(s) && gt_w_begin_task(s->w, task) == GOTRACE_OK &&
           put_global(s, s->h->args, s->h->arg_count);
}

static bool task_end(gt_w_step *s)
{
    if (!enter_context(s))
        return false;
    gt_map_remove(&s->w->tasks, s->h->args[0]);
    return put_global(s, s->h->args, s->h->arg_count);
}

static bool region(gt_w_step *s)
{
    uint64_t task = s->h->args[0], mode = s->h->args[1], name = s->h->args[2];
    gt_w_goroutine *g = s->g;
    if (!check_running(s))
        return false;
    if (mode > 1 && !gt_w_refuse(s->w, GOTRACE_RULE_REGION_MODE,
                                 "UserRegion has mode %llu; it is 0 or 1", num(mode)))
        return false;
    if (mode == 1 && g && g->region_count > 0) {
        if (!gt_w_check_region_end(s->w, g, (gt_w_region){task, name}))
            return false;
        g->region_count--;
    }
    if (!enter_context(s))
        return false;
    if (mode == 0 && s->g && gt_w_begin_region(s->w, s->g, task, name) != GOTRACE_OK)
        return false;
    return put_given(s);
}

/* ---- what happens on no proc ---------------------------------------------------------------- */

static bool timer(gt_w_step *s)
{
    const gotrace_encoder *e = s->w->encoder;
    for (size_t i = 0; i < e->timer_count; i++)
        if (e->timers[i] == s->h->args[0])
            return true;
    if (e->timer_count == GT_TIMERS_MAX)
        return gt_error_set(&s->w->error, GOTRACE_RULE_SYSTEM_LIMIT, GT_NOWHERE,
                            "more than %d goroutines run timers", GT_TIMERS_MAX),
               false;
    return put_as(s, s->code, s->h->args, 1);
}

/* To readers a sample is something that its goroutine does: it has to be there before. */
static bool sample(gt_w_step *s)
{
    gotrace_writer *w = s->w;
    uint64_t args[3] = {s->h->args[0], s->h->args[1], s->h->args[2]};
    gt_w_goroutine *g = gt_w_find_goroutine(w, args[2]);
    if (!g && args[2] != 0 && !gt_w_has_ended(w, args[2])) {
        g = introduce(s, args[2], w->last_proc ? w->last_proc->id : 0, GOTRACE_STATE_RUNNABLE);
        if (!g)
            return false;
        if (args[0] < g->created)
            args[0] = g->created;
    }
    if (g && args[0] < g->created &&
        !gt_w_refuse(w, GOTRACE_RULE_GO_CREATE,
                     "goroutine %llu is sampled %llu tick%s before it is created", num(args[2]),
                     num(g->created - args[0]), gt_plural(g->created - args[0])))
        return false;
    if (g && args[0] == g->created)
        args[0]++;
    return write(w, 0, s->code, args, 3, s->h);
}

/* ---- one event ------------------------------------------------------------------------------ */

static bool plain(gt_w_step *s)
{
    return enter_context(s) && put_given(s);
}

static bool dispatch(gt_w_step *s)
{
    switch ((gt_action)s->shape->action) {
    case GT_ACTION_NONE:
    case GT_ACTION_METRIC:
    case GT_ACTION_LOG: return plain(s);
    case GT_ACTION_CREATE: return create(s);
    case GT_ACTION_START: return start(s);
    case GT_ACTION_STOP: return stop(s);
    case GT_ACTION_WAKE: return unblock(s);
    case GT_ACTION_EXIT: return exit_here(s);
    case GT_ACTION_FOUND: return found(s);
    case GT_ACTION_SYSCALL: return check_running(s) && plain(s);
    case GT_ACTION_PROC_START: return proc_start(s);
    case GT_ACTION_PROC_STOP: return proc_stop(s);
    case GT_ACTION_RANGE_BEGIN: return range(s, true);
    case GT_ACTION_RANGE_END: return range(s, false);
    case GT_ACTION_TASK_BEGIN: return task_create(s);
    case GT_ACTION_TASK_END: return task_end(s);
    case GT_ACTION_REGION: return region(s);
    case GT_ACTION_UNKNOWN: /* no event has it: see test_semantics */
    case GT_ACTION_SAMPLE: break;
    }
    return false;
}

gotrace_status gt_w_v1_event(gt_w_step *s)
{
    gotrace_writer *w = s->w;
    const gotrace_event_data *h = s->h;
    s->code = w->encoder->shapes[s->code].full;
    s->shape = &w->encoder->shapes[s->code];
    if (!(s->shape->flags & GOTRACE_SPEC_TIMED)) /* the only record that callers write */
        return timer(s) ? GOTRACE_OK : GOTRACE_ERROR;
    if (s->shape->action == GT_ACTION_SAMPLE)
        return sample(s) ? GOTRACE_OK : GOTRACE_ERROR;
    if (h->proc == GOTRACE_NO_PROC || h->proc == GOTRACE_PROC_SAMPLES) {
        if (s->shape->action == GT_ACTION_EXIT)
            return keep_exit(s) ? GOTRACE_OK : GOTRACE_ERROR;
        return gt_error_set(&w->error, GOTRACE_RULE_CONTEXT, GT_NOWHERE,
                            "%s needs a proc, and none is specified", gt_w_name(s));
    }
    s->p = gt_w_make_proc(w, h->proc);
    return s->p && check_context(s) && dispatch(s) ? GOTRACE_OK : GOTRACE_ERROR;
}

/* Goroutines that left a system call and were not heard of again: tracers forget these. */
gotrace_status gt_w_v1_finish(gotrace_writer *w)
{
    static const gotrace_event_data nothing;
    gt_w_step s = {.w = w, .h = &nothing};
    for (gt_w_goroutine *g = w->goroutines.first; g; g = g->next) {
        int64_t proc = g->last_proc == GOTRACE_NO_PROC ? 0 : g->last_proc;
        if (g->left && !write_exit(&s, g, proc))
            return GOTRACE_ERROR;
    }
    return gotrace_encoder_finish(w->encoder, w->options.frequency, w->now) == GOTRACE_OK
               ? GOTRACE_OK
               : gt_w_broken(w);
}
