/*
 * state.c - open slices of goroutines and procs.
 *
 * Of states this has only those that a slice shows: events have the state before and after, and the
 * intervals of analyse/states.h, in another map and with stacks interned twice, would be a second
 * look-up for each event.
 */
#include <stdio.h>
#include <stdlib.h>

#include "formats/perfetto/perfetto.h"

#include "formats/common/rows_by_meaning.h"

void state_init(perfetto *p)
{
    idmap_init(&p->goroutines, sizeof(perfetto_goroutine));
    idmap_init(&p->procs, sizeof(perfetto_proc));
    idmap_init(&p->tasks, sizeof(perfetto_task));
    idmap_init(&p->threads, sizeof(perfetto_thread));
    idmap_init(&p->functions, sizeof(perfetto_function *));
    idmap_init(&p->starts, sizeof(perfetto_function *));
}

void state_free(perfetto *p)
{
    idmap_free(&p->goroutines);
    idmap_free(&p->procs);
    idmap_free(&p->tasks);
    idmap_free(&p->threads);
    functions_free(p);
    idmap_free(&p->starts);
    free(p->assists.free);
    free(p->stops.free);
}

/* Refers to the stack where the goroutine will resume. In v2 the trace's id may no longer be
 * valid. */
static protobuf_field remembered_stack(perfetto *p, const perfetto_goroutine *g)
{
    if (p->version < GOTRACE_FIRST_V2)
        return intern_stack(p, g->stack);
    return g->stack_epoch == p->epoch ? g->stack : 0;
}

static void remember_stack(perfetto *p, perfetto_goroutine *g, uint64_t id, protobuf_field stack)
{
    g->stack = p->version < GOTRACE_FIRST_V2 ? id : stack;
    g->stack_epoch = p->epoch;
}

static void goroutine_init(perfetto *p, uint64_t id, perfetto_goroutine *g, uint64_t start_stack)
{
    if (p->version >= FIRST_START_STACK)
        goroutine_starts(p, id, g, start_stack, true);
    if (p->version >= GOTRACE_FIRST_V2) {
        if (wants(p, PART_PROCS))
            remember_stack(p, g, start_stack, intern_stack(p, start_stack));
        return;
    }
    g->start_stack = start_stack;
    if (p->version >= FIRST_START_STACK)
        g->stack = start_stack;
}

perfetto_goroutine *goroutine_get(perfetto *p, uint64_t id, uint64_t start_stack)
{
    perfetto_goroutine *g = idmap_find(&p->goroutines, id);

    if (g && g->epoch == p->epoch)
        return g;
    if (!g) {
        g = idmap_insert(&p->goroutines, id);
        if (!g) {
            protobuf_fail(&p->w);
            return NULL;
        }
        goroutine_init(p, id, g, start_stack);
    }
    g->epoch = p->epoch;
    track_goroutine(p, id, g);
    return g;
}

/* Events without a proc (GOTRACE_NO_PROC) and those that the tracer wrote outside any proc (-1)
 * share one entry. */
static int64_t proc_id(int64_t id)
{
    return id < 0 ? -1 : id;
}

perfetto_proc *proc_find(perfetto *p, int64_t id)
{
    id = proc_id(id);
    perfetto_proc *proc = idmap_find(&p->procs, (uint64_t)id);

    if (proc)
        return proc;
    proc = idmap_insert(&p->procs, (uint64_t)id);
    if (!proc) {
        protobuf_fail(&p->w);
        return NULL;
    }
    proc->id = id;
    proc->thread = proc->holder = GOTRACE_NO_THREAD;
    return proc;
}

perfetto_proc *proc_get(perfetto *p, int64_t id)
{
    perfetto_proc *proc = proc_find(p, id);

    if (!proc || proc->epoch == p->epoch)
        return proc;
    proc->epoch = p->epoch;
    track_proc(p, proc_id(id), proc);
    return proc;
}

