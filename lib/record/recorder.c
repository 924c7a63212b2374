/*
 * recorder.c - handles, and the beginning and end of traces and generations.
 */
#include "record/record.h"

#include <sched.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/membarrier.h>

#include "core/sized.h"
#include "record/crash.h"
#include "record/misuse.h"

/* ---- errors ---------------------------------------------------------------------------------- */

/* Keeps the first error, and ends reading. */
static void fail(gotrace_recorder *r)
{
    r->failed = true;
    atomic_store_explicit(&r->era, 0, memory_order_relaxed);
    pthread_cond_broadcast(&r->changed);
    pthread_cond_broadcast(&r->room);
}

void gt_rec_fail_memory(gotrace_recorder *r)
{
    if (!r->failed)
        gt_error_memory(&r->error, &r->heap);
    fail(r);
}

void gt_rec_fail_write(gotrace_recorder *r)
{
    pthread_mutex_lock(&r->lock);
    if (!r->failed)
        gt_error_set(&r->error, GOTRACE_RULE_SYSTEM_WRITE, GT_NO_PLACE,
                     "the write function failed");
    fail(r);
    pthread_mutex_unlock(&r->lock);
}

bool gt_rec_fail_encoder(gotrace_recorder *r)
{
    if (!r->failed)
        r->error = *gotrace_encoder_error(r->encoder);
    fail(r);
    return false;
}

const gotrace_error *gotrace_recorder_error(const gotrace_recorder *r)
{
    return &r->error;
}

/* ---- eras ------------------------------------------------------------------------------------ */

/* A memory barrier in all threads of the process. If the kernel has none, events and those who
 * change the era use sequentially consistent operations. */
static void barrier_everywhere(const gotrace_recorder *r)
{
    if (!r->fences)
        syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
}

static bool has_barrier(void)
{
#if defined __SANITIZE_THREAD__ /* it does not know this system call */
    return false;
#else
    return syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
#endif
}

/* Waits until the thread is not in an event that may have begun before. */
static void wait_for(gotrace_rec_thread *t)
{
    uint64_t busy = atomic_load(&t->busy);
    while (busy % 2 == 1 && atomic_load_explicit(&t->busy, memory_order_acquire) == busy)
        sched_yield();
}

/* Waits until no event of an earlier era goes on. */
static void wait_for_all(gotrace_recorder *r)
{
    barrier_everywhere(r);
    pthread_mutex_lock(&r->lock);
    gotrace_rec_thread *first = r->threads; /* later ones read the new era */
    pthread_mutex_unlock(&r->lock);
    for (gotrace_rec_thread *t = first; t; t = t->next)
        wait_for(t);
}

/* The caller holds the lock. 0: nothing is recorded. */
static void set_era(gotrace_recorder *r, uint64_t era)
{
    atomic_store(&r->era, era);
    pthread_cond_broadcast(&r->room);
}

/* Begins the next era, unless the world is stopped, and must start again in the same era, or the
 * trace is cut. Returns it or 0. */
static uint64_t next_era(gotrace_recorder *r, bool first)
{
    uint64_t era = 0;
    pthread_mutex_lock(&r->world);
    pthread_mutex_lock(&r->lock);
    if (first || (!r->stw.active && !r->cut)) {
        gt_rec_notes_begin(r, r->last_era + 1);
        r->beginning = true;
        set_era(r, era = ++r->last_era);
    }
    pthread_mutex_unlock(&r->lock);
    pthread_mutex_unlock(&r->world);
    return era;
}

/* Begins an era that is recorded, which lacks a GC cycle that is active. Returns when no event of
 * the one before goes on; false: not now. */
static bool begin_era(gotrace_recorder *r, bool first)
{
    const uint64_t era = next_era(r, first);
    if (era == 0)
        return false;
    wait_for_all(r);
    pthread_mutex_lock(&r->lock);
    r->beginning = false;
    pthread_mutex_unlock(&r->lock);
    pthread_mutex_lock(&r->world);
    r->notes[era % GT_REC_OPEN].after = gt_rec_now(r);
    if (r->gc.active && r->gc.era < era)
        atomic_fetch_or_explicit(&r->attention, GT_REC_GC_DUE, memory_order_relaxed);
    pthread_mutex_unlock(&r->world);
    return true;
}

