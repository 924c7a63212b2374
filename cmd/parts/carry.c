/* carry.c - the arguments of events, from a reader to a writer. */
#include "cmd/parts/carry.h"

#include <string.h>

enum { SECOND = 1000000000 };

void carry_init(carry *c, int version)
{
    const gotrace_arg_spec *args[GOTRACE_MAX_ARGS];
    c->version = version;
    idmap_init(&c->stacks, sizeof(uint64_t));
    for (unsigned code = 0; code < 256; code++) {
        const gotrace_event_spec *spec = gotrace_event_spec_of(version, code);
        carry_row *row = &c->rows[code];
        if (!spec)
            continue;
        size_t count = gotrace_event_args(spec, version, args);
        for (size_t i = 0; i < count; i++)
            row->kinds[i] = args[i]->kind;
        row->spec = spec;
        row->count = (uint8_t)(count - ((spec->flags & GOTRACE_SPEC_STACK) != 0));
    }
}

void carry_forget_stacks(carry *c)
{
    idmap_free(&c->stacks);
}

void carry_free(carry *c)
{
    idmap_free(&c->stacks);
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

uint64_t carry_string(carry *c, int64_t proc, uint64_t id)
{
    size_t size = 0;
    const char *bytes = gotrace_reader_string(c->reader, id, &size);
    return carry_text(c, proc, bytes, size);
}

static uint64_t make_stack(carry *c, uint64_t id)
{
    uint64_t made = 0;
    size_t count = gotrace_reader_stack(c->reader, id, c->frames, CARRY_MOST_FRAMES);
    if (gotrace_writer_stack(c->writer, c->frames, count, &made) < 0)
        c->failed = true;
    return made;
}

__attribute__((noinline)) static uint64_t carry_new_stack(carry *c, uint64_t id)
{
    uint64_t *made = idmap_insert(&c->stacks, id); /* plus 1 */
    if (!made)
        c->failed = true;
    else
        *made = make_stack(c, id) + 1;
    return made ? *made - 1 : 0;
}

/* An id has the same stack in a whole generation, or v1 trace. */
uint64_t carry_stack(carry *c, uint64_t id)
{
    const uint64_t *made = idmap_find(&c->stacks, id);
    return made && *made ? *made - 1 : carry_new_stack(c, id);
}

size_t carry_args(carry *c, const gotrace_event *e, const gotrace_event_spec *spec,
                  uint64_t *values)
{
    const carry_row *row = &c->rows[spec->code];
    size_t n = 0, k = 0;
    if (c->version >= GOTRACE_FIRST_V2 && spec->code == GOTRACE_V2_CPUSample) {
        values[0] = carry_ticks(c, e->ticks);
        memcpy(values + 1, e->args, 3 * sizeof *values);
        return 4;
    }
    for (size_t i = 0; i < row->count && k < e->arg_count; i++) {
        unsigned kind = row->kinds[i];
        if (kind == GOTRACE_ARG_DSEQ || kind == GOTRACE_ARG_DT)
            continue;
        uint64_t v = e->args[k++];
        if (kind == GOTRACE_ARG_SEQ)
            continue;
        if (kind == GOTRACE_ARG_STRING)
            v = carry_string(c, e->proc, v);
        else if (kind == GOTRACE_ARG_STACK || (kind == GOTRACE_ARG_START && c->version >= 7))
            v = carry_stack(c, v);
        values[n++] = v;
    }
    return n;
}

gotrace_event_data carry_event(carry *c, const gotrace_event *e, const gotrace_event_spec *spec,
                               uint64_t *values)
{
    bool data = (spec->flags & GOTRACE_SPEC_DATA) != 0;
    return (gotrace_event_data){.spec = spec,
                                .proc = e->flags & GOTRACE_EVENT_MOVED ? GOTRACE_NO_PROC : e->proc,
                                .thread = e->thread,
                                .goroutine = e->goroutine,
                                .args = values,
                                .arg_count = carry_args(c, e, spec, values),
                                .stack = carry_stack(c, e->stack),
                                .data = data ? e->message : NULL,
                                .data_size = data ? e->message_size : 0};
}
