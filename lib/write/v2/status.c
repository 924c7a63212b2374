/*
 * status.c - v2: statuses, and the beginning and end of generations.
 *
 * Source: Go's runtime/tracestatus.go, traceLocker.eventWriter and traceAdvance: the status of a
 * goroutine or proc is written once per generation, before the first event that refers to it, or at
 * the end of the generation if there is none. Goroutines and procs are in lists in the order of
 * their last status, so that the end of a generation finds those without events without a search.
 */
#include "write/writer.h"

/* Writes a record; args are all its values except the time. */
static bool put_record(gotrace_writer *w, gt_w_thread *t, unsigned code, const uint64_t *args,
                       size_t count)
{
    if (!t)
        t = &w->no_thread;
    uint8_t *p = gt_w_begin_record(w, t, code, count);
    if (!p)
        return false;
    for (size_t i = 0; i < count; i++)
        p = gt_put(p, args[i]);
    gt_v2_commit(&t->buffer, p);
    return true;
}

void gt_w_bind_goroutine(gt_w_thread *t, gt_w_goroutine *g)
{
    if (t && t->goroutine)
        t->goroutine->thread = NULL;
    if (g && g->thread)
        g->thread->goroutine = NULL;
    if (t)
        t->goroutine = g;
    if (g)
        g->thread = t;
}

void gt_w_bind_proc(gt_w_thread *t, gt_w_proc *p)
{
    if (t && t->proc)
        t->proc->thread = NULL;
    if (p && p->thread)
        p->thread->proc = NULL;
    if (t)
        t->proc = p;
    if (p)
        p->thread = t;
}

/* ---- statuses ------------------------------------------------------------------------------- */

static void proc_status_done(gotrace_writer *w, gt_w_proc *p)
{
    p->generation = w->generation;
    p->seq = 0;
    GT_W_REMOVE(w->procs, p);
    GT_W_APPEND(w->procs, p);
}

void gt_w_goroutine_status_done(gotrace_writer *w, gt_w_goroutine *g)
{
    g->generation = w->generation;
    g->seq = 0;
    GT_W_REMOVE(w->goroutines, g);
    GT_W_APPEND(w->goroutines, g);
}

/* When a status that the caller did not pass is written: readers move an event that is at the same
 * tick as the one before. Unless ticks are raised anyway, it is earlier: after all events if there
 * is time, else after those of its thread, but not before an earlier goroutine of that id ended. */
static uint64_t status_ticks(const gotrace_writer *w, const gt_w_thread *t)
{
    enum { BEFORE = 8 }; /* more than there are statuses before an event */
    if (!w->options.equal_ticks || w->ends)
        return w->now;
    uint64_t after = w->latest ? w->latest->buffer.last_ticks : 0;
    if (after + 1 >= w->now)
        after = t->buffer.last_ticks > w->marked_ticks ? t->buffer.last_ticks : w->marked_ticks;
    if (after < w->began)
        after = w->began;
    if (after + BEFORE < w->now)
        after = w->now - BEFORE;
    return after + 1 < w->now ? after + 1 : w->now;
}

/* Later events are at `now` again. */
static void continue_at(gotrace_writer *w, uint64_t now)
{
    if (w->now < now)
        w->now = now;
}

bool gt_w_put_status(gotrace_writer *w, gt_w_thread *t, unsigned code, const uint64_t *args,
                     size_t count)
{
    const uint64_t now = w->now;
    w->now = status_ticks(w, t);
    const bool good = put_record(w, t, code, args, count);
    continue_at(w, now);
    return good;
}

bool gt_w_emit_proc_now(gotrace_writer *w, gt_w_proc *p, gt_w_thread *t)
{
    const uint64_t args[2] = {(uint64_t)p->id, p->state};
    if (p->thread)
        t = p->thread;
    proc_status_done(w, p);
    if (!gt_w_put_status(w, t, GOTRACE_V2_ProcStatus, args, 2))
        return false;
    if (!p->sweeping)
        return true;
    p->sweep_generation = w->generation;
    return gt_w_put_status(w, t, GOTRACE_V2_GCSweepActive, args, 1);
}

