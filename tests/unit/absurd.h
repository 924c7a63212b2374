/*
 * absurd.h - traces of programs with absurd behaviour, in v1 and in v2. They are sound, so that any
 * fault in an export is the exporter's.
 */
#ifndef ABSURD_H
#define ABSURD_H

#include "support.h"

enum { ABSURD_NAMES = 6, ABSURD_LONG = 1024 };

/* Unusual names. */
typedef struct absurd_text {
    const char *bytes; /* NULL: ABSURD_LONG times "x" */
    size_t size;
    const char *shown; /* what an export contains for it, if the bytes are not UTF-8 */
} absurd_text;

extern const absurd_text absurd_names[ABSURD_NAMES];

/* Builds a trace: goroutine 1 runs on proc 0 of thread 7. */
typedef struct builder builder;

typedef struct absurd {
    const char *name;
    void (*build)(builder *t);
} absurd;

extern const absurd absurds[]; /* ends with an entry without name */

/* Build a trace of v1 (1.21) or v2 (1.22); the caller frees it. */
blob absurd_trace(const absurd *what, bool v2);

/* Find an absurd trace by name. */
const absurd *absurd_named(const char *name);

#endif
