#include "formats/common/feed.h"

#include <stdlib.h>
#include <string.h>

#include "formats/common/feed_stacks.h"
#include "core/thread.h"

/* All blocks together fit into the second-level cache of a processor. A thread that waits is woken
 * when half of the blocks are ready for it, because waking it for each costs more than its work. */
enum { BLOCKS = 16, BLOCK_EVENTS = 128, BLOCK_DATA = 8 * 1024 };

typedef struct feed_block {
    size_t count;
    gotrace_status status;   /* after the last event; GOTRACE_EVENT: the next block has more */
    bool failed;             /* memory was refused */
    unsigned char *data;     /* arguments, texts and messages */
    size_t used, capacity;   /* bytes of data; multiples of 8 */
    feed_arena *arena;       /* of the generation of the events */
    feed_stack_copy *stacks; /* that are new in the generation */
    gotrace_event events[BLOCK_EVENTS];
} feed_block;

struct feed_thread {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    uint64_t passed, done; /* blocks passed to the caller, and blocks that it has processed */
    bool ends;
    /* Of the thread. */
    gotrace_reader *reader;
    const gotrace_event *pending; /* an event for the next block */
    uint64_t generation;
    feed_copier copier;
    feed_stack_copy **stacks_end;
    /* Of the caller. */
    feed_block *block; /* NULL before the first one */
    feed_arena *arena;
    idmap stacks; /* of the generation, by id */
    feed_block blocks[BLOCKS];
};

/* ---- in the thread --------------------------------------------------------------------------- */

/* The number of bytes, rounded up to a multiple of 8. */
static size_t rounded(size_t size)
{
    return (size + 7) / 8 * 8;
}

static size_t data_size(const gotrace_event *e)
{
    return e->arg_count * sizeof *e->args + rounded(e->text_size) + rounded(e->message_size);
}

/* Whether the event can be added to the block. A block belongs to one generation. Its data may only
 * be moved while it is empty. */
static bool block_fits(const feed_thread *t, const feed_block *b, const gotrace_event *e)
{
    if (b->count == 0 && !b->stacks)
        return true;
    return e->generation == t->generation &&
           (b->count == 0 || data_size(e) <= b->capacity - b->used);
}

static bool block_reserve(feed_block *b, size_t size)
{
    if (size <= b->capacity - b->used)
        return true;
    size_t capacity = size > BLOCK_DATA ? size : BLOCK_DATA;
    unsigned char *data = realloc(b->data, capacity);
    if (!data)
        return false;
    b->data = data;
    b->capacity = capacity;
    return true;
}

/* Arguments are few: a loop takes less time than memcpy. */
static const uint64_t *block_put_args(feed_block *b, const gotrace_event *e)
{
    uint64_t *copy = (void *)(b->data + b->used);

    for (unsigned i = 0; i < e->arg_count; i++)
        copy[i] = e->args[i];
    b->used += e->arg_count * sizeof *copy;
    return copy;
}

static const void *block_put(feed_block *b, const void *bytes, size_t size)
{
    void *copy = b->data + b->used;

    if (size > 0)
        memcpy(copy, bytes, size);
    b->used += rounded(size);
    return copy;
}

/* False if memory is refused. */
static bool copy_stacks(feed_thread *t, const gotrace_event *e)
{
    return (e->stack == 0 || feed_copy_stack(&t->copier, e->stack, &t->stacks_end)) &&
           (e->start_stack == 0 || feed_copy_stack(&t->copier, e->start_stack, &t->stacks_end));
}

static bool block_add(feed_thread *t, feed_block *b, const gotrace_event *e)
{
    if (e->generation != t->generation) {
        if (!feed_copier_restart(&t->copier))
            return false;
        t->generation = e->generation;
        b->arena = t->copier.arena;
    }
    if (!block_reserve(b, data_size(e)) || !copy_stacks(t, e))
        return false;
    gotrace_event *copy = &b->events[b->count++];
    memcpy(copy, e, sizeof *copy);
    if (e->arg_count > 0)
        copy->args = block_put_args(b, e);
    if (e->text)
        copy->text = block_put(b, e->text, e->text_size);
    if (e->message)
        copy->message = block_put(b, e->message, e->message_size);
    return true;
}

static void block_begin(feed_thread *t, feed_block *b)
{
    b->count = b->used = 0;
    b->arena = t->copier.arena;
    b->stacks = NULL;
    t->stacks_end = &b->stacks;
}

static void block_fill(feed_thread *t, feed_block *b)
{
    b->status = GOTRACE_EVENT;
    while (b->count < BLOCK_EVENTS) {
        if (!t->pending)
            b->status = gotrace_reader_next(t->reader, &t->pending);
        if (b->status != GOTRACE_EVENT || !block_fits(t, b, t->pending))
            return;
        if (!block_add(t, b, t->pending)) {
            b->failed = true;
            b->status = GOTRACE_END;
            return;
        }
        t->pending = NULL;
    }
}

/* The next block to fill; NULL if the caller needs no more. */
static feed_block *wait_free(feed_thread *t)
{
    pthread_mutex_lock(&t->lock);
    while (t->passed - t->done == BLOCKS && !t->ends)
        pthread_cond_wait(&t->changed, &t->lock);
    feed_block *b = t->ends ? NULL : &t->blocks[t->passed % BLOCKS];
    pthread_mutex_unlock(&t->lock);
    return b;
}

