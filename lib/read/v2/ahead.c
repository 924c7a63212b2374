#include "read/v2/ahead.h"

#include <string.h>

#include "core/thread.h"
#include "read/v2/follow.h"

enum {
    MOST_THREADS = 64,
    MOST_PROBLEMS = 64, /* of a generation; one with more is checked again */
};

typedef enum job_state { JOB_FREE, JOB_RUNS, JOB_DONE } job_state;

/* The check of a generation by another thread. */
typedef struct job {
    job_state state;
    size_t number;                /* of the generation, in gt_v2.generations */
    gt_generation generations[2]; /* copies of the generation and (for its end) of the next one */
    gotrace_reader *reader;       /* NULL: it could not be created */
    gt_assumptions assumed;
    gotrace_error problems[MOST_PROBLEMS];
    size_t problem_count;
    bool sound; /* the check came to its end without inconsistencies */
} job;

struct gt_v2_ahead {
    gotrace_reader *reader;
    gotrace_allocator allocator; /* the caller's; if it has one, calls are serialised by `memory` */
    pthread_mutex_t memory;
    uint64_t reserved; /* of the reader's memory limit, for each job */
    pthread_mutex_t lock;
    pthread_cond_t wanted, done; /* there may be a generation to check; a job is done */
    job *jobs;
    size_t job_count;
    size_t next; /* the first generation that no thread has begun */
    bool ends;
    size_t thread_count;
    pthread_t threads[MOST_THREADS];
};

/* ---- checking a generation, on another thread ---------------------------------------------- */

static bool collect_problem(void *ctx, const gotrace_error *problem)
{
    job *j = ctx;
    if (j->problem_count == MOST_PROBLEMS)
        return false;
    j->problems[j->problem_count++] = *problem;
    return true;
}

static void *resize_locked(void *ctx, void *block, size_t old_size, size_t new_size)
{
    gt_v2_ahead *a = ctx;
    pthread_mutex_lock(&a->memory);
    void *moved = a->allocator.resize(a->allocator.ctx, block, old_size, new_size);
    pthread_mutex_unlock(&a->memory);
    return moved;
}

/* Opens a reader that has the index of the trace and no state. */
static bool open_alone(gt_v2_ahead *a, job *j)
{
    const struct gt_v2 *v2 = a->reader->v2;
    gotrace_config config = a->reader->config;
    gotrace_limits limits = a->reader->limits;
    gotrace_error error;
    limits.memory = a->reserved;
    config.limits = &limits;
    config.on_problem = collect_problem;
    config.on_progress = NULL;
    config.callback_ctx = j;
    config.every_problem = true;
    config.threads = 1;
    if (gotrace_reader_open(a->reader->source, &config, &j->reader, &error) < 0)
        return false;
    gt_heap *heap = &j->reader->heap;
    struct gt_v2 *alone = j->reader->v2 = gt_calloc(heap, 1, sizeof *alone);
    if (!alone)
        return false;
    memcpy(alone->shapes, v2->shapes, sizeof alone->shapes);
    gt_table_init(&alone->strings, heap);
    gt_table_init(&alone->stacks, heap);
    j->reader->strings = &alone->strings;
    j->reader->stacks = &alone->stacks;
    j->reader->stage = GT_READING;
    j->assumed = (gt_assumptions){.heap = heap, .created.heap = heap, .first_task = UINT64_MAX};
    alone->batches = v2->batches;
    alone->generations = j->generations;
    alone->generation_count = j->number + 1 < v2->generation_count ? 2 : 1;
    alone->assumed = &j->assumed;
    return gt_v2_start(j->reader);
}

static void close_alone(job *j)
{
    if (j->reader && j->reader->v2) {
        struct gt_v2 *alone = j->reader->v2;
        gt_assumptions_free(&j->assumed);
        alone->batches = NULL;
        alone->generations = NULL;
    }
    gotrace_reader_close(j->reader);
    j->reader = NULL;
}

/* Whether the events are consistent. */
static bool is_sound(const job *j)
{
    return !j->generations[0].damaged && j->generations[0].summary.complete && !j->assumed.void_ &&
           j->reader->summary.unread_bytes == 0;
}

