/* statistics.c - the pass over a trace. */
#include "formats/analyse/statistics.h"

#include <stdlib.h>
#include <string.h>

#include "formats/analyse/statistics_run.h"
#include "formats/common/vector.h"

/* ---- the users of the intervals ---------------------------------------------------------------
 */

static void count_goroutine(run *r, stat_goroutine *g)
{
    if (!g->counted)
        r->figure->goroutines++;
    g->counted = true;
}

/* Whether an interval is selected by its place is known when it begins. */
static void state_begins(void *ctx, goroutine *g, const gotrace_event *e)
{
    ((stat_goroutine *)g)->there = selector_is_there(&((run *)ctx)->selector, e);
}

static profile_part *profile_part_of(goroutine *g)
{
    return &((profiled_goroutine *)g)->part;
}

static void goroutine_begins(void *ctx, goroutine *g, const gotrace_event *e)
{
    run *r = ctx;
    ((stat_goroutine *)g)->there = true;
    if (selector_has_places(&r->selector))
        state_begins(ctx, g, e);
    if (r->profiles)
        profiles_goroutine(r->profiles, profile_part_of(g), g, e);
    ((stat_goroutine *)g)->early_state = r->utilizations[0].procs == 0;
    if (!r->selector.what && !r->all->no_system)
        count_goroutine(r, (stat_goroutine *)g);
    if (e->kind != GOTRACE_KIND_TRANSITION || e->from != GOTRACE_STATE_NOT_EXIST)
        return;
    ((stat_goroutine *)g)->made = run_inside(r);
    stat_region_inherit(r, (stat_goroutine *)g, e);
    stat_runnable(r, (stat_goroutine *)g, NULL);
}

/* Whether the goroutine is not to be counted. */
static bool is_left_out(const run *r, const goroutine *g)
{
    size_t size;
    if (!r->all->no_system)
        return false;
    const char *name = stacks_text(r->all->stacks, g->function, &size);
    return function_is_system(name, size);
}

/* With a selection, a watch or profiles: whether the interval is selected. */
static bool attend_interval(run *r, stat_goroutine *own, const interval *i, const gotrace_event *e)
{
    goroutine *g = &own->g;
    if (r->profiles)
        profiles_interval(r->profiles, profile_part_of(g), g, i, own->there, e);
    if (!interval_is_inside(i) || !own->there || is_left_out(r, g) ||
        !selector_interval(&r->selector, g->id, g->function, i->stack))
        return false;
    if (r->watch)
        r->watch->interval(r->watch->ctx, g, i, e);
    count_goroutine(r, own);
    return true;
}

/* What an interval and the next state are for procs and latencies, whether or not it is selected.
 */
static inline void follow_interval(run *r, stat_goroutine *g, const interval *i,
                                   const gotrace_event *e)
{
    if (i->next == GOTRACE_STATE_RUNNING || i->state == GOTRACE_STATE_RUNNING)
        stat_load_interval(r, g, i, e ? e->proc : GOTRACE_NO_PROC);
    if (i->next == GOTRACE_STATE_RUNNABLE)
        stat_runnable(r, g, i);
}

/* Whether a thread of `gotrace record` goes on after a wait, and when it became runnable is not
 * known. No trace can have that without the goroutine being runnable in between, for some events
 * whose times differ by 1 ns. In traces of Go this is a latency that is too short to be measured.
 */
static bool goes_on(const run *r, const interval *i)
{
    enum { MOST_NS = 5 };
    if (i->end - i->begin > MOST_NS)
        return false;
    const char *writer = gotrace_reader_summary(r->feed.reader)->writer;
    return writer && strcmp(writer, "gotrace record") == 0;
}

/* Counts the part of a wait that is before the goroutine's first status, unless it was. */
static void count_before(run *r, stat_goroutine *g)
{
    if (g->before.begin < g->before.end)
        stat_wait(r, &g->before);
    g->before.end = g->before.begin;
}

/* Counts a wait or a system call that began before the goroutine's first status: it has two
 * intervals, which are one wait. */
static void count_long_wait(run *r, stat_goroutine *g, const interval *i)
{
    interval all = *i;
    if (g->before.end == i->begin && g->before.state == i->state) {
        all.begin = g->before.begin;
        g->before.end = g->before.begin;
    }
    count_before(r, g);
    if (i->next == i->state)
        g->before = all;
    else
        stat_wait(r, &all);
}

