/* test_script_cbor.c - event scripts in CBOR: all encodings, invalid, truncated, hostile. */
#include <stdlib.h>
#include <string.h>

#include "scripting.h"

/* A string constant that may contain zeros, and its size. */
#define BYTES(s) s, sizeof s - 1

/* ---- valid scripts --------------------------------------------------------------------------- */

static const uint8_t small_trace[] = "go 1.19 trace\0\0\0"
                                     "\x41\x00\x80\x01"
                                     "\x25\x01\x06x \xe2\x82\xac="
                                     "\xcd\x04\x05\x01\x02\x03"
                                     "\xc3\x06\x03\x01\x10\x01\x00\x02"
                                     "\x02\x7f";

/* The head of a document, 27 bytes, and of a sequence, 15 bytes. */
#define D    "\xd9\xd9\xf7\xa2\x65trace\x67go 1.19\x67records\x9f"
#define S    "\xa1\x65trace\x67go 1.19"
#define D_AT 27
#define S_AT 15

#define EVENT                                                                                      \
    "\x65"                                                                                         \
    "event"
#define GO_END "\x65GoEnd"
#define DT                                                                                         \
    "\x62"                                                                                         \
    "dt"
#define DATA                                                                                       \
    "\x64"                                                                                         \
    "data"
#define FRAMES                                                                                     \
    "\x66"                                                                                         \
    "frames"
#define BATCH  "\x83\x01\x00\x18\x80"
#define STRING "\x83\x18\x25\x01\x66x \xe2\x82\xac="
#define CREATE "\x85\x0d\x05\x01\x02\x03"
#define STACK  "\x83\x03\x03\x81\x84\x10\x01\x00\x02"
#define FREQ   "\x82\x02\x18\x7f"

/* As dump writes it. */
static const char written[] = D BATCH STRING CREATE STACK FREQ "\xff";

static const struct {
    const char *script;
    size_t size;
} same_scripts[] = {
    {BYTES(written)},
    {BYTES(S BATCH STRING CREATE STACK FREQ)},
    /* with names, in the order of names */
    {BYTES(D "\xa3\x61p\x00" EVENT "\x65"
             "Batch\x65ticks\x18\x80"
             "\xa3\x62id\x01" DATA "\x66x \xe2\x82\xac=" EVENT "\x66String"
             "\xa5\x61g\x01" DT "\x05\x63stk\x03" EVENT "\x68GoCreate\x65stack\x02"
             "\xa4\x62id\x03" EVENT "\x65Stack" FRAMES "\x81\x84\x10\x01\x00\x02\x67nframes\x01"
             "\x82\x69"
             "Frequency\x18\x7f\xff")},
    /* with definite and indefinite lengths, other than as written */
    {BYTES("\xbf\x65trace\x67go 1.19\x67records\x85"
           "\x9f\x01\x00\x18\x80\xff"
           "\xbf" EVENT "\x66String\x62id\x01" DATA "\x66x \xe2\x82\xac=\xff"
           "\x9f\x0d\x05\x01\x02\x03\xff" STACK FREQ "\xff")},
    /* numbers longer than necessary, or as text; strings in chunks, and as bytes */
    {BYTES(D "\x9f\x1b\x00\x00\x00\x00\x00\x00\x00\x01\x19\x00\x00\x63"
             "128\xff"
             "\x83\x18\x25\x01\x5f\x41x\x40\x45 \xe2\x82\xac=\xff"
             "\x85\x0d\x05\x01\x64"
             "0x02\x1a\x00\x00\x00\x03"
             "\x9f\x03\x03\x9f\x9f\x10\x01\x00\x02\xff\xff\xff" FREQ "\xff")},
    {BYTES(S BATCH "\x83\x18\x25\x01\x7f\x62x \x60\x63\xe2\x82\xac\x61=\xff" CREATE STACK FREQ)},
    /* tags anywhere */
    {BYTES("\xd9\xd9\xf7\xc1\xa1\xc0\x65trace\xc1\x67go 1.19"
           "\xd9\xd9\xf7\x83\xda\x00\x01\x00\x00\x01\x00\xd8\x18\x18\x80" STRING
           "\x85\xc6\x0d\x05\x01\x02\x03" STACK "\xdb\xff\xff\xff\xff\xff\xff\xff\xff" FREQ)},
    /* deviations that state the default */
    {BYTES(D BATCH STRING "\x86\x0d\x05\x01\x02\x03\xa2\x64"
                          "form\x03\x63pad\x82\x82\x00\x01"
                          "\x82\x04\x01" STACK "\x83\x02\x18\x7f\xa0\xff")},
};

