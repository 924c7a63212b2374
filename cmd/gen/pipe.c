/* pipe.c - a ring of blocks with one producer thread and one consumer thread. */
#include "cmd/gen/pipe.h"

#include <stdlib.h>

#include "core/thread.h"
#include "formats/common/ring.h"

struct gen_pipe {
    gen_record (*blocks)[GEN_BLOCK_RECORDS];
    size_t counts[GEN_BLOCKS];
    gen_fill_fn *fill;
    void *filler;
    gen_take_fn *take;
    void *taker;
    bool threaded; /* the producer has its own thread */

    pthread_t thread;
    ring ring;
    bool stopped; /* the consumer wants no more */
};

enum { HALF_RING = GEN_BLOCKS / 2 };

/* ---- producer -------------------------------------------------------------------------------- */

static gen_record *next_threaded(gen_pipe *p, size_t count)
{
    if (count > 0) {
        p->counts[ring_place(&p->ring)] = count;
        ring_pass(&p->ring);
    }
    return ring_reserve(&p->ring) ? p->blocks[ring_place(&p->ring)] : NULL;
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
    ring_end(&p->ring);
    return NULL;
}

/* ---- consumer -------------------------------------------------------------------------------- */

static void take_all(gen_pipe *p)
{
    size_t place;
    while (!p->stopped && ring_take(&p->ring, &place)) {
        p->stopped = !p->take(p->taker, p->blocks[place], p->counts[place]);
        ring_done(&p->ring);
    }
    ring_stop(&p->ring);
}

gen_pipe_end gen_pipe_run(gen_fill_fn *fill, void *filler, gen_take_fn *take, void *taker)
{
    gen_pipe p = {.fill = fill, .filler = filler, .take = take, .taker = taker, .threaded = true};
    p.blocks = malloc(GEN_BLOCKS * sizeof *p.blocks);
    if (!p.blocks)
        return GEN_PIPE_NO_MEMORY;
    ring_init(&p.ring, GEN_BLOCKS, HALF_RING);
    if (gt_thread_begin(&p.thread, fill_thread, &p)) {
        take_all(&p);
        pthread_join(p.thread, NULL);
    } else {
        p.threaded = false;
        fill(filler, &p);
    }
    ring_free(&p.ring);
    free(p.blocks);
    return p.stopped ? GEN_PIPE_STOPPED : GEN_PIPE_TAKEN;
}
