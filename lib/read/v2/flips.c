/*
 * flips.c - finds the bits that may be flipped if a record or the header of a batch cannot be read.
 */
#include "read/v2/flips.h"

enum {
    HEADERS = 8,      /* number of headers that follow one that is right, ... */
    NEAR_HEADERS = 2, /* ... or, where other damage is near */
    HEADER_MAX = 1 + 5 * GT_VARINT_MAX,
};

/* ---- headers --------------------------------------------------------------------------------- */

/* Reads the header at that offset, with a bit of it corrected, and finds the next one. *number: the
 * generation of the one before, or 0. False if it is not valid. */
static bool skip_batch(gotrace_reader *reader, uint64_t *at, const gotrace_flip *flip,
                       uint64_t *number)
{
    uint8_t bytes[HEADER_MAX];
    uint64_t v[5] = {0};
    size_t n;
    int version = reader->summary.version;
    if (gt_read_bytes(reader, *at, bytes, sizeof bytes, &n) < 0 || n == 0)
        return false;
    if (flip->offset >= *at && flip->offset - *at < n)
        bytes[flip->offset - *at] ^= flip->mask;
    const uint8_t *p = bytes;
    uint8_t type = *p++;
    if (type == GOTRACE_V2_EndOfGeneration && version >= GOTRACE_FIRST_GENERATION_END) {
        *number = 0;
        ++*at;
        return true;
    }
    bool experiment = type == GOTRACE_V2_ExperimentalBatch && version >= GOTRACE_FIRST_EXPERIMENTS;
    if (type != GOTRACE_V2_EventBatch && !experiment)
        return false;
    for (unsigned i = experiment ? 0 : 1; i < 5; i++)
        if (gt_varint(&p, bytes + n, &v[i]) <= 0)
            return false;
    bool follows = *number == 0 || v[1] == *number || v[1] == *number + 1;
    uint64_t data = *at + (uint64_t)(p - bytes);
    if (!follows || v[4] > GT_V2_MAX_BATCH || v[4] > reader->summary.size - data)
        return false;
    *number = v[1];
    *at = data + v[4];
    return true;
}

/* Whether a batch at that offset, corrected, is followed by others or, after at least one, by the
 * end of the trace. */
static bool leads_on(gotrace_reader *reader, uint64_t at, const gotrace_flip *flip, unsigned most)
{
    uint64_t number = 0;
    for (unsigned i = 0; i <= most; i++) {
        if (i > 1 && at == reader->summary.size)
            return true;
        if (!skip_batch(reader, &at, flip, &number))
            return false;
    }
    return true;
}

static void try_header(gotrace_reader *reader, uint64_t header, uint64_t end, unsigned most,
                       gt_candidates *c)
{
    for (uint64_t at = header; at < end && at < reader->summary.size; at++)
        for (unsigned bit = 0; bit < 8; bit++) {
            gotrace_flip flip = {at, (uint8_t)(1 << bit)};
            if (leads_on(reader, header, &flip, most))
                gt_candidates_add(c, at, flip.mask);
        }
}

void gt_v2_find_header_flips(gotrace_reader *reader, const gt_batch *before, uint64_t at,
                             gt_candidates *c)
{
    static const unsigned reach[] = {HEADERS, NEAR_HEADERS};
    c->count = 0;
    for (unsigned i = 0; i < 2 && c->count == 0; i++) {
        if (before)
            try_header(reader, before->offset, before->data, reach[i], c);
        try_header(reader, at, at + HEADER_MAX, reach[i], c);
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
