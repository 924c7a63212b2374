/* test_idpool.c - objects keep their addresses and are found by id, whatever is added and removed.
 */
#include <stdlib.h>

#include "formats/common/idpool.h"
#include "support.h"

typedef struct object {
    uint64_t id;
    char more[21];
} object;

/* Ids of which some collide in the table of recent ids. */
static uint64_t id_of(uint64_t n)
{
    return n % 7 == 0 ? n * IDPOOL_RECENT : n * n * 31;
}

START_TEST(add_find_remove)
{
    enum { COUNT = 5000 };
    static object *at[COUNT];
    idpool pool;
    idpool_init(&pool, sizeof(object));
    ck_assert_ptr_null(idpool_find(&pool, 0));
    for (uint64_t n = 0; n < COUNT; n++) {
        if (idpool_find(&pool, id_of(n)))
            continue;
        at[n] = idpool_add(&pool, id_of(n));
        ck_assert_ptr_nonnull(at[n]);
        ck_assert_uint_eq(at[n]->id, 0);
        at[n]->id = id_of(n);
    }
    for (uint64_t n = 0; n < COUNT; n++) {
        if (at[n] && n % 3 == 0) {
            idpool_remove(&pool, id_of(n));
            ck_assert_ptr_null(idpool_find(&pool, id_of(n)));
            at[n] = NULL;
        }
    }
    size_t cursor = 0, count = 0, left = 0;
    uint64_t id;
    void *value;
    for (uint64_t n = 0; n < COUNT; n++) {
        left += at[n] != NULL;
        ck_assert(!at[n] || (idpool_find(&pool, id_of(n)) == at[n] && at[n]->id == id_of(n)));
    }
    while (idpool_next(&pool, &cursor, &id, &value)) {
        ck_assert_uint_eq(((object *)value)->id, id);
        count++;
    }
    ck_assert_uint_eq(count, left);
    /* removed objects are reused, and are zeroed */
    size_t blocks = pool.block_count;
    for (uint64_t n = 0; n < COUNT / 4; n++) {
        object *o = idpool_add(&pool, UINT64_MAX - n);
        ck_assert_uint_eq(o->id, 0);
        ck_assert_ptr_eq(idpool_find(&pool, UINT64_MAX - n), o);
    }
    ck_assert_uint_eq(pool.block_count, blocks);
    idpool_remove(&pool, 12345);
    idpool_free(&pool);
    ck_assert_ptr_null(idpool_find(&pool, id_of(1)));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("idpool");
    TCase *cases = tcase_create("all");

    tcase_add_test(cases, add_find_remove);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
