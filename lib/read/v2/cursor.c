/*
 * cursor.c - decodes the events of one thread in a generation.
 *
 * A batch begins with the thread's clock. Each event adds a delta in ticks, which is scaled to
 * nanoseconds, truncated, and added to the last time, as in Go's reader. Source: Go 1.27,
 * internal/trace/batchcursor.go.
 */
#include <string.h>

#include "read/v2/v2.h"

/* A thread begins a batch after the last event of the one before. Source: Go 1.27,
 * runtime/tracebuf.go, traceWriter.refill. */
static bool check_start(gotrace_reader *reader, const gt_v2_cursor *c, const gt_batch *batch)
{
    struct gt_v2 *v2 = reader->v2;
    const gt_batch *before = &v2->index.batches[c->batch];
    int64_t next = gt_v2_ns(batch->time, v2->ns_per_tick);
    int64_t by = gt_time_between(next, c->time);
    if (!c->thread || by <= v2->rounding)
        return true;
    uint64_t warnings = reader->summary.warnings;
    bool go_on = gt_report(reader, GOTRACE_RULE_CLOCK_BACK,
                           (gt_place){batch->offset, c->next_batch, GOTRACE_NO_OFFSET},
                           "the batch begins %lld ns before the last event of the thread's "
                           "previous batch, which is at 0x%llx",
                           (long long)by, (unsigned long long)before->offset);
    if (gt_v2_overlaps((uint64_t)gt_v2_ns(before->time, v2->ns_per_tick), (uint64_t)c->time,
                       (uint64_t)next))
        v2->times_altered = true;
    else
        v2->clock_warnings += reader->summary.warnings - warnings;
    return go_on;
}

static void note_time(struct gt_v2 *v2, int64_t time)
{
    v2->times_altered = v2->times_altered || time < v2->frame_begin || time > v2->frame_end;
}

/* Notes the time of the last event of the batch. */
static void end_batch(struct gt_v2 *v2, const gt_v2_cursor *c)
{
    if (c->time != 0)
        note_time(v2, c->time);
}

static bool open_batch(gotrace_reader *reader, gt_v2_cursor *c)
{
    struct gt_v2 *v2 = reader->v2;
    const gt_batch *batch = &v2->index.batches[c->next_batch];
    if (c->batch != GT_NONE && !check_start(reader, c, batch))
        return false;
    end_batch(v2, c);
    note_time(v2, gt_v2_ns(batch->time, v2->ns_per_tick));
    c->batch = c->next_batch;
    c->next_batch = batch->next;
    gt_file_window_move(&c->w, batch->data, batch->data + batch->size);
    c->time = 0;
    return gt_file_window_fill(reader, &c->w, 0);
}

/* A varint of which ten bytes can be read. */
static inline bool value(const uint8_t **p, uint64_t *v)
{
    return gt_varint_short(p, v) || gt_varint(p, *p + GT_VARINT_MAX, v) > 0;
}

bool gt_v2_read_batch(gotrace_reader *reader, struct gt_v2 *v2, const gt_batch *batch, size_t *size)
{
    if (!v2->buffer) {
        v2->buffer = gt_resize(&reader->heap, NULL, 0, GT_V2_MAX_BATCH + GT_SLACK);
        if (!v2->buffer)
            return gt_fail_memory(reader);
    }
    if (gt_read_bytes(reader, batch->data, v2->buffer, batch->size, size) < 0)
        return gt_fail(reader);
    memset(v2->buffer + *size, 0, GT_SLACK);
    return true;
}

const uint8_t *gt_v2_read_record(const struct gt_v2 *v2, const uint8_t *p, const uint8_t *end,
                                 uint64_t values[GT_V2_VALUES])
{
    const gt_v2_shape *shape = &v2->shapes[*p++];
    bool good = shape->flags & GOTRACE_SPEC_TIMED;
    for (unsigned i = 0; good && i < shape->values; i++)
        good = gt_varint(&p, end, &values[i]) > 0;
    return good ? p : NULL;
}

/* Nothing shows where the next record begins after an unreadable one. */
static bool leave_batch(gotrace_reader *reader, gt_v2_cursor *c, const char *what)
{
    gt_place at = {gt_offset_of(&c->w, c->w.p), c->batch, GOTRACE_NO_OFFSET};
    uint64_t size = c->w.end - at.offset;
    bool go_on = gt_report(reader, GOTRACE_RULE_BATCH_EVENT, at,
                           "%s (type %u); the rest of the batch, %llu byte%s, cannot be read", what,
                           *c->w.p, (unsigned long long)size, gt_plural(size));
    reader->summary.unread_bytes += size;
    c->w.p = c->w.limit;
    c->w.end = gt_offset_of(&c->w, c->w.p);
    return go_on;
}

