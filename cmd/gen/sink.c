/* sink.c - pass events to the writer. */
#include "cmd/gen/gen.h"

#include <stdlib.h>
#include <string.h>

static const struct {
    const char *text;
    size_t size;
} strings[GEN_STRING_COUNT] = {
#define GEN_TEXT(name, text) {text, sizeof text - 1},
    GEN_STRINGS(GEN_TEXT)
#undef GEN_TEXT
};

struct gen_sink {
    gotrace_writer *writer;
    const gen_layouts *layouts;
    const gen_role *roles;
    uint64_t string_ids[GEN_STRING_COUNT]; /* 0: not yet passed to the writer */
    uint64_t stack_ids[GEN_STACKS];
};

gen_sink *gen_sink_new(gotrace_writer *writer, const gen_layouts *layouts, const gen_role *roles)
{
    gen_sink *t = calloc(1, sizeof *t);
    if (t) {
        t->writer = writer;
        t->layouts = layouts;
        t->roles = roles;
    }
    return t;
}

void gen_sink_free(gen_sink *t)
{
    free(t);
}

/* ---- strings and stacks ---------------------------------------------------------------------- */

static bool make_string(gen_sink *t, const gen_record *r, uint64_t string)
{
    int64_t proc = r->proc < 0 ? 0 : r->proc;
    return gotrace_writer_string(t->writer, proc, strings[string].text, strings[string].size,
                                 &t->string_ids[string]) >= 0;
}

/* The inverse of gen_stack_number. */
static bool make_stack(gen_sink *t, uint64_t stack)
{
    unsigned n = (unsigned)stack - 1, op = n / GEN_VARIANTS % OP_COUNT;
    gotrace_frame frames[GEN_FRAMES];
    size_t count = gen_frames(&t->roles[n / GEN_VARIANTS / OP_COUNT], (gen_op_code)op,
                              n % GEN_VARIANTS, frames);
    return gotrace_writer_stack(t->writer, frames, count, &t->stack_ids[stack]) >= 0;
}

/* Replace a string's number by its id. Inline, because nearly every id is already known. */
static inline bool find_string(gen_sink *t, const gen_record *r, uint64_t *string)
{
    if (*string != 0 && t->string_ids[*string] == 0 && !make_string(t, r, *string))
        return false;
    *string = t->string_ids[*string];
    return true;
}

static inline bool find_stack(gen_sink *t, uint64_t *stack)
{
    if (*stack != 0 && t->stack_ids[*stack] == 0 && !make_stack(t, *stack))
        return false;
    *stack = t->stack_ids[*stack];
    return true;
}

/* A made-up program counter for a role's entry point: until 1.6 GoCreate has a PC instead of a
 * stack. */
static uint64_t start_pc(uint64_t number)
{
    return 0x401000 + 0x1000 * ((number - 1) / GEN_VARIANTS / OP_COUNT);
}

static bool find_names(gen_sink *t, const gen_record *r, const gen_layout *w, uint64_t args[4])
{
    for (unsigned i = 0; i < w->arg_count; i++) {
        bool found = true;
        switch (w->sources[i]) {
        case GEN_FROM_STRING:
        case GEN_FROM_SECOND: found = find_string(t, r, &args[i]); break;
        case GEN_FROM_START:
            if (t->layouts->version < 7)
                args[i] = start_pc(args[i]);
            else
                found = find_stack(t, &args[i]);
            break;
        case GEN_FROM_STACK: found = find_stack(t, &args[i]); break;
        default: break;
        }
        if (!found)
            return false;
    }
    return true;
}

/* ---- passing events -------------------------------------------------------------------------- */

static inline bool emit(gen_sink *t, const gen_record *r)
{
    const gen_layout *w = &t->layouts->of[r->event];
    uint64_t args[4] = {r->args[0], r->args[1], r->args[2], r->args[3]}, stack = r->stack;
    if (gotrace_writer_at(t->writer, r->ticks) < 0 || (w->named && !find_names(t, r, w, args)) ||
        !find_stack(t, &stack))
        return false;
    gotrace_event_data event = {.spec = w->spec,
                                .proc = r->proc >= 0 ? r->proc : GOTRACE_NO_PROC,
                                .thread = r->thread ? r->thread : GOTRACE_NO_THREAD,
                                .goroutine = r->goroutine,
                                .args = args,
                                .arg_count = w->arg_count,
                                .stack = stack,
                                .data = strings[r->data].text,
                                .data_size = strings[r->data].size};
    return gotrace_writer_event(t->writer, &event) >= 0;
}

/* Each generation assigns new string and stack ids. */
static bool advance(gen_sink *t, const gen_record *r)
{
    memset(t->string_ids, 0, sizeof t->string_ids);
    memset(t->stack_ids, 0, sizeof t->stack_ids);
    return gotrace_writer_at(t->writer, r->ticks) >= 0 &&
           gotrace_writer_advance(t->writer, NULL) >= 0;
}

bool gen_sink_take(void *sink, const gen_record *records, size_t count)
{
    gen_sink *t = sink;
    for (size_t i = 0; i < count; i++)
        if (records[i].event == GEN_EVENT_COUNT ? !advance(t, &records[i]) : !emit(t, &records[i]))
            return false;
    return true;
}
