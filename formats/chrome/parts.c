/*
 * parts.c - one timeline in several documents, each of about the requested size.
 *
 * The records of a part are queued until it is full, because slices that continue are split at its
 * end. Their size is measured by writing them to an output that only counts.
 *
 * Continuing slices and regions, names of rows and the frames in use are repeated in each part. A
 * part is full only when at least half of its bytes are in no earlier part: otherwise a trace with
 * many long slices would become a multiple of its timeline.
 */
#include "formats/chrome/chrome.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    PART_WINDOW = 4 * 1024 * 1024,
    PART_BLOCK = 16, /* 64 KiB */
    AROUND = 2000,   /* approximate size of an empty document */
    EVENT = 150,     /* approximate size of an event */
};

static bool discard(void *ctx, const void *bytes, size_t size)
{
    (void)ctx, (void)bytes, (void)size;
    return true;
}

bool chrome_parts_init(chrome_parts *p, chrome_writer *writer, const convert_job *job)
{
    *p = (chrome_parts){.writer = writer, .job = job, .last = -1, .begin = job->from};
    idmap_init(&p->rows, sizeof(chrome_saved));
    idmap_init(&p->regions, sizeof(chrome_saved));
    idmap_init(&p->flows, sizeof(uint64_t));
    idmap_init(&p->crossing, sizeof(bool));
    if (!spool_init(&p->waiting, PART_WINDOW, PART_BLOCK) ||
        !out_init(&p->measuring, discard, NULL)) {
        p->error = ENOMEM;
        return false;
    }
    return true;
}

void chrome_parts_free(chrome_parts *p)
{
    chrome_unsave_all(&p->rows);
    for (size_t i = 0; i < p->slice_count; i++)
        free(p->slices[i].text);
    free(p->slices);
    free(p->used_rows);
    chrome_unsave_all(&p->regions);
    for (size_t i = 0; i < CHROME_COUNTERS; i++)
        free(p->counters[i]);
    idmap_free(&p->flows);
    idmap_free(&p->crossing);
    spool_free(&p->waiting);
    out_free(&p->measuring);
}

/* ---- saved records --------------------------------------------------------------------------- */

/* The size of a record in the document. */
static uint64_t length_of(chrome_parts *p, const chrome_record *record, const char *text)
{
    out *before = p->writer->o;
    bool started = p->writer->started;

    p->writer->o = &p->measuring;
    p->writer->started = true;
    uint64_t begin = p->measuring.written + p->measuring.used;
    chrome_write_record(p->writer, record, text);
    p->writer->o = before;
    p->writer->started = started;
    return p->measuring.written + p->measuring.used - begin;
}

static chrome_saved *save(chrome_parts *p, idmap *map, uint64_t key, const chrome_record *record,
                          const char *text)
{
    chrome_saved *saved = chrome_save(map, key, record, text);

    if (!saved) {
        p->error = ENOMEM;
        return NULL;
    }
    saved->bytes = length_of(p, record, text);
    return saved;
}

/* Makes room for one more element in a list; false if memory is refused. */
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

/* Saves a slice that continues after the end of the part. */
static void save_slice(chrome_parts *p, const chrome_record *record, const char *text)
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
    chrome_saved *saved = &p->slices[p->slice_count++];
    *saved = (chrome_saved){.record = *record, .text = copy};
    saved->record.time = p->part_end;
    saved->record.values[CHROME_STACK] = 0;
    chrome_record cut = saved->record; /* as in all parts except the last */
    cut.values[CHROME_END_STACK] = 0;
    saved->bytes = length_of(p, &cut, copy);
    p->carried_bytes += saved->bytes;
}

static void save_region(chrome_parts *p, const chrome_record *record, const char *text)
{
    chrome_record record_in_parts = *record;

    record_in_parts.values[CHROME_STACK] = 0;
    const chrome_saved *saved = save(p, &p->regions, record->values[CHROME_ID], &record_in_parts,
                                     text);
    if (saved) /* one record for its beginning, one for its end */
        p->carried_bytes += 2 * saved->bytes;
}

static void unsave_region(chrome_parts *p, uint64_t id)
{
    const chrome_saved *saved = idmap_find(&p->regions, id);

    if (saved)
        p->carried_bytes -= 2 * saved->bytes;
    chrome_unsave(&p->regions, id);
}

/* Adds a row to those that write_rows examines. */
static void list_row(chrome_parts *p, uint64_t key)
{
    void *rows = p->used_rows;

    if (!make_room(p, &rows, p->used_row_count, &p->used_row_capacity, sizeof *p->used_rows))
        return;
    p->used_rows = rows;
    p->used_rows[p->used_row_count++] = key;
}

