#include "cmd/files.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cmd/memory.h"
#include "cmd/parallel.h"
#include "formats/common/spool.h"

typedef struct run {
    session *session;
    session apart; /* the same without an output; threads read it */
    const files_job *job;
    size_t threads; /* for one file */
} run;

/* Does a file in a session of its own, whose output is a temporary file. */
static int do_apart(const run *all, size_t n, int *fd)
{
    session own = all->apart;
    settings *set = malloc(own.verb->options_size);
    if (!set || !out_init(&own.output.out, spool_write_file, fd)) {
        free(set);
        memory_report_refused();
        return EXIT_SYSTEM;
    }
    memcpy(set, own.set, own.verb->options_size);
    set->threads = all->threads;
    own.set = set;
    own.report = all->session->report ? &own.output.out : NULL;
    int status = all->job->run(&own, all->job, n, true);
    if (!out_flush(&own.output.out))
        status = EXIT_SYSTEM;
    out_free(&own.output.out);
    free(set);
    return status;
}

static int do_nth(void *ctx, size_t n, int *fd)
{
    const run *all = ctx;
    return fd ? do_apart(all, n, fd) : all->job->run(all->session, all->job, n, false);
}

/* Whether the files can be read twice. */
static bool are_regular(const files_job *job)
{
    struct stat found;
    for (size_t n = 0; n < job->count; n++)
        if (strcmp(job->files[n], "-") == 0 ||
            (stat(job->files[n], &found) == 0 && !S_ISREG(found.st_mode)))
            return false;
    return true;
}

int files_run(session *s, const files_job *job)
{
    size_t threads = are_regular(job) ? (size_t)s->set->threads : 1;
    run all = {.session = s,
               .apart = *s,
               .job = job,
               .threads = threads / job->count > 1 ? threads / job->count : 1};
    all.apart.output = (output){0};
    return parallel_run(&(parallel_job){.ctx = &all,
                                        .count = job->count,
                                        .threads = threads,
                                        .run = do_nth,
                                        .output = &s->output.out});
}

const char *files_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}
