/* test_view_api.c - the questions that a page asks of an index. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "asking.h"
#include "formats/common/numbers.h"
#include "formats/common/vector.h"
#include "formats/diagnose/measure.h"
#include "formats/view/index.h"
#include "formats/view/levels.h"
#include "formats/view/stretches.h"

/* ---- arguments --------------------------------------------------------------------------------
 */

static void check_error(const asked *a, unsigned status, const char *question, const char *message)
{
    json_t *made = ask_json(a, status, question);
    ck_assert_str_eq(text_of(made, "error"), message);
    json_decref(made);
}

START_TEST(wrong_arguments)
{
    asked a = ask_of_sample("go1.21-http.trace");
    static const char *const wrong[][2] = {
        {"trace x=1", "unknown argument x"},
        {"trace x", "unknown argument x"},
        {"tracks", "the argument kind is missing"},
        {"tracks kind", "kind: found \"\", expected a number from 0 to 14"},
        {"tracks kind=15", "kind: found \"15\", expected a number from 0 to 14"},
        {"tracks kind=-1", "kind: found \"-1\", expected a number from 0 to 14"},
        {"tracks kind=1x", "kind: found \"1x\", expected a number from 0 to 14"},
        {"tracks kind=0 kind=0", "kind: found \"0\", expected one value, not two"},
        {"tracks kind=0 sort=size", "sort: found \"size\", expected one of cost, begin, id, name"},
        {"tracks kind=0 limit=1001", "limit: found \"1001\", expected a number from 0 to 1000"},
        {"tracks kind=0 offset=18446744073709551616",
         "offset: found \"18446744073709551616\", expected a number from 0 to "
         "18446744073709551615"},
        {"tracks kind=0 from=9 until=9",
         "until: found \"9\", expected a time after `from`, which is 9"},
        {"tracks kind=0 from=-9223372036854775808",
         "from: found \"-9223372036854775808\", expected a number of ns"},
        {"tracks kind=0 pixel=--1", "pixel: found \"--1\", expected a number of ns"},
        {"window from=0 until=1", "the argument tracks is missing"},
        {"window until=1 tracks=0:1", "the argument from is missing"},
        {"window from=0 until=1 tracks=0:1,",
         "tracks: found \"0:1,\", expected tracks KIND:ID with commas between them; number 2 is "
         "none"},
        {"window from=0 until=1 tracks=0:1,15:1",
         "tracks: found \"0:1,15:1\", expected tracks KIND:ID with commas between them; number 2 "
         "is none"},
        {"window from=0 until=100000 tracks=0:1 pixel=4",
         "pixel: found \"4\", expected at least 5 ns, 1 of 20000 parts of the window"},
        {"window from=0 until=100000 tracks=0:1 pixel=-9",
         "pixel: found \"-9\", expected at least 5 ns, 1 of 20000 parts of the window"},
        {"names ids=1,,2", "ids: found \"1,,2\", expected numbers with commas between them; "
                           "number 2 is none"},
        {"names ids=1;2", "ids: found \"1;2\", expected numbers with commas between them; number "
                          "1 is none"},
        {"stack id=4294967296", "id: found \"4294967296\", expected a number from 0 to 4294967295"},
        {"trace 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17",
         "found 17 arguments, expected at most 16"},
        {"stack id=0123456789012345678901234567890123456789012345",
         "id: found \"0123456789012345678901234567890123456789...\", expected a number from 0 to "
         "4294967295"},
    };
    for (size_t n = 0; n < sizeof wrong / sizeof *wrong; n++)
        check_error(&a, 400, wrong[n][0], wrong[n][1]);
    check_error(&a, 404, "nothing", "there is no such question");
    check_error(&a, 404, "stack id=4294967295", "id: there is no stack of that number");
    check_error(&a, 404, "names ids=0,4294967295", "ids: there is no name of one of these numbers");
    asked_free(&a);
}
END_TEST

/* As many tracks as a question may have, and one more. */
START_TEST(many_tracks)
{
    asked a = ask_of_sample("go1.21-http.trace");
    for (size_t count = 200; count <= 201; count++) {
        char text[1024] = "window from=0 until=9 tracks=0:1";
        for (size_t n = 1; n < count; n++)
            strcat(text, ",0:1");
        view_reply reply = ask(&a, text);
        ck_assert_uint_eq(reply.status, count == 200 ? 200 : 400);
        free(reply.bytes);
    }
    asked_free(&a);
}
END_TEST

