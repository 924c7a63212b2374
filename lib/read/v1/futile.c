/*
 * futile.c - identifies the events of futile wake-ups.
 *
 * A goroutine that is unblocked, starts, finds nothing to do and blocks again writes FutileWakeup
 * just before it blocks. The events before that belong to the futile wake-up, so the trace must be
 * read in order once to identify them. This is done only for traces with such events (until 1.10,
 * and gccgo). Source: Go 1.21, internal/trace/parser.go, removeFutile.
 *
 * A goroutine may start and be preempted any number of times before it blocks. So the first pass
 * stores only the position where a wake-up begins; the second pass finds its other events: all of
 * that goroutine until it blocks.
 */
#include "read/v1/futile.h"

/* The role of an event in a goroutine's wake-up. GoEnd has none, but ends one. */
enum { STEP_END = GOTRACE_FUTILE_LAST + 1 };

static unsigned step_of(const gotrace_reader *reader, const gt_event *e, uint64_t *goroutine)
{
    const gt_v1_shape *shape = &reader->index.shapes[e->type];
    *goroutine = shape->action == GT_ACTION_WAKE ? e->args[0] : e->goroutine;
    bool ends = shape->action == GT_ACTION_STOP && shape->to == GOTRACE_STATE_NOT_EXIST;
    return ends ? STEP_END : shape->does->futile;
}

/* ---- the first pass ------------------------------------------------------------------------ */

static bool block(gotrace_reader *reader, gt_futile *futile, gt_goroutine *g)
{
    gt_row first = {.key = (int64_t)(g->wakeup - 1)};
    bool is_futile = g->futile;
    g->futile = false;
    g->wakeup = 0;
    return !is_futile || gt_spill_add(&futile->first, &first, &reader->error) || gt_fail(reader);
}

static bool follow(gotrace_reader *reader, gt_goroutines *goroutines, gt_futile *futile,
                   const gt_event *e, uint64_t position)
{
    uint64_t id;
    unsigned s = step_of(reader, e, &id);
    if (s == GOTRACE_FUTILE_NO)
        return true;
    gt_goroutine *g = e->subject && e->subject->id == id ? e->subject
                                                         : gt_goroutine_get(goroutines, id);
    if (!g)
        return gt_fail_memory(reader);
    if (s == STEP_END)
        return gt_goroutine_end(goroutines, g) || gt_fail_memory(reader);
    if (s == GOTRACE_FUTILE_LAST)
        return block(reader, futile, g);
    if (s == GOTRACE_FUTILE_FIRST || g->wakeup == 0)
        g->wakeup = position + 1;
    g->futile = g->futile || s == GOTRACE_FUTILE_MARK;
    return true;
}

static void peek(gt_futile *futile)
{
    const gt_row *row = gt_spill_peek(&futile->first);
    futile->next = row ? (uint64_t)row->key : UINT64_MAX;
}

bool gt_futile_find(gotrace_reader *reader, gt_futile *futile)
{
    *futile = (gt_futile){.next = UINT64_MAX, .awake.heap = &reader->heap};
    gt_spill_init(&futile->first, &reader->heap, &reader->config);
    if (!reader->summary.type_records[GOTRACE_V1_FutileWakeup])
        return true;
    gt_goroutines goroutines;
    gt_goroutines_init(&goroutines, &reader->heap, reader->limits.goroutines);
    gt_order *order = gt_order_new(reader, &goroutines, INT64_MAX);
    bool ok = order != NULL;
    gt_event *e;
    reader->quiet = true; /* problems are reported when events are returned */
    for (uint64_t position = 0; ok; position++) {
        ok = gt_order_next(reader, order, &e);
        if (!ok || !e)
            break;
        ok = follow(reader, &goroutines, futile, e, position);
    }
    reader->quiet = false;
    gt_order_free(reader, order);
    gt_goroutines_free(&goroutines);
    if (!ok)
        return false;
    if (!gt_spill_rewind(&futile->first, &reader->error))
        return gt_fail(reader);
    peek(futile);
    return true;
}

/* ---- the second pass ----------------------------------------------------------------------- */

bool gt_futile_next_slow(gotrace_reader *reader, gt_futile *futile, gt_event *e)
{
    uint64_t id;
    unsigned s = step_of(reader, e, &id);
    if (futile->position - 1 == futile->next) {
        if (!gt_map_put(&futile->awake, id, 1))
            return gt_fail_memory(reader);
        if (!gt_spill_advance(&futile->first, &reader->error))
            return gt_fail(reader);
        peek(futile);
    }
    if (s == GOTRACE_FUTILE_NO || !gt_map_get(&futile->awake, id))
        return true;
    e->flags |= GOTRACE_EVENT_FUTILE;
    if (s == GOTRACE_FUTILE_LAST)
        gt_map_remove(&futile->awake, id);
    return true;
}

void gt_futile_free(gt_futile *futile)
{
    gt_spill_free(&futile->first);
    gt_map_free(&futile->awake);
}
