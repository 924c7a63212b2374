/* speedscope.c - JSON for https://www.speedscope.app. */
#include <inttypes.h>

#include "formats/analyse/histogram.h"
#include "formats/profile/write.h"

static void put_name(const convert_job *job, const profile *p, uint32_t name)
{
    size_t size;
    const char *text = stacks_text(p->stacks, name, &size);
    out_json_string(job->out, size ? text : "?", size ? size : 1);
}

/* The frames of all stacks, in the order of their numbers. */
static void put_frames(const convert_job *job, const profile *p)
{
    for (size_t i = 0; i < p->stacks->frame_count; i++) {
        const stacks_frame *frame = &p->stacks->frames[i];
        out_str(job->out, i ? ",\n{\"name\":" : "\n{\"name\":");
        put_name(job, p, frame->function);
        out_str(job->out, ",\"file\":");
        put_name(job, p, frame->file);
        /* speedscope expects a number */
        if (frame->line <= INT64_MAX)
            out_printf(job->out, ",\"line\":%" PRIu64, frame->line);
        out_char(job->out, '}');
    }
}

static void put_stack(const convert_job *job, const profile *p, const profile_sample *s)
{
    const stacks_span *none = &(stacks_span){0};
    const stacks_span *stack = s->stack ? &p->stacks->stacks[s->stack - 1] : none;
    out_char(job->out, '[');
    for (size_t i = stack->size; i > 0; i--)
        out_printf(job->out, "%s%" PRIu32, i < stack->size ? "," : "",
                   p->stacks->numbers[stack->first + i - 1] - 1);
    out_char(job->out, ']');
}

static void write_speedscope(const convert_job *job, const profile *p)
{
    out *o = job->out;
    const char *name = p->nested ? "critical paths" : profile_name(p->kind);
    int64_t sum = 0;
    out_str(o, "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\","
               "\"exporter\":\"gotrace\",\"shared\":{\"frames\":[");
    put_frames(job, p);
    out_str(o, "]},\n\"profiles\":[{\"type\":\"sampled\",\"name\":");
    out_json_string(o, name, strlen(name));
    out_str(o, ",\"unit\":\"nanoseconds\",\"samples\":[");
    for (size_t i = 0; i < p->count; i++) {
        out_str(o, i ? ",\n" : "\n");
        put_stack(job, p, &p->samples[i]);
        sum = sum_of_times(sum, p->samples[i].ns);
    }
    out_str(o, "],\n\"weights\":[");
    for (size_t i = 0; i < p->count; i++)
        out_printf(o, "%s%" PRId64, i ? "," : "", p->samples[i].ns);
    out_printf(o, "],\"startValue\":0,\"endValue\":%" PRId64 "}]}\n", sum);
}

static gotrace_status convert_to_speedscope(const convert_job *job)
{
    return profile_convert(job, STACKS_BY_LINE, PROFILE_FUNCTION | PROFILE_STATE, false,
                           write_speedscope);
}

static void end_series(const convert_job *job)
{
    profile_convert_end(job, write_speedscope);
}

const format format_speedscope = {
    .name = "speedscope",
    .extensions = (const char *const[]){".speedscope.json", NULL},
    .summary = "profile: JSON for https://www.speedscope.app",
    .several = true,
    .profiles = true,
    .viewer_bytes = UINT64_MAX,
    .run = convert_to_speedscope,
    .end_series = end_series,
};
