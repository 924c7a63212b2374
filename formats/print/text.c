/*
 * text.c - events for people: one per line, in columns.
 *
 *   SECONDS  [THREAD]  PROC  GOROUTINE  EVENT  DETAILS  "at" FUNCTION  [FLAGS]
 *
 * Goroutines, procs, threads and tasks are written G7, P0, M42 and T3 everywhere, so that a search
 * for one of them finds all its events; "-" means none. The column of threads exists from Go 1.22
 * on; before, only the start of a proc names its thread (thread=42). A state change is printed as
 * "G7 waiting -> runnable", with the reason in parentheses after the state that it explains.
 * FUNCTION is the innermost function of the event's stack (in traces of Go 1.5 and 1.6 a PC). Text
 * of the traced program is quoted as Go quotes strings if it is free text or could be mistaken for
 * another part of the line.
 */
#include "formats/print/print.h"

#include "formats/common/functions.h"
#include "formats/common/utf8.h"

enum {
    COLUMN_PROC = 16, /* after four digits of seconds, nine of nanoseconds and a gap */
    COLUMN_GOROUTINE = COLUMN_PROC + 5,
    COLUMN_EVENT = COLUMN_GOROUTINE + 8,
    COLUMN_DETAIL = COLUMN_EVENT + 18,
    THREAD_WIDTH = 9, /* added to all columns if there is a column of threads */
};

/* A line being written; start: its position in the output. */
typedef struct line {
    out *o;
    uint64_t start;
    uint64_t shift; /* added to each column */
    const print_source *from;
    int version;
    bool detailed; /* something was written after the event's name */
} line;

static uint64_t position(const out *o)
{
    return o->written + o->used;
}

/* Pads up to a column; if the text is already past it, writes one space. */
static void pad_to(const line *l, uint64_t column)
{
    uint64_t at = position(l->o) - l->start;
    do
        out_char(l->o, ' ');
    while (!l->o->failed && ++at < column + l->shift);
}

/* Begins a detail: the first in its column, each further one after a space. */
static void next_detail(line *l)
{
    if (l->detailed)
        out_char(l->o, ' ');
    else
        pad_to(l, COLUMN_DETAIL);
    l->detailed = true;
}

static void print_time(const line *l, int64_t time)
{
    out *o = l->o;
    uint64_t ns = time < 0 ? 0 - (uint64_t)time : (uint64_t)time;
    uint64_t seconds = ns / 1000000000U;
    char fraction[9];

    if (time < 0)
        out_char(o, '-');
    for (uint64_t limit = 1000; limit > 1 && seconds < limit && time >= 0; limit /= 10)
        out_char(o, ' ');
    out_u64(o, seconds);
    out_char(o, '.');
    ns %= 1000000000U;
    for (size_t i = sizeof fraction; i-- > 0; ns /= 10)
        fraction[i] = (char)('0' + ns % 10);
    out_bytes(o, fraction, sizeof fraction);
}

static void print_id(const line *l, char letter, uint64_t id)
{
    out_char(l->o, letter);
    out_u64(l->o, id);
}

/* A name that is usually one word; quoted if it is not. */
static void print_name(const line *l, const char *name, size_t size)
{
    bool plain = size > 0;
    uint32_t rune;

    for (size_t at = 0, length; plain && at < size; at += length) {
        length = utf8_decode(name + at, size - at, &rune);
        plain = length > 0 && rune > ' ' && rune != '"' && utf8_printable(rune);
    }
    if (plain)
        out_bytes(l->o, name, size);
    else
        out_go_quoted(l->o, name, size);
}

/* A word and the innermost function of a stack; nothing if unknown. */
static void print_function(line *l, const char *word, uint64_t stack)
{
    gotrace_frame frame;

    if (stack == 0 || print_stack(l->from, stack, &frame, 1) != 1 ||
        (frame.function_size == 0 && frame.pc == 0))
        return;
    next_detail(l);
    out_str(l->o, word);
    if (frame.function_size > 0) {
        print_name(l, frame.function, frame.function_size);
    } else {
        out_str(l->o, "0x");
        out_hex(l->o, frame.pc);
    }
}

static void print_start(line *l, uint64_t start)
{
    if (start == 0)
        return;
    if (l->version >= FIRST_START_STACK) {
        print_function(l, "start=", start);
    } else {
        next_detail(l);
        out_str(l->o, "start=0x");
        out_hex(l->o, start);
    }
}

static void print_reason(const line *l, const char *reason)
{
    if (reason && *reason) {
        out_char(l->o, '(');
        out_str(l->o, reason);
        out_char(l->o, ')');
    }
}

