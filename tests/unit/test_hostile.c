/*
 * test_hostile.c - the reader on hostile input: cuts, flipped bits, extreme values, and traces made
 * to use much memory or time.
 */
#include <stdlib.h>
#include <string.h>

#include "forge.h"
#include "reading.h"

/*
 * Bound of a reader's memory: 128 bytes for each byte of the trace, and 4 MiB. (Typical traces use
 * a small part of that; the benchmarks check them.) The worst case is a trace of as many procs as
 * possible, each with one event: each takes seven bytes of the trace, and in the reader two events,
 * a window, and its place among the procs that are ready or wait.
 */
enum { MEMORY_PER_BYTE = 128, MEMORY_AT_LEAST = 4 << 20 };

/* Read with a config that measures memory. */
static reading read_counted(const blob *content, enum reading_way way, uint64_t *peak)
{
    failing_allocator a = {.fail_at = UINT64_MAX};
    gotrace_config config = failing_config(&a);
    reading r = reading_of(content->bytes, content->size, &config, way);
    ck_assert_int_eq(a.bytes, 0);
    *peak = (uint64_t)a.peak;
    return r;
}

static void check_bound(const char *name, const blob *content, uint64_t peak)
{
    ck_assert_msg(peak <= (uint64_t)MEMORY_PER_BYTE * content->size + MEMORY_AT_LEAST,
                  "%s: %llu bytes of memory for a trace of %zu bytes", name,
                  (unsigned long long)peak, content->size);
}

START_TEST(memory_is_bounded)
{
    for (const hostile *h = hostiles; h->name; h++) {
        forge f = forge_new(h->version);
        uint64_t peaks[2];
        h->make(&f, SWEEP_STEP == 1 ? 200000 : 100000);
        forge_finish(&f);
        reading checked = read_counted(&f.out, READING_CHECK, &peaks[0]);
        reading read = read_counted(&f.out, READING_NEXT, &peaks[1]);
        ck_assert_msg(checked.status == GOTRACE_END, "%s: %s", h->name, checked.error.message);
        ck_assert_int_eq(read.status, GOTRACE_END);
        ck_assert_uint_eq(checked.problem_count, read.problem_count);
        ck_assert_uint_eq(checked.summary.problems, read.summary.problems);
        ck_assert_uint_eq(read.events, read.summary.events);
        ck_assert_uint_eq(read.events, read.summary.timed_records);
        reading_check_sum(&read);
        check_bound(h->name, &f.out, peaks[0]);
        check_bound(h->name, &f.out, peaks[1]);
        blob_free(&f.out);
    }
}
END_TEST

/* The worst case, large. */
START_TEST(many_procs)
{
    uint64_t peak;
    forge f = forge_new(21);
    for (uint64_t p = 0; p < 200000; p++) {
        FORGE(&f, Batch, p, p);
        FORGE(&f, HeapAlloc, 1, 1);
    }
    forge_finish(&f);
    reading r = read_counted(&f.out, READING_CHECK, &peak);
    ck_assert_int_eq(r.status, GOTRACE_END);
    ck_assert_uint_eq(r.summary.procs, 200000);
    ck_assert_uint_eq(r.problem_count, 0);
    check_bound("many procs", &f.out, peak);
    blob_free(&f.out);
}
END_TEST

START_TEST(many_goroutines)
{
    uint64_t peak;
    forge f = forge_new(21);
    FORGE(&f, Batch, 0, 1);
    for (uint64_t g = 1; g <= 500000; g++)
        FORGE(&f, GoCreate, 1, g << 20, 0, 0);
    forge_finish(&f);
    reading r = read_counted(&f.out, READING_CHECK, &peak);
    ck_assert_int_eq(r.status, GOTRACE_END);
    ck_assert_uint_eq(r.summary.goroutines_initial, 500000);
    ck_assert_uint_eq(r.problem_count, 0);
    check_bound("many goroutines", &f.out, peak);
    blob_free(&f.out);
}
END_TEST

/* A goroutine that starts and is preempted `count` times after a futile wake-up, and never blocks.
 * Returns the memory that reading takes. */
