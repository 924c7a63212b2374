/*
 * view.c - show traces in the browser.
 *
 * The main thread waits for a signal, the threads of the server answer, and another one reads the
 * traces: first for the indexes, which are to be complete as early as possible, and then again for
 * the diagnoses. Both in one pass would need less time in all, but the page would wait for it.
 * Then it reads a trace for each question that needs the events again (jobs.h).
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/diag.h"
#include "cmd/diff/report.h"
#include "cmd/diff/runs.h"
#include "cmd/input.h"
#include "cmd/memory.h"
#include "cmd/progress.h"
#include "cmd/recovery.h"
#include "cmd/sandbox.h"
#include "cmd/view/browser.h"
#include "cmd/view/server.h"
#include "core/thread.h"
#include "formats/diagnose/measure.h"
#include "formats/view/api/jobs.h"

typedef struct view_options {
    settings common;
    uint64_t port;
    bool open, diff, no_recover;
} view_options;

enum { MOST_DIFFERENCES = 1000 };

typedef struct viewing viewing;

/* A trace that is shown. */
typedef struct shown {
    viewing *all;
    const char *path, *name; /* in messages */
    view *index;
    view_api *api;
    input in;
    bool opened, indexed;
    char version[16];
    time_gap *gaps;
    measures *measures; /* that the diagnosis refers to */
    diagnosis diagnosis;
} shown;

struct viewing {
    session *session;
    server *server;
    shown *traces;
    size_t count;
    view_api *apis[SERVER_TRACES];
    view_api *several;      /* of all traces; NULL: there is one */
    diff_table differences; /* of two */
    view_jobs *jobs;
    shown *_Atomic reading; /* what the progress and the messages are of */
    pthread_t main, reader;
    _Atomic int status;    /* the exit status, by what was found so far */
    _Atomic bool finished; /* the traces were read, or cannot be */
};

static const view_options *options_of(const viewing *v)
{
    return (const view_options *)v->session->set;
}

static size_t threads_of(const viewing *v)
{
    return (size_t)v->session->set->threads;
}

static void raise_status(viewing *v, int status)
{
    int before = v->status;
    while (status > before && !atomic_compare_exchange_weak(&v->status, &before, status))
        ;
}

/* ---- reading ----------------------------------------------------------------------------------
 */

/* The page shows the problems of the trace, without its name. */
static void on_diagnostic(void *ctx, const char *place, gotrace_severity severity, const char *line)
{
    viewing *v = ctx;
    const shown *t = v->reading;
    const size_t size = strlen(t->name);
    char text[4096];
    if (strncmp(place, t->name, size) != 0 || (place[size] && place[size] != ':'))
        return;
    if (severity >= GOTRACE_PROBLEM)
        raise_status(v, EXIT_DAMAGED);
    place += size + (place[size] == ':');
    snprintf(text, sizeof text, "%s%s%s", place, *place ? ": " : "", line);
    view_api_add_problem(t->api, text);
}

static void on_progress(void *ctx, uint64_t done, uint64_t total)
{
    const shown *t = ((viewing *)ctx)->reading;
    view_api_set_read(t->api, done, total);
}

/* Returns an exit status, apart from the findings. */
static int build_index(shown *t)
{
    input *in = &t->in;
    int error = 0;
    snprintf(t->version, sizeof t->version, "1.%d", gotrace_reader_summary(in->reader)->version);
    view_api_set_version(t->api, t->version);
    if (view_build(t->index, in->reader, threads_of(t->all)) == GOTRACE_ERROR)
        findings_add(&in->found, gotrace_reader_error(in->reader));
    view_lock(t->index);
    bool failed = view_failed(t->index, &error);
    const view_progress read = view_progress_of(t->index);
    view_unlock(t->index);
    if (!failed && in->gap_count > 0) {
        size_t count;
        t->gaps = gaps_find(gotrace_reader_summary(in->reader), in->gaps, in->gap_count, read.begin,
                            read.end, &count);
        view_api_set_gaps(t->api, t->gaps, count);
        failed = !t->gaps;
        error = ENOMEM;
    }
    if (!failed) {
        view_api_end(t->api, NULL);
        return EXIT_SOUND;
    }
    if (error == ENOMEM)
        memory_report_refused();
    else
        diag_error("cannot write a temporary file: %s", strerror(error));
    view_api_end(t->api, error == ENOMEM ? "out of memory" : "a temporary file cannot be written");
    return EXIT_SYSTEM;
}

