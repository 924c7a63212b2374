/* test_feed.c - events and stacks of a feed, with and without a thread, are those of the reader. */
#include <string.h>

#include "formats/common/feed.h"
#include "gotrace_experimental.h"
#include "support.h"
#include "writing.h"

enum { MOST_BYTES = 100000, MOST_FRAMES = 1024 };

/* An assertion for hot loops: Check writes a record for each of its own assertions. */
#define MUST(what)                                                                                 \
    do {                                                                                           \
        if (!(what))                                                                               \
            ck_abort_msg("%s", #what);                                                             \
    } while (0)

/* A trace with two readers: one is read directly, one by the feed. */
typedef struct pair {
    gotrace_source *sources[2];
    gotrace_reader *readers[2];
    feed feed;
    const gotrace_event *direct, *fed; /* the last events */
    uint64_t last_index;               /* generation_index of the last event */
    bool threaded;                     /* the feed is to read in a thread */
} pair;

/* False if the trace cannot be opened. */
static bool pair_open(pair *p, const blob *content, bool threaded)
{
    bool opened = true;
    *p = (pair){.threaded = threaded};
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(
            gotrace_source_memory(content->bytes, content->size, NULL, &p->sources[i], NULL),
            GOTRACE_OK);
        opened = gotrace_reader_open(p->sources[i], NULL, &p->readers[i], NULL) == GOTRACE_OK &&
                 opened;
    }
    feed_init(&p->feed, p->readers[1], false, threaded ? 2 : 1);
    return opened;
}

static void pair_close(pair *p)
{
    feed_free(&p->feed);
    for (int i = 0; i < 2; i++) {
        gotrace_reader_close(p->readers[i]);
        gotrace_source_close(p->sources[i]);
    }
}

static bool same_text(const char *a, size_t a_size, const char *b, size_t b_size)
{
    return a_size == b_size && !a == !b && (a_size == 0 || memcmp(a, b, a_size) == 0);
}

static void compare_frames(const gotrace_frame *a, const gotrace_frame *b)
{
    MUST(a->pc == b->pc && a->line == b->line);
    MUST(a->function_id == b->function_id && a->file_id == b->file_id);
    MUST(same_text(a->function, a->function_size, b->function, b->function_size));
    MUST(same_text(a->file, a->file_size, b->file, b->file_size));
}

static void compare_stacks(const pair *p, uint64_t id)
{
    gotrace_frame direct[MOST_FRAMES], fed[MOST_FRAMES];
    size_t depth = gotrace_reader_stack_depth(p->readers[0], id);
    MUST(depth <= MOST_FRAMES && feed_stack_depth(&p->feed, id) == depth);
    for (size_t most = depth; most + 1 > depth / 2; most = most > 0 ? most / 2 : 0) {
        MUST(gotrace_reader_stack(p->readers[0], id, direct, most) == most);
        MUST(feed_stack(&p->feed, id, fed, most) == most);
        for (size_t i = 0; i < most; i++)
            compare_frames(&direct[i], &fed[i]);
        if (most == 0)
            break;
    }
}

static void compare_members(const pair *p)
{
    const gotrace_raw *raw = gotrace_reader_raw(p->readers[0]);
    const gotrace_event *a = p->direct, *b = p->fed;
    bool transition = a->kind == GOTRACE_KIND_TRANSITION || a->kind == GOTRACE_KIND_SYSCALL;
    MUST(a->time == b->time && a->offset == b->offset);
    MUST(a->type == b->type && a->kind == b->kind && a->resource == b->resource);
    MUST(a->from == b->from && a->to == b->to && a->range == b->range && a->flags == b->flags);
    MUST(a->proc == b->proc && a->thread == b->thread);
    MUST(raw->generation == p->feed.generation &&
         raw->generation_index == p->feed.generation_index);
    MUST(a->goroutine == b->goroutine);
    MUST(a->subject == b->subject && gotrace_event_value(a) == gotrace_event_value(b) &&
         gotrace_event_cause(a) == gotrace_event_cause(b));
    MUST(a->stack == b->stack && gotrace_event_start_stack(a) == gotrace_event_start_stack(b));
    MUST(transition || gotrace_event_details(a)->arg_count == gotrace_event_details(b)->arg_count);
    MUST(transition || gotrace_event_details(a)->arg_count == 0 ||
         memcmp(gotrace_event_details(a)->args, gotrace_event_details(b)->args,
                gotrace_event_details(a)->arg_count * sizeof *gotrace_event_details(a)->args) == 0);
    MUST(!gotrace_event_reason(a) == !gotrace_event_reason(b) &&
         (!gotrace_event_reason(a) ||
          strcmp(gotrace_event_reason(a), gotrace_event_reason(b)) == 0));
    MUST(same_text(gotrace_event_details(a)->text, gotrace_event_details(a)->text_size,
                   gotrace_event_details(b)->text, gotrace_event_details(b)->text_size));
    MUST(same_text(gotrace_event_details(a)->message, gotrace_event_details(a)->message_size,
                   gotrace_event_details(b)->message, gotrace_event_details(b)->message_size));
}