/* Begins the era in which nothing more is recorded, and the states of the last one are completed.
 * The caller holds the lock. */
static void close_era(gotrace_recorder *r)
{
    atomic_store_explicit(&r->attention, GT_REC_CLOSING, memory_order_relaxed);
    gt_rec_notes_begin(r, r->last_era + 1);
    set_era(r, ++r->last_era);
}

void gt_rec_cut(gotrace_recorder *r)
{
    if (r->open_era != r->last_era) /* two eras are open already: at the next opportunity */
        return;
    r->cut = true;
    r->losses.cut = 1;
    close_era(r);
}

/* ---- a new recorder -------------------------------------------------------------------------- */

gotrace_status gotrace_recorder_new(const gotrace_recorder_options *options,
                                    const gotrace_config *config, gotrace_recorder **recorder,
                                    gotrace_error *error)
{
    gt_call call;
    gt_heap heap;
    gotrace_recorder_options taken;
    *recorder = NULL;
    if (gt_call_begin(&call, config) < 0 ||
        gt_sized_take(&gt_sized_recorder_options, &taken, options, &call.error) < 0)
        return gt_call_end(&call, GOTRACE_ERROR, error);
    gt_heap_init(&heap, &call.config);
    gotrace_recorder *r = gt_calloc_lines(&heap, sizeof *r);
    if (!r)
        return gt_call_end(&call, gt_error_memory(&call.error, &heap), error);
    r->heap = heap;
    r->options = taken;
    r->config = call.config;
    r->limits = call.limits;
    r->config.limits = &r->limits;
    gt_rec_choose_clock(r);
    if (r->options.generation_ns == 0)
        r->options.generation_ns = 1000000000;
    r->fences = !has_barrier();
    r->checks = r->options.on_misuse;
    r->no_stream.id = UINT64_MAX;
    pthread_mutex_init(&r->lock, NULL);
    pthread_mutex_init(&r->world, NULL);
    pthread_mutex_init(&r->control, NULL);
    pthread_mutex_init(&r->numbering, NULL);
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&r->changed, &attr);
    pthread_cond_init(&r->room, NULL);
    r->window_end = &r->window;
    for (unsigned i = 0; i < GT_REC_OPEN; i++)
        r->tables[i].names.by_pc.heap = &r->heap;
    pthread_condattr_destroy(&attr);
    r->created = gt_rec_moment_now(r);
    gt_rec_enlist(r);
    if (r->options.crash_file && gt_crash_open(r, &call.error) < 0) {
        gotrace_recorder_free(r);
        return gt_call_end(&call, GOTRACE_ERROR, error);
    }
    *recorder = r;
    return GOTRACE_OK;
}

void gt_rec_clear_tables(gotrace_recorder *r, uint64_t era)
{
    gt_rec_tables *tables = &r->tables[era % GT_REC_OPEN];
    gt_rec_table_clear(r, &tables->stacks);
    gt_rec_table_clear(r, &tables->strings);
    gt_rec_names_clear(r, &tables->names);
    if (r->crash)
        gt_crash_clear_tables(r, era);
}

/* Not in a forked child, where they look as if other threads waited for them. */
static void destroy_locks(gotrace_recorder *r)
{
    pthread_cond_destroy(&r->changed);
    pthread_cond_destroy(&r->room);
    pthread_mutex_destroy(&r->control);
    pthread_mutex_destroy(&r->world);
    pthread_mutex_destroy(&r->lock);
    pthread_mutex_destroy(&r->numbering);
}