bool gt_w_emit_goroutine_now(gotrace_writer *w, gt_w_goroutine *g, gt_w_thread *t, uint64_t thread)
{
    const uint64_t args[3] = {g->id, thread, g->state};
    if (g->state == GT_W_RUNNING && g->thread)
        t = g->thread;
    gt_w_goroutine_status_done(w, g);
    if (!gt_w_put_status(w, t, GOTRACE_V2_GoStatus, args, 3))
        return false;
    if (!g->assisting)
        return true;
    g->assist_generation = w->generation;
    return gt_w_put_status(w, t, GOTRACE_V2_GCMarkAssistActive, args, 1);
}

/* ---- statuses passed by the caller ----------------------------------------------------------- */

static gt_w_thread *thread_given(gt_w_step *s, int64_t id, bool *good)
{
    gt_w_thread *t = id == GOTRACE_NO_THREAD ? &s->w->no_thread : gt_w_make_thread(s->w, id);
    *good = t != NULL;
    return t;
}

/* Checks that the thread has that proc, or none. */
static bool is_free(gt_w_step *s, const gt_w_thread *t, const gt_w_proc *p)
{
    return !t || !t->proc || t->proc == p ||
           gt_w_refuse(s->w, GOTRACE_RULE_CONTEXT,
                       "ProcStatus: thread %lld has proc %lld, so it cannot have %lld",
                       (long long)t->id, (long long)t->proc->id, (long long)p->id);
}

bool gt_w_proc_status_event(gt_w_step *s)
{
    gotrace_writer *w = s->w;
    uint64_t id = s->h->args[0], status = s->h->args[1];
    bool good;
    gt_w_thread *t = thread_given(s, s->h->thread, &good);
    gt_w_proc *p = good ? gt_w_make_proc(w, (int64_t)id) : NULL;
    if (!p)
        return false;
    if (status == GT_W_UNKNOWN || status > GT_W_ABANDONED) {
        if (!gt_w_refuse(w, GOTRACE_RULE_STATUS_PROC,
                         "proc %llu has status %llu; 1 to 4 are possible", gt_w_num(id),
                         gt_w_num(status)))
            return false;
        return put_record(w, t, s->code, s->h->args, 2);
    }
    if (p->generation == w->generation && !w->options.force)
        return true;
    /* A proc that is about to be taken has status "abandoned" while it is in a system call. */
    if (p->state == GT_W_IN_SYSCALL && status == GT_W_ABANDONED && p->thread)
        status = p->state;
    if (p->state != GT_W_UNKNOWN && p->state != status &&
        !gt_w_refuse(w, GOTRACE_RULE_STATUS_PROC, "status of proc %llu given as %s, but it is %s",
                     gt_w_num(id), gt_w_proc_state_name((uint8_t)status),
                     gt_w_proc_state_name(p->state)))
        return false;
    bool held = status == GT_W_BUSY || status == GT_W_IN_SYSCALL;
    /* A thread that exits has id 0 from then on, and may still have a proc. Source: Go 1.25,
     * runtime/os_linux.go, unminit; runtime/proc.go, mexit. */
    bool exits = p->state == GT_W_BUSY && status == GT_W_BUSY && s->h->thread == 0;
    if ((exits || (p->state == GT_W_UNKNOWN && held)) && t != &w->no_thread) {
        if (!is_free(s, t, p))
            return false;
        gt_w_bind_proc(t, p);
    }
    p->state = (uint8_t)status;
    const uint64_t args[2] = {id, status};
    proc_status_done(w, p);
    return put_record(w, p->thread ? p->thread : t, s->code, args, 2);
}

static bool check_status(gt_w_step *s, const gt_w_goroutine *g, uint64_t m, uint64_t status)
{
    gotrace_writer *w = s->w;
    if (g->state == GT_W_NONE && !gt_w_is_first(w) &&
        !gt_w_refuse(w, GOTRACE_RULE_STATUS_GOROUTINE,
                     "goroutine %llu was never created; this is possible in the first generation "
                     "only",
                     gt_w_num(g->id)))
        return false;
    if (g->state != GT_W_NONE && g->state != status &&
        !gt_w_refuse(w, GOTRACE_RULE_STATUS_GOROUTINE,
                     "status of goroutine %llu given as %s, but it is %s", gt_w_num(g->id),
                     gt_w_state_name((uint8_t)status), gt_w_state_name(g->state)))
        return false;
    bool elsewhere = m == GT_V2_NO_THREAD || (g->thread && (uint64_t)g->thread->id != m);
    return status != GT_W_SYSCALL || !elsewhere ||
           gt_w_refuse(w, GOTRACE_RULE_STATUS_GOROUTINE,
                       "status of goroutine %llu given as in a system call on %s thread",
                       gt_w_num(g->id), m == GT_V2_NO_THREAD ? "no" : "another");
}

