/* test_wanted.c - gotrace_reader_select: which events are returned, and that nothing else changes.
 */
#include <stdlib.h>
#include <string.h>

#include "reading.h"

enum { MOST = 4000 }; /* goroutines */

typedef struct events {
    gotrace_event *items;
    bool *named; /* whether the stack of the event shows where its goroutine starts */
    size_t count, room;
    gotrace_status status;
    gotrace_summary summary;
    uint64_t problems;
    gotrace_goroutine last[MOST]; /* at the end, by id; id 0: none */
} events;

typedef struct wanted {
    uint32_t kinds, states;
    uint32_t lasting; /* gotrace_state: these, for at least: */
    int64_t least;
} wanted;

static bool count_problem(void *ctx, const gotrace_error *problem)
{
    (void)problem;
    ++*(uint64_t *)ctx;
    return true;
}

/* Whether the outermost frame of a stack has a function. Until 1.6 no frame has. */
static bool is_named(const gotrace_reader *reader, uint64_t stack)
{
    static gotrace_frame frames[1024];
    size_t depth = gotrace_reader_stack(reader, stack, frames, 1024);
    return depth > 0 &&
           (frames[depth - 1].function_size > 0 || gotrace_reader_summary(reader)->version < 7);
}

static void find_last(gotrace_reader *reader, events *all)
{
    for (uint64_t id = 1; id < MOST; id++) {
        const gotrace_goroutine *g = gotrace_reader_goroutine(reader, id);
        if (g)
            all->last[id] = *g;
    }
}

/* NULL: all events. */
static events read_events(const blob *trace, const wanted *w)
{
    events all = {0};
    gotrace_config config = {.on_problem = count_problem, .callback_ctx = &all.problems};
    gotrace_source *source = NULL;
    gotrace_reader *reader = NULL;
    const gotrace_event *e;
    gotrace_source_memory(trace->bytes, trace->size, NULL, &source, NULL);
    if (gotrace_reader_open(source, &config, &reader, NULL) == GOTRACE_OK) {
        if (w)
            gotrace_reader_select(reader, w->kinds, w->states);
        for (int state = 0; w && state < 8; state++)
            if (w->lasting >> state & 1)
                gotrace_reader_select_lasting(reader, (gotrace_state)state, w->least);
        while ((all.status = gotrace_reader_next(reader, &e)) == GOTRACE_EVENT) {
            if (all.count == all.room) {
                all.room = all.room * 2 + 100;
                all.items = realloc(all.items, all.room * sizeof *all.items);
                all.named = realloc(all.named, all.room * sizeof *all.named);
                ck_assert(all.items && all.named);
            }
            all.named[all.count] = is_named(reader, e->stack);
            all.items[all.count++] = *e;
        }
        all.summary = *gotrace_reader_summary(reader);
        if (all.status == GOTRACE_END)
            find_last(reader, &all);
    }
    gotrace_reader_close(reader);
    gotrace_source_close(source);
    return all;
}

static void events_free(events *all)
{
    free(all->items);
    free(all->named);
}

static bool same(const gotrace_event *a, const gotrace_event *b)
{
    return a->time == b->time && a->offset == b->offset && a->type == b->type &&
           a->kind == b->kind && a->from == b->from && a->to == b->to && a->flags == b->flags &&
           a->goroutine == b->goroutine && a->subject == b->subject && a->stack == b->stack &&
           a->proc == b->proc && a->thread == b->thread && a->cause == b->cause &&
           a->start_stack == b->start_stack && a->text_size == b->text_size &&
           a->generation == b->generation;
}

static bool changes_goroutine(const gotrace_event *e)
{
    return e->kind == GOTRACE_KIND_TRANSITION && e->resource == GOTRACE_RESOURCE_GOROUTINE;
}

/* Whether an event must be returned for itself. */
static bool must_be(const gotrace_event *e, const wanted *w)
{
    if (w->kinds >> e->kind & 1 || e->flags & GOTRACE_EVENT_SUSPECT)
        return true;
    if (!w->states || !changes_goroutine(e) || e->from == e->to)
        return false;
    return e->flags & GOTRACE_EVENT_INITIAL || w->states >> e->from & 1 || w->states >> e->to & 1;
}

/* Whether it may be returned because it shows where a goroutine starts. */
static bool may_start(const events *all, size_t n, const wanted *w)
{
    const gotrace_event *e = &all->items[n];
    bool own = e->goroutine == e->subject && all->named[n];
    return w->states && changes_goroutine(e) &&
           (own || e->from == GOTRACE_STATE_NOT_EXIST || e->flags & GOTRACE_EVENT_INITIAL);
}

