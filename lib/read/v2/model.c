/*
 * model.c - what a v2 event means; and the beginning and end of reading.
 */
#include <string.h>

#include "read/v2/v2.h"

/* What a type means as far as the type alone tells. */
typedef struct meaning {
    uint8_t kind, resource, range;
} meaning;

#define GOROUTINE                                                                                  \
    {                                                                                              \
        GOTRACE_KIND_TRANSITION, GOTRACE_RESOURCE_GOROUTINE, 0                                     \
    }
#define PROC                                                                                       \
    {                                                                                              \
        GOTRACE_KIND_TRANSITION, GOTRACE_RESOURCE_PROC, 0                                          \
    }
#define RANGE(what, which)                                                                         \
    {                                                                                              \
        GOTRACE_KIND_RANGE_##what, 0, GOTRACE_RANGE_##which                                        \
    }
#define PLAIN(what)                                                                                \
    {                                                                                              \
        GOTRACE_KIND_##what, 0, 0                                                                  \
    }

static const meaning meanings[GT_V2_EVENT_COUNT] = {
    [0] = PLAIN(SYNC),
    [GT_V2_CPUSample] = PLAIN(SAMPLE),
    [GT_V2_ProcsChange] = PLAIN(METRIC),
    [GT_V2_ProcStart] = PROC,
    [GT_V2_ProcStop] = PROC,
    [GT_V2_ProcSteal] = PROC,
    [GT_V2_ProcStatus] = PROC,
    [GT_V2_GoCreate] = GOROUTINE,
    [GT_V2_GoCreateSyscall] = GOROUTINE,
    [GT_V2_GoCreateBlocked] = GOROUTINE,
    [GT_V2_GoStart] = GOROUTINE,
    [GT_V2_GoDestroy] = GOROUTINE,
    [GT_V2_GoDestroySyscall] = GOROUTINE,
    [GT_V2_GoStop] = GOROUTINE,
    [GT_V2_GoBlock] = GOROUTINE,
    [GT_V2_GoUnblock] = GOROUTINE,
    [GT_V2_GoSwitch] = GOROUTINE,
    [GT_V2_GoSwitchDestroy] = GOROUTINE,
    [GT_V2_GoSyscallBegin] = GOROUTINE,
    [GT_V2_GoSyscallEnd] = GOROUTINE,
    [GT_V2_GoSyscallEndBlocked] = GOROUTINE,
    [GT_V2_GoStatus] = GOROUTINE,
    [GT_V2_GoStatusStack] = GOROUTINE,
    [GT_V2_STWBegin] = RANGE(BEGIN, STW),
    [GT_V2_STWEnd] = RANGE(END, STW),
    [GT_V2_GCActive] = RANGE(ACTIVE, GC),
    [GT_V2_GCBegin] = RANGE(BEGIN, GC),
    [GT_V2_GCEnd] = RANGE(END, GC),
    [GT_V2_GCSweepActive] = RANGE(ACTIVE, SWEEP),
    [GT_V2_GCSweepBegin] = RANGE(BEGIN, SWEEP),
    [GT_V2_GCSweepEnd] = RANGE(END, SWEEP),
    [GT_V2_GCMarkAssistActive] = RANGE(ACTIVE, MARK_ASSIST),
    [GT_V2_GCMarkAssistBegin] = RANGE(BEGIN, MARK_ASSIST),
    [GT_V2_GCMarkAssistEnd] = RANGE(END, MARK_ASSIST),
    [GT_V2_HeapAlloc] = PLAIN(METRIC),
    [GT_V2_HeapGoal] = PLAIN(METRIC),
    [GT_V2_GoLabel] = PLAIN(LABEL),
    [GT_V2_UserTaskBegin] = PLAIN(TASK_BEGIN),
    [GT_V2_UserTaskEnd] = PLAIN(TASK_END),
    [GT_V2_UserRegionBegin] = PLAIN(REGION_BEGIN),
    [GT_V2_UserRegionEnd] = PLAIN(REGION_END),
    [GT_V2_UserLog] = PLAIN(LOG),
    [GT_V2_Span] = PLAIN(EXPERIMENT),
    [GT_V2_SpanAlloc] = PLAIN(EXPERIMENT),
    [GT_V2_SpanFree] = PLAIN(EXPERIMENT),
    [GT_V2_HeapObject] = PLAIN(EXPERIMENT),
    [GT_V2_HeapObjectAlloc] = PLAIN(EXPERIMENT),
    [GT_V2_HeapObjectFree] = PLAIN(EXPERIMENT),
    [GT_V2_GoroutineStack] = PLAIN(EXPERIMENT),
    [GT_V2_GoroutineStackAlloc] = PLAIN(EXPERIMENT),
    [GT_V2_GoroutineStackFree] = PLAIN(EXPERIMENT),
};

