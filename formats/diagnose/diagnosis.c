/* diagnosis.c - from measures to findings. */
#include "formats/diagnose/diagnosis.h"

#include <stdlib.h>
#include <string.h>

const char *const finding_ids[FINDING_CAUSE_COUNT] = {
#define FINDING_ID(name, id, title) [FINDING_##name] = id,
    FINDING_CAUSES(FINDING_ID)
#undef FINDING_ID
};

const char *const finding_titles[FINDING_CAUSE_COUNT] = {
#define FINDING_TITLE(name, id, title) [FINDING_##name] = title,
    FINDING_CAUSES(FINDING_TITLE)
#undef FINDING_TITLE
};

const char *const finding_bases[] = {
    [OF_TASKS] = "of the time of tasks",
    [OF_CHOSEN] = "of the time of these goroutines",
    [OF_GOROUTINES] = "of the time of goroutines",
    [OF_PROCS] = "of the procs",
    [OF_TIME] = "of the time",
    [OF_ALIVE] = "of those alive at the end",
};

/* The least share that is reported, by cause. Comments: the least share in the programs of
 * testdata/causes that have the cause, and the largest one in healthy ones. */
/* clang-format off */
const double finding_least_shares[FINDING_CAUSE_COUNT] = {
    [FINDING_DEADLOCK] = 0,
    [FINDING_LOCK] = 0.15,      /* 0.455, 0 */
    [FINDING_CHANNEL] = 0.4,    /* 0.835, 0 */
    [FINDING_CPU] = 0.44,       /* 0.482, 0.400 */
    [FINDING_IDLE] = 0.33,      /* 0.358, 0.319 */
    [FINDING_FROZEN] = 0.1,     /* 0.204, 0 */
    [FINDING_GC_CPU] = 0.18,    /* 0.283, 0.090 */
    [FINDING_GC_ASSIST] = 0.1,  /* 0.553, 0.036 */
    [FINDING_STOP] = 0.05,      /* 0.203, 0.046 */
    [FINDING_SYSCALL] = 0.25,   /* 0.777, 0 */
    [FINDING_NETWORK] = 0.5,    /* 0.690, 0.101 */
    [FINDING_TIMER] = 0.4,      /* 0.732, 0 */
    [FINDING_LEAK] = 0.5,       /* 0.855, 0 */
    [FINDING_CHURN] = 0.015,    /* 0.019, 0.001 */
    [FINDING_STORM] = 0.15,     /* 0.932, 0 */
    [FINDING_LIMITS] = 0,
};
/* clang-format on */

enum {
    LEAST_TASKS = 10,
    LEAST_LEAKED = 20,
    LEAKED_PARTS = 6, /* of AGE_PARTS: a pool grows in fewer */
    LEAST_WAITS = 20,
    LONG_CALL = 100 * 1000, /* ns */
    LEAST_STEPS = 4,
    LONG_SILENCE = 30 * 1000 * 1000, /* ns */
    SHORT_RUN = 10 * 1000,           /* ns */
    SWITCH = 1000, /* ns that it takes to begin to run another goroutine, with its events */
    LEAST_TIME = 100 * 1000 * 1000, /* ns of a trace that can answer */
};

/* Waits for others who do not have what is waited for, but make it. */
#define FOR_ANSWERS   (1U << DO_JOIN | 1U << DO_CHANNEL | 1U << DO_COND)
#define SECOND        1e9
#define LEAST_QUEUE   1.3 /* goroutines that wait for one of a stage; helpers have at most one */
#define TINY          1e-9
#define MUCH_STOPPED  0.1
#define MOST_READY    0.5
#define MOST_OF_TASKS 2.2  /* times the share of the procs */
#define LEAST_BUSY    0.7  /* of the procs */
#define LEAST_WASTED  0.05 /* of the time of the procs */
#define MOST_SILENT   0.85 /* of a period: else one time without an event follows the other */

static double share_of(int64_t some, int64_t whole)
{
    return whole > 0 && some > 0 ? (double)some / (double)whole : 0;
}

static int64_t part_of(int64_t ns, double share)
{
    return share < 1 ? (int64_t)((double)ns * share) : ns;
}

static int64_t sum_of(const int64_t *ns, unsigned kinds)
{
    int64_t sum = 0;
    for (size_t k = 0; k < DO_KINDS; k++)
        if (kinds >> k & 1)
            sum = sum_of_times(sum, ns[k]);
    return sum;
}

