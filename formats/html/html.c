/* html.c - a report on a trace as one HTML file, which needs no network. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "formats/common/plural.h"
#include "formats/common/vector.h"
#include "formats/html/html.h"
#include "formats/view/page/page.h"

/* ---- the pass ---------------------------------------------------------------------------------
 */

static void watch_interval(void *ctx, const goroutine *g, const interval *i, const gotrace_event *e)
{
    (void)g, (void)e;
    activity_interval(&((html *)ctx)->trace->activity, i);
}

static bool watch_event(void *ctx, const watched_event *w)
{
    html *h = ctx;
    if (ACTIVITY_EVENTS >> w->e->kind & 1)
        activity_event(&h->trace->activity, w->e, w->time, w->place);
    return !h->measuring || measures_event(h->measuring, w->e);
}

/* Adds a trace; false if memory is refused. */
static bool begin_trace(html *h, const convert_job *job)
{
    const size_t n = h->s->trace_count;
    html_trace *traces = vector_room(h->traces, &h->trace_room, n, sizeof *traces);
    if (!traces)
        return false;
    h->traces = traces;
    h->trace = &traces[n];
    *h->trace = (html_trace){.recovered = job->recovered};
    h->what = job->select ? job->select->what : NULL;
    h->whole = !h->what || !(h->what->given & SELECT_OF_PARTS);
    if (job->select && job->select->range.from > 0)
        h->trace->origin = job->select->range.from;
    activity_init(&h->trace->activity, h->trace->origin);
    return true;
}

/* Reads the trace, from whose intervals the profiles are made, and whose events are measured for
 * the diagnosis, if the report is about the whole program, or about functions: then the time of
 * their goroutines is what findings are a share of. */
static gotrace_status read_events(html *h, const convert_job *job, select_job *select,
                                  profiles *making)
{
    const bool diagnoses = !(select->what->given & SELECT_OF_PARTS & ~SELECT_BIT(SELECT_FUNCTION));
    statistics_watch watch = {.ctx = h,
                              .interval = watch_interval,
                              .event = watch_event,
                              .kinds = diagnoses ? ~0U : ACTIVITY_EVENTS,
                              .profiles = making};
    measures *m = diagnoses ? measures_new(h->s->stacks) : NULL;
    h->measuring = m ? measures_begin(m, job->reader, select, NULL) : NULL;
    h->failed |= diagnoses && !h->measuring;
    h->s->watch = &watch;
    gotrace_status status = statistics_add(h->s, job->reader, job->series ? job->path : job->name,
                                           job->threads, job->select);
    if (h->measuring) {
        measures_end(h->measuring, select);
        h->failed |= m->failed || !diagnosis_make(&h->trace->diagnosis, m);
        h->trace->diagnosed = true;
    }
    h->measuring = NULL;
    measures_free(m);
    h->s->watch = NULL;
    return status;
}

static gotrace_status read_trace(html *h, const convert_job *job)
{
    const profile_options options = {.select = job->select, .without = PROFILE_FUNCTION};
    const selection all = {.given = 0};
    select_job whole = {.what = &all, .range = {INT64_MIN, INT64_MAX}};
    gotrace_status status;
    /* If indexing fails, reading reports the same error. */
    gotrace_reader_index(job->reader);
    int version = gotrace_reader_summary(job->reader)->version;
    profiles *making = begin_trace(h, job) ? profiles_begin(h->profiles, PROFILE_COUNT, &options,
                                                            version, h->s->stacks)
                                           : NULL;
    if (!making) {
        h->failed = true;
        return GOTRACE_END;
    }
    status = read_events(h, job, job->select ? job->select : &whole, making);
    h->failed |= !profiles_end(making) || h->s->failed;
    h->hard |= job->select && job->select->too_hard;
    if (!h->failed)
        activity_end(&h->trace->activity, html_figure(h)->duration);
    h->trace->problems = gotrace_reader_summary(job->reader)->problems;
    h->trace->cut = status == GOTRACE_ERROR;
    if (!h->failed && !h->hard && !job->series && !h->what && job->source)
        h->error = html_make_timeline(h, job);
    h->failed |= h->error != 0;
    return status;
}

/* ---- the page ---------------------------------------------------------------------------------
 */

/* The name of the trace, or how many there are. */
static void put_title(html *h)
{
    const char *name = h->s->traces[0].name;
    if (html_is_several(h))
        out_printf(h->out, "%zu traces", h->s->trace_count);
    else
        html_text(h->out, name, strlen(name), HTML_NAME);
}

/* The style sheets, or scripts, that the browser may use: of the report and of the timeline. */
static void put_policy(html *h, const char *what, const char *report, const char *timeline)
{
    out_printf(h->out, "%s-src '%s'", what, report);
    if (h->timeline_size > 0)
        out_printf(h->out, " '%s'", timeline);
    out_str(h->out, "; ");
}

