/* charts.c - what happens over time, distributions and the utilization curve, as SVG. */
#include <inttypes.h>
#include <string.h>

#include "formats/common/plural.h"
#include "formats/html/html.h"

/* Units of a chart's height; a column is one unit wide. */
enum { HEIGHT = 100, COLUMNS = 2 * LOAD_SPANS };

_Static_assert((int)ACTIVITY_SPANS <= (int)COLUMNS, "a chart has room for all spans");

typedef struct strip {
    const char *name, *what; /* "Running goroutines", "average number" */
    const char *class;
    double values[COLUMNS];
    size_t count;
    bool bytes, share; /* units of the values; else a number */
} strip;

static void put_value(out *o, const strip *c, double value)
{
    if (c->bytes) /* 2^64, to which 2^64 - 1 is rounded, does not fit */
        html_bytes(o, value >= 0x1p64 ? UINT64_MAX : value > 0 ? (uint64_t)value : 0);
    else if (c->share)
        html_share(o, value);
    else
        out_printf(o, value < 9.95 ? "%.2f" : "%.0f", value);
}

/* The times at the ends and in the middle of a chart. */
static void put_axis(const html *h, int64_t length)
{
    out *o = h->out;
    out_str(o, "<div class=\"axis\" aria-hidden=\"true\"><span>");
    if (h->trace->origin > 0)
        html_duration(o, h->trace->origin);
    else
        out_char(o, '0');
    out_str(o, "</span><span>");
    html_duration(o, h->trace->origin + length / 2);
    out_str(o, "</span><span>");
    html_duration(o, h->trace->origin + length);
    out_str(o, "</span></div>\n");
}

/* Invisible columns over a chart; the browser shows their titles. */
static void put_column(const html *h, size_t column, unsigned shift)
{
    out *o = h->out;
    out_printf(o, "<rect class=\"hit\" x=\"%zu\" width=\"1\" height=\"%d\"><title>from ", column,
               HEIGHT);
    html_duration(o, h->trace->origin + (int64_t)((uint64_t)column << shift));
    out_str(o, ": ");
}

/* The last span is shown only until the end of the trace or of the time range. */
static double chart_width(unsigned shift, int64_t duration)
{
    return (double)duration / (double)((uint64_t)1 << shift);
}

static void put_strip(const html *h, const strip *c, unsigned shift, int64_t duration)
{
    out *o = h->out;
    double most = 0;
    for (size_t i = 0; i < c->count; i++)
        most = c->values[i] > most ? c->values[i] : most;
    if (most <= 0) {
        out_printf(o, "<p class=\"none\"><b>%s</b> none</p>\n", c->name);
        return;
    }
    double top = c->share ? 1 : most;
    out_printf(o, "<figure class=\"strip\">\n<figcaption><b>%s</b> <span>%s, at most ", c->name,
               c->what);
    put_value(o, c, most);
    out_printf(o,
               "</span></figcaption>\n<svg class=\"%s\" viewBox=\"0 0 %.3f %d\" "
               "preserveAspectRatio=\"none\" role=\"img\" aria-label=\"%s over time, %s: at most ",
               c->class, chart_width(shift, duration), HEIGHT, c->name, c->what);
    put_value(o, c, most);
    out_printf(o, "\"><path d=\"M0 %d", HEIGHT);
    for (size_t i = 0; i < c->count; i++)
        out_printf(o, "V%.1fH%zu", HEIGHT - c->values[i] / top * HEIGHT, i + 1);
    out_printf(o, "V%dZ\"/>", HEIGHT);
    for (size_t i = 0; i < c->count; i++) {
        put_column(h, i, shift);
        put_value(o, c, c->values[i]);
        out_str(o, "</title></rect>");
    }
    out_str(o, "</svg>\n</figure>\n");
}

/* The length of the i-th span: the last one ends with the trace. */
static double span_length(unsigned shift, size_t i, int64_t duration)
{
    int64_t begin = (int64_t)((uint64_t)i << shift), length = (int64_t)1 << shift;
    return (double)(duration - begin < length ? duration - begin : length);
}

