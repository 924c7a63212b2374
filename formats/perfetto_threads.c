/*
 * perfetto_threads.c - threads, and what each runs.
 *
 * v2 tells the operating system's ids of threads, so that the tracks line up with a kernel's trace.
 * v1 tells numbers of its own, of which ids are made up that lie close to the process's.
 */
#include <stdlib.h>

#include "perfetto.h"

enum { THREAD_IDS = 500000 };

/* v1: a tid for each thread or, where that is not known, for each proc. */
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

/* Some systems' ids are addresses, which do not fit. */
static uint64_t tid_of(perfetto *p, int64_t thread)
{
    return thread > 0 && thread <= INT32_MAX ? (uint64_t)thread : INT32_MAX - p->made_tids++;
}

perfetto_thread *thread_get(perfetto *p, int64_t id, int64_t proc)
{
    char name[32];
    bool made = p->version < VERSION_WITH_GENERATIONS;
    uint64_t key = made ? made_tid(p, id, proc, name, sizeof name) : (uint64_t)id;
    perfetto_thread *thread = idmap_insert(&p->threads, key);

    if (!thread) {
        protobuf_fail(&p->w);
        return NULL;
    }
    if (thread->epoch == p->epoch)
        return thread;
    if (!thread->track)
        thread->tid = made ? key : tid_of(p, id);
    if (!made)
        snprintf(name, sizeof name, "M%llu", (unsigned long long)thread->tid);
    thread->epoch = p->epoch;
    track_thread(p, thread, name);
    return thread;
}

void thread_leave(perfetto *p, perfetto_goroutine *g)
{
    perfetto_thread *thread = idmap_find(&p->threads, (uint64_t)g->thread);

    if (g->thread != GOTRACE_NO_THREAD && thread && thread->busy) {
        thread->busy = false;
        count_thread(p, false);
        if (wants(p, PART_THREADS))
            slice_end(p, thread->track);
    }
    g->thread = GOTRACE_NO_THREAD;
}

static void thread_begin(perfetto *p, const perfetto_thread *thread, const perfetto_goroutine *g)
{
    event_open_named(p, SLICE_BEGIN, thread->track, CATEGORY_RUN, g->name, 0);
    event_close(p);
}

void thread_transition(perfetto *p, perfetto_goroutine *g, const gotrace_event *e)
{
    bool on = e->to == GOTRACE_STATE_RUNNING || e->to == GOTRACE_STATE_SYSCALL;

    if (g->thread != GOTRACE_NO_THREAD && (!on || g->thread != e->thread))
        thread_leave(p, g);
    if (!on || e->thread == GOTRACE_NO_THREAD || g->thread == e->thread)
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
    if (wants(p, PART_THREADS))
        thread_begin(p, thread, g);
    count_thread(p, true);
    thread->busy = true;
    thread->goroutine = e->subject;
    g->thread = e->thread;
}

void threads_end(perfetto *p)
{
    size_t count = p->threads.count;
    uint64_t *ids = sorted_ids(p, &p->threads);

    for (size_t i = 0; ids && i < count; i++) {
        const perfetto_thread *thread = idmap_find(&p->threads, ids[i]);
        if (thread->busy && wants(p, PART_THREADS))
            slice_end(p, thread->track);
    }
    free(ids);
}

void threads_reopen(perfetto *p)
{
    size_t count = wants(p, PART_THREADS) ? p->threads.count : 0;
    uint64_t *ids = sorted_ids(p, &p->threads);

    for (size_t i = 0; ids && i < count; i++) {
        const perfetto_thread *thread = idmap_find(&p->threads, ids[i]);
        const perfetto_goroutine *g = thread->busy ? idmap_find(&p->goroutines, thread->goroutine)
                                                   : NULL;
        if (g)
            thread_begin(p, thread_get(p, (int64_t)ids[i], GOTRACE_NO_PROC), g);
    }
    free(ids);
}
