/*
 * test_ahead.c - pieces of a trace that are checked on several threads: the result is that of one
 * thread, for sound and damaged traces, with any allocator, and wherever reading stops.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "batches.h"
#include "read/ahead.h"
#include "read/reader.h"
#include "read/v2/v2.h"
#include "reading.h"
#include "scripting.h"

/* Samples with several pieces: generations, or in v1 spans of time, if the batches are small. */
static const char *const names[] = {
    "go1.22-gens.trace",    "go1.22-gensgc.trace",   "go1.23-gensiter.trace",
    "go1.23-seconds.trace", "go1.25-flight-2.trace", "go1.25-gensprof.trace",
    "go1.26-gens.trace",    "go1.27-seconds.trace",  "gccgo-gc.trace",
    "go1.19-gc.trace",      "go1.19-http.trace",     "go1.19-restart-3.trace",
    "go1.21-gc.trace",      "go1.21-procs.trace",    "go1.21-restart-3.trace",
    "gccgo-user.trace",     "go1.19-prof.trace",     "go1.19-syscall.trace",
    "go1.19-user.trace",    "go1.21-prof.trace",     "go1.21-user.trace",
};
enum {
    NAMES = sizeof names / sizeof *names,
    DIVIDED = NAMES - 6, /* the last ones are too small for pieces, or a message is half of them */
};

static const size_t thread_counts[] = {2, 3, 8};
enum { THREAD_COUNTS = sizeof thread_counts / sizeof *thread_counts };

enum {
    BATCH_EVENTS = 6, /* v1: events of a batch */
    WINDOW = 16,      /* v1: pieces have 64 times as many bytes */
};

/* ThreadSanitizer takes ten times as long, and looks at the same code for each damage. */
#if defined __SANITIZE_THREAD__
enum { FLIPS = 10, FLIPS_LIMITED = 2, CHANGES = 8 };
#else
enum { FLIPS = 40, FLIPS_LIMITED = 6, CHANGES = 100 };
#endif

/* A sample, divided into batches that are as small as necessary. */
static blob load(const char *name)
{
    blob trace = trace_sample(name);
    if (trace_version(&trace) >= GOTRACE_FIRST_V2)
        return trace;
    blob divided = batches_divide(&trace, BATCH_EVENTS);
    blob_free(&trace);
    return divided;
}

static void assert_same(const reading *a, const reading *b)
{
    ck_assert_int_eq(a->status, b->status);
    ck_assert_uint_eq(a->problem_count, b->problem_count);
    for (size_t i = 0; i < a->problem_count && i < READING_PROBLEMS; i++) {
        ck_assert_int_eq(a->problems[i].rule, b->problems[i].rule);
        ck_assert_uint_eq(a->problems[i].offset, b->problems[i].offset);
        ck_assert_str_eq(a->problems[i].message, b->problems[i].message);
        ck_assert_int_eq(a->problems[i].time, b->problems[i].time);
        ck_assert_uint_eq(a->problems[i].goroutine, b->problems[i].goroutine);
        ck_assert_uint_eq(a->problems[i].line, b->problems[i].line);
    }
    ck_assert_mem_eq(a->by_class, b->by_class, sizeof a->by_class);
    ck_assert_mem_eq(&a->summary, &b->summary, sizeof a->summary);
}

static void check_all_counts(const void *bytes, size_t size)
{
    gotrace_config config = {.window = WINDOW};
    reading one = reading_of(bytes, size, &config, READING_CHECK);
    for (size_t i = 0; i < THREAD_COUNTS; i++) {
        config.threads = thread_counts[i];
        reading several = reading_of(bytes, size, &config, READING_CHECK);
        assert_same(&one, &several);
    }
}

/* Checks the trace with two threads, of which the other one begins; how many pieces were checked
 * ahead. */
static size_t count_adopted(const blob *trace)
{
    gotrace_config config = {.threads = 2, .window = WINDOW};
    gotrace_source *source;
    gotrace_reader *reader;
    ck_assert_int_eq(gotrace_source_memory(trace->bytes, trace->size, NULL, &source, NULL),
                     GOTRACE_OK);
    ck_assert_int_eq(gotrace_reader_open(source, &config, &reader, NULL), GOTRACE_OK);
    ck_assert_int_eq(gt_check_start(reader), GOTRACE_EVENT);
    wait_for_other_threads();
    ck_assert_int_eq(gotrace_reader_check(reader), GOTRACE_END);
    const size_t adopted = reader->adopted;
    gotrace_reader_close(reader);
    gotrace_source_close(source);
    return adopted;
}

