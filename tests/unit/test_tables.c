/* test_tables.c - tables of the reader: maps, id tables, sorted rows, waiting cursors. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "core/map.h"
#include "core/lookup.h"
#include "core/spill.h"
#include "support.h"
#include "read/tables.h"
#include "read/waits.h"

static gt_heap heap_of(failing_allocator *a)
{
    gotrace_config config = failing_config(a);
    gt_heap heap;
    gt_heap_init(&heap, &config);
    return heap;
}

static failing_allocator never_failing(void)
{
    return (failing_allocator){.fail_at = UINT64_MAX};
}

/* ---- hashes -------------------------------------------------------------------------------- */

typedef uint64_t hash_fn(uint64_t seed, uint64_t id);

/* A hash of both halves of an id, as used for keys that are pairs. */
static uint64_t hash_pair(uint64_t seed, uint64_t id)
{
    return gt_hash_add(seed, gt_hash(seed, id >> 32), (uint32_t)id);
}

static uint64_t hash_text(uint64_t seed, uint64_t id)
{
    char text[32];
    return gt_hash_bytes(seed, text, (size_t)sprintf(text, "%llu", (unsigned long long)id));
}

/* The largest number of ids of a kind that share one of PLACES places. */
static unsigned worst_place(hash_fn *hash, uint64_t (*id)(uint64_t n))
{
    enum { PLACES = 4096 };
    unsigned count[PLACES] = {0}, worst = 0;
    uint64_t seed = gt_hash_seed();
    for (uint64_t n = 0; n < PLACES; n++) {
        unsigned *place = &count[hash(seed, id(n)) % PLACES];
        if (++*place > worst)
            worst = *place;
    }
    return worst;
}

static uint64_t id_plain(uint64_t n)
{
    return n;
}

static uint64_t id_high(uint64_t n)
{
    return n << 52;
}

static uint64_t id_middle(uint64_t n)
{
    return n << 20;
}

static uint64_t id_reversed(uint64_t n)
{
    uint64_t id = 0;
    for (int bit = 0; bit < 64; bit++)
        id |= (n >> bit & 1) << (63 - bit);
    return id;
}

static uint64_t id_golden(uint64_t n)
{
    return n * 0xf1de83e19937733du;
}

/* Ids that end in 12 zero bits after the mixing function without a seed. */
static uint64_t id_unmixed(uint64_t n)
{
    uint64_t id = n << 32;
    id = (id ^ id >> 33) * 0x9cb4b2f8129337dbu; /* the inverse of 0xc4ceb9fe1a85ec53 */
    id = (id ^ id >> 33) * 0x4f74430c22a54005u; /* the inverse of 0xff51afd7ed558ccd */
    return id ^ id >> 33;
}

START_TEST(hashes_spread)
{
    hash_fn *const hashes[] = {gt_hash, hash_pair, hash_text};
    ck_assert_uint_eq(gt_hash_seed() & 1, 1);
    ck_assert_uint_eq(gt_hash_seed(), gt_hash_seed());
    /* random ids would have about 7 in the fullest place */
    for (size_t i = 0; i < sizeof hashes / sizeof *hashes; i++) {
        ck_assert_uint_le(worst_place(hashes[i], id_plain), 20);
        ck_assert_uint_le(worst_place(hashes[i], id_high), 20);
        ck_assert_uint_le(worst_place(hashes[i], id_middle), 20);
        ck_assert_uint_le(worst_place(hashes[i], id_reversed), 20);
        ck_assert_uint_le(worst_place(hashes[i], id_golden), 20);
        ck_assert_uint_le(worst_place(hashes[i], id_unmixed), 20);
    }
}
END_TEST

/* ---- maps ---------------------------------------------------------------------------------- */

