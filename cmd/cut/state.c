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
#include "cmd/semantics.h"
#include "formats/common/rows_by_meaning.h"

/* v2: what the statuses say. */
enum { P_RUNNING = 1, P_IDLE, P_IN_SYSCALL, P_ABANDONED };
enum { G_RUNNABLE = 1, G_RUNNING, G_IN_SYSCALL, G_WAITING };

/* ---- following --------------------------------------------------------------------------------
 */

/* v1: effective is false for an event of a futile wake-up, which has no effect for readers. */
static bool set_goroutine(cut *c, uint64_t id, unsigned state, int64_t place, bool effective)
{
    if (state == GOTRACE_STATE_NOT_EXIST) {
        idmap_remove(&c->goroutines, id);
        return true;
    }
    cut_goroutine *g = id ? idmap_insert(&c->goroutines, id) : NULL;
    if (!g)
        return id == 0 || cut_no_memory(c);
    g->state = (uint8_t)state;
    if (effective || g->effective == GOTRACE_STATE_UNDETERMINED)
        g->effective = (uint8_t)state;
    g->place = place;
    return true;
}

static bool set_proc(cut *c, int64_t id, unsigned state, int64_t thread)
{
    cut_proc *p = idmap_insert(&c->procs, (uint64_t)id);
    if (!p)
        return cut_no_memory(c);
    if (state != GOTRACE_STATE_SYSCALL)
        p->caller = 0;
    if (state == GOTRACE_STATE_RUNNING || state == GOTRACE_STATE_SYSCALL || p->state == 0)
        p->thread = thread;
    p->state = (uint8_t)state;
    return true;
}

/* v2: a proc is in a system call if its goroutine enters one, until the call ends, or the goroutine
 * in it, which then leaves the proc behind. */
static void follow_call(cut *c, const gotrace_event *e)
{
    cut_proc *p = e->proc != GOTRACE_NO_PROC ? idmap_find(&c->procs, (uint64_t)e->proc) : NULL;
    const gotrace_semantics *does = c->carry.rows[e->type].spec->semantics;
    if (p && does->proc.to == GOTRACE_STATE_ABANDONED) {
        p->state = GOTRACE_STATE_ABANDONED;
    } else if (p && does->status && e->to == GOTRACE_STATE_SYSCALL && p->caller == 0) {
        p->caller = e->subject;
    } else if (p && p->state == GOTRACE_STATE_RUNNING && e->from == GOTRACE_STATE_RUNNING &&
               e->to == GOTRACE_STATE_SYSCALL) {
        p->state = GOTRACE_STATE_SYSCALL;
        p->caller = e->subject;
    } else if (p && p->state == GOTRACE_STATE_SYSCALL && e->from == GOTRACE_STATE_SYSCALL &&
               e->to == GOTRACE_STATE_RUNNING) {
        p->state = GOTRACE_STATE_RUNNING;
        p->caller = 0;
    }
}

/* v2: a goroutine that does not run is where it was when it stopped, or where a status finds it. */
static void note_stack(cut *c, const gotrace_event *e, bool status)
{
    cut_goroutine *g = idmap_find(&c->goroutines, e->subject);
    if (!g)
        return;
    if (e->to == GOTRACE_STATE_RUNNING) {
        g->stack = 0;
    } else if (e->stack && (status || e->goroutine == e->subject)) {
        g->stack = e->stack;
        g->generation_index = raw_of(c)->generation_index;
    }
}

/* v2, where the event of a status says "running" of a proc in a system call, and "idle" of one that
 * was abandoned in it: its argument says more. */
static gotrace_state status_of_proc(const cut *c, const gotrace_event *e)
{
    return raw_of(c)->args[1] == P_IN_SYSCALL  ? GOTRACE_STATE_SYSCALL
           : raw_of(c)->args[1] == P_ABANDONED ? GOTRACE_STATE_ABANDONED
                                               : e->to;
}

static bool follow_v2(cut *c, const gotrace_event *e)
{
    bool status = c->carry.rows[e->type].spec->semantics->status;
    int64_t thread = e->thread;
    if (e->resource == GOTRACE_RESOURCE_PROC)
        return set_proc(c, (int64_t)e->subject, status ? status_of_proc(c, e) : e->to, thread);
    if (status)
        thread = raw_of(c)->args[1] == UINT64_MAX ? CUT_NOWHERE : (int64_t)raw_of(c)->args[1];
    bool placed = e->to == GOTRACE_STATE_RUNNING || e->to == GOTRACE_STATE_SYSCALL;
    follow_call(c, e);
    if (!set_goroutine(c, e->subject, e->to, placed ? thread : CUT_NOWHERE, true))
        return false;
    note_stack(c, e, status);
    return true;
}

