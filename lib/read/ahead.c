#include "read/ahead.h"

#include "core/thread.h"

enum { MOST_THREADS = 64 };

struct gt_ahead {
    gotrace_reader *reader;
    int version;           /* a copy: the reading thread writes the summary */
    gotrace_config config; /* for the readers of pieces */
    gotrace_limits limits;
    gt_ahead_way way;
    gotrace_allocator allocator; /* the caller's; if it has one, calls are serialised by `memory` */
    pthread_mutex_t memory;
    uint64_t reserved; /* of the reader's memory limit, for each job; 0: no thread is started */
    pthread_mutex_t lock;
    pthread_cond_t wanted, done; /* there may be a piece to check; a job is done */
    char *jobs;
    size_t job_count;
    size_t next, end; /* the first piece that no thread has begun; after the last one */
    unsigned misfits; /* see gt_ahead_pays */
    atomic_bool ends; /* checks stop */
    size_t thread_count;
    pthread_t threads[MOST_THREADS];
};

static gt_job *job_of(const gt_ahead *a, size_t i)
{
    return (gt_job *)(void *)(a->jobs + i * a->way.job_size);
}

static void *resize_locked(void *ctx, void *block, size_t old_size, size_t new_size)
{
    gt_ahead *a = ctx;
    pthread_mutex_lock(&a->memory);
    void *moved = a->allocator.resize(a->allocator.ctx, block, old_size, new_size);
    pthread_mutex_unlock(&a->memory);
    return moved;
}

/* ---- checking pieces ------------------------------------------------------------------------- */

bool gt_ahead_open(gt_ahead *a, gt_job *job, gotrace_problem_fn on_problem)
{
    gotrace_config config = a->config;
    config.on_problem = on_problem;
    config.callback_ctx = job;
    if (gotrace_reader_open(a->reader->source, &config, &job->reader, NULL) < 0 ||
        job->reader->summary.version != a->version) /* the file was changed */
        return false;
    gt_assumptions_init(&job->assumed, &job->reader->heap);
    job->assumed.stop = &a->ends;
    return true;
}

/* Finds a piece to check, and a job for it; NULL if there is none. The caller holds the lock. */
static gt_job *begin_job(gt_ahead *a)
{
    gt_job *job = NULL;
    for (size_t i = 0; i < a->job_count && !job; i++)
        job = job_of(a, i)->state == GT_JOB_FREE ? job_of(a, i) : NULL;
    if (!job || a->next >= a->end)
        return NULL;
    job->number = a->next;
    job->sound = false;
    if (!a->way.begin(a->reader, job))
        return NULL;
    a->next++;
    job->state = GT_JOB_RUNS;
    return job;
}

static void close_job(gt_ahead *a, gt_job *job)
{
    if (job->reader) {
        a->way.close(job);
        gt_assumptions_free(&job->assumed);
    }
    gotrace_reader_close(job->reader);
    job->reader = NULL;
}

/* Runs a job. The caller holds the lock. */
static void run_job(gt_ahead *a, gt_job *job)
{
    pthread_mutex_unlock(&a->lock);
    a->way.check(a, job);
    pthread_mutex_lock(&a->lock);
    if (job->state == GT_JOB_DROPPED) {
        close_job(a, job);
        job->state = GT_JOB_FREE;
    } else {
        job->state = GT_JOB_DONE;
        pthread_cond_signal(&a->done);
    }
}

static void *run_jobs(void *arg)
{
    gt_ahead *a = arg;
    pthread_mutex_lock(&a->lock);
    while (!a->ends) {
        gt_job *job = begin_job(a);
        if (job)
            run_job(a, job);
        else
            pthread_cond_wait(&a->wanted, &a->lock);
    }
    pthread_mutex_unlock(&a->lock);
    return NULL;
}

/* The job for a piece; NULL if no thread has begun it; then none will. The caller holds the lock.
 */
static gt_job *find_job(gt_ahead *a, size_t number)
{
    if (a->next <= number)
        a->next = number + 1;
    for (size_t i = 0; i < a->job_count; i++) {
        gt_job *job = job_of(a, i);
        if (job->state != GT_JOB_FREE && job->state != GT_JOB_DROPPED && job->number == number)
            return job;
    }
    return NULL;
}

gt_job *gt_ahead_wait(gt_ahead *a, size_t number)
{
    gt_job *other;
    pthread_mutex_lock(&a->lock);
    gt_job *found = find_job(a, number);
    while (found && found->state == GT_JOB_RUNS) {
        if ((other = begin_job(a)))
            run_job(a, other);
        else
            pthread_cond_wait(&a->done, &a->lock);
    }
    pthread_mutex_unlock(&a->lock);
    return found;
}

