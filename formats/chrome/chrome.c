/*
 * chrome.c - `convert --to chrome`: the Trace Event Format, with the layout of `go tool trace`, for
 * chrome://tracing, Perfetto's JSON importer, speedscope and scripts.
 *
 * Section 0 (PROCS) has a row for each proc, with what ran on it (or a row for each goroutine or
 * thread), and rows for GC, network, timers and system calls. Section 1 (STATS) has counters,
 * section 2 (TASKS) a row for each task. Differences from Go's tool: events are in order of time;
 * the end of a flow comes after the slice that it ends in; an instant is added where a flow would
 * begin outside any slice; only frames that are referred to are written.
 *
 * What is open on which row is kept, no states: events have those before and after, and the
 * intervals of analyse/states.h would be a second look-up for each event.
 */
#include "formats/chrome/chrome.h"
#include "formats/common/functions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

typedef struct chrome_goroutine goroutine;

static goroutine *goroutine_of(chrome *c, uint64_t id)
{
    goroutine *g = idmap_find(&c->goroutines, id);

    if (!g && !(g = idmap_insert(&c->goroutines, id)))
        c->timeline.error = ENOMEM;
    return g;
}

static uint64_t row_of(const chrome *c, const gotrace_event *event)
{
    return chrome_row_of_event(&c->rows, event);
}

/* v2: the row number of the event's proc. */
static uint64_t proc_number(const gotrace_event *event)
{
    return event->subject <= INT64_MAX ? event->subject : (uint64_t)CHROME_LANE_NO_PROC;
}

/* ---- runs ---------------------------------------------------------------------------------- */

/* Ends a goroutine's run and the slices inside it. */
static void leave_row(chrome *c, goroutine *g, uint64_t stack)
{
    chrome_timeline *t = &c->timeline;

    g->has_proc = false;
    if (!g->running)
        return;
    g->running = false;
    g->stopped = stack;
    chrome_end_slice(t, g->row, CHROME_SYSCALL, 0, 0, 0);
    chrome_end_slice(t, g->row, CHROME_ASSIST, 0, 0, 0);
    if (g->stw_reason != 0)
        chrome_end_slice(t, g->row, CHROME_STW, 0, 0, 0);
    chrome_end_slice(t, g->row, CHROME_RUN, stack, c->v2 ? g->start : 0, g->label);
    chrome_row *row = chrome_row_of(t, g->row);
    if (row)
        row->goroutine = 0;
}

static void begin_assist(chrome *c, const goroutine *g, uint64_t stack)
{
    chrome_label label = {.name = CHROME_NAME_ASSIST, .stack = stack};
    chrome_begin_slice(&c->timeline, g->row, CHROME_ASSIST, &label);
}

/* The stop-the-world is on the row where the goroutine runs, which may change meanwhile. */
static void begin_stw(chrome *c, const goroutine *g, uint64_t stack)
{
    chrome_label label = {.name = CHROME_NAME_STW, .stack = stack};
    size_t size;

    label.text = chrome_frames_text(&c->timeline.frames, g->stw_reason, &size);
    label.text_size = size;
    chrome_begin_slice(&c->timeline, g->row, CHROME_STW, &label);
}

static void enter_row(chrome *c, goroutine *g, uint64_t id, uint64_t number,
                      const gotrace_event *event)
{
    chrome_timeline *t = &c->timeline;
    chrome_row *row = chrome_row_of(t, number);

    if (!row)
        return;
    leave_row(c, g, 0);
    /* In an inconsistent trace the row may still have another goroutine. */
    goroutine *other = row->goroutine ? idmap_find(&c->goroutines, row->goroutine) : NULL;
    if (other)
        leave_row(c, other, 0);
    row->goroutine = id;
    row->used = true;
    g->running = true;
    g->row = number;
    bool first = g->stopped == 0 && c->timeline.version >= FIRST_START_STACK;
    chrome_label label = {.name = CHROME_NAME_RUN,
                          .stack = first ? g->start : g->stopped,
                          .subject = id,
                          .start = g->start,
                          .text = gotrace_event_details(event)->text,
                          .text_size = gotrace_event_details(event)->text_size};
    chrome_begin_slice(t, number, CHROME_RUN, &label);
    if (g->assists)
        begin_assist(c, g, 0);
    if (g->stw_reason != 0)
        begin_stw(c, g, 0);
    chrome_finish_flow(t, &g->flow, number);
}

