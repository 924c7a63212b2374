/*
 * v2.c - transitions of goroutines and procs for a target of go 1.22 or later.
 *
 * From v2, nearly everything is copied; a coroutine switch is written as its three parts if the
 * target has no such event. From v1: events of a proc become events of the thread that the proc was
 * started on. v1 does not contain the thread of every event, or contains one that is busy; then a
 * thread is made up.
 *
 * A system call that did not block is an instant in v1; here it takes a nanosecond, as in Go 1.27's
 * reader of v1 traces. One that blocks loses its proc when v1 stops the proc; until then the thread
 * keeps it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/trace/version.h"
#include "formats/common/vector.h"

/* The target's row for that change of a goroutine or proc. */
static const gotrace_event_spec *change(const version_converter *c, gotrace_state from,
                                        gotrace_state to)
{
    return c->rows.changes[from][to];
}

static const gotrace_event_spec *proc_change(const version_converter *c, gotrace_state from,
                                             gotrace_state to)
{
    return c->rows.procs[from][to];
}

/* If the target has no event for goroutines created waiting, they are created runnable, and their
 * first unblock is omitted. */
static bool create_blocked(version_converter *c, emission *t)
{
    t->row = change(c, GOTRACE_STATE_NOT_EXIST, GOTRACE_STATE_WAITING);
    if (t->row)
        return version_emit(c, t);
    goroutine_state *g = version_goroutine(c, c->e->subject);
    if (!g)
        return false;
    g->runnable = true;
    version_lose(c, LOST_CREATED_WAITING);
    t->row = change(c, GOTRACE_STATE_NOT_EXIST, GOTRACE_STATE_RUNNABLE);
    return version_emit(c, t);
}

/* ---- from v2 -------------------------------------------------------------------------------- */

/* Whether the event is the status of a proc whose thread exits, which has id 0 from then on. */
static bool has_exiting_thread(const version_converter *c)
{
    const gotrace_event *e = c->e;
    int64_t thread = GOTRACE_NO_THREAD;
    return e->resource == GOTRACE_RESOURCE_PROC && e->from == GOTRACE_STATE_RUNNING &&
           e->to == GOTRACE_STATE_RUNNING &&
           gotrace_writer_proc(c->writer, (int64_t)e->subject, &thread, NULL) ==
               GOTRACE_STATE_RUNNING &&
           e->thread == 0 && thread != 0;
}

/* The writer adds the statuses of later generations; here only their stacks are lost. */
static bool status(version_converter *c)
{
    const gotrace_event_spec *row = c->rows.like[c->e->type];
    bool stack = row->flags & GOTRACE_SPEC_STACK;
    if (!stack && c->e->stack != 0)
        version_lose(c, LOST_STATUS_STACKS);
    emission t = version_copy(c, row);
    if (!stack || c->e->stack == 0)
        t.stack = 0;
    if (c->started && t.stack == 0 && !has_exiting_thread(c))
        return true;
    return version_emit(c, &t);
}

/* Writes the change of the event's subject, which may be a part of a record that the target does
 * not have. */
static bool write_change(version_converter *c, gotrace_state from, gotrace_state to)
{
    const gotrace_event *e = c->e;
    bool proc = e->resource == GOTRACE_RESOURCE_PROC;
    emission t = version_emission(c, proc ? proc_change(c, from, to) : change(c, from, to));
    t.numbers[ROLE_GOROUTINE] = t.numbers[ROLE_PROC] = e->subject;
    t.start = gotrace_event_start_stack(e);
    t.text = gotrace_event_reason(e) ? gotrace_event_reason(e) : "";
    t.text_size = strlen(t.text);
    if (from == GOTRACE_STATE_NOT_EXIST && to == GOTRACE_STATE_WAITING)
        return create_blocked(c, &t);
    if (t.row)
        return version_emit(c, &t);
    /* A change without a row is split into two if possible. */
    if (!proc && change(c, from, GOTRACE_STATE_RUNNABLE) && change(c, GOTRACE_STATE_RUNNABLE, to))
        return write_change(c, from, GOTRACE_STATE_RUNNABLE) &&
               write_change(c, GOTRACE_STATE_RUNNABLE, to);
    version_lose_event(c);
    return true;
}