static inline void count_wait(run *r, stat_goroutine *g, const interval *i)
{
    if (i->next == i->state || g->before.begin < g->before.end)
        count_long_wait(r, g, i);
    else
        stat_wait(r, i);
}

/* An interval that is selected. */
static inline __attribute__((always_inline)) void add_interval(run *r, stat_goroutine *g,
                                                               const interval *i)
{
    times_add(r, &g->times, i);
    if (r->rows_only)
        return;
    if (i->state == GOTRACE_STATE_WAITING || i->state == GOTRACE_STATE_SYSCALL)
        count_wait(r, g, i);
    else if (i->state == GOTRACE_STATE_RUNNABLE && i->whole && run_inside(r) &&
             i->next == GOTRACE_STATE_RUNNING && !goes_on(r, i))
        stat_latency(r, g, i);
}

/* Part of states_step, which is expanded once. */
static inline void interval_ends(void *ctx, goroutine *g, const interval *i, const gotrace_event *e)
{
    run *r = ctx;
    stat_goroutine *own = (stat_goroutine *)g;
    if (r->stop_depth || stat_is_collector(own))
        stat_collector_interval(r, own, i, e);
    follow_interval(r, own, i, e);
    if (r->attended ? attend_interval(r, own, i, e) : interval_is_inside(i))
        add_interval(r, own, i);
}

/* Whether a goroutine ends by that event in the time range. One that blocks forever lives on. */
static bool has_ended(const run *r, const gotrace_event *e)
{
    return e && e->to != GOTRACE_STATE_WAITING && states_place_of(&r->states) != STATES_AFTER;
}

static void goroutine_ends(void *ctx, goroutine *g, int64_t time, const gotrace_event *e)
{
    run *r = ctx;
    stat_goroutine *own = (stat_goroutine *)g;
    for (size_t i = 0; i < own->times.count; i++) {
        part *p = &own->times.parts[i];
        if (p->since != STATES_NEVER)
            p->ns += time - p->since;
        p->since = STATES_NEVER;
    }
    count_before(r, own);
    own->times.ns[TIME_TOTAL] = r->parts_only ? times_known(&own->times) : time - g->created;
    stat_regions_end(r, own, e != NULL);
    stat_latency_early(r, own);
    /* What it did before its function was known was counted. */
    if (own->counted && is_left_out(r, g)) {
        own->counted = false;
        r->figure->goroutines--;
    }
    if (own->counted && !r->rows_only)
        stat_goroutine_ended(r, own, has_ended(r, e));
    if (r->all->each && own->counted)
        r->all->each->goroutine(r->all->each->ctx, r->all->stacks, own, r->states.base,
                                e && states_place_of(&r->states) != STATES_AFTER ? time
                                                                                 : STATES_NEVER);
    if (r->profiles)
        profiles_goroutine_end(r->profiles, profile_part_of(g), g);
    stat_regions_free(own);
    times_free(&own->times);
}

/* ---- the pass ---------------------------------------------------------------------------------
 */

static void add_sample(run *r, const gotrace_event *e)
{
    statistics *s = r->all;
    uint32_t stack = stacks_of(s->stacks, e->stack);
    while (stack >= s->sample_room) {
        size_t room = s->sample_room;
        uint64_t *samples = vector_room(s->samples, &s->sample_room, room, sizeof *samples);
        if (!samples) {
            run_fail(r);
            return;
        }
        s->samples = samples;
        memset(samples + room, 0, (s->sample_room - room) * sizeof *samples);
    }
    s->samples[stack]++;
    s->sample_count++;
}

static void add_profile_sample(run *r, const gotrace_event *e)
{
    goroutine *g = states_goroutine(&r->states, e->goroutine);
    profiles_sample(r->profiles, g ? profile_part_of(g) : NULL, g, e);
}

/* A goroutine enters or leaves a region, which may be selected. */
static void divide(run *r, const gotrace_event *e)
{
    goroutine *g = states_goroutine(&r->states, e->goroutine);
    if (g)
        states_divide(&r->states, g, e);
}

/* Whatever changed until the time range begins has its last value there. */
static void settle(run *r)
{
    for (size_t i = 0; i < UTILIZATION_KINDS; i++) {
        r->utilizations[i].before = states_place_of(&r->states) == STATES_BEFORE;
        utilization_settle(&r->utilizations[i], r->states.time);
    }
    r->settles = false;
}

