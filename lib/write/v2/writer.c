/*
 * writer.c - v2: what an event requires of goroutines, procs and threads, what it changes, and
 * which records are written.
 *
 * The requirements are those of our reader (read/v2/follow.c, read/v2/status.c), after Go's
 * ordering reader. The statuses before an event, and their order, are as in Go's traceruntime.go.
 */
#include <stdio.h>

#include "core/semantics.h"
#include "write/writer.h"

#define num gt_w_num

/* ---- context -------------------------------------------------------------------------------- */

/* Sets the proc of the context, if the thread may have it. */
static bool resolve_proc(gt_w_step *s, int64_t id)
{
    gt_w_proc *p = gt_w_make_proc(s->w, id);
    if (!p)
        return false;
    bool held = p->state == GT_W_BUSY || p->state == GT_W_IN_SYSCALL;
    if (p->state == GT_W_UNKNOWN || (held && !p->thread)) {
        s->p = p;
        return true;
    }
    char where[40] = "";
    if (p->thread)
        snprintf(where, sizeof where, " on thread %lld", (long long)p->thread->id);
    return gt_w_refuse(s->w, GOTRACE_RULE_CONTEXT,
                       "%s: proc %lld does not run on thread %lld: it is %s%s", gt_w_name(s),
                       (long long)id, (long long)s->t->id, gt_w_proc_state_name(p->state), where);
}

/* A goroutine from before the trace may appear only in the first generation. */
static bool may_appear(gt_w_step *s, const gt_w_goroutine *g)
{
    return g->state != GT_W_NONE || gt_w_is_first(s->w) ||
           gt_w_refuse(s->w, GOTRACE_RULE_STATUS_GOROUTINE,
                       "%s: goroutine %llu was never created; only in the first generation can "
                       "there be such",
                       gt_w_name(s), num(g->id));
}

static bool resolve_goroutine(gt_w_step *s, uint64_t id)
{
    gt_w_goroutine *g = gt_w_make_goroutine(s->w, id);
    if (!g || !may_appear(s, g))
        return false;
    bool held = g->state == GT_W_RUNNING || g->state == GT_W_SYSCALL;
    if (g->state == GT_W_NONE || (held && !g->thread)) {
        s->g = g;
        return true;
    }
    char where[40] = "";
    if (g->thread)
        snprintf(where, sizeof where, " on thread %lld", (long long)g->thread->id);
    return gt_w_refuse(s->w, GOTRACE_RULE_CONTEXT,
                       "%s: goroutine %llu does not run on thread %lld: it is %s%s", gt_w_name(s),
                       num(id), (long long)s->t->id, gt_w_state_name(g->state), where);
}

/* Sets the context passed by the caller, after comparing it with the known context of the
 * thread. */
static bool resolve(gt_w_step *s, int64_t proc, uint64_t goroutine)
{
    if (proc != GOTRACE_NO_PROC && s->p && s->p->id != proc &&
        !gt_w_refuse(s->w, GOTRACE_RULE_CONTEXT, "%s: thread %lld has proc %lld, not %lld",
                     gt_w_name(s), (long long)s->t->id, (long long)s->p->id, (long long)proc))
        return false;
    if (goroutine != 0 && s->g && s->g->id != goroutine &&
        !gt_w_refuse(s->w, GOTRACE_RULE_CONTEXT, "%s: thread %lld has goroutine %llu, not %llu",
                     gt_w_name(s), (long long)s->t->id, num(s->g->id), num(goroutine)))
        return false;
    return (proc == GOTRACE_NO_PROC || s->p || resolve_proc(s, proc)) &&
           (goroutine == 0 || s->g || resolve_goroutine(s, goroutine));
}

