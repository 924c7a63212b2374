/* test_path.c - critical paths, and the array and the list of the longest that they are made with.
 */
#include <stdlib.h>
#include <string.h>

#include "formats/analyse/path_total.h"
#include "support.h"

/* ---- the array --------------------------------------------------------------------------------
 */

/* More items than the cache has room for. */
enum { MANY = 3 * BIG_ARRAY_ITEMS * BIG_ARRAY_SLOTS + 77 };

static path_state state_of(uint64_t n)
{
    uint64_t mixed = n * 0x9e3779b97f4a7c15u;
    return (path_state){.time = n % 1000 ? (int64_t)(n * 3) : (int64_t)mixed,
                        .goroutine = n % 100 ? n % 7 : mixed,
                        .before = n ? (uint32_t)(mixed % n) : 0,
                        .cause = n % 3 == CAUSE_OTHER && n % 2 ? (uint32_t)(n - 1) : 0,
                        .stack = (uint32_t)(mixed >> 40),
                        .function = n % 5 ? 3 : UINT32_MAX,
                        .reason = n % 11 ? 0 : (uint32_t)mixed,
                        .waits_for = n % 13 ? 0 : (uint32_t)(mixed >> 8),
                        .state = (uint8_t)(n % 6),
                        .caused = (uint8_t)(n % 3),
                        .assist = n % 2};
}

static void check_state(big_array *a, uint64_t n)
{
    const path_state *s = big_array_at(a, n);
    path_state expected = state_of(n);
    ck_assert_ptr_nonnull(s);
    ck_assert_int_eq(s->time, expected.time);
    ck_assert_uint_eq(s->goroutine, expected.goroutine);
    ck_assert_uint_eq(s->before, expected.before);
    ck_assert_uint_eq(s->cause, expected.cause);
    ck_assert_uint_eq(s->stack, expected.stack);
    ck_assert_uint_eq(s->function, expected.function);
    ck_assert_uint_eq(s->reason, expected.reason);
    ck_assert_uint_eq(s->waits_for, expected.waits_for);
    ck_assert_uint_eq(s->state, expected.state);
    ck_assert_uint_eq(s->caused, expected.caused);
    ck_assert(s->assist == expected.assist);
}

static void fill_and_read(big_array *a, uint64_t count)
{
    for (uint64_t n = 0; n < count; n++) {
        path_state *s = big_array_add(a);
        ck_assert_ptr_nonnull(s);
        *s = state_of(n);
    }
    for (uint64_t n = 0; n < count; n += 1 + n % 97)
        check_state(a, count - 1 - n);
    uint64_t at = 1;
    for (size_t i = 0; i < 20000; i++) {
        at = at * 6364136223846793005u + 1442695040888963407u;
        check_state(a, (at >> 20) % count);
    }
}

static void check_array(const big_array_packing *packing)
{
    big_array a;
    big_array_init(&a, sizeof(path_state), packing);
    fill_and_read(&a, MANY);
    ck_assert_int_ge(a.fd, 0);
    big_array_clear(&a);
    fill_and_read(&a, 1000);
    /* Nothing can be appended after the first item was read. */
    ck_assert_ptr_null(big_array_add(&a));
    ck_assert_int_ne(a.error, 0);
    big_array_free(&a);
}

START_TEST(array)
{
    check_array(NULL);
    check_array(&path_state_packing);
    for (uint64_t count = BIG_ARRAY_ITEMS - 1; count <= BIG_ARRAY_ITEMS + 1; count++) {
        big_array block;
        big_array_init(&block, sizeof(path_state), &path_state_packing);
        fill_and_read(&block, count);
        big_array_clear(&block);
        fill_and_read(&block, 2);
        big_array_free(&block);
    }
    big_array small;
    big_array_init(&small, 8, NULL);
    ck_assert_ptr_nonnull(big_array_add(&small));
    ck_assert_ptr_nonnull(big_array_at(&small, 0));
    ck_assert_int_lt(small.fd, 0);
    /* Nor after that of a block that is not stored. */
    ck_assert_ptr_null(big_array_add(&small));
    ck_assert_int_ne(small.error, 0);
    big_array_free(&small);
}
END_TEST

/* ---- the longest ------------------------------------------------------------------------------
 */

