/*
 * source.c - takes the records of the program's threads out of the shared memory.
 */
#include "cmd/record/record.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "core/malloc.h"

/* A store of another processor is visible after that time, in nanoseconds. */
enum { VISIBLE_NS = 100000 };

static uint64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

int source_create(bool stacks)
{
    int fd = memfd_create("gotrace", MFD_CLOEXEC);
    const struct {
        uint64_t size;
        uint32_t stacks;
    } begin = {sizeof(ring), stacks};
    if (fd >= 0 && ftruncate(fd, sizeof(ring)) == 0 &&
        pwrite(fd, &begin, offsetof(ring, pid), 0) == (ssize_t)offsetof(ring, pid))
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

bool source_open(source *s, int fd, files *all)
{
    void *memory = mmap(NULL, sizeof(ring), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (memory == MAP_FAILED)
        return false;
    s->shared = s->names.shared = memory;
    s->names.files = all;
    return true;
}

static void free_thread(thread *t)
{
    free(t->items);
    free(t->building);
    free(t);
}

void source_close(source *s)
{
    for (size_t i = 0; i < s->count; i++)
        free_thread(s->threads[i]);
    for (size_t i = 0; i < s->stack_count; i++)
        free(s->stacks[i]);
    free(s->threads);
    free(s->stacks);
    gt_lookup_free(&s->known, gt_malloc());
    names_free(&s->names);
    if (s->shared)
        munmap(s->shared, sizeof *s->shared);
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* Makes room for one more element. */
static bool grow(source *s, void **array, size_t *capacity, size_t count, size_t element)
{
    if (count < *capacity)
        return true;
    size_t larger = *capacity ? 2 * *capacity : 64;
    void *grown = reallocarray(*array, larger, element);
    if (!grown) {
        s->failed = true;
        return false;
    }
    *array = grown;
    *capacity = larger;
    return true;
}

/* ---- stacks ---------------------------------------------------------------------------------- */

static size_t stack_size(const stack *k)
{
    return offsetof(stack, pcs) + k->depth * sizeof k->pcs[0];
}

/* The one of equal stacks that is kept; NULL: memory is refused. */
static const stack *intern(source *s, const stack *k)
{
    size_t slot, size = stack_size(k);
    if (!gt_lookup_reserve(&s->known, gt_malloc()) ||
        !grow(s, (void **)&s->stacks, &s->stack_capacity, s->stack_count, sizeof *s->stacks))
        return NULL;
    uint64_t hash = gt_hash_bytes(s->known.seed, k, size);
    uint32_t number = gt_lookup_first(&s->known, hash, &slot);
    while (number && (stack_size(s->stacks[number - 1]) != size ||
                      memcmp(s->stacks[number - 1], k, size) != 0))
        number = gt_lookup_next(&s->known, hash, &slot);
    if (number)
        return s->stacks[number - 1];
    stack *copy = malloc(sizeof *copy);
    if (!copy) {
        s->failed = true;
        return NULL;
    }
    memcpy(copy, k, size);
    s->stacks[s->stack_count++] = copy;
    gt_lookup_put(&s->known, slot, hash, (uint32_t)s->stack_count);
    return copy;
}

static void take_frame(source *s, thread *t, const ring_record *r)
{
    if (!t->building && !(t->building = calloc(1, sizeof *t->building))) {
        s->failed = true;
        return;
    }
    if (r->kind >= RING_FRAMES || r->flags > RING_FRAMES || r->stack >= RING_STACKS)
        return;
    names_see(&s->names, t->image, r->object);
    t->building->depth = r->flags;
    t->building->pcs[r->kind] = r->object | (uint64_t)t->image << PC_IMAGE_SHIFT;
    if (r->kind + 1 == r->flags)
        t->stacks[r->stack] = intern(s, t->building);
}

/* ---- threads --------------------------------------------------------------------------------- */

static thread *thread_at(source *s, uint32_t slot)
{
    if (s->at[slot])
        return s->at[slot];
    if (!grow(s, (void **)&s->threads, &s->capacity, s->count, sizeof *s->threads))
        return NULL;
    thread *t = calloc(1, sizeof *t);
    if (!t) {
        s->failed = true;
        return NULL;
    }
    t->slot = slot;
    t->image = s->shared->slots[slot].image;
    s->at[slot] = t;
    s->threads[s->count++] = t;
    return t;
}

static void add_item(source *s, thread *t, const ring_record *r)
{
    if (t->first > 0 && t->end == t->capacity) {
        memmove(t->items, t->items + t->first, (t->end - t->first) * sizeof *t->items);
        t->end -= t->first;
        t->first = 0;
    }
    if (!grow(s, (void **)&t->items, &t->capacity, t->end, sizeof *t->items))
        return;
    item *i = &t->items[t->end++];
    *i = (item){.record = *r};
    if (r->stack > 0 && r->stack < RING_STACKS)
        i->stack = t->stacks[r->stack];
    if (r->type == RING_CREATE && r->flags < RING_SLOTS)
        i->other = thread_at(s, r->flags);
}

/* Takes the records of a slot. Returns a time up to which no more come; at most safe. */
static uint64_t take_slot(source *s, uint32_t number, uint64_t safe)
{
    ring_slot *slot = &s->shared->slots[number];
    thread *t = thread_at(s, number);
    if (!t)
        return safe;
    bool busy = atomic_load_explicit(&slot->busy, memory_order_acquire);
    uint64_t head = atomic_load_explicit(&slot->head, memory_order_acquire);
    uint64_t tail = atomic_load_explicit(&slot->tail, memory_order_relaxed), last = 0;
    for (; tail != head; tail++) {
        const ring_record *r = &slot->records[tail % RING_RECORDS];
        last = r->time;
        if (r->type == RING_FRAME)
            take_frame(s, t, r);
        else
            add_item(s, t, r);
    }
    atomic_store_explicit(&slot->tail, tail, memory_order_release);
    t->last = last ? last : t->last;
    bool lives = t->image + 1 >= s->shared->images;
    return busy && lives && t->last < safe ? t->last : safe;
}

uint64_t source_begin(const source *s)
{
    const thread *t = s->count > 0 ? s->threads[0] : NULL;
    return t && t->first < t->end ? t->items[t->first].record.time : 0;
}

/* A thread that has ended, or whose image has: its slot can be used again. */
static void free_slot(source *s, uint32_t number)
{
    ring_slot *slot = &s->shared->slots[number];
    s->at[number]->finished = true;
    s->at[number] = NULL;
    slot->busy = 0;
    atomic_store_explicit(&slot->state, RING_FREE, memory_order_release);
}

/* Whether no more records come: the thread has ended, or the process executes another program. */
static bool is_finished(const source *s, uint32_t number)
{
    const ring_slot *slot = &s->shared->slots[number];
    uint32_t state = atomic_load_explicit(&slot->state, memory_order_acquire);
    return state == RING_FINISHED || (state == RING_TAKEN && slot->image + 1 < s->shared->images);
}

uint64_t source_take(source *s)
{
    bool finished[RING_SLOTS];
    uint64_t safe = now() - VISIBLE_NS;
    uint32_t used = s->shared->used;
    /* A thread that has ended was created before: the record of that is taken below. */
    for (uint32_t i = 0; i < used; i++)
        finished[i] = is_finished(s, i);
    for (uint32_t i = 0; i < used; i++)
        if (s->shared->slots[i].state >= RING_TAKEN)
            safe = take_slot(s, i, safe);
    for (uint32_t i = 0; i < used; i++)
        if (finished[i] && s->at[i])
            free_slot(s, i);
    return safe;
}

/* A thread that is not yet replayed as created may be named in a record. */
static bool is_done(const thread *t)
{
    return t->finished && t->first == t->end &&
           (t->state == THREAD_CREATED || t->state == THREAD_ENDED);
}

void source_forget(source *s)
{
    size_t kept = 0;
    for (size_t i = 0; i < s->count; i++) {
        thread *t = s->threads[i];
        if (is_done(t))
            free_thread(t);
        else
            s->threads[kept++] = t;
    }
    s->count = kept;
}