/* ---- transitions --------------------------------------------------------------------------- */

/* Threads of other languages have no function. */
static bool is_system(const chrome *c, uint64_t start)
{
    const chrome_frames *frames = &c->timeline.frames;
    size_t size;

    if (c->timeline.version < FIRST_START_STACK || start == 0)
        return false;
    const char *function = chrome_frames_function(frames, (uint32_t)start, &size);
    return size == 0 || function_is_system(function, size);
}

static void created(chrome *c, goroutine *g, const gotrace_event *event)
{
    leave_row(c, g, 0);
    if (!c->v2) {
        g->is_named = g->is_named && g->start == gotrace_event_start_stack(event);
        g->start = gotrace_event_start_stack(event);
        g->system = is_system(c, gotrace_event_start_stack(event));
        g->stopped = 0;
    }
    g->assists = false;
    chrome_count_as(&c->counts, &g->counted_as, CHROME_CLASS_RUNNABLE);
    if (!(event->flags & GOTRACE_EVENT_INITIAL) && !c->system.current_is_out)
        chrome_begin_flow(&c->timeline, &g->flow, row_of(c, event), CHROME_NAME_GO, NULL,
                          event->stack);
}

/* A goroutine that did not run became runnable. */
static void readied(chrome *c, goroutine *g, const gotrace_event *event)
{
    chrome_timeline *t = &c->timeline;
    uint64_t row = row_of(c, event);

    if (event->from == GOTRACE_STATE_SYSCALL && c->v2 && c->rows.by == BY_THREAD) {
        /* The thread itself made it runnable: no flow. */
    } else if (event->from == GOTRACE_STATE_SYSCALL) {
        if (c->v2)
            row = CHROME_LANE_SYSCALLS;
        chrome_begin_flow(t, &g->flow, row, CHROME_NAME_SYSEXIT, NULL, event->stack);
    } else if (event->from == GOTRACE_STATE_WAITING) {
        if (c->v2 && c->rows.by != BY_THREAD && g->wait_reason && strstr(g->wait_reason, "network"))
            row = CHROME_LANE_NETWORK;
        if (!c->system.current_is_out)
            chrome_begin_flow(t, &g->flow, row, CHROME_NAME_UNBLOCK, g->wait_reason, event->stack);
        g->wait_reason = NULL;
    }
    chrome_count_as(&c->counts, &g->counted_as, CHROME_CLASS_RUNNABLE);
}

static void entered_syscall(chrome *c, goroutine *g, const gotrace_event *event)
{
    bool took_proc = event->from == GOTRACE_STATE_SYSCALL ||
                     (!c->v2 && event->type == GOTRACE_V1_GoSysBlock) || !g->running;

    if (took_proc) {
        leave_row(c, g, event->stack);
        chrome_count_as(&c->counts, &g->counted_as,
                        g->system ? CHROME_CLASS_SYSTEM_IN_SYSCALL : CHROME_CLASS_IN_SYSCALL);
    } else {
        chrome_label label = {.name = CHROME_NAME_SYSCALL, .stack = event->stack};
        chrome_begin_slice(&c->timeline, g->row, CHROME_SYSCALL, &label);
    }
}

static void waits(chrome *c, goroutine *g, const gotrace_event *event)
{
    static const char assist[] = "GC mark assist";
    const char *reason = gotrace_event_reason(event) ? gotrace_event_reason(event) : "";

    leave_row(c, g, event->stack);
    g->wait_reason = gotrace_event_reason(event);
    bool for_gc = strncmp(reason, assist, sizeof assist - 1) == 0 || (c->v2 && g->assists);
    chrome_count_as(&c->counts, &g->counted_as,
                    for_gc ? CHROME_CLASS_GC_WAITING : CHROME_CLASS_NONE);
}

