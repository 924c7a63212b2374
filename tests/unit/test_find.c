/* Expressions of find: what is parsed, what is wrong and where, and how verdicts are combined. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/analyse/expression.h"
#include "formats/analyse/timeset.h"

/* ---- parsing ----------------------------------------------------------------------------------
 */

/* The code of a query, in a short form. */
static void show(char *text, size_t room, const expression *x, size_t query)
{
    static const char *const compares[] = {"", ">", ">=", "<", "<="};
    const expression_query *q = &x->queries[query];
    size_t used = 0;
    for (size_t i = 0; i < q->count && used < room; i++) {
        const expression_op *op = &q->code[i];
        const expression_term *t = op->code == OP_TERM ? &x->terms[op->number] : NULL;
        char part[160];
        switch (op->code) {
        case OP_TERM:
            snprintf(part, sizeof part, "%s%s%s%s%s%s", moment_name(t->kind),
                     t->sync      ? "(sync)"
                     : t->network ? "(network)"
                                  : "",
                     t->text ? ":" : "", t->text ? t->text : "", t->pattern ? "~" : "",
                     compares[t->compare]);
            if (t->compare != COMPARE_NONE)
                snprintf(part + strlen(part), sizeof part - strlen(part), "%llu",
                         (unsigned long long)t->bound);
            break;
        case OP_FUNCTION: snprintf(part, sizeof part, "function"); break;
        case OP_STACK: snprintf(part, sizeof part, "stack"); break;
        case OP_GOROUTINE:
            snprintf(part, sizeof part, "g%llu", (unsigned long long)op->number);
            break;
        case OP_DURING:
            snprintf(part, sizeof part, "during%llu", (unsigned long long)op->number);
            break;
        case OP_NOT: snprintf(part, sizeof part, "not"); break;
        case OP_AND: snprintf(part, sizeof part, "and"); break;
        case OP_OR: snprintf(part, sizeof part, "or"); break;
        case OP_UNLESS_TRUE:
            snprintf(part, sizeof part, "?%llu", (unsigned long long)op->number);
            break;
        case OP_UNLESS_FALSE:
            snprintf(part, sizeof part, "!%llu", (unsigned long long)op->number);
            break;
        }
        used += (size_t)snprintf(text + used, room - used, "%s%s", i ? " " : "", part);
    }
}

enum { STATES = 15 };

static const struct {
    const char *text, *code;
    unsigned kinds; /* of the main query */
} parsed[] = {
    {"stw", "stw", 1 << MOMENT_STW},
    {" stw>10ms\n", "stw>10000000", 1 << MOMENT_STW},
    {"gc >= 1.5s", "gc>=1500000000", 1 << MOMENT_GC},
    {"sched < 7us", "sched<7000", 1 << MOMENT_SCHED},
    {"run <= 100ns", "run<=100", 1 << MOMENT_RUN},
    {"wait(sync) > 1s", "wait(sync)>1000000000", 1 << MOMENT_WAIT},
    {"wait ( network )", "wait(network)", 1 << MOMENT_WAIT},
    {"wait(\"chan \\\"receive\\\\\")", "wait:chan \"receive\\", 1 << MOMENT_WAIT},
    {"stw('GC \\ mark')", "stw:GC \\ mark", 1 << MOMENT_STW},
    {"task(\"\") or region('db') > 2ms", "task: ?4 region:db>2000000 or",
     1 << MOMENT_TASK | 1 << MOMENT_REGION},
    {"silence", "silence>20000000", 1 << MOMENT_SILENCE},
    {"silence >= 0ns", "silence>=0", 1 << MOMENT_SILENCE},
    {"silence > 20ms", "silence>20000000", 1 << MOMENT_SILENCE},
    {"log ~ timeout", "log~", 1 << MOMENT_LOG},
    {"log", "log", 1 << MOMENT_LOG},
    {"goroutines > 10000", "goroutines>10000", 1 << MOMENT_GOROUTINES},
    {"goroutines ~ main.worker > 100", "goroutines~>100", 1 << MOMENT_GOROUTINES},
    {"goroutines ~ a > 1 or goroutines ~ 'a' > 1", "goroutines~>1 ?4 goroutines~>1 or",
     1 << MOMENT_GOROUTINES},
    {"heap >= 4G", "heap>=4294967296", 1 << MOMENT_HEAP},
    {"heap > 16777215T", "heap>18446742974197923840", 1 << MOMENT_HEAP},
    {"goroutine == 18446744073709551615", "g18446744073709551615", STATES},
    {"function ~ ^main\\.[a-z]+$", "function", STATES},
    {"stack ~ 'a (b|c)'", "stack", STATES},
    {"run and stw or gc and not log", "run !4 stw and ?11 gc !10 log not and or",
     1 << MOMENT_RUN | 1 << MOMENT_STW | 1 << MOMENT_GC},
    {"run and sched and wait and syscall", "run !10 sched and !10 wait and !10 syscall and",
     STATES},
    {"(run or (sched))and(wait)", "run ?4 sched or !7 wait and",
     1 << MOMENT_RUN | 1 << MOMENT_SCHED | 1 << MOMENT_WAIT},
    {"not not run", "run", 1 << MOMENT_RUN},
    {"not not not run", "run not", STATES},
    {"not (run and not gc)", "run !5 gc not and not", 1 << MOMENT_GC},
    {"run and during (stw)", "run !4 during1 and", 1 << MOMENT_RUN},
    {"during(stw or during(not gc))", "during1", STATES},
    {"not during (stw)", "during1 not", STATES},
};

