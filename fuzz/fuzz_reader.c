/*
 * fuzz_reader.c - the ordered reader: checking and reading event by event give the same findings
 * with any window; every byte is accounted for; memory is bounded, and any allocation may fail.
 */
#include <stdlib.h>
#include <string.h>

#include "common.h"
#include "formats/print/printer.h"

/* as in the documentation and the tests */
enum { MEMORY_PER_BYTE = 128, MEMORY_AT_LEAST = 4 << 20 };

typedef struct counting {
    uint64_t now, peak, calls, fail_at;
} counting;

static void *resize(void *ctx, void *block, size_t old_size, size_t new_size)
{
    counting *c = ctx;
    if (new_size == 0) {
        free(block);
        c->now -= old_size;
        return NULL;
    }
    if (c->calls++ == c->fail_at)
        return NULL;
    void *moved = realloc(block, new_size);
    REQUIRE(moved != NULL);
    c->now += new_size - old_size;
    if (c->now > c->peak)
        c->peak = c->now;
    return moved;
}

typedef struct outcome {
    gotrace_status opened, status;
    uint64_t problems, events, digest, calls;
    gotrace_summary summary;
} outcome;

static void check_summary(const gotrace_summary *s)
{
    uint64_t sum = s->header_bytes + s->unread_bytes;
    for (unsigned type = 0; type < 256; type++)
        sum += s->type_bytes[type];
    REQUIRE(sum == s->size);
}

static void read_events(gotrace_reader *reader, outcome *o)
{
    const printer *jsonl = printer_by_name("jsonl");
    print_source from = {.version = gotrace_reader_summary(reader)->version, .reader = reader};
    const gotrace_event *event;
    out text;
    REQUIRE(out_init(&text, digest_write, &o->digest));
    while ((o->status = gotrace_reader_next(reader, &event)) == GOTRACE_EVENT) {
        o->events++;
        from.raw = gotrace_reader_raw(reader);
        jsonl->event(&text, &from, event);
    }
    REQUIRE(out_flush(&text));
    out_free(&text);
}

static outcome read_trace(const uint8_t *data, size_t size, bool next, size_t window,
                          uint64_t fail_at)
{
    outcome o = {.digest = 14695981039346656037u};
    counting memory = {.fail_at = fail_at};
    gotrace_config config = fuzz_config(&o.problems);
    gotrace_error error = {0};
    gotrace_source *source;
    gotrace_reader *reader;
    config.allocator = (gotrace_allocator){resize, &memory};
    config.window = window;
    REQUIRE(gotrace_source_memory(data, size, NULL, &source, &error) == GOTRACE_OK);
    o.opened = o.status = gotrace_reader_open(source, &config, &reader, &error);
    if (o.opened == GOTRACE_OK) {
        if (next)
            read_events(reader, &o);
        else
            o.status = gotrace_reader_check(reader);
        o.summary = *gotrace_reader_summary(reader);
        if (o.status == GOTRACE_END)
            check_summary(&o.summary);
        else
            REQUIRE(gotrace_reader_error(reader)->class_ == GOTRACE_CLASS_SYSTEM);
        gotrace_reader_close(reader);
    }
    gotrace_source_close(source);
    REQUIRE(memory.now == 0);
    REQUIRE(memory.peak <= (uint64_t)MEMORY_PER_BYTE * size + MEMORY_AT_LEAST);
    o.calls = memory.calls;
    return o;
}

static bool decodes(const uint8_t *data, size_t size)
{
    uint64_t problems;
    gotrace_config config = fuzz_config(&problems);
    gotrace_decoder *decoder;
    const gotrace_record *record;
    gotrace_status status;
    REQUIRE(gotrace_decoder_new(&config, &decoder, NULL) == GOTRACE_OK);
    REQUIRE(gotrace_decoder_feed(decoder, data, size) == GOTRACE_OK);
    gotrace_decoder_finish(decoder);
    while ((status = gotrace_decoder_next(decoder, &record)) == GOTRACE_EVENT)
        ;
    gotrace_decoder_free(decoder);
    return status == GOTRACE_END && problems == 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (fuzz_is_packed(data, size))
        return 0;
    enum { NARROW, CHECKED, REFUSED, WAYS };
    outcome read = read_trace(data, size, true, 0, UINT64_MAX);
    REQUIRE(read.summary.events == read.events);
    if (fuzz_turn(data, size, NARROW, WAYS)) {
        outcome narrow = read_trace(data, size, true, 1, UINT64_MAX);
        REQUIRE(read.status == narrow.status && read.digest == narrow.digest);
        REQUIRE(read.problems == narrow.problems);
    }
    if (fuzz_turn(data, size, CHECKED, WAYS)) {
        outcome checked = read_trace(data, size, false, 0, UINT64_MAX);
        REQUIRE(read.opened == checked.opened && read.status == checked.status);
        REQUIRE(read.problems == checked.problems);
        REQUIRE(read.summary.problems == checked.summary.problems);
        REQUIRE(read.summary.events == checked.summary.events);
    }
    if (read.opened < 0) {
        REQUIRE(!decodes(data, size));
        return 0;
    }
    REQUIRE(read.status == GOTRACE_END);
    if (decodes(data, size))
        REQUIRE(read.events >= read.summary.timed_records);
    else
        REQUIRE(read.summary.problems > 0);
    if (!fuzz_turn(data, size, REFUSED, WAYS))
        return 0;
    uint64_t state = fuzz_seed(data, size);
    outcome refused = read_trace(data, size, true, 0, fuzz_random(&state) % read.calls);
    REQUIRE(refused.status == GOTRACE_ERROR);
    return 0;
}
