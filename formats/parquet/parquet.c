/* parquet.c - traces as tables in Parquet files. */
#include "formats/parquet/parquet.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/common/vector.h"

/* ---- cells ------------------------------------------------------------------------------------
 */

/* Makes room for the cell of that name. */
static bool reserve_cell(open_table *own, uint32_t name)
{
    while (name >= own->room) {
        size_t room = own->room;
        cell *cells = vector_room(own->cells, &own->room, room, sizeof *cells);
        if (!cells)
            return false;
        own->cells = cells;
        memset(cells + room, 0, (own->room - room) * sizeof *cells);
    }
    return true;
}

int64_t add_name_cell(tables *t, enum table_number n, uint32_t name)
{
    open_table *own = &t->list[n];
    size_t size;
    const char *text = stacks_text(t->s->stacks, name, &size);
    int64_t made = parquet_text(own->file, text, size);
    if (reserve_cell(own, name))
        own->cells[name] = (cell){*own->group, (uint32_t)made};
    else
        t->failed = true;
    return made;
}

int64_t text_cell(tables *t, enum table_number n, const char *text, size_t size)
{
    return parquet_text(t->list[n].file, text ? text : "", size);
}

/* ---- the pass ---------------------------------------------------------------------------------
 */

/* The wall clock is known from the first sync, the start of the trace from the first event that is
 * not one. Ticks and arguments are those of the reader until then, see feed.h. */
static void find_start(tables *t, const gotrace_event *e)
{
    const gotrace_details *details = gotrace_event_details(e);
    const int64_t nano = 1000000000;
    if (t->begun)
        return;
    if (e->kind != GOTRACE_KIND_SYNC) {
        t->begun = true;
        int64_t before = (int64_t)(t->wall_at -
                                   gotrace_reader_summary(t->s->stacks->source->reader)->start);
        if (t->wall && !__builtin_sub_overflow(t->wall_ns, before, &t->wall_start))
            return;
        t->wall_start = PARQUET_NULL;
    } else if (!t->wall && (e->flags & GOTRACE_EVENT_CLOCKS) && details->args[2] <= INT32_MAX &&
               details->args[3] < (uint64_t)nano) {
        t->wall = true;
        t->wall_at = details->args[0];
        t->wall_ns = (int64_t)details->args[2] * nano + (int64_t)details->args[3];
    }
}

static void watch_interval(void *ctx, const goroutine *g, const interval *i, const gotrace_event *e)
{
    add_g_interval(ctx, g, i, e);
}

/* Sets the time of an event: its own, in the time range, and not before the one of the last event,
 * to which a broken clock may go back. The sync that ends a trace is later than its end. */
static void advance(tables *t, const gotrace_event *e)
{
    const select_job *select = t->job->select;
    int64_t time = e->time;
    if (select && time < select->range.from)
        time = select->range.from;
    if (select && time > select->range.until)
        time = select->range.until;
    t->time = time > t->time ? time : t->time;
}

static bool watch_event(void *ctx, const watched_event *w)
{
    tables *t = ctx;
    const gotrace_event *e = w->e;
    bool inside = w->place == STATES_INSIDE && w->selected;
    if (e->kind != GOTRACE_KIND_SYNC)
        advance(t, e);
    find_start(t, e);
    switch ((gotrace_kind)e->kind) {
    case GOTRACE_KIND_TRANSITION:
        if (e->resource == GOTRACE_RESOURCE_PROC)
            add_p_transition(t, w);
        else if (inside && e->resource == GOTRACE_RESOURCE_GOROUTINE && e->subject &&
                 e->from == GOTRACE_STATE_NOT_EXIST && e->to != GOTRACE_STATE_NOT_EXIST)
            add_g_creation(t, w);
        break;
    case GOTRACE_KIND_RANGE_BEGIN:
    case GOTRACE_KIND_RANGE_END:
    case GOTRACE_KIND_RANGE_ACTIVE: add_range(t, w); break;
    case GOTRACE_KIND_LOG:
        if (inside)
            add_log(t, e);
        break;
    case GOTRACE_KIND_SAMPLE:
        if (inside)
            add_sample(t, e);
        break;
    case GOTRACE_KIND_METRIC:
        if (inside)
            add_metric(t, e);
        break;
    case GOTRACE_KIND_NONE:
    case GOTRACE_KIND_SYSCALL:
    case GOTRACE_KIND_LABEL:
    case GOTRACE_KIND_TASK_BEGIN:
    case GOTRACE_KIND_TASK_END:
    case GOTRACE_KIND_REGION_BEGIN:
    case GOTRACE_KIND_REGION_END:
    case GOTRACE_KIND_SYNC:
    case GOTRACE_KIND_EXPERIMENT: break;
    }
    return !t->failed;
}

