/*
 * test_parquet.c - the encodings of Parquet files: Thrift's bytes, and columns of a row group that
 * are read back. tests/cli/parquet.sh compares whole files with what print and stat write.
 */
#include <stdlib.h>
#include <string.h>

#include "formats/parquet/group.h"
#include "formats/parquet/writer.h"
#include "support.h"

/* An assertion for hot loops: Check writes a record for each of its own assertions. */
#define MUST(what)                                                                                 \
    do {                                                                                           \
        if (!(what))                                                                               \
            ck_abort_msg("%s", #what);                                                             \
    } while (0)

/* ---- Thrift ---------------------------------------------------------------------------------- */

static void check_bytes(const byte_buffer *b, const void *wanted, size_t size)
{
    ck_assert(!b->failed);
    ck_assert_uint_eq(b->size, size);
    ck_assert_mem_eq(b->data, wanted, size);
}

START_TEST(varints)
{
    byte_buffer b = {0};
    static const uint8_t wanted[] = {0,    0x7f, 0x80, 1,    0xff, 0xff, 0xff, 0xff,
                                     0xff, 0xff, 0xff, 0xff, 0xff, 1,    0x34, 0x12};
    buffer_varint(&b, 0);
    buffer_varint(&b, 127);
    buffer_varint(&b, 128);
    buffer_varint(&b, UINT64_MAX);
    buffer_number(&b, 0x561234, 2);
    check_bytes(&b, wanted, sizeof wanted);
    buffer_free(&b);
}
END_TEST

START_TEST(fields)
{
    static const uint8_t wanted[] = {
        0x16, 0,                                                             /* 1: 0 */
        0x16, 1,                                                             /* 2: -1 */
        0x16, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1,       /* 3: INT64_MIN */
        0xf5, 2,                                                             /* 18: 1, as I32 */
        0x06, 0x44, 0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, /* 34: INT64_MAX */
        0x13, 64,                                                            /* 35: 64, as I8 */
        0x11,                                                                /* 36: true */
        0x12,                                                                /* 37: false */
        0x18, 2,    'a',  'b',                                               /* 38: text */
        0x1c, 0x36, 4,    0,                                                 /* 39: {3: 2} */
        0x16, 2,                                                             /* 40: 1 */
        0x19, 0x25, 2,    3,                                                 /* 41: [1, -2] */
        0x19, 0x18, 0,                                                       /* 42: [""] */
        0x19, 0x0c,                                                          /* 43: [] */
        0x19, 0xe5,                                                          /* 44: 14 items */
        0x19, 0xf5, 15,                                                      /* 45: 15 items */
        0,
    };
    byte_buffer b = {0};
    thrift t = {.to = &b};
    thrift_begin_item(&t);
    thrift_int(&t, 1, THRIFT_I64, 0);
    thrift_int(&t, 2, THRIFT_I64, -1);
    thrift_int(&t, 3, THRIFT_I64, INT64_MIN);
    thrift_int(&t, 18, THRIFT_I32, 1);
    thrift_int(&t, 34, THRIFT_I64, INT64_MAX);
    thrift_int(&t, 35, THRIFT_I8, 64);
    thrift_bool(&t, 36, true);
    thrift_bool(&t, 37, false);
    thrift_text(&t, 38, "ab", 2);
    thrift_begin(&t, 39);
    thrift_int(&t, 3, THRIFT_I64, 2);
    thrift_end(&t);
    thrift_int(&t, 40, THRIFT_I64, 1);
    thrift_list(&t, 41, THRIFT_I32, 2);
    thrift_item_int(&t, 1);
    thrift_item_int(&t, -2);
    thrift_list(&t, 42, THRIFT_TEXT, 1);
    thrift_item_text(&t, "");
    thrift_list(&t, 43, THRIFT_STRUCT, 0);
    thrift_list(&t, 44, THRIFT_I32, 14);
    thrift_list(&t, 45, THRIFT_I32, 15);
    thrift_end(&t);
    check_bytes(&b, wanted, sizeof wanted);
    ck_assert_uint_eq(t.depth, 0);
    buffer_free(&b);
}
END_TEST

/* ---- a column that is read back -------------------------------------------------------------- */

typedef struct bytes {
    const uint8_t *at, *end;
} bytes;

static uint64_t take(bytes *b, size_t size)
{
    uint64_t value = 0;
    MUST(size <= (size_t)(b->end - b->at));
    for (size_t i = 0; i < size; i++)
        value |= (uint64_t)*b->at++ << 8 * i;
    return value;
}

static uint64_t take_varint(bytes *b)
{
    uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
        uint64_t byte = take(b, 1);
        MUST(shift < 70);
        value |= (byte & 0x7f) << shift;
        if (byte < 0x80)
            return value;
    }
}