/* ---- what a trace has -------------------------------------------------------------------------
 */

START_TEST(beginning)
{
    const time_gap gaps[] = {{-5, 7}, {20, INT64_MAX}};
    asked a = ask_of_sample("go1.21-http.trace");
    view_api_set_version(a.api, "1.21");
    view_api_set_read(a.api, 1, 4);
    for (size_t n = 0; n < 102; n++)
        view_api_add_problem(a.api, "a <problem>");
    view_api_set_gaps(a.api, gaps, 2);
    json_t *made = ask_json(&a, 200, "trace");
    ck_assert_str_eq(json_string_value(json_array_get(json_object_get(made, "files"), 0)),
                     "a \"trace\"\xef\xbf\xbd");
    ck_assert_str_eq(text_of(made, "version"), "1.21");
    ck_assert_int_eq(member(made, "begin"), 0);
    ck_assert_int_eq(member(made, "end"), view_progress_of(a.view).end);
    ck_assert_int_eq(member(made, "events"), (long long)view_progress_of(a.view).events);
    ck_assert(json_is_false(json_object_get(made, "complete")));
    ck_assert_double_eq(json_real_value(json_object_get(made, "read")), 0.25);
    ck_assert_uint_eq(json_array_size(json_object_get(made, "problems")), 100);
    ck_assert_int_eq(member(made, "problem_count"), 102);
    const json_t *second = json_array_get(json_object_get(made, "gaps"), 1);
    ck_assert_uint_eq(json_array_size(json_object_get(made, "gaps")), 2);
    ck_assert_int_eq(json_integer_value(json_array_get(second, 0)), 20);
    ck_assert_int_eq(json_integer_value(json_array_get(second, 1)), INT64_MAX);
    ck_assert_uint_eq(json_array_size(json_object_get(made, "states")), DO_KINDS);
    ck_assert_str_eq(text_of(json_object_get(made, "ranges"), "1"), "GC");
    ck_assert_str_eq(text_of(json_object_get(made, "metrics"), "1"), "GOMAXPROCS");
    ck_assert(json_is_null(json_object_get(made, "failed")));
    json_decref(made);
    view_api_end(a.api, "it failed");
    made = ask_json(&a, 200, "trace");
    ck_assert(json_is_true(json_object_get(made, "complete")));
    ck_assert_double_eq(json_real_value(json_object_get(made, "read")), 1);
    ck_assert_str_eq(text_of(made, "failed"), "it failed");
    json_decref(made);
    asked_free(&a);
}
END_TEST

START_TEST(numbers)
{
    asked a = ask_of_sample("go1.21-http.trace");
    const stacks *names = view_names(a.view);
    json_t *made = ask_printf(&a, 200, "names ids=0,%zu,1", names->name_count);
    ck_assert_uint_eq(json_array_size(made), 3);
    ck_assert_str_eq(json_string_value(json_array_get(made, 0)), "");
    size_t size;
    const char *text = stacks_text(names, (uint32_t)names->name_count, &size);
    ck_assert_mem_eq(json_string_value(json_array_get(made, 1)), text, size);
    json_decref(made);
    made = ask_json(&a, 200, "stack id=0");
    ck_assert_uint_eq(json_array_size(made), 0);
    json_decref(made);
    made = ask_printf(&a, 200, "stack id=%zu", names->stack_count);
    ck_assert_uint_eq(json_array_size(made), stacks_depth(names, (uint32_t)names->stack_count));
    const json_t *frame = json_array_get(made, 0);
    ck_assert_str_ne(text_of(frame, "function"), "");
    ck_assert_str_ne(text_of(frame, "file"), "");
    ck_assert_int_gt(member(frame, "line"), 0);
    json_decref(made);
    asked_free(&a);
}
END_TEST

