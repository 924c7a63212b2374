/*
 * writer.c - v2: what an event asks of goroutines, procs and threads, what it does to them, and
 * which records say so.
 *
 * What is asked is what our reader asks (read/v2/follow.c, read/v2/status.c), after Go's ordering
 * reader. Which statuses stand before an event, and in which order, is as in Go's traceruntime.go.
 */
#include <stdio.h>

#include "write/writer.h"

#define num gt_w_num

/* What an event needs of its thread. OF_ITS_OWN: what happens on none, or sees to it by itself. */
enum { WITH_PROC = 1, NO_PROC = 2, WITH_GOROUTINE = 4, NO_GOROUTINE = 8, OF_ITS_OWN = 16 };
enum { USER = WITH_PROC | WITH_GOROUTINE };

static const uint8_t needs_of[GT_CODES] = {
    [GOTRACE_V2_ProcStart] = NO_PROC,
    [GOTRACE_V2_ProcStop] = WITH_PROC,
    [GOTRACE_V2_GoCreate] = WITH_PROC,
    [GOTRACE_V2_GoCreateBlocked] = WITH_PROC,
    [GOTRACE_V2_GoCreateSyscall] = NO_GOROUTINE,
    [GOTRACE_V2_GoStart] = WITH_PROC | NO_GOROUTINE,
    [GOTRACE_V2_GoDestroy] = USER,
    [GOTRACE_V2_GoStop] = USER,
    [GOTRACE_V2_GoBlock] = USER,
    [GOTRACE_V2_GoSwitch] = USER,
    [GOTRACE_V2_GoSwitchDestroy] = USER,
    [GOTRACE_V2_GoSyscallBegin] = USER,
    [GOTRACE_V2_GoSyscallEnd] = USER,
    [GOTRACE_V2_GoSyscallEndBlocked] = WITH_GOROUTINE,
    [GOTRACE_V2_GoDestroySyscall] = WITH_GOROUTINE,
    [GOTRACE_V2_ProcStatus] = OF_ITS_OWN,
    [GOTRACE_V2_GoStatus] = OF_ITS_OWN,
    [GOTRACE_V2_GoStatusStack] = OF_ITS_OWN,
    [GOTRACE_V2_GCSweepActive] = OF_ITS_OWN,
    [GOTRACE_V2_GCMarkAssistActive] = OF_ITS_OWN,
    [GOTRACE_V2_GCActive] = OF_ITS_OWN,
    [GOTRACE_V2_GCBegin] = USER,
    [GOTRACE_V2_GCEnd] = USER,
    [GOTRACE_V2_STWBegin] = USER,
    [GOTRACE_V2_STWEnd] = USER,
    [GOTRACE_V2_GCSweepBegin] = WITH_PROC,
    [GOTRACE_V2_GCSweepEnd] = WITH_PROC,
    [GOTRACE_V2_GCMarkAssistBegin] = USER,
    [GOTRACE_V2_GCMarkAssistEnd] = USER,
    [GOTRACE_V2_ProcsChange] = USER,
    [GOTRACE_V2_GoLabel] = USER,
    [GOTRACE_V2_UserLog] = USER,
    [GOTRACE_V2_HeapAlloc] = WITH_PROC,
    [GOTRACE_V2_HeapGoal] = WITH_PROC,
    [GOTRACE_V2_UserTaskBegin] = USER,
    [GOTRACE_V2_UserTaskEnd] = USER,
    [GOTRACE_V2_UserRegionBegin] = USER,
    [GOTRACE_V2_UserRegionEnd] = USER,
    [GOTRACE_V2_CPUSample] = OF_ITS_OWN,
    [GOTRACE_V2_ExperimentalBatch] = OF_ITS_OWN,
};

/* ---- context -------------------------------------------------------------------------------- */

/* A proc that the thread may have, as far as is known. */
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

