/*
 * index.c - the batches of a v2 file.
 *
 * Batches contain their size, so only their headers are read. The batches of a generation are
 * consecutive; from 1.26 on a record marks its end. Source: Go 1.27, internal/trace/generation.go
 * and batch.go.
 */
#include <string.h>

#include "read/text.h"
#include "read/v2/v2.h"
#include "read/v2/header.h"

/* MOST_BYTES: of a header, and the first two of its batch. */
enum { LOOK = 256, MOST_BYTES = GT_V2_HEADER_MAX + 2 };

typedef struct look {
    gotrace_reader *reader;
    struct gt_v2 *v2;
    uint8_t bytes[LOOK];
    uint64_t base; /* offset of bytes[0] */
    size_t have;
    uint64_t at; /* offset of the next header */
    bool mixed;  /* ended at a text of the program */
    bool damaged;
    bool open; /* the last generation is not complete */
} look;

static gt_place place(const look *l)
{
    return (gt_place){l->at, l->v2->index.batch_count, GOTRACE_NO_OFFSET};
}

/* Makes the bytes at l->at available: a maximal header, or all that are left. */
static const uint8_t *peek_header(look *l, size_t *n)
{
    if (l->at < l->base || l->at + MOST_BYTES > l->base + l->have) {
        if (gt_read_bytes(l->reader, l->at, l->bytes, LOOK, &l->have) < 0) {
            gt_fail(l->reader);
            return NULL;
        }
        l->base = l->at;
    }
    *n = l->have - (size_t)(l->at - l->base);
    return l->bytes + (l->at - l->base);
}

static gt_generation *last_generation(look *l)
{
    return &l->v2->index.generations[l->v2->index.generation_count - 1];
}

/* Reports that nothing from l->at on can be read. */
#define DAMAGED(l, rule, ...) (find_damage(l), gt_report((l)->reader, rule, place(l), __VA_ARGS__))

static void find_damage(look *l)
{
    l->damaged = true;
    l->reader->summary.unread_bytes = l->reader->summary.size - l->at;
}

static bool open_generation(look *l, uint64_t number)
{
    struct gt_v2 *v2 = l->v2;
    void *list = v2->index.generations;
    if (!gt_grow(&l->reader->heap, &list, &v2->index.generation_capacity,
                 v2->index.generation_count + 1, sizeof *v2->index.generations))
        return gt_fail_memory(l->reader);
    v2->index.generations = list;
    v2->index.generations[v2->index.generation_count++] = (gt_generation){
        .summary = {.generation = number, .offset = l->at}, .first = v2->index.batch_count};
    l->open = true;
    return true;
}

/* Adds the batch to the current generation, or begins another. */
static bool place_in_generation(look *l, uint64_t number)
{
    if (l->open && last_generation(l)->summary.generation == number)
        return true;
    if (number == 0 || (l->v2->index.generation_count && l->open &&
                        l->reader->summary.version >= GOTRACE_FIRST_GENERATION_END))
        if (!gt_report(l->reader, GOTRACE_RULE_GENERATION_NUMBER, place(l),
                       number == 0
                           ? "a batch is of generation %llu"
                           : "a batch of generation %llu comes before the end of the last one",
                       (unsigned long long)number))
            return false;
    if (l->v2->index.generation_count) {
        gt_generation *last = last_generation(l);
        if (l->reader->summary.version < GOTRACE_FIRST_GENERATION_END) {
            if (number != last->summary.generation + 1 &&
                !gt_report(l->reader, GOTRACE_RULE_GENERATION_NUMBER, place(l),
                           "generation %llu follows generation %llu", (unsigned long long)number,
                           (unsigned long long)last->summary.generation))
                return false;
            last->summary.complete = true;
        } else if (number > last->summary.generation + 1 && !l->open &&
                   (l->reader->incomplete = true) &&
                   !gt_report(l->reader, GOTRACE_RULE_GENERATION_MISSING, place(l),
                              "generation %llu follows generation %llu", (unsigned long long)number,
                              (unsigned long long)last->summary.generation)) {
            return false;
        }
    }
    return open_generation(l, number);
}

/* What is at a place where a batch may begin. */
typedef struct beginning {
    uint64_t number; /* of the generation; 0: there is no batch */
    uint64_t end;    /* of the batch */
    bool ends;       /* it is the end of a generation */
    bool clocks;     /* it may be a batch of clocks */
} beginning;

