#include "read/v2/ahead.h"

#include <string.h>

#include "read/user.h"
#include "read/v2/follow.h"

enum { MOST_PROBLEMS = 64 }; /* of a generation; one with more is checked again */

/* The check of a generation by another thread. */
typedef struct job {
    gt_job job;
    const struct gt_v2 *of;
    gt_generation generations[2]; /* copies of the generation and (for its end) of the next one */
    gotrace_error problems[MOST_PROBLEMS];
    size_t problem_count;
} job;

/* ---- checking a generation, on another thread ---------------------------------------------- */

static bool collect_problem(void *ctx, const gotrace_error *problem)
{
    job *j = ctx;
    if (j->problem_count == MOST_PROBLEMS)
        return false;
    j->problems[j->problem_count++] = *problem;
    return true;
}

static bool begin_generation(const gotrace_reader *reader, gt_job *number)
{
    job *j = (job *)number;
    const struct gt_v2 *v2 = reader->v2;
    const gt_generation *g = &v2->index.generations[j->job.number];
    if (!g->summary.complete)
        return false;
    j->of = v2;
    j->problem_count = 0;
    for (size_t i = 0; i < 2 && j->job.number + i < v2->index.generation_count; i++)
        j->generations[i] = (gt_generation){
            .summary = g[i].summary, .first = g[i].first, .count = g[i].count};
    return true;
}

/* Opens a reader that has the index of the trace and no state. */
static bool open_alone(gt_ahead *a, job *j)
{
    if (!gt_ahead_open(a, &j->job, collect_problem))
        return false;
    gotrace_reader *reader = j->job.reader;
    gt_heap *heap = &reader->heap;
    struct gt_v2 *alone = reader->v2 = gt_calloc(heap, 1, sizeof *alone);
    if (!alone)
        return false;
    memcpy(alone->shapes, j->of->shapes, sizeof alone->shapes);
    reader->stage = GT_READING;
    alone->index = (gt_v2_batches){
        .batches = j->of->index.batches,
        .generations = j->generations,
        .generation_count = j->job.number + 1 < j->of->index.generation_count ? 2 : 1,
        .common_frequency = j->of->index.common_frequency,
    };
    alone->assumed = &j->job.assumed;
    return gt_v2_start(reader);
}

static void close_generation(gt_job *j)
{
    struct gt_v2 *alone = j->reader->v2;
    if (alone)
        alone->index = (gt_v2_batches){0};
}

/* Whether the events are consistent. */
static bool is_sound(const job *j)
{
    return !j->generations[0].damaged && j->generations[0].summary.complete &&
           !j->job.assumed.void_ && j->job.reader->summary.unread_bytes == 0;
}

static void check_generation(gt_ahead *a, gt_job *of)
{
    job *j = (job *)of;
    of->sound = open_alone(a, j) && gt_v2_check_alone(of->reader) && is_sound(j);
    if (of->reader && of->reader->v2) { /* only the state is needed */
        gt_v2_close_cursors(of->reader, of->reader->v2);
        gt_v2_forget_tables(of->reader);
    }
}

/* ---- comparing the assumptions with the state ---------------------------------------------- */

static gt_v2_proc *proc_of(const struct gt_v2 *v2, uint64_t id)
{
    return (gt_v2_proc *)(uintptr_t)gt_map_get(&v2->states.procs, id);
}

static gt_v2_thread *thread_of(const struct gt_v2 *v2, uint64_t id)
{
    return (gt_v2_thread *)(uintptr_t)gt_map_get(&v2->states.threads, id);
}

static bool has_goroutine(const gt_v2_thread *t, uint64_t id)
{
    const gt_goroutine *g = gt_v2_goroutine_of(t);
    return g && g->id == id;
}

static bool is_left_by(const gt_v2_proc *p, uint64_t thread)
{
    return p && p->status == GT_P_SYSCALL && p->holder && p->holder->id == thread &&
           p->holder->p == p;
}

static bool has_region(const gt_goroutine *g, const gt_assumption *x)
{
    if (!g || x->depth >= g->region_count)
        return !g || !g->complete;
    const gt_region *region = &g->regions[g->region_count - 1 - x->depth];
    return region->task == x->value &&
           gt_names_equal((const char *)(uintptr_t)region->name, (const char *)(uintptr_t)x->name);
}

