/*
 * ring.h - a bounded queue from one thread, which passes items, to another one, which takes them in
 * order.
 *
 * The owner has the items, in an array of `room` places. A place belongs to the thread that takes
 * from ring_pass to ring_done, else to the one that passes. To wake a thread costs as much as
 * hundreds of events, or thousands in a virtual machine: a thread that waits is woken when `batch`
 * items are there, or that many places are free.
 */
#ifndef RING_H
#define RING_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct ring {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    size_t room, batch;
    uint64_t passed, done; /* numbers of items */
    uint64_t wanted;       /* the passing thread waits until that many are done */
    bool ends, stopped;
} ring;

void ring_init(ring *r, size_t room, size_t batch);
void ring_free(ring *r);

/* ---- the thread that passes ------------------------------------------------------------------ */

/* The place of the next item. */
static inline size_t ring_place(const ring *r)
{
    return r->passed % r->room;
}

/* Waits until that place is free. False: the other thread has stopped. */
bool ring_reserve(ring *r);
void ring_pass(ring *r);
/* No more items are passed. */
void ring_end(ring *r);

/* Waits until `batch` more items are done, or as many as there are. */
void ring_wait_some(ring *r);
/* Waits until all items are done. False: the other thread has stopped. */
bool ring_wait_all(ring *r);
/* The number of items that are done. */
uint64_t ring_count_done(ring *r);

/* ---- the thread that takes ------------------------------------------------------------------- */

/* Waits for the next item. False: there are no more. */
bool ring_take(ring *r, size_t *place);
void ring_done(ring *r);
/* No more items are taken. */
void ring_stop(ring *r);

#endif
