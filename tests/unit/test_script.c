/* test_script.c - event scripts: written, read back, hand-written, invalid. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "formats/script/json_load.h"
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

/* ---- invalid scripts ------------------------------------------------------------------------- */

typedef struct wrong_case {
    const char *script;
    uint64_t line, event;
    const char *says[3]; /* substrings of the message */
} wrong_case;

#define T "Trace Go1.19\n"
#define W "Trace Go1.22\n"
#define J "{\"trace\":\"go 1.19\"}\n"
#define D "{\"trace\":\"go 1.19\",\"records\":["

static const wrong_case wrong_cases[] = {
    {"", 1, 0, {"empty"}},
    {" \n\n \t", 1, 0, {"empty"}},
    {"# only a comment\n", 1, 0, {"Trace Go1.N"}},
    {"Batch p=0\n", 1, 0, {"Batch p=0", "Trace Go1.N"}},
    {"Trace\n", 1, 0, {"Trace Go1.N"}},
    {"Trace 1.19\n", 1, 0, {"1.19", "Go1.N"}},
    {"Trace Go1.19 really\n", 1, 0, {"Go1.N"}},
    {"Trace Go1.4\n", 1, 0, {"1.4", "1.5, 1.7", "1.21, 1.22, 1.23, 1.25 and 1.26"}},
    {"Trace Go1.4294967315\n", 1, 0, {"1.4294967315"}},
    {"Trace Go1.28\n", 1, 0, {"1.28", "1.26"}},
    {"-- expect --\nSUCCESS\n-- trace\n", 3, 0, {"archive", "none is named \"trace\""}},
    {"-- expect --\nSUCCESS\n-- trace --\n\n", 4, 0, {"Trace Go1.N"}},
    {"-- trace --\nEventBatch", 2, 0, {"EventBatch", "Trace Go1.N"}},
    {"--  --\nTrace Go1.22\n", 1, 0, {"--  --", "Trace Go1.N"}},
    {"----\nTrace Go1.22\n", 1, 0, {"----", "Trace Go1.N"}},
    {"Trace Go1.22\n-- trace --\n", 2, 0, {"\"--\" is not an event"}},
    {"-- trace --\nTrace Go1.22\nGoSwitch\n", 3, 0, {"\"GoSwitch\" is not an event of go 1.22"}},
    {W "Batch p=0 ticks=1\n", 2, 0, {"\"Batch\"", "go 1.22"}},
    {W "EventBatch gen=1 m=1 time=0\n", 2, 0, {"EventBatch lacks its argument size"}},
    {W "ProcStop dt=1 form=3\n", 2, 0, {"ProcStop has form 3", "1.22"}},
    {W "ProcStop dt=1 pad=1:2\n", 2, 0, {"pad 1:2", "1 numbers"}},
    {W "Stacks\n\tdata=\"\"\n", 2, 0, {"Stacks has data"}},
    {W "Stack id=1 nframes=1\n", 2, 0, {"says 1 frame, but has 0"}},
    {W "Span dt=1 id=1 npages_value=1 kindclass=1\n", 2, 0, {"\"Span\"", "go 1.22"}},
    {"{\"trace\":\"go 1.22\"}\n{\"event\":\"String\",\"id\":1}\n", 2, 0, {"String lacks its data"}},
    {"\nTrace Go1.x\n", 2, 0, {"\"x\""}},
    {T "GoCreat dt=1\n", 2, 0, {"\"GoCreat\"", "go 1.19", "did you mean GoCreate?"}},
    {T "gocreate dt=1\n", 2, 0, {"did you mean GoCreate?"}},
    {"Trace Go1.5\nString id=1\n", 2, 0, {"\"String\"", "go 1.5"}},
    {T "GoEnd dt=1\nGoEnd\n\nGoEnd dt=2", 3, 1, {"GoEnd lacks its argument dt"}},
    {T "GoEnd dt=1 x=2\n", 2, 0, {"no argument \"x\"", "its only argument is dt"}},
    {T "GoStart dt=1 g=1 sec=1\n", 2, 0, {"\"sec\"", "its arguments are dt, g, seq"}},
    {T "GoEnd dt=1 dt=2\n", 2, 0, {"dt twice"}},
    {T "GoEnd dt=-1\n", 2, 0, {"dt=-1", "from 0 to"}},
    {T "GoEnd dt=1.5\n", 2, 0, {"dt=1.5", "whole number"}},
    {T "GoEnd dt=NaN\n", 2, 0, {"NaN"}},
    {T "GoEnd dt=\n", 2, 0, {"dt="}},
    {T "GoEnd dt=18446744073709551616\n", 2, 0, {"18446744073709551616", "18446744073709551615"}},
    {T "GoEnd dt=0x10000000000000000\n", 2, 0, {"0x10000000000000000"}},
    {T "GoEnd dt\n", 2, 0, {"\"dt\"", "name=value"}},
    {T "GoEnd dt=1 data=\"x\"\n", 2, 0, {"GoEnd has data"}},
    {T "GoEnd dt=1 form=4\n", 2, 0, {"form 4"}},
    {T "GoEnd dt=1 form=1\n", 2, 0, {"GoEnd"}},
    {T "GoEnd dt=1 form=3 form=3\n", 2, 0, {"form twice"}},
    {T "GoEnd dt=1 pad=1:2\n", 2, 0, {"pad 1:2", "1 numbers"}},
    {T "GoEnd dt=1 pad=0:11\n", 2, 0, {"1 to 10"}},
    {T "GoEnd dt=1 pad=0\n", 2, 0, {"I:W"}},
    {T "GoEnd dt=300 pad=0:1\n", 2, 0, {"a width of 1", "2 to 10 bytes"}},
    {T "pc=1\n", 2, 0, {"\"pc=1\"", "event's name"}},
    {T "GoEnd dt=1\n\tpc=1 func=1\n", 3, 0, {"GoEnd has no argument \"pc\""}},
    {T "String id=1\n", 2, 0, {"String lacks its data"}},
    {T "String id=1\n\tdata=\"\"\n", 2, 0, {"String"}},
    {T "String id=1\n\tdata=x\n", 3, 0, {"double quotes"}},
    {T "String id=1\n\tdata=\"x\n", 3, 0, {"without its closing quote"}},
    {T "String id=1\n\tdata=\"\\q\"\n", 3, 0, {"\\q", "escape"}},
    {T "String id=1\n\tdata=\"\\ud800\"\n", 3, 0, {"escape"}},
    {T "String id=1\n\tdata=\"\\400\"\n", 3, 0, {"escape"}},
    {T "String id=1\n\tdata=\"\\", 3, 0, {"escape"}},
    {T "String id=1\n\tdata=\"x\" data=\"y\"\n", 3, 0, {"twice"}},
    {T "Stack id=1 nframes=2\n\tpc=1 func=1 file=1 line=1\nGoEnd dt=1\n",
     2,
     0,
     {"says 2 frames, but has 1"}},
    {T "Stack id=1 nframes=1\n\tpc=1 func=1 line=1\n", 3, 0, {"pc, func, file and line"}},
    {T "Stack id=1 nframes=1\n\tpc=1 func=1 file=1 line=1 col=1\n", 3, 0, {"col=1"}},
    {T "Stack id=1 nframes=1\n\tpc=1 pc=1 file=1 line=1\n", 3, 0, {"pc=1"}},
    {"Trace Go1.5\nStack id=1 nframes=1\n\tpc=1 func=1\n", 3, 0, {"func=1", "pc of a frame"}},
    {"{", 1, 0, {"end of file"}},
    {"{}", 1, 0, {"lacks", "trace"}},
    {"{\"trace\":5}", 1, 0, {"trace: 5 found", "go 1.N"}},
    {"{\"trace\":\"1.19\"}", 1, 0, {"\"1.19\"", "go 1.N"}},
    {"{\"trace\":\"go 1.\"}", 1, 0, {"whole number"}},
    {"{\"trace\":\"go 1.4\"}", 1, 0, {"1.4", "1.5, 1.7", "1.21"}},
    {"{\"trace\":\"go 1.19\",\n\"trace\":\"go 1.19\"}", 2, 0, {"duplicate", "\"trace\""}},
    {"{\"version\":1}", 1, 0, {"\"version\"", "members are trace, level"}},
    {"{\"records\":[]}", 1, 0, {"lacks", "trace"}},
    {"{\"records\":[", 1, 0, {"end of file"}},
    {"{\"trace\":\"go 1.19\",\"records\":{}}", 1, 0, {"records: an object", "array of events"}},
    {"{\"trace\":\"go 1.19\",\"records\":[],\"records\":[]}", 1, 0, {"duplicate"}},
    {"{\"trace\":\"go 1.19\",\"records\":[]}\n\n x", 3, 0, {"\"x\"", "nothing", "document"}},
    {"{\"trace\":\"go 1.19\",\"records\":[\n1]}", 2, 0, {"1 found", "an event"}},
    {"{\"trace\":\"go 1.19\",\"records\":[\n{\"event\":\"GoEnd\",\"dt\":1}\n{}]}", 3, 1, {"']'"}},
    {"{\"trace\":\"go 1.19\",\"records\":[\n{\"event\":\"GoEnd\",\"dt\":1},\n]}", 3, 1, {"']'"}},
    {"{\"trace\":\"go 1.19\",\"records\":[\n{\"event\":\"GoEnd\",\"dt\":1", 2, 0, {"end of file"}},
    {"{\"records\":[{\"event\":\"GoEnd\",\"dt\":1},\n{\"event\":\"GoEnd\"}],\"trace\":\"go 1.19\"}",
     2,
     1,
     {"lacks its argument dt"}},
    {"{\"trace\":\"go 1.19\",\"records\":[\n{\"event\":\"GoEnd\",\"dt\":9223372036854775808}]}",
     2,
     0,
     {"too big integer", "9223372036854775808", "as strings"}},
    {J "{}\n", 2, 0, {"without \"event\""}},
    {J "[]\n", 2, 0, {"an array found", "an event"}},
    {J "7\n", 2, 0, {"near '7'"}},
    {J "{\"event\":\"GoEnd\",\"dt\":1} {}\n", 2, 0, {"end of file expected", "'{'"}},
    {"{\"trace\":\"go 1.19\"} {}\n", 1, 0, {"\"{\"", "nothing", "first object"}},
    {J "{\"event\":\"GoEnd\",\"dt\":1,}\n", 2, 0, {"'}'"}},
    {J "{\"event\":\"GoEnd\" \"dt\":1}\n", 2, 0, {"'}' expected", "dt"}},
    {J "{\"event\":\"GoEnd\",\"dt\" 1}\n", 2, 0, {"':' expected"}},
    {J "{\"event\":\"GoEnd\",\"dt\":1\n", 2, 0, {"ends within", "on one line"}},
    {J "\n{\"event\":\"GoEnd\",\n\"dt\":1}\n", 3, 0, {"ends within", "on one line"}},
    {J "{\"event\":7}\n", 2, 0, {"event: 7 found", "event's name"}},
    {J "{\"event\":\"GoStrat\",\"dt\":1}\n", 2, 0, {"\"GoStrat\"", "did you mean GoStart?"}},
    {J "{\"event\":\"GoEnd\\u0000\",\"dt\":1}\n", 2, 0, {"\"GoEnd?\""}},
    {J "{\"event\":\"GoEnd\",\"event\":\"GoEnd\"}\n", 2, 0, {"duplicate", "\"event\""}},
    {J "{\"event\":\"GoEnd\",\"dt\":-1}\n", 2, 0, {"dt: -1 found", "whole number"}},
    {J "{\"event\":\"GoEnd\",\"dt\":1.0}\n", 2, 0, {"dt: 1.0 found"}},
    {J "{\"event\":\"GoEnd\",\"dt\":1e3}\n", 2, 0, {"dt: 1000.0 found"}},
    {J "{\"event\":\"GoEnd\",\"dt\":1e999}\n", 2, 0, {"real number overflow"}},
    {J "{\"event\":\"GoEnd\",\"dt\":007}\n", 2, 0, {"invalid token", "0"}},
    {J "{\"event\":\"GoEnd\",\"dt\":NaN}\n", 2, 0, {"invalid token", "NaN"}},
    {J "{\"event\":\"GoEnd\",\"dt\":null}\n", 2, 0, {"dt: null", "whole number"}},
    {J "{\"event\":\"GoEnd\",\"dt\":true}\n", 2, 0, {"dt: true", "whole number"}},
    {J "{\"event\":\"GoEnd\",\"dt\":{}}\n", 2, 0, {"dt: an object", "whole number"}},
    {J "{\"event\":\"GoEnd\",\"dt\":[[[[[1]]]]]}\n", 2, 0, {"dt: an array", "whole number"}},
    {J "{\"event\":\"GoEnd\",\"dt\":\"\"}\n", 2, 0, {"dt: \"\" found", "whole number"}},
    {J "{\"event\":\"GoEnd\",\"dt\":\"1\\u0000\"}\n", 2, 0, {"dt: \"1?\" found", "whole number"}},
    {J "{\"event\":\"GoEnd\",\"dt\":9223372036854775808}\n",
     2,
     0,
     {"too big integer near '9223372036854775808'", "above 9223372036854775807", "strings"}},
    {J "{\"event\":\"GoEnd\",\"dt\":-9223372036854775809}\n", 2, 0, {"too big negative integer"}},
    {J "{\"event\":\"GoEnd\",\"dt\":\"18446744073709551616\"}\n",
     2,
     0,
     {"dt: \"18446744073709551616\" found", "18446744073709551615"}},
    {J "{\"event\":\"GoEnd\",\"dt\":1,\"dt\":1}\n", 2, 0, {"duplicate", "\"dt\""}},
    {J "{\"event\":\"GoStart\",\"dt\":1,\"g\":1,\"sec\":\"x\"}\n",
     2,
     0,
     {"\"sec\"", "its arguments are dt, g, seq"}},
    {J "{\"event\":\"GoEnd\",\"dt\":1,\"a\":1,\"b\":1}\n", 2, 0, {"no argument \"a\""}},
    {J "{\"event\":\"GoEnd\",\"dt\":1,\"data\":\"x\"}\n", 2, 0, {"GoEnd has data"}},
    {J "{\"event\":\"GoEnd\",\"dt\":1,\"form\":4}\n", 2, 0, {"form 4"}},
    {J "{\"event\":\"GoEnd\",\"dt\":1,\"pad\":[[1,2]]}\n", 2, 0, {"pad 1:2", "1 numbers"}},
    {J "{\"event\":\"GoEnd\",\"dt\":1,\"pad\":[[1]]}\n", 2, 0, {"pad: an array of 1", "of 2"}},
    {J "{\"event\":\"GoEnd\",\"dt\":1,\"frames\":[]}\n", 2, 0, {"GoEnd has frames"}},
    {J "{\"event\":\"Stack\",\"id\":1,\"frames\":[[1,2,3]]}\n", 2, 0, {"array of 3", "of 4"}},
    {J "{\"event\":\"Stack\",\"id\":1,\"frames\":[[1,2,3,4,5]]}\n", 2, 0, {"array of 5", "of 4"}},
    {J "{\"event\":\"Stack\",\"id\":1,\"frames\":[[1,2,3,-4]]}\n", 2, 0, {"frames: -4 found"}},
    {J "{\"event\":\"Stack\",\"id\":1,\"frames\":[1]}\n", 2, 0, {"frames: 1", "array of numbers"}},
    {J "{\"event\":\"Stack\",\"id\":1,\"frames\":7}\n", 2, 0, {"frames: 7", "array of arrays"}},
    {J "{\"event\":\"Stack\",\"id\":1,\"nframes\":2,\"frames\":[]}\n", 2, 0, {"says 2 frames"}},
    {J "{\"event\":\"String\",\"id\":1,\"data\":1}\n", 2, 0, {"data: 1 found", "a string"}},
    {J "{\"event\":\"String\",\"id\":1,\"data\":\"\xff\"}\n", 2, 0, {"0xff", "UTF-8", "data_hex"}},
    {J "{\"event\":\"String\",\"id\":1,\"data\":\"\xed\xa0\x80\"}\n", 2, 0, {"UTF-8", "data_hex"}},
    {J "{\"event\":\"String\",\"id\":1,\"data\":\"a\tb\"}\n", 2, 0, {"control character 0x9"}},
    {J "{\"event\":\"String\",\"id\":1,\"data\":\"\\x\"}\n", 2, 0, {"escape"}},
    {J "{\"event\":\"String\",\"id\":1,\"data\":\"\\u12g4\"}\n", 2, 0, {"invalid escape"}},
    {J "{\"event\":\"String\",\"id\":1,\"data\":\"\\ud800x\"}\n", 2, 0, {"invalid Unicode"}},
    {J "{\"event\":\"String\",\"id\":1,\"data\":\"\\ud800\\u0041\"}\n", 2, 0, {"invalid Unicode"}},
    {J "{\"event\":\"String\",\"id\":1,\"data\":\"\\udc00\"}\n", 2, 0, {"invalid Unicode"}},
    {J "{\"event\":\"String\",\"id\":1,\"data\":\"\"}\n", 2, 0, {"String has 0 bytes"}},
    {J "{\"event\":\"String\",\"id\":1,\"data_hex\":\"abc\"}\n", 2, 0, {"hexadecimal"}},
    {J "{\"event\":\"String\",\"id\":1,\"data_hex\":\"zz\"}\n", 2, 0, {"hexadecimal"}},
    {J "{\"event\":\"String\",\"id\":1,\"data\":\"a\",\"data_hex\":\"00\"}\n", 2, 0, {"both"}},
};