static uint8_t largest_of(const int64_t *ns)
{
    uint8_t best = 0;
    for (uint8_t k = 1; k < DO_KINDS; k++)
        if (ns[k] > ns[best])
            best = k;
    return best;
}

typedef struct maker {
    diagnosis *d;
    const measures *m;
    wait_figure **waits; /* all, in an order that does not depend on the hash */
    size_t wait_count;
    int64_t *steps; /* from one silence to the next */
} maker;

static void maker_free(maker *k)
{
    free(k->waits);
    free(k->steps);
}

static int64_t time_of(const maker *k, const wait_figure *f)
{
    return k->d->tasks ? f->task_ns : f->ns;
}

static finding *finding_of(maker *k, finding_cause cause)
{
    return &k->d->list[cause];
}

static finding_base of_tasks(const maker *k)
{
    return k->m->of_function ? OF_CHOSEN : k->d->tasks ? OF_TASKS : OF_GOROUTINES;
}

/* What it costs, of the time of tasks or goroutines. */
static finding *cost(maker *k, finding_cause cause, int64_t ns)
{
    finding *f = finding_of(k, cause);
    f->of = (uint8_t)of_tasks(k);
    f->ns = ns;
    f->share = share_of(ns, k->d->base_ns);
    return f;
}

/* ---- waits ------------------------------------------------------------------------------------
 */

/* The function that waits: the innermost one that is not of a package that implements the wait. */
static uint32_t place_of(const measures *m, uint32_t stack)
{
    static const char *const below[] = {"sync.",  "internal/", "runtime.", "syscall.",
                                        "time.",  "net.",      "net/",     "os.",
                                        "bufio.", "io.",       "context.", "crypto/"};
    const size_t depth = stacks_depth(m->stacks, stack);
    for (size_t n = 0; n < depth; n++) {
        const uint32_t function = stacks_frame_at(m->stacks, stack, n)->function;
        size_t size, at = 0;
        const char *name = stacks_text(m->stacks, function, &size);
        while (at < sizeof below / sizeof *below &&
               (size < strlen(below[at]) || memcmp(name, below[at], strlen(below[at])) != 0))
            at++;
        if (at == sizeof below / sizeof *below)
            return function;
    }
    return depth ? stacks_frame_at(m->stacks, stack, 0)->function : 0;
}

/* Adds up the waits of these kinds; the evidence is that of the function with most of them. */
static void waits(maker *k, finding_cause cause, unsigned kinds, int64_t ns)
{
    finding *f = cost(k, cause, ns);
    const wait_figure *most = NULL;
    for (size_t i = 0; i < k->wait_count; i++) {
        const wait_figure *w = k->waits[i];
        if (kinds >> w->kind & 1 && (!most || time_of(k, w) > time_of(k, most)))
            most = w;
    }
    if (!most)
        return;
    f->stack = most->stack;
    f->function = place_of(k->m, most->stack);
    f->other_stack = most->during_stack.item;
    f->other = place_of(k->m, f->other_stack);
    f->during = largest_of(most->during);
    f->during_share = share_of(most->during[f->during], sum_of(most->during, ~0U));
    for (size_t i = 0; i < k->wait_count; i++) {
        const wait_figure *w = k->waits[i];
        if (!(kinds >> w->kind & 1) || place_of(k->m, w->stack) != f->function)
            continue;
        f->count += w->count;
        if (w->longest > f->longest) {
            f->longest = w->longest;
            f->at = w->longest_at;
            f->goroutine = w->longest_of;
        }
    }
}

static const wait_figure *wait_at(const maker *k, uint32_t stack)
{
    size_t low = 0, high = k->wait_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (k->waits[middle]->stack < stack)
            low = middle + 1;
        else
            high = middle;
    }
    return low < k->wait_count && k->waits[low]->stack == stack ? k->waits[low] : NULL;
}

/* The share of these waits in which the goroutine that ends them does that, or waits for one that
 * does: a client of HTTP waits for a goroutine of the library, which waits for the network. */
static double share_meanwhile(const maker *k, const wait_figure *w, activity_kind kind)
{
    enum { DEPTH = 4 };
    double share = 0, rest = 1;
    for (size_t n = 0; w && n < DEPTH; n++) {
        const int64_t all = sum_of(w->during, ~0U);
        share += rest * share_of(w->during[kind], all);
        rest *= share_of(sum_of(w->during, FOR_ANSWERS), all);
        w = w->during_stack.item ? wait_at(k, w->during_stack.item) : NULL;
    }
    return share;
}

