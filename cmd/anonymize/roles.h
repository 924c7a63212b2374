/*
 * roles.h - what the strings of a trace are used as.
 *
 * Only the events and frames that refer to a string show whether it is the name of a function or a
 * text of the user, so the whole trace is read before anything is written. A tracer stores equal
 * texts once: a region named "sync" has the id of the reason "sync". Such a string is shared, and
 * is written twice: as what Go uses it for, and with another id for the user.
 */
#ifndef ANONYMIZE_ROLES_H
#define ANONYMIZE_ROLES_H

#include "cmd/anonymize/names.h"
#include "cmd/parts/parts.h"
#include "formats/common/idmap.h"

/* Arguments of a stack before its frames: its id and their number. */
enum { BEFORE_FRAMES = 2 };

typedef struct role_table {
    uint64_t seed;
    parts_shape shape;
    uint8_t of_event[256]; /* the role of the strings that an event refers to, by its code */
    uint64_t generation;   /* counts them: a damaged trace may have two of the same number */
    idmap strings, frames; /* of the generation */
    idmap uses;            /* by the hash of a text */
    idmap shared;          /* by generation and id */
    uint64_t largest,
        shift; /* largest id; added to that of a shared string. 0: they have no other id */
} role_table;

void roles_init(role_table *r, int version);

/* First pass: add a record, and end a generation (v1: the trace). False if memory is refused. */
bool roles_add(role_table *r, const gotrace_record *record);
bool roles_end_generation(role_table *r);

/* Start the second pass, which calls roles_next_generation where the first one ended one. */
void roles_rewind(role_table *r);
void roles_next_generation(role_table *r);

/* Whether this is an entry of the string table. */
bool roles_is_string(const role_table *r, const gotrace_record *record);

/* The names_role of a string of the current generation. *shared: it is also the user's. */
unsigned roles_of(const role_table *r, const gotrace_record *string, bool *shared);

/* Whether the record refers to a shared string as a text of the user; replaces such ids in values,
 * a copy of its arguments. */
bool roles_is_shifted(const role_table *r, const gotrace_record *record);
void roles_shift(const role_table *r, const gotrace_record *record, uint64_t *values);

void roles_free(role_table *r);

#endif
