/* findings.h - the problems of a file: collect, count and report them. */
#ifndef FINDINGS_H
#define FINDINGS_H

#include "formats/common/out.h"

/* The problems of one file, and how to report them. */
typedef struct findings {
    const char *file;
    const char *cut; /* the file, if its compressed data is truncated or damaged */
    out *json;       /* destination of problems as JSON Lines; NULL: standard error */
    bool kept_only;  /* json is the output file, which is discarded if the work fails */
    uint64_t limit;  /* at most this many of each severity are reported; 0: all */
    bool explain;    /* print for each rule, once, what it requires */
    bool verbose;
    uint64_t errors, warnings, notes; /* found, reported or not */
    uint64_t by_class[8];             /* errors by class */
    bool explained[GOTRACE_RULE_LIMIT];
    bool recovered;      /* the trace was recovered; the verdict is on the damaged file */
    gotrace_error last;  /* the last problem */
    gotrace_error fatal; /* the first problem that ended reading, if rule is not NONE */
} findings;

/* Count and report a problem. If it is equal to the last one it is ignored: the last error of a
 * handle may have been reported as a problem already. */
void findings_add(findings *f, const gotrace_error *problem);

/* Report how many problems were not reported. */
void findings_end(const findings *f);

/* Returns the exit status for the findings. */
int findings_status(const findings *f);

/* Returns the verdict, one to three words. */
const char *findings_verdict(const findings *f);

#endif
