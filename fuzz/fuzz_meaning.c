/*
 * fuzz_meaning.c - events passed to a writer through scripts of level meaning. If the writer
 * accepts the events of a sound trace, the result is sound and gives the same script (except for
 * the order of events at one tick), in every encoding. With --force, the events of any trace give a
 * trace.
 */
#include <string.h>

#include "common.h"
#include "cmd/repair/verdict.h"

static verdict judge(const uint8_t *data, size_t size)
{
    uint64_t problems;
    gotrace_config config = fuzz_config(&problems);
    gotrace_error error = {0};
    verdict v;
    config.on_problem = NULL;
    REQUIRE(verdict_of(data, size, &config, &v, &error));
    return v;
}

/* Build a trace from the script of a sound trace, which replaces it, and dump that. False: the
 * writer rejects it, since v1's reader, like Go's, allows regions and logs without a running
 * goroutine. */
static bool rewrite(const script_format *encoding, bytes *script, bytes *trace)
{
    script_error error;
    bytes_free(trace);
    if (fuzz_synthesize(script->data, script->size, trace, &error) < 0) {
        /* and times before the clock's zero, which v1 readers allow */
        REQUIRE(error.error.class_ == GOTRACE_CLASS_INCONSISTENT ||
                error.error.rule == GOTRACE_RULE_TIME_ORDER);
        return false;
    }
    REQUIRE(judge(trace->data, trace->size).sound);
    bytes_free(script);
    fuzz_dump_meaning(trace->data, trace->size, encoding, script);
    return true;
}

/* Whether two threads have events at one tick, or v2 ticks are not whole ns (readers drop the
 * fraction between any two events) or so large that they are rounded. The order in which events at
 * one tick are read depends on the order of the threads' batches, which a writer changes. */
static bool has_ties(const uint8_t *data, size_t size)
{
    uint64_t problems, last = UINT64_MAX;
    gotrace_config config = fuzz_config(&problems);
    gotrace_source *source;
    gotrace_reader *reader;
    const gotrace_event *event;
    int64_t last_thread = GOTRACE_NO_THREAD, last_proc = 0;
    bool ties = false;
    REQUIRE(gotrace_source_memory(data, size, &config, &source, NULL) == GOTRACE_OK);
    REQUIRE(gotrace_reader_open(source, &config, &reader, NULL) == GOTRACE_OK);
    while (!ties && gotrace_reader_next(reader, &event) == GOTRACE_EVENT) {
        const gotrace_summary *summary = gotrace_reader_summary(reader);
        double frequency = summary->frequency ? (double)summary->frequency : 1e9;
        bool v2 = summary->version >= GOTRACE_FIRST_V2;
        double ns_per_tick = 1.0 / (frequency / 1e9); /* as v2 readers compute it */
        bool rounded = v2 && (ns_per_tick != (double)(uint64_t)ns_per_tick ||
                              gotrace_reader_raw(reader)->ticks >> 53 != 0);
        uint64_t tick = v2 && !rounded
                            ? (uint64_t)((double)gotrace_reader_raw(reader)->ticks / ns_per_tick)
                            : gotrace_reader_raw(reader)->ticks;
        ties = rounded ||
               (tick == last && (event->thread != last_thread || event->proc != last_proc));
        last = tick;
        last_thread = event->thread;
        last_proc = event->proc;
    }
    gotrace_reader_close(reader);
    gotrace_source_close(source);
    return ties;
}

static void check_sound(const uint8_t *data, size_t size, const script_format *encoding)
{
    bytes script = {NULL, 0, 0}, trace = {NULL, 0, 0}, once = {NULL, 0, 0};
    fuzz_dump_meaning(data, size, encoding, &script);
    if (rewrite(encoding, &script, &trace)) {
        /* a writer raises times by a tick where the tracer requires it, so the first script may
         * differ */
        REQUIRE(bytes_write(&once, script.data, script.size));
        REQUIRE(rewrite(encoding, &script, &trace));
        REQUIRE(has_ties(trace.data, trace.size) ||
                (once.size == script.size && memcmp(once.data, script.data, script.size) == 0));
    }
    bytes_free(&script);
    bytes_free(&trace);
    bytes_free(&once);
}

static void check_any(const uint8_t *data, size_t size, const script_format *encoding)
{
    bytes script = {NULL, 0, 0}, trace = {NULL, 0, 0};
    script_error error = {.error.message = ""};
    fuzz_dump_meaning(data, size, encoding, &script);
    if (script.size > 0 && fuzz_synthesize_forced(script.data, script.size, &trace, &error) < 0)
        REQUIRE(error.error.message[0] != '\0');
    bytes_free(&script);
    bytes_free(&trace);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (fuzz_is_packed(data, size))
        return 0;
    bool sound = judge(data, size).sound;
    for (unsigned i = 0; script_formats[i]; i++) {
        if (!fuzz_turn(data, size, i, fuzz_encoding_count()))
            continue;
        check_any(data, size, script_formats[i]);
        if (sound)
            check_sound(data, size, script_formats[i]);
    }
    return 0;
}
