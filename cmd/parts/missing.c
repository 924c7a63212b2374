/* missing.c - report signs of a missing part: procs or threads that are mentioned but have no
 * events, and what every generation contains but one lacks. */
#include <inttypes.h>
#include <stdlib.h>

#include "cmd/parts/merge.h"
#include "gotrace_experimental.h"

/* A proc or thread that has batches, or (has is false) is only mentioned. */
typedef struct owner {
    uint64_t id;
    bool has;
} owner;

/* A proc that a generation contains. */
typedef struct given_proc {
    uint64_t generation, proc;
} given_proc;

typedef struct owners {
    parts_merge *m;
    bool waits; /* an event waits for a missing one: search every mention */
    owner *list;
    size_t count, capacity;
    uint64_t named_procs; /* v1: number of procs set by Gomaxprocs */
    uint64_t generation;  /* of the current batch */
    given_proc *procs;
    size_t proc_count, proc_capacity;
} owners;

enum { GIVEN = 10 };

static bool add_owner(owners *o, uint64_t id, bool has, gotrace_error *error)
{
    const owner *last = o->count > 0 ? &o->list[o->count - 1] : NULL;
    if (id == UINT64_MAX || (last && last->id == id && last->has == has))
        return true;
    if (!parts_grow(&o->m->memory, &o->list, &o->capacity, o->count + 1, sizeof *o->list, error))
        return false;
    o->list[o->count++] = (owner){id, has};
    return true;
}

static bool add_proc(owners *o, uint64_t proc, gotrace_error *error)
{
    const given_proc *last = o->proc_count > 0 ? &o->procs[o->proc_count - 1] : NULL;
    if (last && last->proc == proc && last->generation == o->generation)
        return true;
    if (!parts_grow(&o->m->memory, &o->procs, &o->proc_capacity, o->proc_count + 1,
                    sizeof *o->procs, error))
        return false;
    o->procs[o->proc_count++] = (given_proc){o->generation, proc};
    return true;
}

/* v2: add threads in any argument, if an event waits; otherwise the procs of the generation. */
static bool name_v2(owners *o, const gotrace_record *record, gotrace_error *error)
{
    const gotrace_semantics *does = record->spec->semantics;
    bool of_proc = does->resource == GOTRACE_RESOURCE_PROC &&
                   (does->status || does->proc.to == GOTRACE_STATE_RUNNING);
    if (!o->waits)
        return !of_proc || add_proc(o, record->args[1], error);
    const gotrace_arg_spec *args[GOTRACE_MAX_ARGS];
    size_t count = gotrace_event_args(record->spec, o->m->version, args);
    bool done = true;
    for (size_t i = 0; i < count && done; i++)
        if (args[i]->kind == GOTRACE_ARG_THREAD && record->spec->code != GOTRACE_V2_EventBatch)
            done = add_owner(o, record->args[i], false, error);
    return done;
}

/* v1: add procs of samples, and if an event waits the procs set by Gomaxprocs; one that did nothing
 * has no events. */
static bool name_v1(owners *o, const gotrace_record *record, gotrace_error *error)
{
    enum { MOST_PROCS = 4096 };
    bool done = true;
    if (record->spec->code == GOTRACE_V1_CPUSample)
        return add_owner(o, record->args[2], false, error);
    if (record->spec->code == GOTRACE_V1_Gomaxprocs && o->waits) {
        uint64_t procs = record->args[o->m->version < 7 ? 2 : 1];
        for (; o->named_procs < procs && o->named_procs < MOST_PROCS && done; o->named_procs++)
            done = add_owner(o, o->named_procs, false, error);
    }
    return done;
}

static gotrace_status name_record(void *ctx, const gotrace_record *record, gotrace_error *error)
{
    owners *o = ctx;
    bool done = o->m->version >= GOTRACE_FIRST_V2 ? name_v2(o, record, error)
                                                  : name_v1(o, record, error);
    return done ? GOTRACE_OK : GOTRACE_ERROR;
}