/* Puts an unknown goroutine on the thread: it runs, or is in a system call there. */
static bool bind_unknown(gt_w_step *s, gt_w_thread *t, gt_w_goroutine *g, uint8_t status)
{
    if (t == &s->w->no_thread)
        return true;
    if (t->goroutine &&
        !gt_w_refuse(s->w, GOTRACE_RULE_CONTEXT,
                     "status of goroutine %llu given as %s on thread %lld, which has "
                     "goroutine %llu",
                     gt_w_num(g->id), gt_w_state_name(status), (long long)t->id,
                     gt_w_num(t->goroutine->id)))
        return false;
    gt_w_bind_goroutine(t, g);
    return true;
}

bool gt_w_goroutine_status_event(gt_w_step *s)
{
    gotrace_writer *w = s->w;
    const gotrace_event_data *h = s->h;
    uint64_t m = h->args[1], status = h->args[2];
    uint64_t args[4] = {h->args[0], m, status, h->stack};
    size_t count = s->code == GOTRACE_V2_GoStatusStack ? 4 : 3;
    bool good;
    gt_w_thread *t = thread_given(s, h->thread, &good);
    gt_w_goroutine *g = good ? gt_w_make_goroutine(w, args[0]) : NULL;
    if (!g)
        return false;
    if (status == GT_W_NONE || status > GT_W_WAITING) {
        if (!gt_w_refuse(w, GOTRACE_RULE_STATUS_GOROUTINE,
                         "goroutine %llu has status %llu; 1 to 4 are possible", gt_w_num(g->id),
                         gt_w_num(status)))
            return false;
        return put_record(w, t, s->code, args, count);
    }
    if (g->generation == w->generation && !w->options.force)
        return true;
    if (!check_status(s, g, m, status))
        return false;
    if (g->state == GT_W_NONE && status == GT_W_SYSCALL && m != GT_V2_NO_THREAD) {
        /* Written on its own thread: if the thread is known, readers reject the status
         * elsewhere. */
        t = gt_w_make_thread(w, (int64_t)m);
        if (!t)
            return false;
    } else if (status == GT_W_SYSCALL && h->proc == GOTRACE_NO_PROC && t->proc) {
        t = &w->no_thread;
    }
    if (g->state == GT_W_NONE && (status == GT_W_RUNNING || status == GT_W_SYSCALL) &&
        !bind_unknown(s, t, g, (uint8_t)status))
        return false;
    g->state = (uint8_t)status;
    gt_w_goroutine_status_done(w, g);
    return put_record(w, t, s->code, args, count);
}

static bool not_going(gt_w_step *s, const char *why)
{
    return gt_w_refuse(s->w, GOTRACE_RULE_RANGE, "%s, but %s", gt_w_name(s), why);
}

bool gt_w_sweep_active(gt_w_step *s)
{
    gotrace_writer *w = s->w;
    bool good, first = gt_w_is_first(w);
    gt_w_thread *t = thread_given(s, s->h->thread, &good);
    if (!good)
        return false;
    gt_w_proc *p = gt_w_find_proc(w, (int64_t)s->h->args[0]);
    bool known = p && p->state != GT_W_UNKNOWN;
    bool goes_on = known && (p->sweeping || (first && !p->swept));
    if (known && p->sweep_generation == w->generation && p->sweeping)
        return true;
    if (!goes_on && !not_going(s, known ? "the proc is not sweeping" : "the proc is not there"))
        return false;
    if (!p)
        return put_record(w, t, s->code, s->h->args, 1);
    p->sweeping = p->swept = true;
    /* If the proc's status is due, it includes the range. */
    if (p->generation != w->generation)
        return gt_w_emit_proc_now(w, p, t);
    p->sweep_generation = w->generation;
    return put_record(w, t, s->code, s->h->args, 1);
}

