/* emit.c - append events to blocks. */
#include "cmd/gen/gen.h"

#include <string.h>

static const char *const names[GEN_EVENT_COUNT][2] = {
#define GEN_NAMES(name, v1, v2) {v1, v2},
    GEN_EVENTS(GEN_NAMES)
#undef GEN_NAMES
};

/* Later versions still define FutileWakeup, but their tracers do not write it, and Go's readers
 * from 1.22 on reject it. */
enum { LAST_FUTILE = 10 };

/* As in Go. gen ends generations itself, so that it knows when string and stack ids become invalid.
 */
#define GENERATION_NS 1000000000u

/* ---- event layouts of a version -------------------------------------------------------------- */

static void find_sources(gen_layout *w, int version)
{
    const gotrace_arg_spec *args[GOTRACE_MAX_ARGS];
    uint8_t numbers = 0, texts = GEN_FROM_STRING;
    w->arg_count = (uint8_t)gotrace_writer_args(w->spec, version, args);
    w->stack = w->spec->flags & GOTRACE_SPEC_STACK;
    w->data = w->spec->flags & GOTRACE_SPEC_DATA;
    memset(w->sources, GEN_FROM_NOTHING, sizeof w->sources);
    for (size_t i = 0; i < w->arg_count; i++) {
        uint8_t *source = &w->sources[i];
        switch (args[i]->kind) {
        case GOTRACE_ARG_STRING: *source = texts++; break;
        case GOTRACE_ARG_START: *source = GEN_FROM_START; break;
        case GOTRACE_ARG_STACK: *source = GEN_FROM_STACK; break;
        default: *source = numbers++; break;
        }
        w->named |= *source >= GEN_FROM_STRING;
    }
}

void gen_layouts_init(gen_layouts *layouts, int version)
{
    layouts->version = version;
    for (int i = 0; i < GEN_EVENT_COUNT; i++) {
        gen_layout *w = &layouts->of[i];
        const char *name = names[i][version >= GOTRACE_FIRST_V2];
        if (!name || (i == GEN_FUTILE && version > LAST_FUTILE))
            continue;
        w->spec = gotrace_event_spec_named(version, name);
        if (!w->spec)
            continue;
        find_sources(w, version);
        gen_events_add(&layouts->known, (gen_event)i);
    }
}

/* ---- events ---------------------------------------------------------------------------------- */

uint64_t gen_ticks(const gen_sim *s)
{
    return s->now >> s->tick_shift;
}

/* The block is full, or there is none yet. */
__attribute__((noinline)) static void next_block(gen_sim *s)
{
    s->block = gen_pipe_next(s->pipe, s->in_block);
    s->in_block = 0;
    s->failed = !s->block;
}

static inline gen_record *next_record(gen_sim *s)
{
    if (!s->block || s->in_block == GEN_BLOCK_RECORDS)
        next_block(s);
    return s->failed ? NULL : &s->block[s->in_block++];
}

void gen_emit_end(gen_sim *s)
{
    if (!s->failed && s->in_block > 0)
        next_block(s);
}

/* OP_START has a single variant. */
static inline uint16_t stack_number(const gen_sim *s, const gen_role *role, gen_op_code op)
{
    unsigned variant = op == OP_START ? 0 : (unsigned)(s->random >> 40) % GEN_VARIANTS;
    return role ? gen_stack_number((unsigned)(role - s->roles), op, variant) : 0;
}

void gen_emit(gen_sim *s, gen_event event, const gen_fields *fields)
{
    if (!gen_has(s, event) || s->failed)
        return;
    gen_record *r = next_record(s);
    if (!r)
        return;
    const gen_layout *w = &s->layouts->of[event];
    const uint64_t values[GEN_SOURCES] = {
        fields->args[0],
        fields->args[1],
        fields->args[2],
        fields->args[3],
        [GEN_FROM_STRING] = fields->string,
        [GEN_FROM_SECOND] = fields->second,
        [GEN_FROM_START] = stack_number(s, fields->start, OP_START),
        [GEN_FROM_STACK] = stack_number(s, fields->role, fields->op),
    };
    *r = (gen_record){
        .ticks = gen_ticks(s),
        .goroutine = fields->g ? fields->g->id : 0,
        .args = {values[w->sources[0]], values[w->sources[1]], values[w->sources[2]],
                 values[w->sources[3]]},
        .thread = fields->thread || !fields->p ? fields->thread : fields->p->thread,
        .proc = (int16_t)(fields->p ? fields->p->id : -1),
        .stack = w->stack ? (uint16_t)values[GEN_FROM_STACK] : 0,
        .event = (uint8_t)event,
        .data = w->data ? (uint8_t)fields->second : GEN_STRING_NOTHING,
    };
    s->emitted++;
    gen_events_add(&s->seen, event);
}

void gen_generation_begun(gen_sim *s)
{
    s->next_generation = s->now + GENERATION_NS;
}

void gen_next_generation(gen_sim *s)
{
    gen_record *r = s->failed ? NULL : next_record(s);
    if (r)
        *r = (gen_record){.ticks = gen_ticks(s), .event = GEN_EVENT_COUNT};
    gen_generation_begun(s);
}