/* Whether an earlier event, from the creation on, shows where the goroutine of the n-th starts. */
static bool was_shown(const events *all, size_t n, bool *created)
{
    const gotrace_event *e = &all->items[n];
    *created = false;
    while (n-- > 0) {
        const gotrace_event *before = &all->items[n];
        if (!changes_goroutine(before) || before->subject != e->subject)
            continue;
        if (before->from == GOTRACE_STATE_NOT_EXIST && before->start_stack)
            return *created = true;
        if (before->goroutine == before->subject && all->named[n])
            return true;
    }
    return false;
}

static void check(const blob *trace, const events *all, const wanted *w, bool damaged)
{
    events some = read_events(trace, w);
    size_t n = 0;
    ck_assert_int_eq(some.status, all->status);
    ck_assert_uint_eq(some.problems, all->problems);
    ck_assert_int_eq(some.summary.duration, all->summary.duration);
    ck_assert_uint_eq(some.summary.events, all->summary.events);
    ck_assert_uint_eq(some.summary.goroutines_ended, all->summary.goroutines_ended);
    for (size_t i = 0; i < all->count; i++) {
        const gotrace_event *e = &all->items[i];
        bool returned = n < some.count && same(&some.items[n], e), created;
        n += returned;
        if (must_be(e, w))
            ck_assert_msg(returned, "event %zu is not returned: kinds %x, states %x", i, w->kinds,
                          w->states);
        else if (!may_start(all, i, w))
            ck_assert_msg(!returned, "event %zu is returned: kinds %x, states %x", i, w->kinds,
                          w->states);
        else if (!damaged && !(e->flags & GOTRACE_EVENT_INITIAL) && e->goroutine == e->subject)
            ck_assert_msg(returned || was_shown(all, i, &created),
                          "event %zu shows a start and is not returned", i);
    }
    ck_assert_uint_eq(n, some.count);
    events_free(&some);
}

static void check_all(const blob *trace, bool damaged)
{
    static const uint32_t lives = 1U << GOTRACE_STATE_UNDETERMINED | 1U << GOTRACE_STATE_NOT_EXIST;
    static const wanted ways[] = {
        {.kinds = 0, .states = 0},
        {.kinds = UINT32_MAX, .states = 0},
        {.kinds = 0, .states = lives},
        {.kinds = 1U << GOTRACE_KIND_LOG | 1U << GOTRACE_KIND_SYNC, .states = 0},
        {.kinds = 1U << GOTRACE_KIND_REGION_BEGIN, .states = lives},
        {.kinds = 1U << GOTRACE_KIND_REGION_END | 1U << GOTRACE_KIND_SAMPLE,
         .states = 1U << GOTRACE_STATE_WAITING},
        {.kinds = 1U << GOTRACE_KIND_NONE, .states = 1U << GOTRACE_STATE_RUNNABLE},
        {.kinds = 1U << GOTRACE_KIND_SYSCALL, .states = lives | 1U << GOTRACE_STATE_SYSCALL},
        {.kinds = 1U << GOTRACE_KIND_RANGE_BEGIN, .states = 1U << GOTRACE_STATE_RUNNING},
    };
    events all = read_events(trace, NULL);
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        check(trace, &all, &ways[i], damaged);
    events_free(&all);
}

/* ---- gotrace_reader_select_lasting ---- */

/* Follows a goroutine through all events. */
typedef struct follower {
    uint8_t state;
    int64_t since; /* GOTRACE_NO_TIME: before the trace */
} follower;

static bool ends_run(const gotrace_event *e, const wanted *w)
{
    return e->kind == GOTRACE_KIND_SYSCALL && w->lasting >> GOTRACE_STATE_RUNNING & 1;
}

/* Returns whether the event must be returned, and in *may whether it may; sets *since. */
static bool follow(follower *g, const gotrace_event *e, const wanted *w, bool beginning,
                   int64_t *since)
{
    bool call = ends_run(e, w);
    uint8_t from = call ? GOTRACE_STATE_RUNNING : e->from;
    bool selects = w->lasting >> from & 1;
    int64_t began = g->since;
    bool known = began != GOTRACE_NO_TIME;
    int64_t lasted = known && began < e->time ? e->time - began
                                              : 0; /* it may end before it began */
    g->state = call ? GOTRACE_STATE_RUNNING : e->to;
    g->since = beginning || e->from == GOTRACE_STATE_UNDETERMINED ? GOTRACE_NO_TIME : e->time;
    if (call)
        g->since = beginning ? GOTRACE_NO_TIME : e->time;
    *since = selects ? began : GOTRACE_NO_TIME;
    if (selects && (!known || lasted >= w->least))
        return true;
    return !call && (w->states >> e->to & 1 || (!selects && w->states >> from & 1));
}

