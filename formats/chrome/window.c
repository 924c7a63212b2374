/*
 * window.c - selected parts, or a time range.
 *
 * State is tracked from the start of the trace. Records are complete when they arrive here, so a
 * slice that continues into the time range is cut at its start. The last values of rows, counters
 * and regions from before the range are written at its start.
 */
#include "formats/chrome/chrome.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- parts --------------------------------------------------------------------------------- */

static const uint8_t row_parts[] = {PART_PROCS, PART_GOROUTINES, PART_THREADS};

unsigned chrome_parts_possible(unsigned parts, chrome_view by)
{
    unsigned rows = 1U << row_parts[by], flows = 1U << PART_FLOWS;
    unsigned others = 1U << PART_GC | 1U << PART_TASKS | 1U << PART_REGIONS | 1U << PART_LOGS |
                      1U << PART_COUNTERS | 1U << PART_SAMPLES;

    /* Flows connect slices. */
    if ((parts & (rows | 1U << PART_TASKS)) == 0)
        flows = 0;
    return parts & (rows | others | flows);
}

bool chrome_shows(unsigned parts, chrome_view by, chrome_op op, chrome_name name,
                  const uint64_t *values)
{
    unsigned rows = 1U << row_parts[by], tasks = 1U << PART_TASKS, flows = 1U << PART_FLOWS;
    unsigned counters = 1U << PART_COUNTERS, need = rows;

    switch (op) {
    case CHROME_SLICE:
        if (name == CHROME_NAME_STW || name == CHROME_NAME_GC || name == CHROME_NAME_ASSIST)
            need = 1U << PART_GC;
        break;
    case CHROME_TASK: need = tasks; break;
    case CHROME_ROW:
    case CHROME_SECTION:
        /* Counters have no rows, and tasks have rows of their own. */
        if (values[CHROME_PID] == CHROME_PID_PROCS)
            return (parts & ~(counters | flows)) != 0;
        need = values[CHROME_PID] == CHROME_PID_TASKS ? tasks : counters;
        break;
    case CHROME_INSTANT:
        if (name == CHROME_NAME_TEXT)
            need = 1U << PART_LOGS;
        else if (name == CHROME_NAME_TASK_START || name == CHROME_NAME_TASK_END)
            need = tasks;
        else if (name == CHROME_NAME_SAMPLE)
            need = 1U << PART_SAMPLES;
        else if (name == CHROME_NAME_GO || name == CHROME_NAME_UNBLOCK)
            need = rows | flows;
        break;
    case CHROME_FLOW_START:
    case CHROME_FLOW_END: need = flows | (name == CHROME_NAME_NEW_TASK ? tasks : rows); break;
    case CHROME_REGION_BEGIN:
    case CHROME_REGION_END: need = 1U << PART_REGIONS; break;
    case CHROME_HEAP:
    case CHROME_GOROUTINES:
    case CHROME_THREADS: need = counters; break;
    case CHROME_ROW_END: need = 0; break;
    }
    return (parts & need) == need;
}

/* ---- saved records -------------------------------------------------------------------------- */

/* A record that is written later: the name of a row, or a region that continues. */
typedef struct saved_record {
    chrome_record record;
    char *text;
    bool written;
} saved_record;

/* Saves a copy under key, replacing an earlier one; NULL if memory is refused. */
static saved_record *save_copy(idmap *map, uint64_t key, const chrome_record *record,
                               const char *text)
{
    saved_record *saved = idmap_insert(map, key);
    char *copy = record->text_size > 0 ? malloc(record->text_size) : NULL;

    if (!saved || (record->text_size > 0 && !copy)) {
        free(copy);
        return NULL;
    }
    if (copy)
        memcpy(copy, text, record->text_size);
    free(saved->text);
    *saved = (saved_record){.record = *record, .text = copy, .written = saved->written};
    return saved;
}

static void unsave(idmap *map, uint64_t key)
{
    saved_record *saved = idmap_find(map, key);

    if (saved)
        free(saved->text);
    idmap_remove(map, key);
}

static void unsave_all(idmap *map)
{
    size_t cursor = 0;
    uint64_t key;
    void *value;

    while (idmap_next(map, &cursor, &key, &value))
        free(((saved_record *)value)->text);
    idmap_free(map);
}

/* One key for rows of all sections, and for sections. */
static uint64_t key_of(uint64_t pid, uint64_t tid, bool section)
{
    return tid * 8 + pid * 2 + section;
}

/* The key of the row or section that a record names or is on. */
static uint64_t row_key(const chrome_record *record)
{
    bool flow = record->op == CHROME_FLOW_START || record->op == CHROME_FLOW_END;
    bool names = record->op == CHROME_ROW || record->op == CHROME_SECTION;
    uint64_t pid = record->op == CHROME_TASK ? CHROME_PID_TASKS
                   : flow || names           ? record->values[CHROME_PID]
                                             : (uint64_t)CHROME_PID_PROCS;

    return key_of(pid, record->values[CHROME_TID], record->op == CHROME_SECTION);
}

/* ---- time ---------------------------------------------------------------------------------- */

