/*
 * output.c - the output of a trace: the caller reads it, or a thread writes it.
 */
#include "record/record.h"

#include <errno.h>
#include <sched.h>
#include <unistd.h>

static void recycle(gotrace_recorder *r)
{
    if (r->reading) {
        gt_rec_give_back(r, r->reading);
        r->reading = NULL;
        pthread_cond_broadcast(&r->room);
    }
}

/* When the current generation is due to end. */
static bool is_due(const gotrace_recorder *r)
{
    return r->v2 && !r->cut && gt_rec_monotonic() >= r->era_due;
}

static bool is_still_due(gotrace_recorder *r)
{
    pthread_mutex_lock(&r->lock);
    const bool due = is_due(r) && !r->stopped;
    pthread_mutex_unlock(&r->lock);
    return due;
}

/* Does not wait for a thread that stops recording: it waits for this one. */
static void end_due_generation(gotrace_recorder *r)
{
    pthread_mutex_unlock(&r->lock);
    if (pthread_mutex_trylock(&r->control) == 0) {
        if (is_still_due(r))
            gt_rec_advance(r);
        pthread_mutex_unlock(&r->control);
    } else {
        sched_yield();
    }
    pthread_mutex_lock(&r->lock);
}

static void wait_until_due(gotrace_recorder *r)
{
    enum { SECOND = 1000000000 };
    if (!r->v2 || r->cut || r->era_due == UINT64_MAX) {
        pthread_cond_wait(&r->changed, &r->lock);
        return;
    }
    struct timespec at = {.tv_sec = (time_t)(r->era_due / SECOND),
                          .tv_nsec = (long)(r->era_due % SECOND)};
    pthread_cond_timedwait(&r->changed, &r->lock, &at);
}

gotrace_status gotrace_recorder_read(gotrace_recorder *r, const void **bytes, size_t *size)
{
    if (r->forked)
        return GOTRACE_END;
    const int cancel = gt_thread_hold_cancel();
    pthread_mutex_lock(&r->lock);
    recycle(r);
    while (!(r->reading = gt_rec_next_full(r)) && !r->stopped && !r->failed) {
        if (is_due(r))
            end_due_generation(r);
        else
            wait_until_due(r);
    }
    gotrace_status status = r->failed ? GOTRACE_ERROR : r->reading ? GOTRACE_OK : GOTRACE_END;
    if (r->reading) {
        *bytes = r->reading->bytes;
        *size = (size_t)(r->reading->p - r->reading->bytes);
    } else {
        r->read_out = true;
    }
    pthread_mutex_unlock(&r->lock);
    gt_thread_allow_cancel(cancel);
    return status;
}

static bool has_next(const gotrace_recorder *r)
{
    return gt_rec_drops(r) ? r->ready.first : r->full[r->open_era % GT_REC_OPEN].first;
}

/* Waits a millisecond if all is written, so that several buffers are written at a time: with one
 * thread on each processor, each time that this one runs costs another one a switch. Not if events
 * may soon wait, or be lost. */
static void rest(gotrace_recorder *r)
{
    enum { REST_NS = 1000000, SECOND = 1000000000 };
    if (r->options.max_bytes > 0 && r->options.max_bytes < 4 * GT_REC_MUCH)
        return;
    pthread_mutex_lock(&r->lock);
    recycle(r);
    if (!has_next(r) && !r->stopped && !r->failed) {
        const uint64_t end = gt_rec_monotonic() + REST_NS;
        const struct timespec at = {.tv_sec = (time_t)(end / SECOND),
                                    .tv_nsec = (long)(end % SECOND)};
        r->rests = true;
        pthread_cond_timedwait(&r->changed, &r->lock, &at);
        r->rests = false;
    }
    pthread_mutex_unlock(&r->lock);
}

static void *write_all(void *recorder)
{
    gotrace_recorder *r = recorder;
    const void *bytes;
    size_t size;
    while (gotrace_recorder_read(r, &bytes, &size) == GOTRACE_OK) {
        if (!r->write(r->write_ctx, bytes, size)) {
            gt_rec_fail_write(r);
            break;
        }
        rest(r);
    }
    return NULL;
}

/* A flight recorder: ends generations when they are due. */
static void *keep_time(void *recorder)
{
    gotrace_recorder *r = recorder;
    pthread_mutex_lock(&r->lock);
    while (!r->stopped && !r->failed) {
        if (is_due(r))
            end_due_generation(r);
        else
            wait_until_due(r);
    }
    pthread_mutex_unlock(&r->lock);
    return NULL;
}

bool gt_rec_begin_writer(gotrace_recorder *r)
{
    return gt_thread_begin(&r->writer, gt_rec_is_flight(r) ? keep_time : write_all, r);
}

static bool write_fd(void *fd, const void *bytes, size_t size)
{
    const uint8_t *p = bytes;
    while (size > 0) {
        ssize_t n = write((int)(intptr_t)fd, p, size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        p += n;
        size -= (size_t)n;
    }
    return true;
}

gotrace_status gotrace_recorder_start_fd(gotrace_recorder *r, int version, int fd)
{
    return gotrace_recorder_start(r, version, write_fd, (void *)(intptr_t)fd);
}
