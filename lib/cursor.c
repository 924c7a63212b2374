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

static void set_limit(gt_cursor *c, size_t have)
{
    c->limit = c->window + have;
    c->safe = have >= SLACK ? c->limit - SLACK + 1 : c->window;
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
    set_limit(c, left + got);
    memset(c->window + left + got, 0, SLACK);
    gt_progress(reader, got);
    return true;
}

/* Go to the proc's next run; reading ends after the last one. */
static bool next_run(gotrace_reader *reader, gt_cursor *c)
{
    if (c->next_run == GT_NONE) {
        c->has_head = false;
        return true;
    }
    const gt_run *run = &reader->index.runs[c->next_run];
    c->next_run = run->next;
    c->p = c->window;
    set_limit(c, 0);
    c->base = run->offset;
    c->run_end = run->end;
    c->record = run->record;
    /* The run starts with the record of that batch, or (of the first events) with none. */
    c->batch = run->batch == GOTRACE_NO_OFFSET ? GOTRACE_NO_OFFSET : run->batch - 1;
    return refill(reader, c, 0);
}

/* Decode a varint whose ten bytes can be read. *bad is set when it does not end there or has more
 * than 64 bits. */
static uint64_t long_value(const uint8_t **p, bool *bad)
{
    uint64_t result = 0;
    if (gt_varint(p, *p + GT_VARINT_MAX, &result) <= 0)
        *bad = true;
    return result;
}

/* The same, for the usual lengths first: lengths of one to four bytes mix so evenly that a branch
 * on each byte would be mispredicted again and again. The seven bits of four bytes are moved
 * together without one. */
static inline uint64_t value(const uint8_t **p, bool *bad)
{
    uint32_t word;
    memcpy(&word, *p, sizeof word);
    uint32_t stops = ~word & 0x80808080u;
    if (__builtin_expect(stops == 0, 0))
        return long_value(p, bad);
    unsigned bits = (unsigned)__builtin_ctz(stops);
    *p += (bits + 1) >> 3;
    word &= 0x7f7f7f7fu & (0xffffffffu >> (31 - bits));
    word = (word & 0x007f007fu) | (word & 0x7f007f00u) >> 1;
    return (word & 0x3fffu) | (word & 0x3fff0000u) >> 2;
}

