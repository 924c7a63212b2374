/*
 * events.c - the table of the v1 events (events_v1.def) as data, what both tables are asked, and
 * the names of the common model.
 */
#include <string.h>

#include "core/events.h"

#define A(kind, name)                                                                              \
    {                                                                                              \
#name, GOTRACE_ARG_##kind, 5, 255                                                          \
    }
#define A_SINCE(kind, name, version)                                                               \
    {                                                                                              \
#name, GOTRACE_ARG_##kind, version, 255                                                    \
    }
#define A_UNTIL(kind, name, version)                                                               \
    {                                                                                              \
#name, GOTRACE_ARG_##kind, 5, version                                                      \
    }
#define STRIP(...)      __VA_ARGS__
#define TIME            A_UNTIL(DSEQ, dseq, 6), A(DT, dt)
#define COUNT_ARGS(...) (sizeof((gotrace_arg_spec[]){__VA_ARGS__}) / sizeof(gotrace_arg_spec))

static const gotrace_event_spec specs[GT_V1_EVENT_COUNT] = {
#define E(code, name, since, flags, args, summary)                                                 \
    [code] = {#name, summary, code, since, flags, COUNT_ARGS(STRIP args), {STRIP args}},
#define T(code, name, since, flags, args, summary)                                                 \
    [code] = {#name,                                                                               \
              summary,                                                                             \
              code,                                                                                \
              since,                                                                               \
              GOTRACE_SPEC_TIMED | (flags),                                                        \
              COUNT_ARGS(TIME, STRIP args),                                                        \
              {TIME, STRIP args}},
#include "events_v1.def"
#undef E
#undef T
};

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

const gotrace_release *gotrace_releases(size_t *count)
{
    *count = RELEASES;
    return releases;
}

/* No release is missing in the table, from the first one on. */
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
    if (gt_is_v2(version))
        return gt_v2_spec(version, code);
    if (code >= GT_V1_EVENT_COUNT || !specs[code].name || specs[code].since > version)
        return NULL;
    return &specs[code];
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
    return version < 7 ? 1 : 4;
}

static void set_context(gt_v1_shape *shape, unsigned code)
{
    shape->context_running = shape->after_running = UINT64_MAX;
    switch (code) {
    case GT_V1_GoStart:
    case GT_V1_GoStartLocal:
    case GT_V1_GoStartLabel:
        shape->context_running = shape->after_running = 0;
        shape->context_arg = shape->after_arg = UINT64_MAX;
        break;
    case GT_V1_GoEnd:
    case GT_V1_GoStop:
    case GT_V1_GoSched:
    case GT_V1_GoPreempt:
    case GT_V1_GoSleep:
    case GT_V1_GoBlock:
    case GT_V1_GoBlockSend:
    case GT_V1_GoBlockRecv:
    case GT_V1_GoBlockSelect:
    case GT_V1_GoBlockSync:
    case GT_V1_GoBlockCond:
    case GT_V1_GoBlockNet:
    case GT_V1_GoSysBlock:
    case GT_V1_GoBlockGC: shape->after_running = 0; break;
    case GT_V1_STWStart:
    case GT_V1_STWDone:
    case GT_V1_GCStart:
    case GT_V1_GCDone: shape->context_running = 0; break;
    case GT_V1_GoSysExit:
    case GT_V1_GoSysExitLocal:
    case GT_V1_GoWaiting:
    case GT_V1_GoInSyscall:
        shape->context_running = 0;
        shape->context_arg = UINT64_MAX;
        break;
    default: break;
    }
}