/* These samples have pieces that fit what is assumed about the state before them. */
START_TEST(takes_over_sound_pieces)
{
    blob trace = load(names[_i]);
    ck_assert_uint_gt(count_adopted(&trace), 0);
    check_all_counts(trace.bytes, trace.size);
    blob_free(&trace);
}
END_TEST

/* A trace in which goroutines end regions that they did not begin, and end tasks twice, the second
 * time after many others: goroutine 1 was there before the trace, goroutine 7 was not. */
static blob trace_of_ends(int version)
{
    enum { ROUNDS = 600, LATER = 200, ROOM = 1 << 20 };
    const bool v2 = version >= GOTRACE_FIRST_V2;
    const char *name = v2 ? "name_string" : "typeid", *task = v2 ? "task" : "taskid";
    const char *begin = v2 ? "UserRegionBegin" : "UserRegion";
    const char *end = v2 ? "UserRegionEnd" : "UserRegion";
    char *script = malloc(ROOM);
    blob trace = {0};
    script_error error;
    size_t n = 0;
#define ADD(...) n += (size_t)snprintf(script + n, ROOM - n, __VA_ARGS__)
    ck_assert_ptr_nonnull(script);
    if (v2)
        ADD("Trace Go1.%d level=meaning procs=1\n"
            "GoCreate t=1000 g=1 new_g=7\n\tnew_stack=\"main.w /m.go:1\"\n",
            version);
    else
        ADD("Trace Go1.%d level=meaning frequency=1000000000 start=1000\nGoCreate t=0 p=0 g=1\n"
            "GoStart t=10 p=0 g=1\nGomaxprocs t=20 p=0 procs=1\n"
            "GoCreate t=30 p=0 g=7\n\tstack=\"main.w /m.go:1\"\n",
            version);
    for (unsigned i = 0; i < ROUNDS; i++) {
        const unsigned long long t = 2000 + 20000000ull * i, g = i % 2 ? 1 : 7;
        const char *on = v2 ? "" : " p=0", *stack = v2 ? "stack" : "stk";
        ADD("%s t=%llu%s%s\n", v2 ? "GoStop" : "GoSched", t, on, v2 ? " reason_string=\"s\"" : "");
        ADD("GoStart t=%llu%s g=%llu\n", t + 10, on, g);
        if (i % 3 == 0)
            ADD("%s t=%llu%s %s=0%s %s=\"r\"\n", begin, t + 20, on, task, v2 ? "" : " mode=0",
                name);
        for (unsigned j = 0; j < 1 + (i % 50 == 1); j++)
            ADD("%s t=%llu%s %s=0%s %s=\"r\"\n\t%s=\"main.f /m.go:%u\"\n", end, t + 30 + j, on,
                task, v2 ? "" : " mode=1", name, stack, i / 4);
        ADD("%s t=%llu%s %s=%u %s=0 %s=\"t\"\n", v2 ? "UserTaskBegin" : "UserTaskCreate", t + 40,
            on, task, i + 1, v2 ? "parent_task" : "pid", name);
        ADD("UserTaskEnd t=%llu%s %s=%u\n", t + 50, on, task, i + 1);
        if (i >= LATER && i % 25 == 0)
            ADD("UserTaskEnd t=%llu%s %s=%u\n\t%s=\"main.e /m.go:%u\"\n", t + 60, on, task,
                i + 1 - LATER, stack, i / 4);
    }
#undef ADD
    ck_assert_uint_lt(n, ROOM);
    ck_assert_msg(synth(script, n, &trace, NULL, &error) == GOTRACE_OK, "line %u: %s",
                  (unsigned)error.line, error.error.message);
    free(script);
    return trace;
}

