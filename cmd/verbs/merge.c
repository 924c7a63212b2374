/* merge.c - merge the parts of a trace. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/diag.h"
#include "cmd/input.h"
#include "cmd/options.h"
#include "cmd/parts/parts.h"
#include "cmd/progress.h"
#include "formats/common/spool.h"
#include "cmd/trace_limits.h"
#include "cmd/versions.h"

typedef struct merge_options {
    settings common;
    const char *go;     /* version of parts without a header; NULL: not given */
    uint64_t frequency; /* 0: not given */
} merge_options;

typedef struct merging {
    session *session;
    gotrace_config config;
    findings found; /* problems of the parts */
    bool as_notes;  /* misfits are reported as notes */
    bool misfits;
    size_t opened; /* parts opened so far; parts are opened in order, and some again later */
    int fd;        /* temporary file of the merged trace, until it is checked */
} merging;

static const char *part_name(void *ctx, size_t part)
{
    const char *name = ((merging *)ctx)->session->files[part];
    return strcmp(name, "-") == 0 ? "<stdin>" : name;
}

static gotrace_source *open_part(void *ctx, size_t part, bool *reopenable, gotrace_error *error)
{
    merging *m = ctx;
    const char *path = m->session->files[part];
    gotrace_source *source = NULL;
    struct stat there;
    *reopenable = false;
    if (strcmp(path, "-") == 0) {
        gotrace_source_fd(STDIN_FILENO, &m->config, &source, error);
    } else {
        *reopenable = stat(path, &there) == 0 && S_ISREG(there.st_mode);
        gotrace_source_open(path, &m->config, &source, error);
    }
    const gotrace_error *problem = source ? gotrace_source_error(source) : error;
    if (problem && (!source || part >= m->opened)) {
        m->found.file = part_name(ctx, part);
        findings_add(&m->found, problem);
    }
    m->opened = part >= m->opened ? part + 1 : m->opened;
    return source;
}

static void on_part_problem(void *ctx, size_t part, const gotrace_error *problem)
{
    merging *m = ctx;
    m->found.file = part_name(ctx, part);
    findings_add(&m->found, problem);
}

static void on_misfit(void *ctx, const char *message)
{
    merging *m = ctx;
    if (m->as_notes) {
        diag_note("%s", message);
        return;
    }
    diag_error("%s", message);
    m->misfits = true;
}

static void on_progress(void *ctx, uint64_t done, uint64_t total)
{
    (void)ctx;
    progress_update(done, total);
}

/* Parts without a header are supported for v1 only. */
static const char *v1_number(size_t n)
{
    const char *name = version_number(n);
    return name && version_of_release(name) < GOTRACE_FIRST_V2 ? name : NULL;
}

/* ---- the temporary file
 * ------------------------------------------------------------------------- */

static int fail(const char *what, int error)
{
    diag_error("%s: %s [system.write]", what, strerror(error));
    return EXIT_SYSTEM;
}

static int worse(int a, int b)
{
    return a > b ? a : b;
}

static void report_error(const gotrace_error *error)
{
    diag_error("%s [%s]", error->message, gotrace_rule_describe(error->rule)->id);
    limits_note(error);
}

/* Write the merged trace into an unnamed file. */
static int write_trace(merging *m, parts_merge *merge)
{
    out o;
    gotrace_error error = {.rule = GOTRACE_RULE_NONE};
    m->fd = spool_file(NULL);
    if (m->fd < 0)
        return fail("cannot create a temporary file", errno);
    if (!out_init(&o, spool_write_file, &m->fd))
        return fail("cannot write", ENOMEM);
    errno = 0;
    gotrace_status status = parts_merge_write(merge, &o, &error);
    bool written = out_flush(&o);
    int why = o.error ? o.error : errno;
    out_free(&o);
    if (!written)
        return fail("cannot write a temporary file", why);
    if (status < 0) {
        report_error(&error);
        return error.class_ == GOTRACE_CLASS_SYSTEM ? EXIT_SYSTEM : EXIT_DAMAGED;
    }
    return EXIT_SOUND;
}

typedef struct checking {
    findings found;
    bool waits; /* an event waits for a missing event */
} checking;

static bool on_problem(void *ctx, const gotrace_error *problem)
{
    checking *l = ctx;
    findings_add(&l->found, problem);
    l->waits = l->waits || problem->rule == GOTRACE_RULE_ORDER_SEQUENCE ||
               problem->rule == GOTRACE_RULE_ORDER_CUT || problem->rule == GOTRACE_RULE_PROC_STEAL;
    return true;
}

