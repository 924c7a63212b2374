/* why.c - what the time of tasks, regions and goroutines went into. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/diag.h"
#include "cmd/files.h"
#include "cmd/input.h"
#include "cmd/memory.h"
#include "cmd/names.h"
#include "cmd/recovery.h"
#include "cmd/select.h"
#include "cmd/why/why.h"
#include "formats/formats.h"
#include "formats/profile/options.h"

typedef struct why_options {
    settings common;
    const char *task, *region, *goroutine, *to, *slowest;
    why_view view;
    select_options select;
    bool json, total, no_recover;
} why_options;

static const why_options *options_of(const session *s)
{
    return (const why_options *)s->set;
}

static const format *const targets[] = {&format_perfetto, &format_pprof, &format_folded,
                                        &format_speedscope, NULL};

static const char *target_name(size_t n)
{
    return targets[n] ? targets[n]->name : NULL;
}

/* A decimal number. */
static bool parse_id(const char *text, uint64_t *id)
{
    *id = 0;
    for (const char *at = text; *at; at++)
        if (*at < '0' || *at > '9' || __builtin_mul_overflow(*id, 10, id) ||
            __builtin_add_overflow(*id, (uint64_t)(*at - '0'), id))
            return false;
    return *text;
}

/* "0.5": a percentage, in PATH_ALL. */
static bool parse_share(const char *text, size_t size, uint64_t *share)
{
    uint64_t unit = PATH_ALL / 100;
    bool decimals = false;
    *share = 0;
    for (size_t i = 0; i < size; i++) {
        const uint64_t digit = (uint64_t)(text[i] - '0');
        if (text[i] == '.' && !decimals && i > 0 && i + 1 < size) {
            decimals = true;
            continue;
        }
        unit /= decimals ? 10 : 1;
        if (text[i] < '0' || text[i] > '9' || unit == 0 || *share > PATH_ALL)
            return false;
        *share = *share * (decimals ? 1 : 10) + digit * unit;
    }
    return *share > 0 && *share <= PATH_ALL;
}

/* Set how many are explained: "10", or "0.5%" of those that match. False after a diagnostic. */
static bool parse_slowest(const char *text, path_query *query)
{
    const size_t size = text ? strlen(text) : 0;
    query->slowest = 1;
    if (!text ||
        (size > 1 && text[size - 1] == '%' && parse_share(text, size - 1, &query->share)) ||
        (parse_id(text, &query->slowest) && query->slowest > 0))
        return true;
    diag_error("--slowest takes a number above 0 or a percentage up to 100%%, such as 10 or 0.5%%, "
               "not '%s'",
               text);
    return false;
}

/* Find what to look for: regions, which may be those of a task, or tasks, which both may be those
 * of a goroutine, or goroutines. What it may be of is a criterion. False after a diagnostic. */
static bool choose(const why_options *set, path_query *query, select_options *select)
{
    *query = (path_query){.range = {INT64_MIN, INT64_MAX}};
    *select = set->select;
    if (!parse_slowest(set->slowest, query))
        return false;
    query->kind = set->region ? PATH_REGION : set->task ? PATH_TASK : PATH_GOROUTINE;
    query->name = set->region ? set->region : set->task ? set->task : set->goroutine;
    if (!query->name) {
        diag_error("specify what to explain: --task ID or TYPE, --region NAME, or --goroutine ID "
                   "or FUNC");
        return false;
    }
    if (query->kind == PATH_REGION)
        select->texts[SELECT_TASK] = set->task;
    if (query->kind != PATH_GOROUTINE)
        select->texts[SELECT_GOROUTINE] = set->goroutine;
    query->has_id = query->kind != PATH_REGION && parse_id(query->name, &query->id);
    if (set->to && set->json) {
        diag_error("--json and --to exclude each other");
        return false;
    }
    if (set->total && set->to && !format_by_name(set->to)->profiles) {
        diag_error("--total is not for --to %s, which shows each path", set->to);
        return false;
    }
    return true;
}

/* ---- nothing matches --------------------------------------------------------------------------
 */

static int compare_names(const void *left, const void *right)
{
    const path_name *a = left, *b = right;
    if (a->count != b->count)
        return a->count < b->count ? 1 : -1;
    return a->name < b->name ? -1 : 1;
}

/* The names that the trace has, the most frequent first; to be freed. */
static path_name *known_names(const paths *p)
{
    path_name *list = p->names.count ? malloc(p->names.count * sizeof *list) : NULL;
    size_t cursor = 0, count = 0;
    uint64_t key;
    void *value;
    while (list && idmap_next(&p->names, &cursor, &key, &value))
        list[count++] = *(const path_name *)value;
    if (count > 1)
        qsort(list, count, sizeof *list, compare_names);
    return list;
}