/* A goroutine that was there before the trace began can only come in the first generation. */
static bool may_appear(gt_w_step *s, const gt_w_goroutine *g)
{
    return g->state != GT_W_NONE || s->w->generation == 1 ||
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

/* What was told of the context, where it is not what the thread is known to have. */
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

static bool lacks(gt_w_step *s, unsigned needs)
{
    const char *name = gt_w_name(s);
    long long thread = (long long)s->t->id;
    if ((needs & WITH_PROC) && !s->p)
        return gt_w_refuse(s->w, GOTRACE_RULE_CONTEXT, "%s needs a proc, and thread %lld has none",
                           name, thread);
    if ((needs & NO_PROC) && s->p)
        return gt_w_refuse(s->w, GOTRACE_RULE_CONTEXT,
                           "%s: proc %llu cannot start on thread %lld: proc %lld runs there", name,
                           num(s->h->args[0]), thread, (long long)s->p->id);
    if ((needs & WITH_GOROUTINE) && !s->g)
        return gt_w_refuse(s->w, GOTRACE_RULE_CONTEXT,
                           "%s needs a goroutine, and none runs on thread %lld", name, thread);
    return gt_w_refuse(s->w, GOTRACE_RULE_CONTEXT,
                       "goroutine %llu cannot start on %s %lld: goroutine %llu runs there",
                       num(s->h->args[0]), s->p ? "proc" : "thread",
                       s->p ? (long long)s->p->id : thread, num(s->g->id));
}

/* The context, and whether it is what the event needs. Nothing is written yet. */
static bool context(gt_w_step *s, unsigned needs)
{
    const gotrace_happening *h = s->h;
    if (h->thread == GOTRACE_NO_THREAD) {
        if (!gt_w_refuse(s->w, GOTRACE_RULE_CONTEXT, "%s needs a thread, and none is told",
                         gt_w_name(s)))
            return false;
        s->t = &s->w->nowhere;
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
        /* What begins may be told as the context in which it does. */
        bool own_proc = s->code == GOTRACE_V2_ProcStart && (uint64_t)h->proc == h->args[0];
        bool own_goroutine = (s->code == GOTRACE_V2_GoStart ||
                              s->code == GOTRACE_V2_GoCreateSyscall) &&
                             h->goroutine == h->args[0];
        if (!resolve(s, own_proc ? GOTRACE_NO_PROC : h->proc, own_goroutine ? 0 : h->goroutine))
            return false;
    }
    unsigned has = (s->p ? WITH_PROC : NO_PROC) | (s->g ? WITH_GOROUTINE : NO_GOROUTINE);
    return !(needs & ~has) || lacks(s, needs);
}

/* The thread's goroutine is in that state, if there is one. */
static bool check_state(gt_w_step *s, uint8_t state)
{
    const gt_w_goroutine *g = s->g;
    return !g || g->state == state || g->state == GT_W_NONE ||
           gt_w_refuse(s->w, GOTRACE_RULE_GO_RUNNING, "%s: goroutine %llu is %s; it has to be %s",
                       gt_w_name(s), num(g->id), gt_w_state_name(g->state), gt_w_state_name(state));
}

/* Make the context so, and have the generation told of it. What was not known is in these states,
 * as the event takes for granted. */
static bool enter_anew(gt_w_step *s, uint8_t proc_state, uint8_t goroutine_state)
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
    return (!p || gt_w_tell_proc(w, p, s->t)) &&
           (!g || gt_w_tell_goroutine(w, g, s->t, (uint64_t)s->t->id)) &&
           (!w->gc_due || gt_w_tell_gc(w, s->t));
}

/* The same, where it is most often so already. */
static inline bool enter(gt_w_step *s, uint8_t proc_state, uint8_t goroutine_state)
{
    const gotrace_writer *w = s->w;
    const gt_w_proc *p = s->p;
    const gt_w_goroutine *g = s->g;
    bool entered = w->open && !w->gc_due &&
                   (!p || (p->thread == s->t && p->generation == w->generation)) &&
                   (!g || (g->thread == s->t && g->generation == w->generation));
    return entered || enter_anew(s, proc_state, goroutine_state);
}

