/*
 * test_record.c - the recorder: threads record at the same time, traces are sound and have exactly
 * the events that happened, in every version.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#if defined __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#endif

#include "core/thread.h"
#include "gotrace_record.h"
#include "reading.h"
#include "recording.h"
#include "record/record.h"
#include "writing.h"

static const int versions[] = {5, 7, 8, 9, 10, 11, 19, 21, 22, 23, 25, 26};
enum { VERSIONS = sizeof versions / sizeof *versions };

/* ---- one thread: every call ------------------------------------------------------------------ */

static void annotate(gotrace_rec_thread *t, const uint64_t *pcs)
{
    char text[3000];
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = '\0';
    gotrace_rec_task_create(t, 1, 0, "task", pcs, 3);
    gotrace_rec_region(t, 1, GOTRACE_REC_BEGIN, "region", pcs, 3);
    gotrace_rec_log(t, 1, "key", "message", pcs, 3);
    gotrace_rec_log(t, 0, text, text, pcs, 3);
    gotrace_rec_log(t, 0, NULL, NULL, NULL, 0);
    gotrace_rec_region(t, 1, GOTRACE_REC_END, "region", pcs, 3);
    gotrace_rec_task_end(t, 1, pcs, 3);
    gotrace_rec_go_label(t, "sleep"); /* a string that the recorder has too */
}

static void collect(gotrace_rec_thread *t, const uint64_t *pcs)
{
    gotrace_rec_gomaxprocs(t, 2, pcs, 4);
    gotrace_rec_heap_goal(t, 4 << 20);
    gotrace_rec_gc_start(t, pcs, 4);
    for (int why = GOTRACE_REC_STW_OTHER; why <= GOTRACE_REC_STW_STOP_TRACE; why++) {
        gotrace_rec_stw_start(t, (gotrace_rec_stw)why, pcs, 4);
        gotrace_rec_stw_done(t);
    }
    gotrace_rec_mark_assist_start(t, pcs, 4);
    gotrace_rec_mark_assist_done(t);
    gotrace_rec_gc_done(t);
    gotrace_rec_sweep_start(t, pcs, 4);
    gotrace_rec_sweep_span(t, 4096, pcs, 4);
    gotrace_rec_sweep_span(t, 8192, pcs, 4);
    gotrace_rec_sweep_done(t, 8192);
    gotrace_rec_sweep_start(t, pcs, 4);
    gotrace_rec_sweep_done(t, 0);
    gotrace_rec_heap_alloc(t, 1 << 20);
}

/* Goroutine a runs, on the thread's proc. */
static void switch_coroutines(gotrace_rec_thread *t, gotrace_rec_go *a, uint64_t id,
                              const uint64_t *pcs)
{
    gotrace_rec_go *b = gotrace_rec_go_create_blocked(t, id, 50, pcs, 2);
    gotrace_rec_go_switch(t, b);
    gotrace_rec_go_switch(t, a);
    gotrace_rec_go_switch(t, b);
    gotrace_rec_go_switch_destroy(t, a);
    gotrace_rec_go *c = gotrace_rec_go_create_blocked(t, id + 1, 50, pcs, 2);
    gotrace_rec_go_unpark(t, c, pcs, 2);
}

static void block_in_calls(gotrace_rec_thread *t, gotrace_rec_thread *other, gotrace_rec_go *g,
                           gotrace_rec_proc *p, const uint64_t *pcs)
{
    gotrace_rec_go_sys_call(t, pcs, 5);
    gotrace_rec_go_sys_exit(t);
    gotrace_rec_go_sys_call(t, pcs, 5);
    gotrace_rec_go_sys_block(other, t);
    gotrace_rec_proc_start(other, p);
    gotrace_rec_go_sys_exit(t);
    gotrace_rec_go_start(other, g);
    gotrace_rec_go_sys_call(other, pcs, 5);
    gotrace_rec_proc_stop(other);
    gotrace_rec_go_sys_exit(other);
    gotrace_rec_proc_start(t, p);
    gotrace_rec_go_start_label(t, g, "GC (dedicated)");
}

