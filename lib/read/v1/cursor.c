/*
 * cursor.c - decodes the events of one proc in the second pass.
 *
 * The first pass found the end of every record, so a run (consecutive batches of one proc) consists
 * of whole records. It skipped the values of long records, which are checked here.
 */
#include "read/v1/cursor.h"

#include "read/v1/index.h"
#include "read/v1/values.h"

/* Moves to the proc's next run; the cursor ends after the last one. */
static bool next_run(gotrace_reader *reader, gt_cursor *c)
{
    if (c->next_run == GT_NONE) {
        c->w.end = 0;
        return true;
    }
    const gt_run *run = &reader->index.runs[c->next_run];
    c->next_run = run->next;
    gt_file_window_move(&c->w, run->offset, run->end);
    c->record = run->record;
    /* The run starts with the header of that batch, or (before the first batch) without one. */
    c->batch = run->batch == GOTRACE_NO_OFFSET ? GOTRACE_NO_OFFSET : run->batch - 1;
    return gt_file_window_fill(reader, &c->w, 0);
}

/* Decodes a varint of which ten bytes can be read. Sets *bad if it does not end there or has more
 * than 64 bits. */
static uint64_t long_value(const uint8_t **p, bool *bad)
{
    uint64_t result = 0;
    if (gt_varint(p, *p + GT_VARINT_MAX, &result) <= 0)
        *bad = true;
    return result;
}

/* The same, with a fast path for common sizes. */
static inline uint64_t value(const uint8_t **p, bool *bad)
{
    uint64_t result;
    return gt_varint_short(p, &result) ? result : long_value(p, bad);
}

static bool report_arity(gotrace_reader *reader, const gt_cursor *c, const gt_frame *frame)
{
    gt_place place = {gt_offset_of(&c->w, c->w.p), c->batch, c->record};
    gotrace_error error;
    return !gt_v1_wrong_values(reader, frame, place, &error) ||
           gt_report(reader, error.rule, place, "%s", error.message);
}

static void start_batch(gt_cursor *c, const uint64_t *v)
{
    c->batch++;
    c->ticks = (int64_t)v[c->with_seq ? 2 : 1];
    if (c->with_seq)
        c->seq = v[1];
}

/* Sets the goroutine in whose context the event is, and the one that runs on the proc after it. */
static inline void set_context(gt_event *e, uint64_t *running, const gt_v1_shape *shape)
{
    e->goroutine = (*running & shape->context_running) | (e->args[0] & shape->context_arg);
    *running = (*running & shape->after_running) | (e->args[0] & shape->after_arg);
}

/* The proc's next event shows whether a system call blocks. */
static inline void mark_blocking_call(const gt_v1_shape *shapes, const gt_event *e, gt_event *last)
{
    if ((e->rule & GT_RULE_SYSCALL) && shapes[e->type].action == GT_ACTION_STOP && last &&
        shapes[last->type].action == GT_ACTION_SYSCALL)
        last->flags |= GT_EVENT_BLOCKS;
}

/* Until 1.6 the ends of system calls are merged from the index's list. */
static inline bool is_sorted_separately(const gt_v1_shape *shapes, const gt_event *e, bool with_seq)
{
    return with_seq && shapes[e->type].sorted_separately;
}

/* Makes an event from the values of a timed record. */
static void make_event(gt_cursor *c, const gt_frame *frame, const uint64_t *v, gt_event *e)
{
    const gt_v1_shape *shape = &c->shapes[frame->type];
    if (c->with_seq)
        c->seq += *v++;
    c->ticks = (int64_t)((uint64_t)c->ticks + *v++);
    e->ticks = c->ticks;
    e->seq = c->seq;
    e->offset = gt_offset_of(&c->w, c->w.p);
    e->record = c->record;
    e->batch = c->batch;
    e->type = shape->full;
    e->rule = shape->rule;
    e->flags = 0;
    for (unsigned i = 0; i < 3; i++)
        e->args[i] = i < shape->slots ? *v++ : 0;
    e->stack = shape->flags & GOTRACE_SPEC_STACK ? *v : 0;
    e->data_at = frame->data ? (uint32_t)(frame->data - c->w.p) : 0;
    e->data_size = (uint32_t)frame->data_size;
    set_context(e, &c->goroutine, shape);
    if (is_sorted_separately(c->shapes, e, c->with_seq))
        return;
    mark_blocking_call(c->shapes, e, c->last);
    c->last = e;
}

/* Decodes the values of a timed record or a batch header that is completely in the window. *made:
 * the result is an event. */