static void put_head(html *h)
{
    out *o = h->out;
    out_str(o, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
               "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; ");
    put_policy(h, "style", html_style_hash, view_page_style_hash);
    put_policy(h, "script", html_script_hash, view_page_script_hash);
    out_str(o, "base-uri 'none'; form-action 'none'\">\n"
               "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
               "<meta name=\"color-scheme\" content=\"light dark\">\n<title>");
    put_title(h);
    out_str(o, " - gotrace report</title>\n<style>");
    out_bytes(o, html_style, html_style_size);
    out_str(o, "</style>\n</head>\n");
}

static bool is_damaged(const html_trace *t)
{
    return t->problems > 0 || t->recovered || t->cut;
}

static void put_warning(html *h)
{
    const html_trace *t = h->traces;
    size_t damaged = 0;
    for (size_t i = 0; i < h->s->trace_count; i++)
        damaged += is_damaged(&h->traces[i]);
    if (damaged == 0)
        return;
    out_str(h->out, "<p class=\"warning\" role=\"note\">");
    if (html_is_several(h))
        out_printf(h->out, "<b>%zu of the traces %s damaged.</b> The table of traces says which",
                   damaged, damaged > 1 ? "are" : "is");
    else if (t->recovered)
        out_str(h->out,
                "<b>The trace is damaged.</b> The report describes what could be recovered");
    else if (t->problems > 0)
        out_printf(h->out,
                   "<b>The trace is damaged.</b> %" PRIu64 " problem%s: the figures may be wrong",
                   t->problems, plural(t->problems));
    else
        out_str(h->out, "<b>The trace is damaged.</b> The report describes what could be read");
    out_str(h->out, "; <code>gotrace validate ");
    html_files(h);
    out_str(h->out, "</code> shows the problems.</p>\n");
}

static void put_summary(html *h)
{
    const trace_figure *t = &h->s->traces[0];
    out *o = h->out;
    if (html_is_several(h))
        return;
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
    if (!h->what)
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

/* Links to the sections that the report has. */
static void put_links(html *h)
{
    const statistics *s = h->s;
    const struct {
        const char *id, *name;
        bool present;
    } links[] = {
        {"diagnosis", "Diagnosis", true},
        {"timeline", "Timeline", true},
        {"traces", "Traces", html_is_several(h)},
        {"overview", "Overview", true},
        {"procs", "Procs", html_has_procs(h)},
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
    html_files(h);
    out_str(o, "\">\n<a class=\"skip\" href=\"#main\">To the report</a>\n<header>\n<h1>");
    put_title(h);
    out_str(
        o,
        "</h1>\n<p>A report on the execution of a Go program, written by gotrace. Times count from "
        "the start of the trace.</p>\n");
    put_selection(h);
    put_summary(h);
    put_warning(h);
    put_links(h);
    out_str(o, "</header>\n<main id=\"main\">\n");
    html_diagnosis(h);
    html_timeline(h);
    html_traces(h);
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
    html_file(h, 0);
    out_str(o, "</code></pre>\n</section>\n</main>\n<script type=\"module\">");
    out_bytes(o, html_script, html_script_size);
    out_str(o, "</script>\n</body>\n</html>\n");
}

/* NULL if memory is refused. */
static html *html_new(const convert_job *job)
{
    html *h = calloc(1, sizeof *h);
    if (!h)
        return NULL;
    h->s = statistics_new(NULL, STACKS_BY_LINE);
    if (!h->s) {
        free(h);
        return NULL;
    }
    h->s->several = job->series;
    for (size_t i = 0; i < PROFILE_COUNT; i++)
        h->profiles[i].kind = (profile_kind)i;
    return h;
}

/* Writes the report, and frees it. h: NULL if memory was refused. */
static void end_report(html *h, const convert_job *job)
{
    if (h) {
        h->out = job->out;
        if (!h->failed && !h->hard)
            put_page(h);
    }
    if (!h || h->failed || h->s->stacks->failed)
        out_fail(job->out, h && h->error ? h->error : ENOMEM);
    for (size_t i = 0; h && i < PROFILE_COUNT; i++)
        profile_free(&h->profiles[i]);
    statistics_free(h ? h->s : NULL);
    free(h ? h->traces : NULL);
    free(h ? h->timeline : NULL);
    free(h);
}

static gotrace_status convert_to_html(const convert_job *job)
{
    html *h = job->series && job->series->state ? job->series->state : html_new(job);
    gotrace_status status = h && !h->failed ? read_trace(h, job) : GOTRACE_END;
    if (!job->series)
        end_report(h, job);
    else if (h)
        job->series->state = h;
    else
        out_fail(job->out, ENOMEM);
    return status;
}

static void end_series(const convert_job *job)
{
    if (job->series->state)
        end_report(job->series->state, job);
}

const format format_html = {
    .name = "html",
    .extensions = (const char *const[]){".html", ".htm", NULL},
    .summary = "report with a diagnosis, charts, tables and flame graphs, for a browser",
    .several = true,
    .report = true,
    .viewer_bytes = UINT64_MAX,
    .run = convert_to_html,
    .end_series = end_series,
};