/* ---- counters ------------------------------------------------------------------------------ */

static void count_change(perfetto *p, unsigned from, unsigned to)
{
    /* 1 is the place of the first track. */
    static const uint8_t places[GOTRACE_STATE_ABANDONED + 1] = {
        [GOTRACE_STATE_RUNNABLE] = TRACK_RUNNABLE - TRACK_RUNNABLE + 1,
        [GOTRACE_STATE_RUNNING] = TRACK_RUNNING - TRACK_RUNNABLE + 1,
        [GOTRACE_STATE_WAITING] = TRACK_WAITING - TRACK_RUNNABLE + 1,
        [GOTRACE_STATE_SYSCALL] = TRACK_SYSCALL - TRACK_RUNNABLE + 1,
    };
    unsigned before = places[from], after = places[to];

    if (!wants(p, PART_COUNTERS))
        return;
    p->states[before]--;
    p->states[after]++;
    if (p->changed < before)
        p->changed = before;
    if (p->changed < after)
        p->changed = after;
}

/* Whether an event can carry the changed counters: trace_processor takes all values after the first
 * 0 as 0. */
static bool fits_event(const perfetto *p)
{
    unsigned i = 1;

    while (i <= p->changed && p->states[i] > 0)
        i++;
    while (i <= p->changed && p->states[i] == 0)
        i++;
    return i > p->changed;
}

/* Whether the changed counters are due, and an event can carry them. If it cannot, or may be
 * merged, they get events of their own before the time advances. */
static bool has_counters(const perfetto *p)
{
    return p->time - p->counted >= COUNTER_STEP && !p->detail.least && fits_event(p);
}

/* Adds the changed counters, and those before them, to the open event. */
static void add_counters(perfetto *p)
{
    for (unsigned i = 1; i <= p->changed; i++)
        protobuf_uint(&p->w, EVENT_EXTRA_COUNTER_VALUES, p->states[i]);
    p->changed = 0;
    p->counted = p->time;
}

void write_counters(perfetto *p)
{
    for (unsigned i = 0; i < p->changed; i++) {
        event_open(p, COUNTER, refer_to_track(p, TRACK_RUNNABLE + i));
        protobuf_uint(&p->w, EVENT_COUNTER_VALUE, p->states[i + 1]);
        event_close(p);
    }
    p->changed = 0;
    p->counted = p->time;
}

/* ---- runs on procs ------------------------------------------------------------------------- */

static void sweep_end(perfetto *p, perfetto_proc *proc)
{
    if (proc->sweeping)
        slice_end(p, proc->track_field);
    proc->sweeping = false;
}

/* Ends a goroutine's run; stack is the id of where it stopped. */
static void run_end(perfetto *p, perfetto_goroutine *g, uint64_t stack_id)
{
    perfetto_proc *proc = g->proc;

    g->proc = NULL;
    if (!proc)
        return;
    sweep_end(p, proc);
    proc->running = false;
    protobuf_field stack = intern_stack(p, stack_id);
    uint64_t label = proc->label_epoch == p->epoch ? proc->label : 0;
    proc->label = 0;
    if (label) {
        event_open_named(p, SLICE_END, proc->track_field, 0, 0, stack);
        event_annotate_string(p, ANNOTATE_LABEL, (perfetto_name){label, NULL, 0});
        event_close(p);
    } else if (stack) {
        event_write(p, SLICE_END, proc->track_field, 0, 0, stack);
    } else {
        slice_end(p, proc->track_field);
    }
}

static void sweep_begin(perfetto *p, perfetto_proc *proc, protobuf_field stack)
{
    p->detail.merged = MERGED_GC;
    event_write(p, SLICE_BEGIN, proc->track_field, refer_to_category(CATEGORY_GC),
                refer_to_name(NAME_SWEEP), stack);
    proc->sweeping = true;
}

