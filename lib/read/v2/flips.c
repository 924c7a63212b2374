/*
 * flips.c - finds the bits that may be flipped if a record or the header of a batch cannot be read.
 */
#include <limits.h>

#include "read/v2/flips.h"
#include "read/v2/header.h"

enum {
    HEADERS = 8,           /* number of headers that follow one that is right, ... */
    NEAR_HEADERS = 2,      /* ... or, where other damage is near */
    MOST_THREAD_BITS = 48, /* of the id of a thread, which may be an address */
};

/* ---- headers --------------------------------------------------------------------------------- */

/* Reads the header at that offset, with a bit of it corrected, and finds the next one. *number: the
 * generation of the one before, or 0; *size_at: where the size of the batch is. False if it is not
 * valid. */
static bool skip_batch(gotrace_reader *reader, uint64_t *at, const gotrace_flip *flip,
                       uint64_t *number, uint64_t *size_at)
{
    uint8_t bytes[GT_V2_HEADER_MAX];
    gt_v2_header h;
    size_t n;
    if (gt_read_bytes(reader, *at, bytes, sizeof bytes, &n) < 0 || n == 0)
        return false;
    if (flip->offset >= *at && flip->offset - *at < n)
        bytes[flip->offset - *at] ^= flip->mask;
    if (gt_v2_parse_header(bytes, n, reader->summary.version, &h) != GT_HEADER_READ)
        return false;
    if (h.type == GOTRACE_V2_EndOfGeneration) {
        *number = 0;
        ++*at;
        return true;
    }
    *size_at = *at + h.size_at;
    bool follows = *number == 0 || h.generation == *number || h.generation == *number + 1;
    bool thread = h.thread == GT_V2_NO_ID || h.thread >> MOST_THREAD_BITS == 0;
    uint64_t data = *at + h.length;
    if (!follows || !thread || h.size > GT_V2_MAX_BATCH || h.size > reader->summary.size - data)
        return false;
    *number = h.generation;
    *at = data + h.size;
    return true;
}

/* Whether a batch at that offset, corrected, is followed by others or, after at least one, by the
 * end of the trace. At the end of the trace may also be the end of a generation or, if its size is
 * as recorded, the last batch of the generation with the number `open`. */
static bool leads_on(gotrace_reader *reader, uint64_t at, const gotrace_flip *flip, unsigned most,
                     uint64_t open)
{
    uint64_t number = open, size_at = 0;
    bool marked = reader->summary.version >= GOTRACE_FIRST_GENERATION_END;
    for (unsigned i = 0; i <= most; i++) {
        bool whole = !marked && number == open && flip->offset < size_at;
        bool ended = i == 1 && (number == 0 || whole);
        if ((i > 1 || ended) && at == reader->summary.size)
            return true;
        if (!skip_batch(reader, &at, flip, &number, &size_at))
            return false;
    }
    return true;
}

static void try_header(gotrace_reader *reader, uint64_t header, uint64_t end, unsigned most,
                       uint64_t open, gt_candidates *c)
{
    for (uint64_t at = header; at < end && at < reader->summary.size; at++)
        for (unsigned bit = 0; bit < 8; bit++) {
            gotrace_flip flip = {at, (uint8_t)(1 << bit)};
            if (leads_on(reader, header, &flip, most, open))
                gt_candidates_add(c, at, flip.mask);
        }
}

void gt_v2_find_header_flips(gotrace_reader *reader, const gt_batch *before, uint64_t at,
                             uint64_t open, gt_candidates *c)
{
    static const unsigned reach[] = {HEADERS, NEAR_HEADERS};
    c->count = 0;
    for (unsigned i = 0; i < 2 && c->count == 0; i++) {
        if (before)
            try_header(reader, before->offset, before->data, reach[i], 0, c);
        try_header(reader, at, at + GT_V2_HEADER_MAX, reach[i], open, c);
    }
}

/* ---- records --------------------------------------------------------------------------------- */

typedef struct bytes {
    const struct gt_v2 *v2;
    uint8_t *start;
    const uint8_t *end;
    unsigned reach; /* number of records after the damage that have to be readable */
} bytes;

/* Whether the strings and stacks that a record refers to exist. */
static bool has_references(const struct gt_v2 *v2, const gt_v2_shape *shape, const uint64_t *args)
{
    for (unsigned left = shape->refers; left; left &= left - 1) {
        unsigned i = (unsigned)__builtin_ctz(left);
        const gt_table *table = shape->stacks >> i & 1 ? &v2->stacks : &v2->strings;
        if (args[i] && table->entries && !gt_table_find(table, args[i]))
            return false;
    }
    return true;
}

static const uint8_t *skip(const bytes *b, const uint8_t *p)
{
    uint64_t values[GT_V2_VALUES];
    const uint8_t *next = gt_v2_read_record(b->v2, p, b->end, values);
    return next && values[0] >> 40 == 0 && has_references(b->v2, &b->v2->shapes[*p], values + 1)
               ? next
               : NULL;
}

