/* beginning.c - see beginning.h. */
#include "formats/common/beginning.h"

#include <stdlib.h>

#include "formats/common/rows_by_meaning.h"

void beginning_init(beginning *b, int version)
{
    *b = (beginning){.version = version};
    idmap_init(&b->goroutines, sizeof(beginning_goroutine));
    idmap_init(&b->procs, sizeof(beginning_proc));
    for (size_t i = 0; i < GOTRACE_RANGES; i++)
        idmap_init(&b->ranges[i], sizeof(beginning_range));
}

void beginning_free(beginning *b)
{
    idmap_free(&b->goroutines);
    idmap_free(&b->procs);
    for (size_t i = 0; i < GOTRACE_RANGES; i++)
        idmap_free(&b->ranges[i]);
}

void beginning_find_procs(beginning *b, bool calls)
{
    size_t cursor = 0;
    uint64_t id;
    void *value;
    b->running = 0;
    b->first_proc = 0;
    while (idmap_next(&b->procs, &cursor, &id, &value)) {
        const uint8_t state = ((const beginning_proc *)value)->state;
        if (state != GOTRACE_STATE_RUNNING && !(calls && state == GOTRACE_STATE_SYSCALL))
            continue;
        if (b->running++ == 0 || (int64_t)id < b->first_proc)
            b->first_proc = (int64_t)id;
    }
}

/* v1: effective is false for an event of a futile wake-up, which has no effect for readers. */
static bool set_goroutine(beginning *b, uint64_t id, unsigned state, int64_t proc, int64_t thread,
                          bool effective)
{
    if (state == GOTRACE_STATE_NOT_EXIST) {
        idmap_remove(&b->goroutines, id);
        return true;
    }
    beginning_goroutine *g = id ? idmap_insert(&b->goroutines, id) : NULL;
    if (!g)
        return id == 0;
    const bool runs = state == GOTRACE_STATE_RUNNING;
    g->state = (uint8_t)state;
    if (effective || g->effective == GOTRACE_STATE_UNDETERMINED)
        g->effective = (uint8_t)state;
    g->proc = runs ? proc : GOTRACE_NO_PROC;
    g->thread = runs || state == GOTRACE_STATE_SYSCALL ? thread : GOTRACE_NO_THREAD;
    return true;
}

static bool set_proc(beginning *b, int64_t id, unsigned state, int64_t thread)
{
    beginning_proc *p = idmap_insert(&b->procs, (uint64_t)id);
    if (!p)
        return false;
    if (state != GOTRACE_STATE_SYSCALL)
        p->caller = 0;
    if (state == GOTRACE_STATE_RUNNING || state == GOTRACE_STATE_SYSCALL || p->state == 0)
        p->thread = thread;
    p->state = (uint8_t)state;
    return true;
}

/* v2: a proc is in a system call from the time when its goroutine enters one until the call ends.
 * If the goroutine ends during the call, the proc is abandoned. */
