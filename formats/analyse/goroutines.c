/* goroutines.c - times of goroutines, and figures of their functions, waits and latencies. */
#include <stdlib.h>
#include <string.h>

#include "formats/analyse/statistics_run.h"
#include "formats/common/vector.h"

/* ---- times ------------------------------------------------------------------------------------
 */

void times_free(times *t)
{
    free(t->parts);
    *t = (times){0};
}

part *times_make_part(run *r, times *t, uint32_t name, bool is_range)
{
    part *parts = vector_room(t->parts, &t->room, t->count, sizeof *parts);
    if (!parts) {
        run_fail(r);
        return NULL;
    }
    t->parts = parts;
    parts[t->count] = (part){.name = name, .is_range = is_range, .since = STATES_NEVER};
    return &parts[t->count++];
}

void times_snapshot(run *r, const stat_goroutine *g, times *copy)
{
    *copy = g->times;
    copy->parts = NULL;
    copy->room = 0;
    if (copy->count > 0) {
        copy->parts = malloc(copy->count * sizeof *copy->parts);
        if (!copy->parts) {
            run_fail(r);
            copy->count = 0;
            return;
        }
        memcpy(copy->parts, g->times.parts, copy->count * sizeof *copy->parts);
        copy->room = copy->count;
    }
    for (size_t i = 0; i < copy->count; i++)
        if (copy->parts[i].since != STATES_NEVER)
            copy->parts[i].ns += r->states.time - copy->parts[i].since;
    interval now = g->g.current;
    now.end = r->states.time;
    if (now.lost == STATES_NEVER)
        now.lost = now.end;
    if (now.state != GOTRACE_STATE_UNDETERMINED && now.state != GOTRACE_STATE_NOT_EXIST)
        times_add(r, copy, &now);
    copy->ns[TIME_TOTAL] = r->states.time - g->g.created;
}

void times_subtract(times *t, const times *before)
{
    for (size_t i = 0; i < TIME_RECORDED; i++)
        t->ns[i] -= before->ns[i];
    for (size_t i = 0; i < before->count; i++)
        for (size_t k = 0; k < t->count; k++)
            if (t->parts[k].name == before->parts[i].name &&
                t->parts[k].is_range == before->parts[i].is_range)
                t->parts[k].ns -= before->parts[i].ns;
}

/* ---- by function ------------------------------------------------------------------------------
 */

static inline void add_value(run *r, histogram *h, int64_t value)
{
    if (!histogram_add(h, value))
        run_fail(r);
}

static inline void add_to_set(run *r, value_set *set, int64_t value)
{
    if (!value_set_add(set, value))
        run_fail(r);
}

/* Makes room for that many more; false if memory is refused. There may be as many functions as
 * goroutines, with few times each. */
static bool reserve_times(function_figure *f, size_t more)
{
    if (f->time_count + more <= f->time_room)
        return true;
    size_t larger = f->time_room ? 2 * (f->time_count + more) : more;
    value_set *list = larger <= UINT16_MAX ? reallocarray(f->times, larger, sizeof *list) : NULL;
    if (!list)
        return false;
    f->times = list;
    f->time_room = (uint16_t)larger;
    return true;
}

static void add_time(run *r, function_figure *f, uint8_t kind, uint32_t name, int64_t value)
{
    size_t i = 0;
    while (i < f->time_count && (f->times[i].name != name || f->times[i].kind != kind))
        i++;
    if (i == f->time_count) {
        if (!reserve_times(f, 1)) {
            run_fail(r);
            return;
        }
        f->times[f->time_count++] = (value_set){.kind = kind, .name = name};
    }
    add_to_set(r, &f->times[i], value);
}

/* How many values a goroutine has; of times those that are not 0. */
static size_t count_values(const int64_t values[TIME_COUNT], const times *t)
{
    size_t count = t->count;
    for (uint32_t i = 0; i < TIME_COUNT; i++)
        count += values[i] != 0;
    return count;
}

