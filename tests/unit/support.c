/* support.c - see support.h. */
#include "support.h"

#include <dirent.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* No test measures time: this is a limit against hangs, in seconds (tests/hang.bash). Check's own
 * is four, which a busy machine exceeds. */
__attribute__((constructor)) static void set_time_limit(void)
{
    const char *limit = getenv("HANG");
    setenv("CK_DEFAULT_TIMEOUT", limit ? limit : "3600", 0);
}

const uint64_t absurd_numbers[ABSURD_NUMBERS] = {UINT64_C(1) << 63,
                                                 (UINT64_C(1) << 63) - 1,
                                                 UINT64_MAX,
                                                 UINT64_MAX - 1,
                                                 UINT64_C(1) << 31,
                                                 UINT32_MAX,
                                                 0};

#ifndef __has_feature
#define __has_feature(name) 0
#endif
#if defined __SANITIZE_ADDRESS__ || __has_feature(address_sanitizer)
enum { SANITIZED = true };
#else
enum { SANITIZED = false };
#endif

bool is_sanitized(void)
{
    return SANITIZED;
}

unsigned sweep_step(void)
{
    return SANITIZED ? 15 : getenv("ALL") ? 1 : 5;
}

bool blob_write(void *ctx, const void *bytes, size_t size)
{
    blob *b = ctx;
    if (b->size + size > b->capacity) {
        b->capacity = 2 * (b->size + size);
        b->bytes = realloc(b->bytes, b->capacity);
        ck_assert_ptr_nonnull(b->bytes);
    }
    if (size > 0)
        memcpy(b->bytes + b->size, bytes, size);
    b->size += size;
    return true;
}

void blob_free(blob *b)
{
    free(b->bytes);
    *b = (blob){NULL, 0, 0};
}

void blob_read(blob *b, const char *path)
{
    char chunk[16384];
    size_t got;
    FILE *file = fopen(path, "rb");
    ck_assert_msg(file != NULL, "%s cannot be opened", path);
    while ((got = fread(chunk, 1, sizeof chunk, file)) > 0)
        blob_write(b, chunk, got);
    fclose(file);
}

/* Whether the thread sleeps or has ended: its state in proc(5) is after its name in brackets. */
static bool sleeps(const char *thread)
{
    char path[300], text[512] = "";
    snprintf(path, sizeof path, "/proc/self/task/%s/stat", thread);
    FILE *file = fopen(path, "r");
    const size_t size = file ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file)
        fclose(file);
    const char *name_end = size > 0 ? strrchr(text, ')') : NULL;
    return !name_end || strncmp(name_end, ") S", 3) == 0;
}

static bool other_threads_sleep(void)
{
    DIR *threads = opendir("/proc/self/task");
    ck_assert_ptr_nonnull(threads);
    bool all = true;
    for (const struct dirent *thread; all && (thread = readdir(threads));)
        all = thread->d_name[0] == '.' || atoi(thread->d_name) == gettid() ||
              sleeps(thread->d_name);
    closedir(threads);
    return all;
}

void wait_for_other_threads(void)
{
    while (!other_threads_sleep())
        sched_yield();
}

typedef struct trace_list {
    trace_file *files;
    size_t count, capacity;
    size_t max_size;
    unsigned seen; /* files of at most that size */
} trace_list;

static void add_file(trace_list *list, const char *folder, const char *name)
{
    struct stat status;
    trace_file file = {.gccgo = strncmp(name, "gccgo", 5) == 0};
    snprintf(file.path, sizeof file.path, "%s/%s", folder, name);
    if (stat(file.path, &status) != 0 || !S_ISREG(status.st_mode) ||
        (size_t)status.st_size > list->max_size || list->seen++ % SWEEP_STEP != 0)
        return;
    blob_read(&file.content, file.path);
    if (list->count + 2 > list->capacity) {
        list->capacity = 2 * list->capacity + 16;
        list->files = realloc(list->files, list->capacity * sizeof *list->files);
        ck_assert_ptr_nonnull(list->files);
    }
    list->files[list->count++] = file;
    list->files[list->count] = (trace_file){.path = ""};
}

