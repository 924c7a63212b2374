/* test_view_jobs.c - the questions that need the events again: searches, statistics, flame graphs.
 */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "formats/analyse/flames.h"
#include "formats/analyse/moments.h"
#include "formats/analyse/statistics.h"
#include "formats/view/api/jobs.h"
#include "support.h"

static const char sample[] = "go1.26-net.trace";

/* ---- asking -----------------------------------------------------------------------------------
 */

typedef struct asked {
    blob content;
    view *view;
    view_api *api;
    view_jobs *jobs;
    gotrace_source *source;
    gotrace_config config; /* of the readers of jobs */
} asked;

/* Questions about that trace, which becomes that of the result; without an index. */
static asked ask_of(blob content)
{
    static const gotrace_config defaults = GOTRACE_INIT(gotrace_config);
    asked a = {.content = content, .view = view_new(), .jobs = view_jobs_new(), .config = defaults};
    ck_assert(a.view && a.jobs);
    a.api = view_api_new(a.view, "x");
    ck_assert_ptr_nonnull(a.api);
    ck_assert_int_eq(gotrace_source_memory(content.bytes, content.size, NULL, &a.source, NULL),
                     GOTRACE_OK);
    view_api_set_jobs(a.api, a.jobs, a.source, &a.config, 1);
    return a;
}

static void asked_free(asked *a)
{
    view_api_free(a->api);
    view_jobs_free(a->jobs);
    view_free(a->view);
    gotrace_source_close(a->source);
    blob_free(&a->content);
}

/* Asks "search by=1 where=wait and not run": the expression is last. NULL: memory was refused. */
static json_t *ask(const asked *a, const char *question)
{
    view_argument list[VIEW_ARGUMENTS_MOST];
    size_t count = 0;
    view_reply reply;
    json_error_t error;
    char *text = strdup(question), *rest, *word;
    ck_assert_ptr_nonnull(text);
    char *where = strstr(text, " where=");
    if (where) {
        *where = 0;
        list[count++] = (view_argument){"where", where + strlen(" where=")};
    }
    const char *name = strtok_r(text, " ", &rest);
    while ((word = strtok_r(NULL, " ", &rest))) {
        char *value = strchr(word, '=');
        *value++ = 0;
        list[count++] = (view_argument){word, value};
    }
    const bool answered = view_api_answer(a->api, name, list, count, &reply);
    free(text);
    if (!answered)
        return NULL;
    json_t *made = json_loadb(reply.bytes, reply.size, 0, &error);
    ck_assert_msg(made, "%s: %s: %.*s", question, error.text, (int)reply.size, reply.bytes);
    ck_assert_uint_eq(reply.status, json_object_get(made, "error") ? 400 : 200);
    free(reply.bytes);
    return made;
}

static bool is_ready(const asked *a, const char *question)
{
    json_t *made = ask(a, question);
    ck_assert_ptr_nonnull(made);
    const bool ready = json_is_true(json_object_get(made, "ready"));
    json_decref(made);
    return ready;
}

/* The result, which no job has made before. */
static json_t *result_of(const asked *a, const char *question)
{
    ck_assert_msg(!is_ready(a, question), "%s", question);
    ck_assert(view_jobs_do(a->jobs, false));
    json_t *made = ask(a, question);
    ck_assert_msg(made && json_is_true(json_object_get(made, "ready")), "%s", question);
    return made;
}

static long long member(const json_t *of, const char *name)
{
    const json_t *value = json_object_get(of, name);
    ck_assert_msg(json_is_integer(value), "%s", name);
    return json_integer_value(value);
}

static gotrace_reader *read_again(const asked *a)
{
    gotrace_reader *reader;
    ck_assert_int_eq(gotrace_reader_open(a->source, NULL, &reader, NULL), GOTRACE_OK);
    return reader;
}

/* ---- answers ----------------------------------------------------------------------------------
 */

static bool count_moment(void *ctx, const stacks *names, const moment *m)
{
    uint64_t *sums = ctx;
    (void)names;
    sums[0]++;
    sums[1] += (uint64_t)m->begin;
    sums[2] += m->goroutine;
    return true;
}

