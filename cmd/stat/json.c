/* json.c - statistics as JSON Lines. Times are nanoseconds. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/names.h"
#include "cmd/stat/report.h"

static void json_name(report *r, uint32_t name)
{
    names_write_json(r->out, r->s->stacks, name);
}

/* "sum":..,"min":.. of the values and that many zeros. */
static void json_values(report *r, const histogram *h, uint64_t zeros)
{
    for (const value_column *c = value_columns; c->member; c++)
        out_printf(r->out, "%s\"%s\":%" PRId64, c == value_columns ? "" : ",", c->member,
                   c->value(h, zeros));
}

static void json_stack(report *r, uint32_t stack)
{
    names_write_json_stack(r->out, r->s->stacks, stack);
}

static void json_file(report *r, uint32_t trace)
{
    const char *name = r->s->traces[trace].name;
    out_str(r->out, ",\"file\":");
    out_json_string(r->out, name, strlen(name));
}

/* Begins an object of one trace. */
static void json_of_trace(report *r, const char *kind, uint32_t trace)
{
    out_printf(r->out, "{\"kind\":\"%s\"", kind);
    json_file(r, trace);
}

/* Begins an object of all traces of the report. */
static void json_of_all(report *r, const char *kind)
{
    if (r->by_file)
        json_of_trace(r, kind, 0);
    else
        out_printf(r->out, "{\"kind\":\"%s\"", kind);
}

/* How long procs are in each state. */
static void json_procs(report *r, const int64_t *ns)
{
    out_str(r->out, ",\"procs_ns\":{");
    for (size_t k = 0; k < PROC_STATES; k++)
        out_printf(r->out, "%s\"%s\":%" PRId64, k ? "," : "", proc_state_names[k], ns[k]);
    out_char(r->out, '}');
}

/* What the procs do: in total, and in spans of time. */
static void json_load(report *r, const trace_figure *t)
{
    json_procs(r, t->load.sums);
    out_printf(r->out, ",\"span_ns\":%" PRId64 ",\"spans\":[", (int64_t)1 << t->load.shift);
    for (size_t n = 0; n < 2 * LOAD_SPANS && (int64_t)n << t->load.shift < t->duration; n++) {
        out_str(r->out, n ? ",[" : "[");
        for (size_t k = 0; k < PROC_STATES; k++)
            out_printf(r->out, "%s%" PRId64, k ? "," : "", t->load.spans[n][k]);
        out_char(r->out, ']');
    }
    out_char(r->out, ']');
}

static void json_silences(report *r, const silence_figure *f)
{
    out_printf(r->out,
               ",\"silences\":{\"longer_than_ns\":%d,\"count\":%" PRIu64 ",\"sum\":%" PRId64
               ",\"max\":%" PRId64 ",\"max_begin\":%" PRId64 "}",
               SILENCE_NS, f->count, f->sum, f->max, f->max_begin);
}

/* ,"heap":... of a trace; null: its size is not known. */
static void json_heap(report *r, const heap_figure *f)
{
    out_str(r->out, ",\"heap\":");
    if (!f->known) {
        out_str(r->out, "null");
        return;
    }
    out_str(r->out, "{\"max\":");
    out_json_u64(r->out, f->max);
    out_str(r->out, ",\"last\":");
    out_json_u64(r->out, f->last);
    out_str(r->out, ",\"goal\":");
    if (f->goal)
        out_json_u64(r->out, f->goal);
    else
        out_str(r->out, "null");
    out_char(r->out, '}');
}

static void json_overview(report *r)
{
    for (uint32_t i = 0; i < r->s->trace_count; i++) {
        const trace_figure *t = &r->s->traces[i];
        json_of_trace(r, "trace", i);
        out_printf(r->out,
                   ",\"version\":\"1.%d\",\"duration_ns\":%" PRId64 ",\"events\":%" PRIu64
                   ",\"goroutines\":%" PRIu64,
                   t->version, t->duration, t->events, t->goroutines);
        if (r->whole) {
            json_load(r, t);
            json_silences(r, &t->silences);
        }
        out_str(r->out, "}\n");
        for (size_t p = 0; r->whole && p < t->proc_count; p++) {
            json_of_trace(r, "proc", i);
            out_str(r->out, ",\"proc\":");
            out_json_u64(r->out, t->procs[p].id);
            json_procs(r, t->procs[p].ns);
            out_str(r->out, "}\n");
        }
    }
}

