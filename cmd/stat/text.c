/* text.c - statistics as tables for people. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/human.h"
#include "cmd/names.h"
#include "cmd/stat/text.h"
#include "formats/common/plural.h"

/* Room for a duration; columns of a bar. */
enum { DURATION = 24, BAR = 40 };

/* Width of the first column: times of a function; reasons. */
enum { FUNCTION_LABEL = 40, REASON_LABEL = 28 };

static const char *name_or_unknown(const report *r, uint32_t name, size_t *size)
{
    return names_text(r->s->stacks, name, size);
}

void text_name(report *r, uint32_t name)
{
    names_write(r->out, r->s->stacks, name);
}

void text_duration(report *r, int64_t ns)
{
    char text[DURATION];
    human_duration(text, sizeof text, ns);
    out_printf(r->out, " %11s", text);
}

void text_fact(report *r, const char *before, int64_t ns)
{
    char text[DURATION];
    human_duration(text, sizeof text, ns);
    out_printf(r->out, "%s%s", before, text);
}

size_t text_most(report *r, size_t count, uint64_t most)
{
    if (most == 0 || most >= count) {
        out_str(r->out, "\n");
        return count;
    }
    out_printf(r->out, ", the first %" PRIu64 " of %zu\n", most, count);
    return (size_t)most;
}

static size_t text_rows(report *r, size_t count)
{
    return text_most(r, count, r->top);
}

void text_title(report *r, const char *title)
{
    if (r->by_file) {
        out_go_text(r->out, r->s->traces[0].name, strlen(r->s->traces[0].name));
        out_str(r->out, ": ");
    }
    out_str(r->out, title);
}

static void text_stack(report *r, uint32_t stack)
{
    names_write_stack(r->out, r->s->stacks, stack);
}

void text_file(report *r, uint32_t trace)
{
    if (r->s->trace_count < 2)
        return;
    out_str(r->out, " in ");
    out_go_text(r->out, r->s->traces[trace].name, strlen(r->s->traces[trace].name));
}

void text_values(report *r, const histogram *h, uint64_t zeros)
{
    for (const value_column *c = value_columns; c->member; c++)
        if (c->label)
            text_duration(r, c->value(h, zeros));
}

void text_values_title(report *r)
{
    for (const value_column *c = value_columns; c->member; c++)
        if (c->label)
            out_printf(r->out, " %11s", c->label);
    out_char(r->out, '\n');
}

/* Their number, and the values. */
static void text_counted(report *r, const histogram *h)
{
    out_printf(r->out, " %10" PRIu64, h->count);
    text_values(r, h, 0);
}

/* ---- overview ---------------------------------------------------------------------------------
 */

/* One character for the share of the time that procs spend in a state. */
static void text_level(report *r, double share)
{
    static const char levels[] = " .:-=+*#%@";
    size_t last = sizeof levels - 2;
    size_t level = (size_t)(share * (double)last + 0.999);
    out_char(r->out, levels[level > last ? last : level]);
}

/* What the procs do over time, a row for each state; two spans a column if they would be many. */
void text_load(report *r, const trace_figure *t)
{
    const load *l = &t->load;
    if (t->duration == 0)
        return;
    int64_t all = 0;
    size_t spans = (size_t)((t->duration - 1) >> l->shift) + 1, pair = spans > LOAD_SPANS ? 2 : 1;
    for (size_t k = 0; k < PROC_STATES; k++)
        all += l->sums[k];
    for (size_t k = 0; all > 0 && k < PROC_STATES; k++) {
        out_printf(r->out, "  %-10s %5.1f%% ", proc_state_names[k],
                   100.0 * (double)l->sums[k] / (double)all);
        text_duration(r, l->sums[k]);
        out_str(r->out, "  |");
        for (size_t n = 0; n < spans; n += pair) {
            int64_t in_state = 0, in_all = 0;
            for (size_t i = n; i < n + pair && i < 2 * (size_t)LOAD_SPANS; i++) {
                in_state += l->spans[i][k];
                for (size_t j = 0; j < PROC_STATES; j++)
                    in_all += l->spans[i][j];
            }
            text_level(r, in_all ? (double)in_state / (double)in_all : 0);
        }
        out_str(r->out, "|\n");
    }
}

