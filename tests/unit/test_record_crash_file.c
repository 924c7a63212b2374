/*
 * test_record_crash_file.c - what a crash file has while one thread records, and after it ended;
 * what is not a sound file is rejected.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "crash_files.h"
#include "gotrace_record.h"
#include "recording.h"
#include "record/crash.h"
#include "writing.h"

enum { LITTLE = 4 << 20, EVENTS = 1000, CHILDREN = 20, LEAST_ROOM = 1 << 20 };

typedef struct single {
    gotrace_recorder *r;
    gotrace_rec_thread *t;
    blob trace; /* its output */
} single;

static bool write_until_full(void *ctx, const void *bytes, size_t size)
{
    blob *trace = ctx;
    return trace->size < 100000 && blob_write(trace, bytes, size);
}

static single single_of(const gotrace_recorder_options *options)
{
    single s = {.r = recorder_of(options)};
    s.t = gotrace_rec_thread_new(s.r, 1);
    gotrace_rec_proc_start(s.t, gotrace_rec_proc_new(s.r, 0));
    gotrace_rec_go_start(s.t, gotrace_rec_go_create(s.t, 1, 0, NULL, 0));
    return s;
}

/* The file is read while the recorder exists, so generations must not end by themselves. */
static single single_new(uint64_t bytes)
{
    gotrace_recorder_options options = crash_options(false);
    options.crash_bytes = bytes;
    options.generation_ns = UINT64_MAX;
    return single_of(&options);
}

static void start(single *s, int version, gotrace_write_fn write)
{
    blob_free(&s->trace);
    ck_assert_int_eq(gotrace_recorder_start(s->r, version, write, &s->trace), GOTRACE_OK);
}

static void single_free(single *s)
{
    gotrace_recorder_free(s->r);
    blob_free(&s->trace);
}

static void allocate(const single *s, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        gotrace_rec_heap_alloc(s->t, i);
}

static uint64_t allocations(const blob *trace, int version)
{
    uint64_t counts[GT_CODES];
    count_records(trace, counts);
    return counts[version < 22 ? GOTRACE_V1_HeapAlloc : GOTRACE_V2_HeapAlloc];
}

static uint64_t recovered_allocations(int version)
{
    blob trace = crash_recovered(version);
    crash_check(&trace, version);
    const uint64_t count = allocations(&trace, version);
    blob_free(&trace);
    return count;
}

/* The file is full: the trace ends, and the file has what the output has. */
START_TEST(full)
{
    const int version = crash_versions[_i];
    single s = single_new(LITTLE);
    start(&s, version, blob_write);
    allocate(&s, 3000000);
    ck_assert_uint_gt(recovered_allocations(version), 100000);
    ck_assert_int_eq(gotrace_recorder_stop(s.r), GOTRACE_OK);
    ck_assert_uint_eq(gotrace_recorder_lost(s.r)->cut, 1);
    crash_check(&s.trace, version);
    const uint64_t count = allocations(&s.trace, version);
    ck_assert_uint_gt(count, 100000);
    ck_assert_uint_eq(recovered_allocations(version), count);
    single_free(&s);
    ck_assert_int_eq(access(crash_path, F_OK), -1);
}
END_TEST

static bool is_due(gotrace_recorder *r)
{
    pthread_mutex_lock(&r->lock);
    const bool due = gt_rec_monotonic() >= r->era_due;
    pthread_mutex_unlock(&r->lock);
    return due;
}

enum { PORTION = 10000 };

/* In portions, after each of which the thread that ends generations has ended one that is due: on a
 * busy machine it may wait for a processor while more is recorded than fits into the file, which
 * then has only the generation after that. */
static void allocate_slowly(single *s, unsigned count)
{
    for (; count > PORTION; count -= PORTION) {
        allocate(s, PORTION);
        do {
            pthread_mutex_lock(&s->r->control); /* it is not at work */
            pthread_mutex_unlock(&s->r->control);
        } while (is_due(s->r));
    }
    allocate(s, count);
}

static void run_flight(int version, unsigned count)
{
    gotrace_recorder_options options = crash_options(true);
    options.crash_bytes = LITTLE;
    options.flight_ns = UINT64_MAX;
    single s = single_of(&options);
    if (gotrace_recorder_start(s.r, version, NULL, NULL) != GOTRACE_OK)
        _exit(1);
    allocate_slowly(&s, count);
    if (gotrace_recorder_lost(s.r)->generations == 0 && count > 1000000)
        _exit(2);
    raise(SIGKILL);
}