START_TEST(what_is_parsed)
{
    expression x;
    expression_error error;
    char code[256] = "";
    ck_assert_msg(expression_parse(&x, parsed[_i].text, &error), "%s: %s", parsed[_i].text,
                  error.message);
    show(code, sizeof code, &x, 0);
    ck_assert_str_eq(code, parsed[_i].code);
    ck_assert_uint_eq(x.queries[0].kinds, parsed[_i].kinds);
    ck_assert_uint_eq(x.queries[0].during, strstr(code, "during") != NULL);
    expression_free(&x);
}
END_TEST

START_TEST(queries)
{
    expression x;
    expression_error error;
    char code[256] = "";
    ck_assert(
        expression_parse(&x, "during (stw > 1s or during (not gc)) and during (log)", &error));
    ck_assert_uint_eq(x.query_count, 4);
    show(code, sizeof code, &x, 0);
    ck_assert_str_eq(code, "during1 !4 during3 and");
    show(code, sizeof code, &x, 1);
    ck_assert_str_eq(code, "stw>1000000000 ?4 during2 or");
    show(code, sizeof code, &x, 2);
    ck_assert_str_eq(code, "gc not");
    ck_assert_uint_eq(x.queries[1].kinds, 1 << MOMENT_STW);
    ck_assert_uint_eq(x.queries[2].kinds, STATES);
    ck_assert_uint_eq(x.queries[3].kinds, 1 << MOMENT_LOG);
    ck_assert_uint_eq(x.kinds, STATES | 1 << MOMENT_STW | 1 << MOMENT_LOG);
    expression_free(&x);
}
END_TEST

