/* version_file.c - convert --to go1.N, with notes about losses and a dry run for --strict. */
#include "cmd/version_file.h"

#include <stdio.h>

#include "cmd/diag.h"
#include "cmd/input.h"
#include "cmd/recovery.h"
#include "formats/trace/convert.h"

static bool write_nothing(void *ctx, const void *bytes, size_t size)
{
    (void)ctx, (void)bytes, (void)size;
    return true;
}

static bool write_out(void *ctx, const void *bytes, size_t size)
{
    out_bytes(ctx, bytes, size);
    return true;
}

/* Report what is left out; returns the number of reports. */
static size_t report_losses(const version_losses *losses, int version, const char *file,
                            bool strict)
{
    char text[320];
    size_t n = 0;
    for (; version_loss(losses, version, n, text, sizeof text); n++) {
        if (strict)
            diag_error("%s: %s", file, text);
        else
            diag_problem_note(file, GOTRACE_NO_OFFSET, "%s", text);
    }
    return n;
}

/* Convert without writing, to find out whether anything would be left out. */
static bool loses_nothing(const input *in, int version)
{
    gotrace_config config = in->config;
    gotrace_error error = {0};
    version_losses losses;
    version_job job = {
        .source = in->source, .version = version, .write = write_nothing, .config = &config};
    config.on_problem = NULL;
    config.on_progress = NULL;
    /* Problems of the trace are reported when it is written. */
    if (gotrace_reader_open(in->source, &config, &job.reader, &error) < 0)
        return true;
    version_convert(&job, &losses, &error);
    gotrace_reader_close(job.reader);
    return report_losses(&losses, version, in->name, true) == 0;
}

static int write_trace(session *s, input *in, int version)
{
    int status = output_open(&s->output, s->set->output, true);
    if (status != EXIT_SOUND)
        return status;
    gotrace_config config = in->config;
    gotrace_error error = {0};
    version_losses losses;
    version_job job = {.source = in->source,
                       .reader = in->reader,
                       .version = version,
                       .write = write_out,
                       .ctx = &s->output.out,
                       .config = &config};
    config.on_problem = NULL;
    config.on_progress = NULL;
    bool converted = version_convert(&job, &losses, &error) != GOTRACE_ERROR;
    if (!converted)
        findings_add(&in->found, &error);
    report_losses(&losses, version, in->name, false);
    if (!converted && error.rule == GOTRACE_RULE_TRACE_EMPTY)
        output_close(&s->output, false);
    return EXIT_SOUND;
}

int version_write(session *s, int version, bool strict, bool no_recover)
{
    input in;
    int status = EXIT_SOUND;
    if (recovery_open(&in, s, input_path(s), no_recover))
        status = strict && !loses_nothing(&in, version) ? EXIT_DAMAGED
                                                        : write_trace(s, &in, version);
    int found = input_close(&in);
    return found > status ? found : status;
}
