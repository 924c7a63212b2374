/*
 * tables.c - loads the tables of a generation: strings, stacks, samples and clocks.
 *
 * Source: Go 1.27, internal/trace/generation.go: addStrings, addStacks, addCPUSamples,
 * setSyncBatch, fixUpCPUSamples.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/tracer_names.h"
#include "read/v2/v2.h"

/* A batch of a table, in memory. */
typedef struct table_batch {
    gotrace_reader *reader;
    struct gt_v2 *v2;
    gt_generation *generation;
    const gt_batch *batch;
    const uint8_t *p, *end;
} table_batch;

static gt_place place_of(const table_batch *t, const uint8_t *p)
{
    return (gt_place){t->batch->data + (uint64_t)(p - t->v2->buffer),
                      (uint64_t)(t->batch - t->v2->index.batches), GOTRACE_NO_OFFSET};
}

static void count(table_batch *t, uint8_t type, const uint8_t *start)
{
    gotrace_summary *s = &t->reader->summary;
    s->type_records[type]++;
    s->type_bytes[type] += (uint64_t)(t->p - start);
    s->records++;
}

/* Reports that the rest of the batch cannot be read. */
static bool spoiled(table_batch *t, const uint8_t *at, const char *what)
{
    bool go_on = gt_report(t->reader, GOTRACE_RULE_BATCH_EVENT, place_of(t, at), "%s", what);
    t->reader->summary.unread_bytes += (uint64_t)(t->end - at);
    t->p = t->end;
    return go_on;
}

/* Reports the id of a record, which means nothing or another record. */
static bool wrong_id(table_batch *t, const uint8_t *at, gotrace_rule rule, const char *what)
{
    return gt_report(t->reader, rule, place_of(t, at), "%s", what);
}

static bool defined_again(table_batch *t, const uint8_t *at, gotrace_rule rule, const char *what,
                          uint64_t id)
{
    char message[96];
    snprintf(message, sizeof message, "%s %llu is defined again; the first definition is kept",
             what, (unsigned long long)id);
    return wrong_id(t, at, rule, message);
}

/* Reads n values; false, with *go_on set, if they are incomplete. */
static bool values(table_batch *t, const uint8_t *start, uint64_t *v, unsigned n, bool *go_on)
{
    for (unsigned i = 0; i < n; i++)
        if (gt_varint(&t->p, t->end, &v[i]) <= 0) {
            *go_on = spoiled(t, start,
                             "a record goes on beyond its batch, or a number of it beyond "
                             "64 bits");
            return false;
        }
    return true;
}

static bool put(table_batch *t, gt_table *table, uint64_t id, const uint8_t *bytes, size_t size,
                size_t frames)
{
    const gotrace_limits *limits = &t->reader->limits;
    bool is_string = table == &t->reader->tables->strings;
    uint64_t limit = is_string ? limits->strings : limits->stacks;
    if (table->entries >= limit) {
        gt_error_limit(&t->reader->error, is_string ? GOTRACE_LIMIT_STRINGS : GOTRACE_LIMIT_STACKS,
                       place_of(t, t->p), limit);
        return gt_fail(t->reader);
    }
    return gt_table_put(table, id, bytes, size, frames) || gt_fail_memory(t->reader);
}

static bool read_string(table_batch *t)
{
    const uint8_t *start = t->p;
    uint64_t v[2];
    bool go_on = true;
    if (*t->p++ != GOTRACE_V2_String)
        return spoiled(t, start, "a batch of strings contains another record");
    if (!values(t, start, v, 2, &go_on))
        return go_on;
    if (v[1] > GT_V2_MAX_STRING || v[1] > (uint64_t)(t->end - t->p))
        return spoiled(t, start,
                       v[1] > GT_V2_MAX_STRING ? "a string is longer than 1024 bytes"
                                               : "a string exceeds its batch");
    const uint8_t *bytes = t->p;
    t->p += v[1];
    count(t, GOTRACE_V2_String, start);
    gotrace_summary *s = &t->reader->summary;
    s->strings++;
    s->string_bytes += v[1];
    t->generation->summary.strings++;
    if (v[0] == 0)
        return wrong_id(t, start, GOTRACE_RULE_STRING_ID,
                        "a string has the id 0, which means the empty string");
    if (gt_table_find(&t->reader->tables->strings, v[0]))
        return defined_again(t, start, GOTRACE_RULE_STRING_DUPLICATE, "string", v[0]);
    /* Once: another thread may read it when it has an event. */
    if (gt_is_recorder_name(bytes, (size_t)v[1]) &&
        (!s->writer || strcmp(s->writer, GT_RECORDER_NAME) != 0))
        s->writer = GT_RECORDER_NAME;
    return put(t, &t->reader->tables->strings, v[0], bytes, (size_t)v[1], 0);
}

