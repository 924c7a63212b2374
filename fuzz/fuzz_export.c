/*
 * fuzz_export.c - exporters and printers come to their end whatever the trace, and what they write
 * is well-formed: JSON that a parser takes, a protobuf message whose parts fill it.
 */
#include <jansson.h>
#include <string.h>

#include "common.h"

static void check_json(const uint8_t *data, size_t size)
{
    json_error_t error;
    json_t *parsed = json_loadb((const char *)data, size, JSON_DECODE_ANY | JSON_ALLOW_NUL, &error);
    if (!parsed)
        fprintf(stderr, "line %d, column %d: %s\n", error.line, error.column, error.text);
    REQUIRE(parsed != NULL);
    json_decref(parsed);
}

static void check_lines(const uint8_t *data, size_t size)
{
    while (size > 0) {
        const uint8_t *end = memchr(data, '\n', size);
        REQUIRE(end != NULL);
        check_json(data, (size_t)(end - data));
        size -= (size_t)(end + 1 - data);
        data = end + 1;
    }
}

/* A trace is packets, field 1, each with its length. */
static void check_packets(const uint8_t *data, size_t size)
{
    size_t at = 0;
    while (at < size) {
        uint64_t length = 0;
        unsigned shift = 0;
        REQUIRE(data[at++] == 0x0a);
        do {
            REQUIRE(at < size && shift < 64);
            length |= (uint64_t)(data[at] & 0x7f) << shift;
            shift += 7;
        } while (data[at++] & 0x80);
        REQUIRE(length <= size - at);
        at += length;
    }
}

static gotrace_reader *open_reader(const uint8_t *data, size_t size, gotrace_source **source,
                                   uint64_t *problems)
{
    gotrace_config config = fuzz_config(problems);
    gotrace_reader *reader;
    gotrace_error error;
    if (gotrace_source_memory(data, size, &config, source, &error) < 0)
        return NULL;
    if (gotrace_reader_open(*source, &config, &reader, &error) == GOTRACE_OK)
        return reader;
    gotrace_source_close(*source);
    return NULL;
}

static void convert(const uint8_t *data, size_t size, const format *to)
{
    gotrace_source *source;
    uint64_t problems;
    bytes written = {NULL, 0, 0};
    gotrace_reader *reader = open_reader(data, size, &source, &problems);
    out o;
    if (!reader)
        return;
    REQUIRE(out_init(&o, bytes_write, &written));
    to->run(&(convert_job){.reader = reader, .out = &o, .name = "fuzzed"});
    REQUIRE(out_flush(&o));
    out_free(&o);
    if (to == &format_chrome)
        check_json(written.data, written.size);
    else if (to == &format_perfetto)
        check_packets(written.data, written.size);
    bytes_free(&written);
    gotrace_reader_close(reader);
    gotrace_source_close(source);
}

static void print(const uint8_t *data, size_t size, const printer *to)
{
    gotrace_source *source;
    uint64_t problems;
    gotrace_event event;
    bytes written = {NULL, 0, 0};
    gotrace_reader *reader = open_reader(data, size, &source, &problems);
    out o;
    if (!reader)
        return;
    REQUIRE(out_init(&o, bytes_write, &written));
    while (gotrace_reader_next(reader, &event) == GOTRACE_EVENT)
        to->event(&o, reader, &event);
    REQUIRE(out_flush(&o));
    out_free(&o);
    if (strcmp(to->name, "jsonl") == 0)
        check_lines(written.data, written.size);
    bytes_free(&written);
    gotrace_reader_close(reader);
    gotrace_source_close(source);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    for (const format *const *to = formats; *to; to++)
        convert(data, size, *to);
    for (const printer *const *to = printers; *to; to++)
        print(data, size, *to);
    return 0;
}
