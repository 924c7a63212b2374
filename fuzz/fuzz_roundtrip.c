/*
 * fuzz_roundtrip.c - a trace that decodes is the same byte for byte after a script of it was read,
 * in every encoding; the script of any other trace has the records before the damage.
 */
#include <string.h>

#include "common.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    for (unsigned i = 0; script_formats[i]; i++) {
        if (!fuzz_turn(data, size, i, fuzz_encoding_count()))
            continue;
        const script_format *encoding = script_formats[i];
        bytes script = {NULL, 0, 0}, trace = {NULL, 0, 0};
        script_error error;
        bool whole = fuzz_dump(data, size, encoding, &script);
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
