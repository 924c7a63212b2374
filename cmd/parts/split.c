/*
 * split.c - split a trace.
 *
 * First the batches are indexed, which takes little memory; then the parts are written one after
 * another, by copying their batches from the source. So only one output is open at a time.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "cmd/parts/parts.h"

/* A generation of v2, or the whole v1 trace. */
typedef struct slice {
    uint64_t number;
    size_t first, end;               /* range of its batches in split.order */
    size_t first_string, end_string; /* range in the table */
    size_t first_stack, end_stack;
    const parts_batch *sync,
        *last; /* batches with the clocks and the end of the generation; NULL: none */
    uint64_t stacks_time, strings_time;
} slice;

/* A batch of events of an owner, or one of its samples. */
typedef struct work {
    uint64_t owner;
    size_t slice;
    size_t batch;         /* NO_BATCH: a generation without events */
    uint64_t sample;      /* the sample's offset */
    uint32_t sample_size; /* 0: not a sample */
} work;
#define NO_BATCH SIZE_MAX

typedef struct split {
    const parts_split_job *job;
    gotrace_error *error;
    parts_memory memory;
    parts_input input;
    parts_scan scan;
    parts_walker walker;
    parts_shape shape;
    parts_batches batches;
    size_t *order; /* batches sorted by generation, then in the order of the file */
    size_t order_capacity;
    slice *slices;
    size_t slice_count, slice_capacity;
    work *works;
    size_t work_count, work_capacity;
    /* The part that is being written. */
    const slice *slice;  /* current */
    size_t sample_batch; /* index of the batch whose samples are being planned */
    out *o;
    uint64_t owner;
    uint32_t stamp; /* value of parts_entry.mark for entries used by the part */
    parts_table *strings, *stacks;
    parts_table used_strings, used_stacks;
    bool copies;       /* copy record by record */
    parts_bytes bytes; /* records that are not written yet */
    parts_pack pack;
} split;

const char *parts_by_name(size_t n)
{
    static const char *const names[] = {"proc", "thread", "generation"};
    return n < sizeof names / sizeof *names ? names[n] : NULL;
}

static void report(void *ctx, uint32_t number, const gotrace_error *problem)
{
    const gotrace_config *config = ((split *)ctx)->job->config;
    (void)number;
    if (config && config->on_problem)
        config->on_problem(config->callback_ctx, problem);
}

/* ---- references ------------------------------------------------------------------------------ */

/* Add the string or stack to those that are written after the part's events. */
static bool use(split *s, parts_ref ref, uint64_t id)
{
    bool string = ref == PARTS_REF_STRING;
    parts_table *table = string ? s->strings : s->stacks;
    parts_table *used = string ? &s->used_strings : &s->used_stacks;
    parts_entry *entry = parts_table_find(table,
                                          string ? s->slice->first_string : s->slice->first_stack,
                                          string ? s->slice->end_string : s->slice->end_stack, id);
    if (!entry || entry->mark == s->stamp)
        return true;
    entry->mark = s->stamp;
    if (!parts_grow(&s->memory, &used->list, &used->capacity, used->count + 1, sizeof *used->list,
                    s->error))
        return false;
    used->list[used->count++] = *entry;
    return true;
}

static gotrace_status use_record(split *s, const gotrace_record *record)
{
    for (size_t i = 0; i < record->arg_count; i++) {
        parts_ref ref = parts_ref_of(&s->shape, record, i);
        if (ref != PARTS_REF_NONE && !use(s, ref, record->args[i]))
            return GOTRACE_ERROR;
    }
    return GOTRACE_OK;
}

static int compare_places(const void *a, const void *b)
{
    const parts_entry *x = a, *y = b;
    return x->offset < y->offset ? -1 : x->offset > y->offset;
}

/* ---- copying -------------------------------------------------------------------------------- */

static bool put_record(split *s, const gotrace_record *record)
{
    if (s->bytes.count > PARTS_MAX_BATCH) {
        out_bytes(s->o, s->bytes.bytes, s->bytes.count);
        s->bytes.count = 0;
    }
    return parts_put_record(&s->bytes, &s->memory, s->input.version, record, NULL, s->error);
}

static gotrace_status copy_record(void *ctx, const gotrace_record *record, gotrace_error *error)
{
    split *s = ctx;
    (void)error;
    unsigned code = record->spec->code;
    bool v1 = s->input.version < GOTRACE_FIRST_V2;
    if (v1 && (code == GOTRACE_V1_Frequency || code == GOTRACE_V1_TimerGoroutine ||
               code == GOTRACE_V1_Stack))
        return GOTRACE_OK; /* written with the footer */
    if (use_record(s, record) != GOTRACE_OK || (s->copies && !put_record(s, record)))
        return GOTRACE_ERROR;
    return GOTRACE_OK;
}