bool gt_w_assist_active(gt_w_step *s)
{
    gotrace_writer *w = s->w;
    bool good, first = gt_w_is_first(w);
    gt_w_thread *t = thread_given(s, s->h->thread, &good);
    if (!good)
        return false;
    gt_w_goroutine *g = gt_w_find_goroutine(w, s->h->args[0]);
    bool known = g && g->state != GT_W_NONE;
    bool goes_on = known && (g->assisting || (first && !g->assisted));
    if (known && g->assist_generation == w->generation && g->assisting)
        return true;
    if (!goes_on &&
        !not_going(s, known ? "the goroutine is not assisting" : "the goroutine is not there"))
        return false;
    if (!g)
        return put_record(w, t, s->code, s->h->args, 1);
    g->assisting = g->assisted = true;
    if (g->generation != w->generation)
        return gt_w_emit_goroutine_now(w, g, t,
                                       g->thread ? (uint64_t)g->thread->id : GT_V2_NO_THREAD);
    g->assist_generation = w->generation;
    return put_record(w, t, s->code, s->h->args, 1);
}

/* ---- generations ---------------------------------------------------------------------------- */

static uint64_t to_ns(uint64_t ticks, uint64_t frequency)
{
    uint64_t seconds = ticks / frequency, rest = ticks % frequency;
    return seconds * 1000000000 + (uint64_t)((double)rest * 1e9 / (double)frequency);
}

/* The clock snapshot for the current time, computed from the one that the caller passed. */
static gotrace_clocks clocks_now(const gotrace_writer *w)
{
    gotrace_clocks c = w->clocks;
    if (w->has_clocks)
        return c;
    bool later = w->now >= c.ticks;
    uint64_t ns = to_ns(later ? w->now - c.ticks : c.ticks - w->now, w->options.frequency);
    uint64_t nanoseconds = c.wall_nanoseconds + ns % 1000000000;
    c.ticks = w->now;
    if (later) {
        c.monotonic_ns += ns;
        c.wall_seconds += ns / 1000000000 + nanoseconds / 1000000000;
        c.wall_nanoseconds = nanoseconds % 1000000000;
        return c;
    }
    c.monotonic_ns = c.monotonic_ns > ns ? c.monotonic_ns - ns : 0;
    nanoseconds = c.wall_nanoseconds + 1000000000 - ns % 1000000000;
    uint64_t seconds = ns / 1000000000 + (nanoseconds < 1000000000);
    c.wall_seconds = c.wall_seconds > seconds ? c.wall_seconds - seconds : 0;
    c.wall_nanoseconds = nanoseconds % 1000000000;
    return c;
}

bool gt_w_open_generation_now(gotrace_writer *w)
{
    w->open = true;
    gt_w_began(w);
    if (w->version < GOTRACE_FIRST_SYNC)
        return true;
    w->clocks = clocks_now(w);
    return gt_v2_sync(w->encoder, w->now, w->options.frequency, &w->clocks) == GOTRACE_OK ||
           (gt_w_encoder_failed(w), false);
}

bool gt_w_emit_gc(gotrace_writer *w, gt_w_thread *t)
{
    if (!t->proc || t->proc->state != GT_W_BUSY || !t->goroutine ||
        t->goroutine->state != GT_W_RUNNING)
        return true;
    const uint64_t seq = ++w->gc_seq;
    w->gc_generation = w->generation;
    w->gc_due = false;
    return gt_w_put_status(w, t, GOTRACE_V2_GCActive, &seq, 1);
}

/* An active GC cycle can only be recorded while a goroutine runs. */
static bool emit_remaining_gc(gotrace_writer *w)
{
    for (gt_w_thread *t = w->threads.first;
         t && w->gc == GT_W_GC_ON && w->gc_generation != w->generation; t = t->next)
        if (!gt_w_emit_gc(w, t))
            return false;
    return true;
}

/* Whether the thread's own batches must have the status of its goroutine: it runs there, or it is
 * in a system call and the thread has events, because its proc was taken. Readers then reject the
 * status in other batches (Go 1.27, internal/trace/order.go, advanceGoStatus). */
