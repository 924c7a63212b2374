/*
 * times.c - times that damage has moved.
 *
 * A tracer begins a thread's next batch after the last event of the one before, and writes the
 * stacks of a generation after its last event. An altered time moves all events after it in its
 * batch, so that the batch ends too late. The record with the least difference of time that
 * explains this is then the altered one; if there is none, several are altered, and the one with
 * the largest difference is one of them. Source: Go 1.27, runtime/tracebuf.go, traceWriter.refill.
 */
#include <stdio.h>
#include <string.h>

#include "read/v2/v2.h"

enum {
    SLACK_NS = 1000,   /* more than the rounding of a batch's times */
    LITTLE_NS = 16384, /* a difference between batches that is not worth a correction */
};

/* The latest batch of a generation, of events or of tables. */
static uint64_t latest_batch(const struct gt_v2 *v2, const gt_generation *g, bool events)
{
    uint64_t latest = 0;
    for (size_t i = g->first; i < g->first + g->count; i++) {
        const gt_batch *b = &v2->batches[i];
        if ((b->kind == GT_BATCH_EVENTS) == events && b->kind != GT_BATCH_EXPERIMENT &&
            b->time > latest)
            latest = b->time;
    }
    return latest;
}

/* Whether at most one batch of events, which may be damaged, is later than that time. Not every
 * writer of traces sets the times of tables. */
static bool is_end(const struct gt_v2 *v2, const gt_generation *g, uint64_t ticks)
{
    unsigned later = 0;
    for (size_t i = g->first; i < g->first + g->count && later < 2; i++)
        later += v2->batches[i].kind == GT_BATCH_EVENTS && v2->batches[i].time > ticks;
    return later < 2;
}

/* When the latest batch of events begins, and the latest one before it of the same thread; 0: none.
 */
static uint64_t last_start(const struct gt_v2 *v2, const gt_generation *g, uint64_t *previous)
{
    const gt_batch *first = &v2->batches[g->first], *last = NULL;
    *previous = 0;
    for (const gt_batch *b = first; b < first + g->count; b++)
        if (b->kind == GT_BATCH_EVENTS && (!last || b->time > last->time))
            last = b;
    for (const gt_batch *b = first; last && b < last; b++)
        if (b->kind == GT_BATCH_EVENTS && b->m == last->m && b->time > *previous)
            *previous = b->time;
    return last ? last->time : 0;
}

/* Whether the last batch of events begins so much later than that time that a bit of its timestamp
 * must be flipped: by more than the generation takes until then. Without that bit, the batch is
 * not earlier than the one before it. */
static bool is_flipped(const struct gt_v2 *v2, const gt_generation *g, uint64_t ticks)
{
    uint64_t previous, latest = last_start(v2, g, &previous), begin = g->summary.begin;
    if (ticks <= begin || latest <= ticks || latest - ticks <= ticks - begin)
        return false;
    uint64_t least = previous > begin ? previous : begin;
    for (uint64_t bit = 1; bit; bit <<= 1)
        if (latest & bit && latest - bit >= least && latest - bit <= ticks)
            return true;
    return false;
}

/* The tracer writes the first strings of a generation before its first event. If one batch of
 * events is earlier than these, by more than the rest of the generation takes, its timestamp is
 * altered: returns the time of the strings, or else 0. Other writers of traces set the times of
 * tables differently. Source: Go 1.27, runtime/trace.go, traceRegisterLabelsAndReasons. */
static uint64_t begin_of_tables(const struct gt_v2 *v2)
{
    const gt_generation *g = &v2->generations[v2->current];
    uint64_t strings = UINT64_MAX, early = 0, latest = 0;
    size_t before = 0, after = 0;
    for (size_t i = g->first; i < g->first + g->count; i++)
        if (v2->batches[i].kind == GT_BATCH_STRINGS && v2->batches[i].time < strings)
            strings = v2->batches[i].time;
    for (size_t i = g->first; i < g->first + g->count; i++) {
        const gt_batch *b = &v2->batches[i];
        latest = b->time > latest ? b->time : latest;
        if (b->kind != GT_BATCH_EVENTS)
            continue;
        after += b->time >= strings;
        if (b->time < strings) {
            before++;
            early = b->time;
        }
    }
    return before == 1 && after > 1 && strings - early > latest - strings ? strings : 0;
}

