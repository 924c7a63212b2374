/*
 * dump.c - writes the ordered events of a trace as an event script by meaning.
 *
 * Reverses what the reader derives from the records: events that come from one record become one
 * event again, and sequence numbers are omitted.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "formats/common/experiments.h"
#include "formats/common/idmap.h"
#include "formats/common/rows_by_meaning.h"
#include "formats/script/script.h"
#include "formats/common/vector.h"

#define SECOND ((uint64_t)1000000000)
/* The longest time in a script: longer ones do not fit into 64 bits. */
#define SECONDS_MAX (INT64_MAX / SECOND)

/* An event that is kept while the next one is read. */
typedef struct saved_event {
    gotrace_event event;
    gotrace_raw raw;
    uint64_t args[GOTRACE_MAX_ARGS];
} saved_event;

typedef struct dumper {
    gotrace_source *source;
    gotrace_reader *reader;
    const gotrace_raw *raw; /* of the event that is written */
    const script_format *how;
    out *o;
    int version;
    uint64_t frequency, start; /* ticks per second; ticks at time 0 */
    bool in_ticks;             /* write times in ticks, because ticks are finer than ns */
    bool has_events;
    uint64_t offset;   /* of the last record written */
    saved_event steal; /* a steal of a proc that may belong to the record of the next event */
    bool has_steal;
    script_event event;
    script_frame_text text;
    gotrace_frame *frames[2]; /* of the event's stacks */
    size_t capacities[2];
    gotrace_frame pc;
    idmap timers; /* goroutines already declared as running timers */
    experiments experiments;
    gotrace_error *error;
} dumper;

/* ---- values -------------------------------------------------------------------------------- */

static script_value *add(dumper *d, const char *name, script_kind kind)
{
    script_value *value = &d->event.values[d->event.count++];
    *value = (script_value){.name = name, .kind = kind};
    return value;
}

static void add_number(dumper *d, const char *name, uint64_t number)
{
    add(d, name, SCRIPT_UNSIGNED)->number = number;
}

static void add_signed(dumper *d, const char *name, int64_t number)
{
    add(d, name, SCRIPT_SIGNED)->number = (uint64_t)number;
}

static void add_word(dumper *d, const char *name, const char *word)
{
    add(d, name, SCRIPT_WORD)->bytes = word;
}

/* Omits empty values. */
static void add_string(dumper *d, const char *name, const char *bytes, size_t size)
{
    if (!bytes || size == 0)
        return;
    script_value *value = add(d, name, SCRIPT_STRING);
    value->bytes = bytes;
    value->size = size;
}

static void add_stack(dumper *d, const char *name, uint64_t stack, unsigned which)
{
    size_t depth = stack ? gotrace_reader_stack_depth(d->reader, stack) : 0;
    if (depth == 0)
        return;
    gotrace_frame *frames = vector_fit(d->frames[which], &d->capacities[which], depth,
                                       sizeof *frames);
    if (!frames) {
        out_fail(d->o, ENOMEM);
        return;
    }
    d->frames[which] = frames;
    script_value *value = add(d, name, SCRIPT_STACK);
    value->frames = d->frames[which];
    value->frame_count = gotrace_reader_stack(d->reader, stack, d->frames[which], depth);
}

/* Until 1.6 the start of a goroutine is a program counter. */
static void add_pc(dumper *d, const char *name, uint64_t pc)
{
    if (pc == 0)
        return;
    d->pc = (gotrace_frame){.pc = pc};
    script_value *value = add(d, name, SCRIPT_STACK);
    value->frames = &d->pc;
    value->frame_count = 1;
}

/* Times outside the range of ns in a script are written in ticks. */
static void add_time(dumper *d, const char *ns, const char *name, uint64_t ticks)
{
    bool before = ticks < d->start;
    uint64_t since = before ? d->start - ticks : ticks - d->start;
    if (d->in_ticks || since / d->frequency >= SECONDS_MAX)
        add_number(d, name, ticks);
    else if (before)
        add_signed(d, ns, -(int64_t)script_ns(since, d->frequency));
    else
        add_number(d, ns, script_ns(since, d->frequency));
}

/* ---- an event ------------------------------------------------------------------------------ */

/* The tick of a time of v2. The reader reports the ns at which the tick begins, plus one for each
 * earlier event in the same tick; so this is the last tick that begins no later. */
static uint64_t ticks_of(const dumper *d, uint64_t time)
{
    script_time t = {time, 0};
    if (d->version < GOTRACE_FIRST_V2)
        return time;
    if (!script_ticks_fit(t, d->frequency))
        return UINT64_MAX;
    uint64_t ticks = script_ticks(t, d->frequency);
    double begins = (double)ticks *
                    (1.0 / ((double)d->frequency / 1e9)); /* computed as the reader does */
    return ticks - (begins < 0x1p63 && (uint64_t)begins > time);
}

