#include "cmd/narrow.h"

#include "cmd/diag.h"
#include "cmd/human.h"
#include "cmd/options.h"

/* Check that the options apply to the target; false after a diagnostic. */
static bool possible(const narrowing *set, const format *target)
{
    const char *option = set->no_system ? "no-system" : set->only ? "only" : NULL;
    if (target && target->profiles && set->only) {
        diag_error("--only is for timelines; --profile selects what a profile is of");
        return false;
    }
    if (!option || (target && !target->report))
        return true;
    diag_error("--%s is for timelines (perfetto and chrome)%s; reports, scripts and other versions "
               "have all goroutines and parts",
               option, set->no_system ? " and profiles" : "");
    return false;
}

bool narrow_job(const narrowing *set, const format *target, convert_job *job)
{
    job->no_system = set->no_system;
    if (!possible(set, target) || !options_list("only", set->only, convert_part_name, &job->parts))
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
