/* carry.c - the arguments of events, from a reader to a writer. */
#include "cmd/parts/carry.h"

#include <string.h>

enum { SECOND = 1000000000 };

/* Which arguments a writer takes, and which of the reader's they are: sequence numbers and time
 * differences are its own; the reader has no differences. */
static void init_row(carry_row *row, const gotrace_event_spec *spec, int version)
{
    const gotrace_arg_spec *args[GOTRACE_MAX_ARGS];
    size_t count = gotrace_event_args(spec, version, args);
    uint8_t from = 0;
    row->spec = spec;
    row->is_sample = version >= GOTRACE_FIRST_V2 && spec->code == GOTRACE_V2_CPUSample;
    row->copies = !row->is_sample;
    count -= (spec->flags & GOTRACE_SPEC_STACK) != 0;
    for (size_t i = 0; i < count; i++) {
        unsigned kind = args[i]->kind;
        if (kind == GOTRACE_ARG_DSEQ || kind == GOTRACE_ARG_DT)
            continue;
        if (kind != GOTRACE_ARG_SEQ) {
            bool stack = kind == GOTRACE_ARG_STACK || (kind == GOTRACE_ARG_START && version >= 7);
            uint8_t way = kind == GOTRACE_ARG_STRING ? CARRY_STRING
                          : stack                    ? CARRY_STACK
                                                     : CARRY_AS_IT_IS;
            row->copies = row->copies && from == row->count && way == CARRY_AS_IT_IS;
            row->from[row->count] = from;
            row->ways[row->count++] = way;
        }
        from++;
    }
}

void carry_init(carry *c, int version)
{
    c->version = version;
    id_numbers_init(&c->strings);
    id_numbers_init(&c->stacks);
    for (unsigned code = 0; code < 256; code++) {
        const gotrace_event_spec *spec = gotrace_event_spec_of(version, code);
        if (spec)
            init_row(&c->rows[code], spec, version);
    }
}

void carry_forget(carry *c)
{
    id_numbers_clear(&c->strings);
    id_numbers_clear(&c->stacks);
}

void carry_free(carry *c)
{
    id_numbers_free(&c->strings);
    id_numbers_free(&c->stacks);
}

uint64_t carry_ticks(const carry *c, uint64_t ns)
{
    __extension__ typedef unsigned __int128 wide;
    return c->version >= GOTRACE_FIRST_V2 ? (uint64_t)((wide)ns * c->frequency / SECOND) : ns;
}

uint64_t carry_text(carry *c, int64_t proc, const char *text, size_t size)
{
    uint64_t made = 0;
    if (gotrace_writer_string(c->writer, proc, text, text ? size : 0, &made) < 0)
        c->failed = true;
    return made;
}

/* Notes the writer's id of a string or stack. */
static uint64_t note(carry *c, id_numbers *made, uint64_t id, uint64_t writers)
{
    if (!c->failed && writers < UINT32_MAX && !id_numbers_put(made, id, (uint32_t)writers + 1))
        c->failed = true;
    return writers;
}

__attribute__((noinline)) static uint64_t carry_new_string(carry *c, int64_t proc, uint64_t id)
{
    size_t size = 0;
    const char *bytes = gotrace_reader_string(c->reader, id, &size);
    return note(c, &c->strings, id, carry_text(c, proc, bytes, size));
}

uint64_t carry_new_stack(carry *c, uint64_t id)
{
    uint64_t made = 0;
    size_t count = gotrace_reader_stack(c->reader, id, c->frames, CARRY_MOST_FRAMES);
    if (gotrace_writer_stack(c->writer, c->frames, count, &made) < 0)
        c->failed = true;
    return note(c, &c->stacks, id, made);
}

/* An id has the same string or stack in a whole generation, or v1 trace. */
static uint64_t string_of(carry *c, int64_t proc, uint64_t id)
{
    uint32_t made = id_numbers_find(&c->strings, id);
    return made ? made - 1 : carry_new_string(c, proc, id);
}

size_t carry_other_args(carry *c, const gotrace_event *e, const carry_row *row, uint64_t *values)
{
    const gotrace_raw *raw = gotrace_reader_raw(c->reader);
    size_t n = 0;
    if (row->is_sample) {
        values[0] = carry_ticks(c, raw->ticks);
        memcpy(values + 1, raw->args, 3 * sizeof *values);
        return 4;
    }
    for (; n < row->count && row->from[n] < raw->arg_count; n++) {
        uint64_t v = raw->args[row->from[n]];
        switch ((carry_way)row->ways[n]) {
        case CARRY_AS_IT_IS: break;
        case CARRY_STRING: v = string_of(c, e->proc, v); break;
        case CARRY_STACK: v = carry_stack(c, v); break;
        }
        values[n] = v;
    }
    return n;
}
