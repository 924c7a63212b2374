/* print.c - print the events of a trace in order. */
#include "cmd/input.h"
#include "formats/print/printer.h"

typedef struct print_options {
    settings common;
    const char *format;
    bool no_recover;
} print_options;

static const char *printer_name(size_t n)
{
    return printers[n] ? printers[n]->name : NULL;
}

static void print_events(input *in, const printer *how, session *s)
{
    if (print_all(how, in->reader, (size_t)s->set->threads, &s->output.out) == GOTRACE_ERROR)
        findings_add(&in->found, gotrace_reader_error(in->reader));
}

static int run_print(session *s)
{
    const print_options *set = (const print_options *)s->set;
    int status = output_open(&s->output, s->set->output, false);
    if (status != EXIT_SOUND)
        return status;
    input in;
    if (input_open_trace(&in, s, input_path(s), set->no_recover))
        print_events(&in, printer_by_name(set->format), s);
    return input_close(&in);
}

static const print_options defaults = {.format = "text"};

static const option_spec options[] = {
    {0, "format", OPTION_CHOICE, "FORMAT", offsetof(print_options, format), printer_name,
     "output format (text)"},
    NO_RECOVER_OPTION(print_options, no_recover),
    {.name = NULL},
};

const verb verb_print = {
    .name = "print",
    .args = "[FILE]",
    .max_args = 1,
    .input = "FILE",
    .summary = "print the events of a trace in order",
    .details = "text is for people, jsonl for programs; go is the output of 'go tool trace -d'.",
    .options = options,
    .defaults = &defaults,
    .options_size = sizeof(print_options),
    .limited = true,
    .run = run_print,
};
