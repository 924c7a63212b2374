/* index.c - index a file: its batches, and the offsets of strings and stacks. */
#include <stdlib.h>

#include "cmd/parts/parts.h"

/* ---- tables --------------------------------------------------------------------------------- */

bool parts_table_add(parts_table *table, parts_memory *memory, const gotrace_record *record,
                     gotrace_error *error)
{
    if (!parts_grow(memory, &table->list, &table->capacity, table->count + 1, sizeof *table->list,
                    error))
        return false;
    table->list[table->count++] = (parts_entry){.id = record->args[0],
                                                .offset = record->offset,
                                                .mapped = record->args[0],
                                                .size = (uint32_t)record->length};
    return true;
}

static int compare_entries(const void *a, const void *b)
{
    const parts_entry *x = a, *y = b;
    if (x->id != y->id)
        return x->id < y->id ? -1 : 1;
    return x->offset < y->offset ? -1 : x->offset > y->offset;
}

void parts_table_sort(parts_table *table, size_t first)
{
    size_t count = table->count - first, kept = 0;
    if (count == 0)
        return;
    parts_entry *list = table->list + first;
    qsort(list, count, sizeof *list, compare_entries);
    for (size_t i = 0; i < count; i++)
        if (i + 1 == count || list[i].id != list[i + 1].id)
            list[kept++] = list[i];
    table->count = first + kept;
}

parts_entry *parts_table_find(const parts_table *table, size_t first, size_t end, uint64_t id)
{
    while (first < end) {
        size_t middle = first + (end - first) / 2;
        if (table->list[middle].id == id)
            return &table->list[middle];
        if (table->list[middle].id < id)
            first = middle + 1;
        else
            end = middle;
    }
    return NULL;
}

/* ---- the header ----------------------------------------------------------------------------- */

gotrace_status parts_input_probe(parts_input *input, const gotrace_config *config,
                                 gotrace_error *error)
{
    /* First byte of a v1 Batch record as all tracers write it: form 1, with one value more than the
     * least. No header and no v2 batch begins with this byte. */
    enum { BATCH_OF_V1 = GOTRACE_V1_Batch | 1 << 6 };
    uint8_t first;
    size_t got = 0;
    if (gotrace_source_read(input->source, 0, &first, 1, &got, error) < 0)
        return GOTRACE_ERROR;
    input->bare = got > 0 && first == BATCH_OF_V1;
    if (input->bare)
        return GOTRACE_OK;
    gotrace_reader *reader;
    if (gotrace_reader_open(input->source, config, &reader, error) < 0)
        return GOTRACE_ERROR;
    input->version = gotrace_reader_summary(reader)->version;
    gotrace_reader_close(reader);
    return GOTRACE_OK;
}

/* ---- v1: decodes every record, because batches have no size ---------------------------------- */

typedef struct v1_index {
    const parts_scan *scan;
    parts_batch batch; /* the current batch */
    bool open;
    uint64_t events;     /* in the current batch */
    bool has_tables;     /* it contains records of the footer */
    bool has_frequency;  /* as has_tables */
    size_t first_string; /* index of the first string that it defines */
    uint64_t end;        /* offset of the end of the last record */
    uint64_t given;      /* position of the last progress report */
} v1_index;

/* Add the current batch to the index. */
static bool close_batch(v1_index *x, gotrace_error *error)
{
    if (!x->open)
        return true;
    const parts_scan *s = x->scan;
    parts_batch *b = &x->batch;
    b->size = x->end - b->offset;
    b->kind = x->events > 0 ? PARTS_EVENTS : PARTS_TABLES;
    b->partial = x->events > 0 && x->has_tables;
    if (x->events > 0)
        for (size_t i = x->first_string; i < s->input->strings.count; i++)
            s->input->strings.list[i].mark = 1;
    /* Also a batch of events may contain the frequency, and tells only when these began. */
    if (b->last > s->input->last)
        s->input->last = b->last;
    if (x->has_frequency && b->kind == PARTS_TABLES)
        s->input->footer = b->time;
    if (!parts_grow(s->memory, &s->batches->list, &s->batches->capacity, s->batches->count + 1,
                    sizeof *b, error))
        return false;
    s->batches->list[s->batches->count++] = *b;
    return true;
}

static bool open_batch(v1_index *x, const gotrace_record *record, gotrace_error *error)
{
    if (!close_batch(x, error))
        return false;
    bool header = record->spec->code == GOTRACE_V1_Batch;
    uint64_t time = header ? record->args[record->arg_count - 1] : 0;
    x->batch = (parts_batch){.offset = record->offset,
                             .owner = header ? record->args[0] : 0,
                             .time = time,
                             .last = time,
                             .input = x->scan->number};
    x->open = true;
    x->events = 0;
    x->has_tables = x->has_frequency = false;
    x->first_string = x->scan->input->strings.count;
    return true;
}

