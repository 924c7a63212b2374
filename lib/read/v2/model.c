/*
 * model.c - names that outlive a generation; begin and end of reading.
 */
#include <string.h>

#include "read/v2/ahead.h"
#include "read/v2/v2.h"

int64_t gt_v2_since_start(const gotrace_reader *reader, int64_t time)
{
    return gt_time_between(reader->first_ticks, time);
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

/* A copy of a string that outlives its generation: the same pointer for equal strings. NULL if
 * memory is refused. */
static const char *add_name(gotrace_reader *reader, struct gt_v2 *v2, const char *bytes,
                            size_t size)
{
    if (!v2->states.names) {
        v2->states.names = gt_calloc(&reader->heap, 1, sizeof *v2->states.names);
        if (!v2->states.names)
            return gt_fail_memory(reader), NULL;
        v2->states.names->by_hash.heap = v2->states.names->arena.heap = &reader->heap;
        v2->states.names->seed = gt_hash_seed();
    }
    uint64_t hash = gt_hash_bytes(v2->states.names->seed, bytes, size);
    name *first = (name *)(uintptr_t)gt_map_get(&v2->states.names->by_hash, hash);
    for (name *n = first; n; n = n->next)
        if (n->size == size && memcmp(n->bytes, bytes, size) == 0)
            return n->bytes;
    name *made = gt_arena_alloc(&v2->states.names->arena,
                                (sizeof *made + size + 1 + 7) & ~(size_t)7);
    if (!made || !gt_map_put(&v2->states.names->by_hash, hash, (uint64_t)(uintptr_t)made))
        return gt_fail_memory(reader), NULL;
    made->next = first;
    made->size = size;
    if (size)
        memcpy(made->bytes, bytes, size);
    made->bytes[size] = '\0';
    return made->bytes;
}

size_t gt_names_size(const char *bytes)
{
    return ((const name *)(const void *)(bytes - offsetof(name, bytes)))->size;
}

/* Copies a string that has no copy yet; the empty string for an unknown one,
 * if `always`. */
__attribute__((cold, noinline)) static const char *
keep_name(gotrace_reader *reader, struct gt_v2 *v2, uint64_t id, bool always)
{
    const gt_table *strings = &reader->tables->strings;
    const gt_entry *entry = id ? gt_table_find(strings, id) : NULL;
    if (!entry && id && !always)
        return NULL;
    const char *copy = entry ? add_name(reader, v2, (const char *)entry->bytes, entry->size)
                             : add_name(reader, v2, "", 0);
    if (!copy || !entry || id >= strings->dense_count)
        return copy;
    if (!v2->tables.kept) {
        v2->tables.kept = gt_calloc(&reader->heap, strings->dense_count, sizeof *v2->tables.kept);
        if (!v2->tables.kept)
            return gt_fail_memory(reader), NULL;
        v2->tables.kept_count = strings->dense_count;
    }
    v2->tables.kept[id] = copy;
    return copy;
}

static inline const char *name_of(gotrace_reader *reader, struct gt_v2 *v2, uint64_t id,
                                  bool always)
{
    const char *copy = id < v2->tables.kept_count ? v2->tables.kept[id] : NULL;
    return copy ? copy : keep_name(reader, v2, id, always);
}

const char *gt_v2_name(gotrace_reader *reader, struct gt_v2 *v2, uint64_t string)
{
    return name_of(reader, v2, string, true);
}

const char *gt_v2_reason(gotrace_reader *reader, struct gt_v2 *v2, uint64_t string)
{
    return name_of(reader, v2, string, false);
}

bool gt_names_equal(const char *a, const char *b)
{
    return gt_names_size(a) == gt_names_size(b) && memcmp(a, b, gt_names_size(a)) == 0;
}

const char *gt_names_copy(gotrace_reader *reader, struct gt_v2 *v2, const char *bytes)
{
    return add_name(reader, v2, bytes, gt_names_size(bytes));
}

static void free_names(gotrace_reader *reader, struct gt_v2 *v2)
{
    if (!v2->states.names)
        return;
    gt_map_free(&v2->states.names->by_hash);
    gt_arena_free(&v2->states.names->arena);
    gt_free(&reader->heap, v2->states.names, sizeof *v2->states.names);
    v2->states.names = NULL;
}

/* ---- begin and end --------------------------------------------------------------------------- */

bool gt_v2_start(gotrace_reader *reader)
{
    struct gt_v2 *v2 = reader->v2;
    gt_goroutines_init(&v2->states.goroutines, &reader->heap, reader->limits.goroutines);
    v2->states.goroutines.forgets = true;
    v2->states.procs.heap = v2->states.threads.heap = v2->states.tasks.heap = &reader->heap;
    v2->states.arena.heap = &reader->heap;
    v2->follow = (gt_follow){.reader = reader, .v2 = v2};
    return true;
}

gt_v2_thread *gt_v2_thread_of(gotrace_reader *reader, struct gt_v2 *v2, uint64_t id)
{
    gt_v2_thread *t = (gt_v2_thread *)(uintptr_t)gt_map_get(&v2->states.threads, id);
    if (t)
        return t;
    t = gt_arena_alloc(&v2->states.arena, sizeof *t);
    if (!t || !gt_map_put(&v2->states.threads, id, (uint64_t)(uintptr_t)t)) {
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
    gt_free(&reader->heap, v2->cursors.list, v2->cursors.capacity * sizeof *v2->cursors.list);
    gt_free(&reader->heap, v2->tables.samples,
            v2->tables.sample_capacity * sizeof *v2->tables.samples);
    gt_free(&reader->heap, v2->buffer, v2->buffer ? GT_V2_MAX_BATCH + GT_SLACK : 0);
    for (size_t i = 0; i < v2->states.tasks.capacity; i++)
        if (v2->states.tasks.slots[i].value)
            gt_free(&reader->heap, (void *)(uintptr_t)v2->states.tasks.slots[i].value,
                    sizeof(gt_v2_task));
    gt_map_free(&v2->states.procs);
    gt_map_free(&v2->states.threads);
    gt_map_free(&v2->states.tasks);
    gt_arena_free(&v2->states.arena);
    v2->cursors.list = NULL;
    v2->tables.samples = NULL;
    v2->buffer = NULL;
    v2->cursors.capacity = v2->tables.sample_capacity = 0;
}

void gt_v2_free(gotrace_reader *reader)
{
    struct gt_v2 *v2 = reader->v2;
    if (!v2)
        return;
    gt_v2_end(reader);
    if (v2->states.goroutines.heap)
        gt_goroutines_free(&v2->states.goroutines);
    free_names(reader, v2); /* events refer to them as long as the reader exists */
    gt_v2_forget_tables(reader);
    gt_free(&reader->heap, v2->index.batches, v2->index.batch_capacity * sizeof *v2->index.batches);
    gt_free(&reader->heap, v2->index.generations,
            v2->index.generation_capacity * sizeof *v2->index.generations);
    gt_free(&reader->heap, v2, sizeof *v2);
    reader->v2 = NULL;
}
