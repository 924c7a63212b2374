/*
 * index.c - the batches of a v2 file.
 *
 * Batches contain their size, so only their headers are read. The batches of a generation are
 * consecutive; from 1.26 on a record marks its end. Source: Go 1.27, internal/trace/generation.go
 * and batch.go.
 */
#include <string.h>

#include "read/v2/flips.h"

enum { LOOK = 256, HEADER_MAX = 2 + 5 * GT_VARINT_MAX };

typedef struct look {
    gotrace_reader *reader;
    struct gt_v2 *v2;
    uint8_t bytes[LOOK];
    uint64_t base; /* offset of bytes[0] */
    size_t have;
    uint64_t at; /* offset of the next header */
    bool damaged;
    bool again; /* a bit was corrected: the headers are read again */
    bool open;  /* the last generation is not complete */
} look;

static gt_place place(const look *l)
{
    return (gt_place){l->at, l->v2->batch_count, GOTRACE_NO_OFFSET};
}

/* Makes the bytes at l->at available: a maximal header, or all that are left. */
static const uint8_t *peek_header(look *l, size_t *n)
{
    if (l->at < l->base || l->at + HEADER_MAX > l->base + l->have) {
        if (gt_read_bytes(l->reader, l->at, l->bytes, LOOK, &l->have) < 0) {
            gt_fail(l->reader);
            return NULL;
        }
        l->base = l->at;
    }
    *n = l->have - (size_t)(l->at - l->base);
    return l->bytes + (l->at - l->base);
}

/* Reports that nothing from l->at on can be read, unless a bit is corrected. */
#define DAMAGED(l, rule, ...)                                                                      \
    (find_damage(l) && gt_report((l)->reader, rule, place(l), __VA_ARGS__))

/* False on failure. */
static bool find_damage(look *l)
{
    gotrace_reader *reader = l->reader;
    gt_candidates candidates;
    gt_flip_result result = GT_FLIP_NONE;
    l->damaged = true;
    if (gt_flips_begin(reader, l->at)) {
        gt_v2_find_header_flips(reader,
                                l->v2->batch_count ? &l->v2->batches[l->v2->batch_count - 1] : NULL,
                                l->at, &candidates);
        result = gt_flips_choose(reader, &candidates, l->at, true);
    }
    l->again = reader->flips.mends = result == GT_FLIP_FOUND;
    if (!l->again)
        reader->summary.unread_bytes = reader->summary.size - l->at;
    return result != GT_FLIP_FAILED;
}

static gt_generation *last_generation(look *l)
{
    return &l->v2->generations[l->v2->generation_count - 1];
}

static bool open_generation(look *l, uint64_t number)
{
    struct gt_v2 *v2 = l->v2;
    void *list = v2->generations;
    if (!gt_grow(&l->reader->heap, &list, &v2->generation_capacity, v2->generation_count + 1,
                 sizeof *v2->generations))
        return gt_fail_memory(l->reader);
    v2->generations = list;
    v2->generations[v2->generation_count++] = (gt_generation){
        .summary = {.generation = number, .offset = l->at}, .first = v2->batch_count};
    l->open = true;
    return true;
}

/* Adds the batch to the current generation, or begins another. */
static bool place_in_generation(look *l, uint64_t number)
{
    if (l->open && last_generation(l)->summary.generation == number)
        return true;
    if (number == 0 || (l->v2->generation_count && l->open &&
                        l->reader->summary.version >= GOTRACE_FIRST_GENERATION_END))
        if (!gt_report(l->reader, GOTRACE_RULE_GENERATION_NUMBER, place(l),
                       number == 0
                           ? "a batch is of generation %llu"
                           : "a batch of generation %llu comes before the end of the last one",
                       (unsigned long long)number))
            return false;
    if (l->v2->generation_count) {
        gt_generation *last = last_generation(l);
        if (l->reader->summary.version < GOTRACE_FIRST_GENERATION_END) {
            if (number != last->summary.generation + 1 &&
                !gt_report(l->reader, GOTRACE_RULE_GENERATION_NUMBER, place(l),
                           "generation %llu follows generation %llu", (unsigned long long)number,
                           (unsigned long long)last->summary.generation))
                return false;
            last->summary.complete = true;
        } else if (number > last->summary.generation + 1 && !l->open &&
                   !gt_report(l->reader, GOTRACE_RULE_GENERATION_MISSING, place(l),
                              "generation %llu follows generation %llu", (unsigned long long)number,
                              (unsigned long long)last->summary.generation)) {
            return false;
        }
    }
    return open_generation(l, number);
}

/* The generation of the batch at that place, 0 if there is none; where the end of a generation is,
 * that of the one being gathered. */