/* Whether an unblock is redundant, because the goroutine was created runnable in the target. */
static bool is_runnable_already(version_converter *c)
{
    const gotrace_event *e = c->e;
    if (e->resource != GOTRACE_RESOURCE_GOROUTINE || e->from != GOTRACE_STATE_WAITING ||
        e->to != GOTRACE_STATE_RUNNABLE)
        return false;
    goroutine_state *g = idmap_find(&c->goroutines, e->subject);
    bool runnable = g && g->runnable;
    if (runnable)
        g->runnable = false;
    return runnable;
}

/* Whether the reader made this event: before the end of a goroutine in a system call, the proc is
 * taken from its thread. Such an event has no sequence number. */
static bool is_reader_made_steal(const version_converter *c)
{
    const gotrace_event_spec *source = version_source(c);
    return source->semantics->resource == GOTRACE_RESOURCE_PROC && source->semantics->numbered &&
           source->semantics->proc.to == GOTRACE_STATE_IDLE && c->raw->args[1] == 0;
}

/* A record that changes several goroutines is several events with one offset. If the target has the
 * record, the first of them is copied with all arguments and the others are skipped; otherwise each
 * is written by the target's row for its change. */
static bool from_v2(version_converter *c)
{
    const gotrace_event *e = c->e;
    if (e->kind != GOTRACE_KIND_TRANSITION) {
        version_lose_event(c);
        return true;
    }
    const gotrace_event_spec *source = version_source(c);
    if (source->semantics->status)
        return status(c);
    if (is_reader_made_steal(c))
        return true;
    bool first = !c->has_record || c->record != e->offset;
    c->has_record = true;
    c->record = e->offset;
    if (first)
        c->copied = c->rows.like[e->type] == source;
    if (is_runnable_already(c) || (c->copied && !first))
        return true;
    if (!c->copied)
        return write_change(c, e->from, e->to);
    emission t = version_copy(c, source);
    return version_emit(c, &t);
}

/* ---- from v1: procs that run goroutines ------------------------------------------------------ */

/* Global events need a proc that runs a goroutine: the one with the lowest number. The heap has all
 * procs that run a goroutine; a proc that does not is removed when it gets to the top. */
static bool runs_goroutine(const proc_state *p)
{
    return p->running && p->goroutine != 0;
}

static bool list_busy(version_converter *c, int64_t proc, proc_state *p)
{
    if (p->listed || !runs_goroutine(p))
        return true;
    uint64_t *heap = vector_room(c->busy_procs, &c->busy_capacity, c->busy_count, sizeof *heap);
    if (!heap)
        return version_no_memory(c);
    c->busy_procs = heap;
    size_t i = c->busy_count++;
    for (; i > 0 && (uint64_t)proc < heap[(i - 1) / 2]; i = (i - 1) / 2)
        heap[i] = heap[(i - 1) / 2];
    heap[i] = (uint64_t)proc;
    p->listed = true;
    return true;
}

static void drop_first_busy(version_converter *c)
{
    uint64_t *heap = c->busy_procs, moved = heap[--c->busy_count];
    size_t i = 0;
    for (size_t child; (child = 2 * i + 1) < c->busy_count; i = child) {
        child += child + 1 < c->busy_count && heap[child + 1] < heap[child];
        if (moved <= heap[child])
            break;
        heap[i] = heap[child];
    }
    heap[i] = moved;
}

static bool find_busy(version_converter *c, int64_t *proc)
{
    for (; c->busy_count > 0; drop_first_busy(c)) {
        proc_state *p = idmap_find(&c->procs, c->busy_procs[0]);
        if (runs_goroutine(p)) {
            *proc = (int64_t)c->busy_procs[0];
            return true;
        }
        p->listed = false;
    }
    return false;
}

/* ---- from v1: threads ----------------------------------------------------------------------- */

/* Ids of made-up threads are larger than those of any system. */
enum { LOWEST_MADE_UP_THREAD = INT32_MAX };

static thread_state *thread_of(version_converter *c, int64_t thread)
{
    thread_state *t = idmap_insert(&c->threads, (uint64_t)thread);
    if (!t)
        version_no_memory(c);
    return t;
}

static int64_t make_up_thread(version_converter *c)
{
    return LOWEST_MADE_UP_THREAD + ++c->last_made_up_thread;
}

