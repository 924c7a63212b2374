/* convert.c - convert a trace to another format, to another version, or to an event script. */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cmd/diag.h"
#include "cmd/files.h"
#include "cmd/folder.h"
#include "cmd/memory.h"
#include "cmd/narrow.h"
#include "cmd/new_file.h"
#include "cmd/options.h"
#include "cmd/progress.h"
#include "cmd/records.h"
#include "cmd/recovery.h"
#include "cmd/select.h"
#include "cmd/table_files.h"
#include "cmd/version_file.h"
#include "cmd/versions.h"
#include "formats/analyse/profile.h"
#include "formats/chrome/options.h"
#include "formats/perfetto/options.h"
#include "formats/profile/options.h"

typedef struct convert_options {
    settings common;
    const char *to; /* NULL: not given */
    chrome_options chrome;
    perfetto_options perfetto;
    profile_convert_options profile;
    bool strict, no_recover, partitions;
    narrowing narrow;
    select_options select;
} convert_options;

static const convert_options *options_of(const session *s)
{
    return (const convert_options *)s->set;
}

/* The values of --to: formats first, then versions, then scripts. */
static const char *target_name(size_t n)
{
    size_t count = 0;
    while (formats[count])
        count++;
    if (n < count)
        return formats[n]->name;
    const char *name = version_name(n - count);
    return name ? name : script_name(n - count - version_count());
}

static const script_format *script_by_path(const char *path)
{
    size_t size;
    packing_of_path(path, &size);
    for (size_t i = 0; script_formats[i]; i++)
        for (const char *const *e = script_formats[i]->extensions; e && *e; e++)
            if (size > strlen(*e) && strncasecmp(path + size - strlen(*e), *e, strlen(*e)) == 0)
                return script_formats[i];
    return NULL;
}

/* A version without "go", such as "1.19"; NULL for anything else. */
static const char *bare_version(const char *to)
{
    bool bare = to && version_release_number(to) > 0 && !to[strspn(to, ".0123456789")];
    return bare ? to : NULL;
}

/* Find the target among formats, versions and scripts; false after a diagnostic. */
static bool choose(const session *s, const format **target, int *version,
                   const script_format **script)
{
    const char *to = options_of(s)->to, *path = s->set->output;
    char known[256];
    options_join(known, sizeof known, target_name);
    *target = to ? format_by_name(to) : path ? format_by_path(path) : NULL;
    *version = to ? version_of_release(to) : 0;
    *script = *target ? NULL : to ? script_by_name(to) : path ? script_by_path(path) : NULL;
    const char *bare = bare_version(to);
    if (!bare && (*target || *version || *script))
        return true;
    if (to) {
        version_unknown("to", to, "go", target_name);
    } else if (path) {
        diag_error("the ending of '%s' is not that of a format; specify --to: %s", path, known);
    } else {
        diag_error("the format is missing: specify --to (%s) or -o OUT", known);
    }
    return false;
}

/* The options that only this target has; NULL: there are none. */
static const void *own_options(const convert_options *set, const format *target)
{
    return target == &format_chrome     ? &set->chrome
           : target == &format_perfetto ? (const void *)&set->perfetto
           : target && target->profiles ? (const void *)&set->profile
                                        : NULL;
}

/* Check that the options apply to the target; false after a diagnostic. */
static bool suits(const session *s, const format *target)
{
    const convert_options *set = options_of(s);
    const void *own = own_options(set, target);
    if (set->chrome.by && own != &set->chrome) {
        diag_error("--by is for --to chrome");
        return false;
    }
    if ((set->perfetto.thread_runs || set->perfetto.detail) && own != &set->perfetto) {
        diag_error("--%s is for --to perfetto", set->perfetto.detail ? "detail" : "thread-runs");
        return false;
    }
    if ((set->profile.kind || set->profile.open) && own != &set->profile) {
        diag_error("--%s is for --to pprof, folded and speedscope",
                   set->profile.kind ? "profile" : "open");
        return false;
    }
    bool folder = target && target->end_folder;
    if (set->partitions && !folder) {
        diag_error("--partitions is for --to parquet");
        return false;
    }
    if (folder && !s->set->output) {
        diag_error("the output folder is missing: specify -o DIR");
        return false;
    }
    if (folder && !folder_is_valid(s->set->output))
        return false;
    if (folder && (s->set->zstd || s->set->gzip)) {
        diag_error("--%s is not for --to parquet, whose pages are compressed with zstd",
                   s->set->zstd ? "zstd" : "gzip");
        return false;
    }
    return true;
}

