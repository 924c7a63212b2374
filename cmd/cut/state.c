/*
 * state.c - the states at the start of a cut.
 *
 * v2 writes them as statuses and active ranges. v1 has none: there, as when tracing starts, each
 * goroutine is created and found waiting or in a system call; then procs and goroutines that run
 * start, and ranges that are active begin. A goroutine in the middle of a futile wake-up is found
 * waiting and unblocked: readers leave out a wake-up as a whole, from where it is unblocked.
 * Neither can write that the world is stopped: the stop begins at the start.
 */
#include <stdlib.h>
#include <string.h>

#include "cmd/cut/cut.h"
#include "formats/common/rows_by_meaning.h"

bool cut_follow(cut *c, const gotrace_event *e)
{
    const gotrace_event_spec *spec = c->carry.rows[e->type].spec;
    if (!spec || e->flags & GOTRACE_EVENT_NO_BEGIN)
        return true;
    if (c->job->part && e->range == GOTRACE_RANGE_GC &&
        raw_of(c)->generation == c->job->part->generation)
        c->last_gc = raw_of(c)->args[0];
    return beginning_follow(&c->beginning, spec, e, raw_of(c)) || cut_no_memory(c);
}

/* ---- writing --------------------------------------------------------------------------------- */

static bool put_at(cut *c, const gotrace_event_spec *spec, int64_t proc, int64_t thread,
                   const uint64_t *args, size_t count)
{
    const gotrace_event_data h = {
        .spec = spec, .proc = proc, .thread = thread, .args = args, .arg_count = count};
    return !spec || cut_put(c, &h, true);
}

/* Calls fn for each entry of the map, by ascending id. */
typedef bool (*each_fn)(cut *c, uint64_t id, const void *value);

static bool each(cut *c, const idmap *map, each_fn fn)
{
    uint64_t *ids = idmap_sorted_keys(map);
    bool done = ids || map->count == 0 || cut_no_memory(c);
    for (size_t i = 0; done && i < map->count; i++)
        done = fn(c, ids[i], idmap_find(map, ids[i]));
    free(ids);
    return done;
}

/* Begins a range, by its own row. */
static bool begin_range(cut *c, uint64_t owner, const void *value)
{
    const beginning_range *r = value;
    const gotrace_arg_spec *kinds[GOTRACE_MAX_ARGS];
    uint64_t args[GOTRACE_MAX_ARGS] = {0};
    (void)owner;
    const gotrace_resource of = range_owner(r->begins->semantics->range);
    if ((r->goroutine && !cut_has(c, r->goroutine)) ||
        (c->job->goroutines && of == GOTRACE_RESOURCE_NONE))
        return true;
    /* Only a goroutine that runs can begin to assist. Readers accept the end without it. */
    const beginning_goroutine *g = idmap_find(&c->beginning.goroutines, r->goroutine);
    int64_t proc = r->proc, thread = r->thread;
    if (of == GOTRACE_RESOURCE_GOROUTINE) {
        if (!g || g->state != GOTRACE_STATE_RUNNING)
            return true;
        proc = g->proc;
    }
    if (g && g->thread != GOTRACE_NO_THREAD) {
        proc = GOTRACE_NO_PROC;
        thread = g->thread;
    }
    size_t count = gotrace_writer_args(r->begins, c->carry.version, kinds);
    for (size_t i = 0; i < count; i++)
        args[i] = kinds[i]->kind == GOTRACE_ARG_STRING
                      ? carry_text(&c->carry, proc, r->reason, r->reason ? strlen(r->reason) : 0)
                      : r->value;
    return put_at(c, r->begins, proc, thread, args, count);
}

/* ---- v2 -------------------------------------------------------------------------------------- */

/* A proc that a goroutine which is not selected has in a system call runs: see stop_proc. */
static bool put_proc(cut *c, uint64_t id, const void *value)
{
    const beginning_proc *p = value;
    bool calls = p->state == GOTRACE_STATE_SYSCALL;
    bool held = p->state == GOTRACE_STATE_RUNNING || calls;
    const uint64_t args[2] = {id, p->state == GOTRACE_STATE_ABANDONED ? STATUS_P_ABANDONED
                                  : !held                             ? STATUS_P_IDLE
                                  : calls && cut_has(c, p->caller)    ? STATUS_P_IN_SYSCALL
                                                                      : STATUS_P_RUNNING};
    return put_at(c, gotrace_event_spec_of(c->carry.version, GOTRACE_V2_ProcStatus),
                  GOTRACE_NO_PROC, held ? p->thread : GOTRACE_NO_THREAD, args, 2);
}