static bool enter_running(gt_w_step *s)
{
    return enter(s, GT_W_BUSY, GT_W_RUNNING);
}

/* A goroutine that the event is about, known or not, in the state that the event needs. */
static gt_w_goroutine *subject(gt_w_step *s, uint64_t id, uint8_t state, gotrace_rule rule)
{
    gt_w_goroutine *g = gt_w_make_goroutine(s->w, id);
    if (!g || !may_appear(s, g))
        return NULL;
    if (g->state == GT_W_NONE || g->state == state)
        return g;
    bool believed = gt_w_refuse(s->w, rule, "%s: goroutine %llu is %s; it has to be %s",
                                gt_w_name(s), num(id), gt_w_state_name(g->state),
                                gt_w_state_name(state));
    return believed ? g : NULL;
}

static bool tell_subject(gt_w_step *s, gt_w_goroutine *g, uint8_t state, uint64_t thread)
{
    if (!gt_w_open_generation(s->w))
        return false;
    if (g->state == GT_W_NONE)
        g->state = state;
    return gt_w_tell_goroutine(s->w, g, s->t, thread);
}

/* ---- records -------------------------------------------------------------------------------- */

/* The event that was told, with a sequence number among its arguments, before the n-th. */
static bool put_numbered(gt_w_step *s, uint64_t seq, size_t n)
{
    const gotrace_happening *h = s->h;
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
    gt_v2_keep(&s->t->buffer, p);
    return true;
}

static bool put_told(gt_w_step *s)
{
    const gotrace_happening *h = s->h;
    bool stack = h->spec->flags & GOTRACE_SPEC_STACK;
    uint8_t *p = gt_w_begin_record(s->w, s->t, s->code, h->arg_count + stack);
    if (!p)
        return false;
    for (size_t i = 0; i < h->arg_count; i++)
        p = gt_put(p, h->args[i]);
    if (stack)
        p = gt_put(p, h->stack);
    gt_v2_keep(&s->t->buffer, p);
    return true;
}

/* ---- goroutines ----------------------------------------------------------------------------- */

static bool create(gt_w_step *s, uint8_t state)
{
    uint64_t id = s->h->args[0];
    bool in_syscall = state == GT_W_SYSCALL;
    if (!in_syscall && !check_state(s, GT_W_RUNNING))
        return false;
    gt_w_goroutine *g = gt_w_find_goroutine(s->w, id);
    if (g && (g->state != GT_W_NONE || g == s->g) &&
        !gt_w_refuse(s->w, GOTRACE_RULE_GO_CREATE,
                     "goroutine %llu is created, but there is one of that id", num(id)))
        return false;
    /* A call from C comes in on a thread that may still have a proc, which is not told. */
    if (in_syscall ? !gt_w_open_generation(s->w) : !enter_running(s))
        return false;
    g = gt_w_make_goroutine(s->w, id);
    if (!g)
        return false;
    gt_w_bind_goroutine(in_syscall ? s->t : NULL, g);
    g->state = state;
    g->assisted = true;
    gt_w_goroutine_told(s->w, g);
    gt_w_after(s->w, s->t->id, id); /* there may have been one of that id */
    return put_told(s);
}

static bool start(gt_w_step *s)
{
    gt_w_goroutine *g = subject(s, s->h->args[0], GT_W_RUNNABLE, GOTRACE_RULE_GO_START);
    if (!g || !enter_running(s) || !tell_subject(s, g, GT_W_RUNNABLE, (uint64_t)s->t->id))
        return false;
    gt_w_bind_goroutine(s->t, g);
    g->state = GT_W_RUNNING;
    return put_numbered(s, ++g->seq, 1);
}