START_TEST(longest_list)
{
    static const int64_t values[] = {5, 9, 1, 9, 7, 5, 9, 2, 8, 9};
    enum { COUNT = sizeof values / sizeof *values };
    longest l;
    size_t stored[4], slot;
    bool failed = false;
    longest_init(&l, 4);
    for (size_t i = 0; i < COUNT; i++)
        if (longest_add(&l, values[i], &slot, &failed))
            stored[slot] = i;
    ck_assert(!failed);
    longest_sort(&l, false);
    static const size_t expected[] = {1, 3, 6, 9};
    ck_assert_uint_eq(l.count, 4);
    for (size_t i = 0; i < l.count; i++) {
        ck_assert_uint_eq(l.items[i].order, expected[i]);
        ck_assert_uint_eq(stored[l.items[i].slot], expected[i]);
    }
    longest_free(&l);
    longest_init(&l, 3);
    for (size_t i = 0; i < COUNT - 4; i++)
        longest_add(&l, -values[i], &slot, &failed);
    longest_sort(&l, true);
    ck_assert_uint_eq(l.items[0].order, 0);
    ck_assert_uint_eq(l.items[1].order, 2);
    ck_assert_uint_eq(l.items[2].order, 5);
    longest_free(&l);
}
END_TEST

/* ---- paths ------------------------------------------------------------------------------------
 */

static void check_sums(const path_sums *sums, const int64_t *expected)
{
    int64_t waited = 0;
    size_t cursor = 0;
    uint64_t key;
    void *value;
    ck_assert_mem_eq(expected, sums->ns, sizeof sums->ns);
    while (idmap_next(&sums->reasons, &cursor, &key, &value))
        waited += ((path_reason *)value)->ns;
    ck_assert_int_eq(waited, expected[PATH_WAITING]);
}

/* The rows in each wait are a partition of it: none exceeds it. */
static void check_waits(paths *p)
{
    enum { MOST = 64 };
    path_part open[MOST];
    int64_t at[MOST]; /* up to there rows were found */
    size_t depth = 0;
    for (uint64_t n = 0; n < p->parts.count; n++) {
        const path_part row = *paths_part(p, n);
        for (; depth > row.depth; depth--)
            if (depth <= MOST)
                ck_assert_int_eq(at[depth - 1], open[depth - 1].end);
        ck_assert_uint_eq(row.depth, depth);
        if (depth > 0 && depth <= MOST) {
            ck_assert_int_eq(row.begin, at[depth - 1]);
            ck_assert_int_le(row.end, open[depth - 1].end);
            at[depth - 1] = row.end;
        }
        if (row.spans && depth++ < MOST) {
            open[depth - 1] = row;
            at[depth - 1] = row.begin;
        }
    }
    for (; depth > 0; depth--)
        if (depth <= MOST)
            ck_assert_int_eq(at[depth - 1], open[depth - 1].end);
}

/* The parts of the path follow each other from begin to end, and so do the rows at the top; the
 * sums are those of the rows at the top, and of the parts in their waits. */
static void check_path(paths *p, const path_interval *i)
{
    int64_t at = i->begin, top = i->begin, divided = 0;
    int64_t own[PATH_PART_KINDS] = {0}, others[PATH_PART_KINDS] = {0};
    int error;
    paths_walk(p, i);
    ck_assert(!paths_failed(p, &error));
    for (uint64_t n = 0; n < p->parts.count; n++) {
        const path_part *part = paths_part(p, n);
        int64_t ns = part->end - part->begin;
        ck_assert_int_eq(part->begin, at);
        ck_assert_int_gt(part->end, at);
        ck_assert_int_lt(part->kind, PATH_PART_KINDS);
        if (part->depth == 0) {
            ck_assert_int_eq(part->begin, top);
            top = part->end;
            own[part->kind] += ns;
            divided += part->spans ? ns : 0;
        } else if (!part->spans) {
            others[part->kind] += ns;
        }
        at = part->spans ? at : part->end;
    }
    ck_assert_int_eq(at, i->end);
    ck_assert_int_eq(top, i->end);
    ck_assert_int_eq(p->divided, divided);
    check_sums(&p->own, own);
    check_sums(&p->others, others);
    ck_assert_uint_eq(p->level_count, 0);
    check_waits(p);
}

/* Each table of totals adds up to the intervals; most: different stacks, beyond which less is
 * shown. */
