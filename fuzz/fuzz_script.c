/*
 * fuzz_script.c - the script readers: whatever they take gives a trace that decodes and whose
 * script gives the same trace again, in every dress. What it tells by meaning is a script that can
 * be read.
 */
#include <string.h>

#include "common.h"

/* The records in a dress give the same trace again. */
static void report_records(const bytes *trace, const script_format *dress)
{
    bytes script = {NULL, 0, 0}, again = {NULL, 0, 0};
    script_error error;
    if (fuzz_dump(trace->data, trace->size, dress, &script)) {
        REQUIRE(fuzz_synthesize(script.data, script.size, &again, &error) >= 0);
        REQUIRE(again.size == trace->size);
        REQUIRE(memcmp(again.data, trace->data, trace->size) == 0);
    }
    bytes_free(&script);
    bytes_free(&again);
}

/* Whatever a trace holds, what is told of it by meaning is taken if it is believed. */
static void report_meaning(const bytes *trace, const script_format *dress)
{
    bytes script = {NULL, 0, 0}, again = {NULL, 0, 0};
    script_error error = {.error.message = ""};
    fuzz_dump_meaning(trace->data, trace->size, dress, &script);
    if (script.size > 0 && fuzz_believe(script.data, script.size, &again, &error) < 0)
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
        if (fuzz_turn(data, size, 2 * i, 2 * fuzz_dresses()))
            report_records(&trace, script_formats[i]);
        if (fuzz_turn(data, size, 2 * i + 1, 2 * fuzz_dresses()))
            report_meaning(&trace, script_formats[i]);
    }
    bytes_free(&trace);
    return 0;
}
