/*
 * v1.c - transitions of goroutines and procs for a target of go 1.5 to 1.21.
 *
 * From v1, nearly everything is copied. From v2: events of a thread become events of the proc that
 * the thread has. A goroutine in a system call runs on its proc until the proc is taken or stops,
 * which v1 records as GoSysBlock; only then does v1 record the end of the call, when the goroutine
 * runs again. A coroutine switch becomes an unblock, a block and a start. A goroutine created for
 * calls from C exists from the first call on, and is in a system call between calls.
 */
#include "formats/trace/version.h"

#include <stdlib.h>

/* ---- from v1 -------------------------------------------------------------------------------- */

/* Copies v1 arguments by kind; regions and messages are handled separately. */
static bool same_event(version_converter *c)
{
    const gotrace_event *e = c->e;
    const gotrace_event_spec *source = version_source(c), *row = c->rows.like[e->type];
    if (!row) {
        version_lose_event(c);
        return true;
    }
    emission t = version_emission(c, row);
    t.numbers[ROLE_GOROUTINE] = c->raw->args[0];
    t.numbers[ROLE_THREAD] = c->raw->args[0];
    t.start = row_has(row, GOTRACE_ARG_START) ? c->raw->args[1] : 0;
    t.text = gotrace_event_details(e)->text;
    t.text_size = gotrace_event_details(e)->text_size;
    if (row_is(row->semantics->other, GOTRACE_STATE_SYSCALL, GOTRACE_STATE_RUNNABLE))
        t.proc = GOTRACE_NO_PROC; /* the writer chooses the proc */
    if (source->semantics->text && !row->semantics->text)
        version_lose(c, LOST_WAIT_REASONS);
    else if (row_has(source, GOTRACE_ARG_STRING) && !row_has(row, GOTRACE_ARG_STRING))
        version_lose(c, LOST_LABELS);
    return version_emit(c, &t);
}

