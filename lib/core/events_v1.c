/*
 * events_v1.c - the table of the v1 events (events_v1.def) as data.
 */
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

const gotrace_event_spec *gt_v1_spec(int version, unsigned code)
{
    if (code >= GT_V1_EVENT_COUNT || !specs[code].name || specs[code].since > version)
        return NULL;
    return &specs[code];
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
    switch ((gotrace_kind)shape->kind) {
    case GOTRACE_KIND_NONE: return shape->action == GT_ACTION_REGION;
    case GOTRACE_KIND_TRANSITION:
    case GOTRACE_KIND_SYSCALL: return shape->task || shape->parent || shape->string;
    default: return shape->slots > 0 || shape->range == GOTRACE_RANGE_STW;
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
                         .event_flags = does->initial ? GOTRACE_EVENT_INITIAL : 0,
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
    if (shape.kind == GOTRACE_KIND_TRANSITION)
        shape.given = does->text    ? GOTRACE_GIVEN_REASON
                      : shape.start ? GOTRACE_GIVEN_START_STACK
                                    : 0;
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
