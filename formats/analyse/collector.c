/* collector.c - the garbage collector, stop-the-worlds, and what procs do. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/analyse/statistics_run.h"

/* ---- what procs do ----------------------------------------------------------------------------
 */

/* Doubles the length of the spans. */
static void load_fold(load *l)
{
    for (size_t i = 0; i < 2 * (size_t)LOAD_SPANS; i++) {
        for (size_t k = 0; k < PROC_STATES; k++) {
            int64_t ns = l->spans[i][k];
            l->spans[i][k] = 0;
            l->spans[i / 2][k] = sum_of_times(l->spans[i / 2][k], ns);
        }
    }
    l->shift++;
}

/* Makes the spans long enough for the time before `end`. */
static void load_cover(load *l, int64_t end)
{
    while ((end - 1) >> l->shift >= 2 * (int64_t)LOAD_SPANS)
        load_fold(l);
}

static void load_add(load *l, uint8_t state, int64_t begin, int64_t end)
{
    load_cover(l, end);
    while (begin < end) {
        uint64_t span = (uint64_t)begin >> l->shift, next = (span + 1) << l->shift;
        int64_t until = next < (uint64_t)end ? (int64_t)next : end;
        l->spans[span][state] = sum_of_times(l->spans[span][state], until - begin);
        begin = until;
    }
}

static proc_load *add_proc(run *r, int64_t proc)
{
    if (proc == GOTRACE_NO_PROC)
        return NULL;
    proc_load *p = idmap_insert(&r->procs, (uint64_t)proc);
    if (!p) {
        run_fail(r);
        return NULL;
    }
    *p = (proc_load){.state = PROC_STATES, .since = r->states.time, .span_end = INT64_MIN};
    return p;
}

static inline proc_load *proc_of(run *r, int64_t proc)
{
    proc_load *p = idmap_find(&r->procs, (uint64_t)proc);
    return p ? p : add_proc(r, proc);
}

/* Adds the recent times of a proc to its sums and to the load. */
static void add_recent(run *r, proc_load *p)
{
    load *l = &r->figure->load;
    int64_t *span = p->span_end == INT64_MIN ? NULL
                                             : l->spans[(p->span_end - r->origin - 1) >> l->shift];
    for (size_t k = 0; span && k < PROC_STATES; k++) {
        span[k] = sum_of_times(span[k], p->recent[k]);
        p->ns[k] = sum_of_times(p->ns[k], p->recent[k]);
        p->recent[k] = 0;
    }
}

/* Adds what a proc did until now, beyond the span of its recent times. */
__attribute__((noinline)) static void add_beyond(run *r, proc_load *p)
{
    load *l = &r->figure->load;
    const int64_t now = r->states.time, since = p->since < r->origin ? r->origin : p->since;
    add_recent(r, p);
    if (now <= since)
        return;
    p->ns[p->state] = sum_of_times(p->ns[p->state], now - since);
    /* Times of the load are relative to the time range. */
    load_add(l, p->state, since - r->origin, now - r->origin);
    p->span_end = r->origin + ((((now - r->origin - 1) >> l->shift) + 1) << l->shift);
}

/* Adds what a proc did until now. */
static inline void add_load(run *r, proc_load *p)
{
    if (r->states.time > p->span_end)
        add_beyond(r, p);
    else
        p->recent[p->state] += r->states.time - p->since;
}

/* Begins another state; the time of the one before is added. */
static inline void begin_state(run *r, proc_load *p, uint8_t state)
{
    const uint64_t now = (uint64_t)r->states.time;
    if (p->state != PROC_STATES) {
        r->procs_time.since[p->state] += now;
        r->procs_time.busy[p->state]--;
    }
    p->state = state;
    p->since = r->states.time;
    r->procs_time.since[state] -= now;
    r->procs_time.busy[state]++;
}

/* Sets what a proc does, and the goroutine that runs on it. */
__attribute__((noinline)) static void set_proc(run *r, int64_t proc, uint8_t state,
                                               uint64_t running)
{
    proc_load *p = proc_of(r, proc);
    if (!p)
        return;
    p->running = running;
    if (p->state == state)
        return;
    if (p->state != PROC_STATES)
        add_load(r, p);
    begin_state(r, p, state);
}

