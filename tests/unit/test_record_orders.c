/*
 * test_record_orders.c - the recorder: what threads do at the same time rarely, in that order. A
 * thread is in an event of a generation that ends while others are in the next one: the clock,
 * which every event reads, stops the thread there. A thread waits for the output, or the output for
 * the world.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "gotrace_record.h"
#include "reading.h"
#include "record/record.h"
#include "recording.h"
#include "writing.h"

/* ---- a thread that stops in its event ----------------------------------------------------------
 */

static _Thread_local bool stops; /* at its next reading of the clock */
static _Atomic bool has_stopped, may_go_on;

static void wait_until(const _Atomic bool *what)
{
    while (!*what)
        sched_yield();
}

static uint64_t stopping_clock(void *ctx)
{
    static _Atomic uint64_t ticks = 1000;
    (void)ctx;
    if (stops) {
        stops = false;
        has_stopped = true;
        wait_until(&may_go_on);
    }
    return atomic_fetch_add(&ticks, 100);
}

/* Threads that have a proc: two that run a goroutine, and one without. */
typedef struct scene {
    gotrace_recorder *r;
    gotrace_rec_thread *late, *early, *bare;
    void (*call)(gotrace_rec_thread *late); /* the event */
    blob trace;
} scene;

static gotrace_rec_thread *thread_with_proc(gotrace_recorder *r, uint64_t id)
{
    gotrace_rec_thread *t = gotrace_rec_thread_new(r, 10 + id);
    gotrace_rec_proc_start(t, gotrace_rec_proc_new(r, id));
    return t;
}

static scene scene_new(int version, uint64_t max_bytes)
{
    const gotrace_recorder_options options = {.size = sizeof options,
                                              .clock = stopping_clock,
                                              .frequency = 1000000000,
                                              .generation_ns = UINT64_MAX,
                                              .max_bytes = max_bytes,
                                              .when_full = GOTRACE_REC_DROP};
    scene s = {.r = recorder_of(&options)};
    has_stopped = may_go_on = false;
    s.late = thread_with_proc(s.r, 1);
    s.early = thread_with_proc(s.r, 2);
    s.bare = thread_with_proc(s.r, 3);
    record_start(s.r, version, NULL, NULL);
    gotrace_rec_go_start(s.late, gotrace_rec_go_create(s.late, 1, 5000, NULL, 0));
    gotrace_rec_go_start(s.early, gotrace_rec_go_create(s.early, 2, 5000, NULL, 0));
    return s;
}

static void read_parts(scene *s, unsigned parts)
{
    const void *bytes;
    size_t size;
    while (parts-- > 0 && gotrace_recorder_read(s->r, &bytes, &size) == GOTRACE_OK)
        blob_write(&s->trace, bytes, size);
}

static void scene_end(scene *s, int version)
{
    record_stop(s->r);
    read_parts(s, UINT32_MAX);
    gotrace_recorder_free(s->r);
    record_check(&s->trace, version == 24 ? 23 : version);
}

static void *call_late(void *scene_)
{
    const scene *s = scene_;
    stops = true;
    s->call(s->late);
    return NULL;
}

static void *advance(void *recorder)
{
    gotrace_recorder_advance(recorder);
    return NULL;
}

/* The next generation begins while the thread is in its event. */
static void begin_late(scene *s, pthread_t threads[2])
{
    const uint64_t era = s->r->era;
    ck_assert_int_eq(pthread_create(&threads[0], NULL, call_late, s), 0);
    wait_until(&has_stopped);
    ck_assert_int_eq(pthread_create(&threads[1], NULL, advance, s->r), 0);
    while (s->r->era == era)
        sched_yield();
}

static void end_late(pthread_t threads[2])
{
    may_go_on = true;
    for (unsigned i = 0; i < 2; i++)
        ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
}

/* ---- garbage collection ------------------------------------------------------------------------
 */

/* The next generation already has that the cycle is active, when it ends. */
static void end_cycle_late(scene *s)
{
    pthread_t threads[2];
    s->call = gotrace_rec_gc_done;
    begin_late(s, threads);
    gotrace_rec_heap_alloc(s->early, 1);
    end_late(threads);
    gotrace_rec_gc_start(s->early, NULL, 0);
    gotrace_rec_gc_done(s->early);
}

static void check_cycles(const blob *trace, uint64_t begun)
{
    uint64_t counts[GT_CODES];
    count_records(trace, counts);
    ck_assert_uint_eq(counts[GOTRACE_V2_GCActive], 1);
    ck_assert_uint_eq(counts[GOTRACE_V2_GCBegin], begun);
    ck_assert_uint_eq(counts[GOTRACE_V2_GCEnd], begun);
}

START_TEST(cycle_ends_late)
{
    scene s = scene_new(_i, 0);
    gotrace_rec_gc_start(s.late, NULL, 0);
    gotrace_recorder_advance(s.r);
    end_cycle_late(&s);
    scene_end(&s, _i);
    check_cycles(&s.trace, 2);
    blob_free(&s.trace);
}
END_TEST

