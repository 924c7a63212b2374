/* test_reader.c - the reader: states, meaning, tables, interface. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "forged.h"
#include "reading.h"

/* ---- states and meaning -------------------------------------------------------------------- */

START_TEST(initial_states)
{
    open_trace t;
    forge f = forge_new(21);
    FORGE(&f, Batch, 0, 0);
    FORGE(&f, GoCreate, 1, 7, 11, 0);
    FORGE(&f, GoWaiting, 1, 7);
    FORGE(&f, GoCreate, 1, 8, 12, 0);
    FORGE(&f, GoInSyscall, 1, 8);
    FORGE(&f, ProcStart, 1, 77);
    FORGE(&f, Gomaxprocs, 1, 4, 0);
    FORGE(&f, GoCreate, 1, 9, 13, 0);
    forge_finish(&f);
    FORGE(&f, Stack, 11, 1, 1, 0, 0, 1);
    FORGE(&f, Stack, 12, 1, 1, 0, 0, 1);
    FORGE(&f, Stack, 13, 1, 1, 0, 0, 1);
    open_forged(&t, &f);
    gotrace_event e = next(&t);
    ck_assert_int_eq(e.from, GOTRACE_STATE_UNDETERMINED);
    ck_assert_uint_ne(e.flags & GOTRACE_EVENT_INITIAL, 0);
    ck_assert_uint_eq(e.subject, 7);
    ck_assert_uint_eq(gotrace_event_start_stack(&e), 11);
    e = next(&t);
    ck_assert_int_eq(e.to, GOTRACE_STATE_WAITING);
    ck_assert_uint_ne(e.flags & GOTRACE_EVENT_INITIAL, 0);
    next(&t);
    ck_assert_int_eq(next(&t).to, GOTRACE_STATE_SYSCALL);
    e = next(&t);
    ck_assert_int_eq(e.resource, GOTRACE_RESOURCE_PROC);
    ck_assert_int_eq(e.thread, 77);
    e = next(&t);
    ck_assert_int_eq(e.kind, GOTRACE_KIND_METRIC);
    ck_assert_uint_eq(gotrace_event_value(&e), 4);
    ck_assert_int_eq(gotrace_event_metric(&e), GOTRACE_METRIC_GOMAXPROCS);
    e = next(&t);
    ck_assert_int_eq(e.from, GOTRACE_STATE_NOT_EXIST);
    ck_assert_uint_eq(e.flags & GOTRACE_EVENT_INITIAL, 0);
    const gotrace_goroutine *g = gotrace_reader_goroutine(t.reader, 9);
    ck_assert_uint_eq(g->start_stack, 13);
    ck_assert_int_eq(g->state, GOTRACE_STATE_RUNNABLE);
    ck_assert_int_eq(g->created, 6);
    ck_assert_ptr_null(gotrace_reader_goroutine(t.reader, 10));
    ck_assert_ptr_null(gotrace_reader_goroutine(t.reader, 0));
    end(&t);
    const gotrace_summary *s = gotrace_reader_summary(t.reader);
    ck_assert_uint_eq(s->goroutines_initial, 2);
    ck_assert_uint_eq(s->goroutines_created, 1);
    close_forged(&t, &f);
}
END_TEST