static bool holds(const gotrace_reader *reader, const gt_assumption *x)
{
    const struct gt_v2 *v2 = reader->v2;
    const gt_goroutine *g = gt_goroutine_find(&v2->states.goroutines, x->id);
    const gt_v2_proc *p = proc_of(v2, x->id);
    const gt_v2_thread *t = thread_of(v2, x->id);
    switch ((gt_assumption_kind)x->kind) {
    case GT_ASSUME_GOROUTINE: return g && g->status == x->value;
    case GT_ASSUME_PROC: return !p || p->status == x->value;
    case GT_ASSUME_PROC_LEFT: return is_left_by(p, x->value);
    case GT_ASSUME_SELF_SYSCALL: return has_goroutine(t, x->value);
    case GT_ASSUME_OTHER_SYSCALL: return !t || !t->seen || has_goroutine(t, x->value);
    case GT_ASSUME_SWEEP: return (p && p->sweeping) == x->value;
    case GT_ASSUME_ASSIST: return (g && g->assisting) == x->value;
    case GT_ASSUME_WORLD_RUNS: return !g || !g->stopping;
    case GT_ASSUME_REGION: return has_region(g, x);
    case GT_ASSUME_GC_ACTIVE: return v2->states.gc == GT_GC_ON && x->value == v2->states.gc_seq + 1;
    case GT_ASSUME_GC_OFF:
        return v2->states.gc == GT_GC_UNDETERMINED ||
               (v2->states.gc == GT_GC_OFF && x->value == v2->states.gc_seq + 1);
    case GT_ASSUME_TASK_ENDS: return !gt_task_has_ended(reader, x->id);
    case GT_ASSUME_NO_BEGIN: return gt_no_begin_holds(reader, x);
    default: return false; /* v1 */
    }
}

/* Iterates over the values of a map: pointers. */
#define EACH_VALUE(map, type, it)                                                                  \
    for (size_t slot_ = 0; slot_ < (map)->capacity; slot_++)                                       \
        for (type *it = (type *)(uintptr_t)(map)->slots[slot_].value; it; it = NULL)

/* A thread whose context was used before it was set had none. */
static bool threads_fit(const struct gt_v2 *v2, const struct gt_v2 *alone)
{
    EACH_VALUE(&alone->states.threads, const gt_v2_thread, used)
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
    EACH_VALUE(&v2->states.goroutines.by_id, const gt_goroutine, g)
    {
        if (gt_is_assumed_new(&a->created, g->id))
            return false;
    }
    return true;
}

static bool tasks_are_new(const struct gt_v2 *v2, const gt_assumptions *a)
{
    for (size_t i = 0; i < v2->states.tasks.capacity; i++)
        if (v2->states.tasks.slots[i].value && v2->states.tasks.slots[i].key >= a->first_task)
            return false;
    return true;
}

