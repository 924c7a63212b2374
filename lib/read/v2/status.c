/*
 * status.c - statuses at the start of a generation; ranges (GC, sweeps, assists, stop-the-world),
 * tasks and regions.
 */
#include <stdio.h>
#include <string.h>

#include "core/times.h"
#include "read/user.h"
#include "read/v2/follow.h"

static unsigned long long num(uint64_t n)
{
    return n;
}

/* ---- statuses ------------------------------------------------------------------------------ */

static gt_followed report_bad_status(gt_follow *f, gotrace_rule rule, const char *what, uint64_t id,
                                     uint64_t status)
{
    if (!GT_BROKEN(f, rule, "%s %llu has status %llu, which is none", what, num(id), num(status)))
        return GT_FOLLOW_FAILED;
    gt_v2_put(f, f->e->args);
    return GT_FOLLOW_DONE;
}

/* A status of a proc that was left in a system call precedes the event that takes the proc, apart
 * from other statuses: before the generation, the thread that it names had it. Finds that thread,
 * for a check that does not know the state before. NULL: it is not known. Source: Go 1.27,
 * traceLocker.ProcSteal. */
static bool find_left_by(gt_follow *f, uint64_t proc, gt_v2_thread **thread)
{
    const gt_v2_event *next = f->e + 1;
    *thread = NULL;
    if (!f->v2->assumed || f->e->args[1] != GT_P_ABANDONED)
        return true;
    while (next < f->c->end &&
           gt_v2_spec(f->reader->summary.version, next->type)->semantics->status)
        next++;
    if (next == f->c->end || next->type != GOTRACE_V2_ProcSteal || next->args[0] != proc)
        return true;
    gt_v2_thread *t = gt_v2_thread_of(f->reader, f->v2, next->args[2]);
    if (t && t != f->t && !(t->known & GT_KNOWN_PROC))
        *thread = t;
    return t != NULL;
}

gt_followed gt_v2_proc_status(gt_follow *f)
{
    uint64_t id = f->e->args[0], status = f->e->args[1];
    if (status > GT_P_ABANDONED)
        return report_bad_status(f, GOTRACE_RULE_STATUS_PROC, "proc", id, status);
    gt_v2_proc *p = gt_v2_proc_of(f->reader, id, false);
    uint8_t from = gt_v2_shown_proc[status];
    gt_v2_thread *holder = f->t;
    bool promoted = false;
    if (p) {
        promoted = status == GT_P_ABANDONED && p->status == GT_P_SYSCALL;
        if (promoted)
            from = GOTRACE_STATE_RUNNING;
        else if (p->status != status &&
                 !GT_BROKEN(f, GOTRACE_RULE_STATUS_PROC,
                            "proc %llu is %s at the start of the generation, but was %s", num(id),
                            gt_v2_proc_status_name((uint8_t)status),
                            gt_v2_proc_status_name(p->status)))
            return GT_FOLLOW_FAILED;
    } else {
        from = f->initial ? GOTRACE_STATE_UNDETERMINED : GOTRACE_STATE_NOT_EXIST;
        p = gt_v2_proc_of(f->reader, id, true);
        gt_v2_thread *t;
        if (!p || !find_left_by(f, id, &t) ||
            !gt_v2_assume(f, t ? GT_ASSUME_PROC_LEFT : GT_ASSUME_PROC, id, t ? t->id : status))
            return gt_v2_refused(f);
        promoted = t != NULL;
        if (promoted)
            gt_v2_bind_proc(t, p);
    }
    if (promoted) {
        /* Another thread is about to take it: report it on the thread it is bound to. */
        holder = p->holder; /* Source: advanceProcStatus */
        if (!holder && !GT_BROKEN(f, GOTRACE_RULE_STATUS_PROC,
                                  "proc %llu is in a system call, but no thread has it", num(id)))
            return GT_FOLLOW_FAILED;
        status = GT_P_SYSCALL;
    }
    const uint64_t args[GT_V2_VALUES - 1] = {id, status};
    gotrace_event *event = gt_v2_put_status(f, args,
                                            (gt_v2_change){id, from, gt_v2_shown_proc[status]});
    if (event && promoted && holder) {
        gt_goroutine *g = gt_v2_goroutine_of(holder);
        event->thread = (int64_t)holder->id;
        event->proc = gt_shown_proc((int64_t)id);
        event->goroutine = g ? g->id : 0;
    }
    p->seq = 0;
    p->generation = f->generation;
    gt_v2_set_proc(f, p, (uint8_t)status);
    if (!promoted && (status == GT_P_RUNNING || status == GT_P_SYSCALL) && f->t)
        gt_v2_bind_proc(f->t, p);
    return GT_FOLLOW_DONE;
}

