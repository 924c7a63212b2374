/*
 * fuzz_version.c - conversion to another version: a sound trace gives a sound one of that version;
 * any other terminates and gives a trace that decodes.
 */
#include <stdlib.h>
#include <string.h>

#include "common.h"
#include "cmd/repair/verdict.h"
#include "formats/trace/convert.h"

static bool is_of_version(const bytes *trace, int version)
{
    char header[32];
    int length = snprintf(header, sizeof header, "go 1.%d trace", version);
    return trace->size >= (size_t)length && memcmp(trace->data, header, (size_t)length) == 0;
}

static void convert(const uint8_t *data, size_t size, int version, const verdict *before)
{
    uint64_t problems;
    gotrace_config config = fuzz_config(&problems);
    gotrace_source *source;
    gotrace_reader *reader;
    gotrace_error error = {.rule = GOTRACE_RULE_NONE};
    version_losses losses = {.impossible = 0};
    bytes trace = {NULL, 0, 0};
    verdict after;
    char text[256];
    REQUIRE(gotrace_source_memory(data, size, &config, &source, NULL) == GOTRACE_OK);
    if (gotrace_reader_open(source, &config, &reader, NULL) == GOTRACE_OK) {
        version_job job = {.source = source,
                           .reader = reader,
                           .version = version,
                           .write = bytes_write,
                           .ctx = &trace,
                           .config = &config};
        gotrace_status status = version_convert(&job, &losses, &error);
        for (size_t n = 0; version_loss(&losses, version, n, text, sizeof text); n++)
            REQUIRE(text[0] != '\0' && !strchr(text, '\n'));
        if (status == GOTRACE_ERROR) {
            REQUIRE(error.rule != GOTRACE_RULE_NONE && error.message[0] != '\0');
        } else {
            REQUIRE(is_of_version(&trace, version));
            config.on_problem = NULL;
            REQUIRE(verdict_of(trace.data, trace.size, &config, &after, &error));
            /* the version may lack all of its events */
            if (before->sound)
                REQUIRE(after.sound || after.counts[GOTRACE_RULE_TRACE_EMPTY] > 0);
        }
        gotrace_reader_close(reader);
    }
    gotrace_source_close(source);
    bytes_free(&trace);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint64_t problems, state = fuzz_seed(data, size);
    gotrace_config config = fuzz_config(&problems);
    gotrace_error error = {0};
    verdict before;
    size_t count;
    const int *versions = gotrace_versions(&count);
    if (fuzz_is_packed(data, size))
        return 0;
    config.on_problem = NULL;
    REQUIRE(verdict_of(data, size, &config, &before, &error));
    convert(data, size, versions[fuzz_random(&state) % count], &before);
    return 0;
}