/* The goroutine is gone, and so is the memory of it. */
static bool end(gt_w_step *s, gt_w_goroutine *g)
{
    gt_w_mark(s->w, s->t->id, g->id);
    gt_w_bind_goroutine(NULL, g);
    return gt_w_end_goroutine(s->w, g) == GOTRACE_OK;
}

static bool stop(gt_w_step *s, uint8_t state)
{
    if (!check_state(s, GT_W_RUNNING) || !enter_running(s) || !put_told(s))
        return false;
    if (!s->g)
        return true;
    if (state == GT_W_NONE)
        return end(s, s->g);
    gt_w_bind_goroutine(NULL, s->g);
    s->g->state = state;
    return true;
}

static bool unblock(gt_w_step *s)
{
    gt_w_goroutine *g = subject(s, s->h->args[0], GT_W_WAITING, GOTRACE_RULE_GO_UNBLOCK);
    if (!g || !tell_subject(s, g, GT_W_WAITING, GT_V2_NO_THREAD) || !enter_running(s))
        return false;
    gt_w_bind_goroutine(NULL, g);
    g->state = GT_W_RUNNABLE;
    return put_numbered(s, ++g->seq, 1);
}

static bool switch_to(gt_w_step *s, uint8_t state)
{
    if (!check_state(s, GT_W_RUNNING))
        return false;
    gt_w_goroutine *g = subject(s, s->h->args[0], GT_W_WAITING, GOTRACE_RULE_GO_START);
    if (!g || !tell_subject(s, g, GT_W_WAITING, GT_V2_NO_THREAD) || !enter_running(s) ||
        !put_numbered(s, ++g->seq, 1))
        return false;
    if (s->g && s->g != g && state == GT_W_NONE) {
        if (!end(s, s->g))
            return false;
    } else if (s->g) {
        s->g->state = state;
    }
    gt_w_bind_goroutine(s->t, g);
    g->state = GT_W_RUNNING;
    return true;
}

/* ---- system calls --------------------------------------------------------------------------- */

static bool syscall_begin(gt_w_step *s)
{
    if (!check_state(s, GT_W_RUNNING) || !enter_running(s))
        return false;
    if (s->g)
        s->g->state = GT_W_SYSCALL;
    if (s->p)
        s->p->state = GT_W_IN_SYSCALL;
    return put_numbered(s, s->p ? ++s->p->seq : 1, 0);
}

static bool syscall_end(gt_w_step *s)
{
    if (!check_state(s, GT_W_SYSCALL))
        return false;
    const gt_w_proc *p = s->p;
    if (p && p->state != GT_W_IN_SYSCALL && p->state != GT_W_UNKNOWN &&
        !gt_w_refuse(s->w, GOTRACE_RULE_GO_SYSEXIT,
                     "%s: proc %lld is %s; it has to be in a system call", gt_w_name(s),
                     (long long)p->id, gt_w_proc_state_name(p->state)))
        return false;
    if (!enter(s, GT_W_IN_SYSCALL, GT_W_SYSCALL) || !put_told(s))
        return false;
    if (s->g)
        s->g->state = GT_W_RUNNING;
    if (s->p)
        s->p->state = GT_W_BUSY;
    return true;
}

static bool syscall_end_blocked(gt_w_step *s)
{
    if (!check_state(s, GT_W_SYSCALL))
        return false;
    const gt_w_proc *p = s->p;
    if (p && p->state == GT_W_IN_SYSCALL &&
        !gt_w_refuse(s->w, GOTRACE_RULE_PROC_STEAL,
                     "%s: thread %lld still has proc %lld; it has to be taken from it before",
                     gt_w_name(s), (long long)s->t->id, (long long)p->id))
        return false;
    if (!enter(s, GT_W_BUSY, GT_W_SYSCALL) || !put_told(s))
        return false;
    if (s->g) {
        gt_w_bind_goroutine(NULL, s->g);
        s->g->state = GT_W_RUNNABLE;
    }
    return true;
}