static void run_begin(perfetto *p, perfetto_goroutine *g, const gotrace_event *e)
{
    perfetto_proc *proc = proc_get(p, e->proc);

    if (!proc)
        return;
    proc->thread = e->thread;
    const gotrace_details *details = gotrace_event_details(e);
    if (details->text_size > 0)
        track_labelled(p, e->subject, g, details->text, details->text_size);
    if (!wants(p, PART_PROCS))
        return;
    /* In a sound trace the proc is free. */
    if (proc->running) {
        perfetto_goroutine *other = idmap_find(&p->goroutines, proc->goroutine);
        if (other)
            run_end(p, other, 0);
    }
    /* At the beginning of a generation an active sweep is recorded before its proc. */
    bool sweeps = proc->sweeping && (e->flags & GOTRACE_EVENT_INITIAL);
    sweep_end(p, proc);
    perfetto_name label = {0};
    if (details->text_size > 0)
        label = intern_value(p, details->text, details->text_size);
    protobuf_field stack = remembered_stack(p, g);
    p->detail.merged = MERGED_RUN;
    perfetto_put put = event_put_named(p, SLICE_BEGIN, proc->track_field,
                                       refer_to_category(CATEGORY_RUN), g->name, stack);
    if (g->cause && g->cause == gotrace_event_cause(e))
        put.at = protobuf_put_fixed64(put.at, EVENT_TERMINATING_FLOW_IDS, own_id(p, g->cause));
    if (label.size > 0) {
        event_hold(p, put);
        event_annotate_string(p, ANNOTATE_LABEL, label);
        event_close(p);
    } else {
        event_end(p, put);
    }
    if (sweeps)
        sweep_begin(p, proc, 0);
    proc->running = true;
    proc->goroutine = e->subject;
    g->proc = proc;
    g->cause = 0;
}

/* A proc that stops, or is taken from a goroutine in a system call, no longer runs anything. */
void proc_transition(perfetto *p, const gotrace_event *e)
{
    const perfetto_proc *proc = idmap_find(&p->procs, e->subject);

    if (proc && proc->running && e->to != GOTRACE_STATE_RUNNING) {
        perfetto_goroutine *g = idmap_find(&p->goroutines, proc->goroutine);
        if (g)
            run_end(p, g, 0);
    }
    if (p->version >= GOTRACE_FIRST_V2 && wants(p, PART_THREADS))
        thread_proc(p, e);
}

/* The label is recorded after the run began, so it is written at the end of the run. */
void label_event(perfetto *p, const gotrace_event *e)
{
    perfetto_goroutine *g = idmap_find(&p->goroutines, e->goroutine);
    const gotrace_details *details = gotrace_event_details(e);
    perfetto_proc *proc = g ? g->proc : NULL;

    if (g)
        track_labelled(p, e->goroutine, g, details->text, details->text_size);
    if (!proc)
        return;
    proc->label = intern_value(p, details->text, details->text_size).iid;
    proc->label_epoch = p->epoch;
}

/* ---- goroutines ---------------------------------------------------------------------------- */

/* Shows on the proc's track that it made the goroutine runnable; a flow starts there. */
static void show_cause(perfetto *p, perfetto_goroutine *g, const gotrace_event *e, unsigned name)
{
    perfetto_proc *proc = wants(p, PART_PROCS) ? proc_get(p, e->proc) : NULL;

    if (!proc)
        return;
    protobuf_field stack = intern_stack(p, e->stack);
    p->detail.merged = name == NAME_UNBLOCK ? MERGED_UNBLOCK : MERGED_CREATE;
    perfetto_put put = event_put_named(p, INSTANT, proc->track_field, 0, refer_to_name(name),
                                       stack);
    if (wants(p, PART_FLOWS)) {
        put.at = protobuf_put_fixed64(put.at, EVENT_FLOW_IDS, own_id(p, e->offset));
        g->cause = e->offset;
    }
    event_end(p, put);
}