static uint64_t starts_without_block(uint64_t count)
{
    uint64_t peak;
    forge f = forge_new(10);
    FORGE(&f, Batch, 0, 1);
    FORGE(&f, GoCreate, 1, 1, 0, 0);
    FORGE(&f, GoStart, 1, 1, 1);
    FORGE(&f, FutileWakeup, 1);
    FORGE(&f, GoPreempt, 1, 0);
    for (uint64_t i = 0; i < count; i++) {
        FORGE(&f, GoStartLocal, 1, 1);
        FORGE(&f, GoPreempt, 1, 0);
    }
    forge_finish(&f);
    reading r = read_counted(&f.out, READING_CHECK, &peak);
    ck_assert_int_eq(r.status, GOTRACE_END);
    ck_assert_uint_eq(r.problem_count, 0);
    blob_free(&f.out);
    return peak;
}

START_TEST(memory_of_futile_wakeups_is_constant)
{
    ck_assert_uint_le(starts_without_block(400000), starts_without_block(100000) + 4096);
}
END_TEST

/* ---- damage of every sort in real traces ----------------------------------------------------- */

/* End of the footer's frequency: a trace truncated after it lacks only stacks. */
static uint64_t end_of_frequency(const blob *content)
{
    gotrace_decoder *d;
    const gotrace_record *record;
    uint64_t end = UINT64_MAX;
    ck_assert_int_eq(gotrace_decoder_new(NULL, &d, NULL), GOTRACE_OK);
    ck_assert_int_eq(gotrace_decoder_feed(d, content->bytes, content->size), GOTRACE_OK);
    gotrace_decoder_finish(d);
    while (gotrace_decoder_next(d, &record) == GOTRACE_EVENT)
        if (record->spec->code == GOTRACE_V1_Frequency)
            end = record->offset + record->length;
    gotrace_decoder_free(d);
    return end;
}

static void check_cut(const uint8_t *bytes, size_t size, uint64_t frequency)
{
    gotrace_status decoded;
    uint8_t *copy = malloc(size + 1); /* so that sanitizers detect reads past the end */
    ck_assert_ptr_nonnull(copy);
    memcpy(copy, bytes, size);
    uint8_t *exact = realloc(copy, size ? size : 1);
    reading r = reading_of(exact, size, NULL, READING_NEXT);
    reading checked = reading_of(exact, size, NULL, READING_CHECK);
    uint64_t records = reading_records(exact, size, &decoded);
    free(exact);
    ck_assert_int_eq(checked.status, r.status);
    ck_assert_uint_eq(checked.problem_count, r.problem_count);
    if (size < 16) {
        ck_assert_int_lt(r.opened, 0);
        ck_assert_int_eq(r.error.rule, GOTRACE_RULE_HEADER_SHORT);
        return;
    }
    ck_assert_int_eq(r.status, GOTRACE_END);
    ck_assert_uint_eq(r.summary.records, records);
    ck_assert_uint_eq(r.events, r.summary.events);
    ck_assert_uint_eq(r.events, r.summary.timed_records);
    reading_check_sum(&r);
    /* the cut is reported once, and the trace as unfinished */
    ck_assert_int_eq(reading_has(&r, GOTRACE_RULE_WIRE_TRUNCATED), decoded < 0);
    if (size < frequency)
        ck_assert_uint_gt(r.by_class[GOTRACE_CLASS_UNFINISHED], 0);
    for (size_t i = 0; i < r.problem_count && i < READING_PROBLEMS; i++)
        if (r.problems[i].severity >= GOTRACE_PROBLEM)
            ck_assert_msg(r.problems[i].class_ == GOTRACE_CLASS_UNFINISHED, "cut at %zu: %s", size,
                          r.problems[i].message);
}

START_TEST(cut_at_every_byte)
{
    static const char *const names[] = {"gccgo-empty.trace", "go1.19-select.trace",
                                        "go1.21-empty.trace"};
    blob content = trace_sample(names[_i]);
    uint64_t frequency = end_of_frequency(&content);
    for (size_t size = 0; size < content.size; size += SWEEP_STEP)
        check_cut(content.bytes, size, frequency);
    blob_free(&content);
}
END_TEST