static void compare_events(const pair *p)
{
    compare_members(p);
    compare_stacks(p, p->direct->stack);
    compare_stacks(p, gotrace_event_start_stack(p->direct));
}

/* Reads up to that many events. */
static gotrace_status read_pair(pair *p, uint64_t most)
{
    for (uint64_t n = 0; n < most; n++) {
        gotrace_status status = gotrace_reader_next(p->readers[0], &p->direct);
        ck_assert_int_eq(feed_next(&p->feed, &p->fed), status);
        if (status != GOTRACE_EVENT)
            return status;
        compare_events(p);
        p->last_index = p->feed.generation_index;
        MUST(!p->feed.thread == !p->threaded);
    }
    return GOTRACE_EVENT;
}

/* The end is the same at each further call. */
static void compare_ends(pair *p, gotrace_status status)
{
    ck_assert_int_eq(feed_next(&p->feed, &p->fed), status);
    feed_free(&p->feed);
    const gotrace_summary *a = gotrace_reader_summary(p->readers[0]);
    const gotrace_summary *b = gotrace_reader_summary(p->readers[1]);
    ck_assert_uint_eq(a->events, b->events);
    ck_assert_uint_eq(a->problems, b->problems);
    ck_assert_int_eq(a->duration, b->duration);
    ck_assert_str_eq(gotrace_reader_error(p->readers[0])->message,
                     gotrace_reader_error(p->readers[1])->message);
}

/* Whole traces, and traces that are cut, whose end may be an error. */
START_TEST(whole_traces)
{
    trace_file *files = traces_load(MOST_BYTES);
    size_t count = 0;
    for (trace_file *f = files; f->path[0]; f++) {
        for (size_t cut = 0; cut < 2; cut++) {
            pair p;
            blob content = f->content;
            content.size -= cut * (content.size / 3);
            if (pair_open(&p, &content, _i)) {
                compare_ends(&p, read_pair(&p, UINT64_MAX));
                count++;
            }
            pair_close(&p);
        }
    }
    ck_assert_uint_ge(count, 100 / SWEEP_STEP);
    traces_free(files);
}
END_TEST

static uint64_t take_number(const blob *b, size_t *at)
{
    uint64_t number = 0;
    for (unsigned shift = 0;; shift += 7) {
        uint8_t byte = b->bytes[(*at)++];
        number |= (uint64_t)(byte & 127) << shift;
        if (byte < 128)
            return number;
    }
}

/* Gives all generations the number 1; each ends with a record. */
static void repeat_generation(blob *b)
{
    size_t at = 16; /* after the header */
    while (at < b->size) {
        if (b->bytes[at++] == GOTRACE_V2_EndOfGeneration)
            continue;
        ck_assert_int_eq(b->bytes[at - 1], GOTRACE_V2_EventBatch);
        b->bytes[at++] = 1;
        take_number(b, &at); /* thread */
        take_number(b, &at); /* time */
        size_t size = take_number(b, &at);
        at += size;
    }
}