START_TEST(map_like_an_array)
{
    enum { KEYS = 3000, STEPS = 200000 };
    failing_allocator a = never_failing();
    gt_heap heap = heap_of(&a);
    gt_map map = {.heap = &heap};
    uint64_t *values = calloc(KEYS, sizeof *values), random = 1234567;
    size_t count = 0;
    ck_assert_ptr_nonnull(values);
    for (int step = 0; step < STEPS; step++) {
        uint64_t n = random_next(&random) % KEYS, key = n * (n % 3 ? 1 : 0x100000001);
        uint64_t value = random_next(&random) % 3 ? random_next(&random) | 1 : 0;
        ck_assert_uint_eq(gt_map_get(&map, key), values[n]);
        if (value)
            ck_assert(gt_map_put(&map, key, value));
        else
            gt_map_remove(&map, key);
        count += (value != 0) - (size_t)(values[n] != 0);
        values[n] = value;
        ck_assert_uint_eq(map.count, count);
    }
    for (uint64_t n = 0; n < KEYS; n++)
        ck_assert_uint_eq(gt_map_get(&map, n * (n % 3 ? 1 : 0x100000001)), values[n]);
    gt_map_free(&map);
    ck_assert_uint_eq(gt_map_get(&map, 1), 0);
    ck_assert_int_eq(a.bytes, 0);
    free(values);
}
END_TEST

/* If growing fails, the map is unchanged, and existing keys can still be set. */
START_TEST(map_cannot_grow)
{
    failing_allocator a = {.fail_at = 1};
    gt_heap heap = heap_of(&a);
    gt_map map = {.heap = &heap};
    for (uint64_t key = 0; key < 32; key++)
        ck_assert(gt_map_put(&map, key, key + 1));
    ck_assert(!gt_map_put(&map, 99, 1));
    ck_assert(gt_map_put(&map, 31, 77));
    ck_assert_uint_eq(gt_map_get(&map, 31), 77);
    ck_assert_uint_eq(gt_map_get(&map, 99), 0);
    ck_assert_uint_eq(map.count, 32);
    ck_assert(gt_map_put(&map, 99, 1));
    gt_map_free(&map);
    ck_assert_int_eq(a.bytes, 0);
}
END_TEST

/* ---- lookups ------------------------------------------------------------------------------- */

/* The hash of a key: a good one, or (few) one of 35, so that many keys collide. */
static uint64_t hash_of_key(const gt_lookup *lookup, uint64_t key, bool few)
{
    return few ? key % 5 << 32 | key % 7 : gt_hash(lookup->seed, key);
}

static uint32_t look_up(const gt_lookup *lookup, const uint64_t *keys, uint64_t key, bool few,
                        size_t *slot)
{
    uint64_t hash = hash_of_key(lookup, key, few);
    uint32_t number = gt_lookup_first(lookup, hash, slot);
    while (number && keys[number - 1] != key)
        number = gt_lookup_next(lookup, hash, slot);
    return number;
}

/* Add and remove random keys, and compare with an array. */
START_TEST(lookup_like_an_array)
{
    enum { KEYS = 300, STEPS = 20000 };
    bool few = _i, there[KEYS] = {false};
    failing_allocator a = never_failing();
    gt_heap heap = heap_of(&a);
    gt_lookup lookup = {0};
    uint64_t keys[KEYS], random = 7654321;
    size_t count = 0, slot;
    for (uint64_t n = 0; n < KEYS; n++)
        keys[n] = n * (n % 3 ? 1 : 0x100000001);
    ck_assert_uint_eq(look_up(&lookup, keys, 0, few, &slot), 0);
    for (int step = 0; step < STEPS; step++) {
        uint64_t n = random_next(&random) % KEYS;
        ck_assert(gt_lookup_reserve(&lookup, gt_allocator(&heap)));
        ck_assert_uint_eq(look_up(&lookup, keys, keys[n], few, &slot), there[n] ? n + 1 : 0);
        if (there[n])
            gt_lookup_remove(&lookup, slot);
        else
            gt_lookup_put(&lookup, slot, hash_of_key(&lookup, keys[n], few), (uint32_t)n + 1);
        there[n] = !there[n];
        count += there[n] ? 1 : SIZE_MAX;
        ck_assert_uint_eq(lookup.count, count);
        ck_assert_uint_le(lookup.count, lookup.capacity / 4 * 3);
    }
    for (uint64_t n = 0; n < KEYS; n++)
        ck_assert_uint_eq(look_up(&lookup, keys, keys[n], few, &slot), there[n] ? n + 1 : 0);
    gt_lookup_free(&lookup, gt_allocator(&heap));
    ck_assert_uint_eq(look_up(&lookup, keys, keys[1], few, &slot), 0);
    ck_assert_int_eq(a.bytes, 0);
}
END_TEST