static bool report_arity(gotrace_reader *reader, gt_cursor *c, const gt_frame *frame)
{
    uint64_t ignored;
    unsigned count = 0;
    const gotrace_event_spec *spec = gotrace_event_spec_of(reader->summary.version, frame->type);
    gt_place place = {offset_of(c, c->p), c->batch, c->record};
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

static void start_batch(gt_cursor *c, const uint64_t *v)
{
    c->batch++;
    if (c->with_seq)
        c->seq = v[1];
    c->ticks = (int64_t)v[c->with_seq ? 2 : 1];
}

static inline void set_context(gt_cursor *c, gt_event *e, const gt_v1_shape *shape)
{
    e->goroutine = (c->goroutine & shape->context_running) | (e->args[0] & shape->context_arg);
    c->goroutine = (c->goroutine & shape->after_running) | (e->args[0] & shape->after_arg);
}

/* The other head, to be filled with the record at p. */
static inline gt_event *next_head(gt_cursor *c, uint8_t type)
{
    c->head ^= 1;
    gt_event *e = &c->heads[c->head];
    e->offset = offset_of(c, c->p);
    e->record = c->record++;
    e->batch = c->batch;
    e->type = type;
    e->flags = 0;
    e->ticks = c->ticks;
    e->seq = c->seq;
    c->key = c->with_seq ? (int64_t)c->seq : c->ticks;
    return e;
}

/* Turn the values of a timed record into the head. */
static void make_head(gt_cursor *c, const gt_frame *frame, const uint64_t *v)
{
    const gt_v1_shape *shape = &c->shapes[frame->type];
    if (c->with_seq)
        c->seq += *v++;
    c->ticks = (int64_t)((uint64_t)c->ticks + *v++);
    gt_event *e = next_head(c, frame->type);
    for (unsigned i = 0; i < 3; i++)
        e->args[i] = i < shape->slots ? *v++ : 0;
    e->stack = shape->flags & GOTRACE_SPEC_STACK ? *v : 0;
    e->data_at = frame->data ? (uint32_t)(frame->data - c->p) : 0;
    e->data_size = (uint32_t)frame->data_size;
    set_context(c, e, shape);
}

/* A record that the fast path leaves: tables, logs, samples, what is malformed, and what lies at
 * the window's end. *made says whether head was set. */
static bool decode_slowly(gotrace_reader *reader, gt_cursor *c, bool *made)
{
    gt_frame frame;
    const gt_v1_shape *shapes = c->shapes;
    int version = reader->summary.version;
    *made = false;
    while (gt_wire_frame(shapes, version, reader->limits.string_bytes, c->p,
                         (size_t)(c->limit - c->p), &frame) != GT_WIRE_OK) {
        uint64_t at = offset_of(c, c->p);
        if (frame.size > c->run_end - at) /* the first pass stopped inside this record */
            return next_run(reader, c);
        if (shapes[frame.type].flags & GOTRACE_SPEC_FRAMES) { /* only passed over, however long */
            c->base = at + frame.size;
            c->record++;
            c->p = c->window;
            set_limit(c, 0);
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
        if (!fits || p != frame.values_end || count != shape->values) {
            /* Of batches the first pass has said it. */
            if (frame.type != GT_V1_Batch && !report_arity(reader, c, &frame))
                return false;
        } else if (frame.type == GT_V1_Batch) {
            start_batch(c, v);
        } else if (frame.type == GT_V1_CPUSample) {
            /* Sorted apart; but its time stamp is what the next one in the batch counts from. */
            c->ticks = (int64_t)((uint64_t)c->ticks + v[0]);
        } else {
            make_head(c, &frame, v);
            *made = true;
        }
    }
    c->record += !*made;
    c->p += frame.size;
    return true;
}

/* Straight to the values. */
bool gt_cursor_decode(gt_cursor *c)
{
    const uint8_t *p = c->p, *end = NULL;
    uint8_t first = *p++;
    const gt_v1_shape *shape = &c->shapes[first & 0x3f];
    if (first >> 6 != shape->inlined || !shape->plain)
        return false;
    if (shape->inlined == 3) {
        if (*p >= 0x80)
            return false;
        end = p + 1 + *p;
        p++;
    }
    bool bad = false;
    uint64_t dseq = c->with_seq ? value(&p, &bad) : 0;
    uint64_t dt = value(&p, &bad);
    uint64_t args[3] = {0}, stack = 0;
    switch (shape->plain) {
    case 8:
        args[0] = value(&p, &bad), args[1] = value(&p, &bad), args[2] = value(&p, &bad);
        stack = value(&p, &bad);
        break;
    case 7: args[0] = value(&p, &bad), args[1] = value(&p, &bad), args[2] = value(&p, &bad); break;
    case 6: args[0] = value(&p, &bad), args[1] = value(&p, &bad), stack = value(&p, &bad); break;
    case 5: args[0] = value(&p, &bad), args[1] = value(&p, &bad); break;
    case 4: args[0] = value(&p, &bad), stack = value(&p, &bad); break;
    case 3: args[0] = value(&p, &bad); break;
    case 2: stack = value(&p, &bad); break;
    default: break;
    }
    if (bad || (end && p != end))
        return false;
    c->seq += dseq;
    c->ticks = (int64_t)((uint64_t)c->ticks + dt);
    gt_event *e = next_head(c, first & 0x3f);
    memcpy(e->args, args, sizeof args);
    e->stack = stack;
    set_context(c, e, shape);
    c->p = p;
    return true;
}

bool gt_cursor_advance_slowly(gotrace_reader *reader, gt_cursor *c)
{
    while (c->has_head) {
        if (c->p >= c->safe && offset_of(c, c->limit) < c->run_end && !refill(reader, c, 0))
            return false;
        if (c->p == c->limit) {
            if (!next_run(reader, c))
                return false;
            continue;
        }
        if (c->p < c->safe && gt_cursor_decode(c))
            return true;
        bool made;
        if (!decode_slowly(reader, c, &made))
            return false;
        if (made)
            return true;
    }
    gt_cursor_close(reader, c);
    return true;
}

bool gt_cursor_open(gotrace_reader *reader, gt_cursor *c, uint32_t proc, size_t window)
{
    const gt_proc_index *index = &reader->index.procs[proc];
    *c = (gt_cursor){.has_head = true,
                     .with_seq = reader->summary.version < 7,
                     .shapes = reader->index.shapes,
                     .proc = proc,
                     .next_run = index->first_run};
    c->heads[0].proc = c->heads[1].proc = proc;
    c->window_size = index->bytes < window ? (size_t)index->bytes : window;
    c->window = gt_resize(&reader->heap, NULL, 0, c->window_size + SLACK);
    if (!c->window)
        return gt_fail_memory(reader);
    c->p = c->window;
    set_limit(c, 0);
    return next_run(reader, c) && gt_cursor_advance(reader, c);
}

void gt_cursor_close(gotrace_reader *reader, gt_cursor *c)
{
    gt_free(&reader->heap, c->window, c->window_size + SLACK);
    c->window = NULL;
    c->p = c->limit = c->safe = NULL;
}