/* Report that nothing matches, and what the trace has instead. */
static void report_none(const paths *p, const input *in, const select_job *select,
                        const select_options *options)
{
    enum { SHOWN = 10, LONGEST = 60 };
    const char *kind = why_kind_name(p->query.kind), *file = in->name;
    char outside[256], where[300] = "";
    if (select->what->given & SELECT_OF_PARTS) {
        select_given(options, outside, sizeof outside);
        snprintf(where, sizeof where, " with %s", outside);
    } else if (select->what->given) {
        snprintf(where, sizeof where, " in the time range");
    }
    if (select_is_outside(select, options, in, outside, sizeof outside)) {
        diag_error("%s has no %ss%s: %s", file, kind, where, outside);
        return;
    }
    path_name *list = known_names(p);
    char known[SHOWN * (LONGEST + 32)];
    size_t used = 0, n = 0;
    for (; list && n < p->names.count && n < SHOWN; n++) {
        size_t size;
        const char *name = names_text(p->stacks, list[n].name, &size);
        used += (size_t)snprintf(known + used, sizeof known - used, "%s%.*s%s (%" PRIu64 ")",
                                 n ? ", " : "", (int)names_cut(name, size, LONGEST), name,
                                 size > LONGEST ? "..." : "", list[n].count);
    }
    if (p->ids == 0)
        diag_error("%s has no %ss%s", file, kind, where);
    else
        diag_error("%s has no %s '%s'%s; it has %s%s", file, kind, p->query.name, where,
                   list ? known : "", p->names.count > n ? ", and others" : "");
    free(list);
}

/* ---- output -----------------------------------------------------------------------------------
 */

/* Report a failure of memory or of a temporary file, if there was one. */
static bool report_failure(const paths *p, bool memory)
{
    int error;
    bool failed = paths_failed(p, &error);
    if (memory || p->failed || error == ENOMEM)
        memory_report_refused();
    else if (failed)
        diag_error("cannot store the states of goroutines in a temporary file: %s",
                   strerror(error));
    return failed || memory;
}

/* A timeline of the time that the paths have. It is made by a second reader, whose problems the
 * first one reported. Returns an exit status. */
static int write_timeline(session *s, input *in, paths *p)
{
    gotrace_config config = input_quiet(in);
    gotrace_reader *reader = input_read_again(in);
    why_timeline timeline;
    if (!reader)
        return EXIT_SYSTEM;
    bool done = why_timeline_init(&timeline, p);
    convert_job job = {.reader = reader,
                       .source = in->source,
                       .config = &config,
                       .out = &s->output.out,
                       .name = in->name,
                       .threads = (unsigned)s->set->threads,
                       .options = &(perfetto_options){.tracks = &timeline.tracks,
                                                      .windows = timeline.windows,
                                                      .window_count = timeline.window_count}};
    if (done)
        format_perfetto.run(&job);
    done = done && !timeline.failed;
    why_timeline_free(&timeline);
    bool read = input_end_again(in, reader);
    return report_failure(p, !done) || !read ? EXIT_SYSTEM : EXIT_SOUND;
}

/* Makes a profile for write_profile. */
typedef struct profile_maker {
    paths *paths;
    bool refused; /* memory was */
} profile_maker;

static bool make_profile(void *ctx, profile *made, stacks_detail detail)
{
    profile_maker *maker = ctx;
    path_totals t;
    int error;
    maker->refused = !path_totals_make(
        &t, maker->paths,
        &(path_totals_options){.detail = detail, .nested = true, .most_nested = PATH_MOST_STACKS});
    bool done = !maker->refused && !paths_failed(maker->paths, &error);
    if (done)
        maker->refused = !path_totals_profile(&t, made);
    path_totals_free(&t);
    return done && !maker->refused;
}

/* Returns an exit status. */
static int write_profile(session *s, const input *in, paths *p, const format *target)
{
    profile_maker maker = {.paths = p};
    const profile_convert_options options = {.make = make_profile, .ctx = &maker};
    target->run(&(convert_job){.reader = in->reader,
                               .out = &s->output.out,
                               .name = files_base_name(in->name),
                               .options = &options});
    return report_failure(p, maker.refused) ? EXIT_SYSTEM : EXIT_SOUND;
}

/* False if memory is refused. */
static bool write_total(session *s, paths *p)
{
    const why_options *set = options_of(s);
    const stacks_detail detail = set->json || set->view.stacks ? STACKS_BY_LINE
                                                               : STACKS_BY_FUNCTION;
    path_totals t;
    int error;
    bool done = path_totals_make(&t, p, &(path_totals_options){.detail = detail});
    if (done && !paths_failed(p, &error))
        done = set->json ? why_total_json(&s->output.out, p, &t)
                         : why_total_text(&s->output.out, p, &t, &set->view);
    path_totals_free(&t);
    return done;
}

/* The same. */
static bool write_each(session *s, paths *p)
{
    const why_options *set = options_of(s);
    out *o = &s->output.out;
    const path_interval *i;
    bool done = true;
    for (size_t n = 0; done && (i = paths_interval(p, n)); n++) {
        if (!set->json && p->longest.count > 1)
            out_char(o, '\n');
        paths_walk(p, i);
        done = set->json ? why_json(o, p, i) : why_text(o, p, i, &set->view);
    }
    return done;
}