START_TEST(user_annotations)
{
    open_trace t;
    forge f = forge_new(21);
    forge_string(&f, 1, "task name", 9);
    forge_string(&f, 2, "region \xc3\xa9", 9);
    forge_string(&f, 3, "key", 3);
    FORGE(&f, Batch, 0, 0);
    FORGE(&f, UserTaskCreate, 1, 50, 49, 1, 0);
    FORGE(&f, UserRegion, 1, 50, 0, 2, 0);
    FORGE(&f, UserLog, 1, 50, 3, 0);
    forge_varint(&f, 7);
    blob_write(&f.out, "message", 7);
    FORGE(&f, UserLog, 1, 50, 3, 0);
    forge_varint(&f, 0);
    FORGE(&f, UserRegion, 1, 50, 1, 2, 0);
    FORGE(&f, UserTaskEnd, 1, 50, 0);
    forge_finish(&f);
    open_forged(&t, &f);
    gotrace_event e = next(&t);
    ck_assert_int_eq(e.kind, GOTRACE_KIND_TASK_BEGIN);
    ck_assert_uint_eq(e.subject, 50);
    ck_assert_uint_eq(gotrace_event_value(&e), 49);
    ck_assert_uint_eq(gotrace_event_details(&e)->text_size, 9);
    ck_assert_mem_eq(gotrace_event_details(&e)->text, "task name", 9);
    e = next(&t);
    ck_assert_int_eq(e.kind, GOTRACE_KIND_REGION_BEGIN);
    ck_assert_mem_eq(gotrace_event_details(&e)->text, "region \xc3\xa9", 9);
    e = next(&t);
    ck_assert_int_eq(e.kind, GOTRACE_KIND_LOG);
    ck_assert_mem_eq(gotrace_event_details(&e)->text, "key", 3);
    ck_assert_uint_eq(gotrace_event_details(&e)->message_size, 7);
    ck_assert_mem_eq(gotrace_event_details(&e)->message, "message", 7);
    e = next(&t);
    ck_assert_uint_eq(gotrace_event_details(&e)->message_size, 0);
    ck_assert_int_eq(next(&t).kind, GOTRACE_KIND_REGION_END);
    e = next(&t);
    ck_assert_int_eq(e.kind, GOTRACE_KIND_TASK_END);
    ck_assert_uint_eq(gotrace_event_details(&e)->text_size, 9);
    ck_assert_mem_eq(gotrace_event_details(&e)->text, "task name", 9);
    end(&t);
    const gotrace_summary *s = gotrace_reader_summary(t.reader);
    ck_assert_uint_eq(s->tasks, 1);
    ck_assert_uint_eq(s->regions, 1);
    ck_assert_uint_eq(s->logs, 2);
    close_forged(&t, &f);
}
END_TEST

START_TEST(tables)
{
    open_trace t;
    gotrace_frame frames[4];
    size_t size;
    forge f = forge_new(21);
    forge_string(&f, 1, "main.main", 9);
    forge_string(&f, 9999999, "main.go", 7);
    FORGE(&f, Batch, 0, 0);
    FORGE(&f, HeapAlloc, 1, 1);
    forge_finish(&f);
    FORGE(&f, Stack, 5, 2, 100, 1, 9999999, 12, 200, 1, 4, 13);
    open_forged(&t, &f);
    ck_assert_int_eq(gotrace_reader_index(t.reader), GOTRACE_OK);
    ck_assert_int_eq(gotrace_reader_index(t.reader), GOTRACE_OK);
    ck_assert_uint_eq(gotrace_reader_stack_depth(t.reader, 5), 2);
    ck_assert_uint_eq(gotrace_reader_stack_depth(t.reader, 6), 0);
    ck_assert_uint_eq(gotrace_reader_stack(t.reader, 5, frames, 4), 2);
    ck_assert_uint_eq(gotrace_reader_stack(t.reader, 5, frames, 1), 1);
    ck_assert_uint_eq(frames[0].pc, 100);
    ck_assert_uint_eq(frames[0].line, 12);
    ck_assert_uint_eq(frames[0].function_size, 9);
    ck_assert_mem_eq(frames[0].function, "main.main", 9);
    ck_assert_mem_eq(frames[0].file, "main.go", 7);
    ck_assert_ptr_null(frames[1].file); /* there is no string 4 */
    ck_assert_ptr_nonnull(gotrace_reader_string(t.reader, 0, &size));
    ck_assert_uint_eq(size, 0);
    ck_assert_ptr_null(gotrace_reader_string(t.reader, 2, &size));
    ck_assert_mem_eq(gotrace_reader_string(t.reader, 9999999, &size), "main.go", 7);
    ck_assert_uint_eq(size, 7);
    next(&t);
    end(&t);
    close_forged(&t, &f);
}
END_TEST

START_TEST(events_report_of_damage)
{
    open_trace t;
    gotrace_event e;
    forge f = forge_new(21);
    FORGE(&f, Batch, 0, 0);
    FORGE(&f, ProcStop, 1);
    FORGE(&f, HeapAlloc, 1, 1);
    forge_finish(&f);
    open_forged(&t, &f);
    e = next(&t);
    ck_assert_uint_ne(e.flags & GOTRACE_EVENT_SUSPECT, 0);
    ck_assert_int_eq(t.problem.rule, GOTRACE_RULE_PROC_STOP);
    ck_assert_uint_eq(t.problem.offset, e.offset);
    ck_assert_uint_eq(t.problem.batch, 0);
    ck_assert_uint_eq(t.problem.event, 1);
    e = next(&t);
    ck_assert_uint_eq(e.flags, 0);
    close_forged(&t, &f);
}
END_TEST

/* ---- interface ------------------------------------------------------------------------------- */

