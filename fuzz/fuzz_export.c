/*
 * fuzz_export.c - exporters and printers terminate for any trace and options, and their output is
 * well-formed: JSON that a parser accepts, in order of time and with all frames that it refers to;
 * a protobuf message whose parts fill it; a report with no other scripts than its own. The parts of
 * critical paths add up to their intervals, shares of findings are at most 1.
 */
#include <jansson.h>
#include <string.h>

#include "common.h"
#include "formats/diagnose/diagnosis.h"
#include "formats/diagnose/measure.h"
#include "formats/diff/diff.h"
#include "formats/analyse/path_total.h"
#include "formats/analyse/profile.h"
#include "formats/chrome/options.h"
#include "formats/perfetto/options.h"
#include "formats/print/printer.h"
#include "formats/profile/options.h"

static json_t *parse(const uint8_t *data, size_t size)
{
    json_error_t error;
    json_t *parsed = json_loadb((const char *)data, size, JSON_DECODE_ANY | JSON_ALLOW_NUL, &error);
    if (!parsed)
        fprintf(stderr, "line %d, column %d: %s\n", error.line, error.column, error.text);
    REQUIRE(parsed != NULL);
    return parsed;
}

static void check_frame(const json_t *frames, const json_t *holder, const char *key)
{
    char id[32];
    const json_t *number = json_object_get(holder, key);
    if (!number)
        return;
    snprintf(id, sizeof id, "%" JSON_INTEGER_FORMAT, json_integer_value(number));
    REQUIRE(json_object_get(frames, id) != NULL);
}

/* Check a Chrome timeline. */
static void check_timeline(const uint8_t *data, size_t size)
{
    json_t *parsed = parse(data, size), *event, *frame;
    const json_t *frames = json_object_get(parsed, "stackFrames");
    const char *id;
    double last = 0;
    size_t i;

    json_array_foreach(json_object_get(parsed, "traceEvents"), i, event)
    {
        double time = json_number_value(json_object_get(event, "ts"));
        REQUIRE(time >= last);
        REQUIRE(json_number_value(json_object_get(event, "dur")) >= 0);
        check_frame(frames, event, "sf");
        check_frame(frames, event, "esf");
        last = time;
    }
    json_object_foreach((json_t *)frames, id, frame) check_frame(frames, frame, "parent");
    json_decref(parsed);
}

static void check_lines(const uint8_t *data, size_t size)
{
    while (size > 0) {
        const uint8_t *end = memchr(data, '\n', size);
        REQUIRE(end != NULL);
        json_decref(parse(data, (size_t)(end - data)));
        size -= (size_t)(end + 1 - data);
        data = end + 1;
    }
}

/* Check a Perfetto trace: packets, field 1, each with its length. */
static void check_packets(const uint8_t *data, size_t size)
{
    size_t at = 0;
    while (at < size) {
        uint64_t length = 0;
        unsigned shift = 0;
        REQUIRE(data[at++] == 0x0a);
        do {
            REQUIRE(at < size && shift < 64);
            length |= (uint64_t)(data[at] & 0x7f) << shift;
            shift += 7;
        } while (data[at++] & 0x80);
        REQUIRE(length <= size - at);
        at += length;
    }
}

/* Check an HTML report: its size, its data, and that it has no other scripts. */
static void check_report(const uint8_t *data, size_t size)
{
    static const char begin[] = "<script type=\"application/json\" id=\"flames\">",
                      end[] = "</script>";
    const uint8_t *at = memmem(data, size, begin, sizeof begin - 1), *last;
    static const char timeline[] = "id=\"timeline-data\">";
    const unsigned expected = memmem(data, size, timeline, sizeof timeline - 1) ? 4 : 2;
    enum { MOST = 3000000, MOST_WITH_TIMELINE = MOST + (3 << 20) };
    REQUIRE(size <= (expected == 2 ? MOST : MOST_WITH_TIMELINE) && at != NULL);
    at += sizeof begin - 1;
    last = memmem(at, size - (size_t)(at - data), end, sizeof end - 1);
    REQUIRE(last != NULL && !memchr(at, '<', (size_t)(last - at)));
    json_decref(parse(at, (size_t)(last - at)));
    unsigned scripts = 0;
    while ((at = memmem(data, size, "<script", strlen("<script")))) {
        scripts++;
        at += strlen("<script");
        size -= (size_t)(at - data);
        data = at;
    }
    REQUIRE(scripts == expected);
}