void stat_goroutine_ended(run *r, stat_goroutine *g, bool ended)
{
    const times *t = &g->times;
    function_figure *f = stat_figure(&r->all->functions, g->g.function, sizeof *f);
    if (!f) {
        run_fail(r);
        return;
    }
    int64_t values[TIME_COUNT];
    for (uint32_t i = 0; i < TIME_COUNT; i++)
        values[i] = time_columns[i].label ? times_of(t, i) : 0;
    /* Many functions have one goroutine. */
    if (f->count++ == 0 && !reserve_times(f, count_values(values, t)))
        run_fail(r);
    f->created += g->made;
    f->ended += ended;
    for (uint32_t i = 0; i < TIME_COUNT; i++)
        if (values[i] != 0)
            add_time(r, f, FIGURE_TIME, i, values[i]);
    for (size_t i = 0; i < t->count; i++) {
        /* Where a range is in the selected part of the time is not known. */
        if (t->parts[i].is_range && r->parts_only)
            continue;
        add_time(r, f, t->parts[i].is_range ? FIGURE_RANGE : FIGURE_BLOCK, t->parts[i].name,
                 t->parts[i].ns);
        if (t->parts[i].is_range && t->parts[i].name == r->assist_name)
            r->figure->assist_ns = sum_of_times(r->figure->assist_ns, t->parts[i].ns);
        if (t->parts[i].is_range && t->parts[i].name == r->sweep_name)
            r->figure->sweep_ns = sum_of_times(r->figure->sweep_ns, t->parts[i].ns);
    }
}

/* ---- waits ------------------------------------------------------------------------------------
 */

static uint32_t reason_index(run *r, const interval *i)
{
    statistics *s = r->all;
    for (size_t n = 0; n < s->reason_count; n++)
        if (s->reasons[n].reason == i->reason && s->reasons[n].state == i->state)
            return (uint32_t)n;
    reason_figure *reasons = vector_room(s->reasons, &s->reason_room, s->reason_count,
                                         sizeof *reasons);
    if (!reasons) {
        run_fail(r);
        return 0;
    }
    s->reasons = reasons;
    reasons[s->reason_count] = (reason_figure){.state = i->state, .reason = i->reason};
    return (uint32_t)s->reason_count++;
}

/* Grows an array that is indexed by the number of a stack; false if memory is refused. */
static bool reserve_stack(void **items, size_t *room, uint32_t stack, size_t size)
{
    void *moved = vector_zeroed(*items, room, stack, size);
    *items = moved ? moved : *items;
    return moved;
}

/* The figure of the interval's stack, state and reason. */
static stack_figure *stack_figure_of(run *r, const interval *i)
{
    statistics *s = r->all;
    if (!reserve_stack((void **)&s->of_stack, &s->of_stack_room, i->stack, sizeof *s->of_stack))
        return NULL;
    for (uint32_t n = s->of_stack[i->stack]; n; n = s->by_stack[n - 1].next) {
        const reason_figure *reason = &s->reasons[s->by_stack[n - 1].reason];
        if (reason->reason == i->reason && reason->state == i->state)
            return &s->by_stack[n - 1];
    }
    stack_figure *list = vector_room(s->by_stack, &s->by_stack_room, s->by_stack_count,
                                     sizeof *list);
    if (!list)
        return NULL;
    s->by_stack = list;
    uint32_t reason = reason_index(r, i);
    if (s->failed)
        return NULL;
    list[s->by_stack_count++] = (stack_figure){
        .reason = reason, .stack = i->stack, .next = s->of_stack[i->stack]};
    s->of_stack[i->stack] = (uint32_t)s->by_stack_count;
    return &list[s->by_stack_count - 1];
}

/* The same for one that was found before, which is most of them: events without a stack have many
 * figures. */
static inline stack_figure *recent_stack_figure(run *r, const interval *i)
{
    statistics *s = r->all;
    const uint32_t mixed = i->stack + i->reason * 8 + i->state;
    recent_wait *recent = &s->recent[mixed % STAT_RECENT];
    if (recent->figure != 0 && recent->stack == i->stack && recent->reason == i->reason &&
        recent->state == i->state)
        return &s->by_stack[recent->figure - 1];
    stack_figure *f = stack_figure_of(r, i);
    if (f)
        *recent = (recent_wait){i->stack, i->reason, (uint32_t)(f - s->by_stack) + 1, i->state};
    return f;
}

