/* timeline.c - records in order of time, and properly nested slices on rows. */
#include "formats/chrome/chrome.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    /* Memory for records that wait for an open slice, usually some hundredths of a second; older
     * ones go to a temporary file. */
    SPOOL_WINDOW = 32 * 1024 * 1024,
    SPOOL_BLOCK = 17, /* 128 KiB */
    /* The same with the blocks that the writing thread has. */
    SPOOL_MOST = SPOOL_WINDOW + 4 * 1024 * 1024,
    /* Output is held back up to this size, while slices may still be backdated to the beginning of
     * the trace. */
    HELD_MOST = 24 * 1024 * 1024,
    HEAD_WINDOW = 1024 * 1024,
    HEAD_BLOCK = 14,
};

/* Bit of a position: the record is in the head spool. */
#define IN_HEAD ((uint64_t)1 << 63)

bool chrome_timeline_init(chrome_timeline *t, out *o, const feed *source)
{
    int version = gotrace_reader_summary(source->reader)->version;

    *t = (chrome_timeline){.version = version,
                           .writer = {.o = o, .frames = &t->frames, .version = version}};
    chrome_frames_init(&t->frames, source);
    idmap_init(&t->rows, sizeof(chrome_row));
    t->holding = true;
    if (!spool_init(&t->spool, SPOOL_WINDOW, SPOOL_BLOCK))
        t->error = t->spool.error;
    if (!spool_init(&t->head, HEAD_WINDOW, HEAD_BLOCK))
        t->error = t->head.error;
    return t->error == 0;
}

/* Records the first failure. */
static void refuse(chrome_timeline *t, int error)
{
    if (t->error == 0)
        t->error = error;
}

/* ---- records ------------------------------------------------------------------------------- */

uint64_t chrome_append(spool *s, const chrome_record *head, const uint64_t *values,
                       const char *text)
{
    size_t size = CHROME_HEAD_SIZE + head->count * sizeof values[0];
    size_t whole = (size + head->text_size + 7) / 8 * 8;
    uint64_t position;
    unsigned char *at = spool_reserve(s, whole, &position);

    if (!at)
        return SPOOL_NONE;
    memcpy(at, head, CHROME_HEAD_SIZE);
    for (size_t i = 0; i < head->count; i++)
        memcpy(at + CHROME_HEAD_SIZE + i * sizeof values[0], &values[i], sizeof values[0]);
    if (head->text_size > 0) {
        memset(at + whole - 8, 0, 8);
        memcpy(at + size, text, head->text_size);
    }
    return position;
}

uint64_t chrome_push(chrome_timeline *t, chrome_op op, chrome_name name, chrome_state state,
                     const uint64_t *values, size_t count, const char *text, size_t text_size)
{
    chrome_record record = {.op = (uint8_t)op,
                            .name = (uint8_t)name,
                            .state = (uint8_t)state,
                            .count = (uint8_t)count,
                            .time = t->now};

    if (t->error != 0 || (t->shown && !chrome_shows(t->shown, t->by, op, name, values)))
        return SPOOL_NONE;
    record.text_size = text_size < UINT32_MAX ? (uint32_t)text_size : UINT32_MAX;
    spool *s = t->backdating ? &t->head : &t->spool;
    uint64_t position = chrome_append(s, &record, values, text);
    if (position == SPOOL_NONE) {
        refuse(t, s->error);
        return SPOOL_NONE;
    }
    if (state == CHROME_OPEN)
        spool_open(s, position);
    return t->backdating ? position | IN_HEAD : position;
}

void chrome_update(chrome_timeline *t, uint64_t position, chrome_state state, size_t first,
                   const uint64_t *values, size_t count)
{
    const size_t at_state = offsetof(chrome_record, state);
    uint8_t byte = (uint8_t)state;

    if (position == SPOOL_NONE)
        return;
    spool *s = position & IN_HEAD ? &t->head : &t->spool;
    position &= ~IN_HEAD;
    if (count > 0)
        spool_patch(s, position, CHROME_HEAD_SIZE + first * sizeof values[0], values,
                    count * sizeof values[0]);
    if (state == CHROME_OPEN)
        return;
    spool_patch(s, position, at_state, &byte, 1);
    spool_close(s, position);
}