static const gotrace_arg_spec *arg_named(const gotrace_arg_spec *const *args, size_t count,
                                         const char *name, size_t *at)
{
    for (*at = 0; *at < count; ++*at)
        if (strcmp(args[*at]->name, name) == 0)
            return args[*at];
    return NULL;
}

/* The context of an event; alias is used if an argument has the name. A proc or goroutine is
 * omitted if an argument implies it: it follows from the thread or proc. */
static void add_context(dumper *d, const gotrace_arg_spec *const *args, size_t count,
                        const char *name, const char *alias, uint64_t id)
{
    size_t at;
    bool taken = arg_named(args, count, name, &at) != NULL;
    if (!taken || d->raw->args[at] != id || *name == 'm')
        add_signed(d, taken ? alias : name, (int64_t)id);
}

static void add_place(dumper *d, const gotrace_event *event, const gotrace_arg_spec *const *args,
                      size_t count)
{
    if (event->kind == GOTRACE_KIND_SAMPLE)
        return;
    if (d->version >= GOTRACE_FIRST_V2 && event->thread != GOTRACE_NO_THREAD)
        add_context(d, args, count, "m", "on_m", (uint64_t)event->thread);
    /* A moved event is at the place where its goroutine resumed, and has no proc of its own. */
    if (event->proc != GOTRACE_NO_PROC && !(event->flags & GOTRACE_EVENT_MOVED))
        add_context(d, args, count, "p", "on_p", (uint64_t)event->proc);
    if (event->goroutine != 0)
        add_context(d, args, count, "g", "on_g", event->goroutine);
}

static void add_arg(dumper *d, const gotrace_arg_spec *arg, uint64_t value)
{
    size_t size = 0;
    const char *bytes;
    switch ((gotrace_arg_kind)arg->kind) {
    case GOTRACE_ARG_DSEQ:
    case GOTRACE_ARG_DT:
    case GOTRACE_ARG_SEQ:
    case GOTRACE_ARG_TICKS: /* the event's own time */
    case GOTRACE_ARG_START:
    case GOTRACE_ARG_STACK: break;
    case GOTRACE_ARG_STRING:
        bytes = gotrace_reader_string(d->reader, value, &size);
        add_string(d, arg->name, bytes, size);
        break;
    case GOTRACE_ARG_PROC:
    case GOTRACE_ARG_THREAD:
        /* The default is none. */
        if (value != UINT64_MAX)
            add_number(d, arg->name, value);
        break;
    case GOTRACE_ARG_PSTATUS:
    case GOTRACE_ARG_GSTATUS:
        bytes = script_state_name(arg->kind == GOTRACE_ARG_GSTATUS, value);
        if (bytes)
            add_word(d, arg->name, bytes);
        else
            add_number(d, arg->name, value);
        break;
    case GOTRACE_ARG_VALUE:
    case GOTRACE_ARG_GOROUTINE:
    case GOTRACE_ARG_TASK:
    case GOTRACE_ARG_BYTES:
    case GOTRACE_ARG_ID:
    case GOTRACE_ARG_GENERATION:
    case GOTRACE_ARG_COUNT: add_number(d, arg->name, value); break;
    }
}

/* The arguments that gotrace_raw.args contains, in the order of the event table. */
static size_t args_of(const dumper *d, const gotrace_event_spec *spec,
                      const gotrace_arg_spec **args)
{
    const gotrace_arg_spec *all[GOTRACE_MAX_ARGS];
    size_t count = gotrace_event_args(spec, d->version, all), n = 0;
    bool sample = !(spec->flags & GOTRACE_SPEC_TIMED);
    for (size_t i = 0; i < count; i++) {
        bool stack = all[i]->kind == GOTRACE_ARG_STACK;
        if (all[i]->kind != GOTRACE_ARG_DSEQ && all[i]->kind != GOTRACE_ARG_DT && !stack &&
            !(sample && all[i]->kind == GOTRACE_ARG_TICKS))
            args[n++] = all[i];
    }
    return n;
}

static void add_stacks(dumper *d, const gotrace_event *event, const gotrace_event_spec *spec)
{
    const gotrace_arg_spec *args[GOTRACE_MAX_ARGS];
    size_t count = gotrace_event_args(spec, d->version, args);
    for (size_t i = 0; i < count; i++)
        if (args[i]->kind == GOTRACE_ARG_START && d->version >= 7)
            add_stack(d, args[i]->name, gotrace_event_start_stack(event), 1);
        else if (args[i]->kind == GOTRACE_ARG_START)
            add_pc(d, args[i]->name, gotrace_event_start_stack(event));
        else if (args[i]->kind == GOTRACE_ARG_STACK)
            add_stack(d, args[i]->name, event->stack, 0);
}