static bool read_beginning(look *l, uint64_t at, beginning *b)
{
    const int version = l->reader->summary.version;
    uint8_t bytes[MOST_BYTES] = {0};
    gt_v2_header h;
    size_t n;
    *b = (beginning){0};
    if (gt_read_bytes(l->reader, at, bytes, sizeof bytes, &n) < 0)
        return gt_fail(l->reader);
    if (n == 0 || gt_v2_parse_header(bytes, n, version, &h) != GT_HEADER_READ)
        return true;
    b->ends = h.type == GOTRACE_V2_EndOfGeneration;
    b->number = h.generation;
    b->end = at + h.length + h.size;
    b->clocks = bytes[h.length] ==
                (version < GOTRACE_FIRST_SYNC ? GOTRACE_V2_Frequency : GOTRACE_V2_Sync);
    return true;
}

static bool has_kind(const gt_generation *g, gt_batch_kind kind)
{
    return g->kinds & 1U << kind;
}

/* The generation of a batch that begins one, if all others of it have another number. */
static bool find_first_number(look *l, const beginning *next, uint64_t number, uint64_t *found)
{
    beginning after;
    bool alone = l->reader->summary.version < GOTRACE_FIRST_GENERATION_END && number &&
                 next->number == number + 1;
    *found = number;
    if (next->number == 0 || next->number == number || alone)
        return true;
    if (!read_beginning(l, next->end, &after))
        return false;
    if (after.ends || after.number == next->number)
        *found = next->number;
    return true;
}

static bool is_table(gt_batch_kind kind)
{
    return kind == GT_BATCH_STRINGS || kind == GT_BATCH_STACKS || kind == GT_BATCH_SAMPLES;
}

/* The generation of a batch after those of an open one that has another number, or has clocks
 * already. A generation begins with its clocks, and ends with its tables. */
static uint64_t find_number(look *l, const gt_batch *batch, const beginning *next, uint64_t number)
{
    const gt_generation *last = last_generation(l);
    uint64_t here = last->summary.generation;
    bool ends = l->reader->summary.version >= GOTRACE_FIRST_GENERATION_END;
    bool table = is_table(batch->kind);
    bool again = batch->kind == GT_BATCH_SYNC && has_kind(last, GT_BATCH_SYNC);
    if (again && !ends && (number == here + 1 || next->number == here + 1))
        return here + 1;
    if (next->number == here || next->ends)
        return here;
    if (ends)
        return number;
    if (next->number == here + 1 && (number != here + 1 || (table && next->clocks)))
        return here;
    bool at_end = batch->data + batch->size == l->reader->summary.size;
    return at_end && (table || number != here + 1) ? here : number;
}

/* Finds the generation of a batch, which may be altered. */
static bool check_number(look *l, const gt_batch *batch, uint64_t *number)
{
    uint64_t found = *number, recorded = *number;
    if (l->open && last_generation(l)->summary.generation == recorded &&
        (batch->kind != GT_BATCH_SYNC || !has_kind(last_generation(l), GT_BATCH_SYNC)))
        return true;
    beginning next;
    if (!read_beginning(l, batch->data + batch->size, &next))
        return false;
    if (l->open)
        found = find_number(l, batch, &next, recorded);
    else if (!find_first_number(l, &next, recorded, &found))
        return false;
    *number = found;
    return found == recorded ||
           gt_report(l->reader, GOTRACE_RULE_GENERATION_NUMBER, place(l),
                     "a batch of generation %llu is within generation %llu; it is read as one of "
                     "that",
                     (unsigned long long)recorded, (unsigned long long)found);
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
    void *list = v2->index.batches;
    if (v2->index.batch_count >= l->reader->limits.batches) {
        gt_error_limit(&l->reader->error, GOTRACE_LIMIT_BATCHES, place(l),
                       l->reader->limits.batches);
        return gt_fail(l->reader);
    }
    if (!gt_grow(&l->reader->heap, &list, &v2->index.batch_capacity, v2->index.batch_count + 1,
                 sizeof *v2->index.batches))
        return gt_fail_memory(l->reader);
    v2->index.batches = list;
    v2->index.batches[v2->index.batch_count++] = *batch;
    gt_generation *g = last_generation(l);
    g->count++;
    g->kinds |= 1U << batch->kind;
    g->summary.batches++;
    g->summary.bytes += end - l->at;
    /* A time of 0 means none. Source: readGeneration, minTs. */
    if (g->summary.begin == 0 || batch->time < g->summary.begin)
        g->summary.begin = batch->time;
    return true;
}

