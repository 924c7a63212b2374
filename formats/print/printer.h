/* printer.h - print ordered events for people and programs. */
#ifndef PRINTER_H
#define PRINTER_H

#include "formats/common/out.h"

typedef struct printer {
    const char *name; /* "text", "go", "jsonl" */
    const char *summary;
    void (*event)(out *o, gotrace_reader *reader, const gotrace_event *event);
} printer;

extern const printer *const printers[]; /* ends with NULL */
const printer *printer_by_name(const char *name);

#endif
