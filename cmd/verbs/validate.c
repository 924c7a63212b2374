/* validate.c - check traces and report every problem. */
#include <inttypes.h>
#include <string.h>

#include "cmd/diag.h"
#include "cmd/human.h"
#include "cmd/input.h"
#include "cmd/progress.h"
#include "cmd/recovery.h"
#include "formats/common/plural.h"
#include "formats/common/utf8.h"

typedef struct validate_options {
    settings common;
    uint64_t max_errors;
    bool json, no_recover;
} validate_options;

/* Print the version and the figures, "(go 1.19, 12 events, ...)". */
static void print_extent(out *o, const gotrace_summary *sum, const findings *f)
{
    char duration[32];
    human_duration(duration, sizeof duration, sum->duration);
    out_printf(o, " (go 1.%d, %" PRIu64 " event%s", sum->version, sum->events, plural(sum->events));
    if (sum->version >= GOTRACE_FIRST_V2)
        out_printf(o, ", %" PRIu64 " thread%s", sum->threads, plural(sum->threads));
    uint64_t goroutines = sum->goroutines_created + sum->goroutines_initial;
    out_printf(o, ", %" PRIu64 " proc%s, %" PRIu64 " goroutine%s, %s", sum->procs,
               plural(sum->procs), goroutines, plural(goroutines), duration);
    if (f->errors)
        out_printf(o, "; %" PRIu64 " error%s", f->errors, plural(f->errors));
    if (f->warnings)
        out_printf(o, "%s %" PRIu64 " warning%s", f->errors ? "," : ";", f->warnings,
                   plural(f->warnings));
    out_char(o, ')');
}

static void print_text(out *o, const input *in)
{
    char name[4096];
    utf8_escape(name, sizeof name, in->name);
    out_printf(o, "%s: %s", name, findings_verdict(&in->found));
    if (in->reader)
        print_extent(o, gotrace_reader_summary(in->reader), &in->found);
    out_char(o, '\n');
}

static void print_json(out *o, const input *in)
{
    out_str(o, "{\"type\":\"trace\",\"file\":");
    out_json_string(o, in->name, strlen(in->name));
    out_printf(o, ",\"verdict\":\"%s\",\"errors\":%" PRIu64 ",\"warnings\":%" PRIu64,
               findings_verdict(&in->found), in->found.errors, in->found.warnings);
    if (in->reader) {
        const gotrace_summary *sum = gotrace_reader_summary(in->reader);
        out_printf(o, ",\"version\":\"1.%d\",\"events\":%" PRIu64, sum->version, sum->events);
        if (sum->version >= GOTRACE_FIRST_V2)
            out_printf(o, ",\"threads\":%" PRIu64, sum->threads);
        out_printf(o, ",\"procs\":%" PRIu64 ",\"goroutines\":%" PRIu64 ",\"duration_ns\":%" PRId64,
                   sum->procs, sum->goroutines_created + sum->goroutines_initial, sum->duration);
    }
    out_str(o, "}\n");
}

/* The writer's own events count too, so that `kept` may exceed the events of a trace that was read
 * to its end. */
static void print_promise(const input *in, uint64_t kept)
{
    const gotrace_summary *sum = gotrace_reader_summary(in->reader);
    uint64_t all = sum->events;
    if (kept > all && sum->unread_bytes > 0)
        diag_problem_note(in->name, GOTRACE_NO_OFFSET,
                          "gotrace repair keeps %" PRIu64 " events, %" PRIu64
                          " more than can be read without it",
                          kept, kept - all);
    else
        diag_problem_note(in->name, GOTRACE_NO_OFFSET,
                          "gotrace repair keeps %" PRIu64 " of %" PRIu64 " event%s",
                          kept < all ? kept : all, all, plural(all));
}

/* Recommend what to do with a trace that violates rules. */
static void advise(const input *in)
{
    enum { LARGE = 64 << 20 }; /* bytes; repair of larger files would take too long */
    const gotrace_summary *sum = gotrace_reader_summary(in->reader);
    uint64_t kept, all = sum->events;
    if (in->found.errors == 0 || in->damaged || all == 0)
        return;
    if (sum->size > LARGE)
        diag_problem_note(in->name, GOTRACE_NO_OFFSET,
                          "gotrace repair writes a valid trace with what can be kept");
    else if (recovery_measure(in, &kept))
        print_promise(in, kept);
}

static int validate_file(session *s, const char *path)
{
    const validate_options *set = (const validate_options *)s->set;
    input in;
    out *o = &s->output.out;
    recovery_check(&in, s, path, set->no_recover);
    if (set->json)
        print_json(o, &in);
    else if (!s->set->quiet)
        print_text(o, &in);
    /* The verdict on a file appears before the next file is read. */
    out_flush(o);
    if (!set->json && !s->set->quiet && in.reader)
        advise(&in);
    return input_close(&in);
}

static int run_validate(session *s)
{
    const validate_options *set = (const validate_options *)s->set;
    int worst = output_open(&s->output, s->set->output, false);
    if (worst != EXIT_SOUND)
        return worst;
    s->report = set->json ? &s->output.out : NULL;
    s->explain = true;
    s->max_errors = set->max_errors;
    const char *const standard[] = {"-", NULL};
    const char *const *files = s->file_count ? s->files : standard;
    const size_t count = s->file_count ? s->file_count : 1;
    for (size_t n = 0; n < count; n++) {
        progress_files(n, count);
        int status = validate_file(s, files[n]);
        worst = status > worst ? status : worst;
        if (s->output.out.failed)
            return EXIT_SYSTEM;
    }
    progress_files(count, count);
    return worst;
}

static const validate_options defaults = {.max_errors = USUAL_MAX_ERRORS};

static const option_spec options[] = {
    {0, "max-errors", OPTION_NUMBER, "N", offsetof(validate_options, max_errors), NULL,
     "report at most N errors, N warnings (20; 0: all)"},
    {0, "json", OPTION_FLAG, NULL, offsetof(validate_options, json), NULL,
     "write problems and verdicts as JSON Lines"},
    NO_RECOVER_OPTION(validate_options, no_recover),
    {.name = NULL},
};

const verb verb_validate = {
    .name = "validate",
    .args = "[FILE ...]",
    .max_args = SIZE_MAX,
    .input = "FILE",
    .summary = "check traces and report every problem",
    .details = "Prints one line per FILE: its verdict (sound, unfinished, broken clocks,\n"
               "inconsistent, malformed, unsupported, not a trace, unreadable), version,\n"
               "events, threads (1.22 and later), procs, goroutines and duration. Problems\n"
               "are reported on standard error. With -q only errors are printed; the exit\n"
               "status is the verdict.",
    .options = options,
    .defaults = &defaults,
    .options_size = sizeof(validate_options),
    .limited = true,
    .run = run_validate,
};
