/* tell.c - emit the events of the machine. */
#include "cmd/gen/gen.h"

#include <string.h>

static const char *const names[GEN_EVENT_COUNT][2] = {
#define GEN_NAMES(name, v1, v2) {v1, v2},
    GEN_EVENTS(GEN_NAMES)
#undef GEN_NAMES
};

/* The tables of later versions still have FutileWakeup, but no tracer of theirs writes it, and Go's
 * readers from 1.22 on refuse it. */
enum { LAST_FUTILE = 10 };

/* As long as those of Go. The writer is not left to begin them, so that ids need not be looked
 * after with each event. */
#define GENERATION_NS 1000000000u

/* ---- the words of a version ------------------------------------------------------------------ */

static void find_sources(gen_wording *w, int version)
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

void gen_words_init(gen_words *words, int version)
{
    words->version = version;
    for (int i = 0; i < GEN_EVENT_COUNT; i++) {
        gen_wording *w = &words->of[i];
        const char *name = names[i][version >= GOTRACE_FIRST_V2];
        if (!name || (i == GEN_FUTILE && version > LAST_FUTILE))
            continue;
        w->spec = gotrace_event_spec_named(version, name);
        if (!w->spec)
            continue;
        find_sources(w, version);
        gen_events_add(&words->known, (gen_event)i);
    }
}

/* ---- events ---------------------------------------------------------------------------------- */

uint64_t gen_ticks(const gen_sim *s)
{
    return s->now >> s->tick_shift;
}

/* A block is full, or there is none yet. */
__attribute__((noinline)) static void turn_over(gen_sim *s)
{
    s->block = gen_pipe_next(s->pipe, s->in_block);
    s->in_block = 0;
    s->failed = !s->block;
}

static inline gen_record *next_record(gen_sim *s)
{
    if (!s->block || s->in_block == GEN_BLOCK_RECORDS)
        turn_over(s);
    return s->failed ? NULL : &s->block[s->in_block++];
}

void gen_emit_end(gen_sim *s)
{
    if (!s->failed && s->in_block > 0)
        turn_over(s);
}

/* Where goroutines start there is but one place. */
static inline uint16_t stack_number(const gen_sim *s, const gen_role *role, gen_op_code op)
{
    unsigned variant = op == OP_START ? 0 : (unsigned)(s->random >> 40) % GEN_VARIANTS;
    return role ? gen_stack_number((unsigned)(role - s->roles), op, variant) : 0;
}

void gen_emit(gen_sim *s, gen_event event, const gen_form *say)
{
    if (!gen_has(s, event) || s->failed)
        return;
    gen_record *r = next_record(s);
    if (!r)
        return;
    const gen_wording *w = &s->words->of[event];
    const uint64_t said[GEN_SOURCES] = {
        say->args[0],
        say->args[1],
        say->args[2],
        say->args[3],
        [GEN_FROM_STRING] = say->string,
        [GEN_FROM_SECOND] = say->second,
        [GEN_FROM_START] = stack_number(s, say->start, OP_START),
        [GEN_FROM_STACK] = stack_number(s, say->role, say->op),
    };
    *r = (gen_record){
        .ticks = gen_ticks(s),
        .goroutine = say->g ? say->g->id : 0,
        .args = {said[w->sources[0]], said[w->sources[1]], said[w->sources[2]],
                 said[w->sources[3]]},
        .thread = say->thread || !say->p ? say->thread : say->p->thread,
        .proc = (int16_t)(say->p ? say->p->id : -1),
        .stack = w->stack ? (uint16_t)said[GEN_FROM_STACK] : 0,
        .event = (uint8_t)event,
        .data = w->data ? (uint8_t)say->second : GEN_STRING_NOTHING,
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