/* Decode a range and report damage. */
static bool walk(split *s, uint64_t offset, uint64_t size, parts_record_fn fn)
{
    if (parts_walk(&s->walker, s->input.source, offset, size, fn, s, s->error) != GOTRACE_ERROR)
        return true;
    if (s->error->class_ == GOTRACE_CLASS_SYSTEM)
        return false;
    report(s, 0, s->error);
    return true;
}

static bool copy(split *s, const parts_batch *b)
{
    return parts_copy(s->o, s->input.source, b->offset, b->size, s->error) == GOTRACE_OK;
}

/* Copy a batch of events, without records of the footer. */
static bool copy_events(split *s, const parts_batch *b)
{
    s->copies = b->partial;
    s->bytes.count = 0;
    if (!walk(s, b->offset, b->size, copy_record))
        return false;
    if (!b->partial)
        return copy(s, b);
    out_bytes(s->o, s->bytes.bytes, s->bytes.count);
    return true;
}

/* Read a table's record from its place, and add it to the pack. */
static bool pack_entry(split *s, const parts_entry *entry)
{
    size_t got = 0;
    s->bytes.count = 0;
    if (!parts_grow(&s->memory, &s->bytes.bytes, &s->bytes.capacity, entry->size, 1, s->error) ||
        gotrace_source_read(s->input.source, entry->offset, s->bytes.bytes, entry->size, &got,
                            s->error) < 0)
        return false;
    parts_pack_add(&s->pack, s->bytes.bytes, got);
    return true;
}

static gotrace_status use_only(void *ctx, const gotrace_record *record, gotrace_error *error)
{
    (void)error;
    return use_record(ctx, record);
}

/* Also uses the strings of the frames. */
static bool pack_stacks(split *s)
{
    parts_table *t = &s->used_stacks;
    if (t->count > 0)
        qsort(t->list, t->count, sizeof *t->list, compare_places);
    for (size_t i = 0; i < t->count && !s->o->failed; i++)
        if (!walk(s, t->list[i].offset, t->list[i].size, use_only) || !pack_entry(s, &t->list[i]))
            return false;
    t->count = 0;
    return true;
}

/* v1: whether the string is defined in a batch of the part. */
static bool is_defined_in_part(const split *s, const parts_entry *entry)
{
    size_t first = 0, end = s->batches.count;
    if (s->input.version >= GOTRACE_FIRST_V2)
        return false;
    while (end - first > 1) {
        size_t middle = first + (end - first) / 2;
        if (s->batches.list[middle].offset <= entry->offset)
            first = middle;
        else
            end = middle;
    }
    const parts_batch *b = &s->batches.list[first];
    return b->kind == PARTS_EVENTS && b->owner == s->owner;
}

static bool pack_strings(split *s)
{
    parts_table *t = &s->used_strings;
    if (t->count > 0)
        qsort(t->list, t->count, sizeof *t->list, compare_places);
    for (size_t i = 0; i < t->count && !s->o->failed; i++)
        if (!is_defined_in_part(s, &t->list[i]) && !pack_entry(s, &t->list[i]))
            return false;
    t->count = 0;
    return true;
}

/* ---- v1: the footer ------------------------------------------------------------------------- */

static bool pack_value(split *s, unsigned code, uint64_t value)
{
    const uint64_t args[] = {value, 0};
    const gotrace_arg_spec *specs[GOTRACE_MAX_ARGS];
    const gotrace_event_spec *spec = gotrace_event_spec_of(s->input.version, code);
    gotrace_record record = {.spec = spec,
                             .args = args,
                             .arg_count = gotrace_event_args(spec, s->input.version, specs),
                             .form = UINT8_MAX};
    s->bytes.count = 0;
    if (!parts_put_record(&s->bytes, &s->memory, s->input.version, &record, NULL, s->error))
        return false;
    parts_pack_add(&s->pack, s->bytes.bytes, s->bytes.count);
    return true;
}

static bool write_footer(split *s)
{
    s->pack.thread = 0;
    s->pack.time = s->input.footer ? s->input.footer : s->input.last;
    parts_pack_begin(&s->pack, 0);
    if (s->input.frequency && !pack_value(s, GOTRACE_V1_Frequency, s->input.frequency))
        return false;
    for (size_t i = 0; i < s->input.timer_count; i++)
        if (!pack_value(s, GOTRACE_V1_TimerGoroutine, s->input.timers[i]))
            return false;
    if (!pack_stacks(s) || !pack_strings(s))
        return false;
    parts_pack_end(&s->pack);
    return true;
}

