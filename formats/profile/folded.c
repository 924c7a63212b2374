/* folded.c - a line for each stack, outermost function first, as flamegraph.pl reads it. */
#include <inttypes.h>

#include "formats/profile/write.h"

/* Writes a name; characters that have a meaning in the format are replaced. */
static void put_name(out *o, const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        unsigned char c = (unsigned char)text[i];
        out_char(o, c == ';' ? ':' : c < ' ' || c == 0x7f ? '_' : (char)c);
    }
}

static void put_sample(const convert_job *job, const profile *p, const profile_sample *s)
{
    size_t size, depth = stacks_depth(p->stacks, s->stack);
    for (size_t i = depth; i > 0; i--) {
        const stacks_frame *frame = stacks_frame_at(p->stacks, s->stack, i - 1);
        const char *name = stacks_text(p->stacks, frame->function, &size);
        put_name(job->out, size ? name : "?", size ? size : 1);
        if (i > 1 || !p->nested)
            out_char(job->out, ';');
    }
    if (!p->nested) {
        const char *state = profile_state(p, s, &size);
        out_char(job->out, '[');
        put_name(job->out, state, size);
        out_char(job->out, ']');
    }
    out_printf(job->out, " %" PRId64 "\n", s->ns);
}

static void write_folded(const convert_job *job, const profile *p)
{
    for (size_t i = 0; i < p->count; i++)
        put_sample(job, p, &p->samples[i]);
}

static gotrace_status convert_to_folded(const convert_job *job)
{
    return profile_convert(job, STACKS_BY_FUNCTION, PROFILE_FUNCTION, false, write_folded);
}

static void end_series(const convert_job *job)
{
    profile_convert_end(job, write_folded);
}

const format format_folded = {
    .name = "folded",
    .extensions = (const char *const[]){".folded", NULL},
    .summary = "profile: stacks and nanoseconds, for flamegraph.pl",
    .several = true,
    .profiles = true,
    .viewer_bytes = UINT64_MAX,
    .run = convert_to_folded,
    .end_series = end_series,
};
