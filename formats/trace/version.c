/*
 * version.c - converts a trace to another version of the format.
 *
 * The reader returns the events of the source in order, with their meaning; the writer adds
 * sequence numbers, statuses, batches and tables. This file and its neighbours translate between
 * the two, and count what the target cannot represent.
 *
 * Times: between versions of v1 ticks are preserved, unless the target requires all timestamps of a
 * proc to differ (from 1.19 on) and the source does not. In that case, and between v1 and v2, a
 * tick of the target is a nanosecond, and simultaneous events are moved apart by a nanosecond, as
 * in Go 1.27's reader of v1 traces.
 */
#include "formats/trace/version.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/common/fill_error.h"

enum { STRICT_SINCE = 19 }; /* from then on, all timestamps of a proc differ */

static const char *const loss_names[LOST_COUNT] = {
#define VERSION_NAME(id, text) [LOST_##id] = text,
    VERSION_LOSSES(VERSION_NAME)
#undef VERSION_NAME
};

_Static_assert((int)LOST_COUNT <= (int)VERSION_LOSS_KINDS, "a count for each kind of loss");

/* ---- failures and losses -------------------------------------------------------------------- */

bool version_fail(version_converter *c, const gotrace_error *error)
{
    if (c->status != GOTRACE_ERROR)
        *c->error = *error;
    c->status = GOTRACE_ERROR;
    return false;
}

bool version_no_memory(version_converter *c)
{
    gotrace_error error;
    fill_error(&error, GOTRACE_RULE_SYSTEM_MEMORY, GOTRACE_NO_OFFSET, "out of memory");
    return version_fail(c, &error);
}

void version_lose(version_converter *c, unsigned what)
{
    c->losses->counts[what]++;
}

void version_lose_event(version_converter *c)
{
    c->losses->source = c->from;
    c->losses->events[c->e->type]++;
}

bool version_loss(const version_losses *losses, int version, size_t n, char *text, size_t size)
{
    for (unsigned i = 0; i < LOST_COUNT; i++) {
        if (losses->counts[i] == 0 || n-- > 0)
            continue;
        snprintf(text, size, "%s: %" PRIu64 " left out, go 1.%d has none", loss_names[i],
                 losses->counts[i], version);
        return true;
    }
    for (unsigned code = 0; code < VERSION_CODES; code++) {
        if (losses->events[code] == 0 || n-- > 0)
            continue;
        const gotrace_event_spec *row = gotrace_event_spec_of(losses->source, code);
        snprintf(text, size, "%s: %" PRIu64 " left out, go 1.%d has nothing like it",
                 row ? row->name : "unknown events", losses->events[code], version);
        return true;
    }
    if (losses->impossible == 0 || n > 0)
        return false;
    snprintf(text, size, "events that cannot have happened: %" PRIu64 " left out, the first: %s",
             losses->impossible, losses->first.message);
    return true;
}

/* ---- state ----------------------------------------------------------------------------------- */

proc_state *version_proc(version_converter *c, int64_t proc)
{
    size_t before = c->procs.count;
    proc_state *p = idmap_insert(&c->procs, (uint64_t)proc);
    if (!p)
        version_no_memory(c);
    else if (c->procs.count != before)
        p->thread = GOTRACE_NO_THREAD;
    return p;
}

goroutine_state *version_goroutine(version_converter *c, uint64_t goroutine)
{
    size_t before = c->goroutines.count;
    goroutine_state *g = idmap_insert(&c->goroutines, goroutine);
    if (!g)
        version_no_memory(c);
    else if (c->goroutines.count != before)
        g->thread = GOTRACE_NO_THREAD;
    return g;
}

/* ---- output ---------------------------------------------------------------------------------- */