static int diagnose(shown *t)
{
    const selection everything = {.given = 0};
    select_job all = {.what = &everything, .range = {INT64_MIN, INT64_MAX}};
    gotrace_reader *reader = input_read_again(&t->in);
    if (!reader) {
        view_api_fail_diagnosis(t->api, "the trace cannot be read again");
        return EXIT_SYSTEM;
    }
    t->measures = measures_new(NULL);
    if (t->measures)
        measures_read(t->measures, reader, threads_of(t->all), &all, NULL);
    input_end_again(&t->in, reader);
    if (!t->measures || t->measures->failed || !diagnosis_make(&t->diagnosis, t->measures)) {
        memory_report_refused();
        view_api_fail_diagnosis(t->api, "out of memory");
        return EXIT_SYSTEM;
    }
    view_api_set_diagnosis(t->api, &t->diagnosis, t->measures->stacks);
    return EXIT_SOUND;
}

/* ---- comparing --------------------------------------------------------------------------------
 */

static bool write_differences(const void *ctx, out *o)
{
    return diff_json(&(diff_report){.out = o, .t = ctx, .all = true, .top = MOST_DIFFERENCES});
}

/* Returns an exit status. */
static int read_figures(shown *t, file_runs *runs)
{
    const selection everything = {.given = 0};
    const select_job all = {.what = &everything, .range = {INT64_MIN, INT64_MAX}};
    gotrace_reader *reader = input_read_again(&t->in);
    if (!reader)
        return EXIT_SYSTEM;
    t->all->reading = t;
    file_runs_read(runs, &t->in, reader, threads_of(t->all), NULL);
    if (!input_end_again(&t->in, reader) || file_runs_report_refused(&runs->whole))
        return EXIT_SYSTEM;
    return runs->whole.names ? file_runs_read_parts(runs, &t->in, threads_of(t->all), &all)
                             : EXIT_SOUND;
}

static int compare(viewing *v)
{
    diff_table *d = &v->differences;
    file_runs runs[DIFF_SIDES] = {0};
    int status = diff_table_init(d) ? EXIT_SOUND : EXIT_SYSTEM;
    for (unsigned side = 0; side < DIFF_SIDES && status == EXIT_SOUND; side++) {
        status = read_figures(&v->traces[side], &runs[side]);
        if (status == EXIT_SOUND)
            file_runs_move(&runs[side], d, side);
    }
    for (unsigned side = 0; side < DIFF_SIDES; side++)
        file_runs_free(&runs[side]);
    if (status == EXIT_SOUND && !d->failed)
        diff_table_finish(d);
    if (!d->names || d->failed) {
        memory_report_refused();
        status = EXIT_SYSTEM;
    }
    return status;
}

/* Without a trace that cannot be read, there is nothing to compare. */
static void compare_traces(viewing *v)
{
    const bool possible = v->traces[DIFF_OLD].indexed && v->traces[DIFF_NEW].indexed;
    const int status = possible ? compare(v) : EXIT_SOUND;
    raise_status(v, status);
    if (possible && status == EXIT_SOUND && v->differences.sides[DIFF_OLD].runs &&
        v->differences.sides[DIFF_NEW].runs)
        view_api_set_diff(v->several, write_differences, &v->differences);
    else
        view_api_end(v->several, "the traces cannot be compared: one of them could not be read");
}

/* ---- all traces -------------------------------------------------------------------------------
 */

