/*
 * follow.c - what an event asks of goroutines, procs and threads, and what it does to them.
 */
#include "read/v2/follow.h"

#include <stdio.h>
#include <string.h>

const char *gt_v2_name_of(const gt_follow *f)
{
    return gt_v2_spec(f->reader->summary.version, f->e->type)->name;
}

const char *gt_v2_status_name(uint8_t status)
{
    static const char *const names[] = {"undetermined", "runnable", "running", "in a system call",
                                        "waiting"};
    return names[status < 5 ? status : 0];
}

const char *gt_v2_proc_status_name(uint8_t status)
{
    static const char *const names[] = {"undetermined", "running", "idle", "in a system call",
                                        "left in a system call"};
    return names[status < 5 ? status : 0];
}

static unsigned long long num(uint64_t n)
{
    return n;
}

gt_followed gt_v2_refused(const gt_follow *f)
{
    gt_goroutines *table = &f->v2->goroutines;
    if (table->limited) {
        gt_error_limit(&f->reader->error, GOTRACE_LIMIT_GOROUTINES, GT_AT(f->e->offset),
                       table->limit);
        gt_fail(f->reader);
    } else {
        gt_fail_memory(f->reader);
    }
    return GT_FOLLOW_FAILED;
}

/* ---- contexts ------------------------------------------------------------------------------ */

bool gt_v2_context_report(gt_follow *f, unsigned needs)
{
    if (!f->t)
        return GT_BROKEN(f, GOTRACE_RULE_CONTEXT, "%s needs a thread, and has none",
                         gt_v2_name_of(f));
    if ((needs & GT_WITH_PROC) && !f->p)
        return GT_BROKEN(f, GOTRACE_RULE_CONTEXT, "%s needs a proc, and its thread has none",
                         gt_v2_name_of(f));
    if ((needs & GT_NO_PROC) && f->p)
        return GT_BROKEN(f, GOTRACE_RULE_CONTEXT,
                         "%s needs a thread without a proc, but it has %llu", gt_v2_name_of(f),
                         num(f->p->id));
    if ((needs & GT_WITH_GOROUTINE) && !f->g)
        return GT_BROKEN(f, GOTRACE_RULE_CONTEXT, "%s needs a goroutine, and its thread has none",
                         gt_v2_name_of(f));
    return GT_BROKEN(f, GOTRACE_RULE_CONTEXT,
                     "%s needs a thread without a goroutine, but it has %llu", gt_v2_name_of(f),
                     num(f->g->id));
}

/* The ids that mean none are taken so, as in Go's reader. */
void gt_v2_bind_goroutine(gt_v2_thread *t, gt_goroutine *g)
{
    if (t) {
        t->g = g && g->id != GT_V2_NO_ID ? g : NULL;
        t->g_id = g ? g->id : 0;
    }
}

void gt_v2_bind_proc(gt_v2_thread *t, gt_v2_proc *p)
{
    if (t->p && t->p->holder == t)
        t->p->holder = NULL;
    t->p = p && p->id != GT_V2_NO_ID ? p : NULL;
    if (t->p)
        p->holder = t;
}

/* The thread has no proc from here on: what waits for that is ready. */
static void unbind_proc(struct gt_v2 *v2, gt_v2_thread *t)
{
    gt_v2_bind_proc(t, NULL);
    gt_v2_wake(v2, t->id, 0, GT_WAIT_THREAD);
}

/* ---- what is delivered --------------------------------------------------------------------- */

/* An event that comes of another, with arguments of its own. */
static gt_v2_out *emit_made(gt_follow *f, uint8_t type, uint64_t a, uint64_t b, uint64_t subject,
                            uint8_t from, uint8_t to)
{
    gt_v2_out *out = gt_v2_emit_transition(f, type, subject, from, to);
    if (f->v2->silent)
        return out;
    memset(out->args, 0, sizeof out->args);
    out->args[0] = a;
    out->args[1] = b;
    out->stack = 0;
    return out;
}

