/*
 * jobs.h - the questions that need the events again, not only the index: searches, statistics and
 * flame graphs of a range of time.
 *
 * Such a question is answered at once with how far its job is, and, when it is asked again later,
 * with the result. One job at a time reads a trace, with what `find`, `stat` and `convert` read it
 * with. The others wait in line; a question that differs from the one that the same page asked
 * before takes its place. The last results are kept.
 */
#ifndef VIEW_JOBS_H
#define VIEW_JOBS_H

#include "formats/view/api/api.h"

typedef struct view_jobs view_jobs;

/* Returns NULL if memory is refused. Free it after those whose questions it answers. */
view_jobs *view_jobs_new(void);
void view_jobs_free(view_jobs *j);

/* From now on questions about that trace can be answered: its index and its diagnosis are made.
 * config: the limits of a reader. Jobs and source are borrowed, until view_jobs_do is not called
 * any more. threads: more than 1 reads in a thread. */
void view_api_set_jobs(view_api *a, view_jobs *j, gotrace_source *source,
                       const gotrace_config *config, size_t threads);

/* Does the next job; wait: until there is one. One thread at a time may call it. Returns false if
 * there is none, or after view_jobs_stop. */
bool view_jobs_do(view_jobs *j, bool wait);

/* Ends the current job and all others. */
void view_jobs_stop(view_jobs *j);

#endif
