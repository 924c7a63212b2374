/* print.h - the printers (text.c, go.c, jsonl.c) and what they share (print.c). */
#ifndef PRINT_H
#define PRINT_H

#include <string.h>

#include "formats/print/printer.h"
#include "gotrace_experimental.h"

extern const printer printer_text, printer_go, printer_jsonl;

/* The name of the record; a sync event has no record. */
static inline const char *print_type_name(const gotrace_event_spec *spec,
                                          const gotrace_event *event)
{
    if (event->kind == GOTRACE_KIND_SYNC)
        return "Sync";
    return spec ? spec->name : "unknown";
}

/* Whether a task has a parent; 0 and Go's NoTask mean none. */
static inline bool print_has_parent(const gotrace_event *event)
{
    return gotrace_event_value(event) != 0 && gotrace_event_value(event) != UINT64_MAX;
}

/* gotrace_reader_stack, for a stack of the event that is printed. */
size_t print_stack(const print_source *from, uint64_t id, gotrace_frame *frames, size_t max);

/* Frames of a stack that are printed at most: the default limit of the reader. */
enum { PRINT_FRAMES = 1000 };

/* The part of printer_go for events of v2. */
void print_go_v2_event(out *o, const print_source *from, const gotrace_event *event);

/* Iterates over gotrace_raw.args: the arguments in the event table, without the times and
 * sequence numbers at the start and the stack at the end. */
typedef struct print_args {
    const gotrace_event_spec *spec;
    const gotrace_raw *raw;
    size_t next;  /* index in spec->args */
    size_t value; /* index in raw->args */
} print_args;

/* Returns the next argument and sets *value (0 if the trace lacks it); NULL after the last. */
static inline const gotrace_arg_spec *print_next_arg(print_args *args, uint64_t *value)
{
    size_t count = args->spec->arg_count;

    if (args->spec->flags & GOTRACE_SPEC_STACK)
        count--;
    while (args->next < count) {
        const gotrace_arg_spec *arg = &args->spec->args[args->next++];
        if (arg->kind == GOTRACE_ARG_DSEQ || arg->kind == GOTRACE_ARG_DT)
            continue;
        /* A v2 sample has time and stack in the same fields as other events. */
        if (!(args->spec->flags & GOTRACE_SPEC_TIMED) &&
            (arg->kind == GOTRACE_ARG_TICKS || arg->kind == GOTRACE_ARG_STACK))
            continue;
        size_t at = args->value++;
        *value = at < args->raw->arg_count ? args->raw->args[at] : 0;
        return arg;
    }
    return NULL;
}

/* The events that are to be printed. */
typedef struct print_events {
    gotrace_reader *reader;
    struct feed *source;        /* of that reader, for the stacks that the selector needs */
    struct selector *selector;  /* NULL: all */
    const struct places *where; /* NULL: all */
} print_events;

/* Whether the event is to be printed. *ends: no later one is, or the selector failed. */
bool print_selects(const print_events *events, const gotrace_event *event, bool *ends);

/* threads.c: prints further events on several threads. False, with nothing done, if no thread could
 * be started; else *status is as print_all returns it. */
bool print_in_threads(const print_job *job, const print_events *events, gotrace_status *status);

#endif