/* The share of its time that each proc spends in each state. */
static void text_procs(report *r, const trace_figure *t)
{
    size_t count = t->proc_count;
    int64_t busy = 0;
    for (size_t k = 0; k < PROC_STATES; k++)
        busy |= t->load.sums[k];
    if (busy == 0)
        return;
    out_printf(r->out, "  %6s", "proc");
    for (size_t k = 0; k < PROC_STATES; k++)
        out_printf(r->out, " %10s", proc_state_names[k]);
    if (r->top > 0 && r->top < count) {
        out_printf(r->out, "   (the first %" PRIu64 " of %zu)", r->top, count);
        count = (size_t)r->top;
    }
    out_char(r->out, '\n');
    for (size_t i = 0; i < count; i++) {
        double all = 0;
        for (size_t k = 0; k < PROC_STATES; k++)
            all += (double)t->procs[i].ns[k];
        out_printf(r->out, "  %6" PRIu64, t->procs[i].id);
        for (size_t k = 0; k < PROC_STATES; k++)
            out_printf(r->out, " %9.1f%%", all > 0 ? 100 * (double)t->procs[i].ns[k] / all : 0);
        out_char(r->out, '\n');
    }
}

void text_silences(report *r, const silence_figure *f)
{
    if (f->count == 0)
        return;
    out_printf(r->out, "  no event for more than %d ms: %" PRIu64 " time%s", SILENCE_NS / 1000000,
               f->count, plural(f->count));
    text_fact(r, ", in all ", f->sum);
    text_fact(r, ", the longest ", f->max);
    text_fact(r, " from ", f->max_begin);
    out_char(r->out, '\n');
}

void text_trace(report *r, const trace_figure *t)
{
    char duration[DURATION];
    human_duration(duration, sizeof duration, t->duration);
    out_go_text(r->out, t->name, strlen(t->name));
    out_printf(r->out, ": go 1.%d, %s, %" PRIu64 " event%s", t->version, duration, t->events,
               plural(t->events));
    if (t->duration > 0)
        out_printf(r->out, " (%.0f per second)", (double)t->events * 1e9 / (double)t->duration);
    out_printf(r->out, ", %" PRIu64 " goroutine%s\n", t->goroutines, plural(t->goroutines));
}

static void text_overview(report *r)
{
    for (size_t i = 0; i < r->s->trace_count; i++) {
        const trace_figure *t = &r->s->traces[i];
        text_trace(r, t);
        if (r->whole)
            text_load(r, t);
        if (r->whole)
            text_silences(r, &t->silences);
        if (t->proc_count > 1 && r->whole)
            text_procs(r, t);
    }
}

/* ---- goroutines -------------------------------------------------------------------------------
 */

/* A label in a column of that width, which longer ones exceed. */
static void text_label(report *r, const char *label, size_t size, int width)
{
    int used = 0;
    for (size_t i = 0; i < size; i++)
        used += ((unsigned char)label[i] & 0xC0) != 0x80;
    out_str(r->out, "  ");
    out_go_text(r->out, label, size);
    out_printf(r->out, "%*s", used < width ? width - used : 0, "");
}

/* The times of one kind: blocking by reason, or ranges. */
static void text_parts(report *r, const function_figure *f, uint8_t kind, const char *shown)
{
    for (size_t i = 0; i < f->time_count; i++) {
        char label[64];
        size_t size;
        if (f->times[i].kind != kind)
            continue;
        const histogram values = value_set_histogram(&f->times[i]);
        const char *name = name_or_unknown(r, f->times[i].name, &size);
        int length = snprintf(label, sizeof label, shown, (int)names_cut(name, size, 50), name);
        text_label(r, label, (size_t)length, FUNCTION_LABEL);
        text_values(r, &values, f->count - values.count);
        out_char(r->out, '\n');
    }
}