/* The time that tasks wait for others which meanwhile do that. */
static int64_t while_others(const maker *k, activity_kind kind)
{
    int64_t ns = 0;
    for (size_t i = 0; k->d->tasks && i < k->wait_count; i++) {
        const wait_figure *w = k->waits[i];
        if (FOR_ANSWERS >> w->kind & 1 && w->task_ns > 0)
            ns = sum_of_times(ns, part_of(w->task_ns, share_meanwhile(k, w, kind)));
    }
    return ns;
}

static int64_t own_ns(const maker *k, activity_kind kind)
{
    return k->d->tasks ? sum_of_times(k->m->task_ns[kind], while_others(k, kind)) : k->m->ns[kind];
}

/* System calls that are made often; a goroutine that stays in one waits for a signal or input. */
static void system_calls(maker *k)
{
    int64_t ns = 0;
    for (size_t i = 0; i < k->wait_count; i++)
        if (k->waits[i]->kind == DO_SYSCALL && k->waits[i]->count >= LEAST_WAITS &&
            k->waits[i]->ns / (int64_t)k->waits[i]->count >= LONG_CALL)
            ns = sum_of_times(ns, time_of(k, k->waits[i]));
    waits(k, FINDING_SYSCALL, 1U << DO_SYSCALL, ns);
}

static void storm(maker *k)
{
    const wait_figure *most = NULL;
    for (size_t i = 0; i < k->wait_count; i++)
        if (!most || k->waits[i]->futile_ns > most->futile_ns)
            most = k->waits[i];
    if (!most || most->futile < LEAST_WAITS)
        return;
    finding *f = finding_of(k, FINDING_STORM);
    f->of = OF_GOROUTINES;
    f->ns = most->futile_ns;
    f->share = share_of(f->ns,
                        sum_of(k->m->ns, 1U << DO_RUN | 1U << DO_ASSIST | 1U << DO_RUNNABLE));
    f->count = most->futile;
    f->level = (double)most->futile / (double)most->count;
    f->stack = most->stack;
    f->function = place_of(k->m, most->stack);
}

/* ---- goroutines by start function ---------------------------------------------------------------
 */

static void bottleneck(maker *k)
{
    const measures *m = k->m;
    finding *f = finding_of(k, FINDING_CHANNEL);
    int64_t caused = 0;
    for (size_t i = 0; i < m->stages.count; i++)
        caused = sum_of_times(caused, ((const stage *)m->stages.items[i])->caused_ns);
    f->of = OF_TIME;
    for (size_t i = 0; i < m->stages.count; i++) {
        const stage *s = m->stages.items[i];
        const int64_t idle = sum_of(s->ns, DO_FOR_OTHERS);
        const double busy = 1 - share_of(idle, s->alive_ns);
        const double waited = share_of(s->caused_ns, caused);
        const double there = share_of(s->caused_ns, m->duration);
        const double share = busy * waited * (there < 1 ? there : 1);
        if (s->system || s->caused < LEAST_WAITS || share <= f->share ||
            share_of(s->caused_ns, s->alive_ns) < LEAST_QUEUE)
            continue;
        f->share = share;
        f->ns = s->caused_ns;
        f->count = s->caused;
        f->function = s->function;
        f->other = s->waiter.item;
        f->level = busy;
        f->rate = share_of(s->alive_ns, m->duration); /* goroutines */
        f->waiting = share_of(s->caused_ns, m->duration);
    }
}

/* A channel may limit how many do something at a time. Those who wait for it are of the function of
 * those who have it. */
static void semaphore(maker *k)
{
    const wait_figure *most = NULL;
    int64_t ns = 0;
    for (size_t i = 0; i < k->wait_count; i++) {
        ns = sum_of_times(ns, k->waits[i]->same_ns);
        if (!most || k->waits[i]->same_ns > most->same_ns)
            most = k->waits[i];
    }
    finding *f = finding_of(k, FINDING_CHANNEL);
    const double share = share_of(ns, k->d->base_ns);
    if (share <= f->share)
        return;
    *f = (finding){.cause = FINDING_CHANNEL,
                   .of = (uint8_t)of_tasks(k),
                   .share = share,
                   .ns = ns,
                   .count = most->count,
                   .function = place_of(k->m, most->stack),
                   .stack = most->stack,
                   .during = largest_of(most->during),
                   .during_share = 1,
                   .longest = most->longest,
                   .at = most->longest_at,
                   .goroutine = most->longest_of,
                   .waiting = share_of(ns, k->m->duration)};
}

