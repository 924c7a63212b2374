/*
 * absurd.h - traces of programs that do what no program should, in v1 and in v2. As files they are
 * sound, so that what an exporter makes of them is its own doing.
 */
#ifndef ABSURD_H
#define ABSURD_H

#include "support.h"

enum { ABSURD_NAMES = 6, ABSURD_LONG = 1024 };

/* Names that nobody would give. */
typedef struct absurd_text {
    const char *bytes; /* NULL: ABSURD_LONG times "x" */
    size_t size;
    const char *shown; /* of bytes that are not UTF-8: what is to be found in what is exported */
} absurd_text;

extern const absurd_text absurd_names[ABSURD_NAMES];

/* The trace being told, by goroutine 1, which runs on proc 0 of thread 7. */
typedef struct teller teller;

typedef struct absurd {
    const char *name;
    void (*report)(teller *t);
} absurd;

extern const absurd absurds[]; /* ends with an entry without name */

/* A trace of v1 (1.21) or v2 (1.22), to be freed. */
blob absurd_trace(const absurd *what, bool v2);

/* The one of that name. */
const absurd *absurd_named(const char *name);

#endif
