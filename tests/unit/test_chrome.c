/*
 * test_chrome.c - properties of `convert --to chrome` for every trace of the corpora, whole and
 * truncated: events in order of time, nested slices, arrows and regions in pairs, arrows attached
 * to slices or instants at both ends, and no unused frame. Also, how much memory the blocks of the
 * writing thread take.
 */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "absurd.h"
#include "formats/formats.h"
#include "formats/chrome/chrome.h"
#include "formats/common/idmap.h"
#include "support.h"

enum { DEPTH = 16 };

/* An assertion for hot loops: Check writes a record for each of its own assertions. */
#define MUST(what)                                                                                 \
    do {                                                                                           \
        if (!(what))                                                                               \
            ck_abort_msg("%s", #what);                                                             \
    } while (0)

/* State of a row while its events are read. */
typedef struct row {
    int64_t end[DEPTH]; /* ends of the open slices, outermost first */
    int64_t begin;      /* start of the last slice or instant */
    int depth;
} row;

typedef struct checker {
    chrome_view by;
    int64_t from;    /* slices before this time are not counted */
    int64_t slices;  /* sum of their lengths */
    json_t *frames;  /* stackFrames of the document */
    json_t *used;    /* ids of frames that events refer to */
    idmap rows;      /* pid and tid -> row */
    json_t *arrows;  /* id -> name */
    json_t *regions; /* "scope id" -> name */
} checker;

static int64_t ns(json_t *event, const char *key)
{
    json_t *value = json_object_get(event, key);
    MUST(json_is_number(value));
    return (int64_t)(json_number_value(value) * 1000 + 0.5);
}

static const char *string(json_t *event, const char *key)
{
    const char *value = json_string_value(json_object_get(event, key));
    MUST(value != NULL);
    return value;
}

static row *row_of(checker *c, json_t *event)
{
    json_int_t pid = json_integer_value(json_object_get(event, "pid"));
    json_int_t tid = json_integer_value(json_object_get(event, "tid"));
    uint64_t key = (uint64_t)tid * 4 + (uint64_t)pid;
    bool known = idmap_find(&c->rows, key) != NULL;
    row *r = idmap_insert(&c->rows, key);

    MUST(r != NULL);
    if (!known)
        r->begin = -1;
    return r;
}

/* Mark a frame and its callers as used. */
static void use_frame(checker *c, json_t *event, const char *key)
{
    json_int_t id = json_integer_value(json_object_get(event, key));
    char name[32];

    while (id != 0) {
        snprintf(name, sizeof name, "%lld", (long long)id);
        json_t *frame = json_object_get(c->frames, name);
        if (!frame)
            ck_abort_msg("frame %s is missing", name);
        MUST(json_is_string(json_object_get(frame, "name")));
        if (json_object_get(c->used, name))
            return;
        json_object_set_new(c->used, name, json_true());
        id = json_integer_value(json_object_get(frame, "parent"));
    }
}

static void check_slice(checker *c, json_t *event, int64_t time)
{
    row *r = row_of(c, event);
    int64_t end = time + ns(event, "dur");

    MUST(end >= time);
    if (end > c->from)
        c->slices += end - (time > c->from ? time : c->from);
    while (r->depth > 0 && r->end[r->depth - 1] <= time)
        r->depth--;
    if (r->depth > 0)
        MUST(end <= r->end[r->depth - 1]);
    MUST(r->depth < DEPTH);
    r->end[r->depth++] = end;
    r->begin = time;
}

static void check_arrow(checker *c, json_t *event, int64_t time, bool begins)
{
    const row *r = row_of(c, event);
    char id[32];

    snprintf(id, sizeof id, "%lld", (long long)json_integer_value(json_object_get(event, "id")));
    json_t *name = json_object_get(c->arrows, id);
    if (begins) {
        /* in a slice, or at an instant */
        MUST(name == NULL);
        MUST((r->depth > 0 && r->end[0] >= time) || r->begin == time);
        json_object_set(c->arrows, id, json_object_get(event, "name"));
    } else {
        MUST(name != NULL);
        ck_assert_str_eq(json_string_value(name), string(event, "name"));
        MUST(r->begin == time);
        json_object_del(c->arrows, id);
    }
}

static void check_region(checker *c, json_t *event, bool begins)
{
    char id[64];

    snprintf(id, sizeof id, "%s %lld", string(event, "s"),
             (long long)json_integer_value(json_object_get(event, "id")));
    json_t *name = json_object_get(c->regions, id);
    if (begins) {
        MUST(name == NULL);
        json_object_set(c->regions, id, json_object_get(event, "name"));
    } else {
        MUST(name != NULL);
        ck_assert_str_eq(json_string_value(name), string(event, "name"));
        json_object_del(c->regions, id);
    }
}

static void check_event(checker *c, json_t *event)
{
    static const char *const sections[] = {"PROCS", "G", "OS THREADS"};
    int64_t time = ns(event, "ts");
    bool stats = json_integer_value(json_object_get(event, "pid")) != 0;

    use_frame(c, event, "sf");
    use_frame(c, event, "esf");
    MUST(string(event, "name") != NULL);
    switch (string(event, "ph")[0]) {
    case 'X': check_slice(c, event, time); break;
    case 'I': row_of(c, event)->begin = time; break;
    case 's':
    case 't': check_arrow(c, event, time, string(event, "ph")[0] == 's'); break;
    case 'b':
    case 'e': check_region(c, event, string(event, "ph")[0] == 'b'); break;
    case 'M':
        if (strcmp(string(event, "name"), "process_name") == 0 && !stats)
            ck_assert_str_eq(string(json_object_get(event, "args"), "name"), sections[c->by]);
        /* fall through */
    case 'C': MUST(json_object_size(json_object_get(event, "args")) > 0); break;
    default: ck_abort_msg("an event of phase %s", string(event, "ph"));
    }
}

static void check_document(checker *c, const blob *text)
{
    json_error_t error;
    json_t *document = json_loadb((const char *)text->bytes, text->size,
                                  JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &error);
    ck_assert_msg(document != NULL, "line %d: %s", error.line, error.text);
    ck_assert_str_eq(string(document, "displayTimeUnit"), "ns");
    c->frames = json_object_get(document, "stackFrames");
    c->used = json_object();
    idmap_init(&c->rows, sizeof(row));
    c->arrows = json_object();
    c->regions = json_object();

    c->slices = 0;
    int64_t last = 0;
    size_t i;
    json_t *event;
    json_array_foreach(json_object_get(document, "traceEvents"), i, event)
    {
        MUST(ns(event, "ts") >= last);
        last = ns(event, "ts");
        check_event(c, event);
    }
    ck_assert_uint_eq(json_object_size(c->arrows), 0);
    ck_assert_uint_eq(json_object_size(c->regions), 0);
    ck_assert_uint_eq(json_object_size(c->used), json_object_size(c->frames));

    json_decref(c->used);
    idmap_free(&c->rows);
    json_decref(c->arrows);
    json_decref(c->regions);
    json_decref(document);
}

/* A document, and what it shows. */
typedef struct shown {
    checker *checker;
    out out;
    blob text;
    int64_t from, slices;
} shown;

static void check_shown(shown *p)
{
    ck_assert(out_flush(&p->out));
    check_document(p->checker, &p->text);
    p->slices = p->checker->slices;
    blob_free(&p->text);
}

/* Convert with the given options, and check the document. */
static void convert_and_check(const blob *trace, chrome_view by, convert_job job, shown *p)
{
    gotrace_source *source;
    gotrace_reader *reader;
    checker c = {.by = by, .from = p->from};
    const chrome_options options = {.by = chrome_view_name(by)};

    *p = (shown){.checker = &c, .from = p->from};
    ck_assert(gotrace_source_memory(trace->bytes, trace->size, NULL, &source, NULL) == GOTRACE_OK);
    ck_assert(gotrace_reader_open(source, NULL, &reader, NULL) == GOTRACE_OK);
    ck_assert(out_init(&p->out, blob_write, &p->text));
    job.reader = reader;
    job.source = source;
    job.out = &p->out;
    job.name = "test";
    job.options = &options;
    format_chrome.run(&job);
    check_shown(p);
    out_free(&p->out);
    gotrace_reader_close(reader);
    gotrace_source_close(source);
}

/* Convert the first `size` bytes; false if the header is rejected. */
static bool convert(const blob *trace, size_t size, chrome_view by, blob *text)
{
    gotrace_source *source;
    gotrace_reader *reader;
    out o;

    if (gotrace_source_memory(trace->bytes, size, NULL, &source, NULL) != GOTRACE_OK)
        return false;
    bool readable = gotrace_reader_open(source, NULL, &reader, NULL) == GOTRACE_OK;
    if (readable) {
        ck_assert(out_init(&o, blob_write, text));
        const chrome_options options = {.by = chrome_view_name(by)};
        convert_job job = {.reader = reader, .out = &o, .name = "test", .options = &options};
        format_chrome.run(&job);
        ck_assert(out_flush(&o));
        ck_assert_uint_eq(o.written, text->size);
        out_free(&o);
        gotrace_reader_close(reader);
    }
    gotrace_source_close(source);
    return readable;
}

static void check_prefix(const trace_file *file, size_t size, chrome_view by)
{
    checker c = {.by = by};
    blob text = {0};

    if (convert(&file->content, size, by, &text))
        check_document(&c, &text);
    blob_free(&text);
}

START_TEST(whole_traces)
{
    trace_file *files = traces_load(200 * 1024);
    for (trace_file *f = files; f->path[0]; f++)
        for (chrome_view by = BY_PROC; by <= BY_THREAD; by++)
            check_prefix(f, f->content.size, by);
    traces_free(files);
}
END_TEST

/* With a start time, the timeline has everything from then on. */
START_TEST(windows)
{
    enum { US = 1000 };
    static const int64_t borders[] = {1, 7 * US, 150 * US, 1000 * US, 4000 * US};
    trace_file *files = traces_load(12 * 1024);
    unsigned n = 0;
    for (trace_file *f = files; f->path[0]; f++) {
        for (size_t i = 0; i < sizeof borders / sizeof *borders; i++) {
            if (++n % SWEEP_STEP != 0)
                continue;
            const chrome_view by = (chrome_view)(n % 3);
            convert_job job = {0};
            shown whole = {.from = borders[i]}, before = {0}, after = {0}, all = {0};
            convert_and_check(&f->content, by, job, &whole);
            convert_and_check(&f->content, by, job, &all);
            job.to = borders[i];
            convert_and_check(&f->content, by, job, &before);
            job.to = 0;
            job.from = borders[i];
            convert_and_check(&f->content, by, job, &after);
            ck_assert_int_eq(after.slices, whole.slices);
            /* v2 may report a state after it began. */
            if (trace_version(&f->content) < GOTRACE_FIRST_V2)
                ck_assert_int_eq(before.slices, all.slices - whole.slices);
            else
                ck_assert_int_le(before.slices, all.slices - whole.slices);
        }
    }
    traces_free(files);
}
END_TEST

/* A timeline with only some parts is valid, and not larger than the whole. */
START_TEST(narrowed)
{
    trace_file *files = traces_load(16 * 1024);
    unsigned n = 0;
    for (trace_file *f = files; f->path[0]; f++) {
        for (unsigned part = n % SWEEP_STEP; part < PART_COUNT; part += SWEEP_STEP) {
            shown whole = {0}, some = {0};
            const chrome_view by = (chrome_view)(n % 3);
            convert_job job = {.from = n % 2 ? 100000 : 0};
            convert_and_check(&f->content, by, job, &whole);
            job.parts = 1U << part | (n % 5 == 0 ? 1U << PART_FLOWS : 0);
            job.no_system = n++ % 4 == 0;
            convert_and_check(&f->content, by, job, &some);
            ck_assert_int_le(some.slices, whole.slices);
        }
    }
    traces_free(files);
}
END_TEST

START_TEST(cut_traces)
{
    trace_file *files = traces_load(8 * 1024);
    unsigned n = 0;
    for (trace_file *f = files; f->path[0]; f++)
        for (size_t size = 16; size < f->content.size; size += 1 + f->content.size / 20)
            check_prefix(f, size, (chrome_view)(n++ % 3));
    traces_free(files);
}
END_TEST

/* The same input produces the same bytes. */
START_TEST(deterministic)
{
    trace_file *files = traces_load(60 * 1024);
    for (trace_file *f = files; f->path[0]; f++) {
        blob one = {0}, two = {0};
        if (convert(&f->content, f->content.size, BY_GOROUTINE, &one) &&
            convert(&f->content, f->content.size, BY_GOROUTINE, &two)) {
            ck_assert_uint_eq(one.size, two.size);
            ck_assert_mem_eq(one.bytes, two.bytes, one.size);
        }
        blob_free(&one);
        blob_free(&two);
    }
    traces_free(files);
}
END_TEST

/* ---- absurd traces --------------------------------------------------------------------------- */

static json_t *absurd_document(const char *name, bool v2)
{
    blob trace = absurd_trace(absurd_named(name), v2), text = {0};

    ck_assert(convert(&trace, trace.size, BY_PROC, &text));
    json_t *document = json_loadb((const char *)text.bytes, text.size, JSON_ALLOW_NUL, NULL);
    ck_assert_ptr_nonnull(document);
    blob_free(&trace);
    blob_free(&text);
    return document;
}

START_TEST(absurd_traces)
{
    unsigned number = 0;
    for (const absurd *a = absurds; a->name; a++) {
        for (int v2 = 0; v2 <= 1; v2++) {
            blob trace = absurd_trace(a, v2);
            trace_file file = {.content = trace};
            for (chrome_view by = BY_PROC; by <= BY_THREAD; by++)
                if (number++ % SWEEP_STEP == 0)
                    check_prefix(&file, trace.size, by);
            check_prefix(&file, trace.size / 2, BY_PROC);
            check_prefix(&file, trace.size - 20, BY_GOROUTINE);
            blob_free(&trace);
        }
    }
}
END_TEST

/* Number of events whose name contains the text. */
static unsigned named(json_t *document, const char *phase, const char *text, size_t size)
{
    size_t i;
    unsigned count = 0;
    json_t *event;

    json_array_foreach(json_object_get(document, "traceEvents"), i, event)
    {
        json_t *name = json_object_get(event, "name");
        if (strcmp(string(event, "ph"), phase) == 0 &&
            memmem(json_string_value(name), json_string_length(name), text, size))
            count++;
    }
    return count;
}

START_TEST(absurd_strings)
{
    static char longest[ABSURD_LONG];
    memset(longest, 'x', sizeof longest);
    for (int v2 = 0; v2 <= 1; v2++) {
        json_t *document = absurd_document("names", v2);
        for (size_t i = 0; i < ABSURD_NAMES; i++) {
            const absurd_text *name = &absurd_names[i];
            const char *text = name->shown ? name->shown : name->bytes ? name->bytes : longest;
            size_t size = name->shown ? strlen(name->shown) : name->size;
            if (size == 0)
                continue;
            /* A task and a slice of the goroutine; a region; a log, which has two events. */
            ck_assert_uint_eq(named(document, "X", text, size), 2);
            ck_assert_uint_eq(named(document, "b", text, size), 1);
            ck_assert_uint_eq(named(document, "I", text, size), 2);
        }
        json_decref(document);
    }
}
END_TEST

/* jansson returns an integer if the number fits. */
static double number(json_t *event, const char *key)
{
    return json_number_value(json_object_get(json_object_get(event, "args"), key));
}

START_TEST(absurd_counters)
{
    for (int v2 = 0; v2 <= 1; v2++) {
        json_t *document = absurd_document("counters", v2), *event;
        size_t i;
        unsigned largest = 0, half = 0;
        json_array_foreach(json_object_get(document, "traceEvents"), i, event)
        {
            if (strcmp(string(event, "name"), "Heap") != 0)
                continue;
            largest += number(event, "Allocated") == 0x1p64;
            half += number(event, "Allocated") == 0x1p63;
        }
        ck_assert_uint_gt(largest, 0);
        ck_assert_uint_gt(half, 0);
        json_decref(document);
    }
}
END_TEST

/* Regions that never end, and tasks that never began, last until the end of the trace or from its
 * start. */
START_TEST(absurd_lengths)
{
    for (int v2 = 0; v2 <= 1; v2++) {
        json_t *document = absurd_document("regions", v2), *event;
        ck_assert_uint_gt(named(document, "b", "", 0), 1000);
        ck_assert_uint_eq(named(document, "b", "", 0), named(document, "e", "", 0));
        json_decref(document);
        document = absurd_document("tasks", v2);
        unsigned tasks = 0;
        size_t i;
        json_array_foreach(json_object_get(document, "traceEvents"), i, event)
        {
            if (strcmp(string(event, "ph"), "X") == 0 &&
                json_integer_value(json_object_get(event, "pid")) == 2)
                tasks++;
        }
        /* Ten ends without a beginning, and three tasks. The end too many of one is no task. */
        ck_assert_uint_eq(tasks, 13);
        json_decref(document);
    }
}
END_TEST

/* Writes slowly, and compares the number in each block. */
static bool write_slowly(void *ctx, const chrome_block *block)
{
    uint64_t *written = ctx, number;

    usleep(100);
    memcpy(&number, block->records.bytes, sizeof number);
    return number == (*written)++;
}

START_TEST(memory_of_slow_thread)
{
    enum { SHIFT = 12, BLOCK = 1 << SHIFT, WINDOW = 4 * BLOCK, MOST = 16 * BLOCK, COUNT = 500 };
    uint64_t written = 0, position;
    chrome_block block = {0};
    spool s;

    ck_assert(spool_init(&s, WINDOW, SHIFT));
    block.home = &s;
    chrome_thread *thread = chrome_thread_start(write_slowly, &written);
    ck_assert_ptr_nonnull(thread);
    for (uint64_t i = 0; i < COUNT; i++) {
        unsigned char *entry = spool_reserve(&s, BLOCK, &position);
        ck_assert_ptr_nonnull(entry);
        memset(entry, 0, BLOCK);
        memcpy(entry, &i, sizeof i);
        while (spool_take(&s, true, false, &block.records))
            ck_assert(chrome_thread_queue(thread, &block));
        chrome_thread_return(thread, s.in_memory + s.taken > MOST);
        ck_assert_uint_le(s.in_memory + s.taken, MOST);
    }
    /* fewer blocks than the thread is woken for */
    for (int i = 0; i < COUNT && s.taken > 0; i++)
        chrome_thread_return(thread, true);
    ck_assert_uint_eq(s.taken, 0);
    ck_assert(chrome_thread_end(thread));
    ck_assert_uint_eq(written, COUNT);
    ck_assert_int_eq(s.error, 0);
    spool_free(&s);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("chrome");
    TCase *cases = tcase_create("all");

    tcase_add_test(cases, whole_traces);
    tcase_add_test(cases, windows);
    tcase_add_test(cases, narrowed);
    tcase_add_test(cases, cut_traces);
    tcase_add_test(cases, deterministic);
    tcase_add_test(cases, absurd_traces);
    tcase_add_test(cases, absurd_strings);
    tcase_add_test(cases, absurd_counters);
    tcase_add_test(cases, absurd_lengths);
    tcase_add_test(cases, memory_of_slow_thread);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
