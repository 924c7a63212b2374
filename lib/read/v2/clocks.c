/*
 * clocks.c - the batch of clocks of each generation: the frequency and, from 1.25 on, the clocks.
 *
 * The bytes of such a batch are determined except for the values of its numbers, so that a flipped
 * bit that makes it unreadable is found without reading the rest of the trace. Source: Go 1.22,
 * runtime/trace2.go, traceFrequency; Go 1.25, runtime/tracetime.go, traceSyncBatch.
 */
#include "read/v2/flips.h"

enum {
    MOST_BYTES = 2 + 5 * GT_VARINT_MAX + 1, /* of a batch of clocks */
    MOST_NANOSECONDS = 1000000000,
    MOST_SEARCHES = 64, /* for flipped bits of clocks */
};

static const double not_plausible = 1e30; /* ns */

/* The numbers of a batch of clocks. */
typedef struct clocks {
    uint64_t frequency, frequency_at; /* the offset of the number in the batch */
    uint64_t ticks, monotonic, seconds, nanoseconds;
} clocks;

/* A batch of clocks, in memory. */
typedef struct clock_batch {
    uint8_t bytes[MOST_BYTES];
    size_t size;
} clock_batch;

static bool read_clock_batch(gotrace_reader *reader, const gt_batch *batch, clock_batch *b)
{
    size_t wanted = batch->size < MOST_BYTES ? batch->size : MOST_BYTES;
    return gt_read_bytes(reader, batch->data, b->bytes, wanted, &b->size) >= 0 || gt_fail(reader);
}

static bool values(const uint8_t **p, const uint8_t *end, uint64_t *v, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        if (gt_varint(p, end, &v[i]) <= 0)
            return false;
    return true;
}

/* Whether the batch is exactly as a tracer writes it. */
static bool is_exact(const clock_batch *b, int version, clocks *c)
{
    const uint8_t *p = b->bytes, *end = p + b->size;
    uint64_t v[4] = {0};
    bool snapshot = version >= GOTRACE_FIRST_SYNC;
    if (b->size < 2 || (snapshot && *p++ != GOTRACE_V2_Sync) || *p++ != GOTRACE_V2_Frequency)
        return false;
    c->frequency_at = (uint64_t)(p - b->bytes);
    if (!values(&p, end, &c->frequency, 1) || c->frequency == 0)
        return false;
    if (snapshot && (p == end || *p++ != GOTRACE_V2_ClockSnapshot || !values(&p, end, v, 4)))
        return false;
    c->ticks = v[0];
    c->monotonic = v[1];
    c->seconds = v[2];
    c->nanoseconds = v[3];
    return p == end;
}

/* Whether the batch consists of readable records, in any order. */
static bool is_readable(const clock_batch *b, int version)
{
    const uint8_t *p = b->bytes, *end = p + b->size;
    uint64_t v[4];
    bool snapshot = version >= GOTRACE_FIRST_SYNC;
    p += snapshot && p < end;
    while (p < end) {
        uint8_t type = *p++;
        bool clock = snapshot && type == GOTRACE_V2_ClockSnapshot;
        if ((type != GOTRACE_V2_Frequency && !clock) || !values(&p, end, v, clock ? 4 : 1))
            return false;
    }
    return true;
}

/* ---- flipped bits ---------------------------------------------------------------------------- */

static double difference(double a, double b)
{
    return a < b ? b - a : a - b;
}

/* How far the numbers of a batch are from what a tracer writes, in ns. All clocks of a trace
 * advance together. known, start: the clocks of another generation, and the timestamp of their
 * batch, or NULL. */
static double distance(const clocks *c, const gt_batch *batch, const clocks *known, uint64_t start,
                       uint64_t frequency, int version)
{
    enum { LEAST_SECONDS = 1 << 28 }; /* 1978; as a number of five bytes */
    double ns = 1e9 / (double)c->frequency, far = 0;
    double time = ((double)batch->time + (double)c->ticks) * ns;
    if (frequency && c->frequency != frequency)
        far += not_plausible;
    if (version < GOTRACE_FIRST_SYNC)
        return far;
    if (c->nanoseconds >= MOST_NANOSECONDS || c->seconds < LEAST_SECONDS ||
        c->seconds >= (uint64_t)LEAST_SECONDS << 7)
        far += not_plausible;
    if (!known)
        return far + (double)c->ticks * ns + difference((double)c->monotonic, time);
    double passed = (double)c->monotonic - (double)known->monotonic;
    double wall = ((double)c->seconds - (double)known->seconds) * MOST_NANOSECONDS +
                  (double)c->nanoseconds - (double)known->nanoseconds;
    return far + difference(wall, passed) +
           difference(time - ((double)start + (double)known->ticks) * ns, passed);
}