bool chrome_backdate(chrome_timeline *t)
{
    if (!t->holding || t->backdating)
        return false;
    t->resume_time = t->now;
    t->now = 0;
    t->backdating = true;
    return true;
}

void chrome_backdate_end(chrome_timeline *t)
{
    if (t->backdating)
        t->now = t->resume_time;
    t->backdating = false;
}

void chrome_emit(void *ctx, const chrome_record *record, const char *text)
{
    chrome_timeline *t = ctx;

    chrome_write_record(&t->writer, record, text);
}

/* Writes a record of a block. */
static void write_one(chrome_timeline *t, const chrome_block *block, const chrome_record *record,
                      const char *text)
{
    chrome_record copy;

    if (!t->window && record->state == CHROME_DONE) {
        chrome_write_record(&t->writer, record, text);
        return;
    }
    if (record->state == CHROME_DROPPED ||
        (record->state == CHROME_OPEN && record->op == CHROME_FLOW_START))
        return;
    memcpy(&copy, record, CHROME_HEAD_SIZE + record->count * sizeof copy.values[0]);
    if (copy.state == CHROME_OPEN)
        copy.values[CHROME_END] = (uint64_t)block->end;
    if (t->window)
        chrome_window_take(t->window, &copy, text);
    else
        chrome_emit(t, &copy, text);
}

/* Runs in the writing thread. */
static bool write_block(void *ctx, const chrome_block *block)
{
    chrome_timeline *t = ctx;
    const chrome_record *record;
    const char *text;
    size_t at = 0;

    while ((record = chrome_next_record(&block->records, &at, &text)) != NULL)
        write_one(t, block, record, text);
    return !t->writer.o->failed && !(t->window && t->window->error);
}

/* Makes memory of blocks that were written available, and limits that of all blocks. */
static void return_blocks(const chrome_timeline *t)
{
    const spool *s = &t->spool;

    if (t->thread)
        chrome_thread_return(t->thread, s->in_memory + s->taken > SPOOL_MOST);
}

/* Passes blocks to the writer, up to the first one with an open record. */
static void write_front(chrome_timeline *t, spool *s, bool all)
{
    chrome_block block = {.home = s, .end = t->now};

    while (!t->stopped && spool_take(s, all, t->ended, &block.records)) {
        /* A few blocks do not need a thread. */
        if (!t->thread && !t->no_thread && !t->ended && s == &t->spool) {
            t->thread = chrome_thread_start(write_block, t);
            t->no_thread = !t->thread;
        }
        if (t->thread) {
            t->stopped = !chrome_thread_queue(t->thread, &block);
            return_blocks(t);
        } else {
            t->stopped = !write_block(t, &block);
            spool_release(s, &block.records);
        }
    }
}

void chrome_write_complete(chrome_timeline *t)
{
    t->blocks_checked = t->spool.end;
    if (t->spool.in_memory >= HELD_MOST)
        t->holding = false;
    if (t->holding)
        return;
    return_blocks(t);
    write_front(t, &t->head, true);
    if (spool_is_empty(&t->head))
        write_front(t, &t->spool, t->ended);
    if (t->head.error != 0)
        refuse(t, t->head.error);
    if (t->spool.error != 0)
        refuse(t, t->spool.error);
    if (t->frames.failed)
        refuse(t, ENOMEM);
}

/* ---- rows ---------------------------------------------------------------------------------- */

chrome_row *chrome_row_of(chrome_timeline *t, uint64_t number)
{
    chrome_row *row = idmap_find(&t->rows, number);

    if (row)
        return row;
    row = idmap_insert(&t->rows, number);
    if (!row) {
        refuse(t, ENOMEM);
        return NULL;
    }
    chrome_name_new_row(t, number);
    return row;
}