static void note_alignment(convert_alignment alignment)
{
    switch (alignment) {
    case ALIGNED_MONOTONIC: diag_note("the traces are aligned by the monotonic clock"); break;
    case ALIGNED_REALTIME: diag_note("the traces are aligned by the wall clock"); break;
    default:
        diag_note("not all traces contain clocks (Go 1.25 and later): each starts at time zero");
    }
}

/* Whether the target counts the events that are selected. */
static bool is_counted(const format *target)
{
    return target->profiles || target->report;
}

/* A timeline shows a time range; whether an event is in it is not counted. */
static void count_shown(select_job *select, int64_t duration)
{
    select->count = select->range.from <= duration && select->range.until > 0;
}

/* In a timeline 0 is the start, or the end. */
static void set_range(convert_job *job, const select_range *range)
{
    job->from = range->from > 0 ? range->from : 0;
    job->to = range->until == INT64_MAX ? 0 : range->until > 0 ? range->until : 1;
}

/* Run the format of a timeline, which shows goroutines as a whole. Returns an exit status. */
static int run_timeline(const format *target, convert_job *job, select_job *select, input *in)
{
    const selection *what = select->what;
    selection found = {.given = SELECT_BIT(SELECT_GOROUTINE)};
    select_range span;
    bool finds = what->given & SELECT_OF_PARTS & ~SELECT_BIT(SELECT_GOROUTINE);
    bool spans = what->given & SELECT_BIT(SELECT_GENERATION);
    int status = finds ? select_goroutines(select, in, &found.ids[SELECT_GOROUTINE], &span)
                       : EXIT_SOUND;
    if (finds)
        select->what = &found;
    if (finds && spans && select->count > 0) {
        select->range = span;
        set_range(job, &span);
    }
    if (status == EXIT_SOUND && !select->failed && !select->too_hard &&
        target->run(job) == GOTRACE_ERROR)
        findings_add(&in->found, gotrace_reader_error(in->reader));
    select->what = what;
    free(found.ids[SELECT_GOROUTINE].ranges);
    bool counted = what->given & SELECT_OF_PARTS; /* of the goroutines that are shown */
    if (!counted || select->count > 0)
        count_shown(select, gotrace_reader_summary(in->reader)->duration);
    return status;
}

/* Returns an exit status. */
static int run_format(const session *s, const format *target, convert_job *job,
                      const selection *what, input *in)
{
    select_job select;
    int status = select_begin(&select, what, &options_of(s)->select, in);
    if (status != EXIT_SOUND)
        return status;
    job->select = what->given ? &select : NULL;
    set_range(job, &select.range);
    if (!is_counted(target))
        status = run_timeline(target, job, &select, in);
    else if (target->run(job) == GOTRACE_ERROR)
        findings_add(&in->found, gotrace_reader_error(in->reader));
    job->select = NULL;
    return status == EXIT_SOUND ? select_finish(&select, &options_of(s)->select, in) : status;
}

/* Note if the timeline of traces of so many bytes may be too large. What a selection or --detail
 * leaves of it is not known before. */
static bool expect_size(const convert_options *set, const format *target, const convert_job *job,
                        const selection *what, int version, uint64_t bytes)
{
    bool whole = !what->given && job->parts == 0 && !set->perfetto.detail;
    return whole && narrow_expect_size(target, version, bytes);
}

static void read_from(convert_job *job, const input *in)
{
    job->reader = in->reader;
    job->source = in->source;
    job->config = &in->config;
    job->recovered = in->damaged != NULL;
    job->gaps = in->gaps;
    job->gap_count = in->gap_count;
}

/* Convert several traces into one timeline. All are opened before the first is converted, because
 * the alignment depends on all of them. */