/* The thread's id may be used again: its proc is left where it is. */
static bool destroy_syscall(gt_w_step *s)
{
    if (!check_state(s, GT_W_SYSCALL))
        return false;
    gt_w_proc *p = s->p;
    if (p && p->state != GT_W_IN_SYSCALL && p->state != GT_W_UNKNOWN &&
        !gt_w_refuse(s->w, GOTRACE_RULE_GO_SYSEXIT, "%s: proc %lld is %s", gt_w_name(s),
                     (long long)p->id, gt_w_proc_state_name(p->state)))
        return false;
    if (p && p->thread == s->t)
        s->p = NULL; /* it is not the goroutine's, and not told */
    if (!enter(s, GT_W_IN_SYSCALL, GT_W_SYSCALL) || !put_told(s))
        return false;
    if (p) {
        gt_w_bind_proc(NULL, p);
        p->state = GT_W_ABANDONED;
    }
    return !s->g || end(s, s->g);
}

/* ---- procs ---------------------------------------------------------------------------------- */

static bool proc_start(gt_w_step *s)
{
    gt_w_proc *p = gt_w_make_proc(s->w, (int64_t)s->h->args[0]);
    if (!p)
        return false;
    if (p->state != GT_W_UNKNOWN && p->state != GT_W_IDLE &&
        !gt_w_refuse(s->w, GOTRACE_RULE_PROC_START, "proc %lld starts, but it is %s",
                     (long long)p->id, gt_w_proc_state_name(p->state)))
        return false;
    if (!gt_w_open_generation(s->w))
        return false;
    if (p->state == GT_W_UNKNOWN)
        p->state = GT_W_IDLE;
    if (!gt_w_tell_proc(s->w, p, s->t) || !enter(s, GT_W_BUSY, GT_W_SYSCALL))
        return false;
    gt_w_bind_proc(s->t, p);
    p->state = GT_W_BUSY;
    return put_numbered(s, ++p->seq, 1);
}

static bool proc_stop(gt_w_step *s)
{
    if (!enter(s, GT_W_BUSY, GT_W_SYSCALL) || !put_told(s))
        return false;
    if (s->p) {
        gt_w_bind_proc(NULL, s->p);
        s->p->state = GT_W_IDLE;
    }
    return true;
}

static bool check_robbed(gt_w_step *s, const gt_w_proc *p)
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

static bool proc_steal(gt_w_step *s)
{
    gt_w_proc *p = gt_w_make_proc(s->w, (int64_t)s->h->args[0]);
    if (!p || !check_robbed(s, p) || !gt_w_open_generation(s->w))
        return false;
    if (p->state == GT_W_UNKNOWN)
        p->state = GT_W_ABANDONED;
    if (!gt_w_tell_proc(s->w, p, s->t))
        return false;
    /* A thread that takes back what it lost in a system call is still in it. */
    if (s->p == p)
        s->p = NULL;
    if (!enter_running(s))
        return false;
    gt_w_bind_proc(NULL, p);
    p->state = GT_W_IDLE;
    return put_numbered(s, ++p->seq, 1);
}

/* ---- what lasts ----------------------------------------------------------------------------- */

static bool check_range(gt_w_step *s, bool good, const char *what)
{
    return good || gt_w_refuse(s->w, GOTRACE_RULE_RANGE, "%s, but %s", gt_w_name(s), what);
}

static bool gc_active(gt_w_step *s)
{
    gotrace_writer *w = s->w;
    bool unknown = w->gc == GT_W_GC_UNKNOWN && w->generation == 1;
    if (w->gc == GT_W_GC_ON && w->gc_generation == w->generation)
        return true;
    if (!context(s, unknown ? 0 : USER))
        return false;
    if (w->gc != GT_W_GC_ON && !unknown &&
        !gt_w_refuse(w, GOTRACE_RULE_GC_START, "GCActive, but no GC cycle is going on"))
        return false;
    if (!enter_running(s))
        return false;
    if (w->gc_generation == w->generation) /* it had to be told before */
        return true;
    w->gc = GT_W_GC_ON;
    w->gc_generation = w->generation;
    w->gc_due = false;
    return put_numbered(s, ++w->gc_seq, 0);
}