void gt_v2_start_times(struct gt_v2 *v2)
{
    uint64_t earliest = UINT64_MAX, tables = begin_of_tables(v2);
    for (size_t i = 0; i < v2->cursor_count; i++)
        if (v2->batches[v2->cursors[i].next_batch].time < earliest)
            earliest = v2->batches[v2->cursors[i].next_batch].time;
    for (size_t i = 0; i < v2->cursor_count; i++)
        v2->cursors[i].previous = tables ? tables : earliest;
}

void gt_v2_bound_generation(const gotrace_reader *reader, struct gt_v2 *v2)
{
    const gt_generation *g = &v2->generations[v2->current];
    uint64_t tables = latest_batch(v2, g, false);
    bool damaged = reader->finds_damage || reader->damage_searched || is_flipped(v2, g, tables);
    v2->latest_ticks = UINT64_MAX;
    if (damaged && is_end(v2, g, tables)) {
        v2->latest_ticks = tables;
    } else if (v2->current + 1 < v2->generation_count) {
        /* A thread that is interrupted while it records an event may do so after the next
         * generation has begun; the tables are written when it is done. */
        uint64_t next = latest_batch(v2, g + 1, true), end = next > tables ? next : tables;
        if (is_end(v2, g, end))
            v2->latest_ticks = end;
    }
}

/* The time after which a batch has no events. */
static int64_t latest_time(const struct gt_v2 *v2, const gt_v2_cursor *c, uint64_t number)
{
    const gt_batch *batch = &v2->batches[number];
    uint64_t ticks = v2->latest_ticks;
    if (!c->thread) /* several threads write such batches */
        return INT64_MAX;
    uint64_t next = batch->next != GT_NONE ? v2->batches[batch->next].time : batch->time;
    if (next >= c->previous && next != batch->time) /* the same: a batch that is doubled */
        ticks = next;
    return ticks == UINT64_MAX ? INT64_MAX : gt_v2_ns(ticks, v2->ns_per_tick);
}

/* ---- batches ------------------------------------------------------------------------------- */

/* A batch before the one that is before it: the timestamp of one of the two is altered. If the
 * other one fits that of the batch before both, it is right. */
static bool is_early(gt_v2_cursor *c, const gt_batch *last, const gt_batch *batch)
{
    bool last_fits = last && last->time >= c->previous &&
                     (batch->time >= last->time || batch->time < c->previous);
    if (last_fits)
        c->previous = last->time;
    return batch->time < c->previous;
}

/* The timestamp of a batch that is earlier than c->previous: with the bit that was flipped, if
 * there is one, because most damage is a flipped bit. 0: there is none, or the batch is so little
 * earlier that its events, in order, have nearly the right times. */
static uint64_t restore_start(const struct gt_v2 *v2, const gt_v2_cursor *c, const gt_batch *batch)
{
    uint64_t excess = c->previous - batch->time, end = v2->latest_ticks;
    if (gt_v2_ns(excess, v2->ns_per_tick) <= LITTLE_NS)
        return 0;
    if (batch->next != GT_NONE && v2->batches[batch->next].time >= c->previous)
        end = v2->batches[batch->next].time;
    for (uint64_t bit = 1; bit; bit <<= 1)
        if (!(batch->time & bit) && bit >= excess && bit / 2 <= excess && batch->time + bit <= end)
            return batch->time + bit;
    return 0;
}

static bool report_early(gotrace_reader *reader, const gt_v2_cursor *c, const gt_batch *last,
                         uint64_t start)
{
    const struct gt_v2 *v2 = reader->v2;
    const gt_batch *batch = &v2->batches[c->batch];
    char taken[80] = "its events are taken to follow those of that batch";
    if (start)
        snprintf(taken, sizeof taken, "its timestamp is taken to be %llu",
                 (unsigned long long)start);
    else if (!last)
        snprintf(taken, sizeof taken, "its events are taken to begin there");
    return gt_report(
        reader, GOTRACE_RULE_CLOCK_BACK, (gt_place){batch->offset, c->batch, GOTRACE_NO_OFFSET},
        "the batch has timestamp %llu, but the %s has %llu; %s", (unsigned long long)batch->time,
        last ? "thread's batch before it" : "beginning of the generation",
        (unsigned long long)c->previous, taken);
}

