/*
 * test_alloc.c - each allocation in turn fails: reading ends with an error that reports it, and
 * frees all memory.
 */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "forge.h"
#include "reading.h"
#include "formats/common/utf8.h"

/* ---- traces that use every part of a reader -------------------------------------------------- */

static void put_log(forge *f, const char *message)
{
    FORGE(f, UserLog, 1, 1, 2, 1);
    forge_varint(f, strlen(message));
    blob_write(&f->out, message, strlen(message));
}

/* Goroutine 1 runs on proc 0, blocks in a system call, and continues on proc 1. */
static void put_syscalls(forge *f, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        FORGE(f, Batch, i & 1, 1000 + 100 * i);
        FORGE(f, GoStart, 1, 1, 1 + 2 * i);
        FORGE(f, GoSysCall, 1, 1);
        FORGE(f, GoSysBlock, 1);
        FORGE(f, GoSysExit, 50, 1, 2 + 2 * i, 1000 + 100 * i + 20);
    }
}

static void put_samples(forge *f, uint64_t count)
{
    FORGE(f, Batch, 0, 999);
    for (uint64_t i = 0; i < count; i++)
        FORGE(f, CPUSample, 1, 1000 + 7 * (i * 37 % count), 0, 1, 1);
}

/* Goroutine 2 on proc 2: tasks, regions, logs, and goroutines that are created and end. */
static void put_user(forge *f, uint64_t count)
{
    FORGE(f, Batch, 2, 1000);
    FORGE(f, GoStart, 1, 2, 1);
    for (uint64_t i = 0; i < count; i++) {
        FORGE(f, UserTaskCreate, 1, 100 + i, 0, 1, 1);
        FORGE(f, UserRegion, 1, 100 + i, 0, 2, 1);
        put_log(f, i & 1 ? "a message" : "another message, which is longer than that");
        FORGE(f, GoCreate, 1, 10 + i, 1, 1);
    }
    FORGE(f, GoSched, 1, 1);
    for (uint64_t i = 0; i < count; i++) {
        FORGE(f, GoStart, 1, 10 + i, 1);
        FORGE(f, GoEnd, 1);
    }
}

/* Goroutine 3 on proc 3 has many futile wake-ups. */
static void put_futile(forge *f, uint64_t count)
{
    FORGE(f, Batch, 3, 2000);
    FORGE(f, GoStart, 1, 3, 1);
    for (uint64_t i = 0; i < count; i++) {
        FORGE(f, GoBlock, 1, 1);
        FORGE(f, GoUnblockLocal, 1, 3, 1);
        FORGE(f, GoStartLocal, 1, 3);
        FORGE(f, FutileWakeup, 1);
    }
    FORGE(f, GoSched, 1, 1);
}

/* Each proc waits for another. */
static void put_waits(forge *f, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        FORGE(f, Batch, 10 + i, 100000 - i);
        FORGE(f, GoUnblock, 1, 4, 2 * (count - i), 1);
        FORGE(f, GoStart, 1, 4, 2 * (count - i) + 1);
        FORGE(f, GoBlock, 1, 1);
    }
}

/* `count` events of each sort, and `apart` of those that the reader sorts separately. */
static blob make_trace(uint64_t count, uint64_t apart, bool broken)
{
    forge f = forge_new(19);
    FORGE(&f, Batch, 5, 1);
    for (uint64_t g = 1; g <= 4; g++)
        FORGE(&f, GoCreate, 1, g, 1, 0);
    FORGE(&f, GoWaiting, 1, 4);
    FORGE(&f, Gomaxprocs, 1, 4, 1);
    forge_string(&f, 1, "one", 3);
    forge_string(&f, 2, "two", 3);
    for (uint64_t i = 3; i < count; i++)
        forge_string(&f, i * (broken ? 1000003 : 1), "some string", 11);
    put_syscalls(&f, apart);
    put_samples(&f, apart);
    put_user(&f, count);
    put_futile(&f, apart / 4);
    if (broken) {
        put_waits(&f, 30);
        FORGE(&f, GCStart, 1, 77, 1);
        for (uint64_t i = 0; i < 100; i++)
            FORGE(&f, GoUnblockLocal, 1, 5000 + i, 6000 + i);
    }
    forge_finish(&f);
    for (uint64_t i = 1; i < count; i++)
        FORGE(&f, Stack, i * i, 2, 17, 1, 2, 4, 18, 2, 1, 5);
    return f.out;
}