/* The same in a generation that is dropped. */
START_TEST(cycle_ends_late_dropped)
{
    enum { MAX_BYTES = 200000, EVENTS = 100000 };
    scene s = scene_new(_i, MAX_BYTES);
    gotrace_rec_gc_start(s.late, NULL, 0);
    gotrace_recorder_advance(s.r);
    for (unsigned i = 0; i < EVENTS; i++)
        gotrace_rec_heap_alloc(s.bare, i);
    while (s.r->ready.first) /* until that is read, the generation goes on */
        read_parts(&s, 1);
    end_cycle_late(&s);
    scene_end(&s, _i);
    check_cycles(&s.trace, 2);
    blob_free(&s.trace);
}
END_TEST

/* ---- waiting -----------------------------------------------------------------------------------
 */

typedef struct progress {
    uint64_t due, dropping, waiting;
} progress;

static progress progress_of(gotrace_recorder *r)
{
    pthread_mutex_lock(&r->lock);
    const progress p = {r->era_due, r->dropping, r->waiting};
    pthread_mutex_unlock(&r->lock);
    return p;
}

static void *create_until_end(void *thread)
{
    gotrace_rec_thread *t = thread;
    for (uint64_t id = 2; !may_go_on; id++) {
        gotrace_rec_go_create_sys_call(t, id);
        gotrace_rec_go_destroy_sys_call(t);
    }
    return NULL;
}

/* A thread creates goroutines, until it waits for the output. The thread that would take the output
 * ends generations, for which it visits all goroutines. */
START_TEST(creation_waits)
{
    enum { MAX_BYTES = 1000000, GOROUTINES = 20000, GENERATIONS = 20 };
    const gotrace_recorder_options options = {
        .size = sizeof options, .generation_ns = UINT64_MAX, .max_bytes = MAX_BYTES};
    pthread_t thread;
    scene s = {.r = recorder_of(&options)};
    gotrace_rec_thread *t = gotrace_rec_thread_new(s.r, 7);
    may_go_on = false;
    s.early = thread_with_proc(s.r, 2);
    record_start(s.r, _i, NULL, NULL);
    gotrace_rec_go_create_sys_call(t, 1); /* this handle is visited last */
    gotrace_rec_go_destroy_sys_call(t);
    for (uint64_t i = 0; i < GOROUTINES; i++)
        gotrace_rec_go_create(s.early, 1000000000 + i, 5000, NULL, 0);
    read_parts(&s, 1);
    ck_assert_int_eq(pthread_create(&thread, NULL, create_until_end, t), 0);
    while (progress_of(s.r).waiting < MAX_BYTES)
        sched_yield();
    for (unsigned i = 0; i < GENERATIONS; i++)
        gotrace_recorder_advance(s.r);
    may_go_on = true;
    record_stop(s.r); /* then it does not wait any more */
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    scene_end(&s, _i);
    blob_free(&s.trace);
}
END_TEST

/* Goes on while generations are dropped. */
static void *write_nothing(void *recorder)
{
    gotrace_recorder *r = recorder;
    const void *bytes;
    size_t size;
    while (gotrace_recorder_read(r, &bytes, &size) == GOTRACE_OK)
        ;
    return NULL;
}

/* When the output has taken what waits, the world is stopped, so that the generation that is
 * dropped cannot end yet. It ends afterwards. */
START_TEST(dropped_while_stopped)
{
    enum { MAX_BYTES = 200000, EVENTS = 100000 };
    pthread_t reader;
    scene s = scene_new(_i, MAX_BYTES);
    gotrace_recorder_advance(s.r);
    gotrace_rec_stw_start(s.early, GOTRACE_REC_STW_OTHER, NULL, 0);
    for (unsigned i = 0; i < EVENTS; i++)
        gotrace_rec_heap_alloc(s.early, i);
    ck_assert(progress_of(s.r).dropping != 0 && progress_of(s.r).due == 0);
    ck_assert_int_eq(pthread_create(&reader, NULL, write_nothing, s.r), 0);
    while (progress_of(s.r).due == 0)
        sched_yield();
    gotrace_rec_stw_done(s.early);
    while (progress_of(s.r).dropping != 0)
        sched_yield();
    record_stop(s.r);
    ck_assert_int_eq(pthread_join(reader, NULL), 0);
    gotrace_recorder_free(s.r);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("record_orders");
    TCase *t = tcase_create("record_orders");
    tcase_add_loop_test(t, cycle_ends_late, 22, 27);
    tcase_add_loop_test(t, cycle_ends_late_dropped, 22, 27);
    tcase_add_loop_test(t, creation_waits, 22, 27);
    tcase_add_loop_test(t, dropped_while_stopped, 22, 27);
    suite_add_tcase(s, t);
    return s;
}

int main(void)
{
    return run_suite(suite());
}