/* ---- v2: a generation ------------------------------------------------------------------------ */

/* Arguments: time, thread, proc, goroutine, stack. */
static gotrace_status copy_sample(void *ctx, const gotrace_record *record, gotrace_error *error)
{
    split *s = ctx;
    (void)error;
    s->bytes.count = 0;
    if (use_record(s, record) != GOTRACE_OK ||
        !parts_put_record(&s->bytes, &s->memory, s->input.version, record, NULL, s->error))
        return GOTRACE_ERROR;
    parts_pack_add(&s->pack, s->bytes.bytes, s->bytes.count);
    return GOTRACE_OK;
}

/* Pack the samples in works[first .. end), batch by batch. */
static bool pack_samples(split *s, size_t first, size_t end)
{
    bool done = true;
    for (size_t i = first; i < end && done; i++) {
        const work *now = &s->works[i];
        if (i == first || now->batch != now[-1].batch) {
            s->pack.time = s->batches.list[now->batch].time;
            parts_pack_begin(&s->pack, GOTRACE_V2_CPUSamples);
        }
        done = walk(s, now->sample, now->sample_size, copy_sample);
        if (i + 1 == end || now[1].batch != now->batch)
            parts_pack_end(&s->pack);
    }
    return done;
}

static bool pack_tables(split *s)
{
    s->pack.time = s->slice->stacks_time;
    parts_pack_begin(&s->pack, GOTRACE_V2_Stacks);
    bool done = pack_stacks(s);
    parts_pack_end(&s->pack);
    s->pack.time = s->slice->strings_time;
    parts_pack_begin(&s->pack, GOTRACE_V2_Strings);
    done = done && pack_strings(s);
    parts_pack_end(&s->pack);
    return done;
}

/* ---- a part --------------------------------------------------------------------------------- */

/* Write the owner's batches and samples of a generation: works[first .. end). */
static bool write_slice(split *s, size_t first, size_t end)
{
    bool v2 = s->input.version >= GOTRACE_FIRST_V2, done = true;
    s->slice = &s->slices[s->works[first].slice];
    s->pack.o = s->o;
    s->pack.version = s->input.version;
    s->pack.generation = s->slice->number;
    s->pack.thread = UINT64_MAX;
    if (s->slice->sync)
        done = copy(s, s->slice->sync);
    for (; first < end && s->works[first].sample_size == 0 && done; first++)
        if (s->works[first].batch != NO_BATCH)
            done = copy_events(s, &s->batches.list[s->works[first].batch]);
    if (!v2)
        return done && write_footer(s);
    done = done && pack_samples(s, first, end) && pack_tables(s);
    return done && (!s->slice->last || copy(s, s->slice->last));
}

static bool begin_part(split *s, const char *name)
{
    s->o = s->job->next(s->job->ctx, name);
    if (s->o)
        parts_put_header(s->o, s->input.version);
    return s->o != NULL;
}

static gotrace_status write_owners(split *s)
{
    char name[32];
    s->strings = &s->input.strings;
    s->stacks = &s->input.stacks;
    s->stamp = 1;
    for (size_t i = 0; i < s->work_count;) {
        s->owner = s->works[i].owner;
        s->stamp++;
        snprintf(name, sizeof name, "%c%" PRId64, s->input.version < GOTRACE_FIRST_V2 ? 'p' : 'm',
                 (int64_t)s->owner);
        if (!begin_part(s, name))
            return GOTRACE_OK;
        while (i < s->work_count && s->works[i].owner == s->owner) {
            size_t end = i;
            while (end < s->work_count && s->works[end].owner == s->owner &&
                   s->works[end].slice == s->works[i].slice)
                end++;
            if (!write_slice(s, i, end))
                return GOTRACE_ERROR;
            i = end;
        }
    }
    return GOTRACE_OK;
}

static gotrace_status write_generations(split *s)
{
    char name[32];
    for (size_t i = 0; i < s->slice_count; i++) {
        snprintf(name, sizeof name, "gen%" PRIu64, s->slices[i].number);
        if (!begin_part(s, name))
            return GOTRACE_OK;
        for (size_t n = s->slices[i].first; n < s->slices[i].end; n++)
            if (!copy(s, &s->batches.list[s->order[n]]))
                return GOTRACE_ERROR;
    }
    return GOTRACE_OK;
}