static gotrace_reader *open_reader(const uint8_t *data, size_t size, gotrace_source **source,
                                   uint64_t *problems)
{
    gotrace_config config = fuzz_config(problems);
    gotrace_reader *reader;
    gotrace_error error = {0};
    if (gotrace_source_memory(data, size, &config, source, &error) < 0)
        return NULL;
    if (gotrace_reader_open(*source, &config, &reader, &error) == GOTRACE_OK)
        return reader;
    gotrace_source_close(*source);
    return NULL;
}

static void check_format(const format *to, bytes *written)
{
    if (to == &format_chrome)
        check_timeline(written->data, written->size);
    else if (to == &format_perfetto)
        check_packets(written->data, written->size);
    else if (to == &format_speedscope)
        json_decref(parse(written->data, written->size));
    else if (to == &format_html)
        check_report(written->data, written->size);
    bytes_free(written);
    *written = (bytes){NULL, 0, 0};
}

/* The tables of a trace, which go to one output. */
static out *next_table(void *ctx, const char *table)
{
    (void)table;
    return ctx;
}

/* Append the output of the job; false if the header is rejected. */
static bool run_job(const uint8_t *data, size_t size, const format *to, convert_job *job)
{
    gotrace_source *source;
    uint64_t problems;
    gotrace_reader *reader = open_reader(data, size, &source, &problems);
    if (!reader)
        return false;
    job->reader = reader;
    job->source = source;
    convert_folder folder = {.ctx = job->out, .open = next_table};
    job->folder = to->end_folder ? &folder : NULL;
    job->path = "file";
    to->run(job);
    if (to->end_folder)
        to->end_folder(&folder, true);
    gotrace_reader_close(reader);
    gotrace_source_close(source);
    return true;
}

static void convert(const uint8_t *data, size_t size, const format *to, convert_job job, bool twice)
{
    bytes written = {NULL, 0, 0};
    out o;
    convert_series series = {.alignment = ALIGNED_NOT};

    REQUIRE(out_init(&o, bytes_write, &written));
    job.out = &o;
    job.name = "fuzzed";
    job.series = twice ? &series : NULL;
    if (run_job(data, size, to, &job)) {
        series.index++;
        REQUIRE(!twice || run_job(data, size, to, &job));
        if (twice && to->end_series)
            to->end_series(&job);
        REQUIRE(out_flush(&o));
        check_format(to, &written);
    }
    out_free(&o);
    bytes_free(&written);
}

/* Options that depend only on the input. */
static convert_job options_of(uint64_t *state)
{
    static const int64_t durations[] = {0,     0,      1,       50,         1000,
                                        20000, 100000, 1000000, 1000000000, INT64_MAX};
    enum { TIMES = sizeof durations / sizeof *durations };
    convert_job job = {.from = durations[fuzz_random(state) % TIMES],
                       .to = durations[fuzz_random(state) % TIMES],
                       .no_system = fuzz_random(state) % 4 == 0};
    if (job.to <= job.from)
        job.to = 0;
    if (fuzz_random(state) % 2 == 0)
        job.parts = (unsigned)fuzz_random(state) % (1U << PART_COUNT);
    return job;
}

