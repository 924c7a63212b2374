/* writer_state.c - goroutines, procs, threads and tasks that are alive, found by id. */
#include "write/writer.h"

#include <stdio.h>

void gt_w_state_init(gotrace_writer *w, const gotrace_config *config)
{
    gotrace_limits limits = gt_limits(config);
    w->goroutine_limit = limits.goroutines;
    w->proc_limit = limits.procs;
    w->by_goroutine.heap = w->by_proc.heap = w->by_thread.heap = w->heap;
    w->tasks.heap = w->ended.heap = w->heap;
    w->no_thread.id = GOTRACE_NO_THREAD;
}

static void free_goroutines(gotrace_writer *w, gt_w_goroutine *g)
{
    while (g) {
        gt_w_goroutine *next = g->next;
        gt_free(w->heap, g->regions, g->region_capacity * sizeof *g->regions);
        gt_free(w->heap, g, sizeof *g);
        g = next;
    }
}

void gt_w_state_free(gotrace_writer *w)
{
    free_goroutines(w, w->goroutines.first);
    free_goroutines(w, w->spare);
    for (gt_w_proc *p = w->procs.first, *next; p; p = next) {
        next = p->next;
        gt_free(w->heap, p, sizeof *p);
    }
    for (gt_w_thread *t = w->threads.first, *next; t; t = next) {
        next = t->next;
        gt_v2_buffer_free(w->encoder, &t->buffer);
        gt_free(w->heap, t, sizeof *t);
    }
    gt_v2_buffer_free(w->encoder, &w->no_thread.buffer);
    gt_map_free(&w->by_goroutine);
    gt_map_free(&w->by_proc);
    gt_map_free(&w->by_thread);
    gt_map_free(&w->tasks);
    gt_map_free(&w->ended);
}

/* Creates an object and adds it to the map; NULL with the error set if memory is refused. */
static void *make(gotrace_writer *w, gt_map *map, uint64_t id, size_t size)
{
    void *made = gt_calloc(w->heap, 1, size);
    if (!made || !gt_map_put(map, id, (uint64_t)(uintptr_t)made)) {
        gt_free(w->heap, made, made ? size : 0);
        gt_w_no_memory(w);
        return NULL;
    }
    return made;
}

static gotrace_status too_many(gotrace_writer *w, gotrace_limit which, uint64_t limit)
{
    return w->status = gt_error_limit(&w->error, which, GT_NO_PLACE, limit);
}

/* In v2, one id is reserved for "none". */
static bool is_id(gotrace_writer *w, const char *what, uint64_t id)
{
    return id != UINT64_MAX || !gt_is_v2(w->version) ||
           gt_w_refuse(w, GOTRACE_RULE_CONTEXT, "%s 2^64-1: that id means none", what);
}

/* ---- goroutines ----------------------------------------------------------------------------- */

static gt_w_goroutine *make_goroutine(gotrace_writer *w, uint64_t id)
{
    if (!is_id(w, "goroutine", id))
        return NULL;
    if (w->goroutine_count >= w->goroutine_limit) {
        too_many(w, GOTRACE_LIMIT_GOROUTINES, w->goroutine_limit);
        return NULL;
    }
    gt_w_goroutine *g = w->spare;
    if (g) {
        if (!gt_map_put(&w->by_goroutine, id, (uint64_t)(uintptr_t)g)) {
            gt_w_no_memory(w);
            return NULL;
        }
        w->spare = g->next;
        *g = (gt_w_goroutine){.regions = g->regions, .region_capacity = g->region_capacity};
    } else {
        g = make(w, &w->by_goroutine, id, sizeof *g);
        if (!g)
            return NULL;
    }
    g->id = id;
    g->last_proc = GOTRACE_NO_PROC;
    w->goroutine_count++;
    GT_W_APPEND(w->goroutines, g);
    return g;
}

gt_w_goroutine *gt_w_seek_goroutine(gotrace_writer *w, uint64_t id, bool make_one)
{
    gt_w_goroutine *g = (gt_w_goroutine *)(uintptr_t)gt_map_get(&w->by_goroutine, id);
    if (!g && make_one)
        g = make_goroutine(w, id);
    if (g)
        w->near_goroutines[id % GT_W_NEAR_GOROUTINES] = g;
    return g;
}

