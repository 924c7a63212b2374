/*
 * threads.c - threads, and what runs on each.
 *
 * v2 contains the operating system's thread ids, so the tracks can be aligned with a kernel trace.
 * A thread shows its proc, which rarely changes and whose track shows the goroutines; without a
 * proc, the goroutine that it has in a system call. Optionally it shows goroutines in both cases.
 * v1 has thread numbers of its own, which are mapped to made-up ids close to the process id.
 */
#include <stdio.h>
#include <stdlib.h>

#include "formats/perfetto/perfetto.h"

/* v1: a tid for each thread or, if the thread is unknown, for each proc. */
static uint64_t made_tid(const perfetto *p, int64_t thread, int64_t proc, char *name, size_t size)
{
    if (thread >= 0 && thread < THREAD_IDS) {
        snprintf(name, size, "M%lld", (long long)thread);
        return p->pid + (uint64_t)thread;
    }
    if (proc >= 0 && proc < THREAD_IDS - 1) {
        snprintf(name, size, "thread of P%lld", (long long)proc);
        return p->pid + THREAD_IDS + (uint64_t)proc;
    }
    snprintf(name, size, "no proc");
    return p->pid + 2 * THREAD_IDS - 1;
}

/* The ids of some systems are addresses, which do not fit. */
static uint64_t tid_of(perfetto *p, int64_t thread)
{
    return thread > 0 && thread <= INT32_MAX ? (uint64_t)thread : INT32_MAX - p->extra_tids++;
}

perfetto_thread *thread_get(perfetto *p, int64_t id, int64_t proc)
{
    char name[32];
    bool made = p->version < GOTRACE_FIRST_V2;
    uint64_t key = made ? made_tid(p, id, proc, name, sizeof name) : (uint64_t)id;
    perfetto_thread *thread = idmap_find(&p->threads, key);

    if (!thread && !(thread = idmap_insert(&p->threads, key))) {
        protobuf_fail(&p->w);
        return NULL;
    }
    thread->id = id;
    if (thread->epoch == p->epoch)
        return thread;
    if (!thread->track) {
        thread->tid = made ? key : tid_of(p, id);
        thread->proc = GOTRACE_NO_PROC;
    }
    if (!made)
        snprintf(name, sizeof name, "M%llu", (unsigned long long)thread->tid);
    thread->epoch = p->epoch;
    track_thread(p, thread, name);
    return thread;
}

/* Begins the slice for what the thread shows. */
static void slice_begin(perfetto *p, const perfetto_thread *thread)
{
    protobuf_field track = refer_to_track(p, thread->track);
    char text[32];

    if (thread->shows == SHOWS_PROC) {
        int size = snprintf(text, sizeof text, "P%lld", (long long)thread->shown);
        uint64_t name = intern_name(p, text, (size_t)size).iid;
        p->detail.merged = MERGED_THREAD;
        event_write(p, SLICE_BEGIN, track, refer_to_category(CATEGORY_PROC), refer_to_name(name),
                    0);
    } else {
        /* goroutine_get interns the name again if the incremental state was cleared. */
        const perfetto_goroutine *g = goroutine_get(p, thread->shown, 0);
        unsigned category = p->thread_runs ? CATEGORY_RUN : CATEGORY_SYSCALL;
        p->detail.merged = MERGED_THREAD;
        event_write(p, SLICE_BEGIN, track, refer_to_category(category), g ? g->name : 0, 0);
    }
}

/* Shows the thread's proc, else its goroutine. */
static void thread_show(perfetto *p, perfetto_thread *thread)
{
    bool has_proc = thread->proc != GOTRACE_NO_PROC && !p->thread_runs;
    uint8_t shows = has_proc ? SHOWS_PROC : thread->busy ? SHOWS_GOROUTINE : SHOWS_NOTHING;
    uint64_t shown = has_proc ? (uint64_t)thread->proc : thread->busy ? thread->goroutine : 0;

    if (!wants(p, PART_THREADS) || (thread->shows == shows && thread->shown == shown))
        return;
    if (thread->shows != SHOWS_NOTHING)
        slice_end(p, refer_to_track(p, thread->track));
    thread->shows = shows;
    thread->shown = shown;
    if (shows != SHOWS_NOTHING)
        slice_begin(p, thread);
}

