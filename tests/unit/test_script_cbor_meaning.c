/* test_script_cbor_meaning.c - scripts of level meaning in CBOR: all encodings, invalid, truncated.
 */
#include <stdlib.h>
#include <string.h>

#include "scripting.h"

/* A string constant that may contain zeros, and its size. */
#define BYTES(s) s, sizeof s - 1

/* ---- valid scripts --------------------------------------------------------------------------- */

static const char text[] = "Trace Go1.21 level=meaning start=5\n"
                           "GoStart t=1 g=1\n"
                           "GoSleep t=2 stk=\"main.f a.go:7\" stk=\"main.\\xff\"\n"
                           "raw Batch p=7 ticks=1\n"
                           "raw ProcStop dt=1\n";

#define MEANING                                                                                    \
    "\x65level\x67meaning\x65start\x05\x66"                                                        \
    "events"
#define EVENT                                                                                      \
    "\x65"                                                                                         \
    "event"
#define FRAME "\x6dmain.f a.go:7"
#define START "\xa3" EVENT "\x67GoStart\x61t\x01\x61g\x01"
#define SLEEP "\xa3" EVENT "\x67GoSleep\x61t\x02\x63stk\x82" FRAME "\x46main.\xff"
#define BATCH "\x83\x01\x07\x01"
#define STOP  "\x82\x06\x01"

/* The head of a document, 47 bytes. */
#define D    "\xd9\xd9\xf7\xa4\x65trace\x67go 1.21" MEANING "\x9f"
#define D_AT 47

static const char document[] = D START SLEEP BATCH STOP "\xff";

static const struct {
    const char *script;
    size_t size;
} same_scripts[] = {
    {BYTES(document)},
    /* as a sequence, with the head in another order */
    {BYTES("\xa3\x65start\x05\x65level\x67meaning\x65trace\x67go 1.21" START SLEEP BATCH STOP)},
    /* other orders, indefinite lengths, tags and chunks; records by name */
    {BYTES("\xbf\x65level\x67meaning\x65start\xc1\x05\x65trace\x67go 1.21\x66"
           "events\x84"
           "\xbf\x61g\x01\x61t\xc1\x61"
           "1" EVENT "\x67GoStart\xff"
           "\xa3\x63stk\x9f\x7f\x67main.f \x66"
           "a.go:7\xff\x5f\x45main.\x41\xff\xff\xff\x61t\xf9\x40\x00" EVENT "\x67GoSleep"
           "\xa4\x63raw\xf5" EVENT "\x65"
           "Batch\x61p\x07\x65ticks\x01"
           "\xa3" EVENT "\x68ProcStop\x62"
           "dt\x01\x63raw\xf5\xff")},
};

START_TEST(scripts_in_other_encodings)
{
    blob trace = {0}, expected = {0};
    script_error error;
    ck_assert_int_eq(synth(BYTES(text), &expected, NULL, &error), GOTRACE_OK);
    const char *script = same_scripts[_i].script;
    gotrace_status status = synth(script, same_scripts[_i].size, &trace, NULL, &error);
    ck_assert_msg(status == GOTRACE_OK, "0x%llx: %s", (unsigned long long)error.offset,
                  error.error.message);
    ck_assert_uint_eq(trace.size, expected.size);
    ck_assert_mem_eq(trace.bytes, expected.bytes, trace.size);
    blob_free(&trace);
    blob_free(&expected);
}
END_TEST

/* ---- invalid scripts ------------------------------------------------------------------------- */

typedef struct wrong_case {
    const char *script;
    size_t size;
    uint64_t offset;
    const char *says[2]; /* substrings of the message */
} wrong_case;

#define SLEEPS(count) count EVENT "\x67GoSleep\x61t\x02"

/* Offsets of the second event, and of its members after the time. */
#define SECOND (D_AT + sizeof START - 1)
#define REST   (SECOND + sizeof SLEEPS("\xa3") - 1)

