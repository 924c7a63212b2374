/* jobs.c - see jobs.h and job.h. */
#include "formats/view/api/jobs.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "formats/view/api/job.h"

enum {
    WAITING_MOST = 8,
    RESULTS_KEPT = 8,
    RESULT_BYTES = 2 * ANSWER_MOST, /* of all that are kept */
};

typedef struct job_result {
    job_question asked;
    reply_bytes bytes;
    char wrong[ARGUMENT_MESSAGE];
    bool failed;
} job_result;

struct view_jobs {
    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t added;
    job_question *waiting[WAITING_MOST]; /* the next one first */
    size_t waiting_count;
    job_question *current; /* NULL: none */
    double read;           /* by it, 0 to 1 */
    _Atomic bool ends;     /* it is not wanted any more */
    bool stopped;
    job_result *kept[RESULTS_KEPT]; /* the last one first */
    size_t kept_count;
};

view_jobs *view_jobs_new(void)
{
    view_jobs *j = calloc(1, sizeof *j);
    if (!j)
        return NULL;
    pthread_mutex_init(&j->lock, NULL);
    pthread_cond_init(&j->added, NULL);
    return j;
}

static void result_free(job_result *r)
{
    free(r->bytes.bytes.bytes);
    free(r);
}

void view_jobs_free(view_jobs *j)
{
    if (!j)
        return;
    for (size_t n = 0; n < j->waiting_count; n++)
        free(j->waiting[n]);
    for (size_t n = 0; n < j->kept_count; n++)
        result_free(j->kept[n]);
    pthread_cond_destroy(&j->added);
    pthread_mutex_destroy(&j->lock);
    free(j);
}

void view_api_set_jobs(view_api *a, view_jobs *j, gotrace_source *source,
                       const gotrace_config *config, size_t threads)
{
    pthread_mutex_lock(&a->lock);
    a->jobs = j;
    a->source = source;
    a->config = *config;
    a->threads = threads;
    pthread_mutex_unlock(&a->lock);
}

static bool is_same(const job_question *a, const job_question *b)
{
    return a->run == b->run && a->of == b->of && a->what.given == b->what.given &&
           a->what.from.ns == b->what.from.ns && a->what.until.ns == b->what.until.ns &&
           a->most == b->most && a->kind == b->kind && strcmp(a->where, b->where) == 0;
}

/* ---- asking -----------------------------------------------------------------------------------
 */

void job_read_times(answer *q, job_question *asked)
{
    arguments *a = &q->arguments;
    selection *what = &asked->what;
    const int64_t least = what->from.ns = INT64_MIN, most = what->until.ns = INT64_MAX;
    arguments_time(a, "from", &what->from.ns);
    arguments_time(a, "until", &what->until.ns);
    arguments_number(a, "by", 0, UINT64_MAX, &asked->by);
    if (what->until.ns <= what->from.ns)
        arguments_reject(a, "until", "a time after `from`, which is %" PRId64, what->from.ns);
    what->given = (what->from.ns > least ? SELECT_BIT(SELECT_FROM) : 0) |
                  (what->until.ns < most ? SELECT_BIT(SELECT_UNTIL) : 0);
    asked->of = q->api;
}

/* Whether a page asks the second question instead of the first. */
static bool is_instead(const job_question *a, const job_question *b)
{
    return a->by == b->by && a->of == b->of;
}

/* Lets the question wait for its turn, once. If there is no room, it has to be asked again. Returns
 * false if memory is refused. */
static bool add_question(view_jobs *j, const job_question *asked)
{
    size_t at = 0;
    if (j->current && !j->ends && is_same(j->current, asked))
        return true;
    if (j->current && is_instead(j->current, asked))
        j->ends = true;
    for (; at < j->waiting_count && !is_instead(j->waiting[at], asked); at++)
        if (is_same(j->waiting[at], asked))
            return true;
    if (at == WAITING_MOST)
        return true;
    if (at == j->waiting_count) {
        j->waiting[at] = malloc(sizeof *asked);
        if (!j->waiting[at])
            return false;
        j->waiting_count++;
    }
    *j->waiting[at] = *asked;
    pthread_cond_signal(&j->added);
    return true;
}

/* Moves the result of the question to the front; NULL: there is none. */
static job_result *find_result(view_jobs *j, const job_question *asked)
{
    for (size_t n = 0; n < j->kept_count; n++) {
        job_result *r = j->kept[n];
        if (!is_same(&r->asked, asked))
            continue;
        memmove(j->kept + 1, j->kept, n * sizeof *j->kept);
        j->kept[0] = r;
        return r;
    }
    return NULL;
}

static void give_result(answer *q, view_jobs *j, job_result *r)
{
    if (r->failed) {
        /* The question may be asked again. */
        q->failed = true;
        memmove(j->kept, j->kept + 1, --j->kept_count * sizeof *j->kept);
        result_free(r);
    } else if (r->wrong[0]) {
        q->status = 400;
        memcpy(q->arguments.message, r->wrong, sizeof r->wrong);
    } else {
        out_bytes(q->out, r->bytes.bytes.bytes, r->bytes.bytes.size);
    }
}

