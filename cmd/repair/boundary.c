/*
 * boundary.c - v2: end a rebuilt generation in the states in which the following generation, which
 * is copied unchanged, begins.
 *
 * That generation reports the status of each goroutine and proc once, before the first event that
 * changes it, possibly late. These statuses are the target. The status of a running goroutine or
 * proc is reported on its own thread; a thread without such a status has neither proc nor
 * goroutine. They are kept in the order of the records, as recorded, which
 * formats/common/beginning.h does not do.
 */
#include "cmd/repair/rebuild.h"
#include "gotrace_experimental.h"

/* A status reported by the next generation. */
typedef struct next_status {
    const gotrace_event_spec *spec;
    uint64_t args[3];
    size_t arg_count;
    int64_t thread; /* that reports it */
} next_status;

static bool is_proc_status(const next_status *s)
{
    return s->spec->semantics->resource == GOTRACE_RESOURCE_PROC;
}

/* What a thread has at the start of the next generation. */
typedef struct m_target {
    bool has_p, has_g;
    int64_t p;
} m_target;

typedef struct boundary {
    rebuild *t;
    next_status *list;
    size_t count, capacity;
    int64_t *order; /* threads in order of appearance */
    size_t thread_count, order_capacity;
    idmap threads;
} boundary;

/* ---- statuses in the next generation --------------------------------------------------------- */

static m_target *thread_of(boundary *b, int64_t id)
{
    rebuild *t = b->t;
    m_target *m = idmap_find(&b->threads, (uint64_t)id);
    if (m)
        return m;
    m = idmap_insert(&b->threads, (uint64_t)id);
    if (!m)
        fill_error(t->r->error, GOTRACE_RULE_SYSTEM_MEMORY, GOTRACE_NO_OFFSET, "out of memory");
    if (!m || !parts_grow(t->r->memory, &b->order, &b->order_capacity, b->thread_count + 1,
                          sizeof *b->order, t->r->error)) {
        t->failed = true;
        return NULL;
    }
    b->order[b->thread_count++] = id;
    return m;
}

static bool note_status(boundary *b, const repair_record *record, int64_t thread)
{
    rebuild *t = b->t;
    if (!parts_grow(t->r->memory, &b->list, &b->capacity, b->count + 1, sizeof *b->list,
                    t->r->error)) {
        t->failed = true;
        return false;
    }
    bool proc = record->spec->semantics->resource == GOTRACE_RESOURCE_PROC;
    next_status *s = &b->list[b->count++];
    *s = (next_status){.thread = thread, .arg_count = proc ? 2 : 3};
    /* GoStatus rather than GoStatusStack, which would need a stack. */
    s->spec = gotrace_event_spec_of(t->r->version,
                                    proc ? GOTRACE_V2_ProcStatus : GOTRACE_V2_GoStatus);
    memcpy(s->args, record->args + 1, s->arg_count * sizeof *s->args);
    if (proc && thread != GOTRACE_NO_THREAD &&
        (s->args[1] == STATUS_P_RUNNING || s->args[1] == STATUS_P_IN_SYSCALL)) {
        m_target *m = thread_of(b, thread);
        if (!m)
            return false;
        m->has_p = true;
        m->p = (int64_t)s->args[0];
    }
    if (!proc && (s->args[2] == STATUS_G_RUNNING || s->args[2] == STATUS_G_IN_SYSCALL)) {
        m_target *m = thread_of(b, (int64_t)s->args[1]);
        if (!m)
            return false;
        m->has_g = true;
    }
    return true;
}

static bool note_batch(boundary *b, const repair_batch *batch)
{
    rebuild *t = b->t;
    const uint8_t *p = t->image->bytes + batch->body, *end = t->image->bytes + batch->end;
    int64_t thread = batch->owner == UINT64_MAX ? GOTRACE_NO_THREAD : (int64_t)batch->owner;
    repair_record record;
    if (batch->kind != PARTS_EVENTS || batch->is_experiment)
        return true;
    if (thread != GOTRACE_NO_THREAD && !thread_of(b, thread))
        return false;
    for (; repair_read_record(t->r, p, end, &record); p += record.size)
        if (record.spec->semantics->status && !note_status(b, &record, thread))
            return false;
    return true;
}

/* ---- reaching these statuses ----------------------------------------------------------------- */

