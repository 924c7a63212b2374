/*
 * misuse.c - the checking mode: each call is compared with its row of calls.def before it does
 * anything.
 *
 * The state that is compared is what the events change. gotrace_rec_go.live_id is kept in this mode
 * only, under gotrace_recorder.lock, because handles may be wrong and ids may be used twice at the
 * same time. No lock is held while a misuse is reported.
 */
#include "record/misuse.h"

#include <inttypes.h>
#include <stdio.h>

/* ---- rows ------------------------------------------------------------------------------------ */

/* In the order in which they are checked: a later one may depend on an earlier one. */
enum {
    NO_PROC = 1 << 0, /* the thread */
    PROC = 1 << 1,
    NO_GO = 1 << 2,
    NOT_RUNNING = 1 << 3,
    RUNNING = 1 << 4,
    IN_CALL = 1 << 5,
    RUNNABLE = 1 << 6, /* the handle */
    WAITING = 1 << 7,
    IDLE = 1 << 8,
    OTHER_IN_CALL = 1 << 9,
    NO_GC = 1 << 10, /* ranges */
    GC = 1 << 11,
    NO_STW = 1 << 12,
    STW = 1 << 13,
    NO_SWEEP = 1 << 14,
    SWEEP = 1 << 15,
    NO_ASSIST = 1 << 16,
    ASSIST = 1 << 17,
    NO_SCAN = 1 << 18,
    SCAN = 1 << 19,
    ENDS = 1 << 20, /* no condition: the thread's goroutine ends */
};

typedef enum handle_kind { NO_HANDLE, GO_HANDLE, PROC_HANDLE, THREAD_HANDLE } handle_kind;

typedef struct call_row {
    const char *function;
    handle_kind handle;
    unsigned values, needs;
} call_row;