void job_answer(answer *q, const job_question *asked)
{
    view_api *a = q->api;
    double read = 0;
    pthread_mutex_lock(&a->lock);
    view_jobs *j = a->jobs;
    pthread_mutex_unlock(&a->lock);
    if (j) {
        pthread_mutex_lock(&j->lock);
        job_result *r = find_result(j, asked);
        if (r)
            give_result(q, j, r);
        else
            q->failed |= !add_question(j, asked);
        read = j->current && is_same(j->current, asked) ? j->read : 0;
        pthread_mutex_unlock(&j->lock);
        if (r)
            return;
    }
    out_printf(q->out, "{\"ready\":false,\"read\":%.4f}", read);
}

/* ---- doing ------------------------------------------------------------------------------------
 */

static void on_progress(void *ctx, uint64_t done, uint64_t total)
{
    view_jobs *j = ctx;
    pthread_mutex_lock(&j->lock);
    j->read = total && done < total ? (double)done / (double)total : total > 0;
    pthread_mutex_unlock(&j->lock);
}

/* What the reader cannot read is in the problems of the trace, except what the system refused. */
static bool was_refused(const gotrace_error *error)
{
    return error->class_ == GOTRACE_CLASS_SYSTEM && error->rule != GOTRACE_RULE_SYSTEM_LIMIT;
}

static void run_question(view_jobs *j, job *w)
{
    const job_question *asked = w->asked;
    gotrace_config config = asked->of->config;
    gotrace_error error = GOTRACE_INIT(gotrace_error);
    config.on_problem = NULL;
    config.on_progress = on_progress;
    config.callback_ctx = j;
    w->threads = asked->of->threads;
    w->select = (select_job){.what = asked->what.given ? &asked->what : NULL,
                             .range = {asked->what.from.ns, asked->what.until.ns},
                             .stop = &j->ends};
    if (gotrace_reader_open(asked->of->source, &config, &w->reader, &error) < 0) {
        w->failed = true;
        return;
    }
    asked->run(w);
    w->failed |= w->select.failed || was_refused(gotrace_reader_error(w->reader));
    gotrace_reader_close(w->reader);
}

static void make_result(view_jobs *j, job_result *r)
{
    out o;
    job w = {.asked = &r->asked, .out = &o};
    if (out_init(&o, reply_keep, &r->bytes)) {
        run_question(j, &w);
        out_flush(&o);
    }
    r->failed = w.failed || (o.failed && !r->bytes.too_many);
    memcpy(r->wrong, w.wrong, sizeof w.wrong);
    if (r->bytes.too_many)
        snprintf(r->wrong, sizeof r->wrong, "%s", ANSWER_TOO_LARGE);
    out_free(&o);
}

static void drop_results(view_jobs *j)
{
    size_t bytes = 0;
    for (size_t n = 0; n < j->kept_count; n++) {
        bytes += j->kept[n]->bytes.bytes.size;
        if (n < RESULTS_KEPT - 1 && bytes <= RESULT_BYTES)
            continue;
        while (j->kept_count > n)
            result_free(j->kept[--j->kept_count]);
    }
}

static void keep_result(view_jobs *j, job_result *r)
{
    drop_results(j);
    memmove(j->kept + 1, j->kept, j->kept_count * sizeof *j->kept);
    j->kept[0] = r;
    j->kept_count++;
}

/* The first one that waits; NULL: none. */
static job_question *take_question(view_jobs *j)
{
    if (j->stopped || j->waiting_count == 0)
        return NULL;
    job_question *taken = j->waiting[0];
    memmove(j->waiting, j->waiting + 1, --j->waiting_count * sizeof *j->waiting);
    return taken;
}

bool view_jobs_do(view_jobs *j, bool wait)
{
    pthread_mutex_lock(&j->lock);
    while (wait && !j->stopped && j->waiting_count == 0)
        pthread_cond_wait(&j->added, &j->lock);
    job_question *asked = take_question(j);
    j->current = asked;
    j->read = 0;
    j->ends = false;
    pthread_mutex_unlock(&j->lock);
    if (!asked)
        return false;
    job_result *r = calloc(1, sizeof *r);
    if (r) {
        r->asked = *asked;
        make_result(j, r);
    }
    pthread_mutex_lock(&j->lock);
    if (r && !j->ends)
        keep_result(j, r);
    else if (r)
        result_free(r);
    j->current = NULL;
    pthread_mutex_unlock(&j->lock);
    free(asked);
    return true;
}

void view_jobs_stop(view_jobs *j)
{
    pthread_mutex_lock(&j->lock);
    j->stopped = true;
    j->ends = true;
    pthread_cond_signal(&j->added);
    pthread_mutex_unlock(&j->lock);
}