const uint8_t gt_v2_shown[5] = {GOTRACE_STATE_UNDETERMINED, GOTRACE_STATE_RUNNABLE,
                                GOTRACE_STATE_RUNNING, GOTRACE_STATE_SYSCALL,
                                GOTRACE_STATE_WAITING};
/* A proc in a system call still is its thread's; one left there is nobody's. */
const uint8_t gt_v2_shown_proc[5] = {GOTRACE_STATE_UNDETERMINED, GOTRACE_STATE_RUNNING,
                                     GOTRACE_STATE_IDLE, GOTRACE_STATE_RUNNING, GOTRACE_STATE_IDLE};

/* ---- goroutines ---------------------------------------------------------------------------- */

/* The goroutine changes: whoever waits for it to be so is ready. */
void gt_v2_set_status(gt_follow *f, gt_goroutine *g, uint8_t status)
{
    g->status = status;
    g->shown = gt_v2_shown[status];
    g->since = f->e->time;
    gt_v2_wake(f->v2, g->id, g->seq, status);
}

static bool is_at(const gt_follow *f, const gt_goroutine *g, uint8_t status, uint64_t seq)
{
    return g && g->status == status && g->generation == f->generation && seq == g->seq + 1;
}

/* What was found in place of the status and the sequence number that an event needs. */
static void describe(char found[80], const char *status, uint64_t seq, bool earlier)
{
    snprintf(found, 80, "%s at %llu%s", status, num(seq),
             earlier ? " of an earlier generation" : "");
}

/* Report that a goroutine or proc has not the status and sequence number that the event needs. Go's
 * reader lets events of number 0 wait for ever too: numbers begin at 1 after each status event. */
static bool report_not_ready(gt_follow *f, const char *what, uint64_t id, const char *wanted,
                             uint64_t seq, const char *found)
{
    if (seq == 0)
        return GT_BROKEN(f, GOTRACE_RULE_ORDER_SEQUENCE,
                         "%s has sequence number 0, but those of %s %llu begin at 1 in each "
                         "generation; it is %s",
                         gt_v2_name_of(f), what, num(id), found);
    return GT_BROKEN(f, GOTRACE_RULE_ORDER_SEQUENCE,
                     "%s needs %s %llu %s at sequence number %llu, but it is %s and nothing is "
                     "left that could change that",
                     gt_v2_name_of(f), what, num(id), wanted, num(seq - 1), found);
}

/* The event needs goroutine id at that status and sequence number, and it is elsewhere. */
static gt_followed goroutine_not_ready(gt_follow *f, uint64_t id, uint8_t status, uint64_t seq,
                                       gt_goroutine **g)
{
    if (!f->c->forced) {
        /* It may not be there yet: who waits for that is woken when it comes to be. */
        if (!gt_waits_park(&f->v2->waits, f->c->number, f->e->time, id, seq - 1, status))
            return gt_v2_refused(f);
        return GT_FOLLOW_WAIT;
    }
    char found[80] = "not there";
    if (*g)
        describe(found, gt_v2_status_name((*g)->status), (*g)->seq,
                 (*g)->generation != f->generation);
    if (!report_not_ready(f, "goroutine", id, gt_v2_status_name(status), seq, found))
        return GT_FOLLOW_FAILED;
    if (!*g && !(*g = gt_goroutine_get(&f->v2->goroutines, id)))
        return gt_v2_refused(f);
    return GT_FOLLOW_DONE;
}

/* A goroutine comes to be. */
gt_goroutine *gt_v2_make_goroutine(gt_follow *f, uint64_t id, uint8_t status)
{
    gt_goroutine *g = gt_goroutine_get(&f->v2->goroutines, id);
    if (!g)
        return NULL;
    g->known = true;
    g->generation = f->generation;
    g->seq = 0;
    g->created = f->e->time;
    gt_v2_set_status(f, g, status);
    return g;
}

