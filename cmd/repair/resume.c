/*
 * resume.c - v1: the rest of a batch, behind damage within it.
 *
 * v1 has no sizes, so that a damaged record hides where the next one begins. But records that are
 * read from a wrong place soon fall into step with the right ones, and what is read rightly comes
 * out exactly where the next batch begins. So the bytes up to there are looked at from behind: from
 * which of them do plausible records lead to the end? Of these places, the first one into which
 * others lead too is believed. What was lost before it is not known to have taken any time.
 */
#include <stdlib.h>

#include "formats/common/idmap.h"
#include "cmd/repair/repair.h"

enum {
    WINDOW = 1 << 20,   /* bytes that are looked at, before the next batch */
    ENOUGH_RECORDS = 4, /* fewer may come about by chance */
    ENOUGH_JOINED = 3,  /* places that lead into one */
    MOST_STACKS = 1 << 24,
};

/* What records lead on from a place to the end. */
typedef struct step {
    uint64_t ticks;   /* that they take together */
    uint32_t size;    /* of the record here; 0: no way leads on */
    uint32_t records; /* until the end */
    uint32_t joined;  /* places before it that lead here */
} step;

/* Facts from the rest of the trace, with which candidates are compared. */
typedef struct bounds {
    uint64_t low, high, span; /* of time */
    uint64_t goroutine;       /* the highest id */
} bounds;

static bounds bounds_of(const repair *r)
{
    bounds k = {.low = UINT64_MAX};
    const gotrace_arg_spec *args[GOTRACE_MAX_ARGS];
    repair_record record;
    for (size_t i = 0; i < r->count; i++) {
        const repair_batch *b = &r->batches[i];
        if (b->dropped)
            continue;
        k.low = b->time < k.low ? b->time : k.low;
        k.high = b->last > k.high ? b->last : k.high;
        const uint8_t *p = r->bytes + b->body, *end = r->bytes + b->end;
        for (; p < end && repair_record_at(r->version, p, end, &record); p += record.size) {
            gotrace_event_args(record.spec, r->version, args);
            for (size_t n = 0; n < record.arg_count; n++)
                if (args[n]->kind == GOTRACE_ARG_GOROUTINE && record.args[n] > k.goroutine)
                    k.goroutine = record.args[n];
        }
    }
    k.span = k.high > k.low ? k.high - k.low : 0;
    return k;
}

