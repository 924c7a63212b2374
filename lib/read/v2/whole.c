/*
 * whole.c - finds out whether reading the batches would lose bytes, without decoding the records,
 * and whether times are altered so much that events would be far from their place.
 *
 * Speed: eight bytes are looked at together, which takes a tenth of the time of decoding them. So
 * the whole trace can be checked before the first event is returned.
 */
#include <string.h>

#include "core/byte_order.h"
#include "read/v2/v2.h"

/* A batch of events that is looked at. */
typedef struct lane {
    const gt_batch *batch;
    const uint8_t *data, *p, *end;
    uint64_t last;          /* ticks that the last event does not precede */
    const uint8_t *damaged; /* the first record that cannot be read; NULL: none */
} lane;

/* Batches that are looked at together: finding the end of a record takes longer than starting to
 * look for that of another. */
enum { LANES = 2 };

/* The first damage found. */
typedef struct whole {
    gotrace_reader *reader;
    struct gt_v2 *v2;
    gotrace_error *damage;
    uint8_t *buffers[LANES]; /* of a batch each */
    /* Of the generation. */
    gt_map before;                   /* by thread: 1 + the index of its last batch so far */
    gt_map ends;                     /* the same: 1 + lane.last */
    uint64_t frame_begin, frame_end; /* ticks: gt_v2_find_frame */
} whole;

/* Reports the record at p of the batch. */
static void damaged(const whole *w, const gt_batch *batch, const uint8_t *data, const uint8_t *p,
                    const char *what)
{
    gt_place place = {batch->data + (uint64_t)(p - data), (uint64_t)(batch - w->v2->index.batches),
                      GOTRACE_NO_OFFSET};
    gt_error_set(w->damage, GOTRACE_RULE_BATCH_EVENT, place, "%s (type %u)", what, *p);
}

/* Moves after n numbers; GT_SLACK bytes can be read. NULL: one has more than 64 bits. How many
 * numbers a record has cannot be predicted, so that there is no branch on it. */
static inline const uint8_t *skip_numbers(const uint8_t *p, unsigned n)
{
    uint64_t ends[GT_V2_VALUES + 1], value;
    ends[0] = 0;
    ends[1] = ~gt_load_le64(p) & UINT64_C(0x8080808080808080);
    for (unsigned i = 2; i <= GT_V2_VALUES; i++) /* without those before the i-th */
        ends[i] = ends[i - 1] & (ends[i - 1] - 1);
    if (ends[n])
        return p + __builtin_ctzll(ends[n]) / 8 + 1;
    for (; n > 0; n--)
        if (gt_varint(&p, p + GT_VARINT_MAX, &value) <= 0)
            return NULL;
    return p;
}

/* The difference of time at p; GT_SLACK bytes can be read. */
__attribute__((noinline)) static uint64_t time_at(const uint8_t *p)
{
    uint64_t ticks = 0;
    gt_varint(&p, p + GT_VARINT_MAX, &ticks);
    return ticks;
}

/* Moves after a record. False at the end of the batch, and after damage. */
static inline __attribute__((always_inline)) bool step(lane *l, const gt_v2_shape *shapes)
{
    if (l->p == l->end)
        return false;
    const uint8_t *start = l->p, *p = start + 1;
    const gt_v2_shape *shape = &shapes[*start];
    /* Only large differences of time, of three bytes or more: adding all takes 3 % of a check. */
    if ((gt_load_le64(p) & 0x8080) == 0x8080)
        l->last += time_at(p);
    p = shape->flags & GOTRACE_SPEC_TIMED ? skip_numbers(p, shape->values) : NULL;
    if (!p || p > l->end) {
        l->damaged = start;
        l->p = l->end;
        return false;
    }
    l->p = p;
    return true;
}

static void step_to_end(lane lanes[LANES], const gt_v2_shape *shapes)
{
    lane a = lanes[0], b = lanes[1];
    while (step(&a, shapes) && step(&b, shapes))
        continue;
    while (step(&a, shapes))
        continue;
    while (step(&b, shapes))
        continue;
    lanes[0] = a;
    lanes[1] = b;
}