static int convert_series_of(session *s, const format *target, convert_job *job,
                             const selection *what, input *in, gotrace_source **sources)
{
    int worst = EXIT_SOUND, status, version = 0;
    size_t count = 0;
    uint64_t bytes = 0;
    for (size_t i = 0; i < s->file_count; i++)
        if (recovery_open(&in[i], s, s->files[i], options_of(s)->no_recover)) {
            sources[count++] = in[i].source;
            bytes += gotrace_source_size(in[i].source);
            version = gotrace_reader_summary(in[i].reader)->version;
        }
    bool expected = expect_size(options_of(s), target, job, what, version, bytes);
    convert_series series = {.alignment = convert_align(sources, count)};
    note_alignment(series.alignment);
    job->series = &series;
    for (size_t i = 0; i < s->file_count; i++) {
        read_from(job, &in[i]);
        job->name = files_base_name(in[i].name);
        if (in[i].reader) {
            status = run_format(s, target, job, what, &in[i]);
            worst = status > worst ? status : worst;
        }
        status = input_close(&in[i]);
        worst = status > worst ? status : worst;
        series.index++;
    }
    narrow_check_size(target, version, s->output.out.written + s->output.out.used, expected);
    return worst;
}

static void note_empty(profile_kind kind, bool restricted, const char *file)
{
    if (restricted)
        diag_warning(file,
                     "the profile is empty: nothing in the selected part matches --profile %s",
                     profile_name(kind));
    else if (kind == PROFILE_CPU)
        diag_warning(file, "the profile is empty: the trace has no CPU samples, which Go 1.19 and "
                           "later record while a CPU profile is taken");
    else
        diag_warning(file, "the profile is empty: the trace has no such intervals");
}

/* Convert one of the traces of a sum. *samples: it has CPU samples. Returns an exit status. */
static int convert_part(session *s, const format *target, convert_job *job, const selection *what,
                        const char *path, bool *samples)
{
    int status = EXIT_SOUND;
    input in;
    if (recovery_open(&in, s, path, options_of(s)->no_recover)) {
        read_from(job, &in);
        job->name = files_base_name(in.name);
        job->path = in.name;
        status = run_format(s, target, job, what, &in);
        *samples |= gotrace_reader_summary(in.reader)->samples > 0;
    }
    int closed = input_close(&in);
    return closed > status ? closed : status;
}

/* Convert several traces, one after another, into one output that is their sum. */
static int convert_sum(session *s, const format *target, convert_job *job, const selection *what)
{
    const profile_kind kind = profile_kind_of(options_of(s)->profile.kind);
    int worst = EXIT_SOUND;
    bool empty = false, samples = false;
    convert_series series = {.alignment = ALIGNED_NOT};
    job->series = &series;
    job->empty = &empty;
    for (size_t i = 0; i < s->file_count; i++) {
        int status = convert_part(s, target, job, what, s->files[i], &samples);
        worst = status > worst ? status : worst;
        series.index++;
    }
    target->end_series(job);
    if (!empty || worst != EXIT_SOUND)
        return worst;
    note_empty(kind, what->given && (samples || kind != PROFILE_CPU), s->files[0]);
    return kind == PROFILE_CPU && !(samples && what->given) ? EXIT_DAMAGED : EXIT_SOUND;
}

static int convert_several(session *s, const format *target, convert_job *job,
                           const selection *what)
{
    int status = output_open(&s->output, s->set->output, target->binary);
    if (status != EXIT_SOUND)
        return status;
    job->out = &s->output.out;
    if (target->end_series)
        return convert_sum(s, target, job, what);
    input *in = calloc(s->file_count, sizeof *in);
    gotrace_source **sources = calloc(s->file_count, sizeof *sources);
    if (in && sources) {
        status = convert_series_of(s, target, job, what, in, sources);
    } else {
        memory_report_refused();
        status = EXIT_SYSTEM;
    }
    free(in);
    free(sources);
    return status;
}

/* Convert one of the files to tables. *read: whether anything of it could be read. Returns an exit
 * status. */
static int convert_to_table_rows(session *s, const format *target, convert_job *job,
                                 const selection *what, const char *path, bool *read)
{
    const table_files *files = job->folder->ctx;
    int status = EXIT_SOUND;
    input in;
    *read = recovery_open(&in, s, path, options_of(s)->no_recover);
    job->name = files->trace;
    job->path = in.name;
    if (*read) {
        read_from(job, &in);
        status = run_format(s, target, job, what, &in);
    }
    if (!job->folder->failed && files->status == EXIT_SOUND) {
        const bool known = *read && (in.damaged || !in.loses);
        const convert_verdict verdict = {.name = findings_verdict(&in.found),
                                         .errors = in.found.errors,
                                         .warnings = in.found.warnings,
                                         .lost_bytes = known ? (int64_t)in.lost_bytes : -1,
                                         .recovered = in.damaged != NULL};
        target->end_trace(job, &verdict);
    }
    int closed = input_close(&in);
    return closed > status ? closed : status;
}

