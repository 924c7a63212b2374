/*
 * steer.c - what has to have happened before an event that a writer refuses.
 *
 * What the writer was told so far is followed roughly: where goroutines, procs and threads are.
 * From there the fewest events are told that lead to where the event can happen: a goroutine that
 * runs elsewhere stops there, one that waits is unblocked, a proc that another thread has is given
 * up. Their times are the event's.
 */
#include "cmd/repair/retell.h"

enum { /* of v1 */
       O_PROC_START = 5,
       O_PROC_STOP = 6,
       O_GC_START = 7,
       O_GC_DONE = 8,
       O_STW_START = 9,
       O_STW_DONE = 10,
       O_SWEEP_START = 11,
       O_SWEEP_DONE = 12,
       O_CREATE = 13,
       O_START = 14,
       O_END = 15,
       O_STOP = 16,
       O_SCHED = 17,
       O_PREEMPT = 18,
       O_SLEEP = 19,
       O_BLOCK = 20,
       O_UNBLOCK = 21,
       O_BLOCK_NET = 27,
       O_SYSCALL = 28,
       O_SYS_EXIT = 29,
       O_SYS_BLOCK = 30,
       O_WAITING = 31,
       O_IN_SYSCALL = 32,
       O_START_LABEL = 41,
       O_BLOCK_GC = 42,
       O_ASSIST_START = 43,
       O_ASSIST_DONE = 44,
       /* of v2 */
       N_PROC_START = 10,
       N_PROC_STOP = 11,
       N_PROC_STEAL = 12,
       N_PROC_STATUS = 13,
       N_CREATE = 14,
       N_CREATE_SYSCALL = 15,
       N_START = 16,
       N_DESTROY = 17,
       N_DESTROY_SYSCALL = 18,
       N_STOP = 19,
       N_BLOCK = 20,
       N_UNBLOCK = 21,
       N_SYSCALL = 22,
       N_SYSCALL_END = 23,
       N_SYSCALL_BLOCKED = 24,
       N_STATUS = 25,
       N_STW_BEGIN = 26,
       N_STW_END = 27,
       N_GC_ACTIVE = 28,
       N_GC_BEGIN = 29,
       N_GC_END = 30,
       N_SWITCH = 45,
       N_SWITCH_DESTROY = 46,
       N_CREATE_BLOCKED = 47,
       N_STATUS_STACK = 48
};

static g_life *g_of(rewriting *t, uint64_t id)
{
    g_life *g = idmap_insert(&t->goroutines, id);
    static g_life nowhere;
    t->failed = t->failed || !g;
    return g ? g : &nowhere;
}

static p_life *p_of(rewriting *t, int64_t id)
{
    p_life *p = idmap_insert(&t->procs, (uint64_t)id);
    static p_life nowhere;
    t->failed = t->failed || !p;
    return p ? p : &nowhere;
}

static m_life *m_of(rewriting *t, int64_t id)
{
    m_life *m = idmap_insert(&t->threads, (uint64_t)id);
    static m_life nowhere;
    t->failed = t->failed || !m;
    return m ? m : &nowhere;
}

/* ---- following v2 --------------------------------------------------------------------------- */

static void leave_thread(rewriting *t, uint64_t id)
{
    g_life *g = g_of(t, id);
    if (g->placed && m_of(t, g->place)->g == id)
        m_of(t, g->place)->g = 0;
    g_of(t, id)->placed = false;
}

static void g_on_thread(rewriting *t, uint64_t id, int64_t thread, uint8_t state)
{
    leave_thread(t, id);
    m_of(t, thread)->g = id;
    *g_of(t, id) = (g_life){state, true, thread};
}

static void g_off(rewriting *t, uint64_t id, uint8_t state)
{
    leave_thread(t, id);
    g_of(t, id)->state = state;
}

static void p_off(rewriting *t, int64_t id, uint8_t state)
{
    p_life *p = p_of(t, id);
    if (p->placed && m_of(t, p->thread)->has_p && m_of(t, p->thread)->p == id)
        m_of(t, p->thread)->has_p = false;
    p = p_of(t, id);
    p->placed = false;
    p->state = state;
    if (state == PROC_IDLE)
        t->idle = id;
}