static bool report_context(gt_w_step *s, unsigned needs)
{
    const char *name = gt_w_name(s);
    long long thread = (long long)s->t->id;
    if ((needs & GOTRACE_NEEDS_PROC) && !s->p)
        return gt_w_refuse(s->w, GOTRACE_RULE_CONTEXT, "%s needs a proc, and thread %lld has none",
                           name, thread);
    if ((needs & GOTRACE_NEEDS_NO_PROC) && s->p)
        return gt_w_refuse(s->w, GOTRACE_RULE_CONTEXT,
                           "%s: proc %llu cannot start on thread %lld: proc %lld runs there", name,
                           num(s->h->args[0]), thread, (long long)s->p->id);
    if ((needs & GOTRACE_NEEDS_GOROUTINE) && !s->g)
        return gt_w_refuse(s->w, GOTRACE_RULE_CONTEXT,
                           "%s needs a goroutine, and none runs on thread %lld", name, thread);
    return gt_w_refuse(s->w, GOTRACE_RULE_CONTEXT,
                       "goroutine %llu cannot start on %s %lld: goroutine %llu runs there",
                       num(s->h->args[0]), s->p ? "proc" : "thread",
                       s->p ? (long long)s->p->id : thread, num(s->g->id));
}

/* Determines the context and checks that the event may occur in it. Writes nothing yet. */
static bool find_context(gt_w_step *s, const gotrace_semantics *does)
{
    const gotrace_event_data *h = s->h;
    if (h->thread == GOTRACE_NO_THREAD) {
        if (!gt_w_refuse(s->w, GOTRACE_RULE_CONTEXT, "%s needs a thread, and none is specified",
                         gt_w_name(s)))
            return false;
        s->t = &s->w->no_thread;
        return true;
    }
    s->t = gt_w_make_thread(s->w, h->thread);
    if (!s->t)
        return false;
    s->p = s->t->proc;
    s->g = s->t->goroutine;
    bool same = (h->proc == GOTRACE_NO_PROC || (s->p && s->p->id == h->proc)) &&
                (h->goroutine == 0 || (s->g && s->g->id == h->goroutine));
    if (!same) {
        /* Callers may pass as context the goroutine or proc that begins to run. */
        bool own_proc = does->resource == GOTRACE_RESOURCE_PROC &&
                        does->proc.to == GOTRACE_STATE_RUNNING && (uint64_t)h->proc == h->args[0];
        bool runs = does->other.to == GOTRACE_STATE_RUNNING ||
                    does->other.to == GOTRACE_STATE_SYSCALL;
        bool own_goroutine = runs && !does->self.to && h->goroutine == h->args[0];
        if (!resolve(s, own_proc ? GOTRACE_NO_PROC : h->proc, own_goroutine ? 0 : h->goroutine))
            return false;
    }
    unsigned has = GOTRACE_NEEDS_THREAD | (s->p ? GOTRACE_NEEDS_PROC : GOTRACE_NEEDS_NO_PROC) |
                   (s->g ? GOTRACE_NEEDS_GOROUTINE : GOTRACE_NEEDS_NO_GOROUTINE);
    return !(does->needs & ~has) || report_context(s, does->needs);
}

/* ---- states --------------------------------------------------------------------------------- */

/* The writer's state for a gotrace_state of a goroutine. */
GT_INLINE uint8_t state_of(uint8_t state)
{
    switch (state) {
    case GOTRACE_STATE_RUNNABLE: return GT_W_RUNNABLE;
    case GOTRACE_STATE_RUNNING: return GT_W_RUNNING;
    case GOTRACE_STATE_SYSCALL: return GT_W_SYSCALL;
    case GOTRACE_STATE_WAITING: return GT_W_WAITING;
    default: return GT_W_NONE;
    }
}

/* The same for a proc. */
GT_INLINE uint8_t proc_state_of(uint8_t state)
{
    switch (state) {
    case GOTRACE_STATE_RUNNING: return GT_W_BUSY;
    case GOTRACE_STATE_IDLE: return GT_W_IDLE;
    case GOTRACE_STATE_SYSCALL: return GT_W_IN_SYSCALL;
    case GOTRACE_STATE_ABANDONED: return GT_W_ABANDONED;
    default: return GT_W_UNKNOWN;
    }
}

