/*
 * parts.c - one timeline in several documents, each of about the size that is wanted.
 *
 * The records of a part wait until it is full: only then is the border known, at which what goes
 * on is cut. How long they will be is measured by writing them to nowhere.
 *
 * What goes on is written in each part, and so are the names of rows and the frames that a part
 * shows. A part is not full before it has at least as many bytes that are in no earlier part: else
 * a trace in which much goes on would become a multiple of its timeline.
 */
#include "formats/chrome/chrome.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    PART_WINDOW = 4 * 1024 * 1024,
    PART_BLOCK = 16, /* 64 KiB */
    AROUND = 2000,   /* about the bytes of a document with nothing in it */
    EVENT = 150,     /* and of an event */
};

static bool write_nowhere(void *ctx, const void *bytes, size_t size)
{
    (void)ctx, (void)bytes, (void)size;
    return true;
}

bool chrome_parts_init(chrome_parts *p, chrome_writer *writer, const convert_job *job)
{
    *p = (chrome_parts){.writer = writer, .job = job, .last = -1, .begin = job->from};
    idmap_init(&p->rows, sizeof(chrome_kept));
    idmap_init(&p->regions, sizeof(chrome_kept));
    idmap_init(&p->arrows, sizeof(uint64_t));
    idmap_init(&p->crossing, sizeof(bool));
    if (!spool_init(&p->waiting, PART_WINDOW, PART_BLOCK) ||
        !out_init(&p->nowhere, write_nowhere, NULL)) {
        p->error = ENOMEM;
        return false;
    }
    return true;
}

void chrome_parts_free(chrome_parts *p)
{
    chrome_forget_all(&p->rows);
    for (size_t i = 0; i < p->slice_count; i++)
        free(p->slices[i].text);
    free(p->slices);
    free(p->used_rows);
    chrome_forget_all(&p->regions);
    for (size_t i = 0; i < CHROME_COUNTERS; i++)
        free(p->counters[i]);
    idmap_free(&p->arrows);
    idmap_free(&p->crossing);
    spool_free(&p->waiting);
    out_free(&p->nowhere);
}

/* ---- what is kept -------------------------------------------------------------------------- */

/* The bytes that a record takes. */
static uint64_t length_of(chrome_parts *p, const chrome_record *record, const char *text)
{
    out *before = p->writer->o;
    bool started = p->writer->started;

    p->writer->o = &p->nowhere;
    p->writer->started = true;
    uint64_t begin = p->nowhere.written + p->nowhere.used;
    chrome_write_record(p->writer, record, text);
    p->writer->o = before;
    p->writer->started = started;
    return p->nowhere.written + p->nowhere.used - begin;
}

static chrome_kept *keep(chrome_parts *p, idmap *map, uint64_t key, const chrome_record *record,
                         const char *text)
{
    chrome_kept *kept = chrome_keep(map, key, record, text);

    if (!kept) {
        p->error = ENOMEM;
        return NULL;
    }
    kept->bytes = length_of(p, record, text);
    return kept;
}

/* Room for one element more in a list; false when memory is refused. */
static bool make_room(chrome_parts *p, void **list, size_t count, size_t *capacity, size_t element)
{
    if (count < *capacity)
        return true;
    size_t larger = *capacity ? 2 * *capacity : 64;
    void *grown = reallocarray(*list, larger, element);
    if (!grown) {
        p->error = ENOMEM;
        return false;
    }
    *list = grown;
    *capacity = larger;
    return true;
}

/* A slice that goes on when the part ends. */
static void keep_slice(chrome_parts *p, const chrome_record *record, const char *text)
{
    void *slices = p->slices;
    char *copy = malloc(record->text_size + (size_t)1);

    if (!copy || !make_room(p, &slices, p->slice_count, &p->slice_capacity, sizeof *p->slices)) {
        free(copy);
        p->error = ENOMEM;
        return;
    }
    p->slices = slices;
    if (record->text_size > 0)
        memcpy(copy, text, record->text_size);
    chrome_kept *kept = &p->slices[p->slice_count++];
    *kept = (chrome_kept){.record = *record, .text = copy};
    kept->record.time = p->border;
    kept->record.values[CHROME_STACK] = 0;
    chrome_record cut = kept->record; /* as other parts have it, but the last */
    cut.values[CHROME_END_STACK] = 0;
    kept->bytes = length_of(p, &cut, copy);
    p->carried_bytes += kept->bytes;
}