/* The first generation whose clocks can be read: returns the timestamp of their batch. */
static bool find_known(gotrace_reader *reader, clocks *known, uint64_t *start, bool *found)
{
    const struct gt_v2 *v2 = reader->v2;
    clock_batch b;
    *found = false;
    for (size_t i = 0; i < v2->batch_count && !*found; i++) {
        if (v2->batches[i].kind != GT_BATCH_SYNC)
            continue;
        if (!read_clock_batch(reader, &v2->batches[i], &b))
            return false;
        *found = is_exact(&b, reader->summary.version, known);
        *start = v2->batches[i].time;
    }
    return true;
}

/* Finds the bit of a batch with which it is one of clocks; flip->mask: 0 if there is none. */
static bool find_flip(gotrace_reader *reader, const gt_batch *batch, gotrace_flip *flip)
{
    const int version = reader->summary.version;
    clock_batch b;
    clocks c, known;
    uint64_t start = 0;
    bool found;
    double least = 0;
    *flip = (gotrace_flip){0};
    if (!read_clock_batch(reader, batch, &b) || !find_known(reader, &known, &start, &found))
        return false;
    for (size_t i = 0; i < b.size; i++)
        for (unsigned bit = 0; bit < 8; bit++) {
            b.bytes[i] ^= (uint8_t)(1 << bit);
            bool exact = is_exact(&b, version, &c);
            b.bytes[i] ^= (uint8_t)(1 << bit);
            if (!exact)
                continue;
            double far = distance(&c, batch, found ? &known : NULL, start,
                                  reader->v2->common_frequency, version);
            if (flip->mask && far >= least)
                continue;
            least = far;
            *flip = (gotrace_flip){batch->data + i, (uint8_t)(1 << bit)};
        }
    return true;
}

/* ---- the frequency --------------------------------------------------------------------------- */

bool gt_v2_frequency_flip(const gotrace_reader *reader, size_t n, gotrace_flip *flip)
{
    const struct gt_v2 *v2 = reader->v2;
    for (size_t i = 0; v2 && v2->common_frequency && i < v2->generation_count; i++) {
        const gt_generation *g = &v2->generations[i];
        uint64_t bits = g->frequency ^ v2->common_frequency;
        if (g->frequency == 0 || g->own_frequency || __builtin_popcountll(bits) != 1 || n-- > 0)
            continue;
        unsigned bit = (unsigned)__builtin_ctzll(bits);
        *flip = (gotrace_flip){g->frequency_at + bit / 7, (uint8_t)(1 << bit % 7)};
        return true;
    }
    return false;
}

/* Whether a generation begins nearer to its neighbour with its own frequency than with that of
 * the others. So do those that gotrace cut and repair write, in ns, next to copied ones. */
static bool fits_better(const struct gt_v2 *v2, size_t n)
{
    const gt_generation *g = &v2->generations[n], *neighbour = n ? g - 1 : g + 1;
    if (n + 1 == v2->generation_count && n == 0)
        return false;
    if (g->frequency == 0 || g->frequency == v2->common_frequency)
        return false;
    uint64_t frequency = neighbour->own_frequency ? neighbour->frequency : v2->common_frequency;
    double time = (double)neighbour->summary.begin / (double)frequency;
    double own = (double)g->summary.begin / (double)g->frequency - time;
    double common = (double)g->summary.begin / (double)v2->common_frequency - time;
    return own * own < common * common;
}

