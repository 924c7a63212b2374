/* verb_convert.c - a trace as something else: another tool's format, or an event script. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "diag.h"
#include "narrow.h"
#include "options.h"
#include "records.h"

/* Everything that --to takes: formats first, then scripts. */
static const char *target_name(size_t n)
{
    size_t count = 0;
    while (formats[count])
        count++;
    return n < count ? formats[n]->name : script_name(n - count);
}

static const script_format *script_by_path(const char *path)
{
    size_t size = strlen(path);
    if (size > 4 && strcasecmp(path + size - 4, ".zst") == 0)
        size -= 4;
    for (size_t i = 0; script_formats[i]; i++)
        for (const char *const *e = script_formats[i]->extensions; e && *e; e++)
            if (size > strlen(*e) && strncasecmp(path + size - strlen(*e), *e, strlen(*e)) == 0)
                return script_formats[i];
    return NULL;
}

/* Find what to convert to among formats, else among scripts; false after a diagnostic. */
static bool choose(const session *s, const format **target, const script_format **script)
{
    const char *to = s->set.to, *path = s->set.output;
    char known[256];
    options_join(known, sizeof known, target_name);
    *target = to ? format_by_name(to) : path ? format_by_path(path) : NULL;
    *script = *target ? NULL : to ? script_by_name(to) : path ? script_by_path(path) : NULL;
    if (*target || *script)
        return true;
    if (to && strncmp(to, "go1.", 4) == 0) {
        diag_error("--to %s: writing another version of the trace is not available; --to takes: %s",
                   to, known);
    } else if (to) {
        options_unknown("to", to, target_name);
    } else if (path) {
        diag_error("'%s' does not tell by its ending what to convert to; --to takes: %s", path,
                   known);
    } else {
        diag_error("what to convert to is missing: give --to (%s) or -o OUT", known);
    }
    return false;
}

static const char *const views[] = {"proc", "goroutine", "thread", NULL};

static const char *view_name(size_t n)
{
    return views[n];
}

/* The view that --by names; the first without it. */
static view_by view_of(const session *s)
{
    view_by by = BY_PROC;
    while (s->set.by && strcmp(views[by], s->set.by) != 0)
        by++;
    return by;
}

/* Whether the options suit what is converted to; false after a diagnostic. */
static bool suits(const session *s, const format *target)
{
    if (s->set.by && !(target && target->views)) {
        diag_error("--by is for --to chrome");
        return false;
    }
    return true;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static void note_alignment(convert_alignment alignment)
{
    switch (alignment) {
    case ALIGNED_MONOTONIC: diag_note("the traces are aligned by the monotonic clock"); break;
    case ALIGNED_REALTIME: diag_note("the traces are aligned by the wall clock"); break;
    default: diag_note("not all traces tell the clocks (from Go 1.25 on): each begins at zero");
    }
}

/* Several traces on one line of time: each is opened before the first is converted. */
static int convert_series_of(session *s, const format *target, convert_job *job, input *in,
                             gotrace_source **sources)
{
    int worst = EXIT_SOUND;
    size_t count = 0;
    for (size_t i = 0; i < s->file_count; i++)
        if (input_open_reader(&in[i], s, s->files[i]))
            sources[count++] = in[i].source;
    convert_series series = {.alignment = convert_align(sources, count)};
    note_alignment(series.alignment);
    job->series = &series;
    for (size_t i = 0; i < s->file_count; i++) {
        job->reader = in[i].reader;
        job->source = in[i].source;
        job->name = base_name(in[i].name);
        if (in[i].reader && target->run(job) == GOTRACE_ERROR)
            findings_add(&in[i].found, gotrace_reader_error(in[i].reader));
        int status = input_close(&in[i]);
        worst = status > worst ? status : worst;
        series.index++;
    }
    return worst;
}

static int convert_several(session *s, const format *target, convert_job *job)
{
    int status = output_open(&s->output, s->set.output, s->set.zstd, target->binary);
    if (status != EXIT_SOUND)
        return status;
    input *in = calloc(s->file_count, sizeof *in);
    gotrace_source **sources = calloc(s->file_count, sizeof *sources);
    job->out = &s->output.out;
    if (in && sources) {
        status = convert_series_of(s, target, job, in, sources);
    } else {
        diag_error("out of memory [system.memory]");
        status = EXIT_SYSTEM;
    }
    free(in);
    free(sources);
    return status;
}

static int convert(session *s, const format *target, convert_job *job)
{
    int status = output_open(&s->output, s->set.output, s->set.zstd, target->binary);
    if (status != EXIT_SOUND)
        return status;
    input in;
    if (input_open_reader(&in, s, input_path(s))) {
        job->reader = in.reader;
        job->source = in.source;
        job->out = &s->output.out;
        job->name = base_name(in.name);
        job->by = view_of(s);
        if (target->run(job) == GOTRACE_ERROR)
            findings_add(&in.found, gotrace_reader_error(in.reader));
    }
    return input_close(&in);
}

static int run(session *s)
{
    const format *target;
    const script_format *script;
    if (!choose(s, &target, &script) || !suits(s, target))
        return EXIT_USAGE;
    convert_job job = {0};
    if (!narrow_job(s, target, &job))
        return EXIT_USAGE;
    if (s->file_count > 1 && !(target && target->narrows)) {
        diag_error("'%s' is one argument too many: only --to perfetto takes several traces",
                   s->files[1]);
        return EXIT_USAGE;
    }
    if (s->file_count > 1)
        return convert_several(s, target, &job);
    return target ? convert(s, target, &job) : records_dump(s, script);
}

static const option_spec options[] = {
    {0, "to", OPTION_TARGET, "NAME", offsetof(settings, to), target_name,
     "what to convert to; without it, by OUT's ending"},
    {0, "by", OPTION_CHOICE, "VIEW", offsetof(settings, by), view_name,
     "chrome: a row a proc, goroutine or thread (proc)"},
    {0, "only", OPTION_TEXT, "LIST", offsetof(settings, only), convert_part_name,
     "perfetto: these parts alone, between commas"},
    {0, "from", OPTION_TIME, "TIME", offsetof(settings, from), NULL,
     "perfetto: from that time of the trace on"},
    {0, "no-system", OPTION_FLAG, NULL, offsetof(settings, no_system), NULL,
     "timelines: leave out the runtime's goroutines"},
    {.name = NULL},
};

const verb verb_convert = {
    .name = "convert",
    .args = "[FILE ...]",
    .max_args = CONVERT_MOST_TRACES,
    .input = "FILE",
    .summary = "convert a trace to what other programs read",
    .details =
        "perfetto and chrome are timelines: open them at https://ui.perfetto.dev. The others\n"
        "are event scripts, as dump writes them.\n"
        "\n"
        "For perfetto there is --to TIME too, beside --to NAME: until that time. A TIME\n"
        "counts from the trace's start and has a unit: 1.5s, 20ms, 7us, 0ns.",
    .options = options,
    .run = run,
};