static bool is_metric(const gotrace_event *e)
{
    return e->metric == GOTRACE_METRIC_GOMAXPROCS;
}

static void check_lasting(const blob *trace, const events *all, const wanted *w)
{
    static follower goroutines[MOST];
    events some = read_events(trace, w);
    bool v1 = all->summary.version < GOTRACE_FIRST_V2, beginning = v1;
    size_t n = 0;
    for (size_t i = 0; i < MOST; i++)
        goroutines[i] = (follower){GOTRACE_STATE_UNDETERMINED, GOTRACE_NO_TIME};
    ck_assert_int_eq(some.status, all->status);
    for (size_t i = 0; i < all->count; i++) {
        const gotrace_event *e = &all->items[i];
        bool returned = n < some.count && same(&some.items[n], e);
        bool change = changes_goroutine(e) && e->from != e->to;
        bool suspect = e->flags & GOTRACE_EVENT_SUSPECT;
        uint64_t id = change ? e->subject : e->goroutine;
        int64_t since;
        n += returned;
        beginning = beginning && !(v1 && is_metric(e));
        if ((!change && !ends_run(e, w)) || id == 0)
            continue;
        ck_assert_uint_lt(id, MOST);
        if (follow(&goroutines[id], e, w, beginning, &since))
            ck_assert_msg(returned, "event %zu is not returned", i);
        else if (!may_start(all, i, w) && !beginning && !suspect)
            ck_assert_msg(!returned, "event %zu is returned", i);
        if (returned && !suspect)
            ck_assert_int_eq(some.items[n - 1].since, since);
    }
    ck_assert_uint_eq(n, some.count);
    for (uint64_t id = 1; id < MOST; id++) {
        const gotrace_goroutine *last = &some.last[id];
        const follower *g = &goroutines[id];
        if (!(w->lasting >> g->state & 1))
            continue;
        ck_assert_uint_eq(last->id, id);
        ck_assert_uint_eq(last->state, g->state);
        if (g->since != GOTRACE_NO_TIME)
            ck_assert_int_eq(last->since, g->since);
    }
    events_free(&some);
}

/* The transitions out of a state by the time that it lasted. */
START_TEST(lasting)
{
    static const int64_t least[] = {0, 1, 500, 20000, 1000000, INT64_MAX};
    static const uint32_t running = 1U << GOTRACE_STATE_RUNNING,
                          waiting = 1U << GOTRACE_STATE_WAITING,
                          runnable = 1U << GOTRACE_STATE_RUNNABLE,
                          syscall = 1U << GOTRACE_STATE_SYSCALL;
    const uint32_t lives = 1U << GOTRACE_STATE_UNDETERMINED | 1U << GOTRACE_STATE_NOT_EXIST;
    const wanted ways[] = {{0, lives, running, 0},
                           {0, lives | waiting, waiting, 0},
                           {1U << GOTRACE_KIND_SYNC, lives | runnable, runnable | running, 0},
                           {0, lives | syscall, syscall | waiting, 0}};
    trace_file *files = traces_load(9000);
    for (trace_file *file = files; file->path[0]; file++) {
        events all = read_events(&file->content, NULL);
        for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
            wanted w = ways[i];
            w.least = least[_i];
            check_lasting(&file->content, &all, &w);
        }
        events_free(&all);
    }
    traces_free(files);
}
END_TEST

START_TEST(what_is_selected)
{
    trace_file *files = traces_load(12000);
    for (trace_file *file = files; file->path[0]; file++)
        check_all(&file->content, false);
    traces_free(files);
}
END_TEST

/* Restricting the events does not change what is found wrong. */
START_TEST(damaged)
{
    static const char *const names[] = {"gccgo-user.trace", "go1.19-user.trace",
                                        "go1.22-user.trace", "go1.26-user.trace"};
    enum { FLIPS = 25 };
    blob trace = trace_sample(names[_i]);
    uint64_t random = 1 + (uint64_t)_i;
    for (int flip = 0; flip < FLIPS; flip++) {
        size_t at = 16 + (size_t)(random_next(&random) % (trace.size - 16));
        uint8_t bit = (uint8_t)(1u << random_next(&random) % 8);
        trace.bytes[at] ^= bit;
        check_all(&trace, true);
        trace.bytes[at] ^= bit;
    }
    blob_free(&trace);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("wanted");
    TCase *cases = tcase_create("wanted");
    tcase_add_test(cases, what_is_selected);
    tcase_add_loop_test(cases, lasting, 0, 6);
    tcase_add_loop_test(cases, damaged, 0, 4);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
