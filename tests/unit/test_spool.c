/* test_spool.c - the queue that outgrows memory, and maps by id, against plain models. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "idmap.h"
#include "spool.h"
#include "support.h"

enum { ENTRIES = 60000, ENTRY_MAX = 24 * 1024, WINDOW = 4096 };

typedef struct model {
    uint8_t *bytes;
    size_t end;
    size_t start[ENTRIES], size[ENTRIES];
    size_t first, count; /* entries in the queue: [first, count) */
} model;

static void push_entry(spool *s, model *m, uint64_t *random)
{
    uint8_t entry[ENTRY_MAX];
    size_t head = 8 + random_next(random) % 60;
    size_t size = head + random_next(random) % 100;

    /* Some are larger than the window. */
    if (random_next(random) % 500 == 0)
        size += random_next(random) % (ENTRY_MAX - 200);
    for (size_t i = 0; i < size; i++)
        entry[i] = (uint8_t)random_next(random);
    ck_assert_uint_eq(spool_push(s, entry, head, entry + head, size - head), m->end);
    memcpy(m->bytes + m->end, entry, size);
    m->start[m->count] = m->end;
    m->size[m->count++] = size;
    m->end += (size + 7) / 8 * 8;
}

static void patch_entry(spool *s, model *m, uint64_t *random)
{
    size_t which = m->first + random_next(random) % (m->count - m->first);
    size_t offset = random_next(random) % m->size[which];
    size_t size = 1 + random_next(random) % (m->size[which] - offset);
    uint8_t bytes[ENTRY_MAX];

    for (size_t i = 0; i < size; i++)
        bytes[i] = (uint8_t)random_next(random);
    spool_patch(s, m->start[which] + offset, bytes, size);
    memcpy(m->bytes + m->start[which] + offset, bytes, size);
}

static void pop_entry(spool *s, model *m)
{
    size_t size = m->size[m->first];
    const uint8_t *head = spool_front(s, 8);

    ck_assert_ptr_nonnull(head);
    ck_assert_mem_eq(head, m->bytes + m->start[m->first], 8);
    const uint8_t *whole = spool_front(s, size);
    ck_assert_ptr_nonnull(whole);
    ck_assert_mem_eq(whole, m->bytes + m->start[m->first], size);
    spool_pop(s, (size + 7) / 8 * 8);
    m->first++;
}

START_TEST(as_a_plain_queue)
{
    uint64_t random = (uint64_t)_i + 1;
    model m = {.bytes = calloc(1, 32 << 20)};
    spool s;

    ck_assert(spool_init(&s, WINDOW));
    for (int i = 0; i < 100000; i++) {
        uint64_t what = random_next(&random) % 10;
        if (what < 4) {
            push_entry(&s, &m, &random);
        } else if (m.first < m.count && what < 8) {
            patch_entry(&s, &m, &random);
        } else if (what >= 8) {
            /* By turns the queue fills and empties. */
            uint64_t pops = i / 3000 % 2 ? random_next(&random) % 4
                                         : random_next(&random) % 50 == 0;
            while (pops-- > 0 && m.first < m.count)
                pop_entry(&s, &m);
        }
    }
    while (m.first < m.count)
        pop_entry(&s, &m);
    ck_assert_ptr_null(spool_front(&s, 1));
    ck_assert_int_eq(s.error, 0);
    ck_assert_int_ge(s.fd, 0);
    spool_free(&s);
    free(m.bytes);
}
END_TEST

START_TEST(no_place_for_the_file)
{
    uint8_t entry[WINDOW / 4] = {0};
    spool s;

    ck_assert_int_eq(setenv("TMPDIR", "/nonexistent", 1), 0);
    ck_assert(spool_init(&s, WINDOW));
    for (int i = 0; i < 4; i++)
        ck_assert_uint_ne(spool_push(&s, entry, sizeof entry, NULL, 0), SPOOL_NONE);
    ck_assert_uint_eq(spool_push(&s, entry, sizeof entry, NULL, 0), SPOOL_NONE);
    ck_assert_int_eq(s.error, ENOENT);
    /* Nothing is done after a failure. */
    ck_assert_ptr_null(spool_front(&s, 8));
    spool_patch(&s, 0, entry, 8);
    ck_assert_uint_eq(spool_push(&s, entry, 8, NULL, 0), SPOOL_NONE);
    spool_free(&s);
}
END_TEST

START_TEST(map_as_a_plain_array)
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

    tcase_set_timeout(cases, 120);
    tcase_add_loop_test(cases, as_a_plain_queue, 0, 3);
    tcase_add_test(cases, no_place_for_the_file);
    tcase_add_test(cases, map_as_a_plain_array);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