void gotrace_recorder_free(gotrace_recorder *r)
{
    if (!r)
        return;
    gotrace_recorder_stop(r);
    gt_rec_delist(r);
    gt_rec_drop_window(r);
    gt_rec_free_buffers(r);
    gt_rec_notes_free(r);
    gotrace_encoder_free(r->encoder);
    for (gotrace_rec_thread *t = r->threads, *next; t; t = next) {
        next = t->next;
        gt_free_lines(&r->heap, t, sizeof *t);
    }
    for (gotrace_rec_proc *p = r->procs, *next; p; p = next) {
        next = p->next;
        gt_free_lines(&r->heap, p, sizeof *p);
    }
    for (gt_rec_slab *s = r->slabs, *next; s; s = next) {
        next = s->next;
        gt_free(&r->heap, s, sizeof *s);
    }
    for (unsigned i = 0; i < GT_REC_OPEN; i++)
        gt_rec_clear_tables(r, i);
    if (r->crash)
        gt_crash_close(r);
    else
        gt_free(&r->heap, r->samples, r->samples ? GT_REC_SAMPLES * sizeof *r->samples : 0);
    if (!r->forked)
        destroy_locks(r);
    gt_heap heap = r->heap;
    gt_free_lines(&heap, r, sizeof *r);
}

/* ---- handles --------------------------------------------------------------------------------- */

/* The caller holds the lock, also for the following functions. */
static bool has_thread(const gotrace_recorder *r, uint64_t id)
{
    const gotrace_rec_thread *t = r->threads;
    while (t && !(t->live && t->id == id))
        t = t->next;
    return t;
}

static bool has_proc(const gotrace_recorder *r, uint64_t id)
{
    const gotrace_rec_proc *p = r->procs;
    while (p && !(!p->freed && p->state.id == id))
        p = p->next;
    return p;
}

static gotrace_rec_thread *new_thread(gotrace_recorder *r, uint64_t id)
{
    gotrace_rec_thread *t = r->free_threads;
    if (t) {
        r->free_threads = t->next_free;
    } else if ((t = gt_calloc_lines(&r->heap, sizeof *t))) {
        t->recorder = r;
        t->proc_id = UINT64_MAX;
        t->next = r->threads;
        r->threads = t;
    }
    if (t) {
        t->id = t->stream.id = id;
        t->owner = 0;
        t->live = true;
        /* After the events of a thread that had the id: the kernel uses ids again. */
        if (t->stream.last_ticks < r->ended_ticks)
            t->stream.last_ticks = r->ended_ticks;
    }
    return t;
}

/* The proc that had the id goes on with its numbers, which the trace may have. */
static gotrace_rec_proc *new_proc(gotrace_recorder *r, uint64_t id)
{
    for (gotrace_rec_proc *p = r->procs; p; p = p->next)
        if (p->freed && p->state.id == id) {
            p->freed = false;
            p->state.status = GT_REC_PROC_IDLE;
            return p;
        }
    gotrace_rec_proc *p = gt_calloc_lines(&r->heap, sizeof *p);
    if (p) {
        p->state.id = p->stream.id = id;
        p->state.status = GT_REC_PROC_IDLE;
        p->next = r->procs;
        r->procs = p;
    }
    return p;
}

gotrace_rec_thread *gotrace_rec_thread_new(gotrace_recorder *r, uint64_t id)
{
    pthread_mutex_lock(&r->lock);
    const bool used = r->checks && has_thread(r, id);
    gotrace_rec_thread *t = used ? NULL : new_thread(r, id);
    pthread_mutex_unlock(&r->lock);
    if (used)
        gt_rec_report_id(r, __func__, "thread", id);
    return t;
}

gotrace_rec_proc *gotrace_rec_proc_new(gotrace_recorder *r, uint64_t id)
{
    pthread_mutex_lock(&r->lock);
    const bool used = r->checks && has_proc(r, id);
    gotrace_rec_proc *p = used ? NULL : new_proc(r, id);
    pthread_mutex_unlock(&r->lock);
    if (used)
        gt_rec_report_id(r, __func__, "proc", id);
    return p;
}

/* A sweep that the proc had not ended lasts until the id is used again: only a thread that has the
 * proc can end it. Source: Go 1.19, runtime/trace.go, traceProcFree. */