START_TEST(every_bit_flipped)
{
    static const char *const names[] = {"gccgo-empty.trace", "go1.21-empty.trace",
                                        "go1.19-select.trace"};
    blob content = trace_sample(names[_i]);
    for (size_t bit = 0; bit < 8 * content.size; bit += SWEEP_STEP) {
        content.bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
        reading_check_damaged(&content);
        content.bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    blob_free(&content);
}
END_TEST

START_TEST(bytes_replaced)
{
    uint64_t random = 88172645463325252u;
    trace_file *files = traces_load(20000);
    for (trace_file *file = files; file->path[0]; file++)
        for (int n = 0; n < 40; n++) {
            size_t at = 16 + random_next(&random) % (file->content.size - 16);
            uint8_t was = file->content.bytes[at];
            file->content.bytes[at] = (uint8_t)random_next(&random);
            reading_check_damaged(&file->content);
            file->content.bytes[at] = was;
        }
    traces_free(files);
}
END_TEST

/* ---- extreme values -------------------------------------------------------------------------- */

/* The beginning of a short trace in which goroutine 1 runs on proc 0. */
static forge running(int version)
{
    forge f = forge_new(version);
    if (version < 7) {
        FORGE(&f, Batch, 0, 1, 1);
        FORGE(&f, GoCreate, 1, 1, 1, 0, 0);
        FORGE(&f, GoStart, 1, 1, 1);
    } else {
        FORGE(&f, Batch, 0, 1);
        FORGE(&f, GoCreate, 1, 1, 0, 0);
        FORGE(&f, GoStart, 1, 1, 1);
    }
    return f;
}

/* Replace every value of every record of every version by extreme values. */
START_TEST(absurd_values)
{
    const gotrace_arg_spec *args[GOTRACE_MAX_ARGS];
    size_t count;
    const int *versions = gotrace_versions(&count);
    int version = versions[_i];
    for (unsigned code = 0; code < 64; code++) {
        const gotrace_event_spec *spec = gotrace_event_spec_of(version, code);
        size_t values = spec ? gotrace_event_args(spec, version, args) : 0;
        if (code == GOTRACE_V1_String)
            continue;
        for (size_t i = 0; i < values * ABSURD_NUMBERS; i++) {
            uint64_t given[GOTRACE_MAX_ARGS] = {1, 1, 1, 1, 1, 1, 1, 1};
            given[i % values] = absurd_numbers[i / values];
            forge f = running(version);
            for (int twice = 0; twice < 2; twice++) {
                forge_record(&f, code, given, values);
                if (spec->flags & GOTRACE_SPEC_DATA)
                    forge_varint(&f, 0);
            }
            forge_finish(&f);
            reading_check_damaged(&f.out);
            blob_free(&f.out);
        }
    }
}
END_TEST

/* Expect exactly that rule; frees the trace. */
static void expect(forge *f, gotrace_rule rule, uint64_t offset)
{
    reading r = reading_of(f->out.bytes, f->out.size, NULL, READING_NEXT);
    ck_assert_int_eq(r.status, GOTRACE_END);
    ck_assert_msg(r.problem_count > 0 && r.problems[0].rule == rule, "%s, not %s",
                  r.problem_count ? r.problems[0].message : "nothing",
                  gotrace_rule_describe(rule)->id);
    ck_assert_uint_eq(r.problems[0].offset, offset);
    for (size_t i = 1; i < r.problem_count && i < READING_PROBLEMS; i++)
        ck_assert_msg(r.problems[i].rule != rule || r.problems[i].offset != offset,
                      "reported twice");
    reading_check_damaged(&f->out);
    blob_free(&f->out);
}

static void put_bytes(forge *f, const char *bytes, size_t size)
{
    blob_write(&f->out, bytes, size);
}

START_TEST(overlong_varints)
{
    static const char eleven[] = "\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01";
    static const char wide[] = "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02";
    static const struct {
        const char *bytes;
        size_t size;
    } overlong[] = {{eleven, 11}, {wide, 10}};
    for (int i = 0; i < 2; i++) {
        const char *bytes = overlong[i].bytes;
        size_t size = overlong[i].size;
        /* inline value, length, id and length of a string, length of a log */
        static const char *const before[] = {"\x0f", "\xc6", "\x25", "\x25\x01",
                                             "\xf0\x04\x01\x01\x01\x01"};
        for (size_t n = 0; n < 5; n++) {
            forge f = running(21);
            uint64_t at = f.out.size;
            put_bytes(&f, before[n], strlen(before[n]));
            put_bytes(&f, bytes, size);
            put_bytes(&f, "xxxxxxxxxxxxxxxx", 16);
            expect(&f, GOTRACE_RULE_WIRE_VARINT, at);
        }
        /* if the record has a length, reading continues after it */
        for (int code = GOTRACE_V1_GoUnblock; code <= GOTRACE_V1_GoSysExit; code += 8) {
            forge f = running(21);
            uint64_t at = f.out.size;
            forge_byte(&f, (uint8_t)(code | 0xc0));
            forge_varint(&f, size + 3);
            put_bytes(&f, bytes, size);
            put_bytes(&f, "\x01\x01\x01", 3);
            forge_finish(&f);
            expect(&f, GOTRACE_RULE_WIRE_VARINT, at);
        }
    }
}
END_TEST

START_TEST(padded_varints_are_fine)
{
    forge f = running(21);
    put_bytes(&f, "\x0f\x81\x80\x80\x80\x80\x80\x80\x80\x80\x00",
              11); /* GoEnd, dt 1 in ten bytes */
    forge_finish(&f);
    reading r = reading_of(f.out.bytes, f.out.size, NULL, READING_NEXT);
    ck_assert_int_eq(r.status, GOTRACE_END);
    ck_assert_uint_eq(r.problem_count, 0);
    ck_assert_uint_eq(r.events, 3);
    blob_free(&f.out);
}
END_TEST

START_TEST(lengths_beyond_the_end)
{
    static const struct {
        const char *bytes;
        gotrace_rule rule;
    } cases[] = {
        {"\xd5\x7f\x01", GOTRACE_RULE_WIRE_TRUNCATED}, /* GoUnblock */
        {"\xd5\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x01", GOTRACE_RULE_WIRE_TRUNCATED},
        {"\xc3\xff\xff\xff\xff\xff\xff\xff\xff\x7f\x01", GOTRACE_RULE_WIRE_TRUNCATED}, /* Stack */
        {"\x25\x01\x64xyz", GOTRACE_RULE_WIRE_TRUNCATED},                              /* String */
        {"\x25\x01\x80\x89\x7axyz", GOTRACE_RULE_STRING_LENGTH}, /* with a length of 2000000 */
        {"\x25\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", GOTRACE_RULE_STRING_LENGTH},
        {"\xf0\x04\x01\x01\x01\x01\x64xyz", GOTRACE_RULE_WIRE_TRUNCATED}, /* UserLog */
        {"\xf0\x04\x01\x01\x01\x01\x80\x89\x7axyz", GOTRACE_RULE_LOG_LENGTH},
        {"\xf0\xff\xff\xff\xff\xff\xff\xff\xff\x7f\x01", GOTRACE_RULE_WIRE_TRUNCATED},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        forge f = running(21);
        uint64_t at = f.out.size;
        put_bytes(&f, cases[i].bytes, strlen(cases[i].bytes));
        expect(&f, cases[i].rule, at);
    }
    /* a value that extends beyond its record */
    forge f = running(21);
    uint64_t at = f.out.size;
    put_bytes(&f, "\xd5\x03\x01\x01\x81", 5);
    forge_finish(&f);
    expect(&f, GOTRACE_RULE_WIRE_LENGTH, at);
}
END_TEST

/* ---- tables -------------------------------------------------------------------------------- */

START_TEST(invalid_strings)
{
    forge f = running(21);
    forge_string(&f, 7, "first", 5);
    uint64_t at = f.out.size;
    forge_string(&f, 7, "second", 6);
    FORGE(&f, UserTaskCreate, 1, 1, 0, 7, 0);
    forge_finish(&f);
    reading r = reading_of(f.out.bytes, f.out.size, NULL, READING_NEXT);
    ck_assert_uint_eq(r.summary.strings, 1);
    ck_assert_uint_eq(r.summary.string_bytes, 5);
    expect(&f, GOTRACE_RULE_STRING_DUPLICATE, at);

    f = running(21);
    at = f.out.size;
    forge_string(&f, 0, "none", 4);
    forge_finish(&f);
    expect(&f, GOTRACE_RULE_STRING_ID, at);

    f = running(21);
    at = f.out.size;
    forge_string(&f, 1, "", 0);
    expect(&f, GOTRACE_RULE_STRING_LENGTH, at);
}
END_TEST

/* Append a stack with frame count `given` and `frames` frames. */
static uint64_t put_stack(forge *f, uint64_t given, uint64_t frames)
{
    uint64_t at = f->out.size;
    forge body = {.version = f->version};
    forge_varint(&body, 9);
    forge_varint(&body, given);
    for (uint64_t i = 0; i < frames; i++)
        put_bytes(&body, "\x01\x00\x00\x01", 4);
    forge_byte(f, GOTRACE_V1_Stack | 0xc0);
    forge_varint(f, body.out.size);
    blob_write(&f->out, body.out.bytes, body.out.size);
    blob_free(&body.out);
    return at;
}

START_TEST(invalid_stacks)
{
    static const struct {
        uint64_t given, frames;
    } cases[] = {{1000000, 1000000},     {1001, 1001}, {1000000, 1}, {(uint64_t)1 << 63, 0},
                 {(uint64_t)1 << 62, 0}, {2, 1},       {1, 2},       {0, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        forge f = running(21);
        uint64_t at = put_stack(&f, cases[i].given, cases[i].frames);
        FORGE(&f, GoSched, 1, 9);
        forge_finish(&f);
        reading r = reading_of(f.out.bytes, f.out.size, NULL, READING_NEXT);
        ck_assert_uint_eq(r.events, 3);
        ck_assert_uint_eq(r.summary.stacks, 0);
        expect(&f, GOTRACE_RULE_STACK_FRAMES, at);
    }
    forge f = running(21);
    put_stack(&f, 1000, 1000);
    FORGE(&f, GoSched, 1, 9);
    forge_finish(&f);
    reading r = reading_of(f.out.bytes, f.out.size, NULL, READING_NEXT);
    ck_assert_uint_eq(r.problem_count, 0);
    ck_assert_uint_eq(r.summary.stack_frames, 1000);
    blob_free(&f.out);
}
END_TEST

/* A record whose length exceeds the maximum is skipped, at any offset. */
START_TEST(oversized_records)
{
    for (size_t size = 50000; size < 5000000; size *= 9) {
        static const uint8_t codes[] = {GOTRACE_V1_Stack, GOTRACE_V1_GoUnblock, GOTRACE_V1_Batch,
                                        GOTRACE_V1_CPUSample};
        for (size_t i = 0; i < sizeof codes; i++) {
            forge f = running(21);
            uint64_t at = f.out.size;
            forge_byte(&f, codes[i] | 0xc0);
            forge_varint(&f, size);
            for (size_t n = 0; n < size; n++)
                forge_byte(&f, 1);
            FORGE(&f, GoSched, 1, 0);
            forge_finish(&f);
            reading r = reading_of(f.out.bytes, f.out.size, NULL, READING_NEXT);
            ck_assert_uint_eq(r.events, 3);
            expect(&f,
                   codes[i] == GOTRACE_V1_Stack ? GOTRACE_RULE_STACK_FRAMES
                                                : GOTRACE_RULE_EVENT_ARITY,
                   at);
        }
        forge f = running(21);
        uint64_t at = f.out.size;
        forge_byte(&f, GOTRACE_V1_UserLog | 0xc0);
        forge_varint(&f, size);
        for (size_t n = 0; n < size + 16; n++)
            forge_byte(&f, 1);
        expect(&f, GOTRACE_RULE_WIRE_LENGTH, at);
    }
}
END_TEST

START_TEST(wrong_arity)
{
    static const uint8_t codes[] = {GOTRACE_V1_GoUnblock, GOTRACE_V1_GoSysExit,
                                    GOTRACE_V1_CPUSample, GOTRACE_V1_GoSysCall,
                                    GOTRACE_V1_Frequency, GOTRACE_V1_TimerGoroutine};
    for (size_t i = 0; i < sizeof codes; i++)
        for (size_t values = 1; values < 7; values++) {
            const gotrace_arg_spec *args[GOTRACE_MAX_ARGS];
            const uint64_t given[] = {1, 1, 1, 1, 1, 1, 1};
            if (gotrace_event_args(gotrace_event_spec_of(21, codes[i]), 21, args) == values)
                continue;
            forge f = running(21);
            uint64_t at = f.out.size;
            forge_record(&f, codes[i], given, values);
            forge_finish(&f);
            expect(&f, GOTRACE_RULE_EVENT_ARITY, at);
            /* alone in its batch */
            f = running(21);
            FORGE(&f, Batch, 5, 1);
            at = f.out.size;
            forge_record(&f, codes[i], given, values);
            forge_finish(&f);
            expect(&f, GOTRACE_RULE_EVENT_ARITY, at);
        }
}
END_TEST

/* ---- procs and clocks ---------------------------------------------------------------------- */

START_TEST(procs_with_any_number)
{
    static const uint64_t procs[] = {(uint64_t)1 << 31, UINT32_MAX,        (uint64_t)1 << 32,
                                     INT64_MAX,         (uint64_t)1 << 63, UINT64_MAX - 1,
                                     UINT64_MAX};
    forge f = running(21);
    for (size_t i = 0; i < sizeof procs / sizeof *procs; i++) {
        FORGE(&f, Batch, procs[i], 10 + i);
        FORGE(&f, HeapAlloc, 1, 1);
    }
    forge_finish(&f);
    reading r = reading_of(f.out.bytes, f.out.size, NULL, READING_NEXT);
    ck_assert_int_eq(r.status, GOTRACE_END);
    ck_assert_uint_eq(r.problem_count, 0);
    ck_assert_uint_eq(r.summary.procs, 7); /* the last is the global buffer */
    reading_check_damaged(&f.out);
    blob_free(&f.out);
}
END_TEST

START_TEST(frequencies)
{
    static const uint64_t bad[] = {0, (uint64_t)1 << 63, UINT64_MAX};
    for (size_t i = 0; i < 3; i++) {
        forge f = running(21);
        uint64_t at = f.out.size;
        FORGE(&f, Frequency, bad[i]);
        reading r = reading_of(f.out.bytes, f.out.size, NULL, READING_NEXT);
        ck_assert_int_eq(r.problems[0].class_, GOTRACE_CLASS_CLOCKS);
        ck_assert_uint_eq(r.summary.frequency, 0);
        expect(&f, GOTRACE_RULE_FOOTER_FREQUENCY, at);
    }
    /* times are correct with any other frequency */
    static const uint64_t good[] = {1, 1000, 1000000000, INT64_MAX};
    for (size_t i = 0; i < 4; i++) {
        forge f = running(21);
        FORGE(&f, GoSched, (uint64_t)1 << 62, 0);
        FORGE(&f, Frequency, good[i]);
        reading_check_damaged(&f.out);
        blob_free(&f.out);
    }
}
END_TEST

START_TEST(clocks_run_backwards)
{
    forge f = running(21);
    uint64_t at = f.out.size;
    FORGE(&f, GoSched, (uint64_t)-2, 0);
    forge_finish(&f);
    reading r = reading_of(f.out.bytes, f.out.size, NULL, READING_NEXT);
    ck_assert_int_eq(r.problems[0].class_, GOTRACE_CLASS_CLOCKS);
    ck_assert_ptr_nonnull(strstr(r.problems[0].message, "2 ticks"));
    expect(&f, GOTRACE_RULE_TIME_ORDER, at);
}
END_TEST

/* ---- limits -------------------------------------------------------------------------------- */

typedef struct limit_case {
    size_t member; /* of gotrace_limits */
    uint64_t limit;
    void (*make)(forge *f, size_t size);
} limit_case;

static void make_goroutines(forge *f, size_t size)
{
    for (uint64_t g = 2; g < size; g++)
        FORGE(f, GoCreate, 1, g, 0, 0);
}

static void make_strings(forge *f, size_t size)
{
    for (uint64_t n = 1; n < size; n++)
        forge_string(f, n, "x", 1);
}

static void make_stacks(forge *f, size_t size)
{
    for (uint64_t n = 1; n < size; n++)
        FORGE(f, Stack, n, 1, 1, 0, 0, 1);
}

static void make_batches(forge *f, size_t size)
{
    for (uint64_t n = 1; n < size; n++)
        FORGE(f, Batch, 0, n);
}

static void make_procs(forge *f, size_t size)
{
    for (uint64_t n = 1; n < size; n++)
        FORGE(f, Batch, n, n);
}

static const limit_case limit_cases[] = {
    {offsetof(gotrace_limits, goroutines), 10, make_goroutines},
    {offsetof(gotrace_limits, strings), 10, make_strings},
    {offsetof(gotrace_limits, stacks), 10, make_stacks},
    {offsetof(gotrace_limits, batches), 10, make_batches},
    {offsetof(gotrace_limits, procs), 10, make_procs},
    {offsetof(gotrace_limits, memory), 20000, make_strings},
};

START_TEST(limits_hold)
{
    const limit_case *c = &limit_cases[_i];
    failing_allocator a = {.fail_at = UINT64_MAX};
    gotrace_config config = failing_config(&a);
    gotrace_limits limits = {0};
    memcpy((char *)&limits + c->member, &c->limit, sizeof c->limit);
    config.limits = &limits;
    forge f = running(21);
    c->make(&f, 4000);
    forge_finish(&f);
    reading r = reading_of(f.out.bytes, f.out.size, &config, READING_NEXT);
    ck_assert_int_eq(r.status, GOTRACE_ERROR);
    ck_assert_int_eq(r.error.rule, GOTRACE_RULE_SYSTEM_LIMIT);
    ck_assert_int_eq(r.error.class_, GOTRACE_CLASS_SYSTEM);
    ck_assert_int_eq(a.bytes, 0);
    ck_assert_uint_eq(r.summary.problems, 1);
    blob_free(&f.out);
}
END_TEST

/* The largest possible limits behave like no limits. */
START_TEST(limits_without_end)
{
    gotrace_config config = {0};
    gotrace_limits limits;
    memset(&limits, 0xff, sizeof limits);
    limits.size = sizeof limits;
    config.limits = &limits;
    forge f = running(21);
    make_goroutines(&f, 100);
    make_strings(&f, 100);
    put_stack(&f, 5000, 5000);
    blob so_far = {0}; /* a copy, because forge_string may move f.out */
    blob_write(&so_far, f.out.bytes, f.out.size);
    forge_string(&f, 200, so_far.bytes, so_far.size);
    blob_free(&so_far);
    forge_finish(&f);
    reading r = reading_of(f.out.bytes, f.out.size, &config, READING_NEXT);
    ck_assert_int_eq(r.status, GOTRACE_END);
    ck_assert_uint_eq(r.problem_count, 0);
    ck_assert_uint_eq(r.summary.stack_frames, 5000);
    blob_free(&f.out);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("hostile");
    TCase *memory = tcase_create("memory");
    tcase_add_test(memory, memory_is_bounded);
    tcase_add_test(memory, many_procs);
    tcase_add_test(memory, many_goroutines);
    tcase_add_test(memory, memory_of_futile_wakeups_is_constant);
    suite_add_tcase(suite, memory);
    TCase *damage = tcase_create("damage");
    tcase_add_loop_test(damage, cut_at_every_byte, 0, 3);
    tcase_add_loop_test(damage, every_bit_flipped, 0, 3);
    tcase_add_test(damage, bytes_replaced);
    suite_add_tcase(suite, damage);
    TCase *numbers = tcase_create("numbers");
    tcase_add_loop_test(numbers, absurd_values, 0, 8);
    tcase_add_test(numbers, overlong_varints);
    tcase_add_test(numbers, padded_varints_are_fine);
    tcase_add_test(numbers, lengths_beyond_the_end);
    tcase_add_test(numbers, invalid_strings);
    tcase_add_test(numbers, invalid_stacks);
    tcase_add_test(numbers, oversized_records);
    tcase_add_test(numbers, wrong_arity);
    tcase_add_test(numbers, procs_with_any_number);
    tcase_add_test(numbers, frequencies);
    tcase_add_test(numbers, clocks_run_backwards);
    suite_add_tcase(suite, numbers);
    TCase *limits = tcase_create("limits");
    tcase_add_loop_test(limits, limits_hold, 0, sizeof limit_cases / sizeof *limit_cases);
    tcase_add_test(limits, limits_without_end);
    suite_add_tcase(suite, limits);
    return run_suite(suite);
}
