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

static bool set_text(const gotrace_reader *reader, gt_block *b, gotrace_details *d, uint64_t string)
{
    d->text = gotrace_reader_string(reader, string, &d->text_size);
    if (d->text)
        d->text = gt_block_keep(b, d->text, d->text_size);
    return !b->failed;
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

/* The mode is 0 or 1; others have no meaning. */
static gotrace_kind kind_of_region(uint64_t mode)
{
    return mode == 0   ? GOTRACE_KIND_REGION_BEGIN
           : mode == 1 ? GOTRACE_KIND_REGION_END
                       : GOTRACE_KIND_NONE;
}

static uint8_t kind_of(const gt_event *e, const gt_v1_shape *shape)
{
    if (e->flags & GOTRACE_EVENT_FUTILE)
        return GOTRACE_KIND_NONE; /* no effect and no meaning */
    if (e->flags & GT_EVENT_BLOCKS)
        return GOTRACE_KIND_TRANSITION;
    return shape->action == GT_ACTION_REGION ? (uint8_t)kind_of_region(e->args[1]) : shape->kind;
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
    if (shape->string && !set_text(reader, b, d, e->args[shape->string - 1]))
        return false;
    if (shape->action == GT_ACTION_TASK_END)
        return set_text(reader, b, d, effect->ended_name);
    if (shape->action == GT_ACTION_RANGE_BEGIN && shape->range == GOTRACE_RANGE_STW)
        d->reason = gotrace_stw_reason(reader->summary.version, e->args[0]);
    return shape->action != GT_ACTION_LOG || load_message(reader, b, e, d);
}

/* Sets what only transitions have. Returns members of the head. */
GT_INLINE gt_head set_transition(const gt_event *e, const gt_v1_shape *shape,
                                 const gt_effect *effect, uint8_t resource, int64_t proc,
                                 gotrace_event *out)
{
    gt_head states = GT_HEAD_OF(from, effect->from) | GT_HEAD_OF(to, effect->to);
    if (resource == GOTRACE_RESOURCE_PROC) {
        out->subject = (uint64_t)proc;
        return states;
    }
    out->subject = effect->goroutine ? effect->goroutine->id : e->goroutine;
    if (shape->kind == GOTRACE_KIND_TRANSITION && shape->does->text) {
        states |= GT_HEAD_OF(given, GOTRACE_GIVEN_REASON);
        out->extra.reason = shape->does->text;
    } else if (shape->start) {
        states |= GT_HEAD_OF(given, GOTRACE_GIVEN_START_STACK);
        out->extra.start_stack = e->args[shape->start - 1];
    } else if (effect->to == GOTRACE_STATE_RUNNING && effect->from != GOTRACE_STATE_RUNNING) {
        out->extra.cause = effect->cause;
    }
    bool was_there = shape->action == GT_ACTION_CREATE &&
                     effect->from == GOTRACE_STATE_UNDETERMINED;
    bool initial = was_there || shape->does->initial;
    return states | GT_HEAD_OF(flags, initial ? GOTRACE_EVENT_INITIAL : 0);
}

/* Sets what other events have. */
static bool set_other(gotrace_reader *reader, const gt_event *e, const gt_v1_shape *shape,
                      const gt_effect *effect, gt_block *b, gotrace_event *out)
{
    if (out->kind == GOTRACE_KIND_METRIC) {
        out->subject = shape->does->metric;
        out->given = GOTRACE_GIVEN_VALUE;
        out->extra.value = e->args[0];
    } else if (out->kind == GOTRACE_KIND_SAMPLE) {
        out->proc = e->args[1] == UINT64_MAX ? GOTRACE_NO_PROC : gt_shown_proc((int64_t)e->args[1]);
    } else if (shape->detailed || (shape->slots > 0 && out->kind != GOTRACE_KIND_TRANSITION &&
                                   out->kind != GOTRACE_KIND_SYSCALL)) {
        return set_details(reader, e, shape, effect, b, out);
    }
    return true;
}

bool gt_model_put(gotrace_reader *reader, const gt_event *e, const gt_effect *effect, gt_block *b)
{
    const gt_v1_shape *shape = &reader->index.shapes[e->type];
    const uint8_t kind = kind_of(e, shape);
    if (!(reader->kinds >> kind & 1))
        return true;
    const gt_proc_state *place = gt_states_proc(reader->states, e);
    gotrace_event *out = &b->events[b->count];
    gt_head head = GT_HEAD_OF(type, e->type) | GT_HEAD_OF(kind, kind) |
                   GT_HEAD_OF(range, shape->range) |
                   GT_HEAD_OF(flags, (e->flags & (uint8_t)~GT_EVENT_BLOCKS) | effect->flags);
    if (b->raw)
        b->raw[b->count] = (gotrace_raw){
            .ticks = (uint64_t)e->ticks, .args = e->args, .arg_count = shape->slots};
    b->count++;
    out->time = gt_time_of(reader, e->ticks);
    out->offset = e->offset;
    out->goroutine = e->goroutine;
    out->subject = 0;
    out->thread = place->thread;
    out->proc = place->shown_id;
    out->stack = gt_shown_stack(e->stack);
    out->extra.cause = 0;
    if (kind == GOTRACE_KIND_TRANSITION) {
        uint8_t resource = shape->resource == GOTRACE_RESOURCE_PROC ? GOTRACE_RESOURCE_PROC
                                                                    : GOTRACE_RESOURCE_GOROUTINE;
        head |= GT_HEAD_OF(resource, resource) |
                set_transition(e, shape, effect, resource, place->id, out);
    }
    gt_head_set(out, head);
    if (kind == GOTRACE_KIND_NONE ||
        (!shape->detailed && (kind == GOTRACE_KIND_TRANSITION || kind == GOTRACE_KIND_SYSCALL)))
        return true;
    return (set_other(reader, e, shape, effect, b, out) && !b->failed) ||
           (b->failed && gt_fail_memory(reader));
}
