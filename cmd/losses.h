/* losses.h - what was lost of a damaged trace, and how that is told. */
#ifndef LOSSES_H
#define LOSSES_H

#include "cmd/repair/repair.h"

typedef struct losses {
    const char *file;         /* for messages */
    out *json;                /* findings go here as JSON Lines; NULL: to standard error */
    const char *type, *total; /* which JSON objects these are; NULL: they do not say */
    uint64_t limit;           /* at most so many of a kind are told to people; 0: all */
    uint64_t found[REPAIR_KIND_COUNT];
} losses;

void losses_tell(losses *l, const repair_finding *finding);

/* The end: how many were not told, and in JSON the totals. */
void losses_end(const losses *l, const repair_totals *totals);

#endif
