#include "formats/common/feed.h"

#include <stdlib.h>
#include <string.h>

#include "formats/common/event_data.h"
#include "formats/common/feed_stacks.h"
#include "core/thread.h"

/* A thread that waits is woken when half of the blocks are ready for it. To wake it costs as much
 * as hundreds of events, or thousands in a virtual machine, so it must have work for many. */
enum { BLOCKS = 8, BLOCK_EVENTS = 4096, BLOCK_DATA = 128 * 1024 };

typedef struct feed_block {
    size_t count;
    gotrace_status status; /* after the last event; GOTRACE_EVENT: the next block has more */
    bool failed;           /* memory was refused */
    event_data data;       /* whole events, and their data */
    uint64_t generation, generation_index; /* of the events */
    feed_arena *arena;                     /* of the generation */
    size_t stacks_before, stack_count;     /* in the arena: before this block, and with its own */
    size_t expected;                       /* records whose memory was requested */
    gotrace_brief records[BLOCK_EVENTS];
} feed_block;

struct feed_thread {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    uint64_t passed, done; /* blocks passed to the caller, and blocks that it has processed */
    bool ends;
    /* Of the thread. */
    gotrace_reader *reader;
    const gotrace_event *pending;          /* an event for the next block */
    uint64_t generation, generation_index; /* of the last event */
    feed_copier copier;
    /* Of the caller. */
    feed_block *block; /* NULL before the first one */
    feed_arena *arena;
    id_numbers stacks; /* in the arena */
    feed_block blocks[BLOCKS];
};

/* ---- in the thread --------------------------------------------------------------------------- */

/* Bytes of data of an event that is copied as a whole. */
static size_t whole_size(const gotrace_event *e)
{
    return sizeof *e + event_data_size(e);
}

/* Whether the event can be added to the block. A block belongs to one generation. Its data may only
 * be moved while it is empty. */
static bool block_fits(const feed_thread *t, const feed_block *b, const gotrace_event *e)
{
    if (b->count == 0 && b->arena->stacks.count == b->stacks_before)
        return true;
    return b->count < BLOCK_EVENTS && e->generation_index == t->generation_index &&
           (b->count == 0 || event_data_fits(&b->data, whole_size(e)));
}

/* False if memory is refused. */
static inline bool copy_stack(feed_thread *t, uint64_t id)
{
    return feed_has_copied(&t->copier, id) || feed_copy_stack(&t->copier, id);
}

static bool copy_stacks(feed_thread *t, const gotrace_event *e)
{
    return copy_stack(t, e->stack) && copy_stack(t, e->start_stack);
}

/* Begins the event's generation in an empty block. False if memory is refused. */
static bool begin_generation(feed_thread *t, feed_block *b, const gotrace_event *e)
{
    feed_arena *before = t->copier.arena;
    if (!feed_copier_restart(&t->copier))
        return false;
    if (t->passed == 0) /* no other block has it */
        feed_arena_free(before);
    t->generation = b->generation = e->generation;
    t->generation_index = b->generation_index = e->generation_index;
    b->arena = t->copier.arena;
    b->stacks_before = 0;
    return true;
}

/* Adds a copy of an event. False if memory is refused. */
static bool block_add(feed_thread *t, feed_block *b, const gotrace_event *e)
{
    if ((e->generation_index != t->generation_index && !begin_generation(t, b, e)) ||
        !copy_stacks(t, e) || !event_data_reserve(&b->data, whole_size(e), BLOCK_DATA))
        return false;
    gotrace_event *copy = event_data_put(&b->data, e, sizeof *e);
    event_data_copy(&b->data, copy);
    b->records[b->count++] = (gotrace_brief){.extra.other = copy, .given = FEED_WHOLE};
    return true;
}

static void block_begin(feed_thread *t, feed_block *b)
{
    b->count = b->expected = b->data.used = 0;
    b->generation = t->generation;
    b->generation_index = t->generation_index;
    b->arena = t->copier.arena;
    b->stacks_before = b->arena->stacks.count;
}

enum { STEP = 64 /* records that are made at a time */ };

/* Requests the memory of later records. The other processor has it in its cache, and without this
 * the stores of each record wait for it: of 26 million events, 0.6 to 1 s in a virtual machine
 * whose processors are far from each other, now 0.25 s; nothing where they are near. */
static inline void expect_records(feed_block *b)
{
    const size_t ahead = b->count + (size_t)2 * STEP;
    const size_t until = ahead < BLOCK_EVENTS ? ahead : BLOCK_EVENTS;
    if (b->expected >= until)
        return;
    const gotrace_brief *end = &b->records[until];
    for (const gotrace_brief *later = &b->records[b->expected]; later < end; later++) {
#ifdef __x86_64__
        /* Processors that do not have it ignore it; the compiler's own one is for loads. */
        __asm__ volatile("prefetchw %0" : : "m"(*later));
#else
        __builtin_prefetch(later, 1);
#endif
    }
    b->expected = until;
}

/* Copies the stacks that were not copied before. False if memory is refused. */
static inline bool copy_stacks_of(feed_thread *t, const gotrace_brief *r, const gotrace_brief *end)
{
    bool copied = true;
    for (; copied && r < end; r++) {
        if (!feed_has_copied(&t->copier, r->stack))
            copied = feed_copy_stack(&t->copier, r->stack);
        if (r->given == GOTRACE_BRIEF_START_STACK && copied)
            copied = copy_stack(t, r->extra.start_stack);
    }
    return copied;
}

