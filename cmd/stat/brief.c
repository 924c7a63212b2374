/* brief.c - the first screen: what matters most of each section. */
#include <inttypes.h>
#include <stdlib.h>

#include "cmd/stat/text.h"
#include "formats/common/plural.h"

static void brief_traces(report *r)
{
    for (size_t i = 0; i < r->s->trace_count; i++) {
        const trace_figure *t = &r->s->traces[i];
        text_trace(r, t);
        /* Of many files, what procs do would fill more than a screen. */
        if (r->whole && r->s->trace_count == 1)
            text_load(r, t);
        if (r->whole)
            text_silences(r, &t->silences);
    }
}

/* A row for each start function, with sums. */
static void brief_functions(report *r)
{
    static const struct {
        const char *label;
        function_order measure;
    } columns[] = {
        {"cost", FUNCTIONS_BY_COST},        {"execution", FUNCTIONS_BY_EXEC},
        {"scheduling", FUNCTIONS_BY_SCHED}, {"sync", FUNCTIONS_BY_SYNC},
        {"blocking", FUNCTIONS_BY_BLOCK},   {"syscalls", FUNCTIONS_BY_SYSCALL},
    };
    size_t count;
    function_figure **list = rows_functions(r->s, r->order, &count, &r->failed);
    text_title(r, "goroutines by start function");
    count = text_most(r, count, r->top);
    out_printf(r->out, "%10s %10s %10s", "goroutines", "ended", "alive");
    for (size_t k = 0; k < sizeof columns / sizeof *columns; k++)
        out_printf(r->out, " %11s", columns[k].label);
    out_char(r->out, '\n');
    for (size_t i = 0; list && i < count; i++) {
        const function_figure *f = list[i];
        out_printf(r->out, "%10" PRIu64 " %10" PRIu64 " %10" PRIu64, f->count, f->ended,
                   f->count - f->ended);
        for (size_t k = 0; k < sizeof columns / sizeof *columns; k++)
            text_duration(r, function_measure(r->s, f, columns[k].measure));
        out_str(r->out, "  ");
        text_name(r, f->name);
        out_char(r->out, '\n');
    }
    free(list);
}

/* "scheduling latency: 12 waits, in all ..." */
static void brief_values(report *r, const char *title, const char *unit, const histogram *h)
{
    text_title(r, title);
    out_printf(r->out, ": %" PRIu64 " %s%s", h->count, unit, plural(h->count));
    text_fact(r, ", in all ", h->sum);
    text_fact(r, ", median ", histogram_quantile(h, 0.5, 0));
    text_fact(r, ", 99% ", histogram_quantile(h, 0.99, 0));
    text_fact(r, ", max ", h->max);
    out_char(r->out, '\n');
}

static void brief_syscalls(report *r)
{
    size_t count;
    reason_figure **list = rows_reasons(r->s, GOTRACE_STATE_SYSCALL, &count, &r->failed);
    for (size_t i = 0; list && i < count; i++)
        brief_values(r, "system calls", "call", &list[i]->values);
    free(list);
}

static void brief_gc(report *r)
{
    for (uint32_t i = 0; i < r->s->trace_count; i++) {
        const trace_figure *t = &r->s->traces[i];
        text_title(r, "garbage collection");
        text_file(r, i);
        out_printf(r->out, ": %" PRIu64 " cycle%s", t->cycles, plural(t->cycles));
        text_fact(r, ", in all ", t->cycle_ns);
        text_partial(r, "; ", &t->partial_cycles);
        text_gc_share(r, "; ", t);
        text_heap(r, "; ", &t->heap);
        out_char(r->out, '\n');
    }
}

/* All stops, and the reason of the longest one. */
static void brief_stops(report *r)
{
    uint64_t number = 0;
    int64_t sum = 0;
    const stop_figure *longest = NULL;
    for (size_t i = 0; i < r->s->stops.count; i++) {
        const stop_figure *f = r->s->stops.items[i];
        number += f->values.count;
        sum = sum_of_times(sum, f->values.sum);
        if (f->values.count > 0 && (!longest || f->values.max > longest->values.max))
            longest = f;
    }
    text_title(r, "stop-the-world");
    out_printf(r->out, ": %" PRIu64 " stop%s", number, plural(number));
    if (longest) {
        text_fact(r, ", in all ", sum);
        text_fact(r, ", the longest ", longest->values.max);
        text_fact(r, " from ", longest->longest.begin);
        out_str(r->out, ": ");
        text_name(r, longest->reason);
    }
    out_char(r->out, '\n');
}

/* The figures that are a line, and then the tables; the others are in --full alone. */
static const struct {
    unsigned section;
    bool is_table;
} shown[] = {
    {REPORT_OVERVIEW, false}, {REPORT_SCHEDULING, false}, {REPORT_SYSCALLS, false},
    {REPORT_GC, false},       {REPORT_STOPS, false},      {REPORT_GOROUTINES, true},
    {REPORT_BLOCKING, true},  {REPORT_TASKS, true},       {REPORT_REGIONS, true},
    {REPORT_SAMPLES, true},
};

static void brief_section(report *r, unsigned section)
{
    switch (section) {
    case REPORT_OVERVIEW: brief_traces(r); break;
    case REPORT_GOROUTINES: brief_functions(r); break;
    case REPORT_SCHEDULING: brief_values(r, "scheduling latency", "wait", &r->s->latency); break;
    case REPORT_BLOCKING: text_by_stack(r, GOTRACE_STATE_WAITING, 0, "blocking by stack"); break;
    case REPORT_SYSCALLS: brief_syscalls(r); break;
    case REPORT_GC: brief_gc(r); break;
    case REPORT_STOPS: brief_stops(r); break;
    case REPORT_TASKS: text_spans(r, &r->s->tasks, "tasks", "task", false); break;
    case REPORT_REGIONS: text_spans(r, &r->s->regions, "regions", "goroutine", false); break;
    case REPORT_SAMPLES: text_samples(r); break;
    default: break; /* there are no others */
    }
}

void report_brief(report *r)
{
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++) {
        const unsigned section = shown[i].section;
        if (!(r->sections >> section & 1) || !report_has(r, section))
            continue;
        if (shown[i].is_table)
            out_char(r->out, '\n');
        brief_section(r, section);
    }
    if (r->s->trace_count > 0)
        out_str(r->out, "\nmore: --full, or --only with some of the sections\n");
}