START_TEST(ends_without_a_begin_are_those_of_one_thread)
{
    static const int versions[] = {21, 26};
    blob trace = trace_of_ends(versions[_i]);
    if (versions[_i] < GOTRACE_FIRST_V2) {
        blob divided = batches_divide(&trace, BATCH_EVENTS);
        blob_free(&trace);
        trace = divided;
    }
    reading r = reading_of(trace.bytes, trace.size, NULL, READING_CHECK);
    ck_assert_uint_gt(r.summary.warnings, 100);
    ck_assert_uint_eq(r.summary.problems, 0);
    for (size_t i = 0; i < r.problem_count && i < READING_PROBLEMS; i++) {
        ck_assert_int_eq(r.problems[i].rule, GOTRACE_RULE_BEGIN_MISSING);
        uint64_t round = (uint64_t)r.problems[i].time / 20000000;
        ck_assert_uint_eq(round / 4, r.problems[i].line);
        ck_assert_uint_eq(r.problems[i].goroutine, round % 2 ? 1 : 7);
    }
    check_all_counts(trace.bytes, trace.size);
    blob_free(&trace);
}
END_TEST

/* A trace of two generations. In the second one, thread 8 takes proc 0, which thread `victim` has
 * left in a system call; in the first one it belongs to thread 7, and is in a system call if
 * `left`. */
static blob trace_of_left_proc(bool left, int victim)
{
    enum { EVENTS = 20000 }; /* so that the second generation is checked in the meantime */
    script_error error;
    blob script = {0}, trace = {0};
    char line[1024];
    int size = snprintf(line, sizeof line,
                        "Trace Go1.22\n"
                        "EventBatch gen=1 m=18446744073709551615 time=1000 size=6\n"
                        "Frequency freq=1000000000\n"
                        "EventBatch gen=1 m=7 time=1000 size=%d\n"
                        "ProcStatus dt=0 p=0 pstatus=1\n"
                        "GoStatus dt=0 g=1 m=7 gstatus=2\n",
                        3 * EVENTS + (left ? 13 : 15));
    blob_write(&script, line, (size_t)size);
    for (int i = 0; i < EVENTS; i++)
        blob_write(&script, "HeapAlloc dt=0 heapalloc_value=1\n", 33);
    size = snprintf(line, sizeof line,
                    "GoSyscallBegin dt=5 p_seq=1 stack=0\n"
                    "%s"
                    "EventBatch gen=2 m=18446744073709551615 time=20000 size=6\n"
                    "Frequency freq=1000000000\n"
                    "EventBatch gen=2 m=8 time=20000 size=14\n"
                    "ProcStatus dt=1 p=0 pstatus=4\n"
                    "GoStatus dt=1 g=1 m=7 gstatus=3\n"
                    "ProcSteal dt=1 p=0 p_seq=1 m=%d\n"
                    "EventBatch gen=2 m=7 time=20000 size=2\n"
                    "GoSyscallEndBlocked dt=9\n",
                    left ? "" : "GoSyscallEnd dt=1\n", victim);
    blob_write(&script, line, (size_t)size);
    ck_assert_int_eq(synth(script.bytes, script.size, &trace, NULL, &error), GOTRACE_OK);
    blob_free(&script);
    return trace;
}

START_TEST(a_proc_was_left_in_a_system_call)
{
    blob trace = trace_of_left_proc(true, 7);
    ck_assert_uint_eq(count_adopted(&trace), 1);
    check_all_counts(trace.bytes, trace.size);
    gotrace_config config = {.threads = 1};
    ck_assert_uint_eq(reading_of(trace.bytes, trace.size, &config, READING_CHECK).problem_count, 0);
    blob_free(&trace);
    for (int victim = 6; victim <= 9; victim++) {
        for (int left = 0; left < 2; left++) {
            trace = trace_of_left_proc(left, victim);
            for (int run = 0; run < 50; run++)
                check_all_counts(trace.bytes, trace.size);
            blob_free(&trace);
        }
    }
}
END_TEST

/* The bytes of the trace without a range, or with it twice. */
static void check_changed(const blob *trace, size_t at, size_t end)
{
    blob without = {0}, twice = {0};
    blob_write(&without, (const char *)trace->bytes, at);
    blob_write(&without, (const char *)trace->bytes + end, trace->size - end);
    blob_write(&twice, (const char *)trace->bytes, end);
    blob_write(&twice, (const char *)trace->bytes + at, trace->size - at);
    check_all_counts(without.bytes, without.size);
    check_all_counts(twice.bytes, twice.size);
    blob_free(&without);
    blob_free(&twice);
}