START_TEST(wrong_scripts)
{
    const wrong_case *c = &wrong_cases[_i];
    blob trace = {0};
    script_error error;
    ck_assert_int_eq(synth(c->script, strlen(c->script), &trace, NULL, &error), GOTRACE_ERROR);
    ck_assert_int_ne(error.error.rule, GOTRACE_RULE_NONE);
    for (size_t i = 0; i < 3 && c->says[i]; i++)
        ck_assert_msg(strstr(error.error.message, c->says[i]), "case %d: \"%s\" does not say %s",
                      _i, error.error.message, c->says[i]);
    ck_assert_msg(error.line == c->line, "case %d: line %llu: %s", _i,
                  (unsigned long long)error.line, error.error.message);
    ck_assert_uint_eq(error.event, c->event);
    ck_assert_ptr_null(strchr(error.error.message, '\n'));
    blob_free(&trace);
}
END_TEST

/* Positions of JSON errors, in characters: where jansson stopped, or of the invalid value, or of
 * the record. */
static const struct {
    const char *script;
    uint64_t line, column;
} places[] = {
    {"\xef\xbb\xbf \n{\"trace\" \"go 1.19\"}", 2, 18},
    {J "\r\n{\"event\":\"\u20ac\" x}", 3, 14},
    {"{\"trace\":\"go 1.19\",\"records\":[\n\n x]}", 3, 2},
    {J "{\"event\":\"GoEnd\",\"dt\":-1}", 2, 23},
    {J "\n \t{\"event\":\"GoEnd\"}", 3, 3},
    {J "{\"event\":\"\u20acnd\",\"dt\":1}", 2, 10},
    {J "{\"event\":\"String\",\"id\":1,\"data\":\"\u20ac,\\\"\",\"b\":1}", 2, 44},
    {"\xef\xbb\xbf\n{\"trace\":\n \"go 1.4\"}", 3, 2},
    {"{\"frequenzy\":1,\"trace\":\"go 1.22\",\"level\":\"meaning\"}", 1, 14},
    {"{\"events\":[\n{}],\"trace\":\"go 1.22\",\"level\":\"meaning\"}", 2, 1},
    {"{\"trace\":\"go 1.19\",\"records\":[\n{\"event\":\"GoEnd\",\"dt\":1}, {\"dt\":[{}, \"]\"],"
     "\n\"event\":\"GoEnd\"}]}",
     2, 33},
    {"{\"trace\":\"go 1.19\",\"records\":[\n{\"event\":\"GoEnd\",\"dt\":1},\n "
     "{\"event\":\"GoEnd\"}]}",
     3, 2},
    {"{\"trace\":\"go 1.19\",\"events\":[]}", 1, 29},
    {"{\"trace\":\"go "
     "1.26\",\"level\":\"meaning\",\"events\":[\n{\"event\":\"GoStart\",\"t\":1,\"g\":1},\n"
     "  {\"event\":\"GoStart\",\"t\":1,\"g\":1}]}",
     3, 3},
    /* After the events; malformed within them, which is noticed after them. */
    {"{\"records\":[\n{\"event\":\"GoEnd\"},\n{}],\n \"trace\":\"go 1.4\"}", 4, 10},
    {"{\"records\":[\n{}\n], \"x\":[[\n]] ,\"trace\" \"go 1.19\"}", 4, 21},
    {"{\"trace\" [\n{}],\"records\":[]}", 1, 10},
    {"{\"records\":[\n{\"event\":\"GoEnd\"]},\"trace\":\"go 1.19\"}", 2, 17},
    {D "\n{\"event\":\"GoEnd\",\"dt\":1,[]]}]}", 2, 25},
    {D "{\"event\":\"GoEnd\",\"dt\":1},\n{\"event\":\"GoEnd\n\",\"dt\":1}]}", 2, 15},
    {"{\"records\":[\n{\"event\":\"GoEnd\n\",\"dt\":1}],\"trace\":\"go 1.19\"}", 2, 15},
    {D "\n\n", 3, 0},
};

