/* printer.h - print ordered events for people and programs. */
#ifndef PRINTER_H
#define PRINTER_H

#include "formats/analyse/selection.h"
#include "formats/common/out.h"

/* What a printer needs to know apart from the event. */
typedef struct print_source {
    int version;                /* of the trace */
    const gotrace_raw *raw;     /* of the event */
    const gotrace_block *block; /* has the event's stacks; NULL: the reader has them */
    const gotrace_reader *reader;
    bool frames; /* print all frames of stacks, see printer.frames */
} print_source;

typedef struct printer {
    const char *name; /* "text", "go", "jsonl" */
    const char *summary;
    bool frames; /* it can print all frames of stacks */
    void (*event)(out *o, const print_source *from, const gotrace_event *event);
} printer;

extern const printer *const printers[]; /* ends with NULL */
const printer *printer_by_name(const char *name);

typedef struct print_job {
    const printer *how;
    gotrace_reader *reader;
    size_t threads;
    bool frames;                /* print all frames of stacks */
    select_job *select;         /* which events; NULL: all */
    const struct places *where; /* only those in these moments; NULL: all */
    out *out;
} print_job;

/* Prints the selected events of the reader until its end, an error, or until the output fails.
 * Returns the last status of the reader, or GOTRACE_EVENT if the output or the selection failed.
 * The output does not depend on the number of threads. */
gotrace_status print_all(const print_job *job);

#endif