bool gt_v2_check_batch(gotrace_reader *reader, gt_v2_cursor *c, const gt_batch *last)
{
    const struct gt_v2 *v2 = reader->v2;
    const gt_batch *batch = &v2->batches[c->batch];
    bool early = c->thread && is_early(c, last, batch);
    uint64_t start = early ? restore_start(v2, c, batch) : 0;
    c->jump = c->move_count = 0;
    c->checks = 0;
    c->start = start ? start : early ? c->previous : batch->time;
    if (!early || gt_v2_ns(start, v2->ns_per_tick) > c->time)
        c->time = 0;
    c->check_after = batch->late ? INT64_MIN : gt_time_add(latest_time(v2, c, c->batch), SLACK_NS);
    return !early || report_early(reader, c, last, start);
}

/* ---- jumps --------------------------------------------------------------------------------- */

/* The times of the rest of a batch. */
typedef struct batch_times {
    int64_t last;    /* time of its last event */
    int64_t excess;  /* ns by which it ends too late */
    bool found;      /* a record's difference of time is at least that */
    uint64_t offset; /* of the record with the least such difference, or with the largest one */
    uint64_t ticks;  /* that difference as recorded */
    int64_t ns;      /* the same, corrected */
} batch_times;

/* Reads the time of a record, and returns its end; NULL if it cannot be read. */
static const uint8_t *read_ticks(const struct gt_v2 *v2, const uint8_t *p, const uint8_t *end,
                                 uint64_t *ticks)
{
    const gt_v2_shape *shape = &v2->shapes[*p++];
    uint64_t ignored;
    bool good = shape->flags & GOTRACE_SPEC_TIMED && gt_varint(&p, end, ticks) > 0;
    for (unsigned i = 1; good && i < shape->values; i++)
        good = gt_varint(&p, end, &ignored) > 0;
    return good ? p : NULL;
}

/* Reads the times of the rest of a batch, as cursors do: the time of a record is not used if the
 * next one cannot be read. */
static void read_times(const struct gt_v2 *v2, const gt_v2_cursor *c, const gt_v2_event *from,
                       size_t size, batch_times *times)
{
    const uint8_t *p = v2->buffer, *end = p + size, *next;
    uint64_t ticks;
    times->last = from->time;
    times->found = false;
    times->ns = 0;
    for (batch_times before = *times; p && p < end; p = next) {
        next = read_ticks(v2, p, end, &ticks);
        if (!next) {
            *times = before;
            next = gt_v2_find_next(v2, p, end);
            continue;
        }
        before = *times;
        uint64_t offset = from->offset + (uint64_t)(p - v2->buffer);
        int64_t ns = gt_v2_ns(ticks, v2->ns_per_tick);
        for (unsigned i = 0; i < c->move_count; i++)
            if (c->moves[i].offset == offset)
                ns = gt_time_between(c->moves[i].by, ns);
        if (p > v2->buffer)
            times->last = gt_time_add(times->last, ns);
        bool enough = ns >= times->excess;
        if (times->found ? enough && ns < times->ns : enough || ns > times->ns) {
            times->found = enough;
            times->ticks = ticks;
            times->ns = ns;
            times->offset = offset;
        }
    }
}

/* How much a time, or a difference of time, is reduced so that a batch ends earlier by `excess`: by
 * the bit that was flipped, if there is one, because most damage is a flipped bit. Without it, the
 * time is at least `least`. */
static int64_t reduction(uint64_t ticks, uint64_t least, int64_t excess, double ns_per_tick)
{
    for (uint64_t bit = 1; bit; bit <<= 1) {
        int64_t by = gt_v2_ns(ticks, ns_per_tick) - gt_v2_ns(ticks & ~bit, ns_per_tick);
        if (by >= excess && by / 2 <= excess && (ticks & ~bit) >= least)
            return by;
    }
    return excess;
}

/* When a batch that is not damaged begins at the earliest: a thread's first one may be earlier than
 * the others, but not by more than the generation takes. */
static uint64_t least_start(const struct gt_v2 *v2, const gt_v2_cursor *c)
{
    uint64_t span = v2->latest_ticks - c->previous;
    return v2->latest_ticks > c->previous && span < c->previous ? c->previous - span : 0;
}