START_TEST(scripts_in_other_encodings)
{
    blob trace = {0};
    script_error error;
    const char *script = same_scripts[_i].script;
    gotrace_status status = synth(script, same_scripts[_i].size, &trace, NULL, &error);
    ck_assert_msg(status == GOTRACE_OK, "0x%llx: %s", (unsigned long long)error.offset,
                  error.error.message);
    ck_assert_uint_eq(trace.size, sizeof small_trace - 1);
    ck_assert_mem_eq(trace.bytes, small_trace, trace.size);
    blob_free(&trace);
}
END_TEST

/* ---- output ---------------------------------------------------------------------------------- */

/* Padded numbers, another form, bytes that are not UTF-8, all of 64 bits. */
static const uint8_t odd_trace[] = "go 1.19 trace\0\0\0"
                                   "\xc1\x03\x01\x85\x00"
                                   "\xe5\x81\x00\x02\xff\x00"
                                   "\x02\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01";

static const char odd_script[] = D "\x84\x01\x01\x05\xa2\x64"
                                   "form\x03\x63pad\x81\x82\x02\x02"
                                   "\x84\x18\x25\x01\x42\xff\x00\xa2\x64"
                                   "form\x03\x63pad"
                                   "\x81\x82\x00\x02"
                                   "\x82\x02\x1b\xff\xff\xff\xff\xff\xff\xff\xff\xff";

static void dump(const uint8_t *bytes, size_t size, blob *script)
{
    out o;
    gotrace_decoder *d;
    const gotrace_record *record;
    ck_assert(out_init(&o, blob_write, script));
    ck_assert_int_eq(gotrace_decoder_new(NULL, &d, NULL), GOTRACE_OK);
    gotrace_decoder_feed(d, bytes, size);
    gotrace_decoder_finish(d);
    script_by_name("cbor")->begin(&o, 19);
    while (gotrace_decoder_next(d, &record) == GOTRACE_EVENT)
        script_by_name("cbor")->record(&o, 19, record, false);
    script_by_name("cbor")->end(&o);
    ck_assert(out_flush(&o));
    out_free(&o);
    gotrace_decoder_free(d);
}

START_TEST(expected_output)
{
    blob script = {0};
    dump(small_trace, sizeof small_trace - 1, &script);
    ck_assert_uint_eq(script.size, sizeof written - 1);
    ck_assert_mem_eq(script.bytes, written, script.size);
    blob_free(&script);
    dump(odd_trace, sizeof odd_trace - 1, &script);
    ck_assert_uint_eq(script.size, sizeof odd_script - 1);
    ck_assert_mem_eq(script.bytes, odd_script, script.size);
    blob_free(&script);
}
END_TEST

/* ---- invalid scripts ------------------------------------------------------------------------- */

typedef struct wrong_case {
    const char *script;
    size_t size;
    uint64_t offset, event;
    const char *says[3]; /* substrings of the message */
} wrong_case;