/* By the row, not by the reader's transitions: those of futile wake-ups have none, but the records
 * that are written change states. */
/* v1: the proc where a goroutine runs. */
static int64_t place_of(const gotrace_event *e)
{
    return e->proc == GOTRACE_NO_PROC ? CUT_NOWHERE : e->proc;
}

static bool follow_v1(cut *c, const gotrace_event *e)
{
    const gotrace_semantics *does = semantics_of(c->carry.version, c->carry.rows[e->type].spec);
    const bool effective = !(e->flags & GOTRACE_EVENT_FUTILE);
    if (does->proc.to)
        return set_proc(c, e->proc, does->proc.to,
                        raw_of(c)->arg_count > 0 ? (int64_t)raw_of(c)->args[0] : GOTRACE_NO_THREAD);
    if (does->other.to)
        return set_goroutine(c, raw_of(c)->args[0], does->other.to,
                             does->other.to == GOTRACE_STATE_RUNNING ? place_of(e) : CUT_NOWHERE,
                             effective);
    return !does->self.to || !e->goroutine || does->self.to == does->self.from ||
           set_goroutine(c, e->goroutine, does->self.to,
                         does->self.to == GOTRACE_STATE_RUNNING ? place_of(e) : CUT_NOWHERE,
                         effective);
}

/* The goroutine or proc whose range it is: in v1, for a stop-the-world, that of the event. */
static uint64_t owner_of(const cut *c, const gotrace_event *e)
{
    const gotrace_range_spec *range = gotrace_range_spec_of((gotrace_range)e->range);
    if (c->v2)
        return range->subject == GOTRACE_RESOURCE_NONE ? 0 : e->subject;
    switch (range->owner) {
    case GOTRACE_RESOURCE_PROC: return (uint64_t)e->proc;
    case GOTRACE_RESOURCE_GOROUTINE: return e->goroutine;
    case GOTRACE_RESOURCE_NONE: break;
    }
    return e->range == GOTRACE_RANGE_STW ? (uint64_t)e->proc : 0;
}

static bool end_range(cut *c, const gotrace_event *e, uint64_t owner)
{
    idmap *map = &c->ranges[e->range];
    /* In v1 a stop-the-world may end on another proc. Go 1.5 has several, each on a proc of its
     * own. */
    if (!c->v2 && e->range == GOTRACE_RANGE_STW && map->count > 0 && !idmap_find(map, owner)) {
        uint64_t *procs = idmap_sorted_keys(map);
        if (!procs)
            return cut_no_memory(c);
        owner = procs[0];
        free(procs);
    }
    idmap_remove(map, owner);
    return true;
}

static bool follow_range(cut *c, const gotrace_event *e)
{
    idmap *map = &c->ranges[e->range];
    uint64_t owner = owner_of(c, e);
    if (c->job->part && e->range == GOTRACE_RANGE_GC &&
        raw_of(c)->generation == c->job->part->generation)
        c->last_gc = raw_of(c)->args[0];
    if (e->kind == GOTRACE_KIND_RANGE_END)
        return end_range(c, e, owner);
    cut_range *r = idmap_insert(map, owner);
    if (!r)
        return cut_no_memory(c);
    *r = (cut_range){.begins = c->carry.rows[e->type].spec,
                     .proc = e->proc,
                     .thread = e->thread,
                     .goroutine = e->goroutine,
                     .value = raw_of(c)->arg_count > 0 ? raw_of(c)->args[0] : 0,
                     .reason = gotrace_event_reason(e)};
    return true;
}

