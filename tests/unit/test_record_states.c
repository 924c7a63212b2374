/*
 * test_record_states.c - the recorder: where goroutines stopped is in each generation, and stacks
 * that the recorder takes; events of Go 1.5 and of early versions; procs that are no longer used.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/filter.h>
#include <linux/seccomp.h>

#include "gotrace_record.h"
#include "reading.h"
#include "record/record.h"
#include "recording.h"
#include "writing.h"

static const int versions[] = {5, 7, 8, 9, 10, 11, 19, 21, 22, 23, 25, 26};
enum { VERSIONS = sizeof versions / sizeof *versions };

static uint64_t count_ticks(void *ctx)
{
    static _Atomic uint64_t ticks = 1000;
    (void)ctx;
    return atomic_fetch_add(&ticks, 100);
}

typedef struct scene {
    gotrace_recorder *r;
    gotrace_rec_thread *t;
    gotrace_rec_proc *p;
    blob trace;
} scene;

/* Records with a thread that has a proc. */
static scene scene_of(int version, gotrace_recorder_options options)
{
    options.size = sizeof options;
    options.clock = count_ticks;
    options.frequency = 1000000000;
    options.generation_ns = UINT64_MAX;
    options.on_misuse = fail_on_misuse;
    scene s = {.r = recorder_of(&options)};
    s.t = gotrace_rec_thread_new(s.r, 7);
    s.p = gotrace_rec_proc_new(s.r, 0);
    gotrace_rec_proc_start(s.t, s.p);
    ck_assert_int_eq(gotrace_recorder_start(s.r, version, NULL, NULL), GOTRACE_OK);
    return s;
}

static scene scene_new(int version, gotrace_stack_fn stack, void *ctx)
{
    return scene_of(version, (gotrace_recorder_options){.stack = stack, .stack_ctx = ctx});
}

static void scene_stop(scene *s)
{
    const void *bytes;
    size_t size;
    ck_assert_int_eq(gotrace_recorder_stop(s->r), GOTRACE_OK);
    while (gotrace_recorder_read(s->r, &bytes, &size) == GOTRACE_OK)
        blob_write(&s->trace, bytes, size);
    reading got = reading_of(s->trace.bytes, s->trace.size, NULL, READING_CHECK);
    ck_assert_msg(got.status == GOTRACE_END && got.problem_count == 0, "%s",
                  got.problem_count ? got.problems[0].message : got.error.message);
}

static void scene_free(scene *s)
{
    gotrace_recorder_free(s->r);
    blob_free(&s->trace);
}

static gotrace_rec_go *run_new(scene *s, uint64_t id)
{
    gotrace_rec_go *g = gotrace_rec_go_create(s->t, id, 5000, NULL, 0);
    gotrace_rec_go_start(s->t, g);
    return g;
}

/* ---- stacks in the trace -----------------------------------------------------------------------
 */

/* The stack of an event: its depth, and the sum of its PCs. */
typedef struct seen {
    size_t depth;
    uint64_t sum;
} seen;

static gotrace_reader *reader_of(const blob *trace, gotrace_source **source)
{
    gotrace_reader *reader;
    ck_assert_int_eq(gotrace_source_memory(trace->bytes, trace->size, NULL, source, NULL),
                     GOTRACE_OK);
    ck_assert_int_eq(gotrace_reader_open(*source, NULL, &reader, NULL), GOTRACE_OK);
    return reader;
}

/* What the events of that type have, up to max; returns how many there are. goroutine 0: any. */
static size_t stacks_of(const blob *trace, unsigned type, uint64_t goroutine, seen *found,
                        size_t max)
{
    gotrace_source *source;
    gotrace_reader *reader = reader_of(trace, &source);
    const gotrace_event *e;
    gotrace_frame frames[128];
    size_t count = 0;
    while (gotrace_reader_next(reader, &e) == GOTRACE_EVENT) {
        if (e->type != type || (goroutine && e->subject != goroutine) || count == max)
            continue;
        seen *s = &found[count++];
        *s = (seen){.depth = gotrace_reader_stack(reader, e->stack, frames, 128)};
        for (size_t i = 0; i < s->depth; i++)
            s->sum += frames[i].pc;
    }
    gotrace_reader_close(reader);
    gotrace_source_close(source);
    return count;
}

