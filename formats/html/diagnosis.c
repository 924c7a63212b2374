/* diagnosis.c - what is wrong with the program: the verdict and the findings, before all figures.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "formats/common/plural.h"
#include "formats/diagnose/describe.h"
#include "formats/html/html.h"

static void put_name(void *ctx, uint32_t name)
{
    html_name(ctx, name);
}

/* With more frames than in tables: there are only a few stacks. */
static void put_stack(void *ctx, uint32_t stack)
{
    html_frames(ctx, stack, (stack_view){.frames = 2 * STACK_FRAMES});
}

static void put_duration(void *ctx, int64_t ns)
{
    html_duration(((html *)ctx)->out, ns);
}

static void put_command(html *h, const finding *f)
{
    bool failed;
    const char *name = html_figure(h)->name;
    char *command = describe_command(&h->trace->diagnosis, h->s->stacks, f,
                                     name[0] == '<' ? "FILE" : name, &failed);
    h->failed |= failed;
    if (command) {
        out_str(h->out, "<p class=\"next\">Next: <code class=\"command\">");
        html_text(h->out, command, strlen(command), SIZE_MAX);
        out_str(h->out, "</code></p>\n");
    }
    free(command);
}

/* A link to its place in the timeline, with as much time on both sides. */
static void put_place(html *h, const finding *f)
{
    const int64_t from = f->at > f->longest ? f->at - f->longest : 0;
    if (h->timeline_size == 0 || !html_has_place(f))
        return;
    out_printf(h->out,
               "<p class=\"next\"><a href=\"#timeline&amp;from=%" PRId64 "&amp;until=%" PRId64,
               from, f->at + 2 * f->longest);
    if (f->goroutine)
        out_printf(h->out,
                   "&amp;pin=%" PRIu64 "&amp;select=0:%" PRIu64 ":%" PRId64 "&amp;tab=details",
                   f->goroutine, f->goroutine, f->at);
    out_str(h->out, "\">Show in the timeline</a></p>\n");
}

static void put_finding(html *h, const description *to, const finding *f)
{
    out *o = h->out;
    out_printf(o, "<li>\n<h3>%s <code>%s</code></h3>\n", finding_titles[f->cause],
               finding_ids[f->cause]);
    if (describe_has_cost(f)) {
        out_str(o, "<div class=\"cost\">");
        html_bar(o, f->share);
        out_str(o, "<span>");
        describe_cost(to, f);
        out_str(o, "</span></div>\n");
    }
    out_str(o, "<p>");
    describe_fact(to, f, FACT_EVIDENCE);
    out_str(o, "</p>\n<dl class=\"facts\">");
    for (finding_fact fact = FACT_EVIDENCE + 1; fact < FACT_COUNT; fact++) {
        if (!describe_has(f, fact))
            continue;
        out_printf(o, "<div><dt>%s<dd%s>", fact_labels[fact],
                   fact == FACT_LONGEST ? "" : " class=\"name\"");
        describe_fact(to, f, fact);
        out_str(o, "</div>");
    }
    out_str(o, "</dl>\n");
    put_place(h, f);
    put_command(h, f);
    out_str(o, "</li>\n");
}

static description description_of(html *h)
{
    return (description){.out = h->out,
                         .d = &h->trace->diagnosis,
                         .name = put_name,
                         .stack = put_stack,
                         .duration = put_duration,
                         .ctx = h};
}

static void put_diagnosis(html *h)
{
    const diagnosis *d = &h->trace->diagnosis;
    const description to = description_of(h);
    out *o = h->out;
    if (!h->trace->diagnosed) {
        out_str(o, "<p>A diagnosis is of the whole program: <code>gotrace diagnose ");
        html_file(h, (size_t)(h->trace - h->traces));
        out_str(o, "</code></p>\n");
        return;
    }
    out_str(o, "<p class=\"verdict\">");
    describe_verdict(&to);
    out_str(o, "</p>\n");
    if (d->count == 0) {
        out_str(o, "<ul class=\"figures\">");
        for (size_t n = 0; n < DIAGNOSIS_FIGURES; n++) {
            out_str(o, "<li>");
            describe_figure(&to, n);
        }
        out_str(o, "</ul>\n");
    } else {
        out_str(o, "<ol class=\"findings\">\n");
        for (size_t n = 0; n < d->count && n < FINDINGS_SHOWN; n++)
            put_finding(h, &to, &d->list[n]);
        out_str(o, "</ol>\n");
    }
}

void html_diagnosis(html *h)
{
    out_str(h->out, "<section id=\"diagnosis\">\n<h2>Diagnosis</h2>\n");
    html_each_trace(h, put_diagnosis);
    out_str(h->out, "</section>\n");
}

/* ---- the table of several traces --------------------------------------------------------------
 */

static void put_damage(html *h)
{
    const html_trace *t = h->trace;
    if (t->recovered)
        out_str(h->out, "<td>damaged: what could be recovered");
    else if (t->cut)
        out_str(h->out, "<td>damaged: what could be read");
    else if (t->problems > 0)
        out_printf(h->out, "<td>%" PRIu64 " problem%s", t->problems, plural(t->problems));
    else
        out_str(h->out, "<td>-");
}

void html_traces(html *h)
{
    static const char *const columns[] = {
        "Trace",       "Diagnosis",           "#Format",  "#Duration", "#Events",
        "#Goroutines", "#Complete GC cycles", "Problems", NULL};
    out *o = h->out;
    if (!html_is_several(h))
        return;
    out_str(o, "<section id=\"traces\">\n<h2>Traces</h2>\n<p>All other tables add up what is in "
               "these traces, or name the trace that a row is about.</p>\n");
    html_table(o, "Traces", "sorts filters", columns);
    for (size_t i = 0; i < h->s->trace_count; i++) {
        const trace_figure *t = &h->s->traces[i];
        h->trace = &h->traces[i];
        const description to = description_of(h);
        out_str(o, "<tr><td class=\"name\">");
        html_text(o, t->name, strlen(t->name), HTML_NAME);
        out_str(o, "<td>");
        if (h->trace->diagnosed)
            describe_verdict(&to);
        out_printf(o, "<td class=\"n\" data-v=\"%d\">Go 1.%d", t->version, t->version);
        html_cell_time(o, t->duration);
        html_cell_count(o, t->events);
        html_cell_count(o, t->goroutines);
        html_cell_count(o, t->cycles);
        put_damage(h);
        out_str(o, "</tr>\n");
    }
    html_table_end(o);
    out_str(o, "</section>\n");
}