START_TEST(reasons_of_stops)
{
    ck_assert_str_eq(gotrace_stw_reason(11, 0), "mark termination");
    ck_assert_str_eq(gotrace_stw_reason(19, 1), "sweep termination");
    ck_assert_str_eq(gotrace_stw_reason(19, 2), "unknown");
    ck_assert_str_eq(gotrace_stw_reason(21, 0), "unknown");
    ck_assert_str_eq(gotrace_stw_reason(21, 1), "GC mark termination");
    ck_assert_str_eq(gotrace_stw_reason(21, 16), "ResetDebugLog (test)");
    ck_assert_str_eq(gotrace_stw_reason(21, 17), "unknown");
    ck_assert_str_eq(gotrace_stw_reason(21, UINT64_MAX), "unknown");
}
END_TEST

static bool stop_at_once(void *ctx, const gotrace_error *problem)
{
    (void)problem;
    ++*(int *)ctx;
    return false;
}

START_TEST(stopping_at_a_problem)
{
    int given = 0;
    gotrace_config config = {0};
    gotrace_source *source;
    gotrace_reader *reader;
    const gotrace_event *e;
    forge f = forge_new(21);
    FORGE(&f, Batch, 0, 0);
    for (int i = 0; i < 10; i++)
        FORGE(&f, ProcStop, 1);
    forge_finish(&f);
    config.on_problem = stop_at_once;
    config.callback_ctx = &given;
    gotrace_source_memory(f.out.bytes, f.out.size, NULL, &source, NULL);
    ck_assert_int_eq(gotrace_reader_open(source, &config, &reader, NULL), GOTRACE_OK);
    ck_assert_int_eq(gotrace_reader_next(reader, &e), GOTRACE_ERROR);
    ck_assert_int_eq(gotrace_reader_error(reader)->rule, GOTRACE_RULE_PROC_STOP);
    ck_assert_int_eq(gotrace_reader_next(reader, &e), GOTRACE_ERROR);
    ck_assert_int_eq(gotrace_reader_check(reader), GOTRACE_ERROR);
    ck_assert_int_eq(given, 1);
    ck_assert_uint_eq(gotrace_reader_summary(reader)->problems, 1);
    gotrace_reader_close(reader);
    gotrace_source_close(source);
    blob_free(&f.out);
}
END_TEST

typedef struct progress {
    uint64_t done, total, calls;
} progress;

static void note_progress(void *ctx, uint64_t done, uint64_t total)
{
    progress *p = ctx;
    ck_assert_uint_ge(done, p->done);
    *p = (progress){done, total, p->calls + 1};
}

START_TEST(progress_increases)
{
    progress p = {0, 0, 0};
    gotrace_config config = {0};
    gotrace_source *source;
    gotrace_reader *reader;
    forge f = forge_new(21);
    FORGE(&f, Batch, 0, 0);
    while (f.out.size < 5 << 20)
        FORGE(&f, HeapAlloc, 1, 1000000);
    forge_finish(&f);
    config.on_progress = note_progress;
    config.callback_ctx = &p;
    gotrace_source_memory(f.out.bytes, f.out.size, NULL, &source, NULL);
    ck_assert_int_eq(gotrace_reader_open(source, &config, &reader, NULL), GOTRACE_OK);
    ck_assert_int_eq(gotrace_reader_check(reader), GOTRACE_END);
    ck_assert_uint_ge(p.calls, 8);
    ck_assert_uint_eq(p.total, 2 * f.out.size);
    ck_assert_uint_le(p.done, p.total);
    gotrace_reader_close(reader);
    gotrace_source_close(source);
    blob_free(&f.out);
}
END_TEST

START_TEST(closing_early)
{
    open_trace t;
    blob content = {NULL, 0, 0};
    blob_read(&content, "testdata/traces/go1.21-user.trace");
    for (int events = -1; events < 3; events++) {
        failing_allocator a = {.fail_at = UINT64_MAX};
        gotrace_config config = failing_config(&a);
        gotrace_source_memory(content.bytes, content.size, &config, &t.source, NULL);
        gotrace_reader_open(t.source, &config, &t.reader, NULL);
        const gotrace_event *e;
        for (int i = 0; i < events; i++)
            gotrace_reader_next(t.reader, &e);
        if (events == 0)
            gotrace_reader_index(t.reader);
        gotrace_reader_close(t.reader);
        gotrace_source_close(t.source);
        ck_assert_int_eq(a.bytes, 0);
    }
    gotrace_reader_close(NULL);
    gotrace_source_close(NULL);
    blob_free(&content);
}
END_TEST

