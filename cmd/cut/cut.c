/* cut.c - read the events, and decide which are written. */
#include "cmd/cut/cut.h"

#include <stdio.h>
#include <stdlib.h>

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
    const cut *c = ctx;
    if (!c->drops)
        out_bytes(c->job->to, bytes, size);
    return !c->job->to->failed;
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
static bool copy_data(cut *c, data_batches *d, uint64_t generation_index)
{
    const experiment_batch *batches;
    if (!d->searched && experiments_exist(gotrace_reader_summary(c->job->reader)) &&
        experiments_find(&d->found, c->job->source, c->job->config->limits, c->error) < 0) {
        c->status = GOTRACE_ERROR;
        return false;
    }
    d->searched = true;
    size_t count = experiments_of(&d->found, c->job->reader, generation_index, &batches);
    for (size_t i = 0; i < count; i++)
        if (!copy_batch(c, &batches[i]))
            return false;
    return true;
}

/* ---- events ---------------------------------------------------------------------------------- */

static bool is_in_range(const cut *c, const gotrace_event *e)
{
    const selection *what = c->job->what;
    const cut_part *part = c->job->part;
    const int64_t time = part ? (int64_t)(raw_of(c)->ticks - part->origin) : e->time;
    if (part && part->continues && raw_of(c)->generation < part->generation)
        return false;
    return time >= c->job->range.from && time < c->job->range.until &&
           (!(what->given & SELECT_BIT(SELECT_GENERATION)) ||
            select_has_id(&what->ids[SELECT_GENERATION], raw_of(c)->generation));
}

/* Whether the event is in the time range, and in the generations. The events of one record, which
 * follow each other, are where the first of them is. */
static bool is_inside(cut *c, const gotrace_event *e)
{
    if (e->kind != GOTRACE_KIND_SYNC && e->offset == c->record && c->has_record)
        return c->inside;
    c->has_record = e->kind != GOTRACE_KIND_SYNC;
    c->record = e->offset;
    c->inside = is_in_range(c, e);
    c->decided = false;
    return c->inside;
}

/* v2: sets the numbers with which the writer begins, so that a part fits what is copied. The states
 * with which a generation begins that continues are a generation before it, which is dropped. */
static void set_numbers(cut *c, gotrace_writer_options *options)
{
    const cut_part *part = c->job->part;
    const bool active = c->beginning.ranges[GOTRACE_RANGE_GC].count > 0;
    const bool states = c->beginning.goroutines.count + c->beginning.procs.count > 0;
    /* The number of the next GC event, and of the last one when the start is written. A cycle that
     * is active is reported there, and not a second time in the same generation. */
    uint64_t next = c->last_gc ? c->last_gc + 1 : part->first_gc;
    bool reported = active && !part->continues && c->last_gc == 0 && part->gc_active;
    uint64_t begun = reported || next == 0 ? next : next - 1;
    options->size = sizeof *options;
    options->first_generation = part->generation - (part->continues && states);
    options->gc_events = active && begun > 0 ? begun - 1 : begun;
    c->result->gc_lost = active && next == 0;
    c->drops = part->continues;
}

static bool begin(cut *c)
{
    gotrace_writer_options options = {
        .generation_ticks = UINT64_MAX, .equal_ticks = true, .clocks = c->clocks};
    c->carry.frequency = 1000000000;
    if (c->job->part)
        set_numbers(c, &options);
    if (!c->v2)
        options.frequency = gotrace_reader_summary(c->job->reader)->frequency;
    if (gotrace_writer_new(c->carry.version, &options, write_bytes, c, c->job->config,
                           &c->carry.writer, c->error) < 0) {
        c->status = GOTRACE_ERROR;
        return false;
    }
    c->begun = true;
    c->first_index = c->drops ? UINT64_MAX : raw_of(c)->generation_index;
    return cut_begin(c);
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
    if (raw_of(c)->generation == 0)
        return true;
    if (clocks)
        c->clocks = (gotrace_clocks){raw_of(c)->args[0], raw_of(c)->args[1], raw_of(c)->args[2],
                                     raw_of(c)->args[3]};
    if (!is_inside(c, e))
        return true;
    const bool first = !c->begun;
    if (first && !begin(c))
        return false;
    if (c->drops)
        c->now = raw_of(c)->ticks - 1;
    if (!first || c->drops)
        if (!end_generation(c) ||
            (gotrace_writer_advance(c->carry.writer, clocks ? &c->clocks : NULL) < 0 &&
             !writer_failed(c)))
            return false;
    c->drops = false;
    carry_forget(&c->carry);
    return c->carry.version < GOTRACE_FIRST_EXPERIMENTS ||
           copy_data(c, d, raw_of(c)->generation_index);
}