static uint8_t rule_of(unsigned code)
{
    static const uint8_t rules[64] = {
        [GT_V1_GoCreate] = GT_CREATE,
        [GT_V1_GoWaiting] = GT_FOUND,
        [GT_V1_GoInSyscall] = GT_FOUND | GT_SYSCALL,
        [GT_V1_GoStart] = GT_START,
        [GT_V1_GoStartLabel] = GT_START,
        [GT_V1_GoStartLocal] = GT_START_LOCAL,
        [GT_V1_GoBlock] = GT_BLOCK,
        [GT_V1_GoBlockSend] = GT_BLOCK,
        [GT_V1_GoBlockRecv] = GT_BLOCK,
        [GT_V1_GoBlockSelect] = GT_BLOCK,
        [GT_V1_GoBlockSync] = GT_BLOCK,
        [GT_V1_GoBlockCond] = GT_BLOCK,
        [GT_V1_GoBlockNet] = GT_BLOCK,
        [GT_V1_GoSleep] = GT_BLOCK,
        [GT_V1_GoSysBlock] = GT_BLOCK | GT_SYSCALL,
        [GT_V1_GoBlockGC] = GT_BLOCK,
        [GT_V1_GoSched] = GT_YIELD,
        [GT_V1_GoPreempt] = GT_YIELD,
        [GT_V1_GoUnblock] = GT_WAKE,
        [GT_V1_GoSysExit] = GT_WAKE | GT_SYSCALL,
        [GT_V1_GoUnblockLocal] = GT_WAKE_LOCAL,
        [GT_V1_GoSysExitLocal] = GT_WAKE_LOCAL | GT_SYSCALL,
        [GT_V1_GCStart] = GT_GC,
    };
    return rules[code];
}

static uint8_t full_of(unsigned code)
{
    switch (code) {
    case GT_V1_GoStartLocal: return GT_V1_GoStart;
    case GT_V1_GoUnblockLocal: return GT_V1_GoUnblock;
    case GT_V1_GoSysExitLocal: return GT_V1_GoSysExit;
    default: return (uint8_t)code;
    }
}

/* Values that stand inline are counted from 1 (until 1.6: from 2) in the two high bits. */
static uint8_t inlined_of(int version, unsigned code, uint8_t values, uint8_t flags)
{
    unsigned least = version < 7 ? 2 : 1;
    if (code == GT_V1_String)
        return 0;
    if (flags & GOTRACE_SPEC_FRAMES || values < least || values - least > 2)
        return 3;
    return (uint8_t)(values - least);
}

static gt_v1_shape shape_of(int version, unsigned code)
{
    const gotrace_event_spec *spec = gotrace_event_spec_of(version, code);
    if (!spec || gt_is_v2(version))
        return (gt_v1_shape){0};
    const gotrace_arg_spec *args[GOTRACE_MAX_ARGS];
    uint8_t values = (uint8_t)gotrace_event_args(spec, version, args);
    gt_v1_shape shape = {.values = values,
                         .inlined = inlined_of(version, code, values, spec->flags),
                         .flags = spec->flags,
                         .rule = rule_of(code),
                         .full = full_of(code)};
    set_context(&shape, code);
    if (!(spec->flags & GOTRACE_SPEC_TIMED))
        return shape;
    bool stack = spec->flags & GOTRACE_SPEC_STACK;
    shape.slots = (uint8_t)(values - (version < 7 ? 2 : 1) - stack);
    if (!(spec->flags & GOTRACE_SPEC_DATA) && code != GT_V1_CPUSample)
        shape.plain = (uint8_t)(1 + 2 * shape.slots + stack);
    return shape;
}

void gt_v1_shapes_init(gt_v1_shape shapes[64], int version)
{
    for (unsigned code = 0; code < 64; code++)
        shapes[code] = shape_of(version, code);
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
    }
    return "unknown";
}

const char *gotrace_range_name(gotrace_range range)
{
    switch (range) {
    case GOTRACE_RANGE_NONE: return "none";
    case GOTRACE_RANGE_GC: return "GC";
    case GOTRACE_RANGE_STW: return "stop-the-world";
    case GOTRACE_RANGE_SWEEP: return "GC sweep";
    case GOTRACE_RANGE_MARK_ASSIST: return "GC mark assist";
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