static bool same(const reading *a, const reading *b)
{
    return a->status == b->status && a->problem_count == b->problem_count &&
           a->events == b->events && a->digest == b->digest;
}

/* The result does not depend on the size of the window, nor on whether events are returned or only
 * checked. */
START_TEST(any_window_size)
{
    static const size_t windows[] = {1, 1024, 4096, 1 << 20};
    trace_file *files = traces_load(60000);
    for (trace_file *file = files; file->path[0]; file++) {
        const blob *b = &file->content;
        reading usual = reading_of(b->bytes, b->size, NULL, READING_NEXT);
        reading checked = reading_of(b->bytes, b->size, NULL, READING_CHECK);
        ck_assert_int_eq(usual.status, GOTRACE_END);
        ck_assert_uint_eq(usual.problem_count, checked.problem_count);
        ck_assert_uint_eq(usual.events, usual.summary.events);
        if (usual.summary.version < GOTRACE_FIRST_V2)
            ck_assert_uint_eq(usual.events, usual.summary.timed_records);
        else
            ck_assert_uint_gt(usual.events, usual.summary.timed_records);
        ck_assert_mem_eq(&usual.summary, &checked.summary, sizeof usual.summary);
        reading_check_sum(&usual);
        for (size_t i = 0; i < sizeof windows / sizeof *windows; i++) {
            gotrace_config config = {0};
            config.window = windows[i];
            reading r = reading_of(b->bytes, b->size, &config, READING_NEXT);
            ck_assert_msg(same(&r, &usual), "%s with a window of %zu", file->path, windows[i]);
        }
    }
    traces_free(files);
}
END_TEST

static reading read_file(const blob *content, bool by_pipe)
{
    gotrace_source *source;
    gotrace_error error = {0};
    int ends[2] = {-1, -1};
    char path[] = "/tmp/gotrace-test-XXXXXX";
    if (by_pipe) {
        ck_assert_int_eq(pipe(ends), 0);
        ck_assert_int_eq(write(ends[1], content->bytes, content->size), (ssize_t)content->size);
        close(ends[1]);
    } else {
        ends[0] = mkstemp(path);
        ck_assert_int_ge(ends[0], 0);
        ck_assert_int_eq(pwrite(ends[0], content->bytes, content->size, 0), (ssize_t)content->size);
        unlink(path);
    }
    ck_assert_int_eq(gotrace_source_fd(ends[0], NULL, &source, &error), GOTRACE_OK);
    reading r = reading_of_source(source, NULL, READING_NEXT);
    gotrace_source_close(source);
    ck_assert_int_ge(fcntl(ends[0], F_GETFD), 0); /* the descriptor remains the caller's */
    close(ends[0]);
    return r;
}

START_TEST(any_source)
{
    blob content = {NULL, 0, 0}, packed = {NULL, 0, 0};
    blob_read(&content, "testdata/traces/go1.19-user.trace");
    packed.capacity = ZSTD_compressBound(content.size);
    packed.bytes = malloc(packed.capacity);
    packed.size = ZSTD_compress(packed.bytes, packed.capacity, content.bytes, content.size, 3);
    reading memory = reading_of(content.bytes, content.size, NULL, READING_NEXT);
    ck_assert_uint_gt(memory.summary.logs, 0);
    for (int by_pipe = 0; by_pipe < 2; by_pipe++) {
        reading plain = read_file(&content, by_pipe), compressed = read_file(&packed, by_pipe);
        ck_assert(same(&plain, &memory));
        ck_assert(same(&compressed, &memory));
    }
    blob_free(&content);
    blob_free(&packed);
}
END_TEST

static bool refuse_problem(void *ctx, const gotrace_error *problem)
{
    *(gotrace_rule *)ctx = problem->rule;
    return false;
}

/* If compressed data is truncated in its second frame, the first is read; the problem callback can
 * stop that. */