/* Checks the state of the thread's goroutine, if it has one. */
static bool check_state(gt_w_step *s, uint8_t state)
{
    const gt_w_goroutine *g = s->g;
    return !g || g->state == state || g->state == GT_W_NONE ||
           gt_w_refuse(s->w, GOTRACE_RULE_GO_RUNNING, "%s: goroutine %llu is %s; it has to be %s",
                       gt_w_name(s), num(g->id), gt_w_state_name(g->state), gt_w_state_name(state));
}

/* Establishes the context and writes its statuses. An unknown proc or goroutine gets these states,
 * which the event implies. */
static bool enter_slow(gt_w_step *s, uint8_t proc_state, uint8_t goroutine_state)
{
    gotrace_writer *w = s->w;
    if (!gt_w_open_generation(w))
        return false;
    gt_w_proc *p = s->p;
    gt_w_goroutine *g = s->g;
    if (p && p->thread != s->t) {
        if (p->state == GT_W_UNKNOWN)
            p->state = proc_state;
        gt_w_bind_proc(s->t, p);
    }
    if (g && g->thread != s->t) {
        if (g->state == GT_W_NONE)
            g->state = goroutine_state;
        gt_w_bind_goroutine(s->t, g);
    }
    return (!p || gt_w_emit_proc(w, p, s->t)) &&
           (!g || gt_w_emit_goroutine(w, g, s->t, (uint64_t)s->t->id)) &&
           (!w->gc_due || gt_w_emit_gc(w, s->t));
}

/* The same, with a fast path if the context is established already. */
static inline bool enter(gt_w_step *s, uint8_t proc_state, uint8_t goroutine_state)
{
    const gotrace_writer *w = s->w;
    const gt_w_proc *p = s->p;
    const gt_w_goroutine *g = s->g;
    bool entered = w->open && !w->gc_due &&
                   (!p || (p->thread == s->t && p->generation == w->generation)) &&
                   (!g || (g->thread == s->t && g->generation == w->generation));
    return entered || enter_slow(s, proc_state, goroutine_state);
}

static bool enter_running(gt_w_step *s)
{
    return enter(s, GT_W_BUSY, GT_W_RUNNING);
}

/* The goroutine in the event's argument, known or not, in the state that the event requires. */
static gt_w_goroutine *subject(gt_w_step *s, uint64_t id, uint8_t state, gotrace_rule rule)
{
    gt_w_goroutine *g = gt_w_make_goroutine(s->w, id);
    if (!g || !may_appear(s, g))
        return NULL;
    if (g->state == GT_W_NONE || g->state == state)
        return g;
    bool forced = gt_w_refuse(s->w, rule, "%s: goroutine %llu is %s; it has to be %s", gt_w_name(s),
                              num(id), gt_w_state_name(g->state), gt_w_state_name(state));
    return forced ? g : NULL;
}

static bool emit_subject(gt_w_step *s, gt_w_goroutine *g, uint8_t state, uint64_t thread)
{
    if (!gt_w_open_generation(s->w))
        return false;
    if (g->state == GT_W_NONE)
        g->state = state;
    return gt_w_emit_goroutine(s->w, g, s->t, thread);
}

/* ---- records -------------------------------------------------------------------------------- */

/* Writes the event, with a sequence number inserted before argument n. */
static bool put_numbered(gt_w_step *s, uint64_t seq, size_t n)
{
    const gotrace_event_data *h = s->h;
    bool stack = h->spec->flags & GOTRACE_SPEC_STACK;
    uint8_t *p = gt_w_begin_record(s->w, s->t, s->code, h->arg_count + 1 + stack);
    if (!p)
        return false;
    for (size_t i = 0; i < h->arg_count; i++) {
        if (i == n)
            p = gt_put(p, seq);
        p = gt_put(p, h->args[i]);
    }
    if (n >= h->arg_count)
        p = gt_put(p, seq);
    if (stack)
        p = gt_put(p, h->stack);
    gt_v2_commit(&s->t->buffer, p);
    return true;
}

