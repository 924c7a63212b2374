/*
 * test_record_bytes.c - what one thread records has the same bytes as what the encoder writes, in
 * each version until 1.21.
 */
#include <string.h>

#include "gotrace_record.h"
#include "recording.h"
#include "write/encoder.h"

static const int versions[] = {5, 7, 8, 9, 10, 11, 19, 21};
enum { VERSIONS = sizeof versions / sizeof *versions };

typedef struct twin {
    gotrace_encoder *encoder;
    int version;
    uint64_t ticks, seq;
} twin;

enum { START_PC = 4711 };

/* The function that the goroutine starts with is none of those that it calls, so that stacks are
 * written as they are. */
static size_t resolve(void *ctx, uint64_t pc, gotrace_frame *frames, size_t max)
{
    if (pc != START_PC + 1)
        return record_resolve(ctx, pc, frames, max);
    frames[0].function = "main.start";
    frames[0].function_size = 10;
    return 1;
}

static uint64_t read_ticks(void *ctx)
{
    return ((twin *)ctx)->ticks;
}

static void expect(twin *w, unsigned code, const uint64_t *args, size_t count, uint64_t stack)
{
    const gotrace_event_spec *spec = gotrace_event_spec_of(w->version, code);
    if (spec)
        ck_assert_int_eq(
            gt_encoder_event(w->encoder, 0, spec, w->ticks, ++w->seq, args, count, stack, NULL, 0),
            GOTRACE_OK);
}

#define EXPECT(w, code, stack, ...)                                                                \
    expect(w, GOTRACE_V1_##code, (const uint64_t[]){__VA_ARGS__},                                  \
           sizeof((const uint64_t[]){__VA_ARGS__}) / 8, stack)

static uint64_t expect_stack(twin *w, const uint64_t *pcs, size_t depth)
{
    gotrace_frame frames[16] = {0};
    uint64_t id;
    size_t count = 0;
    for (size_t i = 0; i < depth; i++) {
        size_t more = w->version < 7 ? 1 : resolve(NULL, pcs[i], frames + count, 16 - count);
        frames[count + more - 1].pc = pcs[i];
        count += more;
    }
    ck_assert_int_eq(gt_encoder_stack(w->encoder, frames, count, &id), GOTRACE_OK);
    return id;
}

static uint64_t expect_string(twin *w, const char *text)
{
    uint64_t id = 0;
    if (w->version >= 7)
        ck_assert_int_eq(gt_encoder_string(w->encoder, 0, w->ticks, text, strlen(text), &id),
                         GOTRACE_OK);
    return id;
}

/* The collector runs, and the memory manager reports. */
static void step_memory(twin *w, gotrace_rec_thread *t, const uint64_t *pcs, unsigned i)
{
    const uint64_t stack = expect_stack(w, pcs, 8), numbers[2] = {4096, 1024};
    const uint64_t kind = w->version >= 21;
    gotrace_rec_gc_start(t, pcs, 8);
    expect(w, GOTRACE_V1_GCStart, (const uint64_t[]){i}, w->version >= 7, stack);
    w->ticks += 3;
    gotrace_rec_stw_start(t, GOTRACE_REC_STW_MARK_TERMINATION, NULL, 0);
    expect(w, GOTRACE_V1_STWStart, &kind, w->version >= 10, 0);
    w->ticks += 3;
    gotrace_rec_stw_done(t);
    expect(w, GOTRACE_V1_STWDone, NULL, 0, 0);
    w->ticks += 3;
    gotrace_rec_mark_assist_start(t, pcs, 8);
    expect(w, GOTRACE_V1_GCMarkAssistStart, NULL, 0, stack);
    w->ticks += 3;
    gotrace_rec_mark_assist_done(t);
    expect(w, GOTRACE_V1_GCMarkAssistDone, NULL, 0, 0);
    w->ticks += 3;
    gotrace_rec_gc_done(t);
    expect(w, GOTRACE_V1_GCDone, NULL, 0, 0);
    w->ticks += 3;
    gotrace_rec_sweep_start(t, pcs, 8);
    gotrace_rec_sweep_span(t, 4096, pcs, 8);
    expect(w, GOTRACE_V1_GCSweepStart, NULL, 0, stack);
    w->ticks += 3;
    gotrace_rec_sweep_done(t, 1024);
    expect(w, GOTRACE_V1_GCSweepDone, numbers, w->version >= 9 ? 2 : 0, 0);
    w->ticks += 3;
    gotrace_rec_heap_goal(t, 1000);
    EXPECT(w, HeapGoal, 0, 1000);
    w->ticks += 3;
    gotrace_rec_gomaxprocs(t, 2, pcs, 8);
    EXPECT(w, Gomaxprocs, stack, 2);
    w->ticks += 3;
}

