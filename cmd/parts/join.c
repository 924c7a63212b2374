/*
 * join.c - write the batches of several parts as one trace.
 *
 * Parts of one trace use the same ids, so that their batches are copied unchanged. Where ids
 * differ, because different writers wrote the parts, batches are rewritten.
 */
#include <stdlib.h>

#include "cmd/parts/merge.h"

/* ---- ids ------------------------------------------------------------------------------------ */

/* An undefined id is unchanged: batches of a crashed process have no tables. */
static uint64_t map(const parts_table *table, uint64_t id)
{
    const parts_entry *entry = parts_table_find(table, 0, table->count, id);
    return entry ? entry->mapped : id;
}

/* Copy the record's values to m->args, with the ids of the trace. */
static bool map_record(parts_merge *m, const gotrace_record *record)
{
    const parts_input *in = &m->part->in;
    if (!parts_grow(&m->memory, &m->args, &m->arg_capacity, record->arg_count, sizeof *m->args,
                    m->error))
        return false;
    for (size_t i = 0; i < record->arg_count; i++) {
        parts_ref ref = parts_ref_of(&m->shape, record, i);
        m->args[i] = ref == PARTS_REF_STRING  ? map(&in->strings, record->args[i])
                     : ref == PARTS_REF_STACK ? map(&in->stacks, record->args[i])
                                              : record->args[i];
    }
    return true;
}

static bool is_string(const parts_merge *m, const gotrace_record *record)
{
    return record->spec->code ==
           (m->version < GOTRACE_FIRST_V2 ? GOTRACE_V1_String : GOTRACE_V2_String);
}

/* Assign an id to a string or a stack of the current part. */
static gotrace_status intern_record(void *ctx, const gotrace_record *record, gotrace_error *error)
{
    parts_merge *m = ctx;
    bool string = is_string(m, record);
    if (!string && record->spec->code != GOTRACE_V2_Stack)
        return GOTRACE_OK;
    parts_entry *entry = m->entry;
    parts_item *item;
    if (string) {
        item = parts_intern_add(&m->strings, &m->memory, record->args[0], record->data,
                                record->data_size, error);
    } else {
        if (!map_record(m, record))
            return GOTRACE_ERROR;
        item = parts_intern_add(&m->stacks, &m->memory, record->args[0], m->args + 1,
                                (record->arg_count - 1) * sizeof *m->args, error);
    }
    if (!item)
        return GOTRACE_ERROR;
    entry->mapped = item->id;
    m->part->same = m->part->same && item->id == record->args[0];
    if (entry->mark && !item->placed) {
        item->placed = true;
        item->input = (uint32_t)(m->part - m->parts);
        item->offset = entry->offset;
    }
    return GOTRACE_OK;
}

/* ---- batches -------------------------------------------------------------------------------- */

/* v1: whether this is where the output defines the string. */
static bool is_placed(const parts_merge *m, const gotrace_record *record, uint64_t id)
{
    const parts_item *item = parts_intern_find(&m->strings, id);
    return item && item->placed && item->input == (uint32_t)(m->part - m->parts) &&
           item->offset == record->offset;
}

static gotrace_status remake_v1(void *ctx, const gotrace_record *record, gotrace_error *error)
{
    parts_merge *m = ctx;
    unsigned code = record->spec->code;
    (void)error;
    if (code == GOTRACE_V1_Frequency || code == GOTRACE_V1_TimerGoroutine ||
        code == GOTRACE_V1_Stack)
        return GOTRACE_OK; /* written in the footer */
    if (!map_record(m, record))
        return GOTRACE_ERROR;
    if (code == GOTRACE_V1_String) {
        m->args[0] = map(&m->part->in.strings, record->args[0]);
        if (!is_placed(m, record, m->args[0]))
            return GOTRACE_OK;
    }
    m->bytes.count = 0;
    if (!parts_put_record(&m->bytes, &m->memory, m->version, record, m->args, m->error))
        return GOTRACE_ERROR;
    out_bytes(m->o, m->bytes.bytes, m->bytes.count);
    return GOTRACE_OK;
}

static gotrace_status remake_v2(void *ctx, const gotrace_record *record, gotrace_error *error)
{
    parts_merge *m = ctx;
    unsigned code = record->spec->code;
    (void)error;
    if (code == GOTRACE_V2_EventBatch || code == GOTRACE_V2_CPUSamples)
        return GOTRACE_OK; /* written by the pack */
    m->bytes.count = 0;
    if (!map_record(m, record) ||
        !parts_put_record(&m->bytes, &m->memory, m->version, record, m->args, m->error))
        return GOTRACE_ERROR;
    if (code == GOTRACE_V2_ExperimentalBatch) {
        out_bytes(m->o, m->bytes.bytes, m->bytes.count);
        return GOTRACE_OK;
    }
    /* Longer ids may make a batch too large: it is split in two. */
    if (m->bytes.count > sizeof m->pack.bytes - m->pack.used) {
        parts_pack_end(&m->pack);
        m->pack.time = m->now;
    }
    parts_pack_add(&m->pack, m->bytes.bytes, m->bytes.count);
    if (record->spec->flags & GOTRACE_SPEC_TIMED)
        m->now += record->args[0];
    return GOTRACE_OK;
}

