#include "read/reader.h"

#include <string.h>

#include "core/foreign.h"
#include "core/sized.h"
#include "core/times.h"
#include "read/v1/ahead.h"
#include "read/v1/index.h"
#include "read/v1/reading.h"
#include "read/v2/ahead.h"
#include "read/v2/v2.h"

/* ---- opening and closing ------------------------------------------------------------------- */

/* Temporary files are opened later, when the caller's string may be freed. */
static bool copy_spool_dir(gotrace_reader *reader)
{
    const char *dir = reader->config.spool_dir;
    if (!dir)
        return true;
    size_t size = strlen(dir) + 1;
    reader->spool_dir = gt_resize(&reader->heap, NULL, 0, size);
    if (!reader->spool_dir)
        return false;
    reader->config.spool_dir = memcpy(reader->spool_dir, dir, size);
    return true;
}

static void free_reader(gotrace_reader *reader)
{
    if (reader->spool_dir)
        gt_free(&reader->heap, reader->spool_dir, strlen(reader->spool_dir) + 1);
    gt_heap heap = reader->heap;
    gt_free(&heap, reader, sizeof *reader);
}

static gotrace_status open_reader(gotrace_source *source, const gotrace_config *config,
                                  gotrace_reader **made, gotrace_error *error)
{
    uint8_t header[GT_FOREIGN_LOOK];
    size_t got;
    gt_heap heap;
    gt_heap_init(&heap, config);
    if (gt_source_read(source, 0, header, sizeof header, &got, error) < 0)
        return GOTRACE_ERROR;
    int version = gt_wire_header(header, got, error);
    if (version == 0)
        return GOTRACE_ERROR;
    gotrace_reader *reader = gt_calloc(&heap, 1, sizeof *reader);
    if (!reader)
        return gt_error_memory(error, &heap);
    reader->heap = heap;
    reader->source = source;
    reader->config = *config;
    reader->config.limits = &reader->limits;
    if (!copy_spool_dir(reader) || (!gt_is_v2(version) && !gt_reading_new(reader))) {
        gt_error_memory(error, &reader->heap);
        free_reader(reader);
        return GOTRACE_ERROR;
    }
    reader->ended_tasks.heap = reader->ends_reported.heap = &reader->heap;
    reader->limits = gt_limits(config);
    reader->summary.version = version;
    reader->kinds = UINT32_MAX;
    reader->summary.size = gotrace_source_size(source);
    reader->summary.header_bytes = GT_HEADER_SIZE;
    reader->progress_total = gt_is_v2(version) ? reader->summary.size : 2 * reader->summary.size;
    reader->tables = &reader->index.tables;
    *made = reader;
    return GOTRACE_OK;
}

gotrace_status gotrace_reader_open(gotrace_source *source, const gotrace_config *config,
                                   gotrace_reader **reader, gotrace_error *error)
{
    gt_call call;
    *reader = NULL;
    gotrace_status status = gt_call_begin(&call, config);
    if (status == GOTRACE_OK)
        status = open_reader(source, &call.config, reader, &call.error);
    return gt_call_end(&call, status, error);
}

static void end_reading(gotrace_reader *reader)
{
    gt_pieces_free(reader);
    gt_reading_end(reader);
}

void gotrace_reader_close(gotrace_reader *reader)
{
    if (!reader)
        return;
    end_reading(reader);
    gt_reading_free(reader);
    gt_v2_free(reader);
    gt_index_free(&reader->index);
    gt_map_free(&reader->ended_tasks);
    gt_map_free(&reader->ends_reported);
    gt_block_free(reader->own);
    while (reader->blocks) {
        gt_block *next = reader->blocks->next;
        gt_block_free(reader->blocks);
        reader->blocks = next;
    }
    free_reader(reader);
}

static const gotrace_event no_event = {.proc = GOTRACE_NO_PROC, .thread = GOTRACE_NO_THREAD};

/* ---- reading ------------------------------------------------------------------------------- */