/* A name of any length and any bytes is cut between two characters. */
START_TEST(long_names)
{
    static const char euro[] = "\xe2\x82\xac";
    asked a = ask_of_sample("go1.21-empty.trace");
    for (size_t before = 0; before < 3; before++) {
        char text[5000];
        memset(text, 'x', before);
        for (size_t n = before; n + 3 <= sizeof text; n += 3)
            memcpy(text + n, euro, 3);
        const uint32_t name = stacks_name(a.view->names, text, 4800 + before);
        json_t *made = ask_printf(&a, 200, "names ids=%u", (unsigned)name);
        const char *shown = json_string_value(json_array_get(made, 0));
        const size_t size = strlen(shown);
        ck_assert_uint_ge(size, 1000);
        ck_assert_uint_le(size, 1003);
        ck_assert_mem_eq(shown, text, size - 3);
        ck_assert_str_eq(shown + size - 3, "...");
        json_decref(made);
    }
    asked_free(&a);
}
END_TEST

/* ---- tracks -----------------------------------------------------------------------------------
 */

static const view_listed *find_track(const listed *l, uint64_t id)
{
    for (size_t n = 0; n < l->count; n++)
        if (l->list[n].track.id == id)
            return &l->list[n];
    return NULL;
}

static int64_t cost_of(const json_t *track)
{
    const json_t *ns = json_object_get(track, "ns");
    ck_assert_uint_eq(json_array_size(ns), DO_KINDS);
    return json_integer_value(json_array_get(ns, DO_RUN)) +
           json_integer_value(json_array_get(ns, DO_ASSIST)) +
           json_integer_value(json_array_get(ns, DO_RUNNABLE)) +
           json_integer_value(json_array_get(ns, DO_LOCK));
}

/* Whether two rows are in that order. */
static bool is_ordered(const char *order, const json_t *a, const json_t *b)
{
    int64_t left = 0, right = 0;
    if (strcmp(order, "cost") == 0) {
        left = -cost_of(a);
        right = -cost_of(b);
    } else if (strcmp(order, "begin") == 0) {
        left = member(a, "begin");
        right = member(b, "begin");
    } else if (strcmp(order, "name") == 0) {
        right = strcmp(text_of(b, "name"), text_of(a, "name"));
    }
    return left < right || (left == right && id_of(a) < id_of(b));
}

/* Pages have all tracks that view_list finds, each once and in order, with the same sums. */
static void check_pages(const asked *a, view_kind kind, const char *order, const view_window *w)
{
    listed l = {0};
    size_t count = 0;
    json_t *last = NULL;
    ck_assert(view_list(a->view, kind, UINT32_MAX, w, keep_track, &l));
    for (size_t offset = 0; offset <= l.count; offset += 7) {
        json_t *made = ask_printf(
            a, 200, "tracks kind=%d sort=%s offset=%zu limit=7 from=%lld until=%lld pixel=%lld",
            (int)kind, order, offset, (long long)w->from, (long long)w->until, (long long)w->pixel);
        const json_t *rows = json_object_get(made, "tracks"), *row;
        size_t n;
        ck_assert_int_eq(member(made, "total"), (long long)l.count);
        json_array_foreach(rows, n, row)
        {
            const view_listed *t = find_track(&l, id_of(row));
            ck_assert_ptr_nonnull(t);
            ck_assert_int_eq(member(row, "begin"), t->begin);
            ck_assert_int_eq(member(row, "end"), t->end);
            ck_assert_int_eq(member(row, "count"), (long long)t->count);
            ck_assert_int_eq(member(row, "group"), t->track.group);
            for (size_t k = 0; k < DO_KINDS; k++)
                ck_assert_int_eq(json_integer_value(json_array_get(json_object_get(row, "ns"), k)),
                                 t->ns[k]);
            ck_assert(!last || is_ordered(order, last, row));
            json_decref(last);
            last = json_incref((json_t *)row);
            count++;
        }
        json_decref(made);
    }
    ck_assert_uint_eq(count, l.count);
    json_decref(last);
    free(l.list);
}

START_TEST(pages)
{
    static const char *const orders[] = {"cost", "begin", "id", "name"};
    static const char *const samples[] = {"go1.21-http.trace", "go1.26-net.trace",
                                          "go1.19-user.trace"};
    for (size_t s = 0; s < sizeof samples / sizeof *samples; s++) {
        asked a = ask_of_sample(samples[s]);
        const int64_t end = view_progress_of(a.view).end;
        const view_window all = {0, end + 1, end / 100}, some = {end / 3, end / 2, end / 3000};
        for (view_kind kind = 0; kind < VIEW_KINDS; kind++)
            for (size_t n = 0; n < sizeof orders / sizeof *orders; n++) {
                check_pages(&a, kind, orders[n], &all);
                check_pages(&a, kind, orders[n], &some);
            }
        asked_free(&a);
    }
}
END_TEST

