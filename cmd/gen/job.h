/* job.h - generate synthetic traces. */
#ifndef GEN_JOB_H
#define GEN_JOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gotrace.h"

/* Parameters of a synthetic trace. The same job produces the same bytes on every machine. */
typedef struct gen_job {
    uint64_t seed;
    int version;
    uint64_t events;            /* of the program; statuses and tables are added to these */
    uint64_t procs, goroutines; /* maximum number at a time */
    const char *profile;        /* workload, a gen_profile_name; NULL: the first */
    bool cover;                 /* include each event of the version at least once */
} gen_job;

enum { GEN_NEWEST = 26 }; /* version */
enum { GEN_MAX_PROCS = 1024, GEN_MIN_GOROUTINES = 16, GEN_MAX_GOROUTINES = 1000000 };

const char *gen_profile_name(size_t n); /* NULL after the last */

/* Writes the trace. Memory depends on procs and goroutines, not on events. */
gotrace_status gen_write(const gen_job *job, gotrace_write_fn write, void *ctx,
                         const gotrace_config *config, gotrace_error *error);

/* What was broken, and where. */
typedef struct gen_planted {
    int version;
    uint64_t offset;  /* in the trace */
    const char *what; /* static string */
} gen_planted;

/* The same, with one rule broken in one place. If job.version is 0, the first version in which the
 * rule can be broken. The sound trace is buffered in a temporary file. */
gotrace_status gen_write_defect(const gen_job *job, gotrace_rule rule, gotrace_write_fn write,
                                void *ctx, const gotrace_config *config, gen_planted *planted,
                                gotrace_error *error);
/* The ids of the rules that can be broken; NULL after the last. */
const char *gen_defect_name(size_t n);

#endif
