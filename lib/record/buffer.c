/*
 * buffer.c - buffers: from the threads to the output.
 *
 * A full buffer waits in a list until the output takes it. What belongs to an era waits until all
 * earlier ones are complete, because readers expect the batches of a generation together.
 */
#include "record/crash.h"
#include "record/record.h"

void gt_rec_append(gt_rec_list *list, gt_rec_buffer *b)
{
    b->next = NULL;
    if (list->last)
        list->last->next = b;
    else
        list->first = b;
    list->last = b;
}

static gt_rec_buffer *take_first(gt_rec_list *list)
{
    gt_rec_buffer *b = list->first;
    if (b) {
        list->first = b->next;
        if (!list->first)
            list->last = NULL;
        b->next = NULL;
    }
    return b;
}

/* Whether the thread that writes, or the caller's, is to take what waits. */
static bool wakes_reader(const gotrace_recorder *r)
{
    return !gt_rec_is_flight(r) && (!r->rests || r->waiting >= GT_REC_MUCH);
}

/* Passes a buffer to the output. */
static void put_full(gotrace_recorder *r, uint64_t era, gt_rec_buffer *b)
{
    if (era == r->dropping && b->kind == GT_REC_EVENTS) {
        gt_rec_give_back(r, b);
        return;
    }
    gt_rec_append(&r->full[era % GT_REC_OPEN], b);
    b->order = ++r->order;
    r->waiting += GT_REC_BUFFER_SIZE;
    if (wakes_reader(r))
        pthread_cond_broadcast(&r->changed);
}

/* A free buffer, in the crash file if that has one; NULL: memory is refused. */
static gt_rec_buffer *free_buffer(gotrace_recorder *r, uint64_t era)
{
    gt_rec_buffer *b = r->crash ? gt_crash_take(r, era) : NULL;
    if (b)
        return b;
    b = r->spare;
    if (b) {
        r->spare = b->next;
    } else if ((b = gt_resize(&r->heap, NULL, 0, GT_REC_BUFFER_SIZE))) {
        b->mapped = false;
    } else {
        gt_rec_fail_memory(r);
    }
    return b;
}

static gt_rec_buffer *new_buffer(gotrace_recorder *r, uint64_t era, size_t room)
{
    gt_rec_buffer *b = free_buffer(r, era);
    if (!b)
        return NULL;
    b->next = NULL;
    b->era = 0;
    b->kind = GT_REC_OWN;
    b->order = ++r->order;
    b->p = b->bytes;
    b->end = b->bytes + room;
    b->last_ticks = b->last_seq = 0;
    return b;
}

static void close_batch(const gotrace_recorder *r, gt_rec_buffer *b)
{
    if (r->v2)
        gt_put_wide(b->length, (uint64_t)(b->p - b->length) - GT_VARINT_MAX, GT_VARINT_MAX);
}

/* v1's batches begin at the time of their first event, or just before it if times must differ. */
static void begin_batch_v1(const gotrace_recorder *r, const gt_rec_stream *s, gt_rec_buffer *b,
                           uint64_t ticks, uint64_t seq)
{
    b->last_ticks = ticks - (r->raises && ticks > 0);
    b->last_seq = seq;
    *b->p++ = GOTRACE_V1_Batch | 1 << 6;
    b->p = gt_put(b->p, s->id);
    if (r->numbers)
        b->p = gt_put(b->p, seq);
    b->p = gt_put(b->p, b->last_ticks);
}

static void begin_batch_v2(const gotrace_recorder *r, const gt_rec_stream *s, gt_rec_buffer *b,
                           uint64_t era, uint64_t ticks)
{
    b->last_ticks = ticks - (ticks > 0);
    *b->p++ = GOTRACE_V2_EventBatch;
    b->p = gt_put(b->p, era - r->first_era + 1);
    b->p = gt_put(b->p, s->id);
    b->p = gt_put(b->p, b->last_ticks);
    b->length = b->p;
    b->p += GT_VARINT_MAX;
    if (s == &r->sample_stream)
        *b->p++ = GOTRACE_V2_CPUSamples;
}

void gt_rec_flush(gotrace_recorder *r, gt_rec_stream *s, uint64_t era)
{
    gt_rec_buffer *b = s->buffers[era % GT_REC_OPEN];
    s->buffers[era % GT_REC_OPEN] = NULL;
    if (!b)
        return;
    close_batch(r, b);
    s->last_ticks = b->last_ticks;
    put_full(r, era, b);
}

gt_rec_buffer *gt_rec_refill(gotrace_recorder *r, gt_rec_stream *s, uint64_t era, uint64_t ticks,
                             uint64_t seq)
{
    gt_rec_flush(r, s, era);
    if (s != &r->sample_stream)
        gt_rec_samples_put(r, r->open_era);
    gt_rec_buffer *b = new_buffer(r, era, r->capacity);
    if (!b)
        return NULL;
    if (ticks <= s->last_ticks) /* the batch before ended later */
        ticks = s->last_ticks + r->raises;
    if (r->v2)
        begin_batch_v2(r, s, b, era, ticks);
    else
        begin_batch_v1(r, s, b, ticks, seq);
    b->kind = GT_REC_EVENTS;
    gt_rec_commit();
    b->era = era;
    s->buffers[era % GT_REC_OPEN] = b;
    return b;
}

