/* test_ring.c - items that one thread passes arrive in another one: all, in order, and bounded. */
#include <pthread.h>

#include "formats/common/ring.h"
#include "support.h"

enum { ROOM = 8, ITEMS = 10000 };

typedef struct side {
    ring ring;
    int items[ROOM];
    int most;          /* items that are passed, or taken before the taking thread stops */
    bool all_in_order; /* of what was taken */
    int taken;
    bool waits; /* for all items now and then */
} side;

static void *take_items(void *arg)
{
    side *s = arg;
    size_t place;
    s->all_in_order = true;
    while (s->taken < s->most && ring_take(&s->ring, &place)) {
        s->all_in_order = s->all_in_order && s->items[place] == s->taken;
        s->items[place] = -1;
        s->taken++;
        ring_done(&s->ring);
    }
    ring_stop(&s->ring);
    return NULL;
}

/* Returns the number of items that were passed. */
static int pass_items(side *s, int count)
{
    int n = 0;
    for (; n < count && ring_reserve(&s->ring); n++) {
        ck_assert_uint_le(s->ring.passed - ring_count_done(&s->ring), ROOM - 1);
        s->items[ring_place(&s->ring)] = n;
        ring_pass(&s->ring);
        if (s->waits && n % 100 == 0) {
            ring_wait_some(&s->ring);
            ck_assert(ring_wait_all(&s->ring));
            ck_assert_uint_eq(ring_count_done(&s->ring), s->ring.passed);
        }
    }
    ring_end(&s->ring);
    return n;
}

static const size_t batches[] = {1, 3, ROOM / 2, ROOM};

START_TEST(all_items)
{
    side s = {.most = INT32_MAX, .waits = _i % 2};
    pthread_t thread;
    ring_init(&s.ring, ROOM, batches[_i / 2]);
    ck_assert_int_eq(pthread_create(&thread, NULL, take_items, &s), 0);
    ck_assert_int_eq(pass_items(&s, ITEMS), ITEMS);
    pthread_join(thread, NULL);
    ck_assert_int_eq(s.taken, ITEMS);
    ck_assert(s.all_in_order);
    ring_free(&s.ring);
}
END_TEST

/* The taking thread stops: the other one may have passed as many as there is room for. */
START_TEST(stops)
{
    side s = {.most = ITEMS / 2};
    pthread_t thread;
    ring_init(&s.ring, ROOM, batches[_i]);
    ck_assert_int_eq(pthread_create(&thread, NULL, take_items, &s), 0);
    int passed = pass_items(&s, ITEMS);
    pthread_join(thread, NULL);
    ck_assert_int_eq(s.taken, ITEMS / 2);
    ck_assert_int_ge(passed, ITEMS / 2);
    ck_assert_int_le(passed, ITEMS / 2 + ROOM);
    ck_assert(s.all_in_order);
    ck_assert(!ring_wait_all(&s.ring));
    ring_free(&s.ring);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("ring");
    TCase *cases = tcase_create("ring");
    tcase_add_loop_test(cases, all_items, 0, 2 * sizeof batches / sizeof *batches);
    tcase_add_loop_test(cases, stops, 0, sizeof batches / sizeof *batches);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
