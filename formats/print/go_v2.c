/*
 * go_v2.c - events of v2 traces exactly as `go tool trace -d=parsed` of Go 1.27 prints them:
 *
 *   M=THREAD P=PROC G=GOROUTINE KIND Time=NS WHAT=VALUE...
 *   TransitionStack=
 *   	FUNCTION @ 0xPC
 *   		FILE:LINE
 *
 *   Stack=
 *   	...
 *
 * A missing id is -1. The block of a stack is followed by an empty line. Source: Go 1.27,
 * internal/trace: Event.String and what it calls, event.go, value.go, resources.go.
 */
#include "formats/common/rows_by_meaning.h"
#include "formats/print/print.h"

/* Go's value for a task without a parent. */
#define GO_NO_TASK UINT64_MAX

static const char *kind_name(const gotrace_event *event)
{
    switch ((gotrace_kind)event->kind) {
    case GOTRACE_KIND_TRANSITION: return "StateTransition";
    case GOTRACE_KIND_METRIC: return "Metric";
    case GOTRACE_KIND_LABEL: return "Label";
    case GOTRACE_KIND_RANGE_BEGIN: return "RangeBegin";
    case GOTRACE_KIND_RANGE_ACTIVE: return "RangeActive";
    case GOTRACE_KIND_RANGE_END: return "RangeEnd";
    case GOTRACE_KIND_TASK_BEGIN: return "TaskBegin";
    case GOTRACE_KIND_TASK_END: return "TaskEnd";
    case GOTRACE_KIND_REGION_BEGIN: return "RegionBegin";
    case GOTRACE_KIND_REGION_END: return "RegionEnd";
    case GOTRACE_KIND_LOG: return "Log";
    case GOTRACE_KIND_SYNC: return "Sync";
    case GOTRACE_KIND_EXPERIMENT: return "Experimental";
    case GOTRACE_KIND_SAMPLE: return "StackSample";
    case GOTRACE_KIND_NONE:
    case GOTRACE_KIND_SYSCALL: break;
    }
    return "Bad";
}

static const char *state_name(unsigned state)
{
    switch ((gotrace_state)state) {
    case GOTRACE_STATE_UNDETERMINED: return "Undetermined";
    case GOTRACE_STATE_NOT_EXIST: return "NotExist";
    case GOTRACE_STATE_RUNNABLE: return "Runnable";
    case GOTRACE_STATE_RUNNING: return "Running";
    case GOTRACE_STATE_SYSCALL: return "Syscall";
    case GOTRACE_STATE_WAITING: return "Waiting";
    case GOTRACE_STATE_IDLE:
    case GOTRACE_STATE_ABANDONED: return "Idle";
    }
    return "Bad";
}

static void put_string(out *o, const char *name, const char *s, size_t size)
{
    out_str(o, name);
    out_go_quoted(o, s, s ? size : 0);
}

static void put_value(out *o, uint64_t value)
{
    out_str(o, "Value{Uint64(");
    out_u64(o, value);
    out_str(o, ")}");
}

/* A thread or proc id; none: the value that means "no id". */
static void put_id(out *o, const char *name, int64_t id, int64_t none)
{
    out_str(o, name);
    out_i64(o, id == none ? -1 : id);
}

static void put_goroutine(out *o, const char *name, uint64_t id)
{
    out_str(o, name);
    out_i64(o, id == 0 ? -1 : (int64_t)id);
}

/* A stack block on its own line; empty if there are no frames. */
static void put_stack(out *o, const print_source *from, const char *name, uint64_t stack)
{
    gotrace_frame frames[PRINT_FRAMES];
    size_t count = stack ? print_stack(from, stack, frames, PRINT_FRAMES) : 0;

    out_char(o, '\n');
    out_str(o, name);
    out_char(o, '\n');
    for (size_t i = 0; i < count; i++) {
        const gotrace_frame *frame = &frames[i];
        out_char(o, '\t');
        out_bytes(o, frame->function, frame->function_size);
        out_str(o, " @ 0x");
        out_hex(o, frame->pc);
        out_str(o, "\n\t\t");
        out_bytes(o, frame->file, frame->file_size);
        out_char(o, ':');
        out_u64(o, frame->line);
        out_char(o, '\n');
    }
}