/* The thread to which a goroutine in a system call was bound. */
typedef struct bound_to {
    bool other;         /* not the one of the event */
    bool seen;          /* it has had events */
    uint64_t goroutine; /* that it had then; 0: none */
} bound_to;

/* Binds a goroutine in a system call to a thread, this one or another. False if reading must stop.
 */
static bool bind_in_syscall(gt_follow *f, gt_goroutine *g, uint64_t m, bound_to *to)
{
    if (m == GT_V2_NO_ID)
        return GT_BROKEN(f, GOTRACE_RULE_STATUS_GOROUTINE,
                         "goroutine %llu is in a system call on no thread", num(g->id));
    if (f->t && m == f->t->id) {
        bool same = (f->g ? f->g->id : GT_V2_NO_ID) == g->id;
        if (f->v2->assumed && !(f->t->known & GT_KNOWN_GOROUTINE))
            same = true;
        if ((!f->initial || f->v2->assumed) && !same &&
            !GT_BROKEN(f, GOTRACE_RULE_STATUS_GOROUTINE,
                       "goroutine %llu is in a system call on thread %llu, which has another",
                       num(g->id), num(m)))
            return false;
        bool assume = !(f->t->known & GT_KNOWN_GOROUTINE);
        gt_v2_bind_goroutine(f->t, g);
        return !assume || gt_v2_assume(f, GT_ASSUME_SELF_SYSCALL, m, g->id) ||
               gt_fail_memory(f->reader);
    }
    gt_v2_thread *t = gt_v2_thread_of(f->reader, f->v2, m);
    if (!t)
        return false;
    gt_goroutine *bound = gt_v2_goroutine_of(t);
    if (t->seen) {
        if ((bound ? bound->id : GT_V2_NO_ID) != g->id &&
            !GT_BROKEN(f, GOTRACE_RULE_STATUS_GOROUTINE,
                       "goroutine %llu is in a system call on thread %llu, which has another",
                       num(g->id), num(m)))
            return false;
        to->seen = true;
        to->goroutine = bound ? bound->id : 0;
    } else {
        t->seen = true;
        gt_v2_bind_goroutine(t, g);
        if (!gt_v2_assume(f, GT_ASSUME_OTHER_SYSCALL, m, g->id))
            return gt_fail_memory(f->reader);
    }
    to->other = true;
    return true;
}

gt_followed gt_v2_goroutine_status(gt_follow *f)
{
    uint64_t id = f->e->args[0], m = f->e->args[1], status = f->e->args[2];
    if (status > GT_G_WAITING)
        return report_bad_status(f, GOTRACE_RULE_STATUS_GOROUTINE, "goroutine", id, status);
    gt_goroutine *g = gt_goroutine_find(&f->v2->states.goroutines, id);
    uint8_t from = gt_v2_shown[status];
    if (g) {
        if (g->status != status &&
            !GT_BROKEN(f, GOTRACE_RULE_STATUS_GOROUTINE,
                       "goroutine %llu is %s at the start of the generation, but was %s", num(id),
                       gt_v2_status_name((uint8_t)status), gt_v2_status_name(g->status)))
            return GT_FOLLOW_FAILED;
    } else {
        if (!f->initial &&
            !GT_BROKEN(f, GOTRACE_RULE_STATUS_GOROUTINE,
                       "goroutine %llu has a status at the start of a later generation, but was "
                       "never created",
                       num(id)))
            return GT_FOLLOW_FAILED;
        from = GOTRACE_STATE_UNDETERMINED;
        f->reader->summary.goroutines_initial++;
    }
    uint64_t cause = g ? g->cause : 0;
    bool fresh = !g;
    if (fresh && !(g = gt_v2_make_goroutine(f, id, (uint8_t)status)))
        return gt_v2_refused(f);
    if (fresh && !gt_v2_assume(f, GT_ASSUME_GOROUTINE, id, status))
        return gt_v2_refused(f);
    if (fresh)
        g->start_stack = 0;
    bound_to to = {0};
    if (status == GT_G_RUNNING)
        gt_v2_bind_goroutine(f->t, g);
    else if (status == GT_G_SYSCALL && !bind_in_syscall(f, g, m, &to))
        return GT_FOLLOW_FAILED;
    gotrace_event *event = gt_v2_put_status(f, f->e->args,
                                            (gt_v2_change){id, from, gt_v2_shown[status]});
    if (event && to.other)
        event->thread = (int64_t)m;
    if (event && to.seen)
        event->goroutine = to.goroutine;
    g->cause = cause;
    g->seq = 0;
    g->generation = f->generation;
    gt_v2_set_status(f, g, (uint8_t)status);
    return GT_FOLLOW_DONE;
}

