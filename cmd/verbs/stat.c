/* stat.c - where the time of traces goes. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cmd/diag.h"
#include "cmd/files.h"
#include "cmd/input.h"
#include "cmd/memory.h"
#include "cmd/options.h"
#include "cmd/recovery.h"
#include "cmd/select.h"
#include "cmd/stat/each.h"
#include "cmd/stat/report.h"
#include "cmd/names.h"

/* The value of a number that is not given. */
#define NOT_GIVEN UINT64_MAX

typedef struct stat_options {
    settings common;
    const char *only, *by, *sort;
    uint64_t top, stacks;
    select_options select;
    bool json, each, full, no_system, no_recover;
} stat_options;

/* What is to be reported. */
typedef struct stat_job {
    selection what;
    unsigned sections;
    bool whole; /* of all goroutines */
} stat_job;

/* The pass over the files of one report. */
typedef struct stat_pass {
    const stat_job *job;
    statistics *stats;
    each_rows rows; /* of --each */
} stat_pass;

static const stat_options *options_of(const session *s)
{
    return (const stat_options *)s->set;
}

static bool is_by_file(const session *s)
{
    return strcmp(options_of(s)->by, "file") == 0;
}

static const char *grouping(size_t n)
{
    static const char *const names[] = {"all", "file"};
    return n < sizeof names / sizeof *names ? names[n] : NULL;
}

/* Whether what matters most is shown, and not the sections in full. */
static bool is_brief(const stat_options *set)
{
    return !set->full && !set->only && !set->json;
}

/* How many rows of a table are shown. */
static uint64_t rows_of(const stat_options *set)
{
    enum { BRIEF_ROWS = 5, ROWS = 10 };
    return set->top != NOT_GIVEN ? set->top : is_brief(set) ? BRIEF_ROWS : ROWS;
}

static function_order order_of(const char *name)
{
    size_t order = 0;
    while (strcmp(function_order_name(order), name) != 0)
        order++;
    return (function_order)order;
}

/* Warns of goroutines that `record` shows as running while they wait, where the kernel does not
 * report that (gotrace-record(1)): threads of libgomp, whose start function is gomp_thread_start of
 * GCC's libgomp/team.c. Without debug information it has the name of the file. */
static void warn_of_unseen(const statistics *stats)
{
    static const char file[] = "libgomp", function[] = "gomp_thread_start";
    uint64_t count = 0;
    for (size_t i = 0; i < stats->functions.count; i++) {
        const function_figure *f = stats->functions.items[i];
        size_t size;
        const char *name = names_text(stats->stacks, f->name, &size);
        if (figure_sum(f, TIME_BLOCK) > 0)
            continue;
        if ((size >= strlen(file) && memcmp(name, file, strlen(file)) == 0) ||
            (size == strlen(function) && memcmp(name, function, size) == 0))
            count += f->count;
    }
    if (count > 0)
        diag_warning(stats->trace_count == 1 ? stats->traces[0].name : NULL,
                     "goroutines whose waits in libgomp (OpenMP) are not seen, and are shown as "
                     "execution: %" PRIu64 ", and those that created them",
                     count);
}

/* Returns an exit status. */
static int write_report(session *s, const statistics *stats, const stat_job *job)
{
    const stat_options *set = options_of(s);
    report r = {.out = &s->output.out,
                .s = stats,
                .sections = job->sections,
                .whole = job->whole,
                .top = rows_of(set),
                .stacks = set->stacks != NOT_GIVEN ? set->stacks : rows_of(set),
                .order = order_of(set->sort),
                .by_file = is_by_file(s)};
    if (stats->failed)
        r.failed = true;
    else if (set->json)
        report_json(&r);
    else if (is_brief(set))
        report_brief(&r);
    else
        report_text(&r);
    if (r.failed)
        memory_report_refused();
    else
        warn_of_unseen(stats);
    return r.failed ? EXIT_SYSTEM : EXIT_SOUND;
}

static int read_trace(session *s, input *in, stat_pass *pass)
{
    statistics *stats = pass->stats;
    const selection *what = &pass->job->what;
    const stat_options *set = options_of(s);
    select_job select;
    int status = select_begin(&select, what, &set->select, in);
    if (status != EXIT_SOUND)
        return status;
    pass->rows.file = in->name;
    if (statistics_add(stats, in->reader, in->name, (size_t)s->set->threads,
                       what->given ? &select : NULL) == GOTRACE_ERROR)
        findings_add(&in->found, gotrace_reader_error(in->reader));
    return stats->failed ? EXIT_SOUND : select_finish(&select, &set->select, in);
}

static int read_file(session *s, const char *path, stat_pass *pass)
{
    input in;
    int selected = EXIT_SOUND;
    if (recovery_open(&in, s, path, options_of(s)->no_recover))
        selected = read_trace(s, &in, pass);
    int status = input_close(&in);
    return selected > status ? selected : status;
}