void stat_wait(run *r, const interval *i)
{
    int64_t ns = i->end - i->begin;
    stack_figure *f = recent_stack_figure(r, i);
    if (!f) {
        run_fail(r);
        return;
    }
    f->count++;
    f->sum = sum_of_times(f->sum, ns);
    f->max = ns > f->max ? ns : f->max;
    add_value(r, &r->all->reasons[f->reason].values, ns);
}

/* ---- scheduling -------------------------------------------------------------------------------
 */

void stat_slow(slow *list, size_t *count, size_t room, const slow *made)
{
    size_t at = *count;
    if (at == room && made->ns <= list[at - 1].ns)
        return;
    at -= at == room;
    *count = at + 1;
    for (; at > 0 && list[at - 1].ns < made->ns; at--)
        list[at] = list[at - 1];
    list[at] = *made;
}

void stat_runnable(run *r, stat_goroutine *g, const interval *i)
{
    g->cause = !i                                  ? CAUSE_CREATED
               : i->state == GOTRACE_STATE_WAITING ? CAUSE_WAITED
               : i->state == GOTRACE_STATE_SYSCALL ? CAUSE_SYSCALL
                                                   : CAUSE_STOPPED;
    g->waited = g->cause == CAUSE_WAITED ? i->reason : 0;
    g->procs = r->procs_time;
}

/* How long all procs were in a state from a time until another one. */
static int64_t time_between(const procs_time *from, int64_t begin, const procs_time *to,
                            int64_t end, size_t state)
{
    const uint64_t before = from->since[state] + from->busy[state] * (uint64_t)begin;
    return (int64_t)(to->since[state] + to->busy[state] * (uint64_t)end - before);
}

/* Adds a delay to the longest. */
static void add_delay(run *r, const stat_goroutine *g, const interval *i)
{
    statistics *s = r->all;
    const int64_t ns = i->end - i->begin;
    size_t at = s->worst_count < WORST ? s->worst_count++ : WORST - 1;
    for (; at > 0 && s->worst[at - 1].slow.ns < ns; at--)
        s->worst[at] = s->worst[at - 1];
    s->worst[at].slow = (slow){.ns = ns,
                               .begin = i->begin,
                               .id = g->g.id,
                               .cause = i->cause,
                               .function = g->g.function,
                               .stack = i->stack,
                               .trace = r->index};
    for (size_t k = 0; k < PROC_STATES; k++)
        s->worst[at].procs_ns[k] = time_between(&g->procs, i->begin, &r->procs_time, i->end, k);
}

/* Latencies of a function; NULL if memory is refused. */
static value_set *latencies_of(run *r, uint32_t function)
{
    function_figure *f = stat_figure(&r->all->functions, function, sizeof *f);
    if (!f)
        run_fail(r);
    return f ? &f->latency : NULL;
}

/* The last label that a goroutine had is its name, also of what was before. */
static void label_delays(statistics *s, uint32_t trace, const goroutine *g)
{
    for (size_t i = 0; g->label && i < s->worst_count; i++)
        if (s->worst[i].slow.id == g->id && s->worst[i].slow.trace == trace)
            s->worst[i].slow.label = g->label;
}

void stat_latency_early(run *r, stat_goroutine *g)
{
    statistics *s = r->all;
    label_delays(s, r->index, &g->g);
    if (g->early.stored == VALUES_NONE)
        return;
    value_set *set = latencies_of(r, g->g.function);
    if (!set || !value_set_move(set, &g->early)) {
        value_set_free(&g->early);
        run_fail(r);
    }
    for (size_t i = 0; i < s->worst_count; i++) {
        slow *w = &s->worst[i].slow;
        if (w->id == g->g.id && w->trace == r->index && w->function == 0)
            w->function = g->g.function;
    }
}

void stat_latency(run *r, stat_goroutine *g, const interval *i)
{
    statistics *s = r->all;
    const int64_t ns = i->end - i->begin;
    latency_figure *f = stat_figure(&s->causes[g->cause],
                                    g->cause == CAUSE_STOPPED ? i->reason : g->waited, sizeof *f);
    value_set *set = g->g.function ? latencies_of(r, g->g.function) : &g->early;
    if (!f || !set) {
        run_fail(r);
        return;
    }
    add_value(r, &f->values, ns);
    add_to_set(r, set, ns);
    if (s->worst_count < WORST || ns > s->worst[WORST - 1].slow.ns)
        add_delay(r, g, i);
}
