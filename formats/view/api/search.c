/* search.c - the moments that satisfy an expression of `gotrace find`. */
#include <inttypes.h>
#include <stdio.h>

#include "formats/analyse/moments.h"
#include "formats/view/api/job.h"

typedef struct searching {
    job *job;
    uint64_t count;
} searching;

static void put_member(out *o, const char *member, const char *text, size_t size)
{
    const size_t shown = name_shown(text, size);
    out_printf(o, ",\"%s\":\"", member);
    out_json_text(o, text, shown);
    out_str(o, shown < size ? "...\"" : "\"");
}

static void put_named(out *o, const char *member, const stacks *names, uint32_t name)
{
    size_t size;
    const char *text = stacks_text(names, name, &size);
    put_member(o, member, text, size);
}

static void put_moment(out *o, const stacks *names, const moment *m)
{
    out_printf(o, "{\"what\":\"%s\",\"begin\":%" PRId64 ",\"end\":%" PRId64 ",\"ns\":%" PRId64,
               moment_name((moment_kind)m->kind), m->begin, m->end, moment_duration(m));
    out_printf(o, ",\"begun\":%s,\"ended\":%s,\"goroutine\":", m->begun ? "true" : "false",
               m->ended ? "true" : "false");
    if (m->goroutine)
        put_id(o, m->goroutine);
    else
        out_str(o, "null");
    put_named(o, "name", names, m->function);
    if (m->label)
        put_named(o, "label", names, m->label);
    put_named(o, "function", names, m->stack ? stacks_frame_at(names, m->stack, 0)->function : 0);
    if (m->kind == MOMENT_LOG) {
        size_t size;
        const char *text = moment_message(names, m, &size);
        put_member(o, "text", text, size);
    } else {
        put_named(o, "text", names, m->name);
    }
    if (m->kind == MOMENT_TASK) {
        out_str(o, ",\"task\":");
        put_id(o, m->id);
    }
    if (MOMENT_BIT(m->kind) & MOMENT_LEVELS) {
        out_str(o, ",\"value\":");
        put_id(o, m->value);
    }
    out_char(o, '}');
}

static bool add_moment(void *ctx, const stacks *names, const moment *m)
{
    searching *s = ctx;
    if (s->count++ >= s->job->asked->most)
        return true;
    if (s->count > 1)
        out_char(s->job->out, ',');
    put_moment(s->job->out, names, m);
    return true;
}

static void report_hard(job *j, const find_job *f)
{
    snprintf(j->wrong, sizeof j->wrong,
             "where: column %zu: matching the regular expression with '%s' takes too many steps or "
             "too much memory; use a simpler one",
             expression_column(j->asked->where, f->hard_at), f->text);
}

static void run_search(job *j)
{
    searching s = {.job = j};
    expression what;
    expression_error error;
    /* A pattern is matched by one thread: this one. */
    if (expression_parse(&what, j->asked->where, &error)) {
        find_job f = {.what = &what,
                      .found = add_moment,
                      .ctx = &s,
                      .range = job_range(j),
                      .threads = j->threads,
                      .stop = j->select.stop};
        out_str(j->out, "{\"ready\":true,\"moments\":[");
        moments_find(&f, j->reader);
        out_printf(j->out, "],\"total\":%" PRIu64 "}", s.count);
        j->failed = f.failed || f.error;
        if (f.too_hard)
            report_hard(j, &f);
    } else {
        j->failed = true; /* it was parsed before */
    }
    expression_free(&what);
}

/* Sets what is wrong with the expression, if it is. */
static void check_expression(answer *q, const char *text)
{
    expression what;
    expression_error error;
    if (q->arguments.wrong)
        return;
    if (!expression_parse(&what, text, &error)) {
        q->failed = !error.message[0];
        arguments_refuse(&q->arguments, "where: column %zu: %s", expression_column(text, error.at),
                         error.message);
    }
    expression_free(&what);
}

void answer_search(answer *q)
{
    arguments *a = &q->arguments;
    job_question asked = {.run = run_search, .most = 200};
    if (arguments_need(a, "where"))
        arguments_text(a, "where", asked.where, sizeof asked.where);
    job_read_times(q, &asked);
    arguments_number(a, "limit", 0, 1000, &asked.most);
    check_expression(q, asked.where);
    if (answer_can(q))
        job_answer(q, &asked);
}