/* Decodes events from e on, until `end` or until fewer than GT_SLACK bytes are left, at least
 * one. Returns the end of the decoded events; sets *bad if the next record is not valid. */
static gt_v2_event *decode(gotrace_reader *reader, gt_v2_cursor *c, gt_v2_event *e,
                           const gt_v2_event *end, const char **bad)
{
    const struct gt_v2 *v2 = reader->v2;
    gotrace_summary *summary = &reader->summary;
    const double ns_per_tick = v2->ns_per_tick;
    const uint8_t *p = c->w.p, *limit = c->w.limit;
    const uint64_t shift = c->w.base - (uint64_t)(uintptr_t)c->w.bytes;
    const uint64_t batch = c->batch;
    int64_t time = c->time;
    do {
        const uint8_t *start = p;
        unsigned type = *p++;
        const gt_v2_shape *shape = &v2->shapes[type];
        uint64_t dt;
        if (!(shape->flags & GOTRACE_SPEC_TIMED)) {
            *bad = "a record that is not an event";
            p = start;
            break;
        }
        bool good = value(&p, &dt);
        e->args[0] = e->args[1] = e->args[2] = e->args[3] = 0;
        for (unsigned i = 1; good && i < shape->values; i++)
            good = value(&p, &e->args[i - 1]);
        if (!good || p > limit) {
            *bad = "an event goes on beyond its batch, or a number of it beyond 64 bits";
            p = start;
            break;
        }
        if (time == 0)
            time = gt_v2_ns(v2->index.batches[batch].time, ns_per_tick);
        time = gt_time_add(time, gt_v2_ns(dt, ns_per_tick));
        e->time = time;
        e->offset = shift + (uint64_t)(uintptr_t)start;
        e->batch = batch;
        e->type = (uint8_t)type;
        e++;
        summary->type_records[type]++;
        summary->type_bytes[type] += (uint64_t)(p - start);
    } while (e < end && limit - p >= GT_SLACK);
    c->w.p = p;
    c->time = time;
    return e;
}

/* Moves to the next event; false if there is none (or, with *ok false, if reading cannot
 * continue). */
static bool make_ready(gotrace_reader *reader, gt_v2_cursor *c, bool *ok)
{
    *ok = true;
    for (;;) {
        bool all = gt_offset_of(&c->w, c->w.limit) == c->w.end;
        if (c->w.p < c->w.safe || (all && c->w.p < c->w.limit))
            return true;
        if (!all)
            *ok = gt_file_window_fill(reader, &c->w, 0);
        else if (c->next_batch != GT_NONE)
            *ok = open_batch(reader, c);
        else
            return false;
        if (!*ok)
            return false;
    }
}

bool gt_v2_cursor_fill(gotrace_reader *reader, gt_v2_cursor *c)
{
    gt_v2_event *start = c->events + (c->head > c->events + c->half ? 0 : c->half);
    gt_v2_event *end = start + c->half;
    bool ok;
    c->head = c->end = start;
    while (c->end < end && make_ready(reader, c, &ok)) {
        const char *bad = NULL;
        c->end = decode(reader, c, c->end, end, &bad);
        if (bad && !leave_batch(reader, c, bad))
            return false;
    }
    if (c->end < end && !ok)
        return false;
    size_t n = (size_t)(c->end - start);
    reader->summary.timed_records += n;
    reader->summary.records += n;
    reader->v2->index.generations[reader->v2->current].summary.timed_records += n;
    if (n == 0) {
        end_batch(reader->v2, c);
        c->has_head = false;
        gt_file_window_close(reader, &c->w);
    }
    return true;
}

static bool open_cursor(gotrace_reader *reader, gt_v2_cursor *c, size_t window)
{
    const struct gt_v2 *v2 = reader->v2;
    size_t largest = 1;
    for (uint32_t i = c->next_batch; i != GT_NONE; i = v2->index.batches[i].next)
        if (v2->index.batches[i].size > largest)
            largest = v2->index.batches[i].size;
    c->has_head = true;
    c->head = c->events;
    return gt_file_window_open(reader, &c->w, largest < window ? largest : window) &&
           open_batch(reader, c) && gt_v2_cursor_fill(reader, c);
}

