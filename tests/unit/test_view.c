/* test_view.c - the index of a trace, from which any part of it is shown. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "asking.h"
#include "formats/common/vector.h"
#include "formats/view/index.h"
#include "formats/view/levels.h"

/* ---- stretches as they were stored ------------------------------------------------------------
 */

typedef struct known {
    view_track track;
    int64_t begin, end;
    uint8_t state;
} known;

typedef struct stored {
    view *view;
    known *list;
    size_t count, room;
} stored;

static void store(stored *s, level_place *place, const level_item *item)
{
    s->list = vector_room(s->list, &s->room, s->count, sizeof *s->list);
    ck_assert_ptr_nonnull(s->list);
    s->list[s->count++] = (known){
        {item->kind, item->id, item->group & TRACK_GROUP}, item->begin, item->end, item->state};
    levels_add(&s->view->levels, place, item, NULL);
    if (levels_full(&s->view->levels))
        levels_end_node(&s->view->levels, item->end);
}

enum { TRACKS = 40 };

/* What a track does next: tracks have stretches of very different lengths. */
static void begin_next(level_item *item, size_t track, uint64_t *seed)
{
    static const unsigned most_bits[] = {4, 8, 12, 20};
    const unsigned bits = most_bits[track % 4] / (1 + (unsigned)(random_next(seed) % 3));
    item->begin = item->end;
    item->end += (int64_t)(random_next(seed) & (((uint64_t)1 << bits) - 1));
    item->state = (uint8_t)(random_next(seed) % DO_KINDS);
}

/* Stores that many, in the order of their ends. Some tracks begin late. */
static void store_many(stored *s, size_t count, uint64_t *seed)
{
    level_place places[TRACKS] = {0};
    level_item next[TRACKS];
    for (size_t t = 0; t < TRACKS; t++) {
        next[t] = (level_item){
            .id = t * 1000, .kind = t % 5 ? VIEW_GOROUTINE : VIEW_PROC, .group = (uint32_t)t % 3};
        begin_next(&next[t], t, seed);
    }
    for (size_t n = 0; n < count; n++) {
        size_t first = 0;
        for (size_t t = 1; t < TRACKS && t < 3 + n / 20; t++)
            first = next[t].end < next[first].end ? t : first;
        store(s, &places[first], &next[first]);
        begin_next(&next[first], first, seed);
        /* Those that have not begun yet do so not before now. */
        for (size_t t = 3 + n / 20; t < TRACKS; t++) {
            next[t].end = s->list[s->count - 1].end;
            begin_next(&next[t], t, seed);
        }
    }
}

static stored stored_new(size_t items, size_t above)
{
    stored s = {.view = view_new()};
    ck_assert_ptr_nonnull(s.view);
    s.view->levels.most_items = items;
    s.view->levels.most_above = above;
    return s;
}

static void stored_free(stored *s)
{
    view_free(s->view);
    free(s->list);
}

static int64_t last_time(const stored *s)
{
    int64_t last = 0;
    for (size_t n = 0; n < s->count; n++)
        last = s->list[n].end > last ? s->list[n].end : last;
    return last;
}

/* ---- windows ----------------------------------------------------------------------------------
 */

typedef struct found {
    view_stretch *list;
    size_t count, room;
} found;

static bool keep(void *ctx, const view_stretch *s)
{
    found *f = ctx;
    f->list = vector_room(f->list, &f->room, f->count, sizeof *f->list);
    ck_assert_ptr_nonnull(f->list);
    f->list[f->count++] = *s;
    return true;
}

static bool is_inside(const view_window *w, const known *k)
{
    return k->begin < w->until && (k->end > w->from || (k->end == k->begin && k->begin >= w->from));
}