static void ended(chrome *c, goroutine *g, uint64_t id, const gotrace_event *event)
{
    leave_row(c, g, event->stack);
    chrome_count_as(&c->counts, &g->counted_as, CHROME_CLASS_NONE);
    chrome_drop_flow(&c->timeline, &g->flow);
    chrome_end_regions(&c->user, &g->regions);
    if (c->rows.by == BY_GOROUTINE)
        chrome_close_row(&c->timeline, chrome_row_of_goroutine(id));
    idmap_remove(&c->goroutines, id);
}

/* If rows are goroutines, names this one's row by what is known so far. */
static void name_goroutine(chrome *c, goroutine *g, uint64_t id)
{
    if (c->rows.by != BY_GOROUTINE || g->is_named)
        return;
    g->is_named = true;
    chrome_name_goroutine(&c->timeline, id, g->start, g->label);
}

static void goroutine_changed(chrome *c, goroutine *g, const gotrace_event *event)
{
    switch ((gotrace_state)event->to) {
    case GOTRACE_STATE_RUNNABLE:
        if (event->from == GOTRACE_STATE_NOT_EXIST || event->from == GOTRACE_STATE_UNDETERMINED) {
            created(c, g, event);
        } else {
            leave_row(c, g, event->stack);
            readied(c, g, event);
        }
        break;
    case GOTRACE_STATE_RUNNING:
        chrome_count_as(&c->counts, &g->counted_as, CHROME_CLASS_RUNNING);
        /* A system call without loss of the proc ends within the run. */
        if (event->from == GOTRACE_STATE_SYSCALL && g->running)
            chrome_end_slice(&c->timeline, g->row, CHROME_SYSCALL, 0, 0, 0);
        else
            enter_row(c, g, event->subject, chrome_row_of_run(&c->rows, event), event);
        break;
    case GOTRACE_STATE_SYSCALL: entered_syscall(c, g, event); break;
    case GOTRACE_STATE_WAITING: waits(c, g, event); break;
    case GOTRACE_STATE_NOT_EXIST: ended(c, g, event->subject, event); break;
    case GOTRACE_STATE_UNDETERMINED:
    case GOTRACE_STATE_IDLE:
    case GOTRACE_STATE_ABANDONED: break;
    }
}

/* ---- v2: the same, with statuses and separate events of procs -------------------------------- */

/* If the event is a status from before the trace and the row is free, backdates its slice to the
 * beginning of the trace. */
static void backdate(chrome *c, const gotrace_event *event, uint64_t number)
{
    const chrome_row *row = chrome_row_of(&c->timeline, number);

    if (event->from != GOTRACE_STATE_UNDETERMINED || !row || row->used)
        return;
    for (unsigned i = 0; i < row->depth; i++)
        if (row->open[i].begin > 0)
            return;
    chrome_backdate(&c->timeline);
}

/* The start function is the outermost one, which is in all stacks of a goroutine. */
static void learn_start(chrome *c, goroutine *g, const gotrace_event *event)
{
    const chrome_frames *frames = &c->timeline.frames;
    uint64_t stack = start_stack_of(event, event->subject);
    size_t size;

    if (event->from == GOTRACE_STATE_NOT_EXIST) {
        g->is_named = g->is_named && g->start == 0;
        g->start = g->stopped = 0;
    }
    if (g->start != 0 || stack == 0)
        return;
    g->is_named = false;
    g->start = chrome_frames_outermost(frames, (uint32_t)stack);
    const char *function = chrome_frames_function(frames, (uint32_t)g->start, &size);
    g->system = function_is_system(function, size);
}

/* Records that the goroutine has the proc, which may be taken during a system call. */
static void take_proc(chrome *c, goroutine *g, const gotrace_event *event)
{
    chrome_proc *proc = event->proc >= 0 ? chrome_proc_of(&c->rows, (uint64_t)event->proc) : NULL;

    if (!proc)
        return;
    proc->goroutine = event->subject;
    g->proc = (uint64_t)event->proc;
    g->has_proc = true;
}

/* Begins a run, at the beginning of the trace if it has lasted since then. */
static void enter_row_v2(chrome *c, goroutine *g, const gotrace_event *event)
{
    uint64_t row = chrome_row_of_run(&c->rows, event);

    backdate(c, event, row);
    if (!g->running || event->to == GOTRACE_STATE_RUNNING)
        enter_row(c, g, event->subject, row, event);
}

