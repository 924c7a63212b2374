/* pipe.c - a ring of blocks with one producer thread and one consumer thread. */
#include "cmd/gen/pipe.h"

#include <stdlib.h>

#include "core/thread.h"

struct gen_pipe {
    gen_record (*blocks)[GEN_BLOCK_RECORDS];
    size_t counts[GEN_BLOCKS];
    gen_fill_fn *fill;
    void *filler;
    gen_take_fn *take;
    void *taker;
    bool threaded; /* the producer has its own thread */

    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t some_full, some_empty;
    uint64_t filled, taken; /* number of blocks */
    bool ended;             /* the producer is done */
    bool stopped;           /* the consumer wants no more */
};

/* A waiting thread is woken when half of the ring is ready for it, since each wake-up is expensive.
 */
enum { HALF_RING = GEN_BLOCKS / 2 };

/* ---- producer -------------------------------------------------------------------------------- */

static gen_record *next_threaded(gen_pipe *p, size_t count)
{
    pthread_mutex_lock(&p->lock);
    if (count > 0) {
        p->counts[p->filled++ % GEN_BLOCKS] = count;
        if (p->filled - p->taken >= HALF_RING)
            pthread_cond_signal(&p->some_full);
    }
    while (p->filled - p->taken == GEN_BLOCKS && !p->stopped)
        pthread_cond_wait(&p->some_empty, &p->lock);
    gen_record *block = p->stopped ? NULL : p->blocks[p->filled % GEN_BLOCKS];
    pthread_mutex_unlock(&p->lock);
    return block;
}

gen_record *gen_pipe_next(gen_pipe *p, size_t count)
{
    if (p->threaded)
        return next_threaded(p, count);
    if (count > 0 && !p->take(p->taker, p->blocks[0], count))
        p->stopped = true;
    return p->stopped ? NULL : p->blocks[0];
}

static void *fill_thread(void *arg)
{
    gen_pipe *p = arg;
    p->fill(p->filler, p);
    pthread_mutex_lock(&p->lock);
    p->ended = true;
    pthread_cond_signal(&p->some_full);
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

/* ---- consumer -------------------------------------------------------------------------------- */

static void take_all(gen_pipe *p)
{
    pthread_mutex_lock(&p->lock);
    while (!p->stopped && (p->taken < p->filled || !p->ended)) {
        if (p->taken == p->filled) {
            pthread_cond_wait(&p->some_full, &p->lock);
            continue;
        }
        size_t place = p->taken % GEN_BLOCKS;
        pthread_mutex_unlock(&p->lock);
        bool wanted = p->take(p->taker, p->blocks[place], p->counts[place]);
        pthread_mutex_lock(&p->lock);
        p->taken++;
        p->stopped = !wanted;
        if (p->filled - p->taken <= HALF_RING || !wanted)
            pthread_cond_signal(&p->some_empty);
    }
    pthread_mutex_unlock(&p->lock);
}

gen_pipe_end gen_pipe_run(gen_fill_fn *fill, void *filler, gen_take_fn *take, void *taker)
{
    gen_pipe p = {.fill = fill, .filler = filler, .take = take, .taker = taker, .threaded = true};
    p.blocks = malloc(GEN_BLOCKS * sizeof *p.blocks);
    if (!p.blocks)
        return GEN_PIPE_NO_MEMORY;
    pthread_mutex_init(&p.lock, NULL);
    pthread_cond_init(&p.some_full, NULL);
    pthread_cond_init(&p.some_empty, NULL);
    if (gt_thread_begin(&p.thread, fill_thread, &p)) {
        take_all(&p);
        pthread_join(p.thread, NULL);
    } else {
        p.threaded = false;
        fill(filler, &p);
    }
    pthread_cond_destroy(&p.some_full);
    pthread_cond_destroy(&p.some_empty);
    pthread_mutex_destroy(&p.lock);
    free(p.blocks);
    return p.stopped ? GEN_PIPE_STOPPED : GEN_PIPE_TAKEN;
}
