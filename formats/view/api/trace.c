/* trace.c - what the trace is, and how far it was read. */
#include <inttypes.h>

#include "formats/diagnose/describe.h"
#include "formats/view/api/answer.h"

static void put_problems(out *o, view_api *a)
{
    const char *between = "";
    out_str(o, ",\"problems\":[");
    for (size_t n = 0; n < PROBLEMS_SHOWN; n++) {
        if (!a->problems[n])
            continue;
        out_str(o, between);
        put_text(o, a->problems[n]);
        between = ",";
    }
    out_printf(o, "],\"problem_count\":%" PRIu64, a->problem_count);
}

static void put_gaps(out *o, const view_api *a)
{
    out_str(o, ",\"gaps\":[");
    for (size_t n = 0; n < a->gap_count; n++)
        out_printf(o, "%s[%" PRId64 ",%" PRId64 "]", n ? "," : "", a->gaps[n].begin,
                   a->gaps[n].end);
    out_char(o, ']');
}

/* The words for what has a number in other answers. */
static void put_words(out *o)
{
    out_str(o, ",\"states\":[");
    for (uint8_t k = 0; k < DO_KINDS; k++) {
        out_str(o, k ? "," : "");
        put_text(o, describe_activity(k));
    }
    out_str(o, "],\"ranges\":{");
    for (unsigned n = 1; n < GOTRACE_RANGES; n++) {
        out_printf(o, "%s\"%u\":", n > 1 ? "," : "", n);
        put_text(o, gotrace_range_name((gotrace_range)n));
    }
    out_str(o, "},\"metrics\":{");
    for (unsigned n = 1; n < GOTRACE_METRICS; n++) {
        out_printf(o, "%s\"%u\":", n > 1 ? "," : "", n);
        put_text(o, gotrace_metric_name((gotrace_metric)n));
    }
    out_char(o, '}');
}

void answer_trace(answer *q)
{
    view_api *a = q->api;
    out *o = q->out;
    int error;
    if (!answer_can(q))
        return;
    view_lock(a->index);
    const view_progress p = view_progress_of(a->index);
    const bool index_failed = view_failed(a->index, &error);
    view_unlock(a->index);
    pthread_mutex_lock(&a->lock);
    out_str(o, "{\"files\":[");
    put_text(o, a->file);
    out_str(o, "],\"version\":");
    put_text(o, a->version);
    if (a->has_clock)
        out_printf(o, ",\"clock\":\"%" PRId64 "\"", a->clock);
    out_printf(o, ",\"begin\":%" PRId64 ",\"end\":%" PRId64 ",\"events\":%" PRIu64, p.begin, p.end,
               p.events);
    out_printf(o, ",\"complete\":%s,\"read\":%.4f", a->ended ? "true" : "false",
               a->ended ? 1.0 : a->read);
    put_problems(o, a);
    put_gaps(o, a);
    put_words(o);
    out_str(o, ",\"failed\":");
    put_text(o, a->failure || !index_failed ? a->failure : strerror(error));
    out_char(o, '}');
    pthread_mutex_unlock(&a->lock);
}