static const wrong_case wrong_cases[] = {
    /* the head */
    {BYTES("\x80"), 0, 0, {"an array found", "a map expected"}},
    {BYTES("\x9f"), 0, 0, {"an array found", "a map expected"}},
    {BYTES("\xd9\xd9\xf7\x01"), 3, 0, {"1 found", "a map expected"}},
    {BYTES("\xa0"), 0, 0, {"lacks \"trace\""}},
    {BYTES("\xbf\xff"), 0, 0, {"lacks \"trace\""}},
    {BYTES("\xa1\x65trace\x05"), 7, 0, {"trace: 5 found", "go 1.N"}},
    {BYTES("\xa1\x65trace\x64"
           "1.19"),
     7,
     0,
     {"\"1.19\"", "go 1.N"}},
    {BYTES("\xa1\x65trace\x66go 1.4"), 7, 0, {"1.4", "1.5, 1.7", "1.26"}},
    {BYTES("\xa1\x65trace\x7f\x67go 1.19\xff"), 7, 0, {"text in pieces", "go 1.N"}},
    {BYTES("\xa2\x65trace\x67go 1.19\x65trace\x67go 1.19"), 21, 0, {"specified twice"}},
    {BYTES("\xa1\x67version\x01"), 1, 0, {"\"version\"", "members are trace, level"}},
    {BYTES("\xa1\x01\x01"), 1, 0, {"1 found", "a name expected"}},
    {BYTES("\xa2\x67records\x80\x65trace\x67go 1.19"), 1, 0, {"before \"trace\""}},
    {BYTES("\xa3\x65trace\x67go 1.19\x67records\x80\x67records\x80"), 24, 0, {"behind"}},
    {BYTES("\xa2\x65trace\x67go 1.19\x67records\xa0"), 23, 0, {"a map", "array of events"}},
    {BYTES(D "\xff\x01"), D_AT + 1, 0, {"1 found", "nothing expected after the document"}},
    {BYTES(D "\xff" D), D_AT + 4, 0, {"a map found", "nothing expected"}},
    /* records */
    {BYTES(D "\x01"), D_AT, 0, {"1 found", "an event expected"}},
    {BYTES(D "\x80"), D_AT, 0, {"empty array"}},
    {BYTES(D "\x82\x18\x3f\x01"), D_AT + 1, 0, {"63 is not the code of an event of go 1.19"}},
    {BYTES(D "\x82\x19\x01\x00\x01"), D_AT + 1, 0, {"256 is not the code"}},
    {BYTES(D "\x82\x20\x01"), D_AT + 1, 0, {"event: -1 found", "code or name"}},
    {BYTES(D "\x82\x65GoEmd\x01"), D_AT, 0, {"\"GoEmd\"", "go 1.19", "did you mean GoEnd?"}},
    {BYTES(D "\x82\x0f\x01\x81\x0f"), D_AT + 3, 1, {"GoEnd lacks its argument dt"}},
    {BYTES(S "\x82\x0f\x01\x81\x0f"), S_AT + 3, 1, {"GoEnd lacks its argument dt"}},
    {BYTES(D "\x83\x0f\x01\x02"), D_AT + 3, 0, {"2 found", "end expected"}},
    {BYTES(D "\x9f\x0f\x01\x41x\xff"), D_AT + 3, 0, {"a byte string found", "end expected"}},
    /* numbers */
    {BYTES(D "\x82\x0f\x20"), D_AT + 2, 0, {"dt: -1 found", "from 0 to"}},
    {BYTES(D "\x82\x0f\x3b\xff\xff\xff\xff\xff\xff\xff\xff"),
     D_AT + 2,
     0,
     {"dt: -18446744073709551616 found"}},
    {BYTES(D "\x82\x0f\xf9\x7e\x00"), D_AT + 2, 0, {"dt: NaN found", "whole number"}},
    {BYTES(D "\x82\x0f\xfa\x7f\x80\x00\x00"), D_AT + 2, 0, {"dt: inf found"}},
    {BYTES(D "\x82\x0f\xfb\x3f\xf8\x00\x00\x00\x00\x00\x00"), D_AT + 2, 0, {"dt: 1.5 found"}},
    {BYTES(D "\x82\x0f\xf6"), D_AT + 2, 0, {"dt: null found"}},
    {BYTES(D "\x82\x0f\xf5"), D_AT + 2, 0, {"dt: true found"}},
    {BYTES(D "\x82\x0f\xf7"), D_AT + 2, 0, {"dt: undefined found"}},
    {BYTES(D "\x82\x0f\x41\x01"), D_AT + 2, 0, {"dt: a byte string found"}},
    {BYTES(D "\x82\x0f\xc2\x49\x01\0\0\0\0\0\0\0\0"), D_AT + 3, 0, {"dt: a 9-byte number"}},
    {BYTES(D "\x82\x0f\x62-1"), D_AT + 2, 0, {"dt: \"-1\" found"}},
    {BYTES(D "\x82\x0f\x74"
             "18446744073709551616"),
     D_AT + 2,
     0,
     {"\"18446744073709551616\""}},
    {BYTES(D "\x82\x0f\x81\x81\x81\x81\x01"), D_AT + 2, 0, {"dt: an array found"}},
    /* maps */
    {BYTES(D "\xa0"), D_AT, 0, {"a map without \"event\""}},
    {BYTES(D "\xa1" DT "\x01"), D_AT, 0, {"a map without \"event\""}},
    {BYTES(D "\xbf" DT "\x01\xff"), D_AT, 0, {"a map without \"event\""}},
    {BYTES(D "\xa1" EVENT "\x0f"), D_AT + 7, 0, {"event: 15 found", "name"}},
    {BYTES(D "\xa1" EVENT "\x65GoEmd"), D_AT, 0, {"did you mean GoEnd?"}},
    {BYTES(D "\xa2" EVENT GO_END "\x62td\x01"),
     D_AT + 13,
     0,
     {"\"td\"", "its only argument is dt"}},
    {BYTES(D "\xa2" EVENT GO_END "\x01\x01"), D_AT + 13, 0, {"1 found", "a name expected"}},
    {BYTES(D "\xa2" EVENT GO_END "\x7f" DT "\xff\x01"), D_AT + 13, 0, {"text in pieces"}},
    {BYTES(D "\xa3" EVENT GO_END DT "\x01" DT "\x01"), D_AT + 17, 0, {"dt twice"}},
    {BYTES(D "\xa3" EVENT GO_END DT "\x01" EVENT GO_END), D_AT + 17, 0, {"\"event\" twice"}},
    {BYTES(D "\xa2" EVENT GO_END DT "\x20"), D_AT + 16, 0, {"dt: -1 found"}},
    {BYTES(D "\xa3" EVENT GO_END DT "\x01" DATA "\x60"), D_AT, 0, {"GoEnd has data"}},
    {BYTES(D "\xa3" EVENT GO_END DT "\x01" FRAMES "\x80"), D_AT, 0, {"GoEnd has frames"}},
    {BYTES(D "\xbf" EVENT GO_END DT "\xff"), D_AT + 16, 0, {"a break where"}},
    /* data */
    {BYTES(D "\x82\x18\x25\x01"), D_AT, 0, {"String lacks its data"}},
    {BYTES(D "\x83\x18\x25\x01\x60"), D_AT, 0, {"String has 0 bytes"}},
    {BYTES(D "\x83\x18\x25\x01\x05"), D_AT + 4, 0, {"data: 5 found", "text or a byte string"}},
    {BYTES(D "\x83\x18\x25\x01\x61\xff"), D_AT + 4, 0, {"not UTF-8", "byte string"}},
    {BYTES(D "\x83\x18\x25\x01\x7f\x61\xc3\x61\xa9\xff"), D_AT + 5, 0, {"not UTF-8"}},
    {BYTES(D "\x83\x18\x25\x01\x7f\x61x\x41x\xff"), D_AT + 7, 0, {"a byte string", "same kind"}},
    {BYTES(D "\x83\x18\x25\x01\x5f\x5f\x41x\xff\xff"), D_AT + 5, 0, {"same kind"}},
    {BYTES(D "\xa4" EVENT "\x66String" DATA "\x61x" DATA "\x61y\x62id\x01"),
     D_AT + 26,
     0,
     {"data twice"}},
    /* frames */
    {BYTES(D "\x83\x03\x01\x07"), D_AT + 3, 0, {"frames: 7 found", "array of arrays"}},
    {BYTES(D "\x83\x03\x01\x81\x07"), D_AT + 4, 0, {"frames: 7 found", "array of numbers"}},
    {BYTES(D "\x83\x03\x01\x81\x83\x01\x02\x03"), D_AT + 4, 0, {"array of 3", "of 4"}},
    {BYTES(D "\x83\x03\x01\x81\x9f\x01\x02\x03\x04\x05\xff"), D_AT + 4, 0, {"more than 4"}},
    {BYTES(D "\x83\x03\x01\x81\x84\x01\x02\x03\x23"), D_AT + 8, 0, {"frames: -4 found"}},
    {BYTES(D "\xa4" EVENT "\x65Stack\x62id\x01\x67nframes\x02" FRAMES "\x80"),
     D_AT,
     0,
     {"says 2 frames, but has 0"}},
    {BYTES(D "\xa4" EVENT "\x65Stack\x62id\x01" FRAMES "\x80" FRAMES "\x80"),
     D_AT + 32,
     0,
     {"frames twice"}},
    /* deviations */
    {BYTES(D "\x83\x0f\x01\xa1\x64"
             "form\x04"),
     D_AT,
     0,
     {"form 4"}},
    {BYTES(D "\x83\x0f\x01\xa2\x64"
             "form\x03\x64"
             "form\x03"),
     D_AT + 15,
     0,
     {"form twice"}},
    {BYTES(D "\x83\x0f\x01\xa1\x64"
             "from\x03"),
     D_AT + 4,
     0,
     {"\"from\"", "\"form\" or \"pad\""}},
    {BYTES(D "\x83\x0f\x01\xa1\x63pad\x81\x82\x01\x02"), D_AT, 0, {"pad 1:2", "1 numbers"}},
    {BYTES(D "\x83\x0f\x01\xa1\x63pad\x81\x81\x01"), D_AT + 9, 0, {"pad: an array of 1"}},
    {BYTES(D "\x84\x0f\x01\xa0\xa0"), D_AT + 4, 0, {"a map found", "end expected"}},
    /* invalid CBOR */
    {BYTES(D "\x82\x0f\x1c"), D_AT + 2, 0, {"byte 0x1c"}},
    {BYTES(D "\x82\x0f\xf8\x20"), D_AT + 2, 0, {"byte 0xf8"}},
    {BYTES(D "\x82\x0f\xfe"), D_AT + 2, 0, {"byte 0xfe"}},
    {BYTES(D "\x82\x0f\xff"), D_AT + 2, 0, {"a break where"}},
    {BYTES(D "\xc1\xff"), D_AT + 1, 0, {"a break after a tag"}},
    /* numbers as byte strings */
    {BYTES(D "\x82\x0f\xc3\x5f\x41\x01\xff"), D_AT + 3, 0, {"a number in pieces found"}},
    {BYTES(D "\x83\x18\x25\x01\xc2\x41\x01"),
     D_AT + 5,
     0,
     {"a 1-byte number found", "byte string"}},
    {BYTES(S "\xff"), S_AT, 0, {"a break found"}},
    {BYTES(S "\xc1"), S_AT + 1, 0, {"cut off"}},
    {BYTES(S "\xc1\xc2\xc3\xc4\xc5\xc6\xc7\xc8\xc1\xc2\xc3\xc4\xc5\xc6\xc7\xc8\xc1\x82"),
     S_AT + 16,
     0,
     {"16 tags"}},
    /* lengths */
    {BYTES(D "\x83\x18\x25\x01\x7b\xff\xff\xff\xff\xff\xff\xff\xff"),
     D_AT + 4,
     0,
     {"string of more than 1000000 bytes"}},
    {BYTES(D "\x83\x18\x25\x01\x5b\xff\xff\xff\xff\xff\xff\xff\xf7"),
     D_AT + 4,
     0,
     {"string of more than 1000000 bytes"}},
    {BYTES(D "\x83\x18\x25\x01\x7a\x00\x0f\x42\x48"),
     D_AT + 4,
     0,
     {"string of more than 1000000 bytes"}},
    {BYTES(D "\x9b\xff\xff\xff\xff\xff\xff\xff\xff\x0f\x01"), D_AT + 11, 0, {"cut off"}},
    {BYTES(D "\xbb\xff\xff\xff\xff\xff\xff\xff\xff" DT "\x01"), D_AT + 13, 0, {"cut off"}},
    {BYTES(D "\xa2" DT "\xbb\xff\xff\xff\xff\xff\xff\xff\xff\x01"), D_AT + 14, 0, {"cut off"}},
    /* depth */
    {BYTES(D "\xa2" DT "\x81\x81\x81\x81\x81\x81\x81\x81\x81\x81\x81\x81\x81\x81\x81\x81\x81\x01"),
     D_AT + 20,
     0,
     {"16 deep"}},
    {BYTES(D "\xa2" DT "\x81\x81\xff"), D_AT + 6, 0, {"a break where"}},
};