static void put_states(html *h, int64_t duration)
{
    static const struct {
        unsigned kind;
        const char *name, *what, *class;
    } charts[ACTIVITY_KINDS] = {
        {ACTIVITY_RUNNING, "Running goroutines", "average number", "running"},
        {ACTIVITY_RUNNABLE, "Runnable goroutines", "average number that wait for a processor",
         "runnable"},
        {ACTIVITY_SYSCALL, "Goroutines in system calls", "average number", "syscall"},
        {ACTIVITY_WAITING, "Waiting goroutines", "average number that are blocked", "waiting"},
        {ACTIVITY_GC, "Garbage collection", "share of the time in which a cycle is active", "gc"},
    };
    const activity *a = &h->trace->activity;
    for (size_t n = 0; n < ACTIVITY_KINDS; n++) {
        const unsigned kind = charts[n].kind;
        strip c = {charts[n].name, charts[n].what,     charts[n].class, {0}, 0,
                   false,          kind == ACTIVITY_GC};
        if (kind == ACTIVITY_GC && !h->whole)
            continue;
        c.count = activity_count(a, duration);
        for (size_t i = 0; i < c.count; i++)
            c.values[i] = (double)a->ns[i][kind] / span_length(a->shift, i, duration);
        put_strip(h, &c, a->shift, duration);
    }
}

static void put_heap(html *h, int64_t duration)
{
    const activity *a = &h->trace->activity;
    strip heap = {"Heap", "largest size of the live heap", "heap", {0}, 0, true, false};
    strip goal = {"Heap goal", "size at which a cycle ends", "heap", {0}, 0, true, false};
    heap.count = goal.count = activity_count(a, duration);
    for (size_t i = 0; i < heap.count; i++) {
        heap.values[i] = (double)a->heap[i].largest;
        goal.values[i] = (double)a->goal[i].largest;
    }
    if (!a->has_heap) {
        out_str(h->out, "<p>The trace has no sizes of the heap.</p>\n");
        return;
    }
    put_strip(h, &heap, a->shift, duration);
    if (a->has_goal)
        put_strip(h, &goal, a->shift, duration);
}

static void put_overview(html *h)
{
    const int64_t duration = html_figure(h)->duration;
    if (duration <= 0) {
        out_printf(h->out, "<p>Nothing happens in this %s.</p>\n", h->what ? "time" : "trace");
        return;
    }
    put_states(h, duration);
    if (h->whole)
        put_heap(h, duration);
    put_axis(h, duration);
}

void html_overview(html *h)
{
    out *o = h->out;
    out_printf(
        o,
        "<section id=\"overview\">\n<h2>Overview</h2>\n<p>What the goroutines do%s, over the "
        "time of the %s. Each chart has its own scale.</p>\n",
        h->whole ? ", the garbage collector and the heap" : "", h->what ? "report" : "trace");
    html_each_trace(h, put_overview);
    out_str(o, "</section>\n");
}

/* ---- procs ------------------------------------------------------------------------------------
 */

static const char *const proc_labels[PROC_STATES] = {
    [PROC_IDLE] = "is idle",
    [PROC_SCHEDULER] = "looks for a goroutine to run",
    [PROC_RUNS] = "runs goroutines",
    [PROC_GC] = "runs workers of the garbage collector",
    [PROC_ASSIST] = "runs goroutines that assist the garbage collector",
    [PROC_SYSCALL] = "is in a system call",
};

/* The order from bottom to top. */
static const unsigned proc_order[PROC_STATES] = {PROC_RUNS,    PROC_ASSIST,    PROC_GC,
                                                 PROC_SYSCALL, PROC_SCHEDULER, PROC_IDLE};

static double sum_of_span(const load *l, size_t span)
{
    double sum = 0;
    for (size_t k = 0; k < PROC_STATES; k++)
        sum += (double)l->spans[span][k];
    return sum;
}

/* The area of each state is that up to its upper edge; later ones are below earlier ones. */
static void put_load(const html *h, const load *l, size_t spans, int64_t duration)
{
    out *o = h->out;
    double below[COLUMNS];
    for (size_t i = 0; i < spans; i++)
        below[i] = 1;
    out_printf(
        o,
        "<figure class=\"strip tall\"><svg viewBox=\"0 0 %.3f %d\" "
        "preserveAspectRatio=\"none\" role=\"img\" aria-label=\"What procs do over time; the "
        "sums are in the table below\">",
        chart_width(l->shift, duration), HEIGHT);
    for (size_t n = PROC_STATES; n-- > 0;) {
        unsigned k = proc_order[n];
        out_printf(o, "<path class=\"%s\" d=\"M0 %d", proc_state_names[k], HEIGHT);
        for (size_t i = 0; i < spans; i++) {
            double all = sum_of_span(l, i);
            out_printf(o, "V%.1fH%zu", all > 0 ? HEIGHT - below[i] * HEIGHT : HEIGHT, i + 1);
            below[i] -= all > 0 ? (double)l->spans[i][k] / all : 0;
            below[i] = below[i] < 0 ? 0 : below[i];
        }
        out_printf(o, "V%dZ\"/>", HEIGHT);
    }
    for (size_t i = 0; i < spans; i++) {
        double all = sum_of_span(l, i);
        put_column(h, i, l->shift);
        for (size_t n = 0; all > 0 && n < PROC_STATES; n++) {
            out_printf(o, "%s%s ", n ? ", " : "", proc_state_names[proc_order[n]]);
            html_share(o, (double)l->spans[i][proc_order[n]] / all);
        }
        out_str(o, "</title></rect>");
    }
    out_str(o, "</svg>\n</figure>\n");
}