/* A thread got (more) or lost its goroutine. */
static void count_thread(perfetto *p, bool more)
{
    enum { PLACE = TRACK_THREADS - TRACK_RUNNABLE + 1 };

    if (!wants(p, PART_COUNTERS))
        return;
    p->states[PLACE] += more ? 1 : (uint64_t)-1;
    p->changed = PLACE;
}

void thread_leave(perfetto *p, perfetto_goroutine *g)
{
    perfetto_thread *thread = g->thread;

    g->thread = NULL;
    if (!thread || !thread->busy)
        return;
    thread->busy = false;
    count_thread(p, false);
    thread_show(p, thread);
}

void thread_transition(perfetto *p, perfetto_goroutine *g, const gotrace_event *e)
{
    bool on = e->to == GOTRACE_STATE_RUNNING || e->to == GOTRACE_STATE_SYSCALL;

    if (g->thread && on && g->thread->id == e->thread)
        return;
    if (g->thread)
        thread_leave(p, g);
    if (!on || e->thread == GOTRACE_NO_THREAD)
        return;
    perfetto_thread *thread = thread_get(p, e->thread, e->proc);
    if (!thread)
        return;
    /* In a sound trace the thread is free. */
    if (thread->busy) {
        perfetto_goroutine *other = idmap_find(&p->goroutines, thread->goroutine);
        if (other)
            thread_leave(p, other);
    }
    count_thread(p, true);
    thread->busy = true;
    thread->goroutine = e->subject;
    g->thread = thread;
    thread_show(p, thread);
}

/* The thread gets that proc, or none. */
static void thread_set_proc(perfetto *p, perfetto_thread *thread, int64_t proc)
{
    thread->proc = proc;
    thread_show(p, thread);
}

void thread_proc(perfetto *p, const gotrace_event *e)
{
    int64_t id = (int64_t)e->subject;
    int64_t holder = e->to == GOTRACE_STATE_RUNNING ? e->thread : GOTRACE_NO_THREAD;
    perfetto_proc *proc = id >= 0 ? proc_find(p, id) : NULL;

    if (!proc || proc->holder == holder)
        return;
    perfetto_thread *thread = proc->holder != GOTRACE_NO_THREAD
                                  ? idmap_find(&p->threads, (uint64_t)proc->holder)
                                  : NULL;
    if (thread && thread->proc == id)
        thread_set_proc(p, thread, GOTRACE_NO_PROC);
    proc->holder = holder;
    thread = holder != GOTRACE_NO_THREAD ? thread_get(p, holder, id) : NULL;
    if (!thread)
        return;
    /* In a sound trace it has no other. */
    perfetto_proc *other = idmap_find(&p->procs, (uint64_t)thread->proc);
    if (other)
        other->holder = GOTRACE_NO_THREAD;
    thread_set_proc(p, thread, id);
}

void threads_end(perfetto *p)
{
    size_t count = p->threads.count;
    uint64_t *ids = sorted_ids(p, &p->threads);

    for (size_t i = 0; ids && i < count; i++) {
        const perfetto_thread *thread = idmap_find(&p->threads, ids[i]);
        if (thread->shows != SHOWS_NOTHING)
            slice_end(p, refer_to_track(p, thread->track));
    }
    free(ids);
}

void threads_reopen(perfetto *p)
{
    size_t count = wants(p, PART_THREADS) ? p->threads.count : 0;
    uint64_t *ids = sorted_ids(p, &p->threads);

    for (size_t i = 0; ids && i < count; i++) {
        const perfetto_thread *thread = idmap_find(&p->threads, ids[i]);
        if (thread->shows != SHOWS_NOTHING)
            slice_begin(p, thread_get(p, (int64_t)ids[i], GOTRACE_NO_PROC));
    }
    free(ids);
}
