/* test_print_threads.c - what print writes does not depend on the number of threads. */
#include <string.h>

#include "formats/print/printer.h"
#include "scripting.h"

static const size_t thread_counts[] = {2, 3, 8};
enum { THREAD_COUNTS = sizeof thread_counts / sizeof *thread_counts };

/* Accepts that number of bytes. */
typedef struct limited {
    blob text;
    size_t limit;
} limited;

static bool write_limited(void *ctx, const void *bytes, size_t size)
{
    limited *l = ctx;
    return size <= l->limit - l->text.size && blob_write(&l->text, bytes, size);
}

/* Prints a trace, and returns the status of the reader. */
static gotrace_status print_trace(const blob *trace, const printer *how, size_t threads, limited *l,
                                  bool *failed)
{
    gotrace_source *source;
    gotrace_reader *reader;
    out o;

    ck_assert_int_eq(gotrace_source_memory(trace->bytes, trace->size, NULL, &source, NULL),
                     GOTRACE_OK);
    ck_assert_int_eq(gotrace_reader_open(source, NULL, &reader, NULL), GOTRACE_OK);
    ck_assert(out_init(&o, write_limited, l));
    gotrace_status status = print_all(
        &(print_job){.how = how, .reader = reader, .threads = threads, .out = &o});
    *failed = !out_flush(&o);
    out_free(&o);
    gotrace_reader_close(reader);
    gotrace_source_close(source);
    return status;
}

static void compare_counts(const blob *trace, const printer *how)
{
    limited one = {.limit = SIZE_MAX};
    bool failed;
    gotrace_status status = print_trace(trace, how, 1, &one, &failed);

    ck_assert(!failed);
    for (size_t i = 0; i < THREAD_COUNTS; i++) {
        limited several = {.limit = SIZE_MAX};
        ck_assert_int_eq(print_trace(trace, how, thread_counts[i], &several, &failed), status);
        ck_assert(!failed);
        ck_assert_uint_eq(several.text.size, one.text.size);
        ck_assert_int_eq(memcmp(several.text.bytes, one.text.bytes, one.text.size), 0);
        blob_free(&several.text);
    }
    blob_free(&one.text);
}

/* Generations, stacks of several of them, experiments, samples, texts; also a trace that is cut. */
START_TEST(samples)
{
    static const char *const names[] = {
        "go1.19-http.trace", "go1.21-user.trace",      "gccgo-user.trace",    "go1.22-gens.trace",
        "go1.26-user.trace", "go1.26-allocfree.trace", "go1.27-seconds.trace"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        blob trace = trace_sample(names[i]), cut = trace;
        cut.size -= cut.size / 3;
        compare_counts(&trace, printers[_i]);
        compare_counts(&cut, printers[_i]);
        blob_free(&trace);
    }
}
END_TEST

static void put(blob *b, const char *text)
{
    blob_write(b, text, strlen(text));
}

/* Tasks, the last ones with names that are longer than the buffer of a block. */
static blob trace_of_long_lines(void)
{
    enum { TASKS = 300, LONG_TASKS = 40, LENGTH = 300000 };
    static char name[LENGTH + 1];
    blob script = {0}, trace = {0};
    script_error error;
    char line[64];

    memset(name, 'x', LENGTH);
    put(&script, "Trace Go1.19\nBatch p=0 ticks=1000\nString id=1\n\tdata=\"short\"\n"
                 "String id=2\n\tdata=\"");
    put(&script, name);
    put(&script, "\"\nProcStart dt=1 thread=4\n");
    for (int task = 1; task <= TASKS; task++) {
        snprintf(line, sizeof line, "UserTaskCreate dt=1 taskid=%d pid=0 typeid=%d stk=0\n", task,
                 task > TASKS - LONG_TASKS ? 2 : 1);
        put(&script, line);
    }
    ck_assert_int_eq(synth(script.bytes, script.size, &trace, NULL, &error), GOTRACE_OK);
    blob_free(&script);
    return trace;
}

START_TEST(long_lines)
{
    blob trace = trace_of_long_lines();
    compare_counts(&trace, printers[_i]);
    blob_free(&trace);
}
END_TEST

/* Output that fails ends the work, and nothing is written after it. */
START_TEST(failing_output)
{
    blob traces[] = {trace_sample("go1.19-http.trace"), trace_of_long_lines()};
    for (size_t i = 0; i < sizeof traces / sizeof *traces; i++) {
        limited one = {.limit = SIZE_MAX};
        bool failed;
        print_trace(&traces[i], printers[_i], 1, &one, &failed);
        for (size_t part = 0; part < 8; part++) {
            limited l = {.limit = one.text.size * part / 8};
            print_trace(&traces[i], printers[_i], 3, &l, &failed);
            ck_assert(failed);
            if (l.text.size > 0)
                ck_assert_mem_eq(l.text.bytes, one.text.bytes, l.text.size);
            blob_free(&l.text);
        }
        blob_free(&one.text);
        blob_free(&traces[i]);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("print in threads");
    TCase *cases = tcase_create("all");
    int count = 0;

    while (printers[count])
        count++;
    tcase_add_loop_test(cases, samples, 0, count);
    tcase_add_loop_test(cases, long_lines, 0, count);
    tcase_add_loop_test(cases, failing_output, 0, count);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