/* ---- reports -------------------------------------------------------------------------------- */

static int compare_named(const void *a, const void *b)
{
    const owner *x = a, *y = b;
    if (x->id != y->id)
        return x->id < y->id ? -1 : 1;
    return (int)y->has - (int)x->has;
}

static void report_owners(const owners *o)
{
    const char *what = o->m->version < GOTRACE_FIRST_V2 ? "proc" : "thread";
    size_t given = 0;
    qsort(o->list, o->count, sizeof *o->list, compare_named);
    for (size_t i = 0; i < o->count; i++)
        if (!o->list[i].has && (i == 0 || o->list[i - 1].id != o->list[i].id) && ++given <= GIVEN)
            merge_report(o->m, "there is a %s %" PRIu64 ", but no part contains its events", what,
                         o->list[i].id);
    if (given > GIVEN)
        merge_report(o->m, "and %zu more", given - GIVEN);
}

static int compare_procs(const void *a, const void *b)
{
    const given_proc *x = a, *y = b;
    if (x->generation != y->generation)
        return x->generation < y->generation ? -1 : 1;
    return x->proc < y->proc ? -1 : x->proc > y->proc;
}

/* Before a generation ends, the tracer writes the status of every proc; procs are numbered from 0.
 */
static void report_procs(const owners *o)
{
    size_t given = 0;
    uint64_t expected = 0;
    qsort(o->procs, o->proc_count, sizeof *o->procs, compare_procs);
    for (size_t i = 0; i < o->proc_count; i++) {
        const given_proc *p = &o->procs[i];
        if (i == 0 || p->generation != p[-1].generation)
            expected = 0;
        if (p->proc > expected && ++given <= GIVEN)
            merge_report(o->m,
                         "a part may be missing: generation %" PRIu64 " contains proc %" PRIu64
                         ", but not proc %" PRIu64,
                         p->generation, p->proc, expected);
        if (p->proc >= expected)
            expected = p->proc + 1;
    }
    if (given > GIVEN)
        merge_report(o->m, "and %zu more", given - GIVEN);
}

/* Every generation contains goroutines without events, whose statuses have no thread. */
static void report_threadless(const owners *o)
{
    const parts_batches *all = &o->m->batches;
    bool given = false, elsewhere = false;
    for (size_t i = 0; i < all->count; i++)
        if (all->list[i].kind == PARTS_EVENTS) {
            given = given || all->list[i].owner == UINT64_MAX;
            elsewhere = true;
        }
    if (elsewhere && !given)
        merge_report(o->m, "a part may be missing: no part contains the events without a thread");
}

static bool look_into(owners *o, const parts_batch *b, gotrace_error *error)
{
    parts_merge *m = o->m;
    if (b->kind != PARTS_EVENTS && b->kind != PARTS_SAMPLES)
        return true;
    if (b->kind == PARTS_EVENTS && !add_owner(o, b->owner, true, error))
        return false;
    o->generation = b->generation;
    /* Damage has already been reported. */
    return !merge_source(m, b->input, error) ||
           parts_walk(&m->walker, m->parts[b->input].in.source, b->offset, b->size, name_record, o,
                      error) != GOTRACE_ERROR ||
           error->class_ != GOTRACE_CLASS_SYSTEM;
}

gotrace_status parts_merge_missing(parts_merge *m, bool waits, gotrace_error *error)
{
    owners o = {.m = m, .waits = waits};
    bool done = true;
    for (size_t i = 0; i < m->batches.count && done; i++)
        done = look_into(&o, &m->batches.list[i], error);
    if (done && o.count > 0)
        report_owners(&o);
    if (done && m->version >= GOTRACE_FIRST_V2 && !waits) {
        if (o.proc_count > 0)
            report_procs(&o);
        report_threadless(&o);
    }
    parts_drop(&m->memory, o.list, o.capacity, sizeof *o.list);
    parts_drop(&m->memory, o.procs, o.proc_capacity, sizeof *o.procs);
    return done ? GOTRACE_OK : GOTRACE_ERROR;
}