/* ---- planning ------------------------------------------------------------------------------- */

static int compare_batches(const void *a, const void *b, void *ctx)
{
    size_t i = *(const size_t *)a, k = *(const size_t *)b;
    const parts_batch *x = &((split *)ctx)->batches.list[i], *y = &((split *)ctx)->batches.list[k];
    if (x->generation != y->generation)
        return x->generation < y->generation ? -1 : 1;
    return x->offset < y->offset ? -1 : x->offset > y->offset;
}

/* Whether another generation with the slice's number begins with this batch. */
static bool begins_again(const split *s, slice *at, const parts_batch *b)
{
    bool again = at->sync && parts_begins_again(s->input.version, at->sync, b);
    at->sync = !at->sync && b->kind == PARTS_SYNC ? b : at->sync;
    return again;
}

static bool refuse_repeated(split *s, const parts_batch *b)
{
    fill_error(s->error, GOTRACE_RULE_GENERATION_NUMBER, b->offset, PARTS_REPEATED, b->generation,
               s->input.version);
    return false;
}

/* Sort the batches by generation, and set up the slices. */
static bool plan_slices(split *s)
{
    size_t count = s->batches.count;
    if (!parts_grow(&s->memory, &s->order, &s->order_capacity, count, sizeof *s->order, s->error))
        return false;
    for (size_t i = 0; i < count; i++)
        s->order[i] = i;
    if (count > 0)
        qsort_r(s->order, count, sizeof *s->order, compare_batches, s);
    for (size_t i = 0; i < count; i++) {
        const parts_batch *b = &s->batches.list[s->order[i]];
        if (i == 0 || s->slices[s->slice_count - 1].number != b->generation) {
            if (!parts_grow(&s->memory, &s->slices, &s->slice_capacity, s->slice_count + 1,
                            sizeof *s->slices, s->error))
                return false;
            s->slices[s->slice_count++] = (slice){.number = b->generation, .first = i};
        }
        slice *at = &s->slices[s->slice_count - 1];
        at->end = i + 1;
        if (begins_again(s, at, b))
            return refuse_repeated(s, b);
    }
    return true;
}

static bool add_work(split *s, work added)
{
    if (!parts_grow(&s->memory, &s->works, &s->work_capacity, s->work_count + 1, sizeof *s->works,
                    s->error))
        return false;
    s->works[s->work_count++] = added;
    return true;
}

/* An owner that has only samples gets a part too. */
static gotrace_status plan_sample(void *ctx, const gotrace_record *record, gotrace_error *error)
{
    split *s = ctx;
    (void)error;
    if (record->spec->code != GOTRACE_V2_CPUSample)
        return GOTRACE_OK;
    const work sample = {.owner = record->args[1],
                         .slice = (size_t)(s->slice - s->slices),
                         .batch = s->sample_batch,
                         .sample = record->offset,
                         .sample_size = (uint32_t)record->length};
    return add_work(s, sample) ? GOTRACE_OK : GOTRACE_ERROR;
}

/* Of clocks (plan_slices), ends and tables, the first one is used. */
static bool plan_batch(split *s, slice *at, size_t n)
{
    const parts_batch *b = &s->batches.list[n];
    switch (b->kind) {
    case PARTS_SYNC: return true;
    case PARTS_END: at->last = at->last ? at->last : b; return true;
    case PARTS_STACKS:
        at->stacks_time = at->stacks_time ? at->stacks_time : b->time;
        return parts_load(&s->scan, b, &s->input.stacks, s->error) == GOTRACE_OK;
    case PARTS_STRINGS:
        at->strings_time = at->strings_time ? at->strings_time : b->time;
        return parts_load(&s->scan, b, &s->input.strings, s->error) == GOTRACE_OK;
    case PARTS_SAMPLES:
        s->slice = at;
        s->sample_batch = n;
        return walk(s, b->offset, b->size, plan_sample);
    case PARTS_EVENTS:
        return add_work(s,
                        (work){.owner = b->owner, .slice = (size_t)(at - s->slices), .batch = n});
    default: return true;
    }
}

static int compare_works(const void *a, const void *b)
{
    const work *x = a, *y = b;
    if (x->owner != y->owner)
        return x->owner < y->owner ? -1 : 1;
    if (x->slice != y->slice)
        return x->slice < y->slice ? -1 : 1;
    bool samples_x = x->sample_size > 0, samples_y = y->sample_size > 0;
    if (samples_x != samples_y)
        return samples_x - samples_y;
    if (x->batch != y->batch)
        return x->batch < y->batch ? -1 : 1;
    return x->sample < y->sample ? -1 : x->sample > y->sample;
}