/* Give an unknown proc, and in the first generation an unknown goroutine, an initial status. */
static void make_known(boundary *b, const next_status *s)
{
    rebuild *t = b->t;
    bool proc = is_proc_status(s);
    gotrace_state state = proc ? rebuild_proc(t, (int64_t)s->args[0]).state
                               : rebuild_goroutine(t, s->args[0]).state;
    bool later = !proc && gotrace_writer_generation(t->writer) > 1;
    if (later || state != GOTRACE_STATE_UNDETERMINED)
        return;
    const uint64_t of_proc[2] = {s->args[0], STATUS_P_IDLE};
    const uint64_t of_goroutine[3] = {s->args[0], UINT64_MAX,
                                      s->args[2] == STATUS_G_RUNNABLE ? STATUS_G_RUNNABLE
                                                                      : STATUS_G_WAITING};
    const gotrace_event_data h = {.spec = s->spec,
                                  .proc = GOTRACE_NO_PROC,
                                  .thread = GOTRACE_NO_THREAD,
                                  .args = proc ? of_proc : of_goroutine,
                                  .arg_count = proc ? 2 : 3};
    rebuild_pass(t, &h);
}

static void reach_one(boundary *b, const next_status *s)
{
    rebuild *t = b->t;
    bool proc = is_proc_status(s);
    bool placed = proc ? s->args[1] == STATUS_P_RUNNING
                       : s->args[2] == STATUS_G_RUNNING || s->args[2] == STATUS_G_IN_SYSCALL;
    gotrace_event_data h = {.spec = s->spec,
                            .proc = GOTRACE_NO_PROC,
                            .thread = placed ? s->thread : rebuild_busy_thread(t, s->thread),
                            .args = s->args,
                            .arg_count = s->arg_count};
    if (h.thread == GOTRACE_NO_THREAD && (proc || !placed))
        return;
    const m_target *m = proc ? NULL : idmap_find(&b->threads, s->args[1]);
    if (placed && m && m->has_p)
        h.proc = m->p;
    if (rebuild_at(t, t->now, h.thread))
        rebuild_reach(t, &h);
}

static void reach_all(boundary *b, bool procs, uint64_t status)
{
    for (size_t i = 0; i < b->count && !b->t->failed; i++) {
        const next_status *s = &b->list[i];
        bool proc = is_proc_status(s);
        if (proc == procs && s->args[proc ? 1 : 2] == status)
            reach_one(b, s);
    }
}

/* Free threads of procs, or goroutines, that they do not have in the next generation. */
static void clear_threads(boundary *b, bool procs)
{
    rebuild *t = b->t;
    for (size_t i = 0; i < b->thread_count && !t->failed; i++) {
        const m_target *wanted = idmap_find(&b->threads, (uint64_t)b->order[i]);
        m_state m = rebuild_thread(t, b->order[i]);
        if (procs && m.has_p && !wanted->has_p)
            rebuild_clear_proc(t, b->order[i]);
        else if (!procs && m.g != 0 && !wanted->has_g)
            rebuild_clear_thread(t, b->order[i]);
    }
}

/* Begin or end a GC cycle, so that the next generation with GC events can follow. If their numbers
 * show that GC events of a lost generation are missing, a cycle begins here. */
static void match_gc(boundary *b)
{
    enum { FAR = 16 };
    rebuild *t = b->t;
    const repair_generations *g = &t->r->generations;
    const repair_generation *now = t->generation + 1;
    repair_gc next = {.first = 0};
    for (int i = 0; i < FAR && now < g->list + g->count && now->kept && next.first == 0; i++)
        next = repair_gc_of(&t->layout, now++->number);
    if (next.first == 0)
        return;
    if (!t->gc_seen && !t->gc_on && !next.on && next.first > t->gc_last + 2 && t->gc_last > 0)
        rebuild_set_gc(t, true);
    rebuild_set_gc(t, next.on);
}

bool rebuild_match_next(rebuild *t, uint64_t generation)
{
    boundary b = {.t = t};
    bool done = true;
    idmap_init(&b.threads, sizeof(m_target));
    const repair_batch *batch = repair_first_batch(&t->layout, generation);
    const repair_batch *end = t->layout.batches + t->layout.count;
    for (; done && batch < end && batch->generation == generation; batch++)
        done = note_batch(&b, batch);
    if (done) {
        for (size_t i = 0; i < b.count && !t->failed; i++)
            make_known(&b, &b.list[i]);
        match_gc(&b);
        reach_all(&b, false, STATUS_G_IN_SYSCALL);
        reach_all(&b, false, STATUS_G_WAITING);
        reach_all(&b, false, STATUS_G_RUNNABLE);
        reach_all(&b, true, STATUS_P_IDLE);
        clear_threads(&b, true);
        reach_all(&b, true, STATUS_P_RUNNING);
        reach_all(&b, false, STATUS_G_RUNNING);
        clear_threads(&b, false);
        match_gc(&b);
    }
    parts_drop(t->r->memory, b.list, b.capacity, sizeof *b.list);
    parts_drop(t->r->memory, b.order, b.order_capacity, sizeof *b.order);
    idmap_free(&b.threads);
    return done && !t->failed;
}