typedef struct small {
    gotrace_recorder *r;
    gotrace_rec_thread *t, *other, *foreign;
    gotrace_rec_proc *p;
} small;

/* A clock for handles of several threads that one thread uses: with a real one their events would
 * be nearer to each other than those of threads can be. */
static uint64_t count_ticks(void *ctx)
{
    static _Atomic uint64_t ticks = 1000;
    (void)ctx;
    return atomic_fetch_add(&ticks, 100);
}

static small small_new(const gotrace_config *config)
{
    const gotrace_recorder_options options = {
        .size = sizeof options,
        .resolve = record_resolve,
        .clock = count_ticks,
        .frequency = 1000000000,
        .on_misuse = config ? NULL : fail_on_misuse, /* what follows refused memory is misuse */
    };
    gotrace_error error = GOTRACE_INIT(gotrace_error);
    small s = {0};
    if (gotrace_recorder_new(&options, config, &s.r, &error) == GOTRACE_OK) {
        s.t = gotrace_rec_thread_new(s.r, 100);
        s.other = gotrace_rec_thread_new(s.r, 101);
        s.foreign = gotrace_rec_thread_new(s.r, 102);
        s.p = gotrace_rec_proc_new(s.r, 3);
    }
    return s;
}

/* Every call; goroutine ids begin at base. */
static void every_call(small *s, uint64_t base)
{
    const uint64_t pcs[] = {10, 11, 12, 13, 14};
    gotrace_rec_thread *t = s->t;
    gotrace_rec_proc_start(t, s->p);
    gotrace_rec_go *g = gotrace_rec_go_create(t, base, 77, NULL, 0);
    gotrace_rec_go_start(t, g);
    gotrace_rec_go *h = gotrace_rec_go_create(t, base + 1, 77, pcs, 5);
    annotate(t, pcs);
    collect(t, pcs);
    gotrace_rec_cpu_sample(s->r, t, pcs, 5);
    gotrace_rec_cpu_sample(s->r, NULL, pcs, 0);
    gotrace_rec_go_sched(t, pcs, 5);
    gotrace_rec_go_start(t, h);
    for (int why = GOTRACE_REC_BLOCK; why < GOTRACE_REC_FOREVER; why++) {
        gotrace_rec_go_park(t, (gotrace_rec_reason)why, pcs, 5);
        gotrace_rec_go_start(t, g);
        gotrace_rec_go_unpark(t, h, pcs, 5);
        gotrace_rec_go_preempt(t, pcs, 5);
        gotrace_rec_go_start(t, h);
    }
    block_in_calls(t, s->other, h, s->p, pcs);
    switch_coroutines(t, h, base + 3, pcs);
    gotrace_rec_go_create_sys_call(s->foreign, base + 2);
    gotrace_rec_go_destroy_sys_call(s->foreign);
    gotrace_rec_go_park(t, GOTRACE_REC_FOREVER, pcs, 5);
    gotrace_rec_go_start(t, g);
    gotrace_rec_go_end(t);
    gotrace_rec_proc_stop(t);
    gotrace_rec_timer_go(s->r, base);
}

/* How many records of the type there are in traces of that version. */
typedef struct expected_count {
    unsigned v1, v2;
    uint64_t count, count_v2;
} expected_count;

static const expected_count expected_counts[] = {
    {GOTRACE_V1_GCStart, GOTRACE_V2_GCBegin, 1, 1},
    {GOTRACE_V1_GCDone, GOTRACE_V2_GCEnd, 1, 1},
    {GOTRACE_V1_GoSysCall, GOTRACE_V2_GoSyscallBegin, 3, 3},
    {GOTRACE_V1_GoSysBlock, GOTRACE_V2_ProcSteal, 2, 1},
    {GOTRACE_V1_GoPreempt, GOTRACE_V2_HeapAlloc, 9, 1},
    {GOTRACE_V1_HeapGoal, GOTRACE_V2_HeapGoal, 1, 1},
    {GOTRACE_V1_UserTaskCreate, GOTRACE_V2_UserTaskBegin, 1, 1},
    {GOTRACE_V1_UserLog, GOTRACE_V2_UserLog, 3, 3},
    {GOTRACE_V1_UserRegion, GOTRACE_V2_UserRegionBegin, 2, 1},
    {GOTRACE_V1_CPUSample, GOTRACE_V2_CPUSample, 2, 2},
    {GOTRACE_V1_GCMarkAssistDone, GOTRACE_V2_GCMarkAssistEnd, 1, 1},
    {GOTRACE_V1_TimerGoroutine, GOTRACE_V2_GoSwitchDestroy, 1, 1},
    {GOTRACE_V1_GoStartLabel, GOTRACE_V2_GoSwitch, 1, 3},
    {GOTRACE_V1_GoStop, GOTRACE_V2_GoCreateSyscall, 1, 1},
};