/* Convert the files one after another to tables. A file that cannot be read has a row, and prevents
 * no tables of the others. Returns an exit status. */
static int convert_to_tables(session *s, const format *target, convert_job *job,
                             const selection *what, table_files *files, const char *const *names)
{
    const char *const standard = NULL;
    const char *const *paths = s->file_count > 0 ? s->files : &standard;
    size_t count = s->file_count > 0 ? s->file_count : 1;
    convert_folder folder = {.ctx = files, .open = table_files_open};
    int worst = EXIT_SOUND, status;
    bool keep = true, any = false; /* any: there is a row */
    job->folder = &folder;
    for (size_t i = 0; i < count; i++) {
        bool read, partitions = options_of(s)->partitions;
        files->trace = names[i];
        status = convert_to_table_rows(s, target, job, what, paths[i], &read);
        if (folder.failed)
            memory_report_refused();
        /* A table that could not be opened or written will not be complete. */
        const bool fails = folder.failed || files->status != EXIT_SOUND;
        status = fails ? EXIT_SYSTEM : status;
        worst = status > worst ? status : worst;
        any = any || read || status == EXIT_DAMAGED;
        keep = !fails && (keep || partitions) &&
               (!read || status == EXIT_SOUND || status == EXIT_DAMAGED);
        if (fails)
            break;
        if (partitions && i + 1 < count) {
            target->end_folder(&folder, keep);
            status = table_files_end(files, keep);
            worst = status > worst ? status : worst;
        }
    }
    keep = keep && any;
    target->end_folder(&folder, keep);
    status = table_files_end(files, keep);
    return status > worst ? status : worst;
}

static int convert_to_folder(session *s, const format *target, convert_job *job,
                             const selection *what)
{
    static const char *const standard[] = {"-"};
    const char **names = NULL;
    table_files *files = calloc(1, sizeof *files);
    if (!files) {
        memory_report_refused();
        return EXIT_SYSTEM;
    }
    int status = s->file_count > 0 ? table_files_names(s->files, s->file_count, &names)
                                   : table_files_names(standard, 1, &names);
    if (status == EXIT_SOUND && !folder_make(s->set->output))
        status = EXIT_SYSTEM;
    if (status == EXIT_SOUND) {
        files->folder = s->set->output;
        files->partitions = options_of(s)->partitions;
        files->group = 1;
        status = convert_to_tables(s, target, job, what, files, names);
    }
    /* Those that have files are not removed. */
    new_file_folders_end(false);
    free(names);
    free(files);
    return status;
}

static int convert(session *s, const format *target, convert_job *job, const selection *what)
{
    const convert_options *set = options_of(s);
    int selected = EXIT_SOUND;
    int status = output_open(&s->output, s->set->output, target->binary);
    if (status != EXIT_SOUND)
        return status;
    input in;
    bool empty = false, lacks_samples = false;
    profile_kind kind = profile_kind_of(set->profile.kind);
    if (recovery_open(&in, s, input_path(s), set->no_recover)) {
        read_from(job, &in);
        job->out = &s->output.out;
        job->name = files_base_name(in.name);
        progress_output(&s->output.out.written);
        job->empty = &empty;
        int version = gotrace_reader_summary(in.reader)->version;
        uint64_t unread = gotrace_reader_summary(in.reader)->unread_bytes;
        bool expected = expect_size(set, target, job, what, version,
                                    gotrace_source_size(in.source) - unread);
        selected = run_format(s, target, job, what, &in);
        bool no_samples = kind == PROFILE_CPU &&
                          (!what->given || gotrace_reader_summary(in.reader)->samples == 0);
        if (empty && selected == EXIT_SOUND)
            note_empty(kind, !no_samples && what->given, in.name);
        lacks_samples = empty && no_samples;
        narrow_check_size(target, version, s->output.out.written + s->output.out.used, expected);
    }
    status = input_close(&in);
    if (status == EXIT_SOUND && lacks_samples)
        status = EXIT_DAMAGED;
    return selected > status ? selected : status;
}

/* Check that the options that select a part apply to the target; false after a diagnostic. */
static bool selects(const format *target, const selection *what)
{
    return target || select_supports(what, 0,
                                     "timelines, profiles and reports; scripts and other versions "
                                     "contain the whole trace");
}