/* Whether the check of the generation could not have gone differently. */
static bool fits(const gotrace_reader *reader, const job *j)
{
    const struct gt_v2 *v2 = reader->v2;
    const gt_assumptions *a = &j->job.assumed;
    /* A generation without a frequency has that of the one before. */
    if (!j->job.sound || j->job.reader->summary.frequency == 0 || v2->initial == 0 ||
        reader->faults.open || reader->quiet ||
        a->most_goroutines > reader->limits.goroutines - v2->states.goroutines.by_id.count)
        return false;
    for (size_t i = 0; i < a->count; i++)
        if (!holds(reader, &a->list[i]))
            return false;
    return threads_fit(v2, j->job.reader->v2) && created_are_new(v2, a) && tasks_are_new(v2, a);
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
    gt_goroutines *table = &reader->v2->states.goroutines;
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
        g->complete = true;
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
    gt_goroutines *table = &reader->v2->states.goroutines;
    const gt_goroutines *alive = &j->job.reader->v2->states.goroutines;
    for (size_t i = 0; i < j->job.assumed.count; i++) {
        const gt_assumption *x = &j->job.assumed.list[i];
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
    EACH_VALUE(&alone->states.threads, const gt_v2_thread, from)
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
    EACH_VALUE(&alone->states.procs, const gt_v2_proc, from)
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
    EACH_VALUE(&alone->states.threads, const gt_v2_thread, from)
    {
        gt_v2_thread *t = thread_of(v2, from->id);
        const gt_goroutine *g = gt_v2_goroutine_of(from);
        if (from->known & GT_KNOWN_PROC)
            t->p = from->p ? proc_of(v2, from->p->id) : NULL;
        if (from->known & GT_KNOWN_GOROUTINE) {
            t->g = g ? gt_goroutine_find(&v2->states.goroutines, g->id) : NULL;
            if (from->g_id)
                t->g_id = from->g_id;
        }
    }
}

static void end_task(gotrace_reader *reader, uint64_t id)
{
    gt_map *tasks = &reader->v2->states.tasks;
    gt_v2_task *task = (gt_v2_task *)(uintptr_t)gt_map_get(tasks, id);
    if (task)
        gt_map_remove(tasks, id);
    gt_free(&reader->heap, task, sizeof *task);
}

static bool adopt_tasks(gotrace_reader *reader, const job *j)
{
    const gt_map *open = &j->job.reader->v2->states.tasks;
    if (!gt_adopt_ended_tasks(reader, j->job.reader))
        return false;
    for (size_t i = 0; i < j->job.assumed.count; i++)
        if (j->job.assumed.list[i].kind == GT_ASSUME_TASK_ENDS)
            end_task(reader, j->job.assumed.list[i].id);
    for (size_t i = 0; i < open->capacity; i++) {
        const gt_v2_task *from = (const gt_v2_task *)(uintptr_t)open->slots[i].value;
        if (!from)
            continue;
        gt_v2_task *task = gt_resize(&reader->heap, NULL, 0, sizeof *task);
        if (!task || !gt_task_begins(reader, open->slots[i].key) ||
            !gt_map_put(&reader->v2->states.tasks, open->slots[i].key, (uint64_t)(uintptr_t)task)) {
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
    to->timed_records += from->timed_records;
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
    to->events += from->events;
    to->frequency = from->frequency;
    to->writer = from->writer ? from->writer : to->writer;
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
    int64_t last = gt_time_add(v2->output.last_time, (int64_t)alone->output.count);
    v2->output.last_time = alone->output.last_time > last ? alone->output.last_time : last;
    v2->output.count += alone->output.count;
    if (alone->output.count > 1) /* not only the sync */
        reader->last_ticks = v2->output.last_time;
}

static bool adopt_state(gotrace_reader *reader, const job *j)
{
    struct gt_v2 *v2 = reader->v2;
    const struct gt_v2 *alone = j->job.reader->v2;
    if (!adopt_goroutines(reader, j) || !adopt_threads(reader, alone) ||
        !adopt_procs(reader, alone) || !adopt_tasks(reader, j))
        return reader->stage == GT_FAILED ? false : gt_fail_memory(reader);
    adopt_contexts(v2, alone);
    if (alone->states.gc != GT_GC_UNDETERMINED) {
        v2->states.gc = alone->states.gc;
        v2->states.gc_seq = alone->states.gc_seq;
    }
    v2->generation = alone->generation;
    v2->ns_per_tick = alone->ns_per_tick;
    v2->times_altered = v2->times_altered || alone->times_altered;
    v2->clock_warnings += alone->clock_warnings;
    adopt_times(reader, alone);
    add_counts(&reader->summary, &j->job.reader->summary);
    gt_progress(reader, j->job.reader->progress_done);
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
    gt_generation *g = &reader->v2->index.generations[j->job.number];
    g->summary = j->generations[0].summary;
    g->sync = j->generations[0].sync;
    return report(reader, j, 0, j->job.assumed.loaded) && gt_v2_check_clocks(reader, g) &&
           adopt_state(reader, j) && report(reader, j, j->job.assumed.loaded, j->problem_count);
}

bool gt_v2_ahead_take(gotrace_reader *reader, gt_ahead *a)
{
    gt_job *j;
    while ((j = gt_ahead_wait(a, reader->v2->current))) {
        bool as_assumed = fits(reader, (job *)j), go_on = !as_assumed || adopt(reader, (job *)j);
        gt_ahead_release(a, j);
        if (!gt_ahead_pays(a, as_assumed)) {
            gt_ahead_free(a);
            reader->v2->ahead = NULL;
        }
        if (!as_assumed || !go_on)
            return go_on;
        reader->v2->current++;
        reader->adopted++;
    }
    return true;
}

/* Whether passing generations to other threads takes longer than checking them. */
static bool are_small(const gotrace_reader *reader)
{
    enum { PARTS = 16 };
    return reader->summary.size / reader->v2->index.generation_count < gt_window(reader) / PARTS;
}

bool gt_v2_ahead_start(gotrace_reader *reader)
{
    static const gt_ahead_way way = {sizeof(job), begin_generation, check_generation,
                                     close_generation};
    struct gt_v2 *v2 = reader->v2;
    size_t first = v2->entered ? v2->current + 1 : 1;
    if (reader->config.threads < 2 || v2->ahead || first >= v2->index.generation_count ||
        are_small(reader))
        return true;
    v2->ahead = gt_ahead_start(reader, &way, first, v2->index.generation_count);
    return v2->ahead || gt_fail_memory(reader);
}