static void keep_region(chrome_parts *p, const chrome_record *record, const char *text)
{
    chrome_record again = *record;

    again.values[CHROME_STACK] = 0;
    const chrome_kept *kept = keep(p, &p->regions, record->values[CHROME_ID], &again, text);
    if (kept) /* its beginning and its end */
        p->carried_bytes += 2 * kept->bytes;
}

static void forget_region(chrome_parts *p, uint64_t id)
{
    const chrome_kept *kept = idmap_find(&p->regions, id);

    if (kept)
        p->carried_bytes -= 2 * kept->bytes;
    chrome_forget(&p->regions, id);
}

/* Have write_rows look at a row. */
static void list_row(chrome_parts *p, uint64_t key)
{
    void *rows = p->used_rows;

    if (!make_room(p, &rows, p->used_row_count, &p->used_row_capacity, sizeof *p->used_rows))
        return;
    p->used_rows = rows;
    p->used_rows[p->used_row_count++] = key;
}

/* Remember that this part shows something on a row. */
static void use_row(chrome_parts *p, const chrome_record *record)
{
    uint64_t key = chrome_row_key(record);
    chrome_kept *row = idmap_find(&p->rows, key);

    if (!row || row->part == p->part + 1)
        return;
    *(row->part == 0 ? &p->fresh : &p->again) += row->bytes;
    row->part = p->part + 1;
    p->size += 2 * EVENT + row->record.text_size;
    list_row(p, key);
}

/* ---- writing a part ------------------------------------------------------------------------ */

/* Each in the order of its key, so that the output is the same each time. */
static void each_kept(chrome_parts *p, idmap *map, void (*take)(chrome_parts *, uint64_t, void *))
{
    size_t count = map->count;
    uint64_t *keys = idmap_sorted_keys(map);

    if (!keys && count > 0)
        p->error = ENOMEM;
    for (size_t i = 0; keys && i < count; i++)
        take(p, keys[i], idmap_find(map, keys[i]));
    free(keys);
}

/* Rows that are named whatever the part shows: sections, and lanes of the runtime. */
static bool is_special(const chrome_record *row)
{
    uint64_t tid = row->values[CHROME_TID];

    return row->op == CHROME_SECTION || (row->values[CHROME_PID] == CHROME_PID_PROCS &&
                                         tid > CHROME_LANE_NOWHERE && tid <= CHROME_LANE_GC);
}

static void write_row(chrome_parts *p, uint64_t key, chrome_kept *row)
{
    bool special = is_special(&row->record);

    if (special || row->part == p->part) {
        row->record.time = p->begin;
        chrome_write_record(p->writer, &row->record, row->text);
    }
    if (row->closed)
        chrome_forget(&p->rows, key);
    else if (special)
        list_row(p, key);
}

/* In the order of their keys, so that the output is the same each time. */
static void write_rows(chrome_parts *p)
{
    uint64_t *keys = p->used_rows;
    size_t count = p->used_row_count;

    p->used_rows = NULL;
    p->used_row_count = p->used_row_capacity = 0;
    if (count > 0)
        idmap_sort(keys, count);
    for (size_t i = 0; i < count; i++) {
        chrome_kept *row = i > 0 && keys[i] == keys[i - 1] ? NULL : idmap_find(&p->rows, keys[i]);
        if (row)
            write_row(p, keys[i], row);
    }
    free(keys);
}

/* Nothing more will happen on a row. */
static void close_row(chrome_parts *p, const chrome_record *record)
{
    uint64_t key = chrome_row_key(record);
    chrome_kept *row = idmap_find(&p->rows, key);

    if (!row)
        return;
    row->closed = true;
    list_row(p, key);
}