/* Removes or doubles generations and batches: the state before a piece is not the one assumed. */
START_TEST(notices_missing_pieces)
{
    blob trace = load(names[_i]);
    gotrace_source *source;
    gotrace_reader *reader;
    ck_assert_int_eq(gotrace_source_memory(trace.bytes, trace.size, NULL, &source, NULL),
                     GOTRACE_OK);
    ck_assert_int_eq(gotrace_reader_open(source, NULL, &reader, NULL), GOTRACE_OK);
    ck_assert_int_eq(gotrace_reader_index(reader), GOTRACE_OK);
    const gotrace_generation_summary *g;
    for (size_t n = 0; (g = gotrace_reader_generation(reader, n)); n++)
        check_changed(&trace, (size_t)g->offset, (size_t)(g->offset + g->bytes));
    const gt_index *index = &reader->index;
    for (size_t n = 0; n < index->run_count; n += 1 + index->run_count / CHANGES)
        check_changed(&trace, (size_t)index->runs[n].offset, (size_t)index->runs[n].end);
    const struct gt_v2 *v2 = reader->v2;
    for (size_t n = 0; v2 && n < v2->index.batch_count; n += 1 + v2->index.batch_count / CHANGES)
        check_changed(&trace, (size_t)v2->index.batches[n].offset,
                      n + 1 < v2->index.batch_count ? (size_t)v2->index.batches[n + 1].offset
                                                    : trace.size);
    gotrace_reader_close(reader);
    gotrace_source_close(source);
    blob_free(&trace);
}
END_TEST

START_TEST(damage_gives_the_same_findings)
{
    blob trace = load(names[_i]);
    uint64_t random = 1 + (uint64_t)_i;
    for (int flip = 0; flip < FLIPS; flip++) {
        size_t at = 16 + (size_t)(random_next(&random) % (trace.size - 16));
        uint8_t bit = (uint8_t)(1u << random_next(&random) % 8);
        trace.bytes[at] ^= bit;
        check_all_counts(trace.bytes, trace.size);
        trace.bytes[at] ^= bit;
    }
    blob_free(&trace);
}
END_TEST

/* An allocator that refuses from a call on, and notices calls at the same time. */
typedef struct lone_allocator {
    pthread_mutex_t lock;
    uint64_t calls, allowed, blocks;
    size_t bytes, peak;
    bool overlapped;
} lone_allocator;

static void *lone_resize(void *ctx, void *block, size_t old_size, size_t new_size)
{
    lone_allocator *a = ctx;
    if (pthread_mutex_trylock(&a->lock) != 0) {
        a->overlapped = true;
        return NULL;
    }
    void *moved = NULL;
    if (new_size == 0) {
        free(block);
        a->blocks--;
        a->bytes -= old_size;
    } else if (++a->calls <= a->allowed && (moved = realloc(block, new_size))) {
        a->blocks += block == NULL;
        a->bytes += new_size - old_size;
        if (a->bytes > a->peak)
            a->peak = a->bytes;
    }
    pthread_mutex_unlock(&a->lock);
    return moved;
}

static reading read_with(lone_allocator *a, const blob *trace)
{
    gotrace_config config = {
        .threads = 4, .window = WINDOW, .allocator = {.resize = lone_resize, .ctx = a}};
    reading r = reading_of(trace->bytes, trace->size, &config, READING_CHECK);
    ck_assert(!a->overlapped);
    ck_assert_uint_eq(a->blocks, 0);
    return r;
}

START_TEST(allocators_are_called_by_one_thread_at_a_time)
{
    blob trace = load(names[_i]);
    lone_allocator a = {.lock = PTHREAD_MUTEX_INITIALIZER, .allowed = UINT64_MAX};
    gotrace_config one = {.window = WINDOW};
    reading sound = reading_of(trace.bytes, trace.size, &one, READING_CHECK);
    reading r = read_with(&a, &trace);
    assert_same(&sound, &r);
    uint64_t needed = a.calls;
    for (uint64_t allowed = 0; allowed < needed; allowed += 1 + needed / 100) {
        a.calls = 0;
        a.allowed = allowed;
        r = read_with(&a, &trace);
        if (r.status < 0) /* else only other threads were refused memory */
            ck_assert_int_eq(r.error.rule, GOTRACE_RULE_SYSTEM_MEMORY);
        else
            assert_same(&sound, &r);
    }
    blob_free(&trace);
}
END_TEST

/* Reads the trace with 1/steps to 2 of the memory that it needs: all its readers together keep
 * within the limit, and end with one message or the findings of one thread. */
