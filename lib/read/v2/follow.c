/*
 * follow.c - what an event requires of goroutines, procs and threads, and what it changes.
 */
#include "read/v2/follow.h"

#include "core/semantics.h"

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
    gt_goroutines *table = &f->v2->states.goroutines;
    if (table->limited) {
        gt_error_limit(&f->reader->error, GOTRACE_LIMIT_GOROUTINES, GT_AT(f->e->offset),
                       table->limit);
        gt_fail(f->reader);
    } else {
        gt_fail_memory(f->reader);
    }
    return GT_FOLLOW_FAILED;
}

static const gotrace_semantics rows[GT_V2_EVENT_COUNT] = {
#define STRIP(...) __VA_ARGS__
#define N(code, name, since, summary)
#define E(code, name, since, flags, args, summary, does)
#define T(code, name, since, flags, args, summary, does) [code] = {STRIP does},
#include "events_v2.def"
#undef T
};

/* The status code (GT_G_*) for a state of the common model; 0: not existing. */
GT_INLINE uint8_t status_of(uint8_t state)
{
    switch (state) {
    case GOTRACE_STATE_RUNNABLE: return GT_G_RUNNABLE;
    case GOTRACE_STATE_RUNNING: return GT_G_RUNNING;
    case GOTRACE_STATE_SYSCALL: return GT_G_SYSCALL;
    case GOTRACE_STATE_WAITING: return GT_G_WAITING;
    default: return 0;
    }
}

/* The same for a proc: GT_P_*. */
GT_INLINE uint8_t proc_status_of(uint8_t state)
{
    switch (state) {
    case GOTRACE_STATE_RUNNING: return GT_P_RUNNING;
    case GOTRACE_STATE_IDLE: return GT_P_IDLE;
    case GOTRACE_STATE_SYSCALL: return GT_P_SYSCALL;
    case GOTRACE_STATE_ABANDONED: return GT_P_ABANDONED;
    default: return 0;
    }
}

/* ---- contexts ------------------------------------------------------------------------------ */

/* The thread has no goroutine, and the event is one of a goroutine's: it needs one, or it has a
 * stack, which only goroutines have. Either the record that stopped the previous goroutine is
 * damaged, or the next start is lost. The previous goroutine continues, unless it runs elsewhere,
 * so that one altered record does not leave all later events without their goroutine. Source:
 * Go 1.27, runtime/tracestack.go, traceStack. */
static bool resume_last(gt_follow *f)
{
    const gotrace_semantics *does = &rows[f->e->type];
    const gt_v2_shape *shape = &f->v2->shapes[f->e->type];
    bool has_stack = shape->flags & GOTRACE_SPEC_STACK && f->e->args[shape->values - 2];
    bool goes_on = !does->self.to || (does->self.from == GOTRACE_STATE_RUNNING &&
                                      (does->self.to == GOTRACE_STATE_RUNNING ||
                                       does->self.to == GOTRACE_STATE_SYSCALL));
    uint64_t id = f->t->g_id;
    gt_goroutine *g = gt_goroutine_find(&f->v2->states.goroutines, id);
    if (id == 0 || id == GT_V2_NO_ID || f->v2->assumed || !goes_on || does->status ||
        !(does->needs & GOTRACE_NEEDS_GOROUTINE || has_stack) ||
        (g && (g->status == GT_G_RUNNING || g->status == GT_G_SYSCALL)))
        return true;
    if (!g && !(g = gt_v2_make_goroutine(f, id, GT_G_RUNNING))) {
        gt_v2_refused(f);
        return false;
    }
    gt_v2_set_status(f, g, GT_G_RUNNING);
    gt_v2_bind_goroutine(f->t, g);
    f->g = g;
    return true;
}

__attribute__((cold, noinline)) static bool resume_after_damage(gt_follow *f)
{
    return !f->t || !f->v2->index.generations[f->v2->current].damaged || resume_last(f);
}

