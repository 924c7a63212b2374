/*
 * test_record_drop.c - the recorder: generations that are dropped because nobody reads for a while
 * (GOTRACE_REC_DROP). The trace leads from the states before to those afterwards.
 */
#include <stdatomic.h>

#include "gotrace_record.h"
#include "reading.h"
#include "record/record.h"
#include "recording.h"
#include "writing.h"

static uint64_t count_ticks(void *ctx)
{
    static _Atomic uint64_t ticks = 1000;
    (void)ctx;
    return atomic_fetch_add(&ticks, 100);
}

typedef struct small_recorder {
    gotrace_recorder *r;
    gotrace_rec_thread *t;
    gotrace_rec_proc *p;
} small_recorder;

static small_recorder dropping_recorder(const gotrace_config *config)
{
    const gotrace_recorder_options options = {.size = sizeof options,
                                              .clock = count_ticks,
                                              .frequency = 1000000000,
                                              .generation_ns = UINT64_MAX,
                                              .max_bytes = 200000,
                                              .when_full = GOTRACE_REC_DROP};
    small_recorder s = {0};
    if (gotrace_recorder_new(&options, config, &s.r, NULL) == GOTRACE_OK) {
        s.t = gotrace_rec_thread_new(s.r, 7);
        s.p = gotrace_rec_proc_new(s.r, 0);
    }
    return s;
}

static void allocate(gotrace_rec_thread *t, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        gotrace_rec_heap_alloc(t, i);
}

static bool read_some(gotrace_recorder *r, blob *trace, unsigned parts)
{
    const void *bytes;
    size_t size;
    while (parts-- > 0 && gotrace_recorder_read(r, &bytes, &size) == GOTRACE_OK)
        blob_write(trace, bytes, size);
    return gotrace_recorder_error(r)->rule == GOTRACE_RULE_NONE;
}

/* Nobody reads for a while: the generation is dropped, with all that its goroutine did, and the
 * next ones are whole. Returns whether all was recorded. */
static bool drop_once(const gotrace_config *config, int version, blob *trace)
{
    small_recorder s = dropping_recorder(config);
    bool good = s.r && s.t && s.p;
    if (good && gotrace_recorder_start(s.r, version, NULL, NULL) == GOTRACE_OK) {
        gotrace_rec_proc_start(s.t, s.p);
        gotrace_rec_go *g = gotrace_rec_go_create(s.t, 1, 5000, NULL, 0), *h;
        gotrace_rec_go_start(s.t, g);
        gotrace_recorder_advance(s.r);
        gotrace_rec_region(s.t, 0, GOTRACE_REC_BEGIN, "before", NULL, 0);
        allocate(s.t, 100000); /* dropped */
        h = gotrace_rec_go_create(s.t, 2, 6000, NULL, 0);
        gotrace_rec_gc_start(s.t, NULL, 0);
        gotrace_rec_sweep_start(s.t, NULL, 0);
        gotrace_rec_sweep_span(s.t, 1, NULL, 0);
        gotrace_rec_mark_assist_start(s.t, NULL, 0);
        good = read_some(s.r, trace, 1);
        gotrace_recorder_advance(s.r); /* nothing: the first generation waits */
        good = read_some(s.r, trace, 4) && good;
        gotrace_rec_mark_assist_done(s.t);
        gotrace_rec_sweep_done(s.t, 1);
        gotrace_rec_region(s.t, 0, GOTRACE_REC_END, "other", NULL, 0);
        gotrace_rec_gc_done(s.t);
        gotrace_rec_go_park(s.t, GOTRACE_REC_SEND, NULL, 0);
        gotrace_rec_go_start(s.t, h);
        allocate(s.t, 10);
        good = gotrace_recorder_stop(s.r) == GOTRACE_OK && good;
        good = read_some(s.r, trace, 1000) && good;
        ck_assert(!good || gotrace_recorder_lost(s.r)->generations == 1);
    } else {
        good = false;
    }
    gotrace_recorder_free(s.r);
    return good;
}

