/*
 * events.c - the table of v1 events (events_v1.def) as data, queries of both tables, and the names
 * of the common model.
 */
#include <string.h>

#include "core/event_rows.h"
#include "core/semantics.h"

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
#define TIME A_UNTIL(DSEQ, dseq, 6), A(DT, dt)

static const gotrace_event_spec specs[GT_V1_EVENT_COUNT] = {
#define E ROW
#define T ROW_TIMED
#include "events_v1.def"
#undef E
#undef T
};

/* Each row has its constant, which `make codes` writes. */
#define E(code, name, since, flags, args, summary, does)                                           \
    _Static_assert(GOTRACE_V1_##name == (code), "run make codes: " #name);
#define T(code, name, since, flags, args, summary, does) E(code, name, since, flags, args, "", )
#include "events_v1.def"
#undef E
#undef T

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
    return version < GT_FIRST_NUMBERED ? 1 : 4;
}

static void set_context(gt_v1_shape *shape, const gotrace_semantics *does)
{
    bool of_subject = does->context == GOTRACE_CONTEXT_SUBJECT;
    bool starts = does->other.to == GOTRACE_STATE_RUNNING;
    bool leaves = does->self.to && does->self.to != GOTRACE_STATE_RUNNING;
    shape->context_running = does->context == GOTRACE_CONTEXT_RUNNING ? UINT64_MAX : 0;
    shape->context_arg = of_subject ? UINT64_MAX : 0;
    shape->after_running = starts || leaves ? 0 : UINT64_MAX;
    shape->after_arg = starts ? UINT64_MAX : 0;
}

/* Go's reader orders goroutines by the events that can make them runnable again. All other events
 * are ordered by proc and time. */
static uint8_t rule_of(const gt_v1_shape *shape, unsigned code)
{
    bool syscall = shape->from == GOTRACE_STATE_SYSCALL || shape->to == GOTRACE_STATE_SYSCALL;
    uint8_t rule = (uint8_t)(code | (syscall ? GT_RULE_SYSCALL : 0));
    switch ((gt_action)shape->action) {
    case GT_ACTION_CREATE:
    case GT_ACTION_START:
    case GT_ACTION_WAKE:
    case GT_ACTION_EXIT:
    case GT_ACTION_FOUND: return rule;
    case GT_ACTION_STOP:
        return shape->to == GOTRACE_STATE_NOT_EXIST || shape->does->forever ? 0 : rule;
    case GT_ACTION_RANGE_BEGIN: return shape->range == GOTRACE_RANGE_GC ? rule | GT_RULE_GC : 0;
    default: return 0;
    }
}

/* The number of inline values is in the two high bits, counted from 1 (until 1.6: from 2). */
static uint8_t inlined_of(int version, unsigned code, uint8_t values, uint8_t flags)
{
    unsigned least = version < GT_FIRST_NUMBERED ? 2 : 1;
    if (code == GOTRACE_V1_String)
        return 0;
    if (flags & GOTRACE_SPEC_FRAMES || values < least || values - least > 2)
        return 3;
    return (uint8_t)(values - least);
}

/* What the event changes: the goroutine in its argument, else the running one, or the proc. */
static void set_change(gt_v1_shape *shape)
{
    gotrace_change change = gt_change_of(shape->does);
    shape->from = change.from;
    shape->to = change.to;
    shape->status = gt_status_of(change.from);
    shape->next = gt_next_of(shape->does);
}

/* Positions of the arguments whose kind has a meaning. */
static void set_args(gt_v1_shape *shape, const gotrace_arg_spec **args, int version)
{
    for (uint8_t i = 0; i < shape->slots; i++) {
        uint8_t place = (uint8_t)(i + 1);
        switch (args[i]->kind) {
        case GOTRACE_ARG_TASK: *(shape->task ? &shape->parent : &shape->task) = place; break;
        case GOTRACE_ARG_STRING: shape->string = place; break;
        case GOTRACE_ARG_START: shape->start = place; break;
        default: break;
        }
    }
    /* Until 1.6 the start of a goroutine is a program counter. */
    shape->refers = shape->string || (shape->start && version >= GT_FIRST_NUMBERED);
}

static bool is_detailed(const gt_v1_shape *shape)
{
    switch ((gt_action)shape->action) {
    case GT_ACTION_METRIC:
    case GT_ACTION_TASK_END:
    case GT_ACTION_REGION:
    case GT_ACTION_LOG:
    case GT_ACTION_SAMPLE: return true;
    case GT_ACTION_RANGE_BEGIN: return shape->range == GOTRACE_RANGE_STW;
    default: return shape->task || shape->parent || shape->string;
    }
}

static gt_v1_shape shape_of(int version, unsigned code)
{
    const gotrace_event_spec *spec = gotrace_event_spec_of(version, code);
    if (!spec || gt_is_v2(version))
        return (gt_v1_shape){0};
    const gotrace_arg_spec *args[GOTRACE_MAX_ARGS];
    uint8_t full = spec->semantics->full ? spec->semantics->full : (uint8_t)code;
    const gotrace_semantics *does = specs[full].semantics;
    uint8_t values = (uint8_t)gotrace_event_args(spec, version, args);
    gt_v1_shape shape = {.values = values,
                         .inlined = inlined_of(version, code, values, spec->flags),
                         .flags = spec->flags,
                         .full = full,
                         .does = does,
                         .kind = does->kind,
                         .resource = does->resource,
                         .range = does->range,
                         .action = (uint8_t)gt_action_of(does)};
    set_context(&shape, does);
    set_change(&shape);
    shape.rule = rule_of(&shape, code);
    if (!(spec->flags & GOTRACE_SPEC_TIMED))
        return shape;
    bool stack = spec->flags & GOTRACE_SPEC_STACK;
    unsigned times = version < GT_FIRST_NUMBERED ? 2 : 1;
    shape.slots = (uint8_t)(values - times - stack);
    set_args(&shape, args + times, version);
    shape.detailed = is_detailed(&shape);
    shape.sorted_separately = shape.action == GT_ACTION_SAMPLE ||
                              (shape.action == GT_ACTION_EXIT && version < GT_FIRST_NUMBERED);
    if (!(spec->flags & GOTRACE_SPEC_DATA) && shape.action != GT_ACTION_SAMPLE)
        shape.plain = (uint8_t)(1 + 2 * shape.slots + stack);
    return shape;
}

void gt_v1_shapes_init(gt_v1_shape shapes[64], int version)
{
    for (unsigned code = 0; code < 64; code++)
        shapes[code] = shape_of(version, code);
    for (uint8_t code = 0; code < GT_V1_EVENT_COUNT; code++)
        if (specs[code].semantics && specs[code].semantics->full)
            shapes[specs[code].semantics->full].local = code;
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