/* v1 lists the goroutines that run timers at the end of the trace. */
static bool note_timer(cut *c, const gotrace_event *e)
{
    if (!(e->flags & GOTRACE_EVENT_TIMER) || !e->goroutine || !cut_has(c, e->goroutine))
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
        c->origin = raw_of(c)->ticks - (c->v2 ? (uint64_t)e->time : 0);
    }
    if (!is_inside(c, e))
        return c->begun || cut_follow(c, e);
    if ((!c->begun && !begin(c)) || !note_timer(c, e))
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
            status = c->job->checked ? GOTRACE_END : gotrace_reader_check(c->job->reader);
            break;
        }
        if (!take_event(c, e, d) || c->job->to->failed)
            return c->status >= 0;
    }
    return status >= 0 || cut_fail(c, gotrace_reader_error(c->job->reader));
}

gotrace_status cut_write_events(const cut_job *job, cut_result *result, gotrace_error *error)
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
    c->result = result;
    c->error = error;
    c->status = GOTRACE_OK;
    c->carry.reader = job->reader;
    int version = gotrace_reader_summary(job->reader)->version;
    c->v2 = version >= GOTRACE_FIRST_V2;
    c->has_origin = job->part != NULL;
    c->origin = job->part ? job->part->origin : 0;
    carry_init(&c->carry, version);
    beginning_init(&c->beginning, version);
    idmap_init(&c->timers, 1);
    /* The frequency is known after the first pass; if it fails, reading ends at once. */
    gotrace_reader_index(job->reader);
    if (read_events(c, &data) && c->begun && put_timers(c) && end_generation(c) &&
        gotrace_writer_finish(c->carry.writer) < 0)
        writer_failed(c);
    result->gc_lost |= c->gc_due;
    gotrace_status status = c->status < 0 ? GOTRACE_ERROR : GOTRACE_END;
    gotrace_writer_free(c->carry.writer);
    carry_free(&c->carry);
    experiments_free(&data.found);
    beginning_free(&c->beginning);
    idmap_free(&c->timers);
    free(c);
    return status;
}

/* Whether the whole trace, or generations, may be copied; only few of them need be read twice. */
static bool may_copy(const cut_job *job)
{
    if (job->goroutines || gotrace_reader_index(job->reader) < 0)
        return false;
    const gotrace_summary *sum = gotrace_reader_summary(job->reader);
    return job->what->given == 0 ||
           (sum->version >= GOTRACE_FIRST_V2 && (job->range.from <= 0 || sum->generations > 1));
}

gotrace_status cut_write(const cut_job *job, cut_result *result, gotrace_error *error)
{
    bool done;
    if (!may_copy(job))
        return cut_write_events(job, result, error);
    if (cut_copy(job, &done, result, error) < 0)
        return GOTRACE_ERROR;
    if (done)
        return GOTRACE_END;
    /* Nothing was written, and the trace was read to its end, and its problems were reported. */
    gotrace_config config = *job->config;
    cut_job again = *job;
    config.on_problem = NULL;
    again.checked = true;
    if (gotrace_reader_open(job->source, &config, &again.reader, error) < 0)
        return GOTRACE_ERROR;
    gotrace_status status = cut_write_events(&again, result, error);
    gotrace_reader_close(again.reader);
    return status;
}
