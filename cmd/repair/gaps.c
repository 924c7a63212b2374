/*
 * gaps.c - when what is lost was recorded.
 *
 * Of a damaged batch that is what its owner recorded until its next batch; what continues after the
 * damage is there, but earlier than it was (resume.c). Of whole batches between two others in the
 * file, owners and times are lost; tracers write batches about as they are filled, so they are
 * taken to be of the time of those two. What is after the end of the file is later than its last
 * batch, except what other owners had not written yet.
 *
 * In traces of a program that communicates on two processors, with a byte inverted or 4 KiB zeroed
 * (16 cases; gaps are 1 % of the time), 95 % of the events that are then missing, or at another
 * time, are in the gaps of go1.19, and 68 % in those of go1.26; cut off, 99 % of both.
 */
#include "cmd/repair/repair.h"

static bool is_timed(const repair_batch *b)
{
    return b->kind == PARTS_EVENTS && !b->dropped && !b->is_experiment && !b->tables &&
           b->last >= b->time;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t most(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

typedef struct search {
    const repair *r;
    uint64_t spent; /* batches that were looked at */
} search;

/* Whether there may be another search: of a file with as many gaps as batches, each would look at
 * all of them. */
static bool may_search(const search *s)
{
    return s->spent / REPAIR_SEARCH_FACTOR <= s->r->count;
}

/* When a generation ended, and the next one began. v1 has one. */
static uint64_t end_of(search *s, uint64_t generation)
{
    const repair *r = s->r;
    uint64_t last = 0, next = UINT64_MAX;
    for (const repair_batch *b = r->batches; b < r->batches + r->count; b++, s->spent++) {
        if (is_timed(b) && b->generation == generation)
            last = most(last, b->last);
        if (is_timed(b) && b->generation > generation)
            next = least(next, b->time);
    }
    return next == UINT64_MAX ? last : most(last, next);
}

/* When the owner of a batch recorded its next one, or else its generation ended. */
static uint64_t next_of(search *s, const repair_batch *b)
{
    const repair *r = s->r;
    if (!may_search(s))
        return b->last;
    for (const repair_batch *n = b + 1; n < r->batches + r->count; n++, s->spent++)
        if (is_timed(n) && !n->resumed && n->generation == b->generation && n->owner == b->owner &&
            n->time >= b->last)
            return n->time;
    return end_of(s, b->generation);
}

/* Bytes after the batch `before` are lost; b: the next one with events, NULL: there is none. whole:
 * they may be those of other batches. */
static void report(search *s, const repair_batch *before, const repair_batch *b, bool whole)
{
    uint64_t begin = before->resized ? before->time : before->last, end = before->last;
    if (before->cut || before->resized)
        end = next_of(s, before);
    if (!b) {
        end = UINT64_MAX;
    } else if (whole && !b->resumed) {
        begin = least(begin, least(before->time, b->time));
        end = most(end, most(before->last, b->last));
    }
    s->r->job->lost(s->r->job->ctx, begin, end);
}

/* Whether the trace ends with what an unfinished one lacks: tables in v1, a record in 1.26. */
static bool is_ended(const repair *r, const repair_batch *last)
{
    return repair_is_v2(r) ? r->version < GOTRACE_FIRST_GENERATION_END || last->kind == PARTS_END
                           : !is_timed(last);
}

void repair_report_gaps(const repair *r)
{
    const repair_batch *before = NULL, *timed = NULL; /* b was the last one */
    search s = {.r = r};
    size_t at = 0;
    bool lost = false, whole = false;
    if (!r->job->lost || r->quiet)
        return;
    for (size_t i = 0; i <= r->count; i++) {
        const repair_batch *b = i < r->count ? &r->batches[i] : NULL;
        if (b && b->dropped)
            continue;
        const size_t next = b ? b->offset : r->size;
        /* Between tables, and in one, no event is lost. */
        if (before && (next > at || before->cut || before->resized) &&
            (is_timed(before) || (b && is_timed(b) && !before->cut))) {
            lost = true;
            whole |= !before->cut || next > before->claimed || before->claimed > r->size;
        }
        lost |= !b && before && !is_ended(r, before);
        if (timed && lost && (!b || is_timed(b)))
            report(&s, timed, b, whole);
        if (!b || is_timed(b)) {
            timed = b;
            lost = whole = false;
        }
        before = b;
        at = b ? b->end : r->size;
    }
}