static gt_followed create(gt_follow *f, uint8_t status)
{
    uint64_t id = f->e->args[0];
    bool in_syscall = status == GT_G_SYSCALL;
    if (!gt_v2_context(f, in_syscall ? GT_NO_GOROUTINE : GT_WITH_PROC))
        return GT_FOLLOW_FAILED;
    if (!in_syscall && f->g && f->g->status != GT_G_RUNNING &&
        !GT_BROKEN(f, GOTRACE_RULE_GO_RUNNING, "%s: goroutine %llu is %s, it has to be running",
                   gt_v2_name_of(f), num(f->g->id), gt_v2_status_name(f->g->status)))
        return GT_FOLLOW_FAILED;
    if (gt_goroutine_find(&f->v2->goroutines, id) &&
        !GT_BROKEN(f, GOTRACE_RULE_GO_CREATE,
                   "goroutine %llu is created, but there is one of that id", num(id)))
        return GT_FOLLOW_FAILED;
    gt_goroutine *g = gt_v2_make_goroutine(f, id, status);
    if (!g)
        return gt_v2_refused(f);
    g->creator = f->g ? f->g->id : 0;
    g->start_stack = in_syscall ? 0 : f->e->args[1];
    g->cause = f->e->offset;
    f->reader->summary.goroutines_created++;
    gt_v2_emit_transition(f, f->e->type, id, GOTRACE_STATE_NOT_EXIST, gt_v2_shown[status]);
    if (in_syscall)
        gt_v2_bind_goroutine(f->t, g);
    return GT_FOLLOW_DONE;
}

static bool running_report(gt_follow *f, uint8_t status)
{
    return GT_BROKEN(f, GOTRACE_RULE_GO_RUNNING, "%s: goroutine %llu is %s, it has to be %s",
                     gt_v2_name_of(f), num(f->g->id), gt_v2_status_name(f->g->status),
                     gt_v2_status_name(status));
}

/* The thread's goroutine does something that only a running one can. */
static inline bool check_running(gt_follow *f, uint8_t status)
{
    return gt_v2_context(f, GT_USER) &&
           (!f->g || f->g->status == status || running_report(f, status));
}

static bool end_goroutine(gt_follow *f)
{
    gt_goroutine *g = f->g;
    f->reader->summary.goroutines_ended++;
    g->status = 0;
    g->shown = GOTRACE_STATE_NOT_EXIST;
    return gt_goroutine_end(&f->v2->goroutines, g);
}

static gt_followed stop(gt_follow *f)
{
    if (!check_running(f, GT_G_RUNNING))
        return GT_FOLLOW_FAILED;
    uint8_t type = f->e->type;
    bool ends = type == GOTRACE_V2_GoDestroy;
    uint8_t to = type == GOTRACE_V2_GoStop ? GT_G_RUNNABLE : GT_G_WAITING;
    gt_v2_emit_transition(f, type, f->g ? f->g->id : 0, GOTRACE_STATE_RUNNING,
                          ends ? GOTRACE_STATE_NOT_EXIST : gt_v2_shown[to]);
    gt_v2_bind_goroutine(f->t, NULL);
    if (!f->g)
        return GT_FOLLOW_DONE;
    if (ends)
        return end_goroutine(f) ? GT_FOLLOW_DONE : gt_v2_refused(f);
    gt_v2_set_status(f, f->g, to);
    return GT_FOLLOW_DONE;
}

static gt_followed start(gt_follow *f)
{
    uint64_t id = f->e->args[0], seq = f->e->args[1];
    gt_goroutine *g = gt_goroutine_find(&f->v2->goroutines, id);
    if (!is_at(f, g, GT_G_RUNNABLE, seq)) {
        gt_followed r = goroutine_not_ready(f, id, GT_G_RUNNABLE, seq, &g);
        if (r != GT_FOLLOW_DONE)
            return r;
    }
    if (!gt_v2_context(f, GT_WITH_PROC | GT_NO_GOROUTINE))
        return GT_FOLLOW_FAILED;
    gt_v2_out *out = gt_v2_emit_transition(f, f->e->type, id, GOTRACE_STATE_RUNNABLE,
                                           GOTRACE_STATE_RUNNING);
    out->cause = g->cause;
    g->cause = 0;
    g->seq = seq;
    g->generation = f->generation;
    gt_v2_set_status(f, g, GT_G_RUNNING);
    gt_v2_bind_goroutine(f->t, g);
    return GT_FOLLOW_DONE;
}