START_TEST(every_event)
{
    const int version = versions[_i];
    blob trace = {0};
    small s = small_new(NULL);
    record_start(s.r, version, blob_write, &trace);
    every_call(&s, 1);
    record_stop(s.r);
    record_check(&trace, version);
    uint64_t counts[GT_CODES];
    count_records(&trace, counts);
    for (size_t i = 0; i < sizeof expected_counts / sizeof *expected_counts; i++) {
        const expected_count *e = &expected_counts[i];
        unsigned code = version < 22 ? e->v1 : e->v2;
        if (gotrace_event_spec_of(version, code))
            ck_assert_msg(counts[code] == (version < 22 ? e->count : e->count_v2),
                          "1.%d has %llu records of type %u", version,
                          (unsigned long long)counts[code], code);
    }
    gotrace_recorder_free(s.r);
    blob_free(&trace);
}
END_TEST

/* States from before the trace, and of other generations, are in it. */
START_TEST(started_later)
{
    const int version = versions[_i];
    const uint64_t pcs[] = {10, 11};
    blob trace = {0};
    small s = small_new(NULL);
    every_call(&s, 1);
    gotrace_rec_proc_start(s.t, s.p);
    gotrace_rec_go *g = gotrace_rec_go_create(s.t, 50, 77, pcs, 2);
    gotrace_rec_go_start(s.t, g);
    gotrace_rec_gc_start(s.t, pcs, 2);
    gotrace_rec_stw_start(s.t, GOTRACE_REC_STW_MARK_TERMINATION, pcs, 2);
    gotrace_rec_sweep_start(s.t, pcs, 2);
    gotrace_rec_sweep_span(s.t, 1, pcs, 2);
    gotrace_rec_mark_assist_start(s.t, pcs, 2);
    record_start(s.r, version, blob_write, &trace);
    gotrace_rec_stw_done(s.t);
    gotrace_recorder_advance(s.r);
    gotrace_rec_heap_alloc(s.t, 1);
    gotrace_recorder_advance(s.r);
    gotrace_rec_mark_assist_done(s.t);
    gotrace_rec_sweep_done(s.t, 0);
    gotrace_rec_gc_done(s.t);
    gotrace_rec_gc_start(s.t, pcs, 2);
    gotrace_rec_go_sys_call(s.t, pcs, 2);
    gotrace_recorder_advance(s.r);
    gotrace_rec_go_sys_exit(s.t);
    record_stop(s.r);
    record_check(&trace, version);
    gotrace_recorder_free(s.r);
    blob_free(&trace);
}
END_TEST

START_TEST(pulled)
{
    const int version = versions[_i];
    const void *bytes;
    size_t size;
    blob trace = {0};
    small s = small_new(NULL);
    for (int round = 0; round < 3; round++) {
        trace.size = 0;
        record_start(s.r, version, NULL, NULL);
        ck_assert_int_eq(gotrace_recorder_start(s.r, version, NULL, NULL), GOTRACE_ERROR);
        every_call(&s, (uint64_t)round * 100 + 1);
        record_stop(s.r);
        ck_assert_int_eq(gotrace_recorder_start(s.r, version, NULL, NULL), GOTRACE_ERROR);
        while (gotrace_recorder_read(s.r, &bytes, &size) == GOTRACE_OK)
            blob_write(&trace, bytes, size);
        record_check(&trace, version);
    }
    gotrace_recorder_free(s.r);
    blob_free(&trace);
}
END_TEST