START_TEST(places_in_json)
{
    blob trace = {0};
    script_error error;
    ck_assert_int_eq(synth(places[_i].script, strlen(places[_i].script), &trace, NULL, &error),
                     GOTRACE_ERROR);
    ck_assert_uint_eq(error.line, places[_i].line);
    ck_assert_uint_eq(error.column, places[_i].column);
    blob_free(&trace);
}
END_TEST

/* Texts for which jansson needs as much memory as possible: `times` times one text, another, and as
 * many times a third. */
static const struct {
    const char *before, *first, *between, *second, *after;
    size_t times;
} greedy[] = {
    {"[", "[],", "0", "", "]", 200000},
    {"[", "{},", "0", "", "]", 200000},
    {"[", "0,", "0", "", "]", 300000},
    {"[", "\"\",", "0", "", "]", 200000},
    {"[", "1.5,", "0", "", "]", 200000},
    {"[\"", "x", "", "", "\"]", 2000000},
    {"[\"", "\\u00e9", "", "", "\"]", 200000},
    {"", "[", "", "]", "", 2040},
    {"", "{\"a\":", "0", "}", "", 2040},
    /* Tables that have no room for another element, in each other. */
    {"", "[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,", "0", "],0", "]", 1000},
};

START_TEST(jansson_within_memory)
{
    blob text = {0};
    json_memory memory = {0};
    json_error_t error;
    blob_write(&text, greedy[_i].before, strlen(greedy[_i].before));
    for (size_t i = 0; i < greedy[_i].times; i++)
        blob_write(&text, greedy[_i].first, strlen(greedy[_i].first));
    blob_write(&text, greedy[_i].between, strlen(greedy[_i].between));
    for (size_t i = 0; i < greedy[_i].times; i++)
        blob_write(&text, greedy[_i].second, strlen(greedy[_i].second));
    blob_write(&text, greedy[_i].after, strlen(greedy[_i].after));
    json_text all = {NULL, (const char *)text.bytes, text.size, false};
    json_load_text(&memory, &all, 0, &error);
    ck_assert(!memory.exceeded);
    ck_assert_uint_gt(memory.used, text.size);
    json_memory_free(&memory);
    blob_free(&text);
}
END_TEST

