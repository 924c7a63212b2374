/*
 * job.h - one question that needs the events again: see jobs.h.
 */
#ifndef VIEW_JOB_H
#define VIEW_JOB_H

#include "formats/analyse/profile.h"
#include "formats/view/api/answer.h"

enum { WHERE_MOST = 4000 /* bytes of an expression */ };

typedef struct job job;

/* Reads the trace, and writes the result: JSON. */
typedef void job_run(job *j);

typedef struct job_question {
    job_run *run;
    view_api *of;
    uint64_t by;       /* the page that asks, a number that it has chosen */
    selection what;    /* nothing, or the times */
    uint64_t most;     /* of a list */
    profile_kind kind; /* of a flame graph */
    char where[WHERE_MOST + 1];
} job_question;

struct job {
    const job_question *asked;
    gotrace_reader *reader;
    select_job select;
    size_t threads;
    out *out;
    char wrong[ARGUMENT_MESSAGE]; /* why the question cannot be answered, if it is not empty */
    bool failed;                  /* memory was refused, or a temporary file cannot be used */
};

/* Reads the arguments from, until and by. */
void job_read_times(answer *q, job_question *asked);

/* The result, if there is one; else the question waits for it. The arguments are read. */
void job_answer(answer *q, const job_question *asked);

/* What `select` is for functions for which NULL means everything. */
static inline const select_range *job_range(const job *j)
{
    return j->select.what ? &j->select.range : NULL;
}

#endif