static void set_text(gotrace_reader *reader, gotrace_event *event, uint64_t string)
{
    event->text = gotrace_reader_string(reader, string, &event->text_size);
}

/* Why a goroutine stops running, kept as long as the reader. */
static const char *reason_of(gotrace_reader *reader, uint64_t string)
{
    struct gt_v2 *v2 = reader->v2;
    const char *kept = (const char *)(uintptr_t)gt_map_get(&v2->reasons, string);
    if (kept)
        return kept;
    size_t size;
    const char *bytes = gotrace_reader_string(reader, string, &size);
    kept = bytes ? gt_names_keep(reader, v2, bytes, size) : NULL;
    if (kept && !gt_map_put(&v2->reasons, string, (uint64_t)(uintptr_t)kept))
        gt_fail_memory(reader);
    return kept;
}

static void set_metric(gotrace_event *event, const char *name)
{
    event->text = name;
    event->text_size = strlen(name);
    event->value = event->args[0];
}

/* What depends on more than the type. */
static void fill_details(gotrace_reader *reader, const gt_v2_out *out, gotrace_event *event)
{
    switch (out->type) {
    case 0: event->value = out->subject; break;
    case GT_V2_ProcsChange: set_metric(event, "GOMAXPROCS"); break;
    case GT_V2_HeapAlloc: set_metric(event, "heap allocated"); break;
    case GT_V2_HeapGoal: set_metric(event, "heap goal"); break;
    case GT_V2_GoCreate:
    case GT_V2_GoCreateBlocked: event->start_stack = out->args[1]; break;
    case GT_V2_GoStop:
    case GT_V2_GoBlock: event->reason = reason_of(reader, out->args[0]); break;
    case GT_V2_STWBegin:
    case GT_V2_STWEnd: event->reason = out->text; break;
    case GT_V2_GoLabel: set_text(reader, event, out->args[0]); break;
    case GT_V2_UserTaskBegin:
        event->subject = out->args[0];
        event->value = out->args[1] == GT_V2_NO_ID ? 0 : out->args[1];
        set_text(reader, event, out->args[2]);
        break;
    case GT_V2_UserTaskEnd:
        event->subject = out->args[0];
        event->value = out->task->parent == GT_V2_NO_ID ? 0 : out->task->parent;
        event->text = out->task->name;
        event->text_size = out->task->name_size;
        break;
    case GT_V2_UserRegionBegin:
    case GT_V2_UserRegionEnd:
        event->subject = out->args[0];
        set_text(reader, event, out->args[1]);
        break;
    case GT_V2_UserLog:
        event->subject = out->args[0];
        set_text(reader, event, out->args[1]);
        event->message = gotrace_reader_string(reader, out->args[2], &event->message_size);
        break;
    default: break;
    }
}

int64_t gt_v2_since_start(const gotrace_reader *reader, int64_t time)
{
    return gt_time_between(reader->first_ticks, time);
}

void gt_v2_fill(gotrace_reader *reader, const gt_v2_out *out, gotrace_event *event)
{
    const struct gt_v2 *v2 = reader->v2;
    const meaning *m = &meanings[out->type];
    const gt_v2_shape *shape = &v2->shapes[out->type];
    bool stack = shape->flags & GOTRACE_SPEC_STACK;
    /* Each field by itself: to clear all of it first takes longer than the rest of this. The sync
     * event before the first one is told at its time. */
    event->time = reader->first_ticks != 0 ? gt_v2_since_start(reader, out->time) : 0;
    event->ticks = (uint64_t)out->time;
    event->offset = out->offset;
    event->type = out->type;
    event->kind = m->kind;
    event->resource = m->resource;
    event->from = out->from;
    event->to = out->to;
    event->range = m->range;
    event->flags = out->flags;
    event->arg_count = (uint8_t)(shape->values > 1 ? shape->values - 1 - stack : 0);
    event->proc = event->lane = out->proc;
    event->thread = out->thread;
    event->generation = v2->current < v2->generation_count
                            ? v2->generations[v2->current].summary.generation
                            : 0;
    event->goroutine = out->goroutine;
    event->subject = out->subject;
    event->value = 0;
    event->stack = out->stack;
    event->start_stack = 0;
    event->cause = out->cause;
    memcpy(event->args, out->args, sizeof event->args);
    event->reason = event->text = event->message = NULL;
    event->text_size = event->message_size = 0;
    if (out->type == 0)
        event->arg_count = out->flags & GOTRACE_EVENT_CLOCKS ? 4 : 0;
    fill_details(reader, out, event);
}

/* ---- names --------------------------------------------------------------------------------- */

/* Names kept as long as the reader: few, for they are those of tasks, regions and reasons. */
struct gt_names {
    gt_map by_hash; /* value: the first name with that hash */
    gt_arena arena;
    uint64_t seed;
};

