/*
 * fuzz_script.c - the script readers: whatever they take gives a trace that decodes and whose script
 * gives the same trace again, in every dress.
 */
#include <string.h>

#include "common.h"

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
    for (const script_format *const *dress = script_formats; *dress; dress++) {
        bytes script = {NULL, 0, 0}, again = {NULL, 0, 0};
        if (fuzz_dump(trace.data, trace.size, *dress, &script)) {
            REQUIRE(fuzz_synthesize(script.data, script.size, &again, &error) >= 0);
            REQUIRE(again.size == trace.size);
            REQUIRE(memcmp(again.data, trace.data, trace.size) == 0);
        }
        bytes_free(&script);
        bytes_free(&again);
    }
    bytes_free(&trace);
    return 0;
}
