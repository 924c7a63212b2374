/*
 * test_hostile_v2.c - traces of Go 1.22 and later that are truncated, damaged or hostile: samples
 * of each version, with every value changed.
 */
#include <stdlib.h>
#include <string.h>

#include "core/events.h"
#include "reading.h"

/* One of each version. */
static const char *const samples[] = {"go1.22-empty.trace", "go1.23-empty.trace",
                                      "go1.25-empty.trace", "go1.27-empty.trace"};
enum { SAMPLES = sizeof samples / sizeof *samples };

/* Read exactly those bytes from memory of that size, so that reads past the end are detected. */
static void check_cut(const uint8_t *bytes, size_t size, int version)
{
    gotrace_status decoded;
    blob cut = {malloc(size ? size : 1), size, size};
    ck_assert_ptr_nonnull(cut.bytes);
    memcpy(cut.bytes, bytes, size);
    reading r = reading_of(cut.bytes, size, NULL, READING_NEXT);
    uint64_t records = reading_records(cut.bytes, size, &decoded);
    reading_check_damaged(&cut);
    blob_free(&cut);
    if (size < 16) {
        ck_assert_int_lt(r.opened, 0);
        ck_assert_int_eq(r.error.rule, GOTRACE_RULE_HEADER_SHORT);
        return;
    }
    ck_assert_int_eq(r.status, GOTRACE_END);
    /* Until 1.25 a trace has no end mark: the batch with the frequency alone is a valid trace, for
     * Go's reader too. */
    if (version < 26 && r.summary.batches == 1 && r.summary.problems == 0) {
        ck_assert_int_eq(decoded, GOTRACE_END);
        ck_assert_uint_eq(r.summary.timed_records, 0);
        return;
    }
    /* The cut is reported as missing data, not as other faults. */
    ck_assert_uint_gt(r.summary.problems, 0);
    ck_assert_uint_gt(r.by_class[GOTRACE_CLASS_UNFINISHED], 0);
    ck_assert_uint_le(r.summary.records, records);
    /* From 1.26 on each generation has an end mark. */
    for (size_t i = 0; version >= 26 && i < r.problem_count && i < READING_PROBLEMS; i++)
        if (r.problems[i].severity >= GOTRACE_PROBLEM)
            ck_assert_msg(r.problems[i].class_ == GOTRACE_CLASS_UNFINISHED, "cut at %zu: %s", size,
                          r.problems[i].message);
}

START_TEST(cut_at_every_byte)
{
    blob content = trace_sample(samples[_i]);
    int version = trace_version(&content);
    for (size_t size = 0; size < content.size; size += SWEEP_STEP)
        check_cut(content.bytes, size, version);
    blob_free(&content);
}
END_TEST