static void find_clock(shown *t)
{
    enum { NANO = 1000000000 };
    select_clock clock;
    int64_t ns;
    /* An older version has none, and is read to its end before this is known. */
    if (gotrace_reader_summary(t->in.reader)->version < GOTRACE_FIRST_V2)
        return;
    switch (selection_clock(t->in.source, &t->in.config, &clock)) {
    case SELECT_OK: break;
    case SELECT_NO_MEMORY:
        memory_report_refused();
        raise_status(t->all, EXIT_SYSTEM);
        return;
    default: return;
    }
    if (!__builtin_mul_overflow(clock.seconds, (int64_t)NANO, &ns) &&
        !__builtin_add_overflow(ns, clock.nanoseconds, &ns) &&
        !__builtin_sub_overflow(ns, clock.time, &ns))
        view_api_set_clock(t->api, ns);
}

/* Opens the trace and makes its index. */
static void read_first(shown *t)
{
    viewing *v = t->all;
    v->reading = t;
    if (!recovery_open(&t->in, v->session, t->path, options_of(v)->no_recover)) {
        view_api_end(t->api, t->in.found.last.message);
        return;
    }
    t->opened = true;
    find_clock(t);
    const int status = build_index(t);
    t->indexed = status == EXIT_SOUND;
    raise_status(v, status);
}

/* Until the end. */
static void do_jobs(viewing *v)
{
    for (shown *t = v->traces; t < v->traces + v->count; t++) {
        const gotrace_config config = input_quiet(&t->in);
        if (t->opened)
            view_api_set_jobs(t->api, v->jobs, t->in.source, &config, threads_of(v));
    }
    while (view_jobs_do(v->jobs, true))
        ;
}

/* All traces are there for the page before one is read for its diagnosis. */
static void *read_traces(void *ctx)
{
    viewing *v = ctx;
    bool opened = false;
    for (size_t n = 0; n < v->count; n++) {
        read_first(&v->traces[n]);
        opened |= v->traces[n].opened;
    }
    for (size_t n = 0; n < v->count; n++) {
        v->reading = &v->traces[n];
        if (v->reading->indexed)
            raise_status(v, diagnose(v->reading));
        else
            view_api_fail_diagnosis(v->reading->api, "the trace was not read");
    }
    if (options_of(v)->diff)
        compare_traces(v);
    for (size_t n = 0; n < v->count; n++)
        raise_status(v, input_report(&v->traces[n].in));
    v->finished = true;
    if (opened)
        do_jobs(v);
    for (size_t n = 0; n < v->count; n++)
        input_free(&v->traces[n].in);
    /* There is nothing to show. */
    if (!opened)
        pthread_kill(v->main, SIGTERM);
    return NULL;
}

/* ---- serving ----------------------------------------------------------------------------------
 */

static int check_options(const session *s)
{
    const view_options *set = (const view_options *)s->set;
    const uint64_t port = set->port;
    if (s->file_count > SERVER_TRACES) {
        diag_error("at most %d traces are shown together, not %zu", SERVER_TRACES, s->file_count);
        return EXIT_USAGE;
    }
    if (set->diff && s->file_count != DIFF_SIDES) {
        diag_error("--diff compares two traces: name the old one and the new one");
        return EXIT_USAGE;
    }
    if (port > UINT16_MAX) {
        diag_error("--port takes a number up to %d, not %" PRIu64, UINT16_MAX, port);
        return EXIT_USAGE;
    }
    if (s->set->output || s->output.packing) {
        diag_error("-o, --zstd and --gzip: view writes no file");
        return EXIT_USAGE;
    }
    return EXIT_SOUND;
}

/* False: memory is refused. */
static bool make_traces(viewing *v)
{
    const session *s = v->session;
    const size_t count = s->file_count ? s->file_count : 1;
    v->traces = calloc(count, sizeof *v->traces);
    for (; v->traces && v->count < count; v->count++) {
        shown *t = &v->traces[v->count];
        t->all = v;
        t->path = s->file_count ? s->files[v->count] : NULL;
        t->name = t->path && strcmp(t->path, "-") != 0 ? t->path : "<stdin>";
        t->index = view_new();
        t->api = t->index ? view_api_new(t->index, t->name) : NULL;
        if (!t->api) {
            view_free(t->index);
            return false;
        }
        v->apis[v->count] = t->api;
    }
    v->reading = v->traces;
    if (count > 1)
        v->several = view_api_new_of(v->apis, count, options_of(v)->diff);
    return v->traces && (count == 1 || v->several);
}