static gt_followed unblock(gt_follow *f)
{
    uint64_t id = f->e->args[0], seq = f->e->args[1];
    gt_goroutine *g = gt_goroutine_find(&f->v2->goroutines, id);
    if (!is_at(f, g, GT_G_WAITING, seq)) {
        gt_followed r = goroutine_not_ready(f, id, GT_G_WAITING, seq, &g);
        if (r != GT_FOLLOW_DONE)
            return r;
    }
    gt_v2_emit_transition(f, f->e->type, id, GOTRACE_STATE_WAITING, GOTRACE_STATE_RUNNABLE);
    g->seq = seq;
    g->generation = f->generation;
    g->cause = f->e->offset;
    gt_v2_set_status(f, g, GT_G_RUNNABLE);
    return GT_FOLLOW_DONE;
}

/* A coroutine switch: another goroutine is unblocked, this one blocks or ends, the other starts. */
static gt_followed switch_to(gt_follow *f)
{
    uint64_t id = f->e->args[0], seq = f->e->args[1];
    if (!check_running(f, GT_G_RUNNING))
        return GT_FOLLOW_FAILED;
    gt_goroutine *next = gt_goroutine_find(&f->v2->goroutines, id);
    if (!is_at(f, next, GT_G_WAITING, seq)) {
        gt_followed r = goroutine_not_ready(f, id, GT_G_WAITING, seq, &next);
        if (r != GT_FOLLOW_DONE)
            return r;
    }
    uint64_t self = f->g ? f->g->id : 0;
    bool ends = f->e->type == GOTRACE_V2_GoSwitchDestroy;
    gt_v2_emit_transition(f, f->e->type, id, GOTRACE_STATE_WAITING, GOTRACE_STATE_RUNNABLE);
    emit_made(f, ends ? GOTRACE_V2_GoDestroy : GOTRACE_V2_GoBlock, 0, 0, self,
              GOTRACE_STATE_RUNNING, ends ? GOTRACE_STATE_NOT_EXIST : GOTRACE_STATE_WAITING);
    gt_v2_bind_goroutine(f->t, NULL);
    if (f->g && ends) {
        bool itself = next == f->g;
        /* Its memory is given back: one that claims to go on after its end is another. */
        if (!end_goroutine(f) || (itself && !(next = gt_goroutine_get(&f->v2->goroutines, id))))
            return gt_v2_refused(f);
    } else if (f->g) {
        gt_v2_set_status(f, f->g, GT_G_WAITING);
    }
    f->g = NULL;
    gt_v2_out *out = emit_made(f, GOTRACE_V2_GoStart, id, seq, id, GOTRACE_STATE_RUNNABLE,
                               GOTRACE_STATE_RUNNING);
    out->cause = f->e->offset;
    next->seq = seq;
    next->generation = f->generation;
    next->cause = 0;
    gt_v2_set_status(f, next, GT_G_RUNNING);
    gt_v2_bind_goroutine(f->t, next);
    return GT_FOLLOW_DONE;
}

/* ---- procs --------------------------------------------------------------------------------- */

static gt_v2_proc *find_proc(const struct gt_v2 *v2, uint64_t id)
{
    return (gt_v2_proc *)(uintptr_t)gt_map_get(&v2->procs, id);
}

