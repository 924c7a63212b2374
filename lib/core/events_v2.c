/*
 * events_v2.c - the table of the v2 events (events_v2.def) as data.
 */
#include "core/head.h"
#include "core/event_rows.h"
#include "core/semantics.h"

#define A(kind, name)                                                                              \
    {                                                                                              \
#name, GOTRACE_ARG_##kind, GOTRACE_FIRST_V2, 255                                           \
    }
#define TIME A(DT, dt)

static const gotrace_event_spec specs[GT_V2_EVENT_COUNT] = {
#define N(code, name, since, summary)                                                              \
    [code] = {#name, summary, code, since, 0, 0, NULL, DOES(RECORD)},
#define E ROW
#define T ROW_TIMED
#include "events_v2.def"
#undef N
#undef E
#undef T
};

/* Each row has its constant, which `make codes` writes. */
#define N(code, name, since, summary)                                                              \
    _Static_assert(GOTRACE_V2_##name == (code), "run make codes: " #name);
#define E(code, name, since, flags, args, summary, does) N(code, name, since, summary)
#define T(code, name, since, flags, args, summary, does) N(code, name, since, summary)
#include "events_v2.def"
#undef N
#undef E
#undef T

const gotrace_event_spec *gt_v2_spec(int version, unsigned code)
{
    if (code >= GT_V2_EVENT_COUNT || !specs[code].name || specs[code].since > version)
        return NULL;
    return &specs[code];
}

void gt_v2_shapes_init(gt_v2_shape shapes[GT_CODES], int version)
{
    for (unsigned code = 0; code < GT_CODES; code++) {
        const gotrace_event_spec *spec = gt_v2_spec(version, code);
        gt_v2_shape *shape = &shapes[code];
        *shape = (gt_v2_shape){0};
        if (!spec)
            continue;
        const bool stack = spec->flags & GOTRACE_SPEC_STACK;
        *shape = (gt_v2_shape){
            .exists = true,
            .values = spec->arg_count,
            .args = (uint8_t)(spec->arg_count > 1 ? spec->arg_count - 1 - stack : 0),
            .flags = spec->flags,
            .kind = spec->semantics->kind,
            .resource = spec->semantics->resource,
            .range = spec->semantics->range,
            .metric = spec->semantics->metric};
        shape->head = GT_HEAD_OF(type, code) | GT_HEAD_OF(kind, shape->kind) |
                      GT_HEAD_OF(resource, shape->resource) | GT_HEAD_OF(range, shape->range);
        for (unsigned i = 1; i < spec->arg_count; i++) {
            uint8_t bit = (uint8_t)(1u << (i - 1)), kind = spec->args[i].kind;
            bool is_stack = kind == GOTRACE_ARG_STACK || kind == GOTRACE_ARG_START;
            shape->stacks |= is_stack ? bit : 0;
            shape->refers |= is_stack || kind == GOTRACE_ARG_STRING ? bit : 0;
            if (shape->kind != GOTRACE_KIND_TRANSITION)
                continue;
            shape->start = kind == GOTRACE_ARG_START ? (uint8_t)i : shape->start;
        }
    }
    /* Not a record: the sync event at the beginning of a generation, and at the end. */
    shapes[0].kind = GOTRACE_KIND_SYNC;
    shapes[0].head = GT_HEAD_OF(kind, GOTRACE_KIND_SYNC);
}