/* A goroutine that waits, one in a system call, one that can run, and one that was not started,
 * over several generations: each status says where the goroutine stopped. */
START_TEST(status_with_stack)
{
    enum { GENERATIONS = 4 };
    const int version = _i;
    const uint64_t waits[] = {10, 20}, calls[] = {100, 200, 300}, yields[] = {1};
    seen found[2 * GENERATIONS];
    scene s = scene_new(version, NULL, NULL);
    run_new(&s, 1);
    gotrace_rec_go_park(s.t, GOTRACE_REC_SEND, waits, 2);
    run_new(&s, 2);
    gotrace_rec_go_sched(s.t, yields, 1);
    gotrace_rec_go_create(s.t, 3, 5000, NULL, 0);
    run_new(&s, 4);
    gotrace_rec_go_sys_call(s.t, calls, 3);
    for (int i = 1; i < GENERATIONS; i++)
        ck_assert_int_eq(gotrace_recorder_advance(s.r), GOTRACE_OK);
    gotrace_rec_go_sys_exit(s.t);
    scene_stop(&s);
    const seen expected[] = {{2, 30}, {1, 1}, {1, 5001}, {3, 600}};
    for (uint64_t id = 1; id <= 4; id++) {
        const unsigned type = version < 23 ? GOTRACE_V2_GoStatus : GOTRACE_V2_GoStatusStack;
        ck_assert_uint_eq(stacks_of(&s.trace, type, id, found, GENERATIONS), GENERATIONS - 1);
        for (int i = 0; i < GENERATIONS - 1; i++) {
            ck_assert_uint_eq(found[i].depth, version < 23 ? 0 : expected[id - 1].depth);
            ck_assert_uint_eq(found[i].sum, version < 23 ? 0 : expected[id - 1].sum);
        }
    }
    scene_free(&s);
}
END_TEST

/* A goroutine that stopped again, without a stack, has none; nor one whose trace is another. */
START_TEST(status_without_stack)
{
    const uint64_t pcs[] = {10, 20};
    seen found[8];
    scene s = scene_new(26, NULL, NULL);
    gotrace_rec_go *g = run_new(&s, 1);
    gotrace_rec_go_park(s.t, GOTRACE_REC_SEND, pcs, 2);
    gotrace_rec_go_unpark(s.t, g, NULL, 0);
    gotrace_rec_go_start(s.t, g);
    gotrace_rec_go_park(s.t, GOTRACE_REC_SEND, NULL, 0);
    run_new(&s, 2);
    gotrace_rec_go_park(s.t, GOTRACE_REC_SEND, pcs, 2);
    ck_assert_int_eq(gotrace_recorder_advance(s.r), GOTRACE_OK);
    scene_stop(&s);
    ck_assert_uint_eq(stacks_of(&s.trace, GOTRACE_V2_GoStatusStack, 0, found, 8), 1);
    s.trace.size = 0;
    ck_assert_int_eq(gotrace_recorder_start(s.r, 26, NULL, NULL), GOTRACE_OK);
    scene_stop(&s);
    ck_assert_uint_eq(stacks_of(&s.trace, GOTRACE_V2_GoStatusStack, 0, found, 8), 0);
    ck_assert_uint_eq(stacks_of(&s.trace, GOTRACE_V2_GoStatus, 0, found, 8), 2);
    scene_free(&s);
}
END_TEST

/* Functions of 1000 bytes. */
static size_t name_thousand(void *ctx, uint64_t pc, gotrace_frame *frames, size_t max)
{
    static char name[24];
    (void)ctx, (void)max;
    snprintf(name, sizeof name, "f%d", (int)((pc - 1) / 1000));
    frames[0].function = name;
    frames[0].function_size = strlen(name);
    return 1;
}

