/* cut.c - read the events, and decide which are written. */
#include "cmd/cut/cut.h"

#include <stdio.h>
#include <stdlib.h>

#include "cmd/semantics.h"
#include "formats/common/experiments.h"

bool cut_fail(cut *c, const gotrace_error *error)
{
    if (c->status >= 0)
        *c->error = *error;
    c->status = GOTRACE_ERROR;
    return false;
}

bool cut_no_memory(cut *c)
{
    return cut_fail(c, &(gotrace_error){.rule = GOTRACE_RULE_SYSTEM_MEMORY,
                                        .severity = GOTRACE_FATAL,
                                        .class_ = GOTRACE_CLASS_SYSTEM,
                                        .offset = GOTRACE_NO_OFFSET,
                                        .batch = GOTRACE_NO_OFFSET,
                                        .event = GOTRACE_NO_OFFSET,
                                        .message = "out of memory"});
}

static bool write_bytes(void *ctx, const void *bytes, size_t size)
{
    out *o = ctx;
    out_bytes(o, bytes, size);
    return !o->failed;
}

static bool writer_failed(cut *c)
{
    const gotrace_error *error = gotrace_writer_error(c->carry.writer);
    return error->rule == GOTRACE_RULE_NONE ? cut_no_memory(c) : cut_fail(c, error);
}

bool cut_put(cut *c, const gotrace_event_data *event, bool optional)
{
    if (c->carry.failed)
        return writer_failed(c);
    if (gotrace_writer_event(c->carry.writer, event) >= 0)
        return true;
    const gotrace_error *error = gotrace_writer_error(c->carry.writer);
    if (error->class_ == GOTRACE_CLASS_SYSTEM)
        return cut_fail(c, error);
    if (!optional && c->result->impossible++ == 0)
        c->result->first = *error;
    return true;
}

/* ---- experiments ----------------------------------------------------------------------------- */

typedef struct data_batches {
    experiments found;
    bool searched;
} data_batches;

static bool copy_batch(cut *c, const experiment_batch *b)
{
    char *data = experiments_read(b, c->job->source, c->error);
    if (!data) {
        c->status = GOTRACE_ERROR;
        return false;
    }
    gotrace_event_data h = {
        .spec = gotrace_event_spec_of(c->carry.version, GOTRACE_V2_ExperimentalBatch),
        .proc = GOTRACE_NO_PROC,
        .thread = b->thread,
        .args = &b->experiment,
        .arg_count = 1,
        .data = data,
        .data_size = b->size};
    bool done = cut_put(c, &h, false);
    free(data);
    return done;
}

/* Copies the data of the generation's experiments, which are not events. */
static bool copy_data(cut *c, data_batches *d, uint64_t generation)
{
    const experiment_batch *batches;
    if (!d->searched &&
        experiments_find(&d->found, c->job->source, c->job->config->limits, c->error) < 0) {
        c->status = GOTRACE_ERROR;
        return false;
    }
    d->searched = true;
    size_t count = experiments_of(&d->found, generation, &batches);
    for (size_t i = 0; i < count; i++)
        if (!copy_batch(c, &batches[i]))
            return false;
    return true;
}

/* ---- events ---------------------------------------------------------------------------------- */

static bool is_in_range(const cut *c, const gotrace_event *e)
{
    const selection *what = c->job->what;
    return e->time >= c->job->range.from && e->time < c->job->range.until &&
           (!(what->given & SELECT_BIT(SELECT_GENERATION)) ||
            select_has_id(&what->ids[SELECT_GENERATION], e->generation));
}

/* Whether the event is in the time range, and in the generations. The events of one record, which
 * follow each other, are where the first of them is. */
static bool is_inside(cut *c, const gotrace_event *e)
{
    if (e->kind != GOTRACE_KIND_SYNC && c->has_record && e->offset == c->record)
        return c->inside;
    c->has_record = e->kind != GOTRACE_KIND_SYNC;
    c->record = e->offset;
    c->inside = is_in_range(c, e);
    c->decided = false;
    return c->inside;
}

static bool begin(cut *c, const gotrace_event *e)
{
    gotrace_writer_options options = {
        .generation_ticks = UINT64_MAX, .equal_ticks = true, .clocks = c->clocks};
    c->carry.frequency = 1000000000;
    if (!c->v2)
        options.frequency = gotrace_reader_summary(c->job->reader)->frequency;
    if (gotrace_writer_new(c->carry.version, &options, write_bytes, c->job->to, c->job->config,
                           &c->carry.writer, c->error) < 0) {
        c->status = GOTRACE_ERROR;
        return false;
    }
    c->begun = true;
    c->first_generation = e->generation;
    return cut_begin(c, e);
}

