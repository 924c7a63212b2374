/* find.c - find moments in many traces. */
#include <inttypes.h>
#include <stdlib.h>

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
    uint64_t max;
    select_options select; /* the times */
    bool count, json, no_recover;
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
    uint64_t count;
} hits;

static const find_options *options_of(const session *s)
{
    return (const find_options *)s->set;
}

static bool add_hit(void *ctx, const stacks *names, const moment *m)
{
    hits *h = ctx;
    const find_options *set = options_of(h->session);
    out *o = &h->session->output.out;
    h->count++;
    if (!set->count && set->json)
        hit_json(o, h->file, names, m);
    else if (!set->count)
        hit_text(o, h->file, names, m);
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

/* Search a trace that was opened. Returns an exit status. */
static int search_trace(session *s, input *in, const expression *what, find_run *all, bool *found)
{
    hits h = {.session = s, .file = in->name};
    const select_options *options = &options_of(s)->select;
    select_job select;
    char outside[256];
    int status = select_begin(&select, &all->when, options, in);
    if (status != EXIT_SOUND)
        return status;
    find_job job = {.what = what,
                    .found = add_hit,
                    .ctx = &h,
                    .named = where_named,
                    .named_ctx = &all->names,
                    .range = all->when.given ? &select.range : NULL,
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
    .details =
        "EXPR is a test such as stw > 10ms, gc > 100ms, sched > 50ms, wait(sync) > 1s,\n"
        "syscall > 20ms, run > 10ms, task(\"rpc\") > 1s, region(\"db\"), log ~ \"timeout\",\n"
        "goroutines > 10000 or heap > 4G, or several, with and, or, not,\n"
        "function ~ REGEX, stack ~ REGEX, goroutine == ID and during (EXPR).",
    .options = options,
    .options_size = sizeof(find_options),
    .limited = true,
    .run = run_find,
};