/* Ends the slices of the goroutine, except that of its thread. */
static void goroutine_close(perfetto *p, const perfetto_goroutine *g)
{
    regions_end(p, g);
    if (g->assist)
        slice_end(p, refer_to_track(p, g->assist));
    if (g->state != GOTRACE_STATE_UNDETERMINED && wants(p, PART_GOROUTINES)) {
        event_open(p, SLICE_END, g->track_field);
        if (has_counters(p))
            add_counters(p);
        event_close(p);
    }
    detail_end_track(p, g->user_track, TRACK_SHORT_GOROUTINES, MERGED_NONE);
    detail_end_track(p, g->track, TRACK_SHORT_GOROUTINES, MERGED_GOROUTINE);
}

static void goroutine_end(perfetto *p, uint64_t id, perfetto_goroutine *g)
{
    thread_leave(p, g);
    goroutine_close(p, g);
    if (g->assist)
        lane_release(p, &p->assists, g->assist);
    regions_free(g);
    idmap_remove(&p->goroutines, id);
}

/* v2: whether the event is a status at the beginning of a generation. */
static bool reports_status(const perfetto *p, const gotrace_event *e)
{
    return p->version >= GOTRACE_FIRST_V2 && (e->flags & GOTRACE_EVENT_INITIAL);
}

/* The full name of the function where the goroutine starts, to be written once if its track has a
 * shortened name; else empty. */
static perfetto_name full_name(perfetto *p, perfetto_goroutine *g)
{
    const perfetto_function *function = g->named ? NULL : g->function;

    if (!function)
        return (perfetto_name){0};
    g->named = true;
    if (function->short_size == function->size)
        return (perfetto_name){0};
    return intern_value(p, function->text, function->size);
}

/* What --detail merges the state as; goroutines have no others. */
static unsigned merged_state(unsigned state)
{
    static const uint8_t merged[GOTRACE_STATE_ABANDONED + 1] = {
        [GOTRACE_STATE_RUNNABLE] = MERGED_RUNNABLE,
        [GOTRACE_STATE_RUNNING] = MERGED_RUNNING,
        [GOTRACE_STATE_WAITING] = MERGED_WAITING,
        [GOTRACE_STATE_SYSCALL] = MERGED_SYSCALL,
    };

    return merged[state] ? merged[state] : MERGED_WAITING;
}

/* Ends the slice of the goroutine's state and begins that of the next. */
static void show_state(perfetto *p, perfetto_goroutine *g, const gotrace_event *e)
{
    /* The event's stack is the goroutine's own only if it was running or if this is a status. For
     * an unblock or a creation it belongs to the other goroutine; the end of a system call has no
     * stack (in v1 it may have that of the goroutine that unblocked this one). */
    bool own = e->from == GOTRACE_STATE_RUNNING || reports_status(p, e);
    bool returns = e->from == GOTRACE_STATE_SYSCALL && e->to == GOTRACE_STATE_RUNNABLE;
    bool shown = wants(p, PART_GOROUTINES);
    protobuf_field stack = own && (shown || wants(p, PART_PROCS)) ? intern_stack(p, e->stack) : 0;

    if (stack)
        remember_stack(p, g, e->stack, stack);
    uint8_t before = g->state;
    g->state = e->to;
    g->reason = gotrace_event_reason(e);
    if (!shown)
        return;
    protobuf_field name = intern_state_name(p, e->to, gotrace_event_reason(e));
    perfetto_name function = {0};
    if (!g->named)
        function = full_name(p, g);
    p->detail.merged = merged_state(e->to);
    perfetto_put put = before != GOTRACE_STATE_UNDETERMINED
                           ? event_put_next(p, g->track_field, name, stack)
                           : event_put_named(p, SLICE_BEGIN, g->track_field, 0, name, stack);
    if (returns && wants(p, PART_FLOWS) && wants(p, PART_PROCS)) {
        put.at = protobuf_put_fixed64(put.at, EVENT_FLOW_IDS, own_id(p, e->offset));
        g->cause = e->offset;
    }
    bool counters = has_counters(p);
    if (function.size == 0 && !counters) {
        event_end(p, put);
        return;
    }
    event_hold(p, put);
    if (function.size > 0)
        event_annotate_string(p, ANNOTATE_FUNCTION, function);
    if (counters)
        add_counters(p);
    event_close(p);
}

