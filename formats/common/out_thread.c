/*
 * out_thread.c - a thread that passes full buffers to write while the caller fills the next one.
 * Writing to a file, or compressing, takes about as long as producing the output.
 */
#include <stdlib.h>

#include "core/thread.h"
#include "formats/common/out.h"
#include "formats/common/ring.h"

/* Full buffers in the queue. The producer's speed varies; with several buffers neither thread waits
 * for the other often. */
enum { QUEUE_SIZE = 16 };

struct out_thread {
    gotrace_write_fn write;
    void *ctx;
    pthread_t thread;
    ring ring;
    struct {
        char *bytes; /* of a place that is free: a buffer to be filled */
        size_t size;
    } queue[QUEUE_SIZE];
};

static void *write_buffers(void *arg)
{
    out_thread *t = arg;
    size_t place;

    while (ring_take(&t->ring, &place)) {
        if (!t->write(t->ctx, t->queue[place].bytes, t->queue[place].size)) {
            ring_stop(&t->ring);
            break;
        }
        ring_done(&t->ring);
    }
    return NULL;
}

static void free_all(out_thread *t)
{
    ring_free(&t->ring);
    for (size_t i = 0; i < QUEUE_SIZE; i++)
        free(t->queue[i].bytes);
    free(t);
}

void out_use_thread(out *o)
{
    out_thread *t = calloc(1, sizeof *t);
    bool ready = true;
    if (!t)
        return;
    t->write = o->write;
    t->ctx = o->ctx;
    ring_init(&t->ring, QUEUE_SIZE, 1);
    for (size_t i = 0; i < QUEUE_SIZE && ready; i++)
        ready = (t->queue[i].bytes = malloc(OUT_BUFFER)) != NULL;
    if (ready && gt_thread_begin(&t->thread, write_buffers, t))
        o->thread = t;
    else
        free_all(t);
}

bool out_thread_take(out *o)
{
    out_thread *t = o->thread;

    if (!ring_reserve(&t->ring))
        return false;
    if (o->used == 0)
        return true;
    /* The buffer that was written last is filled next, because it is still in the cache of a
     * processor. */
    const size_t place = ring_place(&t->ring);
    const size_t last = (ring_count_done(&t->ring) + QUEUE_SIZE - 1) % QUEUE_SIZE;
    char *written = t->queue[last].bytes;
    t->queue[last].bytes = t->queue[place].bytes;
    t->queue[place].bytes = o->buffer;
    t->queue[place].size = o->used;
    o->buffer = written;
    ring_pass(&t->ring);
    return true;
}

bool out_wait(out *o)
{
    o->failed = (o->thread && !ring_wait_all(&o->thread->ring)) || o->failed;
    return !o->failed;
}

void out_thread_free(out_thread *t)
{
    if (!t)
        return;
    ring_end(&t->ring);
    pthread_join(t->thread, NULL);
    free_all(t);
}
