/* rewrite.c - see rewrite.h. */
#include "rewrite.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "core/events.h"

typedef struct open_source {
    gotrace_source *source;
    gotrace_reader *reader;
    int version;
    uint64_t frequency;
    uint64_t first; /* v2: number of the first generation */
} open_source;

static open_source open_trace(const blob *trace, const gotrace_config *config)
{
    open_source s;
    gotrace_error error = {0};
    ck_assert_int_eq(gotrace_source_memory(trace->bytes, trace->size, NULL, &s.source, &error),
                     GOTRACE_OK);
    ck_assert_msg(gotrace_reader_open(s.source, config, &s.reader, &error) == GOTRACE_OK, "%s",
                  error.message);
    ck_assert_int_eq(gotrace_reader_index(s.reader), GOTRACE_OK);
    s.version = gotrace_reader_summary(s.reader)->version;
    s.frequency = s.first = 0;
    return s;
}

/* In v2 each generation has its frequency. */
static gotrace_status next_event(open_source *s, const gotrace_event **e)
{
    gotrace_status status = gotrace_reader_next(s->reader, e);
    s->frequency = gotrace_reader_summary(s->reader)->frequency;
    if (s->first == 0)
        s->first = gotrace_reader_raw(s->reader)->generation;
    return status;
}

static void close_trace(open_source *s)
{
    gotrace_reader_close(s->reader);
    gotrace_source_close(s->source);
}

/* v2 times are nanoseconds, which may be rounded up. */
static uint64_t ticks_of(const open_source *s, uint64_t ticks)
{
    if (!gt_is_v2(s->version))
        return ticks;
    __extension__ typedef unsigned __int128 wide;
    return (uint64_t)((wide)ticks * s->frequency / 1000000000);
}

/* ---- the record of an event ------------------------------------------------------------------ */

typedef struct places {
    struct {
        uint64_t offset;
        uint8_t code;
    } * list;
    size_t count, capacity;
} places;

static places places_of(const blob *trace)
{
    places p = {0};
    gotrace_decoder *d;
    const gotrace_record *r;
    ck_assert_int_eq(gotrace_decoder_new(NULL, &d, NULL), GOTRACE_OK);
    gotrace_decoder_feed(d, trace->bytes, trace->size);
    gotrace_decoder_finish(d);
    while (gotrace_decoder_next(d, &r) == GOTRACE_EVENT) {
        if (p.count == p.capacity) {
            p.capacity = 2 * p.capacity + 64;
            p.list = realloc(p.list, p.capacity * sizeof *p.list);
            ck_assert_ptr_nonnull(p.list);
        }
        p.list[p.count].offset = r->offset;
        p.list[p.count++].code = r->spec->code;
    }
    gotrace_decoder_free(d);
    return p;
}

/* The reader returns up to three events for a record; true for the one of the record's type. */
static bool is_record(const places *p, const gotrace_event *e)
{
    size_t low = 0, high = p->count;
    while (high - low > 1) {
        size_t middle = (low + high) / 2;
        if (p->list[middle].offset <= e->offset)
            low = middle;
        else
            high = middle;
    }
    return p->list[low].code == e->type;
}

/* ---- passing events to a writer -------------------------------------------------------------- */

static uint64_t write_string(const open_source *s, gotrace_writer *w, int64_t proc, uint64_t id)
{
    size_t size = 0;
    const char *bytes = gotrace_reader_string(s->reader, id, &size);
    uint64_t made = 0;
    gotrace_status status = gotrace_writer_string(w, proc, bytes, bytes ? size : 0, &made);
    ck_assert_msg(status == GOTRACE_OK, "%s", gotrace_writer_error(w)->message);
    return made;
}

static uint64_t report_stack(const open_source *s, gotrace_writer *w, uint64_t id)
{
    static gotrace_frame frames[1024];
    uint64_t made = 0;
    size_t count = gotrace_reader_stack(s->reader, id, frames, 1024);
    gotrace_status status = gotrace_writer_stack(w, frames, count, &made);
    ck_assert_msg(status == GOTRACE_OK, "%s", gotrace_writer_error(w)->message);
    return made;
}

