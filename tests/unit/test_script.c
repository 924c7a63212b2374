/* test_script.c - event scripts: written, read back, hand-written, damaged. */
#include <stdlib.h>
#include <string.h>

#include "scripting.h"

/* ---- round trip ------------------------------------------------------------------------------ */

/* The script of a trace. */
static void dump(const uint8_t *bytes, size_t size, const script_format *as, blob *script)
{
    out o;
    gotrace_decoder *d;
    const gotrace_record *record;
    gotrace_status status;
    bool first = true;
    ck_assert(out_init(&o, blob_write, script));
    ck_assert_int_eq(gotrace_decoder_new(NULL, &d, NULL), GOTRACE_OK);
    gotrace_decoder_feed(d, bytes, size);
    gotrace_decoder_finish(d);
    while ((status = gotrace_decoder_next(d, &record)) == GOTRACE_EVENT) {
        if (first)
            as->begin(&o, gotrace_decoder_version(d));
        as->record(&o, gotrace_decoder_version(d), record, first);
        first = false;
    }
    ck_assert_msg(status == GOTRACE_END, "%s", gotrace_decoder_error(d)->message);
    if (first)
        as->begin(&o, gotrace_decoder_version(d));
    as->end(&o);
    ck_assert(out_flush(&o));
    out_free(&o);
    gotrace_decoder_free(d);
}

static void same_after(const uint8_t *bytes, size_t size, const char *path)
{
    for (size_t i = 0; script_formats[i]; i++) {
        blob script = {0}, trace = {0};
        script_error error;
        dump(bytes, size, script_formats[i], &script);
        gotrace_status status = synth(script.bytes, script.size, &trace, NULL, &error);
        ck_assert_msg(status == GOTRACE_OK, "%s, %s: line %llu: %s", path, script_formats[i]->name,
                      (unsigned long long)error.line, error.error.message);
        ck_assert_msg(trace.size == size && memcmp(trace.bytes, bytes, size) == 0,
                      "%s: not the same after %s", path, script_formats[i]->name);
        blob_free(&script);
        blob_free(&trace);
    }
}

START_TEST(traces_round_trip)
{
    trace_file *files = traces_load(500000);
    for (trace_file *f = files; f->path[0]; f++)
        if (!strstr(f->path, "overlong"))
            same_after(f->content.bytes, f->content.size, f->path);
    traces_free(files);
}
END_TEST

/* Deviations that no tracer writes: forms, padded numbers, 64-bit values, arbitrary bytes. */
static const uint8_t odd[] = "go 1.19 trace\0\0\0"
                             "\x41\x80\x80\x00\x85\x00"
                             "\xc1\x03\x01\x85\x00"
                             "\xc6\x81\x80\x00\x01"
                             "\xe5\x81\x00\x87\x00hi\xff\x00\"\\\n"
                             "\x25\x02\x03\xe2\x82\xac"
                             "\x43\x01\x00"
                             "\xf0\x05\x81\x00\x01\x02\x00\x83\x00log"
                             "\xf0\x04\x01\x01\x02\x00\x00"
                             "\x02\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"
                             "\x02\xff\xff\xff\xff\xff\xff\xff\xff\x7f"
                             "\x02\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01"
                             "\xc3\x0c\x07\x02\x81\x80\x00\x02\x03\x04\x05\x06\x07\x08";

static const char odd_text[] = "Trace Go1.19\n"
                               "Batch p=0 ticks=5 pad=0:3,1:2\n"
                               "Batch p=1 ticks=5 form=3 pad=2:2\n"
                               "ProcStop dt=1 form=3 pad=0:3\n"
                               "String id=1 form=3 pad=0:2,1:2\n"
                               "\tdata=\"hi\\xff\\x00\\\"\\\\\\n\"\n"
                               "String id=2\n"
                               "\tdata=\"\xe2\x82\xac\"\n"
                               "Stack id=1 nframes=0 form=1\n"
                               "UserLog dt=1 id=1 keyid=2 stk=0 pad=1:2,5:2\n"
                               "\tdata=\"log\"\n"
                               "UserLog dt=1 id=1 keyid=2 stk=0\n"
                               "\tdata=\"\"\n"
                               "Frequency freq=18446744073709551615\n"
                               "Frequency freq=9223372036854775807\n"
                               "Frequency freq=9223372036854775808\n"
                               "Stack id=7 nframes=2 pad=3:3\n"
                               "\tpc=1 func=2 file=3 line=4\n"
                               "\tpc=5 func=6 file=7 line=8\n";

