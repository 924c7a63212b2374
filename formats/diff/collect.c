/* collect.c - the figures of one trace, or of parts of it, as entries. */
#include <math.h>
#include <stdlib.h>

#include "formats/analyse/figure_rows.h"
#include "formats/common/vector.h"
#include "formats/diff/diff.h"

enum { SECOND = 1000000000 };

const diff_figure_spec diff_figures[DIFF_FIGURE_COUNT] = {
#define DIFF_FIGURE(name, word, unit, least) {#word, UNIT_##unit, least},
    DIFF_FIGURES(DIFF_FIGURE)
#undef DIFF_FIGURE
};

const char *diff_kind_name(size_t n)
{
    static const char *const names[] = {
#define DIFF_KIND(name, word) #word,
        DIFF_KINDS(DIFF_KIND)
#undef DIFF_KIND
    };
    return n < DIFF_KIND_COUNT ? names[n] : NULL;
}

unsigned diff_figures_of(diff_kind kind)
{
    enum {
        SPAN = 1U << DIFF_COUNT | 1U << DIFF_MEAN | 1U << DIFF_P50 | 1U << DIFF_P99,
        WAIT = 1U << DIFF_COUNT | 1U << DIFF_TIME,
    };
    switch (kind) {
    case DIFF_TASK:
    case DIFF_REGION: return SPAN;
    case DIFF_SCHED: return 1U << DIFF_TIME | 1U << DIFF_P50 | 1U << DIFF_P99;
    case DIFF_BLOCK:
    case DIFF_SYSCALL:
    case DIFF_SILENCE: return WAIT;
    case DIFF_GC: return 1U << DIFF_SHARE | 1U << DIFF_ASSISTS | 1U << DIFF_COUNT | 1U << DIFF_HEAP;
    case DIFF_STOP: return WAIT | 1U << DIFF_P99;
    case DIFF_GOROUTINE:
        return 1U << DIFF_COUNT | 1U << DIFF_RUNNING | 1U << DIFF_RUNNABLE | 1U << DIFF_BLOCKED |
               1U << DIFF_SYSCALLS | 1U << DIFF_ALIVE;
    case DIFF_CPU: return 1U << DIFF_SHARE;
    case DIFF_SAMPLE:
    case DIFF_KIND_COUNT: break;
    }
    return 0;
}

/* What goroutines of one function did in a part: figures of functions count a goroutine when it
 * ends. */
typedef struct part_function {
    int64_t ns[GOTRACE_STATE_IDLE + 1]; /* by gotrace_state */
    uint64_t created, ended;
} part_function;

typedef struct collector {
    diff_run *run;
    statistics *s;
    uint32_t part;
    int64_t begin, duration; /* of the part, or of the trace */
    /* Of parts: */
    int64_t origin;
    statistics_watch watch;
    part_function *functions; /* by name */
    size_t function_room;
} collector;

/* ---- entries ----------------------------------------------------------------------------------
 */

/* An entry without values; NULL if memory is refused. */
static diff_entry *add(collector *c, diff_subject of, double events)
{
    diff_entries *all = &c->run->entries;
    diff_entry *list = vector_room(all->list, &all->room, all->count, sizeof *list);
    if (!list) {
        c->run->failed = true;
        return NULL;
    }
    all->list = list;
    diff_entry *e = &list[all->count++];
    *e = (diff_entry){.of = of, .events = events, .column = c->part, .is_part = c->run->parts};
    for (size_t i = 0; i < DIFF_FIGURE_COUNT; i++)
        e->values[i] = NAN;
    return e;
}

static double per_second(const collector *c, double value)
{
    return c->duration > 0 ? value * SECOND / (double)c->duration : 0;
}

static void add_values(collector *c, diff_kind kind, uint32_t name, const histogram *h)
{
    diff_entry *e = h->count ? add(c, (diff_subject){.kind = (uint8_t)kind, .name = name},
                                   (double)h->count)
                             : NULL;
    if (!e)
        return;
    e->values[DIFF_COUNT] = per_second(c, (double)h->count);
    e->values[DIFF_TIME] = per_second(c, (double)h->sum);
    e->values[DIFF_MEAN] = (double)h->sum / (double)h->count;
    e->values[DIFF_P50] = (double)histogram_quantile(h, 0.5, 0);
    e->values[DIFF_P99] = (double)histogram_quantile(h, 0.99, 0);
}

