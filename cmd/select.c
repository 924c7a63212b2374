#include "cmd/select.h"

#include <stdio.h>

#include "cmd/diag.h"
#include "cmd/human.h"
#include "cmd/trace_limits.h"
#include "formats/analyse/selected.h"

int select_open(selection *what, const select_options *options)
{
    char message[400];
    if (selection_parse(what, options->texts, message, sizeof message))
        return EXIT_SOUND;
    if (message[0]) {
        diag_error("%s", message);
        return EXIT_USAGE;
    }
    limits_no_memory();
    return EXIT_SYSTEM;
}

bool select_supports(const selection *what, unsigned criteria, const char *others)
{
    unsigned refused = what->given & ~criteria;
    for (size_t by = 0; by < SELECT_COUNT; by++)
        if (refused & SELECT_BIT(by)) {
            diag_error("--%s is for %s", select_option(by), others);
            return false;
        }
    return true;
}

/* The first option of the given ones that has a time of the wall clock. */
static const char *wall_option(const selection *what)
{
    return select_option(what->from.wall ? SELECT_FROM : SELECT_UNTIL);
}

int select_begin(select_job *job, const selection *what, const select_options *options,
                 const input *in)
{
    *job = (select_job){.what = what};
    int version = gotrace_reader_summary(in->reader)->version;
    if ((what->given & SELECT_BIT(SELECT_GENERATION)) && version < GOTRACE_FIRST_V2) {
        diag_error("--generation: %s is a trace of Go 1.%d; only those of Go 1.22 and later have "
                   "generations",
                   in->name, version);
        return EXIT_USAGE;
    }
    switch (selection_range(what, in->source, &in->config, &job->range)) {
    case SELECT_OK: return EXIT_SOUND;
    case SELECT_NO_CLOCK:
        diag_error("--%s: %s does not contain the time of the wall clock, which traces of Go 1.25 "
                   "and later have; use a time since its start, such as 1.5s",
                   wall_option(what), in->name);
        return EXIT_USAGE;
    case SELECT_NO_TIME:
        diag_error("--until %s must be after --from %s in %s", options->texts[SELECT_UNTIL],
                   options->texts[SELECT_FROM], in->name);
        return EXIT_USAGE;
    case SELECT_NO_MEMORY: limits_no_memory(); return EXIT_SYSTEM;
    }
    return EXIT_SYSTEM;
}

int select_goroutines(select_job *job, input *in, select_ids *ids, select_range *span)
{
    gotrace_reader *reader = input_read_again(in);
    if (!reader)
        return EXIT_SYSTEM;
    selected_goroutines(reader, job, ids, span);
    gotrace_reader_close(reader);
    return EXIT_SOUND;
}

bool select_is_outside(const select_job *job, const select_options *options, const input *in,
                       char *text, size_t room)
{
    char span[32];
    int64_t duration = gotrace_reader_summary(in->reader)->duration;
    human_duration(span, sizeof span, duration);
    if (job->range.from > duration && options->texts[SELECT_FROM])
        snprintf(text, room, "--from %s is after the end of the trace, which lasts %s",
                 options->texts[SELECT_FROM], span);
    else if (job->range.until <= 0)
        snprintf(text, room, "--until %s is before the trace", options->texts[SELECT_UNTIL]);
    else
        return false;
    return true;
}

void select_given(const select_options *options, char *text, size_t room)
{
    size_t used = 0;
    text[0] = '\0';
    for (size_t by = 0; by < SELECT_COUNT && used < room; by++)
        if (options->texts[by])
            used += (size_t)snprintf(text + used, room - used, "%s--%s %.60s", used ? " " : "",
                                     select_option(by),
                                     options->texts[by][0] ? options->texts[by] : "''");
}

/* Warn that nothing was selected. */
static void warn_empty(const select_job *job, const select_options *options, const input *in)
{
    char given[256];
    const char *done = job->writes ? "written" : "shown";
    if (select_is_outside(job, options, in, given, sizeof given)) {
        diag_warning(in->name, "%s: nothing is %s", given, done);
        return;
    }
    select_given(options, given, sizeof given);
    diag_warning(in->name, "no event of the trace matches %s: nothing is %s", given, done);
}

int select_finish(const select_job *job, const select_options *options, const input *in)
{
    if (job->failed) {
        limits_no_memory();
        return EXIT_SYSTEM;
    }
    if (job->too_hard) {
        diag_error("--function: matching the regular expression with '%s' takes too many steps or "
                   "too much memory; use a simpler one",
                   job->name);
        return EXIT_USAGE;
    }
    if (job->count == 0 && job->what->given && in->reader)
        warn_empty(job, options, in);
    return EXIT_SOUND;
}
