/*
 * v1.c - goroutines and procs as go 1.5 to 1.21 tell of them.
 *
 * From v1 nearly all is the same. From v2: what happens on a thread happened on the proc that the
 * thread has. A goroutine in a system call runs on its proc until the proc is taken from it or
 * stops, which v1 tells as GoSysBlock; the call's end is told only then, where the goroutine runs
 * again. A coroutine switch is an unblocking, a blocking and a start. A goroutine that C calls into
 * is there from the first call on, and in a system call between two of them.
 */
#include "formats/trace/version.h"

#include <stdlib.h>

/* ---- from v1 -------------------------------------------------------------------------------- */

static bool same_event(version_converter *c)
{
    const gotrace_event *e = c->e;
    unsigned what = c->doing[e->type];
    if (what == DO_NONE)
        return true;
    telling t = version_telling(c, what);
    t.numbers[ROLE_GOROUTINE] = e->args[0];
    t.numbers[ROLE_THREAD] = e->args[0];
    t.start = what == DO_GO_CREATE ? e->args[1] : 0;
    t.text = e->text;
    t.text_size = e->text_size;
    if (what == DO_SYSCALL_EXIT)
        t.proc = GOTRACE_NO_PROC; /* the writer finds out where it is told */
    if (!c->specs[what] && what == DO_GO_START_LABEL) {
        version_lose(c, LOST_LABELS);
        t.what = DO_GO_START;
    } else if (!c->specs[what] && what == DO_GO_BLOCK_GC) {
        version_lose(c, LOST_WAIT_REASONS);
        t.what = DO_GO_BLOCK;
    } else if (!c->specs[what]) {
        /* A region that neither begins nor ends is damage, and means nothing to a reader. */
        version_lose(c, LOST_REGIONS);
        return true;
    }
    return version_tell(c, &t);
}

/* Goroutines that wake others when a timer is due are listed at the end of a trace. */
static bool remember_timer(version_converter *c)
{
    enum { LANE_TIMER = 1000001 };
    if (c->doing[c->e->type] != DO_GO_UNBLOCK || c->e->lane != LANE_TIMER)
        return true;
    return idmap_insert(&c->timers, c->e->goroutine) || version_no_memory(c);
}

bool version_v1_end(version_converter *c)
{
    uint64_t *timers = idmap_sorted_keys(&c->timers);
    bool done = version_flush(c);
    if (!timers && c->timers.count > 0)
        return version_no_memory(c);
    for (size_t i = 0; done && i < c->timers.count; i++) {
        gotrace_happening h = {.spec = c->specs[DO_TIMER],
                               .proc = GOTRACE_NO_PROC,
                               .thread = GOTRACE_NO_THREAD,
                               .args = &timers[i],
                               .arg_count = 1};
        done = gotrace_writer_event(c->writer, &h) >= 0 ||
               version_fail(c, gotrace_writer_error(c->writer));
    }
    free(timers);
    return done;
}

/* ---- from v2: goroutines -------------------------------------------------------------------- */

/* A transition of the event's goroutine, where it happened. */
static telling transition(const version_converter *c, unsigned what)
{
    telling t = version_telling(c, what);
    t.numbers[ROLE_GOROUTINE] = c->e->subject;
    if (t.proc == GOTRACE_NO_PROC) {
        /* What happens on no proc stands in the tracer's global buffer, and nobody does it. */
        t.proc = -1;
        t.goroutine = 0;
    }
    return t;
}

static bool tell_plain(version_converter *c, unsigned what, uint64_t goroutine)
{
    telling t = transition(c, what);
    t.numbers[ROLE_GOROUTINE] = goroutine;
    t.goroutine = 0;
    t.stack = 0;
    return version_tell(c, &t);
}

static bool starts(version_converter *c)
{
    telling t = transition(c, DO_GO_START);
    proc_now *p = version_proc(c, t.proc);
    if (!p)
        return false;
    p->goroutine = c->e->subject;
    t.goroutine = 0;
    return version_tell(c, &t);
}

/* It blocks, yields or ends. */
static bool stops(version_converter *c, unsigned what)
{
    telling t = transition(c, what);
    proc_now *p = version_proc(c, t.proc);
    if (!p)
        return false;
    p->goroutine = 0;
    if (what == DO_GO_END)
        idmap_remove(&c->goroutines, c->e->subject);
    return version_tell(c, &t);
}

static bool create(version_converter *c, bool waiting)
{
    telling t = transition(c, DO_GO_CREATE);
    t.start = c->e->start_stack;
    return version_tell(c, &t) && (!waiting || tell_plain(c, DO_GO_WAITING, c->e->subject));
}

/* A thread of C calls a function of Go, for the first time or again. */
static bool call_from_c(version_converter *c)
{
    goroutine_now *g = version_goroutine(c, c->e->subject);
    if (!g)
        return false;
    bool again = g->from_c;
    g->from_c = g->in_syscall = true;
    if (again)
        return true;
    telling t = transition(c, DO_GO_CREATE);
    t.proc = -1;
    t.goroutine = 0;
    if (!version_tell(c, &t))
        return false;
    t.what = DO_GO_IN_SYSCALL;
    return version_tell(c, &t);
}

