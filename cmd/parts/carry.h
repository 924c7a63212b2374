/*
 * carry.h - carries the events of a reader over to a writer of the same version: their arguments,
 * with the writer's ids of strings and stacks.
 */
#ifndef PARTS_CARRY_H
#define PARTS_CARRY_H

#include "formats/common/idmap.h"
#include "gotrace.h"

enum { CARRY_MOST_FRAMES = 1024 };

/* What is needed of an event's row for each event. */
typedef struct carry_row {
    const gotrace_event_spec *spec;
    uint8_t kinds[GOTRACE_MAX_ARGS]; /* of the arguments in the file */
    uint8_t count;                   /* number of those, without the event's own stack */
} carry_row;

typedef struct carry {
    int version;
    gotrace_reader *reader;
    gotrace_writer *writer;
    uint64_t frequency;  /* v2: ticks per second of the writer */
    idmap stacks;        /* stack -> the writer's id, plus 1; v2: of this generation */
    bool failed;         /* out of memory, or the writer failed: its error says why */
    carry_row rows[256]; /* by code */
    gotrace_frame frames[CARRY_MOST_FRAMES];
} carry;

/* Set reader, writer and frequency before an event is carried over. */
void carry_init(carry *c, int version);
/* Call when the writer or the reader begins another generation. */
void carry_forget_stacks(carry *c);
void carry_free(carry *c);

/* v2: converts ns to ticks of the writer. */
uint64_t carry_ticks(const carry *c, uint64_t ns);

/* The writer's ids; 0 if carry failed. */
uint64_t carry_string(carry *c, int64_t proc, uint64_t id);
uint64_t carry_text(carry *c, int64_t proc, const char *text, size_t size);
uint64_t carry_stack(carry *c, uint64_t id);

/* Convert the arguments of an event to those of a writer (values[GOTRACE_MAX_ARGS]); returns their
 * number. */
size_t carry_args(carry *c, const gotrace_event *e, const gotrace_event_spec *spec,
                  uint64_t *values);

/* The whole event, for the writer. The proc of an end of a system call that the reader moved is
 * unknown. */
gotrace_event_data carry_event(carry *c, const gotrace_event *e, const gotrace_event_spec *spec,
                               uint64_t *values);

#endif