/* "NAME NAME\n" for the frames of each event of that type with a stack. goroutine 0: any. */
static void print_stacks(const blob *trace, unsigned type, uint64_t goroutine, char *text,
                         size_t size)
{
    gotrace_source *source;
    gotrace_reader *reader = reader_of(trace, &source);
    const gotrace_event *e;
    gotrace_frame frames[128];
    text[0] = '\0';
    FILE *to = fmemopen(text, size, "w");
    while (gotrace_reader_next(reader, &e) == GOTRACE_EVENT) {
        const size_t depth = gotrace_reader_stack(reader, e->stack, frames, 128);
        if (e->type != type || depth == 0 || (goroutine && e->subject != goroutine))
            continue;
        for (size_t i = 0; i < depth; i++)
            fprintf(to, "%s%.*s", i ? " " : "", (int)frames[i].function_size, frames[i].function);
        fputc('\n', to);
    }
    fclose(to);
    gotrace_reader_close(reader);
    gotrace_source_close(source);
}

static void log_in(gotrace_rec_thread *t, const uint64_t *pcs, size_t depth)
{
    gotrace_rec_log(t, 0, "a", "b", pcs, depth);
}

/* Stacks end at the function that the goroutine starts with. Its outermost call counts, and it may
 * be missing; also in samples, and in stacks that are equal without the rest. */
START_TEST(outermost_function)
{
    static const uint64_t pcs[] = {1001, 5010, 2001, 5020, 9001, 9002}, other[] = {1001, 9001};
    char found[200];
    const int version = versions[_i];
    scene s = scene_of(version, (gotrace_recorder_options){.resolve = name_thousand});
    run_new(&s, 1);
    log_in(s.t, pcs, 6);
    log_in(s.t, pcs, 5);
    log_in(s.t, other, 2);
    gotrace_rec_cpu_sample(s.r, s.t, pcs, 6);
    gotrace_rec_go_end(s.t);
    gotrace_rec_go_start(s.t, gotrace_rec_go_create(s.t, 2, 2000, NULL, 0));
    log_in(s.t, pcs, 6);
    log_in(s.t, other, 2);
    gotrace_rec_go_end(s.t);
    gotrace_rec_go_start(s.t, gotrace_rec_go_create(s.t, 3, 0, NULL, 0));
    log_in(s.t, pcs, 6);
    scene_stop(&s);
    print_stacks(&s.trace, version < 22 ? GOTRACE_V1_UserLog : GOTRACE_V2_UserLog, 0, found,
                 sizeof found);
    ck_assert_str_eq(found, version < 11 ? ""
                                         : "f1 f5 f2 f5\nf1 f5 f2 f5\nf1 f9\nf1 f5 f2\nf1 f9\n"
                                           "f1 f5 f2 f5 f9 f9\n");
    print_stacks(&s.trace, version < 22 ? GOTRACE_V1_CPUSample : GOTRACE_V2_CPUSample, 0, found,
                 sizeof found);
    ck_assert_str_eq(found, version < 19 ? "" : "f1 f5 f2 f5\n");
    scene_free(&s);
}
END_TEST

/* What existed before the trace: a goroutine that never ran has the function that it starts with;
 * where others stopped is not known, until the next generation. */
