/* test_mutate.c - variants of the sample traces have the properties that mutate states. */
#include <stdlib.h>
#include <string.h>

#include "cmd/gen/defect.h"
#include "cmd/mutate/mutate.h"
#include "support.h"

enum { MOST_BYTES = 40000 };

static const char *const usual[] = {
    "gccgo-http.trace",       "go1.19-http.trace",     "go1.21-gc.trace",   "go1.22-gens.trace",
    "go1.23-allocfree.trace", "go1.25-gensprof.trace", "go1.26-user.trace", "go1.27-seconds.trace"};
enum { USUAL = sizeof usual / sizeof usual[0] };

static mutate *opened(const blob *trace)
{
    gotrace_error error = {0};
    mutate *m;
    ck_assert_int_eq(mutate_new(trace->bytes, trace->size, NULL, &m, &error), GOTRACE_OK);
    return m;
}

static verdict judged(const mutate_variant *v)
{
    gotrace_error error = {0};
    verdict found;
    ck_assert(verdict_of(v->bytes, v->size, NULL, &found, &error));
    return found;
}

START_TEST(keeps_valid)
{
    trace_file *files = traces_load(MOST_BYTES);
    uint64_t made = 0, undone = 0;
    for (trace_file *f = files; f->path[0]; f++) {
        if (strstr(f->path, "unsound") || !strstr(f->path, "testdata/traces"))
            continue;
        mutate *m = opened(&f->content);
        for (uint64_t seed = 0; seed < 6; seed++) {
            mutate_job job = {.mode = MUTATE_KEEP, .seed = seed};
            mutate_variant v;
            gotrace_error error = {0};
            ck_assert_msg(mutate_make(m, &job, &v, &error) == GOTRACE_OK, "%s: %s", f->path,
                          error.message);
            verdict found = judged(&v);
            ck_assert_msg(found.sound, "%s, seed %d: %s", f->path, (int)seed, found.first.message);
            ck_assert(v.size != f->content.size || memcmp(v.bytes, f->content.bytes, v.size) != 0);
            ck_assert_uint_gt(v.change_count, 0);
            made++;
            undone += v.undone;
        }
        mutate_free(m);
    }
    traces_free(files);
    ck_assert_uint_gt(made, 300 / SWEEP_STEP);
    /* only if events at the same time change their order, or a batch becomes too long */
    ck_assert_uint_lt(20 * undone, made);
}
END_TEST

static gotrace_rule rule_named(const char *id)
{
    gotrace_rule rule = GOTRACE_RULE_NONE;
    while (strcmp(gotrace_rule_describe(rule)->id, id) != 0)
        rule++;
    return rule;
}

/* Every rule can be violated in one of these traces, except rules of 1.5, of which there is no
 * sample, and one that requires a goroutine's sequence number. */
static bool has_place(const char *id)
{
    static const char *const none[] = {"order.global", "goroutine.initial", "goroutine.start",
                                       "goroutine.unblock", "time.syscall"};
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++)
        if (strcmp(none[i], id) == 0)
            return false;
    return true;
}

START_TEST(breaks_one_rule)
{
    uint32_t broken[GOTRACE_RULE_LIMIT] = {0};
    for (size_t i = 0; i < USUAL; i++) {
        blob trace = trace_sample(usual[i]);
        mutate *m = opened(&trace);
        mutate_variant same = {.bytes = trace.bytes, .size = trace.size};
        verdict before = judged(&same);
        for (size_t n = 0; gen_defect_name(n); n++) {
            mutate_job job = {.mode = MUTATE_BREAK, .seed = n};
            mutate_variant v;
            gotrace_error error = {0};
            job.rule = rule_named(gen_defect_name(n));
            gotrace_status status = mutate_make(m, &job, &v, &error);
            ck_assert_msg(status >= 0, "%s: %s", usual[i], error.message);
            ck_assert_str_eq(mutate_verdict(&job), gen_defect_name(n));
            if (status == GOTRACE_END) {
                ck_assert_ptr_nonnull(strstr(error.message, gen_defect_name(n)));
                continue;
            }
            verdict found = judged(&v);
            ck_assert_uint_gt(found.counts[job.rule], 0);
            broken[job.rule]++;
            /* warnings of the original may remain */
            for (unsigned r = 0; r < GOTRACE_RULE_LIMIT; r++)
                if (r != job.rule && found.counts[r] > 0 && before.counts[r] == 0 &&
                    gotrace_rule_describe((gotrace_rule)r)->severity > GOTRACE_WARNING)
                    ck_assert(job.rule == GOTRACE_RULE_ORDER_CUT &&
                              r == GOTRACE_RULE_FOOTER_MISSING);
        }
        mutate_free(m);
        blob_free(&trace);
    }
    for (size_t n = 0; gen_defect_name(n); n++)
        ck_assert_msg((broken[rule_named(gen_defect_name(n))] > 0) == has_place(gen_defect_name(n)),
                      "%s", gen_defect_name(n));
}
END_TEST