START_TEST(zero_bytes)
{
    static const char script[] = "{\"trace\":\"go 1.19\",\"records\":[\n1\0]}";
    blob trace = {0};
    script_error error;
    ck_assert_int_eq(synth(script, sizeof script - 1, &trace, NULL, &error), GOTRACE_ERROR);
    ck_assert_ptr_nonnull(strstr(error.error.message, "zero byte"));
    blob_free(&trace);
}
END_TEST

/* A document larger than the read buffer: what follows it is detected. */
START_TEST(ends_of_documents)
{
    static const char start[] = "{\"trace\":\"go 1.19\",\"records\":[\n";
    static const char record[] = "{\"event\":\"GoEnd\",\"dt\":1}";
    for (size_t size = 900; size < 2200; size++)
        for (int wrong = 0; wrong < 2; wrong++) {
            blob script = {0}, trace = {0};
            script_error error;
            blob_write(&script, start, strlen(start));
            for (size_t i = 0; i < size; i++)
                blob_write(&script, i % 50 ? " " : "\n", 1);
            blob_write(&script, record, strlen(record));
            blob_write(&script, "\n]}\n\n\n]\n", wrong ? 8 : 6);
            gotrace_status status = synth(script.bytes, script.size, &trace, NULL, &error);
            ck_assert_int_eq(status, wrong ? GOTRACE_ERROR : GOTRACE_OK);
            if (wrong)
                ck_assert_uint_eq(error.line, 2 + (size + 49) / 50 + 4);
            blob_free(&script);
            blob_free(&trace);
        }
}
END_TEST

