/*
 * thread.c - a thread that writes blocks of records, in order, while the next blocks are filled.
 */
#include "formats/chrome/chrome.h"

#include <stdlib.h>

#include "core/thread.h"
#include "formats/common/ring.h"

/* Queue size in blocks. Blocks become complete in bursts, when a record ends that all later ones
 * waited for; the queue must take such a burst without blocking. */
enum { QUEUE_SIZE = 144, WAKE_BLOCKS = 8 };

struct chrome_thread {
    chrome_block_fn write;
    void *ctx;
    pthread_t thread;
    ring ring;
    uint64_t returned; /* blocks returned to their spools, of those that are written */
    chrome_block blocks[QUEUE_SIZE];
};

static void *write_blocks(void *arg)
{
    chrome_thread *t = arg;
    size_t place;

    while (ring_take(&t->ring, &place)) {
        if (!t->write(t->ctx, &t->blocks[place])) {
            ring_stop(&t->ring);
            break;
        }
        ring_done(&t->ring);
    }
    return NULL;
}

chrome_thread *chrome_thread_start(chrome_block_fn write, void *ctx)
{
    chrome_thread *t = calloc(1, sizeof *t);

    if (!t)
        return NULL;
    t->write = write;
    t->ctx = ctx;
    ring_init(&t->ring, QUEUE_SIZE, WAKE_BLOCKS);
    if (gt_thread_begin(&t->thread, write_blocks, t))
        return t;
    ring_free(&t->ring);
    free(t);
    return NULL;
}

/* Returns the blocks before that number. */
static void return_blocks(chrome_thread *t, uint64_t end)
{
    for (; t->returned < end; t->returned++) {
        const chrome_block *block = &t->blocks[t->returned % QUEUE_SIZE];
        spool_release(block->home, &block->records);
    }
}

void chrome_thread_return(chrome_thread *t, bool wait)
{
    if (wait && t->returned == ring_count_done(&t->ring))
        ring_wait_some(&t->ring);
    return_blocks(t, ring_count_done(&t->ring));
}

bool chrome_thread_queue(chrome_thread *t, const chrome_block *block)
{
    const bool goes_on = ring_reserve(&t->ring);

    return_blocks(t, ring_count_done(&t->ring));
    if (!goes_on) {
        spool_release(block->home, &block->records);
        return false;
    }
    t->blocks[ring_place(&t->ring)] = *block;
    ring_pass(&t->ring);
    return true;
}

bool chrome_thread_end(chrome_thread *t)
{
    ring_end(&t->ring);
    pthread_join(t->thread, NULL);
    return_blocks(t, t->ring.passed);
    const bool failed = t->ring.stopped;
    ring_free(&t->ring);
    free(t);
    return !failed;
}