static void convert_with_options(const uint8_t *data, size_t size, const format *to)
{
    uint64_t state = fuzz_seed(data, size);
    convert_job job = options_of(&state);
    const chrome_options chrome = {.by = chrome_view_name(fuzz_random(&state) % 3)};
    const perfetto_options perfetto = {
        .thread_runs = fuzz_random(&state) % 2 == 0,
        .detail = fuzz_random(&state) % 2 ? (int64_t)(fuzz_random(&state) % 1000000) : 0,
    };
    const profile_convert_options of_profile = {
        .kind = profile_name(fuzz_random(&state) % PROFILE_COUNT),
        .open = fuzz_random(&state) % 2 == 0,
    };
    job.options = to == &format_chrome     ? &chrome
                  : to == &format_perfetto ? (const void *)&perfetto
                  : to->profiles           ? (const void *)&of_profile
                                           : NULL;
    bool twice = to->several && fuzz_random(&state) % 3 == 0;
    convert(data, size, to, job, twice);
}

static void print(const uint8_t *data, size_t size, const printer *to)
{
    gotrace_source *source;
    uint64_t problems;
    bytes written = {NULL, 0, 0};
    gotrace_reader *reader = open_reader(data, size, &source, &problems);
    out o;
    if (!reader)
        return;
    REQUIRE(out_init(&o, bytes_write, &written));
    print_all(&(print_job){.how = to, .reader = reader, .threads = 1, .out = &o});
    REQUIRE(out_flush(&o));
    out_free(&o);
    if (strcmp(to->name, "jsonl") == 0)
        check_lines(written.data, written.size);
    bytes_free(&written);
    gotrace_reader_close(reader);
    gotrace_source_close(source);
}

/* What the paths add up to is the sum of their intervals, in each table. */
static void check_totals(paths *p, bool nested)
{
    path_totals t;
    REQUIRE(path_totals_make(&t, p, &(path_totals_options){STACKS_BY_LINE, nested, 100}));
    for (unsigned table = 0; t.ns < INT64_MAX && table < PATH_TABLES; table++) {
        size_t count;
        bool failed;
        int64_t sum = 0;
        path_total_row *rows = path_totals_rows(&t, table, &count, &failed);
        for (size_t n = 0; n < count; n++)
            sum += rows[n].total.ns;
        REQUIRE(!failed && sum == (nested == (table == PATH_NESTED) ? t.ns : 0));
        free(rows);
    }
    path_totals_free(&t);
}

/* The paths of all goroutines, tasks or regions of that name. */
static void explain(const uint8_t *data, size_t size, const path_query *query)
{
    gotrace_source *source;
    uint64_t problems;
    const path_interval *i;
    gotrace_reader *reader = open_reader(data, size, &source, &problems);
    paths *p = reader ? paths_new(query) : NULL;
    if (!reader)
        return;
    REQUIRE(p != NULL);
    paths_read(p, reader, 1, NULL);
    for (size_t n = 0; (i = paths_interval(p, n)); n++) {
        int64_t sum = 0;
        int error;
        paths_walk(p, i);
        REQUIRE(!paths_failed(p, &error));
        for (size_t kind = 0; kind < PATH_PART_KINDS; kind++)
            sum += p->own.ns[kind];
        REQUIRE(sum == i->end - i->begin);
    }
    check_totals(p, false);
    check_totals(p, true);
    paths_free(p);
    gotrace_reader_close(reader);
    gotrace_source_close(source);
}

/* What diagnose measures: no goroutine does two things at a time, and no share is more than all. */
static void diagnose(const uint8_t *data, size_t size)
{
    uint64_t problems;
    gotrace_config config = fuzz_config(&problems);
    gotrace_source *source;
    gotrace_reader *reader;
    const selection what = {0};
    select_job all = {.what = &what, .range = {INT64_MIN, INT64_MAX}};
    diagnosis d;
    REQUIRE(gotrace_source_memory(data, size, &config, &source, NULL) == GOTRACE_OK);
    if (gotrace_reader_open(source, &config, &reader, NULL) == GOTRACE_OK) {
        measures *m = measures_new(NULL);
        REQUIRE(m);
        measures_read(m, reader, 1, &all, NULL);
        REQUIRE(!m->failed && m->silent_ns <= m->end - m->begin && diagnosis_make(&d, m));
        for (size_t i = 0; i < m->stages.count; i++) {
            const stage *s = m->stages.items[i];
            for (size_t k = 0; k < DO_KINDS; k++)
                REQUIRE(s->ns[k] >= 0 && s->task_ns[k] >= 0 && s->task_ns[k] <= s->ns[k]);
        }
        for (size_t i = 0; i < FINDING_CAUSE_COUNT; i++)
            REQUIRE(d.list[i].share >= 0 && d.list[i].share <= 1 && d.list[i].ns >= 0 &&
                    d.list[i].reported == (i < d.count));
        measures_free(m);
        gotrace_reader_close(reader);
    }
    gotrace_source_close(source);
}