/* An event that is not completely in the buffer when it is read, and an error after it. */
START_TEST(events_across_buffers)
{
    enum { BUFFER = 128 << 10 };
    static const char event[] = "{\"event\":\"String\",\"id\":1,\"data\":\"\xe2\x82\xac\\u20ac\"}";
    for (size_t blanks = BUFFER - sizeof event; blanks <= BUFFER; blanks++)
        for (int wrong = 0; wrong < 2; wrong++) {
            blob script = {0}, trace = {0};
            script_error error;
            blob_write(&script, D, strlen(D));
            for (size_t i = 0; i < blanks; i++)
                blob_write(&script, " ", 1);
            blob_write(&script, event, strlen(event));
            blob_write(&script, wrong ? ", {\"x\":1}]}" : "]}", wrong ? 11 : 2);
            gotrace_status status = synth(script.bytes, script.size, &trace, NULL, &error);
            ck_assert_int_eq(status, wrong ? GOTRACE_ERROR : GOTRACE_OK);
            if (wrong) {
                ck_assert_uint_eq(error.line, 1);
                ck_assert_uint_eq(error.column, strlen(D) + blanks + strlen(event) - 2 + 3);
                ck_assert_uint_eq(error.event, 1);
            } else {
                ck_assert_uint_eq(trace.size, 16 + 3 + 6);
            }
            blob_free(&script);
            blob_free(&trace);
        }
}
END_TEST