static const wrong_case wrong_cases[] = {
    /* the head */
    {BYTES("\xa2\x65trace\x67go 1.21\x66"
           "events\x80"),
     15,
     {"\"events\" found", "\"level\": \"meaning\""}},
    {BYTES("\xa3\x65trace\x67go 1.21\x65level\x67meaning\x67records\x80"),
     29,
     {"\"records\" found", "\"events\""}},
    {BYTES("\xa3\x65trace\x67go 1.21\x67records\x80\x65level\x63raw"), 24, {"behind the events"}},
    {BYTES("\xa2\x65trace\x67go 1.21\x65level\x01"), 15, {"level: \"1\" found"}},
    {BYTES("\xa2\x65level\x67meaning\x65level\x67meaning"), 15, {"level is specified twice"}},
    {BYTES("\xa2\x65level\x67meaning\x65start\x20"), 15, {"start: \"-1\" found"}},
    {BYTES("\xa2\x65level\x67meaning\x65start\xf6"), 21, {"start: null found"}},
    {BYTES("\xa1\x65start\x81\x01"), 7, {"start: an array found"}},
    {BYTES("\xa1\x65leven\x01"), 1, {"no \"leven\"", "did you mean level?"}},
    /* not an event */
    {BYTES(D START "\x05"), SECOND, {"5 found", "an event expected"}},
    {BYTES(D START "\xa0"), SECOND, {"without \"event\""}},
    {BYTES(D START "\xa1" EVENT "\x05"), SECOND + 7, {"event: 5 found"}},
    {BYTES(D START "\xa1" EVENT "\x67GoSleet"), SECOND, {"did you mean GoSleep?"}},
    {BYTES(D START "\xa1" EVENT "\x65"
                   "Batch"),
     SECOND,
     {"events[1]: Batch is not an event of level meaning"}},
    {BYTES(D START "\xa2" EVENT "\x67GoSleep\x63raw\x01"), SECOND + 19, {"raw: 1 found", "true"}},
    /* arguments */
    {BYTES(D START "\xa1" EVENT "\x67GoSleep"), SECOND, {"GoSleep lacks its time t"}},
    {BYTES(D START SLEEPS("\xa3") "\x63stj\x80"),
     REST,
     {"no argument \"stj\"", "its only argument is stk"}},
    {BYTES(D START SLEEPS("\xa3") "\x01\x01"), REST, {"1 found", "a name expected"}},
    {BYTES(D START SLEEPS("\xa3") "\x61t\x02"), REST, {"GoSleep has t twice"}},
    {BYTES(D START SLEEPS("\xa3") EVENT "\x67GoSleep"), REST, {"\"event\" twice"}},
    {BYTES(D START SLEEPS("\xa3") "\x61g\x20"), REST, {"GoSleep: "}},
    {BYTES(D START SLEEPS("\xa3") "\x61g\xc2\x49\x01\0\0\0\0\0\0\0\0"),
     REST + 3,
     {"g: a 9-byte number found", "64 bits"}},
    {BYTES(D START SLEEPS("\xa3") "\x61g\x81\x01"), REST, {"g: an array found", "only a stack"}},
    {BYTES(D START SLEEPS("\xa3") "\x63stk\x05"), REST, {"stk: 5 found"}},
    {BYTES(D START SLEEPS("\xa3") "\x63stk\x81\x05"), REST + 5, {"stk: 5 found", "a frame"}},
    {BYTES(D START SLEEPS("\xa3") "\x63stk\x81\x61\xff"), REST + 5, {"not UTF-8"}},
    {BYTES(D START SLEEPS("\xa3") "\x63stk\xa0"), REST + 4, {"stk: a map found"}},
    {BYTES(D START SLEEPS("\xa4") "\x63stk\x81\x61"
                                  "f\x63stk\x81\x61"
                                  "f"),
     REST + 7,
     {"stk twice"}},
    {BYTES(D START "\xa2" EVENT "\x67GoSleep\x61t\xf9\x7e\x00"), SECOND + 17, {"t: NaN found"}},
    {BYTES(D START "\xa2" EVENT "\x67GoSleep\x61t\xfb\x44\x15\xaf\x1d\x78\xb5\x8c\x40"),
     SECOND + 17,
     {"t: 1e+20 found"}},
    {BYTES(D START "\xa2" EVENT "\x67GoSleep\x61t\x3b\xff\xff\xff\xff\xff\xff\xff\xff"),
     SECOND + 17,
     {"t: -18446744073709551616 found"}},
    {BYTES(D START "\xa2" EVENT "\x67GoSleep\x61t\x00"), SECOND, {"GoSleep"}},
    /* impossible events */
    {BYTES(D START START), SECOND, {"GoStart"}},
    /* records */
    {BYTES(D START "\x82\x18\x3f\x01"), SECOND + 1, {"63 is not the code"}},
    {BYTES(D START "\xa2\x63raw\xf5" EVENT "\x67GoSleet"), SECOND, {"did you mean GoSleep?"}},
};