/* v1 lists goroutines that run timers at the end of the trace. */
static bool remember_timer(version_converter *c)
{
    gotrace_change other = version_source(c)->semantics->other;
    if (!row_is(other, GOTRACE_STATE_WAITING, GOTRACE_STATE_RUNNABLE) ||
        !(c->e->flags & GOTRACE_EVENT_TIMER))
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
        gotrace_event_data h = {.spec = gotrace_event_spec_of(c->to, GOTRACE_V1_TimerGoroutine),
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

/* A transition of the event's subject in the event's context. */
static emission transition(const version_converter *c, const gotrace_event_spec *row)
{
    emission t = version_emission(c, row);
    t.numbers[ROLE_GOROUTINE] = c->e->subject;
    if (t.proc == GOTRACE_NO_PROC) {
        /* Events without a proc are in the tracer's global buffer and have no goroutine. */
        t.proc = -1;
        t.goroutine = 0;
    }
    return t;
}

/* The target's row for that change of a goroutine. */
static const gotrace_event_spec *change(const version_converter *c, gotrace_state from,
                                        gotrace_state to)
{
    return c->rows.changes[from][to];
}

static bool starts(version_converter *c)
{
    emission t = transition(c, change(c, GOTRACE_STATE_RUNNABLE, GOTRACE_STATE_RUNNING));
    proc_state *p = version_proc(c, t.proc);
    if (!p)
        return false;
    p->goroutine = c->e->subject;
    t.goroutine = 0;
    return version_emit(c, &t);
}

static bool stops_by(version_converter *c, const gotrace_event_spec *row)
{
    emission t = transition(c, row);
    proc_state *p = version_proc(c, t.proc);
    if (!p)
        return false;
    p->goroutine = 0;
    if (c->e->to == GOTRACE_STATE_NOT_EXIST)
        idmap_remove(&c->goroutines, c->e->subject);
    return version_emit(c, &t);
}

static bool ends(version_converter *c)
{
    return stops_by(c, change(c, GOTRACE_STATE_RUNNING, GOTRACE_STATE_NOT_EXIST));
}

static bool blocks_or_yields(version_converter *c)
{
    return stops_by(c, version_v1_stop(c, c->e->to, gotrace_event_reason(c->e)));
}

static bool create(version_converter *c)
{
    emission t = transition(c, change(c, GOTRACE_STATE_NOT_EXIST, GOTRACE_STATE_RUNNABLE));
    t.start = gotrace_event_start_stack(c->e);
    return version_emit(c, &t);
}

static bool create_waiting(version_converter *c)
{
    if (!create(c))
        return false;
    emission t = transition(c, change(c, GOTRACE_STATE_RUNNABLE, GOTRACE_STATE_WAITING));
    t.goroutine = 0;
    t.stack = 0;
    return version_emit(c, &t);
}

static bool unblocks(version_converter *c)
{
    emission t = transition(c, change(c, GOTRACE_STATE_WAITING, GOTRACE_STATE_RUNNABLE));
    return version_emit(c, &t);
}

/* A C thread calls into Go, for the first time or again. */
static bool call_from_c(version_converter *c)
{
    goroutine_state *g = version_goroutine(c, c->e->subject);
    if (!g)
        return false;
    bool again = g->from_c;
    g->from_c = g->in_syscall = true;
    if (again)
        return true;
    emission t = transition(c, change(c, GOTRACE_STATE_NOT_EXIST, GOTRACE_STATE_RUNNABLE));
    t.proc = -1;
    t.goroutine = 0;
    if (!version_emit(c, &t))
        return false;
    t.row = change(c, GOTRACE_STATE_RUNNABLE, GOTRACE_STATE_SYSCALL);
    return version_emit(c, &t);
}

/* ---- from v2: system calls ------------------------------------------------------------------ */

static bool call_begins(version_converter *c)
{
    emission t = transition(c, c->rows.syscall);
    return version_emit(c, &t);
}

/* The proc is taken from its goroutine, which is in a system call. */
static bool call_blocks(version_converter *c, int64_t proc)
{
    proc_state *p = version_proc(c, proc);
    if (!p || p->goroutine == 0)
        return p != NULL;
    goroutine_state *g = version_goroutine(c, p->goroutine);
    if (!g)
        return false;
    emission t = version_emission(c, change(c, GOTRACE_STATE_RUNNING, GOTRACE_STATE_SYSCALL));
    t.proc = proc;
    t.goroutine = 0;
    g->in_syscall = true;
    p->goroutine = 0;
    return version_emit(c, &t);
}

static bool call_exits(version_converter *c, uint64_t goroutine)
{
    emission t = version_emission(c, change(c, GOTRACE_STATE_SYSCALL, GOTRACE_STATE_RUNNABLE));
    goroutine_state *g = version_goroutine(c, goroutine);
    if (!g)
        return false;
    g->in_syscall = false;
    t.proc = GOTRACE_NO_PROC;
    t.goroutine = 0;
    t.numbers[ROLE_GOROUTINE] = goroutine;
    return version_emit(c, &t);
}

/* The goroutine continues on its proc. v1 records that only for a call recorded as blocking, such
 * as one in progress at the initial_state of the trace. */
static bool call_ends(version_converter *c)
{
    goroutine_state *g = version_goroutine(c, c->e->subject);
    if (!g)
        return false;
    if (g->in_syscall)
        return call_exits(c, c->e->subject) && starts(c);
    version_lose(c, LOST_CALL_ENDS);
    return true;
}

static bool call_ends_blocked(version_converter *c)
{
    goroutine_state *g = version_goroutine(c, c->e->subject);
    if (!g)
        return false;
    if (!g->in_syscall && c->e->proc != GOTRACE_NO_PROC && !call_blocks(c, c->e->proc))
        return false;
    return call_exits(c, c->e->subject);
}

static bool returns_to_c(version_converter *c)
{
    goroutine_state *g = version_goroutine(c, c->e->subject);
    if (!g)
        return false;
    g->from_c = true;
    version_lose(c, LOST_C_CALL_ENDS);
    return true;
}

/* ---- from v2: procs ------------------------------------------------------------------------- */

static bool proc_starts(version_converter *c)
{
    emission t = version_emission(c, c->rows.procs[GOTRACE_STATE_IDLE][GOTRACE_STATE_RUNNING]);
    proc_state *p = version_proc(c, (int64_t)c->e->subject);
    if (!p)
        return false;
    p->running = true;
    t.proc = (int64_t)c->e->subject;
    t.goroutine = 0;
    t.numbers[ROLE_THREAD] = (uint64_t)c->e->thread;
    return version_emit(c, &t);
}

static bool proc_stops(version_converter *c)
{
    emission t = version_emission(c, c->rows.procs[GOTRACE_STATE_RUNNING][GOTRACE_STATE_IDLE]);
    t.proc = (int64_t)c->e->subject;
    t.goroutine = 0;
    proc_state *p = version_proc(c, t.proc);
    /* A proc left in a system call was already recorded as stopped. */
    if (!p || !p->running || c->e->from == GOTRACE_STATE_IDLE)
        return p != NULL;
    p->running = false;
    return call_blocks(c, t.proc) && version_emit(c, &t);
}

/* ---- one event ------------------------------------------------------------------------------ */

static bool status(version_converter *c)
{
    /* The statuses of the first generation were written at the initial_state. */
    if (c->e->resource == GOTRACE_RESOURCE_GOROUTINE && c->e->stack != 0)
        version_lose(c, LOST_STATUS_STACKS);
    return true;
}

/* Converts a transition of a goroutine. */
typedef bool (*step)(version_converter *);
static const step steps[ROW_STATES][ROW_STATES] = {
    [GOTRACE_STATE_NOT_EXIST] = {[GOTRACE_STATE_RUNNABLE] = create,
                                 [GOTRACE_STATE_WAITING] = create_waiting,
                                 [GOTRACE_STATE_SYSCALL] = call_from_c},
    [GOTRACE_STATE_RUNNABLE] = {[GOTRACE_STATE_RUNNING] = starts},
    [GOTRACE_STATE_RUNNING] = {[GOTRACE_STATE_NOT_EXIST] = ends,
                               [GOTRACE_STATE_RUNNABLE] = blocks_or_yields,
                               [GOTRACE_STATE_WAITING] = blocks_or_yields,
                               [GOTRACE_STATE_SYSCALL] = call_begins},
    [GOTRACE_STATE_SYSCALL] = {[GOTRACE_STATE_RUNNING] = call_ends,
                               [GOTRACE_STATE_RUNNABLE] = call_ends_blocked,
                               [GOTRACE_STATE_NOT_EXIST] = returns_to_c},
    [GOTRACE_STATE_WAITING] = {[GOTRACE_STATE_RUNNABLE] = unblocks},
};

static bool step_from(version_converter *c, gotrace_state from, gotrace_state to)
{
    const gotrace_event *whole = c->e;
    gotrace_event part = *whole;
    part.from = (uint8_t)from;
    part.to = (uint8_t)to;
    c->e = &part;
    bool done = steps[from][to](c);
    c->e = whole;
    return done;
}

/* A change without a step is split into two: from every state to runnable, and from runnable to
 * every state. */
static bool goroutine_changes(version_converter *c)
{
    gotrace_state from = c->e->from, to = c->e->to;
    if (steps[from][to])
        return steps[from][to](c);
    if (steps[from][GOTRACE_STATE_RUNNABLE] && steps[GOTRACE_STATE_RUNNABLE][to])
        return step_from(c, from, GOTRACE_STATE_RUNNABLE) &&
               step_from(c, GOTRACE_STATE_RUNNABLE, to);
    version_lose_event(c);
    return true;
}

static bool from_v2(version_converter *c)
{
    const gotrace_event *e = c->e;
    if (e->kind != GOTRACE_KIND_TRANSITION) {
        version_lose_event(c);
        return true;
    }
    if (version_source(c)->semantics->status)
        return status(c);
    if (e->resource == GOTRACE_RESOURCE_PROC)
        return e->to == GOTRACE_STATE_RUNNING ? proc_starts(c) : proc_stops(c);
    return goroutine_changes(c);
}

bool version_to_v1(version_converter *c)
{
    if (version_is_v2(c->from))
        return from_v2(c);
    return remember_timer(c) && same_event(c);
}
