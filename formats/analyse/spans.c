/* spans.c - tasks and regions. */
#include <stdlib.h>

#include "formats/analyse/statistics_run.h"
#include "formats/common/vector.h"
#include "formats/common/functions.h"

static span_figure *span_of(run *r, figures *f, uint32_t name)
{
    span_figure *span = stat_figure(f, name, sizeof *span);
    if (!span)
        run_fail(r);
    return span;
}

static void span_ended(run *r, figures *f, uint32_t name, const slow *made)
{
    span_figure *span = span_of(r, f, name);
    if (!span)
        return;
    if (!histogram_add(&span->values, made->ns))
        run_fail(r);
    stat_slow(span->slowest, &span->slow_count, SLOWEST, made);
}

/* ---- regions ----------------------------------------------------------------------------------
 */

static region *push_region(run *r, stat_goroutine *g, const region *made)
{
    region *list = vector_room(g->regions, &g->region_room, g->region_count, sizeof *list);
    if (!list) {
        run_fail(r);
        return NULL;
    }
    g->regions = list;
    list[g->region_count] = *made;
    return &list[g->region_count++];
}

void stat_region_inherit(run *r, stat_goroutine *g, const gotrace_event *e)
{
    const stat_goroutine *creator = (void *)states_goroutine(&r->states, e->goroutine);
    if (!creator || creator->region_count == 0)
        return;
    push_region(r, g,
                &(region){.task = creator->regions[creator->region_count - 1].task,
                          .begin = r->states.time,
                          .inherited = true,
                          .counted = !r->selector.what});
}

/* Reports a region that ends now; at_event: not with the trace. Frees it. */
static void region_ended(run *r, const stat_goroutine *g, region *ended, bool at_event)
{
    int64_t time = r->states.time;
    at_event = at_event && states_place_of(&r->states) != STATES_AFTER;
    if (r->all->each && ended->counted) {
        times own;
        times_snapshot(r, g, &own);
        times_subtract(&own, &ended->before);
        times_free(&ended->before);
        ended->before = own;
        r->all->each->region(r->all->each->ctx, r->all->stacks, g, ended, r->states.base,
                             at_event ? time : STATES_NEVER);
    }
    times_free(&ended->before);
    if (ended->begin == STATES_NEVER || ended->inherited || !ended->counted)
        return;
    span_figure *span = at_event ? NULL : span_of(r, &r->all->regions, ended->name);
    if (span)
        span->unfinished++;
    if (at_event)
        span_ended(r, &r->all->regions, ended->name,
                   &(slow){.ns = time - ended->begin,
                           .begin = ended->begin,
                           .id = g->g.id,
                           .function = g->g.function,
                           .trace = r->index});
}

void stat_regions_end(run *r, stat_goroutine *g, bool at_event)
{
    size_t size;
    const char *name = stacks_text(r->all->stacks, g->g.function, &size);
    /* System goroutines are created in regions of others, but have none. */
    if (size > 0 && !function_is_system(name, size))
        for (size_t i = 0; i < g->region_count; i++)
            region_ended(r, g, &g->regions[i], at_event);
}

void stat_regions_free(stat_goroutine *g)
{
    for (size_t i = 0; i < g->region_count; i++)
        times_free(&g->regions[i].before);
    free(g->regions);
}

static open_task *task_of(run *r, uint64_t id)
{
    return idmap_find(&r->tasks, id);
}

static void region_begins(run *r, const gotrace_event *e)
{
    const gotrace_details *details = gotrace_event_details(e);
    stat_goroutine *g = (void *)states_goroutine(&r->states, e->goroutine);
    open_task *task = task_of(r, e->subject);
    if (task && r->selected)
        task->regions++;
    if (!g)
        return;
    region *made = push_region(
        r, g,
        &(region){.name = stacks_name(r->all->stacks, details->text, details->text_size),
                  .stack = stacks_of(r->all->stacks, e->stack),
                  .task = e->subject,
                  .begin = r->states.time,
                  .counted = r->selected});
    if (!made)
        return;
    if (!made->counted)
        return;
    if (r->all->each)
        times_snapshot(r, g, &made->before);
    span_figure *span = span_of(r, &r->all->regions, made->name);
    if (span)
        span->begun++;
}