static void fill(gt_lookup *lookup, gt_heap *heap, uint64_t *keys, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t slot;
        keys[i] = i;
        ck_assert(gt_lookup_reserve(lookup, gt_allocator(heap)));
        ck_assert_uint_eq(look_up(lookup, keys, i, false, &slot), 0);
        gt_lookup_put(lookup, slot, gt_hash(lookup->seed, i), (uint32_t)i + 1);
    }
}

/* If growing fails, the lookup is unchanged. */
START_TEST(lookup_cannot_grow)
{
    enum { FULL = GT_LOOKUP_LEAST / 4 * 3 };
    failing_allocator a = {.fail_at = 1};
    gt_heap heap = heap_of(&a);
    gt_lookup lookup = {0};
    uint64_t keys[FULL];
    size_t slot;
    fill(&lookup, &heap, keys, FULL);
    ck_assert(!gt_lookup_reserve(&lookup, gt_allocator(&heap)));
    ck_assert_uint_eq(lookup.capacity, GT_LOOKUP_LEAST);
    for (size_t i = 0; i < FULL; i++)
        ck_assert_uint_eq(look_up(&lookup, keys, i, false, &slot), i + 1);
    ck_assert(gt_lookup_reserve(&lookup, gt_allocator(&heap)));
    ck_assert_uint_eq(lookup.capacity, 2 * GT_LOOKUP_LEAST);
    gt_lookup_free(&lookup, gt_allocator(&heap));
    ck_assert_int_eq(a.bytes, 0);
}
END_TEST

/* A cleared lookup is empty; it keeps its memory only if most of it was used. */
START_TEST(lookup_cleared)
{
    enum { MANY = 5000 };
    failing_allocator a = never_failing();
    gt_heap heap = heap_of(&a);
    gt_lookup lookup = {0};
    uint64_t keys[MANY];
    fill(&lookup, &heap, keys, MANY);
    size_t capacity = lookup.capacity;
    gt_lookup_clear(&lookup, gt_allocator(&heap));
    ck_assert_uint_eq(lookup.capacity, capacity);
    ck_assert_uint_eq(lookup.count, 0);
    fill(&lookup, &heap, keys, 3);
    gt_lookup_clear(&lookup, gt_allocator(&heap));
    ck_assert_int_eq(a.bytes, 0);
    fill(&lookup, &heap, keys, 3);
    gt_lookup_free(&lookup, gt_allocator(&heap));
    ck_assert_int_eq(a.bytes, 0);
}
END_TEST

/* ---- id tables ----------------------------------------------------------------------------- */

