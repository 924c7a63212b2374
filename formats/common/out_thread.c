/*
 * out_thread.c - writing beside what makes the output: while one buffer is filled another thread
 * hands those before to write, which on a file, or compressed, takes about as long.
 */
#include <stdlib.h>

#include "formats/formats.h"
#include "formats/common/thread.h"

/* Full buffers on their way. What makes the output pauses and hurries by turns; with several of
 * them waiting neither thread has to wait for the other's next turn. */
enum { ON_THE_WAY = 16 };

struct out_thread {
    gotrace_write_fn write;
    void *ctx;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed; /* one of these has */
    uint64_t given, done;   /* how many buffers; the last ones given wait */
    bool failed, ends;
    char *buffers[ON_THE_WAY]; /* each as large as the output's own */
    size_t sizes[ON_THE_WAY];
};

static void *write_on(void *arg)
{
    out_thread *t = arg;

    pthread_mutex_lock(&t->lock);
    while (!t->ends || t->done < t->given) {
        if (t->done == t->given) {
            pthread_cond_wait(&t->changed, &t->lock);
            continue;
        }
        size_t place = t->done % ON_THE_WAY;
        bool failed = t->failed;
        pthread_mutex_unlock(&t->lock);
        failed = failed || !t->write(t->ctx, t->buffers[place], t->sizes[place]);
        pthread_mutex_lock(&t->lock);
        t->failed = failed;
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
    for (size_t i = 0; i < ON_THE_WAY; i++)
        free(t->buffers[i]);
    free(t);
}

void out_use_thread(out *o)
{
    out_thread *t = calloc(1, sizeof *t);
    bool enough = true;

    if (!t)
        return;
    t->write = o->write;
    t->ctx = o->ctx;
    for (size_t i = 0; i < ON_THE_WAY && enough; i++)
        enough = (t->buffers[i] = malloc(o->capacity)) != NULL;
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->changed, NULL);
    if (enough && thread_begin(&t->thread, write_on, t))
        o->thread = t;
    else
        free_all(t);
}

/* Until no more than so many buffers are on their way; the lock is held. */
static void wait_for(out_thread *t, uint64_t most)
{
    while (t->given - t->done > most)
        pthread_cond_wait(&t->changed, &t->lock);
}

bool out_thread_take(out *o)
{
    out_thread *t = o->thread;
    char *full = o->buffer;

    pthread_mutex_lock(&t->lock);
    wait_for(t, ON_THE_WAY - 1);
    bool done = !t->failed;
    if (done && o->used > 0) {
        size_t place = t->given++ % ON_THE_WAY;
        o->buffer = t->buffers[place];
        t->buffers[place] = full;
        t->sizes[place] = o->used;
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
