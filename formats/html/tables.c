/* tables.c - goroutines, scheduling, waits, the garbage collector, tasks and regions. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "formats/common/plural.h"
#include "formats/html/html.h"

size_t html_rows(html *h, size_t count, size_t most, const char *section)
{
    if (count <= most)
        return count;
    out_printf(h->out,
               "<p>The first %zu of %zu rows; all of them: <code>gotrace stat --only %s --top 0 ",
               most, count, section);
    html_selection(h);
    out_str(h->out, h->what ? " " : "");
    html_files(h);
    out_str(h->out, "</code></p>\n");
    return most;
}

/* The columns of values. */
static void put_values(out *o, const histogram *values)
{
    for (const value_column *c = value_columns; c->member; c++)
        if (c->label)
            html_cell_time(o, c->value(values, 0));
}

#define SHOWN(member, label, heading, value) "#" heading,
#define HIDDEN(member, value)
#define VALUE_HEADINGS VALUE_COLUMNS(SHOWN, HIDDEN)

/* The same after their number. */
static void put_counted(out *o, const histogram *values)
{
    html_cell_count(o, values->count);
    put_values(o, values);
}

static void put_name_cell(html *h, uint32_t name)
{
    out_str(h->out, "<td class=\"name\">");
    html_name(h, name);
}

/* ---- goroutines -------------------------------------------------------------------------------
 */

/* The heading of the column for times of that place; NULL after the last. */
static const char *heading_of(unsigned place)
{
    static const char *const headings[TIME_COUNT] = {
#define HEADING(a, b, time, member, label, place, heading) "#" heading,
        TIME_COLUMNS(HEADING, , )
#undef HEADING
    };
    for (size_t i = 0; i < TIME_COUNT; i++)
        if (time_columns[i].place == place)
            return headings[i];
    return NULL;
}

static int64_t sum_of_place(const function_figure *f, unsigned place)
{
    int64_t sum = 0;
    for (uint32_t i = 0; i < TIME_COUNT; i++)
        if (time_columns[i].place == place)
            sum = sum_of_times(sum, figure_sum(f, i));
    return sum;
}

void html_goroutines(html *h)
{
    const char *columns[TIME_COUNT + 5] = {"Start function", "#Goroutines"};
    size_t column = 2;
    for (unsigned place = 1; heading_of(place); place++)
        columns[column++] = heading_of(place);
    columns[column++] = "#Median life";
    columns[column] = "#Longest life";
    size_t count;
    function_figure **list = rows_functions(h->s, FUNCTIONS_BY_TOTAL, &count, &h->failed);
    out *o = h->out;
    if (!list)
        return;
    out_str(o, "<section id=\"goroutines\">\n<h2>Goroutines</h2>\n<p>The times of all "
               "goroutines that start in the same function, added up. The five parts after the "
               "total are a division of it.</p>\n");
    count = html_rows(h, count, HTML_FUNCTIONS, "goroutines --sort total");
    html_table(o, "Goroutines by start function", "sorts filters", columns);
    for (size_t i = 0; i < count; i++) {
        const function_figure *f = list[i];
        const histogram total = figure_time(f, TIME_TOTAL);
        out_str(o, "<tr>");
        put_name_cell(h, f->name);
        html_cell_count(o, f->count);
        for (unsigned place = 1; heading_of(place); place++)
            html_cell_time(o, sum_of_place(f, place));
        html_cell_time(o, histogram_quantile(&total, 0.5, f->count - total.count));
        html_cell_time(o, total.max);
        out_str(o, "</tr>\n");
    }
    html_table_end(o);
    out_str(o, "</section>\n");
    free(list);
}

/* ---- scheduling -------------------------------------------------------------------------------
 */