emission version_emission(const version_converter *c, const gotrace_event_spec *row)
{
    const gotrace_event *e = c->e;
    bool from_v2 = version_is_v2(c->from), to_v2 = version_is_v2(c->to);
    /* Events of v1 and v2 have the same goroutine as context, except in system calls. */
    return (emission){.row = row,
                      .proc = e->proc,
                      .thread = to_v2 ? e->thread : GOTRACE_NO_THREAD,
                      .goroutine = from_v2 && !to_v2 ? 0 : e->goroutine,
                      .stack = e->stack};
}

/* Ticks in nanoseconds. */
static uint64_t in_ns(uint64_t ticks, uint64_t frequency)
{
    enum { SECOND = 1000000000 };
    if (frequency == 0 || frequency > UINT64_MAX / SECOND)
        return ticks;
    uint64_t seconds = ticks / frequency;
    /* An implausible clock: use any base. */
    if (seconds > INT64_MAX / SECOND / 2)
        return SECOND;
    return seconds * SECOND + ticks % frequency * SECOND / frequency;
}

/* The time of the current event in ticks of the target. */
static uint64_t event_ticks(version_converter *c)
{
    if (!c->in_ns)
        return c->raw->ticks - c->lead_ticks;
    if (!c->timed)
        c->base = in_ns(c->raw->ticks, gotrace_reader_summary(c->reader)->frequency) -
                  (uint64_t)c->e->time;
    return c->base + (uint64_t)c->e->time;
}

/* Advances the time to that of the current event. */
static bool advance_time(version_converter *c)
{
    uint64_t ticks = event_ticks(c);
    if (c->timed && ticks <= c->now)
        ticks = c->now + c->strict;
    /* Readers of v1, Go's too, compare ticks as signed numbers. */
    if (c->timed && c->strict && !version_is_v2(c->to) && (int64_t)ticks < (int64_t)c->now) {
        gotrace_error error;
        fill_error(&error, GOTRACE_RULE_TIME_SPAN, c->e->offset,
                   "this event is later than go 1.%d can represent: no complete trace is written",
                   c->to);
        error.severity = GOTRACE_FATAL;
        return version_fail(c, &error);
    }
    c->timed = true;
    c->now = ticks;
    return true;
}

static uint64_t argument(const emission *t, unsigned role, uint64_t start, uint64_t text,
                         uint64_t message)
{
    switch (role) {
    case ROLE_TEXT: return text;
    case ROLE_MESSAGE: return message;
    case ROLE_START: return start;
    default: return t->numbers[role];
    }
}

/* If the writer refuses the event, counts it and continues. */
bool version_write_event(version_converter *c, const gotrace_event_data *h)
{
    if (gotrace_writer_event(c->writer, h) >= 0) {
        c->wrote = true;
        return true;
    }
    const gotrace_error *error = gotrace_writer_error(c->writer);
    if (error->class_ == GOTRACE_CLASS_SYSTEM || error->class_ == GOTRACE_CLASS_USAGE)
        return version_fail(c, error);
    if (c->losses->impossible++ == 0)
        c->losses->first = *error;
    return true;
}

static bool write_out(version_converter *c, const pending *q, uint64_t message)
{
    const emission *t = &q->e;
    uint64_t args[GOTRACE_MAX_ARGS];
    const gotrace_event_spec *spec = t->row;
    for (size_t i = 0; i < c->role_counts[spec->code]; i++)
        args[i] = argument(t, c->roles[spec->code][i], q->start, q->text, message);
    bool data = (spec->flags & GOTRACE_SPEC_DATA) != 0;
    gotrace_event_data h = {.spec = spec,
                            .proc = t->proc,
                            .thread = t->thread,
                            .goroutine = t->goroutine,
                            .args = args,
                            .arg_count = c->role_counts[spec->code],
                            .stack = q->stack,
                            .data = data ? t->message : NULL,
                            .data_size = data ? t->message_size : 0};
    return version_write_event(c, &h);
}