static void print_transition(line *l, const gotrace_event *event)
{
    const gotrace_details *details = gotrace_event_details(event);
    bool of_proc = event->resource == GOTRACE_RESOURCE_PROC;
    bool waited = event->from == GOTRACE_STATE_WAITING && event->to != GOTRACE_STATE_WAITING;

    next_detail(l);
    print_id(l, of_proc ? 'P' : 'G', event->subject);
    out_char(l->o, ' ');
    out_str(l->o, gotrace_state_name((gotrace_state)event->from));
    print_reason(l, waited ? gotrace_event_reason(event) : NULL);
    out_str(l->o, " -> ");
    out_str(l->o, gotrace_state_name((gotrace_state)event->to));
    print_reason(l, waited ? NULL : gotrace_event_reason(event));
    if (details->text) {
        next_detail(l);
        out_str(l->o, "label=");
        out_go_quoted(l->o, details->text, details->text_size);
    }
    print_start(l, gotrace_event_start_stack(event));
}

static void print_annotation(line *l, const gotrace_event *event, const char *what)
{
    const gotrace_details *details = gotrace_event_details(event);
    next_detail(l);
    out_str(l->o, what);
    if (event->subject != 0) {
        out_char(l->o, ' ');
        print_id(l, 'T', event->subject);
    }
    if (details->text) {
        out_char(l->o, ' ');
        out_go_quoted(l->o, details->text, details->text_size);
    }
    if (details->message) {
        out_char(l->o, ' ');
        out_go_quoted(l->o, details->message, details->message_size);
    }
}

/* Whether this argument is printed as NAME=VALUE because no other part of the line contains it. */
static bool is_unset(const gotrace_event *event, const gotrace_arg_spec *arg, uint64_t value)
{
    switch ((gotrace_arg_kind)arg->kind) {
    case GOTRACE_ARG_BYTES: return true;
    case GOTRACE_ARG_VALUE:
        return event->kind == GOTRACE_KIND_METRIC || event->kind == GOTRACE_KIND_EXPERIMENT;
    case GOTRACE_ARG_ID: return event->kind == GOTRACE_KIND_EXPERIMENT;
    /* The thread that runs a proc. A goroutine or sample has the thread in its column. */
    case GOTRACE_ARG_THREAD: return event->resource == GOTRACE_RESOURCE_PROC && value != UINT64_MAX;
    default: return false;
    }
}

static void print_numbers(line *l, const gotrace_event_spec *spec, const gotrace_event *event)
{
    print_args args = {.spec = spec, .raw = l->from->raw};
    uint64_t value;

    for (const gotrace_arg_spec *arg; (arg = print_next_arg(&args, &value)) != NULL;) {
        if (l->version < arg->since || l->version > arg->until || !is_unset(event, arg, value))
            continue;
        next_detail(l);
        out_str(l->o, arg->name);
        out_char(l->o, '=');
        if (arg->kind == GOTRACE_ARG_THREAD && l->version >= GOTRACE_FIRST_V2)
            print_id(l, 'M', value);
        else
            out_u64(l->o, value);
    }
}

static void print_range(line *l, const gotrace_event *event)
{
    const gotrace_range_spec *range = gotrace_range_spec_of((gotrace_range)event->range);

    next_detail(l);
    out_str(l->o, range->name);
    print_reason(l, gotrace_event_reason(event));
    if (event->kind == GOTRACE_KIND_RANGE_BEGIN) {
        out_str(l->o, " begins");
    } else if (event->kind == GOTRACE_KIND_RANGE_END) {
        out_str(l->o, " ends");
    } else {
        out_str(l->o, " goes on");
        /* The range may belong to another proc or goroutine than the event's. */
        if (range->subject != GOTRACE_RESOURCE_NONE) {
            out_char(l->o, ' ');
            print_id(l, range->subject == GOTRACE_RESOURCE_PROC ? 'P' : 'G', event->subject);
        }
    }
}

static void print_sync(line *l, const gotrace_event *event)
{
    const gotrace_details *details = gotrace_event_details(event);
    next_detail(l);
    if (event->subject != 0) {
        out_str(l->o, "generation ");
        out_u64(l->o, event->subject);
        out_str(l->o, " begins");
    } else {
        out_str(l->o, "the trace ends");
    }
    if (!(event->flags & GOTRACE_EVENT_CLOCKS))
        return;
    next_detail(l);
    out_str(l->o, "trace=");
    out_u64(l->o, details->args[0]);
    out_str(l->o, " monotonic=");
    out_u64(l->o, details->args[1]);
    out_str(l->o, " wall=");
    out_wall_clock(l->o, details->args[2], details->args[3]);
}