/* v1: a goroutine that runs when recording begins is recorded on its proc, not on that on which it
 * was created, so that its next event there has the local form. */
START_TEST(local_from_the_start)
{
    blob trace = {0};
    small s = small_new(NULL);
    gotrace_rec_proc_start(s.t, s.p);
    gotrace_rec_go *g = gotrace_rec_go_create(s.t, 50, 77, NULL, 0);
    gotrace_rec_proc_start(s.other, gotrace_rec_proc_new(s.r, 4));
    gotrace_rec_go_start(s.other, g);
    record_start(s.r, 11, blob_write, &trace);
    gotrace_rec_go_park(s.other, GOTRACE_REC_SEND, NULL, 0);
    gotrace_rec_go_unpark(s.other, g, NULL, 0);
    record_stop(s.r);
    record_check(&trace, 11);
    uint64_t counts[GT_CODES];
    count_records(&trace, counts);
    ck_assert_uint_eq(counts[GOTRACE_V1_GoUnblockLocal], 1);
    ck_assert_uint_eq(counts[GOTRACE_V1_GoUnblock], 0);
    gotrace_recorder_free(s.r);
    blob_free(&trace);
}
END_TEST

/* ---- refused memory, failing output ---------------------------------------------------------- */

/* Returns whether all was recorded. */
static bool record_with(failing_allocator *a, int version)
{
    gotrace_config config = failing_config(a);
    blob trace = {0};
    small s = small_new(&config);
    bool good = s.r && s.t && s.other && s.foreign && s.p;
    if (good && gotrace_recorder_start(s.r, version, blob_write, &trace) == GOTRACE_OK) {
        every_call(&s, 1);
        good = gotrace_recorder_stop(s.r) == GOTRACE_OK;
        ck_assert(good || gotrace_recorder_error(s.r)->rule == GOTRACE_RULE_SYSTEM_MEMORY);
        if (good && a->calls <= a->fail_at)
            record_check(&trace, version);
    } else {
        good = false;
    }
    gotrace_recorder_free(s.r);
    blob_free(&trace);
    return good;
}

START_TEST(refused_memory)
{
    for (uint64_t fail_at = 0;; fail_at++) {
        failing_allocator a = {.fail_at = fail_at};
        record_with(&a, versions[_i]);
        ck_assert_int_eq(a.bytes, 0);
        if (a.calls <= fail_at)
            break;
        a = (failing_allocator){.fail_at = fail_at, .for_good = true};
        record_with(&a, versions[_i]);
        ck_assert_int_eq(a.bytes, 0);
    }
}
END_TEST

static bool write_never(void *ctx, const void *bytes, size_t size)
{
    (void)ctx, (void)bytes, (void)size;
    return false;
}

START_TEST(failing_write)
{
    blob trace = {0};
    small s = small_new(NULL);
    record_start(s.r, versions[_i], write_never, NULL);
    every_call(&s, 1);
    ck_assert_int_eq(gotrace_recorder_stop(s.r), GOTRACE_ERROR);
    ck_assert_int_eq(gotrace_recorder_error(s.r)->rule, GOTRACE_RULE_SYSTEM_WRITE);
    record_start(s.r, versions[_i], blob_write, &trace);
    every_call(&s, 101);
    record_stop(s.r);
    record_check(&trace, versions[_i]);
    gotrace_recorder_free(s.r);
    blob_free(&trace);
}
END_TEST

/* ---- limits, files, flight recorder ------------------------------------------------------------
 */

enum { LITTLE = 200 << 10, MANY = 200000 };

static small small_with(gotrace_recorder_options *options)
{
    small s = {0};
    options->size = sizeof *options;
    options->clock = count_ticks;
    options->frequency = 1000000000;
    s.r = recorder_of(options);
    s.t = gotrace_rec_thread_new(s.r, 100);
    s.p = gotrace_rec_proc_new(s.r, 3);
    gotrace_rec_proc_start(s.t, s.p);
    gotrace_rec_go_start(s.t, gotrace_rec_go_create(s.t, 1, 77, NULL, 0));
    return s;
}