static bool put_event(gt_w_step *s)
{
    const gotrace_event_data *h = s->h;
    bool stack = h->spec->flags & GOTRACE_SPEC_STACK;
    uint8_t *p = gt_w_begin_record(s->w, s->t, s->code, h->arg_count + stack);
    if (!p)
        return false;
    for (size_t i = 0; i < h->arg_count; i++)
        p = gt_put(p, h->args[i]);
    if (stack)
        p = gt_put(p, h->stack);
    gt_v2_commit(&s->t->buffer, p);
    return true;
}

/* ---- goroutines ----------------------------------------------------------------------------- */

/* Checks the row's requirements of the thread's goroutine and proc. */
GT_INLINE bool check_own(gt_w_step *s, const gotrace_semantics *does)
{
    if (does->self.to && !check_state(s, state_of(does->self.from)))
        return false;
    const gt_w_proc *p = s->p;
    if (does->after_steal)
        return !p || p->state != GT_W_IN_SYSCALL ||
               gt_w_refuse(s->w, GOTRACE_RULE_PROC_STEAL,
                           "%s: thread %lld still has proc %lld, which has to be taken from the "
                           "thread before",
                           gt_w_name(s), (long long)s->t->id, (long long)p->id);
    if (!p || does->proc.from != GOTRACE_STATE_SYSCALL)
        return true;
    return p->state == GT_W_IN_SYSCALL || p->state == GT_W_UNKNOWN ||
           gt_w_refuse(s->w, GOTRACE_RULE_GO_SYSEXIT,
                       "%s: proc %lld is %s; it has to be in a system call", gt_w_name(s),
                       (long long)p->id, gt_w_proc_state_name(p->state));
}

static bool create(gt_w_step *s, const gotrace_semantics *does)
{
    uint64_t id = s->h->args[0];
    bool runs = does->other.to == GOTRACE_STATE_RUNNING || does->other.to == GOTRACE_STATE_SYSCALL;
    gt_w_goroutine *g = gt_w_find_goroutine(s->w, id);
    if (g && (g->state != GT_W_NONE || g == s->g) &&
        !gt_w_refuse(s->w, GOTRACE_RULE_GO_CREATE,
                     "goroutine %llu is created, but it already exists", num(id)))
        return false;
    /* A call from C may be on a thread that still has a proc, which is not recorded. */
    if (does->needs & GOTRACE_NEEDS_PROC ? !enter_running(s) : !gt_w_open_generation(s->w))
        return false;
    g = gt_w_make_goroutine(s->w, id);
    if (!g)
        return false;
    gt_w_bind_goroutine(runs ? s->t : NULL, g);
    g->state = state_of(does->other.to);
    g->assisted = true;
    gt_w_goroutine_status_done(s->w, g);
    gt_w_after(s->w, s->t->id, id); /* an earlier goroutine may have had this id */
    return put_event(s);
}

/* Removes a goroutine that ended. */
static bool end_goroutine(gt_w_step *s, gt_w_goroutine *g)
{
    gt_w_mark(s->w, s->t->id, g->id);
    gt_w_bind_goroutine(NULL, g);
    return gt_w_end_goroutine(s->w, g) == GOTRACE_OK;
}

/* Sets the state of the thread's goroutine to the one that the row leaves. */
GT_INLINE bool change_self(gt_w_step *s, const gotrace_semantics *does)
{
    uint8_t to = does->self.to;
    if (!s->g)
        return true;
    if (to == GOTRACE_STATE_NOT_EXIST)
        return end_goroutine(s, s->g);
    if (to != GOTRACE_STATE_RUNNING && to != GOTRACE_STATE_SYSCALL)
        gt_w_bind_goroutine(NULL, s->g);
    s->g->state = state_of(to);
    return true;
}

/* The other goroutine's status has the position that Go's tracer gives it: before those of the
 * context if it waits. */
GT_INLINE bool enter_with_other(gt_w_step *s, gt_w_goroutine *g, const gotrace_semantics *does)
{
    uint8_t from = state_of(does->other.from);
    if (does->other.from == GOTRACE_STATE_WAITING)
        return emit_subject(s, g, from, GT_V2_NO_THREAD) && enter_running(s);
    return enter_running(s) && emit_subject(s, g, from, (uint64_t)s->t->id);
}