/* Each stretch is found as it was stored. */
static void check_exact(const stored *s, const view_track *track, const view_window *w)
{
    found f = {0};
    size_t n = 0;
    ck_assert(view_stretches(s->view, track, w, keep, &f));
    for (size_t i = 0; i < s->count; i++) {
        const known *k = &s->list[i];
        if (k->track.kind != track->kind || k->track.id != track->id || !is_inside(w, k))
            continue;
        ck_assert_uint_lt(n, f.count);
        const view_stretch *got = &f.list[n++];
        ck_assert_int_eq(got->begin, k->begin);
        ck_assert_int_eq(got->end, k->end);
        ck_assert_uint_eq(got->state, k->state);
        ck_assert_uint_eq(got->count, 1);
        ck_assert_int_eq(got->ns[k->state], k->end - k->begin);
    }
    ck_assert_uint_eq(n, f.count);
    free(f.list);
}

/* The sums of all times are the same, in fewer stretches. */
static void check_sums(const stored *s, const view_track *track, int64_t pixel)
{
    const view_window all = {INT64_MIN, INT64_MAX, pixel};
    int64_t expected[DO_KINDS] = {0}, got[DO_KINDS] = {0}, longest = 0, found_longest = 0;
    uint64_t count = 0, found_count = 0;
    found f = {0};
    ck_assert(view_stretches(s->view, track, &all, keep, &f));
    for (size_t i = 0; i < s->count; i++) {
        const known *k = &s->list[i];
        if (k->track.kind != track->kind || k->track.id != track->id)
            continue;
        expected[k->state] += k->end - k->begin;
        longest = k->end - k->begin > longest ? k->end - k->begin : longest;
        count++;
    }
    for (size_t i = 0; i < f.count; i++) {
        const view_stretch *x = &f.list[i];
        ck_assert(i == 0 || x->begin >= f.list[i - 1].end);
        ck_assert(x->count == 1 || x->end - x->begin < 2 * pixel);
        ck_assert(x->longest_begin >= x->begin && x->longest_begin + x->longest <= x->end);
        found_longest = x->longest > found_longest ? x->longest : found_longest;
        found_count += x->count;
        for (size_t k = 0; k < DO_KINDS; k++)
            got[k] += x->ns[k];
    }
    ck_assert_mem_eq(got, expected, sizeof got);
    ck_assert_uint_eq(found_count, count);
    ck_assert_int_eq(found_longest, longest);
    /* Of what is shorter than a pixel, there is one in each half of a pixel. */
    ck_assert_uint_le(f.count, 2 + 4 * (uint64_t)(last_time(s) / pixel + 1));
    free(f.list);
}

static void check_windows(const stored *s, uint64_t *seed)
{
    const int64_t last = last_time(s);
    for (size_t n = 0; n < 300; n++) {
        const size_t of = random_next(seed) % TRACKS;
        const view_track track = {of % 5 ? VIEW_GOROUTINE : VIEW_PROC, of * 1000, 0};
        const int64_t from = (int64_t)(random_next(seed) % (uint64_t)(last + 1));
        const unsigned bits = (unsigned)(random_next(seed) % 24);
        const view_window w = {from, from + (int64_t)(random_next(seed) >> (63 - bits)), 0};
        check_exact(s, &track, &w);
        check_sums(s, &track, (int64_t)1 << bits);
    }
    const view_window all = {INT64_MIN, INT64_MAX, 0};
    for (size_t of = 0; of < TRACKS; of++)
        check_exact(s, &(view_track){of % 5 ? VIEW_GOROUTINE : VIEW_PROC, of * 1000, 0}, &all);
}

START_TEST(windows)
{
    static const size_t sizes[][2] = {{1, 1}, {7, 3}, {64, 1000}, {1000, 20}, {100000, 100000}};
    uint64_t seed = 88172645463325252u;
    for (size_t n = 0; n < sizeof sizes / sizeof *sizes; n++) {
        stored s = stored_new(sizes[n][0], sizes[n][1]);
        store_many(&s, 6000, &seed);
        levels_end(&s.view->levels, last_time(&s));
        ck_assert_int_eq(s.view->levels.error, 0);
        check_windows(&s, &seed);
        stored_free(&s);
    }
}
END_TEST

/* While the index is built, what was stored until then is found. */
START_TEST(unfinished)
{
    uint64_t seed = 1234567;
    for (size_t count = 1; count < 3000; count = count * 3 + 1) {
        stored s = stored_new(50, 30);
        store_many(&s, count, &seed);
        check_windows(&s, &seed);
        stored_free(&s);
    }
}
END_TEST