static const call_row rows[] = {
#define C(name, handle, values, needs)                                                             \
    [GT_REC_CALL_##name] = {"gotrace_rec_" #name, handle, values, needs},
#include "record/calls.def"
#undef C
};

/* ---- conditions ------------------------------------------------------------------------------ */

static bool is_in_call(const gotrace_rec_thread *t)
{
    return t->go && t->go->state.status == GT_REC_SYSCALL;
}

static bool is_other_in_call(const gotrace_rec_thread *t, const gotrace_rec_thread *other)
{
    return other != t && other->proc && is_in_call(other);
}

/* A goroutine that was created blocked is runnable for the trace. */
static bool is_go_in(const gotrace_rec_go *g, bool waiting)
{
    const bool runnable = g->state.status == GT_REC_RUNNABLE;
    return waiting ? g->state.status == GT_REC_WAITING || (runnable && g->created_blocked)
                   : runnable && !g->created_blocked;
}

static bool is_collecting(gotrace_recorder *r)
{
    pthread_mutex_lock(&r->world);
    const bool active = r->gc.active;
    pthread_mutex_unlock(&r->world);
    return active;
}

/* Who has stopped the world; NULL: nobody. */
static const gotrace_rec_go *stopper(gotrace_recorder *r)
{
    pthread_mutex_lock(&r->world);
    const gotrace_rec_go *by = r->stw.active ? r->stw.by : NULL;
    pthread_mutex_unlock(&r->world);
    return by;
}

static bool holds(unsigned need, const gotrace_rec_thread *t, const void *handle)
{
    const bool running = t->go && t->go->state.status == GT_REC_RUNNING;
    switch (need) {
    case NO_PROC: return !t->proc;
    case PROC: return t->proc;
    case NO_GO: return !t->go;
    case NOT_RUNNING: return !running;
    case RUNNING: return running;
    case IN_CALL: return is_in_call(t);
    case RUNNABLE: return is_go_in(handle, false);
    case WAITING: return is_go_in(handle, true);
    case IDLE: return ((const gotrace_rec_proc *)handle)->state.status == GT_REC_PROC_IDLE;
    case OTHER_IN_CALL: return is_other_in_call(t, handle);
    case NO_GC: return !is_collecting(t->recorder);
    case GC: return is_collecting(t->recorder);
    case NO_STW: return !stopper(t->recorder);
    case STW: return stopper(t->recorder) == t->go;
    case NO_SWEEP: return !t->proc->sweep.allowed;
    case SWEEP: return t->proc->sweep.allowed;
    case NO_ASSIST: return !t->go->assists;
    case ASSIST: return t->go->assists;
    case NO_SCAN: return !t->proc->scan.active;
    case SCAN: return t->proc->scan.active;
    default: return true;
    }
}

/* of_handle: it is the handle that the text is about, not the thread. */
static const struct condition {
    unsigned need;
    bool of_handle;
    const char *otherwise;
} conditions[] = {
    {NO_PROC, false, "has a proc"},
    {PROC, false, "has no proc"},
    {NO_GO, false, "has a goroutine"},
    {NOT_RUNNING, false, "runs a goroutine"},
    {RUNNING, false, "runs no goroutine"},
    {IN_CALL, false, "is not in a system call"},
    {RUNNABLE, true, "is not runnable"},
    {WAITING, true, "is not waiting"},
    {IDLE, true, "is not idle"},
    {OTHER_IN_CALL, true, "is not another one in a system call with its proc"},
    {NO_GC, false, "begins a garbage collection during another one"},
    {GC, false, "ends a garbage collection that has not begun"},
    {NO_STW, false, "stops the world, which is stopped already"},
    {STW, false, "starts the world, which its goroutine has not stopped"},
    {NO_SWEEP, false, "begins to sweep, which its proc does already"},
    {SWEEP, false, "sweeps, which its proc has not begun"},
    {NO_SCAN, false, "begins a GC scan, which its proc does already"},
    {SCAN, false, "ends a GC scan, which its proc has not begun"},
    {NO_ASSIST, false, "begins to assist, which its goroutine does already"},
    {ASSIST, false, "ends to assist, which its goroutine has not begun"},
};

/* ---- reports --------------------------------------------------------------------------------- */

static bool report(const gotrace_recorder *r, const char *function, const char *subject,
                   uint64_t id, const char *text)
{
    char message[160];
    snprintf(message, sizeof message, "%s %" PRIu64 " %s", subject, id, text);
    r->options.on_misuse(r->options.misuse_ctx, function, message);
    return true;
}

static bool report_thread(const gotrace_rec_thread *t, const call_row *row, const char *text)
{
    return report(t->recorder, row->function, "thread", t->id, text);
}

static bool report_handle(const gotrace_recorder *r, const call_row *row, const void *handle,
                          const char *text)
{
    if (row->handle == GO_HANDLE)
        return report(r, row->function, "goroutine", ((const gotrace_rec_go *)handle)->state.id,
                      text);
    if (row->handle == PROC_HANDLE)
        return report(r, row->function, "proc", ((const gotrace_rec_proc *)handle)->state.id, text);
    return report(r, row->function, "thread", ((const gotrace_rec_thread *)handle)->id, text);
}

void gt_rec_report_id(const gotrace_recorder *r, const char *function, const char *what,
                      uint64_t id)
{
    report(r, function, what, id, "exists already");
}

/* ---- handles --------------------------------------------------------------------------------- */

/* The caller holds the lock, also for the following functions. */
static bool is_go(const gotrace_recorder *r, const void *handle)
{
    for (const gt_rec_slab *s = r->slabs; s; s = s->next) {
        const uintptr_t offset = (uintptr_t)handle - (uintptr_t)s->goroutines;
        if (offset < sizeof s->goroutines && offset % sizeof *s->goroutines == 0)
            return ((const gotrace_rec_go *)handle)->live_id != 0;
    }
    return false;
}

static bool is_proc(const gotrace_recorder *r, const void *handle)
{
    const gotrace_rec_proc *p = r->procs;
    while (p && p != handle)
        p = p->next;
    return p && !p->freed;
}

static bool is_thread(const gotrace_recorder *r, const void *handle)
{
    const gotrace_rec_thread *t = r->threads;
    while (t && t != handle)
        t = t->next;
    return t && t->live;
}

static bool is_valid(gotrace_recorder *r, handle_kind kind, const void *handle)
{
    if (kind == NO_HANDLE)
        return true;
    pthread_mutex_lock(&r->lock);
    const bool valid = kind == GO_HANDLE     ? is_go(r, handle)
                       : kind == PROC_HANDLE ? is_proc(r, handle)
                                             : is_thread(r, handle);
    pthread_mutex_unlock(&r->lock);
    return valid;
}

/* The first thread of the system that uses the handle is the one that it is for. */
static bool is_own(gotrace_rec_thread *t)
{
    pthread_t owner = 0;
    return atomic_compare_exchange_strong(&t->owner, &owner, pthread_self()) ||
           pthread_equal(owner, pthread_self());
}

/* ---- calls ----------------------------------------------------------------------------------- */

static const char *check_arguments(gotrace_rec_thread *t, const call_row *row, const void *handle,
                                   unsigned value)
{
    if (!t->live)
        return "has ended";
    if (!is_own(t))
        return "is used by a second thread";
    if (!is_valid(t->recorder, row->handle, handle))
        return "passes a handle that has ended or is not of this recorder";
    if (row->values > 0 && value >= row->values)
        return "passes a value that the enumeration does not have";
    return NULL;
}

static const struct condition *violated(const gotrace_rec_thread *t, unsigned needs,
                                        const void *handle)
{
    for (size_t i = 0; i < sizeof conditions / sizeof *conditions; i++)
        if (needs & conditions[i].need && !holds(conditions[i].need, t, handle))
            return &conditions[i];
    return NULL;
}

static void set_live_id(gotrace_recorder *r, gotrace_rec_go *g, uint64_t id)
{
    pthread_mutex_lock(&r->lock);
    g->live_id = id;
    pthread_mutex_unlock(&r->lock);
}

bool gt_rec_check(gotrace_rec_thread *t, gt_rec_call call, void *handle, unsigned value)
{
    const call_row *row = &rows[call];
    const char *wrong = check_arguments(t, row, handle, value);
    if (wrong)
        return report_thread(t, row, wrong);
    const struct condition *c = violated(t, row->needs, handle);
    if (c && c->of_handle)
        return report_handle(t->recorder, row, handle, c->otherwise);
    if (c)
        return report_thread(t, row, c->otherwise);
    if (row->needs & ENDS)
        set_live_id(t->recorder, t->go, 0);
    if (row->handle == GO_HANDLE)
        ((gotrace_rec_go *)handle)->created_blocked = false;
    return false;
}

static bool is_live_id(const gotrace_recorder *r, uint64_t id)
{
    for (const gt_rec_slab *s = r->slabs; s; s = s->next)
        for (size_t i = 0; i < GT_REC_SLAB; i++)
            if (s->goroutines[i].live_id == id)
                return true;
    return false;
}

bool gt_rec_check_id(gotrace_rec_thread *t, gt_rec_call call, gotrace_rec_go *g, uint64_t id)
{
    gotrace_recorder *r = t->recorder;
    if (id == 0)
        return report_thread(t, &rows[call], "creates a goroutine with the id 0");
    pthread_mutex_lock(&r->lock);
    const bool used = is_live_id(r, id);
    if (!used)
        g->live_id = id;
    pthread_mutex_unlock(&r->lock);
    return used && report(r, rows[call].function, "goroutine", id, "exists already");
}
