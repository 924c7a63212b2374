/* The options that select a part of a trace: times, lists, regular expressions. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "formats/analyse/selection.h"

/* ---- times ------------------------------------------------------------------------------------
 */

static const struct {
    const char *text, *zone;
    int64_t seconds, nanoseconds;
} walls[] = {
    {"1970-01-01T00:00:00Z", "UTC", 0, 0},
    {"1970-01-01T00:00Z", "UTC", 0, 0},
    {"2026-11-22T10:00:00.25Z", "UTC", 1795341600, 250000000},
    {"2026-11-22T10:00:00.123456789123z", "UTC", 1795341600, 123456789},
    {"2026-11-22t11:30:00+01:30", "UTC", 1795341600, 0},
    {"2026-11-22 05:00:00.000000001-05:00", "UTC", 1795341600, 1},
    {"2026-11-22T10:00:00", "UTC", 1795341600, 0},
    {"2026-11-22T11:00", "TST-1", 1795341600, 0},
    {"2024-02-29T23:59:59Z", "UTC", 1709251199, 0},
    {"0000-01-01T00:00Z", "UTC", -62167219200, 0},
    {"9999-12-31T23:59:59Z", "UTC", 253402300799, 0},
};

START_TEST(wall_clock)
{
    select_time time;
    setenv("TZ", walls[_i].zone, 1);
    ck_assert_msg(select_time_parse(walls[_i].text, &time), "%s", walls[_i].text);
    ck_assert(time.wall);
    ck_assert_int_eq(time.seconds, walls[_i].seconds);
    ck_assert_int_eq(time.nanoseconds, walls[_i].nanoseconds);
}
END_TEST

static const struct {
    const char *text;
    int64_t ns;
} offsets[] = {
    {"0ns", 0},       {"0", 0},
    {"7us", 7000},    {"1.5s", 1500000000},
    {".5ms", 500000}, {"1.0000000019s", 1000000001},
    {"1.9ns", 1},     {"9223372036854775807ns", INT64_MAX},
};

START_TEST(since_the_start)
{
    select_time time;
    ck_assert_msg(select_time_parse(offsets[_i].text, &time), "%s", offsets[_i].text);
    ck_assert(!time.wall);
    ck_assert_int_eq(time.ns, offsets[_i].ns);
}
END_TEST

static const char *const no_times[] = {
    "",
    "1",
    "s",
    "-1s",
    "+1s",
    "1h",
    "1 s",
    "1.s5",
    "9223372036854775808ns",
    "9223372037s",
    "9223372036.9s",
    "2026-11-22",
    "2026-11-22T10",
    "2026-11-22T10:0",
    "26-11-22T10:00Z",
    "2026-11-31T10:00Z",
    "2025-02-29T10:00Z",
    "2026-11-22T10:00:00.Z",
    "2026-11-22T10:00:00ZZ",
    "2026-11-22T10:00:00+1",
    "2026-11-22T10:00:00+01:60",
    "2026-11-22T10:00:00 UTC",
    "2026-11-22T10:00:61Z",
    "2026-1a-22T10:00Z",
    "\xff",
};

START_TEST(not_a_time)
{
    select_time time;
    ck_assert_msg(!select_time_parse(no_times[_i], &time), "%s", no_times[_i]);
}
END_TEST

/* ---- lists ------------------------------------------------------------------------------------
 */

static bool parse(selection *s, select_by by, const char *text)
{
    const char *texts[SELECT_COUNT] = {[0] = NULL};
    char message[400];
    texts[by] = text;
    bool parsed = selection_parse(s, texts, message, sizeof message);
    ck_assert(parsed == (message[0] == '\0'));
    return parsed;
}

START_TEST(ids)
{
    selection s;
    ck_assert(parse(&s, SELECT_GOROUTINE, "9,3-5,G7,4-8,18446744073709551615,9-9"));
    ck_assert_uint_eq(s.given, SELECT_BIT(SELECT_GOROUTINE));
    const select_ids *list = &s.ids[SELECT_GOROUTINE];
    ck_assert_uint_eq(list->count, 3);
    for (uint64_t id = 0; id < 12; id++)
        ck_assert(select_has_id(list, id) == (id >= 3 && id <= 9));
    ck_assert(select_has_id(list, UINT64_MAX));
    ck_assert(!select_has_id(list, UINT64_MAX - 1));
    selection_free(&s);
    ck_assert(parse(&s, SELECT_THREAD, "0,M9223372036854775807"));
    ck_assert(select_has_id(&s.ids[SELECT_THREAD], 0));
    ck_assert(!select_has_id(&s.ids[SELECT_PROC], 0));
    selection_free(&s);
    ck_assert(!parse(&s, SELECT_THREAD, "9223372036854775808"));
    selection_free(&s);
}
END_TEST