static void text_function(report *r, const function_figure *f)
{
    text_name(r, f->name);
    out_printf(r->out,
               ": %" PRIu64 " goroutine%s (%" PRIu64 " created, %" PRIu64 " ended, %" PRIu64
               " alive at the end)",
               f->count, plural(f->count), f->created, f->ended, f->count - f->ended);
    text_fact(r, ", cost ", function_measure(r->s, f, FUNCTIONS_BY_COST));
    out_char(r->out, '\n');
    for (uint32_t i = 0; i < TIME_COUNT; i++) {
        const histogram values = figure_time(f, i);
        if (values.count == 0)
            continue;
        const char *label = time_columns[i].label;
        text_label(r, label, strlen(label), FUNCTION_LABEL);
        text_values(r, &values, f->count - values.count);
        out_char(r->out, '\n');
    }
    text_parts(r, f, FIGURE_BLOCK, "block: %.*s");
    text_parts(r, f, FIGURE_RANGE, "(%.*s)");
}

static void text_functions(report *r)
{
    size_t count;
    function_figure **list = rows_functions(r->s, r->order, &count, &r->failed);
    text_title(r, "goroutines by start function");
    count = text_rows(r, count);
    out_printf(r->out, "  %*s", FUNCTION_LABEL, "");
    text_values_title(r);
    for (size_t i = 0; i < count; i++)
        text_function(r, list[i]);
    free(list);
}

/* ---- scheduling -------------------------------------------------------------------------------
 */

static void text_histogram(report *r, const histogram *h)
{
    uint64_t counts[63], most = 0;
    unsigned first = 63, last = 0;
    for (unsigned bit = 0; bit < 63; bit++) {
        int64_t from = bit ? (int64_t)1 << bit : 0;
        counts[bit] = histogram_between(h, from, bit == 62 ? INT64_MAX : (int64_t)1 << (bit + 1));
        if (counts[bit] == 0)
            continue;
        first = bit < first ? bit : first;
        last = bit;
        most = counts[bit] > most ? counts[bit] : most;
    }
    for (unsigned bit = first; bit <= last && most > 0; bit++) {
        static const char bar[] = "########################################";
        int length = (int)((counts[bit] * BAR + most - 1) / most);
        out_str(r->out, "  from");
        text_duration(r, bit ? (int64_t)1 << bit : 0);
        out_printf(r->out, " %10" PRIu64 " |%.*s\n", counts[bit], length, bar);
    }
}

/* The title of columns of counted values, whose name is last. */
static void text_counted_title(report *r)
{
    out_printf(r->out, " %10s", "count");
    text_values_title(r);
}

static void text_latencies(report *r)
{
    size_t count;
    function_figure **list = rows_latencies(r->s, &count, &r->failed);
    text_title(r, "scheduling latency by start function");
    count = text_rows(r, count);
    text_counted_title(r);
    for (size_t i = 0; i < count; i++) {
        const histogram values = value_set_histogram(&list[i]->latency);
        text_counted(r, &values);
        out_str(r->out, "  ");
        text_name(r, list[i]->name);
        out_char(r->out, '\n');
    }
    free(list);
}

static void text_causes(report *r)
{
    size_t count;
    caused *list = rows_causes(r->s, &count, &r->failed);
    text_title(r, "scheduling latency by cause of becoming runnable");
    count = text_rows(r, count);
    text_counted_title(r);
    for (size_t i = 0; i < count; i++) {
        text_counted(r, &list[i].figure->values);
        out_printf(r->out, "  %s", cause_labels[list[i].cause]);
        if (list[i].cause == CAUSE_WAITED || list[i].cause == CAUSE_STOPPED)
            text_name(r, list[i].figure->reason);
        out_char(r->out, '\n');
    }
    free(list);
}

/* A long delay: whose, after what, and what the procs did meanwhile. */
static void text_delay(report *r, const delay *d)
{
    const slow *w = &d->slow;
    double all = 0;
    text_duration(r, w->ns);
    text_fact(r, " from ", w->begin);
    out_printf(r->out, ", goroutine %" PRIu64 " ", w->id);
    text_name(r, w->function);
    names_write_label(r->out, r->s->stacks, w->label);
    text_file(r, w->trace);
    if (w->cause || w->stack)
        out_printf(r->out, "\n%13smade runnable", "");
    if (w->cause == w->id)
        out_str(r->out, " by itself");
    else if (w->cause)
        out_printf(r->out, " by goroutine %" PRIu64, w->cause);
    if (w->stack) {
        out_str(r->out, " at ");
        text_stack(r, w->stack);
    }
    for (size_t k = 0; k < PROC_STATES; k++)
        all += (double)d->procs_ns[k];
    for (size_t k = 0; all > 0 && k < PROC_STATES; k++)
        out_printf(r->out, "%s %s %.1f%%",
                   k ? "," : "\n             meanwhile, procs:", proc_state_names[k],
                   100 * (double)d->procs_ns[k] / all);
    out_char(r->out, '\n');
}