/* Moves the events from the jump on that are decoded; gt_v2_check_times moves the others. */
static void move_back(gt_v2_cursor *c, gt_v2_event *from)
{
    gt_v2_event *e = from;
    while (e < c->end && e->batch == from->batch && e->offset < c->jump)
        e++;
    bool decoded = e < c->end;
    for (; e < c->end && e->batch == from->batch; e++)
        e->time = gt_time_between(c->jump_by, e->time);
    if (!decoded) {
        c->check_after = INT64_MIN;
        return;
    }
    if (from->batch == c->batch)
        c->time = gt_time_between(c->jump_by, c->time);
    c->jump = 0;
}

static bool report_late(gotrace_reader *reader, const gt_v2_event *from, uint64_t offset,
                        int64_t excess, int64_t by)
{
    char taken[80] = "their times are limited to that";
    if (by)
        snprintf(taken, sizeof taken, "they are taken to be %lld ns earlier", (long long)by);
    return gt_report(reader, GOTRACE_RULE_CLOCK_BACK,
                     (gt_place){offset, from->batch, GOTRACE_NO_OFFSET},
                     "the events from here to the end of the batch are up to %lld ns later than "
                     "the %s; %s",
                     (long long)excess,
                     reader->v2->batches[from->batch].next != GT_NONE ? "thread's next batch"
                                                                      : "end of the generation",
                     taken);
}

/* If the batch of an event ends too late, finds what moved its events from that one on, and moves
 * them back. */
static bool mend_batch(gotrace_reader *reader, gt_v2_cursor *c, gt_v2_event *from)
{
    const struct gt_v2 *v2 = reader->v2;
    const gt_batch *batch = &v2->batches[from->batch];
    int64_t latest = latest_time(v2, c, from->batch), by = 0;
    size_t size = (size_t)(batch->data + batch->size - from->offset);
    if (gt_read_bytes(reader, from->offset, v2->buffer, size, &size) < 0)
        return gt_fail(reader);
    memset(v2->buffer + size, 0, GT_V2_SLACK);
    batch_times times = {.excess = INT64_MAX};
    read_times(v2, c, from, size, &times);
    times.excess = gt_time_between(latest, times.last);
    c->checks++;
    if (times.excess <= SLACK_NS)
        return true;
    read_times(v2, c, from, size, &times);
    if (gt_v2_ns(batch->time, v2->ns_per_tick) > latest) {
        times.offset = from->offset;
        by = reduction(batch->time, least_start(v2, c), times.excess, v2->ns_per_tick);
    } else if (times.found) {
        by = reduction(times.ticks, 0, times.excess, v2->ns_per_tick);
    } else if (c->checks < GT_V2_MOST_CHECKS) {
        by = times.ns;
    } else {
        times.offset = from->offset;
        c->checks = GT_V2_MOST_CHECKS;
    }
    if (!report_late(reader, from, times.offset, times.excess, by))
        return false;
    if (by) {
        c->jump = c->damage = times.offset;
        c->jump_by = by;
        c->moves[c->move_count++] = (gt_v2_move){c->jump, by};
        move_back(c, from);
    }
    return true;
}

/* Limits what is still too late. */
static void limit_times(gt_v2_cursor *c, gt_v2_event *from, int64_t latest)
{
    for (gt_v2_event *e = from; e < c->end; e++)
        e->time = e->time < latest ? e->time : latest;
    c->time = c->time < latest ? c->time : latest;
}

bool gt_v2_check_times(gotrace_reader *reader, gt_v2_cursor *c, gt_v2_event *start)
{
    int64_t latest = latest_time(reader->v2, c, c->batch);
    gt_v2_event *from = start;
    while (from < c->end && from->batch != c->batch)
        from++;
    if (from == c->end)
        return true;
    if (reader->finds_damage)
        reader->finds_damage->v2->batches[c->batch].late = true;
    if (c->jump)
        move_back(c, from);
    else if (c->checks < GT_V2_MOST_CHECKS && !mend_batch(reader, c, from))
        return false;
    limit_times(c, from, gt_time_add(latest, SLACK_NS));
    c->check_after = c->jump ? INT64_MIN : gt_time_add(latest, SLACK_NS);
    return true;
}

bool gt_v2_mend_times(gotrace_reader *reader, gt_v2_cursor *c)
{
    for (gt_v2_event *e = c->head; e < c->end && !c->jump && c->checks < GT_V2_MOST_CHECKS; e++)
        if ((e == c->head || e->batch != e[-1].batch) && reader->v2->batches[e->batch].late &&
            !mend_batch(reader, c, e))
            return false;
    return true;
}