static const char odd_jsonl[] =
    "{\"trace\":\"go 1.19\"}\n"
    "{\"event\":\"Batch\",\"p\":0,\"ticks\":5,\"pad\":[[0,3],[1,2]]}\n"
    "{\"event\":\"Batch\",\"p\":1,\"ticks\":5,\"form\":3,\"pad\":[[2,2]]}\n"
    "{\"event\":\"ProcStop\",\"dt\":1,\"form\":3,\"pad\":[[0,3]]}\n"
    "{\"event\":\"String\",\"id\":1,\"data_hex\":\"6869ff00225c0a\",\"form\":3,"
    "\"pad\":[[0,2],[1,2]]}\n"
    "{\"event\":\"String\",\"id\":2,\"data\":\"\xe2\x82\xac\"}\n"
    "{\"event\":\"Stack\",\"id\":1,\"frames\":[],\"form\":1}\n"
    "{\"event\":\"UserLog\",\"dt\":1,\"id\":1,\"keyid\":2,\"stk\":0,\"data\":\"log\","
    "\"pad\":[[1,2],[5,2]]}\n"
    "{\"event\":\"UserLog\",\"dt\":1,\"id\":1,\"keyid\":2,\"stk\":0,\"data\":\"\"}\n"
    "{\"event\":\"Frequency\",\"freq\":\"18446744073709551615\"}\n"
    "{\"event\":\"Frequency\",\"freq\":9223372036854775807}\n"
    "{\"event\":\"Frequency\",\"freq\":\"9223372036854775808\"}\n"
    "{\"event\":\"Stack\",\"id\":7,\"frames\":[[1,2,3,4],[5,6,7,8]],\"pad\":[[3,3]]}\n";

static const char odd_json_start[] = "{\"trace\":\"go 1.19\",\"records\":[\n{";
static const char odd_json_end[] = "\n]}\n";

START_TEST(deviations_round_trip)
{
    blob text = {0}, jsonl = {0}, json = {0};
    dump(odd, sizeof odd - 1, script_by_name("text"), &text);
    blob_write(&text, "", 1);
    ck_assert_str_eq((char *)text.bytes, odd_text);
    dump(odd, sizeof odd - 1, script_by_name("jsonl"), &jsonl);
    blob_write(&jsonl, "", 1);
    ck_assert_str_eq((char *)jsonl.bytes, odd_jsonl);
    dump(odd, sizeof odd - 1, script_by_name("json"), &json);
    ck_assert_mem_eq(json.bytes, odd_json_start, strlen(odd_json_start));
    ck_assert_mem_eq(json.bytes + json.size - strlen(odd_json_end), odd_json_end,
                     strlen(odd_json_end));
    same_after(odd, sizeof odd - 1, "odd records");
    same_after(odd, 16, "no records");
    blob_free(&text);
    blob_free(&jsonl);
    blob_free(&json);
    ck_assert_ptr_null(script_by_name("yaml"));
}
END_TEST