/* A flight recorder frees the generations that it keeps. */
START_TEST(freed_window)
{
    failing_allocator a = {.fail_at = UINT64_MAX};
    const gotrace_config config = failing_config(&a);
    const gotrace_recorder_options options = {
        .size = sizeof options, .generation_ns = UINT64_MAX, .flight_ns = UINT64_MAX};
    gotrace_error error = GOTRACE_INIT(gotrace_error);
    gotrace_recorder *r;
    ck_assert_int_eq(gotrace_recorder_new(&options, &config, &r, &error), GOTRACE_OK);
    gotrace_rec_thread *t = gotrace_rec_thread_new(r, 100);
    record_start(r, 26, NULL, NULL);
    for (unsigned i = 0; i < 3; i++) {
        gotrace_rec_heap_alloc(t, i);
        gotrace_recorder_advance(r);
    }
    record_stop(r);
    ck_assert_int_gt(a.bytes, 0);
    gotrace_recorder_free(r);
    ck_assert_int_eq(a.bytes, 0);
}
END_TEST

static void many_events(small *s)
{
    for (unsigned i = 0; i < MANY; i++)
        gotrace_rec_heap_alloc(s->t, i);
}

static uint64_t heap_records(const blob *trace, int version)
{
    uint64_t counts[GT_CODES];
    count_records(trace, counts);
    return counts[version < 22 ? (unsigned)GOTRACE_V1_HeapAlloc : (unsigned)GOTRACE_V2_HeapAlloc];
}

static void read_all(small *s, blob *trace)
{
    const void *bytes;
    size_t size;
    while (gotrace_recorder_read(s->r, &bytes, &size) == GOTRACE_OK) {
        const int cancel = gt_thread_hold_cancel(); /* check writes a message for each assertion */
        blob_write(trace, bytes, size);
        gt_thread_allow_cancel(cancel);
    }
}

/* Nobody reads: the trace ends early, is sound, and the next one is whole. */
START_TEST(cut)
{
    const int version = versions[_i];
    blob trace = {0};
    gotrace_recorder_options options = {.max_bytes = LITTLE, .when_full = GOTRACE_REC_CUT};
    small s = small_with(&options);
    for (int round = 0; round < 2; round++) {
        trace.size = 0;
        record_start(s.r, version, NULL, NULL);
        many_events(&s);
        record_stop(s.r);
        ck_assert_uint_eq(gotrace_recorder_lost(s.r)->cut, 1);
        read_all(&s, &trace);
        ck_assert_uint_lt(trace.size, LITTLE + (200 << 10));
        ck_assert_uint_gt(heap_records(&trace, version), 10000);
        record_check(&trace, version);
    }
    record_start(s.r, version, NULL, NULL);
    gotrace_rec_heap_alloc(s.t, 1);
    record_stop(s.r);
    ck_assert_uint_eq(gotrace_recorder_lost(s.r)->cut, 0);
    gotrace_recorder_free(s.r);
    blob_free(&trace);
}
END_TEST

typedef struct late_output {
    blob trace;
    bool begun;
} late_output;

/* The output begins when the thread that records waits. */
static bool write_late(void *ctx, const void *bytes, size_t size)
{
    late_output *to = ctx;
    if (!to->begun)
        wait_for_other_threads();
    to->begun = true;
    return blob_write(&to->trace, bytes, size);
}

/* Events wait for the output, and all are in the trace. */
START_TEST(waits)
{
    const int version = versions[_i];
    late_output to = {.begun = false};
    gotrace_recorder_options options = {.max_bytes = LITTLE, .generation_ns = 2000000};
    small s = small_with(&options);
    record_start(s.r, version, write_late, &to);
    many_events(&s);
    record_stop(s.r);
    ck_assert_uint_gt(gotrace_recorder_lost(s.r)->waits, 0);
    ck_assert_uint_eq(heap_records(&to.trace, version), MANY);
    record_check(&to.trace, version);
    gotrace_recorder_free(s.r);
    blob_free(&to.trace);
}
END_TEST

/* AddressSanitizer does not notice that a cancelled thread leaves functions, and reports that its
 * own code uses their part of the stack. */
