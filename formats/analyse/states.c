/* states.c - from events to the intervals of goroutines. */
#include "formats/analyse/states.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/common/labels.h"

/* A change of a goroutine's state. Passed by value: that takes two registers. */
typedef struct change {
    uint64_t id;
    uint8_t from, to;
} change;

void states_init(states *s, int version, stacks *names, size_t size, const states_user *user)
{
    *s = (states){.user = *user, .stacks = names};
    idmap_init(&s->goroutines, size);
    idmap_init(&s->procs, sizeof(uint64_t));
    s->v1 = s->beginning = version < GOTRACE_FIRST_V2;
    s->end.kind = GOTRACE_KIND_SYSCALL;
    s->forever = stacks_name(names, "forever", strlen("forever"));
    /* v1: the first event is later than the clock, at 0. */
    s->clock = s->v1 ? -1 : 0;
    states_restrict(s, INT64_MIN, INT64_MAX);
}

static int64_t in_range(const states *s, int64_t time)
{
    time = time < -STATES_LATEST ? -STATES_LATEST : time > STATES_LATEST ? STATES_LATEST : time;
    return time < s->from ? s->from : time > s->until ? s->until : time;
}

static void set_clock(states *s, int64_t clock)
{
    const bool before = clock < s->from, after = clock >= s->until;
    s->clock = clock;
    s->time = before ? s->from : after ? s->until : clock;
    s->place = before ? STATES_BEFORE : after ? STATES_AFTER : STATES_INSIDE;
    s->limit = s->place != STATES_INSIDE  ? INT64_MIN
               : s->until < STATES_LATEST ? s->until
                                          : STATES_LATEST;
}

void states_advance_any(states *s, int64_t time)
{
    if (s->v1 && time <= s->clock)
        time = s->clock + 1;
    if (time > s->clock)
        set_clock(s, time < STATES_LATEST ? time : STATES_LATEST);
}

void states_restrict(states *s, int64_t from, int64_t until)
{
    s->from = from;
    s->until = until;
    s->sync = in_range(s, 0);
    set_clock(s, s->clock);
    s->time = s->sync;
}

void states_free(states *s)
{
    idmap_free(&s->goroutines);
    idmap_free(&s->procs);
}

/* ---- system calls and procs -------------------------------------------------------------------
 */

/* The goroutine whose system call began on that proc; 0: none. */
static uint64_t *syscall_on(states *s, int64_t proc)
{
    return proc == GOTRACE_NO_PROC ? NULL : idmap_find(&s->procs, (uint64_t)proc);
}

void states_enter_syscall(states *s, goroutine *g, int64_t proc)
{
    g->syscall_proc = proc;
    g->current.lost = STATES_NEVER;
    if (proc == GOTRACE_NO_PROC)
        return;
    uint64_t *on = syscall_on(s, proc);
    if (!on)
        on = idmap_insert(&s->procs, (uint64_t)proc);
    if (on)
        *on = g->id;
    else
        s->failed = true;
}

void states_leave_syscall(states *s, goroutine *g)
{
    uint64_t *on = syscall_on(s, g->syscall_proc);
    if (on && *on == g->id)
        *on = 0;
    if (g->current.lost == STATES_NEVER)
        g->current.lost = s->time;
}

static void proc_changed(states *s, const gotrace_event *e)
{
    uint64_t *on = syscall_on(s, (int64_t)e->subject);
    if (e->from == e->to || e->to != GOTRACE_STATE_IDLE || !on || *on == 0)
        return;
    goroutine *g = states_goroutine(s, *on);
    if (g)
        g->current.lost = s->time;
    *on = 0;
}

/* ---- goroutines -------------------------------------------------------------------------------
 */

/* Reports the current interval. */
static void close_interval(states *s, goroutine *g, uint8_t next, const gotrace_event *e)
{
    if (g->current.state == GOTRACE_STATE_SYSCALL)
        states_leave_syscall(s, g);
    states_close(s, g, next, e, s->user.interval);
    /* Of a goroutine that ends, nothing of the interval is left for the figures of its regions. */
    g->current.begin = g->current.end;
    g->current.lost = STATES_NEVER;
}

void states_divide(states *s, goroutine *g, const gotrace_event *e)
{
    interval *i = &g->current;
    /* Regions begin and end while the goroutine runs; a system call has more to be divided. */
    if (i->state != GOTRACE_STATE_RUNNING)
        return;
    close_interval(s, g, i->state, e);
    i->place = (uint8_t)states_place_of(s);
}

void states_end_goroutine(states *s, goroutine *g, const gotrace_event *e)
{
    s->user.ends(s->user.ctx, g, s->time, e);
    idmap_remove(&s->goroutines, g->id);
}

