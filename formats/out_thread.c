/*
 * out_thread.c - writing beside what makes the output: while one buffer is filled another thread
 * hands the one before to write, which on a file takes about as long.
 */
#include <stdlib.h>

#include "formats.h"
#include "thread.h"

struct out_thread {
    gotrace_write_fn write;
    void *ctx;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed; /* size, failed or ends has */
    char *bytes;            /* as large as the buffer */
    size_t size;            /* to be written; 0: the thread waits */
    bool failed, ends;
};

static void *write_on(void *arg)
{
    out_thread *t = arg;

    pthread_mutex_lock(&t->lock);
    while (!t->ends) {
        if (t->size == 0) {
            pthread_cond_wait(&t->changed, &t->lock);
            continue;
        }
        pthread_mutex_unlock(&t->lock);
        bool done = t->failed || t->write(t->ctx, t->bytes, t->size);
        pthread_mutex_lock(&t->lock);
        t->failed = !done || t->failed;
        t->size = 0;
        pthread_cond_signal(&t->changed);
    }
    pthread_mutex_unlock(&t->lock);
    return NULL;
}

void out_use_thread(out *o)
{
    out_thread *t = calloc(1, sizeof *t);

    if (!t)
        return;
    t->write = o->write;
    t->ctx = o->ctx;
    t->bytes = malloc(o->capacity);
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->changed, NULL);
    if (t->bytes && thread_begin(&t->thread, write_on, t)) {
        o->thread = t;
        return;
    }
    pthread_mutex_destroy(&t->lock);
    pthread_cond_destroy(&t->changed);
    free(t->bytes);
    free(t);
}

/* Until it has written what it has; the lock is held. */
static void wait_for(out_thread *t)
{
    while (t->size > 0)
        pthread_cond_wait(&t->changed, &t->lock);
}

bool out_thread_take(out *o)
{
    out_thread *t = o->thread;
    char *full = o->buffer;

    pthread_mutex_lock(&t->lock);
    wait_for(t);
    bool done = !t->failed;
    if (done && o->used > 0) {
        o->buffer = t->bytes;
        t->bytes = full;
        t->size = o->used;
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
        wait_for(t);
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
    wait_for(t);
    t->ends = true;
    pthread_cond_signal(&t->changed);
    pthread_mutex_unlock(&t->lock);
    pthread_join(t->thread, NULL);
    pthread_mutex_destroy(&t->lock);
    pthread_cond_destroy(&t->changed);
    free(t->bytes);
    free(t);
}