static void end_generation(look *l)
{
    gotrace_summary *summary = &l->reader->summary;
    gt_generation *g = last_generation(l);
    g->summary.complete = true;
    g->summary.bytes++;
    summary->records++;
    summary->type_records[GOTRACE_V2_EndOfGeneration]++;
    summary->type_bytes[GOTRACE_V2_EndOfGeneration]++;
    l->open = false;
    l->at++;
}

/* Reports that no batch begins here; the n bytes there. */
static bool report_no_batch(look *l, gt_v2_header_result result, const uint8_t *bytes, size_t n)
{
    if (result == GT_HEADER_TOO_LARGE)
        return DAMAGED(l, GOTRACE_RULE_WIRE_VARINT,
                       "a number in the header of a batch exceeds ten bytes or 64 bits");
    if (result == GT_HEADER_CUT_OFF)
        return DAMAGED(l, GOTRACE_RULE_WIRE_TRUNCATED,
                       "the trace is cut off in the header of a batch");
    if (n >= 5 && memcmp(bytes, "go 1.", 5) == 0)
        return DAMAGED(l, GOTRACE_RULE_TRACE_AFTER,
                       "another trace begins here; gotrace repair --all writes each trace to its "
                       "own file");
    return DAMAGED(l, GOTRACE_RULE_BATCH_HEADER, "byte 0x%02x where a batch is expected", *bytes);
}

/* Nothing from l->at on is read, as the text of the program is at that offset. False on failure. */
static bool report_text(look *l, uint64_t offset, const char *quote)
{
    gt_place text = {offset, l->v2->index.batch_count, GOTRACE_NO_OFFSET};
    l->damaged = l->mixed = true;
    l->reader->summary.unread_bytes = l->reader->summary.size - l->at;
    return gt_report(l->reader, GOTRACE_RULE_WIRE_TEXT, text, GT_TEXT_MESSAGE, quote);
}

/* Finds the text of the program at the beginning of a record of the batch, in its size bytes and
 * those that follow. *last: the record before it. NULL if there is none, or if the bytes of the
 * batch are records up to its end. */
static const uint8_t *text_in_records(const struct gt_v2 *v2, const gt_batch *batch, size_t size,
                                      const uint8_t **last)
{
    const uint8_t *p = v2->buffer, *stop = p + batch->size, *text = NULL, *before = p;
    gt_frame frame;
    while (p < stop) {
        if (!text && gt_text_begins(p, v2->buffer + size, false)) {
            text = p;
            *last = before;
        }
        if ((batch->kind == GT_BATCH_EVENTS && !(v2->shapes[*p].flags & GOTRACE_SPEC_TIMED)) ||
            gt_wire_frame_v2(v2->shapes, GT_V2_MAX_STRING, GT_V2_MAX_FRAMES, p, (size_t)(stop - p),
                             &frame) != GT_WIRE_OK)
            return text;
        before = p;
        p += frame.size;
    }
    return NULL;
}

/* No batch begins where the last one ends by its size: the text of the program may be in that,
 * between any two bytes. If so, reports it, and the batch ends before the record that the text is
 * in. False on failure. */
static bool find_text_inside(look *l)
{
    struct gt_v2 *v2 = l->v2;
    gt_batch *batch = v2->index.batch_count ? &v2->index.batches[v2->index.batch_count - 1] : NULL;
    char quote[GT_TEXT_QUOTE];
    size_t size;
    if (!batch || batch->kind == GT_BATCH_EXPERIMENT)
        return true;
    gt_batch longer = *batch; /* the text may end after the batch */
    longer.size += longer.size + GT_TEXT_LOOK <= GT_V2_MAX_BATCH ? GT_TEXT_LOOK : 0;
    if (!gt_v2_read_batch(l->reader, v2, &longer, &size))
        return false;
    const uint8_t *last = v2->buffer, *found = text_in_records(v2, batch, size, &last);
    const uint8_t *text = found;
    if (!found)
        return true;
    while (text > last + 1 && gt_text_char(text - 1, text) > 0)
        text--;
    batch->size = (uint32_t)((text < found ? last : found) - v2->buffer);
    gt_text_quote(text, v2->buffer + size, quote);
    l->at = batch->data + batch->size;
    return report_text(l, batch->data + (uint64_t)(text - v2->buffer), quote);
}

/* Reports the text of the program where a batch is expected; first: its first byte. If there is
 * none, l->mixed remains false. False on failure. */