/* An event of that thread. */
static emission on_thread(const version_converter *c, const gotrace_event_spec *row, int64_t thread)
{
    emission t = version_emission(c, row);
    t.thread = thread;
    t.proc = GOTRACE_NO_PROC;
    t.goroutine = 0;
    return t;
}

/* Binds the proc to a thread: the wanted one if it is free. */
static bool bind(version_converter *c, int64_t proc, int64_t wanted)
{
    proc_state *p = version_proc(c, proc);
    thread_state *thread = wanted == GOTRACE_NO_THREAD ? NULL : thread_of(c, wanted);
    if (!p || c->status < 0)
        return false;
    if (!thread || thread->has_proc) {
        wanted = make_up_thread(c);
        thread = thread_of(c, wanted);
        if (!thread)
            return false;
    }
    /* A proc that starts before the initial state is complete was running. */
    bool was_running = !c->started && !p->known;
    thread->has_proc = true;
    thread->proc = proc;
    p->thread = wanted;
    p->running = p->known = true;
    p->lost = false;
    if (!list_busy(c, proc, p))
        return false;
    const gotrace_event_spec *starts = proc_change(c, GOTRACE_STATE_IDLE, GOTRACE_STATE_RUNNING);
    emission t = on_thread(c, was_running ? c->rows.proc_status : starts, wanted);
    t.numbers[ROLE_PROC] = (uint64_t)proc;
    t.numbers[ROLE_STATUS] = STATUS_P_RUNNING;
    return version_emit(c, &t);
}

static bool unbind(version_converter *c, int64_t proc)
{
    proc_state *p = version_proc(c, proc);
    if (!p || !p->running)
        return p != NULL;
    thread_state *thread = thread_of(c, p->thread);
    if (!thread)
        return false;
    thread->has_proc = false;
    p->running = p->lost = false;
    emission t = on_thread(c, proc_change(c, GOTRACE_STATE_RUNNING, GOTRACE_STATE_IDLE), p->thread);
    return version_emit(c, &t);
}

/* Gives the proc a thread that has no other goroutine in a system call. */
static bool free_thread(version_converter *c, int64_t proc)
{
    proc_state *p = version_proc(c, proc);
    if (!p)
        return false;
    thread_state *thread = p->thread == GOTRACE_NO_THREAD ? NULL : thread_of(c, p->thread);
    if (c->status < 0)
        return false;
    bool busy = p->goroutine == 0 && thread && thread->has_goroutine;
    if (p->running && !busy)
        return true;
    return unbind(c, proc) && bind(c, proc, busy || !thread ? GOTRACE_NO_THREAD : p->thread);
}

/* ---- from v1: context of events -------------------------------------------------------------- */

/* A proc that runs a goroutine: the one that runs `stopper` or, if that is 0, any. Otherwise *proc
 * is unchanged. */
static bool find_running(version_converter *c, uint64_t stopper, int64_t *proc)
{
    if (stopper == 0)
        return find_busy(c, proc);
    const proc_state *p = idmap_find(&c->procs, (uint64_t)c->stop_proc);
    if (!p || !p->running || p->goroutine != stopper)
        return false;
    *proc = c->stop_proc;
    return true;
}

/* v1 records on which proc an event was written, but not always by which goroutine; a global event
 * may then belong to any running goroutine. */
bool version_v2_place(version_converter *c, emission *t, bool goroutine)
{
    int64_t proc = t->proc;
    const gotrace_semantics *s = t->row->semantics;
    bool ends_stop = s->kind == GOTRACE_KIND_RANGE_END && s->range == GOTRACE_RANGE_STW;
    uint64_t wanted = ends_stop ? c->stop_goroutine : 0;
    proc_state *p = proc == GOTRACE_NO_PROC ? NULL : version_proc(c, proc);
    if (c->status < 0)
        return false;
    bool good = p && p->running && !p->lost && (!goroutine || p->goroutine != 0) &&
                (wanted == 0 || p->goroutine == wanted);
    if (!good && (goroutine || !p || !p->running) && find_running(c, wanted, &proc)) {
        p = version_proc(c, proc);
        good = true;
    }
    if (!p || (goroutine && !good)) {
        gotrace_error why = {.rule = GOTRACE_RULE_CONTEXT};
        snprintf(why.message, sizeof why.message, "%s while no goroutine runs", t->row->name);
        if (c->losses->impossible++ == 0)
            c->losses->first = why;
        return false;
    }
    if (!good && !free_thread(c, proc))
        return false;
    t->proc = proc;
    t->thread = p->thread;
    t->goroutine = p->goroutine;
    return true;
}