/* ---- the GC -------------------------------------------------------------------------------- */

static const char *const gc_names[] = {"in an unknown state", "not active", "going on"};

gt_followed gt_v2_gc(gt_follow *f, const gotrace_semantics *does)
{
    struct gt_v2 *v2 = f->v2;
    uint64_t seq = f->e->args[0];
    bool begins = does->kind == GOTRACE_KIND_RANGE_BEGIN,
         ends = does->kind == GOTRACE_KIND_RANGE_END;
    /* Nothing is known about the cycle yet. */
    bool first = begins ? v2->states.gc == GT_GC_UNDETERMINED : !ends && f->initial;
    if (!first && seq != v2->states.gc_seq + 1) {
        if (!f->c->forced)
            return gt_v2_park(f, 0, seq - 1, GT_WAIT_GC);
        if (!GT_BROKEN(f, GOTRACE_RULE_ORDER_SEQUENCE,
                       "%s has sequence number %llu, but the GC is at %llu, and no remaining event "
                       "changes that",
                       gt_v2_name_of(f), num(seq), num(v2->states.gc_seq)))
            return GT_FOLLOW_FAILED;
    }
    if (v2->assumed && v2->states.gc == GT_GC_UNDETERMINED) {
        if (!gt_v2_context(f, does->needs) ||
            !gt_v2_assume(f, begins ? GT_ASSUME_GC_OFF : GT_ASSUME_GC_ACTIVE, 0, seq))
            return GT_FOLLOW_FAILED;
    }
    bool good = v2->states.gc == (first ? GT_GC_UNDETERMINED : begins ? GT_GC_OFF : GT_GC_ON);
    f->no_begin = ends && !good;
    if (!good && !GT_BROKEN(f, ends ? GOTRACE_RULE_GC_DONE : GOTRACE_RULE_GC_START,
                            "%s while a GC cycle is %s", gt_v2_name_of(f), gc_names[v2->states.gc]))
        return GT_FOLLOW_FAILED;
    if (!first && !gt_v2_context(f, does->needs))
        return GT_FOLLOW_FAILED;
    v2->states.gc = ends ? GT_GC_OFF : GT_GC_ON;
    v2->states.gc_seq = seq;
    gt_v2_put(f, f->e->args);
    gt_v2_wake(v2, 0, seq, GT_WAIT_GC);
    return GT_FOLLOW_DONE;
}

/* ---- ranges -------------------------------------------------------------------------------- */

static bool check_range(gt_follow *f, bool good, const char *what)
{
    return good || GT_BROKEN(f, GOTRACE_RULE_RANGE, "%s, but %s", gt_v2_name_of(f), what);
}

/* Checks a begin or end. A range that the first generation with events records as active had no
 * begin. */
