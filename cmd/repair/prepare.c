/*
 * prepare.c - add the events that must precede an event that the writer rejects.
 *
 * The event's row in the table says what it requires: states of goroutines and procs, and what its
 * thread has. The writer knows the current states. The fewest events are added that lead from these
 * to those: a goroutine that runs elsewhere stops, a waiting one is unblocked, a proc on another
 * thread is taken. They have the time of the event. */
#include "cmd/repair/rebuild.h"

/* The events that bring about a state. No other events are named here. */
enum {
    /* v1 */
    O_PROC_STOP = GOTRACE_V1_ProcStop,
    O_START = GOTRACE_V1_GoStart,
    O_YIELD = GOTRACE_V1_GoSched,
    O_BLOCK = GOTRACE_V1_GoBlock,
    O_UNBLOCK = GOTRACE_V1_GoUnblock,
    O_SYS_BLOCK = GOTRACE_V1_GoSysBlock,
    O_SYS_EXIT = GOTRACE_V1_GoSysExit,
    /* v2 */
    N_PROC_START = GOTRACE_V2_ProcStart,
    N_PROC_STOP = GOTRACE_V2_ProcStop,
    N_PROC_STEAL = GOTRACE_V2_ProcSteal,
    N_CREATE = GOTRACE_V2_GoCreate,
    N_START = GOTRACE_V2_GoStart,
    N_YIELD = GOTRACE_V2_GoStop,
    N_BLOCK = GOTRACE_V2_GoBlock,
    N_UNBLOCK = GOTRACE_V2_GoUnblock,
    N_SYSCALL = GOTRACE_V2_GoSyscallBegin,
    N_SYSCALL_END = GOTRACE_V2_GoSyscallEnd,
    N_SYSCALL_BLOCKED = GOTRACE_V2_GoSyscallEndBlocked,
};

/* ---- current states -------------------------------------------------------------------------- */

g_state rebuild_goroutine(const rebuild *t, uint64_t id)
{
    int64_t proc, thread;
    g_state g = {.state = gotrace_writer_goroutine(t->writer, id, &proc, &thread)};
    bool v2 = repair_is_v2(t->r);
    g.place = v2 ? thread : proc;
    g.placed = v2 ? thread != GOTRACE_NO_THREAD : proc != GOTRACE_NO_PROC;
    if (g.state == GOTRACE_STATE_UNDETERMINED && v2 && idmap_find(&t->ended, id))
        g.state = GOTRACE_STATE_NOT_EXIST;
    return g;
}

p_state rebuild_proc(const rebuild *t, int64_t id)
{
    p_state p;
    p.state = gotrace_writer_proc(t->writer, id, &p.thread, &p.g);
    p.placed = p.thread != GOTRACE_NO_THREAD;
    return p;
}

m_state rebuild_thread(const rebuild *t, int64_t id)
{
    m_state m;
    m.known = gotrace_writer_thread(t->writer, id, &m.p, &m.g);
    m.has_p = m.p != GOTRACE_NO_PROC;
    return m;
}

/* Whether the thread has a proc in that state. */
static bool has_proc_in(const rebuild *t, int64_t thread, gotrace_state state)
{
    m_state m = rebuild_thread(t, thread);
    return m.has_p && rebuild_proc(t, m.p).state == state;
}

static bool is_calling(const rebuild *t, uint64_t id)
{
    return rebuild_goroutine(t, id).state == GOTRACE_STATE_SYSCALL;
}

/* ---- adding events --------------------------------------------------------------------------- */

static bool add_event(rebuild *t, const gotrace_event_spec *spec, int64_t place,
                      const uint64_t *args, size_t count)
{
    bool v2 = repair_is_v2(t->r);
    gotrace_event_data h = {.spec = spec,
                            .proc = v2 ? GOTRACE_NO_PROC : place,
                            .thread = v2 ? place : GOTRACE_NO_THREAD,
                            .args = args,
                            .arg_count = count};
    if (!spec || !rebuild_at(t, t->now, place) || !rebuild_pass(t, &h))
        return false;
    t->added++;
    return true;
}

/* place: proc in v1, thread in v2 */
static bool add(rebuild *t, unsigned code, int64_t place, const uint64_t *args, size_t count)
{
    return add_event(t, gotrace_event_spec_of(t->r->version, code), place, args, count);
}

