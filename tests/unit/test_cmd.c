/* test_cmd.c - parts of the program: options, formatting of figures, findings. */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/diag.h"
#include "cmd/human.h"
#include "cmd/input.h"
#include "cmd/options.h"
#include "cmd/progress.h"

#include "cmd/narrow.h"
#include "formats/common/utf8.h"

static const char *fruit(size_t n)
{
    static const char *const fruits[] = {"apple", "pear", "quince", NULL};
    return fruits[n];
}

typedef struct fake_options {
    settings common;
    uint64_t number;
    const char *fruit;
} fake_options;

static fake_options given;

static const option_spec own_options[] = {
    {'n', "number", OPTION_NUMBER, "N", offsetof(fake_options, number), NULL, "a number"},
    {0, "fruit", OPTION_CHOICE, "FRUIT", offsetof(fake_options, fruit), fruit, "a fruit"},
    {.name = NULL},
};
static const verb fake = {
    .name = "fake", .args = "[FILE ...]", .max_args = 3, .options = own_options};

/* Parse words up to NULL; they must remain valid while the session is used. */
static bool parse(session *s, char **words)
{
    int count = 0;
    while (words[count])
        count++;
    given = (fake_options){.number = 0};
    *s = (session){.verb = &fake, .set = &given.common};
    return options_parse(s, count, words);
}

#define WORDS(...) ((char *[]){__VA_ARGS__, NULL})

START_TEST(options_long_and_short)
{
    session s;
    ck_assert(parse(&s, WORDS("a", "--number=7", "--fruit", "pear", "-qv", "-o", "x", "b")));
    ck_assert_uint_eq(given.number, 7);
    ck_assert_str_eq(given.fruit, "pear");
    ck_assert(given.common.quiet && given.common.verbose && !given.common.zstd);
    ck_assert_str_eq(given.common.output, "x");
    ck_assert_uint_eq(s.file_count, 2);
    ck_assert_str_eq(s.files[0], "a");
    ck_assert_str_eq(s.files[1], "b");
    ck_assert_ptr_null(s.files[2]);
}
END_TEST

START_TEST(options_joined_and_dashes)
{
    session s;
    ck_assert(parse(&s, WORDS("-qn12", "-", "--", "-v", "--fruit=x")));
    ck_assert_uint_eq(given.number, 12);
    ck_assert(given.common.quiet && !given.common.verbose);
    ck_assert_uint_eq(s.file_count, 3);
    ck_assert_str_eq(s.files[0], "-");
    ck_assert_str_eq(s.files[1], "-v");
    ck_assert_str_eq(s.files[2], "--fruit=x");
}
END_TEST

START_TEST(options_refused)
{
    session s;
    char **const bad[] = {
        WORDS("--nothing"),
        WORDS("-x"),
        WORDS("--number"),
        WORDS("--number="),
        WORDS("--number=-1"),
        WORDS("--number=1x"),
        WORDS("--fruit=plum"),
        WORDS("--quiet=yes"),
        WORDS("-n"),
        WORDS("a", "b", "c", "d"),
        WORDS("--number= 1"),
        WORDS("-q\xff"),
        WORDS("--number=18446744073709551616"),
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ck_assert_msg(!parse(&s, bad[i]), "%s was understood", bad[i][0]);
    ck_assert(parse(&s, WORDS("--number=18446744073709551615")));
    ck_assert_uint_eq(given.number, UINT64_MAX);
}
END_TEST

START_TEST(options_nearest)
{
    ck_assert_str_eq(nearest("aple", fruit), "apple");
    ck_assert_str_eq(nearest("paar", fruit), "pear");
    ck_assert_str_eq(nearest("quinces", fruit), "quince");
    ck_assert_ptr_null(nearest("banana", fruit));
    ck_assert_ptr_null(nearest("", fruit));
    ck_assert_ptr_null(nearest("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", fruit));
}
END_TEST

/* Each verb's options have unique names, and every option with choices has at least one. */
START_TEST(options_tables)
{
    for (size_t i = 0; verbs[i]; i++) {
        const option_spec *a, *b;
        ck_assert_ptr_eq(verb_by_name(verbs[i]->name), verbs[i]);
        for (size_t n = 0; (a = option_at(verbs[i], n)); n++) {
            ck_assert(a->summary && (a->value != NULL) == (a->type != OPTION_FLAG));
            ck_assert(a->type != OPTION_CHOICE || (a->choice && a->choice(0)));
            for (size_t m = 0; m < n && (b = option_at(verbs[i], m)); m++) {
                ck_assert_str_ne(a->name, b->name);
                ck_assert(a->letter == 0 || a->letter != b->letter);
            }
        }
    }
}
END_TEST

START_TEST(escape)
{
    char text[64];
    utf8_escape(text, sizeof text, "plain grün €");
    ck_assert_str_eq(text, "plain grün €");
    utf8_escape(text, sizeof text, "a\033[1mb\nc\x7f");
    ck_assert_str_eq(text, "a\\x1b[1mb\\x0ac\\x7f");
    utf8_escape(text, sizeof text, "\xff\xc3");
    ck_assert_str_eq(text, "\\xff\\xc3");
    /* C1 control characters are escaped in UTF-8 too. */
    utf8_escape(text, sizeof text, "\xc2\x9b");
    ck_assert_str_eq(text, "\\xc2\\x9b");
    for (size_t size = 1; size < 16; size++) {
        char exact[16];
        utf8_escape(exact, size, "ab\xe2\x82\xac\033z\xff");
        ck_assert_uint_lt(strlen(exact), size);
    }
}
END_TEST

START_TEST(figures)
{
    static const struct {
        uint64_t bytes;
        const char *text;
    } sizes[] = {
        {0, "0 B"},         {999, "999 B"},        {1000, "1.0 kB"},
        {9949, "9.9 kB"},   {9950, "10 kB"},       {999499, "999 kB"},
        {999500, "1.0 MB"}, {137000000, "137 MB"}, {UINT64_MAX, "18 EB"},
    };
    static const struct {
        int64_t ns;
        const char *text;
    } durations[] = {
        {0, "0 ns"},
        {-5, "-5 ns"},
        {999, "999 ns"},
        {1500, "1.500 us"},
        {12345678, "12.346 ms"},
        {61000000000, "61.000 s"},
        {INT64_MAX, "9223372036.855 s"},
    };
    char text[32];
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        human_bytes(text, sizeof text, sizes[i].bytes);
        ck_assert_str_eq(text, sizes[i].text);
    }
    for (size_t i = 0; i < sizeof durations / sizeof *durations; i++) {
        human_duration(text, sizeof text, durations[i].ns);
        ck_assert_str_eq(text, durations[i].text);
    }
}
END_TEST

