#include "cmd/narrow.h"

#include "cmd/diag.h"
#include "cmd/human.h"
#include "cmd/options.h"

/* Parse a list of names separated by commas. */
static bool take_parts(const char *list, unsigned *parts)
{
    for (const char *word = list; word; word = strchr(word, ',') ? strchr(word, ',') + 1 : NULL) {
        size_t size = strcspn(word, ","), n = 0;
        const char *name;
        while ((name = convert_part_name(n)) &&
               (strlen(name) != size || strncmp(name, word, size) != 0))
            n++;
        if (!name) {
            char unknown[64];
            snprintf(unknown, sizeof unknown, "%.*s", size < 60 ? (int)size : 60, word);
            options_unknown("only", unknown, convert_part_name);
            return false;
        }
        *parts |= 1U << n;
    }
    return true;
}

/* Parse a number, which may have decimals, with a unit, into nanoseconds. */
static bool parse_time(const char *text, int64_t *time)
{
    static const struct {
        const char *name;
        int64_t ns;
    } units[] = {{"ns", 1}, {"us", 1000}, {"ms", 1000000}, {"s", 1000000000}};
    const char *at = text;
    int64_t whole = 0, part = 0, unit = 0;

    for (; *at >= '0' && *at <= '9'; at++)
        if (__builtin_mul_overflow(whole, 10, &whole) ||
            __builtin_add_overflow(whole, *at - '0', &whole))
            return false;
    const char *decimals = *at == '.' ? ++at : NULL;
    at += decimals ? strspn(at, "0123456789") : 0;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strcmp(at, units[i].name) == 0)
            unit = units[i].ns;
    for (int64_t step = unit / 10; decimals && decimals < at && step > 0; step /= 10)
        part += (*decimals++ - '0') * step;
    return unit > 0 && at > text && !__builtin_mul_overflow(whole, unit, time) &&
           !__builtin_add_overflow(*time, part, time);
}

static bool take_time(const char *option, const char *text, int64_t *time)
{
    if (!text || parse_time(text, time))
        return true;
    diag_error(
        "--%s takes a time since the start of the trace, such as 1.5s, 20ms, 7us or 0ns, not "
        "'%s'",
        option, text);
    return false;
}

/* Check that the options apply to the target; false after a diagnostic. */
static bool possible(const narrowing *set, const format *target)
{
    const char *option = set->no_system ? "no-system"
                         : set->only    ? "only"
                         : set->from    ? "from"
                         : set->until   ? "until"
                                        : NULL;
    if (target && target->profiles && set->only) {
        diag_error("--only is for timelines; --profile selects what a profile is of");
        return false;
    }
    if (!option || target)
        return true;
    diag_error("--%s is for timelines (perfetto and chrome) and profiles; scripts and other "
               "versions contain the "
               "whole trace",
               option);
    return false;
}

bool narrow_job(const narrowing *set, const format *target, convert_job *job)
{
    job->no_system = set->no_system;
    if (!possible(set, target) || !take_time("from", set->from, &job->from) ||
        !take_time("until", set->until, &job->to) ||
        (set->only && !take_parts(set->only, &job->parts)))
        return false;
    if (job->parts && target->narrows(job->parts, job->by) == 0) {
        diag_error(
            "--only %s leaves nothing to show: of procs, goroutines and threads only the view "
            "selected by --by is available, and flows need tracks to point to",
            set->only);
        return false;
    }
    if (set->until && job->to <= job->from) {
        diag_error("--until %s must be after %s%s", set->until, set->from ? "--from " : "the start",
                   set->from ? set->from : "");
        return false;
    }
    return true;
}

void narrow_check(const narrowing *set, const convert_job *job, const char *file,
                  const gotrace_summary *trace)
{
    char span[32];
    if (job->from <= trace->duration)
        return;
    human_duration(span, sizeof span, trace->duration);
    diag_warning(file, "--from %s is after the end of the trace, which lasts %s: nothing is shown",
                 set->from, span);
}

void narrow_check_size(const format *target, int version, uint64_t bytes)
{
    char size[32], most[32];
    if (bytes <= target->viewer_bytes)
        return;
    human_bytes(size, sizeof size, bytes);
    human_bytes(most, sizeof most, target->viewer_bytes);
    diag_note(
        "the timeline has %s, and %s loads about %s: use --from, --until or --only%s%s to get a "
        "smaller one",
        size, target->viewer, most, target->views ? ", or write parts with --split" : "",
        version >= GOTRACE_FIRST_V2 ? ", or split the trace with 'gotrace split --by generation',"
                                    : "");
}
