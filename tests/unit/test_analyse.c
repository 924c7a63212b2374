/* test_analyse.c - histograms, mutator utilization, and what goroutines wait for. */
#include <stdlib.h>

#include "formats/analyse/histogram.h"
#include "formats/analyse/utilization.h"
#include "formats/analyse/waits_for.h"
#include "support.h"

enum { VALUES = 20000 };

static int compare(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Values of any magnitude below 2^bits. */
static void make_values(int64_t *values, size_t count, unsigned bits)
{
    uint64_t state = 88172645463325252u;
    for (size_t i = 0; i < count; i++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        values[i] = (int64_t)(state >> (64 - bits) >> (state % bits));
    }
}

static void check_quantiles(size_t count, unsigned bits)
{
    static const double shares[] = {0.001, 0.1, 0.5, 0.9, 0.99, 0.999, 1};
    static int64_t values[VALUES];
    histogram h = {0};
    int64_t sum = 0;
    make_values(values, count, bits);
    for (size_t i = 0; i < count; i++) {
        ck_assert(histogram_add(&h, values[i]));
        sum += values[i];
    }
    qsort(values, count, sizeof *values, compare);
    ck_assert_int_eq(h.sum, sum);
    ck_assert_int_eq(h.min, values[0]);
    ck_assert_int_eq(h.max, values[count - 1]);
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++) {
        size_t rank = (size_t)(shares[i] * (double)count + 0.9999999);
        double exact = (double)values[rank - 1];
        double found = (double)histogram_quantile(&h, shares[i], 0);
        ck_assert_msg(found >= exact * 0.992 && found <= exact * 1.008, "%g of %zu: %g, not %g",
                      shares[i], count, found, exact);
    }
    ck_assert_int_eq(histogram_quantile(&h, 0.5, 2 * count), 0);
    ck_assert_uint_eq(histogram_between(&h, 0, INT64_MAX), count);
    histogram_free(&h);
}

START_TEST(quantiles)
{
    /* few values, which are kept in a list; many, in an array */
    check_quantiles(1, 40);
    check_quantiles(60, 40);
    check_quantiles(VALUES, 40);
    check_quantiles(VALUES, 8);
}
END_TEST

START_TEST(extreme_values)
{
    static const int64_t values[] = {INT64_MAX, 0, -5, 127, 128, 129, INT64_MAX - 1};
    histogram h = {0};
    ck_assert_int_eq(histogram_quantile(&h, 0.5, 0), 0);
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        ck_assert(histogram_add(&h, values[i]));
    ck_assert_int_eq(h.min, 0);
    ck_assert_int_eq(h.max, INT64_MAX);
    ck_assert_int_eq(h.sum, INT64_MAX);                    /* it does not overflow */
    ck_assert_int_eq(histogram_quantile(&h, 0.5, 0), 129); /* 128 and 129 share a bucket */
    ck_assert_uint_eq(histogram_between(&h, 128, 256), 2);
    histogram_free(&h);
    /* Equal values have no buckets until another one is added. */
    for (int i = 0; i < 3; i++)
        ck_assert(histogram_add(&h, 1000));
    ck_assert_int_eq(histogram_quantile(&h, 0.99, 0), 1000);
    ck_assert_int_eq(histogram_quantile(&h, 0.5, 4), 0);
    ck_assert_uint_eq(histogram_between(&h, 512, 1024), 3);
    ck_assert(histogram_add(&h, 1 << 20));
    ck_assert_uint_eq(histogram_between(&h, 512, 1024), 3);
    ck_assert_uint_eq(histogram_between(&h, 1 << 20, 1 << 21), 1);
    ck_assert_int_eq(h.sum, 3000 + (1 << 20));
    histogram_free(&h);
}
END_TEST