static bool at(version_converter *c, uint64_t ticks)
{
    return gotrace_writer_at(c->writer, ticks) >= 0 ||
           version_fail(c, gotrace_writer_error(c->writer));
}

static bool has_role(const version_converter *c, const gotrace_event_spec *row, uint8_t role)
{
    for (size_t i = 0; i < c->role_counts[row->code]; i++)
        if (c->roles[row->code][i] == role)
            return true;
    return false;
}

/* Gets the target's ids of the strings and stacks. */
static bool resolve(version_converter *c, pending *q)
{
    emission *t = &q->e;
    bool stack = (t->row->flags & GOTRACE_SPEC_STACK) ||
                 t->row->semantics->kind == GOTRACE_KIND_SAMPLE;
    if (t->start_is_stack)
        return !stack || version_start(c, t, &q->stack);
    return (!stack || version_stack(c, t->stack, &q->stack)) &&
           (!has_role(c, t->row, ROLE_START) || version_start(c, t, &q->start)) &&
           (!has_role(c, t->row, ROLE_TEXT) ||
            version_text(c, t->proc, t->text, t->text_size, &q->text));
}

static bool flush_one(version_converter *c)
{
    const pending *q = &c->queue[c->queue_first];
    bool done = at(c, q->at) && write_out(c, q, 0);
    c->queue_first = (c->queue_first + 1) % QUEUE_LENGTH;
    c->queue_count--;
    return done;
}

bool version_flush(version_converter *c)
{
    while (c->queue_count > 0)
        if (!flush_one(c))
            return false;
    return true;
}

bool version_emit(version_converter *c, emission *t)
{
    pending q = {.e = *t};
    uint64_t message = 0;
    if (!advance_time(c))
        return false;
    q.at = c->now;
    q.e.numbers[ROLE_TICKS] = c->now;
    if (c->queue && !t->message) {
        if (c->queue_count == QUEUE_LENGTH && !flush_one(c))
            return false;
        if (!resolve(c, &q))
            return false;
        c->queue[(c->queue_first + c->queue_count++) % QUEUE_LENGTH] = q;
        return true;
    }
    return version_flush(c) && at(c, q.at) && resolve(c, &q) &&
           (!has_role(c, t->row, ROLE_MESSAGE) ||
            version_text(c, t->proc, t->message, t->message_size, &message)) &&
           write_out(c, &q, message);
}

/* v1 has the label in the start event, where it is not known yet when the event is queued. */
static bool label_start(version_converter *c, uint64_t goroutine, const char *text, size_t size)
{
    for (size_t i = c->queue_count; i-- > 0;) {
        pending *q = &c->queue[(c->queue_first + i) % QUEUE_LENGTH];
        if (q->e.proc != c->e->proc)
            continue;
        if (!row_starts(q->e.row->semantics) || row_has(q->e.row, GOTRACE_ARG_STRING) ||
            q->e.numbers[ROLE_GOROUTINE] != goroutine || !c->rows.start_label)
            break;
        q->e.row = c->rows.start_label;
        return version_text(c, q->e.proc, text, size, &q->text);
    }
    version_lose(c, LOST_LABELS);
    return true;
}

/* ---- events that both formats have ----------------------------------------------------------- */

/* Emits the event or, if the target has no such event, counts it under its name or as LOST_*. */
enum { LOST_EVENT = LOST_COUNT };

static bool emit_or_lose(version_converter *c, emission *t, unsigned lost)
{
    if (!t->row) {
        if (lost == LOST_EVENT)
            version_lose_event(c);
        else
            version_lose(c, lost);
        return true;
    }
    bool goroutine = t->row->semantics->needs & GOTRACE_NEEDS_GOROUTINE;
    if (!version_is_v2(c->from) && version_is_v2(c->to) && !version_v2_place(c, t, goroutine))
        return true;
    return version_emit(c, t);
}