START_TEST(trace_is_sound)
{
    blob trace = make_trace(60, 60, false);
    reading r = reading_of(trace.bytes, trace.size, NULL, READING_NEXT);
    ck_assert_int_eq(r.status, GOTRACE_END);
    ck_assert_msg(r.problem_count == 0, "%s", r.problems[0].message);
    ck_assert_uint_eq(r.summary.samples, 60);
    ck_assert_uint_eq(r.summary.logs, 60);
    ck_assert_uint_eq(r.summary.regions, 60);
    ck_assert_uint_gt(r.summary.type_records[GOTRACE_V1_FutileWakeup], 0);
    ck_assert_uint_eq(r.summary.goroutines_ended, 60);
    blob_free(&trace);
}
END_TEST

/* ---- failing allocations --------------------------------------------------------------------- */

/* Read with allocation number n failing. False if there were fewer allocations. */
static bool refuse(const blob *trace, uint64_t n, bool for_good, enum reading_way way,
                   const char *spool_dir)
{
    failing_allocator a = {.fail_at = n, .for_good = for_good};
    gotrace_config config = failing_config(&a);
    config.spool_dir = spool_dir;
    reading r = reading_of(trace->bytes, trace->size, &config, way);
    ck_assert_msg(a.bytes == 0, "allocation %llu: %lld bytes left behind", (unsigned long long)n,
                  (long long)a.bytes);
    if (a.calls <= n) {
        ck_assert_int_eq(r.status, GOTRACE_END);
        return false;
    }
    ck_assert_int_eq(r.status, GOTRACE_ERROR);
    ck_assert_msg(r.error.rule == GOTRACE_RULE_SYSTEM_MEMORY, "allocation %llu: %s",
                  (unsigned long long)n, r.error.message);
    ck_assert_int_eq(r.error.severity, GOTRACE_FATAL);
    if (r.opened == GOTRACE_OK)
        ck_assert_uint_eq(r.by_class[GOTRACE_CLASS_SYSTEM], 1);
    return true;
}

static void sweep(const blob *trace)
{
    for (int way = READING_CHECK; way <= READING_NEXT; way++)
        for (int for_good = 0; for_good < 2; for_good++) {
            uint64_t n = 0;
            while (refuse(trace, n, for_good, (enum reading_way)way, NULL))
                n++;
            ck_assert_uint_gt(n, 15);
        }
}

START_TEST(sound_trace)
{
    blob trace = make_trace(60, 60, false);
    sweep(&trace);
    blob_free(&trace);
}
END_TEST

START_TEST(broken_trace)
{
    blob trace = make_trace(300, 60, true);
    reading r = reading_of(trace.bytes, trace.size, NULL, READING_NEXT);
    ck_assert_int_eq(r.status, GOTRACE_END);
    ck_assert(reading_has(&r, GOTRACE_RULE_ORDER_SEQUENCE));
    sweep(&trace);
    blob_free(&trace);
}
END_TEST

/* Enough events are sorted separately that temporary files are used. */
START_TEST(spilling_trace)
{
    blob trace = make_trace(60, 17000, false);
    uint64_t n = 0;
    while (refuse(&trace, n, false, READING_CHECK, "/tmp"))
        n++;
    ck_assert_uint_gt(n, 40);
    blob_free(&trace);
}
END_TEST

START_TEST(old_trace)
{
    forge f = forge_new(5);
    FORGE(&f, Batch, 0, 1, 1);
    FORGE(&f, GoCreate, 1, 1, 1, 0, 0);
    for (uint64_t i = 0; i < 100; i++) {
        FORGE(&f, GoStart, 1, 1, 1);
        FORGE(&f, GoSysCall, 1, 1, 1);
        FORGE(&f, GoSysBlock, 1, 1);
        FORGE(&f, GoSysExit, 1, 1, 1, 6 + 4 * i, 0);
    }
    FORGE(&f, Stack, 1, 2, 17, 18);
    forge_finish(&f);
    sweep(&f.out);
    blob_free(&f.out);
}
END_TEST