static const struct {
    const char *text;
    size_t at;
    const char *message;
} wrong[] = {
    {"", 0, "the expression is empty"},
    {" \t\n", 3, "the expression is empty"},
    {"sced > 1s", 0, "a test such as stw > 10ms expected, not 'sced'"},
    {"stw > 10", 6, "a duration such as 10ms"},
    {"stw > 10ms5", 6, "a duration such as 10ms"},
    {"stw > 9223372037s", 6, "a duration such as 10ms"},
    {"stw > -1ms", 6, "a duration such as 10ms"},
    {"stw > 2026-11-22T10:00:00Z", 6, "a duration such as 10ms"},
    {"stw > 10ms 3", 11, "and, or, or the end expected, not '3'"},
    {"stw = 10ms", 4, "and, or, or the end expected, not '='"},
    {"stw == 10ms", 4, "and, or, or the end expected, not '=='"},
    {"stw(GC)", 4, "a name in quotes expected, not 'GC'"},
    {"wait(disk)", 5, "sync, network or a reason in quotes expected, not 'disk'"},
    {"wait(sync", 9, ") expected, but the expression ends"},
    {"run(sync)", 3, "and, or, or the end expected, not '('"},
    {"log > 3s", 4, "and, or, or the end expected, not '>'"},
    {"log ~", 5, "a regular expression expected, but the expression ends"},
    {"log ~ )", 6, "a regular expression expected, not ')'"},
    {"log ~ \"a", 6, "the string has no closing \""},
    {"log ~ \"x[\"", 9, "in the regular expression: missing terminating ]"},
    {"function", 8, "~ expected, but the expression ends"},
    {"function ~ *", 11, "in the regular expression: quantifier does not follow"},
    {"silence(20ms)", 7, "and, or, or the end expected, not '('"},
    {"silence > 20", 10, "a duration such as 10ms"},
    {"goroutine 3", 10, "== expected, not '3'"},
    {"goroutine == x", 13, "the number of a goroutine expected, not 'x'"},
    {"goroutine == 18446744073709551616", 13, "the number of a goroutine expected"},
    {"goroutines", 10, "> or >= expected"},
    {"goroutines < 3", 11, "> or >= expected"},
    {"goroutines ~ x", 14, "> or >= expected"},
    {"goroutines > 3K", 13, "a number such as 10000 expected, not '3K'"},
    {"heap > 16777216T", 7, "a size such as 4G"},
    {"heap > 4GB", 7, "a size such as 4G"},
    {"heap > 4g", 7, "a size such as 4G"},
    {"run and", 7, "a test such as stw > 10ms expected, but the expression ends"},
    {"run or or gc", 7, "a test such as stw > 10ms expected, not 'or'"},
    {"not", 3, "a test such as stw > 10ms expected, but the expression ends"},
    {"(run", 4, "and, or, or ) expected, but the expression ends"},
    {"run)", 3, "and, or, or the end expected, not ')'"},
    {"during gc", 7, "( expected, not 'gc'"},
    {"during ()", 8, "a test such as stw > 10ms expected, not ')'"},
    {"\xc3\xa9t\xc3\xa9", 0, "a test such as stw > 10ms expected, not '\xc3\xa9t\xc3\xa9'"},
    {"\xff", 0, "a test such as stw > 10ms expected, not '\xff'"},
    {"#", 0, "a test such as stw > 10ms expected, not '#'"},
};

START_TEST(what_is_wrong)
{
    expression x;
    expression_error error;
    ck_assert_msg(!expression_parse(&x, wrong[_i].text, &error), "%s", wrong[_i].text);
    ck_assert_msg(strncmp(error.message, wrong[_i].message, strlen(wrong[_i].message)) == 0,
                  "%s: %s", wrong[_i].text, error.message);
    ck_assert_uint_eq(error.at, wrong[_i].at);
    expression_free(&x);
}
END_TEST

/* A text of parts: a first one, n times the second one, and a last one. */
static char *repeat(const char *first, const char *part, size_t n, const char *last)
{
    char *text = malloc(strlen(first) + n * strlen(part) + strlen(last) + 1);
    ck_assert_ptr_nonnull(text);
    char *at = stpcpy(text, first);
    for (size_t i = 0; i < n; i++)
        at = stpcpy(at, part);
    stpcpy(at, last);
    return text;
}

static const struct {
    const char *first, *part, *last, *closing;
    size_t most; /* repetitions that are accepted */
    const char *message;
} limits[] = {
    {"run", " or run", "", "", EXPRESSION_TESTS - 1, "an expression has at most 1000 tests"},
    {"run", " and run", "", "", EXPRESSION_TESTS - 1, "an expression has at most 1000 tests"},
    {"log ~ a", " or log ~ a", "", "", EXPRESSION_PATTERNS - 1,
     "an expression has at most 64 regular expressions"},
    {"run", " and during (run)", "", "", EXPRESSION_DURINGS,
     "an expression has at most 16 times during"},
    {"", "(", "run", ")", EXPRESSION_NESTING, "an expression has at most 100 nested parentheses"},
    {"", "run and (run or not (", "run", "))", EXPRESSION_NESTING / 2,
     "an expression has at most 100 nested parentheses"},
};