START_TEST(existed_before)
{
    static const uint64_t pcs[] = {1001, 5010, 9001};
    static const char *const expected[] = {"f1 f5\nf1 f5\n", "f1 f5\n", "f5\nf5\nf5\n",
                                           "f5\nf5\nf5\n"};
    char found[200];
    scene s = scene_of(_i, (gotrace_recorder_options){.resolve = name_thousand});
    gotrace_recorder_stop(s.r);
    run_new(&s, 2);
    gotrace_rec_go_park(s.t, GOTRACE_REC_SEND, pcs, 3);
    gotrace_rec_go_create(s.t, 3, 5000, pcs, 3);
    gotrace_rec_go_unpark(s.t, gotrace_rec_go_create_blocked(s.t, 4, 5000, pcs, 3), NULL, 0);
    const void *bytes;
    size_t size;
    while (gotrace_recorder_read(s.r, &bytes, &size) == GOTRACE_OK)
        continue;
    record_start(s.r, _i, NULL, NULL);
    run_new(&s, 1);
    gotrace_rec_go_park(s.t, GOTRACE_REC_SEND, pcs, 3);
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(gotrace_recorder_advance(s.r), GOTRACE_OK);
    scene_stop(&s);
    for (uint64_t id = 1; id <= 4; id++) {
        print_stacks(&s.trace, GOTRACE_V2_GoStatusStack, id, found, sizeof found);
        ck_assert_str_eq(found, _i < 23 || id == 2 ? "" : expected[id - 1]);
    }
    scene_free(&s);
}
END_TEST

/* ---- stacks that the recorder takes ------------------------------------------------------------
 */

/* As functions with frame pointers leave them on a stack. */
typedef struct frame {
    const struct frame *caller;
    uint64_t pc;
} frame;

static seen stack_of_log(gotrace_stack_fn stack, void *ctx, const void *from)
{
    seen found = {0};
    scene s = scene_new(26, stack, ctx);
    run_new(&s, 1);
    gotrace_rec_log(s.t, 0, "a", "b", from, GOTRACE_REC_FRAMES);
    scene_stop(&s);
    ck_assert_uint_eq(stacks_of(&s.trace, GOTRACE_V2_UserLog, 0, &found, 1), 1);
    scene_free(&s);
    return found;
}

static void expect_stack(const frame *from, size_t depth, uint64_t sum)
{
    const seen found = stack_of_log(NULL, NULL, from);
    ck_assert_uint_eq(found.depth, depth);
    ck_assert_uint_eq(found.sum, sum);
}

START_TEST(frame_pointers)
{
    static frame far[(2 << 20) / sizeof(frame)], many[200];
    frame f[4] = {{&f[1], 1}, {&f[2], 20}, {&f[3], 300}, {NULL, 4000}};
    expect_stack(f, 4, 4321);
    f[3].caller = &f[1]; /* not above */
    expect_stack(f, 4, 4321);
    f[2].caller = &f[2];
    expect_stack(f, 3, 321);
    f[1].caller = (const frame *)((uintptr_t)&f[2] + 1); /* not aligned */
    expect_stack(f, 2, 21);
    f[1].pc = 0;
    expect_stack(f, 1, 1);
    f[0].pc = 0;
    expect_stack(f, 0, 0);
    expect_stack(NULL, 0, 0);
    far[0] = (frame){&far[sizeof far / sizeof *far - 1], 7}; /* of another stack */
    expect_stack(far, 1, 7);
    for (size_t i = 0; i < 200; i++)
        many[i] = (frame){many + i + 1, 1};
    expect_stack(many, 128, 128);
}
END_TEST

static size_t take(void *from, const void *place, uint64_t *pcs, size_t max)
{
    ck_assert_uint_eq(max, 128);
    ck_assert_ptr_eq(from, place);
    pcs[0] = 11;
    pcs[1] = 22;
    return 2;
}

static size_t take_too_many(void *ctx, const void *place, uint64_t *pcs, size_t max)
{
    (void)ctx, (void)place;
    for (size_t i = 0; i < max; i++)
        pcs[i] = 2;
    return max + 1;
}

START_TEST(callback)
{
    int here = 0;
    seen found = stack_of_log(take, &here, &here);
    ck_assert_uint_eq(found.depth, 2);
    ck_assert_uint_eq(found.sum, 33);
    found = stack_of_log(take_too_many, NULL, NULL);
    ck_assert_uint_eq(found.depth, 128);
    ck_assert_uint_eq(found.sum, 256);
}
END_TEST