START_TEST(every_bit_flipped)
{
    blob content = trace_sample(samples[_i]);
    for (size_t bit = 0; bit < 8 * content.size; bit += SWEEP_STEP) {
        content.bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
        reading_check_damaged(&content);
        content.bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    blob_free(&content);
}
END_TEST

/* ---- extreme values -------------------------------------------------------------------------- */

/* Write the trace with the value-th value of a record replaced; false if there is no such value. */
static bool rewrite(const blob *content, uint64_t record_wanted, size_t value, uint64_t absurd,
                    blob *out)
{
    gotrace_decoder *d;
    gotrace_encoder *e;
    const gotrace_record *record;
    bool there = false;
    out->size = 0;
    ck_assert_int_eq(gotrace_decoder_new(NULL, &d, NULL), GOTRACE_OK);
    ck_assert_int_eq(gotrace_decoder_feed(d, content->bytes, content->size), GOTRACE_OK);
    gotrace_decoder_finish(d);
    ck_assert_int_eq(gotrace_encoder_new(trace_version(content), blob_write, out, NULL, &e, NULL),
                     GOTRACE_OK);
    while (gotrace_decoder_next(d, &record) == GOTRACE_EVENT) {
        uint64_t args[1024];
        ck_assert_uint_le(record->arg_count, sizeof args / sizeof *args);
        memcpy(args, record->args, record->arg_count * sizeof *args);
        if (record->index == record_wanted && value < record->arg_count) {
            args[value] = absurd;
            there = true;
        }
        gotrace_record copy = *record;
        copy.args = args;
        copy.widths = NULL;
        /* the encoder rejects a length that does not match the data */
        if (gotrace_encoder_record(e, &copy) < 0) {
            there = false;
            break;
        }
    }
    if (there) /* otherwise the output is not used */
        ck_assert_int_eq(gotrace_encoder_finish(e), GOTRACE_OK);
    gotrace_encoder_free(e);
    gotrace_decoder_free(d);
    ck_assert(!there || out->size + 256 > content->size);
    return there;
}

/* Replace every value of every record by extreme values: ids, times, sequence numbers, batch sizes,
 * frame counts, statuses. */
START_TEST(absurd_values)
{
    enum { MOST_VALUES = 12 };
    blob content = trace_sample(samples[_i]), out = {NULL, 0, 0};
    gotrace_status decoded;
    uint64_t records = reading_records(content.bytes, content.size, &decoded);
    uint64_t tried = 0;
    for (uint64_t record = 0; record < records; record += SWEEP_STEP)
        for (size_t i = 0; i < MOST_VALUES; i++)
            for (size_t k = 0; k < ABSURD_NUMBERS; k++) {
                if (!rewrite(&content, record, i, absurd_numbers[k], &out))
                    break;
                reading_check_damaged(&out);
                tried++;
            }
    ck_assert_uint_gt(tried, records);
    blob_free(&out);
    blob_free(&content);
}
END_TEST

/* ---- batches ------------------------------------------------------------------------------- */

static void put_varint(blob *b, uint64_t value)
{
    uint8_t bytes[10];
    size_t n = 0;
    for (; value >= 0x80; value >>= 7)
        bytes[n++] = (uint8_t)(value | 0x80);
    bytes[n++] = (uint8_t)value;
    blob_write(b, bytes, n);
}

/* Read a trace of one batch with the given size field and content. */
static reading read_batch(int version, uint64_t says, const char *bytes, size_t size)
{
    char header[17] = "";
    blob b = {NULL, 0, 0};
    snprintf(header, sizeof header, "go 1.%d trace", version);
    blob_write(&b, header, 16);
    put_varint(&b, GOTRACE_V2_EventBatch);
    put_varint(&b, 1); /* generation */
    put_varint(&b, 7); /* thread */
    put_varint(&b, 1); /* time */
    put_varint(&b, says);
    blob_write(&b, bytes, size);
    reading r = reading_of(b.bytes, b.size, NULL, READING_NEXT);
    reading_check_damaged(&b);
    blob_free(&b);
    return r;
}

START_TEST(sizes_of_batches)
{
    static const uint64_t sizes[] = {65537,          (uint64_t)1 << 31, (uint64_t)1 << 32,
                                     UINT64_MAX / 2, UINT64_MAX - 4,    UINT64_MAX};
    int version = v2_versions[_i];
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        reading r = read_batch(version, sizes[i], "\x0f\x01\x01\x01", 4);
        ck_assert(reading_has(&r, GOTRACE_RULE_BATCH_HEADER));
    }
    reading r = read_batch(version, 65536, "\x0f\x01\x01\x01", 4);
    ck_assert(reading_has(&r, GOTRACE_RULE_WIRE_TRUNCATED));
    r = read_batch(version, 5, "\x0f\x01\x01\x01", 4);
    ck_assert(reading_has(&r, GOTRACE_RULE_WIRE_TRUNCATED));
}
END_TEST

/* Counts and lengths in a batch that exceed the batch. */
START_TEST(lengths_beyond_the_batch)
{
    static const char huge[] = "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01";
    static const struct {
        uint8_t marker, type;
    } tables[] = {{GOTRACE_V2_Strings, GOTRACE_V2_String}, {GOTRACE_V2_Stacks, GOTRACE_V2_Stack}};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        for (int n = 0; n < 3; n++) {
            blob b = {NULL, 0, 0};
            blob_write(&b, &tables[i].marker, 1);
            blob_write(&b, &tables[i].type, 1);
            put_varint(&b, 1);
            if (n == 0)
                blob_write(&b, huge, 10);
            else
                put_varint(&b, n == 1 ? 100 : 200);
            blob_write(&b, "abc", 3);
            reading r = read_batch(v2_versions[_i], b.size, (const char *)b.bytes, b.size);
            ck_assert(reading_has(&r, GOTRACE_RULE_BATCH_EVENT));
            ck_assert_uint_gt(r.summary.unread_bytes, 0);
            blob_free(&b);
        }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("hostile v2");
    int versions = 0;
    while (v2_versions[versions])
        versions++;
    TCase *damage = tcase_create("damage");
    tcase_add_loop_test(damage, cut_at_every_byte, 0, SAMPLES);
    tcase_add_loop_test(damage, every_bit_flipped, 0, SAMPLES);
    tcase_add_loop_test(damage, absurd_values, 0, SAMPLES);
    suite_add_tcase(suite, damage);
    TCase *sizes = tcase_create("sizes");
    tcase_add_loop_test(sizes, sizes_of_batches, 0, versions);
    tcase_add_loop_test(sizes, lengths_beyond_the_batch, 0, versions);
    suite_add_tcase(suite, sizes);
    return run_suite(suite);
}
