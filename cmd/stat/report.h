/* report.h - statistics as tables for people and as JSON Lines. */
#ifndef CMD_STAT_REPORT_H
#define CMD_STAT_REPORT_H

#include "formats/analyse/statistics.h"
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
    unsigned sections; /* 1 << REPORT_* */
    bool whole;        /* of all goroutines: what procs do is shown */
    uint64_t top;      /* rows of a table; 0: all */
    bool failed;       /* memory was refused */
} report;

void report_text(report *r);
void report_json(report *r);

/* ---- rows, in the order in which they are shown; to be freed, NULL if there are none ----------
 */

function_figure **report_functions(report *r);
/* Those of a state and, if name is not 0, of a reason. *count: their number. */
stack_figure **report_stacks(report *r, uint8_t state, uint32_t reason, size_t *count);
reason_figure **report_reasons(report *r, uint8_t state, size_t *count);
span_figure **report_spans(report *r, const figures *f);
stop_figure **report_stops(report *r);

typedef struct sampled {
    uint32_t function;
    uint64_t self, total; /* samples in the function; samples in it and what it calls */
} sampled;

sampled *report_sampled(report *r, size_t *count);

/* The reason "network"; 0 if it does not occur. */
uint32_t report_network(const report *r);

#endif