static void write_event(dumper *d)
{
    d->how->event(d->o, &d->event, !d->has_events);
    d->has_events = true;
}

static void begin_event(dumper *d, const char *name, uint64_t time)
{
    d->event.name = name;
    d->event.count = 0;
    add_time(d, "t", "ticks", ticks_of(d, time));
}

/* Goroutines that run timers can be recognised only by their events. */
static void write_timer(dumper *d, const gotrace_event *event)
{
    if (!(event->flags & GOTRACE_EVENT_TIMER) || event->goroutine == 0 ||
        idmap_find(&d->timers, event->goroutine))
        return;
    if (!idmap_insert(&d->timers, event->goroutine))
        out_fail(d->o, ENOMEM);
    const gotrace_event_spec *spec = gotrace_event_spec_of(d->version, GOTRACE_V1_TimerGoroutine);
    begin_event(d, spec->name, d->raw->ticks);
    add_number(d, "g", event->goroutine);
    write_event(d);
}

static void write_sync(dumper *d, const gotrace_event *event)
{
    begin_event(d, "Sync", d->raw->ticks);
    if (event->flags & GOTRACE_EVENT_CLOCKS) {
        add_time(d, "clock_t", "clock_ticks", ticks_of(d, d->raw->args[0]));
        add_number(d, "monotonic", d->raw->args[1]);
        add_number(d, "wall_seconds", d->raw->args[2]);
        add_number(d, "wall_nanoseconds", d->raw->args[3]);
    }
    write_event(d);
}

/* Writes the experiment data of a generation at its beginning. False if the data cannot be read. */
static bool write_experiments(dumper *d)
{
    const gotrace_event_spec *spec = gotrace_event_spec_of(d->version,
                                                           GOTRACE_V2_ExperimentalBatch);
    const experiment_batch *b;
    size_t n = experiments_of(&d->experiments, d->reader, d->raw->generation_index, &b);
    for (; n > 0; n--, b++) {
        char *data = experiments_read(b, d->source, d->error);
        if (!data)
            return false;
        begin_event(d, spec->name, d->raw->ticks);
        if (b->thread != GOTRACE_NO_THREAD)
            add_number(d, "m", (uint64_t)b->thread);
        add_number(d, "exp", b->experiment);
        add_string(d, "data", data, b->size);
        write_event(d);
        free(data);
    }
    return true;
}

static void write_record(dumper *d, const gotrace_event *event, const gotrace_event_spec *spec)
{
    const gotrace_details *details = gotrace_event_details(event);
    const gotrace_arg_spec *args[GOTRACE_MAX_ARGS];
    d->offset = event->offset;
    size_t count = args_of(d, spec, args);
    count = count < d->raw->arg_count ? count : d->raw->arg_count;
    write_timer(d, event);
    begin_event(d, spec->name, d->raw->ticks);
    add_place(d, event, args, count);
    for (size_t i = 0; i < count; i++)
        add_arg(d, args[i], d->raw->args[i]);
    add_string(d, "data", details->message,
               spec->flags & GOTRACE_SPEC_DATA ? details->message_size : 0);
    add_stacks(d, event, spec);
    write_event(d);
}

/* Neither a sync nor a steal needs its details. */
static void keep(saved_event *kept, const gotrace_event *event, const gotrace_raw *raw)
{
    kept->event = *event;
    kept->event.given = GOTRACE_GIVEN_CAUSE;
    kept->event.extra.cause = 0;
    kept->raw = *raw;
    kept->raw.args = kept->args;
    if (raw->arg_count > GOTRACE_MAX_ARGS)
        kept->raw.arg_count = GOTRACE_MAX_ARGS;
    if (raw->arg_count > 0)
        memcpy(kept->args, raw->args, kept->raw.arg_count * sizeof *kept->args);
}

/* Writes a pending steal if it is a record of its own. */
static void end_steal(dumper *d, uint64_t offset)
{
    const gotrace_event *steal = &d->steal.event;
    if (d->has_steal && steal->offset != offset) {
        const gotrace_raw *raw = d->raw;
        d->raw = &d->steal.raw;
        write_record(d, steal, gotrace_event_spec_of(d->version, steal->type));
        d->raw = raw;
    }
    d->has_steal = false;
}

/* A record may produce several events, all with its offset. A switch to another goroutine is
 * written at the first; a goroutine that ends in a system call at the second, after its proc was
 * taken. */