/* ---- from v2: system calls ------------------------------------------------------------------ */

/* The proc is lost to the system call that its goroutine is in. */
static bool call_blocks(version_converter *c, int64_t proc)
{
    proc_now *p = version_proc(c, proc);
    if (!p || p->goroutine == 0)
        return p != NULL;
    goroutine_now *g = version_goroutine(c, p->goroutine);
    if (!g)
        return false;
    telling t = version_telling(c, DO_SYSCALL_BLOCK);
    t.proc = proc;
    t.goroutine = 0;
    g->in_syscall = true;
    p->goroutine = 0;
    return version_tell(c, &t);
}

static bool call_exits(version_converter *c, uint64_t goroutine)
{
    telling t = version_telling(c, DO_SYSCALL_EXIT);
    goroutine_now *g = version_goroutine(c, goroutine);
    if (!g)
        return false;
    g->in_syscall = false;
    t.proc = GOTRACE_NO_PROC;
    t.goroutine = 0;
    t.numbers[ROLE_GOROUTINE] = goroutine;
    return version_tell(c, &t);
}

/* It goes on where it was. v1 tells of that only where the call was told as one that blocks, as
 * that of a goroutine found in it when tracing started. */
static bool call_ends(version_converter *c)
{
    goroutine_now *g = version_goroutine(c, c->e->subject);
    if (!g)
        return false;
    if (g->in_syscall)
        return call_exits(c, c->e->subject) && starts(c);
    version_lose(c, LOST_CALL_ENDS);
    return true;
}

static bool call_ends_blocked(version_converter *c)
{
    goroutine_now *g = version_goroutine(c, c->e->subject);
    if (!g)
        return false;
    if (!g->in_syscall && c->e->proc != GOTRACE_NO_PROC && !call_blocks(c, c->e->proc))
        return false;
    return call_exits(c, c->e->subject);
}

static bool returns_to_c(version_converter *c)
{
    goroutine_now *g = version_goroutine(c, c->e->subject);
    if (!g)
        return false;
    g->from_c = true;
    version_lose(c, LOST_C_CALL_ENDS);
    return true;
}

/* ---- from v2: procs ------------------------------------------------------------------------- */

static bool proc_starts(version_converter *c)
{
    telling t = version_telling(c, DO_PROC_START);
    proc_now *p = version_proc(c, (int64_t)c->e->subject);
    if (!p)
        return false;
    p->running = true;
    t.proc = (int64_t)c->e->subject;
    t.goroutine = 0;
    t.numbers[ROLE_THREAD] = (uint64_t)c->e->thread;
    return version_tell(c, &t);
}

static bool proc_stops(version_converter *c)
{
    telling t = version_telling(c, DO_PROC_STOP);
    t.proc = (int64_t)c->e->subject;
    t.goroutine = 0;
    proc_now *p = version_proc(c, t.proc);
    /* One that was left in a system call has been told as stopped already. */
    if (!p || !p->running || c->e->from == GOTRACE_STATE_IDLE)
        return p != NULL;
    p->running = false;
    return call_blocks(c, t.proc) && version_tell(c, &t);
}

/* ---- one event ------------------------------------------------------------------------------ */

static bool status(version_converter *c)
{
    /* Those of the first generation were told when the trace began. */
    if (c->doing[c->e->type] == DO_GO_STATUS_STACK && c->e->stack != 0)
        version_lose(c, LOST_STATUS_STACKS);
    return true;
}

static bool from_v2(version_converter *c)
{
    const gotrace_event *e = c->e;
    telling t;
    switch (c->doing[e->type]) {
    case DO_PROC_START: return proc_starts(c);
    case DO_PROC_STOP:
    case DO_PROC_STEAL: return proc_stops(c);
    case DO_PROC_STATUS: return true;
    case DO_GO_STATUS:
    case DO_GO_STATUS_STACK: return status(c);
    case DO_GO_CREATE: return create(c, false);
    case DO_GO_CREATE_BLOCKED: return create(c, true);
    case DO_GO_CREATE_SYSCALL: return call_from_c(c);
    case DO_GO_START: return starts(c);
    case DO_GO_END: return stops(c, DO_GO_END);
    case DO_GO_END_SYSCALL: return returns_to_c(c);
    case DO_GO_STOP: return stops(c, version_v1_yield(c, e->reason));
    case DO_GO_BLOCK: return stops(c, version_v1_block(c, e->reason));
    case DO_SYSCALL: t = transition(c, DO_SYSCALL); return version_tell(c, &t);
    case DO_SYSCALL_END: return call_ends(c);
    case DO_SYSCALL_EXIT: return call_ends_blocked(c);
    case DO_GO_UNBLOCK:
    case DO_GO_SWITCH: /* the reader tells the rest of a switch as events of their own */
    case DO_GO_SWITCH_END: t = transition(c, DO_GO_UNBLOCK); return version_tell(c, &t);
    default: return true;
    }
}

bool version_to_v1(version_converter *c)
{
    if (version_is_v2(c->from))
        return from_v2(c);
    return remember_timer(c) && same_event(c);
}
