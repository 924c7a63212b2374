/* verdict.h - the reader's verdict on a trace. */
#ifndef VERDICT_H
#define VERDICT_H

#include "formats/common/out.h"
#include "gotrace_experimental.h"

typedef struct verdict {
    bool sound;                          /* no error; warnings are possible */
    uint64_t events, timed_records;      /* as in gotrace_summary */
    gotrace_error first;                 /* first error */
    uint32_t counts[GOTRACE_RULE_LIMIT]; /* number of reports per rule, including warnings */
} verdict;

typedef void (*verdict_problem_fn)(void *ctx, const gotrace_error *problem);

typedef struct verdict_listener {
    verdict *v;
    verdict_problem_fn each; /* called with every problem; or NULL */
    void *ctx;
} verdict_listener;

/* Returns a config with the limits of `user`, or the defaults, with which a reader fills l->v,
 * except events and timed_records. The listener is borrowed. */
gotrace_config verdict_config(const gotrace_config *user, verdict_listener *l);

/* Read the whole trace within the config's limits; call `each`, if not NULL, with every problem.
 * False only on a system error or an exceeded limit, which error then describes. */
bool verdict_each(gotrace_source *source, const gotrace_config *config, verdict_problem_fn each,
                  void *ctx, verdict *v, gotrace_error *error);
/* The same for a trace in memory. */
bool verdict_of(const void *bytes, size_t size, const gotrace_config *config, verdict *v,
                gotrace_error *error);

#endif