static void add_total(collector *c, diff_subject of, uint64_t count, int64_t ns)
{
    diff_entry *e = count ? add(c, of, (double)count) : NULL;
    if (!e)
        return;
    e->values[DIFF_COUNT] = per_second(c, (double)count);
    e->values[DIFF_TIME] = per_second(c, (double)ns);
}

static void add_latencies(collector *c)
{
    histogram all = {0};
    for (size_t i = 0; i < CAUSES; i++)
        for (size_t k = 0; k < c->s->causes[i].count; k++) {
            const latency_figure *f = c->s->causes[i].items[k];
            c->run->failed |= !histogram_merge(&all, &f->values);
        }
    add_values(c, DIFF_SCHED, 0, &all);
    histogram_free(&all);
    for (size_t i = 0; i < c->s->functions.count; i++) {
        const function_figure *f = c->s->functions.items[i];
        const histogram h = value_set_histogram(&f->latency);
        /* The name 0 is that of all. */
        if (f->name)
            add_values(c, DIFF_SCHED, f->name, &h);
    }
}

static void add_spans(collector *c, diff_kind kind, const figures *spans)
{
    for (size_t i = 0; i < spans->count; i++) {
        const span_figure *f = spans->items[i];
        add_values(c, kind, f->name, &f->values);
    }
}

static void add_waits(collector *c)
{
    for (size_t i = 0; i < c->s->by_stack_count; i++) {
        const stack_figure *f = &c->s->by_stack[i];
        const reason_figure *of = &c->s->reasons[f->reason];
        diff_subject subject = {.kind = DIFF_BLOCK, .name = of->reason, .stack = f->stack};
        if (of->state == GOTRACE_STATE_SYSCALL)
            subject.kind = DIFF_SYSCALL;
        add_total(c, subject, f->count, f->sum);
    }
}

/* What the procs did: all their time, and that for the GC. */
static void set_shares(const collector *c, diff_entry *e, const double *ns)
{
    const double workers = ns[PROC_GC], assists = ns[PROC_ASSIST];
    double all = 0;
    for (size_t k = 0; k < PROC_STATES; k++)
        all += ns[k];
    e->values[DIFF_TIME] = per_second(c, workers + assists);
    e->values[DIFF_SHARE] = all > 0 ? (workers + assists) / all : 0;
    e->values[DIFF_ASSISTS] = all > 0 ? assists / all : 0;
}

/* Of a part, what procs do is known at the end of the trace. */
static void add_collector(collector *c)
{
    const trace_figure *t = &c->s->traces[0];
    double ns[PROC_STATES];
    for (size_t k = 0; k < PROC_STATES; k++)
        ns[k] = (double)t->load.sums[k];
    if (!c->run->parts && t->cycles == 0 && ns[PROC_GC] + ns[PROC_ASSIST] <= 0)
        return;
    diff_entry *e = add(c, (diff_subject){.kind = DIFF_GC}, (double)t->cycles);
    if (!e)
        return;
    e->values[DIFF_COUNT] = per_second(c, (double)t->cycles);
    if (t->heap.known)
        e->values[DIFF_HEAP] = (double)t->heap.max;
    if (!c->run->parts)
        set_shares(c, e, ns);
}

/* The spans of the load whose middle is in the part count as those of the part. */
static void set_part_shares(const collector *c)
{
    const load *l = &c->s->traces[0].load;
    for (size_t i = 0; i < c->run->entries.count; i++) {
        diff_entry *e = &c->run->entries.list[i];
        double ns[PROC_STATES] = {0};
        for (size_t span = 0; e->of.kind == DIFF_GC && span < 2 * (size_t)LOAD_SPANS; span++) {
            const double middle = ldexp((double)span + 0.5, (int)l->shift);
            for (size_t k = 0; k < PROC_STATES; k++)
                if (floor(middle / (double)c->duration) == (double)e->column)
                    ns[k] += (double)l->spans[span][k];
        }
        if (e->of.kind == DIFF_GC)
            set_shares(c, e, ns);
    }
}