/* Nothing more happens on the row of a task that has ended. */
static void close_task(chrome_parts *p, const chrome_record *record)
{
    if (record->op == CHROME_TASK)
        close_row(p, record);
}

static void write_slice(chrome_parts *p, chrome_record *record, const char *text)
{
    int64_t end = (int64_t)record->values[CHROME_END];

    if (end <= p->border)
        close_task(p, record);
    if (end > p->border) {
        record->values[CHROME_END] = (uint64_t)p->border;
        record->values[CHROME_END_STACK] = 0;
    }
    chrome_write_record(p->writer, record, text);
}

/* What goes on since an earlier part. */
static void write_slices(chrome_parts *p)
{
    size_t count = p->slice_count;

    p->slice_count = 0;
    for (size_t i = 0; i < count; i++) {
        chrome_kept *kept = &p->slices[i];
        chrome_record record = kept->record;
        write_slice(p, &record, kept->text);
        if ((int64_t)kept->record.values[CHROME_END] <= p->border) {
            p->carried_bytes -= kept->bytes;
            free(kept->text);
            continue;
        }
        kept->record.time = p->border;
        p->slices[p->slice_count++] = *kept;
    }
}

static void write_region(chrome_parts *p, uint64_t key, void *value)
{
    chrome_kept *kept = value;
    chrome_record record = kept->record;

    (void)key;
    record.time = p->region_op == CHROME_REGION_BEGIN ? p->begin : p->border;
    record.op = p->region_op;
    chrome_write_record(p->writer, &record, kept->text);
}

static void write_regions(chrome_parts *p, chrome_op op)
{
    p->region_op = (uint8_t)op;
    each_kept(p, &p->regions, write_region);
}

/* A record of the part at hand, as it is drawn there. */
static void write_waiting(chrome_parts *p, chrome_record *record, const char *text)
{
    uint64_t id = record->values[CHROME_ID];

    switch ((chrome_op)record->op) {
    case CHROME_SLICE:
    case CHROME_TASK:
        if ((int64_t)record->values[CHROME_END] > p->border)
            keep_slice(p, record, text);
        write_slice(p, record, text);
        return;
    case CHROME_REGION_BEGIN: keep_region(p, record, text); break;
    case CHROME_REGION_END: forget_region(p, id); break;
    case CHROME_ARROW_START:
        /* One that ends in a later part has nothing to end in here. */
        if (idmap_find(&p->arrows, id)) {
            if (!idmap_insert(&p->crossing, id))
                p->error = ENOMEM;
            return;
        }
        break;
    case CHROME_ARROW_END:
        if (idmap_find(&p->crossing, id)) {
            idmap_remove(&p->crossing, id);
            return;
        }
        break;
    case CHROME_HEAP:
    case CHROME_GOROUTINES:
    case CHROME_THREADS: *p->counters[record->op - CHROME_HEAP] = *record; break;
    default: break;
    }
    chrome_write_record(p->writer, record, text);
}

static bool allocate_counters(chrome_parts *p)
{
    for (size_t i = 0; i < CHROME_COUNTERS; i++)
        if (!p->counters[i] && !(p->counters[i] = calloc(1, sizeof *p->counters[i])))
            return false;
    return true;
}

static void write_counters(chrome_parts *p)
{
    for (size_t i = 0; i < CHROME_COUNTERS; i++) {
        chrome_record record = *p->counters[i];
        record.time = p->begin;
        if (record.count > 0)
            chrome_write_record(p->writer, &record, NULL);
    }
}

static void use_row_of(chrome_parts *p, uint64_t key, void *value)
{
    (void)key;
    use_row(p, &((chrome_kept *)value)->record);
}

static void write_all_waiting(chrome_parts *p)
{
    const chrome_record *waiting;
    spool_taken block;
    const char *text;

    while (spool_take(&p->waiting, true, true, &block)) {
        size_t at = 0;
        while ((waiting = chrome_next_record(&block, &at, &text)) != NULL) {
            chrome_record record;
            memcpy(&record, waiting, CHROME_HEAD_SIZE + waiting->count * sizeof record.values[0]);
            write_waiting(p, &record, text);
        }
        spool_release(&p->waiting, &block);
    }
}