static bool metric(version_converter *c)
{
    emission t = version_emission(c, c->rows.like[c->e->type]);
    t.numbers[ROLE_VALUE] = gotrace_event_value(c->e);
    return emit_or_lose(c, &t, LOST_EVENT);
}

/* Identifies a stop: its goroutine or proc. */
static uint64_t stop_owner(const version_converter *c)
{
    return version_is_v2(c->from)     ? c->e->subject
           : c->from < ONE_STOP_SINCE ? (uint64_t)c->e->proc
                                      : 0;
}

static bool stop_begins(version_converter *c, emission *t)
{
    uint64_t kind = 0;
    if (c->stopping && c->to >= ONE_STOP_SINCE) {
        version_lose(c, LOST_STOPS_WITHIN);
        return true;
    }
    if (version_is_v2(c->to)) {
        t->text = version_v2_stop(c, gotrace_event_reason(c->e));
        t->text_size = strlen(t->text);
    } else if (!version_stop_kind(c, gotrace_event_reason(c->e), &kind)) {
        version_lose(c, LOST_STOPS);
        return true;
    } else if (t->stack != 0) {
        version_lose(c, LOST_STOP_STACKS);
    }
    if (c->to < ONE_STOP_SINCE && c->from >= ONE_STOP_SINCE)
        version_lose(c, LOST_STOP_REASONS);
    t->numbers[ROLE_VALUE] = kind;
    if (!emit_or_lose(c, t, LOST_STOPS))
        return false;
    c->stopping = true;
    c->stop_owner = stop_owner(c);
    c->stop_proc = t->proc;
    c->stop_goroutine = t->goroutine;
    return true;
}

/* The end of a stop that was omitted is omitted too. */
static bool stop_ends(version_converter *c, emission *t)
{
    bool each_proc = c->to < ONE_STOP_SINCE && c->from < ONE_STOP_SINCE;
    if (!each_proc && (!c->stopping || c->stop_owner != stop_owner(c)))
        return true;
    if (!each_proc && c->to < ONE_STOP_SINCE)
        t->proc = c->stop_proc;
    c->stopping = false;
    return emit_or_lose(c, t, LOST_STOPS);
}

static bool assist(version_converter *c, emission *t, bool begins)
{
    if (!version_is_v2(c->from) && version_is_v2(c->to)) {
        goroutine_state *g = version_goroutine(c, c->e->goroutine);
        if (!g)
            return false;
        bool known = begins || g->assisting;
        g->assisting = begins;
        /* v1 does not record assists that are active at the initial_state. */
        if (!known) {
            version_lose(c, LOST_BEGUN_BEFORE);
            return true;
        }
    }
    return emit_or_lose(c, t, LOST_ASSISTS);
}

/* A range that v1 begins as part of the initial state is active. v2 has no such event for a
 * stop-the-world, whose end is omitted too. */
static bool emit_active_range(version_converter *c)
{
    const gotrace_event_spec *row = row_of_kind(c->to, GOTRACE_KIND_RANGE_ACTIVE, c->e->range);
    emission t = {.row = row, .proc = GOTRACE_NO_PROC, .thread = GOTRACE_NO_THREAD};
    if (!row) {
        version_lose_event(c);
        return true;
    }
    if (c->e->range == GOTRACE_RANGE_MARK_ASSIST) {
        goroutine_state *g = version_goroutine(c, c->e->goroutine);
        if (!g)
            return false;
        g->assisting = true;
    }
    t.numbers[ROLE_PROC] = (uint64_t)c->e->proc;
    t.numbers[ROLE_GOROUTINE] = c->e->goroutine;
    return version_emit(c, &t);
}

static bool sweep(version_converter *c, emission *t, bool begins)
{
    t->numbers[ROLE_VALUE] = begins ? 0 : c->raw->args[0];
    t->numbers[ROLE_MORE] = begins ? 0 : c->raw->args[1];
    if (!begins && (c->raw->args[0] || c->raw->args[1]) && t->row &&
        !has_role(c, t->row, ROLE_VALUE))
        version_lose(c, LOST_SWEPT);
    return emit_or_lose(c, t, LOST_EVENT);
}

