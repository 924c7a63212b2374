/*
 * events.c - queries of the event tables of both formats, and the names of the common model.
 */
#include "core/events.h"

#include <string.h>

static const int versions[] = {5, 7, 8, 9, 10, 11, 19, 21, 22, 23, 25, 26};

const int *gotrace_versions(size_t *count)
{
    *count = sizeof versions / sizeof versions[0];
    return versions;
}

#define RELEASE(minor, version)                                                                    \
    {                                                                                              \
        "go1." #minor, minor, version                                                              \
    }
static const gotrace_release releases[] = {
    RELEASE(5, 5),   RELEASE(6, 5),   RELEASE(7, 7),   RELEASE(8, 8),   RELEASE(9, 9),
    RELEASE(10, 10), RELEASE(11, 11), RELEASE(12, 11), RELEASE(13, 11), RELEASE(14, 11),
    RELEASE(15, 11), RELEASE(16, 11), RELEASE(17, 11), RELEASE(18, 11), RELEASE(19, 19),
    RELEASE(20, 19), RELEASE(21, 21), RELEASE(22, 22), RELEASE(23, 23), RELEASE(24, 23),
    RELEASE(25, 25), RELEASE(26, 26), RELEASE(27, 26),
};
#undef RELEASE

enum { RELEASES = sizeof releases / sizeof releases[0] };

const gotrace_release *gotrace_release_at(size_t n)
{
    return n < RELEASES ? &releases[n] : NULL;
}

/* The table has all releases, from the first on. */
int gotrace_release_version(int minor)
{
    bool known = minor >= releases[0].minor && minor <= releases[RELEASES - 1].minor;
    return known ? releases[minor - releases[0].minor].version : 0;
}

const char *gotrace_version(void)
{
#define TEXT_OF(x) #x
#define TEXT(x)    TEXT_OF(x)
    return TEXT(GOTRACE_VERSION_MAJOR) "." TEXT(GOTRACE_VERSION_MINOR) "." TEXT(
        GOTRACE_VERSION_PATCH);
#undef TEXT
#undef TEXT_OF
}

const gotrace_event_spec *gotrace_event_spec_of(int version, unsigned code)
{
    version = gotrace_release_version(version);
    if (version == 0)
        return NULL;
    return gt_is_v2(version) ? gt_v2_spec(version, code) : gt_v1_spec(version, code);
}

const gotrace_event_spec *gotrace_event_spec_named(int version, const char *name)
{
    for (unsigned code = 0; code < GT_CODES; code++) {
        const gotrace_event_spec *spec = gotrace_event_spec_of(version, code);
        if (spec && strcmp(spec->name, name) == 0)
            return spec;
    }
    return NULL;
}

static bool arg_exists(const gotrace_arg_spec *arg, int version)
{
    return arg->since <= version && version <= arg->until;
}

size_t gotrace_event_args(const gotrace_event_spec *spec, int version,
                          const gotrace_arg_spec **args)
{
    size_t n = 0;
    version = gotrace_release_version(version);
    for (size_t i = 0; i < spec->arg_count; i++)
        if (arg_exists(&spec->args[i], version))
            args[n++] = &spec->args[i];
    return n;
}

size_t gotrace_frame_values(int version)
{
    return version < GT_FIRST_NUMBERED ? 1 : 4;
}

const gotrace_range_spec *gotrace_range_spec_of(gotrace_range range)
{
    static const gotrace_range_spec ranges[] = {
#define RANGE_ROW(name, text, go, owner, subject, begins, ends)                                    \
    {text,                                                                                         \
     go,                                                                                           \
     GOTRACE_RESOURCE_##owner,                                                                     \
     GOTRACE_RESOURCE_##subject,                                                                   \
     {GOTRACE_RULE_##ends, GOTRACE_RULE_##begins}},
        GOTRACE_RANGE_ROWS(RANGE_ROW)
#undef RANGE_ROW
            [GOTRACE_RANGES] =
                {"unknown", "unknown", GOTRACE_RESOURCE_NONE, GOTRACE_RESOURCE_NONE, {0}},
    };
    return &ranges[range < GOTRACE_RANGES ? range : GOTRACE_RANGES];
}

const char *gotrace_state_name(gotrace_state state)
{
    switch (state) {
    case GOTRACE_STATE_UNDETERMINED: return "undetermined";
    case GOTRACE_STATE_NOT_EXIST: return "not-exist";
    case GOTRACE_STATE_RUNNABLE: return "runnable";
    case GOTRACE_STATE_RUNNING: return "running";
    case GOTRACE_STATE_SYSCALL: return "syscall";
    case GOTRACE_STATE_WAITING: return "waiting";
    case GOTRACE_STATE_IDLE: return "idle";
    case GOTRACE_STATE_ABANDONED: return "abandoned";
    }
    return "unknown";
}

const char *gotrace_range_name(gotrace_range range)
{
    return gotrace_range_spec_of(range)->name;
}

const char *gotrace_metric_name(gotrace_metric metric)
{
    switch (metric) {
    case GOTRACE_METRIC_NONE: return "none";
    case GOTRACE_METRIC_GOMAXPROCS: return "GOMAXPROCS";
    case GOTRACE_METRIC_HEAP_ALLOCATED: return "heap allocated";
    case GOTRACE_METRIC_HEAP_GOAL: return "heap goal";
    }
    return "unknown";
}

const char *gotrace_kind_name(gotrace_kind kind)
{
    switch (kind) {
    case GOTRACE_KIND_NONE: return "none";
    case GOTRACE_KIND_TRANSITION: return "transition";
    case GOTRACE_KIND_SYSCALL: return "syscall";
    case GOTRACE_KIND_METRIC: return "metric";
    case GOTRACE_KIND_LABEL: return "label";
    case GOTRACE_KIND_RANGE_BEGIN: return "range-begin";
    case GOTRACE_KIND_RANGE_END: return "range-end";
    case GOTRACE_KIND_TASK_BEGIN: return "task-begin";
    case GOTRACE_KIND_TASK_END: return "task-end";
    case GOTRACE_KIND_REGION_BEGIN: return "region-begin";
    case GOTRACE_KIND_REGION_END: return "region-end";
    case GOTRACE_KIND_LOG: return "log";
    case GOTRACE_KIND_RANGE_ACTIVE: return "range-active";
    case GOTRACE_KIND_SYNC: return "sync";
    case GOTRACE_KIND_EXPERIMENT: return "experiment";
    case GOTRACE_KIND_SAMPLE: return "sample";
    }
    return "unknown";
}
