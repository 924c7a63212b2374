/* html.c - a report on a trace as one HTML file, which needs no network. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "formats/common/plural.h"
#include "formats/html/html.h"

/* ---- the pass ---------------------------------------------------------------------------------
 */

static void watch_interval(void *ctx, const goroutine *g, const interval *i, const gotrace_event *e)
{
    (void)g, (void)e;
    activity_interval(&((html *)ctx)->activity, i);
}

static bool watch_event(void *ctx, const watched_event *w)
{
    html *h = ctx;
    activity_event(&h->activity, w->e, w->time, w->place);
    return true;
}

static gotrace_status read_trace(html *h)
{
    const convert_job *job = h->job;
    const profile_options options = {.select = job->select, .without = PROFILE_FUNCTION};
    statistics_watch watch = {
        .ctx = h, .interval = watch_interval, .event = watch_event, .kinds = ACTIVITY_EVENTS};
    gotrace_status status;
    if (job->select && job->select->range.from > 0)
        h->origin = job->select->range.from;
    h->whole = !job->select || !(job->select->what->given & SELECT_OF_PARTS);
    activity_init(&h->activity, h->origin);
    for (size_t i = 0; i < PROFILE_COUNT; i++)
        h->profiles[i].kind = (profile_kind)i;
    h->s->watch = &watch;
    /* If indexing fails, reading reports the same error. */
    gotrace_reader_index(job->reader);
    int version = gotrace_reader_summary(job->reader)->version;
    h->making = profiles_begin(h->profiles, PROFILE_COUNT, &options, version, h->s->stacks);
    if (!h->making) {
        h->failed = true;
        return GOTRACE_END;
    }
    watch.profiles = h->making;
    status = statistics_add(h->s, job->reader, job->name, job->threads, job->select);
    h->failed = !profiles_end(h->making) || h->s->failed;
    h->hard = job->select && job->select->too_hard;
    if (!h->failed)
        activity_end(&h->activity, h->s->traces[0].duration);
    h->problems = gotrace_reader_summary(job->reader)->problems;
    h->cut = status == GOTRACE_ERROR;
    return status;
}

/* ---- the page ---------------------------------------------------------------------------------
 */

static void put_head(html *h)
{
    out *o = h->out;
    out_printf(o,
               "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
               "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
               "style-src '%s'; script-src '%s'; base-uri 'none'; form-action 'none'\">\n"
               "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
               "<meta name=\"color-scheme\" content=\"light dark\">\n<title>",
               html_style_hash, html_script_hash);
    html_text(o, h->job->name, strlen(h->job->name), HTML_NAME);
    out_str(o, " - gotrace report</title>\n<style>");
    out_bytes(o, html_style, html_style_size);
    out_str(o, "</style>\n</head>\n");
}

static void put_warning(html *h)
{
    if (h->problems == 0 && !h->job->recovered && !h->cut)
        return;
    out_str(h->out, "<p class=\"warning\" role=\"note\"><b>The trace is damaged.</b> ");
    if (h->job->recovered)
        out_str(h->out, "The report describes what could be recovered");
    else if (h->problems > 0)
        out_printf(h->out, "%" PRIu64 " problem%s: the figures may be wrong", h->problems,
                   plural(h->problems));
    else
        out_str(h->out, "The report describes what could be read");
    out_str(h->out, "; <code>gotrace validate ");
    html_file(h);
    out_str(h->out, "</code> shows the problems.</p>\n");
}

static void put_summary(html *h)
{
    const trace_figure *t = &h->s->traces[0];
    out *o = h->out;
    out_printf(o, "<dl class=\"facts\"><div><dt>Trace format<dd>Go 1.%d</div><div><dt>Duration<dd>",
               t->version);
    html_duration(o, t->duration);
    out_str(o, "</div><div><dt>Events<dd>");
    html_count(o, t->events);
    out_str(o, "</div><div><dt>Goroutines<dd>");
    html_count(o, t->goroutines);
    out_str(o, "</div>");
    if (h->whole) {
        out_str(o, "<div><dt>Complete GC cycles<dd>");
        html_count(o, t->cycles);
        out_str(o, "</div>");
    }
    out_str(o, "</dl>\n");
}