/* set_proc, which is called last, if at all, so that there are no registers to save. */
static inline void change_proc(run *r, int64_t proc, uint8_t state, uint64_t running)
{
    proc_load *p = idmap_cached(&r->procs, (uint64_t)proc);
    if (!p || p->state == PROC_STATES || r->states.time > p->span_end) {
        set_proc(r, proc, state, running);
        return;
    }
    const int64_t ns = r->states.time - p->since;
    p->running = running;
    if (p->state == state)
        return;
    p->recent[p->state] += ns;
    begin_state(r, p, state);
}

/* What a proc does that runs a goroutine. */
static inline uint8_t runs_as(const stat_goroutine *g)
{
    return g->worker ? PROC_GC : g->assists ? PROC_ASSIST : PROC_RUNS;
}

void stat_load_interval(run *r, const stat_goroutine *g, const interval *i, int64_t proc)
{
    if (proc == GOTRACE_NO_PROC)
        return;
    bool runs = i->next == GOTRACE_STATE_RUNNING;
    uint8_t state = runs                               ? runs_as(g)
                    : i->next == GOTRACE_STATE_SYSCALL ? PROC_SYSCALL
                                                       : PROC_SCHEDULER;
    change_proc(r, proc, state, runs ? g->g.id : 0);
}

void stat_load_proc(run *r, const gotrace_event *e)
{
    const proc_load *p = proc_of(r, (int64_t)e->subject);
    bool idle = e->to == GOTRACE_STATE_IDLE;
    if (idle || (p && (p->state == PROC_IDLE || p->state == PROC_STATES)))
        set_proc(r, (int64_t)e->subject, idle ? PROC_IDLE : PROC_SCHEDULER, 0);
}

void stat_load_end(run *r)
{
    uint64_t *ids = idmap_sorted_keys(&r->procs);
    trace_figure *t = r->figure;
    t->procs = ids ? calloc(r->procs.count, sizeof *t->procs) : NULL;
    if (!t->procs && r->procs.count > 0)
        run_fail(r);
    for (; t->procs && t->proc_count < r->procs.count; t->proc_count++) {
        proc_load *p = idmap_find(&r->procs, ids[t->proc_count]);
        if (p->state != PROC_STATES)
            add_load(r, p);
        add_recent(r, p);
        t->procs[t->proc_count].id = ids[t->proc_count];
        memcpy(t->procs[t->proc_count].ns, p->ns, sizeof p->ns);
    }
    free(ids);
    load *l = &r->figure->load;
    load_cover(l, r->states.time - r->origin);
    for (size_t i = 0; i < 2 * (size_t)LOAD_SPANS; i++)
        for (size_t k = 0; k < PROC_STATES; k++)
            l->sums[k] = sum_of_times(l->sums[k], l->spans[i][k]);
}

/* ---- utilization ------------------------------------------------------------------------------
 */

/* A proc begins or ends to work for the GC, in the utilization of Go or in the other ones. */
static void work(run *r, int64_t proc, bool begins, bool sweep, bool as_go)
{
    for (size_t i = 0; i < UTILIZATION_KINDS; i++) {
        utilization *u = &r->utilizations[i];
        if (u->as_go == as_go && (!sweep || u->sweep))
            utilization_work(u, proc, begins);
    }
    r->settles = true;
}

/* Sets whether a goroutine makes its proc work for the GC. */
static void set_counts(run *r, stat_goroutine *g, int64_t proc, bool counts)
{
    if (g->counts != counts)
        work(r, proc, counts, false, false);
    g->counts = counts;
}

/* Whether the range may be reported late: it applies to all of the trace so far. */
static bool is_late(const run *r)
{
    return r->utilizations[0].syncs < 2;
}

/* A proc had the range since the beginning of the trace. */
static void work_late(run *r, bool sweep, bool as_go)
{
    for (size_t i = 0; i < UTILIZATION_KINDS; i++) {
        utilization *u = &r->utilizations[i];
        if (u->as_go == as_go && (!sweep || u->sweep))
            utilization_late(u);
    }
}

static void sweep_works(run *r, const gotrace_event *e)
{
    bool begins = e->kind != GOTRACE_KIND_RANGE_END;
    if (e->kind == GOTRACE_KIND_RANGE_ACTIVE) {
        if (!is_late(r))
            return;
        work_late(r, true, false);
        work_late(r, true, true);
    }
    work(r, e->proc, begins, true, false);
    work(r, e->proc, begins, true, true);
}

