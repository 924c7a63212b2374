/* help.c - print the descriptions of verbs, and completion scripts. */
#include "cmd/completion.h"
#include "cmd/diag.h"
#include "cmd/options.h"
#include "cmd/trace_limits.h"

typedef struct help_options {
    settings common;
    const char *completion; /* a shell; NULL: not given */
} help_options;

static const char *verb_name(size_t n)
{
    return verbs[n] ? verbs[n]->name : NULL;
}

static void print_verb(out *o, const verb *v)
{
    out_printf(o, "usage: gotrace %s [OPTION ...]%s%s\n\n%s\n", v->name, v->args[0] ? " " : "",
               v->args, v->summary);
    if (v->details)
        out_printf(o, "\n%s\n", v->details);
    if (v->options) {
        out_str(o, "\noptions:\n");
        options_help(o, v->options);
    }
    if (v->input)
        out_printf(o,
                   "\nWithout %s, or if it is -, standard input is read. It may be compressed\n"
                   "with zstd or gzip.\n",
                   v->input);
    out_printf(o, "\n%s: gotrace help limits\nManual page: man gotrace-%s\n",
               v->limited ? "Limits and common options" : "Common options", v->name);
}

/* The options that the help of a verb does not repeat. */
static void print_limits(out *o)
{
    out_str(o, "Options of every verb:\n");
    options_help(o, common_options);
    out_str(o,
            "\nOptions of the verbs that read traces or scripts. A SIZE is in bytes, or with K,\n"
            "M or G in units of 1024, 1024^2 or 1024^3 bytes.\n");
    options_help(o, limit_options);
    out_str(o, "\nManual page: man gotrace\n");
}

static void print_all(out *o)
{
    out_str(o,
            "usage: gotrace VERB [OPTION ...] [FILE ...]\n\n"
            "Reads, checks, prints, converts, repairs and writes Go execution traces.\n\nverbs:\n");
    for (size_t i = 0; verbs[i]; i++)
        out_printf(o, "  %-10s %s\n", verbs[i]->name, verbs[i]->summary);
    out_str(o, "\nexit status:\n"
               "  0  success, and the trace is sound\n"
               "  1  the trace is damaged or invalid; what could be done was done\n"
               "  2  the command line or the script is wrong\n"
               "  3  a file could not be read or written, or memory ran out\n\n"
               "Help for a verb: gotrace help VERB\n"
               "Limits and common options: gotrace help limits\n"
               "Manual page: man gotrace\n");
}

static int run_help(session *s)
{
    const char *shell = ((const help_options *)s->set)->completion;
    bool limits = s->file_count && strcmp(s->files[0], "limits") == 0;
    const verb *about = s->file_count ? verb_by_name(s->files[0]) : NULL;
    if (s->file_count && !about && !limits) {
        const char *near = nearest(s->files[0], verb_name);
        diag_error("unknown verb '%s'%s%s%s", s->files[0], near ? "; did you mean '" : "",
                   near ? near : "", near ? "'?" : "");
        return EXIT_USAGE;
    }
    int status = output_open(&s->output, s->set->output, false);
    if (status != EXIT_SOUND)
        return status;
    if (shell)
        completion_write(&s->output.out, shell);
    else if (limits)
        print_limits(&s->output.out);
    else if (about)
        print_verb(&s->output.out, about);
    else
        print_all(&s->output.out);
    return EXIT_SOUND;
}

static const option_spec options[] = {
    {0, "completion", OPTION_CHOICE, "SHELL", offsetof(help_options, completion), completion_shell,
     "print a completion script for a shell"},
    {.name = NULL},
};

const verb verb_help = {
    .name = "help",
    .args = "[VERB | limits]",
    .max_args = 1,
    .summary = "list the verbs, or describe one of them",
    .options = options,
    .options_size = sizeof(help_options),
    .run = run_help,
};