static void forget_stack(void *unused)
{
    (void)unused;
#if defined __SANITIZE_ADDRESS__
    pthread_attr_t attributes;
    void *stack;
    size_t size;
    ck_assert_int_eq(pthread_getattr_np(pthread_self(), &attributes), 0);
    ck_assert_int_eq(pthread_attr_getstack(&attributes, &stack, &size), 0);
    pthread_attr_destroy(&attributes);
    __asan_unpoison_memory_region(stack, size);
#endif
}

static void *record_events(void *arg)
{
    pthread_cleanup_push(forget_stack, NULL);
    many_events(arg);
    pthread_testcancel();
    pthread_cleanup_pop(0);
    return NULL;
}

typedef struct output_reader {
    small *from;
    blob trace;
} output_reader;

static void *read_events(void *arg)
{
    output_reader *r = arg;
    pthread_cleanup_push(forget_stack, NULL);
    read_all(r->from, &r->trace);
    pthread_testcancel();
    pthread_cleanup_pop(0);
    return NULL;
}

static void ck_assert_cancelled(pthread_t thread)
{
    void *result;
    ck_assert_int_eq(pthread_join(thread, &result), 0);
    ck_assert_ptr_eq(result, PTHREAD_CANCELED);
}

/* Threads are cancelled while an event waits for room, and while the reader waits for events. */
START_TEST(cancelled)
{
    const int version = versions[_i];
    pthread_t worker, taker;
    gotrace_recorder_options options = {.max_bytes = LITTLE};
    small s = small_with(&options);
    output_reader to = {.from = &s};
    record_start(s.r, version, NULL, NULL);
    ck_assert_int_eq(pthread_create(&worker, NULL, record_events, &s), 0);
    wait_for_other_threads();
    pthread_cancel(worker);
    ck_assert_int_eq(pthread_create(&taker, NULL, read_events, &to), 0);
    ck_assert_cancelled(worker);
    wait_for_other_threads();
    pthread_cancel(taker);
    record_stop(s.r);
    ck_assert_cancelled(taker);
    ck_assert_uint_eq(heap_records(&to.trace, version), MANY);
    record_check(&to.trace, version);
    gotrace_recorder_free(s.r);
    blob_free(&to.trace);
}
END_TEST

START_TEST(descriptor)
{
    blob trace = {0};
    gotrace_recorder_options options = {0};
    small s = small_with(&options);
    FILE *file = tmpfile();
    ck_assert_int_eq(gotrace_recorder_start_fd(s.r, versions[_i], fileno(file)), GOTRACE_OK);
    many_events(&s);
    record_stop(s.r);
    rewind(file);
    for (int c; (c = getc(file)) != EOF;)
        blob_write(&trace, &(uint8_t){(uint8_t)c}, 1);
    fclose(file);
    ck_assert_uint_eq(heap_records(&trace, versions[_i]), MANY);
    record_check(&trace, versions[_i]);
    ck_assert_int_eq(gotrace_recorder_start_fd(s.r, versions[_i], -1), GOTRACE_OK);
    ck_assert_int_eq(gotrace_recorder_stop(s.r), GOTRACE_ERROR);
    gotrace_recorder_free(s.r);
    blob_free(&trace);
}
END_TEST

/* A gotrace_resolve_fn whose strings are valid until the next call only. It counts its calls. */
static size_t name_pc(void *ctx, uint64_t pc, gotrace_frame *frames, size_t max)
{
    static char function[16], file[16];
    unsigned *calls = ctx;
    (void)max;
    ++*calls;
    memset(function, '?', sizeof function);
    memset(file, '?', sizeof file);
    frames[0].function = function;
    frames[0].function_size = (size_t)snprintf(function, sizeof function, "f%u", (unsigned)pc);
    frames[0].file = file;
    frames[0].file_size = (size_t)snprintf(file, sizeof file, "%u.c", (unsigned)pc);
    return 1;
}