static bool decode_values(gotrace_reader *reader, gt_cursor *c, const gt_frame *frame, gt_event *e,
                          bool *made)
{
    uint64_t v[GOTRACE_MAX_ARGS];
    bool is_sample = c->shapes[frame->type].action == GT_ACTION_SAMPLE;
    unsigned count = 0, expected = c->shapes[frame->type].values;
    const uint8_t *p = frame->values;
    bool fits = true;
    while (p < frame->values_end && fits && count < expected)
        fits = gt_varint(&p, frame->values_end, &v[count++]) > 0;
    if (!fits || p != frame->values_end || count != expected) {
        /* The first pass reported batches and samples. */
        return frame->type == GOTRACE_V1_Batch || is_sample || report_arity(reader, c, frame);
    }
    if (frame->type == GOTRACE_V1_Batch) {
        start_batch(c, v);
    } else if (is_sample) {
        /* Samples are merged separately, but the next timestamp of the batch is relative to this
         * one. */
        c->ticks = (int64_t)((uint64_t)c->ticks + v[0]);
    } else {
        make_event(c, frame, v, e);
        *made = !is_sorted_separately(c->shapes, e, c->with_seq);
    }
    return true;
}

/* Decodes a record that the fast path does not: tables, logs, samples, malformed records, and
 * records at the end of the window. */
static bool decode_slowly(gotrace_reader *reader, gt_cursor *c, gt_event *e, bool *made)
{
    gt_frame frame;
    const gt_v1_shape *shapes = c->shapes;
    int version = reader->summary.version;
    *made = false;
    while (gt_wire_frame(shapes, version, reader->limits.string_bytes, c->w.p,
                         (size_t)(c->w.limit - c->w.p), &frame) != GT_WIRE_OK) {
        uint64_t at = gt_offset_of(&c->w, c->w.p);
        if (frame.size > c->w.end - at) /* the first pass stopped inside this record */
            return next_run(reader, c);
        if ((shapes[frame.type].flags & GOTRACE_SPEC_FRAMES) ||
            frame.length > reader->index.longest_record) { /* skipped, whatever its size */
            c->record++;
            gt_file_window_move(&c->w, at + frame.size, c->w.end);
            return gt_file_window_fill(reader, &c->w, 0);
        }
        if (!gt_file_window_fill(reader, &c->w, (size_t)frame.size))
            return false;
    }
    if (((shapes[frame.type].flags & GOTRACE_SPEC_TIMED) || frame.type == GOTRACE_V1_Batch) &&
        frame.length <= reader->index.longest_record && /* else the first pass reported it */
        !decode_values(reader, c, &frame, e, made))
        return false;
    c->record++;
    c->w.p += frame.size;
    return true;
}

/* Decoder state that the loop over plain events keeps in registers. */
typedef struct fast_state {
    const uint8_t *p;
    int64_t ticks;
    uint64_t goroutine, seq;
} fast_state;

/* Decodes a plain event well inside the window. False, without effect, for any other record. */
GT_INLINE bool decode_fast(fast_state *t, const gt_v1_shape *shapes, bool with_seq, gt_event *e)
{
    const uint8_t *p = t->p, *end = NULL;
    uint8_t first = *p++;
    const gt_v1_shape *shape = &shapes[first & 0x3f];
    if (first >> 6 != shape->inlined || !shape->plain)
        return false;
    if (shape->inlined == 3) {
        if (*p >= 0x80)
            return false;
        end = p + 1 + *p;
        p++;
    }
    bool bad = false;
    uint64_t dseq = with_seq ? value(&p, &bad) : 0;
    uint64_t dt = value(&p, &bad);
    uint64_t a = 0, b = 0, d = 0, stack = 0;
    switch (shape->plain) {
    case 8:
        a = value(&p, &bad), b = value(&p, &bad), d = value(&p, &bad), stack = value(&p, &bad);
        break;
    case 7: a = value(&p, &bad), b = value(&p, &bad), d = value(&p, &bad); break;
    case 6: a = value(&p, &bad), b = value(&p, &bad), stack = value(&p, &bad); break;
    case 5: a = value(&p, &bad), b = value(&p, &bad); break;
    case 4: a = value(&p, &bad), stack = value(&p, &bad); break;
    case 3: a = value(&p, &bad); break;
    case 2: stack = value(&p, &bad); break;
    default: break;
    }
    if (bad || (end && p != end))
        return false;
    e->args[0] = a;
    e->args[1] = b;
    e->args[2] = d;
    e->stack = stack;
    e->type = shape->full;
    e->rule = shape->rule;
    e->flags = 0;
    if (with_seq)
        e->seq = t->seq += dseq;
    e->ticks = t->ticks = (int64_t)((uint64_t)t->ticks + dt);
    set_context(e, &t->goroutine, shape);
    t->p = p;
    return true;
}

/* Decodes at most `room` plain events from p on; returns how many. Expanded twice, with constant
 * with_seq. */
GT_INLINE uint32_t decode_plain(gt_cursor *c, gt_event *e, uint32_t room, bool with_seq)
{
    fast_state t = {c->w.p, c->ticks, c->goroutine, c->seq};
    const uint8_t *safe = c->w.safe;
    int64_t until = c->until;
    const gt_v1_shape *shapes = c->shapes;
    gt_event *last = c->last, *first = e, *end = e + room;
    uint64_t shift = c->w.base - (uint64_t)(uintptr_t)c->w.bytes, record = c->record;
    while (e < end && t.p < safe) {
        e->offset = shift + (uint64_t)(uintptr_t)t.p;
        if (!decode_fast(&t, shapes, with_seq, e))
            break;
        e->record = record++;
        e->batch = c->batch;
        if (is_sorted_separately(shapes, e, with_seq))
            continue;
        mark_blocking_call(shapes, e, last);
        last = e++;
        if (t.ticks > until)
            break;
    }
    c->w.p = t.p;
    c->ticks = t.ticks;
    c->goroutine = t.goroutine;
    c->seq = t.seq;
    c->record = record;
    c->last = last;
    return (uint32_t)(e - first);
}