static void put_percentiles(out *o, const histogram *values)
{
    static const struct {
        const char *name;
        double share;
    } shares[] = {{"Median", 0.5}, {"90 %", 0.9}, {"99 %", 0.99}, {"99.9 %", 0.999}};
    out_str(o, "<dl class=\"facts\">");
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++) {
        out_printf(o, "<div><dt>%s<dd>", shares[i].name);
        html_duration(o, histogram_quantile(values, shares[i].share, 0));
        out_str(o, "</div>");
    }
    out_str(o, "<div><dt>Longest<dd>");
    html_duration(o, values->max);
    out_str(o, "</div><div><dt>Count<dd>");
    html_count(o, values->count);
    out_str(o, "</div></dl>\n");
}

static void put_latencies(html *h)
{
    static const char *const columns[] = {"Start function", "#Count", VALUE_HEADINGS NULL};
    size_t count;
    function_figure **list = rows_latencies(h->s, &count, &h->failed);
    out *o = h->out;
    if (!list)
        return;
    out_str(o, "<h3>By start function</h3>\n<p>How long goroutines wait that start at the same "
               "function.</p>\n");
    count = html_rows(h, count, HTML_STACKS, "scheduling");
    html_table(o, "Scheduling latency by start function", "sorts filters", columns);
    for (size_t i = 0; i < count; i++) {
        const histogram values = value_set_histogram(&list[i]->latency);
        out_str(o, "<tr>");
        put_name_cell(h, list[i]->name);
        put_counted(o, &values);
        out_str(o, "</tr>\n");
    }
    html_table_end(o);
    free(list);
}

static void put_causes(html *h)
{
    static const char *const columns[] = {"Cause", "#Count", VALUE_HEADINGS NULL};
    size_t count;
    caused *list = rows_causes(h->s, &count, &h->failed);
    out *o = h->out;
    out_str(o, "<h3>By cause</h3>\n<p>Why the goroutine could run again.</p>\n");
    count = html_rows(h, count, HTML_STACKS, "scheduling");
    html_table(o, "Scheduling latency by cause", "sorts", columns);
    for (size_t i = 0; i < count; i++) {
        out_printf(o, "<tr><td class=\"name\">%s", cause_labels[list[i].cause]);
        if (list[i].cause == CAUSE_WAITED || list[i].cause == CAUSE_STOPPED)
            html_name(h, list[i].figure->reason);
        put_counted(o, &list[i].figure->values);
        out_str(o, "</tr>\n");
    }
    html_table_end(o);
    free(list);
}

/* What the procs did, as shares of their time. */
static void put_meanwhile(out *o, const int64_t *ns)
{
    int64_t all = 0;
    bool first = true;
    for (size_t k = 0; k < PROC_STATES; k++)
        all = sum_of_times(all, ns[k]);
    for (size_t k = 0; k < PROC_STATES; k++) {
        if (ns[k] == 0)
            continue;
        out_printf(o, "%s%s ", first ? "" : "<br>", proc_state_names[k]);
        html_share(o, (double)ns[k] / (double)all);
        first = false;
    }
}

void html_scheduling(html *h)
{
    static const char *const columns[] = {
        "#Delay",          "#Begins at",        "#Goroutine",
        "Start function",  "#Made runnable by", "Stack that made it runnable",
        "Procs meanwhile", "Time to look at",   NULL};
    const histogram *latency = &h->s->latency;
    out *o = h->out;
    if (latency->count == 0)
        return;
    out_str(
        o,
        "<section id=\"scheduling\">\n<h2>Scheduling latency</h2>\n<p>How long goroutines that can "
        "run wait for a proc, until they run.</p>\n");
    put_percentiles(o, latency);
    html_histogram(o, "Scheduling latencies", &latency, 1);
    put_latencies(h);
    put_causes(h);
    out_str(o, "<h3>Worst scheduling delays</h3>\n<p>The longest of them, when and where.</p>\n");
    html_table(o, "Worst scheduling delays", "sorts", columns);
    for (size_t i = 0; i < h->s->worst_count; i++) {
        const slow *w = &h->s->worst[i].slow;
        out_str(o, "<tr>");
        html_cell_time(o, w->ns);
        html_cell_time(o, w->begin);
        html_cell_id(o, w->id);
        put_name_cell(h, w->function);
        html_label(h, w->label);
        if (w->cause)
            html_cell_id(o, w->cause);
        else
            out_str(o, "<td class=\"n\" data-v=\"0\">-");
        out_str(o, "<td class=\"name\">");
        html_stack(h, w->stack);
        out_str(o, "<td>");
        put_meanwhile(o, h->s->worst[i].procs_ns);
        out_str(o, "<td>");
        html_window(h, w->trace, w->begin, w->ns);
        out_str(o, "</tr>\n");
    }
    html_table_end(o);
    out_str(o, "</section>\n");
}

