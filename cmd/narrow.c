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

/* Check that the options apply to the target; false after a diagnostic. */
static bool possible(const narrowing *set, const format *target)
{
    const char *option = set->no_system ? "no-system" : set->only ? "only" : NULL;
    if (target && target->profiles && set->only) {
        diag_error("--only is for timelines; --profile selects what a profile is of");
        return false;
    }
    if (!option || (target && !target->whole))
        return true;
    diag_error("--%s is for timelines (perfetto and chrome) and profiles; reports, scripts and "
               "other versions contain the whole trace",
               option);
    return false;
}

bool narrow_job(const narrowing *set, const format *target, convert_job *job)
{
    job->no_system = set->no_system;
    if (!possible(set, target) || (set->only && !take_parts(set->only, &job->parts)))
        return false;
    if (job->parts && target->narrows(job->parts, job->by) == 0) {
        diag_error(
            "--only %s leaves nothing to show: of procs, goroutines and threads only the view "
            "selected by --by is available, and flows need tracks to point to",
            set->only);
        return false;
    }
    return true;
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
