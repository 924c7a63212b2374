/* help.c - what the verbs' rows say, for people and for shells. */
#include "cmd/completion.h"
#include "cmd/diag.h"
#include "cmd/options.h"

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
    out_str(o, "\noptions:\n");
    options_help(o, v);
    if (v->input)
        out_printf(o,
                   "\nWithout %s, or where it is -, standard input is read. It may be compressed"
                   " with\nzstd or gzip.\n",
                   v->input);
    out_printf(o, "See also: man gotrace-%s\n", v->name);
}

static void print_all(out *o)
{
    out_str(o, "usage: gotrace VERB [OPTION ...] [FILE ...]\n\n"
               "Reads, checks, prints, converts and writes Go execution traces.\n\nverbs:\n");
    for (size_t i = 0; verbs[i]; i++)
        out_printf(o, "  %-10s %s\n", verbs[i]->name, verbs[i]->summary);
    out_str(o, "\nexit status:\n"
               "  0  done, and the trace is sound\n"
               "  1  the trace is damaged or invalid; what could be done was done\n"
               "  2  the command line or the script is wrong\n"
               "  3  a file could not be read or written, or memory ran out\n\n"
               "'gotrace help VERB' tells more of a verb.  See also: man gotrace\n");
}

static int run_help(session *s)
{
    const verb *about = s->file_count ? verb_by_name(s->files[0]) : NULL;
    if (s->file_count && !about) {
        const char *near = nearest(s->files[0], verb_name);
        diag_error("there is no verb '%s'%s%s%s", s->files[0], near ? "; did you mean '" : "",
                   near ? near : "", near ? "'?" : "");
        return EXIT_USAGE;
    }
    int status = output_open(&s->output, s->set.output, false);
    if (status != EXIT_SOUND)
        return status;
    if (s->set.completion)
        completion_write(&s->output.out, s->set.completion);
    else if (about)
        print_verb(&s->output.out, about);
    else
        print_all(&s->output.out);
    return EXIT_SOUND;
}

static const option_spec options[] = {
    {0, "completion", OPTION_CHOICE, "SHELL", offsetof(settings, completion), completion_shell,
     "print a completion script for a shell"},
    {.name = NULL},
};

const verb verb_help = {
    .name = "help",
    .args = "[VERB]",
    .max_args = 1,
    .summary = "list the verbs, or tell what one of them does and takes",
    .options = options,
    .run = run_help,
};
