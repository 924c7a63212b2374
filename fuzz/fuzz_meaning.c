/*
 * fuzz_meaning.c - what a trace tells by meaning, told to a writer: what the writer takes of a
 * sound trace is a sound one, which tells the same again and again (but for the order of what
 * happens at one tick), in every dress; any is a trace, if it is believed.
 */
#include <string.h>

#include "common.h"
#include "cmd/repair/verdict.h"

static verdict judge(const uint8_t *data, size_t size)
{
    uint64_t problems;
    gotrace_config config = fuzz_config(&problems);
    gotrace_error error;
    verdict v;
    config.on_problem = NULL;
    REQUIRE(verdict_of(data, size, &config, &v, &error));
    return v;
}

/* The script of a sound trace, written and told again; the trace is then that one. False: the
 * writer does not take it, as v1's reader, like Go's, allows regions and logs where no goroutine
 * runs. */
static bool report_again(const script_format *dress, bytes *script, bytes *trace)
{
    script_error error;
    bytes_free(trace);
    if (fuzz_synthesize(script->data, script->size, trace, &error) < 0) {
        /* Nor a time before the clock's zero, which v1's readers know. */
        REQUIRE(error.error.class_ == GOTRACE_CLASS_INCONSISTENT ||
                error.error.rule == GOTRACE_RULE_TIME_ORDER);
        return false;
    }
    REQUIRE(judge(trace->data, trace->size).sound);
    bytes_free(script);
    fuzz_dump_meaning(trace->data, trace->size, dress, script);
    return true;
}

/* Whether things happen on two threads at one tick, or v2's ticks are no whole ns (its readers
 * leave out what is less than one between any two events), or so many that they are rounded. In
 * which order what is at one tick is read depends on where the threads' batches stand, and a writer
 * puts them in an order of its own. */
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
        uint64_t tick = v2 ? (uint64_t)((double)event->ticks * frequency / 1e9) : event->ticks;
        double ns_per_tick = 1.0 / (frequency / 1e9); /* as v2's readers have it */
        bool rounded = v2 &&
                       (ns_per_tick != (double)(uint64_t)ns_per_tick || event->ticks >> 53 != 0);
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

static void check_sound(const uint8_t *data, size_t size, const script_format *dress)
{
    bytes script = {NULL, 0, 0}, trace = {NULL, 0, 0}, once = {NULL, 0, 0};
    fuzz_dump_meaning(data, size, dress, &script);
    if (report_again(dress, &script, &trace)) {
        /* A writer raises times by a tick where its tracer has to, so that the first script may
         * differ. */
        REQUIRE(bytes_write(&once, script.data, script.size));
        REQUIRE(report_again(dress, &script, &trace));
        REQUIRE(has_ties(trace.data, trace.size) ||
                (once.size == script.size && memcmp(once.data, script.data, script.size) == 0));
    }
    bytes_free(&script);
    bytes_free(&trace);
    bytes_free(&once);
}

static void check_any(const uint8_t *data, size_t size, const script_format *dress)
{
    bytes script = {NULL, 0, 0}, trace = {NULL, 0, 0};
    script_error error = {.error.message = ""};
    fuzz_dump_meaning(data, size, dress, &script);
    if (script.size > 0 && fuzz_believe(script.data, script.size, &trace, &error) < 0)
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
        if (!fuzz_turn(data, size, i, fuzz_dresses()))
            continue;
        check_any(data, size, script_formats[i]);
        if (sound)
            check_sound(data, size, script_formats[i]);
    }
    return 0;
}