/* The metric's name in Go's package runtime/metrics; for a metric that has none there, our own. */
static const char *metric_name(const gotrace_event_spec *spec)
{
    switch ((gotrace_metric)spec->semantics->metric) {
    case GOTRACE_METRIC_GOMAXPROCS: return "/sched/gomaxprocs:threads";
    case GOTRACE_METRIC_HEAP_ALLOCATED: return "/memory/classes/heap/objects:bytes";
    case GOTRACE_METRIC_HEAP_GOAL: return "/gc/heap/goal:bytes";
    case GOTRACE_METRIC_NONE: break;
    }
    return gotrace_metric_name(spec->semantics->metric);
}

static bool has_other(const gotrace_event_spec *spec)
{
    return spec->semantics->other.from != spec->semantics->other.to;
}

static void put_range(out *o, const gotrace_event *event)
{
    const gotrace_details *details = gotrace_event_details(event);
    const gotrace_range_spec *range = gotrace_range_spec_of((gotrace_range)event->range);

    out_str(o, " Name=\"");
    out_str(o, range->go_name);
    if (event->range == GOTRACE_RANGE_STW) {
        /* Go quotes the whole name and nothing inside these words. */
        out_str(o, " (");
        if (gotrace_event_reason(event))
            out_go_text(o, gotrace_event_reason(event), strlen(gotrace_event_reason(event)));
        out_char(o, ')');
    }
    out_str(o, "\" Scope=");
    switch (range->subject) {
    case GOTRACE_RESOURCE_NONE: out_str(o, "None"); break;
    case GOTRACE_RESOURCE_GOROUTINE: put_goroutine(o, "Goroutine(", event->subject); break;
    case GOTRACE_RESOURCE_PROC:
        out_str(o, "Proc(");
        out_i64(o, (int64_t)event->subject);
        break;
    }
    if (range->subject != GOTRACE_RESOURCE_NONE)
        out_char(o, ')');
    if (event->kind != GOTRACE_KIND_RANGE_END)
        return;
    out_str(o, " Attributes=[");
    if (event->range == GOTRACE_RANGE_SWEEP) {
        out_str(o, "\"bytes swept\"=");
        put_value(o, details->args[0]);
        out_str(o, " \"bytes reclaimed\"=");
        put_value(o, details->args[1]);
    }
    out_char(o, ']');
}

static void put_task(out *o, const gotrace_event *event)
{
    const gotrace_details *details = gotrace_event_details(event);
    out_str(o, " ID=");
    out_u64(o, event->subject);
    out_str(o, " Parent=");
    out_u64(o, gotrace_event_value(event) == 0 ? GO_NO_TASK : gotrace_event_value(event));
    put_string(o, " Type=", details->text, details->text_size);
}

static void put_transition(out *o, const print_source *from, const gotrace_event_spec *spec,
                           const gotrace_event *event)
{
    out_str(o, event->resource == GOTRACE_RESOURCE_PROC ? " ProcID=" : " GoID=");
    out_i64(o, (int64_t)event->subject);
    out_char(o, ' ');
    out_str(o, state_name(event->from));
    out_str(o, "->");
    out_str(o, state_name(event->to));
    put_string(o, " Reason=", gotrace_event_reason(event),
               gotrace_event_reason(event) ? strlen(gotrace_event_reason(event)) : 0);
    /* The stack of the goroutine that changes: where a new one starts, even if unknown, or where a
     * goroutine is that changes its own state or whose status is recorded. */
    if (row_has(spec, GOTRACE_ARG_START))
        put_stack(o, from, "TransitionStack=", gotrace_event_start_stack(event));
    else if (event->stack != 0 && !has_other(spec))
        put_stack(o, from, "TransitionStack=", event->stack);
}