gotrace_status gotrace_reader_index(gotrace_reader *reader)
{
    if (reader->stage == GT_FAILED)
        return GOTRACE_ERROR;
    if (reader->stage != GT_FRESH)
        return GOTRACE_OK;
    if (gt_is_v2(reader->summary.version)) {
        if (!gt_v2_index(reader))
            return GOTRACE_ERROR;
        reader->stage = GT_INDEXED;
        return GOTRACE_OK;
    }
    if (!gt_index_build(reader))
        return GOTRACE_ERROR;
    /* Floating point as in Go's reader, so that times are exactly equal. */
    uint64_t frequency = reader->index.frequency;
    reader->ns_per_tick = frequency ? 1e9 / (double)(int64_t)frequency : 1;
    if (reader->summary.type_records[GOTRACE_V1_FutileWakeup])
        reader->progress_total += reader->summary.size;
    reader->stage = GT_INDEXED;
    return GOTRACE_OK;
}

/* Whether reading a trace of the second format found nothing that is a sign of damage. */
static bool is_sound(const gotrace_reader *reader)
{
    const gotrace_summary *s = &reader->summary;
    return s->problems == 0 && s->consequences == 0 && s->warnings == reader->v2->clock_warnings &&
           !reader->v2->times_altered;
}

gotrace_status gotrace_reader_find_damage(gotrace_reader *reader, gotrace_error *damage)
{
    damage->rule = GOTRACE_RULE_NONE;
    if (gotrace_reader_index(reader) < 0)
        return GOTRACE_ERROR;
    if (!reader->v2)
        *damage = reader->index.damage;
    else if ((reader->stage == GT_INDEXED || (reader->stage == GT_ENDED && !is_sound(reader))) &&
             !gt_v2_find_damage(reader, damage))
        return GOTRACE_ERROR;
    return GOTRACE_OK;
}

static bool start_reading(gotrace_reader *reader)
{
    if (reader->v2) {
        gt_v2_start(reader);
        reader->stage = GT_READING;
        return true;
    }
    if (!gt_reading_start(reader, gt_pieces_first_end(reader)))
        return false;
    reader->stage = GT_READING;
    return true;
}

/* A duration of a year is due to damage or a wrong frequency: traced programs write megabytes per
 * second, or from 1.22 on at least a generation per second, and are restarted earlier. */
static void report_span(gotrace_reader *reader)
{
    static const double day = 86400e9;
    enum { YEAR = 365 }; /* days */
    double days = (double)reader->summary.duration / day;
    if (days >= YEAR && reader->summary.frequency != 0)
        gt_report(reader, GOTRACE_RULE_TIME_SPAN, GT_NO_PLACE,
                  "%.1f years from the first event to the last, at %llu ticks a second",
                  days / YEAR, (unsigned long long)reader->summary.frequency);
}

/* Written once, before the first event is returned: another thread may read it while this one reads
 * on. */
static void note_start(gotrace_reader *reader)
{
    const uint64_t start = (uint64_t)reader->first_ticks;
    if (reader->summary.start != start)
        reader->summary.start = start;
}

/* All events were returned or checked: GOTRACE_END, or GOTRACE_ERROR. */
static gotrace_status finish(gotrace_reader *reader)
{
    if (reader->v2) {
        reader->summary.duration = gt_v2_since_start(reader, reader->last_ticks);
        gt_v2_end(reader);
    } else {
        reader->summary.duration = gt_time_of(reader, reader->last_ticks);
    }
    note_start(reader);
    if (reader->summary.duration < 0) /* clocks are broken: see time.order */
        reader->summary.duration = 0;
    if (!gt_end_fault(reader))
        return GOTRACE_ERROR;
    report_span(reader);
    end_reading(reader);
    reader->stage = GT_ENDED;
    return GOTRACE_END;
}

/* Prepares reading of events; returns GOTRACE_EVENT if they can be read. */
static gotrace_status prepare_first(gotrace_reader *reader)
{
    if (reader->stage == GT_FRESH && gotrace_reader_index(reader) < 0)
        return GOTRACE_ERROR;
    if (reader->stage == GT_INDEXED && !start_reading(reader))
        return GOTRACE_ERROR;
    if (reader->stage == GT_FAILED)
        return GOTRACE_ERROR;
    return reader->stage == GT_ENDED ? GOTRACE_END : GOTRACE_EVENT;
}

static inline gotrace_status prepare(gotrace_reader *reader)
{
    return reader->stage == GT_READING ? GOTRACE_EVENT : prepare_first(reader);
}