static void check_names(gotrace_reader *reader, uint64_t stack, const uint64_t *pcs, size_t depth)
{
    gotrace_frame frames[4];
    ck_assert_uint_eq(gotrace_reader_stack(reader, stack, frames, 4), depth);
    for (size_t i = 0; i < depth; i++) {
        char name[16];
        int size = snprintf(name, sizeof name, "f%u", (unsigned)pcs[i]);
        ck_assert_uint_eq(frames[i].function_size, (size_t)size);
        ck_assert_mem_eq(frames[i].function, name, (size_t)size);
        size = snprintf(name, sizeof name, "%u.c", (unsigned)pcs[i]);
        ck_assert_uint_eq(frames[i].file_size, (size_t)size);
        ck_assert_mem_eq(frames[i].file, name, (size_t)size);
    }
}

START_TEST(names)
{
    static const uint64_t pcs[] = {10, 110, 12, 1};
    blob trace = {0};
    unsigned calls = 0;
    gotrace_recorder_options options = {.resolve = name_pc, .resolve_ctx = &calls};
    small s = small_with(&options);
    record_start(s.r, versions[_i], blob_write, &trace);
    for (size_t depth = 1; depth <= 4; depth++)
        gotrace_rec_gomaxprocs(s.t, depth, pcs, depth);
    record_stop(s.r);
    gotrace_recorder_free(s.r);
    ck_assert_uint_eq(calls, 5); /* once for each address, and for where the goroutine starts */
    gotrace_source *source;
    gotrace_reader *reader;
    const gotrace_event *e;
    size_t found = 0;
    ck_assert_int_eq(gotrace_source_memory(trace.bytes, trace.size, NULL, &source, NULL),
                     GOTRACE_OK);
    ck_assert_int_eq(gotrace_reader_open(source, NULL, &reader, NULL), GOTRACE_OK);
    while (gotrace_reader_next(reader, &e) == GOTRACE_EVENT)
        if (e->kind == GOTRACE_KIND_METRIC && e->stack)
            check_names(reader, e->stack, pcs, ++found);
    ck_assert_uint_eq(found, 4);
    gotrace_reader_close(reader);
    gotrace_source_close(source);
    blob_free(&trace);
}
END_TEST

typedef struct resolver {
    small *s;
    int version;
    _Atomic bool entered, recorded;
} resolver;

/* A gotrace_resolve_fn that returns when another thread has used the recorder, the first time. */
static size_t wait_for_events(void *ctx, uint64_t pc, gotrace_frame *frames, size_t max)
{
    resolver *x = ctx;
    (void)pc, (void)frames, (void)max;
    if (!atomic_exchange(&x->entered, true))
        while (!x->recorded)
            usleep(1000);
    return 1;
}

static void *record_meanwhile(void *ctx)
{
    resolver *x = ctx;
    while (!x->entered)
        usleep(100);
    if (x->version >= 22)
        many_events(x->s);
    else
        gotrace_rec_thread_new(x->s->r, 200);
    x->recorded = true;
    return NULL;
}

/* Names are found without the lock of the recorder: while a generation ends threads record several
 * buffers of the next one, and while a trace ends they can use the recorder. */
START_TEST(names_meanwhile)
{
    static const uint64_t pcs[] = {10, 11};
    const int version = versions[_i];
    blob trace = {0};
    pthread_t thread;
    resolver x = {.version = version};
    gotrace_recorder_options options = {
        .resolve = wait_for_events, .resolve_ctx = &x, .generation_ns = UINT64_MAX};
    small s = small_with(&options);
    x.s = &s;
    record_start(s.r, version, blob_write, &trace);
    gotrace_rec_gomaxprocs(s.t, 2, pcs, 2);
    ck_assert_int_eq(pthread_create(&thread, NULL, record_meanwhile, &x), 0);
    if (version >= 22)
        ck_assert_int_eq(gotrace_recorder_advance(s.r), GOTRACE_OK);
    record_stop(s.r);
    pthread_join(thread, NULL);
    ck_assert(x.recorded);
    ck_assert_uint_eq(heap_records(&trace, version), version >= 22 ? MANY : 0);
    record_check(&trace, version);
    gotrace_recorder_free(s.r);
    blob_free(&trace);
}
END_TEST

/* The reader of the pipe takes a part, and ends. */
static void *read_a_part(void *fd)
{
    enum { PART = 100000 };
    char bytes[4096];
    ssize_t n = 1;
    for (size_t got = 0; got < PART && n > 0; got += (size_t)n)
        n = read(*(int *)fd, bytes, sizeof bytes);
    close(*(int *)fd);
    return NULL;
}