static bool add_plain(rebuild *t, unsigned code, int64_t place)
{
    return add(t, code, place, NULL, 0);
}

static bool add_with(rebuild *t, unsigned code, int64_t place, uint64_t arg)
{
    return add(t, code, place, &arg, 1);
}

/* v2: stop a goroutine; the reason is "undetermined". */
static bool add_stop(rebuild *t, unsigned code, int64_t thread)
{
    static const char why[] = "undetermined";
    uint64_t id = 0;
    if (gotrace_writer_string(t->writer, 0, why, sizeof why - 1, &id) < 0)
        return false;
    return add_with(t, code, thread, id);
}

/* ---- v2: procs and threads ------------------------------------------------------------------- */

static bool take_proc(rebuild *t, int64_t proc, int64_t from, int64_t thread)
{
    const uint64_t args[2] = {(uint64_t)proc, (uint64_t)from};
    return add(t, N_PROC_STEAL, thread, args, 2);
}

/* The thread has no goroutine; the one it had becomes runnable. */
static bool clear_thread(rebuild *t, int64_t thread)
{
    uint64_t g = rebuild_thread(t, thread).g;
    if (g == 0)
        return true;
    if (is_calling(t, g)) {
        if (!has_proc_in(t, thread, GOTRACE_STATE_SYSCALL))
            return add_plain(t, N_SYSCALL_BLOCKED, thread);
        if (!add_plain(t, N_SYSCALL_END, thread))
            return false;
    }
    return add_stop(t, N_YIELD, thread);
}

static bool clear_proc(rebuild *t, int64_t thread)
{
    return clear_thread(t, thread) &&
           (!rebuild_thread(t, thread).has_p || add_plain(t, N_PROC_STOP, thread));
}

/* The proc becomes idle. */
static bool free_proc(rebuild *t, int64_t proc, int64_t thread)
{
    p_state p = rebuild_proc(t, proc);
    const int64_t *last = idmap_find(&t->last, (uint64_t)proc);
    switch (p.state) {
    case GOTRACE_STATE_RUNNING: return p.placed && clear_proc(t, p.thread);
    case GOTRACE_STATE_SYSCALL: return p.placed && take_proc(t, proc, p.thread, thread);
    case GOTRACE_STATE_ABANDONED: return take_proc(t, proc, last ? *last : thread, thread);
    default: return true;
    }
}

/* A proc for a thread that needs one: *proc if it is idle, else the one that became idle last, else
 * one of the first FIRST that is idle, else of these the one whose thread has been inactive
 * longest. */
static bool pick_proc(rebuild *t, int64_t *proc)
{
    enum { FIRST = 64 };
    int64_t wanted = *proc, oldest = GOTRACE_NO_PROC;
    uint64_t least = UINT64_MAX;
    for (int64_t id = -2; id < FIRST; id++) {
        *proc = id == -2 ? wanted : id == -1 ? t->idle : id;
        p_state p = rebuild_proc(t, *proc);
        if (p.state == GOTRACE_STATE_IDLE)
            return true;
        const uint64_t *active = idmap_find(&t->active, (uint64_t)p.thread);
        uint64_t when = active ? *active : 0;
        if (p.placed && when < least) {
            least = when;
            oldest = *proc;
        }
    }
    *proc = oldest;
    return oldest != GOTRACE_NO_PROC;
}

/* The thread gets a running proc: that one if exact, else any. */
static bool give_proc(rebuild *t, int64_t thread, int64_t proc, bool exact)
{
    m_state m = rebuild_thread(t, thread);
    if (m.has_p && (!exact || m.p == proc))
        return rebuild_proc(t, m.p).state != GOTRACE_STATE_SYSCALL ||
               add_plain(t, N_SYSCALL_END, thread);
    bool known = proc != GOTRACE_NO_PROC &&
                 rebuild_proc(t, proc).state != GOTRACE_STATE_UNDETERMINED;
    if (proc != GOTRACE_NO_PROC && !known && !m.has_p && m.g == 0)
        return true;
    if (!exact && (known || proc == GOTRACE_NO_PROC) && !pick_proc(t, &proc))
        return false;
    return clear_proc(t, thread) && free_proc(t, proc, thread) &&
           add_with(t, N_PROC_START, thread, (uint64_t)proc);
}