void goroutine_reopen(perfetto *p, uint64_t id, perfetto_goroutine *g)
{
    /* Flows from before the time range are not shown. */
    g->cause = 0;
    g->named = false;
    g = goroutine_get(p, id, 0);
    if (!g)
        return;
    if (g->assist) {
        g->assist = lane_take(p, &p->assists);
        p->detail.merged = MERGED_GC;
        event_open_named(p, SLICE_BEGIN, refer_to_track(p, g->assist),
                         refer_to_category(CATEGORY_GC), refer_to_name(NAME_ASSIST), 0);
        event_annotate_uint(p, ANNOTATE_GOROUTINE, id);
        event_close(p);
    }
    if (g->state == GOTRACE_STATE_UNDETERMINED || !wants(p, PART_GOROUTINES))
        return;
    protobuf_field stack = remembered_stack(p, g);
    protobuf_field name = intern_state_name(p, g->state, g->reason);
    perfetto_name function = full_name(p, g);
    p->detail.merged = merged_state(g->state);
    event_open_named(p, SLICE_BEGIN, g->track_field, 0, name, stack);
    if (function.size > 0)
        event_annotate_string(p, ANNOTATE_FUNCTION, function);
    event_close(p);
}

/* Whether the goroutine keeps its proc, so that its run continues: through a system call, until the
 * proc is taken by an event of the goroutine (v1) or of the proc (v2). */
static bool keeps_proc(const perfetto *p, const perfetto_goroutine *g, const gotrace_event *e)
{
    if (p->version < GOTRACE_FIRST_V2)
        return e->to == GOTRACE_STATE_SYSCALL && e->type == GOTRACE_V1_GoSysCall;
    return e->to == GOTRACE_STATE_SYSCALL ||
           (e->to == GOTRACE_STATE_RUNNING && g->proc->id == proc_id(e->proc));
}

/* Whether the event repeats the goroutine's state: it lost its proc, or a generation begins. */
static bool is_repeated(const perfetto *p, const perfetto_goroutine *g, const gotrace_event *e)
{
    return e->to == g->state && (e->to == GOTRACE_STATE_SYSCALL || reports_status(p, e));
}

void goroutine_name(perfetto *p, uint64_t id, perfetto_goroutine *g, uint64_t stack)
{
    goroutine_starts(p, id, g, stack, false);
    if (g->function)
        track_goroutine(p, id, g);
}

void goroutine_transition(perfetto *p, const gotrace_event *e)
{
    perfetto_goroutine *g = goroutine_get(p, e->subject, gotrace_event_start_stack(e));

    if (!g)
        return;
    if (g->proc && !keeps_proc(p, g, e))
        run_end(p, g, e->stack);
    if (p->version >= GOTRACE_FIRST_V2 && (wants(p, PART_THREADS) || wants(p, PART_COUNTERS)))
        thread_transition(p, g, e);
    if (is_repeated(p, g, e))
        return;
    if (e->from == GOTRACE_STATE_NOT_EXIST)
        g->created = p->time;
    count_change(p, g->state, e->to);
    if (e->to == GOTRACE_STATE_NOT_EXIST) {
        goroutine_end(p, e->subject, g);
        return;
    }
    if (e->to == GOTRACE_STATE_RUNNABLE && !(e->flags & GOTRACE_EVENT_INITIAL)) {
        if (p->system.current_is_out)
            g->cause = 0;
        else if (e->from == GOTRACE_STATE_WAITING)
            show_cause(p, g, e, NAME_UNBLOCK);
        else if (e->from == GOTRACE_STATE_NOT_EXIST)
            show_cause(p, g, e, NAME_CREATE);
    }
    show_state(p, g, e);
    if (e->to == GOTRACE_STATE_RUNNING && !g->proc)
        run_begin(p, g, e);
}

