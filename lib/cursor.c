/*
 * cursor.c - decoding one proc's events in the second pass.
 *
 * The first pass has found where every record ends, so that a run (a stretch of one proc's
 * batches) holds whole records. What it passed over are the values of long records: those are
 * checked here.
 */
#include "cursor.h"

#include <string.h>

enum {
    /* Zeroed bytes behind the window, so that a record's first values can be decoded without
     * asking at each byte whether there is one: no record read that way is longer. */
    SLACK = 128,
};

static uint64_t offset_of(const gt_cursor *c, const uint8_t *p)
{
    return c->base + (uint64_t)(p - c->window);
}

/* Make at least `need` bytes of the current run available from p on, or all that are left. */
static bool refill(gotrace_reader *reader, gt_cursor *c, size_t need)
{
    size_t left = (size_t)(c->limit - c->p), got;
    if (need > c->window_size) {
        void *grown = gt_resize(&reader->heap, c->window, c->window_size + SLACK, need + SLACK);
        if (!grown)
            return gt_fail_memory(reader);
        c->p = (uint8_t *)grown + (c->p - c->window);
        c->window = grown;
        c->window_size = need;
    }
    c->base = offset_of(c, c->p);
    memmove(c->window, c->p, left);
    uint64_t ahead = c->run_end - c->base - left;
    size_t room = c->window_size - left;
    if (room > ahead)
        room = (size_t)ahead;
    if (gotrace_source_read(reader->source, c->base + left, c->window + left, room, &got,
                            &reader->error) < 0)
        return gt_fail(reader);
    if (got < room) {
        gt_error_set(&reader->error, GOTRACE_RULE_SYSTEM_READ, GT_AT(c->base + left + got),
                     "the file became shorter while it was read");
        return gt_fail(reader);
    }
    c->p = c->window;
    c->limit = c->window + left + got;
    memset(c->window + left + got, 0, SLACK);
    gt_progress(reader, got);
    return true;
}

/* Go to the proc's next run; reading ends after the last one. */
static bool next_run(gotrace_reader *reader, gt_cursor *c)
{
    if (c->next_run == GT_NONE) {
        c->reading = false;
        return true;
    }
    const gt_run *run = &reader->index.runs[c->next_run];
    c->next_run = run->next;
    c->p = c->limit = c->window;
    c->base = run->offset;
    c->run_end = run->end;
    return refill(reader, c, 0);
}

/* Decode a varint of at most ten bytes; the window's slack makes the bytes readable. NULL when it
 * does not end there. */
static inline const uint8_t *value(const uint8_t *p, uint64_t *v)
{
    uint64_t result = *p++;
    if (result < 0x80) {
        *v = result;
        return p;
    }
    result &= 0x7f;
    for (unsigned shift = 7; shift < 63; shift += 7) {
        uint64_t byte = *p++;
        result |= (byte & 0x7f) << shift;
        if (byte < 0x80) {
            *v = result;
            return p;
        }
    }
    uint64_t last = *p++;
    if (last > 1)
        return NULL;
    *v = result | last << 63;
    return p;
}

static bool report_arity(gotrace_reader *reader, gt_cursor *c, const gt_frame *frame)
{
    uint64_t ignored;
    unsigned count = 0;
    const gotrace_event_spec *spec = gotrace_event_spec_of(reader->summary.version, frame->type);
    gt_place place = GT_AT(offset_of(c, c->p));
    for (const uint8_t *p = frame->values; p < frame->values_end; count++) {
        int used = gt_varint(&p, frame->values_end, &ignored);
        if (used < 0)
            return gt_report(reader, GOTRACE_RULE_WIRE_VARINT, place,
                             "%s: a number runs over ten bytes or 64 bits", spec->name);
        if (used == 0)
            return gt_report(reader, GOTRACE_RULE_WIRE_LENGTH, place,
                             "%s says it is %llu bytes long, but its last value goes on beyond "
                             "them",
                             spec->name, (unsigned long long)frame->length);
    }
    unsigned expected = reader->index.shapes[frame->type].values;
    if (count == expected)
        return true;
    return gt_report(reader, GOTRACE_RULE_EVENT_ARITY, place,
                     "%s has %u values, %u expected in version 1.%d", spec->name, count, expected,
                     reader->summary.version);
}

static void start_batch(gt_cursor *c, const uint64_t *v, bool with_seq)
{
    if (with_seq)
        c->seq = v[1];
    c->ticks = (int64_t)v[with_seq ? 2 : 1];
}

/* Turn the values of a timed record into the head. */
static void make_head(gt_cursor *c, const gt_v1_shape *shape, uint8_t type, const uint64_t *v,
                      bool with_seq)
{
    gt_event *e = &c->head;
    if (with_seq)
        c->seq += *v++;
    c->ticks = (int64_t)((uint64_t)c->ticks + *v++);
    e->ticks = c->ticks;
    e->seq = c->seq;
    e->type = type;
    e->flags = 0;
    e->goroutine = c->goroutine;
    e->args[0] = e->args[1] = e->args[2] = 0;
    for (unsigned i = 0; i < shape->slots; i++)
        e->args[shape->slot[i]] = *v++;
    e->stack = shape->flags & GOTRACE_SPEC_STACK ? *v : 0;
    switch (type) {
    case GT_V1_GoStart:
    case GT_V1_GoStartLocal:
    case GT_V1_GoStartLabel: e->goroutine = c->goroutine = e->args[0]; break;
    case GT_V1_STWStart:
    case GT_V1_STWDone:
    case GT_V1_GCStart:
    case GT_V1_GCDone: e->goroutine = 0; break;
    case GT_V1_GoEnd:
    case GT_V1_GoStop:
    case GT_V1_GoSched:
    case GT_V1_GoPreempt:
    case GT_V1_GoSleep:
    case GT_V1_GoBlock:
    case GT_V1_GoBlockSend:
    case GT_V1_GoBlockRecv:
    case GT_V1_GoBlockSelect:
    case GT_V1_GoBlockSync:
    case GT_V1_GoBlockCond:
    case GT_V1_GoBlockNet:
    case GT_V1_GoSysBlock:
    case GT_V1_GoBlockGC: c->goroutine = 0; break;
    case GT_V1_GoSysExit:
    case GT_V1_GoSysExitLocal:
    case GT_V1_GoWaiting:
    case GT_V1_GoInSyscall: e->goroutine = e->args[0]; break;
    default: break;
    }
}