static bool read_stack(table_batch *t)
{
    const uint8_t *start = t->p;
    uint64_t v[2], frame[4];
    bool go_on = true;
    if (*t->p++ != GOTRACE_V2_Stack)
        return spoiled(t, start, "a batch of stacks contains another record");
    if (!values(t, start, v, 2, &go_on))
        return go_on;
    if (v[1] > GT_V2_MAX_FRAMES)
        return spoiled(t, start, "a stack has more than 128 frames");
    const uint8_t *body = t->p;
    for (uint64_t i = 0; i < v[1]; i++)
        if (!values(t, start, frame, 4, &go_on))
            return go_on;
    count(t, GOTRACE_V2_Stack, start);
    gotrace_summary *s = &t->reader->summary;
    s->stacks++;
    s->stack_frames += v[1];
    t->generation->summary.stacks++;
    if (v[0] == 0)
        return wrong_id(t, start, GOTRACE_RULE_BATCH_EVENT,
                        "a stack has the id 0, which means none");
    if (gt_table_find(&t->reader->tables->stacks, v[0]))
        return defined_again(t, start, GOTRACE_RULE_BATCH_EVENT, "stack", v[0]);
    return put(t, &t->reader->tables->stacks, v[0], body, (size_t)(t->p - body), (size_t)v[1]);
}

static bool read_sample(table_batch *t)
{
    const uint8_t *start = t->p;
    struct gt_v2 *v2 = t->v2;
    uint64_t v[5];
    bool go_on = true;
    if (*t->p++ != GOTRACE_V2_CPUSample)
        return spoiled(t, start, "a batch of samples contains another record");
    if (!values(t, start, v, 5, &go_on))
        return go_on;
    count(t, GOTRACE_V2_CPUSample, start);
    t->reader->summary.samples++;
    t->generation->summary.samples++;
    void *list = v2->tables.samples;
    if (!gt_grow(&t->reader->heap, &list, &v2->tables.sample_capacity, v2->tables.sample_count + 1,
                 sizeof *v2->tables.samples))
        return gt_fail_memory(t->reader);
    v2->tables.samples = list;
    v2->tables.samples[v2->tables.sample_count++] = (gt_v2_sample){
        .time = (int64_t)v[0],
        .offset = place_of(t, start).offset,
        .m = v[1],
        .p = v[2],
        .g = v[3],
        .stack = v[4]};
    return true;
}

static bool read_sync(table_batch *t)
{
    const uint8_t *start = t->p;
    gotrace_generation_summary *g = &t->generation->summary;
    uint64_t v[4];
    bool go_on = true;
    uint8_t type = *t->p++;
    if (type == GOTRACE_V2_Frequency) {
        if (!values(t, start, v, 1, &go_on))
            return go_on;
        count(t, type, start);
        if (t->generation->sync)
            return gt_report(t->reader, GOTRACE_RULE_GENERATION_CLOCK, place_of(t, start),
                             "the generation has a second frequency");
        t->generation->sync = true;
        g->frequency = v[0];
        return true;
    }
    if (type == GOTRACE_V2_ClockSnapshot && t->reader->summary.version >= GOTRACE_FIRST_SYNC) {
        if (!values(t, start, v, 4, &go_on))
            return go_on;
        count(t, type, start);
        if (g->has_clocks)
            return gt_report(t->reader, GOTRACE_RULE_GENERATION_CLOCK, place_of(t, start),
                             "the generation has a second clock snapshot");
        g->has_clocks = true;
        g->clock_ticks = t->batch->time + v[0];
        g->monotonic_ns = v[1];
        g->wall_seconds = v[2];
        g->wall_nanoseconds = v[3];
        return true;
    }
    return spoiled(t, start, "a batch of clocks contains another record");
}