/* Copy a batch, with the ids of the trace. */
static bool join_batch(parts_merge *m, const parts_batch *b)
{
    m->part = &m->parts[b->input];
    if (!merge_source(m, b->input, m->error))
        return false;
    bool refers = b->kind == PARTS_EVENTS || b->kind == PARTS_SAMPLES;
    if (!refers || (m->part->same && !b->partial))
        return parts_copy(m->o, m->part->in.source, b->offset, b->size, m->error) == GOTRACE_OK;
    m->pack.thread = b->owner;
    m->pack.time = m->now = b->time;
    parts_pack_begin(&m->pack, b->kind == PARTS_SAMPLES ? GOTRACE_V2_CPUSamples : 0);
    gotrace_status status = parts_walk(&m->walker, m->part->in.source, b->offset, b->size,
                                       m->version < GOTRACE_FIRST_V2 ? remake_v1 : remake_v2, m,
                                       m->error);
    if (m->version >= GOTRACE_FIRST_V2)
        parts_pack_end(&m->pack);
    if (status != GOTRACE_ERROR)
        return true;
    if (m->error->class_ == GOTRACE_CLASS_SYSTEM)
        return false;
    m->job.problem(m->job.ctx, b->input, m->error);
    return true;
}

/* ---- tables --------------------------------------------------------------------------------- */

static bool pack_record(parts_merge *m, const gotrace_record *record)
{
    m->bytes.count = 0;
    if (!parts_put_record(&m->bytes, &m->memory, m->version, record, NULL, m->error))
        return false;
    parts_pack_add(&m->pack, m->bytes.bytes, m->bytes.count);
    return true;
}

static bool pack_strings(parts_merge *m)
{
    const gotrace_event_spec *spec = gotrace_event_spec_named(m->version, "String");
    for (size_t i = 0; i < m->strings.count && !m->o->failed; i++) {
        const parts_item *item = &m->strings.items[i];
        gotrace_record record = {.spec = spec,
                                 .args = &item->id,
                                 .arg_count = 1,
                                 .data = (const char *)m->strings.bytes + item->at,
                                 .data_size = item->size,
                                 .form = UINT8_MAX};
        if (!item->placed && !pack_record(m, &record))
            return false;
    }
    return true;
}

static bool pack_stacks(parts_merge *m)
{
    const gotrace_event_spec *spec = gotrace_event_spec_named(m->version, "Stack");
    for (size_t i = 0; i < m->stacks.count && !m->o->failed; i++) {
        const parts_item *item = &m->stacks.items[i];
        size_t count = 1 + item->size / sizeof *m->args;
        if (!parts_grow(&m->memory, &m->args, &m->arg_capacity, count, sizeof *m->args, m->error))
            return false;
        m->args[0] = item->id;
        memcpy(m->args + 1, m->stacks.bytes + item->at, item->size);
        gotrace_record record = {
            .spec = spec, .args = m->args, .arg_count = count, .form = UINT8_MAX};
        if (!pack_record(m, &record))
            return false;
    }
    return true;
}

/* ---- v1 ------------------------------------------------------------------------------------- */

static uint64_t above(const parts_table *table, uint64_t fresh)
{
    uint64_t last = table->count > 0 ? table->list[table->count - 1].id : 0;
    return last >= fresh && last < UINT64_MAX ? last + 1 : fresh;
}

/* Assign an id to each string (or stack) of the part. */
static bool intern_table(parts_merge *m, parts_table *table)
{
    for (size_t i = 0; i < table->count; i++) {
        m->entry = &table->list[i];
        gotrace_status status = parts_walk(&m->walker, m->part->in.source, m->entry->offset,
                                           m->entry->size, intern_record, m, m->error);
        if (status == GOTRACE_ERROR)
            return false;
    }
    return true;
}

/* A batch that defines a string that is also defined elsewhere cannot be copied unchanged. */
static void mark_partial_batches(parts_merge *m, const merge_part *part)
{
    const parts_table *strings = &part->in.strings;
    uint32_t number = (uint32_t)(part - m->parts);
    for (size_t i = 0; i < strings->count; i++) {
        const parts_entry *entry = &strings->list[i];
        if (!entry->mark)
            continue;
        size_t first = part->first, end = part->end;
        while (end - first > 1) {
            size_t middle = first + (end - first) / 2;
            if (m->batches.list[middle].offset <= entry->offset)
                first = middle;
            else
                end = middle;
        }
        const parts_item *item = parts_intern_find(&m->strings, entry->mapped);
        if (!item || item->input != number || item->offset != entry->offset)
            m->batches.list[first].partial = true;
    }
}