START_TEST(wrong_scripts)
{
    const wrong_case *c = &wrong_cases[_i];
    blob trace = {0};
    script_error error;
    ck_assert_int_eq(synth(c->script, c->size, &trace, NULL, &error), GOTRACE_ERROR);
    ck_assert_int_ne(error.error.rule, GOTRACE_RULE_NONE);
    for (size_t i = 0; i < 3 && c->says[i]; i++)
        ck_assert_msg(strstr(error.error.message, c->says[i]), "case %d: \"%s\" does not say %s",
                      _i, error.error.message, c->says[i]);
    ck_assert_msg(error.offset == c->offset, "case %d: 0x%llx, expected 0x%llx: %s", _i,
                  (unsigned long long)error.offset, (unsigned long long)c->offset,
                  error.error.message);
    ck_assert_uint_eq(error.line, 0);
    ck_assert_uint_eq(error.event, c->event);
    ck_assert_ptr_null(strchr(error.error.message, '\n'));
    blob_free(&trace);
}
END_TEST

/* ---- hostile scripts ------------------------------------------------------------------------- */

/* A truncated document is an error; a truncated sequence is valid if it ends after an event. */
START_TEST(truncated_everywhere)
{
    static const char sequence[] = S BATCH STRING CREATE STACK FREQ;
    blob trace = {0};
    script_error error;
    size_t whole = 0;
    for (size_t at = 1; at < sizeof written - 1; at++) {
        ck_assert_int_eq(synth(written, at, &trace, NULL, &error), GOTRACE_ERROR);
        ck_assert_msg(strstr(error.error.message, "cut off"), "%zu: %s", at, error.error.message);
        ck_assert_uint_eq(error.offset, at);
        blob_free(&trace);
    }
    for (size_t at = 1; at < sizeof sequence; at++) {
        gotrace_status status = synth(sequence, at, &trace, NULL, &error);
        whole += status == GOTRACE_OK;
        ck_assert(status == GOTRACE_OK || strstr(error.error.message, "cut off"));
        blob_free(&trace);
    }
    ck_assert_uint_eq(whole, 6);
}
END_TEST