static void begin_trace(tables *t)
{
    stacks *names = t->s->stacks;
    t->name = stacks_name(names, t->job->name, strlen(t->job->name));
    for (size_t i = 0; i < STATE_NAMES; i++) {
        const char *name = gotrace_state_name((gotrace_state)i);
        t->states[i] = stacks_name(names, name, strlen(name));
    }
    for (size_t i = GOTRACE_RANGE_GC; i < GOTRACE_RANGES; i++) {
        const char *name = gotrace_range_name((gotrace_range)i);
        t->ranges[i] = stacks_name(names, name, strlen(name));
        idmap_init(&t->open[i], sizeof(open_range));
    }
    for (size_t i = 0; i < TABLE_COUNT; i++) {
        free(t->list[i].cells);
        t->list[i].cells = NULL;
        t->list[i].room = 0;
    }
    idmap_init(&t->procs, sizeof(proc_state));
    t->time = 0;
    t->wall = t->begun = false;
    t->wall_start = PARQUET_NULL;
    t->samples = t->logs = t->tasks = t->regions = 0;
}

static void end_trace(tables *t)
{
    if (!t->failed && !t->s->failed && !(t->job->select && t->job->select->too_hard)) {
        end_procs(t);
        end_ranges(t);
        add_stacks(t);
        fill_trace(t);
        t->start = t->traces++ == 0 ? t->wall_start : PARQUET_NULL;
    }
    t->failed = t->failed || t->s->failed || t->s->stacks->failed;
    for (size_t i = GOTRACE_RANGE_GC; i < GOTRACE_RANGES; i++)
        idmap_free(&t->open[i]);
    idmap_free(&t->procs);
}

/* ---- files ------------------------------------------------------------------------------------
 */

static void end_tables(convert_folder *folder, bool keep)
{
    tables *t = folder->state;
    char text[32];
    if (!t)
        return;
    for (size_t i = 0; i < TABLE_COUNT; i++) {
        open_table *own = &t->list[i];
        if (own->out && t->failed)
            out_fail(own->out, ENOMEM);
        if (own->file && keep && t->start != PARQUET_NULL) {
            snprintf(text, sizeof text, "%" PRId64, t->start);
            parquet_metadata(own->file, "gotrace.start_unix_ns", text);
        }
        if (own->file)
            parquet_end(own->file, keep);
        free(own->cells);
    }
    parquet_encoder_free(t->encoder);
    free(t);
    folder->state = NULL;
}

/* All cells are null. */
static void clear_row(tables *t)
{
    for (size_t i = 0; i < trace_columns; i++)
        t->row[i] = PARQUET_NULL;
}

/* Opens the files, unless they are open; NULL if that fails. */
static tables *begin_tables(const convert_job *job)
{
    convert_folder *folder = job->folder;
    tables *t = folder->state;
    if (t)
        return t;
    t = folder->state = calloc(1, sizeof *t);
    if (!t) {
        folder->failed = true;
        return NULL;
    }
    t->start = PARQUET_NULL;
    t->encoder = parquet_encoder_new(job->threads > 1);
    folder->failed = !t->encoder;
    clear_row(t);
    for (size_t i = 0; i < TABLE_COUNT && !folder->failed; i++) {
        const parquet_table *which = &parquet_tables[i];
        open_table *own = &t->list[i];
        own->out = folder->open(folder->ctx, which->name);
        if (!own->out)
            return NULL;
        own->file = parquet_begin(t->encoder, own->out, which->columns, which->count);
        folder->failed = !own->file;
        own->group = own->file ? parquet_group(own->file) : NULL;
    }
    return folder->failed ? NULL : t;
}

static gotrace_status convert_to_parquet(const convert_job *job)
{
    tables *t = begin_tables(job);
    if (!t)
        return GOTRACE_END;
    statistics_each each = table_each;
    const statistics_watch watch = {.ctx = t,
                                    .interval = watch_interval,
                                    .event = watch_event,
                                    .kinds = UINT32_MAX,
                                    .rows_only = true};
    gotrace_status status = GOTRACE_END;
    each.ctx = t;
    t->job = job;
    t->s = statistics_new(&each, STACKS_BY_ADDRESS);
    if (!t->s) {
        t->failed = true;
        return status;
    }
    begin_trace(t);
    t->s->watch = &watch;
    t->s->several = true;
    status = statistics_add(t->s, job->reader, job->name, job->threads, job->select);
    end_trace(t);
    statistics_free(t->s);
    t->s = NULL;
    return status;
}

static void end_row(const convert_job *job, const convert_verdict *verdict)
{
    tables *t = begin_tables(job);
    if (!t || t->failed)
        return;
    add_trace(t, job, verdict);
    clear_row(t);
}

const format format_parquet = {
    .name = "parquet",
    .extensions = (const char *const[]){NULL},
    .summary = "tables for DuckDB, ClickHouse, Spark and the like",
    .binary = true,
    .several = true,
    .report = true,
    .viewer_bytes = UINT64_MAX,
    .run = convert_to_parquet,
    .end_trace = end_row,
    .end_folder = end_tables,
};