static void leak(maker *k)
{
    finding *f = finding_of(k, FINDING_LEAK);
    uint64_t most = 0;
    f->of = OF_ALIVE;
    for (size_t i = 0; i < k->m->stages.count; i++) {
        const stage *s = k->m->stages.items[i];
        uint64_t made = 0, parts = 0;
        for (size_t n = 0; n < AGE_PARTS; n++) {
            made += s->ages[n];
            parts += s->ages[n] > 0;
        }
        if (s->system || made < LEAST_LEAKED || parts < LEAKED_PARTS || made <= most)
            continue;
        most = made;
        f->share = (double)made / (double)s->alive;
        f->count = made;
        f->level = (double)s->ended;
        f->function = s->function;
        f->other_stack = s->creator.item;
        f->other = place_of(k->m, s->creator.item);
        f->stack = s->last_stack.item;
        f->rate = (double)made * SECOND / (double)(k->m->duration > 0 ? k->m->duration : 1);
    }
}

static bool deadlocks(maker *k)
{
    finding *f = finding_of(k, FINDING_DEADLOCK);
    deadlock *d = &f->deadlock;
    uint64_t alive = 0;
    for (size_t i = 0; i < k->m->stages.count; i++) {
        const stage *s = k->m->stages.items[i];
        alive += s->system ? 0 : s->alive;
    }
    for (size_t i = 0; i < k->m->waiter_count; i++)
        alive += k->m->waiters[i].ended;
    f->of = OF_ALIVE;
    if (!deadlock_find(d, k->m))
        return false;
    if (d->count == 0)
        return true;
    f->share = alive > 0 ? (double)d->count / (double)alive : 0;
    f->count = d->count;
    f->ns = d->ns;
    f->longest = d->oldest.until - d->oldest.since;
    f->at = d->oldest.since;
    f->goroutine = d->oldest.goroutine;
    f->stack = d->cycle[0].stack;
    return true;
}

static void churn(maker *k)
{
    const measures *m = k->m;
    finding *f = finding_of(k, FINDING_CHURN);
    int64_t most = 0, ready = 0;
    f->of = OF_PROCS;
    for (size_t i = 0; i < m->stages.count; i++) {
        const stage *s = m->stages.items[i];
        const int64_t switches = (int64_t)(s->runs < INT64_MAX / SWITCH ? s->runs * SWITCH : 0);
        if (s->system || s->runs == 0 || s->ns[DO_RUN] / (int64_t)s->runs >= SHORT_RUN)
            continue;
        f->ns = sum_of_times(f->ns, switches);
        f->count += s->runs;
        ready = sum_of_times(ready, s->ns[DO_RUNNABLE]);
        if (switches <= most)
            continue;
        most = switches;
        f->function = s->function;
        f->level = (double)s->created;
    }
    f->share = share_of(f->ns, m->procs_ns);
    k->d->crowd = share_of(ready, m->ns[DO_RUNNABLE]);
    f->rate = (double)f->count * SECOND / (double)(m->duration > 0 ? m->duration : 1);
}

/* ---- procs, the process -------------------------------------------------------------------------
 */

static void procs(maker *k)
{
    const measures *m = k->m;
    const int64_t ready = m->saturated_ns, all = sum_of_times(ready, m->wasted_ns);
    const int64_t runs = sum_of(m->ns, 1U << DO_RUN | 1U << DO_ASSIST);
    finding *f = cost(k, FINDING_CPU, own_ns(k, DO_RUNNABLE));
    /* A task may begin only when its goroutine has waited for a proc. */
    if (k->d->ready > f->share) {
        f->of = OF_GOROUTINES;
        f->share = k->d->ready;
        f->ns = m->ns[DO_RUNNABLE];
    }
    /* What the collector takes is its finding. */
    f->share *= share_of(ready, m->ns[DO_RUNNABLE] > all ? m->ns[DO_RUNNABLE] : all) *
                (1 - k->d->gc);
    /* Who has much to do at a time and then nothing has enough procs. */
    if (k->d->busy + k->d->gc < LEAST_BUSY)
        f->share = 0;
    f = finding_of(k, FINDING_IDLE);
    f->of = OF_GOROUTINES;
    f->ns = m->wasted_ns;
    f->share = share_of(m->wasted_ns, sum_of_times(runs, m->ns[DO_RUNNABLE]));
    if (share_of(m->wasted_ns, m->procs_ns) < LEAST_WASTED)
        f->share = 0;
}