static void add_stops(collector *c)
{
    for (size_t i = 0; i < c->s->stops.count; i++) {
        const stop_figure *f = c->s->stops.items[i];
        add_values(c, DIFF_STOP, f->reason, &f->values);
    }
}

static void add_samples(collector *c)
{
    size_t count;
    sampled *list = c->s->sample_count ? rows_sampled(c->s, &count, &c->run->failed) : NULL;
    const double all = (double)c->s->sample_count;
    for (size_t i = 0; list && i < count; i++) {
        const diff_subject of = {.kind = DIFF_CPU, .name = list[i].function};
        diff_entry *e = list[i].self ? add(c, of, (double)list[i].self) : NULL;
        if (!e)
            continue;
        e->values[DIFF_SHARE] = (double)list[i].self / all;
        e->values[DIFF_TIME] = per_second(c, (double)list[i].self * PROFILE_SAMPLE_NS);
    }
    free(list);
    for (uint32_t i = 0; !c->run->parts && i < c->s->sample_room; i++)
        add_total(c, (diff_subject){.kind = DIFF_SAMPLE, .stack = i}, c->s->samples[i],
                  (int64_t)c->s->samples[i] * PROFILE_SAMPLE_NS);
}

static void add_goroutines(collector *c, uint32_t name, const int64_t *ns, uint64_t created,
                           double alive)
{
    diff_entry *e = add(c, (diff_subject){.kind = DIFF_GOROUTINE, .name = name}, (double)created);
    if (!e)
        return;
    e->values[DIFF_COUNT] = per_second(c, (double)created);
    e->values[DIFF_RUNNING] = per_second(c, (double)ns[GOTRACE_STATE_RUNNING]);
    e->values[DIFF_RUNNABLE] = per_second(c, (double)ns[GOTRACE_STATE_RUNNABLE]);
    e->values[DIFF_BLOCKED] = per_second(c, (double)ns[GOTRACE_STATE_WAITING]);
    e->values[DIFF_SYSCALLS] = per_second(c, (double)ns[GOTRACE_STATE_SYSCALL]);
    e->values[DIFF_TIME] = e->values[DIFF_RUNNING] + e->values[DIFF_RUNNABLE];
    e->values[DIFF_ALIVE] = alive;
}

static void add_functions(collector *c)
{
    for (size_t i = 0; i < c->s->functions.count; i++) {
        const function_figure *f = c->s->functions.items[i];
        const int64_t ns[GOTRACE_STATE_IDLE + 1] = {
            [GOTRACE_STATE_RUNNING] = figure_sum(f, TIME_EXEC),
            [GOTRACE_STATE_RUNNABLE] = figure_sum(f, TIME_SCHED_WAIT),
            [GOTRACE_STATE_WAITING] = figure_sum(f, TIME_BLOCK),
            [GOTRACE_STATE_SYSCALL] = sum_of_times(figure_sum(f, TIME_SYSCALL),
                                                   figure_sum(f, TIME_SYSCALL_BLOCK)),
        };
        if (f->count > 0)
            add_goroutines(c, f->name, ns, f->created, (double)(f->count - f->ended));
    }
}

/* Those of a part: how many more are alive than at its beginning. */
static void add_part_functions(collector *c)
{
    for (uint32_t name = 0; name < c->function_room; name++) {
        part_function *f = &c->functions[name];
        int64_t all = (int64_t)(f->created | f->ended);
        for (size_t i = 0; i <= GOTRACE_STATE_IDLE; i++)
            all |= f->ns[i];
        if (all)
            add_goroutines(c, name, f->ns, f->created, (double)f->created - (double)f->ended);
        *f = (part_function){0};
    }
}