static bool count_stretch(void *ctx, const view_stretch *s)
{
    ++*(size_t *)ctx;
    return s->end >= s->begin;
}

static bool count_stretches(view *v, size_t *count)
{
    const view_window all = {INT64_MIN, INT64_MAX, 0};
    *count = 0;
    return view_stretches(v, &(view_track){VIEW_GOROUTINE, 1000, 0}, &all, count_stretch, count);
}

/* A question that fails is not a failure of the index, and one that failed answers what it has. */
START_TEST(failures)
{
    uint64_t seed = 7;
    size_t before, after;
    stored s = stored_new(50, 30);
    store_many(&s, 3000, &seed);
    ck_assert(count_stretches(s.view, &before));
    ck_assert_uint_gt(before, 0);

    const int fd = s.view->levels.fd;
    s.view->levels.fd = -1;
    ck_assert(!count_stretches(s.view, &after));
    s.view->levels.fd = fd;
    ck_assert_int_eq(s.view->levels.error, 0);

    s.view->levels.error = EIO;
    ck_assert(count_stretches(s.view, &after));
    ck_assert_uint_eq(after, before);
    ck_assert_int_eq(s.view->levels.error, EIO);
    stored_free(&s);
}
END_TEST

/* ---- lists of tracks --------------------------------------------------------------------------
 */

static void check_list(const stored *s, uint32_t group, const view_window *w)
{
    listed l = {0};
    size_t n = 0;
    ck_assert(view_list(s->view, VIEW_GOROUTINE, group, w, keep_track, &l));
    for (uint64_t of = 0; of < TRACKS; of++) {
        int64_t begin = INT64_MAX, end = INT64_MIN;
        uint64_t count = 0;
        for (size_t i = 0; i < s->count; i++) {
            const known *k = &s->list[i];
            if (k->track.id != of * 1000 || k->track.kind != VIEW_GOROUTINE || !is_inside(w, k) ||
                (group != UINT32_MAX && k->track.group != group))
                continue;
            begin = k->begin < begin ? k->begin : begin;
            end = k->end > end ? k->end : end;
            count++;
        }
        if (count == 0)
            continue;
        ck_assert_uint_lt(n, l.count);
        ck_assert_uint_eq(l.list[n].track.id, of * 1000);
        ck_assert_int_eq(l.list[n].begin, begin);
        ck_assert_int_eq(l.list[n].end, end);
        ck_assert_uint_eq(l.list[n].count, count);
        n++;
    }
    ck_assert_uint_eq(n, l.count);
    free(l.list);
}

START_TEST(lists)
{
    uint64_t seed = 99;
    stored s = stored_new(100, 40);
    store_many(&s, 4000, &seed);
    for (int end = 0; end < 2; end++) {
        for (size_t n = 0; n < 100; n++) {
            const int64_t from = (int64_t)(random_next(&seed) % (uint64_t)last_time(&s));
            const view_window w = {from, from + (int64_t)(random_next(&seed) % 100000), 0};
            s.view->levels.most_listed = n % 3 ? 2 + n : LISTED_MOST;
            check_list(&s, n % 4 == 3 ? UINT32_MAX : n % 4, &w);
        }
        levels_end(&s.view->levels, last_time(&s));
    }
    stored_free(&s);
}
END_TEST

/* ---- traces -----------------------------------------------------------------------------------
 */

static bool add_up(void *ctx, const view_listed *t)
{
    int64_t *ns = ctx;
    for (size_t k = 0; k < DO_KINDS; k++)
        ns[k] += t->ns[k];
    return true;
}

/* Running goroutines run on procs. */
static void check_procs(view *v, const int64_t *goroutines)
{
    const view_window all = {INT64_MIN, INT64_MAX, 0};
    int64_t ns[DO_KINDS] = {0};
    ck_assert(view_list(v, VIEW_PROC, UINT32_MAX, &all, add_up, ns));
    ck_assert_int_le(ns[DO_RUN], goroutines[DO_RUN]);
    ck_assert_int_le(ns[DO_SYSCALL], goroutines[DO_SYSCALL]);
}