static void decode_half(gt_cursor *c, const gt_event *end)
{
    uint32_t room = (uint32_t)(end - c->end);
    c->end += c->with_seq ? decode_plain(c, c->end, room, true)
                          : decode_plain(c, c->end, room, false);
}

/* Whether no more events have to be decoded into a half from `start` to `end`. */
static inline bool is_filled(const gt_cursor *c, const gt_event *start, const gt_event *end)
{
    return c->end == end || (c->end > start && c->end[-1].ticks > c->until);
}

/* Decodes events from `start` up to `end`, the last one, or one after c->until. */
static bool decode_up_to(gotrace_reader *reader, gt_cursor *c, const gt_event *start,
                         const gt_event *end)
{
    while (c->w.end) {
        decode_half(c, end);
        if (is_filled(c, start, end))
            return true;
        if (c->w.p >= c->w.safe && gt_offset_of(&c->w, c->w.limit) < c->w.end) {
            if (!gt_file_window_fill(reader, &c->w, 0))
                return false;
            if (c->w.p < c->w.safe)
                continue;
        }
        bool made = false;
        if (c->w.p == c->w.limit ? !next_run(reader, c) : !decode_slowly(reader, c, c->end, &made))
            return false;
        c->end += made;
        if (is_filled(c, start, end))
            return true;
    }
    return true;
}

bool gt_cursor_fill(gotrace_reader *reader, gt_cursor *c)
{
    gt_event *start = c->events + (c->head > c->events + c->half ? 0 : c->half);
    c->head = c->end = start;
    if (!decode_up_to(reader, c, start, start + c->half))
        return false;
    if (c->end > start)
        return true;
    c->has_head = false;
    gt_cursor_close(reader, c);
    return true;
}

bool gt_cursor_open(gotrace_reader *reader, gt_cursor *c, uint32_t proc, uint32_t run,
                    gt_buffers buffers)
{
    *c = (gt_cursor){.has_head = true,
                     .with_seq = reader->summary.version < GT_FIRST_NUMBERED,
                     .shapes = reader->index.shapes,
                     .head = buffers.events,
                     .events = buffers.events,
                     .half = buffers.half,
                     .proc = proc,
                     .until = c->until,
                     .next_run = run};
    for (uint32_t i = 0; i < 2 * buffers.half; i++)
        buffers.events[i].proc = proc;
    uint64_t bytes = reader->index.procs[proc].summary.bytes;
    return gt_file_window_open(reader, &c->w,
                               bytes < buffers.window ? (size_t)bytes : buffers.window) &&
           next_run(reader, c) && gt_cursor_fill(reader, c);
}

bool gt_cursor_skip(gotrace_reader *reader, gt_cursor *c)
{
    while (c->has_head && c->end[-1].ticks <= c->until)
        if (!gt_cursor_fill(reader, c))
            return false;
    if (c->has_head)
        c->head = c->end - 1;
    return true;
}

gt_cursor_place gt_cursor_save(const gt_cursor *c)
{
    if (!c->has_head)
        return (gt_cursor_place){.has_head = false};
    return (gt_cursor_place){.head = *c->head,
                             .has_head = true,
                             .next_run = c->next_run,
                             .at = gt_offset_of(&c->w, c->w.p),
                             .run_end = c->w.end,
                             .ticks = c->ticks,
                             .goroutine = c->goroutine,
                             .record = c->record,
                             .batch = c->batch};
}

void gt_cursor_restore(gotrace_reader *reader, gt_cursor *c, const gt_cursor_place *place)
{
    c->running = NULL;
    c->has_head = place->has_head;
    if (!c->has_head) {
        gt_cursor_close(reader, c);
        return;
    }
    c->head = c->last = c->events;
    c->end = c->events + 1;
    *c->head = place->head;
    c->next_run = place->next_run;
    gt_file_window_move(&c->w, place->at, place->run_end);
    c->ticks = place->ticks;
    c->goroutine = place->goroutine;
    c->record = place->record;
    c->batch = place->batch;
}

bool gt_places_equal(const gt_cursor_place *a, const gt_cursor_place *b)
{
    if (!a->has_head || !b->has_head)
        return a->has_head == b->has_head;
    return a->head.offset == b->head.offset && a->head.ticks == b->head.ticks &&
           a->head.goroutine == b->head.goroutine && a->head.record == b->head.record &&
           a->head.batch == b->head.batch && a->next_run == b->next_run && a->at == b->at &&
           a->run_end == b->run_end && a->ticks == b->ticks && a->goroutine == b->goroutine &&
           a->record == b->record && a->batch == b->batch;
}

void gt_cursor_close(gotrace_reader *reader, gt_cursor *c)
{
    gt_file_window_close(reader, &c->w);
}