static void check_totals(paths *p, bool nested, size_t most)
{
    const path_interval *i;
    path_totals t;
    int64_t ns = 0;
    bool huge = false; /* clocks of damaged traces have any value */
    ck_assert(path_totals_make(&t, p,
                               &(path_totals_options){.detail = STACKS_BY_FUNCTION,
                                                      .nested = nested,
                                                      .most_nested = most}));
    for (size_t n = 0; (i = paths_interval(p, n)); n++)
        huge |= __builtin_add_overflow(ns, i->end - i->begin, &ns);
    ck_assert(huge || t.ns == ns);
    for (unsigned table = 0; !huge && table < PATH_TABLES; table++) {
        size_t count;
        bool failed;
        int64_t sum = 0, state = 0;
        path_total_row *rows = path_totals_rows(&t, table, &count, &failed);
        ck_assert(!failed);
        for (size_t n = 0; n < count; n++) {
            sum += rows[n].total.ns;
            if (n == 0 || rows[n].state != rows[n - 1].state)
                state += rows[n].state_ns;
            ck_assert_int_le(rows[n].total.ns, rows[n].state_ns);
        }
        const bool made = nested == (table == PATH_NESTED);
        ck_assert_int_eq(sum, made ? ns : 0);
        ck_assert_int_eq(state, sum);
        free(rows);
    }
    path_totals_free(&t);
}

/* Checks everything of a kind that has one of the names. Returns the number of paths. */
static size_t check_kind(const blob *trace, path_kind kind, const char *const *names)
{
    size_t count = 0;
    for (; *names; names++) {
        path_query query = {
            .kind = kind, .name = *names, .slowest = UINT64_MAX, .range = {INT64_MIN, INT64_MAX}};
        query.has_id = **names >= '0' && **names <= '9';
        query.id = strtoull(*names, NULL, 10);
        gotrace_source *source;
        gotrace_reader *reader;
        gotrace_error error = {0};
        const path_interval *i;
        paths *p = paths_new(&query);
        ck_assert_ptr_nonnull(p);
        ck_assert_int_eq(gotrace_source_memory(trace->bytes, trace->size, NULL, &source, &error),
                         GOTRACE_OK);
        ck_assert_int_eq(gotrace_reader_open(source, NULL, &reader, &error), GOTRACE_OK);
        paths_read(p, reader, 1, NULL);
        for (size_t n = 0; (i = paths_interval(p, n)); n++, count++) {
            check_path(p, i);
            const path_interval *next = paths_interval(p, n + 1);
            ck_assert(!next || next->end - next->begin <= i->end - i->begin);
        }
        check_totals(p, false, 0);
        check_totals(p, true, PATH_MOST_STACKS);
        check_totals(p, true, 5);
        gotrace_reader_close(reader);
        gotrace_source_close(source);
        paths_free(p);
    }
    return count;
}

START_TEST(sums)
{
    static const char *const goroutines[] = {
        "1",  "main.main", "runtime.gcBgMarkWorker", "main.main.func1", "runtime.bgsweep", "2",
        "18", NULL};
    static const char *const tasks[] = {"1", "2", "3", "0", NULL};
    static const char *const regions[] = {"inner", "outer r\303\251gion", "unfinished", NULL};
    trace_file *files = traces_load(1 << 20);
    size_t count = 0;
    for (const trace_file *f = files; *f->path; f++) {
        count += check_kind(&f->content, PATH_GOROUTINE, goroutines);
        count += check_kind(&f->content, PATH_TASK, tasks);
        count += check_kind(&f->content, PATH_REGION, regions);
    }
    ck_assert_uint_gt(count, 500 / SWEEP_STEP);
    traces_free(files);
}
END_TEST

/* Damaged traces: the walk ends, and the parts still add up. */
START_TEST(damaged)
{
    static const char *const names[] = {"go1.26-user.trace", "go1.22-user.trace",
                                        "go1.21-user.trace", "gccgo-user.trace"};
    static const char *const all[] = {"1", "inner", "main.main", NULL};
    uint64_t state = 7;
    for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
        blob whole = trace_sample(names[n]);
        for (size_t i = 0; i < 60 / SWEEP_STEP; i++) {
            size_t at = 16 + random_next(&state) % (whole.size - 16);
            uint8_t kept = whole.bytes[at];
            whole.bytes[at] = (uint8_t)random_next(&state);
            for (path_kind kind = PATH_TASK; kind <= PATH_GOROUTINE; kind++)
                check_kind(&whole, kind, all);
            whole.bytes[at] = kept;
        }
        blob_free(&whole);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("path");
    TCase *tests = tcase_create("path");
    tcase_add_test(tests, array);
    tcase_add_test(tests, longest_list);
    tcase_add_test(tests, sums);
    tcase_add_test(tests, damaged);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