static void check_generation(gt_v2_ahead *a, job *j)
{
    j->sound = open_alone(a, j) && gt_v2_check_alone(j->reader) && is_sound(j);
    if (j->reader && j->reader->v2) { /* only the state is needed */
        struct gt_v2 *alone = j->reader->v2;
        gt_v2_close_cursors(j->reader, alone);
        gt_table_free(&alone->strings);
        gt_table_free(&alone->stacks);
        gt_table_init(&alone->strings, &j->reader->heap);
        gt_table_init(&alone->stacks, &j->reader->heap);
    }
}

/* Finds a generation to check, and a job for it. The caller holds the lock. */
static job *begin_job(gt_v2_ahead *a)
{
    const struct gt_v2 *v2 = a->reader->v2;
    job *j = NULL;
    for (size_t i = 0; i < a->job_count && !j; i++)
        j = a->jobs[i].state == JOB_FREE ? &a->jobs[i] : NULL;
    if (!j || a->next >= v2->generation_count || !v2->generations[a->next].summary.complete)
        return NULL;
    const gt_generation *g = &v2->generations[a->next];
    j->state = JOB_RUNS;
    j->number = a->next++;
    j->problem_count = 0;
    for (size_t i = 0; i < 2 && j->number + i < v2->generation_count; i++)
        j->generations[i] = (gt_generation){
            .summary = g[i].summary, .first = g[i].first, .count = g[i].count};
    return j;
}

static void *check_generations(void *arg)
{
    gt_v2_ahead *a = arg;
    pthread_mutex_lock(&a->lock);
    while (!a->ends) {
        job *j = begin_job(a);
        if (!j) {
            pthread_cond_wait(&a->wanted, &a->lock);
            continue;
        }
        pthread_mutex_unlock(&a->lock);
        check_generation(a, j);
        pthread_mutex_lock(&a->lock);
        j->state = JOB_DONE;
        pthread_cond_signal(&a->done);
    }
    pthread_mutex_unlock(&a->lock);
    return NULL;
}

/* ---- comparing the assumptions with the state ---------------------------------------------- */

static gt_v2_proc *proc_of(const struct gt_v2 *v2, uint64_t id)
{
    return (gt_v2_proc *)(uintptr_t)gt_map_get(&v2->procs, id);
}

static gt_v2_thread *thread_of(const struct gt_v2 *v2, uint64_t id)
{
    return (gt_v2_thread *)(uintptr_t)gt_map_get(&v2->threads, id);
}

static bool has_goroutine(const gt_v2_thread *t, uint64_t id)
{
    const gt_goroutine *g = gt_v2_goroutine_of(t);
    return g && g->id == id;
}

static bool has_region(const gt_goroutine *g, const gt_assumption *x)
{
    if (!g || x->depth >= g->region_count)
        return true;
    const gt_region *region = &g->regions[g->region_count - 1 - x->depth];
    return region->task == x->value &&
           gt_names_equal((const char *)(uintptr_t)region->name, x->name);
}

static bool holds(const struct gt_v2 *v2, const gt_assumption *x)
{
    const gt_goroutine *g = gt_goroutine_find(&v2->goroutines, x->id);
    const gt_v2_proc *p = proc_of(v2, x->id);
    const gt_v2_thread *t = thread_of(v2, x->id);
    switch ((gt_assumption_kind)x->kind) {
    case GT_ASSUME_GOROUTINE: return g && g->status == x->value;
    case GT_ASSUME_PROC: return !p || p->status == x->value;
    case GT_ASSUME_SELF_SYSCALL: return has_goroutine(t, x->value);
    case GT_ASSUME_OTHER_SYSCALL: return !t || !t->seen || has_goroutine(t, x->value);
    case GT_ASSUME_SWEEP: return (p && p->sweeping) == x->value;
    case GT_ASSUME_ASSIST: return (g && g->assisting) == x->value;
    case GT_ASSUME_WORLD_RUNS: return !g || !g->stopping;
    case GT_ASSUME_REGION: return has_region(g, x);
    case GT_ASSUME_GC_ACTIVE: return v2->gc == GT_GC_ON && x->value == v2->gc_seq + 1;
    case GT_ASSUME_GC_OFF:
        return v2->gc == GT_GC_UNDETERMINED || (v2->gc == GT_GC_OFF && x->value == v2->gc_seq + 1);
    case GT_ASSUME_TASK_ENDS: break;
    }
    return true;
}

