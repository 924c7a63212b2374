/*
 * start.c - the initial_state of a v1 trace: all goroutines that existed before.
 *
 * v2 records the status of each goroutine and proc before its first event, anywhere in the first
 * generation. So that generation is read twice.
 */
#include <stdlib.h>

#include "formats/trace/version.h"

/* A goroutine that existed before the trace. */
typedef struct initial_goroutine {
    uint64_t id;
    uint64_t stack;
    int64_t proc; /* the proc it runs on */
    uint8_t status;
} initial_goroutine;

typedef struct initial_proc {
    int64_t id, thread;
} initial_proc;

/* A growing array. */
typedef struct list {
    void *items;
    size_t count, capacity;
} list;

typedef struct initial_state {
    list goroutines;    /* initial_goroutine */
    list procs;         /* initial_proc: procs that run */
    uint64_t max_procs; /* GOMAXPROCS, or a lower bound of it */
    bool has_max;
    list ranges[GOTRACE_RANGES]; /* active ones: uint64_t, their subjects */
    size_t proc_ranges;          /* those of procs */
} initial_state;

static void *append(list *l, size_t size)
{
    if (l->count == l->capacity) {
        size_t capacity = l->capacity ? 2 * l->capacity : 64;
        void *items = realloc(l->items, capacity * size);
        if (!items)
            return NULL;
        l->items = items;
        l->capacity = capacity;
    }
    return (char *)l->items + size * l->count++;
}

static bool record_goroutine(initial_state *b, const gotrace_event *e, const gotrace_raw *raw)
{
    initial_goroutine *g = append(&b->goroutines, sizeof *g);
    if (g)
        *g = (initial_goroutine){e->subject, e->stack, e->proc, (uint8_t)raw->args[2]};
    return g != NULL;
}

static bool record_proc(initial_state *b, const gotrace_event *e, const gotrace_raw *raw)
{
    if (e->subject >= b->max_procs && !b->has_max)
        b->max_procs = e->subject + 1;
    if (raw->args[1] != PROC_RUNNING && raw->args[1] != PROC_IN_SYSCALL)
        return true;
    initial_proc *p = append(&b->procs, sizeof *p);
    if (p)
        *p = (initial_proc){(int64_t)e->subject, e->thread};
    return p != NULL;
}

static bool record_range(initial_state *b, const gotrace_event *e)
{
    const gotrace_resource owner = range_owner(e->range);
    list *l = &b->ranges[e->range];
    if (owner == GOTRACE_RESOURCE_NONE && l->count > 0)
        return true;
    uint64_t *id = append(l, sizeof *id);
    if (id)
        *id = e->subject;
    b->proc_ranges += owner == GOTRACE_RESOURCE_PROC;
    return id != NULL;
}

static bool record_status(const version_converter *c, initial_state *b, const gotrace_event *e,
                          const gotrace_raw *raw)
{
    if (c->rows.source[e->type]->semantics->status)
        return e->resource == GOTRACE_RESOURCE_PROC ? record_proc(b, e, raw)
                                                    : record_goroutine(b, e, raw);
    if (e->kind == GOTRACE_KIND_RANGE_ACTIVE)
        return record_range(b, e);
    if (c->rows.like[e->type] == c->rows.max_procs) {
        if (!b->has_max)
            b->max_procs = gotrace_event_value(e);
        b->has_max = true;
    }
    return true;
}

/* Reads the first generation. The converter's own reader reports problems. */
static bool read_initial_state(version_converter *c, initial_state *b)
{
    gotrace_config config = {.limits = c->job->config->limits,
                             .spool_dir = c->job->config->spool_dir};
    gotrace_reader *reader;
    const gotrace_event *event;
    gotrace_status status;
    if (gotrace_reader_open(c->job->source, &config, &reader, c->error) < 0)
        return version_fail(c, c->error);
    int syncs = 0;
    bool enough_memory = true;
    while (enough_memory && (status = gotrace_reader_next(reader, &event)) == GOTRACE_EVENT) {
        if (event->kind != GOTRACE_KIND_SYNC)
            enough_memory = record_status(c, b, event, gotrace_reader_raw(reader));
        else if (++syncs == 2)
            break;
    }
    if (enough_memory && status < 0)
        version_fail(c, gotrace_reader_error(reader));
    gotrace_reader_close(reader);
    return enough_memory ? c->status >= 0 : version_no_memory(c);
}

static int by_goroutine(const void *a, const void *b)
{
    uint64_t x = ((const initial_goroutine *)a)->id, y = ((const initial_goroutine *)b)->id;
    return (x > y) - (x < y);
}

static int by_proc(const void *a, const void *b)
{
    int64_t x = ((const initial_proc *)a)->id, y = ((const initial_proc *)b)->id;
    return (x > y) - (x < y);
}

/* Emits an event for a state at the initial_state of the trace. */
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