START_TEST(names)
{
    selection s;
    ck_assert(parse(&s, SELECT_TASK, "b,12,a\\,c,\\34,,007"));
    const select_names *list = &s.names[SELECT_TASK];
    ck_assert(select_has_name(list, "a,c", 3));
    ck_assert(select_has_name(list, "bc", 1));
    ck_assert(!select_has_name(list, "bc", 2));
    ck_assert(!select_has_name(list, "b\0", 2));
    ck_assert(select_has_name(list, "34", 2));
    ck_assert(select_has_name(list, "", 0));
    ck_assert(select_has_name(list, NULL, 0));
    ck_assert(!select_has_name(list, "12", 2));
    ck_assert(select_has_id(&s.ids[SELECT_TASK], 12));
    ck_assert(select_has_id(&s.ids[SELECT_TASK], 7));
    ck_assert(!select_has_id(&s.ids[SELECT_TASK], 34));
    selection_free(&s);
    ck_assert(parse(&s, SELECT_REGION, "12\\"));
    ck_assert(select_has_name(&s.names[SELECT_REGION], "12\\", 3));
    selection_free(&s);
}
END_TEST

START_TEST(order_of_times)
{
    static const struct {
        const char *from, *until;
        bool valid;
    } cases[] = {
        {"1s", "1s", false},
        {"1s", "1.000000001s", true},
        {NULL, "0ns", false},
        {"2026-11-22T10:00Z", "2026-11-22T10:00:00.000000001Z", true},
        {"2026-11-22T10:00Z", "2026-11-22T11:00+01:00", false},
        {"1s", "2026-11-22T10:00Z", true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *texts[SELECT_COUNT] = {
            [SELECT_FROM] = cases[i].from, [SELECT_UNTIL] = cases[i].until};
        char message[400];
        selection s;
        ck_assert_msg(selection_parse(&s, texts, message, sizeof message) == cases[i].valid, "%s",
                      message);
        selection_free(&s);
    }
}
END_TEST

/* ---- regular expressions ----------------------------------------------------------------------
 */

START_TEST(matching)
{
    char message[120];
    size_t column;
    pattern *p = pattern_new("^main\\.(é+|x)$", message, sizeof message, &column);
    ck_assert_ptr_nonnull(p);
    ck_assert_int_eq(pattern_match(p, "main.é", strlen("main.é")), PATTERN_MATCHES);
    ck_assert_int_eq(pattern_match(p, "main.xx", 7), PATTERN_DIFFERS);
    ck_assert_int_eq(pattern_match(p, "main.\xff", 6), PATTERN_DIFFERS);
    ck_assert_int_eq(pattern_match(p, NULL, 0), PATTERN_DIFFERS);
    pattern_free(p);
    ck_assert_ptr_null(pattern_new("ab)c", message, sizeof message, &column));
    ck_assert_uint_eq(column, 3);
    ck_assert_str_eq(message, "unmatched closing parenthesis");
}
END_TEST

/* Neither a pattern nor a name makes a match take long. */
START_TEST(hostile_patterns)
{
    static const char *const patterns[] = {"(a*)*(a*)*(a*)*b|(a*)*(a*)*(a*)*c", "(a|aa)+$|(a+)+!",
                                           "(.*)*(.*)*x|(.+)+\\d", "((a?){50}){50}b|((a?)+)+c"};
    enum { SIZE = 1000000 };
    char message[120], *name = malloc(SIZE);
    size_t column;
    memset(name, 'a', SIZE);
    pattern *p = pattern_new(patterns[_i], message, sizeof message, &column);
    ck_assert_msg(p != NULL, "%s", message);
    for (size_t size = 100; size <= SIZE; size *= 100)
        ck_assert_int_ne(pattern_match(p, name, size), PATTERN_NO_MEMORY);
    ck_assert_int_eq(pattern_match(p, name, SIZE), PATTERN_TOO_HARD);
    pattern_free(p);
    free(name);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("selection");
    TCase *cases = tcase_create("selection");
    tcase_add_loop_test(cases, wall_clock, 0, sizeof walls / sizeof walls[0]);
    tcase_add_loop_test(cases, since_the_start, 0, sizeof offsets / sizeof offsets[0]);
    tcase_add_loop_test(cases, not_a_time, 0, sizeof no_times / sizeof no_times[0]);
    tcase_add_test(cases, ids);
    tcase_add_test(cases, names);
    tcase_add_test(cases, order_of_times);
    tcase_add_test(cases, matching);
    tcase_add_loop_test(cases, hostile_patterns, 0, 4);
    suite_add_tcase(suite, cases);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
