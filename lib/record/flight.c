/*
 * flight.c - the flight recorder: complete generations are kept, and a snapshot is a trace of them.
 * Source: Go 1.25, runtime/trace/flightrecorder.go.
 */
#include "record/crash.h"
#include "record/record.h"

#include <stdio.h>
#include <time.h>

static void drop_first(gotrace_recorder *r)
{
    gt_rec_generation *first = r->window;
    r->window = first->next;
    if (!r->window)
        r->window_end = &r->window;
    if (r->crash && first->buffers.first)
        gt_crash_drop(r->crash, first->buffers.first->era);
    gt_rec_spare(r, &first->buffers);
    gt_free(&r->heap, first, sizeof *first);
}

void gt_rec_drop_window(gotrace_recorder *r)
{
    while (r->window)
        drop_first(r);
}

/* Whether the window is large enough without its first generation, or too large with it. */
static bool is_surplus(const gotrace_recorder *r)
{
    const gt_rec_generation *second = r->window ? r->window->next : NULL;
    return second && ((r->options.max_bytes && r->waiting > r->options.max_bytes) ||
                      (r->crash && gt_crash_keeps_too_much(r->crash)) ||
                      gt_rec_monotonic() - second->begin_ns >= r->options.flight_ns);
}

void gt_rec_keep_generation(gotrace_recorder *r, uint64_t begin_ns)
{
    gt_rec_generation *kept = gt_calloc(&r->heap, 1, sizeof *kept);
    gt_rec_list *complete = &r->full[r->open_era % GT_REC_OPEN];
    if (!kept) {
        gt_rec_fail_memory(r);
        return;
    }
    *kept = (gt_rec_generation){.buffers = *complete, .begin_ns = begin_ns};
    *complete = (gt_rec_list){0};
    *r->window_end = kept;
    r->window_end = &kept->next;
    for (; is_surplus(r); r->losses.generations++)
        drop_first(r);
    if (r->crash)
        gt_crash_note_open(r->crash);
}

static bool write_window(const gotrace_recorder *r, gotrace_write_fn write, void *ctx)
{
    char header[GT_HEADER_SIZE] = {0};
    snprintf(header, sizeof header, "go 1.%d trace", r->version);
    if (!write(ctx, header, sizeof header))
        return false;
    for (const gt_rec_generation *g = r->window; g; g = g->next)
        for (const gt_rec_buffer *b = g->buffers.first; b; b = b->next)
            if (!write(ctx, b->bytes, (size_t)(b->p - b->bytes)))
                return false;
    return true;
}

/* Ends the generation as soon as the world is not stopped, within a second. */
static void complete_generation(gotrace_recorder *r)
{
    enum { TRIES = 10000, PAUSE_NS = 100000 };
    for (int i = 0; i < TRIES && !gt_rec_advance(r); i++)
        nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
}

gotrace_status gotrace_recorder_snapshot(gotrace_recorder *r, gotrace_write_fn write, void *ctx)
{
    const int cancel = gt_rec_take_control(r); /* nothing is dropped */
    if (gt_rec_is_flight(r) && r->encoder && !r->failed)
        complete_generation(r);
    bool good = gt_rec_is_flight(r) && !r->failed && write_window(r, write, ctx);
    gt_rec_leave_control(r, cancel);
    return good ? GOTRACE_OK : GOTRACE_ERROR;
}