static bool number_at(look *l, uint64_t at, uint64_t *number)
{
    uint8_t bytes[2 + GT_VARINT_MAX * 2];
    size_t n;
    const uint8_t *p = bytes;
    int version = l->reader->summary.version;
    *number = 0;
    if (gt_read_bytes(l->reader, at, bytes, sizeof bytes, &n) < 0)
        return gt_fail(l->reader);
    uint8_t type = n ? *p++ : 0;
    uint64_t experiment;
    if (type == GOTRACE_V2_EndOfGeneration && version >= GOTRACE_FIRST_GENERATION_END)
        *number = last_generation(l)->summary.generation;
    else if (type == GOTRACE_V2_EventBatch ||
             (type == GOTRACE_V2_ExperimentalBatch && version >= GOTRACE_FIRST_EXPERIMENTS &&
              gt_varint(&p, bytes + n, &experiment) > 0))
        gt_varint(&p, bytes + n, number);
    return true;
}

/* A batch of another generation between batches of the one being gathered belongs to that. */
static bool check_number(look *l, uint64_t end, uint64_t *number)
{
    uint64_t next, here = l->open ? last_generation(l)->summary.generation : *number;
    if (*number == here)
        return true;
    if (!number_at(l, end, &next))
        return false;
    if (next != here)
        return true;
    uint64_t found = *number;
    *number = here;
    return gt_report(l->reader, GOTRACE_RULE_GENERATION_NUMBER, place(l),
                     "a batch of generation %llu is within generation %llu; it is read as one of "
                     "that",
                     (unsigned long long)found, (unsigned long long)here);
}

static gt_batch_kind kind_of(int version, bool experiment, uint8_t first, uint32_t size)
{
    if (experiment)
        return GT_BATCH_EXPERIMENT;
    if (size == 0)
        return GT_BATCH_EVENTS;
    switch (first) {
    case GOTRACE_V2_Strings: return GT_BATCH_STRINGS;
    case GOTRACE_V2_Stacks: return GT_BATCH_STACKS;
    case GOTRACE_V2_CPUSamples: return GT_BATCH_SAMPLES;
    case GOTRACE_V2_Frequency:
        return version < GOTRACE_FIRST_SYNC ? GT_BATCH_SYNC : GT_BATCH_EVENTS;
    case GOTRACE_V2_Sync: return version >= GOTRACE_FIRST_SYNC ? GT_BATCH_SYNC : GT_BATCH_EVENTS;
    default: return GT_BATCH_EVENTS;
    }
}

static bool add_batch(look *l, const gt_batch *batch, uint64_t end)
{
    struct gt_v2 *v2 = l->v2;
    void *list = v2->batches;
    if (v2->batch_count >= l->reader->limits.batches) {
        gt_error_limit(&l->reader->error, GOTRACE_LIMIT_BATCHES, place(l),
                       l->reader->limits.batches);
        return gt_fail(l->reader);
    }
    if (!gt_grow(&l->reader->heap, &list, &v2->batch_capacity, v2->batch_count + 1,
                 sizeof *v2->batches))
        return gt_fail_memory(l->reader);
    v2->batches = list;
    v2->batches[v2->batch_count++] = *batch;
    gt_generation *g = last_generation(l);
    g->count++;
    g->summary.batches++;
    g->summary.bytes += end - l->at;
    /* A time of 0 means none. Source: readGeneration, minTs. */
    if (g->summary.begin == 0 || batch->time < g->summary.begin)
        g->summary.begin = batch->time;
    return true;
}