static bool load_batch(table_batch *t)
{
    size_t got;
    bool (*record)(table_batch *) = NULL;
    if (gt_read_bytes(t->reader, t->batch->data, t->v2->buffer, t->batch->size, &got) < 0)
        return gt_fail(t->reader);
    t->p = t->v2->buffer;
    t->end = t->p + got;
    uint8_t marker = 0;
    switch (t->batch->kind) {
    case GT_BATCH_STRINGS:
        record = read_string;
        marker = GOTRACE_V2_Strings;
        break;
    case GT_BATCH_STACKS:
        record = read_stack;
        marker = GOTRACE_V2_Stacks;
        break;
    case GT_BATCH_SAMPLES:
        record = read_sample;
        marker = GOTRACE_V2_CPUSamples;
        break;
    default:
        record = read_sync;
        marker = t->reader->summary.version >= GOTRACE_FIRST_SYNC ? GOTRACE_V2_Sync : 0;
        break;
    }
    if (marker) { /* the first record of the batch is its marker */
        const uint8_t *start = t->p++;
        count(t, marker, start);
    }
    while (t->p < t->end)
        if (!record(t))
            return false;
    gt_progress(t->reader, got);
    return true;
}

static int compare_samples(const void *x, const void *y)
{
    const gt_v2_sample *a = x, *b = y;
    if (a->time != b->time)
        return a->time < b->time ? -1 : 1;
    return a->offset < b->offset ? -1 : a->offset > b->offset;
}

/* Go's reader converts each difference of time in a batch by itself, and rounds it down; an event
 * takes at least two bytes. Source: Go 1.27, internal/trace/batchcursor.go, nextEvent. */
enum { MOST_ROUNDING = GT_V2_MAX_BATCH / 2 };

/* Another frequency than that of the other generations moves all times of the generation. */
static bool check_frequency(gotrace_reader *reader, struct gt_v2 *v2, gt_generation *g)
{
    uint64_t common = v2->index.common_frequency, found = g->summary.frequency;
    if (common == 0 || common == found || g->own_frequency)
        return true;
    g->summary.frequency = common;
    return found == 0 ||
           gt_report(reader, GOTRACE_RULE_CLOCK_BACK, GT_AT(g->summary.offset),
                     "generation %llu has a frequency of %llu ticks per second, but the others "
                     "have %llu, which is used for this generation too",
                     (unsigned long long)g->summary.generation, (unsigned long long)found,
                     (unsigned long long)common);
}

static bool check_clock(gotrace_reader *reader, struct gt_v2 *v2, gt_generation *g)
{
    gt_place at = GT_AT(g->summary.offset);
    bool lost = !g->sync && !g->summary.has_clocks && reader->summary.version >= GOTRACE_FIRST_SYNC;
    bool cut_off = !g->sync && !g->summary.complete && reader->summary.version < GOTRACE_FIRST_SYNC;
    if ((!g->sync || g->summary.frequency == 0) && !cut_off &&
        !gt_report(reader, GOTRACE_RULE_GENERATION_CLOCK, at,
                   g->sync ? "generation %llu has a frequency of 0: its times are infinite"
                   : lost  ? "generation %llu has no frequency and no clocks"
                           : "generation %llu has no frequency",
                   (unsigned long long)g->summary.generation))
        return false;
    if (!check_frequency(reader, v2, g))
        return false;
    if (g->summary.frequency) {
        v2->ns_per_tick = 1.0 / ((double)g->summary.frequency / 1e9);
        reader->summary.frequency = g->summary.frequency;
    } else if (v2->ns_per_tick == 0) {
        v2->ns_per_tick = 1;
    }
    v2->rounding = v2->ns_per_tick == (double)(int64_t)v2->ns_per_tick ? 0 : MOST_ROUNDING;
    return reader->summary.version < GOTRACE_FIRST_SYNC || g->summary.has_clocks || lost ||
           gt_report(reader, GOTRACE_RULE_GENERATION_CLOCK, at, "generation %llu has no clocks",
                     (unsigned long long)g->summary.generation);
}

/* A frame and its stack. */
typedef struct pc_owner {
    const gt_entry *stack;
    const uint8_t *frame;
} pc_owner;

/* State of the check of a generation's stacks. */
typedef struct stack_check {
    gotrace_reader *reader;
    struct gt_v2 *v2;
    uint64_t offset; /* of the generation */
    pc_owner *owners;
    size_t count, capacity;
    gt_map pcs;             /* PC to index + 1 in owners of its first frame */
    uint64_t clashes;       /* frames whose PC belongs to another frame */
    uint64_t pc;            /* of the first such frame */
    uint64_t first, second; /* the two stacks with it */
} stack_check;