static goroutine *begin_goroutine(states *s, change c, const gotrace_event *e)
{
    goroutine *g = idmap_insert(&s->goroutines, c.id);
    if (!g) {
        s->failed = true;
        return NULL;
    }
    g->id = c.id;
    g->created = c.from == GOTRACE_STATE_NOT_EXIST ? s->time : s->sync;
    g->started = STATES_NEVER;
    g->syscall_proc = GOTRACE_NO_PROC;
    g->current.state = GOTRACE_STATE_UNDETERMINED;
    s->user.begins(s->user.ctx, g, e);
    return g;
}

/* Finds where a goroutine starts: the outermost frame of its first stack. What v1 reports before
 * states_beginning_ends is provisional: it has runtime.main, where stacks begin in main.main. */
void states_find_function(states *s, goroutine *g, const gotrace_event *e)
{
    uint64_t stack = start_stack_of(e, e->subject);
    if (stack == 0)
        return;
    uint32_t function = stacks_root(s->stacks, stacks_of(s->stacks, stack));
    if (function) {
        g->function = function;
        g->named = !s->beginning;
    }
}

/* The goroutine was in its first known state since the beginning of the trace or generation. */
static void begin_earlier(states *s, goroutine *g, uint8_t state, const gotrace_event *e)
{
    states_place now = states_place_of(s);
    g->current = (interval){.begin = s->sync,
                            .lost = STATES_NEVER,
                            .state = state,
                            .place = now == STATES_INSIDE ? STATES_INSIDE : STATES_BEFORE};
    if (state == GOTRACE_STATE_SYSCALL && e->proc == GOTRACE_NO_PROC)
        g->current.lost = s->sync;
    close_interval(s, g, state, e);
}

/* Returns the goroutine before the change; NULL if memory is refused. */
static goroutine *change_of(states *s, change c, const gotrace_event *e)
{
    goroutine *g = states_goroutine(s, c.id);
    /* A call from C to Go may use the goroutine of an earlier one. */
    if (g && c.from == GOTRACE_STATE_NOT_EXIST) {
        close_interval(s, g, GOTRACE_STATE_NOT_EXIST, e);
        states_end_goroutine(s, g, e);
        g = NULL;
    }
    if (!g)
        g = begin_goroutine(s, c, e);
    if (!g || c.from == GOTRACE_STATE_NOT_EXIST)
        return g;
    if (g->current.state != GOTRACE_STATE_UNDETERMINED)
        close_interval(s, g, c.to, e);
    else if (c.to != GOTRACE_STATE_NOT_EXIST)
        begin_earlier(s, g, c.to, e);
    return g;
}

static void change_goroutine(states *s, change c, const gotrace_event *e)
{
    goroutine *g = c.id ? change_of(s, c, e) : NULL;
    if (!g)
        return;
    if (!g->named)
        states_find_function(s, g, e);
    states_open(s, g, c.to, c.from != GOTRACE_STATE_UNDETERMINED, e);
    if (c.to == GOTRACE_STATE_SYSCALL)
        states_enter_syscall(s, g, e->proc);
    if (s->user.changed && c.to != GOTRACE_STATE_NOT_EXIST)
        s->user.changed(s->user.ctx, g, e);
    if (c.to == GOTRACE_STATE_NOT_EXIST ||
        (c.to == GOTRACE_STATE_WAITING && g->current.reason == s->forever))
        states_end_goroutine(s, g, e);
}

static inline void transition(states *s, const gotrace_event *e)
{
    if (e->resource == GOTRACE_RESOURCE_PROC)
        proc_changed(s, e);
    else if (e->resource == GOTRACE_RESOURCE_GOROUTINE && e->from != e->to)
        change_goroutine(s, (change){e->subject, e->from, e->to}, e);
}

/* ---- v1 ---------------------------------------------------------------------------------------
 */

/* The goroutines at the beginning whose state was not reported are runnable. */
static void end_beginning(states *s, const gotrace_event *e)
{
    uint64_t *ids = idmap_sorted_keys(&s->goroutines);
    s->beginning = false;
    s->usual = true;
    if (!ids && s->goroutines.count > 0)
        s->failed = true;
    for (size_t i = 0; ids && i < s->goroutines.count; i++) {
        goroutine *g = states_goroutine(s, ids[i]);
        gotrace_event status = {
            .subject = g->id, .proc = GOTRACE_NO_PROC, .thread = GOTRACE_NO_THREAD};
        if (g->current.state != GOTRACE_STATE_UNDETERMINED)
            continue;
        states_advance(s, e->time);
        change_goroutine(s, (change){g->id, GOTRACE_STATE_UNDETERMINED, GOTRACE_STATE_RUNNABLE},
                         &status);
    }
    free(ids);
}