/* With a selection, a watch or profiles: what they do with an event before it is added. */
static void attend_event(run *r, const gotrace_event *e)
{
    if (selector_divides(&r->selector, e))
        divide(r, e);
    if (e->kind == GOTRACE_KIND_SAMPLE && r->profiles)
        add_profile_sample(r, e);
    r->selected = selector_event(&r->selector, e);
    r->figure->events += r->selected;
}

/* The same afterwards. False: the pass ends. */
static bool watch_event(const run *r, const gotrace_event *e)
{
    const statistics_watch *watch = r->watch;
    if (r->selector.too_hard)
        return false;
    return !watch || !(watch->kinds >> e->kind & 1) ||
           watch->event(watch->ctx, &(watched_event){.e = e,
                                                     .time = r->states.time,
                                                     .place = states_place_of(&r->states),
                                                     .selected = r->selected});
}

/* An event that is not just a change of a goroutine's state. */
static void add_other(run *r, const gotrace_event *e)
{
    if (e->flags & GOTRACE_EVENT_NO_BEGIN)
        return;
    switch ((gotrace_kind)e->kind) {
    case GOTRACE_KIND_TRANSITION:
        if (e->resource == GOTRACE_RESOURCE_PROC)
            stat_load_proc(r, e);
        else if (gotrace_event_details(e)->text)
            stat_label(r, e);
        break;
    case GOTRACE_KIND_METRIC: stat_metric(r, e); break;
    case GOTRACE_KIND_LABEL: stat_label(r, e); break;
    case GOTRACE_KIND_RANGE_BEGIN:
    case GOTRACE_KIND_RANGE_END:
    case GOTRACE_KIND_RANGE_ACTIVE: stat_range(r, e); break;
    case GOTRACE_KIND_TASK_BEGIN:
    case GOTRACE_KIND_TASK_END:
    case GOTRACE_KIND_REGION_BEGIN:
    case GOTRACE_KIND_REGION_END:
    case GOTRACE_KIND_LOG: stat_span(r, e); break;
    case GOTRACE_KIND_SYNC:
        for (size_t i = 0; i < UTILIZATION_KINDS; i++)
            utilization_sync(&r->utilizations[i]);
        break;
    case GOTRACE_KIND_SAMPLE:
        if (r->selected)
            add_sample(r, e);
        break;
    case GOTRACE_KIND_NONE:
    case GOTRACE_KIND_SYSCALL:
    case GOTRACE_KIND_EXPERIMENT: break;
    }
}

/* The time since the event before; what is outside of the time range does not count. */
__attribute__((noinline)) static void add_silence(run *r, int64_t begin, int64_t end)
{
    silence_figure *f = &r->figure->silences;
    begin = begin < r->states.from ? r->states.from : begin;
    end = end > r->states.until ? r->states.until : end;
    /* The times of a damaged trace may be anything. */
    const uint64_t ns = end > begin ? (uint64_t)end - (uint64_t)begin : 0;
    if (ns <= SILENCE_NS || ns > INT64_MAX)
        return;
    f->count++;
    f->sum = sum_of_times(f->sum, (int64_t)ns);
    if ((int64_t)ns > f->max) {
        f->max = (int64_t)ns;
        f->max_begin = begin;
    }
}

static inline void add_event(run *r, const gotrace_event *e)
{
    if (e->kind != GOTRACE_KIND_SYNC) {
        if (e->time > r->last && (uint64_t)e->time - (uint64_t)r->last > SILENCE_NS)
            add_silence(r, r->last, e->time);
        r->last = e->time;
    }
    const bool change = states_step(&r->states, e, interval_ends, NULL);
    if (r->attended)
        attend_event(r, e);
    if (!change)
        add_other(r, e);
    if (r->settles)
        settle(r);
}

/* Memory was refused: the pass ends. */
static bool has_failed(run *r)
{
    statistics *s = r->all;
    s->failed |= r->states.failed | s->stacks->failed | r->selector.failed;
    s->failed |= r->profiles && profiles_failed(r->profiles);
    return s->failed;
}

/* Refused memory leaves everything consistent, so it is not looked for after each event. */
enum { EVENTS_BETWEEN_CHECKS = 1024 };

static gotrace_status read_events(run *r)
{
    const gotrace_event *e;
    gotrace_status status;
    size_t count = 0;
    while ((status = feed_next(&r->feed, &e)) == GOTRACE_EVENT) {
        add_event(r, e);
        if (r->attended && !watch_event(r, e))
            return GOTRACE_END;
        if (++count % EVENTS_BETWEEN_CHECKS == 0 &&
            (has_failed(r) || selector_stopped(&r->selector)))
            return GOTRACE_END;
    }
    if (!r->attended)
        r->figure->events = count;
    return status;
}