/* ---- ranges -------------------------------------------------------------------------------- */

static void gc_begin(perfetto *p, protobuf_field stack)
{
    p->detail.merged = MERGED_GC;
    event_write(p, SLICE_BEGIN, refer_to_track(p, TRACK_GC), refer_to_category(CATEGORY_GC),
                refer_to_name(NAME_GC), stack);
}

static void gc_range(perfetto *p, const gotrace_event *e, bool begins)
{
    protobuf_field stack = intern_stack(p, e->stack);

    if (p->collecting && e->kind == GOTRACE_KIND_RANGE_ACTIVE)
        return;
    if (p->collecting)
        slice_end(p, refer_to_track(p, TRACK_GC));
    p->collecting = begins;
    if (begins)
        gc_begin(p, stack);
}

/* A range on a lane; *lane is not 0 while it is open. */
static void lane_range(perfetto *p, perfetto_lanes *lanes, uint32_t *lane, protobuf_field name,
                       const gotrace_event *e, bool begins)
{
    protobuf_field stack = intern_stack(p, e->stack);
    bool active = e->kind == GOTRACE_KIND_RANGE_ACTIVE;
    uint64_t goroutine = active ? e->subject : e->goroutine;

    if (*lane && active)
        return;
    if (*lane) {
        slice_end(p, refer_to_track(p, *lane));
        lane_release(p, lanes, *lane);
        *lane = 0;
    }
    if (!begins)
        return;
    *lane = lane_take(p, lanes);
    p->detail.merged = MERGED_GC;
    event_open_named(p, SLICE_BEGIN, refer_to_track(p, *lane), refer_to_category(CATEGORY_GC), name,
                     stack);
    if (goroutine)
        event_annotate_uint(p, ANNOTATE_GOROUTINE, goroutine);
    event_close(p);
}

static void sweep_range(perfetto *p, const gotrace_event *e, bool begins)
{
    bool active = e->kind == GOTRACE_KIND_RANGE_ACTIVE;
    int64_t id = active ? (int64_t)e->subject : e->proc;
    perfetto_proc *proc = wants(p, PART_PROCS) ? proc_get(p, id) : NULL;
    protobuf_field stack = proc ? intern_stack(p, e->stack) : 0;

    if (!proc || (active && proc->sweeping))
        return;
    if (begins) {
        sweep_end(p, proc);
        sweep_begin(p, proc, stack);
    } else if (proc->sweeping) {
        event_open(p, SLICE_END, proc->track_field);
        if (gotrace_event_details(e)->arg_count >= 2) {
            event_annotate_uint(p, ANNOTATE_SWEPT, gotrace_event_details(e)->args[0]);
            event_annotate_uint(p, ANNOTATE_RECLAIMED, gotrace_event_details(e)->args[1]);
        }
        event_close(p);
        proc->sweeping = false;
    }
}

static protobuf_field stw_name(perfetto *p, const char *reason)
{
    char text[256];
    int size = snprintf(text, sizeof text, reason ? "stop-the-world (%.200s)" : "stop-the-world",
                        reason);

    return refer_to_name(intern_name(p, text, (size_t)size).iid);
}

static void stw_range(perfetto *p, const gotrace_event *e, bool begins)
{
    perfetto_proc *proc = p->version < ONE_STOP_SINCE ? proc_get(p, e->proc) : NULL;
    protobuf_field name = begins ? stw_name(p, gotrace_event_reason(e)) : 0;

    p->stw_reason = gotrace_event_reason(e);
    lane_range(p, &p->stops, proc ? &proc->stw : &p->stw, name, e, begins);
}

