#include "read/v1/model.h"

#include <string.h>

#include "core/head.h"
#include "core/times.h"

/* Go 1.21's stwReasonStrings: reasons of a stop-the-world by kind. */
static const char *const stw_reasons[] = {
    "unknown",
    "GC mark termination",
    "GC sweep termination",
    "write heap dump",
    "goroutine profile",
    "goroutine profile cleanup",
    "all goroutines stack trace",
    "read mem stats",
    "AllThreadsSyscall",
    "GOMAXPROCS",
    "start trace",
    "stop trace",
    "CountPagesInUse (test)",
    "ReadMetricsSlow (test)",
    "ReadMemStatsSlow (test)",
    "PageCachePagesLeaked (test)",
    "ResetDebugLog (test)",
};

const char *gotrace_stw_reason(int version, uint64_t kind)
{
    if (version < GT_FIRST_STW_REASON)
        return kind == 0 ? "mark termination" : kind == 1 ? "sweep termination" : "unknown";
    return stw_reasons[kind < sizeof stw_reasons / sizeof *stw_reasons ? kind : 0];
}

static void set_text(const gotrace_reader *reader, gotrace_details *d, uint64_t string)
{
    d->text = gt_tables_string(reader->tables, string, &d->text_size);
}

/* Reads the message of a log from the file, because it is not in a table. */
static bool load_message(gotrace_reader *reader, gt_block *b, const gt_event *e, gotrace_details *d)
{
    char *message = gt_block_alloc(b, e->data_size);
    if (!message)
        return false;
    if (gt_read_bytes(reader, e->offset + e->data_at, message, e->data_size, &d->message_size) < 0)
        return gt_fail(reader);
    d->message = message;
    return true;
}

/* The mode of a region is 0 or 1; others have no meaning. An event of a futile wake-up has no
 * effect and no meaning. */
gt_head gt_model_head(const gt_event *e, const gt_v1_shape *shape)
{
    gotrace_kind kind = GOTRACE_KIND_NONE;
    gotrace_resource resource = GOTRACE_RESOURCE_NONE;
    if (!(e->flags & GOTRACE_EVENT_FUTILE) && e->flags & GT_EVENT_BLOCKS) {
        kind = GOTRACE_KIND_TRANSITION;
        resource = GOTRACE_RESOURCE_GOROUTINE;
    } else if (!(e->flags & GOTRACE_EVENT_FUTILE) && e->args[1] <= 1) {
        kind = e->args[1] ? GOTRACE_KIND_REGION_END : GOTRACE_KIND_REGION_BEGIN;
    }
    return GT_HEAD_OF(type, e->type) | GT_HEAD_OF(kind, kind) | GT_HEAD_OF(resource, resource) |
           GT_HEAD_OF(range, shape->range);
}

/* Gives an event what depends on more than its type. */
static bool set_details(gotrace_reader *reader, const gt_event *e, const gt_v1_shape *shape,
                        const gt_effect *effect, gt_block *b, gotrace_event *out)
{
    uint64_t cause = gotrace_event_cause(out);
    gotrace_details *d = gt_block_details(b, out, e->args, shape->slots);
    d->cause = cause;
    if (shape->task)
        out->subject = e->args[shape->task - 1];
    if (shape->parent)
        d->value = e->args[shape->parent - 1];
    if (shape->string)
        set_text(reader, d, e->args[shape->string - 1]);
    if (shape->action == GT_ACTION_TASK_END)
        set_text(reader, d, effect->ended_name);
    if (shape->action == GT_ACTION_RANGE_BEGIN && shape->range == GOTRACE_RANGE_STW)
        d->reason = gotrace_stw_reason(reader->summary.version, e->args[0]);
    return shape->action != GT_ACTION_LOG || load_message(reader, b, e, d);
}

bool gt_model_set_details(gotrace_reader *reader, const gt_event *e, const gt_v1_shape *shape,
                          const gt_effect *effect, gt_block *b, gotrace_event *to)
{
    if (to->kind == GOTRACE_KIND_METRIC) {
        to->subject = shape->does->metric;
        to->given = GOTRACE_GIVEN_VALUE;
        to->extra.value = e->args[0];
    } else if (to->kind == GOTRACE_KIND_SAMPLE) {
        to->proc = e->args[1] == UINT64_MAX ? GOTRACE_NO_PROC : gt_shown_proc((int64_t)e->args[1]);
    } else {
        return (set_details(reader, e, shape, effect, b, to) && !b->failed) ||
               (b->failed && gt_fail_memory(reader));
    }
    return true;
}