static void text_scheduling(report *r)
{
    const histogram *h = &r->s->latency;
    static const double shares[] = {0.5, 0.9, 0.99, 0.999};
    static const char *const labels[] = {"median", "90%", "99%", "99.9%"};
    text_title(r, "scheduling latency");
    out_printf(r->out, ": %" PRIu64 " wait%s from runnable to running\n", h->count,
               plural(h->count));
    text_histogram(r, h);
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++) {
        out_printf(r->out, "  %-7s", labels[i]);
        text_duration(r, histogram_quantile(h, shares[i], 0));
        out_char(r->out, '\n');
    }
    text_latencies(r);
    text_causes(r);
    text_title(r, "the longest scheduling latencies\n");
    for (size_t i = 0; i < r->s->worst_count; i++)
        text_delay(r, &r->s->worst[i]);
}

/* ---- waits ------------------------------------------------------------------------------------
 */

static void text_reason_title(report *r, const char *title)
{
    if (r->by_file) {
        text_title(r, title);
        out_char(r->out, '\n');
        title = "";
    }
    out_printf(r->out, "%-*s", REASON_LABEL + 2, title);
    text_counted_title(r);
}

static void text_reason(report *r, uint32_t reason)
{
    size_t size;
    const char *name = name_or_unknown(r, reason, &size);
    text_label(r, name, names_cut(name, size, 60), REASON_LABEL);
}

static void text_reasons(report *r, uint8_t state, const char *title)
{
    size_t count;
    reason_figure **list = rows_reasons(r->s, state, &count, &r->failed);
    text_reason_title(r, title);
    for (size_t i = 0; list && i < count; i++) {
        if (state == GOTRACE_STATE_SYSCALL)
            text_label(r, "all", strlen("all"), REASON_LABEL);
        else
            text_reason(r, list[i]->reason);
        text_counted(r, &list[i]->values);
        out_char(r->out, '\n');
    }
    free(list);
}

void text_by_stack(report *r, uint8_t state, uint32_t only, const char *title)
{
    size_t count;
    stack_figure **list = rows_stacks(r->s, state, only, &count, &r->failed);
    text_title(r, title);
    count = text_most(r, list ? count : 0, r->stacks);
    out_printf(r->out, "%10s %11s %11s %11s\n", "count", "sum", "average", "max");
    stack_view *views = rows_stack_views(r->s, list, count, true, &r->failed);
    for (size_t i = 0; views && i < count; i++) {
        const stack_figure *f = list[i];
        uint32_t reason = r->s->reasons[f->reason].reason;
        out_printf(r->out, "%10" PRIu64, f->count);
        text_duration(r, f->sum);
        text_duration(r, f->sum / (int64_t)f->count);
        text_duration(r, f->max);
        out_str(r->out, "  ");
        if (state == GOTRACE_STATE_WAITING && only == 0) {
            text_name(r, reason);
            out_str(r->out, ": ");
        }
        names_write_frames(r->out, r->s->stacks, f->stack, views[i]);
        out_char(r->out, '\n');
    }
    free(views);
    free(list);
}

/* ---- garbage collection -----------------------------------------------------------------------
 */

void text_partial(report *r, const char *before, const partial_figure *f)
{
    if (f->count == 0)
        return;
    out_printf(r->out, "%s%" PRIu64 " unfinished", before, f->count);
    text_fact(r, f->count > 1 ? ", in all at least " : ", at least ", f->ns);
}

/* Assists count while they are on a proc. */
void text_gc_share(report *r, const char *before, const trace_figure *t)
{
    double all = 0, gc = (double)t->load.sums[PROC_GC], assist = (double)t->load.sums[PROC_ASSIST];
    for (size_t k = 0; k < PROC_STATES; k++)
        all += (double)t->load.sums[k];
    if (all > 0)
        out_printf(r->out, "%s%.1f%% of the procs (workers %.1f%%, assists %.1f%%)", before,
                   100 * (gc + assist) / all, 100 * gc / all, 100 * assist / all);
}