static void region_ends(run *r, const gotrace_event *e)
{
    const gotrace_details *details = gotrace_event_details(e);
    stat_goroutine *g = (void *)states_goroutine(&r->states, e->goroutine);
    region ended = {.begin = STATES_NEVER, .task = e->subject, .counted = r->selected};
    if (!g)
        return;
    if (g->region_count > 0) {
        ended = g->regions[--g->region_count];
    } else {
        open_task *task = task_of(r, e->subject);
        ended.name = stacks_name(r->all->stacks, details->text, details->text_size);
        if (task && r->selected)
            task->regions++;
    }
    region_ended(r, g, &ended, true);
}

/* ---- tasks ------------------------------------------------------------------------------------
 */

static void report_task(run *r, uint64_t id, const open_task *task, int64_t ended)
{
    const statistics_each *each = r->all->each;
    if (each && task->counted)
        each->task(each->ctx, r->all->stacks,
                   &(stat_task){.id = id,
                                .parent = task->parent,
                                .goroutine = task->goroutine,
                                .logs = task->logs,
                                .regions = task->regions,
                                .name = task->name,
                                .stack = task->stack,
                                .begin = task->begin,
                                .ended = ended},
                   r->states.base);
}

static void task_begins(run *r, const gotrace_event *e)
{
    const gotrace_details *details = gotrace_event_details(e);
    open_task *task = idmap_insert(&r->tasks, e->subject);
    uint32_t name = stacks_name(r->all->stacks, details->text, details->text_size);
    span_figure *span = r->selected ? span_of(r, &r->all->tasks, name) : NULL;
    if (!task || (r->selected && !span)) {
        run_fail(r);
        return;
    }
    *task = (open_task){.name = name,
                        .parent = gotrace_event_value(e),
                        .goroutine = e->goroutine,
                        .begin = r->states.time,
                        .stack = stacks_of(r->all->stacks, e->stack),
                        .counted = r->selected};
    if (span)
        span->begun++;
}

static void task_unfinished(run *r, const open_task *task)
{
    span_figure *span = task->counted ? span_of(r, &r->all->tasks, task->name) : NULL;
    if (span)
        span->unfinished++;
}

static void task_ends(run *r, const gotrace_event *e)
{
    const gotrace_details *details = gotrace_event_details(e);
    open_task *task = task_of(r, e->subject);
    if (!task) {
        open_task before = {.name = stacks_name(r->all->stacks, details->text, details->text_size),
                            .parent = gotrace_event_value(e),
                            .begin = STATES_NEVER,
                            .counted = r->selected};
        report_task(r, e->subject, &before, r->states.time);
        return;
    }
    bool ended = states_place_of(&r->states) != STATES_AFTER;
    report_task(r, e->subject, task, ended ? r->states.time : STATES_NEVER);
    if (task->counted && ended)
        span_ended(r, &r->all->tasks, task->name,
                   &(slow){.ns = r->states.time - task->begin,
                           .begin = task->begin,
                           .id = e->subject,
                           .cause = task->goroutine,
                           .stack = task->stack,
                           .trace = r->index});
    else
        task_unfinished(r, task);
    idmap_remove(&r->tasks, e->subject);
}

void stat_tasks_end(run *r)
{
    uint64_t *ids = idmap_sorted_keys(&r->tasks);
    if (!ids && r->tasks.count > 0)
        run_fail(r);
    for (size_t i = 0; ids && i < r->tasks.count; i++) {
        const open_task *task = task_of(r, ids[i]);
        task_unfinished(r, task);
        report_task(r, ids[i], task, STATES_NEVER);
    }
    free(ids);
}

void stat_span(run *r, const gotrace_event *e)
{
    open_task *task;
    switch (e->kind) {
    case GOTRACE_KIND_TASK_BEGIN: task_begins(r, e); break;
    case GOTRACE_KIND_TASK_END: task_ends(r, e); break;
    case GOTRACE_KIND_REGION_BEGIN: region_begins(r, e); break;
    case GOTRACE_KIND_REGION_END: region_ends(r, e); break;
    case GOTRACE_KIND_LOG:
        task = task_of(r, e->subject);
        if (task && r->selected)
            task->logs++;
        break;
    default: break; /* the caller passes no others */
    }
}