/* A record that the fast path leaves: tables, logs, samples, what is malformed, and what lies at
 * the window's end. *made says whether head was set. */
static bool decode_slowly(gotrace_reader *reader, gt_cursor *c, bool *made)
{
    gt_frame frame;
    const gt_v1_shape *shapes = reader->index.shapes;
    int version = reader->summary.version;
    *made = false;
    while (gt_wire_frame(shapes, version, reader->limits.string_bytes, c->p,
                         (size_t)(c->limit - c->p), &frame) != GT_WIRE_OK) {
        uint64_t at = offset_of(c, c->p);
        if (frame.size > c->run_end - at) /* the first pass stopped inside this record */
            return next_run(reader, c);
        if (shapes[frame.type].flags & GOTRACE_SPEC_FRAMES) { /* only passed over, however long */
            c->base = at + frame.size;
            c->p = c->limit = c->window;
            return refill(reader, c, 0);
        }
        if (!refill(reader, c, (size_t)frame.size))
            return false;
    }
    const gt_v1_shape *shape = &shapes[frame.type];
    if ((shape->flags & GOTRACE_SPEC_TIMED) || frame.type == GT_V1_Batch) {
        uint64_t v[GOTRACE_MAX_ARGS];
        unsigned count = 0;
        const uint8_t *p = frame.values;
        bool fits = true;
        while (p < frame.values_end && fits && count < shape->values)
            fits = gt_varint(&p, frame.values_end, &v[count++]) > 0;
        bool with_seq = version < 7;
        if (!fits || p != frame.values_end || count != shape->values) {
            /* Of batches the first pass has said it. */
            if (frame.type != GT_V1_Batch && !report_arity(reader, c, &frame))
                return false;
        } else if (frame.type == GT_V1_Batch) {
            start_batch(c, v, with_seq);
        } else if (frame.type == GT_V1_CPUSample) {
            /* Sorted apart; but its time stamp is what the next one in the batch counts from. */
            c->ticks = (int64_t)((uint64_t)c->ticks + v[0]);
        } else {
            c->head.offset = offset_of(c, c->p);
            c->head.data_at = frame.data ? (uint32_t)(frame.data - c->p) : 0;
            c->head.data_size = (uint32_t)frame.data_size;
            make_head(c, shape, frame.type, v, with_seq);
            *made = true;
        }
    }
    c->p += frame.size;
    return true;
}

/* A record of a common kind that lies wholly in the window: straight to its values. */
static inline bool decode_fast(gt_cursor *c, const gt_v1_shape *shapes, bool with_seq)
{
    uint64_t v[GOTRACE_MAX_ARGS];
    const uint8_t *p = c->p, *end = NULL;
    uint8_t first = *p++, type = first & 0x3f;
    const gt_v1_shape *shape = &shapes[type];
    if (first >> 6 != shape->inlined || !(shape->flags & GOTRACE_SPEC_TIMED) ||
        type == GT_V1_UserLog || type == GT_V1_CPUSample)
        return false;
    if (shape->inlined == 3) {
        if (*p >= 0x80)
            return false;
        end = p + 1 + *p;
        p++;
    }
    for (unsigned i = 0; i < shape->values; i++)
        if (!(p = value(p, &v[i])))
            return false;
    if (p > c->limit || (end && p != end))
        return false;
    c->head.offset = offset_of(c, c->p);
    c->head.data_at = c->head.data_size = 0;
    make_head(c, shape, type, v, with_seq);
    c->p = p;
    return true;
}

bool gt_cursor_advance(gotrace_reader *reader, gt_cursor *c)
{
    const gt_v1_shape *shapes = reader->index.shapes;
    bool with_seq = reader->summary.version < 7;
    while (c->reading) {
        if (c->limit - c->p < SLACK && offset_of(c, c->limit) < c->run_end &&
            !refill(reader, c, 0))
            return false;
        if (c->p == c->limit) {
            if (!next_run(reader, c))
                return false;
            continue;
        }
        if (decode_fast(c, shapes, with_seq))
            return true;
        bool made;
        if (!decode_slowly(reader, c, &made))
            return false;
        if (made)
            return true;
    }
    c->has_head = false;
    gt_cursor_close(reader, c);
    return true;
}

bool gt_cursor_open(gotrace_reader *reader, gt_cursor *c, uint32_t proc, size_t window)
{
    const gt_proc_index *index = &reader->index.procs[proc];
    *c = (gt_cursor){.has_head = true, .reading = true, .proc = proc, .next_run = index->first_run};
    c->head.proc = proc;
    c->window_size = index->bytes < window ? (size_t)index->bytes : window;
    c->window = gt_resize(&reader->heap, NULL, 0, c->window_size + SLACK);
    if (!c->window)
        return gt_fail_memory(reader);
    c->p = c->limit = c->window;
    return next_run(reader, c) && gt_cursor_advance(reader, c);
}

void gt_cursor_close(gotrace_reader *reader, gt_cursor *c)
{
    gt_free(&reader->heap, c->window, c->window_size + SLACK);
    c->window = NULL;
    c->p = c->limit = NULL;
}