static bool put_goroutine(cut *c, uint64_t id, const void *value)
{
    const beginning_goroutine *g = value;
    bool runs = g->state == GOTRACE_STATE_RUNNING, calls = g->state == GOTRACE_STATE_SYSCALL;
    if (!cut_has(c, id) || (runs && g->thread == GOTRACE_NO_THREAD))
        return true;
    const uint64_t args[3] = {id, g->thread == GOTRACE_NO_THREAD ? UINT64_MAX : (uint64_t)g->thread,
                              runs                                 ? STATUS_G_RUNNING
                              : calls                              ? STATUS_G_IN_SYSCALL
                              : g->state == GOTRACE_STATE_RUNNABLE ? STATUS_G_RUNNABLE
                                                                   : STATUS_G_WAITING};
    /* The stacks of an earlier generation are not known any more. */
    const gotrace_event_spec *plain = gotrace_event_spec_of(c->carry.version, GOTRACE_V2_GoStatus);
    const gotrace_event_spec *stacked = !runs && g->stack && g->generation_index == c->first_index
                                            ? gotrace_event_spec_of(c->carry.version,
                                                                    GOTRACE_V2_GoStatusStack)
                                            : NULL;
    const gotrace_event_data h = {.spec = stacked ? stacked : plain,
                                  .proc = GOTRACE_NO_PROC,
                                  .thread = g->thread,
                                  .args = args,
                                  .arg_count = 3,
                                  .stack = stacked ? carry_stack(&c->carry, g->stack) : 0};
    return cut_put(c, &h, true);
}

/* On the thread of its proc or goroutine, after its status. */
static bool put_active(cut *c, uint64_t owner, const void *value)
{
    const beginning_range *r = value;
    unsigned range = r->begins->semantics->range;
    const gotrace_event_spec *active = row_of_kind(c->carry.version, GOTRACE_KIND_RANGE_ACTIVE,
                                                   range);
    bool of_goroutine = range_owner(range) == GOTRACE_RESOURCE_GOROUTINE;
    const beginning_goroutine *g = of_goroutine ? idmap_find(&c->beginning.goroutines, owner)
                                                : NULL;
    const beginning_proc *p = of_goroutine ? NULL : idmap_find(&c->beginning.procs, owner);
    if (!active)
        return begin_range(c, owner, value);
    if ((!g && !p) || !cut_has(c, of_goroutine ? owner : r->goroutine))
        return true;
    bool held = p && p->state == GOTRACE_STATE_RUNNING;
    return put_at(c, active, GOTRACE_NO_PROC,
                  g      ? g->thread
                  : held ? p->thread
                         : GOTRACE_NO_THREAD,
                  &owner, 1);
}

/* A cycle of the GC can be reported as active only by a goroutine that runs. */
bool cut_put_gc(cut *c, int64_t thread)
{
    const gotrace_event_data h = {
        .spec = row_of_kind(c->carry.version, GOTRACE_KIND_RANGE_ACTIVE, GOTRACE_RANGE_GC),
        .proc = GOTRACE_NO_PROC,
        .thread = thread};
    if (gotrace_writer_event(c->carry.writer, &h) >= 0) {
        c->gc_due = false;
        return true;
    }
    const gotrace_error *error = gotrace_writer_error(c->carry.writer);
    return error->class_ != GOTRACE_CLASS_SYSTEM || cut_fail(c, error);
}

static bool put_gc_active(cut *c, uint64_t id, const void *value)
{
    const beginning_goroutine *g = value;
    (void)id;
    return !c->gc_due || g->state != GOTRACE_STATE_RUNNING || g->thread == GOTRACE_NO_THREAD ||
           cut_put_gc(c, g->thread);
}

