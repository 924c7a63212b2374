/*
 * jsonl.c - events for programs: one JSON object per line. Fields without a meaning for the event
 * are omitted; time, ticks, offset, type and kind are always present.
 *
 *   time      ns since the first event
 *   ticks     the same time on the tracer's clock, absolute (from Go 1.22 on in ns)
 *   offset    offset of the event's record in the trace, in bytes
 *   type      name of the record, such as "GoBlockRecv"; "Sync" for an event without a record
 *   kind      its meaning: transition, syscall, metric, label, range-begin, range-active,
 *             range-end, task-begin, task-end, region-begin, region-end, log, sync, experiment,
 *             sample
 *   generation  from Go 1.22 on: the generation, for which ids of strings and stacks are valid
 *   proc      the proc of the event
 *   lane      the proc on which Go's viewers show it, if different: 1000001 timers, 1000002
 *             network, 1000003 system calls, 1000004 GC
 *   thread    the thread of the event (until Go 1.21 the one that runs the proc)
 *   g         the goroutine in whose context it happened
 *   resource  of a transition: "goroutine" or "proc"; subject is its id
 *   from, to  of a transition: the states before and after: undetermined, not-exist, runnable,
 *             running, syscall, waiting, idle
 *   task      the task of a task event, region or log
 *   parent    the parent of a task that begins
 *   range     the range that begins, continues or ends: "GC", "stop-the-world", "GC sweep", "GC
 *             mark assist"; from Go 1.22 on with its resource and subject, unless it is global
 *   reason    why a goroutine waits or stopped running, or why the world was stopped
 *   metric, value  the metric that changed, and its new value
 *   text      name of a task or region, label of a goroutine, category of a log
 *   message   of a log
 *   clocks    of a sync, from Go 1.25 on: the same moment as trace (like ticks), monotonic (ns),
 *             and wall (text; also as wall_seconds and wall_nanoseconds)
 *   stack, func    where it happened: stack id and innermost function
 *   start, start_func  where a new goroutine starts, in the same form (until Go 1.6 start is a PC)
 *   frames, start_frames  on demand: the frames of these stacks, innermost first: func, file, line,
 *             pc
 *   cause     offset of the record that made this run possible
 *   args      arguments of the record by name, without time deltas and stack
 *   futile, initial, suspect, moved  true: see GOTRACE_EVENT_* in gotrace.h
 *
 * Numbers above 2^63-1 are strings, because most JSON readers cannot represent them. Bytes that are
 * not UTF-8 become U+FFFD.
 */
#include "formats/common/functions.h"
#include "formats/common/lane.h"
#include "formats/print/print.h"

static inline void key(out *o, const char *name)
{
    out_str(o, ",\"");
    out_str(o, name);
    out_str(o, "\":");
}

static inline void field_u64(out *o, const char *name, uint64_t v)
{
    key(o, name);
    out_json_u64(o, v);
}

static inline void field_i64(out *o, const char *name, int64_t v)
{
    key(o, name);
    out_i64(o, v);
}

static inline void field_string(out *o, const char *name, const char *s, size_t size)
{
    if (!s)
        return;
    key(o, name);
    out_json_string(o, s, size);
}

static inline void field_name(out *o, const char *name, const char *s)
{
    if (s)
        field_string(o, name, s, strlen(s));
}

static void field_function(out *o, const print_source *from, const char *name, uint64_t stack)
{
    gotrace_frame frame;

    if (print_stack(from, stack, &frame, 1) == 1 && frame.function_size > 0)
        field_string(o, name, frame.function, frame.function_size);
}

static void print_resource(out *o, gotrace_resource resource, uint64_t subject)
{
    field_name(o, "resource", resource == GOTRACE_RESOURCE_PROC ? "proc" : "goroutine");
    field_u64(o, "subject", subject);
}

static void print_clocks(out *o, const gotrace_event *event)
{
    const gotrace_details *details = gotrace_event_details(event);
    if (!(event->flags & GOTRACE_EVENT_CLOCKS))
        return;
    out_str(o, ",\"clocks\":{\"trace\":");
    out_json_u64(o, details->args[0]);
    field_u64(o, "monotonic", details->args[1]);
    key(o, "wall");
    out_char(o, '"');
    out_wall_clock(o, details->args[2], details->args[3]);
    out_char(o, '"');
    field_u64(o, "wall_seconds", details->args[2]);
    field_u64(o, "wall_nanoseconds", details->args[3]);
    out_char(o, '}');
}

