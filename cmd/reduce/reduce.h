/*
 * reduce.h - find a small trace for which a test still holds.
 *
 *   trial.c    the test: run a command on a trace, and compare how it ends
 *   cutting.c  sound traces: leave out time and goroutines, by cut, which keeps a trace sound
 *   reduce.c   delta debugging over the pieces of the file (mutate.h): leave out generations,
 * batches and records, first many at once, then fewer; then shorten strings and stacks, and make
 *              numbers smaller
 *
 * These steps are repeated until none of them helps. A candidate is at most as large as the best
 * one so far, and is sound if that is required; so work ends, and can end at any time.
 */
#ifndef REDUCE_H
#define REDUCE_H

#include "cmd/mutate/mutate.h"

typedef struct reduce_job {
    const void *bytes; /* of the trace, for which the test holds */
    size_t size;
    const gotrace_config *config;
    bool sound; /* candidates that are not sound are left out */
    /* Whether the test holds for a trace; false also if work has to end. */
    bool (*holds)(void *ctx, const void *bytes, size_t size);
    /* Whether work has to end. */
    bool (*stops)(void *ctx);
    /* A step begins, with the size of the best trace; or NULL. */
    void (*step)(void *ctx, const char *name, size_t size);
    void *ctx;
} reduce_job;

typedef struct reduce_result {
    uint8_t *bytes; /* to be freed */
    size_t size;
    uint64_t tests;
} reduce_result;

/* Returns GOTRACE_ERROR on a system error or an exceeded limit. */
gotrace_status reduce_trace(const reduce_job *job, reduce_result *result, gotrace_error *error);

/* ---- trial.c --------------------------------------------------------------------------------- */

enum { TRIAL_TIMEOUT = 124 }; /* status of a command that was ended, as of timeout(1) */

typedef struct trial {
    char *script;         /* for the shell: the command with $1, the path */
    int64_t milliseconds; /* limit of one run */
    char *folder, *path;
    int status; /* of the last run: exit status, 128 + signal, or TRIAL_TIMEOUT */
    char *text; /* its standard error, up to TRIAL_TEXT bytes */
    size_t text_size;
} trial;

enum { TRIAL_TEXT = 64 << 10 };

/* Make a folder for the trace. From now on SIGINT, SIGTERM and SIGHUP only end the current run.
 * False after a diagnostic. */
bool trial_open(trial *t, const char *command, int64_t ns);
/* Run the command on a trace: false if it could not be run, after a diagnostic, or on a signal. */
bool trial_run(trial *t, const void *bytes, size_t size);
/* Whether a signal arrived: its number, or 0. */
int trial_signal(void);
void trial_close(trial *t);

/* ---- shared by the parts of reduce ----------------------------------------------------------- */

typedef struct reduce {
    const reduce_job *job;
    reduce_result *best;
    gotrace_error *error;
    bool failed; /* error is set */
} reduce;

/* Take the candidate if the test holds for it. */
bool reduce_try(reduce *r, const void *bytes, size_t size);
bool reduce_stops(const reduce *r);

/* Leave out time and goroutines of a sound trace. */
void reduce_cut_time(reduce *r);
void reduce_cut_goroutines(reduce *r);

#endif