/* 1.5: sequence numbers, an unused value, stacks of PCs only. */
START_TEST(version_1_5)
{
    static const uint8_t bytes[] = "go 1.5 trace\0\0\0\0"
                                   "\x41\x00\x07\x08"
                                   "\xcd\x05\x00\x00\x01\x02\x03"
                                   "\xc3\x04\x01\x02\x0a\x0b"
                                   "\x02\x09\x00";
    blob text = {0};
    dump(bytes, sizeof bytes - 1, script_by_name("text"), &text);
    blob_write(&text, "", 1);
    ck_assert_str_eq((char *)text.bytes, "Trace Go1.5\n"
                                         "Batch p=0 seq=7 ticks=8\n"
                                         "GoCreate dseq=0 dt=0 g=1 stack=2 stk=3\n"
                                         "Stack id=1 nframes=2\n"
                                         "\tpc=10\n"
                                         "\tpc=11\n"
                                         "Frequency freq=9 unused=0\n");
    same_after(bytes, sizeof bytes - 1, "1.5");
    blob_free(&text);
}
END_TEST

/* Every record of a v2 version, also with padded numbers. */
START_TEST(v2_records_round_trip)
{
    blob trace = {0};
    trace_of_all(v2_versions[_i], &trace);
    same_after(trace.bytes, trace.size, "all of v2");
    blob_free(&trace);
}
END_TEST

/* As printed by `go tool trace -d=wire`, except empty data and frames, which have no lines. */
START_TEST(v2_text)
{
    static const uint8_t bytes[] = "go 1.26 trace\0\0\0"
                                   "\x01\x07\x08\x09\x8c\x80\x80\x80\x80\x80\x80\x80\x80\x00"
                                   "\x04\x05\x01\x02\x22\x00\x05\x02\x00"
                                   "\x01\x07\x08\x09\x01\x02\x03\x00\x00"
                                   "\x03\x03\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x02"
                                   "\x03\x84\x00"
                                   "\x31\x01\x07\x08\x09\x02\xff\x00\x88\x01\x05\x34";
    blob text = {0};
    dump(bytes, sizeof bytes - 1, script_by_name("text"), &text);
    blob_write(&text, "", 1);
    ck_assert_str_eq((char *)text.bytes, "Trace Go1.26\n"
                                         "EventBatch gen=7 m=8 time=9 size=12\n"
                                         "Strings\n"
                                         "String id=1\n"
                                         "\tdata=\"\\\"\\x00\"\n"
                                         "String id=2\n"
                                         "EventBatch gen=7 m=8 time=9 size=1 pad=3:1\n"
                                         "Stacks\n"
                                         "Stack id=0 nframes=0\n"
                                         "Stack id=3 nframes=1 pad=5:2\n"
                                         "\tpc=18446744073709551615 func=2 file=3 line=4\n"
                                         "ExperimentalBatch exp=1 gen=7 m=8 time=9 pad=4:1\n"
                                         "\tdata=\"\\xff\\x00\"\n"
                                         "GoroutineStackFree dt=1 id=5\n"
                                         "EndOfGeneration\n");
    same_after(bytes, sizeof bytes - 1, "v2");
    blob_free(&text);
}
END_TEST

/* Every sort of character, and invalid bytes. */
START_TEST(data_of_any_bytes)
{
    uint64_t state = 7;
    for (int round = 0; round < 300; round++) {
        uint8_t bytes[300] = "go 1.11 trace\0\0\0\x25\x01";
        size_t size = 1 + random_next(&state) % 100, at = 18;
        bytes[at++] = (uint8_t)size;
        for (size_t i = 0; i < size; i++)
            bytes[at + i] = (uint8_t)(round % 2 ? random_next(&state) >> 40
                                                : random_next(&state) % 96 + 32);
        if (round % 3 == 0 && size > 8)
            memcpy(bytes + at, "\xf0\x9f\x98\x80\xe2\x80\xa8\x00", 8);
        same_after(bytes, at + size, "random data");
    }
}
END_TEST

/* ---- hand-written scripts -------------------------------------------------------------------- */

static const uint8_t small_trace[] = "go 1.19 trace\0\0\0"
                                     "\x41\x00\x80\x01"
                                     "\x25\x01\x06x \xe2\x82\xac="
                                     "\xcd\x04\x05\x01\x02\x03"
                                     "\xc3\x06\x03\x01\x10\x01\x00\x02"
                                     "\x02\x7f";