static bool range(version_converter *c)
{
    bool begins = c->e->kind == GOTRACE_KIND_RANGE_BEGIN;
    emission t = version_emission(c, c->rows.like[c->e->type]);
    if (begins && !version_is_v2(c->from) && version_is_v2(c->to) && !c->started)
        return emit_active_range(c);
    switch ((gotrace_range)c->e->range) {
    case GOTRACE_RANGE_STW: return begins ? stop_begins(c, &t) : stop_ends(c, &t);
    case GOTRACE_RANGE_MARK_ASSIST: return assist(c, &t, begins);
    case GOTRACE_RANGE_SWEEP: return sweep(c, &t, begins);
    case GOTRACE_RANGE_GC:
    case GOTRACE_RANGE_NONE: break;
    }
    return emit_or_lose(c, &t, LOST_EVENT);
}

/* The writer adds the active ranges of later generations. */
static bool range_active(version_converter *c)
{
    emission t = version_emission(c, c->rows.like[c->e->type]);
    if (!version_is_v2(c->to) || c->started)
        return true;
    t.numbers[ROLE_GOROUTINE] = t.numbers[ROLE_PROC] = c->e->subject;
    return emit_or_lose(c, &t, LOST_EVENT);
}

static bool task(version_converter *c)
{
    const gotrace_details *details = gotrace_event_details(c->e);
    emission t = version_emission(c, c->rows.like[c->e->type]);
    t.numbers[ROLE_TASK] = c->e->subject;
    t.numbers[ROLE_PARENT] = gotrace_event_value(c->e);
    t.text = details->text;
    t.text_size = details->text_size;
    return emit_or_lose(c, &t, LOST_TASKS);
}

static bool region(version_converter *c)
{
    const gotrace_details *details = gotrace_event_details(c->e);
    bool begins = c->e->kind == GOTRACE_KIND_REGION_BEGIN;
    /* v1 has one event for both, with a mode argument. */
    emission t = version_emission(c, begins || !c->rows.region_end ? c->rows.region_begin
                                                                   : c->rows.region_end);
    t.numbers[ROLE_TASK] = c->e->subject;
    t.numbers[ROLE_VALUE] = !begins;
    t.text = details->text;
    t.text_size = details->text_size;
    return emit_or_lose(c, &t, LOST_REGIONS);
}

static bool user_log(version_converter *c)
{
    const gotrace_details *details = gotrace_event_details(c->e);
    emission t = version_emission(c, c->rows.like[c->e->type]);
    t.numbers[ROLE_TASK] = c->e->subject;
    t.text = details->text;
    t.text_size = details->text_size;
    t.message = details->message ? details->message : "";
    t.message_size = details->message_size;
    return emit_or_lose(c, &t, LOST_LOGS);
}

static bool sample(version_converter *c)
{
    const gotrace_event *e = c->e;
    emission t = version_emission(c, c->rows.like[c->e->type]);
    if (!t.row) {
        version_lose(c, LOST_SAMPLES);
        return true;
    }
    if (!version_is_v2(c->to) && e->thread != GOTRACE_NO_THREAD)
        version_lose(c, LOST_SAMPLE_THREADS);
    t.numbers[ROLE_THREAD] = e->thread == GOTRACE_NO_THREAD ? UINT64_MAX : (uint64_t)e->thread;
    t.numbers[ROLE_PROC] = e->proc == GOTRACE_NO_PROC ? UINT64_MAX : (uint64_t)e->proc;
    t.numbers[ROLE_GOROUTINE] = e->goroutine;
    t.proc = GOTRACE_NO_PROC;
    t.thread = GOTRACE_NO_THREAD;
    t.goroutine = 0;
    return version_emit(c, &t);
}