static void p_on(rewriting *t, int64_t id, int64_t thread, uint8_t state)
{
    p_off(t, id, state);
    m_life *m = m_of(t, thread);
    m->has_p = true;
    m->p = id;
    p_life *p = p_of(t, id);
    p->placed = p->had = true;
    p->thread = thread;
}

static void follow_status(rewriting *t, const gotrace_event_data *h)
{
    uint64_t id = h->args[0];
    /* What is known already is compared, and stays where it is. */
    if (h->spec->code == N_PROC_STATUS) {
        if (p_of(t, (int64_t)id)->state != PROC_UNKNOWN)
            return;
        if (h->args[1] == 1 && h->thread != GOTRACE_NO_THREAD)
            p_on(t, (int64_t)id, h->thread, PROC_BUSY);
        else if (h->args[1] == 3 && h->thread != GOTRACE_NO_THREAD)
            p_on(t, (int64_t)id, h->thread, PROC_CALLING);
        else
            p_off(t, (int64_t)id, h->args[1] == 2 ? PROC_IDLE : PROC_ABANDONED);
        return;
    }
    if (g_of(t, id)->state != LIFE_UNKNOWN)
        return;
    switch (h->args[2]) {
    case 2: g_on_thread(t, id, (int64_t)h->args[1], LIFE_RUNNING); break;
    case 3: g_on_thread(t, id, (int64_t)h->args[1], LIFE_SYSCALL); break;
    default: g_off(t, id, h->args[2] == 1 ? LIFE_RUNNABLE : LIFE_WAITING);
    }
}

static void follow_v2(rewriting *t, const gotrace_event_data *h)
{
    uint64_t id = h->arg_count > 0 ? h->args[0] : 0;
    int64_t thread = h->thread;
    unsigned code = h->spec->code;
    if (code == N_PROC_STATUS || code == N_STATUS || code == N_STATUS_STACK) {
        follow_status(t, h);
        return;
    }
    if (code == N_GC_ACTIVE || code == N_GC_BEGIN || code == N_GC_END) {
        t->gc_on = code != N_GC_END;
        t->gc_given = true;
    }
    /* A sample says where a goroutine was: that comes from elsewhere, and makes no context. */
    if (thread == GOTRACE_NO_THREAD || code == GOTRACE_V2_CPUSample)
        return;
    /* A given context that was unknown is known now. */
    m_life *m = m_of(t, thread);
    if (!m->has_p && h->proc != GOTRACE_NO_PROC && code != N_PROC_START &&
        p_of(t, h->proc)->state == PROC_UNKNOWN)
        p_on(t, h->proc, thread, code == N_SYSCALL_END ? PROC_CALLING : PROC_BUSY);
    m = m_of(t, thread);
    if (m->g == 0 && h->goroutine != 0 && code != N_START && code != N_CREATE_SYSCALL &&
        g_of(t, h->goroutine)->state == LIFE_UNKNOWN)
        g_on_thread(t, h->goroutine, thread, LIFE_RUNNING);
    uint64_t own = m_of(t, thread)->g;
    m = m_of(t, thread);
    switch (code) {
    case N_PROC_START: p_on(t, (int64_t)id, thread, PROC_BUSY); break;
    case N_PROC_STOP:
        if (m->has_p)
            p_off(t, m->p, PROC_IDLE);
        break;
    case N_PROC_STEAL: p_off(t, (int64_t)id, PROC_IDLE); break;
    case N_CREATE: g_off(t, id, LIFE_RUNNABLE); break;
    case N_CREATE_BLOCKED: g_off(t, id, LIFE_WAITING); break;
    case N_CREATE_SYSCALL: g_on_thread(t, id, thread, LIFE_SYSCALL); break;
    case N_START: g_on_thread(t, id, thread, LIFE_RUNNING); break;
    case N_DESTROY: g_off(t, own, LIFE_ENDED); break;
    case N_STOP: g_off(t, own, LIFE_RUNNABLE); break;
    case N_BLOCK: g_off(t, own, LIFE_WAITING); break;
    case N_UNBLOCK: g_off(t, id, LIFE_RUNNABLE); break;
    case N_SWITCH:
    case N_SWITCH_DESTROY:
        g_off(t, own, code == N_SWITCH ? LIFE_WAITING : LIFE_ENDED);
        g_on_thread(t, id, thread, LIFE_RUNNING);
        break;
    case N_SYSCALL:
    case N_SYSCALL_END:
        g_of(t, own)->state = code == N_SYSCALL ? LIFE_SYSCALL : LIFE_RUNNING;
        if (m_of(t, thread)->has_p)
            p_of(t, m_of(t, thread)->p)->state = code == N_SYSCALL ? PROC_CALLING : PROC_BUSY;
        break;
    case N_SYSCALL_BLOCKED: g_off(t, own, LIFE_RUNNABLE); break;
    case N_DESTROY_SYSCALL:
        g_off(t, own, LIFE_ENDED);
        if (m_of(t, thread)->has_p)
            p_off(t, m_of(t, thread)->p, PROC_ABANDONED);
        break;
    default: break;
    }
}