static void check_limits(const blob *trace, unsigned threads, size_t steps)
{
    gotrace_config one = {.window = WINDOW};
    reading unlimited = reading_of(trace->bytes, trace->size, &one, READING_CHECK);
    lone_allocator a = {.lock = PTHREAD_MUTEX_INITIALIZER, .allowed = UINT64_MAX};
    gotrace_limits limits = {0};
    gotrace_config config = {.threads = threads,
                             .window = WINDOW,
                             .limits = &limits,
                             .allocator = {.resize = lone_resize, .ctx = &a}};
    char number[32];
    size_t needed = 0, refused = 0, read = 0;
    gotrace_source *source; /* has a limit of its own */
    ck_assert_int_eq(gotrace_source_memory(trace->bytes, trace->size, NULL, &source, NULL),
                     GOTRACE_OK);
    for (size_t step = 0; step <= 2 * steps; step++) {
        limits.memory = step * needed / steps; /* 0: the default */
        a.peak = 0;
        snprintf(number, sizeof number, " %llu ", (unsigned long long)limits.memory);
        reading r = reading_of_source(source, &config, READING_CHECK);
        if (step == 0)
            needed = a.peak;
        else
            ck_assert_uint_le(a.peak, limits.memory);
        ck_assert_uint_eq(a.bytes, 0);
        ck_assert(!a.overlapped);
        if (r.status >= 0) {
            assert_same(&unlimited, &r);
        } else { /* the message has the limit of the reader, not of a part */
            ck_assert_int_eq(r.error.limit, GOTRACE_LIMIT_MEMORY);
            ck_assert_ptr_nonnull(strstr(r.error.message, number));
        }
        *(r.status < 0 ? &refused : &read) += 1;
    }
    ck_assert(refused > 0 && read > 0);
    gotrace_source_close(source);
}

START_TEST(the_memory_limit_holds_for_all_threads)
{
    enum { STEPS = 40 };
    blob trace = load(names[_i]);
    check_limits(&trace, 4, STEPS);
    blob_free(&trace);
}
END_TEST

/* The search for damage reads the trace with other readers. */
START_TEST(the_memory_limit_holds_for_damaged_traces)
{
    enum { STEPS = 8 };
    blob trace = load(names[_i]);
    uint64_t random = 100 + (uint64_t)_i;
    for (int flip = 0; flip < FLIPS_LIMITED; flip++) {
        size_t at = 16 + (size_t)(random_next(&random) % (trace.size - 16));
        uint8_t bit = (uint8_t)(1u << random_next(&random) % 8);
        trace.bytes[at] ^= bit;
        check_limits(&trace, 1, STEPS);
        check_limits(&trace, 4, STEPS);
        trace.bytes[at] ^= bit;
    }
    blob_free(&trace);
}
END_TEST

/* ---- parts of the memory limit --------------------------------------------------------------- */

typedef struct part_job {
    gt_job job;
    uint64_t limit; /* of its reader; 0: there is none */
} part_job;

static bool begin_part(const gotrace_reader *reader, gt_job *job)
{
    (void)reader, (void)job;
    return true;
}

static bool ignore(void *ctx, const gotrace_error *problem)
{
    (void)ctx, (void)problem;
    return true;
}

static void check_part(gt_ahead *a, gt_job *job)
{
    uint64_t limit = gt_ahead_open(a, job, ignore) ? job->reader->heap.limit : 0;
    ((part_job *)(void *)job)->limit = limit;
}

static void close_part(gt_job *job)
{
    (void)job;
}

/* Whatever is left of the limit, the parts of all jobs do not exceed it. */
START_TEST(jobs_share_the_rest_of_the_limit)
{
    enum { PIECES = 8, REST = 4096 };
    static const gt_ahead_way way = {sizeof(part_job), begin_part, check_part, close_part};
    blob trace = load(names[0]);
    gotrace_config config = {.threads = 4};
    gotrace_source *source;
    gotrace_reader *reader;
    ck_assert_int_eq(gotrace_source_memory(trace.bytes, trace.size, NULL, &source, NULL),
                     GOTRACE_OK);
    ck_assert_int_eq(gotrace_reader_open(source, &config, &reader, NULL), GOTRACE_OK);
    const uint64_t used = reader->heap.used;
    size_t started = 0;
    for (uint64_t rest = 0; rest < REST; rest++) {
        reader->heap.limit = used + rest;
        gt_ahead *a = gt_ahead_start(reader, &way, 0, PIECES);
        if (!a)
            continue;
        started++;
        for (size_t i = 0; i < PIECES; i++) {
            gt_job *job = gt_ahead_wait(a, i);
            if (!job)
                continue;
            uint64_t part = ((part_job *)(void *)job)->limit;
            ck_assert_uint_le(part * PIECES, rest);
            gt_ahead_release(a, job);
        }
        gt_ahead_free(a);
        ck_assert_uint_eq(reader->heap.used, used);
    }
    ck_assert_uint_gt(started, 0);
    gotrace_reader_close(reader);
    gotrace_source_close(source);
    blob_free(&trace);
}
END_TEST