START_TEST(table_of_all_ids)
{
    enum { IDS = 5000 };
    failing_allocator a = never_failing();
    gt_heap heap = heap_of(&a);
    gt_table table;
    uint64_t random = 42, *ids = malloc(IDS * sizeof *ids);
    ck_assert_ptr_nonnull(ids);
    gt_table_init(&table, &heap);
    ck_assert_ptr_null(gt_table_find(&table, 0));
    for (uint64_t i = 0; i < IDS; i++) {
        /* small ids, which are stored in an array, then ids of all sizes */
        ids[i] = i < 1000 || i % 4 == 0 ? i : random_next(&random) >> (i % 60);
        if (gt_table_find(&table, ids[i]))
            ids[i] = (uint64_t)1 << 63 | i << 20;
        uint8_t bytes[8];
        memcpy(bytes, &ids[i], sizeof bytes);
        ck_assert(gt_table_put(&table, ids[i], bytes, i % 9, i));
        ck_assert_uint_eq(table.entries, i + 1);
    }
    for (uint64_t i = 0; i < IDS; i++) {
        const gt_entry *entry = gt_table_find(&table, ids[i]);
        ck_assert_ptr_nonnull(entry);
        ck_assert_uint_eq(entry->id, ids[i]);
        ck_assert_uint_eq(entry->count, i);
        ck_assert_uint_eq(entry->size, i % 9);
        ck_assert_mem_eq(entry->bytes, &ids[i], i % 9);
    }
    /* an entry with the same id is replaced */
    uint64_t bytes = table.bytes;
    for (uint64_t i = 0; i < IDS; i++)
        ck_assert(gt_table_put(&table, ids[i], (const uint8_t *)"again", 5, 1));
    ck_assert_uint_eq(table.entries, IDS);
    ck_assert_uint_eq(table.bytes, 5 * IDS);
    ck_assert_uint_ne(table.bytes, bytes);
    ck_assert_uint_eq(table.frames, IDS);
    ck_assert_mem_eq(gt_table_find(&table, ids[7])->bytes, "again", 5);
    gt_table_free(&table);
    ck_assert_int_eq(a.bytes, 0);
    free(ids);
}
END_TEST

START_TEST(table_of_large_and_small)
{
    static const uint8_t large[200000] = {1};
    failing_allocator a = never_failing();
    gt_heap heap = heap_of(&a);
    gt_table table;
    gt_table_init(&table, &heap);
    for (uint64_t id = 0; id < 20; id++)
        ck_assert(gt_table_put(&table, id, large, id % 2 ? sizeof large : 1, 0));
    for (uint64_t id = 0; id < 20; id++)
        ck_assert_uint_eq(gt_table_find(&table, id)->size, id % 2 ? sizeof large : 1);
    ck_assert_int_lt(a.peak, 20 * 200000);
    gt_table_free(&table);
    ck_assert_int_eq(a.bytes, 0);
}
END_TEST

/* Each entry counts as unused until the first use. */
static void check_uses(const gt_table *table, uint64_t ids)
{
    gt_uses uses = {0};
    for (int again = 0; again < 2; again++) {
        ck_assert(gt_uses_init(&uses, table));
        ck_assert(!gt_use(&uses, 0) && !gt_use(&uses, ids + 1) && !gt_use(&uses, UINT64_MAX));
        ck_assert_uint_eq(gt_unused(&uses), table->entries);
        for (uint64_t id = 1; id <= ids; id += ids / 3)
            ck_assert(gt_use(&uses, id) && gt_use(&uses, id));
        ck_assert_uint_eq(gt_unused(&uses), table->entries - 4);
    }
    gt_uses_free(&uses);
}

/* Ids in descending order are in the array after settling, unless one of them is large. */
START_TEST(table_settles)
{
    enum { IDS = 5000 };
    failing_allocator a = never_failing();
    gt_heap heap = heap_of(&a);
    for (unsigned large = 0; large < 2; large++) {
        gt_table table;
        gt_table_init(&table, &heap);
        for (uint64_t id = IDS; id > 0; id--)
            ck_assert(gt_table_put(&table, id, (const uint8_t *)&id, sizeof id, (size_t)id));
        if (large)
            ck_assert(gt_table_put(&table, (uint64_t)1 << 40, NULL, 0, 0));
        ck_assert_uint_gt(table.sparse_count, IDS / 2);
        ck_assert(gt_table_settle(&table));
        ck_assert_int_eq(table.sparse_count > 0, large > 0);
        check_uses(&table, IDS);
        ck_assert_ptr_null(gt_table_find(&table, 0));
        ck_assert_ptr_null(gt_table_find(&table, IDS + 1));
        for (uint64_t id = 1; id <= IDS; id++) {
            const gt_entry *entry = gt_table_find(&table, id);
            ck_assert_ptr_nonnull(entry);
            ck_assert_uint_eq(entry->count, id);
            ck_assert_mem_eq(entry->bytes, &id, sizeof id);
        }
        gt_table_free(&table);
        ck_assert_int_eq(a.bytes, 0);
    }
}
END_TEST

