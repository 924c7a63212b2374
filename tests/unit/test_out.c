/* test_out.c - buffered output, and quoting of text. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "formats/common/out.h"
#include "support.h"
#include "formats/common/utf8.h"
#include "formats/formats.h"
#include "formats/print/printer.h"

/* The output as a string. */
static const char *text_of(out *o, blob *b)
{
    ck_assert(out_flush(o));
    ck_assert(blob_write(b, "", 1));
    return (const char *)b->bytes;
}

static void expect(void (*print)(out *o, const char *s, size_t size), const char *s, size_t size,
                   const char *wanted)
{
    blob b = {0};
    out o;

    ck_assert(out_init(&o, blob_write, &b));
    print(&o, s, size);
    ck_assert_str_eq(text_of(&o, &b), wanted);
    out_free(&o);
    blob_free(&b);
}

START_TEST(numbers)
{
    uint64_t values[200] = {0, 1, 9, INT64_MAX, (uint64_t)INT64_MAX + 1, UINT64_MAX};
    size_t count = 6;
    for (uint64_t power = 10; count < 60; power *= 10) {
        values[count++] = power - 1;
        values[count++] = power;
        values[count++] = power + 9;
        if (power > UINT64_MAX / 10)
            break;
    }
    blob b = {0}, wanted = {0};
    out o;
    ck_assert(out_init(&o, blob_write, &b));
    /* enough lines to cross the end of the buffer at every position */
    for (size_t round = 0; round < 2000; round++) {
        for (size_t i = 0; i < count; i++) {
            char line[100];
            out_u64(&o, values[i]);
            out_char(&o, ' ');
            out_i64(&o, (int64_t)values[i]);
            out_str(&o, " 0x");
            out_hex(&o, values[i]);
            out_printf(&o, "%s", "\n");
            int size = snprintf(line, sizeof line, "%llu %lld 0x%llx\n",
                                (unsigned long long)values[i], (long long)values[i],
                                (unsigned long long)values[i]);
            ck_assert(blob_write(&wanted, line, (size_t)size));
        }
    }
    ck_assert(out_flush(&o));
    ck_assert_uint_eq(b.size, wanted.size);
    ck_assert_mem_eq(b.bytes, wanted.bytes, wanted.size);
    ck_assert_uint_eq(o.written, wanted.size);
    out_free(&o);
    blob_free(&b);
    blob_free(&wanted);
}
END_TEST

START_TEST(pieces_larger_than_the_buffer)
{
    size_t size = 1 << 20;
    char *large = malloc(size + 1);
    blob b = {0};
    out o;

    memset(large, 'x', size);
    large[size] = '\0';
    ck_assert(out_init(&o, blob_write, &b));
    out_str(&o, "a");
    out_bytes(&o, large, size);
    out_printf(&o, "%s|", large);
    ck_assert(out_flush(&o));
    ck_assert_uint_eq(b.size, 2 * size + 2);
    ck_assert_int_eq(b.bytes[0], 'a');
    ck_assert_int_eq(b.bytes[b.size - 1], '|');
    out_free(&o);
    blob_free(&b);
    free(large);
}
END_TEST

/* Accepts *ctx calls, then fails. */
static bool write_some(void *ctx, const void *bytes, size_t size)
{
    int *left = ctx;
    (void)bytes;
    (void)size;
    return (*left)-- > 0;
}

START_TEST(first_failure_remains)
{
    int left = 1;
    out o;

    ck_assert(out_init(&o, write_some, &left));
    out_str(&o, "one");
    ck_assert(out_flush(&o));
    out_str(&o, "two");
    ck_assert(!out_flush(&o));
    left = 10;
    out_str(&o, "three");
    ck_assert(!out_flush(&o));
    ck_assert_int_eq(left, 10);
    ck_assert_uint_eq(o.written, 3);
    ck_assert_int_eq(o.error, 0);
    out_free(&o);

    ck_assert(out_init(&o, write_some, &left));
    out_fail(&o, 28);
    out_fail(&o, 12);
    ck_assert(!out_flush(&o));
    ck_assert_int_eq(o.error, 28);
    out_free(&o);
    out_str(&o, "after the end");
    ck_assert(!out_flush(&o));
}
END_TEST

