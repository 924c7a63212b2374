/* figures.c - names and lists of figures. */
#include "formats/analyse/figures.h"

#include <stdlib.h>
#include <string.h>

#include "formats/common/vector.h"

const char *const cause_names[CAUSES] = {
    [CAUSE_CREATED] = "created",
    [CAUSE_WAITED] = "waited",
    [CAUSE_STOPPED] = "stopped",
    [CAUSE_SYSCALL] = "syscall",
};

const char *const cause_labels[CAUSES] = {
    [CAUSE_CREATED] = "created",
    [CAUSE_WAITED] = "end of a wait: ",
    [CAUSE_STOPPED] = "stopped running: ",
    [CAUSE_SYSCALL] = "end of a system call",
};

const char *const worker_labels[WORKER_KINDS] = {
    [WORKER_DEDICATED] = "GC (dedicated)",
    [WORKER_FRACTIONAL] = "GC (fractional)",
    [WORKER_IDLE] = "GC (idle)",
};

uint8_t worker_of_label(const gotrace_event *e)
{
    const gotrace_details *details = gotrace_event_details(e);
    for (uint8_t i = WORKER_DEDICATED; i < WORKER_KINDS; i++)
        if (strlen(worker_labels[i]) == details->text_size &&
            memcmp(worker_labels[i], details->text, details->text_size) == 0)
            return i;
    return WORKER_NONE;
}

const char *const proc_state_names[PROC_STATES] = {
    [PROC_IDLE] = "idle", [PROC_SCHEDULER] = "scheduler", [PROC_RUNS] = "goroutine",
    [PROC_GC] = "gc",     [PROC_ASSIST] = "assist",       [PROC_SYSCALL] = "syscall",
};

/* ---- times and figures ------------------------------------------------------------------------
 */

/* The time blocked, or in ranges, for all reasons. */
static int64_t sum_of_parts(const times *t, bool ranges)
{
    int64_t sum = 0;
    for (size_t i = 0; i < t->count; i++)
        if (t->parts[i].is_range == ranges)
            sum = (int64_t)((uint64_t)sum + (uint64_t)t->parts[i].ns);
    return sum;
}

int64_t times_known(const times *t)
{
    int64_t known = t->ns[TIME_EXEC] + t->ns[TIME_SCHED_WAIT] + t->ns[TIME_SYSCALL] +
                    t->ns[TIME_SYSCALL_BLOCK];
    for (size_t i = 0; i < t->count; i++)
        known += t->parts[i].is_range ? 0 : t->parts[i].ns;
    return known;
}

static int64_t unknown_time(const times *t)
{
    const int64_t known = times_known(t);
    return known < t->ns[TIME_TOTAL] ? t->ns[TIME_TOTAL] - known : 0;
}

int64_t times_of(const times *t, unsigned time)
{
    switch (time) {
    case TIME_BLOCK: return sum_of_parts(t, false);
    case TIME_RANGE: return sum_of_parts(t, true);
    case TIME_UNKNOWN: return unknown_time(t);
    default: return t->ns[time];
    }
}

histogram figure_time(const function_figure *f, uint32_t time)
{
    for (size_t i = 0; i < f->time_count; i++)
        if (f->times[i].kind == FIGURE_TIME && f->times[i].name == time)
            return value_set_histogram(&f->times[i]);
    return (histogram){0};
}

int64_t figure_sum(const function_figure *f, uint32_t time)
{
    const uint8_t kind = time == TIME_BLOCK ? FIGURE_BLOCK : FIGURE_RANGE;
    int64_t sum = 0;
    if (time_columns[time].label)
        return figure_time(f, time).sum;
    for (size_t i = 0; i < f->time_count; i++)
        if (f->times[i].kind == kind)
            sum = sum_of_times(sum, value_set_histogram(&f->times[i]).sum);
    return sum;
}

statistics *statistics_new(const statistics_each *each, stacks_detail detail)
{
    statistics *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->each = each;
    s->stacks = stacks_new(detail);
    if (!s->stacks) {
        free(s);
        return NULL;
    }
    return s;
}

/* ---- lists of figures -------------------------------------------------------------------------
 */

static bool reserve_name(figures *f, uint32_t name)
{
    uint32_t *by_name = vector_zeroed(f->by_name, &f->names, name, sizeof *by_name);
    f->by_name = by_name ? by_name : f->by_name;
    return by_name;
}

void *stat_make_figure(figures *f, uint32_t name, size_t size)
{
    if (!reserve_name(f, name))
        return NULL;
    void **items = vector_room(f->items, &f->room, f->count, sizeof *items);
    if (!items)
        return NULL;
    f->items = items;
    uint32_t *made = calloc(1, size);
    if (!made)
        return NULL;
    *made = name;
    items[f->count++] = made;
    f->by_name[name] = (uint32_t)f->count;
    return made;
}

void figures_free(figures *f, void (*free_item)(void *item))
{
    for (size_t i = 0; i < f->count; i++) {
        if (free_item)
            free_item(f->items[i]);
        free(f->items[i]);
    }
    free(f->items);
    free(f->by_name);
}

static void free_function(void *item)
{
    function_figure *f = item;
    for (size_t i = 0; i < f->time_count; i++)
        value_set_free(&f->times[i]);
    value_set_free(&f->latency);
    free(f->times);
}

static void free_latency(void *item)
{
    histogram_free(&((latency_figure *)item)->values);
}

static void free_span(void *item)
{
    histogram_free(&((span_figure *)item)->values);
}

static void free_stop(void *item)
{
    histogram_free(&((stop_figure *)item)->values);
}

void statistics_free(statistics *s)
{
    if (!s)
        return;
    figures_free(&s->functions, free_function);
    figures_free(&s->tasks, free_span);
    figures_free(&s->regions, free_span);
    figures_free(&s->stops, free_stop);
    for (size_t i = 0; i < s->reason_count; i++)
        histogram_free(&s->reasons[i].values);
    for (size_t i = 0; i < CAUSES; i++)
        figures_free(&s->causes[i], free_latency);
    for (size_t i = 0; i < s->trace_count; i++) {
        free(s->traces[i].name);
        free(s->traces[i].procs);
    }
    histogram_free(&s->latency);
    stacks_free(s->stacks);
    free(s->traces);
    free(s->reasons);
    free(s->by_stack);
    free(s->of_stack);
    free(s->samples);
    free(s);
}
