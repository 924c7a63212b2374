/* verb_synth.c - an event script becomes the trace that it describes. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "diag.h"
#include "input.h"
#include "progress.h"
#include "script_input.h"

/* Open the script; -1 after a diagnostic. */
static int open_script(const char *path, const char *name, int *status)
{
    *status = EXIT_SYSTEM;
    int fd;
    if (path && strcmp(path, "-") != 0) {
        fd = open(path, O_RDONLY | O_CLOEXEC);
    } else if (isatty(STDIN_FILENO)) {
        diag_error("standard input is a terminal; name a SCRIPT");
        *status = EXIT_USAGE;
        return -1;
    } else {
        fd = dup(STDIN_FILENO);
    }
    if (fd < 0)
        diag_error("cannot read %s: %s [system.open]", name, strerror(errno));
    return fd;
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
    if (error->class_ == GOTRACE_CLASS_SYSTEM)
        return EXIT_SYSTEM;
    return error->class_ == GOTRACE_CLASS_USAGE ? EXIT_USAGE : EXIT_DAMAGED;
}

static int run(session *s)
{
    const char *path = input_path(s);
    const char *name = path && strcmp(path, "-") != 0 ? path : "<stdin>";
    int status;
    int fd = open_script(path, name, &status);
    if (fd < 0)
        return status;
    FILE *script = script_input_open(fd);
    if (!script) {
        diag_error("out of memory [system.memory]");
        return EXIT_SYSTEM;
    }
    status = output_open(&s->output, s->set.output, s->set.zstd, true);
    if (status == EXIT_SOUND) {
        script_error error = {.line = 0};
        gotrace_config config;
        gotrace_config_init(&config);
        progress_begin(name);
        if (script_synthesize(script, write_buffered, &s->output.out, &config, &error) < 0) {
            status = status_of(&error.error);
            /* A failed write is told when the output is closed. */
            if (!s->output.out.failed)
                diag_script(name, error.line, &error.error);
        }
        progress_end();
    }
    fclose(script);
    return status;
}

const verb verb_synth = {
    .name = "synth",
    .args = "[SCRIPT]",
    .max_args = 1,
    .summary = "write the trace that an event script describes",
    .details = "Reads what dump writes, in any of its formats: which one is seen by the script's\n"
               "first bytes.",
    .run = run,
};
