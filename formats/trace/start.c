/*
 * start.c - the initial state of a v1 trace: all goroutines that existed before.
 *
 * v2 records the status of each goroutine and proc before its first event, anywhere in the first
 * generation. So that generation is read twice.
 */
#include <stdlib.h>

#include "formats/common/beginning.h"
#include "formats/trace/version.h"

/* Whether the event is a part of the initial state: a status, an active range, or the first
 * GOMAXPROCS. */
static bool is_initial(const beginning *b, const gotrace_event_spec *row, const gotrace_event *e)
{
    return row_is_status(row) ||
           (gotrace_event_metric(e) == GOTRACE_METRIC_GOMAXPROCS && !b->has_max);
}

/* Reads the first generation. The converter's own reader reports problems. */
static bool read_initial_state(version_converter *c, beginning *b)
{
    gotrace_config config = {.limits = c->job->config->limits,
                             .spool_dir = c->job->config->spool_dir};
    gotrace_reader *reader;
    const gotrace_event *e;
    gotrace_status status;
    if (gotrace_reader_open(c->job->source, &config, &reader, c->error) < 0)
        return version_fail(c, c->error);
    int syncs = 0;
    bool enough_memory = true;
    while (enough_memory && (status = gotrace_reader_next(reader, &e)) == GOTRACE_EVENT) {
        if (e->kind == GOTRACE_KIND_SYNC) {
            if (++syncs == 2)
                break;
            continue;
        }
        const gotrace_event_spec *row = c->rows.source[e->type];
        enough_memory = !is_initial(b, row, e) ||
                        beginning_follow(b, row, e, gotrace_reader_raw(reader));
    }
    if (enough_memory && status < 0)
        version_fail(c, gotrace_reader_error(reader));
    gotrace_reader_close(reader);
    return enough_memory ? c->status >= 0 : version_no_memory(c);
}

/* Emits an event for a state at the beginning of the trace. */
static bool emit_initial(version_converter *c, const gotrace_event_spec *row, int64_t proc,
                         uint64_t number, uint64_t start)
{
    emission t = {.row = row,
                  .proc = proc,
                  .thread = GOTRACE_NO_THREAD,
                  .start = start,
                  .start_outermost = true};
    t.numbers[ROLE_GOROUTINE] = t.numbers[ROLE_THREAD] = t.numbers[ROLE_VALUE] = number;
    return !row || version_emit(c, &t);
}

static bool emit_goroutine(version_converter *c, const beginning *b, uint64_t id, const void *value)
{
    const beginning_goroutine *g = value;
    const bool calls = g->state == GOTRACE_STATE_SYSCALL;
    const bool blocks = calls || g->state == GOTRACE_STATE_WAITING;
    goroutine_state *now = version_goroutine(c, id);
    if (!now)
        return false;
    now->in_syscall = calls;
    return emit_initial(c, c->rows.changes[GOTRACE_STATE_NOT_EXIST][GOTRACE_STATE_RUNNABLE],
                        b->first_proc, id, g->stack) &&
           (!blocks || emit_initial(c, c->rows.changes[GOTRACE_STATE_RUNNABLE][g->state],
                                    b->first_proc, id, 0));
}

/* The proc starts, if it runs or is in a system call. */
static bool emit_proc(version_converter *c, const beginning *b, uint64_t id, const void *value)
{
    const beginning_proc *p = value;
    (void)b;
    if (p->state != GOTRACE_STATE_RUNNING && p->state != GOTRACE_STATE_SYSCALL)
        return true;
    proc_state *now = version_proc(c, (int64_t)id);
    if (!now)
        return false;
    now->running = true;
    return emit_initial(c, c->rows.procs[GOTRACE_STATE_IDLE][GOTRACE_STATE_RUNNING], (int64_t)id,
                        (uint64_t)p->thread, 0);
}

/* The goroutine starts to run, if it does. */
static bool emit_run(version_converter *c, const beginning *b, uint64_t id, const void *value)
{
    const beginning_goroutine *g = value;
    (void)b;
    if (g->proc == GOTRACE_NO_PROC)
        return true;
    proc_state *now = version_proc(c, g->proc);
    if (!now)
        return false;
    now->goroutine = id;
    return emit_initial(c, c->rows.changes[GOTRACE_STATE_RUNNABLE][GOTRACE_STATE_RUNNING], g->proc,
                        id, 0);
}

/* v1 records an active range as a begin. */
static bool emit_range(version_converter *c, const beginning *b, uint64_t id, const void *value)
{
    const unsigned range = ((const beginning_range *)value)->begins->semantics->range;
    const gotrace_resource owner = range_owner(range);
    const beginning_goroutine *g = idmap_find(&b->goroutines, id);
    const int64_t proc = owner == GOTRACE_RESOURCE_GOROUTINE ? g ? g->proc : GOTRACE_NO_PROC
                         : owner == GOTRACE_RESOURCE_PROC    ? (int64_t)id
                                                             : b->first_proc;
    return proc == GOTRACE_NO_PROC ||
           emit_initial(c, row_of_kind(c->to, GOTRACE_KIND_RANGE_BEGIN, range), proc, 0, 0);
}

typedef bool emit_fn(version_converter *c, const beginning *b, uint64_t id, const void *value);

/* Calls emit for each entry of the map, by ascending id. */
static bool emit_each(version_converter *c, const beginning *b, const idmap *map, emit_fn *emit)
{
    uint64_t *ids = idmap_sorted_keys(map);
    bool done = ids || map->count == 0 || version_no_memory(c);
    for (size_t i = 0; done && i < map->count; i++)
        done = emit(c, b, ids[i], idmap_find(map, ids[i]));
    free(ids);
    return done;
}

static bool emit_all(version_converter *c, const beginning *b)
{
    bool done = emit_each(c, b, &b->goroutines, emit_goroutine) &&
                emit_each(c, b, &b->procs, emit_proc) && emit_each(c, b, &b->goroutines, emit_run);
    for (size_t i = 0; done && i < GOTRACE_RANGES; i++)
        done = emit_each(c, b, &b->ranges[i], emit_range);
    return done;
}

/* GOMAXPROCS or, if it is not recorded, a lower bound of it. */
static uint64_t max_procs(const beginning *b)
{
    uint64_t most = 1, id;
    size_t cursor = 0;
    void *value;
    if (b->has_max)
        return b->max_procs;
    while (idmap_next(&b->procs, &cursor, &id, &value))
        most = id >= most ? id + 1 : most;
    return most;
}

/* If all timestamps of a proc must differ, each of these events takes a tick; they are written
 * before the time of the first event, so that no later event is delayed. */
static uint64_t count_ticks(const beginning *b)
{
    uint64_t ticks = 3 * b->goroutines.count + b->running + 2;
    for (unsigned i = 0; i < GOTRACE_RANGES; i++)
        ticks += range_owner(i) == GOTRACE_RESOURCE_PROC ? b->ranges[i].count : 0;
    return ticks;
}

bool version_begin_v1(version_converter *c)
{
    beginning b;
    beginning_init(&b, c->from);
    bool done = read_initial_state(c, &b);
    if (done) {
        beginning_find_procs(&b, true);
        uint64_t room = c->strict ? count_ticks(&b) : 2;
        c->lead_ticks = c->raw->ticks > room ? room : 0;
        done = emit_all(c, &b);
        /* This event ends the list of initial states. */
        c->lead_ticks -= c->lead_ticks > 0;
        done = done && emit_initial(c, c->rows.max_procs, b.first_proc, max_procs(&b), 0);
    }
    c->lead_ticks = 0;
    beginning_free(&b);
    return done;
}
