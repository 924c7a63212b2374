/* cut.c - write a part of a trace as a trace. */
#include "cmd/cut/cut.h"

#include <stdlib.h>

#include "cmd/diag.h"
#include "cmd/input.h"
#include "cmd/recovery.h"
#include "cmd/select.h"

typedef struct cut_options {
    settings common;
    select_options select;
    bool keep_times, no_recover;
} cut_options;

/* A trace cannot have a gap: the states after it would contradict those before it. */
static bool is_one_range(const selection *what, const cut_options *set)
{
    if (what->ids[SELECT_GENERATION].count <= 1)
        return true;
    diag_error("--generation %s: a trace has generations without a gap; specify one range, such as "
               "2-4",
               set->select.texts[SELECT_GENERATION]);
    return false;
}

static int write_cut(session *s, input *in, const select_job *select, const select_ids *goroutines,
                     cut_result *result)
{
    const cut_options *set = (const cut_options *)s->set;
    gotrace_error error = {.rule = GOTRACE_RULE_NONE};
    int status = output_open(&s->output, set->common.output, true);
    if (status != EXIT_SOUND)
        return status;
    cut_job job = {.source = in->source,
                   .reader = in->reader,
                   .config = &in->config,
                   .what = select->what,
                   .range = select->range,
                   .goroutines = goroutines,
                   .keep_times = set->keep_times,
                   .to = &s->output.out};
    if (cut_write(&job, result, &error) < 0) {
        findings_add(&in->found, &error);
        status = EXIT_SYSTEM;
    }
    if (result->impossible > 0)
        diag_warning(in->name, "events that cannot have happened: %llu left out, the first: %s",
                     (unsigned long long)result->impossible, result->first.message);
    int closed = output_close(&s->output, status == EXIT_SOUND && result->count > 0);
    return status == EXIT_SOUND ? closed : status;
}

/* Returns an exit status. */
static int cut_input(session *s, input *in, const selection *what)
{
    const cut_options *set = (const cut_options *)s->set;
    const unsigned whole = SELECT_TIME | SELECT_BIT(SELECT_GENERATION);
    select_job select;
    cut_result result = {.count = 0};
    select_ids ids = {0};
    const select_ids *goroutines = what->given & ~whole ? &what->ids[SELECT_GOROUTINE] : NULL;
    int status = select_begin(&select, what, &set->select, in);
    if (status == EXIT_SOUND && (what->given & ~whole & ~SELECT_BIT(SELECT_GOROUTINE))) {
        goroutines = &ids;
        status = select_goroutines(&select, in, &ids, NULL);
    }
    if (status == EXIT_SOUND && !select.failed && !select.too_hard &&
        (!goroutines || goroutines->count > 0)) {
        status = write_cut(s, in, &select, goroutines, &result);
        select.count = result.count;
    } else if (status == EXIT_SOUND && gotrace_reader_check(in->reader) < 0) {
        findings_add(&in->found, gotrace_reader_error(in->reader));
    }
    free(ids.ranges);
    select.writes = true;
    if (status == EXIT_SOUND)
        status = select_finish(&select, &set->select, in);
    return status == EXIT_SOUND && select.count == 0 ? EXIT_DAMAGED : status;
}

static int run_cut(session *s)
{
    const cut_options *set = (const cut_options *)s->set;
    selection what;
    int status = select_open(&what, &set->select);
    if (status == EXIT_SOUND && !is_one_range(&what, set))
        status = EXIT_USAGE;
    if (status == EXIT_SOUND) {
        input in;
        if (recovery_open(&in, s, input_path(s), set->no_recover))
            status = cut_input(s, &in, &what);
        int found = input_close(&in);
        status = found > status ? found : status;
    }
    selection_free(&what);
    return status;
}

static const option_spec options[] = {
    /* clang-format off */
    SELECT_OPTIONS(cut_options, select)
    /* clang-format on */
    {0, "keep-times", OPTION_FLAG, NULL, offsetof(cut_options, keep_times), NULL,
     "keep the times since the start of FILE"},
    NO_RECOVER_OPTION(cut_options, no_recover),
    {.name = NULL},
};

const verb verb_cut = {
    .name = "cut",
    .args = "[FILE]",
    .max_args = 1,
    .input = "FILE",
    .summary = "write a part of a trace as a trace",
    .details = "The output is a valid trace of the same version. With options other than\n"
               "--from, --until and --generation, everything is kept that happens on the\n"
               "goroutines that match.",
    .options = options,
    .options_size = sizeof(cut_options),
    .limited = true,
    .run = run_cut,
};