gt_v2_proc *gt_v2_proc_of(gt_follow *f, uint64_t id, bool make)
{
    gt_v2_proc *p = find_proc(f->v2, id);
    if (p || !make)
        return p;
    p = gt_arena_alloc(&f->v2->arena, sizeof *p);
    if (!p)
        return NULL;
    *p = (gt_v2_proc){.id = id};
    if (!gt_map_put(&f->v2->procs, id, (uint64_t)(uintptr_t)p))
        return NULL;
    f->reader->summary.procs++;
    return p;
}

void gt_v2_set_proc(gt_follow *f, gt_v2_proc *p, uint8_t status)
{
    p->status = status;
    if (status == GT_P_IDLE)
        gt_v2_wake(f->v2, p->id, p->seq, GT_WAIT_IDLE);
    else if (status == GT_P_SYSCALL || status == GT_P_ABANDONED)
        gt_v2_wake(f->v2, p->id, p->seq, GT_WAIT_STEAL);
}

gt_followed gt_v2_park(gt_follow *f, uint64_t id, uint64_t seq, uint8_t what)
{
    return gt_waits_park(&f->v2->waits, f->c->number, f->e->time, id, seq, what) ? GT_FOLLOW_WAIT
                                                                                 : gt_v2_refused(f);
}

/* The event needs a proc that is wanted so, and it is not: it is believed. */
static gt_followed proc_not_ready(gt_follow *f, uint64_t id, const char *wanted, uint64_t seq,
                                  gt_v2_proc **p)
{
    char found[80] = "not there";
    if (*p)
        describe(found, gt_v2_proc_status_name((*p)->status), (*p)->seq,
                 (*p)->generation != f->generation);
    if (!report_not_ready(f, "proc", id, wanted, seq, found))
        return GT_FOLLOW_FAILED;
    *p = gt_v2_proc_of(f, id, true);
    return *p ? GT_FOLLOW_DONE : gt_v2_refused(f);
}

static gt_followed proc_start(gt_follow *f)
{
    uint64_t id = f->e->args[0], seq = f->e->args[1];
    gt_v2_proc *p = find_proc(f->v2, id);
    bool ready = p && p->status == GT_P_IDLE && p->generation == f->generation && seq == p->seq + 1;
    if (!f->c->forced && !ready)
        return gt_v2_park(f, id, seq - 1, GT_WAIT_IDLE);
    if (!f->c->forced && f->p && f->t) /* its own is about to be stolen */
        return gt_v2_park(f, f->t->id, 0, GT_WAIT_THREAD);
    gt_followed r = ready ? GT_FOLLOW_DONE : proc_not_ready(f, id, "idle", seq, &p);
    if (r != GT_FOLLOW_DONE)
        return r;
    if (!gt_v2_context(f, GT_NO_PROC))
        return GT_FOLLOW_FAILED;
    gt_v2_emit_transition(f, f->e->type, id, GOTRACE_STATE_IDLE, GOTRACE_STATE_RUNNING);
    p->seq = seq;
    p->generation = f->generation;
    gt_v2_set_proc(f, p, GT_P_RUNNING);
    if (f->t)
        gt_v2_bind_proc(f->t, p);
    return GT_FOLLOW_DONE;
}

static gt_followed proc_stop(gt_follow *f)
{
    if (!gt_v2_context(f, GT_WITH_PROC))
        return GT_FOLLOW_FAILED;
    if (f->p && f->p->status != GT_P_RUNNING && f->p->status != GT_P_SYSCALL &&
        !GT_BROKEN(f, GOTRACE_RULE_PROC_STOP, "proc %llu stops, but it is %s", num(f->p->id),
                   gt_v2_proc_status_name(f->p->status)))
        return GT_FOLLOW_FAILED;
    gt_v2_emit_transition(f, f->e->type, f->p ? f->p->id : GT_V2_NO_ID, GOTRACE_STATE_RUNNING,
                          GOTRACE_STATE_IDLE);
    if (f->p)
        gt_v2_set_proc(f, f->p, GT_P_IDLE);
    if (f->t)
        unbind_proc(f->v2, f->t);
    return GT_FOLLOW_DONE;
}