START_TEST(wrong_scripts)
{
    const wrong_case *c = &wrong_cases[_i];
    blob trace = {0};
    script_error error;
    ck_assert_int_eq(synth(c->script, c->size, &trace, NULL, &error), GOTRACE_ERROR);
    for (size_t i = 0; i < 2 && c->says[i]; i++)
        ck_assert_msg(strstr(error.error.message, c->says[i]), "case %d: \"%s\" does not say %s",
                      _i, error.error.message, c->says[i]);
    ck_assert_msg(error.offset == c->offset, "case %d: 0x%llx, expected 0x%llx: %s", _i,
                  (unsigned long long)error.offset, (unsigned long long)c->offset,
                  error.error.message);
    blob_free(&trace);
}
END_TEST

/* A name of the maximum length is truncated in the message. */
START_TEST(long_names)
{
    blob script = {0}, trace = {0};
    script_error error;
    blob_write(&script, BYTES(D "\xa2" EVENT "\x67GoSleep\x7a\x00\x0f\x42\x40"));
    for (size_t i = 0; i < 1000000; i++)
        blob_write(&script, "t", 1);
    blob_write(&script, "\x01", 1);
    ck_assert_int_eq(synth(script.bytes, script.size, &trace, NULL, &error), GOTRACE_ERROR);
    ck_assert_ptr_nonnull(strstr(error.error.message, "tttt..."));
    ck_assert_uint_eq(error.offset, D_AT + 15);
    blob_free(&script);
    blob_free(&trace);
}
END_TEST

/* ---- hostile scripts ------------------------------------------------------------------------- */

/* A truncated document is an error. */
START_TEST(truncated_everywhere)
{
    blob trace = {0};
    script_error error;
    for (size_t at = 1; at < sizeof document - 1; at++) {
        ck_assert_int_eq(synth(document, at, &trace, NULL, &error), GOTRACE_ERROR);
        ck_assert_msg(strstr(error.error.message, "cut off"), "%zu: %s", at, error.error.message);
        ck_assert_uint_eq(error.offset, at);
        blob_free(&trace);
    }
}
END_TEST

/* Each byte changed to each other value: an error or a trace, never a crash. */
START_TEST(damaged_scripts)
{
    const char *script = same_scripts[_i].script;
    size_t size = same_scripts[_i].size;
    char *copy = malloc(size);
    for (size_t at = 0; at < size; at++)
        for (int byte = 0; byte < 256; byte += 1 + byte % 3) {
            blob trace = {0};
            script_error error;
            memcpy(copy, script, size);
            copy[at] = (char)byte;
            gotrace_status status = synth(copy, size, &trace, NULL, &error);
            if (status != GOTRACE_OK)
                ck_assert_uint_gt(strlen(error.error.message), 0);
            blob_free(&trace);
        }
    free(copy);
}
END_TEST

START_TEST(memory_refused)
{
    synth_refused(same_scripts[_i].script, same_scripts[_i].size, 400);
}
END_TEST

int main(void)
{
    int same = (int)(sizeof same_scripts / sizeof same_scripts[0]);
    Suite *suite = suite_create("script_cbor_meaning");
    TCase *cases = tcase_create("script_cbor_meaning");
    tcase_add_loop_test(cases, scripts_in_other_encodings, 0, same);
    tcase_add_loop_test(cases, wrong_scripts, 0, sizeof wrong_cases / sizeof wrong_cases[0]);
    tcase_add_test(cases, long_names);
    tcase_add_test(cases, truncated_everywhere);
    tcase_add_loop_test(cases, damaged_scripts, 0, same);
    tcase_add_loop_test(cases, memory_refused, 0, same);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