static bool is_plausible(const repair *r, const bounds *k, const repair_record *record)
{
    const gotrace_arg_spec *args[GOTRACE_MAX_ARGS];
    if (record->spec->code == GOTRACE_V1_Batch)
        return false;
    gotrace_event_args(record->spec, r->version, args);
    for (size_t n = 0; n < record->arg_count; n++) {
        uint64_t v = record->args[n];
        switch (args[n]->kind) {
        case GOTRACE_ARG_DT:
            if (v > k->span)
                return false;
            break;
        case GOTRACE_ARG_GOROUTINE:
            if (v / 2 > k->goroutine)
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

/* For each place from `from` on, how it leads to `end`, if it does. What is made so that records
 * are read far and in vain from every place leads nowhere, from some place on. */
static void lead(const repair *r, const bounds *k, size_t from, size_t end, step *steps)
{
    repair_record record;
    uint64_t spent = 0;
    steps[end - from] = (step){.size = 1};
    for (size_t at = end; at-- > from;) {
        step *s = &steps[at - from];
        *s = (step){.size = 0};
        if (spent / REPAIR_PATIENCE > end - from)
            continue;
        bool whole = repair_record_at(r->version, r->bytes + at, r->bytes + end, &record);
        spent += record.size;
        if (!whole || !is_plausible(r, k, &record))
            continue;
        const step *next = s + record.size;
        if (next->size == 0)
            continue;
        s->size = (uint32_t)record.size;
        s->records = next->records + 1;
        s->ticks = next->ticks;
        if (record.spec->flags & GOTRACE_SPEC_TIMED)
            s->ticks += record.args[0];
    }
    for (size_t at = from; at < end; at++) {
        const step *s = &steps[at - from];
        if (s->size > 0)
            steps[at - from + s->size].joined += s->joined + 1;
    }
}

/* The batch goes on from the place found: the records there make one of the same proc. */
static repair_batch rest_of(const repair *r, const repair_batch *b, size_t at, size_t end)
{
    repair_batch rest = {.offset = at,
                         .body = at,
                         .end = end,
                         .owner = b->owner,
                         .time = b->last,
                         .last = b->last,
                         .kind = PARTS_TABLES,
                         .resumed = true,
                         .changed = true};
    const uint8_t *p = r->bytes + at, *stop = r->bytes + end;
    repair_record record;
    for (; p < stop && repair_record_at(r->version, p, stop, &record); p += record.size) {
        if (!(record.spec->flags & GOTRACE_SPEC_TIMED))
            continue;
        rest.last += record.args[0];
        rest.events++;
        if (rest.kind != PARTS_EVENTS)
            rest.kind = record.spec->code == GOTRACE_V1_CPUSample ? PARTS_SAMPLES : PARTS_EVENTS;
    }
    return rest;
}

/* Look for the rest of a batch, in the bytes after it that no other one has, up to end. The rest
 * has to be over when the proc's next batch begins, at until. */
static bool resume(repair *r, const bounds *k, const repair_batch *b, size_t end, uint64_t until,
                   repair_batch *rest)
{
    size_t from = end - b->end > WINDOW ? end - WINDOW : b->end, capacity = 0;
    step *steps = NULL;
    rest->end = 0;
    if (!parts_grow(r->memory, &steps, &capacity, end - from + 1, sizeof *steps, r->error))
        return false;
    lead(r, k, from, end, steps);
    for (size_t at = from; at < end; at++) {
        const step *s = &steps[at - from];
        if (s->size == 0 || s->joined < ENOUGH_JOINED || s->records < ENOUGH_RECORDS)
            continue;
        if (s->ticks > 0 && (b->last > until || s->ticks > until - b->last))
            continue;
        *rest = rest_of(r, b, at, end);
        break;
    }
    parts_drop(r->memory, steps, capacity, sizeof *steps);
    return true;
}

static int compare_offsets(const void *a, const void *b)
{
    const repair_batch *x = a, *y = b;
    return x->offset < y->offset ? -1 : x->offset > y->offset;
}

/* Append the rest of a batch, if it has one, and note when the batch begins. */
static bool resume_batch(repair *r, const bounds *k, const repair_batch *b, size_t end,
                         idmap *deadlines)
{
    const uint64_t *next = idmap_find(deadlines, b->owner);
    repair_batch rest = {.end = 0};
    if (b->end < end && !resume(r, k, b, end, next ? *next : k->high + k->span, &rest))
        return false;
    if (rest.end != 0) {
        if (!parts_grow(r->memory, &r->batches, &r->capacity, r->count + 1, sizeof rest, r->error))
            return false;
        r->batches[r->count++] = rest;
    }
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
    /* Until 1.6 all events are numbered, across all procs: how many are lost would have to be
     * known. */
    if (repair_is_v2(r) || r->version < 7)
        return true;
    idmap deadlines;
    idmap_init(&deadlines, sizeof(uint64_t));
    bool done = true;
    const bounds k = bounds_of(r);
    size_t end = r->size; /* where the next batch begins that is not dropped */
    for (size_t i = count; i-- > 0 && done;) {
        const repair_batch b = r->batches[i];
        if (b.dropped)
            continue;
        done = resume_batch(r, &k, &b, end, &deadlines);
        end = b.offset;
    }
    idmap_free(&deadlines);
    if (r->count > count)
        qsort(r->batches, r->count, sizeof *r->batches, compare_offsets);
    return done;
}
