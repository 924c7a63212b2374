/* test_idmap.c - values by id keep their addresses, and are found whatever happens around them;
 * numbers by id. */
#include <stdlib.h>

#include "formats/common/id_numbers.h"
#include "support.h"

typedef struct object {
    uint64_t id;
    char more[21];
} object;

/* Ids whose places among the recent ones are the same, now and then. */
static uint64_t id_of(uint64_t n)
{
    return n % 7 == 0 ? n * IDMAP_RECENT : n * n * 31;
}

START_TEST(add_find_remove)
{
    enum { COUNT = 5000 };
    static object *at[COUNT];
    idmap map;
    idmap_init(&map, sizeof(object));
    ck_assert_ptr_null(idmap_find(&map, 0));
    for (uint64_t n = 0; n < COUNT; n++) {
        if (idmap_find(&map, id_of(n)))
            continue;
        at[n] = idmap_insert(&map, id_of(n));
        ck_assert_ptr_nonnull(at[n]);
        ck_assert_uint_eq(at[n]->id, 0);
        at[n]->id = id_of(n);
    }
    for (uint64_t n = 0; n < COUNT; n++) {
        if (at[n] && n % 3 == 0) {
            idmap_remove(&map, id_of(n));
            ck_assert_ptr_null(idmap_find(&map, id_of(n)));
            at[n] = NULL;
        }
    }
    size_t cursor = 0, count = 0, left = 0;
    uint64_t id;
    void *value;
    for (uint64_t n = 0; n < COUNT; n++) {
        left += at[n] != NULL;
        ck_assert(!at[n] || (idmap_find(&map, id_of(n)) == at[n] && at[n]->id == id_of(n)));
    }
    while (idmap_next(&map, &cursor, &id, &value)) {
        ck_assert_uint_eq(((object *)value)->id, id);
        count++;
    }
    ck_assert_uint_eq(count, left);
    /* Removed ones make room, and come back empty. */
    size_t entries = map.used;
    for (uint64_t n = 0; n < COUNT / 4; n++) {
        object *o = idmap_insert(&map, UINT64_MAX - n);
        ck_assert_uint_eq(o->id, 0);
        ck_assert_ptr_eq(idmap_find(&map, UINT64_MAX - n), o);
    }
    ck_assert_uint_eq(map.used, entries);
    idmap_remove(&map, 12345);
    idmap_free(&map);
    ck_assert_ptr_null(idmap_find(&map, id_of(1)));
}
END_TEST

START_TEST(clear)
{
    enum { ROUNDS = 40 };
    idmap map;
    idmap_init(&map, sizeof(object));
    idmap_clear(&map);
    for (uint64_t round = 0; round < ROUNDS; round++) {
        const uint64_t count = round % 10 == 9 ? 1000 : round * 3;
        size_t cursor = 0, found = 0;
        uint64_t id;
        void *value;
        for (uint64_t n = 0; n < count; n++) {
            object *o = idmap_insert(&map, n * (round + 1));
            ck_assert_ptr_nonnull(o);
            ck_assert_uint_eq(o->id, 0);
            o->id = n + 1;
            if (n % 5 == 4)
                idmap_remove(&map, (n - 1) * (round + 1));
        }
        while (idmap_next(&map, &cursor, &id, &value))
            found++;
        ck_assert_uint_eq(found, map.count);
        ck_assert_uint_eq(map.count, count - count / 5);
        idmap_clear(&map);
        ck_assert_uint_eq(map.count, 0);
        for (uint64_t n = 0; n < count; n++)
            ck_assert_ptr_null(idmap_find(&map, n * (round + 1)));
    }
    idmap_free(&map);
}
END_TEST

/* Ids in the order in which a generation may use them: from 1 on with gaps, far ones among them, or
 * descending. */
static uint64_t number_id(int order, uint64_t n)
{
    switch (order) {
    case 0: return n + n % 3;
    case 1: return n % 2 == 0 ? n : id_of(n) << 20 | n;
    default: return 20000 - n;
    }
}

START_TEST(numbers)
{
    enum { COUNT = 10000 };
    id_numbers list;
    id_numbers_init(&list);
    for (int turn = 0; turn < 6; turn++) {
        /* a large generation, and a small one after it */
        const uint64_t count = turn % 2 == 0 ? COUNT : 10;
        for (uint64_t n = 0; n < count; n++) {
            const uint64_t id = number_id(turn / 2, n);
            ck_assert_uint_eq(id_numbers_find(&list, id), 0);
            ck_assert(id_numbers_put(&list, id, (uint32_t)n + 1));
            ck_assert_uint_eq(id_numbers_find(&list, id), n + 1);
            /* what a damaged trace can make it take */
            ck_assert_uint_le(list.room, 4 * list.count + 4096);
        }
        for (uint64_t n = 0; n < count; n++)
            ck_assert_uint_eq(id_numbers_find(&list, number_id(turn / 2, n)), n + 1);
        ck_assert_uint_eq(list.count, count);
        id_numbers_clear(&list);
        ck_assert_uint_le(list.room, 4096);
        for (uint64_t n = 0; n < count; n++)
            ck_assert_uint_eq(id_numbers_find(&list, number_id(turn / 2, n)), 0);
    }
    id_numbers_free(&list);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("idmap");
    TCase *cases = tcase_create("all");

    tcase_add_test(cases, add_find_remove);
    tcase_add_test(cases, clear);
    tcase_add_test(cases, numbers);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
