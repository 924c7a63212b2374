/* verb_synth.c - an event script becomes the trace that it describes. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "diag.h"
#include "input.h"
#include "progress.h"
#include "script_file.h"
#include "trace_limits.h"

static void set_error(gotrace_error *error, gotrace_rule rule, const char *message)
{
    const gotrace_rule_info *info = gotrace_rule_describe(rule);
    *error = (gotrace_error){.rule = rule, .severity = info->severity, .class_ = info->class_};
    snprintf(error->message, sizeof error->message, "%s", message);
}

/* Say why the script could not be opened; returns the exit status. */
static int no_script(const char *name, gotrace_rule rule, const char *why)
{
    script_error error = {.offset = GOTRACE_NO_OFFSET};
    set_error(&error.error, rule, why);
    diag_script(name, &error);
    return EXIT_SYSTEM;
}

/* Open the script (NULL or "-": standard input); NULL after a diagnostic, with *status set. */
static FILE *open_script(const char *path, const char **name, int *status)
{
    bool standard = !path || strcmp(path, "-") == 0;
    *name = standard ? "<stdin>" : path;
    int fd = standard ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        char why[128];
        snprintf(why, sizeof why, "cannot open: %s", strerror(errno));
        *status = no_script(*name, GOTRACE_RULE_SYSTEM_OPEN, why);
        return NULL;
    }
    FILE *script = script_file_open(fd);
    if (!script) {
        close(fd);
        *status = no_script(*name, GOTRACE_RULE_SYSTEM_MEMORY, "out of memory");
    }
    return script;
}

/* A raw encoder writes record by record: they are gathered first. */
static bool write_buffered(void *ctx, const void *bytes, size_t size)
{
    out *o = ctx;
    out_bytes(o, bytes, size);
    return !o->failed;
}

static int status_of(const gotrace_error *error)
{
    return error->class_ == GOTRACE_CLASS_SYSTEM ? EXIT_SYSTEM : EXIT_DAMAGED;
}

static int run(session *s)
{
    const char *name;
    int status;
    FILE *script = open_script(input_path(s), &name, &status);
    if (!script)
        return status;
    status = output_open(&s->output, s->set.output, s->set.zstd, true);
    if (status == EXIT_SOUND) {
        script_error error = {.offset = GOTRACE_NO_OFFSET};
        gotrace_config config;
        limits_config(s, &config);
        progress_begin(name);
        if (script_synthesize_as(script, write_buffered, &s->output.out, &config, s->set.force,
                                 &error) < 0) {
            if (error.error.os_error == EBADMSG)
                set_error(&error.error, GOTRACE_RULE_SYSTEM_ZSTD,
                          "compressed data is damaged or cut off");
            status = status_of(&error.error);
            /* A failed write is told when the output is closed. */
            if (!s->output.out.failed) {
                diag_script(name, &error);
                limits_note(&error.error);
            }
            /* What a bad script has given so far is no trace. */
            int closed = output_close(&s->output, false);
            status = closed == EXIT_SOUND ? status : closed;
        }
        progress_end();
    }
    fclose(script);
    return status;
}

static const option_spec options[] = {
    {.name = "force",
     .type = OPTION_FLAG,
     .field = offsetof(settings, force),
     .summary = "write what cannot have happened too"},
    {.name = NULL},
};

const verb verb_synth = {
    .name = "synth",
    .args = "[SCRIPT]",
    .max_args = 1,
    .input = "SCRIPT",
    .summary = "write the trace that an event script describes",
    .details = "Reads what dump writes, in any of its formats: which one is seen by the script's\n"
               "first bytes.",
    .options = options,
    .limited = true,
    .run = run,
};