static void follow_call(beginning *b, const gotrace_semantics *does, const gotrace_event *e)
{
    beginning_proc *p = e->proc != GOTRACE_NO_PROC ? idmap_find(&b->procs, (uint64_t)e->proc)
                                                   : NULL;
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
static void note_stack(beginning *b, const gotrace_event *e, const gotrace_raw *raw, bool status)
{
    beginning_goroutine *g = idmap_find(&b->goroutines, e->subject);
    if (!g)
        return;
    if (!status && (e->from == GOTRACE_STATE_RUNNING || e->to == GOTRACE_STATE_RUNNING))
        g->stack = 0;
    if (e->stack && (status || (e->goroutine == e->subject && e->to != GOTRACE_STATE_RUNNING))) {
        g->stack = e->stack;
        g->generation_index = raw->generation_index;
    }
}

/* v2, where the event of a status says "running" of a proc in a system call, and "idle" of one that
 * was abandoned in it: its argument says more. */
static gotrace_state status_of_proc(const gotrace_event *e, const gotrace_raw *raw)
{
    return raw->args[1] == STATUS_P_IN_SYSCALL  ? GOTRACE_STATE_SYSCALL
           : raw->args[1] == STATUS_P_ABANDONED ? GOTRACE_STATE_ABANDONED
                                                : e->to;
}

static bool follow_v2(beginning *b, const gotrace_semantics *does, const gotrace_event *e,
                      const gotrace_raw *raw)
{
    int64_t thread = e->thread;
    if (e->resource == GOTRACE_RESOURCE_PROC)
        return set_proc(b, (int64_t)e->subject, does->status ? status_of_proc(e, raw) : e->to,
                        thread);
    if (does->status)
        thread = raw->args[1] == UINT64_MAX ? GOTRACE_NO_THREAD : (int64_t)raw->args[1];
    follow_call(b, does, e);
    if (!set_goroutine(b, e->subject, e->to, e->proc, thread, true))
        return false;
    note_stack(b, e, raw, does->status);
    return true;
}

/* By the row, not by the reader's transitions: those of futile wake-ups have none, but the records
 * that are written change states. */
static bool follow_v1(beginning *b, const gotrace_event_spec *spec, const gotrace_event *e,
                      const gotrace_raw *raw)
{
    const gotrace_semantics *does = row_semantics(spec, b->version);
    const bool effective = !(e->flags & GOTRACE_EVENT_FUTILE);
    if (does->proc.to)
        return set_proc(b, e->proc, does->proc.to,
                        raw->arg_count > 0 ? (int64_t)raw->args[0] : GOTRACE_NO_THREAD);
    if (does->other.to)
        return set_goroutine(b, raw->args[0], does->other.to, e->proc, GOTRACE_NO_THREAD,
                             effective);
    return !does->self.to || !e->goroutine || does->self.to == does->self.from ||
           set_goroutine(b, e->goroutine, does->self.to, e->proc, GOTRACE_NO_THREAD, effective);
}

/* The goroutine or proc whose range it is: in v1, for a stop-the-world, that of the event. */
static uint64_t owner_of(const beginning *b, const gotrace_event *e)
{
    const gotrace_range_spec *range = gotrace_range_spec_of((gotrace_range)e->range);
    if (b->version >= GOTRACE_FIRST_V2)
        return range->subject == GOTRACE_RESOURCE_NONE ? 0 : e->subject;
    switch (range->owner) {
    case GOTRACE_RESOURCE_PROC: return (uint64_t)e->proc;
    case GOTRACE_RESOURCE_GOROUTINE: return e->goroutine;
    case GOTRACE_RESOURCE_NONE: break;
    }
    return e->range == GOTRACE_RANGE_STW ? (uint64_t)e->proc : 0;
}

static bool end_range(beginning *b, const gotrace_event *e, uint64_t owner)
{
    idmap *map = &b->ranges[e->range];
    /* In v1 a stop-the-world may end on another proc. Go 1.5 has several, each on a proc of its
     * own. */
    if (b->version < GOTRACE_FIRST_V2 && e->range == GOTRACE_RANGE_STW && map->count > 0 &&
        !idmap_find(map, owner)) {
        uint64_t *procs = idmap_sorted_keys(map);
        if (!procs)
            return false;
        owner = procs[0];
        free(procs);
    }
    idmap_remove(map, owner);
    return true;
}

static bool follow_range(beginning *b, const gotrace_event_spec *spec, const gotrace_event *e,
                         const gotrace_raw *raw)
{
    uint64_t owner = owner_of(b, e);
    if (e->kind == GOTRACE_KIND_RANGE_END)
        return end_range(b, e, owner);
    beginning_range *r = idmap_insert(&b->ranges[e->range], owner);
    if (r)
        *r = (beginning_range){.begins = spec,
                               .proc = e->proc,
                               .thread = e->thread,
                               .goroutine = e->goroutine,
                               .value = raw->arg_count > 0 ? raw->args[0] : 0,
                               .reason = gotrace_event_reason(e)};
    return r != NULL;
}

bool beginning_follow(beginning *b, const gotrace_event_spec *spec, const gotrace_event *e,
                      const gotrace_raw *raw)
{
    switch ((gotrace_kind)e->kind) {
    case GOTRACE_KIND_NONE:
    case GOTRACE_KIND_TRANSITION:
        return b->version < GOTRACE_FIRST_V2 ? follow_v1(b, spec, e, raw)
                                             : follow_v2(b, spec->semantics, e, raw);
    case GOTRACE_KIND_RANGE_BEGIN:
    case GOTRACE_KIND_RANGE_ACTIVE:
    case GOTRACE_KIND_RANGE_END: return follow_range(b, spec, e, raw);
    case GOTRACE_KIND_METRIC:
        if (gotrace_event_metric(e) == GOTRACE_METRIC_GOMAXPROCS) {
            b->has_max = true;
            b->max_procs = gotrace_event_value(e);
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