/* Whether Go knows that the goroutine executes: it learns no state before the number of procs. */
static bool executes_in_go(const run *r, const stat_goroutine *g)
{
    return g && state_executes(g->g.current.state) &&
           !(g->early_state && g->g.current.begin <= r->utilizations[0].begin);
}

static void assist_works(run *r, stat_goroutine *g, const gotrace_event *e)
{
    bool begins = e->kind != GOTRACE_KIND_RANGE_END;
    if (e->kind == GOTRACE_KIND_RANGE_ACTIVE) {
        if (!is_late(r))
            return;
        if (g && state_executes(g->g.current.state))
            work_late(r, false, false);
        /* Go looks at the goroutine that reports it. */
        if (executes_in_go(r, (void *)states_goroutine(&r->states, e->goroutine)))
            work_late(r, false, true);
    }
    work(r, e->proc, begins, false, true);
    if (!g)
        return;
    g->assists = begins;
    if (state_executes(g->g.current.state))
        set_counts(r, g, e->proc, begins);
}

/* What is set before the time range counts until it is set in it. */
static void heap_event(run *r, gotrace_metric metric, uint64_t value)
{
    heap_figure *h = &r->figure->heap;
    const bool before = states_place_of(&r->states) == STATES_BEFORE;
    if (states_place_of(&r->states) == STATES_AFTER)
        return;
    if (metric == GOTRACE_METRIC_HEAP_GOAL) {
        h->goal = value < NO_HEAP_GOAL ? value : 0;
        return;
    }
    h->known = true;
    h->last = value;
    h->max = value > h->max || before ? value : h->max;
}

void stat_metric(run *r, const gotrace_event *e)
{
    const gotrace_metric metric = gotrace_event_metric(e);
    if (metric == GOTRACE_METRIC_HEAP_ALLOCATED || metric == GOTRACE_METRIC_HEAP_GOAL)
        heap_event(r, metric, gotrace_event_value(e));
    if (metric != GOTRACE_METRIC_GOMAXPROCS)
        return;
    for (size_t i = 0; i < UTILIZATION_KINDS; i++)
        utilization_set_procs(&r->utilizations[i], r->states.time, gotrace_event_value(e));
    r->settles = true;
}

/* Whether a goroutine is known not to be a worker. Since 1.26 such a goroutine gets a worker's
 * label if it starts on a proc that has chosen a worker (GoStart in traceruntime.go,
 * assignWaitingGCWorker in mgcpacer.go). */
static bool is_no_worker(const run *r, const stat_goroutine *g)
{
    return g->g.function && g->g.function != r->worker_function;
}

void stat_label(run *r, const gotrace_event *e)
{
    stat_goroutine *g = (void *)states_goroutine(&r->states, e->goroutine);
    if (!g)
        return;
    uint8_t worker = worker_of_label(e);
    g->worker = is_no_worker(r, g) ? WORKER_NONE : worker;
    if (g->worker && g->g.current.state == GOTRACE_STATE_RUNNING)
        set_proc(r, e->proc, PROC_GC, g->g.id);
    if (worker == WORKER_NONE || worker == WORKER_IDLE)
        return;
    /* Go takes all that have the label for workers. It counts one that gets it again twice, and its
     * proc works from then on. */
    g->marks = true;
    work(r, e->proc, true, false, true);
    if (g->worker)
        set_counts(r, g, e->proc, true);
}

/* ---- ranges -----------------------------------------------------------------------------------
 */

/* Begins or ends a range of a goroutine, by the rules of Go's summary. */
static void range_of(run *r, stat_goroutine *g, uint32_t name, const gotrace_event *e)
{
    part *p = g ? times_part(r, &g->times, name, true) : NULL;
    if (!p)
        return;
    if (e->kind == GOTRACE_KIND_RANGE_BEGIN) {
        p->since = r->states.time;
        return;
    }
    int64_t until = e->kind == GOTRACE_KIND_RANGE_END ? r->states.time : r->states.sync;
    if (p->since != STATES_NEVER)
        p->ns += until - p->since;
    p->since = e->kind == GOTRACE_KIND_RANGE_END ? STATES_NEVER : until;
}