START_TEST(dropped)
{
    uint64_t counts[GT_CODES];
    blob trace = {0};
    ck_assert(drop_once(NULL, _i, &trace));
    reading got = reading_of(trace.bytes, trace.size, NULL, READING_CHECK);
    ck_assert_msg(got.status == GOTRACE_END && got.problem_count == 1, "%s",
                  got.problem_count ? got.problems[0].message : got.error.message);
    /* The begin of the region that ends was dropped. */
    ck_assert_int_eq(got.problems[0].rule, GOTRACE_RULE_BEGIN_MISSING);
    count_records(&trace, counts);
    ck_assert_uint_eq(counts[GOTRACE_V2_HeapAlloc], 10);
    ck_assert_uint_eq(counts[GOTRACE_V2_GCEnd], 1);
    ck_assert_uint_eq(counts[GOTRACE_V2_GCMarkAssistEnd], 1);
    ck_assert_uint_eq(counts[GOTRACE_V2_UserLog], 1); /* the message */
    blob_free(&trace);
}
END_TEST

/* The first generation is dropped, in which only one thread had events. The next one has what else
 * existed: goroutines that wait, run and are in system calls. */
START_TEST(dropped_first)
{
    blob trace = {0};
    small_recorder s = dropping_recorder(NULL);
    gotrace_rec_thread *u = gotrace_rec_thread_new(s.r, 8), *v = gotrace_rec_thread_new(s.r, 9);
    gotrace_rec_proc_start(s.t, s.p);
    gotrace_rec_go *waits = gotrace_rec_go_create(s.t, 2, 6000, NULL, 0);
    gotrace_rec_go_start(s.t, waits);
    gotrace_rec_go_park(s.t, GOTRACE_REC_SEND, NULL, 0);
    gotrace_rec_proc_start(u, gotrace_rec_proc_new(s.r, 1));
    gotrace_rec_go_start(u, gotrace_rec_go_create(u, 1, 5000, NULL, 0));
    gotrace_rec_mark_assist_start(u, NULL, 0);
    gotrace_rec_sweep_start(u, NULL, 0);
    gotrace_rec_sweep_span(u, 1, NULL, 0);
    gotrace_rec_go_create_sys_call(v, 3);
    record_start(s.r, _i, NULL, NULL);
    allocate(s.t, 100000); /* dropped */
    gotrace_recorder_advance(s.r);
    while (s.r->ready.first)
        ck_assert(read_some(s.r, &trace, 1));
    gotrace_rec_go_unpark(u, waits, NULL, 0);
    gotrace_rec_mark_assist_done(u);
    gotrace_rec_sweep_done(u, 1);
    gotrace_rec_go_destroy_sys_call(v);
    record_stop(s.r);
    ck_assert(read_some(s.r, &trace, 1000));
    ck_assert_uint_eq(gotrace_recorder_lost(s.r)->generations, 1);
    gotrace_recorder_free(s.r);
    record_check(&trace, _i == 24 ? 23 : _i);
    blob_free(&trace);
}
END_TEST

/* The only proc that had an event in a dropped generation is freed in it; the other one runs. */
START_TEST(dropped_with_freed_proc)
{
    blob trace = {0};
    uint64_t counts[GT_CODES];
    small_recorder s = dropping_recorder(NULL);
    gotrace_rec_thread *u = gotrace_rec_thread_new(s.r, 8);
    gotrace_rec_proc *q = gotrace_rec_proc_new(s.r, 1);
    record_start(s.r, _i, NULL, NULL);
    gotrace_rec_proc_start(s.t, s.p);
    gotrace_rec_go_start(s.t, gotrace_rec_go_create(s.t, 1, 5000, NULL, 0));
    gotrace_rec_proc_start(u, q);
    gotrace_rec_go *g = gotrace_rec_go_create(u, 2, 6000, NULL, 0);
    gotrace_rec_go_start(u, g);
    gotrace_rec_go_park(u, GOTRACE_REC_SEND, NULL, 0);
    gotrace_recorder_advance(s.r);
    allocate(u, 100000); /* dropped */
    gotrace_rec_go_unpark(u, g, NULL, 0);
    gotrace_rec_proc_stop(u);
    gotrace_rec_proc_free(u, q);
    ck_assert(read_some(s.r, &trace, 1));
    gotrace_recorder_advance(s.r);
    ck_assert(read_some(s.r, &trace, 4));
    gotrace_rec_go_end(s.t);
    gotrace_rec_go_start(s.t, g);
    allocate(s.t, 10);
    record_stop(s.r);
    ck_assert(read_some(s.r, &trace, 1000));
    ck_assert_uint_eq(gotrace_recorder_lost(s.r)->generations, 1);
    gotrace_recorder_free(s.r);
    record_check(&trace, _i == 24 ? 23 : _i);
    count_records(&trace, counts);
    ck_assert_uint_eq(counts[GOTRACE_V2_UserLog], 1); /* what was dropped */
    blob_free(&trace);
}
END_TEST