/* The paths of a share of all, which may be many, are shown in total only. Returns an exit status.
 */
static int write_paths(session *s, paths *p)
{
    const why_options *set = options_of(s);
    const bool total = set->total || p->query.share;
    bool done = true;
    if (total || p->longest.count > 1)
        done = write_total(s, p);
    else if (!set->json && p->matched > 1)
        out_printf(&s->output.out, "the slowest of %" PRIu64 ":\n", p->matched);
    done = done && (total || write_each(s, p));
    return report_failure(p, !done) ? EXIT_SYSTEM : EXIT_SOUND;
}

/* Returns an exit status. */
static int explain(session *s, input *in, paths *p, const selection *what,
                   const select_options *options)
{
    select_job select;
    int status = select_begin(&select, what, options, in);
    if (status != EXIT_SOUND)
        return status;
    p->query.range = select.range;
    gotrace_status read = paths_read(p, in->reader, (size_t)s->set->threads,
                                     what->given & SELECT_OF_PARTS ? &select : NULL);
    if (read == GOTRACE_ERROR)
        findings_add(&in->found, gotrace_reader_error(in->reader));
    if (report_failure(p, false))
        return EXIT_SYSTEM;
    if (select.too_hard)
        return select_finish(&select, options, in);
    if (p->matched == 0) {
        if (read != GOTRACE_ERROR || p->ids > 0)
            report_none(p, in, &select, options);
        return EXIT_DAMAGED;
    }
    const format *target = options_of(s)->to ? format_by_name(options_of(s)->to) : NULL;
    return !target            ? write_paths(s, p)
           : target->profiles ? write_profile(s, in, p, target)
                              : write_timeline(s, in, p);
}

static int explain_file(session *s, const path_query *query, const selection *what,
                        const select_options *options)
{
    const why_options *set = options_of(s);
    int status = output_open(&s->output, s->set->output,
                             set->to && format_by_name(set->to)->binary);
    if (status != EXIT_SOUND)
        return status;
    s->report = set->json ? &s->output.out : NULL;
    paths *p = paths_new(query);
    if (!p) {
        memory_report_refused();
        return EXIT_SYSTEM;
    }
    input in;
    if (recovery_open(&in, s, input_path(s), set->no_recover))
        status = explain(s, &in, p, what, options);
    int found = input_close(&in);
    paths_free(p);
    return found > status ? found : status;
}

static int run_why(session *s)
{
    path_query query;
    select_options options;
    selection what;
    if (!choose(options_of(s), &query, &options))
        return EXIT_USAGE;
    int status = select_open(&what, &options);
    if (status == EXIT_SOUND)
        status = explain_file(s, &query, &what, &options);
    selection_free(&what);
    return status;
}

static const why_options defaults = {.view.top = WHY_USUAL};

static const option_spec options[] = {
    {0, "task", OPTION_TEXT, "ID|TYPE", offsetof(why_options, task), NULL,
     "explain the task with that id, or those of that type"},
    {0, "region", OPTION_TEXT, "NAME", offsetof(why_options, region), NULL,
     "explain the regions with that name"},
    {0, "goroutine", OPTION_TEXT, "ID|FUNC", offsetof(why_options, goroutine), NULL,
     "explain the goroutine with that id or start function"},
    /* clang-format off */
    SELECT_SUBJECT_OPTIONS(why_options, select)
    /* clang-format on */
    {0, "slowest", OPTION_WORD, "N|P%", offsetof(why_options, slowest), NULL,
     "explain the N or P percent slowest of those (1)"},
    {0, "total", OPTION_FLAG, NULL, offsetof(why_options, total), NULL,
     "show only what they add up to (default for P%)"},
    {0, "top", OPTION_NUMBER, "N", offsetof(why_options, view.top), NULL,
     "show N rows (50; stacks in total: 10; 0: all)"},
    {0, "stacks", OPTION_FLAG, NULL, offsetof(why_options, view.stacks), NULL,
     "show whole stacks, with files and lines"},
    {0, "json", OPTION_FLAG, NULL, offsetof(why_options, json), NULL,
     "write problems and rows as JSON Lines"},
    {0, "to", OPTION_CHOICE, "FORMAT", offsetof(why_options, to), target_name,
     "write a timeline, or a profile of all paths"},
    NO_RECOVER_OPTION(why_options, no_recover),
    {.name = NULL},
};

const verb verb_why = {
    .name = "why",
    .args = "[FILE]",
    .max_args = 1,
    .input = "FILE",
    .summary = "explain why tasks, regions or goroutines were slow",
    .details = "The critical path: each nanosecond from begin to end is execution, scheduling\n"
               "delay, a system call, or waiting. What a goroutine waited for is the path of\n"
               "the goroutine that unblocked it, back to the moment when the wait began.\n"
               "Several paths are added up too: by what they waited for, and by what that was.",
    .options = options,
    .defaults = &defaults,
    .options_size = sizeof(why_options),
    .limited = true,
    .run = run_why,
};
