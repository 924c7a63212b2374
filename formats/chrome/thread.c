/*
 * thread.c - records are written beside the following of events: another thread takes whole
 * blocks of them, in their order, while the next ones are filled.
 */
#include "formats/chrome/chrome.h"

#include <stdlib.h>

#include "formats/common/thread.h"

/* Blocks on their way. They come in bursts, when a record is complete that all later ones waited
 * for, and whoever follows the events is not to wait for the end of one. Waking takes time, so that
 * it is done for several blocks. */
enum { ON_THE_WAY = 144, SEVERAL = 8 };

struct chrome_thread {
    chrome_block_fn write;
    void *ctx;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed; /* one of these has */
    uint64_t given, done;   /* how many blocks; of the last ones given, those not done wait */
    bool failed, ends;
    uint64_t returned; /* to their spools: no more than done */
    chrome_block blocks[ON_THE_WAY];
};

static void *write_on(void *arg)
{
    chrome_thread *t = arg;

    pthread_mutex_lock(&t->lock);
    while (!t->ends || t->done < t->given) {
        if (t->done == t->given) {
            pthread_cond_wait(&t->changed, &t->lock);
            continue;
        }
        chrome_block block = t->blocks[t->done % ON_THE_WAY];
        bool failed = t->failed;
        pthread_mutex_unlock(&t->lock);
        failed = failed || !t->write(t->ctx, &block);
        pthread_mutex_lock(&t->lock);
        t->failed = failed;
        t->done++;
        if (t->given - t->done <= ON_THE_WAY - SEVERAL)
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
    if (thread_begin(&t->thread, write_on, t))
        return t;
    pthread_mutex_destroy(&t->lock);
    pthread_cond_destroy(&t->changed);
    free(t);
    return NULL;
}

/* Give back the memory of what is done; the lock is held. */
static void give_back(chrome_thread *t)
{
    for (; t->returned < t->done; t->returned++) {
        const chrome_block *block = &t->blocks[t->returned % ON_THE_WAY];
        spool_release(block->home, &block->records);
    }
}

bool chrome_thread_give(chrome_thread *t, const chrome_block *block)
{
    pthread_mutex_lock(&t->lock);
    while (t->given - t->done == ON_THE_WAY)
        pthread_cond_wait(&t->changed, &t->lock);
    give_back(t);
    t->blocks[t->given++ % ON_THE_WAY] = *block;
    bool failed = t->failed;
    if (t->given - t->done >= SEVERAL)
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
    give_back(t);
    bool failed = t->failed;
    pthread_mutex_destroy(&t->lock);
    pthread_cond_destroy(&t->changed);
    free(t);
    return !failed;
}
