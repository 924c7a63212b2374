/*
 * test_flips.c - a flipped bit in a table, the clocks or a header of a generation (1.22 and later)
 * is restored, and reported as one error.
 */
#include "read/v2/v2.h"
#include "reading.h"

static const char *const names[] = {
    "go1.22-gens.trace",     "go1.22-prof.trace",   "go1.23-seconds.trace", "go1.23-lock.trace",
    "go1.25-flight-2.trace", "go1.25-empty.trace",  "go1.26-net.trace",     "go1.26-gens.trace",
    "go1.27-seconds.trace",  "go1.27-syscall.trace"};
enum { NAMES = sizeof names / sizeof *names };

/* What reading a trace with some flipped bits resulted in. */
typedef struct tally {
    size_t flips, one_error, restored, more_errors;
} tally;

static gotrace_reader *open_trace(const blob *trace, gotrace_source **source,
                                  const gotrace_config *config)
{
    gotrace_reader *reader;
    ck_assert_int_eq(gotrace_source_memory(trace->bytes, trace->size, NULL, source, NULL),
                     GOTRACE_OK);
    ck_assert_int_eq(gotrace_reader_open(*source, config, &reader, NULL), GOTRACE_OK);
    return reader;
}

static bool count_error(void *ctx, const gotrace_error *problem)
{
    *(size_t *)ctx += problem->severity >= GOTRACE_PROBLEM;
    return true;
}

static void flip(blob *trace, size_t at, uint8_t mask, tally *t)
{
    size_t errors = 0;
    gotrace_config config = {.on_problem = count_error, .callback_ctx = &errors};
    gotrace_source *source;
    gotrace_flip found = {0};
    trace->bytes[at] ^= mask;
    gotrace_reader *reader = open_trace(trace, &source, &config);
    ck_assert_int_eq(gotrace_reader_check(reader), GOTRACE_END);
    ck_assert_uint_eq(gotrace_reader_summary(reader)->problems, errors);
    bool is_found = gotrace_reader_flip(reader, 0, &found);
    t->flips++;
    t->one_error += errors == 1;
    t->more_errors += errors > 1;
    t->restored += is_found && found.offset == at && found.mask == mask;
    gotrace_reader_close(reader);
    gotrace_source_close(source);
    trace->bytes[at] ^= mask;
}

/* Values after the type of a record of a table, without those of frames. */
static const uint8_t *skip_record(uint8_t kind, const uint8_t *p, const uint8_t *end)
{
    uint64_t v[2], ignored;
    p++;
    for (int i = 0; i < 2; i++)
        ck_assert_int_gt(gt_varint(&p, end, &v[i]), 0);
    if (kind == GT_BATCH_STRINGS)
        return p + v[1];
    for (uint64_t left = kind == GT_BATCH_STACKS ? 4 * v[1] : 3; left; left--)
        ck_assert_int_gt(gt_varint(&p, end, &ignored), 0);
    return p;
}

/* Flips a bit of the type, id or size of every few records of the batch. */
static void flip_records(blob *trace, const gt_batch *b, unsigned byte, tally *t)
{
    enum { MOST = 12 }; /* about as many */
    const uint8_t *p = trace->bytes + b->data + 1, *end = trace->bytes + b->data + b->size, *next;
    size_t every = 1 + b->size / 32 / MOST;
    for (size_t n = 0; p < end; n++, p = next) {
        next = skip_record(b->kind, p, end);
        if (n % every == 0)
            flip(trace, (size_t)(p - trace->bytes) + byte, (uint8_t)(1 << n / every % 8), t);
    }
}

static tally flip_tables(const char *name, unsigned byte)
{
    tally t = {0};
    gotrace_source *source;
    blob trace = trace_sample(name);
    gotrace_reader *reader = open_trace(&trace, &source, NULL);
    ck_assert_int_eq(gotrace_reader_index(reader), GOTRACE_OK);
    const struct gt_v2 *v2 = reader->v2;
    for (size_t i = 0; i < v2->batch_count; i++) {
        uint8_t kind = v2->batches[i].kind;
        if (kind == GT_BATCH_STRINGS || kind == GT_BATCH_STACKS || kind == GT_BATCH_SAMPLES)
            flip_records(&trace, &v2->batches[i], byte, &t);
    }
    gotrace_reader_close(reader);
    gotrace_source_close(source);
    blob_free(&trace);
    ck_assert_uint_gt(t.flips, 10);
    return t;
}