static void free_traces(viewing *v)
{
    for (size_t n = 0; n < v->count; n++) {
        view_api_free(v->traces[n].api);
        view_free(v->traces[n].index);
        measures_free(v->traces[n].measures);
        free(v->traces[n].gaps);
    }
    free(v->traces);
    view_api_free(v->several);
    if (v->differences.names)
        diff_table_free(&v->differences);
}

/* What needs rights that the sandbox denies. Returns an exit status. */
static int prepare(viewing *v)
{
    const view_options *set = options_of(v);
    session *s = v->session;
    v->server = server_open((uint16_t)set->port);
    if (!v->server)
        return EXIT_SYSTEM;
    v->jobs = view_jobs_new();
    if (!v->jobs || !make_traces(v)) {
        memory_report_refused();
        return EXIT_SYSTEM;
    }
    if (set->open)
        browser_open(server_address(v->server));
    return s->set->sandbox ? sandbox_enter(s) : EXIT_SOUND;
}

static int print_address(viewing *v)
{
    output *o = &v->session->output;
    const int status = output_open(o, NULL, false);
    if (status != EXIT_SOUND)
        return status;
    out_printf(&o->out, "%s\n", server_address(v->server));
    return output_close(o, true);
}

static bool start(viewing *v)
{
    return v->several ? server_start(v->server, v->several, v->apis, v->count)
                      : server_start(v->server, v->traces->api, NULL, 0);
}

/* Until a signal ends it. */
static int serve(viewing *v)
{
    sigset_t ends;
    int signal;
    sigemptyset(&ends);
    sigaddset(&ends, SIGINT);
    sigaddset(&ends, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &ends, NULL);
    v->main = pthread_self();
    if (!start(v))
        return EXIT_SYSTEM;
    const int status = print_address(v);
    if (status != EXIT_SOUND)
        return status;
    diag_observe(on_diagnostic, v);
    progress_observe(on_progress, v);
    if (!gt_thread_begin(&v->reader, read_traces, v)) {
        diag_error("cannot start a thread");
        return EXIT_SYSTEM;
    }
    sigwait(&ends, &signal);
    server_close(v->server);
    v->server = NULL;
    /* What it reads may be a pipe in which nothing comes, and what it has needs no end: temporary
     * files have no name. */
    if (!v->finished) {
        pthread_detach(v->reader);
        progress_clear();
        _exit(v->status);
    }
    view_jobs_stop(v->jobs);
    pthread_join(v->reader, NULL);
    return v->status;
}

static int run_view(session *s)
{
    viewing v = {.session = s};
    int status = check_options(s);
    if (status == EXIT_SOUND)
        status = prepare(&v);
    if (status == EXIT_SOUND)
        status = serve(&v);
    server_close(v.server);
    diag_observe(NULL, NULL);
    progress_observe(NULL, NULL);
    free_traces(&v);
    view_jobs_free(v.jobs);
    return status;
}

static const option_spec options[] = {
    {0, "port", OPTION_NUMBER, "N", offsetof(view_options, port), NULL,
     "listen at that port; default: any free one"},
    {0, "open", OPTION_FLAG, NULL, offsetof(view_options, open), NULL,
     "open the page with $BROWSER or xdg-open"},
    {0, "diff", OPTION_FLAG, NULL, offsetof(view_options, diff), NULL,
     "compare two traces: the old one and the new one"},
    NO_RECOVER_OPTION(view_options, no_recover),
    {.name = NULL},
};

const verb verb_view = {
    .name = "view",
    .args = "[FILE ...]",
    .max_args = SIZE_MAX,
    .input = "FILE",
    .summary = "show traces of any size in the browser",
    .details = "Prints the address of a page, http://127.0.0.1:PORT/?token=..., and serves it\n"
               "until it is interrupted. Only who has the address can open the page. Nothing\n"
               "is sent to other machines. Up to 8 traces are shown below each other.",
    .options = options,
    .options_size = sizeof(view_options),
    .limited = true,
    .serving = SERVER_THREADS + 1,
    .run = run_view,
};