typedef struct name {
    struct name *next;
    size_t size;
    char bytes[];
} name;

const char *gt_names_keep(gotrace_reader *reader, struct gt_v2 *v2, const char *bytes, size_t size)
{
    if (!v2->names) {
        v2->names = gt_calloc(&reader->heap, 1, sizeof *v2->names);
        if (!v2->names)
            return gt_fail_memory(reader), NULL;
        v2->names->by_hash.heap = v2->names->arena.heap = &reader->heap;
        v2->names->seed = gt_hash_seed();
    }
    uint64_t hash = gt_hash_bytes(v2->names->seed, bytes, size);
    name *first = (name *)(uintptr_t)gt_map_get(&v2->names->by_hash, hash);
    for (name *n = first; n; n = n->next)
        if (n->size == size && memcmp(n->bytes, bytes, size) == 0)
            return n->bytes;
    name *made = gt_arena_alloc(&v2->names->arena, (sizeof *made + size + 1 + 7) & ~(size_t)7);
    if (!made || !gt_map_put(&v2->names->by_hash, hash, (uint64_t)(uintptr_t)made))
        return gt_fail_memory(reader), NULL;
    made->next = first;
    made->size = size;
    if (size)
        memcpy(made->bytes, bytes, size);
    made->bytes[size] = '\0';
    return made->bytes;
}

void gt_names_free(gotrace_reader *reader, struct gt_v2 *v2)
{
    if (!v2->names)
        return;
    gt_map_free(&v2->names->by_hash);
    gt_arena_free(&v2->names->arena);
    gt_free(&reader->heap, v2->names, sizeof *v2->names);
    v2->names = NULL;
}

/* ---- beginning and end --------------------------------------------------------------------- */

bool gt_v2_start(gotrace_reader *reader)
{
    struct gt_v2 *v2 = reader->v2;
    gt_goroutines_init(&v2->goroutines, &reader->heap, reader->limits.goroutines);
    v2->goroutines.forgets = true;
    v2->procs.heap = v2->threads.heap = v2->tasks.heap = &reader->heap;
    v2->reasons.heap = v2->arena.heap = &reader->heap;
    return true;
}

gt_v2_thread *gt_v2_thread_of(gotrace_reader *reader, struct gt_v2 *v2, uint64_t id)
{
    gt_v2_thread *t = (gt_v2_thread *)(uintptr_t)gt_map_get(&v2->threads, id);
    if (t)
        return t;
    t = gt_arena_alloc(&v2->arena, sizeof *t);
    if (!t || !gt_map_put(&v2->threads, id, (uint64_t)(uintptr_t)t)) {
        gt_fail_memory(reader);
        return NULL;
    }
    *t = (gt_v2_thread){.id = id};
    reader->summary.threads++;
    return t;
}

void gt_v2_end(gotrace_reader *reader)
{
    struct gt_v2 *v2 = reader->v2;
    gt_v2_close_cursors(reader, v2);
    gt_free(&reader->heap, v2->cursors, v2->cursor_capacity * sizeof *v2->cursors);
    gt_free(&reader->heap, v2->samples, v2->sample_capacity * sizeof *v2->samples);
    gt_free(&reader->heap, v2->buffer, v2->buffer ? GT_V2_MAX_BATCH : 0);
    for (size_t i = 0; i < v2->tasks.capacity; i++)
        if (v2->tasks.slots[i].value)
            gt_free(&reader->heap, (void *)(uintptr_t)v2->tasks.slots[i].value, sizeof(gt_v2_task));
    if (v2->goroutines.heap)
        gt_goroutines_free(&v2->goroutines);
    gt_map_free(&v2->procs);
    gt_map_free(&v2->threads);
    gt_map_free(&v2->tasks);
    gt_map_free(&v2->reasons);
    gt_arena_free(&v2->arena);
    v2->cursors = NULL;
    v2->samples = NULL;
    v2->buffer = NULL;
    v2->cursor_capacity = v2->sample_capacity = 0;
    v2->goroutines.heap = NULL;
}

void gt_v2_free(gotrace_reader *reader)
{
    struct gt_v2 *v2 = reader->v2;
    if (!v2)
        return;
    gt_v2_end(reader);
    gt_names_free(reader, v2); /* events gave them out, for as long as the reader */
    gt_table_free(&v2->strings);
    gt_table_free(&v2->stacks);
    gt_free(&reader->heap, v2->batches, v2->batch_capacity * sizeof *v2->batches);
    gt_free(&reader->heap, v2->generations, v2->generation_capacity * sizeof *v2->generations);
    gt_free(&reader->heap, v2, sizeof *v2);
    reader->v2 = NULL;
}
