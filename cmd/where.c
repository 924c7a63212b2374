#include "cmd/where.h"

#include <stdlib.h>
#include <string.h>

#include "cmd/diag.h"
#include "cmd/memory.h"
#include "cmd/options.h"

int where_open(expression *x, const char *text, const char *where)
{
    expression_error error;
    if (expression_parse(x, text, &error))
        return EXIT_SOUND;
    if (!error.message[0]) {
        memory_report_refused();
        return EXIT_SYSTEM;
    }
    const char *near = error.word[0] ? nearest(error.word, expression_word) : NULL;
    diag_error("%scolumn %zu: %s%s%s%s", where, expression_column(text, error.at), error.message,
               near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
    if (text[0])
        diag_excerpt(text, error.at);
    return EXIT_USAGE;
}

/* ---- names -------------------------------------------------------------------------------------
 */

/* What messages say of the kinds that have names. */
static const char *kind_of(moment_kind kind)
{
    switch (kind) {
    case MOMENT_WAIT: return "wait has the reason";
    case MOMENT_STW: return "stop of the world has the reason";
    case MOMENT_TASK: return "task has the name";
    case MOMENT_REGION: return "region has the name";
    case MOMENT_RUN:
    case MOMENT_SCHED:
    case MOMENT_SYSCALL:
    case MOMENT_GC:
    case MOMENT_SILENCE:
    case MOMENT_LOG:
    case MOMENT_GOROUTINES:
    case MOMENT_HEAP:
    case MOMENT_KIND_COUNT: break; /* these have none */
    }
    return "moment has the name";
}

bool where_names_init(where_names *w, const expression *x)
{
    *w = (where_names){.lock = PTHREAD_MUTEX_INITIALIZER};
    w->names = calloc(x->term_count + 1, sizeof *w->names);
    for (size_t i = 0; w->names && i < x->term_count; i++)
        if (x->terms[i].text)
            w->names[w->count++] = (struct where_name){.name.text = x->terms[i].text,
                                                       .kind = x->terms[i].kind};
    return w->names;
}

void where_names_free(where_names *w)
{
    free(w->names);
}

void where_named(void *ctx, const stacks *names, moment_kind kind, uint32_t name)
{
    where_names *w = ctx;
    size_t size;
    const char *text = stacks_text(names, name, &size);
    pthread_mutex_lock(&w->lock);
    for (size_t i = 0; i < w->count; i++)
        if (w->names[i].kind == kind)
            asked_add(&w->names[i].name, text, size);
    pthread_mutex_unlock(&w->lock);
}

void where_names_end(where_names *w, const find_job *job)
{
    pthread_mutex_lock(&w->lock);
    w->stopped = w->stopped || job->stopped;
    pthread_mutex_unlock(&w->lock);
}

void where_names_report(where_names *w)
{
    for (size_t i = 0; i < w->count && !w->stopped; i++) {
        w->names[i].name.kind = kind_of(w->names[i].kind);
        asked_report(&w->names[i].name);
    }
}

int where_find(places *found, find_job *job, input *in)
{
    gotrace_reader *reader = input_read_again(in);
    if (!reader)
        return EXIT_SYSTEM;
    places_find(found, job, reader);
    bool read = input_end_again(in, reader);
    int status = where_finish(job, "--where: ");
    return status == EXIT_SOUND && !read ? EXIT_SYSTEM : status;
}

int where_finish(const find_job *job, const char *where)
{
    if (job->too_hard) {
        diag_error("%scolumn %zu: matching the regular expression with '%s' takes too many steps "
                   "or too much memory; use a simpler one",
                   where, expression_column(job->what->text, job->hard_at), job->text);
        return EXIT_USAGE;
    }
    if (job->failed) {
        memory_report_refused();
        return EXIT_SYSTEM;
    }
    if (job->error) {
        diag_error("cannot store moments in a temporary file: %s", strerror(job->error));
        return EXIT_SYSTEM;
    }
    return EXIT_SOUND;
}