/* The goroutine keeps its proc, if it has one, until the proc is taken. On the row of a proc the
 * run then ends; on the rows of its thread and of the goroutine the system call continues. */
static void entered_syscall_v2(chrome *c, goroutine *g, const gotrace_event *event)
{
    chrome_timeline *t = &c->timeline;
    chrome_label label = {.name = CHROME_NAME_SYSCALL, .stack = event->stack};
    bool has_proc = event->proc >= 0;

    if (!has_proc && c->rows.by == BY_PROC)
        leave_row(c, g, event->stack);
    chrome_count_as(&c->counts, &g->counted_as,
                    has_proc    ? CHROME_CLASS_RUNNING
                    : g->system ? CHROME_CLASS_SYSTEM_IN_SYSCALL
                                : CHROME_CLASS_IN_SYSCALL);
    if ((!has_proc && c->rows.by == BY_PROC) ||
        chrome_row_of_run(&c->rows, event) == CHROME_LANE_NO_PROC)
        return;
    enter_row_v2(c, g, event);
    if (g->running)
        chrome_begin_slice(t, g->row, CHROME_SYSCALL, &label);
    chrome_backdate_end(t);
    take_proc(c, g, event);
    /* The stack where it will resume. */
    g->stopped = event->stack;
}

static void goroutine_changed_v2(chrome *c, goroutine *g, const gotrace_event *event)
{
    chrome_timeline *t = &c->timeline;

    learn_start(c, g, event);
    name_goroutine(c, g, event->subject);
    if (event->from == event->to)
        return;
    if (event->from == GOTRACE_STATE_UNDETERMINED)
        g->stopped = event->stack;
    /* A system call that ends without an event of its proc did not block. */
    if (event->from == GOTRACE_STATE_SYSCALL && g->running)
        chrome_end_slice(t, g->row, CHROME_SYSCALL, 0,
                         c->rows.by == BY_PROC || event->to == GOTRACE_STATE_RUNNING, 0);
    if (event->to == GOTRACE_STATE_SYSCALL) {
        entered_syscall_v2(c, g, event);
    } else if (event->to == GOTRACE_STATE_RUNNING && event->from == GOTRACE_STATE_UNDETERMINED) {
        chrome_count_as(&c->counts, &g->counted_as, CHROME_CLASS_RUNNING);
        enter_row_v2(c, g, event);
        chrome_backdate_end(t);
        take_proc(c, g, event);
    } else {
        /* The end of a call from C into Go. */
        if (event->from == GOTRACE_STATE_SYSCALL && event->to == GOTRACE_STATE_NOT_EXIST)
            chrome_instant(t, CHROME_LANE_SYSCALLS, CHROME_NAME_SYSEXIT, event->stack, NULL, 0);
        goroutine_changed(c, g, event);
        if (event->to == GOTRACE_STATE_RUNNING)
            take_proc(c, g, event);
    }
}

/* Shows the start or stop of a proc, on its own row or that of its thread. */
static void show_proc(chrome *c, const gotrace_event *event, uint64_t row)
{
    bool runs = event->to == GOTRACE_STATE_RUNNING;
    bool on_thread = c->rows.by == BY_THREAD;
    uint64_t other = !on_thread ? (uint64_t)event->thread
                     : c->v2    ? event->subject
                                : (uint64_t)event->proc;
    uint64_t values[] = {row, event->stack, other};
    bool given = (on_thread || runs) && other <= INT64_MAX;

    if (c->rows.by == BY_GOROUTINE || !chrome_row_of(&c->timeline, row))
        return;
    chrome_push(&c->timeline, CHROME_INSTANT, runs ? CHROME_NAME_PROC_START : CHROME_NAME_PROC_STOP,
                CHROME_DONE, values, given ? 3 : 2, NULL, 0);
}