/* Goroutines of a group, and the names of both. */
START_TEST(members)
{
    asked a = ask_of_sample("go1.21-http.trace");
    json_t *made = ask_json(&a, 200, "tracks kind=10 limit=1000");
    const json_t *groups = json_object_get(made, "tracks"), *group;
    size_t n, i;
    ck_assert_uint_gt(json_array_size(groups), 5);
    json_array_foreach(groups, n, group)
    {
        json_t *own = ask_printf(&a, 200, "tracks kind=0 group=%s limit=1000",
                                 text_of(group, "id"));
        const json_t *list = json_object_get(own, "tracks"), *row;
        ck_assert_uint_gt(json_array_size(list), 0);
        json_array_foreach(list, i, row)
            ck_assert_str_eq(text_of(row, "name"), text_of(group, "name"));
        json_decref(own);
    }
    json_decref(made);
    made = ask_json(&a, 200, "tracks kind=9 sort=id");
    ck_assert_str_eq(text_of(json_array_get(json_object_get(made, "tracks"), 0), "name"),
                     "GOMAXPROCS");
    json_decref(made);
    asked_free(&a);
}
END_TEST

/* So many that only what orders them is in memory. */
START_TEST(many)
{
    enum { COUNT = 20000 };
    asked a = ask_of_sample("go1.21-empty.trace");
    for (uint64_t n = 0; n < COUNT; n++) {
        level_place place = {0};
        const int64_t begin = (int64_t)(1000000 + 10 * n);
        const level_item item = {.begin = begin,
                                 .end = begin + 1 + (int64_t)(n * 7919 % COUNT),
                                 .id = 1000 + n,
                                 .kind = VIEW_TASK,
                                 .state = DO_RUN};
        levels_add(&a.view->levels, &place, &item, NULL);
    }
    json_t *made = ask_json(&a, 200, "tracks kind=3 sort=cost offset=5000 limit=10 until=2000000");
    const json_t *row;
    size_t n;
    ck_assert_int_eq(member(made, "total"), COUNT);
    json_array_foreach(json_object_get(made, "tracks"), n, row)
    {
        ck_assert_int_eq(cost_of(row), COUNT - 5000 - (int64_t)n);
        ck_assert_int_eq(member(row, "count"), 1);
        ck_assert_int_eq(member(row, "end") - member(row, "begin"), cost_of(row));
    }
    ck_assert_uint_eq(n, 10);
    json_decref(made);
    asked_free(&a);
}
END_TEST

/* ---- windows ----------------------------------------------------------------------------------
 */

typedef struct reading {
    const unsigned char *at, *end;
    int64_t time;
    size_t count;
} reading;

/* The next stretch of the answer is that of the index. */
static bool check_stretch(void *ctx, const view_stretch *s)
{
    reading *r = ctx;
    view_stretch got;
    ck_assert(stretch_get(&r->at, r->end, &r->time, &got));
    stretch_complete(&got);
    ck_assert_int_eq(got.begin, s->begin);
    ck_assert_int_eq(got.end, s->end);
    ck_assert_uint_eq(got.count, s->count);
    ck_assert_mem_eq(got.ns, s->ns, sizeof got.ns);
    ck_assert_int_eq(got.longest, s->longest);
    ck_assert_int_eq(got.longest_begin, s->longest_begin);
    ck_assert_uint_eq(got.other, s->other);
    ck_assert_uint_eq(got.reason, s->reason);
    ck_assert_uint_eq(got.stack, s->stack);
    ck_assert_uint_eq(got.state, s->state);
    r->count++;
    return true;
}