/* Convert the arguments to those of a writer. */
static size_t write_args(const open_source *s, gotrace_writer *w, const gotrace_event *e,
                         const gotrace_event_spec *spec, uint64_t *out)
{
    const gotrace_arg_spec *all[GOTRACE_MAX_ARGS];
    size_t count = gotrace_event_args(spec, s->version, all), n = 0, k = 0;
    bool v2 = gt_is_v2(s->version);
    if (v2 && spec->code == GOTRACE_V2_CPUSample) {
        out[0] = ticks_of(s, gotrace_reader_raw(s->reader)->ticks);
        memcpy(out + 1, gotrace_reader_raw(s->reader)->args, 3 * sizeof *out);
        return 4;
    }
    if (spec->flags & GOTRACE_SPEC_STACK)
        count--;
    for (size_t i = 0; i < count; i++) {
        if (all[i]->kind == GOTRACE_ARG_DSEQ || all[i]->kind == GOTRACE_ARG_DT)
            continue;
        uint64_t v = gotrace_reader_raw(s->reader)->args[k++];
        switch (all[i]->kind) {
        case GOTRACE_ARG_SEQ: continue;
        case GOTRACE_ARG_STRING: v = write_string(s, w, e->proc, v); break;
        case GOTRACE_ARG_STACK: v = report_stack(s, w, v); break;
        case GOTRACE_ARG_START:
            if (s->version >= 7)
                v = report_stack(s, w, v);
            break;
        default: break;
        }
        out[n++] = v;
    }
    return n;
}

static void report_sync(const open_source *s, gotrace_writer *w, const gotrace_event *e)
{
    gotrace_clocks clocks = {ticks_of(s, gotrace_event_details(e)->args[0]),
                             gotrace_event_details(e)->args[1], gotrace_event_details(e)->args[2],
                             gotrace_event_details(e)->args[3]};
    ck_assert_int_eq(gotrace_writer_at(w, ticks_of(s, gotrace_reader_raw(s->reader)->ticks)),
                     GOTRACE_OK);
    gotrace_status status = gotrace_writer_advance(w, e->flags & GOTRACE_EVENT_CLOCKS ? &clocks
                                                                                      : NULL);
    ck_assert_msg(status == GOTRACE_OK, "%s", gotrace_writer_error(w)->message);
}

static bool is_status(int version, uint8_t type)
{
    return gt_is_v2(version) &&
           (type == GOTRACE_V2_GoStatus || type == GOTRACE_V2_GoStatusStack ||
            type == GOTRACE_V2_ProcStatus || type == GOTRACE_V2_GCActive ||
            type == GOTRACE_V2_GCSweepActive || type == GOTRACE_V2_GCMarkAssistActive);
}

static void report_event(const open_source *s, gotrace_writer *w, const gotrace_event *e,
                         unsigned left_out)
{
    if (gt_is_v2(s->version) && e->type == 0) {
        if (!(left_out & REWRITE_NO_SYNCS))
            report_sync(s, w, e);
        return;
    }
    bool first = gotrace_reader_raw(s->reader)->generation == s->first &&
                 !(left_out & REWRITE_NO_SYNCS);
    if ((left_out & REWRITE_NO_STATUSES) && !first && is_status(s->version, e->type))
        return;
    gotrace_status status = gotrace_writer_at(w, ticks_of(s, gotrace_reader_raw(s->reader)->ticks));
    ck_assert_msg(status == GOTRACE_OK, "%s", gotrace_writer_error(w)->message);
    uint64_t args[GOTRACE_MAX_ARGS];
    gotrace_event_data h = {
        .spec = gotrace_event_spec_of(s->version, e->type),
        .proc = e->flags & GOTRACE_EVENT_MOVED ? GOTRACE_NO_PROC : e->proc,
        .thread = e->thread,
        .goroutine = e->goroutine,
        .args = args,
        .stack = report_stack(s, w, e->stack),
        .data = gotrace_event_details(e)->message,
        .data_size = gt_is_v2(s->version) ? 0 : gotrace_event_details(e)->message_size,
    };
    h.arg_count = write_args(s, w, e, h.spec, args);
    status = gotrace_writer_event(w, &h);
    ck_assert_msg(status == GOTRACE_OK, "%s at %llu: %s", h.spec->name,
                  (unsigned long long)gotrace_reader_raw(s->reader)->ticks,
                  gotrace_writer_error(w)->message);
}

