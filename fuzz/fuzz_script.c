/*
 * fuzz_script.c - the script readers: every accepted script gives a trace that decodes, and whose
 * script gives the same trace, in every encoding. Its script of level meaning can be read.
 */
#include <string.h>

#include "common.h"

/* The script of the records, in that encoding, gives the same trace. */
static void check_records(const bytes *trace, const script_format *encoding)
{
    bytes script = {NULL, 0, 0}, again = {NULL, 0, 0};
    script_error error;
    if (fuzz_dump(trace->data, trace->size, encoding, &script)) {
        REQUIRE(fuzz_synthesize(script.data, script.size, &again, &error) >= 0);
        REQUIRE(again.size == trace->size);
        REQUIRE(memcmp(again.data, trace->data, trace->size) == 0);
    }
    bytes_free(&script);
    bytes_free(&again);
}

/* The script of level meaning of any trace is accepted with --force. */
static void check_meaning(const bytes *trace, const script_format *encoding)
{
    bytes script = {NULL, 0, 0}, again = {NULL, 0, 0};
    script_error error = {.error.message = ""};
    fuzz_dump_meaning(trace->data, trace->size, encoding, &script);
    if (script.size > 0 && fuzz_synthesize_forced(script.data, script.size, &again, &error) < 0)
        REQUIRE(error.error.message[0] != '\0');
    bytes_free(&script);
    bytes_free(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    bytes trace = {NULL, 0, 0};
    script_error error;
    if (fuzz_synthesize(data, size, &trace, &error) < 0) {
        REQUIRE(error.error.rule != GOTRACE_RULE_NONE);
        REQUIRE(error.error.message[0] != '\0');
        bytes_free(&trace);
        return 0;
    }
    for (unsigned i = 0; script_formats[i]; i++) {
        if (fuzz_turn(data, size, 2 * i, 2 * fuzz_encoding_count()))
            check_records(&trace, script_formats[i]);
        if (fuzz_turn(data, size, 2 * i + 1, 2 * fuzz_encoding_count()))
            check_meaning(&trace, script_formats[i]);
    }
    bytes_free(&trace);
    return 0;
}
