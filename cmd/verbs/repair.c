/* repair.c - write a valid trace from a damaged one. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/diag.h"
#include "cmd/input.h"
#include "cmd/losses.h"
#include "cmd/memory.h"
#include "cmd/recovery.h"

typedef struct repair_options {
    settings common;
    bool all, json;
} repair_options;

typedef struct repairing {
    session *session;
    losses losses;
    int status; /* EXIT_SOUND unless the output could not be opened */
} repairing;

/* The path of a trace after the first: that of the first with the number inserted. */
static bool path_of(const session *s, unsigned trace, char *path)
{
    const char *name = s->set->output;
    size_t stem, size = strlen(".trace");
    packing_of_path(name, &stem);
    if (stem > size && strncmp(name + stem - size, ".trace", size) == 0)
        stem -= size;
    int length = snprintf(path, PATH_MAX, "%.*s.%u%s", (int)stem, name, trace, name + stem);
    return length > 0 && length < PATH_MAX;
}

static out *next_trace(void *ctx, unsigned trace)
{
    static char paths[2][PATH_MAX]; /* messages about the previous output use its path */
    repairing *p = ctx;
    session *s = p->session;
    if (trace == 1) {
        p->status = output_open(&s->output, s->set->output, true);
    } else if (!path_of(s, trace, paths[trace % 2])) {
        diag_error("the path of trace %u is too long [system.write]", trace);
        p->status = EXIT_SYSTEM;
    } else {
        p->status = output_next(&s->output, paths[trace % 2]);
    }
    return p->status == EXIT_SOUND ? &s->output.out : NULL;
}

static void report_finding(void *ctx, const repair_finding *f)
{
    losses_report(&((repairing *)ctx)->losses, f);
}

static bool write_stdout(void *ctx, const void *bytes, size_t size)
{
    (void)ctx;
    return fwrite(bytes, 1, size, stdout) == size && fflush(stdout) == 0;
}

static int repair_input(repairing *p, input *in)
{
    gotrace_config config = input_quiet(in);
    repair_job job = {.source = in->source,
                      .config = &config,
                      .all = ((const repair_options *)p->session->set)->all,
                      .next = next_trace,
                      .report = report_finding,
                      .ctx = p};
    gotrace_error error = {.rule = GOTRACE_RULE_NONE};
    repair_totals totals;
    gotrace_status status = repair_write(&job, &totals, &error);
    if (p->status != EXIT_SOUND)
        return p->status;
    if (status < 0) {
        findings_add(&in->found, &error);
        return EXIT_SOUND;
    }
    losses_end(&p->losses, &totals);
    return totals.identical && totals.sound ? EXIT_SOUND : EXIT_DAMAGED;
}

static int run_repair(session *s)
{
    const repair_options *set = (const repair_options *)s->set;
    const char *path = s->set->output;
    bool to_stdout = !path || strcmp(path, "-") == 0;
    if (to_stdout && (set->all || set->json)) {
        diag_error("%s needs an output file: specify -o OUT", set->all ? "--all" : "--json");
        return EXIT_USAGE;
    }
    input in;
    repairing p = {.session = s, .losses = {.limit = s->max_errors}};
    out json;
    if (set->json && !out_init(&json, write_stdout, NULL)) {
        memory_report_refused();
        return EXIT_SYSTEM;
    }
    s->report = p.losses.json = set->json ? &json : NULL;
    int status = EXIT_SOUND;
    if (input_open(&in, s, input_path(s)) && recovery_of_crash(&in)) {
        p.losses.file = in.name;
        status = repair_input(&p, &in);
    }
    int found = input_close(&in);
    if (s->report) {
        if (!out_flush(&json)) {
            diag_error("cannot write to standard output [system.write]");
            status = EXIT_SYSTEM;
        }
        out_free(&json);
    }
    return found > status ? found : status;
}

static const option_spec options[] = {
    {0, "all", OPTION_FLAG, NULL, offsetof(repair_options, all), NULL,
     "write every trace in the file, to OUT, OUT.2, ..."},
    {0, "json", OPTION_FLAG, NULL, offsetof(repair_options, json), NULL,
     "report what was lost as JSON Lines"},
    {.name = NULL},
};

const verb verb_repair = {
    .name = "repair",
    .args = "[FILE]",
    .max_args = 1,
    .input = "FILE",
    .summary = "write a valid trace from a damaged one",
    .details = "Sound data is copied unchanged. What was lost, and where, is reported on\n"
               "standard error, or with --json on standard output. If the file contains\n"
               "several traces, the first is written, with --all each of them. FILE can also\n"
               "be the crash file of a recorder (gotrace_record(3)).",
    .options = options,
    .options_size = sizeof(repair_options),
    .limited = true,
    .run = run_repair,
};