/* The only proc runs, and has no event: only threads of others call, return, and wake. */
START_TEST(dropped_without_proc)
{
    blob trace = {0};
    uint64_t counts[GT_CODES];
    small_recorder s = dropping_recorder(NULL);
    gotrace_rec_thread *others[4];
    for (unsigned i = 0; i < 4; i++)
        others[i] = gotrace_rec_thread_new(s.r, 8 + i);
    record_start(s.r, _i, NULL, NULL);
    gotrace_rec_proc_start(s.t, s.p);
    gotrace_rec_go *g = gotrace_rec_go_create(s.t, 2, 6000, NULL, 0);
    gotrace_rec_go_start(s.t, g);
    gotrace_rec_go_park(s.t, GOTRACE_REC_SEND, NULL, 0);
    gotrace_rec_go_start(s.t, gotrace_rec_go_create(s.t, 1, 5000, NULL, 0));
    gotrace_rec_go *back = gotrace_rec_go_create_sys_call(others[1], 3);
    gotrace_rec_go_create_sys_call(others[2], 4);
    gotrace_recorder_advance(s.r);
    for (unsigned i = 0; i < 100000; i++) { /* dropped */
        gotrace_rec_go_create_sys_call(others[0], 100 + i);
        gotrace_rec_go_destroy_sys_call(others[0]);
    }
    gotrace_rec_go_unpark(others[0], g, NULL, 0);
    gotrace_rec_go_sys_exit(others[1]);
    gotrace_rec_go_destroy_sys_call(others[2]);
    gotrace_rec_go_create_sys_call(others[3], 5);
    ck_assert(read_some(s.r, &trace, 1));
    gotrace_recorder_advance(s.r);
    ck_assert(read_some(s.r, &trace, 6));
    gotrace_rec_go_destroy_sys_call(others[3]);
    gotrace_rec_go_end(s.t);
    gotrace_rec_go_start(s.t, g);
    gotrace_rec_go_end(s.t);
    gotrace_rec_go_start(s.t, back);
    allocate(s.t, 10);
    record_stop(s.r);
    ck_assert(read_some(s.r, &trace, 1000));
    ck_assert_uint_eq(gotrace_recorder_lost(s.r)->generations, 1);
    gotrace_recorder_free(s.r);
    record_check(&trace, _i == 24 ? 23 : _i);
    count_records(&trace, counts);
    ck_assert_uint_eq(counts[GOTRACE_V2_GoCreateSyscall], 3);
    blob_free(&trace);
}
END_TEST

/* Events of the proc, so many that the generation is dropped, and of the other one. */
static void drop_with(small_recorder *s, gotrace_rec_proc *other,
                      void (*call)(gotrace_rec_thread *), blob *trace)
{
    gotrace_rec_proc_start(s->t, s->p);
    allocate(s->t, 100000);
    gotrace_rec_proc_stop(s->t);
    gotrace_rec_proc_start(s->t, other);
    call(s->t);
    gotrace_rec_proc_stop(s->t);
    gotrace_recorder_advance(s->r);
    while (s->r->ready.first)
        ck_assert(read_some(s->r, trace, 1));
}

static void begin_sweep(gotrace_rec_thread *t)
{
    gotrace_rec_sweep_start(t, NULL, 0);
    gotrace_rec_sweep_span(t, 1, NULL, 0);
}

static void end_sweep(gotrace_rec_thread *t)
{
    gotrace_rec_sweep_done(t, 1);
}

/* A proc has no thread while it sweeps: the generations in which that begins and ends are dropped.
 */