/* Moves after a record of a table, without its type. NULL: it cannot be read. */
static const uint8_t *skip_entry(uint8_t type, const uint8_t *p, const uint8_t *end)
{
    enum { FRAME_VALUES = 4, SAMPLE_VALUES = 5, SNAPSHOT_VALUES = 4 };
    uint64_t id, size;
    switch (type) {
    case GOTRACE_V2_String:
        if (gt_varint(&p, end, &id) <= 0 || gt_varint(&p, end, &size) <= 0 ||
            size > GT_V2_MAX_STRING || size > (uint64_t)(end - p))
            return NULL;
        return p + size;
    case GOTRACE_V2_Stack:
        if (gt_varint(&p, end, &id) <= 0 || gt_varint(&p, end, &size) <= 0 ||
            size > GT_V2_MAX_FRAMES)
            return NULL;
        for (; p && p <= end && size > 0; size--)
            p = skip_numbers(p, FRAME_VALUES);
        return p;
    case GOTRACE_V2_CPUSample: return skip_numbers(p, SAMPLE_VALUES);
    case GOTRACE_V2_Frequency: return skip_numbers(p, 1);
    default: return skip_numbers(p, SNAPSHOT_VALUES);
    }
}

static void check_table(const whole *w, const gt_batch *batch, const uint8_t *data, size_t size)
{
    const uint8_t *p = data, *end = data + size;
    bool late = w->reader->summary.version >= GOTRACE_FIRST_SYNC;
    bool clocks = batch->kind == GT_BATCH_SYNC;
    uint8_t type = batch->kind == GT_BATCH_STRINGS   ? GOTRACE_V2_String
                   : batch->kind == GT_BATCH_STACKS  ? GOTRACE_V2_Stack
                   : batch->kind == GT_BATCH_SAMPLES ? GOTRACE_V2_CPUSample
                                                     : GOTRACE_V2_Frequency;
    p += !clocks || late; /* the marker of the table */
    while (p < end) {
        const uint8_t *start = p++;
        bool known = *start == type || (clocks && late && *start == GOTRACE_V2_ClockSnapshot);
        p = known ? skip_entry(*start, p, end) : NULL;
        if (!p || p > end) {
            damaged(w, batch, data, start,
                    known ? "a record goes on beyond its batch, or is too long"
                          : "a batch of a table contains another record");
            return;
        }
    }
}

/* Reads the data of a batch. False if reading must stop. */
static bool read_data(whole *w, const gt_batch *batch, unsigned n, size_t *size)
{
    uint8_t *data = w->buffers[n];
    if (!data)
        w->buffers[n] = data = gt_resize(&w->reader->heap, NULL, 0, GT_V2_MAX_BATCH + GT_SLACK);
    if (!data)
        return gt_fail_memory(w->reader);
    if (gt_read_bytes(w->reader, batch->data, data, batch->size, size) < 0)
        return gt_fail(w->reader);
    memset(data + *size, 0, GT_SLACK);
    return true;
}

/* ---- times --------------------------------------------------------------------------------- */

/* Go's tracer writes the first strings of a generation before its first event, and its stacks after
 * the last one; other writers may not. Source: Go 1.27, runtime/trace.go, traceAdvance and
 * traceRegisterLabelsAndReasons. */
void gt_v2_find_frame(const struct gt_v2 *v2, const gt_generation *g, uint64_t *begin,
                      uint64_t *end)
{
    size_t outside = 0;
    uint64_t low = UINT64_MAX, high = 0;
    const gt_batch *first = &v2->index.batches[g->first], *after = first + g->count;
    for (const gt_batch *b = first; b < after; b++) {
        if (b->kind == GT_BATCH_STRINGS && b->time < low)
            low = b->time;
        if (b->kind == GT_BATCH_STACKS && b->time > high)
            high = b->time;
    }
    for (const gt_batch *b = first; b < after; b++)
        outside += b->kind == GT_BATCH_EVENTS && (b->time < low || b->time > high);
    /* not a single altered batch */
    bool known = low < high && outside <= 1;
    uint64_t size = high - low;
    *begin = known && low > size ? low - size : 0;
    *end = known && high <= UINT64_MAX - size ? high + size : UINT64_MAX;
}