/* ---- v2: goroutines -------------------------------------------------------------------------- */

/* In later generations an unknown goroutine must be created first. */
static bool create_unknown(rebuild *t, uint64_t id, int64_t thread)
{
    const uint64_t args[2] = {id, 0};
    if (gotrace_writer_generation(t->writer) < 2 ||
        rebuild_goroutine(t, id).state != GOTRACE_STATE_UNDETERMINED)
        return true;
    return has_proc_in(t, thread, GOTRACE_STATE_RUNNING) && add(t, N_CREATE, thread, args, 2);
}

/* The goroutine becomes runnable. */
static bool make_runnable(rebuild *t, uint64_t id, int64_t thread)
{
    if (!create_unknown(t, id, thread))
        return false;
    g_state g = rebuild_goroutine(t, id);
    switch (g.state) {
    case GOTRACE_STATE_WAITING: return add_with(t, N_UNBLOCK, thread, id);
    case GOTRACE_STATE_RUNNING:
    case GOTRACE_STATE_SYSCALL: return g.placed && clear_thread(t, g.place);
    case GOTRACE_STATE_NOT_EXIST: return false;
    default: return true;
    }
}

/* The goroutine runs on that thread, with that proc. */
static bool make_running(rebuild *t, uint64_t id, int64_t thread, int64_t proc)
{
    if (!give_proc(t, thread, proc, false))
        return false;
    uint64_t own = rebuild_thread(t, thread).g;
    if (id == 0 || own == id)
        return own == 0 || !is_calling(t, own) || add_plain(t, N_SYSCALL_END, thread);
    if (!clear_thread(t, thread) || !create_unknown(t, id, thread))
        return false;
    if (rebuild_goroutine(t, id).state == GOTRACE_STATE_UNDETERMINED)
        return true;
    return make_runnable(t, id, thread) && add_with(t, N_START, thread, id);
}

/* The goroutine waits. If it does not run, it runs on the thread for a moment to block. */
static bool make_waiting(rebuild *t, uint64_t id, int64_t thread)
{
    if (!create_unknown(t, id, thread))
        return false;
    g_state g = rebuild_goroutine(t, id);
    if (g.state == GOTRACE_STATE_WAITING || g.state == GOTRACE_STATE_UNDETERMINED)
        return true;
    if (g.state == GOTRACE_STATE_NOT_EXIST)
        return false;
    if (g.state == GOTRACE_STATE_RUNNING && g.placed && rebuild_thread(t, g.place).has_p)
        return add_stop(t, N_BLOCK, g.place);
    uint64_t own = rebuild_thread(t, thread).g;
    if (!has_proc_in(t, thread, GOTRACE_STATE_RUNNING) || own == id)
        return false;
    return make_runnable(t, id, thread) && clear_thread(t, thread) &&
           add_with(t, N_START, thread, id) && add_stop(t, N_BLOCK, thread) &&
           (own == 0 || add_with(t, N_START, thread, own));
}

/* The goroutine is in a system call on that thread; blocked: the thread has lost its proc. */
static bool make_calling(rebuild *t, const gotrace_event_data *h, bool blocked)
{
    int64_t thread = h->thread;
    uint64_t id = h->goroutine;
    m_state m = rebuild_thread(t, thread);
    if (m.g == 0 && id != 0 && rebuild_goroutine(t, id).state == GOTRACE_STATE_UNDETERMINED)
        return true;
    bool calls = m.g != 0 && (id == 0 || m.g == id) && is_calling(t, m.g);
    if (!calls) {
        if (id == 0 || (h->proc == GOTRACE_NO_PROC && !m.has_p))
            return false;
        if (!make_running(t, id, thread, h->proc) || !add_plain(t, N_SYSCALL, thread))
            return false;
    } else if (!blocked && !has_proc_in(t, thread, GOTRACE_STATE_SYSCALL)) {
        if (!clear_thread(t, thread) || !make_running(t, id, thread, h->proc) ||
            !add_plain(t, N_SYSCALL, thread))
            return false;
    }
    if (blocked && has_proc_in(t, thread, GOTRACE_STATE_SYSCALL))
        return take_proc(t, rebuild_thread(t, thread).p, thread, thread);
    return true;
}

