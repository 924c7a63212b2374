/*
 * carry.h - carries the events of a reader over to a writer of the same version: their arguments,
 * with the writer's ids of strings and stacks.
 */
#ifndef PARTS_CARRY_H
#define PARTS_CARRY_H

#include "formats/common/id_numbers.h"
#include "gotrace.h"

enum { CARRY_MOST_FRAMES = 1024 };

/* How an argument is carried over. */
typedef enum carry_way { CARRY_AS_IT_IS, CARRY_STRING, CARRY_STACK } carry_way;

/* What is needed of an event's row for each event: its arguments for the writer, without the
 * event's own stack. */
typedef struct carry_row {
    const gotrace_event_spec *spec;
    uint8_t count;
    uint8_t from[GOTRACE_MAX_ARGS]; /* index in gotrace_raw.args */
    uint8_t ways[GOTRACE_MAX_ARGS]; /* carry_way */
    bool copies;                    /* all are carried over as they are, in the same place */
    bool is_sample;                 /* v2: the event has its time as an argument for the writer */
} carry_row;

typedef struct carry {
    int version;
    gotrace_reader *reader;
    gotrace_writer *writer;
    uint64_t frequency;         /* v2: ticks per second of the writer */
    id_numbers strings, stacks; /* the writer's ids, plus 1; v2: of this generation */
    bool failed;                /* out of memory, or the writer failed: its error says why */
    carry_row rows[256];        /* by code */
    gotrace_frame frames[CARRY_MOST_FRAMES];
} carry;

/* Set reader, writer and frequency before an event is carried over. */
void carry_init(carry *c, int version);
/* Call when the writer or the reader begins another generation. */
void carry_forget(carry *c);
void carry_free(carry *c);

/* v2: converts ns to ticks of the writer. */
uint64_t carry_ticks(const carry *c, uint64_t ns);

/* The writer's ids; 0 if carry failed. */
uint64_t carry_text(carry *c, int64_t proc, const char *text, size_t size);
uint64_t carry_new_stack(carry *c, uint64_t id);

static inline uint64_t carry_stack(carry *c, uint64_t id)
{
    uint32_t made = id_numbers_find(&c->stacks, id);
    return made ? made - 1 : carry_new_stack(c, id);
}

/* carry_args of an event of which some are not carried over as they are. */
size_t carry_other_args(carry *c, const gotrace_event *e, const carry_row *row, uint64_t *values);

/* Convert the arguments of an event, the last one of the reader, to those of a writer
 * (values[GOTRACE_MAX_ARGS]); returns their number. */
static inline size_t carry_args(carry *c, const gotrace_event *e, const gotrace_event_spec *spec,
                                uint64_t *values)
{
    const carry_row *row = &c->rows[spec->code];
    const gotrace_raw *raw = gotrace_reader_raw(c->reader);
    if (!row->copies || row->count > raw->arg_count)
        return carry_other_args(c, e, row, values);
    for (size_t n = 0; n < row->count; n++)
        values[n] = raw->args[n];
    return row->count;
}

/* The whole event, for the writer. The proc of an end of a system call that the reader moved is
 * unknown. */
static inline gotrace_event_data carry_event(carry *c, const gotrace_event *e,
                                             const gotrace_event_spec *spec, uint64_t *values)
{
    bool data = (spec->flags & GOTRACE_SPEC_DATA) != 0;
    return (gotrace_event_data){.size = sizeof(gotrace_event_data),
                                .spec = spec,
                                .proc = e->flags & GOTRACE_EVENT_MOVED ? GOTRACE_NO_PROC : e->proc,
                                .thread = e->thread,
                                .goroutine = e->goroutine,
                                .args = values,
                                .arg_count = carry_args(c, e, spec, values),
                                .stack = carry_stack(c, e->stack),
                                .data = data ? gotrace_event_details(e)->message : NULL,
                                .data_size = data ? gotrace_event_details(e)->message_size : 0};
}

#endif