static void pass(feed_thread *t, bool last)
{
    pthread_mutex_lock(&t->lock);
    t->passed++;
    if (last || t->passed - t->done >= BLOCKS / 2)
        pthread_cond_signal(&t->changed);
    pthread_mutex_unlock(&t->lock);
}

static void *read_events(void *arg)
{
    feed_thread *t = arg;
    feed_block *b = &t->blocks[0]; /* has the stacks of the event before the first */

    while (b) {
        block_fill(t, b);
        bool last = b->status != GOTRACE_EVENT;
        pass(t, last);
        b = last ? NULL : wait_free(t);
        if (b)
            block_begin(t, b);
    }
    return NULL;
}

/* ---- in the caller --------------------------------------------------------------------------- */

/* Frees the stacks of other generations. */
static void enter_generation(feed_thread *t, feed_arena *arena)
{
    if (arena == t->arena)
        return;
    feed_arena_free(t->arena);
    idmap_free(&t->stacks);
    t->arena = arena;
}

/* False if memory is refused. */
static bool take_stacks(feed_thread *t)
{
    enter_generation(t, t->block->arena);
    for (const feed_stack_copy *copy = t->block->stacks; copy; copy = copy->next) {
        const feed_stack_copy **slot = idmap_insert(&t->stacks, copy->id);
        if (!slot)
            return false;
        *slot = copy;
    }
    return true;
}

/* Returns the block that was processed and waits for the next. */
static void next_block(feed_thread *t)
{
    pthread_mutex_lock(&t->lock);
    if (t->block) {
        t->done++;
        if (t->passed - t->done <= BLOCKS / 2)
            pthread_cond_signal(&t->changed);
    }
    while (t->passed == t->done)
        pthread_cond_wait(&t->changed, &t->lock);
    pthread_mutex_unlock(&t->lock);
    t->block = &t->blocks[t->done % BLOCKS];
}

gotrace_status feed_next_block(feed *f, const gotrace_event **event)
{
    feed_thread *t = f->thread;

    while (f->next == f->last) {
        if (t->block && t->block->status != GOTRACE_EVENT)
            return t->block->status;
        next_block(t);
        f->next = t->block->events;
        f->last = f->next + t->block->count;
        f->failed = !take_stacks(t) || t->block->failed;
        if (f->failed)
            return GOTRACE_END;
    }
    *event = f->next++;
    return GOTRACE_EVENT;
}

static const feed_stack_copy *stack_of(const feed_thread *t, uint64_t id)
{
    const feed_stack_copy *const *slot = idmap_find(&t->stacks, id);

    return slot ? *slot : NULL;
}

size_t feed_stack_depth(const feed *f, uint64_t id)
{
    if (!f->thread)
        return gotrace_reader_stack_depth(f->reader, id);
    const feed_stack_copy *copy = stack_of(f->thread, id);
    return copy ? copy->depth : 0;
}

size_t feed_stack(const feed *f, uint64_t id, gotrace_frame *frames, size_t max)
{
    if (!f->thread)
        return gotrace_reader_stack(f->reader, id, frames, max);
    const feed_stack_copy *copy = stack_of(f->thread, id);
    size_t depth = !copy ? 0 : copy->depth < max ? copy->depth : max;
    for (size_t i = 0; i < depth; i++)
        frames[i] = *copy->frames[i];
    return depth;
}

/* ---- begin and end --------------------------------------------------------------------------- */

void feed_init(feed *f, gotrace_reader *reader)
{
    *f = (feed){.reader = reader};
}

/* Frees everything after the thread has ended. */
static void thread_free(feed_thread *t)
{
    for (uint64_t n = t->done; n < t->passed; n++)
        enter_generation(t, t->blocks[n % BLOCKS].arena);
    enter_generation(t, t->copier.arena);
    enter_generation(t, NULL);
    for (size_t i = 0; i < BLOCKS; i++)
        free(t->blocks[i].data);
    feed_copier_free(&t->copier);
    pthread_mutex_destroy(&t->lock);
    pthread_cond_destroy(&t->changed);
    free(t);
}

void feed_begin_thread(feed *f)
{
    feed_thread *t = f->begun ? NULL : calloc(1, sizeof *t);

    f->begun = true;
    if (!t)
        return;
    t->reader = f->reader;
    t->generation = f->current->generation;
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->changed, NULL);
    idmap_init(&t->stacks, sizeof(feed_stack_copy *));
    feed_copier_init(&t->copier, f->reader);
    bool ready = feed_copier_restart(&t->copier);
    block_begin(t, &t->blocks[0]);
    if (ready && copy_stacks(t, f->current) && gt_thread_begin(&t->thread, read_events, t))
        f->thread = t;
    else
        thread_free(t);
}

/* Ends the thread. Returns the status of its last read. */
static gotrace_status end_thread(feed *f)
{
    feed_thread *t = f->thread;

    pthread_mutex_lock(&t->lock);
    t->ends = true;
    pthread_cond_signal(&t->changed);
    pthread_mutex_unlock(&t->lock);
    pthread_join(t->thread, NULL);
    const feed_block *last = &t->blocks[(t->passed - 1) % BLOCKS];
    gotrace_status status = last->status;
    f->failed = f->failed || last->failed;
    thread_free(t);
    f->thread = NULL;
    return status;
}

gotrace_status feed_check(feed *f)
{
    gotrace_status status = f->thread ? end_thread(f) : GOTRACE_EVENT;

    return status == GOTRACE_EVENT ? gotrace_reader_check(f->reader) : status;
}

void feed_free(feed *f)
{
    if (f->thread)
        end_thread(f);
}
