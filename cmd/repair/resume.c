/*
 * resume.c - find the rest of a batch of events after damage inside it.
 *
 * A damaged record hides where the next one begins, and v1 batches have no sizes. But parsing
 * from a wrong offset soon falls into step with the real records, and a correct parse ends exactly
 * where the next batch begins, or after many records at other damage. So each offset is checked for
 * a chain of plausible records that leads there, and the first offset into which several other
 * chains lead is taken. The lost records are assumed to have taken no time. */
#include <stdlib.h>
#include <string.h>

#include "formats/common/idmap.h"
#include "cmd/repair/repair.h"

enum {
    WINDOW = 1 << 20,   /* bytes searched before the next batch */
    ENOUGH_RECORDS = 4, /* records in a chain; fewer can be chance */
    ENOUGH_BROKEN = 32, /* the same, of a chain that ends at other damage */
    ENOUGH_JOINED = 3,  /* v1: chains that lead into an offset */
    LEAST_WAYS = 2,     /* v2: the same, with the one that begins there */
    MOST_STACKS = 1 << 24,
};

/* The chain of plausible records from an offset on. */
typedef struct step {
    uint64_t ticks;   /* sum of its time deltas, which may be negative */
    uint32_t size;    /* of the record at this offset; 0: no chain */
    uint32_t records; /* number of records in the chain */
    uint32_t joined;  /* number of earlier offsets whose chain leads here */
    bool whole;       /* the chain leads to the next batch */
    bool text;        /* this is in the text of the program */
} step;

/* Bounds for plausible records, from the rest of the trace. */
typedef struct bounds {
    uint64_t low, high, span; /* times */
    uint64_t goroutine;       /* highest id */
    uint64_t events;
} bounds;

/* Until 1.6: the sequence numbers of the trace's events, each of which has another one. */
typedef struct numbers {
    uint8_t *used; /* for each number from `low` on, whether an event has it */
    size_t capacity;
    uint64_t low, count;
    uint64_t searched; /* number of numbers looked up */
} numbers;

static bounds bounds_of(const repair *r)
{
    bounds k = {.low = UINT64_MAX};
    for (size_t i = 0; i < r->count; i++) {
        const repair_batch *b = &r->batches[i];
        if (b->dropped)
            continue;
        k.low = b->time < k.low ? b->time : k.low;
        k.high = b->last > k.high ? b->last : k.high;
        k.goroutine = b->goroutine > k.goroutine ? b->goroutine : k.goroutine;
        k.events += b->events;
    }
    k.span = k.high > k.low ? k.high - k.low : 0;
    return k;
}

/* Whether a batch of events may have a record with that first byte. */
static bool may_begin(const repair *r, uint8_t byte)
{
    if (!repair_is_v2(r))
        return (byte & 0x3f) != GOTRACE_V1_Batch;
    const gotrace_event_spec *spec = r->specs[byte];
    return spec && (spec->flags & GOTRACE_SPEC_TIMED) && byte != GOTRACE_V2_ClockSnapshot;
}

static bool is_plausible(const repair *r, const bounds *k, const repair_record *record)
{
    const gotrace_arg_spec *args[GOTRACE_MAX_ARGS];
    gotrace_event_args(record->spec, r->version, args);
    for (size_t n = 0; n < record->arg_count; n++) {
        uint64_t v = record->args[n];
        switch (args[n]->kind) {
        case GOTRACE_ARG_DSEQ:
            if (v / 4 > k->events)
                return false;
            break;
        case GOTRACE_ARG_DT:
            if (v > k->span && (repair_is_v2(r) || 0 - v > k->span)) /* v1: it may be negative */
                return false;
            break;
        case GOTRACE_ARG_GOROUTINE:
            if (v / 2 > k->goroutine && !repair_is_v2(r)) /* ids are not known there */
                return false;
            break;
        case GOTRACE_ARG_STACK:
            if (v > MOST_STACKS)
                return false;
            break;
        default: break;
        }
    }
    return true;
}

/* Mark the text of the program. */
static void mark_text(const repair *r, size_t from, size_t end, step *steps)
{
    for (size_t at = from, next; at < end; at = next) {
        const uint8_t *p = r->bytes + at;
        size_t size = gt_text_run(p, r->bytes + end);
        bool text = size > 0 && repair_is_text(r, p, r->size);
        next = at + size + (size == 0);
        for (size_t i = at; i < next; i++)
            steps[i - from].text = text;
    }
}

/* Compute the chain from each offset in [from, end). The work is limited: input crafted to be
 * parsed far from every offset gets no chains below some offset. */
