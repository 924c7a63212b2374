/*
 * fuzz_parts.c - a sound trace that was split and merged has the same events; other input is
 * rejected or processed in bounded memory.
 */
#include <stdlib.h>
#include <string.h>

#include "common.h"
#include "cmd/parts/parts.h"

enum { MOST_PARTS = 48 };

typedef struct parts_set {
    bytes parts[MOST_PARTS];
    out outs[MOST_PARTS];
    size_t count;
    bool too_many;
    const gotrace_config *config;
} parts_set;

static out *next_part(void *ctx, const char *name)
{
    parts_set *set = ctx;
    REQUIRE(*name);
    if (set->count == MOST_PARTS) {
        set->too_many = true;
        return NULL;
    }
    REQUIRE(out_init(&set->outs[set->count], bytes_write, &set->parts[set->count]));
    return &set->outs[set->count++];
}

static void split(parts_set *set, const uint8_t *data, size_t size, parts_by by)
{
    gotrace_source *source;
    gotrace_error error = {0};
    REQUIRE(gotrace_source_memory(data, size, set->config, &source, &error) == GOTRACE_OK);
    parts_split_job job = {
        .source = source, .config = set->config, .by = by, .next = next_part, .ctx = set};
    (void)parts_split(&job, &error);
    for (size_t i = 0; i < set->count; i++) {
        REQUIRE(out_flush(&set->outs[i]));
        out_free(&set->outs[i]);
    }
    gotrace_source_close(source);
}

static const char *name_part(void *ctx, size_t part)
{
    REQUIRE(part < ((parts_set *)ctx)->count);
    return "part";
}

static gotrace_source *open_part(void *ctx, size_t part, bool *again, gotrace_error *error)
{
    parts_set *set = ctx;
    gotrace_source *source;
    *again = true;
    if (gotrace_source_memory(set->parts[part].data, set->parts[part].size, set->config, &source,
                              error) < 0)
        REQUIRE(!source && error->rule != GOTRACE_RULE_NONE); /* it looks compressed */
    return source;
}

static void on_problem(void *ctx, size_t part, const gotrace_error *problem)
{
    REQUIRE(part < ((parts_set *)ctx)->count && problem->rule != GOTRACE_RULE_NONE);
}

static void on_misfit(void *ctx, const char *message)
{
    (void)ctx;
    REQUIRE(*message);
}

/* Returns whether a trace was written. */
static bool merge(parts_set *set, bytes *whole)
{
    gotrace_error error = {.rule = GOTRACE_RULE_NONE};
    parts_merge_job job = {
        .config = set->config,
        .count = set->count,
        .version = 19 * (set->count > 0 && set->parts[0].size > 0 && set->parts[0].data[0] != 'g'),
        .name = name_part,
        .open = open_part,
        .problem = on_problem,
        .misfit = on_misfit,
        .ctx = set};
    parts_merge *merge = NULL;
    out o;
    bool fit = false;
    REQUIRE(out_init(&o, bytes_write, whole));
    gotrace_status status = parts_merge_open(&job, &merge, &fit, &error);
    if (status == GOTRACE_OK && fit) {
        status = parts_merge_write(merge, &o, &error);
        for (int waits = 0; waits < 2; waits++)
            (void)parts_merge_missing(merge, waits, &error);
    }
    REQUIRE(out_flush(&o));
    out_free(&o);
    parts_merge_close(merge);
    return status == GOTRACE_OK && fit;
}

static uint64_t count_events(const uint8_t *data, size_t size, uint64_t *problems)
{
    gotrace_config config = fuzz_config(problems);
    gotrace_source *source;
    gotrace_reader *reader;
    gotrace_error error = {0};
    const gotrace_event *event;
    uint64_t events = 0;
    REQUIRE(gotrace_source_memory(data, size, &config, &source, &error) == GOTRACE_OK);
    if (gotrace_reader_open(source, &config, &reader, &error) == GOTRACE_OK) {
        while (gotrace_reader_next(reader, &event) == GOTRACE_EVENT)
            events++;
        *problems = gotrace_reader_summary(reader)->problems;
    } else {
        *problems = 1;
    }
    gotrace_reader_close(reader);
    gotrace_source_close(source);
    return events;
}

static void free_parts(parts_set *set)
{
    for (size_t i = 0; i < set->count; i++)
        bytes_free(&set->parts[i]);
    set->count = 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint64_t problems = 0, wrong = 0, ignored = 0;
    gotrace_config config = fuzz_config(&ignored);
    if (fuzz_is_packed(data, size))
        return 0;
    uint64_t events = count_events(data, size, &problems);
    enum { WAYS = PARTS_BY_GENERATION - PARTS_BY_PROC + 2, HALVES = WAYS - 1 };
    for (parts_by by = PARTS_BY_PROC; by <= PARTS_BY_GENERATION; by++) {
        if (!fuzz_turn(data, size, (unsigned)(by - PARTS_BY_PROC), WAYS))
            continue;
        parts_set set = {.config = &config};
        bytes whole = {NULL, 0, 0};
        split(&set, data, size, by);
        if (set.count > 0 && merge(&set, &whole) && problems == 0 && !set.too_many)
            REQUIRE(count_events(whole.data, whole.size, &wrong) == events && wrong == 0);
        bytes_free(&whole);
        free_parts(&set);
    }

    if (!fuzz_turn(data, size, HALVES, WAYS))
        return 0;
    /* Merge two halves of the input. */
    parts_set set = {.config = &config, .count = 2};
    bytes whole = {NULL, 0, 0};
    size_t half = size > 0 ? data[size - 1] * size / 256 : 0;
    REQUIRE(bytes_write(&set.parts[0], data, half));
    REQUIRE(bytes_write(&set.parts[1], data + half, size - half));
    (void)merge(&set, &whole);
    bytes_free(&whole);
    free_parts(&set);
    return 0;
}