/* ---- from v1: initial state ------------------------------------------------------------------ */

/* A goroutine that existed before the trace is created in v1, and then recorded as waiting, in a
 * system call or running; without such an event it is runnable. Until that is known it is kept in
 * c->undetermined. */
static bool keep_undetermined(version_converter *c)
{
    uint64_t *start = idmap_insert(&c->undetermined, c->e->subject);
    if (!start)
        return version_no_memory(c);
    *start = gotrace_event_start_stack(c->e);
    return true;
}

static bool emit_initial_status(version_converter *c, uint64_t goroutine, uint64_t state,
                                int64_t thread)
{
    const uint64_t *start = idmap_find(&c->undetermined, goroutine);
    emission t = on_thread(c, c->rows.status_stack ? c->rows.status_stack : c->rows.status,
                           state == STATUS_G_IN_SYSCALL ? GOTRACE_NO_THREAD : thread);
    t.numbers[ROLE_GOROUTINE] = goroutine;
    t.numbers[ROLE_THREAD] = thread == GOTRACE_NO_THREAD ? UINT64_MAX : (uint64_t)thread;
    t.numbers[ROLE_STATUS] = state;
    t.stack = 0;
    t.start = start ? *start : 0;
    if (t.start != 0 && t.row == c->rows.status)
        version_lose(c, LOST_START_FUNCTIONS);
    t.start_is_stack = true;
    idmap_remove(&c->undetermined, goroutine);
    return version_emit(c, &t);
}

static bool found_waiting(version_converter *c)
{
    return emit_initial_status(c, c->e->subject, STATUS_G_WAITING, GOTRACE_NO_THREAD);
}

static bool found_in_syscall(version_converter *c)
{
    goroutine_state *g = version_goroutine(c, c->e->subject);
    if (!g)
        return false;
    g->thread = make_up_thread(c);
    thread_state *thread = thread_of(c, g->thread);
    if (!thread)
        return false;
    thread->has_goroutine = true;
    return emit_initial_status(c, c->e->subject, STATUS_G_IN_SYSCALL, g->thread);
}

static bool emit_rest_as_runnable(version_converter *c)
{
    uint64_t *goroutines = idmap_sorted_keys(&c->undetermined);
    size_t count = c->undetermined.count;
    bool done = goroutines || count == 0 || version_no_memory(c);
    for (size_t i = 0; done && i < count; i++)
        done = emit_initial_status(c, goroutines[i], STATUS_G_RUNNABLE, GOTRACE_NO_THREAD);
    free(goroutines);
    return done;
}

/* ---- from v1: goroutines -------------------------------------------------------------------- */

/* A creation is delayed until the next event, which may determine the state in which the goroutine
 * is created. */
static bool create(version_converter *c)
{
    if ((c->e->flags & GOTRACE_EVENT_INITIAL) && !c->started)
        return keep_undetermined(c);
    c->created = *c->e;
    c->created_raw = *c->raw;
    c->created_raw.arg_count = 0; /* valid for the current event only */
    c->has_created = true;
    return true;
}

static bool create_in_syscall(version_converter *c)
{
    goroutine_state *g = version_goroutine(c, c->e->subject);
    int64_t id = make_up_thread(c);
    thread_state *thread = thread_of(c, id);
    if (!g || !thread)
        return false;
    g->thread = id;
    thread->has_goroutine = true;
    emission t = on_thread(c, change(c, GOTRACE_STATE_NOT_EXIST, GOTRACE_STATE_SYSCALL), id);
    t.numbers[ROLE_GOROUTINE] = c->e->subject;
    t.stack = 0;
    return version_emit(c, &t);
}

/* initial: the state given by the next event, or runnable. */
static bool create_now(version_converter *c, gotrace_state initial)
{
    if (initial == GOTRACE_STATE_SYSCALL)
        return create_in_syscall(c);
    emission t = version_emission(c, change(c, GOTRACE_STATE_NOT_EXIST, GOTRACE_STATE_RUNNABLE));
    if (!version_v2_place(c, &t, false))
        return c->status >= 0;
    t.numbers[ROLE_GOROUTINE] = c->e->subject;
    t.start = gotrace_event_start_stack(c->e);
    return initial == GOTRACE_STATE_WAITING ? create_blocked(c, &t) : version_emit(c, &t);
}