/* ---- rows ---------------------------------------------------------------------------------- */

static int compare_rows(const void *x, const void *y)
{
    const gt_row *a = x, *b = y;
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    return a->offset < b->offset ? -1 : a->offset > b->offset;
}

static void read_rows(gt_spill *spill, const gt_row *rows, size_t count, size_t most)
{
    gotrace_error error = {0};
    ck_assert(gt_spill_rewind(spill, &error));
    for (size_t i = 0; i < count && i < most; i++) {
        const gt_row *row = gt_spill_peek(spill);
        ck_assert_ptr_nonnull(row);
        ck_assert_mem_eq(row, &rows[i], sizeof *row);
        ck_assert(gt_spill_advance(spill, &error));
    }
    if (count <= most)
        ck_assert_ptr_null(gt_spill_peek(spill));
}

/* Numbers of rows around the size of a run in memory. */
static const size_t row_counts[] = {0, 1, 2, 16383, 16384, 16385, 32768, 100000};

START_TEST(rows_in_order)
{
    size_t count = row_counts[_i];
    failing_allocator a = never_failing();
    gotrace_config config = failing_config(&a);
    gt_heap heap = heap_of(&a);
    gt_spill spill;
    gotrace_error error = {0};
    gt_row *rows = calloc(count + 1, sizeof *rows);
    uint64_t random = 99;
    ck_assert_ptr_nonnull(rows);
    gt_spill_init(&spill, &heap, &config);
    for (size_t i = 0; i < count; i++) {
        /* few different keys, so that offsets decide; some are negative */
        rows[i] = (gt_row){.key = (int64_t)(random_next(&random) % 1000) - 500,
                           .offset = random_next(&random) % 100000 * 100000 + i,
                           .a = i,
                           .b = ~(uint64_t)i,
                           .c = random};
        ck_assert(gt_spill_add(&spill, &rows[i], &error));
    }
    qsort(rows, count, sizeof *rows, compare_rows);
    read_rows(&spill, rows, count, 100);
    read_rows(&spill, rows, count, SIZE_MAX);
    read_rows(&spill, rows, count, SIZE_MAX);
    ck_assert_int_lt(a.peak, 2 << 20);
    gt_spill_free(&spill);
    ck_assert_int_eq(a.bytes, 0);
    free(rows);
}
END_TEST

/* A full disk, simulated by the limit of the file size. */
START_TEST(rows_disk_full)
{
    failing_allocator a = never_failing();
    gotrace_config config = failing_config(&a);
    gt_heap heap = heap_of(&a);
    gt_spill spill;
    gotrace_error error = {.rule = GOTRACE_RULE_NONE};
    struct rlimit limit = {100000, 100000};
    signal(SIGXFSZ, SIG_IGN);
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0); /* applies only to this test's process */
    config.spool_dir = "/tmp";
    gt_spill_init(&spill, &heap, &config);
    bool ok = true;
    for (uint64_t i = 0; i < 40000 && ok; i++)
        ok = gt_spill_add(&spill, &(gt_row){.key = (int64_t)i}, &error);
    ck_assert(!ok);
    ck_assert_int_eq(error.rule, GOTRACE_RULE_SYSTEM_WRITE);
    ck_assert_int_eq(error.os_error, EFBIG);
    gt_spill_free(&spill);
    ck_assert_int_eq(a.bytes, 0);
}
END_TEST

