/*
 * ahead.h - checks the pieces of a trace on several threads.
 *
 * While the reading thread checks a piece, other threads check later ones, each with a reader of
 * its own that does not know the state before its piece (assume.h). When the reading thread arrives
 * at such a piece, it compares the assumptions with the actual state. If all hold, the check could
 * not have gone differently, and the reading thread takes over the state after the piece. If one
 * does not hold, or if the piece is inconsistent, the reading thread checks it again. So problems,
 * their order and all counts are those of one thread.
 *
 * Pieces are not in a queue, because the reading thread checks a piece itself if no other thread
 * has begun it.
 *
 * What a piece is, and its state, differ: see v1/ahead.h and v2/ahead.h. Only gotrace_reader_check
 * does this, because the events of a piece do not fit in memory. A new rule that depends on earlier
 * events needs an assumption.
 */
#ifndef GT_AHEAD_H
#define GT_AHEAD_H

#include "read/assume.h"
#include "read/handle.h"

typedef struct gt_ahead gt_ahead;

/* The check of a piece by another thread. */
typedef struct gt_job {
    enum { GT_JOB_FREE, GT_JOB_RUNS, GT_JOB_DONE, GT_JOB_DROPPED } state;
    size_t number;          /* of the piece */
    gotrace_reader *reader; /* NULL: it could not be created */
    gt_assumptions assumed;
    bool sound; /* the check came to its end without inconsistencies */
} gt_job;

typedef struct gt_ahead_way {
    size_t job_size; /* of a struct that begins with a gt_job */
    /* Copies from the reader what the check of piece job->number needs. False: the piece cannot be
     * checked ahead, nor can later ones until the reading thread has passed it. Only one thread
     * calls this at a time, while the reading thread works. */
    bool (*begin)(const gotrace_reader *reader, gt_job *job);
    /* Checks the piece, without the reader of the trace. */
    void (*check)(gt_ahead *ahead, gt_job *job);
    void (*close)(gt_job *job);
} gt_ahead_way;

/* Starts gotrace_config.threads - 1 threads, which check the pieces [first, end). NULL if memory is
 * refused. */
gt_ahead *gt_ahead_start(gotrace_reader *reader, const gt_ahead_way *way, size_t first, size_t end);

/* For `check`: opens job->reader, with a part of the memory, and initialises job->assumed. */
bool gt_ahead_open(gt_ahead *ahead, gt_job *job, gotrace_problem_fn on_problem);

/* The job for a piece once it is done, NULL if no thread has begun it; then none will. The calling
 * thread checks later pieces in the meantime. */
gt_job *gt_ahead_wait(gt_ahead *ahead, size_t number);

/* Call instead, if the piece has to be checked again anyway. */
void gt_ahead_drop(gt_ahead *ahead, size_t number);

/* Call for each piece that was checked ahead, with whether its check was taken over. False: every
 * fourth one has to be checked again, or the last four; then stop the threads, which cost more than
 * they save. This depends on the trace only, not on the time that checks take. */
bool gt_ahead_pays(gt_ahead *ahead, bool fitted);

/* Closes a job that is done. */
void gt_ahead_release(gt_ahead *ahead, gt_job *job);

/* Stops the threads. NULL is allowed. */
void gt_ahead_free(gt_ahead *ahead);

#endif