/* Generations are dropped: the file has at least what came after the last portion, because no
 * generation ends then. */
START_TEST(full_flight)
{
    const int version = crash_versions[_i];
    int status;
    for (unsigned count = 100000; version >= 22 && count < 4000000;
         count += count / (SWEEP_STEP == 1 ? 3 : 1)) {
        pid_t pid = fork();
        if (pid == 0)
            run_flight(version, count);
        ck_assert_int_eq(waitpid(pid, &status, 0), pid);
        ck_assert(WIFSIGNALED(status));
        ck_assert_uint_ge(recovered_allocations(version), (count - 1) % PORTION + 1);
        ck_assert_int_eq(unlink(crash_path), 0);
    }
}
END_TEST

/* One trace after the other: the file has the last one, also after its end. */
START_TEST(restarted)
{
    const int version = crash_versions[_i];
    single s = single_new(0);
    for (unsigned round = 1; round <= 3; round++) {
        start(&s, version, blob_write);
        allocate(&s, round * EVENTS);
        ck_assert_uint_eq(recovered_allocations(version), round * EVENTS);
        ck_assert_int_eq(gotrace_recorder_advance(s.r), GOTRACE_OK);
        ck_assert_uint_eq(recovered_allocations(version), round * EVENTS);
        allocate(&s, 5);
        ck_assert_uint_eq(recovered_allocations(version), round * EVENTS + 5);
        ck_assert_int_eq(gotrace_recorder_stop(s.r), GOTRACE_OK);
        ck_assert_uint_eq(recovered_allocations(version), round * EVENTS + 5);
    }
    single_free(&s);
}
END_TEST

/* The output fails: the file has what it lacks, and stays. */
START_TEST(output_fails)
{
    const int version = crash_versions[_i];
    single s = single_new(0);
    start(&s, version, write_until_full);
    allocate(&s, 200000);
    ck_assert_int_eq(gotrace_recorder_stop(s.r), GOTRACE_ERROR);
    single_free(&s);
    ck_assert_uint_gt(recovered_allocations(version), 20000);
}
END_TEST

/* Creates children at moments when the thread that writes may have a lock. What they record is in
 * no file, and needs no room, which nothing would make. They do not remove the file. */
static void run_children(single *s)
{
    for (unsigned i = 0; i < CHILDREN; i++) {
        int status;
        allocate(s, EVENTS);
        pid_t pid = fork();
        ck_assert_int_ge(pid, 0);
        if (pid == 0) {
            const void *bytes;
            size_t size;
            allocate(s, 200 * EVENTS);
            if (gotrace_recorder_read(s->r, &bytes, &size) != GOTRACE_END ||
                gotrace_recorder_stop(s->r) != GOTRACE_OK)
                _exit(1);
            if (!is_sanitized()) /* its allocator's locks may be held for ever */
                gotrace_recorder_free(s->r);
            _exit(0);
        }
        ck_assert_int_eq(waitpid(pid, &status, 0), pid);
        ck_assert_int_eq(status, 0);
    }
}

START_TEST(forked)
{
    const int version = crash_versions[_i];
    single s = single_new(0);
    start(&s, version, blob_write);
    run_children(&s);
    allocate(&s, 1);
    ck_assert_uint_eq(recovered_allocations(version), CHILDREN * EVENTS + 1);
    ck_assert_int_eq(gotrace_recorder_stop(s.r), GOTRACE_OK);
    ck_assert_uint_eq(allocations(&s.trace, version), CHILDREN * EVENTS + 1);
    single_free(&s);
}
END_TEST

START_TEST(forked_without_file)
{
    const int version = crash_versions[_i];
    const gotrace_recorder_options options = {.size = sizeof options, .max_bytes = LEAST_ROOM};
    single s = single_of(&options);
    start(&s, version, blob_write);
    run_children(&s);
    ck_assert_int_eq(gotrace_recorder_stop(s.r), GOTRACE_OK);
    crash_check(&s.trace, version);
    ck_assert_uint_eq(allocations(&s.trace, version), CHILDREN * EVENTS);
    single_free(&s);
}
END_TEST

__attribute__((noinline)) static uint64_t here(void)
{
    return (uint64_t)(uintptr_t)__builtin_return_address(0);
}