static void collect(collector *c)
{
    const silence_figure *silences = &c->s->traces[0].silences;
    add_spans(c, DIFF_TASK, &c->s->tasks);
    add_spans(c, DIFF_REGION, &c->s->regions);
    add_latencies(c);
    add_waits(c);
    add_collector(c);
    add_stops(c);
    if (c->run->parts)
        add_part_functions(c);
    else
        add_functions(c);
    add_samples(c);
    add_total(c, (diff_subject){.kind = DIFF_SILENCE}, silences->count, silences->sum);
}

/* ---- parts ------------------------------------------------------------------------------------
 */

static void clear_spans(const figures *spans)
{
    for (size_t i = 0; i < spans->count; i++)
        histogram_free(&((span_figure *)spans->items[i])->values);
}

/* Forgets what was collected, so that the next part begins with nothing. */
static void clear(statistics *s)
{
    clear_spans(&s->tasks);
    clear_spans(&s->regions);
    for (size_t i = 0; i < CAUSES; i++)
        for (size_t k = 0; k < s->causes[i].count; k++)
            histogram_free(&((latency_figure *)s->causes[i].items[k])->values);
    for (size_t i = 0; i < s->functions.count; i++)
        value_set_free(&((function_figure *)s->functions.items[i])->latency);
    for (size_t i = 0; i < s->by_stack_count; i++)
        s->by_stack[i].count = 0, s->by_stack[i].sum = 0;
    for (size_t i = 0; i < s->stops.count; i++)
        histogram_free(&((stop_figure *)s->stops.items[i])->values);
    if (s->sample_room)
        memset(s->samples, 0, s->sample_room * sizeof *s->samples);
    s->sample_count = 0;
    trace_figure *t = &s->traces[0];
    t->silences = (silence_figure){0};
    t->heap.max = 0;
    t->heap.known = false;
    t->cycles = 0;
}

/* Where the part ends, relative to the time range. */
static int64_t part_end(const collector *c)
{
    return c->duration * ((int64_t)c->part + 1);
}

static void end_part(collector *c)
{
    collect(c);
    clear(c->s);
    c->part++;
}

static void part_interval(void *ctx, const goroutine *g, const interval *i, const gotrace_event *e)
{
    collector *c = ctx;
    part_function *list = vector_zeroed(c->functions, &c->function_room, g->function, sizeof *list);
    (void)e;
    if (!list) {
        c->run->failed = true;
        return;
    }
    c->functions = list;
    part_function *f = &list[g->function];
    f->ns[i->state] = sum_of_times(f->ns[i->state], i->end - i->begin);
    f->created += i->whole && i->begin == g->created;
    f->ended += i->next == GOTRACE_STATE_NOT_EXIST;
}

static bool part_event(void *ctx, const watched_event *w)
{
    collector *c = ctx;
    while (c->part + 1 < DIFF_PARTS && w->time - c->origin >= part_end(c))
        end_part(c);
    return !c->run->failed;
}

gotrace_status diff_run_read(diff_run *run, gotrace_reader *reader, const char *name,
                             size_t threads, select_job *select, int64_t duration)
{
    statistics *s = statistics_new(NULL, STACKS_BY_FUNCTION);
    collector c = {.run = run,
                   .s = s,
                   .duration = duration / DIFF_PARTS,
                   .origin = select && select->range.from > 0 ? select->range.from : 0};
    gotrace_status status = GOTRACE_END;
    *run = (diff_run){.parts = duration >= DIFF_PARTS, .failed = !s};
    if (!s)
        return status;
    c.watch = (statistics_watch){
        .ctx = &c, .interval = part_interval, .event = part_event, .kinds = ~0U};
    s->watch = run->parts ? &c.watch : NULL;
    s->several = true;
    status = statistics_add(s, reader, name, threads, select);
    run->failed |= s->failed;
    if (!run->failed && s->traces[0].events > 0) {
        run->duration = s->traces[0].duration;
        c.duration = run->parts ? c.duration : run->duration;
        collect(&c);
        if (run->parts)
            set_part_shares(&c);
        run->names = s->stacks;
        s->stacks = NULL;
    }
    free(c.functions);
    statistics_free(s);
    return status;
}

void diff_run_free(diff_run *run)
{
    stacks_free(run->names);
    free(run->entries.list);
    *run = (diff_run){0};
}
