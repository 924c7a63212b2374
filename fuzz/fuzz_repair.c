/*
 * fuzz_repair.c - repair of any input: what it reports as valid is valid for the reader of
 * validate; a sound trace is unchanged; a repaired one needs no repair; memory is bounded.
 */
#include <stdlib.h>
#include <string.h>

#include "common.h"
#include "cmd/repair/repair.h"
#include "cmd/repair/verdict.h"

typedef struct repaired {
    out out;
    bytes trace;
    bool begun;
} repaired;

/* Only the first trace is requested. */
static out *next_trace(void *ctx, unsigned trace)
{
    repaired *r = ctx;
    REQUIRE(trace == 1 && !r->begun);
    r->begun = true;
    REQUIRE(out_init(&r->out, bytes_write, &r->trace));
    return &r->out;
}

static void report(void *ctx, const repair_finding *finding)
{
    (void)ctx;
    REQUIRE(finding->kind < REPAIR_KIND_COUNT && finding->message[0] != '\0');
    REQUIRE(!strchr(finding->message, '\n'));
}

static gotrace_status repair_bytes(const uint8_t *data, size_t size, const gotrace_config *config,
                                   repair_totals *totals, repaired *r)
{
    gotrace_source *source;
    gotrace_error error = {.rule = GOTRACE_RULE_NONE};
    *r = (repaired){.begun = false};
    *totals = (repair_totals){.traces = 0};
    REQUIRE(gotrace_source_memory(data, size, config, &source, &error) == GOTRACE_OK);
    repair_job job = {
        .source = source, .config = config, .next = next_trace, .report = report, .ctx = r};
    gotrace_status status = repair_write(&job, totals, &error);
    gotrace_source_close(source);
    if (status < 0)
        REQUIRE(error.rule != GOTRACE_RULE_NONE && error.message[0] != '\0');
    if (r->begun) {
        REQUIRE(out_flush(&r->out));
        out_free(&r->out);
    }
    return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint64_t problems;
    gotrace_config config = fuzz_config(&problems);
    gotrace_error error = {0};
    repair_totals totals, again_totals;
    repaired r, again;
    verdict before, after;
    if (fuzz_is_packed(data, size))
        return 0;
    config.on_problem = NULL;
    REQUIRE(verdict_of(data, size, &config, &before, &error));
    gotrace_status status = repair_bytes(data, size, &config, &totals, &r);
    if (status == GOTRACE_END && r.begun) {
        REQUIRE(verdict_of(r.trace.data, r.trace.size, &config, &after, &error));
        REQUIRE(after.sound == totals.sound);
        /* A batch far from its generation is only a warning, and is moved back. */
        if (before.sound && before.counts[GOTRACE_RULE_CLOCK_BACK] == 0)
            REQUIRE(totals.identical && r.trace.size == size &&
                    memcmp(r.trace.data, data, size) == 0);
        if (totals.sound) {
            REQUIRE(repair_bytes(r.trace.data, r.trace.size, &config, &again_totals, &again) ==
                    GOTRACE_END);
            REQUIRE(again_totals.identical && again.trace.size == r.trace.size);
            bytes_free(&again.trace);
        }
    }
    bytes_free(&r.trace);
    return 0;
}