/* ---- waits ------------------------------------------------------------------------------------
 */

static void put_by_stack(html *h, uint8_t state, uint32_t reason, const char *caption,
                         const char *section)
{
    static const char *const columns[] = {"Stack, innermost function first",
                                          "Reason",
                                          "#Count",
                                          "#Sum",
                                          "#Average",
                                          "#Longest",
                                          NULL};
    size_t count;
    stack_figure **list = rows_stacks(h->s, state, reason, &count, &h->failed);
    out *o = h->out;
    if (list && count > 0) {
        out_printf(o, "<h3>%s</h3>\n<p>Where the program was when it began to wait.</p>\n",
                   caption);
        count = html_rows(h, count, HTML_STACKS, section);
        html_table(o, caption, "sorts filters", columns);
        stack_view *views = rows_stack_views(h->s, list, count, false, &h->failed);
        for (size_t i = 0; views && i < count; i++) {
            out_str(o, "<tr><td class=\"name\">");
            html_frames(h, list[i]->stack, views[i]);
            out_str(o, "<td>");
            if (state == GOTRACE_STATE_SYSCALL)
                out_str(o, "system call");
            else
                html_name(h, h->s->reasons[list[i]->reason].reason);
            html_cell_count(o, list[i]->count);
            html_cell_time(o, list[i]->sum);
            html_cell_time(o, list[i]->sum / (int64_t)list[i]->count);
            html_cell_time(o, list[i]->max);
            out_str(o, "</tr>\n");
        }
        html_table_end(o);
        free(views);
    }
    free(list);
}

static void put_reasons(html *h, reason_figure **list, size_t count)
{
    static const char *const columns[] = {"Reason", "#Count", VALUE_HEADINGS NULL};
    out *o = h->out;
    html_table(o, "Blocking by reason", "sorts", columns);
    for (size_t i = 0; i < count; i++) {
        const histogram *values = &list[i]->values;
        out_str(o, "<tr>");
        put_name_cell(h, list[i]->reason);
        put_counted(o, values);
        out_str(o, "</tr>\n");
    }
    html_table_end(o);
}

/* The distribution of the times in a state, for all reasons. */
static void put_distribution(html *h, const char *caption, reason_figure *const *list, size_t count)
{
    const histogram **values = malloc(count * sizeof *values);
    if (!values) {
        h->failed = true;
        return;
    }
    for (size_t i = 0; i < count; i++)
        values[i] = &list[i]->values;
    html_histogram(h->out, caption, values, count);
    free(values);
}

void html_waits(html *h)
{
    size_t count;
    uint32_t network = rows_network(h->s);
    reason_figure **list = rows_reasons(h->s, GOTRACE_STATE_WAITING, &count, &h->failed);
    if (list && count > 0) {
        out_str(h->out,
                "<section id=\"blocking\">\n<h2>Blocking</h2>\n<p>How long goroutines wait for "
                "something other than a proc, and for what. The reason of a wait that began before "
                "the trace is unknown.</p>\n");
        put_reasons(h, list, count < HTML_STACKS ? count : HTML_STACKS);
        put_distribution(h, "Times of blocking, all reasons", list, count);
        put_by_stack(h, GOTRACE_STATE_WAITING, 0, "Blocking by stack", "blocking");
        if (network)
            put_by_stack(h, GOTRACE_STATE_WAITING, network, "Waiting for the network by stack",
                         "network");
        out_str(h->out, "</section>\n");
    }
    free(list);
    list = rows_reasons(h->s, GOTRACE_STATE_SYSCALL, &count, &h->failed);
    if (list && count > 0) {
        out_str(h->out,
                "<section id=\"syscalls\">\n<h2>System calls</h2>\n<p>How long goroutines are in "
                "system calls.</p>\n");
        put_distribution(h, "Times of system calls", list, count);
        put_by_stack(h, GOTRACE_STATE_SYSCALL, 0, "System calls by stack", "syscalls");
        out_str(h->out, "</section>\n");
    }
    free(list);
}

