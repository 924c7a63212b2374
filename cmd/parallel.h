/*
 * parallel.h - independent pieces of work in several threads, with the output of doing one after
 * the other.
 *
 * What a piece writes and reports is kept in temporary files until it is its turn. A piece that
 * fails with EXIT_SYSTEM is done again while no other one runs: memory that others took may have
 * been the reason, and must not change the result. Therefore, and because any number of threads
 * take pieces, this is not a ring (formats/common/ring.h).
 */
#ifndef CMD_PARALLEL_H
#define CMD_PARALLEL_H

#include "cmd/verb.h"

typedef struct parallel_job {
    void *ctx;
    size_t count, threads;
    /* Does the n-th piece, which may be done twice. fd: a file to write to; NULL: the output of the
     * session. Returns an exit status. */
    int (*run)(void *ctx, size_t n, int *fd);
    out *output;
} parallel_job;

/* Returns the worst exit status. */
int parallel_run(const parallel_job *job);

#endif
