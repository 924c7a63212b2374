/*
 * chrome_parts.c - one timeline in several documents, each of about the size that is wanted.
 *
 * The records of a part wait until it is full: only then is the border known, at which what goes
 * on is cut. How long they will be is measured by writing them to nowhere.
 */
#include "chrome.h"

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
    idmap_init(&p->slices, sizeof(chrome_kept));
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
    chrome_forget_all(&p->slices);
    chrome_forget_all(&p->regions);
    for (size_t i = 0; i < CHROME_COUNTERS; i++)
        free(p->counters[i]);
    idmap_free(&p->arrows);
    idmap_free(&p->crossing);
    spool_free(&p->waiting);
    out_free(&p->nowhere);
}

/* ---- what is kept -------------------------------------------------------------------------- */

static chrome_kept *keep(chrome_parts *p, idmap *map, uint64_t key, const chrome_record *record,
                         const char *text)
{
    chrome_kept *kept = chrome_keep(map, key, record, text);

    if (!kept)
        p->error = ENOMEM;
    return kept;
}

/* Remember that this part shows something on a row. */
static void use_row(chrome_parts *p, const chrome_record *record)
{
    chrome_kept *row = idmap_find(&p->rows, chrome_row_key(record));

    if (!row || row->part == p->part + 1)
        return;
    row->part = p->part + 1;
    p->size += 2 * EVENT + row->record.text_size;
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

static void write_row(chrome_parts *p, uint64_t key, void *value)
{
    chrome_kept *row = value;
    uint64_t tid = row->record.values[CHROME_TID];
    bool special = row->record.op == CHROME_SECTION ||
                   (row->record.values[CHROME_PID] == CHROME_PID_PROCS &&
                    tid > CHROME_LANE_NOWHERE && tid <= CHROME_LANE_GC);

    if (special || row->part == p->part) {
        row->record.time = p->begin;
        chrome_write_record(p->writer, &row->record, row->text);
    }
    if (row->closed)
        chrome_forget(&p->rows, key);
}

/* Nothing more happens on the row of a task that has ended. */
static void close_task(chrome_parts *p, const chrome_record *record)
{
    chrome_kept *row = record->op == CHROME_TASK ? idmap_find(&p->rows, chrome_row_key(record))
                                                 : NULL;

    if (row)
        row->closed = true;
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
static void write_rest(chrome_parts *p, uint64_t key, void *value)
{
    chrome_kept *kept = value;
    chrome_record record = kept->record;

    write_slice(p, &record, kept->text);
    if ((int64_t)kept->record.values[CHROME_END] <= p->border) {
        chrome_forget(&p->slices, key);
        return;
    }
    kept->record.time = p->border;
    kept->record.values[CHROME_STACK] = 0;
}

static void write_region(chrome_parts *p, uint64_t key, void *value)
{
    chrome_kept *kept = value;
    chrome_record record = kept->record;

    (void)key;
    record.time = p->region_op == CHROME_REGION_BEGIN ? p->begin : p->border;
    record.op = p->region_op;
    record.values[CHROME_STACK] = 0;
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
        if ((int64_t)record->values[CHROME_END] > p->border) {
            chrome_kept *kept = keep(p, &p->slices, ++p->carried, record, text);
            if (kept) {
                kept->record.time = p->border;
                kept->record.values[CHROME_STACK] = 0;
            }
        }
        write_slice(p, record, text);
        return;
    case CHROME_REGION_BEGIN: keep(p, &p->regions, id, record, text); break;
    case CHROME_REGION_END: chrome_forget(&p->regions, id); break;
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
        spool_give_back(&p->waiting, &block);
    }
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
    each_kept(p, &p->slices, use_row_of);
    each_kept(p, &p->regions, use_row_of);
    p->part++;
    p->border = border;
    p->writer->o = p->job->out;
    p->writer->started = false;
    chrome_frames_use_none(p->writer->frames);
    chrome_write_begin(p->writer);
    each_kept(p, &p->rows, write_row);
    write_counters(p);
    write_regions(p, CHROME_REGION_BEGIN);
    each_kept(p, &p->slices, write_rest);
    write_all_waiting(p);
    if (border != INT64_MAX)
        write_regions(p, CHROME_REGION_END);
    chrome_write_end(p->writer);
    chrome_frames_use_none(p->writer->frames);
    p->size = 0;
    p->begin = border;
}

/* ---- taking records ------------------------------------------------------------------------ */

/* What a part has beside its records: what goes on from the one before, and what rows are called.
 */
static uint64_t size_around(const chrome_parts *p)
{
    return AROUND + EVENT * (p->slices.count + 2 * p->regions.count + CHROME_COUNTERS);
}

static void measure(chrome_parts *p, const chrome_record *record, const char *text)
{
    p->writer->o = &p->nowhere;
    p->writer->started = true;
    uint64_t before = p->nowhere.written + p->nowhere.used;
    chrome_write_record(p->writer, record, text);
    p->size += p->nowhere.written + p->nowhere.used - before;
}

/* Rows are told of in each part that shows them. */
static bool take_row(chrome_parts *p, const chrome_record *record, const char *text)
{
    if (record->op == CHROME_ROW_END) {
        chrome_kept *row = idmap_find(&p->rows, chrome_row_key(record));
        if (row)
            row->closed = true;
        return true;
    }
    if (record->op != CHROME_ROW && record->op != CHROME_SECTION)
        return false;
    keep(p, &p->rows, chrome_row_key(record), record, text);
    return true;
}

void chrome_parts_take(chrome_parts *p, const chrome_record *record, const char *text)
{
    bool full = p->size + p->writer->frames->used_bytes + size_around(p) >= p->job->part_size;

    /* What happens at the same time stays together: an arrow's end and what it ends in. */
    if (full && record->time > p->last && p->last >= p->begin)
        write_part(p, record->time);
    p->last = record->time;
    if (p->error != 0 || take_row(p, record, text))
        return;
    measure(p, record, text);
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
