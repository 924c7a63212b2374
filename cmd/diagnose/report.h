/* report.h - write a diagnosis, as text and as JSON. */
#ifndef CMD_DIAGNOSE_REPORT_H
#define CMD_DIAGNOSE_REPORT_H

#include <string.h>

#include "formats/diagnose/describe.h"

typedef struct diagnose_report {
    out *out;
    const char *file;
    const stacks *names;
    const diagnosis *d;
    bool all; /* also the causes that are not reported */
} diagnose_report;

/* False: memory was refused. */
bool diagnose_text(const diagnose_report *r);
bool diagnose_json(const diagnose_report *r);

/* The command that shows more of it, see describe_command. */
static inline char *diagnose_command(const diagnose_report *r, const finding *f, bool *failed)
{
    /* Standard input has a name that is no file's. */
    const char *file = strcmp(r->file, "<stdin>") == 0 ? "-" : r->file;
    return describe_command(r->d, r->names, f, file, failed);
}

#endif