bool gt_v2_context_report(gt_follow *f, unsigned needs)
{
    const char *name = gt_v2_name_of(f);
    if (!f->t)
        return GT_BROKEN(f, GOTRACE_RULE_CONTEXT, "%s needs a thread, and has none", name);
    if ((needs & GOTRACE_NEEDS_PROC) && !f->p)
        return GT_BROKEN(f, GOTRACE_RULE_CONTEXT, "%s needs a proc, and its thread has none", name);
    if ((needs & GOTRACE_NEEDS_NO_PROC) && f->p)
        return GT_BROKEN(f, GOTRACE_RULE_CONTEXT,
                         "%s needs a thread without a proc, but its thread has proc %llu", name,
                         num(f->p->id));
    if ((needs & GOTRACE_NEEDS_GOROUTINE) && !f->g)
        return GT_BROKEN(f, GOTRACE_RULE_CONTEXT, "%s needs a goroutine, and its thread has none",
                         name) &&
               resume_last(f);
    return GT_BROKEN(f, GOTRACE_RULE_CONTEXT,
                     "%s needs a thread without a goroutine, but its thread has goroutine %llu",
                     name, num(f->g->id));
}

/* Ids that mean "none" are stored like others, as in Go's reader. */
void gt_v2_bind_goroutine(gt_v2_thread *t, gt_goroutine *g)
{
    if (t) {
        t->g = g && g->id != GT_V2_NO_ID ? g : NULL;
        if (g)
            t->g_id = g->id;
        t->known |= GT_KNOWN_GOROUTINE;
    }
}

void gt_v2_bind_proc(gt_v2_thread *t, gt_v2_proc *p)
{
    if (t->p && t->p->holder == t) {
        t->p->holder = NULL;
        t->p->holder_known = true;
    }
    t->p = p && p->id != GT_V2_NO_ID ? p : NULL;
    t->known |= GT_KNOWN_PROC;
    if (t->p) {
        p->holder = t;
        p->holder_known = true;
    }
}

/* Removes the thread's proc, and wakes what waits for that. */
static void unbind_proc(struct gt_v2 *v2, gt_v2_thread *t)
{
    gt_v2_bind_proc(t, NULL);
    gt_v2_wake(v2, t->id, 0, GT_WAIT_THREAD);
}

/* ---- output ---------------------------------------------------------------------------------- */

/* Returns the transition of a row; cause: of a run. */
GT_INLINE void put_transition(const gt_follow *f, const gotrace_semantics *does, gt_v2_change c,
                              uint64_t cause)
{
    gt_v2_put_transition(f, (uint8_t)(does - rows), f->e->args, c, cause);
}

/* A transition derived from another one, with arguments of its own. */
static void put_derived(const gt_follow *f, uint8_t type, uint64_t a, uint64_t b, gt_v2_change c,
                        uint64_t cause)
{
    const uint64_t args[GT_V2_VALUES - 1] = {a, b};
    gt_v2_put_transition(f, type, args, c, cause);
}

gotrace_event *gt_v2_put_status(const gt_follow *f, const uint64_t *args, gt_v2_change c)
{
    gotrace_event *event = gt_v2_put_transition(f, f->e->type, args, c, 0);
    if (event)
        event->flags |= GOTRACE_EVENT_INITIAL;
    return event;
}

const uint8_t gt_v2_shown[5] = {GOTRACE_STATE_UNDETERMINED, GOTRACE_STATE_RUNNABLE,
                                GOTRACE_STATE_RUNNING, GOTRACE_STATE_SYSCALL,
                                GOTRACE_STATE_WAITING};
/* A proc in a system call still belongs to its thread; an abandoned one does not. */
const uint8_t gt_v2_shown_proc[5] = {GOTRACE_STATE_UNDETERMINED, GOTRACE_STATE_RUNNING,
                                     GOTRACE_STATE_IDLE, GOTRACE_STATE_RUNNING, GOTRACE_STATE_IDLE};

/* ---- goroutines ---------------------------------------------------------------------------- */

/* Sets the goroutine's status, and wakes cursors that wait for it. */
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

/* Describes the actual status and sequence number. */
static void describe(char found[80], const char *status, uint64_t seq, bool earlier)
{
    snprintf(found, 80, "%s at %llu%s", status, num(seq),
             earlier ? " of an earlier generation" : "");
}

/* Reports that a goroutine or proc does not have the required status and sequence number. Number 0
 * never occurs, as in Go's reader: numbers begin at 1 after each status. */