#define V2_RECORDS                                                                                 \
    "EventBatch gen=1 m=18446744073709551615 time=0 size=3\n"                                      \
    "Strings\n"                                                                                    \
    "String id=1\n"

static const char *const same_scripts[] = {
    "Trace Go1.19\nBatch p=0 ticks=128\nString id=1\n\tdata=\"x \xe2\x82\xac=\"\n"
    "GoCreate dt=5 g=1 stack=2 stk=3\nStack id=3 nframes=1\n\tpc=16 func=1 file=0 line=2\n"
    "Frequency freq=127\n",
    /* comments, spaces, other order, hexadecimal, no count, CR, no final newline */
    "\xef\xbb\xbf# a script\r\n\r\n  Trace   Go1.19 # version\r\n\r\n"
    "\tBatch ticks=0x80 p=0\r\n"
    "String data=\"x \\u20ac=\" id=1 # text\r\n"
    "GoCreate stk=3 # its stack\r\n"
    "   g=1 stack=2\r\n"
    "# between\r\n"
    "   dt=5\r\n"
    "Stack id=3\r\n"
    "    line=2 file=0   pc=0x10 func=1#\r\n"
    "Frequency freq=127",
    "Trace Go1.19\nBatch p=0 ticks=128\nString id=1\n\tdata=\"x\\x20\\342\\x82\\254\\u003d\"\n"
    "GoCreate dt=5 g=1 stack=2 stk=3 form=3 pad=0:1,4:1\n"
    "Stack id=3\n\tpc=16 func=1 file=0 line=2\nFrequency freq=127\n",
    "{\"trace\":\"go 1.19\",\"records\":[{\"event\":\"Batch\",\"p\":0,\"ticks\":128},"
    "{\"event\":\"String\",\"id\":1,\"data\":\"x \xe2\x82\xac=\"},"
    "{\"event\":\"GoCreate\",\"dt\":5,\"g\":1,\"stack\":2,\"stk\":3},"
    "{\"event\":\"Stack\",\"id\":3,\"frames\":[[16,1,0,2]]},"
    "{\"event\":\"Frequency\",\"freq\":127}]}",
    /* other order, spaces, escapes, numbers in strings, a count */
    " \n{ \"records\" : [ { \"ticks\" : \"128\" , \"p\":\"0\" , \"event\" :\"B\\u0061tch\" } ,\n"
    "{\"data\":\"\\u0078\\u0020\\u20AC\\u003d\",\"event\":\"String\",\"id\":1},\r\n"
    "{\"g\":1,\"stk\":3,\"stack\":2,\"dt\":\"0x5\",\"event\":\"GoCreate\",\"form\":3,\"pad\":[]},"
    "{\"frames\" : [ [ 16 , 1 , 0 , 2 ] ] , \"nframes\":1, \"event\":\"Stack\",\"id\":3},"
    "{\"event\":\"Frequency\",\"freq\":127}\n]\t,\n\"trace\":\"go 1.19\"}\n\n",
    "{\"trace\":\"go 1.19\"}\n\n{\"event\":\"Batch\",\"p\":0,\"ticks\":128}\r\n"
    "{\"event\":\"String\",\"id\":1,\"data_hex\":\"7820E282ac3d\"}\n"
    "{\"event\":\"GoCreate\",\"dt\":5,\"g\":1,\"stack\":2,\"stk\":3}\n"
    "{\"event\":\"Stack\",\"id\":3,\"frames\":[[16,1,0,2]]}\n"
    "{\"event\":\"Frequency\",\"freq\":127}",
    "Trace Go1.22\n" V2_RECORDS,
    /* in an archive */
    "-- expect --\nFAILURE \".*Trace Go1.99\"\n-- trace --\nTrace Go1.22\n" V2_RECORDS
    "-- other --\nTrace Go1.23\n",
    "-- a --\r\n--  trace\t --\r\n\r\nTrace Go1.22\r\n" V2_RECORDS,
    "-- trace --\nTrace Go1.22\n" V2_RECORDS "-- trace --\nwhatever",
    "{\"trace\":\"go 1.22\"}\n"
    "{\"event\":\"EventBatch\",\"gen\":1,\"m\":\"18446744073709551615\",\"time\":0,\"size\":3}\n"
    "{\"event\":\"Strings\"}\n{\"event\":\"String\",\"id\":1,\"data\":\"\"}",
};

