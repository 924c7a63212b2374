/* diagnose.c - what is wrong with a program. */
#include <string.h>

#include "cmd/diag.h"
#include "cmd/diagnose/report.h"
#include "cmd/files.h"
#include "cmd/input.h"
#include "cmd/memory.h"
#include "cmd/recovery.h"
#include "cmd/select.h"
#include "formats/diagnose/measure.h"

typedef struct diagnose_options {
    settings common;
    const char *task;
    select_options select;
    bool json, all, no_recover;
} diagnose_options;

static const diagnose_options *options_of(const session *s)
{
    return (const diagnose_options *)s->set;
}

/* Report on a trace that was read. Returns an exit status. */
static int report(session *s, const input *in, const measures *m)
{
    const diagnose_options *set = options_of(s);
    diagnosis d;
    const diagnose_report r = {
        .out = &s->output.out, .file = in->name, .names = m->stacks, .d = &d, .all = set->all};
    if (!m->failed && diagnosis_make(&d, m) && (set->json ? diagnose_json : diagnose_text)(&r))
        return EXIT_SOUND;
    memory_report_refused();
    return EXIT_SYSTEM;
}

/* Report, if there is what was asked for. */
static int report_chosen(session *s, const input *in, const measures *m, const select_job *select)
{
    const diagnose_options *set = options_of(s);
    char outside[256];
    if (select_is_outside(select, &set->select, in, outside, sizeof outside))
        diag_error("%s: %s", in->name, outside);
    else if (m->chosen && m->tasks == 0 && m->of_function)
        diag_error("%s has no goroutine that starts at a function like '%s'", in->name,
                   set->select.texts[SELECT_FUNCTION]);
    else if (m->chosen && m->tasks == 0)
        diag_error("%s has no task '%s'", in->name, set->task);
    else
        return m->events > 0 ? report(s, in, m) : EXIT_SOUND;
    return EXIT_DAMAGED;
}

static int diagnose(session *s, input *in, const selection *what)
{
    const diagnose_options *set = options_of(s);
    select_job select;
    int status = select_begin(&select, what, &set->select, in);
    measures *m = status == EXIT_SOUND ? measures_new(NULL) : NULL;
    if (!m && status == EXIT_SOUND) {
        memory_report_refused();
        return EXIT_SYSTEM;
    }
    if (!m)
        return status;
    if (measures_read(m, in->reader, (size_t)s->set->threads, &select, set->task) == GOTRACE_ERROR)
        findings_add(&in->found, gotrace_reader_error(in->reader));
    status = select.too_hard ? select_finish(&select, &set->select, in)
             : m->failed     ? report(s, in, m)
                             : report_chosen(s, in, m, &select);
    measures_free(m);
    return status;
}

static int diagnose_file(session *s, const files_job *all, size_t n, bool apart)
{
    const selection *what = all->ctx;
    selection own;
    int status = EXIT_SOUND;
    input in;
    if (n && !options_of(s)->json)
        out_char(&s->output.out, '\n');
    /* A pattern is matched by one thread at a time. */
    if (apart && (status = select_open(&own, &options_of(s)->select)) != EXIT_SOUND) {
        selection_free(&own);
        return status;
    }
    if (recovery_open(&in, s, all->files[n], options_of(s)->no_recover))
        status = diagnose(s, &in, apart ? &own : what);
    int found = input_close(&in);
    if (apart)
        selection_free(&own);
    return found > status ? found : status;
}

static int run_diagnose(session *s)
{
    static const char *const standard[] = {"-"};
    selection what;
    int status = select_open(&what, &options_of(s)->select);
    files_job all = {.files = s->file_count ? s->files : standard,
                     .count = s->file_count ? s->file_count : 1,
                     .ctx = &what,
                     .run = diagnose_file};
    if (status == EXIT_SOUND)
        status = output_open(&s->output, s->set->output, false);
    if (status == EXIT_SOUND) {
        s->report = options_of(s)->json ? &s->output.out : NULL;
        status = files_run(s, &all);
    }
    selection_free(&what);
    return status;
}

static const option_spec options[] = {
    {0, "task", OPTION_TEXT, "TYPE", offsetof(diagnose_options, task), NULL,
     "only of the time of tasks of that type"},
    /* clang-format off */
    SELECT_TIMES(SELECT_ROW, diagnose_options, select)
    SELECT_ROW(diagnose_options, select, FUNCTION, "function", "REGEX",
               "only of the time of goroutines of such functions")
    /* clang-format on */
    {0, "all", OPTION_FLAG, NULL, offsetof(diagnose_options, all), NULL,
     "also show causes whose share is too small"},
    {0, "json", OPTION_FLAG, NULL, offsetof(diagnose_options, json), NULL,
     "write problems and findings as JSON Lines"},
    NO_RECOVER_OPTION(diagnose_options, no_recover),
    {.name = NULL},
};

const verb verb_diagnose = {
    .name = "diagnose",
    .args = "[FILE ...]",
    .max_args = SIZE_MAX,
    .input = "FILE",
    .summary = "find what is wrong with a program",
    .details = "The findings are in the order of the time that they cost, each with evidence and\n"
               "the command that shows more: locks, bottlenecks, the garbage collector, leaked\n"
               "goroutines, times at which the whole process stood still, and others.",
    .options = options,
    .options_size = sizeof(diagnose_options),
    .limited = true,
    .run = run_diagnose,
};