static bool report_not_ready(gt_follow *f, const char *what, uint64_t id, const char *wanted,
                             uint64_t seq, const char *found)
{
    if (seq == 0)
        return GT_BROKEN(f, GOTRACE_RULE_ORDER_SEQUENCE,
                         "%s has sequence number 0, but those of %s %llu begin at 1 in each "
                         "generation; it is %s",
                         gt_v2_name_of(f), what, num(id), found);
    return GT_BROKEN(f, GOTRACE_RULE_ORDER_SEQUENCE,
                     "%s: %s %llu must be %s at sequence number %llu, but it is %s, and no "
                     "remaining event changes that",
                     gt_v2_name_of(f), what, num(id), wanted, num(seq - 1), found);
}

/* The event requires goroutine id with that status and sequence number, which it does not have. */
static gt_followed goroutine_not_ready(gt_follow *f, uint8_t status, gt_goroutine **g)
{
    uint64_t id = f->e->args[0], seq = f->e->args[1];
    if (!f->c->forced) {
        /* It may not exist yet; its creation wakes the cursor. */
        if (!gt_waits_park(&f->v2->order.waits, f->c->number, f->e->time, id, seq - 1, status))
            return gt_v2_refused(f);
        return GT_FOLLOW_WAIT;
    }
    char found[80] = "not there";
    if (*g)
        describe(found, gt_v2_status_name((*g)->status), (*g)->seq,
                 (*g)->generation != f->generation);
    if (!report_not_ready(f, "goroutine", id, gt_v2_status_name(status), seq, found))
        return GT_FOLLOW_FAILED;
    if (!*g && !(*g = gt_goroutine_get(&f->v2->states.goroutines, id)))
        return gt_v2_refused(f);
    return GT_FOLLOW_DONE;
}

/* Creates a goroutine. */
gt_goroutine *gt_v2_make_goroutine(gt_follow *f, uint64_t id, uint8_t status)
{
    const gt_map *alive = &f->v2->states.goroutines.by_id;
    gt_goroutine *g = gt_goroutine_get(&f->v2->states.goroutines, id);
    if (!g)
        return NULL;
    if (f->v2->assumed && alive->count > f->v2->assumed->most_goroutines)
        f->v2->assumed->most_goroutines = alive->count;
    g->known = true;
    g->generation = f->generation;
    g->seq = 0;
    g->created = f->e->time;
    gt_v2_set_status(f, g, status);
    return g;
}

/* ---- requirements of rows for goroutines ----------------------------------------------------- */

/* Without a proc a goroutine can only be in a system call. */
static bool report_self(gt_follow *f, const gotrace_semantics *does)
{
    bool with_proc = does->needs & GOTRACE_NEEDS_PROC;
    return GT_BROKEN(f, with_proc ? GOTRACE_RULE_GO_RUNNING : GOTRACE_RULE_GO_SYSEXIT,
                     "%s: goroutine %llu is %s, it has to be %s", gt_v2_name_of(f), num(f->g->id),
                     gt_v2_status_name(f->g->status),
                     gt_v2_status_name(status_of(does->self.from)));
}

/* Checks that the thread's goroutine, if any, is in the state that the row requires. */
GT_INLINE bool check_self(gt_follow *f, const gotrace_semantics *does)
{
    return gt_v2_context(f, does->needs) &&
           (!f->g || f->g->status == status_of(does->self.from) || report_self(f, does));
}

/* Checks the thread's proc, if any. A proc may stop in a system call. Source: advanceProcStop. */
static bool check_own_proc(gt_follow *f, const gotrace_semantics *does, uint64_t seq)
{
    const gt_v2_proc *p = f->p;
    if (!p)
        return true;
    if (does->numbered)
        return (p->generation == f->generation && seq == p->seq + 1) ||
               GT_BROKEN(f, GOTRACE_RULE_ORDER_SEQUENCE,
                         "%s has sequence number %llu of proc %llu, which is at %llu",
                         gt_v2_name_of(f), num(seq), num(p->id), num(p->seq));
    uint8_t from = proc_status_of(does->proc.from);
    bool stops = does->resource == GOTRACE_RESOURCE_PROC;
    return p->status == from || (stops && p->status == GT_P_SYSCALL) ||
           GT_BROKEN(f, stops ? GOTRACE_RULE_PROC_STOP : GOTRACE_RULE_GO_SYSEXIT,
                     "%s: proc %llu is %s, it has to be %s", gt_v2_name_of(f), num(p->id),
                     gt_v2_proc_status_name(p->status), gt_v2_proc_status_name(from));
}