/* Whose proc it is that is taken, checked. */
static bool robbed(gt_follow *f, gt_v2_proc *p, gt_v2_thread **victim)
{
    uint64_t m = f->e->args[2];
    *victim = f->t && m == f->t->id ? f->t
                                    : (gt_v2_thread *)(uintptr_t)gt_map_get(&f->v2->threads, m);
    if (*victim && !(*victim)->seen)
        *victim = NULL;
    bool had = *victim && (*victim)->p;
    if (*victim && (had ? (*victim)->p->id : GT_V2_NO_ID) == p->id)
        return true;
    bool go_on = !*victim ? GT_BROKEN(f, GOTRACE_RULE_PROC_STEAL,
                                      "proc %llu is taken from thread %llu, which is not there",
                                      num(p->id), num(m))
                          : GT_BROKEN(f, GOTRACE_RULE_PROC_STEAL,
                                      "proc %llu is taken from thread %llu, which has %s%llu",
                                      num(p->id), num(m), had ? "proc " : "no proc, not ",
                                      num(had ? (*victim)->p->id : p->id));
    *victim = NULL;
    return go_on;
}

static gt_followed proc_steal(gt_follow *f)
{
    uint64_t id = f->e->args[0], seq = f->e->args[1];
    gt_v2_proc *p = find_proc(f->v2, id);
    bool ready = p && (p->status == GT_P_SYSCALL || p->status == GT_P_ABANDONED) &&
                 p->generation == f->generation && seq == p->seq + 1;
    if (!ready && !f->c->forced)
        return gt_v2_park(f, id, seq - 1, GT_WAIT_STEAL);
    gt_followed r = ready ? GT_FOLLOW_DONE : proc_not_ready(f, id, "in a system call", seq, &p);
    if (r != GT_FOLLOW_DONE)
        return r;
    if (!gt_v2_context(f, 0))
        return GT_FOLLOW_FAILED;
    bool abandoned = p->status == GT_P_ABANDONED;
    gt_v2_thread *victim = NULL;
    if (!abandoned && !robbed(f, p, &victim))
        return GT_FOLLOW_FAILED;
    gt_v2_emit_transition(f, f->e->type, id, abandoned ? GOTRACE_STATE_IDLE : GOTRACE_STATE_RUNNING,
                          GOTRACE_STATE_IDLE);
    p->seq = seq;
    p->generation = f->generation;
    gt_v2_set_proc(f, p, GT_P_IDLE);
    if (victim)
        unbind_proc(f->v2, victim);
    return GT_FOLLOW_DONE;
}

/* ---- system calls -------------------------------------------------------------------------- */

static gt_followed syscall_begin(gt_follow *f)
{
    uint64_t seq = f->e->args[0];
    if (!check_running(f, GT_G_RUNNING))
        return GT_FOLLOW_FAILED;
    if (f->p && (f->p->generation != f->generation || seq != f->p->seq + 1) &&
        !GT_BROKEN(f, GOTRACE_RULE_ORDER_SEQUENCE,
                   "GoSyscallBegin has sequence number %llu of proc %llu, which stands at %llu",
                   num(seq), num(f->p->id), num(f->p->seq)))
        return GT_FOLLOW_FAILED;
    gt_v2_emit_transition(f, f->e->type, f->g ? f->g->id : 0, GOTRACE_STATE_RUNNING,
                          GOTRACE_STATE_SYSCALL);
    if (f->g)
        gt_v2_set_status(f, f->g, GT_G_SYSCALL);
    if (f->p) {
        f->p->seq = seq;
        f->p->generation = f->generation;
        gt_v2_set_proc(f, f->p, GT_P_SYSCALL);
    }
    return GT_FOLLOW_DONE;
}