void gt_ahead_drop(gt_ahead *a, size_t number)
{
    pthread_mutex_lock(&a->lock);
    gt_job *found = find_job(a, number);
    if (found && found->state == GT_JOB_RUNS) {
        found->state = GT_JOB_DROPPED;
        found = NULL;
    }
    pthread_mutex_unlock(&a->lock);
    if (found)
        gt_ahead_release(a, found);
}

bool gt_ahead_pays(gt_ahead *a, bool fitted)
{
    enum { STEP = 3, MOST = 4 * STEP };
    if (!fitted)
        a->misfits += STEP;
    else if (a->misfits > 0)
        a->misfits--;
    return a->misfits < MOST;
}

void gt_ahead_release(gt_ahead *a, gt_job *job)
{
    close_job(a, job);
    pthread_mutex_lock(&a->lock);
    job->state = GT_JOB_FREE;
    pthread_cond_signal(&a->wanted);
    pthread_mutex_unlock(&a->lock);
}

/* ---- start and end --------------------------------------------------------------------------- */

/* Memory for the other threads is taken from the reader's limit beforehand. */
static void reserve_memory(gt_ahead *a)
{
    enum { SHARE = 4 }; /* at most this part of what is left */
    gt_heap *heap = &a->reader->heap;
    a->reserved = (heap->limit - heap->used) / SHARE / a->job_count;
    heap->used += a->reserved * a->job_count;
    if (a->reader->config.allocator.resize) {
        a->allocator = heap->allocator;
        heap->allocator = (gotrace_allocator){.resize = resize_locked, .ctx = a};
        a->reader->config.allocator = heap->allocator;
    }
}

/* The reading thread may change its own configuration. */
static void set_config(gt_ahead *a)
{
    a->limits = a->reader->limits;
    a->limits.memory = a->reserved;
    a->config = a->reader->config;
    a->config.limits = &a->limits;
    a->config.on_progress = NULL;
    a->config.every_problem = true;
    a->config.threads = 1;
}

static void return_memory(gt_ahead *a)
{
    gt_heap *heap = &a->reader->heap;
    heap->used -= a->reserved * a->job_count;
    if (a->allocator.resize)
        a->reader->config.allocator = heap->allocator = a->allocator;
}

gt_ahead *gt_ahead_start(gotrace_reader *reader, const gt_ahead_way *way, size_t first, size_t end)
{
    gt_heap *heap = &reader->heap;
    gt_ahead *a = gt_calloc(heap, 1, sizeof *a);
    if (!a)
        return NULL;
    size_t most = reader->config.threads - 1 < MOST_THREADS ? reader->config.threads - 1
                                                            : MOST_THREADS;
    size_t left = end - first;
    a->reader = reader;
    a->version = reader->summary.version;
    a->way = *way;
    a->job_count = 2 * most + 1 < left ? 2 * most + 1 : left; /* so that no thread has to wait */
    a->next = first;
    a->end = end;
    a->jobs = gt_calloc(heap, a->job_count, way->job_size);
    if (!a->jobs) {
        gt_free(heap, a, sizeof *a);
        return NULL;
    }
    pthread_mutex_init(&a->memory, NULL);
    pthread_mutex_init(&a->lock, NULL);
    pthread_cond_init(&a->wanted, NULL);
    pthread_cond_init(&a->done, NULL);
    reserve_memory(a);
    set_config(a);
    while (a->reserved > 0 && a->thread_count < most && a->thread_count < left &&
           gt_thread_begin(&a->threads[a->thread_count], run_jobs, a))
        a->thread_count++;
    return a;
}

void gt_ahead_free(gt_ahead *a)
{
    if (!a)
        return;
    pthread_mutex_lock(&a->lock);
    a->ends = true;
    pthread_cond_broadcast(&a->wanted);
    pthread_mutex_unlock(&a->lock);
    for (size_t i = 0; i < a->thread_count; i++)
        pthread_join(a->threads[i], NULL);
    for (size_t i = 0; i < a->job_count; i++)
        close_job(a, job_of(a, i));
    return_memory(a);
    pthread_mutex_destroy(&a->memory);
    pthread_mutex_destroy(&a->lock);
    pthread_cond_destroy(&a->wanted);
    pthread_cond_destroy(&a->done);
    gt_heap *heap = &a->reader->heap;
    gt_free(heap, a->jobs, a->job_count * a->way.job_size);
    gt_free(heap, a, sizeof *a);
}