/* If the thread has a proc that is about to be taken, the event must wait for that. Source:
 * advanceGoSyscallEndBlocked, advanceProcStart. */
static gt_followed wait_for_steal(gt_follow *f, const gotrace_semantics *does)
{
    bool without = does->needs & GOTRACE_NEEDS_NO_PROC;
    if (!f->t || !f->p || (!without && f->p->status != GT_P_SYSCALL))
        return GT_FOLLOW_DONE;
    if (!f->c->forced)
        return gt_v2_park(f, f->t->id, 0, GT_WAIT_THREAD);
    return without || GT_BROKEN(f, GOTRACE_RULE_ORDER_SEQUENCE,
                                "%s: thread %llu still has proc %llu, and nobody takes it",
                                gt_v2_name_of(f), num(f->t->id), num(f->p->id))
               ? GT_FOLLOW_DONE
               : GT_FOLLOW_FAILED;
}

/* Finds the goroutine in the first argument, in the state that the row requires. */
GT_INLINE gt_followed find_other(gt_follow *f, const gotrace_semantics *does, gt_goroutine **g)
{
    uint8_t from = status_of(does->other.from);
    *g = gt_goroutine_find(&f->v2->states.goroutines, f->e->args[0]);
    return is_at(f, *g, from, f->e->args[1]) ? GT_FOLLOW_DONE : goroutine_not_ready(f, from, g);
}

/* ---- effects of rows for goroutines ---------------------------------------------------------- */

static bool end_goroutine(gt_follow *f)
{
    gt_goroutine *g = f->g;
    f->reader->summary.goroutines_ended++;
    g->status = 0;
    g->shown = GOTRACE_STATE_NOT_EXIST;
    return gt_goroutine_end(&f->v2->states.goroutines, g);
}

GT_INLINE gt_followed create(gt_follow *f, const gotrace_semantics *does)
{
    uint64_t id = f->e->args[0];
    uint8_t status = status_of(does->other.to);
    if (gt_goroutine_find(&f->v2->states.goroutines, id) &&
        !GT_BROKEN(f, GOTRACE_RULE_GO_CREATE, "goroutine %llu is created, but it already exists",
                   num(id)))
        return GT_FOLLOW_FAILED;
    gt_goroutine *g = gt_v2_make_goroutine(f, id, status);
    if (!g)
        return gt_v2_refused(f);
    const gt_v2_shape *shape = &f->v2->shapes[f->e->type];
    g->complete = true;
    g->creator = f->g ? f->g->id : 0;
    g->start_stack = shape->start ? f->e->args[shape->start - 1] : 0;
    g->cause = f->e->offset;
    if (f->v2->assumed) {
        g->contact |= GT_CONTACT_CREATED;
        if (!gt_assume_new(&f->v2->assumed->created, id))
            return gt_v2_refused(f);
    }
    f->reader->summary.goroutines_created++;
    put_transition(f, does, (gt_v2_change){id, GOTRACE_STATE_NOT_EXIST, does->other.to}, 0);
    if (does->other.to == GOTRACE_STATE_RUNNING || does->other.to == GOTRACE_STATE_SYSCALL)
        gt_v2_bind_goroutine(f->t, g);
    return GT_FOLLOW_DONE;
}

/* Sets the other goroutine's state to the one that the row leaves. */
GT_INLINE void change_other(gt_follow *f, const gotrace_semantics *does, gt_goroutine *g)
{
    g->seq = f->e->args[1];
    g->generation = f->generation;
    g->cause = does->other.to == GOTRACE_STATE_RUNNABLE ? f->e->offset : 0;
    gt_v2_set_status(f, g, status_of(does->other.to));
    if (does->other.to == GOTRACE_STATE_RUNNING)
        gt_v2_bind_goroutine(f->t, g);
}

/* Sets the state of the thread's goroutine to the one that the row leaves. False if memory is
 * refused. */
GT_INLINE bool change_self(gt_follow *f, const gotrace_semantics *does)
{
    uint8_t to = does->self.to;
    if (to != GOTRACE_STATE_RUNNING && to != GOTRACE_STATE_SYSCALL)
        gt_v2_bind_goroutine(f->t, NULL);
    if (!f->g)
        return true;
    if (to == GOTRACE_STATE_NOT_EXIST)
        return end_goroutine(f);
    if (to == GOTRACE_STATE_RUNNABLE && does->self.from == GOTRACE_STATE_SYSCALL)
        f->g->cause = f->e->offset;
    gt_v2_set_status(f, f->g, status_of(to));
    return true;
}

