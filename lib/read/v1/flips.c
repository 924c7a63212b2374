#include "read/v1/flips.h"

#include <string.h>

enum { AHEAD = 8192 }; /* bytes after the damage */

typedef struct bytes {
    const gotrace_reader *reader;
    uint8_t *start;
    const uint8_t *end;
    bool at_end;    /* the trace ends there */
    unsigned reach; /* number of records after the damage that have to be readable */
    int64_t batch_ticks;
} bytes;

/* The stacks of a trace of several frames have a PC for each. */
static bool is_stack(const gotrace_reader *reader, const gt_frame *frame)
{
    uint64_t v[2] = {0}, value;
    size_t count = 0, per_frame = gotrace_frame_values(reader->summary.version);
    const uint8_t *p = frame->values;
    for (; p < frame->values_end; count++) {
        uint64_t *into = count < 2 ? &v[count] : &value;
        if (gt_varint(&p, frame->values_end, into) <= 0)
            return false;
        if (count >= 2 && v[1] > 1 && (count - 2) % per_frame == 0 && value == 0)
            return false;
    }
    return count >= 2 && v[1] <= reader->limits.frames && count == 2 + v[1] * per_frame;
}

bool gt_v1_has_values(const gotrace_reader *reader, const gt_frame *frame)
{
    const uint8_t *p = frame->values;
    const gt_v1_shape *shape = &reader->index.shapes[frame->type];
    uint64_t ignored;
    unsigned count = 0;
    if (shape->flags & GOTRACE_SPEC_FRAMES)
        return is_stack(reader, frame);
    for (; p < frame->values_end && count <= shape->values; count++)
        if (gt_varint(&p, frame->values_end, &ignored) <= 0)
            return false;
    return count == shape->values;
}

bool gt_v1_wrong_values(const gotrace_reader *reader, const gt_frame *frame, gt_place place,
                        gotrace_error *error)
{
    uint64_t ignored;
    unsigned count = 0, expected = reader->index.shapes[frame->type].values;
    const gotrace_event_spec *spec = gotrace_event_spec_of(reader->summary.version, frame->type);
    for (const uint8_t *p = frame->values; p < frame->values_end; count++) {
        int used = gt_varint(&p, frame->values_end, &ignored);
        if (used < 0)
            gt_error_set(error, GOTRACE_RULE_WIRE_VARINT, place,
                         "%s: a number runs over ten bytes or 64 bits", spec->name);
        else if (used == 0)
            gt_error_set(error, GOTRACE_RULE_WIRE_LENGTH, place,
                         "%s says it is %llu byte%s long, but its last value goes on beyond that",
                         spec->name, (unsigned long long)frame->length, gt_plural(frame->length));
        if (used <= 0)
            return true;
    }
    if (count != expected)
        gt_error_set(error, GOTRACE_RULE_EVENT_ARITY, place,
                     "%s has %u value%s, %u expected in version 1.%d", spec->name, count,
                     gt_plural(count), expected, reader->summary.version);
    return count != expected;
}

/* Whether the header of a batch has a time that is possible after that of another batch. Samples
 * are in batches with time 0. */
static bool is_batch(const bytes *b, const gt_frame *frame)
{
    uint64_t v[3] = {0};
    const uint8_t *p = frame->values;
    unsigned count = b->reader->index.shapes[frame->type].values;
    for (unsigned i = 0; i < count; i++)
        gt_varint(&p, frame->values_end, &v[i]);
    int64_t ticks = (int64_t)v[count - 1];
    return ticks == 0 || (ticks > 0 && !gt_is_false_batch(b->batch_ticks, ticks));
}

/* Whether the difference of times of a record is one that a trace has. */
static bool is_timely(const gotrace_reader *reader, const gt_frame *frame)
{
    uint64_t v = 0;
    const uint8_t *p = frame->values;
    for (int i = reader->summary.version < GT_FIRST_NUMBERED ? 0 : 1; i < 2; i++)
        gt_varint(&p, frame->values_end, &v);
    return v >> 40 == 0;
}

/* Whether the data of a record is text, which no events are. */
static bool is_text(const gt_frame *frame)
{
    for (uint64_t i = 0; i < frame->data_size; i++)
        if (frame->data[i] < ' ' && frame->data[i] != '\t' && frame->data[i] != '\n')
            return false;
    return true;
}

/* The end of the record at p, or NULL if it is not valid. A record that goes on beyond the bytes
 * ends with them. */