static bool find_text(look *l, uint8_t first)
{
    char quote[GT_TEXT_QUOTE] = "";
    bool ends = first == GOTRACE_V2_EndOfGeneration && l->open &&
                l->reader->summary.version >= GOTRACE_FIRST_GENERATION_END;
    if (first == GOTRACE_V2_EventBatch || ends || gt_text_char(&first, &first + 1) == 0)
        return true;
    if (!gt_text_at(l->reader, l->at, quote))
        return false;
    return !*quote || (find_text_inside(l) && (l->mixed || report_text(l, l->at, quote)));
}

/* Reads the header of a batch, or the end of a generation. */
static bool read_batch(look *l)
{
    gotrace_summary *summary = &l->reader->summary;
    gt_v2_header h;
    size_t n;
    const uint8_t *bytes = peek_header(l, &n);
    if (!bytes)
        return false;
    if (!find_text(l, *bytes))
        return false;
    if (l->mixed)
        return true;
    gt_v2_header_result result = gt_v2_parse_header(bytes, n, summary->version, &h);
    bool ends = h.type == GOTRACE_V2_EndOfGeneration;
    if (result != GT_HEADER_READ || (ends && !l->open))
        return find_text_inside(l) && (l->mixed || report_no_batch(l, result, bytes, n));
    if (ends) {
        end_generation(l);
        return true;
    }
    if (h.size > GT_V2_MAX_BATCH)
        return DAMAGED(l, GOTRACE_RULE_BATCH_HEADER, "the size of a batch is %llu bytes",
                       (unsigned long long)h.size);
    uint64_t data = l->at + h.length, end = data + h.size;
    if (end > summary->size)
        return DAMAGED(l, GOTRACE_RULE_WIRE_TRUNCATED,
                       "the trace is cut off: a batch of %llu byte%s has %llu left",
                       (unsigned long long)h.size, gt_plural(h.size),
                       (unsigned long long)(summary->size - data));
    bool experiment = h.type == GOTRACE_V2_ExperimentalBatch;
    uint8_t first = h.size && h.length < n ? bytes[h.length] : 0;
    gt_batch batch = {
        .offset = l->at,
        .data = data,
        .m = h.thread,
        .time = h.time,
        .size = (uint32_t)h.size,
        .next = GT_NONE,
        .kind = (uint8_t)kind_of(summary->version, experiment, first, (uint32_t)h.size)};
    if (!check_number(l, &batch, &h.generation) || !place_in_generation(l, h.generation))
        return false;
    if (experiment && h.experiment == 0 &&
        !gt_report(l->reader, GOTRACE_RULE_BATCH_EVENT, place(l),
                   "a batch of experiment 0, which does not exist"))
        return false;
    summary->records++;
    summary->type_records[h.type]++;
    summary->type_bytes[h.type] += experiment ? end - l->at : h.length;
    summary->batches++;
    if (!add_batch(l, &batch, end))
        return false;
    l->at = end;
    return true;
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
    bool tables = has_kind(g, GT_BATCH_STRINGS) || has_kind(g, GT_BATCH_STACKS);
    *cut = early && !tables && !has_kind(g, GT_BATCH_SYNC);
    for (size_t i = g->first; i < g->first + g->count && !early && !tables && !*cut; i++)
        if (v2->index.batches[i].kind == GT_BATCH_EVENTS &&
            !find_reference(l->reader, v2, &v2->index.batches[i], cut))
            return false;
    return true;
}

/* ---- the end --------------------------------------------------------------------------------- */

static bool check_end(look *l)
{
    struct gt_v2 *v2 = l->v2;
    if (v2->index.batch_count == 0)
        return l->mixed || gt_report(l->reader, GOTRACE_RULE_TRACE_EMPTY, GT_AT(l->at),
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

bool gt_v2_index(gotrace_reader *reader)
{
    struct gt_v2 *v2 = gt_calloc(&reader->heap, 1, sizeof *v2);
    if (!v2)
        return gt_fail_memory(reader);
    reader->v2 = v2;
    gt_v2_shapes_init(v2->shapes, reader->summary.version);
    look l;
    l = (look){.reader = reader, .v2 = v2, .at = GT_HEADER_SIZE};
    while (l.at < reader->summary.size && !l.damaged)
        if (!read_batch(&l))
            return false;
    reader->summary.generations = v2->index.generation_count;
    reader->summary.writer = "Go";
    return gt_v2_find_clocks(reader) && check_end(&l);
}
