/* print.c - print the events of a trace in order. */
#include <string.h>

#include "cmd/diag.h"
#include "cmd/input.h"
#include "cmd/memory.h"
#include "cmd/recovery.h"
#include "cmd/select.h"
#include "cmd/where.h"
#include "formats/analyse/places.h"
#include "formats/print/printer.h"

typedef struct print_options {
    settings common;
    const char *format, *where;
    select_options select;
    bool stacks, no_recover;
} print_options;

static const char *printer_name(size_t n)
{
    return printers[n] ? printers[n]->name : NULL;
}

/* What is printed of a trace. */
typedef struct wanted {
    const printer *how;
    selection what;
    expression where; /* if there is a --where */
} wanted;

/* Returns an exit status. */
static int print_events(session *s, input *in, const wanted *w, const places *where)
{
    const selection *what = &w->what;
    const print_options *set = (const print_options *)s->set;
    select_job select;
    print_job job = {.how = w->how,
                     .reader = in->reader,
                     .threads = (size_t)s->set->threads,
                     .frames = set->stacks,
                     .select = what->given ? &select : NULL,
                     .where = where,
                     .out = &s->output.out};
    int status = select_begin(&select, what, &set->select, in);
    if (status != EXIT_SOUND)
        return status;
    if (print_all(&job) == GOTRACE_ERROR)
        findings_add(&in->found, gotrace_reader_error(in->reader));
    return select_finish(&select, &set->select, in);
}

/* Find the moments of --where first. Returns an exit status. */
static int print_where(session *s, input *in, const wanted *w)
{
    places where;
    where_names names;
    find_job job = {.what = &w->where,
                    .named = where_named,
                    .named_ctx = &names,
                    .threads = (size_t)s->set->threads};
    places_init(&where);
    bool made = where_names_init(&names, &w->where);
    if (!made)
        memory_report_refused();
    int status = made ? where_find(&where, &job, in) : EXIT_SYSTEM;
    where_names_end(&names, &job);
    if (status == EXIT_SOUND)
        where_names_report(&names);
    if (status == EXIT_SOUND && !where.any)
        diag_warning(in->name, "no moment of the trace satisfies --where: nothing is shown");
    if (status == EXIT_SOUND)
        status = print_events(s, in, w, &where);
    where_names_free(&names);
    places_free(&where);
    return status;
}

static int print_file(session *s, const wanted *w)
{
    const print_options *set = (const print_options *)s->set;
    int status = output_open(&s->output, s->set->output, false), selected = EXIT_SOUND;
    if (status != EXIT_SOUND)
        return status;
    input in;
    if (recovery_open(&in, s, input_path(s), set->no_recover))
        selected = set->where ? print_where(s, &in, w) : print_events(s, &in, w, NULL);
    status = input_close(&in);
    return selected > status ? selected : status;
}

static int run_print(session *s)
{
    const print_options *set = (const print_options *)s->set;
    wanted w = {.how = printer_by_name(set->format)};
    if (set->stacks && !w.how->frames) {
        diag_error("--stacks is for --format text and jsonl");
        return EXIT_USAGE;
    }
    int status = select_open(&w.what, &set->select);
    if (status == EXIT_SOUND && set->where)
        status = where_open(&w.where, set->where, "--where: ");
    if (status == EXIT_SOUND)
        status = print_file(s, &w);
    expression_free(&w.where);
    selection_free(&w.what);
    return status;
}

static const print_options defaults = {.format = "text"};

static const option_spec options[] = {
    {0, "format", OPTION_CHOICE, "FORMAT", offsetof(print_options, format), printer_name,
     "output format (text)"},
    {0, "stacks", OPTION_FLAG, NULL, offsetof(print_options, stacks), NULL,
     "text, jsonl: print all frames of stacks"},
    /* clang-format off */
    SELECT_OPTIONS(print_options, select)
    /* clang-format on */
    {0, "where", OPTION_WORD, "EXPR", offsetof(print_options, where), NULL,
     "print only the moments that find finds for EXPR"},
    NO_RECOVER_OPTION(print_options, no_recover),
    {.name = NULL},
};

const verb verb_print = {
    .name = "print",
    .args = "[FILE]",
    .max_args = 1,
    .input = "FILE",
    .summary = "print the events of a trace in order",
    .details = "text is for people, jsonl for programs; go is the output of 'go tool trace -d'.\n"
               "\n"
               "Lists are separated by commas: one item must match, and all options.",
    .options = options,
    .defaults = &defaults,
    .options_size = sizeof(print_options),
    .limited = true,
    .run = run_print,
};
