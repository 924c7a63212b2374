#include "formats/common/feed.h"

#include <stdlib.h>

#include "core/thread.h"
#include "formats/common/ring.h"

enum { BLOCKS = 64 };

struct feed_thread {
    pthread_t thread;
    ring ring;
    gotrace_reader *reader; /* of the thread */
    gotrace_status status;  /* of the reader; the thread's until it ends */
    bool taken;             /* the caller has a block */
    const gotrace_block *blocks[BLOCKS];
};

static void *read_events(void *arg)
{
    feed_thread *t = arg;

    while (ring_reserve(&t->ring)) {
        const gotrace_block *block;
        t->status = gotrace_reader_next_block(t->reader, &block);
        if (!block)
            break;
        t->blocks[ring_place(&t->ring)] = block;
        ring_pass(&t->ring);
    }
    ring_end(&t->ring);
    return NULL;
}

/* The next block of the thread. */
static gotrace_status take_block(feed *f)
{
    feed_thread *t = f->thread;
    size_t place;

    if (t->taken)
        ring_done(&t->ring);
    t->taken = ring_take(&t->ring, &place);
    f->block = t->taken ? t->blocks[place] : NULL;
    return t->taken ? GOTRACE_EVENT : t->status;
}

static void thread_free(feed_thread *t)
{
    ring_free(&t->ring);
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
    t->status = GOTRACE_EVENT;
    ring_init(&t->ring, BLOCKS, BLOCKS / 2);
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

    ring_stop(&t->ring);
    pthread_join(t->thread, NULL);
    const gotrace_status status = t->status;
    for (uint64_t n = t->ring.done + t->taken; n < t->ring.passed; n++)
        gotrace_block_release(t->blocks[n % BLOCKS]);
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
