/* findings.c - what is wrong with the program, in words. */
#include <inttypes.h>
#include <stdlib.h>

#include "formats/diagnose/describe.h"
#include "formats/view/api/answer.h"

enum { STACK_SHOWN = 3 /* frames in a sentence */ };

typedef struct describing {
    out *out;
    const stacks *names;
} describing;

/* Within a string. */
static void put_name_text(void *ctx, uint32_t name)
{
    const describing *d = ctx;
    size_t size;
    const char *text = stacks_text(d->names, name, &size);
    out_json_text(d->out, text, name_shown(text, size));
    out_str(d->out, name_shown(text, size) < size ? "..." : "");
}

static void put_stack_text(void *ctx, uint32_t stack)
{
    const describing *d = ctx;
    const size_t depth = stacks_depth(d->names, stack);
    for (size_t n = 0; n < depth && n < STACK_SHOWN; n++) {
        out_str(d->out, n ? " < " : "");
        put_name_text(ctx, stacks_frame_at(d->names, stack, n)->function);
    }
    out_str(d->out, depth > STACK_SHOWN ? " < ..." : "");
}

static void put_duration_text(void *ctx, int64_t ns)
{
    static const char *const units[] = {"us", "ms", "s"};
    const describing *d = ctx;
    double value = (double)ns / 1e3;
    size_t unit = 0;
    for (; unit < 2 && value >= 1000; unit++)
        value /= 1000;
    if (ns < 1000)
        out_printf(d->out, "%" PRId64 " ns", ns);
    else
        out_printf(d->out, "%.3f %s", value, units[unit]);
}

static void put_facts(const description *to, const stacks *names, const finding *f)
{
    out *o = to->out;
    out_str(o, ",\"text\":\"");
    describe_fact(to, f, FACT_EVIDENCE);
    out_str(o, "\",\"cost\":\"");
    describe_cost(to, f);
    out_str(o, "\",\"holder\":");
    put_frames(o, names, describe_has(f, FACT_HOLDER) ? f->other_stack : 0);
    out_str(o, ",\"stack\":");
    put_frames(o, names, f->stack);
}

static void put_finding(answer *q, const description *to, const stacks *names, const finding *f)
{
    out *o = q->out;
    bool failed;
    char *command = describe_command(to->d, names, f, q->api->file, &failed);
    q->failed |= failed;
    out_printf(o, "{\"id\":\"%s\",\"title\":\"%s\",\"share\":%.4f,\"of\":\"%s\",\"ns\":%" PRId64,
               finding_ids[f->cause], finding_titles[f->cause], f->share, finding_bases[f->of],
               f->ns);
    put_facts(to, names, f);
    if (describe_has(f, FACT_LONGEST))
        out_printf(o, ",\"at\":%" PRId64 ",\"until\":%" PRId64, f->at,
                   (int64_t)((uint64_t)f->at + (uint64_t)f->longest));
    else
        out_str(o, ",\"at\":null,\"until\":null");
    out_str(o, ",\"goroutine\":");
    if (f->goroutine)
        put_id(o, f->goroutine);
    else
        out_str(o, "null");
    out_str(o, ",\"command\":");
    if (command)
        out_json_string(o, command, strlen(command));
    else
        out_str(o, "null");
    out_char(o, '}');
    free(command);
}

static void put_diagnosis(answer *q, const diagnosis *d, const stacks *names)
{
    out *o = q->out;
    describing ctx = {o, names};
    const description to = {.out = o,
                            .d = d,
                            .name = put_name_text,
                            .stack = put_stack_text,
                            .duration = put_duration_text,
                            .ctx = &ctx};
    out_str(o, "{\"ready\":true,\"verdict\":\"");
    describe_verdict(&to);
    out_str(o, "\",\"figures\":[");
    for (size_t n = 0; n < DIAGNOSIS_FIGURES; n++) {
        out_str(o, n ? ",\"" : "\"");
        describe_figure(&to, n);
        out_char(o, '"');
    }
    out_str(o, "],\"findings\":[");
    for (size_t n = 0; n < d->count; n++) {
        out_str(o, n ? "," : "");
        put_finding(q, &to, names, &d->list[n]);
    }
    out_str(o, "]}");
}

void answer_findings(answer *q)
{
    view_api *a = q->api;
    if (!answer_can(q))
        return;
    pthread_mutex_lock(&a->lock);
    const diagnosis *d = a->diagnosis;
    const stacks *names = a->diagnosis_names;
    const char *failure = a->diagnosis_failure;
    pthread_mutex_unlock(&a->lock);
    if (d)
        put_diagnosis(q, d, names);
    else if (failure)
        out_printf(q->out, "{\"ready\":false,\"failed\":\"%s\"}", failure);
    else
        out_str(q->out, "{\"ready\":false,\"failed\":null}");
}