/* What the search finds, added up. */
static void check_search(const asked *a, const char *question, const char *where,
                         const select_range *range)
{
    uint64_t sums[3] = {0}, found[3] = {0};
    expression what;
    expression_error error;
    json_t *made = result_of(a, question), *row;
    size_t n;
    ck_assert(expression_parse(&what, where, &error));
    find_job job = {.what = &what, .found = count_moment, .ctx = sums, .range = range};
    gotrace_reader *reader = read_again(a);
    ck_assert_int_eq(moments_find(&job, reader), GOTRACE_END);
    gotrace_reader_close(reader);
    json_array_foreach(json_object_get(made, "moments"), n, row)
    {
        const json_t *id = json_object_get(row, "goroutine");
        found[0]++;
        found[1] += (uint64_t)member(row, "begin");
        found[2] += json_is_null(id) ? 0 : strtoull(json_string_value(id), NULL, 10);
    }
    ck_assert_uint_gt(sums[0], 0);
    ck_assert_uint_eq((uint64_t)member(made, "total"), sums[0]);
    ck_assert_mem_eq(found, sums, sizeof sums);
    expression_free(&what);
    json_decref(made);
}

START_TEST(searches)
{
    asked a = ask_of(trace_sample(sample));
    check_search(&a, "search limit=1000 where=wait or sched", "wait or sched", NULL);
    check_search(&a, "search limit=1000 from=1000000 until=2000000 where=run > 10us", "run > 10us",
                 &(select_range){1000000, 2000000});
    check_search(&a, "search limit=1000 from=2000000 where=goroutines > 1", "goroutines > 1",
                 &(select_range){2000000, INT64_MAX});
    json_t *made = result_of(&a, "search limit=2 where=wait");
    ck_assert_uint_eq(json_array_size(json_object_get(made, "moments")), 2);
    ck_assert_int_gt(member(made, "total"), 2);
    json_decref(made);
    asked_free(&a);
}
END_TEST

START_TEST(sums)
{
    asked a = ask_of(trace_sample(sample));
    const selection what = {.given = SELECT_TIME, .from.ns = 1000000, .until.ns = 2000000};
    select_job select = {.what = &what, .range = {1000000, 2000000}};
    statistics *s = statistics_new(NULL, STACKS_BY_LINE);
    gotrace_reader *reader = read_again(&a);
    ck_assert_int_eq(statistics_add(s, reader, "x", 1, &select), GOTRACE_END);
    gotrace_reader_close(reader);
    json_t *made = result_of(&a, "stat from=1000000 until=2000000");
    int64_t sum = 0;
    for (size_t n = 0; n < s->functions.count; n++)
        sum += figure_sum(s->functions.items[n], TIME_EXEC);
    size_t n;
    json_t *function;
    json_array_foreach(json_object_get(made, "functions"), n, function)
        sum -= member(function, "execution");
    ck_assert_int_eq(sum, 0);
    ck_assert_int_eq(member(made, "duration"), 1000000);
    ck_assert_uint_eq((uint64_t)member(made, "events"), s->traces[0].events);
    ck_assert_uint_eq((uint64_t)member(json_object_get(made, "latency"), "count"),
                      s->latency.count);
    json_decref(made);
    statistics_free(s);
    asked_free(&a);
}
END_TEST

START_TEST(graphs)
{
    asked a = ask_of(trace_sample(sample));
    char question[64];
    for (unsigned kind = 0; kind < PROFILE_COUNT; kind++) {
        const profile_options options = {.kind = (profile_kind)kind};
        profile p = {0};
        gotrace_reader *reader = read_again(&a);
        ck_assert_int_eq(profile_make(&p, reader, &options), GOTRACE_END);
        gotrace_reader_close(reader);
        snprintf(question, sizeof question, "flame profile=%s", profile_name(kind));
        json_t *made = result_of(&a, question), *flame = json_object_get(made, "flame");
        const json_t *frames = json_object_get(flame, "frames");
        int64_t outermost = 0;
        for (size_t n = 0; n < json_array_size(frames); n += 3)
            if (json_integer_value(json_array_get(frames, n)) == 0)
                outermost += json_integer_value(json_array_get(frames, n + 2));
        ck_assert_int_eq(member(flame, "total"), flames_sum(&p));
        ck_assert_int_eq(outermost, flames_sum(&p));
        json_decref(made);
        profile_free(&p);
    }
    asked_free(&a);
}
END_TEST

START_TEST(wrong_arguments)
{
    asked a = ask_of(trace_sample(sample));
    static const char *const wrong[][2] = {
        {"search", "the argument where is missing"},
        {"search where=", "where: column 1: the expression is empty"},
        {"search where=wait > \xc3\xa9 1", "where: column 8:"},
        {"search limit=1001 where=gc", "limit: found \"1001\", expected a number from 0 to 1000"},
        {"stat from=2 until=2", "until: found \"2\", expected a time after `from`, which is 2"},
        {"stat where=gc", "unknown argument where"},
        {"flame profile=x", "profile: found \"x\", expected one of net, sync, syscall"},
        {"flame by=-1", "by: found \"-1\", expected a number"},
    };
    for (size_t n = 0; n < sizeof wrong / sizeof *wrong; n++) {
        json_t *made = ask(&a, wrong[n][0]);
        const char *message = json_string_value(json_object_get(made, "error"));
        ck_assert_msg(message && strncmp(message, wrong[n][1], strlen(wrong[n][1])) == 0, "%s: %s",
                      wrong[n][0], message);
        json_decref(made);
    }
    ck_assert(!view_jobs_do(a.jobs, false));
    asked_free(&a);
}
END_TEST

