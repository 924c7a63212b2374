/*
 * go.c - events in the format of Go's debug printers: v2 traces as Go 1.27 prints them (go_v2.c),
 * v1 traces as `go tool trace -d` of Go 1.21 does:
 *
 *   TIME NAME p=PROC g=GOROUTINE off=OFFSET ARGUMENT=VALUE... STRING=TEXT...
 *
 * Names and arguments are those of the event table, without time deltas and stack; an argument that
 * the trace's version lacks is 0. Texts are printed unquoted.
 */
#include "formats/common/lane.h"
#include "formats/common/rows_by_meaning.h"
#include "formats/print/print.h"

/* Names of the texts after an event's numbers; NULL: the event has no such text. */
typedef struct go_texts {
    const char *text;    /* of event.text */
    const char *message; /* of event.message */
    const char *reason;  /* of event.reason */
} go_texts;

static go_texts texts_of(const gotrace_event_spec *spec)
{
    const gotrace_semantics *s = spec->semantics;
    switch ((gotrace_kind)s->kind) {
    case GOTRACE_KIND_TRANSITION:
        return (go_texts){.text = row_has(spec, GOTRACE_ARG_STRING) ? "label" : NULL};
    case GOTRACE_KIND_RANGE_BEGIN:
        return (go_texts){.reason = s->range == GOTRACE_RANGE_STW ? "kind" : NULL};
    case GOTRACE_KIND_TASK_BEGIN:
    case GOTRACE_KIND_REGION_BEGIN:
    case GOTRACE_KIND_REGION_END: return (go_texts){.text = "name"};
    case GOTRACE_KIND_LOG: return (go_texts){.text = "category", .message = "message"};
    case GOTRACE_KIND_NONE:
    case GOTRACE_KIND_SYSCALL:
    case GOTRACE_KIND_METRIC:
    case GOTRACE_KIND_LABEL:
    case GOTRACE_KIND_RANGE_END:
    case GOTRACE_KIND_RANGE_ACTIVE:
    case GOTRACE_KIND_TASK_END:
    case GOTRACE_KIND_SYNC:
    case GOTRACE_KIND_EXPERIMENT:
    case GOTRACE_KIND_SAMPLE: break;
    }
    return (go_texts){0};
}

static void print_texts(out *o, const go_texts *texts, const gotrace_event *event)
{
    const gotrace_details *details = gotrace_event_details(event);
    const char *reason = gotrace_event_reason(event);
    if (texts->text) {
        out_printf(o, " %s=", texts->text);
        out_bytes(o, details->text, details->text_size);
    }
    if (texts->message) {
        out_printf(o, " %s=", texts->message);
        out_bytes(o, details->message, details->message_size);
    }
    if (texts->reason)
        out_printf(o, " %s=%s", texts->reason, reason ? reason : "unknown");
}

static void print_v1_event(out *o, const print_source *from, const gotrace_event *event)
{
    const gotrace_event_spec *spec = gotrace_event_spec_of(from->version, event->type);

    if (!spec || (event->flags & GOTRACE_EVENT_FUTILE))
        return;
    out_i64(o, event->time);
    out_char(o, ' ');
    out_str(o, spec->name);
    out_str(o, " p=");
    out_i64(o, lane_of(event, from->version));
    out_str(o, " g=");
    out_u64(o, event->goroutine);
    out_str(o, " off=");
    out_u64(o, event->offset);

    print_args args = {.spec = spec, .raw = from->raw};
    uint64_t value;
    for (const gotrace_arg_spec *arg; (arg = print_next_arg(&args, &value)) != NULL;) {
        out_char(o, ' ');
        out_str(o, arg->name);
        out_char(o, '=');
        /* Go's reader moves a sample's time argument into the event and leaves 0. */
        bool moved = event->kind == GOTRACE_KIND_SAMPLE && arg->kind == GOTRACE_ARG_TICKS;
        out_u64(o, moved ? 0 : value);
    }
    go_texts texts = texts_of(spec);
    print_texts(o, &texts, event);
    out_char(o, '\n');
}

static void print_go_event(out *o, const print_source *from, const gotrace_event *event)
{
    if (from->version >= GOTRACE_FIRST_V2)
        print_go_v2_event(o, from, event);
    else
        print_v1_event(o, from, event);
}

const printer printer_go = {
    .name = "go",
    .summary = "the lines of `go tool trace -d` (1.5 to 1.21), or `-d=parsed`",
    .event = print_go_event,
};
