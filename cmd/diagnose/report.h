/* report.h - write a diagnosis, as text and as JSON. */
#ifndef CMD_DIAGNOSE_REPORT_H
#define CMD_DIAGNOSE_REPORT_H

#include "formats/common/out.h"
#include "formats/diagnose/diagnosis.h"

typedef struct diagnose_report {
    out *out;
    const char *file;
    const measures *m;
    const diagnosis *d;
    bool all; /* also the causes that are not reported */
} diagnose_report;

/* False: memory was refused. */
bool diagnose_text(const diagnose_report *r);
bool diagnose_json(const diagnose_report *r);

/* What the holder of a lock does meanwhile, or what is waited for: "network", ... */
const char *diagnose_activity(uint8_t kind);

/* The command that shows more of it, to be freed; *failed: memory was refused. NULL: there is
 * none. */
char *diagnose_command(const diagnose_report *r, const finding *f, bool *failed);

#endif
