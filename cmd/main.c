/* main.c - find the verb, run it, and report failed output. */
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/diag.h"
#include "cmd/memory.h"
#include "cmd/options.h"
#include "cmd/progress.h"
#include "cmd/sandbox.h"
#include "cmd/trace_limits.h"
#include "cmd/verb.h"

static const char *verb_name(size_t n)
{
    return verbs[n] ? verbs[n]->name : NULL;
}

/* If a standard descriptor is closed, the next file opened would get its number, and standard
 * output could end up in that file. Opening /dev/null in the wrong direction makes its use fail. */
static void occupy_standard_descriptors(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
            (void)!open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

/* glibc reserves 64 MiB of address space for each thread that allocates. That space would be
 * missing where the shell limits it (ulimit -v). */
static void share_one_heap(void)
{
#ifdef M_ARENA_MAX
    mallopt(M_ARENA_MAX, 1);
#endif
}

static const verb *find_verb(const char *name)
{
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
        return verb_by_name("help");
    if (strcmp(name, "--version") == 0)
        return verb_by_name("version");
    const verb *found = verb_by_name(name);
    if (found)
        return found;
    const char *near = nearest(name, verb_name);
    if (near)
        diag_error("unknown verb '%s'; did you mean '%s'?", name, near);
    else
        diag_error("unknown verb '%s'; 'gotrace help' lists them", name);
    return NULL;
}

/* Reading a trace from a terminal is hardly ever intended, and looks like a program that hangs. */
static bool reads_terminal(const session *s)
{
    if (!s->verb->input || !isatty(STDIN_FILENO))
        return false;
    for (size_t i = s->verb->words; i < s->file_count; i++)
        if (strcmp(s->files[i], "-") == 0)
            return true;
    return s->file_count == s->verb->words;
}

/* Give the session a verb with its options at their defaults, except those of common, if not NULL.
 * False after a diagnostic. */
static bool set_verb(session *s, const verb *v, const settings *common)
{
    s->verb = v;
    s->set = calloc(1, v->options_size);
    if (!s->set) {
        memory_report_refused();
        return false;
    }
    if (v->defaults)
        memcpy(s->set, v->defaults, v->options_size);
    if (common)
        *s->set = *common;
    return true;
}

/* Turn "gotrace VERB --help" into "gotrace help VERB". */
static bool ask_for_help(session *s, const char **about)
{
    settings *given = s->set;
    about[0] = s->verb->name;
    s->files = about;
    s->file_count = 1;
    bool done = set_verb(s, verb_by_name("help"), given);
    free(given);
    return done;
}

static int run_verb(session *s, int argc, char **argv)
{
    const char *about[] = {NULL, NULL};
    if (!options_parse(s, argc, argv)) {
        diag_note("see 'gotrace help %s'", s->verb->name);
        return EXIT_USAGE;
    }
    diag_quiet(s->set->quiet);
    if (s->set->quiet)
        progress_off();
    if (s->set->help && !ask_for_help(s, about))
        return EXIT_SYSTEM;
    if (reads_terminal(s)) {
        diag_error("standard input is a terminal; name a %s", s->verb->input);
        return EXIT_USAGE;
    }
    if (s->verb->limited)
        limits_apply(s);
    if (s->set->zstd && s->set->gzip) {
        diag_error("--zstd and --gzip exclude each other");
        return EXIT_USAGE;
    }
    s->output.packing = s->set->zstd ? PACKING_ZSTD : s->set->gzip ? PACKING_GZIP : PACKING_NONE;
    int status = s->set->sandbox && !s->verb->serving ? sandbox_enter(s) : EXIT_SOUND;
    if (status != EXIT_SOUND)
        return status;
    status = s->verb->run(s);
    if (status == EXIT_USAGE)
        diag_note("see 'gotrace help %s'", s->verb->name);
    /* The part of a damaged trace that could be read is kept; failed work leaves no file. */
    bool keep = status == EXIT_SOUND || (status == EXIT_DAMAGED && output_has_bytes(&s->output));
    int written = output_close(&s->output, keep);
    if (written != EXIT_SOUND)
        return written;
    return status == EXIT_SOUND ? s->program_status : status;
}

int main(int argc, char **argv)
{
    occupy_standard_descriptors();
    share_one_heap();
    /* A reader that exits is a failed write, also of an OUT; output.c decides which it is. */
    output_end_with_pipe(signal(SIGPIPE, SIG_IGN) != SIG_IGN);
    /* The same for a file that exceeds the limit of the shell. */
    signal(SIGXFSZ, SIG_IGN);
    diag_init();
    if (argc < 2) {
        diag_error("a verb is missing; 'gotrace help' lists them");
        return EXIT_USAGE;
    }
    session s = {.max_errors = USUAL_MAX_ERRORS};
    const verb *v = find_verb(argv[1]);
    if (!v)
        return EXIT_USAGE;
    int status = set_verb(&s, v, NULL) ? run_verb(&s, argc - 2, argv + 2) : EXIT_SYSTEM;
    free(s.set);
    return status;
}