/* v1: TimerGoroutine gives a goroutine special permissions, so it is passed first. */
static void write_timers(const blob *trace, gotrace_writer *w)
{
    gotrace_decoder *d;
    const gotrace_record *r;
    ck_assert_int_eq(gotrace_decoder_new(NULL, &d, NULL), GOTRACE_OK);
    gotrace_decoder_feed(d, trace->bytes, trace->size);
    gotrace_decoder_finish(d);
    while (gotrace_decoder_next(d, &r) == GOTRACE_EVENT)
        if (r->spec->code == GOTRACE_V1_TimerGoroutine && !gt_is_v2(gotrace_decoder_version(d))) {
            gotrace_event_data h = {.spec = r->spec, .args = r->args, .arg_count = 1};
            ck_assert_int_eq(gotrace_writer_event(w, &h), GOTRACE_OK);
        }
    gotrace_decoder_free(d);
}

void rewrite(const blob *trace, unsigned left_out, const gotrace_writer_options *options,
             blob *written)
{
    open_source s = open_trace(trace, NULL);
    places p = places_of(trace);
    gotrace_writer_options o = options ? *options : (gotrace_writer_options){0};
    gotrace_writer *w;
    const gotrace_event *e;
    gotrace_status status = next_event(&s, &e);
    o.frequency = s.frequency;
    if (!options) {
        o.generation_ticks = UINT64_MAX;
        o.equal_ticks = true;
    }
    ck_assert_int_eq(gotrace_writer_new(s.version, &o, blob_write, written, NULL, &w, NULL),
                     GOTRACE_OK);
    write_timers(trace, w);
    for (; status == GOTRACE_EVENT; status = next_event(&s, &e))
        if (!gt_is_v2(s.version) || e->type == 0 || is_record(&p, e))
            report_event(&s, w, e, left_out);
    ck_assert_int_eq(status, GOTRACE_END);
    status = gotrace_writer_finish(w);
    ck_assert_msg(status == GOTRACE_OK, "%s", gotrace_writer_error(w)->message);
    gotrace_writer_free(w);
    free(p.list);
    close_trace(&s);
}

/* ---- events as text -------------------------------------------------------------------------- */