static int64_t take_signed(bytes *b)
{
    uint64_t value = take_varint(b);
    return (int64_t)(value >> 1 ^ (0 - (value & 1)));
}

static int64_t take_field(bytes *b, unsigned head)
{
    ck_assert_uint_eq(take(b, 1), head);
    return take_signed(b);
}

/* The content of the page at that offset, unpacked; its header must have what is given. */
static blob read_page(const blob *file, uint64_t offset, bool dictionary, int encoding,
                      size_t values)
{
    bytes b = {file->bytes + offset, file->bytes + file->size};
    ck_assert_int_eq(take_field(&b, 0x15), dictionary ? 2 : 0);
    size_t plain = (size_t)take_field(&b, 0x15), packed = (size_t)take_field(&b, 0x15);
    ck_assert_uint_eq(take(&b, 1), dictionary ? 0x4c : 0x2c);
    ck_assert_int_eq(take_field(&b, 0x15), (int64_t)values);
    ck_assert_int_eq(take_field(&b, 0x15), dictionary ? ENCODING_PLAIN : encoding);
    if (!dictionary) {
        ck_assert_int_eq(take_field(&b, 0x15), ENCODING_RLE);
        ck_assert_int_eq(take_field(&b, 0x15), ENCODING_RLE);
    }
    ck_assert_uint_eq(take(&b, 2), 0);
    ck_assert_uint_le(packed, (size_t)(b.end - b.at));
    blob page = {.bytes = malloc(plain + 1), .size = plain, .capacity = plain + 1};
    ck_assert_uint_eq(ZSTD_decompress(page.bytes, plain, b.at, packed), plain);
    return page;
}

/* Runs and packed numbers of whole bytes, or of 1 bit, until count; the rest is padding. */
static void take_hybrid(bytes *b, size_t width, size_t count, uint32_t *values)
{
    for (size_t n = 0; n < count;) {
        uint64_t head = take_varint(b), size = head & 1 ? head / 2 * 8 : head / 2;
        uint64_t run = head & 1 ? 0 : take(b, (width + 7) / 8);
        ck_assert_uint_gt(size, 0);
        for (uint64_t i = 0, bits = 0; i < size; i++) {
            uint64_t value = run;
            if (head & 1 && width == 1) {
                bits = i % 8 == 0 ? take(b, 1) : bits >> 1;
                value = bits & 1;
            } else if (head & 1) {
                value = take(b, width / 8);
            }
            if (n < count)
                values[n++] = (uint32_t)value;
            else
                MUST(value == 0);
        }
    }
}

static void take_delta(bytes *b, size_t count, int64_t *values)
{
    size_t block = take_varint(b), parts = take_varint(b), size = block / parts;
    ck_assert(block % 128 == 0 && size % 32 == 0);
    ck_assert_uint_eq(take_varint(b), count);
    uint64_t value = (uint64_t)take_signed(b);
    if (count > 0)
        values[0] = (int64_t)value;
    for (size_t n = 1; n < count;) {
        uint64_t least = (uint64_t)take_signed(b);
        const uint8_t *widths = b->at;
        MUST(parts <= (size_t)(b->end - b->at));
        b->at += parts;
        for (size_t i = 0; i < parts; i++) {
            ck_assert(widths[i] <= 64 && widths[i] % 8 == 0);
            for (size_t k = 0; k < size && (n < count || k > 0); k++) {
                uint64_t above = take(b, widths[i] / 8);
                if (n == count) {
                    MUST(above == 0);
                    continue;
                }
                value += least + above;
                values[n++] = (int64_t)value;
            }
        }
    }
}

