#include "formats/common/feed.h"

#include <stdlib.h>

#include "formats/common/feed_stacks.h"
#include "core/thread.h"

/* A thread that waits is woken when half of the blocks are ready for it. To wake it costs as much
 * as hundreds of events, or thousands in a virtual machine, so it must have work for many. */
enum { BLOCKS = 64 };

/* A block, or what ended reading. */
typedef struct feed_entry {
    const gotrace_block *block;        /* NULL: reading has ended */
    gotrace_status status;             /* then: of the reader */
    bool failed;                       /* memory was refused; there is no later entry */
    feed_arena *arena;                 /* of the generation */
    size_t stacks_before, stack_count; /* in the arena: before this block, and with its own */
} feed_entry;

struct feed_thread {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    uint64_t passed, done; /* entries passed to the caller, and those that it has processed */
    bool ends;
    /* Of the thread. */
    gotrace_reader *reader;
    uint64_t generation_index; /* of the last block */
    feed_copier copier;
    /* Of the caller. */
    feed_entry *entry; /* NULL before the first one */
    feed_arena *arena;
    id_numbers stacks; /* in the arena */
    feed_entry entries[BLOCKS];
};

/* ---- in the thread --------------------------------------------------------------------------- */

/* False if memory is refused. */
static inline bool copy_stack(feed_thread *t, uint64_t id)
{
    return feed_has_copied(&t->copier, id) || feed_copy_stack(&t->copier, id);
}

/* Copies the stacks that were not copied before. False if memory is refused. */
static bool copy_stacks(feed_thread *t, const gotrace_event *e, const gotrace_event *end)
{
    bool copied = true;
    for (; copied && e < end; e++) {
        copied = copy_stack(t, e->stack);
        if (e->given == GOTRACE_GIVEN_START_STACK && copied)
            copied = copy_stack(t, e->extra.start_stack);
    }
    return copied;
}

/* Forgets the stacks of the generation before. False if memory is refused. */
static bool begin_generation(feed_thread *t, uint64_t generation_index)
{
    feed_arena *before = t->copier.arena;
    bool restarted = feed_copier_restart(&t->copier);
    if (t->passed == 0) /* no entry has it */
        feed_arena_free(before);
    t->generation_index = generation_index;
    return restarted;
}

static void entry_fill(feed_thread *t, feed_entry *n)
{
    n->status = gotrace_reader_next_block(t->reader, &n->block);
    n->failed = false;
    if (n->block) {
        n->failed = n->block->generation_index != t->generation_index &&
                    !begin_generation(t, n->block->generation_index);
        n->stacks_before = n->failed || n->arena != t->copier.arena ? 0 : n->stacks_before;
        n->failed = n->failed ||
                    !copy_stacks(t, n->block->events, n->block->events + n->block->count);
    }
    n->arena = t->copier.arena;
    n->stack_count = n->arena ? n->arena->stacks.count : 0;
}

static void entry_begin(const feed_thread *t, feed_entry *n)
{
    n->arena = t->copier.arena;
    n->stacks_before = n->arena->stacks.count;
}

/* The next entry to fill; NULL if the caller needs no more. */
static feed_entry *wait_free(feed_thread *t)
{
    pthread_mutex_lock(&t->lock);
    while (t->passed - t->done == BLOCKS && !t->ends)
        pthread_cond_wait(&t->changed, &t->lock);
    feed_entry *n = t->ends ? NULL : &t->entries[t->passed % BLOCKS];
    pthread_mutex_unlock(&t->lock);
    return n;
}

/* Signals are sent without the lock: a thread that wakes would at once wait for it. */
static void pass(feed_thread *t, bool last)
{
    pthread_mutex_lock(&t->lock);
    t->passed++;
    bool wakes = last || t->passed - t->done >= BLOCKS / 2;
    pthread_mutex_unlock(&t->lock);
    if (wakes)
        pthread_cond_signal(&t->changed);
}