static uint64_t log_callers(scene *s)
{
    gotrace_rec_log(s->t, 0, "a", "b", GOTRACE_REC_CALLERS);
    return (uint64_t)(uintptr_t)__builtin_return_address(0);
}
static uint64_t (*volatile log_callers_of)(scene *) = log_callers;

/* The stack begins with the caller of the function that has GOTRACE_REC_CALLERS. */
START_TEST(callers)
{
    gotrace_source *source;
    const gotrace_event *e;
    gotrace_frame top = {0};
    scene s = scene_new(26, NULL, NULL);
    run_new(&s, 1);
    const uint64_t pc = log_callers_of(&s);
    gotrace_rec_cpu_sample(s.r, s.t, GOTRACE_REC_CALLERS);
    scene_stop(&s);
    gotrace_reader *reader = reader_of(&s.trace, &source);
    size_t samples = 0;
    while (gotrace_reader_next(reader, &e) == GOTRACE_EVENT) {
        if (e->type == GOTRACE_V2_UserLog)
            ck_assert_uint_ge(gotrace_reader_stack(reader, e->stack, &top, 1), 1);
        samples += e->kind == GOTRACE_KIND_SAMPLE &&
                   gotrace_reader_stack_depth(reader, e->stack) > 0;
    }
    ck_assert_uint_eq(top.pc, pc);
    ck_assert_uint_eq(samples, 1);
    gotrace_reader_close(reader);
    gotrace_source_close(source);
    scene_free(&s);
}
END_TEST

/* A goroutine that is created without a proc, which no reader accepts, is created when it starts.
 */
START_TEST(created_without_proc)
{
    uint64_t counts[GT_CODES];
    scene s = scene_new(_i, NULL, NULL);
    run_new(&s, 1);
    gotrace_rec_go_park(s.t, GOTRACE_REC_SEND, NULL, 0);
    gotrace_recorder_advance(s.r);
    gotrace_rec_proc_stop(s.t);
    gotrace_rec_go *g = gotrace_rec_go_create(s.t, 2, 5000, NULL, 0);
    gotrace_rec_go *h = gotrace_rec_go_create_blocked(s.t, 3, 5000, NULL, 0);
    gotrace_recorder_advance(s.r);
    gotrace_rec_proc_start(s.t, s.p);
    gotrace_rec_go_start(s.t, g);
    gotrace_rec_go_unpark(s.t, h, NULL, 0);
    gotrace_rec_go_end(s.t);
    gotrace_recorder_advance(s.r);
    gotrace_rec_go_start(s.t, h);
    gotrace_rec_go_end(s.t);
    scene_stop(&s);
    count_records(&s.trace, counts);
    ck_assert_uint_eq(counts[GOTRACE_V2_GoCreate] + counts[GOTRACE_V2_GoCreateBlocked], 3);
    scene_free(&s);
}
END_TEST

/* ---- what an event costs -----------------------------------------------------------------------
 */

static void every_usual_event(const scene *s, gotrace_rec_go *g, gotrace_rec_go *h)
{
    static const uint64_t pcs[] = {1, 2, 3, 4, 5, 6, 7, 8};
    gotrace_rec_thread *t = s->t;
    gotrace_rec_task_create(t, 1, 0, "task", pcs, 8);
    gotrace_rec_region(t, 1, GOTRACE_REC_BEGIN, "region", pcs, 8);
    gotrace_rec_log(t, 1, "category", "message", pcs, 8);
    gotrace_rec_region(t, 1, GOTRACE_REC_END, "region", pcs, 8);
    gotrace_rec_task_end(t, 1, pcs, 8);
    gotrace_rec_heap_alloc(t, 1);
    gotrace_rec_heap_goal(t, 2);
    gotrace_rec_go_sys_call(t, pcs, 8);
    gotrace_rec_go_sys_exit(t);
    gotrace_rec_go_park(t, GOTRACE_REC_SEND, pcs, 8);
    gotrace_rec_go_unpark(t, g, pcs, 8);
    gotrace_rec_go_start(t, h);
    gotrace_rec_go_sched(t, pcs, 8);
    gotrace_rec_go_start(t, g);
    gotrace_rec_go_preempt(t, pcs, 8);
    gotrace_rec_go_start(t, h);
    gotrace_rec_go_park(t, GOTRACE_REC_SYNC, pcs, 8);
    gotrace_rec_go_unpark(t, h, pcs, 8);
    gotrace_rec_go_start(t, g);
    gotrace_rec_proc_start(t, s->p);
}