static size_t check_window(const asked *a, const view_track *tracks, size_t count,
                           const view_window *w)
{
    char text[4096];
    size_t used = (size_t)snprintf(
        text, sizeof text, "window from=%lld until=%lld pixel=%lld tracks=", (long long)w->from,
        (long long)w->until, (long long)w->pixel);
    for (size_t n = 0; n < count; n++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%d:%llu", n ? "," : "",
                                 (int)tracks[n].kind, (unsigned long long)tracks[n].id);
    view_reply reply = ask(a, text);
    ck_assert_uint_eq(reply.status, 200);
    ck_assert_str_eq(reply.type, "application/octet-stream");
    const unsigned char *at = (const unsigned char *)reply.bytes, *const end = at + reply.size;
    reading r = {0};
    for (size_t n = 0; n < count; n++) {
        ck_assert(at < end);
        const uint64_t size = unpack_number(&at);
        ck_assert_uint_le(size, (uint64_t)(end - at));
        r.at = at;
        r.end = at += size;
        r.time = w->from;
        ck_assert(view_stretches(a->view, &tracks[n], w, check_stretch, &r));
        ck_assert_ptr_eq(r.at, r.end);
    }
    ck_assert_ptr_eq(at, end);
    free(reply.bytes);
    return r.count;
}

START_TEST(windows)
{
    static const char *const samples[] = {"go1.21-http.trace", "go1.26-net.trace",
                                          "go1.19-user.trace"};
    for (size_t s = 0; s < sizeof samples / sizeof *samples; s++) {
        asked a = ask_of_sample(samples[s]);
        const int64_t end = view_progress_of(a.view).end;
        const view_window all = {-end, 2 * end, end / 100}, some = {end / 3, end / 2, end / 5000},
                          small = {end / 4, end / 4 + 19999, 0};
        listed l = {0};
        size_t seen = 0;
        for (view_kind kind = 0; kind < VIEW_KINDS; kind++)
            ck_assert(view_list(a.view, kind, UINT32_MAX, &all, keep_track, &l));
        for (size_t first = 0; first < l.count; first += 100) {
            view_track tracks[100];
            const size_t count = l.count - first < 100 ? l.count - first : 100;
            for (size_t n = 0; n < count; n++)
                tracks[n] = l.list[first + n].track;
            seen += check_window(&a, tracks, count, &all);
            seen += check_window(&a, tracks, count, &some);
            seen += check_window(&a, tracks, count, &small);
        }
        ck_assert_uint_gt(seen, 100);
        free(l.list);
        asked_free(&a);
    }
}
END_TEST

/* ---- intervals --------------------------------------------------------------------------------
 */

static json_t *ask_interval(const asked *a, unsigned status, const view_track *t, int64_t at)
{
    return ask_printf(a, status, "interval kind=%d id=%llu at=%lld", (int)t->kind,
                      (unsigned long long)t->id, (long long)at);
}

typedef struct kept {
    view_stretch *list;
    size_t count, room;
} kept;

static bool keep_stretch(void *ctx, const view_stretch *s)
{
    kept *k = ctx;
    k->list = vector_room(k->list, &k->room, k->count, sizeof *k->list);
    ck_assert_ptr_nonnull(k->list);
    k->list[k->count++] = *s;
    return true;
}

static void check_text(const asked *a, const json_t *of, const char *name, uint32_t number)
{
    size_t size;
    const char *text = stacks_text(view_names(a->view), number, &size);
    ck_assert_uint_eq(strlen(text_of(of, name)), size);
    ck_assert_mem_eq(text_of(of, name), text, size);
}

/* What the goroutine woke while it did that. */
static void check_wakes(const kept *wakes, const view_stretch *s, const json_t *made)
{
    const json_t *list = json_object_get(made, "wakes");
    long long count = 0;
    for (size_t n = 0; n < wakes->count; n++) {
        const view_stretch *w = &wakes->list[n];
        if (w->begin < s->begin || w->begin >= s->end)
            continue;
        const json_t *row = json_array_get(list, (size_t)count);
        if (count++ >= 20)
            continue;
        ck_assert_int_eq(member(row, "time"), w->begin);
        ck_assert_int_eq(member(row, "stack"), w->stack);
        ck_assert_uint_eq(strtoull(text_of(row, "goroutine"), NULL, 10), w->other);
    }
    ck_assert_int_eq(member(made, "wake_count"), count);
    ck_assert_uint_eq(json_array_size(list), (size_t)(count < 20 ? count : 20));
}

static size_t check_cause(const asked *a, const listed *all, const view_stretch *s,
                          const json_t *made)
{
    const json_t *cause = json_object_get(made, "cause");
    ck_assert_int_eq(json_is_null(cause), s->other == 0);
    if (!s->other)
        return 0;
    const view_listed *by = find_track(all, s->other);
    ck_assert_uint_eq(strtoull(text_of(cause, "goroutine"), NULL, 10), s->other);
    if (by)
        check_text(a, cause, "name", by->track.group);
    return 1;
}