/* ---- hostile scripts ------------------------------------------------------------------------- */

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

/* `count` times `unit` between `before` and `after`. */
static gotrace_status synth_repeated(const char *before, const char *unit, size_t count,
                                     const char *after, uint64_t memory, script_error *error)
{
    blob script = {0}, trace = {0};
    gotrace_config config;
    memset(&config, 0, sizeof config);
    config.limits = &(gotrace_limits){.memory = memory};
    blob_write(&script, before, strlen(before));
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
    ck_assert_int_eq(synth_repeated("", "x", 20 * mib, "", 0, &e), GOTRACE_ERROR);
    ck_assert_ptr_nonnull(strstr(e.error.message, "line of more than"));
    ck_assert_int_eq(synth_repeated(T "GoEnd dt=", "1", 6 * mib, "", mib, &e), GOTRACE_ERROR);
    ck_assert_int_eq(e.error.rule, GOTRACE_RULE_SYSTEM_LIMIT);
    ck_assert_int_eq(synth_repeated(J, "[", 10 * mib, "", 0, &e), GOTRACE_ERROR);
    ck_assert_ptr_nonnull(strstr(e.error.message, "line of more than"));
    ck_assert_int_eq(synth_repeated(J, "[", 10 * mib, "", 2 * mib, &e), GOTRACE_ERROR);
    ck_assert_int_eq(e.error.rule, GOTRACE_RULE_SYSTEM_LIMIT);
    ck_assert_int_eq(synth_repeated(J, "[", mib, "", 0, &e), GOTRACE_ERROR);
    ck_assert_ptr_nonnull(strstr(e.error.message, "depth"));
    ck_assert_int_eq(synth_repeated("{\"records\":", "[", 10 * mib, "", 0, &e), GOTRACE_ERROR);
    ck_assert_ptr_nonnull(strstr(e.error.message, "depth"));
    ck_assert_int_eq(
        synth_repeated("{\"trace\":\"go 1.19\",\"records\":[", "\n", 3 * mib, "]}", mib, &e),
        GOTRACE_OK);
    ck_assert_int_eq(synth_repeated(D "{\"event\":\"String\",\"id\":1,\"data\":\"", "\\u0078",
                                    1000000, "\"}]}", 0, &e),
                     GOTRACE_OK);
    ck_assert_int_eq(synth_repeated(D "\n {\"event\":\"String\",\"id\":1,\"data\":\"", "x",
                                    20 * mib, "\"}]}", 0, &e),
                     GOTRACE_ERROR);
    ck_assert_str_eq(e.error.message, "an event of more than 8388608 bytes");
    ck_assert_uint_eq(e.line, 2);
    ck_assert_uint_eq(e.column, 2);
    ck_assert_int_eq(synth_repeated(D "{\"event\":\"String\",\"id\":1,\"data\":\"", "x", 8 * mib,
                                    "\"}]}", mib, &e),
                     GOTRACE_ERROR);
    ck_assert_int_eq(e.error.rule, GOTRACE_RULE_SYSTEM_LIMIT);
    ck_assert_int_eq(synth_repeated("{\"", "x", 65536, "\":1,\"records\":[]}", 0, &e),
                     GOTRACE_ERROR);
    ck_assert_str_eq(e.error.message, "a header of more than 65536 bytes");
    ck_assert_int_eq(synth_repeated(J "{\"", "x", 2 * mib, "\":1}", 0, &e), GOTRACE_ERROR);
    ck_assert_int_eq(e.error.rule, GOTRACE_RULE_USAGE);
    ck_assert_int_eq(synth_repeated(J "{\"event\":\"GoEnd\",\"dt\":", "9", 2 * mib, "}", 0, &e),
                     GOTRACE_ERROR);
    ck_assert_int_eq(e.error.rule, GOTRACE_RULE_USAGE);
    ck_assert_int_eq(synth_repeated(J "{\"event\":\"GoEnd\",\"dt\":\"", "0", mib, "7\"}", 0, &e),
                     GOTRACE_OK);
    ck_assert_int_eq(
        synth_repeated(J "{\"event\":\"String\",\"id\":1,\"data\":\"", "x", 1000001, "\"}", 0, &e),
        GOTRACE_ERROR);
    ck_assert_int_eq(synth_repeated(J "{\"event\":\"String\",\"id\":1,\"data\":\"", "\\u0078",
                                    1000000, "\"}", 0, &e),
                     GOTRACE_OK);
    ck_assert_int_eq(synth_repeated(J "{\"event\":\"String\",\"id\":1,\"data_hex\":\"", "78",
                                    1000000, "\"}", 0, &e),
                     GOTRACE_OK);
    ck_assert_int_eq(synth_repeated(T "String id=1\n\tdata=\"", "\\u0078", 1000000, "\"\n", 0, &e),
                     GOTRACE_OK);
    ck_assert_int_eq(
        synth_repeated(T "Stack id=1\n", "pc=1 func=0 file=0 line=0\n", 1000, "", 0, &e),
        GOTRACE_OK);
    ck_assert_int_eq(
        synth_repeated(T "Stack id=1\n", "pc=1 func=0 file=0 line=0\n", 1001, "", 0, &e),
        GOTRACE_ERROR);
    ck_assert_ptr_nonnull(strstr(e.error.message, "more than 1000 frames"));
    ck_assert_uint_eq(e.line, 1003);
    ck_assert_int_eq(synth_repeated(J "{\"event\":\"Stack\",\"id\":1,\"frames\":[[1,0,0,0]",
                                    ",[1,0,0,0]", 1000, "]}", 0, &e),
                     GOTRACE_ERROR);
    ck_assert_ptr_nonnull(strstr(e.error.message, "more than 1000 frames"));
    ck_assert_uint_eq(e.line, 2);
    static const char batch[] = "Trace Go1.23\nExperimentalBatch exp=1 gen=1 m=0 time=0 data=\"";
    ck_assert_int_eq(synth_repeated(batch, "\\x00", 65536, "\"", 0, &e), GOTRACE_OK);
    ck_assert_int_eq(synth_repeated(batch, "\\x00", 65537, "\"", 0, &e), GOTRACE_ERROR);
    ck_assert_int_eq(e.error.rule, GOTRACE_RULE_BATCH_HEADER);
    ck_assert_int_eq(synth_repeated(J "{\"event\":\"GoEnd\",\"dt\":1,\"pad\":[[0,1]", ",[0,1]",
                                    10000, "]}", 0, &e),
                     GOTRACE_ERROR);
    ck_assert_int_eq(synth_repeated(T, "\n", 3 * mib, "GoEnd dt=1\nGoEnd", mib, &e), GOTRACE_ERROR);
    ck_assert_uint_eq(e.line, 3 * mib + 3);
}
END_TEST

