/*
 * test_lifetimes.c - strings returned by the library stay valid as long as gotrace.h says, and
 * arguments need not outlive the call.
 *
 * AddressSanitizer (make check-sanitized) reports a use after free; without it, comparison with a
 * copy finds most of them.
 */
#include <stdlib.h>
#include <string.h>

#include "writing.h"

enum { KEPT = 256 };

/* Strings, with copies made when they were returned. */
typedef struct kept {
    const char *strings[KEPT];
    char *copies[KEPT];
    size_t sizes[KEPT], count;
} kept;

static void keep(kept *k, const char *string, size_t size)
{
    if (!string || k->count == KEPT || (k->count > 0 && k->strings[k->count - 1] == string))
        return;
    k->strings[k->count] = string;
    k->sizes[k->count] = size;
    k->copies[k->count] = malloc(size + 1);
    memcpy(k->copies[k->count++], string, size);
}

static void check_kept(const kept *k, const char *trace)
{
    for (size_t i = 0; i < k->count; i++)
        ck_assert_msg(memcmp(k->strings[i], k->copies[i], k->sizes[i]) == 0, "%s: %.*s", trace,
                      (int)k->sizes[i], k->copies[i]);
}

static void drop(kept *k)
{
    for (size_t i = 0; i < k->count; i++)
        free(k->copies[i]);
    k->count = 0;
}

static void check_strings(const trace_file *file)
{
    gotrace_source *source;
    gotrace_reader *reader;
    const gotrace_event *e;
    gotrace_frame frame;
    kept reasons = {.count = 0}, frames = {.count = 0};
    uint64_t generation = 0, events = 0;
    ck_assert_int_eq(
        gotrace_source_memory(file->content.bytes, file->content.size, NULL, &source, NULL),
        GOTRACE_OK);
    ck_assert_int_eq(gotrace_reader_open(source, NULL, &reader, NULL), GOTRACE_OK);
    while (gotrace_reader_next(reader, &e) == GOTRACE_EVENT) {
        const uint64_t now = gotrace_reader_raw(reader)->generation;
        if (now != generation)
            drop(&frames);
        generation = now;
        if (gotrace_event_reason(e))
            keep(&reasons, gotrace_event_reason(e), strlen(gotrace_event_reason(e)));
        if (e->stack && gotrace_reader_stack(reader, e->stack, &frame, 1) > 0)
            keep(&frames, frame.function, frame.function_size);
        if (++events % 512 == 0)
            check_kept(&frames, file->path);
        /* further calls must not invalidate the event's own strings */
        if (gotrace_event_details(e)->text)
            ck_assert_ptr_eq(
                memchr(gotrace_event_details(e)->text, 1, gotrace_event_details(e)->text_size),
                NULL);
    }
    check_kept(&reasons, file->path);
    check_kept(&frames, file->path);
    drop(&reasons);
    drop(&frames);
    gotrace_reader_close(reader);
    gotrace_source_close(source);
}

START_TEST(strings_are_valid_as_long_as_documented)
{
    trace_file *files = traces_load(300000);
    for (trace_file *file = files; file->path[0]; file++)
        if (trace_version(&file->content) > 0)
            check_strings(file);
    traces_free(files);
}
END_TEST

/* More samples than fit in memory, so that reading opens a temporary file. */
static void write_samples(blob *trace)
{
    gotrace_writer *w = writer_of(21, NULL, trace, NULL);
    uint64_t id;
    const gotrace_frame frame = {.pc = 1, .function = "f", .function_size = 1};
    ck_assert_int_eq(gotrace_writer_stack(w, &frame, 1, &id), GOTRACE_OK);
    const gotrace_event_data start = {.spec = gotrace_event_spec_named(21, "ProcStart"),
                                      .proc = 0,
                                      .thread = GOTRACE_NO_THREAD,
                                      .args = (const uint64_t[]){1},
                                      .arg_count = 1};
    ck_assert_int_eq(gotrace_writer_event(w, &start), GOTRACE_OK);
    for (uint64_t i = 0; i < 40000; i++) {
        const gotrace_event_data sample = {.spec = gotrace_event_spec_named(21, "CPUSample"),
                                           .proc = GOTRACE_NO_PROC,
                                           .thread = GOTRACE_NO_THREAD,
                                           .args = (const uint64_t[]){i, 0, 0},
                                           .arg_count = 3,
                                           .stack = id};
        ck_assert_msg(gotrace_writer_event(w, &sample) == GOTRACE_OK, "%s",
                      gotrace_writer_error(w)->message);
    }
    ck_assert_int_eq(gotrace_writer_finish(w), GOTRACE_OK);
    gotrace_writer_free(w);
}

START_TEST(config_need_not_outlive_call)
{
    blob trace = {0};
    write_samples(&trace);
    char dir[16] = "/tmp";
    const gotrace_config config = {.spool_dir = dir};
    gotrace_source *source;
    gotrace_reader *reader;
    ck_assert_int_eq(gotrace_source_memory(trace.bytes, trace.size, &config, &source, NULL),
                     GOTRACE_OK);
    ck_assert_int_eq(gotrace_reader_open(source, &config, &reader, NULL), GOTRACE_OK);
    strcpy(dir, "/no/such/dir");
    ck_assert_msg(gotrace_reader_check(reader) == GOTRACE_END, "%s",
                  gotrace_reader_error(reader)->message);
    ck_assert_uint_eq(gotrace_reader_summary(reader)->samples, 40000);
    gotrace_reader_close(reader);
    gotrace_source_close(source);
    blob_free(&trace);
}
END_TEST

/* A row of one format has no arguments in versions of the other. */
START_TEST(writer_args_of_another_version)
{
    size_t count;
    const int *versions = gotrace_versions(&count);
    for (size_t of = 0; of < count; of++)
        for (size_t in = 0; in < count; in++)
            for (unsigned code = 0; code < GT_CODES; code++) {
                const gotrace_event_spec *spec = gotrace_event_spec_of(versions[of], code);
                const gotrace_arg_spec *args[GOTRACE_MAX_ARGS];
                if (spec && gotrace_event_spec_of(versions[in], code) != spec)
                    ck_assert_uint_eq(gotrace_writer_args(spec, versions[in], args), 0);
            }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("lifetimes");
    TCase *tests = tcase_create("lifetimes");
    tcase_add_test(tests, strings_are_valid_as_long_as_documented);
    tcase_add_test(tests, config_need_not_outlive_call);
    tcase_add_test(tests, writer_args_of_another_version);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
