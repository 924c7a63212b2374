/*
 * writer.c - v1: what an event requires of goroutines and procs, what it changes, and which records
 * are written.
 *
 * The requirements are those of our reader (order.c, state.c), after Go's postProcessTrace.
 * Sequence numbers and local forms are assigned as in traceGoStart, traceGoUnpark and
 * traceGoSysExit of runtime/trace.go: traceseq is gt_w_goroutine.seq, tracelastp is last_proc.
 */
#include "write/writer.h"

/* For %llu. */
static unsigned long long num(uint64_t n)
{
    return n;
}

/* ---- records -------------------------------------------------------------------------------- */

/* Writes a record. given: the event whose stack and message it has; NULL if the writer adds the
 * record. */
static bool write(gotrace_writer *w, int64_t proc, unsigned code, const uint64_t *args,
                  size_t count, const gotrace_event_data *given)
{
    static const gotrace_event_data nothing;
    const gotrace_event_data *h = given ? given : &nothing;
    gotrace_encoder *e = w->encoder;
    if (w->version < GT_FIRST_NUMBERED)
        w->seq++;
    if (gt_encoder_event(e, proc, e->specs[code], w->now, w->seq, args, count, h->stack, h->data,
                         h->data_size) != GOTRACE_OK)
        return gt_w_encoder_failed(w), false;
    /* Later events on any proc must not precede a timestamp that was raised. */
    if (e->event_ticks > w->now && e->shapes[code].action != GT_ACTION_SAMPLE)
        w->now = e->event_ticks;
    return true;
}

/* Writes a record that the writer adds. */
static bool put_added(gt_w_step *s, int64_t proc, unsigned code, const uint64_t *args, size_t count)
{
    return write(s->w, proc, code, args, count, NULL);
}

/* Writes the caller's event with these arguments. */
static bool put_as(gt_w_step *s, unsigned code, const uint64_t *args, size_t count)
{
    return write(s->w, s->h->proc, code, args, count, s->h);
}

static bool put_event(gt_w_step *s)
{
    return put_as(s, s->code, s->h->args, s->h->arg_count);
}

/* Whether this version has that event. */
static bool has_event(const gotrace_writer *w, unsigned code)
{
    return code != 0 && w->encoder->shapes[code].values != 0;
}

/* Writes the event with the next sequence number of the goroutine in its argument. As in the
 * tracer, the local form is used if there is one and the goroutine's last event was on the same
 * proc. */
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

/* The same for a global event, which readers order by time only. */
static bool put_global(gt_w_step *s, const uint64_t *args, size_t count)
{
    gt_w_after(s->w, s->h->proc, 0);
    bool good = put_as(s, s->code, args, count);
    gt_w_mark(s->w, s->h->proc, 0);
    return good;
}

/* ---- state from before the trace ------------------------------------------------------------- */

/* The goroutine blocks in a system call, now or before the trace began. */
static void block(const gt_w_step *s, gt_w_goroutine *g)
{
    g->blocked = s->w->now;
    g->blocked_given = s->w->given;
}

/* The event for a goroutine in that state when tracing started; 0: none, its creation suffices. */
static unsigned initial_event_of(const gotrace_writer *w, uint8_t state)
{
    const gt_v1_shape *shapes = w->encoder->shapes;
    for (unsigned code = 0; code < GT_V1_EVENT_COUNT; code++)
        if (shapes[code].action == GT_ACTION_FOUND && shapes[code].to == state)
            return code;
    return 0;
}

/* Adds a goroutine from before the trace, with its initial gotrace_state. */
static gt_w_goroutine *add_unknown(gt_w_step *s, uint64_t id, int64_t proc, uint8_t state)
{
    gt_w_goroutine *g = gt_w_make_goroutine(s->w, id);
    const uint64_t args[2] = {id, 0};
    if (!g || !put_added(s, proc, GOTRACE_V1_GoCreate, args, 2))
        return NULL;
    g->created = s->w->now;
    g->last_proc = proc;
    g->state = GT_W_RUNNABLE;
    unsigned found = initial_event_of(s->w, state);
    if (!found)
        return g;
    if (!put_added(s, proc, found, args, 1))
        return NULL;
    g->seq = 1;
    g->state = gt_w_state_of(state);
    block(s, g);
    return g;
}