static void take_event(dumper *d, const gotrace_event *event)
{
    const gotrace_event_spec *spec = gotrace_event_spec_of(d->version, event->type);
    end_steal(d, event->offset);
    if (!spec || event->offset == d->offset)
        return;
    if (row_is(spec->semantics->proc, GOTRACE_STATE_SYSCALL, GOTRACE_STATE_IDLE)) {
        keep(&d->steal, event, d->raw);
        d->has_steal = true;
        return;
    }
    write_record(d, event, spec);
}

/* ---- entry point ----------------------------------------------------------------------------- */

/* Writes the header. Needs the first event, which determines time 0. */
static void write_head(dumper *d, const gotrace_event *event)
{
    const gotrace_summary *summary = gotrace_reader_summary(d->reader);
    d->frequency = summary->frequency ? summary->frequency : SECOND;
    d->start = ticks_of(d, d->raw->ticks);
    if (d->version >= GOTRACE_FIRST_V2)
        d->start = ticks_of(d, d->raw->ticks - (uint64_t)event->time);
    d->in_ticks = d->frequency > SECOND || d->start / d->frequency >= SECONDS_MAX;
    d->event.name = "";
    d->event.count = 0;
    add_word(d, "level", "meaning");
    add_number(d, "frequency", d->frequency);
    add_number(d, "start", d->start);
    /* If a thread's clock lags, its events have the same tick as the events that caused them. */
    if (d->version >= GOTRACE_FIRST_V2)
        add_word(d, "equal_ticks", "true");
    if (summary->writer && strcmp(summary->writer, "gccgo") == 0)
        add_word(d, "tracer", script_tracer_name(GOTRACE_TRACER_GCCGO));
    d->how->head(d->o, d->version, &d->event);
}

/* Writes the remaining events. If the first event is a sync, it is kept until the second one
 * determines time 0. */
static gotrace_status write_events(dumper *d)
{
    const gotrace_event *event;
    saved_event kept = {.event.kind = GOTRACE_KIND_NONE};
    const gotrace_event *sync = &kept.event;
    bool begun = false;
    gotrace_status status;
    while ((status = gotrace_reader_next(d->reader, &event)) == GOTRACE_EVENT && !d->o->failed) {
        bool is_sync = event->kind == GOTRACE_KIND_SYNC;
        if (!begun && is_sync && sync->kind == GOTRACE_KIND_NONE) {
            keep(&kept, event, gotrace_reader_raw(d->reader));
            continue;
        }
        d->raw = gotrace_reader_raw(d->reader);
        if (!begun) {
            write_head(d, event);
            d->raw = &kept.raw;
            if (sync->subject != 0)
                write_sync(d, sync);
            if (sync->subject != 0 && !write_experiments(d))
                return GOTRACE_ERROR;
        }
        begun = true;
        d->raw = gotrace_reader_raw(d->reader);
        if (!is_sync) {
            take_event(d, event);
            continue;
        }
        end_steal(d, GOTRACE_NO_OFFSET);
        if (event->subject != 0)
            write_sync(d, event);
        if (event->subject != 0 && !write_experiments(d))
            return GOTRACE_ERROR;
    }
    end_steal(d, GOTRACE_NO_OFFSET);
    d->raw = &kept.raw;
    if (!begun)
        write_head(d, sync);
    d->how->end(d->o);
    return status;
}

static gotrace_status dump(dumper *d, const gotrace_limits *limits)
{
    gotrace_status status = gotrace_reader_index(d->reader);
    if (status >= 0) {
        const gotrace_summary *summary = gotrace_reader_summary(d->reader);
        d->version = summary->version;
        if (experiments_exist(summary) &&
            experiments_find(&d->experiments, d->source, limits, d->error) < 0)
            return GOTRACE_ERROR;
        status = write_events(d);
    }
    if (status < 0 && d->error->rule == GOTRACE_RULE_NONE)
        *d->error = *gotrace_reader_error(d->reader);
    return status;
}

gotrace_status script_dump_meaning(const script_dump_job *dumping, gotrace_error *error)
{
    dumper d = {.source = dumping->source,
                .reader = dumping->reader,
                .how = dumping->how,
                .o = dumping->out,
                .error = error,
                .offset = GOTRACE_NO_OFFSET};
    error->rule = GOTRACE_RULE_NONE;
    d.event.text = &d.text;
    idmap_init(&d.timers, 0);
    gotrace_status status = dump(&d, dumping->limits);
    idmap_free(&d.timers);
    experiments_free(&d.experiments);
    free(d.frames[0]);
    free(d.frames[1]);
    free(d.text.bytes);
    return status;
}