/* Iterates over the values of a map: pointers. */
#define EACH_VALUE(map, type, it)                                                                  \
    for (size_t slot_ = 0; slot_ < (map)->capacity; slot_++)                                       \
        for (type *it = (type *)(uintptr_t)(map)->slots[slot_].value; it; it = NULL)

/* A thread whose context was used before it was set had none. */
static bool threads_fit(const struct gt_v2 *v2, const struct gt_v2 *alone)
{
    EACH_VALUE(&alone->threads, const gt_v2_thread, used)
    {
        const gt_v2_thread *t = thread_of(v2, used->id);
        if (t && (((used->assumed & GT_KNOWN_PROC) && t->p) ||
                  ((used->assumed & GT_KNOWN_GOROUTINE) && gt_v2_goroutine_of(t))))
            return false;
    }
    return true;
}

static bool created_are_new(const struct gt_v2 *v2, const gt_assumptions *a)
{
    EACH_VALUE(&v2->goroutines.by_id, const gt_goroutine, g)
    {
        if (gt_map_get(&a->created, g->id / 64) >> g->id % 64 & 1)
            return false;
    }
    return true;
}

static bool tasks_are_new(const struct gt_v2 *v2, const gt_assumptions *a)
{
    for (size_t i = 0; i < v2->tasks.capacity; i++)
        if (v2->tasks.slots[i].value && v2->tasks.slots[i].key >= a->first_task)
            return false;
    return true;
}

/* Whether the check of the generation could not have gone differently. */
static bool fits(const gotrace_reader *reader, const job *j)
{
    const struct gt_v2 *v2 = reader->v2;
    const gt_assumptions *a = &j->assumed;
    if (!j->sound || v2->initial == 0 || reader->faults.open || reader->quiet ||
        a->most_goroutines > reader->limits.goroutines - v2->goroutines.by_id.count)
        return false;
    for (size_t i = 0; i < a->count; i++)
        if (!holds(v2, &a->list[i]))
            return false;
    return threads_fit(v2, j->reader->v2) && created_are_new(v2, a) && tasks_are_new(v2, a);
}

/* ---- taking over the state after a generation ------------------------------------------------ */

static bool adopt_regions(gotrace_reader *reader, gt_goroutine *g, const gt_goroutine *from)
{
    void *regions = g->regions;
    size_t capacity = g->region_capacity;
    if (!gt_grow(&reader->heap, &regions, &capacity, g->region_count + (size_t)from->region_count,
                 sizeof *g->regions))
        return false;
    g->regions = regions;
    g->region_capacity = (uint32_t)capacity;
    for (uint32_t i = 0; i < from->region_count; i++) {
        const char *name = gt_names_copy(reader, reader->v2,
                                         (const char *)(uintptr_t)from->regions[i].name);
        if (!name)
            return false;
        g->regions[g->region_count++] = (gt_region){from->regions[i].task,
                                                    (uint64_t)(uintptr_t)name};
    }
    return true;
}

static bool adopt_goroutine(gotrace_reader *reader, const gt_goroutine *from)
{
    gt_goroutines *table = &reader->v2->goroutines;
    gt_goroutine *g = gt_goroutine_find(table, from->id);
    bool created = from->contact & GT_CONTACT_CREATED;
    if (g && created) { /* the one before ended, and its id was used again */
        if (!gt_goroutine_end(table, g))
            return false;
        g = NULL;
    }
    if (!g && !(g = gt_goroutine_get(table, from->id)))
        return false;
    if (created) {
        g->creator = from->creator;
        g->start_stack = from->start_stack;
        g->created = from->created;
    }
    g->known = true;
    g->seq = from->seq;
    g->generation = from->generation;
    g->status = from->status;
    g->shown = from->shown;
    g->since = from->since;
    g->cause = from->cause;
    if (created || (from->contact & GT_CONTACT_ASSIST))
        g->assisting = from->assisting;
    if (created || (from->contact & GT_CONTACT_STOP))
        g->stopping = from->stopping ? gt_names_copy(reader, reader->v2, from->stopping) : NULL;
    return (g->stopping != NULL) >= (from->stopping != NULL) && adopt_regions(reader, g, from);
}