/* Reads the header of a batch. */
static bool read_batch(look *l)
{
    size_t n;
    uint64_t v[5] = {0}; /* (experiment,) generation, thread, time, size */
    const uint8_t *start = peek_header(l, &n), *p = start;
    if (!start)
        return false;
    gotrace_summary *summary = &l->reader->summary;
    uint8_t type = *p++;
    if (type == GOTRACE_V2_EndOfGeneration && summary->version >= GOTRACE_FIRST_GENERATION_END &&
        l->open) {
        gt_generation *g = last_generation(l);
        g->summary.complete = true;
        g->summary.bytes++;
        summary->records++;
        summary->type_records[type]++;
        summary->type_bytes[type]++;
        l->open = false;
        l->at++;
        return true;
    }
    bool experiment = type == GOTRACE_V2_ExperimentalBatch &&
                      summary->version >= GOTRACE_FIRST_EXPERIMENTS;
    if (type != GOTRACE_V2_EventBatch && !experiment) {
        if (n >= 5 && memcmp(start, "go 1.", 5) == 0)
            return DAMAGED(
                l, GOTRACE_RULE_TRACE_AFTER,
                "another trace begins here; gotrace repair --all writes each trace to its "
                "own file");
        return DAMAGED(l, GOTRACE_RULE_BATCH_HEADER, "byte 0x%02x where a batch is expected", type);
    }
    for (unsigned i = experiment ? 0 : 1; i < 5; i++) {
        int used = gt_varint(&p, start + n, &v[i]);
        if (used < 0)
            return DAMAGED(l, GOTRACE_RULE_WIRE_VARINT,
                           "a number in the header of a batch exceeds ten bytes or 64 bits");
        if (used == 0)
            return DAMAGED(l, GOTRACE_RULE_WIRE_TRUNCATED,
                           "the trace is cut off in the header of a batch");
    }
    if (v[4] > GT_V2_MAX_BATCH)
        return DAMAGED(l, GOTRACE_RULE_BATCH_HEADER, "the size of a batch is %llu bytes",
                       (unsigned long long)v[4]);
    uint64_t data = l->at + (uint64_t)(p - start), end = data + v[4];
    if (end > summary->size)
        return DAMAGED(l, GOTRACE_RULE_WIRE_TRUNCATED,
                       "the trace is cut off: a batch of %llu byte%s has %llu left",
                       (unsigned long long)v[4], gt_plural(v[4]),
                       (unsigned long long)(summary->size - data));
    if (!check_number(l, end, &v[1]) || !place_in_generation(l, v[1]))
        return false;
    if (experiment && v[0] == 0 &&
        !gt_report(l->reader, GOTRACE_RULE_BATCH_EVENT, place(l),
                   "a batch of experiment 0, which does not exist"))
        return false;
    uint8_t first = 0;
    if (v[4] && p < start + n)
        first = *p;
    gt_batch batch = {
        .offset = l->at,
        .data = data,
        .m = v[2],
        .time = v[3],
        .size = (uint32_t)v[4],
        .next = GT_NONE,
        .kind = (uint8_t)kind_of(summary->version, experiment, first, (uint32_t)v[4])};
    uint64_t header = experiment ? end - l->at : data - l->at;
    summary->records++;
    summary->type_records[type]++;
    summary->type_bytes[type] += header;
    summary->batches++;
    if (!add_batch(l, &batch, end))
        return false;
    l->at = end;
    return true;
}

static bool has_kind(const struct gt_v2 *v2, const gt_generation *g, gt_batch_kind kind)
{
    for (size_t i = g->first; i < g->first + g->count; i++)
        if (v2->batches[i].kind == kind)
            return true;
    return false;
}

/* Whether a record of the batch refers to a string or stack. */
static bool find_reference(gotrace_reader *reader, struct gt_v2 *v2, const gt_batch *batch,
                           bool *found)
{
    size_t size;
    uint64_t values[GT_V2_VALUES];
    if (!gt_v2_read_batch(reader, v2, batch, &size))
        return false;
    const uint8_t *p = v2->buffer, *end = p + size, *next;
    for (; !*found && p && p < end; p = next) {
        next = gt_v2_read_record(v2, p, end, values);
        for (unsigned left = next ? v2->shapes[*p].refers : 0; left; left &= left - 1)
            *found |= values[1 + __builtin_ctz(left)] != 0;
    }
    return true;
}

/* A generation is cut off if it lacks what is written last: until 1.24 the tables and then the
 * frequency. In 1.25 the frequency comes first, and a trace may have no tables, unless its events
 * refer to them, as the first ones of Go's tracer do. Source: Go 1.22, runtime/trace2.go,
 * traceAdvance; Go 1.25, runtime/trace.go, StartTrace and traceAdvance. */
static bool find_cut(look *l, const gt_generation *g, bool *cut)
{
    struct gt_v2 *v2 = l->v2;
    bool early = l->reader->summary.version < GOTRACE_FIRST_SYNC;
    bool tables = has_kind(v2, g, GT_BATCH_STRINGS) || has_kind(v2, g, GT_BATCH_STACKS);
    *cut = early && !tables && !has_kind(v2, g, GT_BATCH_SYNC);
    for (size_t i = g->first; i < g->first + g->count && !early && !tables && !*cut; i++)
        if (v2->batches[i].kind == GT_BATCH_EVENTS &&
            !find_reference(l->reader, v2, &v2->batches[i], cut))
            return false;
    return true;
}

/* ---- the frequency --------------------------------------------------------------------------- */

/* Reads the first record of a batch of clocks, if it is the frequency. */
static bool read_frequency(gotrace_reader *reader, const gt_batch *b, gt_generation *g)
{
    uint8_t bytes[2 + GT_VARINT_MAX];
    size_t n, wanted = b->size < sizeof bytes ? b->size : sizeof bytes;
    const uint8_t *p = bytes;
    if (gt_read_bytes(reader, b->data, bytes, wanted, &n) < 0)
        return gt_fail(reader);
    if (n && *p == GOTRACE_V2_Sync)
        p++;
    if (p == bytes + n || *p++ != GOTRACE_V2_Frequency)
        return true;
    g->frequency_at = b->data + (uint64_t)(p - bytes);
    if (gt_varint(&p, bytes + n, &g->frequency) <= 0)
        g->frequency = 0;
    return true;
}

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