/* From now on every system call but exit ends the process. */
static bool forbid_system_calls(void)
{
    static struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
    };
    static const struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

/* Once stacks and strings are known, events make no system call, which would end the process; take
 * no lock of the recorder, which would be one, because all are taken; allocate nothing; and write
 * nothing to the recorder, which all threads read. */
static void record_in_jail(int version)
{
    enum { TIMES = 50 };
    static gotrace_recorder before;
    failing_allocator a = {.fail_at = UINT64_MAX};
    const gotrace_config config = failing_config(&a);
    const gotrace_recorder_options options = {.size = sizeof options, .generation_ns = UINT64_MAX};
    scene s = {0};
    gotrace_recorder_new(&options, &config, &s.r, NULL);
    s.t = gotrace_rec_thread_new(s.r, 1);
    s.p = gotrace_rec_proc_new(s.r, 1);
    gotrace_recorder_start(s.r, version, NULL, NULL);
    gotrace_rec_proc_start(s.t, s.p);
    gotrace_rec_go *h = gotrace_rec_go_create(s.t, 2, 5000, NULL, 0), *g = run_new(&s, 1);
    every_usual_event(&s, g, h);
    pthread_mutex_lock(&s.r->control);
    pthread_mutex_lock(&s.r->world);
    pthread_mutex_lock(&s.r->lock);
    pthread_mutex_lock(&s.r->numbering);
    memcpy(&before, s.r, sizeof before);
    const uint64_t calls = a.calls;
    if (!forbid_system_calls())
        _exit(2);
    for (int i = 0; i < TIMES; i++)
        every_usual_event(&s, g, h);
    const bool good = a.calls == calls && memcmp(&before, s.r, sizeof before) == 0;
    syscall(SYS_exit, good ? 0 : 1);
}

START_TEST(hot_path)
{
    int status;
    if (versions[_i] < 7) /* its events have numbers in common */
        return;
    pid_t child = fork();
    if (child == 0)
        record_in_jail(versions[_i]);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "1.%d: status %x", versions[_i],
                  (unsigned)status);
}
END_TEST

/* ---- calls of early versions -------------------------------------------------------------------
 */

START_TEST(scans)
{
    const int version = versions[_i];
    uint64_t counts[GT_CODES];
    scene s = scene_new(version, NULL, NULL);
    run_new(&s, 1);
    gotrace_rec_gc_start(s.t, NULL, 0);
    gotrace_rec_gc_scan_start(s.t);
    if (version < 7) { /* they have the same records */
        gotrace_rec_stw_start(s.t, GOTRACE_REC_STW_MARK_TERMINATION, NULL, 0);
        gotrace_rec_stw_done(s.t);
    }
    gotrace_rec_gc_scan_done(s.t);
    gotrace_rec_gc_done(s.t);
    gotrace_rec_gc_scan_start(s.t);
    scene_stop(&s);
    if (version < 22) {
        count_records(&s.trace, counts);
        ck_assert_uint_eq(counts[GOTRACE_V1_STWStart], version < 7 ? 2 : 0);
        ck_assert_uint_eq(counts[GOTRACE_V1_STWDone], version < 7 ? 1 : 0);
    }
    s.trace.size = 0; /* its beginning is not in the next trace */
    ck_assert_int_eq(gotrace_recorder_start(s.r, version, NULL, NULL), GOTRACE_OK);
    gotrace_rec_gc_scan_done(s.t);
    scene_stop(&s);
    scene_free(&s);
}
END_TEST