void gotrace_rec_proc_free(gotrace_rec_thread *t, gotrace_rec_proc *p)
{
    if (!t || !p || gt_rec_is_misuse_of(t, GT_REC_CALL_proc_free, p, 0) || p->thread)
        return;
    gotrace_recorder *r = t->recorder;
    pthread_mutex_lock(&r->lock);
    for (unsigned i = 0; i < GT_REC_OPEN; i++)
        if (p->stream.buffers[i])
            gt_rec_flush(r, &p->stream, p->stream.buffers[i]->era);
    p->sweep.allowed = false;
    p->state.status = p->sweep.active ? GT_REC_PROC_IDLE : 0;
    p->freed = true;
    pthread_mutex_unlock(&r->lock);
}

static bool add_slab(gotrace_recorder *r)
{
    gt_rec_slab *slab = gt_calloc(&r->heap, 1, sizeof *slab);
    if (!slab)
        return false;
    slab->next = r->slabs;
    r->slabs = slab;
    for (size_t i = GT_REC_SLAB; i-- > 0;) {
        slab->goroutines[i].next_free = r->free;
        r->free = &slab->goroutines[i];
    }
    return true;
}

gotrace_rec_go *gt_rec_new_go(gotrace_rec_thread *t)
{
    gotrace_recorder *r = t->recorder;
    if (!t->free) {
        pthread_mutex_lock(&r->lock);
        if (r->free || add_slab(r)) {
            gotrace_rec_go *last = t->free = r->free;
            for (unsigned i = 1; i < GT_REC_SLAB && last->next_free; i++)
                last = last->next_free;
            r->free = last->next_free;
            last->next_free = NULL;
        }
        pthread_mutex_unlock(&r->lock);
    }
    gotrace_rec_go *g = t->free;
    if (g)
        t->free = g->next_free;
    return g;
}

/* The handle of a thread that ended is free when its buffers are written. */
static void reuse_if_ended(gotrace_recorder *r, gotrace_rec_thread *t)
{
    for (unsigned i = 0; i < GT_REC_OPEN; i++)
        if (!t->ended || t->stream.buffers[i])
            return;
    t->ended = false;
    t->next_free = r->free_threads;
    r->free_threads = t;
}

void gotrace_rec_thread_end(gotrace_rec_thread *t)
{
    if (!t || gt_rec_is_misuse(t, GT_REC_CALL_thread_end))
        return;
    gotrace_recorder *r = t->recorder;
    pthread_mutex_lock(&r->lock);
    for (gotrace_rec_go *next; t->free; t->free = next) {
        next = t->free->next_free;
        t->free->next_free = r->free;
        r->free = t->free;
    }
    for (unsigned i = 0; i < GT_REC_OPEN; i++)
        if (t->stream.buffers[i])
            gt_rec_flush(r, &t->stream, t->stream.buffers[i]->era);
    if (t->stream.last_ticks > r->ended_ticks)
        r->ended_ticks = t->stream.last_ticks;
    t->ended = true;
    t->live = false;
    reuse_if_ended(r, t);
    pthread_mutex_unlock(&r->lock);
}

void gotrace_rec_timer_go(gotrace_recorder *r, uint64_t id)
{
    pthread_mutex_lock(&r->lock);
    if (r->timer_count < GT_REC_TIMERS) {
        r->timers[r->timer_count++] = id;
        if (r->crash)
            gt_crash_note_timer(r->crash, id);
    }
    pthread_mutex_unlock(&r->lock);
}

/* ---- the beginning --------------------------------------------------------------------------- */

/* v2: one for all generations of a trace, because times are from the beginning of the clock. */
static uint64_t trace_frequency(gotrace_recorder *r)
{
    if (r->frequency == 0)
        r->frequency = gt_rec_frequency(r);
    return r->frequency;
}

/* 1.25 and later: a generation begins with its clocks. */
static bool begin_generation(gotrace_recorder *r)
{
    if (!r->v2 || r->version < GOTRACE_FIRST_SYNC)
        return true;
    struct timespec wall;
    clock_gettime(CLOCK_REALTIME, &wall);
    const gt_rec_moment moment = gt_rec_moment_now(r);
    const gotrace_clocks clocks = {moment.ticks, moment.ns, (uint64_t)wall.tv_sec,
                                   (uint64_t)wall.tv_nsec};
    return gt_v2_sync(r->encoder, moment.ticks, trace_frequency(r), &clocks) == GOTRACE_OK ||
           gt_rec_fail_encoder(r);
}

