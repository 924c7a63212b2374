/* pass.c - pass an event to a writer, or the part of it that concerns the selected goroutines. */
#include <string.h>

#include "cmd/cut/cut.h"
#include "formats/common/rows_by_meaning.h"

/* Set the time of the event; it does not decrease. A record before which the reader made an event
 * has the time of that: the reader will make it again. */
static bool set_time(cut *c, const gotrace_event *e)
{
    if (raw_of(c)->ticks > c->now && !(c->has_made && c->made == e->offset))
        c->now = raw_of(c)->ticks;
    return gotrace_writer_at(c->carry.writer, c->now) >= 0 ||
           cut_fail(c, gotrace_writer_error(c->carry.writer));
}

static bool put_event(cut *c, const gotrace_event *e, bool counted)
{
    uint64_t args[GOTRACE_MAX_ARGS]; /* set as far as there are */
    const gotrace_event_spec *spec = c->carry.rows[e->type].spec;
    if (!set_time(c, e))
        return false;
    gotrace_event_data h = carry_event(&c->carry, e, spec, args);
    if (!cut_has(c, e->goroutine))
        h.goroutine = 0;
    c->result->count += counted;
    return cut_put(c, &h, row_is_status(spec) && c->v2);
}

/* v2: writes one change of several that a record makes, by the row that makes no other. */
static bool put_change(cut *c, const gotrace_event *e)
{
    const gotrace_event_spec *spec = row_of_change(c->carry.version, (gotrace_resource)e->resource,
                                                   (gotrace_state)e->from, (gotrace_state)e->to,
                                                   NULL);
    const gotrace_arg_spec *kinds[GOTRACE_MAX_ARGS];
    uint64_t args[GOTRACE_MAX_ARGS] = {0};
    if (!spec || !set_time(c, e))
        return !spec;
    size_t count = gotrace_writer_args(spec, c->carry.version, kinds);
    for (size_t i = 0; i < count; i++)
        switch (kinds[i]->kind) {
        case GOTRACE_ARG_STRING:
            args[i] = carry_text(&c->carry, e->proc, gotrace_event_reason(e),
                                 gotrace_event_reason(e) ? strlen(gotrace_event_reason(e)) : 0);
            break;
        case GOTRACE_ARG_STACK:
        case GOTRACE_ARG_START:
            args[i] = carry_stack(&c->carry, gotrace_event_start_stack(e));
            break;
        case GOTRACE_ARG_THREAD: args[i] = (uint64_t)e->thread; break;
        default: args[i] = e->subject;
        }
    bool stack = spec->flags & GOTRACE_SPEC_STACK;
    const gotrace_event_data h = {.spec = spec,
                                  .proc = e->proc,
                                  .thread = e->thread,
                                  .args = args,
                                  .arg_count = count,
                                  .stack = stack ? carry_stack(&c->carry, e->stack) : 0};
    c->result->count++;
    return cut_put(c, &h, false);
}

/* ---- procs ----------------------------------------------------------------------------------- */

/* v2: a proc that was in the system call of a goroutine that is not selected runs: it stops. */
static bool stop_proc(cut *c, const gotrace_event *e, int64_t proc, int64_t thread)
{
    const gotrace_event_data h = {.spec = row_of_change(c->carry.version, GOTRACE_RESOURCE_PROC,
                                                        GOTRACE_STATE_RUNNING, GOTRACE_STATE_IDLE,
                                                        NULL),
                                  .proc = proc,
                                  .thread = thread};
    return set_time(c, e) && cut_put(c, &h, false);
}

/* Whether the reader made the event: before the end of a goroutine's system call, the proc is taken
 * from its thread. Such an event has no sequence number. The writer makes it too. */
static bool is_made_by_reader(const cut *c, const gotrace_semantics *does)
{
    return does->numbered && does->proc.to == GOTRACE_STATE_IDLE && raw_of(c)->arg_count > 1 &&
           raw_of(c)->args[1] == 0;
}

static bool pass_proc(cut *c, const gotrace_event *e)
{
    const gotrace_semantics *does = c->carry.rows[e->type].spec->semantics;
    bool made = is_made_by_reader(c, does);
    int64_t proc = (int64_t)e->subject, thread;
    if (made && !set_time(c, e))
        return false;
    c->has_made = made;
    c->made = e->offset;
    if (!c->job->goroutines || does->proc.to != GOTRACE_STATE_IDLE)
        return made || put_event(c, e, !c->job->goroutines);
    gotrace_state state = gotrace_writer_proc(c->carry.writer, proc, &thread, NULL);
    if (state == GOTRACE_STATE_RUNNING && thread != GOTRACE_NO_THREAD && does->numbered)
        return stop_proc(c, e, proc, thread);
    return made || state == GOTRACE_STATE_IDLE || put_event(c, e, false);
}