static void proc_changed_v2(chrome *c, const gotrace_event *event)
{
    bool runs = event->to == GOTRACE_STATE_RUNNING;
    uint64_t number = proc_number(event);
    chrome_proc *proc = chrome_proc_of(&c->rows, number);

    /* A proc that stays idle has a row too. */
    if (c->rows.by == BY_PROC)
        chrome_row_of(&c->timeline, number);
    if (!proc || event->from == event->to)
        return;
    chrome_count_proc(&c->counts, &proc->running, runs);
    if (!runs && event->from != GOTRACE_STATE_RUNNING)
        return;
    /* The goroutine that has the proc is in a system call, which continues without it. */
    goroutine *g = proc->goroutine ? idmap_find(&c->goroutines, proc->goroutine) : NULL;
    if (!runs && g && g->has_proc && g->proc == number) {
        if (c->rows.by == BY_PROC)
            leave_row(c, g, g->stopped);
        g->has_proc = false;
        chrome_count_as(&c->counts, &g->counted_as,
                        g->system ? CHROME_CLASS_SYSTEM_IN_SYSCALL : CHROME_CLASS_IN_SYSCALL);
    }
    uint64_t row = c->rows.by == BY_PROC ? number : row_of(c, event);
    if (runs && c->rows.by != BY_GOROUTINE)
        backdate(c, event, row);
    show_proc(c, event, row);
    chrome_backdate_end(&c->timeline);
}

/* Each generation records active ranges again. If the beginning of a range is not in the trace, the
 * range started before the trace. */
static void range_continues(chrome *c, const gotrace_event *event)
{
    chrome_timeline *t = &c->timeline;
    chrome_label label = {.name = CHROME_NAME_GC};
    chrome_slice slice = CHROME_GC;
    uint64_t number = CHROME_LANE_GC;
    goroutine *g;

    switch ((gotrace_range)event->range) {
    case GOTRACE_RANGE_GC: break;
    case GOTRACE_RANGE_SWEEP:
        label.name = CHROME_NAME_SWEEP;
        slice = CHROME_SWEEP;
        number = proc_number(event);
        /* The sweeping proc is known only when the sweep begins. */
        if (c->rows.by != BY_PROC)
            return;
        break;
    case GOTRACE_RANGE_MARK_ASSIST:
        g = goroutine_of(c, event->subject);
        if (!g)
            return;
        g->assists = true;
        if (!g->running)
            return;
        label.name = CHROME_NAME_ASSIST;
        slice = CHROME_ASSIST;
        number = g->row;
        break;
    case GOTRACE_RANGE_STW: /* no event reports that it is active */
    case GOTRACE_RANGE_NONE: return;
    }
    const chrome_row *row = chrome_row_of(t, number);
    if (!row || chrome_has_slice(row, slice))
        return;
    /* The range can be backdated only if nothing on the row began after the start of the trace. */
    bool old = slice != CHROME_ASSIST || row->depth > 0;
    for (unsigned i = 0; i < row->depth; i++)
        old = old && row->open[i].begin == 0;
    if (old && (row->depth > 0 || !row->used))
        chrome_backdate(t);
    chrome_begin_slice(t, number, slice, &label);
    chrome_backdate_end(t);
}

static void label_changed(chrome *c, const gotrace_event *event)
{
    goroutine *g = goroutine_of(c, event->goroutine);
    uint64_t label = 0;

    if (!g)
        return;
    if (gotrace_event_details(event)->text_size > 0)
        label = chrome_frames_add_text(&c->timeline.frames, gotrace_event_details(event)->text,
                                       gotrace_event_details(event)->text_size);
    g->is_named = g->is_named && g->label == label;
    g->label = label;
    name_goroutine(c, g, event->goroutine);
}

/* Replaces ids that are valid for the file (v2: for a generation) by numbers of frames. */
static void replace_ids(chrome *c, gotrace_event *event)
{
    chrome_frames *frames = &c->timeline.frames;

    if (c->v2 && c->feed.generation_index != c->generation_index) {
        /* State from before the trace is recorded in its first generation. */
        if (c->generation_index != CHROME_NO_GENERATION)
            c->timeline.holding = false;
        c->generation_index = c->feed.generation_index;
        chrome_frames_new_generation(frames);
    }
    event->stack = chrome_frames_of(frames, event->stack);
    if (c->timeline.version >= FIRST_START_STACK && event->given == GOTRACE_GIVEN_START_STACK)
        event->extra.start_stack = chrome_frames_of(frames, event->extra.start_stack);
}

/* ---- procs --------------------------------------------------------------------------------- */