static void print_subject(out *o, const print_source *from, const gotrace_event *event)
{
    const gotrace_details *details = gotrace_event_details(event);
    const gotrace_range_spec *range = gotrace_range_spec_of((gotrace_range)event->range);

    switch ((gotrace_kind)event->kind) {
    case GOTRACE_KIND_TRANSITION:
        print_resource(o, (gotrace_resource)event->resource, event->subject);
        field_name(o, "from", gotrace_state_name((gotrace_state)event->from));
        field_name(o, "to", gotrace_state_name((gotrace_state)event->to));
        break;
    case GOTRACE_KIND_RANGE_BEGIN:
    case GOTRACE_KIND_RANGE_ACTIVE:
    case GOTRACE_KIND_RANGE_END:
        field_name(o, "range", range->name);
        if (from->raw->generation != 0 && range->subject != GOTRACE_RESOURCE_NONE)
            print_resource(o, range->subject, event->subject);
        break;
    case GOTRACE_KIND_METRIC:
        field_name(o, "metric", gotrace_metric_name(gotrace_event_metric(event)));
        field_u64(o, "value", gotrace_event_value(event));
        return;
    case GOTRACE_KIND_TASK_BEGIN:
        field_u64(o, "task", event->subject);
        if (print_has_parent(event))
            field_u64(o, "parent", gotrace_event_value(event));
        break;
    case GOTRACE_KIND_SYNC: print_clocks(o, event); break;
    case GOTRACE_KIND_TASK_END:
    case GOTRACE_KIND_REGION_BEGIN:
    case GOTRACE_KIND_REGION_END:
    case GOTRACE_KIND_LOG:
        if (event->subject != 0)
            field_u64(o, "task", event->subject);
        break;
    case GOTRACE_KIND_NONE:
    case GOTRACE_KIND_SYSCALL:
    case GOTRACE_KIND_LABEL:
    case GOTRACE_KIND_EXPERIMENT:
    case GOTRACE_KIND_SAMPLE: break;
    }
    field_name(o, "reason", gotrace_event_reason(event));
    field_string(o, "text", details->text, details->text_size);
    field_string(o, "message", details->message, details->message_size);
}

static void print_frames(out *o, const print_source *from, const char *name, uint64_t stack)
{
    gotrace_frame frames[PRINT_FRAMES];
    size_t count = print_stack(from, stack, frames, PRINT_FRAMES);

    key(o, name);
    out_char(o, '[');
    for (size_t i = 0; i < count; i++) {
        out_str(o, i ? ",{\"func\":" : "{\"func\":");
        out_json_string(o, frames[i].function_size ? frames[i].function : "",
                        frames[i].function_size);
        if (frames[i].file_size > 0) {
            field_string(o, "file", frames[i].file, frames[i].file_size);
            field_u64(o, "line", frames[i].line);
        }
        field_u64(o, "pc", frames[i].pc);
        out_char(o, '}');
    }
    out_char(o, ']');
}

static void print_stacks(out *o, const print_source *from, const gotrace_event *event)
{
    if (event->stack != 0) {
        field_u64(o, "stack", event->stack);
        field_function(o, from, "func", event->stack);
        if (from->frames)
            print_frames(o, from, "frames", event->stack);
    }
    if (gotrace_event_start_stack(event) != 0) {
        field_u64(o, "start", gotrace_event_start_stack(event));
        if (from->version >= FIRST_START_STACK)
            field_function(o, from, "start_func", gotrace_event_start_stack(event));
        if (from->version >= FIRST_START_STACK && from->frames)
            print_frames(o, from, "start_frames", gotrace_event_start_stack(event));
    }
    if (gotrace_event_cause(event) != 0)
        field_u64(o, "cause", gotrace_event_cause(event));
}

static void print_arguments(out *o, const print_source *from, const gotrace_event_spec *spec)
{
    print_args args = {.spec = spec, .raw = from->raw};
    bool first = true;
    uint64_t value;

    for (const gotrace_arg_spec *arg; (arg = print_next_arg(&args, &value)) != NULL;) {
        if (from->version < arg->since || from->version > arg->until)
            continue;
        if (first)
            out_str(o, ",\"args\":{\"");
        else
            out_str(o, ",\"");
        out_str(o, arg->name);
        out_str(o, "\":");
        out_json_u64(o, value);
        first = false;
    }
    if (!first)
        out_char(o, '}');
}

static void print_flags(out *o, unsigned flags)
{
    static const struct {
        unsigned flag;
        const char *text;
    } texts[] = {
        {GOTRACE_EVENT_FUTILE, ",\"futile\":true"},
        {GOTRACE_EVENT_INITIAL, ",\"initial\":true"},
        {GOTRACE_EVENT_SUSPECT, ",\"suspect\":true"},
        {GOTRACE_EVENT_MOVED, ",\"moved\":true"},
        {GOTRACE_EVENT_NO_BEGIN, ",\"no_begin\":true"},
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        if (flags & texts[i].flag)
            out_str(o, texts[i].text);
}

static void print_jsonl_event(out *o, const print_source *from, const gotrace_event *event)
{
    const gotrace_event_spec *spec = gotrace_event_spec_of(from->version, event->type);

    out_str(o, "{\"time\":");
    out_i64(o, event->time);
    field_u64(o, "ticks", from->raw->ticks);
    field_u64(o, "offset", event->offset);
    field_name(o, "type", print_type_name(spec, event));
    field_name(o, "kind", gotrace_kind_name((gotrace_kind)event->kind));
    if (from->raw->generation != 0)
        field_u64(o, "generation", from->raw->generation);
    if (event->proc != GOTRACE_NO_PROC)
        field_i64(o, "proc", event->proc);
    const int64_t lane = lane_of(event, from->version);
    if (lane != event->proc)
        field_i64(o, "lane", lane);
    if (event->thread != GOTRACE_NO_THREAD)
        field_i64(o, "thread", event->thread);
    if (event->goroutine != 0)
        field_u64(o, "g", event->goroutine);
    print_subject(o, from, event);
    print_stacks(o, from, event);
    if (spec)
        print_arguments(o, from, spec);
    print_flags(o, event->flags);
    out_str(o, "}\n");
}

const printer printer_jsonl = {
    .name = "jsonl",
    .summary = "JSON Lines for programs",
    .frames = true,
    .event = print_jsonl_event,
};