/* Puts the next events into a block: GOTRACE_EVENT, if there are any. */
static gotrace_status fill(gotrace_reader *reader, gt_block *b)
{
    gotrace_status status = prepare(reader);
    bool end;
    gt_block_clear(b);
    if (status != GOTRACE_EVENT)
        return status;
    if (!reader->v2)
        end = gt_reading_fill(reader, b);
    else
        gt_v2_fill(reader, b, &end);
    reader->summary.events += b->count;
    note_start(reader);
    if (b->failed)
        gt_fail_memory(reader);
    if (b->count > 0)
        return GOTRACE_EVENT;
    return end && reader->stage == GT_READING ? finish(reader) : GOTRACE_ERROR;
}

/* The next event, which is not in the reader's own block. */
__attribute__((noinline)) static gotrace_status fill_own(gotrace_reader *reader)
{
    gotrace_status status = prepare(reader);
    if (status != GOTRACE_EVENT)
        return status;
    if (!reader->own) {
        reader->own = gt_block_new(&reader->heap, GT_MOST_EVENTS, true);
        if (!reader->own) {
            gt_fail_memory(reader);
            return GOTRACE_ERROR;
        }
        reader->own->lends_args = true;
    }
    reader->own_next = 0;
    return fill(reader, reader->own);
}

gotrace_status gotrace_reader_next(gotrace_reader *reader, const gotrace_event **event)
{
    if (!reader->own || reader->own_next == reader->own->count) {
        gotrace_status status = fill_own(reader);
        *event = &no_event;
        if (status != GOTRACE_EVENT)
            return status;
    }
    *event = &reader->own->events[reader->own_next++];
    return GOTRACE_EVENT;
}

const gotrace_raw *gotrace_reader_raw(const gotrace_reader *reader)
{
    static const gotrace_raw none;
    return reader->own_next > 0 ? &reader->own->raw[reader->own_next - 1] : &none;
}

/* A block that the caller does not use. NULL if memory is refused. */
static gt_block *free_block(gotrace_reader *reader)
{
    gt_block *b = reader->blocks;
    while (b &&
           (!b->raw == reader->keeps_raw || atomic_load_explicit(&b->used, memory_order_acquire)))
        b = b->next;
    if (!b && (b = gt_block_new(&reader->heap, GT_BLOCK_EVENTS, reader->keeps_raw))) {
        b->next = reader->blocks;
        reader->blocks = b;
    }
    return b;
}

/* Moves the events of a record that gotrace_reader_next did not return yet. They have no details:
 * those that a record is followed by are transitions. */
static bool move_rest(gotrace_reader *reader, gt_block *b)
{
    gt_block *own = reader->own;
    gt_block_clear(b);
    b->public.generation = own->public.generation;
    b->public.generation_index = own->public.generation_index;
    for (; reader->own_next < own->count; reader->own_next++) {
        if (b->raw) {
            gotrace_raw *raw = &b->raw[b->count];
            *raw = own->raw[reader->own_next];
            raw->args = gt_block_args(b, raw->args, raw->arg_count);
            raw->arg_count = raw->args ? raw->arg_count : 0;
        }
        b->events[b->count++] = own->events[reader->own_next];
    }
    if (b->failed)
        gt_fail_memory(reader);
    return b->count > 0;
}

gotrace_status gotrace_reader_next_block(gotrace_reader *reader, const gotrace_block **block)
{
    gotrace_status status = prepare(reader);
    gt_block *b = status == GOTRACE_EVENT ? free_block(reader) : NULL;
    *block = NULL;
    if (status != GOTRACE_EVENT)
        return status;
    if (!b) {
        gt_fail_memory(reader);
        return GOTRACE_ERROR;
    }
    if (!reader->own || !move_rest(reader, b)) {
        status = fill(reader, b);
        if (status != GOTRACE_EVENT)
            return status;
    }
    b->public.events = b->events;
    b->public.count = b->count;
    b->public.raw = b->raw;
    gt_block_refer(b, reader->tables);
    atomic_store_explicit(&b->used, true, memory_order_relaxed);
    *block = &b->public;
    return GOTRACE_EVENT;
}

/* Its first member is `public`. */
static gt_block *block_of(const gotrace_block *block)
{
    return (gt_block *)(uintptr_t)block;
}

const char *gotrace_block_string(const gotrace_block *block, uint64_t id, size_t *size)
{
    return gt_tables_string(block_of(block)->tables, id, size);
}

size_t gotrace_block_stack_depth(const gotrace_block *block, uint64_t id)
{
    return gt_tables_stack_depth(block_of(block)->tables, id);
}

size_t gotrace_block_stack(const gotrace_block *block, uint64_t id, gotrace_frame *frames,
                           size_t max)
{
    return gt_tables_stack(block_of(block)->tables, id, frames, max);
}

