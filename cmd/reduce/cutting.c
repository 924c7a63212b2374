/*
 * cutting.c - leave out time and goroutines of a trace by cut, whose result is sound.
 *
 * Not only of sound ones: what makes a program fail is often still there.
 */
#include <stdlib.h>
#include <string.h>

#include "cmd/cut/cut.h"
#include "cmd/reduce/reduce.h"

typedef struct buffer {
    uint8_t *bytes;
    size_t size, capacity;
} buffer;

static bool put_bytes(void *ctx, const void *bytes, size_t size)
{
    buffer *b = ctx;
    if (size > b->capacity - b->size) /* larger than the best trace: of no use */
        return false;
    memcpy(b->bytes + b->size, bytes, size);
    b->size += size;
    return true;
}

/* Opens the best trace, and calls fn with a reader of it. */
typedef void (*with_reader)(void *ctx, gotrace_source *source, gotrace_reader *reader);

static void read_best(const reduce *r, with_reader fn, void *ctx)
{
    gotrace_config config = *r->job->config;
    gotrace_source *source = NULL;
    gotrace_reader *reader = NULL;
    gotrace_error error = GOTRACE_INIT(gotrace_error);
    config.on_problem = NULL;
    config.on_progress = NULL;
    uint8_t *copy = malloc(r->best->size + 1);
    if (copy)
        memcpy(copy, r->best->bytes, r->best->size);
    if (copy && gotrace_source_memory(copy, r->best->size, &config, &source, &error) >= 0 &&
        gotrace_reader_open(source, &config, &reader, &error) >= 0)
        fn(ctx, source, reader);
    gotrace_reader_close(reader);
    gotrace_source_close(source);
    free(copy);
}

/* A cut of the best trace. */
typedef struct attempt {
    reduce *r;
    select_range range;
    const select_ids *goroutines;
    bool taken;
} attempt;

static void try_cut(void *ctx, gotrace_source *source, gotrace_reader *reader)
{
    attempt *a = ctx;
    static const selection everything;
    gotrace_config config = *a->r->job->config;
    config.on_problem = NULL;
    config.on_progress = NULL;
    buffer made = {.bytes = malloc(a->r->best->size + 1), .capacity = a->r->best->size};
    out to;
    gotrace_error error = GOTRACE_INIT(gotrace_error);
    cut_result result = {.count = 0};
    if (made.bytes && out_init(&to, put_bytes, &made)) {
        cut_job job = {.source = source,
                       .reader = reader,
                       .config = &config,
                       .what = &everything,
                       .range = a->range,
                       .goroutines = a->goroutines,
                       .to = &to};
        bool done = cut_write(&job, &result, &error) >= 0 && out_flush(&to);
        if (done && result.count > 0 && made.size < a->r->best->size)
            a->taken = reduce_try(a->r, made.bytes, made.size);
        out_free(&to);
    }
    free(made.bytes);
}

static bool cut_range_of(reduce *r, int64_t from, int64_t until)
{
    attempt a = {.r = r, .range = {from, until}};
    read_best(r, try_cut, &a);
    return a.taken;
}

static void find_duration(void *ctx, gotrace_source *source, gotrace_reader *reader)
{
    int64_t *duration = ctx;
    (void)source;
    gotrace_reader_check(reader);
    *duration = gotrace_reader_summary(reader)->duration;
}

/* Leave out parts of the time at the beginning and at the end: halves, quarters, ... */
void reduce_cut_time(reduce *r)
{
    enum { SMALLEST = 256 };
    for (int64_t part = 2; part <= SMALLEST && !reduce_stops(r);) {
        int64_t duration = 0;
        read_best(r, find_duration, &duration);
        int64_t size = duration / part;
        if (size <= 0)
            return;
        if (!cut_range_of(r, INT64_MIN, duration + 1 - size) && !cut_range_of(r, size, INT64_MAX))
            part *= 2;
    }
}

/* The ids of all goroutines. */
typedef struct all_ids {
    uint64_t *ids;
    size_t count;
} all_ids;

static void find_goroutines(void *ctx, gotrace_source *source, gotrace_reader *reader)
{
    all_ids *all = ctx;
    const gotrace_event *e;
    idmap map;
    (void)source;
    idmap_init(&map, 1);
    while (gotrace_reader_next(reader, &e) == GOTRACE_EVENT)
        if (e->kind == GOTRACE_KIND_TRANSITION && e->resource == GOTRACE_RESOURCE_GOROUTINE &&
            e->subject)
            idmap_insert(&map, e->subject);
    all->ids = idmap_sorted_keys(&map);
    all->count = all->ids ? map.count : 0;
    idmap_free(&map);
}

/* The best trace without goroutines [begin, end) of the list. */
static bool cut_without(reduce *r, const all_ids *all, size_t begin, size_t end)
{
    select_ids left = {.ranges = calloc(all->count + 1, sizeof *left.ranges)};
    attempt a = {.r = r, .range = {INT64_MIN, INT64_MAX}, .goroutines = &left};
    for (size_t i = 0; left.ranges && i < all->count; i++)
        if (i < begin || i >= end) {
            left.ranges[left.count][0] = left.ranges[left.count][1] = all->ids[i];
            left.count++;
        }
    if (left.ranges && left.count > 0)
        read_best(r, try_cut, &a);
    free(left.ranges);
    return a.taken;
}

void reduce_cut_goroutines(reduce *r)
{
    all_ids all = {.count = 0};
    read_best(r, find_goroutines, &all);
    for (size_t size = all.count / 2; size > 0 && !reduce_stops(r); size /= 2)
        for (size_t i = 0; i < all.count && !reduce_stops(r);) {
            size_t end = i + size < all.count ? i + size : all.count;
            if (cut_without(r, &all, i, end)) {
                memmove(all.ids + i, all.ids + end, (all.count - end) * sizeof *all.ids);
                all.count -= end - i;
            } else {
                i = end;
            }
        }
    free(all.ids);
}