static void find_chains(const repair *r, const bounds *k, size_t from, size_t end, step *steps)
{
    repair_record record;
    uint64_t spent = 0;
    mark_text(r, from, end, steps);
    steps[end - from] = (step){.size = 1, .whole = true};
    for (size_t at = end; at-- > from;) {
        step *s = &steps[at - from];
        bool text = s->text;
        *s = (step){.size = 0};
        if (text || spent / REPAIR_SEARCH_FACTOR > end - from || !may_begin(r, r->bytes[at]))
            continue;
        bool whole = repair_record_at(r->version, r->bytes + at, r->bytes + end, &record);
        spent += record.size;
        if (!whole || !is_plausible(r, k, &record))
            continue;
        const step *next = s + record.size;
        s->size = (uint32_t)record.size;
        s->whole = next->whole;
        s->records = next->records + 1;
        s->ticks = next->ticks;
        if (record.spec->flags & GOTRACE_SPEC_TIMED)
            s->ticks += record.args[r->version < 7];
    }
    for (size_t at = from; at < end; at++) {
        const step *s = &steps[at - from];
        if (s->size > 0)
            steps[at - from + s->size].joined += s->joined + 1;
    }
}

/* Make a batch of the same proc of the records from `at` on. */
static repair_batch rest_of(const repair *r, const repair_batch *b, size_t at, size_t end)
{
    repair_batch rest = {.offset = at,
                         .body = at,
                         .end = end,
                         .generation = b->generation,
                         .owner = b->owner,
                         .time = b->last,
                         .last = b->last,
                         .kind = PARTS_TABLES,
                         .resumed = true,
                         .changed = true};
    const uint8_t *p = r->bytes + at, *stop = r->bytes + end;
    repair_record record;
    for (; p < stop && repair_record_at(r->version, p, stop, &record); p += record.size) {
        if (!repair_is_v2(r))
            repair_note_record(r, &rest, &record);
        if (!(record.spec->flags & GOTRACE_SPEC_TIMED))
            continue;
        rest.last += record.args[r->version < 7];
        rest.events++;
        if (rest.kind != PARTS_EVENTS)
            rest.kind = !repair_is_v2(r) && record.spec->code == GOTRACE_V1_CPUSample
                            ? PARTS_SAMPLES
                            : PARTS_EVENTS;
    }
    return rest;
}

/* ---- sequence numbers, until 1.6 ------------------------------------------------------------- */

/* Call for each number of a batch that begins with `seq`, until it returns false. Returns the last
 * one. */
typedef bool number_fn(numbers *n, uint64_t number);

static uint64_t each_number(const repair *r, numbers *n, const repair_batch *b, number_fn *each)
{
    const uint8_t *p = r->bytes + b->body, *end = r->bytes + b->end;
    uint64_t seq = b->seq;
    repair_record record;
    for (; p < end && repair_read_record(r, p, end, &record); p += record.size) {
        if (!(record.spec->flags & GOTRACE_SPEC_TIMED))
            continue;
        seq += record.args[0];
        bool is_exit = record.spec->code == GOTRACE_V1_GoSysExit; /* has its real number too */
        if (!each(n, seq) || (is_exit && !each(n, record.args[3])))
            return UINT64_MAX;
    }
    return seq;
}

static bool take_number(numbers *n, uint64_t number)
{
    if (number - n->low < n->count)
        n->used[number - n->low] = true;
    return true;
}

static bool is_free(numbers *n, uint64_t number)
{
    n->searched++;
    return number - n->low >= n->count || !n->used[number - n->low];
}

/* Collect the numbers of all batches. */
static bool collect_numbers(repair *r, const bounds *k, numbers *n)
{
    *n = (numbers){.low = UINT64_MAX, .count = 4 * k->events + 1};
    if (r->version >= 7)
        return true;
    if (!parts_grow(r->memory, &n->used, &n->capacity, (size_t)n->count, 1, r->error))
        return false;
    memset(n->used, 0, (size_t)n->count);
    for (size_t i = 0; i < r->count; i++)
        if (!r->batches[i].dropped && r->batches[i].seq < n->low)
            n->low = r->batches[i].seq;
    for (size_t i = 0; i < r->count; i++)
        if (!r->batches[i].dropped)
            each_number(r, n, &r->batches[i], take_number);
    return true;
}

/* Number the rest of a batch whose events have numbers up to `last`: so that no other event has one
 * of these numbers. */
static uint64_t number_rest(const repair *r, numbers *n, repair_batch *rest, uint64_t last)
{
    for (rest->seq = last; n->searched / REPAIR_SEARCH_FACTOR < n->count; rest->seq++)
        if (each_number(r, n, rest, is_free) != UINT64_MAX)
            return each_number(r, n, rest, take_number);
    rest->seq = last;
    return each_number(r, n, rest, take_number);
}

/* ---- the rest of a batch --------------------------------------------------------------------- */

/* Whether the chain is long enough. */
static bool is_chain(const step *s)
{
    return s->size > 0 && s->records >= (s->whole ? ENOUGH_RECORDS : ENOUGH_BROKEN);
}