static const uint8_t *skip(const bytes *b, const uint8_t *p)
{
    gt_frame frame;
    const gotrace_reader *reader = b->reader;
    const gt_index *index = &reader->index;
    const gt_v1_shape *shape = &index->shapes[*p & 0x3f];
    uint8_t flags = shape->flags;
    uint64_t longest = flags & GOTRACE_SPEC_FRAMES ? index->longest_record
                                                   : (uint64_t)GT_VARINT_MAX * shape->values;
    gt_wire_status status = gt_wire_frame(index->shapes, reader->summary.version,
                                          reader->limits.string_bytes, p, (size_t)(b->end - p),
                                          &frame);
    if (status == GT_WIRE_MORE)
        return b->at_end || frame.data || frame.length > longest ? NULL : b->end;
    if (status != GT_WIRE_OK || frame.length > longest)
        return NULL;
    bool good = gt_v1_has_values(reader, &frame);
    if (frame.type == GOTRACE_V1_Batch)
        good = good && is_batch(b, &frame);
    if (flags & GOTRACE_SPEC_TIMED)
        good = good && is_timely(reader, &frame);
    if (flags & GOTRACE_SPEC_DATA)
        good = good && is_text(&frame);
    return good ? p + frame.size : NULL;
}

/* Whether the records from p on can be read, far enough beyond the damage. */
static bool are_valid(const bytes *b, const uint8_t *p, const uint8_t *damage)
{
    for (unsigned after = 0; p && p < b->end && b->reach > after; after += damage < p)
        p = skip(b, p);
    return p != NULL;
}

static void try_record(const bytes *b, const uint8_t *record, const uint8_t *end, uint64_t offset,
                       const uint8_t *damage, gt_candidates *c)
{
    for (const uint8_t *p = record; p < end; p++)
        for (unsigned bit = 0; bit < 8; bit++) {
            uint8_t *byte = b->start + (p - b->start);
            *byte ^= (uint8_t)(1 << bit);
            if (are_valid(b, record, damage))
                gt_candidates_add(c, offset + (uint64_t)(p - b->start), (uint8_t)(1 << bit));
            *byte ^= (uint8_t)(1 << bit);
        }
}

static void try_records(const bytes *b, uint64_t offset, const uint8_t *damage, gt_candidates *c)
{
    const uint8_t *last[GT_FLIP_RECORDS];
    size_t count = 0;
    const uint8_t *p = b->start, *end = damage;
    for (; p && p < damage; p = skip(b, p))
        last[count++ % GT_FLIP_RECORDS] = p;
    end = b->end - damage > GT_FLIP_TAIL ? damage + GT_FLIP_TAIL : b->end;
    try_record(b, damage, end, offset, damage, c);
    if (p != damage)
        return;
    end = damage;
    for (size_t i = 0; i < GT_FLIP_RECORDS && i < count; i++) {
        const uint8_t *record = last[(count - 1 - i) % GT_FLIP_RECORDS];
        try_record(b, record, end, offset, damage, c);
        end = record;
    }
}

/* Whether another trace begins near the damage: what follows is of that one. */
static bool begins_trace(const bytes *b, const uint8_t *damage)
{
    enum { NEAR = 64 };
    static const char magic[] = "go 1.";
    const uint8_t *from = damage - b->start < NEAR ? b->start : damage - NEAR;
    const uint8_t *to = b->end - damage < NEAR ? b->end : damage + NEAR;
    return memmem(from, (size_t)(to - from), magic, sizeof magic - 1) != NULL;
}

bool gt_v1_find_flips(gotrace_reader *reader, uint64_t from, uint64_t at, int64_t batch_ticks,
                      gt_candidates *candidates)
{
    size_t size = (size_t)(at - from) + AHEAD, got = 0;
    bytes b = {.reader = reader, .batch_ticks = batch_ticks};
    candidates->count = 0;
    b.start = gt_resize(&reader->heap, NULL, 0, size);
    if (!b.start)
        return gt_fail_memory(reader);
    bool done = gt_read_bytes(reader, from, b.start, size, &got) >= 0 || gt_fail(reader);
    b.end = b.start + got;
    b.at_end = got < size;
    const uint8_t *damage = b.start + (at - from);
    bool possible = done && got > at - from && !begins_trace(&b, damage);
    for (unsigned i = 0; i < 2 && possible && candidates->count == 0; i++) {
        b.reach = i == 0 ? GT_FLIP_REACH : GT_FLIP_NEAR;
        try_records(&b, from, damage, candidates);
    }
    gt_free(&reader->heap, b.start, size);
    return done;
}
