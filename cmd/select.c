#include "cmd/select.h"

#include <stdio.h>
#include <stdlib.h>

#include "cmd/asked.h"
#include "cmd/diag.h"
#include "cmd/human.h"
#include "cmd/memory.h"
#include "formats/analyse/selected.h"
#include "gotrace_experimental.h"

int select_open(selection *what, const select_options *options)
{
    char message[400];
    if (selection_parse(what, options->texts, message, sizeof message))
        return EXIT_SOUND;
    if (message[0]) {
        diag_error("%s", message);
        return EXIT_USAGE;
    }
    memory_report_refused();
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
    case SELECT_NO_MEMORY: memory_report_refused(); return EXIT_SYSTEM;
    }
    return EXIT_SYSTEM;
}

int select_goroutines(select_job *job, input *in, select_ids *ids, select_range *span)
{
    gotrace_reader *reader = input_read_again(in);
    if (!reader)
        return EXIT_SYSTEM;
    selected_goroutines(reader, job, ids, span);
    return input_end_again(in, reader) ? EXIT_SOUND : EXIT_SYSTEM;
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

/* ---- names that the trace does not have --------------------------------------------------------
 */

/* The names of a list of tasks or regions. */
typedef struct asked_list {
    asked_name *names;
    size_t count;
} asked_list;

static asked_list asked_for(const select_names *names, const char *kind)
{
    asked_list list = {.names = calloc(names->count + 1, sizeof *list.names)};
    for (; list.names && list.count < names->count; list.count++)
        list.names[list.count] = (asked_name){.kind = kind, .text = names->names[list.count]};
    return list;
}

static void add_name(const asked_list *list, const gotrace_event *e)
{
    const gotrace_details *details = gotrace_event_details(e);
    for (size_t i = 0; i < list->count; i++)
        asked_add(&list->names[i], details->text, details->text_size);
}

/* Adds each name of a task or a region of the trace once. False: memory was refused. */
static bool find_names(gotrace_reader *reader, const asked_list *tasks, const asked_list *regions)
{
    const unsigned of_tasks = 1U << GOTRACE_KIND_TASK_BEGIN | 1U << GOTRACE_KIND_TASK_END;
    const unsigned of_regions = 1U << GOTRACE_KIND_REGION_BEGIN | 1U << GOTRACE_KIND_REGION_END;
    const gotrace_event *e;
    matcher_verdicts seen = {0}; /* by name: 1 of a region, 2 of a task */
    stacks *names = stacks_new(STACKS_BY_ADDRESS);
    bool failed = !names;
    gotrace_reader_select(reader,
                          (tasks->count ? of_tasks : 0) | (regions->count ? of_regions : 0));
    while (!failed && gotrace_reader_next(reader, &e) == GOTRACE_EVENT) {
        bool of_task = of_tasks >> e->kind & 1;
        const gotrace_details *details = gotrace_event_details(e);
        uint8_t *kinds = matcher_verdict(&seen,
                                         stacks_name(names, details->text, details->text_size));
        failed = names->failed || !kinds;
        if (failed || *kinds & 1U << of_task)
            continue;
        *kinds |= (uint8_t)(1U << of_task);
        add_name(of_task ? tasks : regions, e);
    }
    failed = failed || gotrace_reader_error(reader)->class_ == GOTRACE_CLASS_SYSTEM;
    free(seen.by_number);
    stacks_free(names);
    return !failed;
}

static void report_list(const asked_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        asked_report(&list->names[i]);
}

/* Nothing was selected: name the tasks and regions that there are instead of those that are not.
 * Returns an exit status. */
static int report_names(const selection *what, const input *in)
{
    const select_names *of = what->names;
    if (of[SELECT_TASK].count + of[SELECT_REGION].count == 0)
        return EXIT_SOUND;
    asked_list tasks = asked_for(&of[SELECT_TASK], "task has the name");
    asked_list regions = asked_for(&of[SELECT_REGION], "region has the name");
    gotrace_reader *reader = tasks.names && regions.names ? input_read_again(in) : NULL;
    int status = reader && find_names(reader, &tasks, &regions) ? EXIT_SOUND : EXIT_SYSTEM;
    if (status == EXIT_SOUND) {
        report_list(&tasks);
        report_list(&regions);
    } else {
        memory_report_refused();
    }
    gotrace_reader_close(reader);
    free(tasks.names);
    free(regions.names);
    return status;
}

/* Warn that nothing was selected. Returns an exit status. */
static int warn_empty(const select_job *job, const select_options *options, const input *in)
{
    char given[256];
    const char *done = job->writes ? "written" : "shown";
    if (select_is_outside(job, options, in, given, sizeof given)) {
        diag_warning(in->name, "%s: nothing is %s", given, done);
        return EXIT_SOUND;
    }
    select_given(options, given, sizeof given);
    diag_warning(in->name, "no event of the trace matches %s: nothing is %s", given, done);
    return report_names(job->what, in);
}

int select_finish(const select_job *job, const select_options *options, const input *in)
{
    if (job->failed) {
        memory_report_refused();
        return EXIT_SYSTEM;
    }
    if (job->too_hard) {
        diag_error("--function: matching the regular expression with '%s' takes too many steps or "
                   "too much memory; use a simpler one",
                   job->name);
        return EXIT_USAGE;
    }
    if (job->count == 0 && job->what->given && in->reader)
        return warn_empty(job, options, in);
    return EXIT_SOUND;
}
