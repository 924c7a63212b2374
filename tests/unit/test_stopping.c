/* test_stopping.c - the problem callback can stop the reader at each problem. */
#include <string.h>

#include "cmd/mutate/mutate.h"
#include "support.h"

enum { MOST_BYTES = 12000, MOST_PROBLEMS = 24, SEEDS = 24 };

/* The problems reported, up to the one at which reading stops. */
typedef struct listener {
    size_t stop_at; /* number of problems to ignore */
    size_t given;
    gotrace_error problems[MOST_PROBLEMS];
} listener;

static bool listen_to(void *ctx, const gotrace_error *problem)
{
    listener *l = ctx;
    if (l->given < MOST_PROBLEMS)
        l->problems[l->given] = *problem;
    return l->given++ != l->stop_at;
}

/* Read with or without events; returns the final status, and *error. */
static gotrace_status read_all(const mutate_variant *v, bool events, listener *l,
                               gotrace_error *error)
{
    gotrace_config config = {0};
    gotrace_source *source;
    gotrace_reader *reader;
    const gotrace_event *e;
    config.on_problem = listen_to;
    config.callback_ctx = l;
    ck_assert_int_eq(gotrace_source_memory(v->bytes, v->size, NULL, &source, NULL), GOTRACE_OK);
    gotrace_status status = gotrace_reader_open(source, &config, &reader, error);
    if (status == GOTRACE_OK) {
        if (!events)
            status = gotrace_reader_check(reader);
        while (status == GOTRACE_OK || status == GOTRACE_EVENT)
            status = gotrace_reader_next(reader, &e);
        *error = *gotrace_reader_error(reader);
        ck_assert_int_eq(gotrace_reader_next(reader, &e), status);
        gotrace_reader_close(reader);
    }
    gotrace_source_close(source);
    return status;
}

/* Stop at each problem in turn: the problems before are the same, and none follows. */
static size_t stop_everywhere(const mutate_variant *v, bool events, uint64_t seen[])
{
    listener all = {.stop_at = SIZE_MAX};
    gotrace_error error = {0};
    if (read_all(v, events, &all, &error) != GOTRACE_END)
        return 0; /* the trace cannot be opened, and the callback is not called */
    size_t count = all.given < MOST_PROBLEMS ? all.given : MOST_PROBLEMS;
    for (size_t at = 0; at < count; at++) {
        listener some = {.stop_at = at};
        ck_assert_int_eq(read_all(v, events, &some, &error), GOTRACE_ERROR);
        ck_assert_uint_eq(some.given, at + 1);
        for (size_t i = 0; i <= at; i++) {
            ck_assert_int_eq(some.problems[i].rule, all.problems[i].rule);
            ck_assert_uint_eq(some.problems[i].offset, all.problems[i].offset);
            ck_assert_str_eq(some.problems[i].message, all.problems[i].message);
        }
        ck_assert_msg(error.rule == all.problems[at].rule, "%d: %s; %s", (int)at, error.message,
                      all.problems[at].message);
        ck_assert_str_eq(error.message, all.problems[at].message);
        seen[all.problems[at].rule]++;
    }
    return count;
}

START_TEST(at_any_problem)
{
    uint64_t seen[GOTRACE_RULE_LIMIT] = {0};
    trace_file *files = traces_load(MOST_BYTES);
    size_t stopped = 0;
    for (trace_file *f = files; f->path[0]; f++) {
        mutate *m;
        gotrace_error error = {0};
        if (!strstr(f->path, "testdata/traces"))
            continue;
        ck_assert_int_eq(mutate_new(f->content.bytes, f->content.size, NULL, &m, &error),
                         GOTRACE_OK);
        for (uint64_t seed = 0; seed < SEEDS; seed++) {
            mutate_job job = {.mode = MUTATE_ANY, .seed = seed};
            mutate_variant v;
            if (mutate_make(m, &job, &v, &error) == GOTRACE_OK)
                stopped += stop_everywhere(&v, _i, seen);
        }
        mutate_free(m);
    }
    traces_free(files);
    unsigned rules = 0;
    for (unsigned rule = 0; rule < GOTRACE_RULE_LIMIT; rule++)
        rules += seen[rule] > 0;
    ck_assert_uint_gt(stopped, 3000 / SWEEP_STEP);
    ck_assert_uint_gt(rules, 20);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("stopping");
    TCase *tests = tcase_create("stopping");
    tcase_add_loop_test(tests, at_any_problem, 0, 2);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