static void proc_changed(chrome *c, const gotrace_event *event)
{
    bool runs = event->to == GOTRACE_STATE_RUNNING;
    chrome_proc *proc = chrome_proc_of(&c->rows, (uint64_t)event->proc);

    if (!proc)
        return;
    chrome_count_proc(&c->counts, &proc->running, runs);
    show_proc(c, event, row_of(c, event));
}

/* ---- ranges -------------------------------------------------------------------------------- */

static void assist_changed(chrome *c, const gotrace_event *event)
{
    goroutine *g = goroutine_of(c, event->goroutine);

    if (!g)
        return;
    g->assists = event->kind == GOTRACE_KIND_RANGE_BEGIN;
    if (!g->running)
        return;
    if (g->assists)
        begin_assist(c, g, event->stack);
    else
        chrome_end_slice(&c->timeline, g->row, CHROME_ASSIST, event->stack, 0, 0);
}

static void stw_changed(chrome *c, const gotrace_event *event)
{
    chrome_timeline *t = &c->timeline;
    uint64_t number = row_of(c, event);
    chrome_row *row = chrome_row_of(t, number);

    if (!row)
        return;
    if (event->kind == GOTRACE_KIND_RANGE_BEGIN) {
        chrome_label label = {
            .name = CHROME_NAME_STW,
            .stack = event->stack,
            .text = gotrace_event_reason(event),
            .text_size = gotrace_event_reason(event) ? strlen(gotrace_event_reason(event)) : 0};
        c->stw_row = number;
        chrome_begin_slice(t, number, CHROME_STW, &label);
    } else {
        /* The world may be restarted from another proc than the one that stopped it. */
        if (!chrome_has_slice(row, CHROME_STW))
            number = c->stw_row;
        chrome_end_slice(t, number, CHROME_STW, event->stack, 0, 0);
    }
}

static void stw_changed_v2(chrome *c, const gotrace_event *event)
{
    chrome_frames *frames = &c->timeline.frames;
    const char *reason = gotrace_event_reason(event) ? gotrace_event_reason(event) : "";
    goroutine *g = goroutine_of(c, event->subject);

    if (!g)
        return;
    if (event->kind == GOTRACE_KIND_RANGE_BEGIN) {
        g->stw_reason = chrome_frames_add_text(frames, reason, strlen(reason));
        if (g->running)
            begin_stw(c, g, event->stack);
        return;
    }
    if (g->running && g->stw_reason != 0)
        chrome_end_slice(&c->timeline, g->row, CHROME_STW, event->stack, 0, 0);
    g->stw_reason = 0;
}

/* A sweep is on the row of the proc, or of the goroutine or thread that has the proc at that
 * time. */
static void sweep_changed(chrome *c, const gotrace_event *event, const chrome_label *label)
{
    uint64_t number = c->v2 ? proc_number(event) : (uint64_t)event->proc;
    chrome_proc *proc = chrome_proc_of(&c->rows, number);

    if (!proc)
        return;
    if (event->kind == GOTRACE_KIND_RANGE_BEGIN) {
        proc->sweep_row = c->rows.by == BY_PROC && c->v2 ? number : row_of(c, event);
        chrome_begin_slice(&c->timeline, proc->sweep_row, CHROME_SWEEP, label);
        return;
    }
    uint64_t row = c->rows.by != BY_PROC ? proc->sweep_row : c->v2 ? number : row_of(c, event);
    bool counted = gotrace_event_details(event)->arg_count >= 2; /* from 1.9 on */
    chrome_end_slice(&c->timeline, row, CHROME_SWEEP, event->stack,
                     counted ? gotrace_event_details(event)->args[0] : 0,
                     counted ? gotrace_event_details(event)->args[1] : 0);
}

static void range_changed(chrome *c, const gotrace_event *event)
{
    bool begins = event->kind == GOTRACE_KIND_RANGE_BEGIN;
    chrome_label label = {.stack = event->stack};

    switch ((gotrace_range)event->range) {
    case GOTRACE_RANGE_NONE: break;
    case GOTRACE_RANGE_MARK_ASSIST: assist_changed(c, event); break;
    case GOTRACE_RANGE_STW:
        if (c->v2)
            stw_changed_v2(c, event);
        else
            stw_changed(c, event);
        break;
    case GOTRACE_RANGE_GC:
        label.name = CHROME_NAME_GC;
        if (begins)
            chrome_begin_slice(&c->timeline, CHROME_LANE_GC, CHROME_GC, &label);
        else
            chrome_end_slice(&c->timeline, CHROME_LANE_GC, CHROME_GC, event->stack, 0, 0);
        break;
    case GOTRACE_RANGE_SWEEP:
        label.name = CHROME_NAME_SWEEP;
        sweep_changed(c, event, &label);
        break;
    }
}