START_TEST(same_seed_same_bytes)
{
    static const mutate_mode modes[] = {MUTATE_ANY, MUTATE_KEEP, MUTATE_RAW};
    blob trace = trace_sample("go1.22-gens.trace");
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
        mutate *m = opened(&trace), *other = opened(&trace);
        unsigned different = 0;
        for (uint64_t seed = 0; seed < 50; seed++) {
            mutate_job job = {.mode = modes[i], .seed = seed}, next = {.mode = modes[i]};
            mutate_variant v, w;
            gotrace_error error = {0};
            /* earlier variants have no influence */
            next.seed = seed + 1000;
            ck_assert_int_ge(mutate_make(other, &next, &w, &error), 0);
            ck_assert_int_eq(mutate_make(m, &job, &v, &error), GOTRACE_OK);
            different += v.size != w.size || memcmp(v.bytes, w.bytes, v.size) != 0;
            ck_assert_int_eq(mutate_make(other, &job, &w, &error), GOTRACE_OK);
            ck_assert_uint_eq(v.size, w.size);
            ck_assert_mem_eq(v.bytes, w.bytes, v.size);
            ck_assert_uint_eq(v.change_count, w.change_count);
        }
        ck_assert_uint_gt(different, 45);
        mutate_free(m);
        mutate_free(other);
    }
    blob_free(&trace);
}
END_TEST

/* Input that is not a trace, or is a variant already. */
START_TEST(any_input)
{
    static const uint8_t garbage[] = "this is no trace at all";
    blob trace = trace_sample("go1.19-http.trace");
    blob bytes = {NULL, 0, 0};
    blob_write(&bytes, garbage, sizeof garbage);
    for (uint64_t seed = 0; seed < 2000; seed++) {
        if (seed % 200 == 100) { /* restart from the original */
            bytes.size = 0;
            blob_write(&bytes, trace.bytes, trace.size);
        }
        mutate *m = opened(&bytes);
        mutate_job job = {.mode = seed % 2 ? MUTATE_ANY : MUTATE_RAW, .seed = seed, .most = 60000};
        mutate_variant v;
        gotrace_error error = {0};
        gotrace_status status = mutate_make(m, &job, &v, &error);
        ck_assert_int_ge(status, 0);
        if (status == GOTRACE_OK) {
            ck_assert_uint_le(v.size, job.most);
            bytes.size = 0;
            blob_write(&bytes, v.bytes, v.size);
        } else {
            ck_assert_int_ne(error.message[0], '\0');
        }
        mutate_free(m);
    }
    blob_free(&bytes);
    blob_free(&trace);
}
END_TEST

START_TEST(memory_is_bounded)
{
    blob trace = trace_sample("go1.22-gens.trace");
    gotrace_config config = {0};
    gotrace_error error = {.rule = GOTRACE_RULE_NONE};
    mutate *m;
    config.limits = &(gotrace_limits){.memory = 20000};
    ck_assert_int_eq(mutate_new(trace.bytes, trace.size, &config, &m, &error), GOTRACE_ERROR);
    ck_assert_int_eq(error.rule, GOTRACE_RULE_SYSTEM_LIMIT);
    ck_assert_ptr_null(m);
    blob_free(&trace);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("mutate");
    TCase *tests = tcase_create("mutate");
    suite_add_tcase(suite, tests);
    tcase_add_test(tests, keeps_valid);
    tcase_add_test(tests, breaks_one_rule);
    tcase_add_test(tests, same_seed_same_bytes);
    tcase_add_test(tests, any_input);
    tcase_add_test(tests, memory_is_bounded);
    return run_suite(suite);
}
