/* events.c - ranges, logs, CPU samples and metrics. */
#include "formats/parquet/parquet.h"

#include <stdlib.h>

#include "formats/common/rows_by_meaning.h"

/* ---- ranges -----------------------------------------------------------------------------------
 */

/* What a range is one of: a goroutine, a proc, or the whole program. */
static uint64_t range_key(const tables *t, const gotrace_event *e)
{
    int version = t->s->traces[0].version;
    bool active = e->kind == GOTRACE_KIND_RANGE_ACTIVE;
    if (e->range == GOTRACE_RANGE_STW && version < ONE_STOP_SINCE)
        return (uint64_t)e->proc;
    switch (range_owner(e->range)) {
    case GOTRACE_RESOURCE_PROC: return active ? e->subject : (uint64_t)e->proc;
    case GOTRACE_RESOURCE_GOROUTINE: return active ? e->subject : e->goroutine;
    case GOTRACE_RESOURCE_NONE: break;
    }
    return 0; /* of the whole program */
}

/* e: what ends it; NULL: the end of the trace. */
static void add_range_row(tables *t, uint8_t range, const open_range *r, const gotrace_event *e)
{
    enum table_number n = TABLE_ranges;
    const gotrace_details *details = e ? gotrace_event_details(e) : NULL;
    bool swept = e && range == GOTRACE_RANGE_SWEEP && details->arg_count >= 2;
    bool whole = e && r->begin != PARQUET_NULL;
    const int64_t cells[ranges_columns] = {
        [ranges_trace] = name_cell(t, n, t->name),
        [ranges_name] = name_cell(t, n, t->ranges[range]),
        [ranges_reason] = name_cell(t, n, r->reason),
        [ranges_start_time_ns] = r->begin,
        [ranges_end_time_ns] = e ? t->time : PARQUET_NULL,
        [ranges_duration_ns] = whole ? t->time - r->begin : PARQUET_NULL,
        [ranges_g] = r->goroutine,
        [ranges_m] = r->thread,
        [ranges_p] = proc_cell(r->proc),
        [ranges_stack_id] = id_cell(r->stack),
        [ranges_swept_bytes] = swept ? (int64_t)details->args[0] : PARQUET_NULL,
        [ranges_reclaimed_bytes] = swept ? (int64_t)details->args[1] : PARQUET_NULL,
    };
    add_row(t, n, cells);
}

static open_range range_of(tables *t, const watched_event *w)
{
    const gotrace_event *e = w->e;
    bool active = e->kind == GOTRACE_KIND_RANGE_ACTIVE;
    bool of_goroutine = active && range_owner(e->range) == GOTRACE_RESOURCE_GOROUTINE;
    bool of_proc = active && range_owner(e->range) == GOTRACE_RESOURCE_PROC;
    return (open_range){.begin = e->kind == GOTRACE_KIND_RANGE_BEGIN ? t->time : PARQUET_NULL,
                        .goroutine = id_cell(of_goroutine ? e->subject : e->goroutine),
                        .proc = of_proc ? (int64_t)e->subject : e->proc,
                        .thread = e->thread,
                        .reason = gotrace_event_reason(e)
                                      ? stacks_reason(t->s->stacks, gotrace_event_reason(e))
                                      : 0,
                        .stack = e->kind == GOTRACE_KIND_RANGE_BEGIN ? stack_of(t, e) : 0,
                        .counted = w->selected};
}

void add_range(tables *t, const watched_event *w)
{
    const gotrace_event *e = w->e;
    if (e->flags & GOTRACE_EVENT_NO_BEGIN)
        return;
    idmap *open = &t->open[e->range];
    uint64_t key = range_key(t, e);
    open_range *r = idmap_find(open, key);
    if (e->kind == GOTRACE_KIND_RANGE_END) {
        open_range made = r ? *r : range_of(t, w);
        if (made.counted)
            add_range_row(t, e->range, &made, e);
        if (r)
            idmap_remove(open, key);
        return;
    }
    /* Each generation repeats which ranges are active. */
    if (r && e->kind == GOTRACE_KIND_RANGE_ACTIVE)
        return;
    r = idmap_insert(open, key);
    if (r)
        *r = range_of(t, w);
    else
        t->failed = true;
}

void end_ranges(tables *t)
{
    for (uint8_t range = GOTRACE_RANGE_GC; range < GOTRACE_RANGES; range++) {
        idmap *open = &t->open[range];
        uint64_t *ids = idmap_sorted_keys(open);
        if (!ids && open->count > 0)
            t->failed = true;
        for (size_t i = 0; ids && i < open->count; i++) {
            const open_range *r = idmap_find(open, ids[i]);
            if (r->counted)
                add_range_row(t, range, r, NULL);
        }
        free(ids);
    }
}

/* ---- what happens at one time -----------------------------------------------------------------
 */

#define PLACE_CELLS(t, table, e)                                                                   \
    [table##_g] = id_cell((e)->goroutine), [table##_m] = (e)->thread,                              \
    [table##_p] = proc_cell((e)->proc), [table##_stack_id] = id_cell(stack_of(t, e))

static int64_t log_cell(tables *t, const char *text, size_t size)
{
    if (stacks_is_lost(t->s->stacks, text, size))
        return name_cell(t, TABLE_logs, stacks_name(t->s->stacks, text, size));
    return text_cell(t, TABLE_logs, text, size);
}

void add_log(tables *t, const gotrace_event *e)
{
    const gotrace_details *details = gotrace_event_details(e);
    const int64_t cells[logs_columns] = {
        [logs_trace] = name_cell(t, TABLE_logs, t->name),
        [logs_time_ns] = t->time,
        [logs_task] = id_cell(e->subject),
        [logs_category] = log_cell(t, details->text, details->text_size),
        [logs_message] = log_cell(t, details->message, details->message_size),
        PLACE_CELLS(t, logs, e)};
    add_row(t, TABLE_logs, cells);
    t->logs++;
}

void add_sample(tables *t, const gotrace_event *e)
{
    const int64_t cells[samples_columns] = {[samples_trace] = name_cell(t, TABLE_samples, t->name),
                                            [samples_time_ns] = t->time,
                                            PLACE_CELLS(t, samples, e)};
    add_row(t, TABLE_samples, cells);
    t->samples++;
}

void add_metric(tables *t, const gotrace_event *e)
{
    const char *name = gotrace_metric_name(gotrace_event_metric(e));
    const int64_t cells[metrics_columns] = {
        [metrics_trace] = name_cell(t, TABLE_metrics, t->name),
        [metrics_time_ns] = t->time,
        [metrics_name] = text_cell(t, TABLE_metrics, name, strlen(name)),
        [metrics_value] = (int64_t)gotrace_event_value(e),
        PLACE_CELLS(t, metrics, e)};
    add_row(t, TABLE_metrics, cells);
}