/* ---- garbage collection -----------------------------------------------------------------------
 */

static void put_fact(out *o, const char *name, int64_t ns)
{
    out_printf(o, "<div><dt>%s<dd>", name);
    html_duration(o, ns);
    out_str(o, "</div>");
}

static void put_stop(html *h, const stop_figure *f)
{
    out *o = h->out;
    const stop *longest = &f->longest;
    out_str(o, "<tr>");
    put_name_cell(h, f->reason);
    html_cell_count(o, f->values.count);
    html_cell_count(o, f->partial.count);
    put_values(o, &f->values);
    if (f->values.count == 0) {
        out_str(o, "<td class=\"n\" data-v=\"0\">-<td class=\"name\">-<td></tr>\n");
        return;
    }
    html_cell_time(o, longest->begin);
    out_str(o, "<td class=\"name\">");
    if (longest->last) {
        out_printf(o, "goroutine %" PRIu64 ", after ", longest->last);
        html_duration(o, longest->waited);
        out_str(o, "<br>");
        html_name(h, longest->last_function);
    } else {
        out_char(o, '-');
    }
    out_str(o, "<td>");
    html_window(h, longest->trace, longest->begin, longest->ns);
    out_str(o, "</tr>\n");
}

static void put_stops(html *h)
{
    static const char *const columns[] = {"Reason",
                                          "#Ended",
                                          "#Unfinished",
                                          VALUE_HEADINGS "#Longest begins at",
                                          "Goroutine that stopped last in the longest",
                                          "Time to look at",
                                          NULL};
    stop_figure **list = rows_stops(h->s, &h->failed);
    out *o = h->out;
    if (!list)
        return;
    const histogram **values = malloc(h->s->stops.count * sizeof *values);
    out_str(
        o,
        "<h3>Stop-the-world pauses</h3>\n<p>While the world is stopped, no goroutine runs. A stop "
        "takes at least as "
        "long as the last goroutine needs to stop. An unfinished one began before the first event "
        "or did "
        "not end.</p>\n");
    size_t count = html_rows(h, h->s->stops.count, HTML_STACKS, "stops");
    html_table(o, "Stop-the-world by reason", "sorts", columns);
    for (size_t i = 0; i < count; i++)
        put_stop(h, list[i]);
    html_table_end(o);
    for (size_t i = 0; values && i < h->s->stops.count; i++)
        values[i] = &list[i]->values;
    if (values)
        html_histogram(o, "Stop-the-world pauses, all reasons", values, h->s->stops.count);
    else
        h->failed = true;
    free(values);
    free(list);
}

/* What the collector did in all traces. */
static trace_figure sum_of_collectors(const html *h)
{
    trace_figure sum = {.name = NULL};
    for (size_t i = 0; i < h->s->trace_count; i++) {
        const trace_figure *t = &h->s->traces[i];
        sum.cycles += t->cycles;
        sum.cycle_ns = sum_of_times(sum.cycle_ns, t->cycle_ns);
        if (t->longest_cycle > sum.longest_cycle)
            sum.longest_cycle = t->longest_cycle;
        sum.partial_cycles.count += t->partial_cycles.count;
        sum.partial_cycles.ns = sum_of_times(sum.partial_cycles.ns, t->partial_cycles.ns);
        for (size_t k = 0; k < WORKER_KINDS; k++)
            sum.worker_ns[k] = sum_of_times(sum.worker_ns[k], t->worker_ns[k]);
        sum.assist_ns = sum_of_times(sum.assist_ns, t->assist_ns);
        sum.sweep_ns = sum_of_times(sum.sweep_ns, t->sweep_ns);
        sum.load.sums[PROC_ASSIST] = sum_of_times(sum.load.sums[PROC_ASSIST],
                                                  t->load.sums[PROC_ASSIST]);
    }
    return sum;
}