static bool are_valid(const bytes *b, const uint8_t *p, const uint8_t *damage)
{
    for (unsigned after = 0; p && p < b->end && b->reach > after; after += damage < p)
        p = skip(b, p);
    return p != NULL;
}

static void try_record(const bytes *b, size_t from, size_t to, uint64_t offset, size_t damage,
                       gt_candidates *c)
{
    for (size_t i = from; i < to; i++)
        for (unsigned bit = 0; bit < 8; bit++) {
            uint8_t mask = (uint8_t)(1 << bit);
            b->start[i] ^= mask;
            if (are_valid(b, b->start + from, b->start + damage))
                gt_candidates_add(c, offset + i, mask);
            b->start[i] ^= mask;
        }
}

/* The unreadable record first, then those before it. */
static void try_records(const bytes *b, const gt_batch *batch, const gt_v2_event *first,
                        const gt_v2_event *end, uint64_t at, gt_candidates *c)
{
    size_t damage = (size_t)(at - batch->data), size = (size_t)(b->end - b->start), to = damage;
    try_record(b, damage, size - damage > GT_FLIP_TAIL ? damage + GT_FLIP_TAIL : size, batch->data,
               damage, c);
    for (unsigned i = 0; i < GT_FLIP_RECORDS && end > first; i++) {
        end--;
        size_t from = (size_t)(end->offset - batch->data);
        try_record(b, from, to, batch->data, damage, c);
        to = from;
    }
}

bool gt_v2_find_record_flips(gotrace_reader *reader, const gt_batch *batch,
                             const gt_v2_event *first, const gt_v2_event *end, uint64_t at,
                             gt_candidates *c)
{
    struct gt_v2 *v2 = reader->v2;
    size_t size;
    c->count = 0;
    if (!gt_v2_read_batch(reader, v2, batch, &size))
        return false;
    bytes b = {v2, v2->buffer, v2->buffer + size, GT_FLIP_REACH};
    if (at - batch->data >= size)
        return true;
    try_records(&b, batch, first, end, at, c);
    b.reach = GT_FLIP_NEAR;
    if (c->count == 0)
        try_records(&b, batch, first, end, at, c);
    return true;
}

bool gt_v2_begins_with_event(gotrace_reader *reader, const gt_batch *batch, bool *fits)
{
    struct gt_v2 *v2 = reader->v2;
    gt_candidates c = {.count = 0};
    size_t size;
    if (!gt_v2_read_batch(reader, v2, batch, &size))
        return false;
    const bytes b = {v2, v2->buffer, v2->buffer + size, GT_FLIP_REACH};
    try_record(&b, 0, size > 0, batch->data, 0, &c);
    *fits = c.count > 0;
    return true;
}

/* ---- tables ---------------------------------------------------------------------------------- */

#define ANY_SIZE UINT_MAX

/* A batch of strings, stacks or samples. */
typedef struct table {
    const gt_batch *batch;
    uint8_t *start;
    const uint8_t *end;
    unsigned reach;
    unsigned pc_sizes; /* stacks: a bit for each number of bytes that a PC may have */
} table;

/* Skips a frame, and adds the size of its PC. False if it is not valid. */
static bool skip_frame(const uint8_t **p, const uint8_t *end, unsigned *pc_sizes)
{
    enum { MOST_LINES = 1 << 24 };
    uint64_t v[4];
    const uint8_t *start = *p;
    for (unsigned i = 0; i < 4; i++) {
        if (gt_varint(p, end, &v[i]) <= 0)
            return false;
        if (i == 0)
            *pc_sizes |= 1u << (*p - start);
    }
    return v[3] < MOST_LINES;
}

/* The end of the record at p, with its id or other first value, or NULL if it is not valid. Adds
 * the sizes of PCs. */
static const uint8_t *skip_entry(const table *t, const uint8_t *p, uint64_t *id, unsigned *pc_sizes)
{
    static const uint8_t types[] = {[GT_BATCH_STRINGS] = GOTRACE_V2_String,
                                    [GT_BATCH_STACKS] = GOTRACE_V2_Stack,
                                    [GT_BATCH_SAMPLES] = GOTRACE_V2_CPUSample};
    const unsigned kind = t->batch->kind;
    uint64_t size, ignored;
    if (*p++ != types[kind] || gt_varint(&p, t->end, id) <= 0 || gt_varint(&p, t->end, &size) <= 0)
        return NULL;
    if (kind == GT_BATCH_STRINGS) {
        bool fits = *id && size <= GT_V2_MAX_STRING && size <= (uint64_t)(t->end - p);
        return fits ? p + size : NULL;
    }
    if (kind == GT_BATCH_SAMPLES) {
        for (unsigned i = 0; i < 3; i++)
            if (gt_varint(&p, t->end, &ignored) <= 0)
                return NULL;
        return p;
    }
    if (*id == 0 || size > GT_V2_MAX_FRAMES)
        return NULL;
    for (; size; size--)
        if (!skip_frame(&p, t->end, pc_sizes))
            return NULL;
    return p;
}