static bool plan_owners(split *s)
{
    parts_table *strings = &s->input.strings, *stacks = &s->input.stacks;
    bool v2 = s->input.version >= GOTRACE_FIRST_V2;
    for (size_t i = 0; i < s->slice_count; i++) {
        slice *at = &s->slices[i];
        at->first_string = v2 ? strings->count : 0;
        at->first_stack = v2 ? stacks->count : 0;
        size_t before = s->work_count;
        for (size_t n = at->first; n < at->end; n++)
            if (!plan_batch(s, at, s->order[n]))
                return false;
        /* An empty generation belongs to no thread. */
        const work nothing = {.owner = UINT64_MAX, .slice = i, .batch = NO_BATCH};
        if (v2 && at->sync && s->work_count == before && !add_work(s, nothing))
            return false;
        parts_table_sort(strings, at->first_string);
        parts_table_sort(stacks, at->first_stack);
        at->end_string = strings->count;
        at->end_stack = stacks->count;
    }
    if (s->work_count > 0)
        qsort(s->works, s->work_count, sizeof *s->works, compare_works);
    return true;
}

/* ---- splitting ------------------------------------------------------------------------------ */

static gotrace_status refuse(gotrace_error *error, int version, const char *why)
{
    fill_error(error, GOTRACE_RULE_USAGE, GOTRACE_NO_OFFSET, "this is a trace of go 1.%d: %s",
               version, why);
    return GOTRACE_ERROR;
}

static gotrace_status check(const split *s)
{
    int version = s->input.version;
    if (s->input.bare) {
        fill_error(s->error, GOTRACE_RULE_HEADER_MAGIC, 0,
                   "batches without a header cannot be split; 'gotrace merge' reads them");
        return GOTRACE_ERROR;
    }
    if (version < GOTRACE_FIRST_V2 && s->job->by == PARTS_BY_THREAD)
        return refuse(s->error, version, "its batches belong to procs; use --by proc");
    if (version < GOTRACE_FIRST_V2 && s->job->by == PARTS_BY_GENERATION)
        return refuse(s->error, version, "it has no generations; use --by proc");
    if (version >= GOTRACE_FIRST_V2 && s->job->by == PARTS_BY_PROC)
        return refuse(s->error, version, "its batches belong to threads; use --by thread");
    return GOTRACE_OK;
}

static gotrace_status write_parts(split *s)
{
    s->input.source = s->job->source;
    if (parts_input_probe(&s->input, s->job->config, s->error) < 0 || check(s) < 0 ||
        !parts_walker_init(&s->walker, s->input.version, s->job->config, s->error))
        return GOTRACE_ERROR;
    parts_shape_init(&s->shape, s->input.version);
    s->scan = (parts_scan){.input = &s->input,
                           .walker = &s->walker,
                           .batches = &s->batches,
                           .memory = &s->memory,
                           .config = s->job->config,
                           .problem = report,
                           .ctx = s};
    if (parts_input_index(&s->scan, s->error) < 0 || !plan_slices(s))
        return GOTRACE_ERROR;
    if (s->input.version < GOTRACE_FIRST_V2)
        s->walker.user = NULL; /* problems were reported when indexing */
    bool owners = s->job->by != PARTS_BY_GENERATION;
    if (owners && !plan_owners(s))
        return GOTRACE_ERROR;
    if (owners ? s->work_count == 0 : s->slice_count == 0) {
        fill_error(s->error, GOTRACE_RULE_TRACE_EMPTY, GOTRACE_NO_OFFSET,
                   "the trace contains no batches");
        return GOTRACE_ERROR;
    }
    return owners ? write_owners(s) : write_generations(s);
}

gotrace_status parts_split(const parts_split_job *job, gotrace_error *error)
{
    split *s = calloc(1, sizeof *s);
    if (!s) {
        fill_error(error, GOTRACE_RULE_SYSTEM_MEMORY, GOTRACE_NO_OFFSET, "out of memory");
        return GOTRACE_ERROR;
    }
    s->job = job;
    s->error = error;
    s->memory.limit = parts_limit(job->config);
    gotrace_status status = write_parts(s);
    parts_walker_free(&s->walker);
    parts_input_free(&s->input, &s->memory);
    free(s->batches.list);
    free(s->order);
    free(s->slices);
    free(s->works);
    free(s->used_strings.list);
    free(s->used_stacks.list);
    free(s->bytes.bytes);
    free(s);
    return status;
}