/* Writes the delayed creation. *done: the current event is part of it. */
static bool write_delayed_creation(version_converter *c, const gotrace_event *now, bool *done)
{
    const gotrace_event created = c->created;
    const gotrace_raw *raw = c->raw, created_raw = c->created_raw;
    const gotrace_semantics *s = now ? c->rows.source[now->type]->semantics : NULL;
    *done = s && s->initial && now->subject == created.subject;
    c->has_created = false;
    c->e = &created;
    c->raw = &created_raw;
    bool written = create_now(c, *done ? s->other.to : GOTRACE_STATE_RUNNABLE);
    c->e = now ? now : &c->created;
    c->raw = now ? raw : &c->created_raw;
    return written;
}

/* Completes the initial state before the first event that is not part of it. */
bool version_v2_prepare(version_converter *c, bool *done)
{
    if (c->has_created)
        return write_delayed_creation(c, c->e, done);
    const gotrace_semantics *s = version_source(c)->semantics;
    bool about = (c->e->flags & GOTRACE_EVENT_INITIAL) || s->proc.to == GOTRACE_STATE_RUNNING ||
                 s->other.to == GOTRACE_STATE_RUNNING || c->e->kind == GOTRACE_KIND_RANGE_BEGIN;
    if (about && !c->started)
        return true;
    c->started = true;
    return c->undetermined.count == 0 || emit_rest_as_runnable(c);
}

static bool starts(version_converter *c)
{
    const gotrace_event *e = c->e;
    proc_state *p = version_proc(c, e->proc);
    if (!p || !free_thread(c, e->proc))
        return false;
    thread_state *thread = thread_of(c, p->thread);
    if (!thread)
        return false;
    p->goroutine = e->subject;
    thread->has_goroutine = true;
    if (e->subject == c->stop_goroutine)
        c->stop_proc = e->proc;
    if (!list_busy(c, e->proc, p))
        return false;
    emission t = on_thread(c, change(c, GOTRACE_STATE_RUNNABLE, GOTRACE_STATE_RUNNING), p->thread);
    t.numbers[ROLE_GOROUTINE] = e->subject;
    bool undetermined = idmap_find(&c->undetermined, e->subject) != NULL;
    if (undetermined ? !emit_initial_status(c, e->subject, STATUS_G_RUNNING, p->thread)
                     : !version_emit(c, &t))
        return false;
    if (!row_has(version_source(c), GOTRACE_ARG_STRING))
        return true;
    t.row = row_of_kind(c->to, GOTRACE_KIND_LABEL, GOTRACE_RANGE_NONE);
    t.text = gotrace_event_details(e)->text;
    t.text_size = gotrace_event_details(e)->text_size;
    return version_emit(c, &t);
}

/* The goroutine blocks, yields or ends. */
static bool stops(version_converter *c)
{
    const gotrace_event *e = c->e;
    proc_state *p = version_proc(c, e->proc);
    thread_state *thread = p && p->running ? thread_of(c, p->thread) : NULL;
    if (!p || c->status < 0)
        return false;
    const gotrace_semantics *s = version_source(c)->semantics;
    emission t = on_thread(c, change(c, GOTRACE_STATE_RUNNING, s->self.to), p->thread);
    t.text = s->text ? s->text : "";
    t.text_size = strlen(t.text);
    p->goroutine = 0;
    if (thread)
        thread->has_goroutine = false;
    if (s->self.to == GOTRACE_STATE_NOT_EXIST)
        idmap_remove(&c->goroutines, e->subject);
    return version_emit(c, &t);
}

static bool unblocks(version_converter *c)
{
    const gotrace_event *e = c->e;
    proc_state *p = e->proc < 0 ? NULL : version_proc(c, e->proc);
    if (c->status < 0)
        return false;
    /* Without a proc, a separate thread is used. */
    int64_t thread = p && p->running ? p->thread : LOWEST_MADE_UP_THREAD;
    emission t = on_thread(c, change(c, GOTRACE_STATE_WAITING, GOTRACE_STATE_RUNNABLE), thread);
    t.numbers[ROLE_GOROUTINE] = e->subject;
    return version_emit(c, &t);
}

