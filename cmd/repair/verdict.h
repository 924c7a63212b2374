/* verdict.h - what the reader thinks of a trace in memory. */
#ifndef VERDICT_H
#define VERDICT_H

#include "formats/formats.h"

typedef struct verdict {
    bool sound;                          /* no problem was found; there may be warnings */
    uint64_t events;                     /* in the trace */
    uint64_t given;                      /* that came to be told, and ends of generations */
    gotrace_error first;                 /* the first problem */
    uint32_t counts[GOTRACE_RULE_COUNT]; /* how often each rule was reported, warnings too */
} verdict;

/* Read the whole trace, within the config's limits. False only where the system or a limit says no,
 * which is then the error. each, if there is one, is told every problem. */
typedef void (*verdict_problem_fn)(void *ctx, const gotrace_error *problem);
bool verdict_each(const void *bytes, size_t size, const gotrace_config *config,
                  verdict_problem_fn each, void *ctx, verdict *v, gotrace_error *error);
bool verdict_of(const void *bytes, size_t size, const gotrace_config *config, verdict *v,
                gotrace_error *error);

#endif