static int compare_v1(const void *a, const void *b, void *ctx)
{
    const parts_batch *x = a, *y = b;
    const merge_part *parts = ((parts_merge *)ctx)->parts;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    if (x->input != y->input)
        return parts[x->input].position < parts[y->input].position ? -1 : 1;
    return x->offset < y->offset ? -1 : x->offset > y->offset;
}

static bool pack_value(parts_merge *m, unsigned code, uint64_t value)
{
    const uint64_t args[] = {value, 0};
    const gotrace_arg_spec *specs[GOTRACE_MAX_ARGS];
    const gotrace_event_spec *spec = gotrace_event_spec_of(m->version, code);
    gotrace_record record = {.spec = spec,
                             .args = args,
                             .arg_count = gotrace_event_args(spec, m->version, specs),
                             .form = UINT8_MAX};
    return pack_record(m, &record);
}

/* Write each goroutine that runs timers once; there are at most as many as procs. */
static bool pack_timers(parts_merge *m)
{
    parts_intern known = {.count = 0};
    bool done = true;
    for (size_t i = 0; i < m->job.count && done; i++) {
        const parts_input *in = &m->parts[m->positions[i]].in;
        for (size_t n = 0; n < in->timer_count && done; n++) {
            uint64_t id = in->timers[n];
            size_t before = known.count;
            done = parts_intern_add(&known, &m->memory, id, &id, sizeof id, m->error) &&
                   (known.count == before || pack_value(m, GOTRACE_V1_TimerGoroutine, id));
        }
    }
    parts_intern_free(&known, &m->memory);
    return done;
}

static bool write_footer(parts_merge *m)
{
    uint64_t footer = 0, last = 0;
    for (size_t i = 0; i < m->job.count; i++) {
        const parts_input *in = &m->parts[i].in;
        footer = in->footer > footer ? in->footer : footer;
        last = in->last > last ? in->last : last;
    }
    m->pack.thread = 0;
    m->pack.time = footer ? footer : last;
    parts_pack_begin(&m->pack, 0);
    if ((m->frequency && !pack_value(m, GOTRACE_V1_Frequency, m->frequency)) || !pack_timers(m) ||
        !pack_strings(m) || !pack_stacks(m))
        return false;
    parts_pack_end(&m->pack);
    return true;
}

static bool write_v1(parts_merge *m)
{
    uint64_t string = 1, stack = 1;
    for (size_t i = 0; i < m->job.count; i++) {
        string = above(&m->parts[i].in.strings, string);
        stack = above(&m->parts[i].in.stacks, stack);
    }
    parts_intern_clear(&m->strings, &m->memory, string);
    parts_intern_clear(&m->stacks, &m->memory, stack);
    for (size_t i = 0; i < m->job.count; i++) {
        m->part = &m->parts[m->positions[i]];
        m->part->same = true;
        if (!merge_source(m, m->positions[i], m->error) || !intern_table(m, &m->part->in.strings) ||
            !intern_table(m, &m->part->in.stacks))
            return false;
    }
    m->entry = NULL;
    for (size_t i = 0; i < m->job.count; i++)
        mark_partial_batches(m, &m->parts[i]);
    if (m->batches.count > 0)
        qsort_r(m->batches.list, m->batches.count, sizeof *m->batches.list, compare_v1, m);
    for (size_t i = 0; i < m->batches.count && !m->o->failed; i++)
        if (m->batches.list[i].kind == PARTS_EVENTS && !join_batch(m, &m->batches.list[i]))
            return false;
    return write_footer(m);
}

/* ---- v2 ------------------------------------------------------------------------------------- */

static int compare_places(const void *a, const void *b, void *ctx)
{
    const parts_batch *x = a, *y = b;
    const merge_part *parts = ((parts_merge *)ctx)->parts;
    if (x->generation != y->generation)
        return x->generation < y->generation ? -1 : 1;
    if (x->input != y->input)
        return parts[x->input].position < parts[y->input].position ? -1 : 1;
    return x->offset < y->offset ? -1 : x->offset > y->offset;
}

/* Within a generation: clocks, events by time, tables. */
static int compare_v2(const void *a, const void *b, void *ctx)
{
    const parts_batch *x = a, *y = b;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    return compare_v1(a, b, ctx);
}

static parts_table *table_of(parts_merge *m, uint32_t part, int kind)
{
    parts_input *in = &m->parts[part].in;
    return kind == PARTS_STRINGS ? &in->strings : &in->stacks;
}