/* Completes the records of all slices that are open on a row. */
static void end_all(chrome_timeline *t, chrome_row *row)
{
    uint64_t end[] = {(uint64_t)t->now, 0};

    for (unsigned i = 0; i < row->depth; i++)
        chrome_update(t, row->open[i].position, CHROME_DONE, CHROME_END, end, 2);
    row->depth = 0;
}

void chrome_close_row(chrome_timeline *t, uint64_t number)
{
    chrome_row *row = idmap_find(&t->rows, number);

    if (!row)
        return;
    end_all(t, row);
    uint64_t values[] = {number};
    chrome_push(t, CHROME_ROW_END, CHROME_NAME_TEXT, CHROME_DONE, values, 1, NULL, 0);
    free(row->open);
    idmap_remove(&t->rows, number);
}

static bool push_open(chrome_timeline *t, chrome_row *row, const chrome_open *open)
{
    if (row->depth == row->capacity) {
        unsigned capacity = row->capacity ? 2U * row->capacity : 2;
        chrome_open *larger = realloc(row->open, capacity * sizeof *larger);
        if (!larger) {
            refuse(t, ENOMEM);
            return false;
        }
        row->open = larger;
        row->capacity = (uint8_t)capacity;
    }
    row->open[row->depth++] = *open;
    return true;
}

/* Appends a slice's record, which is completed when it ends. */
static void start(chrome_timeline *t, chrome_row *row, uint64_t number, const chrome_open *what,
                  uint64_t subject, uint64_t start_at, size_t text_size)
{
    chrome_open open = *what;
    uint64_t values[CHROME_VALUES] = {[CHROME_TID] = number,
                                      [CHROME_STACK] = open.stack,
                                      [CHROME_SUBJECT] = subject,
                                      [CHROME_START] = start_at};

    open.begin = t->now;
    open.position = chrome_push(t, CHROME_SLICE, (chrome_name)open.name, CHROME_OPEN, values,
                                CHROME_VALUES, open.text, text_size);
    push_open(t, row, &open);
}

static void restart(chrome_timeline *t, chrome_row *row, uint64_t number, const chrome_open *cut)
{
    start(t, row, number, cut, 0, 0, cut->text ? strlen(cut->text) : 0);
}

/* Completes the record of a slice that is split, or drops it if its duration is zero. */
static void cut(chrome_timeline *t, const chrome_open *open)
{
    uint64_t values[] = {(uint64_t)t->now, 0};
    chrome_update(t, open->position, open->begin < t->now ? CHROME_DONE : CHROME_DROPPED,
                  CHROME_END, values, 2);
}

bool chrome_has_slice(const chrome_row *row, chrome_slice slice)
{
    for (unsigned i = 0; i < row->depth; i++)
        if (row->open[i].slice == slice)
            return true;
    return false;
}

void chrome_begin_slice(chrome_timeline *t, uint64_t number, chrome_slice slice,
                        const chrome_label *label)
{
    chrome_row *row = chrome_row_of(t, number);
    chrome_open around[CHROME_SLICES];
    unsigned count = 0;

    if (!row)
        return;
    if (chrome_has_slice(row, slice))
        chrome_end_slice(t, number, slice, 0, 0, 0);
    if (slice == CHROME_RUN) {
        for (; count < row->depth; count++) {
            around[count] = row->open[count];
            cut(t, &around[count]);
        }
        row->depth = 0;
    }
    chrome_open open = {.stack = label->stack,
                        .text = label->text,
                        .slice = (uint8_t)slice,
                        .name = (uint8_t)label->name};
    start(t, row, number, &open, label->subject, label->start, label->text_size);
    for (unsigned i = 0; i < count; i++)
        restart(t, row, number, &around[i]);
}

void chrome_mark_slice(chrome_timeline *t, uint64_t number, chrome_slice slice, uint64_t a,
                       uint64_t b)
{
    const chrome_row *row = chrome_row_of(t, number);
    uint64_t values[] = {a, b};

    for (unsigned i = 0; row && i < row->depth; i++)
        if (row->open[i].slice == slice)
            chrome_update(t, row->open[i].position, CHROME_OPEN, CHROME_A, values, 2);
}