void gt_rec_set_version(gotrace_recorder *r, int version)
{
    r->version = version;
    r->numbers = version < GT_REC_FIRST_NUMBERED;
    r->raises = r->v2 || r->encoder->tracer->flags & GT_TRACER_RAISES;
    r->capacity = r->v2 ? GT_V2_BUFFER_CAPACITY : r->encoder->tracer->capacity;
    r->sample_stream.id = r->v2 ? GT_V2_NO_THREAD : 0;
}

static void set_due(gotrace_recorder *r)
{
    const uint64_t ns = r->options.generation_ns;
    r->era_began = gt_rec_monotonic();
    r->era_due = ns == UINT64_MAX ? UINT64_MAX : r->era_began + ns;
}

static gotrace_status begin(gotrace_recorder *r, int version)
{
    r->v2 = gt_is_v2(version);
    r->header_left = gt_rec_is_flight(r) ? GT_HEADER_SIZE : 0;
    if (gt_encoder_new(version, gt_rec_put_bytes, r, &r->config, &r->encoder, &r->error) < 0)
        return GOTRACE_ERROR;
    gt_rec_set_version(r, r->encoder->version);
    if (!gt_rec_samples_begin(r))
        return gt_error_memory(&r->error, &r->heap);
    r->first_era = r->open_era = r->last_era + 1;
    r->stopped = r->read_out = r->cut = false;
    r->failed = false;
    r->losses = (gotrace_recorder_losses){0};
    atomic_store_explicit(&r->samples_lost, 0, memory_order_relaxed);
    r->seq = r->gc.seq = r->frequency = r->dropping = 0;
    r->gc.shown = false;
    set_due(r);
    if (r->crash)
        gt_crash_begin(r);
    gt_rec_strings_begin(r, r->first_era);
    if (!begin_generation(r) || gt_encoder_flush_out(r->encoder) != GOTRACE_OK)
        return GOTRACE_ERROR;
    gt_rec_flush_own(r);
    if ((r->write || gt_rec_is_flight(r)) && !(r->has_writer = gt_rec_begin_writer(r)))
        return gt_error_set(&r->error, GOTRACE_RULE_SYSTEM_LIMIT, GT_NO_PLACE,
                            "cannot start a thread that writes the trace");
    if (r->crash)
        gt_crash_ready(r);
    return GOTRACE_OK;
}

gotrace_status gotrace_recorder_start(gotrace_recorder *r, int version, gotrace_write_fn write,
                                      void *ctx)
{
    const int cancel = gt_rec_take_control(r);
    pthread_mutex_lock(&r->lock);
    gotrace_status status = GOTRACE_ERROR;
    if (r->options.when_full == GOTRACE_REC_DROP && (!gt_is_v2(version) || r->crash)) {
        gt_error_set(&r->error, GOTRACE_RULE_USAGE, GT_NO_PLACE,
                     "generations are dropped from 1.22 on, and without a crash file");
    } else if (r->encoder || (r->stopped && !r->read_out)) {
        gt_error_set(&r->error, GOTRACE_RULE_USAGE, GT_NO_PLACE,
                     "the last trace has not been stopped and read to its end");
    } else {
        r->write = write;
        r->write_ctx = ctx;
        gt_rec_drop_window(r);
        status = begin(r, version);
        if (status < 0) {
            gotrace_encoder_free(r->encoder);
            r->encoder = NULL;
            gt_rec_clear_tables(r, r->first_era);
            gt_rec_discard(r);
        }
    }
    pthread_mutex_unlock(&r->lock);
    if (status == GOTRACE_OK) {
        begin_era(r, true);
        gt_rec_describe_before(r, r->first_era);
    }
    gt_rec_leave_control(r, cancel);
    return status;
}

/* ---- the end --------------------------------------------------------------------------------- */