/* ---- following v1 --------------------------------------------------------------------------- */

static void v1_off(rewriting *t, uint64_t id, uint8_t state)
{
    g_life *g = g_of(t, id);
    if (g->placed && p_of(t, g->place)->g == id)
        p_of(t, g->place)->g = 0;
    *g_of(t, id) = (g_life){state, false, 0};
}

static void v1_on(rewriting *t, uint64_t id, int64_t proc)
{
    v1_off(t, id, LIFE_RUNNING);
    p_of(t, proc)->g = id;
    p_of(t, proc)->state = PROC_BUSY;
    *g_of(t, id) = (g_life){LIFE_RUNNING, true, proc};
}

static bool v1_in_context(unsigned code)
{
    return code != O_START && code != O_START_LABEL && code != O_PROC_START &&
           code != O_PROC_STOP && code != O_SYS_EXIT && code != O_WAITING && code != O_IN_SYSCALL;
}

static void follow_v1(rewriting *t, const gotrace_event_data *h)
{
    uint64_t id = h->arg_count > 0 ? h->args[0] : 0;
    unsigned code = h->spec->code;
    if (code == O_SYS_EXIT) {
        v1_off(t, id, LIFE_RUNNABLE);
        return;
    }
    if (h->proc == GOTRACE_NO_PROC || code == GOTRACE_V1_CPUSample ||
        code == GOTRACE_V1_TimerGoroutine)
        return;
    if (v1_in_context(code) && p_of(t, h->proc)->g == 0 && h->goroutine != 0 &&
        g_of(t, h->goroutine)->state == LIFE_UNKNOWN)
        v1_on(t, h->goroutine, h->proc);
    uint64_t own = p_of(t, h->proc)->g;
    switch (code) {
    case O_PROC_START: p_of(t, h->proc)->state = PROC_BUSY; break;
    case O_PROC_STOP: p_of(t, h->proc)->state = PROC_IDLE; break;
    case O_CREATE: v1_off(t, id, LIFE_RUNNABLE); break;
    case O_START:
    case O_START_LABEL: v1_on(t, id, h->proc); break;
    case O_END: v1_off(t, own, LIFE_ENDED); break;
    case O_SCHED:
    case O_PREEMPT: v1_off(t, own, LIFE_RUNNABLE); break;
    case O_UNBLOCK: v1_off(t, id, LIFE_RUNNABLE); break;
    case O_SYS_BLOCK: v1_off(t, own, LIFE_SYSCALL); break;
    case O_WAITING: v1_off(t, id, LIFE_WAITING); break;
    case O_IN_SYSCALL: v1_off(t, id, LIFE_SYSCALL); break;
    default:
        if (code == O_STOP || code == O_BLOCK_GC || (code >= O_SLEEP && code <= O_BLOCK_NET))
            v1_off(t, own, LIFE_WAITING);
    }
}

void rewrite_follow(rewriting *t, const gotrace_event_data *h)
{
    if (repair_is_v2(t->r) && h->thread != GOTRACE_NO_THREAD)
        m_of(t, h->thread)->active = ++t->given;
    if (repair_is_v2(t->r))
        follow_v2(t, h);
    else
        follow_v1(t, h);
}

/* ---- made up -------------------------------------------------------------------------------- */

