/* graphviz.c - which goroutine created which, as a graph for dot(1). The drill adds it. */
#include <errno.h>
#include <inttypes.h>

#include "formats/analyse/selector.h"
#include "formats/common/feed.h"
#include "formats/formats.h"

static void put_creation(out *o, const feed *f, const gotrace_event *e)
{
    gotrace_frame start = {0};
    out_printf(o, "  g%" PRIu64 " [label=", e->subject);
    if (feed_outermost(f, gotrace_event_start_stack(e), &start) && start.function_size > 0)
        out_json_string(o, start.function, start.function_size);
    else
        out_str(o, "\"?\"");
    out_printf(o, "];\n  g%" PRIu64 " -> g%" PRIu64 ";\n", e->goroutine, e->subject);
}

static bool creates(const gotrace_event *e)
{
    return e->kind == GOTRACE_KIND_TRANSITION && e->resource == GOTRACE_RESOURCE_GOROUTINE &&
           e->from == GOTRACE_STATE_NOT_EXIST;
}

static gotrace_status convert_to_graphviz(const convert_job *job)
{
    feed f;
    selector s;
    const gotrace_event *e;
    gotrace_status status = GOTRACE_END;
    stacks *names = stacks_new(STACKS_BY_FUNCTION);
    if (!names) {
        out_fail(job->out, ENOMEM);
        return GOTRACE_END;
    }
    gotrace_reader_index(job->reader); /* if it fails, reading reports the same error */
    feed_init(&f, job->reader, false, job->threads);
    stacks_begin(names, &f);
    selector_init(&s, job->select, gotrace_reader_summary(job->reader)->version, &f, names);
    out_str(job->out, "digraph goroutines {\n");
    while (!selector_ends(&s) && (status = feed_next(&f, &e)) == GOTRACE_EVENT)
        if (selector_event(&s, e) && creates(e))
            put_creation(job->out, &f, e);
    out_str(job->out, "}\n");
    if (s.failed || names->failed)
        out_fail(job->out, ENOMEM);
    selector_end(&s, job->select);
    feed_free(&f);
    stacks_free(names);
    return status;
}

const format format_graphviz = {
    .name = "graphviz",
    .extensions = (const char *const[]){".dot", ".gv", NULL},
    .summary = "graph of which goroutine created which, for dot",
    .report = true,
    .viewer_bytes = UINT64_MAX,
    .instead = "write a graph for each",
    .run = convert_to_graphviz,
};
