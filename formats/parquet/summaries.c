/* summaries.c - goroutines, tasks, regions, stacks, and the trace itself. */
#include "formats/parquet/parquet.h"

#include <string.h>

#define TIME_CELL(table, times, time, member, label, place, heading)                               \
    [table##_##member] = times_of(times, TIME_##time),
#define TIMES_CELLS(table, times) TIME_COLUMNS(TIME_CELL, table, times)

static void add_goroutine(void *ctx, const stacks *names, const stat_goroutine *g, int64_t base,
                          int64_t ended)
{
    tables *t = ctx;
    (void)names, (void)base;
    const int64_t cells[goroutines_columns] = {
        [goroutines_trace] = name_cell(t, TABLE_goroutines, t->name),
        [goroutines_g] = (int64_t)g->g.id,
        [goroutines_function] = name_cell(t, TABLE_goroutines, g->g.function),
        [goroutines_label] = name_cell(t, TABLE_goroutines, g->g.label),
        [goroutines_created_ns] = g->g.created,
        [goroutines_started_ns] = time_cell(g->g.started),
        [goroutines_ended_ns] = time_cell(ended),
        TIMES_CELLS(goroutines, &g->times)};
    add_row(t, TABLE_goroutines, cells);
}

static int64_t duration_cell(int64_t begin, int64_t end)
{
    return begin == STATES_NEVER || end == STATES_NEVER ? PARQUET_NULL : end - begin;
}

/* A name, which may be empty. */
static int64_t full_cell(tables *t, enum table_number table, uint32_t name)
{
    return name ? name_cell(t, table, name) : text_cell(t, table, "", 0);
}

static void add_region(void *ctx, const stacks *names, const stat_goroutine *g, const region *r,
                       int64_t base, int64_t ended)
{
    tables *t = ctx;
    (void)names, (void)base;
    if (r->inherited)
        return;
    const int64_t cells[regions_columns] = {[regions_trace] = name_cell(t, TABLE_regions, t->name),
                                            [regions_name] = full_cell(t, TABLE_regions, r->name),
                                            [regions_task] = id_cell(r->task),
                                            [regions_g] = (int64_t)g->g.id,
                                            [regions_start_time_ns] = time_cell(r->begin),
                                            [regions_end_time_ns] = time_cell(ended),
                                            [regions_duration_ns] = duration_cell(r->begin, ended),
                                            [regions_stack_id] = id_cell(r->stack),
                                            TIMES_CELLS(regions, &r->before)};
    add_row(t, TABLE_regions, cells);
    t->regions++;
}

static void add_task(void *ctx, const stacks *names, const stat_task *task, int64_t base)
{
    tables *t = ctx;
    (void)names, (void)base;
    const int64_t cells[tasks_columns] = {
        [tasks_trace] = name_cell(t, TABLE_tasks, t->name),
        [tasks_task] = (int64_t)task->id,
        [tasks_parent] = id_cell(task->parent),
        [tasks_name] = full_cell(t, TABLE_tasks, task->name),
        [tasks_start_time_ns] = time_cell(task->begin),
        [tasks_end_time_ns] = time_cell(task->ended),
        [tasks_duration_ns] = duration_cell(task->begin, task->ended),
        [tasks_g] = id_cell(task->goroutine),
        [tasks_stack_id] = id_cell(task->stack),
        [tasks_logs] = (int64_t)task->logs,
        [tasks_regions] = (int64_t)task->regions,
    };
    add_row(t, TABLE_tasks, cells);
    t->tasks++;
}

const statistics_each table_each = {
    .goroutine = add_goroutine, .region = add_region, .task = add_task};

/* ---- stacks -----------------------------------------------------------------------------------
 */

static void add_frames(tables *t)
{
    const stacks *s = t->s->stacks;
    for (size_t i = 0; i < s->frame_count; i++) {
        const stacks_frame *f = &s->frames[i];
        const int64_t cells[frames_columns] = {
            [frames_trace] = name_cell(t, TABLE_frames, t->name),
            [frames_frame_id] = (int64_t)i + 1,
            [frames_function] = name_cell(t, TABLE_frames, f->function),
            [frames_file] = name_cell(t, TABLE_frames, f->file),
            [frames_line] = (int64_t)f->line,
            [frames_address] = (int64_t)f->pc,
        };
        add_row(t, TABLE_frames, cells);
    }
}

void add_stacks(tables *t)
{
    const stacks *s = t->s->stacks;
    add_frames(t);
    for (size_t i = 0; i < s->stack_count; i++) {
        for (size_t n = 0; n < s->stacks[i].size; n++) {
            const int64_t cells[stacks_columns] = {
                [stacks_trace] = name_cell(t, TABLE_stacks, t->name),
                [stacks_stack_id] = (int64_t)i + 1,
                [stacks_position] = (int64_t)n,
                [stacks_frame_id] = s->numbers[s->stacks[i].first + n],
            };
            add_row(t, TABLE_stacks, cells);
        }
    }
}

void fill_trace(tables *t)
{
    const trace_figure *f = &t->s->traces[0];
    t->row[trace_version] = f->version;
    t->row[trace_start_unix_ns] = t->wall_start;
    t->row[trace_duration_ns] = f->duration;
    t->row[trace_events] = (int64_t)f->events;
    t->row[trace_goroutines] = (int64_t)f->goroutines;
    t->row[trace_tasks] = (int64_t)t->tasks;
    t->row[trace_regions] = (int64_t)t->regions;
    t->row[trace_logs] = (int64_t)t->logs;
    t->row[trace_samples] = (int64_t)t->samples;
    t->row[trace_gc_cycles] = (int64_t)f->cycles;
}

void add_trace(tables *t, const convert_job *job, const convert_verdict *v)
{
    int64_t *row = t->row;
    row[trace_trace] = text_cell(t, TABLE_trace, job->name, strlen(job->name));
    row[trace_file] = text_cell(t, TABLE_trace, job->path, strlen(job->path));
    row[trace_verdict] = text_cell(t, TABLE_trace, v->name, strlen(v->name));
    row[trace_errors] = (int64_t)v->errors;
    row[trace_warnings] = (int64_t)v->warnings;
    row[trace_recovered] = v->recovered;
    row[trace_lost_bytes] = v->lost_bytes < 0 ? PARQUET_NULL : v->lost_bytes;
    add_row(t, TABLE_trace, row);
}
