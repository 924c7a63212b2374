/* print.h - the printers, each in a file print_NAME.c, and what they share. */
#ifndef PRINT_H
#define PRINT_H

#include <string.h>

#include "formats/formats.h"

extern const printer printer_text, printer_go, printer_jsonl;

/* Name of the record; a sync event has no record. */
static inline const char *print_type_name(const gotrace_event_spec *spec,
                                          const gotrace_event *event)
{
    if (event->kind == GOTRACE_KIND_SYNC)
        return "Sync";
    return spec ? spec->name : "unknown";
}

/* What a range belongs to, whose id is the event's subject; NONE for the whole program. */
static inline gotrace_resource print_range_scope(gotrace_range range)
{
    switch (range) {
    case GOTRACE_RANGE_STW:
    case GOTRACE_RANGE_MARK_ASSIST: return GOTRACE_RESOURCE_GOROUTINE;
    case GOTRACE_RANGE_SWEEP: return GOTRACE_RESOURCE_PROC;
    case GOTRACE_RANGE_GC:
    case GOTRACE_RANGE_NONE: break;
    }
    return GOTRACE_RESOURCE_NONE;
}

/* Whether a task has a parent: none is 0, or what Go calls NoTask. */
static inline bool print_has_parent(const gotrace_event *event)
{
    return event->value != 0 && event->value != UINT64_MAX;
}

/* What printer_go prints of an event of a v2 trace. */
void print_go_v2_event(out *o, gotrace_reader *reader, const gotrace_event *event);

/* Walks an event's arguments as gotrace_event.args has them: the table's, without times and
 * sequences at the start and the stack at the end. */
typedef struct print_args {
    const gotrace_event_spec *spec;
    const gotrace_event *event;
    size_t next;  /* of spec->args */
    size_t value; /* of event->args */
} print_args;

/* Returns the next argument, or NULL after the last one, and sets *value; 0 for absent ones. */
static inline const gotrace_arg_spec *print_next_arg(print_args *args, uint64_t *value)
{
    size_t count = args->spec->arg_count;

    if (args->spec->flags & GOTRACE_SPEC_STACK)
        count--;
    while (args->next < count) {
        const gotrace_arg_spec *arg = &args->spec->args[args->next++];
        if (arg->kind == GOTRACE_ARG_DSEQ || arg->kind == GOTRACE_ARG_DT)
            continue;
        /* A sample of v2 has its time and its stack like other events. */
        if (!(args->spec->flags & GOTRACE_SPEC_TIMED) &&
            (arg->kind == GOTRACE_ARG_TICKS || arg->kind == GOTRACE_ARG_STACK))
            continue;
        size_t at = args->value++;
        if (at >= sizeof args->event->args / sizeof args->event->args[0])
            return NULL;
        *value = args->event->args[at];
        return arg;
    }
    return NULL;
}

#endif
