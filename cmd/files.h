/*
 * files.h - do the same with each of several files, in several threads.
 *
 * Output and messages are those of doing one file after the other.
 */
#ifndef CMD_FILES_H
#define CMD_FILES_H

#include "cmd/verb.h"

typedef struct files_job {
    const char *const *files;
    size_t count;
    void *ctx;
    /* Does the n-th file, which may be done twice. s: the session, or (apart) one of this thread,
     * with its own output and options. What only one thread may use, such as a pattern, must then
     * be made again. Returns an exit status. */
    int (*run)(session *s, const struct files_job *job, size_t n, bool apart);
} files_job;

/* The output of the session is open. Returns the worst exit status. */
int files_run(session *s, const files_job *job);

/* The path without its folders. */
const char *files_base_name(const char *path);

#endif