static bool add_owner(stack_check *c, const gt_entry *stack, const uint8_t *frame, uint64_t pc)
{
    void *owners = c->owners;
    bool ok = gt_grow(&c->reader->heap, &owners, &c->capacity, c->count + 1, sizeof *c->owners);
    c->owners = owners;
    if (!ok || !gt_map_put(&c->pcs, pc, c->count + 1))
        return gt_fail_memory(c->reader);
    c->owners[c->count++] = (pc_owner){stack, frame};
    return true;
}

static bool same_string(const gt_table *strings, uint64_t a, uint64_t b)
{
    const gt_entry *x = gt_table_find(strings, a), *y = gt_table_find(strings, b);
    if (a == b || !x || !y)
        return a == b;
    return x->size == y->size && memcmp(x->bytes, y->bytes, x->size) == 0;
}

/* Go's reader keeps one frame per PC. Source: addStacks. */
static bool check_pc(stack_check *c, const gt_entry *stack, const uint8_t *frame,
                     const uint64_t v[4])
{
    uint64_t index = gt_map_get(&c->pcs, v[0]), other[4];
    if (index == 0)
        return add_owner(c, stack, frame, v[0]);
    const pc_owner *owner = &c->owners[index - 1];
    const uint8_t *p = owner->frame, *end = owner->stack->bytes + owner->stack->size;
    for (int k = 0; k < 4; k++)
        gt_varint(&p, end, &other[k]);
    const gt_table *strings = &c->reader->tables->strings;
    if (v[3] == other[3] && same_string(strings, v[1], other[1]) &&
        same_string(strings, v[2], other[2]))
        return true;
    if (c->clashes++ == 0) {
        c->pc = v[0];
        c->first = owner->stack->id;
        c->second = stack->id;
    }
    return true;
}

/* Checks that every string of a frame exists. Source: validateStackStrings. */
static bool check_stack(stack_check *c, const gt_entry *stack)
{
    const uint8_t *p = stack->bytes, *end = p + stack->size;
    for (uint32_t i = 0; i < stack->count; i++) {
        const uint8_t *frame = p;
        uint64_t v[4];
        for (int k = 0; k < 4; k++)
            gt_varint(&p, end, &v[k]);
        for (int k = 1; k < 3; k++)
            if (v[k] && !gt_use(&c->v2->tables.strings, v[k]))
                return gt_report(c->reader, GOTRACE_RULE_TABLE_REFERENCE, GT_AT(c->offset),
                                 "stack %llu refers to string %llu, which is not in the generation",
                                 (unsigned long long)stack->id, (unsigned long long)v[k]);
        if (!check_pc(c, stack, frame, v))
            return false;
    }
    return true;
}

static bool check_each_stack(stack_check *c)
{
    const gt_table *stacks = &c->reader->tables->stacks;
    for (size_t i = 0; i < stacks->dense_count; i++)
        if (stacks->dense[i].bytes && !check_stack(c, &stacks->dense[i]))
            return false;
    for (size_t i = 0; i < stacks->sparse_count; i++)
        if (!check_stack(c, &stacks->sparse[i]))
            return false;
    return true;
}

static bool check_stacks(gotrace_reader *reader, struct gt_v2 *v2, const gt_generation *g)
{
    stack_check c = {.reader = reader, .v2 = v2, .offset = g->summary.offset};
    c.pcs.heap = &reader->heap;
    bool go_on = check_each_stack(&c);
    gt_map_free(&c.pcs);
    gt_free(&reader->heap, c.owners, c.capacity * sizeof *c.owners);
    if (!go_on || c.clashes == 0)
        return go_on;
    return gt_report(reader, GOTRACE_RULE_STACK_PC, GT_AT(c.offset),
                     "generation %llu: PC 0x%llx has different frames in stacks %llu and %llu; "
                     "Go's reader shows one of them for both (%llu frame%s shown wrongly)",
                     (unsigned long long)g->summary.generation, (unsigned long long)c.pc,
                     (unsigned long long)c.first, (unsigned long long)c.second,
                     (unsigned long long)c.clashes, gt_plural(c.clashes));
}