static bool begin_v2(cut *c)
{
    c->gc_due = c->beginning.ranges[GOTRACE_RANGE_GC].count > 0 && !c->job->goroutines;
    bool done = each(c, &c->beginning.procs, put_proc) &&
                each(c, &c->beginning.goroutines, put_goroutine);
    for (unsigned i = 0; done && i < GOTRACE_RANGES; i++)
        done = range_owner(i) == GOTRACE_RESOURCE_NONE ||
               each(c, &c->beginning.ranges[i], put_active);
    return done && each(c, &c->beginning.goroutines, put_gc_active) &&
           (!c->drops || !c->gc_due || cut_put_gc(c, 0)) && /* any thread: it is not written */
           each(c, &c->beginning.ranges[GOTRACE_RANGE_STW], begin_range);
}

/* ---- v1 -------------------------------------------------------------------------------------- */

static bool create_goroutine(cut *c, uint64_t id, const void *value)
{
    const beginning_goroutine *g = value;
    int64_t proc = c->beginning.first_proc; /* it starts tracing */
    bool first = c->job->keep_times && !c->anchored;
    c->anchored = true;
    if (!cut_has(c, id) && !first)
        return true;
    const gotrace_goroutine *known = gotrace_reader_goroutine(c->job->reader, id);
    uint64_t start = known ? known->start_stack : 0;
    const uint64_t args[2] = {
        id, gotrace_frame_values(c->carry.version) == 1 ? start : carry_stack(&c->carry, start)};
    if (!put_at(c, gotrace_event_spec_of(c->carry.version, GOTRACE_V1_GoCreate), proc,
                GOTRACE_NO_THREAD, args, 2))
        return false;
    const bool waits = g->effective == GOTRACE_STATE_WAITING;
    unsigned found = waits                                   ? GOTRACE_V1_GoWaiting
                     : g->effective == GOTRACE_STATE_SYSCALL ? GOTRACE_V1_GoInSyscall
                                                             : 0;
    bool done = !found || put_at(c, gotrace_event_spec_of(c->carry.version, found), proc,
                                 GOTRACE_NO_THREAD, args, 1);
    if (done && waits && g->state != GOTRACE_STATE_WAITING)
        done = put_at(c, gotrace_event_spec_of(c->carry.version, GOTRACE_V1_GoUnblock), proc,
                      GOTRACE_NO_THREAD, args, 1);
    return done;
}

static bool start_proc(cut *c, uint64_t id, const void *value)
{
    const beginning_proc *p = value;
    const uint64_t thread = p->thread == GOTRACE_NO_THREAD ? id : (uint64_t)p->thread;
    return p->state != GOTRACE_STATE_RUNNING ||
           put_at(c, gotrace_event_spec_of(c->carry.version, GOTRACE_V1_ProcStart), (int64_t)id,
                  p->thread, &thread, 1);
}

static bool start_goroutine(cut *c, uint64_t id, const void *value)
{
    const beginning_goroutine *g = value;
    if (!cut_has(c, id) || g->state != GOTRACE_STATE_RUNNING)
        return true;
    return put_at(c, gotrace_event_spec_of(c->carry.version, GOTRACE_V1_GoStart), g->proc,
                  GOTRACE_NO_THREAD, &id, 1);
}

static bool begin_v1(cut *c)
{
    bool done = each(c, &c->beginning.goroutines, create_goroutine);
    if (done && c->beginning.has_max)
        done = put_at(c, row_of_metric(c->carry.version, GOTRACE_METRIC_GOMAXPROCS),
                      c->beginning.first_proc, GOTRACE_NO_THREAD, &c->beginning.max_procs, 1);
    done = done && each(c, &c->beginning.procs, start_proc) &&
           each(c, &c->beginning.goroutines, start_goroutine);
    for (size_t i = 0; done && i < GOTRACE_RANGES; i++)
        done = each(c, &c->beginning.ranges[i], begin_range);
    return done;
}

/* ---- both ------------------------------------------------------------------------------------ */

bool cut_begin(cut *c)
{
    uint64_t start = raw_of(c)->ticks,
             added = c->beginning.goroutines.count + c->beginning.procs.count;
    /* Readers order events by time: what is added comes before, and takes up to three ticks
     * each. */
    uint64_t before = 3 * added + 16;
    if (added > 0)
        start = !c->job->keep_times && start - c->origin > before ? start - before : c->origin;
    if (gotrace_writer_at(c->carry.writer, start) < 0)
        return cut_fail(c, gotrace_writer_error(c->carry.writer));
    c->now = start;
    beginning_find_procs(&c->beginning, false);
    return c->v2 ? begin_v2(c) : begin_v1(c);
}