START_TEST(how_much_is_parsed)
{
    expression x;
    expression_error error;
    for (int more = 0; more <= 1; more++) {
        size_t count = limits[_i].most + (size_t)more;
        char *end = repeat(limits[_i].last, limits[_i].closing, count, "");
        char *text = repeat(limits[_i].first, limits[_i].part, count, end);
        bool done = expression_parse(&x, text, &error);
        ck_assert_msg(done == !more, "%zu times %s: %s", count, limits[_i].part, error.message);
        if (more)
            ck_assert_str_eq(error.message, limits[_i].message);
        expression_free(&x);
        free(text);
        free(end);
    }
}
END_TEST

/* 10^5 bytes of anything end with an expression or an error in the text. */
START_TEST(long_texts)
{
    static const char *const parts[] = {"(",           ")",     "not ", "run or ", "run and ",
                                        "during (",    "\"",    "x",    "9",       " ",
                                        "log ~ a or ", "wait(", "~",    "stw > ",  "\\"};
    expression x;
    expression_error error;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        char *text = repeat("", parts[i], 100000 / strlen(parts[i]), "run");
        bool done = expression_parse(&x, text, &error);
        ck_assert_msg(done == (i == 2 || i == 9), "%s: %s", parts[i], error.message);
        ck_assert(done || (error.message[0] && error.at <= strlen(text)));
        expression_free(&x);
        free(text);
    }
}
END_TEST

/* ---- verdicts ---------------------------------------------------------------------------------
 */

/* The verdicts of goroutine == 0, 1, 2 and 3, and which of them were asked for. */
typedef struct given {
    verdict of[4];
    unsigned asked;
} given;

static verdict give(void *ctx, const expression_op *op)
{
    given *g = ctx;
    g->asked |= 1U << op->number;
    return g->of[op->number];
}

/* F, T and U for false, true and unknown. */
static verdict verdict_of(char c)
{
    return c == 'T' ? VERDICT_TRUE : c == 'F' ? VERDICT_FALSE : VERDICT_UNKNOWN;
}

static const struct {
    const char *text, *given;
    char result;
    unsigned asked;
} verdicts[] = {
    {"0", "T", 'T', 1},
    {"not 0", "T", 'F', 1},
    {"not 0", "F", 'T', 1},
    {"not 0", "U", 'U', 1},
    {"0 and 1", "TT", 'T', 3},
    {"0 and 1", "TF", 'F', 3},
    {"0 and 1", "FT", 'F', 1},
    {"0 and 1", "UT", 'U', 3},
    {"0 and 1", "TU", 'U', 3},
    {"0 and 1", "UF", 'F', 3},
    {"0 and 1", "UU", 'U', 3},
    {"0 or 1", "FF", 'F', 3},
    {"0 or 1", "FT", 'T', 3},
    {"0 or 1", "TF", 'T', 1},
    {"0 or 1", "UF", 'U', 3},
    {"0 or 1", "FU", 'U', 3},
    {"0 or 1", "UT", 'T', 3},
    {"0 or 1", "UU", 'U', 3},
    {"0 and 1 and 2", "FTT", 'F', 1},
    {"0 and 1 and 2", "TFT", 'F', 3},
    {"0 and 1 and 2", "UFT", 'F', 3},
    {"0 or 1 or 2", "FTF", 'T', 3},
    {"0 or 1 and 2", "FTF", 'F', 7},
    {"0 or 1 and 2", "TFF", 'T', 1},
    {"0 and 1 or 2", "FTT", 'T', 5},
    {"0 and 1 or 2", "FTF", 'F', 5},
    {"(0 or 1) and 2", "TFF", 'F', 5},
    {"(0 or 1) and (2 or 3)", "FTFT", 'T', 15},
    {"not (0 or 1) and not 2", "FFF", 'T', 7},
    {"not (0 or 1) and not 2", "FTF", 'F', 3},
    {"not 0 and 1", "FT", 'T', 3},
};