static gt_followed syscall_end(gt_follow *f)
{
    if (!check_running(f, GT_G_SYSCALL))
        return GT_FOLLOW_FAILED;
    if (f->p && f->p->status != GT_P_SYSCALL &&
        !GT_BROKEN(f, GOTRACE_RULE_GO_SYSEXIT,
                   "GoSyscallEnd: proc %llu is %s, it has to be in a "
                   "system call",
                   num(f->p->id), gt_v2_proc_status_name(f->p->status)))
        return GT_FOLLOW_FAILED;
    gt_v2_emit_transition(f, f->e->type, f->g ? f->g->id : 0, GOTRACE_STATE_SYSCALL,
                          GOTRACE_STATE_RUNNING);
    if (f->g)
        gt_v2_set_status(f, f->g, GT_G_RUNNING);
    if (f->p)
        gt_v2_set_proc(f, f->p, GT_P_RUNNING);
    return GT_FOLLOW_DONE;
}

/* Source: advanceGoSyscallEndBlocked: as long as the thread's proc is in the system call, it is
 * about to be taken, for the event says that it was lost. */
static gt_followed syscall_end_blocked(gt_follow *f)
{
    if (f->p && f->p->status == GT_P_SYSCALL) {
        if (!f->c->forced)
            return gt_v2_park(f, f->t->id, 0, GT_WAIT_THREAD);
        if (!GT_BROKEN(f, GOTRACE_RULE_ORDER_SEQUENCE,
                       "GoSyscallEndBlocked: thread %llu still has proc %llu, and nobody takes it",
                       num(f->t->id), num(f->p->id)))
            return GT_FOLLOW_FAILED;
    }
    if (!gt_v2_context(f, GT_WITH_GOROUTINE))
        return GT_FOLLOW_FAILED;
    if (f->g && f->g->status != GT_G_SYSCALL &&
        !GT_BROKEN(f, GOTRACE_RULE_GO_SYSEXIT,
                   "goroutine %llu leaves a system call, but it is %s; it has to be in one",
                   num(f->g->id), gt_v2_status_name(f->g->status)))
        return GT_FOLLOW_FAILED;
    gt_v2_emit_transition(f, f->e->type, f->g ? f->g->id : 0, GOTRACE_STATE_SYSCALL,
                          GOTRACE_STATE_RUNNABLE);
    gt_v2_bind_goroutine(f->t, NULL);
    if (f->g) {
        f->g->cause = f->e->offset;
        gt_v2_set_status(f, f->g, GT_G_RUNNABLE);
    }
    return GT_FOLLOW_DONE;
}

/* Source: advanceGoDestroySyscall: the thread's id may be used again, so its proc is left. */
static gt_followed destroy_syscall(gt_follow *f)
{
    if (!gt_v2_context(f, GT_WITH_GOROUTINE))
        return GT_FOLLOW_FAILED;
    if (f->g && f->g->status != GT_G_SYSCALL &&
        !GT_BROKEN(f, GOTRACE_RULE_GO_SYSEXIT, "goroutine %llu ends in a system call, but it is %s",
                   num(f->g->id), gt_v2_status_name(f->g->status)))
        return GT_FOLLOW_FAILED;
    if (f->p) {
        if (f->p->status != GT_P_SYSCALL &&
            !GT_BROKEN(f, GOTRACE_RULE_GO_SYSEXIT, "GoDestroySyscall: proc %llu is %s",
                       num(f->p->id), gt_v2_proc_status_name(f->p->status)))
            return GT_FOLLOW_FAILED;
        emit_made(f, GOTRACE_V2_ProcSteal, f->p->id, 0, f->p->id, GOTRACE_STATE_RUNNING,
                  GOTRACE_STATE_IDLE);
    }
    gt_v2_emit_transition(f, f->e->type, f->g ? f->g->id : 0, GOTRACE_STATE_SYSCALL,
                          GOTRACE_STATE_NOT_EXIST);
    if (f->p)
        gt_v2_set_proc(f, f->p, GT_P_ABANDONED);
    if (f->t) {
        gt_v2_bind_goroutine(f->t, NULL);
        unbind_proc(f->v2, f->t);
    }
    return !f->g || end_goroutine(f) ? GT_FOLLOW_DONE : gt_v2_refused(f);
}