static bool gc(gt_w_step *s, bool begins)
{
    gotrace_writer *w = s->w;
    bool unknown = w->gc == GT_W_GC_UNKNOWN && (begins || w->generation == 1);
    if (!unknown && (w->gc == GT_W_GC_ON) == begins &&
        !gt_w_refuse(w, begins ? GOTRACE_RULE_GC_START : GOTRACE_RULE_GC_DONE, "%s, but %s",
                     gt_w_name(s),
                     begins ? "the last cycle has not ended" : "no cycle is going on"))
        return false;
    if (!enter_running(s))
        return false;
    if (!begins && w->gc_generation != w->generation) {
        uint64_t seq = ++w->gc_seq;
        if (!gt_w_put(w, s->t, GOTRACE_V2_GCActive, &seq, 1))
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
    bool unknown = p && !p->swept && s->w->generation == 1;
    bool good = !p || (begins ? !p->sweeping : p->sweeping || unknown);
    if (!check_range(s, good, begins ? "the proc is sweeping already" : "the proc is not sweeping"))
        return false;
    if (!enter_running(s))
        return false;
    if (p && !begins && p->sweep_generation != s->w->generation) {
        const uint64_t id = (uint64_t)p->id;
        if (!gt_w_put(s->w, s->t, GOTRACE_V2_GCSweepActive, &id, 1))
            return false;
    }
    if (p) {
        p->swept = true;
        p->sweeping = begins;
        p->sweep_generation = s->w->generation;
    }
    return put_told(s);
}

static bool assist(gt_w_step *s, bool begins)
{
    gt_w_goroutine *g = s->g;
    bool unknown = g && !g->assisted && s->w->generation == 1;
    bool good = !g || (begins ? !g->assisting : g->assisting || unknown);
    if (!check_range(s, good,
                     begins ? "the goroutine is assisting already"
                            : "the goroutine is not "
                              "assisting"))
        return false;
    if (!enter_running(s))
        return false;
    if (g && !begins && g->assist_generation != s->w->generation &&
        !gt_w_put(s->w, s->t, GOTRACE_V2_GCMarkAssistActive, &g->id, 1))
        return false;
    if (g) {
        g->assisted = true;
        g->assisting = begins;
        g->assist_generation = s->w->generation;
    }
    return put_told(s);
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
    return put_told(s);
}

/* ---- what the program says ------------------------------------------------------------------ */

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
    bool good = put_told(s);
    gt_w_mark(s->w, s->t->id, 0);
    return good;
}

/* A name's hash: its id is another in the next generation. */
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
    return put_told(s);
}

/* ---- one event ------------------------------------------------------------------------------ */

/* An event that only says something, and needs no more than a context. */
static bool tell(gt_w_step *s)
{
    return enter_running(s) && put_told(s);
}

static bool sample(gt_w_step *s)
{
    const gotrace_happening *h = s->h;
    const uint64_t args[5] = {h->args[0], h->args[1], h->args[2], h->args[3], h->stack};
    return gt_w_open_generation(s->w) &&
           (gt_v2_sample(s->w->encoder, s->w->now, args, 5) == GOTRACE_OK ||
            (gt_w_broken(s->w), false));
}

static bool experiment(gt_w_step *s)
{
    const gotrace_happening *h = s->h;
    uint64_t thread = h->thread == GOTRACE_NO_THREAD ? GT_V2_NO_THREAD : (uint64_t)h->thread;
    if (h->data_size > GT_BATCH_MAX)
        return gt_error_set(&s->w->error, GOTRACE_RULE_BATCH_HEADER, GT_NOWHERE,
                            "ExperimentalBatch has %zu bytes; at most %d are allowed", h->data_size,
                            (int)GT_BATCH_MAX),
               false;
    return gt_w_open_generation(s->w) &&
           (gt_v2_experiment(s->w->encoder, h->args[0], thread, s->w->now, h->data, h->data_size) ==
                GOTRACE_OK ||
            (gt_w_broken(s->w), false));
}

