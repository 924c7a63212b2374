/* find.c - find moments in many traces. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/diag.h"
#include "cmd/files.h"
#include "cmd/find/hit.h"
#include "cmd/input.h"
#include "cmd/memory.h"
#include "cmd/recovery.h"
#include "cmd/select.h"
#include "cmd/where.h"

typedef struct find_options {
    settings common;
    const char *sort; /* NULL: not given */
    uint64_t max, top;
    select_options select; /* the times */
    bool count, json, wall, no_recover;
} find_options;

/* The search in all files. */
typedef struct find_run {
    const expression *what;
    selection when;
    where_names names;
    bool *found; /* by file: something */
} find_run;

/* The search in one file. */
typedef struct hits {
    session *session;
    const char *file;
    const select_clock *clock; /* NULL: not known, or not shown */
    uint64_t count;
} hits;

static const find_options *options_of(const session *s)
{
    return (const find_options *)s->set;
}

static const char *sort_order(size_t n)
{
    static const char *const names[] = {"time", "duration"};
    return n < sizeof names / sizeof *names ? names[n] : NULL;
}

/* The longest ones are shown from the longest on, unless another order is given. */
static bool is_by_duration(const find_options *set)
{
    return set->sort ? strcmp(set->sort, "duration") == 0 : set->top > 0;
}

static bool add_hit(void *ctx, const stacks *names, const moment *m)
{
    hits *h = ctx;
    const find_options *set = options_of(h->session);
    out *o = &h->session->output.out;
    h->count++;
    if (!set->count && set->json)
        hit_json(o, h->file, h->clock, names, m);
    else if (!set->count)
        hit_text(o, h->file, h->clock, names, m);
    return !o->failed && h->count != set->max;
}

static void write_count(const hits *h)
{
    out *o = &h->session->output.out;
    if (options_of(h->session)->json) {
        out_str(o, "{\"kind\":\"count\",\"file\":");
        out_json_string(o, h->file, strlen(h->file));
        out_printf(o, ",\"moments\":%" PRIu64 "}\n", h->count);
    } else {
        out_go_text(o, h->file, strlen(h->file));
        out_printf(o, ":%" PRIu64 "\n", h->count);
    }
}

/* Find the wall clock of a trace, if it is shown. Returns an exit status. */
static int find_clock(hits *h, const input *in, select_clock *clock)
{
    const find_options *set = options_of(h->session);
    if (set->count || !(set->json || set->wall))
        return EXIT_SOUND;
    switch (selection_clock(in->source, &in->config, clock)) {
    case SELECT_NO_MEMORY: memory_report_refused(); return EXIT_SYSTEM;
    case SELECT_OK: h->clock = clock; return EXIT_SOUND;
    default: break;
    }
    if (set->wall && !set->json)
        diag_warning(in->name, "it does not contain the time of the wall clock, which traces of Go "
                               "1.25 and later have: times are since its start");
    return EXIT_SOUND;
}

/* How many of the longest moments are wanted; 0: all, as they are found. */
static uint64_t longest_of(const find_options *set)
{
    if (set->top)
        return set->top;
    if (!is_by_duration(set))
        return 0;
    return set->max ? set->max : UINT64_MAX;
}

/* Search a trace that was opened. Returns an exit status. */
static int search_trace(session *s, input *in, const expression *what, find_run *all, bool *found)
{
    hits h = {.session = s, .file = in->name};
    const select_options *options = &options_of(s)->select;
    select_job select;
    select_clock clock;
    char outside[256];
    int status = select_begin(&select, &all->when, options, in);
    if (status == EXIT_SOUND)
        status = find_clock(&h, in, &clock);
    if (status != EXIT_SOUND)
        return status;
    find_job job = {.what = what,
                    .found = add_hit,
                    .ctx = &h,
                    .named = where_named,
                    .named_ctx = &all->names,
                    .range = all->when.given ? &select.range : NULL,
                    .longest = longest_of(options_of(s)),
                    .by_duration = is_by_duration(options_of(s)),
                    .threads = (size_t)s->set->threads,
                    .in_order = s->report,
                    .counts = options_of(s)->count};
    if (moments_find(&job, in->reader) == GOTRACE_ERROR)
        findings_add(&in->found, gotrace_reader_error(in->reader));
    status = where_finish(&job, "");
    *found = h.count > 0;
    where_names_end(&all->names, &job);
    if (status == EXIT_SOUND && select_is_outside(&select, options, in, outside, sizeof outside))
        diag_warning(in->name, "%s: nothing is found", outside);
    if (options_of(s)->count && status == EXIT_SOUND)
        write_count(&h);
    return status;
}