/* Whether two histograms say the same. */
static void check_same(const histogram *a, const histogram *b)
{
    ck_assert_uint_eq(a->count, b->count);
    ck_assert_int_eq(a->sum, b->sum);
    ck_assert_int_eq(a->min, b->min);
    ck_assert_int_eq(a->max, b->max);
    for (double share = 0.01; share <= 1; share += 0.01)
        ck_assert_int_eq(histogram_quantile(a, share, 0), histogram_quantile(b, share, 0));
    for (unsigned bit = 0; bit < 62; bit++)
        ck_assert_uint_eq(histogram_between(a, (int64_t)1 << bit, (int64_t)1 << (bit + 1)),
                          histogram_between(b, (int64_t)1 << bit, (int64_t)1 << (bit + 1)));
}

/* The values that each of two have, merged, are those of one that has all. equal: the first ones
 * are. */
static void check_merge(size_t first, size_t second, bool equal)
{
    static int64_t values[VALUES];
    histogram a = {0}, b = {0}, all = {0};
    value_set from = {0}, to = {0};
    make_values(values, first + second, 40);
    for (size_t i = 0; i < first + second; i++) {
        int64_t value = equal && i < first ? 5000 : values[i];
        ck_assert(histogram_add(i < first ? &a : &b, value));
        ck_assert(value_set_add(i < first ? &to : &from, value));
        ck_assert(histogram_add(&all, value));
    }
    const histogram before = value_set_histogram(&to);
    check_same(&before, &a);
    ck_assert(histogram_merge(&a, &b));
    check_same(&a, &all);
    ck_assert(value_set_move(&to, &from));
    ck_assert_int_eq(from.stored, VALUES_NONE);
    const histogram after = value_set_histogram(&to);
    check_same(&after, &all);
    histogram_free(&a);
    histogram_free(&b);
    histogram_free(&all);
    value_set_free(&to);
}

START_TEST(merged)
{
    static const size_t counts[] = {0, 1, 2, 50, 300, VALUES / 2};
    enum { COUNTS = sizeof counts / sizeof *counts };
    for (size_t i = 0; i < COUNTS; i++)
        for (size_t k = 0; k < COUNTS; k++)
            for (int equal = 0; equal < 2; equal++)
                check_merge(counts[i], counts[k], equal);
    /* Equal values, and one that is negative. */
    value_set set = {0}, other = {0};
    for (int i = 0; i < 3; i++)
        ck_assert(value_set_add(&set, 7) && value_set_add(&other, 7));
    ck_assert(value_set_move(&set, &other));
    histogram h = value_set_histogram(&set);
    ck_assert_uint_eq(h.count, 6);
    ck_assert_int_eq(histogram_quantile(&h, 0.99, 0), 7);
    value_set_free(&set);
    ck_assert(value_set_add(&set, -3));
    h = value_set_histogram(&set);
    ck_assert_int_eq(h.sum, 0);
    value_set_free(&set);
}
END_TEST

/* ---- utilization ------------------------------------------------------------------------------
 */

/* Two procs, of which one works for the GC for 30 us of each 100 us, for a second; both do once for
 * 40 us. */
static void work_regularly(utilization *u)
{
    utilization_set_procs(u, 0, 2);
    for (int64_t time = 0; time < 1000000000; time += 100000) {
        utilization_work(u, 0, true);
        utilization_settle(u, time);
        if (time == 500000000) {
            utilization_stop(u, true);
            utilization_settle(u, time + 1000);
            utilization_stop(u, false);
            utilization_settle(u, time + 1000 + 12000);
        }
        utilization_work(u, 0, false);
        utilization_settle(u, time + 30000);
    }
}

START_TEST(regular_work)
{
    utilization u;
    utilization_init(&u, false, false, false);
    work_regularly(&u);
    ck_assert(utilization_end(&u, 1000000000));
    ck_assert(!u.failed);
    /* In 10 us the world is stopped; in 100 us one proc works for 18 us more, both for 12 us. */
    ck_assert_double_eq_tol(u.least[0], 0, 1e-12);
    ck_assert_double_eq_tol(u.least[1], 1 - (18.0 / 2 + 12) / 100, 1e-12);
    ck_assert_int_ge(u.least_at[1], 500000000 + 13000 - 100000);
    ck_assert_int_le(u.least_at[1], 500000000 + 1000);
    /* A window of 1 ms has 10 times 30 us, and the stop costs 6 us more. */
    ck_assert_double_eq_tol(u.least[2], 1 - (10 * 15.0 + 6) / 1000, 1e-12);
    ck_assert_double_eq_tol(u.least[4], 1 - (1000 * 15.0 + 6) / 100000, 1e-9);
    /* The changes of the longest window are kept, and not those of the trace. */
    ck_assert_uint_lt(u.room, 10000);
    utilization_free(&u);
}
END_TEST