/* Notes that times of the batch, or of the thread's batch before it, are altered. */
static bool check_times(whole *w, const lane *l)
{
    const gt_batch *b = l->batch, *batches = w->v2->index.batches;
    if (b->m == GT_V2_NO_ID)
        return true;
    size_t before = gt_map_get(&w->before, b->m);
    uint64_t last = gt_map_get(&w->ends, b->m) - 1;
    gt_place place = {b->offset, (uint64_t)(b - batches), GOTRACE_NO_OFFSET};
    if (before && gt_v2_overlaps(batches[before - 1].time, last, b->time))
        gt_error_set(
            w->damage, GOTRACE_RULE_CLOCK_BACK, place,
            "the batch begins at least %llu ticks before the last event of the thread's previous "
            "batch, which is at 0x%llx",
            (unsigned long long)(last - b->time), (unsigned long long)batches[before - 1].offset);
    else if (b->time < w->frame_begin || l->last > w->frame_end)
        gt_error_set(w->damage, GOTRACE_RULE_CLOCK_BACK, place,
                     "the events of the batch, from %llu ticks on, are far from those of the "
                     "generation",
                     (unsigned long long)b->time);
    return (gt_map_put(&w->before, b->m, (uint64_t)(b - batches) + 1) &&
            gt_map_put(&w->ends, b->m, l->last < UINT64_MAX ? l->last + 1 : l->last)) ||
           gt_fail_memory(w->reader);
}

/* ---- tables -------------------------------------------------------------------------------- */

/* What the records of a generation refer to. */
enum { STRINGS = 1, STACKS = 2 };

/* Whether a stack of the batch has a name. */
static bool has_name(const uint8_t *p, const uint8_t *end)
{
    uint64_t v[4];
    for (p += 1; p < end && *p++ == GOTRACE_V2_Stack;) {
        if (gt_varint(&p, end, &v[0]) <= 0 || gt_varint(&p, end, &v[1]) <= 0)
            return false;
        for (uint64_t left = v[1]; left > 0; left--) {
            for (unsigned i = 0; i < 4; i++) /* PC, function, file, line */
                if (gt_varint(&p, end, &v[i]) <= 0)
                    return false;
            if (v[1] || v[2])
                return true;
        }
    }
    return false;
}

/* Adds what the events or stacks of the batch refer to. */
static bool find_references(whole *w, const gt_batch *batch, unsigned *found)
{
    size_t size;
    uint64_t values[GT_V2_VALUES];
    bool events = batch->kind == GT_BATCH_EVENTS;
    if (!events && batch->kind != GT_BATCH_STACKS)
        return true;
    if (!read_data(w, batch, 0, &size))
        return false;
    const uint8_t *p = w->buffers[0], *end = p + size, *next;
    if (!events)
        *found |= has_name(p, end) ? STRINGS : 0;
    for (; events && p < end && *found != (STRINGS | STACKS); p = next) {
        const gt_v2_shape *shape = &w->v2->shapes[*p];
        next = gt_v2_read_record(w->v2, p, end, values);
        for (unsigned left = next ? shape->refers : 0; left; left &= left - 1) {
            unsigned arg = (unsigned)__builtin_ctz(left);
            if (values[1 + arg] != 0)
                *found |= shape->stacks >> arg & 1 ? STACKS : STRINGS;
        }
        if (!next)
            break;
    }
    return true;
}