/* Reads some events. *event: one that has yet to be added. False if memory is refused. */
static bool block_read(feed_thread *t, feed_block *b, const gotrace_event **event)
{
    size_t count;
    expect_records(b);
    b->status = gotrace_reader_next_briefs(t->reader, &b->records[b->count], STEP, &count, event);
    if (b->status != GOTRACE_EVENT)
        *event = NULL;
    /* They are of the generation of the block, because a generation begins with a sync. */
    const gotrace_brief *first = &b->records[b->count];
    b->count += count;
    return copy_stacks_of(t, first, first + count);
}

static void block_fill(feed_thread *t, feed_block *b)
{
    const gotrace_event *e = t->pending;
    bool done = true;
    b->status = GOTRACE_EVENT;
    t->pending = NULL;
    while (done && b->status == GOTRACE_EVENT) {
        if (e && !block_fits(t, b, e))
            t->pending = e;
        if (t->pending || (!e && b->count > BLOCK_EVENTS - STEP))
            return;
        if (e)
            done = block_add(t, b, e);
        e = NULL;
        if (done && b->count <= BLOCK_EVENTS - STEP)
            done = block_read(t, b, &e);
    }
    b->failed = !done;
    if (b->failed)
        b->status = GOTRACE_END;
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
    feed_block *b = &t->blocks[0]; /* has the stacks of the event before the first */

    while (b) {
        block_fill(t, b);
        b->stack_count = b->arena->stacks.count;
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
    id_numbers_clear(&t->stacks);
    t->arena = arena;
}

/* False if memory is refused. */
static bool take_stacks(feed_thread *t)
{
    enter_generation(t, t->block->arena);
    for (size_t i = t->block->stacks_before; i < t->block->stack_count; i++) {
        const uint32_t number = (uint32_t)i + 1;
        if (!id_numbers_put(&t->stacks, feed_stack_copy_at(t->arena, number)->id, number))
            return false;
    }
    return true;
}

/* Returns the block that was processed and waits for the next. */
static void next_block(feed_thread *t)
{
    pthread_mutex_lock(&t->lock);
    t->done += t->block != NULL;
    bool wakes = t->passed - t->done <= BLOCKS / 2;
    while (t->passed == t->done) {
        wakes = false; /* the other thread does not wait, or has been woken */
        pthread_cond_wait(&t->changed, &t->lock);
    }
    pthread_mutex_unlock(&t->lock);
    if (wakes)
        pthread_cond_signal(&t->changed);
    t->block = &t->blocks[t->done % BLOCKS];
}

/* Makes the next block with events current. */
static gotrace_status enter_block(feed *f)
{
    feed_thread *t = f->thread;

    while (f->next == f->last) {
        if (t->block && t->block->status != GOTRACE_EVENT)
            return t->block->status;
        next_block(t);
        f->next = t->block->records;
        f->last = f->next + t->block->count;
        f->event.generation = t->block->generation;
        f->event.generation_index = t->block->generation_index;
        f->failed = !take_stacks(t) || t->block->failed;
        if (f->failed)
            return GOTRACE_END;
    }
    return GOTRACE_EVENT;
}

/* Reads events without a thread: the next is in the batch, if that has records, or *event. */
static gotrace_status enter_batch(feed *f, const gotrace_event **event)
{
    size_t count = 0;

    if (!f->pending && f->status == GOTRACE_EVENT)
        f->status = f->begun ? gotrace_reader_next_briefs(f->reader, f->batch, FEED_BATCH, &count,
                                                          &f->pending)
                             : gotrace_reader_next(f->reader, &f->pending);
    f->next = f->batch;
    f->last = f->batch + count;
    if (count > 0)
        return GOTRACE_EVENT;
    *event = f->current = f->pending;
    f->pending = NULL;
    if (f->status == GOTRACE_EVENT) {
        f->event.generation = f->current->generation;
        f->event.generation_index = f->current->generation_index;
    }
    return f->status;
}

/* feed_next, when the block or batch is used up. */
static gotrace_status next_block_of(feed *f, const gotrace_event **event)
{
    gotrace_status status = f->thread ? enter_block(f) : enter_batch(f, event);
    return status != GOTRACE_EVENT || f->next == f->last ? status : feed_next(f, event);
}

gotrace_status feed_next_whole(feed *f, const gotrace_event **event)
{
    if (f->next == f->last)
        return next_block_of(f, event);
    *event = (f->next++)->extra.other;
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
    *f = (feed){.reader = reader, .status = GOTRACE_EVENT, .event.since = GOTRACE_NO_TIME};
}

/* Frees everything after the thread has ended. */
static void thread_free(feed_thread *t)
{
    for (uint64_t n = t->done; n < t->passed; n++)
        enter_generation(t, t->blocks[n % BLOCKS].arena);
    enter_generation(t, t->copier.arena);
    enter_generation(t, NULL);
    for (size_t i = 0; i < BLOCKS; i++)
        free(t->blocks[i].data.bytes);
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
    t->generation = f->current->generation;
    t->generation_index = f->current->generation_index;
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->changed, NULL);
    id_numbers_init(&t->stacks);
    feed_copier_init(&t->copier, f->reader);
    bool ready = feed_copier_restart(&t->copier);
    if (ready)
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
    if (f->thread)
        f->status = end_thread(f);
    f->next = f->last = f->batch;
    f->pending = NULL;
    if (f->status == GOTRACE_EVENT)
        f->status = gotrace_reader_check(f->reader);
    return f->status;
}

void feed_free(feed *f)
{
    if (f->thread)
        end_thread(f);
}