enum { MOST = PARQUET_GROUP_ROWS };

/* Encodes the column, reads it back and compares. */
static chunk check_ints(parquet_type type, bool optional, int64_t *cells, size_t count)
{
    const parquet_column column = {"x", (uint8_t)type, optional, 0};
    group g = {.count = count, .room = count};
    blob file = {0};
    out o;
    scratch s;
    chunk c;
    uint64_t offset = 4;
    g.columns[0].ints = cells;
    ck_assert(scratch_init(&s) && out_init(&o, blob_write, &file));
    out_bytes(&o, "PAR1", 4);
    group_order(&s, &g, &column, 1);
    ck_assert(group_encode(&s, &g, &column, 0, &o, &offset, &c) && out_flush(&o));
    ck_assert_uint_eq(offset, file.size);
    ck_assert_uint_eq(c.packed_size, file.size - 4);
    ck_assert_uint_eq(c.values, count);

    uint32_t *present = calloc(count + 1, sizeof *present);
    uint32_t *indices = calloc(count + 1, sizeof *indices);
    int64_t *values = calloc(count + 1, sizeof *values);
    blob page = read_page(&file, c.data_at, false, c.encoding, count);
    bytes b = {page.bytes, page.bytes + page.size};
    if (optional) {
        const uint8_t *end = b.at + 4;
        end += take(&b, 4);
        take_hybrid(&b, 1, count, present);
        ck_assert_ptr_eq(b.at, end);
    }
    size_t used = 0;
    for (size_t i = 0; i < count; i++)
        used += optional ? present[i] : 1;
    ck_assert_uint_eq(c.nulls, count - used);
    ck_assert_uint_eq(c.dictionary_at != 0, c.encoding == ENCODING_DICTIONARY);
    if (c.encoding == ENCODING_DICTIONARY) {
        size_t width = take(&b, 1);
        take_hybrid(&b, width, used, indices);
        uint32_t greatest = 0;
        for (size_t i = 0; i < used; i++)
            greatest = indices[i] > greatest ? indices[i] : greatest;
        blob dictionary = read_page(&file, c.dictionary_at, true, 0, greatest + 1);
        ck_assert_uint_eq(dictionary.size, 8 * ((size_t)greatest + 1));
        for (size_t i = 0; i < used; i++)
            memcpy(&values[i], dictionary.bytes + (size_t)8 * indices[i], 8);
        blob_free(&dictionary);
    } else {
        ck_assert_int_eq(c.encoding, ENCODING_DELTA);
        take_delta(&b, used, values);
    }
    ck_assert_ptr_eq(b.at, b.end);

    size_t n = 0;
    int64_t least = 0, greatest = 0;
    for (size_t i = 0; i < count; i++) {
        bool null = optional && cells[i] == PARQUET_NULL;
        MUST(!null == (optional ? present[i] : 1));
        if (null)
            continue;
        int64_t value = values[n++];
        MUST(value == cells[i]);
        bool is_unsigned = type == PARQUET_UNSIGNED;
        if (n == 1 || (is_unsigned ? (uint64_t)value < (uint64_t)least : value < least))
            least = value;
        if (n == 1 || (is_unsigned ? (uint64_t)value > (uint64_t)greatest : value > greatest))
            greatest = value;
    }
    ck_assert_int_eq(c.bounded, n > 0);
    if (c.bounded) {
        ck_assert_int_eq(c.least, least);
        ck_assert_int_eq(c.greatest, greatest);
    }
    free(present);
    free(indices);
    free(values);
    blob_free(&page);
    out_free(&o);
    blob_free(&file);
    scratch_free(&s);
    return c;
}

static const size_t counts[] = {1,   2,   31,  32,  33,  34,  64,  65,   127,   128,
                                129, 130, 160, 161, 255, 256, 257, 1025, 65535, 65536};
enum { COUNTS = sizeof counts / sizeof *counts };

static int64_t random_number(uint64_t *state)
{
    *state = *state * 6364136223846793005 + 1442695040888963407;
    return (int64_t)(*state ^ *state >> 29);
}