static bool write_nothing(void *ctx, const void *bytes, size_t size)
{
    (void)bytes;
    errno = ENOSPC;
    return size <= 16 && (*(int *)ctx)++ == 0;
}

START_TEST(system_errors)
{
    int headers = 0;
    script_error error;
    FILE *folder = fopen("testdata", "rb");
    ck_assert_ptr_nonnull(folder);
    ck_assert_int_eq(script_synthesize(folder, write_nothing, &headers, NULL, NULL, &error),
                     GOTRACE_ERROR);
    ck_assert_int_eq(error.error.rule, GOTRACE_RULE_SYSTEM_READ);
    ck_assert_int_eq(error.error.os_error, EISDIR);
    fclose(folder);

    FILE *input = popen("echo '{\"trace\":\"go 1.19\",\"records\":[]}'", "r");
    ck_assert_ptr_nonnull(input);
    ck_assert_int_eq(script_synthesize(input, write_nothing, &headers, NULL, NULL, &error),
                     GOTRACE_ERROR);
    ck_assert_int_eq(error.error.rule, GOTRACE_RULE_SYSTEM_READ);
    ck_assert_int_eq(error.error.os_error, ESPIPE);
    pclose(input);

    static const char script[] = T "GoEnd dt=1\n";
    headers = 0;
    input = fmemopen((void *)(uintptr_t)script, strlen(script), "rb");
    ck_assert_int_eq(script_synthesize(input, write_nothing, &headers, NULL, NULL, &error),
                     GOTRACE_ERROR);
    ck_assert_int_eq(error.error.rule, GOTRACE_RULE_SYSTEM_WRITE);
    ck_assert_int_eq(error.error.os_error, ENOSPC);
    fclose(input);
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
    tcase_add_loop_test(cases, wrong_scripts, 0, sizeof wrong_cases / sizeof wrong_cases[0]);
    tcase_add_loop_test(cases, places_in_json, 0, sizeof places / sizeof places[0]);
    tcase_add_loop_test(cases, jansson_within_memory, 0, sizeof greedy / sizeof greedy[0]);
    tcase_add_test(cases, zero_bytes);
    tcase_add_test(cases, ends_of_documents);
    tcase_add_test(cases, events_across_buffers);
    tcase_add_loop_test(cases, damaged_scripts, 0, people);
    tcase_add_test(cases, large_scripts);
    tcase_add_test(cases, system_errors);
    tcase_add_loop_test(cases, memory_refused, 0, people);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