/* The share of its time that each proc spends in each state. */
static void put_each_proc(html *h)
{
    static const char *const columns[] = {"#Proc",        "#Idle",      "#Scheduler",
                                          "#Goroutine",   "#GC worker", "#Mark assist",
                                          "#System call", NULL};
    const trace_figure *t = html_figure(h);
    out *o = h->out;
    size_t count = html_rows(h, t->proc_count, HTML_PROCS, "overview");
    html_table(o, "Time of each proc", "sorts", columns);
    for (size_t i = 0; i < count; i++) {
        double all = 0;
        for (size_t k = 0; k < PROC_STATES; k++)
            all += (double)t->procs[i].ns[k];
        out_str(o, "<tr>");
        html_cell_id(o, t->procs[i].id);
        for (size_t k = 0; k < PROC_STATES; k++) {
            out_printf(o, "<td class=\"n\" data-v=\"%" PRId64 "\">", t->procs[i].ns[k]);
            html_share(o, all > 0 ? (double)t->procs[i].ns[k] / all : 0);
        }
        out_str(o, "</tr>\n");
    }
    html_table_end(o);
}

static void put_procs(html *h)
{
    static const char *const columns[] = {"A proc ...", "#Share", "#Time", NULL};
    const trace_figure *t = html_figure(h);
    const load *l = &t->load;
    out *o = h->out;
    double all = 0;
    for (size_t k = 0; k < PROC_STATES; k++)
        all += (double)l->sums[k];
    if (t->duration <= 0 || all <= 0)
        return;
    size_t spans = (size_t)((t->duration - 1) >> l->shift) + 1;
    put_load(h, l, spans, t->duration);
    put_axis(h, t->duration);
    html_table(o, "Time of all procs", "sorts", columns);
    for (size_t n = 0; n < PROC_STATES; n++) {
        unsigned k = proc_order[n];
        out_printf(
            o,
            "<tr><td><svg class=\"swatch\" viewBox=\"0 0 1 1\" aria-hidden=\"true\"><rect "
            "class=\"%s\" width=\"1\" height=\"1\"/></svg> %s<td class=\"n\" data-v=\"%" PRId64
            "\">",
            proc_state_names[k], proc_labels[k], l->sums[k]);
        html_share(o, (double)l->sums[k] / all);
        html_cell_time(o, l->sums[k]);
        out_str(o, "</tr>\n");
    }
    html_table_end(o);
    put_each_proc(h);
}

bool html_has_procs(const html *h)
{
    int64_t all = 0;
    for (size_t i = 0; h->whole && i < h->s->trace_count; i++)
        for (size_t k = 0; h->s->traces[i].duration > 0 && k < PROC_STATES; k++)
            all |= h->s->traces[i].load.sums[k];
    return all > 0;
}

void html_procs(html *h)
{
    if (!html_has_procs(h))
        return;
    out_str(h->out,
            "<section id=\"procs\">\n<h2>Procs</h2>\n<p>How the procs (the P of the scheduler, at "
            "most GOMAXPROCS) spend their time, all of them together.</p>\n");
    html_each_trace(h, put_procs);
    out_str(h->out, "</section>\n");
}

/* ---- distributions ----------------------------------------------------------------------------
 */

/* The bucket of values below 2^bit, and not below half of that. */
static uint64_t in_bucket(const histogram *const *list, size_t count, unsigned bit)
{
    uint64_t sum = 0;
    int64_t to = bit < 63 ? (int64_t)1 << bit : INT64_MAX;
    for (size_t i = 0; i < count; i++)
        sum += histogram_between(list[i], bit ? (int64_t)1 << (bit - 1) : 0, to);
    return sum;
}