static bool emit_goroutines(version_converter *c, const initial_state *b, int64_t proc)
{
    for (size_t i = 0; i < b->goroutines.count; i++) {
        const initial_goroutine *g = (const initial_goroutine *)b->goroutines.items + i;
        if (!emit_initial(c, c->rows.changes[GOTRACE_STATE_NOT_EXIST][GOTRACE_STATE_RUNNABLE], proc,
                          g->id, g->stack))
            return false;
        gotrace_state state = g->status == STATUS_WAITING      ? GOTRACE_STATE_WAITING
                              : g->status == STATUS_IN_SYSCALL ? GOTRACE_STATE_SYSCALL
                                                               : GOTRACE_STATE_RUNNABLE;
        if (!emit_initial(c, c->rows.changes[GOTRACE_STATE_RUNNABLE][state], proc, g->id, 0))
            return false;
        goroutine_state *now = version_goroutine(c, g->id);
        if (!now)
            return false;
        now->in_syscall = g->status == STATUS_IN_SYSCALL;
    }
    return true;
}

static bool emit_running(version_converter *c, const initial_state *b)
{
    const gotrace_event_spec *starts = c->rows.procs[GOTRACE_STATE_IDLE][GOTRACE_STATE_RUNNING];
    const initial_proc *p = b->procs.items;
    for (size_t i = 0; i < b->procs.count; i++) {
        proc_state *now = version_proc(c, p[i].id);
        if (!now || !emit_initial(c, starts, p[i].id, (uint64_t)p[i].thread, 0))
            return false;
        now->running = true;
    }
    starts = c->rows.changes[GOTRACE_STATE_RUNNABLE][GOTRACE_STATE_RUNNING];
    for (size_t i = 0; i < b->goroutines.count; i++) {
        const initial_goroutine *g = (const initial_goroutine *)b->goroutines.items + i;
        if (g->status != STATUS_RUNNING || g->proc == GOTRACE_NO_PROC)
            continue;
        proc_state *now = version_proc(c, g->proc);
        if (!now || !emit_initial(c, starts, g->proc, g->id, 0))
            return false;
        now->goroutine = g->id;
    }
    return true;
}

/* The proc on which that goroutine runs; GOTRACE_NO_PROC: it does not run. */
static int64_t proc_of(const initial_state *b, uint64_t goroutine)
{
    const initial_goroutine key = {.id = goroutine};
    const initial_goroutine *g = b->goroutines.count > 0
                                     ? bsearch(&key, b->goroutines.items, b->goroutines.count,
                                               sizeof key, by_goroutine)
                                     : NULL;
    return g && g->status == STATUS_RUNNING ? g->proc : GOTRACE_NO_PROC;
}

/* v1 records an active range as a begin. */
static bool emit_ranges(version_converter *c, const initial_state *b, int64_t proc)
{
    for (unsigned range = 0; range < GOTRACE_RANGES; range++) {
        const gotrace_event_spec *begins = row_of_kind(c->to, GOTRACE_KIND_RANGE_BEGIN, range);
        const gotrace_resource owner = range_owner(range);
        const uint64_t *ids = b->ranges[range].items;
        for (size_t i = 0; i < b->ranges[range].count; i++) {
            int64_t on = owner == GOTRACE_RESOURCE_GOROUTINE ? proc_of(b, ids[i])
                         : owner == GOTRACE_RESOURCE_PROC    ? (int64_t)ids[i]
                                                             : proc;
            if (on != GOTRACE_NO_PROC && !emit_initial(c, begins, on, 0, 0))
                return false;
        }
    }
    return true;
}

bool version_begin_v1(version_converter *c)
{
    initial_state b = {.max_procs = 1};
    bool done = read_initial_state(c, &b);
    if (done) {
        const initial_proc *first = b.procs.items;
        if (b.goroutines.count > 0)
            qsort(b.goroutines.items, b.goroutines.count, sizeof(initial_goroutine), by_goroutine);
        if (b.procs.count > 0)
            qsort(b.procs.items, b.procs.count, sizeof(initial_proc), by_proc);
        int64_t proc = b.procs.count > 0 ? first->id : 0;
        /* If all timestamps of a proc must differ, each of these events takes a tick; they are
         * written before the time of the first event, so that no later event is delayed. */
        uint64_t room = 3 * b.goroutines.count + b.procs.count + b.proc_ranges + 2;
        room = c->strict ? room : 2;
        c->lead_ticks = c->raw->ticks > room ? room : 0;
        done = emit_goroutines(c, &b, proc) && emit_running(c, &b) && emit_ranges(c, &b, proc);
        /* This event ends the list of initial states. */
        c->lead_ticks -= c->lead_ticks > 0;
        done = done && emit_initial(c, c->rows.max_procs, proc, b.max_procs, 0);
    }
    c->lead_ticks = 0;
    free(b.goroutines.items);
    free(b.procs.items);
    for (size_t i = 0; i < GOTRACE_RANGES; i++)
        free(b.ranges[i].items);
    return done;
}