gotrace_status gt_w_end_goroutine(gotrace_writer *w, gt_w_goroutine *g)
{
    if (!gt_is_v2(w->version)) {
        uint64_t bits = gt_map_get(&w->ended, g->id / 64);
        if (!gt_map_put(&w->ended, g->id / 64, bits | (uint64_t)1 << g->id % 64))
            return gt_w_no_memory(w);
    }
    gt_map_remove(&w->by_goroutine, g->id);
    gt_w_goroutine **near = &w->near_goroutines[g->id % GT_W_NEAR_GOROUTINES];
    if (*near == g)
        *near = NULL;
    w->goroutine_count--;
    GT_W_REMOVE(w->goroutines, g);
    g->next = w->spare;
    w->spare = g;
    return GOTRACE_OK;
}

bool gt_w_has_ended(const gotrace_writer *w, uint64_t id)
{
    return gt_map_get(&w->ended, id / 64) >> id % 64 & 1;
}

/* ---- procs and threads ---------------------------------------------------------------------- */

static gt_w_proc *make_proc(gotrace_writer *w, int64_t id)
{
    if (!is_id(w, "proc", (uint64_t)id))
        return NULL;
    if (w->proc_count >= w->proc_limit) {
        too_many(w, GOTRACE_LIMIT_PROCS, w->proc_limit);
        return NULL;
    }
    gt_w_proc *p = make(w, &w->by_proc, (uint64_t)id, sizeof *p);
    if (!p)
        return NULL;
    p->id = id;
    w->proc_count++;
    GT_W_APPEND(w->procs, p);
    return p;
}

gt_w_proc *gt_w_seek_proc(gotrace_writer *w, int64_t id, bool make_one)
{
    gt_w_proc *p = (gt_w_proc *)(uintptr_t)gt_map_get(&w->by_proc, (uint64_t)id);
    if (!p && make_one)
        p = make_proc(w, id);
    if (p)
        w->last_proc = w->near_procs[(uint64_t)id % GT_W_NEAR] = p;
    return p;
}

gt_w_thread *gt_w_seek_thread(gotrace_writer *w, int64_t id)
{
    gt_w_thread *t = (gt_w_thread *)(uintptr_t)gt_map_get(&w->by_thread, (uint64_t)id);
    if (!t) {
        if (!is_id(w, "thread", (uint64_t)id))
            return NULL;
        t = make(w, &w->by_thread, (uint64_t)id, sizeof *t);
        if (!t)
            return NULL;
        t->id = id;
        GT_W_APPEND(w->threads, t);
    }
    return w->near_threads[(uint64_t)id % GT_W_NEAR] = t;
}

/* ---- tasks and regions ---------------------------------------------------------------------- */

gotrace_status gt_w_begin_region(gotrace_writer *w, gt_w_goroutine *g, uint64_t task, uint64_t name)
{
    void *regions = g->regions;
    bool grown = gt_grow(w->heap, &regions, &g->region_capacity, g->region_count + (size_t)1,
                         sizeof *g->regions);
    g->regions = regions;
    if (!grown)
        return gt_w_no_memory(w);
    g->regions[g->region_count++] = (gt_w_region){task, name};
    return GOTRACE_OK;
}

/* A region's name in quotes and a space, shortened for a message; empty if unknown, because in v2
 * it may belong to an earlier generation. */
static void show_region_name(const gotrace_writer *w, gt_w_region region, char *text, size_t size)
{
    const gt_intern *strings = &w->encoder->strings;
    text[0] = '\0';
    for (size_t i = 0; i < strings->count && region.name != 0; i++) {
        const gt_entry *e = &strings->entries[i];
        if ((gt_is_v2(w->version) ? e->hash : e->id) != region.name)
            continue;
        snprintf(text, size, "\"%.*s%s\" ", (int)(e->size < 24 ? e->size : 24),
                 (const char *)gt_intern_bytes(strings, e), e->size < 24 ? "" : "...");
        return;
    }
}

bool gt_w_check_region_end(gotrace_writer *w, const gt_w_goroutine *g, gt_w_region ended)
{
    gt_w_region inner = g->regions[g->region_count - 1];
    if (inner.task == ended.task && inner.name == ended.name)
        return true;
    char inner_name[40], ended_name[40];
    show_region_name(w, inner, inner_name, sizeof inner_name);
    show_region_name(w, ended, ended_name, sizeof ended_name);
    return gt_w_refuse(w, GOTRACE_RULE_REGION_END,
                       "goroutine %llu ends region %sof task %llu, but its innermost region is "
                       "%sof task %llu",
                       gt_w_num(g->id), ended_name, gt_w_num(ended.task), inner_name,
                       gt_w_num(inner.task));
}

gotrace_status gt_w_begin_task(gotrace_writer *w, uint64_t task)
{
    return gt_map_put(&w->tasks, task, 1) ? GOTRACE_OK : gt_w_no_memory(w);
}
