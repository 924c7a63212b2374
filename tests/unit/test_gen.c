/* test_gen.c - gen's pipe: the consumer receives the records in order, with and without a second
 * thread, and each side notices that the other has ended. */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>

#include "cmd/gen/job.h"
#include "cmd/gen/pipe.h"
#include "support.h"

/* ---- a system on which threads cannot be created --------------------------------------------- */

static bool no_threads;
static bool masked; /* the last thread created has its signals blocked */

typedef int create_fn(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *),
                      void *arg);

int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *), void *arg)
{
    create_fn *real;
    sigset_t signals;
    if (no_threads)
        return EAGAIN;
    pthread_sigmask(SIG_SETMASK, NULL, &signals);
    masked = sigismember(&signals, SIGINT) && sigismember(&signals, SIGTERM);
    *(void **)&real = dlsym(RTLD_NEXT, "pthread_create");
    return real(thread, attr, run, arg);
}

/* ---- the pipe -------------------------------------------------------------------------------- */

typedef struct counting {
    uint64_t count;        /* number of records to produce */
    uint64_t given, taken; /* so far */
    uint64_t enough;       /* the consumer stops after this number */
    uint64_t most_in_block;
    bool refused;
} counting;

static void count_up(void *ctx, gen_pipe *pipe)
{
    counting *c = ctx;
    size_t in_block = 0;
    gen_record *block = gen_pipe_next(pipe, 0);
    for (; block && c->given < c->count; c->given++) {
        block[in_block++] = (gen_record){.ticks = c->given, .args = {[3] = ~c->given}};
        if (in_block == GEN_BLOCK_RECORDS) {
            block = gen_pipe_next(pipe, in_block);
            in_block = 0;
        }
    }
    c->refused = !block;
    if (block && in_block > 0)
        gen_pipe_next(pipe, in_block);
}

static bool check_count(void *ctx, const gen_record *records, size_t count)
{
    counting *c = ctx;
    for (size_t i = 0; i < count; i++, c->taken++) {
        ck_assert_uint_eq(records[i].ticks, c->taken);
        ck_assert_uint_eq(records[i].args[3], ~c->taken);
    }
    return c->taken < c->enough;
}

START_TEST(all_records_arrive)
{
    no_threads = _i;
    const uint64_t counts[] = {0,
                               1,
                               GEN_BLOCK_RECORDS - 1,
                               GEN_BLOCK_RECORDS,
                               GEN_BLOCK_RECORDS + 1,
                               GEN_BLOCKS * GEN_BLOCK_RECORDS,
                               100 * GEN_BLOCK_RECORDS + 7};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        counting c = {.count = counts[i], .enough = UINT64_MAX};
        masked = false;
        ck_assert_int_eq(gen_pipe_run(count_up, &c, check_count, &c), GEN_PIPE_TAKEN);
        ck_assert_uint_eq(c.taken, counts[i]);
        ck_assert(!c.refused);
        ck_assert(masked == !no_threads);
    }
}
END_TEST

START_TEST(refusal_stops)
{
    no_threads = _i;
    counting c = {.count = 1000 * GEN_BLOCK_RECORDS, .enough = 20 * GEN_BLOCK_RECORDS};
    ck_assert_int_eq(gen_pipe_run(count_up, &c, check_count, &c), GEN_PIPE_STOPPED);
    ck_assert_uint_eq(c.taken, c.enough);
    ck_assert(c.refused);
    ck_assert_uint_le(c.given, c.taken + (GEN_BLOCKS + 1) * GEN_BLOCK_RECORDS);

    /* stop within the last block */
    c = (counting){.count = 3 * GEN_BLOCK_RECORDS + 1, .enough = 3 * GEN_BLOCK_RECORDS + 1};
    ck_assert_int_eq(gen_pipe_run(count_up, &c, check_count, &c), GEN_PIPE_STOPPED);
}
END_TEST

/* ---- gen ------------------------------------------------------------------------------------- */

static const gen_job job = {
    .seed = 7, .version = 26, .events = 60000, .procs = 8, .goroutines = 200};