/* The goroutine is preempted, blocks and is woken. */
static void step_scheduler(twin *w, gotrace_rec_thread *t, gotrace_rec_go *g, const uint64_t *pcs)
{
    const bool early = w->version < 7;
    const uint64_t stack = expect_stack(w, pcs, 8), id = 1;
    gotrace_rec_go_preempt(t, pcs, 8);
    expect(w, GOTRACE_V1_GoPreempt, NULL, 0, stack);
    w->ticks += 3;
    gotrace_rec_go_start(t, g);
    expect(w, early ? GOTRACE_V1_GoStart : GOTRACE_V1_GoStartLocal, &id, 1, 0);
    w->ticks += 3;
    gotrace_rec_go_park(t, GOTRACE_REC_SEND, pcs, 8);
    expect(w, GOTRACE_V1_GoBlockSend, NULL, 0, stack);
    w->ticks += 3;
    gotrace_rec_go_unpark(t, g, pcs + 1, 7); /* by no goroutine */
    expect(w, early ? GOTRACE_V1_GoUnblock : GOTRACE_V1_GoUnblockLocal, &id, 1,
           expect_stack(w, pcs + 1, 7));
    w->ticks += 3;
    gotrace_rec_go_start(t, g);
    expect(w, early ? GOTRACE_V1_GoStart : GOTRACE_V1_GoStartLocal, &id, 1, 0);
    w->ticks += 3;
}

/* The goroutine that runs does this; nothing if it is not in the version. */
static void step(twin *w, gotrace_rec_thread *t, gotrace_rec_go *g, unsigned i)
{
    const bool early = w->version < 7;
    uint64_t pcs[8];
    for (unsigned k = 0; k < 8; k++)
        pcs[k] = 1000 * k + i % 7;
    w->ticks += i % 3;
    gotrace_rec_heap_alloc(t, i);
    EXPECT(w, HeapAlloc, 0, i);
    w->ticks += 100;
    gotrace_rec_go_sys_call(t, pcs, 8);
    expect(w, GOTRACE_V1_GoSysCall, NULL, 0, expect_stack(w, pcs, 8));
    gotrace_rec_go_sys_exit(t);
    w->ticks++;
    if (w->version >= 11) {
        const char *name = i % 2 ? "main.run" : "task";
        gotrace_rec_task_create(t, i + 1, 0, name, pcs, 1);
        uint64_t id = expect_string(w, name);
        EXPECT(w, UserTaskCreate, expect_stack(w, pcs, 1), i + 1, 0, id);
    }
    step_memory(w, t, pcs, i);
    step_scheduler(w, t, g, pcs);
    gotrace_rec_go_sched(t, pcs, 2);
    expect(w, GOTRACE_V1_GoSched, NULL, 0, expect_stack(w, pcs, 2));
    w->ticks += 5;
    gotrace_rec_go_start(t, g);
    expect(w, early ? GOTRACE_V1_GoStart : GOTRACE_V1_GoStartLocal, (const uint64_t[]){1}, 1, 0);
}

START_TEST(bytes_of_the_encoder)
{
    twin w = {.version = versions[_i], .ticks = 1000};
    blob expected = {0}, got = {0};
    size_t number;
    const gotrace_recorder_options options = {.size = sizeof options,
                                              .resolve = resolve,
                                              .clock = read_ticks,
                                              .clock_ctx = &w,
                                              .frequency = 1000000000};
    gotrace_error error = GOTRACE_INIT(gotrace_error);
    ck_assert_int_eq(gt_encoder_new(w.version, blob_write, &expected, NULL, &w.encoder, &error),
                     GOTRACE_OK);
    gotrace_recorder *r = recorder_of(&options);
    gotrace_rec_thread *t = gotrace_rec_thread_new(r, 7);
    gotrace_rec_proc *p = gotrace_rec_proc_new(r, 0);
    record_start(r, w.version, blob_write, &got);
    gotrace_rec_proc_start(t, p);
    EXPECT(&w, ProcStart, 0, 7);
    const uint64_t entry = START_PC + 1;
    gotrace_rec_go *g = gotrace_rec_go_create(t, 1, START_PC, NULL, 0);
    EXPECT(&w, GoCreate, 0, 1, w.version < 7 ? START_PC : expect_stack(&w, &entry, 1));
    gotrace_rec_go_start(t, g);
    expect(&w, w.version < 7 ? GOTRACE_V1_GoStart : GOTRACE_V1_GoStartLocal, (uint64_t[]){1}, 1, 0);
    for (unsigned i = 0; i < 12000; i++)
        step(&w, t, g, i);
    w.ticks += 50;
    record_stop(r);
    if (w.version >= 7)
        ck_assert_int_eq(gt_encoder_intern_string(w.encoder, "gotrace record", 14, &number),
                         GOTRACE_OK);
    ck_assert_int_eq(gt_encoder_finish(w.encoder, 1000000000, w.ticks), GOTRACE_OK);
    ck_assert_uint_gt(expected.size, 128 << 10);
    record_check(&got, w.version);
    ck_assert_uint_eq(got.size, expected.size);
    ck_assert(memcmp(got.bytes, expected.bytes, got.size) == 0);
    gotrace_recorder_free(r);
    gotrace_encoder_free(w.encoder);
    blob_free(&expected);
    blob_free(&got);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("record_bytes");
    TCase *t = tcase_create("record_bytes");
    tcase_add_loop_test(t, bytes_of_the_encoder, 0, VERSIONS);
    suite_add_tcase(s, t);
    return s;
}

int main(void)
{
    return run_suite(suite());
}