/* Marks the event's proc as running; writes its start if it was unknown. */
static bool start_proc(gt_w_step *s)
{
    gt_w_proc *p = s->p;
    if (p->state != GT_W_UNKNOWN || p->id < 0)
        return true;
    uint64_t thread = s->h->thread == GOTRACE_NO_THREAD ? (uint64_t)p->id : (uint64_t)s->h->thread;
    p->state = GT_W_BUSY;
    return put_added(s, p->id, GOTRACE_V1_ProcStart, &thread, 1);
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

/* Whether the event is in the context of the goroutine that runs on its proc. */
static bool is_in_context(const gt_w_step *s)
{
    return s->shape->context_running != 0;
}

/* Checks that the event's goroutine runs on the proc, or may run there. */
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

/* Writes the start of the event's goroutine if it was unknown. */
static bool enter_context(gt_w_step *s)
{
    uint64_t id = s->h->goroutine;
    if (s->g || id == 0 || !is_in_context(s) || gt_w_find_goroutine(s->w, id) ||
        gt_w_has_ended(s->w, id))
        return true;
    if (!start_proc(s))
        return false;
    gt_w_goroutine *g = add_unknown(s, id, s->p->id, GOTRACE_STATE_RUNNABLE);
    if (!g)
        return false;
    const uint64_t args[2] = {id, ++g->seq};
    run_on(s->p, g);
    s->g = g;
    unsigned local = s->w->encoder->shapes[GOTRACE_V1_GoStart].local;
    return put_added(s, s->p->id, has_event(s->w, local) ? local : GOTRACE_V1_GoStart, args, 1);
}

static bool check_running(gt_w_step *s)
{
    if (s->g || (s->h->goroutine != 0 && !gt_w_find_goroutine(s->w, s->h->goroutine)))
        return true;
    return gt_w_refuse(s->w, GOTRACE_RULE_GO_RUNNING, "%s: nothing runs on proc %lld", gt_w_name(s),
                       (long long)s->p->id);
}

/* ---- goroutines ----------------------------------------------------------------------------- */

/* Readers take goroutine 0 as none; it always exists and runs. */
static bool check_id(gt_w_step *s, uint64_t id)
{
    return id != 0 ||
           gt_w_refuse(s->w, GOTRACE_RULE_GO_CREATE,
                       "%s: goroutine 0 means no goroutine; ids begin with 1", gt_w_name(s));
}

/* Refuses the event, with the rule about the state of the goroutine in its argument. */
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

/* Checks that the goroutine in the argument is in the state that the row requires, or is unknown (g
 * is NULL). For an initial state it must not have other events. */
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
        !gt_w_refuse(s->w, GOTRACE_RULE_GO_CREATE, "goroutine %llu is created, but %s", num(id),
                     known ? "it already exists" : "it existed before"))
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
    g->exit_deferred = false;
    bool good = put_event(s);
    g->created = s->w->now;
    return good;
}

/* Writes a deferred exit from a system call where the goroutine resumes. If timestamps must differ
 * it gets the tick before, so that the next event keeps its own. */
static bool write_exit(gt_w_step *s, gt_w_goroutine *g, int64_t proc)
{
    uint64_t number = ++g->seq, now = s->w->now;
    const uint64_t args[3] = {g->id, s->w->version < GT_FIRST_NUMBERED ? g->deferred_seq : number,
                              g->deferred_ticks};
    g->exit_deferred = false;
    g->last_proc = proc;
    if ((s->w->encoder->tracer->flags & GT_TRACER_RAISES) && now > g->blocked)
        s->w->now--;
    bool good = put_added(s, proc, GOTRACE_V1_GoSysExit, args, 3);
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
    if (!start_proc(s) || (!g && !(g = add_unknown(s, id, p->id, s->shape->from))) ||
        (g->exit_deferred && !write_exit(s, g, p->id)))
        return false;
    run_on(p, g);
    return put_numbered(s, g);
}

static bool stop(gt_w_step *s)
{
    if (!check_running(s) || !enter_context(s) || !put_event(s))
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
        (!g && !(g = add_unknown(s, id, s->p->id, s->shape->from))))
        return false;
    leave_proc(g);
    g->state = gt_w_state_of(s->shape->to);
    return put_numbered(s, g);
}