/* Whether the records from p on can be read, far enough beyond the damage. */
static bool are_entries(const table *t, const uint8_t *p, const uint8_t *damage)
{
    uint64_t ignored;
    unsigned sizes = 0;
    for (unsigned after = 0; p && p < t->end && t->reach > after; after += damage < p) {
        p = skip_entry(t, p, &ignored, &sizes);
        if (sizes & ~t->pc_sizes)
            return false;
    }
    return p != NULL;
}

static void try_entry(const table *t, const uint8_t *from, const uint8_t *to, const uint8_t *damage,
                      gt_candidates *c)
{
    for (uint8_t *p = t->start + (from - t->start); p < to; p++)
        for (unsigned bit = 0; bit < 8; bit++) {
            uint8_t mask = (uint8_t)(1 << bit);
            *p ^= mask;
            if (are_entries(t, from, damage))
                gt_candidates_add(c, t->batch->data + (uint64_t)(p - t->start), mask);
            *p ^= mask;
        }
}

static table table_of(const gotrace_reader *reader, const gt_batch *batch, const uint8_t *end)
{
    return (table){batch, reader->v2->buffer, end, GT_FLIP_REACH, ANY_SIZE};
}

bool gt_v2_is_table(gotrace_reader *reader, const gt_batch *batch, bool *fits)
{
    size_t size;
    if (!gt_v2_read_batch(reader, reader->v2, batch, &size))
        return false;
    table t = table_of(reader, batch, reader->v2->buffer + size);
    t.reach = GT_FLIP_NEAR;
    *fits = are_entries(&t, t.start + 1, t.start);
    return true;
}

static bool has_entries(const gt_batch *batch)
{
    return batch->kind == GT_BATCH_STRINGS || batch->kind == GT_BATCH_STACKS ||
           batch->kind == GT_BATCH_SAMPLES;
}

/* The unreadable record first, then those before it, as far as they can be read. */
static void try_entries(const table *t, const uint8_t *const last[GT_FLIP_RECORDS], size_t count,
                        const uint8_t *at, gt_candidates *c)
{
    enum { LONGEST_STACK = 1024 }; /* of the unreadable record: bytes in which bits are tried */
    size_t tail = t->batch->kind == GT_BATCH_STACKS ? LONGEST_STACK : GT_FLIP_TAIL;
    const uint8_t *before = at;
    try_entry(t, at, (size_t)(t->end - at) > tail ? at + tail : t->end, at, c);
    for (size_t i = 0; i < GT_FLIP_RECORDS && i < count; i++) {
        const uint8_t *record = last[(count - 1 - i) % GT_FLIP_RECORDS];
        try_entry(t, record, before, at, c);
        before = record;
    }
}

/* PCs of a program mostly have the same size: first, only such are taken for PCs. */
void gt_v2_find_table_flips(const gotrace_reader *reader, const gt_batch *batch, const uint8_t *at,
                            const uint8_t *end, gt_candidates *c)
{
    table t = table_of(reader, batch, end);
    const uint8_t *last[GT_FLIP_RECORDS], *p = t.start + 1; /* after the marker */
    size_t count = 0;
    uint64_t ignored;
    c->count = 0;
    if (!has_entries(batch))
        return;
    t.pc_sizes = 0;
    for (; p && p < at; p = skip_entry(&t, p, &ignored, &t.pc_sizes))
        last[count++ % GT_FLIP_RECORDS] = p;
    if (p != at)
        count = 0;
    try_entries(&t, last, count, at, c);
    if (c->count)
        return;
    t.pc_sizes = ANY_SIZE;
    t.reach = GT_FLIP_NEAR;
    try_entries(&t, last, count, at, c);
}

/* The ids that differ in a bit from that of the record, and that no other record has. */
static void try_id(const table *t, const gt_table *known, const uint8_t *record, gt_candidates *c)
{
    const uint8_t *p = record + 1;
    uint64_t id, other;
    if (gt_varint(&p, t->end, &id) <= 0)
        return;
    for (unsigned i = 0; i < (unsigned)(p - record - 1); i++)
        for (unsigned bit = 0; bit < 7 && 7 * i + bit < 64; bit++) {
            other = id ^ (uint64_t)1 << (7 * i + bit);
            if (other && !gt_table_find(known, other))
                gt_candidates_add(c, t->batch->data + (uint64_t)(record + 1 + i - t->start),
                                  (uint8_t)(1 << bit));
        }
}

void gt_v2_find_id_flips(const gotrace_reader *reader, const gt_batch *batch, const uint8_t *at,
                         const uint8_t *end, gt_candidates *c)
{
    const struct gt_v2 *v2 = reader->v2;
    const gt_table *known = batch->kind == GT_BATCH_STRINGS ? &v2->strings : &v2->stacks;
    const table t = table_of(reader, batch, end);
    uint64_t id = 0, found = 0;
    unsigned ignored = 0;
    const uint8_t *p = at + 1, *next;
    c->count = 0;
    gt_varint(&p, end, &id);
    try_id(&t, known, at, c);
    for (p = t.start + 1; id && p && p < at; p = next) {
        next = skip_entry(&t, p, &found, &ignored);
        if (next && found == id)
            try_id(&t, known, p, c);
    }
}