static bool adopt_goroutines(gotrace_reader *reader, const job *j)
{
    gt_goroutines *table = &reader->v2->goroutines;
    const gt_goroutines *alive = &j->reader->v2->goroutines;
    for (size_t i = 0; i < j->assumed.count; i++) {
        const gt_assumption *x = &j->assumed.list[i];
        gt_goroutine *g = gt_goroutine_find(table, x->id);
        if (g && x->kind == GT_ASSUME_REGION)
            g->region_count -= g->region_count > 0;
        else if (g && x->kind == GT_ASSUME_GOROUTINE && !gt_goroutine_find(alive, x->id) &&
                 !gt_goroutine_end(table, g))
            return false;
    }
    EACH_VALUE(&alive->by_id, const gt_goroutine, g)
    {
        if (!adopt_goroutine(reader, g))
            return false;
    }
    return true;
}

/* Procs first lose the threads that have others now. */
static bool adopt_threads(gotrace_reader *reader, const struct gt_v2 *alone)
{
    EACH_VALUE(&alone->threads, const gt_v2_thread, from)
    {
        gt_v2_thread *t = gt_v2_thread_of(reader, reader->v2, from->id);
        if (!t)
            return false;
        t->seen |= from->seen;
        if ((from->known & GT_KNOWN_PROC) && t->p && t->p->holder == t)
            t->p->holder = NULL;
    }
    return true;
}

static bool adopt_procs(gotrace_reader *reader, const struct gt_v2 *alone)
{
    EACH_VALUE(&alone->procs, const gt_v2_proc, from)
    {
        gt_v2_proc *p = gt_v2_proc_of(reader, from->id, true);
        if (!p)
            return false;
        p->seq = from->seq;
        p->generation = from->generation;
        p->status = from->status;
        if (from->sweep_known)
            p->sweeping = from->sweeping;
        if (from->holder_known)
            p->holder = from->holder ? thread_of(reader->v2, from->holder->id) : NULL;
    }
    return true;
}

static void adopt_contexts(struct gt_v2 *v2, const struct gt_v2 *alone)
{
    EACH_VALUE(&alone->threads, const gt_v2_thread, from)
    {
        gt_v2_thread *t = thread_of(v2, from->id);
        const gt_goroutine *g = gt_v2_goroutine_of(from);
        if (from->known & GT_KNOWN_PROC)
            t->p = from->p ? proc_of(v2, from->p->id) : NULL;
        if (from->known & GT_KNOWN_GOROUTINE) {
            t->g = g ? gt_goroutine_find(&v2->goroutines, g->id) : NULL;
            t->g_id = from->g_id;
        }
    }
}

static void end_task(gotrace_reader *reader, uint64_t id)
{
    gt_map *tasks = &reader->v2->tasks;
    gt_v2_task *task = (gt_v2_task *)(uintptr_t)gt_map_get(tasks, id);
    if (task)
        gt_map_remove(tasks, id);
    gt_free(&reader->heap, task, sizeof *task);
}