static void add_folder(trace_list *list, const char *folder)
{
    struct dirent **entries;
    int count = scandir(folder, &entries, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        if (entries[i]->d_name[0] != '.')
            add_file(list, folder, entries[i]->d_name);
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
}

blob trace_sample(const char *name)
{
    char path[256];
    blob content = {NULL, 0, 0};
    snprintf(path, sizeof path, "testdata/traces/%s", name);
    blob_read(&content, path);
    return content;
}

trace_file *traces_load(size_t max_size)
{
    char canned[512];
    trace_list list = {.max_size = max_size};
    const char *peers = getenv("GOTRACE_PEERS"), *home = getenv("HOME");
    const char *more = getenv("GOTRACE_TRACES");
    snprintf(canned, sizeof canned, "%s%s/usr/share/go-1.21/src/internal/trace/testdata",
             peers  ? peers
             : home ? home
                    : "",
             peers ? "" : "/.cache/gotrace-peers");
    add_folder(&list, "testdata/traces");
    add_folder(&list, "testdata/traces/unsound");
    add_folder(&list, canned);
    if (more)
        add_folder(&list, more);
    ck_assert_msg(list.count > 0, "no trace found: tests run in the project's root");
    return list.files;
}

void traces_free(trace_file *files)
{
    for (size_t i = 0; files[i].path[0]; i++)
        blob_free(&files[i].content);
    free(files);
}

int trace_version(const blob *content)
{
    gotrace_decoder *d;
    const gotrace_record *record;
    ck_assert_int_eq(gotrace_decoder_new(NULL, &d, NULL), GOTRACE_OK);
    gotrace_decoder_feed(d, content->bytes, content->size);
    gotrace_decoder_next(d, &record);
    int version = gotrace_decoder_version(d);
    gotrace_decoder_free(d);
    return version;
}

const int v2_versions[] = {22, 23, 25, 26, 0};

/* Write a record of that type; a Stack has two frames. */
static void write_record(gotrace_encoder *e, int version, const gotrace_event_spec *spec, bool odd)
{
    static const char data[] = "a\"\\\n\xff\xe2\x82\xac";
    uint64_t args[GOTRACE_MAX_ARGS + 8];
    uint8_t widths[GOTRACE_MAX_ARGS + 9];
    const gotrace_arg_spec *specs[GOTRACE_MAX_ARGS];
    size_t count = gotrace_event_args(spec, version, specs);
    bool has_data = spec->flags & GOTRACE_SPEC_DATA;
    for (size_t i = 0; i < sizeof args / sizeof args[0]; i++) {
        args[i] = !odd ? 40 * i : i % 2 ? UINT64_MAX : (uint64_t)1 << 9 * i % 64;
        widths[i] = (uint8_t)(i % 2 ? 10 : 0);
    }
    widths[sizeof widths - 1] = 0;
    if (spec->flags & GOTRACE_SPEC_FRAMES) {
        args[1] = 2;
        count += 2 * gotrace_frame_values(version);
    }
    gotrace_record record = {.spec = spec, .args = args, .arg_count = count, .form = 0xff};
    if (has_data && !odd) {
        record.data = data;
        record.data_size = sizeof data - 1;
    }
    if (odd) {
        record.widths = widths;
        record.width_count = count + has_data;
    }
    gotrace_status status = gotrace_encoder_record(e, &record);
    ck_assert_msg(status == GOTRACE_OK, "%s", gotrace_encoder_error(e)->message);
}

void trace_of_all(int version, blob *trace)
{
    gotrace_encoder *e;
    ck_assert_int_eq(gotrace_encoder_new(version, blob_write, trace, NULL, &e, NULL), GOTRACE_OK);
    for (unsigned odd = 0; odd <= 1; odd++)
        for (unsigned code = 0; code < 256; code++) {
            const gotrace_event_spec *spec = gotrace_event_spec_of(version, code);
            if (spec)
                write_record(e, version, spec, odd);
        }
    ck_assert_int_eq(gotrace_encoder_finish(e), GOTRACE_OK);
    gotrace_encoder_free(e);
}

static void *failing_resize(void *ctx, void *block, size_t old_size, size_t new_size)
{
    failing_allocator *a = ctx;
    if (new_size == 0) {
        free(block);
        a->bytes -= (int64_t)old_size;
        return NULL;
    }
    uint64_t call = a->calls++;
    if (call == a->fail_at || (a->for_good && call > a->fail_at))
        return NULL;
    /* always move the block, so that stale pointers are detected */
    void *moved = malloc(new_size);
    if (moved && block)
        memcpy(moved, block, old_size < new_size ? old_size : new_size);
    free(block);
    a->bytes += (int64_t)new_size - (int64_t)old_size;
    if (a->bytes > a->peak)
        a->peak = a->bytes;
    return moved;
}

gotrace_config failing_config(failing_allocator *a)
{
    gotrace_config config;
    memset(&config, 0, sizeof config);
    config.allocator.resize = failing_resize;
    config.allocator.ctx = a;
    return config;
}

uint64_t random_next(uint64_t *state)
{
    uint64_t x = *state;
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    return *state = x;
}

void fail_on_misuse(void *ctx, const char *function, const char *message)
{
    (void)ctx;
    ck_abort_msg("%s: %s", function, message);
}

int run_suite(Suite *suite)
{
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