void chrome_window_init(chrome_window *w, int64_t from, chrome_emit_fn emit, void *ctx)
{
    *w = (chrome_window){.from = from, .emit = emit, .ctx = ctx};
    idmap_init(&w->rows, sizeof(saved_record));
    idmap_init(&w->regions, sizeof(saved_record));
    idmap_init(&w->flows, 0);
}

void chrome_window_free(chrome_window *w)
{
    unsave_all(&w->rows);
    unsave_all(&w->regions);
    idmap_free(&w->flows);
}

static void save(chrome_window *w, idmap *map, uint64_t key, const chrome_record *record,
                 const char *text)
{
    if (!save_copy(map, key, record, text))
        w->error = ENOMEM;
}

/* Writes a record, after the name of its row if that is not written yet. */
static void emit(chrome_window *w, const chrome_record *record, const char *text)
{
    saved_record *row = record->op < CHROME_HEAP ? idmap_find(&w->rows, row_key(record)) : NULL;

    if (row && !row->written) {
        row->written = true;
        row->record.time = record->time;
        w->emit(w->ctx, &row->record, row->text);
    }
    w->emit(w->ctx, record, text);
}

/* A row is named when something is shown on it, and again when its name changes. */
static void take_row(chrome_window *w, chrome_record *record, const char *text)
{
    uint64_t key = row_key(record), tid = record->values[CHROME_TID];
    const saved_record *row = idmap_find(&w->rows, key);
    bool special = record->values[CHROME_PID] == CHROME_PID_PROCS && tid > CHROME_LANE_NO_PROC &&
                   tid <= CHROME_LANE_GC;

    if (record->op == CHROME_ROW_END) {
        if (row && row->written)
            w->emit(w->ctx, record, text);
        unsave(&w->rows, key);
        return;
    }
    if (record->op == CHROME_SECTION || special || (row && row->written))
        w->emit(w->ctx, record, text);
    if (record->op == CHROME_ROW && !special)
        save(w, &w->rows, key, record, text);
}

/* A slice that continues into the time range begins at its start. */
static void take_slice(chrome_window *w, chrome_record *record, const char *text, bool before)
{
    bool shown = !before || (int64_t)record->values[CHROME_END] > w->from;

    if (before)
        record->values[CHROME_STACK] = 0;
    if (shown)
        emit(w, record, text);
    /* The name of a task's row precedes its slice and is not needed again. */
    if (record->op == CHROME_TASK)
        unsave(&w->rows, row_key(record));
}

static void take_before(chrome_window *w, const chrome_record *record, const char *text)
{
    uint64_t id = record->values[CHROME_ID];

    switch ((chrome_op)record->op) {
    case CHROME_REGION_BEGIN: save(w, &w->regions, id, record, text); break;
    case CHROME_REGION_END: unsave(&w->regions, id); break;
    case CHROME_FLOW_START:
        if (!idmap_insert(&w->flows, id))
            w->error = ENOMEM;
        break;
    case CHROME_FLOW_END: idmap_remove(&w->flows, id); break;
    case CHROME_HEAP:
    case CHROME_GOROUTINES:
    case CHROME_THREADS: w->counters[record->op - CHROME_HEAP] = *record; break;
    default: break;
    }
}

/* Writes the state at the start of the time range: counters and, in order of their ids, regions. */
static void reach(chrome_window *w)
{
    size_t count = w->regions.count;
    uint64_t *ids = idmap_sorted_keys(&w->regions);

    w->reached = true;
    for (size_t i = 0; i < CHROME_COUNTERS; i++) {
        w->counters[i].time = w->from;
        if (w->counters[i].count > 0)
            w->emit(w->ctx, &w->counters[i], NULL);
    }
    if (!ids && count > 0)
        w->error = ENOMEM;
    for (size_t i = 0; ids && i < count; i++) {
        saved_record *region = idmap_find(&w->regions, ids[i]);
        region->record.time = w->from;
        region->record.values[CHROME_STACK] = 0;
        emit(w, &region->record, region->text);
        unsave(&w->regions, ids[i]);
    }
    free(ids);
}

void chrome_window_finish(chrome_window *w, int64_t end)
{
    if (end >= w->from && !w->reached)
        reach(w);
}

void chrome_window_take(chrome_window *w, chrome_record *record, const char *text)
{
    bool before = record->time < w->from;

    if (!before && !w->reached)
        reach(w);
    if (before)
        record->time = w->from;
    switch ((chrome_op)record->op) {
    case CHROME_ROW:
    case CHROME_SECTION:
    case CHROME_ROW_END: take_row(w, record, text); return;
    case CHROME_SLICE:
    case CHROME_TASK: take_slice(w, record, text, before); return;
    case CHROME_FLOW_END:
        /* A flow that began before the time range is not shown. */
        if (!before && idmap_find(&w->flows, record->values[CHROME_ID])) {
            idmap_remove(&w->flows, record->values[CHROME_ID]);
            return;
        }
        break;
    default: break;
    }
    if (before)
        take_before(w, record, text);
    else
        emit(w, record, text);
}