/* The code of the event for that change of a running goroutine alone. */
static uint8_t stop_type(uint8_t to)
{
    return to == GOTRACE_STATE_NOT_EXIST ? GOTRACE_V2_GoDestroy
           : to == GOTRACE_STATE_WAITING ? GOTRACE_V2_GoBlock
                                         : GOTRACE_V2_GoStop;
}

static gt_v2_change change_of_self(const gt_follow *f, const gotrace_semantics *does)
{
    return (gt_v2_change){f->g ? f->g->id : 0, does->self.from, does->self.to};
}

/* A switch: unblocks the other goroutine if it waits, stops the first one, and starts the other.
 * The first of these events has the recorded type. */
static gt_followed switch_goroutines(gt_follow *f, const gotrace_semantics *does,
                                     gt_goroutine *next)
{
    uint64_t id = f->e->args[0], seq = f->e->args[1];
    const gt_v2_change self = change_of_self(f, does);
    bool wakes = does->other.from == GOTRACE_STATE_WAITING;
    if (wakes) {
        put_transition(f, does, (gt_v2_change){id, GOTRACE_STATE_WAITING, GOTRACE_STATE_RUNNABLE},
                       0);
        put_derived(f, stop_type(does->self.to), 0, 0, self, 0);
    } else {
        put_transition(f, does, self, 0);
    }
    bool same = f->g && next == f->g;
    uint64_t cause = wakes ? f->e->offset : next->cause;
    if (!change_self(f, does))
        return gt_v2_refused(f);
    /* The goroutine ended and its memory was released; if it also resumes, it is a new
     * goroutine. */
    if (same && does->self.to == GOTRACE_STATE_NOT_EXIST &&
        !(next = gt_goroutine_get(&f->v2->states.goroutines, id)))
        return gt_v2_refused(f);
    f->g = NULL;
    put_derived(f, GOTRACE_V2_GoStart, id, seq,
                (gt_v2_change){id, GOTRACE_STATE_RUNNABLE, GOTRACE_STATE_RUNNING}, cause);
    change_other(f, does, next);
    return GT_FOLLOW_DONE;
}

/* Changes the thread's proc according to the row. Source: advanceGoDestroySyscall: the thread's id
 * may be used again, so its proc is unbound. */
static void change_own_proc(gt_follow *f, const gotrace_semantics *does)
{
    if (f->p && does->numbered) {
        f->p->seq = f->e->args[0];
        f->p->generation = f->generation;
    }
    if (f->p)
        gt_v2_set_proc(f, f->p, proc_status_of(does->proc.to));
    if (f->t && does->proc.to == GOTRACE_STATE_ABANDONED)
        unbind_proc(f->v2, f->t);
}

GT_INLINE gt_followed follow_goroutines(gt_follow *f, const gotrace_semantics *does)
{
    bool creates = does->other.from == GOTRACE_STATE_NOT_EXIST;
    gt_goroutine *other = NULL;
    gt_followed r = does->after_steal ? wait_for_steal(f, does) : GT_FOLLOW_DONE;
    if (r != GT_FOLLOW_DONE)
        return r;
    if (does->self.to && !check_self(f, does))
        return GT_FOLLOW_FAILED;
    if (does->other.to && !creates && (r = find_other(f, does, &other)) != GT_FOLLOW_DONE)
        return r;
    if (!does->self.to && does->needs && !gt_v2_context(f, does->needs))
        return GT_FOLLOW_FAILED;
    if (does->proc.to && !check_own_proc(f, does, f->e->args[0]))
        return GT_FOLLOW_FAILED;
    if (creates)
        return create(f, does);
    if (other && does->self.to)
        return switch_goroutines(f, does, other);
    if (other) {
        put_transition(f, does, (gt_v2_change){f->e->args[0], does->other.from, does->other.to},
                       does->other.to == GOTRACE_STATE_RUNNING ? other->cause : 0);
        change_other(f, does, other);
        return GT_FOLLOW_DONE;
    }
    /* The proc changes only if there is a goroutine. */
    bool with_proc = does->proc.to && f->g;
    if (with_proc && does->proc.to == GOTRACE_STATE_ABANDONED && f->p)
        put_derived(f, GOTRACE_V2_ProcSteal, f->p->id, 0,
                    (gt_v2_change){f->p->id, GOTRACE_STATE_RUNNING, GOTRACE_STATE_IDLE}, 0);
    put_transition(f, does, change_of_self(f, does), 0);
    if (with_proc)
        change_own_proc(f, does);
    return change_self(f, does) ? GT_FOLLOW_DONE : gt_v2_refused(f);
}

