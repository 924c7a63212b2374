/* test_view_path.c - the critical paths that an index answers are those of `why`. */
#include <stdlib.h>
#include <string.h>

#include "asking.h"
#include "formats/analyse/path.h"

/* What a wait, or a state, is in the rows of `why`. */
static unsigned part_of(const json_t *row)
{
    static const uint8_t parts[] = {[DO_RUN] = PATH_EXECUTION,
                                    [DO_ASSIST] = PATH_ASSIST,
                                    [DO_RUNNABLE] = PATH_SCHEDULING,
                                    [DO_SYSCALL] = PATH_SYSCALL};
    if (json_is_null(json_object_get(row, "state")))
        return PATH_UNKNOWN;
    const long long state = member(row, "state");
    return state < (long long)sizeof parts ? parts[state] : PATH_WAITING;
}

static void check_name(const stacks *names, uint32_t name, const char *text)
{
    size_t size;
    const char *known = stacks_text(names, name, &size);
    ck_assert_uint_eq(strlen(text), size);
    ck_assert_mem_eq(text, known, size);
}

/* The same functions and lines. */
static void check_stack(const stacks *names, uint32_t stack, const stacks *own, uint32_t got)
{
    ck_assert_uint_eq(stacks_depth(names, stack), stacks_depth(own, got));
    for (size_t n = 0; n < stacks_depth(names, stack); n++) {
        const stacks_frame *a = stacks_frame_at(names, stack, n), *b = stacks_frame_at(own, got, n);
        size_t size, own_size;
        const char *text = stacks_text(names, a->function, &size);
        const char *own_text = stacks_text(own, b->function, &own_size);
        ck_assert_uint_eq(a->line, b->line);
        ck_assert_uint_eq(size, own_size);
        ck_assert_mem_eq(text, own_text, size);
    }
}

static void check_row(const asked *a, const paths *p, const path_interval *i,
                      const path_part *known, const json_t *row)
{
    ck_assert_int_eq(member(row, "begin"), known->begin);
    ck_assert_int_eq(member(row, "end"), known->end);
    ck_assert_int_eq(member(row, "depth"), known->depth);
    ck_assert_int_eq(json_is_true(json_object_get(row, "spans")), known->spans);
    ck_assert_uint_eq(strtoull(text_of(row, "goroutine"), NULL, 10), known->goroutine);
    ck_assert_uint_eq(part_of(row), known->kind);
    check_name(p->stacks, known->reason, text_of(row, "reason"));
    /* Which function that is may be known better later in the trace. */
    ck_assert(known->function == 0 || text_of(row, "name")[0]);
    /* Where a goroutine ended is not in the index. */
    if (known->kind > PATH_ASSIST || known->end != i->end)
        check_stack(p->stacks, known->stack, view_names(a->view), (uint32_t)member(row, "stack"));
}

/* The path of that interval is that of `why`; of a longer one than an answer has, its last rows. */
static size_t check_path(const asked *a, paths *p, const path_interval *i)
{
    enum { MOST = 10000 };
    if (i->whole_end <= i->whole_begin)
        return 0;
    json_t *made = ask_printf(a, 200, "path goroutine=%llu from=%lld until=%lld",
                              (unsigned long long)i->goroutine, (long long)i->whole_begin,
                              (long long)i->whole_end);
    const json_t *rows = json_object_get(made, "parts");
    paths_walk(p, i);
    const size_t known = p->parts.count, count = json_array_size(rows);
    ck_assert_int_eq(json_is_true(json_object_get(made, "complete")), known < MOST);
    if (known < MOST)
        ck_assert_uint_eq(count, known);
    else
        ck_assert_uint_ge(count, MOST);
    for (size_t n = 1; n <= known && n <= MOST; n++)
        check_row(a, p, i, paths_part(p, known - n), json_array_get(rows, count - n));
    json_decref(made);
    return known;
}

/* All goroutines with that start function, at most `most`. */
static size_t check_paths_of(const asked *a, const blob *content, const char *function,
                             uint64_t most)
{
    const path_query query = {
        .kind = PATH_GOROUTINE, .name = function, .slowest = most, .range = {INT64_MIN, INT64_MAX}};
    gotrace_source *source;
    gotrace_reader *reader;
    const path_interval *i;
    size_t rows = 0;
    paths *p = paths_new(&query);
    ck_assert_ptr_nonnull(p);
    ck_assert_int_eq(gotrace_source_memory(content->bytes, content->size, NULL, &source, NULL),
                     GOTRACE_OK);
    ck_assert_int_eq(gotrace_reader_open(source, NULL, &reader, NULL), GOTRACE_OK);
    paths_read(p, reader, 1, NULL);
    for (size_t n = 0; (i = paths_interval(p, n)); n++)
        rows += check_path(a, p, i);
    paths_free(p);
    gotrace_reader_close(reader);
    gotrace_source_close(source);
    return rows;
}

static size_t check_paths(const blob *content, size_t items, uint64_t most)
{
    asked a = ask_of(content, items);
    json_t *made = ask_json(&a, 200, "tracks kind=10 limit=1000");
    const json_t *row;
    size_t n, rows = 0;
    json_array_foreach(json_object_get(made, "tracks"), n, row)
        rows += check_paths_of(&a, content, text_of(row, "name"), most);
    json_decref(made);
    asked_free(&a);
    return rows;
}

START_TEST(critical_paths)
{
    trace_file *files = traces_load(1 << 20);
    size_t rows = 0;
    for (const trace_file *file = files; *file->path; file++)
        if (!strstr(file->path, "unsound"))
            rows += check_paths(&file->content, 200, 20);
    ck_assert_uint_gt(rows, 1000);
    traces_free(files);
}
END_TEST

/* Those of recorded programs with planted causes, which wait for each other in many ways. */
START_TEST(critical_paths_of_causes)
{
    static const char *const samples[] = {"go1.22-gc.cpu-crowd-3.trace.zst",
                                          "go1.27-lock.contended-http-3.trace.zst",
                                          "go1.19-goroutine.leak-stage-1.trace.zst"};
    for (size_t n = 0; n < sizeof samples / sizeof *samples; n++) {
        char path[256];
        blob content = {0};
        snprintf(path, sizeof path, "testdata/causes/%s", samples[n]);
        blob_read(&content, path);
        ck_assert_uint_gt(check_paths(&content, 20000, 3), 500);
        blob_free(&content);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("view_path");
    TCase *parts = tcase_create("view_path");
    tcase_set_timeout(parts, 0);
    tcase_add_test(parts, critical_paths);
    tcase_add_test(parts, critical_paths_of_causes);
    suite_add_tcase(suite, parts);
    return run_suite(suite);
}