GT_INLINE bool write_with_other(gt_w_step *s, const gotrace_semantics *does)
{
    bool starts = does->other.to == GOTRACE_STATE_RUNNING;
    gt_w_goroutine *g = subject(s, s->h->args[0], state_of(does->other.from),
                                starts ? GOTRACE_RULE_GO_START : GOTRACE_RULE_GO_UNBLOCK);
    if (!g || !enter_with_other(s, g, does) || !put_numbered(s, ++g->seq, 1))
        return false;
    if (does->self.to && s->g != g && !change_self(s, does))
        return false;
    gt_w_bind_goroutine(starts ? s->t : NULL, g);
    g->state = state_of(does->other.to);
    return true;
}

GT_INLINE bool write_goroutines(gt_w_step *s, const gotrace_semantics *does)
{
    if (!check_own(s, does))
        return false;
    if (does->other.from == GOTRACE_STATE_NOT_EXIST)
        return create(s, does);
    if (does->other.to)
        return write_with_other(s, does);
    gt_w_proc *p = s->p;
    /* The thread's id may be used again, so its proc is unbound; no status is written for it. */
    bool leaves = does->proc.to == GOTRACE_STATE_ABANDONED;
    if (leaves && p && p->thread == s->t)
        s->p = NULL;
    uint8_t proc_state = does->proc.to ? proc_state_of(does->proc.from) : GT_W_BUSY;
    if (!enter(s, proc_state, state_of(does->self.from)) ||
        !(does->numbered ? put_numbered(s, p ? ++p->seq : 1, 0) : put_event(s)))
        return false;
    if (p && leaves)
        gt_w_bind_proc(NULL, p);
    if (p && does->proc.to)
        p->state = proc_state_of(does->proc.to);
    return change_self(s, does);
}

/* ---- procs ---------------------------------------------------------------------------------- */

/* A proc that is taken is in a system call, on the thread in the argument. */
static bool check_steal(gt_w_step *s, const gt_w_proc *p)
{
    int64_t m = (int64_t)s->h->args[1];
    if (p->state == GT_W_UNKNOWN || p->state == GT_W_ABANDONED)
        return true;
    if (p->state != GT_W_IN_SYSCALL)
        return gt_w_refuse(s->w, GOTRACE_RULE_PROC_STEAL,
                           "proc %lld is taken, but it is %s; it has to be in a system call",
                           (long long)p->id, gt_w_proc_state_name(p->state));
    if (p->thread && p->thread->id == m)
        return true;
    return gt_w_refuse(s->w, GOTRACE_RULE_PROC_STEAL,
                       "proc %lld is taken from thread %lld, but %s%lld has it", (long long)p->id,
                       (long long)m, p->thread ? "thread " : "not even ",
                       (long long)(p->thread ? p->thread->id : m));
}

static bool check_idle(gt_w_step *s, const gt_w_proc *p)
{
    return p->state == GT_W_UNKNOWN || p->state == GT_W_IDLE ||
           gt_w_refuse(s->w, GOTRACE_RULE_PROC_START, "proc %lld starts, but it is %s",
                       (long long)p->id, gt_w_proc_state_name(p->state));
}

/* The proc in the first argument starts, or is taken. */
GT_INLINE bool write_named_proc(gt_w_step *s, const gotrace_semantics *does)
{
    bool steals = does->proc.from == GOTRACE_STATE_SYSCALL;
    gt_w_proc *p = gt_w_make_proc(s->w, (int64_t)s->h->args[0]);
    if (!p || !(steals ? check_steal(s, p) : check_idle(s, p)) || !gt_w_open_generation(s->w))
        return false;
    if (p->state == GT_W_UNKNOWN)
        p->state = steals ? GT_W_ABANDONED : GT_W_IDLE;
    if (!gt_w_emit_proc(s->w, p, s->t))
        return false;
    /* A thread that takes back the proc it lost in a system call is still in that call. */
    if (s->p == p)
        s->p = NULL;
    /* The goroutine of a thread without a proc is in a system call. */
    if (!enter(s, GT_W_BUSY, steals ? GT_W_RUNNING : GT_W_SYSCALL))
        return false;
    gt_w_bind_proc(does->proc.to == GOTRACE_STATE_RUNNING ? s->t : NULL, p);
    p->state = proc_state_of(does->proc.to);
    return put_numbered(s, ++p->seq, 1);
}

