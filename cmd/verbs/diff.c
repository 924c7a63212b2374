/* diff.c - what differs between two sets of traces. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cmd/diag.h"
#include "cmd/diff/report.h"
#include "cmd/diff/runs.h"
#include "cmd/files.h"
#include "cmd/input.h"
#include "cmd/memory.h"
#include "cmd/names.h"
#include "cmd/recovery.h"
#include "cmd/select.h"
#include "formats/common/vector.h"

typedef struct diff_options {
    settings common; /* also_reads_all: --base */
    text_list fail_if;
    const char *to;
    uint64_t top;
    select_options select;
    bool json, all, no_recover;
} diff_options;

/* The values of --to. */
#define DIFF_TARGETS(X)                                                                            \
    X(html)                                                                                        \
    X(pprof)

static const char *target_name(size_t n)
{
#define TARGET(name) #name,
    static const char *const names[] = {DIFF_TARGETS(TARGET)};
#undef TARGET
    return n < sizeof names / sizeof *names ? names[n] : NULL;
}

/* The files of both sides, the old ones first. */
typedef struct file_list {
    const char **names;
    size_t count, room, old;
} file_list;

typedef struct diff_job {
    const selection *what;
    file_runs *runs; /* one for each file */
    bool parts;
    char *made[TEXT_LIST_MOST]; /* names that --base found */
} diff_job;

static const diff_options *options_of(const session *s)
{
    return (const diff_options *)s->set;
}

/* ---- files ------------------------------------------------------------------------------------
 */