/* ---- transitions ----------------------------------------------------------------------------- */

static bool changes(gotrace_change change)
{
    return change.to && change.to != change.from;
}

/* Whether the record changes selected goroutines only. */
static bool is_whole(cut *c, const gotrace_event *e, const gotrace_semantics *does)
{
    return (!changes(does->self) || cut_has(c, e->goroutine)) &&
           (!changes(does->other) || cut_has(c, raw_of(c)->args[0]));
}

/* v2: a record that changes several goroutines is several events with one offset. */
static bool pass_goroutine_v2(cut *c, const gotrace_event *e)
{
    const gotrace_semantics *does = c->carry.rows[e->type].spec->semantics;
    bool first = !c->decided;
    if (first)
        c->whole = is_whole(c, e, does);
    c->decided = true;
    if (c->whole)
        return !first || put_event(c, e, true);
    return !cut_has(c, e->subject) || put_change(c, e);
}

static bool pass_v1(cut *c, const gotrace_event *e)
{
    const gotrace_semantics *does = row_semantics(c->carry.rows[e->type].spec, c->carry.version);
    if (changes(does->self) || changes(does->other))
        return !is_whole(c, e, does) || put_event(c, e, true);
    if (does->proc.to)
        return put_event(c, e, !c->job->goroutines);
    return !cut_has(c, e->goroutine) || put_event(c, e, true);
}

/* Whether the status was written at the start: its stack would be written for nothing. */
static bool is_written(cut *c, const gotrace_event *e)
{
    return raw_of(c)->generation_index == c->first_index &&
           e->resource == GOTRACE_RESOURCE_GOROUTINE &&
           gotrace_writer_goroutine(c->carry.writer, e->subject, NULL, NULL) !=
               GOTRACE_STATE_UNDETERMINED;
}

static bool pass_transition(cut *c, const gotrace_event *e)
{
    if (!c->v2)
        return pass_v1(c, e);
    if (c->carry.rows[e->type].spec->semantics->status) {
        bool of_proc = e->resource == GOTRACE_RESOURCE_PROC;
        if (!(of_proc || cut_has(c, e->subject)) || is_written(c, e))
            return true;
        return put_event(c, e, !of_proc);
    }
    return e->resource == GOTRACE_RESOURCE_PROC ? pass_proc(c, e) : pass_goroutine_v2(c, e);
}

/* Report a cycle of the GC as active just before an event of a goroutine that runs: at the same
 * time readers would move the event. */
static bool report_gc(cut *c, const gotrace_event *e)
{
    if (e->goroutine == 0 || e->thread == GOTRACE_NO_THREAD || raw_of(c)->ticks <= c->now + 1)
        return true;
    c->now = raw_of(c)->ticks - 1;
    if (gotrace_writer_at(c->carry.writer, c->now) < 0)
        return cut_fail(c, gotrace_writer_error(c->carry.writer));
    return cut_put_gc(c, e->thread);
}

bool cut_pass(cut *c, const gotrace_event *e)
{
    if (!c->carry.rows[e->type].spec)
        return true;
    if (c->gc_due && !report_gc(c, e))
        return false;
    switch ((gotrace_kind)e->kind) {
    case GOTRACE_KIND_NONE:
    case GOTRACE_KIND_TRANSITION: return pass_transition(c, e);
    case GOTRACE_KIND_RANGE_BEGIN:
    case GOTRACE_KIND_RANGE_END:
    case GOTRACE_KIND_RANGE_ACTIVE:
        if (c->job->goroutines && range_owner(e->range) == GOTRACE_RESOURCE_NONE)
            return true;
        if (range_owner(e->range) == GOTRACE_RESOURCE_GOROUTINE)
            return !cut_has(c, c->v2 ? e->subject : e->goroutine) || put_event(c, e, true);
        break;
    case GOTRACE_KIND_SYSCALL:
    case GOTRACE_KIND_METRIC:
    case GOTRACE_KIND_LABEL:
    case GOTRACE_KIND_TASK_BEGIN:
    case GOTRACE_KIND_TASK_END:
    case GOTRACE_KIND_REGION_BEGIN:
    case GOTRACE_KIND_REGION_END:
    case GOTRACE_KIND_LOG:
    case GOTRACE_KIND_SYNC:
    case GOTRACE_KIND_EXPERIMENT:
    case GOTRACE_KIND_SAMPLE: break;
    }
    return !cut_has(c, e->goroutine) || put_event(c, e, true);
}

bool cut_pass_first(cut *c, const gotrace_event *e)
{
    return put_event(c, e, false);
}
