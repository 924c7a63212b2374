/*
 * out_thread.c - a thread that passes full buffers to write while the caller fills the next one.
 * Writing to a file, or compressing, takes about as long as producing the output.
 */
#include <stdlib.h>

#include "formats/common/out.h"
#include "core/thread.h"

/* Full buffers in the queue. The producer's speed varies; with several buffers neither thread waits
 * for the other often. */
enum { QUEUE_SIZE = 16 };

struct out_thread {
    gotrace_write_fn write;
    void *ctx;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed; /* signalled when one of the following changes */
    uint64_t passed, done;  /* buffers passed to the thread, and buffers written */
    bool failed, ends;
    struct {
        char *bytes;
        size_t size;
    } queue[QUEUE_SIZE];
    /* Buffers that are not in the queue. The last one that was written is the next to be filled,
     * because it is still in the cache of a processor. */
    char *unused[QUEUE_SIZE];
    size_t unused_count;
};

static void *write_buffers(void *arg)
{
    out_thread *t = arg;

    pthread_mutex_lock(&t->lock);
    while (!t->ends || t->done < t->passed) {
        if (t->done == t->passed) {
            pthread_cond_wait(&t->changed, &t->lock);
            continue;
        }
        size_t place = t->done % QUEUE_SIZE;
        bool failed = t->failed;
        pthread_mutex_unlock(&t->lock);
        failed = failed || !t->write(t->ctx, t->queue[place].bytes, t->queue[place].size);
        pthread_mutex_lock(&t->lock);
        t->failed = failed;
        t->unused[t->unused_count++] = t->queue[place].bytes;
        t->done++;
        pthread_cond_signal(&t->changed);
    }
    pthread_mutex_unlock(&t->lock);
    return NULL;
}

static void free_all(out_thread *t)
{
    pthread_mutex_destroy(&t->lock);
    pthread_cond_destroy(&t->changed);
    while (t->unused_count > 0)
        free(t->unused[--t->unused_count]);
    free(t);
}

void out_use_thread(out *o)
{
    out_thread *t = calloc(1, sizeof *t);
    if (!t)
        return;
    t->write = o->write;
    t->ctx = o->ctx;
    while (t->unused_count < QUEUE_SIZE &&
           (t->unused[t->unused_count] = malloc(OUT_BUFFER)) != NULL)
        t->unused_count++;
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->changed, NULL);
    if (t->unused_count == QUEUE_SIZE && gt_thread_begin(&t->thread, write_buffers, t))
        o->thread = t;
    else
        free_all(t);
}

/* Waits until at most this many buffers are queued. The caller holds the lock. */
static void wait_for(out_thread *t, uint64_t most)
{
    while (t->passed - t->done > most)
        pthread_cond_wait(&t->changed, &t->lock);
}

bool out_thread_take(out *o)
{
    out_thread *t = o->thread;
    char *full = o->buffer;

    pthread_mutex_lock(&t->lock);
    wait_for(t, QUEUE_SIZE - 1);
    bool done = !t->failed;
    if (done && o->used > 0) {
        size_t place = t->passed++ % QUEUE_SIZE;
        o->buffer = t->unused[--t->unused_count];
        t->queue[place].bytes = full;
        t->queue[place].size = o->used;
        pthread_cond_signal(&t->changed);
    }
    pthread_mutex_unlock(&t->lock);
    return done;
}

bool out_wait(out *o)
{
    out_thread *t = o->thread;

    if (t) {
        pthread_mutex_lock(&t->lock);
        wait_for(t, 0);
        o->failed = o->failed || t->failed;
        pthread_mutex_unlock(&t->lock);
    }
    return !o->failed;
}

void out_thread_free(out_thread *t)
{
    if (!t)
        return;
    pthread_mutex_lock(&t->lock);
    t->ends = true;
    pthread_cond_signal(&t->changed);
    pthread_mutex_unlock(&t->lock);
    pthread_join(t->thread, NULL);
    free_all(t);
}