/* Each interval of a goroutine, from its beginning, its middle and its last ns. */
static size_t check_intervals(const asked *a, const listed *all, const view_listed *of)
{
    const view_window w = {INT64_MIN, INT64_MAX, 0};
    const view_track own = {VIEW_WAKES, of->track.id, 0};
    kept k = {0}, wakes = {0};
    size_t causes = 0;
    ck_assert(view_stretches(a->view, &of->track, &w, keep_stretch, &k));
    ck_assert(view_stretches(a->view, &own, &w, keep_stretch, &wakes));
    for (size_t n = 0; n < k.count; n++) {
        const view_stretch *s = &k.list[n];
        if (s->begin == s->end)
            continue;
        const int64_t at[] = {s->begin, s->begin + (s->end - s->begin) / 2, s->end - 1};
        for (size_t i = 0; i < 3; i++) {
            json_t *made = ask_interval(a, 200, &of->track, at[i]);
            ck_assert_int_eq(member(made, "begin"), s->begin);
            ck_assert_int_eq(member(made, "end"), s->end);
            ck_assert_int_eq(member(made, "state"), s->state);
            ck_assert_int_eq(member(made, "stack"), s->stack);
            check_text(a, made, "reason", s->reason);
            check_text(a, made, "name", of->track.group);
            if (n + 1 < k.count && k.list[n + 1].end > k.list[n + 1].begin)
                ck_assert_int_eq(member(made, "end_stack"), k.list[n + 1].stack);
            causes += check_cause(a, all, s, made);
            check_wakes(&wakes, s, made);
            json_decref(made);
        }
    }
    free(k.list);
    free(wakes.list);
    return causes;
}

/* The proc of what a goroutine does shows that goroutine at that time. */
static void check_procs(const asked *a, const view_listed *of)
{
    const view_window w = {INT64_MIN, INT64_MAX, 0};
    kept k = {0};
    ck_assert(view_stretches(a->view, &of->track, &w, keep_stretch, &k));
    for (size_t n = 0; n < k.count; n += 5) {
        json_t *made = ask_interval(a, 200, &of->track, k.list[n].begin);
        const view_track g = {VIEW_GOROUTINE, strtoull(text_of(made, "goroutine"), NULL, 10), 0};
        json_t *back = ask_interval(a, 200, &g, k.list[n].begin);
        ck_assert_int_eq(member(back, "begin"), k.list[n].begin);
        ck_assert_uint_eq(strtoull(text_of(back, "proc"), NULL, 10), of->track.id);
        ck_assert_str_eq(text_of(back, "name"), text_of(made, "name"));
        json_decref(made);
        json_decref(back);
    }
    free(k.list);
}

START_TEST(intervals)
{
    static const char *const samples[] = {"go1.21-http.trace", "go1.26-net.trace",
                                          "go1.23-lock.trace"};
    const view_window w = {INT64_MIN, INT64_MAX, 0};
    for (size_t s = 0; s < sizeof samples / sizeof *samples; s++) {
        asked a = ask_of_sample(samples[s]);
        listed all = {0}, procs = {0};
        size_t causes = 0;
        ck_assert(view_list(a.view, VIEW_GOROUTINE, UINT32_MAX, &w, keep_track, &all));
        ck_assert(view_list(a.view, VIEW_PROC, UINT32_MAX, &w, keep_track, &procs));
        for (size_t n = 0; n < all.count; n++)
            causes += check_intervals(&a, &all, &all.list[n]);
        ck_assert_uint_gt(causes, 10);
        for (size_t n = 0; n < procs.count; n++)
            check_procs(&a, &procs.list[n]);
        check_error(&a, 404, "interval kind=0 id=123456789 at=0",
                    "the track does nothing at that time");
        free(all.list);
        free(procs.list);
        asked_free(&a);
    }
}
END_TEST

/* ---- findings ---------------------------------------------------------------------------------
 */

static gotrace_reader *open_cause(const char *name, gotrace_source **source)
{
    char path[256];
    gotrace_reader *reader;
    snprintf(path, sizeof path, "testdata/causes/%s", name);
    ck_assert_int_eq(gotrace_source_open(path, NULL, source, NULL), GOTRACE_OK);
    ck_assert_int_eq(gotrace_reader_open(*source, NULL, &reader, NULL), GOTRACE_OK);
    return reader;
}

