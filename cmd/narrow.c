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
    if (job->parts && target->narrows && target->narrows(job) == 0) {
        diag_error(
            "--only %s leaves nothing to show: of procs, goroutines and threads only the view "
            "selected by --by is available, and flows need tracks to point to",
            set->only);
        return false;
    }
    return true;
}

/* How to see a part of the trace. */
static void advise(const format *target, int version)
{
    diag_note("%sto see a part: 'gotrace find' searches the trace; --from, --until and --only show "
              "less of it; 'gotrace cut'%s writes a smaller trace; 'gotrace why --to perfetto' "
              "shows what a slow task, region or goroutine waited for",
              target == &format_perfetto
                  ? "to see all of it: --detail TIME, such as 100us, merges what is shorter; "
                  : "",
              version >= GOTRACE_FIRST_V2 ? " or 'gotrace split --by generation'" : "");
}

/* The bytes of a timeline as text: at least and at most. */
static void grow(char text[2][32], const format *target, uint64_t bytes)
{
    for (size_t i = 0; i < 2; i++)
        human_bytes(text[i], sizeof text[i], (uint64_t)((double)bytes * target->growth[i]));
}

bool narrow_expect_size(const format *target, int version, uint64_t bytes)
{
    char expected[2][32], most[32];
    if ((double)bytes * target->growth[1] <= (double)target->viewer_bytes)
        return false;
    grow(expected, target, bytes);
    human_bytes(most, sizeof most, target->viewer_bytes);
    diag_note("the timeline will be about %s (of a quiet program) to %s (of a busy one), and %s "
              "loads about %s",
              expected[0], expected[1], target->viewer, most);
    advise(target, version);
    return true;
}

void narrow_check_size(const format *target, int version, uint64_t bytes, bool expected)
{
    char size[32], most[32];
    if (bytes <= target->viewer_bytes)
        return;
    human_bytes(size, sizeof size, bytes);
    human_bytes(most, sizeof most, target->viewer_bytes);
    diag_note("the timeline has %s, and %s loads about %s", size, target->viewer, most);
    if (!expected)
        advise(target, version);
}
