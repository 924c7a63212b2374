/* transitions.c - the states of goroutines and procs. */
#include "formats/parquet/parquet.h"

#include <stdlib.h>

/* Whether the event is about this goroutine. */
static bool changes(const gotrace_event *e, uint64_t id)
{
    return e->kind == GOTRACE_KIND_TRANSITION && e->resource == GOTRACE_RESOURCE_GOROUTINE &&
           e->subject == id;
}

/* Whether the stack of the event is that of the goroutine. */
static bool is_own(const gotrace_event *e, uint64_t id)
{
    return e->goroutine == id || (e->goroutine == 0 && (e->flags & GOTRACE_EVENT_INITIAL));
}

void add_g_interval(tables *t, const goroutine *g, const interval *i, const gotrace_event *e)
{
    enum table_number n = TABLE_g_transitions;
    int64_t own = PARQUET_NULL, other = PARQUET_NULL;
    uint32_t reason = 0;
    if (e && e->stack)
        *(is_own(e, g->id) ? &own : &other) = id_cell(stack_of(t, e));
    if (e && gotrace_event_reason(e) && changes(e, g->id))
        reason = stacks_reason(t->s->stacks, gotrace_event_reason(e));
    const int64_t cells[g_transitions_columns] = {
        [g_transitions_trace] = name_cell(t, n, t->name),
        [g_transitions_g] = (int64_t)g->id,
        [g_transitions_from_state] = name_cell(t, n, t->states[i->state]),
        [g_transitions_to_state] = e ? name_cell(t, n, t->states[i->next]) : 0,
        [g_transitions_reason] = name_cell(t, n, reason),
        [g_transitions_duration_ns] = i->end - i->begin,
        [g_transitions_end_time_ns] = i->end,
        [g_transitions_stack_id] = own,
        [g_transitions_src_stack_id] = other,
        [g_transitions_src_g] = e ? id_cell(e->goroutine) : PARQUET_NULL,
        [g_transitions_src_m] = e ? e->thread : PARQUET_NULL,
        [g_transitions_src_p] = e ? proc_cell(e->proc) : PARQUET_NULL,
        [g_transitions_from_reason] = name_cell(t, n, i->reason),
        [g_transitions_from_stack_id] = id_cell(i->stack),
    };
    add_row(t, n, cells);
}

void add_g_creation(tables *t, const watched_event *w)
{
    enum table_number n = TABLE_g_transitions;
    const gotrace_event *e = w->e;
    uint32_t start = stacks_of(t->s->stacks, start_stack_of(e, e->subject));
    const int64_t cells[g_transitions_columns] = {
        [g_transitions_trace] = name_cell(t, n, t->name),
        [g_transitions_g] = (int64_t)e->subject,
        [g_transitions_from_state] = name_cell(t, n, t->states[GOTRACE_STATE_NOT_EXIST]),
        [g_transitions_to_state] = name_cell(t, n, t->states[e->to]),
        [g_transitions_end_time_ns] = w->time,
        [g_transitions_stack_id] = id_cell(start),
        [g_transitions_src_stack_id] = id_cell(stack_of(t, e)),
        [g_transitions_src_g] = id_cell(e->goroutine),
        [g_transitions_src_m] = e->thread,
        [g_transitions_src_p] = proc_cell(e->proc),
        [g_transitions_from_stack_id] = PARQUET_NULL,
    };
    add_row(t, n, cells);
}

/* ---- procs ------------------------------------------------------------------------------------
 */

static void add_p_row(tables *t, int64_t proc, const proc_state *before, const gotrace_event *e)
{
    enum table_number n = TABLE_p_transitions;
    const int64_t cells[p_transitions_columns] = {
        [p_transitions_trace] = name_cell(t, n, t->name),
        [p_transitions_p] = proc,
        [p_transitions_from_state] = name_cell(t, n, t->states[before->state]),
        [p_transitions_to_state] = e ? name_cell(t, n, t->states[e->to]) : 0,
        [p_transitions_duration_ns] = t->time - before->since,
        [p_transitions_end_time_ns] = t->time,
        [p_transitions_src_g] = e ? id_cell(e->goroutine) : PARQUET_NULL,
        [p_transitions_src_m] = e ? e->thread : PARQUET_NULL,
        [p_transitions_src_p] = e ? proc_cell(e->proc) : PARQUET_NULL,
    };
    add_row(t, n, cells);
}

void add_p_transition(tables *t, const watched_event *w)
{
    proc_state *p = idmap_find(&t->procs, w->e->subject);
    if (!p) {
        p = idmap_insert(&t->procs, w->e->subject);
        if (!p) {
            t->failed = true;
            return;
        }
        *p = (proc_state){.since = t->time, .state = w->e->from};
    }
    /* Each generation repeats the states. */
    if (w->e->from == w->e->to)
        return;
    if (w->place == STATES_INSIDE && w->selected)
        add_p_row(t, (int64_t)w->e->subject, p, w->e);
    *p = (proc_state){.since = t->time, .state = w->e->to};
}

void end_procs(tables *t)
{
    /* What procs do is of no goroutine. */
    if (t->job->select && (t->job->select->what->given & SELECT_OF_PARTS))
        return;
    uint64_t *ids = idmap_sorted_keys(&t->procs);
    if (!ids && t->procs.count > 0)
        t->failed = true;
    for (size_t i = 0; ids && i < t->procs.count; i++)
        add_p_row(t, (int64_t)ids[i], idmap_find(&t->procs, ids[i]), NULL);
    free(ids);
}