static bool check_range_edge(gt_follow *f, const gotrace_semantics *does, bool active,
                             const char *begins, const char *ends)
{
    bool opens = does->kind == GOTRACE_KIND_RANGE_BEGIN ||
                 (does->kind == GOTRACE_KIND_RANGE_ACTIVE && f->initial);
    f->no_begin = does->kind == GOTRACE_KIND_RANGE_END && !active;
    return check_range(f, active != opens, opens ? begins : ends);
}

static bool sweep(gt_follow *f, const gotrace_semantics *does)
{
    gt_v2_proc *p = f->p;
    if (does->kind == GOTRACE_KIND_RANGE_ACTIVE) {
        p = gt_v2_proc_of(f->reader, f->e->args[0], false);
        if (!p)
            return check_range(f, false, "the proc is not there");
    }
    if (!p)
        return true;
    if (!p->sweep_known &&
        !gt_v2_assume(f, GT_ASSUME_SWEEP, p->id, does->kind == GOTRACE_KIND_RANGE_ACTIVE))
        return gt_fail_memory(f->reader);
    p->sweep_known = true;
    bool good = check_range_edge(f, does, p->sweeping, "the proc is sweeping already",
                                 "the proc is not sweeping");
    p->sweeping = does->kind != GOTRACE_KIND_RANGE_END;
    return good;
}

/* Whether the event is the first of that kind for a goroutine that existed before the generation.
 */
static bool is_first_contact(gt_goroutine *g, uint8_t kind)
{
    bool first = !(g->contact & (kind | GT_CONTACT_CREATED));
    g->contact |= kind;
    return first;
}

static bool assist(gt_follow *f, const gotrace_semantics *does)
{
    gt_goroutine *g = f->g;
    if (does->kind == GOTRACE_KIND_RANGE_ACTIVE) {
        g = gt_goroutine_find(&f->v2->states.goroutines, f->e->args[0]);
        if (!g)
            return check_range(f, false, "the goroutine is not there");
    }
    if (!g)
        return true;
    if (is_first_contact(g, GT_CONTACT_ASSIST) &&
        !gt_v2_assume(f, GT_ASSUME_ASSIST, g->id, does->kind == GOTRACE_KIND_RANGE_ACTIVE))
        return gt_fail_memory(f->reader);
    bool good = check_range_edge(f, does, g->assisting, "the goroutine is assisting already",
                                 "the goroutine is not assisting");
    g->assisting = does->kind != GOTRACE_KIND_RANGE_END;
    return good;
}

/* The reason is needed in a later generation, whose strings differ, so it is kept. */
static bool stop_world(gt_follow *f, const gotrace_semantics *does, const char **reason)
{
    gt_goroutine *g = f->g;
    if (!g)
        return true;
    if (is_first_contact(g, GT_CONTACT_STOP) && !gt_v2_assume(f, GT_ASSUME_WORLD_RUNS, g->id, 0))
        return gt_fail_memory(f->reader);
    bool good = check_range_edge(f, does, g->stopping,
                                 "the goroutine has stopped the world already",
                                 "the goroutine has not stopped the world");
    if (does->kind == GOTRACE_KIND_RANGE_BEGIN) {
        g->stopping = gt_v2_name(f->reader, f->v2, f->e->args[0]);
        *reason = g->stopping;
        return g->stopping && good;
    }
    *reason = g->stopping;
    g->stopping = NULL;
    return good;
}

static bool follow_range(gt_follow *f, const gotrace_semantics *does, const char **reason)
{
    switch ((gotrace_range)does->range) {
    case GOTRACE_RANGE_SWEEP: return sweep(f, does);
    case GOTRACE_RANGE_STW: return stop_world(f, does, reason);
    case GOTRACE_RANGE_MARK_ASSIST: return assist(f, does);
    case GOTRACE_RANGE_GC: /* gt_v2_gc */
    case GOTRACE_RANGE_NONE: break;
    }
    return true;
}