static int convert_to(session *s, const format *target, int version, const script_format *script,
                      const selection *what)
{
    const convert_options *set = options_of(s);
    convert_job job = {.options = own_options(set, target), .threads = (unsigned)s->set->threads};
    if (!selects(target, what) || !narrow_job(&set->narrow, target, &job))
        return EXIT_USAGE;
    if (s->file_count > 1 && !(target && target->several)) {
        diag_error("--to %s reads one trace, not %zu: %s",
                   target   ? target->name
                   : script ? script->name
                            : set->to,
                   s->file_count,
                   target   ? target->instead
                   : script ? "write a script for each"
                            : "write a trace for each");
        return EXIT_USAGE;
    }
    if (target && target->end_folder)
        return convert_to_folder(s, target, &job, what);
    s->output.large = target && target->large;
    if (s->file_count > 1)
        return convert_several(s, target, &job, what);
    return target    ? convert(s, target, &job, what)
           : version ? version_write(s, version, set->strict, set->no_recover)
                     : records_dump(s, script);
}

static int run_convert(session *s)
{
    const convert_options *set = options_of(s);
    const format *target;
    const script_format *script;
    int version;
    if (!choose(s, &target, &version, &script) || !suits(s, target))
        return EXIT_USAGE;
    if (set->strict && version == 0) {
        diag_error("--strict is for --to go1.N");
        return EXIT_USAGE;
    }
    selection what;
    int status = select_open(&what, &set->select);
    if (status == EXIT_SOUND)
        status = convert_to(s, target, version, script, &what);
    selection_free(&what);
    return status;
}

static const option_spec options[] = {
    {0, "to", OPTION_TARGET, "NAME", offsetof(convert_options, to), target_name,
     "output format (default: by the ending of OUT)"},
    {0, "by", OPTION_CHOICE, "VIEW", offsetof(convert_options, chrome.by), chrome_view_name,
     "chrome: one row per VIEW (proc)"},
    {0, "profile", OPTION_CHOICE, "KIND", offsetof(convert_options, profile.kind), profile_name,
     "profiles: what they are of (wall)"},
    {0, "open", OPTION_FLAG, NULL, offsetof(convert_options, profile.open), NULL,
     "profiles: include what ends with the trace"},
    NARROW_OPTIONS(convert_options, narrow),
    /* clang-format off */
    SELECT_OPTIONS(convert_options, select)
    /* clang-format on */
    {0, "thread-runs", OPTION_FLAG, NULL, offsetof(convert_options, perfetto.thread_runs), NULL,
     "perfetto: show the runs of goroutines on threads"},
    {0, "detail", OPTION_TIME, "TIME", offsetof(convert_options, perfetto.detail), NULL,
     "perfetto: merge what is shorter than TIME"},
    {0, "strict", OPTION_FLAG, NULL, offsetof(convert_options, strict), NULL,
     "go1.N: fail if that version cannot represent all"},
    {0, "partitions", OPTION_FLAG, NULL, offsetof(convert_options, partitions), NULL,
     "parquet: write folders TABLE/trace=NAME"},
    NO_RECOVER_OPTION(convert_options, no_recover),
    {.name = NULL},
};

const verb verb_convert = {
    .name = "convert",
    .args = "[FILE ...]",
    .max_args = CONVERT_MOST_TRACES,
    .input = "FILE",
    .summary = "convert a trace to another format or Go version",
    .details = "perfetto and chrome are timelines: open them at https://ui.perfetto.dev.\n"
               "html is a report with charts, tables and flame graphs, for a browser.\n"
               "parquet is a folder of tables, for databases: gotrace-parquet(5).\n"
               "pprof, folded and speedscope are profiles: of waiting for the network (net),\n"
               "for channels and mutexes (sync), in system calls (syscall), to be run (sched),\n"
               "of these and all other waiting (offcpu), of CPU samples (cpu), or of all (wall).\n"
               "go1.5 to go1.26 are traces as that version of Go writes them; what it cannot\n"
               "represent is left out, and notes report what and how much. The others are\n"
               "event scripts, as written by dump.\n"
               "\n"
               "Options that select a part are for timelines, profiles, reports and tables.",
    .options = options,
    .options_size = sizeof(convert_options),
    .limited = true,
    .run = run_convert,
};