/* What the report is about, if it is not the whole trace. */
static void put_selection(html *h)
{
    if (!h->job->select)
        return;
    out_str(h->out, "<p class=\"selection\" role=\"note\">The report is about a part of the trace: "
                    "<code>");
    html_selection(h);
    out_str(h->out, "</code>. Of what is partly in it, that part counts.</p>\n");
}

static bool has_reason(const statistics *s, uint8_t state)
{
    for (size_t i = 0; i < s->reason_count; i++)
        if (s->reasons[i].state == state)
            return true;
    return false;
}

static bool has_procs(const html *h)
{
    const trace_figure *t = &h->s->traces[0];
    int64_t all = 0;
    for (size_t k = 0; k < PROC_STATES; k++)
        all |= t->load.sums[k];
    return h->whole && t->duration > 0 && all > 0;
}

/* Links to the sections that the report has. */
static void put_links(html *h)
{
    const statistics *s = h->s;
    const struct {
        const char *id, *name;
        bool present;
    } links[] = {
        {"overview", "Overview", true},
        {"procs", "Procs", has_procs(h)},
        {"goroutines", "Goroutines", s->functions.count > 0},
        {"scheduling", "Scheduling latency", s->latency.count > 0},
        {"blocking", "Blocking", has_reason(s, GOTRACE_STATE_WAITING)},
        {"syscalls", "System calls", has_reason(s, GOTRACE_STATE_SYSCALL)},
        {"gc", "Garbage collection", h->whole},
        {"tasks", "Tasks", s->tasks.count > 0},
        {"regions", "Regions", s->regions.count > 0},
        {"profiles", "Flame graphs", true},
    };
    out_str(h->out, "<nav aria-label=\"Sections\"><ul>");
    for (size_t i = 0; i < sizeof links / sizeof *links; i++)
        if (links[i].present)
            out_printf(h->out, "<li><a href=\"#%s\">%s</a>", links[i].id, links[i].name);
    out_str(h->out, "</ul></nav>\n");
}

static void put_page(html *h)
{
    out *o = h->out;
    put_head(h);
    out_str(o, "<body data-file=\"");
    html_file(h);
    out_str(o, "\">\n<a class=\"skip\" href=\"#main\">To the report</a>\n<header>\n<h1>");
    html_text(o, h->job->name, strlen(h->job->name), HTML_NAME);
    out_str(o,
            "</h1>\n<p>A report on an execution trace of a Go program, written by gotrace. Times "
            "count from the start of the trace.</p>\n");
    put_selection(h);
    put_summary(h);
    put_warning(h);
    put_links(h);
    out_str(o, "</header>\n<main id=\"main\">\n");
    html_overview(h);
    html_procs(h);
    html_goroutines(h);
    html_scheduling(h);
    html_waits(h);
    html_collector(h);
    html_spans(h);
    html_flames(h);
    out_str(
        o, "<section id=\"more\">\n<h2>Look closer</h2>\n<p>A timeline of a part of the trace, for "
           "<code>ui.perfetto.dev</code>, with the times of a row above:</p>\n<pre><code>gotrace "
           "convert --to perfetto --from TIME --until TIME -o part.pftrace ");
    html_file(h);
    out_str(o, "</code></pre>\n</section>\n</main>\n<script>");
    out_bytes(o, html_script, html_script_size);
    out_str(o, "</script>\n</body>\n</html>\n");
}

static gotrace_status convert_to_html(const convert_job *job)
{
    gotrace_status status = GOTRACE_END;
    html *h = calloc(1, sizeof *h);
    if (h) {
        h->out = job->out;
        h->job = job;
        h->s = statistics_new(NULL, STACKS_BY_LINE);
    }
    if (h && h->s) {
        status = read_trace(h);
        if (!h->failed && !h->hard)
            put_page(h);
    }
    if (!h || !h->s || h->failed || h->s->stacks->failed)
        out_fail(job->out, ENOMEM);
    for (size_t i = 0; h && i < PROFILE_COUNT; i++)
        profile_free(&h->profiles[i]);
    statistics_free(h ? h->s : NULL);
    free(h);
    return status;
}

const format format_html = {
    .name = "html",
    .extensions = (const char *const[]){".html", ".htm", NULL},
    .summary = "report with charts, tables and flame graphs, for a browser",
    .report = true,
    .viewer_bytes = UINT64_MAX,
    .instead = "write a report for each, or compare the traces with 'gotrace stat --by file'",
    .run = convert_to_html,
};