static bool label(version_converter *c)
{
    const gotrace_details *details = gotrace_event_details(c->e);
    emission t = version_emission(c, c->rows.like[c->e->type]);
    if (!t.row)
        return label_start(c, c->e->goroutine, details->text, details->text_size);
    t.text = details->text;
    t.text_size = details->text_size;
    return version_emit(c, &t);
}

/* Events of experiments have the same arguments in all versions. */
static bool experiment(version_converter *c)
{
    const gotrace_event_spec *spec = c->rows.like[c->e->type];
    if (!c->searched && !version_experiment_data(c))
        return false;
    if (!spec) {
        version_lose(c, LOST_EXPERIMENTS);
        return true;
    }
    gotrace_event_data h = {.spec = spec,
                            .proc = c->e->proc,
                            .thread = c->e->thread,
                            .goroutine = c->e->goroutine,
                            .args = c->raw->args,
                            .arg_count = c->raw->arg_count};
    return advance_time(c) && at(c, c->now) && version_write_event(c, &h);
}

/* ---- begin and end --------------------------------------------------------------------------- */

static bool open_writer(version_converter *c)
{
    const gotrace_event *e = c->e;
    gotrace_writer_options options = {0};
    if (!c->in_ns && !version_is_v2(c->from))
        options.frequency = gotrace_reader_summary(c->reader)->frequency;
    if (version_is_v2(c->from))
        options.generation_ticks = UINT64_MAX;
    if (e && (e->flags & GOTRACE_EVENT_CLOCKS))
        options.clocks = (gotrace_clocks){c->raw->args[0], c->raw->args[1], c->raw->args[2],
                                          c->raw->args[3]};
    return gotrace_writer_new(c->to, &options, c->job->write, c->job->ctx, c->job->config,
                              &c->writer, c->error) >= 0 ||
           version_fail(c, c->error);
}

/* A generation of the source begins or (without a number) the trace ends. */
static bool sync_event(version_converter *c)
{
    const gotrace_event *e = c->e;
    bool clocks = e->flags & GOTRACE_EVENT_CLOCKS;
    gotrace_clocks given = {c->raw->args[0], c->raw->args[1], c->raw->args[2], c->raw->args[3]};
    if (e->subject == 0)
        return true;
    if (clocks && c->to < GOTRACE_FIRST_SYNC)
        version_lose(c, LOST_CLOCKS);
    if (!c->writer)
        return open_writer(c) && (version_is_v2(c->to) || version_begin_v1(c));
    c->started = true;
    if (!version_flush(c) || !at(c, c->now))
        return false;
    if (!version_is_v2(c->to))
        return true;
    if (gotrace_writer_advance(c->writer, clocks ? &given : NULL) < 0)
        return version_fail(c, gotrace_writer_error(c->writer));
    return !c->searched || version_experiment_data(c);
}

static bool convert_event(version_converter *c)
{
    bool to_v2 = version_is_v2(c->to);
    if (c->e->kind != GOTRACE_KIND_SYNC && !c->writer && !open_writer(c))
        return false;
    bool done = false;
    if (to_v2 && !version_is_v2(c->from) && (!version_v2_prepare(c, &done) || done))
        return c->status >= 0;
    switch ((gotrace_kind)c->e->kind) {
    case GOTRACE_KIND_METRIC: return metric(c);
    case GOTRACE_KIND_RANGE_BEGIN:
    case GOTRACE_KIND_RANGE_END: return range(c);
    case GOTRACE_KIND_RANGE_ACTIVE: return range_active(c);
    case GOTRACE_KIND_TASK_BEGIN:
    case GOTRACE_KIND_TASK_END: return task(c);
    case GOTRACE_KIND_REGION_BEGIN:
    case GOTRACE_KIND_REGION_END: return region(c);
    case GOTRACE_KIND_LOG: return user_log(c);
    case GOTRACE_KIND_SAMPLE: return sample(c);
    case GOTRACE_KIND_LABEL: return label(c);
    case GOTRACE_KIND_EXPERIMENT: return experiment(c);
    case GOTRACE_KIND_TRANSITION:
    case GOTRACE_KIND_SYSCALL:
    case GOTRACE_KIND_NONE: return to_v2 ? version_to_v2(c) : version_to_v1(c);
    case GOTRACE_KIND_SYNC: return sync_event(c);
    }
    return true;
}