/* Whether the batch is its part's last before `end`. */
static bool is_last_of_part(const parts_batch *b, const parts_batch *end)
{
    return b + 1 == end || b[1].input != b->input;
}

/* Merge the tables of the parts in batches [first, end) of a generation. */
static bool intern_generation(parts_merge *m, const parts_batch *first, const parts_batch *end)
{
    for (int kind = PARTS_STRINGS; kind >= PARTS_STACKS; kind--) {
        uint64_t fresh = 1;
        for (const parts_batch *b = first; b < end; b++) {
            parts_scan scan = merge_scan(m, b->input);
            parts_table *table = table_of(m, b->input, kind);
            if (b->kind == kind &&
                (!merge_source(m, b->input, m->error) || parts_load(&scan, b, table, m->error) < 0))
                return false;
            if (!is_last_of_part(b, end))
                continue;
            parts_table_sort(table, 0);
            fresh = above(table, fresh);
        }
        parts_intern_clear(kind == PARTS_STRINGS ? &m->strings : &m->stacks, &m->memory, fresh);
        for (const parts_batch *b = first; b < end; b++) {
            m->part = &m->parts[b->input];
            if (is_last_of_part(b, end) && (!merge_source(m, b->input, m->error) ||
                                            !intern_table(m, table_of(m, b->input, kind))))
                return false;
        }
    }
    m->entry = NULL;
    return true;
}

/* Write the tables of a generation; each kind has the time of its first batch. */
static bool write_tables(parts_merge *m, const parts_batch *first, const parts_batch *end)
{
    uint64_t stacks = 0, strings = 0;
    for (const parts_batch *b = end; b > first; b--) {
        stacks = b[-1].kind == PARTS_STACKS ? b[-1].time : stacks;
        strings = b[-1].kind == PARTS_STRINGS ? b[-1].time : strings;
    }
    m->pack.thread = UINT64_MAX;
    m->pack.time = stacks;
    parts_pack_begin(&m->pack, GOTRACE_V2_Stacks);
    bool done = pack_stacks(m);
    parts_pack_end(&m->pack);
    m->pack.time = strings;
    parts_pack_begin(&m->pack, GOTRACE_V2_Strings);
    done = done && pack_strings(m);
    parts_pack_end(&m->pack);
    return done;
}

static void drop_tables(parts_merge *m, const parts_batch *first, const parts_batch *end)
{
    for (const parts_batch *b = first; b < end; b++) {
        parts_input *in = &m->parts[b->input].in;
        in->strings.count = in->stacks.count = 0;
    }
}

static bool write_generation(parts_merge *m, parts_batch *first, parts_batch *end)
{
    m->pack.generation = first->generation;
    for (parts_batch *b = first; b < end; b++)
        m->parts[b->input].same = true;
    if (first->input == end[-1].input) { /* one part has the whole generation */
        for (parts_batch *b = first; b < end && !m->o->failed; b++)
            if (!join_batch(m, b))
                return false;
        return true;
    }
    if (!intern_generation(m, first, end))
        return false;
    qsort_r(first, (size_t)(end - first), sizeof *first, compare_v2, m);
    bool tables = false, done = true;
    for (parts_batch *b = first; b < end && done && !m->o->failed; b++) {
        bool again = b > first && b[-1].kind == b->kind; /* another part has the same batch */
        if (b->kind > PARTS_SAMPLES && !tables) {
            tables = true;
            done = write_tables(m, first, end);
        }
        if (b->kind == PARTS_EVENTS || b->kind == PARTS_SAMPLES ||
            ((b->kind == PARTS_SYNC || b->kind == PARTS_END) && !again))
            done = done && join_batch(m, b);
    }
    drop_tables(m, first, end);
    return done;
}

static bool write_v2(parts_merge *m)
{
    parts_batch *list = m->batches.list;
    size_t count = m->batches.count;
    if (count > 0)
        qsort_r(list, count, sizeof *list, compare_places, m);
    for (size_t i = 0; i < m->job.count; i++) {
        m->parts[i].in.strings.count = m->parts[i].in.stacks.count = 0;
    }
    for (size_t i = 0, end; i < count && !m->o->failed; i = end) {
        for (end = i; end < count && list[end].generation == list[i].generation;)
            end++;
        if (!write_generation(m, list + i, list + end))
            return false;
    }
    return true;
}

gotrace_status parts_merge_write(parts_merge *m, out *o, gotrace_error *error)
{
    m->o = m->pack.o = o;
    m->error = error;
    m->pack.version = m->version;
    parts_put_header(o, m->version);
    return (m->version < GOTRACE_FIRST_V2 ? write_v1(m) : write_v2(m)) ? GOTRACE_OK : GOTRACE_ERROR;
}
