/*
 * output.c - the events that are returned, except transitions.
 */
#include "read/v2/output.h"

#include <string.h>

#include "core/times.h"

/* Bytes of the arguments of any event. */
enum { ARGS_SIZE = sizeof((gt_v2_event *)0)->args };

void gt_v2_put_raw(const gt_follow *f, uint8_t type, const uint64_t *args, int64_t ticks)
{
    gt_block *b = f->v2->output.block;
    const size_t count = f->v2->shapes[type].args;
    if (!b->lends_args || args != f->e->args) {
        uint64_t *copy = gt_block_alloc(b, ARGS_SIZE);
        args = copy ? memcpy(copy, args, ARGS_SIZE) : NULL;
    }
    b->raw[b->count] = (gotrace_raw){.ticks = (uint64_t)ticks,
                                     .args = args,
                                     .arg_count = args ? count : 0,
                                     .generation = f->v2->generation,
                                     .generation_index = f->v2->current};
}

/* Sets a text of the generation. */
static void set_text(const gt_follow *f, uint64_t string, const char **text, size_t *size)
{
    *text = gt_tables_string(f->reader->tables, string, size);
}

/* Gives an event what depends on more than its type. */
static void set_details(const gt_follow *f, gotrace_event *event)
{
    const uint64_t *args = f->e->args;
    gotrace_details *d = gt_block_details(f->v2->output.block, event, args,
                                          f->v2->shapes[event->type].args);
    switch ((gotrace_kind)event->kind) {
    case GOTRACE_KIND_LABEL: set_text(f, args[0], &d->text, &d->text_size); break;
    case GOTRACE_KIND_TASK_BEGIN:
        event->subject = args[0];
        d->value = args[1] == GT_V2_NO_ID ? 0 : args[1];
        set_text(f, args[2], &d->text, &d->text_size);
        break;
    case GOTRACE_KIND_REGION_BEGIN:
    case GOTRACE_KIND_REGION_END:
        event->subject = args[0];
        set_text(f, args[1], &d->text, &d->text_size);
        break;
    case GOTRACE_KIND_LOG:
        event->subject = args[0];
        set_text(f, args[1], &d->text, &d->text_size);
        set_text(f, args[2], &d->message, &d->message_size);
        break;
    case GOTRACE_KIND_TASK_END: event->subject = args[0]; break;
    case GOTRACE_KIND_NONE:
    case GOTRACE_KIND_TRANSITION:
    case GOTRACE_KIND_SYSCALL:
    case GOTRACE_KIND_METRIC:
    case GOTRACE_KIND_RANGE_BEGIN:
    case GOTRACE_KIND_RANGE_END:
    case GOTRACE_KIND_RANGE_ACTIVE:
    case GOTRACE_KIND_EXPERIMENT:
    case GOTRACE_KIND_SYNC:
    case GOTRACE_KIND_SAMPLE: break;
    }
}

gotrace_event *gt_v2_put(const gt_follow *f, const uint64_t *args)
{
    const uint8_t type = f->e->type;
    const gt_v2_shape *shape = &f->v2->shapes[type];
    gotrace_event *event = gt_v2_place(f, type, shape->kind, args);
    if (!event)
        return NULL;
    event->subject = 0;
    event->extra.cause = 0;
    gt_head_set(event, shape->head | GT_HEAD_OF(flags, f->suspect ? GOTRACE_EVENT_SUSPECT : 0) |
                           GT_HEAD_OF(flags, f->no_begin ? GOTRACE_EVENT_NO_BEGIN : 0));
    if (shape->kind == GOTRACE_KIND_METRIC) {
        event->subject = shape->metric;
        event->given = GOTRACE_GIVEN_VALUE;
        event->extra.value = args[0];
    } else if (shape->args > 0 && shape->kind != GOTRACE_KIND_NONE &&
               shape->kind != GOTRACE_KIND_TRANSITION) {
        set_details(f, event);
    }
    return event;
}

/* The details of an event that was just put. */
static gotrace_details *details_of(const gt_follow *f, gotrace_event *event)
{
    return event->given == GOTRACE_GIVEN_DETAILS
               ? (gotrace_details *)(uintptr_t)event->extra.details
               : gt_block_details(f->v2->output.block, event, NULL, 0);
}

void gt_v2_set_reason(const gt_follow *f, gotrace_event *event, const char *reason)
{
    details_of(f, event)->reason = reason;
}

void gt_v2_set_task_end(const gt_follow *f, gotrace_event *event, uint64_t parent, const char *name)
{
    gotrace_details *d = details_of(f, event);
    d->value = parent;
    d->text = name ? name : "";
    d->text_size = name ? gt_names_size(name) : 0;
}

gotrace_event *gt_v2_put_outside(gotrace_reader *reader, struct gt_v2 *v2, uint8_t type,
                                 int64_t ticks, const uint64_t *args, size_t arg_count)
{
    const gt_v2_shape *shape = &v2->shapes[type];
    ticks = type == 0 ? gt_v2_take_time(v2, ticks) : gt_v2_take_event_time(reader, v2, ticks);
    if (!(v2->output.kinds >> shape->kind & 1)) {
        reader->summary.events++;
        return NULL;
    }
    gt_block *b = v2->output.block;
    gotrace_event *event = &b->events[b->count];
    *event = (gotrace_event){.proc = GOTRACE_NO_PROC, .thread = GOTRACE_NO_THREAD};
    gt_head_set(event, shape->head);
    /* The sync before the first event has time 0. */
    if (reader->first_ticks != 0)
        event->time = gt_v2_since_start(reader, ticks);
    uint64_t *copy = gt_block_alloc(b, arg_count * sizeof *args);
    gotrace_details *d = gt_block_details(b, event, NULL, 0);
    if (copy) {
        d->args = memcpy(copy, args, arg_count * sizeof *args);
        d->arg_count = arg_count;
    }
    if (b->raw)
        b->raw[b->count] = (gotrace_raw){.ticks = (uint64_t)ticks,
                                         .args = d->args,
                                         .arg_count = d->arg_count,
                                         .generation = v2->generation,
                                         .generation_index = v2->current};
    b->count++;
    return event;
}