static bool must_emit_own_status(const gt_w_thread *t)
{
    return t->goroutine && (t->goroutine->state == GT_W_RUNNING ||
                            (t->goroutine->state == GT_W_SYSCALL && t->buffer.used > 0));
}

/* Writes the remaining statuses of procs and running goroutines, on their threads, before the
 * buffers are written. */
static bool emit_remaining_procs(gotrace_writer *w)
{
    for (gt_w_proc *p = w->procs.first, *next; p && p->generation != w->generation; p = next) {
        next = p->next;
        if (p->state != GT_W_UNKNOWN && !gt_w_emit_proc(w, p, w->latest))
            return false;
    }
    for (gt_w_thread *t = w->threads.first; t; t = t->next)
        if (must_emit_own_status(t) && !gt_w_emit_goroutine(w, t->goroutine, t, (uint64_t)t->id))
            return false;
    return emit_remaining_gc(w);
}

static bool emit_remaining_goroutines(gotrace_writer *w)
{
    for (gt_w_goroutine *g = w->goroutines.first, *next; g && g->generation != w->generation;
         g = next) {
        next = g->next;
        uint64_t thread = g->thread ? (uint64_t)g->thread->id : GT_V2_NO_THREAD;
        if (g->state != GT_W_NONE && !gt_w_emit_goroutine(w, g, &w->no_thread, thread))
            return false;
    }
    return true;
}

static bool flush(gotrace_writer *w, gt_w_thread *t)
{
    return gt_v2_flush(w->encoder, &t->buffer) == GOTRACE_OK || (gt_w_encoder_failed(w), false);
}

/* When the generation's last statuses are written. Now is when the next generation begins, and
 * readers move its first events by a tick for each status, so with equal ticks it is right after
 * the last event. */
static uint64_t end_ticks(const gotrace_writer *w)
{
    if (!w->options.equal_ticks || !w->latest)
        return w->now;
    uint64_t after = w->latest->buffer.last_ticks + 1;
    return after > w->began && after < w->now ? after : w->now;
}

/* Writes the latest threads first: the runtime's list is in that order. */
static bool emit_remaining(gotrace_writer *w)
{
    if (!emit_remaining_procs(w))
        return false;
    for (gt_w_thread *t = w->threads.last; t; t = t->previous)
        if (!flush(w, t))
            return false;
    return emit_remaining_goroutines(w) && flush(w, &w->no_thread);
}

static bool end_generation(gotrace_writer *w)
{
    const uint64_t now = w->now;
    if (w->version < GOTRACE_FIRST_SYNC &&
        gt_v2_sync(w->encoder, now, w->options.frequency, NULL) != GOTRACE_OK)
        return gt_w_encoder_failed(w), false;
    w->ends = true;
    w->now = end_ticks(w);
    const bool good = emit_remaining(w);
    w->ends = false;
    continue_at(w, now);
    if (!good)
        return false;
    if (gt_v2_end_generation(w->encoder, w->now) != GOTRACE_OK)
        return gt_w_encoder_failed(w), false;
    w->generation = w->encoder->generation;
    w->open = w->has_clocks = w->gc_due = false;
    return true;
}

gotrace_status gt_w_v2_begin_due(gotrace_writer *w, uint64_t ticks)
{
    gotrace_status status = gt_w_v2_advance(w, NULL, ticks);
    w->gc_due = w->gc == GT_W_GC_ON;
    return status;
}

gotrace_status gt_w_v2_advance(gotrace_writer *w, const gotrace_clocks *clocks, uint64_t ticks)
{
    /* An empty generation is not written; the clocks then apply to the current one. */
    if (w->open && !end_generation(w))
        return GOTRACE_ERROR;
    w->began = ticks;
    w->begun = true;
    if (clocks) {
        w->clocks = *clocks;
        w->has_clocks = true;
    }
    return GOTRACE_OK;
}

gotrace_status gt_w_v2_finish(gotrace_writer *w)
{
    /* A trace without events has one generation too. */
    if (!w->open && w->begun && gt_w_is_first(w) && !gt_w_open_generation_now(w))
        return GOTRACE_ERROR;
    if (w->open && !end_generation(w))
        return GOTRACE_ERROR;
    return gt_encoder_finish(w->encoder, 0, 0) == GOTRACE_OK ? GOTRACE_OK : gt_w_encoder_failed(w);
}
