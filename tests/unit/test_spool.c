/* test_spool.c - the queue that spills to a file, compared with a simple model. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "formats/common/idmap.h"
#include "formats/common/spool.h"
#include "support.h"

enum { ENTRIES = 60000, ENTRY_MAX = 24 * 1024, WINDOW = 4096, BLOCK = 9 };

typedef struct model {
    uint8_t *bytes;
    size_t end;
    size_t start[ENTRIES], size[ENTRIES];
    uint64_t position[ENTRIES];
    bool open[ENTRIES];
    size_t first, count; /* entries [first, count) are in the queue */
} model;

static void push_entry(spool *s, model *m, uint64_t *random)
{
    size_t size = 8 + random_next(random) % 160;
    uint64_t position;

    /* some entries are larger than the window */
    if (random_next(random) % 500 == 0)
        size += random_next(random) % (ENTRY_MAX - 200);
    unsigned char *at = spool_reserve(s, size, &position);
    ck_assert_ptr_nonnull(at);
    for (size_t i = 0; i < size; i++)
        at[i] = m->bytes[m->end + i] = (uint8_t)random_next(random);
    m->open[m->count] = random_next(random) % 3 == 0;
    if (m->open[m->count])
        spool_open(s, position);
    m->position[m->count] = position;
    m->start[m->count] = m->end;
    m->size[m->count++] = size;
    m->end += size;
}

static void patch_entry(spool *s, model *m, uint64_t *random)
{
    size_t which = m->first + random_next(random) % (m->count - m->first);
    size_t offset = random_next(random) % m->size[which];
    size_t size = 1 + random_next(random) % (m->size[which] - offset);
    uint8_t bytes[ENTRY_MAX];

    for (size_t i = 0; i < size; i++)
        bytes[i] = (uint8_t)random_next(random);
    ck_assert(spool_patch(s, m->position[which], offset, bytes, size));
    memcpy(m->bytes + m->start[which] + offset, bytes, size);
}

static void complete_entry(spool *s, model *m, size_t which)
{
    if (m->open[which])
        spool_close(s, m->position[which]);
    m->open[which] = false;
}

/* Take a block if there is a complete one, and compare its entries. */
static bool take_block(spool *s, model *m, bool all, bool open)
{
    spool_taken taken;
    size_t at = 0;

    if (!spool_take(s, all, open, &taken))
        return false;
    while (at < taken.used) {
        ck_assert_uint_lt(m->first, m->count);
        ck_assert(open || !m->open[m->first]);
        ck_assert_mem_eq(taken.bytes + at, m->bytes + m->start[m->first], m->size[m->first]);
        at += m->size[m->first++];
    }
    ck_assert_uint_eq(at, taken.used);
    spool_release(s, &taken);
    /* entries that were taken cannot be patched */
    ck_assert(!spool_patch(s, m->position[m->first - 1], 0, m->bytes, 1));
    return true;
}

START_TEST(like_a_plain_queue)
{
    uint64_t random = (uint64_t)_i + 1;
    model m = {.bytes = calloc(1, 32 << 20)};
    spool s;

    ck_assert(spool_init(&s, WINDOW, BLOCK));
    for (int i = 0; i < 100000; i++) {
        uint64_t what = random_next(&random) % 10;
        if (what < 4) {
            push_entry(&s, &m, &random);
        } else if (m.first < m.count && what < 6) {
            patch_entry(&s, &m, &random);
        } else if (m.first < m.count && what < 8) {
            /* the queue alternately fills and empties */
            size_t more = i / 3000 % 2 ? 20 : 0;
            complete_entry(&s, &m, m.first + random_next(&random) % (m.count - m.first));
            for (size_t n = m.first; n < m.count && n < m.first + more; n++)
                complete_entry(&s, &m, n);
        } else {
            take_block(&s, &m, random_next(&random) % 100 == 0, false);
        }
        ck_assert_uint_le(s.in_memory, WINDOW + ENTRY_MAX);
    }
    ck_assert_int_ge(s.fd, 0);
    size_t left = m.count - m.first;
    while (take_block(&s, &m, true, false))
        ;
    ck_assert_uint_lt(m.count - m.first, left);
    ck_assert(!spool_is_empty(&s));
    while (take_block(&s, &m, true, true))
        ;
    ck_assert(spool_is_empty(&s));
    ck_assert_uint_eq(m.first, m.count);
    ck_assert_int_eq(s.error, 0);
    spool_free(&s);
    free(m.bytes);
}
END_TEST

START_TEST(no_place_for_the_file)
{
    uint64_t position;
    spool_taken taken;
    spool s;

    ck_assert_int_eq(setenv("TMPDIR", "/nonexistent", 1), 0);
    ck_assert(spool_init(&s, WINDOW, BLOCK));
    for (int i = 0; i < WINDOW >> BLOCK; i++) {
        ck_assert_ptr_nonnull(spool_reserve(&s, 1 << BLOCK, &position));
        spool_open(&s, position);
    }
    ck_assert_ptr_null(spool_reserve(&s, 1 << BLOCK, &position));
    ck_assert_uint_eq(position, SPOOL_NONE);
    ck_assert_int_eq(s.error, ENOENT);
    /* operations after a failure do nothing */
    ck_assert(!spool_take(&s, true, true, &taken));
    ck_assert_ptr_null(spool_reserve(&s, 8, &position));
    spool_free(&s);
}
END_TEST

START_TEST(map_like_a_plain_array)
{
    enum { KEYS = 5000 };
    bool there[KEYS] = {false};
    size_t count = 0;
    uint64_t random = 7;
    idmap map;

    idmap_init(&map, sizeof(uint64_t) + 4);
    for (int i = 0; i < 300000; i++) {
        uint64_t key = random_next(&random) % KEYS;
        uint64_t *value;
        switch (random_next(&random) % 3) {
        case 0:
            value = idmap_insert(&map, key);
            ck_assert_ptr_nonnull(value);
            ck_assert_uint_eq(*value, there[key] ? key + 1 : 0);
            *value = key + 1;
            count += !there[key];
            there[key] = true;
            break;
        case 1:
            idmap_remove(&map, key);
            count -= there[key];
            there[key] = false;
            break;
        default:
            value = idmap_find(&map, key);
            ck_assert_int_eq(value != NULL, there[key]);
            ck_assert(!value || *value == key + 1);
            break;
        }
        ck_assert_uint_eq(map.count, count);
    }
    uint64_t *keys = idmap_sorted_keys(&map);
    size_t n = 0;
    for (uint64_t key = 0; key < KEYS; key++)
        if (there[key])
            ck_assert_uint_eq(keys[n++], key);
    ck_assert_uint_eq(n, count);
    free(keys);
    idmap_free(&map);
    ck_assert_ptr_null(idmap_find(&map, 1));
    ck_assert_ptr_null(idmap_sorted_keys(&map));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("spool");
    TCase *cases = tcase_create("all");

    tcase_add_loop_test(cases, like_a_plain_queue, 0, 3);
    tcase_add_test(cases, no_place_for_the_file);
    tcase_add_test(cases, map_like_a_plain_array);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