static bool add(rewriting *t, unsigned code, int64_t proc, int64_t thread, const uint64_t *args,
                size_t count)
{
    gotrace_event_data h = {.spec = gotrace_event_spec_of(t->r->version, code),
                            .proc = proc,
                            .thread = thread,
                            .args = args,
                            .arg_count = count};
    int64_t place = repair_is_v2(t->r) ? thread : proc;
    if (!h.spec || !rewrite_at(t, t->now, place) || !rewrite_hand(t, &h))
        return false;
    t->added++;
    return true;
}

static bool on_thread(rewriting *t, unsigned code, int64_t thread)
{
    return add(t, code, GOTRACE_NO_PROC, thread, NULL, 0);
}

static bool on_thread_with(rewriting *t, unsigned code, int64_t thread, uint64_t arg)
{
    return add(t, code, GOTRACE_NO_PROC, thread, &arg, 1);
}

/* The reason of a stop that is not in the trace. */
static bool stop_on(rewriting *t, unsigned code, int64_t thread)
{
    static const char why[] = "undetermined";
    uint64_t id = 0;
    if (gotrace_writer_string(t->writer, 0, why, sizeof why - 1, &id) < 0)
        return false;
    return on_thread_with(t, code, thread, id);
}

/* ---- v2 ------------------------------------------------------------------------------------- */

static bool take_proc(rewriting *t, int64_t proc, int64_t from, int64_t thread)
{
    uint64_t args[2] = {(uint64_t)proc, (uint64_t)from};
    return add(t, N_PROC_STEAL, GOTRACE_NO_PROC, thread, args, 2);
}

/* The thread has no goroutine any more: what it had could run. */
static bool clear_thread(rewriting *t, int64_t thread)
{
    m_life *m = m_of(t, thread);
    if (m->g == 0)
        return true;
    if (g_of(t, m->g)->state == LIFE_SYSCALL) {
        if (!m->has_p || p_of(t, m->p)->state != PROC_CALLING)
            return on_thread(t, N_SYSCALL_BLOCKED, thread);
        if (!on_thread(t, N_SYSCALL_END, thread))
            return false;
    }
    return stop_on(t, N_STOP, thread);
}

static bool clear_proc(rewriting *t, int64_t thread)
{
    return clear_thread(t, thread) &&
           (!m_of(t, thread)->has_p || on_thread(t, N_PROC_STOP, thread));
}

/* The proc is idle. */
static bool free_proc(rewriting *t, int64_t proc, int64_t thread)
{
    p_life *p = p_of(t, proc);
    switch (p->state) {
    case PROC_BUSY: return p->placed && clear_proc(t, p->thread);
    case PROC_CALLING: return p->placed && take_proc(t, proc, p->thread, thread);
    case PROC_ABANDONED: return take_proc(t, proc, p->had ? p->thread : thread, thread);
    default: return true;
    }
}

/* A proc for a thread that has none and needs one: the one told if it is idle, the one that became
 * idle last, one of the first that is; else of the first the one whose thread did nothing for the
 * longest time. */
static bool pick_proc(rewriting *t, int64_t *proc)
{
    enum { FIRST = 64 };
    int64_t wanted = *proc, oldest = GOTRACE_NO_PROC;
    uint64_t least = UINT64_MAX;
    for (int64_t id = -2; id < FIRST; id++) {
        *proc = id == -2 ? wanted : id == -1 ? t->idle : id;
        const p_life *p = idmap_find(&t->procs, (uint64_t)*proc);
        if (p && p->state == PROC_IDLE)
            return true;
        const m_life *m = p && p->placed ? idmap_find(&t->threads, (uint64_t)p->thread) : NULL;
        if (m && m->active < least) {
            least = m->active;
            oldest = *proc;
        }
    }
    *proc = oldest;
    return oldest != GOTRACE_NO_PROC;
}

/* The thread runs a proc: that one if exact, else any. */
static bool give_proc(rewriting *t, int64_t thread, int64_t proc, bool exact)
{
    const m_life *m = m_of(t, thread);
    if (m->has_p && (!exact || m->p == proc))
        return p_of(t, m->p)->state != PROC_CALLING || on_thread(t, N_SYSCALL_END, thread);
    bool known = proc != GOTRACE_NO_PROC && p_of(t, proc)->state != PROC_UNKNOWN;
    if (proc != GOTRACE_NO_PROC && !known && !m->has_p && m->g == 0)
        return true;
    if (!exact && (known || proc == GOTRACE_NO_PROC) && !pick_proc(t, &proc))
        return false;
    return clear_proc(t, thread) && free_proc(t, proc, thread) &&
           on_thread_with(t, N_PROC_START, thread, (uint64_t)proc);
}