/* Each byte changed to each other value: an error or a trace, never a crash. */
START_TEST(damaged_scripts)
{
    const char *script = same_scripts[_i].script;
    size_t size = same_scripts[_i].size;
    char *copy = malloc(size);
    for (size_t at = 0; at < size; at++)
        for (size_t byte = at % SWEEP_STEP; byte < 256; byte += SWEEP_STEP) {
            blob trace = {0};
            script_error error;
            memcpy(copy, script, size);
            copy[at] = (char)byte;
            gotrace_status status = synth(copy, size, &trace, NULL, &error);
            ck_assert(status == GOTRACE_OK || status == GOTRACE_ERROR);
            if (status == GOTRACE_ERROR)
                ck_assert_uint_gt(strlen(error.error.message), 0);
            blob_free(&trace);
        }
    free(copy);
}
END_TEST

/* `count` times `unit` between `before` and `after`. */
static gotrace_status synth_repeated(const char *before, size_t before_size, const char *unit,
                                     size_t count, const char *after, uint64_t memory,
                                     script_error *error)
{
    blob script = {0}, trace = {0};
    gotrace_config config;
    memset(&config, 0, sizeof config);
    config.limits = &(gotrace_limits){.memory = memory};
    blob_write(&script, before, before_size);
    for (size_t i = 0; i < count; i++)
        blob_write(&script, unit, strlen(unit));
    blob_write(&script, after, strlen(after));
    gotrace_status status = synth(script.bytes, script.size, &trace, &config, error);
    blob_free(&script);
    blob_free(&trace);
    return status;
}

