/*
 * clocks.c - the batch of clocks of each generation: the frequency and, from 1.25 on, the clocks.
 *
 * Source: Go 1.22,
 * runtime/trace2.go, traceFrequency; Go 1.25, runtime/tracetime.go, traceSyncBatch.
 */
#include "read/v2/v2.h"

enum { MOST_BYTES = 2 + 5 * GT_VARINT_MAX + 1 }; /* of a batch of clocks */

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

/* Whether a generation begins nearer to its neighbour with its own frequency than with that of
 * the others. So do those that gotrace cut and repair write, in ns, next to copied ones. */
static bool fits_better(const struct gt_v2 *v2, size_t n)
{
    const gt_generation *g = &v2->index.generations[n], *neighbour = n ? g - 1 : g + 1;
    if (n + 1 == v2->index.generation_count && n == 0)
        return false;
    if (g->frequency == 0 || g->frequency == v2->index.common_frequency)
        return false;
    uint64_t frequency = neighbour->own_frequency ? neighbour->frequency
                                                  : v2->index.common_frequency;
    double time = (double)neighbour->summary.begin / (double)frequency;
    double own = (double)g->summary.begin / (double)g->frequency - time;
    double common = (double)g->summary.begin / (double)v2->index.common_frequency - time;
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
    while (g->clocks < end && v2->index.batches[g->clocks].kind != GT_BATCH_SYNC)
        g->clocks++;
    g->clocks_readable = false;
    if (g->clocks == end)
        return true;
    if (!read_clock_batch(reader, &v2->index.batches[g->clocks], &b))
        return false;
    g->clocks_readable = is_readable(&b, reader->summary.version);
    const uint8_t *p = b.bytes, *limit = p + b.size;
    if (b.size && *p == GOTRACE_V2_Sync)
        p++;
    if (p == limit || *p++ != GOTRACE_V2_Frequency)
        return true;
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
    for (size_t n = 0; n < v2->index.generation_count; n++) {
        uint64_t frequency = v2->index.generations[n].frequency;
        if (frequency == 0)
            continue;
        with++;
        if (lead == 0)
            common = frequency;
        lead = common == frequency ? lead + 1 : lead - 1;
    }
    for (size_t n = 0; n < v2->index.generation_count; n++)
        same += common && v2->index.generations[n].frequency == common;
    v2->index.common_frequency = 2 * same > with ? common : 0;
}

bool gt_v2_find_clocks(gotrace_reader *reader)
{
    struct gt_v2 *v2 = reader->v2;
    for (size_t n = 0; n < v2->index.generation_count; n++)
        if (!find_clocks(reader, &v2->index.generations[n]))
            return false;
    find_common(v2);
    for (size_t n = 0; v2->index.common_frequency && n < v2->index.generation_count; n++)
        v2->index.generations[n].own_frequency = fits_better(v2, n);
    return true;
}