bool cut_follow(cut *c, const gotrace_event *e)
{
    const gotrace_event_spec *spec = c->carry.rows[e->type].spec;
    if (!spec || e->flags & GOTRACE_EVENT_NO_BEGIN)
        return true;
    switch ((gotrace_kind)e->kind) {
    case GOTRACE_KIND_NONE:
    case GOTRACE_KIND_TRANSITION: return c->v2 ? follow_v2(c, e) : follow_v1(c, e);
    case GOTRACE_KIND_RANGE_BEGIN:
    case GOTRACE_KIND_RANGE_ACTIVE:
    case GOTRACE_KIND_RANGE_END: return follow_range(c, e);
    case GOTRACE_KIND_METRIC:
        if (spec == row_of_metric(c->carry.version, GOTRACE_METRIC_GOMAXPROCS)) {
            c->has_max = true;
            c->max_procs = gotrace_event_value(e);
        }
        return true;
    case GOTRACE_KIND_SYSCALL:
    case GOTRACE_KIND_LABEL:
    case GOTRACE_KIND_TASK_BEGIN:
    case GOTRACE_KIND_TASK_END:
    case GOTRACE_KIND_REGION_BEGIN:
    case GOTRACE_KIND_REGION_END:
    case GOTRACE_KIND_LOG:
    case GOTRACE_KIND_SYNC:
    case GOTRACE_KIND_EXPERIMENT:
    case GOTRACE_KIND_SAMPLE: break; /* no state */
    }
    return true;
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

/* NULL: the version has no such row. */
static const gotrace_event_spec *status_row(const cut *c, gotrace_resource resource, bool stack)
{
    for (unsigned code = 0; code < 256; code++) {
        const gotrace_event_spec *spec = c->carry.rows[code].spec;
        if (spec && spec->semantics->status && spec->semantics->resource == resource &&
            !(spec->flags & GOTRACE_SPEC_STACK) == !stack)
            return spec;
    }
    return NULL;
}

/* Begins a range, by its own row. */
static bool begin_range(cut *c, uint64_t owner, const void *value)
{
    const cut_range *r = value;
    const gotrace_arg_spec *kinds[GOTRACE_MAX_ARGS];
    uint64_t args[GOTRACE_MAX_ARGS] = {0};
    (void)owner;
    const gotrace_resource of = range_owner(r->begins->semantics->range);
    if ((r->goroutine && !cut_has(c, r->goroutine)) ||
        (c->job->goroutines && of == GOTRACE_RESOURCE_NONE))
        return true;
    /* Only a goroutine that runs can begin to assist. Readers accept the end without it. */
    const cut_goroutine *g = idmap_find(&c->goroutines, r->goroutine);
    int64_t proc = r->proc, thread = r->thread;
    if (of == GOTRACE_RESOURCE_GOROUTINE) {
        if (!g || g->state != GOTRACE_STATE_RUNNING)
            return true;
        proc = g->place;
    }
    if (c->v2 && g && g->place != CUT_NOWHERE) {
        proc = GOTRACE_NO_PROC;
        thread = g->place;
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
    const cut_proc *p = value;
    bool calls = p->state == GOTRACE_STATE_SYSCALL;
    bool held = p->state == GOTRACE_STATE_RUNNING || calls;
    const uint64_t args[2] = {id, p->state == GOTRACE_STATE_ABANDONED ? P_ABANDONED
                                  : !held                             ? P_IDLE
                                  : calls && cut_has(c, p->caller)    ? P_IN_SYSCALL
                                                                      : P_RUNNING};
    return put_at(c, status_row(c, GOTRACE_RESOURCE_PROC, false), GOTRACE_NO_PROC,
                  held ? p->thread : GOTRACE_NO_THREAD, args, 2);
}

static bool put_goroutine(cut *c, uint64_t id, const void *value)
{
    const cut_goroutine *g = value;
    bool runs = g->state == GOTRACE_STATE_RUNNING, calls = g->state == GOTRACE_STATE_SYSCALL;
    if (!cut_has(c, id) || (runs && g->place == CUT_NOWHERE))
        return true;
    const uint64_t args[3] = {id, g->place == CUT_NOWHERE ? UINT64_MAX : (uint64_t)g->place,
                              runs                                 ? G_RUNNING
                              : calls                              ? G_IN_SYSCALL
                              : g->state == GOTRACE_STATE_RUNNABLE ? G_RUNNABLE
                                                                   : G_WAITING};
    /* The stacks of an earlier generation are not known any more. */
    const gotrace_event_spec *stacked = g->stack && g->generation_index == c->first_index
                                            ? status_row(c, GOTRACE_RESOURCE_GOROUTINE, true)
                                            : NULL;
    const gotrace_event_data h = {
        .spec = stacked ? stacked : status_row(c, GOTRACE_RESOURCE_GOROUTINE, false),
        .proc = GOTRACE_NO_PROC,
        .thread = g->place == CUT_NOWHERE ? GOTRACE_NO_THREAD : g->place,
        .args = args,
        .arg_count = 3,
        .stack = stacked ? carry_stack(&c->carry, g->stack) : 0};
    return cut_put(c, &h, true);
}

/* On the thread of its proc or goroutine, after its status. */
static bool put_active(cut *c, uint64_t owner, const void *value)
{
    const cut_range *r = value;
    unsigned range = r->begins->semantics->range;
    const gotrace_event_spec *active = row_of_kind(c->carry.version, GOTRACE_KIND_RANGE_ACTIVE,
                                                   range);
    bool of_goroutine = range_owner(range) == GOTRACE_RESOURCE_GOROUTINE;
    const cut_goroutine *g = of_goroutine ? idmap_find(&c->goroutines, owner) : NULL;
    const cut_proc *p = of_goroutine ? NULL : idmap_find(&c->procs, owner);
    if (!active)
        return begin_range(c, owner, value);
    if ((!g && !p) || !cut_has(c, of_goroutine ? owner : r->goroutine))
        return true;
    bool held = p && p->state == GOTRACE_STATE_RUNNING;
    return put_at(c, active, GOTRACE_NO_PROC,
                  g      ? g->place
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
    const cut_goroutine *g = value;
    (void)id;
    return !c->gc_due || g->state != GOTRACE_STATE_RUNNING || g->place == CUT_NOWHERE ||
           cut_put_gc(c, g->place);
}

static bool begin_v2(cut *c)
{
    c->gc_due = c->ranges[GOTRACE_RANGE_GC].count > 0 && !c->job->goroutines;
    bool done = each(c, &c->procs, put_proc) && each(c, &c->goroutines, put_goroutine);
    for (unsigned i = 0; done && i < GOTRACE_RANGES; i++)
        done = range_owner(i) == GOTRACE_RESOURCE_NONE || each(c, &c->ranges[i], put_active);
    return done && each(c, &c->goroutines, put_gc_active) &&
           (!c->drops || !c->gc_due || cut_put_gc(c, 0)) && /* any thread: it is not written */
           each(c, &c->ranges[GOTRACE_RANGE_STW], begin_range);
}

/* ---- v1 -------------------------------------------------------------------------------------- */

/* The proc that starts tracing: the first that runs. */
static int64_t first_proc(const cut *c)
{
    int64_t first = INT64_MAX;
    size_t cursor = 0;
    uint64_t id;
    void *value;
    while (idmap_next(&c->procs, &cursor, &id, &value))
        if (((const cut_proc *)value)->state == GOTRACE_STATE_RUNNING && (int64_t)id < first)
            first = (int64_t)id;
    return first == INT64_MAX ? 0 : first;
}

static bool create_goroutine(cut *c, uint64_t id, const void *value)
{
    const cut_goroutine *g = value;
    int64_t proc = first_proc(c);
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
    const cut_proc *p = value;
    const uint64_t thread = p->thread == GOTRACE_NO_THREAD ? id : (uint64_t)p->thread;
    return p->state != GOTRACE_STATE_RUNNING ||
           put_at(c, gotrace_event_spec_of(c->carry.version, GOTRACE_V1_ProcStart), (int64_t)id,
                  p->thread, &thread, 1);
}

static bool start_goroutine(cut *c, uint64_t id, const void *value)
{
    const cut_goroutine *g = value;
    if (!cut_has(c, id) || g->state != GOTRACE_STATE_RUNNING)
        return true;
    return put_at(c, gotrace_event_spec_of(c->carry.version, GOTRACE_V1_GoStart), g->place,
                  GOTRACE_NO_THREAD, &id, 1);
}

static bool begin_v1(cut *c)
{
    bool done = each(c, &c->goroutines, create_goroutine);
    if (done && c->has_max)
        done = put_at(c, row_of_metric(c->carry.version, GOTRACE_METRIC_GOMAXPROCS), first_proc(c),
                      GOTRACE_NO_THREAD, &c->max_procs, 1);
    done = done && each(c, &c->procs, start_proc) && each(c, &c->goroutines, start_goroutine);
    for (size_t i = 0; done && i < GOTRACE_RANGES; i++)
        done = each(c, &c->ranges[i], begin_range);
    return done;
}

/* ---- both ------------------------------------------------------------------------------------ */

bool cut_begin(cut *c)
{
    uint64_t start = raw_of(c)->ticks, added = c->goroutines.count + c->procs.count;
    /* Readers order events by time: what is added comes before, and takes up to three ticks
     * each. */
    uint64_t before = 3 * added + 16;
    if (added > 0)
        start = !c->job->keep_times && start - c->origin > before ? start - before : c->origin;
    if (gotrace_writer_at(c->carry.writer, start) < 0)
        return cut_fail(c, gotrace_writer_error(c->carry.writer));
    c->now = start;
    return c->v2 ? begin_v2(c) : begin_v1(c);
}