static bool proc_stop(gt_w_step *s)
{
    if (!enter(s, GT_W_BUSY, GT_W_SYSCALL) || !put_event(s))
        return false;
    if (s->p) {
        gt_w_bind_proc(NULL, s->p);
        s->p->state = GT_W_IDLE;
    }
    return true;
}

/* ---- ranges ---------------------------------------------------------------------------------- */

static bool check_range(gt_w_step *s, bool good, const char *what)
{
    return good || gt_w_refuse(s->w, GOTRACE_RULE_RANGE, "%s, but %s", gt_w_name(s), what);
}

static bool gc_active(gt_w_step *s, const gotrace_semantics *does)
{
    static const gotrace_semantics anywhere;
    gotrace_writer *w = s->w;
    bool unknown = w->gc == GT_W_GC_UNKNOWN && gt_w_is_first(w);
    if (w->gc == GT_W_GC_ON && w->gc_generation == w->generation)
        return true;
    if (!find_context(s, unknown ? &anywhere : does))
        return false;
    if (w->gc != GT_W_GC_ON && !unknown &&
        !gt_w_refuse(w, GOTRACE_RULE_GC_START, "GCActive, but no GC cycle is going on"))
        return false;
    if (!enter_running(s))
        return false;
    if (w->gc_generation == w->generation) /* its status was due and has been written */
        return true;
    w->gc = GT_W_GC_ON;
    w->gc_generation = w->generation;
    w->gc_due = false;
    return put_numbered(s, ++w->gc_seq, 0);
}

static bool gc(gt_w_step *s, bool begins)
{
    gotrace_writer *w = s->w;
    bool unknown = w->gc == GT_W_GC_UNKNOWN && (begins || gt_w_is_first(w));
    if (!unknown && (w->gc == GT_W_GC_ON) == begins &&
        !gt_w_refuse(w, gotrace_range_spec_of(GOTRACE_RANGE_GC)->rules[begins], "%s, but %s",
                     gt_w_name(s),
                     begins ? "the last cycle has not ended" : "no cycle is going on"))
        return false;
    if (!enter_running(s))
        return false;
    if (!begins && w->gc_generation != w->generation) {
        uint64_t seq = ++w->gc_seq;
        if (!gt_w_put_status(w, s->t, GOTRACE_V2_GCActive, &seq, 1))
            return false;
    }
    w->gc = begins ? GT_W_GC_ON : GT_W_GC_OFF;
    w->gc_generation = w->generation;
    w->gc_due = false;
    return put_numbered(s, ++w->gc_seq, 0);
}

static bool sweep(gt_w_step *s, bool begins)
{
    gt_w_proc *p = s->p;
    bool unknown = p && !p->swept && gt_w_is_first(s->w);
    bool good = !p || (begins ? !p->sweeping : p->sweeping || unknown);
    if (!check_range(s, good, begins ? "the proc is sweeping already" : "the proc is not sweeping"))
        return false;
    if (!enter_running(s))
        return false;
    if (p && !begins && p->sweep_generation != s->w->generation) {
        const uint64_t id = (uint64_t)p->id;
        if (!gt_w_put_status(s->w, s->t, GOTRACE_V2_GCSweepActive, &id, 1))
            return false;
    }
    if (p) {
        p->swept = true;
        p->sweeping = begins;
        p->sweep_generation = s->w->generation;
    }
    return put_event(s);
}