/* So that generations are passed on before they have to be dropped. */
static void end_large_generation(gotrace_recorder *r, uint64_t era)
{
    enum { PARTS = 4 };
    if (era == r->last_era && r->waiting - r->ready_bytes >= r->options.max_bytes / PARTS &&
        r->era_due != 0) {
        r->era_due = 0;
        pthread_cond_broadcast(&r->changed);
    }
}

/* While names are found for the generation before, nothing can be cut, dropped or moved to the
 * window. */
static void wait_for_names(gotrace_recorder *r)
{
    const uint64_t max = r->options.max_bytes;
    const int cancel = gt_thread_hold_cancel();
    for (; r->naming && max > 0 && r->waiting >= max && !r->failed; r->losses.waits++)
        pthread_cond_wait(&r->room, &r->lock);
    gt_thread_allow_cancel(cancel);
}

void gt_rec_limit(gotrace_recorder *r, uint64_t era, bool waits)
{
    const uint64_t max = r->options.max_bytes;
    if (r->naming && waits)
        wait_for_names(r);
    if (r->crash)
        gt_crash_limit(r);
    if (gt_rec_drops(r))
        end_large_generation(r, era);
    if (max == 0 || r->waiting < max || gt_rec_is_flight(r) || r->cut)
        return;
    if (r->options.when_full == GOTRACE_REC_CUT) {
        gt_rec_cut(r);
        return;
    }
    if (r->options.when_full == GOTRACE_REC_DROP) {
        gt_rec_drop(r, era);
        return;
    }
    const int cancel = gt_thread_hold_cancel();
    /* Who changes the era waits for this event, even if it has just begun in the new one, and may
     * be the one who takes the output. */
    for (; waits && r->waiting >= max && !r->failed && !r->beginning &&
           atomic_load_explicit(&r->era, memory_order_relaxed) == era;
         r->losses.waits++)
        pthread_cond_wait(&r->room, &r->lock);
    gt_thread_allow_cancel(cancel);
}

/* ---- the encoder's output -------------------------------------------------------------------- */

bool gt_rec_put_bytes(void *recorder, const void *bytes, size_t size)
{
    gotrace_recorder *r = recorder;
    const uint8_t *from = bytes;
    size_t skipped = size < r->header_left ? size : r->header_left;
    from += skipped;
    size -= skipped;
    r->header_left -= skipped;
    while (size > 0) {
        if (r->own && r->own->p == r->own->end)
            gt_rec_flush_own(r);
        if (!r->own && !(r->own = new_buffer(r, r->open_era, GT_REC_ROOM)))
            return false;
        size_t room = (size_t)(r->own->end - r->own->p), part = size < room ? size : room;
        memcpy(r->own->p, from, part);
        r->own->p += part;
        from += part;
        size -= part;
    }
    return true;
}

void gt_rec_flush_own(gotrace_recorder *r)
{
    if (r->own) {
        put_full(r, r->open_era, r->own);
        gt_rec_commit();
        r->own->era = r->open_era;
    }
    r->own = NULL;
}

/* ---- lists ----------------------------------------------------------------------------------- */

void gt_rec_make_ready(gotrace_recorder *r, uint64_t era)
{
    for (gt_rec_buffer *b; (b = take_first(&r->full[era % GT_REC_OPEN]));) {
        gt_rec_append(&r->ready, b);
        r->ready_bytes += GT_REC_BUFFER_SIZE;
    }
}

gt_rec_buffer *gt_rec_next_full(gotrace_recorder *r)
{
    const bool drops = gt_rec_drops(r);
    gt_rec_buffer *b = take_first(drops ? &r->ready : &r->full[r->open_era % GT_REC_OPEN]);
    if (b)
        r->waiting -= GT_REC_BUFFER_SIZE;
    if (b && drops)
        r->ready_bytes -= GT_REC_BUFFER_SIZE;
    return b;
}

static void free_list(gotrace_recorder *r, gt_rec_buffer *b)
{
    for (gt_rec_buffer *next; b; b = next) {
        next = b->next;
        if (!b->mapped)
            gt_free(&r->heap, b, GT_REC_BUFFER_SIZE);
    }
}

void gt_rec_give_back(gotrace_recorder *r, gt_rec_buffer *b)
{
    if (b->mapped) {
        gt_crash_give_back(r, b);
    } else {
        b->next = r->spare;
        r->spare = b;
    }
}

void gt_rec_spare(gotrace_recorder *r, gt_rec_list *list)
{
    for (gt_rec_buffer *b; (b = take_first(list));) {
        r->waiting -= GT_REC_BUFFER_SIZE;
        gt_rec_give_back(r, b);
    }
}

void gt_rec_discard(gotrace_recorder *r)
{
    gt_rec_flush_own(r);
    for (unsigned i = 0; i < GT_REC_OPEN; i++)
        gt_rec_spare(r, &r->full[i]);
    gt_rec_spare(r, &r->ready);
    r->ready_bytes = 0;
}

void gt_rec_free_buffers(gotrace_recorder *r)
{
    for (unsigned i = 0; i < GT_REC_OPEN; i++)
        free_list(r, r->full[i].first);
    free_list(r, r->ready.first);
    free_list(r, r->reading);
    free_list(r, r->own);
    free_list(r, r->spare);
}
