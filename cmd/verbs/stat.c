/* stat.c - where the time of traces goes. */
#include <stdio.h>
#include <string.h>

#include "cmd/diag.h"
#include "cmd/input.h"
#include "cmd/options.h"
#include "cmd/stat/each.h"
#include "cmd/stat/report.h"
#include "cmd/trace_limits.h"

typedef struct stat_options {
    settings common;
    const char *only, *by;
    uint64_t top;
    bool json, each, no_recover;
} stat_options;

static const stat_options *options_of(const session *s)
{
    return (const stat_options *)s->set;
}

static const char *grouping(size_t n)
{
    static const char *const names[] = {"all", "file"};
    return n < sizeof names / sizeof *names ? names[n] : NULL;
}

/* Parse a list of sections; false after a diagnostic. */
static bool parse_sections(const char *list, unsigned *sections)
{
    for (const char *word = list; word; word = strchr(word, ',') ? strchr(word, ',') + 1 : NULL) {
        size_t size = strcspn(word, ","), n = 0;
        const char *name;
        while ((name = report_section(n)) &&
               (strlen(name) != size || strncmp(name, word, size) != 0))
            n++;
        if (!name) {
            char unknown[64];
            snprintf(unknown, sizeof unknown, "%.*s", size < 60 ? (int)size : 60, word);
            options_unknown("only", unknown, report_section);
            return false;
        }
        *sections |= 1U << n;
    }
    return true;
}

/* Returns an exit status. */
static int write_report(session *s, const statistics *stats, unsigned sections)
{
    const stat_options *set = options_of(s);
    report r = {.out = &s->output.out, .s = stats, .sections = sections, .top = set->top};
    if (stats->failed)
        r.failed = true;
    else if (set->json)
        report_json(&r);
    else
        report_text(&r);
    if (r.failed)
        limits_no_memory();
    return r.failed ? EXIT_SYSTEM : EXIT_SOUND;
}

static int read_file(session *s, const char *path, statistics *stats)
{
    input in;
    /* Problems are reported by the thread that reads. Rows that are written meanwhile go to the
     * same output, so they are written by the same thread. */
    size_t threads = options_of(s)->each ? 1 : (size_t)s->set->threads;
    if (input_open_trace(&in, s, path, options_of(s)->no_recover) &&
        statistics_add(stats, in.reader, in.name, threads) == GOTRACE_ERROR)
        findings_add(&in.found, gotrace_reader_error(in.reader));
    return input_close(&in);
}

/* Report on the files together. */
static int report_files(session *s, const char *const *files, size_t count, unsigned sections)
{
    statistics_each each = each_to(&s->output.out);
    statistics *stats = statistics_new(options_of(s)->each ? &each : NULL);
    int worst = EXIT_SOUND, status;
    if (!stats) {
        limits_no_memory();
        return EXIT_SYSTEM;
    }
    for (size_t i = 0; i < count && !stats->failed; i++) {
        status = read_file(s, files[i], stats);
        worst = status > worst ? status : worst;
    }
    status = write_report(s, stats, sections);
    statistics_free(stats);
    return status > worst ? status : worst;
}

static int run_stat(session *s)
{
    const stat_options *set = options_of(s);
    unsigned sections = set->only ? 0 : ~0U;
    if (!parse_sections(set->only, &sections))
        return EXIT_USAGE;
    if (set->each && !set->json) {
        diag_error("--each needs --json");
        return EXIT_USAGE;
    }
    int worst = output_open(&s->output, s->set->output, false);
    if (worst != EXIT_SOUND)
        return worst;
    s->report = set->json ? &s->output.out : NULL;
    static const char *const standard[] = {"-"};
    const char *const *files = s->file_count ? s->files : standard;
    size_t count = s->file_count ? s->file_count : 1;
    if (strcmp(set->by, "file") != 0)
        return report_files(s, files, count, sections);
    for (size_t i = 0; i < count; i++) {
        if (i && !set->json)
            out_char(&s->output.out, '\n');
        int status = report_files(s, &files[i], 1, sections);
        worst = status > worst ? status : worst;
    }
    return worst;
}

static const stat_options defaults = {.by = "all", .top = 10};

static const option_spec options[] = {
    {0, "only", OPTION_TEXT, "LIST", offsetof(stat_options, only), report_section,
     "write only these sections (comma-separated)"},
    {0, "by", OPTION_CHOICE, "GROUP", offsetof(stat_options, by), grouping,
     "report on all files together, or on each file (all)"},
    {0, "top", OPTION_NUMBER, "N", offsetof(stat_options, top), NULL,
     "show at most N rows of a table (10; 0: all)"},
    {0, "json", OPTION_FLAG, NULL, offsetof(stat_options, json), NULL,
     "write problems and rows as JSON Lines"},
    {0, "each", OPTION_FLAG, NULL, offsetof(stat_options, each), NULL,
     "with --json: also each goroutine, region and task"},
    NO_RECOVER_OPTION(stat_options, no_recover),
    {.name = NULL},
};

const verb verb_stat = {
    .name = "stat",
    .args = "[FILE ...]",
    .max_args = SIZE_MAX,
    .input = "FILE",
    .summary = "report where the time of traces goes",
    .details = "Sections: overview, goroutines by start function, scheduling latency, blocking,\n"
               "system calls and network by stack, garbage collection, stop-the-world, tasks,\n"
               "regions, CPU samples. Those without rows are omitted. Percentiles differ from\n"
               "the exact ones by less than 1 %.",
    .options = options,
    .defaults = &defaults,
    .options_size = sizeof(stat_options),
    .limited = true,
    .run = run_stat,
};