static void put_experiment(out *o, const print_source *from, const gotrace_event_spec *spec)
{
    print_args args = {.spec = spec, .raw = from->raw};
    const char *separator = "";
    uint64_t value;

    out_str(o, " Name=");
    out_str(o, spec->name);
    out_str(o, " Args=[");
    for (const gotrace_arg_spec *arg; (arg = print_next_arg(&args, &value)) != NULL;) {
        out_str(o, separator);
        out_str(o, arg->name);
        out_char(o, '=');
        put_value(o, value);
        separator = ", ";
    }
    out_char(o, ']');
}

static void put_sync(out *o, const gotrace_event *event)
{
    const gotrace_details *details = gotrace_event_details(event);
    out_str(o, " N=");
    out_u64(o, gotrace_event_value(event) + 1);
    if (!(event->flags & GOTRACE_EVENT_CLOCKS))
        return;
    out_str(o, " Trace=");
    out_i64(o, (int64_t)details->args[0]);
    out_str(o, " Mono=");
    out_u64(o, details->args[1]);
    out_str(o, " Wall=");
    out_wall_clock(o, details->args[2], details->args[3]);
}

static void put_kind(out *o, const print_source *from, const gotrace_event_spec *spec,
                     const gotrace_event *event)
{
    const gotrace_details *details = gotrace_event_details(event);
    switch ((gotrace_kind)event->kind) {
    case GOTRACE_KIND_TRANSITION: put_transition(o, from, spec, event); break;
    case GOTRACE_KIND_METRIC:
        out_printf(o, " Name=\"%s\" Value=", metric_name(spec));
        put_value(o, gotrace_event_value(event));
        break;
    case GOTRACE_KIND_LABEL:
        put_string(o, " Label=", details->text, details->text_size);
        put_goroutine(o, " Resource=Goroutine(", event->goroutine);
        out_char(o, ')');
        break;
    case GOTRACE_KIND_RANGE_BEGIN:
    case GOTRACE_KIND_RANGE_ACTIVE:
    case GOTRACE_KIND_RANGE_END: put_range(o, event); break;
    case GOTRACE_KIND_TASK_BEGIN:
    case GOTRACE_KIND_TASK_END: put_task(o, event); break;
    case GOTRACE_KIND_REGION_BEGIN:
    case GOTRACE_KIND_REGION_END:
        out_str(o, " Task=");
        out_u64(o, event->subject);
        put_string(o, " Type=", details->text, details->text_size);
        break;
    case GOTRACE_KIND_LOG:
        out_str(o, " Task=");
        out_u64(o, event->subject);
        put_string(o, " Category=", details->text, details->text_size);
        put_string(o, " Message=", details->message, details->message_size);
        break;
    case GOTRACE_KIND_EXPERIMENT: put_experiment(o, from, spec); break;
    case GOTRACE_KIND_SYNC: put_sync(o, event); break;
    case GOTRACE_KIND_SAMPLE:
    case GOTRACE_KIND_SYSCALL:
    case GOTRACE_KIND_NONE: break;
    }
}

void print_go_v2_event(out *o, const print_source *from, const gotrace_event *event)
{
    const gotrace_event_spec *spec = gotrace_event_spec_of(from->version, event->type);

    if (!spec && event->kind != GOTRACE_KIND_SYNC)
        return;
    put_id(o, "M=", event->thread, GOTRACE_NO_THREAD);
    put_id(o, " P=", event->proc, GOTRACE_NO_PROC);
    put_goroutine(o, " G=", event->goroutine);
    out_char(o, ' ');
    out_str(o, kind_name(event));
    out_str(o, " Time=");
    out_i64(o, (int64_t)from->raw->ticks);
    put_kind(o, from, spec, event);
    /* Go prints a stack for each sample, even an unknown one. */
    if (event->stack != 0 || event->kind == GOTRACE_KIND_SAMPLE)
        put_stack(o, from, "Stack=", event->stack);
    out_char(o, '\n');
}