/* Check the merged trace. */
static int check_trace(merging *m, parts_merge *merge)
{
    session *s = m->session;
    checking l = {.found = {.file = s->set->output ? s->set->output : "<merged>",
                            .limit = s->max_errors,
                            .verbose = s->set->verbose}};
    gotrace_source *source = NULL;
    gotrace_reader *reader = NULL;
    gotrace_error error = {.rule = GOTRACE_RULE_NONE};
    gotrace_config config = m->config;
    config.on_problem = on_problem;
    config.callback_ctx = &l;
    if (lseek(m->fd, 0, SEEK_SET) < 0 || gotrace_source_fd(m->fd, &config, &source, &error) < 0 ||
        gotrace_reader_open(source, &config, &reader, &error) < 0)
        findings_add(&l.found, &error);
    else if (gotrace_reader_check(reader) == GOTRACE_ERROR)
        findings_add(&l.found, gotrace_reader_error(reader));
    gotrace_reader_close(reader);
    gotrace_source_close(source);
    findings_end(&l.found);
    if (l.waits)
        diag_error("a part is missing, or the trace was incomplete: events wait for events that no "
                   "part contains");
    m->as_notes = !l.waits;
    if (parts_merge_missing(merge, l.waits, &error) < 0)
        findings_add(&l.found, &error);
    m->as_notes = false;
    return findings_status(&l.found);
}

/* Copy the checked trace to the output. */
static int copy_trace(const merging *m)
{
    char piece[64 * 1024];
    ssize_t n = 0;
    if (lseek(m->fd, 0, SEEK_SET) < 0)
        return fail("cannot read a temporary file", errno);
    while (!m->session->output.out.failed && (n = read(m->fd, piece, sizeof piece)) > 0)
        out_bytes(&m->session->output.out, piece, (size_t)n);
    return n < 0 ? fail("cannot read a temporary file", errno) : EXIT_SOUND;
}

/* ---- the verb ------------------------------------------------------------------------------- */

static int merge_parts(merging *m, parts_merge *merge)
{
    int status = write_trace(m, merge);
    if (status <= EXIT_DAMAGED)
        status = worse(status, check_trace(m, merge));
    if (status > EXIT_DAMAGED)
        return status;
    int copied = output_open(&m->session->output, m->session->set->output, true);
    return worse(status, copied == EXIT_SOUND ? copy_trace(m) : copied);
}

static int run_merge(session *s)
{
    const merge_options *set = (const merge_options *)s->set;
    merging m = {.session = s, .fd = -1, .found = {.limit = s->max_errors}};
    if (s->file_count == 0) {
        diag_error("nothing to merge: specify the parts");
        return EXIT_USAGE;
    }
    int version = set->go ? version_of_release(set->go) : 0;
    if (set->go && version == 0) {
        version_unknown("go", set->go, "", v1_number);
        return EXIT_USAGE;
    }
    if (version >= GOTRACE_FIRST_V2) {
        char known[128];
        options_join(known, sizeof known, v1_number);
        diag_error("--go: parts without a header cannot have version '%s', only: %s", set->go,
                   known);
        return EXIT_USAGE;
    }
    if (s->set->output && strcmp(s->set->output, "-") == 0)
        s->set->output = NULL;
    m.found.verbose = s->set->verbose;
    limits_config(s, &m.config);
    m.config.on_progress = on_progress;
    parts_merge_job job = {.config = &m.config,
                           .count = s->file_count,
                           .version = version,
                           .frequency = set->frequency,
                           .name = part_name,
                           .open = open_part,
                           .problem = on_part_problem,
                           .misfit = on_misfit,
                           .ctx = &m};
    parts_merge *merge = NULL;
    bool fit = true;
    gotrace_error error = {.rule = GOTRACE_RULE_NONE};
    int status = EXIT_SOUND;
    progress_begin(s->file_count == 1 ? s->files[0] : "parts");
    if (parts_merge_open(&job, &merge, &fit, &error) < 0) {
        if (error.class_ != GOTRACE_CLASS_SYSTEM || m.found.errors == 0)
            report_error(&error);
        status = error.class_ == GOTRACE_CLASS_USAGE ? EXIT_USAGE : EXIT_SYSTEM;
    } else if (fit) {
        status = merge_parts(&m, merge);
    }
    progress_end();
    parts_merge_close(merge);
    if (m.fd >= 0)
        close(m.fd);
    findings_end(&m.found);
    status = worse(status, findings_status(&m.found));
    return worse(status, m.misfits || !fit ? EXIT_DAMAGED : EXIT_SOUND);
}

static const option_spec options[] = {
    {0, "go", OPTION_TEXT, "1.N", offsetof(merge_options, go), v1_number,
     "version of parts without a header"},
    {0, "frequency", OPTION_NUMBER, "HZ", offsetof(merge_options, frequency), NULL,
     "clock ticks per second, if no part contains it"},
    {.name = NULL},
};

const verb verb_merge = {
    .name = "merge",
    .args = "FILE ...",
    .max_args = SIZE_MAX,
    .input = NULL,
    .summary = "merge the parts of a trace",
    .details = "The parts may be given in any order. They are written by split, or are other\n"
               "traces with some of the batches of one trace; for Go 1.5 to 1.21 also batches\n"
               "without a header.",
    .options = options,
    .options_size = sizeof(merge_options),
    .limited = true,
    .run = run_merge,
};