void chrome_end_slice(chrome_timeline *t, uint64_t number, chrome_slice slice, uint64_t stack,
                      uint64_t a, uint64_t b)
{
    chrome_row *row = idmap_find(&t->rows, number);
    unsigned at = 0;

    while (row && at < row->depth && row->open[at].slice != slice)
        at++;
    if (!row || at >= row->depth)
        return;
    chrome_open inside[CHROME_SLICES];
    unsigned count = 0;
    for (unsigned i = at + 1; i < row->depth; i++) {
        inside[count] = row->open[i];
        cut(t, &inside[count++]);
    }
    uint64_t end[] = {(uint64_t)t->now, stack};
    uint64_t bytes[] = {a, b};
    chrome_update(t, row->open[at].position, CHROME_OPEN, CHROME_A, bytes, 2);
    chrome_update(t, row->open[at].position, CHROME_DONE, CHROME_END, end, 2);
    row->depth = (uint8_t)at;
    row->used = true;
    for (unsigned i = 0; i < count; i++)
        restart(t, row, number, &inside[i]);
}

void chrome_instant(chrome_timeline *t, uint64_t row, chrome_name name, uint64_t stack,
                    const char *text, size_t text_size)
{
    uint64_t values[] = {row, stack};

    if (chrome_row_of(t, row))
        chrome_push(t, CHROME_INSTANT, name, CHROME_DONE, values, 2, text, text_size);
}

/* ---- flows -------------------------------------------------------------------------------- */

void chrome_begin_flow(chrome_timeline *t, chrome_flow *flow, uint64_t number, chrome_name name,
                       const char *reason, uint64_t stack)
{
    const chrome_row *row = chrome_row_of(t, number);
    size_t size = reason ? strlen(reason) : 0;
    uint64_t values[] = {number, stack, 0, CHROME_PID_PROCS};

    chrome_drop_flow(t, flow);
    if (!row)
        return;
    /* A flow needs something to start at. */
    if (row->depth == 0)
        chrome_instant(t, number, name, stack, reason, size);
    flow->position = chrome_push(t, CHROME_FLOW_START, name, CHROME_OPEN, values, 4, reason, size);
    flow->reason = reason;
    flow->name = (uint8_t)name;
    flow->pending = true;
}

void chrome_finish_flow(chrome_timeline *t, chrome_flow *flow, uint64_t row)
{
    if (!flow->pending)
        return;
    uint64_t values[] = {row, 0, ++t->flows, CHROME_PID_PROCS};
    size_t size = flow->reason ? strlen(flow->reason) : 0;
    chrome_update(t, flow->position, CHROME_DONE, CHROME_ID, &values[CHROME_ID], 1);
    chrome_push(t, CHROME_FLOW_END, (chrome_name)flow->name, CHROME_DONE, values, 4, flow->reason,
                size);
    *flow = (chrome_flow){0};
}

void chrome_drop_flow(chrome_timeline *t, chrome_flow *flow)
{
    if (flow->pending)
        chrome_update(t, flow->position, CHROME_DROPPED, 0, NULL, 0);
    *flow = (chrome_flow){0};
}

/* ---- the end ------------------------------------------------------------------------------- */

void chrome_timeline_finish(chrome_timeline *t)
{
    t->holding = false;
    t->ended = true;
    chrome_write_complete(t);
    if (t->thread && !chrome_thread_end(t->thread))
        t->stopped = true;
    t->thread = NULL;
    if (t->window && t->error == 0)
        chrome_window_finish(t->window, t->now);
    if (t->window && t->window->error != 0)
        refuse(t, t->window->error);
}

void chrome_timeline_free(chrome_timeline *t)
{
    size_t cursor = 0;
    uint64_t number;
    void *value;

    while (idmap_next(&t->rows, &cursor, &number, &value))
        free(((chrome_row *)value)->open);
    idmap_free(&t->rows);
    chrome_frames_free(&t->frames);
    spool_free(&t->head);
    spool_free(&t->spool);
}