/* Names are found after the end of the process, in the files that it had mapped. */
START_TEST(names)
{
    const int version = crash_versions[_i];
    gotrace_error error = GOTRACE_INIT(gotrace_error);
    blob trace = {0};
    single s = single_new(0);
    start(&s, version, blob_write);
    const uint64_t pcs[] = {here()};
    gotrace_rec_gomaxprocs(s.t, 1, pcs, 1);
    ck_assert_int_eq(crash_recover(crash_open(), NULL, &trace, &error), GOTRACE_OK);
    crash_check(&trace, version);
    /* The function, or without libdw the file. */
    ck_assert(version < 7 || memmem(trace.bytes, trace.size, "names_fn", 8) ||
              memmem(trace.bytes, trace.size, "test_record_crash_file+", 23));
    blob_free(&trace);
    single_free(&s);
}
END_TEST

/* ---- errors ---------------------------------------------------------------------------------- */

START_TEST(not_created)
{
    gotrace_error error = GOTRACE_INIT(gotrace_error);
    gotrace_recorder *r;
    gotrace_recorder_options options = crash_options(false);
    options.crash_bytes = LITTLE - 1;
    ck_assert_int_eq(gotrace_recorder_new(&options, NULL, &r, &error), GOTRACE_ERROR);
    ck_assert_int_eq(error.rule, GOTRACE_RULE_USAGE);
    options.crash_bytes = 0;
    options.crash_file = crash_folder; /* it exists */
    ck_assert_int_eq(gotrace_recorder_new(&options, NULL, &r, &error), GOTRACE_ERROR);
    ck_assert_int_eq(error.rule, GOTRACE_RULE_SYSTEM_OPEN);
    ck_assert_int_eq(error.os_error, EEXIST);
    options.crash_file = crash_path;
    options.crash_bytes = INT64_MAX;
    ck_assert_int_eq(gotrace_recorder_new(&options, NULL, &r, &error), GOTRACE_ERROR);
    ck_assert_int_eq(error.rule, GOTRACE_RULE_SYSTEM_WRITE);
    ck_assert_ptr_null(r);
    ck_assert_int_eq(access(crash_path, F_OK), -1);
}
END_TEST

/* A crash file of a trace with two open generations' worth of everything. */
static blob crash_file(int version)
{
    blob file = {0};
    const uint64_t pcs[] = {0x401000, 0x402000};
    single s = single_new(LITTLE);
    start(&s, version, blob_write);
    allocate(&s, EVENTS);
    gotrace_recorder_advance(s.r);
    allocate(&s, EVENTS);
    gotrace_rec_region(s.t, 0, GOTRACE_REC_BEGIN, "a region", pcs, 2);
    gotrace_rec_timer_go(s.r, 7);
    gotrace_rec_cpu_sample(s.r, s.t, pcs, 2);
    blob_read(&file, crash_path);
    single_free(&s);
    return file;
}

static gotrace_status recover_blob(const blob *file, size_t size, const gotrace_config *config,
                                   gotrace_error *error)
{
    gotrace_source *source;
    blob trace = {0};
    ck_assert_int_eq(gotrace_source_memory(file->bytes, size, NULL, &source, NULL), GOTRACE_OK);
    gotrace_status status = gotrace_recover(source, crash_no_names, NULL, blob_write, &trace,
                                            config, error);
    gotrace_source_close(source);
    blob_free(&trace);
    return status;
}

static void check_rejected(const blob *file, size_t size, gotrace_rule rule)
{
    gotrace_error error = GOTRACE_INIT(gotrace_error);
    ck_assert_int_eq(recover_blob(file, size, NULL, &error), GOTRACE_ERROR);
    ck_assert_msg(error.rule == rule, "%s", error.message);
    ck_assert_uint_ne(error.offset, GOTRACE_NO_OFFSET);
}

START_TEST(rejected)
{
    blob file = crash_file(26);
    gt_crash_head *head = (gt_crash_head *)file.bytes, good = *head;
    static const size_t sizes[] = {16, 1000, GT_CRASH_MAPS_AT, GT_CRASH_SLOTS_AT, LITTLE / 2};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        check_rejected(&file, sizes[i], GOTRACE_RULE_WIRE_TRUNCATED);
    check_rejected(&file, 15, GOTRACE_RULE_HEADER_MAGIC);
    head->layout++;
    check_rejected(&file, file.size, GOTRACE_RULE_HEADER_VERSION);
    *head = good;
    head->version = 4;
    check_rejected(&file, file.size, GOTRACE_RULE_HEADER_VERSION);
    head->version = 0;
    check_rejected(&file, file.size, GOTRACE_RULE_TRACE_EMPTY);
    *head = good;
    head->first_era = 0;
    check_rejected(&file, file.size, GOTRACE_RULE_GENERATION_NUMBER);
    *head = good;
    head->maps = 2;
    check_rejected(&file, file.size, GOTRACE_RULE_WIRE_LENGTH);
    *head = good;
    head->kept_era = UINT64_MAX;
    check_rejected(&file, file.size, GOTRACE_RULE_TRACE_EMPTY);
    *head = good;
    head->address += 1 << 20;
    check_rejected(&file, file.size, GOTRACE_RULE_BATCH_HEADER);
    blob_free(&file);
}
END_TEST