/* ---- from v1: system calls and procs -------------------------------------------------------- */

static bool call_begins(version_converter *c)
{
    proc_state *p = version_proc(c, c->e->proc);
    goroutine_state *g = version_goroutine(c, c->e->goroutine);
    if (!p || !g)
        return false;
    g->thread = p->thread;
    emission t = on_thread(c, c->rows.syscall, p->thread);
    return version_emit(c, &t);
}

/* A system call that does not block. */
static bool call(version_converter *c)
{
    if (!call_begins(c))
        return false;
    const proc_state *p = version_proc(c, c->e->proc);
    emission t = on_thread(c, change(c, GOTRACE_STATE_SYSCALL, GOTRACE_STATE_RUNNING), p->thread);
    t.stack = 0;
    return version_emit(c, &t);
}

static bool call_blocks(version_converter *c)
{
    proc_state *p = version_proc(c, c->e->proc);
    if (!p || (c->e->from == GOTRACE_STATE_RUNNING && !call_begins(c)))
        return false;
    p->goroutine = 0;
    p->lost = true;
    return true;
}

static bool call_exits(version_converter *c)
{
    const gotrace_event *e = c->e;
    goroutine_state *g = version_goroutine(c, e->subject);
    if (!g)
        return false;
    int64_t thread = g->thread == GOTRACE_NO_THREAD ? LOWEST_MADE_UP_THREAD : g->thread;
    thread_state *now = thread_of(c, thread);
    if (!now)
        return false;
    const proc_state *p = now->has_proc ? version_proc(c, now->proc) : NULL;
    if (c->status < 0 || (p && p->lost && !unbind(c, now->proc)))
        return false;
    now->has_goroutine = false;
    emission t = on_thread(c, change(c, GOTRACE_STATE_SYSCALL, GOTRACE_STATE_RUNNABLE), thread);
    return version_emit(c, &t);
}

static bool proc_starts(version_converter *c)
{
    return unbind(c, c->e->proc) && bind(c, c->e->proc, (int64_t)c->raw->args[0]);
}

/* ---- one event ------------------------------------------------------------------------------ */

static bool goroutine_from_v1(version_converter *c)
{
    const gotrace_semantics *s = version_source(c)->semantics;
    gotrace_change other = s->other;
    if (s->initial)
        return other.to == GOTRACE_STATE_WAITING ? found_waiting(c) : found_in_syscall(c);
    if (row_is(s->self, GOTRACE_STATE_RUNNING, GOTRACE_STATE_SYSCALL))
        return call_blocks(c);
    if (row_stops(s))
        return stops(c);
    if (row_starts(s))
        return starts(c);
    if (row_is(other, GOTRACE_STATE_NOT_EXIST, GOTRACE_STATE_RUNNABLE))
        return create(c);
    if (row_is(other, GOTRACE_STATE_WAITING, GOTRACE_STATE_RUNNABLE))
        return unblocks(c);
    if (row_is(other, GOTRACE_STATE_SYSCALL, GOTRACE_STATE_RUNNABLE))
        return call_exits(c);
    version_lose_event(c);
    return true;
}

static bool from_v1(version_converter *c)
{
    const gotrace_semantics *s = version_source(c)->semantics;
    if (c->e->flags & GOTRACE_EVENT_FUTILE) {
        /* As in Go's reader of v1 traces. */
        version_lose(c, LOST_FUTILE);
        return true;
    }
    if (s->kind == GOTRACE_KIND_SYSCALL)
        return c->e->kind == GOTRACE_KIND_SYSCALL ? call(c) : call_begins(c);
    if (s->kind == GOTRACE_KIND_TRANSITION && s->resource == GOTRACE_RESOURCE_PROC)
        return s->proc.to == GOTRACE_STATE_RUNNING ? proc_starts(c) : unbind(c, c->e->proc);
    if (s->kind == GOTRACE_KIND_TRANSITION)
        return goroutine_from_v1(c);
    version_lose_event(c);
    return true;
}

bool version_to_v2(version_converter *c)
{
    return version_is_v2(c->from) ? from_v2(c) : from_v1(c);
}

bool version_v2_end(version_converter *c)
{
    bool done;
    if (c->has_created && !write_delayed_creation(c, NULL, &done))
        return false;
    return c->undetermined.count == 0 || emit_rest_as_runnable(c);
}