/* Writes the buffers of an era: no thread uses them. */
static void flush_streams(gotrace_recorder *r, uint64_t era)
{
    for (gotrace_rec_proc *p = r->procs; p; p = p->next)
        gt_rec_flush(r, &p->stream, era);
    for (gotrace_rec_thread *t = r->threads; t; t = t->next) {
        gt_rec_flush(r, &t->stream, era);
        reuse_if_ended(r, t);
    }
    gt_rec_flush(r, &r->no_stream, era);
    gt_rec_flush(r, &r->sample_stream, era);
}

/* What was recorded until memory was refused or the output failed. */
static void discard(gotrace_recorder *r)
{
    pthread_mutex_lock(&r->lock);
    for (unsigned i = 0; i < GT_REC_OPEN; i++)
        flush_streams(r, i);
    gt_rec_discard(r);
    r->read_out = true;
    pthread_mutex_unlock(&r->lock);
}

static bool end_generation(gotrace_recorder *r, uint64_t era)
{
    uint64_t ticks = gt_rec_now(r);
    gt_rec_samples_put(r, era);
    flush_streams(r, era);
    if (r->version < GOTRACE_FIRST_SYNC &&
        gt_v2_sync(r->encoder, ticks, trace_frequency(r), NULL) != GOTRACE_OK)
        return gt_rec_fail_encoder(r);
    if (!gt_rec_strings_end(r, era, ticks) || !gt_rec_stacks_end(r, era, ticks) ||
        gt_v2_end_generation(r->encoder, ticks) != GOTRACE_OK ||
        gt_encoder_flush_out(r->encoder) != GOTRACE_OK)
        return gt_rec_fail_encoder(r);
    gt_rec_flush_own(r);
    return true;
}

static bool end_v1(gotrace_recorder *r, uint64_t era)
{
    uint64_t ticks = gt_rec_now(r);
    gt_rec_samples_put(r, era);
    flush_streams(r, era);
    memcpy(r->encoder->timers, r->timers, sizeof r->timers);
    r->encoder->timer_count = r->timer_count;
    if (!gt_rec_strings_end(r, era, ticks) || !gt_rec_stacks_end(r, era, ticks) ||
        gt_encoder_finish(r->encoder, gt_rec_frequency(r), ticks) != GOTRACE_OK)
        return gt_rec_fail_encoder(r);
    gt_rec_flush_own(r);
    return true;
}

bool gt_rec_end_era(gotrace_recorder *r, uint64_t era)
{
    if (!(r->v2 ? end_generation(r, era) : end_v1(r, era)))
        return false;
    if (r->crash)
        gt_crash_complete(r, era);
    return true;
}

/* Appends what waited for the era before to be complete. */
static void open_next(gotrace_recorder *r, uint64_t era)
{
    if (gt_rec_drops(r))
        gt_rec_make_ready(r, era - 1);
    gt_rec_list *before = &r->full[(era - 1) % GT_REC_OPEN], *list = &r->full[era % GT_REC_OPEN];
    if (before->first) {
        if (list->first)
            before->last->next = list->first;
        else
            list->last = before->last;
        list->first = before->first;
        *before = (gt_rec_list){0};
    }
    r->open_era = era;
    pthread_cond_broadcast(&r->changed);
}

/* Drops the last events of the era, and its tables. The caller holds the lock. */
static void finish_dropping(gotrace_recorder *r, uint64_t era)
{
    gt_rec_samples_put(r, era);
    flush_streams(r, era);
    r->dropping = 0;
    gt_rec_clear_tables(r, era);
    gt_rec_strings_begin(r, era);
}

/* The events of the era were dropped: others lead to the next one. */
static void replace_dropped(gotrace_recorder *r, uint64_t era)
{
    gt_rec_note_rest(r, era + 1);
    pthread_mutex_lock(&r->world);
    pthread_mutex_lock(&r->lock);
    if (r->dropping == era && !r->failed) {
        finish_dropping(r, era);
        gt_rec_bridge(r, era);
    }
    pthread_mutex_unlock(&r->lock);
    pthread_mutex_unlock(&r->world);
}

/* The generation cannot end yet. One that is dropped is to end as soon as the world is started. */
static void go_on(gotrace_recorder *r, uint64_t began)
{
    enum { PAUSE_NS = 1000000 };
    pthread_mutex_lock(&r->lock);
    r->era_began = began;
    if (r->dropping)
        r->era_due = gt_rec_monotonic() + PAUSE_NS;
    pthread_mutex_unlock(&r->lock);
}