/* After the first generation an unknown goroutine has to be created. */
static bool introduce(rewriting *t, uint64_t id, int64_t thread)
{
    const m_life *m = m_of(t, thread);
    const uint64_t args[2] = {id, 0};
    if (gotrace_writer_generation(t->writer) < 2 || g_of(t, id)->state != LIFE_UNKNOWN)
        return true;
    if (!m->has_p || p_of(t, m->p)->state != PROC_BUSY)
        return false;
    return add(t, N_CREATE, GOTRACE_NO_PROC, thread, args, 2);
}

/* The goroutine could run. */
static bool make_runnable(rewriting *t, uint64_t id, int64_t thread)
{
    if (!introduce(t, id, thread))
        return false;
    const g_life *g = g_of(t, id);
    switch (g->state) {
    case LIFE_WAITING: return on_thread_with(t, N_UNBLOCK, thread, id);
    case LIFE_RUNNING:
    case LIFE_SYSCALL: return g->placed && clear_thread(t, g->place);
    case LIFE_ENDED: return false;
    default: return true;
    }
}

/* The goroutine runs on that thread, with that proc. */
static bool make_running(rewriting *t, uint64_t id, int64_t thread, int64_t proc)
{
    if (!give_proc(t, thread, proc, false))
        return false;
    if (id == 0 || m_of(t, thread)->g == id) {
        uint64_t own = m_of(t, thread)->g;
        if (own == 0)
            return true;
        return g_of(t, own)->state != LIFE_SYSCALL || on_thread(t, N_SYSCALL_END, thread);
    }
    if (!clear_thread(t, thread) || !introduce(t, id, thread))
        return false;
    if (g_of(t, id)->state == LIFE_UNKNOWN)
        return true;
    return make_runnable(t, id, thread) && on_thread_with(t, N_START, thread, id);
}

/* The goroutine waits: whoever runs on the thread makes room for it to block. */
static bool make_waiting(rewriting *t, uint64_t id, int64_t thread)
{
    if (!introduce(t, id, thread))
        return false;
    const g_life *g = g_of(t, id);
    if (g->state == LIFE_WAITING || g->state == LIFE_UNKNOWN)
        return true;
    if (g->state == LIFE_ENDED)
        return false;
    if (g->state == LIFE_RUNNING && g->placed && m_of(t, g->place)->has_p)
        return stop_on(t, N_BLOCK, g->place);
    const m_life *m = m_of(t, thread);
    uint64_t own = m->g;
    if (!m->has_p || p_of(t, m->p)->state != PROC_BUSY || own == id)
        return false;
    return make_runnable(t, id, thread) && clear_thread(t, thread) &&
           on_thread_with(t, N_START, thread, id) && stop_on(t, N_BLOCK, thread) &&
           (own == 0 || on_thread_with(t, N_START, thread, own));
}

/* The goroutine is in a system call on that thread; blocked: the thread has lost its proc. */
static bool make_calling(rewriting *t, const gotrace_event_data *h, bool blocked)
{
    int64_t thread = h->thread;
    uint64_t id = h->goroutine;
    const m_life *m = m_of(t, thread);
    if (m->g == 0 && id != 0 && g_of(t, id)->state == LIFE_UNKNOWN)
        return true;
    bool calls = m->g != 0 && (id == 0 || m->g == id) && g_of(t, m->g)->state == LIFE_SYSCALL;
    if (!calls) {
        if (id == 0 || (h->proc == GOTRACE_NO_PROC && !m->has_p))
            return false;
        if (!make_running(t, id, thread, h->proc) || !on_thread(t, N_SYSCALL, thread))
            return false;
    } else if (!blocked && !(m->has_p && p_of(t, m->p)->state == PROC_CALLING)) {
        if (!clear_thread(t, thread) || !make_running(t, id, thread, h->proc) ||
            !on_thread(t, N_SYSCALL, thread))
            return false;
    }
    m = m_of(t, thread);
    if (blocked && m->has_p && p_of(t, m->p)->state == PROC_CALLING)
        return take_proc(t, m->p, thread, thread);
    return true;
}