/* Returns whether the event is done. */
static bool report_beginning(states *s, const gotrace_event *e)
{
    if (states_beginning_ends(e)) {
        end_beginning(s, e);
        return true;
    }
    if (e->kind != GOTRACE_KIND_TRANSITION || e->resource != GOTRACE_RESOURCE_GOROUTINE)
        return false;
    if (e->subject == 0) /* not a goroutine; change_goroutine ignores it too */
        return true;
    const change c = {e->subject, GOTRACE_STATE_UNDETERMINED, e->to};
    if ((e->flags & GOTRACE_EVENT_INITIAL) && e->to == GOTRACE_STATE_RUNNABLE) {
        goroutine *g = states_goroutine(s, e->subject) ? NULL : begin_goroutine(s, c, e);
        if (g)
            states_find_function(s, g, e);
        return true;
    }
    states_advance(s, e->time);
    change_goroutine(s, c, e);
    return true;
}

/* A system call of v1 that did not block. To make an event for its end would take longer than all
 * else, so there is one whose other members but the kind are 0. */
__attribute__((noinline)) static void short_syscall(states *s, const gotrace_event *e)
{
    states_advance(s, e->time);
    change_goroutine(s, (change){e->goroutine, GOTRACE_STATE_RUNNING, GOTRACE_STATE_SYSCALL}, e);
    s->end.time = s->clock + 1;
    s->end.proc = e->proc;
    s->end.thread = e->thread;
    s->end.goroutine = s->end.subject = e->goroutine;
    states_advance(s, s->end.time);
    change_goroutine(s, (change){e->goroutine, GOTRACE_STATE_SYSCALL, GOTRACE_STATE_RUNNING},
                     &s->end);
}

/* Whether Go's reader does not have this event: it then takes no time. */
static bool has_no_time(const gotrace_event *e)
{
    return e->kind == GOTRACE_KIND_NONE || (e->kind == GOTRACE_KIND_TRANSITION && e->from == e->to);
}

/* Not part of states_event, which in v2 needs no memory on the stack. */
__attribute__((noinline)) static void event_v1(states *s, const gotrace_event *e)
{
    if (has_no_time(e) || (s->beginning && report_beginning(s, e)))
        return;
    if (e->kind == GOTRACE_KIND_SYSCALL) {
        short_syscall(s, e);
        return;
    }
    states_advance(s, e->time);
    if (e->kind != GOTRACE_KIND_TRANSITION)
        return;
    transition(s, e);
    /* A label is part of the event; Go's reader has an event for it. */
    if (gotrace_event_details(e)->text)
        states_advance(s, e->time);
}

/* ---- events -----------------------------------------------------------------------------------
 */

static void begin(states *s)
{
    s->begun = true;
    s->usual = !s->beginning;
    s->base = s->v1 ? 0 : (int64_t)gotrace_reader_summary(s->stacks->source->reader)->start;
}

/* The event has a label of the goroutine. */
static void set_label(states *s, uint64_t id, const gotrace_details *d)
{
    goroutine *g = states_goroutine(s, id);
    const size_t size = g ? label_shown(d->text, d->text_size) : 0;
    if (size == 0)
        return;
    g->label = stacks_name(s->stacks, d->text, size);
    uint32_t *label = s->labels ? idmap_insert(s->labels, id) : NULL;
    if (label)
        *label = g->label;
    s->failed |= s->labels && !label;
}

void states_event(states *s, const gotrace_event *e)
{
    /* Not an event of the program: after the last one it would make the trace longer. */
    if (e->kind == GOTRACE_KIND_SYNC) {
        s->sync = in_range(s, e->time);
        return;
    }
    if (!s->begun)
        begin(s);
    if (s->v1) {
        event_v1(s, e);
        if (e->kind == GOTRACE_KIND_TRANSITION && e->resource == GOTRACE_RESOURCE_GOROUTINE)
            set_label(s, e->subject, gotrace_event_details(e));
        return;
    }
    states_advance(s, e->time);
    if (e->kind == GOTRACE_KIND_TRANSITION)
        transition(s, e);
    else if (e->kind == GOTRACE_KIND_LABEL)
        set_label(s, e->goroutine, gotrace_event_details(e));
}

uint32_t states_stop_reason(states *s, const char *reason)
{
    char name[64];
    if (!s->v1 || !reason ||
        (strcmp(reason, "mark termination") != 0 && strcmp(reason, "sweep termination") != 0))
        return stacks_reason(s->stacks, reason);
    int length = snprintf(name, sizeof name, "GC %s", reason);
    return stacks_name(s->stacks, name, (size_t)length);
}

void states_end(states *s)
{
    uint64_t *ids = idmap_sorted_keys(&s->goroutines);
    size_t count = s->goroutines.count;
    if (!ids && count > 0)
        s->failed = true;
    for (size_t i = 0; ids && i < count; i++) {
        goroutine *g = states_goroutine(s, ids[i]);
        if (g->current.state != GOTRACE_STATE_UNDETERMINED)
            close_interval(s, g, GOTRACE_STATE_UNDETERMINED, NULL);
        states_end_goroutine(s, g, NULL);
    }
    free(ids);
}
