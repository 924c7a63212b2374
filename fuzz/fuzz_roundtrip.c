/*
 * fuzz_roundtrip.c - a trace that decodes is the same byte for byte after it went through a script,
 * in every dress; of one that does not, the script has what stands before the damage.
 */
#include <string.h>

#include "common.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    for (unsigned i = 0; script_formats[i]; i++) {
        if (!fuzz_turn(data, size, i, fuzz_dresses()))
            continue;
        const script_format *dress = script_formats[i];
        bytes script = {NULL, 0, 0}, trace = {NULL, 0, 0};
        script_error error;
        bool whole = fuzz_dump(data, size, dress, &script);
        gotrace_status status = fuzz_synthesize(script.data, script.size, &trace, &error);
        if (whole) {
            REQUIRE(status >= 0);
            REQUIRE(trace.size == size);
            REQUIRE(memcmp(trace.data, data, size) == 0);
        }
        bytes_free(&script);
        bytes_free(&trace);
    }
    return 0;
}