static void print_detail(line *l, const gotrace_event *event)
{
    switch ((gotrace_kind)event->kind) {
    case GOTRACE_KIND_NONE:
    case GOTRACE_KIND_SYSCALL:
    case GOTRACE_KIND_METRIC:
    case GOTRACE_KIND_EXPERIMENT:
    case GOTRACE_KIND_SAMPLE: break;
    case GOTRACE_KIND_SYNC: print_sync(l, event); break;
    case GOTRACE_KIND_TRANSITION: print_transition(l, event); break;
    case GOTRACE_KIND_LABEL: print_annotation(l, event, "label"); break;
    case GOTRACE_KIND_RANGE_BEGIN:
    case GOTRACE_KIND_RANGE_ACTIVE:
    case GOTRACE_KIND_RANGE_END: print_range(l, event); break;
    case GOTRACE_KIND_TASK_BEGIN:
        print_annotation(l, event, "task begins");
        if (print_has_parent(event)) {
            next_detail(l);
            out_str(l->o, "parent=");
            print_id(l, 'T', gotrace_event_value(event));
        }
        break;
    case GOTRACE_KIND_TASK_END: print_annotation(l, event, "task ends"); break;
    case GOTRACE_KIND_REGION_BEGIN: print_annotation(l, event, "region begins"); break;
    case GOTRACE_KIND_REGION_END: print_annotation(l, event, "region ends"); break;
    case GOTRACE_KIND_LOG: print_annotation(l, event, "log"); break;
    }
}

static void print_flags(line *l, unsigned flags)
{
    static const struct {
        unsigned flag;
        const char *text;
    } texts[] = {
        {GOTRACE_EVENT_FUTILE, "[futile]"},     {GOTRACE_EVENT_INITIAL, "[initial]"},
        {GOTRACE_EVENT_SUSPECT, "[suspect]"},   {GOTRACE_EVENT_MOVED, "[moved]"},
        {GOTRACE_EVENT_NO_BEGIN, "[no begin]"},
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        if (flags & texts[i].flag) {
            next_detail(l);
            out_str(l->o, texts[i].text);
        }
}

/* The frames of a stack, one in a line, after a word. */
static void print_frames(const line *l, const char *word, uint64_t stack)
{
    gotrace_frame frames[PRINT_FRAMES];
    size_t count = stack ? print_stack(l->from, stack, frames, PRINT_FRAMES) : 0;
    out *o = l->o;

    for (size_t i = 0; i < count; i++) {
        out_str(o, "        ");
        out_str(o, word);
        if (frames[i].function_size > 0) {
            print_name(l, frames[i].function, frames[i].function_size);
        } else {
            out_str(o, "0x");
            out_hex(o, frames[i].pc);
        }
        if (frames[i].file_size > 0) {
            out_char(o, ' ');
            print_name(l, frames[i].file, frames[i].file_size);
            out_char(o, ':');
            out_u64(o, frames[i].line);
        }
        out_char(o, '\n');
    }
}

static void print_text_event(out *o, const print_source *from, const gotrace_event *event)
{
    line l = {.o = o, .start = position(o), .from = from, .version = from->version};
    const gotrace_event_spec *spec = gotrace_event_spec_of(l.version, event->type);

    print_time(&l, event->time);
    pad_to(&l, COLUMN_PROC);
    if (l.version >= GOTRACE_FIRST_V2) {
        if (event->thread != GOTRACE_NO_THREAD)
            print_id(&l, 'M', (uint64_t)event->thread);
        else
            out_char(o, '-');
        l.shift = THREAD_WIDTH;
        pad_to(&l, COLUMN_PROC);
    }
    /* Negative procs are the tracer's buffer for events without a proc. */
    if (event->proc >= 0)
        print_id(&l, 'P', (uint64_t)event->proc);
    else
        out_char(o, '-');
    pad_to(&l, COLUMN_GOROUTINE);
    if (event->goroutine != 0)
        print_id(&l, 'G', event->goroutine);
    else
        out_char(o, '-');
    pad_to(&l, COLUMN_EVENT);
    out_str(o, print_type_name(spec, event));
    print_detail(&l, event);
    if (spec)
        print_numbers(&l, spec, event);
    print_function(&l, "at ", event->stack);
    print_flags(&l, event->flags);
    out_char(o, '\n');
    if (from->frames) {
        print_frames(&l, "at ", event->stack);
        /* Up to 1.6 it is a PC, which the line contains. */
        print_frames(&l, "start ",
                     l.version >= FIRST_START_STACK ? gotrace_event_start_stack(event) : 0);
    }
}

const printer printer_text = {
    .name = "text",
    .summary = "columns for people",
    .frames = true,
    .event = print_text_event,
};