/* Whether a generation begins nearer to the one beside it with its own frequency than with that of
 * the others. So do those that gotrace cut and repair write, in ns, beside copied ones. */
static bool fits_better(const struct gt_v2 *v2, size_t n)
{
    const gt_generation *g = &v2->generations[n], *beside = n ? g - 1 : g + 1;
    if (n + 1 == v2->generation_count && n == 0)
        return false;
    if (g->frequency == 0 || g->frequency == v2->common_frequency)
        return false;
    uint64_t frequency = beside->own_frequency ? beside->frequency : v2->common_frequency;
    double time = (double)beside->summary.begin / (double)frequency;
    double own = (double)g->summary.begin / (double)g->frequency - time;
    double common = (double)g->summary.begin / (double)v2->common_frequency - time;
    return own * own < common * common;
}

/* Finds the frequency that most generations have, which is that of all: the runtime determines it
 * once. Source: Go 1.27, runtime/runtime.go, ticksPerSecond. */
static bool find_frequency(gotrace_reader *reader, struct gt_v2 *v2)
{
    uint64_t common = 0;
    size_t lead = 0, with = 0, same = 0;
    for (size_t n = 0; n < v2->generation_count; n++) {
        gt_generation *g = &v2->generations[n];
        for (size_t i = g->first; i < g->first + g->count && !g->frequency; i++)
            if (v2->batches[i].kind == GT_BATCH_SYNC && !read_frequency(reader, &v2->batches[i], g))
                return false;
        if (g->frequency == 0)
            continue;
        with++;
        if (lead == 0)
            common = g->frequency;
        lead = common == g->frequency ? lead + 1 : lead - 1;
    }
    for (size_t n = 0; n < v2->generation_count; n++)
        same += common && v2->generations[n].frequency == common;
    v2->common_frequency = 2 * same > with ? common : 0;
    for (size_t n = 0; v2->common_frequency && n < v2->generation_count; n++)
        v2->generations[n].own_frequency = fits_better(v2, n);
    return true;
}

/* ---- the end --------------------------------------------------------------------------------- */

static bool check_end(look *l)
{
    struct gt_v2 *v2 = l->v2;
    if (v2->batch_count == 0)
        return gt_report(l->reader, GOTRACE_RULE_TRACE_EMPTY, GT_AT(l->at),
                         "the trace contains no batches");
    gt_generation *last = last_generation(l);
    bool cut = false;
    if (l->reader->summary.version < GOTRACE_FIRST_GENERATION_END) {
        if (!l->damaged && !find_cut(l, last, &cut))
            return false;
        last->summary.complete = !l->damaged && !cut;
    }
    return last->summary.complete || l->damaged ||
           gt_report(l->reader, GOTRACE_RULE_GENERATION_END, GT_AT(l->at),
                     "the trace ends within generation %llu",
                     (unsigned long long)last->summary.generation);
}

/* After a bit was corrected: forgets what was read. */
static void forget(gotrace_reader *reader, struct gt_v2 *v2)
{
    gotrace_summary *summary = &reader->summary;
    gt_flips *f = &reader->flips;
    v2->batch_count = v2->generation_count = 0;
    summary->records = summary->batches = 0;
    memset(summary->type_records, 0, sizeof summary->type_records);
    memset(summary->type_bytes, 0, sizeof summary->type_bytes);
    if (f->list[f->count - 1].offset > f->replayed)
        f->replayed = f->list[f->count - 1].offset;
}

bool gt_v2_index(gotrace_reader *reader)
{
    struct gt_v2 *v2 = gt_calloc(&reader->heap, 1, sizeof *v2);
    if (!v2)
        return gt_fail_memory(reader);
    reader->v2 = v2;
    gt_v2_shapes_init(v2->shapes, reader->summary.version);
    gt_table_init(&v2->strings, &reader->heap);
    gt_table_init(&v2->stacks, &reader->heap);
    look l;
    do {
        l = (look){.reader = reader, .v2 = v2, .at = GT_HEADER_SIZE};
        while (l.at < reader->summary.size && !l.damaged)
            if (!read_batch(&l))
                return false;
        if (l.again)
            forget(reader, v2);
    } while (l.again);
    reader->flips.replayed = 0;
    reader->summary.generations = v2->generation_count;
    reader->summary.writer = "Go";
    return find_frequency(reader, v2) && check_end(&l);
}