/* Creates a cursor for each thread with event batches, and links its batches in file order. */
static bool create_cursors(gotrace_reader *reader, struct gt_v2 *v2, const gt_generation *g)
{
    gt_map by_thread = {.heap = &reader->heap};
    gt_map last = {.heap = &reader->heap}; /* cursor number + 1 to batch index + 1 */
    bool ok = true;
    for (size_t i = g->first; ok && i < g->first + g->count; i++) {
        gt_batch *batch = &v2->index.batches[i];
        if (batch->kind != GT_BATCH_EVENTS)
            continue;
        uint64_t number = gt_map_get(&by_thread, batch->m);
        if (number) {
            v2->index.batches[gt_map_get(&last, number) - 1].next = (uint32_t)i;
        } else {
            void *list = v2->cursors.list;
            ok = gt_grow(&reader->heap, &list, &v2->cursors.capacity, v2->cursors.count + 1,
                         sizeof *v2->cursors.list);
            v2->cursors.list = ok ? list : v2->cursors.list;
            if (ok) {
                number = ++v2->cursors.count;
                v2->cursors.list[number - 1] = (gt_v2_cursor){
                    .next_batch = (uint32_t)i,
                    .batch = GT_NONE,
                    .thread = batch->m == GT_V2_NO_ID ? NULL
                                                      : gt_v2_thread_of(reader, v2, batch->m)};
                ok = (batch->m == GT_V2_NO_ID || v2->cursors.list[number - 1].thread) &&
                     gt_map_put(&by_thread, batch->m, number);
            }
        }
        ok = ok && gt_map_put(&last, number, i + 1);
    }
    gt_map_free(&by_thread);
    gt_map_free(&last);
    return ok || gt_fail_memory(reader);
}

static void set_frame(struct gt_v2 *v2, const gt_generation *g)
{
    uint64_t begin, end;
    gt_v2_find_frame(v2, g, &begin, &end);
    v2->frame_begin = gt_v2_ns(begin, v2->ns_per_tick);
    v2->frame_end = end < UINT64_MAX ? gt_v2_ns(end, v2->ns_per_tick) : INT64_MAX;
}

bool gt_v2_open_cursors(gotrace_reader *reader, struct gt_v2 *v2, gt_generation *g)
{
    enum { ALL_WINDOWS = 8 << 20, LEAST_WINDOW = 1024, ALL_EVENTS = 4 << 20, MOST = 64 };
    v2->cursors.count = 0;
    set_frame(v2, g);
    if (!create_cursors(reader, v2, g))
        return false;
    size_t n = v2->cursors.count, window = GT_V2_MAX_BATCH;
    if (n == 0)
        return true;
    size_t half = ALL_EVENTS / (2 * sizeof(gt_v2_event)) / n;
    half = half < 1 ? 1 : half > MOST ? MOST : half;
    if (window > ALL_WINDOWS / n)
        window = ALL_WINDOWS / n;
    if (window < LEAST_WINDOW)
        window = LEAST_WINDOW;
    v2->cursors.event_count = n * 2 * half;
    v2->cursors.events = gt_calloc(&reader->heap, v2->cursors.event_count,
                                   sizeof *v2->cursors.events);
    if (!v2->cursors.events || !gt_cursor_heap_open(&reader->heap, &v2->order.heap, n, INT64_MAX) ||
        !gt_waits_init(&v2->order.waits, &reader->heap, n))
        return gt_fail_memory(reader);
    for (size_t i = 0; i < n; i++) {
        gt_v2_cursor *c = &v2->cursors.list[i];
        c->number = (uint32_t)i;
        c->events = &v2->cursors.events[i * 2 * half];
        c->half = (uint32_t)half;
        if (!open_cursor(reader, c, window))
            return false;
    }
    return true;
}

void gt_v2_close_cursors(gotrace_reader *reader, struct gt_v2 *v2)
{
    for (size_t i = 0; i < v2->cursors.count; i++)
        gt_file_window_close(reader, &v2->cursors.list[i].w);
    gt_cursor_heap_close(&reader->heap, &v2->order.heap);
    gt_free(&reader->heap, v2->cursors.events,
            v2->cursors.event_count * sizeof *v2->cursors.events);
    gt_waits_free(&v2->order.waits);
    v2->order.waits = (gt_waits){0};
    v2->cursors.events = NULL;
    v2->cursors.count = v2->cursors.event_count = 0;
}