void gotrace_block_release(const gotrace_block *block)
{
    gt_block *b = block_of(block);
    if (b)
        atomic_store_explicit(&b->used, false, memory_order_release);
}

void gotrace_reader_keep_raw(gotrace_reader *reader)
{
    reader->keeps_raw = true;
}

void gotrace_reader_select(gotrace_reader *reader, uint32_t kinds)
{
    reader->kinds = kinds;
}

/* Checks a v1 trace, one piece after another. */
static bool check_v1(gotrace_reader *reader)
{
    bool end = false;
    while (!end)
        if (!gt_check_events(reader) || !gt_pieces_next(reader, &end))
            return false;
    return true;
}

gotrace_status gt_check_start(gotrace_reader *reader)
{
    if (reader->stage == GT_FRESH && gotrace_reader_index(reader) < 0)
        return GOTRACE_ERROR;
    if (reader->stage == GT_INDEXED && !gt_pieces_find(reader))
        return GOTRACE_ERROR;
    gotrace_status status = prepare(reader);
    if (status != GOTRACE_EVENT)
        return status;
    bool started = reader->v2 ? gt_v2_ahead_start(reader) : gt_pieces_start(reader);
    return started ? GOTRACE_EVENT : GOTRACE_ERROR;
}

gotrace_status gotrace_reader_check(gotrace_reader *reader)
{
    gotrace_status status = gt_check_start(reader);
    if (status != GOTRACE_EVENT)
        return status;
    bool done = reader->v2 ? gt_v2_check(reader) : check_v1(reader);
    return done ? finish(reader) : GOTRACE_ERROR;
}

/* ---- queries --------------------------------------------------------------------------------- */

const gotrace_error *gotrace_reader_error(const gotrace_reader *reader)
{
    return &reader->error;
}

const gotrace_summary *gotrace_reader_summary(const gotrace_reader *reader)
{
    return &reader->summary;
}

uint64_t gotrace_reader_problems(const gotrace_reader *reader, gotrace_class class_)
{
    return (unsigned)class_ < GT_CLASSES ? reader->problems[class_] : 0;
}

const gotrace_proc_summary *gotrace_reader_proc(const gotrace_reader *reader, size_t n)
{
    const gt_index *index = &reader->index;
    if (n >= index->proc_count)
        return NULL;
    return &index->procs[index->by_id ? index->by_id[n] : n].summary;
}

const gotrace_generation_summary *gotrace_reader_generation(const gotrace_reader *reader, size_t n)
{
    const struct gt_v2 *v2 = reader->v2;
    return v2 && n < v2->index.generation_count ? &v2->index.generations[n].summary : NULL;
}

const char *gotrace_reader_string(const gotrace_reader *reader, uint64_t id, size_t *size)
{
    return gt_tables_string(reader->tables, id, size);
}

size_t gotrace_reader_stack_depth(const gotrace_reader *reader, uint64_t id)
{
    return gt_tables_stack_depth(reader->tables, id);
}

size_t gotrace_reader_stack(const gotrace_reader *reader, uint64_t id, gotrace_frame *frames,
                            size_t max)
{
    return gt_tables_stack(reader->tables, id, frames, max);
}

/* A live goroutine; NULL: there is none with that id. */
static const gt_goroutine *find_goroutine(const gotrace_reader *reader, uint64_t id)
{
    const gt_goroutines *all = reader->v2 ? &reader->v2->states.goroutines
                                          : gt_reading_goroutines(reader);
    return all && all->heap ? gt_goroutine_find(all, id) : NULL;
}

static int64_t time_of(const gotrace_reader *reader, int64_t ticks)
{
    return reader->v2 ? gt_v2_since_start(reader, ticks) : gt_time_of(reader, ticks);
}

const gotrace_goroutine *gotrace_reader_goroutine(gotrace_reader *reader, uint64_t id)
{
    const gt_goroutine *g = find_goroutine(reader, id);
    if (!g || !g->known || id == 0)
        return NULL;
    reader->goroutine = (gotrace_goroutine){.id = id,
                                            .start_stack = reader->v2 ? 0 : g->start_stack,
                                            .creator = g->creator,
                                            .created = time_of(reader, g->created),
                                            .since = time_of(reader, g->since),
                                            .state = g->shown};
    return &reader->goroutine;
}