/* Differences of 0 to 8 bytes, up and down, which overflow. */
START_TEST(deltas)
{
    size_t count = counts[_i];
    int64_t *cells = malloc(MOST * sizeof *cells);
    for (unsigned bits = 0; bits <= 64; bits += 4) {
        uint64_t state = bits + 1, value = bits % 8 ? (uint64_t)INT64_MIN : 5;
        for (size_t i = 0; i < count; i++) {
            uint64_t step = (uint64_t)random_number(&state);
            value += bits == 0 ? 0 : step >> (64 - bits);
            value -= bits % 12 == 0 ? (uint64_t)7 << bits / 2 : 0;
            cells[i] = (int64_t)value;
        }
        chunk c = check_ints(PARQUET_TIME, false, cells, count);
        if (count > 2 && bits > 0)
            ck_assert_int_eq(c.encoding, ENCODING_DELTA);
        c = check_ints(PARQUET_ID, false, cells, count);
        if (count > 2 && bits > 0)
            ck_assert_int_eq(c.encoding, ENCODING_DELTA);
    }
    free(cells);
}
END_TEST

START_TEST(extremes)
{
    static const int64_t extreme[] = {INT64_MIN, INT64_MAX, 0, -1, 1, INT64_MIN + 1, INT64_MAX - 1};
    enum { KINDS = sizeof extreme / sizeof *extreme };
    size_t count = counts[_i];
    int64_t *cells = malloc(MOST * sizeof *cells);
    for (parquet_type type = PARQUET_INT; type <= PARQUET_UNSIGNED; type++) {
        uint64_t state = 1;
        for (size_t i = 0; i < count; i++)
            cells[i] = extreme[(uint64_t)random_number(&state) % KINDS];
        check_ints(type, false, cells, count);
        check_ints(type, true, cells, count);
    }
    free(cells);
}
END_TEST

/* Dictionaries at the numbers of values where indices become wider, and the dictionary is given up.
 */
START_TEST(dictionaries)
{
    static const size_t sizes[] = {1, 2, 255, 256, 257, 32767, 32768, 32769};
    enum { COUNT = 65536 };
    size_t different = sizes[_i];
    int64_t *cells = malloc(COUNT * sizeof *cells);
    for (size_t i = 0; i < COUNT; i++)
        cells[i] = (int64_t)(i * 7919 % different) * 1000003 - 17;
    chunk c = check_ints(PARQUET_INT, false, cells, COUNT);
    /* The same numbers again and again: if there are many, their differences take less. */
    if (different <= 257 || different > COUNT / 2)
        ck_assert_int_eq(c.encoding, different <= 257 ? ENCODING_DICTIONARY : ENCODING_DELTA);
    cells[COUNT - 1] = PARQUET_NULL;
    check_ints(PARQUET_INT, true, cells, COUNT);
    free(cells);
}
END_TEST

/* Of a long dictionary and differences, the smaller is written. */
START_TEST(smaller)
{
    enum { COUNT = 65536, VALUES = COUNT / 4, BYTES = 8 };
    int64_t *cells = malloc(COUNT * sizeof *cells);
    uint64_t state = 1;
    for (size_t i = 0; i < COUNT; i++) /* one value 4 times, at random places */
        cells[i] = (int64_t)((uint64_t)random_number(&state) % VALUES * 0x9e3779b97f4a7c15);
    chunk c = check_ints(PARQUET_INT, false, cells, COUNT);
    ck_assert_int_eq(c.encoding, ENCODING_DICTIONARY);
    ck_assert_uint_lt(c.packed_size, COUNT * BYTES / 2);
    for (size_t i = 0; i < COUNT; i++) /* near the one before */
        cells[i] = (int64_t)i / 4 * 1000 + random_number(&state) % 3;
    c = check_ints(PARQUET_INT, false, cells, COUNT);
    ck_assert_int_eq(c.encoding, ENCODING_DELTA);
    free(cells);
}
END_TEST

