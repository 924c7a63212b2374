#include "cmd/parallel.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cmd/diag.h"
#include "cmd/progress.h"
#include "core/thread.h"
#include "formats/common/spool.h"

/* Pieces that are started before the first unwritten one is written; each has two open files. */
enum { MOST_THREADS = 16, MOST_AHEAD = 4 * MOST_THREADS };

typedef struct piece {
    int report, messages; /* temporary files; -1: none */
    int status;
    bool done;
} piece;

typedef struct pool {
    const parallel_job *job;
    piece *pieces;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    size_t next, written; /* the next one to start, to write */
    size_t active;        /* that are being done */
    bool paused;          /* none is started */
} pool;

static int do_alone(const parallel_job *job)
{
    int worst = EXIT_SOUND;
    for (size_t n = 0; n < job->count; n++) {
        progress_files(n, job->count);
        int status = job->run(job->ctx, n, NULL);
        worst = status > worst ? status : worst;
    }
    progress_files(job->count, job->count);
    return worst;
}

static void do_piece(const parallel_job *job, size_t n, piece *p)
{
    out messages = {0};
    p->report = spool_file(NULL);
    p->messages = spool_file(NULL);
    p->status = EXIT_SYSTEM;
    if (p->report >= 0 && p->messages >= 0 && out_init(&messages, spool_write_file, &p->messages)) {
        diag_capture(&messages);
        p->status = job->run(job->ctx, n, &p->report);
        diag_capture(NULL);
        if (!out_flush(&messages))
            p->status = EXIT_SYSTEM;
    }
    out_free(&messages);
}

static void *work(void *ctx)
{
    pool *all = ctx;
    pthread_mutex_lock(&all->lock);
    while (all->next < all->job->count) {
        if (all->paused || all->next >= all->written + MOST_AHEAD) {
            pthread_cond_wait(&all->changed, &all->lock);
            continue;
        }
        size_t n = all->next++;
        all->active++;
        pthread_mutex_unlock(&all->lock);
        do_piece(all->job, n, &all->pieces[n]);
        pthread_mutex_lock(&all->lock);
        all->active--;
        all->pieces[n].done = true;
        pthread_cond_broadcast(&all->changed);
    }
    pthread_mutex_unlock(&all->lock);
    return NULL;
}

static void write_messages(const char *text, size_t size)
{
    progress_clear();
    fwrite(text, 1, size, stderr);
}

/* Returns false if the file cannot be read. */
static bool copy(int fd, out *o)
{
    char buffer[1 << 14];
    ssize_t size;
    off_t at = 0;
    while ((size = pread(fd, buffer, sizeof buffer, at)) > 0) {
        if (o)
            out_bytes(o, buffer, (size_t)size);
        else
            write_messages(buffer, (size_t)size);
        at += size;
    }
    return size == 0;
}

static void discard(piece *p)
{
    if (p->report >= 0)
        close(p->report);
    if (p->messages >= 0)
        close(p->messages);
}

/* Writes the next piece. The lock is held, but not meanwhile. */
static int write_piece(pool *all, size_t n)
{
    piece *p = &all->pieces[n];
    while (!p->done)
        pthread_cond_wait(&all->changed, &all->lock);
    all->paused = p->status == EXIT_SYSTEM;
    while (all->paused && all->active > 0)
        pthread_cond_wait(&all->changed, &all->lock);
    pthread_mutex_unlock(&all->lock);
    int status = p->status;
    if (all->paused) {
        discard(p);
        status = all->job->run(all->job->ctx, n, NULL);
    } else {
        if (!copy(p->messages, NULL) || !copy(p->report, all->job->output)) {
            diag_error("cannot read a temporary file");
            status = EXIT_SYSTEM;
        }
        discard(p);
    }
    pthread_mutex_lock(&all->lock);
    all->paused = false;
    all->written = n + 1;
    pthread_cond_broadcast(&all->changed);
    return status;
}

static int run_pool(pool *all, pthread_t *threads, size_t most)
{
    size_t count = 0;
    int worst = EXIT_SOUND;
    while (count < most && gt_thread_begin(&threads[count], work, all))
        count++;
    if (count == 0)
        return do_alone(all->job);
    pthread_mutex_lock(&all->lock);
    for (size_t n = 0; n < all->job->count; n++) {
        progress_files(n, all->job->count);
        int status = write_piece(all, n);
        worst = status > worst ? status : worst;
    }
    progress_files(all->job->count, all->job->count);
    pthread_mutex_unlock(&all->lock);
    while (count > 0)
        pthread_join(threads[--count], NULL);
    return worst;
}

int parallel_run(const parallel_job *job)
{
    pthread_t threads[MOST_THREADS];
    size_t most = job->threads < job->count ? job->threads : job->count;
    most = most < MOST_THREADS ? most : MOST_THREADS;
    pool all = {.job = job, .pieces = most > 1 ? calloc(job->count, sizeof *all.pieces) : NULL};
    if (!all.pieces)
        return do_alone(job);
    progress_files_only();
    pthread_mutex_init(&all.lock, NULL);
    pthread_cond_init(&all.changed, NULL);
    int worst = run_pool(&all, threads, most);
    pthread_cond_destroy(&all.changed);
    pthread_mutex_destroy(&all.lock);
    free(all.pieces);
    return worst;
}