/* The reasons or the ranges of a function. */
static void json_times(report *r, const function_figure *f, uint8_t kind)
{
    bool first = true;
    out_printf(r->out, ",\"%s\":{",
               time_columns[kind == FIGURE_RANGE ? TIME_RANGE : TIME_BLOCK].member);
    for (size_t i = 0; i < f->time_count; i++) {
        const value_set *p = &f->times[i];
        if (p->kind != kind)
            continue;
        if (!first)
            out_char(r->out, ',');
        first = false;
        json_name(r, p->name);
        out_str(r->out, ":{");
        const histogram values = value_set_histogram(p);
        json_values(r, &values, f->count - values.count);
        out_char(r->out, '}');
    }
    out_char(r->out, '}');
}

static void json_functions(report *r)
{
    size_t count;
    function_figure **list = rows_functions(r->s, r->order, &count, &r->failed);
    for (size_t i = 0; list && i < count; i++) {
        const function_figure *f = list[i];
        json_of_all(r, "function");
        out_str(r->out, ",\"name\":");
        json_name(r, f->name);
        out_printf(r->out,
                   ",\"goroutines\":%" PRIu64 ",\"created\":%" PRIu64 ",\"ended\":%" PRIu64
                   ",\"alive\":%" PRIu64 ",\"cost_ns\":%" PRId64,
                   f->count, f->created, f->ended, f->count - f->ended,
                   function_measure(r->s, f, FUNCTIONS_BY_COST));
        for (uint32_t k = 0; k < TIME_COUNT; k++) {
            const histogram values = figure_time(f, k);
            if (!time_columns[k].label)
                continue;
            out_printf(r->out, ",\"%s\":{", time_columns[k].member);
            json_values(r, &values, f->count - values.count);
            out_char(r->out, '}');
        }
        json_times(r, f, FIGURE_BLOCK);
        json_times(r, f, FIGURE_RANGE);
        out_str(r->out, "}\n");
    }
    free(list);
}

static void json_slow(report *r, const slow *s)
{
    json_file(r, s->trace);
    out_printf(r->out, ",\"begin\":%" PRId64 ",\"ns\":%" PRId64, s->begin, s->ns);
}

/* "count":.., the values and their histogram, in octaves. */
static void json_latency(report *r, const histogram *h)
{
    bool first = true;
    out_printf(r->out, "\"count\":%" PRIu64 ",", h->count);
    json_values(r, h, 0);
    out_str(r->out, ",\"histogram\":[");
    for (unsigned bit = 0; bit < 63; bit++) {
        int64_t from = bit ? (int64_t)1 << bit : 0, until = (int64_t)((uint64_t)1 << (bit + 1));
        uint64_t count = histogram_between(h, from, bit == 62 ? INT64_MAX : until);
        if (count == 0)
            continue;
        out_printf(r->out, "%s{\"from\":%" PRId64 ",\"count\":%" PRIu64 "}", first ? "" : ",", from,
                   count);
        first = false;
    }
    out_str(r->out, "]}\n");
}

static void json_delay(report *r, const delay *d)
{
    out_str(r->out, "{\"kind\":\"delay\",\"goroutine\":");
    out_json_u64(r->out, d->slow.id);
    out_str(r->out, ",\"name\":");
    json_name(r, d->slow.function);
    names_write_json_label(r->out, r->s->stacks, d->slow.label);
    json_slow(r, &d->slow);
    out_str(r->out, ",\"by\":");
    out_json_u64(r->out, d->slow.cause);
    json_procs(r, d->procs_ns);
    json_stack(r, d->slow.stack);
    out_str(r->out, "}\n");
}