START_TEST(compressed_data_cut_off)
{
    blob content = {NULL, 0, 0};
    gotrace_rule refused = GOTRACE_RULE_NONE;
    gotrace_config config = {.on_problem = refuse_problem, .callback_ctx = &refused};
    gotrace_source *source;
    gotrace_error error = {0};
    unsigned char packed[40000], byte;
    size_t got;
    blob_read(&content, "testdata/traces/go1.19-user.trace");
    size_t size = ZSTD_compress(packed, sizeof packed, content.bytes, content.size, 1);
    ck_assert(!ZSTD_isError(size));
    ck_assert_int_eq(gotrace_source_memory(packed, size, &config, &source, &error), GOTRACE_OK);
    ck_assert_ptr_null(gotrace_source_error(source));
    gotrace_source_close(source);

    memcpy(packed + size, packed, size);
    ck_assert_int_eq(gotrace_source_memory(packed, size + 9, NULL, &source, &error), GOTRACE_OK);
    ck_assert_uint_eq(gotrace_source_size(source), content.size);
    ck_assert_uint_eq(gotrace_source_compressed_size(source), size + 9);
    ck_assert_int_eq(gotrace_source_error(source)->rule, GOTRACE_RULE_SYSTEM_ZSTD);
    ck_assert_uint_eq(gotrace_source_error(source)->offset, content.size);
    ck_assert_int_eq(gotrace_source_read(source, content.size - 1, &byte, 1, &got, &error),
                     GOTRACE_OK);
    ck_assert(got == 1 && byte == content.bytes[content.size - 1]);
    gotrace_source_close(source);

    ck_assert_int_eq(gotrace_source_memory(packed, size + 9, &config, &source, &error),
                     GOTRACE_ERROR);
    ck_assert_ptr_null(source);
    ck_assert_int_eq(refused, GOTRACE_RULE_SYSTEM_ZSTD);
    ck_assert_int_eq(error.rule, GOTRACE_RULE_SYSTEM_ZSTD);
    blob_free(&content);
}
END_TEST

/* A file that is truncated while it is read. */
START_TEST(file_that_shrinks)
{
    blob content = {NULL, 0, 0};
    char path[] = "/tmp/gotrace-test-XXXXXX";
    gotrace_source *source;
    gotrace_reader *reader;
    gotrace_error error = {0};
    blob_read(&content, "testdata/traces/go1.21-gc.trace");
    int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(pwrite(fd, content.bytes, content.size, 0), (ssize_t)content.size);
    ck_assert_int_eq(gotrace_source_open(path, NULL, &source, &error), GOTRACE_OK);
    ck_assert_int_eq(gotrace_reader_open(source, NULL, &reader, &error), GOTRACE_OK);
    ck_assert_int_eq(gotrace_reader_index(reader), GOTRACE_OK);
    ck_assert_int_eq(ftruncate(fd, 100), 0);
    ck_assert_int_eq(gotrace_reader_check(reader), GOTRACE_ERROR);
    ck_assert_int_eq(gotrace_reader_error(reader)->rule, GOTRACE_RULE_SYSTEM_READ);
    gotrace_reader_close(reader);
    gotrace_source_close(source);
    close(fd);
    unlink(path);
    blob_free(&content);
}
END_TEST

static const char *const refused_headers[] = {"go 1.6 trace",  "go 1.99 trace", "go 2.0 trace",
                                              "go 1.24 trace", "go 1.12 trace", "go 1.20 trace"};

START_TEST(unsupported_versions)
{
    char header[17] = "";
    snprintf(header, sizeof header, "%s", refused_headers[_i]);
    reading r = reading_of(header, 16, NULL, READING_CHECK);
    ck_assert_int_lt(r.opened, 0);
    ck_assert_int_eq(r.error.class_, GOTRACE_CLASS_UNSUPPORTED);
    ck_assert_int_eq(r.error.severity, GOTRACE_FATAL);
    ck_assert_int_eq(r.error.rule, GOTRACE_RULE_HEADER_VERSION);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("reader");
    TCase *meaning = tcase_create("meaning");
    tcase_add_test(meaning, initial_states);
    tcase_add_test(meaning, user_annotations);
    tcase_add_test(meaning, tables);
    tcase_add_test(meaning, events_report_of_damage);
    suite_add_tcase(suite, meaning);
    TCase *contract = tcase_create("contract");
    tcase_add_test(contract, reasons_of_stops);
    tcase_add_test(contract, stopping_at_a_problem);
    tcase_add_test(contract, progress_increases);
    tcase_add_test(contract, closing_early);
    tcase_add_test(contract, any_window_size);
    tcase_add_test(contract, any_source);
    tcase_add_test(contract, compressed_data_cut_off);
    tcase_add_test(contract, file_that_shrinks);
    tcase_add_loop_test(contract, unsupported_versions, 0,
                        sizeof refused_headers / sizeof *refused_headers);
    suite_add_tcase(suite, contract);
    return run_suite(suite);
}