/* ---- procs --------------------------------------------------------------------------------- */

static gt_v2_proc *find_proc(const struct gt_v2 *v2, uint64_t id)
{
    return (gt_v2_proc *)(uintptr_t)gt_map_get(&v2->states.procs, id);
}

gt_v2_proc *gt_v2_proc_of(gotrace_reader *reader, uint64_t id, bool make)
{
    struct gt_v2 *v2 = reader->v2;
    gt_v2_proc *p = find_proc(v2, id);
    if (p || !make)
        return p;
    p = gt_arena_alloc(&v2->states.arena, sizeof *p);
    if (!p)
        return NULL;
    *p = (gt_v2_proc){.id = id};
    if (!gt_map_put(&v2->states.procs, id, (uint64_t)(uintptr_t)p))
        return NULL;
    reader->summary.procs++;
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
    return gt_waits_park(&f->v2->order.waits, f->c->number, f->e->time, id, seq, what)
               ? GT_FOLLOW_WAIT
               : gt_v2_refused(f);
}

/* The required proc is not ready: reports it and accepts the event as recorded. */
static gt_followed proc_not_ready(gt_follow *f, const char *wanted, gt_v2_proc **p)
{
    uint64_t id = f->e->args[0], seq = f->e->args[1];
    char found[80] = "not there";
    if (*p)
        describe(found, gt_v2_proc_status_name((*p)->status), (*p)->seq,
                 (*p)->generation != f->generation);
    if (!report_not_ready(f, "proc", id, wanted, seq, found))
        return GT_FOLLOW_FAILED;
    *p = gt_v2_proc_of(f->reader, id, true);
    return *p ? GT_FOLLOW_DONE : gt_v2_refused(f);
}

static gt_followed proc_stop(gt_follow *f, const gotrace_semantics *does)
{
    if (!gt_v2_context(f, does->needs) || !check_own_proc(f, does, 0))
        return GT_FOLLOW_FAILED;
    put_transition(
        f, does, (gt_v2_change){f->p ? f->p->id : GT_V2_NO_ID, does->proc.from, does->proc.to}, 0);
    if (f->p)
        gt_v2_set_proc(f, f->p, proc_status_of(does->proc.to));
    if (f->t)
        unbind_proc(f->v2, f->t);
    return GT_FOLLOW_DONE;
}