static bool add_timer(const parts_scan *s, uint64_t goroutine, gotrace_error *error)
{
    parts_input *in = s->input;
    if (!parts_grow(s->memory, &in->timers, &in->timer_capacity, in->timer_count + 1,
                    sizeof *in->timers, error))
        return false;
    in->timers[in->timer_count++] = goroutine;
    return true;
}

static gotrace_status index_record(void *ctx, const gotrace_record *record, gotrace_error *error)
{
    v1_index *x = ctx;
    const parts_scan *s = x->scan;
    bool done = true;
    unsigned code = record->spec->code;
    if (code == GOTRACE_V1_Batch || !x->open)
        done = open_batch(x, record, error);
    x->end = record->offset + record->length;
    switch (code) {
    case GOTRACE_V1_Frequency:
        s->input->frequency = record->args[0];
        x->has_frequency = x->has_tables = true;
        break;
    case GOTRACE_V1_TimerGoroutine:
        x->has_tables = true;
        done = done && add_timer(s, record->args[0], error);
        break;
    case GOTRACE_V1_String:
        done = done && parts_table_add(&s->input->strings, s->memory, record, error);
        break;
    case GOTRACE_V1_Stack:
        x->has_tables = true;
        done = done && parts_table_add(&s->input->stacks, s->memory, record, error);
        break;
    default:
        if (record->spec->flags & GOTRACE_SPEC_TIMED) {
            x->events++;
            x->batch.last += record->args[s->input->version < 7];
        }
    }
    enum { STEP = 1 << 20 };
    if (x->end - x->given > STEP && s->config && s->config->on_progress) {
        x->given = x->end;
        s->config->on_progress(s->config->callback_ctx, x->end,
                               gotrace_source_size(s->input->source));
    }
    return done ? GOTRACE_OK : GOTRACE_ERROR;
}

static gotrace_status index_v1(const parts_scan *scan, gotrace_error *error)
{
    v1_index x = {.scan = scan};
    uint64_t start = scan->input->bare ? 0 : PARTS_HEADER;
    uint64_t size = gotrace_source_size(scan->input->source);
    if (size > start && parts_walk(scan->walker, scan->input->source, start, size - start,
                                   index_record, &x, error) < 0) {
        if (error->class_ == GOTRACE_CLASS_SYSTEM)
            return GOTRACE_ERROR;
        scan->problem(scan->ctx, scan->number, error);
    }
    if (!close_batch(&x, error))
        return GOTRACE_ERROR;
    parts_table_sort(&scan->input->strings, 0);
    parts_table_sort(&scan->input->stacks, 0);
    return GOTRACE_OK;
}

/* ---- v1 and v2 ------------------------------------------------------------------------------- */

static int compare_owners(const void *a, const void *b)
{
    const parts_batch *x = *(parts_batch *const *)a, *y = *(parts_batch *const *)b;
    if (x->generation != y->generation)
        return x->generation < y->generation ? -1 : 1;
    if (x->owner != y->owner)
        return x->owner < y->owner ? -1 : 1;
    return x->offset < y->offset ? -1 : x->offset > y->offset;
}

/* Keep the order of an owner's batches, even if their times decrease. */
static gotrace_status rank(const parts_scan *scan, size_t first, gotrace_error *error)
{
    size_t count = scan->batches->count - first, capacity = 0;
    parts_batch **sorted = NULL;
    if (!parts_grow(scan->memory, &sorted, &capacity, count, sizeof *sorted, error))
        return GOTRACE_ERROR;
    for (size_t i = 0; i < count; i++)
        sorted[i] = &scan->batches->list[first + i];
    if (count > 0)
        qsort(sorted, count, sizeof *sorted, compare_owners);
    for (size_t i = 0; i < count; i++) {
        parts_batch *b = sorted[i], *before = i > 0 ? sorted[i - 1] : NULL;
        b->rank = b->time;
        if (before && before->generation == b->generation && before->owner == b->owner &&
            before->rank > b->rank)
            b->rank = before->rank;
    }
    parts_drop(scan->memory, sorted, capacity, sizeof *sorted);
    return GOTRACE_OK;
}

gotrace_status parts_input_index(const parts_scan *scan, gotrace_error *error)
{
    size_t first = scan->batches->count;
    bool v2 = scan->input->version >= GOTRACE_FIRST_V2;
    gotrace_status status = v2 ? parts_index_v2(scan, error) : index_v1(scan, error);
    return status == GOTRACE_OK ? rank(scan, first, error) : status;
}

void parts_input_free(parts_input *input, parts_memory *memory)
{
    parts_drop(memory, input->strings.list, input->strings.capacity, sizeof *input->strings.list);
    parts_drop(memory, input->stacks.list, input->stacks.capacity, sizeof *input->stacks.list);
    parts_drop(memory, input->timers, input->timer_capacity, sizeof *input->timers);
    *input = (parts_input){.source = input->source};
}
