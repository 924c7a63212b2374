#include "formats/common/ring.h"

void ring_init(ring *r, size_t room, size_t batch)
{
    *r = (ring){.room = room, .batch = batch};
    pthread_mutex_init(&r->lock, NULL);
    pthread_cond_init(&r->changed, NULL);
}

void ring_free(ring *r)
{
    pthread_mutex_destroy(&r->lock);
    pthread_cond_destroy(&r->changed);
}

/* Signals are sent without the lock: a thread that wakes would at once wait for it. */
static void unlock(ring *r, bool wakes)
{
    pthread_mutex_unlock(&r->lock);
    if (wakes)
        pthread_cond_signal(&r->changed);
}

/* The other thread may wait for a batch that is not complete. The caller holds the lock. */
static void wait_for(ring *r, uint64_t wanted)
{
    r->wanted = wanted;
    pthread_cond_signal(&r->changed);
    while (r->done < r->wanted && !r->stopped)
        pthread_cond_wait(&r->changed, &r->lock);
}

/* The caller holds the lock. */
static void wait_for_some(ring *r)
{
    const uint64_t queued = r->passed - r->done;
    wait_for(r, r->done + (queued < r->batch ? queued : r->batch));
}

bool ring_reserve(ring *r)
{
    pthread_mutex_lock(&r->lock);
    if (r->passed - r->done == r->room)
        wait_for_some(r);
    const bool stopped = r->stopped;
    pthread_mutex_unlock(&r->lock);
    return !stopped;
}

void ring_pass(ring *r)
{
    pthread_mutex_lock(&r->lock);
    r->passed++;
    unlock(r, r->passed - r->done >= r->batch);
}

void ring_end(ring *r)
{
    pthread_mutex_lock(&r->lock);
    r->ends = true;
    unlock(r, true);
}

void ring_wait_some(ring *r)
{
    pthread_mutex_lock(&r->lock);
    wait_for_some(r);
    pthread_mutex_unlock(&r->lock);
}

bool ring_wait_all(ring *r)
{
    pthread_mutex_lock(&r->lock);
    wait_for(r, r->passed);
    const bool stopped = r->stopped;
    pthread_mutex_unlock(&r->lock);
    return !stopped;
}

uint64_t ring_count_done(ring *r)
{
    pthread_mutex_lock(&r->lock);
    const uint64_t done = r->done;
    pthread_mutex_unlock(&r->lock);
    return done;
}

bool ring_take(ring *r, size_t *place)
{
    pthread_mutex_lock(&r->lock);
    while (r->done == r->passed && !r->ends)
        pthread_cond_wait(&r->changed, &r->lock);
    const bool taken = r->done < r->passed;
    *place = r->done % r->room;
    pthread_mutex_unlock(&r->lock);
    return taken;
}

void ring_done(ring *r)
{
    pthread_mutex_lock(&r->lock);
    r->done++;
    unlock(r, r->done == r->wanted);
}

void ring_stop(ring *r)
{
    pthread_mutex_lock(&r->lock);
    r->stopped = true;
    unlock(r, true);
}