static void append_text(blob *line, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void append_text(blob *line, const char *format, ...)
{
    char text[256];
    va_list args;
    va_start(args, format);
    int size = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    blob_write(line, text, (size_t)size < sizeof text ? (size_t)size : sizeof text - 1);
}

static void say_bytes(blob *line, const char *what, const char *bytes, size_t size)
{
    if (!bytes)
        return;
    append_text(line, " %s='", what);
    for (size_t i = 0; i < size; i++)
        append_text(line, "%c", bytes[i] ? bytes[i] : '?');
    append_text(line, "'");
}

static void say_stack(blob *line, const open_source *s, const char *what, uint64_t id)
{
    static gotrace_frame frames[1024];
    size_t count = gotrace_reader_stack(s->reader, id, frames, 1024);
    if (count == 0)
        return;
    append_text(line, " %s:", what);
    for (size_t i = 0; i < count; i++) {
        append_text(line, " 0x%llx", (unsigned long long)frames[i].pc);
        say_bytes(line, "f", frames[i].function, frames[i].function_size);
        say_bytes(line, "in", frames[i].file, frames[i].file_size);
        append_text(line, ":%llu", (unsigned long long)frames[i].line);
    }
}

static void say_args(blob *line, const open_source *s, const gotrace_event *e)
{
    const gotrace_event_spec *spec = gotrace_event_spec_of(s->version, e->type);
    const gotrace_arg_spec *all[GOTRACE_MAX_ARGS];
    size_t count = spec ? gotrace_event_args(spec, s->version, all) : 0, k = 0;
    for (size_t i = 0; i < count && k < 4; i++) {
        unsigned kind = all[i]->kind;
        if (kind == GOTRACE_ARG_DSEQ || kind == GOTRACE_ARG_DT)
            continue;
        const gotrace_raw *raw = gotrace_reader_raw(s->reader);
        uint64_t v = k < raw->arg_count ? raw->args[k] : 0;
        k++;
        bool chosen = kind == GOTRACE_ARG_SEQ || kind == GOTRACE_ARG_STRING ||
                      kind == GOTRACE_ARG_STACK || (kind == GOTRACE_ARG_START && s->version >= 7);
        if (!chosen && k <= raw->arg_count)
            append_text(line, " %s=%llu", all[i]->name, (unsigned long long)v);
    }
}

static char *line_of(const open_source *s, const gotrace_event *e)
{
    blob line = {0};
    const gotrace_event_spec *spec = gotrace_event_spec_of(s->version, e->type);
    append_text(&line, "%s p=%lld m=%lld g=%llu subject=%llu %s>%s value=%llu flags=%u range=%u",
                spec ? spec->name : "Sync", (long long)e->proc, (long long)e->thread,
                (unsigned long long)e->goroutine, spec ? (unsigned long long)e->subject : 0,
                gotrace_state_name(e->from), gotrace_state_name(e->to),
                (unsigned long long)gotrace_event_value(e), e->flags, e->range);
    say_args(&line, s, e);
    if (gotrace_event_reason(e))
        say_bytes(&line, "reason", gotrace_event_reason(e), strlen(gotrace_event_reason(e)));
    say_bytes(&line, "text", gotrace_event_details(e)->text, gotrace_event_details(e)->text_size);
    say_bytes(&line, "message", gotrace_event_details(e)->message,
              gotrace_event_details(e)->message_size);
    say_stack(&line, s, "stack", e->stack);
    if (s->version >= 7)
        say_stack(&line, s, "start", gotrace_event_start_stack(e));
    blob_write(&line, "", 1);
    return (char *)line.bytes;
}

static bool note_problem(void *ctx, const gotrace_error *problem)
{
    listing *t = ctx;
    if (problem->severity >= GOTRACE_WARNING && problem->rule != GOTRACE_RULE_CLOCK_BACK &&
        t->problems++ == 0)
        t->problem = *problem;
    return true;
}

listing listing_of(const blob *trace)
{
    listing t = {0};
    gotrace_config config = {.on_problem = note_problem, .callback_ctx = &t};
    open_source s = open_trace(trace, &config);
    const gotrace_event *e;
    gotrace_status status;
    while ((status = next_event(&s, &e)) == GOTRACE_EVENT) {
        if (t.count == t.capacity) {
            t.capacity = 2 * t.capacity + 256;
            t.events = realloc(t.events, t.capacity * sizeof *t.events);
            ck_assert_ptr_nonnull(t.events);
        }
        t.events[t.count++] = (listed_event){ticks_of(&s, gotrace_reader_raw(s.reader)->ticks),
                                             gotrace_reader_raw(s.reader)->ticks, line_of(&s, e)};
    }
    ck_assert_int_eq(status, GOTRACE_END);
    t.frequency = s.frequency;
    close_trace(&s);
    return t;
}

void listing_free(listing *t)
{
    for (size_t i = 0; i < t->count; i++)
        free(t->events[i].line);
    free(t->events);
    *t = (listing){0};
}