START_TEST(json_strings)
{
    expect(out_json_string, "", 0, "\"\"");
    expect(out_json_string, "a\"b\\c/", 6, "\"a\\\"b\\\\c/\"");
    expect(out_json_string, "\b\f\n\r\t\x01\x1f\x7f\0", 9,
           "\"\\b\\f\\n\\r\\t\\u0001\\u001f\\u007f\\u0000\"");
    /* terminals interpret C1 controls and overrides of text direction */
    expect(out_json_string,
           "a\xc2\x9b"
           "b\xe2\x80\xae"
           "c\xe2\x80\xa7\xe2\x81\xa6\xc2\xa0",
           16, "\"a\\u009bb\\u202ec\xe2\x80\xa7\\u2066\xc2\xa0\"");
    expect(out_json_string, "h\xc3\xa9\xf0\x9f\x99\x82", 7, "\"h\xc3\xa9\xf0\x9f\x99\x82\"");
    /* each invalid byte is replaced by itself */
    expect(out_json_string, "\xff\xc3(\xed\xa0\x80", 6,
           "\"\xef\xbf\xbd\xef\xbf\xbd(\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"");
    expect(out_json_text, "a\"", 2, "a\\\"");
}
END_TEST

/* Compared with strconv.Quote of Go 1.27. */
START_TEST(go_strings)
{
    expect(out_go_quoted, "", 0, "\"\"");
    expect(out_go_quoted, "a\"b\\c'", 6, "\"a\\\"b\\\\c'\"");
    expect(out_go_quoted, "\a\b\f\n\r\t\v\0\x1f\x7f", 10,
           "\"\\a\\b\\f\\n\\r\\t\\v\\x00\\x1f\\x7f\"");
    expect(out_go_quoted, "\xff\xc3(", 3, "\"\\xff\\xc3(\"");
    expect(out_go_quoted, "h\xc3\xa9\xe6\x97\xa5\xf0\x9f\x99\x82", 10,
           "\"h\xc3\xa9\xe6\x97\xa5\xf0\x9f\x99\x82\"");
    /* no-break space, soft hyphen, zero-width space, a surrogate, private use, the last code point
     */
    expect(out_go_quoted, "\xc2\xa0", 2, "\"\\u00a0\"");
    expect(out_go_quoted, "\xc2\xad", 2, "\"\\u00ad\"");
    expect(out_go_quoted, "\xe2\x80\x8b", 3, "\"\\u200b\"");
    expect(out_go_quoted, "\xed\xa0\x80", 3, "\"\\xed\\xa0\\x80\"");
    expect(out_go_quoted, "\xee\x80\x80", 3, "\"\\ue000\"");
    expect(out_go_quoted, "\xf4\x8f\xbf\xbf", 4, "\"\\U0010ffff\"");
    expect(out_go_quoted, "\xef\xbf\xbd", 3, "\"\xef\xbf\xbd\"");
}
END_TEST

static void expect_clock(const char *zone, uint64_t seconds, uint64_t nanoseconds,
                         const char *wanted)
{
    blob b = {0};
    out o;

    ck_assert_int_eq(setenv("TZ", zone, 1), 0);
    tzset();
    ck_assert(out_init(&o, blob_write, &b));
    out_wall_clock(&o, seconds, nanoseconds);
    ck_assert_str_eq(text_of(&o, &b), wanted);
    out_free(&o);
    blob_free(&b);
}

/* Compared with time.Unix(seconds, nanoseconds).Format(time.RFC3339Nano) of Go 1.27. */
START_TEST(wall_clock)
{
    expect_clock("UTC0", 1700000000, 123000000, "2023-11-14T22:13:20.123Z");
    expect_clock("UTC0", 0, 0, "1970-01-01T00:00:00Z");
    expect_clock("UTC0", 253402300800, 0, "10000-01-01T00:00:00Z");
    expect_clock("IST-5:30", 1700000000, 1, "2023-11-15T03:43:20.000000001+05:30");
    expect_clock("NST3:30", 1700000000, 0, "2023-11-14T18:43:20-03:30");
    expect_clock("XXX-0:00:30", 0, 0, "1970-01-01T00:00:30+00:00");
    expect_clock("XXX0:00:30", 0, 0, "1969-12-31T23:59:30+00:00");
    /* nanoseconds of more than a second, and negative ones */
    expect_clock("UTC0", 1, 2500000001, "1970-01-01T00:00:03.500000001Z");
    expect_clock("UTC0", 0, UINT64_MAX, "1969-12-31T23:59:59.999999999Z");
    expect_clock("UTC0", 0, 0 - (uint64_t)3000000000, "1969-12-31T23:59:57Z");
    /* years that the C library does not support */
    expect_clock("UTC0", (uint64_t)1 << 62, 0, "4611686018427387904s");
    expect_clock("UTC0", INT64_MAX, INT64_MAX, "-9223372027631403773s");
}
END_TEST

START_TEST(utf8)
{
    static const char mixed[] = "all is ASCII here, then \xc3\xa9 and \xe2\x82 cut";
    char clean[UTF8_CLEAN_MAX(sizeof mixed)];
    uint32_t rune = 0;

    ck_assert_uint_eq(utf8_decode("\xf0\x9f\x99\x82", 4, &rune), 4);
    ck_assert_uint_eq(rune, 0x1f642);
    ck_assert_uint_eq(utf8_decode("\xf0\x9f\x99\x82", 3, &rune), 0);
    ck_assert_uint_eq(utf8_decode("\xc0\x80", 2, &rune), 0);         /* overlong */
    ck_assert_uint_eq(utf8_decode("\xe0\x9f\xbf", 3, &rune), 0);     /* overlong */
    ck_assert_uint_eq(utf8_decode("\xf0\x8f\xbf\xbf", 4, &rune), 0); /* overlong */
    ck_assert_uint_eq(utf8_decode("\xf4\x90\x80\x80", 4, &rune), 0); /* above U+10FFFF */
    ck_assert_uint_eq(utf8_decode("\x80", 1, &rune), 0);
    ck_assert_uint_eq(utf8_decode("", 0, &rune), 0);

    ck_assert_uint_eq(utf8_valid_prefix(mixed, sizeof mixed - 1), 31);
    size_t size = utf8_clean(clean, mixed, sizeof mixed - 1);
    ck_assert_uint_eq(size, sizeof mixed - 1 - 2 + 6);
    ck_assert_uint_eq(utf8_valid_prefix(clean, size), size);

    ck_assert(utf8_printable(' ') && utf8_printable('~') && utf8_printable(0xa1));
    ck_assert(!utf8_printable('\n') && !utf8_printable(0x7f) && !utf8_printable(0xa0));
    ck_assert(utf8_printable(0x1f642) && !utf8_printable(0xe000) && !utf8_printable(0x10ffff));
}
END_TEST

START_TEST(names_and_endings)
{
    ck_assert_ptr_eq(format_by_name("chrome"), &format_chrome);
    ck_assert_ptr_null(format_by_name("Chrome"));
    ck_assert_ptr_eq(format_by_path("dir.pftrace/x.JSON"), &format_chrome);
    ck_assert_ptr_eq(format_by_path("x.json.zst"), &format_chrome);
    ck_assert_ptr_null(format_by_path(".json"));
    ck_assert_ptr_null(format_by_path("x.jsonl"));
    ck_assert_ptr_null(format_by_path(""));
    for (size_t i = 0; printers[i]; i++)
        ck_assert_ptr_eq(printer_by_name(printers[i]->name), printers[i]);
    ck_assert_ptr_null(printer_by_name(""));
}
END_TEST

/* ---- writer thread --------------------------------------------------------------------------- */

/* The output, up to a limit after which writing fails. */
typedef struct sink {
    blob content;
    size_t limit;
} sink;

static bool sink_write(void *ctx, const void *bytes, size_t size)
{
    sink *s = ctx;
    return s->content.size + size <= s->limit && blob_write(&s->content, bytes, size);
}

/* Consecutive numbers, and sometimes more than the buffer holds. */
static bool write_much(sink *s, bool writer_thread)
{
    static char large[1 << 20];
    out o;
    memset(large, 'x', sizeof large);
    ck_assert(out_init(&o, sink_write, s));
    if (writer_thread)
        out_write_in_thread(&o);
    for (uint64_t n = 0; n < 300000; n++) {
        out_u64(&o, n * n);
        if (n % 100000 == 77)
            out_bytes(&o, large, sizeof large);
        if (n % 70000 == 5)
            out_flush(&o);
    }
    bool done = out_flush(&o);
    ck_assert(!done || o.written == s->content.size);
    ck_assert(done == !o.failed);
    out_free(&o);
    return done;
}

START_TEST(writer_thread)
{
    sink one = {.limit = SIZE_MAX}, other = {.limit = SIZE_MAX};
    ck_assert(write_much(&one, false));
    ck_assert(write_much(&other, true));
    ck_assert_uint_eq(one.content.size, other.content.size);
    ck_assert_mem_eq(one.content.bytes, other.content.bytes, one.content.size);
    for (size_t limit = 0; limit < one.content.size; limit += one.content.size / 20) {
        sink small = {.limit = limit};
        ck_assert(!write_much(&small, true));
        if (small.content.size > 0) /* without bytes the pointer is NULL */
            ck_assert_mem_eq(one.content.bytes, small.content.bytes, small.content.size);
        blob_free(&small.content);
    }
    blob_free(&one.content);
    blob_free(&other.content);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("out");
    TCase *cases = tcase_create("all");

    tcase_add_test(cases, numbers);
    tcase_add_test(cases, pieces_larger_than_the_buffer);
    tcase_add_test(cases, first_failure_remains);
    tcase_add_test(cases, json_strings);
    tcase_add_test(cases, go_strings);
    tcase_add_test(cases, wall_clock);
    tcase_add_test(cases, utf8);
    tcase_add_test(cases, names_and_endings);
    tcase_add_test(cases, writer_thread);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