/* A goroutine that was woken in vain. */
START_TEST(futile)
{
    const int version = versions[_i];
    uint64_t counts[GT_CODES];
    scene s = scene_new(version, NULL, NULL);
    gotrace_rec_go *g = run_new(&s, 1);
    for (int i = 0; i < 3; i++) {
        const unsigned flag = i > 0 ? GOTRACE_REC_FUTILE : 0;
        gotrace_rec_go_park(s.t, (gotrace_rec_reason)(GOTRACE_REC_SYNC | flag), NULL, 0);
        gotrace_rec_go_unpark(s.t, g, NULL, 0);
        gotrace_rec_go_start(s.t, g);
    }
    scene_stop(&s);
    count_records(&s.trace, counts);
    if (version < 22) {
        ck_assert_uint_eq(counts[GOTRACE_V1_FutileWakeup], 2);
        ck_assert_uint_eq(counts[GOTRACE_V1_GoBlockSync], 3);
    } else {
        ck_assert_uint_eq(counts[GOTRACE_V2_GoBlock], 3);
    }
    scene_free(&s);
}
END_TEST

/* Fewer procs, and more again, in one generation and later. */
START_TEST(procs_freed)
{
    uint64_t counts[GT_CODES];
    const int version = versions[_i];
    scene s = scene_new(version, NULL, NULL);
    gotrace_rec_thread *other = gotrace_rec_thread_new(s.r, 8);
    for (int round = 0; round < 4; round++) {
        gotrace_rec_proc *q = gotrace_rec_proc_new(s.r, 1);
        gotrace_rec_proc_start(other, q);
        gotrace_rec_heap_alloc(other, 1);
        gotrace_rec_proc_stop(other);
        gotrace_rec_proc_free(s.t, q);
        if (round == 1)
            gotrace_recorder_advance(s.r);
    }
    gotrace_recorder_advance(s.r);
    scene_stop(&s);
    count_records(&s.trace, counts);
    if (version < 22)
        ck_assert_uint_eq(counts[GOTRACE_V1_ProcStart], 5);
    else /* proc 0 in three generations; proc 1 in two */
        ck_assert_uint_eq(counts[GOTRACE_V2_ProcStatus], 5);
    scene_free(&s);
}
END_TEST

static uint64_t read_seconds(void *ctx)
{
    return *(const uint64_t *)ctx;
}

/* A clock with long ticks: times are those of the clock, and events within a tick follow each
 * other.
 */
START_TEST(long_ticks)
{
    const int version = versions[_i];
    uint64_t seconds = 1700000000;
    blob trace = {0};
    gotrace_recorder *r = recorder_of(
        &(gotrace_recorder_options){.size = sizeof(gotrace_recorder_options),
                                    .clock = read_seconds,
                                    .clock_ctx = &seconds,
                                    .frequency = 1,
                                    .generation_ns = UINT64_MAX});
    gotrace_rec_thread *t = gotrace_rec_thread_new(r, 7);
    gotrace_rec_proc *p = gotrace_rec_proc_new(r, 0);
    record_start(r, version, blob_write, &trace);
    gotrace_rec_proc_start(t, p);
    for (unsigned i = 0; i < 1000; i++) {
        gotrace_rec_heap_alloc(t, i);
        seconds += i % 250 == 0;
    }
    gotrace_rec_proc_stop(t);
    record_stop(r);
    gotrace_recorder_free(r);
    reading got = reading_of(trace.bytes, trace.size, NULL, READING_CHECK);
    ck_assert(got.status == GOTRACE_END && got.summary.problems == 0);
    ck_assert_int_ge(got.summary.duration, 3999900000);
    ck_assert_int_le(got.summary.duration, 4000100000);
    blob_free(&trace);
}
END_TEST

/* Procs are freed that have not ended their sweeps, and others get their ids, in the same
 * generation and later. */