void text_heap(report *r, const char *before, const heap_figure *f)
{
    char max[32], last[32], goal[32];
    if (!f->known)
        return;
    human_bytes(max, sizeof max, f->max);
    human_bytes(last, sizeof last, f->last);
    human_bytes(goal, sizeof goal, f->goal);
    out_printf(r->out, "%sheap: at most %s, at the end %s", before, max, last);
    if (f->goal)
        out_printf(r->out, " of the goal %s", goal);
}

static void text_gc(report *r)
{
    for (uint32_t i = 0; i < r->s->trace_count; i++) {
        const trace_figure *t = &r->s->traces[i];
        text_title(r, "garbage collection");
        text_file(r, i);
        out_printf(r->out, ": %" PRIu64 " cycle%s", t->cycles, plural(t->cycles));
        text_fact(r, ", in all ", t->cycle_ns);
        text_fact(r, ", the longest ", t->longest_cycle);
        text_partial(r, "; ", &t->partial_cycles);
        text_gc_share(r, "\n  ", t);
        text_heap(r, "\n  ", &t->heap);
        text_fact(r, "\n  workers: dedicated ", t->worker_ns[WORKER_DEDICATED]);
        text_fact(r, ", fractional ", t->worker_ns[WORKER_FRACTIONAL]);
        text_fact(r, ", idle ", t->worker_ns[WORKER_IDLE]);
        text_fact(r, "\n  goroutines: assists ", t->assist_ns);
        text_fact(r, " (running ", t->load.sums[PROC_ASSIST]);
        text_fact(r, "), sweeping ", t->sweep_ns);
        out_char(r->out, '\n');
        if (!t->utilized[0])
            continue;
        out_str(r->out,
                "  mutator utilization: the least share of procs that is left to the program "
                "in a window of\n");
        for (size_t w = 0; w < UTILIZATION_WINDOWS; w++) {
            text_duration(r, utilization_widths[w]);
            out_printf(r->out, " %9.4f%% (%.4f%% if sweeping counts as GC), from",
                       100 * t->least[0][w], 100 * t->least[1][w]);
            text_duration(r, t->least_at[0][w]);
            out_char(r->out, '\n');
        }
    }
}

static void text_longest_stop(report *r, const stop *longest)
{
    text_fact(r, "\n    the longest: from ", longest->begin);
    text_file(r, longest->trace);
    if (longest->by)
        out_printf(r->out, ", by goroutine %" PRIu64, longest->by);
    if (!longest->last)
        return;
    text_fact(r, "; after ", longest->waited);
    out_printf(r->out, " goroutine %" PRIu64 " stopped last: ", longest->last);
    text_name(r, longest->last_function);
    if (longest->last_stack) {
        out_str(r->out, " at ");
        text_stack(r, longest->last_stack);
    }
}

static void text_stops(report *r)
{
    stop_figure **list = rows_stops(r->s, &r->failed);
    text_reason_title(r, "stop-the-world by reason");
    for (size_t i = 0; list && i < r->s->stops.count; i++) {
        text_reason(r, list[i]->reason);
        text_counted(r, &list[i]->values);
        if (list[i]->values.count > 0)
            text_longest_stop(r, &list[i]->longest);
        text_partial(r, "\n    ", &list[i]->partial);
        out_char(r->out, '\n');
    }
    free(list);
}

/* ---- tasks, regions, samples ------------------------------------------------------------------
 */

void text_spans(report *r, const figures *f, const char *title, const char *id, bool slowest)
{
    span_figure **list = rows_spans(r->s, f, &r->failed);
    text_title(r, title);
    size_t count = text_rows(r, list ? f->count : 0);
    out_printf(r->out, "%10s %10s", "ended", "not ended");
    text_values_title(r);
    for (size_t i = 0; i < count; i++) {
        const span_figure *span = list[i];
        out_printf(r->out, "%10" PRIu64 " %10" PRIu64, span->values.count, span->unfinished);
        text_values(r, &span->values, 0);
        out_str(r->out, "  ");
        text_name(r, span->name);
        out_char(r->out, '\n');
        for (size_t k = 0; slowest && k < span->slow_count; k++) {
            out_str(r->out, "    slowest:");
            text_duration(r, span->slowest[k].ns);
            out_str(r->out, " from");
            text_duration(r, span->slowest[k].begin);
            out_printf(r->out, ", %s %" PRIu64, id, span->slowest[k].id);
            text_file(r, span->slowest[k].trace);
            out_char(r->out, '\n');
        }
    }
    free(list);
}