/* The proc is in a system call on the thread that it is taken from; false where it is idle then, as
 * it is to be. */
static bool make_stealable(rewriting *t, int64_t proc, int64_t from, int64_t thread)
{
    const p_life *p = p_of(t, proc);
    if (p->state == PROC_BUSY && p->placed && p->thread == from && m_of(t, from)->g != 0)
        return on_thread(t, N_SYSCALL, from);
    if (p->state == PROC_BUSY || p->state == PROC_CALLING)
        free_proc(t, proc, thread);
    return false;
}

/* At the beginning of a generation a goroutine or proc is found in another state than it was left
 * in: something happened meanwhile. */
static bool steer_status(rewriting *t, const gotrace_event_data *h)
{
    enum { RUNNABLE = 1, RUNNING, IN_SYSCALL, WAITING };
    uint64_t id = h->args[0];
    int64_t thread = h->thread;
    if (h->spec->code == N_PROC_STATUS) {
        if (h->args[1] == 2)
            return free_proc(t, (int64_t)id, thread);
        return h->args[1] == 1 && thread != GOTRACE_NO_THREAD &&
               give_proc(t, thread, (int64_t)id, true);
    }
    switch (h->args[2]) {
    case RUNNABLE: return make_runnable(t, id, thread);
    case WAITING: return make_waiting(t, id, thread);
    case RUNNING: return make_running(t, id, (int64_t)h->args[1], h->proc);
    case IN_SYSCALL: {
        const m_life *m = m_of(t, (int64_t)h->args[1]);
        if (m->g == id && g_of(t, id)->state == LIFE_SYSCALL)
            return true;
        int64_t proc = m->has_p ? m->p : h->proc;
        return make_running(t, id, (int64_t)h->args[1], proc) &&
               on_thread(t, N_SYSCALL, (int64_t)h->args[1]);
    }
    default: return false;
    }
}

static bool steer_v2(rewriting *t, const gotrace_event_data *h)
{
    unsigned code = h->spec->code;
    if (code == N_PROC_STATUS || code == N_STATUS || code == N_STATUS_STACK)
        return steer_status(t, h);
    uint64_t id = h->arg_count > 0 ? h->args[0] : 0;
    int64_t thread = h->thread;
    if (thread == GOTRACE_NO_THREAD)
        return false;
    switch (h->spec->code) {
    case N_PROC_START: return clear_proc(t, thread) && free_proc(t, (int64_t)id, thread);
    case N_PROC_STOP: return clear_thread(t, thread) && give_proc(t, thread, h->proc, false);
    case N_PROC_STEAL: return make_stealable(t, (int64_t)id, (int64_t)h->args[1], thread);
    case N_START:
        return give_proc(t, thread, h->proc, false) && make_runnable(t, id, thread) &&
               clear_thread(t, thread);
    case N_CREATE:
    case N_CREATE_BLOCKED: return make_running(t, h->goroutine, thread, h->proc);
    case N_CREATE_SYSCALL: return clear_thread(t, thread);
    case N_UNBLOCK: return make_waiting(t, id, thread);
    case N_SWITCH:
    case N_SWITCH_DESTROY:
        return make_waiting(t, id, thread) && make_running(t, h->goroutine, thread, h->proc);
    case N_SYSCALL_END: return make_calling(t, h, false);
    case N_SYSCALL_BLOCKED:
    case N_DESTROY_SYSCALL: return make_calling(t, h, true);
    default: return make_running(t, h->goroutine, thread, h->proc);
    }
}

/* ---- v1 ------------------------------------------------------------------------------------- */

static bool on_proc(rewriting *t, unsigned code, int64_t proc, const uint64_t *args, size_t count)
{
    return add(t, code, proc, GOTRACE_NO_THREAD, args, count);
}

static bool v1_clear(rewriting *t, int64_t proc)
{
    return p_of(t, proc)->g == 0 || on_proc(t, O_SCHED, proc, NULL, 0);
}

static bool v1_make_runnable(rewriting *t, uint64_t id, int64_t proc)
{
    const g_life *g = g_of(t, id);
    const uint64_t exit[2] = {id, 0};
    switch (g->state) {
    case LIFE_WAITING: return on_proc(t, O_UNBLOCK, proc, &id, 1);
    case LIFE_SYSCALL: return on_proc(t, O_SYS_EXIT, proc, exit, 2);
    case LIFE_RUNNING: return g->placed && v1_clear(t, g->place);
    case LIFE_ENDED: return false;
    default: return true;
    }
}