static void *read_events(void *arg)
{
    feed_thread *t = arg;
    feed_entry *n = &t->entries[0]; /* has the stacks of the event before the first */

    while (n) {
        entry_fill(t, n);
        bool last = !n->block || n->failed;
        pass(t, last);
        n = last ? NULL : wait_free(t);
        if (n)
            entry_begin(t, n);
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
    id_numbers_clear(&t->stacks);
    t->arena = arena;
}

/* False if memory is refused. */
static bool take_stacks(feed_thread *t)
{
    enter_generation(t, t->entry->arena);
    for (size_t i = t->entry->stacks_before; i < t->entry->stack_count; i++) {
        const uint32_t number = (uint32_t)i + 1;
        if (!id_numbers_put(&t->stacks, feed_stack_copy_at(t->arena, number)->id, number))
            return false;
    }
    return true;
}

/* Returns the entry that was processed and waits for the next. */
static void next_entry(feed_thread *t)
{
    pthread_mutex_lock(&t->lock);
    t->done += t->entry != NULL;
    bool wakes = t->passed - t->done <= BLOCKS / 2;
    while (t->passed == t->done) {
        wakes = false; /* the other thread does not wait, or has been woken */
        pthread_cond_wait(&t->changed, &t->lock);
    }
    pthread_mutex_unlock(&t->lock);
    if (wakes)
        pthread_cond_signal(&t->changed);
    t->entry = &t->entries[t->done % BLOCKS];
}

/* The next block of the thread. */
static gotrace_status take_block(feed *f)
{
    feed_thread *t = f->thread;

    if (!t->entry || (t->entry->block && !t->entry->failed))
        next_entry(t);
    f->failed = t->entry->failed || !take_stacks(t);
    f->block = f->failed ? NULL : t->entry->block;
    return f->failed ? GOTRACE_END : t->entry->status;
}

gotrace_status feed_next_block(feed *f, const gotrace_event **event)
{
    if (!f->begun) {
        f->status = gotrace_reader_next(f->reader, event);
        f->current = *event;
        if (f->status == GOTRACE_EVENT && f->current->kind == GOTRACE_KIND_SYNC) {
            f->generation = f->current->subject;
            f->generation_index = gotrace_event_value(f->current);
        }
        return f->status;
    }
    gotrace_block_release(f->block);
    f->block = NULL;
    if (f->thread)
        f->status = take_block(f);
    else if (f->status == GOTRACE_EVENT)
        f->status = gotrace_reader_next_block(f->reader, &f->block);
    if (!f->block) {
        f->next = f->last = NULL;
        return f->status;
    }
    f->generation = f->block->generation;
    f->generation_index = f->block->generation_index;
    f->next = f->block->events;
    f->last = f->next + f->block->count;
    *event = f->next++;
    return GOTRACE_EVENT;
}

static const feed_stack_copy *stack_of(const feed_thread *t, uint64_t id)
{
    return feed_stack_copy_at(t->arena, id_numbers_find(&t->stacks, id));
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
    return feed_stack_frames(f->thread->arena, stack_of(f->thread, id), frames, max);
}

/* ---- begin and end --------------------------------------------------------------------------- */

void feed_init(feed *f, gotrace_reader *reader)
{
    *f = (feed){.reader = reader, .status = GOTRACE_EVENT};
}

/* Frees everything after the thread has ended. */
static void thread_free(feed_thread *t)
{
    for (uint64_t n = t->done + (t->entry != NULL); n < t->passed; n++) {
        enter_generation(t, t->entries[n % BLOCKS].arena);
        gotrace_block_release(t->entries[n % BLOCKS].block);
    }
    enter_generation(t, t->copier.arena);
    enter_generation(t, NULL);
    feed_copier_free(&t->copier);
    id_numbers_free(&t->stacks);
    pthread_mutex_destroy(&t->lock);
    pthread_cond_destroy(&t->changed);
    free(t);
}

/* A block has events of one generation, and passing it takes 2 us, as long as reading a generation
 * of 200 bytes. With 1 KiB on average a thread is worth it. */
static bool has_small_generations(const gotrace_reader *reader)
{
    enum { ENOUGH = 1024 };
    const gotrace_summary *s = gotrace_reader_summary(reader);

    return s->generations > 1 && s->size / s->generations < ENOUGH;
}

void feed_begin_records(feed *f, bool threaded)
{
    bool use = threaded && !has_small_generations(f->reader);
    feed_thread *t = use ? calloc(1, sizeof *t) : NULL;

    f->begun = true;
    if (!t)
        return;
    t->reader = f->reader;
    t->generation_index = f->generation_index;
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->changed, NULL);
    id_numbers_init(&t->stacks);
    feed_copier_init(&t->copier, f->reader);
    bool ready = feed_copier_restart(&t->copier);
    if (ready)
        entry_begin(t, &t->entries[0]);
    if (ready && copy_stacks(t, f->current, f->current + 1) &&
        gt_thread_begin(&t->thread, read_events, t))
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
    const feed_entry *last = &t->entries[(t->passed - 1) % BLOCKS];
    gotrace_status status = last->status;
    f->failed = f->failed || last->failed;
    thread_free(t);
    f->thread = NULL;
    return status;
}

gotrace_status feed_check(feed *f)
{
    if (f->thread)
        f->status = end_thread(f);
    gotrace_block_release(f->block);
    f->block = NULL;
    f->next = f->last = NULL;
    if (f->status == GOTRACE_EVENT)
        f->status = gotrace_reader_check(f->reader);
    return f->status;
}

void feed_free(feed *f)
{
    if (f->thread)
        end_thread(f);
    gotrace_block_release(f->block);
    f->block = NULL;
}