START_TEST(procs_freed_sweeping)
{
    uint64_t counts[GT_CODES];
    const int version = versions[_i];
    scene s = scene_new(version, NULL, NULL);
    gotrace_rec_thread *other = gotrace_rec_thread_new(s.r, 8);
    for (int round = 0; round < 6; round++) {
        gotrace_rec_proc *q = gotrace_rec_proc_new(s.r, 1);
        gotrace_rec_proc_start(other, q);
        gotrace_rec_sweep_start(other, NULL, 0);
        gotrace_rec_sweep_span(other, 100, NULL, 0);
        if (round % 2)
            gotrace_recorder_advance(s.r);
        gotrace_rec_proc_stop(other);
        gotrace_rec_proc_free(s.t, q);
        if (round > 2) {
            gotrace_recorder_advance(s.r);
            gotrace_recorder_advance(s.r);
        }
    }
    scene_stop(&s);
    count_records(&s.trace, counts);
    ck_assert_uint_eq(counts[version < 22 ? GOTRACE_V1_GCSweepStart : GOTRACE_V2_GCSweepBegin], 6);
    ck_assert_uint_eq(counts[version < 22 ? GOTRACE_V1_GCSweepDone : GOTRACE_V2_GCSweepEnd], 5);
    scene_free(&s);
}
END_TEST

/* A thread gives up its proc in a system call, and takes it again before it leaves the call: then
 * the goroutine runs. Or the goroutine, of a thread of others, ends in it. */
START_TEST(proc_again)
{
    const int version = versions[_i];
    uint64_t counts[GT_CODES];
    scene s = scene_new(version, NULL, NULL);
    gotrace_rec_go *g = run_new(&s, 1);
    gotrace_rec_go_sys_call(s.t, NULL, 0);
    gotrace_rec_proc_stop(s.t);
    gotrace_rec_proc_start(s.t, s.p);
    gotrace_rec_go_sys_exit(s.t);
    gotrace_rec_go_park(s.t, GOTRACE_REC_SEND, NULL, 0);
    gotrace_rec_proc_stop(s.t);
    for (int i = 0; i < 2; i++) {
        gotrace_rec_go_create_sys_call(s.t, 2 + (uint64_t)i);
        gotrace_rec_proc_start(s.t, s.p);
        if (i > 0) {
            gotrace_rec_go_sys_exit(s.t);
            gotrace_rec_go_unpark(s.t, g, NULL, 0);
            gotrace_rec_go_sys_call(s.t, NULL, 0);
        }
        gotrace_rec_go_destroy_sys_call(s.t);
    }
    gotrace_rec_proc_start(s.t, s.p);
    gotrace_rec_go_start(s.t, g);
    scene_stop(&s);
    count_records(&s.trace, counts);
    if (version >= 22)
        ck_assert_uint_eq(counts[GOTRACE_V2_GoSyscallEndBlocked], 2);
    scene_free(&s);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("record_states");
    TCase *t = tcase_create("record_states");
    tcase_add_loop_test(t, status_with_stack, 22, 27);
    tcase_add_test(t, status_without_stack);
    tcase_add_loop_test(t, outermost_function, 0, VERSIONS);
    tcase_add_loop_test(t, existed_before, 22, 27);
    tcase_add_test(t, frame_pointers);
    tcase_add_test(t, callback);
    tcase_add_test(t, callers);
    tcase_add_loop_test(t, created_without_proc, 22, 27);
#if !defined __SANITIZE_THREAD__ /* which makes system calls */
    tcase_add_loop_test(t, hot_path, 0, VERSIONS);
#endif
    tcase_add_loop_test(t, scans, 0, VERSIONS);
    tcase_add_loop_test(t, futile, 0, VERSIONS);
    tcase_add_loop_test(t, long_ticks, 0, VERSIONS);
    tcase_add_loop_test(t, procs_freed_sweeping, 0, VERSIONS);
    tcase_add_loop_test(t, procs_freed, 0, VERSIONS);
    tcase_add_loop_test(t, proc_again, 0, VERSIONS);
    suite_add_tcase(s, t);
    return s;
}

int main(void)
{
    return run_suite(suite());
}
