/*
 * model.c - converts v2 events to gotrace_event; begin and end of reading.
 */
#include <string.h>

#include "read/v2/ahead.h"
#include "read/v2/v2.h"

static void set_text(gotrace_reader *reader, gotrace_event *event, uint64_t string)
{
    event->text = gotrace_reader_string(reader, string, &event->text_size);
}

__attribute__((cold)) static const char *add_reason(gotrace_reader *reader, struct gt_v2 *v2,
                                                    uint64_t string)
{
    size_t size;
    const char *bytes = gotrace_reader_string(reader, string, &size);
    const char *kept = bytes ? gt_names_add(reader, v2, bytes, size) : NULL;
    if (kept && !gt_map_put(&v2->reasons, string, (uint64_t)(uintptr_t)kept))
        gt_fail_memory(reader);
    return kept;
}

/* The reason why a goroutine stops running, valid as long as the reader. */
static inline const char *reason_of(gotrace_reader *reader, uint64_t string)
{
    const char *kept = (const char *)(uintptr_t)gt_map_get(&reader->v2->reasons, string);
    return kept ? kept : add_reason(reader, reader->v2, string);
}

/* For a transition: where a new goroutine starts, or why one stops running. */
static void fill_transition(gotrace_reader *reader, const gt_v2_shape *shape, const gt_v2_out *out,
                            gotrace_event *event)
{
    if (shape->start)
        event->start_stack = out->args[shape->start - 1];
    if (shape->reason)
        event->reason = reason_of(reader, out->args[shape->reason - 1]);
}

static void fill_task_begin(gotrace_reader *reader, const gt_v2_out *out, gotrace_event *event)
{
    event->subject = out->args[0];
    event->value = out->args[1] == GT_V2_NO_ID ? 0 : out->args[1];
    set_text(reader, event, out->args[2]);
}

static void fill_task_end(const gt_v2_out *out, gotrace_event *event)
{
    event->subject = out->args[0];
    event->value = out->task->parent == GT_V2_NO_ID ? 0 : out->task->parent;
    event->text = out->task->name;
    event->text_size = out->task->name_size;
}

/* Fields that depend on more than the type, of all but transitions. Most events are transitions: it
 * is not part of gt_v2_fill, so that these save no registers. */
__attribute__((noinline)) static void fill_details(gotrace_reader *reader, const gt_v2_shape *shape,
                                                   const gt_v2_out *out, gotrace_event *event)
{
    switch ((gotrace_kind)event->kind) {
    case GOTRACE_KIND_SYNC:
        event->value = out->subject;
        event->arg_count = out->flags & GOTRACE_EVENT_CLOCKS ? 4 : 0;
        break;
    case GOTRACE_KIND_METRIC:
        event->text = shape->text;
        event->text_size = strlen(shape->text);
        event->value = event->args[0];
        break;
    case GOTRACE_KIND_RANGE_BEGIN:
    case GOTRACE_KIND_RANGE_END: event->reason = out->text; break;
    case GOTRACE_KIND_LABEL: set_text(reader, event, out->args[0]); break;
    case GOTRACE_KIND_TASK_BEGIN: fill_task_begin(reader, out, event); break;
    case GOTRACE_KIND_TASK_END: fill_task_end(out, event); break;
    case GOTRACE_KIND_REGION_BEGIN:
    case GOTRACE_KIND_REGION_END:
        event->subject = out->args[0];
        set_text(reader, event, out->args[1]);
        break;
    case GOTRACE_KIND_LOG:
        event->subject = out->args[0];
        set_text(reader, event, out->args[1]);
        event->message = gotrace_reader_string(reader, out->args[2], &event->message_size);
        break;
    case GOTRACE_KIND_NONE:
    case GOTRACE_KIND_TRANSITION:
    case GOTRACE_KIND_SYSCALL:
    case GOTRACE_KIND_RANGE_ACTIVE:
    case GOTRACE_KIND_EXPERIMENT:
    case GOTRACE_KIND_SAMPLE: break;
    }
}

int64_t gt_v2_since_start(const gotrace_reader *reader, int64_t time)
{
    return gt_time_between(reader->first_ticks, time);
}

void gt_v2_fill(gotrace_reader *reader, const gt_v2_out *out, gotrace_event *event)
{
    const struct gt_v2 *v2 = reader->v2;
    const gt_v2_shape *shape = &v2->shapes[out->type];
    /* Set field by field: clearing the whole struct first takes longer than the rest. The sync
     * before the first event has time 0. */
    event->time = reader->first_ticks != 0 ? gt_v2_since_start(reader, out->time) : 0;
    event->ticks = (uint64_t)out->time;
    event->offset = out->offset;
    event->type = out->type;
    event->kind = shape->kind;
    event->resource = shape->resource;
    event->from = out->from;
    event->to = out->to;
    event->range = shape->range;
    event->flags = out->flags;
    event->arg_count = shape->args;
    event->proc = event->lane = out->proc;
    event->thread = out->thread;
    event->generation = v2->generation;
    event->goroutine = out->goroutine;
    event->subject = out->subject;
    event->value = 0;
    event->stack = out->stack;
    event->start_stack = 0;
    event->cause = out->cause;
    event->args = out->args;
    event->reason = event->text = event->message = NULL;
    event->text_size = event->message_size = 0;
    if (shape->kind == GOTRACE_KIND_TRANSITION)
        fill_transition(reader, shape, out, event);
    else
        fill_details(reader, shape, out, event);
}

/* ---- names --------------------------------------------------------------------------------- */

/* Strings that live as long as the reader. Few: names of tasks and regions, and reasons. */
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

const char *gt_names_add(gotrace_reader *reader, struct gt_v2 *v2, const char *bytes, size_t size)
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

static size_t name_size(const char *bytes)
{
    return ((const name *)(const void *)(bytes - offsetof(name, bytes)))->size;
}

bool gt_names_equal(const char *a, const char *b)
{
    return name_size(a) == name_size(b) && memcmp(a, b, name_size(a)) == 0;
}

const char *gt_names_copy(gotrace_reader *reader, struct gt_v2 *v2, const char *bytes)
{
    return gt_names_add(reader, v2, bytes, name_size(bytes));
}

static void free_names(gotrace_reader *reader, struct gt_v2 *v2)
{
    if (!v2->names)
        return;
    gt_map_free(&v2->names->by_hash);
    gt_arena_free(&v2->names->arena);
    gt_free(&reader->heap, v2->names, sizeof *v2->names);
    v2->names = NULL;
}

/* ---- begin and end --------------------------------------------------------------------------- */

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
    gt_ahead_free(v2->ahead);
    v2->ahead = NULL;
    gt_v2_close_cursors(reader, v2);
    gt_free(&reader->heap, v2->cursors, v2->cursor_capacity * sizeof *v2->cursors);
    gt_free(&reader->heap, v2->samples, v2->sample_capacity * sizeof *v2->samples);
    gt_free(&reader->heap, v2->buffer, v2->buffer ? GT_V2_MAX_BATCH + GT_V2_SLACK : 0);
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
    free_names(reader, v2); /* events refer to them as long as the reader exists */
    gt_table_free(&v2->strings);
    gt_table_free(&v2->stacks);
    gt_free(&reader->heap, v2->batches, v2->batch_capacity * sizeof *v2->batches);
    gt_free(&reader->heap, v2->generations, v2->generation_capacity * sizeof *v2->generations);
    gt_free(&reader->heap, v2, sizeof *v2);
    reader->v2 = NULL;
}