/* v2: the bytes of the generations from the given one on, if the file has them in one piece. */
static bool find_bytes(const cut *c, uint64_t first, uint64_t *begin, uint64_t *size)
{
    const selection *what = c->job->what;
    const gotrace_generation_summary *g;
    *begin = *size = 0;
    for (size_t i = 0; (g = gotrace_reader_generation(c->job->reader, i)); i++) {
        if (g->generation < first || ((what->given & SELECT_BIT(SELECT_GENERATION)) &&
                                      !select_has_id(&what->ids[SELECT_GENERATION], g->generation)))
            continue;
        if (*size > 0 && g->offset != *begin + *size)
            return false;
        *begin = *size > 0 ? *begin : g->offset;
        *size += g->bytes;
    }
    return *size > 0;
}

static bool copy_bytes(cut *c, uint64_t offset, uint64_t size)
{
    char buffer[1 << 14];
    while (size > 0 && !c->job->to->failed) {
        size_t got = 0, wanted = size < sizeof buffer ? (size_t)size : sizeof buffer;
        if (gotrace_source_read(c->job->source, offset, buffer, wanted, &got, c->error) < 0) {
            c->status = GOTRACE_ERROR;
            return false;
        }
        if (got == 0)
            break;
        out_bytes(c->job->to, buffer, got);
        offset += got;
        size -= got;
    }
    return true;
}

/* v2: copies whole generations as they are, if the rest of the trace is sound too. A stopped world
 * is not in the statuses of a generation, so that it must not begin with one. *done: copied, or
 * failed. */
static bool copy_generations(cut *c, const gotrace_event *e, bool *done)
{
    uint64_t begin, size, first = e->generation;
    const uint64_t header = gotrace_reader_summary(c->job->reader)->header_bytes;
    *done = false;
    if (c->rewrites || c->job->goroutines || c->job->keep_times ||
        c->job->range.from != INT64_MIN || c->job->range.until != INT64_MAX ||
        c->ranges[GOTRACE_RANGE_STW].count > 0 || !find_bytes(c, first, &begin, &size))
        return true;
    c->checked = *done = true;
    if (gotrace_reader_check(c->job->reader) < 0)
        return cut_fail(c, gotrace_reader_error(c->job->reader));
    if (gotrace_reader_summary(c->job->reader)->problems > 0)
        return true;
    c->copied = true;
    c->result->count = gotrace_reader_summary(c->job->reader)->events;
    return copy_bytes(c, 0, header) && copy_bytes(c, begin, size);
}

/* v2: the statuses at the end of a generation come after its last event. */
static bool end_generation(cut *c)
{
    return !c->v2 || gotrace_writer_at(c->carry.writer, ++c->now) >= 0 || writer_failed(c);
}

/* v2: a generation begins, or (without a number) the trace ends. */
static bool follow_generation(cut *c, const gotrace_event *e, data_batches *d)
{
    bool clocks = e->flags & GOTRACE_EVENT_CLOCKS;
    if (e->generation == 0)
        return true;
    if (clocks)
        c->clocks = (gotrace_clocks){e->args[0], e->args[1], e->args[2], e->args[3]};
    if (!is_inside(c, e))
        return true;
    if (!c->begun) {
        bool done;
        if (!copy_generations(c, e, &done) || done || !begin(c, e))
            return false;
    } else if (!end_generation(c) ||
               (gotrace_writer_advance(c->carry.writer, clocks ? &c->clocks : NULL) < 0 &&
                !writer_failed(c))) {
        return false;
    }
    carry_forget_stacks(&c->carry);
    return c->carry.version < GOTRACE_FIRST_EXPERIMENTS || copy_data(c, d, e->generation);
}

/* v1 lists the goroutines that run timers at the end of the trace. */
static bool note_timer(cut *c, const gotrace_event *e)
{
    enum { LANE_TIMER = 1000001 };
    if (c->v2 || e->lane != LANE_TIMER || !e->goroutine || !cut_has(c, e->goroutine))
        return true;
    return idmap_insert(&c->timers, e->goroutine) || cut_no_memory(c);
}