static void set_up(version_converter *c)
{
    bool from_v2 = version_is_v2(c->from), to_v2 = version_is_v2(c->to);
    c->strict = c->to >= STRICT_SINCE;
    c->in_ns = !from_v2 && (to_v2 || (c->strict && c->from < STRICT_SINCE));
    /* Between these versions only events of the source are written, whose timestamps are used
     * unchanged. */
    if (!from_v2 && !c->in_ns)
        c->strict = false;
    version_tables(c);
    idmap_init(&c->stacks, sizeof(uint64_t));
    idmap_init(&c->starts, sizeof(uint64_t));
    idmap_init(&c->procs, sizeof(proc_state));
    idmap_init(&c->goroutines, sizeof(goroutine_state));
    idmap_init(&c->threads, sizeof(thread_state));
    idmap_init(&c->timers, 1);
    idmap_init(&c->undetermined, sizeof(uint64_t));
}

static void tear_down(version_converter *c)
{
    gotrace_writer_free(c->writer);
    idmap_free(&c->stacks);
    idmap_free(&c->starts);
    idmap_free(&c->procs);
    idmap_free(&c->goroutines);
    idmap_free(&c->threads);
    idmap_free(&c->timers);
    idmap_free(&c->undetermined);
    free(c->frames);
    free(c->queue);
    free(c->busy_procs);
    experiments_free(&c->experiments);
}

/* Readers reject a trace without events. */
static bool nothing_written(version_converter *c)
{
    gotrace_error error;
    fill_error(&error, GOTRACE_RULE_TRACE_EMPTY, GOTRACE_NO_OFFSET,
               "go 1.%d can represent none of its events: no trace is written", c->to);
    return version_fail(c, &error);
}

static bool end(version_converter *c)
{
    if (!c->writer && !open_writer(c))
        return false;
    bool done = version_is_v2(c->to) ? version_v2_end(c) : version_v1_end(c);
    return done && version_flush(c) && (c->wrote || nothing_written(c)) &&
           (gotrace_writer_finish(c->writer) >= 0 ||
            version_fail(c, gotrace_writer_error(c->writer)));
}

gotrace_status version_convert(const version_job *job, version_losses *losses, gotrace_error *error)
{
    version_converter c = {.job = job,
                           .reader = job->reader,
                           .error = error,
                           .to = job->version,
                           .from = gotrace_reader_summary(job->reader)->version,
                           .losses = losses};
    const gotrace_event *event;
    gotrace_status status;
    *losses = (version_losses){.impossible = 0};
    set_up(&c);
    /* The frequency is known after the first pass. */
    gotrace_reader_index(job->reader);
    status = GOTRACE_OK;
    if (version_is_v2(c.from) && !version_is_v2(c.to) &&
        !(c.queue = calloc(QUEUE_LENGTH, sizeof *c.queue)))
        version_no_memory(&c);
    while (status >= 0 && c.status >= 0 &&
           (status = gotrace_reader_next(job->reader, &event)) == GOTRACE_EVENT) {
        c.e = event;
        c.raw = gotrace_reader_raw(job->reader);
        convert_event(&c);
    }
    if (status < 0)
        version_fail(&c, gotrace_reader_error(job->reader));
    else if (c.status >= 0)
        end(&c);
    tear_down(&c);
    return c.status < 0 ? GOTRACE_ERROR : GOTRACE_END;
}