/* Go shows a sample whose stack is missing without a stack. */
static bool prepare_samples(gotrace_reader *reader, struct gt_v2 *v2, const gt_generation *g)
{
    for (size_t i = 0; i < v2->tables.sample_count; i++) {
        gt_v2_sample *s = &v2->tables.samples[i];
        s->time = gt_v2_ns((uint64_t)s->time, v2->ns_per_tick);
        if (s->stack && !gt_use(&v2->tables.stacks, s->stack) && g->summary.complete &&
            !gt_report(reader, GOTRACE_RULE_STACK_MISSING, GT_AT(s->offset),
                       "a CPU sample refers to stack %llu, which is not in the generation",
                       (unsigned long long)s->stack))
            return false;
    }
    if (v2->tables.sample_count)
        qsort(v2->tables.samples, v2->tables.sample_count, sizeof *v2->tables.samples,
              compare_samples);
    return true;
}

/* Estimates the number of entries. Tracers number entries from 1 on and write them in any order. */
static void expect_entries(const struct gt_v2 *v2, const gt_generation *g, gt_tables *tables)
{
    enum { LEAST_STRING = 4, LEAST_STACK = 7 }; /* minimal size of such a record */
    uint64_t strings = 0, stacks = 0;
    for (size_t i = g->first; i < g->first + g->count; i++) {
        const gt_batch *b = &v2->index.batches[i];
        strings += b->kind == GT_BATCH_STRINGS ? b->size : 0;
        stacks += b->kind == GT_BATCH_STACKS ? b->size : 0;
    }
    tables->strings.expected = strings / LEAST_STRING;
    tables->stacks.expected = stacks / LEAST_STACK;
}

void gt_v2_forget_tables(gotrace_reader *reader)
{
    struct gt_v2 *v2 = reader->v2;
    gt_uses_free(&v2->tables.strings);
    gt_uses_free(&v2->tables.stacks);
    gt_free(&reader->heap, v2->tables.kept, v2->tables.kept_count * sizeof *v2->tables.kept);
    v2->tables.kept = NULL;
    v2->tables.kept_count = 0;
    gt_blocks_forget_tables(reader->blocks);
    gt_tables_release(reader->tables);
    reader->tables = &reader->index.tables;
}

/* The strings that tracers write without a reference. */
static void use_tracer_names(gt_uses *uses)
{
    const gt_table *strings = uses->table;
    for (size_t i = 0; i < strings->dense_count; i++) {
        const gt_entry *entry = &strings->dense[i];
        if (entry->bytes && gt_is_tracer_name(entry->bytes, entry->size))
            gt_use(uses, entry->id);
    }
    for (size_t i = 0; i < strings->sparse_count; i++)
        if (gt_is_tracer_name(strings->sparse[i].bytes, strings->sparse[i].size))
            gt_use(uses, strings->sparse[i].id);
}

/* No entry is used yet. */
static bool begin_uses(gotrace_reader *reader, struct gt_v2 *v2)
{
    if (!gt_uses_init(&v2->tables.strings, &reader->tables->strings) ||
        !gt_uses_init(&v2->tables.stacks, &reader->tables->stacks))
        return gt_fail_memory(reader);
    use_tracer_names(&v2->tables.strings);
    return true;
}

static bool load_batches(gotrace_reader *reader, struct gt_v2 *v2, gt_generation *g)
{
    gt_v2_forget_tables(reader);
    gt_tables *tables = gt_tables_new(&reader->heap, reader->summary.version);
    if (!tables)
        return gt_fail_memory(reader);
    reader->tables = tables;
    expect_entries(v2, g, tables);
    v2->tables.sample_count = v2->tables.next_sample = 0;
    if (!v2->buffer) {
        v2->buffer = gt_resize(&reader->heap, NULL, 0, GT_V2_MAX_BATCH + GT_SLACK);
        if (!v2->buffer)
            return gt_fail_memory(reader);
    }
    for (size_t i = g->first; i < g->first + g->count; i++) {
        table_batch t = {
            .reader = reader, .v2 = v2, .generation = g, .batch = &v2->index.batches[i]};
        if (t.batch->kind != GT_BATCH_EVENTS && t.batch->kind != GT_BATCH_EXPERIMENT &&
            !load_batch(&t))
            return false;
    }
    return begin_uses(reader, v2);
}

bool gt_v2_load(gotrace_reader *reader, struct gt_v2 *v2, gt_generation *g)
{
    return load_batches(reader, v2, g) && check_clock(reader, v2, g) &&
           (!g->summary.complete || check_stacks(reader, v2, g)) && prepare_samples(reader, v2, g);
}