START_TEST(real_traces)
{
    trace_file *files = traces_load(2500);
    for (trace_file *file = files; file->path[0]; file++)
        sweep(&file->content);
    traces_free(files);
}
END_TEST

START_TEST(compressed_trace)
{
    blob trace = make_trace(60, 60, false);
    blob packed = {NULL, 0, 0};
    packed.capacity = ZSTD_compressBound(trace.size);
    packed.bytes = malloc(packed.capacity);
    packed.size = ZSTD_compress(packed.bytes, packed.capacity, trace.bytes, trace.size, 1);
    ck_assert(!ZSTD_isError(packed.size));
    sweep(&packed);
    blob_free(&packed);
    blob_free(&trace);
}
END_TEST

/* zlib allocates through the handle's allocator. */
START_TEST(gzip_trace)
{
    enum { GZIP = 16 };
    blob trace = make_trace(60, 60, false);
    z_stream z = {.next_in = trace.bytes, .avail_in = (uInt)trace.size};
    ck_assert_int_eq(deflateInit2(&z, 1, Z_DEFLATED, MAX_WBITS + GZIP, 8, Z_DEFAULT_STRATEGY),
                     Z_OK);
    blob packed = {NULL, 0, 0};
    packed.capacity = deflateBound(&z, trace.size);
    packed.bytes = malloc(packed.capacity);
    z.next_out = packed.bytes;
    z.avail_out = (uInt)packed.capacity;
    ck_assert_int_eq(deflate(&z, Z_FINISH), Z_STREAM_END);
    packed.size = z.total_out;
    deflateEnd(&z);
    sweep(&packed);
    blob_free(&packed);
    blob_free(&trace);
}
END_TEST

/* ---- failing file system --------------------------------------------------------------------- */

START_TEST(no_spool)
{
    blob trace = make_trace(60, 17000, false);
    gotrace_config config = {0};
    config.spool_dir = "/nonexistent/folder";
    reading r = reading_of(trace.bytes, trace.size, &config, READING_CHECK);
    ck_assert_int_eq(r.status, GOTRACE_ERROR);
    ck_assert_int_eq(r.error.rule, GOTRACE_RULE_SYSTEM_WRITE);
    ck_assert_int_ne(r.error.os_error, 0);
    ck_assert_ptr_nonnull(strstr(r.error.message, "/nonexistent/folder"));
    blob_free(&trace);
}
END_TEST

/* The name of a folder is truncated in the message between characters, and the reason follows it.
 */
START_TEST(long_name)
{
    blob trace = make_trace(60, 17000, false);
    for (size_t before = 1; before <= 4; before++) {
        char name[400];
        memset(name, '/', before);
        for (size_t at = before; at + 2 < sizeof name; at += 2)
            memcpy(name + at, "\xc3\xa4", 3);
        gotrace_config config = {0};
        config.spool_dir = name;
        reading r = reading_of(trace.bytes, trace.size, &config, READING_CHECK);
        ck_assert_int_eq(r.error.rule, GOTRACE_RULE_SYSTEM_WRITE);
        size_t size = strlen(r.error.message);
        ck_assert_uint_ge(size, sizeof r.error.message - 3);
        ck_assert_uint_eq(utf8_valid_prefix(r.error.message, size), size);
        const char *reason = strstr(r.error.message, "\xc3\xa4: ");
        ck_assert_ptr_nonnull(reason);
        ck_assert_str_eq(reason + 4, strerror(r.error.os_error));
    }
    blob_free(&trace);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("alloc");
    TCase *refused = tcase_create("refused");
    tcase_add_test(refused, trace_is_sound);
    tcase_add_test(refused, sound_trace);
    tcase_add_test(refused, broken_trace);
    tcase_add_test(refused, spilling_trace);
    tcase_add_test(refused, old_trace);
    tcase_add_test(refused, real_traces);
    tcase_add_test(refused, compressed_trace);
    tcase_add_test(refused, gzip_trace);
    tcase_add_test(refused, no_spool);
    tcase_add_test(refused, long_name);
    suite_add_tcase(suite, refused);
    return run_suite(suite);
}