/* A text of the trace that a pattern is matched with only in many steps. */
START_TEST(hard_patterns)
{
    asked a = ask_of(trace_sample("go1.21-user.trace"));
    const char *hard = "search where=function ~ \"(a*)*(a*)*(a*)*b|(.*)*(.*)*(.*)*!\"";
    ck_assert(!is_ready(&a, hard));
    ck_assert(view_jobs_do(a.jobs, false));
    json_t *made = ask(&a, hard);
    const char *message = json_string_value(json_object_get(made, "error"));
    ck_assert_msg(message && strstr(message, "takes too many steps"), "%s", message);
    json_decref(made);
    asked_free(&a);
}
END_TEST

/* ---- the order --------------------------------------------------------------------------------
 */

/* The result is there until there are eight others. */
START_TEST(kept)
{
    asked a = ask_of(trace_sample(sample));
    char question[64];
    for (unsigned n = 0; n < 9; n++) {
        snprintf(question, sizeof question, "stat limit=%u", n);
        json_decref(result_of(&a, question));
        ck_assert(!view_jobs_do(a.jobs, false));
    }
    ck_assert(is_ready(&a, "stat limit=8") && is_ready(&a, "stat limit=1"));
    ck_assert(!is_ready(&a, "stat limit=0"));
    /* That was asked for last but two. */
    ck_assert(view_jobs_do(a.jobs, false));
    ck_assert(is_ready(&a, "stat limit=1") && !is_ready(&a, "stat limit=2"));
    asked_free(&a);
}
END_TEST

/* Of each page only the last question waits, of at most eight pages. */
START_TEST(waiting)
{
    asked a = ask_of(trace_sample(sample));
    char question[64];
    ck_assert(!is_ready(&a, "stat by=1 limit=1") && !is_ready(&a, "stat by=1 limit=2"));
    ck_assert(view_jobs_do(a.jobs, false) && !view_jobs_do(a.jobs, false));
    ck_assert(is_ready(&a, "stat by=9 limit=2") && !is_ready(&a, "stat by=9 limit=1"));
    for (unsigned n = 0; n < 8; n++) {
        snprintf(question, sizeof question, "stat by=%u limit=9%u", n, n);
        ck_assert(!is_ready(&a, question) && !is_ready(&a, question));
    }
    for (unsigned n = 0; n < 8; n++)
        ck_assert(view_jobs_do(a.jobs, false));
    ck_assert(!view_jobs_do(a.jobs, false));
    ck_assert(is_ready(&a, "stat by=9 limit=1") && is_ready(&a, "stat limit=96"));
    /* There was no more room for it. */
    ck_assert(!is_ready(&a, "stat by=7 limit=97"));
    ck_assert(!is_ready(&a, "stat by=8 limit=96 from=1"));
    view_jobs_stop(a.jobs);
    ck_assert(!view_jobs_do(a.jobs, true));
    asked_free(&a);
}
END_TEST

/* An allocator that asks another question. */
typedef struct asking {
    const asked *by;
    const char *question; /* NULL: none */
} asking;

static void *ask_and_allocate(void *ctx, void *block, size_t old_size, size_t new_size)
{
    asking *a = ctx;
    const char *question = a->question;
    (void)old_size;
    a->question = NULL;
    if (question)
        ck_assert(!is_ready(a->by, question));
    if (new_size > 0)
        return realloc(block, new_size);
    free(block);
    return NULL;
}

START_TEST(newer_questions)
{
    asked a = ask_of(trace_sample(sample));
    asking while_it_reads = {&a, "stat by=1 limit=2"};
    a.config.allocator = (gotrace_allocator){ask_and_allocate, &while_it_reads};
    view_api_set_jobs(a.api, a.jobs, a.source, &a.config, 1);
    /* The other one has no effect on the question of another page, and ends that of its own. */
    for (unsigned page = 0; page < 2; page++) {
        while_it_reads.question = page ? "stat by=1 limit=3" : "stat by=1 limit=2";
        ck_assert(!is_ready(&a, page ? "stat by=1 limit=1" : "stat by=0 limit=0"));
        ck_assert(view_jobs_do(a.jobs, false));
        ck_assert(is_ready(&a, page ? "stat by=1 limit=1" : "stat by=0 limit=0") == !page);
        ck_assert(view_jobs_do(a.jobs, false));
    }
    asked_free(&a);
}
END_TEST