static bool take_event(cut *c, const gotrace_event *e, data_batches *d)
{
    if (e->kind == GOTRACE_KIND_SYNC)
        return follow_generation(c, e, d);
    bool first = !c->has_origin;
    if (first) {
        c->has_origin = true;
        c->origin = e->ticks - (c->v2 ? (uint64_t)e->time : 0);
    }
    if (!is_inside(c, e))
        return c->begun || cut_follow(c, e);
    if ((!c->begun && !begin(c, e)) || !note_timer(c, e))
        return false;
    /* Times are counted from the first event: a goroutine that was there. */
    if (first && c->job->goroutines && c->job->keep_times && (e->flags & GOTRACE_EVENT_INITIAL) &&
        e->to != GOTRACE_STATE_RUNNING && e->to != GOTRACE_STATE_SYSCALL)
        return cut_pass_first(c, e);
    return cut_pass(c, e);
}

static bool put_timers(cut *c)
{
    uint64_t *timers = idmap_sorted_keys(&c->timers);
    bool done = timers || c->timers.count == 0 || cut_no_memory(c);
    for (size_t i = 0; done && i < c->timers.count; i++) {
        gotrace_event_data h = {
            .spec = gotrace_event_spec_of(c->carry.version, GOTRACE_V1_TimerGoroutine),
            .proc = GOTRACE_NO_PROC,
            .thread = GOTRACE_NO_THREAD,
            .args = &timers[i],
            .arg_count = 1};
        done = cut_put(c, &h, true);
    }
    free(timers);
    return done;
}

static bool read_events(cut *c, data_batches *d)
{
    const gotrace_event *e;
    gotrace_status status;
    while ((status = gotrace_reader_next(c->job->reader, &e)) == GOTRACE_EVENT) {
        if (c->begun && e->time >= c->job->range.until && !is_inside(c, e)) {
            /* The verdict is on the whole trace. */
            status = gotrace_reader_check(c->job->reader);
            break;
        }
        if (!take_event(c, e, d) || c->job->to->failed)
            return c->status >= 0;
    }
    return status >= 0 || cut_fail(c, gotrace_reader_error(c->job->reader));
}

static gotrace_status write_once(const cut_job *job, bool rewrites, bool *damaged,
                                 cut_result *result, gotrace_error *error)
{
    cut *c = calloc(1, sizeof *c);
    data_batches data = {.searched = false};
    *result = (cut_result){.count = 0};
    if (!c) {
        *error = (gotrace_error){.rule = GOTRACE_RULE_SYSTEM_MEMORY,
                                 .severity = GOTRACE_FATAL,
                                 .class_ = GOTRACE_CLASS_SYSTEM,
                                 .message = "out of memory"};
        return GOTRACE_ERROR;
    }
    c->job = job;
    c->rewrites = rewrites;
    c->result = result;
    c->error = error;
    c->status = GOTRACE_OK;
    c->carry.reader = job->reader;
    int version = gotrace_reader_summary(job->reader)->version;
    c->v2 = version >= GOTRACE_FIRST_V2;
    carry_init(&c->carry, version);
    idmap_init(&c->goroutines, sizeof(cut_goroutine));
    idmap_init(&c->procs, sizeof(cut_proc));
    idmap_init(&c->timers, 1);
    for (size_t i = 0; i < CUT_RANGES; i++)
        idmap_init(&c->ranges[i], sizeof(cut_range));
    /* The frequency is known after the first pass; if it fails, reading ends at once. */
    gotrace_reader_index(job->reader);
    if (read_events(c, &data) && c->begun && put_timers(c) && end_generation(c) &&
        gotrace_writer_finish(c->carry.writer) < 0)
        writer_failed(c);
    gotrace_status status = c->status < 0 ? GOTRACE_ERROR : GOTRACE_END;
    *damaged = status >= 0 && c->checked && !c->copied;
    gotrace_writer_free(c->carry.writer);
    carry_free(&c->carry);
    experiments_free(&data.found);
    idmap_free(&c->goroutines);
    idmap_free(&c->procs);
    idmap_free(&c->timers);
    for (size_t i = 0; i < CUT_RANGES; i++)
        idmap_free(&c->ranges[i]);
    free(c);
    return status;
}

gotrace_status cut_write(const cut_job *job, cut_result *result, gotrace_error *error)
{
    bool damaged;
    if (write_once(job, false, &damaged, result, error) < 0)
        return GOTRACE_ERROR;
    if (!damaged)
        return GOTRACE_END;
    /* Nothing was copied, and the trace was read to its end, and its problems were reported. */
    gotrace_config config = *job->config;
    cut_job again = *job;
    config.on_problem = NULL;
    if (gotrace_reader_open(job->source, &config, &again.reader, error) < 0)
        return GOTRACE_ERROR;
    gotrace_status status = write_once(&again, true, &damaged, result, error);
    gotrace_reader_close(again.reader);
    return status;
}