START_TEST(how_verdicts_are_combined)
{
    char text[256];
    size_t used = 0;
    for (const char *at = verdicts[_i].text; *at; at++)
        used += (size_t)snprintf(text + used, sizeof text - used,
                                 *at >= '0' && *at <= '3' ? "goroutine == %c" : "%c", *at);
    expression x;
    expression_error error;
    given g = {0};
    for (size_t i = 0; verdicts[_i].given[i]; i++)
        g.of[i] = verdict_of(verdicts[_i].given[i]);
    ck_assert_msg(expression_parse(&x, text, &error), "%s: %s", text, error.message);
    ck_assert_int_eq(expression_test(&x.queries[0], give, &g), verdict_of(verdicts[_i].result));
    ck_assert_uint_eq(g.asked, verdicts[_i].asked);
    expression_free(&x);
}
END_TEST

/* As many verdicts wait as possible: two in each pair of parentheses. */
START_TEST(deep_verdicts)
{
    char *closing = repeat("", ")", EXPRESSION_NESTING, "");
    char *text = repeat("", "goroutine == 1 or goroutine == 0 and (", EXPRESSION_NESTING,
                        "goroutine == 1 or goroutine == 0 and goroutine == 0");
    char *whole = repeat(text, closing, 1, "");
    given g = {.of = {VERDICT_TRUE, VERDICT_FALSE}};
    expression x;
    expression_error error;
    ck_assert_msg(expression_parse(&x, whole, &error), "%s", error.message);
    ck_assert_int_eq(expression_test(&x.queries[0], give, &g), VERDICT_TRUE);
    g.of[0] = VERDICT_UNKNOWN;
    ck_assert_int_eq(expression_test(&x.queries[0], give, &g), VERDICT_UNKNOWN);
    expression_free(&x);
    free(whole);
    free(text);
    free(closing);
}
END_TEST

/* ---- stretches of time ------------------------------------------------------------------------
 */

enum { SPANS = 40, TIMES = 60 };

static bool overlap(int64_t begin, int64_t end, int64_t other, int64_t other_end)
{
    if (begin == end || other == other_end)
        return begin <= other_end && other <= end;
    return begin < other_end && other < end;
}

START_TEST(overlaps)
{
    uint64_t state = 88172645463325252U + (uint64_t)_i;
    timespan added[SPANS];
    timeset set = {0};
    size_t count = (size_t)_i % SPANS;
    for (size_t i = 0; i < count; i++) {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        int64_t begin = (int64_t)(state % TIMES), size = (int64_t)(state >> 32) % 4;
        added[i] = (timespan){begin, begin + size};
        timeset_add(&set, begin, begin + size);
    }
    timeset_seal(&set);
    ck_assert(!set.failed);
    for (int64_t begin = -1; begin < TIMES + 4; begin++)
        for (int64_t end = begin; end < begin + 6; end++) {
            bool expected = false;
            for (size_t i = 0; i < count; i++)
                expected = expected || overlap(begin, end, added[i].begin, added[i].end);
            ck_assert_msg(timeset_overlaps(&set, begin, end) == expected, "%d to %d", (int)begin,
                          (int)end);
        }
    timeset_free(&set);
}
END_TEST

/* What touches is one stretch, if the ends ascend. */
START_TEST(memory_of_stretches)
{
    timeset set = {0};
    for (int64_t i = 0; i < 100000; i++) {
        timeset_add(&set, 10 * i, 10 * i + 10);
        timeset_add(&set, 5, 5);
    }
    ck_assert_uint_eq(set.spans.count, 1);
    ck_assert_uint_eq(set.instants.count, 1);
    timeset_free(&set);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("find");
    TCase *tests = tcase_create("find");
    suite_add_tcase(suite, tests);
#define COUNT(rows) (int)(sizeof(rows) / sizeof *(rows))
    tcase_add_loop_test(tests, what_is_parsed, 0, COUNT(parsed));
    tcase_add_test(tests, queries);
    tcase_add_loop_test(tests, what_is_wrong, 0, COUNT(wrong));
    tcase_add_loop_test(tests, how_much_is_parsed, 0, COUNT(limits));
    tcase_add_test(tests, long_texts);
    tcase_add_loop_test(tests, how_verdicts_are_combined, 0, COUNT(verdicts));
    tcase_add_test(tests, deep_verdicts);
    tcase_add_loop_test(tests, overlaps, 0, 200);
    tcase_add_test(tests, memory_of_stretches);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? 1 : 0;
}