/* The other limits have the same effect as with one thread. */
START_TEST(other_limits_are_those_of_one_thread)
{
    static const size_t members[] = {
        offsetof(gotrace_limits, strings),    offsetof(gotrace_limits, string_bytes),
        offsetof(gotrace_limits, stacks),     offsetof(gotrace_limits, frames),
        offsetof(gotrace_limits, goroutines), offsetof(gotrace_limits, batches),
        offsetof(gotrace_limits, procs),
    };
    blob trace = load(names[_i]);
    size_t reached = 0;
    for (size_t m = 0; m < sizeof members / sizeof *members; m++) {
        for (uint64_t most = 1; most < 1000; most += 1 + most / 3) {
            gotrace_limits limits = {0};
            memcpy((char *)&limits + members[m], &most, sizeof most);
            gotrace_config config = {.window = WINDOW, .limits = &limits, .threads = 1};
            reading one = reading_of(trace.bytes, trace.size, &config, READING_CHECK);
            config.threads = 4;
            reading several = reading_of(trace.bytes, trace.size, &config, READING_CHECK);
            assert_same(&one, &several);
            ck_assert_str_eq(one.error.message, several.error.message);
            reached += one.error.rule == GOTRACE_RULE_SYSTEM_LIMIT;
        }
    }
    ck_assert_uint_gt(reached, 10);
    blob_free(&trace);
}
END_TEST

static bool stop(void *ctx, const gotrace_error *problem)
{
    (void)ctx, (void)problem;
    return false;
}

/* A reader may be closed at any time, with threads at work. */
START_TEST(stops_early)
{
    blob trace = load(names[_i]);
    gotrace_config config = {.threads = 8, .window = WINDOW, .on_problem = stop};
    trace.bytes[trace.size / 4] ^= 0x55;
    for (int run = 0; run < 20; run++) {
        gotrace_source *source;
        gotrace_reader *reader;
        const gotrace_event *event;
        ck_assert_int_eq(gotrace_source_memory(trace.bytes, trace.size, NULL, &source, NULL),
                         GOTRACE_OK);
        ck_assert_int_eq(gotrace_reader_open(source, &config, &reader, NULL), GOTRACE_OK);
        for (int i = 0; i < run && gotrace_reader_next(reader, &event) == GOTRACE_EVENT; i++)
            ;
        gotrace_reader_check(reader);
        gotrace_reader_close(reader);
        gotrace_source_close(source);
    }
    blob_free(&trace);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("ahead");
    TCase *cases = tcase_create("all");
    tcase_add_loop_test(cases, takes_over_sound_pieces, 0, DIVIDED);
    tcase_add_loop_test(cases, ends_without_a_begin_are_those_of_one_thread, 0, 2);
    tcase_add_test(cases, a_proc_was_left_in_a_system_call);
    tcase_add_loop_test(cases, notices_missing_pieces, 0, NAMES);
    tcase_add_loop_test(cases, damage_gives_the_same_findings, 0, NAMES);
    tcase_add_loop_test(cases, allocators_are_called_by_one_thread_at_a_time, 0, NAMES);
    tcase_add_loop_test(cases, the_memory_limit_holds_for_all_threads, 0, NAMES);
    tcase_add_loop_test(cases, the_memory_limit_holds_for_damaged_traces, 0, NAMES);
    tcase_add_test(cases, jobs_share_the_rest_of_the_limit);
    tcase_add_loop_test(cases, other_limits_are_those_of_one_thread, 0, NAMES);
    tcase_add_loop_test(cases, stops_early, 0, NAMES);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