static void run_init(run *r, const select_job *select)
{
    const states_user user = {r, goroutine_begins, interval_ends, goroutine_ends, NULL};
    stacks *names = r->all->stacks;
    int version = r->figure->version;
    stacks_begin(names, &r->feed);
    names->lost_of = r->all->several ? r->figure->name : NULL;
    r->watch = r->all->watch;
    r->profiles = r->watch ? r->watch->profiles : NULL;
    states_init(&r->states, version, names,
                r->profiles ? sizeof(profiled_goroutine) : sizeof(stat_goroutine), &user);
    selector_init(&r->selector, select, version, &r->feed, names);
    if (r->profiles)
        profiles_share(r->profiles, &r->states, &r->selector);
    if (selector_has_places(&r->selector))
        r->states.user.changed = state_begins;
    states_restrict(&r->states, r->selector.range.from, r->selector.range.until);
    r->origin = r->states.from > 0 ? r->states.from : 0;
    r->attended = r->selector.what || r->watch || r->all->no_system;
    r->selected = true;
    r->rows_only = r->watch && r->watch->rows_only;
    r->parts_only = selector_has(&r->selector, SELECT_OF_PARTS & ~SELECT_BIT(SELECT_GOROUTINE));
    idmap_init(&r->tasks, sizeof(open_task));
    idmap_init(&r->procs, sizeof(proc_load));
    for (size_t i = 0; i < UTILIZATION_KINDS; i++)
        utilization_init(&r->utilizations[i], i & UTILIZATION_SWEEP, i & UTILIZATION_AS_GO,
                         version >= GOTRACE_FIRST_V2);
    r->gc_since = STATES_NEVER;
    r->assist_name = stacks_name(names, "GC mark assist", strlen("GC mark assist"));
    r->sweep_name = stacks_name(names, "GC incremental sweep", strlen("GC incremental sweep"));
    r->worker_function = stacks_name(names, "runtime.gcBgMarkWorker",
                                     strlen("runtime.gcBgMarkWorker"));
}

static void run_free(run *r)
{
    size_t cursor = 0;
    uint64_t id;
    void *value;
    /* Goroutines are left only if memory was refused. */
    while (idmap_next(&r->states.goroutines, &cursor, &id, &value)) {
        stat_goroutine *g = value;
        stat_regions_free(g);
        times_free(&g->times);
        value_set_free(&g->early);
        if (r->profiles)
            profile_part_free(profile_part_of(value));
    }
    states_free(&r->states);
    idmap_free(&r->tasks);
    idmap_free(&r->procs);
    for (size_t i = 0; i < UTILIZATION_KINDS; i++)
        utilization_free(&r->utilizations[i]);
}

/* Adds up the latencies after all causes. */
static void sum_latencies(statistics *s)
{
    histogram_free(&s->latency);
    for (size_t i = 0; i < CAUSES; i++)
        for (size_t k = 0; k < s->causes[i].count; k++) {
            const latency_figure *f = s->causes[i].items[k];
            s->failed |= !histogram_merge(&s->latency, &f->values);
        }
}

gotrace_status statistics_add(statistics *s, gotrace_reader *reader, const char *name,
                              size_t threads, select_job *select)
{
    trace_figure *traces = vector_room(s->traces, &s->trace_room, s->trace_count, sizeof *traces);
    if (!traces) {
        s->failed = true;
        return GOTRACE_END;
    }
    s->traces = traces;
    run r = {.all = s, .figure = &traces[s->trace_count], .index = (uint32_t)s->trace_count};
    *r.figure = (trace_figure){.name = strdup(name)};
    s->trace_count++;
    if (!r.figure->name)
        s->failed = true;
    /* If indexing fails, reading reports the same error. */
    gotrace_reader_index(reader);
    r.figure->version = gotrace_reader_summary(reader)->version;
    feed_init(&r.feed, reader, s->each && s->each->in_order, threads);
    run_init(&r, select);
    gotrace_status status = read_events(&r);
    if (!has_failed(&r)) {
        r.figure->duration = r.states.time > r.origin ? r.states.time - r.origin : 0;
        stat_load_end(&r);
        states_end(&r.states);
        stat_collector_end(&r);
        stat_tasks_end(&r);
        sum_latencies(s);
        has_failed(&r);
    }
    selector_end(&r.selector, select);
    run_free(&r);
    feed_free(&r.feed);
    return status;
}