void html_collector(html *h)
{
    const trace_figure sum = sum_of_collectors(h), *t = &sum;
    out *o = h->out;
    if (!h->whole)
        return;
    out_str(o, "<section id=\"gc\">\n<h2>Garbage collection</h2>\n");
    out_printf(o, "<p>%" PRIu64 " cycle%s began and ended in the %s.", t->cycles, plural(t->cycles),
               h->what              ? "time range"
               : html_is_several(h) ? "traces"
                                    : "trace");
    if (t->partial_cycles.count > 0)
        out_printf(o, " Of %" PRIu64 " more the begin or the end is not in it.",
                   t->partial_cycles.count);
    out_str(o, "</p>\n<dl class=\"facts\">");
    put_fact(o, "Time of all cycles", t->cycle_ns);
    put_fact(o, "Longest cycle", t->longest_cycle);
    if (t->partial_cycles.count > 0)
        put_fact(o, "Unfinished cycles, at least", t->partial_cycles.ns);
    put_fact(o, "Dedicated workers", t->worker_ns[WORKER_DEDICATED]);
    put_fact(o, "Fractional workers", t->worker_ns[WORKER_FRACTIONAL]);
    put_fact(o, "Idle workers", t->worker_ns[WORKER_IDLE]);
    put_fact(o, "Mark assists, with waits", t->assist_ns);
    put_fact(o, "Mark assists, running", t->load.sums[PROC_ASSIST]);
    put_fact(o, "Sweeping", t->sweep_ns);
    out_str(o, "</dl>\n");
    html_utilization(h);
    put_stops(h);
    out_str(o, "</section>\n");
}

/* ---- tasks and regions ------------------------------------------------------------------------
 */

static void put_spans(html *h, const figures *spans, const char *section, const char *caption,
                      const char *explanation, const char *of)
{
    const char *const columns[] = {
        "Name", "#Ended", "#Not ended", VALUE_HEADINGS of, "Time to look at", NULL};
    span_figure **list = rows_spans(h->s, spans, &h->failed);
    out *o = h->out;
    if (!list)
        return;
    out_printf(o, "<section id=\"%s\">\n<h2>%s</h2>\n<p>%s</p>\n", section, caption, explanation);
    size_t count = html_rows(h, spans->count, HTML_SPANS, section);
    html_table(o, caption, "sorts filters", columns);
    for (size_t i = 0; i < count; i++) {
        const span_figure *f = list[i];
        out_str(o, "<tr>");
        put_name_cell(h, f->name);
        html_cell_count(o, f->values.count);
        html_cell_count(o, f->unfinished);
        put_values(o, &f->values);
        if (f->slow_count > 0) {
            html_cell_id(o, f->slowest[0].id);
            out_str(o, "<td>");
            html_window(h, f->slowest[0].trace, f->slowest[0].begin, f->slowest[0].ns);
        } else {
            out_str(o, "<td class=\"n\" data-v=\"0\">-<td>");
        }
        out_str(o, "</tr>\n");
    }
    html_table_end(o);
    out_str(o, "</section>\n");
    free(list);
}

void html_spans(html *h)
{
    put_spans(h, &h->s->tasks, "tasks", "Tasks",
              "The tasks of runtime/trace, by type: how long they take from beginning to end.",
              "#Longest task");
    put_spans(h, &h->s->regions, "regions", "Regions",
              "The regions of runtime/trace, by type: how long they take.",
              "#Goroutine of the longest");
}