static bool adopt_tasks(gotrace_reader *reader, const job *j)
{
    const gt_map *open = &j->reader->v2->tasks;
    for (size_t i = 0; i < j->assumed.count; i++)
        if (j->assumed.list[i].kind == GT_ASSUME_TASK_ENDS)
            end_task(reader, j->assumed.list[i].id);
    for (size_t i = 0; i < open->capacity; i++) {
        const gt_v2_task *from = (const gt_v2_task *)(uintptr_t)open->slots[i].value;
        if (!from)
            continue;
        gt_v2_task *task = gt_resize(&reader->heap, NULL, 0, sizeof *task);
        if (!task ||
            !gt_map_put(&reader->v2->tasks, open->slots[i].key, (uint64_t)(uintptr_t)task)) {
            gt_free(&reader->heap, task, sizeof *task);
            return false;
        }
        *task = *from;
        task->name = gt_names_copy(reader, reader->v2, from->name);
        if (!task->name)
            return false;
    }
    return true;
}

static void add_counts(gotrace_summary *to, const gotrace_summary *from)
{
    to->records += from->records;
    to->events += from->events;
    to->strings += from->strings;
    to->string_bytes += from->string_bytes;
    to->stacks += from->stacks;
    to->stack_frames += from->stack_frames;
    to->samples += from->samples;
    to->goroutines_created += from->goroutines_created;
    to->goroutines_ended += from->goroutines_ended;
    to->tasks += from->tasks;
    to->regions += from->regions;
    to->logs += from->logs;
    to->frequency = from->frequency;
    for (unsigned type = 0; type < 256; type++) {
        to->type_records[type] += from->type_records[type];
        to->type_bytes[type] += from->type_bytes[type];
    }
}

/* Each output is later than the one before it (order.c), so the last one of n is either at its own
 * time, or n after the last one of the generations before. */
static void adopt_times(gotrace_reader *reader, const struct gt_v2 *alone)
{
    struct gt_v2 *v2 = reader->v2;
    int64_t last = gt_time_add(v2->last_time, (int64_t)alone->outputs);
    v2->last_time = alone->last_time > last ? alone->last_time : last;
    v2->outputs += alone->outputs;
    if (alone->outputs > 1) /* not only the sync */
        reader->last_ticks = v2->last_time;
}

static bool adopt_state(gotrace_reader *reader, const job *j)
{
    struct gt_v2 *v2 = reader->v2;
    const struct gt_v2 *alone = j->reader->v2;
    if (!adopt_goroutines(reader, j) || !adopt_threads(reader, alone) ||
        !adopt_procs(reader, alone) || !adopt_tasks(reader, j))
        return reader->stage == GT_FAILED ? false : gt_fail_memory(reader);
    adopt_contexts(v2, alone);
    if (alone->gc != GT_GC_UNDETERMINED) {
        v2->gc = alone->gc;
        v2->gc_seq = alone->gc_seq;
    }
    v2->syncs++;
    v2->generation = alone->generation;
    v2->ns_per_tick = alone->ns_per_tick;
    adopt_times(reader, alone);
    add_counts(&reader->summary, &j->reader->summary);
    gt_progress(reader, j->reader->progress_done);
    return true;
}

static bool report(gotrace_reader *reader, const job *j, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++) {
        const gotrace_error *p = &j->problems[i];
        if (!gt_report(reader, p->rule, (gt_place){p->offset, p->batch, p->event}, "%s",
                       p->message))
            return false;
    }
    return true;
}

/* Does what the reading thread would have done. */
static bool adopt(gotrace_reader *reader, const job *j)
{
    gt_generation *g = &reader->v2->generations[j->number];
    g->summary = j->generations[0].summary;
    g->sync = j->generations[0].sync;
    return report(reader, j, 0, j->assumed.loaded) && gt_v2_check_clocks(reader, g) &&
           adopt_state(reader, j) && report(reader, j, j->assumed.loaded, j->problem_count);
}

/* The job for a generation once it is done, NULL if no thread has begun it; then none will. */
static job *wait_for(gt_v2_ahead *a, size_t number)
{
    job *found = NULL;
    pthread_mutex_lock(&a->lock);
    if (a->next <= number)
        a->next = number + 1;
    for (size_t i = 0; i < a->job_count && !found; i++)
        if (a->jobs[i].state != JOB_FREE && a->jobs[i].number == number)
            found = &a->jobs[i];
    while (found && found->state == JOB_RUNS)
        pthread_cond_wait(&a->done, &a->lock);
    pthread_mutex_unlock(&a->lock);
    return found;
}

