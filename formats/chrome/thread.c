/*
 * thread.c - a thread that writes blocks of records, in order, while the next blocks are filled.
 */
#include "formats/chrome/chrome.h"

#include <stdlib.h>

#include "core/thread.h"

/* Queue size in blocks. Blocks become complete in bursts, when a record ends that all later ones
 * waited for; the queue must take such a burst without blocking. Waking a thread is expensive, so
 * it is done for several blocks at a time. */
enum { QUEUE_SIZE = 144, WAKE_BLOCKS = 8 };

struct chrome_thread {
    chrome_block_fn write;
    void *ctx;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed; /* signalled when one of the following changes */
    uint64_t passed, done;  /* blocks passed to the thread, and blocks written */
    uint64_t wanted;        /* the caller waits until this many are written */
    bool failed, ends;
    uint64_t returned; /* blocks returned to their spools; at most `done` */
    chrome_block blocks[QUEUE_SIZE];
};

static void *write_blocks(void *arg)
{
    chrome_thread *t = arg;

    pthread_mutex_lock(&t->lock);
    while (!t->ends || t->done < t->passed) {
        if (t->done == t->passed) {
            pthread_cond_wait(&t->changed, &t->lock);
            continue;
        }
        chrome_block block = t->blocks[t->done % QUEUE_SIZE];
        bool failed = t->failed;
        pthread_mutex_unlock(&t->lock);
        failed = failed || !t->write(t->ctx, &block);
        pthread_mutex_lock(&t->lock);
        t->failed = failed;
        t->done++;
        if (t->done >= t->wanted)
            pthread_cond_signal(&t->changed);
    }
    pthread_mutex_unlock(&t->lock);
    return NULL;
}

chrome_thread *chrome_thread_start(chrome_block_fn write, void *ctx)
{
    chrome_thread *t = calloc(1, sizeof *t);

    if (!t)
        return NULL;
    t->write = write;
    t->ctx = ctx;
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->changed, NULL);
    if (gt_thread_begin(&t->thread, write_blocks, t))
        return t;
    pthread_mutex_destroy(&t->lock);
    pthread_cond_destroy(&t->changed);
    free(t);
    return NULL;
}

/* Returns the blocks that were written. The caller holds the lock. */
static void return_blocks(chrome_thread *t)
{
    for (; t->returned < t->done; t->returned++) {
        const chrome_block *block = &t->blocks[t->returned % QUEUE_SIZE];
        spool_release(block->home, &block->records);
    }
}

/* Waits until some of the blocks in the queue are written, if there are any. The caller holds the
 * lock. */
static void wait_for_some(chrome_thread *t)
{
    uint64_t queued = t->passed - t->done;

    t->wanted = t->done + (queued < WAKE_BLOCKS ? queued : WAKE_BLOCKS);
    pthread_cond_signal(&t->changed);
    while (t->done < t->wanted)
        pthread_cond_wait(&t->changed, &t->lock);
}

void chrome_thread_return(chrome_thread *t, bool wait)
{
    pthread_mutex_lock(&t->lock);
    if (wait && t->returned == t->done)
        wait_for_some(t);
    return_blocks(t);
    pthread_mutex_unlock(&t->lock);
}

bool chrome_thread_queue(chrome_thread *t, const chrome_block *block)
{
    pthread_mutex_lock(&t->lock);
    if (t->passed - t->done == QUEUE_SIZE)
        wait_for_some(t);
    return_blocks(t);
    t->blocks[t->passed++ % QUEUE_SIZE] = *block;
    bool failed = t->failed;
    if (t->passed - t->done >= WAKE_BLOCKS)
        pthread_cond_signal(&t->changed);
    pthread_mutex_unlock(&t->lock);
    return !failed;
}

bool chrome_thread_end(chrome_thread *t)
{
    pthread_mutex_lock(&t->lock);
    t->ends = true;
    pthread_cond_signal(&t->changed);
    pthread_mutex_unlock(&t->lock);
    pthread_join(t->thread, NULL);
    return_blocks(t);
    bool failed = t->failed;
    pthread_mutex_destroy(&t->lock);
    pthread_cond_destroy(&t->changed);
    free(t);
    return !failed;
}
