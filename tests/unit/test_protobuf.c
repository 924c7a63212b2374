/* test_protobuf.c - the protobuf writer. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "protobuf_reading.h"

/* The output as one message. */
static message written(protobuf *w, out *o, blob *b)
{
    protobuf_flush(w);
    ck_assert(out_flush(o));
    return (message){b->bytes, b->bytes + b->size};
}

/* Nested messages, with lengths around those at which the length prefix grows by a byte. */
START_TEST(nesting)
{
    static const size_t sizes[] = {0, 1, 125, 126, 127, 128, 16380, 16381, 16384, 3000000};
    char *text = malloc(3000000);
    memset(text, 'x', 3000000);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        blob b = {0};
        out o;
        protobuf w;
        ck_assert(out_init(&o, blob_write, &b) && protobuf_init(&w, &o));
        size_t outer = protobuf_open(&w, 1000), inner = protobuf_open(&w, 2);
        protobuf_string(&w, 3, text, sizes[i]);
        protobuf_close(&w, inner);
        protobuf_uint(&w, 15, UINT64_MAX);
        protobuf_close(&w, outer);

        message m = written(&w, &o, &b);
        field f, g, h;
        ck_assert(take(&m, &f) && f.number == 1000 && m.at == m.end);
        ck_assert(take(&f.content, &g) && g.number == 2);
        ck_assert(take(&g.content, &h) && h.number == 3 && g.content.at == g.content.end);
        ck_assert_uint_eq((size_t)(h.content.end - h.content.at), sizes[i]);
        ck_assert(take(&f.content, &g) && g.number == 15 && g.value == UINT64_MAX);
        protobuf_free(&w);
        out_free(&o);
        blob_free(&b);
    }
    free(text);
}
END_TEST

/* Numbers take as many bytes as their bits need, encoded in advance or not. */
START_TEST(numbers)
{
    for (unsigned bits = 0; bits <= 64; bits++) {
        uint64_t value = bits < 64 ? ((uint64_t)1 << bits) - 1 : UINT64_MAX;
        unsigned size = bits > 7 ? (bits + 6) / 7 : 1;
        for (unsigned number = 1; number < 2000; number += 17) {
            unsigned tag = number < 16 ? 1 : 2;
            uint8_t bytes[PROTOBUF_NUMBER + 8];
            uint8_t *end = protobuf_put_uint(bytes, number, value);
            ck_assert_int_eq(end - bytes, tag + size);
            message m = {bytes, end};
            field f;
            ck_assert(take(&m, &f) && f.number == number && f.value == value);
            if (tag + size > 7)
                continue;
            protobuf_field encoded = protobuf_field_of(number, value);
            ck_assert(protobuf_field_value(encoded) == value);
            end = protobuf_put_field(bytes, encoded);
            m = (message){bytes, end};
            ck_assert(take(&m, &f) && f.number == number && f.value == value && m.at == m.end);
        }
    }
    ck_assert(protobuf_field_value(0) == 0);
}
END_TEST

START_TEST(strings)
{
    blob b = {0};
    out o;
    protobuf w;
    ck_assert(out_init(&o, blob_write, &b) && protobuf_init(&w, &o));
    protobuf_string(&w, 1, "a\xff\xc3z", 4);
    protobuf_double(&w, 2, 1.5);

    message m = written(&w, &o, &b);
    field f;
    double value;
    ck_assert(take(&m, &f));
    ck_assert_uint_eq((size_t)(f.content.end - f.content.at), 8);
    ck_assert_mem_eq(f.content.at, "a\xef\xbf\xbd\xef\xbf\xbdz", 8);
    ck_assert(take(&m, &f) && f.type == PROTOBUF_FIXED64);
    memcpy(&value, &f.value, sizeof value);
    ck_assert(value == 1.5);
    protobuf_free(&w);
    out_free(&o);
    blob_free(&b);
}
END_TEST

/* After a failure, further data is dropped, and the output has failed. */
START_TEST(failure)
{
    blob b = {0};
    out o;
    protobuf w;
    ck_assert(out_init(&o, blob_write, &b) && protobuf_init(&w, &o));
    size_t mark = protobuf_open(&w, 1);
    protobuf_string(&w, 2, "lost", 4);
    protobuf_fail(&w);
    ck_assert_int_eq(errno, ENOMEM);
    protobuf_close(&w, mark);
    for (int i = 0; i < 100000; i++) {
        mark = protobuf_open(&w, 1);
        protobuf_fixed64(&w, 2, 3);
        protobuf_close(&w, mark);
    }
    protobuf_flush(&w);
    ck_assert(!out_flush(&o));
    ck_assert_uint_eq(b.size, 0);
    protobuf_free(&w);
    out_free(&o);
    blob_free(&b);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("protobuf");
    TCase *cases = tcase_create("all");

    tcase_add_test(cases, nesting);
    tcase_add_test(cases, numbers);
    tcase_add_test(cases, strings);
    tcase_add_test(cases, failure);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