START_TEST(types_of_table_records_are_restored)
{
    tally t = flip_tables(names[_i], 0);
    ck_assert_uint_eq(t.one_error, t.flips);
    ck_assert_uint_eq(t.restored, t.flips);
}
END_TEST

/* A changed id that no other record has is not an error of the table. Two records with the same id
 * do not say which of them is altered. */
START_TEST(values_of_table_records_give_one_error)
{
    tally ids = flip_tables(names[_i], 1), sizes = flip_tables(names[_i], 2);
    ck_assert_uint_ge(100 * ids.one_error, 85 * ids.flips);
    ck_assert_uint_ge(100 * ids.restored, 40 * ids.flips);
    ck_assert_uint_ge(100 * sizes.one_error, 75 * sizes.flips);
    ck_assert_uint_ge(100 * sizes.restored, 70 * sizes.flips);
}
END_TEST

/* Offset of the first byte of the record that ends a generation; 0: there is none. */
static size_t end_of(const gt_batch *b, const blob *trace)
{
    size_t at = b->data + b->size;
    return at < trace->size && trace->bytes[at] == GOTRACE_V2_EndOfGeneration ? at : 0;
}

typedef void flip_fn(blob *trace, const gt_batch *batch, tally *t);

/* Flips bits of each batch. */
static tally flip_batches(const char *name, flip_fn *flip_batch)
{
    tally t = {0};
    gotrace_source *source;
    blob trace = trace_sample(name);
    gotrace_reader *reader = open_trace(&trace, &source, NULL);
    ck_assert_int_eq(gotrace_reader_index(reader), GOTRACE_OK);
    const struct gt_v2 *v2 = reader->v2;
    for (size_t i = 0; i < v2->batch_count; i++)
        flip_batch(&trace, &v2->batches[i], &t);
    gotrace_reader_close(reader);
    gotrace_source_close(source);
    blob_free(&trace);
    ck_assert_uint_gt(t.flips, 4);
    return t;
}

static void flip_byte(blob *trace, size_t at, tally *t)
{
    for (unsigned bit = 0; bit < 8; bit++)
        flip(trace, at, (uint8_t)(1 << bit), t);
}

static void flip_markers(blob *trace, const gt_batch *b, tally *t)
{
    bool marked = b->kind != GT_BATCH_EVENTS && b->kind != GT_BATCH_EXPERIMENT;
    if (marked)
        flip_byte(trace, b->data, t);
    if (b->kind == GT_BATCH_SAMPLES || b->kind == GT_BATCH_SYNC)
        flip_byte(trace, b->offset, t);
    if (end_of(b, trace))
        flip_byte(trace, end_of(b, trace), t);
}

START_TEST(markers_are_restored)
{
    tally t = flip_batches(names[_i], flip_markers);
    ck_assert_uint_eq(t.one_error, t.flips);
    ck_assert_uint_ge(100 * t.restored, 90 * t.flips);
}
END_TEST

static void flip_clocks(blob *trace, const gt_batch *b, tally *t)
{
    if (b->kind == GT_BATCH_SYNC)
        for (size_t i = 0; i < b->size; i++)
            flip(trace, b->data + i, 1 << 7, t); /* where a number ends */
}

START_TEST(numbers_of_clocks_are_restored)
{
    tally t = flip_batches(names[_i], flip_clocks);
    ck_assert_uint_eq(t.one_error, t.flips);
    ck_assert_uint_eq(t.restored, t.flips);
}
END_TEST

/* Such a batch is read as one of the generation that is around it. */
static void flip_generation(blob *trace, const gt_batch *b, tally *t)
{
    flip_byte(trace, b->offset + (b->kind == GT_BATCH_EXPERIMENT ? 2 : 1), t);
}

START_TEST(numbers_of_generations_give_one_error)
{
    tally t = flip_batches(names[_i], flip_generation);
    ck_assert_uint_ge(100 * t.one_error, 98 * t.flips);
    ck_assert_uint_eq(t.more_errors, 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("flips");
    TCase *cases = tcase_create("all");
    tcase_add_loop_test(cases, types_of_table_records_are_restored, 0, NAMES);
    tcase_add_loop_test(cases, values_of_table_records_give_one_error, 0, NAMES);
    tcase_add_loop_test(cases, markers_are_restored, 0, NAMES);
    tcase_add_loop_test(cases, numbers_of_clocks_are_restored, 0, NAMES);
    tcase_add_loop_test(cases, numbers_of_generations_give_one_error, 0, NAMES);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