static stat_goroutine *goroutine_of(run *r, uint64_t id)
{
    return (void *)states_goroutine(&r->states, id);
}

/* A proc sweeps; the time is that of the goroutine if it runs there from begin to end. */
static void sweep_event(run *r, const gotrace_event *e)
{
    bool active = e->kind == GOTRACE_KIND_RANGE_ACTIVE;
    proc_load *p = proc_of(r, active ? (int64_t)e->subject : e->proc);
    stat_goroutine *g = goroutine_of(r, e->goroutine);
    sweep_works(r, e);
    if (!p)
        return;
    if (e->kind == GOTRACE_KIND_RANGE_END) {
        if (p->sweeper && p->sweeper == e->goroutine)
            range_of(r, g, r->sweep_name, e);
        p->sweeper = 0;
    } else if (g) {
        p->sweeper = e->goroutine;
        range_of(r, g, r->sweep_name, e);
    }
}

static void assist_event(run *r, const gotrace_event *e)
{
    bool active = e->kind == GOTRACE_KIND_RANGE_ACTIVE;
    stat_goroutine *g = goroutine_of(r, active ? e->subject : e->goroutine);
    range_of(r, g, r->assist_name, e);
    assist_works(r, g, e);
    const proc_load *p = g ? proc_of(r, e->proc) : NULL;
    if (p && p->running == g->g.id)
        set_proc(r, e->proc, runs_as(g), g->g.id);
}

/* A range of which this part is in the trace and in the time range. began: it began there. */
static void add_partial(partial_figure *f, int64_t ns, bool began)
{
    if (ns == 0 && !began)
        return;
    f->count++;
    f->ns = sum_of_times(f->ns, ns);
}

/* ended: not with the trace or the time range. */
static void cycle_ends(run *r, bool ended)
{
    trace_figure *f = r->figure;
    int64_t ns = r->states.time - r->gc_since;
    r->gc_since = STATES_NEVER;
    if (!r->gc_whole || !ended) {
        add_partial(&f->partial_cycles, ns, r->gc_whole);
        return;
    }
    f->cycles++;
    f->cycle_ns = sum_of_times(f->cycle_ns, ns);
    f->longest_cycle = ns > f->longest_cycle ? ns : f->longest_cycle;
}

static void cycle_event(run *r, const gotrace_event *e)
{
    bool begins = e->kind == GOTRACE_KIND_RANGE_BEGIN, ends = e->kind == GOTRACE_KIND_RANGE_END;
    /* In a damaged trace the begin may be missing. Unless another one was seen, it may be before.
     */
    if (r->gc_since == STATES_NEVER && (!ends || !r->gc_seen)) {
        r->gc_since = begins ? r->states.time : r->states.sync;
        r->gc_whole = begins && run_inside(r);
    }
    r->gc_seen = true;
    if (ends && r->gc_since != STATES_NEVER)
        cycle_ends(r, run_inside(r));
}

/* ---- stop-the-world ---------------------------------------------------------------------------
 */

static uint32_t stop_range_name(run *r, uint32_t reason)
{
    char name[256];
    size_t size;
    const char *text = stacks_text(r->all->stacks, reason, &size);
    int length = snprintf(name, sizeof name, "stop-the-world (%.*s)", (int)size, text);
    return stacks_name(r->all->stacks, name,
                       (size_t)length < sizeof name ? (size_t)length : sizeof name - 1);
}

static bool is_of_gc(const run *r, uint32_t reason)
{
    return stacks_name_has(r->all->stacks, reason, "GC");
}

/* The goroutine that stops the world. v1 events have none. */
static uint64_t stopper(run *r, const gotrace_event *e)
{
    const proc_load *p = e->goroutine ? NULL : proc_of(r, e->proc);
    return p ? p->running : e->goroutine;
}

/* The world stops or starts again: what the goroutine and the utilization have of it. */
static void stop_counts(run *r, const gotrace_event *e)
{
    range_of(r, goroutine_of(r, stopper(r, e)), stop_range_name(r, r->stop_reason), e);
    for (size_t i = 0; is_of_gc(r, r->stop_reason) && i < UTILIZATION_KINDS; i++)
        utilization_stop(&r->utilizations[i], e->kind != GOTRACE_KIND_RANGE_END);
}