/* No null, only nulls, one at each end, and every other one. */
START_TEST(levels)
{
    size_t count = counts[_i];
    int64_t *cells = malloc(MOST * sizeof *cells);
    for (int kind = 0; kind < 5; kind++) {
        size_t nulls = 0;
        for (size_t i = 0; i < count; i++) {
            bool null = kind == 1 || (kind == 2 && i == 0) || (kind == 3 && i == count - 1) ||
                        (kind == 4 && i % 2);
            cells[i] = null ? PARQUET_NULL : (int64_t)i * 1000;
            nulls += null;
        }
        for (parquet_type type = PARQUET_INT; type <= PARQUET_UNSIGNED; type++) {
            chunk c = check_ints(type, true, cells, count);
            ck_assert_uint_eq(c.nulls, nulls);
        }
    }
    free(cells);
}
END_TEST

/* Rows are sorted by one or two columns, those of equal values stay in order; unless all are equal.
 */
START_TEST(orders)
{
    static const size_t sizes[] = {1, 2, 3, 255, 257, 32767, 32768, 65536};
    static const parquet_column columns[] = {{"x", PARQUET_ID, true, 0},
                                             {"p", PARQUET_INT, true, 1},
                                             {"t", PARQUET_TEXT, true, 1},
                                             {"then", PARQUET_TIME, true, 2}};
    enum { COUNT = 65536, TEXTS = 5 };
    size_t different = sizes[_i], placed = 0;
    int64_t *cells = malloc(COUNT * sizeof *cells);
    bool *seen = calloc(COUNT, sizeof *seen);
    group g = {.count = COUNT, .room = COUNT};
    scratch s;
    ck_assert(scratch_init(&s));
    for (size_t i = 0; i < COUNT; i++)
        cells[i] = i == 9 ? PARQUET_NULL : (int64_t)(i * 7919 % different) - 100;
    if (different == 1)
        for (size_t i = 0; i < COUNT; i++)
            cells[i] = PARQUET_NULL;
    g.columns[0].ints = g.columns[1].ints = cells;
    group_order(&s, &g, columns, 1);
    for (size_t i = 0; i < COUNT; i++)
        MUST(s.order[i] == i);
    group_order(&s, &g, columns, 2);
    for (size_t i = 0; i < COUNT; i++) {
        size_t row = s.order[i], before = i > 0 ? s.order[i - 1] : 0;
        MUST(!seen[row]);
        seen[row] = true;
        placed++;
        MUST(i == 0 || cells[before] < cells[row] || (cells[before] == cells[row] && before < row));
    }
    ck_assert_uint_eq(placed, COUNT);

    /* By a text, then by the numbers. */
    uint32_t *texts = malloc(COUNT * sizeof *texts);
    for (size_t i = 0; i < COUNT; i++)
        texts[i] = (uint32_t)(i * 31 % TEXTS);
    g.columns[0].texts = texts;
    group_order(&s, &g, columns + 2, 2);
    memset(seen, 0, COUNT * sizeof *seen);
    for (size_t i = 0; i < COUNT; i++) {
        size_t row = s.order[i], before = i > 0 ? s.order[i - 1] : 0;
        MUST(!seen[row]);
        seen[row] = true;
        if (i > 0 && texts[before] == texts[row])
            MUST(cells[before] < cells[row] || (cells[before] == cells[row] && before < row));
        else if (i > 0)
            MUST(texts[before] < texts[row]);
    }
    free(texts);
    free(cells);
    free(seen);
    scratch_free(&s);
}
END_TEST

/* ---- files ----------------------------------------------------------------------------------- */

static const parquet_column two_columns[] = {{"n", PARQUET_INT, true, 0},
                                             {"t", PARQUET_TEXT, false, 0}};

/* The footer of a file, and what is before it. */
static bytes check_file(const blob *file, size_t pages)
{
    ck_assert_uint_ge(file->size, 12);
    ck_assert_mem_eq(file->bytes, "PAR1", 4);
    bytes end = {file->bytes + file->size - 8, file->bytes + file->size};
    size_t size = take(&end, 4);
    ck_assert_mem_eq(end.at, "PAR1", 4);
    ck_assert_uint_le(size, file->size - 12);
    if (pages == 0)
        ck_assert_uint_eq(size, file->size - 12);
    return (bytes){file->bytes + file->size - 8 - size, file->bytes + file->size - 8};
}