/* The time and the number of moments that are read for a job; ends: NULL, or whether it is not
 * wanted any more. */
typedef struct part_read {
    int64_t sums, samples;
    uint64_t moments;
} part_read;

static part_read read_part(const asked *a, const _Atomic bool *ends)
{
    select_job select = {.range = {INT64_MIN, INT64_MAX}, .stop = ends};
    const profile_options options = {.kind = PROFILE_WALL, .select = &select};
    expression what;
    expression_error error;
    uint64_t found[3] = {0};
    part_read read;
    profile p = {0};
    statistics *s = statistics_new(NULL, STACKS_BY_LINE);
    gotrace_reader *reader = read_again(a);
    statistics_add(s, reader, "x", 1, &select);
    read.sums = s->traces[0].duration;
    statistics_free(s);
    gotrace_reader_close(reader);
    reader = read_again(a);
    profile_make(&p, reader, &options);
    read.samples = flames_sum(&p);
    profile_free(&p);
    gotrace_reader_close(reader);
    reader = read_again(a);
    ck_assert(expression_parse(&what, "run or wait or sched", &error));
    find_job job = {.what = &what, .found = count_moment, .ctx = found, .stop = ends};
    moments_find(&job, reader);
    read.moments = found[0];
    expression_free(&what);
    gotrace_reader_close(reader);
    return read;
}

START_TEST(stopped)
{
    static const _Atomic bool yes = true, no = false;
    asked a = ask_of(trace_sample("go1.21-restart-3.trace"));
    const part_read all = read_part(&a, &no), less = read_part(&a, &yes);
    ck_assert_int_gt(less.sums, 0);
    ck_assert_int_lt(less.sums, all.sums / 2);
    ck_assert_int_lt(less.samples, all.samples / 2);
    ck_assert_uint_lt(less.moments, all.moments / 2);
    asked_free(&a);
}
END_TEST

/* ---- failures and damage ----------------------------------------------------------------------
 */

static const char *const questions[] = {"stat", "flame",
                                        "search where=wait or gc and during (run)"};

START_TEST(failures)
{
    asked a = ask_of(trace_sample("go1.22-gens.trace"));
    failing_allocator fails = {.for_good = true};
    a.config = failing_config(&fails);
    view_api_set_jobs(a.api, a.jobs, a.source, &a.config, 1);
    bool done = false;
    for (uint64_t n = 0; !done; n += SWEEP_STEP) {
        fails.calls = 0;
        fails.fail_at = n;
        ck_assert(!is_ready(&a, "stat"));
        ck_assert(view_jobs_do(a.jobs, false));
        json_t *made = ask(&a, "stat");
        done = made;
        json_decref(made);
        ck_assert_msg(done || n < 100000, "%lu", (unsigned long)n);
    }
    ck_assert_uint_gt(fails.calls, 10);
    asked_free(&a);
}
END_TEST

START_TEST(damaged)
{
    for (unsigned v1 = 0; v1 < 2; v1++) {
        const char *const name = v1 ? "go1.21-chan.trace" : "go1.26-net.trace";
        blob whole = trace_sample(name);
        const size_t size = whole.size;
        blob_free(&whole);
        for (size_t at = 20; at < size; at += size / 8 * SWEEP_STEP / 5) {
            blob content = trace_sample(name);
            for (size_t n = at; n < at + 30 && n < size; n++)
                content.bytes[n] ^= 0x91;
            asked a = ask_of(content);
            for (size_t n = 0; n < sizeof questions / sizeof *questions; n++)
                json_decref(result_of(&a, questions[n]));
            asked_free(&a);
        }
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("view_jobs");
    TCase *parts = tcase_create("view_jobs");
    tcase_set_timeout(parts, 0);
    tcase_add_test(parts, searches);
    tcase_add_test(parts, sums);
    tcase_add_test(parts, graphs);
    tcase_add_test(parts, wrong_arguments);
    tcase_add_test(parts, hard_patterns);
    tcase_add_test(parts, kept);
    tcase_add_test(parts, waiting);
    tcase_add_test(parts, newer_questions);
    tcase_add_test(parts, stopped);
    tcase_add_test(parts, failures);
    tcase_add_test(parts, damaged);
    suite_add_tcase(suite, parts);
    return run_suite(suite);
}