static bool found(gt_w_step *s)
{
    uint64_t id = s->h->args[0];
    gt_w_goroutine *g = gt_w_find_goroutine(s->w, id);
    if (!check_state(s, g, id) || (!g && !(g = add_unknown(s, id, s->p->id, s->shape->from))))
        return false;
    leave_proc(g);
    g->seq = 1;
    g->state = gt_w_state_of(s->shape->to);
    bool good = put_event(s);
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

/* The time of the exit: not before the call blocked, whose timestamp may have been raised. */
static uint64_t exit_ticks(const gt_w_step *s, const gt_w_goroutine *g, uint64_t ticks)
{
    bool forced = s->w->options.force && ticks < g->blocked_given;
    return ticks < g->blocked && !forced ? g->blocked : ticks;
}

/* The goroutine left a system call and has no proc. As in the tracer, the time is kept, and the
 * event is written where the goroutine resumes. */
static bool defer_exit(gt_w_step *s)
{
    gotrace_writer *w = s->w;
    uint64_t id = s->h->args[0], ticks = s->h->args[1] ? s->h->args[1] : w->now;
    gt_w_goroutine *g = gt_w_find_goroutine(w, id);
    if (!check_exit(s, g, ticks))
        return false;
    if (!g && !(g = add_unknown(s, id, w->last_proc ? w->last_proc->id : 0, s->shape->from)))
        return false;
    leave_proc(g);
    g->state = gt_w_state_of(s->shape->to);
    g->exit_deferred = true;
    g->deferred_ticks = exit_ticks(s, g, ticks);
    if (w->version < GT_FIRST_NUMBERED)
        g->deferred_seq = ++w->seq;
    return true;
}

static bool exit_here(gt_w_step *s)
{
    gotrace_writer *w = s->w;
    uint64_t id = s->h->args[0], ticks = s->h->args[1];
    gt_w_goroutine *g = gt_w_find_goroutine(w, id);
    if (!check_exit(s, g, ticks))
        return false;
    if (!g && !(g = add_unknown(s, id, s->p->id, s->shape->from)))
        return false;
    leave_proc(g);
    g->state = gt_w_state_of(s->shape->to);
    g->last_proc = s->p->id;
    uint64_t number = ++g->seq;
    /* Until 1.6 the event always has its time. */
    if (w->version < GT_FIRST_NUMBERED && ticks == 0)
        ticks = w->now;
    if (ticks != 0)
        ticks = exit_ticks(s, g, ticks);
    const uint64_t args[3] = {id, w->version < GT_FIRST_NUMBERED ? w->seq + 1 : number, ticks};
    return put_as(s, s->code, args, 3);
}

/* ---- procs, ranges, user annotations --------------------------------------------------------- */

static bool proc_start(gt_w_step *s)
{
    if (s->p->state == GT_W_BUSY &&
        !gt_w_refuse(s->w, GOTRACE_RULE_PROC_START, "proc %lld starts, but it is running",
                     (long long)s->p->id))
        return false;
    s->p->state = GT_W_BUSY;
    return put_event(s);
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
    return put_event(s);
}

/* Begins or ends a range; *active is its state. */
static bool begin_or_end(gt_w_step *s, bool *active, bool begins)
{
    if (*active == begins &&
        !gt_w_refuse(s->w, gotrace_range_spec_of(s->shape->range)->rules[begins], "%s, but %s",
                     gt_w_name(s), begins ? "the last one has not ended" : "none was started"))
        return false;
    if (!enter_context(s))
        return false;
    bool good = active == &s->w->stopping ? put_global(s, s->h->args, s->h->arg_count)
                                          : put_event(s);
    *active = begins;
    return good;
}

static bool stop_world(gt_w_step *s, bool begins)
{
    gotrace_writer *w = s->w;
    if (begins && w->version >= GT_FIRST_STW_KIND && w->version < GT_FIRST_STW_REASON &&
        s->h->args[0] > 1 &&
        !gt_w_refuse(w, GOTRACE_RULE_STW_KIND, "STWStart is of kind %llu; it is 0 or 1",
                     num(s->h->args[0])))
        return false;
    /* Until 1.9 each proc has its own stop-the-world. */
    return begin_or_end(s, w->version < GT_FIRST_STW_KIND ? &s->p->stopping : &w->stopping, begins);
}

static bool gc(gt_w_step *s, bool begins)
{
    gotrace_writer *w = s->w;
    if ((w->gc == GT_W_GC_ON) == begins &&
        !gt_w_refuse(w, gotrace_range_spec_of(GOTRACE_RANGE_GC)->rules[begins], "%s, but %s",
                     gt_w_name(s), begins ? "the last cycle has not ended" : "none was started"))
        return false;
    w->gc = begins ? GT_W_GC_ON : GT_W_GC_OFF;
    if (!begins || w->version < GT_FIRST_NUMBERED)
        return put_global(s, s->h->args, s->h->arg_count);
    uint64_t seq = w->gc_seq++;
    return put_global(s, &seq, 1);
}

/* An assist may have been active when tracing started: its end needs no begin. */
static bool assist(gt_w_step *s, bool begins)
{
    if (begins && s->g && s->g->assisting &&
        !gt_w_refuse(s->w, GOTRACE_RULE_ASSIST_START,
                     "goroutine %llu assists the GC, but its last assist has not ended",
                     num(s->g->id)))
        return false;
    if (!check_running(s) || !enter_context(s) || !put_event(s))
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
    case GOTRACE_RANGE_SWEEP: return begin_or_end(s, &s->p->sweeping, begins);
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
    return put_event(s);
}

/* ---- events without a proc ------------------------------------------------------------------- */

static bool timer(gt_w_step *s)
{
    const gotrace_encoder *e = s->w->encoder;
    for (size_t i = 0; i < e->timer_count; i++)
        if (e->timers[i] == s->h->args[0])
            return true;
    if (e->timer_count == GT_TIMERS_MAX)
        return gt_error_set(&s->w->error, GOTRACE_RULE_SYSTEM_LIMIT, GT_NO_PLACE,
                            "more than %d goroutines run timers", GT_TIMERS_MAX),
               false;
    return put_as(s, s->code, s->h->args, 1);
}

/* Readers take a sample as an event of its goroutine, which must exist before. */
static bool sample(gt_w_step *s)
{
    gotrace_writer *w = s->w;
    uint64_t args[3] = {s->h->args[0], s->h->args[1], s->h->args[2]};
    gt_w_goroutine *g = gt_w_find_goroutine(w, args[2]);
    if (!g && args[2] != 0 && !gt_w_has_ended(w, args[2])) {
        g = add_unknown(s, args[2], w->last_proc ? w->last_proc->id : 0, GOTRACE_STATE_RUNNABLE);
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
    return enter_context(s) && put_event(s);
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
    if (!(s->shape->flags &
          GOTRACE_SPEC_TIMED)) /* the only record without a time that callers may write */
        return timer(s) ? GOTRACE_OK : GOTRACE_ERROR;
    if (s->shape->action == GT_ACTION_SAMPLE)
        return sample(s) ? GOTRACE_OK : GOTRACE_ERROR;
    if (h->proc == GOTRACE_NO_PROC || h->proc == GT_PROC_SAMPLES) {
        if (s->shape->action == GT_ACTION_EXIT)
            return defer_exit(s) ? GOTRACE_OK : GOTRACE_ERROR;
        return gt_error_set(&w->error, GOTRACE_RULE_CONTEXT, GT_NO_PLACE,
                            "%s needs a proc, and none is specified", gt_w_name(s));
    }
    s->p = gt_w_make_proc(w, h->proc);
    return s->p && check_context(s) && dispatch(s) ? GOTRACE_OK : GOTRACE_ERROR;
}

/* Goroutines that left a system call and did not resume: tracers drop their exits. */
gotrace_status gt_w_v1_finish(gotrace_writer *w)
{
    static const gotrace_event_data nothing;
    gt_w_step s = {.w = w, .h = &nothing};
    for (gt_w_goroutine *g = w->goroutines.first; g; g = g->next) {
        int64_t proc = g->last_proc == GOTRACE_NO_PROC ? 0 : g->last_proc;
        if (g->exit_deferred && !write_exit(&s, g, proc))
            return GOTRACE_ERROR;
    }
    return gt_encoder_finish(w->encoder, w->options.frequency, w->now) == GOTRACE_OK
               ? GOTRACE_OK
               : gt_w_encoder_failed(w);
}