static bool dispatch(gt_w_step *s)
{
    switch (s->code) {
    case GOTRACE_V2_ProcStart: return proc_start(s);
    case GOTRACE_V2_ProcStop: return proc_stop(s);
    case GOTRACE_V2_ProcSteal: return proc_steal(s);
    case GOTRACE_V2_GoCreate: return create(s, GT_W_RUNNABLE);
    case GOTRACE_V2_GoCreateBlocked: return create(s, GT_W_WAITING);
    case GOTRACE_V2_GoCreateSyscall: return create(s, GT_W_SYSCALL);
    case GOTRACE_V2_GoStart: return start(s);
    case GOTRACE_V2_GoDestroy: return stop(s, GT_W_NONE);
    case GOTRACE_V2_GoStop: return stop(s, GT_W_RUNNABLE);
    case GOTRACE_V2_GoBlock: return stop(s, GT_W_WAITING);
    case GOTRACE_V2_GoUnblock: return unblock(s);
    case GOTRACE_V2_GoSwitch: return switch_to(s, GT_W_WAITING);
    case GOTRACE_V2_GoSwitchDestroy: return switch_to(s, GT_W_NONE);
    case GOTRACE_V2_GoSyscallBegin: return syscall_begin(s);
    case GOTRACE_V2_GoSyscallEnd: return syscall_end(s);
    case GOTRACE_V2_GoSyscallEndBlocked: return syscall_end_blocked(s);
    case GOTRACE_V2_GoDestroySyscall: return destroy_syscall(s);
    case GOTRACE_V2_ProcStatus: return gt_w_open_generation(s->w) && gt_w_told_proc_status(s);
    case GOTRACE_V2_GoStatus:
    case GOTRACE_V2_GoStatusStack:
        return gt_w_open_generation(s->w) && gt_w_told_goroutine_status(s);
    case GOTRACE_V2_GCSweepActive:
    case GOTRACE_V2_GCMarkAssistActive: return gt_w_open_generation(s->w) && gt_w_told_active(s);
    case GOTRACE_V2_GCActive: return gc_active(s);
    case GOTRACE_V2_GCBegin: return gc(s, true);
    case GOTRACE_V2_GCEnd: return gc(s, false);
    case GOTRACE_V2_STWBegin: return stop_world(s, true);
    case GOTRACE_V2_STWEnd: return stop_world(s, false);
    case GOTRACE_V2_GCSweepBegin: return sweep(s, true);
    case GOTRACE_V2_GCSweepEnd: return sweep(s, false);
    case GOTRACE_V2_GCMarkAssistBegin: return assist(s, true);
    case GOTRACE_V2_GCMarkAssistEnd: return assist(s, false);
    case GOTRACE_V2_UserTaskBegin: return task(s, true);
    case GOTRACE_V2_UserTaskEnd: return task(s, false);
    case GOTRACE_V2_UserRegionBegin: return region(s, true);
    case GOTRACE_V2_UserRegionEnd: return region(s, false);
    case GOTRACE_V2_CPUSample: return sample(s);
    case GOTRACE_V2_ExperimentalBatch: return experiment(s);
    default: return tell(s);
    }
}

gotrace_status gt_w_v2_event(gt_w_step *s)
{
    uint8_t needs = needs_of[s->code];
    if (!(needs & OF_ITS_OWN) && !context(s, needs))
        return GOTRACE_ERROR;
    if (!dispatch(s))
        return GOTRACE_ERROR;
    if (s->t && s->t != &s->w->nowhere)
        s->w->latest = s->t;
    return GOTRACE_OK;
}