static bool assist(gt_w_step *s, bool begins)
{
    gt_w_goroutine *g = s->g;
    bool unknown = g && !g->assisted && gt_w_is_first(s->w);
    bool good = !g || (begins ? !g->assisting : g->assisting || unknown);
    if (!check_range(s, good,
                     begins ? "the goroutine is assisting already"
                            : "the goroutine is not "
                              "assisting"))
        return false;
    if (!enter_running(s))
        return false;
    if (g && !begins && g->assist_generation != s->w->generation &&
        !gt_w_put_status(s->w, s->t, GOTRACE_V2_GCMarkAssistActive, &g->id, 1))
        return false;
    if (g) {
        g->assisted = true;
        g->assisting = begins;
        g->assist_generation = s->w->generation;
    }
    return put_event(s);
}

static bool stop_world(gt_w_step *s, bool begins)
{
    if (s->g && !check_range(s, s->g->stopping != begins,
                             begins ? "the goroutine has stopped the world already"
                                    : "the goroutine has not stopped the world"))
        return false;
    if (!enter_running(s))
        return false;
    if (s->g)
        s->g->stopping = begins;
    return put_event(s);
}

/* ---- user annotations ------------------------------------------------------------------------ */

static bool task(gt_w_step *s, bool begins)
{
    uint64_t id = s->h->args[0];
    if (begins && gt_map_get(&s->w->tasks, id) &&
        !gt_w_refuse(s->w, GOTRACE_RULE_TASK_CREATE,
                     "task %llu is created while one of that id goes on", num(id)))
        return false;
    if (!enter_running(s) || (begins && gt_w_begin_task(s->w, id) != GOTRACE_OK))
        return false;
    if (!begins)
        gt_map_remove(&s->w->tasks, id);
    gt_w_after(s->w, s->t->id, 0);
    bool good = put_event(s);
    gt_w_mark(s->w, s->t->id, 0);
    return good;
}

/* The hash of a name, because its id changes with the generation. */
static uint64_t name_of(const gotrace_writer *w, uint64_t id)
{
    const gt_intern *strings = &w->encoder->strings;
    return id == 0 || id > strings->count ? 0 : strings->entries[id - 1].hash;
}

static bool region(gt_w_step *s, bool begins)
{
    uint64_t id = s->h->args[0], name = name_of(s->w, s->h->args[1]);
    gt_w_goroutine *g = s->g;
    if (g && !begins && g->region_count > 0) {
        if (!gt_w_check_region_end(s->w, g, (gt_w_region){id, name}))
            return false;
        g->region_count--;
    }
    if (!enter_running(s) || (g && begins && gt_w_begin_region(s->w, g, id, name) != GOTRACE_OK))
        return false;
    return put_event(s);
}

/* ---- one event ------------------------------------------------------------------------------ */

/* The batch begins before the sample, as those of events do: readers move an event to after the
 * time at which the generation's earliest batch begins. */
static bool sample(gt_w_step *s)
{
    const gotrace_event_data *h = s->h;
    const uint64_t args[5] = {h->args[0], h->args[1], h->args[2], h->args[3], h->stack};
    return gt_w_open_generation(s->w) &&
           (gt_v2_sample(s->w->encoder, s->w->now - (s->w->now > 0), args, 5) == GOTRACE_OK ||
            (gt_w_encoder_failed(s->w), false));
}

static bool experiment(gt_w_step *s)
{
    const gotrace_event_data *h = s->h;
    uint64_t thread = h->thread == GOTRACE_NO_THREAD ? GT_V2_NO_THREAD : (uint64_t)h->thread;
    if (h->data_size > GT_BATCH_MAX)
        return gt_error_set(&s->w->error, GOTRACE_RULE_BATCH_HEADER, GT_NO_PLACE,
                            "ExperimentalBatch has %zu bytes; at most %d are allowed", h->data_size,
                            (int)GT_BATCH_MAX),
               false;
    return gt_w_open_generation(s->w) &&
           (gt_v2_experiment(s->w->encoder, h->args[0], thread, s->w->now, h->data, h->data_size) ==
                GOTRACE_OK ||
            (gt_w_encoder_failed(s->w), false));
}