/* The findings of a recorded program with that planted cause. */
static void check_findings(const char *name, const char *cause)
{
    gotrace_source *source;
    gotrace_reader *reader = open_cause(name, &source);
    asked a = ask_of_sample("go1.21-empty.trace");
    selection what = {0};
    select_job select = {.what = &what, .range = {INT64_MIN, INT64_MAX}};
    diagnosis d;
    measures *m = measures_new(NULL);
    ck_assert_ptr_nonnull(m);
    ck_assert_int_eq(measures_read(m, reader, 1, &select, NULL), GOTRACE_END);
    ck_assert(diagnosis_make(&d, m));
    json_t *made = ask_json(&a, 200, "findings");
    ck_assert(json_is_false(json_object_get(made, "ready")));
    ck_assert(json_is_null(json_object_get(made, "failed")));
    json_decref(made);
    view_api_fail_diagnosis(a.api, "a reason");
    made = ask_json(&a, 200, "findings");
    ck_assert(json_is_false(json_object_get(made, "ready")));
    ck_assert_str_eq(text_of(made, "failed"), "a reason");
    json_decref(made);
    view_api_set_diagnosis(a.api, &d, m->stacks);
    made = ask_json(&a, 200, "findings");
    ck_assert(json_is_true(json_object_get(made, "ready")));
    const json_t *list = json_object_get(made, "findings"), *first = json_array_get(list, 0), *one;
    size_t n;
    ck_assert_uint_eq(json_array_size(list), d.count);
    ck_assert_str_eq(text_of(first, "id"), cause);
    ck_assert_ptr_nonnull(strstr(text_of(made, "verdict"), text_of(first, "title")));
    ck_assert_uint_eq(json_array_size(json_object_get(made, "figures")), 3);
    json_array_foreach(list, n, one)
    {
        const finding *f = &d.list[n];
        const json_t *command = json_object_get(one, "command");
        ck_assert_str_ne(text_of(one, "text"), "");
        ck_assert_int_eq(member(one, "ns"), f->ns);
        ck_assert_double_eq_tol(json_real_value(json_object_get(one, "share")), f->share, 1e-4);
        ck_assert_uint_eq(json_array_size(json_object_get(one, "stack")),
                          stacks_depth(m->stacks, f->stack));
        if (json_is_string(command))
            ck_assert_ptr_nonnull(strstr(json_string_value(command), "gotrace "));
        if (f->longest > 0)
            ck_assert_int_eq(member(one, "until") - member(one, "at"), f->longest);
        else
            ck_assert(json_is_null(json_object_get(one, "at")));
    }
    json_decref(made);
    measures_free(m);
    gotrace_reader_close(reader);
    gotrace_source_close(source);
    asked_free(&a);
}

START_TEST(findings)
{
    check_findings("go1.27-lock.contended-http-3.trace.zst", "lock.contended");
    check_findings("go1.27-process.frozen-http-3.trace.zst", "process.frozen");
    check_findings("go1.19-goroutine.leak-stage-1.trace.zst", "goroutine.leak");
}
END_TEST

/* ---- while the index is built -----------------------------------------------------------------
 */

static void *build_index(void *ctx)
{
    asked *a = ctx;
    gotrace_source *source;
    gotrace_reader *reader = open_cause("go1.22-gc.cpu-crowd-3.trace.zst", &source);
    view_build(a->view, reader, 1);
    gotrace_reader_close(reader);
    gotrace_source_close(source);
    view_api_end(a->api, NULL);
    return NULL;
}