/* Report on the files together. */
static int report_files(session *s, const char *const *files, size_t count, const stat_job *job)
{
    stat_pass pass = {.job = job, .rows.out = &s->output.out};
    statistics_each each = each_to(&pass.rows);
    statistics *stats = statistics_new(options_of(s)->each ? &each : NULL, STACKS_BY_LINE);
    int worst = EXIT_SOUND, status;
    pass.stats = stats;
    if (!stats) {
        memory_report_refused();
        return EXIT_SYSTEM;
    }
    stats->several = count > 1;
    stats->no_system = options_of(s)->no_system;
    for (size_t i = 0; i < count && !stats->failed; i++) {
        status = read_file(s, files[i], &pass);
        worst = status > worst ? status : worst;
    }
    /* Without the trace whose selection failed the report would be wrong. */
    status = worst == EXIT_USAGE ? worst : write_report(s, stats, job);
    statistics_free(stats);
    return status > worst ? status : worst;
}

/* Sections of the whole program cannot be restricted to goroutines. Returns false after a
 * diagnostic. */
static bool choose_sections(const session *s, stat_job *job)
{
    const stat_options *set = options_of(s);
    unsigned whole = 1U << REPORT_GC | 1U << REPORT_STOPS;
    job->sections = set->only ? 0 : ~0U;
    if (!options_list("only", set->only, report_section, &job->sections))
        return false;
    job->whole = !(job->what.given & SELECT_OF_PARTS);
    for (size_t by = 0; by < SELECT_COUNT; by++)
        if (set->only && (job->sections & whole) &&
            (job->what.given & SELECT_OF_PARTS & SELECT_BIT(by))) {
            diag_error("--only %s is about the whole program, which --%s cannot restrict",
                       report_section(job->sections & 1U << REPORT_GC ? REPORT_GC : REPORT_STOPS),
                       select_option(by));
            return false;
        }
    if (!job->whole)
        job->sections &= ~whole;
    return true;
}

/* Reports on one of several files. */
static int report_each(session *s, const files_job *all, size_t n, bool apart)
{
    stat_job job = *(const stat_job *)all->ctx;
    int status = EXIT_SOUND;
    /* A pattern is matched by one thread at a time. */
    if (apart)
        status = select_open(&job.what, &options_of(s)->select);
    if (n && !options_of(s)->json)
        out_char(&s->output.out, '\n');
    if (status == EXIT_SOUND)
        status = report_files(s, &all->files[n], 1, &job);
    if (apart)
        selection_free(&job.what);
    return status;
}

static int report_all(session *s, const stat_job *job)
{
    const stat_options *set = options_of(s);
    int worst = output_open(&s->output, s->set->output, false);
    if (worst != EXIT_SOUND)
        return worst;
    s->report = set->json ? &s->output.out : NULL;
    static const char *const standard[] = {"-"};
    const char *const *files = s->file_count ? s->files : standard;
    size_t count = s->file_count ? s->file_count : 1;
    if (!is_by_file(s))
        return report_files(s, files, count, job);
    return files_run(
        s, &(files_job){.files = files, .count = count, .ctx = (void *)job, .run = report_each});
}

static int run_stat(session *s)
{
    const stat_options *set = options_of(s);
    stat_job job;
    if (set->each && !set->json) {
        diag_error("--each needs --json");
        return EXIT_USAGE;
    }
    int status = select_open(&job.what, &set->select);
    if (status == EXIT_SOUND)
        status = choose_sections(s, &job) ? report_all(s, &job) : EXIT_USAGE;
    selection_free(&job.what);
    return status;
}

static const stat_options defaults = {
    .by = "all", .sort = "cost", .top = NOT_GIVEN, .stacks = NOT_GIVEN};

static const option_spec options[] = {
    {0, "only", OPTION_TEXT, "LIST", offsetof(stat_options, only), report_section,
     "write only these sections (comma-separated)"},
    {0, "by", OPTION_CHOICE, "GROUP", offsetof(stat_options, by), grouping,
     "report on all files together, or on each file (all)"},
    {0, "top", OPTION_NUMBER, "N", offsetof(stat_options, top), NULL,
     "rows of a table (10, or 5 in short; 0: all)"},
    {0, "full", OPTION_FLAG, NULL, offsetof(stat_options, full), NULL,
     "write all sections in full, not in short"},
    {0, "sort", OPTION_CHOICE, "COLUMN", offsetof(stat_options, sort), function_order_name,
     "order goroutines by this sum or number (cost)"},
    {0, "stacks", OPTION_NUMBER, "N", offsetof(stat_options, stacks), NULL,
     "show at most N stacks of a table (as --top; 0: all)"},
    {0, "no-system", OPTION_FLAG, NULL, offsetof(stat_options, no_system), NULL,
     "omit runtime goroutines"},
    {0, "json", OPTION_FLAG, NULL, offsetof(stat_options, json), NULL,
     "write problems and rows as JSON Lines"},
    {0, "each", OPTION_FLAG, NULL, offsetof(stat_options, each), NULL,
     "with --json: also each goroutine, region and task"},
    /* clang-format off */
    SELECT_OPTIONS(stat_options, select)
    /* clang-format on */
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