/* ---- one event ----------------------------------------------------------------------------- */

gt_goroutine *gt_v2_goroutine_of(const gt_v2_thread *t)
{
    return t && t->g && t->g->id == t->g_id ? t->g : NULL;
}

/* An event that only says something, and needs no more than a context. */
static gt_followed tell(gt_follow *f, unsigned needs)
{
    if (!gt_v2_context(f, needs))
        return GT_FOLLOW_FAILED;
    gt_v2_emit(f, f->e->type);
    return GT_FOLLOW_DONE;
}

static gt_followed dispatch(gt_follow *f)
{
    switch (f->e->type) {
    case GOTRACE_V2_ProcStart: return proc_start(f);
    case GOTRACE_V2_ProcStop: return proc_stop(f);
    case GOTRACE_V2_ProcSteal: return proc_steal(f);
    case GOTRACE_V2_ProcStatus: return gt_v2_proc_status(f);
    case GOTRACE_V2_GoCreate: return create(f, GT_G_RUNNABLE);
    case GOTRACE_V2_GoCreateBlocked: return create(f, GT_G_WAITING);
    case GOTRACE_V2_GoCreateSyscall: return create(f, GT_G_SYSCALL);
    case GOTRACE_V2_GoStart: return start(f);
    case GOTRACE_V2_GoDestroy:
    case GOTRACE_V2_GoStop:
    case GOTRACE_V2_GoBlock: return stop(f);
    case GOTRACE_V2_GoDestroySyscall: return destroy_syscall(f);
    case GOTRACE_V2_GoUnblock: return unblock(f);
    case GOTRACE_V2_GoSwitch:
    case GOTRACE_V2_GoSwitchDestroy: return switch_to(f);
    case GOTRACE_V2_GoSyscallBegin: return syscall_begin(f);
    case GOTRACE_V2_GoSyscallEnd: return syscall_end(f);
    case GOTRACE_V2_GoSyscallEndBlocked: return syscall_end_blocked(f);
    case GOTRACE_V2_GoStatus:
    case GOTRACE_V2_GoStatusStack: return gt_v2_goroutine_status(f);
    case GOTRACE_V2_GCActive:
    case GOTRACE_V2_GCBegin:
    case GOTRACE_V2_GCEnd: return gt_v2_gc(f);
    case GOTRACE_V2_STWBegin:
    case GOTRACE_V2_STWEnd:
    case GOTRACE_V2_GCSweepActive:
    case GOTRACE_V2_GCSweepBegin:
    case GOTRACE_V2_GCSweepEnd:
    case GOTRACE_V2_GCMarkAssistActive:
    case GOTRACE_V2_GCMarkAssistBegin:
    case GOTRACE_V2_GCMarkAssistEnd: return gt_v2_range(f);
    case GOTRACE_V2_ProcsChange:
    case GOTRACE_V2_GoLabel: return tell(f, GT_USER);
    case GOTRACE_V2_HeapAlloc:
    case GOTRACE_V2_HeapGoal: return tell(f, GT_WITH_PROC);
    case GOTRACE_V2_UserTaskBegin:
    case GOTRACE_V2_UserTaskEnd:
    case GOTRACE_V2_UserRegionBegin:
    case GOTRACE_V2_UserRegionEnd:
    case GOTRACE_V2_UserLog: return gt_v2_user(f);
    default: return tell(f, 0); /* experiments */
    }
}

gt_followed gt_v2_follow(gotrace_reader *reader, struct gt_v2 *v2, gt_v2_cursor *c)
{
    gt_v2_thread *t = c->thread;
    gt_follow f = {.reader = reader,
                   .v2 = v2,
                   .c = c,
                   .e = c->head,
                   .t = t,
                   .g = gt_v2_goroutine_of(t),
                   .p = t ? t->p : NULL,
                   .generation = v2->generation,
                   .initial = v2->generation == v2->initial};
    if (t)
        t->seen = true;
    return dispatch(&f);
}