static bool v1_make_running(rewriting *t, uint64_t id, int64_t proc)
{
    if (id == 0 || p_of(t, proc)->g == id)
        return true;
    if (!v1_make_runnable(t, id, proc) || !v1_clear(t, proc))
        return false;
    return g_of(t, id)->state == LIFE_UNKNOWN || on_proc(t, O_START, proc, &id, 1);
}

/* The goroutine blocks, waiting or in a system call; what ran on the proc runs again. */
static bool v1_make_blocked(rewriting *t, uint64_t id, int64_t proc, unsigned how)
{
    const g_life *g = g_of(t, id);
    uint64_t own = p_of(t, proc)->g;
    if (g->state == LIFE_UNKNOWN)
        return true;
    if (g->state == LIFE_ENDED)
        return false;
    if (g->state == LIFE_RUNNING && g->placed && g->place != proc)
        return on_proc(t, how, g->place, NULL, 0);
    if (own == id)
        return false;
    return v1_make_runnable(t, id, proc) && v1_clear(t, proc) &&
           on_proc(t, O_START, proc, &id, 1) && on_proc(t, how, proc, NULL, 0) &&
           (own == 0 || on_proc(t, O_START, proc, &own, 1));
}

/* What lasts has to end before it begins again, and to begin before it ends: of which of the two
 * the writer complained, its rule tells. */
static bool v1_make_lasting(rewriting *t, const gotrace_event_data *h)
{
    static const uint64_t zeros[GOTRACE_MAX_ARGS];
    const gotrace_arg_spec *args[GOTRACE_MAX_ARGS];
    unsigned other;
    switch (gotrace_writer_error(t->writer)->rule) {
    case GOTRACE_RULE_STW_START: other = O_STW_DONE; break;
    case GOTRACE_RULE_STW_DONE: other = O_STW_START; break;
    case GOTRACE_RULE_GC_START: other = O_GC_DONE; break;
    case GOTRACE_RULE_GC_DONE: other = O_GC_START; break;
    case GOTRACE_RULE_SWEEP_START: other = O_SWEEP_DONE; break;
    case GOTRACE_RULE_SWEEP_DONE: other = O_SWEEP_START; break;
    case GOTRACE_RULE_ASSIST_START: other = O_ASSIST_DONE; break;
    default: return v1_make_running(t, h->goroutine, h->proc);
    }
    const gotrace_event_spec *spec = gotrace_event_spec_of(t->r->version, other);
    return spec &&
           on_proc(t, other, h->proc, zeros, gotrace_writer_args(spec, t->r->version, args));
}

static bool steer_v1(rewriting *t, const gotrace_event_data *h)
{
    uint64_t id = h->arg_count > 0 ? h->args[0] : 0;
    unsigned code = h->spec->code;
    if (code == GOTRACE_V1_CPUSample || code == GOTRACE_V1_TimerGoroutine)
        return false;
    if (h->proc == GOTRACE_NO_PROC) {
        const p_life *p = p_of(t, 0);
        return code == O_SYS_EXIT && p->state != PROC_UNKNOWN &&
               g_of(t, id)->state != LIFE_RUNNABLE && v1_make_blocked(t, id, 0, O_SYS_BLOCK);
    }
    switch (code) {
    case O_PROC_START: return v1_clear(t, h->proc) && on_proc(t, O_PROC_STOP, h->proc, NULL, 0);
    case O_PROC_STOP: return v1_clear(t, h->proc);
    case O_START:
    case O_START_LABEL: return v1_make_runnable(t, id, h->proc) && v1_clear(t, h->proc);
    case O_UNBLOCK: {
        bool good = h->goroutine == 0 || v1_make_running(t, h->goroutine, h->proc);
        return good &&
               (g_of(t, id)->state == LIFE_WAITING || v1_make_blocked(t, id, h->proc, O_BLOCK));
    }
    case O_SYS_EXIT: return v1_make_blocked(t, id, h->proc, O_SYS_BLOCK);
    case O_WAITING:
    case O_IN_SYSCALL: return false;
    default: return v1_make_lasting(t, h);
    }
}