/* ---- events -------------------------------------------------------------------------------- */

static void state_changed(chrome *c, const gotrace_event *event)
{
    if (event->resource == GOTRACE_RESOURCE_PROC) {
        if (c->v2)
            proc_changed_v2(c, event);
        else
            proc_changed(c, event);
    } else if (event->resource == GOTRACE_RESOURCE_GOROUTINE) {
        goroutine *g = goroutine_of(c, event->subject);
        if (g && c->v2) {
            goroutine_changed_v2(c, g, event);
        } else if (g) {
            goroutine_changed(c, g, event);
            /* A goroutine that ended is no longer in the pool. */
            if (event->to != GOTRACE_STATE_NOT_EXIST)
                name_goroutine(c, g, event->subject);
        }
    }
}

void chrome_take_event(chrome *c, const gotrace_event *read)
{
    chrome_timeline *t = &c->timeline;
    goroutine *g;

    /* The sync that ends a trace is later than its end. */
    if ((read->flags & GOTRACE_EVENT_FUTILE) || read->kind == GOTRACE_KIND_SYNC)
        return;
    gotrace_event kept = *read, *event = &kept;
    /* In a damaged trace, times may decrease. */
    if (event->time > t->now)
        t->now = event->time;
    replace_ids(c, event);
    switch ((gotrace_kind)event->kind) {
    case GOTRACE_KIND_NONE:
    case GOTRACE_KIND_SYNC:
    case GOTRACE_KIND_EXPERIMENT: break;
    case GOTRACE_KIND_LABEL: label_changed(c, event); break;
    case GOTRACE_KIND_TRANSITION: state_changed(c, event); break;
    case GOTRACE_KIND_SYSCALL:
        chrome_instant(t, row_of(c, event), CHROME_NAME_SYSCALL, event->stack, NULL, 0);
        break;
    case GOTRACE_KIND_METRIC: chrome_count_metric(&c->counts, event); break;
    case GOTRACE_KIND_RANGE_BEGIN:
    case GOTRACE_KIND_RANGE_END:
        if (!(event->flags & GOTRACE_EVENT_NO_BEGIN))
            range_changed(c, event);
        break;
    case GOTRACE_KIND_RANGE_ACTIVE: range_continues(c, event); break;
    case GOTRACE_KIND_TASK_BEGIN:
    case GOTRACE_KIND_TASK_END:
    case GOTRACE_KIND_REGION_BEGIN:
    case GOTRACE_KIND_REGION_END:
    case GOTRACE_KIND_LOG:
        g = goroutine_of(c, event->goroutine);
        if (g)
            chrome_user_event(&c->user, &g->regions, row_of(c, event), event);
        break;
    case GOTRACE_KIND_SAMPLE:
        if (row_of(c, event) != CHROME_LANE_NO_PROC)
            chrome_instant(t, row_of(c, event), CHROME_NAME_SAMPLE, event->stack, NULL, 0);
        break;
    }
    chrome_show_counts(&c->counts, t);
}

void chrome_finish(chrome *c)
{
    uint64_t *ids = idmap_sorted_keys(&c->goroutines);

    if (!ids && c->goroutines.count > 0)
        c->timeline.error = ENOMEM;
    for (size_t i = 0; ids && i < c->goroutines.count; i++) {
        chrome_goroutine *g = idmap_find(&c->goroutines, ids[i]);
        chrome_end_regions(&c->user, &g->regions);
        if (c->v2 && g->running) {
            chrome_mark_slice(&c->timeline, g->row, CHROME_RUN, g->start, g->label);
            chrome_mark_slice(&c->timeline, g->row, CHROME_SYSCALL, 1, 0);
        }
    }
    free(ids);
    chrome_timeline_finish(&c->timeline);
}