void text_samples(report *r)
{
    size_t count;
    sampled *list = rows_sampled(r->s, &count, &r->failed);
    text_title(r, "CPU samples");
    out_printf(r->out, ": %" PRIu64, r->s->sample_count);
    count = text_rows(r, list ? count : 0);
    out_printf(r->out, "%10s %8s %10s %8s\n", "self", "", "total", "");
    for (size_t i = 0; i < count; i++) {
        double all = (double)r->s->sample_count;
        out_printf(r->out, "%10" PRIu64 " %7.2f%% %10" PRIu64 " %7.2f%%  ", list[i].self,
                   100 * (double)list[i].self / all, list[i].total,
                   100 * (double)list[i].total / all);
        text_name(r, list[i].function);
        out_char(r->out, '\n');
    }
    free(list);
}

/* ---- the report -------------------------------------------------------------------------------
 */

bool report_has(const report *r, unsigned section)
{
    const statistics *s = r->s;
    size_t waits = 0;
    for (size_t i = 0; i < s->reason_count; i++)
        waits += (section == REPORT_SYSCALLS) == (s->reasons[i].state == GOTRACE_STATE_SYSCALL);
    switch (section) {
    case REPORT_GOROUTINES: return s->functions.count > 0;
    case REPORT_SCHEDULING: return s->latency.count > 0;
    case REPORT_BLOCKING:
    case REPORT_SYSCALLS: return waits > 0;
    case REPORT_NETWORK: return rows_network(r->s) != 0;
    case REPORT_STOPS: return s->stops.count > 0;
    case REPORT_TASKS: return s->tasks.count > 0;
    case REPORT_REGIONS: return s->regions.count > 0;
    case REPORT_SAMPLES: return s->sample_count > 0;
    default: return s->trace_count > 0;
    }
}

static void text_section(report *r, unsigned section)
{
    switch (section) {
    case REPORT_OVERVIEW: text_overview(r); break;
    case REPORT_GOROUTINES: text_functions(r); break;
    case REPORT_SCHEDULING: text_scheduling(r); break;
    case REPORT_BLOCKING:
        text_reasons(r, GOTRACE_STATE_WAITING, "blocking by reason");
        text_by_stack(r, GOTRACE_STATE_WAITING, 0, "blocking by stack");
        break;
    case REPORT_SYSCALLS:
        text_reasons(r, GOTRACE_STATE_SYSCALL, "system calls");
        text_by_stack(r, GOTRACE_STATE_SYSCALL, 0, "system calls by stack");
        break;
    case REPORT_NETWORK:
        text_by_stack(r, GOTRACE_STATE_WAITING, rows_network(r->s), "network by stack");
        break;
    case REPORT_GC: text_gc(r); break;
    case REPORT_STOPS: text_stops(r); break;
    case REPORT_TASKS: text_spans(r, &r->s->tasks, "tasks", "task", true); break;
    case REPORT_REGIONS: text_spans(r, &r->s->regions, "regions", "goroutine", true); break;
    case REPORT_SAMPLES: text_samples(r); break;
    default: break; /* there are no others */
    }
}

const char *report_section(size_t n)
{
    static const char *const names[] = {
#define REPORT_NAME(name, text) #text,
        REPORT_SECTIONS(REPORT_NAME)
#undef REPORT_NAME
    };
    return n < REPORT_COUNT ? names[n] : NULL;
}

void report_text(report *r)
{
    bool first = true;
    for (unsigned i = 0; i < REPORT_COUNT; i++) {
        if (!(r->sections >> i & 1) || !report_has(r, i))
            continue;
        if (!first)
            out_char(r->out, '\n');
        first = false;
        text_section(r, i);
    }
}