/* Records that this part uses a row. */
static void use_row(chrome_parts *p, const chrome_record *record)
{
    uint64_t key = chrome_row_key(record);
    chrome_saved *row = idmap_find(&p->rows, key);

    if (!row || row->part == p->part + 1)
        return;
    *(row->part == 0 ? &p->new_bytes : &p->repeated_bytes) += row->bytes;
    row->part = p->part + 1;
    p->size += 2 * EVENT + row->record.text_size;
    list_row(p, key);
}

/* ---- writing a part ------------------------------------------------------------------------ */

/* In the order of the keys, so that the output does not depend on the hash seed. */
static void each_saved(chrome_parts *p, idmap *map, void (*take)(chrome_parts *, uint64_t, void *))
{
    size_t count = map->count;
    uint64_t *keys = idmap_sorted_keys(map);

    if (!keys && count > 0)
        p->error = ENOMEM;
    for (size_t i = 0; keys && i < count; i++)
        take(p, keys[i], idmap_find(map, keys[i]));
    free(keys);
}

/* Rows that are named in every part: sections, and lanes of the runtime. */
static bool is_special(const chrome_record *row)
{
    uint64_t tid = row->values[CHROME_TID];

    return row->op == CHROME_SECTION || (row->values[CHROME_PID] == CHROME_PID_PROCS &&
                                         tid > CHROME_LANE_NO_PROC && tid <= CHROME_LANE_GC);
}

static void write_row(chrome_parts *p, uint64_t key, chrome_saved *row)
{
    bool special = is_special(&row->record);

    if (special || row->part == p->part) {
        row->record.time = p->begin;
        chrome_write_record(p->writer, &row->record, row->text);
    }
    if (row->closed)
        chrome_unsave(&p->rows, key);
    else if (special)
        list_row(p, key);
}

/* In the order of the keys, so that the output does not depend on the hash seed. */
static void write_rows(chrome_parts *p)
{
    uint64_t *keys = p->used_rows;
    size_t count = p->used_row_count;

    p->used_rows = NULL;
    p->used_row_count = p->used_row_capacity = 0;
    if (count > 0)
        idmap_sort(keys, count);
    for (size_t i = 0; i < count; i++) {
        chrome_saved *row = i > 0 && keys[i] == keys[i - 1] ? NULL : idmap_find(&p->rows, keys[i]);
        if (row)
            write_row(p, keys[i], row);
    }
    free(keys);
}

/* The row is no longer used. */
static void close_row(chrome_parts *p, const chrome_record *record)
{
    uint64_t key = chrome_row_key(record);
    chrome_saved *row = idmap_find(&p->rows, key);

    if (!row)
        return;
    row->closed = true;
    list_row(p, key);
}

/* The row of a task that ended is no longer used. */
static void close_task(chrome_parts *p, const chrome_record *record)
{
    if (record->op == CHROME_TASK)
        close_row(p, record);
}

static void write_slice(chrome_parts *p, chrome_record *record, const char *text)
{
    int64_t end = (int64_t)record->values[CHROME_END];

    if (end <= p->part_end)
        close_task(p, record);
    if (end > p->part_end) {
        record->values[CHROME_END] = (uint64_t)p->part_end;
        record->values[CHROME_END_STACK] = 0;
    }
    chrome_write_record(p->writer, record, text);
}

/* Slices that continue from an earlier part. */
static void write_slices(chrome_parts *p)
{
    size_t count = p->slice_count;

    p->slice_count = 0;
    for (size_t i = 0; i < count; i++) {
        chrome_saved *saved = &p->slices[i];
        chrome_record record = saved->record;
        write_slice(p, &record, saved->text);
        if ((int64_t)saved->record.values[CHROME_END] <= p->part_end) {
            p->carried_bytes -= saved->bytes;
            free(saved->text);
            continue;
        }
        saved->record.time = p->part_end;
        p->slices[p->slice_count++] = *saved;
    }
}

static void write_region(chrome_parts *p, uint64_t key, void *value)
{
    chrome_saved *saved = value;
    chrome_record record = saved->record;

    (void)key;
    record.time = p->region_op == CHROME_REGION_BEGIN ? p->begin : p->part_end;
    record.op = p->region_op;
    chrome_write_record(p->writer, &record, saved->text);
}

static void write_regions(chrome_parts *p, chrome_op op)
{
    p->region_op = (uint8_t)op;
    each_saved(p, &p->regions, write_region);
}