/* ---- waiting cursors ------------------------------------------------------------------------- */

/* The reference model of what a cursor waits for. */
typedef struct wish {
    int64_t ticks;
    uint64_t goroutine, seq;
    uint8_t status;
    bool waits;
} wish;

static size_t earliest(const wish *wishes, size_t count, const wish *what)
{
    size_t found = count;
    for (size_t i = 0; i < count; i++)
        if (wishes[i].waits && wishes[i].goroutine == what->goroutine &&
            wishes[i].seq == what->seq && wishes[i].status == what->status &&
            (found == count || wishes[i].ticks < wishes[found].ticks))
            found = i;
    return found;
}

START_TEST(waits_like_a_list)
{
    enum { CURSORS = 200, STEPS = 20000 };
    failing_allocator a = never_failing();
    gt_heap heap = heap_of(&a);
    gt_waits waits;
    wish wishes[CURSORS] = {{0}};
    uint64_t random = 7;
    size_t parked = 0;
    ck_assert(gt_waits_init(&waits, &heap, CURSORS));
    for (int step = 0; step < STEPS; step++) {
        wish w = {.ticks = step * 7919 % 100003, /* all different */
                  .goroutine = random_next(&random) % 3,
                  .seq = random_next(&random) % 3 ? random % 4 : GT_ANY_SEQ,
                  .status = (uint8_t)(random_next(&random) % 2),
                  .waits = true};
        uint32_t cursor = (uint32_t)(random_next(&random) % CURSORS);
        if (!wishes[cursor].waits) {
            ck_assert(gt_waits_park(&waits, cursor, w.ticks, w.goroutine, w.seq, w.status));
            wishes[cursor] = w;
            parked++;
        } else {
            size_t expected = earliest(wishes, CURSORS, &w);
            uint32_t woken;
            bool any = gt_waits_wake(&waits, w.goroutine, w.seq, w.status, &woken);
            ck_assert_int_eq(any, expected < CURSORS);
            if (any) {
                ck_assert_uint_eq(woken, expected);
                wishes[woken].waits = false;
                parked--;
            }
        }
        ck_assert_uint_eq(waits.parked_count, parked);
    }
    for (int64_t last = INT64_MIN; parked > 0; parked--) {
        ck_assert_int_gt(gt_waits_earliest(&waits), last);
        last = gt_waits_earliest(&waits);
        uint32_t cursor = gt_waits_release(&waits);
        ck_assert(wishes[cursor].waits);
        ck_assert_int_eq(wishes[cursor].ticks, last);
        wishes[cursor].waits = false;
    }
    ck_assert_uint_eq(waits.parked_count, 0);
    gt_waits_free(&waits);
    ck_assert_int_eq(a.bytes, 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("tables");
    TCase *maps = tcase_create("maps");
    tcase_add_test(maps, hashes_spread);
    tcase_add_test(maps, map_like_an_array);
    tcase_add_test(maps, map_cannot_grow);
    tcase_add_loop_test(maps, lookup_like_an_array, 0, 2);
    tcase_add_test(maps, lookup_cannot_grow);
    tcase_add_test(maps, lookup_cleared);
    tcase_add_test(maps, table_of_all_ids);
    tcase_add_test(maps, table_of_large_and_small);
    tcase_add_test(maps, table_settles);
    suite_add_tcase(suite, maps);
    TCase *rows = tcase_create("rows");
    tcase_add_loop_test(rows, rows_in_order, 0, sizeof row_counts / sizeof *row_counts);
    tcase_add_test(rows, rows_disk_full);
    suite_add_tcase(suite, rows);
    TCase *waits = tcase_create("waits");
    tcase_add_test(waits, waits_like_a_list);
    suite_add_tcase(suite, waits);
    return run_suite(suite);
}
