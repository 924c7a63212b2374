/* losses.h - report what was lost in a damaged trace. */
#ifndef LOSSES_H
#define LOSSES_H

#include "cmd/repair/repair.h"

typedef struct losses {
    const char *file;         /* for messages */
    out *json;                /* destination of findings as JSON Lines; NULL: standard error */
    const char *type, *total; /* value of "type" of the findings and of the totals; NULL: none */
    uint64_t limit;           /* at most this many of each kind are printed as text; 0: all */
    uint64_t found[REPAIR_KIND_COUNT];
} losses;

void losses_report(losses *l, const repair_finding *finding);

/* Report how many findings were not printed, or, in JSON, the totals. */
void losses_end(const losses *l, const repair_totals *totals);

#endif