/* Writes a record of the current part, in the form it has there. */
static void write_waiting(chrome_parts *p, chrome_record *record, const char *text)
{
    uint64_t id = record->values[CHROME_ID];

    switch ((chrome_op)record->op) {
    case CHROME_SLICE:
    case CHROME_TASK:
        if ((int64_t)record->values[CHROME_END] > p->part_end)
            save_slice(p, record, text);
        write_slice(p, record, text);
        return;
    case CHROME_REGION_BEGIN: save_region(p, record, text); break;
    case CHROME_REGION_END: unsave_region(p, id); break;
    case CHROME_FLOW_START:
        /* A flow that ends in a later part is omitted. */
        if (idmap_find(&p->flows, id)) {
            if (!idmap_insert(&p->crossing, id))
                p->error = ENOMEM;
            return;
        }
        break;
    case CHROME_FLOW_END:
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
    use_row(p, &((chrome_saved *)value)->record);
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
    const chrome_saved *row = idmap_find(&p->rows,
                                         chrome_row_key(&((chrome_saved *)value)->record));

    (void)key;
    p->repeated_bytes += row ? row->bytes : 0;
}

/* The next part names the rows of continuing slices and regions. */
static void add_carried_rows(chrome_parts *p)
{
    for (size_t i = 0; i < p->slice_count; i++)
        add_row(p, 0, &p->slices[i]);
    each_saved(p, &p->regions, add_row);
}

/* Writes all queued records, and ends the part at `part_end`. */
static void write_part(chrome_parts *p, int64_t part_end)
{
    if (p->error != 0 || p->job->out->failed)
        return;
    if (!allocate_counters(p) || (p->part > 0 && !p->job->next_part(p->job->ctx))) {
        p->error = ENOMEM;
        return;
    }
    for (size_t i = 0; i < p->slice_count; i++)
        use_row(p, &p->slices[i].record);
    each_saved(p, &p->regions, use_row_of);
    p->part++;
    p->part_end = part_end;
    p->writer->o = p->job->out;
    p->writer->started = false;
    chrome_frames_use_none(p->writer->frames);
    chrome_write_begin(p->writer);
    write_rows(p);
    write_counters(p);
    write_regions(p, CHROME_REGION_BEGIN);
    write_slices(p);
    write_all_waiting(p);
    if (part_end != INT64_MAX)
        write_regions(p, CHROME_REGION_END);
    chrome_write_end(p->writer);
    chrome_frames_use_none(p->writer->frames);
    p->size = p->new_bytes = p->repeated_bytes = 0;
    add_carried_rows(p);
    p->begin = part_end;
}

/* ---- input of records ------------------------------------------------------------------------ */

/* Approximate size of a part without its records: continuing slices and regions, and names of
 * rows. */
static uint64_t size_around(const chrome_parts *p)
{
    return AROUND + EVENT * (p->slice_count + 2 * p->regions.count + CHROME_COUNTERS);
}

/* Whether the part has the requested size, and at least half of it is new. */
static bool is_full(const chrome_parts *p)
{
    const chrome_frames *frames = p->writer->frames;
    uint64_t repeated = AROUND + EVENT * CHROME_COUNTERS + p->carried_bytes + p->repeated_bytes +
                        frames->again_bytes;

    return p->size + frames->used_bytes + size_around(p) >= p->job->part_size &&
           p->new_bytes + frames->used_bytes - frames->again_bytes >= repeated;
}

/* The names of rows are written in each part that uses them. */
static bool take_row(chrome_parts *p, const chrome_record *record, const char *text)
{
    if (record->op == CHROME_ROW_END) {
        close_row(p, record);
        return true;
    }
    if (record->op != CHROME_ROW && record->op != CHROME_SECTION)
        return false;
    uint64_t key = chrome_row_key(record);
    if (save(p, &p->rows, key, record, text) && is_special(record))
        list_row(p, key);
    return true;
}

void chrome_parts_take(chrome_parts *p, const chrome_record *record, const char *text)
{
    /* Records with the same time stay together, such as a flow's end and the slice that it ends
     * in. */
    if (is_full(p) && record->time > p->last && p->last >= p->begin)
        write_part(p, record->time);
    p->last = record->time;
    if (p->error != 0 || take_row(p, record, text))
        return;
    uint64_t bytes = length_of(p, record, text);
    p->size += bytes;
    p->new_bytes += bytes;
    if (record->op < CHROME_HEAP)
        use_row(p, record);
    if (record->op == CHROME_FLOW_START && !idmap_insert(&p->flows, record->values[CHROME_ID]))
        p->error = ENOMEM;
    if (record->op == CHROME_FLOW_END)
        idmap_remove(&p->flows, record->values[CHROME_ID]);
    if (chrome_append(&p->waiting, record, record->values, text) == SPOOL_NONE)
        p->error = p->waiting.error;
}

void chrome_parts_finish(chrome_parts *p)
{
    write_part(p, INT64_MAX);
    if (p->waiting.error != 0)
        p->error = p->waiting.error;
}