bool gt_rec_advance(gotrace_recorder *r)
{
    pthread_mutex_lock(&r->lock);
    const uint64_t era = r->last_era, began = r->era_began;
    set_due(r);
    gt_rec_strings_begin(r, era + 1);
    pthread_mutex_unlock(&r->lock);
    if (!begin_era(r, false)) {
        go_on(r, began);
        return false;
    }
    gt_rec_describe_rest(r, era);
    gt_rec_carry_stacks(r, era + 1);
    if (gt_rec_drops(r))
        replace_dropped(r, era);
    gt_rec_stacks_name(r, era);
    pthread_mutex_lock(&r->lock);
    if (!r->failed && gt_rec_end_era(r, era)) {
        gt_rec_clear_tables(r, era);
        if (gt_rec_is_flight(r))
            gt_rec_keep_generation(r, began);
        open_next(r, era + 1);
        begin_generation(r);
        if (r->crash)
            gt_crash_limit(r);
    }
    pthread_mutex_unlock(&r->lock);
    return true;
}

static bool is_recording(const gotrace_recorder *r)
{
    return r->encoder && !r->stopped && !r->failed;
}

/* The generation that is dropped goes on until the output has taken what waits. */
static bool is_too_slow(gotrace_recorder *r)
{
    pthread_mutex_lock(&r->lock);
    const bool slow = r->dropping && r->ready.first;
    pthread_mutex_unlock(&r->lock);
    return slow;
}

gotrace_status gotrace_recorder_advance(gotrace_recorder *r)
{
    const int cancel = gt_rec_take_control(r);
    if (is_recording(r) && r->v2 && !is_too_slow(r))
        gt_rec_advance(r);
    gotrace_status status = r->failed ? GOTRACE_ERROR : GOTRACE_OK;
    gt_rec_leave_control(r, cancel);
    return status;
}

static void end_trace(gotrace_recorder *r)
{
    pthread_mutex_lock(&r->lock);
    if (!r->cut)
        close_era(r);
    const uint64_t era = r->last_era - 1;
    pthread_mutex_unlock(&r->lock);
    wait_for_all(r);
    gt_rec_describe_rest(r, era);
    atomic_store(&r->era, 0);
    wait_for_all(r);
    atomic_store_explicit(&r->attention, 0, memory_order_relaxed);
    gt_rec_stacks_name(r, era);
    pthread_mutex_lock(&r->lock);
    if (r->dropping == era)
        finish_dropping(r, era);
    if (!r->failed)
        gt_rec_end_era(r, era);
    if (gt_rec_drops(r))
        gt_rec_make_ready(r, era);
    for (unsigned i = 0; i < GT_REC_OPEN; i++)
        gt_rec_clear_tables(r, i);
    if (gt_rec_is_flight(r)) {
        gt_rec_keep_generation(r, r->era_began);
        r->read_out = true;
    }
    r->stopped = true;
    pthread_cond_broadcast(&r->changed);
    pthread_mutex_unlock(&r->lock);
}

const gotrace_recorder_losses *gotrace_recorder_lost(gotrace_recorder *r)
{
    pthread_mutex_lock(&r->lock);
    r->losses.samples = atomic_load_explicit(&r->samples_lost, memory_order_relaxed);
    r->losses_returned = r->losses;
    pthread_mutex_unlock(&r->lock);
    return &r->losses_returned;
}

gotrace_status gotrace_recorder_stop(gotrace_recorder *r)
{
    if (r->forked)
        return GOTRACE_OK;
    const int cancel = gt_rec_take_control(r);
    if (r->encoder) {
        end_trace(r);
        if (r->has_writer)
            pthread_join(r->writer, NULL);
        r->has_writer = false;
        if (r->failed)
            discard(r);
        gotrace_encoder_free(r->encoder);
        r->encoder = NULL;
    }
    gotrace_status status = r->failed ? GOTRACE_ERROR : GOTRACE_OK;
    gt_rec_leave_control(r, cancel);
    return status;
}