gt_followed gt_v2_range(gt_follow *f, const gotrace_semantics *does)
{
    bool of_proc = gotrace_range_spec_of(does->range)->subject == GOTRACE_RESOURCE_PROC;
    if (does->needs && !gt_v2_context(f, does->needs))
        return GT_FOLLOW_FAILED;
    const char *reason = NULL;
    bool good = follow_range(f, does, &reason);
    gotrace_event *event = gt_v2_put(f, f->e->args);
    if (event)
        event->subject = does->kind == GOTRACE_KIND_RANGE_ACTIVE ? f->e->args[0]
                         : of_proc                               ? (f->p ? f->p->id : GT_V2_NO_ID)
                                                                 : (f->g ? f->g->id : 0);
    if (event && reason)
        gt_v2_set_reason(f, event, reason);
    return good ? GT_FOLLOW_DONE : GT_FOLLOW_FAILED;
}

/* ---- tasks and regions --------------------------------------------------------------------- */

/* The event, in problems. It has not been returned yet. */
static gt_user user_of(const gt_follow *f)
{
    const gt_v2_shape *shape = &f->v2->shapes[f->e->type];
    int64_t time = f->e->time;
    if (time <= f->v2->output.last_time)
        time = gt_time_add(f->v2->output.last_time, 1);
    return (gt_user){.place = {f->e->offset, f->e->batch, GOTRACE_NO_OFFSET},
                     .time = f->reader->first_ticks ? gt_v2_since_start(f->reader, time) : 0,
                     .goroutine = f->g ? f->g->id : 0,
                     .stack = shape->flags & GOTRACE_SPEC_STACK ? f->e->args[shape->values - 2]
                                                                : 0};
}

#define USER_BROKEN(f, rule, ...)                                                                  \
    ((f)->suspect = true, (f)->v2->index.generations[(f)->v2->current].damaged = true,             \
     gt_report_user((f)->reader, rule, &(gt_user[]){user_of(f)}[0], __VA_ARGS__))

/* What an event has that is not in its record. */
typedef struct user_effect {
    uint64_t parent;
    const char *name; /* NULL: it has no task */
} user_effect;

static bool task_begin(gt_follow *f)
{
    struct gt_v2 *v2 = f->v2;
    uint64_t id = f->e->args[0], parent = f->e->args[1];
    gt_v2_task *task = (gt_v2_task *)(uintptr_t)gt_map_get(&v2->states.tasks, id);
    f->reader->summary.tasks++;
    if (task && !USER_BROKEN(f, GOTRACE_RULE_TASK_CREATE,
                             "task %llu is created while one of that id goes on", num(id)))
        return false;
    if (!task) {
        task = gt_resize(&f->reader->heap, NULL, 0, sizeof *task);
        if (!task || !gt_task_begins(f->reader, id) ||
            !gt_map_put(&v2->states.tasks, id, (uint64_t)(uintptr_t)task)) {
            gt_free(&f->reader->heap, task, task ? sizeof *task : 0);
            return gt_fail_memory(f->reader);
        }
    }
    if (v2->assumed && id < v2->assumed->first_task)
        v2->assumed->first_task = id;
    task->parent = parent ? parent : GT_V2_NO_ID;
    task->name = gt_v2_name(f->reader, v2, f->e->args[2]);
    return task->name != NULL;
}

static bool task_end(gt_follow *f, user_effect *effect)
{
    uint64_t id = f->e->args[0];
    gt_v2_task *task = (gt_v2_task *)(uintptr_t)gt_map_get(&f->v2->states.tasks, id);
    if (task) {
        *effect = (user_effect){.parent = task->parent == GT_V2_NO_ID ? 0 : task->parent,
                                .name = task->name};
        gt_map_remove(&f->v2->states.tasks, id);
        gt_free(&f->reader->heap, task, sizeof *task);
    } else if (gt_task_has_ended(f->reader, id)) {
        const gt_user of = user_of(f);
        f->no_begin = true;
        return gt_report_no_begin(f->reader, f->v2->assumed, &of, "task", "task %llu ends twice",
                                  num(id));
    }
    return (gt_task_ends(f->reader, id) && (task || gt_v2_assume(f, GT_ASSUME_TASK_ENDS, id, 0))) ||
           gt_fail_memory(f->reader);
}