/* Finds and checks the thread from which a proc is taken. */
static bool find_victim(gt_follow *f, gt_v2_proc *p, gt_v2_thread **victim)
{
    uint64_t m = f->e->args[2];
    *victim = f->t && m == f->t->id
                  ? f->t
                  : (gt_v2_thread *)(uintptr_t)gt_map_get(&f->v2->states.threads, m);
    bool had = *victim && (*victim)->p;
    if (*victim && !(*victim)->seen && !had)
        *victim = NULL;
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

/* The proc in the first argument starts, or is taken. */
GT_INLINE gt_followed follow_named_proc(gt_follow *f, const gotrace_semantics *does)
{
    uint64_t id = f->e->args[0], seq = f->e->args[1];
    bool steals = does->proc.from == GOTRACE_STATE_SYSCALL;
    gt_v2_proc *p = find_proc(f->v2, id);
    bool fits = p && (steals ? p->status == GT_P_SYSCALL || p->status == GT_P_ABANDONED
                             : p->status == proc_status_of(does->proc.from));
    bool ready = fits && p->generation == f->generation && seq == p->seq + 1;
    if (!ready && !f->c->forced)
        return gt_v2_park(f, id, seq - 1, steals ? GT_WAIT_STEAL : GT_WAIT_IDLE);
    gt_followed r = does->after_steal ? wait_for_steal(f, does) : GT_FOLLOW_DONE;
    if (r == GT_FOLLOW_DONE && !ready)
        r = proc_not_ready(f, steals ? "in a system call" : "idle", &p);
    if (r != GT_FOLLOW_DONE)
        return r;
    if (!gt_v2_context(f, does->needs))
        return GT_FOLLOW_FAILED;
    bool abandoned = steals && p->status == GT_P_ABANDONED;
    gt_v2_thread *victim = NULL;
    if (steals && !abandoned && !find_victim(f, p, &victim))
        return GT_FOLLOW_FAILED;
    uint8_t from = steals ? (abandoned ? GOTRACE_STATE_IDLE : GOTRACE_STATE_RUNNING)
                          : does->proc.from;
    put_transition(f, does, (gt_v2_change){id, from, does->proc.to}, 0);
    p->seq = seq;
    p->generation = f->generation;
    gt_v2_set_proc(f, p, proc_status_of(does->proc.to));
    if (does->proc.to == GOTRACE_STATE_RUNNING && f->t)
        gt_v2_bind_proc(f->t, p);
    if (victim)
        unbind_proc(f->v2, victim);
    return GT_FOLLOW_DONE;
}

/* ---- one event ----------------------------------------------------------------------------- */

gt_goroutine *gt_v2_goroutine_of(const gt_v2_thread *t)
{
    return t && t->g && t->g->id == t->g_id ? t->g : NULL;
}

GT_INLINE gt_followed follow_transition(gt_follow *f, const gotrace_semantics *does)
{
    bool proc = does->resource == GOTRACE_RESOURCE_PROC;
    if (does->status)
        return proc ? gt_v2_proc_status(f) : gt_v2_goroutine_status(f);
    if (!proc)
        return follow_goroutines(f, does);
    return does->numbered ? follow_named_proc(f, does) : proc_stop(f, does);
}

/* Applies a row. Expanded for each row in dispatch, so that *does is constant. */
GT_INLINE gt_followed follow_row(gt_follow *f, const gotrace_semantics *does)
{
    if (!does->status && f->t)
        f->t->assumed |= (uint8_t)~f->t->known;
    switch ((gotrace_kind)does->kind) {
    case GOTRACE_KIND_TRANSITION: return follow_transition(f, does);
    case GOTRACE_KIND_RANGE_BEGIN:
    case GOTRACE_KIND_RANGE_END:
    case GOTRACE_KIND_RANGE_ACTIVE:
        return does->range == GOTRACE_RANGE_GC ? gt_v2_gc(f, does) : gt_v2_range(f, does);
    case GOTRACE_KIND_TASK_BEGIN:
    case GOTRACE_KIND_TASK_END:
    case GOTRACE_KIND_REGION_BEGIN:
    case GOTRACE_KIND_REGION_END:
    case GOTRACE_KIND_LOG: return gt_v2_user(f, does);
    case GOTRACE_KIND_METRIC:
    case GOTRACE_KIND_LABEL:
    case GOTRACE_KIND_EXPERIMENT:
    case GOTRACE_KIND_NONE:
    case GOTRACE_KIND_SYSCALL:
    case GOTRACE_KIND_SYNC:
    case GOTRACE_KIND_SAMPLE: break;
    }
    if (does->needs && !gt_v2_context(f, does->needs))
        return GT_FOLLOW_FAILED;
    gt_v2_put(f, f->e->args);
    return GT_FOLLOW_DONE;
}

static gt_followed dispatch(gt_follow *f)
{
    switch (f->e->type) {
#define T(code, name, since, flags, args, summary, does)                                           \
    case code:                                                                                     \
        return ((flags)&GOTRACE_SPEC_STACK) && !f->g && !resume_after_damage(f)                    \
                   ? GT_FOLLOW_FAILED                                                              \
                   : follow_row(f, &rows[code]);
#include "events_v2.def"
#undef N
#undef E
#undef T
    default: return GT_FOLLOW_FAILED; /* not a timed record: cursors do not return it */
    }
}

gt_followed gt_v2_follow(struct gt_v2 *v2, gt_v2_cursor *c)
{
    gt_v2_thread *t = c->thread;
    gt_follow *f = &v2->follow;
    f->c = c;
    f->e = c->head;
    f->t = t;
    f->g = gt_v2_goroutine_of(t);
    f->p = t ? t->p : NULL;
    f->generation = v2->generation;
    f->initial = v2->generation == v2->initial;
    f->suspect = f->no_begin = false;
    if (t)
        t->seen = true;
    return dispatch(f);
}
