/* test_script_wrong.c - event scripts that are not valid: messages, places, limits and failures. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "formats/script/json_load.h"
#include "scripting.h"

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

int main(void)
{
    Suite *suite = suite_create("script_wrong");
    TCase *cases = tcase_create("script_wrong");
    tcase_add_loop_test(cases, wrong_scripts, 0, sizeof wrong_cases / sizeof wrong_cases[0]);
    tcase_add_loop_test(cases, places_in_json, 0, sizeof places / sizeof places[0]);
    tcase_add_loop_test(cases, jansson_within_memory, 0, sizeof greedy / sizeof greedy[0]);
    tcase_add_test(cases, zero_bytes);
    tcase_add_test(cases, ends_of_documents);
    tcase_add_test(cases, events_across_buffers);
    tcase_add_test(cases, large_scripts);
    tcase_add_test(cases, system_errors);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