/* The proc is in a system call on thread `from`. False if it is made idle instead, which is the
 * result of the steal. */
static bool make_stealable(rebuild *t, int64_t proc, int64_t from, int64_t thread)
{
    p_state p = rebuild_proc(t, proc);
    if (p.state == GOTRACE_STATE_RUNNING && p.thread == from && rebuild_thread(t, from).g != 0)
        return add_plain(t, N_SYSCALL, from);
    if (p.state == GOTRACE_STATE_RUNNING || p.state == GOTRACE_STATE_SYSCALL)
        free_proc(t, proc, thread);
    return false;
}

/* ---- v2 ------------------------------------------------------------------------------------- */

/* The initial status in a generation differs from the last known state: add what changed it. */
bool rebuild_reach(rebuild *t, const gotrace_event_data *h)
{
    uint64_t id = h->args[0];
    int64_t thread = h->thread;
    if (!row_is_goroutine_status(h->spec)) {
        if (h->args[1] == STATUS_P_IDLE)
            return free_proc(t, (int64_t)id, thread);
        return h->args[1] == STATUS_P_RUNNING && thread != GOTRACE_NO_THREAD &&
               give_proc(t, thread, (int64_t)id, true);
    }
    switch (h->args[2]) {
    case STATUS_G_RUNNABLE: return make_runnable(t, id, thread);
    case STATUS_G_WAITING: return make_waiting(t, id, thread);
    case STATUS_G_RUNNING: return make_running(t, id, (int64_t)h->args[1], h->proc);
    case STATUS_G_IN_SYSCALL: {
        m_state m = rebuild_thread(t, (int64_t)h->args[1]);
        if (m.g == id && is_calling(t, id))
            return true;
        return make_running(t, id, (int64_t)h->args[1], m.has_p ? m.p : h->proc) &&
               add_plain(t, N_SYSCALL, (int64_t)h->args[1]);
    }
    default: return false;
    }
}

/* The goroutine that the event names gets the state that its row requires: v2 has no other. */
static bool reach_other(rebuild *t, const gotrace_event_data *h)
{
    switch (h->spec->semantics->other.from) {
    case GOTRACE_STATE_RUNNABLE: return make_runnable(t, h->args[0], h->thread);
    case GOTRACE_STATE_WAITING: return make_waiting(t, h->args[0], h->thread);
    default: return true; /* it is created, or none is named */
    }
}

/* The proc that the event changes gets the state that its row requires. */
static bool reach_proc(rebuild *t, const gotrace_event_data *h)
{
    int64_t thread = h->thread;
    switch (h->spec->semantics->proc.from) {
    case GOTRACE_STATE_IDLE:
        return clear_proc(t, thread) && free_proc(t, (int64_t)h->args[0], thread);
    case GOTRACE_STATE_SYSCALL:
        return make_stealable(t, (int64_t)h->args[0], (int64_t)h->args[1], thread);
    default: return clear_thread(t, thread) && give_proc(t, thread, h->proc, false);
    }
}

static bool prepare_v2(rebuild *t, const gotrace_event_data *h)
{
    const gotrace_semantics *does = h->spec->semantics;
    int64_t thread = h->thread;
    if (does->status)
        return rebuild_reach(t, h);
    if (thread == GOTRACE_NO_THREAD)
        return false;
    if (does->resource == GOTRACE_RESOURCE_PROC)
        return reach_proc(t, h);
    if (does->self.from == GOTRACE_STATE_SYSCALL)
        return make_calling(t, h, !(does->needs & GOTRACE_NEEDS_PROC));
    if (does->needs & GOTRACE_NEEDS_NO_GOROUTINE) {
        bool proc = !(does->needs & GOTRACE_NEEDS_PROC) || give_proc(t, thread, h->proc, false);
        return proc && reach_other(t, h) && clear_thread(t, thread);
    }
    /* An unblocking event does not need a running goroutine. */
    bool alone = does->other.from &&
                 !(does->needs & (GOTRACE_NEEDS_PROC | GOTRACE_NEEDS_GOROUTINE));
    return reach_other(t, h) && (alone || make_running(t, h->goroutine, thread, h->proc));
}

/* Remove from the context what a transition does not need: the reader may report more than is
 * possible. */