void range_event(perfetto *p, const gotrace_event *e)
{
    bool active = e->kind == GOTRACE_KIND_RANGE_ACTIVE;
    bool begins = active || e->kind == GOTRACE_KIND_RANGE_BEGIN;
    perfetto_goroutine *g;

    if (!wants(p, range_owner(e->range) == GOTRACE_RESOURCE_PROC ? PART_PROCS : PART_GC))
        return;
    switch ((gotrace_range)e->range) {
    case GOTRACE_RANGE_NONE: break;
    case GOTRACE_RANGE_GC: gc_range(p, e, begins); break;
    case GOTRACE_RANGE_STW: stw_range(p, e, begins); break;
    case GOTRACE_RANGE_SWEEP: sweep_range(p, e, begins); break;
    case GOTRACE_RANGE_MARK_ASSIST:
        g = goroutine_get(p, active ? e->subject : e->goroutine, 0);
        if (g)
            lane_range(p, &p->assists, &g->assist, refer_to_name(NAME_ASSIST), e, begins);
        break;
    }
}

static void stw_reopen(perfetto *p, uint32_t *lane)
{
    if (!*lane)
        return;
    *lane = lane_take(p, &p->stops);
    p->detail.merged = MERGED_GC;
    event_write(p, SLICE_BEGIN, refer_to_track(p, *lane), refer_to_category(CATEGORY_GC),
                stw_name(p, p->stw_reason), 0);
}

void ranges_reopen(perfetto *p)
{
    stw_reopen(p, &p->stw);
    if (p->collecting)
        gc_begin(p, 0);
}

void proc_reopen(perfetto *p, int64_t id)
{
    const perfetto_proc *known = idmap_find(&p->procs, (uint64_t)id);
    perfetto_proc *proc = known && known->track ? proc_get(p, id) : NULL;

    if (!proc)
        return;
    stw_reopen(p, &proc->stw);
    const perfetto_goroutine *g = proc->running ? idmap_find(&p->goroutines, proc->goroutine)
                                                : NULL;
    if (g) {
        protobuf_field stack = remembered_stack(p, g);
        p->detail.merged = MERGED_RUN;
        event_write(p, SLICE_BEGIN, proc->track_field, refer_to_category(CATEGORY_RUN), g->name,
                    stack);
    }
    if (proc->sweeping)
        sweep_begin(p, proc, 0);
}

/* ---- the end of a time range, or of the trace ---------------------------------------------- */

static void proc_close(perfetto *p, const perfetto_proc *proc)
{
    if (proc->sweeping)
        slice_end(p, proc->track_field);
    if (proc->running)
        slice_end(p, proc->track_field);
    if (proc->stw)
        slice_end(p, refer_to_track(p, proc->stw));
}

uint64_t *sorted_ids(perfetto *p, const idmap *pool)
{
    uint64_t *ids = idmap_sorted_keys(pool);

    if (!ids && pool->count > 0)
        protobuf_fail(&p->w);
    return ids;
}

void state_end(perfetto *p)
{
    size_t goroutines = p->goroutines.count, procs = p->procs.count;
    uint64_t *ids = sorted_ids(p, &p->goroutines);

    state_advance(p, INT64_MAX);
    for (size_t i = 0; ids && i < goroutines; i++)
        goroutine_close(p, idmap_find(&p->goroutines, ids[i]));
    free(ids);
    ids = sorted_ids(p, &p->procs);
    for (size_t i = 0; ids && i < procs; i++)
        proc_close(p, idmap_find(&p->procs, ids[i]));
    free(ids);
    threads_end(p);
    if (p->collecting)
        slice_end(p, refer_to_track(p, TRACK_GC));
    if (p->stw)
        slice_end(p, refer_to_track(p, p->stw));
}