START_TEST(large_scripts)
{
    const uint64_t mib = (uint64_t)1 << 20;
    script_error e;
    /* more events than the buffer holds */
    ck_assert_int_eq(synth_repeated(BYTES(D), "\x82\x0f\x01", 2 * mib, "\xff", mib, &e),
                     GOTRACE_OK);
    ck_assert_int_eq(synth_repeated(BYTES(D), "\x82\x0f\x01", 2 * mib, "\x81\x0f", mib, &e),
                     GOTRACE_ERROR);
    ck_assert_uint_eq(e.offset, D_AT + 6 * mib);
    ck_assert_uint_eq(e.event, 2 * mib);
    /* the longest string, in one chunk and in many, and a longer one */
    ck_assert_int_eq(
        synth_repeated(BYTES(S "\x83\x18\x25\x01\x7a\x00\x0f\x42\x40"), "x", 1000000, "", 0, &e),
        GOTRACE_OK);
    ck_assert_int_eq(
        synth_repeated(BYTES(S "\x83\x18\x25\x01\x7f"), "\x61x", 1000000, "\xff", 0, &e),
        GOTRACE_OK);
    ck_assert_int_eq(
        synth_repeated(BYTES(S "\x83\x18\x25\x01\x7f"), "\x61x", 1000001, "\xff", 0, &e),
        GOTRACE_ERROR);
    ck_assert_ptr_nonnull(strstr(e.error.message, "more than 1000000 bytes"));
    ck_assert_int_eq(
        synth_repeated(BYTES(S "\x83\x18\x25\x01\x7a\x00\x0f\x42\x41"), "x", 1000001, "", 0, &e),
        GOTRACE_ERROR);
    ck_assert_int_eq(
        synth_repeated(BYTES(S "\x83\x03\x01\x9f"), "\x84\x01\x01\x01\x01", 1000, "\xff", 0, &e),
        GOTRACE_OK);
    ck_assert_int_eq(
        synth_repeated(BYTES(S "\x83\x03\x01\x9f"), "\x84\x01\x01\x01\x01", 1001, "\xff", 0, &e),
        GOTRACE_ERROR);
    ck_assert_ptr_nonnull(strstr(e.error.message, "more than 1000 frames"));
    /* endless nesting */
    ck_assert_int_eq(synth_repeated(BYTES(D), "\xc1", 10 * mib, "", mib, &e), GOTRACE_ERROR);
    ck_assert_ptr_nonnull(strstr(e.error.message, "tags"));
    ck_assert_int_eq(synth_repeated(BYTES(D), "\x81", 10 * mib, "", mib, &e), GOTRACE_ERROR);
    ck_assert_int_eq(synth_repeated(BYTES(D "\xbf\x61x"), "\x9f", 10 * mib, "", mib, &e),
                     GOTRACE_ERROR);
    ck_assert_ptr_nonnull(strstr(e.error.message, "deep"));
    ck_assert_int_eq(synth_repeated(BYTES(D "\xbf"), "\x61x\x01", 10 * mib, "", 0, &e),
                     GOTRACE_ERROR);
    ck_assert_ptr_nonnull(strstr(e.error.message, "map of more than"));
    ck_assert_int_eq(synth_repeated(BYTES(D "\xbf"), "\x61x\x01", 10 * mib, "", mib, &e),
                     GOTRACE_ERROR);
    ck_assert_int_eq(e.error.rule, GOTRACE_RULE_SYSTEM_LIMIT);
    ck_assert_int_eq(synth_repeated(BYTES(D "\xbf\x61x\x7f"), "\x60", 10 * mib, "", 0, &e),
                     GOTRACE_ERROR);
    ck_assert_int_eq(
        synth_repeated(BYTES(S "\x83\x18\x25\x01\x7f"), "\x60", 10 * mib, "\x61x\xff", mib, &e),
        GOTRACE_OK);
}
END_TEST

START_TEST(memory_refused)
{
    synth_refused(same_scripts[_i].script, same_scripts[_i].size, 200);
}
END_TEST

int main(void)
{
    int same = (int)(sizeof same_scripts / sizeof same_scripts[0]);
    Suite *suite = suite_create("script_cbor");
    TCase *cases = tcase_create("script_cbor");
    tcase_add_loop_test(cases, scripts_in_other_encodings, 0, same);
    tcase_add_test(cases, expected_output);
    tcase_add_loop_test(cases, wrong_scripts, 0, sizeof wrong_cases / sizeof wrong_cases[0]);
    tcase_add_test(cases, truncated_everywhere);
    tcase_add_loop_test(cases, damaged_scripts, 0, same);
    tcase_add_test(cases, large_scripts);
    tcase_add_loop_test(cases, memory_refused, 0, same);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