START_TEST(short_trace)
{
    utilization u;
    utilization_init(&u, false, false, true);
    ck_assert(!utilization_end(&u, 10));
    utilization_set_procs(&u, 0, 4);
    utilization_work(&u, 1, true);
    utilization_work(&u, 7, true); /* no such proc */
    utilization_settle(&u, 0);
    utilization_work(&u, 1, false);
    utilization_settle(&u, 2000);
    /* Windows longer than the trace are the trace. */
    ck_assert(utilization_end(&u, 4000));
    for (size_t i = 0; i < UTILIZATION_WINDOWS; i++)
        ck_assert_double_eq_tol(u.least[i], (0.75 + 1) / 2, 1e-12);
    utilization_free(&u);
}
END_TEST

START_TEST(late_work)
{
    utilization u;
    utilization_init(&u, false, false, true);
    utilization_sync(&u);
    utilization_set_procs(&u, 0, 2);
    utilization_settle(&u, 0);
    utilization_stop(&u, true);
    utilization_settle(&u, 100000);
    utilization_stop(&u, false);
    utilization_settle(&u, 110000);
    /* At 150 us it is found that proc 1 works since the beginning. */
    utilization_late(&u);
    utilization_work(&u, 1, true);
    utilization_settle(&u, 150000);
    utilization_sync(&u);
    ck_assert(utilization_end(&u, 200000));
    ck_assert_double_eq_tol(u.least[1], 0.45, 1e-12);
    ck_assert_double_eq_tol(u.least[2], 0.5 * 190 / 200, 1e-12);
    utilization_free(&u);
}
END_TEST

START_TEST(holders)
{
    static const struct {
        const char *message;
        uint64_t goroutine;
    } cases[] = {
        {"mutex 0x7f01 held by goroutine 5", 5},
        {"read-write lock 0xffffffffffffffff held by goroutine 18446744073709551615", UINT64_MAX},
        {"the end of goroutine 12", 12},
        {"the end of goroutine 12, with a time-out", 0},
        {"mutex 0x7f01 held by goroutine 5, with a time-out", 0},
        {"mutex 0x7f01 held by goroutine ", 0},
        {"mutex 0x7f01 held by thread 5", 0},
        {"mutex 0x7f01", 0},
        {"descriptor 3: mutex 0x7f01 held by goroutine 5", 0},
        {"the end of goroutine", 0},
        {"", 0},
    };
    static const char with_nul[] = "the end of goroutine 12\0";
    char text[1000];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        ck_assert_uint_eq(waits_for_goroutine(cases[i].message, strlen(cases[i].message)),
                          cases[i].goroutine);
    static const char released[] = "mutex 0x10, still waited for by goroutine 7";
    ck_assert_uint_eq(waits_for_waiter(released, strlen(released)), 7);
    ck_assert_uint_eq(waits_for_waiter(cases[0].message, strlen(cases[0].message)), 0);
    ck_assert_uint_eq(waits_for_goroutine(with_nul, sizeof with_nul - 1), 0);
    memset(text, '1', sizeof text);
    memcpy(text, WAITS_FOR_END, strlen(WAITS_FOR_END));
    ck_assert_uint_eq(waits_for_goroutine(text, sizeof text), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("analyse");
    TCase *cases = tcase_create("all");

    tcase_add_test(cases, quantiles);
    tcase_add_test(cases, extreme_values);
    tcase_add_test(cases, merged);
    tcase_add_test(cases, regular_work);
    tcase_add_test(cases, short_trace);
    tcase_add_test(cases, late_work);
    tcase_add_test(cases, holders);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