/* Reports a generation without clocks, or without any of the strings or stacks it refers to. */
static bool check_tables(whole *w, const gt_generation *g)
{
    bool late = w->reader->summary.version >= GOTRACE_FIRST_SYNC;
    unsigned has = (g->kinds >> GT_BATCH_STRINGS & 1 ? STRINGS : 0) |
                   (g->kinds >> GT_BATCH_STACKS & 1 ? STACKS : 0);
    unsigned refers = 0;
    size_t end = g->first + g->count;
    for (size_t i = g->first; i < end && (refers | has) != (STRINGS | STACKS); i++) {
        if (!find_references(w, &w->v2->index.batches[i], &refers))
            return false;
    }
    unsigned lost = refers & ~has;
    if (lost)
        gt_error_set(w->damage, GOTRACE_RULE_GENERATION_END, GT_AT(g->summary.offset),
                     "generation %llu has no %s, though its events refer to them",
                     (unsigned long long)g->summary.generation,
                     lost & STACKS ? "stacks" : "strings");
    else if (!(g->kinds >> GT_BATCH_SYNC & 1))
        gt_error_set(w->damage, GOTRACE_RULE_GENERATION_CLOCK, GT_AT(g->summary.offset),
                     "generation %llu has no frequency%s",
                     (unsigned long long)g->summary.generation, late ? " and no clocks" : "");
    return true;
}

/* Checks batches of events, at most LANES. */
static bool check_events(whole *w, const gt_batch *batches, size_t count)
{
    const gt_v2_shape *shapes = w->v2->shapes;
    lane lanes[LANES] = {0};
    size_t size;
    for (unsigned n = 0; n < count; n++) {
        if (!read_data(w, &batches[n], n, &size))
            return false;
        const uint8_t *data = w->buffers[n];
        lanes[n] = (lane){&batches[n], data, data, data + size, batches[n].time, NULL};
    }
    step_to_end(lanes, shapes);
    for (unsigned n = 0; n < count && w->damage->rule == GOTRACE_RULE_NONE; n++) {
        const uint8_t *at = lanes[n].damaged;
        if (at)
            damaged(w, &batches[n], lanes[n].data, at,
                    shapes[*at].flags & GOTRACE_SPEC_TIMED
                        ? "an event goes on beyond its batch, or a number of it beyond 64 bits"
                        : "a record that is not an event");
        else if (!check_times(w, &lanes[n]))
            return false;
    }
    return true;
}

static bool check_table_batch(whole *w, const gt_batch *batch)
{
    size_t size;
    if (batch->kind == GT_BATCH_EXPERIMENT || batch->kind == GT_BATCH_END)
        return true;
    if (!read_data(w, batch, 0, &size))
        return false;
    check_table(w, batch, w->buffers[0], size);
    return true;
}

static bool check_generation(whole *w, const gt_generation *g)
{
    bool done = true;
    const gt_batch *b = &w->v2->index.batches[g->first], *end = b + g->count;
    w->before = w->ends = (gt_map){.heap = &w->reader->heap};
    gt_v2_find_frame(w->v2, g, &w->frame_begin, &w->frame_end);
    while (done && b < end && w->damage->rule == GOTRACE_RULE_NONE) {
        size_t count = 0;
        while (count < LANES && b + count < end && b[count].kind == GT_BATCH_EVENTS)
            count++;
        done = count > 0 ? check_events(w, b, count) : check_table_batch(w, b);
        b += count > 0 ? count : 1;
    }
    gt_map_free(&w->before);
    gt_map_free(&w->ends);
    return done;
}

static bool check_all(whole *w)
{
    const gt_v2_batches *index = &w->v2->index;
    for (size_t i = 0; i < index->generation_count && w->damage->rule == GOTRACE_RULE_NONE; i++)
        if (!check_generation(w, &index->generations[i]))
            return false;
    for (size_t i = 0; i < index->generation_count && w->damage->rule == GOTRACE_RULE_NONE; i++)
        if (!check_tables(w, &index->generations[i]))
            return false;
    return true;
}

bool gt_v2_find_damage(gotrace_reader *reader, gotrace_error *damage)
{
    whole w = {.reader = reader, .v2 = reader->v2, .damage = damage};
    bool done = check_all(&w);
    for (unsigned n = 0; n < LANES; n++)
        gt_free(&reader->heap, w.buffers[n], w.buffers[n] ? GT_V2_MAX_BATCH + GT_SLACK : 0);
    return done;
}