/* The reader believes more of a context than can be: what the event does not need is left out. */
static void narrow_context(rewriting *t, gotrace_event_data *h)
{
    unsigned code = h->spec->code;
    bool alone = code == N_UNBLOCK || code == N_PROC_STEAL || code == N_CREATE_SYSCALL;
    if (!alone && code != N_PROC_START && code != N_PROC_STOP && code != N_START)
        return;
    const m_life *m = idmap_find(&t->threads, (uint64_t)h->thread);
    if (!m || m->g != h->goroutine)
        h->goroutine = 0;
    if ((alone || code == N_PROC_START) && (!m || !m->has_p || m->p != h->proc))
        h->proc = GOTRACE_NO_PROC;
}

void rewrite_outlive(const rewriting *t, gotrace_event_data *h)
{
    bool ends = h->spec->code == O_END;
    if (repair_is_v2(t->r) || (!ends && h->spec->code != O_STOP))
        return;
    const uint64_t *last = idmap_find(&t->starts, h->goroutine);
    if (last && *last > t->now)
        h->spec = gotrace_event_spec_of(t->r->version, ends ? O_SCHED : O_BLOCK);
}

/* v1: the call ended before it began to block, as times stand here: some are a tick late. */
static bool end_later(rewriting *t, gotrace_event_data *h)
{
    if (h->spec->code != O_SYS_EXIT ||
        gotrace_writer_error(t->writer)->rule != GOTRACE_RULE_TIME_SYSCALL)
        return false;
    t->changed[0] = h->args[0];
    t->changed[1] = t->now;
    h->args = t->changed;
    return true;
}

bool rewrite_settle(rewriting *t, const gotrace_event_data *h)
{
    return steer_status(t, h);
}

bool rewrite_turn_gc(rewriting *t, bool on)
{
    enum { FIRST = 64 };
    for (uint64_t id = 0; id < FIRST && t->gc_on != on; id++) {
        const p_life *p = idmap_find(&t->procs, id);
        const m_life *m = p && p->placed && p->state == PROC_BUSY ? m_of(t, p->thread) : NULL;
        if (m && m->g != 0)
            on_thread(t, on ? N_GC_BEGIN : N_GC_END, p->thread);
    }
    return t->gc_on == on;
}

bool rewrite_clear_thread(rewriting *t, int64_t thread)
{
    return clear_thread(t, thread);
}

bool rewrite_clear_proc(rewriting *t, int64_t thread)
{
    return !m_of(t, thread)->has_p ||
           free_proc(t, m_of(t, thread)->p, rewrite_busy_thread(t, thread));
}

int64_t rewrite_busy_thread(rewriting *t, int64_t other)
{
    enum { FIRST = 64 };
    for (uint64_t id = 0; id < FIRST; id++) {
        const p_life *p = idmap_find(&t->procs, id);
        if (p && p->placed && p->state == PROC_BUSY)
            return p->thread;
    }
    if (other == GOTRACE_NO_THREAD)
        other = t->place;
    if (other != GOTRACE_NO_THREAD)
        give_proc(t, other, GOTRACE_NO_PROC, false);
    return other;
}

bool rewrite_steer(rewriting *t, gotrace_event_data *h)
{
    if (!repair_is_v2(t->r) && end_later(t, h))
        return true;
    if (repair_is_v2(t->r) && t->first_try) {
        t->first_try = false;
        narrow_context(t, h);
    }
    if (!repair_is_v2(t->r))
        return steer_v1(t, h) && rewrite_at(t, t->now, h->proc);
    bool steered = steer_v2(t, h) && rewrite_at(t, t->now, h->thread);
    /* It happens where the thread is now. */
    const m_life *m = m_of(t, h->thread);
    if (h->thread != GOTRACE_NO_THREAD && (m->g != 0 || m->has_p)) {
        if (!m->has_p || m->p != h->proc)
            h->proc = GOTRACE_NO_PROC;
        if (m->g != h->goroutine && m->g != 0)
            h->goroutine = 0;
    }
    if (h->spec->code == N_SYSCALL_BLOCKED || h->spec->code == N_DESTROY_SYSCALL)
        h->proc = GOTRACE_NO_PROC;
    return steered;
}
