/* gen_tell.c - what happens in the machine, told to the writer in the words of the version. */
#include "gen.h"

#include <string.h>

static const char *const names[GEN_EVENT_COUNT][2] = {
#define GEN_NAMES(name, v1, v2) {v1, v2},
    GEN_EVENTS(GEN_NAMES)
#undef GEN_NAMES
};

static const char *const strings[GEN_STRING_COUNT] = {
#define GEN_TEXT(name, text) text,
    GEN_STRINGS(GEN_TEXT)
#undef GEN_TEXT
};

/* The tables of later versions still have FutileWakeup, but no tracer of theirs writes it, and Go's
 * readers from 1.22 on refuse it. */
enum { LAST_FUTILE = 10 };

/* As long as those of Go. The writer is not left to begin them, so that ids need not be looked
 * after with each event. */
#define GENERATION_NS 1000000000u

/* Where an argument comes from: the n-th of a saying's args, or one of these. */
enum { FROM_STRING = 8, FROM_SECOND, FROM_START, FROM_STACK, FROM_NOWHERE };

/* A program counter for a role's start, where traces have no stack of it (until 1.6). */
static uint64_t start_pc(const gen_sim *s, const gen_role *role)
{
    return 0x401000 + 0x1000 * (uint64_t)(role - s->roles);
}

static void find_sources(gen_sim *s, gen_event event)
{
    const gotrace_arg_spec *args[GOTRACE_MAX_ARGS];
    size_t count = gotrace_writer_args(s->specs[event], s->version, args);
    uint8_t numbers = 0, texts = 0;
    s->arg_counts[event] = (uint8_t)count;
    for (size_t i = 0; i < count; i++) {
        uint8_t *source = &s->sources[event][i];
        switch (args[i]->kind) {
        case GOTRACE_ARG_STRING: *source = texts++ == 0 ? FROM_STRING : FROM_SECOND; break;
        case GOTRACE_ARG_START: *source = FROM_START; break;
        case GOTRACE_ARG_STACK: *source = FROM_STACK; break;
        default: *source = numbers < 4 ? numbers++ : FROM_NOWHERE; break;
        }
    }
}

void gen_tell_init(gen_sim *s)
{
    for (int i = 0; i < GEN_EVENT_COUNT; i++) {
        const char *name = names[i][s->v2];
        s->specs[i] = name ? gotrace_event_spec_named(s->version, name) : NULL;
        if (i == GEN_FUTILE && s->version > LAST_FUTILE)
            s->specs[i] = NULL;
        if (s->specs[i])
            find_sources(s, (gen_event)i);
    }
    s->generation = gotrace_writer_generation(s->writer);
    s->next_generation = s->now + GENERATION_NS;
}

uint64_t gen_ticks(const gen_sim *s)
{
    return s->now >> s->tick_shift;
}

const char *gen_text(gen_string string)
{
    return strings[string];
}

static void make_string(gen_sim *s, const gen_proc *p, gen_string string)
{
    if (gotrace_writer_string(s->writer, p ? p->id : 0, strings[string], strlen(strings[string]),
                              &s->string_ids[string]) < 0)
        s->failed = true;
}

static void make_stack(gen_sim *s, const gen_role *role, gen_op_code op, unsigned variant)
{
    gotrace_frame frames[GEN_FRAMES];
    size_t count = gen_frames(role, op, variant, frames);
    if (gotrace_writer_stack(s->writer, frames, count,
                             &s->stack_ids[role - s->roles][op][variant]) < 0)
        s->failed = true;
}

/* Most ids are known: an event is told as fast as they are found. */
static inline uint64_t string_id(gen_sim *s, const gen_proc *p, gen_string string)
{
    const uint64_t *id = &s->string_ids[string];
    if (*id == 0 && string != GEN_STRING_NOTHING)
        make_string(s, p, string);
    return *id;
}

static inline uint64_t stack_id(gen_sim *s, const gen_role *role, gen_op_code op)
{
    if (!role)
        return 0;
    /* Where goroutines start there is but one place. */
    unsigned variant = op == OP_START ? 0 : (unsigned)(s->random >> 40) % GEN_VARIANTS;
    const uint64_t *id = &s->stack_ids[role - s->roles][op][variant];
    if (*id == 0)
        make_stack(s, role, op, variant);
    return *id;
}

/* Strings and stacks get new ids with each generation. */
static void forget_ids(gen_sim *s)
{
    s->generation = gotrace_writer_generation(s->writer);
    memset(s->string_ids, 0, sizeof s->string_ids);
    memset(s->stack_ids, 0, sizeof s->stack_ids);
}

static inline uint64_t argument(gen_sim *s, const gen_saying *say, unsigned source)
{
    if (source < FROM_STRING)
        return say->args[source];
    switch (source) {
    case FROM_STRING: return string_id(s, say->p, say->string);
    case FROM_SECOND: return string_id(s, say->p, say->second);
    case FROM_START:
        return s->version < 7 ? start_pc(s, say->start) : stack_id(s, say->start, OP_START);
    case FROM_STACK: return stack_id(s, say->role, say->op);
    default: return 0;
    }
}

void gen_tell(gen_sim *s, gen_event event, const gen_saying *say)
{
    const gotrace_event_spec *spec = s->specs[event];
    if (!spec || s->failed)
        return;
    if (gotrace_writer_at(s->writer, gen_ticks(s)) < 0) {
        s->failed = true;
        return;
    }
    uint64_t args[GOTRACE_MAX_ARGS];
    for (unsigned i = 0; i < s->arg_counts[event]; i++)
        args[i] = argument(s, say, s->sources[event][i]);
    gotrace_happening happening = {
        .spec = spec,
        .proc = say->p ? say->p->id : GOTRACE_NO_PROC,
        .thread = say->thread ? say->thread
                  : say->p    ? say->p->thread
                              : GOTRACE_NO_THREAD,
        .goroutine = say->g ? say->g->id : 0,
        .args = args,
        .arg_count = s->arg_counts[event],
        .stack = spec->flags & GOTRACE_SPEC_STACK ? stack_id(s, say->role, say->op) : 0,
        .data = spec->flags & GOTRACE_SPEC_DATA ? say->data : NULL,
        .data_size = spec->flags & GOTRACE_SPEC_DATA ? say->data_size : 0};
    if (gotrace_writer_event(s->writer, &happening) < 0)
        s->failed = true;
    s->told++;
    s->seen |= (uint64_t)1 << event;
}

void gen_next_generation(gen_sim *s)
{
    if (s->failed)
        return;
    if (gotrace_writer_at(s->writer, gen_ticks(s)) < 0 ||
        gotrace_writer_advance(s->writer, NULL) < 0)
        s->failed = true;
    forget_ids(s);
    s->next_generation = s->now + GENERATION_NS;
}
