/*
 * futile.c - which events are parts of futile wake-ups.
 *
 * A goroutine that is unblocked, starts, finds nothing to do and blocks again says so just before
 * it blocks (FutileWakeup). What came before belongs to it then, so that the trace has to be read
 * in order once to know. Only traces that hold such events (until 1.10, and gccgo's) pay for it.
 * Source: Go 1.21, internal/trace/parser.go, removeFutile.
 */
#include "order.h"

static bool remember(gotrace_reader *reader, gt_goroutine *g, uint64_t position)
{
    void *wakeup = g->wakeup;
    size_t capacity = g->wakeup_capacity;
    if (!gt_grow(&reader->heap, &wakeup, &capacity, g->wakeup_count + (size_t)1, sizeof position))
        return gt_fail_memory(reader);
    g->wakeup = wakeup;
    g->wakeup_capacity = (uint32_t)capacity;
    g->wakeup[g->wakeup_count++] = position;
    return true;
}

static bool add(gotrace_reader *reader, gt_spill *futile, uint64_t position)
{
    return gt_spill_add(futile, &(gt_row){.key = (int64_t)position}, &reader->error) ||
           gt_fail(reader);
}

static bool blocks(gotrace_reader *reader, gt_spill *futile, gt_goroutine *g, uint64_t position)
{
    if (g->futile) {
        for (uint32_t i = 0; i < g->wakeup_count; i++)
            if (!add(reader, futile, g->wakeup[i]))
                return false;
        if (!add(reader, futile, position))
            return false;
    }
    g->futile = false;
    g->wakeup_count = 0;
    return true;
}

static bool follow(gotrace_reader *reader, gt_goroutines *goroutines, gt_spill *futile,
                   const gt_event *e, uint64_t position)
{
    uint64_t id = e->type == GT_V1_GoUnblock ? e->args[0] : e->goroutine;
    switch (e->type) {
    case GT_V1_GoUnblock:
    case GT_V1_GoStart:
    case GT_V1_GoPreempt:
    case GT_V1_FutileWakeup:
    case GT_V1_GoBlock:
    case GT_V1_GoBlockSend:
    case GT_V1_GoBlockRecv:
    case GT_V1_GoBlockSelect:
    case GT_V1_GoBlockSync:
    case GT_V1_GoBlockCond:
    case GT_V1_GoEnd: break;
    default: return true;
    }
    gt_goroutine *g = e->subject && e->subject->id == id ? e->subject
                                                         : gt_goroutine_get(goroutines, id);
    if (!g)
        return gt_fail_memory(reader);
    switch (e->type) {
    case GT_V1_GoUnblock: g->wakeup_count = 0; return remember(reader, g, position);
    case GT_V1_FutileWakeup: g->futile = true; return remember(reader, g, position);
    case GT_V1_GoStart:
    case GT_V1_GoPreempt: return remember(reader, g, position);
    case GT_V1_GoEnd: return gt_goroutine_end(goroutines, g) || gt_fail_memory(reader);
    default: return blocks(reader, futile, g, position);
    }
}

bool gt_order_find_futile(gotrace_reader *reader, gt_spill *futile)
{
    gt_goroutines goroutines;
    gt_goroutines_init(&goroutines, &reader->heap, reader->limits.goroutines);
    gt_order *order = gt_order_new(reader, &goroutines);
    bool ok = order != NULL;
    gt_event *e;
    reader->quiet = true; /* what is wrong is said when the events are delivered */
    for (uint64_t position = 0; ok; position++) {
        ok = gt_order_next(reader, order, &e);
        if (!ok || !e)
            break;
        ok = follow(reader, &goroutines, futile, e, position);
    }
    reader->quiet = false;
    gt_order_free(reader, order);
    gt_goroutines_free(&goroutines);
    return ok && (gt_spill_rewind(futile, &reader->error) || gt_fail(reader));
}
