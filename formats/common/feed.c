#include "formats/common/feed.h"

#include <stdlib.h>

#include "core/thread.h"

/* A thread that waits is woken when half of the blocks are ready for it. To wake it costs as much
 * as hundreds of events, or thousands in a virtual machine, so it must have work for many. */
enum { BLOCKS = 64 };

/* A block, or what ended reading. */
typedef struct feed_entry {
    const gotrace_block *block; /* NULL: reading has ended */
    gotrace_status status;      /* then: of the reader */
} feed_entry;

struct feed_thread {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    uint64_t passed, done; /* entries passed to the caller, and those that it has processed */
    bool ends;
    gotrace_reader *reader; /* of the thread */
    feed_entry *entry;      /* of the caller; NULL before the first one */
    feed_entry entries[BLOCKS];
};

/* ---- in the thread --------------------------------------------------------------------------- */

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
    feed_entry *n = &t->entries[0];

    while (n) {
        n->status = gotrace_reader_next_block(t->reader, &n->block);
        bool last = !n->block;
        pass(t, last);
        n = last ? NULL : wait_free(t);
    }
    return NULL;
}

/* ---- in the caller --------------------------------------------------------------------------- */

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

    if (!t->entry || t->entry->block)
        next_entry(t);
    f->block = t->entry->block;
    return t->entry->status;
}

static void thread_free(feed_thread *t)
{
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

/* The feed has no thread if none can be started. */
static void begin_thread(feed *f)
{
    bool indexed = gotrace_reader_index(f->reader) == GOTRACE_OK;
    bool pays = indexed && !has_small_generations(f->reader);
    feed_thread *t = pays ? calloc(1, sizeof *t) : NULL;

    f->threaded = false;
    if (!t)
        return;
    t->reader = f->reader;
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->changed, NULL);
    if (gt_thread_begin(&t->thread, read_events, t))
        f->thread = t;
    else
        thread_free(t);
}

static gotrace_status next_in_order(feed *f, const gotrace_event **event)
{
    f->status = gotrace_reader_next(f->reader, event);
    if (f->status == GOTRACE_EVENT && (*event)->kind == GOTRACE_KIND_SYNC) {
        f->generation = (*event)->subject;
        f->generation_index = gotrace_event_value(*event);
    }
    return f->status;
}

static void release(feed *f)
{
    gotrace_block_release(f->block);
    f->block = NULL;
    f->next = f->last = NULL;
}

gotrace_status feed_next_block(feed *f, const gotrace_event **event)
{
    if (f->in_order)
        return next_in_order(f, event);
    release(f);
    if (f->threaded)
        begin_thread(f);
    if (f->thread)
        f->status = take_block(f);
    else if (f->status == GOTRACE_EVENT)
        f->status = gotrace_reader_next_block(f->reader, &f->block);
    if (!f->block)
        return f->status;
    f->generation = f->block->generation;
    f->generation_index = f->block->generation_index;
    f->next = f->block->events;
    f->last = f->next + f->block->count;
    *event = f->next++;
    return GOTRACE_EVENT;
}

void feed_show(feed *f, const gotrace_block *block)
{
    f->block = block;
    if (!block)
        return;
    f->generation = block->generation;
    f->generation_index = block->generation_index;
}

size_t feed_stack_depth(const feed *f, uint64_t id)
{
    return f->block ? gotrace_block_stack_depth(f->block, id)
                    : gotrace_reader_stack_depth(f->reader, id);
}

size_t feed_stack(const feed *f, uint64_t id, gotrace_frame *frames, size_t max)
{
    return f->block ? gotrace_block_stack(f->block, id, frames, max)
                    : gotrace_reader_stack(f->reader, id, frames, max);
}

bool feed_outermost(const feed *f, uint64_t id, gotrace_frame *frame)
{
    enum { MOST_FRAMES = 1000 };
    gotrace_frame frames[MOST_FRAMES];
    const size_t depth = feed_stack_depth(f, id);
    if (depth == 0 || depth > MOST_FRAMES || feed_stack(f, id, frames, depth) != depth)
        return false;
    *frame = frames[depth - 1];
    return true;
}

/* ---- begin and end --------------------------------------------------------------------------- */

void feed_init(feed *f, gotrace_reader *reader, bool in_order, size_t threads)
{
    *f = (feed){.reader = reader,
                .in_order = in_order,
                .threaded = threads > 1 && !in_order,
                .status = GOTRACE_EVENT};
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
    gotrace_status status = t->entries[(t->passed - 1) % BLOCKS].status;
    for (uint64_t n = t->done + (t->entry != NULL); n < t->passed; n++)
        gotrace_block_release(t->entries[n % BLOCKS].block);
    thread_free(t);
    f->thread = NULL;
    return status;
}

gotrace_status feed_check(feed *f)
{
    if (f->thread)
        f->status = end_thread(f);
    f->threaded = false;
    release(f);
    if (f->status == GOTRACE_EVENT)
        f->status = gotrace_reader_check(f->reader);
    return f->status;
}

void feed_free(feed *f)
{
    if (f->thread)
        end_thread(f);
    release(f);
}