void html_histogram(out *o, const char *caption, const histogram *const *list, size_t count)
{
    static const char *const columns[] = {"#From", "#To", "Distribution", "#Count", NULL};
    uint64_t buckets[64], most = 0;
    unsigned first = 64, last = 0;
    for (unsigned i = 0; i < 64; i++) {
        buckets[i] = in_bucket(list, count, i);
        most = buckets[i] > most ? buckets[i] : most;
        if (buckets[i] && first == 64)
            first = i;
        if (buckets[i])
            last = i;
    }
    if (most == 0)
        return;
    html_table(o, caption, "plain", columns);
    for (unsigned i = first; i <= last; i++) {
        out_str(o, "<tr>");
        html_cell_time(o, i ? (int64_t)1 << (i - 1) : 0);
        html_cell_time(o, i < 63 ? (int64_t)1 << i : INT64_MAX);
        out_printf(o, "<td class=\"bars\" data-v=\"%" PRIu64 "\">", buckets[i]);
        html_bar(o, (double)buckets[i] / (double)most);
        html_cell_count(o, buckets[i]);
        out_str(o, "</tr>\n");
    }
    html_table_end(o);
}

/* ---- utilization ------------------------------------------------------------------------------
 */

static void put_curve(out *o, const trace_figure *t)
{
    enum { STEP = 140, LEFT = 60, TOP = 12, TALL = 140 };
    out_printf(o,
               "<svg class=\"curve\" viewBox=\"0 0 720 190\" role=\"img\" aria-label=\"Least "
               "utilization by length of the window; the figures are in the table below\">"
               "<path class=\"grid\" d=\"M%d %dH700M%d %dH700M%d %dH700\"/>",
               LEFT, TOP, LEFT, TOP + TALL / 2, LEFT, TOP + TALL);
    for (int i = 0; i <= 2; i++)
        out_printf(o, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%d %%</text>", LEFT - 8,
                   TOP + 4 + i * TALL / 2, 100 - 50 * i);
    out_str(o, "<path class=\"line\" d=\"");
    for (size_t w = 0; w < UTILIZATION_WINDOWS; w++)
        out_printf(o, "%c%zu %.1f", w ? 'L' : 'M', LEFT + 30 + w * STEP,
                   TOP + TALL * (1 - t->least[0][w]));
    out_str(o, "\"/>");
    for (size_t w = 0; w < UTILIZATION_WINDOWS; w++) {
        out_printf(o, "<circle cx=\"%zu\" cy=\"%.1f\" r=\"4\"><title>", LEFT + 30 + w * STEP,
                   TOP + TALL * (1 - t->least[0][w]));
        html_share(o, t->least[0][w]);
        out_printf(o, "</title></circle><text x=\"%zu\" y=\"%d\" text-anchor=\"middle\">",
                   LEFT + 30 + w * STEP, TOP + TALL + 24);
        out_printf(o, w < 2 ? "%d \xc2\xb5s" : "%d ms",
                   (int)(utilization_widths[w] / (w < 2 ? 1000 : 1000000)));
        out_str(o, "</text>");
    }
    out_str(o, "</svg>\n");
}

static void put_utilization(html *h)
{
    static const char *const columns[] = {"#Window", "#Least share", "#Sweeping counts as GC",
                                          "Worst window", NULL};
    const trace_figure *t = html_figure(h);
    out *o = h->out;
    if (!t->utilized[0])
        return;
    out_str(o,
            "<h3>Mutator utilization</h3>\n<p>The least share of the procs that a window of time "
            "leaves to the program, at any time: 100 % means that the collector does not "
            "take anything.</p>\n");
    put_curve(o, t);
    html_table(o, "Least utilization by length of the window", "sorts", columns);
    for (size_t w = 0; w < UTILIZATION_WINDOWS; w++) {
        out_str(o, "<tr>");
        html_cell_time(o, utilization_widths[w]);
        for (size_t k = 0; k < 2; k++) {
            out_printf(o, "<td class=\"n\" data-v=\"%.6f\">", t->least[k][w]);
            html_share(o, t->least[k][w]);
        }
        out_str(o, "<td>");
        html_window(h, (size_t)(h->trace - h->traces), t->least_at[0][w], utilization_widths[w]);
        out_str(o, "</tr>\n");
    }
    html_table_end(o);
}

void html_utilization(html *h)
{
    html_each_trace(h, put_utilization);
}