/* Any question is answered, with what there is. */
START_TEST(meanwhile)
{
    asked a = {.view = view_new()};
    pthread_t thread;
    bool complete = false;
    long long end = 0;
    ck_assert_ptr_nonnull(a.view);
    a.view->levels.most_items = 5000;
    a.api = view_api_new(a.view, "x");
    ck_assert_ptr_nonnull(a.api);
    ck_assert_int_eq(pthread_create(&thread, NULL, build_index, &a), 0);
    while (!complete) {
        json_t *made = ask_json(&a, 200, "trace");
        ck_assert_int_ge(member(made, "end"), end);
        end = member(made, "end");
        complete = json_is_true(json_object_get(made, "complete"));
        json_decref(made);
        made = ask_json(&a, 200, "tracks kind=0");
        const json_t *first = json_array_get(json_object_get(made, "tracks"), 0);
        if (first && end > 0)
            json_decref(ask_printf(&a, 200, "path goroutine=%s from=0 until=%lld",
                                   text_of(first, "id"), end));
        json_decref(made);
        if (end > 0) {
            char text[128];
            snprintf(text, sizeof text, "window from=0 until=%lld tracks=0:1,1:0,12:0", end);
            view_reply reply = ask(&a, text);
            ck_assert_uint_eq(reply.status, 200);
            free(reply.bytes);
        }
    }
    pthread_join(thread, NULL);
    ck_assert_int_gt(end, 0);
    asked_free(&a);
}
END_TEST

/* ---- several traces ---------------------------------------------------------------------------
 */

static bool write_lines(const void *ctx, out *o)
{
    out_str(o, ctx ? ctx : "");
    return ctx;
}

/* Two traces with names of any bytes have questions of their own. */
START_TEST(several)
{
    view *index = view_new();
    view_api *apis[] = {view_api_new(index, "a\"</script>"), view_api_new(index, "\xff\n")};
    asked a = {.api = view_api_new_of(apis, 2, true)};
    ck_assert(index && apis[0] && apis[1] && a.api);
    json_t *made = ask_json(&a, 200, "traces"), *files = json_object_get(made, "files");
    ck_assert_uint_eq(json_array_size(files), 2);
    ck_assert_str_eq(json_string_value(json_array_get(files, 0)), "a\"</script>");
    ck_assert(json_is_true(json_object_get(made, "compared")));
    json_decref(made);
    check_error(&a, 404, "trace", "there is no such question");
    check_error(&(asked){.api = apis[1]}, 404, "diff", "there is no such question");
    check_error(&a, 400, "traces x=1", "unknown argument x");
    static const char *const lines[] = {"{\"ready\":false,\"failed\":null}\n",
                                        "{\"ready\":false,\"failed\":\"why\"}\n", "{}\n{}\n"};
    for (size_t n = 0; n < 3; n++) {
        if (n == 1)
            view_api_end(a.api, "why");
        if (n == 2)
            view_api_set_diff(a.api, write_lines, lines[n]);
        view_reply reply = ask(&a, "diff");
        ck_assert_uint_eq(reply.size, strlen(lines[n]));
        ck_assert_mem_eq(reply.bytes, lines[n], reply.size);
        ck_assert_str_eq(reply.type, "application/jsonl");
        free(reply.bytes);
    }
    view_reply reply;
    view_api_set_diff(a.api, write_lines, NULL);
    ck_assert(!view_api_answer(a.api, "diff", NULL, 0, &reply));
    view_api_free(a.api);
    view_api_free(apis[0]);
    view_api_free(apis[1]);
    view_free(index);
}
END_TEST

/* Any time of a clock is answered exactly. */
START_TEST(clocks)
{
    asked a = ask_of_sample("go1.21-http.trace");
    static const int64_t wall[] = {INT64_MIN, -1, INT64_MAX};
    json_t *made = ask_json(&a, 200, "trace");
    ck_assert_ptr_null(json_object_get(made, "clock"));
    json_decref(made);
    for (size_t n = 0; n < 3; n++) {
        view_api_set_clock(a.api, wall[n]);
        made = ask_json(&a, 200, "trace");
        ck_assert_int_eq(strtoll(text_of(made, "clock"), NULL, 10), wall[n]);
        json_decref(made);
    }
    asked_free(&a);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("view_api");
    TCase *parts = tcase_create("view_api");
    tcase_set_timeout(parts, 0);
    tcase_add_test(parts, wrong_arguments);
    tcase_add_test(parts, many_tracks);
    tcase_add_test(parts, beginning);
    tcase_add_test(parts, numbers);
    tcase_add_test(parts, long_names);
    tcase_add_test(parts, pages);
    tcase_add_test(parts, members);
    tcase_add_test(parts, many);
    tcase_add_test(parts, windows);
    tcase_add_test(parts, intervals);
    tcase_add_test(parts, findings);
    tcase_add_test(parts, meanwhile);
    tcase_add_test(parts, several);
    tcase_add_test(parts, clocks);
    suite_add_tcase(suite, parts);
    return run_suite(suite);
}