/* A full disk, and a pipe that is closed in the middle of the trace: the recorder fails, and can
 * record the next trace. */
START_TEST(no_more_room)
{
    int fds[2];
    pthread_t reader;
    gotrace_recorder_options options = {0};
    blob trace = {0};
    small s = small_with(&options);
    int full = open("/dev/full", O_WRONLY);
    ck_assert(full >= 0 && pipe(fds) == 0 && signal(SIGPIPE, SIG_IGN) != SIG_ERR);
    ck_assert_int_eq(pthread_create(&reader, NULL, read_a_part, &fds[0]), 0);
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(gotrace_recorder_start_fd(s.r, versions[_i], i ? fds[1] : full),
                         GOTRACE_OK);
        many_events(&s);
        ck_assert_int_eq(gotrace_recorder_stop(s.r), GOTRACE_ERROR);
        ck_assert_int_eq(gotrace_recorder_error(s.r)->rule, GOTRACE_RULE_SYSTEM_WRITE);
    }
    pthread_join(reader, NULL);
    record_start(s.r, versions[_i], blob_write, &trace);
    many_events(&s);
    record_stop(s.r);
    record_check(&trace, versions[_i]);
    ck_assert_uint_eq(heap_records(&trace, versions[_i]), MANY);
    gotrace_recorder_free(s.r);
    blob_free(&trace);
    close(full);
    close(fds[1]);
}
END_TEST

/* Old generations are dropped, and each snapshot is a sound trace that ends now. */
START_TEST(flight)
{
    const int version = versions[_i];
    gotrace_recorder_options options = {
        .generation_ns = UINT64_MAX, .max_bytes = 2 * LITTLE, .flight_ns = UINT64_MAX};
    small s = small_with(&options);
    record_start(s.r, version, NULL, NULL);
    for (unsigned round = 0; round < 20; round++) {
        blob trace = {0};
        gotrace_rec_gc_start(s.t, NULL, 0);
        for (unsigned i = 0; i < MANY / 20; i++)
            gotrace_rec_heap_alloc(s.t, i);
        ck_assert_int_eq(gotrace_recorder_snapshot(s.r, blob_write, &trace), GOTRACE_OK);
        record_check(&trace, version);
        ck_assert_uint_ge(heap_records(&trace, version), MANY / 20);
        ck_assert_uint_lt(trace.size, 3 * LITTLE);
        gotrace_rec_gc_done(s.t);
        ck_assert_int_eq(gotrace_recorder_snapshot(s.r, write_never, NULL), GOTRACE_ERROR);
        blob_free(&trace);
    }
    ck_assert_uint_gt(gotrace_recorder_lost(s.r)->generations, 0);
    record_stop(s.r);
    gotrace_recorder_free(s.r);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("record");
    TCase *t = tcase_create("record");
    enum { V1_VERSIONS = 8 };
    tcase_add_loop_test(t, every_event, 0, VERSIONS);
    tcase_add_loop_test(t, started_later, 0, VERSIONS);
    tcase_add_loop_test(t, pulled, 0, VERSIONS);
    tcase_add_loop_test(t, refused_memory, 0, VERSIONS);
    tcase_add_loop_test(t, failing_write, 0, VERSIONS);
    tcase_add_loop_test(t, cut, 0, VERSIONS);
    tcase_add_loop_test(t, waits, 0, VERSIONS);
    tcase_add_loop_test(t, cancelled, 0, VERSIONS);
    tcase_add_loop_test(t, descriptor, 0, VERSIONS);
    tcase_add_loop_test(t, names, 1, VERSIONS); /* 1.5 has no names */
    tcase_add_loop_test(t, names_meanwhile, 1, VERSIONS);
    tcase_add_loop_test(t, no_more_room, 0, VERSIONS);
    tcase_add_test(t, local_from_the_start);
    tcase_add_test(t, freed_window);
    tcase_add_loop_test(t, flight, V1_VERSIONS, VERSIONS);
    suite_add_tcase(s, t);
    return s;
}

int main(void)
{
    return run_suite(suite());
}