static bool region_begin(gt_follow *f, const char *name)
{
    gt_goroutine *g = f->g;
    void *regions = g->regions;
    size_t capacity = g->region_capacity;
    if (!gt_grow(&f->reader->heap, &regions, &capacity, g->region_count + (size_t)1,
                 sizeof *g->regions))
        return gt_fail_memory(f->reader);
    g->regions = regions;
    g->region_capacity = (uint32_t)capacity;
    g->regions[g->region_count++] = (gt_region){f->e->args[0], (uint64_t)(uintptr_t)name};
    return true;
}

static bool report_no_region(gt_follow *f, const char *name)
{
    const gt_user of = user_of(f);
    char what[48];
    f->no_begin = true;
    snprintf(what, sizeof what, "region %.40s", name);
    return gt_report_no_begin(f->reader, f->v2->assumed, &of, what,
                              "region \"%.40s\" ends, but is not open: it ends twice, another "
                              "goroutine began it, or its begin is lost",
                              name);
}

/* The region began before the trace, or before the generation; or not at all. */
static bool end_outer_region(gt_follow *f, const char *name)
{
    gt_goroutine *g = f->g;
    if (g->complete)
        return report_no_region(f, name);
    if (!f->v2->assumed)
        return true;
    gt_assumption region = {.kind = GT_ASSUME_REGION,
                            .id = g->id,
                            .value = f->e->args[0],
                            .name = (uint64_t)(uintptr_t)name,
                            .depth = g->outer_ends++};
    return gt_assume(f->v2->assumed, region) || gt_fail_memory(f->reader);
}

static bool is_open(const gt_goroutine *g, gt_region region)
{
    for (uint32_t i = 0; i < g->region_count; i++)
        if (g->regions[i].task == region.task && g->regions[i].name == region.name)
            return true;
    return false;
}

static bool region_end(gt_follow *f, const char *name)
{
    gt_goroutine *g = f->g;
    const gt_region ended = {f->e->args[0], (uint64_t)(uintptr_t)name};
    if (g->region_count == 0)
        return end_outer_region(f, name);
    const gt_region inner = g->regions[g->region_count - 1];
    f->no_begin = !is_open(g, ended);
    g->region_count -= !f->no_begin;
    return (inner.task == ended.task && inner.name == ended.name) ||
           USER_BROKEN(f, GOTRACE_RULE_REGION_END,
                       "goroutine %llu ends region \"%.40s\" of task %llu, but the innermost one "
                       "is \"%.40s\" of task %llu",
                       num(g->id), name, num(ended.task), (const char *)(uintptr_t)inner.name,
                       num(inner.task));
}

static bool region(gt_follow *f, bool begins)
{
    const char *name = gt_v2_name(f->reader, f->v2, f->e->args[1]);
    if (!name)
        return false;
    f->reader->summary.regions += begins;
    return !f->g || (begins ? region_begin(f, name) : region_end(f, name));
}

/* Returns the event. */
static void put_user(gt_follow *f, const gotrace_semantics *does, const user_effect *effect)
{
    uint64_t args[GT_V2_VALUES - 1];
    memcpy(args, f->e->args, sizeof args);
    bool no_parent = does->kind == GOTRACE_KIND_TASK_BEGIN && args[1] == 0;
    if (no_parent) /* not the background task */
        args[1] = GT_V2_NO_ID;
    gotrace_event *event = gt_v2_put(f, no_parent ? args : f->e->args);
    if (event && does->kind == GOTRACE_KIND_TASK_END)
        gt_v2_set_task_end(f, event, effect->parent, effect->name);
}

gt_followed gt_v2_user(gt_follow *f, const gotrace_semantics *does)
{
    user_effect effect = {0};
    bool good = gt_v2_context(f, does->needs);
    switch (does->kind) {
    case GOTRACE_KIND_TASK_BEGIN: good = good && task_begin(f); break;
    case GOTRACE_KIND_TASK_END: good = good && task_end(f, &effect); break;
    case GOTRACE_KIND_REGION_BEGIN:
    case GOTRACE_KIND_REGION_END:
        good = good && region(f, does->kind == GOTRACE_KIND_REGION_BEGIN);
        break;
    default: f->reader->summary.logs++; break;
    }
    put_user(f, does, &effect);
    return good ? GT_FOLLOW_DONE : GT_FOLLOW_FAILED;
}