static void add_row(chrome_parts *p, uint64_t key, void *value)
{
    const chrome_kept *row = idmap_find(&p->rows, chrome_row_key(&((chrome_kept *)value)->record));

    (void)key;
    p->again += row ? row->bytes : 0;
}

/* The next part names the rows of what goes on. */
static void add_carried_rows(chrome_parts *p)
{
    for (size_t i = 0; i < p->slice_count; i++)
        add_row(p, 0, &p->slices[i]);
    each_kept(p, &p->regions, add_row);
}

/* Write all that waits, up to the border. */
static void write_part(chrome_parts *p, int64_t border)
{
    if (p->error != 0 || p->job->out->failed)
        return;
    if (!allocate_counters(p) || (p->part > 0 && !p->job->next_part(p->job->ctx))) {
        p->error = ENOMEM;
        return;
    }
    for (size_t i = 0; i < p->slice_count; i++)
        use_row(p, &p->slices[i].record);
    each_kept(p, &p->regions, use_row_of);
    p->part++;
    p->border = border;
    p->writer->o = p->job->out;
    p->writer->started = false;
    chrome_frames_use_none(p->writer->frames);
    chrome_write_begin(p->writer);
    write_rows(p);
    write_counters(p);
    write_regions(p, CHROME_REGION_BEGIN);
    write_slices(p);
    write_all_waiting(p);
    if (border != INT64_MAX)
        write_regions(p, CHROME_REGION_END);
    chrome_write_end(p->writer);
    chrome_frames_use_none(p->writer->frames);
    p->size = p->fresh = p->again = 0;
    add_carried_rows(p);
    p->begin = border;
}

/* ---- taking records ------------------------------------------------------------------------ */

/* What a part has beside its records: what goes on from the one before, and what rows are called.
 */
static uint64_t size_around(const chrome_parts *p)
{
    return AROUND + EVENT * (p->slice_count + 2 * p->regions.count + CHROME_COUNTERS);
}

/* Whether the part has the size that is wanted, and is not mostly what earlier ones have. */
static bool is_full(const chrome_parts *p)
{
    const chrome_frames *frames = p->writer->frames;
    uint64_t again = AROUND + EVENT * CHROME_COUNTERS + p->carried_bytes + p->again +
                     frames->again_bytes;

    return p->size + frames->used_bytes + size_around(p) >= p->job->part_size &&
           p->fresh + frames->used_bytes - frames->again_bytes >= again;
}

/* The names of rows are written in each part that shows them. */
static bool take_row(chrome_parts *p, const chrome_record *record, const char *text)
{
    if (record->op == CHROME_ROW_END) {
        close_row(p, record);
        return true;
    }
    if (record->op != CHROME_ROW && record->op != CHROME_SECTION)
        return false;
    uint64_t key = chrome_row_key(record);
    if (keep(p, &p->rows, key, record, text) && is_special(record))
        list_row(p, key);
    return true;
}

void chrome_parts_take(chrome_parts *p, const chrome_record *record, const char *text)
{
    /* What happens at the same time stays together: an arrow's end and what it ends in. */
    if (is_full(p) && record->time > p->last && p->last >= p->begin)
        write_part(p, record->time);
    p->last = record->time;
    if (p->error != 0 || take_row(p, record, text))
        return;
    uint64_t bytes = length_of(p, record, text);
    p->size += bytes;
    p->fresh += bytes;
    if (record->op < CHROME_HEAP)
        use_row(p, record);
    if (record->op == CHROME_ARROW_START && !idmap_insert(&p->arrows, record->values[CHROME_ID]))
        p->error = ENOMEM;
    if (record->op == CHROME_ARROW_END)
        idmap_remove(&p->arrows, record->values[CHROME_ID]);
    if (chrome_append(&p->waiting, record, record->values, text) == SPOOL_NONE)
        p->error = p->waiting.error;
}

void chrome_parts_finish(chrome_parts *p)
{
    write_part(p, INT64_MAX);
    if (p->waiting.error != 0)
        p->error = p->waiting.error;
}