static void narrow_context(rebuild *t, gotrace_event_data *h)
{
    const gotrace_semantics *does = h->spec->semantics;
    if (does->kind != GOTRACE_KIND_TRANSITION || does->status || does->self.from)
        return;
    m_state m = rebuild_thread(t, h->thread);
    if (m.g != h->goroutine)
        h->goroutine = 0;
    if (!(does->needs & GOTRACE_NEEDS_PROC) && (!m.has_p || m.p != h->proc))
        h->proc = GOTRACE_NO_PROC;
}

/* Set the event's context to what the thread has now. */
static void adjust_context(rebuild *t, gotrace_event_data *h)
{
    const gotrace_semantics *does = h->spec->semantics;
    m_state m = rebuild_thread(t, h->thread);
    if (h->thread != GOTRACE_NO_THREAD && (m.g != 0 || m.has_p)) {
        if (!m.has_p || m.p != h->proc)
            h->proc = GOTRACE_NO_PROC;
        if (m.g != h->goroutine && m.g != 0)
            h->goroutine = 0;
    }
    if (does->self.from == GOTRACE_STATE_SYSCALL && !(does->needs & GOTRACE_NEEDS_PROC))
        h->proc = GOTRACE_NO_PROC;
}

bool rebuild_set_gc(rebuild *t, bool on)
{
    enum { FIRST = 64 };
    const gotrace_event_spec *spec = row_of_kind(
        t->r->version, on ? GOTRACE_KIND_RANGE_BEGIN : GOTRACE_KIND_RANGE_END, GOTRACE_RANGE_GC);
    for (int64_t id = 0; id < FIRST && t->gc_on != on; id++) {
        p_state p = rebuild_proc(t, id);
        bool runs = p.placed && p.state == GOTRACE_STATE_RUNNING;
        if (runs && rebuild_thread(t, p.thread).g != 0)
            add_event(t, spec, p.thread, NULL, 0);
    }
    return t->gc_on == on;
}

bool rebuild_clear_thread(rebuild *t, int64_t thread)
{
    return clear_thread(t, thread);
}

bool rebuild_clear_proc(rebuild *t, int64_t thread)
{
    m_state m = rebuild_thread(t, thread);
    return !m.has_p || free_proc(t, m.p, rebuild_busy_thread(t, thread));
}

int64_t rebuild_busy_thread(rebuild *t, int64_t other)
{
    enum { FIRST = 64 };
    for (int64_t id = 0; id < FIRST; id++) {
        p_state p = rebuild_proc(t, id);
        if (p.placed && p.state == GOTRACE_STATE_RUNNING)
            return p.thread;
    }
    if (other != GOTRACE_NO_THREAD)
        give_proc(t, other, GOTRACE_NO_PROC, false);
    return other;
}

/* ---- v1 ------------------------------------------------------------------------------------- */

static bool v1_clear(rebuild *t, int64_t proc)
{
    return rebuild_proc(t, proc).g == 0 || add_plain(t, O_YIELD, proc);
}

static bool v1_make_runnable(rebuild *t, uint64_t id, int64_t proc)
{
    g_state g = rebuild_goroutine(t, id);
    const uint64_t exit[2] = {id, 0};
    switch (g.state) {
    case GOTRACE_STATE_WAITING: return add_with(t, O_UNBLOCK, proc, id);
    case GOTRACE_STATE_SYSCALL: return add(t, O_SYS_EXIT, proc, exit, 2);
    case GOTRACE_STATE_RUNNING: return g.placed && v1_clear(t, g.place);
    case GOTRACE_STATE_NOT_EXIST: return false;
    default: return true;
    }
}

static bool v1_make_running(rebuild *t, uint64_t id, int64_t proc)
{
    if (id == 0 || rebuild_proc(t, proc).g == id)
        return true;
    if (!v1_make_runnable(t, id, proc) || !v1_clear(t, proc))
        return false;
    return rebuild_goroutine(t, id).state == GOTRACE_STATE_UNDETERMINED ||
           add_with(t, O_START, proc, id);
}