static int search_file(session *s, const files_job *all, size_t n, bool apart)
{
    find_run *wanted = all->ctx;
    expression own;
    int status = EXIT_SOUND;
    input in;
    /* A pattern is matched by one thread at a time. */
    if (apart) {
        status = where_open(&own, wanted->what->text, "");
        if (status != EXIT_SOUND) {
            expression_free(&own);
            return status;
        }
    }
    if (recovery_open(&in, s, all->files[n], options_of(s)->no_recover))
        status = search_trace(s, &in, apart ? &own : wanted->what, wanted, &wanted->found[n]);
    int found = input_close(&in);
    if (apart)
        expression_free(&own);
    return found > status ? found : status;
}

static int search_files(session *s, find_run *wanted)
{
    static const char *const standard[] = {"-"};
    size_t count = s->file_count - 1;
    files_job all = {
        .files = count ? s->files + 1 : standard, .count = count ? count : 1, .run = search_file};
    int status = output_open(&s->output, s->set->output, false);
    if (status != EXIT_SOUND)
        return status;
    wanted->found = calloc(all.count, sizeof *wanted->found);
    if (!wanted->found) {
        memory_report_refused();
        return EXIT_SYSTEM;
    }
    all.ctx = wanted;
    s->report = options_of(s)->json ? &s->output.out : NULL;
    status = files_run(s, &all);
    bool any = false;
    for (size_t n = 0; n < all.count; n++)
        any = any || wanted->found[n];
    free(wanted->found);
    if (status != EXIT_SYSTEM && status != EXIT_USAGE)
        where_names_report(&wanted->names);
    return status == EXIT_SOUND && !any ? EXIT_DAMAGED : status;
}

static int find(session *s, const expression *what)
{
    find_run wanted = {.what = what};
    int status = select_open(&wanted.when, &options_of(s)->select);
    if (status == EXIT_SOUND && !where_names_init(&wanted.names, what)) {
        memory_report_refused();
        status = EXIT_SYSTEM;
    }
    if (status == EXIT_SOUND)
        status = search_files(s, &wanted);
    where_names_free(&wanted.names);
    selection_free(&wanted.when);
    return status;
}

static int run_find(session *s)
{
    expression what;
    if (s->file_count == 0) {
        diag_error("an expression is missing, such as 'stw > 10ms'; gotrace-find(1) describes "
                   "them");
        return EXIT_USAGE;
    }
    int status = where_open(&what, s->files[0], "");
    if (status == EXIT_SOUND)
        status = find(s, &what);
    expression_free(&what);
    return status;
}

static const option_spec options[] = {
    /* clang-format off */
    SELECT_TIMES(SELECT_ROW, find_options, select)
    /* clang-format on */
    {0, "sort", OPTION_CHOICE, "ORDER", offsetof(find_options, sort), sort_order,
     "order: as they end, or the longest first (time)"},
    {0, "top", OPTION_NUMBER, "N", offsetof(find_options, top), NULL,
     "find only the N longest, the longest first (0: all)"},
    {0, "wall", OPTION_FLAG, NULL, offsetof(find_options, wall), NULL,
     "show times of the wall clock, where the trace has it"},
    {0, "max", OPTION_NUMBER, "N", offsetof(find_options, max), NULL,
     "find at most N moments in each file (0: all)"},
    {0, "count", OPTION_FLAG, NULL, offsetof(find_options, count), NULL,
     "write only how many there are in each file"},
    {0, "json", OPTION_FLAG, NULL, offsetof(find_options, json), NULL,
     "write problems and moments as JSON Lines"},
    NO_RECOVER_OPTION(find_options, no_recover),
    {.name = NULL},
};

const verb verb_find = {
    .name = "find",
    .args = "EXPR [FILE ...]",
    .max_args = SIZE_MAX,
    .words = 1,
    .input = "FILE",
    .summary = "find moments in many traces",
    .details = "EXPR is a test such as stw > 10ms, gc > 100ms, sched > 50ms, wait(sync) > 1s,\n"
               "syscall > 20ms, run > 10ms, task(\"rpc\") > 1s, region(\"db\"), silence > 20ms,\n"
               "log ~ \"timeout\", goroutines > 10000, goroutines ~ worker > 100, heap > 4G, or\n"
               "several, with and, or, not, function ~ REGEX, stack ~ REGEX, goroutine == ID\n"
               "and during (EXPR).",
    .options = options,
    .options_size = sizeof(find_options),
    .limited = true,
    .run = run_find,
};