static void stop_begins(run *r, const gotrace_event *e)
{
    r->stop_reason = states_stop_reason(&r->states, gotrace_event_reason(e));
    stop_counts(r, e);
    /* Up to 1.9 each proc reports the stop. */
    if (r->stop_depth++ > 0)
        return;
    r->stop_seen = true;
    r->stop_whole = run_inside(r);
    r->stop = (stop){.begin = r->states.time, .by = stopper(r, e), .trace = r->index};
}

/* ended: not with the trace or the time range. */
static void add_stop(run *r, bool ended)
{
    const bool whole = r->stop_whole && ended;
    r->stop.ns = r->states.time - r->stop.begin;
    if (!r->stop_whole && r->stop.ns == 0)
        return;
    stop_figure *f = stat_figure(&r->all->stops, r->stop_reason, sizeof *f);
    if (!f || (whole && !histogram_add(&f->values, r->stop.ns)))
        run_fail(r);
    else if (!whole)
        add_partial(&f->partial, r->stop.ns, r->stop_whole);
    else if (f->values.count == 1 || r->stop.ns > f->longest.ns)
        f->longest = r->stop;
}

static void stop_ends(run *r, const gotrace_event *e)
{
    stop_counts(r, e);
    /* As for cycles. */
    if (!r->stop_seen) {
        r->stop = (stop){.begin = r->states.sync};
        r->stop_depth = 1;
        r->stop_whole = false;
    }
    r->stop_seen = true;
    if (r->stop_depth > 0 && --r->stop_depth == 0)
        add_stop(r, run_inside(r));
}

/* The last goroutine that stops while the world is being stopped delays it. */
static void delay_stop(run *r, const stat_goroutine *g, const interval *i, const gotrace_event *e)
{
    if (i->state != GOTRACE_STATE_RUNNING || g->g.id == r->stop.by || !e)
        return;
    r->stop.waited = r->states.time - r->stop.begin;
    r->stop.last = g->g.id;
    r->stop.last_function = g->g.function;
    r->stop.last_stack = e->goroutine == g->g.id ? stacks_of(r->all->stacks, e->stack) : 0;
}

void stat_range(run *r, const gotrace_event *e)
{
    switch ((gotrace_range)e->range) {
    case GOTRACE_RANGE_GC: cycle_event(r, e); break;
    case GOTRACE_RANGE_SWEEP: sweep_event(r, e); break;
    case GOTRACE_RANGE_MARK_ASSIST: assist_event(r, e); break;
    case GOTRACE_RANGE_STW:
        if (e->kind == GOTRACE_KIND_RANGE_END)
            stop_ends(r, e);
        else
            stop_begins(r, e);
        r->settles = true;
        break;
    case GOTRACE_RANGE_NONE: break;
    }
}

void stat_collector_interval(run *r, stat_goroutine *g, const interval *i, const gotrace_event *e)
{
    if (r->stop_depth)
        delay_stop(r, g, i, e);
    if (is_no_worker(r, g))
        g->worker = WORKER_NONE;
    if (g->worker && i->state == GOTRACE_STATE_RUNNING)
        r->figure->worker_ns[g->worker] = sum_of_times(r->figure->worker_ns[g->worker],
                                                       i->end - i->begin);
    bool executes = state_executes(i->next);
    if (!e || state_executes(i->state) == executes)
        return;
    if (g->marks || g->assists)
        work(r, e->proc, executes, false, true);
    set_counts(r, g, e->proc, executes && g->assists);
}

void stat_collector_end(run *r)
{
    if (r->gc_since != STATES_NEVER)
        cycle_ends(r, false);
    if (r->stop_depth > 0)
        add_stop(r, false);
    for (size_t i = 0; i < UTILIZATION_KINDS; i++) {
        utilization *u = &r->utilizations[i];
        /* Go's reader ends the trace with a sync, which is 1 ns later. */
        r->figure->utilized[i] = utilization_end(u, sum_of_times(r->states.time, u->as_go));
        memcpy(r->figure->least[i], u->least, sizeof u->least);
        memcpy(r->figure->least_at[i], u->least_at, sizeof u->least_at);
        if (u->failed)
            run_fail(r);
    }
}