static gotrace_error problem(gotrace_rule rule, uint64_t offset)
{
    const gotrace_rule_info *info = gotrace_rule_describe(rule);
    gotrace_error e = {.rule = rule, .severity = info->severity, .class_ = info->class_};
    e.offset = offset;
    e.batch = e.event = GOTRACE_NO_OFFSET;
    return e;
}

static void find(findings *f, gotrace_rule rule, uint64_t offset)
{
    gotrace_error e = problem(rule, offset);
    findings_add(f, &e);
}

START_TEST(verdicts)
{
    findings f = {.file = "f", .limit = 1};
    diag_quiet(true);
    ck_assert_str_eq(findings_verdict(&f), "sound");
    ck_assert_int_eq(findings_status(&f), EXIT_SOUND);
    find(&f, GOTRACE_RULE_STACK_MISSING, 1);
    ck_assert_str_eq(findings_verdict(&f), "sound");
    ck_assert_int_eq(findings_status(&f), EXIT_SOUND);
    static const struct {
        gotrace_rule rule;
        const char *verdict;
        int status;
    } worse[] = {
        {GOTRACE_RULE_FOOTER_MISSING, "unfinished", EXIT_DAMAGED},
        {GOTRACE_RULE_TIME_ORDER, "broken clocks", EXIT_DAMAGED},
        {GOTRACE_RULE_GO_START, "inconsistent", EXIT_DAMAGED},
        {GOTRACE_RULE_EVENT_ARITY, "malformed", EXIT_DAMAGED},
        {GOTRACE_RULE_HEADER_VERSION, "unsupported", EXIT_DAMAGED},
        {GOTRACE_RULE_HEADER_MAGIC, "unsupported", EXIT_DAMAGED},
        {GOTRACE_RULE_SYSTEM_LIMIT, "unreadable", EXIT_SYSTEM},
    };
    for (size_t i = 0; i < sizeof worse / sizeof *worse; i++) {
        find(&f, worse[i].rule, i);
        ck_assert_str_eq(findings_verdict(&f), worse[i].verdict);
        ck_assert_int_eq(findings_status(&f), worse[i].status);
    }
    findings g = {.file = "g", .limit = 1};
    find(&g, GOTRACE_RULE_HEADER_MAGIC, 0);
    ck_assert_str_eq(findings_verdict(&g), "not a trace");
    ck_assert_int_eq(findings_status(&g), EXIT_DAMAGED);
}
END_TEST

START_TEST(problems_counted_once)
{
    findings f = {.file = "f", .limit = 1};
    find(&f, GOTRACE_RULE_GO_START, 1);
    find(&f, GOTRACE_RULE_GO_START, 1);
    ck_assert_uint_eq(f.errors, 1);
    find(&f, GOTRACE_RULE_GO_START, 2);
    find(&f, GOTRACE_RULE_STACK_MISSING, 2);
    ck_assert_uint_eq(f.errors, 2);
    ck_assert_uint_eq(f.warnings, 1);
}
END_TEST

