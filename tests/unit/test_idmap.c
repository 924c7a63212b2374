/* test_idmap.c - values by id keep their addresses, and are found whatever happens around them. */
#include <stdlib.h>

#include "formats/common/idmap.h"
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

int main(void)
{
    Suite *suite = suite_create("idmap");
    TCase *cases = tcase_create("all");

    tcase_add_test(cases, add_find_remove);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