static const uint8_t small_v2_trace[] =
    "go 1.22 trace\0\0\0\x01\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x00"
    "\x83\x80\x80\x80\x80\x80\x80\x80\x80\x00\x04\x05\x01\x00";

START_TEST(hand_written_scripts)
{
    blob trace = {0};
    script_error error;
    gotrace_status status = synth(same_scripts[_i], strlen(same_scripts[_i]), &trace, NULL, &error);
    ck_assert_msg(status == GOTRACE_OK, "line %llu: %s", (unsigned long long)error.line,
                  error.error.message);
    bool v2 = strstr(same_scripts[_i], "1.22");
    ck_assert_uint_eq(trace.size, (v2 ? sizeof small_v2_trace : sizeof small_trace) - 1);
    ck_assert_mem_eq(trace.bytes, v2 ? small_v2_trace : small_trace, trace.size);
    blob_free(&trace);
}
END_TEST

START_TEST(surrogates)
{
    static const char script[] = "{\"trace\":\"go 1.19\"}\n"
                                 "{\"event\":\"String\",\"id\":1,\"data\":\"\\ud83d\\ude00\\u0000/"
                                 "\\/\\b\\f\\n\\r\\t\\\"\\\\\"}\n";
    blob trace = {0};
    script_error error;
    ck_assert_int_eq(synth(script, strlen(script), &trace, NULL, &error), GOTRACE_OK);
    ck_assert_uint_eq(trace.size, 16 + 3 + 14);
    ck_assert_mem_eq(trace.bytes + 19, "\xf0\x9f\x98\x80\0//\b\f\n\r\t\"\\", 14);
    blob_free(&trace);
}
END_TEST

/* ---- damage and memory ------------------------------------------------------------------------
 */

/* Truncated at every byte, and with each byte changed: an error or a trace, never a crash. */
START_TEST(damaged_scripts)
{
    const char *script = same_scripts[_i];
    size_t size = strlen(script);
    uint64_t state = 3;
    char *copy = malloc(size + 1);
    for (size_t at = 0; at < size; at++)
        for (int change = 0; change < 6; change++) {
            blob trace = {0};
            script_error error;
            memcpy(copy, script, size);
            if (change > 0)
                copy[at] = change < 3 ? "\"\n"[change - 1] : (char)(random_next(&state) >> 32);
            gotrace_status status = synth(copy, change ? size : at, &trace, NULL, &error);
            ck_assert(status == GOTRACE_OK || status == GOTRACE_ERROR);
            if (status == GOTRACE_ERROR)
                ck_assert_uint_gt(strlen(error.error.message), 0);
            blob_free(&trace);
        }
    free(copy);
}
END_TEST

START_TEST(memory_refused)
{
    synth_refused(same_scripts[_i], strlen(same_scripts[_i]), 200);
}
END_TEST

int main(void)
{
    int people = (int)(sizeof same_scripts / sizeof same_scripts[0]);
    Suite *suite = suite_create("script");
    TCase *cases = tcase_create("script");
    tcase_add_test(cases, traces_round_trip);
    tcase_add_test(cases, deviations_round_trip);
    tcase_add_test(cases, version_1_5);
    tcase_add_loop_test(cases, v2_records_round_trip, 0, 4);
    tcase_add_test(cases, v2_text);
    tcase_add_test(cases, data_of_any_bytes);
    tcase_add_loop_test(cases, hand_written_scripts, 0, people);
    tcase_add_test(cases, surrogates);
    tcase_add_loop_test(cases, damaged_scripts, 0, people);
    tcase_add_loop_test(cases, memory_refused, 0, people);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