/* The goroutine blocks, waiting or in a system call, and what ran on the proc runs again. */
static bool v1_make_blocked(rebuild *t, uint64_t id, int64_t proc, unsigned how)
{
    g_state g = rebuild_goroutine(t, id);
    uint64_t own = rebuild_proc(t, proc).g;
    if (g.state == GOTRACE_STATE_UNDETERMINED)
        return true;
    if (g.state == GOTRACE_STATE_NOT_EXIST)
        return false;
    if (g.state == GOTRACE_STATE_RUNNING && g.placed && g.place != proc)
        return add_plain(t, how, g.place);
    if (own == id)
        return false;
    return v1_make_runnable(t, id, proc) && v1_clear(t, proc) && add_with(t, O_START, proc, id) &&
           add_plain(t, how, proc) && (own == 0 || add_with(t, O_START, proc, own));
}

/* If the writer rejected a range, end it before it begins again, or begin it before it ends. */
static bool v1_make_range(rebuild *t, const gotrace_event_data *h)
{
    static const uint64_t zeros[GOTRACE_MAX_ARGS];
    const gotrace_arg_spec *args[GOTRACE_MAX_ARGS];
    const gotrace_semantics *does = h->spec->semantics;
    bool begins = does->kind == GOTRACE_KIND_RANGE_BEGIN;
    if (gotrace_writer_error(t->writer)->rule != gotrace_range_spec_of(does->range)->rules[begins])
        return v1_make_running(t, h->goroutine, h->proc);
    const gotrace_event_spec *other = row_of_kind(
        t->r->version, begins ? GOTRACE_KIND_RANGE_END : GOTRACE_KIND_RANGE_BEGIN, does->range);
    return other &&
           add_event(t, other, h->proc, zeros, gotrace_writer_args(other, t->r->version, args));
}

static bool prepare_v1(rebuild *t, const gotrace_event_data *h)
{
    const gotrace_semantics *does = row_semantics(h->spec, t->r->version);
    uint64_t id = h->arg_count > 0 ? h->args[0] : 0;
    if (does->initial || does->kind == GOTRACE_KIND_SAMPLE ||
        !(h->spec->flags & GOTRACE_SPEC_TIMED))
        return false;
    if (h->proc == GOTRACE_NO_PROC)
        return does->other.from == GOTRACE_STATE_SYSCALL &&
               rebuild_proc(t, 0).state != GOTRACE_STATE_UNDETERMINED &&
               rebuild_goroutine(t, id).state != GOTRACE_STATE_RUNNABLE &&
               v1_make_blocked(t, id, 0, O_SYS_BLOCK);
    if (does->proc.from)
        return v1_clear(t, h->proc) &&
               (does->proc.from != GOTRACE_STATE_IDLE || add_plain(t, O_PROC_STOP, h->proc));
    switch (does->other.from) {
    case GOTRACE_STATE_RUNNABLE: return v1_make_runnable(t, id, h->proc) && v1_clear(t, h->proc);
    case GOTRACE_STATE_WAITING:
        return (h->goroutine == 0 || v1_make_running(t, h->goroutine, h->proc)) &&
               (rebuild_goroutine(t, id).state == GOTRACE_STATE_WAITING ||
                v1_make_blocked(t, id, h->proc, O_BLOCK));
    case GOTRACE_STATE_SYSCALL: return v1_make_blocked(t, id, h->proc, O_SYS_BLOCK);
    default: return v1_make_range(t, h);
    }
}

void rebuild_keep_alive(const rebuild *t, gotrace_event_data *h)
{
    const gotrace_semantics *does = h->spec->semantics;
    bool ends = does->self.to == GOTRACE_STATE_NOT_EXIST;
    if (repair_is_v2(t->r) || (!ends && !does->forever))
        return;
    const uint64_t *last = idmap_find(&t->starts, h->goroutine);
    if (last && *last > t->now)
        h->spec = gotrace_event_spec_of(t->r->version, ends ? O_YIELD : O_BLOCK);
}

/* ---- v1 and v2 ------------------------------------------------------------------------------- */

bool rebuild_prepare(rebuild *t, gotrace_event_data *h)
{
    if (!repair_is_v2(t->r))
        return prepare_v1(t, h) && rebuild_at(t, t->now, h->proc);
    if (t->first_try) {
        t->first_try = false;
        narrow_context(t, h);
    }
    bool prepared = prepare_v2(t, h) && rebuild_at(t, t->now, h->thread);
    adjust_context(t, h);
    return prepared;
}
