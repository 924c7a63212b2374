/* test_diff.c - the test of ranks against values that an enumeration of all permutations gives, its
 * approximation, the correction for several tests, and conditions. */
#include <math.h>

#include "formats/diff/condition.h"
#include "support.h"

enum { MOST = 24 };

/* p of the samples, and of the samples the other way round. */
static double p_of(const double *a, size_t a_count, const double *b, size_t b_count)
{
    double x[2][MOST], y[2][MOST];
    for (size_t k = 0; k < 2; k++) {
        memcpy(x[k], a, a_count * sizeof *a);
        memcpy(y[k], b, b_count * sizeof *b);
    }
    const double p = rank_test(x[0], a_count, y[0], b_count);
    const double other = rank_test(y[1], b_count, x[1], a_count);
    ck_assert_double_eq_tol(p, other, 1e-12);
    return p;
}

/* All ways to choose the first sample out of both were counted by a program. */
START_TEST(exact_values)
{
    static const struct {
        double a[MOST], b[MOST];
        size_t a_count, b_count;
        double p;
    } cases[] = {
        {{1, 2, 3}, {4, 5, 6}, 3, 3, 0.1},
        {{1, 2, 3, 4}, {5, 6, 7, 8}, 4, 4, 0.028571428571},
        {{1, 2, 3, 5}, {4, 6, 7, 8}, 4, 4, 0.057142857143},
        {{1, 1, 1, 1}, {1, 1, 1, 1}, 4, 4, 1},
        {{1, 2, 2, 3}, {2, 3, 3, 4, 4}, 4, 5, 0.158730158730},
        {{7, 1, 5, 5, 9}, {2, 2, 5, 8, 3, 3}, 5, 6, 0.415584415584},
        {{1}, {2}, 1, 1, 1},
        {{5, 4, 3, 2, 1}, {10, 9, 8, 7, 6}, 5, 5, 0.007936507937},
        {{1, 3, 5, 7, 9, 11}, {2, 4, 6, 8, 10, 12, 14}, 6, 7, 0.445221445221},
        {{0, 0, 0, 1}, {0, 2, 2, 2, 3, 3}, 4, 6, 0.047619047619},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        ck_assert_double_eq_tol(p_of(cases[i].a, cases[i].a_count, cases[i].b, cases[i].b_count),
                                cases[i].p, 1e-9);
    ck_assert_double_eq(p_of(cases[0].a, 0, cases[0].b, 3), 1);
}
END_TEST

/* The critical values of U for p <= 0.05 (two-sided) in the tables of Mann and Whitney (1947): with
 * a sum of ranks that gives U the test is significant, with U + 1 it is not. */
START_TEST(published_tables)
{
    static const struct {
        size_t count, u;
    } table[] = {{4, 0}, {5, 2}, {6, 5}, {7, 8}, {8, 13}, {9, 17}, {10, 23}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        for (size_t more = 0; more < 2; more++) {
            const size_t n = table[i].count;
            size_t u = table[i].u + more;
            double a[MOST], b[MOST];
            /* Each b is above all a; each of the last a is moved above some b. */
            for (size_t k = 0; k < n; k++)
                b[k] = 100 + (double)k;
            for (size_t k = 0; k < n; k++) {
                const size_t above = u < n ? u : n;
                u -= above;
                a[k] = above ? 99.5 + (double)above + (double)k / 1000 : (double)k;
            }
            const double p = p_of(a, n, b, n);
            ck_assert_msg((p <= 0.05) == (more == 0), "%zu: U %zu: %g", n, table[i].u + more, p);
        }
}
END_TEST

/* Above RANK_EXACT values it is near the exact value, which a program counted. */
START_TEST(approximation)
{
    double a[MOST], b[MOST];
    for (size_t k = 0; k < 11; k++) {
        a[k] = (double)k;
        b[k] = (double)k + 4.5;
    }
    ck_assert_double_eq_tol(p_of(a, 11, b, 11), 0.0083296, 0.0025);
    for (size_t k = 0; k < 11; k++)
        a[k] = b[k] = 3;
    ck_assert_double_eq(p_of(a, 11, b, 11), 1);
    for (size_t k = 0; k < 11; k++)
        b[k] = 4 + (double)(k % 2);
    ck_assert(p_of(a, 11, b, 11) < 1e-4);
}
END_TEST

START_TEST(least)
{
    ck_assert_double_eq_tol(rank_test_least(3, 3), 0.1, 1e-12);
    ck_assert(rank_test_least(DIFF_LEAST_RUNS, DIFF_LEAST_RUNS) < DIFF_ALPHA);
    ck_assert(rank_test_least(DIFF_LEAST_RUNS - 1, DIFF_LEAST_RUNS - 1) > DIFF_ALPHA);
    ck_assert_double_eq(rank_test_least(0, 9), 1);
}
END_TEST

/* The example of Benjamini and Hochberg (1995), section 3.2: four of 15 hypotheses are rejected. */
START_TEST(several_tests)
{
    double p[] = {0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344,
                  0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0000};
    size_t rejected = 0;
    rank_test_adjust(p, 15);
    for (size_t i = 0; i < 15; i++) {
        rejected += p[i] <= 0.05;
        ck_assert(i == 0 || p[i] >= p[i - 1]);
    }
    ck_assert_uint_eq(rejected, 4);
    ck_assert_double_eq_tol(p[0], 0.0015, 1e-12);
    ck_assert_double_eq_tol(p[3], 0.035625, 1e-12);
    ck_assert_double_eq(p[14], 1);
}
END_TEST

START_TEST(conditions)
{
    static const struct {
        const char *text;
        double limit;
        bool change, percent, below, or_equal;
    } good[] = {
        {"task(\"checkout\").p99 > +10%", 0.1, true, true, false, false},
        {" sched.p50>=-5us ", -5000, true, false, false, true},
        {"block(\"a < b\").time < 20ms", 2e7, false, false, true, false},
        {"gc.share<=0.25", 0.25, false, false, true, true},
        {"gc.heap > 64MB", 64e6, false, false, false, false},
        {"task.count < 7%", 0.07, true, true, true, false},
        {"goroutine(\"a\\\"b\").alive > 100", 100, false, false, false, false},
    };
    static const char *const bad[] = {
        "",
        "tasks.p99 > 1%",
        "task(checkout).p99 > 1%",
        "task(\"x\".p99 > 1%",
        "task(\"x\").p98 > 1%",
        "task(\"x\").heap > 1%",
        "task(\"x\").p99 1%",
        "task(\"x\").p99 > %",
        "task(\"x\").p99 > 1",
        "task(\"x\").p99 > 1 %x",
        "task(\"x\").p99 > 1MB",
        "task(\"x",
        "task(\"x\\",
        "gc.share > 1ms",
        "sample.time > 1ms",
        "task.p99 > +-1%",
        "task.p99 > 1e999ms",
        "task.p99 = 1ms",
    };
    char message[256];
    diff_condition c;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        ck_assert_msg(diff_condition_parse(&c, good[i].text, message, sizeof message), "%s",
                      good[i].text);
        ck_assert_double_eq_tol(c.limit, good[i].limit, 1e-9);
        ck_assert(c.change == good[i].change && c.percent == good[i].percent);
        ck_assert(c.below == good[i].below && c.or_equal == good[i].or_equal);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        message[0] = '\0';
        ck_assert_msg(!diff_condition_parse(&c, bad[i], message, sizeof message), "%s", bad[i]);
        ck_assert_msg(message[0], "%s", bad[i]);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("diff");
    TCase *cases = tcase_create("all");

    tcase_add_test(cases, exact_values);
    tcase_add_test(cases, published_tables);
    tcase_add_test(cases, approximation);
    tcase_add_test(cases, least);
    tcase_add_test(cases, several_tests);
    tcase_add_test(cases, conditions);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