GT_INLINE bool write_range(gt_w_step *s, const gotrace_semantics *does)
{
    bool begins = does->kind == GOTRACE_KIND_RANGE_BEGIN;
    bool active = does->kind == GOTRACE_KIND_RANGE_ACTIVE;
    switch ((gotrace_range)does->range) {
    case GOTRACE_RANGE_GC: return active ? gc_active(s, does) : gc(s, begins);
    case GOTRACE_RANGE_STW: return stop_world(s, begins);
    case GOTRACE_RANGE_SWEEP:
        return active ? gt_w_open_generation(s->w) && gt_w_sweep_active(s) : sweep(s, begins);
    case GOTRACE_RANGE_MARK_ASSIST:
        return active ? gt_w_open_generation(s->w) && gt_w_assist_active(s) : assist(s, begins);
    case GOTRACE_RANGE_NONE: break;
    }
    return false;
}

GT_INLINE bool write_transition(gt_w_step *s, const gotrace_semantics *does)
{
    bool proc = does->resource == GOTRACE_RESOURCE_PROC;
    if (does->status)
        return gt_w_open_generation(s->w) &&
               (proc ? gt_w_proc_status_event(s) : gt_w_goroutine_status_event(s));
    if (!proc)
        return write_goroutines(s, does);
    return does->numbered ? write_named_proc(s, does) : proc_stop(s);
}

/* Writes a row. Expanded for each row in gt_w_v2_event, so that *does is constant. Events without a
 * thread context, and those that determine it themselves, skip find_context. */
GT_INLINE bool write_row(gt_w_step *s, const gotrace_semantics *does)
{
    if (!does->status && does->kind != GOTRACE_KIND_RANGE_ACTIVE && !find_context(s, does))
        return false;
    switch ((gotrace_kind)does->kind) {
    case GOTRACE_KIND_TRANSITION: return write_transition(s, does);
    case GOTRACE_KIND_RANGE_BEGIN:
    case GOTRACE_KIND_RANGE_END:
    case GOTRACE_KIND_RANGE_ACTIVE: return write_range(s, does);
    case GOTRACE_KIND_TASK_BEGIN:
    case GOTRACE_KIND_TASK_END: return task(s, does->kind == GOTRACE_KIND_TASK_BEGIN);
    case GOTRACE_KIND_REGION_BEGIN:
    case GOTRACE_KIND_REGION_END: return region(s, does->kind == GOTRACE_KIND_REGION_BEGIN);
    case GOTRACE_KIND_METRIC:
    case GOTRACE_KIND_LABEL:
    case GOTRACE_KIND_LOG:
    case GOTRACE_KIND_EXPERIMENT:
    case GOTRACE_KIND_NONE:
    case GOTRACE_KIND_SYSCALL:
    case GOTRACE_KIND_SYNC:
    case GOTRACE_KIND_SAMPLE: break;
    }
    return enter_running(s) && put_event(s);
}

static const gotrace_semantics rows[GT_V2_EVENT_COUNT] = {
#define STRIP(...) __VA_ARGS__
#define N(code, name, since, summary)
#define E(code, name, since, flags, args, summary, does)
#define T(code, name, since, flags, args, summary, does) [code] = {STRIP does},
#include "events_v2.def"
#undef T
};

static bool dispatch(gt_w_step *s)
{
    switch (s->code) {
#define T(code, name, since, flags, args, summary, does)                                           \
    case code:                                                                                     \
        return write_row(s, &rows[code]);
#include "events_v2.def"
#undef N
#undef E
#undef T
    case GOTRACE_V2_CPUSample: return sample(s);
    case GOTRACE_V2_ExperimentalBatch: return experiment(s);
    default: return false; /* the writer rejected structural records before */
    }
}

gotrace_status gt_w_v2_event(gt_w_step *s)
{
    if (!dispatch(s))
        return GOTRACE_ERROR;
    if (s->t && s->t != &s->w->no_thread)
        s->w->latest = s->t;
    return GOTRACE_OK;
}