static void release(gt_v2_ahead *a, job *j)
{
    close_alone(j);
    pthread_mutex_lock(&a->lock);
    j->state = JOB_FREE;
    pthread_cond_signal(&a->wanted);
    pthread_mutex_unlock(&a->lock);
}

bool gt_v2_ahead_take(gotrace_reader *reader, gt_v2_ahead *a)
{
    job *j;
    while ((j = wait_for(a, reader->v2->current))) {
        bool as_assumed = fits(reader, j), go_on = !as_assumed || adopt(reader, j);
        release(a, j);
        if (!as_assumed || !go_on)
            return go_on;
        reader->v2->current++;
        reader->v2->adopted++;
    }
    return true;
}

/* ---- start and end --------------------------------------------------------------------------- */

/* Memory for the other threads is taken from the reader's limit beforehand. */
static void reserve_memory(gt_v2_ahead *a)
{
    enum { SHARE = 4 }; /* at most this part of what is left */
    gt_heap *heap = &a->reader->heap;
    a->reserved = (heap->limit - heap->used) / SHARE / a->job_count;
    heap->used += a->reserved * a->job_count;
    if (a->reader->config.allocator.resize) {
        a->allocator = heap->allocator;
        heap->allocator = (gotrace_allocator){.resize = resize_locked, .ctx = a};
        a->reader->config.allocator = heap->allocator;
    }
}

static void return_memory(gt_v2_ahead *a)
{
    gt_heap *heap = &a->reader->heap;
    heap->used -= a->reserved * a->job_count;
    if (a->allocator.resize)
        a->reader->config.allocator = heap->allocator = a->allocator;
}

bool gt_v2_ahead_start(gotrace_reader *reader)
{
    struct gt_v2 *v2 = reader->v2;
    size_t first = v2->entered ? v2->current + 1 : 1, threads = reader->config.threads;
    if (threads < 2 || v2->ahead || reader->finds_damage || reader->damage_searched ||
        first >= v2->generation_count)
        return true;
    gt_v2_ahead *a = gt_calloc(&reader->heap, 1, sizeof *a);
    if (!a)
        return gt_fail_memory(reader);
    size_t most = threads - 1 < MOST_THREADS ? threads - 1 : MOST_THREADS;
    size_t left = v2->generation_count - first;
    a->reader = reader;
    a->job_count = 2 * most < left ? 2 * most
                                   : left; /* a thread need not wait for the reading one */
    a->next = first;
    a->jobs = gt_calloc(&reader->heap, a->job_count, sizeof *a->jobs);
    if (!a->jobs) {
        gt_free(&reader->heap, a, sizeof *a);
        return gt_fail_memory(reader);
    }
    pthread_mutex_init(&a->memory, NULL);
    pthread_mutex_init(&a->lock, NULL);
    pthread_cond_init(&a->wanted, NULL);
    pthread_cond_init(&a->done, NULL);
    v2->ahead = a;
    reserve_memory(a);
    while (a->thread_count < most && a->thread_count < left &&
           gt_thread_begin(&a->threads[a->thread_count], check_generations, a))
        a->thread_count++;
    return true;
}

void gt_v2_ahead_free(gt_v2_ahead *a)
{
    if (!a)
        return;
    pthread_mutex_lock(&a->lock);
    a->ends = true;
    pthread_cond_broadcast(&a->wanted);
    pthread_mutex_unlock(&a->lock);
    for (size_t i = 0; i < a->thread_count; i++)
        pthread_join(a->threads[i], NULL);
    for (size_t i = 0; i < a->job_count; i++)
        close_alone(&a->jobs[i]);
    return_memory(a);
    pthread_mutex_destroy(&a->memory);
    pthread_mutex_destroy(&a->lock);
    pthread_cond_destroy(&a->wanted);
    pthread_cond_destroy(&a->done);
    gt_heap *heap = &a->reader->heap;
    gt_free(heap, a->jobs, a->job_count * sizeof *a->jobs);
    gt_free(heap, a, sizeof *a);
}