/* A table without rows has columns. */
START_TEST(empty_table)
{
    static const uint8_t wanted[] = {
        0x15, 4,    /* version 2 */
        0x19, 0x3c, /* schema */
        0x48, 6,    's',  'c',  'h',  'e',  'm', 'a',  0x15, 4,
        0,    0x15, 4,    0x25, 2,    0x18, 1,   'n',  0, /* INT64, optional */
        0x15, 12,   0x25, 0,    0x18, 1,    't', 0x25, 0, /* BYTE_ARRAY, required, UTF8 */
        0x4c, 0x1c, 0,    0,    0,    0x16, 0,            /* rows */
        0x19, 0x0c,                                       /* row groups */
        0x28,                                             /* what created it */
    };
    blob file = {0};
    out o;
    ck_assert(out_init(&o, blob_write, &file));
    parquet_encoder *e = parquet_encoder_new(_i == 1);
    parquet_file *f = parquet_begin(e, &o, two_columns, 2);
    parquet_end(f, true);
    ck_assert(out_flush(&o));
    bytes footer = check_file(&file, 0);
    ck_assert_uint_gt((size_t)(footer.end - footer.at), sizeof wanted);
    ck_assert_mem_eq(footer.at, wanted, sizeof wanted);
    parquet_encoder_free(e);
    out_free(&o);
    blob_free(&file);
}
END_TEST

static size_t count_of(const blob *file, const char *text, size_t size)
{
    size_t count = 0;
    for (size_t i = 0; i + size <= file->size; i++)
        count += memcmp(file->bytes + i, text, size) == 0;
    return count;
}

/* Bounds and numbers of nulls of each row group are in the footer; a group ends after 65536 rows.
 */
START_TEST(statistics_of_groups)
{
    enum { ROWS = PARQUET_GROUP_ROWS + 1 };
    static const uint8_t first[] = {0x36, 2, 0x28, 8,    0xfe, 0xff, 0,    0,    0,    0,    0, 0,
                                    0x18, 8, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0};
    static const uint8_t last[] = {0x36, 0, 0x28, 8,    0xff, 0xff, 0, 0, 0, 0, 0, 0,
                                   0x18, 8, 0xff, 0xff, 0,    0,    0, 0, 0, 0, 0};
    static const uint8_t texts[] = {0x36, 0, 0x28, 1, 'b', 0x18, 2, 'a', 'b', 0};
    blob file = {0};
    out o;
    ck_assert(out_init(&o, blob_write, &file));
    parquet_encoder *e = parquet_encoder_new(_i == 1);
    parquet_file *f = parquet_begin(e, &o, two_columns, 2);
    for (int64_t i = 0; i < ROWS; i++) {
        const int64_t cells[] = {i == 7 ? PARQUET_NULL : i - 1,
                                 i % 2 ? parquet_text(f, "b", 1) : parquet_text(f, "ab", 2)};
        MUST(*parquet_group(f) == (i < PARQUET_GROUP_ROWS ? 1 : 2));
        parquet_add(f, cells);
    }
    parquet_end(f, true);
    ck_assert(out_flush(&o));
    check_file(&file, 2);
    ck_assert_uint_eq(count_of(&file, (const char *)first, sizeof first), 1);
    ck_assert_uint_eq(count_of(&file, (const char *)last, sizeof last), 1);
    ck_assert_uint_eq(count_of(&file, (const char *)texts, sizeof texts), 1);
    parquet_encoder_free(e);
    out_free(&o);
    blob_free(&file);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("parquet");
    TCase *cases = tcase_create("parquet");
    tcase_add_test(cases, varints);
    tcase_add_test(cases, fields);
    tcase_add_loop_test(cases, deltas, 0, COUNTS);
    tcase_add_loop_test(cases, extremes, 0, COUNTS);
    tcase_add_loop_test(cases, dictionaries, 0, 8);
    tcase_add_loop_test(cases, levels, 0, COUNTS);
    tcase_add_test(cases, smaller);
    tcase_add_loop_test(cases, orders, 0, 8);
    tcase_add_loop_test(cases, empty_table, 0, 2);
    tcase_add_loop_test(cases, statistics_of_groups, 0, 2);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