/* Whether the chain is not chance. begun: the number of chains that begin up to its offset. In v2,
 * where the batch's size shows where they must end, it is the first one into which most lead. */
static bool is_certain(const repair *r, const step *s, uint32_t begun)
{
    uint32_t ways = s->joined + 1;
    return is_chain(s) &&
           (repair_is_v2(r) ? ways >= LEAST_WAYS && 5 * ways >= 4 * begun : ways > ENOUGH_JOINED);
}

static size_t end_of_chain(const step *steps, size_t at, size_t count)
{
    while (at < count && steps[at].size > 0)
        at += steps[at].size;
    return at;
}

static bool append(repair *r, const repair_batch *b)
{
    if (!parts_grow(r->memory, &r->batches, &r->capacity, r->count + 1, sizeof *b, r->error))
        return false;
    r->batches[r->count++] = *b;
    return true;
}

/* Whether the chain ends by `until`. If it does not because the records before the damage, of which
 * the last ones may be misread, end too late, it begins earlier; mend.c corrects their times. */
static bool fits_before(const step *s, repair_batch *before, uint64_t until)
{
    if ((int64_t)s->ticks <= 0 || (before->last <= until && s->ticks <= until - before->last))
        return true;
    if (before->time > until || s->ticks > until - before->time)
        return false;
    before->last = until - s->ticks;
    return true;
}

/* Append what is found of the rest of a batch between its end and the next batch, at `end`. The
 * last event must not be later than `until`, when the proc's next batch begins. */
static bool resume(repair *r, const bounds *k, numbers *n, const repair_batch *b, size_t end,
                   uint64_t until)
{
    size_t from = end - b->end > WINDOW ? end - WINDOW : b->end, count = end - from, capacity = 0;
    step *steps = NULL;
    repair_batch rest = *b;
    if (!parts_grow(r->memory, &steps, &capacity, count + 1, sizeof *steps, r->error))
        return false;
    find_chains(r, k, from, end, steps);
    bool done = true;
    uint64_t last = r->version < 7 ? each_number(r, n, b, take_number) : 0;
    uint32_t begun = 0;
    for (size_t at = 0, next; done && at < count; at = next) {
        const step *s = &steps[at];
        next = at + 1;
        begun += is_chain(s);
        if (!is_certain(r, s, begun) || !fits_before(s, &rest, until))
            continue;
        next = end_of_chain(steps, at, count);
        begun = 0;
        rest = rest_of(r, &rest, from + at, from + next);
        if (r->version < 7)
            last = number_rest(r, n, &rest, last);
        done = append(r, &rest);
    }
    parts_drop(r->memory, steps, capacity, sizeof *steps);
    return done;
}

static int compare_offsets(const void *a, const void *b)
{
    const repair_batch *x = a, *y = b;
    return x->offset < y->offset ? -1 : x->offset > y->offset;
}

/* Where the rest of a batch ends at the latest. next: where the next batch begins. */
static size_t end_of_rest(const repair *r, const repair_batch *b, size_t next)
{
    return repair_is_v2(r) && b->claimed < next ? b->claimed : next;
}

/* Append the rest of a batch, and store the batch's time as the deadline of the proc's previous
 * batch. */
static bool resume_batch(repair *r, const bounds *k, numbers *n, const repair_batch *b, size_t end,
                         idmap *deadlines)
{
    const uint64_t *next = idmap_find(deadlines, b->owner);
    end = end_of_rest(r, b, end);
    if (b->end < end && !resume(r, k, n, b, end, next ? *next : k->high + k->span))
        return false;
    if (b->kind != PARTS_EVENTS)
        return true;
    uint64_t *deadline = idmap_insert(deadlines, b->owner);
    if (!deadline) {
        fill_error(r->error, GOTRACE_RULE_SYSTEM_MEMORY, GOTRACE_NO_OFFSET, "out of memory");
        return false;
    }
    *deadline = b->time;
    return true;
}

bool repair_resume(repair *r)
{
    size_t count = r->count;
    idmap deadlines;
    numbers n;
    idmap_init(&deadlines, sizeof(uint64_t));
    const bounds k = bounds_of(r);
    bool done = collect_numbers(r, &k, &n);
    size_t end = r->size; /* offset of the next batch that is not dropped */
    for (size_t i = count; i-- > 0 && done;) {
        const repair_batch b = r->batches[i];
        if (b.dropped)
            continue;
        done = resume_batch(r, &k, &n, &b, end, &deadlines);
        end = b.offset;
    }
    idmap_free(&deadlines);
    parts_drop(r->memory, n.used, n.capacity, 1);
    if (r->count > count)
        qsort(r->batches, r->count, sizeof *r->batches, compare_offsets);
    return done;
}