START_TEST(dropped_idle_sweep)
{
    blob trace = {0};
    small_recorder s = dropping_recorder(NULL);
    gotrace_rec_proc *q = gotrace_rec_proc_new(s.r, 1);
    record_start(s.r, _i, NULL, NULL);
    drop_with(&s, q, begin_sweep, &trace);
    gotrace_recorder_advance(s.r);
    while (s.r->ready.first)
        ck_assert(read_some(s.r, &trace, 1));
    drop_with(&s, q, end_sweep, &trace);
    gotrace_rec_proc_start(s.t, q);
    begin_sweep(s.t);
    end_sweep(s.t);
    record_stop(s.r);
    ck_assert(read_some(s.r, &trace, 1000));
    ck_assert_uint_eq(gotrace_recorder_lost(s.r)->generations, 2);
    gotrace_recorder_free(s.r);
    record_check(&trace, _i == 24 ? 23 : _i);
    blob_free(&trace);
}
END_TEST

/* The same, and the proc is freed in the generation that is dropped, or the one before. */
START_TEST(dropped_freed_sweep)
{
    for (int later = 0; later < 2; later++) {
        blob trace = {0};
        small_recorder s = dropping_recorder(NULL);
        gotrace_rec_proc *q = gotrace_rec_proc_new(s.r, 1);
        record_start(s.r, _i, NULL, NULL);
        gotrace_rec_proc_start(s.t, q);
        begin_sweep(s.t);
        gotrace_rec_proc_stop(s.t);
        if (!later)
            gotrace_rec_proc_free(s.t, q);
        gotrace_recorder_advance(s.r);
        gotrace_rec_proc_start(s.t, s.p);
        allocate(s.t, 100000); /* dropped */
        gotrace_rec_proc_stop(s.t);
        if (later)
            gotrace_rec_proc_free(s.t, q);
        ck_assert(read_some(s.r, &trace, 1));
        gotrace_recorder_advance(s.r);
        ck_assert(read_some(s.r, &trace, 4));
        q = gotrace_rec_proc_new(s.r, 1);
        gotrace_rec_proc_start(s.t, q);
        begin_sweep(s.t);
        end_sweep(s.t);
        record_stop(s.r);
        ck_assert(read_some(s.r, &trace, 1000));
        ck_assert_uint_eq(gotrace_recorder_lost(s.r)->generations, 1);
        gotrace_recorder_free(s.r);
        record_check(&trace, _i == 24 ? 23 : _i);
        blob_free(&trace);
    }
}
END_TEST

START_TEST(dropped_without_memory)
{
    for (uint64_t fail_at = 0;; fail_at++) {
        failing_allocator a = {.fail_at = fail_at};
        gotrace_config config = failing_config(&a);
        blob trace = {0};
        drop_once(&config, 26, &trace);
        blob_free(&trace);
        ck_assert_int_eq(a.bytes, 0);
        if (a.calls <= fail_at)
            break;
    }
}
END_TEST

/* What cannot be dropped. */
START_TEST(not_droppable)
{
    small_recorder s = dropping_recorder(NULL);
    ck_assert_int_eq(gotrace_recorder_start(s.r, 21, NULL, NULL), GOTRACE_ERROR);
    ck_assert_int_eq(gotrace_recorder_error(s.r)->rule, GOTRACE_RULE_USAGE);
    ck_assert_int_eq(gotrace_recorder_start(s.r, 22, NULL, NULL), GOTRACE_OK);
    ck_assert_int_eq(gotrace_recorder_stop(s.r), GOTRACE_OK);
    gotrace_recorder_free(s.r);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("record_drop");
    TCase *t = tcase_create("record_drop");
    tcase_add_loop_test(t, dropped, 22, 27);
    tcase_add_loop_test(t, dropped_first, 22, 27);
    tcase_add_loop_test(t, dropped_with_freed_proc, 22, 27);
    tcase_add_loop_test(t, dropped_without_proc, 22, 27);
    tcase_add_loop_test(t, dropped_idle_sweep, 22, 27);
    tcase_add_loop_test(t, dropped_freed_sweep, 22, 27);
    tcase_add_test(t, dropped_without_memory);
    tcase_add_test(t, not_droppable);
    suite_add_tcase(s, t);
    return s;
}

int main(void)
{
    return run_suite(suite());
}