/* What is counted for all is the sum of what is stored for each. */
static void check_trace(const trace_file *file, size_t items)
{
    const view_window all = {INT64_MIN, INT64_MAX, 0};
    gotrace_source *source;
    gotrace_reader *reader;
    int64_t goroutines[DO_KINDS] = {0}, together[DO_KINDS] = {0}, groups[DO_KINDS] = {0};
    int error;
    view *v = view_new();
    ck_assert_ptr_nonnull(v);
    v->levels.most_items = items;
    ck_assert_int_eq(
        gotrace_source_memory(file->content.bytes, file->content.size, NULL, &source, NULL),
        GOTRACE_OK);
    if (gotrace_reader_open(source, NULL, &reader, NULL) == GOTRACE_OK) {
        view_build(v, reader, 1 + items % 2);
        ck_assert(!view_failed(v, &error));
        ck_assert(view_progress_of(v).complete);
        ck_assert(view_list(v, VIEW_GOROUTINE, UINT32_MAX, &all, add_up, goroutines));
        ck_assert(view_list(v, VIEW_ALL, UINT32_MAX, &all, add_up, together));
        ck_assert_mem_eq(goroutines, together, sizeof together);
        ck_assert(view_list(v, VIEW_GROUP, UINT32_MAX, &all, add_up, groups));
        ck_assert_mem_eq(groups, together, sizeof groups);
        check_procs(v, goroutines);
        gotrace_reader_close(reader);
    }
    gotrace_source_close(source);
    view_free(v);
}

START_TEST(traces)
{
    trace_file *files = traces_load(1 << 20);
    for (const trace_file *file = files; *file->path; file++) {
        check_trace(file, 100);
        check_trace(file, 1001);
    }
    traces_free(files);
}
END_TEST

/* ---- what takes no time -----------------------------------------------------------------------
 */

typedef struct moments {
    int64_t last; /* begin of the last one */
    uint64_t count, most;
    size_t stretches;
} moments;

static bool add_moment(void *ctx, const view_stretch *s)
{
    moments *m = ctx;
    ck_assert(m->stretches == 0 || s->begin >= m->last);
    ck_assert_int_eq(s->begin, s->end);
    m->last = s->begin;
    m->count += s->count;
    return ++m->stretches < m->most;
}

static moments moments_of(const asked *a, uint64_t id, int64_t end, int64_t pixel, uint64_t most)
{
    const view_track track = {VIEW_WAKES, id, 0};
    const view_window w = {0, end, pixel};
    moments m = {.most = most};
    ck_assert(view_stretches(a->view, &track, &w, add_moment, &m));
    return m;
}

/* Wakes in one pixel are one, with their number; the first few are found alone. */
START_TEST(wakes_in_pixels)
{
    asked a = ask_of_sample("go1.26-net.trace");
    json_t *made = ask_json(&a, 200, "tracks kind=0 limit=1000");
    const int64_t end = view_progress_of(a.view).end;
    const json_t *row;
    size_t n, together = 0;
    json_array_foreach(json_object_get(made, "tracks"), n, row)
    {
        const moments all = moments_of(&a, id_of(row), end, 0, UINT64_MAX);
        const moments few = moments_of(&a, id_of(row), end, end / 10, UINT64_MAX);
        ck_assert_uint_eq(all.count, all.stretches);
        ck_assert_uint_eq(few.count, all.count);
        ck_assert_uint_le(few.stretches, 11);
        ck_assert_uint_eq(moments_of(&a, id_of(row), end, 0, 2).stretches,
                          all.count < 2 ? all.count : 2);
        together += all.count > few.stretches;
    }
    ck_assert_uint_gt(together, 0);
    json_decref(made);
    asked_free(&a);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("view");
    TCase *parts = tcase_create("view");
    tcase_set_timeout(parts, 0);
    tcase_add_test(parts, windows);
    tcase_add_test(parts, unfinished);
    tcase_add_test(parts, failures);
    tcase_add_test(parts, lists);
    tcase_add_test(parts, traces);
    tcase_add_test(parts, wakes_in_pixels);
    suite_add_tcase(suite, parts);
    return run_suite(suite);
}