/* Reads a trace, or parts of it, and adds it to both sides. Returns its duration. */
static int64_t add_to_both(diff_table *t, gotrace_source *source, const gotrace_config *config,
                           int64_t duration)
{
    gotrace_reader *reader;
    diff_run run = {0};
    if (gotrace_reader_open(source, config, &reader, NULL) != GOTRACE_OK)
        return 0;
    diff_run_read(&run, reader, "trace", 1, NULL, duration);
    REQUIRE(!run.failed);
    duration = run.duration;
    for (unsigned side = 0; side < DIFF_SIDES && run.names; side++)
        diff_table_add(t, &run, side);
    diff_run_free(&run);
    gotrace_reader_close(reader);
    return duration;
}

/* What diff says of a trace and itself: nothing differs. */
static void compare(const uint8_t *data, size_t size)
{
    uint64_t problems;
    gotrace_config config = fuzz_config(&problems);
    gotrace_source *source;
    diff_table t;
    REQUIRE(gotrace_source_memory(data, size, &config, &source, NULL) == GOTRACE_OK);
    REQUIRE(diff_table_init(&t));
    const int64_t duration = add_to_both(&t, source, &config, 0);
    REQUIRE(duration >= 0);
    if (duration > 0)
        add_to_both(&t, source, &config, duration);
    diff_table_finish(&t);
    REQUIRE(!t.failed && t.significant == 0);
    for (size_t i = 0; i < t.row_count; i++) {
        const diff_row *r = &t.rows[i];
        REQUIRE(r->p > 0 && r->p <= 1 && r->q >= r->p);
        REQUIRE(r->sides[DIFF_OLD].value >= 0 &&
                r->sides[DIFF_OLD].value == r->sides[DIFF_NEW].value);
    }
    diff_table_free(&t);
    gotrace_source_close(source);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    unsigned ways = 0, way = 0;
    for (const format *const *to = formats; *to; to++)
        ways += 2;
    for (const printer *const *to = printers; *to; to++)
        ways++;
    static const path_query queries[] = {
        {PATH_GOROUTINE, "1", true, 1, 3, 0, {INT64_MIN, INT64_MAX}},
        {PATH_TASK, "", true, 1, 3, PATH_ALL / 2, {500, 100000}},
        {PATH_REGION, "", false, 0, 3, 0, {INT64_MIN, 100000}},
    };
    enum { QUERIES = sizeof queries / sizeof *queries };
    ways += QUERIES + 2;
    if (fuzz_turn(data, size, way++, ways))
        diagnose(data, size);
    if (fuzz_turn(data, size, way++, ways))
        compare(data, size);
    for (size_t i = 0; i < QUERIES; i++)
        if (fuzz_turn(data, size, way++, ways))
            explain(data, size, &queries[i]);
    for (const format *const *to = formats; *to; to++) {
        if (fuzz_turn(data, size, way++, ways))
            convert(data, size, *to, (convert_job){0}, false);
        if (fuzz_turn(data, size, way++, ways))
            convert_with_options(data, size, *to);
    }
    for (const printer *const *to = printers; *to; to++)
        if (fuzz_turn(data, size, way++, ways))
            print(data, size, *to);
    return 0;
}