/* Finds the batch of clocks of a generation, and reads it. */
static bool find_clocks(gotrace_reader *reader, gt_generation *g)
{
    const struct gt_v2 *v2 = reader->v2;
    const size_t end = g->first + g->count;
    clock_batch b;
    g->frequency = 0;
    g->clocks = g->first;
    while (g->clocks < end && v2->batches[g->clocks].kind != GT_BATCH_SYNC)
        g->clocks++;
    g->clocks_readable = false;
    if (g->clocks == end)
        return true;
    if (!read_clock_batch(reader, &v2->batches[g->clocks], &b))
        return false;
    g->clocks_readable = is_readable(&b, reader->summary.version);
    const uint8_t *p = b.bytes, *limit = p + b.size;
    if (b.size && *p == GOTRACE_V2_Sync)
        p++;
    if (p == limit || *p++ != GOTRACE_V2_Frequency)
        return true;
    g->frequency_at = v2->batches[g->clocks].data + (uint64_t)(p - b.bytes);
    if (gt_varint(&p, limit, &g->frequency) <= 0)
        g->frequency = 0;
    return true;
}

/* Finds the frequency that most generations have, which is that of all: the runtime determines it
 * once. Source: Go 1.27, runtime/runtime.go, ticksPerSecond. */
static void find_common(struct gt_v2 *v2)
{
    uint64_t common = 0;
    size_t lead = 0, with = 0, same = 0;
    for (size_t n = 0; n < v2->generation_count; n++) {
        uint64_t frequency = v2->generations[n].frequency;
        if (frequency == 0)
            continue;
        with++;
        if (lead == 0)
            common = frequency;
        lead = common == frequency ? lead + 1 : lead - 1;
    }
    for (size_t n = 0; n < v2->generation_count; n++)
        same += common && v2->generations[n].frequency == common;
    v2->common_frequency = 2 * same > with ? common : 0;
}

/* Corrects a bit of a batch that is, or may be, that of the clocks of a generation. Sets *found. */
static bool correct_batch(gotrace_reader *reader, gt_generation *g, size_t i, bool *found)
{
    gt_batch *batch = &reader->v2->batches[i];
    gt_flips *f = &reader->flips;
    gotrace_flip flip;
    if (!find_flip(reader, batch, &flip))
        return false;
    *found = flip.mask != 0;
    if (!*found)
        return true;
    batch->kind = GT_BATCH_SYNC;
    f->list[f->count++] = flip;
    f->mends = true;
    return gt_report(reader, GOTRACE_RULE_BATCH_EVENT,
                     (gt_place){batch->data, i, GOTRACE_NO_OFFSET},
                     "the batch of clocks of generation %llu cannot be read",
                     (unsigned long long)g->summary.generation) &&
           find_clocks(reader, g);
}

/* Whether a batch of events may be one of clocks: no thread writes those. */
static bool may_be_clocks(const gt_batch *b)
{
    return b->kind == GT_BATCH_EVENTS && b->m == GT_V2_NO_ID && b->size && b->size < MOST_BYTES;
}

/* Corrects a bit of a generation's batch of clocks, if it cannot be read. */
static bool correct_clocks(gotrace_reader *reader, gt_generation *g, unsigned *searches)
{
    const struct gt_v2 *v2 = reader->v2;
    const size_t end = g->first + g->count;
    bool found = false, missing = g->clocks == end;
    for (size_t i = missing ? g->first : g->clocks; i < end && !found; i++) {
        if (*searches == MOST_SEARCHES || reader->flips.count == GT_MOST_FLIPS)
            return true;
        if (missing && !may_be_clocks(&v2->batches[i]))
            continue;
        ++*searches;
        if (!correct_batch(reader, g, i, &found))
            return false;
        if (!missing)
            break;
    }
    return true;
}

bool gt_v2_find_clocks(gotrace_reader *reader)
{
    struct gt_v2 *v2 = reader->v2;
    unsigned searches = 0;
    for (size_t n = 0; n < v2->generation_count; n++)
        if (!find_clocks(reader, &v2->generations[n]))
            return false;
    find_common(v2);
    for (size_t n = 0; !reader->flips.off && n < v2->generation_count; n++)
        if (!v2->generations[n].clocks_readable &&
            !correct_clocks(reader, &v2->generations[n], &searches))
            return false;
    find_common(v2);
    for (size_t n = 0; v2->common_frequency && n < v2->generation_count; n++)
        v2->generations[n].own_frequency = fits_better(v2, n);
    return true;
}