/* Returns an exit status, after a diagnostic if it is not EXIT_SOUND. */
static int add_file(file_list *files, const char *name)
{
    const char **names = vector_room(files->names, &files->room, files->count, sizeof *names);
    char *copy = names ? strdup(name) : NULL;
    if (names)
        files->names = names;
    if (!copy) {
        memory_report_refused();
        return EXIT_SYSTEM;
    }
    names[files->count++] = copy;
    return EXIT_SOUND;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Add a file of a folder; others than regular files, and hidden ones, are none. */
static int add_entry(file_list *files, const char *folder, const char *name)
{
    struct stat found;
    char *path;
    if (name[0] == '.')
        return EXIT_SOUND;
    if (asprintf(&path, "%s/%s", folder, name) < 0) {
        memory_report_refused();
        return EXIT_SYSTEM;
    }
    int status = EXIT_SOUND;
    if (stat(path, &found) == 0 && S_ISREG(found.st_mode))
        status = add_file(files, path);
    free(path);
    return status;
}

static int add_folder(file_list *files, const char *folder)
{
    DIR *entries = opendir(folder);
    const struct dirent *entry;
    const size_t first = files->count;
    int status = EXIT_SOUND;
    if (!entries) {
        diag_error("cannot read folder '%s': %s", folder, strerror(errno));
        return EXIT_SYSTEM;
    }
    while (status == EXIT_SOUND && (entry = readdir(entries)))
        status = add_entry(files, folder, entry->d_name);
    closedir(entries);
    if (files->count > first)
        qsort(files->names + first, files->count - first, sizeof *files->names, by_name);
    if (status == EXIT_SOUND && files->count == first) {
        diag_error("there is no file in folder '%s'", folder);
        status = EXIT_SYSTEM;
    }
    return status;
}

static int add_base(file_list *files, const char *path)
{
    struct stat found;
    return stat(path, &found) == 0 && S_ISDIR(found.st_mode) ? add_folder(files, path)
                                                             : add_file(files, path);
}

/* How many of the arguments are of the old side; SIZE_MAX after a diagnostic. */
static size_t count_old(const session *s)
{
    const bool based = options_of(s)->common.also_reads_all.count > 0;
    const size_t old = based                        ? 0
                       : s->first_count != SIZE_MAX ? s->first_count
                       : s->file_count == 2         ? 1
                                                    : SIZE_MAX;
    if (based && s->first_count != SIZE_MAX)
        diag_error("--base names the old traces: there is no '--' before the new ones");
    else if (old == SIZE_MAX)
        diag_error("'--' is needed between the old and the new traces, unless there are two "
                   "traces, or --base");
    else if ((old == 0 && !based) || old == s->file_count)
        diag_error("there are no %s traces", old == s->file_count ? "new" : "old");
    else
        return old;
    return SIZE_MAX;
}

static int list_files(const session *s, file_list *files)
{
    const text_list *bases = &options_of(s)->common.also_reads_all;
    const size_t old = count_old(s);
    int status = old == SIZE_MAX ? EXIT_USAGE : EXIT_SOUND;
    for (size_t i = 0; status == EXIT_SOUND && i < bases->count; i++)
        status = add_base(files, bases->items[i]);
    files->old = files->count + old;
    for (size_t i = 0; status == EXIT_SOUND && i < s->file_count; i++)
        status = add_file(files, s->files[i]);
    return status;
}

static void free_files(file_list *files)
{
    for (size_t i = 0; i < files->count; i++)
        free((void *)files->names[i]);
    free(files->names);
}

/* ---- reading ----------------------------------------------------------------------------------
 */

static int read_trace(session *s, input *in, const diff_job *job, const selection *what,
                      file_runs *runs)
{
    const diff_options *set = options_of(s);
    select_job select;
    int status = select_begin(&select, what, &set->select, in);
    if (status != EXIT_SOUND)
        return status;
    const size_t threads = (size_t)s->set->threads;
    if (file_runs_read(runs, in, in->reader, threads, &select) == GOTRACE_ERROR)
        findings_add(&in->found, gotrace_reader_error(in->reader));
    if (file_runs_report_refused(&runs->whole))
        return EXIT_SYSTEM;
    status = select_finish(&select, &set->select, in);
    if (status != EXIT_USAGE && job->parts && runs->whole.names) {
        const int again = file_runs_read_parts(runs, in, threads, &select);
        return again > status ? again : status;
    }
    return status;
}

static int read_file(session *s, const files_job *all, size_t n, bool apart)
{
    const diff_job *job = all->ctx;
    selection own;
    int status = EXIT_SOUND;
    input in;
    /* A pattern is matched by one thread at a time. */
    if (apart && (status = select_open(&own, &options_of(s)->select)) != EXIT_SOUND) {
        selection_free(&own);
        return status;
    }
    file_runs_free(&job->runs[n]);
    if (recovery_open(&in, s, all->files[n], options_of(s)->no_recover))
        status = read_trace(s, &in, job, apart ? &own : job->what, &job->runs[n]);
    const int found = input_close(&in);
    if (apart)
        selection_free(&own);
    return found > status ? found : status;
}

/* ---- conditions -------------------------------------------------------------------------------
 */

static bool parse_conditions(const session *s, diff_condition *list)
{
    char message[256];
    for (size_t i = 0; i < options_of(s)->fail_if.count; i++)
        if (!diff_condition_parse(&list[i], options_of(s)->fail_if.items[i], message,
                                  sizeof message)) {
            diag_error("--fail-if '%s': %s", options_of(s)->fail_if.items[i], message);
            return false;
        }
    return true;
}

/* Report that no row has the name, and which there are. */
static void report_unknown(const diff_condition *c, const diff_table *t)
{
    enum { SHOWN = 10, LONGEST = 60 };
    char known[SHOWN * (LONGEST + 8)] = "";
    size_t used = 0, shown = 0;
    for (size_t i = 0; i < t->row_count && shown < SHOWN; i++) {
        const diff_subject *of = &t->subjects[t->rows[i].subject].of;
        size_t size;
        const char *name = names_text(t->names, of->name, &size);
        if (of->kind != c->kind || t->rows[i].figure != c->figure)
            continue;
        if (of->stack && of->kind != DIFF_BLOCK)
            name = names_text(t->names, stacks_frame_at(t->names, of->stack, 0)->function, &size);
        used += (size_t)snprintf(known + used, sizeof known - used, "%s%.*s", shown++ ? ", " : "",
                                 (int)names_cut(name, size, LONGEST), name);
    }
    diag_error("--fail-if '%s': the traces have no such %s with that figure%s%s", c->text,
               diff_kind_name(c->kind), shown ? "; they have " : "", known);
}

/* Whether the named conditions are about something. */
static bool check_conditions(const diff_condition *list, size_t count, const diff_table *t)
{
    for (size_t i = 0; i < count; i++) {
        bool found = !list[i].named;
        for (size_t k = 0; k < t->row_count && !found; k++)
            found = diff_condition_is_about(&list[i], t, &t->rows[k]);
        if (!found) {
            report_unknown(&list[i], t);
            return false;
        }
    }
    return true;
}

/* ---- the comparison ---------------------------------------------------------------------------
 */

/* Returns an exit status. */
static int report(session *s, const diff_table *t, const diff_condition *conditions)
{
    const diff_options *set = options_of(s);
    const diff_report r = {.out = &s->output.out, .t = t, .all = set->all, .top = set->top};
    const size_t count = set->fail_if.count;
    if (!check_conditions(conditions, count, t))
        return EXIT_USAGE;
    const bool html = set->to && strcmp(set->to, "html") == 0;
    const bool done = set->json ? diff_json(&r)
                      : html    ? diff_html(&r)
                      : set->to ? diff_pprof(&r)
                                : diff_text(&r);
    if (!done) {
        memory_report_refused();
        return EXIT_SYSTEM;
    }
    if (set->to)
        return EXIT_SOUND;
    return diff_write_failed(&s->output.out, t, conditions, count, set->json) ? EXIT_DAMAGED
                                                                              : EXIT_SOUND;
}

static int compare(session *s, const diff_job *job, const file_list *files,
                   const diff_condition *conditions)
{
    diff_table t;
    bool done = diff_table_init(&t);
    for (size_t i = 0; done && i < files->count; i++) {
        file_runs_move(&job->runs[i], &t, i < files->old ? DIFF_OLD : DIFF_NEW);
        done = !t.failed;
    }
    if (done)
        diff_table_finish(&t);
    int status = EXIT_SOUND;
    if (!done || t.failed) {
        memory_report_refused();
        status = EXIT_SYSTEM;
    } else if (t.sides[DIFF_OLD].runs && t.sides[DIFF_NEW].runs) {
        status = report(s, &t, conditions);
    }
    diff_table_free(&t);
    return status;
}

static int diff_files(session *s, const file_list *files, const diff_condition *conditions)
{
    selection what;
    diff_job job = {.what = &what, .parts = files->count == 2};
    job.runs = calloc(files->count, sizeof *job.runs);
    int status = select_open(&what, &options_of(s)->select);
    if (!job.runs) {
        memory_report_refused();
        status = EXIT_SYSTEM;
    }
    if (status == EXIT_SOUND) {
        status = output_open(&s->output, s->set->output,
                             options_of(s)->to && strcmp(options_of(s)->to, "pprof") == 0);
    }
    if (status == EXIT_SOUND) {
        s->report = options_of(s)->json ? &s->output.out : NULL;
        status = files_run(
            s, &(files_job){
                   .files = files->names, .count = files->count, .ctx = &job, .run = read_file});
        /* Without a trace that could not be read the comparison would be wrong. */
        if (status <= EXIT_DAMAGED) {
            const int made = compare(s, &job, files, conditions);
            status = made > status ? made : status;
        }
    }
    for (size_t i = 0; job.runs && i < files->count; i++)
        file_runs_free(&job.runs[i]);
    free(job.runs);
    selection_free(&what);
    return status;
}

static int run_diff(session *s)
{
    diff_condition conditions[TEXT_LIST_MOST];
    file_list files = {0};
    if (options_of(s)->json && options_of(s)->to) {
        diag_error("--json and --to exclude each other");
        return EXIT_USAGE;
    }
    if (!parse_conditions(s, conditions))
        return EXIT_USAGE;
    int status = list_files(s, &files);
    if (status == EXIT_SOUND)
        status = diff_files(s, &files, conditions);
    free_files(&files);
    return status;
}

enum { USUAL_ROWS = 34 }; /* with the lines before and after them, 40 */

static const diff_options defaults = {.top = USUAL_ROWS};

static const option_spec options[] = {
    {0, "base", OPTION_LIST, "PATH", offsetof(diff_options, common.also_reads_all), NULL,
     "an old trace, or a folder of them; FILEs are new"},
    {0, "all", OPTION_FLAG, NULL, offsetof(diff_options, all), NULL,
     "also show rows that do not differ significantly"},
    {0, "top", OPTION_NUMBER, "N", offsetof(diff_options, top), NULL,
     "show at most N rows (34; 0: all)"},
    {0, "fail-if", OPTION_LIST, "COND", offsetof(diff_options, fail_if), NULL,
     "exit 1 if COND: 'task(\"checkout\").p99 > +10%'"},
    {0, "json", OPTION_FLAG, NULL, offsetof(diff_options, json), NULL,
     "write problems and rows as JSON Lines"},
    {0, "to", OPTION_CHOICE, "FORMAT", offsetof(diff_options, to), target_name,
     "write a page or a difference profile"},
    /* clang-format off */
    SELECT_OPTIONS(diff_options, select)
    /* clang-format on */
    NO_RECOVER_OPTION(diff_options, no_recover),
    {.name = NULL},
};

const verb verb_diff = {
    .name = "diff",
    .args = "OLD... -- NEW...",
    .max_args = SIZE_MAX,
    .two_lists = true,
    .summary = "compare the traces of two versions of a program",
    .details = "Figures that differ significantly, in the order of the time that changed. With\n"
               "several traces a side, those of runs of the program are tested; with one, those\n"
               "of its parts, which is a hint only. Two files need no '--' between them.",
    .options = options,
    .defaults = &defaults,
    .options_size = sizeof(diff_options),
    .limited = true,
    .run = run_diff,
};
