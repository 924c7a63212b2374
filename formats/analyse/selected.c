/* selected.c - a pass that finds the goroutines of a selection. */
#include "formats/analyse/selected.h"

#include <stdlib.h>

#include "formats/analyse/selector.h"
#include "formats/common/vector.h"

/* Ids are mostly consecutive: a set of many has pages of bits. */
enum { WORDS = 8, PAGE_BITS = 64 * WORDS };

typedef struct page {
    uint64_t bits[WORDS];
} page;

typedef struct run {
    selector selector;
    stacks *names;
    feed feed;
    idmap pages; /* by id / PAGE_BITS */
    uint64_t count;
    select_range *span; /* NULL: not needed */
    bool spans;         /* it is set */
    bool failed;
} run;

static void add(void *ctx, uint64_t id)
{
    run *r = ctx;
    page *p = idmap_insert(&r->pages, id / PAGE_BITS);
    if (!p) {
        r->failed = true;
        return;
    }
    uint64_t *word = &p->bits[id % PAGE_BITS / 64], bit = (uint64_t)1 << id % 64;
    r->count += !(*word & bit);
    *word |= bit;
}

static bool has_failed(const run *r)
{
    return r->failed || (r->names && r->names->failed) || r->selector.failed;
}

/* The event is in the time range. */
static void extend_span(run *r, const gotrace_event *e)
{
    if (!selector_is_there(&r->selector, e))
        return;
    if (!r->spans)
        *r->span = (select_range){e->time, e->time};
    r->spans = true;
    r->span->from = e->time < r->span->from ? e->time : r->span->from;
    if (e->time >= r->span->until)
        r->span->until = e->time + (e->time < INT64_MAX);
}

static void read_events(run *r)
{
    const gotrace_event *e;
    while (feed_next(&r->feed, &e) == GOTRACE_EVENT) {
        if (e->time >= r->selector.range.until)
            return;
        if (e->time >= r->selector.range.from && !r->selector.add)
            selector_add_goroutines(&r->selector, add, r);
        if (r->span && e->time >= r->selector.range.from)
            extend_span(r, e);
        selector_event(&r->selector, e);
        if (has_failed(r) || r->selector.too_hard)
            return;
    }
}

/* Adds the next id to the ranges; false if memory is refused. */
static bool extend(select_ids *ids, size_t *room, uint64_t id)
{
    if (ids->count > 0 && ids->ranges[ids->count - 1][1] + 1 == id) {
        ids->ranges[ids->count - 1][1] = id;
        return true;
    }
    uint64_t(*ranges)[2] = vector_room(ids->ranges, room, ids->count, sizeof *ranges);
    if (!ranges)
        return false;
    ids->ranges = ranges;
    ranges[ids->count][0] = ranges[ids->count][1] = id;
    ids->count++;
    return true;
}

static bool make_ranges(const run *r, select_ids *ids)
{
    uint64_t *keys = idmap_sorted_keys(&r->pages);
    size_t room = 0;
    bool done = keys || r->pages.count == 0;
    for (size_t i = 0; keys && done && i < r->pages.count; i++) {
        const page *p = idmap_find(&r->pages, keys[i]);
        for (uint64_t bit = 0; done && bit < PAGE_BITS; bit++)
            if (p->bits[bit / 64] >> bit % 64 & 1)
                done = extend(ids, &room, keys[i] * PAGE_BITS + bit);
    }
    free(keys);
    return done;
}

bool selected_goroutines(gotrace_reader *reader, select_job *job, select_ids *ids,
                         select_range *span)
{
    run r = {.span = span};
    *ids = (select_ids){0};
    /* If indexing fails, reading ends at once. */
    gotrace_reader_index(reader);
    feed_init(&r.feed, reader, false, 1);
    idmap_init(&r.pages, sizeof(page));
    if (job->what->given & SELECT_BIT(SELECT_FUNCTION)) {
        r.names = stacks_new(STACKS_BY_ADDRESS);
        r.failed = !r.names;
        if (r.names)
            stacks_begin(r.names, &r.feed);
    }
    selector_init(&r.selector, job, gotrace_reader_summary(reader)->version, &r.feed, r.names);
    if (!r.failed)
        read_events(&r);
    bool done = !has_failed(&r) && make_ranges(&r, ids);
    selector_end(&r.selector, job);
    job->count = r.count;
    job->failed = job->failed || !done;
    idmap_free(&r.pages);
    stacks_free(r.names);
    feed_free(&r.feed);
    return done;
}