/* The text that a call writes to standard error. */
#define SAID(text, call)                                                                           \
    do {                                                                                           \
        FILE *file = tmpfile();                                                                    \
        int before = dup(STDERR_FILENO);                                                           \
        ck_assert(file &&before >= 0 && dup2(fileno(file), STDERR_FILENO) >= 0);                   \
        call;                                                                                      \
        fflush(stderr);                                                                            \
        dup2(before, STDERR_FILENO);                                                               \
        close(before);                                                                             \
        rewind(file);                                                                              \
        (text)[fread(text, 1, sizeof(text) - 1, file)] = '\0';                                     \
        fclose(file);                                                                              \
    } while (0)

START_TEST(timeline_too_large)
{
    char text[2048];
    SAID(text, narrow_check_size(&format_perfetto, 26, 350000000, false));
    ck_assert_str_eq(text, "");
    SAID(text, narrow_check_size(&format_perfetto, 26, 1300000000, false));
    ck_assert_str_eq(text,
                     "gotrace: note: the timeline has 1.3 GB, and the Perfetto UI in a browser "
                     "without 64-bit WebAssembly loads about 350 MB\n"
                     "gotrace: note: to see all of it: --detail TIME, such as 100us, merges what "
                     "is shorter; to see a part: 'gotrace find' searches the trace; --from, "
                     "--until and --only show less of it; 'gotrace cut' or 'gotrace split --by "
                     "generation' writes a smaller trace; 'gotrace why --to perfetto' shows what a "
                     "slow task, region or goroutine waited for\n");
    SAID(text, narrow_check_size(&format_perfetto, 26, 1300000000, true));
    ck_assert_str_eq(text, "gotrace: note: the timeline has 1.3 GB, and the Perfetto UI in a "
                           "browser without 64-bit WebAssembly loads about 350 MB\n");
    SAID(text, narrow_check_size(&format_perfetto, 21, 1300000000, false));
    ck_assert_ptr_null(strstr(text, "generation"));
    SAID(text, narrow_check_size(&format_chrome, 21, 1300000000, false));
    ck_assert_ptr_nonnull(strstr(text, "chrome://tracing loads about 537 MB"));
    ck_assert_ptr_null(strstr(text, "--detail"));
    diag_quiet(true);
    SAID(text, narrow_check_size(&format_chrome, 21, 1300000000, false));
    diag_quiet(false);
    ck_assert_str_eq(text, "");
}
END_TEST

/* Before it is written: by the size of the trace. */
START_TEST(timeline_expected)
{
    char text[2048];
    bool noted = true;
    SAID(text, noted = narrow_expect_size(&format_perfetto, 26, 26900000));
    ck_assert_str_eq(text, "");
    ck_assert(!noted);
    SAID(text, noted = narrow_expect_size(&format_perfetto, 26, 172000000));
    ck_assert(noted);
    const char *first = "gotrace: note: the timeline will be about 826 MB (of a quiet program) "
                        "to 2.2 GB (of a busy one), and the Perfetto UI in a browser without "
                        "64-bit WebAssembly loads about 350 MB\n";
    ck_assert_msg(strncmp(text, first, strlen(first)) == 0, "%s", text);
    const char *const remedies[] = {"--detail TIME",
                                    "gotrace find",
                                    "--from",
                                    "--until",
                                    "--only",
                                    "gotrace cut",
                                    "gotrace why --to perfetto"};
    for (size_t i = 0; i < sizeof remedies / sizeof *remedies; i++)
        ck_assert_msg(strstr(text, remedies[i]), "%s", remedies[i]);
    SAID(text, noted = narrow_expect_size(&format_html, 26, UINT64_MAX));
    ck_assert_str_eq(text, "");
}
END_TEST

START_TEST(output_expected)
{
    ck_assert_uint_eq(progress_expected(0, 10, 100), 0);
    ck_assert_uint_eq(progress_expected(50, 10, 100), 500);
    ck_assert_uint_eq(progress_expected(50, 100, 100), 50);
    ck_assert_uint_eq(progress_expected(50, 0, 100), 0);
    ck_assert_uint_eq(progress_expected(50, 110, 100), 0);
    ck_assert_uint_eq(progress_expected(UINT64_MAX, 1, UINT64_MAX), UINT64_MAX);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("cmd");
    TCase *cases = tcase_create("all");
    tcase_add_test(cases, options_long_and_short);
    tcase_add_test(cases, options_joined_and_dashes);
    tcase_add_test(cases, options_refused);
    tcase_add_test(cases, options_nearest);
    tcase_add_test(cases, options_tables);
    tcase_add_test(cases, escape);
    tcase_add_test(cases, figures);
    tcase_add_test(cases, verdicts);
    tcase_add_test(cases, problems_counted_once);
    tcase_add_test(cases, timeline_too_large);
    tcase_add_test(cases, timeline_expected);
    tcase_add_test(cases, output_expected);
    suite_add_tcase(suite, cases);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? 0 : 1;
}