/* Each generation has its own stacks, although all have one number. */
START_TEST(repeated_generation)
{
    blob content = trace_sample("go1.26-gens.trace");
    pair p;
    repeat_generation(&content);
    ck_assert(pair_open(&p, &content, _i));
    compare_ends(&p, read_pair(&p, UINT64_MAX));
    ck_assert_uint_eq(gotrace_reader_summary(p.readers[0])->generations, 4);
    ck_assert_uint_eq(gotrace_reader_summary(p.readers[0])->problems, 0);
    ck_assert_uint_eq(gotrace_reader_generation(p.readers[0], 3)->generation, 1);
    ck_assert_uint_eq(p.last_index, 4);
    pair_close(&p);
    blob_free(&content);
}
END_TEST

/* The caller may stop, or have the rest checked, while the thread is ahead of it. */
START_TEST(stopped)
{
    blob content = trace_sample("go1.22-gens.trace");
    for (uint64_t most = 0; most < 3000; most = 2 * most + 1) {
        for (int check = 0; check < 2; check++) {
            pair p;
            ck_assert(pair_open(&p, &content, _i));
            read_pair(&p, most);
            if (check) {
                gotrace_status status = gotrace_reader_check(p.readers[0]);
                ck_assert_int_eq(feed_check(&p.feed), status);
                compare_ends(&p, status);
            }
            pair_close(&p);
        }
    }
    blob_free(&content);
}
END_TEST

/* Procs and threads whose ids do not fit into a brief, and ids that mean none there. */
static const int64_t wide_ids[] = {INT32_MAX, (int64_t)INT32_MAX + 1, (int64_t)1 << 40};

START_TEST(wide_places)
{
    int64_t id = wide_ids[_i];
    const test_event events[] = {{"GoCreate", 0, id, 1, {2, 1}}, {"GoBlock", 0, id, 1, {1}},
                                 {"GoStart", 0, id, 0, {2}},     {"GoCreate", id, 10, 3, {4, 1}},
                                 {"GoDestroy", id, 10, 3, {0}},  {0}};
    blob content = {0};
    gotrace_writer *w = writer_of(26, NULL, &content, NULL);
    ck_assert_int_eq(write_events(w, 26, events), GOTRACE_OK);
    ck_assert_int_eq(gotrace_writer_finish(w), GOTRACE_OK);
    gotrace_writer_free(w);
    for (int threaded = 0; threaded < 2; threaded++) {
        pair p;
        ck_assert(pair_open(&p, &content, threaded));
        compare_ends(&p, read_pair(&p, UINT64_MAX));
        ck_assert_uint_ge(gotrace_reader_summary(p.readers[0])->events, 5);
        pair_close(&p);
    }
    blob_free(&content);
}
END_TEST

/* Blocks have the same events as gotrace_reader_next returns, and remain valid while others are
 * read. */
START_TEST(blocks_stay)
{
    static const char *const names[] = {"go1.19-user.trace", "go1.26-gens.trace",
                                        "go1.26-user.trace"};
    enum { KEPT = 3 };
    blob content = trace_sample(names[_i]);
    const gotrace_block *kept[KEPT] = {NULL}, *block;
    pair p;
    uint64_t events = 0;
    ck_assert(pair_open(&p, &content, false));
    for (size_t n = 0, after = 0; after < KEPT; n++) {
        const gotrace_block *old = kept[n % KEPT];
        after += gotrace_reader_next_block(p.readers[1], &block) != GOTRACE_EVENT;
        MUST(!block == (after > 0));
        for (size_t i = 0; old && i < old->count; i++, events++) {
            MUST(gotrace_reader_next(p.readers[0], &p.direct) == GOTRACE_EVENT);
            p.fed = &old->events[i];
            p.feed.generation = old->generation;
            p.feed.generation_index = old->generation_index;
            compare_members(&p);
        }
        gotrace_block_release(old);
        kept[n % KEPT] = block;
    }
    ck_assert_int_eq(gotrace_reader_next(p.readers[0], &p.direct), GOTRACE_END);
    ck_assert_uint_gt(events, 50);
    pair_close(&p);
    blob_free(&content);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("feed");
    TCase *cases = tcase_create("feed");
    tcase_add_loop_test(cases, wide_places, 0, sizeof wide_ids / sizeof *wide_ids);
    tcase_add_loop_test(cases, blocks_stay, 0, 3);
    tcase_add_loop_test(cases, whole_traces, 0, 2);
    tcase_add_loop_test(cases, repeated_generation, 0, 2);
    tcase_add_loop_test(cases, stopped, 0, 2);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