START_TEST(same_bytes)
{
    blob writer_thread = {0}, in_turns = {0};
    gotrace_error error = {0};
    for (int version = 21; version <= 26; version += 5) {
        gen_job j = job;
        j.version = version;
        writer_thread.size = in_turns.size = 0;
        no_threads = false;
        ck_assert_int_eq(gen_write(&j, blob_write, &writer_thread, NULL, &error), GOTRACE_OK);
        no_threads = true;
        ck_assert_int_eq(gen_write(&j, blob_write, &in_turns, NULL, &error), GOTRACE_OK);
        ck_assert_uint_eq(writer_thread.size, in_turns.size);
        ck_assert_mem_eq(writer_thread.bytes, in_turns.bytes, writer_thread.size);
    }
    blob_free(&writer_thread);
    blob_free(&in_turns);
}
END_TEST

/* --cover completes early, even with few procs and goroutines. */
START_TEST(covered_early)
{
    static const char *const profiles[] = {"mixed", "http", "pipeline", "gc", "syscalls"};
    size_t versions, most = 0;
    const int *version = gotrace_versions(&versions);
    gotrace_error error = {0};
    for (size_t v = 0; v < versions; v++) {
        for (uint64_t seed = 0; seed < 30; seed++) {
            blob trace = {0};
            gen_job j = {.seed = seed,
                         .version = version[v],
                         .profile = profiles[_i],
                         .procs = 2,
                         .goroutines = GEN_MIN_GOROUTINES,
                         .cover = true};
            ck_assert_int_eq(gen_write(&j, blob_write, &trace, NULL, &error), GOTRACE_OK);
            most = trace.size > most ? trace.size : most;
            blob_free(&trace);
        }
    }
    ck_assert_uint_lt(most, 32000);
}
END_TEST

typedef struct full_disk {
    size_t room, size;
} full_disk;

static bool write_some(void *ctx, const void *bytes, size_t size)
{
    full_disk *disk = ctx;
    (void)bytes;
    disk->size += size;
    errno = ENOSPC;
    return disk->size <= disk->room;
}

/* Whenever the disk is full, the error reports it. */
START_TEST(failed_write)
{
    no_threads = _i;
    for (size_t room = 0; room < 500000; room += 50000) {
        full_disk disk = {.room = room};
        gotrace_error error = {0};
        gotrace_status status = gen_write(&job, write_some, &disk, NULL, &error);
        if (disk.size <= room) {
            ck_assert_int_eq(status, GOTRACE_OK);
            ck_assert_uint_ge(room, 150000);
            break;
        }
        ck_assert_int_eq(status, GOTRACE_ERROR);
        ck_assert_int_eq(error.rule, GOTRACE_RULE_SYSTEM_WRITE);
    }
}
END_TEST

/* Each failing allocation of the writer is reported. */
START_TEST(failed_allocation)
{
    no_threads = _i;
    gen_job small = job;
    small.events = 2000;
    for (uint64_t n = 0;; n++) {
        failing_allocator allocator = {.fail_at = n, .for_good = true};
        gotrace_config config = failing_config(&allocator);
        blob trace = {0};
        gotrace_error error = {0};
        gotrace_status status = gen_write(&small, blob_write, &trace, &config, &error);
        blob_free(&trace);
        ck_assert_int_eq(allocator.bytes, 0);
        if (status == GOTRACE_OK) {
            ck_assert_uint_gt(n, 20);
            break;
        }
        ck_assert_int_eq(error.rule, GOTRACE_RULE_SYSTEM_MEMORY);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("gen");
    TCase *tests = tcase_create("gen");
    tcase_add_loop_test(tests, all_records_arrive, 0, 2);
    tcase_add_loop_test(tests, refusal_stops, 0, 2);
    tcase_add_test(tests, same_bytes);
    tcase_add_loop_test(tests, covered_early, 0, 5);
    tcase_add_loop_test(tests, failed_write, 0, 2);
    tcase_add_loop_test(tests, failed_allocation, 0, 2);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