static void json_scheduling(report *r)
{
    size_t count;
    if (r->s->latency.count == 0)
        return;
    json_of_all(r, "latency");
    out_char(r->out, ',');
    json_latency(r, &r->s->latency);
    function_figure **functions = rows_latencies(r->s, &count, &r->failed);
    for (size_t i = 0; functions && i < count; i++) {
        const histogram values = value_set_histogram(&functions[i]->latency);
        json_of_all(r, "latency-function");
        out_str(r->out, ",\"name\":");
        json_name(r, functions[i]->name);
        out_char(r->out, ',');
        json_latency(r, &values);
    }
    free(functions);
    caused *causes = rows_causes(r->s, &count, &r->failed);
    for (size_t i = 0; causes && i < count; i++) {
        json_of_all(r, "latency-cause");
        out_printf(r->out, ",\"cause\":\"%s\",\"reason\":", cause_names[causes[i].cause]);
        json_name(r, causes[i].figure->reason);
        out_char(r->out, ',');
        json_latency(r, &causes[i].figure->values);
    }
    free(causes);
    for (size_t i = 0; i < r->s->worst_count; i++)
        json_delay(r, &r->s->worst[i]);
}

/* kind: of the rows of reasons (NULL: none) and of stacks. */
static void json_waits(report *r, uint8_t state, uint32_t only, const char *kind,
                       const char *stack_kind)
{
    size_t count;
    reason_figure **reasons = rows_reasons(r->s, state, &count, &r->failed);
    for (size_t i = 0; kind && reasons && i < count; i++) {
        json_of_all(r, kind);
        out_str(r->out, ",\"reason\":");
        json_name(r, reasons[i]->reason);
        out_printf(r->out, ",\"count\":%" PRIu64 ",", reasons[i]->values.count);
        json_values(r, &reasons[i]->values, 0);
        out_str(r->out, "}\n");
    }
    free(reasons);
    stack_figure **list = rows_stacks(r->s, state, only, &count, &r->failed);
    for (size_t i = 0; list && i < count; i++) {
        const stack_figure *f = list[i];
        json_of_all(r, stack_kind);
        out_str(r->out, ",\"reason\":");
        json_name(r, r->s->reasons[f->reason].reason);
        out_printf(r->out, ",\"count\":%" PRIu64 ",\"sum\":%" PRId64 ",\"max\":%" PRId64, f->count,
                   f->sum, f->max);
        json_stack(r, f->stack);
        out_str(r->out, "}\n");
    }
    free(list);
}

static void json_utilization(report *r, uint32_t trace, unsigned sweep, size_t window)
{
    const trace_figure *t = &r->s->traces[trace];
    json_of_trace(r, "mmu", trace);
    out_printf(r->out,
               ",\"sweep\":%s,\"window_ns\":%" PRId64 ",\"utilization\":%.9f,\"begin\":%" PRId64
               ",\"go_utilization\":%.9f}\n",
               sweep ? "true" : "false", utilization_widths[window], t->least[sweep][window],
               t->least_at[sweep][window], t->least[sweep | UTILIZATION_AS_GO][window]);
}

static void json_gc(report *r)
{
    for (uint32_t i = 0; i < r->s->trace_count; i++) {
        const trace_figure *t = &r->s->traces[i];
        json_of_trace(r, "gc", i);
        out_printf(
            r->out,
            ",\"cycles\":%" PRIu64 ",\"sum\":%" PRId64 ",\"max\":%" PRId64
            ",\"unfinished\":%" PRIu64 ",\"unfinished_ns\":%" PRId64 ",\"dedicated_ns\":%" PRId64
            ",\"fractional_ns\":%" PRId64 ",\"idle_ns\":%" PRId64 ",\"assist_ns\":%" PRId64
            ",\"assist_exec_ns\":%" PRId64 ",\"sweep_ns\":%" PRId64,
            t->cycles, t->cycle_ns, t->longest_cycle, t->partial_cycles.count, t->partial_cycles.ns,
            t->worker_ns[WORKER_DEDICATED], t->worker_ns[WORKER_FRACTIONAL],
            t->worker_ns[WORKER_IDLE], t->assist_ns, t->load.sums[PROC_ASSIST], t->sweep_ns);
        json_heap(r, &t->heap);
        out_str(r->out, "}\n");
        for (unsigned sweep = 0; sweep <= UTILIZATION_SWEEP; sweep++)
            for (size_t w = 0; t->utilized[sweep] && w < UTILIZATION_WINDOWS; w++)
                json_utilization(r, i, sweep, w);
    }
}

