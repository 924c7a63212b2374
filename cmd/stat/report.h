/* report.h - statistics as tables for people and as JSON Lines. */
#ifndef CMD_STAT_REPORT_H
#define CMD_STAT_REPORT_H

#include "formats/analyse/figure_rows.h"
#include "formats/common/out.h"

/* The sections of the report, with their names in options. */
#define REPORT_SECTIONS(X)                                                                         \
    X(OVERVIEW, overview)                                                                          \
    X(GOROUTINES, goroutines)                                                                      \
    X(SCHEDULING, scheduling)                                                                      \
    X(BLOCKING, blocking)                                                                          \
    X(SYSCALLS, syscalls)                                                                          \
    X(NETWORK, network)                                                                            \
    X(GC, gc)                                                                                      \
    X(STOPS, stops)                                                                                \
    X(TASKS, tasks)                                                                                \
    X(REGIONS, regions)                                                                            \
    X(SAMPLES, samples)

enum {
#define REPORT_NUMBER(name, text) REPORT_##name,
    REPORT_SECTIONS(REPORT_NUMBER) REPORT_COUNT
#undef REPORT_NUMBER
};

/* NULL after the last. */
const char *report_section(size_t n);

typedef struct report {
    out *out;
    const statistics *s;
    unsigned sections;    /* 1 << REPORT_* */
    bool whole;           /* of all goroutines: what procs do is shown */
    uint64_t top;         /* rows of a table; 0: all */
    uint64_t stacks;      /* the same of a table of stacks */
    function_order order; /* of functions */
    bool by_file;         /* it is of one of the files: each table and object says of which */
    bool failed;          /* memory was refused */
} report;

/* Whether there is anything to show in the section. */
bool report_has(const report *r, unsigned section);

void report_text(report *r);
/* What matters most of each section, on one screen. */
void report_brief(report *r);
void report_json(report *r);

#endif