/* Damage anywhere: an error with a message, or a trace, which may be damaged. */
START_TEST(damaged)
{
    uint64_t random = 1;
    blob file = crash_file(crash_versions[_i]);
    const size_t bytes_used = GT_CRASH_SLOTS_AT + 8 * GT_REC_BUFFER_SIZE;
    for (unsigned i = 0; i < 600; i++) {
        gotrace_error error = GOTRACE_INIT(gotrace_error);
        const size_t slot = GT_CRASH_SLOTS_AT + random_next(&random) % 8 * GT_REC_BUFFER_SIZE;
        const size_t at = i % 3 == 0   ? random_next(&random) % sizeof(gt_crash_head)
                          : i % 3 == 1 ? slot + random_next(&random) % (sizeof(gt_rec_buffer) + 64)
                                       : random_next(&random) % bytes_used;
        uint64_t before, value = absurd_numbers[random_next(&random) % ABSURD_NUMBERS];
        memcpy(&before, file.bytes + at, sizeof before);
        value = i % 2 ? value : before + random_next(&random) % 9 - 4;
        memcpy(file.bytes + at, &value, sizeof value);
        if (recover_blob(&file, file.size, NULL, &error) != GOTRACE_OK)
            ck_assert(error.rule != GOTRACE_RULE_NONE && error.message[0] != '\0');
        memcpy(file.bytes + at, &before, sizeof before);
    }
    blob_free(&file);
}
END_TEST

START_TEST(refused_memory)
{
    gotrace_error error = GOTRACE_INIT(gotrace_error);
    blob file = crash_file(crash_versions[_i]);
    gotrace_status status = GOTRACE_ERROR;
    failing_allocator a = {0};
    for (uint64_t fail_at = 0; status != GOTRACE_OK; fail_at++) {
        a = (failing_allocator){.fail_at = fail_at};
        const gotrace_config config = failing_config(&a);
        status = recover_blob(&file, file.size, &config, &error);
        ck_assert_msg(status == GOTRACE_OK || error.rule == GOTRACE_RULE_SYSTEM_MEMORY, "%llu: %s",
                      (unsigned long long)fail_at, error.message);
        ck_assert_int_eq(a.bytes, 0);
    }
    ck_assert_uint_gt(a.fail_at, 5);
    for (uint64_t fail_at = 0; fail_at < 3; fail_at++) {
        gotrace_recorder *r;
        a = (failing_allocator){.fail_at = fail_at};
        const gotrace_config config = failing_config(&a);
        const gotrace_recorder_options options = crash_options(false);
        ck_assert_int_eq(gotrace_recorder_new(&options, &config, &r, &error), GOTRACE_ERROR);
        ck_assert_int_eq(a.bytes, 0);
    }
    blob_free(&file);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("record_crash_file");
    TCase *t = tcase_create("record_crash_file");
    tcase_add_checked_fixture(t, crash_folder_make, crash_folder_remove);
    tcase_add_loop_test(t, full, 0, CRASH_VERSIONS);
    tcase_add_loop_test(t, full_flight, 0, CRASH_VERSIONS);
    tcase_add_loop_test(t, restarted, 0, CRASH_VERSIONS);
    tcase_add_loop_test(t, output_fails, 0, CRASH_VERSIONS);
    tcase_add_loop_test(t, forked, 0, CRASH_VERSIONS);
    tcase_add_loop_test(t, forked_without_file, 0, CRASH_VERSIONS);
    tcase_add_loop_test(t, names, 0, CRASH_VERSIONS);
    tcase_add_test(t, not_created);
    tcase_add_test(t, rejected);
    tcase_add_loop_test(t, damaged, 0, CRASH_VERSIONS);
    tcase_add_loop_test(t, refused_memory, 0, CRASH_VERSIONS);
    suite_add_tcase(s, t);
    return s;
}

int main(void)
{
    return run_suite(suite());
}
