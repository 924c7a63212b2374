/* synth.c - build a trace from an event script. */
#include <inttypes.h>

#include "cmd/diag.h"
#include "cmd/input.h"
#include "cmd/memory.h"
#include "cmd/script_file.h"
#include "cmd/trace_limits.h"

typedef struct synth_options {
    settings common;
    bool force;
} synth_options;

/* The encoder writes single records, which the output buffers. */
static bool write_buffered(void *ctx, const void *bytes, size_t size)
{
    out *o = ctx;
    out_bytes(o, bytes, size);
    return !o->failed;
}

/* Errors after these are only counted. */
enum { SHOWN = 20 };

typedef struct script_findings {
    session *session;
    const char *name;
    uint64_t errors;
    int status;
} script_findings;

/* Called for each error. A failed write is reported when the output is closed. */
static void report_error(void *ctx, const script_error *found)
{
    script_findings *f = ctx;
    bool is_system = found->error.class_ == GOTRACE_CLASS_SYSTEM;
    f->status = is_system ? EXIT_SYSTEM : EXIT_DAMAGED;
    if (f->session->output.out.failed || (++f->errors > SHOWN && !is_system))
        return;
    diag_script(f->name, found);
    limits_note(&found->error);
}

static int synthesize(session *s, const input *in, FILE *script)
{
    int status = output_open(&s->output, s->set->output, true);
    if (status != EXIT_SOUND)
        return status;
    gotrace_config config;
    limits_config(s, &config);
    script_findings found = {.session = s, .name = in->name};
    const script_options how = {.force = ((const synth_options *)s->set)->force,
                                .report = report_error,
                                .report_ctx = &found};
    if (script_synthesize(script, write_buffered, &s->output.out, &config, &how, NULL) >= 0)
        return EXIT_SOUND;
    if (found.errors > SHOWN)
        diag_problem_note(in->name, GOTRACE_NO_OFFSET, "%" PRIu64 " more error%s",
                          found.errors - SHOWN, found.errors == SHOWN + 1 ? "" : "s");
    /* The output of a script with errors is discarded. */
    int closed = output_close(&s->output, false);
    return closed == EXIT_SOUND ? found.status : closed;
}

static int run_synth(session *s)
{
    input in;
    int status = EXIT_SOUND;
    /* If compressed data is damaged, a part of the script is missing. */
    if (input_open(&in, s, input_path(s)) && !gotrace_source_error(in.source)) {
        FILE *script = script_file_open(in.source);
        if (script) {
            status = synthesize(s, &in, script);
            fclose(script);
        } else {
            memory_report_refused();
            status = EXIT_SYSTEM;
        }
    }
    int found = input_close(&in);
    return found > status ? found : status;
}

static const option_spec options[] = {
    {.name = "force",
     .type = OPTION_FLAG,
     .field = offsetof(synth_options, force),
     .summary = "write events that cannot have happened too"},
    {.name = NULL},
};

const verb verb_synth = {
    .name = "synth",
    .args = "[SCRIPT]",
    .max_args = 1,
    .input = "SCRIPT",
    .summary = "build a trace from an event script",
    .details = "Reads scripts in all formats of dump; the format is detected by the first bytes.",
    .options = options,
    .options_size = sizeof(synth_options),
    .limited = true,
    .run = run_synth,
};
