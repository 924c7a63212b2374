/* stat.c - where the time of a range goes, with the sums that `gotrace stat` shows first. */
#include <inttypes.h>
#include <stdlib.h>

#include "formats/analyse/figure_rows.h"
#include "formats/view/api/job.h"

static void put_overview(out *o, const trace_figure *t)
{
    out_printf(o,
               "\"duration\":%" PRId64 ",\"events\":%" PRIu64 ",\"goroutine_count\":%" PRIu64
               ",\"procs\":{",
               t->duration, t->events, t->goroutines);
    for (size_t k = 0; k < PROC_STATES; k++)
        out_printf(o, "%s\"%s\":%" PRId64, k ? "," : "", proc_state_names[k], t->load.sums[k]);
    out_char(o, '}');
}

static void put_latency(out *o, const histogram *h)
{
    out_printf(o, ",\"latency\":{\"count\":%" PRIu64, h->count);
    for (const value_column *c = value_columns; c->member; c++)
        out_printf(o, ",\"%s\":%" PRId64, c->member, c->value(h, 0));
    out_char(o, '}');
}

static void put_function(out *o, const statistics *s, const function_figure *f)
{
    out_str(o, "{\"name\":");
    put_name(o, s->stacks, f->name);
    out_printf(o, ",\"ended\":%" PRIu64, f->ended);
    for (unsigned n = 0; n < FUNCTION_ORDER_COUNT; n++)
        out_printf(o, ",\"%s\":%" PRId64, function_order_name(n),
                   function_measure(s, f, (function_order)n));
    out_char(o, '}');
}

static void put_statistics(job *j, const statistics *s)
{
    out *o = j->out;
    size_t count;
    function_figure **list = rows_functions(s, FUNCTIONS_BY_COST, &count, &j->failed);
    out_str(o, "{\"ready\":true,");
    put_overview(o, &s->traces[0]);
    put_latency(o, &s->latency);
    out_printf(o, ",\"total\":%zu,\"functions\":[", list ? count : 0);
    for (size_t n = 0; list && n < count && n < j->asked->most; n++) {
        out_str(o, n ? "," : "");
        put_function(o, s, list[n]);
    }
    out_str(o, "]}");
    free(list);
}

static void run_stat(job *j)
{
    statistics *s = statistics_new(NULL, STACKS_BY_LINE);
    if (s)
        statistics_add(s, j->reader, j->asked->of->file, j->threads, &j->select);
    if (s && !s->failed)
        put_statistics(j, s);
    else
        j->failed = true;
    statistics_free(s);
}

void answer_stat(answer *q)
{
    job_question asked = {.run = run_stat, .most = 100};
    job_read_times(q, &asked);
    arguments_number(&q->arguments, "limit", 0, 1000, &asked.most);
    if (answer_can(q))
        job_answer(q, &asked);
}
