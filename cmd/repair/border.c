/*
 * border.c - v2: how things have to stand when a generation ends that is rebuilt, so that
 * the next one can stay as it stands.
 *
 * That one reports once of each goroutine and proc how it finds it, before the first event that
 * changes it, wherever that is: those statuses are what is aimed at. Who is on a thread is reported
 * on the thread itself; what a thread does not say it has, it has not.
 */
#include "cmd/repair/rebuild.h"

/* A status that the next generation reports. */
typedef struct standing {
    const gotrace_event_spec *spec;
    uint64_t args[3];
    size_t arg_count;
    int64_t thread; /* on which it is reported */
} standing;

static bool is_proc_status(const standing *s)
{
    return s->spec->semantics.resource == GOTRACE_RESOURCE_PROC;
}

/* What a thread has then. */
typedef struct m_wanted {
    bool has_p, has_g;
    int64_t p;
} m_wanted;

typedef struct border {
    rebuild *t;
    standing *list;
    size_t count, capacity;
    int64_t *order; /* the threads, as they appear */
    size_t thread_count, order_capacity;
    idmap threads;
} border;

/* ---- what the next generation says ---------------------------------------------------------- */

static m_wanted *thread_of(border *b, int64_t id)
{
    rebuild *t = b->t;
    m_wanted *m = idmap_find(&b->threads, (uint64_t)id);
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

static bool note_status(border *b, const repair_record *record, int64_t thread)
{
    rebuild *t = b->t;
    if (!parts_grow(t->r->memory, &b->list, &b->capacity, b->count + 1, sizeof *b->list,
                    t->r->error)) {
        t->failed = true;
        return false;
    }
    bool proc = record->spec->semantics.resource == GOTRACE_RESOURCE_PROC;
    standing *s = &b->list[b->count++];
    *s = (standing){.thread = thread, .arg_count = proc ? 2 : 3};
    /* Of the two statuses of goroutines, the one without a stack. */
    s->spec = gotrace_event_spec_of(t->r->version,
                                    proc ? GOTRACE_V2_ProcStatus : GOTRACE_V2_GoStatus);
    memcpy(s->args, record->args + 1, s->arg_count * sizeof *s->args);
    if (proc && thread != GOTRACE_NO_THREAD &&
        (s->args[1] == P_RUNNING || s->args[1] == P_IN_SYSCALL)) {
        m_wanted *m = thread_of(b, thread);
        if (!m)
            return false;
        m->has_p = true;
        m->p = (int64_t)s->args[0];
    }
    if (!proc && (s->args[2] == G_RUNNING || s->args[2] == G_IN_SYSCALL)) {
        m_wanted *m = thread_of(b, (int64_t)s->args[1]);
        if (!m)
            return false;
        m->has_g = true;
    }
    return true;
}

static bool note_batch(border *b, const repair_batch *batch)
{
    rebuild *t = b->t;
    const uint8_t *p = t->image->bytes + batch->body, *end = t->image->bytes + batch->end;
    int64_t thread = batch->owner == UINT64_MAX ? GOTRACE_NO_THREAD : (int64_t)batch->owner;
    repair_record record;
    if (batch->kind != PARTS_EVENTS || batch->is_experiment)
        return true;
    if (thread != GOTRACE_NO_THREAD && !thread_of(b, thread))
        return false;
    for (; repair_record_at(t->r->version, p, end, &record); p += record.size)
        if (record.spec->semantics.status && !note_status(b, &record, thread))
            return false;
    return true;
}

/* ---- getting there -------------------------------------------------------------------------- */

/* In the first generation a goroutine need not be created: it waited all the time. A proc can come
 * at any time. */
static void make_known(border *b, const standing *s)
{
    rebuild *t = b->t;
    bool proc = is_proc_status(s);
    gotrace_state state = proc ? rebuild_proc(t, (int64_t)s->args[0]).state
                               : rebuild_goroutine(t, s->args[0]).state;
    bool later = !proc && gotrace_writer_generation(t->writer) > 1;
    if (later || state != GOTRACE_STATE_UNDETERMINED)
        return;
    const uint64_t of_proc[2] = {s->args[0], P_IDLE};
    const uint64_t of_goroutine[3] = {s->args[0], UINT64_MAX,
                                      s->args[2] == G_RUNNABLE ? G_RUNNABLE : G_WAITING};
    const gotrace_event_data h = {.spec = s->spec,
                                  .proc = GOTRACE_NO_PROC,
                                  .thread = GOTRACE_NO_THREAD,
                                  .args = proc ? of_proc : of_goroutine,
                                  .arg_count = proc ? 2 : 3};
    rebuild_pass(t, &h);
}

static void settle(border *b, const standing *s)
{
    rebuild *t = b->t;
    bool proc = is_proc_status(s);
    bool placed = proc ? s->args[1] == P_RUNNING
                       : s->args[2] == G_RUNNING || s->args[2] == G_IN_SYSCALL;
    gotrace_event_data h = {.spec = s->spec,
                            .proc = GOTRACE_NO_PROC,
                            .thread = placed ? s->thread : rebuild_busy_thread(t, s->thread),
                            .args = s->args,
                            .arg_count = s->arg_count};
    if (h.thread == GOTRACE_NO_THREAD && (proc || !placed))
        return;
    const m_wanted *m = proc ? NULL : idmap_find(&b->threads, s->args[1]);
    if (placed && m && m->has_p)
        h.proc = m->p;
    if (rebuild_at(t, t->now, h.thread))
        rebuild_reach(t, &h);
}

static void settle_all(border *b, bool procs, uint64_t status)
{
    for (size_t i = 0; i < b->count && !b->t->failed; i++) {
        const standing *s = &b->list[i];
        bool proc = is_proc_status(s);
        if (proc == procs && s->args[proc ? 1 : 2] == status)
            settle(b, s);
    }
}

/* Threads that do not have what they had. */
static void clear_threads(border *b, bool procs)
{
    rebuild *t = b->t;
    for (size_t i = 0; i < b->thread_count && !t->failed; i++) {
        const m_wanted *wanted = idmap_find(&b->threads, (uint64_t)b->order[i]);
        m_life m = rebuild_thread(t, b->order[i]);
        if (procs && m.has_p && !wanted->has_p)
            rebuild_clear_proc(t, b->order[i]);
        else if (!procs && m.g != 0 && !wanted->has_g)
            rebuild_clear_thread(t, b->order[i]);
    }
}

/* Whether a GC cycle goes on when the next generation that has events of one begins. One that
 * nothing is left of stands for those that are missing by their numbers. */
static void turn_gc(border *b)
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
        rebuild_turn_gc(t, true);
    rebuild_turn_gc(t, next.on);
}

bool rebuild_border(rebuild *t, uint64_t generation)
{
    border b = {.t = t};
    bool done = true;
    idmap_init(&b.threads, sizeof(m_wanted));
    const repair_batch *batch = repair_first_batch(&t->layout, generation);
    const repair_batch *end = t->layout.batches + t->layout.count;
    for (; done && batch < end && batch->generation == generation; batch++)
        done = note_batch(&b, batch);
    if (done) {
        for (size_t i = 0; i < b.count && !t->failed; i++)
            make_known(&b, &b.list[i]);
        turn_gc(&b);
        settle_all(&b, false, G_IN_SYSCALL);
        settle_all(&b, false, G_WAITING);
        settle_all(&b, false, G_RUNNABLE);
        settle_all(&b, true, P_IDLE);
        clear_threads(&b, true);
        settle_all(&b, true, P_RUNNING);
        settle_all(&b, false, G_RUNNING);
        clear_threads(&b, false);
        turn_gc(&b);
    }
    parts_drop(t->r->memory, b.list, b.capacity, sizeof *b.list);
    parts_drop(t->r->memory, b.order, b.order_capacity, sizeof *b.order);
    idmap_free(&b.threads);
    return done && !t->failed;
}