static int compare_times(const void *left, const void *right)
{
    const int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

/* Whether a step has so many periods, or up to four times as many. */
static bool is_multiple(int64_t step, int64_t period)
{
    const int64_t n = (step + period / 2) / period, off = step - n * period;
    return n >= 1 && n <= 4 && off < period / 5 && off > -period / 5;
}

/* The time from one of these silences to the next, if eight of ten are regular; else 0. all: also
 * those in which nothing was due, of which a program that does something from time to time has any
 * number. */
static int64_t period_of(const maker *k, bool all)
{
    const measures *m = k->m;
    int64_t *steps = k->steps, period = 0, ns = 0;
    const silence *before = NULL;
    size_t count = 0, regular = 0;
    for (size_t i = 0; i < m->silence_count; i++) {
        const silence *s = &m->silences[i];
        if (!s->due && !all)
            continue;
        if (before)
            steps[count++] = s->begin - before->begin;
        before = s;
        ns = sum_of_times(ns, s->ns);
    }
    if (count >= LEAST_STEPS) {
        qsort(steps, count, sizeof *steps, compare_times);
        period = steps[count / 4];
        for (size_t i = 0; i < count; i++)
            regular += period > 0 && is_multiple(steps[i], period);
    }
    const double silent = share_of(ns / (int64_t)(count + 1), period);
    return regular * 10 >= count * 8 && silent < MOST_SILENT ? period : 0;
}

/* A goroutine that runs may cause short times without an event, but not regularly with others in
 * between. If silences recur, those in which nothing was due are of the same cause. */
static void process(maker *k)
{
    const measures *m = k->m;
    finding *f = finding_of(k, FINDING_FROZEN);
    size_t due = 0;
    f->of = OF_TIME;
    for (size_t i = 0; i < m->silence_count; i++)
        due += m->silences[i].due;
    const bool all = due >= 2 && due * 6 >= m->silence_count && period_of(k, true) > 0;
    f->period = period_of(k, all);
    for (size_t i = 0; i < m->silence_count; i++) {
        const silence *s = &m->silences[i];
        if ((!s->due && !all) || (!f->period && s->ns < LONG_SILENCE))
            continue;
        f->ns = sum_of_times(f->ns, s->ns);
        f->count++;
        if (s->ns > f->longest) {
            f->longest = s->ns;
            f->at = s->begin;
        }
    }
    f->share = share_of(f->ns, m->end - m->begin);
    f = finding_of(k, FINDING_STOP);
    f->of = OF_TIME;
    f->ns = m->stops.ns;
    f->share = share_of(m->stops.ns, m->duration);
    f->count = m->stops.count;
    f->longest = m->stops.longest;
    f->at = m->stops.longest_at;
    f->goroutine = m->stops.by;
    f->other = m->stops.reason.item;
}

static void collector(maker *k)
{
    const measures *m = k->m;
    finding *f = finding_of(k, FINDING_GC_CPU);
    f->of = OF_PROCS;
    f->ns = sum_of_times(sum_of_times(m->worker_ns, m->sweep_ns), m->ns[DO_ASSIST]);
    f->share = k->d->gc;
    f->count = m->cycles;
    f->rate = (double)m->cycles * SECOND / (double)(m->duration > 0 ? m->duration : 1);
    f->level = m->live_sum ? (double)m->goal_sum / (double)m->live_sum - 1 : 0;
    if (k->d->tasks)
        cost(k, FINDING_GC_ASSIST, sum_of_times(m->task_ns[DO_ASSIST], m->task_ns[DO_GC]));
}

/* ---- all ----------------------------------------------------------------------------------------
 */

static int compare_waits(const void *left, const void *right)
{
    const wait_figure *a = *(wait_figure *const *)left, *b = *(wait_figure *const *)right;
    if (a->stack != b->stack)
        return a->stack < b->stack ? -1 : 1;
    return (a->kind > b->kind) - (a->kind < b->kind);
}

static bool list_waits(maker *k)
{
    const idmap *map = &k->m->waits;
    size_t cursor = 0;
    uint64_t key;
    void *value;
    k->waits = malloc((map->count + 1) * sizeof *k->waits);
    k->steps = malloc((k->m->silence_count + 1) * sizeof *k->steps);
    if (!k->waits || !k->steps)
        return false;
    while (idmap_next(map, &cursor, &key, &value))
        k->waits[k->wait_count++] = value;
    qsort(k->waits, k->wait_count, sizeof *k->waits, compare_waits);
    return true;
}

static int compare_findings(const void *left, const void *right)
{
    const finding *a = left, *b = right;
    if (a->reported != b->reported)
        return a->reported ? -1 : 1;
    if (a->rank < b->rank || a->rank > b->rank)
        return a->rank > b->rank ? -1 : 1;
    return (a->cause > b->cause) - (a->cause < b->cause);
}

/* The cause is before what it causes, if both are findings. */
static void rank_before(diagnosis *d, finding_cause cause, finding_cause effect)
{
    finding *f = &d->list[cause];
    if (f->reported && d->list[effect].reported && f->rank <= d->list[effect].rank)
        f->rank = d->list[effect].rank + TINY;
}

static void rank(diagnosis *d)
{
    d->list[FINDING_DEADLOCK].rank += 1;
    const double assists = d->list[FINDING_GC_ASSIST].share, gc = d->list[FINDING_GC_CPU].share;
    /* Assists are a part of what the collector takes, unless it is tasks that it takes most from.
     */
    if (assists < MOST_OF_TASKS * gc)
        rank_before(d, FINDING_GC_CPU, FINDING_GC_ASSIST);
    /* While the world is stopped, and where very many goroutines have something to do for a short
     * time, others wait for procs. */
    if (d->list[FINDING_STOP].share >= MUCH_STOPPED)
        rank_before(d, FINDING_STOP, FINDING_CPU);
    /* A task waits until others have waited for the network. */
    rank_before(d, FINDING_CHANNEL, FINDING_NETWORK);
    if (d->crowd >= MOST_READY)
        rank_before(d, FINDING_CHURN, FINDING_CPU);
}

static void find_base(diagnosis *d, const measures *m)
{
    const unsigned active = 1U << DO_RUN | 1U << DO_ASSIST | 1U << DO_RUNNABLE | 1U << DO_SYSCALL |
                            1U << DO_LOCK;
    d->of_function = m->of_function;
    d->task = m->task.item;
    d->tasks = m->tasks >= (m->chosen ? 1 : LEAST_TASKS);
    d->base_ns = d->tasks ? sum_of(m->task_ns, ~0U) : sum_of(m->ns, active);
    d->busy = share_of(sum_of(m->ns, 1U << DO_RUN | 1U << DO_ASSIST), m->procs_ns);
    d->gc = share_of(sum_of_times(sum_of_times(m->worker_ns, m->sweep_ns), m->ns[DO_ASSIST]),
                     m->procs_ns);
    d->gc = d->gc < 1 ? d->gc : 1; /* procs may work before their number is known */
    d->ready = share_of(m->ns[DO_RUNNABLE],
                        sum_of(m->ns, 1U << DO_RUN | 1U << DO_ASSIST | 1U << DO_RUNNABLE));
}

bool diagnosis_make(diagnosis *d, const measures *m)
{
    maker k = {.d = d, .m = m};
    memset(d, 0, sizeof *d);
    for (size_t i = 0; i < FINDING_CAUSE_COUNT; i++)
        d->list[i].cause = (uint8_t)i;
    if (!list_waits(&k) || !deadlocks(&k)) {
        maker_free(&k);
        return false;
    }
    find_base(d, m);
    waits(&k, FINDING_LOCK, 1U << DO_LOCK, own_ns(&k, DO_LOCK));
    if (d->tasks) {
        waits(&k, FINDING_NETWORK, 1U << DO_NETWORK, own_ns(&k, DO_NETWORK));
        waits(&k, FINDING_TIMER, 1U << DO_SLEEP, own_ns(&k, DO_SLEEP));
    }
    system_calls(&k);
    bottleneck(&k);
    semaphore(&k);
    procs(&k);
    process(&k);
    collector(&k);
    leak(&k);
    churn(&k);
    storm(&k);
    maker_free(&k);
    const bool is_short = m->end - m->begin < LEAST_TIME;
    for (size_t i = 0; i < FINDING_CAUSE_COUNT; i++) {
        finding *f = &d->list[i];
        f->share = f->share < 1 ? f->share : 1;
        f->rank = f->share;
        f->reported = !is_short && f->share > 0 && f->share >= finding_least_shares[i];
    }
    d->list[FINDING_LIMITS].reported = is_short;
    rank(d);
    qsort(d->list, FINDING_CAUSE_COUNT, sizeof *d->list, compare_findings);
    while (d->count < FINDING_CAUSE_COUNT && d->list[d->count].reported)
        d->count++;
    return true;
}