static void json_longest_stop(report *r, const stop *longest)
{
    out_str(r->out, "{\"kind\":\"stop\"");
    json_file(r, longest->trace);
    out_printf(r->out, ",\"begin\":%" PRId64 ",\"ns\":%" PRId64 ",\"by\":", longest->begin,
               longest->ns);
    out_json_u64(r->out, longest->by);
    if (longest->last) {
        out_printf(r->out, ",\"waited\":%" PRId64 ",\"for\":", longest->waited);
        out_json_u64(r->out, longest->last);
        out_str(r->out, ",\"name\":");
        json_name(r, longest->last_function);
        json_stack(r, longest->last_stack);
    }
    out_char(r->out, '}');
}

static void json_stops(report *r)
{
    stop_figure **list = rows_stops(r->s, &r->failed);
    for (size_t i = 0; list && i < r->s->stops.count; i++) {
        const stop_figure *f = list[i];
        json_of_all(r, "stop");
        out_str(r->out, ",\"reason\":");
        json_name(r, f->reason);
        out_printf(r->out, ",\"count\":%" PRIu64 ",", f->values.count);
        json_values(r, &f->values, 0);
        out_printf(r->out, ",\"unfinished\":%" PRIu64 ",\"unfinished_ns\":%" PRId64 ",\"longest\":",
                   f->partial.count, f->partial.ns);
        if (f->values.count > 0)
            json_longest_stop(r, &f->longest);
        else
            out_str(r->out, "null");
        out_str(r->out, "}\n");
    }
    free(list);
}

static void json_spans(report *r, const figures *f, const char *kind, const char *id)
{
    span_figure **list = rows_spans(r->s, f, &r->failed);
    for (size_t i = 0; list && i < f->count; i++) {
        const span_figure *span = list[i];
        json_of_all(r, kind);
        out_str(r->out, ",\"name\":");
        json_name(r, span->name);
        out_printf(r->out,
                   ",\"begun\":%" PRIu64 ",\"unfinished\":%" PRIu64 ",\"count\":%" PRIu64 ",",
                   span->begun, span->unfinished, span->values.count);
        json_values(r, &span->values, 0);
        out_str(r->out, ",\"slowest\":[");
        for (size_t k = 0; k < span->slow_count; k++) {
            out_printf(r->out, "%s{\"%s\":", k ? "," : "", id);
            out_json_u64(r->out, span->slowest[k].id);
            json_slow(r, &span->slowest[k]);
            out_char(r->out, '}');
        }
        out_str(r->out, "]}\n");
    }
    free(list);
}

static void json_samples(report *r)
{
    size_t count;
    sampled *list = rows_sampled(r->s, &count, &r->failed);
    for (size_t i = 0; list && i < count; i++) {
        json_of_all(r, "sample");
        out_str(r->out, ",\"func\":");
        json_name(r, list[i].function);
        out_printf(r->out, ",\"self\":%" PRIu64 ",\"total\":%" PRIu64 "}\n", list[i].self,
                   list[i].total);
    }
    free(list);
}

static void json_section(report *r, unsigned section)
{
    uint32_t network = rows_network(r->s);
    switch (section) {
    case REPORT_OVERVIEW: json_overview(r); break;
    case REPORT_GOROUTINES: json_functions(r); break;
    case REPORT_SCHEDULING: json_scheduling(r); break;
    case REPORT_BLOCKING:
        json_waits(r, GOTRACE_STATE_WAITING, 0, "blocking", "blocking-stack");
        break;
    case REPORT_SYSCALLS:
        json_waits(r, GOTRACE_STATE_SYSCALL, 0, "syscall", "syscall-stack");
        break;
    case REPORT_NETWORK:
        if (network)
            json_waits(r, GOTRACE_STATE_WAITING, network, NULL, "network-stack");
        break;
    case REPORT_GC: json_gc(r); break;
    case REPORT_STOPS: json_stops(r); break;
    case REPORT_TASKS: json_spans(r, &r->s->tasks, "tasks", "task"); break;
    case REPORT_REGIONS: json_spans(r, &r->s->regions, "regions", "goroutine"); break;
    case REPORT_SAMPLES: json_samples(r); break;
    default: break; /* there are no others */
    }
}

void report_json(report *r)
{
    for (unsigned i = 0; i < REPORT_COUNT; i++)
        if (r->sections >> i & 1)
            json_section(r, i);
}
